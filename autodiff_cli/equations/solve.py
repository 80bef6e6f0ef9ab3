"""Solutions of equations, their errors, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import Diagnostic, ExpressionError, limit_error, plural, quote, spelling_hint, usage_error
from ..graphs.value import Value
from ..graphs.value_and_gradient import evaluate_in
from ..inputs.arithmetic import DOUBLE, Arithmetic, Shown, Values, convert_numbers, kink_warnings
from ..inputs.optional_units import program_units, with_units
from ..inputs.parse_point import Range
from ..inputs.problem import (
    Point,
    Problem,
    check_values,
    numbers_or_quantities,
    parse,
    unit_offers,
    unused_name,
    wanted_variables,
)
from ..language.elements import expand
from ..numbers.base import Number, NumberType, undecided
from ..numbers.budget import Defined
from ..numbers.floats import REAL
from ..numerics.krawczyk import Krawczyk, boxes
from ..numerics.linear_algebra import Singular
from ..numerics.newton import refine, with_errors
from ..record import Record
from .enclosures import prove
from .equations import read_with_unknowns
from .formula_solutions import FormulaSolution, formula_solutions
from .one_unknown import SAME_ROOT, OneEquation
from .residuals import (
    ROOT_DIGITS,
    Ends,
    Root,
    Search,
    SolvingStopped,
    derivatives,
    half_ulp,
    second_derivatives,
)
from .several_unknowns import SeveralEquations

if TYPE_CHECKING:
    from ..inputs.quantities import Units

MAX_UNKNOWNS = 200
MAX_HESSIAN_SIZE = 30
MAX_NAMED_POLES = 4
SHARP_DIGITS = 17
"""Digits of a solution for which doubles are too rough."""
MAX_VANISHING = 1e-20
"""The size up to which a number that may be 0 counts as 0."""
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


class Solved(Record):
    """The solutions of equations, with their derivatives."""

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

    `point` has values and starts, `between` bounds of `unknowns`; `every` seeks all solutions there.

    >>> answer = solve("x**2 = a", {"a": 2}, unknowns=["x"], between=Range(0, 2))
    >>> round(answer.solutions[0].values["x"], 12), round(answer.solutions[0].derivatives["x"]["a"], 12)
    (1.414213562373, 0.353553390593)
    """
    if between is None and not every:
        answer = _formulas(text, with_units(point), unknowns)
        if answer is not None:
            return answer
    problem = posed_equations(text, point, unknowns, between, wrt, units, system=system)
    if arithmetic.name == "exact":
        hint = "use `--precision 50` or `--certified`"
        raise usage_error("roots are not fractions: `solve` has no `--exact`", hint)
    for name in problem.unknowns if every else ():
        if name not in problem.bounds:
            hint = f"`--between {name}=0:1`"
            raise usage_error(f"`--all` searches between bounds, and `{name}` has none", hint)
    variables, count = len(problem.wanted), len(problem.unknowns)
    if order > 1 and variables and variables + count > MAX_HESSIAN_SIZE:
        numbers = f"{plural(variables, 'variable')} and {plural(count, 'unknown')}"
        message = f"second derivatives by {numbers} are too many; {MAX_HESSIAN_SIZE} together is the most"
        hint = "name some of the variables: `--wrt x,y`" if count < MAX_HESSIAN_SIZE else "leave out `--order 2`"
        raise limit_error(message, hint)
    finder = (OneEquation if count == 1 else SeveralEquations)(problem, stop)
    anywhere = count == 1 and not problem.bounds and problem.unknowns[0] not in problem.point
    interrupted = False
    starts: list[list[float]] = []
    try:
        if every and arithmetic.name == "certified":
            exact = finder.solve_exactly() if isinstance(finder, OneEquation) else None
            starts = prove(finder) if exact is None else exact
        else:
            starts = finder.search_all() if every else finder.around() if anywhere else finder.solve_once()
    except SolvingStopped:
        interrupted = True
    finder.warn_of_places(starts)
    solutions = [_solution(finder, start, order, relative, arithmetic) for start in starts]
    others: list[float] = []
    if isinstance(finder, OneEquation) and len(starts) == 1 and not (every or interrupted):
        others = finder.other_solutions(*starts[0])
    is_open = finder.complete is None and finder.undecided is None
    if is_open and finder.linear and solutions and solutions[0].simple:
        finder.complete = True  # a regular matrix has one solution
    reason, message = ("interrupted", "interrupted") if interrupted else _outcome(finder, len(solutions), every)
    fixed = {name: problem.point[name] for name in problem.program.leaves if name not in problem.unknowns}
    measured = problem.units
    tree = None if measured is None else measured.of_solution(problem.wanted, order)

    def shown(box: Ends) -> Ends:
        return box if measured is None else {name: measured.ends(name, ends) for name, ends in box.items()}

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
        point=arithmetic.run(fixed, lambda m, values: {"point": values}, tree)["point"] if fixed else {},
        constants=problem.program.constants,
        warnings=tuple(problem.warnings),
        units=tree,
    )


