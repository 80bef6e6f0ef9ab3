"""Frames: which heights a drawing shows, and the parts of a curve that lie within them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...curves.contours import Surface
from ...curves.plot import Curve
from ...curves.sampling import Stretch
from ..numerals import heading, unit_text

MARGIN = 0.06
"""The share of the height that is left free at the top and at the bottom."""

MAX_HEIGHT = 1e300
"""The largest height that is drawn, so that the arithmetic of drawing does not overflow."""


class Frame(NamedTuple):
    """The heights from `low` to `high`."""

    low: float
    high: float


def axis_of(plot: Curve | Surface, name: str) -> str:
    """A variable with its unit, as an axis has it."""
    return name if plot.units is None else heading(name, unit_text(plot.units["range"][name]))


def frames(curve: Curve) -> tuple[Frame, Frame | None]:
    """The frame of the function, and that of the derivative; None where both fit into one."""
    if "y" in curve.log:
        logs, _ = frames(curve.in_logs())
        return Frame(10.0 ** max(logs.low, -300.0), 10.0 ** min(logs.high, 300.0)), None
    function, derivative, tangent = curve.function, curve.derivative, curve.tangent
    value = [*([tangent.value] if tangent else []), *(y for _, y in curve.path), *_heights_of(curve)]
    slope = [tangent.slope] if tangent else []
    functions = [output.function for output in curve.outputs if output.function.stretches] or [function]
    heights = [height for samples in functions for height in (samples.low, samples.high)]
    one = _frame([*heights, *value])
    if not derivative.stretches:
        return one, None
    slopes = [derivative.low, derivative.high]
    if curve.second.stretches:
        slopes += [curve.second.low, curve.second.high]
    two = _frame([*slopes, *slope])
    both = _frame([*one, *two])
    height, largest = both.high - both.low, 3.0
    if height <= largest * (one.high - one.low) and height <= largest * (two.high - two.low):
        return _frame([*heights, *slopes, *value, *slope]), None
    return one, two


def _heights_of(curve: Curve) -> list[float]:
    data = curve.data
    if data is None:
        return []
    sizes = data.dy or (0.0,) * len(data.y)
    rows = zip(data.x, data.y, sizes, strict=True)
    return [y + sign * size for x, y, size in rows if curve.low <= x <= curve.high for sign in (-1, 1)]


def _frame(heights: Sequence[float]) -> Frame:
    low, high = max(min(heights), -MAX_HEIGHT), min(max(heights), MAX_HEIGHT)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        half = max(1.0, abs(low)) if low == 0 or abs(low) > 1e-6 else abs(low)
        return Frame(low - half, high + half)
    edge = MARGIN * (high - low)
    return Frame(low - edge, high + edge)


def within(stretches: Iterable[Stretch], frame: Frame) -> Iterator[Stretch]:
    """The parts of the pieces inside the frame, each cut exactly at its edge."""
    for stretch in stretches:
        piece: list[tuple[float, float]] = []
        for k, (x, y) in enumerate(stretch):
            inside = frame.low <= y <= frame.high
            crossings = list(_crossings(stretch[k - 1], (x, y), frame)) if k else []
            if inside:
                piece += [*crossings[:1], (x, y)] if not piece else [(x, y)]
            elif piece:
                yield (*piece, *crossings[:1])
                piece = []
            elif len(crossings) == 2:
                yield tuple(crossings)
        if piece:
            yield tuple(piece)


def _crossings(a: tuple[float, float], b: tuple[float, float], frame: Frame) -> Iterator[tuple[float, float]]:
    edges = frame if a[1] <= b[1] else frame[::-1]
    for edge in edges:
        if min(a[1], b[1]) < edge < max(a[1], b[1]):
            share = edge / (b[1] - a[1]) - a[1] / (b[1] - a[1])
            yield a[0] + share * (b[0] - a[0]), edge


MAX_DOTS = 5_000
"""The most rows that have a dot each; of more rows, hidden dots are left out."""

CELLS = 100
"""The columns and rows of cells, with one dot at most, in a picture of more: a dot is as wide."""


def in_sight(xs: Sequence[float], ys: Sequence[float]) -> list[int]:
    """Which dots are drawn: all, or of too many the first in each cell, so that none far out is missing."""
    if len(xs) <= MAX_DOTS:
        return [*range(len(xs))]
    columns, rows = _cells(xs), _cells(ys)
    first: dict[tuple[int, int], int] = {}
    for k, cell in enumerate(zip(columns, rows, strict=True)):
        first.setdefault(cell, k)
    return [*first.values()]


def _cells(numbers: Sequence[float]) -> list[int]:
    low, high = min(numbers), max(numbers)
    size = (high / CELLS - low / CELLS) or 1.0
    return [min(int(x / size - low / size), CELLS - 1) for x in numbers]
