"""Bessel functions where orders are whole, and at the ends of their domain: which derivatives there
are.
"""

from __future__ import annotations

from typing import Any

import pytest

from autodiff_cli import ExpressionError, gradient, hessian, taylor
from autodiff_cli.engine.numbers.floats import REAL

ARITHMETICS: list[dict[str, Any]] = [{}, {"precision": 30}, {"certified": True}]


def arithmetic(options: dict[str, Any]) -> dict[str, Any]:
    if "certified" in options:
        pytest.importorskip("flint")
    return options


# Abramowitz and Stegun, tables 9.1 and 9.8
KNOWN = {
    ("besselj", 0, 1.0): 0.7651976865579666, ("besselj", 1, 1.0): 0.44005058574493355,
    ("bessely", 0, 1.0): 0.08825696421567697, ("bessely", 1, 1.0): -0.7812128213002887,
    ("besseli", 0, 1.0): 1.2660658777520084, ("besseli", 1, 1.0): 0.5651591039924851,
    ("besselk", 0, 1.0): 0.42102443824070834, ("besselk", 1, 1.0): 0.6019072301972346,
}  # fmt: skip


@pytest.mark.parametrize("options", ARITHMETICS, ids=["doubles", "digits", "balls"])
def test_known_values_and_their_slopes(options: dict[str, Any]) -> None:
    for (name, order, x), value in KNOWN.items():
        assert float(
            gradient(f"{name}({order}, x)", {"x": x}, **arithmetic(options)).value
        ) == pytest.approx(value, rel=1e-15)
        if order == 0:  # DLMF 10.6.3, 10.29.3
            slope = KNOWN[name, 1, x] * (1 if name == "besseli" else -1)
            assert float(
                gradient(f"{name}(0, x)", {"x": x}, **options).gradient["x"]
            ) == pytest.approx(slope, rel=1e-15)


@pytest.mark.parametrize("options", ARITHMETICS, ids=["doubles", "digits", "balls"])
def test_at_zero(options: dict[str, Any]) -> None:
    for text, first, second in (
        ("besselj(0, x)", 0.0, -0.5), ("besselj(1, x)", 0.5, 0.0), ("besselj(2, x)", 0.0, 0.25),
        ("besseli(0, x)", 0.0, 0.5), ("besselj(-1, x)", -0.5, 0.0), ("besselj(2.5, x)", 0.0, 0.0),
    ):  # fmt: skip
        found = hessian(text, {"x": 0}, **arithmetic(options))
        assert (float(found.gradient["x"]), float(found.hessian[0][0])) == (first, second), text
    for text in ("besselj(0.5, x)", "besseli(0.25, x)"):
        with pytest.raises(ExpressionError, match="infinite there"):
            gradient(text, {"x": 0}, **options)
    for text in ("besselj(-0.5, x)", "bessely(0, x)", "besselk(1, x)"):
        with pytest.raises(ExpressionError, match="undefined at"):
            gradient(text, {"x": 0}, **options)
    by_order = gradient("besselj(nu, x)", {"nu": 2, "x": 0}, **options)
    assert [float(each) for each in by_order.gradient.values()] == [0.0, 0.0]
    with pytest.raises(ExpressionError, match="derivative with respect to nu is infinite there"):
        gradient("besselj(nu, x)", {"nu": 0, "x": 0}, **options)


@pytest.mark.parametrize("options", ARITHMETICS, ids=["doubles", "digits", "balls"])
def test_below_zero_whole_orders_are_even_or_odd(options: dict[str, Any]) -> None:
    for name in ("besselj", "besseli"):
        for order in (-3, 0, 1, 2):
            right = gradient(f"{name}({order}, x)", {"x": 1.75}, **arithmetic(options))
            left = gradient(f"{name}({order}, x)", {"x": -1.75}, **options)
            assert float(left.value) == float(right.value) * (-1) ** order
            assert float(left.gradient["x"]) == -float(right.gradient["x"]) * (-1) ** order
        with pytest.raises(ExpressionError, match="its domain: x > 0"):
            gradient(f"{name}(1/2, x)", {"x": -1}, **options)
        with pytest.raises(
            ExpressionError, match="derivative with respect to nu is undefined there"
        ):
            gradient(f"{name}(nu, x)", {"nu": 2, "x": -1}, **options)


def test_series_at_zero() -> None:
    found = taylor("besselj(0, x)", {"x": 0}, order=6).coefficients
    assert list(found) == pytest.approx([1, 0, -1 / 4, 0, 1 / 64, 0, -1 / 2304], rel=1e-15)


def test_the_integral_of_k_serves_where_the_order_is_whole() -> None:
    flint = pytest.importorskip("flint")
    for order, x in ((0, 1.0), (3, 25.5), (40, 1.5), (300, 130.0), (-2, 8.0), (7, 110.0)):
        want = float(flint.arb(x).bessel_k(flint.arb(order)))
        assert REAL.besselk(float(order), x) == pytest.approx(want, rel=1e-15, abs=0.0)