def find_solution(problem: Problem) -> dict[str, float]:
    """Return the requested solution. Raises `ExpressionError`."""
    finder = (OneEquation if len(problem.unknowns) == 1 else SeveralEquations)(problem)
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
    program, texts = read_with_unknowns(text, [*typed, *ranges], unknowns, units=True)
    names, count = list(program.leaves), len(program.roots)
    if not names:
        hint = "write the unknown as a name: `x**2 = 2`"
        raise usage_error("there is no variable in the equations", hint)
    if unknowns is None:
        unknowns = [name for name in names if name in ranges] or [name for name in names if name not in typed]
        if not unknowns and len(names) == count:
            unknowns = names
    unknowns = expand(unknowns, names)
    for name in [*unknowns, *ranges]:
        if name not in names:
            hint = f"their variables: {quote(names)}"
            raise usage_error(f"`{name}` is not a variable of these equations", hint)
    for name in ranges:
        if name not in unknowns:
            raise usage_error(f"`{name}` has bounds but is not an unknown", f"make it one: `--for {name}`")
    if len(unknowns) != count:
        many = f"{len(unknowns)} unknowns, {quote(unknowns)}"
        if len(unknowns) < 2:
            many = f"the unknown is {quote(unknowns)}" if unknowns else "every variable has a value"
        hint = "name the unknowns, `--for x,y`, and give the other variables values: `--at …`"
        verb = "is" if count == 1 else "are"
        offers = unit_offers(text, unknowns, typed) if len(unknowns) > count else ()
        hint = f"write {spelling_hint(offers)}, or {hint}" if offers else hint
        raise ExpressionError("usage", f"there {verb} {plural(count, 'equation')}, and {many}", None, hint, (), offers)
    if count > MAX_UNKNOWNS:
        message = f"{count} equations are too many; {MAX_UNKNOWNS} is the most"
        raise limit_error(message, "solve fewer")
    if isinstance(between, Range):
        if count > 1:
            hint = "write `--between x=0:1,y=0:2`"
            raise usage_error("bounds of several unknowns need their names", hint)
        ranges = {unknowns[0]: between}
    numbers, measured = numbers_or_quantities(typed), None
    if dimensions:
        measured = program_units(program, numbers, units, unknowns=unknowns, ranges=ranges, system=system)
    bounds: Ends = {}
    for name, (low, high) in ranges.items():
        if low is None or high is None or not low < high:
            wrong = "need two ends" if low is None or high is None else "are one number"
            raise usage_error(f"the bounds of `{name}` {wrong}", f"write `--between {name}=0:1`")
        bounds[name] = (float(low), float(high))
    values = {name: float(x) for name, x in numbers.items()}
    for name in unknowns:
        if name not in values:
            values[name] = sum(bounds[name]) / 2 if name in bounds else 1.0
        elif name in bounds:
            Range(*bounds[name]).check_start(name, typed[name])
    warnings = [*check_values(program, values), *(measured.warnings if measured is not None else ())]
    wanted = names if wrt is None else wanted_variables(program, values, wrt, unknowns)
    wanted = [name for name in wanted if name in names and name not in unknowns]
    return Problem(program, typed, values, wanted, warnings, list(unknowns), bounds, texts, measured)


