"""Integrals, held against values of tables and against quadrature by mpmath with 50 digits."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp, mpc, mpf

from autodiff_cli import ExpressionError, gradient, integrate
from autodiff_cli.capabilities.integrals import antiderivatives, integrals_in_pieces
from autodiff_cli.capabilities.integrals.antiderivatives import check_antiderivative, slope_of
from autodiff_cli.capabilities.integrals.sympy_process import answer as ask_sympy
from autodiff_cli.questions.problem import parse
from autodiff_cli.questions.typed_lines import integral_arguments

EXACT = [
    # formula, ends, the value as tables have it
    ("x^2", "x=0:1", lambda: mpf(1) / 3),
    ("x^2", "x=1:0", lambda: -mpf(1) / 3),
    ("exp(-x)", "x=0:inf", lambda: mpf(1)),
    ("exp(-x^2)", "x=-inf:inf", lambda: mp.sqrt(mp.pi)),
    ("log(abs(x))", "x=-1:1", lambda: mpf(-2)),
    ("1/sqrt(9 - x^2)", "x=0:3", lambda: mp.pi / 2),
    ("x if x > 0 else -x", "x=-1:2", lambda: mpf("2.5")),
    ("sin(x)", "x=0:2*pi", lambda: mpf(0)),
    ("x**(-1/4)/(1+x)", "x=0:inf", lambda: mp.pi * mp.sqrt(2)),
]


def slope_of_w(z: Any) -> Any:
    """The derivative of the Faddeeva function w(z) = exp(-z**2)*erfc(-iz) (DLMF 7.10.3)."""
    return -2 * z * mp.exp(-z * z) * mp.erfc(mpc(z.imag, -z.real)) + mpc(0, 2) / mp.sqrt(mp.pi)


PROVEN: list[tuple[str, str, Callable[[Any], Any]]] = [
    # formula, ends, the integrand for mpmath
    ("exp(cos(x))", "x=0:1", lambda x: mp.exp(mp.cos(x))),
    ("sin(x)/x", "x=0:1", mp.sinc),
    ("sqrt(1 + x^3)", "x=0:2", lambda x: mp.sqrt(1 + x**3)),
    ("x^x", "x=1:2", lambda x: x**x),
    ("1e-30*exp(sin(x))", "x=0:1", lambda x: mp.exp(mp.sin(x)) / mpf(10) ** 30),
    ("1/(2 + cos(x))", "x=0:2*pi", lambda x: 1 / (2 + mp.cos(x))),
    ("besselj(0, x)", "x=0:1", lambda x: mp.besselj(0, x)),
    ("besselj(-1, x)*x", "x=-1:5", lambda x: mp.besselj(-1, x) * x),
    ("besselj(1/3, x)", "x=1:5", lambda x: mp.besselj(mpf(1) / 3, x)),
    ("besseli(3, x)", "x=-2:5", lambda x: mp.besseli(3, x)),
    ("bessely(1/2, x)", "x=1:5", lambda x: mp.bessely(0.5, x)),
    ("besselk(1/3, x)", "x=1:3", lambda x: mp.besselk(mpf(1) / 3, x)),
    ("lambertw(x)", "x=-0.3:5", lambda x: mp.lambertw(x).real),
    ("lambertw(x, -1)", "x=-0.3:-0.1", lambda x: mp.lambertw(x, -1).real),
    ("atan2(1, x)", "x=-1:2", lambda x: mp.atan2(1, x)),
    ("beta(x, 2)", "x=1:2", lambda x: mp.beta(x, 2)),
    ("polygamma(2, x)*x", "x=1:2", lambda x: mp.psi(2, x) * x),
    ("trigamma(x)*x", "x=1:2", lambda x: mp.psi(1, x) * x),
    ("gammainc(2.5, x)", "x=1:3", lambda x: mp.gammainc(2.5, 0, x, regularized=True)),
    ("asinh(x)", "x=0:30", mp.asinh),
    ("erfcx(x)", "x=0:3", lambda x: mp.exp(x * x) * mp.erfc(x)),
    (
        "faddeeva_re(0, x, 0.5)",
        "x=0:3",
        lambda x: (mp.exp(-(mpc(x, 0.5) ** 2)) * mp.erfc(mpc(0.5, -x))).real,
    ),
    ("faddeeva_im(1, x, 0.5)", "x=0:3", lambda x: slope_of_w(mpc(x, 0.5)).imag),
]
ZEROS_AT_ENDS = [
    # formula, ends, the value as Gradshteyn and Ryzhik have it (4.224, 3.747)
    ("x/tan(x)", "x=0:pi/2", lambda: mp.pi / 2 * mp.log(2)),
    ("log(sin(x))", "x=0:pi/2", lambda: -mp.pi / 2 * mp.log(2)),
    ("log(cos(x))", "x=0:pi/2", lambda: -mp.pi / 2 * mp.log(2)),
    ("x*log(sin(x))", "x=0:pi", lambda: -(mp.pi**2) / 2 * mp.log(2)),
    ("log(tan(x))", "x=0:pi/4", lambda: -mp.catalan),
]
TAILS = [
    # formula, ends, the value as DLMF has it (10.43.19, 10.22.49, 8.14.4) or by quadrature in 50
    # digits
    ("besselk(0, x)", "x=0:inf", lambda: mp.pi / 2),
    ("besselk(1/3, x)", "x=0:inf", lambda: mp.pi / 2 / mp.cos(mp.pi / 6)),
    ("besselj(0, x)*exp(-x)", "x=0:inf", lambda: 1 / mp.sqrt(2)),
    ("gammaincc(2.5, x)", "x=0:inf", lambda: mpf("2.5")),
    ("bessely(0, x)*exp(-x)", "x=1:inf", lambda: far(lambda x: mp.bessely(0, x) * mp.exp(-x), 1)),
    ("lgamma(x + 1)*exp(-x)", "x=0:inf", lambda: far(lambda x: mp.loggamma(x + 1) * mp.exp(-x), 0)),
    ("digamma(x + 1)*exp(-x)", "x=0:inf", lambda: far(lambda x: mp.psi(0, x + 1) * mp.exp(-x), 0)),
    ("1/gamma(x + 1)", "x=0:inf", lambda: far(lambda x: mp.rgamma(x + 1), 0)),
    ("lambertw(x)*exp(-x)", "x=0:inf", lambda: far(lambda x: mp.lambertw(x).real * mp.exp(-x), 0)),
    ("asinh(x)*exp(-x)", "x=0:inf", lambda: far(lambda x: mp.asinh(x) * mp.exp(-x), 0)),
    ("acosh(x)*exp(-x)", "x=2:inf", lambda: far(lambda x: mp.acosh(x) * mp.exp(-x), 2)),
    ("silu(-x)", "x=0:inf", lambda: -(mp.pi**2) / 12),
    ("normpdf(x, 1, 2)", "x=-inf:inf", lambda: mpf(1)),
    ("normcdf(-x)", "x=0:inf", lambda: 1 / mp.sqrt(2 * mp.pi)),
    ("erfcx(x)*exp(-x)", "x=0:inf", lambda: far(lambda x: scaled_erfc(x) * mp.exp(-x), 0)),
]


def far(integrand: Callable[[Any], Any], low: int) -> Any:
    """An integral to infinity of what falls off exponentially, by quadrature."""
    return mp.quad(integrand, [low, low + 1, 5, 10, 20, 40, 80, 120])


def scaled_erfc(x: Any) -> Any:
    """exp(x**2)*erfc(x) by Tricomi's function (DLMF 7.11.4, 13.6.8)."""
    return mp.hyperu(0.5, 0.5, x * x) / mp.sqrt(mp.pi)


