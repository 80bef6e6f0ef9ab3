"""Pictures as scenes: boxes, lines, colours, and the texts of every format."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from ....errors import plural
from ....show.characters import Theme, escaped, shorten_end, width_of
from ....show.document import quantity_text
from ..graph import Picture, PictureInput, PictureNode
from .layout import COLUMN_GAP, Size, layered_layout

if TYPE_CHECKING:
    from ....engine.quantities.unit import Unit

NOT_EVALUATED = "not evaluated"
# The most characters of a program in a title.
MAX_TITLE_CHARACTERS = 160
# The direction of a drawing from the inputs to the result.
Way = Literal["auto", "right", "down"]
FONT = 13.0
# The width of a column of text in any font.
ADVANCE = 0.6 * FONT
# PostScript points per unit of a scene, 1/96 inch.
UNIT = 0.75
# From the middle of a line of text down to its baseline.
BASELINE = 0.35 * FONT
# The height of a box and, at least, of an operation.
BOX = 26.0
# The distance of two lines that end at one operation.
PORT = 8.0
# The extra width of a number beside a vertical line.
BESIDE = 18.0
# The additional distance of close rows for such numbers.
BESIDE_TIGHT = 3.0
MARGIN = 20.0
HEAD = 6.0
# Characters of a number in a live picture.
LIVE_COLUMNS = 8
# The least and the greatest distance of columns of a large picture.
TIGHT_COLUMN_GAPS = (30.0, 30.0)
# The size in pixels for which a picture is laid out: a slide.
SLIDE_SIZE = (1280.0, 720.0)
# The least size of text on a slide in pixels.
MIN_SLIDE_FONT = 11.0
# The width of a live picture with text of `LEGIBLE_LIVE` pixels.
MAX_LIVE_WIDTH = 1240.0
LEGIBLE_LIVE = 10.0
# The width that a telephone of 390 pixels shows with text of 8 pixels.
MAX_NARROW_WIDTH = 590.0
# The height of a compartment that stands above others.
ROW = 20.0
# Graphs of more nodes get one layout only.
MAX_COMPARED_NODES = 200


def coordinate(x: float) -> str:
    """Return a place or length as text for drawings."""
    return f"{x + 0.0:.1f}".removesuffix(".0")


BoxKind = Literal["box", "variable", "result", "operation", "operation result"]
TextKind = Literal["name", "number", "operation", "word", "note", "partial"]


class Box(NamedTuple):
    """A rectangle: from the left at `x`, its middle at `y`."""

    kind: BoxKind
    skipped: bool
    x: float
    y: float
    width: float
    height: float
    round: float


class Label(NamedTuple):
    """A piece of text: its left at `x`, its middle at `y`."""

    kind: TextKind
    x: float
    y: float
    text: str
    word: str = ""

    @property
    def width(self) -> float:
        return text_width(self.text)


Coordinates = tuple[float, float]
# A part of a path: `M`, `L`, `C` or `Z` of SVG, and its places.
Piece = tuple[str, *tuple[Coordinates, ...]]


class Path(NamedTuple):
    """A line, a rule within a box, or the head of an arrow."""

    kind: Literal["line", "rule", "head"]
    pieces: tuple[Piece, ...]
    skipped: bool = False
    source: int | None = None
    """The node that it comes from; `edge` is where it leads to."""
    edge: tuple[int, int] | None = None


Shape = Box | Label | Path


def text_width(text: str) -> float:
    """Return the width of a drawn text."""
    return width_of(text) * ADVANCE


class Choices(NamedTuple):
    """How a picture is drawn: colours, direction, local derivatives, width."""

    digits: int | None = None
    theme: Theme = "auto"
    way: Way = "auto"
    partials: bool = False
    width: int | None = None
    live: bool = False
    """Whether a page changes its numbers and writes on its lines."""
    narrow: bool = False
    """Whether the compartments of a box stand above each other, for a narrow page."""

    def partial(self, edge: PictureInput) -> str:
        """Return the label of an edge, if any."""
        if edge.partial is None or not self.partials:
            return ""
        return quantity_text(edge.partial, edge.unit, self.digits)


DEFAULT_CHOICES = Choices()


class Cell(NamedTuple):
    """A compartment of a box: a name, or a word and a number."""

    text: str
    word: Literal["", "data", "grad"] = ""

    @property
    def as_read(self) -> str:
        return f"{self.word} {self.text}" if self.word else self.text


def cells(node: PictureNode, digits: int | None = None) -> list[Cell]:
    """Return the compartments of a node's box."""
    texts = [Cell(escaped(node.label))] if node.label else []
    if not node.operation and not node.label and not node.variable:
        return [Cell(quantity_text(node.data, node.unit, digits))]
    if not node.taken:
        return texts if not node.operation else [*texts, Cell(NOT_EVALUATED)]
    if node.data is not None:
        texts.append(Cell(quantity_text(node.data, node.unit, digits), "data"))
    if node.grad is not None:
        texts.append(Cell(quantity_text(node.grad, node.grad_unit, digits), "grad"))
    return texts


