"""The Faddeeva function in doubles: its parts and those of its derivative, against enclosures with
200 bits.
"""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from autodiff_cli.engine.numbers.double.faddeeva import MAX_SIZE, MIN_Y, faddeeva
from autodiff_cli.engine.numbers.floats import REAL

flint = pytest.importorskip("flint")

ULPS = 16


def parts(x: float, y: float) -> list[Any]:
    """The parts of w and w' = -2z·w + 2i/√π (DLMF 7.10.2), of w = exp(-z²)·erfc(-iz)."""
    before, flint.ctx.prec = flint.ctx.prec, 200
    try:
        z = flint.acb(x, y)
        w = (-z * z).exp() * flint.acb(z.imag, -z.real).erfc()
        slope = -2 * z * w + flint.acb(0, 2) / flint.arb.pi().sqrt()
        return [w.real, w.imag, slope.real, slope.imag]
    finally:
        flint.ctx.prec = before


def drawn(rng: random.Random) -> tuple[float, float]:
    y = rng.choice((rng.uniform(0.01, 3), 10 ** rng.uniform(-3, 2)))
    return rng.choice((rng.uniform(-8, 8), rng.uniform(-100, 100), 10 ** rng.uniform(-4, 2))), y


# beside nodes, poles of the rule, and where its residue ends to be added
CHOSEN = [
    (k * 3 / 16 + d, y)
    for k in (0, 1, 2, 11, 36)
    for d in (-1e-9, 0.0, 1e-9)
    for y in (MIN_Y, 0.25, 8.37, 8.38)
]


def test_parts_of_value_and_slope_are_right_to_16_ulp() -> None:
    rng = random.Random(46)
    taken = 0
    for x, y in [*CHOSEN, *(drawn(rng) for _ in range(2500))]:
        for k, exact in enumerate(parts(x, y)):
            value = faddeeva(k // 2, x, y, imaginary=bool(k % 2))
            if value is not None:
                taken += 1
                assert abs(value - exact) <= ULPS * math.ulp(float(exact)), (x, y, k)
    assert taken > 0.8 * 4 * 2500


def test_most_ordinary_points_need_no_enclosure() -> None:
    rng = random.Random(7)
    points = [(rng.uniform(-8, 8), rng.uniform(0.05, 3)) for _ in range(1000)]
    left = [
        p for p in points for k in range(4) if faddeeva(k // 2, *p, imaginary=bool(k % 2)) is None
    ]
    assert len(left) < 0.03 * 4 * len(points)


@pytest.mark.parametrize(
    ("x", "y"), [(1.5, 0.0), (1.5, MIN_Y / 2), (2 * MAX_SIZE, 1.0), (0.5, 2 * MAX_SIZE)]
)
def test_elsewhere_enclosures_are_taken(x: float, y: float) -> None:
    assert faddeeva(0, x, y, imaginary=False) is None
    assert faddeeva(2, 1.5, 1.0, imaginary=False) is None
    assert REAL.faddeeva_re(0.0, x, y) == float(parts(x, y)[0])
