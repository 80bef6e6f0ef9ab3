"""Fits as SVG, PNG or PDF: the data, the curve with its confidence band, and the residuals below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...optimize.fit import Fit
from ..characters import Theme
from .figure import Palette, drawn

MOST = 5_000
"""The most rows that have a dot each; of more rows, hidden dots are left out."""

CELLS = 100
"""In how many columns and rows of cells, each with one dot at most, a picture of more is divided: a dot is as wide."""


def fit_figure(answer: Fit, format: str, title: str, theme: Theme = "auto") -> bytes:
    """The fit over its predictor, or with several beside the observed values, as the content of a file."""
    observed = answer.columns[answer.response]
    single = len(answer.predictors) == 1
    across = answer.columns[answer.predictors[0]] if single else answer.fitted

    def draw(page: Any, palette: Palette) -> None:
        page.set_size_inches(6.4, 5.6)
        upper, lower = page.subplots(2, 1, sharex=True, height_ratios=(3, 1.3))
        if single and answer.curve:
            xs, ys, wide = zip(*answer.curve, strict=True)
            low = [y - w for y, w in zip(ys, wide, strict=True)]
            high = [y + w for y, w in zip(ys, wide, strict=True)]
            band = f"{100 * answer.level:.3g} % confidence"
            upper.fill_between(xs, low, high, color=palette.red, alpha=0.25, linewidth=0, label=band)
            upper.plot(xs, ys, color=palette.red, label="fit")
        elif not single:
            ends = [min(across), max(across)]
            upper.plot(ends, ends, color=palette.red, label="as fitted")
        shown = in_sight(across, observed)
        label = "data" if len(shown) == len(observed) else f"data ({len(shown):,} of {len(observed):,} drawn)"
        # a cloud would hide the fit: it is behind it then, and paler
        dots = {"color": palette.blue, "markersize": 4, "alpha": 0.8}
        if len(observed) > MOST:
            dots |= {"markersize": 3, "alpha": 0.3, "zorder": 1}
        upper.plot([across[k] for k in shown], [observed[k] for k in shown], "o", **dots, label=label)
        upper.set_ylabel(answer.response)
        upper.legend(loc="best", fontsize=9)
        lower.axhline(0, color=palette.faint, linewidth=0.9)
        shown = in_sight(across, answer.residuals)
        lower.plot([across[k] for k in shown], [answer.residuals[k] for k in shown], "o", **dots)
        lower.set_ylabel("residual")
        lower.set_xlabel(answer.predictors[0] if single else f"fitted {answer.response}")
        for axes in (upper, lower):
            axes.grid(color=palette.grid, linewidth=0.7)
            axes.set_axisbelow(True)

    caption = ", ".join(f"{name} = {float(each.estimate):.6g}" for name, each in answer.parameters.items())
    return drawn(draw, format, title, caption if len(caption) <= 90 else "", theme)


def in_sight(xs: Sequence[float], ys: Sequence[float]) -> list[int]:
    """Which of so many dots are drawn: all, or of too many the first in each cell, so that none far out is missing."""
    if len(xs) <= MOST:
        return [*range(len(xs))]
    columns, rows = _cells(xs), _cells(ys)
    first: dict[tuple[int, int], int] = {}
    for k, cell in enumerate(zip(columns, rows, strict=True)):
        first.setdefault(cell, k)
    return [*first.values()]


def _cells(numbers: Sequence[float]) -> list[int]:
    """In which of the cells, from the lowest to the highest, each number is."""
    low, high = min(numbers), max(numbers)
    size = (high / CELLS - low / CELLS) or 1.0
    return [min(int(x / size - low / size), CELLS - 1) for x in numbers]
