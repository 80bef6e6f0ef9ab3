"""Plots, fits, descents and budgets as SVG, PNG or PDF, by matplotlib."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from ...questions.measured_value import concise, plus_minus
from ...show.characters import on_one_line, shorten_end
from ...show.numerals import level_digits, percent
from ...show.picture_look import Legend, PictureLook
from ...show.schema import PlotPage
from .contours import Surface, refine_surface
from .frame import (
    MAX_DOTS,
    RAISED,
    ROWS,
    PlotLine,
    arrow,
    axis_of,
    curve_lines,
    in_sight,
    library,
    one_panel,
    panels,
    path_of,
    rows_of,
    with_gaps,
)
from .implicit import ImplicitPlot
from .plot import Curve
from .sampling import Stretch

if TYPE_CHECKING:
    from ..optimize.descend import DescentStep
    from ..optimize.fit import Fit
    from ..propagate.propagate import Propagation, Result

# The most labels of contours times their lines.
MAX_LABELS_TIMES_LINES = 3_000
# The share of a side where no contour is labelled.
EDGE_SHARE = 0.07
_AFTER = "+-−*/·=,"
# The most lines of a title.
MAX_TITLE_LINES = 6
# The ratio of values from which their scale is logarithmic.
LOG_SCALE_RATIO = 100.0
# The most steps of a descent that have a dot each.
MAX_DOTTED_STEPS = 40
# The length of a logarithmic axis with ticks between powers of ten.
MAX_DECADES_OF_MANY_TICKS = 2.5
# The most powers of ten that have a tick each.
MAX_POWERS = 14
# The characters of a legend above the axes, in a line.
MAX_LEGEND_CHARACTERS = 80
# The most functions side by side.
MAX_BESIDE = 3
# The inches of each.
WIDTH_BESIDE, HEIGHT_BESIDE = 4.4, 3.8
DEFAULT_LOOK = PictureLook()
MAX_BARS = 20
MAX_OUTPUTS = 6


class Palette(NamedTuple):
    """The colours of a theme; those of the light one by default."""

    paper: str = "#ffffff"
    ink: str = "#222222"
    faint: str = "#8a8a8a"
    grid: str = "#e6e6e6"
    hidden: str = "#eeeeee"
    blue: str = "#2a62a8"
    red: str = "#b5402c"
    green: str = "#3c7d3e"
    violet: str = "#7b3fa0"
    brown: str = "#8a6100"
    pale: str = "#c9d8ea"
    contours: tuple[float, float] = (0.0, 0.9)


LIGHT = Palette()
DARK = Palette(
    *("#0f172a", "#f1f5f9", "#8595ab", "#25334d", "#1e293b"),
    *("#7ab0f5", "#f0907d", "#7fcf86", "#c99bf2", "#e0b45c", "#274266"),
    (0.3, 1.0),
)


SETTINGS: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    # text stays text, in the reader's font, and equal pictures give equal bytes
    "svg.fonttype": "none",
    "svg.hashsalt": "autodiff",
    "text.parse_math": False,
    "pdf.fonttype": 42,
}


def draw_file(picture: PlotPage, format: str, look: PictureLook = DEFAULT_LOOK) -> bytes:
    """Return the content of a file with a picture."""
    theme = look.theme
    palette = DARK if theme == "dark" else LIGHT
    matplotlib = library("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    colors: dict[str, Any] = {"axes.edgecolor": palette.faint}
    colors |= {
        f"{part}.facecolor": palette.paper for part in ("figure", "axes", "legend", "savefig")
    }
    colors |= dict.fromkeys(
        ("axes.labelcolor", "text.color", "xtick.color", "ytick.color"), palette.ink
    )
    with matplotlib.rc_context(SETTINGS | colors), warnings.catch_warnings():
        # a letter that the font lacks is drawn as a box
        warnings.simplefilter("ignore", UserWarning)
        page = Figure(figsize=(6.4, 4.4), layout="constrained")
        FigureCanvasAgg(page)
        picture.draw(page, palette)
        _fit(page.suptitle(picture.title, fontsize=11, color=palette.ink))
        if picture.caption:
            _fit(page.supxlabel(picture.caption, fontsize=9, color=palette.faint))
        _fit_page(page, look)
        file = io.BytesIO()
        metadata: Any = {"Date": None, "Creator": None} if format == "svg" else {"Software": None}
        if format == "pdf":
            metadata = {
                "Title": picture.title,
                "Subject": picture.caption,
                "CreationDate": None,
                "Creator": None,
            }
        page.savefig(file, format=format, dpi=_dots_per_inch(look), metadata=metadata)
    if format != "svg":
        return file.getvalue()
    # in pixels: not every program can read points
    svg = re.sub(
        rb'\b(width|height)="([\d.]+)pt"',
        lambda match: b'%b="%d"' % (match[1], round(float(match[2]) * 4 / 3)),
        file.getvalue(),
        count=2,
    )
    if theme != "auto":
        return svg
    # the light drawing, with the colours of the dark one where that is preferred
    changed = dict(zip(_tints(picture.levels, LIGHT), _tints(picture.levels, DARK), strict=True))
    changed |= dict(zip(LIGHT[:-1], DARK[:-1], strict=True))
    pairs = [
        (one.encode(), other.encode()) for one, other in sorted(changed.items()) if one != other
    ]
    rules = b"".join(
        b'[style*="%b: %b"]{%b:%b!important}' % (what, one, what, other)
        for one, other in pairs
        for what in (b"fill", b"stroke")
        if b"%b: %b" % (what, one) in svg
    )
    return svg.replace(
        b"</defs>", b"</defs>\n <style>@media (prefers-color-scheme:dark){%b}</style>" % rules, 1
    )


def _dots_per_inch(look: PictureLook) -> int:
    return 96 if look.size is not None and look.size.in_pixels else 150


def _fit_page(page: Any, look: PictureLook) -> None:
    """Place the legends, and cut the height of the page to what is drawn unless its size is
    chosen.
    """
    if look.size is not None:
        page.set_size_inches(look.size.width, look.size.height)
    page.draw_without_rendering()
    for axes in page.axes:
        if axes.get_legend() is not None:
            _place_legend(axes, look.legend)
    page.draw_without_rendering()
    if look.size is None:
        width, height = page.get_size_inches()
        free = min(
            axes.get_position(original=True).height - axes.get_position().height
            for axes in page.axes
        )
        page.set_size_inches(width, height * (1 - max(free, 0.0)))


def _place_legend(axes: Any, where: Legend) -> None:
    legend = axes.get_legend()
    if where == "none":
        legend.remove()
    elif where == "outside" or (where == "best" and _hides(legend, axes)):
        # above the axes, in as many columns as fit
        handles, labels = axes.get_legend_handles_labels()
        columns = max(1, min(len(labels), MAX_LEGEND_CHARACTERS // max(map(len, labels))))
        place: Any = {
            "loc": "lower left",
            "bbox_to_anchor": (0, 1),
            "ncol": columns,
            "borderaxespad": 0.2,
        }
        axes.legend(handles, labels, fontsize=9, **place)
    elif where != "best":
        legend.set_loc(where.replace("-", " "))


def _hides(legend: Any, axes: Any) -> bool:
    """Return whether a legend stands on a curve, a dot or a band."""
    box = legend.get_window_extent()
    lines = [
        line for line in axes.lines if line.get_linestyle() != "None" or line.get_marker() != "None"
    ]
    if any(
        line.get_path().transformed(line.get_transform()).intersects_bbox(box, filled=False)
        for line in lines
    ):
        return True
    for collection in axes.collections:
        for path in collection.get_paths():
            if collection.get_transform().transform_path(path).intersects_bbox(box, filled=True):
                return True
    return False


def _fit(line: Any) -> None:
    left, room = line.get_text(), 0.98 * line.figure.bbox.width
    lines: list[str] = []

    def fits(text: str) -> bool:
        line.set_text(text)
        return bool(line.get_window_extent().width <= room)

    while left:
        count = len(left)
        while not fits(left[:count]) and count > 1:
            count = max(1, min(count - 1, int(count * room / line.get_window_extent().width)))
        if len(lines) == MAX_TITLE_LINES - 1 and count < len(left):
            lines.append(shorten_end(left, count))
            break
        if count < len(left):
            places = range(count, count // 2, -1)
            count = next((k for k in places if left[k] == " " and left[k - 1] not in _AFTER), count)
        lines.append(left[:count].strip())
        left = left[count:].strip()
    line.set_text("\n".join(lines))


def _tints(levels: Sequence[float], palette: Palette) -> list[str]:
    if len(levels) < 2:
        return []
    import matplotlib
    import numpy
    from matplotlib.colors import BoundaryNorm, ListedColormap, to_hex

    scale = ListedColormap(matplotlib.colormaps["viridis"](numpy.linspace(*palette.contours, 256)))
    places: Any = BoundaryNorm(levels, 256, extend="both")(levels)
    return [to_hex(color) for color in scale(places)]


def draw_curve(
    page: Any,
    palette: Palette,
    curve: Curve,
    names: Sequence[str],
    kinked: bool,
    apart: bool = False,
) -> None:
    """Draw a function with its derivatives, see `panels`, or several functions, perhaps side by
    side.
    """
    parts = panels(curve, names, kinked)
    if apart and len(curve.outputs) > 1:
        parts = [one_panel(curve, k, name) for k, name in enumerate(names)]
        rows, columns = -(-len(parts) // MAX_BESIDE), min(len(parts), MAX_BESIDE)
        page.set_size_inches(WIDTH_BESIDE * columns, HEIGHT_BESIDE * rows)
        places = list(page.subplots(rows, columns, squeeze=False).flat)
        for axes in places[len(parts) :]:
            axes.remove()
        grid = places[: len(parts)]
    elif len(parts) == 1:
        grid = [page.subplots()]
    else:
        page.set_size_inches(6.4, 5.6)
        grid = page.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for axes, (_, series) in zip(grid, parts, strict=True):
        _series(axes, series, palette, curve)
    for axes, (frame, _) in zip(grid, parts, strict=True):
        up = ("y", axes.yaxis, axes.axhline, *frame)
        across = ("x", axes.xaxis, axes.axvline, curve.low, curve.high)
        for letter, axis, draw_line, low, high in (up, across):
            if letter in curve.log:
                axes.set(**{f"{letter}scale": "log"})
                _powers(axis, high / low)
            axes.set(**{f"{letter}lim": (low, high)})
            if low < 0 < high:
                draw_line(0, color=palette.faint, linewidth=0.9, zorder=1)
        with_grid(axes, palette)
        axes.legend(loc="best", fontsize=9)
    for axes in grid if apart else grid[-1:]:
        axes.set_xlabel(axis_of(curve, curve.variable))


def _series(
    axes: Any, series: Iterable[PlotLine], palette: Palette, plot: Curve | Surface | ImplicitPlot
) -> None:
    for style, pieces, label in series:
        color, options = style.color and getattr(palette, style.color), {**style.options}
        if "markerfacecolor" in options:
            options["markerfacecolor"] = palette.paper
        if style is ROWS and not isinstance(plot, ImplicitPlot) and (data := plot.data) is not None:
            draw_dots(axes, (data.x, data.y), (data.dx, data.dy), color, zorder=4)
        elif style.marker:
            xs, ys = zip(*chain(*pieces), strict=True)
            axes.plot(xs, ys, style.marker, color=color, label=label or None, **options)
        elif color:
            _pieces(axes, pieces, color, label, options)


def _pieces(
    axes: Any, pieces: Sequence[Any], color: str, label: str, options: Mapping[str, Any]
) -> None:
    """Draw the pieces of a line, and those of one point as dots."""
    line = with_gaps([piece for piece in pieces if len(piece) > 1])
    dots = [piece[0] for piece in pieces if len(piece) == 1]
    if line:
        axes.plot(
            *zip(*line, strict=True),
            color=color,
            label=label,
            **{"solid_capstyle": "butt", **options},
        )
    if dots:
        axes.plot(
            *zip(*dots, strict=True), ".", color=color, label=None if line else label, markersize=5
        )


def _powers(axis: Any, ratio: float) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    def label(x: float, _: object) -> str:
        if 1e-4 < x < 1e5 or x <= 0:
            return f"{x:g}"
        mantissa, exponent = f"{x:.2e}".split("e")
        power = f"10{str(int(exponent)).translate(RAISED)}"
        return power if float(mantissa) == 1 else f"{float(mantissa):g}·{power}"

    axis.set_major_formatter(FuncFormatter(label))
    axis.set_minor_formatter(NullFormatter())
    decades = math.log10(ratio)
    if decades < MAX_DECADES_OF_MANY_TICKS:
        # between powers of ten as many ticks with numbers as fit
        digits = (
            (1, 2, 3, 4, 5, 6, 7, 8, 9)
            if decades < 1
            else (1, 2, 3, 5)
            if decades < 1.5
            else (1, 2, 5)
        )
        axis.set_major_locator(LogLocator(subs=digits, numticks=30))
    else:
        axis.set_major_locator(LogLocator(numticks=MAX_POWERS))
        axis.set_minor_locator(LogLocator(subs="auto", numticks=MAX_POWERS))


def with_grid(axes: Any, palette: Palette, direction: str = "both") -> None:
    """Draw a grid behind everything else."""
    axes.grid(axis=direction, color=palette.grid, linewidth=0.7)
    axes.set_axisbelow(True)


def draw_contours(page: Any, palette: Palette, surface: Surface, kinked: bool) -> None:
    """Draw contours, and the gradient at the point, perhaps a kink."""
    import numpy

    axes = page.subplots()
    width, height = surface.x[-1] - surface.x[0], surface.y[-1] - surface.y[0]
    across, up, z = refine_surface(surface)
    heights = numpy.ma.masked_invalid(z)
    if len(surface.levels) > 1:
        lines = axes.contour(
            across,
            up,
            heights,
            levels=surface.levels,
            colors=_tints(surface.levels, palette),
            linewidths=1.1,
        )
        places = _labels(
            lines.allsegs, (surface.x[0], surface.x[-1]), (surface.y[0], surface.y[-1])
        )
        axes.clabel(
            lines,
            fontsize=7,
            fmt=f"%.{level_digits(surface.levels, 3)}g",
            inline=True,
            manual=places,
        )
    if numpy.ma.is_masked(heights):
        hidden = numpy.where(numpy.ma.getmaskarray(heights), 1.0, 0.0)
        axes.contourf(across, up, hidden, levels=[0.5, 1.5], colors=[palette.hidden], zorder=0)
        axes.plot([], [], "s", color=palette.hidden, label="undefined")
    _series(axes, [*path_of(surface, "", "red"), *rows_of(surface)], palette, surface)
    shaft: Sequence[Stretch] = arrow(surface)
    if surface.point is not None:
        if shaft:
            axes.annotate(
                "",
                xy=shaft[0][1],
                xytext=shaft[0][0],
                annotation_clip=False,
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": palette.green,
                    "linewidth": 2,
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
            )
            name = "gradient, by convention (a kink)" if kinked else "gradient (uphill)"
            axes.plot([], [], color=palette.green, linewidth=2, label=name)
        axes.plot(*surface.point, "o", color=palette.ink, markersize=6, zorder=6)
    axes.set_xlim(surface.x[0], surface.x[-1])
    axes.set_ylim(surface.y[0], surface.y[-1])
    if 1 / 3 < height / width < 3:
        # at equal scales the gradient stands at right angles to the contours
        axes.set_aspect("equal")
        page.set_size_inches(6.4, min(7.0, 5.5 * height / width + 1.2))
    else:
        page.set_size_inches(6.4, 5.2)
    axes.set_xlabel(axis_of(surface, surface.variables[0]))
    axes.set_ylabel(axis_of(surface, surface.variables[1]))
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="best", fontsize=9, frameon=True, framealpha=0.85, edgecolor="none")


def draw_implicit(page: Any, palette: Palette, plot: ImplicitPlot, names: Sequence[str]) -> None:
    """Draw the curves of equations, with the tangent at a point."""
    axes = page.subplots()
    _series(axes, curve_lines(plot, names), palette, plot)
    (left, right), (low, high) = plot.x, plot.y
    axes.set(xlim=plot.x, ylim=plot.y)
    if left < 0 < right:
        axes.axvline(0, color=palette.faint, linewidth=0.9, zorder=1)
    if low < 0 < high:
        axes.axhline(0, color=palette.faint, linewidth=0.9, zorder=1)
    ratio = (high - low) / (right - left)
    if 1 / 3 < ratio < 3:
        # a circle is round
        axes.set_aspect("equal")
        page.set_size_inches(6.4, min(7.0, 5.5 * ratio + 1.2))
    axes.set_xlabel(axis_of(plot, plot.variables[0]))
    axes.set_ylabel(axis_of(plot, plot.variables[1]))
    with_grid(axes, palette)
    axes.legend(loc="best", fontsize=9)


def _labels(
    levels: Any, across: tuple[float, float], up: tuple[float, float]
) -> list[tuple[float, float]]:
    import numpy

    places: list[tuple[float, tuple[float, float]]] = []
    low, high = numpy.array([across[0], up[0]]), numpy.array([across[1], up[1]])
    for level, lines in enumerate(levels):
        for line in lines:
            share = (line - low) / (high - low)
            inside = numpy.flatnonzero(
                (share > EDGE_SHARE).all(axis=1) & (share < 1 - EDGE_SHARE).all(axis=1)
            )
            steps = (
                numpy.hypot(*numpy.diff(share[inside], axis=0).T)
                if len(inside) > 1
                else numpy.zeros(1)
            )
            if steps.sum() > 2 * EDGE_SHARE:
                at = numpy.searchsorted(
                    steps.cumsum() / steps.sum(), 0.25 + 0.5 * (level * 0.618 % 1)
                )
                x, y = line[inside[min(int(at), len(inside) - 1)]]
                places.append((float(steps.sum()), (float(x), float(y))))
    places.sort(key=lambda entry: -entry[0])
    return [place for _, place in places[: MAX_LABELS_TIMES_LINES // max(1, sum(map(len, levels)))]]


def draw_dots(
    axes: Any,
    rows: Sequence[Sequence[float]],
    uncertainties: Sequence[Sequence[float]],
    color: str,
    *,
    labelled: bool = True,
    **style: Any,
) -> None:
    """Draw rows as dots, with bars unless there are too many."""
    (xs, ys), (dx, dy) = rows, uncertainties
    shown = in_sight(xs, ys)
    label = "data" if len(shown) == len(xs) else f"data ({len(shown):,} of {len(xs):,} drawn)"
    places = [xs[k] for k in shown], [ys[k] for k in shown]
    style = {"markersize": 4, "alpha": 0.8, "zorder": 2} | style
    axes.plot(*places, "o", color=color, label=label if labelled else None, **style)
    if (len(dx) or len(dy)) and len(xs) <= MAX_DOTS:
        xerr, yerr = (sizes if len(sizes) else None for sizes in (dx, dy))
        bars: Any = {"ecolor": color, "elinewidth": 0.9, "capsize": 2, "alpha": 0.8}
        axes.errorbar(
            *places, xerr=xerr, yerr=yerr, fmt="none", **bars, zorder=min(style["zorder"], 3)
        )


def fit_picture(answer: Fit) -> PlotPage:
    """Return the data, the curve with its band, and the residuals."""
    observed, sigma = answer.columns[answer.response], answer.sigma
    predictor, *others = answer.predictors
    across = answer.fitted if others else answer.columns[predictor]
    dy = sigma.get(answer.response, ())
    dx = sigma.get(predictor, ()) if len(dy) and not others else ()
    level = percent(answer.level)

    def draw(page: Any, palette: Palette) -> None:
        page.set_size_inches(6.4, 5.6)
        upper, lower = page.subplots(2, 1, sharex=True, height_ratios=(3, 1.3))
        if others:
            ends = [min(across), max(across)]
            upper.plot(ends, ends, color=palette.red, label="as fitted")
        elif answer.curve:
            xs, ys, wide = zip(*answer.curve, strict=True)
            low, high = ([y + sign * w for y, w in zip(ys, wide, strict=True)] for sign in (-1, 1))
            label = f"{level} confidence"
            upper.fill_between(
                xs, low, high, color=palette.red, alpha=0.25, linewidth=0, label=label
            )
            upper.plot(xs, ys, color=palette.red, label="fit")
            _draw_predictions(upper, answer, palette, level)
        # a cloud would hide the fit: it is behind it then, and paler
        style: Any = (
            {"markersize": 3, "alpha": 0.3, "zorder": 1} if len(observed) > MAX_DOTS else {}
        )
        draw_dots(upper, (across, observed), (dx, dy), palette.blue, **style)
        upper.set_ylabel(answer.heading_of(answer.response))
        upper.legend(loc="best", fontsize=9)
        lower.axhline(0, color=palette.faint, linewidth=0.9)
        draw_dots(
            lower, (across, answer.residuals), ((), dy), palette.blue, labelled=False, **style
        )
        lower.set_ylabel("residual")
        response, single = answer.heading_of(answer.response), answer.heading_of(predictor)
        lower.set_xlabel(f"fitted {response}" if others else single)
        for axes in (upper, lower):
            with_grid(axes, palette)

    units = {} if answer.units is None else answer.units["parameters"]
    parts = []
    for name, parameter in answer.parameters.items():
        estimate = f"{float(parameter.estimate):.6g}"
        written = estimate
        if parameter.error is not None:
            written = concise(float(parameter.estimate), float(parameter.error))
        parts.append(f"{name} = {written.replace('-', '−')} {units.get(name) or ''}".rstrip())
    return PlotPage(draw, shorten_end(on_one_line(answer.text)), ", ".join(parts))


def _draw_predictions(axes: Any, answer: Fit, palette: Palette, level: str) -> None:
    (name,) = answer.predictors
    predictions = [
        (place.point[name], place) for place in answer.predictions if place.value is not None
    ]
    predictions.sort(key=lambda prediction: prediction[0])
    if predictions:
        xs, ys = [x for x, _ in predictions], [place.value for _, place in predictions]
        axes.plot(
            xs, ys, "." if len(xs) == 1 else "", color=palette.violet, linestyle="-", linewidth=1.0
        )
    for attribute, alpha, label in (
        ("prediction", 0.12, f"{level} prediction"),
        ("confidence", 0.18, None),
    ):
        bands = [
            (x, *ends)
            for x, place in predictions
            if (ends := getattr(place, attribute)) is not None
        ]
        if bands:
            xs, low, high = map(list, zip(*bands, strict=True))
            # a single place has bars, as a band of no width is not seen
            draw = axes.vlines if len(bands) == 1 else axes.fill_between
            width = 4 * (len(bands) == 1)
            draw(xs, low, high, label=label, color=palette.violet, alpha=alpha, linewidth=width)


def loss_picture(
    rows: Sequence[DescentStep], best: int, title: str, caption: str, up: str
) -> PlotPage:
    """Return the values over the steps, the `best` in a ring."""
    steps, values = [row.step for row in rows], [row.value for row in rows]

    def draw(page: Any, palette: Palette) -> None:
        axes = page.subplots()
        dots = {"marker": "o", "markersize": 3.5} if len(steps) <= MAX_DOTTED_STEPS else {}
        axes.plot(steps, values, color=palette.blue, label=up, **dots)
        if best in steps:
            ring = {
                "markerfacecolor": "none",
                "markeredgecolor": palette.red,
                "markersize": 10,
                "linestyle": "none",
            }
            axes.plot(
                [best], [values[steps.index(best)]], "o", **ring, label=f"best: step {best:,}"
            )
        if min(values) > 0 and max(values) > LOG_SCALE_RATIO * min(values):
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
        axes.set_xlabel("step")
        with_grid(axes, palette)
        axes.legend(loc="best", fontsize=9)

    return PlotPage(draw, title, caption)


def budget_picture(answer: Propagation) -> PlotPage:
    """Return the budgets as bars, with histograms of draws."""
    shown = answer.results[:MAX_OUTPUTS]

    def draw(page: Any, palette: Palette) -> None:
        across = 2 if answer.samples else 1
        bars = min(MAX_BARS, max(len(result.budget) for result in shown))
        page.set_size_inches(
            6.4 * (1.45 if answer.samples else 1), len(shown) * max(2.2, 1.4 + 0.3 * bars)
        )
        grid = page.subplots(len(shown), across, squeeze=False)
        for row, result in zip(grid, shown, strict=True):
            _bars(row[0], result, palette)
            if result.drawn is not None:
                _histogram(row[1], result, palette)

    caption = ""
    if len(shown) == 1:
        unit = "" if answer.units is None else f" {answer.units['results'][0]['value']}".rstrip()
        interval = plus_minus(float(shown[0].value), float(shown[0].expanded), shown[0].k, unit)
        caption = f"{interval}, for {percent(shown[0].level)}"
    return PlotPage(draw, shorten_end(on_one_line(answer.text)), caption)


def _bars(axes: Any, result: Result, palette: Palette) -> None:
    ranked = sorted(result.budget.items(), key=lambda item: -item[1].contribution)[:MAX_BARS]
    names = [*(name for name, _ in ranked), "combined"]
    sizes = [*(share.contribution for _, share in ranked), result.uncertainty]
    colors = [
        *(palette.blue if share.sensitivity >= 0 else palette.red for _, share in ranked),
        palette.ink,
    ]
    places = list(range(len(names), 0, -1))
    axes.barh(places, sizes, color=colors, height=0.62)
    for place, size, (_, share) in zip(places, sizes, ranked, strict=False):
        if share.share is not None:
            style = {"va": "center", "fontsize": 8, "color": palette.ink, "annotation_clip": False}
            axes.annotate(f" {100 * share.share:.3g} %", (size, place), **style)
    axes.set_yticks(places, names)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, (max(sizes) or 1.0) * 1.18)
    output = shorten_end(result.output, 40)
    axes.set_xlabel(f"contribution to the standard uncertainty of {output}", fontsize=9)
    with_grid(axes, palette, "x")
    for color, label in ((palette.blue, "raises the result"), (palette.red, "lowers it")):
        if color in colors:
            axes.plot([], [], "s", color=color, label=label)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 0.98), ncol=2, fontsize=8, borderpad=0)


def _histogram(axes: Any, result: Result, palette: Palette) -> None:
    draws = result.drawn
    assert draws is not None
    total = sum(draws.counts) or 1
    widths = [b - a for a, b in zip(draws.edges, draws.edges[1:], strict=False)]
    heights = [n / total / w if w > 0 else 0.0 for n, w in zip(draws.counts, widths, strict=True)]
    axes.stairs(heights, draws.edges, fill=True, color=palette.pale, label="draws")
    if result.uncertainty > 0:
        low = min(draws.edges[0], result.value - 4 * result.uncertainty)
        high = max(draws.edges[-1], result.value + 4 * result.uncertainty)
        xs = [low + (high - low) * i / 200 for i in range(201)]
        scale = result.uncertainty * math.sqrt(2 * math.pi)
        ys = [math.exp(-(((x - result.value) / result.uncertainty) ** 2) / 2) / scale for x in xs]
        axes.plot(xs, ys, color=palette.ink, linewidth=1.3, label="first order, normal")
        for x in (result.value - result.expanded, result.value + result.expanded):
            axes.axvline(x, color=palette.ink, linewidth=0.9, linestyle=(0, (5, 3)))
    for x, label in zip(
        draws.shortest, (f"{percent(result.level)} of the draws", None), strict=True
    ):
        axes.axvline(x, color=palette.green, linewidth=1.3, label=label)
    axes.set_ylim(0, None)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(shorten_end(result.output, 40), fontsize=9, color=palette.faint)
    axes.legend(loc="best", fontsize=8, frameon=True, framealpha=0.85, edgecolor="none")
