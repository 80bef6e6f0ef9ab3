"""Limits: against a table of textbooks, and what must never be claimed."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mpmath import mp

from autodiff_cli import ExpressionError, limit
from autodiff_cli.engine.graphs.value_and_gradient import value_in
from autodiff_cli.engine.numbers.running_digits import RunningDigits
from autodiff_cli.questions.problem import parse

TABLE = [
    line.split("\t")
    for line in (Path(__file__).parents[1] / "corpora" / "limits.txt")
    .read_text(encoding="utf-8")
    .splitlines()
    if not line.startswith("#")
]
DIGITS = RunningDigits(40)
SAMPLE = ("0.7", "1.3", "2.1", "0.4", "1.9")
"""Values of parameters at which formulas are compared."""


def number(formula: str, names: list[str]) -> object:
    """Return the value of a formula at sample parameters."""
    program = parse(formula, names)
    values = {name: DIGITS.literal(x) for name, x in zip(names, SAMPLE, strict=False)}
    return value_in(DIGITS, program.graph, {name: values[name] for name in program.variables})


def is_equal(formula: str, expected: str) -> bool:
    names = sorted({*parse(formula).variables, *parse(expected).variables})
    difference = number(formula, names) - number(expected, names)  # type: ignore[operator]
    return bool(abs(float(difference)) < 1e-30)


@pytest.mark.parametrize(
    ("text", "place", "expected"), TABLE, ids=[f"{line[0]} {line[1]}" for line in TABLE]
)
def test_limits_of_textbooks(text: str, place: str, expected: str) -> None:
    answer = limit(text, place, wrt=place.partition("=")[0])
    if expected in ("inf", "-inf", "none"):
        assert (answer.formula or "none") == expected
    else:
        assert answer.kind == "finite" and answer.formula is not None
        assert is_equal(answer.formula, expected), answer.formula


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("tan(x)", "inf"),
        ("x^n", "-inf"),  # n may be a whole number
        ("(-1/4)^x", "inf"),  # it has values at whole x
        ("1/(x - floor(x))", "inf"),
        ("erfinv(x)", "1"),
        ("x/(2 + a*sin(x))", "inf"),
        ("sin(1/x)^2 + sqrt(cos(1/x))^2", "0+"),  # where the cosine is negative there is no value
        ("max(sin(x), 1/2)", "inf"),
        ("max(sin(x), 0)", "inf"),
        ("sqrt(x**2 + x*sin(x)) - x", "inf"),
        ("x*tan(2 + sin(x))", "inf"),
        ("where(sin(x) > 1/2, 1, 2)", "inf"),
        ("x*sqrt(x*sin(1/x))", "0+"),
        ("leaky_relu(x*sin(x), x)/x**1.5", "inf"),
        ("leaky_relu(x*sin(x), x)/x**2", "inf"),
        ("exp(x)*(exp(1/x + exp(-x)) - exp(1/x))", "inf"),
    ],
)
def test_what_the_series_do_not_decide_is_no_answer(text: str, place: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        limit(text, {"x": place}, wrt=["x"])
    assert raised.value.kind == "domain"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("abs(a + sin(x))/x", "inf"),
        ("abs(b + a*sin(x))*exp(-x)", "inf"),
        ("abs(x*(a + sin(x)))/x**3", "inf"),
        ("abs(a + sin(1/x))*x", "0"),
    ],
)
def test_a_bounded_part_with_a_parameter_needs_no_assumption(text: str, place: str) -> None:
    assert limit(text, {"x": place}, wrt=["x"]).formula == "0"


@pytest.mark.parametrize(
    ("text", "place", "left", "right"),
    [
        ("abs(x)/x", "0", "-1", "1"),
        ("1/x", "0", "-inf", "inf"),
        ("floor(x)", "2", "1", "2"),
        ("atan(1/x)", "0", "-pi/2", "pi/2"),
        ("exp(1/x)", "0", "0", "inf"),
        ("1/(1 + exp(1/x))", "0", "1", "0"),
        ("gamma(x)", "-2", "-inf", "inf"),
        ("(x^2 - 1)/abs(x - 1)", "1", "-2", "2"),
    ],
)
def test_sides_that_differ(text: str, place: str, left: str, right: str) -> None:
    answer = limit(text, {"x": place})
    assert not answer.exists and answer.kind == "none"
    assert [side.formula for side in answer.sides] == [left, right]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("sin(x)", "inf"),
        ("x*log(2 + sin(x))", "inf"),
        ("1/(2 + sin(x))", "inf"),
        ("x*sin(x)", "inf"),
        ("sin(1/x)", "0"),
        ("cos(log(x))", "0+"),
        ("1 + 2*cos(x^2)", "-inf"),
    ],
)
def test_oscillation_is_no_limit(text: str, place: str) -> None:
    answer = limit(text, {"x": place})
    assert not answer.exists and {side.kind for side in answer.sides} == {"oscillates"}


@pytest.mark.parametrize(
    ("swing", "least"),
    [
        ("1/(2 + sin(x))", 1 / 3),
        ("1/(1/2*x + 2 + cos(x)) + 1/(2 - sin(x))", 1 / 3),
        ("-1/(-2 + sin(x))**3", 1 / 27),
        ("(2 + sin(x))**2", 1),
        ("sqrt(3 + 2*sin(x))", 1),
        ("exp(sin(x))", math.exp(-1)),
        ("exp(x + sin(x))/exp(x)", math.exp(-1)),
        ("log(2 + sin(x))", 0),
        ("log(3*x + x*cos(x)) - log(x)", math.log(2)),
        ("atan(sin(x) + 1/x)", -math.pi / 4),
        ("tanh(1 + 2*cos(x))", math.tanh(-1)),
        ("exp2(exp(sin(x)))", 2 ** math.exp(-1)),
    ],
)
def test_a_monotone_function_of_a_wave_swings_between_its_values_at_the_ends(
    swing: str, least: float
) -> None:
    """Times x it goes to infinity if what is taken off is less than all of its values, and else has
    no limit.
    """
    assert limit(f"x*({swing} - ({least - 0.01}))", {"x": "inf"}).formula == "inf"
    assert limit(f"x*({swing} - ({least + 0.01}))", {"x": "inf"}).kind == "none"
    assert limit(f"({swing})/x", {"x": "inf"}).formula == "0"


def test_a_side_without_values() -> None:
    answer = limit("sqrt(x)", {"x": 0})
    assert answer.formula == "0" and [side.kind for side in answer.sides] == ["undefined", "finite"]
    assert "no value below" in answer.warnings[0].message
    assert limit("sqrt(-1 - x^2)", {"x": 0}).kind == "undefined"


def test_signs_of_parameters() -> None:
    with pytest.raises(ExpressionError, match="sign of `a`"):
        limit("exp(-a*x)", {"x": "inf"})
    assert limit("exp(-a*x)", {"x": "inf"}, assume="a > 0").formula == "0"
    assert limit("exp(-a*x)", {"x": "inf"}, assume="a < 0").formula == "inf"
    assert limit("exp(-a*x)", {"x": "inf", "a": 2}).formula == "0"
    assert limit("x^2/(b*x + x^2)", {"x": 0}).condition == "b != 0"
    assert limit("x^2/(b*x + x^2)", {"x": 0, "b": 0}, wrt="x").formula == "1"


@pytest.mark.parametrize(
    ("text", "place", "formula", "condition"),
    [
        ("(x^n - 1)/(x - 1)", "1", "n", None),
        ("(x^n - 1)/(x^m - 1)", "1", "n/m", "m != 0"),
        ("((1 + x)^k - 1)/x", "0", "k", None),
        ("((1 + x)^n - 1 - n*x)/x^2", "0", "n*(n - 1)/2", None),
        ("2*N*(1 - (1 - 1/(2*N))^k)", "inf", "k", None),
        ("(sin(a)^2 + cos(a)^2 - 1)*x", "inf", "0", None),
        ("(exp(2*a) - exp(a)^2)*x", "inf", "0", None),
        ("(tan(a) - sin(a)/cos(a))*x", "inf", "0", "cos(a) != 0"),
        ("x/((a + b)^2 - a^2 - 2*a*b - b^2 + x)", "0", "1", None),
        ("x^(a + b)/x^a - x^b", "inf", "0", None),
    ],
)
def test_coefficients_that_are_zero_for_all_parameters(
    text: str, place: str, formula: str, condition: str | None
) -> None:
    variable = "N" if "N" in text else "x"
    answer = limit(text, {variable: place}, wrt=variable)
    assert (answer.formula, answer.condition, [*answer.warnings]) == (formula, condition, [])


@pytest.mark.parametrize(
    "text", ["(max(a, 20) - 20)*x", "(sqrt((a - 20)^2) - (20 - a))*x", "(abs(a - 30) + a - 30)*x"]
)
def test_a_coefficient_that_is_zero_for_some_parameters_stays_undecided(text: str) -> None:
    with pytest.raises(ExpressionError, match="depends on the sign"):
        limit(text, {"x": "inf"})


def test_a_divisor_that_is_zero_for_all_parameters() -> None:
    with pytest.raises(ExpressionError, match="division by zero"):
        limit("x/(sin(a)^2 + cos(a)^2 - 1)", {"x": 0})


@pytest.mark.parametrize(
    ("text", "assume", "formula"),
    [
        ("sqrt(a*x^2 + x) - x", "sqrt(a) - 1 > 0", "inf"),
        ("a^x", "log(a) > 0", "inf"),
        ("a^x", "log(a) < 0", "0"),
        ("exp((a - b)*x)", "a > b", "inf"),
        ("exp((a - b)*x)", "2*a < 2*b", "0"),
        ("exp((a - b)*x)", "a == b", "1"),
        ("(2^a - 1)*x", "2**a - 1 > 0", "inf"),
        ("(3 - 3*2^a)*x", "2**a - 1 > 0", "-inf"),
        ("(a^2 - 1)*x", "a**2 - 1 > 0", "inf"),
    ],
)
def test_the_assumption_of_the_hint_decides(text: str, assume: str, formula: str) -> None:
    assert limit(text, {"x": "inf"}, assume=assume).formula == formula


def test_sides_that_differ_unless_a_parameter_is_zero() -> None:
    answer = limit("a*abs(x)/x", {"x": 0})
    assert (answer.kind, answer.condition) == ("none", "a != 0")


def test_numbers_of_a_limit() -> None:
    assert limit("atan(x)", {"x": float("inf")}).limit == pytest.approx(
        1.5707963267948966, rel=1e-15
    )
    answer = limit("(1 + 1/x)^x", {"x": "inf"}, precision=30)
    assert answer.limit.text == "2.71828182845904523536028747135"
    assert limit("a*x", {"x": 2}).limit is None


BESIDE_POLES = [
    ("(x - 1)*zeta(x)", "1", lambda: 1),
    ("zeta(x) - 1/(x - 1)", "1", lambda: mp.euler),
    ("(zeta(x) - 1/(x - 1) + digamma(1))/(x - 1)", "1", lambda: -mp.stieltjes(1)),
    ("zeta(x)/gamma(x - 1)", "1", lambda: 1),
    ("zeta(2*x - 1) - zeta(x)/2", "1", lambda: mp.euler / 2),
    ("(x - 1)^3*zeta_derivative(2, x)", "1", lambda: 2),
    ("zeta_derivative(2, x) - 2/(x - 1)^3", "1", lambda: mp.stieltjes(2)),
    ("(x + 3)*gamma(x)", "-3", lambda: mp.mpf(-1) / 6),
    ("gamma(x) + 1/(x + 1)", "-1", lambda: mp.euler - 1),
    ("gamma(x)/gamma(2*x)", "-1", lambda: -4),
    ("digamma(x) + 1/(x + 2)", "-2", lambda: mp.mpf(3) / 2 - mp.euler),
    ("trigamma(x) - 1/x^2", "0", lambda: mp.pi**2 / 6),
    ("trigamma(x)*sin(pi*x)^2", "-1", lambda: mp.pi**2),
    ("polygamma(3, x) - 6/(x + 2)^4", "-2", lambda: mp.psi(3, 1) + 6 + mp.mpf(6) / 16),
    ("polygamma(2, x)*x^3", "0", lambda: -2),
    ("beta(x, 2) - 1/x", "0", lambda: -1),
    ("x*trigamma(x)", "inf", lambda: 1),
    ("x^4*(polygamma(2, x) + 1/x^2 + 1/x^3)", "inf", lambda: mp.mpf(-1) / 2),
    ("3^x*(zeta(x) - 1 - 2^-x)", "inf", lambda: 1),
    ("2^x*zeta_derivative(1, x)", "inf", lambda: -mp.log(2)),
    ("besselk(0, x) + log(x)", "0+", lambda: mp.log(2) - mp.euler),
    ("x*(besselk(1, x) - 1/x)/(x^2*log(x))", "0+", lambda: 0.5),
    # terms that come after the first (DLMF 10.31.1, 10.8.1)
    ("(besselk(0, x) + (log(x/2) - digamma(1))*(1 + x^2/4))/x^2", "0+", lambda: 0.25),
    ("(besselk(1, x) - 1/x - x/2*log(x/2))/x", "0+", lambda: (2 * mp.euler - 1) / 4),
    ("(bessely(1, x) + 2/(pi*x) - x/pi*log(x/2))/x", "0+", lambda: (mp.euler - 0.5) / mp.pi),
    ("bessely(0, x) - 2/pi*log(x)", "0+", lambda: 2 / mp.pi * (mp.euler - mp.log(2))),
    ("x^2*bessely(2, x)", "0+", lambda: -4 / mp.pi),
    ("x*bessely(-1, x)", "0+", lambda: 2 / mp.pi),
    ("besselj(-1/2, x)*sqrt(x)", "0+", lambda: mp.sqrt(2 / mp.pi)),
    ("bessely(1/3, x)*cbrt(x)", "0+", lambda: -mp.gamma(mp.mpf(1) / 3) * mp.cbrt(2) / mp.pi),
    ("besselk(5/2, x)*x^(5/2)", "0+", lambda: 3 * mp.sqrt(mp.pi / 2)),
    ("besselj(-3, x)/x^3", "0", lambda: mp.mpf(-1) / 48),
    ("besseli(2, x)*besselk(2, x)*x", "inf", lambda: 0.5),
    ("x*(besselk(1, x)*sqrt(x)*exp(x) - sqrt(pi/2))", "inf", lambda: mp.sqrt(mp.pi / 2) * 3 / 8),
]
"""Formulas and places, with the limits by the series of DLMF 5.7, 5.15, 10.8, 10.31, 10.40 and
25.2.
"""


@pytest.mark.parametrize(
    ("text", "place", "expected"), BESIDE_POLES, ids=[line[0] for line in BESIDE_POLES]
)
def test_limits_beside_poles_are_those_of_mpmath(
    text: str, place: str, expected: Callable[[], Any]
) -> None:
    answer = limit(text, {"x": place}, precision=50)
    with mp.workdps(60):
        value = mp.mpf(expected())
        assert abs(mp.mpf(answer.limit.text) - value) <= abs(value) * mp.mpf(10) ** -49


@pytest.mark.parametrize(
    ("text", "place", "left", "right"),
    [
        ("zeta(x)", "1", "-inf", "inf"),
        ("zeta_derivative(1, x)", "1", "-inf", "-inf"),
        ("trigamma(x)", "-4", "inf", "inf"),
        ("polygamma(2, x)", "0", "inf", "-inf"),
        ("gamma(x)", "-1", "inf", "-inf"),
        ("bessely(1, x)", "0", None, "-inf"),
        ("besselk(0, x)", "0", None, "inf"),
    ],
)
def test_sides_of_poles(text: str, place: str, left: str | None, right: str) -> None:
    assert [side.formula for side in limit(text, {"x": place}).sides] == [left, right]


@pytest.mark.parametrize(
    "text", ["besselk(nu, x)", "besselk(500, x)", "bessely(x, x)", "gamma(x - 5000)"]
)
def test_poles_without_a_series_are_refused(text: str) -> None:
    with pytest.raises(ExpressionError, match="not known"):
        limit(text, {"x": "0+"})
