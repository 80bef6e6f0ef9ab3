"""What is drawn of a plot, and its drawing on a terminal by uniplot."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise, repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import require
from ...show.characters import Terminal
from ...show.document import TextDrawing
from ...show.numerals import heading
from .contours import Surface, refine_surface
from .implicit import ImplicitPlot, tangent_ends
from .plot import Curve, Tangent
from .sampling import FLAT, Stretch
from .sampling import Point as Place

if TYPE_CHECKING:
    from ...engine.quantities.unit import Unit

WIDTH = 72
HEIGHT = 20
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_CHARACTERS = {
    "blue": "*",
    "red": "o",
    "green": ".",
    "yellow": "#",
    "magenta": "@",
    "cyan": "+",
    "white": "x",
}
# The share of the height that is free at each end.
MARGIN = 0.06
# The largest height that is drawn.
MAX_HEIGHT = 1e300
POINT = {"markersize": 6, "zorder": 5}
_ON_TERMINALS = ("blue", "red", "green", "yellow", "magenta", "cyan"), (0, 0.02, 0.045) * 2
# The most kinks that are marked.
MAX_KINKS = 12
# The most points of a path that are marked.
MAX_MARKED_STEPS = 200
# The larger side of the gradient's arrow, relative to the picture.
ARROW_LENGTH = 0.14
# The most rows that have a dot each.
MAX_DOTS = 5_000
# The columns and rows of cells of a picture of more.
CELLS = 100


class Frame(NamedTuple):
    """The heights from `low` to `high`."""

    low: float
    high: float


def plot_unit(plot: Curve | Surface | ImplicitPlot, *keys: str | int) -> Unit | None:
    """Return the unit at these keys of a plot's units."""
    unit: Any = plot.units
    for key in keys:
        unit = unit and unit[key]
    return unit  # type: ignore[no-any-return]


def axis_name(plot: Curve | Surface | ImplicitPlot, name: str, *keys: str | int) -> str:
    """Return a name with the unit at these keys."""
    return heading(name, plot_unit(plot, *keys))


def axis_of(plot: Curve | Surface | ImplicitPlot, name: str) -> str:
    """Return a variable with its unit."""
    return axis_name(plot, name, "range", name)


class SeriesStyle(NamedTuple):
    """How something is drawn, on a terminal and in a picture."""

    terminal: str
    every: float | None
    """The distance of dots in widths; None for points."""
    color: str
    marker: str = ""
    """The marker of its points; empty for a line with gaps."""
    options: Mapping[str, Any] = MappingProxyType({})


# Several functions, in their order.
FUNCTIONS = [*map(SeriesStyle, *_ON_TERMINALS, ("blue", "red", "green", "violet", "brown", "ink"))]
SLOPE, BEND = SeriesStyle("red", 0.02, "red"), SeriesStyle("cyan", 0.06, "violet")
TANGENT = SeriesStyle("green", 0.045, "green", "", {"linestyle": (0, (5, 3)), "linewidth": 1.3})
MARKED_POINT = SeriesStyle("yellow", None, "blue", "o", POINT)
KINKS = SeriesStyle(
    "", None, "blue", "o", {"markersize": 9, "zorder": 4, "markerfacecolor": "paper"}
)
UNDECIDED = SeriesStyle("yellow", None, "faint", "s", {"markersize": 3, "alpha": 0.6})
# The uncertainties of rows, and rows.
BARS, ROWS = SeriesStyle("magenta", 0, ""), SeriesStyle("magenta", None, "ink")


class PlotLine(NamedTuple):
    """Pieces of a line, or points, that look the same."""

    style: SeriesStyle
    pieces: Sequence[Stretch]
    label: str = ""


