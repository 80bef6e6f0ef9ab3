"""A minimum or maximum by SciPy's optimisers, with exact gradient and Hessian."""

from __future__ import annotations

import math
import warnings as python_warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..batched.evaluator import Evaluator
from ..errors import Diagnosed, Diagnostic, ExpressionError, quote, require, usage_error
from ..inputs.figures import unsigned
from ..inputs.optional_units import program_units, with_units
from ..inputs.parse_point import Range
from ..inputs.problem import Point, Quantity, as_number, number_or_quantity, parse
from ..numbers.budget import MINIMIZER_ITERATION, MINIMIZER_VARIABLE, current_budget
from ..numerics.optimality import Single
from ..record import Record
from .convergence import SENSES, WALL, ConstraintAtPoint, ConvergenceReport, Limits, LocalModel, Sense, projected_slope
from .descend import DEFAULT_SEED, DescentStep, Init, begin_descent

if TYPE_CHECKING:
    from ..batched.data_loss import DataLoss, LossSpec, LossSummary
    from ..inputs.quantities import Units
    from .constraints import ConstrainedProblem, Constraint

METHODS = {
    "bfgs": "BFGS",
    "cg": "CG",
    "l-bfgs-b": "L-BFGS-B",
    "newton-cg": "Newton-CG",
    "trust-ncg": "trust-ncg",
    "trust-exact": "trust-exact",
    "slsqp": "SLSQP",
    "trust-constr": "trust-constr",
}
"""The methods, and what SciPy calls them."""

SECOND_ORDER = frozenset(("newton-cg", "trust-ncg", "trust-exact"))
CONSTRAINED = ("slsqp", "trust-constr")  # take constraints; the first is the default
CONVERGED = ("gradient", "precision", "kink", "kkt")  # the reasons of a search that converged

DEFAULT_TOLERANCE = 1e-8  # of partial derivatives
UNBOUNDED_FACTOR = 1e15  # times the value at the start: a fall without bound
STEPS, SECOND_ORDER_STEPS, SLSQP_STEPS = 10_000, 1_000, 200  # by default
MAX_ATTEMPTS = 3  # of a method that is stuck
VERDICT_SHARE = 0.5  # of the work, for the verdict
DATA_PASSES = 50  # through data, about
MAX_DENSE = 200  # variables of methods with whole matrices


class Minimum(Record):
    """The end point of an optimiser; `views/fields.txt` describes its fields."""

    text: str
    method: str
    value: float
    point: dict[str, float]
    gradient: dict[str, float]
    gradient_norm: float
    converged: bool
    reason: str
    message: str
    kind: str | None
    verdict: str
    at_bounds: tuple[str, ...]
    steps: int
    evaluations: int
    hessians: int
    outside: int
    path: tuple[DescentStep, ...]
    warnings: tuple[Diagnostic, ...]
    over: LossSummary | None = None
    constraints: tuple[ConstraintAtPoint, ...] | None = None
    sought: str = "minimum"
    units: Units | None = None


FAILURES = (Diagnosed, ValueError, FloatingPointError)
"""The errors by which a method of SciPy ends without a result."""


class _Stopped(Exception):
    """The search was interrupted, spent its work, or falls without bound."""


