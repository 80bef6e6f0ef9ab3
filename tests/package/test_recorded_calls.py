"""`jit=True`: a recording takes the place of a call, and no answer is that of another call."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_cli
from autodiff_cli import (
    ExpressionError,
    Value,
    exp,
    grad,
    hessian,
    jacobian,
    sin,
    tanh,
    value_and_grad,
)
from autodiff_cli.nn import MLP


def _same(found: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            _same(found[key], expected[key])
    elif isinstance(expected, list | tuple):
        assert type(found) is type(expected) and len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            _same(one, other)
    else:
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def _random_function(rng: random.Random, depth: int) -> Callable[[Any, Any], Any]:
    """Return a function with branches of Python, kinks and functions of the language."""
    if depth == 0:
        return rng.choice([lambda x, y: x, lambda x, y: y, lambda x, y: 1.5])
    one, other, third = (_random_function(rng, rng.randrange(depth)) for _ in range(3))

    def branch(x: Any, y: Any) -> Any:
        return third(x, y) * 2 if one(x, y) < other(x, y) else one(x, y) + other(x, y)

    def loop(x: Any, y: Any) -> Any:
        z, k = one(x, y), 0
        while z < 3 and k < 4:
            z, k = z + x * x + 0.5, k + 1
        return z

    return rng.choice(
        [
            branch,
            loop,
            lambda x, y: max(one(x, y), other(x, y), 0.25),
            lambda x, y: abs(one(x, y)),
            lambda x, y: autodiff_cli.relu(one(x, y) * 1.0) - 0.1 * x,
            lambda x, y: one(x, y) * other(x, y),
            lambda x, y: sin(one(x, y)) + other(x, y) ** 2,
            lambda x, y: tanh(one(x, y)) / (1.5 + other(x, y) ** 2),
            lambda x, y: exp(sin(one(x, y)) - 1) - third(x, y),
        ]
    )


def _answer(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except ExpressionError as error:
        return error.kind


def test_recordings_of_random_functions_answer_as_calls_do() -> None:
    rng = random.Random(3)
    # points on the edges of branches and at kinks are among them
    places = [-2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0]
    for _ in range(60):
        f = _random_function(rng, 3)

        def g(x: Any, y: Any, f: Any = f) -> Any:
            return f(x, y) + 0 * x * y

        pairs = [(made(g, (0, 1), jit=True), made(g, (0, 1))) for made in (value_and_grad, hessian)]
        for _ in range(12):
            at = (
                (rng.choice(places), rng.choice(places))
                if rng.random() < 0.5
                else (rng.gauss(0, 1), rng.gauss(0, 1))
            )
            for recorded, called in pairs:
                found, expected = (
                    _answer(lambda made=made, at=at: made(*at)) for made in (recorded, called)
                )
                if isinstance(expected, str) or isinstance(found, str):
                    assert found == expected, (at, found, expected)
                else:
                    _same(found, expected)


def test_a_branch_that_changes_is_recorded_anew() -> None:
    calls: list[None] = []

    def f(x: Any) -> Any:
        calls.append(None)
        return x**2 if x > 1 else -3 * x

    g = grad(f, jit=True)
    assert [g(x) for x in (3.0, 2.0, 5.0, 0.5, 0.25, 4.0, -1.0)] == [
        6.0,
        4.0,
        10.0,
        -3.0,
        -3.0,
        8.0,
        -3.0,
    ]
    assert len(calls) == 2
    assert (g(1.0), g(1.0000001)) == (-3.0, 2.0000002)


def test_many_branches_do_not_grow_without_bound() -> None:
    def f(x: Any) -> Any:
        k = 0
        while x > k:
            k += 1
        return x * k

    g = grad(f, jit=True)
    for _ in range(3):
        assert [g(k + 0.5) for k in range(30)] == [k + 1.0 for k in range(30)]


def test_other_arguments_and_what_surrounds_a_function_may_change() -> None:
    scale = 2.0
    weight = Value(3.0)

    def f(x: Any, n: Any, *, power: int = 2) -> Any:
        total = x * 0
        for _ in range(n if isinstance(n, int) else 1):
            total = total + scale * weight * x**power
        return total if isinstance(n, int) else total * n

    g = grad(f, jit=True)
    assert g(1.0, 1) == 12.0
    assert g(1.0, 2) == 24.0
    assert g(1.0, 2, power=3) == 36.0
    assert g(1.0, 0.5) == 6.0
    assert g(1.0, 0.25) == 3.0
    assert g(1.0, True) == 12.0
    scale = 1.0
    assert g(1.0, 1) == 6.0
    weight.data = 5.0
    assert g(1.0, 1) == 10.0
    assert weight.grad == 0.0


def test_arrays_and_structures_come_back_in_their_shape() -> None:
    def loss(p: Any, x: Any, y: Any) -> Any:
        out = np.tanh(x @ p["w"] + p["b"][0])
        return ((out - y) ** 2).sum()

    rng = np.random.default_rng(0)
    p = {"w": rng.normal(size=(3, 2)), "b": [rng.normal(size=2)]}
    x, y = rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
    recorded, called = value_and_grad(loss, jit=True), value_and_grad(loss)
    for _ in range(3):
        _same(recorded(p, x, y), called(p, x, y))
        p["w"] = p["w"] - 0.1
        x, y = x + 0.5, y * 2
    more = rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    _same(recorded(p, *more), called(p, *more))
    _same(
        hessian(lambda v: (v**3).sum() * v[0], jit=True)(np.array([1.0, 2.0])),
        np.array([[12.0, 12.0], [12.0, 12.0]]),
    )
    _same(
        jacobian(lambda x, y: [x * y, sin(x)], (1, 0), jit=True)(2.0, 3.0),
        [(2.0, 3.0), (0.0, math.cos(2.0))],
    )
    _same(
        jacobian(lambda v: v * v[0], jit=True)(np.array([2.0, 3.0])),
        np.array([[4.0, 0.0], [3.0, 2.0]]),
    )


def test_a_model_is_trained_by_a_recording() -> None:
    random.seed(4)
    model = MLP(2, [4, 1], activation="tanh")

    def loss(x: Any, y: Any) -> Any:
        return (model([x, y]) - 1) ** 2

    recorded, called = grad(loss, (0, 1), jit=True), grad(loss, (0, 1))
    for _ in range(3):
        assert recorded(0.5, -0.25) == pytest.approx(called(0.5, -0.25))
        for p in model.parameters():
            p.data += 0.1


def test_what_cannot_be_recorded_is_said_or_called() -> None:
    with pytest.raises(TypeError, match="cannot read `data` of a Value"):
        grad(lambda x: x * x.data, jit=True)(2.0)
    with pytest.raises(TypeError, match="is not a float"):
        grad(lambda x: x * math.sin(x), jit=True)(2.0)
    with pytest.raises(TypeError, match="cannot read `data`"):
        grad(lambda x: x * round(x), jit=True)(2.0)
    with pytest.raises(TypeError, match="leave `has_aux` out"):
        grad(lambda x: (x, x), has_aux=True, jit=True)
    with pytest.raises(ExpressionError, match="`log` is undefined at -1"):
        grad(lambda x: x.log(), jit=True)(-1.0)
    with pytest.raises(ValueError, match="not finite"):
        grad(lambda x: x * 2, jit=True)(math.inf)
    # what has no hash is passed on
    assert grad(lambda x, names: x * len(names), jit=True)(2.0, {"a", "b"}) == 2.0
    assert grad(grad(lambda x: x**3, jit=True))(2.0) == 12.0
    assert grad(lambda y: grad(lambda x: x**2 * y, jit=True)(3.0))(2.0) == 6.0


def test_a_jump_of_the_numbers_within_a_branch_is_seen() -> None:
    g = grad(lambda x: abs(x) + autodiff_cli.floor(x) * x, jit=True)
    assert (g(1.5), g(2.5), g(-0.5)) == (2.0, 3.0, -2.0)
    with pytest.raises(ExpressionError, match="jump"):
        hessian(lambda x: autodiff_cli.floor(x) * x, jit=True)(2.0)
    g = grad(lambda x: x + autodiff_cli.relu(x) - autodiff_cli.relu(-x), jit=True)
    assert (g(1.0), g(-1.0), g(0.0)) == (2.0, 2.0, 2.0)


def test_random_functions_have_the_derivatives_of_jax() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    rng = random.Random(8)
    templates: list[Callable[[Any, Any, Any], Any]] = [
        lambda m, a, b: a * b,
        lambda m, a, b: a + m.sin(b),
        lambda m, a, b: a / (2 + b * b),
        lambda m, a, b: m.tanh(a) - b,
        lambda m, a, b: m.exp(m.sin(a)) * b,
        lambda m, a, b: m.sqrt(1 + a * a) + m.log(2 + b * b),
    ]
    for _ in range(25):
        steps = [
            (rng.choice(templates), rng.randrange(2 + k), rng.randrange(2 + k)) for k in range(8)
        ]

        def of(m: Any, x: Any, y: Any, steps: Any = steps) -> Any:
            nodes = [x, y]
            for template, i, j in steps:
                nodes.append(template(m, nodes[i], nodes[j]))
            return nodes[-1] + x * y

        ours = hessian(lambda x, y, of=of: of(autodiff_cli, x, y), (0, 1), jit=True)
        slopes = grad(lambda x, y, of=of: of(autodiff_cli, x, y), (0, 1), jit=True)
        theirs = jax.hessian(lambda x, y, of=of: of(jax.numpy, x, y), (0, 1))
        for _ in range(3):
            at = rng.uniform(-2, 2), rng.uniform(-2, 2)
            np.testing.assert_allclose(ours(*at), np.array(theirs(*at)), rtol=1e-9, atol=1e-11)
            expected = jax.grad(lambda x, y, of=of: of(jax.numpy, x, y), (0, 1))(*at)
            np.testing.assert_allclose(slopes(*at), np.array(expected), rtol=1e-10, atol=1e-12)
