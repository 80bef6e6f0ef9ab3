"""Gamma and error functions on floats, beta, their derivatives, and gelu."""

from __future__ import annotations

import math
from functools import lru_cache

from .twofold import (
    by_multiprecision,
    check_finite,
    horner,
    scaled_exp,
    sin_pi,
    two_product,
    two_sum,
)

# Orders of polygamma summed in doubles: above, x + k is too inexact.
FAST_ORDERS = range(1, 13)

# Between these, products of two gamma functions cannot overflow.
MIN_MODERATE = 1e-10
MAX_MODERATE = 150.0

# The least argument for full precision by eight asymptotic terms.
MIN_ASYMPTOTIC = 10.0

HALF_LN_2PI = 0.9189385332046728

# lgamma(x)/((x - 1)(x - 2)) in x - 3/2 for 1 <= x <= 2, highest power first (mpmath.chebyfit, error
# 1e-18).
LGAMMA_SERIES = (
    -7.760660152513446e-06, 1.2140008083973407e-05, -8.355075869795273e-06,
    1.3186019073996835e-05, -2.7201673025504752e-05, 4.30276814976503e-05,
    -6.614136022346414e-05, 0.00010535512483785591, -0.0001689178215524898,
    0.00027131373861446925, -0.00043799307479613914, 0.000711519067515296,
    -0.0011644145847310124, 0.0019229163127905161, -0.0032120740737152814,
    0.005446457839126065, -0.009425622448525798, 0.01679709863127416,
    -0.031308487501010646, 0.06291140107456439, -0.14595989591430608,
    0.4831289505409809,
)  # fmt: skip

# The positive zero of digamma, as the sum of two doubles (mpmath.findroot, 60 digits; DLMF 5.4.20).
DIGAMMA_ZERO = (1.4616321449683622, 9.549995429965697e-17)

# digamma(x)/(x - zero) in x - 3/2 for 1 <= x <= 2, highest power first (mpmath.chebyfit, 23 terms,
# error 3e-18).
DIGAMMA_SERIES = (
    0.00011881232908510335, -0.0001782188548855923, 9.653646261410062e-05,
    -0.00014480643368061614, 0.00032395945401345196, -0.00048595039220036254,
    0.0006909255761282986, -0.0010364584817312839, 0.0015633696313653504,
    -0.0023454947397380833, 0.003518106563802472, -0.005279937255532708,
    0.007927021796868154, -0.011908220105959716, 0.017907248317313294,
    -0.026975796659787055, 0.040760833940846085, -0.06192213327548831,
    0.09498872445289039, -0.14840492305388092, 0.24054248424078697,
    -0.4236274212814606, 0.9510558760318328,
)  # fmt: skip

# k, and the numerator and the denominator of B(2k) (DLMF 24.2), for the asymptotic series.
_BERNOULLI = tuple(
    zip(
        range(8, 0, -1),
        (-3617, 7, -691, 5, -1, 1, -1, 1),
        (510, 6, 2730, 66, 30, 42, 30, 6),
        strict=True,
    )
)

# B(2k)/(2k(2k - 1)), the coefficients of 1/x^(2k-1) in log Γ(x), k = 8 … 1 (DLMF 5.11.1).
STIRLING_SERIES = tuple(n / (d * 2 * k * (2 * k - 1)) for k, n, d in _BERNOULLI)

# -B(2k)/(2k), the coefficients of 1/x^(2k) in digamma(x), k = 8 … 1 (DLMF 5.11.2).
DIGAMMA_TAIL = tuple(-n / (d * 2 * k) for k, n, d in _BERNOULLI)


def _no_pole(x: float) -> None:
    if x <= 0.0 and x == math.floor(x):
        raise ZeroDivisionError("infinite at 0 and the negative integers")


def _gamma(x: float) -> float:
    _no_pole(x)
    return math.gamma(x)


