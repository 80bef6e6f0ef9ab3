"""Confidence intervals by profile: the sum of squares along a parameter, with the others fitted
again.

Bates and Watts, Nonlinear Regression Analysis and Its Applications (1988), 6.1: the ends are where
the sum has risen by its variance times the square of Student's t.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ...engine.graphs.higher_order import directional_in
from ...engine.numbers.base import NO_RESULT
from ...engine.numbers.budget import (
    FITTED_CALL,
    SECOND_ORDER_NODE,
    BudgetExceeded,
    charge,
    use_share,
)
from ...engine.numbers.floats import REAL
from ...errors import AutodiffError, Diagnostic, quote
from .inference import FAR_ERRORS, FAR_FACTORS, Ends, Inference
from .least_squares import SQUARES, EndPoint, Model, polished, searched

CURVED_ROWS = 60  # rows in which second derivatives are computed
MAX_BEND = 0.1  # of the half-width of an interval, by which second derivatives move an end
BUDGET_SHARE = 0.5  # of the work that is left; the rest is for the answer
FIRST_STEP = 1 / 8  # of the half-width
MAX_DOUBLINGS = 43  # of the half-width, to where the sum has not risen enough
# that show an open end, and where the sum cannot be followed further
OPEN_DOUBLINGS, MIN_DOUBLINGS = 13, 6
# of rises that level off: relative, and of one change to the one before
LEVEL_CHANGE, MAX_RATIO = 1e-4, 0.7
MAX_ROOT_STEPS = 100  # to an end
MAX_RETRIES = 4  # with a shorter step
MAX_BRANCHES = 6  # of fits with the parameter held, on the way to an end
MAX_GAP = 0.01  # of the rise between fits to both sides of an end
ROOT_ERROR = 1e-7  # of an end, relative to the half-width
FLAT_RISE = 0.1  # of the sum, in deviations, that is no rise
REFIT = 10 * FITTED_CALL  # work of a fit with a parameter held, beside its rows
SETTLED = 1e-4  # last step of a fit with a parameter held, in standard errors
POLISHED = 1e-6  # to where such a fit goes on: its sum is off by the square of that
# of a fit with a parameter held, where steps of Gauss and Newton lead nowhere
REFIT_EVALUATIONS = 100
UNDEFINED_SUM_OF_SQUARES = 1e200  # sum of squares where the model has no value
LOWER = 1e-6  # share of the sum by which another one is lower
ROUNDED_RISE = 1e6  # in rounding errors: a smaller rise of the sum is not seen


class Profiles(NamedTuple):
    """The intervals by profile, and what was met on the way."""

    ends: dict[str, Ends]
    warnings: tuple[Diagnostic, ...] = ()


def largest_bend(inference: Inference) -> float:
    """Return by how much second derivatives move an end of an interval, in half-widths, at most.

    With the others fitted again, the sum of squares along a parameter is s² + s³·(u′·u″) + s⁴·|P
    u″|²/4 - s²·(r·u″) by derivatives of the curve in its direction, in units of its standard error.
    P projects on what no parameter gives.
    """
    model, values = inference.model, inference.end.values
    sample = model.sample(CURVED_ROWS)
    share = sample.rows.count / model.rows.count
    deviation = math.sqrt(inference.scatter.variance)
    at = sample(values)
    slopes = -at.jacobian[:, inference.estimated] / inference.curvature.size
    q, _ = np.linalg.qr(slopes)
    half, largest = inference.factor, 0.0
    for name in inference.errors:
        column = inference.curvature.inverse[:, inference.names.index(name)]
        length = math.sqrt(max(column[inference.names.index(name)], 0.0))
        if not length:
            continue
        along = column / length
        first = slopes @ along
        second = _second_derivatives(
            sample,
            values,
            dict(zip(inference.names, along / inference.curvature.size, strict=True)),
        )
        second *= sample.rows.weights * deviation
        beyond = second - q @ (q.T @ second)
        skew = abs(float(first @ second)) * half / 2
        flat = float(np.linalg.norm(beyond)) ** 2 * half**2 / 8
        turned = abs(float(at.residuals @ second)) / (2 * deviation)
        largest = max(largest, skew / share, flat / share, turned / share)
    return largest


def _second_derivatives(model: Model, values: Any, along: Mapping[str, float]) -> Any:
    graph = model.problem.program.graph
    point = {
        **model.parameters.held,
        **dict(zip(model.parameters.free, map(float, values), strict=True)),
    }
    curve = {name: [x] for name, x in along.items()}
    charge(SECOND_ORDER_NODE * len(graph.places) * model.rows.count)
    second = np.zeros(model.rows.count)
    for row in range(model.rows.count):
        here = {name: float(column[row]) for name, column in model.rows.columns.items()}
        with suppress(AutodiffError, *NO_RESULT):
            second[row] = 2 * directional_in(REAL, graph, point | here, curve, 2)[2]
    return np.where(np.isfinite(second), second, 0.0)


class Unsettled(Exception):
    """A fit with a quantity held did not converge."""


class LowerSum(Exception):
    """A sum of squares is lower than the least one."""

    def __init__(self, values: Any) -> None:
        self.values = values


class Refit(NamedTuple):
    """A fit with a quantity held."""

    x: float
    rise: float  # root of the rise of the sum, in deviations
    values: Any  # of all parameters
    has_value: bool = True
    is_settled: bool = True


# A model with a quantity held, and values of its free parameters to start from.
Start = tuple[Model, Any]


class Profile(ABC):
    """The sum of squares along a quantity, with the parameters fitted again at each value of it."""

    def __init__(
        self,
        inference: Inference,
        estimate: float,
        error: float,
        limits: tuple[float, float] = (-math.inf, math.inf),
    ) -> None:
        self.model, self.limits = inference.model, limits
        self.estimate, self.half, self.factor = estimate, inference.factor * error, inference.factor
        self.least, self.variance = 2 * inference.end.cost, inference.scatter.variance
        self.middle = Refit(estimate, 0.0, inference.end.values)

    @abstractmethod
    def starts(self, x: float, near: Refit, before: Refit) -> list[Start]:
        """Return starts with the quantity at `x`, by two fits nearby; none where it has no such
        value.
        """

    @abstractmethod
    def complete(self, model: Model, values: Any) -> Any:
        """Return the values of all parameters that belong to those of a model with the quantity
        held.
        """

    def at(self, x: float, near: Refit, before: Refit) -> Refit:
        """Return the fit with the quantity at `x`, from what two fits extrapolate to. Raises
        `Unsettled`.
        """
        charge(REFIT)
        starts = [
            (model, values)
            for model, values in self.starts(x, near, before)
            if model(values).error is None
        ]
        found: list[Refit] = []
        ends = ((model, polished(model, values, "", enough=POLISHED)) for model, values in starts)
        more = (
            (model, searched(model, values, REFIT_EVALUATIONS, enough=POLISHED))
            for model, values in starts[-1:]
            if model.parameters.free
        )
        for model, end in chain(ends, more):
            found.append(self.rise(x, model, end))
            # any values show that the sum is as low as theirs, and only a minimum that it is not
            # lower
            if found[-1].rise < self.factor:
                return found[-1]
        if not starts:
            return Refit(x, math.inf, near.values, has_value=False)
        settled = [there for there in found if there.is_settled]
        if not settled:
            raise Unsettled
        return min(settled, key=lambda there: there.rise)

    def extrapolated(self, x: float, near: Refit, before: Refit) -> list[Any]:
        """Return values of all parameters at `x` by a line through two fits, and those of the
        nearer one.
        """
        if near.x == before.x:
            return [near.values]
        step = (near.values - before.values) * ((x - near.x) / (near.x - before.x))
        return [np.clip(near.values + step, *self.model.parameters.limits), near.values]

    def rise(self, x: float, model: Model, end: EndPoint) -> Refit:
        """Return a fit with the quantity at `x`, and by how much the sum has risen there."""
        values = self.complete(model, end.values)
        if not end.cost < UNDEFINED_SUM_OF_SQUARES:
            return Refit(x, math.inf, values, has_value=False)
        rise = (2 * end.cost - self.least) / self.variance
        if rise < -LOWER * (1 + self.least / self.variance):
            raise LowerSum(values)
        return Refit(x, math.sqrt(max(0.0, rise)), values, is_settled=end.moved <= SETTLED)

    def end(self, sign: int) -> float | None:
        """Return an end, or None where the sum does not rise enough however far. Raises
        `Unsettled`.
        """
        return self.end_from(self.middle, sign)

    def end_from(self, inner: Refit, sign: int) -> float | None:
        """Return an end that is met from a fit inside of it, or None where it is open. Raises
        `Unsettled`.
        """
        step = self.half * FIRST_STEP
        for _ in range(MAX_BRANCHES):
            bracket = self._bracket(inner, sign, step)
            if not isinstance(bracket, list):
                return bracket
            self._shorten(bracket)
            inner, outer = bracket
            # else another branch of fits with the quantity held, which does not meet this one
            if inner.rise > self.factor * (1 - MAX_GAP):
                return inner.x
            if (extreme := self.extreme(inner, outer)) is not None:
                return extreme
            step = 4 * abs(outer.x - inner.x)
        raise Unsettled

    def extreme(self, inner: Refit, outer: Refit) -> float | None:
        """Return the largest or least value of the quantity, if it has none on one side of two
        fits; else None.
        """
        return None

    def _beyond_if_settled(self, x: float, inner: Refit, before: Refit) -> Refit | None:
        try:
            return self._beyond(x, inner, before)
        except Unsettled:
            return None

    def _bracket(self, start: Refit, sign: int, step: float) -> list[Refit] | float | None:
        """Return fits on both sides of an end; or the end, if it is a bound; or None, if it is
        open.
        """
        bound = self.limits[1 if sign > 0 else 0]
        inner, before, rises, retries = start, start, [start.rise], 0
        for doubling in range(MAX_DOUBLINGS):
            x = inner.x + sign * step
            at_bound = sign * x >= sign * bound
            outer = self._beyond_if_settled(bound if at_bound else x, inner, before)
            is_lost = outer is None or not (outer.has_value and outer.is_settled)
            if (
                doubling >= (MIN_DOUBLINGS if is_lost else OPEN_DOUBLINGS)
                and _limit(rises) < self.factor
            ):
                return None
            if outer is None:
                # it may be too far to be found from here
                step, retries = step / 4, retries + 1
                if retries > MAX_RETRIES:
                    raise Unsettled
                continue
            if outer.rise >= self.factor:
                return [inner, outer]
            if at_bound:
                return bound
            step = 2 * step if inner is not start else step
            before, inner = inner, outer
            rises += [] if is_lost else [outer.rise]
        return None

    def _beyond(self, x: float, inner: Refit, before: Refit) -> Refit:
        """Return the fit at `x`, or at 0 on the way there, if the formula has no value with the
        quantity 0.
        """
        if x * inner.x < 0:
            zero = self.at(0.0, inner, before)
            if not zero.has_value:
                return zero
        return self.at(x, inner, before)

    def _shorten(self, ends: list[Refit]) -> None:
        """Move the fits inside and outside of an end to it."""
        from scipy.optimize import brentq

        def beyond(x: float) -> float:
            known = next((end for end in ends if end.x == x), None)
            here = known or self.at(x, ends[0], ends[1] if ends[1].has_value else ends[0])
            ends[here.rise >= self.factor] = here
            return min(here.rise, 2 * self.factor) - self.factor

        xtol = ROOT_ERROR * self.half
        brentq(
            beyond,
            ends[0].x,
            ends[1].x,
            xtol=xtol,
            rtol=ROOT_ERROR,
            maxiter=MAX_ROOT_STEPS,
            disp=False,
        )


class ProfileAlong(Profile):
    """The sum of squares along one parameter."""

    def __init__(self, inference: Inference, name: str) -> None:
        model, values = inference.model, inference.end.values
        self.name, self.k = name, model.parameters.free.index(name)
        low, high = (float(ends[self.k]) for ends in model.parameters.limits)
        super().__init__(inference, float(values[self.k]), inference.errors[name], (low, high))
        self.reduced = model.holding({name: self.estimate})

    def starts(self, x: float, near: Refit, before: Refit) -> list[Start]:
        """Return starts with the parameter at `x`."""
        parameters = self.reduced.parameters
        model = self.reduced.copy(
            parameters=parameters._replace(held={**parameters.held, self.name: x})
        )
        return [(model, np.delete(values, self.k)) for values in self.extrapolated(x, near, before)]

    def complete(self, model: Model, values: Any) -> Any:
        """Return the values of all parameters."""
        return np.insert(values, self.k, model.parameters.held[self.name])


def _limit(rises: list[float]) -> float:
    """Return to where the rises at doubled distances tend, or infinity where they do not level
    off.
    """
    if len(rises) < 3:
        return math.inf
    before, last = rises[-2] - rises[-3], rises[-1] - rises[-2]
    if abs(last) <= LEVEL_CHANGE * rises[-1]:
        return rises[-1]
    ratio = last / before if before > 0 else math.inf
    return rises[-1] + last * ratio / (1 - ratio) if 0 <= ratio <= MAX_RATIO else math.inf


def intervals_of(inference: Inference, kind: str | None) -> Profiles | None:
    """Return the intervals by profile, if they are asked for or the linear ones mislead; else
    None.
    """
    if kind == "linear" or not _can_profile(inference):
        return None
    misleads = kind == "profile" or inference.beyond_bounds() or largest_bend(inference) > MAX_BEND
    return profiles_of(inference) if misleads else None


def linear_warnings(inference: Inference, kind: str | None) -> list[Diagnostic]:
    """Return a warning where the linear intervals that were asked for mislead."""
    if kind != "linear" or not _can_profile(inference):
        return []
    bend = largest_bend(inference)
    if not bend > MAX_BEND:
        beyond = inference.beyond_bounds()
        how = f"a bound cuts that of {quote(beyond)}, and so changes those of the others"
        return [_linear_warning(how)] if beyond else []
    return [
        _linear_warning(f"second derivatives move an end by {100 * bend:.0f} % of the half-width")
    ]


def linear_warnings_beside(inference: Inference, profiles: Profiles | None) -> list[Diagnostic]:
    """Return a warning where linear intervals are asked for, and those by profile are others."""
    if profiles is None:
        return []
    largest = 0.0
    for name, ends in profiles.ends.items():
        half = inference.factor * inference.errors[name]
        for side, end in zip((-1, 1), ends, strict=True):
            linear = inference.values[name] + side * half
            largest = max(
                largest, math.inf if end is None or not half else abs(end - linear) / half
            )
    minima = [warning for warning in profiles.warnings if warning.kind == "minima"]
    if not largest > MAX_BEND:
        return minima
    how = (
        "an end by profile is open"
        if math.isinf(largest)
        else f"an end by profile is {100 * largest:.0f} % of the half-width off"
    )
    return [*minima, _linear_warning(how)]


def _linear_warning(how: str) -> Diagnostic:
    hint = "leave `--intervals linear` out: then they are by profile"
    return Diagnostic("profile", f"the linear intervals mislead: {how}", None, hint)


def far_values(inference: Inference) -> dict[str, float]:
    """Return far values at which parameters fit as well, with the others fitted again, beside
    undetermined ones.

    The inverse without null directions says nothing of a parameter whose change these make up for.
    """
    far: dict[str, float] = {}
    has_rise = (
        inference.scatter.variance > 0
        and inference.model.basis is None
        and inference.model.loss == SQUARES
    )
    names = inference.errors if inference.undetermined.null and has_rise else {}
    with suppress(BudgetExceeded), use_share(BUDGET_SHARE):
        for name, error in names.items():
            profile = ProfileAlong(inference, name)
            for x in (profile.estimate * times for times in FAR_FACTORS):
                with suppress(Unsettled, LowerSum):
                    is_far = abs(x - profile.estimate) > FAR_ERRORS * error
                    if is_far and profile.at(x, profile.middle, profile.middle).rise < FLAT_RISE:
                        far[name] = x
    return far


def profiles_of(
    inference: Inference, along: Callable[[Inference, str], ProfileAlong] = ProfileAlong
) -> Profiles:
    """Return the intervals by profile of all parameters that have a standard error."""
    ends: dict[str, Ends] = {}
    lost: list[str] = []
    try:
        with use_share(BUDGET_SHARE):
            for name in inference.errors:
                profile = along(inference, name)
                try:
                    ends[name] = profile.end(-1), profile.end(1)
                except Unsettled:
                    lost.append(name)
    except LowerSum as lower:
        return Profiles({}, (minima_warning(inference, lower),))
    except BudgetExceeded:
        lost = [name for name in inference.errors if name not in ends]
        hint = "a larger `--work` does it, or `--intervals linear`"
    else:
        hint = "take it from fits with the parameter held at values: `--fix`"
    if not lost:
        return Profiles(ends)
    message = (
        f"the interval of {quote(lost)} by profile was not found: the linear one misleads, and is"
        " left out"
    )
    return Profiles(ends, (Diagnostic("no_interval", message, None, hint),))


def minima_warning(inference: Inference, lower: LowerSum) -> Diagnostic:
    """Return the warning of a sum of squares that is lower than that of the fit."""
    # it was not found, or rejected: as a peak between two rows
    there = ",".join(
        f"{name}={x:.4g}"
        for name, x in zip(inference.model.parameters.free, lower.values, strict=True)
    )
    message = f"intervals are left out: on their way the sum of squares is lower, at {there}"
    return Diagnostic("minima", message, None, f"start there if it makes sense: `--at {there}`")


def _can_profile(inference: Inference) -> bool:
    """Return whether the sum of squares has an interval by profile that is not the linear one."""
    model, end = inference.model, inference.end
    if (
        model.loss != SQUARES
        or model.basis is not None
        or inference.undetermined.null
        or inference.outcome(False)[0] != "converged"
    ):
        return False
    if (
        len(model.parameters.linear) == len(model.parameters.free)
        and not model.rows.errors
        and not model.problem.bounds
    ):
        return False
    rounding = max(model.rows.rounding_cost, 1e-16 * end.cost)
    has_noise = bool(inference.scatter.variance * inference.factor**2 > ROUNDED_RISE * rounding)
    return has_noise and bool(inference.errors) and not inference.at_bound
