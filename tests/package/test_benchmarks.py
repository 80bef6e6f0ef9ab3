"""Tests that the benchmarks run and that what they measure gives right answers; no time is
asserted.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module

import pytest

from autodiff_cli import gradient
from places import TESTS

RUN = TESTS / "benchmarks" / "run.py"


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
    assert all(row["microseconds/step"] > 0 for row in measured["descent"])
    assert measured["peers"]
    assert measured["fits"][0]["9 digits in"] == measured["fits"][0]["of"] == 2
    assert all(row["lines/s"] > 0 and row["wrong"] == 0 for row in measured["peers"])
    assert [row["rows"] for row in measured["rows"]] == [50, 50, 50]
    assert all(
        row["ours is"] > 0 and row["polynomial"] > 0
        for row in measured["computing"] + measured["files"]
    )
    assert {row["graph"] for row in measured["engine"]} == {"perceptron", "chain"}


def test_the_formulas_are_those_of_their_seed() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(RUN.parent))
        made = import_module("random_formulas")
        ours = made.formulas(30, seed=7)
        assert ours == made.formulas(30, seed=7) != made.formulas(30, seed=8)
        for formula in ours:
            answer = gradient(formula.text, formula.point)
            assert 2 <= len(formula.point) <= 6
            assert made.is_right(formula, answer.value, answer.gradient)
            assert not made.is_right(formula, answer.value * 1.001 + 1e-6, answer.gradient)
