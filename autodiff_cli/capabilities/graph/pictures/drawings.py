"""Drawn pictures: SVG, PNG by resvg, PDF by matplotlib, and TikZ."""

import io
import re
import warnings
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any, get_args

from ....errors import limit_error, require
from ....show.characters import Theme, escaped
from ....show.rendering import NOTEBOOK, css_variables, themed_css, web_file
from ..graph import Picture
from . import scene
from .scene import (
    DEFAULT_CHOICES,
    Box,
    BoxKind,
    Choices,
    Colors,
    Label,
    Piece,
    Shape,
    coordinate,
    description,
    title,
)

FAMILY = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"
# Pixels of a PNG per unit of the SVG, unless it is large.
DEFAULT_SCALE = 2.0
# Pixels above which the scale goes down to 1, and below.
AMPLE_PIXELS, MAX_PIXELS = 20e6, 100e6
# The most pixels on a side.
MAX_SIDE_PIXELS = 120_000
# At a smaller scale nothing could be read.
MIN_SCALE = 0.75
# Points of a side: readers of PDF show no larger pages.
MAX_PDF_SIDE = 14_400.0

# All but Latin, Greek and Cyrillic letters and mathematical signs, which the font has.
_OTHER = re.compile(
    "[^\n -~\u00a0-\u017f\u0370-\u0373\u0376\u0377\u037b-\u037f\u0384-\u03ff"
    "\u0400-\u045f\u1d00-\u1dbf\u1e00-\u1eff\u2010-\u2027\u2070-\u209c\u2100-\u214f\u2190-\u22ff]"
)

FONTS = Path(__file__).parent / "fonts"
# CSS classes of kinds of text; the others have none.
CLASSES = {"word": "faint", "note": "faint", "partial": "partial"}
CROSS, DOT = r" \times ", r"{\cdot}"


def svg(picture: Picture, choices: Choices = DEFAULT_CHOICES, css: str | None = None) -> str:
    """Return the picture as SVG, with the CSS of its theme unless it is given. Raises
    `ExpressionError` (`limit`).
    """
    drawn = scene.scene(picture, choices)
    width, height = drawn.width, drawn.height
    scale = 1.0 if choices.width is None else choices.width / width
    if choices.live:
        scale = min(1.0, max(scene.MAX_LIVE_WIDTH / width, scene.LEGIBLE_LIVE / scene.FONT))
    if choices.narrow:
        scale = 1.0
    # a chosen theme has its own CSS class, to share a page with others
    theme = "autodiff" if choices.theme == "auto" else f"autodiff {choices.theme}"
    theme += " narrow" if choices.narrow else ""
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {coordinate(width)}'
            f' {coordinate(height)}" {_numbers(width=width * scale, height=height * scale)}'
            f' role="img" class="{theme}" xml:space="preserve">'
        ),
        f"<title>{escape(title(picture))}</title>",
        f"<desc>{escape(description(picture, drawn.choices))}</desc>",
    ]
    css = style(choices.theme, choices.partials) if css is None else css
    lines += [] if choices.live else [f"<style>{css}</style>"]
    lines.append('<rect class="paper" width="100%" height="100%"/>')
    lines.append(
        f'<g transform="translate({coordinate(scene.MARGIN)} {coordinate(scene.MARGIN)})">'
    )
    lines += map(_shape, drawn.lines)
    for index, shapes in enumerate(drawn.nodes):
        lines += [f'<g data-node="{index}">', *map(_shape, shapes), "</g>"]
    return "\n".join([*lines, "</g>", "</svg>\n"])


def _numbers(**numbers: float) -> str:
    return " ".join([f'{name}="{coordinate(x)}"' for name, x in numbers.items()])


def _shape(shape: Shape) -> str:
    if isinstance(shape, Label):
        kind = CLASSES.get(shape.kind, "")
        styled = f'class="{kind}" ' if kind else ""
        styled += f'data-cell="{shape.word}" ' if shape.word else ""
        numbers = _numbers(x=shape.x, y=shape.y + scene.BASELINE, textLength=shape.width)
        return (
            f'<text {styled}{numbers} lengthAdjust="spacingAndGlyphs">{escape(shape.text)}</text>'
        )
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
        light, dark = color_rules(scene.LIGHT, partials), color_rules(scene.DARK, partials)
        return f"{shapes()}{light}@media (prefers-color-scheme:dark){{{dark}}}"
    colors = scene.DARK if theme == "dark" else scene.LIGHT
    return shapes() + color_rules(colors, partials, f".autodiff.{theme}")


