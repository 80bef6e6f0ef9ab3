"""The picture as SVG: its scene, readable in light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from ...derivatives.graph import Picture
from ..characters import Theme
from .cells import USUAL, Choices, title
from .colors import DARK, LIGHT, Colors
from .scene import BASELINE, FONT, LEGIBLE_LIVE, MARGIN, PAGE, Box, Path, Piece, Scene, Shape, Text, coordinate, scene

FAMILY = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"

CLASSES = {"word": "faint", "note": "faint", "partial": "partial"}
"""How rules call kinds of text; the others have no name."""


def svg(picture: Picture, choices: Choices = USUAL) -> str:
    """The picture as an SVG document. Raises `ExpressionError` (`limit`) for too large a graph.

    Nodes, numbers and lines carry `data-` attributes that say which they are. A `live` picture is for a page that
    changes its numbers and writes on its lines: it leaves room for that, and its style is the page's.
    """
    return "\n".join(_document(picture, scene(picture, choices), choices)) + "\n"


def _document(picture: Picture, drawn: Scene, choices: Choices) -> Iterator[str]:
    width, height = drawn.width, drawn.height
    scale = 1.0 if choices.width is None else choices.width / width
    if choices.live:
        scale = min(1.0, max(PAGE / width, LEGIBLE_LIVE / FONT))
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {coordinate(width)} {coordinate(height)}" '
        f'width="{coordinate(width * scale)}" height="{coordinate(height * scale)}" role="img" '
        f'class="{_class(choices.theme)}" xml:space="preserve">'
    )
    yield f"<title>{escape(title(picture))}</title>"
    yield f"<desc>{escape(drawn.description)}</desc>"
    if not choices.live:
        yield f"<style>{style(choices.theme, choices.partials)}</style>"
    yield '<rect class="paper" width="100%" height="100%"/>'
    yield f'<g transform="translate({coordinate(MARGIN)} {coordinate(MARGIN)})">'
    yield from map(_shape, drawn.lines)
    for index, shapes in enumerate(drawn.nodes):
        yield f'<g data-node="{index}">'
        yield from map(_shape, shapes)
        yield "</g>"
    yield "</g>"
    yield "</svg>"


def _shape(shape: Shape) -> str:
    if isinstance(shape, Box):
        return _rectangle(shape)
    return _text(shape) if isinstance(shape, Text) else _path(shape)


def _path(path: Path) -> str:
    about = "" if path.source is None else f'data-from="{path.source}" '
    about += "" if path.edge is None else f'data-edge="{path.edge[0]}-{path.edge[1]}" '
    skipped = " skipped" if path.skipped else ""
    return f'<path class="{path.kind}{skipped}" {about}d="{_pieces(path.pieces)}"/>'


def _pieces(pieces: Iterable[Piece]) -> str:
    commands = []
    x, y = "", ""
    for command, *places in pieces:
        written = [(coordinate(a), coordinate(b)) for a, b in places]
        if command == "L" and written[0][1] == y:
            commands.append(f"H{written[0][0]}")
        elif command == "L" and written[0][0] == x:
            commands.append(f"V{written[0][1]}")
        else:
            commands.append(command + " ".join(" ".join(place) for place in written))
        if written:
            x, y = written[-1]
    return "".join(commands).replace("Z", "z")


def _rectangle(box: Box) -> str:
    return (
        f'<rect class="{box.kind}{" skipped" if box.skipped else ""}" x="{coordinate(box.x)}" '
        f'y="{coordinate(box.y - box.height / 2)}" width="{coordinate(box.width)}" height="{coordinate(box.height)}" '
        f'rx="{coordinate(box.round)}"/>'
    )


def _text(text: Text) -> str:
    """One piece of text, held to the width that it was given, whatever font it is drawn in."""
    kind = CLASSES.get(text.kind, "")
    styled = (f'class="{kind}" ' if kind else "") + (f'data-cell="{text.word}" ' if text.word else "")
    return (
        f'<text {styled}x="{coordinate(text.x)}" y="{coordinate(text.y + BASELINE)}" '
        f'textLength="{coordinate(text.width)}" lengthAdjust="spacingAndGlyphs">{escape(text.text)}</text>'
    )


# ---- colours ------------------------------------------------------------------------------------------------------
def style(theme: Theme = "auto", partials: bool = False) -> str:
    """The rules of a picture's style, in the colours of a theme; with `partials` those of numbers beside lines."""
    if theme == "auto":
        dark = colored(DARK, partials)
        return f"{shapes()}{colored(LIGHT, partials)}@media (prefers-color-scheme:dark){{{dark}}}"
    within = "." + _class(theme).replace(" ", ".")
    return shapes() + colored(DARK if theme == "dark" else LIGHT, partials, within)


def _class(theme: Theme) -> str:
    """The name of the picture in rules of CSS; a chosen theme has its own on one page."""
    return "autodiff" if theme == "auto" else f"autodiff {theme}"


def shapes() -> str:
    """The rules that are the same in every theme."""
    return (
        f".autodiff text{{font:{coordinate(FONT)}px {FAMILY}}}"
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