def title(picture: Picture) -> str:
    """Return the picture's title in one line."""
    lines = [line for line in picture.text.splitlines() if line.strip()]
    if len(lines) != 1:
        return f"Graph of a program of {len(lines)} lines" if lines else "Graph of an expression"
    text = escaped(lines[0].strip())
    return "Graph of " + shorten_end(text, MAX_TITLE_CHARACTERS)


def description(picture: Picture, choices: Choices) -> str:
    """Return the description for readers who cannot see the picture."""
    digits, down = choices.digits, choices.way == "down"
    ends = (
        "at the top to the result at the bottom"
        if down
        else "on the left to the result on the right"
    )
    sentences = [f"{plural(len(picture.nodes), 'node')}, from the inputs {ends}."]
    # a fixed description leaves out numbers that change
    if picture.numbers and not choices.live:
        output = picture.nodes[picture.outputs[0]]
        sentences.append(f"The value is {quantity_text(output.data, output.unit, digits)}.")
        units = picture.units["gradient"] if picture.units else {}
        heading = "Its derivatives"
        texts = {
            name: quantity_text(x, units.get(name), digits) for name, x in picture.gradient.items()
        }
        named = [f"{escaped(name)} {text}" for name, text in texts.items()]
    else:
        heading = "Its variables"
        named = [escaped(node.label) for node in picture.nodes if node.variable]
    if named:
        sentences.append(f"{heading}: {', '.join(named[:20])}{', …' if len(named) > 20 else ''}.")
    skipped = sum(not node.taken for node in picture.nodes)
    if skipped:
        were = "node that was" if skipped == 1 else "nodes that were"
        sentences.append(f"Dashed: {skipped:,} {were} not evaluated.")
    return " ".join(sentences)


def scene(picture: Picture, choices: Choices) -> Scene:
    """Return the scene of a picture: of several the first legible one, or the most legible."""
    ways: tuple[Way, ...] = ("right", "down") if choices.way == "auto" else (choices.way,)
    tries = [
        (way, tight) for tight in (False, True) for way in (ways[::-1] if choices.live else ways)
    ]
    if len(picture.nodes) > MAX_COMPARED_NODES:
        tries = [("down", True)] if choices.live else tries[:1]
    width, height = (MAX_LIVE_WIDTH, math.inf) if choices.live else SLIDE_SIZE
    if choices.narrow:
        tries, width = [("down", False), ("down", True)], MAX_NARROW_WIDTH
    scenes: list[tuple[float, Scene]] = []
    for way, tight in tries:
        result = Scene(picture, choices._replace(way=way), tight)
        size = FONT * min(width / result.width, height / result.height)
        scenes.append((size, result))
        if size >= (FONT if choices.live else MIN_SLIDE_FONT):
            break
    return max(scenes, key=itemgetter(0))[1]


class _NodeBox(NamedTuple):
    operation: tuple[float, float] | None
    """The width and the height of its box."""
    cells: tuple[Cell, ...]
    widths: tuple[float, ...]
    size: Size
    port: float = PORT


