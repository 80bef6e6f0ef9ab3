"""Where in a box of variables a program loses digits in doubles, by proven bounds of its rounding
errors.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from itertools import count
from typing import Any, NamedTuple

from ...api.api_answers import Answer
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.base import NO_RESULT
from ...engine.numbers.budget import Defined, charge, current_budget
from ...engine.numbers.floats import REAL
from ...engine.numerics.box_ranges import NODE_STEPS, PART_STEPS, RESERVED_WORK_SHARE
from ...engine.numerics.rounding_ranges import relative_size, rounding_bound
from ...errors import Diagnostic, point_error, require
from ...questions.boxes import check_ends, check_variables
from ...questions.digits import (
    AGREE_WITHIN,
    DEFAULT_REQUIRED_DIGITS,
    MAX_DOUBLE_DIGITS,
    correct_digits,
)
from ...questions.parse_point import Range
from ...questions.problem import Point, Problem, pose
from ...record import Record

SAMPLE_DIGITS = 60, 120
SAMPLE_STEPS = 100  # for each operation, in both
# Parts of this share of the box, with a point that has too few digits, are not halved further.
LOST_SHARE = 2.0**-6
MAX_SAMPLES = 40
# Parts without enough digits are halved down to this share of the box: six digits of a place.
MIN_PART_SHARE = 2.0**-20
Ends = tuple[float, float]


class DigitsInPart(Record):
    """A part of the box, and how many digits of the value are right in it."""

    box: dict[str, Ends]
    digits: int
    """As many are right at least, all over it: proven."""
    enough: bool
    sample: dict[str, float]
    """A point in it."""
    sample_digits: int | None
    """How many are right there; None if the program has no value there."""
    operation: str
    """The part of the program that loses most of them; empty without one."""


class DigitsOverBox(Answer, shows=("agrees", "parts")):
    """How many digits of a program's value are right over a box, at least: `check(…, over=…)`."""

    declaration = """
    csv line id part variable low high digits sample_digits operation error
    plain agrees
    box: the ends of each variable of the box, by name
    point
    agrees: whether the digits that are required are proven all over the box
    lost: whether a point is known that has fewer
    required: how many digits are required
    parts: parts of the box that cover it, neighbours with and without enough digits as one
      box: the ends of each variable
      digits: how many digits of the value at least are right in all of it: proven
      enough: whether that is as many as are required
      sample: a point in it
      sample_digits: how many digits are right at that point; null where the program has no value
      operation: the part of the program that loses most digits there
    constants
    warnings
    """

    text: str
    box: dict[str, Ends]
    point: dict[str, float]
    required: int
    parts: tuple[DigitsInPart, ...]
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def agrees(self) -> bool:
        return all(part.enough for part in self.parts)

    @property
    def lost(self) -> bool:
        return any(
            part.sample_digits is not None and part.sample_digits < self.required
            for part in self.parts
        )


def digits_over_box(
    text: str,
    point: Point | None,
    *,
    box: Mapping[str, Range],
    wrt: Any = None,
    required: int = DEFAULT_REQUIRED_DIGITS,
) -> DigitsOverBox:
    """Return how many digits of the value of the program `text` are right over a `box`, in doubles.

    The inputs are doubles; what is bounded is the difference from the exact value of the formula at
    them. Raises `ExpressionError`.

    >>> answer = digits_over_box("sqrt(x**2 + 1) - x", {}, box={"x": Range(0, 1e9)})
    >>> answer.agrees, answer.lost
    (False, True)
    """
    require("flint", "certified", "`--over` needs python-flint, which is not installed", "")
    problem = _problem(text, point, box)
    ends = {name: (float(low or 0), float(high or 0)) for name, (low, high) in box.items()}
    search = DigitsSearch(problem, ends, required)
    parts = search.parts()
    warnings = list(problem.warnings)
    if not search.complete:
        hint = "allow more: `--work 10`, or take a smaller box"
        warnings.append(
            Diagnostic(
                "note", "the work ended before the parts were as small as they can be", None, hint
            )
        )
    return DigitsOverBox(
        text=problem.program.text,
        box=search.box,
        point={name: x for name, x in problem.values.items() if name not in box},
        required=required,
        parts=tuple(parts),
        constants=problem.program.constants,
        warnings=tuple(warnings),
    )


def _problem(text: str, point: Point | None, box: Mapping[str, Range]) -> Problem:
    numbers = [x for ends in box.values() for x in ends]
    if any(hasattr(x, "unit") for x in (*numbers, *(point or {}).values())):
        raise point_error(
            "values over a box have no units here", "write all numbers in units of the SI"
        )
    check_ends(box, point or {})
    middles = {
        name: float(ends.low or 0) / 2 + float(ends.high or 0) / 2 for name, ends in box.items()
    }
    problem = pose(text, {**(point or {}), **middles}, None, single=True)
    check_variables(box, problem.program.leaves)
    return problem


class BoundedPart(NamedTuple):
    """A part of the box with the digits that are proven in it, and the node that loses most."""

    box: dict[str, Ends]
    digits: int
    worst: int | None


