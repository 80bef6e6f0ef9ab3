"""The picture as a scene, which SVG, TikZ and PDF are written of: boxes, lines and text, and their colours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from ...derivatives.graph import Picture, PictureInput, PictureNode
from ..characters import width_of
from .cells import NOT_EVALUATED, USUAL, Cell, Choices, Way, cells, description
from .layout import COLUMN_GAP, Layout, Size, layered_layout

if TYPE_CHECKING:
    from ...quantities.unit import Unit

FONT = 13.0
ADVANCE = 0.6 * FONT
"""How wide a column of text is drawn, whatever the font."""
UNIT = 0.75
"""PostScript points of a unit of a scene, which is a pixel, of which 96 are an inch."""
BASELINE = 0.35 * FONT
"""How far below the middle of a line of text its letters stand."""
BOX = 26.0
"""The height of a box and, at least, of an operation."""
PORT = 8.0
"""The distance of two lines that end at one operation."""
BESIDE = 18.0
"""The extra width of a number beside a vertical line."""
BESIDE_TIGHT = 3.0
"""The additional distance of close rows that makes room for these numbers."""
MARGIN = 20.0
HEAD = 6.0

LIVE_COLUMNS = 8
"""Characters that each number of a live picture has room for, beside its sign and unit."""
TIGHT = (30.0, 30.0)
"""Between the columns, at least and at most, where a picture would else be too large to be shown."""
SLIDE = (1280.0, 720.0)
"""The size in pixels for which a picture is laid out: a slide."""
LEGIBLE = 11.0
"""The pixels that text on a slide has at least, where there is such a layout."""
PAGE = 1240.0
"""The width of a live picture, at most, where its text has `LEGIBLE_LIVE` pixels then."""
LEGIBLE_LIVE = 10.0

LOOKED = 200
"""Graphs of more nodes are laid out in one way only: no slide could hold them."""


def coordinate(x: float) -> str:
    """A place or a length as drawings have it."""
    return f"{x + 0.0:.1f}".removesuffix(".0")


BoxKind = Literal["box", "variable", "result", "operation", "operation result"]


class Box(NamedTuple):
    """A rectangle: from the left at `x`, its middle at `y`."""

    kind: BoxKind
    skipped: bool
    x: float
    y: float
    width: float
    height: float
    round: float


class Text(NamedTuple):
    """A piece of text: from the left at `x`, the middle of its letters at `y`."""

    kind: Literal["name", "number", "operation", "word", "note", "partial"]
    x: float
    y: float
    text: str
    word: str = ""

    @property
    def width(self) -> float:
        return text_width(self.text)


Coordinates = tuple[float, float]
Piece = (
    tuple[Literal["M", "L"], Coordinates]
    | tuple[Literal["C"], Coordinates, Coordinates, Coordinates]
    | tuple[Literal["Z"]]
)
"""A part of a path: a start, a line to a place, a cubic curve by its two handles to one, or the end."""


class Path(NamedTuple):
    """A line, a rule between the compartments of a box, or the head of an arrow."""

    kind: Literal["line", "rule", "head"]
    pieces: tuple[Piece, ...]
    skipped: bool = False
    source: int | None = None
    """The node that a line comes from; `edge` is the node, and its input, that it leads to."""
    edge: tuple[int, int] | None = None


Shape = Box | Text | Path


class Scene(NamedTuple):
    """A picture with its layout: its size, and its shapes from back to front."""

    width: float
    height: float
    lines: tuple[Shape, ...]
    nodes: tuple[tuple[Shape, ...], ...]
    description: str

    @property
    def shapes(self) -> Iterator[Shape]:
        yield from self.lines
        for node in self.nodes:
            yield from node


def scene(picture: Picture, choices: Choices = USUAL) -> Scene:
    """The scene of a picture. Raises `ExpressionError` (`limit`) for too large a graph.

    With the layout `auto` it goes to the right if its text is legible on a slide then, else the way, and as close
    together, as makes it most so.
    A live picture is on a page, which scrolls down: it is to be no wider than that, however long.
    """
    ways: tuple[Way, ...] = ("right", "down") if choices.way == "auto" else (choices.way,)
    tries = [(way, tight) for tight in (False, True) for way in (ways[::-1] if choices.live else ways)]
    if len(picture.nodes) > LOOKED:
        tries = [("down", True)] if choices.live else tries[:1]
    best, largest = None, 0.0
    for way, tight in tries:
        result = _laid_out(picture, choices._replace(way=way), DOWN if way == "down" else RIGHT, tight)
        width, height = (PAGE, math.inf) if choices.live else SLIDE
        # the pixels of the text where the scene fills the page or the slide
        size = FONT * min(width / result.width, height / result.height)
        if size > largest:
            best, largest = result, size
        if size >= (FONT if choices.live else LEGIBLE):
            break
    assert best is not None
    return best


def text_width(text: str) -> float:
    """How wide a piece of text is drawn."""
    return width_of(text) * ADVANCE


class _Unit(NamedTuple):
    """A node as it is drawn: its operation, then its box beside it."""

    operation: Size | None
    cells: tuple[Cell, ...]
    widths: tuple[float, ...]
    size: Size
    """As the layout takes it, which knows of one way only."""
    port: float
    """Between two lines that end at the operation."""


class _Way(NamedTuple):
    """From places along the way of the drawing and across it to those on the page."""

    down: bool
    pad: float
    """The horizontal padding of the text in a box."""
    stem: float

    def at(self, along: float, across: float) -> Coordinates:
        return (across, along) if self.down else (along, across)

    def curve(self, start: Coordinates, end: Coordinates) -> tuple[Piece, ...]:
        """A path that leaves and arrives in the direction of the drawing."""
        (a0, c0), (a1, c1) = start, end
        if abs(c0 - c1) < 0.05:
            return ("M", self.at(a0, c0)), ("L", self.at(a1, c0))
        half = (a0 + a1) / 2
        return ("M", self.at(a0, c0)), ("C", self.at(half, c0), self.at(half, c1), self.at(a1, c1))

    def head(self, along: float, across: float) -> tuple[Piece, ...]:
        """An arrow's head with its tip there."""
        back = along - HEAD - 1
        sides = (self.at(back, across - HEAD / 2), self.at(back, across + HEAD / 2))
        return ("M", self.at(along, across)), ("L", sides[0]), ("L", sides[1]), ("Z",)


