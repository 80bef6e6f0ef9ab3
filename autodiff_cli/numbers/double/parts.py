"""Helpers on floats: waves, a multiprecision fallback, coefficients."""

from __future__ import annotations

import math
import threading
from functools import lru_cache

from .twofold import check_finite, horner

BERNOULLI = (
    -3617 / 510, 7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6,
)  # fmt: skip
"""B(2k), k = 8 … 1 (DLMF 24.2)."""


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

mpmath.chebyfit, 22 terms, relative error 1e-18; the zeros 1 and 2 are factored out to stay exact.
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


def sin_pi(x: float) -> float:
    """Return sin(πx), exactly 0 at the integers; the period reduction is exact."""
    r = math.remainder(x, 2.0)
    size = math.fabs(r)
    if size > 0.5:
        size = 1.0 - size
    value = math.sin(math.pi * size) if size <= 0.25 else math.cos(math.pi * (0.5 - size))
    return math.copysign(value, r)


def cos_pi(x: float) -> float:
    """Return cos(πx), exactly 0 halfway between integers; the period reduction is exact."""
    size = math.fabs(math.remainder(x, 2.0))
    if size > 0.75:
        return -math.cos(math.pi * (1.0 - size))
    return math.cos(math.pi * size) if size < 0.25 else math.sin(math.pi * (0.5 - size))


def tan_pi(x: float) -> float:
    """Return tan(πx), exactly 0 at the integers. Raises ZeroDivisionError halfway between."""
    r = math.remainder(x, 1.0)
    size = math.fabs(r)
    value = math.tan(math.pi * size) if size <= 0.25 else 1.0 / math.tan(math.pi * (0.5 - size))
    return math.copysign(value, r)


@lru_cache(256)
def polygamma_tail(order: int) -> tuple[float, ...]:
    """Return B(2k)·(n+1)…(n+2k-1)/(2k)!, k = 8 … 1, for |ψ⁽ⁿ⁾(x)|/n! in 1/x^(n+2k) (DLMF 5.15.8)."""
    return tuple(
        bernoulli * math.prod(range(order + 1, order + 2 * k)) / math.factorial(2 * k)
        for k, bernoulli in zip(range(8, 0, -1), BERNOULLI, strict=True)
    )


def lgamma_one_plus(u: float) -> float:
    """Return log Γ(1 + u) for 0 <= u <= 1, in any number type."""
    return u * (u - 1.0) * horner(LGAMMA_SERIES, u - 0.5)


def stirling_correction(x: float) -> float:
    """Return the correction to Stirling's formula for log Γ(x), x >= MIN_ASYMPTOTIC."""
    return horner(STIRLING_SERIES, 1.0 / x / x) / x


def digamma_one_plus(u: float) -> float:
    """Return ψ(1 + u) for 0 <= u <= 1."""
    return ((u - (DIGAMMA_ZERO[0] - 1.0)) - DIGAMMA_ZERO[1]) * horner(DIGAMMA_SERIES, u - 0.5)


_OF_THE_THREAD = threading.local()


def by_multiprecision(name: str, *inputs: float) -> float:
    """Return a function's value at doubles, computed with 60 digits or more, as the nearest double.

    The slow, safe way if fast formulas cancel or would be long. Raises the errors of the function, and OverflowError if
    the result is too large for a double.
    """
    if not hasattr(_OF_THE_THREAD, "numbers"):
        from ..multiprecision import Multiprecision  # mpmath is slow to load

        _OF_THE_THREAD.numbers = Multiprecision(20)
    return check_finite(float(getattr(_OF_THE_THREAD.numbers, name)(*inputs)))
