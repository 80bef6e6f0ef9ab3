"""Small charts as SVG for answers in notebooks: lines, dots and bands in panels above each other,
in light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

from .rendering import NOTEBOOK, css_variables, escaped_html, themed_css

# Pixels: of a chart, beside and between its panels, for the name above each, and for the axis below
# all.
WIDTH, LEFT, RIGHT, BETWEEN, TITLE, FOOT = 420, 58, 8, 10, 16, 32
# The most dots that are all drawn.
MAX_DOTS = 300
# Pixels: of more dots, one is drawn in each square of this size, which keeps a chart at some
# kilobytes.
CELL = 8.0
# The most places of a line, about: neighbours are 5 pixels apart.
MAX_PLACES = 70
# Marks of an axis, about.
TICKS = 4
# The least step between marks, in parts of an axis divided by their number.
LEAST_STEP = 0.7
# The ratio of values from which their scale is logarithmic.
LOG_SCALE_RATIO = 100.0
COLORS_LIGHT = {"dots": "#2a62a8", "line": "#b5402c", "axis": "#8a8a8a", "grid": "#dddddd"}
COLORS_DARK = {"dots": "#7ab0f5", "line": "#f0907d", "axis": "#8595ab", "grid": "#33435e"}

Place = tuple[float, float]


class Panel(NamedTuple):
    """What a panel shows, in the same horizontal range as the other panels."""

    name: str
    height: int
    dots: Sequence[Place] = ()
    line: Sequence[Place] = ()
    band: Sequence[tuple[float, float, float]] = ()
    """Places with a lower and an upper end."""
    rings: Sequence[Place] = ()
    """Places with a ring around them."""
    zero: bool = False
    """Whether a line marks 0."""
    may_be_logarithmic: bool = False

    def heights(self) -> Iterator[float]:
        """Yield the vertical numbers of all that is shown."""
        yield from (y for _, y in (*self.dots, *self.line, *self.rings))
        yield from (y for _, *ends in self.band for y in ends)
        if self.zero:
            yield 0.0

    def across(self) -> Iterator[float]:
        """Yield the horizontal numbers of all that is shown."""
        yield from (place[0] for place in (*self.dots, *self.line, *self.rings, *self.band))


class _PixelAxis(NamedTuple):
    """An axis from `low` to `high`, drawn from one pixel to another."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def at(self, x: float) -> float:
        """Return the pixel of a number."""
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, x = map(math.log10, (low, high, x))
        # divided first: the difference of two numbers may be too large
        share = (x / 2 - low / 2) / (high / 2 - low / 2)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return round numbers on the axis."""
        if self.logarithmic:
            powers = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            return [10.0**k for k in powers if k % -(-len(powers) // TICKS) == 0]
        rough = (self.high / TICKS - self.low / TICKS) or 1.0
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(
            power * factor for factor in (1, 2, 5, 10) if power * factor >= LEAST_STEP * rough
        )
        return [
            k * step for k in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)
        ]


def chart(panels: Sequence[Panel], across: str, description: str) -> str | None:
    """Return panels over one horizontal axis as SVG; None if there is nothing to show, or numbers
    are too large.
    """
    numbers = [x for panel in panels for x in panel.across()]
    heights = [[*panel.heights()] for panel in panels]
    everything = [*numbers, *[y for each in heights for y in each]]
    if not numbers or not all(map(math.isfinite, everything)):
        return None
    x_axis = _PixelAxis(*_range(min(numbers), max(numbers)), LEFT, WIDTH - RIGHT)
    parts: list[str] = []
    top = 0.0
    for panel, ys in zip(panels, heights, strict=True):
        top += TITLE
        parts += _panel(panel, ys, x_axis, top)
        top += panel.height + BETWEEN
    parts += _foot(x_axis, across, top - BETWEEN)
    height = round(top - BETWEEN + FOOT)
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        ' role="img"'
        f' aria-label="{escaped_html(description)}"><style>{_css()}</style>{"".join(parts)}</svg>'
    )


@cache
def _css() -> str:
    inside = f"{NOTEBOOK} .chart"
    rules = {
        "text": "font:11px sans-serif;fill:currentColor", ".r": "text-anchor:end", ".m": "text-anchor:middle",
        ".dots": "stroke:var(--autodiff-dots);stroke-opacity:.75;stroke-width:4;stroke-linecap:round",
        ".band": "fill:var(--autodiff-line);fill-opacity:.2",
        ".line": "fill:none;stroke:var(--autodiff-line);stroke-width:1.6",
        ".ring": "fill:none;stroke:var(--autodiff-dots);stroke-width:1.6",
        ".grid": "stroke:var(--autodiff-grid);fill:none", ".axis": "stroke:var(--autodiff-axis);fill:none",
    }  # fmt: skip
    themes = themed_css(inside, css_variables(COLORS_LIGHT), css_variables(COLORS_DARK))
    return themes + "".join([f"{inside} {name}{{{rule}}}" for name, rule in rules.items()])


def _range(low: float, high: float) -> tuple[float, float]:
    """Return a range with room at both ends."""
    room = (high / 2 - low / 2) * 0.08 or abs(low) * 0.1 or 1.0
    return low - room, high + room


def _grid(panel: Panel, axis: _PixelAxis, top: float) -> Iterator[str]:
    """Yield the lines and numbers of the vertical axis of a panel."""
    for tick in axis.ticks():
        middle = axis.at(tick)
        yield f'<path class="grid" d="M{LEFT} {_pixel(middle)}H{WIDTH - RIGHT}"/>'
        yield f'<text class="r" x="{LEFT - 5}" y="{_pixel(middle + 4)}">{_number(tick)}</text>'
    if panel.zero:
        yield f'<path class="axis" d="M{LEFT} {_pixel(axis.at(0.0))}H{WIDTH - RIGHT}"/>'
    yield f'<path class="axis" d="M{LEFT} {top:g}V{top + panel.height:g}"/>'


def _panel(panel: Panel, ys: Sequence[float], x_axis: _PixelAxis, top: float) -> Iterator[str]:
    low, high = min(ys), max(ys)
    logarithmic = panel.may_be_logarithmic and low > 0 and high > LOG_SCALE_RATIO * low
    ends = (low / 1.5, high * 1.5) if logarithmic and high < 1e300 else _range(low, high)
    axis = _PixelAxis(*ends, top + panel.height, top, logarithmic and high < 1e300)
    yield f'<text x="{LEFT}" y="{top - 5:g}">{escaped_html(panel.name)}</text>'
    yield from _grid(panel, axis, top)

    def place(x: float, y: float) -> tuple[float, float]:
        return x_axis.at(x), axis.at(y)

    if panel.band:
        lower, upper = (
            [place(x, y) for x, y, _ in panel.band],
            [place(x, y) for x, _, y in panel.band],
        )
        yield f'<path class="band" d="{_path([*_thinned(lower), *reversed(_thinned(upper))])}Z"/>'
    yield from _dots([place(*each) for each in panel.dots])
    if panel.line:
        yield f'<path class="line" d="{_path(_thinned([place(*each) for each in panel.line]))}"/>'
    for x, y in [place(*each) for each in panel.rings]:
        yield f'<circle class="ring" cx="{_pixel(x)}" cy="{_pixel(y)}" r="5"/>'


def _dots(places: Sequence[Place]) -> Iterator[str]:
    """Yield the dots, as the round ends of lines without length."""
    shown = places
    if len(places) > MAX_DOTS:
        shown = [*{(int(x / CELL), int(y / CELL)): (x, y) for x, y in places}.values()]
    if shown:
        yield (
            f'<path class="dots" d="{"".join([f"M{_pixel(x)} {_pixel(y)}h0" for x, y in shown])}"/>'
        )


def _thinned(places: Sequence[Place]) -> list[Place]:
    """Return at most some places of a line: of the places in a column of pixels the lowest and the
    highest.
    """
    if len(places) <= MAX_PLACES:
        return [*places]
    width = (WIDTH - LEFT - RIGHT) * 2 / MAX_PLACES
    kept: list[Place] = []
    for _, column in groupby(places, key=lambda place: int(place[0] / width)):
        inside = [*column]
        heights = [y for _, y in inside]
        kept += [
            inside[k] for k in sorted({heights.index(min(heights)), heights.index(max(heights))})
        ]
    return kept


def _foot(axis: _PixelAxis, name: str, top: float) -> Iterator[str]:
    yield f'<path class="axis" d="M{LEFT} {top:g}H{WIDTH - RIGHT}"/>'
    for tick in axis.ticks():
        x = _pixel(axis.at(tick))
        yield (
            f'<path class="axis" d="M{x} {top:g}v3"/><text class="m" x="{x}"'
            f' y="{top + 15:g}">{_number(tick)}</text>'
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text class="m" x="{middle:g}" y="{top + 29:g}">{escaped_html(name)}</text>'


def _path(places: Sequence[Place]) -> str:
    return "M" + "L".join([f"{_pixel(x)} {_pixel(y)}" for x, y in places])


def _pixel(x: float) -> str:
    return f"{x:.1f}".removesuffix(".0")


def _number(x: float) -> str:
    return (
        f"{x + 0.0:.4g}".replace("e+", "e")
        .replace("e0", "e")
        .replace("e-0", "e-")
        .replace("-", "−")
    )