RIGHT, DOWN = _Way(False, 9.0, 12.0), _Way(True, 7.0, 6.0)


def _laid_out(picture: Picture, choices: Choices, way: _Way, tight: bool) -> Scene:
    widest = max((_beside(edge, choices) for node in picture.nodes for edge in node.inputs), default=0.0)
    # room for what is written beside the lines: where they go down, what is left between two rows nearly has it
    beside = widest if not way.down else 0.0 if not widest else BESIDE_TIGHT if tight else FONT
    gaps = TIGHT if tight else COLUMN_GAP
    units = [_unit(node, way, choices, bool(widest)) for node in picture.nodes]
    inputs = [list(dict.fromkeys(edge.node for edge in node.inputs)) for node in picture.nodes]
    slide = SLIDE[0 if way.down else 1] * FONT / LEGIBLE - 2 * MARGIN
    layout = layered_layout(
        [unit.size for unit in units],
        inputs,
        picture.outputs,
        [node.ordered for node in picture.nodes],
        (gaps[0] + beside, gaps[1] + beside),
        slide if tight else math.inf,
    )
    across, along = (layout.height, layout.width) if way.down else (layout.width, layout.height)
    # numbers that change are not for a description that does not
    described = picture._replace(numbers=False) if choices.live else picture
    return Scene(
        across + 2 * MARGIN,
        along + 2 * MARGIN,
        tuple(_lines(picture, units, layout, way, choices)),
        tuple(
            tuple(_node(node, unit, layout.corners[index], index in picture.outputs, way))
            for index, (node, unit) in enumerate(zip(picture.nodes, units, strict=True))
        ),
        description(described, choices),
    )


