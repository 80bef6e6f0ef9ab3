"""Pictures as PDF: the scene drawn by matplotlib, with selectable text."""

from __future__ import annotations

import io
import warnings
from typing import Any

from ...derivatives.graph import Picture
from ...errors import limit_error, require
from . import scene
from .scene import DEFAULT_CHOICES, Box, Choices, Colors, Shape, Text, title

MAX_SIDE = 14_400.0
"""Points of a side: readers of PDF show no larger pages."""


def pdf(picture: Picture, choices: Choices = DEFAULT_CHOICES) -> bytes:
    """Return the picture as a PDF file of one page."""
    drawn = scene.scene(picture, choices)
    points = scene.UNIT * (1.0 if choices.width is None else choices.width / drawn.width)
    width, height = drawn.width * points, drawn.height * points
    if max(width, height) > MAX_SIDE:
        raise limit_error(
            f"the picture would be {width / 72:,.0f} by {height / 72:,.0f} inches, too many for a PDF",
            "a smaller `--width`, or `--format svg`, which has no such limit",
        )
    message = "`--format pdf` needs the libraries of the extra `plot`"
    matplotlib = require("matplotlib", "plot", message, "; the formats tree, dot, mermaid, svg and tikz need nothing")
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure
    from matplotlib.transforms import Affine2D

    colors = scene.DARK if choices.theme == "dark" else scene.LIGHT
    settings: Any = {"pdf.fonttype": 42, "text.parse_math": False, "font.family": ["DejaVu Sans Mono", "DejaVu Sans"]}
    file = io.BytesIO()
    # from units below the top left corner to inches above the bottom left one
    inches = points / 72
    place = Affine2D().translate(scene.MARGIN, scene.MARGIN)
    place = place.scale(inches, -inches).translate(0, drawn.height * inches)
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        page = Figure(figsize=(width / 72, height / 72), facecolor=colors.paper)
        FigureCanvasPdf(page)
        for order, shape in enumerate(drawn.shapes):
            _add(page, shape, colors, points, transform=place + page.dpi_scale_trans, zorder=order)
        about = {"Title": title(picture), "Subject": drawn.description, "CreationDate": None, "Creator": None}
        page.savefig(file, format="pdf", metadata=about)
    return file.getvalue()


def _add(page: Any, shape: Shape, colors: Colors, points: float, **style: Any) -> None:
    from matplotlib.patches import FancyBboxPatch, PathPatch
    from matplotlib.path import Path as Drawn

    if isinstance(shape, Text):
        faint = shape.kind in ("word", "note", "partial")
        behind = {"facecolor": colors.paper, "edgecolor": "none", "pad": 0.8} if shape.kind == "partial" else None
        style |= {"fontsize": scene.FONT * points, "va": "baseline"}
        style["color"] = colors.faint if faint else colors.text
        page.text(shape.x, shape.y + scene.BASELINE, shape.text, bbox=behind, **style)
        return
    look = scene.LOOKS[shape.kind]
    style |= {
        "linestyle": (0, (4, 3)) if shape.skipped else "solid",
        "facecolor": getattr(colors, look.fill, "none"),
        "edgecolor": getattr(colors, look.edge, "none"),
        "linewidth": look.width * points,
    }
    if isinstance(shape, Box):
        corner, rounded = (shape.x, shape.y - shape.height / 2), f"round,pad=0,rounding_size={shape.round}"
        page.add_artist(FancyBboxPatch(corner, shape.width, shape.height, boxstyle=rounded, **style))
        return
    codes = {"M": Drawn.MOVETO, "L": Drawn.LINETO, "C": Drawn.CURVE4, "Z": Drawn.CLOSEPOLY}
    vertices: list[tuple[float, float]] = []
    kinds: list[Any] = []
    for command, *places in shape.pieces:
        vertices += places or [(0.0, 0.0)]
        kinds += [codes[command]] * max(1, len(places))
    page.add_artist(PathPatch(Drawn(vertices, kinds), fill=bool(look.fill), capstyle="butt", **style))
