"""Mark solutions of equations: `x=1, y=2; x=-1, y=3`, or `2, 3`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import permutations
from typing import Any

from ..algebra.rational_functions import polynomial_in
from ..algebra.walk import substituted
from ..diagnostics.leniency import leniently
from ..equations.equations import Equations, read_with_unknowns
from ..equations.solve import solve
from ..errors import counted, quoted, usage_error
from ..graphs.value import Value, in_order
from ..inputs.arithmetic import Arithmetic
from ..inputs.parse_point import split
from ..inputs.problem import Point, parse, single_output
from ..numbers.base import NumberType
from ..table.operators import VARIABLE
from .answers import figure, own
from .comparison import AGREED_DIGITS, as_number, equal, many_digits, points, value_at
from .exercise import Exercise, Marked
from .marking import errors_point_into, is_rounded, mark_formula

Solution = dict[str, str]
"""The text of each unknown's value."""

NONE = ("none", "no solution")
MAX_SWAPPED_VALUES = 4
_NAMED = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)")
_TUPLE = re.compile(r"\s*\((.*)\)\s*", re.DOTALL)
_PARTS = re.compile(r";|\s+(?:or|and)\s+")
EQUAL_WITHIN, NEAR_RELATIVE = Fraction(1, 10**50), Fraction(1, 100)
"""The greatest relative errors of equal and of near values."""


def check_solution(
    text: str,
    point: Point | None = None,
    *,
    answer: str,
    wrt: Sequence[str] | None = None,
    unknowns: Sequence[str] | None = None,
    between: Any = None,
    every: bool = False,
) -> Marked:
    """Mark numbers or formulas as the solutions of equations."""
    posed, point = own("solution", text, [], point=point), point or {}
    equations = read_with_unknowns(text, [*point], unknowns)
    names, count = list(equations.program.variables), len(equations.program.outputs)
    if count > 1:
        others = [name for name in names if name not in point]
        answered = [name for name in names if re.search(rf"\b{re.escape(name)}\s*=(?!=)", answer)]
        unknowns = unknowns or (others if len(others) == count else answered or others)
        if {*others} - {*unknowns}:
            # for formulas, the equations decide
            return _roots_marked(posed, _System(equations, point, unknowns), answer, [], None)
    every = every or between is not None
    precise = Arithmetic("precision", 60)
    solved = solve(text, point, unknowns=unknowns, between=between, every=every, arithmetic=precise)
    if solved.formulas:
        # formulas for a leading coefficient of 0 are optional
        formulas = [formula.formula for formula in solved.formulas if " == 0" not in (formula.condition or "")]
        return _formulas_marked(posed, answer, formulas, solved.unknowns)
    roots = [{name: figure(solution.values[name]) for name in solved.unknowns} for solution in solved.solutions]
    return _roots_marked(posed, _System(equations, point, solved.unknowns), answer, roots, solved.complete)


def _formulas_marked(posed: Exercise, answer: str, formulas: Sequence[str], unknowns: Sequence[str]) -> Marked:
    left, how = list(formulas), "simplified"
    for solution in solutions_in(answer, unknowns):
        entry = solution[unknowns[0]]
        marked = [mark_formula(own("solution", formula, [formula], unknowns), entry) for formula in left]
        place = next((k for k, one in enumerate(marked) if one.right), None)
        if place is None:
            but_sign = marked and "sign" in marked[0].hint
            hint = "it is right but the sign" if but_sign else "put it into both sides"
            return Marked(posed, answer, False, f"wrong: `{entry.strip()}` is no solution", hint, "points", 0)
        how = how if marked[place].how == "simplified" else marked[place].how
        del left[place]
    if left:
        return _with_missing(posed, answer, "", len(left), how)
    proof = "" if how == "simplified" else f", to {AGREED_DIGITS} digits at points, which is no proof"
    return Marked(posed, answer, True, f"right: that solves the equation{proof}", "", how, 0)


def _with_missing(posed: Exercise, answer: str, at_least: str, count: int, how: str) -> Marked:
    message = f"wrong: {at_least}{counted(count, 'solution')} {'is' if count == 1 else 'are'} missing"
    return Marked(posed, answer, False, message, "what is given is right", how, 0)


def _roots_marked(
    posed: Exercise, system: _System, answer: str, roots: Sequence[Mapping[str, Fraction]], complete: bool | None
) -> Marked:
    complete = complete or system.has_one_solution()
    if answer.strip().lower() in NONE:
        if roots or not complete:
            return Marked(posed, answer, False, "wrong: there are solutions" if roots else "not decided")
        return Marked(posed, answer, True, "right: there is no solution")
    matched: set[int] = set()
    remarks = []
    solutions = solutions_in(answer, system.unknowns)
    for solution in solutions:
        texts = [*solution.values()] if len(solution) == 1 else [f"{name} = {text}" for name, text in solution.items()]
        which, fails, numbers = ", ".join(texts), system.failing(solution), system.numbers(solution)
        agreeing = {
            k
            for k, root in enumerate(roots)
            if all(
                _is_within(x, root[name], EQUAL_WITHIN)
                or (fails and x is not None and is_rounded(solution[name], x, root[name]))
                for name, x in numbers.items()
            )
        }
        if fails is None:
            if not agreeing and (len(roots) > 1 or len(numbers) == 1):
                remarks.append(f"`{which}` is a solution, though the search did not find it")
        elif agreeing:
            remarks.append(f"`{which}` is rounded")
        else:
            hint = system.mistake(solution, roots) or f"put it into `{fails}`"
            return Marked(posed, answer, False, f"wrong: `{which}` is no solution", hint)
        matched |= agreeing
    if len(matched) < len(roots):
        return _with_missing(posed, answer, "" if complete else "at least ", len(roots) - len(matched), "numbers")
    if not complete:
        remarks.append("whether there are others is not known")
    right = "these are the solutions" if max(len(solutions), len(roots)) > 1 else "this is the solution"
    return Marked(posed, answer, True, "; ".join([f"right: {right}", *remarks]))


