"""Guarded removable singularities: derivatives are those of the function around the point."""

from __future__ import annotations

from typing import Any

import pytest

from autodiff_cli import diff, export, gradient, hessian, jacobian, taylor
from autodiff_cli.errors import ExpressionError

REMOVABLE = [
    # the program, its point, and by hand from the power series: gradient, Hessian (upper triangle)
    ("where(x == 0, 1, sin(x)/x)", {"x": 0}, [0], [-1 / 3]),
    ("where(x == 0, 1, (exp(x) - 1)/x)", {"x": 0}, [1 / 2], [1 / 3]),
    ("where(x != 0, tan(x)/x, 1)", {"x": 0}, [0], [2 / 3]),
    ("where(x - 1 == 0, 1, log(x)/(x - 1))", {"x": 1}, [-1 / 2], [2 / 3]),
    ("where(2*x == 0, 1/2, (1 - cos(x))/x**2)", {"x": 0}, [0], [-1 / 12]),
    ("where(1 - x == 0, 1, log(x)/(x - 1))", {"x": 1}, [-1 / 2], [2 / 3]),
    # the logarithmic mean, whose series is y + u/2 - u**2/(12*y) + … in u = x - y
    (
        "where(x == y, x, (x - y)/(log(x) - log(y)))",
        {"x": 2, "y": 2},
        [1 / 2, 1 / 2],
        [-1 / 12, 1 / 12, -1 / 12],
    ),
    (
        "where(x - y == 0, x, (x - y)/(log(x) - log(y)))",
        {"x": 2, "y": 2},
        [1 / 2, 1 / 2],
        [-1 / 12, 1 / 12, -1 / 12],
    ),
    ("where(x == 0, y, sin(x*y)/x) + x*y**2", {"x": 0, "y": 2}, [4, 1], [-8 / 3, 4, 0]),
    ("where(x*y == 0, 1, sin(x*y)/(x*y))", {"x": 0, "y": 2}, [0, 0], [-4 / 3, 0, 0]),
    (
        "where(x**2 + y**2 == 0, 1, (exp(x**2 + y**2) - 1)/(x**2 + y**2))",
        {"x": 0, "y": 0},
        [0, 0],
        [1, 0, 1],
    ),
    ("where(k == 0, t, (1 - exp(-k*t))/k)", {"k": 0, "t": 3}, [-9 / 2, 1], [9, -3, 0]),
    ("where(n == 1, log(x), (x**(1 - n) - 1)/(1 - n))", {"n": 1, "x": 1}, [0, 1], [0, 0, -1]),
]


def _upper(rows: list[list[Any]]) -> list[float]:
    return [float(x) for i, row in enumerate(rows) for x in row[i:]]


@pytest.mark.parametrize(("text", "point", "slopes", "second"), REMOVABLE)
def test_all_answers_have_the_derivatives_of_the_function_around_the_guard(
    text: str, point: dict[str, float], slopes: list[float], second: list[float]
) -> None:
    names = [*point]
    answer = gradient(text, point, wrt=names)
    assert [answer.gradient[name] for name in names] == pytest.approx(slopes)
    assert not answer.warnings
    at = hessian(text, point, wrt=names)
    assert [at.gradient[name] for name in names] == pytest.approx(slopes)
    assert _upper(at.hessian) == pytest.approx(second)
    assert [float(x) for x in jacobian(text, point, wrt=names).jacobian[0]] == pytest.approx(slopes)
    for order, expected in ((1, slopes), (2, second)):
        there = diff(text, point, wrt=names, order=order)
        assert [derivative.value for derivative in there.derivatives] == pytest.approx(expected)


NOT_ISOLATED = ("where(x*y == 0", "where(x**2 + y**2 == 0")
"""Guards that isolate no variable: a formula for all of their points is not sought, and code says
so.
"""


@pytest.mark.parametrize(
    ("text", "point", "slopes", "second"),
    [row for row in REMOVABLE if not row[0].startswith(NOT_ISOLATED)],
)
def test_code_and_formulas_have_them_too(
    text: str, point: dict[str, float], slopes: list[float], second: list[float]
) -> None:
    names = [*point]
    assert export(text, "python", wrt=names).warnings == ()
    for source in (
        export(text, "python", wrt=names).source,
        diff(text, wrt=names, to="python").program,
    ):
        scope: dict[str, Any] = {}
        exec(source, scope)
        function = scope["f"] if "f" in scope else scope["derivative"]
        assert [*function(**point)[1]] == pytest.approx(slopes)


