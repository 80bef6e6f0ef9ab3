"""Neural networks of `Value`s, as the tutorials build them: `Neuron`, `Layer`, `MLP`.

>>> import random
>>> random.seed(1)
>>> model = MLP(2, [3, 1])
>>> model
MLP of [Layer of [ReLUNeuron(2), ReLUNeuron(2), ReLUNeuron(2)], Layer of [LinearNeuron(3)]]
>>> loss = (model([1.0, -2.0]) - 1) ** 2
>>> model.zero_grad()
>>> loss.backward()
>>> len(model.parameters()), all(p.grad is not None for p in model.parameters())
(13, True)
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

from .engine.graphs.value import Value
from .engine.table.primitive import FUNCTIONS

__all__ = ["MLP", "Layer", "Module", "Neuron"]


class Module:
    """The base class of what has parameters."""

    def zero_grad(self) -> None:
        """Set the `grad` of every parameter to 0, before the next `backward()`."""
        for p in self.parameters():
            p.grad = 0.0

    def parameters(self) -> list[Value]:
        """Return the weights and biases, the Values that training changes."""
        return []


class Neuron(Module):
    """A weighted sum of its inputs and a bias, then an activation unless `nonlin` is false.

    Weights are drawn by Python's `random` from -1 to 1; the bias starts at 0.
    """

    def __init__(self, nin: int, nonlin: bool = True, activation: str = "relu") -> None:
        if activation not in FUNCTIONS or not hasattr(Value, activation):
            raise ValueError(
                f"the activation is a method of Value, such as tanh, not {activation!r}"
            )
        self.w = [Value(random.uniform(-1, 1)) for _ in range(nin)]
        self.b = Value(0.0)
        self.nonlin, self.activation = nonlin, activation

    def __call__(self, x: Sequence[Any]) -> Value:
        """Return the output for one row of inputs, Values or numbers."""
        if len(x) != len(self.w):
            raise ValueError(f"a neuron of {len(self.w)} inputs was given {len(x)}")
        total = reduce(add, [w * entry for w, entry in zip(self.w, x, strict=True)], self.b)
        result: Value = getattr(total, self.activation)() if self.nonlin else total
        return result

    def parameters(self) -> list[Value]:
        return [*self.w, self.b]

    def __repr__(self) -> str:
        if not self.nonlin:
            return f"LinearNeuron({len(self.w)})"
        kind = "ReLU" if self.activation == "relu" else self.activation.capitalize()
        return f"{kind}Neuron({len(self.w)})"


class Layer(Module):
    """Neurons with the same inputs; `keywords` are those of `Neuron`."""

    def __init__(self, nin: int, nout: int, **keywords: Any) -> None:
        self.neurons = [Neuron(nin, **keywords) for _ in range(nout)]

    def __call__(self, x: Sequence[Any]) -> Any:
        """Return the outputs as a list; of a single neuron, its output."""
        out = [neuron(x) for neuron in self.neurons]
        return out[0] if len(out) == 1 else out

    def parameters(self) -> list[Value]:
        return [p for neuron in self.neurons for p in neuron.parameters()]

    def __repr__(self) -> str:
        return f"Layer of [{', '.join(map(str, self.neurons))}]"


class MLP(Module):
    """A multilayer perceptron of `nin` inputs and layers of `nouts` neurons; the last layer is
    linear.

    `activation` is that of the layers before it, by the name of a method of Value: relu, tanh,
    sigmoid.
    """

    def __init__(self, nin: int, nouts: Sequence[int], activation: str = "relu") -> None:
        sizes = [nin, *nouts]
        last = len(nouts) - 1
        self.layers = [
            Layer(sizes[i], sizes[i + 1], nonlin=i != last, activation=activation)
            for i in range(len(nouts))
        ]

    def __call__(self, x: Sequence[Any]) -> Any:
        """Return the outputs for one row of inputs: a list, or a Value if the last layer is one
        neuron.
        """
        out: Any = x
        for k, layer in enumerate(self.layers):
            out = layer([out] if k and isinstance(out, Value) else out)
        return out

    def parameters(self) -> list[Value]:
        return [p for layer in self.layers for p in layer.parameters()]

    def __repr__(self) -> str:
        return f"MLP of [{', '.join(map(str, self.layers))}]"
