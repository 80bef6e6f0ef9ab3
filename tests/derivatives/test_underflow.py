"""Underflows: a number too small for a double is not 0, and what needs it is not undefined."""

from __future__ import annotations

import pytest

import autodiff_cli


@pytest.mark.parametrize(
    ("text", "at", "where"),
    [
        ("sqrt(x**2)", {"x": 1e-170}, "x**2"),
        ("x/(x*x)", {"x": 1e-200}, "x*x"),
        ("sqrt(x**2 + y**2)", {"x": 1e-170, "y": 1e-170}, "x**2"),
        ("1/exp(-x)", {"x": 800.0}, "exp(-x)"),
        ("log(exp(-x))", {"x": 800.0}, "exp(-x)"),
    ],
)
def test_an_underflow_is_no_domain_error(text: str, at: dict[str, float], where: str) -> None:
    with pytest.raises(autodiff_cli.ExpressionError, match="0 by underflow") as caught:
        autodiff_cli.gradient(text, at)
    error = caught.value
    assert error.kind == "overflow" and error.span is not None and text[slice(*error.span[:2])] == where
    assert "--precision 30" in str(error.hint) or "precision=30" in str(error.hint)
    digits = autodiff_cli.gradient(text, at, precision=30)
    assert digits.value.text != "0"


@pytest.mark.parametrize(
    ("text", "x"), [("1/(x - x)", 2.0), ("sqrt(x - 1)", 1.0), ("log(x*x)", 0.0), ("1/(x - 2)", 2.0)]
)
def test_a_zero_that_is_one_stays_a_domain_error(text: str, x: float) -> None:
    with pytest.raises(autodiff_cli.ExpressionError) as caught:
        autodiff_cli.gradient(text, {"x": x})
    assert caught.value.kind in ("domain", "derivative")
