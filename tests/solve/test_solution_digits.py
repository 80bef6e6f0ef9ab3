"""Digits of solutions and of their derivatives, wherever these are shown. Right values are derived
by hand.
"""

from __future__ import annotations

import math

import pytest

from autodiff_cli.capabilities.plot.plot import plot
from autodiff_cli.capabilities.propagate.propagate import propagate
from autodiff_cli.capabilities.solve.solve import solve
from autodiff_cli.questions.parse_point import Range

AT_400 = (1 - 400) * math.exp(-400)  # of x*exp(-x)
HARD = [
    ("y = x/exp(x)", "400", AT_400),
    ("y = (1 - cos(x))/x**2", "1e-9", -1e-9/12),  # that is 1/2 less x**2/24
    ("y = log(1/exp(x))", "400", -1.0),
    ("y = sqrt(x**2 + 1) - x", "1e6", -5e-13),  # -1/(2*x**2)
]  # fmt: skip


@pytest.mark.parametrize(("text", "x", "slope"), HARD)
def test_solve_has_derivatives_of_more_digits_where_doubles_lose_them(
    text: str, x: str, slope: float
) -> None:
    answer = solve(text, {"x": x}, unknowns=["y"])
    assert answer.solutions[0].derivatives is not None
    assert answer.solutions[0].derivatives["y"]["x"] == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize(("text", "x", "slope"), HARD[:2])
def test_propagate_and_plot_say_that_derivatives_of_solutions_have_no_digit(
    text: str, x: str, slope: float
) -> None:
    lost = [
        one
        for one in propagate(text, {"x": f"{x}+-1%"}, unknowns=["y"]).warnings
        if one.kind == "lost_digits"
    ]
    assert "the derivative of `y` by `x` has no reliable digit" in lost[0].message
    assert f"which gives {slope:.5e}"[:18] in f"{lost[0].hint}"
    ends = {"x": Range(float(x), 1.01*float(x))}  # fmt: skip
    drawn = [
        one
        for one in plot(text, {}, ranges=ends, unknowns=["y"]).warnings
        if one.kind == "lost_digits"
    ]
    assert "the derivative of `y` by `x` has no reliable digit" in drawn[0].message


def test_nothing_is_said_where_no_digit_is_lost() -> None:
    assert not solve("x**2 = a", {"a": "2"}, unknowns=["x"]).warnings
    for answer in (
        propagate("y**3 + y = a", {"a": "2+-0.1"}, unknowns=["y"]),
        plot("y**3 + y = a", {}, ranges={"a": Range(1.0, 2.0)}, unknowns=["y"]),
    ):
        assert not [one for one in answer.warnings if one.kind == "lost_digits"]
