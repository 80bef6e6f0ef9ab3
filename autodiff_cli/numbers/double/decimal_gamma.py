"""The gamma function family with 80 decimal digits, for the places where doubles cancel."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from .decimals import CONTEXT, NEGLIGIBLE, PI, cos_pi, sin_pi, to_float, whole_order

LARGE = 45
"""From here on 35 terms of the asymptotic series give 70 digits."""

TERMS = 36
"""How many Bernoulli numbers the asymptotic series use."""

CLOSE = Decimal("1e-25")
"""Relative distance below which a difference is its differential, to more digits than a double has."""

LATTICE_ORDER = 30
"""From this order on a cotangent's derivative is summed over its poles, of which a few suffice."""


@lru_cache(maxsize=1)
def bernoulli_numbers() -> tuple[Decimal, ...]:
    """B(2), B(4), … as decimals, by the tangent numbers of Brent and Harvey, arXiv:1108.0286, algorithm 1."""
    tangent = [1] * (TERMS + 1)
    for k in range(2, TERMS + 1):
        tangent[k] = (k - 1) * tangent[k - 1]
    for k in range(2, TERMS + 1):
        for j in range(k, TERMS + 1):
            tangent[j] = (j - k) * tangent[j - 1] + (j - k + 2) * tangent[j]
    numbers = []
    for k in range(1, TERMS + 1):
        exact = Fraction((-1) ** (k - 1) * 2 * k * tangent[k], 4**k * (4**k - 1))
        numbers.append(CONTEXT.divide(Decimal(exact.numerator), Decimal(exact.denominator)))
    return tuple(numbers)


def log_gamma(x: float) -> float:
    """log |Γ(x)|, by the recurrence and Stirling's series; for x above -100 or so, or it takes long."""
    with localcontext(CONTEXT):
        z, product = Decimal(x), Decimal(1)
        while z < LARGE:
            product *= z
            z += 1
        half_log = (2 * PI / z).ln() / 2
        return to_float(z * (z.ln() - 1) + half_log + stirling_correction(z) - abs(product).ln())


def stirling_correction(z: Decimal) -> Decimal:
    """Σ B(2k)/(2k(2k - 1) z^(2k-1)), what Stirling's formula for log Γ(z) lacks (DLMF 5.11.1)."""
    total, power, square = Decimal(0), 1 / z, 1 / (z * z)
    for k, number in enumerate(bernoulli_numbers(), 1):
        term = number * power / (2 * k * (2 * k - 1))
        total += term
        if abs(term) < NEGLIGIBLE * abs(total):
            break
        power *= square
    return total


def polygamma(order: float, x: float) -> float:
    """The derivative of that order of digamma, at any x but the poles; ValueError unless the order is whole."""
    with localcontext(CONTEXT):
        return to_float(_polygamma(whole_order(order), Decimal(x)))


def polygamma_difference(order: float, a: float, b: float) -> float:
    """polygamma(order, a) - polygamma(order, a + b)."""
    with localcontext(CONTEXT):
        return to_float(_polygamma_difference(whole_order(order), Decimal(a), Decimal(b)))


def _polygamma_difference(order: int, a: Decimal, b: Decimal) -> Decimal:
    """The difference itself, or for a tiny b, where it would cancel, its differential."""
    room = a if a > Decimal("0.5") else abs(a - a.to_integral_value())
    if abs(b) < CLOSE * room / (order + 1):
        return -b * _polygamma(order + 1, a)
    return _polygamma(order, a) - _polygamma(order, a + b)


def _polygamma(order: int, x: Decimal) -> Decimal:
    """The polygamma function of a decimal: directly for x > 0, by reflection (DLMF 5.15.6) for the rest."""
    if _is_pole(x):
        raise ZeroDivisionError("polygamma is infinite at 0 and the negative integers")
    if x < 0:
        mirrored = _polygamma(order, 1 - x)
        return (-mirrored if order % 2 else mirrored) - cotangent_derivative(order, x)
    if order == 0:
        return _digamma(x)
    total = _hurwitz_zeta(order, x) * _factorial(order)
    return total if order % 2 else -total


def _digamma(x: Decimal) -> Decimal:
    """ψ(x) for x > 0, by the recurrence and the asymptotic series (DLMF 5.11.2)."""
    total = Decimal(0)
    while x < LARGE:
        total -= 1 / x
        x += 1
    total += x.ln() - 1 / (2 * x)
    power = square = 1 / (x * x)
    for k, number in enumerate(bernoulli_numbers(), 1):
        term = number * power / (2 * k)
        total -= term
        if abs(term) < NEGLIGIBLE * abs(total):
            break
        power *= square
    return total


def _hurwitz_zeta(order: int, x: Decimal) -> Decimal:
    """ζ(order + 1, x) = Σ 1/(x + k)^(order+1) for x > 0: some terms, then Euler and Maclaurin (DLMF 25.11.5)."""
    total = Decimal(0)
    while x < order + LARGE:
        term = x ** -(order + 1)
        total += term
        if term < NEGLIGIBLE * total:
            return total
        x += 1
    power, square = x**-order, 1 / (x * x)
    total += power / order + power / (2 * x)
    # The terms are B(2k)/(2k)!·(order + 1)…(order + 2k - 1)/x^(order + 2k); `rising` is all but B(2k).
    rising = power * (order + 1) * square / 2
    for k, number in enumerate(bernoulli_numbers(), 1):
        term = number * rising
        total += term
        if abs(term) < NEGLIGIBLE * total:
            break
        rising *= (order + 2 * k) * (order + 2 * k + 1) * square / ((2 * k + 1) * (2 * k + 2))
    return total


