"""Derivatives of Python functions: JAX's contract, and JAX's numbers."""

from __future__ import annotations

import contextlib
import math
import operator
import random
import sys
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_cli
from autodiff_cli import ExpressionError, Value, grad, hessian, jacobian, value_and_grad
from autodiff_cli.capabilities.derivatives.transforms import _named_leaves
from autodiff_cli.engine.graphs.value import NUMPY_FUNCTIONS, gradient_by, graph_of
from autodiff_cli.engine.graphs.value_and_gradient import evaluate_in
from autodiff_cli.engine.numbers.floats import REAL


def _same(found: Any, expected: Any) -> None:
    """Compare two structures: the same containers, shapes and numbers."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()  # JAX sorts them
        for key in expected:
            _same(found[key], expected[key])
    elif isinstance(expected, list | tuple):
        assert type(found) is type(expected)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            _same(one, other)
    else:
        assert np.shape(found) == np.shape(expected)
        assert isinstance(found, float) or found.dtype == float
        np.testing.assert_allclose(found, np.asarray(expected), rtol=1e-11, atol=1e-13)


def _network(xp: Any) -> Callable[..., Any]:
    def loss(p: Any, x: Any) -> Any:
        hidden = xp.tanh(x @ p["w"] + p["b"])
        return ((hidden @ p["v"][0] - p["v"][1]) ** 2).sum()

    return loss


RNG = np.random.default_rng(4)
PARAMETERS = {"w": RNG.normal(size=(3, 2)), "b": RNG.normal(size=2), "v": (RNG.normal(size=2), 0.3)}
ROWS = RNG.normal(size=(4, 3))

SCALAR: dict[str, tuple[Callable[[Any], Callable[..., Any]], tuple[Any, ...], Any]] = {
    "number": (lambda xp: lambda x: xp.sin(x) * x**3, (0.7,), 0),
    "second argument": (lambda xp: lambda x, y: xp.exp(x * y) / y, (0.7, 1.3), 1),
    "last argument": (lambda xp: lambda x, y: xp.exp(x * y) / y, (0.7, 1.3), -1),
    "both": (lambda xp: lambda x, y: xp.exp(x * y) / y, (0.7, 1.3), (0, 1)),
    "one of a tuple": (lambda xp: lambda x, y: xp.exp(x * y) / y, (0.7, 1.3), (1,)),
    "array": (lambda xp: lambda x: (x**2).sum() * x[0], (np.array([1.5, -2.0, 0.5]),), 0),
    "matrix": (
        lambda xp: lambda a: (a @ a).sum() + a[0, 1] ** 3,
        (np.array([[1.0, 2.0], [3.0, 4.0]]),),
        0,
    ),
    "list": (lambda xp: lambda w: (w[0] - w[1]) ** 2 * xp.cos(w[1]), ([2.0, 0.5],), 0),
    "nested": (
        lambda xp: lambda p: p[0]["a"] * p[1][0] ** 2 + p[1][1],
        ([{"a": 2.0}, (3.0, 4.0)],),
        0,
    ),
    "network": (_network, (PARAMETERS, ROWS), 0),
    "network by rows": (_network, (PARAMETERS, ROWS), (0, 1)),
    "without influence": (lambda xp: lambda x, y: x**2, (0.7, np.ones(2)), (0, 1)),
}


@pytest.fixture(scope="module")
def jax() -> Any:
    found = pytest.importorskip("jax")
    found.config.update("jax_enable_x64", True)
    return found


@pytest.mark.parametrize("name", SCALAR)
def test_gradients_and_hessians_are_those_of_jax(jax: Any, name: str) -> None:
    make, args, argnums = SCALAR[name]
    ours, theirs = make(np), make(jax.numpy)
    _same(grad(ours, argnums)(*args), jax.grad(theirs, argnums)(*args))
    value, slopes = value_and_grad(ours, argnums)(*args)
    expected, _ = jax.value_and_grad(theirs, argnums)(*args)
    assert value == pytest.approx(float(expected), rel=1e-13)
    _same(slopes, jax.grad(theirs, argnums)(*args))
    _same(hessian(ours, argnums)(*args), jax.hessian(theirs, argnums)(*args))
    _same(jacobian(ours, argnums)(*args), jax.jacobian(theirs, argnums)(*args))


SEVERAL: dict[str, tuple[Callable[[Any], Callable[..., Any]], tuple[Any, ...], Any]] = {
    "vector": (lambda xp: lambda x: xp.exp(x) * x[0], (np.array([0.5, 1.5, -1.0]),), 0),
    "matrix times vector": (
        lambda xp: lambda a, x: a @ x,
        (ROWS, np.array([1.0, -1.0, 2.0])),
        (0, 1),
    ),
    "list of results": (lambda xp: lambda x, y: [x * y, xp.sin(x), y], (0.5, 1.5), (0, 1)),
    "dictionary": (lambda xp: lambda x: {"sum": x.sum(), "all": x**2}, (np.array([0.5, 1.5]),), 0),
    "by a list": (lambda xp: lambda w: (w[0] * w[1], w[0]), ([2.0, 3.0],), 0),
    "matrix by matrix": (lambda xp: lambda a: a @ a, (np.array([[1.0, 2.0], [3.0, 4.0]]),), 0),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_jacobians_are_those_of_jax(jax: Any, name: str) -> None:
    make, args, argnums = SEVERAL[name]
    _same(jacobian(make(np), argnums)(*args), jax.jacobian(make(jax.numpy), argnums)(*args))


def test_derivatives_of_derivatives_are_those_of_jax(jax: Any) -> None:
    def of(xp: Any) -> Callable[[Any], Any]:
        return lambda x: xp.sin(x) ** 2 / (1 + xp.exp(-x)) + x**5 - xp.tanh(x * x)

    ours, theirs = of(np), of(jax.numpy)
    for x in (-1.3, 0.4, 2.2):
        for _ in range(3):
            ours, theirs = grad(ours), jax.grad(theirs)
            _same(ours(x), theirs(x))
        ours, theirs = of(np), of(jax.numpy)
    # a product of a derivative with another function of the same variable
    mixed = grad(lambda x: x * grad(lambda y: x * y**3)(x))
    _same(mixed(2.0), jax.grad(lambda x: x * jax.grad(lambda y: x * y**3)(x))(2.0))
    assert grad(lambda x: grad(lambda y: y**2)(3.0) * x)(1.0) == 6.0
    # the outer variable is none of the inner ones
    assert grad(grad(lambda x, y: x * y**2), 1)(2.0, 3.0) == 6.0
    assert grad(lambda y: jacobian(lambda x: [x * y, y])(2.0)[0] * y)(3.0) == 6.0
    assert grad(lambda y: value_and_grad(lambda x: x * y)(2.0)[0])(3.0) == 2.0
    with pytest.raises(TypeError, match="not differentiated again"):
        grad(lambda y: hessian(lambda x: x**2 * y)(2.0))(3.0)
    vector = np.array([1.0, 2.0])
    _same(
        jacobian(grad(lambda x: (x**3).sum() * x[0]))(vector),
        jax.hessian(lambda x: (x**3).sum() * x[0])(vector),
    )


def test_random_functions_have_the_gradients_of_jax(jax: Any) -> None:
    rng = random.Random(12)

    def build(depth: int) -> Callable[[Any, Any, Any], Any]:
        if depth == 0:
            k = rng.choice([0, 1, 2])
            return lambda xp, x, y: (x, y, 1.5)[k]
        kind = rng.choice(["+", "*", "-", "/", "sin", "exp", "tanh", "**"])
        one, other = build(depth - 1), build(rng.randrange(depth))
        if kind in ("sin", "tanh"):
            return lambda xp, x, y: getattr(xp, kind)(one(xp, x, y))
        if kind == "exp":
            return lambda xp, x, y: xp.exp(xp.sin(one(xp, x, y)))
        if kind == "**":
            return lambda xp, x, y: one(xp, x, y) ** 2
        if kind == "/":
            return lambda xp, x, y: one(xp, x, y) / (2 + xp.sin(other(xp, x, y)))
        operation = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}[
            kind
        ]
        return lambda xp, x, y: operation(one(xp, x, y), other(xp, x, y))

    for _ in range(60):
        f = build(4)
        at = rng.uniform(-2, 2), rng.uniform(-2, 2)

        def ours(x: Any, y: Any, f: Any = f) -> Any:
            return f(np, x, y) + 0 * x

        def theirs(x: Any, y: Any, f: Any = f) -> Any:
            return f(jax.numpy, x, y) + 0 * x

        _same(grad(ours, (0, 1))(*at), jax.grad(theirs, (0, 1))(*at))
        _same(hessian(ours, (0, 1))(*at), jax.hessian(theirs, (0, 1))(*at))
        _same(grad(grad(ours), 1)(*at), jax.grad(jax.grad(theirs), 1)(*at))


# ---- without JAX
def test_auxiliary_results_are_passed_through() -> None:
    def f(x: Any) -> Any:
        return x**2, {"shown": x}

    slopes, aux = grad(f, has_aux=True)(3.0)
    assert (slopes, aux["shown"].data) == (6.0, 3.0)
    (value, _), slopes = value_and_grad(f, has_aux=True)(3.0)
    assert (value, slopes) == (9.0, 6.0)


def test_named_tuples_and_keywords_keep_their_names() -> None:
    Point = namedtuple("Point", "x y")
    found = grad(lambda p: p.x * p.y**2)(Point(2.0, 3.0))
    assert found == Point(9.0, 12.0)
    assert grad(lambda x, *, scale: scale * x**2)(3.0, scale=2.0) == 12.0
    assert grad(lambda x, scale: scale * x**2, argnums="scale")(3.0, scale=2.0) == 9.0


def test_a_text_is_a_function_of_its_variables() -> None:
    assert grad("x**2")(x=3) == 6.0
    assert grad("x*y")(x=3, y=2) == {"x": 2.0, "y": 3.0}
    assert grad("x*y")(3, 2) == 2.0
    assert grad("x*y", (0, 1))(3, 2) == (2.0, 3.0)
    assert grad("x*y", "y")(x=3, y=2) == 3.0
    assert value_and_grad("x**2*y")(x=3, y=2) == (18.0, {"x": 12.0, "y": 9.0})
    assert grad(grad("x**3"))(2.0) == 12.0
    with pytest.raises(TypeError, match="`y` has no value"):
        grad("x*y")(x=3)
    with pytest.raises(ExpressionError, match=r"parenthesis"):
        grad("sin(x")


def test_values_outside_keep_their_gradients() -> None:
    weight = Value(2.0)
    (3 * weight).backward()
    assert grad(lambda x: weight * x**2)(3.0) == 12.0
    assert weight.grad == 3.0


def test_branches_of_python_are_those_at_the_point() -> None:
    def f(x: Any) -> Any:
        return x**2 if x > 0 else -x

    assert (grad(f)(3.0), grad(f)(-3.0)) == (6.0, -1.0)
    assert grad(lambda x: 5.0)(1.0) == 0.0
    assert hessian(lambda x: 5.0)(1.0) == 0.0


def test_an_own_operation_has_its_first_derivative_and_no_second() -> None:
    def cube(x: Any) -> Any:
        out = Value(x.data**3, (x,), "cube")

        def rule() -> None:
            x.grad += 3 * x.data**2 * out.grad

        out._backward = rule
        return out

    outside = Value(5.0)
    assert grad(lambda x: cube(x) * x + outside)(2.0) == 32.0
    assert outside.grad == 0.0
    for second in (hessian(cube), grad(grad(cube))):
        with pytest.raises(TypeError, match="has first derivatives only"):
            second(2.0)
    with pytest.raises(TypeError, match="first derivatives of one result only"):
        jacobian(lambda x: [cube(x), x])(2.0)


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: grad(3), TypeError, "a function or the text of a program"),
    (lambda: grad(lambda x: [x, x])(1.0), TypeError, "`jacobian` differentiates"),
    (grad(lambda x: x), TypeError, "the call has 0 positional arguments"),
    (lambda: grad(lambda x: x, 2)(1.0), TypeError, "argnums is 2"),
    (lambda: grad(lambda x: x, ())(1.0), TypeError, "argnums is empty"),
    (lambda: grad(lambda x: x, "y")(1.0), TypeError, "no such keyword"),
    (lambda: grad(lambda x: x)("a"), TypeError, "an argument cannot be 'a'"),
    (lambda: grad(lambda x: x)(1j), TypeError, "an argument cannot be"),
    (lambda: grad(lambda x: x)(math.nan), ValueError, "not finite"),
    (lambda: grad(lambda x: x.sqrt())(0.0), ExpressionError, "derivative is infinite"),
    (lambda: grad(lambda x: x.log())(-1.0), ExpressionError, "`log` is undefined at -1"),
    (lambda: hessian(abs)(0.0), ExpressionError, "has a kink at 0"),
]


@pytest.mark.parametrize(("call", "kind", "words"), REFUSED)
def test_what_is_refused_is_said(
    call: Callable[[], Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        call()


def test_the_commands_functions_stay() -> None:
    assert hessian("x**2", "x=3").hessian == [[2.0]]
    assert jacobian("x*y, x", {"x": 2, "y": 3}).jacobian == [[3.0, 2.0], [1.0, 0.0]]


def test_the_fast_lane_has_the_gradients_of_the_sweep_to_the_last_bit() -> None:
    rng, compared = random.Random(43), 0
    points = (0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 1e-200, 1e200, 0.7)
    functions = (
        autodiff_cli.sin,
        autodiff_cli.sqrt,
        autodiff_cli.relu,
        autodiff_cli.log,
        autodiff_cli.tanh,
    )
    operations = (
        operator.add,
        operator.sub,
        operator.mul,
        operator.truediv,
        operator.pow,
        autodiff_cli.max,
    )
    for _ in range(600):
        leaves = [Value(rng.choice(points)) for _ in range(3)]
        pool: list[Any] = [*leaves]
        for _ in range(6):
            with contextlib.suppress(ExpressionError):  # no value there
                pool.append(rng.choice(operations)(rng.choice(pool), rng.choice([*pool, 2, 0.5])))
                pool.append(rng.choice(functions)(pool[-1]))
        result = pool[-1]
        quick = gradient_by(result, leaves) if isinstance(result, Value) else None
        if quick is not None:
            at = evaluate_in(REAL, *_named_leaves(graph_of(result), leaves))
            assert [x.hex() for x in quick] == [(float(x) + 0.0).hex() for x in at.jacobian()[0][0]]
            compared += any(quick)
    assert compared > 200


def test_a_gradient_of_ten_nodes_makes_few_calls() -> None:
    derivative, calls = grad(lambda x: autodiff_cli.tanh(x * x + 3.0) * x), 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    derivative(0.5)
    sys.setprofile(count)
    try:
        derivative(0.5)
    finally:
        sys.setprofile(None)
    assert calls <= 80


@pytest.mark.parametrize("jit", [False, True])
def test_parameters_that_are_numbers_meet_arrays_of_data(jit: bool) -> None:
    def loss(p: Any, x: Any, y: Any) -> Any:
        return (
            ((p["w"] * x + p["b"] - y) ** 2).mean()
            + (p["w"] ** x).sum() / 7
            + (1 - p["b"] / x).sum()
        )

    x, y, w, b = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.5, 6.0]), 2.0, 0.5
    value, slopes = value_and_grad(loss, jit=jit)({"w": w, "b": b}, x, y)
    left = w * x + b - y
    assert value == pytest.approx(
        (left**2).mean() + (w**x).sum() / 7 + (1 - b / x).sum(), rel=1e-14
    )
    assert slopes["w"] == pytest.approx(
        (2 * left * x).mean() + (x * w ** (x - 1)).sum() / 7, rel=1e-13
    )
    assert slopes["b"] == pytest.approx((2 * left).mean() - (1 / x).sum(), rel=1e-13)


@pytest.mark.parametrize("name", [*NUMPY_FUNCTIONS, "std", "var", "conjugate"])
def test_functions_of_numpy_take_arrays_of_values(name: str) -> None:
    function, start = getattr(np, name), 1.3 if name == "arccosh" else 0.3
    others = (0.7,) if name in ("arctan2", "hypot") else ()
    x, step = np.array([start, start + 0.2]), 1e-6

    def total(x: Any) -> Any:
        return np.sum(function(x, *others))

    steps = [(total(x + step * e) - total(x - step * e)) / (2 * step) for e in np.eye(2)]
    for jit in (False, True):
        value, slopes = value_and_grad(total, jit=jit)(x)
        assert value == pytest.approx(float(total(x)), rel=1e-14)
        assert slopes == pytest.approx(steps, rel=1e-7)
