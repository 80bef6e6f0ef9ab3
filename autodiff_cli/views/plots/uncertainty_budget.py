"""Uncertainty budgets as SVG, PNG or PDF: what each input contributes, and what draws give beside the normal curve."""

from __future__ import annotations

import math
from typing import Any

from ...uncertainty.measured_value import in_unit
from ...uncertainty.propagate import Propagation, Result
from ..characters import Theme, shortened
from .figure import Palette, drawn

MOST_BARS = 20
MOST_OUTPUTS = 6


def budget_figure(answer: Propagation, format: str, title: str, theme: Theme = "auto") -> bytes:
    """The budget of each output as bars, with its histogram where there are draws, as the content of a file."""
    shown = answer.results[:MOST_OUTPUTS]

    def draw(page: Any, palette: Palette) -> None:
        across = 2 if answer.samples else 1
        bars = min(MOST_BARS, max(len(result.budget) for result in shown))
        page.set_size_inches(6.4 * (1.45 if answer.samples else 1), len(shown) * max(2.2, 1.4 + 0.3 * bars))
        grid = page.subplots(len(shown), across, squeeze=False)
        for row, result in zip(grid, shown, strict=True):
            _bars(row[0], result, palette)
            if result.drawn is not None:
                _histogram(row[1], result, palette)

    caption = ""
    if len(shown) == 1:
        unit = "" if answer.units is None else f" {answer.units['results'][0]['value']}".rstrip()
        caption = f"{in_unit(shown[0].interval, unit)}, for {100 * shown[0].level:.4g} %"
    return drawn(draw, format, title, caption, theme)


def _bars(axes: Any, result: Result, palette: Palette) -> None:
    """Draw the contribution of each input, the largest on top."""
    ranked = sorted(result.budget.items(), key=lambda item: -item[1].contribution)
    largest = ranked[:MOST_BARS]
    names = [name for name, _ in largest] + ["combined"]
    sizes = [share.contribution for _, share in largest] + [result.uncertainty]
    colors = [palette.blue if share.sensitivity >= 0 else palette.red for _, share in largest] + [palette.ink]
    places = range(len(names), 0, -1)
    axes.barh(list(places), sizes, color=colors, height=0.62)
    for place, size, (_, share) in zip(places, sizes, largest, strict=False):
        if share.share is not None:
            axes.annotate(
                f" {100 * share.share:.3g} %",
                (size, place),
                va="center",
                fontsize=8,
                color=palette.ink,
                annotation_clip=False,
            )
    axes.set_yticks(list(places), names)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, (max(sizes) or 1.0) * 1.18)
    axes.set_xlabel(f"contribution to the standard uncertainty of {shortened(result.output, 40)}", fontsize=9)
    axes.grid(axis="x", color=palette.grid, linewidth=0.7)
    axes.set_axisbelow(True)
    for color, label in ((palette.blue, "raises the result"), (palette.red, "lowers it")):
        if color in colors:
            axes.plot([], [], "s", color=color, label=label)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 0.98), ncol=2, fontsize=8, borderpad=0)


def _histogram(axes: Any, result: Result, palette: Palette) -> None:
    """The draws, the normal curve of the first order over them, and both coverage intervals."""
    drawn_result = result.drawn
    assert drawn_result is not None
    total = sum(drawn_result.counts) or 1
    widths = [b - a for a, b in zip(drawn_result.edges, drawn_result.edges[1:], strict=False)]
    heights = [n / total / w if w > 0 else 0.0 for n, w in zip(drawn_result.counts, widths, strict=True)]
    axes.stairs(heights, drawn_result.edges, fill=True, color=palette.pale, label="draws")
    if result.uncertainty > 0:
        low = min(drawn_result.edges[0], result.value - 4 * result.uncertainty)
        high = max(drawn_result.edges[-1], result.value + 4 * result.uncertainty)
        xs = [low + (high - low) * i / 200 for i in range(201)]
        scale = result.uncertainty * math.sqrt(2 * math.pi)
        ys = [math.exp(-(((x - result.value) / result.uncertainty) ** 2) / 2) / scale for x in xs]
        axes.plot(xs, ys, color=palette.ink, linewidth=1.3, label="first order, normal")
        for x in (result.value - result.expanded, result.value + result.expanded):
            axes.axvline(x, color=palette.ink, linewidth=0.9, linestyle=(0, (5, 3)))
    for k, x in enumerate(drawn_result.shortest):
        axes.axvline(
            x, color=palette.green, linewidth=1.3, label=None if k else f"{100 * result.level:.3g} % of the draws"
        )
    axes.set_ylim(0, None)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(shortened(result.output, 40), fontsize=9, color=palette.faint)
    axes.legend(loc="best", fontsize=8, frameon=True, framealpha=0.85, edgecolor="none")