def _factorial(n: int) -> Decimal:
    """n!, by Stirling's series where multiplying would take long."""
    if n < 1000:
        product = Decimal(1)
        for k in range(2, n + 1):
            product *= k
        return product
    z = Decimal(n + 1)
    return ((z - Decimal("0.5")) * z.ln() - z + (2 * PI).ln() / 2 + stirling_correction(z)).exp()


def cotangent_derivative(order: int, x: Decimal) -> Decimal:
    """The derivative of that order of π·cot(πx)."""
    rest = x - x.to_integral_value()
    if order % 2 == 0 and abs(rest) == Decimal("0.5"):
        return Decimal(0)
    if order >= LATTICE_ORDER:
        return _lattice_sum(order + 1, rest) * _factorial(order) * (-1 if order % 2 else 1)
    cotangent = cos_pi(rest) / sin_pi(rest)
    total = Decimal(0)
    for coefficient in reversed(cotangent_polynomial(order)):
        total = total * cotangent + coefficient
    return total * PI ** (order + 1)


def _lattice_sum(power: int, x: Decimal) -> Decimal:
    """Σ 1/(x + k)^power over all integers k, for |x| <= 1/2 and a power so high that few terms count."""
    total, k = x**-power, 1
    while True:
        right, left = (x + k) ** -power, (x - k) ** -power
        total += right + left
        if max(abs(right), abs(left)) < NEGLIGIBLE * abs(total):
            return total
        k += 1


@lru_cache(maxsize=256)
def cotangent_polynomial(order: int) -> tuple[int, ...]:
    """The coefficients, lowest first, of the derivative of that order of cot as a polynomial in cot.

    cot' = -(1 + cot²), so each polynomial is -(1 + c²) times the derivative of the one before.
    """
    polynomial = [0, 1]
    for _ in range(order):
        slope = [k * polynomial[k] for k in range(1, len(polynomial))]
        polynomial = [0] * (len(slope) + 2)
        for k, coefficient in enumerate(slope):
            polynomial[k] -= coefficient
            polynomial[k + 2] -= coefficient
    return tuple(polynomial)


def beta(a: float, b: float) -> float:
    """Γ(a)·Γ(b)/Γ(a + b) for any a and b but the poles."""
    with localcontext(CONTEXT):
        return to_float(_beta(Decimal(a), Decimal(b)))


def beta_slope(a: float, b: float) -> float:
    """The derivative of beta(a, b) in a, for any a and b but the poles."""
    with localcontext(CONTEXT):
        x, y = Decimal(a), Decimal(b)
        total = x + y
        if _is_pole(total):  # beta is 0 there, as sin(πa + πb) is, which has this slope
            return to_float(PI * cos_pi(total) * _beta_over_sine(x, y))
        return to_float(_beta(x, y) * _polygamma_difference(0, x, y))


def _is_pole(x: Decimal) -> bool:
    """Whether x is 0 or a negative integer."""
    return x <= 0 and x == x.to_integral_value()


def _beta(a: Decimal, b: Decimal) -> Decimal:
    """Γ(a)·Γ(b)/Γ(a + b), by reflection (DLMF 5.5.3) where an argument is negative."""
    smaller, total = min(a, b), a + b
    if smaller > 0:
        return _beta_positive(a, b)
    if total < 1:
        return sin_pi(total) * _beta_over_sine(a, b)
    return PI / (sin_pi(smaller) * max(a, b) * _beta_positive(1 - smaller, total))


def _beta_over_sine(a: Decimal, b: Decimal) -> Decimal:
    """Γ(a)·Γ(b)/(Γ(a + b)·sin(πa + πb)), by reflection, for a + b < 1 and a negative argument."""
    larger, smaller, total = max(a, b), min(a, b), a + b
    if larger > 0:
        return _beta_positive(1 - total, larger) / sin_pi(smaller)
    return PI / (sin_pi(a) * sin_pi(b) * (1 - total) * _beta_positive(1 - a, 1 - b))


def _beta_positive(a: Decimal, b: Decimal) -> Decimal:
    """Γ(a)·Γ(b)/Γ(a + b) for positive a and b, through logarithms and Stirling's series.

    The large parts of log Γ(a) - log Γ(a + b) are taken together, as in TOMS 708 (Didonato and Morris 1992).
    """
    factor = Decimal(1)
    while a < LARGE:
        factor *= (a + b) / a
        a += 1
    while b < LARGE:
        factor *= (a + b) / b
        b += 1
    if a < b:
        a, b = b, a
    total = a + b
    exponent = -(a - Decimal("0.5")) * _log_one_plus(b / a) + b * (b / total).ln() + (2 * PI / b).ln() / 2
    if exponent + Decimal("2.31") * factor.adjusted() < -2000:  # 0 as a double, and exp would take long
        return Decimal("1e-800")
    exponent += stirling_correction(a) + stirling_correction(b) - stirling_correction(total)
    return factor * exponent.exp()


def _log_one_plus(ratio: Decimal) -> Decimal:
    """log(1 + ratio), with all its digits for a small ratio."""
    if ratio < CLOSE:
        return ratio - ratio**2 / 2 + ratio**3 / 3
    return (1 + ratio).ln()
