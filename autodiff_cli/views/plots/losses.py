"""The values of a run of descent, step by step, as SVG, PNG or PDF."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..characters import Theme
from .figure import Palette, drawn

STEEP = 100.0
"""From which ratio of the largest to the smallest value on a logarithmic scale tells more."""

FEW = 40
"""The most steps that have a dot each."""


def loss_figure(
    steps: Sequence[int],
    values: Sequence[float],
    best: int,
    format: str,
    title: str,
    caption: str,
    theme: Theme,
    up: str = "value",
) -> bytes:
    """The values over the steps, and a ring at the step of the `best` one, as the content of a file."""

    def draw(page: Any, palette: Palette) -> None:
        axes = page.subplots()
        dots = {"marker": "o", "markersize": 3.5} if len(steps) <= FEW else {}
        axes.plot(steps, values, color=palette.blue, label=up, **dots)
        if best in steps:
            ring = {"markerfacecolor": "none", "markeredgecolor": palette.red, "markersize": 10, "linestyle": "none"}
            axes.plot([best], [values[steps.index(best)]], "o", **ring, label=f"best: step {best:,}")
        if min(values) > 0 and max(values) > STEEP * min(values):
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
        axes.set_xlabel("step")
        axes.grid(color=palette.grid, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.legend(loc="best", fontsize=9)

    return drawn(draw, format, title, caption, theme)
