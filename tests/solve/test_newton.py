"""Newton's method: plain steps, and damped ones that keep the values shrinking."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Any

import pytest

from autodiff_cli.capabilities.solve.several_unknowns import SeveralEquations
from autodiff_cli.capabilities.solve.solve import posed_equations
from autodiff_cli.engine.numbers.floats import REAL
from autodiff_cli.engine.numerics.newton import newton


def arctangent(at: list[float]) -> tuple[list[float], list[list[float]]]:
    """atan(x), whose plain steps diverge from |x| > 1.392, with its derivative."""
    (x,) = at
    return [math.atan(x)], [[1 / (1 + x * x)]]


def test_a_damped_step_is_halved_until_the_value_shrinks() -> None:
    plain = [abs(at[0]) for at, _, _ in islice(newton(REAL, arctangent, [3.0]), 5)]
    assert plain == sorted(plain) and plain[-1] > 1e3
    damped = [at[0] for at, _, _ in newton(REAL, arctangent, [3.0], smallest=1e-9)]
    sizes = [abs(math.atan(x)) for x in damped]
    assert all(later < earlier for earlier, later in pairwise(sizes))
    assert abs(damped[-1]) < 1e-15
    whole = -math.atan(3.0) * 10
    share = (damped[1] - 3.0) / whole
    assert share in {0.5**k for k in range(1, 30)}, (
        "the first step is the largest half of a half … that shrinks the value"
    )
    assert abs(math.atan(3.0 + 2 * share * whole)) >= math.atan(3.0)


def test_a_step_below_the_smallest_share_is_not_taken() -> None:
    grows = iter(range(1, 1000))
    seen = list(newton(REAL, lambda at: ([float(next(grows))], [[1.0]]), [0.0], smallest=1e-3))
    assert [at for at, _, _ in seen] == [[0.0]] and next(grows) == 12  # shares 1, 1/2 … 1/1024


def test_a_singular_jacobian_has_no_step() -> None:
    (last,) = newton(REAL, lambda at: ([1.0], [[0.0]]), [2.0])
    assert last == ([2.0], ([1.0], [[0.0]]), None)


def test_newtons_method_for_several_equations_keeps_few_jacobians(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("scipy")
    kept: list[weakref.ref[Any]] = []
    most = 0
    evaluate = SeveralEquations.__call__

    def counted(self: SeveralEquations, x: Sequence[float]) -> tuple[Any, Any]:
        nonlocal most
        values, rows = evaluate(self, x)
        kept.append(weakref.ref(rows))
        most = max(most, sum(jacobian() is not None for jacobian in kept))
        return values, rows

    monkeypatch.setattr(SeveralEquations, "__call__", counted)
    problem = posed_equations("x**2 = 0; y**2 = 0", {"x": 1, "y": 1}, ["x", "y"], None, None)
    SeveralEquations(problem).solve_once()
    assert len(kept) > 50 and most < 5
