"""Sampling of a function in continuous pieces."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ...engine.numbers.budget import DRAWN_POINT, SAMPLE, current_budget
from ...engine.numerics.newton import bisect

Point = tuple[float, float]
# A piece of a curve, from left to right.
Stretch = tuple[Point, ...]
# The points of a run.
Path = Sequence[Mapping[str, float]]
# None where undefined.
Function = Callable[[float], float | None]
# Bounds of a function over an interval; None if unknown.
Hull = Callable[[float, float], Point | None]
INITIAL_STEPS = 480
# Halvings of a step where the curve bends.
MAX_REFINEMENTS = 6
# The largest distance of a chord from the curve, relative to the height.
MAX_CHORD_DISTANCE = 0.002
# The rise within one step that is refined, relative to the height.
MAX_RISE = 0.01
# The relative height of a peak that counts as missed.
MAX_HIDDEN_BEND = 0.05
# Steps that are looked over together for such peaks.
BLOCK = 8
MAX_HIDDEN_PEAKS = 60
# The most halvings of a step together, beside such a peak.
MAX_SPLITS = 4_096
# The most enclosures in search of such peaks.
MAX_HULLS = 2_000
# The width of the narrowest peak that is looked for, relative to the step.
LEAST_PEAK = 2.0**-30
# The relative distance of a chord from the curve that shows a pole.
POLE_CHORD_DISTANCE = 10
# Of rises towards a pole over equal factors of the distance.
MIN_QUOTIENT_OF_POLE = 0.95
MAX_HALVINGS = 48
# The relative height difference below which all is rounding error.
FLAT = 1e-9
# How far beyond the samples the curve is followed, relative to their height.
SIGHT_MARGIN = 20
# The height, relative to the core, above which only the core is shown.
MAX_HEIGHTS_OF_CORE = 500
# The distance of equal places in a drawing, relative to its width.
TINY = 1e-6


class Samples(NamedTuple):
    """A sampled function: its pieces, gaps, breaks, and range to show."""

    stretches: tuple[Stretch, ...]
    gaps: tuple[tuple[float, float], ...]
    breaks: tuple[float, ...]
    low: float
    high: float
    """The heights to show: all, unless some are infinite."""
    coarse: bool = False
    """Whether work was too short to follow it."""
    hidden: tuple[float, ...] = ()
    """Places on peaks between samples that only enclosures show."""


class _SampledHeights(NamedTuple):
    """What the first samples show of a function's heights."""

    least: float
    most: float
    around_core: tuple[float, float]
    """The heights of most samples, and as much above and below; within the heights of all."""
    height: float
    """The height that the picture has."""
    sight: tuple[float, float]
    """The heights beyond which the curve counts as infinite."""

    @classmethod
    def of(cls, ys: Sequence[float | None], vertical: Point | None) -> _SampledHeights:
        heights = sorted(y for y in ys if y is not None) or [0.0, 1.0]
        first, last = heights[len(heights) // 10], heights[-1 - len(heights) // 10]
        core, spread = last - first, heights[-1] - heights[0]
        around_core = max(heights[0], first - core), min(heights[-1], last + core)
        if vertical is not None:
            height = vertical[1] - vertical[0]
            sight = vertical[0] - height, vertical[1] + height
        else:
            height = core if core > FLAT * max(abs(first), abs(last)) else abs(heights[0])
            margin = SIGHT_MARGIN * spread if math.isfinite(SIGHT_MARGIN * spread) else math.inf
            has_poles = spread > MAX_HEIGHTS_OF_CORE * core > 0
            sight = around_core if has_poles else (heights[0] - margin, heights[-1] + margin)
        return cls(heights[0], heights[-1], around_core, height, sight)

    def shown(self, drawn: Sequence[float], sight: Point) -> Point:
        """Return the heights to show: all, unless some are out of sight."""
        if drawn and sight[0] <= min(drawn) and max(drawn) <= sight[1]:
            return min(self.least, *drawn), max(self.most, *drawn)
        return (
            self.around_core
            if self.around_core[0] < self.around_core[1]
            else (self.least, self.most)
        )


def sample(
    function: Function,
    ends: Point,
    also: Sequence[float],
    count: int | None,
    hull: Hull | None,
    peaks: Sequence[float],
    vertical: Point | None = None,
) -> Samples:
    """Return the samples between `ends`, including the numbers `also`, as fine as the range
    `vertical` needs.

    With `count` there are only that many, at equal distances; else more where the
    curve bends, at the `peaks` of another function, and where the `hull` shows others.
    """
    low, high = ends
    work = current_budget()
    before = work.left
    if count is None:
        steps = {low + (high - low) * k / INITIAL_STEPS for k in range(INITIAL_STEPS)} | {high}
        xs = sorted(steps | {x for x in (*also, *peaks) if low < x < high})
    else:
        xs = [low + (high - low) * k / (count - 1) for k in range(count)]
    ys = [function(x) for x in xs]
    heights = _SampledHeights.of(ys, vertical)
    most_work = max(work.left / 2, 1.5 * (before - work.left))
    tracer = _Tracer(function, heights.height, heights.sight, most_work, hull, {*peaks})
    for k, ((a, at_a), (b, at_b)) in enumerate(pairwise(zip(xs, ys, strict=True))):
        tracer.add_point(a, at_a)
        if count is None:
            if k % BLOCK == 0:
                tracer.look_over(xs[k : k + BLOCK + 1], ys[k : k + BLOCK + 1])
            tracer.refine(a, at_a, b, at_b)
    tracer.add_point(xs[-1], ys[-1])
    tracer.end_stretch()
    shown = heights.shown([y for stretch in tracer.stretches for _, y in stretch], tracer.sight)
    gaps, breaks = _gaps_and_breaks(tracer.stretches, ends)
    return Samples(
        tuple(tracer.stretches), gaps, breaks, *shown, tracer.coarse, tuple(sorted(tracer.hidden))
    )


def _gaps_and_breaks(
    stretches: Sequence[Stretch], ends: Point
) -> tuple[tuple[tuple[float, float], ...], tuple[float, ...]]:
    """Return the intervals without a value, and the places between stretches where there is no
    interval.
    """
    low, high = ends
    bounds = [low, *(x for stretch in stretches for x in (stretch[0][0], stretch[-1][0])), high]
    around = [(0.0 if abs(x) < FLAT * (high - low) else x) for x in bounds]
    pairs = list(zip(around[::2], around[1::2], strict=True))
    tiny = TINY * (high - low)
    breaks: list[float] = []
    for a, b in pairs[1:-1]:
        if b - a <= tiny and not (breaks and b - breaks[-1] <= tiny):
            breaks.append(b)
    return tuple((a, b) for a, b in pairs if b - a > tiny), tuple(breaks)


class _Enough(Exception):
    """The work for refinement is used up."""


def _outside(y: float | None, low: float, high: float) -> float:
    """Return how far a height is outside of a range; 0 if there is none."""
    return 0.0 if y is None else max(low - y, y - high)


class _Tracer:
    def __init__(
        self,
        function: Function,
        height: float,
        sight: Point,
        reserve: float,
        hull: Hull | None,
        hidden: set[float],
    ) -> None:
        self.work, self.reserve = current_budget(), reserve
        """The work, and the part of it that is left to others."""
        self.hull, self.hidden, self.hulls = hull, hidden, 0
        self.coarse = False
        # Drawn points that are not yet charged.
        self.drawn = 0
        self.plain, self.height, self.sight = function, height or 1.0, sight
        self.margin = MAX_HIDDEN_BEND * height
        self.is_flat = sight[0] == sight[1]
        # The end of the steps that surely have no hidden peaks.
        self.peakless = -math.inf
        self.stretches: list[Stretch] = []
        self._open: list[Point] = []

    def function(self, x: float) -> float | None:
        if self.work.left < self.reserve:
            raise _Enough
        self.work.charge(SAMPLE + DRAWN_POINT * self.drawn)
        self.drawn = 0
        return self.plain(x)

    def add_point(self, x: float, y: float | None) -> None:
        if y is None:
            self.end_stretch()
        elif not self._open or self._open[-1][0] < x:
            self.drawn += 1
            self._open.append((x, y))

    def end_stretch(self) -> None:
        if self._open:
            self.stretches.append(tuple(self._open))
            self._open = []

    def look_over(self, xs: Sequence[float], ys: Sequence[float | None]) -> None:
        heights = [y for y in ys if y is not None]
        bounds = (
            self.hull(xs[0], xs[-1]) if self.hull is not None and len(heights) == len(xs) else None
        )
        if (
            bounds
            and min(heights) - self.margin <= bounds[0]
            and bounds[1] <= max(heights) + self.margin
        ):
            self.peakless = xs[-1]

    def refine(self, a: float, at_a: float | None, b: float, at_b: float | None) -> None:
        try:
            if at_a is None or at_b is None:
                if (at_a is None) != (at_b is None):
                    self._edge(a, at_a, b, at_b)
                return
            if abs(at_b - at_a) > MAX_RISE * self.height and (
                jump := self._broken(a, at_a, b, at_b)
            ):
                (left, at_left), (right, at_right) = jump
                self._bend(a, at_a, left, at_left, MAX_REFINEMENTS)
                self.add_point(left, at_left)
                self.end_stretch()
                self.add_point(right, at_right)
                a, at_a = right, at_right
            deep = a in self.hidden or b in self.hidden
            self._bend(a, at_a, b, at_b, MAX_HALVINGS if deep else MAX_REFINEMENTS)
        except _Enough:
            self.coarse = True

    def _edge(self, a: float, at_a: float | None, b: float, at_b: float | None) -> None:
        heights = {a: at_a, b: at_b}

        def has_value(x: float) -> bool:
            heights[x] = self.function(x)
            return heights[x] is not None

        edge, _ = bisect(has_value, *((b, a) if at_a is None else (a, b)), most=4 * MAX_HALVINGS)
        at_edge = heights[edge]
        if at_a is not None and at_edge is not None:
            self._bend(a, at_a, edge, at_edge, 2 * MAX_REFINEMENTS)
            self.add_point(edge, at_edge)
            self.end_stretch()
        elif at_b is not None and at_edge is not None:
            self.end_stretch()
            self.add_point(edge, at_edge)
            self._bend(edge, at_edge, b, at_b, 2 * MAX_REFINEMENTS)

    def _broken(self, a: float, at_a: float, b: float, at_b: float) -> tuple[Point, Point] | None:
        left, right = (a, at_a), (b, at_b)
        rise = abs(at_b - at_a)
        for _ in range(MAX_HALVINGS):
            middle = (left[0] + right[0]) / 2
            if not left[0] < middle < right[0]:
                break
            at_middle = self.function(middle)
            if at_middle is None:
                # undefined at one point, as 1/x at 0
                return left, right
            if abs(at_middle - left[1]) > abs(right[1] - at_middle):
                right = middle, at_middle
            else:
                left = middle, at_middle
            if abs(right[1] - left[1]) < 0.02 * rise:
                return None
        return left, right

    def _bounds(self, a: float, b: float) -> Point | None:
        self.hulls += 1
        if self.hull is None or self.hulls > MAX_HULLS:
            return -math.inf, math.inf
        return self.hull(a, b)

    def _hidden(self, a: float, at_a: float, b: float, at_b: float) -> Point | None:
        """Return a point far above or below two others, if any is found."""
        low, high = min(at_a, at_b) - self.margin, max(at_a, at_b) + self.margin
        waiting = [(-math.inf, a, b)] if b > self.peakless else []
        while waiting and self.hull is not None:
            excess, left, right = heapq.heappop(waiting)
            middle, is_narrow = (left + right) / 2, right - left < LEAST_PEAK * (b - a)
            if excess > -math.inf or is_narrow:
                y = self.function(middle)
                overshoot = _outside(y, low, high)
                # near the top of a peak enclosures are not much higher
                near = overshoot > 0 and (is_narrow or overshoot >= -excess / 2)
                if near and y is not None and not diverges(self.plain, middle, b - a):
                    return middle, y
            for side in (
                () if is_narrow or self.hulls > MAX_HULLS else ((left, middle), (middle, right))
            ):
                margin = self._margin(*side, low, high)
                if margin < 0:
                    heapq.heappush(waiting, (margin, *side))
        return None

    def _margin(self, a: float, b: float, low: float, high: float) -> float:
        """Return how far the function stays within a range between two points; negative if it may
        leave it.
        """
        bounds = self._bounds(a, b)
        return -math.inf if bounds is None else min(bounds[0] - low, high - bounds[1])

    def _is_in_sight(self, heights: Sequence[float]) -> bool:
        return min(heights) <= self.sight[1] and max(heights) >= self.sight[0]

    def _bend(self, a: float, at_a: float, b: float, at_b: float, depth: int) -> None:
        first, splits = True, 0
        stack = [(a, at_a, b, at_b, depth)]
        while stack:
            a, at_a, b, at_b, depth = stack.pop()
            middle = (a + b) / 2
            at_middle = self.function(middle) if a < middle < b else None
            if at_middle is None:
                self.add_point(a, at_a)
                first = False
                continue
            off = abs(at_middle - (at_a + at_b) / 2)
            is_bent = off > MAX_CHORD_DISTANCE * self.height
            in_sight = self._is_in_sight((at_a, at_middle, at_b))
            if is_bent and depth > 0 and splits < MAX_SPLITS and in_sight:
                stack.append((middle, at_middle, b, at_b, depth - 1))
                stack.append((a, at_a, middle, at_middle, depth - 1))
                first, splits = False, splits + 1
                continue
            if first and not is_bent and (place := self._hidden(a, at_a, b, at_b)) is not None:
                self._show_peak(place, at_a)
                self.refine(a, at_a, *place)
                self.refine(*place, b, at_b)
                return
            first = False
            self.add_point(a, at_a)
            if off > POLE_CHORD_DISTANCE * self.height or (is_bent and self._bounds(a, b) is None):
                self._peak(a, b, max(abs(at_a), abs(at_b)))
            elif min(at_middle - at_a, at_middle - at_b) > MAX_HIDDEN_BEND * self.height:
                self.coarse = True

    def _show_peak(self, place: Point, at_a: float) -> None:
        """Note a peak between samples; a constant function is as high as its peaks."""
        self.hidden.add(place[0])
        if len(self.hidden) >= MAX_HIDDEN_PEAKS:
            self.hull, self.coarse = None, True
        if self.is_flat:
            self.height = max(self.height if self.margin else 0.0, abs(place[1] - at_a))
            self.margin = MAX_HIDDEN_BEND * self.height
            reach = SIGHT_MARGIN * self.height
            self.sight = min(self.sight[0], place[1] - reach), max(self.sight[1], place[1] + reach)

    def _peak(self, a: float, b: float, ends: float) -> None:
        """Break the curve at a pole with equal signs on both sides."""
        for _ in range(3 * MAX_HALVINGS):
            third = (b - a) / 3
            left, right = a + third, b - third
            if not a < left < right < b:
                break
            at_left, at_right = self.function(left), self.function(right)
            if at_left is None or at_right is None:
                pole = left if at_left is None else right
                a, b = math.nextafter(pole, a), math.nextafter(pole, b)
                break
            if abs(at_left) < abs(at_right):
                a = left
            else:
                b = right
        at_a, at_b = self.function(a), self.function(b)
        if at_a is not None and at_b is not None and min(abs(at_a), abs(at_b)) > 1e6 * ends:
            self.add_point(a, at_a)
            self.end_stretch()
            self.add_point(b, at_b)


def diverges(function: Function, x: float, width: float) -> bool:
    """Return whether a function is unbounded on a side of a place."""
    for side in (-width, width):
        far, near, nearer = (function(x + side * 10.0**-k) for k in (4, 8, 12))
        if far is not None and near is not None and nearer is not None:
            step, last = abs(near - far), abs(nearer - near)
            if last > MIN_QUOTIENT_OF_POLE * step and last > FLAT * max(1.0, abs(nearer)):
                return True
    return False


def split(stretches: Sequence[Stretch], at: Sequence[float]) -> tuple[Stretch, ...]:
    """Return the pieces cut at these places too, without single points."""
    pieces: list[Stretch] = []
    places = sorted(at)
    for stretch in stretches:
        piece: list[Point] = []
        passed = 0
        for point in stretch:
            before, passed = passed, bisect_right(places, point[0])
            if piece and passed > before:
                pieces.append(tuple(piece))
                piece = []
            piece.append(point)
        pieces.append(tuple(piece))
    return tuple(piece for piece in pieces if len(piece) > 1)
