"""Parts of a fit's answer: parameters, predictions, goodness."""

from __future__ import annotations

from ..inputs.arithmetic import Shown
from ..record import Record

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


class Parameter(Record):
    """The estimate of a parameter."""

    estimate: Shown
    error: Shown | None
    interval: tuple[float, float] | None
    linear: bool
    held: str


class Prediction(Record):
    """The fitted curve at a point of the predictors."""

    point: dict[str, float]
    value: float | None
    confidence: tuple[float, float] | None
    prediction: tuple[float, float] | None
