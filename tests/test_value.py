"""Value: micrograd's contract, the tutorials' numbers, and what it refuses."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

import autodiff_cli
from autodiff_cli import ExpressionError, Value, exp, log, sqrt, tanh
from autodiff_cli.graph import library as functions
from autodiff_cli.table.primitive import FUNCTIONS


def test_the_loss_of_the_tutorials() -> None:
    w1, w2 = Value(2.0, label="w1"), Value(3.0, label="w2")
    loss = ((w1 - 1) ** 2 + (w2 - 5) ** 2) * 0.5
    loss.backward()
    assert (loss.data, w1.grad, w2.grad) == (2.5, 1.0, -2.0)
    assert repr(loss) == "Value(data=2.5, grad=1.0)"


def test_the_tanh_neuron() -> None:
    x1, x2 = Value(2.0, label="x1"), Value(0.0, label="x2")
    w1, w2 = Value(-3.0, label="w1"), Value(1.0, label="w2")
    b = Value(6.8813735870195432, label="b")
    n = x1 * w1 + x2 * w2 + b
    o = n.tanh()
    o.label = "o"
    o.backward()
    assert o.data == pytest.approx(0.7071067811865476, rel=1e-15)
    gradients = [v.grad for v in (x1, w1, x2, w2, b)]
    assert gradients == pytest.approx([-1.5, 1.0, 0.5, 0.0, 0.5], rel=1e-12, abs=1e-12)


def test_the_neuron_with_tanh_spelled_out() -> None:
    x1, w1, b = Value(2.0), Value(-3.0), Value(6.8813735870195432)
    e = (2 * (x1 * w1 + b)).exp()
    o = (e - 1) / (e + 1)
    o.backward()
    assert [x1.grad, w1.grad, b.grad] == pytest.approx([-1.5, 1.0, 0.5], rel=1e-12)


def test_gradients_accumulate_where_a_value_is_used_twice() -> None:
    a, b = Value(3.0), Value(4.0)
    d, e = a - b, a + b
    f = d + e
    f.backward()
    assert (a.grad, b.grad) == (2.0, 0.0)
    x = Value(3.0)
    y = x * x
    assert y._prev == (x, x)
    assert y.children == (x, x)
    y.backward()
    assert x.grad == 6.0


def test_micrograd_readme() -> None:
    a, b = Value(-4.0), Value(2.0)
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + (b + a).relu()
    d += 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    g += 10.0 / f
    g.backward()
    assert f"{g.data:.4f} {a.grad:.4f} {b.grad:.4f}" == "24.7041 138.8338 645.5773"


def test_backward_twice_gives_the_same_and_two_losses_do_not_add_up() -> None:
    x = Value(3.0)
    loss, other = x * x, 5 * x
    loss.backward()
    loss.backward()
    assert x.grad == 6.0
    other.backward()
    assert x.grad == 5.0


def test_operators_take_numbers_on_either_side() -> None:
    x = Value(4.0)
    results = [1 + x, x + 1, 1 - x, x - 1, 2 * x, x * 2, 2 / x, x / 2, 2**x, x**2, -x, +x, abs(-x)]
    assert [r.data for r in results] == [5, 5, -3, 3, 8, 8, 0.5, 2, 16, 16, -4, 4, 4]
    assert sum([x, x]).data == 8.0  # type: ignore[union-attr]


def test_identity_and_order() -> None:
    a, b = Value(1.0), Value(1.0)
    assert a != b
    assert len({a, b}) == 2
    assert a <= b
    assert not a < b
    assert a < 2
    assert a >= 1


def test_descent_by_hand() -> None:
    w = Value(2.0)
    for _ in range(3):
        loss = (w - 5) ** 2
        loss.backward()
        w.data += -0.25 * w.grad
    assert w.data == 4.625


def test_operations_by_symbol_as_micrograd_makes_them() -> None:
    a, b = Value(2.0), Value(3.0)
    made = Value(6.0, (a, b), "*")
    made.backward()
    assert (a.grad, b.grad, made._op, a._op) == (3.0, 2.0, "*", "")
    with pytest.raises(ValueError, match="no operation 'spam'"):
        Value(1.0, (a,), "spam")


def test_there_is_no_backward_closure() -> None:
    x = Value(1.0)
    with pytest.raises(AttributeError, match="table of primitives"):
        x._backward = lambda: None
    with pytest.raises(AttributeError, match="table of primitives"):
        x._backward()
    with pytest.raises(AttributeError):
        x.colour = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_only_finite_numbers(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        Value(bad)
    with pytest.raises(ValueError, match="and"):
        Value(1.0) + bad


@pytest.mark.parametrize("bad", ["2", None, Value(1.0)])
def test_only_numbers(bad: object) -> None:
    with pytest.raises(TypeError, match="needs a number"):
        Value(bad)


def test_errors_name_the_operation() -> None:
    with pytest.raises(ExpressionError, match="`log` is undefined at -1") as caught:
        log(Value(-1.0))
    assert caught.value.kind == "domain"
    with pytest.raises(ExpressionError, match="division by zero"):
        Value(1.0) / 0
    with pytest.raises(ExpressionError, match="too large") as caught:
        exp(Value(1000.0))
    assert caught.value.kind == "overflow"
    root = sqrt(Value(0.0, label="x"))
    with pytest.raises(ExpressionError, match=r"derivative is infinite there \(here x = 0\)"):
        root.backward()


def test_functions_take_values_and_numbers() -> None:
    assert tanh(0.5) == math.tanh(0.5)
    assert isinstance(tanh(Value(0.5)), Value)
    assert autodiff_cli.leaky_relu(-2.0) == -0.02
    assert autodiff_cli.leaky_relu(-2.0, slope=0.5) == -1.0
    assert autodiff_cli.log(8.0, 2) == 3.0
    assert autodiff_cli.swish is not None
    with pytest.raises(TypeError, match=r"call it as sin\(x\)"):
        autodiff_cli.sin(1.0, 2.0)
    with pytest.raises(AttributeError):
        autodiff_cli.no_such_function  # noqa: B018


@pytest.mark.parametrize("length", [10**3, 10**5])
def test_long_chains_do_not_recurse(length: int) -> None:
    x = Value(1.0)
    y = x
    for _ in range(length):
        y = y * 1.0
    y.backward()
    assert x.grad == 1.0
    del y


def test_the_types_of_the_functions_list_what_there_is() -> None:
    stub = Path(functions.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    typed = dict(re.findall(r"^(\w+): (\w+)$", stub, re.MULTILINE))
    assert list(typed) == list(FUNCTIONS)
    for name, primitive in FUNCTIONS.items():
        unary = len(primitive.params) == 1 and not primitive.variadic and not primitive.with_two
        assert typed[name] == ("Choice" if name == "where" else "Unary" if unary else "Several")
