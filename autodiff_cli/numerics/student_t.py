"""Student's t-distribution: coverage factors for a level of confidence, and levels for coverage factors."""

from __future__ import annotations

import math

from ..errors import usage_error
from .newton import bisected

BITS = 80

MOST = 1e17
"""More degrees of freedom than these are as good as infinitely many: no double tells them apart."""


def check_level(level: float | None) -> None:
    """Raise a usage error for a level of confidence that cannot be one."""
    if level is not None and not 0 < level < 1:
        hint = "it is between 0 and 1: `--level 0.95`"
        if 1 < level < 100:
            hint = f"did you mean `--level {level / 100:g}`?"
        raise usage_error(f"the level of confidence cannot be {level:g}", hint)


def level_of(k: float, dof: float) -> float:
    """The probability that a t-distributed number of so many degrees of freedom lies within ±k.

    >>> round(level_of(1.0, math.inf), 4)
    0.6827
    """
    if dof > MOST:
        return math.erf(k / math.sqrt(2))
    import mpmath

    with mpmath.workprec(BITS):
        # Abramowitz and Stegun, 26.7.1
        square = mpmath.mpf(k) ** 2
        half = mpmath.mpf(1) / 2
        return float(mpmath.betainc(half, half * dof, 0, square / (dof + square), regularized=True))


def coverage_factor(level: float, dof: float) -> float:
    """The k for which a t-distributed number lies within ±k with this probability; JCGM 100:2008, table G.2.

    >>> round(coverage_factor(0.99, 16), 2), round(coverage_factor(0.95, math.inf), 2)
    (2.92, 1.96)
    """
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + level) / 2)
    if dof > MOST:
        return z
    # the level grows with k, so that halving cannot miss
    low, high = 0.0, z
    while level_of(high, dof) < level and high < 1e300:
        low, high = high, 2 * high
    return sum(bisected(lambda k: level_of(k, dof) < level, low, high, width=1e-14 * high)) / 2
