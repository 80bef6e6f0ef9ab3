"""A minimum or maximum by SciPy's optimisers, which are given the exact gradient and the exact Hessian."""

from __future__ import annotations

import math
import warnings as python_warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..batched.evaluator import Evaluator
from ..errors import Diagnosed, Diagnostic, ExpressionError, needed, quoted, usage_error
from ..inputs.bounds import Range
from ..inputs.figures import unsigned
from ..inputs.measured_points import program_units, with_units
from ..inputs.problem import Point, Quantity, as_number, number_or_quantity, parse
from ..numbers.budget import MINIMIZER_ITERATION, MINIMIZER_VARIABLE, Work, current
from ..numerics.optimality import Single
from ..record import Record
from .constraints import KINDS, Conditions, ConstrainedProblem, Constraint, ConstraintAtPoint, parse_constraints
from .convergence import MAXIMIZE, MINIMIZE, ConvergenceReport, Limits, LocalModel, Sense, projected
from .descend import DescentStep, begin
from .starts import SEED, Init

if TYPE_CHECKING:
    from ..batched.data_loss import DataLoss, LossSpec, LossSummary
    from ..inputs.quantities import Units
    from ..quantities.unit import Unit

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

CONSTRAINED = ("slsqp", "trust-constr")
"""The methods that take constraints; the first is the one that is taken unless another is chosen."""

TOLERANCE = 1e-8
"""The largest partial derivative at which a point counts as stationary."""

WALL = 1e10
"""How large, in terms of the value at the start, the function is taken to be outside its domain."""

BOUNDLESS = 1e15
"""A value that has fallen this far below 0, in terms of the one at the start, is taken to fall for ever."""

STEPS, SECOND_ORDER_STEPS, SLSQP_STEPS = 10_000, 1_000, 200
"""How many steps a method may take, unless it is said otherwise; SLSQP has come to its end after some tens."""

ATTEMPTS = 3
"""How often a method that is stuck begins again from where it is."""

RESERVE = 0.5
"""Which share of the work is kept for the verdict."""

PASSES = 50
"""How often a search goes through data, about."""

MOST_DENSE = 200
"""With more variables `l-bfgs-b` is the method unless another is chosen: the others go through whole matrices, for
seconds at a time where there are thousands of variables, and in that time see no interruption."""

CONVERGED = ("gradient", "precision", "kink", "kkt")
"""The reasons that are those of a search which has found what it was to find."""


class Minimum(Record):
    """The end point of an optimiser, its kind, and the cost of the search."""

    text: str
    method: str
    value: float
    point: dict[str, float]
    """The value of every variable, also of those held fixed."""
    gradient: dict[str, float]
    """The derivatives there, by the variables that moved."""
    gradient_norm: float
    converged: bool
    reason: str
    """Why it stopped: `gradient`, `precision`, `kink`, `kkt`; `steps`, `unbounded`, `unattained`, `edge`, `held up`,
    `stuck`; `limit`; `interrupted`."""
    message: str
    """The reason in words."""
    kind: str | None
    """The kind of point: `minimum`, `saddle`, `maximum`, `flat`, `kink`, `not stationary`; None if it is unknown."""
    verdict: str
    """The kind in words, with the reason."""
    at_bounds: tuple[str, ...]
    """The variables that are at a bound."""
    steps: int
    evaluations: int
    """Of value and gradient together."""
    hessians: int
    outside: int
    """How many of the evaluations fell on points without a value."""
    path: tuple[DescentStep, ...]
    """The points that it went through, the start first."""
    warnings: tuple[Diagnostic, ...]
    over: LossSummary | None = None
    """The rows of data that the value is the sum or mean over, if it is."""
    constraints: tuple[ConstraintAtPoint, ...] | None = None
    """The constraints with their multipliers, if there are any."""
    sought: str = "minimum"
    """The kind that was looked for: `minimum` or `maximum`."""
    units: Units | None = None
    """The units of its numbers; None where they have none."""


FAILURES = (Diagnosed, ValueError, FloatingPointError)
"""The errors by which a method of SciPy ends without a result."""


class _Stopped(Exception):
    """The work was to end early."""


