"""Improper integrals of what oscillates: their proven digits against closed forms, which mpmath
computes.
"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest

pytest.importorskip("flint")

from mpmath import mp

from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.integrals import integral
from autodiff_cli.capabilities.integrals.eventual_bounds import EventualBounds
from autodiff_cli.capabilities.integrals.integral import integrate
from autodiff_cli.capabilities.integrals.oscillating import IN_SECTORS, SectorBounds, _growth
from autodiff_cli.engine.table.primitive import PRIMITIVES
from autodiff_cli.questions.problem import parse


@pytest.fixture(autouse=True)
def without_antiderivatives(monkeypatch: pytest.MonkeyPatch) -> None:
    # SymPy takes seconds, and knows some
    monkeypatch.setattr(integral, "if_known", lambda formula, name: None)


def log_integral() -> mpmath.mpf:
    """By parts it is an integral of what falls faster."""
    return mp.quadosc(lambda x: -(1 - mp.log(x)) * mp.sin(x) / x**2, [1, mp.inf], omega=1)


CLOSED_FORMS = [
    ("sin(x)/x", "0:inf", lambda: mp.pi / 2),
    ("sin(x)/x", "-inf:inf", lambda: mp.pi),
    ("sin(pi*x)/x", "0:inf", lambda: mp.pi / 2),
    ("sin(3*x)/x", "1:inf", lambda: mp.pi / 2 - mp.si(3)),
    ("cos(x)/x", "1:inf", lambda: -mp.ci(1)),
    ("cos(x)/(1+x**2)", "0:inf", lambda: mp.pi / (2 * mp.e)),
    ("cos(3*x)/(x**2+9)", "-inf:inf", lambda: mp.pi / (3 * mp.exp(9))),
    ("x*sin(2*x)/(x**2+4)", "0:inf", lambda: mp.pi / (2 * mp.exp(4))),
    ("cos(x)/(1+x**2)**2", "0:inf", lambda: mp.pi / (2 * mp.e)),
    ("sin(x**2)", "0:inf", lambda: mp.sqrt(mp.pi / 8)),
    ("cos(x**2)", "0:inf", lambda: mp.sqrt(mp.pi / 8)),
    ("sin(x)/x", "1:inf", lambda: mp.pi / 2 - mp.si(1)),
    ("cos(3*x**2)", "0:inf", lambda: mp.sqrt(mp.pi / 24)),
    ("cos(x**3)", "0:inf", lambda: mp.gamma(mp.mpf(4) / 3) * mp.sqrt(3) / 2),
    ("cos(x)/sqrt(x)", "0:inf", lambda: mp.sqrt(mp.pi / 2)),
    ("sin(x)**3/x**3", "0:inf", lambda: 3 * mp.pi / 8),
    ("(1-cos(x))/x**2", "0:inf", lambda: mp.pi / 2),
    ("(cos(2*x)-cos(6*x))/x", "0:inf", lambda: mp.log(3)),
    ("sin(x)/(1+x)", "0:inf", lambda: mp.ci(1) * mp.sin(1) + (mp.pi / 2 - mp.si(1)) * mp.cos(1)),
    ("sin(x+1)/(1+x)", "0:inf", lambda: mp.pi / 2 - mp.si(1)),
    ("log(x)*cos(x)/x", "1:inf", log_integral),
    ("cos(x)/sqrt(x**2+1)", "0:inf", lambda: mp.besselk(0, 1)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "between", "closed"), CLOSED_FORMS, ids=lambda x: x if isinstance(x, str) else ""
)
def test_proven_digits_are_those_of_a_closed_form(text: str, between: str, closed: object) -> None:
    answer = integrate(text, ends=[f"x={between}"])
    assert answer.kind == "proven" and answer.digits is not None
    with mpmath.workdps(40):
        shown = mpmath.mpf(answer.digits)
        assert abs(shown - closed()) <= mpmath.mpf(10) ** -16 * max(abs(shown), mpmath.mpf("0.01"))  # type: ignore[operator]
    assert len(answer.digits.replace(".", "").lstrip("-0")) >= 16


@pytest.mark.parametrize(
    ("text", "between"),
    [
        ("sin(x)/x + 1/x", "1:inf"),
        ("sin(x)**2/x", "1:inf"),
        ("cos(x)/x", "0:inf"),
        ("cos(x)**2/sqrt(x)", "1:inf"),
    ],
)
def test_a_part_that_does_not_oscillate_may_diverge(text: str, between: str) -> None:
    assert integrate(text, ends=[f"x={between}"]).kind == "divergent"


def test_a_bessel_function_has_no_bound_of_1_beside_the_axis() -> None:
    """cos(x)*besselj(0, x)/x was "proven" to be 0.37699…; it is 0.42037… (quadrature by mpmath)."""
    with pytest.raises(ExpressionError, match="not known"):
        integrate("besselj(0, x)*cos(x)/x", ends=["x=1:inf"])


def test_bounds_of_all_other_functions_are_refused_in_a_sector() -> None:
    on_the_axis = PRIMITIVES.keys() & vars(EventualBounds).keys() - IN_SECTORS.keys() - {"constant"}
    assert len(on_the_axis) > 20
    assert all(
        getattr(SectorBounds, name) is not getattr(EventualBounds, name) for name in on_the_axis
    )


@pytest.mark.parametrize(
    "text", ["abs(sin(x))/x", "x*cos(x**2)/(2+sin(x))", "cos(x)/log(x)", "cos(x)/sqrt(x**4+1)"]
)
def test_what_is_not_shown_is_no_number(text: str) -> None:
    with pytest.raises(ExpressionError, match="not known"):
        integrate(text, ends=["x=2:inf"])


@pytest.mark.parametrize(
    "text",
    [
        "sqrt(x**3 - 1)/x**3", "log(x**3)/x", "sqrt(1 - x)/x**2", "(x**4 - x)**0.3/x**2", "1/(x - 20)",
        "cos(1/x)/x", "sin(sqrt(x))/x", "atan(x)/x", "tanh(x)/x", "erf(x)/x", "erfc(x)", "abs(x)/x**2", "exp(-x)",
        "x**(-x)", "cosh(1/x)/x", "sinh(1/x)", "expm1(1/x)", "sech(x)", "softplus(-x)", "max(x, 1)/x**2", "e**(-x)",
        "besselj(0, x)/x", "bessely(0, x)/x", "besselk(0, x)", "gammainc(2, x)/x", "gammaincc(2, x)", "1/gamma(x)",
        "lgamma(x)/x**2", "digamma(x)/x", "asinh(x)/x", "acosh(x)/x", "lambertw(x)/x", "erfcx(x)/x", "normpdf(x)",
        "tan(1/x)/x", "hypot(x, 1)/x**2", "silu(-x)",
    ],
)  # fmt: skip
def test_what_is_bounded_on_the_axis_alone_is_refused(text: str) -> None:
    """exp(-z) is larger than exp(-|z|) beside the axis, and a root of z**3 - 1 has a cut there."""
    assert _growth(parse(text).outputs[0], "x", Fraction(4), 1) is None


@pytest.mark.parametrize(
    "text", ["sin(1)/x", "log(x)/x", "sqrt(x**2 + 1)/x**2", "exp(2)/(x**2 - 3)", "x**(-1/2)"]
)
def test_bounds_hold_on_the_ray(text: str) -> None:
    growth = _growth(parse(text).outputs[0], "x", Fraction(4), 1)
    names = {name: getattr(mpmath, name) for name in ("sin", "log", "sqrt", "exp")}
    assert growth is not None
    for size in (4, 7, 100):
        for angle in (0, 0.2, 0.5, math.pi / 4):
            here = abs(eval(text, names, {"x": size * mpmath.expj(angle)}))  # noqa: S307 - written above
            # on the real axis the bound is the number itself, which is rounded here
            assert here <= float(growth.at(Fraction(size)).upper()) * (1 + 1e-14)
