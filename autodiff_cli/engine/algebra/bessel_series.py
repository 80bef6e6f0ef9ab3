"""Series of Bessel functions of constant order where the argument goes to 0 or to infinity."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .exact_constants import ExactConstant

# The number type of asymptotic series, which imports this module.
Type = Any
# A number of that type.
Series = Any

# The largest order with a series: each whole one more is a term more.
MAX_ORDER = 100


def bessel_at_zero(m: Type, name: str, order: ExactConstant, x: Series) -> Series | None:
    """Return a Bessel function where its argument goes to 0; None if the order is too large, or may
    be whole or not.

    Raises `NotReal`.
    """
    sign = 1 if name in ("besseli", "besselk") else -1
    if abs(float(order)) > MAX_ORDER:
        return None
    if order.ratio is not None and order.ratio.denominator == 1:
        # (DLMF 10.4.1, 10.27.1, 10.27.3)
        mirror = sign ** abs(int(order)) if order.ratio < 0 else 1
        size = m.base.number(abs(order.ratio))
        if name in ("besselj", "besseli"):
            return mirror * _ascending(m, size, x, sign)
        return mirror * _of_whole_order(m, int(size), x, sign)
    if m.base.may_be_whole(order):
        return None
    first = _ascending(m, order, x, sign)
    if name in ("besselj", "besseli"):
        return first
    mirrored, turn = _ascending(m, -order, x, sign), order * m.base.pi
    if name == "besselk":  # (DLMF 10.27.4)
        return m.number(m.base.pi / (2 * m.base.sin(turn))) * (mirrored - first)
    return (m.number(m.base.cos(turn)) * first - mirrored) / m.number(m.base.sin(turn))


def _ascending(m: Type, order: ExactConstant, x: Series, sign: int) -> Series:
    """Return J or I (DLMF 10.2.2, 10.25.2)."""
    coefficients = [1 / m.base.gamma(order + 1)]
    for k in range(1, m.size):
        coefficients.append(coefficients[-1] * sign / (k * (order + k)))
    return m.power(x / 2, order) * m.power_series(coefficients.__getitem__, x * x / 4)


def _of_whole_order(m: Type, n: int, x: Series, sign: int) -> Series:
    """Return Y or K (DLMF 10.8.1, 10.31.1)."""
    square = x * x / 4
    polar = m.number(0)
    for k in range(n):
        polar = (
            polar
            + Fraction((-sign) ** k * math.factorial(n - k - 1), 2 * math.factorial(k)) * square**k
        )
    first, digammas = [], []
    harmonic = sum((Fraction(1, k) for k in range(1, n + 1)), Fraction(0))
    for k in range(m.size):
        first.append(m.base.number(Fraction(sign**k, math.factorial(k) * math.factorial(n + k))))
        digammas.append(first[-1] * (m.base.digamma(m.base.number(1)) + harmonic / 2))
        harmonic += Fraction(1, k + 1) + Fraction(1, n + k + 1)
    log_of_half = m.log(x) - m.number(m.base.log(m.base.number(2)))
    logarithmic = log_of_half * m.power_series(first.__getitem__, square)
    power = (x / 2) ** n
    regular = power * (logarithmic - m.power_series(digammas.__getitem__, square))
    if sign > 0:
        return polar / power - (-1) ** n * regular
    return 2 * (regular - polar / power) / m.number(m.base.pi)


def bessel_at_infinity(m: Type, name: str, order: ExactConstant, x: Series) -> Series | None:
    """Return I or K where the argument goes to infinity (DLMF 10.40.1, 10.40.2); None for J and Y,
    which oscillate.
    """
    if name not in ("besseli", "besselk"):
        return None
    rising = 1 if name == "besseli" else -1
    coefficients = [m.one]
    for k in range(1, m.size):
        coefficients.append(
            coefficients[-1] * -rising * (4 * order * order - (2 * k - 1) ** 2) / (8 * k)
        )
    tail = m.power_series(coefficients.__getitem__, 1 / x)
    width = m.number(2 * m.base.pi) * x if rising > 0 else 2 * x / m.number(m.base.pi)
    return m.exp(rising * x) / m.sqrt(width) * tail


def bessel(name: str) -> Callable[[Type, Series, Series], Series]:
    """Return a Bessel function of series, by order and argument."""

    def function(m: Type, order: Series, x: Series) -> Series:
        found = None
        if order.is_constant and order.constant.digits is not None:
            toward = m.limit_sign(x)
            if toward > 0:
                found = bessel_at_infinity(m, name, order.constant, x)
            elif not toward and not x.is_constant and m.base.is_zero(x.constant):
                found = bessel_at_zero(m, name, order.constant, x)
        return m.function(name, [order, x]) if found is None else found

    return function