@dataclass(slots=True)
class Objective:
    """The function that is minimised, as SciPy wants it, and the points that it has been evaluated at.

    Where a maximum is looked for, it is the negative of the program's.
    """

    evaluate: Callable[[Sequence[float]], tuple[float, list[float]]]
    start: DescentStep
    where: tuple[int, ...]
    """Which of the variables move."""
    stop: Callable[[], bool]
    function: Single | DataLoss
    best: DescentStep = field(init=False)
    path: list[DescentStep] = field(init=False)
    evaluations: int = 1
    hessians: int = 0
    outside: int = 0
    boundless: bool = False
    sense: Sense = MINIMIZE
    constrained: bool = False
    """Whether a lower value may be outside of what is allowed."""
    work: Work = field(default_factory=current)
    reserve: float = field(init=False)
    """Steps of work that are kept for saying what the search has come to."""

    def __post_init__(self) -> None:
        self.best = self.start
        self.path = [self.start]
        self.reserve = RESERVE * self.work.left

    @property
    def exhausted(self) -> bool:
        """Whether no more work may go into the search."""
        return self.work.left < self.reserve

    def full(self, x: Sequence[float]) -> list[float]:
        """The values of all variables."""
        point = list(self.start.coordinates)
        for k, value in zip(self.where, x, strict=True):
            point[k] = float(value)
        return point

    def row(self, x: Sequence[float]) -> DescentStep | None:
        """Value and gradient at a point, None where there is none."""
        if self.stop() or self.exhausted:
            raise _Stopped
        self.work.charge(MINIMIZER_ITERATION + len(self.where) * MINIMIZER_VARIABLE)
        self.evaluations += 1
        point = self.full(x)
        try:
            if not all(map(math.isfinite, point)):
                raise ExpressionError("overflow", "the point is too large")
            value, partials = self.evaluate(point)
        except ExpressionError:
            self.outside += 1
            return None
        row = self.start._replace(
            step=self.evaluations,
            value=value,
            gradient_norm=math.hypot(*partials),
            coordinates=tuple(point),
            partials=tuple(partials),
        )
        if value < self.best.value and not self.constrained:
            self.best = row
            if value <= -BOUNDLESS * (1 + abs(self.start.value)):
                self.boundless = True
                raise _Stopped
        return row

    def value_and_gradient(self, x: Any) -> tuple[float, Any]:
        """For SciPy: outside the domain the value is very large, so that a line search turns back.

        An infinite one would leave it with nothing to interpolate.
        """
        import numpy

        row = self.row(x.tolist())
        if row is None:
            return WALL * (1 + abs(self.start.value)), numpy.zeros(len(x))
        return row.value, numpy.array(row.partials)

    def hessian(self, x: Any) -> Any:
        """For SciPy: the exact matrix of second derivatives."""
        import numpy

        self.hessians += 1
        values = dict(zip(self.start.names, self.full(x.tolist()), strict=True))
        try:
            return numpy.array(self.function.hessian(values, self.start.free))
        except ExpressionError:
            # asked for outside the domain, where the step is not taken anyway
            return numpy.eye(len(x))

    def note(self, x: Any, state: object = None) -> None:
        """Add a step to the path; `state` is what some methods give beside it."""
        self.evaluations -= 1
        row = self.row(x.tolist())
        if row is not None:
            self.reach(row)

    def reach(self, row: DescentStep) -> None:
        """Add a point to the path, unless it is the last one there."""
        if row.coordinates != self.path[-1].coordinates:
            self.path.append(row._replace(step=len(self.path)))