def _beside(edge: PictureInput, choices: Choices) -> float:
    return (1 + _live_columns(edge.unit)) * ADVANCE if choices.live else text_width(choices.partial(edge))


def _live_columns(unit: Unit | None) -> int:
    return LIVE_COLUMNS + (1 + width_of(str(unit)) if unit is not None and unit.atoms else 0)


def _unit(node: PictureNode, way: _Way, choices: Choices, numbered: bool) -> _Unit:
    room = {"data": _live_columns(node.unit), "grad": _live_columns(node.grad_unit)} if choices.live else {}
    written_cells = tuple(cells(node, choices.digits))
    widths = tuple(
        max(text_width(cell.as_read), (len(cell.word) + 1 + room.get(cell.word, 0)) * ADVANCE if cell.word else 0.0)
        + 2 * way.pad
        for cell in written_cells
    )
    box = sum(widths)
    if not node.operation:
        return _Unit(None, written_cells, widths, Size(BOX, box) if way.down else Size(box, BOX), PORT)
    beside = [_beside(edge, choices) for edge in node.inputs] if numbered else [0.0]
    port = PORT
    if numbered and way.down:
        # the first number stands on the left of its line, and all others on the right of theirs
        port = max(PORT, *(width + BESIDE for width in beside[1:-1] or [-BESIDE]))
    elif numbered:
        port = FONT + 3
    ports = port * (len(node.inputs) + 1)
    wide, high = (ports, BOX) if way.down else (BOX, ports)
    operation = Size(max(BOX, text_width(node.operation) + 2 * way.pad, wide), max(BOX, high))
    width = operation.width + (way.stem + box if written_cells else 0.0)
    size = Size(width, operation.height)
    if way.down:
        # lines that go down come from operation to operation, and the boxes stand beside them
        half, last = operation.width / 2, port * (len(node.inputs) - 1) / 2
        before = max(half, last + beside[0] + BESIDE / 2 if len(beside) > 1 else 0.0)
        size = Size(BOX, before + max(width - half, last + beside[-1] + BESIDE / 2), before)
    return _Unit(operation, written_cells, widths, size, port)


# ---- lines --------------------------------------------------------------------------------------------------------
def _lines(
    picture: Picture, units: Sequence[_Unit], layout: Layout, way: _Way, choices: Choices
) -> Iterator[Path | Text]:
    taken: dict[int, bool] = {}
    for index, node in enumerate(picture.nodes):
        for edge in node.inputs:
            bend = layout.last[edge.node, index]
            taken[bend] = taken.get(bend, False) or edge.taken
    for segment in reversed(layout.segments):
        # a line that only passes was taken if one of those that leave it further on was
        if segment.end >= len(units):
            taken[segment.start] = taken.get(segment.start, False) or taken.get(segment.end, False)
    trunks: dict[tuple[int, bool], list[Piece]] = {}
    for segment in layout.segments:
        if segment.end >= len(units):
            along, across = layout.corners[segment.end]
            path = way.curve(_end(layout, segment.start), (along, across))
            end = way.at(along + layout.sizes[segment.end].width, across)
            trunks.setdefault((segment.source, taken.get(segment.end, False)), []).extend([*path, ("L", end)])
    for (source, flag), pieces in trunks.items():
        yield Path("line", tuple(pieces), not flag, source)
    labels: list[Text] = []
    for index, node in enumerate(picture.nodes):
        ports = _ports(node, index, layout, units[index].port)
        for position, (edge, port) in enumerate(zip(node.inputs, ports, strict=True)):
            along, across = layout.corners[index]
            # boxes end where their column ends: what is left of a narrow one is crossed at its own height
            tip, first = along - HEAD / 2, layout.lefts[index]
            path = way.curve(_end(layout, layout.last[edge.node, index]), (min(first, tip), across + port))
            if first < tip:
                path = (*path, ("L", way.at(tip, across + port)))
            yield Path("line", path, not edge.taken, edge.node, (index, position))
            yield Path("head", way.head(along, across + port))
            partial = choices.partial(edge)
            before, x, y = -HEAD - 4 - text_width(partial), along, across + port - 0.6 * FONT
            if way.down:
                x, y = across + port, along - FONT
                before = before if port == min(ports) and len(ports) > 1 else HEAD + 4
            if partial:
                labels.append(Text("partial", x + before, y, partial))
    # no line goes over a number
    yield from labels


