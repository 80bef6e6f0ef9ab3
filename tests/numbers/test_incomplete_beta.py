"""The incomplete beta function: at the ends of its domain, over its range, and in every type of
number.
"""

from __future__ import annotations

import math
import random
from typing import Any

import mpmath
import pytest

from autodiff_cli import ExpressionError, gradient, hessian, taylor
from autodiff_cli.engine.numbers.double import twofold
from autodiff_cli.engine.numbers.floats import REAL
from autodiff_cli.engine.numbers.parameter_series import _beta_rest

ARITHMETICS: list[dict[str, Any]] = [{}, {"precision": 30}, {"certified": True}]
every_arithmetic = pytest.mark.parametrize(
    "options", ARITHMETICS, ids=["doubles", "digits", "balls"]
)

# of the density x^(a - 1)·(1 - x)^(b - 1)/B(a, b) at 0, and by x there: it is 1/B·(1 - (b - 1)·x +
# …) for a = 1
DENSITY = {(1.0, 2.5): 2.5, (1.5, 3.0): 0.0, (2.0, 0.5): 0.0, (3.0, 3.0): 0.0}
SLOPE = {(1.0, 2.5): -3.75, (2.0, 3.0): 12.0, (2.5, 0.5): 0.0, (3.0, 3.0): 0.0, (1.0, 1.0): 0.0}
INFINITE_SLOPE = ((0.5, 2.0), (1.5, 2.0), (0.75, 0.5))


def needs(options: dict[str, Any]) -> None:
    if "certified" in options:
        pytest.importorskip("flint")


@every_arithmetic
def test_first_derivatives_at_the_ends(options: dict[str, Any]) -> None:
    needs(options)
    for (a, b), density in DENSITY.items():
        left = gradient("betainc(a, b, x)", {"a": a, "b": b, "x": 0}, **options)
        right = gradient("betainc(b, a, x)", {"a": a, "b": b, "x": 1}, **options)
        assert [float(left.value), float(right.value)] == [0.0, 1.0]
        for found in (left, right):
            assert [float(found.gradient[name]) for name in "abx"] == [0.0, 0.0, density]
    for text, x in (("betainc(1/2, 3, x)", 0), ("betainc(3, 1/2, x)", 1)):
        with pytest.raises(ExpressionError, match="its derivative with respect to x is infinite"):
            gradient(text, {"x": x}, **options)


@every_arithmetic
def test_second_derivatives_at_the_ends(options: dict[str, Any]) -> None:
    needs(options)
    for (a, b), slope in SLOPE.items():
        assert float(hessian(f"betainc({a}, {b}, x)", {"x": 0}, **options).hessian[0][0]) == slope
        # I_x(a, b) is 1 - I_{1-x}(b, a)
        assert float(hessian(f"betainc({b}, {a}, x)", {"x": 1}, **options).hessian[0][0]) == -slope
    for a, b in INFINITE_SLOPE:
        with pytest.raises(ExpressionError, match="infinite there"):
            hessian(f"betainc({a}, {b}, x)", {"x": 0}, **options)


@every_arithmetic
def test_by_the_shapes_the_density_changes_at_an_end_where_it_is_not_0(
    options: dict[str, Any],
) -> None:
    needs(options)
    # I_x(1, b) is 1 - (1 - x)^b: its slope b at 0 has the derivative 1 by b
    assert (
        float(
            hessian("betainc(1, b, x)", {"b": 2.5, "x": 0}, wrt=["b", "x"], **options).hessian[1][0]
        )
        == 1.0
    )
    assert (
        float(
            hessian("betainc(b, 1, x)", {"b": 2.5, "x": 1}, wrt=["b", "x"], **options).hessian[1][0]
        )
        == 1.0
    )
    # by a it is x^(a - 1)·log(x) and so on
    with pytest.raises(ExpressionError, match="infinite there"):
        hessian("betainc(a, 2, x)", {"a": 1, "x": 0}, **options)


def test_at_the_end_nothing_is_warned_of() -> None:
    found = hessian("betainc(a, b, x)", {"a": 3, "b": 3, "x": 1})
    assert not found.warnings
    assert not any([*found.gradient.values(), *(second for row in found.hessian for second in row)])


def test_series_at_both_ends() -> None:
    # I_x(3, 2) is 4x³ - 3x⁴
    assert taylor("betainc(3, 2, x)", {"x": 0}, order=6).coefficients == [
        0.0,
        0.0,
        0.0,
        4.0,
        -3.0,
        0.0,
        0.0,
    ]
    assert taylor("betainc(3, 2, x)", {"x": 1}, order=6).coefficients == [
        1.0,
        0.0,
        -6.0,
        -8.0,
        -3.0,
        0.0,
        0.0,
    ]


@pytest.mark.parametrize(
    "point", [{"a": 0}, {"a": -1}, {"b": 0}, {"b": -2.5}, {"x": -0.25}, {"x": 1.5}]
)
@every_arithmetic
def test_outside_its_domain(point: dict[str, float], options: dict[str, Any]) -> None:
    needs(options)
    with pytest.raises(ExpressionError, match=r"its domain: a > 0, b > 0 and 0 <= x <= 1"):
        gradient("betainc(a, b, x)", {"a": 2, "b": 3, "x": 0.5} | point, **options)


