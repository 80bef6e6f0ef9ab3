"""Fits by maximum likelihood: of counts by the Poisson distribution, of successes by the binomial
one.

The formula is the mean count, or the probability of a success. Fisher scoring takes steps of Gauss
and Newton, weighted by the variance of the distribution at the present mean: McCullagh and Nelder,
Generalized Linear Models (1989), 2.5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import gammaincc, gammaln, kl_div, xlog1py, xlogy

from ...engine.numbers.budget import BudgetExceeded
from ...errors import Diagnostic, ExpressionError, point_error, usage_error
from .convergence import SearchStopped
from .inference import DOUBTFUL_P_VALUE, Goodness, Inference
from .least_squares import EndPoint, FitRows, Model, column_sizes, gauss_newton
from .observations import Observations
from .profiles import Profile, ProfileAlong, Profiles, Refit, profiles_of

if TYPE_CHECKING:
    from .convergence import Several
    from .fit_starts import FitStarts

MAX_SCORING_STEPS = 200
MAX_SHORTENED = 40  # halvings of a step to where the likelihood is no lower
SETTLED_STEP = 1e-10  # of the last step, in standard errors
ROUNDED_DEVIANCE = 1e-13  # relative rise of the deviance that is rounding
# of a response, against division by 0 where its mean has been rounded to an end
MIN_VARIANCE = 1e-100
EDGE_SHARE = 1e-8  # of the usual expected count, below which a mean is at the edge of its range
EDGE_LEVERAGE = 1e-3  # of such rows, above which the information is theirs
OPEN_ERRORS = 10.0  # standard errors from the end, to where a likelihood is followed
OPEN_SHARE = 0.01  # of that rise of the deviance, below which the likelihood has not fallen
MIN_OPEN_ERRORS = 1e-3  # standard errors, at least to there
OPEN_SINGULAR_VALUE = 1e-7  # of the information's root, relative: its standard errors say nothing
OPEN_COMPONENT = 0.1  # of a direction along which the likelihood does not fall
# counts for which the deviance is as χ²: Cochran's rule
MIN_EXPECTED, MOSTLY_EXPECTED, MOSTLY = 1.0, 5.0, 0.8


class CountDistribution(NamedTuple):
    """A distribution of the response: of counts, or of the share of successes in trials."""

    name: str
    trials: Any = None  # in each row

    def allows(self, mean: Any, response: Any) -> bool:
        """Return whether these are means of the distribution; rounding may take one to the response
        at an end.
        """
        inside = mean > 0
        if self.trials is not None:
            inside &= mean < 1
        is_end = (response == 0) | (response == 1) if self.trials is not None else response == 0
        return bool(np.all(inside | (is_end & (mean == response))))

    def root_weights(self, mean: Any) -> Any:
        """Return one over the standard deviations of the response."""
        if self.trials is None:
            return 1 / np.sqrt(np.maximum(mean, MIN_VARIANCE))
        roots = np.sqrt(self.trials / np.maximum(mean * (1 - mean), MIN_VARIANCE))
        # a probability that is rounded to 1 has a slope that is not: its row has no information
        return np.where(mean == 1, MIN_VARIANCE, roots)

    def deviances(self, response: Any, mean: Any) -> Any:
        """Return the deviance of each row: twice what the best possible mean adds to its
        log-likelihood.
        """
        if self.trials is None:
            return 2 * kl_div(response, mean)
        return 2 * self.trials * (kl_div(response, mean) + kl_div(1 - response, 1 - mean))

    def log_likelihood(self, response: Any, mean: Any) -> float:
        """Return the logarithm of the likelihood, with all its constants."""
        if self.trials is None:
            return float(np.sum(xlogy(response, mean) - mean - gammaln(response + 1)))
        n, y = self.trials, response * self.trials
        choices = gammaln(n + 1) - gammaln(y + 1) - gammaln(n - y + 1)
        return float(np.sum(choices + xlogy(y, mean) + xlog1py(n - y, -mean)))

    def expected(self, mean: Any) -> Any:
        """Return the expected counts of each row, the smaller one of successes and failures."""
        return mean if self.trials is None else self.trials * np.minimum(mean, 1 - mean)


def family_of(
    loss: str, data: Observations, trials: str | None
) -> tuple[CountDistribution, Observations]:
    """Return the distribution, and the data with the share of successes as response. Raises
    `ExpressionError`.
    """
    if data.transform is not None:
        message = (
            f"the response of a {loss} fit is a column of counts, and `{data.response}` is a"
            " formula"
        )
        raise usage_error(message, "write the formula on the right: `y = …`")
    y = np.array(data.columns[data.response], dtype=float)
    if loss == "poisson":
        _check_rows(
            y,
            (y < 0) | (y != np.floor(y)),
            data.response,
            "and counts are whole numbers, 0 or above",
        )
        return CountDistribution(loss), data._replace(sigma={data.response: 1.0})
    if trials is None:
        what = "and without `--trials` a response is 0 or 1"
        _check_rows(
            y, (y != 0) & (y != 1), data.response, what, "name the column of trials: `--trials n`"
        )
        return CountDistribution(loss, np.ones(len(y))), data._replace(sigma={data.response: 1.0})
    n = np.array(data.columns[trials], dtype=float)
    _check_rows(n, (n < 1) | (n != np.floor(n)), trials, "and trials are whole numbers, 1 or above")
    hint = "give the number of successes: a share times the trials"
    _check_rows(
        y,
        (y < 0) | (y != np.floor(y)),
        data.response,
        "and successes are whole numbers, 0 or above",
        hint,
    )
    _check_rows(y, y > n, data.response, "which is more than the trials of that row")
    response = f"{data.response}/{trials}"
    columns = {**data.columns, response: (y / n).tolist()}
    return CountDistribution(loss, n), data._replace(
        columns=columns, response=response, sigma={response: 1.0}
    )


def _check_rows(
    numbers: Any,
    is_wrong: Any,
    name: str,
    what: str,
    hint: str = "correct the row, or leave it out",
) -> None:
    is_wrong = is_wrong | ~np.isfinite(numbers)
    if np.any(is_wrong):
        row = int(np.flatnonzero(is_wrong)[0])
        more = int(np.count_nonzero(is_wrong)) - 1
        also = f" ({more:,} more rows too)" if more else ""
        raise point_error(
            f"row {row + 1} of the data: `{name}` is {numbers[row]:g}, {what}{also}", hint
        )


class LikelihoodFit(NamedTuple):
    """The end of a fit by maximum likelihood."""

    inference: Inference
    family: CountDistribution
    interrupted: bool
    rises: dict[str, float]  # the direction in which the likelihood does not fall
    # a row whose mean is at the edge of its range, and which decides the fit
    edge: int | None = None
    tried: FitStarts | None = None  # from several starts

    @property
    def mean(self) -> Any:
        return self.inference.fitted

    @property
    def deviance(self) -> float:
        return 2 * self.inference.end.cost

    def residuals(self) -> list[float | None]:
        """Return the deviance residuals."""
        response = self.inference.model.rows.response
        roots = np.sqrt(np.maximum(0.0, self.family.deviances(response, self.mean)))
        signed = np.sign(response - self.mean) * roots + 0.0
        return [float(x) for x in signed]

    def goodness(self) -> Goodness:
        """Return the log-likelihood and what is made of it; the tail of the deviance where counts
        are large enough.
        """
        inference, rows = self.inference, self.inference.model.rows
        likelihood = self.family.log_likelihood(rows.response, self.mean)
        k = len(inference.estimated) - len(inference.undetermined.null)
        expected, dof = self.family.expected(self.mean), inference.scatter.dof
        has_tail = (
            dof > 0
            and np.all(expected >= MIN_EXPECTED)
            and np.mean(expected >= MOSTLY_EXPECTED) >= MOSTLY
        )
        return Goodness(
            p_value=float(gammaincc(dof / 2, self.deviance / 2)) if has_tail else None,
            log_likelihood=likelihood,
            aic=2 * k - 2 * likelihood,
            bic=k * math.log(rows.count) - 2 * likelihood,
        )

    def warnings(self, goodness: Goodness) -> Iterator[Diagnostic]:
        """Yield warnings of a likelihood without a maximum, and of a scatter that the distribution
        does not have.
        """
        if self.rises:
            yield Diagnostic(
                "separation",
                self.without_maximum,
                None,
                "hold one of them (`--fix`), or give bounds",
            )
        elif self.edge is not None:
            hint = "give bounds, hold a parameter (`--fix`), or take another formula"
            yield Diagnostic("separation", self.at_edge, None, hint)
        p, dof = goodness.p_value, self.inference.scatter.dof
        if p is not None and not DOUBTFUL_P_VALUE <= p <= 1 - DOUBTFUL_P_VALUE:
            more = self.deviance > dof
            scatter = (
                f"the data scatter {'more' if more else 'less'} than the {self.family.name}"
                " distribution"
            )
            message = f"deviance/ν is {self.deviance / dof:.3g}: {scatter} (p = {p:.2g})"
            hint = (
                "a term may be missing, or counts depend on each other: the standard errors are too"
                " small"
            )
            yield Diagnostic(
                "goodness_of_fit", message, None, hint if more else "counts may not be independent"
            )

    @property
    def at_edge(self) -> str:
        """Say that the fit ends where a mean is at the edge of its range."""
        what = "the mean" if self.family.trials is None else "the probability"
        row = f"{what} of row {(self.edge or 0) + 1}"
        return f"the fit ends where {row} is at the edge of its range: no maximum inside was found"

    @property
    def without_maximum(self) -> str:
        """Say that the likelihood has no finite maximum, as far as was looked."""
        way = ", ".join(
            f"`{name}` {'rises' if x > 0 else 'falls'}" for name, x in self.rises.items()
        )
        return (
            f"the likelihood seems to have no finite maximum: it does not fall while {way}"
            " (separation)"
        )

    def outcome(self) -> tuple[str, str]:
        """Return why the search is over, as one word and in words."""
        if self.rises and not self.interrupted:
            return "undetermined", self.without_maximum
        if self.edge is not None and not self.interrupted:
            return "undetermined", self.at_edge
        return self.inference.outcome(self.interrupted)


def deviance_at(model: Model, family: CountDistribution, values: Any) -> float:
    """Return the deviance; infinite where the formula gives no mean of the distribution."""
    at = model(values)
    if at.error is not None or not family.allows(at.fitted, model.rows.response):
        return math.inf
    total = float(np.sum(family.deviances(model.rows.response, at.fitted)))
    return total if math.isfinite(total) else math.inf


def weighted_at(model: Model, family: CountDistribution, values: Any) -> Model:
    """Return the model with the weights of its means at these values: its JᵀJ is the expected
    information.
    """
    weights = family.root_weights(model(values).fitted)
    rows = FitRows(model.rows.columns, model.rows.response, weights, {})
    return model.copy(rows=rows)


def scored(model: Model, family: CountDistribution, start: Any) -> EndPoint:
    """Return where Fisher scoring leads from a start with a likelihood."""
    low, high = model.parameters.limits
    here = np.clip(np.array(start, dtype=float), low, high)
    deviance = deviance_at(model, family, here)
    best = EndPoint(here, deviance / 2, math.inf, "Fisher scoring")
    if not math.isfinite(deviance) or not len(here):
        return best._replace(moved=0.0 if math.isfinite(deviance) else math.inf)
    for _ in range(MAX_SCORING_STEPS):
        weighted = weighted_at(model, family, here)
        step, _, _ = gauss_newton(weighted, here)
        # in standard errors, whatever the residuals: one of a mean near its end may be large
        moved = float(np.linalg.norm(weighted(here).jacobian @ step))
        model.evaluations = max(model.evaluations, weighted.evaluations)
        best = EndPoint(here, deviance / 2, moved, "Fisher scoring")
        if moved <= SETTLED_STEP or not np.all(np.isfinite(step)):
            break
        shorter = _shortened(model, family, (here, step), deviance)
        if shorter is None:
            break
        here, deviance = shorter
    return best


def _shortened(
    model: Model, family: CountDistribution, along: tuple[Any, Any], deviance: float
) -> tuple[Any, float] | None:
    """Return the end of a step, halved until the deviance does not rise; None if it always does."""
    here, step = along
    for halvings in range(MAX_SHORTENED):
        there = np.clip(here + step * 0.5**halvings, *model.parameters.limits)
        reached = deviance_at(model, family, there)
        if reached <= deviance * (1 + ROUNDED_DEVIANCE) and not np.array_equal(there, here):
            return there, reached
    return None


def fit_likelihood(
    model: Model,
    family: CountDistribution,
    start: Any,
    level: float,
    several: Several | None = None,
) -> LikelihoodFit:
    """Return the fit of greatest likelihood that is found from a start, and from the least squares,
    and from others.

    Raises `ExpressionError` where neither has a likelihood.
    """
    end, interrupted, tried = EndPoint(start, math.inf, math.inf, "interrupted"), False, None
    try:
        with np.errstate(all="ignore"):
            for there in _starts(model, start):
                other = scored(model, family, there)
                end = (
                    other
                    if other.cost < end.cost * (1 - ROUNDED_DEVIANCE) or not math.isfinite(end.cost)
                    else end
                )
            if several is not None and math.isfinite(end.cost):
                from .fit_starts import best_of

                end, tried = best_of(
                    model, end, several, lambda there: scored(model, family, there)
                )
    except SearchStopped:
        interrupted = True
    model.stop = lambda: False
    if not math.isfinite(end.cost):
        raise _without_likelihood(model, family, start)
    weighted = weighted_at(model, family, end.values)
    inference = Inference(weighted, end, level, scaled=False)
    rises = {} if interrupted else _rising_direction(weighted, family, end)
    edge = None if interrupted or rises else _edge_row(weighted, family, end)
    lost = rises if edge is None else inference.names
    inference.undetermined.names.update(lost)
    for name in lost:
        inference.errors.pop(name, None)
    return LikelihoodFit(inference, family, interrupted, rises, edge, tried)


def _starts(model: Model, start: Any) -> Iterator[Any]:
    """Yield the start, zeros for what has none, and where the least squares are, whose curve is
    near the data.
    """
    from .strategies import best_fit

    yield start
    given = model.problem.point
    yield np.array(
        [x if name in given else 0.0 for name, x in zip(model.parameters.free, start, strict=True)]
    )
    with suppress(ExpressionError, BudgetExceeded):
        squares = model.copy()
        yield best_fit(squares, start, "linear").values


def _without_likelihood(model: Model, family: CountDistribution, start: Any) -> ExpressionError:
    at = model(start)
    if at.error is not None:
        return at.error
    high = math.inf if family.trials is None else 1.0
    outside = np.flatnonzero(~((at.fitted > 0) & (at.fitted < high)))
    if not len(outside):
        return ExpressionError(
            "domain",
            "the likelihood at the start is too small for a double",
            None,
            "start elsewhere",
        )
    row = int(outside[0])
    kind, needed = (
        ("mean count", "above 0") if family.trials is None else ("probability", "between 0 and 1")
    )
    message = (
        f"row {row + 1} of the data: the formula gives the {kind} {at.fitted[row]:g} at the start,"
        f" and one is {needed}"
    )
    how = "`exp(a + b*x)`" if family.trials is None else "`sigmoid(a + b*x)`"
    return ExpressionError(
        "domain", message, None, f"start elsewhere (`--at`), or write the {kind} as {how}"
    )


def _rising_direction(model: Model, family: CountDistribution, end: EndPoint) -> dict[str, float]:
    """Return the parameters along which the likelihood does not fall however far is looked; none if
    it falls.

    The direction is the one in which the information is least. From a maximum the deviance rises
    there by about the square of the distance in standard errors.
    """
    rows = model(end.values).jacobian
    size = column_sizes(rows)
    if not rows.shape[1]:
        return {}
    _, singular, vt = np.linalg.svd(rows / size, full_matrices=False)
    is_singular = bool(singular[-1] <= OPEN_SINGULAR_VALUE * singular[0])
    for sign in (-1, 1):
        errors, rise = _rise_along(
            model, family, end, sign * vt[-1] / size / max(float(singular[-1]), 1e-300)
        )
        if rise < OPEN_SHARE * errors**2 + ROUNDED_DEVIANCE * end.cost and (
            errors > MIN_OPEN_ERRORS or is_singular
        ):
            parts = zip(model.parameters.free, (sign * vt[-1]).tolist(), strict=True)
            return {name: x for name, x in parts if abs(x) > OPEN_COMPONENT}
    return {}


def _edge_row(model: Model, family: CountDistribution, end: EndPoint) -> int | None:
    """Return a row whose mean is at the edge of its range, if such rows have a part in the
    information.
    """
    at = model(end.values)
    expected = family.expected(at.fitted)
    is_edge = expected <= EDGE_SHARE * float(np.mean(expected))
    if not np.any(is_edge) or not at.jacobian.shape[1]:
        return None
    q, _ = np.linalg.qr(at.jacobian / column_sizes(at.jacobian))
    leverage = np.sum(q**2, axis=1)
    return (
        int(np.argmax(leverage * is_edge))
        if float(np.sum(leverage[is_edge])) > EDGE_LEVERAGE
        else None
    )


def _rise_along(
    model: Model, family: CountDistribution, end: EndPoint, along: Any
) -> tuple[float, float]:
    """Return how many standard errors away the formula still has means, at most ten, and the rise
    of the deviance.
    """
    errors = OPEN_ERRORS
    for _ in range(MAX_SHORTENED):
        there = end.values + errors * along
        if np.all(np.isfinite(there)) and model.parameters.allows(there):
            rise = deviance_at(model, family, there) - 2 * end.cost
            if math.isfinite(rise):
                return errors, rise
        errors /= 2
    return 0.0, math.inf


class LikelihoodProfile(Profile):
    """The deviance along a quantity, with the parameters fitted again by Fisher scoring."""

    family: CountDistribution

    def at(self, x: float, near: Refit, before: Refit) -> Refit:
        """Return the fit with the quantity at `x`."""
        with np.errstate(all="ignore"):
            found = [
                (model, scored(model, self.family, values))
                for model, values in self.starts(x, near, before)
            ]
        if not found:
            return Refit(x, math.inf, near.values, has_value=False)
        return self.rise(x, *min(found, key=lambda each: each[1].cost))


class LikelihoodProfileAlong(LikelihoodProfile, ProfileAlong):
    """The deviance along one parameter, with the others fitted again."""

    def __init__(self, inference: Inference, name: str, family: CountDistribution) -> None:
        super().__init__(inference, name)
        self.family = family


def profiled(found: LikelihoodFit) -> Profiles | None:
    """Return the intervals by the profile of the likelihood; None where there are none."""
    inference = found.inference
    has_maximum = (
        not (found.rises or found.interrupted) and found.edge is None and not inference.at_bound
    )
    if not has_maximum or not inference.errors or inference.outcome(False)[0] != "converged":
        return None
    return profiles_of(
        inference, lambda inference, name: LikelihoodProfileAlong(inference, name, found.family)
    )