class Scene:
    """A picture with its layout: its size, and its shapes from back to front."""

    def __init__(self, picture: Picture, choices: Choices, tight: bool) -> None:
        self.picture, self.choices, self.down = picture, choices, choices.way == "down"
        self.pad, self.stem = (7.0, 6.0) if self.down else (9.0, 12.0)
        widest = max(
            (self._beside(edge) for node in picture.nodes for edge in node.inputs), default=0.0
        )
        beside = self._room_beside(widest, tight)
        low, high = TIGHT_COLUMN_GAPS if tight else COLUMN_GAP
        slide = SLIDE_SIZE[0 if self.down else 1] * FONT / MIN_SLIDE_FONT - 2 * MARGIN
        slide = MAX_NARROW_WIDTH - 2 * MARGIN if choices.narrow else slide
        self.units = [self._unit(node, bool(widest)) for node in picture.nodes]
        self.layout = layered_layout(
            [unit.size for unit in self.units],
            [list(dict.fromkeys(edge.node for edge in node.inputs)) for node in picture.nodes],
            picture.outputs,
            [node.ordered for node in picture.nodes],
            (low + beside, high + beside),
            slide if tight else math.inf,
        )
        size = self._at(self.layout.width, self.layout.height)
        self.width, self.height = (side + 2 * MARGIN for side in size)

    @property
    def shapes(self) -> Iterator[Shape]:
        return chain(self.lines, *self.nodes)

    def _at(self, along: float, across: float) -> Coordinates:
        return (across, along) if self.down else (along, across)

    def _beside(self, edge: PictureInput) -> float:
        if self.choices.live:
            return (1 + _live_columns(edge.unit)) * ADVANCE
        return text_width(self.choices.partial(edge))

    def _cell_widths(self, node: PictureNode, written: Sequence[Cell]) -> tuple[float, ...]:
        """Return the widths of a box's cells; of a live one, for all numbers that it may show."""
        live = self.choices.live
        room = (
            {"data": _live_columns(node.unit), "grad": _live_columns(node.grad_unit)}
            if live
            else {}
        )
        columns = [
            len(cell.word) + 1 + room.get(cell.word, 0) if cell.word else 0 for cell in written
        ]
        least = zip(written, columns, strict=True)
        return tuple(
            [max(text_width(cell.as_read), count * ADVANCE) + 2 * self.pad for cell, count in least]
        )

    def _room_beside(self, widest: float, tight: bool) -> float:
        """Return the room for text beside lines, which downward lines nearly have between two
        rows.
        """
        if not self.down:
            return widest
        if not widest:
            return 0.0
        return BESIDE_TIGHT if tight else FONT

    def _unit(self, node: PictureNode, numbered: bool) -> _NodeBox:
        written = tuple(cells(node, self.choices.digits))
        widths = self._cell_widths(node, written)
        narrow = self.choices.narrow
        box, deep = (
            (max(widths, default=0.0), _rows_height(written)) if narrow else (sum(widths), BOX)
        )
        if not node.operation:
            width, height = self._at(box, deep)
            return _NodeBox(None, written, widths, Size(width, height / 2, height / 2))
        beside = [self._beside(edge) for edge in node.inputs] if numbered else [0.0]
        port = PORT
        if numbered:
            port = (
                max(PORT, *(width + BESIDE for width in beside[1:-1] or [-BESIDE]))
                if self.down
                else FONT + 3
            )
        wide, high = self._at(BOX, port * (len(node.inputs) + 1))
        wide, high = max(BOX, text_width(node.operation) + 2 * self.pad, wide), max(BOX, high)
        width = wide + (self.stem + box if written else 0.0)
        size = Size(width, high / 2, high / 2)
        if self.down:
            last = port * (len(node.inputs) - 1) / 2
            before = max(wide / 2, last + beside[0] + BESIDE / 2 if len(beside) > 1 else 0.0)
            after = last + beside[-1] + BESIDE / 2
            size = Size(BOX, before, before + max(width - wide / 2, after) - before)
            if narrow:
                length = BOX + (self.stem + deep if written else 0.0)
                size = Size(length, max(before, box / 2), max(wide / 2, box / 2, after))
        return _NodeBox((wide, high), written, widths, size, port)

    def _curve(self, index: int, along: float, across: float) -> tuple[Piece, ...]:
        start, c0 = self.layout.corners[index]
        start += self.layout.sizes[index].width
        if abs(c0 - across) < 0.05:
            return ("M", self._at(start, c0)), ("L", self._at(along, c0))
        half = (start + along) / 2
        handles = self._at(half, c0), self._at(half, across)
        return ("M", self._at(start, c0)), ("C", *handles, self._at(along, across))

    def _shared_lines(self) -> Iterator[Shape]:
        """Yield the parts of lines that pass other nodes, which all branches of a line share."""
        layout, nodes = self.layout, self.picture.nodes
        edges = [
            (layout.last[edge.node, k], edge)
            for k, node in enumerate(nodes)
            for edge in node.inputs
        ]
        taken = {bend for bend, edge in edges if edge.taken}
        passing = [segment for segment in layout.segments if segment[1] >= len(nodes)]
        for start, bend, _ in reversed(passing):
            # a passing line was taken if one of its later branches was
            if bend in taken:
                taken.add(start)
        trunks: dict[tuple[int, bool], list[Piece]] = {}
        for start, bend, source in passing:
            along, across = layout.corners[bend]
            end = self._at(along + layout.sizes[bend].width, across)
            path = [*self._curve(start, along, across), ("L", end)]
            trunks.setdefault((source, bend in taken), []).extend(path)
        for (source, flag), pieces in trunks.items():
            yield Path("line", tuple(pieces), not flag, source)

    def _arrivals(self, index: int) -> list[float]:
        """Return where the lines of a node's inputs arrive, from its middle: by their heights, or
        in order.
        """
        node, layout = self.picture.nodes[index], self.layout
        middle_port = (len(node.inputs) - 1) / 2
        ports = [(k - middle_port) * self.units[index].port for k in range(len(node.inputs))]
        if node.ordered:
            return ports
        heights = [layout.corners[layout.last[edge.node, index]][1] for edge in node.inputs]
        by_height = sorted(range(len(ports)), key=heights.__getitem__)
        return [port for _, port in sorted(zip(by_height, ports, strict=True))]

    @property
    def lines(self) -> Iterator[Shape]:
        """Yield the lines between nodes: their common parts, then their ends."""
        layout, nodes = self.layout, self.picture.nodes
        yield from self._shared_lines()
        labels: list[Label] = []
        for index, node in enumerate(nodes):
            ports = self._arrivals(index)
            along, middle = layout.corners[index]
            # beside a box narrower than its column, lines keep their own height
            tip, first = along - HEAD / 2, layout.lefts[index]
            for position, (edge, port) in enumerate(zip(node.inputs, ports, strict=True)):
                across, back = middle + port, along - HEAD - 1
                curve = self._curve(layout.last[edge.node, index], min(first, tip), across)
                if first < tip:
                    curve = (*curve, ("L", self._at(tip, across)))
                yield Path("line", curve, not edge.taken, edge.node, (index, position))
                left, right = self._at(back, across - HEAD / 2), self._at(back, across + HEAD / 2)
                yield Path(
                    "head", (("M", self._at(along, across)), ("L", left), ("L", right), ("Z",))
                )
                partial = self.choices.partial(edge)
                before, x, y = -HEAD - 4 - text_width(partial), along, across - 0.6 * FONT
                if self.down:
                    x, y = across, along - FONT
                    before = before if port == min(ports) and len(ports) > 1 else HEAD + 4
                if partial:
                    labels.append(Label("partial", x + before, y, partial))
        yield from labels

    @property
    def nodes(self) -> Iterator[Iterator[Shape]]:
        return map(self._node, range(len(self.units)))

    def _node(self, index: int) -> Iterator[Shape]:
        node, unit, result = (
            self.picture.nodes[index],
            self.units[index],
            index in self.picture.outputs,
        )
        x, y = self._at(*self.layout.corners[index])
        if self.choices.narrow:
            yield from self._narrow_node(node, unit, x, y, result)
            return
        if self.down:
            x, y = x - (unit.operation[0] / 2 if unit.operation else unit.size.above), y + BOX / 2
        if unit.operation:
            wide, high = unit.operation
            kind: BoxKind = "operation result" if result and not unit.cells else "operation"
            yield Box(kind, not node.taken, x, y, wide, high, BOX / 2)
            yield Label("operation", x + (wide - text_width(node.operation)) / 2, y, node.operation)
            if not unit.cells:
                return
            x += wide
            yield Path("line", (("M", (x, y)), ("L", (x + self.stem, y))), not node.taken)
            x += self.stem
        kind = "result" if result else "variable" if node.variable else "box"
        yield Box(kind, not node.taken, x, y, sum(unit.widths), BOX, 5)
        for number, (cell, width) in enumerate(zip(unit.cells, unit.widths, strict=True)):
            if number:
                yield Path("rule", (("M", (x, y - BOX / 2)), ("L", (x, y + BOX / 2))))
            at = x + self.pad
            if cell.word:
                yield Label("word", at, y, cell.word)
                at += text_width(cell.word + " ")
            yield Label(_text_kind(node, cell), at, y, cell.text, cell.word)
            x += width

    def _narrow_node(
        self, node: PictureNode, unit: _NodeBox, middle: float, top: float, result: bool
    ) -> Iterator[Shape]:
        if unit.operation:
            wide, high = unit.operation
            kind: BoxKind = "operation result" if result and not unit.cells else "operation"
            yield Box(kind, not node.taken, middle - wide / 2, top + high / 2, wide, high, BOX / 2)
            yield Label(
                "operation", middle - text_width(node.operation) / 2, top + high / 2, node.operation
            )
            if not unit.cells:
                return
            top += high
            yield Path(
                "line", (("M", (middle, top)), ("L", (middle, top + self.stem))), not node.taken
            )
            top += self.stem
        width, height = max(unit.widths), _rows_height(unit.cells)
        left = middle - width / 2
        kind = "result" if result else "variable" if node.variable else "box"
        yield Box(kind, not node.taken, left, top + height / 2, width, height, 5)
        for number, cell in enumerate(unit.cells):
            row = top + (height - ROW * len(unit.cells)) / 2 + ROW * number
            if number:
                yield Path("rule", (("M", (left, row)), ("L", (left + width, row))))
            at, y = left + self.pad, row + ROW / 2
            if cell.word:
                yield Label("word", at, y, cell.word)
                at += text_width(cell.word + " ")
            yield Label(_text_kind(node, cell), at, y, cell.text, cell.word)


