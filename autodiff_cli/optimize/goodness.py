"""How well a formula fits: tests of its residuals, whether they are random, and normal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from ..record import Record

EXACT_RUNS = 400  # residuals with an exact runs test
MIN_NORMAL = 8  # residuals
DOUBTFUL_P_VALUE = 0.005  # p-value of χ², in either tail
NOT_RANDOM = 1e-3  # p-value of the runs test


class Runs(Record):
    """The runs test of Wald and Wolfowitz for the signs of residuals."""

    runs: int
    expected: float
    p_value: float

    @property
    def are_random(self) -> bool:
        """Return whether signs do not follow each other more often than in random residuals."""
        return self.runs > self.expected or self.p_value > NOT_RANDOM


class Normality(Record):
    """The Anderson-Darling test for normality, mean and variance unknown."""

    statistic: float
    p_value: float


class Goodness(Record):
    """How well a formula fits its data."""

    chi_squared: float | None = None
    reduced: float | None = None
    p_value: float | None = None
    log_likelihood: float | None = None
    aic: float | None = None
    bic: float | None = None
    runs: Runs | None = None
    normality: Normality | None = None

    @property
    def doubtful(self) -> bool:
        """Return whether χ² is far from the degrees of freedom."""
        return self.p_value is not None and not DOUBTFUL_P_VALUE <= self.p_value <= 1 - DOUBTFUL_P_VALUE


def runs_test(residuals: Any) -> Runs | None:
    """Return the two-sided runs test of residuals in order, zeros left out.

    Wald and Wolfowitz, Ann. Math. Statist. 11 (1940).

    >>> runs_test(np.array([1.0, 1, 1, 1, -1, -1, -1, -1])).p_value
    0.05714285714285714
    """
    signs = residuals[residuals != 0] > 0
    n, above = len(signs), int(np.count_nonzero(signs))
    below = n - above
    if not above or not below:
        return None
    count = 1 + int(np.count_nonzero(signs[1:] != signs[:-1]))
    mean = 2 * above * below / n + 1
    if n > EXACT_RUNS:
        deviation = math.sqrt((mean - 1) * (mean - 2) / (n - 1))
        return Runs(count, mean, math.erfc(abs(count - mean) / deviation / math.sqrt(2)))

    def ways(runs: int) -> int:
        half, odd = divmod(runs, 2)
        a, b = math.comb(above - 1, half - 1), math.comb(below - 1, half - 1)
        return math.comb(above - 1, half) * b + a * math.comb(below - 1, half) if odd else 2 * a * b

    few = sum(map(ways, range(2, count + 1)))
    many = math.comb(n, above) - few + ways(count)
    return Runs(count, mean, min(1.0, 2 * min(few, many) / math.comb(n, above)))


def anderson_darling(residuals: Any) -> Normality | None:
    """Return the Anderson-Darling test for normality, mean and variance estimated.

    The p-value is that of D'Agostino and Stephens, Goodness-of-Fit Techniques (1986), table 4.9.
    """
    n = len(residuals)
    deviation = float(np.std(residuals, ddof=1)) if n >= MIN_NORMAL else 0.0
    if not deviation > 0:
        return None
    z = np.sort((residuals - np.mean(residuals)) / deviation)
    odd = 2 * np.arange(1, n + 1) - 1
    square = float(-n - np.mean(odd * (log_ndtr(z) + log_ndtr(-z[::-1]))))
    square *= 1 + 0.75 / n + 2.25 / n**2
    return Normality(square, _anderson_darling_tail(square))


def _anderson_darling_tail(a: float) -> float:
    if a < 0.2:
        return 1 - math.exp(-13.436 + 101.14 * a - 223.73 * a * a)
    if a < 0.34:
        return 1 - math.exp(-8.318 + 42.796 * a - 59.938 * a * a)
    if a < 0.6:
        return math.exp(0.9177 - 4.279 * a - 1.38 * a * a)
    # the formula is for A² up to 13, where it is 1e-31
    return math.exp(1.2937 - 5.709 * min(a, 13.0) + 0.0186 * min(a, 13.0) ** 2)
