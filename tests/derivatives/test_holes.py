"""Taylor series through removable singularities, against SymPy's series and mpmath's limits."""

from __future__ import annotations

import random
from typing import Any

import pytest
from mpmath import mp, mpf

from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.capabilities.derivatives.taylor import taylor
from autodiff_cli.questions.arithmetic import Arithmetic

AT_ZERO = [
    "sin(x)/x", "(1 - cos(x))/x**2", "(exp(x) - 1)/x", "x/log(1 + x)", "tan(x)/x", "x/tan(x)",
    "(x - sin(x))/x**3", "exp(sin(x)/x)", "1/sin(x) - 1/x", "log(sin(x)/x)",
    "sin(x)/x/((exp(x) - 1)/x)", "(tanh(x) - x)/x**3", "sqrt(sin(x)/x)",
    "(exp(x) - 1 - x - x**2/2)/x**3", "x/(1 - exp(-x))", "sin(sin(x))/sin(2*x)", "atan(x)/asin(x)",
    "(cos(x) - exp(-x**2/2))/x**4", "x**2/(1 - cos(x))", "(1 + x)**(1/3)*sinh(x)/x",
    "1/x**2 - 1/sin(x)**2",
]  # fmt: skip
ORDER = 6


@pytest.mark.parametrize("text", AT_ZERO)
def test_series_are_those_of_sympy(text: str) -> None:
    sympy = pytest.importorskip("sympy")
    x = sympy.Symbol("x")
    # SymPy may lose orders to cancellation
    series = sympy.series(
        sympy.sympify(text.replace("1/3", "Rational(1, 3)")), x, 0, ORDER + 5
    ).removeO()
    wanted = [float(series.coeff(x, k)) for k in range(ORDER + 1)]
    answer = taylor(text, {"x": 0}, order=ORDER)
    assert answer.coefficients == pytest.approx(wanted, rel=1e-15, abs=1e-300)
    assert all((c == 0) == (w == 0) for c, w in zip(answer.coefficients, wanted, strict=True))
    assert [w.kind for w in answer.warnings] == [
        "removable"
    ] and "not proven" not in answer.warnings[0].message
    assert [
        float(c)
        for c in taylor(
            text, {"x": "0"}, order=ORDER, arithmetic=Arithmetic("precision", 30)
        ).coefficients
    ] == (pytest.approx(wanted, rel=1e-15))


@pytest.mark.parametrize("seed", range(12))
def test_random_quotients_at_random_points(seed: int) -> None:
    rng = random.Random(seed)
    at = rng.choice(["2", "-1", "0.3", "1/7", "pi/3"])
    t = f"(x - ({at}))"
    functions = [
        f"sin(2*{t})",
        f"(exp({t}) - 1)",
        f"log(1 + {t}/3)",
        f"{t}*cos(x)",
        f"({t}**2 + {t})",
        f"tanh({t})",
    ]
    above, below = rng.sample(functions, 2)
    text = f"exp(x)*{above}/{below} + ({rng.choice(functions)})/{t}"
    answer = taylor(text, {"x": at}, order=3)
    with mp.workdps(60):
        place = mpf(mp.mpf(1) / 7 if at == "1/7" else mp.pi / 3 if at == "pi/3" else at)
        names = {name: getattr(mp, name) for name in ("sin", "exp", "log", "cos", "tanh", "pi")}
        source = text.replace(f"({at})", "(place)")

        def value(z: Any, source: str = source, place: Any = place) -> Any:
            return eval(source, {**names, "x": z, "place": place})  # noqa: S307

        wanted = mp.taylor(value, place + mpf("1e-40"), 3)
    assert answer.coefficients == pytest.approx([float(c) for c in wanted], rel=1e-9)


def test_exact_and_certified_series_are_proven_or_refused() -> None:
    exact = taylor("(1 - cos(x))/x**2", {"x": "0"}, order=4, arithmetic=Arithmetic("exact"))
    assert exact.polynomial == "1/2 - 1/24*x**2 + 1/720*x**4"
    pytest.importorskip("flint")
    certified = taylor("sin(x)/x", {"x": "0"}, order=2, arithmetic=Arithmetic("certified"))
    assert [c.text for c in certified.coefficients[:2]] == ["1.0000000000000000", "0"]
    with pytest.raises(ExpressionError):  # that cos(pi/2) is 0 no ball tells
        taylor("cos(x)/(x - pi/2)", {"x": "pi/2"}, order=2, arithmetic=Arithmetic("certified"))