def minimize(
    text: str,
    point: Point | None = None,
    *,
    wrt: Sequence[str] | None = None,
    method: str | None = None,
    bounds: Mapping[str, Range] | None = None,
    tolerance: float = TOLERANCE,
    steps: int | None = None,
    subject_to: str | Sequence[str] = (),
    stop: Callable[[], bool] = lambda: False,
    over: LossSpec | None = None,
    init: str | None = None,
    seed: int = SEED,
    maximize: bool = False,
    units: Sequence[str] | str | None = None,
    held: Collection[str] = (),
) -> Minimum:
    """Minimise the program `text` by one of SciPy's optimisers, from the start `point`; or maximise it.

    `method` is one of `METHODS`, by default `bfgs`, with `bounds` or many variables `l-bfgs-b`, `subject_to`
    constraints such as `x + y <= 1` or `x*y = 2` `slsqp`. Values, bounds and numbers in constraints may have units: the
    search is in those of the start, and the value in one of `units`. Once `stop` says so, the best point so
    far is returned. `over` data the program is one row's term. Raises `ExpressionError` as `gradient` does at the
    start, and `usage` where SciPy is not installed.
    """
    constraints = parse_constraints(subject_to)
    sense = MAXIMIZE if maximize else MINIMIZE
    chosen = _checked(method, bounds or {}, constraints, tolerance, sense)
    drawn = None if init is None else Init(init, seed)
    if chosen in CONSTRAINED:
        return _constrained(
            text,
            point or {},
            wrt,
            chosen,
            method,
            bounds or {},
            constraints,
            tolerance,
            steps,
            stop,
            over,
            drawn,
            sense,
            units,
            held,
        )
    begun = begin(text, point, wrt, over, PASSES, drawn, negative=maximize, units=units, held=held)
    evaluator, start = begun.evaluator, begun.start
    if method is None and len(begun.where) > MOST_DENSE:
        chosen = "l-bfgs-b"
    function = Single(evaluator.output) if isinstance(evaluator, Evaluator) else evaluator
    objective = Objective(evaluator, start, begun.where, stop, function, sense=sense)
    limits = _limits(start, bounds or {})
    try:
        ended, message = _optimised(objective, chosen, limits, tolerance, steps)
    except _Stopped:
        ended, message = objective.best, ""
    end = _ended(objective, ended, limits, tolerance, message, chosen)
    return _minimum(text, objective, end, limits, chosen, begun.warnings, begun.over)


def _minimum(
    text: str,
    objective: Objective,
    end: ConvergenceReport,
    limits: Limits,
    method: str,
    warnings: Sequence[Diagnostic],
    over: LossSummary | None,
    constraints: tuple[ConstraintAtPoint, ...] | None = None,
    units: Units | None = None,
) -> Minimum:
    """Return the answer from the report on the end point."""
    objective.reach(end.row)
    sense = objective.sense
    path, row = objective.path, end.row
    if sense is MAXIMIZE:
        path, row = [_negative(step) for step in path], _negative(row)
    reached = row.point
    return Minimum(
        text=text,
        method=method,
        value=unsigned(row.value),
        point={name: unsigned(x) for name, x in reached.items()},
        gradient={name: unsigned(x) for name, x in row.gradient.items()},
        gradient_norm=row.gradient_norm,
        converged=end.reason in CONVERGED,
        reason=end.reason,
        message=end.message,
        kind=sense.kind(end.kind),
        verdict=end.verdict,
        at_bounds=tuple(name for name, ends in zip(row.free, limits, strict=True) if reached[name] in ends),
        steps=len(objective.path) - 1,
        evaluations=objective.evaluations,
        hessians=objective.hessians,
        outside=objective.outside,
        path=tuple(path),
        warnings=(*warnings, *end.kinks),
        over=over,
        constraints=constraints,
        sought=sense.best,
        units=units or row.units,
    )


def _negative(row: DescentStep) -> DescentStep:
    """Return a step of a function from that of its negative."""
    return row._replace(value=unsigned(-row.value), partials=tuple(unsigned(-slope) for slope in row.partials))