def panels(curve: Curve, names: Sequence[str], kinked: bool) -> list[tuple[Frame, list[PlotLine]]]:
    """Return what is drawn, in one frame or two."""
    one, two = frames(curve)
    upper: list[PlotLine] = []
    lower = upper if two is None else []
    for style, output, name in zip(FUNCTIONS, curve.outputs, names, strict=False):
        upper.append(PlotLine(style, [*clip(output.function.stretches, one)], name))
        if output.value is not None and curve.at is not None:
            dot = style._replace(terminal="", marker="o", options=POINT)
            upper.append(PlotLine(dot, [((curve.at, output.value),)]))
    if not curve.outputs:
        upper.append(PlotLine(FUNCTIONS[0], [*clip(curve.function.stretches, one)], names[0]))
        lower.append(PlotLine(SLOPE, [*clip(curve.derivative.stretches, two or one)], names[1]))
        lower.append(PlotLine(BEND, [*clip(curve.second.stretches, two or one)], names[2]))
    tangent = curve.tangent
    if tangent is not None:
        upper += _tangent_of(curve, tangent, one, kinked)
        if curve.derivative.stretches:
            lower.append(
                PlotLine(MARKED_POINT._replace(color="red"), [((tangent.at, tangent.slope),)])
            )
    upper += [*path_of(curve, "magenta", "ink"), *rows_of(curve)]
    if 0 < len(curve.kinks) <= MAX_KINKS:
        upper += _kinks_of(curve, one, None if kinked or tangent is None else tangent.at)
    return [(one, upper)] if two is None else [(one, upper), (two, lower)]


def _tangent_of(curve: Curve, tangent: Tangent, frame: Frame, kinked: bool) -> Iterator[PlotLine]:
    ends = ((curve.low, tangent(curve.low)), (curve.high, tangent(curve.high)))
    unit = f" {plot_unit(curve, 'range', curve.variable) or ''}".rstrip()
    name = (
        f"tangent at {curve.variable} = {tangent.at:.6g}{unit}{', by convention' if kinked else ''}"
    )
    yield PlotLine(TANGENT, [*clip([ends], frame)], name)
    yield PlotLine(MARKED_POINT, [((tangent.at, tangent.value),)])


def _kinks_of(curve: Curve, frame: Frame, without: float | None) -> Iterator[PlotLine]:
    """Yield the kinks in sight, `without` one."""
    places = [place for stretch in curve.function.stretches for place in stretch]
    marks = [
        (x, min(places, key=lambda place: abs(place[0] - x))[1])
        for x in curve.kinks
        if x != without
    ]
    marks = [(x, height) for x, height in marks if frame.low <= height <= frame.high]
    if marks:
        yield PlotLine(KINKS, [(place,) for place in marks], "no derivative (a kink)")


def path_of(plot: Curve | Surface, terminal: str, color: str) -> Iterator[PlotLine]:
    """Yield the path of a run, its steps and its end."""
    if plot.path:
        style = SeriesStyle(terminal, 0, color, "-", {"linewidth": 1.3, "zorder": 4})
        yield PlotLine(style, [plot.path], f"path, {len(plot.path):,} points")
        if len(plot.path) <= MAX_MARKED_STEPS:
            yield PlotLine(
                SeriesStyle("", None, color, ".", {"markersize": 4, "zorder": 4}), [plot.path]
            )
        yield PlotLine(SeriesStyle(terminal, None, color, "s", POINT), [plot.path[-1:]])


def rows_of(plot: Curve | Surface) -> Iterator[PlotLine]:
    """Yield the uncertainties of rows in sight, and these rows."""
    if (data := plot.data) is not None:
        places = [(k, data.x[k], data.y[k]) for k in in_sight(data.x, data.y)]
        bars: list[Stretch] = [
            ((x, y - data.dy[k]), (x, y + data.dy[k])) for k, x, y in places if data.dy
        ]
        bars += [((x - data.dx[k], y), (x + data.dx[k], y)) for k, x, y in places if data.dx]
        yield PlotLine(BARS, bars)
        yield PlotLine(ROWS, [((x, y),) for _, x, y in places])


