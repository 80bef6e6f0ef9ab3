"""Tests of `maximize`: known maxima, their multipliers, and the verdicts of `minimize` about the
negative.
"""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

import autodiff_cli
from autodiff_cli.capabilities.optimize.minimize import minimize
from autodiff_cli.capabilities.optimize.objective import METHODS
from autodiff_cli.questions.parse_point import Range
from places import TESTS
from running import autodiff

pytest.importorskip("scipy")

PROBLEMS: list[dict[str, Any]] = [
    json.loads(line)
    for name in ("minima.jsonl", "verdicts.jsonl")
    for line in TESTS.joinpath("corpora").joinpath(name).read_text(encoding="utf-8").splitlines()
]
TURNED = {"minimum": "maximum", "maximum": "minimum"}


@pytest.mark.parametrize(
    "problem", PROBLEMS, ids=lambda problem: problem.get("id") or problem["expr"]
)
def test_a_maximum_is_a_minimum_of_the_negative(problem: dict[str, Any]) -> None:
    """The text is negated here, the graph there: the way, the verdict and the numbers are the same
    but for signs.
    """
    *before, last = problem["expr"].split(";")
    text = ";".join([*before, f"-({last})"])
    limits = {name: Range(*ends) for name, ends in problem.get("bounds", {}).items()}
    low = minimize(problem["expr"], problem["start"], bounds=limits)
    high = minimize(text, problem["start"], bounds=limits, maximize=True)
    assert high.point == low.point
    assert high.value == -low.value and high.gradient == {
        name: -x for name, x in low.gradient.items()
    }
    assert high.kind == TURNED.get(str(low.kind), low.kind)
    assert (high.reason, high.converged, high.steps) == (low.reason, low.converged, low.steps)
    assert [row.value for row in high.path] == [-row.value for row in low.path]
    words = {
        "minimum": "maximum",
        "maximum": "minimum",
        "positive": "negative",
        "negative": "positive",
    }
    words |= {
        "falls": "rises",
        "rises": "falls",
        "falling": "rising",
        "lower": "higher",
        "convex": "concave",
    }
    said = " ".join(words.get(word.strip(":;,"), word.strip(":;,")) for word in low.verdict.split())
    assert said == " ".join(word.strip(":;,") for word in high.verdict.split())


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_an_easy_maximum(method: str) -> None:
    found = minimize("8 - (x - 3)**2 - cosh(y + 1)", {"x": 0, "y": 2}, method=method, maximize=True)
    assert found.converged, found.message
    assert (found.kind, found.sought) == ("maximum", "maximum")
    assert found.value == pytest.approx(7, abs=1e-12)
    assert found.point == pytest.approx({"x": 3, "y": -1}, abs=1e-6)


def test_multipliers_are_derivatives_of_the_largest_value() -> None:
    """By finite differences of the whole answer, for an inequality that is relaxed and the right
    side of equations.
    """

    def largest(a: float, b: float) -> autodiff_cli.Minimum:
        return autodiff_cli.maximize(
            "x*y + z",
            "x=1,y=1,z=0.5",
            subject_to=f"x + 2*y <= {a!r}; x*z = {b!r}; z**2 <= 9",
            method="slsqp",
        )

    found = largest(6.0, 1.0)
    assert found.kind == "maximum" and found.converged, found.message
    assert found.constraints is not None
    relaxed, equation, _ = found.constraints
    h = 1e-4
    by_a = (largest(6 + h, 1.0).value - largest(6 - h, 1.0).value) / (2 * h)
    by_b = (largest(6.0, 1 + h).value - largest(6.0, 1 - h).value) / (2 * h)
    assert relaxed.multiplier == pytest.approx(by_a, rel=1e-5) and by_a > 0.1
    assert equation.multiplier == pytest.approx(by_b, rel=1e-5) and abs(by_b) > 0.1


def test_a_log_likelihood_over_data() -> None:
    """The mean and the standard deviation of a normal sample, whose maximum of the likelihood is
    known.
    """
    data = {"y": [1.0, 4.0, 2.0, 7.0]}
    found = autodiff_cli.maximize("-log(s) - ((y - m)/s)**2/2", "m=1,s=2", data=data, reduce="sum")
    assert found.kind == "maximum" and found.converged
    assert found.point == pytest.approx({"m": 3.5, "s": math.sqrt(21 / 4)}, rel=1e-6)
    assert found.value == pytest.approx(-4 * math.log(math.sqrt(21 / 4)) - 2, rel=1e-12)
    assert found.over is not None and found.over.rows == 4


def test_a_program_with_bindings_and_definitions() -> None:
    found = autodiff_cli.maximize("f(t) = t*exp(-t); a = f(x); a - (y - 1)**2", "x=0.5,y=0.25")
    assert found.point == pytest.approx({"x": 1, "y": 1}, abs=1e-6)
    assert (found.value, found.kind) == (pytest.approx(math.exp(-1), rel=1e-12), "maximum")


def test_on_the_command_line(tmp_path: Any) -> None:
    path, best = tmp_path / "way.jsonl", tmp_path / "best.json"
    shown = autodiff(
        "maximize",
        "x*exp(-x)",
        "--at",
        "x=0.2",
        "--json",
        "--save-path",
        str(path),
        "--save-point",
        str(best),
    )
    record = json.loads(shown.out)
    assert (record["kind"], record["value"]) == ("maximum", pytest.approx(math.exp(-1)))
    values = [json.loads(line)["value"] for line in path.read_text(encoding="utf-8").splitlines()]
    assert (
        values[0] == 0.2 * math.exp(-0.2)
        and values[-1] == record["value"]
        and all(x > 0 for x in values)
    )
    assert json.loads(best.read_text(encoding="utf-8"))["x"] == record["point"]["x"]
    assert shown.code == 0
    endless = autodiff("maximize", "exp(x)", "--at", "x=0", "--format", "plain")
    assert endless.code == 1 and "without bound" in endless.err
