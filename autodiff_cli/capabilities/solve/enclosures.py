"""All solutions of equations between bounds, proven by the interval Newton method.

Krawczyk's operator K = m − Y·F(m) + (1 − Y·F′(X))·(X − m) contains every solution in the box X
around m. If K lies inside X, there is exactly one. Neumaier, Interval Methods for Systems of
Equations, 5.1.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import count
from typing import Any

from ...engine.algebra.rational_functions import as_integer, fraction_of, multiplied_out
from ...engine.graphs.higher_order import taylor_in
from ...engine.graphs.value import Value, node
from ...engine.numbers.budget import Defined, current_budget
from ...engine.numerics.krawczyk import Box, Krawczyk, boxes, ends_of, grow, is_inside, overlap
from ...engine.table.operators import MUL, NEG, POW
from ...errors import Diagnostic, require
from ...language.printer import expression_text
from .pieces import End, SolutionInterval
from .residuals import Root, Search

MAX_PROVEN_MULTIPLICITY = 8
MAX_GUESSED_DECIMALS = 6
SEARCH_BITS = 80
MAX_BOXES = 5_000
RESERVED_WORK_SHARE = 0.3  # for the digits of the solutions
# The work for the digits of a solution, in boxes; measured at about 10.
BOXES_A_SOLUTION = 16
# Boxes that have shrunk to this share stay undecided.
MIN_BOX_SHARE = 2.0**-44
MAX_MULTIPLE_ROOT_WIDTH = 2.0**-6
# Undecided boxes below this share of the range are named as places where the equations have no
# bound.
MAX_POLE_SHARE = 1e-3
# The share of the range by which the end of solutions is rounded.
MAX_END_WIDTH = 2.0**-40
# Undecided boxes closer than this share of the range are shown as one.
MERGE_DISTANCE = 2.0**-20


def prove(finder: Search) -> list[list[float]]:
    """Return the middles of boxes with one solution each, and record undecided ones."""
    message = "`--certified` needs python-flint, which is not installed"
    require("flint", "certified", message, "; without it `--all` searches on a grid")
    return _Proof(finder).starts()


class _Proof:
    """The boxes between the bounds of equations: those with one solution, with many, and undecided
    ones.
    """

    def __init__(self, finder: Search) -> None:
        from ...engine.numbers.ball import Balls

        self.finder, self.unknowns, outputs = finder, finder.unknowns, finder.outputs
        self.balls, exact = boxes(SEARCH_BITS), Balls(SEARCH_BITS)
        # numerators have no poles
        self.numerators = [fraction_of(output)[0] for output in outputs]
        self.operator = self._krawczyk(self.numerators)
        self.equations = self._krawczyk(outputs)
        self.decimals = Krawczyk(outputs, self.unknowns, finder.parameters(exact), exact)
        self.bounds = [finder.problem.bounds[name] for name in self.unknowns]
        self.multiple: dict[float, int] = {}
        self.undecided: list[Box] = []

    def _krawczyk(self, outputs: Sequence[Value]) -> Krawczyk:
        return Krawczyk(outputs, self.unknowns, self.finder.parameters(self.balls), self.balls)

    def starts(self) -> list[list[float]]:
        """Return the middles of boxes with one solution, and tell the finder of the others."""
        from flint import arb

        finder = self.finder
        box = [arb(low).union(arb(high)) for low, high in self.bounds]
        found = search(
            self.operator, box, finder.stop, self._has_multiple_root, self.equations.is_bounded
        )
        solutions, flat, self.undecided, complete = found
        starts = [[x] for x in self.multiple]
        simple: list[Box] = []
        factor = _without_powers(self.numerators[0])
        if len(self.unknowns) > 1:
            self._warn_of_flat(flat)
        else:
            if factor is not None:
                simple, zeros = self._zeros_of(factor)
                flat += zeros
            starts += [[self._plateau(*ends)] for ends in _merged(ends_of(box[0]) for box in flat)]
        starts += filter(None, map(self._start, solutions))
        for start in filter(None, map(self._start, simple)):
            starts.append(start)
            finder.special_roots[tuple(start)] = Root(equation=factor)
        self._record_undecided()
        finder.complete = complete and not self.undecided
        finder.special_roots.update(((x,), Root(order)) for x, order in self.multiple.items())
        return sorted(
            x
            for x in starts
            if all(low <= a <= high for a, (low, high) in zip(x, self.bounds, strict=True))
        )

    def _has_multiple_root(self, box: Box) -> bool:
        root = (
            _multiple_root(self.operator, box)
            if len(box) == 1 and self.equations.is_bounded(box)
            else None
        )
        self.multiple.update([root] if root else [])
        return root is not None

    def _zeros_of(self, factor: Value) -> tuple[list[Box], list[Box]]:
        """Return boxes with one zero and boxes of zeros of a factor: those of a power's base may be
        simple.
        """
        simple, flat, undecided = list[Box](), list[Box](), list[Box]()
        for box in self.undecided:
            proven, zeros, left, _ = search(
                self._krawczyk([factor]),
                box,
                self.finder.stop,
                is_bounded=self.equations.is_bounded,
            )
            simple, flat, undecided = simple + proven, flat + zeros, undecided + left
        self.undecided = undecided
        return simple, flat

    def _warn_of_flat(self, flat: Sequence[Box]) -> None:
        if not flat:
            return
        largest, text = (
            max(flat, key=lambda box: sum(float(a.rad()) for a in box)),
            self.finder.problem.text,
        )
        ends = zip(self.unknowns, map(ends_of, largest), strict=True)
        ranges = [f"{text(x, low)} ≤ {x} ≤ {text(x, high)}" for x, (low, high) in ends]
        message = f"the equations hold at all points with {', '.join(ranges)}"
        message += ": the solutions are not isolated there"
        hint = "the undecided boxes hold these solutions"
        self.finder.problem.warnings.append(Diagnostic("flat", message, None, hint))

    def _plateau(self, bottom: float, top: float) -> float:
        """Record an interval of solutions, and return one of them."""
        from flint import arb

        ((first, last),) = self.bounds
        width = (last - first) * MAX_END_WIDTH
        low, high = (
            next(iter(_decimals(arb(x, width))), x) for x in (max(bottom, first), min(top, last))
        )
        holds = {x: self.decimals.decide_at([repr(x)]) for x in (low, high)}
        # a minimal box beside the interval is only its end
        # if it is known whether the equation holds there
        near = arb(bottom - width).union(arb(top + width))
        unknown = [arb(x, width) for x, known in holds.items() if known is None]
        self.undecided = [
            box
            for box in self.undecided
            if 2 * box[0].rad() > width
            or not box[0].overlaps(near)
            or any(map(box[0].overlaps, unknown))
        ]
        begin, end = (End(x, Fraction(x), included=bool(holds[x])) for x in (low, high))
        self.finder.plateaus.append(SolutionInterval(begin, end, proven=True))
        proves_root = self.equations.proves_root
        inside = [
            x for x in _decimals(arb(low).union(arb(high))) if low < x < high and proves_root([x])
        ]
        place = low if holds[low] and proves_root([low]) else [*inside, low / 2 + high / 2][0]
        self.finder.special_roots[place,] = Root(errors=[0.0])
        return place

    def _start(self, box: Box) -> list[float] | None:
        """Return the middle of a box with one zero of the numerators; None if it is none of the
        equations.
        """
        equations = self.equations
        exact = _exact(self.operator, box)
        if (
            exact is not None
            and equations.decide([equations.m.number(x).a for x in exact]) is False
        ):
            return None
        if not equations.is_bounded(box):
            self.undecided.append(box)
            return None
        return [float(a.mid()) for a in box]

    def _record_undecided(self) -> None:
        finder = self.finder
        finder.undecided = []
        for box in self.undecided:
            sides = [*map(ends_of, box)]
            finder.undecided.append(dict(zip(self.unknowns, sides, strict=True)))
            widths = (
                (high - low, b - a) for (low, high), (a, b) in zip(sides, self.bounds, strict=True)
            )
            is_small = all(width < MAX_POLE_SHARE * whole for width, whole in widths)
            if is_small and not self.equations.is_bounded(box):
                finder.unbounded.append(finder.undecided[-1])


def _merged(ranges: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return ranges with those that overlap as one."""
    merged: list[tuple[float, float]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return merged


def _without_powers(numerator: Value) -> Value | None:
    """Return the product of the bases of powers; None if there are no powers."""
    factors: dict[str, Value] = {}
    waiting, is_simple = [numerator], True
    while waiting:
        value = waiting.pop()
        is_power = value.primitive is POW and (as_integer(value._prev[1]) or 0) > 1
        if value.primitive in (NEG, MUL) or is_power:
            waiting += value._prev[:1] if is_power else value._prev
            is_simple = is_simple and not is_power
        else:
            text = expression_text(value)
            is_simple = is_simple and text not in factors
            factors[text] = value
    return None if is_simple else reduce(lambda a, b: node(MUL, (a, b)), factors.values())


def _decimals(ball: Any) -> list[float]:
    rounded = (round(float(ball.mid()), places) + 0.0 for places in range(MAX_GUESSED_DECIMALS + 1))
    return [x for x in dict.fromkeys(rounded) if ball.contains(x)]


def _exact(operator: Krawczyk, box: Box) -> list[float] | None:
    points = map(list, zip(*map(_decimals, box), strict=False))
    return next((point for point in points if operator.proves_root(point)), None)


def _multiple_root(operator: Krawczyk, box: Box) -> tuple[float, int] | None:
    """Return the only root in a box, and its multiplicity k; None if not proven.

    All derivatives below the k-th are exactly 0 there, and the k-th has no zero in the box: by
    Taylor's theorem the function is (x - root)**k/k! times a value of the k-th derivative.
    """
    start = _exact(operator, box)
    if start is None:
        return None
    m, (name,) = operator.m, operator.unknowns
    output = multiplied_out(operator.outputs[0])
    with Defined(ArithmeticError, ValueError):
        at = taylor_in(
            m, output, {**operator.values, name: m.number(start[0])}, name, MAX_PROVEN_MULTIPLICITY
        )
        order = next((k for k, c in enumerate(at) if not m.number(c).a.is_zero()), 0)
        if order:
            around: Mapping[str, Any] = {**operator.values, name: operator.ball(box[0])}
            if not m.number(taylor_in(m, output, around, name, order)[order]).a.contains(0):
                return start[0], order
    return None


def search(
    operator: Krawczyk,
    box: Box,
    stop: Callable[[], bool] = lambda: False,
    resolved: Callable[[Box], bool] = lambda _: False,
    is_bounded: Callable[[Box], bool] = lambda _: True,
) -> tuple[list[Box], list[Box], list[Box], bool]:
    """Return boxes with one solution, of solutions, undecided ones, and whether these are all.

    A box that is not bounded holds no box of solutions: the equations may have no value in it.
    """
    found = _Bisection(operator, box, resolved, is_bounded)
    work, boxes = current_budget(), 0
    reserved, complete = 0.0, True
    while found.waiting:
        boxes, before = boxes + 1, work.left
        if boxes > MAX_BOXES or before < max(RESERVED_WORK_SHARE * work.most, reserved) or stop():
            found.undecided += [here for _, _, here in found.waiting]
            complete = False
            break
        # the widest is next: poles do not delay others
        if found.examine(heapq.heappop(found.waiting)[2]):
            # work for the digits of the solution
            reserved += BOXES_A_SOLUTION * (before - work.left)
    solutions = _distinct(map(operator.contract_repeatedly, found.proven))
    return solutions, found.flat, _clusters(found.undecided, found.widths), complete


class _Bisection:
    """Boxes that are contracted or halved until each is decided."""

    def __init__(
        self,
        operator: Krawczyk,
        box: Box,
        resolved: Callable[[Box], bool],
        is_bounded: Callable[[Box], bool],
    ) -> None:
        self.operator, self.resolved, self.is_bounded = operator, resolved, is_bounded
        self.widths = [float(a.rad()) or 1.0 for a in box]
        # A heap: less the share of the width, and a number that no two have.
        self.waiting: list[tuple[float, int, Box]] = [(-1.0, 0, box)]
        self.proven: list[Box] = []
        self.flat: list[Box] = []
        self.undecided: list[Box] = []
        self._number = count(1)

    def examine(self, here: Box) -> bool:
        """Decide, contract or halve a box; return whether it has been proven to have one
        solution.
        """
        holds = self.operator.decide(here)
        if holds is False:
            return False
        if holds and self.is_bounded(here):
            self.flat.append(here)
            self.undecided += [here] if len(here) > 1 else []
            return False
        contracted = None if holds else self.operator.contract(here)
        if contracted is not None:
            if not overlap(contracted, here):
                return False
            unique = _unique(self.operator, contracted, here)
            if unique is not None:
                self.proven.append(unique)
                return True
            met = [a.intersection(b) for a, b in zip(contracted, here, strict=True)]
            if any(float(a.rad()) < 0.6 * float(b.rad()) for a, b in zip(met, here, strict=True)):
                self._wait(met)
                return False
        self._halve(here)
        return False

    def _halve(self, here: Box) -> None:
        """Halve a box along its widest side, unless it is too small."""
        shares = self._shares(here)
        k = max(range(len(here)), key=shares.__getitem__)
        if shares[k] < MAX_MULTIPLE_ROOT_WIDTH and self.resolved(here):
            return
        if shares[k] < MIN_BOX_SHARE:
            self.undecided.append(here)
            return
        for half in _halves(here[k]):
            self._wait([*here[:k], half, *here[k + 1 :]])

    def _wait(self, here: Box) -> None:
        heapq.heappush(self.waiting, (-max(self._shares(here)), next(self._number), here))

    def _shares(self, here: Box) -> list[float]:
        """Return the sides of a box as shares of those of the whole."""
        return [float(a.rad()) / width for a, width in zip(here, self.widths, strict=True)]


def _unique(operator: Krawczyk, contracted: Box, here: Box) -> Box | None:
    """Return a box with exactly one solution, which is all that `here` has; None if that is not
    proven.
    """
    if is_inside(contracted, here):
        return contracted
    if not all(float(a.rad()) <= float(b.rad()) for a, b in zip(contracted, here, strict=True)):
        return None
    # a solution may be on the edge: grow the box around it
    grown = [grow(a) for a in contracted]
    again = operator.contract(grown)
    return again if again is not None and is_inside(again, grown) else None


def _halves(ball: Any) -> tuple[Any, Any]:
    """Return the parts of a ball at a point beside its middle, where solutions are likely."""
    middle, radius = ball.mid(), ball.rad()
    cut = middle + radius * 0.0131
    return (middle - radius).union(cut), cut.union(middle + radius)


def _distinct(solutions: Iterable[Box]) -> list[Box]:
    """Return boxes without those that overlap another one, for these may hold the same solution."""
    distinct: list[Box] = []
    for solution in solutions:
        if not any(overlap(solution, other) for other in distinct):
            distinct.append(solution)
    return distinct


def _clusters(undecided: Iterable[Box], widths: Sequence[float]) -> list[Box]:
    """Return boxes with those that touch as one."""
    clusters: list[tuple[Box, Box]] = []
    for box in sorted(undecided, key=lambda box: float(box[0].mid())):
        one, grown = (
            box,
            [grow(a, MERGE_DISTANCE * width) for a, width in zip(box, widths, strict=True)],
        )
        while touching := [k for k, (_, other) in enumerate(clusters) if overlap(grown, other)]:
            other, wide = clusters.pop(touching[-1])
            one = [a.union(b) for a, b in zip(one, other, strict=True)]
            grown = [a.union(b) for a, b in zip(grown, wide, strict=True)]
        clusters.append((one, grown))
    return [box for box, _ in clusters]
