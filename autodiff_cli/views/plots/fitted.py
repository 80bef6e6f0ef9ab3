"""Fits as SVG or PNG: the data, the curve with its confidence band, and the residuals below."""

from __future__ import annotations

from typing import Any

from ...questions.fit import Fit
from ..characters import Theme
from .figure import Palette, drawn


def fit_figure(answer: Fit, format: str, title: str, theme: Theme = "auto") -> bytes:
    """The fit over its predictor, or with several beside the observed values, as the content of a file."""
    observed = [a + b for a, b in zip(answer.fitted, answer.residuals, strict=True)]
    single = len(answer.predictors) == 1
    across = answer.columns[answer.predictors[0]] if single else answer.fitted

    def draw(page: Any, palette: Palette) -> None:
        page.set_size_inches(6.4, 5.6)
        upper, lower = page.subplots(2, 1, sharex=True, height_ratios=(3, 1.3))
        if single and answer.curve:
            xs, ys, wide = zip(*answer.curve, strict=True)
            low = [y - w for y, w in zip(ys, wide, strict=True)]
            high = [y + w for y, w in zip(ys, wide, strict=True)]
            told = f"{100 * answer.level:.3g} % confidence"
            upper.fill_between(xs, low, high, color=palette.red, alpha=0.25, linewidth=0, label=told)
            upper.plot(xs, ys, color=palette.red, label="fit")
        elif not single:
            ends = [min(across), max(across)]
            upper.plot(ends, ends, color=palette.red, label="as fitted")
        upper.plot(across, observed, "o", color=palette.blue, markersize=4, alpha=0.8, label="data")
        upper.set_ylabel(answer.response)
        upper.legend(loc="best", fontsize=9)
        lower.axhline(0, color=palette.faint, linewidth=0.9)
        lower.plot(across, answer.residuals, "o", color=palette.blue, markersize=4, alpha=0.8)
        lower.set_ylabel("residual")
        lower.set_xlabel(answer.predictors[0] if single else f"fitted {answer.response}")
        for axes in (upper, lower):
            axes.grid(color=palette.grid, linewidth=0.7)
            axes.set_axisbelow(True)

    caption = ", ".join(f"{name} = {float(each.estimate):.6g}" for name, each in answer.parameters.items())
    return drawn(draw, format, title, caption if len(caption) <= 90 else "", theme)
