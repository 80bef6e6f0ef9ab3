"""Tests that the search runs, finds nothing in a small sample, and would find what is wrong."""

from __future__ import annotations

import subprocess
import sys

import mpmath
import pytest

from places import TOP
from running import Result
from tests.search.hostile_lines import faults

pytest.importorskip("flint")
integrals = pytest.importorskip("tests.search.integrals")


def searched(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.search", *options]
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(("kind", "count"), [("digits", 150), ("second", 12), ("hostile", 1)])
def test_a_sample_has_no_faults(kind: str, count: int) -> None:
    found = searched("--kind", kind, "--seed", "45", "--count", str(count), "--minutes", "5")
    assert (found.returncode, found.stderr) == (0, ""), found.stdout
    assert "points" in found.stdout and "FAULT" not in found.stdout


def test_a_side_that_is_0_and_one_too_small_for_doubles_are_no_kink() -> None:
    """`relu(x - 1)**7` at 1 has the derivative 0 on the left and 7*h**6 on the right."""
    found = searched("--kind", "digits", "--seed", "2001", "--first", "17175", "--count", "1")
    assert (found.returncode, found.stderr) == (0, ""), found.stdout
    assert "points" in found.stdout and "FAULT" not in found.stdout


def test_a_lost_line_and_an_internal_error_are_found() -> None:
    answer, internal = '{"line": 1}\n', '{"line": 1, "error": {"kind": "internal"}}\n'
    assert faults([b"x"], Result(answer, "", 0)) == []
    assert faults([b"x", b"y"], Result(answer, "", 0)) == [("not one record a line", 0)]
    assert faults([b"x"], Result(internal, "", 3)) == [("internal error", 1)]
    assert faults([b"x"], Result(answer, "Traceback (most recent call last)", 70)) == [
        ("traceback", 0)
    ]


def test_a_wrong_number_is_found() -> None:
    wrong = """
from random import Random
from tests.search import digits
from tests.search.report import Report
def wrong(text, point):
    answer = digits.asked_gradient(text, point)
    return answer._replace(numbers=[x * (1 + 1e-6) for x in answer.numbers])
report = Report("digits", 45)
for number in range(12):
    digits.trial(Random(number), report, digits.Question(wrong, None, second=False))
print(len(report.faults))
"""
    found = subprocess.run(
        [sys.executable, "-c", wrong], cwd=TOP, capture_output=True, text=True, timeout=300
    )
    assert int(found.stdout) > 20, found.stderr


def test_an_integral_is_compared_with_quadrature_in_50_digits() -> None:
    known = integrals.reference("1/(1 + x**2)", "0:inf")
    assert known is not None and abs(known[0] - mpmath.pi / 2) < 1e-14 and known[1] < 1e-30
    assert (
        integrals.reference("1/x", "1:inf") is None
        and integrals.reference("sin(x)", "0:inf") is None
    )
    right = integrals.integrate("1/(1 + x**2)", ends=["x=0:inf"])
    assert integrals.difference(right, known) is None
    for changed in ({"digits": "1.5708963267948966"}, {"formula": "pi/(2 + 1)"}, {"value": 1.57}):
        assert integrals.difference(right._replace(**changed), known) is not None
