"""A minimum or maximum by SciPy's optimisers, with exact gradient and Hessian."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ...api.api_answers import Answer, as_numbers
from ...compiled.evaluator import Evaluator
from ...errors import Diagnostic, ExpressionError, quote, require, usage_error
from ...questions.figures import unsigned
from ...questions.optional_units import program_units, with_units
from ...questions.parse_point import Range
from ...questions.problem import Point, Quantity, as_number, number_or_quantity, parse
from .convergence import ConstraintAtPoint, ConvergenceReport, Sense
from .descend import DEFAULT_SEED, DescentStep, begin_descent, initial_values
from .digits_at_end import with_digits
from .many_starts import CONVERGED, SearchEnd, Starts, search_from_many
from .objective import METHODS, Objective

if TYPE_CHECKING:
    from ...compiled.data_loss import LossSpec, LossSummary
    from ...questions.quantities import Units
    from .constraints import Constraint

CONSTRAINED = [name for name, method in METHODS.items() if method.takes_constraints]

DEFAULT_TOLERANCE = 1e-8  # of partial derivatives
DATA_PASSES = 50  # through data, about
MAX_DENSE = 200  # variables of methods with whole matrices


class Minimum(Answer, shows=("value", "point", "converged", "verdict")):
    """The end point of an optimiser."""

    declaration = """
    csv line id variable at[] partial[] value[] converged kind error
    plain value point
    value column: the value at the point
    point
    gradient column=partial: the partial derivatives there, by name
    gradient_norm: the norm of the gradient, without what presses against a bound
    converged column: whether the search has converged
    reason: why it ended, as one word
    message: why it ended, in words
    kind column: `minimum`, or what else the point is; null where that is not known
    verdict: the kind in words
    at_bounds: the variables that are at their bounds
    constraints optional: with `--subject-to`: the constraints, in their order
      constraint from=text: the constraint
      slack: how far it is from its border; of an equation, left side less right side
      multiplier: Lagrange's multiplier: by how much the value improves for each unit of relaxation
      active: whether the point is at its border
    starts optional: with `--starts`: where the searches ended, the lowest first
      value: the value there
      point: the values of the free variables, by name
      reason: why they ended, as one word
      count: how many of them ended there
    tried optional nonempty: with `--starts`: what was tried, in words
    proven optional nonempty: with `--starts` and bounds: `global`, where no value over the bounds \
    is lower, or higher
    method: the method
    steps: how many steps it took
    evaluations: how often value and gradient were computed
    hessians: how often the Hessian was computed
    outside: how many of the evaluations were outside the domain
    units
    data
    warnings
    """

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
    starts: tuple[SearchEnd, ...] | None = None
    tried: str = ""
    proven: str = ""
    units: Units | None = None

    @property
    def is_refuted(self) -> bool:
        """Whether the point is shown to be something else than what was sought, such as a
        saddle.
        """
        return self.verdict.startswith("not a")

    @property
    def x(self) -> Any:
        """The point as an array, in the order of `point`, as SciPy's result has it."""
        return as_numbers([*self.point.values()])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return as_numbers([*self.point.values()], dtype)


def _split(names: Collection[str], point: Point) -> tuple[Point, Point]:
    """Return the parts of a point without some variables, and with these alone."""
    others = {name: value for name, value in point.items() if name not in names}
    return others, {name: value for name, value in point.items() if name in names}


