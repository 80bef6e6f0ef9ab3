"""Progress of long work, on standard error while that is a terminal."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich import progress

REFRESH_SECONDS = 0.25


class Progress:
    """How many programs have been answered, shown by Rich while standard error is a terminal and answers go elsewhere.

    `unit` is what is counted, if not programs; with `here` nothing is answered meanwhile, wherever it will go.
    """

    def __init__(self, unit: str = "programs", *, wait: float = 1.0, here: bool = False) -> None:
        self.unit = unit
        # a dumb terminal cannot redraw a line
        shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.active = shown and (here or not sys.stdout.isatty())
        self.next = time.monotonic() + wait if self.active else 0.0
        self._bar: progress.Progress | None = None

    def step(self, count: int, more: str = "") -> None:
        """Show the count so far, and the text `more`, a few times a second at most."""
        if not self.active or time.monotonic() < self.next:
            return
        bar = self._bar or self._started()
        bar.update(bar.task_ids[0], description=f"{count:,} {self.unit}{more}")
        bar.refresh()
        self.next = time.monotonic() + REFRESH_SECONDS

    def _started(self) -> progress.Progress:
        from rich.console import Console
        from rich.progress import Progress as Bar
        from rich.progress import TextColumn, TimeElapsedColumn

        columns = TextColumn("{task.description}", markup=False), TimeElapsedColumn()
        console = Console(file=sys.stderr, highlight=False)
        self._bar = Bar(
            *columns, console=console, transient=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        )
        self._bar.add_task("", total=None)
        self._bar.start()
        return self._bar

    def done(self) -> None:
        """Clear the line."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
