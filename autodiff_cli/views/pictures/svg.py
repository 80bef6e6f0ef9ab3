"""The picture as SVG: boxes and lines of our own on the layout's places, readable in light and dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from ...questions.graph import Picture, PictureNode
from ..characters import Theme, width_of
from .cells import NOT_EVALUATED, USUAL, Cell, Choices, cells, description, title
from .layout import COLUMN_GAP, Layout, Size, arranged

FONT = 13.0
ADVANCE = 0.6 * FONT
"""How wide a column of text is drawn, whatever the font: `textLength` says so to whoever draws it."""

PAD = 9.0
BOX = 26.0
"""The height of a box and, at least, of an operation."""

STEM = 12.0
"""From an operation to its box."""

PORT = 8.0
"""Between two lines that end at the same operation."""

BESIDE = 18.0
"""What a number beside a line that goes down takes beyond its text."""

MARGIN = 20.0
HEAD = 6.0

LIVE_COLUMNS = 8
"""Characters that each number of a live picture has room for."""

LIVE_GAP = 86.0
"""Between the columns of a live picture: a number on a line fits in."""

FAMILY = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"


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


LIGHT = Colors(
    "#ffffff", "#0f172a", "#526073", "#64748b", "#64748b", "#f8fafc", "#dbeafe", "#fef3c7", "#b45309", "#dcfce7"
)
DARK = Colors(
    "#0f172a", "#f1f5f9", "#b6c2d4", "#8595ab", "#8595ab", "#1e293b", "#1e3a6e", "#54330c", "#f5a524", "#14532d"
)


class _Unit(NamedTuple):
    """A node as it is drawn: its operation, then its box, side by side or one below the other."""

    operation: Size | None
    cells: tuple[Cell, ...]
    widths: tuple[float, ...]
    size: Size


class _Way(NamedTuple):
    """From places along the way of the drawing and across it to those on the page."""

    down: bool
    port: float = PORT
    """Between two lines that end at the same operation."""

    def at(self, along: float, across: float) -> str:
        """A place."""
        return f"{_number(across)} {_number(along)}" if self.down else f"{_number(along)} {_number(across)}"

    def straight(self, along: float) -> str:
        """A line of a path that goes on straight up to there."""
        return f"{'V' if self.down else 'H'}{_number(along)}"

    def curve(self, start: tuple[float, float], end: tuple[float, float]) -> str:
        """A path that leaves and arrives in the direction of the drawing."""
        (a0, c0), (a1, c1) = start, end
        if abs(c0 - c1) < 0.05:
            return f"M{self.at(a0, c0)}{self.straight(a1)}"
        half = (a0 + a1) / 2
        return f"M{self.at(a0, c0)}C{self.at(half, c0)} {self.at(half, c1)} {self.at(a1, c1)}"

    def head(self, along: float, across: float) -> str:
        """An arrow's head with its tip there."""
        back, side, across_it = _number(-HEAD - 1), _number(-HEAD / 2), _number(HEAD)
        turned = f"l{side} {back}h{across_it}z" if self.down else f"l{back} {side}v{across_it}z"
        return f"M{self.at(along, across)}{turned}"

    def turned(self, size: Size) -> Size:
        """A size as the layout takes it, which knows of one way only."""
        return Size(size.height, size.width) if self.down else size


def svg(picture: Picture, choices: Choices = USUAL) -> str:
    """The picture as an SVG document. Raises `ExpressionError` (`limit`) for too large a graph.

    Nodes, numbers and lines carry `data-` attributes that say which they are. A `live` picture is for a page that
    changes its numbers and writes on its lines: it leaves room for that, and its style is the page's.
    """
    said = max((_text_width(choices.partial(each)) for node in picture.nodes for each in node.inputs), default=0.0)
    down = choices.way == "down"
    # room for what is written beside the lines
    way = _Way(down, (said + BESIDE if down else FONT + 3) if said else PORT)
    room = LIVE_COLUMNS if choices.live else 0
    units = [_unit(node, cells(node, choices.digits), way, room) for node in picture.nodes]
    inputs = [list(dict.fromkeys(each.node for each in node.inputs)) for node in picture.nodes]
    layout = arranged(
        [way.turned(unit.size) for unit in units], inputs, picture.outputs, [node.ordered for node in picture.nodes],
LIVE_GAP if choices.live else COLUMN_GAP[0] + (said if not down else FONT if said else 0.0),
    )  # fmt: skip
    return "\n".join(_document(picture, units, layout, way, choices)) + "\n"


def _text_width(text: str) -> float:
    return width_of(text) * ADVANCE


def _unit(node: PictureNode, found: Sequence[Cell], way: _Way, room: int) -> _Unit:
    widths = tuple(
        max(_text_width(cell.whole), (len(cell.word) + 1 + room) * ADVANCE if cell.word else 0.0) + 2 * PAD
        for cell in found
    )
    box = Size(sum(widths), BOX)
    if not node.operation:
        return _Unit(None, tuple(found), widths, box)
    ports = way.port * (len(node.inputs) + 1)
    wide, high = (ports, BOX) if way.down else (BOX, ports)
    operation = Size(max(BOX, _text_width(node.operation) + 2 * PAD, wide), max(BOX, high))
    if way.down:
        size = Size(max(operation.width, box.width), operation.height + (STEM + BOX if found else 0.0))
    else:
        size = Size(operation.width + (STEM + box.width if found else 0.0), operation.height)
    return _Unit(operation, tuple(found), widths, size)


