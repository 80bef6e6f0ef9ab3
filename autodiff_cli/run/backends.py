"""Backends of the backward sweep in doubles, and the only place where one of them is chosen.

There are two, one for each form in which a program is at hand: `backpropagation` passes back over a graph of Values in
place, and `doubles` runs over the rows that the reader wrote. Both give what the sweep over a tape gives, to the last
bit, and leave to it all that there is anything to say about: errors, kinks, infinite numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .sweep import Fault

Found = TypeVar("Found")

LEFT = (KeyError, ValueError, ArithmeticError, Fault)
"""What a backend raises where it leaves the work to the sweep; it may also give None."""


def first(backend: Callable[[], Found | None], sweep: Callable[[], Found]) -> Found:
    """What a backend finds, or where it leaves the work to the sweep, what that finds."""
    try:
        found = backend()
    except LEFT:
        found = None
    return sweep() if found is None else found