@lru_cache(256)
def polygamma_tail(order: int) -> tuple[float, ...]:
    """Return B(2k)·(n+1)…(n+2k-1)/(2k)!, k = 8 … 1, for |ψ⁽ⁿ⁾(x)|/n! in 1/x^(n+2k) (DLMF
    5.15.8).
    """
    rising = [math.prod(range(order + 1, order + 2 * k)) for k, _, _ in _BERNOULLI]
    terms = zip(rising, _BERNOULLI, strict=True)
    return tuple(n / d * product / math.factorial(2 * k) for product, (k, n, d) in terms)


def lgamma_one_plus(u: float) -> float:
    """Return log Γ(1 + u) for 0 <= u <= 1, in any number type."""
    return u * (u - 1.0) * horner(LGAMMA_SERIES, u - 0.5)


def stirling_correction(x: float) -> float:
    """Return the correction to Stirling's formula for log Γ(x), x >= MIN_ASYMPTOTIC."""
    return horner(STIRLING_SERIES, 1.0 / x / x) / x


def digamma_one_plus(u: float) -> float:
    """Return ψ(1 + u) for 0 <= u <= 1."""
    return ((u - (DIGAMMA_ZERO[0] - 1.0)) - DIGAMMA_ZERO[1]) * horner(DIGAMMA_SERIES, u - 0.5)


def _gamma_slope(x: float, out: float) -> float:
    if math.fabs(out) > 1e-290:
        return check_finite(out * _digamma(x))
    # out is subnormal or 0: Γ(x) is Γ(x + 10)/(x(x + 1)…(x + 9)), divided last
    rising = math.prod(x + k for k in range(10))
    return math.gamma(x + 10.0) * _digamma(x) / rising


def _lgamma(x: float) -> float:
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


def _digamma(x: float) -> float:
    _no_pole(x)
    if x > 0.0:
        return _digamma_positive(x)
    # DLMF 5.5.4 (reflection), with ψ(1 - x) = ψ(-x) - 1/x
    if x > -1e-9:
        return check_finite(-1.0 / x + digamma_one_plus(0.0))
    mirror = digamma_one_plus(-x) if x > -1.0 else _digamma_positive(-x) - 1.0 / x
    rest = math.remainder(x, 1.0)
    half = 0.5 - math.fabs(rest)
    tangent = math.tan(math.pi * rest)
    if half < 0.25:
        tangent = 1.0 / math.tan(math.pi * half) if half else math.inf
    value = mirror - math.copysign(math.pi / tangent, rest)
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


def _polygamma(order: float, x: float) -> float:
    if order == 0:
        return _digamma(x)
    if order == 1:
        _no_pole(x)
        if math.fabs(x) < 1e-9:
            return check_finite(1.0 / x / x)
        if x < 0.0:  # DLMF 5.15.6 (reflection)
            sine = sin_pi(x)
            return (math.pi / sine) * (math.pi / sine) - (_polygamma_sum(1, -x) - 1.0 / x / x)
        return _polygamma_sum(1, x)
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


def _polygamma_difference(order: float, a: float, b: float) -> float:
    """Return polygamma(order, a) - polygamma(order, a + b), accurate for small b."""
    if a > 0.0 and b > 0.5 * a:
        first, second = _polygamma(order, a), _polygamma(order, a + b)
        if math.fabs(first - second) > 0.5 * math.fabs(second):
            return first - second
    return by_multiprecision("polygamma_difference", order, a, b)


def _beta_slope(a: float, b: float) -> float:
    """Return ∂beta/∂a = beta·(digamma(a) - digamma(a + b)), without cancellation."""
    if MIN_MODERATE < a < MAX_MODERATE > a + b > b > MIN_MODERATE:
        return _beta(a, b) * _polygamma_difference(0.0, a, b)
    return by_multiprecision("beta_slope", a, b)


