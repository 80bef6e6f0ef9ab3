"""Pictures as SVG, readable in light and dark, and as PNG, drawn by resvg."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

from ...derivatives.graph import Picture
from ...errors import limit_error, require
from ..characters import Theme
from . import scene
from .scene import DEFAULT_CHOICES, Box, Choices, Colors, Piece, Shape, Text, coordinate, title

FAMILY = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"
DEFAULT_SCALE = 2.0
"""Pixels of a PNG per unit of the SVG, unless it is large."""
AMPLE_PIXELS, MAX_PIXELS = 20e6, 100e6
"""Pixels above which the scale goes down to 1, and below."""
MAX_SIDE_PIXELS = 120_000
"""The most pixels on a side."""
MIN_SCALE = 0.75
"""At a smaller scale nothing could be read."""

# All but Latin, Greek and Cyrillic letters and mathematical signs, which the font has.
_OTHER = re.compile(
    "[^\n -~\u00a0-\u017f\u0370-\u0373\u0376\u0377\u037b-\u037f\u0384-\u03ff"
    "\u0400-\u045f\u1d00-\u1dbf\u1e00-\u1eff\u2010-\u2027\u2070-\u209c\u2100-\u214f\u2190-\u22ff]"
)

FONTS = Path(__file__).parent / "fonts"
CLASSES = {"word": "faint", "note": "faint", "partial": "partial"}
"""CSS classes of kinds of text; the others have none."""


def svg(picture: Picture, choices: Choices = DEFAULT_CHOICES) -> str:
    """Return the picture as SVG. Raises `ExpressionError` (`limit`)."""
    drawn = scene.scene(picture, choices)
    width, height = drawn.width, drawn.height
    scale = 1.0 if choices.width is None else choices.width / width
    if choices.live:
        scale = min(1.0, max(scene.MAX_LIVE_WIDTH / width, scene.LEGIBLE_LIVE / scene.FONT))
    # a chosen theme has its own CSS class, to share a page with others
    theme = "autodiff" if choices.theme == "auto" else f"autodiff {choices.theme}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {coordinate(width)} {coordinate(height)}" '
        f'{_numbers(width=width * scale, height=height * scale)} role="img" class="{theme}" xml:space="preserve">',
        f"<title>{escape(title(picture))}</title>",
        f"<desc>{escape(drawn.description)}</desc>",
    ]
    lines += [] if choices.live else [f"<style>{style(choices.theme, choices.partials)}</style>"]
    lines.append('<rect class="paper" width="100%" height="100%"/>')
    lines.append(f'<g transform="translate({coordinate(scene.MARGIN)} {coordinate(scene.MARGIN)})">')
    lines += map(_shape, drawn.lines)
    for index, shapes in enumerate(drawn.nodes):
        lines += [f'<g data-node="{index}">', *map(_shape, shapes), "</g>"]
    return "\n".join([*lines, "</g>", "</svg>\n"])


def _numbers(**numbers: float) -> str:
    return " ".join([f'{name}="{coordinate(x)}"' for name, x in numbers.items()])


def _shape(shape: Shape) -> str:
    if isinstance(shape, Text):
        kind = CLASSES.get(shape.kind, "")
        styled = (f'class="{kind}" ' if kind else "") + (f'data-cell="{shape.word}" ' if shape.word else "")
        numbers = _numbers(x=shape.x, y=shape.y + scene.BASELINE, textLength=shape.width)
        return f'<text {styled}{numbers} lengthAdjust="spacingAndGlyphs">{escape(shape.text)}</text>'
    kind = f"{shape.kind} skipped" if shape.skipped else shape.kind
    if isinstance(shape, Box):
        x, top, (wide, high, rx) = shape.x, shape.y - shape.height / 2, shape[-3:]
        return f'<rect class="{kind}" {_numbers(x=x, y=top, width=wide, height=high, rx=rx)}/>'
    about = "" if shape.source is None else f'data-from="{shape.source}" '
    about += "" if shape.edge is None else f'data-edge="{shape.edge[0]}-{shape.edge[1]}" '
    return f'<path class="{kind}" {about}d="{_pieces(shape.pieces)}"/>'


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


def style(theme: Theme = "auto", partials: bool = False) -> str:
    """Return the CSS of a theme, perhaps with `partials`."""
    if theme == "auto":
        dark = color_rules(scene.DARK, partials)
        return f"{shapes()}{color_rules(scene.LIGHT, partials)}@media (prefers-color-scheme:dark){{{dark}}}"
    return shapes() + color_rules(scene.DARK if theme == "dark" else scene.LIGHT, partials, f".autodiff.{theme}")


def shapes() -> str:
    """Return the CSS rules that all themes share."""
    return (
        f".autodiff text{{font:{coordinate(scene.FONT)}px {FAMILY}}}"
        ".autodiff .line{fill:none;stroke-width:1.2}"
        ".autodiff .skipped{stroke-dasharray:4 3}"
        ".autodiff .result,.autodiff .operation{stroke-width:1.5}"
    )


def color_rules(colors: Colors, partials: bool = False, within: str = ".autodiff") -> str:
    """Return the CSS rules of the colours."""
    filled = ("paper", "box", "variable", "operation", "result")
    rules = [f"{within} rect,{within} .rule{{stroke:{colors.edge}}}"]
    rules += [f"{within} .{name}{{fill:{getattr(colors, name)}}}" for name in filled]
    rules += [
        f"{within} .paper{{stroke:none}}{within} .operation{{stroke:{colors.operation_edge}}}",
        f"{within} text{{fill:{colors.text}}}{within} .faint{{fill:{colors.faint}}}",
        f"{within} .line{{stroke:{colors.line}}}{within} .head{{fill:{colors.line}}}",
    ]
    if partials:
        rules.append(
            f"{within} .partial{{fill:{colors.faint};stroke:{colors.paper};stroke-width:4px;paint-order:stroke}}"
        )
    return "".join(rules)


def png(picture: Picture, choices: Choices = DEFAULT_CHOICES) -> bytes:
    """Return the picture as PNG. Raises `ExpressionError`."""
    message = "`--format png` needs the libraries of the extra `draw`"
    resvg_py = require("resvg_py", "draw", message, "; the formats tree, dot, mermaid and svg need nothing")
    theme: Theme = "dark" if choices.theme == "dark" else "light"
    text = svg(picture, choices._replace(theme=theme, width=None))
    match = re.search(r'width="([\d.]+)" height="([\d.]+)"', text)
    assert match
    width, height = float(match[1]), float(match[2])
    most = min(MAX_SIDE_PIXELS / max(width, height), (MAX_PIXELS / (width * height)) ** 0.5)
    if choices.width is None:
        scale = min(DEFAULT_SCALE, max(1.0, (AMPLE_PIXELS / (width * height)) ** 0.5), most)
        excess = (
            "" if scale >= MIN_SCALE else f"{width:,.0f} by {height:,.0f} units, too many for a PNG that can be read"
        )
    else:
        scale = choices.width / width
        most = min(most, (AMPLE_PIXELS / (width * height)) ** 0.5)
        excess = "" if scale <= most else f"{width * scale:,.0f} by {height * scale:,.0f} pixels, too many for a PNG"
    if excess:
        raise limit_error(f"the picture would be {excess}", "`--format svg` has no such limit")
    data = resvg_py.svg_to_bytes(
        svg_string=text,
        zoom=scale,
        # without system fonts, the same picture on every machine
        skip_system_fonts=not _OTHER.search(text),
        font_files=[str(path) for path in sorted(FONTS.glob("*.ttf"))],
        font_family="DejaVu Sans Mono",
        monospace_family="DejaVu Sans Mono",
    )
    return bytes(data)
