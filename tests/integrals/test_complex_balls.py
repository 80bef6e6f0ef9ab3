"""Complex balls hold the values of special functions at all numbers of a ball; the values are those
of mpmath.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import mpmath as mp
import pytest
from flint import acb, arb

from autodiff_cli.capabilities.integrals.complex_balls import ComplexBalls
from autodiff_cli.engine.graphs.value_and_gradient import evaluate_in
from autodiff_cli.engine.numbers.base import NO_RESULT
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.problem import parse

DIGITS = 30


def w(z: Any) -> Any:
    """The Faddeeva function (DLMF 7.2.3)."""
    return mp.exp(-z * z) * mp.erfc(-1j * z)


def real_exponential_integral(z: Any) -> Any:
    """Ei on the right, and on the left -E1(-z), which has the real values on the axis (DLMF 6.2.6)."""
    return mp.ei(z) if mp.re(z) > 0 else -mp.e1(-z)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "besselj(0, x)": lambda x: mp.besselj(0, x),
    "besselj(-1, x)": lambda x: mp.besselj(-1, x),
    "besselj(-3, x)": lambda x: mp.besselj(-3, x),
    "besselj(1.5, x)": lambda x: mp.besselj(1.5, x),
    "besseli(2, x)": lambda x: mp.besseli(2, x),
    "bessely(1, x)": lambda x: mp.bessely(1, x),
    "besselk(0, x)": lambda x: mp.besselk(0, x),
    "besselk(1/3, x)": lambda x: mp.besselk(mp.mpf(1) / 3, x),
    "besselk(2, x)": lambda x: mp.besselk(2, x),
    "besselk(x, 2)": lambda x: mp.besselk(x, 2),
    "erfcx(x)": lambda x: mp.exp(x * x) * mp.erfc(x),
    "faddeeva_re(0, x, 0.7)": lambda x: (w(x + 0.7j) + w(-x + 0.7j)) / 2,
    "faddeeva_im(0, x, 0.7)": lambda x: (w(x + 0.7j) - w(-x + 0.7j)) / 2j,
    "lambertw(x)": mp.lambertw,
    "erfi(x)": mp.erfi,
    "Si(x)": mp.si,
    "Ci(x)": mp.ci,
    "Ei(x)": real_exponential_integral,
    "li(x)": lambda x: real_exponential_integral(mp.log(x)),
    "fresnels(x)": mp.fresnels,
    "fresnelc(x)": mp.fresnelc,
    "asinh(x)": mp.asinh,
    "atan(x)": mp.atan,
    "atan2(1, x)": lambda x: mp.pi / 2 - mp.atan(x),
    "atan2(x, 2)": lambda x: mp.atan(x / 2),
    "beta(x, 2.5)": lambda x: mp.beta(x, 2.5),
    "trigamma(x)": lambda x: mp.psi(1, x),
    "polygamma(3, x)": lambda x: mp.psi(3, x),
    "gammainc(2.5, x)": lambda x: mp.gammainc(2.5, 0, x, regularized=True),
    "gammaincc(1.5, x)": lambda x: mp.gammainc(1.5, x, regularized=True),
}


@pytest.mark.parametrize("text", FUNCTIONS)
def test_values_in_a_ball_are_in_its_ball(text: str) -> None:
    drawn, formula, held = random.Random(text), parse(text).outputs[0], 0
    with mp.workdps(DIGITS):
        for _ in range(30):
            size, width = 10 ** drawn.uniform(-2, 1.5), 10 ** drawn.uniform(-4, 0)
            center = complex(size, drawn.choice((0, drawn.uniform(-1, 1))))
            found = ball_of(formula, acb(arb(center.real, width), arb(center.imag, width)))
            for _ in range(6 if found is not None else 0):
                sides = [drawn.choice((-1, 1, drawn.uniform(-1, 1))) for _ in range(2)]
                inside = mp.mpc(center.real + width * sides[0], center.imag + width * sides[1])
                value = FUNCTIONS[text](inside)
                assert found.overlaps(around(value)), (text, center, width, inside)
                held += 1
    assert held > 60


def test_the_ball_of_a_rounded_half_has_both_whole_numbers() -> None:
    for half in (0.5, 1.5, -0.5):  # 0, 2 and 0, as halves are rounded to the even one
        found = ComplexBalls(False).round(acb(half))
        assert found.contains(acb(half + 0.5)) and found.contains(acb(half - 0.5))
    assert not ComplexBalls(True).round(acb(0.5)).is_finite()


def ball_of(formula: Any, x: Any) -> Any:
    """The ball of a formula over a ball on which it is analytic; None where it has no finite
    one.
    """
    try:
        found = acb(evaluate_in(ComplexBalls(True), formula, {"x": x}).value)
    except (ExpressionError, TypeError, *NO_RESULT):
        return None
    return found if found.is_finite() else None


def around(value: Any) -> Any:
    """The value of mpmath, of whose digits the last ones are its own rounding."""
    value = mp.mpmathify(value)
    error = abs(value) * mp.mpf(10) ** -14 + mp.mpf(10) ** -300
    return acb(*(arb(mp.nstr(part, 25), mp.nstr(error, 5)) for part in (value.real, value.imag)))
