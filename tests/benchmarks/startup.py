"""How long a command takes from its start to its end, as a multiple of the bare interpreter's
time.
"""

from __future__ import annotations

import os
import pty
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

AUTODIFF = str(Path(sys.executable).parent / "autodiff")
GRAD = [AUTODIFF, "grad", "((w1-1)**2 + (w2-5)**2)*0.5", "--at", "w1=2,w2=3"]
RUNS = {
    "python -c pass": ([sys.executable, "-c", "pass"], False),
    "grad --json, piped": ([*GRAD, "--json"], False),
    "grad, table and tree, piped": (GRAD, False),
    "grad, table and tree, on a terminal": (GRAD, True),
    "Tab after `grad x*y --pre`": ([AUTODIFF], False),
    "--help, on a terminal": ([AUTODIFF, "--help"], True),
    "grad --help, on a terminal": ([AUTODIFF, "grad", "--help"], True),
}
"""Each measured command, and whether its output goes to a terminal."""
TAB = {"_AUTODIFF_COMPLETE": "bash", "_AUTODIFF_LINE": "autodiff grad x*y --pre"}
"""What a shell sets when Tab is pressed: a command without arguments completes by it."""


def seconds(command: list[str], terminal: bool) -> float:
    """The wall-clock time of one run. Raises `CalledProcessError` when the command fails."""
    # a pager would wait for a key
    environment = {**os.environ, "PAGER": "cat", **(TAB if command == [AUTODIFF] else {})}
    begin = time.perf_counter()
    if terminal:
        master, slave = pty.openpty()
        process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environment
        )
        os.close(slave)
        reader = threading.Thread(target=_drain, args=(master,))
        reader.start()
        code = process.wait()
        taken = time.perf_counter() - begin
        reader.join()
        os.close(master)
    else:
        code = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment
        ).returncode
        taken = time.perf_counter() - begin
    if code:
        raise subprocess.CalledProcessError(code, command)
    return taken


def _drain(terminal: int) -> None:
    """Reads a terminal until its other side is closed, which Linux reports as an error."""
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        return


def measure(rounds: int) -> list[dict[str, object]]:
    """One row a command: its median time in milliseconds and its ratio to the bare interpreter's
    median.

    The commands take turns, so a machine that gets slower meanwhile slows all of them alike.
    """
    taken: dict[str, list[float]] = {name: [] for name in RUNS}
    for command, terminal in RUNS.values():
        seconds(command, terminal)  # the first run reads files that the later ones find in memory
    for _ in range(rounds):
        for name, (command, terminal) in RUNS.items():
            taken[name].append(seconds(command, terminal))
    middle = {name: statistics.median(times) for name, times in taken.items()}
    bare = middle["python -c pass"]
    return [
        {
            "command": name,
            "milliseconds": round(time_taken * 1000, 1),
            "ratio": round(time_taken / bare, 2),
        }
        for name, time_taken in middle.items()
    ]
