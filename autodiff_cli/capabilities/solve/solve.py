"""Solutions of equations, their errors, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ...api.api_answers import Answer
from ...engine.graphs.value import Value, in_order
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.base import NO_RESULT, Number, NumberType, undecided
from ...engine.numbers.budget import Defined
from ...engine.numbers.floats import REAL
from ...engine.numbers.running_error import RUNNING, Bounded
from ...engine.numerics.krawczyk import Krawczyk, boxes
from ...engine.numerics.linear_algebra import Singular
from ...engine.numerics.newton import refine, with_errors
from ...errors import (
    Diagnostic,
    ExpressionError,
    limit_error,
    plural,
    quote,
    spelling_hint,
    usage_error,
)
from ...language.elements import expand
from ...questions.arithmetic import (
    DOUBLE,
    Arithmetic,
    Shown,
    Values,
    convert_numbers,
    kink_warnings,
)
from ...questions.equations import read_with_unknowns
from ...questions.optional_units import program_units, with_units
from ...questions.parse_point import Range
from ...questions.problem import (
    Point,
    Problem,
    check_bare_functions,
    check_products,
    check_values,
    numbers_or_quantities,
    parse,
    unit_offers,
    unused_name,
    wanted_variables,
)
from ...record import Record
from .closed_forms import closed_solutions
from .enclosures import prove
from .formula_solutions import FormulaSolution, FormulaSolutions, formula_solutions
from .one_unknown import SAME_ROOT, OneEquation
from .residuals import (
    ROOT_DIGITS,
    Ends,
    Root,
    Search,
    SolvingStopped,
    derivative_phrase,
    derivatives,
    half_ulp,
    numbers_at_solution,
    second_derivatives,
)
from .several_unknowns import SeveralEquations

if TYPE_CHECKING:
    from ...questions.quantities import Units

MAX_UNKNOWNS = 200
MAX_HESSIAN_SIZE = 30
MAX_NAMED_POLES = 4
# Digits of a solution for which doubles are too rough.
SHARP_DIGITS = 17
# The size up to which a number that may be 0 counts as 0.
MAX_VANISHING = 1e-20
# Where all solutions of several equations are sought without bounds; the answer says so.
WITHOUT_BOUNDS = Range(-10.0, 10.0)
T = TypeVar("T")


class Solution(Record):
    """One solution of the equations."""

    values: dict[str, Shown]
    errors: dict[str, float | None]
    """Error bounds from rounding, if known."""
    residuals: list[float]
    simple: bool
    """Whether the Jacobian by the unknowns is invertible there."""
    multiplicity: int | None
    """For a root in one unknown; None if unknown or not an integer."""
    proven: bool
    """Whether exactly one solution is proven to be there."""
    derivatives: dict[str, dict[str, Shown]] | None = None
    second: dict[str, dict[str, dict[str, Shown]]] | None = None
    elasticities: dict[str, dict[str, Shown | None]] | None = None
    """p·u′/u of unknowns u by variables p, if requested; None where u is 0."""
    exact: str = ""
    """The solution as a formula of numbers; empty where none is known."""
    bound: dict[str, Shown] | None = None
    """The names that the program binds to what depends on the unknowns: y of `y = x**2; x = 3`."""


class Solved(Answer):
    """The solutions of equations, with their derivatives."""

    declaration = """
    csv line id solution unknown value[] off[] variable derivative[] error
    equations: the equations
    unknowns: the unknowns
    solutions: the solutions
      values figures: the value of each unknown, by name
      exact optional nonempty: the solution as a formula of numbers, where one is known: `sqrt(2)`
      derivatives figures: by each unknown, its derivatives by the other variables
      second figures optional: with `--order 2`: the second derivatives, by unknown, then by two \
      variables
      elasticities figures optional: with `--relative`: the elasticities, by unknown and variable; \
    null where there are none
      bound figures optional nonempty: the value of each name that is bound to what depends on the \
      unknowns
      errors: how far rounding may have put each unknown off, by name; null where not known
      residuals: left side less right side of each equation
      simple: whether the solution is simple: the equations' Jacobian is regular there
      multiplicity: the multiplicity of a root; null where it is not known
      proven: whether it is proven that there is exactly one solution there
    formulas optional nonempty: where other variables have no values, or solutions repeat: the \
    solutions as formulas
      unknown: the unknown
      formula: the solution as a formula
      condition: where it is one; null for everywhere
      whole optional nonempty: the names in it that stand for every whole number
    converged: whether a solution was found
    reason: `solved`, `none`, `not found`, `undecided` or `interrupted`
    message: the reason in words
    between: the bounds, by name
    others: where other solutions between the bounds seem to be, of one unknown
    undecided: boxes for which it is not proven whether they hold a solution
    complete: whether it is proven that there are no other solutions; null where that is not known
    evaluations: how often the equations were evaluated
    point figures column=at: the values of the other variables, by name
    units
    constants
    warnings
    """

    text: str
    arithmetic: Arithmetic
    equations: list[str]
    unknowns: list[str]
    converged: bool
    reason: str
    """`solved`, `none`, `not found`, `undecided` or `interrupted`."""
    message: str
    point: dict[str, Shown]
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...]
    between: Ends
    solutions: Sequence[Solution] = ()
    others: Sequence[float] = ()
    undecided: Sequence[Ends] = ()
    complete: bool | None = None
    """Whether there are provably no other solutions, if known."""
    evaluations: int = 0
    variables: Sequence[str] = ()
    formulas: Sequence[FormulaSolution] = ()
    units: Units | None = None

    def __repr__(self) -> str:
        text = "; ".join(
            ", ".join(f"{n} = {float(x):.6g}" for n, x in solution.values.items())
            for solution in self.solutions
        )
        return f"<Solved: {text or self.message}>"


def solve(
    text: str,
    point: Point | None = None,
    *,
    unknowns: Sequence[str] | None = None,
    between: Mapping[str, Range] | Range | None = None,
    wrt: Sequence[str] | None = None,
    every: bool = False,
    order: int = 1,
    relative: bool = False,
    arithmetic: Arithmetic = DOUBLE,
    units: Sequence[str] | str | None = None,
    system: bool = False,
    stop: Callable[[], bool] = lambda: False,
) -> Solved:
    """Return the solutions of equations, and their derivatives by `wrt`.

    `point` has values and starts, `between` bounds of `unknowns`; `every` seeks all solutions
    there; without bounds those of one equation on ever wider grids, of several between -10 and 10.

    >>> answer = solve("x**2 = a", {"a": 2}, unknowns=["x"], between=Range(0, 2))
    >>> round(answer.solutions[0].values["x"], 12), round(answer.solutions[0].derivatives["x"]["a"], 12)
    (1.414213562373, 0.353553390593)
    """
    if between is None:
        answer = _formulas(text, with_units(point), unknowns)
        if answer is not None:
            return answer
    pose = partial(posed_equations, text, point, unknowns, wrt=wrt, units=units, system=system)
    problem = pose(between=between)
    if every and arithmetic.name != "certified" and _may_lie_anywhere(problem):
        # of one unknown all that ever wider grids show are listed anyway
        every = len(problem.unknowns) > 1
        anywhere = dict.fromkeys(problem.unknowns, WITHOUT_BOUNDS)
        problem = pose(between=anywhere) if every else problem
    _check_options(problem, arithmetic, order, every)
    finder = _finder(problem, stop)
    interrupted = False
    starts: list[list[float]] = []
    try:
        starts = _starts(finder, every, certified=arithmetic.name == "certified")
    except SolvingStopped:
        interrupted = True
    finder.warn_of_places(starts)
    closed = None
    if isinstance(finder, OneEquation) and not interrupted:
        closed = closed_solutions(finder, starts, every)
    roots = [_FoundRoot(finder, start, order, relative, arithmetic) for start in starts]
    solutions = [root.solution() for root in roots]
    if closed is not None:
        texts = zip(solutions, closed.texts, strict=True)
        solutions = [solution._replace(exact=text) for solution, text in texts]
    others = [] if every or interrupted else _others(finder, starts)
    if _is_unique_by_matrix(finder, solutions):
        finder.complete = True
    reason = message = "interrupted"
    if not interrupted:
        reason, message = _outcome(finder, len(solutions), every)
        # what is not settled stays said
        if closed is not None and closed.repeating and reason == "solved":
            message = closed.message
    measured = problem.units
    tree = None if measured is None else measured.of_solution(problem.wanted, order)

    def shown(box: Ends) -> Ends:
        if measured is None:
            return box
        return {name: measured.ends(name, ends) for name, ends in box.items()}

    return Solved(
        text=text,
        arithmetic=arithmetic,
        equations=list(problem.texts),
        unknowns=list(problem.unknowns),
        solutions=solutions,
        converged=reason == "solved",
        reason=reason,
        message=message,
        between=shown(dict(problem.bounds)),
        others=[shown({problem.unknowns[0]: (x, x)})[problem.unknowns[0]][0] for x in others],
        undecided=[shown(box) for box in finder.undecided or ()],
        complete=finder.complete,
        evaluations=finder.evaluations,
        variables=list(problem.wanted),
        formulas=() if closed is None else closed.repeating,
        point=_point_in(arithmetic, _fixed(problem, problem.unknowns), tree),
        constants=problem.program.constants,
        warnings=tuple(problem.warnings),
        units=tree,
    )


def _may_lie_anywhere(problem: Problem) -> bool:
    """Return whether the unknowns have neither bounds nor starts, and no units in which a range
    would be meant.
    """
    return (
        not problem.bounds
        and problem.units is None
        and problem.point.keys().isdisjoint(problem.unknowns)
    )


def _with_values(typed: Mapping[str, object], ranges: Mapping[str, Range]) -> dict[str, object]:
    """Return what was typed for each name, which shows whether the letters of a text are units."""
    return {**{name: ends[0] for name, ends in ranges.items()}, **typed}


def _check_size(variables: int, unknowns: int) -> None:
    if variables + unknowns > MAX_HESSIAN_SIZE:
        numbers = f"{plural(variables, 'variable')} and {plural(unknowns, 'unknown')}"
        message = (
            f"second derivatives by {numbers} are too many; {MAX_HESSIAN_SIZE} together is the most"
        )
        hint = (
            "name some of the variables: `--wrt x,y`"
            if unknowns < MAX_HESSIAN_SIZE
            else "leave out `--order 2`"
        )
        raise limit_error(message, hint)


def _finder(problem: Problem, *stop: Callable[[], bool]) -> OneEquation | SeveralEquations:
    return (OneEquation if len(problem.unknowns) == 1 else SeveralEquations)(problem, *stop)


def _starts(
    finder: OneEquation | SeveralEquations, every: bool, certified: bool
) -> list[list[float]]:
    """Return the roots in doubles. Raises `SolvingStopped`."""
    problem = finder.problem
    if every and certified:
        exact = finder.solve_exactly() if isinstance(finder, OneEquation) else None
        return prove(finder) if exact is None else exact
    if every:
        return finder.search_all()
    if (
        isinstance(finder, OneEquation)
        and not problem.bounds
        and problem.unknowns[0] not in problem.point
    ):
        return finder.around()
    return finder.solve_once()


def find_solution(problem: Problem) -> dict[str, float]:
    """Return the requested solution. Raises `ExpressionError`."""
    finder = _finder(problem)
    for root in finder.solve_once():
        if isinstance(finder, OneEquation):
            _warn_of_others(problem, root[0])
        return dict(zip(problem.unknowns, root, strict=True))
    first = problem.unknowns[0]
    hint = f"give a start, `--at {first}=…`, or bounds, `--between {first}=0:1`"
    message = f"no solution of the equations was found{finder.describe_least_residual()}"
    raise ExpressionError("domain", message, hint=hint)


def _warn_of_others(problem: Problem, x: float) -> None:
    """Warn of other solutions than the one that is taken, unless a start chose it."""
    (name,) = problem.unknowns
    if name in problem.point:
        return
    finder = OneEquation(problem)
    others: list[float] = []
    with Defined():
        others = finder.other_solutions(x) if problem.bounds else finder.nearby()
    others = [y for y in others if abs(y - x) > SAME_ROOT * max(abs(x), abs(y))]
    if others:
        near = min(others, key=lambda y: abs(y - x))
        message = f"the equation has other solutions, such as {name} = {problem.text(name, near)}"
        message += f": the one at {name} = {problem.text(name, x)} is taken"
        choose = f"choose one by a start, `--at {name}=…`, or by bounds, `--between {name}=…`"
        problem.warnings.append(Diagnostic("branch", message, None, choose))


def _check_options(problem: Problem, arithmetic: Arithmetic, order: int, every: bool) -> None:
    """Raise an error for options that do not go with these equations."""
    if arithmetic.name == "exact":
        hint = "use `--precision 50` or `--certified`"
        raise usage_error("roots are not fractions: `solve` has no `--exact`", hint)
    for name in problem.unknowns if every else ():
        if name not in problem.bounds:
            hint = f"`--between {name}=-10:10`"
            raise usage_error(f"`--all` searches between bounds, and `{name}` has none", hint)
    if order > 1 and problem.wanted:
        _check_size(len(problem.wanted), len(problem.unknowns))


def _others(
    finder: OneEquation | SeveralEquations, starts: Sequence[Sequence[float]]
) -> list[float]:
    """Return other solutions of one equation than the only one that was sought."""
    if not isinstance(finder, OneEquation) or len(starts) != 1:
        return []
    return finder.other_solutions(*starts[0])


def _is_unique_by_matrix(finder: Search, solutions: Sequence[Solution]) -> bool:
    """Return whether a solution is the only one, as linear equations with a regular matrix have
    one.

    A search that has decided whether there are more is asked first.
    """
    if finder.complete is not None or finder.undecided is not None or not finder.linear:
        return False
    return bool(solutions) and solutions[0].simple


def _fixed(problem: Problem, unknowns: Collection[str]) -> Point:
    """Return the values of the variables that are not sought, as typed."""
    return {name: problem.point[name] for name in problem.program.leaves if name not in unknowns}


def _point_in(arithmetic: Arithmetic, fixed: Point, units: Units | None) -> dict[str, Any]:
    """Return values in the numbers and units of the answer."""
    if not fixed:
        return {}
    numbers = arithmetic.run(fixed, lambda m, values: {"point": values}, units)
    return dict(numbers["point"])


def posed_equations(
    text: str,
    point: Point | None,
    unknowns: Sequence[str] | None,
    between: Mapping[str, Range] | Range | None,
    wrt: Sequence[str] | None,
    units: Sequence[str] | str | None = None,
    *,
    dimensions: bool = True,
    system: bool = False,
) -> Problem:
    """Return the equations with all values; the `dimensions` of data are checked later."""
    typed = with_units(point)
    ranges = dict(between) if isinstance(between, Mapping) else {}
    program, texts = read_with_unknowns(text, _with_values(typed, ranges), unknowns, units=True)
    known = {*typed, *ranges, *(unknowns or ())}
    check_bare_functions(program, known)
    check_products(program, known, unknowns)
    names, count = list(program.leaves), len(program.roots)
    if not names:
        hint = "write the unknown as a name: `x**2 = 2`"
        raise usage_error("there is no variable in the equations", hint)
    unknowns = _unknowns(unknowns, names, ranges, typed, count)
    if len(unknowns) != count:
        raise _wrong_number(text, unknowns, typed, count)
    if count > MAX_UNKNOWNS:
        message = f"{count} equations are too many; {MAX_UNKNOWNS} is the most"
        raise limit_error(message, "solve fewer")
    if isinstance(between, Range):
        ranges = _range_of_one(unknowns, between)
    numbers, measured, warnings = numbers_or_quantities(typed), None, list[Diagnostic]()
    if dimensions:
        measured = program_units(
            program, numbers, units, unknowns=unknowns, ranges=ranges, system=system
        )
        warnings += measured.warnings if measured is not None else ()
    bounds: Ends = {name: _bounds(name, ends) for name, ends in ranges.items()}
    values = {name: float(x) for name, x in numbers.items()} | _starts_left_out(
        unknowns, typed, bounds
    )
    warnings = [*check_values(program, values), *warnings]
    wanted = names if wrt is None else wanted_variables(program, values, wrt, unknowns)
    wanted = [name for name in wanted if name in names and name not in unknowns]
    return Problem(
        program, typed, values, wanted, warnings, list(unknowns), bounds, texts, measured
    )


def _range_of_one(unknowns: Sequence[str], between: Range) -> dict[str, Range]:
    """Return a range without a name as that of the only unknown."""
    if len(unknowns) > 1:
        hint = "write `--between x=0:1,y=0:2`"
        raise usage_error("bounds of several unknowns need their names", hint)
    return {unknowns[0]: between}


def _starts_left_out(unknowns: Sequence[str], typed: Point, bounds: Ends) -> dict[str, float]:
    """Return starts for the unknowns that have none. Raises an error for a start outside of its
    bounds.
    """
    starts = {}
    for name in unknowns:
        if name not in typed:
            starts[name] = sum(bounds[name]) / 2 if name in bounds else 1.0
        elif name in bounds:
            Range(*bounds[name]).check_start(name, typed[name])
    return starts


def _unknowns(
    asked: Sequence[str] | None,
    names: Sequence[str],
    bounded: Collection[str],
    known: Collection[str],
    count: int,
) -> list[str]:
    """Return the unknowns, by default those variables that have bounds, or no value. Raises a usage
    error.
    """
    if asked is None:
        asked = [name for name in names if name in bounded] or [
            name for name in names if name not in known
        ]
        if not asked and len(names) == count:
            asked = names
    unknowns = expand(asked, names)
    for name in [*unknowns, *bounded]:
        if name not in names:
            hint = f"their variables: {quote(names)}"
            raise usage_error(f"`{name}` is not a variable of these equations", hint)
    for name in bounded:
        if name not in unknowns:
            raise usage_error(
                f"`{name}` has bounds but is not an unknown", f"make it one: `--for {name}`"
            )
    return list(unknowns)


def _wrong_number(text: str, unknowns: Sequence[str], point: Point, count: int) -> ExpressionError:
    many = f"{len(unknowns)} unknowns, {quote(unknowns)}"
    if len(unknowns) < 2:
        many = f"the unknown is {quote(unknowns)}" if unknowns else "every variable has a value"
    hint = "name the unknowns, `--for x,y`, and give the other variables values: `--at …`"
    if count == 1 and len(unknowns) > 1:
        name = "y" if "y" in unknowns else unknowns[0]
        other = next(x for x in unknowns if x != name)
        hint = f"name one of them, `--for {name}`: the solution is a formula in the others"
        hint += f", or for `--at {other}=…` a number"
    if count > len({*unknowns, *point}):
        hint = (
            "leave out those that follow from the others; more equations than variables are a fit"
        )
    verb = "is" if count == 1 else "are"
    offers = unit_offers(text, unknowns, point) if len(unknowns) > count else ()
    hint = f"write {spelling_hint(offers)}, or {hint}" if offers else hint
    return ExpressionError(
        "usage", f"there {verb} {plural(count, 'equation')}, and {many}", None, hint, (), offers
    )


def _bounds(name: str, ends: Range) -> tuple[float, float]:
    low, high = ends
    if low is None or high is None or not low < high:
        wrong = "need two ends" if low is None or high is None else "are one number"
        raise usage_error(f"the bounds of `{name}` {wrong}", f"write `--between {name}=0:1`")
    return float(low), float(high)


def _formulas(
    text: str, point: Mapping[str, float | str], unknowns: Sequence[str] | None
) -> Solved | None:
    if unknowns is None or len(unknowns) != 1:
        return None
    program, texts = read_with_unknowns(text, point, unknowns, units=True)
    check_bare_functions(program, {*point, *unknowns})
    check_products(program, {*point, *unknowns}, unknowns)
    (name,) = unknowns
    if (
        len(program.roots) != 1
        or name not in program.leaves
        or not {*program.leaves} - {name, *point}
    ):
        return None
    numbers = {other: getattr(x, "number", x) for other, x in numbers_or_quantities(point).items()}
    values = {
        other: _formula_of(x, numbers[other])
        for other, x in point.items()
        if other != name and not hasattr(x, "unit")
    }
    found = formula_solutions(program.outputs[0], program.variables[name], values)
    if found is None:
        return None
    reason, message = _outcome_of_formulas(found)
    unused = {x: unused_name(program, x) for x in point if x not in program.leaves}
    held: dict[str, Shown] = {x: numbers[x] for x in point if x not in {*unused, name}}
    return Solved(
        text=text,
        arithmetic=DOUBLE,
        equations=list(texts),
        unknowns=[name],
        converged=bool(found.solutions),
        reason=reason,
        message=message,
        between={},
        point=held,
        constants=program.constants,
        warnings=(*unused.values(), *_restrictions(found, name)),
        formulas=found.solutions,
        units=_units_of_point(point),
    )


def _formula_of(x: float | str, number: Any) -> Value:
    """Return a value of the point as a formula, with the digits that were typed."""
    return parse(x if isinstance(x, str) else getattr(x, "source", None) or repr(number)).outputs[0]


def _outcome_of_formulas(found: FormulaSolutions) -> tuple[str, str]:
    """Return whether there are formulas, by its word in records and in words for people."""
    if found.solutions:
        return "solved", "solved"
    if found.identity is None:
        return "none", "none: there is no real solution"
    return "none", f"none, but where {found.identity}"


def _restrictions(found: FormulaSolutions, name: str) -> Iterator[Diagnostic]:
    """Yield notes on what formulas do not say: solutions of some exponents only, and where every
    number is one.
    """
    if found.restriction is not None:
        only = (
            f"only solutions with `{found.restriction}` are given: a negative number has powers for"
            " some exponents only"
        )
        yield Diagnostic("branch", only, None, "give the exponent as a number")
    if found.identity is not None:
        always = (
            f"the equation holds for all `{name}` for which it has a value, where {found.identity}"
        )
        yield Diagnostic("flat", always, None, "give the other variables values to see where")


def _units_of_point(point: Mapping[str, float | str]) -> Units | None:
    if not any(hasattr(x, "unit") for x in point.values()):
        return None
    from ...engine.quantities.unit import Unit
    from ...questions.quantities import Units  # only units need it

    return Units(point={other: getattr(x, "unit", None) or Unit() for other, x in point.items()})


class _FoundRoot:
    """A root that a search found: its values and derivatives in any arithmetic, and what is known
    of it.
    """

    def __init__(
        self,
        finder: Search,
        start: Sequence[float],
        order: int,
        relative: bool,
        arithmetic: Arithmetic,
    ) -> None:
        self.finder, self.start, self.order, self.relative, self.arithmetic = (
            finder,
            start,
            order,
            relative,
            arithmetic,
        )
        self.at = _named(finder.unknowns, start)
        self.left, self.slopes = finder.residuals(start)
        if start[0] in finder.on_jumps:
            self.left = [0.0]  # that of the double beside the solution says nothing
        self.multiplicity, self.off, self.equation = finder.special_roots.get(tuple(start), Root())
        self.accuracy = finder.accuracy(start) if self.may_be_simple else None
        self.simple = self.accuracy is not None
        if self.simple:
            self.multiplicity = 1
        self.exact = self.off is not None and not any(self.off)

    @property
    def may_be_simple(self) -> bool:
        return (self.multiplicity or 1) == 1 and self.equation is None

    def solution(self) -> Solution:
        """Return the root with its derivatives, and warn where it has none."""
        finder, problem = self.finder, self.finder.problem
        tree = (
            None if problem.units is None else problem.units.of_solution(problem.wanted, self.order)
        )
        answer = self._sharpest_answer(_fixed(problem, self.at), tree)
        is_told = finder.complete is False or any(
            warning.kind == "flat" for warning in problem.warnings
        )
        if not self.simple and problem.wanted and not is_told:
            problem.warnings.append(self._without_derivative())
        bounds, left = self._bounds(), self.left
        if tree is not None:
            from ...engine.quantities.presentation import present_tree  # only units need it

            bounds = present_tree(REAL, bounds, tree["errors"])
            left = present_tree(REAL, left, tree["residuals"])
        return Solution(
            **answer,
            errors=dict(bounds),
            residuals=left,
            simple=self.simple,
            multiplicity=self.multiplicity,
            proven=self.arithmetic.name == "certified" and not finder.on_a_plateau(self.start[0]),
        )

    def _sharpest_answer(self, point: Point, tree: Units | None) -> dict[str, Any]:
        """Return the values and derivatives, from more digits where doubles may lose them, or with
        a warning.
        """
        is_rough = self.accuracy is None or self.accuracy.lacks_digits(self.start)
        has_lost = (
            self.arithmetic == DOUBLE and self.simple and not is_rough and self._loses_digits()
        )
        if self.arithmetic == DOUBLE and self.may_be_simple and (is_rough or has_lost):
            answer = self._sharper(point, tree)
            if answer is not None:
                return answer
        answer = self._answer(point, tree)
        self.finder.problem.warnings.extend(self._lost_digits() if has_lost else ())
        return answer

    def _loses_digits(self) -> bool:
        """Return whether rounding may lose digits of the derivatives."""
        from ...questions.rounding import is_accurate

        problem, bounded = (
            self.finder.problem,
            {name: Bounded(float(x)) for name, x in self._everything().items()},
        )
        if not problem.wanted:
            return False
        try:
            rows, _ = derivatives(
                RUNNING, self.finder.outputs, bounded, self.finder.unknowns, problem.wanted
            )
        except (ExpressionError, *NO_RESULT):
            return True
        return not all(is_accurate(x) for row in rows for x in row)

    def _lost_digits(self) -> list[Diagnostic]:
        """Return warnings about digits of the derivatives that rounding has lost."""
        from ...questions.rounding import lost_number_warnings

        problem, finder = self.finder.problem, self.finder
        numbers = numbers_at_solution(finder.outputs, finder.unknowns, problem.wanted)
        shown = [
            derivative_phrase(unknown, name)
            for unknown in finder.unknowns
            for name in problem.wanted
        ]

        def compute(m: NumberType, at: Mapping[str, Number]) -> dict[str, Number]:
            computed = numbers(m, at)
            return {name: computed[name] for name in shown}

        values = {name: float(x) for name, x in self._everything().items()}
        return lost_number_warnings(problem.program.graph, values, values, compute, "solve")

    def _everything(self) -> dict[str, Any]:
        """Return the values of parameters and unknowns."""
        return {**self.finder.problem.values, **self.at}

    def _answer(self, point: Point, tree: Units | None) -> dict[str, Any]:
        """Return the values and derivatives; the values alone where the derivatives have none."""
        precisely = self.exact and self.arithmetic.name == "precision"
        try:
            return self.arithmetic.run(point, self._work, tree)
        except ExpressionError as error:
            if not (precisely or self.arithmetic == DOUBLE) or error.kind not in (
                "derivative",
                "domain",
            ):
                raise
            answer = self.arithmetic.run(point, lambda m, _: {"values": self._numbers(m)}, tree)
            if not precisely:
                message = f"the solution has no derivatives: {error}"
                self.finder.problem.warnings.append(
                    Diagnostic("derivative", message, error.span, error.hint)
                )
            return answer

    def _numbers(self, m: NumberType) -> dict[str, Number]:
        return {name: m.number(x) for name, x in self.at.items()}

    def _work(self, m: NumberType, values: Values) -> dict[str, Any]:
        plain = m is REAL or (self.exact and not self.simple and m.name == "precision")
        here = self._numbers(m) if plain else self._sharpened(m, values)
        answer: dict[str, Any] = {"values": here}
        if self.finder.problem.units is None and (bound := self._bound(m, {**values, **here})):
            answer["bound"] = bound
        if self.simple and self.finder.problem.wanted:
            with suppress(Singular):
                self._differentiate(m, values, here, answer)
        return answer

    def _bound(self, m: NumberType, everything: Mapping[str, Number]) -> dict[str, Number]:
        """Return the values of the names that are bound to what depends on the unknowns."""
        bound: dict[str, Number] = {}
        for name, value in self.finder.problem.program.bindings:
            if not {*self.at}.isdisjoint(leaf.label for leaf in in_order((value,))):
                with suppress(ExpressionError, *NO_RESULT):
                    bound[name] = evaluate_in(m, value, everything).value
        return bound

    def _sharpened(self, m: NumberType, values: Values) -> dict[str, Number]:
        """Return the unknowns in the digits of a number type."""
        if self.equation is None:
            order, outputs = self.multiplicity or 0, list(self.finder.outputs)
        else:
            order, outputs = 1, [self.equation]
        if m.name == "certified":
            return self._proven(m, values, outputs, may_be_multiple=order > 1)
        return self._refined(m, values, outputs, order)

    def _refined(
        self, m: Any, values: Values, outputs: list[Value], order: int
    ) -> dict[str, Number]:
        """Return the unknowns by Newton steps, which correct themselves: only the limit has an
        error.
        """
        from ...engine.numbers import running_digits

        finder = self.finder
        fixed = {name: running_digits.value_of(x) for name, x in values.items()}
        point = refine(
            m.base, finder.system(m.base, fixed, order or 1, outputs), list(self.at.values())
        )
        if order == 1 or len(point) > 1:
            return _named(
                finder.unknowns, with_errors(m, finder.system(m, values, 1, outputs), point)
            )
        # a multiple root has the digits in which values beside it differ from 0
        (root,), (name,) = point, finder.unknowns

        def is_zero(x: Number) -> bool:
            (value,) = evaluate_in(m, outputs, {**values, name: m.number(x)}, ()).values
            return bool(m.same(value, 0))

        distance = (abs(root) or m.base.number(1)) * m.base.context.ldexp(1, -m.bits)
        while is_zero(root - distance) or is_zero(root + distance):
            distance *= 4
            if distance > 1 + abs(root):
                raise undecided("cannot determine the distance to the root")
        return {name: m.within(root, distance)}

    def _proven(
        self, m: Any, values: Values, outputs: list[Value], *, may_be_multiple: bool
    ) -> dict[str, Number]:
        """Return the unknowns as balls that are proven to hold exactly one solution."""
        from flint import arb

        from ...engine.numbers.ball import Ball

        unknowns, places = self.finder.unknowns, list(self.at.values())
        operator = Krawczyk(outputs, unknowns, values, boxes(m.bits))
        if (may_be_multiple or self.exact) and operator.proves_root(places):
            return _named(unknowns, map(m.number, places))
        enclosed = operator.enclose(places, 8)
        if enclosed is None:
            raise undecided("cannot determine whether there is exactly one solution here")
        box, narrow = enclosed[0], operator.contract_repeatedly(enclosed[1])
        # an exact solution in the box is the only one in it
        plain = [0.0 if a.contains(0) else x for x, a in zip(places, narrow, strict=True)]
        if all(
            a.contains(arb(x)) for a, x in zip(box, plain, strict=True)
        ) and operator.proves_root(plain):
            return _named(unknowns, map(m.number, plain))
        return _named(unknowns, map(Ball, narrow))

    def _differentiate(
        self, m: NumberType, values: Values, here: dict[str, Number], answer: dict[str, Any]
    ) -> None:
        """Add the derivatives to an answer."""
        problem, unknowns, wanted = (
            self.finder.problem,
            self.finder.unknowns,
            self.finder.problem.wanted,
        )
        outputs, everything = self.finder.outputs, {**values, **here}
        first, kinks = derivatives(m, outputs, everything, unknowns, wanted)
        met = kink_warnings(self.arithmetic, kinks.values())
        problem.warnings.extend(warning for warning in met if warning not in problem.warnings)
        if self.order > 1:
            second = second_derivatives(m, outputs, everything, unknowns, wanted, first)
            by_name = ([_named(wanted, row) for row in rows] for rows in second)
            answer["second"] = _named(unknowns, (_named(wanted, rows) for rows in by_name))
        answer["derivatives"] = _named(unknowns, (_named(wanted, row) for row in first))
        if self.relative:
            shares = answer["elasticities"] = {}
            for (unknown, u), row in zip(here.items(), first, strict=True):
                slopes_of = zip(wanted, row, strict=True)
                shares[unknown] = {
                    p: None if u == 0 else values[p] * slope / u for p, slope in slopes_of
                }

    def _sharper(self, point: Point, tree: Units | None) -> dict[str, Any] | None:
        """Return the answer from more digits than doubles have, or None; it takes the root for a
        simple one.
        """
        fails, self.simple = self.simple and len(self.at) == 1, True
        with Defined(ArithmeticError, ValueError):
            sharper = self.arithmetic.run(point, self._in_more_digits, tree)
            self.left, self.slopes = self.finder.residuals([*self.at.values()])
            self.multiplicity = 1
            self.off = self.off or [half_ulp(x) if x else MAX_VANISHING for x in self.at.values()]
            return sharper
        self.at, self.simple = _named(self.finder.unknowns, self.start), fails
        return None

    def _in_more_digits(self, *_: Any) -> dict[str, Any]:
        from ...engine.numbers.running_digits import RunningDigits

        m = RunningDigits(ROOT_DIGITS)

        def in_doubles(_: str, x: Any) -> float:
            if x.correct_digits(SHARP_DIGITS) >= SHARP_DIGITS:
                return float(x)
            if x.abs_upper() > MAX_VANISHING:
                raise undecided("cannot determine the digits of this")
            return 0.0

        answer: dict[str, Any] = convert_numbers(
            self._work(m, self.finder.parameters(m)), in_doubles
        )
        self.at.update(answer["values"])
        return answer

    def _without_derivative(self) -> Diagnostic:
        """Return the warning that the solution has no derivative here."""
        multiplicity = self.multiplicity
        where = ", ".join(
            f"{name} = {self.finder.problem.text(name, x)}" for name, x in self.at.items()
        )
        if self.slopes is None or (
            self.equation is not None and self.off is not None and multiplicity in (None, 1)
        ):
            message = (
                f"the equation has no derivative by the unknown at {where}: the derivative of the"
                " solution is not known"
            )
            hint = "the solution lies on the edge of a domain or at a kink"
        elif multiplicity == 1:
            message = (
                f"cannot distinguish the derivative by the unknown from 0 at {where}: the solution"
                " has no derivative"
            )
            hint = "another root may be near; `--precision 50` differentiates it"
        else:
            what = (
                "a multiple root"
                if multiplicity is None
                else f"a root of multiplicity {multiplicity}"
            )
            message = (
                f"{what} at {where}, where the derivative by the unknown is 0: the solution has no"
                " derivative"
            )
            hint = "it may split or vanish when a value changes"
        return Diagnostic("multiple", message, None, hint)

    def _bounds(self) -> Any:
        """Return the error bounds of the values, where they are known."""
        if self.arithmetic == DOUBLE and self.off is not None:
            return _named(self.at, self.off)
        if self.arithmetic == DOUBLE and self.accuracy:
            return _named(self.at, self.accuracy.errors)
        return dict.fromkeys(self.at)


def _named(names: Iterable[str], values: Iterable[T]) -> dict[str, T]:
    return dict(zip(names, values, strict=True))


def _outcome(finder: OneEquation | SeveralEquations, count: int, every: bool) -> tuple[str, str]:
    """Return how a search ended, by its word in records and in words for people."""
    listed, text = finder.listed(count), finder.problem.text
    bounds = finder.problem.bounds.items()
    where = " and ".join(
        f"{text(name, low)} ≤ {name} ≤ {text(name, high)}" for name, (low, high) in bounds
    )
    between = f" for {where}" if where else ""
    if finder.undecided:
        message = (
            f"{listed} proven; in {plural(len(finder.undecided), 'box')} it is undecided whether"
            " there are more"
        )
        return "undecided", message + _places_without_bound(finder)
    if finder.complete:
        all_known, none = f"and no other{between}: {finder.kind}", f"{finder.kind}{between}"
        if finder.undecided is not None:
            ranges = ", with their intervals" * bool(finder.plateaus)
            all_known, none = (
                f"proven to be all{between}{ranges}",
                f"it is proven that there is no solution{between}",
            )
        return ("solved", f"{listed}, {all_known}") if count else ("none", f"none: {none}")
    if not count:
        where = between if every else ""
        least = finder.describe_least_residual()
        return "not found", f"no solution was found{where}{least}{finder.cut_short}"
    if every and not (finder.linear and finder.complete is False):
        more = finder.cut_short or "; `--certified` proves whether these are all"
        if finder.plateaus or finder.beside:
            more = ""
        return "solved", f"{listed} found{between}{more}"
    return "solved", finder.describe_search(count)


def _places_without_bound(finder: OneEquation | SeveralEquations) -> str:
    """Return where equations have no bound, for a message; nothing where they have one
    everywhere.
    """
    if not finder.unbounded:
        return ""
    text = finder.problem.text
    middles = (
        {name: low / 2 + high / 2 for name, (low, high) in box.items()} for box in finder.unbounded
    )
    places = [", ".join(f"{name} = {text(name, x)}" for name, x in box.items()) for box in middles]
    more = f" and {len(places) - MAX_NAMED_POLES} more" if len(places) > MAX_NAMED_POLES else ""
    return f"; there is no bound, as at a pole, near {'; '.join(places[:MAX_NAMED_POLES])}{more}"
