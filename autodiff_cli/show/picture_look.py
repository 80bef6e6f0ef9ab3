"""How pictures look: their theme, size and legend."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ..errors import usage_error

if TYPE_CHECKING:
    from .characters import Theme

# Where the legend of a picture stands; `best` is clear of the curves.
Legend: TypeAlias = Literal[
    "best", "outside", "none", "upper-left", "upper-right", "lower-left", "lower-right"
]
_SIZE = re.compile(r"(\d+(?:\.\d*)?)\s*[x×]\s*(\d+(?:\.\d*)?)\s*(cm|mm|in|px|)")
_PER_INCH = {"cm": 2.54, "mm": 25.4, "in": 1.0, "px": 96.0, "": 96.0}
# The sides of pictures, in inches.
SMALLEST, LARGEST = 1.0, 60.0
SIZE_EXAMPLE = "write `--size 16x10cm`, or `--size 800x500` for pixels"


class PictureSize(NamedTuple):
    """The size of a picture, in inches."""

    width: float
    height: float
    in_pixels: bool


class PictureLook(NamedTuple):
    """How a picture looks."""

    theme: Theme = "auto"
    size: PictureSize | None = None
    legend: Legend = "best"


def read_size(text: str) -> PictureSize | None:
    """Return the size of a picture; without a unit it is in pixels. Raises a usage error.

    >>> read_size("25.4 x 12.7 cm")
    PictureSize(width=10.0, height=5.0, in_pixels=False)
    """
    if not text:
        return None
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise usage_error(f"`{text}` is not the size of a picture", SIZE_EXAMPLE)
    width, height = (float(side) / _PER_INCH[match[3]] for side in match.groups()[:2])
    if not all(SMALLEST <= side <= LARGEST for side in (width, height)):
        message = (
            f"`{text}` is too {'small' if min(width, height) < SMALLEST else 'large'} for a picture"
        )
        raise usage_error(message, "its sides are from 2.54 cm, 96 pixels, to 152 cm")
    return PictureSize(width, height, match[3] in ("px", ""))


def is_in_characters(text: str) -> bool:
    """Return whether a size is one without a unit, as of a drawing on a terminal."""
    match = _SIZE.fullmatch(text.strip())
    return match is not None and not match[3]


def read_characters(text: str) -> tuple[int, int] | None:
    """Return the columns and rows of a drawing on a terminal. Raises a usage error."""
    if not text:
        return None
    match = _SIZE.fullmatch(text.strip())
    if match is None or match[3] or "." in text:
        hint = "write `--size 60x15`; a picture has `--output plot.png --size 16x10cm`"
        raise usage_error(f"`{text}` is not the size of a drawing in columns and rows", hint)
    columns, rows = int(match[1]), int(match[2])
    if not (20 <= columns <= 400 and 5 <= rows <= 200):
        raise usage_error(
            f"`--size {text}` is no size to draw in", "from 20x5 to 400x200 columns and rows"
        )
    return columns, rows
