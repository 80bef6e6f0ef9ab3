"""Tests of what `minimize` and `hessian` say of a point: expected verdicts as data, each claim held
to 50 digits.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from autodiff_cli.capabilities.derivatives.hessian import hessian
from autodiff_cli.capabilities.optimize.minimize import Minimum, minimize
from autodiff_cli.engine.graphs.higher_order import hessian_in
from autodiff_cli.engine.graphs.value_and_gradient import value_and_gradient
from autodiff_cli.engine.numbers.multiprecision import Multiprecision
from autodiff_cli.engine.numbers.running_error import RUNNING, Bounded
from autodiff_cli.engine.numerics.linear_algebra import eigenvectors
from autodiff_cli.engine.numerics.optimality import Derivatives, Single, classify
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.parse_point import Range
from autodiff_cli.questions.problem import parse, single_output
from places import TESTS

pytest.importorskip("scipy")


def read(name: str) -> list[dict[str, Any]]:
    """The problems of a file, each with its `expr`, its `start` and what is expected."""
    text = TESTS.joinpath("corpora").joinpath(name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


PUBLISHED, OWN = read("minima.jsonl"), read("verdicts.jsonl")
PROBLEMS = PUBLISHED + OWN


def named(problem: dict[str, Any]) -> str:
    """A problem in the name of a test."""
    return str(
        problem.get("id") or f"{problem['expr']} {problem['start']} {problem['bounds'] or ''}"
    )


def limits(problem: dict[str, Any]) -> dict[str, Range]:
    """The bounds of a problem."""
    return {name: Range(*ends) for name, ends in problem.get("bounds", {}).items()}


@pytest.mark.parametrize("problem", OWN, ids=named)
def test_the_verdict_is_the_expected_one(problem: dict[str, Any]) -> None:
    found = minimize(problem["expr"], problem["start"], bounds=limits(problem))
    assert (found.kind, found.reason) == (problem["kind"], problem["reason"]), found.message
    assert found.converged == (found.reason in ("gradient", "precision", "kink"))


def test_there_are_problems_of_every_kind() -> None:
    count = Counter(problem["kind"] for problem in OWN) + Counter(
        problem["reason"] for problem in OWN
    )
    assert len(PUBLISHED) == 35
    assert sum(bool(problem["bounds"]) for problem in OWN) >= 12
    for kind in ("minimum", "saddle", "maximum", "flat", "kink", "unattained", "unbounded", "edge"):
        assert count[kind] >= 3, kind


# ---- claims against 50 digits -------------------------------------------------------------------------------------
def exactly(
    expr: str, point: dict[str, float]
) -> tuple[Callable[[Sequence[float]], Any], Multiprecision]:
    """The value in 50 digits, at steps from a point, None where there is none; literals are read as
    decimals.
    """
    m = Multiprecision(50, decimals=True)
    output = single_output(parse(expr, point))

    def value(steps: Sequence[float]) -> Any:
        there = {
            name: m.number(x) + m.number(step)
            for (name, x), step in zip(point.items(), steps, strict=True)
        }
        try:
            return value_and_gradient(m, output, there, ()).value
        except ExpressionError:
            return None

    return value, m


def within(problem: dict[str, Any], found: Minimum, steps: Sequence[float]) -> list[float]:
    """The steps, cut off where the bounds are."""
    cut = []
    for (name, x), step in zip(found.point.items(), steps, strict=True):
        low, high = limits(problem).get(name, Range(None, None))
        above = step if low is None else max(step, low - x)
        cut.append(above if high is None else min(above, high - x))
    return cut


def directions(problem: dict[str, Any], found: Minimum) -> list[list[float]]:
    """Ways to go from a point, in units of its coordinates: along the axes, the eigenvectors, and
    at random.
    """
    draw = random.Random(7)
    n = len(found.point)
    size = [max(abs(x), abs(problem["start"][name])) or 1.0 for name, x in found.point.items()]
    ways = [[s * (i == k) for i, s in enumerate(size)] for k in range(n)]
    ways += [[s * draw.gauss(0, 1) for s in size] for _ in range(20)]
    try:
        square = hessian(problem["expr"], found.point, wrt=list(found.point)).hessian
    except ExpressionError:
        pass
    else:
        ways += eigenvectors([[float(x) for x in row] for row in square])[1]
    ways.append([-found.gradient[name] for name in found.point])
    return ways + [[-x for x in way] for way in ways]


def changes(problem: dict[str, Any], found: Minimum, radii: Sequence[float]) -> list[Any]:
    """By how much the value changes on steps of these lengths, within the bounds and the domain."""
    value, _ = exactly(problem["expr"], found.point)
    here = value([0.0] * len(found.point))
    changed = []
    for way in directions(problem, found):
        for radius in radii:
            steps = within(problem, found, [radius * x for x in way])
            there = value(steps) if any(steps) else None
            if there is not None:
                changed.append(there - here)
    return changed


@pytest.mark.parametrize("problem", PROBLEMS, ids=named)
def test_no_verdict_claims_what_is_not_so(problem: dict[str, Any]) -> None:
    found = minimize(problem["expr"], problem["start"], bounds=limits(problem))
    least = 1e-13 * max(1e-3, abs(found.value))
    if (
        found.kind == "minimum"
        or found.verdict.startswith("a local minimum")
        or found.reason == "kink"
    ):
        assert min(changes(problem, found, (1e-3, 1e-4))) >= -least
    elif found.kind == "maximum":
        assert max(changes(problem, found, (1e-3, 1e-4))) <= least
    elif found.kind == "saddle":
        changed = changes(problem, found, (1e-2, 1e-3))
        assert min(changed) < 0 < max(changed)
    elif (
        found.verdict.startswith("not a minimum")
        or found.kind == "not stationary"
        or found.reason == "unbounded"
    ):
        radii = [2.0**-k for k in range(0, 60, 4)]
        assert min(changes(problem, found, radii)) < 0
    else:
        assert found.kind == "flat"
        assert "not show whether" in found.verdict
        assert min(changes(problem, found, (1e-3,))) >= -least


@pytest.mark.parametrize(
    ("formula", "start", "constraints", "kind", "words"),
    [
        # towards a double root of the gradient its error hides that the curvature changes its sign
        (
            "2*y**3 + cos(x - y)",
            {"x": 0, "y": 1},
            "",
            "flat",
            "not a minimum: the Hessian there is singular along",
        ),
        # on the circle this is 2 - x**3 beside the point
        (
            "2*cos(x) + 2*(y**2 - 1)**2 + (x + y - 1)**2",
            {"x": -1, "y": 0.5},
            "x**2 + y**2 = 1",
            "flat",
            "falls that way",
        ),
        # a constraint without a gradient does not say where the point may move: both ways along it
        # lead up
        ("2*x**6 + 2*y**2*(1 + y) + x*y", {"x": 0, "y": 2}, "x*y = 0", "flat", "do not show"),
        (
            "floor(x) + 2*abs(y)",
            {"x": 0, "y": 2},
            "",
            "kink",
            "not a minimum but a kink, from which the value falls",
        ),
        ("x**2 + 1e-9*y**2", {"x": 1, "y": 1}, "", "minimum", "positive definite"),
    ],
)
def test_the_curvature_decides_only_where_the_point_is_known(
    formula: str, start: dict[str, float], constraints: str, kind: str, words: str
) -> None:
    method = "trust-constr" if constraints else "cg"
    found = minimize(formula, start, subject_to=constraints, method=method)
    assert found.kind == kind and words in found.verdict, found.verdict


@pytest.mark.parametrize(
    ("formula", "start"),
    [
        ("log(1 + exp(x)) - sin(y)", {"x": 0.5, "y": 1}),
        ("x*exp(-x**2)/2 + y**4/2 - y**2/2", {"x": 2, "y": 2}),
        ("x**2*(1 + x)/2 + exp(y) + exp(x*y)", {"x": 2, "y": 0}),
    ],
)
def test_small_derivatives_far_from_where_they_are_0_are_no_convergence(
    formula: str, start: dict[str, float]
) -> None:
    found = minimize(formula, start)
    assert (found.reason, found.converged) == ("unattained", False)


def test_hessian_says_the_same() -> None:
    asked = 0
    for problem in PROBLEMS:
        found = minimize(problem["expr"], problem["start"], bounds=limits(problem))
        if found.kind not in ("minimum", "maximum", "saddle", "flat") or found.at_bounds:
            continue
        told = hessian(problem["expr"], found.point).verdict
        # the size of numbers on the way is unknown to it: there, a coordinate that is not quite 0
        # is no rounding error
        assert told == found.kind or (told == "not stationary" and found.gradient_norm != 0), named(
            problem
        )
        asked += 1
    assert asked >= 40, asked


@pytest.mark.parametrize("problem", PROBLEMS, ids=named)
def test_errors_are_bounded(problem: dict[str, Any]) -> None:
    expr, names = problem["expr"], list(problem["start"])
    output = single_output(parse(expr, problem["start"]))
    m = Multiprecision(50, decimals=True)
    draw = random.Random(3)
    tried = 0
    for _ in range(4):
        point = {
            name: x * draw.uniform(0.9, 1.1) + draw.uniform(0, 0.1)
            for name, x in problem["start"].items()
        }
        try:
            sure = hessian_in(m, output, {name: m.number(x) for name, x in point.items()}, names)
            found = hessian_in(
                RUNNING, output, {name: Bounded(x) for name, x in point.items()}, names
            )
        except ExpressionError:
            continue
        tried += 1
        pairs = [(found.value, sure.value), *zip(found.gradient, sure.gradient, strict=True)]
        pairs += [
            pair
            for rows in zip(found.hessian, sure.hessian, strict=True)
            for pair in zip(*rows, strict=True)
        ]
        largest = max(abs(float(x)) for x, _ in pairs)
        for rough, exact in pairs:
            bounded = RUNNING.number(rough)
            assert abs(bounded.x - exact) <= bounded.error * 1.0001
            assert bounded.error <= 1e-8 * max(1.0, largest)
    assert tried >= 2


def test_a_quotient_by_what_may_be_zero_has_no_bound() -> None:
    assert (Bounded(1.0) / Bounded(1.0, 2.0)).error == math.inf
    assert (Bounded(1.0) / Bounded(1.0, 0.5)).error < math.inf


# ---- the classification by itself ---------------------------------------------------------------------------------
def at(gradient: list[float], square: list[list[float]], error: float = 1e-12) -> Derivatives:
    """Derivatives that are all known to within the error."""
    n = len(gradient)
    return Derivatives(0.0, gradient, [error] * n, square, [[error] * n for _ in range(n)])


@pytest.mark.parametrize(
    ("gradient", "square", "walls", "kind", "held"),
    [
        ([0.0, 0.0], [[1.0, 0.0], [0.0, -3.6e-29]], [0, 0], "flat", ()),
        ([0.0, 0.0], [[1.0, 0.0], [0.0, -3.6e-9]], [0, 0], "saddle", ()),
        ([0.0, 0.0], [[2.0, 1.0], [1.0, 2.0]], [0, 0], "minimum", ()),
        ([0.0, 0.0], [[1.0, 1.0], [1.0, 1.0]], [0, 0], "flat", ()),
        ([0.0, 0.0], [[-2.0, 1.0], [1.0, -2.0]], [0, 0], "maximum", ()),
        ([1e-9, 0.0], [[2.0, 1.0], [1.0, 2.0]], [0, 0], "not stationary", ()),
        ([1e-13, 0.0], [[2.0, 1.0], [1.0, 2.0]], [0, 0], "minimum", ()),
        # strictly held at the lower bound, at the upper one; pulled off it
        ([3.0, 0.0], [[-2.0, 1.0], [1.0, 2.0]], [-1, 0], "minimum", (0,)),
        ([-3.0, 0.0], [[-2.0, 1.0], [1.0, 2.0]], [1, 0], "minimum", (0,)),
        ([-3.0, 0.0], [[-2.0, 1.0], [1.0, 2.0]], [-1, 0], "not stationary", ()),
        ([3.0, 0.0], [[2.0, 1.0], [1.0, -2.0]], [-1, 0], "saddle", (0,)),
        ([3.0, 0.0], [[2.0, 1.0], [1.0, 0.0]], [-1, 0], "flat", (0,)),
        ([3.0, -3.0], [[0.0, 0.0], [0.0, 0.0]], [-1, 1], "minimum", (0, 1)),
        ([3.0, 0.0], [[0.0, 0.0], [0.0, 1.0]], [2, 0], "minimum", (0,)),
        # a derivative of 0 at a bound: only the way into the bounds counts
        ([0.0, 0.0], [[0.0, 1.0], [1.0, 0.0]], [-1, -1], "flat", ()),
        ([0.0, 0.0], [[-1.0, 0.0], [0.0, 1.0]], [-1, 0], "saddle", ()),
        ([0.0, 0.0], [[1.0, 0.0], [0.0, -1.0]], [-1, 0], "saddle", ()),
    ],
)
def test_conditions(
    gradient: list[float],
    square: list[list[float]],
    walls: list[int],
    kind: str,
    held: tuple[int, ...],
) -> None:
    found = classify(at(gradient, square), walls)
    assert (found.kind, found.held) == (kind, held)


def test_errors_decide() -> None:
    square = [[1.0, 0.0], [0.0, 1e-6]]
    assert classify(at([0.0, 0.0], square, 1e-9)).kind == "minimum"
    assert classify(at([0.0, 0.0], square, 1e-5)).kind == "flat"
    assert classify(at([0.0, 0.0], square, math.inf)).kind == "not stationary"
    # so does the rounding of the eigenvalues, of which the smaller is 2**-53 here
    assert classify(at([0.0, 0.0], [[1.0, 1.0], [1.0, 1.0 + 2.0**-52]], 0.0)).kind == "flat"
    assert classify(at([0.0, 0.0], [[1.0, 1.0], [1.0, 1.0 + 2.0**-40]], 0.0)).kind == "minimum"


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_step_is_that_of_the_matrix_alone(sign: float) -> None:
    # definite, but hardly more than its error
    found = classify(at([0.5, 0.0], [[sign * 1.0, 0.0], [0.0, sign * 1.0]], 0.499))
    assert found.curvature == ("convex" if sign > 0 else "concave")
    assert found.step == pytest.approx((-sign * 0.5, 0.0))
    assert found.gain == pytest.approx(0.125)


def test_eigenvectors_are_those_of_the_matrix() -> None:
    draw = random.Random(5)
    for n in range(1, 8):
        rows = [[draw.gauss(0, 1) for _ in range(n)] for _ in range(n)]
        square = [[rows[i][j] + rows[j][i] for j in range(n)] for i in range(n)]
        values, vectors = eigenvectors(square)
        assert values == sorted(values)
        for value, vector in zip(values, vectors, strict=True):
            assert math.hypot(*vector) == pytest.approx(1, abs=1e-14)
            for row, x in zip(square, vector, strict=True):
                assert math.fsum(a * b for a, b in zip(row, vector, strict=True)) == pytest.approx(
                    value * x, abs=1e-13
                )


@pytest.mark.parametrize(
    ("text", "smooth"),
    [
        ("(x - 1)**2*exp(y)", True), ("sin(x)*y**3 + tanh(x)/7", True), ("x**-2", False), ("x**y", False),
        ("abs(x) + y", False), ("sqrt(x)", False), ("x/y", False), ("floor(x)", False), ("x if y > 0 else y", False),
    ],
)  # fmt: skip
def test_a_function_is_smooth_by_its_operations(text: str, smooth: bool) -> None:
    assert Single(parse(text).outputs[0]).is_smooth == smooth


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("(x - 2)**2 if x < 1 else 5", {"x": 0}),
        ("(x - 2)**2 if x <= 1 else x - 1", {"x": 0}),
        ("-x if x < 1 else x", {"x": 0}),
        ("sign(x)*x + sign(x)", {"x": 1}),
        ("floor(x) + x**2", {"x": 1.5}),
        ("abs(x) + floor(x)", {"x": 1.5}),
        ("(x - 1)**2 + (y - 2)**2 + heaviside(x - 1)", {"x": 3, "y": 1}),
    ],
)
def test_beside_a_jump_no_minimum_is_claimed(text: str, start: dict[str, float]) -> None:
    answer = minimize(text, start)
    assert (
        not answer.converged
        and "jumps along x" in answer.message
        and "local minimum" not in answer.verdict
    )
    mirrored = minimize(f"-({text})", start, maximize=True)
    assert not mirrored.converged and "may have no maximum there" in mirrored.message


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("(x - 2)**2 if x <= 2 else 1e6", {"x": 0}),
        ("x**2 if x >= 0 else 5 + x**2", {"x": 3}),
        ("x**2 + y**2 if x + y > -1e-12 else 9", {"x": 1, "y": 1}),
    ],
)
def test_beside_a_jump_upwards_a_minimum_that_is_attained_is_one(
    text: str, start: dict[str, float]
) -> None:
    answer = minimize(text, start)
    assert answer.converged and "a local minimum" in answer.verdict
    assert minimize(f"-({text})", start, maximize=True).converged


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("x**2 - 3*heaviside(x - 0.5)", {"x": -2}),
        ("(x - 1)**2 + floor(x/4)", {"x": 3}),
        ("sqrt(abs(x)) + relu(y)", {"x": 1, "y": 2}),
        ("abs(x) + abs(y - 1)", {"x": 1, "y": 2}),
        ("1e9*abs(x) + relu(x)", {"x": 1}),
    ],
)
def test_jumps_elsewhere_and_steep_kinks_are_no_jumps(text: str, start: dict[str, float]) -> None:
    assert "jumps" not in minimize(text, start).message


def test_a_jump_on_a_constraint_is_no_minimum() -> None:
    answer = minimize(
        "(x - 2)**2 + y**2 if x < 1 else 9 + x", {"x": 0, "y": 1}, subject_to="y >= 0.5"
    )
    assert not answer.converged and answer.kind != "minimum"