@pytest.mark.parametrize(
    ("text", "guard"),
    [
        *(
            (row[0], row[0][6:].split(" ==")[0])
            for row in REMOVABLE
            if row[0].startswith(NOT_ISOLATED)
        ),
        ("where(x == 0, 0, x*log(x))", "x"),
        ("where(x != 0, exp(-1/x**2), 0)", "x"),
    ],
)
def test_code_says_where_it_has_the_derivatives_of_a_branch_alone(text: str, guard: str) -> None:
    (warning,) = export(text, "python").warnings
    assert warning.kind == "kink" and warning.message.startswith(f"where `{guard} ")
    assert warning.span is not None and text[slice(*warning.span[:2])].startswith(guard)


@pytest.mark.parametrize(
    "text",
    [
        "where(n == 2, x**2, x**3)",  # a switch: both branches have values everywhere
        "where(x == 0, 2, sin(x)/x)",  # a jump
        "where(n == 2, log(x), 1/x)",
        "where(c == 0, 0, c*log(y))",
    ],
)
def test_code_says_nothing_of_guards_that_are_decided(text: str) -> None:
    assert export(text, "python").warnings == ()


def test_a_series_has_all_its_terms() -> None:
    coefficients = taylor("where(x == 0, 1, sin(x)/x)", {"x": 0}, order=6)
    assert coefficients.coefficients == pytest.approx([1, 0, -1 / 6, 0, 1 / 120, 0, -1 / 5040])
    assert not coefficients.warnings
    (fifth,) = diff("where(x == 0, 1, (exp(x) - 1)/x)", order=5, everywhere=True).derivatives
    # f = Σ xᵏ/(k+1)!, so the fifth derivative is 5!/6!
    assert fifth.formula.startswith("where(x == 0, 1/6, ")


def test_a_variable_of_the_guard_that_stays_in_the_branch_costs_no_order() -> None:
    # 2*x in the equation, x in the divisor: f = 2 - 2*x + 8/3*x**2 - … for log(1 + 2*x)/x
    at = hessian("where(2*x == 0, 2, log(1 + 2*x)/x)", {"x": 0})
    assert (at.gradient["x"], at.hessian[0][0]) == pytest.approx((-2, 16 / 3))


def test_a_value_that_is_not_the_limit_is_a_jump() -> None:
    text = "where(x == 0, 2, sin(x)/x)"
    with pytest.raises(ExpressionError, match="the value jumps between 2 and 1 here"):
        hessian(text, {"x": 0})
    with pytest.raises(ExpressionError, match="it is 2 at the point, and its limit is 1"):
        taylor(text, {"x": 0})
    assert gradient(text, {"x": 0}).warnings


UNDECIDED = [
    "where(x == 0, 0, x/gamma(-1/x**2))",
    "where(x == 0, 0, x*digamma(-1/x**2))",
]


@pytest.mark.parametrize("text", UNDECIDED)
def test_what_is_not_decided_is_said(text: str) -> None:
    assert gradient(text, {"x": 0}).warnings
    with pytest.raises(ExpressionError, match="not decided"):
        hessian(text, {"x": 0})


def test_a_function_that_is_undefined_beside_the_guard_has_no_derivative_there() -> None:
    # at y = 0 the branch is 0/0 for every x
    text = "where(x == 0, 1, sin(x*y)/(x*y))"
    assert gradient(text, {"x": 0, "y": 0}).warnings
    with pytest.raises(ExpressionError, match="not decided"):
        hessian(text, {"x": 0, "y": 0})
    scope: dict[str, Any] = {}
    exec(export("where(c == 0, 0, c*log(y))", "python").source, scope)
    assert scope["f"](0.0, 2.0) == (0.0, (pytest.approx(0.6931471805599453), 0.0))
    # the value stays where the logarithm has none
    assert scope["f"](0.0, -1.0) == (0.0, (0.0, 0.0))
