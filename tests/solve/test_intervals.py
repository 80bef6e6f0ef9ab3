"""Equations that hold on intervals: where they begin and end, beside single solutions, against
exact fractions.
"""

from __future__ import annotations

import math
import random
import re
from fractions import Fraction

import pytest

from autodiff_cli.capabilities.solve.solve import Solved, solve
from autodiff_cli.engine.numbers.budget import use_budget
from autodiff_cli.questions.arithmetic import Arithmetic
from autodiff_cli.questions.parse_point import Range
from counting import compared, compares
from piecewise import random_function, solutions

HOLDS = re.compile(r"the equation holds at all numbers( that were tried)?(?: for (.*))?")


def intervals_of(answer: Solved) -> list[str]:
    """Return where an answer says that the equation holds, with `?` where it was only tried."""
    found = [
        HOLDS.fullmatch(warning.message) for warning in answer.warnings if warning.kind == "flat"
    ]
    return [f"{match[2] or 'everywhere'}{'?' if match[1] else ''}" for match in found if match]


@pytest.mark.parametrize(
    ("text", "between", "intervals", "roots"),
    [
        ("relu(x)*(x - 2) = 0", (-5, 5), ["-5 ≤ x ≤ 0"], [2.0]),
        ("relu(x)*(x - 2) = 0", None, ["x ≤ 0"], [2.0]),
        ("where(x >= 0, (x - 2)**2, 0) = 0", None, ["x < 0"], [2.0]),
        ("abs(x - 3) + abs(x - 7) = 4", None, ["3 ≤ x ≤ 7"], []),
        ("abs(x) + abs(x - 4) = 4", None, ["0 ≤ x ≤ 4"], []),
        # decimals are what they are written as
        ("abs(x - 0.1) + abs(x - 0.3) = 0.2", None, ["0.1 ≤ x ≤ 0.3"], []),
        ("abs(x - 0.1) + abs(x - 0.3) = 0.4 - 0.2", (-1, 0.2), ["0.1 ≤ x ≤ 0.2"], []),
        ("max(x - 1/3, 0) = 0", None, ["x ≤ 0.3333333333"], []),
        # poles and ends of domains are not in them
        ("x/x = 1", None, ["x < 0", "x > 0"], []),
        ("exp(log(x)) = x", None, ["x > 0"], []),
        ("sqrt(x)**2 = x", None, ["x ≥ 0"], []),
        ("tan(x)*cos(x) = sin(x)", (0, 4), ["0 ≤ x < 1.570796327?", "1.570796327 < x ≤ 4?"], []),
        ("sin(x)**2 + cos(x)**2 = 1", None, ["everywhere"], []),
        # a root that is an end, by value
        ("where(x**2 < 2, 0, 1) = 0", None, ["-1.414213562 < x < 1.414213562"], []),
        ("where(x**2 <= 2, 0, 1) = 0", None, ["-1.414213562 ≤ x ≤ 1.414213562"], []),
        ("where(exp(x) < 2, 0, 1) = 0", None, ["x < 0.6931471806?"], []),
        ("where(exp(x) <= 2, 0, 1) = 0", None, ["x ≤ 0.6931471806?"], []),
        ("where(x < pi, 0, sin(x)) = 0", (0, 7), ["0 ≤ x ≤ 3.141592654"], [2 * math.pi]),
        ("where(x < 5, 0, exp(-(x - 60)**2)) = 0", (0, 7), ["0 ≤ x < 5"], []),
        ("max(abs(x - pi) - 1, 0)*(x - 7) = 0", (0, 8), ["2.141592654 ≤ x ≤ 4.141592654"], [7.0]),
        ("acos(cos(x)) = x", (-5, 8), ["0 ≤ x ≤ 3.141592654?"], []),
        # what only rounds to 0 is no solution
        ("where(x > 15, tanh(x), 1) = 1", (-5, 15), ["-5 ≤ x ≤ 15"], []),
        ("exp(-2.34*(x - 60)**2) = 0", (-5, 5), [], []),
    ],
)
def test_intervals_of_solutions(
    text: str, between: tuple[float, float] | None, intervals: list[str], roots: list[float]
) -> None:
    answer = solve(
        text, between=None if between is None else Range(*between), every=between is not None
    )
    assert intervals_of(answer) == intervals
    found = [solution.values["x"] for solution in answer.solutions]
    assert len(found) == len(intervals) + len(roots)
    assert all(any(math.isclose(x, y) for y in found) for x in roots)
    assert bool(intervals) == (
        f"interval{'s' * (len(intervals) > 1)} of solutions" in answer.message
    )


