"""Inference from a fit: standard errors, intervals, predictions, tests of residuals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import gammaincc, log_ndtr

from ...engine.numerics.student_t import coverage_factor
from ...errors import Diagnostic, ExpressionError, point_error, quote
from ...questions.arithmetic import Shown
from ...questions.column_uncertainties import percentage
from ...record import Record
from .least_squares import (
    LOSSES,
    MAX_LAST_STEP,
    MISSING_RESIDUAL,
    NULL_SINGULAR_VALUE,
    SQUARES,
    EndPoint,
    Model,
    column_sizes,
    rounding_errors,
)
from .linear_basis import has_null_directions

ROUNDED_WEIGHTS = 1e-12  # relative difference of equal weights
MIN_NAMED_COMPONENT = 0.1  # component of a null direction
NULL_COMPONENT = 1e-6  # component of a null direction that leaves a parameter undetermined
FAINT_SHARE = 1e-12  # share of the data that a term of usual size has
ROUNDED_R_SQUARED = 1e-9  # below 0, by rounding
FAR_FACTORS = (2.0, 1.1, 1 / 1.1, 0.5)  # of a parameter's value, to points that are far away
FAR_ERRORS = 3  # standard errors, at least to there
FAR_SHARE = 1e-3  # of the data: a parameter with a larger share of them is not lost
FAR_CHANGE = 0.5  # of a column of the Jacobian, in its length
CURVE_POINTS = 241  # points
SIDE_DISTANCE = 1e-4  # of two sides of a minimum, in standard errors
MAX_JUMP = 0.01  # of derivatives between the sides, in lengths of the Jacobian's columns
EXACT_RUNS = 400  # residuals with an exact runs test
MIN_NORMAL = 8  # residuals
DOUBTFUL_P_VALUE = 0.005  # p-value of χ², in either tail
NOT_RANDOM = 1e-3  # p-value of the runs test
# The ends of an interval; None where the data leave it open.
Ends = tuple[float | None, float | None]


class Parameter(Record):
    """The estimate of a parameter."""

    estimate: Shown
    error: Shown | None
    interval: Ends | None
    linear: bool
    held: str


class Prediction(Record):
    """The fitted curve at a point of the predictors."""

    point: dict[str, float]
    value: float | None
    confidence: tuple[float, float] | None
    prediction: tuple[float, float] | None


class RunsTest(Record):
    """The runs test of Wald and Wolfowitz for the signs of residuals."""

    runs: int
    expected: float
    p_value: float

    @property
    def are_random(self) -> bool:
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
    runs: RunsTest | None = None
    normality: Normality | None = None


class FitCurvature:
    """The inverse of JᵀJ, in units that make the columns of the Jacobian unit vectors."""

    def __init__(self, rows: Any) -> None:
        self.size = column_sizes(rows)
        self.slopes = rows / self.size
        if not rows.shape[1]:
            self.inverse, self.directions = np.zeros((0, 0)), np.zeros((0, 0))
            return
        # by the singular values of J, which show the null directions
        _, s, vt = np.linalg.svd(self.slopes, full_matrices=False)
        good = (
            s > NULL_SINGULAR_VALUE * s[0] if s.size and s[0] > 0 else np.zeros(len(s), dtype=bool)
        )
        self.inverse = (vt[good].T / s[good] ** 2) @ vt[good]
        self.directions = vt[~good]  # along which the residuals do not change


class Undetermined:
    """The parameters that the data do not determine, and why."""

    def __init__(self, null: list[dict[str, float]], names: set[str]) -> None:
        self.null, self.names = null, names
        self.open = dict[str, str]()  # the parameter that leaves another one open
        self.far = dict[str, float]()  # the values that fit as well

    @classmethod
    def along(cls, curvature: FitCurvature, names: Sequence[str]) -> Self:
        """Return the parameters in the null directions."""
        found = cls([], set())
        for direction in curvature.directions:
            parts = list(zip(names, direction.tolist(), curvature.size.tolist(), strict=True))
            found.null.append(
                {name: x / size for name, x, size in parts if abs(x) > MIN_NAMED_COMPONENT}
            )
            found.names |= {name for name, x, _ in parts if abs(x) > NULL_COMPONENT}
        return found

    @classmethod
    def in_basis(cls, null: list[dict[str, float]], lost: Sequence[str]) -> Self:
        """Return the parameters in null directions of a linear model, and those whose terms are
        lost.
        """
        names = {name for direction in null for name in direction}
        return cls(null + [{name: 1.0} for name in lost if name not in names], {*names, *lost})

    def add_flat(self, name: str) -> None:
        """Add a parameter along which the curve fits as well far away."""
        if name not in self.names:
            self.null.append({name: 1.0})
            self.names.add(name)

    def null_warnings(self, in_many_digits: bool) -> Iterator[Diagnostic]:
        """Yield a warning for each null direction, of the data or only of doubles."""
        for direction in self.null:
            first, *others = direction
            who = "the data" if in_many_digits else "doubles"
            message, hint = f"{who} do not determine `{first}` here", "start elsewhere, or hold it"
            if others:
                names = " and ".join(f"`{name}`" for name in direction)
                message, hint = f"{who} do not distinguish {names}", "hold one of them"
                if not in_many_digits:
                    hint = (
                        f"write the formula by differences from a middle, as `(x - 100)`, or {hint}"
                    )
            yield Diagnostic("undetermined", message, None, f"{hint}: `--fix {first}=…`")

    def open_warnings(self) -> Iterator[Diagnostic]:
        """Yield a warning for each parameter that an undetermined one leaves open."""
        for name, other in self.open.items():
            message = (
                f"`{name}` is not determined either: its effect is another at other `{other}`,"
                " which fit as well"
            )
            yield Diagnostic(
                "undetermined",
                message,
                None,
                f"start elsewhere, or hold `{other}`: `--fix {other}=…`",
            )
        for name, x in self.far.items():
            message = (
                f"`{name}` is not determined either: {x:.4g} fits as well, with other values of the"
                " others"
            )
            yield Diagnostic(
                "undetermined",
                message,
                None,
                f"a simpler formula may do, or hold it: `--fix {name}=…`",
            )


class Scatter(NamedTuple):
    """How far the data scatter about the curve."""

    rss: float
    dof: int  # rows less parameters
    sigma_given: bool  # whether uncertainties of the data say it
    noise: float  # the variance of a weighted residual
    variance: float  # the factor of (JᵀJ)⁻¹ in the covariance, which a robust loss changes


class Inference:
    """The inference about the parameters at the end of a search."""

    def __init__(self, model: Model, end: EndPoint, level: float, *, scaled: bool) -> None:
        values, problem = end.values, model.problem
        self.model, self.end, self.level = model, end, level
        at = model(values)
        for row, fault in sorted(at.errors.items()):
            raise ExpressionError(
                fault.kind, f"row {row + 1} of the data: {fault}", fault.span, fault.hint
            )
        self.fitted, self.observed_slopes = model.at_observations(values)
        shown = (
            (values + 0.0).tolist()
            if model.basis is None
            else model.basis.parameters(values, model.loss)
        )
        self.values = dict(zip(problem.unknowns, shown, strict=True))
        self.left = at.residuals
        self.at_bound = {
            name for name, x in self.values.items() if x in problem.bounds.get(name, ())
        }
        self.estimated = [k for k, name in enumerate(problem.unknowns) if name not in self.at_bound]
        self.names = [problem.unknowns[k] for k in self.estimated]
        # the square of an outlier counts less, as in the minimised sum
        rss = float(self.left @ (self.left * at.robust.weight))
        faint = self._faint(at.jacobian)
        self.curvature = FitCurvature(
            np.where(faint & (model.basis is None), 0.0, at.jacobian)[:, self.estimated]
        )
        if model.basis is None:
            self.undetermined = Undetermined.along(self.curvature, self.names)
        else:
            lost = [
                name for name, is_lost in zip(model.parameters.free, faint, strict=True) if is_lost
            ]
            self.undetermined = Undetermined.in_basis(model.basis.null, lost)
        if model.basis is None and len(model.parameters.linear) < len(model.parameters.free):
            self._add_flat(faint, rss)
        self.scatter = self._scatter(rss, sigma_given=model.data.has_sigma and not scaled)
        self.errors, self.factor = dict[str, float](), 0.0
        # away from a minimum the Jacobian says nothing of errors
        dof = math.inf if self.scatter.sigma_given else self.scatter.dof
        if dof > 0 and end.moved <= MAX_LAST_STEP:
            self.factor = coverage_factor(level, dof)
            self.errors = self._standard_errors()

    def _scatter(self, rss: float, *, sigma_given: bool) -> Scatter:
        dof = self.model.rows.used - len(self.estimated) + len(self.undetermined.null)
        noise = 1.0 if sigma_given else rss / dof if dof > 0 else math.nan
        scatter = Scatter(rss, dof, sigma_given, noise, noise)
        return (
            scatter
            if self.model.loss == SQUARES
            else scatter._replace(variance=self._robust_variance(scatter))
        )

    def _standard_errors(self) -> dict[str, float]:
        """Return the standard errors of the parameters that are determined."""
        size, inverse = self._of_parameters
        with np.errstate(over="ignore"):
            roots = np.sqrt(np.maximum(0.0, np.diagonal(inverse * self.scatter.variance))) / size
        # an interval too large for doubles says nothing
        return {
            name: error
            for name, error in zip(self.names, roots.tolist(), strict=True)
            if name not in self.undetermined.names
            and math.isfinite(abs(self.values[name]) + self.factor * error)
        }

    @property
    def _of_parameters(self) -> tuple[Any, Any]:
        """The sizes of the parameters' columns and the inverse of JᵀJ, of the parameters as they
        are shown.
        """
        basis = self.model.basis
        return (
            (self.curvature.size, self.curvature.inverse)
            if basis is None
            else (1 / basis.lengths, basis.correlation)
        )

    def _faint(self, jacobian: Any) -> Any:
        """Return which parameters belong to terms that are lost in the rounding errors of the
        residuals.
        """
        model, values = self.model, [*self.values.values()]
        size = column_sizes(jacobian) if model.basis is None else model.basis.sizes
        usual = [
            max(1.0, abs(model.problem.values.get(name, 1.0))) for name in model.parameters.free
        ]
        rounding = rounding_errors(model, self.end.values)
        # noise says how much a term that is linear in its parameter may be
        has_noise = float(np.linalg.norm(self.left)) > rounding
        is_lost = size * np.abs(values) <= rounding
        is_lost &= np.array(
            [not (has_noise and name in model.parameters.linear) for name in model.parameters.free]
        )
        return is_lost & (
            size * usual
            <= FAINT_SHARE * float(np.linalg.norm(model.rows.response * model.rows.weights))
        )

    def _add_flat(self, faint: Any, rss: float) -> None:
        """Add the parameters along which the curve fits as well far away, and those that this
        leaves open.

        A slope at one point does not show a minimum at infinity: there it may be as small as it
        likes and not 0.
        """
        model, values = self.model.copy(), self.end.values
        bound = float(np.linalg.norm(self.left)) + rounding_errors(model, values)
        rows = np.where(faint, 0.0, model(values).jacobian)[:, self.estimated]
        share = FAR_SHARE * float(np.linalg.norm(model.rows.response * model.rows.weights))
        inverse, size = self.curvature.inverse, self.curvature.size
        errors = (
            math.sqrt(rss / max(1, model.rows.used - len(values)))
            * np.sqrt(np.diagonal(inverse))
            / size
        )
        undetermined, lengths = self.undetermined, np.linalg.norm(rows, axis=0)
        single = {
            name for direction in undetermined.null if len(direction) == 1 for name in direction
        }
        others = undetermined.names - single
        for k, name, error, length in zip(self.estimated, self.names, errors, lengths, strict=True):
            if (
                name in model.parameters.linear
                or name in others
                or not float(length) * abs(values[k]) <= share
            ):
                continue
            for times in FAR_FACTORS:
                there = values.copy()
                there[k] *= times
                at = model(there)
                is_far = abs(there[k] - values[k]) > FAR_ERRORS * error
                if (
                    at.error is not None
                    or not is_far
                    or not float(np.linalg.norm(at.residuals)) <= bound
                ):
                    continue
                undetermined.add_flat(name)
                change = np.linalg.norm(at.jacobian[:, self.estimated] - rows, axis=0)
                changed = zip(self.names, change > FAR_CHANGE * lengths, strict=True)
                open_names = (
                    other
                    for other, is_open in changed
                    if is_open and other not in undetermined.names
                )
                undetermined.open.update((other, name) for other in open_names)
        undetermined.names.update(undetermined.open)

    @cached_property
    def is_null_in_many_digits(self) -> bool:
        """Whether the data, and not only doubles, leave parameters undetermined."""
        if self.model.basis is not None:
            return len(self.model.basis.null) == len(self.undetermined.null)
        return has_null_directions(self.model, self.end.values, len(self.undetermined.null))

    def _robust_variance(self, scatter: Scatter) -> float:
        """Return the factor of (JᵀJ)⁻¹: Huber, Robust Statistics (1981), 7.6.8."""
        loss, dof = self.model.loss, scatter.dof
        if scatter.sigma_given:
            # midpoints, as the curvature of Huber's loss jumps at 1
            u = (np.arange(-2400, 2400) + 0.5) / 200
            density = np.exp(-u * u / 2) / np.sum(np.exp(-u * u / 2))
            robust = LOSSES[loss.name](u)
            return (
                float(density @ (u * robust.weight) ** 2)
                / float(density @ robust.bent) ** 2
                * loss.scale**2
            )
        u = self.left[self.model.rows.weights > 0] / loss.scale
        robust, n = LOSSES[loss.name](u), len(u)
        psi, mean = u * robust.weight, float(np.mean(robust.bent))
        if dof <= 0 or mean <= 0:
            return math.nan
        correction = 1 + (n - dof) / n * float(np.var(robust.bent)) / mean**2
        return correction**2 * float(psi @ psi) / dof / mean**2 * loss.scale**2

    def parameters(
        self,
        values: Mapping[str, Any],
        errors: Mapping[str, Any],
        profiles: Mapping[str, Ends] | None,
    ) -> dict[str, Parameter]:
        """Return the estimates, in the order of the formula, with linear intervals or those by
        profile.
        """
        parameters: dict[str, Parameter] = {}
        for name in self.model.problem.program.leaves:
            if name in self.model.parameters.held:
                parameters[name] = Parameter(
                    self.model.parameters.held[name], None, None, False, "fixed"
                )
            elif name in self.values:
                x, error = values[name], errors.get(name)
                half = None if error is None else self.factor * float(error)
                ends: Ends | None = None
                if profiles is not None:
                    ends = profiles.get(name)
                elif half is not None and name in self.model.problem.bounds:
                    ends = self.within_bounds(name, float(x), half)
                elif half is not None:
                    ends = float(x) - half, float(x) + half
                held = (
                    "bound"
                    if name in self.at_bound
                    else "undetermined"
                    if name in self.undetermined.names
                    else ""
                )
                parameters[name] = Parameter(
                    x, error, ends, name in self.model.parameters.linear, held
                )
        return parameters

    def within_bounds(self, name: str, estimate: float, half: float) -> tuple[float, float]:
        """Return the ends of a linear interval: the parameter has no value beyond its bounds."""
        low, high = self.model.problem.bounds.get(name, (-math.inf, math.inf))
        return max(estimate - half, low), min(estimate + half, high)

    def beyond_bounds(self) -> list[str]:
        """Return the parameters whose linear intervals would reach beyond their bounds."""
        beyond = []
        for name in self.model.problem.bounds.keys() & self.errors.keys():
            x, half = self.values[name], self.factor * self.errors[name]
            if self.within_bounds(name, x, half) != (x - half, x + half):
                beyond.append(name)
        return sorted(beyond, key=self.names.index)

    def correlation(self) -> dict[str, dict[str, float]]:
        """Return the correlations of the estimates."""
        places = [self.names.index(name) for name in self.errors]
        square = self._of_parameters[1][np.ix_(places, places)]
        length = np.sqrt(np.maximum(0.0, np.diagonal(square)))
        sizes = np.outer(length, length)
        entries = np.divide(square, sizes, out=np.zeros_like(square), where=sizes > 0)
        entries = np.clip(entries, -1.0, 1.0)
        np.fill_diagonal(entries, 1.0)
        rows = [dict(zip(self.errors, row, strict=True)) for row in entries.tolist()]
        return dict(zip(self.errors, rows, strict=True))

    def rows(self) -> tuple[list[float | None], list[float | None]]:
        """Return standardised residuals, and half-widths of the band."""
        weights = self.model.rows.weights
        of_mean = self._variances(self.curvature.slopes)
        # of the covariance this share is what the noise alone makes
        share = self.scatter.noise / (self.scatter.variance or 1.0)
        with np.errstate(all="ignore"):
            own = np.sqrt(np.maximum(self.scatter.noise - share * of_mean, 0.0))
            plain = (own > 1e-12 * math.sqrt(self.scatter.noise or 1.0)) & (weights > 0)
            standard = np.where(plain, self.left / own, np.nan)
            if self.model.rows.errors:
                of_mean = self._variances(
                    self.observed_slopes[self.estimated].T / self.curvature.size
                )
                weights = np.ones_like(weights)
            band = self.factor * np.sqrt(of_mean) / np.where(weights > 0, weights, np.nan)
        return (
            [float(x) if math.isfinite(x) else None for x in standard],
            [float(x) if math.isfinite(x) and self.factor else None for x in band],
        )

    def _variances(self, slopes: Any) -> Any:
        return np.einsum(
            "ij,jk,ik->i", slopes, self.curvature.inverse * self.scatter.variance, slopes
        )

    def _curve_at(self, columns: Mapping[str, Any]) -> tuple[Any, Any]:
        values, slopes = self.model.at_rows(columns).at_observations(self.end.values)
        return values, np.maximum(
            self._variances(slopes[self.estimated].T / self.curvature.size), 0.0
        )

    def curve(self) -> list[tuple[float, float, float]]:
        """Return the curve over its one predictor."""
        if len(self.model.data.predictors) != 1:
            return []
        (name,) = self.model.data.predictors
        xs = np.linspace(
            np.min(self.model.rows.columns[name]),
            np.max(self.model.rows.columns[name]),
            CURVE_POINTS,
        )
        heights, variances = self._curve_at({name: xs})
        wide = self.factor * np.sqrt(variances)
        points = zip(xs.tolist(), heights.tolist(), wide.tolist(), strict=True)
        return [(x, y, w) for x, y, w in points if math.isfinite(y) and math.isfinite(w)]

    def predict(self, columns: Mapping[str, Sequence[float]]) -> list[Prediction]:
        """Return the curve at rows of predictors."""
        data, noise = self.model.data, self.scatter.noise
        names = data.predictors
        if not columns:
            return []
        if lacking := [name for name in names if name not in columns]:
            raise point_error(
                f"`--predict` has no values of `{lacking[0]}`", f"predictors are {quote(names)}"
            )
        if other := [name for name in columns if name not in names]:
            raise point_error(
                f"`{other[0]}` is not a predictor of this fit", f"predictors are {quote(names)}"
            )
        places = {name: np.array(columns[name], dtype=float) for name in names}
        with np.errstate(all="ignore"):
            values, of_mean = self._curve_at(places)
            spread, of_rows = data.sigma.get(data.response), np.full(len(values), math.nan)
            if not data.has_sigma:
                of_rows[:] = (
                    noise / self._weight_of_rows if self.model.loss == SQUARES else math.nan
                )
            elif (share := percentage(spread)) is not None:
                of_rows = (np.abs(values) * share / 100) ** 2 * noise
            elif not isinstance(spread, str | None):
                of_rows[:] = np.float64(spread) ** 2 * noise
            confidence = self.factor * np.sqrt(of_mean)
            prediction = self.factor * np.sqrt(of_mean + of_rows)
        has_errors = bool(self.errors) and not self.undetermined.null

        def ends(value: float, half: float) -> tuple[float, float] | None:
            return (value - half, value + half) if has_errors and math.isfinite(half) else None

        points = [
            dict(zip(names, row, strict=True))
            for row in np.column_stack([*places.values()]).tolist()
        ]
        numbers = zip(
            points, (values + 0.0).tolist(), confidence.tolist(), prediction.tolist(), strict=True
        )
        return [
            Prediction(point, y if math.isfinite(y) else None, ends(y, near), ends(y, wide))
            for point, y, near, wide in numbers
        ]

    @cached_property
    def _weight_of_rows(self) -> float:
        """The weight of every row, and so of a new one; NaN where rows differ in it."""
        weights = self.model.rows.weights[self.model.rows.weights > 0] ** 2
        return (
            float(weights[0])
            if float(np.ptp(weights)) <= ROUNDED_WEIGHTS * float(weights[0])
            else math.nan
        )

    def prediction_warnings(self, predictions: Sequence[Prediction]) -> Iterator[Diagnostic]:
        """Yield a warning where weights leave a new row without an interval of its own."""
        weighted = not self.model.data.has_sigma and math.isnan(self._weight_of_rows)
        if weighted and any(row.confidence is not None for row in predictions):
            message = (
                "the rows differ in their weights, so the spread of a new row is not known: it has"
                " no prediction"
            )
            yield Diagnostic(
                "no_prediction",
                message,
                None,
                "give the uncertainty of the response: `--sigma y=0.1`",
            )

    def undetermined_warnings(self) -> Iterator[Diagnostic]:
        """Yield a warning for each null direction."""
        if self.undetermined.null:
            yield from self.undetermined.null_warnings(self.is_null_in_many_digits)

    def leave_open(self, far: Mapping[str, float]) -> None:
        """Take parameters as not determined, which fit as well at far values."""
        self.undetermined.far.update(far)
        self.undetermined.names.update(far)
        for name in far:
            del self.errors[name]

    def lose_digits(self) -> None:
        """Take the end of the search as one that rounding made: its parameters have no standard
        errors.
        """
        self.end = self.end._replace(by_rounding=True)
        self.errors = {}

    def end_warnings(self) -> Iterator[Diagnostic]:
        """Yield warnings of a kink, and of other minima that fit about as well."""
        model, values = self.model.copy(), self.end.values
        kinked = []
        for k, name in zip(self.estimated, self.names, strict=True):
            beside = np.zeros(len(values))
            beside[k] = SIDE_DISTANCE * self.errors.get(name, 0.0) if model.kinks else 0.0
            low, high = (
                model(values + side * beside).jacobian[:, self.estimated] for side in (-1, 1)
            )
            if np.linalg.norm((high - low) / self.curvature.size) > MAX_JUMP:
                kinked.append(name)
        if kinked:
            message = (
                f"the minimum is at a kink, along {quote(kinked)}: standard errors hold on one side"
                " of it only"
            )
            yield Diagnostic("kink", message, None, "check them by fits to resampled rows")
        for other in self.end.others:
            pairs = zip(self.values, other.values.tolist(), strict=True)
            point = ", ".join(f"{name}={x:.4g}" for name, x in pairs)
            message = (
                f"another minimum fits about as well, {point}: its sum of squares is"
                f" {2 * other.cost:.4g}"
            )
            hint = (
                f"the least is {2 * self.end.cost:.4g}; more data would tell, or hold a parameter:"
                " `--fix`"
            )
            yield Diagnostic("minima", message, None, hint)

    def goodness(self) -> Goodness:
        """Return how well the formula fits by least squares, up to rounding errors.

        The tail of χ² is NIST DLMF 8.2.4. Without uncertainties the variance is a parameter too,
        rss/rows.
        """
        model, left, rss, rows = self.model, self.left, self.scatter.rss, self.model.rows.used
        rounding = 1e-14 * float(np.linalg.norm(model.rows.response * model.rows.weights))
        if model.loss != SQUARES or not rounding**2 < rss < MISSING_RESIDUAL:
            return Goodness()
        used, has_sigma = model.rows.weights > 0, model.data.has_sigma
        spread = rss if has_sigma else rows * (math.log(rss / rows) + 1)
        constant = rows * math.log(2 * math.pi) - 2 * float(
            np.sum(np.log(model.rows.weights[used]))
        )
        log_likelihood = -(constant + spread) / 2
        # measured predictors have true values in all models
        taus = [np.asarray(tau)[used & (np.asarray(tau) > 0)] for tau in model.rows.errors.values()]
        more = sum(float(np.sum(np.log(2 * math.pi * tau**2))) for tau in taus)
        k = len(self.estimated) - len(self.undetermined.null) + (not has_sigma)
        has_tail, has_scatter = has_sigma and self.scatter.dof > 0, self.scatter.dof > 0
        return Goodness(
            chi_squared=rss if has_sigma else None,
            reduced=rss / self.scatter.dof if has_tail else None,
            p_value=float(gammaincc(self.scatter.dof / 2, rss / 2)) if has_tail else None,
            log_likelihood=log_likelihood - more / 2,
            aic=2 * k - 2 * log_likelihood + more,
            bic=k * math.log(rows) - 2 * log_likelihood + more,
            runs=runs_test(model.rows.order_residuals(left)) if has_scatter else None,
            normality=anderson_darling(left[used]) if has_scatter else None,
        )

    def goodness_warnings(self, result: Goodness, explained: float | None) -> Iterator[Diagnostic]:
        """Yield warnings of an unlikely χ², nonrandom residuals, R² below 0."""
        reduced, p = result.reduced, result.p_value
        if (
            self.scatter.sigma_given
            and reduced
            and p is not None
            and not DOUBTFUL_P_VALUE <= p <= 1 - DOUBTFUL_P_VALUE
        ):
            more = reduced > 1
            scatter = f"the residuals scatter {'more' if more else 'less'} than `--sigma` implies"
            message = f"χ²/ν is {reduced:.3g}: {scatter} (p = {p:.2g})"
            hint = (
                "check the formula and the uncertainties"
                if more
                else "the uncertainties may be too large"
            )
            hint += (
                "; if only their ratios are known, `--scale-errors` takes their size from the"
                " residuals"
            )
            yield Diagnostic("goodness_of_fit", message, None, hint)
        runs = result.runs
        if runs is not None and not runs.are_random:
            counts = (
                f"{runs.runs:,} runs of one sign where {runs.expected:.3g} are expected (p ="
                f" {runs.p_value:.2g})"
            )
            message = f"the residuals are not random: {counts}"
        elif (
            explained is not None and explained < -ROUNDED_R_SQUARED and self.model.loss == SQUARES
        ):
            message = (
                f"R² is {explained:.3g}: the mean of the response is closer to the data than this"
                " curve"
            )
        else:
            return
        hint = (
            "the standard errors hold for random ones: try another formula, or another start"
            " (`--at`)"
        )
        yield Diagnostic("residuals", message, None, hint)

    def outcome(self, interrupted: bool) -> tuple[str, str]:
        """Return why the search is over, as one word and in words."""
        method, moved = self.end.message, self.end.moved
        if interrupted:
            what = (
                "the starts" if method == "interrupted" else f"the best values so far, by {method}"
            )
            return "interrupted", f"interrupted: these are {what}"
        step = f"another step would move a parameter by {moved:.2g} standard errors"
        if self.undetermined.null:
            message = [warning.message for warning in self.undetermined_warnings()][-1]
            return "undetermined", message + (
                "" if moved <= MAX_LAST_STEP else f"; not converged: {step}"
            )
        if not moved <= MAX_LAST_STEP:
            hint = "start elsewhere (`--at`), or hold a parameter (`--fix`)"
            return "stuck", f"{method}; not converged: {step}; {hint}"
        if self.end.by_rounding:
            meets = "the curve meets the data by rounding, and in more digits it does not"
            return "digits", f"{method}; not converged: {meets}"
        edge = f"; at a bound: {', '.join(sorted(self.at_bound))}" if self.at_bound else ""
        return "converged", f"{method}; converged{edge}"

    def r_squared(self) -> float | None:
        """Return R², without a constant about 0, as NIST and R have it; or None."""
        model, values = self.model, self.end.values
        if model.rows.errors:
            return None
        if len(model.parameters.linear) < len(model.parameters.free):
            return model.r_squared(values)
        ones = model.rows.weights[model.rows.weights > 0]
        fitted, rows = (
            model(values).fitted[model.rows.weights > 0],
            -model(values).jacobian[model.rows.weights > 0],
        )
        has_constant = any(np.array_equal(column, column[0] / ones[0] * ones) for column in rows.T)
        off = 1e-9 * float(np.max(np.abs(fitted * ones)))
        if has_constant or not np.allclose(rows @ values, fitted * ones, rtol=0, atol=off):
            return model.r_squared(values)
        columns = rows / column_sizes(rows)
        left = ones - columns @ np.linalg.lstsq(columns, ones, rcond=None)[0]
        return model.r_squared(
            values, origin=bool(np.linalg.norm(left) > 1e-6 * np.linalg.norm(ones))
        )


def runs_test(residuals: Any) -> RunsTest | None:
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
        return RunsTest(count, mean, math.erfc(abs(count - mean) / deviation / math.sqrt(2)))

    def ways(runs: int) -> int:
        half, odd = divmod(runs, 2)
        a, b = math.comb(above - 1, half - 1), math.comb(below - 1, half - 1)
        return math.comb(above - 1, half) * b + a * math.comb(below - 1, half) if odd else 2 * a * b

    few = sum(map(ways, range(2, count + 1)))
    many = math.comb(n, above) - few + ways(count)
    return RunsTest(count, mean, min(1.0, 2 * min(few, many) / math.comb(n, above)))


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
    if a < 0.34:
        c = (-13.436, 101.14, -223.73) if a < 0.2 else (-8.318, 42.796, -59.938)
        return 1 - math.exp(c[0] + c[1] * a + c[2] * a * a)
    if a < 0.6:
        return math.exp(0.9177 - 4.279 * a - 1.38 * a * a)
    # the formula is for A² up to 13, where it is 1e-31
    return math.exp(1.2937 - 5.709 * min(a, 13.0) + 0.0186 * min(a, 13.0) ** 2)
