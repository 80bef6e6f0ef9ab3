"""Progress of long work on a terminal, and its end by a signal, with the result so far."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..errors import plural
from ..show.error import write_stderr

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
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress as Bar
            from rich.progress import TextColumn, TimeElapsedColumn

            columns = TextColumn("{task.description}", markup=False), TimeElapsedColumn()
            console = Console(file=sys.stderr, highlight=False)
            self._bar = Bar(
                *columns,
                console=console,
                transient=True,
                auto_refresh=False,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._bar.add_task("", total=None)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], description=f"{count:,} {self.unit}{more}")
        self._bar.refresh()
        self.next = time.monotonic() + REFRESH_SECONDS

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
    write_stderr(f"interrupted after {plural(rows, 'row')}{left}\n")


class Interruption:
    """While entered, the first ending signal sets `asked`; a second one interrupts."""

    def __init__(self, *, begun: bool = True) -> None:
        self.asked, self.code = False, 0
        """Whether a signal has come, and its exit code: 128 plus the signal."""
        self.begun = begun
        """Whether there is a result; until then a signal interrupts at once."""
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                # None is a handler outside Python, which could not be restored
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._ask)
        return self

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked, self.code = True, 128 + number
        self.__exit__()
        if not self.begun:
            raise KeyboardInterrupt(number)

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
