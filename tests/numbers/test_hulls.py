"""What functions with kinks take over an interval, beside values and slopes at points in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

import pytest

from autodiff_cli import gradient

pytest.importorskip("flint")

from autodiff_cli.engine.numbers.hulls import SIDES_OF_KINKS
from autodiff_cli.engine.numerics.box_ranges import range_numbers

KINKS: list[tuple[str, str, dict[str, float]]] = [
    ("abs", "abs(x)", {"x": 0.0}),
    ("relu", "relu(x)", {"x": 0.0}),
    ("max", "max(x, y, z)", {"x": 1.0, "y": 1.0, "z": 1.0}),
    ("min", "min(x, y)", {"x": -2.0, "y": -2.0}),
    ("clamp", "clamp(x, y, z)", {"x": 0.0, "y": 0.0, "z": 1.0}),
    ("hypot", "hypot(x, y)", {"x": 0.0, "y": 0.0}),
]


@pytest.mark.parametrize(("name", "text", "kink"), KINKS, ids=[name for name, *_ in KINKS])
def test_slopes_beside_a_kink_are_between_those_of_its_sides(
    name: str, text: str, kink: dict[str, float]
) -> None:
    sides = SIDES_OF_KINKS[name](len(kink))
    least, greatest = (
        [side(one[k] for one in sides) for k in range(len(kink))] for side in (min, max)
    )
    reached = set()
    for step in product((-3e-3, -1e-3, 2e-3), repeat=len(kink)):
        near = {name: x + dx for (name, x), dx in zip(kink.items(), step, strict=True)}
        if name == "clamp" and near["y"] > near["z"]:
            continue
        slopes = [*gradient(text, near).gradient.values()]
        assert all(
            low <= x <= high for low, x, high in zip(least, slopes, greatest, strict=True)
        ), (near, slopes)
        reached |= {(k, round(x)) for k, x in enumerate(slopes) if x == round(x)}
    if name != "hypot":  # whose slopes are cosines
        assert {(k, end) for ends in (least, greatest) for k, end in enumerate(ends)} <= reached | {
            (2, 1)
        }


def elu(x: float, alpha: float = 2.0) -> float:
    return x if x > 0 else alpha * math.expm1(x)


def leaky_relu(x: float, slope: float = 0.25) -> float:
    return max(x, 0) + slope * min(x, 0)


VALUES: list[tuple[str, Callable[[float], float], Sequence[float]]] = [
    ("abs", abs, ()),
    ("cbrt", math.cbrt, ()),
    ("relu", lambda x: max(x, 0.0), ()),
    ("elu", elu, (2.0,)),
    ("leaky_relu", leaky_relu, (0.25,)),
    ("hypot", lambda x: math.hypot(x, 3.0), (3.0,)),
]


@pytest.mark.parametrize(("name", "function", "others"), VALUES, ids=[name for name, *_ in VALUES])
def test_hulls_are_the_ranges(
    name: str, function: Callable[[float], float], others: Sequence[float]
) -> None:
    m = range_numbers()
    low, high = -1.5, 2.0
    hull = getattr(m, name)(
        type(m.number(1))(m.number(low).a.union(m.number(high).a)), *map(m.number, others)
    )
    values = [function(low + (high - low) * k / 700) for k in range(701)]
    assert float(hull.a.lower()) == pytest.approx(min(values), abs=1e-8)
    assert float(hull.a.upper()) == pytest.approx(max(values), rel=1e-8)
