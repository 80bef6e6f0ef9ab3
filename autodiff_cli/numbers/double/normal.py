"""The error function family on floats: erf, erfc, erfinv, and gelu with the normal distribution behind it."""

from __future__ import annotations

import math

from .twofold import horner, scaled_exp, two_product

SQRT_HALF = (0.7071067811865476, -4.833646656726457e-17)
"""sqrt(1/2) as the sum of two doubles."""

SQRT_PI_OVER_2 = 0.886226925452758
"""sqrt(π)/2."""

NORMAL_PEAK = 0.3989422804014327
"""1/sqrt(2π), the normal density at 0."""

FAR_TAIL = -30.0
"""Below this the normal distribution function is summed from its asymptotic series."""

GELU_SLOPE_ZERO = (-0.7517915246935645, 1.4956759177009883e-17)
"""Where gelu is smallest, as the sum of two doubles (mpmath.findroot, 60 digits)."""

GELU_SLOPE_SERIES = (
    -1.2694659128298344e-09, -3.376820512649965e-08, -1.652245138204433e-09,
    5.696394777043726e-07, 4.3285479556615925e-07, -7.74833140267088e-06,
    -1.1214381345904571e-05, 8.615946314567098e-05, 0.000186339746313297,
    -0.0007448268375921829, -0.0022395380680766807, 0.004539228379082832,
    0.01942167983818913, -0.014771522148243498, -0.1140082332972217,
    -0.018199676398671094, 0.388284982990552, 0.4314939923140469,
)  # fmt: skip
"""gelu_slope(zero + t)/t for |t| <= 0.45, highest power first (mpmath.chebyfit, 18 terms, relative error 3e-20)."""

# Wichura, Algorithm AS241 (PPND16), Applied Statistics 37 (1988) 477-484: the normal quantile as rational functions.
CENTRE_NUMERATOR = (
    2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
    13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608,
)  # fmt: skip
CENTRE_DENOMINATOR = (
    5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
    5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0,
)  # fmt: skip
MIDDLE_NUMERATOR = (
    7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
    3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734,
)  # fmt: skip
MIDDLE_DENOMINATOR = (
    1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
    0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0,
)  # fmt: skip
FAR_NUMERATOR = (
    2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
    0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772,
)  # fmt: skip
FAR_DENOMINATOR = (
    2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
    0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0,
)  # fmt: skip


def erfinv(x: float) -> float:
    """The number whose error function is x; ZeroDivisionError at ±1, ValueError outside.

    Wichura's AS241 for the normal quantile at (1 + x)/2, divided by sqrt(2); 1 - |x| is exact where it matters.
    """
    size = math.fabs(x)
    if size == 1.0:
        raise ZeroDivisionError("erfinv is infinite at ±1")
    if size > 1.0:
        raise ValueError("erfinv is defined between -1 and 1")
    if size <= 0.85:
        r = 0.180625 - 0.25 * x * x
        return 0.5 * x * (horner(CENTRE_NUMERATOR, r) / horner(CENTRE_DENOMINATOR, r)) * SQRT_HALF[0]
    r = math.sqrt(-math.log(0.5 * (1.0 - size)))
    if r <= 5.0:
        quantile = horner(MIDDLE_NUMERATOR, r - 1.6) / horner(MIDDLE_DENOMINATOR, r - 1.6)
    else:
        quantile = horner(FAR_NUMERATOR, r - 5.0) / horner(FAR_DENOMINATOR, r - 5.0)
    return math.copysign(quantile * SQRT_HALF[0], x)


def erfinv_slope(x: float, out: float) -> float:
    """The derivative of erfinv at x, given out = erfinv(x).

    It is sqrt(π)/2·exp(out²). Near ±1, where that magnifies the rounding of out, exp(out²) is
    erfcx(out)/(1 - |x|), because 1 - |x| = erfc(|out|) = exp(-out²)·erfcx(|out|).
    """
    size = math.fabs(out)
    if size < 0.5:
        return SQRT_PI_OVER_2 * math.exp(out * out)
    square, error = two_product(size, size)
    grown = math.exp(square)
    erfcx = math.erfc(size) * (grown + grown * error)
    return SQRT_PI_OVER_2 * erfcx / (1.0 - math.fabs(x))


def exp_neg_square(x: float) -> float:
    """exp(-x²), the derivative of erf but for a factor; the square is taken exactly."""
    if math.fabs(x) > 28.0:
        return 0.0
    square, error = two_product(x, x)
    return scaled_exp(1.0, -square, -error)


def normal_density(x: float, factor: float = 1.0) -> float:
    """factor · exp(-x²/2)/sqrt(2π), rounded as one number."""
    if math.fabs(x) > 40.0:
        return 0.0
    square, error = two_product(x, x)
    return scaled_exp(factor * NORMAL_PEAK, -0.5 * square, -0.5 * error)


def normal_distribution(x: float) -> float:
    """The share of a standard normal distribution below x, which is erfc(-x/sqrt(2))/2.

    The rounding error of x/sqrt(2) is put right to first order: erfc falls steeply.
    """
    if x < -40.0:
        return 0.0
    if x > 10.0:
        return 1.0
    z, error = two_product(-x, SQRT_HALF[0])
    error -= x * SQRT_HALF[1]
    return 0.5 * (math.erfc(z) - math.exp(-z * z) / SQRT_PI_OVER_2 * error)


def _tail_series(x: float) -> float:
    """The 1/x²-series 1 - 1/x² + 3/x⁴ - ... by which Φ(x) = -φ(x)/x · series for a large negative x (DLMF 7.12.1)."""
    step = -1.0 / (x * x)
    total = term = 1.0
    for odd in (1, 3, 5, 7, 9, 11, 13):
        term *= odd * step
        total += term
    return total


def gelu(x: float) -> float:
    """x·Φ(x), where Φ is the normal distribution function."""
    if x < FAR_TAIL:
        return normal_density(x, -_tail_series(x))
    return x * normal_distribution(x)


def gelu_slope(x: float) -> float:
    """Φ(x) + x·φ(x), the derivative of gelu.

    Near its zero the terms cancel, and a polynomial through the zero takes over.
    """
    offset = x - GELU_SLOPE_ZERO[0]
    if math.fabs(offset) <= 0.45:
        return (offset - GELU_SLOPE_ZERO[1]) * horner(GELU_SLOPE_SERIES, offset)
    if x < FAR_TAIL:
        return normal_density(x, x - _tail_series(x) / x) if x > -50.0 else 0.0
    return normal_distribution(x) + normal_density(x, x)
