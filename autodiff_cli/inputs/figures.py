"""Digits: the numbers of answers that were not computed in doubles, with all that they have."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Figure(NamedTuple):
    """A number in another arithmetic than doubles."""

    text: str
    """All its digits: a decimal, or for exact numbers a fraction such as 2/3."""
    nearest: float | None
    within: str = ""
    """Of a number that could not be distinguished from 0: how near to 0 it is. Its text is 0 then."""

    def __float__(self) -> float:
        return math.copysign(math.inf, -1 if self.text[0] == "-" else 1) if self.nearest is None else self.nearest


def unsigned(x: T) -> T:
    """Return the number as answers give it: a zero has no sign."""
    return x + 0.0 if type(x) is float else x  # type: ignore[operator, return-value]


Shown = float | Figure
"""A number of an answer: a double, or a figure where another arithmetic was asked for."""