def _constrained(
    text: str,
    point: Point,
    wrt: Sequence[str] | None,
    method: str,
    asked: str | None,
    bounds: Mapping[str, Range],
    constraints: Sequence[Constraint],
    tolerance: float,
    steps: int | None,
    stop: Callable[[], bool],
    over: LossSpec | None,
    init: Init | None,
    sense: Sense,
    units: Sequence[str] | str | None,
    held: Collection[str],
) -> Minimum:
    """Minimise under constraints: by SciPy, then by Newton's steps, whose end is judged by the KKT conditions."""
    import numpy

    point = with_units(point)
    more = [name for constraint in constraints for name in constraint.program.variables]
    own = parse(text, list(point), units=True).variables
    also = {name: value for name, value in point.items() if name in more and name not in own}
    own_wrt = None if wrt is None else [name for name in wrt if name in own or name not in more]
    own_point = {name: value for name, value in point.items() if name not in also}
    begun = begin(text, own_point, own_wrt, over, PASSES, init, negative=sense is MAXIMIZE, units=units, held=held)
    evaluator, start = begun.evaluator, begun.start
    extra = [name for name in dict.fromkeys(more) if name not in start.names]
    for name in extra:
        if name not in also:
            message = f"`{name}` of a constraint has no value"
            raise ExpressionError(
                "missing_value", message, hint=f"give it: `--at {name}=…`; a start, or with `--wrt` a value"
            )
    moved = [name for name in extra if (name not in held if wrt is None else name in wrt)]
    width = len(start.names)
    names, free = (*start.names, *extra), (*start.free, *moved)
    more_numbers = {name: x.number if type(x := also[name]) is Quantity else as_number(x, name) for name in extra}
    constraints, of_constraints = _in_own_units(constraints, {**start.point, **point})
    shown = start.units
    if any(unit is not None for unit in of_constraints) or any(hasattr(also[name], "unit") for name in extra):
        from ..inputs.quantities import step_units
        from ..quantities.unit import Unit

        value = Unit() if shown is None else shown["value"]
        shown = step_units(value, {name: getattr(point.get(name), "unit", Unit()) for name in names}, free)
    start = start._replace(
        names=names,
        free=free,
        coordinates=(*start.coordinates, *more_numbers.values()),
        partials=(*start.partials, *(0.0 for _ in moved)),
        units=shown,
    )

    def evaluate(x: Sequence[float]) -> tuple[float, list[float]]:
        value, partials = evaluator(x[:width])
        return value, [*partials, *(0.0 for _ in moved)]

    function = Single(evaluator.output) if isinstance(evaluator, Evaluator) else evaluator
    objective = Objective(evaluate, start, tuple(map(names.index, free)), stop, function, sense=sense, constrained=True)
    limits = _limits(start, bounds)

    def complete(x: Sequence[float]) -> dict[str, float]:
        return dict(zip(names, objective.full(x), strict=True))

    problem = ConstrainedProblem(function, constraints, names, free, begun.start.free, limits, tolerance, complete)
    methods = [method] if asked else [*CONSTRAINED]
    best: tuple[Conditions, DescentStep] | None = None
    reason, message = "", ""
    try:
        for name in methods:
            result = _searched(objective, problem, name, steps, start if best is None else best[1])
            try:
                end_row = objective.row(result)
                if end_row is not None and end_row.value <= -BOUNDLESS * (1 + abs(start.value)):
                    reason = "unbounded"
                    falls = f"the value {sense.falls} without bound along the constraints"
                    message = f"not converged: {falls}; {_bounding(end_row)}"
                    break
                with numpy.errstate(all="ignore"):
                    values, conditions = problem.nearby(numpy.array(result))
            except ExpressionError as error:
                message = message or f"not converged: {error}"
                continue
            row = objective.row(values.tolist())
            if row is not None and (best is None or conditions.met):
                best, method = (conditions, row), name
            if conditions.met:
                break
    except _Stopped:
        reason, message = "interrupted", "interrupted: this is the last point"
        if objective.exhausted:
            objective.reserve = 0.0
            limit = objective.work.exhausted(objective.work.most)
            reason, message = "limit", f"not converged: {limit}; {limit.hint}"
    if best is None or reason == "unbounded":
        end = ConvergenceReport(objective.path[-1], None, "", reason or "stuck", message or "not converged")
        return _minimum(text, objective, end, limits, method, begun.warnings, begun.over, ())
    conditions, row = best
    if conditions.met:
        end = ConvergenceReport(row, conditions.kind, KINDS[conditions.kind].format(sense), "kkt", conditions.message)
    else:
        end = ConvergenceReport(row, conditions.kind, "", reason or "stuck", message or conditions.message)
    at_point = conditions.constraints
    if shown is not None:
        from ..quantities.unit import Unit

        units_of = [unit or Unit() for unit in of_constraints]
        of_constraint = [{"slack": unit, "multiplier": shown["value"].difference / unit} for unit in units_of]
        shown = type(shown)(**shown, constraints=of_constraint)
        shown.fixed = bool(units)
    if sense is MAXIMIZE:
        # of an equation the multiplier is a derivative of the value, which is the negative
        equalities = [constraint.equality for constraint in constraints]
        at_point = tuple(
            constraint._replace(multiplier=unsigned(-constraint.multiplier)) if equality else constraint
            for constraint, equality in zip(at_point, equalities, strict=True)
        )
    return _minimum(text, objective, end, limits, method, begun.warnings, begun.over, at_point, shown)


def _in_own_units(
    constraints: Sequence[Constraint], point: Mapping[str, float | str]
) -> tuple[Sequence[Constraint], list[Unit | None]]:
    """The constraints on numbers in the units of the point, and the units of their slacks; None where they have none.

    Raises `ExpressionError` where dimensions do not fit together.
    """
    results: list[Constraint] = []
    units: list[Unit | None] = []
    for constraint in constraints:
        program = constraint.program
        values = {name: number_or_quantity(point[name], name) for name in program.variables}
        try:
            measured = program_units(program, values)
        except ExpressionError as error:
            error.text = error.text or program.text
            raise
        if measured is not None:
            from ..inputs.own_units import in_own_units  # only units need it

            program = in_own_units(program, measured.point, measured.outputs)
        unit = "" if measured is None else str(measured.outputs[0])
        results.append(constraint._replace(program=program, unit=unit))
        units.append(None if measured is None else measured.outputs[0])
    return results, units