def _document(picture: Picture, units: Sequence[_Unit], layout: Layout, way: _Way, choices: Choices) -> Iterator[str]:
    extent = way.turned(Size(layout.width, layout.height))
    width, height = extent.width + 2 * MARGIN, extent.height + 2 * MARGIN
    size = f"{_number(width)} {_number(height)}"
    scale = 1.0 if choices.width is None else choices.width / width
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{_number(width * scale)}" '
        f'height="{_number(height * scale)}" role="img" class="{_class(choices.theme)}" xml:space="preserve">'
    )
    yield f"<title>{escape(title(picture))}</title>"
    # numbers that change are not for a description that does not
    told = picture._replace(numbers=False) if choices.live else picture
    yield f"<desc>{escape(description(told, choices))}</desc>"
    if not choices.live:
        yield f"<style>{style(choices.theme, choices.partials)}</style>"
    yield '<rect class="paper" width="100%" height="100%"/>'
    yield f'<g transform="translate({_number(MARGIN)} {_number(MARGIN)})">'
    yield from _lines(picture, units, layout, way, choices)
    for index, (node, unit) in enumerate(zip(picture.nodes, units, strict=True)):
        along, across = layout.corners[index]
        result = index in picture.outputs
        yield f'<g data-node="{index}">'
        yield from _below(node, unit, along, across, result) if way.down else _node(node, unit, along, across, result)
        yield "</g>"
    yield "</g>"
    yield "</svg>"


# ---- lines --------------------------------------------------------------------------------------------------------
def _lines(picture: Picture, units: Sequence[_Unit], layout: Layout, way: _Way, choices: Choices) -> Iterator[str]:
    """The lines from node to node: first what they have in common, then their ends at the operations."""
    taken: dict[int, bool] = {}
    for index, node in enumerate(picture.nodes):
        for each in node.inputs:
            bend = layout.last[each.node, index]
            taken[bend] = taken.get(bend, False) or each.taken
    for segment in reversed(layout.segments):
        # a line that only passes was taken if one of those that leave it further on was
        if segment.end >= len(units):
            taken[segment.start] = taken.get(segment.start, False) or taken.get(segment.end, False)
    trunks: dict[tuple[int, bool], list[str]] = {}
    for segment in layout.segments:
        if segment.end >= len(units):
            along, across = layout.corners[segment.end]
            path = way.curve(_end(layout, segment.start), (along, across))
            path += way.straight(along + layout.sizes[segment.end].width)
            trunks.setdefault((segment.source, taken.get(segment.end, False)), []).append(path)
    for (source, flag), paths in trunks.items():
        yield f'<path class="{_line_class(flag)}" data-from="{source}" d="{"".join(paths)}"/>'
    for index, node in enumerate(picture.nodes):
        ports = _ports(node, index, layout, way)
        for position, (each, port) in enumerate(zip(node.inputs, ports, strict=True)):
            along, across = layout.corners[index]
            # boxes end where their column ends: what is left of a narrow one is crossed at its own height
            tip, first = along - HEAD / 2, layout.lefts[index]
            path = way.curve(_end(layout, layout.last[each.node, index]), (min(first, tip), across + port))
            path += way.straight(tip) if first < tip else ""
            edge = f'data-from="{each.node}" data-edge="{index}-{position}"'
            yield f'<path class="{_line_class(each.taken)}" {edge} d="{path}"/>'
            yield f'<path class="head" d="{way.head(along, across + port)}"/>'
            partial = choices.partial(each)
            if partial and way.down:
                yield _text("partial", across + port + HEAD + 4, along - FONT, partial)
            elif partial:
                yield _text("partial", along - HEAD - 4 - _text_width(partial), across + port - 0.6 * FONT, partial)


def _line_class(taken: bool) -> str:
    return "line" if taken else "line skipped"


def _end(layout: Layout, index: int) -> tuple[float, float]:
    """Where lines leave a node or a bend."""
    along, across = layout.corners[index]
    return along + layout.sizes[index].width, across


def _ports(node: PictureNode, index: int, layout: Layout, way: _Way) -> list[float]:
    """How far from the middle each input arrives: in order, or from where it comes if that is the same."""
    count = len(node.inputs)
    places = [(place - (count - 1) / 2) * way.port for place in range(count)]
    if node.ordered:
        return places
    heights = [layout.corners[layout.last[each.node, index]].y for each in node.inputs]
    found = [0.0] * count
    for place, which in zip(places, sorted(range(count), key=heights.__getitem__), strict=True):
        found[which] = place
    return found