class Objective:
    """The minimised function for SciPy, and the points where it was evaluated.

    If `constrained`, a lower value may violate a constraint.
    """

    def __init__(
        self,
        evaluator: Evaluator | DataLoss,
        start: DescentStep,
        stop: Callable[[], bool],
        sense: Sense,
        limits: Limits,
        tolerance: float,
        *,
        constrained: bool,
    ) -> None:
        self.evaluator, self.start, self.stop, self.sense = evaluator, start, stop, sense
        self.limits, self.tolerance = limits, tolerance
        self.function = Single(evaluator.graph) if isinstance(evaluator, Evaluator) else evaluator
        self.where = tuple(map(start.names.index, start.free))
        self.constrained, self.boundless = constrained, False
        self.is_feasible: Callable[[Sequence[float]], bool] = lambda x: True
        self.best, self.path = start, [start]
        self.evaluations, self.hessians, self.outside = 1, 0, 0
        self.work = current_budget()
        self.reserve = VERDICT_SHARE * self.work.left

    def full(self, x: Sequence[float]) -> list[float]:
        """Return the values of all variables."""
        point = list(self.start.coordinates)
        for k, value in zip(self.where, x, strict=True):
            point[k] = float(value)
        return point

    def row(self, x: Sequence[float]) -> DescentStep | None:
        """Return value and gradient at a point, None where there is none."""
        if self.stop() or self.work.left < self.reserve:
            raise _Stopped
        self.work.charge(MINIMIZER_ITERATION + len(self.where) * MINIMIZER_VARIABLE)
        self.evaluations += 1
        point = self.full(x)
        try:
            if not all(map(math.isfinite, point)):
                raise ExpressionError("overflow", "the point is too large")
            # the variables that only constraints have come last
            value, own = self.evaluator(point[: len(self.evaluator.variables)])
        except ExpressionError:
            self.outside += 1
            return None
        partials = (*own, *[0.0] * (len(self.where) - len(own)))
        numbers = self.evaluations, value, math.hypot(*partials), tuple(point), partials
        row = DescentStep(*numbers, self.start.names, self.start.free, units=self.start.units)
        self.boundless = value <= -UNBOUNDED_FACTOR * (1 + abs(self.start.value)) and self.is_feasible(x)
        if self.boundless or (value < self.best.value and not self.constrained):
            self.best = row
        if self.boundless:
            raise _Stopped
        return row

    def unbounded(self, falls: str) -> ConvergenceReport:
        """Return the report on a search without a minimum."""
        unit = "" if self.best.units is None else f" {self.best.units['point'][self.best.free[0]]}".rstrip()
        ends = f"{self.best.free[0]}=-10{unit}:10{unit}"
        bounds = f"--bounds {ends}" if not unit else f'--bounds "{ends}"'
        message = f"not converged: {self.sense.say(falls)}; limit it by bounds: `{bounds}`"
        return ConvergenceReport(self.best, None, reason="unbounded", message=message)

    def value_and_gradient(self, x: Any) -> tuple[float, Any]:
        """Return both for SciPy; outside the domain a very large, finite value."""
        import numpy

        row = self.row(x.tolist())
        if row is None:
            return WALL * (1 + abs(self.start.value)), numpy.zeros(len(x))
        return row.value, numpy.array(row.partials)

    def hessian(self, x: Any) -> Any:
        """Return the Hessian for SciPy."""
        import numpy

        self.hessians += 1
        values = dict(zip(self.start.names, self.full(x.tolist()), strict=True))
        try:
            return numpy.array(self.function.hessian(values, self.start.free))
        except ExpressionError:
            # outside the domain, where the step is not taken anyway
            return numpy.eye(len(x))

    def note(self, x: Any, state: object = None) -> None:
        """Add a step to the path; some of SciPy's methods pass `state`."""
        self.evaluations -= 1
        row = self.row(x.tolist())
        if row is not None:
            self.reach(row)

    def reach(self, row: DescentStep) -> None:
        """Add a point to the path, unless it is the last one there."""
        if row.coordinates != self.path[-1].coordinates:
            self.path.append(row._replace(step=len(self.path)))

    def stopped(self, point: str) -> tuple[str, str]:
        """Return why the search was stopped, and release the reserve of work."""
        if self.work.left >= self.reserve:
            return "interrupted", f"interrupted: this is the {point}"
        self.reserve = 0.0
        limit = self.work.exhausted(self.work.most)
        return "limit", f"not converged: {limit}; {limit.hint}"

    def by_scipy(self, start: DescentStep, method: str, **more: Any) -> Any:
        """Return SciPy's result from a start. Raises `FAILURES`, and `_Stopped`."""
        import numpy
        from scipy.optimize import minimize as scipy_minimize

        with python_warnings.catch_warnings(), numpy.errstate(all="ignore"):
            python_warnings.simplefilter("ignore")
            x = numpy.array([start.point[name] for name in start.free])
            method, note = METHODS[method], self.note
            return scipy_minimize(self.value_and_gradient, x, jac=True, method=method, callback=note, **more)


