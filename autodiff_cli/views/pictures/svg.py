"""The picture as SVG: boxes and lines of our own on the layout's places, readable in light and dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from ...questions.graph import Picture, PictureNode
from ..characters import Theme, width_of
from .cells import NOT_EVALUATED, Cell, cells, description, title
from .layout import Layout, Size, arranged

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
    """A node as it is drawn: its operation, then its box, side by side."""

    operation: Size | None
    cells: tuple[Cell, ...]
    widths: tuple[float, ...]
    size: Size


def svg(picture: Picture, digits: int | None = None, theme: Theme = "auto", live: bool = False) -> str:
    """The picture as an SVG document. Raises `ExpressionError` (`limit`) for too large a graph.

    Nodes, numbers and lines carry `data-` attributes that say which they are. A `live` picture is for a page that
    changes its numbers and writes on its lines: it leaves room for that, and its style is the page's.
    """
    units = [_unit(node, cells(node, digits), LIVE_COLUMNS if live else 0) for node in picture.nodes]
    inputs = [list(dict.fromkeys(each.node for each in node.inputs)) for node in picture.nodes]
    ordered = [node.ordered for node in picture.nodes]
    layout = arranged([unit.size for unit in units], inputs, picture.outputs, ordered, LIVE_GAP if live else 0.0)
    return "\n".join(_document(picture, units, layout, digits, "" if live else style(theme), _class(theme))) + "\n"


def _text_width(text: str) -> float:
    return width_of(text) * ADVANCE


def _unit(node: PictureNode, found: Sequence[Cell], room: int) -> _Unit:
    widths = tuple(
        max(_text_width(cell.whole), (len(cell.word) + 1 + room) * ADVANCE if cell.word else 0.0) + 2 * PAD
        for cell in found
    )
    box = Size(sum(widths), BOX)
    if not node.operation:
        return _Unit(None, tuple(found), widths, box)
    ports = PORT * (len(node.inputs) + 1)
    operation = Size(max(BOX, _text_width(node.operation) + 2 * PAD), max(BOX, ports))
    width = operation.width + (STEM + box.width if found else 0.0)
    return _Unit(operation, tuple(found), widths, Size(width, operation.height))


def _document(
    picture: Picture, units: Sequence[_Unit], layout: Layout, digits: int | None, rules: str, name: str
) -> Iterator[str]:
    width, height = layout.width + 2 * MARGIN, layout.height + 2 * MARGIN
    size = f"{_number(width)} {_number(height)}"
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{_number(width)}" '
        f'height="{_number(height)}" role="img" class="{name}" xml:space="preserve">'
    )
    yield f"<title>{escape(title(picture))}</title>"
    # Numbers that change are not for a description that does not.
    told = picture if rules else picture._replace(numbers=False)
    yield f"<desc>{escape(description(told, digits))}</desc>"
    if rules:
        yield f"<style>{rules}</style>"
    yield '<rect class="paper" width="100%" height="100%"/>'
    yield f'<g transform="translate({_number(MARGIN)} {_number(MARGIN)})">'
    yield from _lines(picture, units, layout)
    for index, (node, unit) in enumerate(zip(picture.nodes, units, strict=True)):
        yield f'<g data-node="{index}">'
        yield from _node(node, unit, *layout.corners[index], result=index in picture.outputs)
        yield "</g>"
    yield "</g>"
    yield "</svg>"


# ---- lines --------------------------------------------------------------------------------------------------------
def _lines(picture: Picture, units: Sequence[_Unit], layout: Layout) -> Iterator[str]:
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
    trunks: dict[tuple[int, bool], list[str]] = {}  # by the node that they come from
    for segment in layout.segments:
        if segment.end >= len(units):
            x, y = layout.corners[segment.end]
            path = _curve(_right(layout, segment.start), (x, y)) + f"H{_number(x + layout.sizes[segment.end].width)}"
            trunks.setdefault((segment.source, taken.get(segment.end, False)), []).append(path)
    for (source, flag), paths in trunks.items():
        yield f'<path class="{_line_class(flag)}" data-from="{source}" d="{"".join(paths)}"/>'
    for index, node in enumerate(picture.nodes):
        ports = _ports(node, index, units[index], layout)
        for position, (each, port) in enumerate(zip(node.inputs, ports, strict=True)):
            x, y = layout.corners[index]
            # boxes end where their column ends: what is left of a narrow one is crossed at its own height
            tip, left = x - HEAD / 2, layout.lefts[index]
            path = _curve(_right(layout, layout.last[each.node, index]), (min(left, tip), y + port))
            path += f"H{_number(tip)}" if left < tip else ""
            edge = f'data-from="{each.node}" data-edge="{index}-{position}"'
            yield f'<path class="{_line_class(each.taken)}" {edge} d="{path}"/>'
            yield (
                f'<path class="head" d="M{_number(x)} {_number(y + port)}l{_number(-HEAD - 1)} {_number(-HEAD / 2)}'
                f'v{_number(HEAD)}z"/>'
            )


def _line_class(taken: bool) -> str:
    return "line" if taken else "line skipped"


def _right(layout: Layout, index: int) -> tuple[float, float]:
    x, y = layout.corners[index]
    return x + layout.sizes[index].width, y


def _curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    """A path that leaves and arrives horizontally."""
    (x0, y0), (x1, y1) = start, end
    if abs(y0 - y1) < 0.05:
        return f"M{_number(x0)} {_number(y0)}H{_number(x1)}"
    half = _number((x0 + x1) / 2)
    return f"M{_number(x0)} {_number(y0)}C{half} {_number(y0)} {half} {_number(y1)} {_number(x1)} {_number(y1)}"


def _ports(node: PictureNode, index: int, unit: _Unit, layout: Layout) -> list[float]:
    """How far above or below the middle each input arrives: in order, or from where it comes if that is the same."""
    count = len(node.inputs)
    places = [(place - (count - 1) / 2) * PORT for place in range(count)]
    if node.ordered:
        return places
    heights = [layout.corners[layout.last[each.node, index]].y for each in node.inputs]
    found = [0.0] * count
    for place, which in zip(places, sorted(range(count), key=heights.__getitem__), strict=True):
        found[which] = place
    return found


# ---- nodes --------------------------------------------------------------------------------------------------------
def _node(node: PictureNode, unit: _Unit, x: float, y: float, *, result: bool) -> Iterator[str]:
    skipped = "" if node.taken else " skipped"
    if unit.operation:
        wide, high = unit.operation
        alone = " result" if result and not unit.cells else ""
        yield _rectangle(f"operation{alone}{skipped}", x, y, wide, high, BOX / 2)
        yield _text("", x + (wide - _text_width(node.operation)) / 2, y, node.operation)
        if not unit.cells:
            return
        yield f'<path class="{_line_class(node.taken)}" d="M{_number(x + wide)} {_number(y)}h{_number(STEM)}"/>'
        x += wide + STEM
    kind = "result" if result else "variable" if node.variable else "box"
    yield _rectangle(f"{kind}{skipped}", x, y, sum(unit.widths), BOX, 5)
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
def style(theme: Theme = "auto") -> str:
    """The rules of a picture's style, in the colours of a theme."""
    if theme == "auto":
        return f"{shapes()}{colored(LIGHT)}@media (prefers-color-scheme:dark){{{colored(DARK)}}}"
    return shapes() + colored(DARK if theme == "dark" else LIGHT, "." + _class(theme).replace(" ", "."))


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


def colored(colors: Colors, within: str = ".autodiff") -> str:
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
    )
