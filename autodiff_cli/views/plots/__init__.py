"""Plots: curves and surfaces on a terminal, and as SVG, PNG or PDF."""

from collections.abc import Callable
from functools import partial
from typing import Any

PICTURES = ("svg", "png", "pdf")
"""The formats that plots are drawn in."""


def pictures(draw: Callable[..., bytes]) -> dict[str, Callable[[Any], bytes]]:
    """What draws an answer in each of them, from what takes their name as `format`."""
    return {format: partial(draw, format=format) for format in PICTURES}