def _method_for_many(chosen: str, variables: int) -> str:
    """Return a method that keeps no matrix where there are too many variables for the chosen
    one.
    """
    return "l-bfgs-b" if variables > MAX_DENSE and not METHODS[chosen].takes_constraints else chosen


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
    starts: int | None = None,
    units: Sequence[str] | str | None = None,
    held: Collection[str] = (),
) -> Minimum:
    """Return a minimum, or maximum, of the program `text` by SciPy from the start `point`.

    `method` is one of `METHODS`, by default `bfgs`; `l-bfgs-b` with `bounds` or many variables;
    `slsqp` with constraints `subject_to`, such as `x + y <= 1`. With `starts` so many searches
    begin, and the lowest end is the answer. The search is in the units of the start, the value in
    one of `units`. Once `stop` says so, the best point so far is returned. With data `over`, the
    program is one row's term. Raises `ExpressionError` as `gradient` does at the start, and `usage`
    without SciPy.
    """
    sense = Sense(maximize)
    message = sense.phrase("`minimize` needs SciPy, the extra `optimize`")
    require("scipy.optimize", "optimize", message, "; `autodiff descend` needs no extra")
    from .constraints import ConstrainedProblem, parse_constraints  # they need SciPy

    constraints: Sequence[Constraint] = parse_constraints(subject_to)
    chosen = _method(method, constraints, bounds)
    constrained = METHODS[chosen].takes_constraints
    point, alone = point or {}, set[str]()
    if constrained:
        point = with_units(point)
        alone = _only_in_constraints(text, point, constraints)
    own_point, values = _split(alone, point)
    own_wrt = None if wrt is None else [name for name in wrt if name not in alone]
    drawn = None if init is None else partial(initial_values, init, seed)
    evaluator, start, warnings, over_rows = begin_descent(
        text, own_point, own_wrt, over, DATA_PASSES, drawn,
        negative=maximize, units=units, held=held, bounds=bounds or {},
    )  # fmt: skip
    start = _with_variables(start, constraints, values, held, wrt)
    known = {**start.point, **point}
    constraints = [_in_own_units(constraint, known) for constraint in constraints]
    start = _with_units_of_constraints(start, constraints, point, values)
    limits = _limits(bounds or {}, start)
    if method is None:
        chosen = _method_for_many(chosen, len(start.free))

    def begin(row: DescentStep) -> Objective:
        problem = ConstrainedProblem if constrained else Objective
        return problem(evaluator, row, stop, sense, limits, tolerance, constraints)

    def search(problem: Objective) -> tuple[ConvergenceReport, str]:
        return problem.search(CONSTRAINED if constrained and method is None else [chosen], steps)

    problem, tried = begin(start), None
    if starts is None:
        end, chosen = search(problem)
    else:
        (problem, end, chosen), tried = search_from_many(begin, search, start, limits, starts, seed)
        if over is None and not constraints:
            tried = tried._replace(gap=_proven_gap(problem, end, start, tried))
    found = _minimum(text, chosen, problem, end, bool(units))
    if tried is not None:
        found = _with_starts(found, tried, sense, end.row)
    return found._replace(warnings=(*warnings, *found.warnings), over=over_rows)


def _proven_gap(
    problem: Objective, end: ConvergenceReport, start: DescentStep, tried: Starts
) -> float | None:
    """Return by how much a value over the bounds may be below that of the end, where that is
    proven.
    """
    evaluator = problem.evaluator
    if end.reason not in CONVERGED or not isinstance(evaluator, Evaluator):
        return None
    from .global_minimum import proven_gap

    box = dict(zip(end.row.free, problem.limits, strict=True))
    fixed = {
        name: x
        for name, x in zip(end.row.names, end.row.coordinates, strict=True)
        if name not in box
    }
    # the ends of other searches have the sign of the answer
    values = [
        end.row.value,
        start.value,
        *[-one.value if problem.sense.maximize else one.value for one in tried.ends],
    ]
    return proven_gap(evaluator.graph, box, fixed, end.row.value, max(values) - min(values))


def _with_starts(found: Minimum, tried: Starts, sense: Sense, row: DescentStep) -> Minimum:
    units = found.units
    if units is not None:
        own = {name: units["point"][name] for name in row.free}
        units = type(units)(
            **units, starts=[{"value": units["value"], "point": own} for _ in tried.ends]
        )
        units.fixed = True
    return found._replace(
        starts=tried.ends,
        tried=tried.sentence(sense, row),
        proven="" if tried.gap is None else "global",
        units=units,
    )


def _minimum(
    text: str, method: str, problem: Objective, end: ConvergenceReport, in_units: bool
) -> Minimum:
    sense, row, shown, at_point = problem.sense, end.row, end.row.units, end.constraints
    if at_point is not None and shown is not None:
        shown = _with_multipliers(shown, problem.constraints, in_units)
    end, lost = with_digits(problem, end)
    problem.add_to_path(row)
    path = problem.path
    if sense.maximize:
        *path, row = map(_negative, (*path, row))
        # the multiplier of an equation is a derivative of the negative
        at_point = at_point and tuple(
            of._replace(multiplier=unsigned(-of.multiplier)) if constraint.equality else of
            for of, constraint in zip(at_point, problem.constraints, strict=True)
        )
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
        kind=end.kind and sense.phrase(end.kind),
        verdict=end.verdict,
        at_bounds=tuple(
            name
            for name, ends in zip(row.free, problem.limits, strict=True)
            if reached[name] in ends
        ),
        steps=len(path) - 1,
        evaluations=problem.counts.evaluations,
        hessians=problem.hessians,
        outside=problem.counts.outside,
        path=tuple(path),
        warnings=(*end.kinks, *lost),
        constraints=(at_point or ()) if problem.constrained else None,
        sought=sense.phrase("minimum"),
        units=shown,
    )