def svg_in_notebook(picture: Picture, digits: int | None) -> str:
    """Return the picture as SVG within the HTML of an answer, in the theme of the notebook."""
    within = f"{NOTEBOOK} .autodiff"
    colors = Colors(*[f"var(--autodiff-{name})" for name in Colors._fields])
    themes = themed_css(
        within, css_variables(scene.LIGHT._asdict()), css_variables(scene.DARK._asdict())
    )
    return svg(picture, Choices(digits), themes + shapes() + color_rules(colors, within=within))


def shapes() -> str:
    """Return the CSS rules that all themes share."""
    return "".join(web_file("shapes.css", size=coordinate(scene.FONT), family=FAMILY).splitlines())


def color_rules(colors: Colors, partials: bool = False, within: str = ".autodiff") -> str:
    """Return the CSS rules of the colours."""
    rules = web_file("graph.css", within=within, **colors._asdict()).splitlines()
    # the last rule is that of local derivatives
    return "".join(rules if partials else rules[:-1])


def png(picture: Picture, choices: Choices = DEFAULT_CHOICES) -> bytes:
    """Return the picture as PNG. Raises `ExpressionError`."""
    message = "`--format png` needs the libraries of the extra `draw`"
    resvg_py = require(
        "resvg_py", "draw", message, "; the formats tree, dot, mermaid and svg need nothing"
    )
    theme: Theme = "dark" if choices.theme == "dark" else "light"
    text = svg(picture, choices._replace(theme=theme, width=None))
    match = re.search(r'width="([\d.]+)" height="([\d.]+)"', text)
    assert match
    width, height = float(match[1]), float(match[2])
    most = min(MAX_SIDE_PIXELS / max(width, height), (MAX_PIXELS / (width * height)) ** 0.5)
    ample = (AMPLE_PIXELS / (width * height)) ** 0.5
    if choices.width is None:
        scale = max(MIN_SCALE, min(DEFAULT_SCALE, max(1.0, ample), most))
    else:
        scale, most = choices.width / width, min(most, ample)
    if scale > most:
        excess = f"{width * scale:,.0f} by {height * scale:,.0f} pixels, too many for a PNG"
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


def pdf(picture: Picture, choices: Choices = DEFAULT_CHOICES) -> bytes:
    """Return the picture as a PDF file of one page."""
    drawn = scene.scene(picture, choices)
    points = scene.UNIT * (1.0 if choices.width is None else choices.width / drawn.width)
    width, height = drawn.width * points, drawn.height * points
    if max(width, height) > MAX_PDF_SIDE:
        raise limit_error(
            f"the picture would be {width / 72:,.0f} by {height / 72:,.0f} inches, too many for"
            " a PDF",
            "a smaller `--width`, or `--format svg`, which has no such limit",
        )
    message = "`--format pdf` needs the libraries of the extra `plot`"
    matplotlib = require(
        "matplotlib", "plot", message, "; the formats tree, dot, mermaid, svg and tikz need nothing"
    )
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure
    from matplotlib.transforms import Affine2D

    colors = scene.DARK if choices.theme == "dark" else scene.LIGHT
    settings: Any = {
        "pdf.fonttype": 42,
        "text.parse_math": False,
        "font.family": ["DejaVu Sans Mono", "DejaVu Sans"],
    }
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
        about = {
            "Title": title(picture),
            "Subject": description(picture, drawn.choices),
            "CreationDate": None,
            "Creator": None,
        }
        page.savefig(file, format="pdf", metadata=about)
    return file.getvalue()


