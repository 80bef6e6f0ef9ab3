"""Plots: curves and surfaces on a terminal, and as SVG, PNG or PDF."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..characters import Theme
from ..schema import Answer, View

if TYPE_CHECKING:
    from .figure import Palette

PICTURES = ("svg", "png", "pdf")
"""The formats that plots are drawn in."""


class Picture(NamedTuple):
    """A picture: what draws it on a page of matplotlib, in the colours of a theme, and the texts around it."""

    draw: Callable[[Any, Palette], None]
    title: str
    caption: str = ""
    levels: Sequence[float] = ()
    """Those of contours that are coloured."""


class PicturedView(View[Answer]):
    """How answers with a picture are shown."""

    extra_formats = PICTURES
    theme: Theme = "auto"

    def picture(self, answer: Answer) -> Picture:
        """Return the picture of an answer."""
        raise NotImplementedError

    def draw(self, answer: Answer, format: str) -> bytes:
        from .figure import drawn

        return drawn(self.picture(answer), format, self.theme)
