"""Progress of long work, on standard error while that is a terminal."""

from __future__ import annotations

import sys
import time

from ..views.error import say


class Progress:
    """How many programs have been answered, on standard error while that is a terminal and answers go elsewhere.

    `unit` is what is counted, if not programs; with `here` nothing is answered meanwhile, wherever it will go.
    """

    def __init__(self, unit: str = "programs", *, wait: float = 1.0, here: bool = False) -> None:
        self.shown = False
        self.width = 0
        self.unit = unit
        self.active = sys.stderr.isatty() and (here or not sys.stdout.isatty())
        self.next = time.monotonic() + wait if self.active else 0.0

    def step(self, count: int, more: str = "") -> None:
        """Say so, and what `more` there is to say, but not more than a few times a second."""
        if self.active and time.monotonic() >= self.next:
            text = f"{count:,} {self.unit}{more}"
            say(f"\r{text:{self.width}}")
            self.width = len(text)
            self.shown = True
            self.next = time.monotonic() + 0.25

    def done(self) -> None:
        """Clear the line."""
        if self.shown:
            say("\r" + " " * self.width + "\r")
