"""The function that SciPy minimises, and its methods."""

from __future__ import annotations

import math
import warnings as python_warnings
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ...compiled.evaluator import Evaluator
from ...engine.numbers.budget import MINIMIZER_ITERATION, MINIMIZER_VARIABLE, current_budget
from ...engine.numerics.optimality import Single
from ...errors import Diagnosed, ExpressionError
from .convergence import (
    OUTSIDE_VALUE,
    ConvergenceReport,
    Limits,
    SearchProblem,
    SearchStopped,
    Sense,
    projected_slope,
)
from .descend import DescentStep

if TYPE_CHECKING:
    from ...compiled.data_loss import DataLoss


class Method(NamedTuple):
    """A method of SciPy."""

    scipy_name: str
    steps: int = 10_000  # by default
    needs_hessian: bool = False
    takes_bounds: bool = False
    takes_constraints: bool = False


# The methods by name. The first that takes constraints is their default.
METHODS = {
    "bfgs": Method("BFGS"),
    "cg": Method("CG"),
    "l-bfgs-b": Method("L-BFGS-B", takes_bounds=True),
    "newton-cg": Method("Newton-CG", 1000, needs_hessian=True),
    "trust-ncg": Method("trust-ncg", 1000, needs_hessian=True),
    "trust-exact": Method("trust-exact", 1000, needs_hessian=True),
    "slsqp": Method("SLSQP", 200, takes_bounds=True, takes_constraints=True),
    "trust-constr": Method("trust-constr", 1000, takes_bounds=True, takes_constraints=True),
}

UNBOUNDED_FACTOR = 1e15  # times the value at the start: a fall without bound
LONG_FALL = 1e9  # of a search that has spent its work: more of it would go on falling
MAX_ATTEMPTS = 3  # of a method that is stuck
VERDICT_SHARE = 0.5  # of the work, for the verdict

# The errors by which a method of SciPy ends without a result; the last one is that of its
# trust-exact.
FAILURES = (Diagnosed, ValueError, FloatingPointError, UnboundLocalError)


class Counts(NamedTuple):
    """How often a function was evaluated, and at how many points outside its domain."""

    evaluations: int
    outside: int


