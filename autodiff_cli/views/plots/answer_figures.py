"""Pictures of fits, runs of descent, and uncertainty budgets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...uncertainty.measured_value import concise, in_unit
from ..characters import on_one_line, shorten_end
from ..numerals import percent
from ..schema import Picture
from .figure import Palette, draw_dots, with_grid
from .frame import MAX_DOTS

if TYPE_CHECKING:
    from ...optimize.descend import DescentStep
    from ...optimize.fit import Fit
    from ...uncertainty.propagate import Propagation, Result

LOG_SCALE_RATIO = 100.0
"""The ratio of values from which their scale is logarithmic."""
MAX_DOTTED_STEPS = 40
"""The most steps of a descent that have a dot each."""
MAX_BARS = 20
MAX_OUTPUTS = 6


def fit_picture(answer: Fit) -> Picture:
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
            upper.fill_between(xs, low, high, color=palette.red, alpha=0.25, linewidth=0, label=label)
            upper.plot(xs, ys, color=palette.red, label="fit")
            _draw_predictions(upper, answer, palette, level)
        # a cloud would hide the fit: it is behind it then, and paler
        style: Any = {"markersize": 3, "alpha": 0.3, "zorder": 1} if len(observed) > MAX_DOTS else {}
        draw_dots(upper, (across, observed), (dx, dy), palette.blue, **style)
        upper.set_ylabel(answer.heading_of(answer.response))
        upper.legend(loc="best", fontsize=9)
        lower.axhline(0, color=palette.faint, linewidth=0.9)
        draw_dots(lower, (across, answer.residuals), ((), dy), palette.blue, labelled=False, **style)
        lower.set_ylabel("residual")
        lower.set_xlabel(f"fitted {answer.heading_of(answer.response)}" if others else answer.heading_of(predictor))
        for axes in (upper, lower):
            with_grid(axes, palette)

    units = {} if answer.units is None else answer.units["parameters"]
    parts = []
    for name, parameter in answer.parameters.items():
        estimate = f"{float(parameter.estimate):.6g}"
        written = estimate if parameter.error is None else concise(float(parameter.estimate), float(parameter.error))
        parts.append(f"{name} = {written.replace('-', '−')} {units.get(name) or ''}".rstrip())
    return Picture(draw, shorten_end(on_one_line(answer.text)), ", ".join(parts))


def _draw_predictions(axes: Any, answer: Fit, palette: Palette, level: str) -> None:
    (name,) = answer.predictors
    predictions = [(place.point[name], place) for place in answer.predictions if place.value is not None]
    predictions.sort(key=lambda prediction: prediction[0])
    if predictions:
        xs, ys = [x for x, _ in predictions], [place.value for _, place in predictions]
        axes.plot(xs, ys, "." if len(xs) == 1 else "", color=palette.violet, linestyle="-", linewidth=1.0)
    for attribute, alpha, label in (("prediction", 0.12, f"{level} prediction"), ("confidence", 0.18, None)):
        bands = [(x, *ends) for x, place in predictions if (ends := getattr(place, attribute)) is not None]
        if bands:
            xs, low, high = map(list, zip(*bands, strict=True))
            # a single place has bars, as a band of no width is not seen
            draw = axes.vlines if len(bands) == 1 else axes.fill_between
            draw(xs, low, high, label=label, color=palette.violet, alpha=alpha, linewidth=4 * (len(bands) == 1))


def loss_picture(rows: Sequence[DescentStep], best: int, title: str, caption: str, up: str) -> Picture:
    """Return the values over the steps, the `best` in a ring."""
    steps, values = [row.step for row in rows], [row.value for row in rows]

    def draw(page: Any, palette: Palette) -> None:
        axes = page.subplots()
        dots = {"marker": "o", "markersize": 3.5} if len(steps) <= MAX_DOTTED_STEPS else {}
        axes.plot(steps, values, color=palette.blue, label=up, **dots)
        if best in steps:
            ring = {"markerfacecolor": "none", "markeredgecolor": palette.red, "markersize": 10, "linestyle": "none"}
            axes.plot([best], [values[steps.index(best)]], "o", **ring, label=f"best: step {best:,}")
        if min(values) > 0 and max(values) > LOG_SCALE_RATIO * min(values):
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
        axes.set_xlabel("step")
        with_grid(axes, palette)
        axes.legend(loc="best", fontsize=9)

    return Picture(draw, title, caption)


def budget_picture(answer: Propagation) -> Picture:
    """Return the budgets as bars, with histograms of draws."""
    shown = answer.results[:MAX_OUTPUTS]

    def draw(page: Any, palette: Palette) -> None:
        across = 2 if answer.samples else 1
        bars = min(MAX_BARS, max(len(result.budget) for result in shown))
        page.set_size_inches(6.4 * (1.45 if answer.samples else 1), len(shown) * max(2.2, 1.4 + 0.3 * bars))
        grid = page.subplots(len(shown), across, squeeze=False)
        for row, result in zip(grid, shown, strict=True):
            _bars(row[0], result, palette)
            if result.drawn is not None:
                _histogram(row[1], result, palette)

    caption = ""
    if len(shown) == 1:
        unit = "" if answer.units is None else f" {answer.units['results'][0]['value']}".rstrip()
        caption = f"{in_unit(shown[0].interval, unit)}, for {percent(shown[0].level)}"
    return Picture(draw, shorten_end(on_one_line(answer.text)), caption)


def _bars(axes: Any, result: Result, palette: Palette) -> None:
    ranked = sorted(result.budget.items(), key=lambda item: -item[1].contribution)[:MAX_BARS]
    names = [*(name for name, _ in ranked), "combined"]
    sizes = [*(share.contribution for _, share in ranked), result.uncertainty]
    colors = [*(palette.blue if share.sensitivity >= 0 else palette.red for _, share in ranked), palette.ink]
    places = list(range(len(names), 0, -1))
    axes.barh(places, sizes, color=colors, height=0.62)
    for place, size, (_, share) in zip(places, sizes, ranked, strict=False):
        if share.share is not None:
            style = {"va": "center", "fontsize": 8, "color": palette.ink, "annotation_clip": False}
            axes.annotate(f" {100 * share.share:.3g} %", (size, place), **style)
    axes.set_yticks(places, names)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, (max(sizes) or 1.0) * 1.18)
    axes.set_xlabel(f"contribution to the standard uncertainty of {shorten_end(result.output, 40)}", fontsize=9)
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
    for x, label in zip(draws.shortest, (f"{percent(result.level)} of the draws", None), strict=True):
        axes.axvline(x, color=palette.green, linewidth=1.3, label=label)
    axes.set_ylim(0, None)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(shorten_end(result.output, 40), fontsize=9, color=palette.faint)
    axes.legend(loc="best", fontsize=8, frameon=True, framealpha=0.85, edgecolor="none")