def solutions_in(answer: str, unknowns: Sequence[str]) -> list[Solution]:
    """Return the solutions of an answer; values without names are in the unknowns' order.

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
            raise usage_error(f"the answer has no value of {quoted(missing)}{where}", f"write `{form}`")
    if not solutions:
        raise usage_error("there is no solution in the answer", f"write `{form}`")
    return solutions


def _values(answer: str, unknowns: Sequence[str], form: str) -> Iterator[tuple[str, str]]:
    single = len(unknowns) == 1
    for part in _PARTS.split(answer):
        bare = []
        for text in split(part):
            for entry in [text.replace("±", sign) for sign in "+-"] if "±" in text and single else [text]:
                named, bracketed = _NAMED.match(entry), None if single else _TUPLE.fullmatch(entry)
                if named is not None:
                    if named[1] not in unknowns:
                        raise usage_error(f"`{named[1]}` is not solved for", f"write `{form}`")
                    yield named[1], entry[named.end() :].strip()
                elif bracketed is not None and len(values := split(bracketed[1])) == len(unknowns):
                    yield from zip(unknowns, map(str.strip, values), strict=True)
                elif entry.strip():
                    bare.append(entry.strip())
        if len(bare) % len(unknowns):
            raise usage_error(f"`{bare[-1]}` is a value of which unknown?", f"write `{form}`")
        yield from ((unknowns[k % len(unknowns)], text) for k, text in enumerate(bare))


def _graph(text: str) -> Value:
    with errors_point_into(text):
        return leniently(text, lambda typed: single_output(parse(typed)))[0]


def _put_in(output: Value, graphs: Mapping[str, Value]) -> Value:
    return substituted(output, lambda v: graphs.get(v.label) if v.primitive is VARIABLE else None)


def _leaves(graphs: Sequence[Value]) -> dict[str, Value]:
    return {v.label: v for v in in_order(graphs) if v.primitive is VARIABLE}


def _is_within(x: Fraction | None, root: Fraction, part: Fraction) -> bool:
    return x is not None and abs(x - root) <= part * max(abs(root), part)


class _System:
    def __init__(self, equations: Equations, point: Point, unknowns: Sequence[str]) -> None:
        self.unknowns = unknowns
        self._fixed = {name: _graph(str(x)) for name, x in point.items() if name not in unknowns}
        self._outputs = [_put_in(output, self._fixed) for output in equations.program.outputs]
        self._texts = equations.texts

    def failing(self, solution: Solution) -> str | None:
        """Return the first equation that a solution fails, or None."""
        graphs = self._graphs(solution)
        differences = (_put_in(output, graphs) for output in self._outputs)
        return next((text for text, x in zip(self._texts, differences, strict=True) if not _vanishes(x)), None)

    def _graphs(self, solution: Solution) -> dict[str, Value]:
        return {name: _put_in(_graph(text), self._fixed) for name, text in solution.items()}

    def numbers(self, solution: Solution) -> dict[str, Fraction | None]:
        m = many_digits()
        values = {
            name: None if _leaves((graph,)) else value_at(m, graph, {})
            for name, graph in self._graphs(solution).items()
        }
        return {name: None if x is None else Fraction(str(x)) for name, x in values.items()}

    def mistake(self, solution: Solution, roots: Sequence[Mapping[str, Fraction]]) -> str:
        """Return the mistake in a wrong solution; empty if unknown."""
        for name, text in solution.items():
            if self.failing(solution | {name: f"-({text})"}) is None:
                return f"the sign of `{name}` is wrong"
        if len(solution) <= MAX_SWAPPED_VALUES:
            for values in permutations(solution.values()):
                if self.failing(dict(zip(solution, values, strict=True))) is None:
                    return "the values are those of other unknowns: they are swapped"
        numbers = self.numbers(solution)
        if any(all(_is_within(x, root[name], NEAR_RELATIVE) for name, x in numbers.items()) for root in roots):
            return "that is near: give it exactly, or with more digits"
        return ""

    def has_one_solution(self) -> bool:
        """Return whether the equations are linear and regular."""
        leaves = _leaves(self._outputs)
        if len(self._outputs) != len(self.unknowns) or not leaves.keys() >= {*self.unknowns}:
            return False
        rows = []
        inside = {leaves[name] for name in self.unknowns}
        for output in self._outputs:
            row = [polynomial_in(output, leaves[name]) or [] for name in self.unknowns]
            if any(not 1 <= len(parts) <= 2 or inside.intersection(in_order(parts[1:])) for parts in row):
                return False
            rows.append([parts[1] if len(parts) > 1 else _graph("0") for parts in row])
        m: Any = many_digits()
        for at in points([], [name for name in leaves if name not in self.unknowns])[0][:3]:
            values = {name: as_number(m, x) for name, x in at.items()}
            matrix = m.context.matrix([[value_at(m, entry, values) for entry in row] for row in rows])
            if abs(m.context.det(matrix)) * 10**40 >= 1:
                return True
        return False


def _vanishes(difference: Value) -> bool:
    names = sorted(_leaves((difference,)))

    def sides(at: Mapping[str, Fraction], m: NumberType) -> tuple[Any, Any] | None:
        value = value_at(m, difference, {name: as_number(m, x) for name, x in at.items()})
        return None if value is None else (value, m.number(0))

    decided = [equal(partial(sides, at)) for at in (points([difference], names)[0] if names else [{}])]
    return True in decided and False not in decided