def minimize(
    text: str,
    point: Point | None = None,
    *,
    wrt: Sequence[str] | None = None,
    method: str | None = None,
    bounds: Mapping[str, Range] | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    steps: int | None = None,
    subject_to: str | Sequence[str] = (),
    stop: Callable[[], bool] = lambda: False,
    over: LossSpec | None = None,
    init: str | None = None,
    seed: int = DEFAULT_SEED,
    maximize: bool = False,
    units: Sequence[str] | str | None = None,
    held: Collection[str] = (),
) -> Minimum:
    """Return a minimum, or maximum, of the program `text` by SciPy from the start `point`.

    `method` is one of `METHODS`, by default `bfgs`; `l-bfgs-b` with `bounds` or many variables; `slsqp` with
    constraints `subject_to`, such as `x + y <= 1`. The search is in the units of the start, the value in one of
    `units`. Once `stop` says so, the best point so far is returned. With data `over`, the program is one row's term.
    Raises `ExpressionError` as `gradient` does at the start, and `usage` without SciPy.
    """
    sense = SENSES[maximize]
    message = sense.say("`minimize` needs SciPy, the extra `optimize`")
    require("scipy.optimize", "optimize", message, "; `autodiff descend` needs nothing")
    from .constraints import ConstrainedProblem, parse_constraints  # they need SciPy

    constraints: Sequence[Constraint] = parse_constraints(subject_to)
    chosen = _checked(method, bounds or {}, constraints, tolerance)
    constrained = chosen in CONSTRAINED
    # variables that only constraints have are no variables of the program
    point, own_wrt, only_constrained = point or {}, wrt, {}
    if constrained:
        point = with_units(point)
        more = {name for constraint in constraints for name in constraint.program.leaves}
        own = parse(text, list(point), units=True).variables
        only_constrained = {name: value for name, value in point.items() if name in more and name not in own}
        own_wrt = None if wrt is None else [name for name in wrt if name in own or name not in more]
    own_point = {name: value for name, value in point.items() if name not in only_constrained}
    drawn = None if init is None else Init(init, seed)
    evaluator, own_start, warnings, over_rows = begin_descent(
        text, own_point, own_wrt, over, DATA_PASSES, drawn, negative=maximize, units=units, held=held
    )
    start = own_start
    if constrained:
        start = _with_variables(start, constraints, only_constrained, held if wrt is None else None, wrt or ())
    constraints = [_in_own_units(constraint, {**start.point, **point}) for constraint in constraints]
    more_in_units = start.names != own_start.names and start.units is not None
    has_units = any(constraint.unit for constraint in constraints) or more_in_units
    if has_units or any(hasattr(x, "unit") for x in only_constrained.values()):
        from ..inputs.quantities import step_units
        from ..quantities.unit import Unit

        value = Unit() if start.units is None else start.units["value"]
        of_point = {name: getattr(point.get(name), "unit", Unit()) for name in start.names}
        start = start._replace(units=step_units(value, of_point, start.free))
    limits = _limits(start, bounds or {})
    objective = Objective(evaluator, start, stop, sense, limits, tolerance, constrained=constrained)
    if constrained:
        problem = ConstrainedProblem(objective, constraints, own_start.free)
        end, chosen = _search_constrained(objective, problem, [method] if method else CONSTRAINED, steps)
    else:
        if method is None and len(start.free) > MAX_DENSE:
            chosen = "l-bfgs-b"
        try:
            ended, message = _search(objective, chosen, steps)
        except _Stopped:
            ended, message = objective.best, ""
        end = _judged(objective, ended, message, chosen)
    shown, at_point = end.row.units, end.constraints
    if at_point is not None and shown is not None:
        from ..quantities.unit import Unit

        value, slacks = shown["value"].degree, [constraint.unit or Unit() for constraint in constraints]
        of_constraint = [{"slack": unit, "multiplier": value / unit} for unit in slacks]
        shown = type(shown)(**shown, constraints=of_constraint)
        shown.fixed = bool(units)
    objective.reach(end.row)
    path, row = objective.path, end.row
    if maximize:
        path, row = [_negative(step) for step in path], _negative(row)
        # of an equation the multiplier is a derivative of the value, which is the negative
        at_point = at_point and tuple(
            of._replace(multiplier=unsigned(-of.multiplier)) if constraint.equality else of
            for of, constraint in zip(at_point, constraints, strict=True)
        )
    reached = row.point
    return Minimum(
        text=text,
        method=chosen,
        value=unsigned(row.value),
        point={name: unsigned(x) for name, x in reached.items()},
        gradient={name: unsigned(x) for name, x in row.gradient.items()},
        gradient_norm=row.gradient_norm,
        converged=end.reason in CONVERGED,
        reason=end.reason,
        message=end.message,
        kind=end.kind and sense.say(end.kind),
        verdict=end.verdict,
        at_bounds=tuple(name for name, ends in zip(row.free, limits, strict=True) if reached[name] in ends),
        steps=len(objective.path) - 1,
        evaluations=objective.evaluations,
        hessians=objective.hessians,
        outside=objective.outside,
        path=tuple(path),
        warnings=(*warnings, *end.kinks),
        over=over_rows,
        constraints=(at_point or ()) if constrained else None,
        sought=sense.say("minimum"),
        units=shown,
    )


