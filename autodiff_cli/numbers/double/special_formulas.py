"""Error and gamma functions in double arithmetic without loops, for targets without them.

The gamma functions map a positive number to [1, 2] by their recurrence, in eight choices, or use their asymptotic
series; negative ones are reflected. Digits are lost only near the zeros of lgamma, digamma and the like at negative
numbers, where the terms of a reflection cancel.
"""

from __future__ import annotations

import math
from typing import Any

from ...table.primitive import Number
from ..base import cotangent_polynomial
from . import special as doubles
from .special import DIGAMMA_TAIL, digamma_one_plus, lgamma_one_plus, polygamma_tail, stirling_correction
from .twofold import horner, two_sum

ERF_SERIES = (
    -1.462091340945175e-07, 1.637123442577e-06, -1.4923003368152099e-05, 0.00012055286202005714,
    -0.0008548326510724796, 0.0052239776220169365, -0.02686617064499972, 0.1128379167095487,
    -0.3761263890318375, 1.1283791670955126,
)  # fmt: skip
"""erf(x)/x in x² for |x| <= 1/2, highest power first (mpmath.chebyfit, 10 terms, error 3e-20)."""

ERFC_SERIES = (
    4.098912139147414e-10, -3.9164185786191914e-09, -4.176542757036172e-09, 3.7247243209845766e-08,
    2.410184457809074e-08, -2.5803482017531867e-07, -5.816100364703228e-08, 1.7517818286235622e-06,
    -9.728836753446274e-07, -1.1444463844195566e-05, 2.238391854126736e-05, 5.1649271214343186e-05,
    -0.00029015397972539697, 0.00029371361550813515, 0.0017556258323401742, -0.009746579549567915,
    0.02836227742153623, -0.05869339859044296, 0.09230432116019659, -0.1088039301417102, 0.08227673849015109,
    0.003585415485463716, -0.14024059858554702, 1.2375126308378275,
)  # fmt: skip
"""(1 + 2x)·exp(x²)·erfc(x) in (x - 15/4)/(x + 15/4) for 1/2 <= x <= 28 (mpmath.chebyfit, 24 terms, error 2e-19).

The variable and the factor are those of Shepherd and Laframboise, Mathematics of Computation 36 (1981) 249-253.
"""

GAMMA_SERIES = (
    -0.00011918060538282103, 0.00017877054902846353, -8.938401795176073e-05, 0.00013407432206073702,
    -0.000318425630316548, 0.0004776274435437428, -0.0006721864891915583, 0.0010082112193192704,
    -0.001522718358989335, 0.0022836521947962353, -0.003422726711413278, 0.0051315298230765775,
    -0.007690216677416653, 0.011522523362156005, -0.017222442878105718, 0.0258376061027181,
    -0.03800193556100107, 0.058610303826380196, -0.07752305229977173, 0.14464535904449782,
    -0.10729480456477264, 0.4148134536883018, 0.03233839744888502, 0.886226925452758,
)  # fmt: skip
"""Γ(x) in x - 3/2 for 1 <= x <= 2, highest power first (mpmath.chebyfit, 24 terms, error 9e-19)."""

MAX_RECURRENCES = 8
"""Recurrence steps that bring a number below `doubles.MIN_ASYMPTOTIC` to at most 2."""

ASYMPTOTIC_SHIFT = 10
"""Terms before the asymptotic series of a polygamma, per unit of its order."""

MAX_POLYGAMMA_ORDER = 6
"""The highest order of polygamma that is written out."""


class Lacking(Exception):
    """A target lacks a function that has no formula."""


def _erf_near(x: Number) -> Number:
    return x * horner(ERF_SERIES, x * x)


def _erfc_far(m: Any, x: Number) -> Number:
    return m.exp_neg_square(x) * (horner(ERFC_SERIES, (x - 3.75) / (x + 3.75)) / (1 + 2 * x))


def erf(m: Any, x: Number) -> Number:
    """Return the error function."""
    far = m.abs(x)
    return m.where(m.lt(far, 0.5), lambda: _erf_near(x), lambda: m.sign(x) * (1 - _erfc_far(m, far)))


def erfc(m: Any, x: Number) -> Number:
    """Return 1 - erf(x), accurate for large x."""

    def far() -> Number:
        tail = _erfc_far(m, m.abs(x))
        return m.where(m.gt(x, 0), tail, 2 - tail)

    return m.where(m.lt(m.abs(x), 0.5), lambda: 1 - _erf_near(x), far)


def sin_pi(m: Any, x: Number) -> Number:
    """Return sin(πx), with exact period reduction."""
    rest = x - 2 * m.floor(x / 2 + 0.5)
    size = m.abs(rest)
    folded = m.where(m.gt(size, 0.5), 1 - size, size)
    value = m.where(m.le(folded, 0.25), m.sin(math.pi * folded), m.cos(math.pi * (0.5 - folded)))
    return m.sign(rest) * value


def cos_pi(m: Any, x: Number) -> Number:
    """Return cos(πx), with exact period reduction."""
    size = m.abs(x - 2 * m.floor(x / 2 + 0.5))
    low, high = m.cos(math.pi * size), -m.cos(math.pi * (1 - size))
    return m.where(m.lt(size, 0.25), low, m.where(m.gt(size, 0.75), high, m.sin(math.pi * (0.5 - size))))


