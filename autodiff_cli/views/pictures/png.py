"""The picture as PNG: the SVG of one theme, drawn by resvg with the font that comes along."""

from __future__ import annotations

import re
from pathlib import Path

from ...derivatives.graph import Picture
from ...errors import ExpressionError, needed
from ..characters import Theme
from .cells import USUAL, Choices
from .svg import svg

SCALE = 2.0
"""Pixels to a unit of the SVG, unless the picture is large."""

AMPLE, MOST = 20e6, 100e6
"""Pixels above which the scale goes down to 1 and no width may be asked for, and above which it goes down further."""

SIDE = 120_000
"""The most pixels on a side."""

SMALLEST = 0.75
"""At a smaller scale nothing could be read."""

# What the font lacks: it holds Latin, Greek and Cyrillic letters and mathematical signs.
_OTHER = re.compile(
    "[^\n -~\u00a0-\u017f\u0370-\u0373\u0376\u0377\u037b-\u037f\u0384-\u03ff"
    "\u0400-\u045f\u1d00-\u1dbf\u1e00-\u1eff\u2010-\u2027\u2070-\u209c\u2100-\u214f\u2190-\u22ff]"
)

FONTS = Path(__file__).parent / "fonts"


def png(picture: Picture, choices: Choices = USUAL) -> bytes:
    """The picture as a PNG file. Raises `ExpressionError` where the libraries of `draw` are not installed.

    Characters that the font lacks are drawn in one of the system's fonts, if there are any.
    """
    message = "`--format png` needs the libraries of the extra `draw`"
    resvg_py = needed("resvg_py", "draw", message, "; the formats tree, dot, mermaid and svg need nothing")
    theme: Theme = "dark" if choices.theme == "dark" else "light"
    text = svg(picture, choices._replace(theme=theme, width=None))
    match = re.search(r'width="([\d.]+)" height="([\d.]+)"', text)
    assert match
    width, height = float(match[1]), float(match[2])
    most = min(SIDE / max(width, height), (MOST / (width * height)) ** 0.5)
    if choices.width is None:
        scale = min(SCALE, max(1.0, (AMPLE / (width * height)) ** 0.5), most)
        excess = (
            "" if scale >= SMALLEST else f"{width:,.0f} by {height:,.0f} units, too many for a PNG that can be read"
        )
    else:
        scale = choices.width / width
        most = min(most, (AMPLE / (width * height)) ** 0.5)
        excess = "" if scale <= most else f"{width * scale:,.0f} by {height * scale:,.0f} pixels, too many for a PNG"
    if excess:
        raise ExpressionError("limit", f"the picture would be {excess}", hint="`--format svg` has no such limit")
    data = resvg_py.svg_to_bytes(
        svg_string=text,
        zoom=scale,
        # the same picture on every machine, as long as the font has all that is written
        skip_system_fonts=not _OTHER.search(text),
        font_files=[str(path) for path in sorted(FONTS.glob("*.ttf"))],
        font_family="DejaVu Sans Mono",
        monospace_family="DejaVu Sans Mono",
    )
    return bytes(data)
