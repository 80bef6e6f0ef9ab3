"""Closed forms of solutions: they are the numbers that were found, and all of them."""

from __future__ import annotations

import math

import mpmath
import pytest

from autodiff_cli.capabilities.solve.closed_forms import sum_text
from autodiff_cli.capabilities.solve.solve import solve
from autodiff_cli.questions.parse_point import Range
from autodiff_cli.questions.problem import parse


@pytest.mark.parametrize(
    ("equation", "exact"),
    [
        ("x**2 = 8", ["-2*sqrt(2)", "2*sqrt(2)"]),
        ("x**2 - x = 1", ["(1 - sqrt(5))/2", "(1 + sqrt(5))/2"]),
        ("3*x = 1", ["1/3"]),
        ("x**3 = 2", ["cbrt(2)"]),
        ("exp(2*x) - 3*exp(x) + 2 = 0", ["0", "log(2)"]),
        ("2**(3*x - 1) = 5", ["(1 + log(5)/log(2))/3"]),
        ("log(x**2) = 1", ["-sqrt(e)", "sqrt(e)"]),
        ("log(x) = 400", ["exp(400)"]),
        ("atan(x) = pi/3", ["sqrt(3)"]),
        ("abs(x - 1) = 3/7", ["4/7", "10/7"]),
        ("x**2 = pi", ["-sqrt(pi)", "sqrt(pi)"]),
        ("x**3 - 2*x + 1 = 0", ["(-1 - sqrt(5))/2", "(sqrt(5) - 1)/2", "1"]),
        ("(x - 1)**2*(3*x + 2)*(x**2 - 3) = 0", ["-sqrt(3)", "-2/3", "1", "sqrt(3)"]),
        ("exp(3*x) - 2*exp(x) + 1 = 0", ["log((sqrt(5) - 1)/2)", "0"]),
    ],
)
def test_solutions_have_their_closed_forms(equation: str, exact: list[str]) -> None:
    answer = solve(equation)
    assert [solution.exact for solution in answer.solutions] == exact
    assert answer.complete and not answer.formulas
    for solution, formula in zip(answer.solutions, exact, strict=True):
        value = eval(formula, {**vars(mpmath), "log": mpmath.log})  # noqa: S307
        assert math.isclose(solution.values["x"], float(value), rel_tol=3e-16, abs_tol=1e-300)


@pytest.mark.parametrize(
    ("equation", "formulas"),
    [
        ("sin(x) = 0", ["pi*n"]),
        ("cos(x) = 0", ["pi/2 + pi*n"]),
        ("sin(x) = 1/2", ["pi/6 + 2*pi*n", "5*pi/6 + 2*pi*n"]),
        ("cos(x) = -1/2", ["-2*pi/3 + 2*pi*n", "2*pi/3 + 2*pi*n"]),
        ("tan(x) = sqrt(3)", ["pi/3 + pi*n"]),
        ("sin(x) = -sqrt(2)/2", ["-pi/4 + 2*pi*n", "5*pi/4 + 2*pi*n"]),
        ("sin(x)**2 = 1/2", ["pi/4 + pi*n/2"]),
        ("cos(x) = 1", ["2*pi*n"]),
        ("tan(3*x + 1) = 1", ["(pi - 4)/12 + pi*n/3"]),
        ("sec(x) = 2", ["-pi/3 + 2*pi*n", "pi/3 + 2*pi*n"]),
        ("csc(2*x) = -2", ["-pi/12 + pi*n", "7*pi/12 + pi*n"]),
        ("cot(x) = -1", ["3*pi/4 + pi*n"]),
        ("2*sin(x)**2 + sin(x) - 1 = 0", ["pi/6 + 2*pi*n/3"]),
        ("sin(x) = 0.3", ["asin(0.3) + 2*pi*n", "pi - asin(0.3) + 2*pi*n"]),
        ("exp(cos(x)) = 1", ["pi/2 + pi*n"]),
        ("sin(x) = cos(x)", ["pi/4 + pi*n"]),
        ("sin(x) + cos(x) = 1", ["2*pi*n", "pi/2 + 2*pi*n"]),
        ("sin(2*x) = sin(x)", ["-pi/3 + 2*pi*n", "pi*n", "pi/3 + 2*pi*n"]),
        ("sin(3*x) = sin(x)", ["pi*n", "pi/4 + pi*n/2"]),
        ("cos(2*x) = cos(x)", ["2*pi*n/3"]),
        ("tan(x) = sin(x)", ["pi*n"]),
        ("tan(x) + cot(x) = 2", ["pi/4 + pi*n"]),
        ("sqrt(3)*sin(x) + cos(x) = 1", ["2*pi*n", "2*pi/3 + 2*pi*n"]),
        ("3*sin(x) + 4*cos(x) = 5", ["acos(0.8) + 2*pi*n"]),
        ("sin(x/2) = cos(x)", ["pi/3 + 4*pi*n/3"]),
        ("x*sin(x) = 0", ["pi*n"]),
        ("sin(x)*cos(x) = 0", ["pi*n/2"]),
        ("(x**2 - 2)*cos(x) = 0", ["-sqrt(2)", "sqrt(2)", "pi/2 + pi*n"]),
    ],
)
def test_solutions_that_repeat_have_formulas_for_all(equation: str, formulas: list[str]) -> None:
    answer = solve(equation)
    assert [each.formula for each in answer.formulas] == formulas
    assert all([*each.whole] == ["n"] * ("n" in each.formula) for each in answer.formulas)
    # each number that was found is one of them, and each of them near 0 was found
    own = {**vars(math), "sqrt": math.sqrt}
    members = [
        eval(formula, {**own, "n": n})  # noqa: S307
        for formula in formulas
        for n in range(-20, 21)
    ]
    found = [solution.values["x"] for solution in answer.solutions]
    for x, exact in ((s.values["x"], s.exact) for s in answer.solutions):
        assert min(abs(x - member) for member in members) < 1e-13
        assert math.isclose(eval(exact, own), x, rel_tol=1e-15, abs_tol=1e-300)  # noqa: S307
    assert all(
        any(abs(x - member) < 1e-13 for x in found) for member in members if abs(member) < 1.5
    )


