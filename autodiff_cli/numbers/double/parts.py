"""What several families of functions on floats are made of: waves of period 2, and a safe root."""

from __future__ import annotations

import math


def sin_pi(x: float) -> float:
    """sin(πx), exactly 0 at the integers; the reduction of x to a quarter period is exact at any size."""
    r = math.remainder(x, 2.0)
    size = math.fabs(r)
    if size > 0.5:
        size = 1.0 - size
    value = math.sin(math.pi * size) if size <= 0.25 else math.cos(math.pi * (0.5 - size))
    return math.copysign(value, r)


def cos_pi(x: float) -> float:
    """cos(πx), exactly 0 half way between the integers; the reduction of x to a quarter period is exact at any size."""
    size = math.fabs(math.remainder(x, 2.0))
    if size > 0.75:
        return -math.cos(math.pi * (1.0 - size))
    return math.cos(math.pi * size) if size < 0.25 else math.sin(math.pi * (0.5 - size))


def tan_pi(x: float) -> float:
    """tan(πx), exactly 0 at the integers; ZeroDivisionError half way between them."""
    r = math.remainder(x, 1.0)
    size = math.fabs(r)
    value = math.tan(math.pi * size) if size <= 0.25 else 1.0 / math.tan(math.pi * (0.5 - size))
    return math.copysign(value, r)


def root_of_square_minus_one(x: float) -> float:
    """sqrt(x² - 1) for |x| >= 1, by factors, which are exact near 1; ValueError below."""
    size = math.fabs(x)
    return size if size > 1e9 else math.sqrt((size - 1.0) * (size + 1.0))