def _beta(a: float, b: float) -> float:
    if MIN_MODERATE < a < MAX_MODERATE > a + b > b > MIN_MODERATE:
        total, error = two_sum(a, b)  # Γ magnifies the rounding of a + b
        return math.gamma(a) / math.gamma(total) * (1.0 - error * _digamma(total)) * math.gamma(b)
    return by_multiprecision("beta", a, b)


# ---- the incomplete gamma function
# Up to here x**a and the gamma function of a are doubles that lose no digits, for most x.
MAX_SHAPE = 140.0

# Up to here exp(-x) is a normal number.
MAX_EXPONENTIAL = 700.0


def _gamma_density(a: float, x: float) -> float:
    value = _moderate_density(a, x)
    return by_multiprecision("gamma_density", a, x) if value is None else value


def _moderate_density(a: float, x: float) -> float | None:
    """Return x**(a - 1)·exp(-x)/Γ(a); None where a factor has too few digits."""
    if not (MIN_MODERATE < a < MAX_SHAPE and MIN_MODERATE < x < MAX_EXPONENTIAL):
        return None
    if math.fabs((a - 1.0) * math.log(x)) > MAX_EXPONENTIAL:
        return None
    # a - 1 is exact from 1/2
    power = x**a / x if a < 0.5 else x ** (a - 1.0)
    value = power * math.exp(-x) / math.gamma(a)
    return value if value > 1e-290 else None


def _gammainc(a: float, x: float) -> float:
    density = _moderate_density(a, x)
    if density is not None:
        if x < a + 1.0:
            return _lower_gamma(a, x, density)
        return 1.0 - _upper_gamma(a, x, density)
    return by_multiprecision("gammainc", a, x)


def _gammaincc(a: float, x: float) -> float:
    density = _moderate_density(a, x)
    if density is not None:
        if x < a and (lower := _lower_gamma(a, x, density)) < 0.5:
            return 1.0 - lower
        if x >= max(1.0, a):
            return _upper_gamma(a, x, density)
    return by_multiprecision("gammaincc", a, x)


def _lower_gamma(a: float, x: float, density: float) -> float:
    """Return the series of positive terms (DLMF 8.7.1), for x below a + 1."""
    total = term = 1.0
    below = a
    while term > 1e-18 * total:
        below += 1.0
        term *= x / below
        total += term
    return density * (x / a) * total


def _upper_gamma(a: float, x: float, density: float) -> float:
    """Return the continued fraction (DLMF 8.9.2) from its end, which keeps more digits, for x above
    1 and a.
    """
    # the rest after n levels is about exp(-4·sqrt(n·x))
    levels = 10 + int(100.0 / x + 4.0 * math.sqrt(a))
    start = x - a - 1.0
    value = start + 2.0 * levels + 2.0
    for k in range(levels, 0, -1):
        value = start + 2.0 * k + k * (a - k) / value
    return density * x / value


# ---- the error function and the normal distribution
# sqrt(1/2) as the sum of two doubles.
SQRT_HALF = (0.7071067811865476, -4.833646656726457e-17)

SQRT_PI_OVER_2 = 0.886226925452758

# 1/sqrt(2π), the normal density at 0.
NORMAL_PEAK = 0.3989422804014327


def _exp_neg_square(x: float) -> float:
    if math.fabs(x) > 28.0:
        return 0.0
    square, error = two_product(x, x)
    return scaled_exp(1.0, -square, -error)


def _normpdf(x: float) -> float:
    if math.fabs(x) > 40.0:
        return 0.0
    square, error = two_product(x, x)
    return scaled_exp(NORMAL_PEAK, -0.5 * square, -0.5 * error)


def _normcdf(x: float) -> float:
    if math.fabs(x) > 40.0:
        return 0.0 if x < 0.0 else 1.0
    # the rounding error of x/sqrt(2), to first order: erfc falls steeply
    z, error = two_product(-x, SQRT_HALF[0])
    error -= x * SQRT_HALF[1]
    return 0.5 * (math.erfc(z) - math.exp(-z * z) / SQRT_PI_OVER_2 * error)
