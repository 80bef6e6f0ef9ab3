"""Intervals by profile of functions of the parameters: the sum of squares along a function, with
the parameters fitted.

At each value of the function one parameter, the pivot, follows from the others, which are fitted
again. The interval of a function has its values where the sum of squares is not too large: Bates
and Watts, Nonlinear Regression Analysis and Its Applications (1988), 6.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...compiled.kernels import ProgramOverRows
from ...engine.numbers.budget import BudgetExceeded
from ...errors import Diagnostic, ExpressionError
from .inference import Ends, Inference
from .least_squares import Model, Reached
from .likelihood import CountDistribution, LikelihoodProfile, deviance_at
from .profiles import ROOT_ERROR, LowerSum, Profile, Refit, Start, Unsettled, minima_warning

MAX_PIVOT_STEPS = 60  # of Newton's method to the value of the pivot
MAX_HALVINGS = 30  # of such a step, to where the function is nearer to its value
PIVOT_ERROR = 1e-13  # of the function, in half-widths of its interval, at which the pivot is found
MAX_PIVOT_ERROR = 1e-7  # up to which rounding may leave it
# of a function's slope at the estimates, in standard errors, near where it turns
TURNED_SLOPE = 0.05
MAX_RAYS = 60  # from the estimates to where the sum of squares is as large as at an end
RAY_STEPS = 12  # to there
RAY_GROWTH, RAY_SHRINKAGE = 1.6, 0.6  # of the length of a ray in such a step
OUTSIDE = 10 * ROOT_ERROR  # of the half-width, by which a value is outside of an interval

# Returns a function of the parameters with its derivatives by them; None where it has no value.
Function = Callable[[Mapping[str, float]], tuple[float, Mapping[str, float]] | None]


class LevelSurface(Model):
    """A model over the parameters other than a pivot, which has the value that gives a function its
    own.
    """

    def __init__(self, profile: FunctionProfile, level: float, near: Any) -> None:
        whole, slopes = profile.model, profile.slopes(near)
        pivot = profile.pivot(slopes)
        held = whole.parameters.holding({whole.parameters.free[pivot]: float(near[pivot])})
        # linear parameters are linear on the surface only if the function is
        vars(self).update(vars(whole.copy(parameters=held._replace(places=[]), reached=Reached())))
        self.whole, self.profile, self.level, self.k = whole, profile, level, pivot
        self.near, self.slopes_near = near, slopes

    def complete(self, values: Any) -> Any | None:
        """Return the values of all parameters, the pivot by Newton's method; None if it has
        none.
        """
        moved = np.asarray(values, dtype=float) - np.delete(self.near, self.k)
        pivot = (
            self.near[self.k]
            - float(np.delete(self.slopes_near, self.k) @ moved) / self.slopes_near[self.k]
        )
        whole = np.insert(np.asarray(values, dtype=float), self.k, pivot)
        at = self.profile.value(whole)
        if at is None:
            whole[self.k] = self.near[self.k]
            at = self.profile.value(whole)
        for _ in range(MAX_PIVOT_STEPS):
            if at is None or not math.isfinite(at[0]):
                return None
            left, slope = at[0] - self.level, float(at[1][self.k])
            if abs(left) <= PIVOT_ERROR * self.profile.half or not slope:
                break
            closer = self._closer(whole, left, slope)
            if closer is None:
                break
            whole, at = closer
        low, high = (float(ends[self.k]) for ends in self.whole.parameters.limits)
        is_found = at is not None and abs(at[0] - self.level) <= MAX_PIVOT_ERROR * self.profile.half
        return whole if is_found and low <= whole[self.k] <= high else None

    def _closer(
        self, whole: Any, left: float, slope: float
    ) -> tuple[Any, tuple[float, Any]] | None:
        """Return where a step of the pivot, halved if need be, takes the function nearer to its
        value.
        """
        for halvings in range(MAX_HALVINGS):
            there = whole.copy()
            there[self.k] -= left / slope * 0.5**halvings
            at = self.profile.value(there)
            if at is not None and abs(at[0] - self.level) < abs(left):
                return there, at
        return None

    def _swept(
        self, over_rows: ProgramOverRows, values: Any, columns: Mapping[str, Any]
    ) -> tuple[Any, Any, dict[int, ExpressionError]]:
        others = len(self.parameters.free)
        whole = self.complete(values)
        if whole is None:
            more = len(self.rows.errors) if over_rows is self._around else 0
            error = ExpressionError("domain", "no value of a parameter gives the function this one")
            return (
                np.full(self.rows.count, np.nan),
                np.full((others + more, self.rows.count), np.nan),
                {0: error},
            )
        self.evaluations += 1
        fitted, slopes, errors = self.whole.copy(rows=self.rows)._swept(over_rows, whole, columns)
        own, more_slopes = slopes[: others + 1], slopes[others + 1 :]
        of_function = self.profile.slopes(whole)
        with np.errstate(all="ignore"):
            along = np.delete(of_function, self.k) / of_function[self.k]
            reduced = np.delete(own, self.k, axis=0) - np.outer(along, own[self.k])
        return fitted, np.concatenate([reduced, more_slopes]), errors


class FunctionProfile(Profile):
    """The sum of squares along a function of the parameters."""

    def __init__(self, inference: Inference, function: Function) -> None:
        self.function, self.names = function, inference.model.parameters.free
        self.kept: tuple[bytes, tuple[float, Any] | None] = (b"", None)
        values, curvature = inference.end.values, inference.curvature
        at = self.value(values)
        if at is None:
            raise Unsettled
        # the covariance of the parameters, and the direction in which the function changes at the
        # least sum
        covariance = curvature.inverse / np.outer(curvature.size, curvature.size)
        self.errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
        variance = float(at[1] @ covariance @ at[1])
        if not variance > 0:
            raise Unsettled
        self.covariance, self.direction = covariance, covariance @ at[1] / variance
        self.error = math.sqrt(variance)
        super().__init__(inference, at[0], math.sqrt(variance * inference.scatter.variance))
        low, high = self.model.parameters.limits
        self.is_free = np.isinf(low) & np.isinf(high)

    def value(self, values: Any) -> tuple[float, Any] | None:
        """Return the function and its derivatives by the parameters; None where it has no value."""
        key = np.asarray(values, dtype=float).tobytes()
        if self.kept[0] != key:
            at = self.function(dict(zip(self.names, map(float, values), strict=True)))
            slopes = None if at is None else np.array([at[1].get(name, 0.0) for name in self.names])
            self.kept = key, None if at is None or slopes is None else (at[0], slopes)
        return self.kept[1]

    def slopes(self, values: Any) -> Any:
        """Return the derivatives by the parameters where the function has a value."""
        at = self.value(values)
        assert at is not None
        return at[1]

    def pivot(self, slopes: Any) -> int:
        """Return the parameter that moves the function most, by its standard error, without bounds
        if one is.
        """
        moves = np.abs(slopes) * self.errors
        unbounded = moves * self.is_free
        return int(np.argmax(unbounded if np.any(unbounded) else moves))

    def starts(self, x: float, near: Refit, before: Refit) -> list[Start]:
        """Return starts with the function at `x`."""
        places = self.extrapolated(x, near, before)
        if near.x == before.x:
            linear = near.values + self.direction * (x - near.x)
            places.insert(0, np.clip(linear, *self.model.parameters.limits))
        found: list[Start] = []
        for values in places:
            at = self.value(values)
            if at is None or not np.all(np.isfinite(at[1])) or not np.any(at[1]):
                continue
            surface = LevelSurface(self, x, values)
            others = np.delete(values, surface.k)
            if surface.complete(others) is not None:
                found.append((surface, others))
        return found

    def complete(self, model: Model, values: Any) -> Any:
        """Return the values of all parameters."""
        assert isinstance(model, LevelSurface)
        whole = model.complete(values)
        return np.insert(values, model.k, math.nan) if whole is None else whole

    def extreme(self, inner: Refit, outer: Refit) -> float | None:
        """Return the largest or least value of the function, near which its slopes vanish."""
        at = self.value(inner.values)
        if outer.has_value or at is None:
            return None
        slope = math.sqrt(max(0.0, float(at[1] @ self.covariance @ at[1])))
        return at[0] if slope <= TURNED_SLOPE * self.error else None

    def rise_at(self, values: Any) -> float:
        """Return by how much the sum has risen at values of all parameters, as a root in
        deviations.
        """
        at = self.model(values)
        if at.error is not None or not math.isfinite(at.cost):
            return math.inf
        return math.sqrt(max(0.0, (2 * at.cost - self.least) / self.variance))

    def inside(self) -> list[Refit]:
        """Return points where the sum of squares is not too large, far from the estimates in some
        directions.

        They are along the axes of the linear confidence region, and to where a parameter has its
        ends there.
        """
        columns = [self.covariance[:, k] / self.errors[k] for k in np.flatnonzero(self.errors)]
        scaled = self.covariance / np.outer(self.errors, self.errors)
        lengths, axes = np.linalg.eigh(np.where(np.isfinite(scaled), scaled, 0.0))
        columns += [
            self.errors * axis * math.sqrt(max(0.0, x))
            for x, axis in zip(lengths, axes.T, strict=True)
        ]
        reach = self.half / self.error
        rays = [sign * reach * column for column in columns[: MAX_RAYS // 2] for sign in (-1, 1)]
        found = []
        for ray in rays:
            values = self._farthest(ray)
            at = None if values is None else self.value(values)
            if at is not None and math.isfinite(at[0]):
                found.append(Refit(at[0], self.rise_at(values), values))
        return found

    def _farthest(self, ray: Any) -> Any | None:
        """Return a point on a ray from the estimates where the sum is not too large."""
        low, high = self.model.parameters.limits
        share, reached = 1.0, None
        for _ in range(RAY_STEPS):
            there = self.middle.values + share * ray
            is_inside = (
                bool(np.all((low <= there) & (there <= high))) and self.rise_at(there) < self.factor
            )
            if is_inside:
                reached = there
            elif reached is not None:
                break
            share *= RAY_GROWTH if is_inside else RAY_SHRINKAGE
        return reached

    def ends(self) -> Ends:
        """Return both ends. Raises `Unsettled` or `LowerSum`."""
        ends = [self.end(-1), self.end(1)]
        for point in self.inside():
            for k, sign in enumerate((-1, 1)):
                own = ends[k]
                if own is not None and sign * (point.x - own) > OUTSIDE * self.half:
                    # another branch, which the profile from the estimates does not meet
                    beyond = self.end_from(point, sign)
                    ends[k] = None if beyond is None else sign * max(sign * own, sign * beyond)
        return ends[0], ends[1]


class LikelihoodFunctionProfile(LikelihoodProfile, FunctionProfile):
    """The deviance along a function of the parameters."""

    def __init__(self, inference: Inference, function: Function, family: CountDistribution) -> None:
        self.family = family
        super().__init__(inference, function)

    def rise_at(self, values: Any) -> float:
        """Return by how much the deviance has risen, as a root."""
        with np.errstate(all="ignore"):
            risen = deviance_at(self.model, self.family, values) - self.least
        return math.sqrt(max(0.0, risen)) if math.isfinite(risen) else math.inf


def function_ends(
    inference: Inference, family: CountDistribution | None, function: Function, name: str
) -> tuple[Ends | None, Diagnostic | None]:
    """Return the ends of a function's interval by profile; None and a warning if they are not
    found.
    """
    hint = "fit again with the quantity as a parameter"
    try:
        with np.errstate(all="ignore"):
            if family is None:
                return FunctionProfile(inference, function).ends(), None
            return LikelihoodFunctionProfile(inference, function, family).ends(), None
    except LowerSum as lower:
        return None, minima_warning(inference, lower)
    except BudgetExceeded:
        hint = "a larger `--work` does it"
    except (Unsettled, ArithmeticError, np.linalg.LinAlgError):
        pass
    message = f"the interval of `{name}` by profile was not found, and the linear one misleads"
    return None, Diagnostic("no_interval", message, None, hint)