def _end(layout: Layout, index: int) -> Coordinates:
    along, across = layout.corners[index]
    return along + layout.sizes[index].width, across


def _ports(node: PictureNode, index: int, layout: Layout, port: float) -> list[float]:
    count = len(node.inputs)
    places = [(place - (count - 1) / 2) * port for place in range(count)]
    if node.ordered:
        return places
    heights = [layout.corners[layout.last[edge.node, index]].y for edge in node.inputs]
    ports = [0.0] * count
    for place, which in zip(places, sorted(range(count), key=heights.__getitem__), strict=True):
        ports[which] = place
    return ports


# ---- nodes --------------------------------------------------------------------------------------------------------
def _node(node: PictureNode, unit: _Unit, corner: Coordinates, result: bool, way: _Way) -> Iterator[Shape]:
    x, y = way.at(*corner)
    if way.down:
        x, y = x - (unit.operation.width / 2 if unit.operation else unit.size.above), y + BOX / 2
    if unit.operation:
        wide, high, _ = unit.operation
        kind: BoxKind = "operation result" if result and not unit.cells else "operation"
        yield Box(kind, not node.taken, x, y, wide, high, BOX / 2)
        yield Text("operation", x + (wide - text_width(node.operation)) / 2, y, node.operation)
        if not unit.cells:
            return
        x += wide
        yield Path("line", (("M", (x, y)), ("L", (x + way.stem, y))), not node.taken)
        x += way.stem
    kind = "result" if result else "variable" if node.variable else "box"
    yield Box(kind, not node.taken, x, y, sum(unit.widths), BOX, 5)
    for number, (cell, width) in enumerate(zip(unit.cells, unit.widths, strict=True)):
        if number:
            yield Path("rule", (("M", (x, y - BOX / 2)), ("L", (x, y + BOX / 2))))
        at = x + way.pad
        if cell.word:
            yield Text("word", at, y, cell.word)
            at += text_width(cell.word + " ")
        is_name = node.label and not cell.word
        yield Text(
            "note" if cell.text == NOT_EVALUATED else "name" if is_name else "number", at, y, cell.text, cell.word
        )
        x += width


# ---- colours ------------------------------------------------------------------------------------------------------
class Colors(NamedTuple):
    """The colours of a theme; text is held to a contrast of at least 4.5 by a test."""

    paper: str
    text: str
    faint: str
    line: str
    edge: str
    box: str
    variable: str
    operation: str
    operation_edge: str
    result: str


class Look(NamedTuple):
    """How a kind of shape is drawn: which colours fill it and draw its edge, and how wide that is."""

    fill: str
    edge: str
    width: float


LOOKS = {
    "box": Look("box", "edge", 1),
    "variable": Look("variable", "edge", 1),
    "result": Look("result", "edge", 1.5),
    "operation": Look("operation", "operation_edge", 1.5),
    "operation result": Look("result", "operation_edge", 1.5),
    "line": Look("", "line", 1.2),
    "rule": Look("", "edge", 1),
    "head": Look("line", "", 0),
}

LIGHT = Colors(
    "#ffffff", "#0f172a", "#526073", "#64748b", "#64748b", "#f8fafc", "#dbeafe", "#fef3c7", "#b45309", "#dcfce7"
)
DARK = Colors(
    "#0f172a", "#f1f5f9", "#b6c2d4", "#8595ab", "#8595ab", "#1e293b", "#1e3a6e", "#54330c", "#f5a524", "#14532d"
)
