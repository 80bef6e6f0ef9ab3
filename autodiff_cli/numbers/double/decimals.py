"""Slow, sure paths for floats: functions computed with 80 decimal digits where every fast formula cancels.

Imported on demand only, because `decimal` takes a few milliseconds to load.
"""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, DivisionByZero, InvalidOperation, localcontext

CONTEXT = Context(prec=80, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[InvalidOperation, DivisionByZero])
"""80 digits, and exponents that cannot overflow; only the final conversion to a double can."""

NEGLIGIBLE = Decimal("1e-82")
"""A term this much smaller than the sum does not change it any more."""

HIGHEST_ORDER = 10_000
"""Beyond this a derivative takes seconds, and hardly any has a double for its value."""

PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651"
)
"""π to 110 digits."""


def to_float(value: Decimal) -> float:
    """The nearest double; OverflowError where it is infinite."""
    result = float(value)
    if math.isinf(result):
        raise OverflowError("the result is too large for a double")
    return result


def whole_order(order: float) -> int:
    """The order of a derivative as an integer; ValueError where it is none, or too high to work with."""
    if order < 0 or order != math.floor(order):
        raise ValueError("the order of a derivative is a non-negative integer")
    if order > HIGHEST_ORDER:
        raise ValueError(f"derivatives of an order above {HIGHEST_ORDER} are out of reach")
    return int(order)


def series_sin(angle: Decimal) -> Decimal:
    """The sine by its power series (DLMF 4.19.1), for small angles."""
    term = total = angle
    square = -angle * angle
    k = 1
    while abs(term) > NEGLIGIBLE * abs(total):
        term = term * square / ((k + 1) * (k + 2))
        total += term
        k += 2
    return total


def series_cos(angle: Decimal) -> Decimal:
    """The cosine by its power series (DLMF 4.19.2), for small angles."""
    term = total = Decimal(1)
    square = -angle * angle
    k = 0
    while abs(term) > NEGLIGIBLE:
        term = term * square / ((k + 1) * (k + 2))
        total += term
        k += 2
    return total


def sin_pi(x: Decimal) -> Decimal:
    """sin(πx), exactly 0 at the integers; for |x| below 1e70."""
    turns = x.to_integral_value()
    rest = x - turns
    size = abs(rest)
    value = series_sin(PI * size) if size <= Decimal("0.25") else series_cos(PI * (Decimal("0.5") - size))
    return value if (rest < 0) == (turns % 2 != 0) else -value


def cos_pi(x: Decimal) -> Decimal:
    """cos(πx), exactly 0 half way between the integers; for |x| below 1e70."""
    turns = x.to_integral_value()
    size = abs(x - turns)
    value = series_cos(PI * size) if size <= Decimal("0.25") else series_sin(PI * (Decimal("0.5") - size))
    return value if turns % 2 == 0 else -value


def log_sum_exp(xs: tuple[float, ...]) -> float:
    """log(Σ exp(x)) where the sum of exponentials is so near 1 that the terms of the fast formula cancel."""
    with localcontext(CONTEXT):
        return to_float(sum((Decimal(x).exp() for x in xs if x > -800.0), Decimal(0)).ln())


def sinc_derivative(order: float, x: float) -> float:
    """The derivative of that order of sin(πx)/(πx)."""
    n = whole_order(order)
    with localcontext(CONTEXT) as context:
        context.prec += n  # either way loses at most n digits
        exact = Decimal(x)
        if math.pi * math.fabs(x) < max(n, 6):
            return to_float(_sinc_series(n, exact, context.prec))
        return to_float(_sinc_recurrence(n, exact, Decimal(math.remainder(x, 2.0))))


def _sinc_series(n: int, x: Decimal, digits: int) -> Decimal:
    """The n-th derivative of Σ (-1)^k (πx)^(2k)/(2k + 1)!, term by term."""
    k = (n + 1) // 2
    square = -((PI * x) ** 2)
    # π^2k x^(2k-n) (2k)!/((2k-n)!(2k+1)!), at the first k that the differentiation leaves
    odd = 2 * k - n
    term = PI ** (2 * k) * (-1 if k % 2 else 1) / (2 * k + 1) * (x if odd else 1)
    total = term
    smallest = Decimal(10) ** -(digits + 2)
    while abs(term) > smallest * abs(total):
        term = term * square * (2 * k + 1) / ((2 * k + 3) * (odd + 1) * (odd + 2))
        total += term
        k += 1
        odd += 2
    return total


def _sinc_recurrence(n: int, x: Decimal, rest: Decimal) -> Decimal:
    """The n-th derivative of sinc = f from πx·f = sin(πx): π(x f⁽ᵏ⁾ + k f⁽ᵏ⁻¹⁾) = π^k sin(πx + kπ/2).

    `rest` is x without full turns.
    """
    sine, cosine = sin_pi(rest), cos_pi(rest)
    turned = (sine, cosine, -sine, -cosine)
    value = sine / (PI * x)
    power = Decimal(1)
    for k in range(1, n + 1):
        value = (power * turned[k % 4] - k * value) / x
        power *= PI
    return value
