"""What functions with kinks take over an interval: hulls of values, and the derivatives of their
sides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any

from ..table.primitives import by_name


def _unit_vectors(n: int) -> list[list[int]]:
    return [[int(j == k) for j in range(n)] for k in range(n)]


# Derivatives of functions with kinks whose convex hull contains the generalized ones (Clarke,
# Optimization and Nonsmooth Analysis, 2.3): by the mean value theorem for these, they bound the
# changes of a function across a kink too.
SIDES_OF_KINKS: Mapping[str, Callable[[int], Sequence[Sequence[int]]]] = by_name({
    "abs": lambda n: [(-1,), (1,)],
    "relu": lambda n: [(0,), (1,)],
    "max": _unit_vectors,
    "min": _unit_vectors,
    "clamp": _unit_vectors,
    "hypot": lambda n: [*product((-1, 1), repeat=n)],
})  # fmt: skip


def with_hulls(m: Any) -> Any:
    """Return balls that have a value of these functions where it is undecided which side of a kink
    a number is on.
    """
    from flint import arb

    from .ball import Ball, ball

    def cbrt(x: Any) -> Any:
        return Ball(_cube_root(ball(x).a.lower()).union(_cube_root(ball(x).a.upper())))

    def hypot(*xs: Any) -> Any:
        lower, upper = [ball(x).a.abs_lower() for x in xs], [ball(x).a.abs_upper() for x in xs]
        low, high = (sum((a * a for a in side), arb(0)).sqrt() for side in (lower, upper))
        return Ball(low.union(high))

    def absolute(x: Any) -> Any:
        size = abs(ball(x))
        return Ball(arb(0).union(size.a.abs_upper())) if size.a.contains(0) else size

    def leaky_relu(x: Any, slope: Any) -> Any:
        return m.max(x, m.number(0)) + slope * m.min(x, m.number(0))

    def elu(x: Any, alpha: Any) -> Any:
        return m.max(x, m.number(0)) + alpha * m.expm1(m.min(x, m.number(0)))

    m.__dict__.update(by_name({
        "abs": absolute, "cbrt": cbrt, "hypot": hypot, "leaky_relu": leaky_relu, "elu": elu,
        "relu": lambda x: m.max(x, m.number(0)),
    }))  # fmt: skip
    # formulas that choose by a sign have no value where it is undecided
    m.accurate = MappingProxyType({})
    return m


def _cube_root(a: Any) -> Any:
    return a.root(3) if a > 0 else -((-a).root(3)) if a < 0 else a
