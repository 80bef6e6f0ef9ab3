"""The incomplete gamma function where its domain ends: which derivatives are finite there, and what
they are.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from autodiff_cli import ExpressionError, gradient, hessian, taylor

# of gammainc(a, x) = x^a/Γ(a + 1)·(1 - a·x/(a + 1) + …) at 0, by x
FIRST = {1.0: 1.0, 1.5: 0.0, 2.0: 0.0, 3.0: 0.0}
SECOND = {1.0: -1.0, 2.0: 1.0, 2.5: 0.0, 3.0: 0.0}
INFINITE_SECOND = (0.5, 0.75, 1.5, 1.75)
ARITHMETICS: list[dict[str, Any]] = [{}, {"precision": 30}, {"certified": True}]


@pytest.mark.parametrize("options", ARITHMETICS, ids=["doubles", "digits", "balls"])
def test_first_derivatives_at_the_end(options: dict[str, Any]) -> None:
    if "certified" in options:
        pytest.importorskip("flint")
    for a, slope in FIRST.items():
        for name, sign in (("gammainc", 1.0), ("gammaincc", -1.0)):
            found = gradient(f"{name}({a}, x)", {"x": 0}, **options)
            assert float(found.gradient["x"]) == sign * slope
            assert float(found.value) == (1.0 - sign) / 2.0
    for a in (0.25, 0.5, 0.75):
        with pytest.raises(ExpressionError, match="its derivative with respect to x is infinite"):
            gradient(f"gammainc({a}, x)", {"x": 0}, **options)


@pytest.mark.parametrize("options", ARITHMETICS, ids=["doubles", "digits", "balls"])
def test_second_derivatives_at_the_end(options: dict[str, Any]) -> None:
    if "certified" in options:
        pytest.importorskip("flint")
    for a, second in SECOND.items():
        assert float(hessian(f"gammainc({a}, x)", {"x": 0}, **options).hessian[0][0]) == second
    for a in INFINITE_SECOND:
        with pytest.raises(ExpressionError, match="infinite there"):
            hessian(f"gammainc({a}, x)", {"x": 0}, **options)


def test_by_the_shape_the_value_does_not_change_at_the_end() -> None:
    found = hessian("gammainc(a, x)", {"a": 3, "x": 0})
    assert found.gradient == {"a": 0.0, "x": 0.0}
    # by a and x it falls as x^(a - 1)·log(x), which is 0 at 0 for a > 1, and infinite for a = 1
    assert found.hessian[0][1] == 0.0
    with pytest.raises(ExpressionError, match="infinite there"):
        hessian("gammainc(a, x)", {"a": 1, "x": 0})


def test_series_at_the_end() -> None:
    found = taylor("gammainc(4, x)", {"x": 0}, order=7)
    # x^4/4!·(1 - 4x/5 + …), whose factors are (-1)^k·x^(4 + k)/(3!·k!·(4 + k))
    wanted = [0.0] * 4 + [(-1) ** k / (6 * math.factorial(k) * (4 + k)) for k in range(4)]
    assert all(
        math.isclose(a, b, rel_tol=1e-14) for a, b in zip(found.coefficients, wanted, strict=True)
    )