def reference(a: float, b: float, x: float) -> list[Any]:
    """Value and derivatives by a and b, by ∫ t^(a - 1)·(1 - t)^(b - 1)·{1, log t, log(1 - t)} dt up
    to x in 50 digits.

    The substitution t = u^(1/a) takes the singularity at 0 away: dt·t^(a - 1) is du/a.
    """
    with mpmath.workdps(50):
        p, q, z = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(x)

        def integrals(p: Any, q: Any, z: Any) -> list[Any]:
            def part(weight: Any) -> Any:
                return mpmath.quad(
                    lambda u: weight(u ** (1 / p)) * (1 - u ** (1 / p)) ** (q - 1) / p, [0, z**p]
                )

            return [part(lambda t: 1), part(mpmath.log), part(lambda t: mpmath.log1p(-t))]

        # from 0 to 1/2, and from there on by the mirrored function
        half = mpmath.mpf(1) / 2
        lower = integrals(p, q, min(z, half))
        if z > half:
            whole, rest = integrals(q, p, half), integrals(q, p, 1 - z)
            near = [w - r for w, r in zip(whole, rest, strict=True)]
            lower = [
                low + more for low, more in zip(lower, (near[0], near[2], near[1]), strict=True)
            ]
        total, value = mpmath.beta(p, q), lower[0]
        mean = [mpmath.digamma(c) - mpmath.digamma(p + q) for c in (p, q)]
        return [
            value / total,
            *((low - m * value) / total for low, m in zip(lower[1:], mean, strict=True)),
        ]


def test_value_and_derivatives_by_the_shapes_against_integrals() -> None:
    rng = random.Random(46)
    points = [
        (rng.uniform(0.5, 12), rng.uniform(0.5, 12), rng.uniform(0.05, 0.95)) for _ in range(6)
    ]
    for point in [*points, (0.001, 2.5, 1e-9), (3.25, 0.25, 0.999)]:
        wanted = reference(*point)
        found = [
            REAL.betainc(*point),
            REAL.betainc_derivative(1, 0, *point),
            REAL.betainc_derivative(0, 1, *point),
        ]
        for x, y in zip(found, wanted, strict=True):
            assert abs(x - y) <= math.ulp(float(y)), point


LARGE = [
    (1e4, 1e4, 0.5),
    (1e4, 1e-3, 0.999999),
    (1e-3, 1e4, 1e-6),
    (9e3, 2.5, 0.9996),
    (2.5, 9e3, 0.0004),
]


@pytest.mark.parametrize("point", LARGE)
def test_where_shapes_are_large_doubles_are_those_of_many_digits(point: tuple[float, ...]) -> None:
    ball = pytest.importorskip("autodiff_cli.engine.numbers.ball", exc_type=ImportError)
    for name, orders in (
        ("betainc", ()),
        ("betainc_derivative", (1.0, 0.0)),
        ("betainc_derivative", (0.0, 1.0)),
    ):
        settled = ball.nearest_double(name, (*orders, *point))
        assert settled is not None and settled == twofold.by_multiprecision(name, *orders, *point)


@pytest.mark.parametrize("x", [0.125, 0.5, 0.875])
def test_symmetry(x: float) -> None:
    left = hessian("betainc(a, b, x)", {"a": 2.5, "b": 7, "x": x})
    right = hessian("1 - betainc(a, b, 1 - x)", {"a": 7, "b": 2.5, "x": x})
    assert math.isclose(left.value, right.value, rel_tol=1e-13)
    for i, k in enumerate(swapped := (1, 0, 2)):
        for j, n in enumerate(swapped):
            assert math.isclose(left.hessian[i][j], right.hessian[k][n], rel_tol=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "x"), [(0.5, 0.25, 0.75), (3.0, 4.0, 0.125), (2.0, 90.0, 0.01), (40.0, 2.5, 0.9)]
)
@pytest.mark.parametrize("by_a", [0, 1])
def test_the_bound_on_the_rest_of_a_sum_holds_and_is_near(
    a: float, b: float, x: float, by_a: int
) -> None:
    begun, ended = 40, 4000
    with mpmath.workdps(60):
        p, q, z = map(mpmath.mpf, (a, b, x))
        term, h, rest, slopes = mpmath.mpf(1), mpmath.mpf(0), mpmath.mpf(0), mpmath.mpf(0)
        for k in range(ended):
            term = term * z * (p + q + k) / (p + 1 + k)
            h += 1 / (p + q + k) - by_a / (p + 1 + k)
            if k + 1 == begun:
                bound = _beta_rest(term, z, p + q + begun, p + 1 + begun, abs(h), by_a)
            elif k >= begun:
                rest, slopes = rest + term, slopes + term * h
        assert bound is not None
        (of_sum,), (of_slopes,) = bound
        assert rest <= of_sum < 4 * rest
        assert abs(slopes) <= of_slopes


def test_sums_of_too_many_terms_are_refused() -> None:
    with pytest.raises(ExpressionError, match="steps of work"):
        gradient("betainc(1e13, 1e13, x)", {"x": 0.5})
