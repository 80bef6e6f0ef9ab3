"""Elasticities: what they are of power laws, in every arithmetic, and where there are none."""

from __future__ import annotations

import math
import random

import mpmath
import pytest

from autodiff_cli.capabilities.derivatives.gradient import gradient, with_elasticities
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.arithmetic import arithmetic_of
from running import autodiff


def test_the_exponents_of_a_power_law() -> None:
    draw = random.Random(5)
    tried = 0
    for _ in range(50):
        a, b, x, y = (
            draw.uniform(-3, 3),
            draw.uniform(-3, 3),
            draw.uniform(0.1, 9),
            draw.uniform(0.1, 9),
        )
        found = gradient(f"x**({a!r})*y**({b!r})/7", {"x": x, "y": y}, relative=True).elasticities
        assert found is not None
        assert math.isclose(found["x"] or 0, a, rel_tol=1e-14) and math.isclose(
            found["y"] or 0, b, rel_tol=1e-14
        )
        tried += 1
    assert tried == 50


def test_against_differences_of_logarithms() -> None:
    found = gradient("exp(-x)*sin(y) - 2", {"x": 0.7, "y": 0.4}, relative=True).elasticities
    assert found is not None
    with mpmath.workdps(50):

        def f(x: mpmath.mpf, y: mpmath.mpf) -> mpmath.mpf:
            return mpmath.exp(-x) * mpmath.sin(y) - 2

        x, y, h = mpmath.mpf(0.7), mpmath.mpf(0.4), mpmath.mpf(10) ** -20
        by_x = (mpmath.log(f(x * (1 + h), y) / f(x * (1 - h), y))) / (2 * h)
        by_y = (mpmath.log(f(x, y * (1 + h)) / f(x, y * (1 - h)))) / (2 * h)
        assert math.isclose(found["x"] or 0, float(by_x), rel_tol=1e-14)
        assert math.isclose(found["y"] or 0, float(by_y), rel_tol=1e-14)


def test_in_other_arithmetics() -> None:
    found = gradient(
        "x**2/(x + y)",
        {"x": "1/3", "y": 2},
        arithmetic=arithmetic_of(True, None, False),
        relative=True,
    )
    assert found.elasticities is not None and found.elasticities["x"].text == "13/7"
    many = gradient(
        "exp(x)", {"x": "0.1"}, arithmetic=arithmetic_of(False, 30, False), relative=True
    ).elasticities
    assert many is not None and many["x"].text == "0.1"
    proven = gradient(
        "x*y", {"x": 3, "y": 2}, arithmetic=arithmetic_of(False, None, True), relative=True
    ).elasticities
    assert proven is not None and proven["y"].text == "1.0000000000000000"
    with pytest.raises(ExpressionError):
        gradient("log(x)", {"x": -1}, relative=True)


def test_where_there_are_none() -> None:
    assert gradient("x - y", {"x": 1, "y": 1}, relative=True).elasticities == {"x": None, "y": None}
    exactly = gradient(
        "x - y", {"x": 1, "y": 1}, arithmetic=arithmetic_of(True, None, False), relative=True
    )
    assert exactly.elasticities == {"x": None, "y": None}
    # neither the product nor the quotient may be lost on the way
    for x, s in ((1e-200, 1e250), (10.0, 1e306), (0.1, 1e-300)):
        answer = with_elasticities(gradient("x*s*x", {"x": x, "s": s}))
        assert answer.elasticities is not None and math.isclose(
            answer.elasticities["x"] or 0, 2.0, rel_tol=1e-14
        )


def test_streams_have_them_too() -> None:
    one = autodiff("grad", "x*y**-2", "--at", "x=3,y=1", "--relative", "--format", "csv").out
    many = autodiff(
        "grad", "--at", "x=3,y=1", "--relative", "--format", "csv", stdin="x*y**-2\n"
    ).out
    assert one == many and "elasticity" in one
