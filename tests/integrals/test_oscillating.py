"""Improper integrals of what oscillates: their proven digits against closed forms, which mpmath computes."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

pytest.importorskip("flint")

from mpmath import mp

from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.integrals import integral
from autodiff_cli.capabilities.integrals.integral import integrate
from autodiff_cli.capabilities.integrals.oscillating import SectorBounds
from autodiff_cli.engine.numbers.base import Refusal


@pytest.fixture(autouse=True)
def without_antiderivatives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integral, "if_known", lambda formula, name: None)  # SymPy takes seconds, and knows some


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


@pytest.mark.parametrize(("text", "between", "closed"), CLOSED_FORMS, ids=lambda x: x if isinstance(x, str) else "")
def test_proven_digits_are_those_of_a_closed_form(text: str, between: str, closed: object) -> None:
    answer = integrate(text, ends=[f"x={between}"])
    assert answer.kind == "proven" and answer.digits is not None
    with mpmath.workdps(40):
        shown = mpmath.mpf(answer.digits)
        assert abs(shown - closed()) <= mpmath.mpf(10) ** -16 * max(abs(shown), mpmath.mpf("0.01"))  # type: ignore[operator]
    assert len(answer.digits.replace(".", "").lstrip("-0")) >= 16


@pytest.mark.parametrize(
    ("text", "between"),
    [("sin(x)/x + 1/x", "1:inf"), ("sin(x)**2/x", "1:inf"), ("cos(x)/x", "0:inf"), ("cos(x)**2/sqrt(x)", "1:inf")],
)
def test_a_part_that_does_not_oscillate_may_diverge(text: str, between: str) -> None:
    assert integrate(text, ends=[f"x={between}"]).kind == "divergent"


@pytest.mark.parametrize("text", ["abs(sin(x))/x", "x*cos(x**2)/(2+sin(x))", "cos(x)/log(x)", "cos(x)/sqrt(x**4+1)"])
def test_what_is_not_shown_is_no_number(text: str) -> None:
    with pytest.raises(ExpressionError, match="not known"):
        integrate(text, ends=["x=2:inf"])


def test_bounds_hold_beside_the_axis_and_only_where_a_root_is_analytic() -> None:
    m = SectorBounds(Fraction(4))
    size = m.div(m.sqrt(m.add(m.mul(m.t, m.t), 1)), m.add(m.mul(m.t, m.t), -2))
    for angle in (0, 0.3, -0.785):
        z = 4 * mpmath.expj(angle)
        assert abs(mpmath.sqrt(z**2 + 1) / (z**2 - 2)) <= float(size.upper.at(Fraction(4)).upper())
    # z**3 - 1 may be negative there, and |exp(-z)| is larger than exp(-|z|)
    for refused in (lambda: m.sqrt(m.sub(m.pow(m.t, 3), 1)), lambda: m.exp(m.neg(m.t)), lambda: m.step("sin", m.t)):
        with pytest.raises(Refusal):
            refused()
