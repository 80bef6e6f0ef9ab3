"""Gamma and error functions on floats, beta, their derivatives, and gelu."""

from __future__ import annotations

import math

from .parts import (
    DIGAMMA_TAIL,
    by_multiprecision,
    digamma_one_plus,
    lgamma_one_plus,
    polygamma_tail,
    sin_pi,
    stirling_correction,
    tan_pi,
)
from .twofold import check_finite, horner, scaled_exp, two_product, two_sum

FAST_ORDERS = range(1, 13)
"""Orders of polygamma summed in doubles: above, x + k is too inexact."""

MIN_MODERATE = 1e-10
MAX_MODERATE = 150.0
"""Between these, products of two gamma functions cannot overflow."""

MIN_ASYMPTOTIC = 10.0
"""The least argument for full precision by eight asymptotic terms."""

HALF_LN_2PI = 0.9189385332046728
"""log(2π)/2."""


def _no_pole(x: float) -> None:
    if x <= 0.0 and x == math.floor(x):
        raise ZeroDivisionError("infinite at 0 and the negative integers")


def gamma(x: float) -> float:
    """Return Γ(x) by `math.gamma` (Lanczos). Raises ZeroDivisionError at 0, -1, -2, …"""
    _no_pole(x)
    return math.gamma(x)


def gamma_slope(x: float, out: float) -> float:
    """Return the derivative of Γ at x, given out = Γ(x).

    It is out·ψ(x). If out is subnormal or 0, Γ(x) is Γ(x + 10)/(x(x + 1)…(x + 9)), divided last.
    """
    if math.fabs(out) > 1e-290:
        return check_finite(out * digamma(x))
    rising = math.prod(x + k for k in range(10))
    return math.gamma(x + 10.0) * digamma(x) / rising


def lgamma(x: float) -> float:
    """Return log |Γ(x)|. Raises ZeroDivisionError at 0, -1, -2, …

    Near the zeros at 1 and 2, only the absolute error of `math.lgamma` is small.
    """
    _no_pole(x)
    if x > 0.0:
        return check_finite(_lgamma_positive(x))
    if x > -0.5:  # recurrence, twice
        return lgamma_one_plus(1.0 + x) - math.log1p(x) - math.log(-x)
    # DLMF 5.5.3 (reflection) for Γ(|x|): Γ(x)·Γ(-x) = -π/(x·sin πx)
    mirror = _lgamma_positive(-x)
    value = math.log(math.pi / (-x * math.fabs(sin_pi(x)))) - mirror
    if math.fabs(value) < 0.5 * math.fabs(mirror) or math.fabs(value) < 0.5:
        return by_multiprecision("lgamma", x)
    return check_finite(value)


def _lgamma_positive(x: float) -> float:
    if x < 1.0:
        return lgamma_one_plus(x) - math.log(x)
    if x <= 2.0:
        return lgamma_one_plus(x - 1.0)
    if x < MIN_ASYMPTOTIC:
        product = 1.0
        while x > 2.0:
            x -= 1.0
            product *= x
        return math.log(product) + lgamma_one_plus(x - 1.0)
    return (x - 0.5) * (math.log(x) - 1.0) + (HALF_LN_2PI - 0.5) + stirling_correction(x)


def digamma(x: float) -> float:
    """Return ψ(x) = Γ'(x)/Γ(x). Raises ZeroDivisionError at 0, -1, -2, …"""
    _no_pole(x)
    if x > 0.0:
        return _digamma_positive(x)
    # DLMF 5.5.4 (reflection), with ψ(1 - x) = ψ(-x) - 1/x
    if x > -1e-9:
        return check_finite(-1.0 / x + digamma_one_plus(0.0))
    mirror = digamma_one_plus(-x) if x > -1.0 else _digamma_positive(-x) - 1.0 / x
    cotangent = 0.0 if math.remainder(x, 1.0) in (0.5, -0.5) else math.pi / tan_pi(x)
    value = mirror - cotangent
    if math.fabs(value) < 0.5 * math.fabs(mirror):
        return by_multiprecision("polygamma", 0.0, x)
    return value


def _digamma_positive(x: float) -> float:
    if x < 1.0:
        return check_finite(digamma_one_plus(x) - 1.0 / x)
    if x < MIN_ASYMPTOTIC:
        shift = 0.0
        while x > 2.0:
            x -= 1.0
            shift += 1.0 / x
        return digamma_one_plus(x - 1.0) + shift
    square = 1.0 / x / x
    return math.log(x) - 0.5 / x + square * horner(DIGAMMA_TAIL, square)