def _negative(row: DescentStep) -> DescentStep:
    return row._replace(value=unsigned(-row.value), partials=tuple(unsigned(-slope) for slope in row.partials))


def _with_variables(
    start: DescentStep,
    constraints: Sequence[Constraint],
    values: Mapping[str, float | str],
    held: Collection[str] | None,
    wrt: Sequence[str],
) -> DescentStep:
    more = [name for constraint in constraints for name in constraint.program.leaves]
    extra = [name for name in dict.fromkeys(more) if name not in start.names]
    if lacking := [name for name in extra if name not in values]:
        message = f"`{lacking[0]}` of a constraint has no value"
        hint = f"give it: `--at {lacking[0]}=…`; a start, or with `--wrt` a value"
        raise ExpressionError("missing_value", message, hint=hint)
    free = [name for name in extra if (name in wrt if held is None else name not in held)]
    numbers = [x.number if type(x := values[name]) is Quantity else as_number(x, name) for name in extra]
    return start._replace(
        names=(*start.names, *extra),
        free=(*start.free, *free),
        coordinates=(*start.coordinates, *numbers),
        partials=(*start.partials, *(0.0 for _ in free)),
    )


def _in_own_units(constraint: Constraint, point: Mapping[str, float | str]) -> Constraint:
    program = constraint.program
    try:
        measured = program_units(program, {name: number_or_quantity(point[name], name) for name in program.leaves})
    except ExpressionError as error:
        error.text = error.text or program.text
        raise
    if measured is None:
        return constraint
    return constraint._replace(program=measured.in_own_units(program), unit=measured.outputs[0])


def _search_constrained(
    objective: Objective, problem: ConstrainedProblem, methods: Sequence[str], steps: int | None
) -> tuple[ConvergenceReport, str]:
    import numpy

    best: ConvergenceReport | None = None
    reason = message = ""
    method = methods[0]
    try:
        for name in methods:
            start = objective.start if best is None else best.row
            try:
                usual = SLSQP_STEPS if name == "slsqp" else SECOND_ORDER_STEPS
                more = problem.for_scipy(name, usual if steps is None else steps)
                result = objective.by_scipy(start, name, **more).x.tolist()
            except FAILURES:
                last = objective.path[-1].point
                result = [last[variable] for variable in start.free]
            try:
                objective.row(result)
                counts = objective.evaluations, objective.outside
                with numpy.errstate(all="ignore"):
                    values, report = problem.nearby(numpy.array(result))
                objective.evaluations, objective.outside = counts
            except ExpressionError as error:
                message = message or f"not converged: {error}"
                continue
            row = objective.row(values.tolist())
            if row is not None and (best is None or report.reason):
                best, method = replace(report, row=row), name
            if report.reason:
                break
    except _Stopped:
        if objective.boundless:
            return objective.unbounded("the value falls without bound along the constraints"), method
        reason, message = objective.stopped("last point")
    if best is None:
        return ConvergenceReport(objective.path[-1], None, "", reason or "stuck", message or "not converged"), method
    if not best.reason:
        best = replace(best, reason=reason or "stuck", message=message or best.message)
    return best, method