DIVERGENT = [
    ("1/x", "x=-1:1", "`x` = 0"),
    ("1/x", "x=1:inf", "`x` = inf"),
    ("1/x^2", "x=0:1", "`x` = 0"),
    ("1/(x^2 - 2)", "x=0:2", "a pole near `x` = 1.41421356"),
    ("tan(x)", "x=0:pi", "`x` = pi/2"),
    ("sin(x)", "x=0:inf", "`x` = inf"),
    ("1/(x*log(x))", "x=2:inf", "`x` = inf"),
    ("1/(x - 3*sqrt(x) + 2)", "x=0:9", "`x` = 1"),
]
UNKNOWN = [
    ("sqrt(x)", "x=-1:1", "has no value near"),
    ("log(x)/log(x)*x", "x=-1:1", "has no value near"),
    ("sqrt(x^2 - 1)", "x=-2:2", "not known"),
    ("1/x", "x=0:0", "has no value at"),
    ("1/(x - 5000)^2*exp(cos(x)/x)", "x=0.5:inf", "not known"),
]


def agrees(digits: str | None, value: Any) -> bool:
    """Whether the proven digits are those of a number, rounded; 0 is exact."""
    if digits == "0":
        return bool(abs(value) < mpf(10) ** -45)
    mantissa = str(digits).lstrip("-").partition("e")[0]
    count = len(mantissa.replace(".", "").lstrip("0"))
    return bool(abs(mpf(digits) - value) <= abs(value) * mpf(10) ** (1 - count))