def _searched(
    objective: Objective, problem: ConstrainedProblem, method: str, steps: int | None, start: DescentStep
) -> list[float]:
    """Return where SciPy's method for constraints ends, from a start."""
    import numpy
    from scipy.optimize import NonlinearConstraint

    def slopes(k: int, x: Any) -> tuple[float, Any]:
        try:
            value, partials = problem.constraint(k, x.tolist())
        except ExpressionError:
            # outside of its domain a constraint does not hold
            return -WALL, numpy.zeros(len(x))
        return value, numpy.array(partials)

    def curvature(k: int, x: Any, factor: float) -> Any:
        try:
            return factor * problem.curvature(k, x.tolist())
        except ExpressionError:
            return numpy.zeros((len(x), len(x)))

    options: dict[str, Any] = {"maxiter": STEPS if steps is None else steps}
    more: dict[str, Any] = {}
    if method == "slsqp":
        options |= {"ftol": 1e-10, "maxiter": SLSQP_STEPS if steps is None else steps}
        constraints: list[Any] = [
            {
                "type": "eq" if constraint.equality else "ineq",
                "fun": lambda x, k=k: slopes(k, x)[0],
                "jac": lambda x, k=k: slopes(k, x)[1],
            }
            for k, constraint in enumerate(problem.constraints)
        ]
    else:
        options |= {"gtol": 1e-10, "xtol": 1e-12, "maxiter": SECOND_ORDER_STEPS if steps is None else steps}
        more = {"hess": objective.hessian}
        constraints = [
            NonlinearConstraint(
                lambda x, k=k: slopes(k, x)[0],
                0.0,
                0.0 if constraint.equality else math.inf,
                jac=lambda x, k=k: slopes(k, x)[1],
                hess=lambda x, v, k=k: curvature(k, x, float(v[0])),
            )
            for k, constraint in enumerate(problem.constraints)
        ]
    bounds = problem.limits if any(math.isfinite(end) for ends in problem.limits for end in ends) else None
    try:
        result = _by_scipy(objective, start, method, bounds=bounds, constraints=constraints, options=options, **more)
    except FAILURES:
        last = objective.path[-1].point
        return [last[name] for name in start.free]
    values: list[float] = result.x.tolist()
    return values


def _by_scipy(objective: Objective, start: DescentStep, method: str, **more: Any) -> Any:
    """Return the result of one of SciPy's methods from a start. Raises `FAILURES`, and `_Stopped`."""
    import numpy
    from scipy.optimize import minimize as scipy_minimize

    with python_warnings.catch_warnings(), numpy.errstate(all="ignore"):
        python_warnings.simplefilter("ignore")
        x = numpy.array([start.point[name] for name in start.free])
        method, note = METHODS[method], objective.note
        return scipy_minimize(objective.value_and_gradient, x, jac=True, method=method, callback=note, **more)


def _checked(
    method: str | None, bounds: Mapping[str, Range], constraints: Sequence[Constraint], tolerance: float, sense: Sense
) -> str:
    """The method. Raises a usage error for one that cannot do this, or without SciPy."""
    chosen = method or (CONSTRAINED[0] if constraints else "l-bfgs-b" if bounds else "bfgs")
    if constraints and chosen not in CONSTRAINED:
        raise usage_error(
            f"the method {chosen} takes no constraints", "use `--method slsqp` or `--method trust-constr`"
        )
    if bounds and chosen not in ("l-bfgs-b", *CONSTRAINED):
        raise usage_error(f"the method {chosen} takes no bounds", "use `--method l-bfgs-b`")
    if not 0 < tolerance < math.inf:
        raise usage_error(f"the tolerance cannot be {tolerance:g}", "give a positive number")
    message = f"`{sense.name}` needs SciPy, the extra `optimize`"
    needed("scipy.optimize", "optimize", message, "; `autodiff descend` needs nothing")
    return chosen


