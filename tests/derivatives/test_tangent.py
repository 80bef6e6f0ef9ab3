"""Tangents and normals, held against SymPy's derivatives and evaluation."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
import sympy

from autodiff_cli import ExpressionError, tangent

X = sympy.Symbol("x", real=True)
FORMULAS = {
    "x**3 - 4*x + 1": X**3 - 4 * X + 1,
    "1/(1 + x**2)": 1 / (1 + X**2),
    "(x - 1)/(x + 7)": (X - 1) / (X + 7),
    "exp(-x/2)": sympy.exp(-X / 2),
    "sin(2*x)*x": sympy.sin(2 * X) * X,
    "sqrt(x + 21)": sympy.sqrt(X + 21),
    "log(x + 21)": sympy.log(X + 21),
    "atan(x)": sympy.atan(X),
}


def sides(equation: str) -> sympy.Expr:
    """The right side of an equation, for SymPy: its formulas have the language's plain names."""
    return sympy.sympify(equation.partition(" = ")[2], {"x": X, "e": sympy.E}, rational=True)


@pytest.mark.parametrize("text", FORMULAS)
def test_lines_are_those_of_sympy(text: str) -> None:
    formula, drawn = FORMULAS[text], random.Random(text)
    for _ in range(8):
        at = Fraction(drawn.randint(-40, 40), drawn.randint(1, 6) * 2)
        place = sympy.Rational(at.numerator, at.denominator)
        answer = tangent(text, {"x": str(at)})
        slope = sympy.diff(formula, X).subs(X, place)
        height = formula.subs(X, place)
        assert answer.is_exact and answer.kind == "tangent"
        assert sympy.simplify(sides(answer.tangent) - (height + slope * (X - place))) == 0
        if slope == 0:
            assert answer.normal == f"x = {place}"
        else:
            assert sympy.simplify(sides(answer.normal) - (height - (X - place) / slope)) == 0
        assert answer.value == pytest.approx(float(height), rel=1e-14, abs=1e-14)
        assert answer.slope == pytest.approx(float(slope), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize(
    ("text", "at", "line", "normal", "remark"),
    [
        ("cbrt(x)", "0", "x = 0", "y = 0", None),
        ("cbrt(x - 2) + 5", "2", "x = 2", "y = 5", None),
        ("sqrt(x)", "0", "x = 0", "y = 0", "begins"),
        ("asin(x)", "-1", "x = -1", "y = -pi/2", "begins"),
        ("sqrt(abs(x))", "0", "x = 0", "y = 0", "cusp"),
        ("cbrt(x)**2", "0", "x = 0", "y = 0", "cusp"),
    ],
)
def test_vertical_tangents(text: str, at: str, line: str, normal: str, remark: str | None) -> None:
    answer = tangent(text, {"x": at})
    assert (answer.kind, answer.slope, answer.tangent, answer.normal) == (
        "vertical",
        None,
        line,
        normal,
    )
    said = [warning.message for warning in answer.warnings]
    assert len(said) == (remark is not None) and all(
        remark in message for message in said if remark
    )


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("abs(x)", "0", "the slope is -1 on the left and 1 on the right"),
        ("max(x, x**2)", "1", "the slope is 1 on the left and 2 on the right"),
        ("abs(x**2 - 4)", "2", "the slope is -4 on the left and 4 on the right"),
        ("x if x > 0 else sqrt(-x)", "0", "the slope is -inf on the left and 1 on the right"),
        ("floor(x)", "1", "jumps"),
        ("1/x", "0", "division by zero"),
        ("tan(x)", "pi/2", "it goes to infinity there"),
        ("1/cos(x)", "3*pi/2", "it goes to infinity there"),
        ("log(x)", "-1", "undefined"),
        ("x*sin(1/x)", "0", "division by zero"),
    ],
)
def test_points_without_a_tangent(text: str, at: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        tangent(text, {"x": at})
    assert message in caught.value.diagnostic.message
    assert caught.value.kind in ("derivative", "domain")


def test_a_level_tangent_a_name_y_and_a_hole() -> None:
    assert tangent("x**2", {"x": 0}).normal == "x = 0"
    assert tangent("y**2", {"y": 1}).tangent == "f = 2*y - 1"
    assert tangent("x*y", {"x": 1, "y": 3}, wrt="x").tangent == "f = 3*x"
    hole = tangent("sin(x)/x", {"x": 0})
    assert hole.tangent == "y = 1" and "no value at this point" in hole.warnings[0].message


def test_units() -> None:
    answer = tangent("x**2", "x=2 m")
    assert (
        answer.tangent == "y = 4[m²] + 4[m]*(x - 2[m])"
        and answer.normal is None
        and not answer.is_exact
    )


def test_numbers_of_exact_equations_have_their_digits() -> None:
    line = tangent("1 - tanh(2*x)", {"x": 100})
    assert line.value == pytest.approx(3.8303391934280114e-174, rel=1e-12)
    assert not line.warnings


def test_lost_digits_of_a_tangent_are_said() -> None:
    (warning,) = tangent("floor((exp(x) - 1)/x)", {"x": "1.007e-08"}).warnings
    assert warning.message == "by rounding, the value has no reliable digit"
    assert warning.hint is not None and "`tangent --precision 30`" in warning.hint


@pytest.mark.parametrize(
    ("text", "at", "line", "normal"),
    [
        # worked out by hand from F_x*(x - x0) + F_y*(y - y0) = 0
        ("x^2 + y^2 = 25", {"x": 3, "y": 4}, "y = 6.25 - 0.75*x", "y = 4*x/3"),
        ("x^2 + y^2 = 25", {"x": 3, "y": -4}, "y = 0.75*x - 6.25", "y = -4*x/3"),
        ("x^2 + y^2 = 25", {"x": 5, "y": 0}, "x = 5", "y = 0"),
        ("x^2 + y^2 = 25", {"x": 0, "y": 5}, "y = 5", "x = 0"),
        ("x^3 + y^3 = 6*x*y", {"x": 3, "y": 3}, "y = 6 - x", "y = x"),
        ("exp(x*y) = x - y", {"x": 0, "y": -1}, "y = 2*x - 1", "y = -x/2 - 1"),
        ("sin(x + y) = y^2*cos(x)", {"x": "pi", "y": 0}, "y = pi - x", "y = x - pi"),
        ("abs(x) + abs(y) = 1", {"x": "1/2", "y": "1/2"}, "y = 1 - x", "y = x"),
        ("y = x^2", {"x": 2, "y": 4}, "y = 4*x - 4", "y = 4.5 - x/4"),
        ("u*v = 1", {"u": 2, "v": "1/2"}, "v = 1 - u/4", "v = 4*u - 7.5"),
    ],
)
def test_the_curve_of_an_equation(
    text: str, at: dict[str, float | str], line: str, normal: str
) -> None:
    answer = tangent(text, at)
    assert (answer.tangent, answer.normal, answer.is_exact) == (line, normal, True)


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        (
            "x^2 + y^2 = 25",
            {"x": 3, "y": 5},
            "not on the curve: left side less right side is 9 there",
        ),
        ("y^2 = x^3", {"x": 0, "y": 0}, "both partial derivatives are 0"),
        ("abs(x) + abs(y) = 1", {"x": 1, "y": 0}, "may have a corner"),
        ("1 = max(x, y)", {"x": 1, "y": 1}, "may have a corner"),
        ("min(x, y) + relu(x - y) = 1", {"x": 1, "y": 1}, "not known at this kink"),
        ("x^2 + y^2 + z^2 = a", {"x": 3, "y": 4, "z": 0}, "`a` has no value"),
        ("u + v + w = 3", {"u": 1, "v": 1, "w": 1}, "two coordinates"),
    ],
)
def test_points_where_an_equation_gives_no_tangent(
    text: str, at: dict[str, float], message: str
) -> None:
    with pytest.raises(ExpressionError, match=message):
        tangent(text, at)


def test_a_point_that_is_on_the_curve_by_many_digits_only() -> None:
    answer = tangent("x^2 + y^2 = 1", {"x": "cos(1)", "y": "sin(1)"})
    assert answer.slope == pytest.approx(-0.6420926159343308, rel=1e-15)
    assert not answer.is_exact and "not proven" in answer.warnings[0].message
