"""Minima under constraints: published problems, multipliers as sensitivities, and no claim without
its conditions.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import autodiff_cli
from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.optimize.constraints import ReducedProblem

HOCK_SCHITTKOWSKI: list[tuple[str, str, str, str, str, float]] = [
    # Hock and Schittkowski, Test Examples for Nonlinear Programming Codes (1981): number, formula,
    # constraints, bounds, start, and the value at the solution
    ("6", "(1 - x)**2", "10*(y - x**2) = 0", "", "x=-1.2,y=1", 0.0),
    ("7", "log(1 + x**2) - y", "(1 + x**2)**2 + y**2 = 4", "", "x=2,y=2", -math.sqrt(3)),
    ("12", "0.5*x**2 + y**2 - x*y - 7*x - 7*y", "25 - 4*x**2 - y**2 >= 0", "", "x=0,y=0", -30.0),
    ("14", "(x - 2)**2 + (y - 1)**2", "1 - x**2/4 - y**2 >= 0; x - 2*y + 1 = 0", "", "x=2,y=2",
     9 - 2.875 * math.sqrt(7)),
    ("21", "0.01*x**2 + y**2 - 100", "10*x - y - 10 >= 0", "x=2:50,y=-50:50", "x=2,y=-1", -99.96),
    ("24", "((x - 3)**2 - 9)*y**3/(27*sqrt(3))", "x/sqrt(3) >= y; 0 <= x + sqrt(3)*y <= 6", "x=0:,y=0:",
     "x=1,y=0.5", -1.0),
    ("28", "(x + y)**2 + (y + z)**2", "x + 2*y + 3*z = 1", "", "x=-4,y=1,z=1", 0.0),
    ("35", "9 - 8*x - 6*y - 4*z + 2*x**2 + 2*y**2 + z**2 + 2*x*y + 2*x*z", "x + y + 2*z <= 3", "x=0:,y=0:,z=0:",
     "x=0.5,y=0.5,z=0.5", 1 / 9),
    ("43", "a**2 + b**2 + 2*c**2 + d**2 - 5*a - 5*b - 21*c + 7*d",
     "8 - a**2 - b**2 - c**2 - d**2 - a + b - c + d >= 0; 10 - a**2 - 2*b**2 - c**2 - 2*d**2 + a + d >= 0;"
     "5 - 2*a**2 - b**2 - c**2 - 2*a + b + d >= 0", "", "a=0,b=0,c=0,d=0", -44.0),
    ("71", "a*d*(a + b + c) + c", "a*b*c*d >= 25; a**2 + b**2 + c**2 + d**2 = 40", "a=1:5,b=1:5,c=1:5,d=1:5",
     "a=1,b=5,c=5,d=1", 17.0140172891520),
    ("76", "a**2 + 0.5*b**2 + c**2 + 0.5*d**2 - a*c + c*d - a - 3*b + c - d",
     "a + 2*b + c + d <= 5; 3*a + b + 2*c - d <= 4; b + 4*c >= 1.5", "a=0:,b=0:,c=0:,d=0:",
     "a=0.5,b=0.5,c=0.5,d=0.5", -4.68181818181818),
]  # fmt: skip


@pytest.mark.parametrize("method", [None, "trust-constr"])
@pytest.mark.parametrize(
    ("formula", "constraints", "bounds", "start", "value"),
    [case[1:] for case in HOCK_SCHITTKOWSKI],
    ids=[case[0] for case in HOCK_SCHITTKOWSKI],
)
def test_published_problems(
    formula: str, constraints: str, bounds: str, start: str, value: float, method: str | None
) -> None:
    options: dict[str, Any] = {"bounds": bounds} if bounds else {}
    answer = autodiff_cli.minimize(formula, start, subject_to=constraints, method=method, **options)
    assert answer.converged and answer.reason == "kkt", answer.message
    assert answer.value == pytest.approx(value, rel=1e-11, abs=1e-11)
    assert answer.kind == "minimum" or formula.startswith("(")
    assert answer.constraints is not None
    for each in answer.constraints:
        assert each.slack >= -1e-9
        assert abs(each.multiplier * each.slack) < 1e-8


@pytest.mark.parametrize(
    ("formula", "constraint", "start"),
    [
        ("(x - 3)**2 + y**2", "x + y <= {}", "x=0,y=1"),
        ("exp(x) + exp(-y)", "x**2 + y**2 <= {}", "x=0.1,y=0.1"),
        ("x**2 + 2*y**2", "x*y >= {}", "x=2,y=2"),
    ],
)
def test_a_multiplier_is_what_a_relaxed_constraint_gains(
    formula: str, constraint: str, start: str
) -> None:
    def least(limit: float) -> Any:
        return autodiff_cli.minimize(formula, start, subject_to=constraint.format(limit))

    step = 1e-4 if "<=" in constraint else -1e-4
    (one,) = least(1.0).constraints
    assert one.active and one.multiplier > 0.1
    gain = (least(1 - step).value - least(1 + step).value) / (2 * abs(step))
    assert one.multiplier == pytest.approx(gain, rel=1e-6)


def test_a_variable_may_stand_in_the_constraints_alone() -> None:
    answer = autodiff_cli.minimize("t", "t=5,x=1", subject_to=["t >= x**2 - 1", "t >= 2 - x"])
    root = (-1 + math.sqrt(13)) / 2
    assert answer.point == pytest.approx({"t": 2 - root, "x": root}) and answer.kind == "minimum"
    circle = autodiff_cli.minimize(
        "x + y", "x=1,y=0.5,r=2", wrt="x,y", subject_to="x**2 + y**2 = r**2"
    )
    assert circle.value == pytest.approx(-2 * math.sqrt(2)) and circle.point["r"] == 2.0


def test_data_under_a_constraint() -> None:
    data = {"x": [0.0, 1, 2, 3], "y": [1.0, 2.9, 5.2, 6.9]}
    answer = autodiff_cli.minimize(
        "(y - a - b*x)**2", "a=0,b=0", data=data, reduce="sum", subject_to="a + b = 2"
    )
    assert answer.converged
    # with b = 2 - a the slope of the sum is linear in a
    slope = sum((1 - x) * (y - 2 * x) for x, y in zip(data["x"], data["y"], strict=True))
    assert answer.point["a"] == pytest.approx(slope / sum((1 - x) ** 2 for x in data["x"]))


@pytest.mark.parametrize(
    ("formula", "start", "constraints", "reason", "message"),
    [
        (
            "x + y",
            "x=1,y=0.9",
            "x + y >= 2; x + y <= 1",
            "stuck",
            "no point was found where all constraints hold",
        ),
        (
            "x*y",
            "x=1,y=0.9",
            "x + y = 2",
            "unbounded",
            "the value falls without bound along the constraints",
        ),
        ("abs(x) + y", "x=0,y=0", "y >= 0", "stuck", "there is a kink here"),
        # where no constraint is active, or along those that are, the check is that of a search
        # without any
        ("exp(-x)", "x=1", "x >= 0", "unattained", "as x grows the value keeps falling"),
        ("exp(-x)", "x=1,y=1", "x + y = 1", "unattained", "as y falls the value keeps falling"),
        ("atan(x) + y**2", "x=1,y=1", "y >= 1", "unattained", "as x falls the value keeps falling"),
        # far away all derivatives are lost in rounding errors, at points that have long fallen
        # without bound
        (
            "x**4 - (x - 1)**4",
            "x=1",
            "x <= 5",
            "unbounded",
            "the value falls without bound along the constraints",
        ),
        (
            "x**4 - y**4",
            "x=1.57,y=-0.44",
            "2*x + 2*y = 2; y >= 0",
            "unbounded",
            "the value falls without bound",
        ),
        # a fall where the constraints do not hold is none
        (
            "-x**2 - y**2",
            "x=-0.88,y=-1",
            "x**2 <= 0; x >= 1",
            "stuck",
            "no point was found where all constraints hold",
        ),
    ],
)
def test_no_claim_without_the_conditions(
    formula: str, start: str, constraints: str, reason: str, message: str
) -> None:
    answer = autodiff_cli.minimize(formula, start, subject_to=constraints)
    assert not answer.converged and answer.reason == reason and message in answer.message


@pytest.mark.parametrize(
    ("formula", "start", "constraints", "bounds", "reason", "value"),
    [
        # a kink along the constraints, or of a constraint that is not active
        ("max(x, y)", "x=2,y=1", "x + y = 1", "", "kink", 0.5),
        ("max(x, y)", "x=2,y=1", "x + y >= 1", "", "kink", 0.5),
        ("abs(x) + y**2", "x=1.97,y=-1.09", "y >= x**2", "x=-2:2", "kink", 0.0),
        ("abs(x - y) + x**2", "x=0.76,y=1.34", "x + y >= 1", "", "kink", 0.25),
        (
            "log(1 + x**2) + y**2",
            "x=0,y=0",
            "max(x, y) <= 1; x + 2*y <= 3",
            "x=0:2,y=0:2",
            "kkt",
            0.0,
        ),
        # at corners where constraints depend on each other, or on bounds
        ("sin(x)*cos(y)", "x=0.5,y=1.33", "y**2 = x", "x=0:2,y=0:2", "kkt", 0.0),
        ("x**2 + y**2", "x=-1.05,y=-1", "x**2 + y**2 >= 1; x >= 1", "y=:0", "kkt", 1.0),
        ("x**3 + y**2", "x=-1.19,y=-1.84", "x**2 + y**2 <= 1; x**2 + y**2 = 1", "", "kkt", 23 / 27),
        ("(x - 2)**2 + (y - 1)**2", "x=0.08,y=0", "y >= 0", "y=:0", "kkt", 1.0),
        ("x + y", "x=1,y=0", "x + y >= 1; y <= 1; x*y >= 1", "", "kkt", 2.0),
    ],
)
def test_kinks_and_corners(
    formula: str, start: str, constraints: str, bounds: str, reason: str, value: float
) -> None:
    options: dict[str, Any] = {"bounds": bounds} if bounds else {}
    answer = autodiff_cli.minimize(formula, start, subject_to=constraints, **options)
    assert answer.converged and answer.reason == reason, answer.message
    assert answer.value == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("formula", "start", "constraints"),
    [
        # where curves cross, or a bound has no multiplier, the value falls along another branch
        ("-x**2 - y**2", "x=1.99,y=0.67", "y >= x**2; x*y = 0"),
        ("2*x**6 + 2*y**2*(1 + y) + x*y", "x=0,y=2", "x*y = 0"),
    ],
)
def test_no_minimum_is_claimed_where_a_constraint_has_no_gradient(
    formula: str, start: str, constraints: str
) -> None:
    answer = autodiff_cli.minimize(formula, start, subject_to=constraints)
    assert answer.kind != "minimum", answer.verdict


def test_a_minimum_on_one_of_two_crossing_curves_is_reached() -> None:
    # at (0, 0), where they cross, the value falls along y = x
    answer = autodiff_cli.minimize(
        "x**4 + y**4 - x*y", "x=0.96,y=1.24", subject_to="y>=0; max(x, y)<=1; x**2 = y**2"
    )
    assert answer.kind == "minimum" and answer.converged
    assert answer.point == pytest.approx(
        {"x": 0.5, "y": 0.5}, rel=1e-7
    ) and answer.value == pytest.approx(-0.125)


@pytest.mark.parametrize("count", [5, 10, 20])
@pytest.mark.parametrize("start", [0.0, 1.0])
def test_a_chain_of_constraints_is_solved(count: int, start: float) -> None:
    # neighbours that sum to 3 each: at their best x1, x3, ... are the same, and so are the others
    names = [f"x{k}" for k in range(1, count + 1)]
    formula = " + ".join(f"({name} - {k})**2" for k, name in enumerate(names, start=1))
    pairs = "; ".join(f"{a} + {b} <= 3" for a, b in pairwise(names))
    answer = autodiff_cli.minimize(formula, dict.fromkeys(names, start), subject_to=pairs)
    assert answer.converged and answer.kind == "minimum", answer.message
    expected = minimize(
        lambda x: float(np.sum((x - np.arange(1, count + 1)) ** 2)), np.full(count, start),
        method="SLSQP", constraints=[{"type": "ineq", "fun": lambda x: 3 - x[:-1] - x[1:]}],
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    assert answer.value == pytest.approx(expected.fun, rel=1e-7)


@pytest.mark.parametrize(
    ("formula", "constraint", "best"),
    [("(x - 1)**2", "x <= 0.5", 0.5), ("(x - 1e-9)**2", "x <= 0", 0.0)],
)
@pytest.mark.parametrize("start", [100.0, 1e10])
def test_a_far_start_makes_no_other_point_feasible(
    formula: str, constraint: str, best: float, start: float
) -> None:
    answer = autodiff_cli.minimize(formula, {"x": start}, subject_to=constraint)
    assert not answer.converged or answer.point["x"] == pytest.approx(best, rel=1e-9, abs=1e-10), (
        answer
    )


def test_a_search_that_starts_where_one_ended_has_converged() -> None:
    text = " + ".join(f"log(cosh(x{k} - 1))" for k in range(250))
    first = autodiff_cli.minimize(text, {f"x{k}": 3.0 for k in range(250)})
    again = autodiff_cli.minimize(text, first.point)
    assert first.converged and again.converged, again.message


def test_a_saddle_under_constraints_is_no_minimum() -> None:
    answer = autodiff_cli.minimize("-x**2 - y**2 + z**2", "x=1,y=1,z=0", subject_to="x + y = 2")
    assert answer.kind != "minimum"


@pytest.mark.parametrize(
    ("constraints", "options", "message"),
    [
        ("x + y", {}, "is not a constraint"),
        ("x < 2", {}, "write `<=`"),
        ("x + <= 2", {}, ""),
        ("x + q <= 2", {}, "`q` of a constraint has no value"),
        ("x <= 2", {"method": "bfgs"}, "takes no constraints"),
    ],
)
def test_what_is_no_constraint(constraints: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        autodiff_cli.minimize("x**2 + y**2", "x=1,y=1", subject_to=constraints, **options)
    assert message in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize(
    ("formula", "constraints", "start", "there"),
    [
        ("x**2 + 3*y", "x*y = 2", "x=1,y=2", {"x": lambda y: 2 / y, "y": lambda x: 2 / x}),
        (
            "exp(x) + y**2",
            "x**3 + y = 9",
            "x=1,y=8",
            {"x": lambda y: (9 - y) ** (1 / 3), "y": lambda x: 9 - x**3},
        ),
    ],
)
def test_the_function_on_its_constraints_has_its_derivatives(
    formula: str,
    constraints: str,
    start: str,
    there: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[ReducedProblem] = []
    report = ReducedProblem.judged
    monkeypatch.setattr(ReducedProblem, "judged", lambda self: seen.append(self) or report(self))
    autodiff_cli.minimize(formula, start, subject_to=constraints)
    assert seen
    reduced = seen[0]
    (free,), (dependent,) = (
        [reduced.problem.free[k] for k in ks] for ks in (reduced.others, reduced.dependent)
    )
    program = autodiff_cli.parse(formula)

    def along(z: float) -> float:
        return float(program(**{free: z, dependent: there[dependent](z)}))

    z = reduced.x[reduced.others[0]] * 1.001
    row = reduced.row([z])
    assert row is not None and row.value == pytest.approx(along(z), rel=1e-12)
    step = 1e-4 * z
    slope = (along(z + step) - along(z - step)) / 2 / step
    curvature = (along(z + step) + along(z - step) - 2 * along(z)) / step**2
    assert row.partials[0] == pytest.approx(slope, rel=1e-6, abs=1e-6)
    at = reduced.derivatives({free: z, dependent: there[dependent](z)}, [free], [1.0])
    assert at.gradient[0] == pytest.approx(slope, rel=1e-6, abs=1e-6)
    assert at.hessian[0][0] == pytest.approx(curvature, rel=1e-4)


def test_one_reduced_problem_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # at the cusp neither constraint has a multiplier, however near its border counts as active
    seen: list[tuple[list[int], list[float]]] = []
    report = ReducedProblem.judged
    monkeypatch.setattr(
        ReducedProblem,
        "judged",
        lambda self: seen.append((self.places, self.x.tolist())) or report(self),
    )
    answer = autodiff_cli.minimize("x", "x=1,y=1", subject_to="y = x**3; y >= 0")
    assert not answer.converged
    assert seen and all(seen.count(each) == 1 for each in seen)


def test_a_small_function_and_an_excursion_make_no_point_an_optimum() -> None:
    # the gradient is 1e-11 and 1e12; the optima are elsewhere
    small = "1e-9*((x/1e3 - 4)**2 + 2*(y/1e3 + 1)**2 - x/1e3*y/1e3)"
    answer = autodiff_cli.minimize(small, {"x": 0.0, "y": -2000.0}, subject_to="-3*y/1e3 = 4")
    assert not answer.converged or answer.point["x"] == pytest.approx(1e4 / 3, rel=1e-3)
    steep = "1e3*(4*(x/1e-6 - 4)**2 + 3*(y/1e-6 + 5)**2 + (z/1e-6 - 3)**2 + x/1e-6*y/1e-6)"
    bounds = "-2*x/1e-6 - y/1e-6 + 2*z/1e-6 <= -3; x/1e-6 - 2*y/1e-6 - 3*z/1e-6 <= -1"
    answer = autodiff_cli.minimize(steep, {"x": 2e-6, "y": 2e-6, "z": -3e-6}, subject_to=bounds)
    assert answer.constraints is not None
    assert not answer.converged or all(each.slack > -1e-8 for each in answer.constraints), (
        answer.constraints
    )