def _limits(start: DescentStep, bounds: Mapping[str, Range]) -> list[tuple[float, float]]:
    """The bounds of the variables that move, in order. Raises a usage error where they do not fit the start."""
    if start.units is None:
        bounds = {name: Range(*(x if x is None else as_number(x, name) for x in ends)) for name, ends in bounds.items()}
    else:
        from ..inputs.own_units import ranges_in  # only units need it

        bounds = ranges_in(bounds, start.units["point"])
    for name, limits in bounds.items():
        if name not in start.free:
            why = "is held fixed" if name in start.names else "is not a variable of this program"
            raise usage_error(f"`{name}` has bounds and {why}", f"the variables that move: {quoted(start.free)}")
        limits.check_start(name, start.point[name])
    return [bounds.get(name, Range(None, None)).ends for name in start.free]


def _optimised(
    objective: Objective, method: str, limits: Limits, tolerance: float, steps: int | None
) -> tuple[DescentStep, str]:
    """Return the end point and message of SciPy, which is restarted where it is stuck."""
    usual = SECOND_ORDER_STEPS if method in SECOND_ORDER else STEPS
    options: dict[str, Any] = {"maxiter": usual if steps is None else steps}
    options |= {"xtol": 1e-12} if method == "newton-cg" else {"gtol": tolerance / 10}
    if method == "l-bfgs-b":
        options |= {"ftol": 0.0, "maxfun": 10 * options["maxiter"], "maxls": 50}
    ended, message = objective.start, ""
    for _ in range(ATTEMPTS):
        left = options["maxiter"] - len(objective.path) + 1
        if left <= 0:
            break
        hessian, bounds = (
            objective.hessian if method in SECOND_ORDER else None,
            limits if method == "l-bfgs-b" else None,
        )
        try:
            result = _by_scipy(
                objective, ended, method, hess=hessian, bounds=bounds, options={**options, "maxiter": left}
            )
        except FAILURES as error:
            return objective.best, str(error)
        before, message = ended, str(result.message)
        objective.evaluations -= 1
        ended = min(objective.row(result.x.tolist()) or objective.best, objective.best, key=lambda row: row.value)
        if projected(ended, limits) <= tolerance or not ended.value < before.value:
            break
    return ended, message


def _bounding(row: DescentStep) -> str:
    """Return what to do where there is no minimum."""
    unit = "" if row.units is None else f" {row.units['point'][row.free[0]]}".rstrip()
    ends = f"{row.free[0]}=-10{unit}:10{unit}"
    return f"limit it by bounds: `--bounds {ends}`" if not unit else f'limit it by bounds: `--bounds "{ends}"`'


def _ended(
    objective: Objective, row: DescentStep, limits: Limits, tolerance: float, message: str, method: str
) -> ConvergenceReport:
    """Why the search is over, what it has come to, and both in words; `message` is SciPy's, empty if it was stopped."""
    size = [max(abs(step.coordinates[k]) for step in (*objective.path, row)) or 1.0 for k in objective.where]
    model = LocalModel(objective.row, objective.function, limits, size, tolerance, objective.sense)
    more = "iterations" in message.lower() or "exceeds limit" in message.lower()
    more = more and projected(row, limits) > tolerance
    counts = objective.evaluations, objective.outside
    try:
        if objective.boundless or not message:
            raise _Stopped
        report = model.report(row, walking=more)
    except _Stopped:
        if objective.boundless:
            message = f"not converged: the value {objective.sense.falls} without bound; {_bounding(objective.best)}"
            return ConvergenceReport(objective.best, None, reason="unbounded", message=message)
        reason, message = "interrupted", "interrupted: this is the best point so far"
        if objective.exhausted:
            objective.reserve = 0.0
            error = objective.work.exhausted(objective.work.most)
            reason, message = "limit", f"not converged: {error}; {error.hint}"
        return replace(model.report(row, walking=True), reason=reason, message=message)
    # the counts are those of the method
    objective.evaluations, objective.outside = counts
    if report.reason:
        return report
    if projected(report.row, limits) <= tolerance:
        held = f"held by the bounds of {', '.join(report.held)}, and no other" if report.held else "no"
        message = f"converged: {held} partial derivative is larger than {tolerance:g}"
        return replace(report, reason="gradient", message=message)
    if more:
        message = f"not converged after {len(objective.path) - 1} steps, the most that were allowed"
        return replace(report, reason="steps", message=message)
    message = f"not converged: {METHODS[method]} found no better point along its direction"
    return replace(report, reason="stuck", message=message)