def trigamma(x: float) -> float:
    """Return ψ'(x). Raises ZeroDivisionError at 0, -1, -2, …"""
    _no_pole(x)
    if math.fabs(x) < 1e-9:
        return check_finite(1.0 / x / x)
    if x < 0.0:  # DLMF 5.15.6 (reflection)
        sine = sin_pi(x)
        return (math.pi / sine) * (math.pi / sine) - (_polygamma_sum(1, -x) - 1.0 / x / x)
    return _polygamma_sum(1, x)


def polygamma(order: float, x: float) -> float:
    """Return a derivative of digamma. Raises ZeroDivisionError at 0, -1, -2, …

    Raises ValueError unless the order is a non-negative integer.
    """
    if order == 0:
        return digamma(x)
    if order == 1:
        return trigamma(x)
    if order in FAST_ORDERS and 1e-10 < x < 1e10:
        return math.copysign(_polygamma_sum(int(order), x), math.fmod(order, 2.0) - 0.5)
    return by_multiprecision("polygamma", order, x)


def _polygamma_sum(order: int, x: float) -> float:
    # n!·Σ 1/(x + k)^(n+1), all positive: some terms, then the asymptotic series
    power, terms, start = -(order + 1), [], x
    while x < order * MIN_ASYMPTOTIC:
        terms.append(x**power)
        x = start + len(terms)
    square = 1.0 / x / x
    last = x**power
    terms += [x**-order / order, 0.5 * last, horner(polygamma_tail(order), square) * last / x]
    return math.factorial(order) * math.fsum(terms)


def polygamma_difference(order: float, a: float, b: float) -> float:
    """Return polygamma(order, a) - polygamma(order, a + b), accurate for small b."""
    if a > 0.0 and b > 0.5 * a:
        first, second = polygamma(order, a), polygamma(order, a + b)
        if math.fabs(first - second) > 0.5 * math.fabs(second):
            return first - second
    return by_multiprecision("polygamma_difference", order, a, b)


def beta_slope(a: float, b: float) -> float:
    """Return ∂beta/∂a = beta·(digamma(a) - digamma(a + b)), without cancellation."""
    if MIN_MODERATE < a < MAX_MODERATE > a + b > b > MIN_MODERATE:
        return beta(a, b) * polygamma_difference(0.0, a, b)
    return by_multiprecision("beta_slope", a, b)


def beta(a: float, b: float) -> float:
    """Return Γ(a)·Γ(b)/Γ(a + b). Raises ZeroDivisionError where a or b is 0 or a negative integer."""
    if MIN_MODERATE < a < MAX_MODERATE > a + b > b > MIN_MODERATE:
        total, error = two_sum(a, b)  # Γ magnifies the rounding of a + b
        return math.gamma(a) / math.gamma(total) * (1.0 - error * digamma(total)) * math.gamma(b)
    return by_multiprecision("beta", a, b)


# ---- the error function and the normal distribution
SQRT_HALF = (0.7071067811865476, -4.833646656726457e-17)
"""sqrt(1/2) as the sum of two doubles."""

SQRT_PI_OVER_2 = 0.886226925452758
"""sqrt(π)/2."""

NORMAL_PEAK = 0.3989422804014327
"""1/sqrt(2π), the normal density at 0."""

FAR_TAIL = -30.0
"""Below this the normal distribution uses its asymptotic series."""


def exp_neg_square(x: float) -> float:
    """Return exp(-x²), erf' up to a factor; the square is exact."""
    if math.fabs(x) > 28.0:
        return 0.0
    square, error = two_product(x, x)
    return scaled_exp(1.0, -square, -error)


def normal_density(x: float, factor: float = 1.0) -> float:
    """Return factor · exp(-x²/2)/sqrt(2π), without premature underflow."""
    if math.fabs(x) > 40.0:
        return 0.0
    square, error = two_product(x, x)
    return scaled_exp(factor * NORMAL_PEAK, -0.5 * square, -0.5 * error)


def normal_distribution(x: float) -> float:
    """Return the standard normal distribution function, erfc(-x/sqrt(2))/2.

    The rounding error of x/sqrt(2) is corrected to first order, as erfc falls steeply.
    """
    if x < -40.0:
        return 0.0
    if x > 10.0:
        return 1.0
    z, error = two_product(-x, SQRT_HALF[0])
    error -= x * SQRT_HALF[1]
    return 0.5 * (math.erfc(z) - math.exp(-z * z) / SQRT_PI_OVER_2 * error)


def gelu(x: float) -> float:
    """Return x·Φ(x), where Φ is the normal distribution function."""
    if x >= FAR_TAIL:
        return x * normal_distribution(x)
    # -φ(x)·(1 - 1/x² + 3/x⁴ - …) for large negative x (DLMF 7.12.1)
    step = -1.0 / (x * x)
    total = term = 1.0
    for odd in (1, 3, 5, 7, 9, 11, 13):
        term *= odd * step
        total += term
    return normal_density(x, -total)