def frames(curve: Curve) -> tuple[Frame, Frame | None]:
    """Return the frames of function and derivative, if not one."""
    if "y" in curve.log and curve.vertical is not None:
        return Frame(*curve.vertical), None
    if "y" in curve.log:
        logs, _ = frames(curve.in_logs())
        return Frame(10.0 ** max(logs.low, -300.0), 10.0 ** min(logs.high, 300.0)), None
    derivative, tangent = curve.derivative, curve.tangent
    heights = _heights_of(curve)
    one = _frame(heights) if curve.vertical is None else Frame(*curve.vertical)
    if not derivative.stretches:
        return one, None
    slopes = [derivative.low, derivative.high, *([tangent.slope] if tangent else [])]
    if curve.second.stretches:
        slopes += [curve.second.low, curve.second.high]
    two = _frame(slopes)
    around, least = _frame([*one, *two]), min(one.high - one.low, two.high - two.low)
    together = one if curve.vertical is not None else _frame([*heights, *slopes])
    return (together, None) if around.high - around.low <= 3.0 * least else (one, two)


def _heights_of(curve: Curve) -> list[float]:
    """Return the heights that a frame has to hold: of the functions, the tangent, the path and the
    rows.
    """
    functions = [output.function for output in curve.outputs if output.function.stretches] or [
        curve.function
    ]
    heights = [height for samples in functions for height in (samples.low, samples.high)]
    heights += [*([curve.tangent.value] if curve.tangent else []), *(y for _, y in curve.path)]
    if (data := curve.data) is not None:
        rows = zip(data.x, data.y, data.dy or repeat(0.0), strict=False)
        heights += [
            y + sign * size
            for x, y, size in rows
            if curve.low <= x <= curve.high
            for sign in (-1, 1)
        ]
    return heights


def _frame(heights: Sequence[float]) -> Frame:
    low, high = max(min(heights), -MAX_HEIGHT), min(max(heights), MAX_HEIGHT)
    if high - low <= FLAT * max(abs(low), abs(high)):
        half = max(1.0, abs(low)) if low == 0 or abs(low) > 1e-6 else abs(low)
        return Frame(low - half, high + half)
    edge = MARGIN * (high - low)
    return Frame(low - edge, high + edge)


def clip(stretches: Iterable[Stretch], frame: Frame) -> Iterator[Stretch]:
    """Yield the parts of the pieces inside the frame."""
    for stretch in stretches:
        piece: list[Place] = []
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


def _crossings(a: Place, b: Place, frame: Frame) -> Iterator[Place]:
    edges = frame if a[1] <= b[1] else frame[::-1]
    for edge in edges:
        if min(a[1], b[1]) < edge < max(a[1], b[1]):
            share = edge / (b[1] - a[1]) - a[1] / (b[1] - a[1])
            yield a[0] + share * (b[0] - a[0]), edge


def in_sight(xs: Sequence[float], ys: Sequence[float]) -> list[int]:
    """Return which dots are drawn: of too many one in each cell."""
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


class DrawingExtent(NamedTuple):
    """The place of a drawing on a terminal: its sides, its rows, its logarithmic axes, a chosen
    size, its columns.
    """

    sides: tuple[float, float]
    height: int
    log: str = ""
    size: tuple[int, int] | None = None
    columns: int | None = None

    def extent(self, terminal: Terminal) -> tuple[int, int]:
        """Return the columns and rows."""
        if self.size is not None:
            return self.size
        free = max(20, min(terminal.width or WIDTH + 12, 100) - 12)
        return min(free, self.columns or free), self.height