def _formulas(text: str, point: Mapping[str, float | str], unknowns: Sequence[str] | None) -> Solved | None:
    if len(unknowns or ()) != 1:
        return None
    program, texts = read_with_unknowns(text, [*point], unknowns, units=True)
    (name,) = unknowns or ()
    if len(program.roots) != 1 or name not in program.leaves or not {*program.leaves} - {name, *point}:
        return None
    numbers = {other: getattr(x, "number", x) for other, x in numbers_or_quantities(point).items()}
    values = {
        other: parse(x if isinstance(x, str) else getattr(x, "source", None) or repr(numbers[other])).outputs[0]
        for other, x in point.items()
        if other != name and not hasattr(x, "unit")
    }
    found = formula_solutions(program.outputs[0], program.variables[name], values)
    if found is None:
        return None
    formulas, warnings = (
        found.solutions,
        [unused_name(program, other) for other in point if other not in program.leaves],
    )
    message = "solved" if formulas else "none: there is no real solution"
    if found.restriction is not None:
        only = (
            f"only solutions with `{found.restriction}` are given: a negative number has powers for some exponents only"
        )
        warnings.append(Diagnostic("branch", only, None, "give the exponent as a number"))
    if found.identity is not None:
        always = f"the equation holds for all `{name}` for which it has a value, where {found.identity}"
        warnings.append(Diagnostic("flat", always, None, "give the other variables values to see where"))
        message = message if formulas else f"none, but where {found.identity}"
    units = None
    if any(hasattr(x, "unit") for x in point.values()):
        from ..inputs.quantities import Units  # only units need it
        from ..quantities.unit import Unit

        units = Units(point={other: getattr(x, "unit", None) or Unit() for other, x in point.items()})
    held: dict[str, Shown] = {x: numbers[x] for x in point if x in program.leaves and x != name}
    return Solved(
        text=text,
        arithmetic=DOUBLE,
        equations=list(texts),
        unknowns=[name],
        converged=bool(formulas),
        reason="solved" if formulas else "none",
        message=message,
        between={},
        point=held,
        constants=program.constants,
        warnings=tuple(warnings),
        formulas=formulas,
        units=units,
    )


