"""Progress of long work on a terminal, and its end by a signal, with the result so far."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from ..views.error import write_stderr

if TYPE_CHECKING:
    from rich import progress

REFRESH_SECONDS = 0.25


class Progress:
    """A count, shown by Rich if standard error is a terminal and answers go elsewhere.

    `unit` is counted; `here` means that no answer is printed meanwhile.
    """

    def __init__(self, unit: str = "programs", *, wait: float = 1.0, here: bool = False) -> None:
        self.unit = unit
        # a dumb terminal cannot redraw a line
        shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.active = shown and (here or not sys.stdout.isatty())
        self.next = time.monotonic() + wait if self.active else 0.0
        self._bar: progress.Progress | None = None

    def step(self, count: int, more: str = "") -> None:
        """Show the count and `more`, a few times a second at most."""
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

    def close(self) -> None:
        """Clear the line."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""The signals that end a run: Ctrl-C, termination, and a closed terminal."""


def interrupted(rows: int, path: str | None) -> None:
    """Report the rows before an interruption, and that the file is not written."""
    left = "" if path is None else f"; `{path}` is not written"
    write_stderr(f"interrupted after {rows:,} {'row' if rows == 1 else 'rows'}{left}\n")


class Interruption:
    """While entered, the first ending signal sets `asked`; a second one interrupts."""

    def __init__(self, *, begun: bool = True) -> None:
        self.asked = False
        self.begun = begun
        """Whether there is a result; until then a signal interrupts at once."""
        self.code = 0
        """0, or the exit code of the interruption: 128 plus the signal."""
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                # None is a handler outside Python, which could not be restored
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._ask)
        return self

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        self.code = 128 + number
        self._restore()
        if not self.begun:
            raise KeyboardInterrupt(number)

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._restore()
