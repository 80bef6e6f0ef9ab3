"""Enclosures of the solutions of equations, by interval Newton: which boxes hold one, exactly one, or none.

An interval is a ball of python-flint here. Krawczyk's operator K = m − Y·F(m) + (1 − Y·F′(X))·(X − m) holds every
solution in the box X around m; where it lies inside X there is exactly one. Neumaier, Interval Methods for Systems of
Equations, 5.1.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import ExpressionError
from ..graphs.value import Value
from ..graphs.value_and_gradient import evaluate_in
from ..numbers.base import NO_RESULT, Refusal
from ..numbers.budget import Defined, current
from ..numerics import linear_algebra

BITS = 80
"""With so many bits boxes are searched."""

SHRINKINGS = 60
"""How often a box is contracted at the most."""
MOST_BOXES = 5_000

LEFT_OVER = 0.3
"""The share of the work that is left to the digits of the solutions, at least."""

BOXES_A_SOLUTION = 16
"""The digits of a solution take no more work than so many boxes like the one that proved it: about 10, measured."""

NARROWEST = 2.0**-44
"""A box that has shrunk to so much of what it was, and is not decided, is given up as undecided."""

SMALL = 2.0**-6
"""In a box that has shrunk to so much of what it was a multiple root is looked for."""

CLOSE = 2.0**-20
"""Undecided boxes that are closer than this, in terms of the whole box, are shown as one."""

Box = list[Any]
"""A ball for each unknown."""


class Search(NamedTuple):
    """The result of a search."""

    proven: list[Box]
    """Boxes that hold exactly one solution each."""
    undecided: list[Box]
    """Boxes of which it is not known whether they hold any."""
    boxes: int
    complete: bool
    """Whether all other solutions are excluded: False where there were too many boxes."""


def spanned(low: float, high: float) -> Any:
    """The ball from `low` to `high`."""
    from flint import arb

    a, b = arb(low), arb(high)
    return a.union(b)


def boxes(bits: int) -> Any:
    """Balls whose conditions may be left open where another one decides.

    Of a wide ball it is rarely known whether it is 0. The rule of a power asks for that together with another 0.
    """
    from ..numbers.ball import Balls
    from ..numbers.base import undecided

    class Open:
        def __bool__(self) -> bool:
            raise undecided("whether this is 0 cannot be told")

    class Boxes(Balls):
        def eq(self, x: Any, y: Any) -> Any:
            try:
                return x == y
            except Refusal:
                return Open()

        def and_(self, p: Any, q: Any) -> Any:
            return False if p is False or q is False else p and q

    return Boxes(bits)


class Operator:
    """Krawczyk's operator of equations, at fixed values of all other variables."""

    def __init__(
        self, outputs: Sequence[Value], unknowns: Sequence[str], values: Mapping[str, Any], balls: Any
    ) -> None:
        from ..numbers.ball import Ball

        self.outputs, self.unknowns, self.values, self.m = outputs, list(unknowns), values, balls
        self.ball = Ball

    def _point(self, box: Box) -> dict[str, Any]:
        return {**self.values, **{name: self.ball(a) for name, a in zip(self.unknowns, box, strict=True)}}

    def at(self, box: Box) -> tuple[Box, list[Box]]:
        """The values of the equations over a box, and the rows of their derivatives by the unknowns."""
        at = evaluate_in(self.m, self.outputs, self._point(box), self.unknowns)
        rows, kinks = at.jacobian(self.unknowns)
        if kinks:
            raise Refusal("undecided", "a kink", "")
        ball = self.m.number
        return [ball(x).a for x in at.values], [[ball(x).a for x in row] for row in rows]

    def _all(self, point: Mapping[str, Any], holds: Callable[[Any], bool]) -> bool:
        """Whether all equations have a value at a point of which something holds."""
        with Defined(ArithmeticError, ValueError):
            values = evaluate_in(self.m, self.outputs, point, ()).values
            return all(holds(self.m.number(x).a) for x in values)
        return False

    def holds(self, point: Sequence[float]) -> bool:
        """Whether the equations are known to hold exactly at a point."""
        numbers = dict(zip(self.unknowns, map(self.m.number, point), strict=True))
        return self._all({**self.values, **numbers}, lambda a: bool(a.is_zero()))

    def bounded(self, box: Box) -> bool:
        """Whether all equations have a bound over the box."""
        return self._all(self._point(box), lambda a: bool(a.is_finite()))

    def excluded(self, box: Box) -> bool:
        """Whether an equation is certainly not 0 anywhere in the box."""
        point = self._point(box)
        for output in self.outputs:
            try:
                (value,) = evaluate_in(self.m, [output], point, ()).values
            except (ExpressionError, *NO_RESULT) as error:
                # where the formula has no value anywhere in the box there is no solution either
                if getattr(error, "kind", "") == "domain":
                    return True
                continue
            if not self.m.number(value).a.contains(0):
                return True
        return False

    def approach(self, point: Box, times: int) -> tuple[Box, Box]:
        """The point after so many steps of Newton's method, nearer to a solution than doubles go, and the last step."""
        from flint import arb

        step = [arb(0)] * len(point)
        for _ in range(times):
            contracted = self.contract(point)
            if contracted is None:
                break
            step = [abs(a.mid() - b) for a, b in zip(contracted, point, strict=True)]
            point = [arb(a.mid()) for a in contracted]
        return point, step

    def contract(self, box: Box) -> Box | None:
        """K of the box; None where a derivative is not bounded there, or is as good as singular."""
        from flint import arb, arb_mat

        middle = [arb(a.mid()) for a in box]
        try:
            _, rows = self.at(box)
            value, _ = self.at(middle)
        except (ExpressionError, *NO_RESULT):
            return None
        inverse = linear_algebra.inverse([[float(x.mid()) for x in row] for row in rows])
        if inverse is None:
            return None
        n = len(box)
        self.m.charge(n * n * (n + 2))
        centre, y = arb_mat(n, 1, middle), arb_mat(inverse)
        around = arb_mat(n, 1, box) - centre
        shrunk = centre - y * arb_mat(n, 1, value) + (arb_mat(linear_algebra.identity(n)) - y * arb_mat(rows)) * around
        result: Box = shrunk.entries()
        return result if all(a.is_finite() for a in result) else None

    def shrunk(self, box: Box) -> Box:
        """The box after contractions, as long as each lies inside the one before."""
        for _ in range(SHRINKINGS):
            contracted = self.contract(box)
            if contracted is None or not inside(contracted, box):
                break
            box = contracted
        return box

    def enclosed(self, start: Sequence[float], steps: int) -> tuple[Box, Box] | None:
        """A box that is proven to hold exactly one solution, and what it contracts to; None where none is found.

        It is looked for around where so many steps of Newton's method lead from a start.
        """
        from flint import arb

        middle, step = self.approach([arb(x) for x in start], steps)
        tiny = arb(2) ** -(2 * self.m.bits)
        for power in (2, 3, 6, 12):
            # a box of some units of the last bit, or wider ones where these are too narrow to hold the solution
            share = arb(2) ** -(self.m.bits * 2 // (power + 1))
            box = [arb(a, (abs(a) + tiny) * share + 4 * d) for a, d in zip(middle, step, strict=True)]
            contracted = self.contract(box)
            if contracted is not None and inside(contracted, box):
                return box, contracted
        return None


def inside(inner: Box, outer: Box) -> bool:
    """Whether a box lies in the interior of another."""
    return all(b.contains_interior(a) for a, b in zip(inner, outer, strict=True))


def search(
    operator: Operator,
    box: Box,
    stop: Callable[[], bool] = lambda: False,
    resolved: Callable[[Box], bool] = lambda _: False,
) -> Search:
    """All the solutions in a box: each in a box of its own, the rest of it proven to hold none.

    The widest box is decided first, so that a pole or a multiple root, which no box around it decides, keeps no other
    solution waiting. `resolved` says whether all solutions in a small box are known otherwise.
    """
    proven: list[Box] = []
    undecided: list[Box] = []
    widths = [float(a.rad()) or 1.0 for a in box]
    waiting: list[tuple[float, int, Box]] = []
    boxes = queued = counted = 0
    work = current()
    before = work.left
    reserved = 0.0
    """Work that the digits of the proven solutions will take."""

    def wait(here: Box) -> None:
        nonlocal queued
        queued += 1
        widest = max(float(a.rad()) / width for a, width in zip(here, widths, strict=True))
        heapq.heappush(waiting, (-widest, queued, here))

    wait(box)
    while waiting:
        boxes += 1
        if len(proven) > counted:
            reserved += BOXES_A_SOLUTION * (before - work.left)
            counted += 1
        before = work.left
        if boxes > MOST_BOXES or work.left < max(LEFT_OVER * work.most, reserved) or stop():
            undecided += [here for _, _, here in waiting]
            return Search(_distinct(operator, proven), _clusters(undecided, widths), boxes, False)
        here = heapq.heappop(waiting)[2]
        if operator.excluded(here):
            continue
        contracted = operator.contract(here)
        if contracted is not None:
            if not overlap(contracted, here):
                continue
            if inside(contracted, here):
                proven.append(contracted)
                continue
            # a solution on the edge of the box: the box is grown around it until it is inside
            grown = [_grown(a) for a in contracted]
            again = operator.contract(grown)
            if again is not None and inside(again, grown) and _small(contracted, here):
                proven.append(again)
                continue
            met = [a.intersection(b) for a, b in zip(contracted, here, strict=True)]
            if any(float(a.rad()) < 0.6 * float(b.rad()) for a, b in zip(met, here, strict=True)):
                wait(met)
                continue
        relative = [float(a.rad()) / width for a, width in zip(here, widths, strict=True)]
        k = max(range(len(here)), key=relative.__getitem__)
        if relative[k] < SMALL and resolved(here):
            continue
        if relative[k] < NARROWEST:
            undecided.append(here)
            continue
        low, high = here[k].mid() - here[k].rad(), here[k].mid() + here[k].rad()
        middle = here[k].mid() + here[k].rad() * 0.0131
        for half in (low.union(middle), middle.union(high)):
            wait([*here[:k], half, *here[k + 1 :]])
    return Search(_distinct(operator, proven), _clusters(undecided, widths), boxes, True)


def _small(box: Box, here: Box) -> bool:
    return all(float(a.rad()) <= float(b.rad()) for a, b in zip(box, here, strict=True))


def _grown(a: Any, more: float = 2.0**-200) -> Any:
    from flint import arb

    return arb(a.mid(), a.rad() * 2 + abs(a.mid()) * 2.0**-60 + more)


def _distinct(operator: Operator, boxes: Sequence[Box]) -> list[Box]:
    """The boxes, one for each solution: two that overlap may hold the same one, which is then found in both."""
    distinct: list[Box] = []
    for box in boxes:
        here = operator.shrunk(box)
        if not any(overlap(here, other) for other in distinct):
            distinct.append(here)
    return distinct


def _clusters(boxes: Sequence[Box], widths: Sequence[float]) -> list[Box]:
    """Return the boxes in order, with boxes that touch merged, relative to their widths."""
    result: list[tuple[Box, Box]] = []
    for box in sorted(boxes, key=lambda box: float(box[0].mid())):
        one, grown = box, [_grown(a, CLOSE * width) for a, width in zip(box, widths, strict=True)]
        while touching := [k for k, (_, other) in enumerate(result) if overlap(grown, other)]:
            other, wide = result.pop(touching[-1])
            one = [a.union(b) for a, b in zip(one, other, strict=True)]
            grown = [a.union(b) for a, b in zip(grown, wide, strict=True)]
        result.append((one, grown))
    return [box for box, _ in result]


def overlap(box: Box, other: Box) -> bool:
    """Whether two boxes have a point in common."""
    return all(a.overlaps(b) for a, b in zip(box, other, strict=True))