def _solution(finder: Search, start: Sequence[float], order: int, relative: bool, arithmetic: Arithmetic) -> Solution:
    problem = finder.problem
    unknowns, wanted, outputs = finder.unknowns, problem.wanted, finder.outputs
    at = dict(zip(unknowns, start, strict=True))
    point = {name: problem.point[name] for name in problem.program.leaves if name not in at}
    left, slopes = finder.residuals(start)
    if start[0] in finder.on_jumps:
        left = [0.0]  # that of the double beside the solution says nothing
    multiplicity, off, equation = finder.special_roots.get(tuple(start), Root())
    may_be_simple = (multiplicity or 1) == 1 and equation is None
    accuracy = finder.accuracy(start) if may_be_simple else None
    simple = accuracy is not None
    multiplicity = 1 if simple else multiplicity
    tree = None if problem.units is None else problem.units.of_solution(wanted, order)
    sharp, order_there = (list(outputs), multiplicity) if equation is None else ([equation], 1)
    exact = off is not None and not any(off)

    def work(m: NumberType, values: Values) -> dict[str, Any]:
        plain = m is REAL or (exact and not simple and m.name == "precision")
        numbers = {name: m.number(x) for name, x in at.items()}
        here = numbers if plain else _sharpen(m, finder, values, at, order_there or 0, sharp, exact)
        answer: dict[str, Any] = {"values": here}
        if simple and wanted:
            everything = {**values, **here}
            with suppress(Singular):
                first, kinks = derivatives(m, outputs, everything, unknowns, wanted)
                met = kink_warnings(arithmetic, kinks.values())
                problem.warnings.extend(warning for warning in met if warning not in problem.warnings)
                if order > 1:
                    second = second_derivatives(m, outputs, everything, unknowns, wanted, first)
                    by_name = ([_named(wanted, row) for row in rows] for rows in second)
                    answer["second"] = _named(unknowns, (_named(wanted, rows) for rows in by_name))
                answer["derivatives"] = _named(unknowns, (_named(wanted, row) for row in first))
                if relative:
                    shares = answer["elasticities"] = {}
                    for (unknown, u), row in zip(here.items(), first, strict=True):
                        slopes_of = zip(wanted, row, strict=True)
                        shares[unknown] = {p: None if u == 0 else values[p] * slope / u for p, slope in slopes_of}
        return answer

    def in_more_digits(*_: Any) -> dict[str, Any]:
        from ..numbers.running_digits import RunningDigits

        m = RunningDigits(ROOT_DIGITS)

        def in_doubles(_: str, x: Any) -> float:
            if x.correct_digits(SHARP_DIGITS) >= SHARP_DIGITS:
                return float(x)
            if x.abs_upper() > MAX_VANISHING:
                raise undecided("cannot determine the digits of this")
            return 0.0

        answer = convert_numbers(work(m, finder.parameters(m)), in_doubles)
        at.update(answer["values"])
        return answer

    answer: dict[str, Any] | None = None
    is_rough = accuracy is None or accuracy.lacks_digits(start)
    if arithmetic == DOUBLE and equation is None and (multiplicity or 1) == 1 and is_rough:
        fails, simple = simple and len(at) == 1, True
        with Defined(ArithmeticError, ValueError):
            sharper = arithmetic.run(point, in_more_digits, tree)
            left, slopes = finder.residuals([*at.values()])
            answer, multiplicity = sharper, 1
            off = off or [half_ulp(x) if x else MAX_VANISHING for x in at.values()]
        if answer is None:
            at, simple = dict(zip(unknowns, start, strict=True)), fails
    try:
        answer = answer or arithmetic.run(point, work, tree)
    except ExpressionError as error:
        precisely = exact and arithmetic.name == "precision"
        if not (precisely or arithmetic == DOUBLE) or error.kind not in ("derivative", "domain"):
            raise
        answer = arithmetic.run(point, lambda m, _: {"values": {name: m.number(x) for name, x in at.items()}}, tree)
        if not precisely:
            message = f"the solution has no derivatives: {error}"
            problem.warnings.append(Diagnostic("derivative", message, error.span, error.hint))
    is_told = finder.complete is False or any(warning.kind == "flat" for warning in problem.warnings)
    if not simple and wanted and not is_told:
        where = ", ".join(f"{name} = {problem.text(name, x)}" for name, x in at.items())
        what = "a multiple root" if multiplicity is None else f"a root of multiplicity {multiplicity}"
        message = f"{what} at {where}, where the derivative by the unknown is 0: the solution has no derivative"
        hint = "it may split or vanish when a value changes"
        if slopes is None or (equation is not None and off is not None and multiplicity in (None, 1)):
            message = (
                f"the equation has no derivative by the unknown at {where}: the derivative of the solution is not known"
            )
            hint = "the solution lies on the edge of a domain or at a kink"
        elif multiplicity == 1:
            message = (
                f"cannot distinguish the derivative by the unknown from 0 at {where}: the solution has no derivative"
            )
            hint = "another root may be near; `--precision 50` differentiates it"
        problem.warnings.append(Diagnostic("multiple", message, None, hint))
    bounds: Any = dict.fromkeys(at)
    if arithmetic == DOUBLE and (accuracy or off is not None):
        bounds = _named(at, accuracy.errors if accuracy and off is None else off or ())
    if tree is not None:
        from ..inputs.quantities import in_units  # only units need it

        bounds, left = in_units(REAL, bounds, tree["errors"]), in_units(REAL, left, tree["residuals"])
    return Solution(
        **answer,
        errors=dict(bounds),
        residuals=left,
        simple=simple,
        multiplicity=multiplicity,
        proven=arithmetic.name == "certified" and not finder.on_a_plateau(start[0]),
    )


