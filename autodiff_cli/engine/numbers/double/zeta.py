"""The Riemann zeta function and its first derivatives, as formulas in double precision on a number
type.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from .special import MIN_ASYMPTOTIC, stirling_correction
from .twofold import horner

Number = Any

STIELTJES = (
    -8.733218100273798e-09, 1.0462094584479188e-07, -3.316240908752772e-07, -6.6110318108421895e-06,
    9.689041939447084e-05, -0.00034230573671722433, -0.00484518159643616, 0.07281584548367673,
    0.5772156649015329,
)  # fmt: skip
# (-1)^n·γ(n)/n!, n = 20 … 0, of ζ(s) = 1/(s - 1) + Σ (-1)^n·γ(n)/n!·(s - 1)^n (DLMF 25.2.4;
# mpmath.stieltjes).
STIELTJES_TAIL = (
    1.9168201593991233e-22, -4.139956737713306e-21, 4.800850782488065e-20, -7.387676660538637e-20,
    -9.544466076366965e-18, 2.1677312200726828e-16, -2.3997862217709992e-15, 4.4104247417577536e-15,
    3.4921159366720317e-13, -6.768689863513697e-12, 5.658421927608708e-11, 9.47827778276236e-11,
)  # fmt: skip

SERIES = STIELTJES_TAIL + STIELTJES

# Below, ζ(s) is reflected to ζ(1 - s): there the terms of the series about 1 cancel.
LEFT_END = -0.5

# Above, ζ(s) is summed: there are enough terms of the series about 1 for |s - 1| up to 3/2.
RIGHT_END = 2.0

# Above, the powers of 2 and 3 alone have all digits.
FEW_POWERS = 64.0

# Powers before the Euler-Maclaurin correction, whose ninth term is below 1e-18 then (DLMF 25.2.9).
TERMS = 10

# B(2k)/(2k)! for k = 1 … 8 (DLMF 24.2).
CORRECTION = tuple(
    n / (d * math.factorial(2 * k))
    for k, (n, d) in enumerate(
        ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510)), start=1
    )
)

LN_2_PI = 1.8378770664093456
TWO_PI = (6.283185307179586, 2.4492935982947064e-16)
# 2π and 2πe, each as the sum of two doubles (mpmath).
TWO_PI_E = (17.079468445347135, -1.3547630581004849e-15)

# The highest derivative that is written out.
MAX_ORDER = 2


@lru_cache
def _derived(coefficients: tuple[float, ...], order: int) -> tuple[float, ...]:
    """Return the derivative of a polynomial, highest power first."""
    degree = len(coefficients) - 1
    kept = coefficients[: len(coefficients) - order]
    return tuple(c * math.perm(degree - k, order) for k, c in enumerate(kept))


@lru_cache
def _correction() -> tuple[float, ...]:
    """Return 1/2 + Σ B(2k)/(2k)!·s(s + 1)…(s + 2k - 2)/N^(2k - 1) as a polynomial in s, highest
    power first.
    """
    total = [0.0] * (2 * len(CORRECTION))
    total[0] = 0.5
    rising = [1]
    for factor in range(2 * len(CORRECTION) - 1):
        rising = [low + factor * high for low, high in zip([0, *rising], [*rising, 0], strict=True)]
        if factor % 2 == 0:
            weight = CORRECTION[factor // 2] / TERMS ** (factor + 1)
            for power, c in enumerate(rising):
                total[power] += weight * c
    return tuple(reversed(total))


def leibniz(order: int, *factors: Sequence[Number]) -> Number:
    """Return a derivative of a product, from the derivatives of its factors."""
    first, *rest = factors
    if not rest:
        return first[order]
    terms = [math.comb(order, k) * first[k] * leibniz(order - k, *rest) for k in range(order + 1)]
    return sum(terms[1:], terms[0])


def zeta_right(m: Any, order: int, s: Number) -> Number:
    """Return a derivative of ζ at s >= LEFT_END."""

    def sums() -> Number:
        return m.where(
            m.gt(s, FEW_POWERS), lambda: _few_powers(m, order, s), lambda: _summed(m, order, s)
        )

    return m.where(m.gt(s, RIGHT_END), sums, lambda: _about_one(order, s))


def _about_one(order: int, s: Number) -> Number:
    t = s - 1
    pole = (-1) ** order * math.factorial(order) / t
    for _ in range(order):
        pole = pole / t
    return pole + horner(_derived(SERIES, order), t)


def _power_term(m: Any, order: int, base: int, s: Number) -> Number:
    return (-math.log(base)) ** order * m.pow(base, -s)


def _few_powers(m: Any, order: int, s: Number) -> Number:
    return (0 if order else 1) + (_power_term(m, order, 2, s) + _power_term(m, order, 3, s))


def _summed(m: Any, order: int, s: Number) -> Number:
    logarithm, t = math.log(TERMS), s - 1
    power = m.pow(TERMS, -s)
    powers = [(-logarithm) ** k * power for k in range(order + 1)]
    correction, pole = [], TERMS / t
    for k in range(order + 1):
        correction.append(pole + horner(_derived(_correction(), k), s))
        pole = -(k + 1) * pole / t
    total = leibniz(order, powers, correction)
    for base in range(TERMS - 1, 1, -1):
        total = total + _power_term(m, order, base, s)
    return total if order else total + 1


def zeta_left(m: Any, order: int, s: Number, sine: Number, cosine: Number) -> Number:
    """Return a derivative of ζ at s < LEFT_END by ζ(s) = (2π)^s/π·sin(πs/2)·Γ(1 - s)·ζ(1 - s) (DLMF
    25.4.1).

    `sine` and `cosine` are those of πs/2; a value needs only the first.
    """
    x = 1 - s
    lost = (1 - x) - s  # 1 - s is x + lost

    def product() -> Number:
        half = math.pi / 2
        sines = [sine, half * cosine, -half * half * sine]
        mirrored = [(-1) ** k * zeta_right(m, k, x) for k in range(order + 1)]
        return leibniz(order, _scales(m, order, s, x, lost), sines, mirrored)

    # ζ is 0 at -2, -4, …, however large the other factors
    return product() if order else m.where(m.eq(sine, 0), 0, product)


def _scales(m: Any, order: int, s: Number, x: Number, lost: Number) -> list[Number]:
    """Return (2π)^s·Γ(1 - s)/π and its derivatives."""
    scale = _scale(m, s, x, lost)
    if order == 0:
        return [scale]
    slope = LN_2_PI - m.digamma(x)
    bend = slope * slope + m.polygamma(1, x) if order > 1 else 0
    return [scale, scale * slope, scale * bend]


def _scale(m: Any, s: Number, x: Number, lost: Number) -> Number:
    """Return (2π)^s·Γ(x + lost)/π for s = 1 - x - lost."""

    def near() -> Number:
        value = m.pow(TWO_PI[0], s) * m.gamma(x) / math.pi
        return value + value * (s * (TWO_PI[1] / TWO_PI[0]))

    def far() -> Number:
        # DLMF 5.11.1: 2·sqrt(2π)·x^(x - 1/2)·(2πe)^-x·exp(…), in parts that neither overflow nor
        # underflow
        root = m.pow(x, 0.25 * x - 0.125)
        part = (root * m.pow(TWO_PI_E[0], -0.5 * x)) * root
        value = 2 * math.sqrt(2 * math.pi) * m.exp(stirling_correction(x)) * part * part
        return value - value * (x * (TWO_PI_E[1] / TWO_PI_E[0]))

    value = m.where(m.lt(x, MIN_ASYMPTOTIC), near, far)
    return value + value * (lost * (m.log(x) - LN_2_PI))
