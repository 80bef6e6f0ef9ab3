"""Plots: curves and surfaces on a terminal, and as SVG, PNG or PDF."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

PICTURES = ("svg", "png", "pdf")
"""The formats that plots are drawn in."""


class Picture(NamedTuple):
    """Draws on a page of matplotlib in the colours of a palette, with its texts."""

    draw: Callable[[Any, Any], None]
    title: str
    caption: str = ""
    levels: Sequence[float] = ()
