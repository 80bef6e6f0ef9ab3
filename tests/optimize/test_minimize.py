"""Tests of `minimize`: published minima from their standard starts, what it says of them, and what
it takes.
"""

from __future__ import annotations

import json
import math
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.capabilities.optimize.descend import DescentStep
from autodiff_cli.capabilities.optimize.minimize import minimize
from autodiff_cli.capabilities.optimize.objective import METHODS, Objective
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.parse_point import Range, parse_ranges
from autodiff_cli.streams.progress import Interruption
from counting import lines
from places import TESTS
from running import autodiff

pytest.importorskip("scipy")

# Problems of Moré, Garbow and Hillstrom, "Testing unconstrained optimization software" (1981).
# `published` is the least value that they give, `other` that of the stationary point which is found
# instead, `kind` what is found.
PROBLEMS = [
    json.loads(line)
    for line in (
        TESTS.joinpath("corpora").joinpath("minima.jsonl").read_text(encoding="utf-8").splitlines()
    )
]
ROSENBROCK = "100*(y - x**2)**2 + (1 - x)**2"


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem["id"])
def test_the_published_minimum_is_found(problem: dict[str, Any]) -> None:
    found = minimize(problem["expr"], problem["start"])
    assert found.converged, found.message
    expected = problem.get("other", problem["published"])
    assert found.value == pytest.approx(expected, rel=1e-5, abs=1e-15)
    assert found.kind == problem["kind"]
    there = gradient(problem["expr"], found.point)
    assert there.value == pytest.approx(found.value, rel=1e-12, abs=1e-300)
    assert found.gradient == pytest.approx(there.gradient, abs=1e-2)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_solves_an_easy_problem(method: str) -> None:
    found = minimize("(x - 3)**2 + (y + 1)**4 + y + exp(x - y)/9", {"x": 0, "y": 2}, method=method)
    assert found.converged, found.message
    assert found.kind == "minimum"
    assert found.method == method
    assert (found.hessians > 0) == (
        method in ("newton-cg", "trust-ncg", "trust-exact", "trust-constr")
    )
    assert found.evaluations > 1 and found.steps == len(found.path) - 1
    assert max(map(abs, found.gradient.values())) < 1e-6


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("start", [0.01, 100.0])
def test_a_step_out_of_the_domain_is_taken_back(method: str, start: float) -> None:
    found = minimize("x - log(x)", {"x": start}, method=method)
    assert found.converged
    assert found.point["x"] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("method", ["bfgs", "cg", "l-bfgs-b"])
def test_a_step_out_of_the_range_of_doubles_is_taken_back(method: str) -> None:
    found = minimize("exp(x**2) - x", {"x": 5}, method=method)
    assert found.converged
    assert found.kind == "minimum"


def test_bounds() -> None:
    found = minimize(
        "(x-3)**2 + (y+1)**2", {"x": 0, "y": 1}, bounds={"x": Range(0, 1), "y": Range(None, 2)}
    )
    assert found.method == "l-bfgs-b"
    assert found.converged
    assert found.at_bounds == ("x",)
    assert found.point == pytest.approx({"x": 1, "y": -1}, abs=1e-6)
    assert found.gradient["x"] == pytest.approx(-4)
    shown = autodiff(
        "minimize",
        "(x-3)**2 + (y+1)**2",
        "--at",
        "x=0,y=1",
        "--bounds",
        "x=0:1",
        "--bounds",
        "y=:pi/2",
    )
    assert "x (at its bound)" in shown.out
    assert "held by the bounds of x" in shown.out


def test_bounds_are_read() -> None:
    assert parse_ranges(["x=0:1,y=:2", "z=-pi/2:"]) == {
        "x": Range(0, 1), "y": Range(None, 2), "z": Range(pytest.approx(-1.5707963267948966), None),
    }  # fmt: skip
    with pytest.raises(ExpressionError, match="two ranges"):
        parse_ranges(["x=0:1", "x=0:2"])
    with pytest.raises(ExpressionError) as caught:
        parse_ranges(["a=1:2,x=3:1"])
    assert caught.value.span is not None and caught.value.span.start == 6