class DigitsSearch:
    """Halves the parts of a box in which enough digits are not proven."""

    def __init__(self, problem: Problem, box: dict[str, Ends], required: int) -> None:
        from ...engine.numerics.box_ranges import range_numbers

        self.problem, self.box, self.required = problem, box, required
        self.m = range_numbers()
        self.fixed = {
            name: self.m.number(x) for name, x in problem.values.items() if name not in box
        }
        self.complete = True
        self.smallest = 2.0 ** -max(3, round(-math.log2(MIN_PART_SHARE)) // len(box) ** 2)

    def parts(self) -> list[DigitsInPart]:
        """Return parts that cover the box: neighbours with enough digits, and without, as one."""
        work, order = current_budget(), count()
        waiting = [(-1.0, next(order), self._bounded(self.box))]
        done: list[BoundedPart] = []
        while waiting:
            share, _, part = heapq.heappop(waiting)
            spent = work.left < RESERVED_WORK_SHARE * work.most
            if (
                part.digits >= self.required
                or -share <= self.smallest
                or spent
                or self._is_lost(part, -share)
            ):
                self.complete = self.complete and not (spent and part.digits < self.required)
                done.append(part)
                continue
            name = max(part.box, key=lambda name: self._share(part.box, name))
            low, high = part.box[name]
            middle = low / 2 + high / 2
            for ends in ((low, middle), (middle, high)):
                half = {**part.box, name: ends}
                widest = max(self._share(half, other) for other in half)
                heapq.heappush(waiting, (-widest, next(order), self._bounded(half)))
        return [self._part(group) for group in self._groups(done)]

    def _is_lost(self, part: BoundedPart, share: float) -> bool:
        digits = self._digits_at(part) if share <= LOST_SHARE else None
        return digits is not None and digits < self.required

    def _share(self, box: Mapping[str, Ends], name: str) -> float:
        (low, high), (first, last) = box[name], self.box[name]
        return (high / 2 - low / 2) / (last / 2 - first / 2)

    def _bounded(self, box: dict[str, Ends]) -> BoundedPart:
        from flint import arb

        from ...engine.numbers.ball import Ball

        graph = self.problem.program.graph
        charge(PART_STEPS + NODE_STEPS * len(graph.places))
        point = {name: Ball(arb(low).union(arb(high))) for name, (low, high) in box.items()}
        with Defined(*NO_RESULT):
            found = rounding_bound(self.m, graph, {**self.fixed, **point})
            relative = relative_size(found.value, found.error)
            return BoundedPart(box, _digits_of(relative), found.worst)
        return BoundedPart(box, 0, None)

    def _groups(self, done: list[BoundedPart]) -> list[list[BoundedPart]]:
        """Return neighbours of one kind together; in several variables, all of one kind that
        touch.
        """
        groups: list[list[BoundedPart]] = []
        for part in sorted(done, key=lambda part: [low for low, _ in part.box.values()]):
            enough = part.digits >= self.required
            if groups and (groups[-1][0].digits >= self.required) == enough and len(self.box) == 1:
                groups[-1].append(part)
                continue
            same = [group for group in groups if (group[0].digits >= self.required) == enough]
            if len(self.box) > 1 and same:
                same[0].append(part)
            else:
                groups.append([part])
        return groups

    def _part(self, group: list[BoundedPart]) -> DigitsInPart:
        worst = min(group, key=lambda part: part.digits)
        names = [*self.box]
        box = {
            name: (min(p.box[name][0] for p in group), max(p.box[name][1] for p in group))
            for name in names
        }
        samples = [(self._digits_at(p), p) for p in _spread(group)]
        known = [(digits, p) for digits, p in samples if digits is not None]
        digits, part = min(known, key=lambda each: each[0]) if known else (None, worst)
        enough = worst.digits >= self.required
        return DigitsInPart(
            box=box,
            digits=worst.digits,
            enough=enough,
            sample={name: low / 2 + high / 2 for name, (low, high) in part.box.items()},
            sample_digits=digits,
            operation="" if enough else self._operation(worst),
        )

    def _digits_at(self, part: BoundedPart) -> int | None:
        """Return how many digits the doubles have in the middle of a part; None without a value, or
        one that is 0.
        """
        graph = self.problem.program.graph
        point = {name: low / 2 + high / 2 for name, (low, high) in part.box.items()}
        values = {**{n: x for n, x in self.problem.values.items() if n not in self.box}, **point}
        charge(SAMPLE_STEPS * len(graph.places))
        with Defined(*NO_RESULT):
            computed = float(evaluate_in(REAL, graph, values).value)
            coarse, exact = (self._evaluated(digits, values) for digits in SAMPLE_DIGITS)
            if exact and abs(coarse - exact) <= AGREE_WITHIN * abs(exact):
                return correct_digits(computed, exact)
        return None

    def _evaluated(self, digits: int, values: Mapping[str, float]) -> Any:
        from ...engine.numbers.multiprecision import Multiprecision

        m = Multiprecision(digits)
        return evaluate_in(
            m, self.problem.program.graph, {name: m.number(x) for name, x in values.items()}
        ).value

    def _operation(self, part: BoundedPart) -> str:
        program = self.problem.program
        span = None if part.worst is None else program.graph.span(part.worst)
        return "" if span is None else " ".join(program.text[span.start : span.end].split())


def _digits_of(relative: float) -> int:
    """Return how many digits are right with a relative error of at most this."""
    digits = (
        MAX_DOUBLE_DIGITS
        if not relative
        else math.floor(-math.log10(2 * relative))
        if relative < 1
        else 0
    )
    return max(0, min(MAX_DOUBLE_DIGITS, digits))


def _spread(group: list[BoundedPart]) -> list[BoundedPart]:
    """Return at most so many parts that a point is looked at in, spread over all."""
    step = max(1, len(group) // MAX_SAMPLES)
    return group[::step]