def _named(names: Iterable[str], values: Iterable[T]) -> dict[str, T]:
    return dict(zip(names, values, strict=True))


def _sharpen(
    m: Any, finder: Search, values: Values, start: Mapping[str, float], order: int, outputs: list[Value], exact: bool
) -> dict[str, Number]:
    unknowns, places = finder.unknowns, list(start.values())
    if m.name != "certified":
        # Newton steps correct themselves: only the limit has an error.
        from ..numbers import running_digits

        fixed = {name: running_digits.value_of(x) for name, x in values.items()}
        point = refine(m.base, finder.system(m.base, fixed, order or 1, outputs), places)
        if order == 1 or len(point) > 1:
            return _named(unknowns, with_errors(m, finder.system(m, values, 1, outputs), point))
        # a multiple root has the digits in which values beside it differ from 0
        (root,), (name,) = point, unknowns

        def is_zero(x: Number) -> bool:
            (value,) = evaluate_in(m, outputs, {**values, name: m.number(x)}, ()).values
            return bool(m.same(value, 0))

        distance = (abs(root) or m.base.number(1)) * m.base.context.ldexp(1, -m.bits)
        while is_zero(root - distance) or is_zero(root + distance):
            distance *= 4
            if distance > 1 + abs(root):
                raise undecided("cannot determine the distance to the root")
        return {name: m.within(root, distance)}
    from flint import arb

    from ..numbers.ball import Ball

    operator = Krawczyk(outputs, unknowns, values, boxes(m.bits))
    if (order > 1 or exact) and operator.proves_root(places):
        return _named(unknowns, map(m.number, places))
    enclosed = operator.enclose(places, 8)
    if enclosed is None:
        raise undecided("cannot determine whether there is exactly one solution here")
    box, narrow = enclosed[0], operator.contract_repeatedly(enclosed[1])
    # an exact solution in the box is the only one in it
    plain = [0.0 if a.contains(0) else x for x, a in zip(places, narrow, strict=True)]
    if all(a.contains(arb(x)) for a, x in zip(box, plain, strict=True)) and operator.proves_root(plain):
        return _named(unknowns, map(m.number, plain))
    return _named(unknowns, map(Ball, narrow))


def _outcome(finder: OneEquation | SeveralEquations, count: int, every: bool) -> tuple[str, str]:
    listed, text, boxes = finder.listed(count), finder.problem.text, finder.undecided
    bounds = finder.problem.bounds.items()
    where = " and ".join(f"{text(name, low)} ≤ {name} ≤ {text(name, high)}" for name, (low, high) in bounds)
    between = f" for {where}" if where else ""
    if boxes:
        message = f"{listed} proven; in {plural(len(boxes), 'box')} it is undecided whether there are more"
        if finder.unbounded:
            middles = ({name: low / 2 + high / 2 for name, (low, high) in box.items()} for box in finder.unbounded)
            places = [", ".join(f"{name} = {text(name, x)}" for name, x in box.items()) for box in middles]
            more = f" and {len(places) - MAX_NAMED_POLES} more" if len(places) > MAX_NAMED_POLES else ""
            message += f"; there is no bound, as at a pole, near {'; '.join(places[:MAX_NAMED_POLES])}{more}"
        return "undecided", message
    if finder.complete:
        all_known, none = f"and no other{between}: {finder.kind}", f"{finder.kind}{between}"
        if boxes is not None:
            ranges = ", with their intervals" * bool(finder.plateaus)
            all_known, none = f"proven to be all{between}{ranges}", f"it is proven that there is no solution{between}"
        return ("solved", f"{listed}, {all_known}") if count else ("none", f"none: {none}")
    if not count:
        where = between if every else ""
        least = finder.describe_least_residual()
        return "not found", f"no solution was found{where}{least}{finder.cut_short}"
    if every and not (finder.linear and finder.complete is False):
        more = "" if finder.plateaus else finder.cut_short or "; `--certified` proves whether these are all"
        return "solved", f"{listed} found{between}{more}"
    return "solved", finder.describe_search(count)
