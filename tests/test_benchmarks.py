"""Tests that the benchmarks run and that what they measure gives right answers; no time is asserted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

RUN = Path(__file__).parent / "benchmarks" / "run.py"


def test_the_benchmarks_run() -> None:
    result = subprocess.run([sys.executable, str(RUN), "--small"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    measured = json.loads(result.stdout.rstrip("\n").split("\n")[-1])
    assert measured["startup"][0]["command"] == "python -c pass"
    assert all(row["ratio"] > 0 for row in measured["startup"])
    assert {row["shape"] for row in measured["growth"]} == {
        "bindings",
        "negations",
        "parentheses",
        "powers",
        "product",
        "sum",
    }
    assert all(row["nodes"] > 0 and row["seconds"] > 0 for row in measured["growth"])
    assert [row["lines"] for row in measured["stream"]] == [100, 1000]
