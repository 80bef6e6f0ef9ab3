"""Solutions of equations that people found themselves: `x=1, y=2; x=-1, y=3`, or `2, 3` of one unknown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

from ..algebra.rational_functions import coefficients
from ..algebra.walk import substituted
from ..diagnostics.leniency import leniently
from ..equations.equations import Equations
from ..errors import ExpressionError, counted, quoted, usage_error
from ..graphs.value import Value, in_order, node
from ..inputs.parse_point import split
from ..inputs.problem import Point, parse, single_output
from ..numbers.base import NumberType
from ..table.operators import VARIABLE
from .comparison import as_number, equal, many_digits, points, value_at
from .exercise import Exercise, Marked
from .marking import is_rounded, unreadable

Solution = dict[str, str]
"""A solution as it was typed: the text of each unknown's value."""

NONE = ("none", "no solution")
"""Answers that say that there is no solution."""

LONGEST_SWAP = 4
"""Of so many unknowns at most it is tried whether values are at another one's place."""

_NAMED = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)")
_TUPLE = re.compile(r"\s*\((.*)\)\s*", re.DOTALL)
_PARTS = re.compile(r";|\s+(?:or|and)\s+")
EQUAL, NEAR = Fraction(1, 10**50), Fraction(1, 100)
"""Values are equal, or told to be near, that are off by less than this part of them."""


def check_roots(
    posed: Exercise,
    equations: Equations,
    point: Point,
    unknowns: Sequence[str],
    answer: str,
    roots: Sequence[Mapping[str, Fraction]],
    complete: bool | None,
) -> Marked:
    """Whether these are the solutions of equations; `roots` are those that a search found.

    An exact solution is one where both sides of each equation agree, a rounded one where it rounds a root.
    """
    system = _System(equations, point, unknowns)
    complete = complete or system.has_one_solution()
    if answer.strip().lower() in NONE:
        known = "right: there is no solution" if complete else "not decided"
        message = "wrong: there are solutions" if roots else known
        return Marked(posed, answer, not roots and bool(complete), message, "", "numbers", 0)
    matched: set[int] = set()
    remarks = []
    solutions = solutions_in(answer, unknowns)
    for solution in solutions:
        which = _written(solution)
        fails = system.failing(solution)
        if fails is None:
            listed = [k for k, root in enumerate(roots) if _agrees(system.numbers(solution), root, EQUAL)]
            matched.update(listed)
            if not listed and (len(roots) > 1 or len(unknowns) == 1):
                remarks.append(f"`{which}` is a solution, though the search did not find it")
            continue
        numbers = system.numbers(solution)
        rounded = [k for k, root in enumerate(roots) if _rounds(solution, numbers, root)]
        if rounded:
            matched.update(rounded)
            remarks.append(f"`{which}` is rounded")
            continue
        hint = system.mistake(solution, roots) or f"put it into `{fails}`"
        message = f"wrong: `{which}` is no solution"
        return Marked(posed, answer, False, message, hint, "numbers", 0)
    if len(matched) < len(roots):
        absent = ("" if complete else "at least ") + counted(len(roots) - len(matched), "solution")
        are = "is" if len(roots) - len(matched) == 1 else "are"
        return Marked(posed, answer, False, f"wrong: {absent} {are} missing", "what is given is right", "numbers", 0)
    if not complete:
        remarks.append("whether there are others is not known")
    right = "these are the solutions" if max(len(solutions), len(roots)) > 1 else "this is the solution"
    return Marked(posed, answer, True, "; ".join([f"right: {right}", *remarks]), "", "numbers", 0)