def _checked(
    method: str | None, bounds: Mapping[str, Range], constraints: Sequence[Constraint], tolerance: float
) -> str:
    chosen = method or (CONSTRAINED[0] if constraints else "l-bfgs-b" if bounds else "bfgs")
    if constraints and chosen not in CONSTRAINED:
        hint = "use `--method slsqp` or `--method trust-constr`"
        raise usage_error(f"the method {chosen} takes no constraints", hint)
    if bounds and chosen not in ("l-bfgs-b", *CONSTRAINED):
        raise usage_error(f"the method {chosen} takes no bounds", "use `--method l-bfgs-b`")
    if not 0 < tolerance < math.inf:
        raise usage_error(f"the tolerance cannot be {tolerance:g}", "give a positive number")
    return chosen


def _limits(start: DescentStep, bounds: Mapping[str, Range]) -> list[tuple[float, float]]:
    if start.units is None:
        bounds = {name: Range(*(x if x is None else as_number(x, name) for x in ends)) for name, ends in bounds.items()}
    else:
        from ..inputs.quantities import ranges_in  # only units need it

        bounds = ranges_in(bounds, start.units["point"])
    for name, limits in bounds.items():
        if name not in start.free:
            why = "is held fixed" if name in start.names else "is not a variable of this program"
            raise usage_error(f"`{name}` has bounds and {why}", f"the variables that move: {quote(start.free)}")
        limits.check_start(name, start.point[name])
    return [bounds.get(name, Range(None, None)).ends for name in start.free]


def _search(objective: Objective, method: str, steps: int | None) -> tuple[DescentStep, str]:
    limits, tolerance = objective.limits, objective.tolerance
    most = (SECOND_ORDER_STEPS if method in SECOND_ORDER else STEPS) if steps is None else steps
    options: dict[str, Any] = {"xtol": 1e-12} if method == "newton-cg" else {"gtol": tolerance / 10}
    more: dict[str, Any] = {"hess": objective.hessian} if method in SECOND_ORDER else {}
    if method == "l-bfgs-b":
        options |= {"ftol": 0.0, "maxfun": 10 * most, "maxls": 50}
        more = {"bounds": limits}
    ended, message = objective.start, ""
    for _ in range(MAX_ATTEMPTS):
        left = most - len(objective.path) + 1
        if left <= 0:
            break
        try:
            result = objective.by_scipy(ended, method, options={**options, "maxiter": left}, **more)
        except FAILURES as error:
            return objective.best, str(error)
        before, message = ended, str(result.message)
        objective.evaluations -= 1
        ended = min(objective.row(result.x.tolist()) or objective.best, objective.best, key=lambda row: row.value)
        if projected_slope(ended, limits) <= tolerance or not ended.value < before.value:
            break
    return ended, message


def _judged(objective: Objective, row: DescentStep, message: str, method: str) -> ConvergenceReport:
    limits, tolerance = objective.limits, objective.tolerance
    size = [max(abs(step.coordinates[k]) for step in (*objective.path, row)) or 1.0 for k in objective.where]
    model = LocalModel(objective.row, objective.function, limits, size, tolerance, objective.sense)
    more = "iterations" in message.lower() or "exceeds limit" in message.lower()
    more = more and projected_slope(row, limits) > tolerance
    counts = objective.evaluations, objective.outside
    try:
        if objective.boundless or not message:
            raise _Stopped
        report = model.report(row, walking=more)
    except _Stopped:
        if objective.boundless:
            return objective.unbounded("the value falls without bound")
        reason, message = objective.stopped("best point so far")
        return replace(model.report(row, walking=True), reason=reason, message=message)
    # the counts are those of the method
    objective.evaluations, objective.outside = counts
    if report.reason:
        return report
    if projected_slope(report.row, limits) <= tolerance:
        at_bounds = f"held by the bounds of {', '.join(report.held)}, and no other" if report.held else "no"
        message = f"converged: {at_bounds} partial derivative is larger than {tolerance:g}"
        return replace(report, reason="gradient", message=message)
    if more:
        message = f"not converged after {len(objective.path) - 1} steps, the most that were allowed"
        return replace(report, reason="steps", message=message)
    message = f"not converged: {METHODS[method]} found no better point along its direction"
    return replace(report, reason="stuck", message=message)
