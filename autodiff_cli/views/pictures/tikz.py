"""Pictures as TikZ: the scene of the SVG, with names and numbers as mathematics."""

from __future__ import annotations

from collections.abc import Iterator

from ...derivatives.graph import Picture
from ...language.typesetting import name_latex, number_latex, text_latex
from ..characters import escaped
from . import scene
from .scene import DEFAULT_CHOICES, Box, Choices, Piece, Shape, Text, coordinate, title

CROSS, DOT = r" \times ", r"{\cdot}"
BOXES = ("box", "variable", "result", "operation", "operation result")


def tikz(picture: Picture, choices: Choices = DEFAULT_CHOICES) -> str:
    """Return the picture as a `tikzpicture`, for the packages tikz and amsmath."""
    drawn = scene.scene(picture, choices)
    dark = choices.theme == "dark"
    scale = 1.0 if choices.width is None else choices.width / drawn.width
    unit, colors = scene.UNIT * scale, (scene.DARK if dark else scene.LIGHT)._asdict().items()
    size = f"(0,0) rectangle ({coordinate(drawn.width)},{coordinate(drawn.height)})"
    lines = [
        f"% {escaped(title(picture))}",
        rf"\begin{{tikzpicture}}[x={unit:.5g}bp, y=-{unit:.5g}bp,",
        *(f"  {style}," for style in _styles(scale)),
        "]",
        *(rf"\definecolor{{graph {name}}}{{HTML}}{{{color[1:].upper()}}}" for name, color in colors),
        rf"\path[use as bounding box{', fill=graph paper' if dark else ''}] {size};",
        rf"\begin{{scope}}[shift={{({coordinate(scene.MARGIN)},{coordinate(scene.MARGIN)})}}]",
        *map(_shape, drawn.shapes),
    ]
    return "\n".join([*lines, r"\end{scope}", r"\end{tikzpicture}"])


def _styles(scale: float) -> Iterator[str]:
    def points(units: float) -> str:
        return f"{units * scene.UNIT * scale:.4g}bp"

    font = rf"\fontsize{{{10 * scale:.4g}}}{{{12 * scale:.4g}}}\selectfont"
    yield f"graph text/.style={{inner sep=0, outer sep=0, text=graph text, font={font}}}"
    yield "graph word/.style={graph text, text=graph faint}"
    yield "graph partial/.style={graph word, fill=graph paper, inner sep=0.8bp}"
    yield f"graph line/.style={{draw=graph line, line width={points(scene.LOOKS['line'].width)}}}"
    yield f"graph rule/.style={{draw=graph edge, line width={points(scene.LOOKS['rule'].width)}}}"
    yield "graph head/.style={fill=graph line}"
    yield f"graph skipped/.style={{dash pattern=on {points(4)} off {points(3)}}}"
    for kind in BOXES:
        fill, edge, width = scene.LOOKS[kind]
        corners = f"rounded corners={points(12.9 if 'operation' in kind else 5)}"
        yield f"graph {kind}/.style={{draw=graph {edge}, fill=graph {fill}, line width={points(width)}, {corners}}}"


def _shape(shape: Shape) -> str:
    if isinstance(shape, Text):
        return _text(shape)
    style = f"graph {shape.kind}{', graph skipped' if shape.skipped else ''}"
    if isinstance(shape, Box):
        top, right = shape.y - shape.height / 2, shape.x + shape.width
        return rf"\path[{style}] {_place(shape.x, top)} rectangle {_place(right, top + shape.height)};"
    return rf"\path[{style}] {' '.join(map(_piece, shape.pieces))};"


def _piece(piece: Piece) -> str:
    if piece[0] == "Z":
        return "-- cycle"
    if piece[0] == "C":
        first, second, end = (_place(*place) for place in piece[1:])
        return f".. controls {first} and {second} .. {end}"
    return ("" if piece[0] == "M" else "-- ") + _place(*piece[1])


def _text(text: Text) -> str:
    style = "word" if text.kind in ("word", "note") else "partial" if text.kind == "partial" else "text"
    anchor, x = "base", text.x + text.width / 2
    if text.kind == "word":
        anchor, x = "base east", text.x + text.width
    elif text.word:
        anchor, x = "base west", text.x
    if text.kind == "name":
        written = f"${name_latex(text.text)}$"
    elif text.kind in ("number", "partial"):
        # a cross would take more room than the number has
        written = f"${number_latex(text.text).replace(CROSS, DOT)}$"
    else:
        written = rf"\texttt{{{text_latex(text.text)}}}" if text.kind == "operation" else text_latex(text.text)
    return rf"\node[graph {style}, anchor={anchor}] at {_place(x, text.y + scene.BASELINE)} {{{written}}};"


def _place(x: float, y: float) -> str:
    return f"({coordinate(x)},{coordinate(y)})"