def _method(
    method: str | None, constraints: Sequence[Constraint], bounds: Mapping[str, Range] | None
) -> str:
    chosen = method or (CONSTRAINED[0] if constraints else "l-bfgs-b" if bounds else "bfgs")
    if constraints and not METHODS[chosen].takes_constraints:
        hint = "use `--method slsqp` or `--method trust-constr`"
        raise usage_error(f"the method {chosen} takes no constraints", hint)
    if bounds and not METHODS[chosen].takes_bounds:
        raise usage_error(f"the method {chosen} takes no bounds", "use `--method l-bfgs-b`")
    return chosen


def _only_in_constraints(text: str, point: Point, constraints: Sequence[Constraint]) -> set[str]:
    """Return the variables of constraints that are no variables of the program."""
    named = {name for constraint in constraints for name in constraint.program.leaves}
    return named - {*parse(text, list(point), units=True).variables}


def _with_variables(
    start: DescentStep,
    constraints: Sequence[Constraint],
    values: Mapping[str, float | str],
    held: Collection[str],
    wrt: Sequence[str] | None,
) -> DescentStep:
    more = [name for constraint in constraints for name in constraint.program.leaves]
    extra = [name for name in dict.fromkeys(more) if name not in start.names]
    if lacking := [name for name in extra if name not in values]:
        message = f"`{lacking[0]}` of a constraint has no value"
        hint = f"give it: `--at {lacking[0]}=…`; a start, or with `--wrt` a value"
        raise ExpressionError("missing_value", message, hint=hint)
    free = [name for name in extra if (name not in held if wrt is None else name in wrt)]
    numbers = [
        x.number if type(x := values[name]) is Quantity else as_number(x, name) for name in extra
    ]
    return start._replace(
        names=(*start.names, *extra),
        free=(*start.free, *free),
        coordinates=(*start.coordinates, *numbers),
        partials=(*start.partials, *(0.0 for _ in free)),
    )


def _in_own_units(constraint: Constraint, point: Mapping[str, float | str]) -> Constraint:
    program = constraint.program
    try:
        measured = program_units(
            program, {name: number_or_quantity(point[name], name) for name in program.leaves}
        )
    except ExpressionError as error:
        error.text = error.text or program.text
        raise
    if measured is None:
        return constraint
    return constraint._replace(program=measured.in_own_units(program), unit=measured.outputs[0])


def _with_units_of_constraints(
    start: DescentStep, constraints: Sequence[Constraint], point: Point, values: Point
) -> DescentStep:
    """Return the start in units where only constraints, or the `values` of variables of theirs
    alone, have some.
    """
    more = (
        (constraint.unit for constraint in constraints),
        (hasattr(x, "unit") for x in values.values()),
    )
    if not ((values and start.units is not None) or any(map(any, more))):
        return start
    from ...engine.quantities.unit import Unit
    from ...questions.quantities import step_units

    value = Unit() if start.units is None else start.units["value"]
    of_point = {name: getattr(point.get(name), "unit", Unit()) for name in start.names}
    return start._replace(units=step_units(value, of_point, start.free))


def _limits(bounds: Mapping[str, Range], start: DescentStep) -> list[tuple[float, float]]:
    """Return the bounds of the free variables, checked, as numbers in the units of the start."""
    if start.units is None:
        bounds = {
            name: Range(*(x if x is None else as_number(x, name) for x in ends))
            for name, ends in bounds.items()
        }
    else:
        from ...questions.quantities import ranges_in  # only units need it

        bounds = ranges_in(bounds, start.units["point"])
    for name, ends in bounds.items():
        if name not in start.free:
            why = "is held fixed" if name in start.names else "is not a variable of this program"
            raise usage_error(
                f"`{name}` has bounds and {why}", f"the free variables: {quote(start.free)}"
            )
        ends.check_start(name, start.point[name])
    return [bounds.get(name, Range(None, None)).ends for name in start.free]


def _with_multipliers(shown: Units, constraints: Sequence[Constraint], fixed: bool) -> Units:
    from ...engine.quantities.unit import Unit

    value, slacks = shown["value"].degree, [constraint.unit or Unit() for constraint in constraints]
    of_constraint = [{"slack": unit, "multiplier": value / unit} for unit in slacks]
    shown = type(shown)(**shown, constraints=of_constraint)
    shown.fixed = fixed
    return shown


def _negative(step: DescentStep) -> DescentStep:
    return step._replace(
        value=unsigned(-step.value), partials=tuple(unsigned(-slope) for slope in step.partials)
    )
