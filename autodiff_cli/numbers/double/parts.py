"""What several functions on floats are made of: waves of period 2, a safe root, coefficients of a series."""

from __future__ import annotations

import math
from functools import cache

BERNOULLI = (
    -3617 / 510, 7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6,
)  # fmt: skip
"""B(2k), k = 8 … 1 (DLMF 24.2)."""


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


@cache
def polygamma_tail(order: int) -> tuple[float, ...]:
    """B(2k)·(n+1)…(n+2k-1)/(2k)!, the coefficients of 1/x^(n+2k) in |ψ⁽ⁿ⁾(x)|/n!, k = 8 … 1 (DLMF 5.15.8)."""
    return tuple(
        bernoulli * math.prod(range(order + 1, order + 2 * k)) / math.factorial(2 * k)
        for k, bernoulli in zip(range(8, 0, -1), BERNOULLI, strict=True)
    )