@pytest.mark.parametrize(
    ("text", "at", "kind"),
    [
        ("x**2 - y**2", {"x": 1, "y": 0}, "saddle"),
        ("-x**2", {"x": 0}, "maximum"),
        ("x**2 + 0*y", {"x": 1, "y": 0}, "flat"),
        ("abs(x - 1)", {"x": 1}, "kink"),
        ("cosh(x)", {"x": 1}, "minimum"),
    ],
)
def test_a_stationary_point_is_said_to_be_what_it_is(
    text: str, at: dict[str, float], kind: str
) -> None:
    assert minimize(text, at).kind == kind


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("-1e-10*x**2", {"x": 1}),
        ("-1e-12*(x - 5)**4", {"x": 1}),
        ("1e-9*sin(x)", {"x": 1}),
        ("1e-10*(x**2 - y**2)", {"x": 1, "y": 2}),
    ],
)
def test_where_small_derivatives_lead_to_a_maximum_far_away_is_no_stationary_point(
    text: str, at: dict[str, float]
) -> None:
    found = minimize(text, at)
    assert not found.converged and found.reason == "unattained" and found.kind == "not stationary"
    assert "the value still falls from here" in found.message and "maximum" not in found.verdict
    finer = minimize(text, at, tolerance=1e-14)
    assert finer.value < found.value and (finer.kind == "minimum" or finer.reason == "unbounded")


def test_it_says_why_it_stopped() -> None:
    shown = autodiff("minimize", ROSENBROCK, "--at", "x=-1.2,y=1", "--decimals", "4")
    assert shown.code == 0
    assert re.search(
        r"converged: no partial derivative is larger than 1e-08\na local minimum: the Hessian",
        shown.out,
    )
    assert re.search(
        r"bfgs: \d+ steps, \d+ evaluations of value and gradient; the gradient norm is \d",
        shown.out,
    )
    assert "1.0000" in shown.out
    record = json.loads(
        autodiff("minimize", ROSENBROCK, "--at", "x=-1.2,y=1", "--steps", "3", "--json").out
    )
    assert (record["converged"], record["reason"], record["steps"]) == (False, "steps", 3)
    stopped = autodiff(
        "minimize", ROSENBROCK, "--at", "x=-1.2,y=1", "--steps", "3", "--format", "plain"
    )
    assert stopped.code == 1
    assert "not converged after 3 steps" in stopped.err
    fallen = autodiff("minimize", "-x", "--at", "x=0")
    assert fallen.code == 1
    assert "falls without bound" in fallen.out


def test_a_value_that_cannot_get_better_has_converged() -> None:
    # the least value is 48.98…, whose rounding errors hide what is left of the gradient
    found = minimize(
        next(p for p in PROBLEMS if p["id"] == "freud_roth")["expr"],
        {"x1": 0.5, "x2": -2},
        tolerance=1e-12,
    )
    assert found.converged
    assert found.reason in ("precision", "gradient")


@pytest.mark.parametrize(
    ("text", "point", "kind"),
    [("1 + {}*(x+1)**2 + 0*sqrt(x)", {"x": 1}, "minimum"), ("-1 - {}*(x+1)**2 + 0*sqrt(x)", {"x": 1}, None),
     ("1 + {}*((x+1)**2 - (y-1)**2) + 0*sqrt(x)", {"x": 1, "y": 1}, None)],
)  # fmt: skip
def test_a_gain_below_the_rounding_error_of_the_value_is_none(
    text: str, point: dict[str, float], kind: str | None
) -> None:
    # Newton's step leads out of the domain, so only what it would gain can end the search; a
    # maximum or a saddle far away is no end of it
    found = minimize(text.format("1e-20"), point, tolerance=1e-30)
    if kind is None:
        assert not found.converged and "further step would change the value" not in found.message
        return
    assert (found.converged, found.reason) == (True, "precision")
    assert (
        found.message
        == "converged: a further step would change the value by less than its rounding error"
    )
    assert found.kind == kind
    larger = minimize(text.format("1e-13"), point, tolerance=1e-30)
    assert not larger.converged and "further step would change the value" not in larger.message


def test_it_ends_with_the_best_so_far() -> None:
    count = 0

    def stop() -> bool:
        nonlocal count
        count += 1
        return count > 20

    found = minimize(ROSENBROCK, {"x": -1.2, "y": 1}, stop=stop)
    assert (found.converged, found.reason) == (False, "interrupted")
    assert found.value < 24
    assert found.point == found.path[-1].point