def drawings(
    plot: Curve | Surface | ImplicitPlot,
    names: Sequence[str],
    size: tuple[int, int] | None = None,
    apart: bool = False,
) -> list[TextDrawing]:
    """Return the plot as one drawing, or as several under `names`, perhaps of a chosen size."""
    if isinstance(plot, Surface):
        return [TextDrawing("", partial(_surface, plot, size))]
    if isinstance(plot, ImplicitPlot):
        return [TextDrawing("", partial(_implicit, plot, size))]
    log, plot = plot.log, plot.in_logs() if plot.log else plot
    parts = panels(plot, names, False)
    if apart and plot.outputs:
        parts = [one_panel(plot, k, name) for k, name in enumerate(names)]
    titles, height = (names, HEIGHT * 2 // 3) if len(parts) > 1 else ([""], HEIGHT)
    titled = zip(titles, parts, strict=False)
    room = DrawingExtent((plot.low, plot.high), height, log, size)
    return [
        TextDrawing(title, partial(_drawing, part, room, frame)) for title, (frame, part) in titled
    ]


def one_panel(curve: Curve, k: int, name: str) -> tuple[Frame, list[PlotLine]]:
    """Return one of several functions in a frame of its own."""
    output = curve.outputs[k]
    alone = curve._replace(
        outputs=(output,), function=output.function, data=curve.data if k == 0 else None
    )
    if not output.function.stretches:
        return Frame(0.0, 1.0), []
    frame, lines = panels(alone, [name], False)[0]
    style = FUNCTIONS[k]
    blue = FUNCTIONS[0].color
    return frame, [
        line._replace(style=line.style._replace(color=style.color))
        if line.style.color == blue
        else line
        for line in lines
    ]


def curve_lines(plot: ImplicitPlot, names: Sequence[str]) -> list[PlotLine]:
    """Return the branches of curves, what is undecided of them, and the tangent."""
    lines: list[PlotLine] = []
    for style, curve, name in zip(FUNCTIONS, plot.curves, names, strict=False):
        lines.append(PlotLine(style, curve.branches, name))
    undecided = [rectangle for curve in plot.curves for rectangle in curve.undecided]
    if undecided:
        middles = [(((x0 + x1) / 2, (y0 + y1) / 2),) for (x0, y0), (x1, y1) in undecided]
        lines.append(PlotLine(UNDECIDED, middles, "not decided"))
    if plot.tangent is not None:
        point = ", ".join(
            f"{name} = {x:.6g}" for name, x in zip(plot.variables, plot.tangent.point, strict=True)
        )
        lines.append(PlotLine(TANGENT, [*tangent_ends(plot)], f"tangent at {point}"))
        lines.append(PlotLine(MARKED_POINT, [(plot.tangent.point,)]))
    return lines


def _implicit(plot: ImplicitPlot, size: tuple[int, int] | None, terminal: Terminal) -> str:
    width, height = plot.x[1] - plot.x[0], plot.y[1] - plot.y[0]
    rows = HEIGHT + 4
    # a character is about twice as high as wide
    columns = round(2 * rows * width / height) if 1 / 3 < height / width < 3 else None
    room = DrawingExtent(plot.x, rows, "", size, columns)
    return _drawing(curve_lines(plot, [""] * len(plot.curves)), room, Frame(*plot.y), terminal)


def _surface(surface: Surface, size: tuple[int, int] | None, terminal: Terminal) -> str:
    numpy, contourpy = library("numpy"), library("contourpy")
    across, up, heights = refine_surface(surface)
    generator: Any = contourpy.contour_generator(across, up, numpy.ma.masked_invalid(heights))
    levels = surface.levels if len(surface.levels) <= 8 else surface.levels[::2]
    lines = [line for level in levels for line in generator.lines(level)]
    pieces = [tuple((float(x), float(y)) for x, y in line) for line in lines]
    series = [PlotLine(FUNCTIONS[0], pieces), *path_of(surface, "red", "")]
    if surface.point is not None:
        series += [
            PlotLine(SeriesStyle("green", 0, ""), arrow(surface)),
            PlotLine(MARKED_POINT, [(surface.point,)]),
        ]
    frame = Frame(surface.y[0], surface.y[-1])
    room = DrawingExtent((surface.x[0], surface.x[-1]), HEIGHT + 4, "", size)
    return _drawing([*series, *rows_of(surface)], room, frame, terminal)


def arrow(surface: Surface) -> list[Stretch]:
    """Return the shaft and the head of the gradient, if not 0."""
    if surface.point is None or surface.gradient is None or not any(surface.gradient):
        return []
    (x, y), (by_x, by_y) = surface.point, surface.gradient
    width, height = surface.x[-1] - surface.x[0], surface.y[-1] - surface.y[0]
    largest = max(abs(by_x) / width, abs(by_y) / height)
    dx, dy = by_x / largest * ARROW_LENGTH, by_y / largest * ARROW_LENGTH
    tip, u, v = (x + dx, y + dy), dx / width, dy / height
    left, right = (
        (tip[0] - width * (0.3 * u + side * v), tip[1] - height * (0.3 * v - side * u))
        for side in (0.2, -0.2)
    )
    return [(surface.point, tip), (left, tip, right)]


def _points_of(
    line: PlotLine, sides: tuple[float, float], frame: Frame, block: Sequence[Place]
) -> Sequence[Place]:
    """Return the points of a line, of its dots, or of blocks around single points in sight."""
    style, pieces, _ = line
    if style.every is None:
        firsts = [piece[0] for piece in pieces]
        shown = [
            (x, y) for x, y in firsts if sides[0] <= x <= sides[1] and frame.low <= y <= frame.high
        ]
        return [(x + dx, y + dy) for x, y in shown for dx, dy in block]
    return [*_dots(pieces, style.every, sides, frame)] if style.every else with_gaps(pieces)


def _uniplot() -> Any:
    """Return the library, which does without numba, as that takes seconds to import."""
    absent = sys.modules.setdefault("numba", None) is None  # type: ignore[arg-type]
    try:
        return library("uniplot")
    finally:
        if absent:
            del sys.modules["numba"]


def _drawing(
    series: Sequence[PlotLine], room: DrawingExtent, frame: Frame, terminal: Terminal
) -> str:
    numpy, uniplot = library("numpy"), _uniplot()
    sides = room.sides
    across, up = _scales(room, frame)
    width, height = room.extent(terminal)
    dx, dy = (sides[1] - sides[0]) / (2 * width), (frame.high - frame.low) / (4 * height)
    block = _neighbours(dx, dy) if terminal.unicode else [(0.0, 0.0)]
    drawn = _points_inside(series, sides, frame, block)
    text: str = uniplot.plot_to_string(
        xs=[numpy.array([x / across for x, _ in points]) for _, points in drawn],
        ys=[numpy.array([y / up for _, y in points]) for _, points in drawn],
        lines=[drawn_as.every == 0 for drawn_as, _ in drawn],
        width=width,
        height=height,
        color=[drawn_as.terminal for drawn_as, _ in drawn],
        character_set="braille" if terminal.unicode else "ascii",
        force_ascii_characters=[_CHARACTERS[drawn_as.terminal] for drawn_as, _ in drawn],
        x_min=sides[0] / across,
        x_max=sides[1] / across,
        y_min=frame.low / up,
        y_max=frame.high / up,
        x_unit=_times(across),
        y_unit=_times(up),
        x_labels="x" not in room.log,
        y_labels="y" not in room.log,
        # the grid line at 0 would be at 1
        **{f"{axis}_gridlines": [] for axis in room.log},
    )
    text = text if terminal.color else re.sub(r"\x1b\[[0-9;]*m", "", text)
    text = with_log_ticks(text, room, frame, (width, height)) if room.log else text
    return text if terminal.unicode else _in_ascii(text)


def _scales(room: DrawingExtent, frame: Frame) -> tuple[float, float]:
    """Return the powers of ten that the numbers of both axes are shown in; 1 for a logarithmic
    axis.
    """
    across = 1.0 if "x" in room.log else _unit(*room.sides)
    return across, 1.0 if "y" in room.log else _unit(*frame)


def _points_inside(
    series: Sequence[PlotLine], sides: tuple[float, float], frame: Frame, block: Sequence[Place]
) -> list[tuple[SeriesStyle, Sequence[Place]]]:
    """Return the lines that terminals draw with their points, but those that lie outside as a
    whole.
    """
    points_of = [
        (line.style, _points_of(line, sides, frame, block))
        for line in series
        if line.style.terminal
    ]
    return [(style, points) for style, points in points_of if points]


def _times(scale: float) -> str:
    """Return what stands behind the numbers of an axis."""
    return "" if scale == 1 else f"·{scale:g}"


def _neighbours(dx: float, dy: float) -> list[tuple[float, float]]:
    """Return the steps from a dot to itself and those around it."""
    return [(i * dx, j * dy) for i in (-1, 0, 1) for j in (-1, 0, 1)]


def _in_ascii(text: str) -> str:
    """Return a drawing with its frame in ASCII."""
    lines = text.translate(str.maketrans("┌┐└┘─│▁▔▏▕┼", "++++-|--||+"))
    return lines.encode("ascii", "replace").decode()


def log_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Return the ticks of a logarithmic axis between decimal logarithms, and their texts: powers,
    or some multiples.

    >>> [text for _, text in log_ticks(0.0, 2.0, 8)], [text for _, text in log_ticks(0.0, 6.0, 4)]
    (['1', '2', '5', '10', '20', '50', '100'], ['1', '100', '10⁴', '10⁶'])
    """
    first, last = math.floor(low), math.ceil(high)
    ticks: list[tuple[float, str]] = []
    for digits in ((1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 3, 5), (1, 2, 5), (1, 3), (1,)):
        places = [
            (k + math.log10(digit), digit, k) for k in range(first, last + 1) for digit in digits
        ]
        ticks = [
            (place, power_text(digit, k)) for place, digit, k in places if low <= place <= high
        ]
        if len(ticks) <= most:
            break
    step = math.ceil(len(ticks) / max(most, 1))
    return ticks[::step]


def power_text(digit: int, exponent: int) -> str:
    """Return digit·10ᵏ as text: as a decimal where that is short."""
    if -4 <= exponent < 4:
        return f"{float(f'{digit}e{exponent}'):g}"
    power = f"10{str(exponent).translate(RAISED)}"
    return power if digit == 1 else f"{digit}·{power}"


def with_log_ticks(text: str, room: DrawingExtent, frame: Frame, extent: tuple[int, int]) -> str:
    """Return a drawing with the ticks of its logarithmic axes."""
    width, height = extent
    lines = text.splitlines()
    if "y" in room.log:
        for place, label in log_ticks(*frame, height // 2):
            row = min(
                height - 1,
                max(0, round((frame.high - place) / (frame.high - frame.low) * height - 0.5)),
            )
            lines[1 + row] = f"{lines[1 + row].rstrip()} {label}"
    if "x" in room.log:
        low, high = room.sides
        written = ""
        for place, label in log_ticks(low, high, width // 9):
            column = 1 + min(width - 1, round((place - low) / (high - low) * width - 0.5))
            start = max(0, column - len(label) // 2)
            if start > len(written.rstrip()) or not written:
                written = f"{written.ljust(start)}{label}"
        lines = [*lines[: height + 2], written]
    return "\n".join(lines)


def with_gaps(pieces: Iterable[Stretch]) -> list[Place]:
    """Return the points of a line, with NaN between its pieces."""
    return [place for piece in pieces for place in ((math.nan, math.nan), *piece)][1:]


def _unit(low: float, high: float) -> float:
    exponent = math.floor(math.log10(max(abs(low), abs(high))))
    return 1.0 if -6 <= exponent <= 9 else float(f"1e{max(exponent, -300)}")


def _dots(
    pieces: Sequence[Stretch], every: float, sides: tuple[float, float], frame: Frame
) -> Iterator[Place]:
    across, up = sides[1] - sides[0], (frame.high - frame.low) * 2.2
    for piece in pieces:
        left = 0.0
        yield piece[0]
        for (a, at_a), (b, at_b) in pairwise(piece):
            length = ((((b - a) / across) ** 2) + (((at_b - at_a) / up) ** 2)) ** 0.5
            while length > 0 and left + every <= length:
                left += every
                share = left / length
                yield a + share * (b - a), at_a + share * (at_b - at_a)
            left -= length


def library(module: str) -> Any:
    """Return a library. Raises a usage error where it is not installed."""
    message = "drawing needs the libraries of the extra `plot`"
    return require(
        module, "plot", message, "; the formats json, jsonl, csv, tsv and plain need nothing"
    )
