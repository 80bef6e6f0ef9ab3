"""Progress of long work on a terminal or in a notebook, and its end by a signal, with the result so
far.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..errors import plural
from ..show.error import write_stderr

if TYPE_CHECKING:
    from rich import progress

REFRESH_SECONDS = 0.25


def is_in_notebook() -> bool:
    """Return whether this is the kernel of a notebook, whose outputs can be changed."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class Progress:
    """A count, shown by Rich if standard error is a terminal and answers go elsewhere, or as an
    output of a notebook.

    `unit` is counted; `here` means that no answer is printed meanwhile.
    """

    def __init__(self, unit: str = "programs", *, wait: float = 1.0, here: bool = False) -> None:
        self.unit, self.wait = unit, wait
        self.counted = False
        self.in_notebook = is_in_notebook()
        # a dumb terminal cannot redraw a line
        shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.active = self.in_notebook or (shown and (here or not sys.stdout.isatty()))
        self.begun = time.monotonic() if self.active else 0.0
        self.next = self.begun + wait
        self._bar: progress.Progress | None = None
        # The output of the notebook, changed as the work goes on.
        self._output: Any = None

    def step(self, count: int, more: str = "") -> None:
        """Show the count and `more`, a few times a second at most."""
        if self.in_notebook and not self.counted:
            # what was imported before the first step is no work on it
            self.begun, self.next, self.counted = (
                time.monotonic(),
                time.monotonic() + self.wait,
                True,
            )
        if not self.active or time.monotonic() < self.next:
            return
        if self.in_notebook:
            self._show_in_notebook(f"{count:,} {self.unit}{more}")
        else:
            self._show_on_terminal(f"{count:,} {self.unit}{more}")
        self.next = time.monotonic() + REFRESH_SECONDS

    def _show_in_notebook(self, text: str) -> None:
        data = {"text/plain": f"{text}, {time.monotonic() - self.begun:.0f} s"}
        if self._output is None:
            display: Any = import_module("IPython.display").display
            self._output = display(data, raw=True, display_id=True)
        else:
            self._output.update(data, raw=True)

    def _show_on_terminal(self, text: str) -> None:
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
        self._bar.update(self._bar.task_ids[0], description=text)
        self._bar.refresh()

    def close(self) -> None:
        """Clear the line; a notebook keeps the last one."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


# The signals that end a run: Ctrl-C, termination, and a closed terminal.
ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


def interrupted(rows: int, path: str | None) -> None:
    """Report the rows before an interruption, and that the file is not written."""
    left = "" if path is None else f"; `{path}` is not written"
    write_stderr(f"interrupted after {plural(rows, 'row')}{left}\n")


class Interruption:
    """While entered, the first ending signal sets `asked`; a second one interrupts."""

    def __init__(self, *, begun: bool = True) -> None:
        self.asked, self.code = False, 0
        """Whether a signal has come, and its exit code: 128 plus the signal."""
        # Whether there is a result; until then a signal interrupts at once.
        self.begun = begun
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
