"""Numbers on the way that are too small or too large for a double, or rounded to the edge of a
domain.
"""

from __future__ import annotations

import math
import re

import pytest

import autodiff_cli
from running import autodiff


@pytest.mark.parametrize(
    ("text", "at", "value", "gradient", "said"),
    [
        ("sqrt(x**2)", {"x": 1e-170}, 1e-170, [1.0], "the result of `**` is too small"),
        ("sqrt(x**2 + y**2)", {"x": 3e-170, "y": 4e-170}, 5e-170, [0.6, 0.8], "the result of `**` is too small"),
        ("(x*x)/(x*x*x)*x", {"x": 1e-150}, 1.0, [0.0], "the result of `*` is too small"),
        ("log(exp(-x))", {"x": 800.0}, -800.0, [-1.0], "the result of `exp` is too small"),
        ("log1p(expm1(x))", {"x": 1e4}, 1e4, [1.0], "`expm1` at 10000 is too large"),
        ("exp(x)/exp(x - 1)", {"x": 1e3}, math.e, [0.0], "`exp` at 1000 is too large"),
        ("acos(tanh(x))", {"x": 67.9}, 2*math.exp(-67.9), [-2*math.exp(-67.9)], "`acos` is defined at 1"),
    ],
)  # fmt: skip
def test_the_hint_has_the_answer_of_more_digits(
    text: str, at: dict[str, float], value: float, gradient: list[float], said: str
) -> None:
    with pytest.raises(autodiff_cli.ExpressionError) as caught:
        autodiff_cli.gradient(text, at)
    hint = str(caught.value.hint)
    assert said in f"{caught.value} {hint}"
    assert [float(x) for x in re.findall(r" is (-?\d[0-9.e+-]*)", hint)] == pytest.approx(
        [value, *gradient], rel=1e-5
    )
    with pytest.raises(autodiff_cli.ExpressionError) as caught:
        autodiff_cli.jacobian(text, at)
    assert "there is an answer" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("1/(x - x)", 2.0), ("sqrt(x - 1)", 1.0), ("log(x*x)", 0.0), ("1/(x - 2)", 2.0),
        # no number at the decimals as typed, whatever the doubles are
        ("1/(x*10 - 1)", 0.1), ("lgamma(0.3*x)", -10.0),
        # out of the range of doubles
        ("1/(x*1e300*1e300)", 1.0), ("exp(x)", 1e3),
    ],
)  # fmt: skip
def test_no_hint_has_an_answer_where_there_is_none(text: str, x: float) -> None:
    with pytest.raises(autodiff_cli.ExpressionError) as caught:
        autodiff_cli.gradient(text, {"x": x})
    assert "underflow" not in str(caught.value) and "more digits" not in str(caught.value.hint)


def test_a_stream_says_what_underflows() -> None:
    lines = autodiff("grad", "--at", "x=1e-200", "--format", "plain", stdin="x/(x*x)\nsqrt(x**2)\n")
    assert lines.code == 4 and lines.err.count("error: underflow: the result of") == 2
    assert lines.err.count("is too small for a double, and counts as 0") == 2


def test_second_derivatives_have_the_number_of_more_digits_in_the_hint() -> None:
    shown = autodiff("hessian", "log(1+exp(y))", "--at", "y=300", "--format", "plain")
    assert "no reliable digit" in shown.err
    # sigmoid(300)*sigmoid(-300), which is exp(-300) to 130 digits
    assert "which gives 5.1482e-131 for the second derivative by `y`" in shown.err
