"""Texts of 50,000 characters of one kind, wherever a person's text is read: none takes time as its
square.

A pattern that is tried at every character and reads on from there takes minutes for such a text;
what reads it once takes a fraction of a second of processor time, of which there is plenty of room
to the limit.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from running import autodiff

LENGTH = 50_000
MAX_SECONDS = 6.0

RUNS = (
    "9", "a", "₂", "²", " ", "\n", ".", "=", "±", "(", "'", "\\", "#", "°", "@", ",999", "a9", "a ", "a;", "e±", "(k=",
    "\u200b"
)  # fmt: skip

READERS: dict[str, tuple[tuple[str, ...], str]] = {
    "program": (("grad", "{}", "--at", "x=1"), ""),
    "program, lenient": (("grad", "--lenient", "{}", "--at", "x=1"), ""),
    "stream": (("grad", "-"), "{}\n"),
    "request": (("grad", "-"), '{{"expr": "x", "at": {{"x": "{}"}}}}\n'),
    "point": (("grad", "x", "--at", "x={}"), ""),
    "point without a name": (("grad", "x", "--at", "{}"), ""),
    "number with more behind it": (("propagate", "x", "--at", "x=9{}!"), ""),
    "quantity": (("propagate", "x", "--at", "x={}"), ""),
    "coverage": (("propagate", "x", "--at", "x=1±2 (k={}"), ""),
    "range": (("plot", "x", "--range", "x={}"), ""),
    "ends of a search": (("solve", "x", "--between", "x={}"), ""),
    "bounds": (("minimize", "x", "--at", "x=1", "--bounds", "x={}"), ""),
    "assumption": (("diff", "x", "--assume", "{}"), ""),
    "names": (("diff", "x", "--wrt", "{}"), ""),
    "columns": (("grad", "x", "--data", "-", "--columns", "{}"), "x\n1\n"),
    "heading": (("grad", "x", "--points", "-"), "{}\n1\n"),
    "cell": (("grad", "x", "--points", "-", "--on-error", "skip"), "x,y\n{},1\n"),
    "option": (("grad", "x", "--{}"), ""),
    "command": (("{}",), ""),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_long_run(reader: str, tmp_path: Path) -> None:
    args, stdin = READERS[reader]
    slow = {}
    for run in RUNS:
        text = run * (LENGTH // len(run))
        begin = time.process_time()
        result = autodiff(
            *(arg.format(text) for arg in args), stdin=stdin.format(text), folder=tmp_path
        )
        if time.process_time() - begin > MAX_SECONDS:
            slow[run] = time.process_time() - begin
        assert result.code in range(6), (run, result.err[-500:])
    assert not slow
