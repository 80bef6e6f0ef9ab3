"""Improper integrals with proven digits: bounds of tails, and enclosures around removable
singularities.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath as mp
import pytest

from autodiff_cli import integrate
from autodiff_cli.capabilities.integrals import integral
from autodiff_cli.capabilities.integrals.eventual_bounds import EventualBounds
from autodiff_cli.engine.graphs.value_and_gradient import evaluate_in
from autodiff_cli.questions.problem import parse

mp.mp.dps = 30


# The integral of cos(x)*log(x)/sqrt(x) from 0 to 1, by the series of cos: that of
# x**(2n - 1/2)*log(x) is -1/(2n + 1/2)**2.
SMALL = mp.nsum(lambda n: -((-1) ** n) / mp.factorial(2 * n) / (2 * n + 0.5) ** 2, [0, mp.inf])


@pytest.mark.parametrize(
    ("text", "between", "value"),
    [
        # Gradshteyn and Ryzhik, and mpmath's constants
        ("x/(exp(x) - 1)", "x=0:inf", mp.pi**2 / 6),
        ("x**3/(exp(x) - 1)", "x=0:inf", mp.pi**4 / 15),
        ("x/(exp(x) + 1)", "x=0:inf", mp.pi**2 / 12),
        ("log(x)/(1 + x)", "x=0:1", -(mp.pi**2) / 12),
        ("log(x)/(1 + x**2)", "x=0:1", -mp.catalan),
        ("exp(-x)*log(x)", "x=0:inf", -mp.euler),
        ("exp(-x**2)*cos(x)", "x=-inf:inf", mp.sqrt(mp.pi) * mp.exp(-0.25)),
        ("x**0.3*exp(-x)", "x=0:inf", mp.gamma("1.3")),
        ("x**x", "x=0:1", -mp.nsum(lambda n: (-n) ** -n, [1, mp.inf])),
        ("(exp(x) - 1)/x", "x=0:1", mp.ei(1) - mp.euler),
        ("(1 - cos(x))/x**2", "x=0:1", mp.si(1) + mp.cos(1) - 1),
        ("log(1 + x)/x", "x=0:1", mp.pi**2 / 12),
        ("1/sqrt(x*(3 - x)*(x + 1))", "x=0:3", 2 * mp.ellipk(mp.mpf(3) / 4) / 2),
        ("2**(-x)*log(x)", "x=0:inf", -(mp.euler + mp.log(mp.log(2))) / mp.log(2)),
        ("x/sinh(x)", "x=0:inf", mp.pi**2 / 4),
        # numbers of another size than 1, as h*c in Planck's law: tails are as exact beside them
        ("1e-30*x**3/(exp(x) - 1)", "x=0:inf", mp.pi**4 / 15 * mp.mpf("1e-30")),
        ("1e30*x**3/(exp(x) - 1)", "x=0:inf", mp.pi**4 / 15 * mp.mpf("1e30")),
        ("1e-40*sin(x)/x", "x=0:inf", mp.pi / 2 * mp.mpf("1e-40")),
        ("1e-19*exp(-x)*log(x)", "x=0:inf", -mp.euler * mp.mpf("1e-19")),
        ("1e-40*cos(x)*log(x)/sqrt(x)", "x=0:1", mp.mpf("1e-40") * SMALL),
    ],
)
def test_digits_are_proven(
    text: str, between: str, value: mp.mpf, monkeypatch: pytest.MonkeyPatch
) -> None:
    # SymPy knows some of them
    monkeypatch.setattr(integral, "if_known", lambda formula, name: None)
    answer = integrate(text, between=between)
    assert answer.kind == "proven" and answer.digits is not None
    digits = len(answer.digits.partition("e")[0].lstrip("-0.").replace(".", ""))
    assert digits >= 11
    assert abs(mp.mpf(answer.digits) - value) <= abs(value) * mp.mpf(10) ** (1 - digits)


def test_what_diverges_is_not_proven() -> None:
    assert integrate("exp(x)/x", between="x=0:1").kind == "divergent"
    assert integrate("1/(x*(exp(x) - 1))", between="x=0:1").kind == "divergent"


def test_an_end_that_moves_may_be_singular() -> None:
    answer = integrate("1/sqrt(a - x)", {"a": 2.0}, between="x=0:a", wrt="a")
    assert answer.derivatives is not None
    assert answer.derivatives["a"] == pytest.approx(1 / math.sqrt(2), rel=1e-5)  # of 2 sqrt(a)


FORMULAS = (
    "exp(-t)*log(t)", "t/(exp(t) - 1)", "1/(1 + t**4)", "sqrt(t)/(t**2 + 3)", "log(1 + 1/t)/t",
    "sin(t)*exp(-2*t)", "(1/t)**(1/t)", "exp(-t**2)*cos(t)", "atan(t)/(t**2 - 1)", "erfc(t)",
    "exp(-t**1.5)", "2**(-t)*t**3", "1/(t*sqrt(t**2 - 1))", "tanh(t)/t**2", "1/cosh(t)",
    "exp(-3*t + 1/t)", "log(t**2 + 5)/t**2", "besselj(0, t)", "besselj(2, t)*t",
    "besselj(1.5, sqrt(t))", "besselj(3, 1/t)", "bessely(0, t)", "bessely(3, t)/t", "besselk(0, t)",
    "besselk(2, t)*t", "besselk(1.5, sqrt(t))", "besselk(0, 1/t)", "besselk(3, 1/t)", "1/gamma(t)",
    "lgamma(t)/t", "digamma(t)", "digamma(1/t)", "gammainc(2, t)", "gammaincc(3, t)", "asinh(t)",
    "asinh(1/t)", "acosh(t)", "lambertw(t)", "lambertw(1/t)", "lambertw(1 + 1/t)", "erfcx(t)",
    "erfcx(1/t)", "normpdf(t)", "normcdf(-t)", "normcdf(t)", "hypot(t, 2)", "silu(-t)", "erfc(-t)",
)  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_bounds_hold(text: str) -> None:
    rng = random.Random(text)
    program = parse(text).outputs[0]
    for start in (Fraction(4), Fraction(37, 3), Fraction(256)):
        m = EventualBounds(start)
        size = m.bounds(evaluate_in(m, program, {"t": m.t}).value)
        assert size.upper is not None
        for _ in range(20):
            t = start * Fraction(math.exp(rng.uniform(0, 2)))
            exact = mp.mpf(_value(text, mp.mpf(t.numerator) / t.denominator))
            assert abs(exact) <= mp.mpf(str(size.upper.at(t).upper().str(20, radius=False))) * (
                1 + mp.mpf(10) ** -15
            )
            if size.lower is not None:
                lowest = mp.mpf(str(size.lower.at(t).lower().str(20, radius=False)))
                assert abs(exact) >= lowest * (1 - mp.mpf(10) ** -15)
            assert not size.sign or mp.sign(exact) == size.sign


SPECIAL = {
    **{
        name: getattr(mp, name)
        for name in ("besselj", "bessely", "besselk", "gamma", "digamma", "asinh", "acosh")
    },
    "lgamma": mp.loggamma,
    "lambertw": mp.lambertw,
    "erfcx": lambda x: mp.hyperu(0.5, 0.5, x * x) / mp.sqrt(mp.pi),
    "gammainc": lambda a, x: mp.gammainc(a, 0, x, regularized=True),
    "gammaincc": lambda a, x: mp.gammainc(a, x, regularized=True),
    "normpdf": mp.npdf,
    "normcdf": mp.ncdf,
    "hypot": mp.hypot,
    "silu": lambda x: x / (1 + mp.exp(-x)),
}
"""Functions under the names of the language, as mpmath has them."""


def _value(text: str, t: mp.mpf) -> mp.mpf:
    names = {
        name: getattr(mp, name)
        for name in ("exp", "log", "sqrt", "sin", "cos", "atan", "erfc", "tanh", "cosh")
    }
    return eval(text.replace("1.5", "mpf('1.5')"), {**names, **SPECIAL, "mpf": mp.mpf, "t": t})  # noqa: S307
