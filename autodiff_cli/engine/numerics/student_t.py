"""Student's t-distribution: coverage factors and levels of confidence."""

from __future__ import annotations

import math

PRECISION_BITS = 80
MAX_STEPS = 200  # towards a coverage factor
MAX_FACTOR = 1e150  # whose square is a double
MIN_NORMAL_DOF = 1e5  # degrees of freedom with a normal scale, to six digits
NORMAL_DEGREES = 1e17  # degrees of freedom of a normal distribution, in doubles


def level_of(k: float, dof: float) -> float:
    """Return the probability of |t| <= k for Student's t with `dof` degrees of freedom.

    >>> round(level_of(1.0, math.inf), 4)
    0.6827
    """
    if dof > NORMAL_DEGREES:
        return math.erf(k / math.sqrt(2))
    import mpmath

    with mpmath.workprec(PRECISION_BITS):
        # Abramowitz and Stegun, 26.7.1
        square, half = mpmath.mpf(k) ** 2, mpmath.mpf(1) / 2
        if square <= dof:
            return float(
                mpmath.betainc(half, half * dof, 0, square / (dof + square), regularized=True)
            )
        return float(
            1 - mpmath.betainc(half * dof, half, 0, dof / (dof + square), regularized=True)
        )


def coverage_factor(level: float, dof: float) -> float:
    """Return the k for which |t| <= k has probability `level`; JCGM 100:2008, table G.2.

    >>> round(coverage_factor(0.99, 16), 2), round(coverage_factor(0.95, math.inf), 2)
    (2.92, 1.96)
    """
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + level) / 2)
    if dof > NORMAL_DEGREES:
        return z
    # the level is concave in k and the normal quantile too low: Newton's steps increase
    k = z
    log_scale = (
        math.lgamma((dof + 1) / 2) - math.lgamma(dof / 2)
        if dof < MIN_NORMAL_DOF
        else math.log(dof / 2) / 2
    )
    for _ in range(MAX_STEPS):
        # twice the density, to six digits
        slope = (
            2
            / math.sqrt(dof * math.pi)
            * math.exp(log_scale - (dof + 1) / 2 * math.log1p(k * k / dof))
        )
        step = (level - level_of(k, dof)) / slope
        k = min(k + step, MAX_FACTOR)
        if step <= 1e-15 * k:
            break
    return k