class Objective(SearchProblem):
    """The minimised function for SciPy, and the points where it was evaluated."""

    constrained = False
    """Whether a lower value may violate a constraint."""

    def __init__(
        self,
        evaluator: Evaluator | DataLoss,
        start: DescentStep,
        stop: Callable[[], bool],
        sense: Sense,
        limits: Limits,
        tolerance: float,
        constraints: Sequence[Any] = (),
    ) -> None:
        self.evaluator, self.start, self.stop, self.sense = evaluator, start, stop, sense
        self.limits, self.tolerance, self.constraints = limits, tolerance, constraints
        self.best, self.path = start, [start]
        self.boundless = False
        self.counts, self.hessians = Counts(1, 0), 0
        self.work = current_budget()
        self.reserve = VERDICT_SHARE * self.work.left

    @property
    def free(self) -> tuple[str, ...]:
        return self.start.free

    @cached_property
    def function(self) -> Single | DataLoss:  # type: ignore[override]
        return (
            Single(self.evaluator.graph)
            if isinstance(self.evaluator, Evaluator)
            else self.evaluator
        )

    def _count(self, evaluations: int = 0, outside: int = 0) -> None:
        self.counts = Counts(self.counts.evaluations + evaluations, self.counts.outside + outside)

    def point(self, x: Sequence[float]) -> dict[str, float]:
        """Return the values of all variables."""
        return {**self.start.point, **dict(zip(self.free, map(float, x), strict=True))}

    def is_feasible(self, x: Sequence[float]) -> bool:
        """Return whether all constraints hold at a point."""
        return True

    def row(self, x: Sequence[float]) -> DescentStep | None:
        if self.stop() or self.work.left < self.reserve:
            raise SearchStopped
        self.work.charge(MINIMIZER_ITERATION + len(self.free) * MINIMIZER_VARIABLE)
        self._count(evaluations=1)
        point = tuple(self.point(x).values())
        try:
            if not all(map(math.isfinite, point)):
                raise ExpressionError("overflow", "the point is too large")
            # the variables that only constraints have come last
            value, own = self.evaluator(point[: len(self.evaluator.variables)])
        except ExpressionError:
            self._count(outside=1)
            return None
        partials = (*own, *[0.0] * (len(self.free) - len(own)))
        numbers = self.counts.evaluations, value, math.hypot(*partials), point, partials
        row = DescentStep(*numbers, self.start.names, self.free, units=self.start.units)
        self.boundless = self._fell(value, UNBOUNDED_FACTOR) and self.is_feasible(x)
        if self.boundless or (value < self.best.value and not self.constrained):
            self.best = row
        if self.boundless:
            raise SearchStopped
        return row

    def _fell(self, value: float, times: float) -> bool:
        """Return whether a value is so many times that of the start below 0."""
        return value <= -times * (1 + abs(self.start.value))

    def _bounds_to_offer(self) -> tuple[str, str]:
        """Return bounds of the first variable: its own, and where it has none others around 0."""
        low, high = self.limits[0]
        if math.isinf(low):
            low = min(-10.0, high - 20)
        if math.isinf(high):
            high = max(10.0, low + 20)
        return f"{low:.6g}", f"{high:.6g}"

    def report_unbounded(self, falls: str) -> ConvergenceReport:
        """Return the report on a search without a minimum."""
        unit = (
            ""
            if self.best.units is None
            else f" {self.best.units['point'][self.best.free[0]]}".rstrip()
        )
        low, high = ("-10", "10") if unit else self._bounds_to_offer()
        ends = f"{self.best.free[0]}={low}{unit}:{high}{unit}"
        bounds = f'--bounds "{ends}"' if unit else f"--bounds {ends}"
        message = f"not converged: {self.sense.phrase(falls)}; limit it by bounds: `{bounds}`"
        return ConvergenceReport(self.best, None, reason="unbounded", message=message)

    def stop_reason(self, point: str) -> tuple[str, str]:
        """Return why the search was stopped, and release the reserve of work."""
        if self.work.left >= self.reserve:
            return "interrupted", f"interrupted: this is the {point}"
        self.reserve = 0.0
        limit = self.work.exhausted_error(self.work.most)
        return "limit", f"not converged: {limit}; {limit.hint}"

    def hessian(self, x: Any) -> Any:
        """Return the Hessian for SciPy."""
        import numpy

        self.hessians += 1
        try:
            return numpy.array(self.function.hessian(self.point(x.tolist()), self.free))
        except ExpressionError:
            # outside the domain, where the step is not taken anyway
            return numpy.eye(len(x))

    def add_to_path(self, row: DescentStep) -> None:
        """Add a point to the path, unless it is the last one there."""
        if row.coordinates != self.path[-1].coordinates:
            self.path.append(row._replace(step=len(self.path)))

    def by_scipy(self, start: DescentStep, method: str, **more: Any) -> Any:
        """Return SciPy's result from a start. Raises `FAILURES`, and `SearchStopped`."""
        import numpy
        from scipy.optimize import minimize as scipy_minimize

        def value_and_gradient(x: Any) -> tuple[float, Any]:
            row = self.row(x.tolist())
            if row is None:
                # outside the domain a very large, finite value
                return OUTSIDE_VALUE * (1 + abs(self.start.value)), numpy.zeros(len(x))
            return row.value, numpy.array(row.partials)

        def note(x: Any, state: object = None) -> None:
            self._count(evaluations=-1)
            row = self.row(x.tolist())
            if row is not None:
                self.add_to_path(row)

        with python_warnings.catch_warnings(), numpy.errstate(all="ignore"):
            python_warnings.simplefilter("ignore")
            x, name = numpy.array(start.free_values), METHODS[method].scipy_name
            return scipy_minimize(
                value_and_gradient, x, jac=True, method=name, callback=note, **more
            )

    def search(self, methods: Sequence[str], steps: int | None) -> tuple[ConvergenceReport, str]:
        """Return the report on the end of a search, and the method that found it."""
        method, limits, tolerance = methods[0], self.limits, self.tolerance
        most = METHODS[method].steps if steps is None else steps
        options: dict[str, Any] = (
            {"xtol": 1e-12} if method == "newton-cg" else {"gtol": tolerance / 10}
        )
        more: dict[str, Any] = {"hess": self.hessian} if METHODS[method].needs_hessian else {}
        if method == "l-bfgs-b":
            options |= {"ftol": 0.0, "maxfun": 10 * most, "maxls": 50}
            more = {"bounds": limits}
        ended, message = self.start, ""
        try:
            for _ in range(MAX_ATTEMPTS):
                left = most - len(self.path) + 1
                if left <= 0:
                    break
                result = self.by_scipy(ended, method, options={**options, "maxiter": left}, **more)
                before, message = ended, str(result.message)
                self._count(evaluations=-1)
                ended = min(
                    self.row(result.x.tolist()) or self.best, self.best, key=lambda row: row.value
                )
                if projected_slope(ended, limits) <= tolerance or not ended.value < before.value:
                    break
        except FAILURES as error:
            ended, message = self.best, str(error)
        except SearchStopped:
            ended, message = self.best, ""
        return self._judge(ended, message, METHODS[method].scipy_name), method

    def _judge(self, row: DescentStep, message: str, method: str) -> ConvergenceReport:
        rows = zip(*(step.free_values for step in (*self.path, row)), strict=True)
        self.size = [max(map(abs, values)) or 1.0 for values in rows]
        more = "iterations" in message.lower() or "exceeds limit" in message.lower()
        more = more and projected_slope(row, self.limits) > self.tolerance
        counts = self.counts
        try:
            if self.boundless or not message:
                raise SearchStopped
            report = self.report(row, walking=more)
        except SearchStopped:
            if self.boundless:
                return self.report_unbounded("the value falls without bound")
            reason, message = self.stop_reason("best point so far")
            if reason == "limit" and self._fell(row.value, LONG_FALL):
                # steps of a method with bounds grow slowly
                return self.report_unbounded("the value falls, it seems without bound")
            return self.report(row, walking=True)._replace(reason=reason, message=message)
        # the counts are those of the method
        self.counts = counts
        if report.reason:
            return report
        reason, message = (
            "stuck",
            f"not converged: {method} found no better point along its direction",
        )
        if more:
            reason = "steps"
            message = f"not converged after {len(self.path) - 1} steps, the most that were allowed"
        return report._replace(reason=reason, message=message)
