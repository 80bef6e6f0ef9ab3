"""Closed forms that the derivative rules need, each safe where the obvious formula overflows or cancels."""

from __future__ import annotations

import math

from .fallback import by_multiprecision
from .parts import cos_pi
from .trigonometry import sinc
from .twofold import finite, horner

SINC_SLOPE_SERIES = tuple((-1) ** k * 2 * k / math.factorial(2 * k + 1) for k in range(11, 0, -1))
"""The derivative of sin(z)/z divided by z, as a series in z² (DLMF 4.19.1)."""

HIGHEST_SINC = 1500
"""Derivatives of sinc of a higher order have no double for their value, about π^(order - 1)/x, unless it is 0."""

SQUARE_ABSORBS_ONE = 1e9
"""Above this 1 is less than half an ulp of x²."""


def recip_one_plus_square(x: float) -> float:
    """1/(1 + x²): the derivative of atan."""
    if math.fabs(x) > SQUARE_ABSORBS_ONE:
        return 1.0 / x / x
    return 1.0 / (1.0 + x * x)


def sech_square(x: float) -> float:
    """1/cosh(x)², the derivative of tanh, as 4e/(1 + e)² with e = exp(-2|x|)."""
    size = math.fabs(x)
    if size > 300.0:
        e = 2.0 * math.exp(-size)
        return e * e
    e = math.exp(-2.0 * size)
    return 4.0 * e / ((1.0 + e) * (1.0 + e))


def csch_square(x: float) -> float:
    """1/sinh(x)², as 4e/(1 - e)² with e = exp(-2|x|); ZeroDivisionError at 0."""
    size = math.fabs(x)
    if size > 300.0:
        return sech_square(x)
    if 0.0 < size < 1e-150:
        return finite(1.0 / size / size)
    rest = math.expm1(-2.0 * size)
    return 4.0 * math.exp(-2.0 * size) / (rest * rest)


def sinc_derivative(order: float, x: float) -> float:
    """The derivative of that order of sinc, sin(πx)/(πx); ValueError unless the order is a non-negative integer."""
    if order == 0:
        return sinc(x)
    if order == 1:
        if math.fabs(x) <= 0.5:
            square = math.pi * x * (math.pi * x)
            return math.pi * (math.pi * x) * horner(SINC_SLOPE_SERIES, square)
        wave, mean = cos_pi(x), sinc(x)
        if math.fabs(wave - mean) > 0.5 * math.fabs(wave):
            return (wave - mean) / x
    if order > HIGHEST_SINC and x != 0.0:
        raise OverflowError("the result is too large for a double")
    return by_multiprecision("sinc_derivative", order, x)