def _cotangent(m: Any, x: Number) -> Number:
    rest = x - m.floor(x + 0.5)
    from_half = rest - 0.5 * m.sign(rest)
    return m.where(m.gt(m.abs(rest), 0.25), -m.tan(math.pi * from_half), lambda: 1 / m.tan(math.pi * rest))


def _lowered(m: Any, x: Number) -> tuple[Number, list[tuple[Number, Number]]]:
    steps = []
    for _ in range(MAX_RECURRENCES):
        above = m.gt(x, 2)
        x = m.where(above, x - 1, x)
        steps.append((above, x))
    return x, steps


def _lowered_product(m: Any, x: Number) -> tuple[Number, Number]:
    low, steps = _lowered(m, x)
    product = m.number(1)
    for above, y in steps:
        product = product * m.where(above, y, 1)
    return low, product


def gamma(m: Any, x: Number) -> Number:
    """Return Γ(x); infinite at 0 and the negative integers."""
    size = m.abs(x)

    def large() -> Number:
        root = m.pow(size, 0.5 * size - 0.25)
        rest = m.exp(stirling_correction(size)) * math.sqrt(2 * math.pi)
        second = root * m.exp(-size) * rest
        return m.where(m.gt(x, 0), lambda: root * second, lambda: reflected(root, second))

    def reflected(*factors: Number) -> Number:
        # DLMF 5.5.3, written for Γ(-x); the product of the factors may overflow.
        value = -math.pi / (x * sin_pi(m, x))
        for factor in factors:
            value = value / factor
        return value

    def above_one() -> Number:
        low, product = _lowered_product(m, size)
        return product * horner(GAMMA_SERIES, low - 1.5)

    def moderate() -> Number:
        value = m.where(m.lt(size, 1), lambda: horner(GAMMA_SERIES, size - 0.5) / size, above_one)
        return m.where(m.gt(x, 0), value, lambda: reflected(value))

    return m.where(m.lt(size, doubles.MIN_ASYMPTOTIC), moderate, large)


def _lgamma_positive(m: Any, x: Number) -> Number:
    def moderate() -> Number:
        low, product = _lowered_product(m, x)
        return m.log(product) + lgamma_one_plus(low - 1)

    def large() -> Number:
        return (x - 0.5) * (m.log(x) - 1) + (doubles.HALF_LN_2PI - 0.5) + stirling_correction(x)

    above = lambda: m.where(m.lt(x, doubles.MIN_ASYMPTOTIC), moderate, large)  # noqa: E731
    return m.where(m.lt(x, 1), lambda: lgamma_one_plus(x) - m.log(x), above)


def lgamma(m: Any, x: Number) -> Number:
    """Return log |Γ(x)|; infinite at 0 and the negative integers."""

    def below() -> Number:
        near = lambda: lgamma_one_plus(1 + x) - m.log1p(x) - m.log(-x)  # noqa: E731
        mirrored = lambda: m.log(math.pi / (-x * m.abs(sin_pi(m, x)))) - _lgamma_positive(m, -x)  # noqa: E731
        return m.where(m.gt(x, -0.5), near, mirrored)

    return m.where(m.gt(x, 0), lambda: _lgamma_positive(m, x), below)


def _digamma_positive(m: Any, x: Number) -> Number:
    def moderate() -> Number:
        low, steps = _lowered(m, x)
        total = m.number(0)
        for above, y in steps:
            total = total + m.where(above, 1 / y, 0)
        return digamma_one_plus(low - 1) + total

    def large() -> Number:
        square = 1 / x / x
        return m.log(x) - 0.5 / x + square * horner(DIGAMMA_TAIL, square)

    above = lambda: m.where(m.lt(x, doubles.MIN_ASYMPTOTIC), moderate, large)  # noqa: E731
    return m.where(m.lt(x, 1), lambda: digamma_one_plus(x) - 1 / x, above)


def digamma(m: Any, x: Number) -> Number:
    """Return ψ(x); infinite at 0 and the negative integers."""

    def below() -> Number:
        # DLMF 5.5.4, with ψ(1 - x) = ψ(-x) - 1/x
        mirror = m.where(m.gt(x, -1), lambda: digamma_one_plus(-x), lambda: _digamma_positive(m, -x) - 1 / x)
        return mirror - math.pi * _cotangent(m, x)

    return m.where(m.gt(x, 0), lambda: _digamma_positive(m, x), below)


def _polygamma_sum(order: int, x: Number) -> Number:
    count = ASYMPTOTIC_SHIFT * order
    far = x + count
    square = 1 / far / far
    last = _inverse_power(far, order)
    total = _inverse_power(x + (count - 1), order + 1)
    for k in range(count - 2, -1, -1):
        total = total + _inverse_power(x + k, order + 1)
    tail = last / far * (0.5 + horner(polygamma_tail(order), square) / far)
    return math.factorial(order) * (last / order + (tail + total))


