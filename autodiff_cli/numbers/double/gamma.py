"""The gamma function family on floats: gamma, its logarithm, their derivatives, and beta."""

from __future__ import annotations

import math

from .fallback import by_multiprecision
from .parts import polygamma_tail, sin_pi, tan_pi
from .twofold import finite, horner, two_sum

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
"""lgamma(x)/((x - 1)(x - 2)) in x - 3/2 for 1 <= x <= 2, highest power first.

mpmath.chebyfit, 22 terms, relative error 1e-18; the zeros at 1 and 2 are factored out so that they stay exact.
"""

DIGAMMA_ZERO = (1.4616321449683622, 9.549995429965697e-17)
"""The positive zero of digamma, as the sum of two doubles (mpmath.findroot, 60 digits; DLMF 5.4.20)."""

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
"""digamma(x)/(x - zero) in x - 3/2 for 1 <= x <= 2, highest power first (mpmath.chebyfit, 23 terms, error 3e-18)."""

STIRLING_SERIES = (
    -3617 / 122400, 1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12,
)  # fmt: skip
"""B(2k)/(2k(2k - 1)), the coefficients of 1/x^(2k-1) in log Γ(x), k = 8 … 1 (DLMF 5.11.1)."""

DIGAMMA_TAIL = (
    3617 / 8160, -1 / 12, 691 / 32760, -1 / 132, 1 / 240, -1 / 252, 1 / 120, -1 / 12,
)  # fmt: skip
"""-B(2k)/(2k), the coefficients of 1/x^(2k) in digamma(x), k = 8 … 1 (DLMF 5.11.2)."""

FAST_ORDERS = range(1, 13)
"""Orders of polygamma that are summed in doubles: above, the rounding of x + k counts too much."""

MODERATE = 1e-10
FACTORIALS = 150.0
"""Between these, products of two gamma functions are far from overflow."""

LARGE = 10.0
"""From here on eight terms of the asymptotic series give every digit."""

HALF_LN_2PI = 0.9189385332046728
"""log(2π)/2."""


def _is_pole(x: float) -> bool:
    """Whether x is 0 or a negative integer."""
    return x <= 0.0 and x == math.floor(x)


def gamma(x: float) -> float:
    """Γ(x); ZeroDivisionError at 0 and the negative integers. Python's own, Lanczos's approximation."""
    if _is_pole(x):
        raise ZeroDivisionError("gamma is infinite at 0 and the negative integers")
    return math.gamma(x)


def gamma_slope(x: float, out: float) -> float:
    """The derivative of Γ at x, given out = Γ(x).

    It is out·ψ(x). Where out is subnormal or 0, Γ(x) is Γ(x + 10) divided by x(x + 1)…(x + 9), last of all.
    """
    if math.fabs(out) > 1e-290:
        return finite(out * digamma(x))
    rising = math.prod(x + k for k in range(10))
    return math.gamma(x + 10.0) * digamma(x) / rising


def lgamma(x: float) -> float:
    """log |Γ(x)|; ZeroDivisionError at 0 and the negative integers.

    Python's own has only its absolute error small near the zeros at 1 and 2.
    """
    if _is_pole(x):
        raise ZeroDivisionError("lgamma is infinite at 0 and the negative integers")
    if x > 0.0:
        return finite(_lgamma_positive(x))
    if x > -0.5:  # the recurrence, twice
        return _lgamma_one_plus(1.0 + x) - math.log1p(x) - math.log(-x)
    # DLMF 5.5.3, the reflection formula, written for Γ(|x|): Γ(x)·Γ(-x) = -π/(x·sin πx)
    mirror = _lgamma_positive(-x)
    value = math.log(math.pi / (-x * math.fabs(sin_pi(x)))) - mirror
    if math.fabs(value) < 0.5 * math.fabs(mirror) or math.fabs(value) < 0.5:
        return by_multiprecision("lgamma", x)
    return finite(value)


def _lgamma_positive(x: float) -> float:
    """log Γ(x) for x > 0: a polynomial on [1, 2], the recurrence up to LARGE, Stirling's series above."""
    if x < 1.0:
        return _lgamma_one_plus(x) - math.log(x)
    if x <= 2.0:
        return _lgamma_one_plus(x - 1.0)
    if x < LARGE:
        product = 1.0
        while x > 2.0:
            x -= 1.0
            product *= x
        return math.log(product) + _lgamma_one_plus(x - 1.0)
    return (x - 0.5) * (math.log(x) - 1.0) + (HALF_LN_2PI - 0.5) + _stirling_correction(x)


def _lgamma_one_plus(u: float) -> float:
    """log Γ(1 + u) for 0 <= u <= 1."""
    return u * (u - 1.0) * horner(LGAMMA_SERIES, u - 0.5)


