"""Interruption: a signal sets a flag that long work checks between two steps, to end with the result so far."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

from ..views.error import write_stderr

ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""The signals that end a run: Ctrl-C, the wish to terminate, and a terminal that is closed."""


def interrupted(rows: int, path: str | None) -> None:
    """Report on standard error after how many rows the run was interrupted, and that its file is not written."""
    left = "" if path is None else f"; `{path}` is not written"
    write_stderr(f"interrupted after {rows:,} {'row' if rows == 1 else 'rows'}{left}\n")


class Interruption:
    """While it is entered, the first of the signals that end a run sets `asked`; a second one interrupts at once.

    Those that are ignored stay ignored.
    """

    def __init__(self, *, begun: bool = True) -> None:
        self.asked = False
        self.begun = begun
        """Whether there is something to end with; until then a signal interrupts at once."""
        self.code = 0
        """0, or the exit code of what was interrupted: 128 and the signal's number."""
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                # None is a handler that is not Python's, which could not be put back
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
