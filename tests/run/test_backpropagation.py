"""Tests that backpropagation by the fast lane gives what the sweep gives, to the last bit, or
leaves it to that.
"""

from __future__ import annotations

import math
import operator as op
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autodiff_cli import Value, atan2, leaky_relu
from autodiff_cli.engine.graphs import value
from autodiff_cli.engine.graphs.value import in_order
from autodiff_cli.engine.run.evaluation import Evaluation
from autodiff_cli.engine.table.operators import VARIABLE
from autodiff_cli.errors import ExpressionError
from counting import calls, compared, compares
from strategies import evaluate, graphs

NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 1e200, 710.0]), st.floats(-4, 4)
)


def by_the_sweep(root: Value) -> list[object]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(value, "_quick_grads", lambda place: None)
        return outcome(root)


def outcome(root: Value) -> list[object]:
    """The warnings or the error, and every number, so that -0.0 and 0.0 differ."""
    told: list[object] = []
    differentiate = Evaluation.differentiate

    def warned(at: Evaluation) -> Evaluation:
        told.extend(differentiate(at).warnings)
        return at

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Evaluation, "differentiate", warned)
        root.zero_grad()
        try:
            root.backward()
        except ExpressionError as error:
            return [error.diagnostic]
    return [*told, *((repr(n.data), repr(n.grad)) for n in in_order((root,)))]


def by_the_fast_lane(root: Value) -> list[object]:
    """What comes of it where the fast lane may be taken; noted where it was."""
    quick_grads = value._quick_grads

    def noted(place: dict[Value, int]) -> list[float | None] | None:
        answer = quick_grads(place)
        if answer is not None:
            compared()
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(value, "_quick_grads", noted)
        return outcome(root)


@compares(30)
@given(graphs(), st.lists(NUMBERS, min_size=6, max_size=6), st.sets(st.integers(0, 5), max_size=2))
def test_random_graphs(root: Value, numbers: list[float], passive: set[int]) -> None:
    leaves = [n for n in in_order((root,)) if n.primitive is VARIABLE]
    for k, (leaf, number) in enumerate(zip(leaves, numbers, strict=False)):
        leaf.data, leaf.active = number, k not in passive
    try:
        evaluate((root,))
    except ExpressionError:
        return
    expected = by_the_sweep(root)
    assert by_the_fast_lane(root) == expected
    assert by_the_fast_lane(root) == expected


@compares(1)
def test_a_network_of_shared_values() -> None:
    rng = random.Random(1)
    pool = [Value(rng.uniform(-1, 1)) for _ in range(8)]
    for _ in range(400):
        a, b = rng.choice(pool[-40:]), rng.choice(pool)
        made = rng.choice([a + b, a * b, a - b, a.tanh(), a / (b * b + 1), 2 - a * 0])
        pool.append(made.tanh())
    total = sum(pool, Value(0.0))
    expected = by_the_sweep(total)
    assert by_the_fast_lane(total) == expected
    total.backward()
    assert outcome(total) == expected


def test_a_failure_leaves_no_marks() -> None:
    x = Value(0.0)
    y = x.sqrt() * 1
    with pytest.raises(ExpressionError):
        y.backward()
    assert all(type(n.grad) in (float, type(None)) for n in in_order((y,)))
    (x * 3).backward()
    assert x.grad == 3.0


def test_a_long_chain() -> None:
    x = Value(1.0)
    y = x
    for _ in range(100_000):
        y = y + x
    y.backward()
    assert (y.data, x.grad) == (100_001.0, 100_001.0)
    assert math.isfinite(y.grad)


def test_a_backward_that_fails_leaves_no_gradient() -> None:
    x = Value(0.0)
    y = x * 1e200
    z = y * 1e200
    with pytest.raises(ExpressionError, match="too large"):
        z.backward()
    assert [x.grad, y.grad, z.grad] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("sign", [1, -1])
def test_kinks_that_cancel_are_left_to_the_sweep_whatever_their_adjoint(sign: int) -> None:
    x = Value(0.0)
    y = sign * (abs(x) + leaky_relu(x, 3))  # 2*x on both sides
    y.backward()
    assert x.grad == 2.0 * sign


def test_what_is_written_out_calls_no_rule() -> None:
    def counted(operate: Callable[[Value, Value], Value]) -> int:
        x = Value(0.999)
        y = x
        for _ in range(100):
            y = operate(y, x)
        return calls(y.backward)

    sums, *others, functions = [
        counted(operate) for operate in (op.add, op.sub, op.mul, op.truediv, atan2)
    ]
    assert others == [sums] * 3
    assert functions >= sums + 2 * 100