def _stirling_correction(x: float) -> float:
    """What Stirling's formula for log Γ(x) lacks, for x >= LARGE."""
    return horner(STIRLING_SERIES, 1.0 / x / x) / x


def digamma(x: float) -> float:
    """ψ(x), the derivative of log Γ(x); ZeroDivisionError at 0 and the negative integers."""
    if _is_pole(x):
        raise ZeroDivisionError("digamma is infinite at 0 and the negative integers")
    if x > 0.0:
        return _digamma_positive(x)
    # DLMF 5.5.4, the reflection formula, with ψ(1 - x) = ψ(-x) - 1/x
    if x > -1e-9:
        return finite(-1.0 / x + _digamma_one_plus(0.0))
    mirror = _digamma_one_plus(-x) if x > -1.0 else _digamma_positive(-x) - 1.0 / x
    cotangent = 0.0 if math.remainder(x, 1.0) in (0.5, -0.5) else math.pi / tan_pi(x)
    value = mirror - cotangent
    if math.fabs(value) < 0.5 * math.fabs(mirror):
        return by_multiprecision("polygamma", 0.0, x)
    return value


def _digamma_positive(x: float) -> float:
    """ψ(x) for x > 0: a polynomial on [1, 2], the recurrence up to LARGE, the asymptotic series above."""
    if x < 1.0:
        return finite(_digamma_one_plus(x) - 1.0 / x)
    if x < LARGE:
        shift = 0.0
        while x > 2.0:
            x -= 1.0
            shift += 1.0 / x
        return _digamma_one_plus(x - 1.0) + shift
    square = 1.0 / x / x
    return math.log(x) - 0.5 / x + square * horner(DIGAMMA_TAIL, square)


def _digamma_one_plus(u: float) -> float:
    """ψ(1 + u) for 0 <= u <= 1."""
    return ((u - (DIGAMMA_ZERO[0] - 1.0)) - DIGAMMA_ZERO[1]) * horner(DIGAMMA_SERIES, u - 0.5)


def trigamma(x: float) -> float:
    """ψ'(x); ZeroDivisionError at 0 and the negative integers."""
    if _is_pole(x):
        raise ZeroDivisionError("trigamma is infinite at 0 and the negative integers")
    if math.fabs(x) < 1e-9:
        return finite(1.0 / x / x)
    if x < 0.0:  # DLMF 5.15.6, the reflection formula
        sine = sin_pi(x)
        return (math.pi / sine) * (math.pi / sine) - (_polygamma_sum(1, -x) - 1.0 / x / x)
    return _polygamma_sum(1, x)


def polygamma(order: float, x: float) -> float:
    """The derivative of that order of digamma at x; ZeroDivisionError at 0 and the negative integers.

    ValueError unless the order is a non-negative integer.
    """
    if order == 0:
        return digamma(x)
    if order == 1:
        return trigamma(x)
    if order in FAST_ORDERS and 1e-10 < x < 1e10:
        return math.copysign(_polygamma_sum(int(order), x), math.fmod(order, 2.0) - 0.5)
    return by_multiprecision("polygamma", order, x)


def _polygamma_sum(order: int, x: float) -> float:
    """|ψ⁽ⁿ⁾(x)| = n!·Σ 1/(x + k)^(n+1) for x > 0 and n > 0: all positive terms: some, then the asymptotic series."""
    power, terms, start = -(order + 1), [], x
    while x < order * LARGE:
        terms.append(x**power)
        x = start + len(terms)
    square = 1.0 / x / x
    last = x**power
    terms += [x**-order / order, 0.5 * last, horner(polygamma_tail(order), square) * last / x]
    return math.factorial(order) * math.fsum(terms)


def polygamma_difference(order: float, a: float, b: float) -> float:
    """polygamma(order, a) - polygamma(order, a + b), also where b is so small that the two are nearly equal."""
    if a > 0.0 and b > 0.5 * a:
        first, second = polygamma(order, a), polygamma(order, a + b)
        if math.fabs(first - second) > 0.5 * math.fabs(second):
            return first - second
    return by_multiprecision("polygamma_difference", order, a, b)


def beta_slope(a: float, b: float) -> float:
    """The derivative of beta(a, b) in a, beta·(digamma(a) - digamma(a + b)), rounded as one number."""
    if MODERATE < a < FACTORIALS > a + b > b > MODERATE:
        return beta(a, b) * polygamma_difference(0.0, a, b)
    return by_multiprecision("beta_slope", a, b)


def beta(a: float, b: float) -> float:
    """Γ(a)·Γ(b)/Γ(a + b); ZeroDivisionError where a or b is 0 or a negative integer."""
    if MODERATE < a < FACTORIALS > a + b > b > MODERATE:
        total, error = two_sum(a, b)  # Γ magnifies the rounding of a + b
        return math.gamma(a) / math.gamma(total) * (1.0 - error * digamma(total)) * math.gamma(b)
    return by_multiprecision("beta", a, b)