def test_between_bounds_all_are_known_and_without_a_solution_it_is_said() -> None:
    answer = solve("sin(x) = 1/2", between=Range(0, 6.3), every=True)
    assert (answer.complete, answer.formulas) == (True, [])
    assert [solution.exact for solution in answer.solutions] == ["pi/6", "5*pi/6"]
    for none in ("sin(x) = 2", "sin(x) + cos(x) = 2", "sin(x)**2 + cos(x)**2 = 2"):
        assert (solve(none).reason, solve(none).complete) == ("none", True), none
    # of 637 the nearest are listed
    assert solve("sin(100*x) = 1/2").message == (
        "12 of 637 solutions for -10 ≤ x ≤ 10; the formulas give all"
    )
    assert solve("sin(x/1e8) = 1/2").message == "1 solution found; the formulas give all"
    assert solve("sin(x) = 1/2", {"x": 3}, unknowns=["x"]).solutions[0].exact == "5*pi/6"


def test_nothing_is_claimed_that_is_not_known() -> None:
    for equation in (
        "x**3 - x = 1",
        "x*sin(x) = 1",
        "sin(x) = x*cos(x)",
        "sin(x**2) = 1/2",
        "exp(x) = 3*x",
    ):
        answer = solve(equation)
        assert not answer.formulas and not any(solution.exact for solution in answer.solutions)
    # conditions that the numbers do not meet
    assert solve("sqrt(x) = -1").reason != "solved"
    assert [s.exact for s in solve("sqrt(x + 2) = x").solutions] in ([""], ["2"])


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("pi/4 + 3*pi", "13*pi/4"),
        ("((pi/4 - 1) + 4*pi)/3", "(17*pi - 4)/12"),
        ("acos(-sqrt(3)/2)", "5*pi/6"),
        ("atan(-1/sqrt(3))", "-pi/6"),
        ("asin(0.3)/100 + 17*pi/50", "(asin(0.3) + 34*pi)/100"),
        ("1 - (pi - 3)/(pi + 1)", "1 - (pi - 3)/(pi + 1)"),
        ("-(sqrt(2) + sqrt(3))**2", "-(sqrt(2) + sqrt(3))**2"),
        ("0*pi", "0"),
    ],
)
def test_sums_are_written_over_one_divisor(formula: str, text: str) -> None:
    assert sum_text(parse(formula).outputs[0]) == text