def test_what_cancels_without_proof_is_said() -> None:
    answer = taylor("cos(x)/(x - pi/2)", {"x": "pi/2"}, order=2)
    assert answer.coefficients == pytest.approx([-1, 0, 1 / 6]) and answer.coefficients[1] == 0
    assert "not proven" in answer.warnings[0].message
    # a difference of 1e-40 is none of 0: there is a pole
    with pytest.raises(ExpressionError, match="division by zero"):
        taylor("(sin(x) + 1e-40)/x", {"x": 0})


def test_a_float_is_the_decimal_that_it_is_written_as() -> None:
    for text in ("1/(x - 0.3)", "1/(x - 0.3) - (1 + 1e-17)/(x - 0.3)"):
        with pytest.raises(ExpressionError, match="division by zero"):
            taylor(text, {"x": 0.3}, order=2)
        with pytest.raises(ExpressionError) as caught:
            gradient(text, {"x": 0.3})
        assert "limit" not in (caught.value.hint or "")
    assert taylor("sin(x - 0.3)/(x - 0.3)", {"x": 0.3}, order=1).coefficients == [1.0, 0.0]
    for arithmetic in (Arithmetic("exact"), Arithmetic("precision", 30)):
        assert gradient("x - 0.3", {"x": 0.3}, arithmetic=arithmetic).value.text == "0"


@pytest.mark.parametrize(
    "text",
    [
        "1/x",
        "sqrt(x)/x",
        "abs(x)/x",
        "cos(x)/x",
        "x*log(x)",
        "sqrt(x**2)/x",
        "sin(x)/x**2",
        "log(x)",
        "(log(x) if x < 1 else x)/x",
        "sin(x)/x if x < 2 else x",
        "(1/x if x < 1 and x > -1 else 2) + 3",
    ],
)
def test_what_is_no_removable_singularity_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        taylor(text, {"x": 0})
    with pytest.raises(ExpressionError) as caught:
        gradient(text, {"x": 0})
    assert "limit" not in (caught.value.hint or "")


def test_the_gradient_is_an_error_that_says_the_limit() -> None:
    with pytest.raises(ExpressionError) as caught:
        gradient("(exp(2*x) - 1)/x", {"x": 0})
    extended = "`limit` gives it, and `taylor` expands the continuous extension"
    assert caught.value.hint == f"the limit there is 2, and that of the derivative 2: {extended}"
    with pytest.raises(ExpressionError) as caught:
        gradient("sin(x)/x + y", {"x": 0, "y": 1})
    assert "limit" not in (caught.value.hint or "")


def test_a_branch_that_a_constant_decides_has_its_series() -> None:
    answer = taylor("sin(x)/x if a > 2 else x", {"x": 0, "a": 3}, wrt=["x"], order=2)
    assert answer.coefficients == pytest.approx([1, 0, -1 / 6]) and [
        w.kind for w in answer.warnings
    ] == ["removable"]


@pytest.mark.parametrize(
    ("text", "value", "slope"),
    [
        ("sin(x)/sum(x, x, x)", "0.333333333333", "0"),
        ("sin(x)/prod(x, 2, 3)", "0.166666666667", "0"),
        ("mean(sin(x)/x, x, x)", "0.333333333333", "0.666666666667"),
        # 1/sin(x) is 1/x + x/6 + …
        ("sum(1/x, -1/sin(x), cos(x))", "1", "-0.166666666667"),
    ],
)
def test_holes_beside_sums_and_products_of_several_numbers_are_named(
    text: str, value: str, slope: str
) -> None:
    with pytest.raises(ExpressionError) as raised:
        gradient(text, {"x": 0})
    assert f"the limit there is {value}, and that of the derivative {slope}:" in str(
        raised.value.hint
    )
