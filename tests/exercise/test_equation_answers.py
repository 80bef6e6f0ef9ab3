"""Answers with other variables and with units are judged by the equation and by the set of
solutions.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.exercise.equation_answers import check_solution
from autodiff_cli.engine.numbers.budget import use_budget
from autodiff_cli.questions.parse_point import parse_ranges
from autodiff_cli.questions.quantities import quantity_value


@pytest.mark.parametrize(
    ("text", "answer", "said"),
    [
        ("(x - a)*(x - b) = 0", "a, b", "right"),
        ("(x - a)*(x - b) = 0", "b, a", "right"),
        ("(x - a)*(x - b) = 0", "a, b, a", "right"),
        ("(x - a)*(x - b) = 0", "a", "1 solution is missing"),
        ("(x - a)*(x - b) = 0", "a, a", "1 solution is missing"),
        ("(x - a)*(x - b) = 0", "a, -b", "-b` is not a solution"),
        ("(x - a)**2 = 0", "a, a", "right"),
        ("(x - a)**2 = 0", "a", "right"),
        ("x**2 = a**2", "±a", "right"),
        ("x**2 = a**2", "a, -a", "right"),
        ("x**2 = a**2", "abs(a), -abs(a)", "right"),
        ("x**2 = a**2", "abs(a)", "1 solution is missing"),
        ("x**2 = a", "±sqrt(a)", "right"),
        ("x**2 = a", "sqrt(a)", "1 solution is missing"),
        ("x**2 = a", "±a", "`+a` is not a solution"),
        ("a*x**2 + b*x = 0", "0, -b/a", "right"),
        ("a*x**2 + b*x = 0", "-b/a", "1 solution is missing"),
        ("a*x**2 + b*x = 0", "0, b/a", "`b/a` is not a solution"),
        ("a*x + b = 0", "b/a", "`b/a` is not a solution"),
        ("x**2 - (a + 1)*x + a = 0", "1, a", "right"),
        ("x**2 = a", "none", "there are solutions"),
        # equations whose solutions are not known as formulas
        (
            "x**3 + x = a**3 + a",
            "a",
            "right: this is a solution; whether there are others is not known",
        ),
        ("x**3 = a**3", "-a", "`-a` is not a solution"),
        ("x**5 - a*x**4 = 0", "0, a", "right"),
    ],
)
def test_formulas_are_put_into_the_equation(text: str, answer: str, said: str) -> None:
    marked = check_solution(text, unknowns=["x"], answer=answer)
    assert said in marked.message and marked.right == said.startswith("right")
    assert "search" not in marked.message


@pytest.mark.parametrize(
    ("text", "point", "more", "answer", "said"),
    [
        ("k*x = F", "k=2 N/m, F=1 N", {}, "0.5 m", "right"),
        ("k*x = F", "k=2 N/m, F=1 N", {}, "50 cm", "right"),
        ("k*x = F", "k=2 N/m, F=1 N", {}, "x = 50 cm", "right"),
        ("k*x = F", "k=2 N/m, F=1 N", {}, "0.5", "right"),
        ("k*x = F", "k=2 N/m, F=1 N", {"units": "mm"}, "500", "right"),
        ("k*x = F", "k=2 N/m, F=1 N", {"units": "mm"}, "0.5 m", "right"),
        ("k*x = F", "k=2 N/m, F=1 N", {"units": "mm"}, "0.5", "not a solution"),
        ("k*x = F", "k=3 N/m, F=1 N", {}, "33.33 cm", "is rounded"),
        ("k*x = F", "k=3 N/m, F=1 N", {"units": "mm"}, "333.33", "is rounded"),
        ("k*x = F", "k=3 N/m, F=1 N", {"units": "mm"}, "333.34", "not a solution"),
        ("k*x = F", "k=2 kN/m, F=1 N", {}, "0.5 mm", "right"),
        ("k*x = F", "k=2 kN/m, F=1 N", {}, "0.5 cm", "not a solution"),
        (
            "x**2 = 2[m^2]",
            "",
            {"between": parse_ranges(["x=0 m:3 m"], quantity_value)},
            "sqrt(2)",
            "right",
        ),
        ("T = T0 + 5[K]", "T0=20 °C", {"units": "°C"}, "25 °C", "right"),
        ("T = T0 + 5[K]", "T0=20 °C", {"units": "°C"}, "298.15 K", "right"),
        ("T = T0 + 5[K]", "T0=20 °C", {"units": "°C"}, "25", "right"),
        ("T = T0 + 5[K]", "T0=20 °C", {"units": "°C"}, "26 °C", "not a solution"),
    ],
)
def test_answers_with_units(
    text: str, point: str, more: dict[str, Any], answer: str, said: str
) -> None:
    unknown, values = (
        "T" if "T0" in text else "x",
        dict(part.split("=") for part in point.split(", ") if part),
    )
    marked = check_solution(text, values, unknowns=[unknown], answer=answer, **more)
    assert said in marked.message and marked.right == (said in ("right", "is rounded")), marked


def test_an_answer_of_another_dimension_is_an_error() -> None:
    with pytest.raises(ExpressionError, match=r"is a time .* is a length"):
        check_solution("k*x = F", {"k": "2 N/m", "F": "1 N"}, unknowns=["x"], answer="5 s")


ROOTS = ("a", "-b", "a + b", "a*b", "a/b", "2*a - 3", "b**2", "1/(1 + a**2)", "exp(a)", "0", "3")


def test_random_equations_of_known_roots_have_these_answers_and_no_others() -> None:
    """The roots are put together by hand: c·(x - r)·(x - s), also multiplied out."""
    rng = random.Random(8)
    for _ in range(6):
        r, s = rng.sample(ROOTS, 2)
        text = rng.choice(
            (f"2*(x - ({r}))*(x - ({s})) = 0", f"x**2 + ({r})*({s}) = (({r}) + ({s}))*x")
        )
        for answer, right in (
            (f"{s}; {r}", True),
            (f"({r}) + ({s}) - ({s}), {s}", True),
            (f"{r}", False),
            (f"({r}) + 1/1000, {s}", False),
            (f"{r}, {s}, ({r}) + ({s}) + 1", False),
        ):
            with use_budget():
                assert check_solution(text, unknowns=["x"], answer=answer).right == right, (
                    text,
                    answer,
                )
