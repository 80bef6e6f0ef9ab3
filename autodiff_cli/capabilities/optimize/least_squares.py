"""Least squares: a model over rows with its exact Jacobian, and strategies to fit it.

Variable projection: Golub and Pereyra, SIAM J. Numer. Anal. 10 (1973); Kaufman, BIT 15 (1975).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from ...compiled.kernels import ProgramOverRows
from ...engine.algebra.walk import linear_and_kinks
from ...engine.numbers.budget import FITTED_CALL, FITTED_PAIR, FITTED_ROW, Work, charge
from ...engine.numbers.double.twofold import two_product
from ...engine.numbers.running_error import Bounded
from ...errors import ExpressionError
from ...questions.problem import Problem
from ...record import Record
from .convergence import SearchProblem, SearchStopped
from .descend import DescentStep
from .observations import Observations

MAX_EVALUATIONS = 2000  # of one search
# The most linear solves for linear parameters of very different sizes: each starts nearer to them.
MAX_SOLVES = 3
# Linear parameters below this share of what they were have lost half of their digits, and are
# solved for anew.
CANCELLED_SHARE = 1e-6
MAX_EARLIER = 4  # steps that are combined with the last one
MAX_POLISHING = 50  # steps of Gauss and Newton
MISSING_RESIDUAL = 1e150  # residual of a row without a value
ROUNDED_OFF = 1e-14  # share of the data that is rounding
NULL_SINGULAR_VALUE = 1e-11  # singular value of a null direction, relative
MAX_LAST_STEP = 1e-6  # step of Gauss and Newton, in standard errors
NEAR_KINK = 1e-8  # distance of a minimum from its kink, in standard errors
MAX_CORRECTIONS = 200
CORRECTION_ERROR, MAX_CORRECTION_ERROR = 1e-12, 1e-7  # aimed at, allowed; in uncertainties
# step from a point that is bracketed, in uncertainties, by the rounding of the curve
MAX_ROUNDED_STEP = 1e-4
MIN_CORRECTION_SHARE = 1e-12  # share of a correction
MIXED_STEPS = 16  # to the nearest points by one predictor, before they are bracketed
BISECTED = 4  # steps in a bracket, of which the last halves it
STEP_SHARES = (1.0, 0.5, 0.25, 0.125, 0.03)  # of a step
TERM_ROUNDING = 4 * 2.0**-52  # relative error of the terms of a row
LINEAR_SHARE = 1e-6  # by which a linear parameter is fixed only if no other is in a null direction
MAX_DOUBLE = float(np.finfo(float).max)
MAX_ROUNDING_SHARE = 1e-8  # share of the data that rounding errors may be


class EndPoint(NamedTuple):
    """The end point of a strategy."""

    values: Any
    cost: float  # half the sum of the squares, or of their losses
    moved: float  # the size of another Gauss-Newton step in standard errors
    message: str
    others: tuple[EndPoint, ...] = ()  # minima that the data do not rule out
    by_rounding: bool = False  # with more digits it is none


class Robust(NamedTuple):
    """A robust loss of residuals u, in units of its scale: ψ(u) is the derivative of ρ(u²)/2."""

    rho: Any  # ρ(u²)
    weight: Any  # ψ(u)/u
    bent: Any  # ψ′(u)


def _soft_l1(u: Any) -> Robust:
    root = np.sqrt(1 + u * u)
    return Robust(2 * (root - 1), 1 / root, root**-3)


def _huber(u: Any) -> Robust:
    size = np.abs(u)
    return Robust(
        np.where(size <= 1, u * u, 2 * size - 1), 1 / np.maximum(size, 1.0), (size <= 1) * 1.0
    )


def _cauchy(u: Any) -> Robust:
    weight = 1 / (1 + u * u)
    return Robust(np.log1p(u * u), weight, (1 - u * u) * weight**2)


LOSSES: dict[str, Callable[[Any], Robust]] = {
    "linear": lambda u: Robust(u * u, np.ones_like(u), np.ones_like(u)),
    "soft_l1": _soft_l1,
    "huber": _huber,
    "cauchy": _cauchy,
}


class Loss(NamedTuple):
    """The loss of residuals beyond a scale that a fit minimises; by itself their squares."""

    name: str = "linear"
    scale: float = 1.0


SQUARES = Loss()


class Evaluated(Record):
    """A model at all rows."""

    fitted: Any
    slopes: Any
    errors: dict[int, ExpressionError]
    weights: Any  # the roots of the weights of the rows
    corrections: dict[str, Any]
    residuals: Any  # weighted; a large number where the model has no value
    loss: Loss

    @property
    def error(self) -> ExpressionError | None:
        return self.errors[min(self.errors)] if self.errors else None

    @cached_property
    def jacobian(self) -> Any:
        rows = -(self.slopes * self.weights).T
        return np.where(np.isfinite(rows), rows, 0.0)

    @property
    def robust(self) -> Robust:
        return LOSSES[self.loss.name](self.residuals / self.loss.scale)

    @property
    def cost(self) -> float:
        return 0.5 * self.loss.scale**2 * float(np.sum(self.robust.rho))


class Reached:
    """The best end so far of a search, in case it is stopped."""

    def __init__(self) -> None:
        self.best: EndPoint | None = None
        self.is_open = True

    def note(self, end: EndPoint) -> None:
        """Take an end of lower cost, unless only accepted ones count."""
        if self.is_open and (self.best is None or end.cost < self.best.cost):
            self.best = end

    def accept(self, end: EndPoint, *, only: bool = False) -> EndPoint:
        """Return `end`, which replaces the best one; with `only` no noted end counts after it."""
        self.best, self.is_open = end, not only
        return end


class FitRows:
    """The rows that a model is fitted to."""

    def __init__(
        self, columns: Mapping[str, Any], response: Any, weights: Any, errors: Mapping[str, Any]
    ) -> None:
        self.columns = columns  # of the predictors
        self.response = response
        self.weights = weights  # the roots of the weights
        self.errors = errors  # the standard uncertainties of predictors
        self.count = len(response)

    @cached_property
    def scales(self) -> list[tuple[float, float, int]]:
        """The least and the largest number of each column, and how many differ."""
        return [
            (float(np.min(c)), float(np.max(c)), len(np.unique(c))) for c in self.columns.values()
        ]

    @cached_property
    def used(self) -> int:
        """The number of rows whose weight is not 0."""
        return int(np.count_nonzero(self.weights))

    @cached_property
    def rounding_cost(self) -> float:
        """The cost of the rounding errors of the response."""
        return 0.5 * float(ROUNDED_OFF * np.linalg.norm(self.response * self.weights)) ** 2

    def at(self, places: Any) -> FitRows:
        """Return some of the rows."""
        columns, errors = [
            {name: column[places] for name, column in which.items()}
            for which in (self.columns, self.errors)
        ]
        return FitRows(columns, self.response[places], self.weights[places], errors)

    def sample(self, count: int) -> FitRows:
        """Return at most `count` rows, drawn at random."""
        if self.count <= count:
            return self
        return self.at(np.sort(np.random.default_rng(1).choice(self.count, count, replace=False)))

    def order_residuals(self, residuals: Any) -> Any:
        """Return the residuals in the order of the only predictor, or as they are."""
        used = np.flatnonzero(self.weights > 0)
        if len(self.columns) != 1:
            return residuals[used]
        (predictor,) = self.columns.values()
        _, places, counts = np.unique(predictor[used], return_inverse=True, return_counts=True)
        return np.bincount(places, residuals[used]) / counts


class FitParameters(NamedTuple):
    """The parameters that a search moves, in order, and those that are held."""

    free: list[str]
    held: Mapping[str, float]
    limits: tuple[Any, ...]  # the least and the largest values of the free ones
    linear: list[str]  # of the free ones, those that the model is linear in
    places: list[int]  # of the linear ones that are projected out

    @classmethod
    def of(cls, problem: Problem, linear: Collection[str]) -> FitParameters:
        """Return the parameters of a problem whose model is linear in some of them."""
        free = [*problem.unknowns]
        held = {name: x for name, x in problem.values.items() if name not in free}
        ends = [problem.bounds.get(name, (-np.inf, np.inf)) for name in free]
        least, largest = np.array(ends, dtype=float).reshape(-1, 2).T
        projected = [name for name in linear if name not in problem.bounds]
        return cls(
            free, held, (least, largest), projected, [free.index(name) for name in projected]
        )

    def holding(self, values: Mapping[str, float]) -> FitParameters:
        """Return the parameters with more of them held, at these values."""
        free = [name for name in self.free if name not in values]
        kept = [self.free.index(name) for name in free]
        linear = [name for name in self.linear if name in free]
        places = [free.index(name) for name in linear] if self.places else []
        limits = tuple([ends[kept] for ends in self.limits])
        return FitParameters(free, {**self.held, **values}, limits, linear, places)

    def allows(self, values: Any) -> bool:
        """Return whether values are within the limits."""
        return bool(np.all((self.limits[0] <= values) & (values <= self.limits[1])))


class Model:
    """The weighted residuals of a model over all rows, and their derivatives.

    If predictors are uncertain by `errors`, x + δ are corrected so that (y - f(x + δ))²/σ² + Σ
    δ²/τ² is least. With S = σ² + Σ (τ·∂f/∂x)² its root is r = (y - f(x + δ) + ∂f·δ)/√S, whose
    derivative by a parameter b is -∂f/∂b/√S: Boggs, Byrd and Schnabel, SIAM J. Sci. Stat. Comput. 8
    (1987).
    """

    def __init__(
        self, problem: Problem, data: Observations, stop: Callable[[], bool] = lambda: False
    ) -> None:
        self.problem, self.data, self.stop = problem, data, stop
        linear, self.kinks = linear_and_kinks(problem.program.graph, [*problem.unknowns])
        self.parameters = FitParameters.of(problem, linear)
        columns = {name: np.array(data.columns[name], dtype=float) for name in data.predictors}
        response = np.array(data.columns[data.response], dtype=float)
        self.rows = FitRows(columns, response, data.root_weights(), {})
        self.loss = SQUARES
        self.most_corrections = MAX_CORRECTIONS
        self.evaluations = 0
        self._over_rows = self._around = self._compile(self.parameters.free)
        self._last: tuple[bytes, Evaluated] | None = None
        self.reached = Reached()  # by all copies over these rows
        self.calls: Work | None = None  # for evaluations from other starts
        # `linear_basis.ManyDigits`, in terms of which a linear model is computed
        self.basis: Any = None

    def copy(self, **changes: Any) -> Self:
        """Return the model with changes; it counts its own evaluations."""
        other = copy(self)
        other.__dict__.update(changes, _last=None)
        return other

    def use_loss(self, loss: Loss) -> None:
        """Minimise a robust loss of the residuals, over all parameters at once."""
        self.loss, self._last = loss, None
        self.parameters = self.parameters._replace(places=[])

    def holding(self, values: Mapping[str, float]) -> Model:
        """Return the model with some of its parameters fixed at these values."""
        other = self.copy(parameters=self.parameters.holding(values), reached=Reached())
        free, errors = other.parameters.free, self.rows.errors
        other._over_rows = other._compile(free)
        other._around = other._compile([*free, *errors]) if errors else other._over_rows
        return other

    def null_parameters(self, values: Any) -> list[str]:
        """Return the parameters to fix so that the data determine the others here: one for each
        null direction.
        """
        rows = self(values).jacobian
        fixed: list[str] = []
        while len(fixed) < len(self.parameters.free) - 1:
            left = [k for k, name in enumerate(self.parameters.free) if name not in fixed]
            scaled = np.linalg.qr(rows[:, left] / column_sizes(rows[:, left]))[1]
            if not np.all(np.isfinite(scaled)) or np.linalg.cond(scaled) < 1 / NULL_SINGULAR_VALUE:
                break
            shares = np.abs(np.linalg.svd(scaled)[2][-1])
            # a linear one is solved for, wherever the others are
            shares = [
                x * (1.0 if self.parameters.free[k] not in self.parameters.linear else LINEAR_SHARE)
                for k, x in zip(left, shares, strict=True)
            ]
            fixed.append(self.parameters.free[left[int(np.argmax(shares))]])
        return fixed

    def at_rows(self, columns: Mapping[str, Any]) -> Model:
        """Return the curve at other rows of weight 1, without compiling again."""
        count = len(next(iter(columns.values()), [0.0]))
        return self.copy(rows=FitRows(columns, np.zeros(count), np.ones(count), {}))

    def with_errors(self, errors: Mapping[str, Any]) -> Model:
        """Return the model with standard uncertainties of predictors by row."""
        rows = FitRows(self.rows.columns, self.rows.response, self.rows.weights, errors)
        around = self._compile([*self.parameters.free, *errors])
        parameters = self.parameters._replace(places=[])
        return self.copy(rows=rows, parameters=parameters, reached=Reached(), _around=around)

    def sample(self, count: int) -> Model:
        """Return the model over at most `count` rows, drawn at random."""
        return (
            self
            if self.rows.count <= count
            else self.copy(rows=self.rows.sample(count), reached=Reached())
        )

    def _compile(self, wrt: Sequence[str]) -> ProgramOverRows:
        program = self.problem.program
        return ProgramOverRows(
            program, wrt, [name for name in program.leaves if name not in self.rows.columns]
        )

    def __call__(self, values: Any) -> Evaluated:
        key = np.asarray(values, dtype=float).tobytes()
        if self._last is None or self._last[0] != key:
            if self.rows.errors:
                with np.errstate(all="ignore"):
                    fitted, slopes, errors, weights, corrections = self._correct(values)
            else:
                fitted, slopes, errors = self._swept(self._over_rows, values, self.rows.columns)
                weights, corrections = self.rows.weights, {}
            left = (self.rows.response - fitted) * weights
            left = np.where(np.isfinite(left), left, MISSING_RESIDUAL)
            left = np.clip(left, -MISSING_RESIDUAL, MISSING_RESIDUAL)
            left = np.where(self.rows.weights > 0, left, 0.0)
            evaluated = Evaluated(fitted, slopes, errors, weights, corrections, left, self.loss)
            self._last = key, evaluated
        return self._last[1]

    def _swept(
        self, over_rows: ProgramOverRows, values: Any, columns: Mapping[str, Any]
    ) -> tuple[Any, Any, dict[int, ExpressionError]]:
        if self.stop():
            raise SearchStopped
        if self.calls is not None:
            self.calls.charge(FITTED_CALL)
        charge((FITTED_ROW + FITTED_PAIR * len(self.parameters.free) ** 2) * self.rows.count)
        self.evaluations += 1
        point = dict(zip(self.parameters.free, map(float, values), strict=True))
        block = over_rows({**self.parameters.held, **point, **columns}, self.rows.count)
        # a row of weight 0 is left out, whether or not it has a value
        errors = {row: error for row, error in block.errors.items() if self.rows.weights[row] > 0}
        return block.results[0], block.results[1:], errors

    def _correct(
        self, values: Any
    ) -> tuple[Any, Any, dict[int, ExpressionError], Any, dict[str, Any]]:
        n = len(self.parameters.free)
        tau = np.array([*self.rows.errors.values()])
        deviation = 1 / self.rows.weights

        def at(delta: Any) -> tuple[list[Any], dict[int, ExpressionError]]:
            columns = {
                name: self.rows.columns[name] + d
                for name, d in zip(self.rows.errors, delta, strict=True)
            }
            fitted, slopes, errors = self._swept(
                self._around, values, {**self.rows.columns, **columns}
            )
            across = slopes[n:]
            # no squares of slopes, which a search takes to where they overflow
            spread = np.hypot.reduce([deviation, *(tau * across)])
            tangent = fitted - np.sum(across * delta, axis=0)
            shares = np.divide(delta, tau, out=np.zeros_like(delta), where=tau > 0)
            cost = ((self.rows.response - fitted) / deviation) ** 2 + np.sum(shares**2, axis=0)
            nearest = tau * (tau * across / spread) * ((self.rows.response - tangent) / spread)
            return [
                nearest,
                np.where(np.isfinite(cost), cost, np.inf),
                tangent,
                spread,
                slopes[:n],
            ], errors

        rounding = 4 * np.spacing(np.abs([self.rows.columns[name] for name in self.rows.errors]))
        unit = np.where(tau > 0, tau, 1.0)
        last = change = delta = np.zeros_like(tau)
        state, errors = at(delta)
        step, mixed = np.ones(self.rows.count), np.zeros(self.rows.count, dtype=bool)
        steps = self.most_corrections if len(tau) > 1 else min(self.most_corrections, MIXED_STEPS)
        for _ in range(steps):
            nearest, cost, *_ = state
            room = nearest - delta
            unfinished = np.any(np.abs(room) > np.maximum(CORRECTION_ERROR * tau, rounding), axis=0)
            unfinished &= step > MIN_CORRECTION_SHARE
            if errors or not np.any(unfinished):
                break
            # Anderson mixing of the last two steps, else the step
            turn = (room - change) / unit
            share = np.sum(room / unit * turn, axis=0) / np.maximum(np.sum(turn**2, axis=0), 1e-300)
            target = np.where(mixed, nearest - share * (nearest - last), delta + step * room)
            there = np.where(unfinished & np.all(np.isfinite(target), axis=0), target, delta)
            other, _ = at(there)
            better = unfinished & (other[1] <= cost * (1 + 1e-13))
            last, change = np.where(better, nearest, last), np.where(better, room, change)
            step = np.where(
                better, np.minimum(1.0, 2 * step), np.where(unfinished & ~mixed, step / 2, step)
            )
            mixed = better & (step == 1)
            delta = np.where(better, there, delta)
            state = [np.where(better, new, old) for new, old in zip(other, state, strict=True)]
        if len(tau) == 1 and not errors and steps < self.most_corrections:
            delta, state = self._bracketed(
                at, delta, state, np.maximum(CORRECTION_ERROR * tau, rounding)[0], tau[0]
            )
        nearest, _, tangent, spread, slopes = state
        # a row whose nearest point was not found has no residual
        off = np.any(
            np.abs(nearest - delta) > np.maximum(MAX_CORRECTION_ERROR * tau, 4 * rounding), axis=0
        )
        corrections = dict(zip(self.rows.errors, delta, strict=True))
        return np.where(off, np.nan, tangent), slopes, errors, 1 / spread, corrections

    def _bracketed(
        self,
        at: Callable[[Any], tuple[list[Any], Any]],
        delta: Any,
        state: list[Any],
        room: Any,
        tau: Any,
    ) -> tuple[Any, list[Any]]:
        """Return corrections of the one uncertain predictor, and their state, by bisection and
        secants in each row.

        Where the residual is as large as the curve's radius, steps to the nearest point of the
        tangent circle around. From `low` the distance falls towards `high`, where it is higher or
        rises.
        """
        low, high = delta[0], np.full(self.rows.count, np.nan)
        low_state, high_state = state, state
        low_step, high_step = state[0][0] - low, np.full(self.rows.count, np.nan)
        sign, length = np.sign(low_step), np.abs(low_step)
        low_share = high_share = np.ones(self.rows.count)
        for step in range(self.most_corrections):
            is_open = np.isnan(high)
            is_met = np.abs(low_step) <= room
            is_met |= np.abs(high_step) <= room
            is_met |= np.abs(high - low) <= 2 * np.spacing(np.abs(low))
            if np.all(is_met):
                break
            from_low, from_high = low_step * low_share, high_step * high_share
            share = np.where(low_step * high_step < 0, from_low / (from_low - from_high), 0.5)
            share = np.full_like(share, 0.5) if step % BISECTED == BISECTED - 1 else share
            there = np.where(is_open, low + sign * length, low + share * (high - low))
            there = np.where(is_met, low, there)
            other, _ = at(there[None])
            step_there = other[0][0] - there
            beyond = ~(other[1] <= low_state[1] * (1 + 1e-13)) | (step_there * sign < 0)
            to_high, to_low = ~is_met & beyond, ~is_met & ~beyond
            high, low = np.where(to_high, there, high), np.where(to_low, there, low)
            high_state = [
                np.where(to_high, new, old) for new, old in zip(other, high_state, strict=True)
            ]
            low_state = [
                np.where(to_low, new, old) for new, old in zip(other, low_state, strict=True)
            ]
            # a secant moves one end only: the step at the other counts half (Illinois)
            low_share = np.where(to_high, low_share / 2, 1.0)
            high_share = np.where(to_low, high_share / 2, 1.0)
            low_step, high_step = (
                np.where(to_low, step_there, low_step),
                np.where(to_high, step_there, high_step),
            )
            length = np.where(is_open & to_low, 2 * length, length)
        is_high = np.abs(high_state[0][0] - high) < np.abs(low_state[0][0] - low)
        nearest, *rest = [
            np.where(is_high, new, old) for new, old in zip(high_state, low_state, strict=True)
        ]
        found = np.where(is_high, high, low)[None]
        # no number is between the ends: what is left of the step is the rounding of the curve
        is_closed = np.abs(high - low) <= 2 * np.spacing(np.abs(low))
        is_closed &= np.abs(nearest - found)[0] <= MAX_ROUNDED_STEP * tau
        return found, [np.where(is_closed, found, nearest), *rest]

    def at_observations(self, values: Any) -> tuple[Any, Any]:
        """Return the model's values and derivatives at the observed predictors, not the corrected
        ones.
        """
        if self.rows.errors:
            return self.copy()._swept(self._over_rows, values, self.rows.columns)[:2]
        at = self(values)
        return at.fitted, at.slopes

    def is_determined(self, values: Any) -> bool:
        """Return whether the data tell all parameters apart, in doubles."""
        return self.condition(values) < 1 / NULL_SINGULAR_VALUE

    def condition(self, values: Any) -> float:
        """Return the condition of the Jacobian with columns of length 1."""
        rows = self(values).jacobian
        return float(np.linalg.cond(np.linalg.qr(rows / column_sizes(rows))[1]))

    def fit_linear(self, values: Any) -> Any:
        """Return the values with the linear parameters solved for."""
        places, solution = self.parameters.places, np.array(values, dtype=float)
        for left in reversed(range(MAX_SOLVES)):
            at, before = self(solution), np.abs(solution[places])
            is_lost = np.max(np.abs(at.residuals), initial=0.0) >= MISSING_RESIDUAL and bool(
                np.any(before)
            )
            lost = np.full(len(before), is_lost)
            if not is_lost:
                rows = at.jacobian[:, places]
                size = column_sizes(rows)
                solution[places] += (
                    np.linalg.lstsq(rows / size, -at.residuals, rcond=None)[0] / size
                )
                # a difference of numbers far larger than itself is their rounding: from 1e-130 to
                # 1e-174
                lost = np.abs(solution[places]) < CANCELLED_SHARE * before
            if not left or not np.any(lost):
                break
            solution[places] = np.where(lost, 0.0, solution[places])
        return solution

    def r_squared(self, values: Any, *, origin: bool = False) -> float | None:
        """Return R² about the mean of the response, or about 0; None if the response does not vary
        there.
        """
        square, left = self.rows.weights**2, self(values).residuals
        middle = 0.0 if origin else float(np.average(self.rows.response, weights=square))
        total = float(square @ (self.rows.response - middle) ** 2)
        rounding = TERM_ROUNDING**2 * float(square @ self.rows.response**2)
        return 1 - float(left @ left) / total if total > rounding else None


def column_sizes(rows: Any) -> Any:
    """Return the lengths of columns without overflow; 1 for a zero column."""
    unit = np.exp2(np.frexp(np.max(np.abs(rows), axis=0, initial=0.0))[1] - 1)
    size = np.linalg.norm(rows / unit, axis=0) * unit
    size[size == 0] = 1.0
    return size


def projected(model: Model, start: Any) -> EndPoint:
    """Return where variable projection ends, or SciPy without parameters to project."""
    if len(model.parameters.places) < len(start):
        return searched(model, start, places=model.parameters.places)
    # once more, against the rounding errors of the first solve
    values = model.fit_linear(model.fit_linear(np.array(start, dtype=float)))
    return polished(model, values, "one linear solve")


def searched(
    model: Model,
    start: Any,
    most: int = MAX_EVALUATIONS,
    places: Collection[int] = (),
    enough: float = 0.0,
) -> EndPoint:
    """Return where SciPy ends, with the parameters at `places` projected; steps that are `enough`
    end it too.
    """
    from scipy.optimize import least_squares

    places, others = list(places), [k for k in range(len(start)) if k not in places]
    is_plain = not model.problem.bounds and model.loss == SQUARES
    message = (
        "variable projection" if places else "Levenberg-Marquardt" if is_plain else "trust regions"
    )
    theta = np.array(start, dtype=float)[others]

    def complete(theta: Any) -> Any:
        values = np.array(start, dtype=float)
        values[others] = theta
        return model.fit_linear(values) if places else values

    def slopes(theta: Any) -> Any:
        # they are asked for where a step has led
        values = complete(theta)
        at = model(values)
        model.reached.note(EndPoint(values, at.cost, math.inf, message))
        rows = at.jacobian
        if not places:
            return rows
        q, _ = np.linalg.qr(rows[:, places] / column_sizes(rows[:, places]))
        return rows[:, others] - q @ (q.T @ rows[:, others])

    more: dict[str, Any] = {"method": "lm"}
    if not is_plain or model.rows.count < len(theta):
        bounds = tuple(limit[others] for limit in model.parameters.limits)
        more = {
            "method": "trf",
            "bounds": bounds,
            "loss": model.loss.name,
            "f_scale": model.loss.scale,
        }
    more |= {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15, "max_nfev": most, "x_scale": "jac"}
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        suppress(ValueError, np.linalg.LinAlgError),
    ):
        warnings.simplefilter("ignore")
        theta = least_squares(
            lambda theta: model(complete(theta)).residuals, theta, jac=slopes, **more
        ).x
    return polished(model, complete(theta), message, enough=enough)


def _products(rows: Any, left: Any) -> Any:
    with np.errstate(over="ignore", invalid="ignore"):
        twofold: Any = two_product(rows, left[:, None])
        product, error = twofold
    # products that are finite may still have sums that are not
    if np.all(np.isfinite(error)) and float(np.max(np.abs(product), initial=0.0)) < MAX_DOUBLE / (
        2 * len(left)
    ):
        return np.array(
            [math.fsum([*x, *e]) for x, e in zip(product.T.tolist(), error.T.tolist(), strict=True)]
        )
    with np.errstate(over="ignore", invalid="ignore"):
        return rows.T @ left


def polished(model: Model, values: Any, message: str, *, enough: float = 0.0) -> EndPoint:
    """Return where steps of Gauss and Newton within the bounds lead, until one is not longer than
    `enough`.
    """
    low, high = model.parameters.limits
    here = np.array(values, dtype=float)
    cost = model(here).cost
    best, least = EndPoint(here, cost, math.inf, message), math.inf
    # to the last digit the plain steps go, and where a bound may stop them
    earlier = EarlierSteps() if enough and not model.problem.bounds else None
    for _ in range(MAX_POLISHING):
        step, overshoot, moved = gauss_newton(model, here, sharp=not enough)
        if moved >= least and (least < 1e-9 or best.moved == 0):
            best = best._replace(values=here, cost=cost) if moved < 1e-9 else best
            break
        if moved < least:
            best, least = EndPoint(here, cost, overshoot, message), moved
        if moved <= enough:
            break
        if not np.all(np.isfinite(step)) or bool(np.all(np.abs(step) <= 1e-16 * np.abs(here))):
            break
        if earlier is not None:
            there = here + earlier.combined(here, step)
            risen = model(there).cost
            if risen <= best.cost * (1 + 1e-9):
                here, cost = there, risen
                continue
        with np.errstate(all="ignore"):
            room = np.where(
                step > 0, (high - here) / step, np.where(step < 0, (low - here) / step, np.inf)
            )
        for share in STEP_SHARES:
            there = here + share * step
            if np.any(room <= share):
                wall = int(np.argmin(room))
                there = here + room[wall] * step
                there[wall] = high[wall] if step[wall] > 0 else low[wall]
            risen = model(there).cost
            if risen <= best.cost * (1 + 1e-9):
                break
        else:
            break
        here, cost = there, risen
    model.reached.note(best)
    return best


class EarlierSteps:
    """Steps of a fixed-point iteration, of which a sum converges sooner (D. G. Anderson, J. ACM 12,
    1965).
    """

    def __init__(self) -> None:
        self.points: list[Any] = []
        self.steps: list[Any] = []

    def combined(self, here: Any, step: Any) -> Any:
        """Return the step, less the part of it that differences of earlier ones explain."""
        self.points, self.steps = (
            [*self.points[-MAX_EARLIER:], here],
            [*self.steps[-MAX_EARLIER:], step],
        )
        if len(self.steps) < 2:
            return step
        changes, moves = np.diff(self.steps, axis=0).T, np.diff(self.points, axis=0).T
        size = np.max(np.abs(self.steps), axis=0) + math.ulp(0.0)
        with np.errstate(all="ignore"):
            weights = np.linalg.lstsq(changes / size[:, None], step / size, rcond=1e-10)[0]
            combined = step - (moves + changes) @ weights
        return combined if np.all(np.isfinite(combined)) else step


class _Squares(SearchProblem):
    tolerance = MAX_LAST_STEP

    def __init__(self, model: Model, end: EndPoint) -> None:
        self.model, self.end = model, end
        self.others = [
            k for k in range(len(model.parameters.free)) if k not in model.parameters.places
        ]
        n, slopes = len(self.others), model(end.values).jacobian[:, self.others]
        self.limits, self.size = [(-math.inf, math.inf)] * n, [1.0] * n
        self.spread = (
            math.sqrt(2 * end.cost / max(1, model.rows.used - len(model.parameters.free))) or 1.0
        )
        # in these units the squares curve alike in all directions
        size = column_sizes(slopes)
        upper = np.linalg.qr(slopes / size)[1]
        inverse = (
            np.linalg.inv(upper) if np.linalg.cond(upper) < 1 / NULL_SINGULAR_VALUE else np.eye(n)
        )
        self.units = self.spread * inverse / size[:, None]

    def moved(self, theta: Any) -> Any:
        point, model = np.array(self.end.values), self.model
        point[self.others] += self.units @ theta
        return (
            model.fit_linear(point) if model.parameters.places and model.loss == SQUARES else point
        )

    def row(self, x: Sequence[float]) -> DescentStep | None:
        there = self.model(self.moved(x))
        slopes = there.jacobian[:, self.others].T @ (there.residuals * there.robust.weight)
        partials = tuple((self.units.T @ slopes / self.spread**2).tolist())
        names = tuple(self.model.parameters.free[k] for k in self.others)
        step = DescentStep(0, there.cost / self.spread**2, 0.0, tuple(x), partials, names, names)
        return None if there.errors else step

    def bounded_at(
        self, row: DescentStep, x: Sequence[float] | None = None
    ) -> tuple[Bounded, list[Bounded]] | None:
        there = row if x is None else self.row(x)
        if there is None:
            return None
        value = Bounded(there.value, MAX_ROUNDING_SHARE * there.value)
        return value, [Bounded(g, MAX_LAST_STEP / 4) for g in there.partials]


def at_kink(model: Model, ended: EndPoint) -> EndPoint:
    """Return the kink to which the squares fall from a nonstationary end, if any."""
    if ended.moved <= MAX_LAST_STEP or not ended.cost < 1e200 or not model.kinks:
        return ended
    squares = _Squares(model, ended)
    n = len(squares.size)
    start = squares.row([0.0] * n)
    report = start and squares.at_kink(start)
    if report is None or report.reason != "kink":
        return ended
    kink = report.row
    directions = np.vstack(
        [np.random.default_rng(1).normal(size=(2 * n + 2, n)), np.eye(n), -np.eye(n)]
    )
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    for direction in directions:
        beside = squares.row((kink.coordinates + NEAR_KINK * direction).tolist())
        if beside is None or float(direction @ beside.partials) < -MAX_LAST_STEP:
            return ended
        steepest = max(map(abs, (*beside.partials, *kink.partials)))
        if abs(beside.value - kink.value) > 10 * NEAR_KINK * steepest * n + 1e-9 * kink.value:
            return ended  # a jump
    point = squares.moved(kink.coordinates)
    if not np.all((model.parameters.limits[0] < point) & (point < model.parameters.limits[1])):
        return ended
    return EndPoint(point, model(point).cost, 0.0, f"{ended.message}, to a kink")


def gauss_newton(model: Model, values: Any, *, sharp: bool = True) -> tuple[Any, float, float]:
    """Return the Gauss-Newton step within the bounds, and its size in standard errors.

    First the length beyond rounding, then all of it.
    """
    low, high = model.parameters.limits
    at = model(values)
    root = np.sqrt(at.robust.weight)
    rows, left = at.jacobian * root[:, None], at.residuals * root
    size = column_sizes(rows)
    scaled = rows / size
    # a bound holds what the gradient or the step drives against it
    free = ~(((values <= low) & (scaled.T @ left > 0)) | ((values >= high) & (scaled.T @ left < 0)))
    # parts below the rounding of a residual's terms say nothing
    noise = min(
        rounding_errors(model, values),
        MAX_ROUNDING_SHARE * float(np.linalg.norm(model.rows.response * at.weights)),
    )
    spread = (
        float(np.linalg.norm(left))
        / math.sqrt(max(1, model.rows.used - int(np.count_nonzero(free))))
        or 1.0
    )
    moved = math.inf
    step = np.zeros(len(free))
    while True:
        along, inward = _solve(rows[:, free], size[free], left, sharp)
        if math.isinf(moved):
            moved = float(np.linalg.norm(along)) / spread
        step[:] = 0.0
        step[free] = inward
        blocked = ((values <= low) & (step < 0)) | ((values >= high) & (step > 0))
        if not np.any(blocked):
            return step, max(0.0, moved - noise / spread), moved
        free &= ~blocked


def rounding_errors(model: Model, values: Any) -> float:
    """Return the length of the rounding errors of all residuals, from their terms."""
    at = model(values)
    root = np.sqrt(at.robust.weight)
    own = at.weights * (np.abs(model.rows.response) + np.abs(at.fitted))
    terms = root * (own + np.abs(at.jacobian) @ np.abs(values))
    return TERM_ROUNDING * float(np.linalg.norm(np.where(np.isfinite(terms), terms, 0.0)))


def _solve(rows: Any, size: Any, left: Any, sharp: bool) -> tuple[Any, Any]:
    if not rows.shape[1]:
        return np.zeros(0), np.zeros(0)
    q, r = np.linalg.qr(rows / size)
    condition = float(np.linalg.cond(r))
    if condition < 1 / NULL_SINGULAR_VALUE:
        along, size_left = q.T @ left, float(np.linalg.norm(left))
        # a large orthogonal part hides the rest in the rounding of qᵀ·left, unless that is long
        if sharp and condition * np.linalg.norm(along) < 2 * size_left:
            sharper = np.linalg.solve(r.T, _products(rows, left) / size)
            if condition * np.linalg.norm(sharper) < size_left:
                along = sharper
        return along, -np.linalg.solve(r, along) / size
    u, s, vt = np.linalg.svd(rows / size, full_matrices=False)
    good = s > NULL_SINGULAR_VALUE * s[0]
    along = u[:, good].T @ left
    return along, -vt[good].T @ (along / s[good]) / size
