"""The error function family on floats: erf, erfc, erfinv, and gelu with the normal distribution behind it."""

from __future__ import annotations

import math

from .twofold import scaled_exp, two_product

SQRT_HALF = (0.7071067811865476, -4.833646656726457e-17)
"""sqrt(1/2) as the sum of two doubles."""

SQRT_PI_OVER_2 = 0.886226925452758
"""sqrt(π)/2."""

NORMAL_PEAK = 0.3989422804014327
"""1/sqrt(2π), the normal density at 0."""

FAR_TAIL = -30.0
"""Below this the normal distribution function is summed from its asymptotic series."""


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