def test_the_other_variables_are_decimals_too() -> None:
    answer = solve("abs(x - a) + abs(x - b) = 0.2", {"a": "0.1", "b": 0.3}, unknowns=["x"])
    assert intervals_of(answer) == ["0.1 ≤ x ≤ 0.3"]
    answer = solve("max(x - a, 0) = 0", {"a": "pi/4"}, unknowns=["x"])
    assert intervals_of(answer) == ["x ≤ 0.7853981634"]


@pytest.mark.parametrize(
    ("text", "roots", "sides"),
    [
        ("ceil(abs(x + 1.9)) = 0", [-1.9], 2),
        ("min(sign(2*x - 0.2), 0.1 - x) = 0", [0.1], 1),
        ("sign(x) = 0", [0.0], 2),
        ("where(x >= 1, x - 1, 5) = 0", [1.0], 1),
        ("floor(x) = x", [-5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 1),
        ("floor(x**2) - x**2 = where(x > 1.3, where(x < 1.5, 0, 5), 5)", [math.sqrt(2)], 1),
        ("floor(x) = 7 - x", [], 0),
        ("floor(x) + x = 7.5", [], 0),
    ],
)
def test_an_equation_that_holds_at_a_jump_by_value_has_its_solution_there(
    text: str, roots: list[float], sides: int
) -> None:
    for arithmetic in (Arithmetic("double"), Arithmetic("precision", 30)):
        answer = solve(text, between=Range(-5, 5), every=True, arithmetic=arithmetic)
        found = [
            float(getattr(x, "text", x))
            for x in (solution.values["x"] for solution in answer.solutions)
        ]
        assert found == pytest.approx(roots, rel=1e-15, abs=0)
        said = [warning.message for warning in answer.warnings if warning.kind == "jump"]
        assert len(said) == bool(sides)
        assert all(("on both sides" in message) == (sides == 2) for message in said)


@compares(30)
def test_random_piecewise_lines_hold_where_fractions_say() -> None:
    rng, seen = random.Random(47), 0
    for _ in range(90):
        function = random_function(rng, rng.choice((1, 2, 2, 3)))
        intervals, roots = solutions(function)
        if "x" not in function.text or len(intervals) > 8 or (not intervals and rng.random() < 0.7):
            continue
        with use_budget():
            answer = solve(f"{function.text} = 0", between=Range(-5, 5), every=True)
        expected = [
            f"{float(low):.10g} {'≤' if begins else '<'} x {'≤' if ends else '<'}"
            f" {float(high):.10g}"
            for low, begins, high, ends in intervals
        ]
        assert intervals_of(answer) == expected, function.text
        found = [solution.values["x"] for solution in answer.solutions]
        inside = [
            x for x in found if any(low <= Fraction(x) <= high for low, _, high, _ in intervals)
        ]
        assert len(inside) == len(intervals), function.text
        single = [x for x in found if x not in inside]
        assert single == pytest.approx([float(x) for x in roots], rel=1e-12, abs=1e-12), (
            function.text
        )
        seen += bool(intervals)
        compared()
    assert seen > 15


@pytest.mark.parametrize(("high", "seen"), [(200, 200), (1000, 400)])
def test_jumps_that_are_not_looked_at_are_said(high: int, seen: int) -> None:
    answer = solve("floor(x) = x", between=Range(0, high), every=True)
    found = [solution.values["x"] for solution in answer.solutions]
    assert found[: seen + 1] == list(range(seen + 1))
    unseen = [
        warning.message
        for warning in answer.warnings
        if "not every jump was looked at" in warning.message
    ]
    expected = (
        "there may be more solutions on jumps for 400 < x < 1000: not every jump was looked at"
    )
    assert unseen == ([expected] if seen < high else [])
