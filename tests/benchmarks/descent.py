"""What one step of gradient descent costs: `descend`, and the same loop written with micrograd and
with PyTorch.

The loop is the plain one of the tutorials: value, gradient, and every variable moved against its
partial derivative. Libraries that are not installed are left out. Seconds are those of the
processor, the best of several rounds.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from autodiff_cli.capabilities.optimize.descend import descend

RATE = 1e-4


def _neuron(inputs: int) -> str:
    """The squared errors of one tanh neuron on four examples, in `inputs` weights and a bias."""
    terms = []
    for example in range(4):
        total = " + ".join(f"w{k}*{((3 * example + 5 * k) % 7 - 3) / 4}" for k in range(inputs))
        terms.append(f"(tanh({total} + b) - {(-1) ** example})**2")
    return " + ".join(terms)


def _valley(count: int) -> str:
    """Rosenbrock's function in so many variables."""
    return " + ".join(f"100*(x{k + 1} - x{k}**2)**2 + (1 - x{k})**2" for k in range(count - 1))


PROGRAMS: dict[str, tuple[str, dict[str, float]]] = {
    "bowl, 2 variables": ("((w1-1)**2 + (w2-5)**2)*0.5", {"w1": 2.0, "w2": 3.0}),
    "neuron, 4 variables": (_neuron(3), {"w0": 0.1, "w1": -0.2, "w2": 0.3, "b": 0.0}),
    "valley, 10 variables": (_valley(10), {f"x{k}": 0.1 * k for k in range(10)}),
    "valley, 100 variables": (_valley(100), {f"x{k}": 0.01 * k for k in range(100)}),
}

Run = Callable[[int], dict[str, float]]
"""Takes so many steps; returns the point that they lead to."""


def _ours(text: str, start: Mapping[str, float]) -> Run:
    descent = descend(text, start, rate=RATE, steps=10**9)

    def run(steps: int) -> dict[str, float]:
        for row in islice(descent, steps + 1):  # noqa: B007
            pass
        return row.point

    return run


def _micrograd(text: str, start: Mapping[str, float]) -> Run:
    from micrograd.engine import Value

    def tanh(x: Any) -> Any:
        # as in the lecture: micrograd itself has none
        import math

        out = Value(math.tanh(x.data), (x,), "tanh")

        def backward() -> None:
            x.grad += (1 - out.data**2) * out.grad

        out._backward = backward
        return out

    forward = _function(text, start, {"tanh": tanh})

    def run(steps: int) -> dict[str, float]:
        leaves = [Value(x) for x in start.values()]
        for _ in range(steps):
            loss = forward(*leaves)
            for leaf in leaves:
                leaf.grad = 0.0
            loss.backward()
            for leaf in leaves:
                leaf.data -= RATE * leaf.grad
        return {name: leaf.data for name, leaf in zip(start, leaves, strict=True)}

    return run


def _pytorch(text: str, start: Mapping[str, float]) -> Run:
    import torch

    torch.set_num_threads(1)
    forward = _function(text, start, {"tanh": torch.tanh})

    def run(steps: int) -> dict[str, float]:
        leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in start.values()]
        for _ in range(steps):
            for leaf in leaves:
                leaf.grad = None
            forward(*leaves).backward()
            with torch.no_grad():
                for leaf in leaves:
                    leaf.sub_(RATE * leaf.grad)
        return {name: leaf.item() for name, leaf in zip(start, leaves, strict=True)}

    return run


def _function(
    text: str, start: Mapping[str, float], functions: dict[str, Any]
) -> Callable[..., Any]:
    """The program as the function that a person would write in Python."""
    space: dict[str, Any] = dict(functions)
    exec(f"def forward({', '.join(start)}):\n    return {text}", space)
    made: Callable[..., Any] = space["forward"]
    return made


def _seconds(run: Run, steps: int, rounds: int) -> float:
    """Seconds a step. What is made only once, such as the evaluator, was made before."""
    run(1)
    best = float("inf")
    for _ in range(rounds):
        begin = time.process_time()
        run(steps)
        best = min(best, time.process_time() - begin)
    return best / steps


def measure(work: int, rounds: int) -> list[dict[str, object]]:
    """One row a program: microseconds a step, and how many times longer the others take. `work`
    says how many steps.
    """
    makers = {"micrograd": _micrograd, "torch": _pytorch}
    rows: list[dict[str, object]] = []
    for name, (text, start) in PROGRAMS.items():
        steps = max(5, work // len(start))
        ours = _ours(text, start)
        reference = ours(5)
        taken = _seconds(ours, 10 * steps, rounds)
        row: dict[str, object] = {"program": name, "microseconds/step": round(taken * 1e6, 2)}
        for library, maker in makers.items():
            label = "PyTorch" if library == "torch" else library
            if importlib.util.find_spec(library) is None:
                row[label] = row[f"{label} / ours"] = "not installed"
                continue
            other = maker(text, start)
            found = other(5)
            if any(abs(found[each] - x) > 1e-9 * max(1.0, abs(x)) for each, x in reference.items()):
                raise AssertionError(
                    f"{name}: {library} goes elsewhere, {found} and not {reference}"
                )
            theirs = _seconds(other, max(3, steps // (10 if library == "torch" else 2)), rounds)
            row[label] = round(theirs * 1e6, 1)
            row[f"{label} / ours"] = round(theirs / taken, 1)
        rows.append(row)
    return rows
