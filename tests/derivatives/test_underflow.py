"""Numbers on the way that are too small or too large for a double, or rounded to the edge of a domain."""

from __future__ import annotations

import math

import pytest

import autodiff_cli
from running import autodiff


@pytest.mark.parametrize(
    ("text", "at", "value", "gradient", "said"),
    [
        ("sqrt(x**2)", {"x": 1e-170}, 1e-170, [1.0], "the result of `**` is too small"),
        ("sqrt(x**2 + y**2)", {"x": 3e-170, "y": 4e-170}, 5e-170, [0.6, 0.8], "the result of `**` is too small"),
        ("x/(x*x)", {"x": 1e-162}, 1e162, None, ""),
        ("(x*x)/(x*x*x)*x", {"x": 1e-150}, 1.0, [0.0], "the result of `*` is too small"),
        ("log(exp(-x))", {"x": 800.0}, -800.0, [-1.0], "the result of `exp` is too small"),
        ("log1p(expm1(x))", {"x": 1e4}, 1e4, [1.0], "`expm1` at 10000 is too large"),
        ("exp(x)/exp(x - 1)", {"x": 1e3}, math.e, [0.0], "`exp` at 1000 is too large"),
        ("acos(tanh(x))", {"x": 67.9}, 2*math.exp(-67.9), [-2*math.exp(-67.9)], "`acos` is defined at 1"),
    ],
)  # fmt: skip
def test_more_digits_answer_and_it_is_said_why(
    text: str, at: dict[str, float], value: float, gradient: list[float] | None, said: str
) -> None:
    if gradient is None:
        with pytest.raises(autodiff_cli.ExpressionError, match="0 by underflow") as caught:
            autodiff_cli.gradient(text, at)
        assert caught.value.kind == "overflow"  # the derivative is -1e324
        return
    answer = autodiff_cli.gradient(text, at)
    assert answer.value == pytest.approx(value, rel=1e-12)
    assert [*answer.gradient.values()] == pytest.approx(gradient, rel=1e-12)
    (warning,) = answer.warnings
    assert warning.kind == "digits" and said in f"{warning.message} {warning.hint}"
    row = autodiff_cli.jacobian(text, at)
    assert row.values == [answer.value] and row.jacobian == [[*answer.gradient.values()]]
    assert [warning.kind for warning in row.warnings] == ["digits"]


@pytest.mark.parametrize(
    ("text", "x", "kind"),
    [
        ("1/(x - x)", 2.0, "domain"), ("sqrt(x - 1)", 1.0, "derivative"), ("log(x*x)", 0.0, "domain"),
        ("1/(x - 2)", 2.0, "domain"),
        # no number at the decimals as typed, whatever the doubles are
        ("1/(x*10 - 1)", 0.1, "domain"), ("lgamma(0.3*x)", -10.0, "domain"),
        # out of the range of doubles
        ("1/(x*1e300*1e300)", 1.0, "overflow"), ("exp(x)", 1e3, "overflow"),
    ],
)  # fmt: skip
def test_what_has_no_value_stays_an_error(text: str, x: float, kind: str) -> None:
    with pytest.raises(autodiff_cli.ExpressionError) as caught:
        autodiff_cli.gradient(text, {"x": x})
    assert caught.value.kind == kind and "underflow" not in str(caught.value.hint)


def test_a_stream_says_what_underflows() -> None:
    lines = autodiff("grad", "--at", "x=1e-200", "--format", "plain", stdin="x/(x*x)\nsqrt(x**2)\n")
    assert lines.code == 4 and lines.err.count("is too small for a double, and 0 by underflow") == 2


def test_second_derivatives_and_series_are_answered_alike() -> None:
    assert autodiff_cli.hessian("sqrt(x**2)", {"x": 1e-170}).hessian == [[0.0]]
    answer = autodiff_cli.hessian("sqrt(x**2 + y**2)", {"x": 3e-170, "y": 4e-170}, wrt=["x"])
    assert answer.hessian == [[pytest.approx(16 / 125 * 1e170)]]  # y**2/r**3
    series = autodiff_cli.taylor("log1p(expm1(x))", {"x": 1e4}, order=2)
    assert series.coefficients == [1e4, 1.0, 0.0]
    (formula,) = autodiff_cli.diff("sqrt(x**2)*x", {"x": 1e-170}).derivatives
    assert formula.value == pytest.approx(2e-170)
