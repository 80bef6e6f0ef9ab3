"""Numbers of answers in other arithmetics than doubles, with all their digits."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Figure(NamedTuple):
    """A number in another arithmetic than doubles."""

    text: str
    nearest: float | None
    within: str = ""
    """The bound of a number that could not be distinguished from 0; its text is 0."""

    def __float__(self) -> float:
        return (
            math.copysign(math.inf, -1 if self.text[0] == "-" else 1)
            if self.nearest is None
            else self.nearest
        )


def unsigned(x: T) -> T:
    """Return the number with a zero made positive."""
    return x + 0.0 if type(x) is float else x  # type: ignore[operator, return-value]


# A number of an answer: a double, or a figure of another arithmetic.
Shown = float | Figure
