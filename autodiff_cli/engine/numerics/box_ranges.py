"""Proven ranges of a function and its derivatives over a box, by subdivision.

Each part of the box has the natural interval extension, the mean-value form around its middle, and
the values at two corners where a function is monotonic; all contain the range. Those parts are
halved that widen the whole range most. Moore, Kearfott and Cloud, Introduction to Interval
Analysis, chapter 6; Ratschek and Rokne, New Computer Methods for Global Optimization.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count, product
from typing import Any, NamedTuple

from ...errors import ExpressionError
from ..graphs.higher_order import hessian_in
from ..graphs.value_and_gradient import evaluate_in, value_and_gradient
from ..numbers.base import NO_RESULT, UNDECIDED, Number, Refusal
from ..numbers.budget import Defined, charge, current_budget
from ..numbers.hulls import SIDES_OF_KINKS
from ..run.evaluation import Evaluation
from ..run.flat_graph import Graph
from ..run.sweep import local_derivatives
from ..table.primitive import Primitive
from .krawczyk import Box, boxes, overlap

RANGE_BITS = 80
# The work of a part, and for each of its operations; measured, in microseconds.
PART_STEPS, NODE_STEPS = 600, 60
RESERVED_WORK_SHARE = 0.1
# The share of a range by which it may be too wide before its parts are halved: below the digits of
# a table.
#
# The radius of a ball has 30 bits, and without derivatives there is no form that does better.
RANGE_TOLERANCE, KINK_TOLERANCE = 1e-12, 1e-8
# The same, as a share of the numbers: balls of 80 bits lose no more in formulas that do not cancel.
ROUNDING_TOLERANCE = 1e-15
# No part is smaller than this share of the box.
MIN_SHARE = 2.0**-30
# Parts without an enclosure, and with a kink, are halved so often: the place of a kink is shown in
# six digits.
#
# In n variables it is that divided by n squared, because such places lie on surfaces.
HALVINGS, KINK_HALVINGS = 30, 20
# So many places are compared in pairs; of more, only the box around all is given.
MAX_CLUSTERED = 400


# The most combinations of sides of kinks in one part of the box.
MAX_SIDES = 16

# The ends of an interval, each a narrow `Ball`, perhaps with its exact form: 0.1 has no exact
# enclosure.
Interval = tuple[Any, Any]
# A part of the box: an interval for each of its variables.
Part = list[Interval]


def range_numbers() -> Any:
    """Return the number type of ranges: balls with hulls of functions that choose by a sign."""
    from ..numbers.hulls import with_hulls

    return with_hulls(boxes(RANGE_BITS))


class Enclosure(NamedTuple):
    """What contains value and derivatives over a part of the box; None for those that are not
    bounded.
    """

    value: Interval | None = None
    slopes: Sequence[Interval] | None = None
    curvature: Sequence[Sequence[Any]] | None = None
    is_kink: bool = False
    """Whether the slopes are generalized ones."""
    fault: ExpressionError | None = None
    """Why value, slopes or, at a kink, ordinary slopes are not bounded."""

    @property
    def numbers(self) -> list[Interval | None]:
        """Return the value and the slopes, None for missing ones."""
        return [self.value, *(self.slopes or ())]


class UnprovenPlace(NamedTuple):
    """A part of the box where something is not proven."""

    box: Box
    kind: str
    """`kink`; `slope`: no bound of the slopes; `value`: none of the value either."""
    fault: ExpressionError | None


class ProvenRange(NamedTuple):
    """A range that contains all values of a function over a box, outside of places without an
    enclosure.
    """

    low: Any
    high: Any
    """Balls; the range is from the lower end of one to the upper end of the other, or from their
    exact values.
    """
    least: float
    greatest: float
    """The smallest and the largest number that is proven to be reached, at least so far."""
    everywhere: bool

    @property
    def overestimation(self) -> float | None:
        """Return by which share of its width the range may be too wide; None if it is not
        everywhere.
        """
        width = float(self.high.a) - float(self.low.a)
        if not self.everywhere or not math.isfinite(width):
            return None
        return max(0.0, (width - max(0.0, self.greatest - self.least)) / width) if width else 0.0


class BoxRanges:
    """The ranges of a function and its derivatives `wrt` over a box of variables, which `wrt` has
    first.
    """

    def __init__(
        self,
        m: Any,
        graph: Graph,
        box: Mapping[str, Interval],
        values: Mapping[str, Any],
        wrt: Sequence[str],
    ) -> None:
        self.m, self.graph, self.names, self.values, self.wrt = m, graph, [*box], values, wrt
        self.whole = [*box.values()]
        self.widths = [_width(ends) for ends in self.whole]
        n = len(self.whole)
        self.smallest_open, self.smallest_kink = (
            2.0 ** -max(3, k // n**2) for k in (HALVINGS, KINK_HALVINGS)
        )
        self.least = [math.inf] * (1 + len(wrt))
        self.greatest = [-math.inf] * (1 + len(wrt))
        # The proven signs of slopes at points of the box.
        self.signs: list[set[int]] = [set() for _ in wrt]
        self.parts: list[tuple[Part, Enclosure]] = []
        # Whether all parts are as narrow as they are worth.
        self.complete = True
        self._search()

    # ---- results
    def ranges(self) -> list[ProvenRange]:
        """Return the ranges of the value and of each slope."""
        return [self._range(k) for k in range(1 + len(self.wrt))]

    def _range(self, k: int) -> ProvenRange:
        from flint import arb

        from ..numbers.ball import Ball

        known = [
            numbers[k]
            for _, part in self.parts
            if k < len(numbers := part.numbers) and numbers[k] is not None
        ]
        if not known:
            return ProvenRange(Ball(arb("-inf")), Ball(arb("inf")), math.inf, -math.inf, False)
        low = _extreme([one[0] for one in known if one], 1)
        high = _extreme([one[1] for one in known if one], -1)
        return ProvenRange(
            low, high, self.least[k], self.greatest[k], len(known) == len(self.parts)
        )

    def places(self) -> list[UnprovenPlace]:
        """Return where something is not proven, neighbours as one."""
        found: list[UnprovenPlace] = []
        for box, part in self.parts:
            if part.value is None or part.slopes is None or part.is_kink:
                kind = "value" if part.value is None else "slope" if part.slopes is None else "kink"
                found.append(UnprovenPlace([*map(_hull, box)], kind, part.fault))
        return _clusters(found)

    def evaluate_middle(self) -> None:
        """Evaluate the program in the middle of the box. Raises `ExpressionError`."""
        evaluate_in(self.m, self.graph, self._point(map(_middle, self.whole)))

    # ---- the search
    def _search(self) -> None:
        work, order = current_budget(), count()
        waiting: list[tuple[float, int, Part, Enclosure]] = []

        def wait(box: Part) -> None:
            part = self._enclose(box)
            heapq.heappush(waiting, (-self._excess(box, part), next(order), box, part))

        wait(self.whole)
        while waiting:
            _, _, box, part = heapq.heappop(waiting)
            excess = self._excess(box, part)
            if waiting and excess < -waiting[0][0]:
                # bounds of the range are better known now
                heapq.heappush(waiting, (-excess, next(order), box, part))
                continue
            if excess <= 0:
                self.parts += [(box, part), *[(other, its) for _, _, other, its in waiting]]
                return
            if work.left < RESERVED_WORK_SHARE * work.most:
                self.complete = False
                self.parts += [(box, part), *[(other, its) for _, _, other, its in waiting]]
                return
            k = self._widest(box, part)
            (low, high), middle = box[k], _middle(box[k])
            for half in ((low, middle), (middle, high)):
                wait([*box[:k], half, *box[k + 1 :]])

    def _share(self, box: Part) -> float:
        return max(_width(ends) / width for ends, width in zip(box, self.widths, strict=True))

    def _excess(self, box: Part, part: Enclosure) -> float:
        """Return by how much a part widens the ranges, relative to them; 0 if it needs no
        halving.
        """
        share = self._share(box)
        smallest = self.smallest_kink if part.is_kink else self.smallest_open
        if part.value is None and part.fault is not None and part.fault.kind != UNDECIDED:
            return 0.0  # the program has no value in all of it
        is_open = part.value is None or part.slopes is None or part.is_kink
        excess = share if is_open and share > smallest else 0.0
        if share <= MIN_SHARE:
            return 0.0
        tolerance = KINK_TOLERANCE if part.slopes is None or part.is_kink else RANGE_TOLERANCE
        for k, a in enumerate(part.numbers):
            if a is not None:
                excess = max(excess, self._excess_of(k, a, tolerance))
        return excess

    def _excess_of(self, k: int, ends: Interval, tolerance: float) -> float:
        least, greatest = self.least[k], self.greatest[k]
        if least > greatest:
            return 1.0
        low, high = float(ends[0].a.lower()), float(ends[1].a.upper())
        beyond = max(least - low, high - greatest)
        size = max(abs(least), abs(greatest))
        allowed = tolerance * (greatest - least) + ROUNDING_TOLERANCE * size
        return (
            beyond / (greatest - least + 1e-300 + ROUNDING_TOLERANCE * size)
            if beyond > allowed
            else 0.0
        )

    def _widest(self, box: Part, part: Enclosure) -> int:
        """Return the variable to halve: the one whose range widens the value most, or the
        widest.
        """
        radii = [*map(_width, box)]
        shares = [radius / width for radius, width in zip(radii, self.widths, strict=True)]
        if part.slopes is not None and not part.is_kink:
            weights = [
                float(abs(_hull(d)).upper()) * radius
                for d, radius in zip(part.slopes, radii, strict=False)
            ]
            if part.curvature is not None:
                for j, radius in enumerate(radii):
                    weights[j] += sum(
                        float(abs(row[j]).upper()) * radius * sum(radii) for row in part.curvature
                    )
            # a variable that is never halved would keep an unknown curvature
            if 0 < max(weights) < math.inf:
                shares = [
                    w / max(weights) + share for w, share in zip(weights, shares, strict=True)
                ]
        return max(range(len(box)), key=shares.__getitem__)

    # ---- enclosures
    def _point(self, numbers: Iterable[Any]) -> dict[str, Number]:
        return {**self.values, **dict(zip(self.names, numbers, strict=True))}

    def _enclose(self, box: Part) -> Enclosure:
        charge(PART_STEPS + NODE_STEPS * len(self.graph.places))
        part = self._natural(self._point(map(_ball, box)))
        middle = [*map(_middle, box)]
        centre = self._at(middle)
        if part.slopes is None or part.is_kink or centre is None:
            return part
        around = [_hull(ends) - x.a for ends, x in zip(box, middle, strict=True)]
        return self._monotonic(_mean_value(part, around, centre), box)

    def _natural(self, point: Mapping[str, Number]) -> Enclosure:
        m = self.m
        with Defined(*NO_RESULT):
            at = hessian_in(m, self.graph, point, self.wrt)
            rows = [[m.number(x).a for x in row] for row in at.hessian]
            return Enclosure(self._ends(at.value), [*map(self._ends, at.gradient)], rows)
        fault: ExpressionError | None = None
        try:
            swept = value_and_gradient(m, self.graph, point, self.wrt)
            if not swept.kinks:
                return Enclosure(
                    self._ends(swept.value), [*map(self._ends, swept.gradient.values())]
                )
        except ExpressionError as error:
            fault = error
        except NO_RESULT:
            pass
        try:
            swept = evaluate_in(m, self.graph, point, self.wrt)
            value = self._ends(swept.value)
        except ExpressionError as error:
            return Enclosure(fault=error)
        except NO_RESULT:
            return Enclosure(fault=fault)
        with Defined(*NO_RESULT):
            sides = [[*map(self._ends, slopes)] for slopes in generalized_gradients(swept)]
            return Enclosure(value, [*map(_union, zip(*sides, strict=True))], None, True, fault)
        return Enclosure(value, None, None, False, fault)

    def _ends(self, x: Number) -> Interval:
        """Return the ends of a ball; an exact number is both."""
        x = self.m.number(x)
        if x.form is not None:
            return x, x
        return type(x)(x.a.lower()), type(x)(x.a.upper())

    def _at(self, point: Sequence[Any]) -> list[Any] | None:
        """Return value and slopes at a point of the box, which ranges contain; None if they are
        missing there.
        """
        with Defined(*NO_RESULT):
            at = value_and_gradient(self.m, self.graph, self._point(point), self.wrt)
            if at.kinks:
                return None
            numbers = [self.m.number(x) for x in (at.value, *at.gradient.values())]
            for k, x in enumerate(numbers):
                self.least[k] = min(self.least[k], float(x.a.upper()))
                self.greatest[k] = max(self.greatest[k], float(x.a.lower()))
            for signs, x in zip(self.signs, numbers[1:], strict=True):
                signs.update([1] if x.a > 0 else [-1] if x.a < 0 else [])
            return numbers
        return None

    def _monotonic(self, part: Enclosure, box: Part) -> Enclosure:
        """Return the enclosure with the values at corners for what is monotonic in all variables of
        the box.
        """
        assert part.value is not None and part.slopes is not None
        slopes = [*part.slopes]
        value = self._between_corners(0, part.value, [*map(_hull, slopes[: len(box)])], box)
        for k, row in enumerate(part.curvature or ()):
            slopes[k] = self._between_corners(1 + k, slopes[k], row[: len(box)], box)
        return part._replace(value=value, slopes=slopes)

    def _between_corners(
        self, k: int, known: Interval, partials: Sequence[Any], box: Part
    ) -> Interval:
        if self.least[k] <= known[0].a.lower() and known[1].a.upper() <= self.greatest[k]:
            return known
        low, high = list[Any](), list[Any]()
        for partial, ends in zip(partials, box, strict=True):
            if not (partial >= 0 or partial <= 0):
                return known
            first, last = ends if partial >= 0 else ends[::-1]
            low.append(first)
            high.append(last)
        numbers = self._at(low), self._at(high)
        if numbers[0] is None or numbers[1] is None:
            return known
        return _both(known, (numbers[0][k], numbers[1][k]))


def _mean_value(part: Enclosure, around: Box, centre: Sequence[Any]) -> Enclosure:
    """Return the enclosure, with the mean-value forms around the middle of its box."""
    assert part.value is not None and part.slopes is not None
    slopes = [*part.slopes]
    for k, row in enumerate(part.curvature or ()):
        slopes[k] = _within(slopes[k], centre[1 + k].a + _dot(row, around))
    value = _within(part.value, centre[0].a + _dot([*map(_hull, slopes)], around))
    return part._replace(value=value, slopes=slopes)


def generalized_gradients(at: Evaluation) -> list[list[Number]]:
    """Return gradients over a box, one for each combination of sides of the kinks in it.

    Their convex hull contains the generalized gradient, because a gradient is affine in the
    derivatives of each node. Raises `Refusal` at a jump, and for kinks that are not known or too
    many.
    """
    sides: dict[int, Sequence[Sequence[int]]] = {}
    for i in at.order:
        primitive, inputs = at.graph.primitives[i], at.graph.inputs(i)
        if not at.active[i] or primitive.kink is None or _is_smooth(primitive, inputs):
            continue
        if primitive.jumps or primitive.name not in SIDES_OF_KINKS:
            raise Refusal("undecided", "a jump, or a kink without known sides", "")
        sides[i] = SIDES_OF_KINKS[primitive.name](len(inputs))
    if not sides or math.prod(map(len, sides.values())) > MAX_SIDES:
        raise Refusal("undecided", "no kink is known, or too many are", "")
    return [
        _gradient_on(at, dict(zip(sides, chosen, strict=True)))
        for chosen in product(*sides.values())
    ]


def _is_smooth(primitive: Primitive, inputs: Sequence[Number]) -> bool:
    assert primitive.kink is not None
    try:
        return not primitive.kink(*inputs)
    except Refusal:
        return False


def _gradient_on(at: Evaluation, sides: Mapping[int, Sequence[int]]) -> list[Number]:
    """Return the gradient with these derivatives of the nodes at kinks."""
    adjoints: list[Any] = [None] * len(at.graph.data)
    adjoints[at.graph.roots[0]] = at.m.number(1)
    for i in reversed(at.order):
        adjoint = adjoints[i]
        if adjoint is None or not at.active[i]:
            continue
        partials: Sequence[Any] = sides[i] if i in sides else local_derivatives(at.active, i)
        for p, partial in zip(at.graph.parents[i], partials, strict=True):
            if partial is not None and at.active[p]:
                share = adjoint * partial
                adjoints[p] = share if adjoints[p] is None else adjoints[p] + share
    zero = at.m.number(0)
    totals = [None if i is None else adjoints[i] for i in at.wanted.values()]
    if not all(total is None or at.m.is_finite(total) for total in totals):
        raise OverflowError
    return [zero if total is None else total for total in totals]


def _dot(partials: Sequence[Any], around: Box) -> Any:
    return sum((d * x for d, x in zip(partials, around, strict=False)), 0 * around[0])


def _union(ranges: Sequence[Interval]) -> Interval:
    """Return the range around others."""
    return _extreme([one[0] for one in ranges], 1), _extreme([one[1] for one in ranges], -1)


def _within(known: Interval, a: Any) -> Interval:
    """Return the part of a range that an enclosure has too."""
    if not a.is_finite():
        return known
    ball = type(known[0])
    return _both(known, (ball(a.lower()), ball(a.upper())))


def _both(known: Interval, other: Interval) -> Interval:
    """Return what two ranges of one number have in common."""
    low = other[0] if other[0].a.lower() > known[0].a.lower() else known[0]
    high = other[1] if other[1].a.upper() < known[1].a.upper() else known[1]
    return low, high


def _extreme(balls: Sequence[Any], side: int) -> Any:
    """Return the ball with the lowest lower end, or the highest upper end for `side` -1.

    It is exact only if no other number may be beyond its own.
    """

    def outer(x: Any) -> Any:
        return x.a.lower() if side > 0 else -x.a.upper()

    best = balls[0]
    for x in balls[1:]:
        if outer(x) < outer(best):
            best = x
    inner = best.a.upper() if side > 0 else -best.a.lower()
    others = [x for x in balls if x.form is None or x.form != best.form]
    return best if all(outer(x) >= inner for x in others) else type(best)(best.a)


def _width(ends: Interval) -> float:
    return float((ends[1].a - ends[0].a).mid()) or 1.0


def _middle(ends: Interval) -> Any:
    """Return a number in the middle of an interval, exact."""
    from ..numbers.ball import Ball

    return Ball(((ends[0].a + ends[1].a) / 2).mid())


def _hull(ends: Interval) -> Any:
    return ends[0].a.union(ends[1].a)


def _ball(ends: Interval) -> Any:
    return type(ends[0])(_hull(ends))


def _clusters(places: Sequence[UnprovenPlace]) -> list[UnprovenPlace]:
    """Return places of one kind and reason that touch each other as one."""
    groups: dict[tuple[str, str], list[Box]] = {}
    faults: dict[tuple[str, str], ExpressionError | None] = {}
    for place in places:
        span = None if place.fault is None else place.fault.span
        key = place.kind, str(span)
        groups.setdefault(key, []).append(place.box)
        faults.setdefault(key, place.fault)
    join: Callable[[list[Box]], list[Box]]
    result: list[UnprovenPlace] = []
    for key, found in groups.items():
        join = _joined if len(found) <= MAX_CLUSTERED else lambda every: [_around(every)]
        result += [UnprovenPlace(box, key[0], faults[key]) for box in join(found)]
    return sorted(result, key=lambda place: [float(a.mid()) for a in place.box])


def _joined(found: list[Box]) -> list[Box]:
    clusters: list[Box] = []
    for box in found:
        touching = [other for other in clusters if overlap(box, other)]
        clusters = [other for other in clusters if not overlap(box, other)]
        clusters.append(_around([box, *touching]))
    return clusters


def _around(every: list[Box]) -> Box:
    hull = [*every[0]]
    for box in every[1:]:
        hull = [a.union(b) for a, b in zip(hull, box, strict=True)]
    return hull
