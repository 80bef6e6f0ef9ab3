"""Starts of the parameters of shapes such as `gaussian`: where the data have peaks, and how wide
these are.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ...engine.table.primitive import COMPOSED, Primitive
from ...errors import AutodiffError
from ...language.parser import syntax_tree
from ...language.reader import ParseFailure
from ...language.tree import SyntaxNode

WIDTH = "width"

MAX_PEAKS = 8  # of the data, that starts are drawn from
SHARE_AT_PEAKS = 0.8  # of the starts; the others are anywhere
WIDTH_DECADES = 0.3  # of starts to either side of a peak's half width
# a peak reaches to half its height, and so many of these widths are its own
HALF_HEIGHT, REMOVED_WIDTHS = 0.5, 2.0
LINE_STEPS = 10  # of the line under the peaks, by weights of distances: no more moves it
MAX_EXPONENT = 8.0  # of a start
SMOOTHED_ROWS = 200  # to each three neighbours, above which a peak is of means of so many


class ShapeCall(NamedTuple):
    """A call of a shape whose argument is a column of the data."""

    row: Primitive
    column: str
    names: dict[str, str]
    """By the parameter of the shape, the parameter of the model."""

    @property
    def is_peak(self) -> bool:
        return WIDTH in self.row.scales


class Peak(NamedTuple):
    """A peak of the data, or a dip."""

    place: float
    half_width: float


def shape_calls(text: str, columns: Collection[str], lacking: Collection[str]) -> list[ShapeCall]:
    """Return the calls of shapes that have a column as argument, and parameters without a start."""
    with suppress(AutodiffError, ParseFailure):
        tree = syntax_tree(text)
        defined = {node.value for node in tree.walk() if node.kind == "define"}
        called = [node for node in tree.walk() if node.kind == "call" and node.value not in defined]
        calls = [_shape_call(node, lacking) for node in called]
        return [
            call for call in calls if call is not None and call.column in columns and call.names
        ]
    return []


def _shape_call(node: SyntaxNode, lacking: Collection[str]) -> ShapeCall | None:
    row = COMPOSED.get(node.value)
    if row is None or len(node.parts) != len(row.params):
        return None
    values = [part.value if part.kind == "name" else "" for part in node.parts]
    names = {
        parameter: name
        for parameter, name in zip(row.params, values, strict=True)
        if name in lacking
    }
    return ShapeCall(row, values[0], names)


class ShapeStarts:
    """Starts drawn for the parameters of calls of shapes."""

    def __init__(self, calls: Sequence[ShapeCall], columns: dict[str, Any], response: Any) -> None:
        self.calls = calls
        self.columns = columns
        self.peaks = {
            call.column: peaks_of(columns[call.column], response) for call in calls if call.is_peak
        }

    def draw(self, at: random.Random) -> dict[str, float]:
        """Return starts by parameter; two calls in one draw begin at two peaks while there are as
        many.
        """
        starts: dict[str, float] = {}
        free = {column: at.sample(peaks, len(peaks)) for column, peaks in self.peaks.items()}
        for call in self.calls:
            peaks = free.get(call.column)
            peak = peaks.pop() if peaks and at.random() < SHARE_AT_PEAKS else None
            scales = dict(zip(call.row.params, call.row.scales, strict=True))
            for parameter, name in call.names.items():
                start = _start(scales[parameter], peak, self.columns[call.column], at)
                if start is not None:
                    starts[name] = start
        return starts


def _start(scale: str, peak: Peak | None, x: Any, at: random.Random) -> float | None:
    """Return a start of a parameter of a shape; None where nothing is known of it, as of an
    amplitude.
    """
    low, high = float(np.min(x)), float(np.max(x))
    width = high - low or 1.0
    if scale == WIDTH and peak is not None:
        return peak.half_width * 10 ** at.uniform(-WIDTH_DECADES, WIDTH_DECADES)
    if scale == WIDTH:
        return width * 10 ** at.uniform(-2, 0)
    if scale == "place":
        return at.uniform(low, high) if peak is None else peak.place
    if scale == "positive place":
        return max(abs(low), abs(high), 1e-300) * 10 ** at.uniform(-2, 0.5)
    if scale == "rate":
        return at.choice((1, 1, 1, -1)) * 10 ** at.uniform(0, 2) / width
    if scale == "exponent":
        return float(MAX_EXPONENT ** at.uniform(-0.5, 1))
    return None


def peaks_of(x: Any, y: Any) -> list[Peak]:
    """Return the places where the data stand out most from a line under them, the highest first."""
    x, y = _in_order(x, y)
    above = np.abs(y - _line_under(x, y))
    is_left = np.ones(len(x), dtype=bool)
    peaks: list[Peak] = []
    while np.any(is_left) and len(peaks) < MAX_PEAKS:
        top = int(np.argmax(np.where(is_left, above, -1.0)))
        first, last = _side(above, top, -1), _side(above, top, 1)
        reach = max(top - first, last - top, 1)
        half_width = max(float(x[last] - x[first]) / 2, float(np.ptp(x)) / (2 * len(x)), 1e-300)
        peaks.append(Peak(float(x[top]), half_width))
        own = int(REMOVED_WIDTHS * reach)
        is_left[max(0, top - own) : top + own + 1] = False
    return peaks


def _side(above: Any, top: int, step: int) -> int:
    """Return the last place to one side of a peak that is above half its height."""
    k = top
    while 0 <= k + step < len(above) and above[k + step] > HALF_HEIGHT * above[top]:
        k += step
    return k


def _in_order(x: Any, y: Any) -> tuple[Any, Any]:
    """Return finite rows in the order of x, with means of neighbours where there are many."""
    is_finite = np.isfinite(x) & np.isfinite(y)
    order = np.argsort(x[is_finite], kind="stable")
    x, y = x[is_finite][order], y[is_finite][order]
    together = max(1, len(x) // (3 * SMOOTHED_ROWS))
    whole = len(x) // together * together
    return tuple(column[:whole].reshape(-1, together).mean(axis=1) for column in (x, y))


def _line_under(x: Any, y: Any) -> Any:
    """Return the heights of a line near most of the data, whatever a few rows do."""
    size = float(np.ptp(x)) or 1.0
    design = np.stack([np.ones_like(x), (x - x.mean()) / size], axis=1)
    weights = np.ones_like(y)
    line = np.zeros_like(y)
    for _ in range(LINE_STEPS):
        root = np.sqrt(weights)
        line = design @ np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
        left = y - line
        scale = float(np.median(np.abs(left))) or float(np.max(np.abs(left))) or 1.0
        weights = 1 / (1 + (left / scale) ** 2)
    return line
