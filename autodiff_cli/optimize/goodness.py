"""Goodness of fit: χ² with its p-value, the information criteria of Akaike and Schwarz, and tests of the residuals."""

from __future__ import annotations

import math
from typing import Any

from ..record import Record

EXACT_RUNS = 400
"""The most residuals whose runs are counted by the exact distribution; of more, by the normal one."""

LEAST_NORMAL = 8
"""The fewest residuals of which the test of normality says something."""

DOUBTFUL = 0.005
"""The p-value of χ², in either tail, below which the uncertainties or the model are doubted."""


NOT_RANDOM = 1e-3
"""The p-value of the runs test below which neighbouring residuals have one sign too often to be random."""


class Runs(Record):
    """The runs test of Wald and Wolfowitz: how often residuals of one sign follow each other."""

    runs: int
    expected: float
    p_value: float

    @property
    def are_random(self) -> bool:
        """Whether residuals of one sign follow each other no more often than random ones do."""
        return self.runs > self.expected or self.p_value > NOT_RANDOM


class Normality(Record):
    """The test of Anderson and Darling for normal residuals of unknown mean and variance."""

    statistic: float
    """A², corrected for the number of residuals."""
    p_value: float


class Goodness(Record):
    """How well a formula fits its data."""

    chi_squared: float | None
    """The sum of the squared residuals in units of their standard uncertainties; None where these are not known."""
    reduced: float | None
    """χ² divided by the degrees of freedom."""
    p_value: float | None
    """The probability of so large a χ², or a larger one."""
    log_likelihood: float | None
    aic: float | None
    bic: float | None
    runs: Runs | None
    normality: Normality | None

    @property
    def doubtful(self) -> bool:
        """Whether χ² is far from the degrees of freedom."""
        return self.p_value is not None and not DOUBTFUL <= self.p_value <= 1 - DOUBTFUL

    def shifted(self, spread: float) -> Goodness:
        """Return the goodness with a value of -2 ln L that is larger by `spread`, which is no matter of the fit.

        That is the sum of ln(2πτ²) of predictors that were measured too: the likelihood is then that of all measured
        values, at its largest by their true ones, which are not counted, as they are as many in all models of the same
        data. Or it comes of other units of the data, per which the density is.
        """
        if self.log_likelihood is None or self.aic is None or self.bic is None:
            return self
        return self._replace(
            log_likelihood=self.log_likelihood - spread / 2, aic=self.aic + spread, bic=self.bic + spread
        )


def chi_squared_tail(chi_squared: float, dof: int) -> float:
    """Return the probability that a χ² of so many degrees of freedom is larger; NIST DLMF 8.2.4."""
    from scipy.special import gammaincc

    return float(gammaincc(dof / 2, chi_squared / 2))


def likelihood(rss: float, rows: int, sum_log_weights: float, estimated: int, sigma_given: bool) -> tuple[float, int]:
    """Return the largest logarithm of the likelihood of normal residuals, and how many parameters it has.

    `rss` is the weighted sum of squares and `sum_log_weights` the sum of the logarithms of the weights, which are
    1/sigma² where sigma is `known`; elsewhere the variance is a parameter too, whose estimate is `rss`/`rows`.
    """
    constant = rows * math.log(2 * math.pi) - sum_log_weights
    if sigma_given:
        return -(constant + rss) / 2, estimated
    return -(constant + rows * (math.log(rss / rows) + 1)) / 2, estimated + 1


def runs_test(np: Any, residuals: Any) -> Runs | None:
    """Return the runs test of residuals in their order, two-sided; those that are 0 are left out.

    Wald and Wolfowitz, Ann. Math. Statist. 11 (1940); the exact distribution, and of many residuals the normal one.

    >>> import numpy
    >>> runs_test(numpy, numpy.array([1.0, 1, 1, 1, -1, -1, -1, -1])).p_value
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


def anderson_darling(np: Any, residuals: Any) -> Normality | None:
    """Return the test of Anderson and Darling for normality, mean and variance estimated.

    The p-value is that of D'Agostino and Stephens, Goodness-of-Fit Techniques (1986), table 4.9.
    """
    from scipy.special import log_ndtr

    n = len(residuals)
    deviation = float(np.std(residuals, ddof=1)) if n >= LEAST_NORMAL else 0.0
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


def goodness(
    np: Any, residuals: Any, weights: Any, dof: int, estimated: int, ordered: Any, *, sigma_given: bool
) -> Goodness:
    """Return how well a formula fits, by the residuals multiplied by the roots `weights` of the weights of their rows.

    The weights are 1/sigma² where sigma is `known`. Runs are counted in the residuals as they are `ordered`.
    """
    used = weights > 0
    rss, rows = float(residuals @ residuals), int(np.count_nonzero(used))
    chi_squared = rss if sigma_given else None
    tail = chi_squared_tail(rss, dof) if sigma_given and dof > 0 else None
    log_likelihood = aic = bic = None
    if sigma_given or rss > 0:
        log_likelihood, k = likelihood(rss, rows, 2 * float(np.sum(np.log(weights[used]))), estimated, sigma_given)
        aic, bic = 2 * k - 2 * log_likelihood, k * math.log(rows) - 2 * log_likelihood
    return Goodness(
        chi_squared=chi_squared,
        reduced=rss / dof if sigma_given and dof > 0 else None,
        p_value=tail,
        log_likelihood=log_likelihood,
        aic=aic,
        bic=bic,
        runs=runs_test(np, ordered) if dof > 0 else None,
        normality=anderson_darling(np, residuals[used]) if dof > 0 else None,
    )
