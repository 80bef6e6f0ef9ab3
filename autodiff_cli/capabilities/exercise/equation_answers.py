"""Marking of solutions of equations, `x=1, y=2; x=-1, y=3` or `2, 3`, and of unknowns'
derivatives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import permutations
from operator import mul
from typing import Any

from ...engine.algebra.rational_functions import fraction_of, graph_product, polynomial_in, vanishes
from ...engine.algebra.walk import linear_and_kinks, substitute
from ...engine.graphs.value import Value, in_order, node
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.base import NumberType
from ...engine.numbers.budget import Defined
from ...engine.numbers.floats import REAL
from ...engine.numerics.linear_algebra import solve_linear
from ...engine.numerics.newton import newton, refine
from ...engine.table.operators import SUB, VARIABLE
from ...errors import ExpressionError, limit_error, plural, quote, usage_error
from ...language.builder import Program
from ...language.diagnostics.leniency import read_leniently
from ...questions.arithmetic import Arithmetic
from ...questions.equations import Equations, read_with_unknowns
from ...questions.optional_units import with_units
from ...questions.parse_point import split
from ...questions.problem import Point, parse, single_output
from ..formulas.diff import Derivative
from ..solve.continuity import is_at_a_pole, may_break
from ..solve.solve import Solved, solve
from . import marking
from .exercise import Exercise, Marked
from .marking import (
    SIGN,
    ComparedPoint,
    FormulaAnswer,
    agree,
    as_number,
    figure,
    many_digits,
    own_exercise,
    value_at,
)
from .whole_number_answers import Repeating, compared, numbers_at, spelled_out

# The text of each unknown's value.
Solution = dict[str, str]

NONE = ("none", "no solution")
MAX_SWAPPED_VALUES = 4
_NAMED = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)")
_NAME = re.compile(r"[^\W\d]\w*")
_TUPLE = re.compile(r"\s*\((.*)\)\s*", re.DOTALL)
_SET = re.compile(r"\s*(?:\w+\s*(?:=|∈|\bin\b)\s*)?(?:\{(.*)\}|\[(.*)\])\s*", re.DOTALL)
# An answer with a letter or a sign in which units are written.
_MAY_HAVE_UNIT = re.compile(r".*[^\W\d°′″%]|.*[°′″%]", re.DOTALL)
_PARTS = re.compile(r";|\s+(?:or|and)\s+")
# The greatest relative errors of equal and of near values.
EQUAL_WITHIN, NEAR_RELATIVE = Fraction(1, 10**50), Fraction(1, 100)


def check_solution(
    text: str,
    point: Point | None = None,
    *,
    answer: str,
    wrt: Sequence[str] | None = None,
    unknowns: Sequence[str] | None = None,
    between: Any = None,
    every: bool = False,
    units: Sequence[str] | str | None = None,
) -> Marked:
    """Mark numbers or formulas as the solutions of equations; numbers without a unit are in that of
    the solution.
    """
    marking.require_length(answer)
    posed, point = own_exercise("solution", text, [], point=point), with_units(point)
    equations = read_with_unknowns(text, [*point], unknowns, units=True)
    names, count = list(equations.program.variables), len(equations.program.outputs)
    if count > 1:
        others = [name for name in names if name not in point]
        answered = [name for name in names if re.search(rf"\b{re.escape(name)}\s*=(?!=)", answer)]
        unknowns = unknowns or (others if len(others) == count else answered or others)
        if {*others} - {*unknowns}:
            # for formulas, the equations decide
            return _roots_marked(posed, _System(equations, point, unknowns), answer, None)
    every = every or between is not None
    precise = Arithmetic("precision", 60)
    try:
        solved = solve(
            text, point, unknowns=unknowns, between=between, every=every, arithmetic=precise,
            units=units
        )  # fmt: skip
    except ExpressionError as error:
        if error.kind != "missing_value" or not unknowns:
            raise
        # other variables have no values, and the solutions are not known as formulas
        return _roots_marked(posed, _System(equations, point, unknowns), answer, None)
    system = _System(equations, point, solved.unknowns, solved.units)
    return _marked(posed, system, answer, solved)


def _marked(posed: Exercise, system: _System, answer: str, solved: Solved) -> Marked:
    repeating = _repeating_marked(posed, system, answer, solved)
    if repeating is not None:
        return repeating
    mark = _formulas_marked if solved.formulas and not solved.solutions else _roots_marked
    return mark(posed, system, answer, solved)


def _formulas_marked(posed: Exercise, system: _System, answer: str, solved: Solved) -> Marked:
    """Mark formulas by substitution in the equation, and by the set of solutions at points of the
    other variables.
    """
    if answer.strip().lower() in NONE:
        return Marked(posed, answer, False, "wrong: there are solutions")
    (name,) = solved.unknowns
    entries = [solution[name] for solution in solutions_in(answer, solved.unknowns)]
    given = [system.graphs({name: entry})[name] for entry in entries]
    # formulas for a leading coefficient of 0 are optional
    expected = [
        (
            system.put_in(_graph(formula.formula)),
            system.put_in(_graph(f"where({formula.condition or '0 == 0'}, 1, 0)")),
        )
        for formula in solved.formulas
        if " == 0" not in (formula.condition or "")
    ]
    (output,) = system.outputs
    left = [_put_in(output, {name: graph}) for graph in given]
    names = _names([*left, *given, *(graph for pair in expected for graph in pair)])
    chosen, further = marking.points([*left, *given, *(formula for formula, _ in expected)], names)
    missing = decided = 0
    for k, at in enumerate((*chosen, *further) if names else ({},)):
        if k >= len(chosen) and decided >= marking.MIN_DECIDED_POINTS:
            break
        count = len(
            _different([formula for formula, condition in expected if _holds_at(condition, at)], at)
        )
        if not count:
            continue
        solves = [marking.are_equal(partial(_compared_with_zero, side, at)) for side in left]
        if False in solves:
            entry = entries[solves.index(False)]
            is_sign = system.first_failing({name: f"-({entry})"}) is None
            hint = "only its sign is wrong" if is_sign else "substitute it in both sides"
            return Marked(
                posed, answer, False, f"wrong: `{entry}` is not a solution", hint, "points", 0
            )
        # so many different solutions are all
        missing = max(missing, count - len(_different(given, at)))
        decided += True in solves
    if names and not missing and decided < marking.MIN_DECIDED_POINTS:
        raise _undecided(decided)
    proven = _are_proven(given, left, [formula for formula, _ in expected])
    how = "simplified" if proven else "points"
    if missing:
        return _with_missing(posed, answer, "", missing, how)
    proof = "" if proven else f", to {marking.AGREED_DIGITS} digits at points, which is not a proof"
    return Marked(posed, answer, True, f"right: that solves the equation{proof}", "", how, 0)


def _are_proven(given: Sequence[Value], left: Sequence[Value], expected: Sequence[Value]) -> bool:
    """Return whether simplification shows that formulas are all solutions; `left` has them put in
    the equation.
    """
    distinct = [
        graph
        for k, graph in enumerate(given)
        if not any(_is_same(graph, other) for other in given[:k])
    ]
    return len(distinct) == len(expected) and all(
        vanishes(side) or any(_is_same(graph, formula) for formula in expected)
        for graph, side in zip(given, left, strict=True)
    )


def _holds_at(condition: Value, at: Mapping[str, Fraction]) -> bool:
    m = many_digits()
    with suppress(marking.OutOfRange):
        return bool(value_at(m, condition, {name: as_number(m, x) for name, x in at.items()}) == 1)
    return False


def _different(formulas: Sequence[Value], at: Mapping[str, Fraction]) -> list[Any]:
    """Return the different values of formulas at a point."""
    m = many_digits()
    values: list[Any] = []
    for formula in formulas:
        with suppress(marking.OutOfRange):
            value = value_at(m, formula, {name: as_number(m, x) for name, x in at.items()})
            if value is not None and not any(agree(value, other) for other in values):
                values.append(value)
    return values


def _is_same(a: Value, b: Value) -> bool:
    return vanishes(node(SUB, (a, b)))


def _with_missing(posed: Exercise, answer: str, at_least: str, count: int, how: str) -> Marked:
    message = (
        f"wrong: {at_least}{plural(count, 'solution')} {'is' if count == 1 else 'are'} missing"
    )
    return Marked(posed, answer, False, message, "the given solutions are right", how, 0)


def _roots_marked(posed: Exercise, system: _System, answer: str, solved: Solved | None) -> Marked:
    roots: list[dict[str, Fraction]] = []
    if solved is not None:
        # in the coherent units of the SI
        roots = [
            {name: system.to_si(name, figure(solution.values[name])) for name in solved.unknowns}
            for solution in solved.solutions
        ]
    complete = (
        solved is not None and (bool(solved.complete) or solved.reason == "none")
    ) or system.has_one_solution()
    if answer.strip().lower() in NONE:
        return _none_marked(posed, answer, bool(roots), complete)
    matched: set[int] = set()
    remarks = []
    solutions = [system.with_angles(solution) for solution in solutions_in(answer, system.unknowns)]
    for solution in solutions:
        texts = (
            [*solution.values()]
            if len(solution) == 1
            else [f"{name} = {text}" for name, text in solution.items()]
        )
        which, fails = ", ".join(texts), system.first_failing(solution)
        agreeing = system.agreeing(solution, roots, rounded=fails is not None)
        matched |= agreeing
        if fails is None and solved is not None and not agreeing:
            if hint := _missed_bounds(system, solution, solved):
                return Marked(
                    posed, answer, False, f"wrong: `{which}` is not between the bounds", hint
                )
            if len(roots) > 1 or len(solution) == 1:
                remarks.append(f"`{which}` is a solution, though the search did not find it")
        elif fails is not None and agreeing:
            remarks.append(f"`{which}` is rounded")
        elif fails is not None:
            hint = system.mistake(solution, roots) or f"substitute it in `{fails}`"
            return Marked(posed, answer, False, f"wrong: `{which}` is not a solution", hint)
    if solved is not None and _has_endless_solutions(solved):
        remarks = ["there are infinitely many"]
    elif len(matched) < len(roots):
        return _with_missing(
            posed, answer, "" if complete else "at least ", len(roots) - len(matched), "numbers"
        )
    elif not complete:
        remarks.append("whether there are others is not known")
    one, several = ("the", "the ") if complete else ("a", "")
    right = (
        f"these are {several}solutions"
        if max(len(solutions), len(roots)) > 1
        else f"this is {one} solution"
    )
    return Marked(posed, answer, True, "; ".join([f"right: {right}", *remarks]))


def _repeating_marked(
    posed: Exercise, system: _System, answer: str, solved: Solved
) -> Marked | None:
    """Mark solutions with a letter for every whole number; None of an answer that has none."""
    typed = system.repeating(answer)
    if not any(one.letters for one in typed) or any(len(one.letters) > 1 for one in typed):
        return None
    (name,) = system.unknowns
    if solved.complete and not solved.formulas:
        which = next(one.text for one in typed if one.letters)
        return _refuted(posed, answer, which, solved.message)
    if not solved.formulas or not all(one.whole for one in solved.formulas):
        raise limit_error(
            "solutions that repeat can be checked only where all are known as formulas",
            "give those between bounds: `--between x=0:10 --all`",
        )
    wanted = [
        Repeating(one.formula, system.graphs({name: one.formula})[name], one.whole)
        for one in solved.formulas
    ]
    return _compared_at_points(posed, answer, typed, wanted)


def _compared_at_points(
    posed: Exercise, answer: str, typed: Sequence[Repeating], wanted: Sequence[Repeating]
) -> Marked:
    """Mark solutions that repeat by those of all, at points of the other variables."""
    places, least = _places([*typed, *wanted])
    decided = 0
    for at in places:
        if decided >= least:
            break
        given, expected = (numbers_at(forms, at) for forms in (typed, wanted))
        if given is None or expected is None:
            continue
        found = compared(given, expected)
        if found.wrong is not None:
            hint = "that is near: give it exactly" if found.is_near else ""
            return _refuted(posed, answer, found.wrong.text, hint)
        if found.missing:
            return _with_missing(posed, answer, "in each period ", found.missing, "numbers")
        decided += 1
    if decided < least:
        raise _undecided(decided)
    return Marked(posed, answer, True, "right: these are all solutions", "", "numbers", 0)


def _places(forms: Sequence[Repeating]) -> tuple[Sequence[Mapping[str, Fraction]], int]:
    """Return the points of their variables at which to compare forms, and at how many they have to
    be.
    """
    graphs = [one.graph for one in forms]
    whole = {letter for one in forms for letter in one.letters}
    names = [name for name in _names(graphs) if name not in whole]
    if not names:
        return [{}], 1
    chosen, further = marking.points(graphs, names)
    return [*chosen, *further], marking.MIN_DECIDED_POINTS


def _refuted(posed: Exercise, answer: str, which: str, hint: str) -> Marked:
    message = f"wrong: not every `{which}` is a solution"
    hint = hint or "substitute it with some whole numbers"
    return Marked(posed, answer, False, message, hint, "numbers", 0)


def _none_marked(posed: Exercise, answer: str, has_roots: bool, complete: bool) -> Marked:
    """Mark the answer that there is no solution."""
    if has_roots:
        return Marked(posed, answer, False, "wrong: there are solutions")
    if not complete:
        raise limit_error(
            "it is undecided whether there are solutions", "give bounds: `--between x=0:10 --all`"
        )
    return Marked(posed, answer, True, "right: there is no solution")


def _missed_bounds(system: _System, solution: Solution, solved: Solved) -> str:
    """Return bounds that a solution is not between; empty if there are none."""
    numbers = system.numbers(solution)
    for name, (low, high) in solved.between.items():
        x, (first, last) = numbers[name], (system.to_si(name, Fraction(end)) for end in (low, high))
        if x is not None and not first <= x <= last:
            unit = system.unit_text(name)
            return f"the bounds are {low:g}{unit} ≤ {name} ≤ {high:g}{unit}"
    return ""


def _has_endless_solutions(solved: Solved) -> bool:
    is_singular = len(solved.unknowns) > 1 and solved.complete is False
    return is_singular or any(warning.kind == "flat" for warning in solved.warnings)


def solutions_in(answer: str, unknowns: Sequence[str]) -> list[Solution]:
    """Return the solutions in an answer; unnamed values are in the unknowns' order.

    A repeated name begins a new solution. Raises a usage error for a missing value.

    >>> solutions_in("x=1, y=2; x=-1, y=3", ["x", "y"]), solutions_in("(1, 2), (-1, 3)", ["x", "y"])
    ([{'x': '1', 'y': '2'}, {'x': '-1', 'y': '3'}], [{'x': '1', 'y': '2'}, {'x': '-1', 'y': '3'}])
    """
    solutions: list[Solution] = []
    form = ", ".join(f"{name}=…" for name in unknowns)
    for name, text in _values(answer, unknowns, form):
        if not solutions or name in solutions[-1]:
            solutions.append({})
        solutions[-1][name] = text
    for number, solution in enumerate(solutions, start=1):
        missing = [name for name in unknowns if name not in solution]
        if missing:
            where = f" in solution {number}" if len(solutions) > 1 else ""
            raise usage_error(
                f"the answer has no value of {quote(missing)}{where}", f"write `{form}`"
            )
    if not solutions:
        raise usage_error("there is no solution in the answer", f"write `{form}`")
    return solutions


def _values(answer: str, unknowns: Sequence[str], form: str) -> Iterator[tuple[str, str]]:
    single = len(unknowns) == 1
    # `{2, 3}` and `[2, 3]`; `x_1 = 2, x_2 = 3`
    inside = _SET.fullmatch(answer)
    numbered = re.compile(rf"{re.escape(unknowns[0])}_?[\d₀-₉]+")
    for part in _PARTS.split(answer if inside is None else inside[1] or inside[2] or ""):
        bare = []
        for text in split(part):
            for entry in (
                [text.replace("±", sign) for sign in "+-"] if "±" in text and single else [text]
            ):
                named, bracketed = _NAMED.match(entry), None if single else _TUPLE.fullmatch(entry)
                if named is not None:
                    name = unknowns[0] if single and numbered.fullmatch(named[1]) else named[1]
                    if name not in unknowns:
                        raise usage_error(f"`{name}` is not an unknown", f"write `{form}`")
                    yield name, entry[named.end() :].strip()
                elif bracketed is not None and len(values := split(bracketed[1])) == len(unknowns):
                    yield from zip(unknowns, map(str.strip, values), strict=True)
                elif entry.strip():
                    bare.append(entry.strip())
        if len(bare) % len(unknowns):
            raise usage_error(
                f"the answer does not name the unknown of `{bare[-1]}`", f"write `{form}`"
            )
        yield from ((unknowns[k % len(unknowns)], text) for k, text in enumerate(bare))


def _graph(text: str) -> Value:
    with marking.errors_point_into(text):
        return read_leniently(text, lambda typed: single_output(parse(typed)))[0]


def _put_in(output: Value, graphs: Mapping[str, Value]) -> Value:
    return substitute(output, lambda v: graphs.get(v.label) if v.primitive is VARIABLE else None)


def _names(graphs: Sequence[Value]) -> list[str]:
    return sorted({v.label for v in in_order(graphs) if v.primitive is VARIABLE})


def _is_within(x: Fraction | None, root: Fraction, part: Fraction) -> bool:
    return x is not None and abs(x - root) <= part * max(abs(root), part)


class _System:
    def __init__(
        self,
        equations: Equations,
        point: Mapping[str, Any],
        unknowns: Sequence[str],
        units: Any = None,
    ) -> None:
        self.unknowns, self._graph_of_all = unknowns, equations.program.graph
        # The units that the solutions are shown in.
        self._units: Mapping[str, Any] = (units or {}).get("values", {})
        texts = {name: getattr(x, "source", None) or str(x) for name, x in point.items()}
        self._fixed = {name: _graph(text) for name, text in texts.items() if name not in unknowns}
        self.outputs = [self.put_in(output) for output in equations.program.outputs]
        self._texts = equations.texts
        # A letter of an answer that is a variable is no unit.
        self._names = {*equations.program.leaves} - {*unknowns}

    def put_in(self, graph: Value) -> Value:
        """Return a graph with the values of the known variables."""
        return _put_in(graph, self._fixed)

    def first_failing(self, solution: Solution) -> str | None:
        """Return the first equation that a solution fails, or None."""
        graphs = self.graphs(solution)
        differences = (_put_in(output, graphs) for output in self.outputs)
        return next(
            (text for text, x in zip(self._texts, differences, strict=True) if not _vanishes(x)),
            None,
        )

    def repeating(self, answer: str) -> list[Repeating]:
        """Return the solutions of one unknown in an answer, with the names that are none of the
        equations; empty for the answer that there is none.
        """
        text = spelled_out(answer)
        if len(self.unknowns) != 1 or text.strip().lower() in NONE:
            return []
        known, forms = _names(self.outputs), []
        for solution in solutions_in(text, self.unknowns):
            ((_, entry),) = solution.items()
            (graph,) = self.graphs(solution).values()
            letters = [letter for letter in _names((graph,)) if letter not in known]
            forms.append(Repeating(entry, graph, letters))
        return forms

    def graphs(self, solution: Solution) -> dict[str, Value]:
        """Return the values of a solution as graphs, in coherent units of the SI."""
        return {
            name: self.put_in(_graph(self._text_in_si(name, text)))
            for name, text in solution.items()
        }

    def _number_and_unit(self, name: str, text: str) -> tuple[str, Any]:
        """Return the number of an answer, and its unit; None without units."""
        own = self._units.get(name)
        if not _MAY_HAVE_UNIT.match(text) or self._names.intersection(_NAME.findall(text)):
            return text, own
        from ...engine.quantities.unit import Unit, quantity_name
        from ...questions.quantities import split_quantity  # only units need it

        number, unit = split_quantity(text) or (text, own)
        wanted = (own or Unit()).dimension
        if unit is not None and unit.dimension != wanted:
            message = (
                f"`{text}` is {quantity_name(unit.dimension)}, and `{name}` is"
                f" {quantity_name(wanted)}"
            )
            raise usage_error(message, f"give it in {own}" if own else "give a number")
        return number, unit

    def with_angles(self, solution: Solution) -> Solution:
        """Return a solution with numbers without a unit in radians where they are not right in
        degrees.
        """
        in_radians = {
            name: (
                f"({text}) rad"
                if name in self._units and self._is_plain_angle(name, text)
                else text
            )
            for name, text in solution.items()
        }
        if in_radians == solution or self.first_failing(solution) is None:
            return solution
        return in_radians if self.first_failing(in_radians) is None else solution

    def _is_plain_angle(self, name: str, text: str) -> bool:
        number, unit = self._number_and_unit(name, text)
        return number is text and unit.pi == 1 and not any(unit.dimension)

    def _text_in_si(self, name: str, text: str) -> str:
        number, unit = self._number_and_unit(name, text)
        if unit is None or (unit.scale == 1 and not unit.pi and not unit.zero):
            return number
        return f"({number})*({unit.factor_text})" + (f" + ({unit.zero})" if unit.zero else "")

    def to_si(self, name: str, x: Fraction) -> Fraction:
        """Return a solution as it is shown, in coherent units."""
        unit = self._units.get(name)
        return x if unit is None else x * _factor(unit) + unit.zero

    def unit_text(self, name: str) -> str:
        """Return the unit of an unknown as it follows a number."""
        unit = self._units.get(name)
        return f" {unit}" if unit is not None and str(unit) else ""

    def is_rounded(self, name: str, text: str, root: Fraction) -> bool:
        """Return whether an answer is a decimal to which the root rounds in its unit."""
        number, unit = self._number_and_unit(name, text)
        own = root if unit is None else (root - unit.zero) / _factor(unit)
        (x,) = self.numbers({name: text}).values()
        if x is None:
            return False
        return marking.is_rounded(
            number, x if unit is None else (x - unit.zero) / _factor(unit), own
        )

    def numbers(self, solution: Solution) -> dict[str, Fraction | None]:
        m = many_digits()
        numbers: dict[str, Fraction | None] = dict.fromkeys(solution)
        for name, graph in self.graphs(solution).items():
            with suppress(marking.OutOfRange):
                x = None if _names((graph,)) else value_at(m, graph, {})
                numbers[name] = None if x is None else Fraction(str(x))
        return numbers

    def agreeing(
        self, solution: Solution, roots: Sequence[Mapping[str, Fraction]], *, rounded: bool
    ) -> set[int]:
        """Return the indices of the roots that a solution is, or is the rounded value of."""
        numbers = self.numbers(solution)

        def agrees(name: str, root: Fraction) -> bool:
            x = numbers[name]
            if _is_within(x, root, EQUAL_WITHIN):
                return True
            return rounded and x is not None and self.is_rounded(name, solution[name], root)

        return {
            k for k, root in enumerate(roots) if all(agrees(name, root[name]) for name in solution)
        }

    def mistake(self, solution: Solution, roots: Sequence[Mapping[str, Fraction]]) -> str:
        """Return the mistake in a wrong solution; empty if unknown."""
        with suppress(ExpressionError):  # what is undecided is no reason
            return self._mistake(solution, roots)
        return ""

    def _mistake(self, solution: Solution, roots: Sequence[Mapping[str, Fraction]]) -> str:
        for name, text in solution.items():
            if self.first_failing(solution | {name: f"-({text})"}) is None:
                return f"the sign of `{name}` is wrong"
        if len(solution) <= MAX_SWAPPED_VALUES:
            for values in permutations(solution.values()):
                if self.first_failing(dict(zip(solution, values, strict=True))) is None:
                    return "the values are those of other unknowns: they are swapped"
        numbers = self.numbers(solution)
        if any(
            all(_is_within(x, root[name], NEAR_RELATIVE) for name, x in numbers.items())
            for root in roots
        ):
            return "that is near: give it exactly, or with more digits"
        return ""

    def has_one_solution(self) -> bool:
        """Return whether the equations are linear and regular."""
        names, unknowns = _names(self.outputs), self.unknowns
        is_square = len(self.outputs) == len(unknowns) and {*names} >= {*unknowns}
        if not is_square or len(linear_and_kinks(self._graph_of_all, unknowns)[0]) < len(unknowns):
            return False
        m: Any = many_digits()
        for at in marking.points([], names)[0][:3]:
            with Defined(ArithmeticError, ValueError):
                values = {name: as_number(m, x) for name, x in at.items()}
                rows = evaluate_in(m, self.outputs, values, unknowns).jacobian()[0]
                if abs(m.context.det(m.context.matrix(rows))) * 10**40 >= 1:
                    return True
        return False


def _factor(unit: Any) -> Fraction:
    """Return how many coherent units a unit is, to all digits of a comparison."""
    pi = Fraction(str(many_digits().pi)) if unit.pi else Fraction(1)
    return Fraction(unit.scale) * pi ** int(unit.pi)


def _compared_with_zero(
    difference: Value, at: Mapping[str, Fraction], m: NumberType
) -> tuple[Any, Any] | None:
    value = value_at(m, difference, {name: as_number(m, x) for name, x in at.items()})
    return None if value is None else (value, m.number(0))


def _undecided(equal: int) -> ExpressionError:
    message = (
        "it is undecided whether that is a solution: it could be compared at"
        f" {plural(equal, 'point')}"
    )
    return limit_error(f"{message} and not at {marking.MIN_DECIDED_POINTS}", "check it by `check`")


def _vanishes(difference: Value) -> bool:
    names = _names((difference,))
    if not names and may_break(difference) and is_at_a_pole(difference):
        return False

    chosen, further = marking.points([difference], names) if names else ([{}], [])
    least, equal = marking.MIN_DECIDED_POINTS if names else 1, 0
    for k, at in enumerate((*chosen, *further)):
        if k >= len(chosen) and equal >= least:
            break
        decided = marking.are_equal(partial(_compared_with_zero, difference, at))
        if decided is False:
            return False
        equal += decided is True
    if 0 < equal < least:
        raise _undecided(equal)
    return equal > 0


# Points of a curve to compare, and Newton steps to one.
MAX_POINTS, MAX_STEPS = 40, 80
# The fewest points of a curve at which a right derivative has to agree.
MIN_CURVE_POINTS = 12
STEP_TOLERANCE = 1e-12
MAX_DEGREE = 8


class CurveAnswer(FormulaAnswer):
    """An answer compared with an unknown's derivative where equations hold."""

    where, instead = "of the curve ", "look at the derivative: leave `--answer` out"
    undefined = "write it so that it has a value wherever the derivative exists"
    least = MIN_CURVE_POINTS

    def __init__(
        self, program: Program, unknowns: Sequence[str], derivative: Derivative, **answer: Any
    ) -> None:
        super().__init__(program=program, **answer)
        self.unknowns, self.derivative = list(unknowns), derivative

    def points(self) -> Iterator[Mapping[str, Any]]:
        # points of the curve, in doubles, nearest to points all around
        chosen, further = marking.points(
            [*self.program.outputs, self.typed, self.right], list(self.leaves)
        )
        seen: set[tuple[float, ...]] = set()
        for start in (*chosen, *further):
            at = self._nearest({name: float(x) for name, x in start.items()})
            if at is None:
                continue
            key = tuple(float(f"{x:.4g}") for x in at.values())
            if key not in seen:
                seen.add(key)
                # shorten the other variables, which determine the unknowns
                yield {
                    name: x if name in self.unknowns else float(f"{x:.4g}")
                    for name, x in at.items()
                }
            if len(seen) >= MAX_POINTS:
                return

    def compare_at(self, m: NumberType, at: Mapping[str, Any]) -> ComparedPoint | None:
        fixed = {
            name: as_number(m, Fraction(repr(x)))
            for name, x in at.items()
            if name not in self.unknowns
        }

        def system(unknowns: list[Any]) -> tuple[list[Any], list[list[Any]]]:
            return self._swept(
                m, fixed | dict(zip(self.unknowns, unknowns, strict=True)), self.unknowns
            )

        with Defined(ArithmeticError, ValueError):
            start, digits = [at[name] for name in self.unknowns], m.digits - 10
            # a long step if no point of the curve is near
            root, _, steps = next(newton(m, system, refine(m, system, start)))
            if steps is None:
                return None
            if any(
                abs(d) * 10**digits > max(abs(x), abs(s), 1)
                for d, x, s in zip(steps, root, start, strict=True)
            ):
                return None
            there = fixed | dict(zip(self.unknowns, root, strict=True))
            values = {name: there[name] for name in at}
            right = value_at(m, self.right, values)
            return (
                None
                if right is None
                else ComparedPoint(right, value_at(m, self.typed, values), values)
            )
        return None

    def agreement_message(self, what: str) -> tuple[str, str]:
        message, how = super().agreement_message(what)
        if how != "points" or len(self.program.outputs) > 1:
            return message, how
        above, below = (
            fraction_of(root)[0]
            for root in (node(SUB, (self.typed, self.right)), self.program.outputs[0])
        )
        for leaf in self.leaves.values():
            rest, divisor = (polynomial_in(root, leaf) for root in (above, below))
            if (
                rest is None
                or divisor is None
                or not 2 <= len(divisor) <= MAX_DEGREE + 1
                or vanishes(divisor[-1])
            ):
                continue
            while len(rest) >= len(divisor):
                lead, shift = rest[-1], len(rest) - len(divisor)
                rest = [graph_product(divisor[-1], c) for c in rest[:-1]]
                for k, c in enumerate(divisor[:-1]):
                    rest[shift + k] = node(SUB, (rest[shift + k], graph_product(lead, c)))
            if all(vanishes(c) for c in rest):
                return "its difference from the answer is 0 wherever the equation holds", "equation"
        return message, how

    def _swept(
        self, m: NumberType, at: Mapping[str, Any], by: Sequence[str]
    ) -> tuple[list[Any], list[list[Any]]]:
        swept = evaluate_in(m, self.program.outputs, at, by)
        rows, kinks = swept.jacobian()
        if kinks:
            raise ExpressionError("derivative", "a kink")
        return list(swept.values), rows

    def _nearest(self, at: dict[str, float]) -> dict[str, float] | None:
        with Defined(ArithmeticError):
            for _ in range(MAX_STEPS):
                values, rows = self._swept(REAL, at, list(at))
                gram = [[sum(map(mul, p, q)) for q in rows] for p in rows]
                weights = [w for (w,) in solve_linear(REAL, gram, [[-x] for x in values])]
                step = [sum(map(mul, weights, column)) for column in zip(*rows, strict=True)]
                at = {name: x + d for (name, x), d in zip(at.items(), step, strict=True)}
                if all(
                    abs(d) <= STEP_TOLERANCE * max(abs(x), 1e-3)
                    for d, x in zip(step, at.values(), strict=True)
                ):
                    return at
        return None

    def hints(self, there: Sequence[ComparedPoint]) -> Iterator[str]:
        of, by = self.derivative.of, self.derivative.by
        if all(agree(p.answered, -p.right) for p in there):
            yield SIGN
        if len(self.unknowns) == len(by) == 1 and there[0].answered:
            if all(
                agree(p.answered * p.right, p.answered / p.answered) for p in there if p.answered
            ):
                yield f"that is d{by[0]}/d{of}: take the reciprocal"
            m = many_digits()
            for sign, words in ((1, ""), (-1, "minus ")):
                for name, missed in (
                    (by[0], f"divide it by the one by `{of}`"),
                    (of, f"divide the one by `{by[0]}` by it"),
                ):
                    with Defined(ArithmeticError, ValueError):
                        slopes = [self._swept(m, p.at, [name])[1][0][0] for p in there]
                        if all(
                            agree(p.answered, sign * slope)
                            for p, slope in zip(there, slopes, strict=True)
                        ):
                            which = f"{words}the derivative of left less right side by `{name}`"
                            yield f"that is {which} alone: {missed}"
        if agreeing := sum(p.agrees for p in self.places):
            yield (
                f"it is right at {agreeing} of {len(self.places)} points: it holds on a part of the"
                " curve only"
            )
        yield marking.constant_factor(there)
        order = f" --order {len(by)}" if len(by) > 1 else ""
        steps = " --steps" if len(self.unknowns) == 1 else ""
        yield (
            f'see it worked: `autodiff diff "{self.posed.program}" --for'
            f" {','.join(self.unknowns)}{order}{steps}`"
        )