@pytest.mark.parametrize(("text", "ends", "value"), EXACT)
def test_exact_integrals(text: str, ends: str, value: Callable[[], Any]) -> None:
    with mp.workdps(50):
        answer = integrate(text, between=ends)
        assert answer.kind == "exact" and answer.formula is not None
        assert agrees(answer.digits, value())


@pytest.mark.parametrize(("text", "ends", "integrand"), PROVEN)
def test_proven_digits(
    text: str, ends: str, integrand: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(antiderivatives, "is_available", lambda: False)  # they need no SymPy
    with mp.workdps(50):
        low, high = (
            2 * mp.pi if end == "2*pi" else mpf(end) for end in ends.partition("=")[2].split(":")
        )
        answer = integrate(text, between=ends, precision=25)
        pieces = [low + (high - low) * k / 8 for k in range(9)]
        assert answer.kind in ("proven", "exact") and answer.digits is not None
        assert agrees(answer.digits, mp.quad(integrand, pieces))


@pytest.mark.parametrize(("text", "ends", "value"), TAILS)
def test_tails_of_special_functions(
    text: str, ends: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(antiderivatives, "is_available", lambda: False)
    answer = integrate(text, between=ends)
    with mp.workdps(40):
        assert answer.kind in ("proven", "exact") and answer.digits is not None
        assert agrees(answer.digits, value()) and len(answer.digits) > 12


def test_a_function_without_quadrature_is_named() -> None:
    with pytest.raises(ExpressionError, match="the quadrature does not know `erfinv`"):
        integrate("erfinv(x)", between="x=0:0.5")


@pytest.mark.parametrize(("text", "ends", "value"), ZEROS_AT_ENDS)
def test_zeros_at_ends(
    text: str, ends: str, value: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(antiderivatives, "is_available", lambda: False)
    answer = integrate(text, between=ends)
    with mp.workdps(50):
        assert (
            answer.kind == "proven" and answer.digits is not None and agrees(answer.digits, value())
        )


@pytest.mark.parametrize(("text", "ends", "place"), DIVERGENT)
def test_divergence_is_shown(text: str, ends: str, place: str) -> None:
    answer = integrate(text, between=ends)
    assert answer.kind == "divergent" and answer.value is None and not answer.converges
    assert place in answer.message


@pytest.mark.parametrize(("text", "ends", "message"), UNKNOWN)
def test_what_is_not_known_is_said(text: str, ends: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        integrate(text, between=ends)
    assert caught.value.kind == "domain" and message in str(caught.value)


def test_unproven_digits_are_called_unproven() -> None:
    answer = integrate("exp(-x)*log(log(x + 3))", between="x=0:inf")
    assert answer.kind == "numerical" and answer.digits is None and "not proven" in answer.message
    assert answer.value == pytest.approx(0.29637212311497969, rel=1e-11)  # by mpmath, 50 digits


def test_a_formula_that_may_have_no_values_inside_warns() -> None:
    answer = integrate("sqrt((x - 0.5)^2 - 1e-40)", between="x=0:1")
    assert (
        answer.kind == "proven"
        and "not proven that the formula has values" in answer.warnings[0].message
    )


def random_formula(drawn: random.Random, depth: int) -> str:
    """A formula of x whose value is finite near 0 to 1."""
    if depth == 0:
        return drawn.choice(["x", "2*x", "x^2", "x/3", str(drawn.randint(1, 5)), "x + 1"])
    one, other = (random_formula(drawn, depth - 1) for _ in range(2))
    return drawn.choice([
        f"({one}) + ({other})", f"({one})*({other})", f"({one})/(1 + ({other})^2)", f"sin({one})",
        f"exp(-({one})^2)", f"sqrt(1 + ({one})^2)", f"log(2 + ({one})^2)", f"atan({one})",
        f"cos({one})*({other})", f"abs({one} - ({other}))",
    ])  # fmt: skip


def test_random_integrals_agree_with_quadrature(monkeypatch: pytest.MonkeyPatch) -> None:
    # proven digits need no SymPy
    monkeypatch.setattr(antiderivatives, "is_available", lambda: False)
    drawn, answered = random.Random(11), 0
    for _ in range(3):
        text = random_formula(drawn, 2)
        with mp.workdps(50):
            answer = integrate(text, between="x=0:1", precision=12)
            graph = parse(text).graph

            def value(x: Any, graph: Any = graph) -> Any:
                from autodiff_cli.engine.graphs.value_and_gradient import evaluate_in
                from autodiff_cli.engine.numbers.multiprecision import Multiprecision

                m = Multiprecision(30, decimals=True)
                return mpf(str(evaluate_in(m, graph, {"x": m.context.mpf(x)}).value))

            expected = mp.quad(value, [mpf(k) / 24 for k in range(25)], maxdegree=3)
        answered += answer.kind == "proven"
        assert answer.value == pytest.approx(float(expected), rel=1e-5, abs=1e-6), text  # kinks
    assert answered == 3


# ---- antiderivatives
IN_PIECES = [  # which do not meet at points of the test
    "abs(x^3 - 1.21*x)", "min(x^2, 2.31 - x)", "relu(x - 1.1)*x", "abs(abs(x) - 1.1)",
    "where(x < 1/2, x^2, log(x))", "abs(3*x - 1)*exp(x)",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("x^2*sin(3*x)", None),
        ("1/x", "x != 0"),
        ("sqrt(4 - x^2)", "x >= -2 and x <= 2"),
        ("sin(3*x)*cos(2*x)", None),
        ("1/(2 + cos(x))", "cos(x/2) != 0"),
        ("1/(x^4 + 1)", None),
        ("x*e^x", None),
        *((text, "no condition changes") for text in IN_PIECES),
    ],
)
def test_antiderivatives_are_proven(text: str, domain: str | None) -> None:
    answer = integrate(text)
    assert (answer.kind, answer.checked, answer.domain) == ("antiderivative", "proven", domain)
    slope, mine = parse(answer.antiderivative or "").graph, parse(text).graph
    from autodiff_cli.engine.graphs.value_and_gradient import evaluate_in
    from autodiff_cli.engine.numbers.multiprecision import Multiprecision

    m = Multiprecision(50, decimals=True)
    for k in range(1, 8):  # by a difference, which knows no rule of ours
        x, h = m.context.mpf(k) / 5, m.context.mpf(10) ** -15
        ends = [evaluate_in(m, slope, {"x": at}).value for at in (x + h, x - h)]
        assert abs((ends[0] - ends[1]) / (2 * h) - evaluate_in(m, mine, {"x": x}).value) < 1e-25


def test_pieces_are_joined_where_they_meet() -> None:
    clamped = integrate("clamp(x, -1, 1)")
    assert clamped.antiderivative == "where(x <= -1, -x, where(x <= 1, x**2/2 + 0.5, x))"
    assert integrate("heaviside(x)").antiderivative == "where(x <= 0, 0, x)"


def test_kinks_inside_of_kinks_are_points_where_pieces_meet() -> None:
    answer = integrate("abs(abs(x - 2) - 1)", between="x=0:7")
    assert (answer.kind, answer.formula, answer.value) == ("exact", "9.5", 9.5)


def test_points_that_are_no_fractions_are_not_guessed() -> None:
    assert integrals_in_pieces.breakpoints([parse("abs(x^2 - 2)").outputs[0]], "x") == []
    assert integrals_in_pieces.breakpoints(
        [parse("abs((x^2 - 2)*(x - 1)) + abs(3*x - 1)").outputs[0]], "x"
    ) == [Fraction(1, 3)]


def test_a_wrong_piece_is_no_antiderivative() -> None:
    right, wrong = (
        "where(x <= 1, 0, x^3/3 - x^2/2 + 1/6)",
        "where(x <= 1, 0, x^3/3 - x^2/2 + x*1e-40)",
    )
    integrand = parse("relu(x - 1)*x").outputs[0]
    assert integrals_in_pieces.is_equal_in_pieces(
        slope_of(parse(right).outputs[0], "x"), integrand, "x"
    )
    assert not integrals_in_pieces.is_equal_in_pieces(
        slope_of(parse(wrong).outputs[0], "x"), integrand, "x"
    )


def test_a_check_by_points_is_not_called_a_proof() -> None:
    answer = integrate("abs(x - a)", over="x")
    assert (
        answer.checked == "numerically"
        and answer.message.startswith("not proven: ")
        and "points" in answer.message
    )


@pytest.mark.parametrize(
    ("formula", "text", "right"),
    [
        ("x^3/3 + C", "x^2", True),
        ("x^3", "x^2", False),
        ("log(x)", "1/x", True),
        ("log(abs(5*x))", "1/x", True),
        ("-cos(x)^2/2", "sin(x)*cos(x)", True),
        ("sin(x)^2/2", "sin(x)*cos(x)", True),
        ("x^3/3 + 1e-20*x", "x^2", False),
    ],
)
def test_a_wrong_antiderivative_is_not_taken(formula: str, text: str, right: bool) -> None:
    found = check_antiderivative(parse(formula).outputs[0], parse(text).outputs[0], "x")
    assert (found is not None) == right


def test_sympy_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(antiderivatives, "find_spec", lambda name: None)
    with pytest.raises(ExpressionError, match="antiderivatives need SymPy") as caught:
        integrate("x^2")
    assert caught.value.kind == "usage" and "[integrals]" in (caught.value.hint or "")
    assert integrate("x^2", between="x=0:1").kind == "proven"


def test_sympy_has_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(antiderivatives, "SECONDS", 1)
    hard = antiderivatives.ask(
        parse("1/(x^7 + x^3*sin(x)^2 + exp(x)*tan(x)^5)").outputs[0], "x", (), 1, 0
    )
    assert "formula" not in hard and hard["none"]


def test_names_are_no_text_for_sympy() -> None:
    rows = [["variable", "__import__('os')"], ["variable", "x"], ["mul", 0, 1]]
    reply = ask_sympy({"rows": rows, "variable": "x", "seconds": 5, "way": 0, "positive": []})
    assert reply["formula"] == "__import__('os')*(x)**(2)/2"


# ---- parameters
@pytest.mark.parametrize(
    ("text", "ends", "at", "slopes"),
    [
        # d/da of (1 - cos(a²))/a; of (b^(a+1) - 1)/(a + 1)
        ("sin(a*x)", "x=0:a", {"a": 2}, {"a": (8 * mp.sin(4) - 1 + mp.cos(4)) / 4}),
        ("x^a", "x=1:b", {"a": 2, "b": 3}, {"a": 9 * mp.log(3) - mpf(26) / 9, "b": mpf(9)}),
        ("a*x", "x=a:2*a", {"a": 3}, {"a": mpf("40.5")}),
    ],
)
def test_derivatives_by_parameters(
    text: str, ends: str, at: dict[str, int], slopes: dict[str, Any]
) -> None:
    answer = integrate(text, at, between=ends, wrt=[*slopes])
    assert answer.derivatives == pytest.approx(
        {name: float(x) for name, x in slopes.items()}, rel=1e-14
    )


def fourier_integral() -> mpf:
    """The integral of exp(1/u)*sin(u)/u^2 from 1 on."""
    return mp.quadosc(lambda u: mp.exp(1 / u) * mp.sin(u) / u**2, [1, mp.inf], omega=1)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        # by substitution: sin(1) - Ci(1), and the Fourier integrals of 1/u^3 and 1/u^4 from 1 on
        ("sin(1/x)", lambda: mp.sin(1) - mp.ci(1)),
        ("x*sin(1/x)", lambda: mp.quadosc(lambda u: mp.sin(u) / u**3, [1, mp.inf], omega=1)),
        ("cos(1/x)*x^2", lambda: mp.quadosc(lambda u: mp.cos(u) / u**4, [1, mp.inf], omega=1)),
        ("sin(1/x)*exp(x)", fourier_integral),
        ("log(x)*sin(x^2)", lambda: mp.quad(lambda x: mp.log(x) * mp.sin(x * x), [0, 1])),
    ],
)
def test_digits_that_are_not_proven_are_those_of_two_quadratures_with_other_points(
    text: str, right: Callable[[], mpf]
) -> None:
    try:
        answer = integrate(text, between="x=0:1")
    except ExpressionError as error:
        assert "its value is not known" in str(error) or "the integral is not known" in str(error)
        return
    if answer.kind in ("proven", "exact"):
        assert abs(answer.value - right()) <= mpf(10) ** -12 * abs(right())
        return
    assert answer.kind == "numerical"
    digits = int(answer.message.partition(" agree to ")[2].split()[0])
    assert abs(answer.value - right()) <= mpf(10) ** (1 - digits) * abs(right())


def test_a_derivative_under_the_integral_sign_needs_a_bound() -> None:
    for text, ends in (("abs(x - a)*floor(a)", "x=0:1"), ("floor(x)", "x=0:a")):
        with pytest.raises(ExpressionError, match="is not known here"):
            integrate(text, {"a": 1}, between=ends, wrt="a")
    for text, ends, slope in (("exp(-a*x)", "x=0:inf", -1), ("log(a*x)", "x=0:1", 1)):
        answer = integrate(text, {"a": 1}, between=ends, wrt="a")
        assert answer.derivatives == {"a": slope} and "derivatives, proven digits" in answer.message


# ---- as written by hand
@pytest.mark.parametrize(
    ("typed", "arguments"),
    [
        ("∫x² dx", ["x²", "--over", "x"]),
        ("∫x²dx", ["x²", "--over", "x"]),
        ("∫_0^1 x² dx", ["x²", "--between", "x=0:1"]),
        ("∫₋₁¹ x² dx", ["x²", "--between", "x=-1:1"]),
        (r"\int_{0}^{\infty} e^{-x} \, dx", ["e^{-x}", "--between", "x=0:inf"]),
        (r"\int_0^\pi sin t dt", ["sin t", "--between", "t=0:pi"]),
        ("integrate x^2 from 0 to 1", ["x^2", "--between", "0:1"]),
        ("integral of x^2 dx from 0 to pi", ["x^2", "--between", "x=0:pi"]),
        ("∫x^2", None),
        ("∫ x^2 dx + 1", None),
        ("∫_0^1x^2 dx", None),
        ("sin(x)", None),
        ("∫ 1/x dx from 1 to e", ["1/x", "--between", "x=1:e"]),
        ("∫_0^1 x dx from 1 to e", None),
    ],
)
def test_integrals_by_hand(typed: str, arguments: list[str] | None) -> None:
    assert integral_arguments(typed) == arguments


@pytest.mark.parametrize(
    ("text", "between", "value"),
    [
        ("max(x, x)", (0, 3), 4.5),
        ("max(x, x) - 1.2", (0, 3), 0.9),
    ],
)
def test_a_bound_without_a_digit_is_no_value(text: str, between: Any, value: float) -> None:
    # they were 0, "at most 6.0 from 0"; the last bound has 0 inside
    answer = integrate(text, between=between)
    assert answer.kind == "numerical" and answer.message.startswith("not proven")
    assert answer.value == pytest.approx(value, rel=1e-11)


def test_a_bound_without_a_digit_is_told_where_no_value_is_known() -> None:
    with pytest.raises(ExpressionError, match="only proven to be between"):
        integrate("besselj(0, x)*sin(x)/(1 + x**2)", between=(0, "inf"))


def test_an_antiderivative_has_values_where_the_formula_has_some() -> None:
    # log(x - 2) has the derivative 1/(x - 2) too, and no value where log(2 - x) has one
    answer = integrate("log(2 - x)")
    assert (
        answer.domain == "x < 2" and answer.antiderivative == "x*log(2 - x) - x - 2*log(abs(x - 2))"
    )


@pytest.mark.parametrize(
    ("text", "domain", "without", "others"),
    [
        ("1/(x^2 + a)", "a != 0 and no condition changes", ["0"], ["2", "-2"]),
        ("1/(x^2 - a)", "a != 0 and no condition changes", ["0"], ["2", "-2"]),
        ("abs(x^2 - 1)/a", "a != 0 and no condition changes", ["0"], ["2", "-2"]),
        ("abs(x - 1)*sqrt(a)", "a >= 0 and no condition changes", ["-1"], ["2"]),
        ("1/(a*x)", "x != 0 and a != 0", ["0"], ["2", "-2"]),
        ("exp(a*x)", "a != 0", ["0"], ["2", "-2"]),
        ("x*exp(a*x)", "a != 0", ["0"], ["2", "-2"]),
        ("exp(-a*x^2)", "a > 0", ["0", "-1"], ["2"]),
    ],
)
def test_parameters_for_which_an_antiderivative_fails_are_said(
    text: str, domain: str, without: list[str], others: list[str]
) -> None:
    answer = integrate(text, over="x")
    assert answer.domain == domain and answer.antiderivative is not None
    for value in others:
        assert math.isfinite(gradient(answer.antiderivative, {"x": 3, "a": value}).value)
    for value in without:
        with pytest.raises(ExpressionError):
            gradient(answer.antiderivative, {"x": 3, "a": value})


def test_what_parameters_must_be_in_one_case_is_said_beside_the_other_case() -> None:
    answer = integrate("1/(a*x^2 + b)", over="x")
    assert answer.antiderivative is not None and answer.domain is not None
    assert answer.domain.startswith("(b/a > 0 or a > 0) and (b/a > 0 or b <= 0)")
    for a, b in ((1, 1), (-1, -1), (1, -1), (2, -3)):
        assert math.isfinite(gradient(answer.antiderivative, {"x": 3, "a": a, "b": b}).value)
    for a, b in ((-1, 1), (-2, 3)):
        with pytest.raises(ExpressionError):
            gradient(answer.antiderivative, {"x": 3, "a": a, "b": b})


@pytest.mark.parametrize(
    ("text", "between", "expected"),
    [
        ("abs(sin(3*x))", "0:3*pi", 6.0),
        # 11 halves of a period of 2 each, and what is left of 35
        ("abs(cos(5*x))", "0:7", (22 + math.sin(35 - 11 * math.pi)) / 5),
        # half of the sum and of the size of the difference, a sine of amplitude sqrt(2)
        (
            "max(sin(x), cos(x))",
            "0:20",
            (1 - math.cos(20) + math.sin(20)) / 2
            + (14 - math.sqrt(1 / 2) - math.cos(20 - 6.25 * math.pi)) / math.sqrt(2),
        ),
    ],
)
def test_many_kinks_leave_proven_digits(text: str, between: str, expected: float) -> None:
    answer = integrate(text, between=f"x={between}")
    assert answer.kind == "proven" and answer.value == pytest.approx(expected, rel=1e-15)


def test_too_many_kinks_are_said() -> None:
    with pytest.raises(ExpressionError, match="only proven to be between"):
        integrate("abs(sin(20*x))", between="x=0:10")


@pytest.mark.parametrize(
    "text",
    [
        "abs(x^2 - 2)", "abs(x^2 - x - 1)", "max(x, x^2 - 1)", "min(x^2, 2)", "abs(x^2 + 1)",
        "abs(x^2 - 2) + abs(x)", "relu(3 - x^2)*x", "abs(x^2 - 2)*exp(x)", "abs(x - sqrt(3))",
    ],
)  # fmt: skip
def test_pieces_that_meet_at_roots_of_quadratic_equations_are_proven(text: str) -> None:
    answer = integrate(text)
    assert answer.checked == "proven" and answer.antiderivative is not None
    # continuous and right: its differences are the integrals, by a quadrature that knows no kinks
    for low, high in ((-3.0, -0.5), (-0.5, 0.75), (0.75, 3.0)):
        ends = [gradient(answer.antiderivative, {"x": x}).value for x in (low, high)]
        points = [low + (high - low) * (k + 0.5) / 400 for k in range(400)]
        middle = sum(gradient(text, {"x": x}).value for x in points) * (high - low) / 400
        assert ends[1] - ends[0] == pytest.approx(middle, abs=1e-3)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("where(x <= sqrt(2), 2 - x^2, x^2 - 2)", "abs(x^2 - 2)"),
        # they differ between sqrt(2) and 3/2 alone
        ("where(x^2 <= 9/4, 2 - x^2, x^2 - 2)", "abs(x^2 - 2)"),
        ("where(x <= -sqrt(2.000001), x^2 - 2, abs(x^2 - 2))", "x^2 - 2"),
        ("where(abs(x) <= sqrt(2), 2 - x^2, x^2 - 2) + 1e-30", "abs(x^2 - 2)"),
        ("abs(x^2 - 2)", "abs(x^2 - 1.9999999999)"),
    ],
)
def test_other_pieces_are_not_proven_to_be_equal(one: str, other: str) -> None:
    left, right = (parse(text).outputs[0] for text in (one, other))
    assert not integrals_in_pieces.is_equal_in_pieces(left, right, "x")