def _inverse_power(x: Number, exponent: int) -> Number:
    value = 1 / x
    for _ in range(exponent - 1):
        value = value / x
    return value


def polygamma(m: Any, n: Number, x: Number) -> Number:
    """Return ψ⁽ⁿ⁾(x) for a small constant n; infinite at 0 and the negative integers.

    Raises `Lacking` for a higher order, whose sum is long.
    """
    order = int(float(n))
    if order == 0:
        return m.digamma(x)
    if order > MAX_POLYGAMMA_ORDER:
        raise Lacking(f"polygamma({order}, …)")
    sign = 1 if order % 2 else -1

    def below() -> Number:
        # DLMF 5.15.6
        polynomial = tuple(map(float, reversed(cotangent_polynomial(order))))
        slope = math.pi ** (order + 1) * horner(polynomial, _cotangent(m, x))
        return -slope - _polygamma_sum(order, 1 - x)

    return m.where(m.gt(x, 0), lambda: sign * _polygamma_sum(order, x), below)


def polygamma_difference(m: Any, n: Number, a: Number, b: Number) -> Number:
    """Return ψ⁽ⁿ⁾(a) - ψ⁽ⁿ⁾(a + b); for n = 0 without cancellation."""

    def plain() -> Number:
        return m.polygamma(n, a) - m.polygamma(n, a + b)

    if float(n) != 0:
        return plain()

    def near() -> Number:
        # DLMF 5.5.4: below 0, reflect, and subtract two cotangents
        positive = m.gt(a, 0)
        mirrored = _digamma_difference(m, m.where(positive, a, 1 - a), m.where(positive, b, -b))
        waves = lambda: math.pi * sin_pi(m, b) / sin_pi(m, a) / sin_pi(m, a + b)  # noqa: E731
        return mirrored - m.where(positive, 0, waves)

    size = m.abs(b)
    return m.where(m.or_(m.lt(size, 0.5 * a), m.lt(size, -0.5 * a)), near, plain)


def _digamma_difference(m: Any, a: Number, b: Number) -> Number:
    # a > 0, |b| < a/2; ψ(x) = -Σ 1/(x + k) + ψ(x + ASYMPTOTIC_SHIFT); the factor b of each difference is taken out
    x, y = a + ASYMPTOTIC_SHIFT, a + ASYMPTOTIC_SHIFT + b
    total = 0.5 / x / y
    for k in range(ASYMPTOTIC_SHIFT):
        total = total + 1 / (a + k) / (a + k + b)
    p, q = 1 / x / x, 1 / y / y
    quotient, value = m.number(0), m.number(0)
    for coefficient in DIGAMMA_TAIL:
        quotient, value = quotient * p + value, value * q + coefficient
    # The tail is p·P(p) for a polynomial P: p·P(p) - q·P(q) = (p - q)·(P(q) + p·(P(p) - P(q))/(p - q))
    tail = (1 / x + 1 / y) / x / y * (value + p * quotient)
    return -(m.log1p(b / x) + b * (total - tail))


def beta(m: Any, a: Number, b: Number) -> Number:
    """Return Γ(a)·Γ(b)/Γ(a + b); 0 where only a + b is a pole, nan where a or b is."""
    total, error = two_sum(a, b)

    def pole(x: Number) -> Any:
        return m.and_(m.le(x, 0), m.eq(m.floor(x), x))

    def ordinary() -> Number:
        value = m.gamma(a) / m.gamma(total) * m.gamma(b)
        return value - value * (error * m.digamma(total))  # Γ magnifies the rounding of a + b

    def large() -> Number:
        low, high = m.min(a, b), m.max(a, b)
        positive = m.gt(low, 0)
        over, lost = two_sum(1, -low)
        size = m.where(positive, low, over)
        value = _beta_large(m, size, m.where(positive, high, total), m.where(positive, total, 1 + high))
        # ψ(x) is about log(x) - 1/(2x)
        value = value + value * (m.where(positive, 0, lost) * (m.log(size) - 0.5 / size - m.log(m.abs(total))))
        # DLMF 5.5.3
        return m.where(positive, value, lambda: math.pi / (sin_pi(m, low) * high) / value)

    inside = lambda: m.where(pole(total), 0, lambda: m.where(m.lt(total, doubles.MAX_MODERATE), ordinary, large))  # noqa: E731
    return m.where(m.or_(pole(a), pole(b)), math.nan, inside)


def _beta_large(m: Any, a: Number, b: Number, total: Number) -> Number:
    # DLMF 5.11.1 for Γ(q)/Γ(p + q), whose logarithms cancel; p is the smaller number.
    p, q = m.min(a, b), m.max(a, b)
    rest = m.exp((p - (q - 0.5) * m.log1p(p / q)) + (stirling_correction(q) - stirling_correction(total)))
    near = lambda: m.gamma(p) * (m.pow(total, -p) * rest)  # noqa: E731
    far = lambda: m.sqrt(2 * math.pi / p) * m.exp(stirling_correction(p) - p) * (m.pow(p / total, p) * rest)  # noqa: E731
    return m.where(m.lt(p, doubles.MIN_ASYMPTOTIC), near, far)