def _add(page: Any, shape: Shape, colors: Colors, points: float, **style: Any) -> None:
    from matplotlib.patches import FancyBboxPatch, PathPatch
    from matplotlib.path import Path as Drawn

    if isinstance(shape, Label):
        faint = shape.kind in ("word", "note", "partial")
        behind = {"facecolor": colors.paper, "edgecolor": "none", "pad": 0.8}
        style |= {"fontsize": scene.FONT * points, "va": "baseline"}
        style["color"] = colors.faint if faint else colors.text
        style["bbox"] = behind if shape.kind == "partial" else None
        page.text(shape.x, shape.y + scene.BASELINE, shape.text, **style)
        return
    drawn = scene.SHAPE_STYLES[shape.kind]
    style |= {
        "linestyle": (0, (4, 3)) if shape.skipped else "solid",
        "facecolor": getattr(colors, drawn.fill, "none"),
        "edgecolor": getattr(colors, drawn.edge, "none"),
        "linewidth": drawn.width * points,
    }
    if isinstance(shape, Box):
        corner, rounded = (
            (shape.x, shape.y - shape.height / 2),
            f"round,pad=0,rounding_size={shape.round}",
        )
        page.add_artist(
            FancyBboxPatch(corner, shape.width, shape.height, boxstyle=rounded, **style)
        )
        return
    codes = {"M": Drawn.MOVETO, "L": Drawn.LINETO, "C": Drawn.CURVE4, "Z": Drawn.CLOSEPOLY}
    vertices: list[tuple[float, float]] = []
    kinds: list[Any] = []
    for command, *places in shape.pieces:
        vertices += places or [(0.0, 0.0)]
        kinds += [codes[command]] * max(1, len(places))
    page.add_artist(
        PathPatch(Drawn(vertices, kinds), fill=bool(drawn.fill), capstyle="butt", **style)
    )


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
        *(f"  {style}," for style in _tikz_styles(scale)),
        "]",
        *(
            rf"\definecolor{{graph {name}}}{{HTML}}{{{color[1:].upper()}}}"
            for name, color in colors
        ),
        rf"\path[use as bounding box{', fill=graph paper' if dark else ''}] {size};",
        rf"\begin{{scope}}[shift={{({coordinate(scene.MARGIN)},{coordinate(scene.MARGIN)})}}]",
        *map(_tikz_shape, drawn.shapes),
    ]
    return "\n".join([*lines, r"\end{scope}", r"\end{tikzpicture}"])


def _tikz_styles(scale: float) -> Iterator[str]:
    def points(units: float) -> str:
        return f"{units * scene.UNIT * scale:.4g}bp"

    font = rf"\fontsize{{{10 * scale:.4g}}}{{{12 * scale:.4g}}}\selectfont"
    yield f"graph text/.style={{inner sep=0, outer sep=0, text=graph text, font={font}}}"
    yield "graph word/.style={graph text, text=graph faint}"
    yield "graph partial/.style={graph word, fill=graph paper, inner sep=0.8bp}"
    yield (
        "graph line/.style={draw=graph line, line"
        f" width={points(scene.SHAPE_STYLES['line'].width)}}}"
    )
    yield (
        "graph rule/.style={draw=graph edge, line"
        f" width={points(scene.SHAPE_STYLES['rule'].width)}}}"
    )
    yield "graph head/.style={fill=graph line}"
    yield f"graph skipped/.style={{dash pattern=on {points(4)} off {points(3)}}}"
    for kind in get_args(BoxKind):
        fill, edge, width = scene.SHAPE_STYLES[kind]
        corners = f"rounded corners={points(12.9 if 'operation' in kind else 5)}"
        yield (
            f"graph {kind}/.style={{draw=graph {edge}, fill=graph {fill}, line"
            f" width={points(width)}, {corners}}}"
        )


def _tikz_shape(shape: Shape) -> str:
    if isinstance(shape, Label):
        return _tikz_text(shape)
    style = f"graph {shape.kind}{', graph skipped' if shape.skipped else ''}"
    if isinstance(shape, Box):
        top, right = shape.y - shape.height / 2, shape.x + shape.width
        return (
            rf"\path[{style}] {_tikz_place(shape.x, top)} rectangle"
            rf" {_tikz_place(right, top + shape.height)};"
        )
    return rf"\path[{style}] {' '.join(map(_tikz_piece, shape.pieces))};"


def _tikz_piece(piece: Piece) -> str:
    command, *places = piece
    written = [_tikz_place(*place) for place in places]
    if command == "C":
        return ".. controls {} and {} .. {}".format(*written)
    return {"M": "", "L": "-- ", "Z": "-- cycle"}[command] + "".join(written)


def _tikz_text(text: Label) -> str:
    from ....language.typesetting import name_latex, number_latex, text_latex

    style = (
        "word" if text.kind in ("word", "note") else "partial" if text.kind == "partial" else "text"
    )
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
        written = (
            rf"\texttt{{{text_latex(text.text)}}}"
            if text.kind == "operation"
            else text_latex(text.text)
        )
    return (
        rf"\node[graph {style}, anchor={anchor}] at {_tikz_place(x, text.y + scene.BASELINE)}"
        rf" {{{written}}};"
    )


def _tikz_place(x: float, y: float) -> str:
    return f"({coordinate(x)},{coordinate(y)})"