def test_the_files_are_read_back(tmp_path: Path) -> None:
    args = (
        "minimize",
        ROSENBROCK,
        "--at",
        "x=-1.2,y=1",
        "--save-point",
        "point.json",
        "--save-path",
        "path.jsonl",
    )
    assert autodiff(*args, folder=tmp_path).code == 0
    point = json.loads((tmp_path / "point.json").read_text())
    assert point == pytest.approx({"x": 1, "y": 1}, abs=1e-6)
    rows = [json.loads(line) for line in (tmp_path / "path.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == list(range(len(rows)))
    assert rows[0]["point"] == {"x": -1.2, "y": 1}
    assert rows[-1]["point"] == point
    again = autodiff("grad", ROSENBROCK, "--at", "@point.json", "--json", folder=tmp_path)
    assert json.loads(again.out)["value"] == pytest.approx(0, abs=1e-12)
    assert autodiff(*args, folder=tmp_path).code == 5


def test_a_stream() -> None:
    shown = autodiff("minimize", stdin="(x-1)**2\tx=3\nlog(x)\tx=-1\n-x\tx=0\n")
    records = [json.loads(line) for line in shown.out.splitlines()]
    assert [record.get("converged") for record in records] == [True, None, False]
    assert records[1]["error"]["kind"] == "domain"
    assert shown.code == 4


@pytest.mark.parametrize("blocked", ["scipy", "numpy"])
def test_without_the_extra_it_says_what_to_install(
    blocked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    if blocked == "numpy":
        monkeypatch.setitem(sys.modules, "numpy", None)
    shown = autodiff("minimize", "x**2", "--at", "x=1")
    assert shown.code == 2
    assert "pip install '.[optimize]'" in shown.err


def listening() -> None:
    """Hear Ctrl-C also where the tests run in the background of a script, whose processes ignore
    it.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.posix
@pytest.mark.parametrize("terms", [1, 3000])
def test_ctrl_c_ends_with_the_best_so_far(
    terms: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = tmp_path / "point.json"
    # a slope that goes on and on
    text = "+".join(["-(x**2 + 1)**0.02"] * terms)
    asked = 0
    row = Objective.row

    def interrupted(self: Objective, x: Sequence[float]) -> DescentStep | None:
        nonlocal asked
        asked += 1
        if asked == 20:
            signal.raise_signal(signal.SIGINT)
        return row(self, x)

    monkeypatch.setattr(Objective, "row", interrupted)
    listening()
    args = [
        "minimize",
        text,
        "--at",
        "x=1",
        "--method",
        "trust-ncg",
        "--steps",
        "1000000",
        "--work",
        "20",
    ]
    shown = autodiff(*args, "--save-point", str(point))
    assert shown.code == 130
    assert "interrupted: this is the best point so far" in shown.out
    assert json.loads(point.read_text())["x"] >= 1
    # at once, before anything else is evaluated; to say what the point is may take a few that are
    # refused
    assert 20 <= asked < 30


def test_a_zero_has_no_sign() -> None:
    found = minimize("-x**2*0", {"x": -0.0})
    assert all(
        math.copysign(1, x) == 1
        for x in (found.value, *found.point.values(), *found.gradient.values())
    )
    assert minimize("relu(x) - relu(-x) + x**2", {"x": 0}).point["x"] == pytest.approx(-0.5)


def test_many_variables_take_the_method_that_needs_no_matrix() -> None:
    def searched(count: int) -> tuple[str, int]:
        text = " + ".join(f"(x{k} - {k})**2" for k in range(count))
        found = minimize(text, {f"x{k}": 0.0 for k in range(count)}, steps=2)
        return found.method, len(found.point)

    assert searched(20) == ("bfgs", 20)
    assert searched(300) == ("l-bfgs-b", 300)
    # reading an answer off goes through the variables once
    assert lines(lambda: searched(600)) < 2.5 * lines(lambda: searched(300))


@pytest.mark.posix
def test_before_there_is_anything_to_end_with_a_signal_interrupts() -> None:
    listening()
    with pytest.raises(KeyboardInterrupt), Interruption(begun=False):
        signal.raise_signal(signal.SIGINT)
    with Interruption(begun=False) as interruption:
        interruption.begun = True
        signal.raise_signal(signal.SIGINT)
        assert (interruption.asked, interruption.code) == (True, 130)


@pytest.mark.parametrize(("factor", "reason"), [(1.0, "gradient"), (1e-3, "unattained")])
def test_many_variables_have_converged_relative_to_the_start(factor: float, reason: str) -> None:
    # beyond the variables that a Hessian is computed for, small gradients of small functions decide
    # nothing
    text = " + ".join(f"(x{k} - 1)**4" for k in range(201))
    found = minimize(f"{factor}*({text})", {f"x{k}": 2.0 for k in range(201)})
    assert found.reason == reason and found.converged == (reason == "gradient")
    assert max(map(abs, found.gradient.values())) < 1e-8