def solutions_in(answer: str, unknowns: Sequence[str]) -> list[Solution]:
    """The solutions of an answer: by names, a new one where a name comes again, or in the unknowns' order.

    Raises a usage error where a value is missing.

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
    """The names and values of an answer, in order. Raises a usage error for what is no unknown."""
    for part in _PARTS.split(answer):
        bare = []
        for entry in (entry for text in split(part) for entry in _with_signs(text, unknowns) if entry.strip()):
            named = _NAMED.match(entry)
            bracketed = _TUPLE.fullmatch(entry) if len(unknowns) > 1 else None
            if named is not None:
                if named[1] not in unknowns:
                    raise usage_error(f"`{named[1]}` is not solved for", f"write `{form}`")
                yield named[1], entry[named.end() :].strip()
            elif bracketed is not None and len(values := split(bracketed[1])) == len(unknowns):
                yield from zip(unknowns, map(str.strip, values), strict=True)
            else:
                bare.append(entry.strip())
        if len(bare) % len(unknowns):
            raise usage_error(f"`{bare[-1]}` is a value of which unknown?", f"write `{form}`")
        yield from ((unknowns[k % len(unknowns)], text) for k, text in enumerate(bare))


def _with_signs(text: str, unknowns: Sequence[str]) -> list[str]:
    """The values that `±` stands for in a value of one unknown."""
    return [text.replace("±", sign) for sign in "+-"] if "±" in text and len(unknowns) == 1 else [text]


class _System:
    """Equations at a point, into which solutions are put."""

    def __init__(self, equations: Equations, point: Point, unknowns: Sequence[str]) -> None:
        self.unknowns = unknowns
        self._fixed = {name: _graph(str(x)) for name, x in point.items() if name not in unknowns}
        self._outputs = [_put_in(output, self._fixed) for output in equations.program.outputs]
        self._texts = equations.texts

    def failing(self, solution: Solution) -> str | None:
        """The first equation that a solution does not meet; None if it meets all."""
        graphs = self._graphs(solution)
        for output, text in zip(self._outputs, self._texts, strict=True):
            if not _vanishes(_put_in(output, graphs)):
                return text
        return None

    def _graphs(self, solution: Solution) -> dict[str, Value]:
        return {name: _put_in(_graph(text), self._fixed) for name, text in solution.items()}

    def numbers(self, solution: Solution) -> dict[str, Fraction | None]:
        """The values of a solution; None for a formula."""
        m = many_digits()
        values: dict[str, Fraction | None] = {}
        for name, graph in self._graphs(solution).items():
            value = None if any(v.primitive is VARIABLE for v in in_order((graph,))) else value_at(m, graph, {})
            values[name] = None if value is None else Fraction(str(value))
        return values

    def mistake(self, solution: Solution, roots: Sequence[Mapping[str, Fraction]]) -> str:
        """The mistake in a solution that is none; empty where it is not a usual one."""
        for name, text in solution.items():
            if self.failing(solution | {name: f"-({text})"}) is None:
                return f"the sign of `{name}` is wrong"
        if len(solution) <= LONGEST_SWAP:
            for values in permutations(solution.values()):
                if self.failing(dict(zip(solution, values, strict=True))) is None:
                    return "the values are those of other unknowns: they are swapped"
        if any(_agrees(self.numbers(solution), root, NEAR) for root in roots):
            return "that is near: give it exactly, or with more digits"
        return ""

    def has_one_solution(self) -> bool:
        """Whether the equations are linear in the unknowns, with a determinant that is not 0."""
        leaves = {v.label: v for v in in_order(self._outputs) if v.primitive is VARIABLE}
        if len(self._outputs) != len(self.unknowns) or not leaves.keys() >= {*self.unknowns}:
            return False
        rows = []
        inside = {leaves[name] for name in self.unknowns}
        for output in self._outputs:
            row = []
            for name in self.unknowns:
                parts = coefficients(output, leaves[name], lambda v: v, lambda primitive, a, b: node(primitive, (a, b)))
                if parts is None or len(parts) > 2 or inside.intersection(in_order(parts[1:])):
                    return False
                row.append(parts[1] if len(parts) > 1 else _graph("0"))
            rows.append(row)
        names = [name for name in leaves if name not in self.unknowns]
        return any(_is_regular(rows, at) for at in points([], names)[0][:3])


def _is_regular(rows: Sequence[Sequence[Value]], at: Mapping[str, Fraction]) -> bool:
    """Whether the determinant of a matrix of graphs is not 0 at a point, in many digits."""
    m: Any = many_digits()
    values = {name: as_number(m, x) for name, x in at.items()}
    determinant = m.context.det(m.context.matrix([[value_at(m, entry, values) for entry in row] for row in rows]))
    return bool(abs(determinant) * 10**40 >= 1)


def _graph(text: str) -> Value:
    """The graph of a value. Raises `ExpressionError`, which points into it."""
    try:
        return leniently(text, lambda typed: single_output(parse(typed)))[0]
    except ExpressionError as error:
        raise unreadable(error, text) from None


def _put_in(output: Value, graphs: Mapping[str, Value]) -> Value:
    return substituted(output, lambda v: graphs.get(v.label) if v.primitive is VARIABLE else None)


def _vanishes(difference: Value) -> bool:
    """Whether a graph is 0, at points where it has variables."""
    names = sorted({v.label for v in in_order((difference,)) if v.primitive is VARIABLE})
    decided = []
    for at in points([difference], names)[0] if names else [{}]:

        def sides(m: NumberType, at: Mapping[str, Fraction] = at) -> tuple[Any, Any] | None:
            value = value_at(m, difference, {name: as_number(m, x) for name, x in at.items()})
            return None if value is None else (value, m.number(0))

        decided.append(equal(sides))
    return True in decided and False not in decided


def _written(solution: Solution) -> str:
    if len(solution) == 1:
        return next(iter(solution.values()))
    return ", ".join(f"{name} = {text}" for name, text in solution.items())


def _agrees(numbers: Mapping[str, Fraction | None], root: Mapping[str, Fraction], part: Fraction) -> bool:
    """Whether all values are off by less than a part of them."""
    return all(
        x is not None and abs(x - root[name]) <= part * max(abs(root[name]), part) for name, x in numbers.items()
    )


def _rounds(solution: Solution, numbers: Mapping[str, Fraction | None], root: Mapping[str, Fraction]) -> bool:
    """Whether each value is the root's, or a decimal number that it rounds to."""
    return all(
        x is not None and (_agrees({name: x}, root, EQUAL) or is_rounded(solution[name], x, root[name]))
        for name, x in numbers.items()
    )