# ---- nodes --------------------------------------------------------------------------------------------------------
def _node(node: PictureNode, unit: _Unit, x: float, y: float, result: bool) -> Iterator[str]:
    """A node beside its operation: from the left at x, in the middle at y."""
    if unit.operation:
        yield from _operation(node, unit, x, y, result)
        if not unit.cells:
            return
        x += unit.operation.width
        yield f'<path class="{_line_class(node.taken)}" d="M{_number(x)} {_number(y)}h{_number(STEM)}"/>'
        x += STEM
    yield from _box(node, unit, x, y, result)


def _below(node: PictureNode, unit: _Unit, y: float, x: float, result: bool) -> Iterator[str]:
    """A node below its operation: from the top at y, in the middle at x."""
    if unit.operation:
        wide, high = unit.operation
        yield from _operation(node, unit, x - wide / 2, y + high / 2, result)
        if not unit.cells:
            return
        y += high
        yield f'<path class="{_line_class(node.taken)}" d="M{_number(x)} {_number(y)}v{_number(STEM)}"/>'
        y += STEM
    yield from _box(node, unit, x - sum(unit.widths) / 2, y + BOX / 2, result)


def _operation(node: PictureNode, unit: _Unit, x: float, y: float, result: bool) -> Iterator[str]:
    assert unit.operation
    wide, high = unit.operation
    kind = f"operation{' result' if result and not unit.cells else ''}{'' if node.taken else ' skipped'}"
    yield _rectangle(kind, x, y, wide, high, BOX / 2)
    yield _text("", x + (wide - _text_width(node.operation)) / 2, y, node.operation)


def _box(node: PictureNode, unit: _Unit, x: float, y: float, result: bool) -> Iterator[str]:
    kind = "result" if result else "variable" if node.variable else "box"
    yield _rectangle(f"{kind}{'' if node.taken else ' skipped'}", x, y, sum(unit.widths), BOX, 5)
    for number, (cell, width) in enumerate(zip(unit.cells, unit.widths, strict=True)):
        if number:
            yield f'<path class="rule" d="M{_number(x)} {_number(y - BOX / 2)}v{_number(BOX)}"/>'
        at = x + PAD
        if cell.word:
            yield _text("faint", at, y, cell.word)
            at += _text_width(cell.word + " ")
        yield _text("faint" if cell.text == NOT_EVALUATED else "", at, y, cell.text, cell.word)
        x += width


def _rectangle(kind: str, x: float, y: float, width: float, height: float, round: float) -> str:
    return (
        f'<rect class="{kind}" x="{_number(x)}" y="{_number(y - height / 2)}" width="{_number(width)}" '
        f'height="{_number(height)}" rx="{_number(round)}"/>'
    )


def _text(kind: str, x: float, y: float, text: str, word: str = "") -> str:
    """One piece of text, held to the width that it was given, whatever font it is drawn in."""
    styled = (f'class="{kind}" ' if kind else "") + (f'data-cell="{word}" ' if word else "")
    return (
        f'<text {styled}x="{_number(x)}" y="{_number(y + 0.35 * FONT)}" '
        f'textLength="{_number(_text_width(text))}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
    )


def _number(x: float) -> str:
    return f"{x + 0.0:.1f}".removesuffix(".0")


# ---- colours ------------------------------------------------------------------------------------------------------
def style(theme: Theme = "auto", partials: bool = False) -> str:
    """The rules of a picture's style, in the colours of a theme; with `partials` those of numbers beside lines."""
    if theme == "auto":
        dark = colored(DARK, partials)
        return f"{shapes()}{colored(LIGHT, partials)}@media (prefers-color-scheme:dark){{{dark}}}"
    within = "." + _class(theme).replace(" ", ".")
    return shapes() + colored(DARK if theme == "dark" else LIGHT, partials, within)


def _class(theme: Theme) -> str:
    """What the picture is called in rules: on one page, a theme that was asked for has its own."""
    return "autodiff" if theme == "auto" else f"autodiff {theme}"


def shapes() -> str:
    """The rules that are the same in every theme."""
    return (
        f".autodiff text{{font:{_number(FONT)}px {FAMILY}}}"
        ".autodiff .line{fill:none;stroke-width:1.2}"
        ".autodiff .skipped{stroke-dasharray:4 3}"
        ".autodiff .result,.autodiff .operation{stroke-width:1.5}"
    )


def colored(colors: Colors, partials: bool = False, within: str = ".autodiff") -> str:
    """The rules of the colours."""
    fills = {
        "paper": colors.paper,
        "box": colors.box,
        "variable": colors.variable,
        "operation": colors.operation,
        "result": colors.result,
    }
    return (
        f"{within} rect,{within} .rule{{stroke:{colors.edge}}}"
        + "".join(f"{within} .{name}{{fill:{color}}}" for name, color in fills.items())
        + f"{within} .paper{{stroke:none}}{within} .operation{{stroke:{colors.operation_edge}}}"
        f"{within} text{{fill:{colors.text}}}{within} .faint{{fill:{colors.faint}}}"
        f"{within} .line{{stroke:{colors.line}}}{within} .head{{fill:{colors.line}}}"
        # a line that passes a number leaves it legible
        + (
            f"{within} .partial{{fill:{colors.faint};stroke:{colors.paper};stroke-width:4px;paint-order:stroke}}"
            if partials
            else ""
        )
    )
