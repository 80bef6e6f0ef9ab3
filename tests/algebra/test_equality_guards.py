"""Guards at single points: derivatives are those of the function around them."""

from __future__ import annotations

import math

import pytest

from autodiff_cli import diff, export, gradient

GUARDED = [
    # the program, and its derivative by x at the guarded point, by hand
    ("where(x == 0, 0, x)", 0.0, 1.0),
    ("where(x != 0, x**2 + 3*x, 0)", 0.0, 3.0),
    ("where(0 == x, 0, sin(x))", 0.0, 1.0),
    ("where(x - 1 == 0, 1, x**3)", 1.0, 3.0),
    ("where(x == 2, exp(2), exp(x))", 2.0, math.exp(2)),
    ("1 + where(x == 0, 0, where(x == 1, 1, x))", 1.0, 1.0),
    ("where(x == 0, 0, x)*where(x == 0, 0, x)", 0.0, 0.0),
]


@pytest.mark.parametrize(("text", "point", "slope"), GUARDED)
def test_formulas_and_code_have_the_derivative_at_the_guarded_point(
    text: str, point: float, slope: float
) -> None:
    assert gradient(text, {"x": point}).gradient["x"] == pytest.approx(slope)
    (derivative,) = diff(text, everywhere=True).derivatives
    assert "==" not in derivative.formula
    assert "!=" not in derivative.formula
    assert gradient(f"{derivative.formula} + 0*x", {"x": point}).value == pytest.approx(slope)
    scope: dict[str, object] = {}
    exec(export(text, "python").source, scope)
    value, (partial,) = scope["f"](point)  # type: ignore[operator]
    assert partial == pytest.approx(slope)
    assert value == pytest.approx(gradient(text, {"x": point}).value)


def test_a_product_with_a_guarded_factor() -> None:
    by_c, by_y = (
        d.formula for d in diff("where(c == 0, 0, c*log(y))", everywhere=True).derivatives
    )
    assert by_c == "log(y)"
    # the guard is exact for y, and holds where log(y) has no value
    assert by_y == "where(c == 0, 0, c/y)"


@pytest.mark.parametrize(
    "text", ["where(x == 0, 5, x)", "where(x == 0, 1, sin(x)/x)", "where(x > 0, x, 0)"]
)
def test_other_guards_stay(text: str) -> None:
    assert "where" in diff(text, everywhere=True).derivatives[0].formula


def test_the_graph_of_code_keeps_names() -> None:
    source = export("g = where(x == 0, 0, x); h = g*y; h + g", "python").source
    scope: dict[str, object] = {}
    exec(source, scope)
    assert scope["f"](0.0, 3.0) == (0.0, (4.0, 0.0))  # type: ignore[operator]
