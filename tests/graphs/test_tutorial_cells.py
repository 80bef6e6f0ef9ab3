"""The tutorials' notebooks cell by cell: sweeps by hand, own operations, drawings, networks; held
to PyTorch.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autodiff_cli import ExpressionError, Value, draw_dot
from autodiff_cli.engine import Value as EngineValue
from autodiff_cli.engine.graphs.value import in_order
from autodiff_cli.nn import MLP, Layer, Neuron


def _neuron() -> tuple[Value, dict[str, Value]]:
    named = {
        name: Value(x, label=name)
        for name, x in {
            "x1": 2.0,
            "x2": 0.0,
            "w1": -3.0,
            "w2": 1.0,
            "b": 6.8813735870195432,
        }.items()
    }
    x1w1, x2w2 = named["x1"] * named["w1"], named["x2"] * named["w2"]
    n = x1w1 + x2w2 + named["b"]
    n.label = "n"
    return n.tanh(), named


BY_HAND = {"x1": -1.5, "x2": 0.5, "w1": 1.0, "w2": 0.0, "b": 0.5}
"""tanh(n) = 1/√2, so that the derivative by n is 1/2."""


def _topological(root: Value) -> list[Value]:
    order: list[Value] = []
    visited = set()

    def build(v: Value) -> None:
        if v not in visited:
            visited.add(v)
            for child in v._prev:
                build(child)
            order.append(v)

    build(root)
    return order


def test_the_rules_of_single_nodes_make_up_the_sweep() -> None:
    o, named = _neuron()
    o.grad = 1.0
    o._backward()
    (n,) = o._prev
    assert (n.label, n.grad, named["b"].grad) == ("n", pytest.approx(0.5), 0.0)
    for v in reversed(_topological(n)):
        v._backward()
    assert {name: v.grad for name, v in named.items()} == pytest.approx(BY_HAND)
    swept, others = _neuron()
    swept.backward()
    assert {name: v.grad for name, v in others.items()} == {
        name: v.grad for name, v in named.items()
    }


def test_the_rule_of_a_node_adds_up_over_repeated_inputs() -> None:
    x = Value(3.0)
    y = x * x
    y.grad = 2.0
    y._backward()
    assert x.grad == 12.0
    z = x - x
    z.grad = 1.0
    z._backward()
    assert x.grad == 12.0


def test_a_rule_without_a_value_is_an_error_and_a_kink_has_its_convention() -> None:
    x = Value(0.0)
    y = x.relu()
    y.grad = 1.0
    y._backward()
    assert x.grad == 0.0
    root = x.sqrt()
    root.grad = 1.0
    with pytest.raises(ExpressionError, match="derivative is infinite"):
        root._backward()


def _swish(x: Any) -> Any:
    s = 1 / (1 + math.exp(-x.data))
    out = type(x)(x.data * s, (x,), "swish")

    def _backward() -> None:
        x.grad += (s + x.data * s * (1 - s)) * out.grad

    out._backward = _backward
    return out


def _swish_slope(x: float) -> float:
    s = 1 / (1 + math.exp(-x))
    return s + x * s * (1 - s)


def test_an_own_operation_is_swept_by_its_own_rule() -> None:
    x, w = Value(0.7), Value(-1.3)
    y = _swish(x * w) * x + w
    y.backward()
    u = 0.7 * -1.3
    value = u / (1 + math.exp(-u))
    expected = (value + 0.7 * -1.3 * _swish_slope(u), 0.7 * 0.7 * _swish_slope(u) + 1)
    assert (x.grad, w.grad) == pytest.approx(expected)
    y.backward()  # leaves accumulate, other nodes start afresh
    assert (x.grad, w.grad) == pytest.approx([2 * slope for slope in expected])
    assert draw_dot(y).dot.count("swish") == 1


def test_a_rule_may_replace_that_of_the_table() -> None:
    x = Value(2.0)
    t = math.tanh(2.0)
    out = Value(t, (x,), "tanh")
    called = []

    def _backward() -> None:
        called.append(out.grad)
        x.grad += (1 - t**2) * out.grad

    out._backward = _backward
    (3 * out).backward()
    assert called == [3.0]
    assert x.grad == pytest.approx(3 * (1 - t**2))


def test_an_own_operation_is_shared_and_deep() -> None:
    x = Value(0.5)
    y = x
    for _ in range(5_000):
        y = _swish(y) + x
    y.backward()
    slope, at = 1.0, 0.5
    for _ in range(5_000):
        slope, at = _swish_slope(at) * slope + 1, at / (1 + math.exp(-at)) + 0.5
    assert x.grad == pytest.approx(slope)


def test_a_rule_that_fails_leaves_no_gradient() -> None:
    x = Value(0.5)
    (2 * x).backward()
    y = _swish(x)

    def _backward() -> None:
        x.grad += 1
        raise ZeroDivisionError

    y._backward = _backward
    with pytest.raises(ZeroDivisionError):
        (y * 3).backward()
    assert x.grad == 2.0


def test_an_own_rule_is_not_copied_with_the_inputs_of_the_original() -> None:
    with pytest.raises(TypeError, match="cannot be copied"):
        copy.deepcopy(_swish(Value(1.0)))


class Extended(Value):
    """A subclass with an operation of its own."""

    def swish(self) -> Extended:
        result: Extended = _swish(self)
        return result


def test_a_subclass_keeps_its_operations() -> None:
    x = Extended(0.7)
    y = (2 * x - 1).tanh().swish() + Value(1.0)
    assert type(y) is type(x**2) is type(-x) is Extended
    y.backward()
    t = math.tanh(0.4)
    assert x.grad == pytest.approx(_swish_slope(t) * (1 - t**2) * 2)


def test_code_that_draws_formats_data_and_grad_of_every_node() -> None:
    x = Value(1.0)
    y = ((x * 2 + 1) ** 2).relu()
    y.backward()
    boxes = [f"{v.data:.4f} | {v.grad:.4f}" for v in _topological(y)]
    assert boxes[0] == "1.0000 | 12.0000"
    assert sum("nan" in box for box in boxes) == 3  # the plain numbers


def test_every_value_is_drawn_with_its_data_and_grad(tmp_path: Path) -> None:
    weight, bias = Value(0.5), Value(-0.25)  # without names
    out = (weight * 3 + bias).tanh()
    out.backward()
    dot = draw_dot(out, format="svg", rankdir="LR")
    assert f"{weight.grad:.6g}" in dot.dot and f"{bias.grad:.6g}" in dot.dot
    assert dot.render(str(tmp_path / "out")) == str(tmp_path / "out.svg")
    drawn = (tmp_path / "out.svg").read_text()
    assert "0.5" in drawn and f"{weight.grad:.4g}" in drawn
    dot.render(str(tmp_path / "out"))  # replaces the file
    with pytest.raises(ExpressionError, match="`rankdir` is `LR` or `TB`"):
        draw_dot(out, rankdir="RL")


# ---- networks
def _torch_network(torch: Any, model: MLP) -> tuple[list[Any], Callable[[list[float]], Any]]:
    parameters = [
        torch.tensor(p.data, dtype=torch.float64, requires_grad=True) for p in model.parameters()
    ]

    def output(row: list[float]) -> Any:
        rest, values = iter(parameters), [torch.tensor(x, dtype=torch.float64) for x in row]
        for layer in model.layers:
            after = []
            for neuron in layer.neurons:
                weights = [next(rest) for _ in neuron.w]
                total = sum((w * x for w, x in zip(weights, values, strict=True)), next(rest))
                after.append(getattr(torch, neuron.activation)(total) if neuron.nonlin else total)
            values = after
        return values[0]

    return parameters, output


@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid"])
def test_training_a_network_takes_the_steps_of_pytorch(activation: str) -> None:
    torch = pytest.importorskip("torch")
    random.seed(1337)
    rows = [[random.gauss(0, 1), random.gauss(0, 1)] for _ in range(20)]
    signs = [1 if x * x + y > 0.5 else -1 for x, y in rows]
    model = MLP(2, [5, 4, 1], activation=activation)
    parameters, reference = _torch_network(torch, model)
    for step in range(6):
        rate = 1.0 - 0.9 * step / 100
        scores = [model([EngineValue(x) for x in row]) for row in rows]
        losses = [(1 + -sign * score).relu() for sign, score in zip(signs, scores, strict=True)]
        loss = sum(losses) * (1.0 / len(losses)) + 1e-4 * sum(p * p for p in model.parameters())
        model.zero_grad()
        loss.backward()
        margins = [
            torch.relu(1 - sign * reference(row)) for sign, row in zip(signs, rows, strict=True)
        ]
        expected = sum(margins) / len(margins) + 1e-4 * sum(p * p for p in parameters)
        grads = torch.autograd.grad(expected, parameters)
        assert loss.data == pytest.approx(expected.item(), rel=1e-12)
        assert [p.grad for p in model.parameters()] == pytest.approx(
            [g.item() for g in grads], rel=1e-9, abs=1e-14
        )
        for p, q, g in zip(model.parameters(), parameters, grads, strict=True):
            p.data -= 0.3 * rate * p.grad
            with torch.no_grad():
                q.sub_(0.3 * rate * g)


def test_networks_describe_themselves_and_have_parameters() -> None:
    model = MLP(3, [4, 4, 1])
    assert len(model.parameters()) == 4 * 4 + 4 * 5 + 5
    assert repr(Layer(2, 1)) == "Layer of [ReLUNeuron(2)]"
    assert repr(Neuron(2, nonlin=False)) == "LinearNeuron(2)"
    assert isinstance(model([1.0, 2, Value(3.0)]), Value)
    assert len(MLP(2, [3])([1.0, 2.0])) == 3
    assert isinstance(MLP(1, [1, 1])([0.5]), Value)
    (model([1.0, 2.0, 3.0]) ** 2).backward()
    model.zero_grad()
    assert {p.grad for p in model.parameters()} == {0.0}
    with pytest.raises(ValueError, match="a neuron of 3 inputs was given 2"):
        model([1.0, 2.0])
    with pytest.raises(ValueError, match="not 'step'"):
        MLP(1, [2, 1], activation="step")


def test_every_value_of_a_network_has_its_box() -> None:
    random.seed(1)
    out = MLP(3, [2, 1])([Value(1.0), Value(-2.0), Value(0.5)])
    out.backward()
    values = in_order((out,))
    drawn = draw_dot(out)
    assert len(drawn.nodes) == len(values) == 32
    assert all(drawn.svg.count(f'data-cell="{word}"') == len(values) for word in ("data", "grad"))


def test_the_demo_of_micrograd_takes_the_steps_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    random.seed(1337)
    angles = [math.pi * k / 24 for k in range(25)]
    moons = [([math.cos(t), math.sin(t)], -1) for t in angles] + [
        ([1 - math.cos(t), 0.5 - math.sin(t)], 1) for t in angles
    ]
    X, y = [row for row, _ in moons], [sign for _, sign in moons]
    model = MLP(2, [16, 16, 1])

    def loss() -> tuple[Value, float]:
        inputs = [list(map(Value, xrow)) for xrow in X]
        scores = list(map(model, inputs))
        losses = [(1 + -yi * scorei).relu() for yi, scorei in zip(y, scores, strict=True)]
        data_loss = sum(losses) * (1.0 / len(losses))
        reg_loss = 1e-4 * sum(p * p for p in model.parameters())
        accuracy = [(yi > 0) == (scorei.data > 0) for yi, scorei in zip(y, scores, strict=True)]
        return data_loss + reg_loss, sum(accuracy) / len(accuracy)

    weights = [
        [
            torch.tensor(rows, requires_grad=True, dtype=torch.float64)
            for rows in ([[w.data for w in n.w] for n in each], [n.b.data for n in each])
        ]
        for each in (layer.neurons for layer in model.layers)
    ]
    for step in range(3):
        total, accuracy = loss()
        model.zero_grad()
        total.backward()
        out = torch.tensor(X, dtype=torch.float64)
        for k, (w, b) in enumerate(weights):
            out = out @ w.T + b
            out = torch.relu(out) if k < 2 else out
        theirs = torch.relu(1 - torch.tensor(y) * out[:, 0]).mean() + 1e-4 * sum(
            (p**2).sum() for pair in weights for p in pair
        )
        theirs.backward()
        assert total.data == pytest.approx(theirs.item(), rel=1e-12)
        found = [p.grad for p in model.parameters()]
        expected = [
            g
            for w, b in weights
            for k in range(len(b))
            for g in (*w.grad[k].tolist(), b.grad[k].item())
        ]
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
        rate = 1.0 - 0.9 * step / 100
        for p in model.parameters():
            p.data -= rate * p.grad
        with torch.no_grad():
            for weight in (each for pair in weights for each in pair):
                weight.sub_(rate * weight.grad)
                weight.grad = None
    assert accuracy > 0.7
