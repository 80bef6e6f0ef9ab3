"""The mistakes that people make: a row for each, in the order in which they are tried."""

from __future__ import annotations

from .mistake import Mistake, Repair
from .readings import NUMBERS, SIDE_BY_SIDE, TWO_READINGS
from .signs import SIGNS
from .structure import DOUBLED, ENDS, EQUALS, MISPLACED, UNCLOSED
from .words import WORDS

__all__ = ["MISTAKES", "Repair", "Mistake"]

MISTAKES: tuple[Mistake, ...] = (
    *UNCLOSED,
    *NUMBERS,
    *SIGNS,
    *TWO_READINGS,
    *WORDS,
    *SIDE_BY_SIDE,
    *EQUALS,
    *DOUBLED,
    *ENDS,
    *MISPLACED,
)
"""All rows; the first that applies is the one, and the last one always does."""