def _rows_height(written: Sequence[Cell]) -> float:
    return max(BOX, ROW * len(written))


def _text_kind(node: PictureNode, cell: Cell) -> TextKind:
    if cell.text == NOT_EVALUATED:
        return "note"
    return "name" if node.label and not cell.word else "number"


def _live_columns(unit: Unit | None) -> int:
    return LIVE_COLUMNS + (1 + width_of(str(unit)) if unit is not None and unit.atoms else 0)


class Colors(NamedTuple):
    """The colours of a theme, with a contrast of at least 4.5; the light one by default."""

    paper: str = "#ffffff"
    text: str = "#0f172a"
    faint: str = "#526073"
    line: str = "#64748b"
    edge: str = "#64748b"
    box: str = "#f8fafc"
    variable: str = "#dbeafe"
    operation: str = "#fef3c7"
    operation_edge: str = "#b45309"
    result: str = "#dcfce7"


class ShapeStyle(NamedTuple):
    """How a kind of shape is drawn: its fill, edge and width of edge."""

    fill: str
    edge: str
    width: float


SHAPE_STYLES = {
    "box": ShapeStyle("box", "edge", 1),
    "variable": ShapeStyle("variable", "edge", 1),
    "result": ShapeStyle("result", "edge", 1.5),
    "operation": ShapeStyle("operation", "operation_edge", 1.5),
    "operation result": ShapeStyle("result", "operation_edge", 1.5),
    "line": ShapeStyle("", "line", 1.2),
    "rule": ShapeStyle("", "edge", 1),
    "head": ShapeStyle("line", "", 0),
}

LIGHT = Colors()
DARK = Colors(
    *("#0f172a", "#f1f5f9", "#b6c2d4", "#8595ab", "#8595ab", "#1e293b"),
    *("#1e3a6e", "#54330c", "#f5a524", "#14532d"),
)
