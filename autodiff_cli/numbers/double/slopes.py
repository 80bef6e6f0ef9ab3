"""Closed forms that the derivative rules need, each safe where the obvious formula overflows or cancels."""

from __future__ import annotations

import math

from .trigonometry import root_of_square_minus_one
from .twofold import finite

SQUARE_ABSORBS_ONE = 1e9
"""Above this 1 is less than half an ulp of x²."""


def recip_one_plus_square(x: float) -> float:
    """1/(1 + x²): the derivative of atan."""
    if math.fabs(x) > SQUARE_ABSORBS_ONE:
        return 1.0 / x / x
    return 1.0 / (1.0 + x * x)


def recip_one_minus_square(x: float) -> float:
    """1/(1 - x²): the derivative of atanh and acoth; ZeroDivisionError at ±1."""
    if math.fabs(x) > SQUARE_ABSORBS_ONE:
        return -1.0 / x / x
    return 1.0 / ((1.0 - x) * (1.0 + x))


def recip_sqrt_one_minus_square(x: float) -> float:
    """1/sqrt(1 - x²): the derivative of asin; ZeroDivisionError at ±1, ValueError outside."""
    return 1.0 / math.sqrt((1.0 - x) * (1.0 + x))


def recip_sqrt_one_plus_square(x: float) -> float:
    """1/sqrt(1 + x²): the derivative of asinh."""
    return 1.0 / math.hypot(1.0, x)


def recip_sqrt_square_minus_one(x: float) -> float:
    """1/sqrt(x² - 1): the derivative of acosh; ZeroDivisionError at ±1, ValueError between."""
    return 1.0 / root_of_square_minus_one(x)


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
    from .decimals import sinc_derivative as in_decimals

    return in_decimals(order, x)
