"""Streams of lines that nobody would write on purpose: each has one record, and none ends in an
internal error.
"""

from __future__ import annotations

import json
import sys
from codecs import BOM_UTF8
from pathlib import Path
from random import Random

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "support"))

from hostile import asks, line  # noqa: E402 - the helpers of the tests are no package
from running import Result, autodiff  # noqa: E402

from .report import Report  # noqa: E402

BATCH = 2000
"""The lines of a stream: of so many, the parts of a command that are done once take a few
percent.
"""
COMMANDS = (
    ("grad",), ("grad",), ("grad",), ("grad", "--lenient"), ("grad", "--all"),
    ("grad", "--value-only"), ("jacobian",), ("hessian",), ("trace",),
    ("taylor", "--order", "3", "--wrt", "x"),
)  # fmt: skip
POINT = ("--at", "x=1.5,y=2", "--format", "jsonl", "-")


def hostile(rng: Random, report: Report) -> None:
    """Ask a stream of 2,000 lines that are mostly no formulas: one record each, in order, and no
    internal error.
    """
    command = rng.choice(COMMANDS)
    lines = [line(rng) for _ in range(BATCH)]
    found = autodiff(*command, *POINT, stdin=b"\n".join(lines) + b"\n")
    report.count("points", len(lines))
    report.count(" ".join(command), len(lines))
    for sort, number in faults(lines, found):
        report.fault(
            sort, {"command": command, "line": repr(lines[number - 1]) if number else None}
        )


def faults(lines: list[bytes], found: Result) -> list[tuple[str, int]]:
    """Return what is wrong with the answers to lines, and the number of the line, 0 for all of
    them.
    """
    # a stream may begin with a mark of its encoding
    lines = [lines[0].removeprefix(BOM_UTF8), *lines[1:]]
    records = [json.loads(each) for each in found.out.splitlines()]
    wrong: list[tuple[str, int]] = []
    if [record["line"] for record in records] != [
        k for k, each in enumerate(lines, 1) if asks(each)
    ]:
        wrong.append(("not one record a line", 0))
    wrong += [
        ("internal error", record["line"])
        for record in records
        if record.get("error", {}).get("kind") == "internal"
    ]
    if "Traceback" in found.err or found.code == 70:
        wrong.append(("traceback", 0))
    return wrong
