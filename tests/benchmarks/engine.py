"""Value as an engine: forward and backward over a multilayer perceptron beside micrograd, and over
growing chains.

Every measurement has a process of its own, since what it is about is also how much memory stays.
The collector is on, but for the chains that say otherwise: while a graph grows it walks through all
that is there again and again.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

WIDTH = 16
OFF = ", collector off"


def _memory() -> int:
    """The bytes of this process that are in memory, 0 where that cannot be found out."""
    status = Path("/proc/self/statm")
    return int(status.read_text(encoding="ascii").split()[1]) * 4096 if status.exists() else 0


def _value(engine: str) -> Any:
    if engine == "micrograd":
        from micrograd.engine import Value

        return Value
    from autodiff_cli import Value as Ours

    return Ours


def perceptron(engine: str, nodes: int) -> dict[str, float]:
    """Microseconds a node, and bytes, of a network of layers of 16 relu neurons of 16 inputs."""
    value = _value(engine)
    # micrograd recurses once a node.
    sys.setrecursionlimit(10**6)
    rng = random.Random(1)
    inputs = [value(rng.uniform(-1, 1)) for _ in range(WIDTH)]
    count = WIDTH
    before = _memory()
    begin = time.process_time()
    while count < nodes:
        layer = []
        for _ in range(WIDTH):
            total = value(0.1)
            for x in inputs:
                total = total + value(rng.uniform(-0.3, 0.3)) * x
            layer.append(total.relu())
        inputs = layer
        count += WIDTH * (3 * WIDTH + 2)
    total = inputs[0]
    for x in inputs[1:]:
        total = total + x
    middle = time.process_time()
    total.backward()
    end = time.process_time()
    return {
        "nodes": count,
        "forward": (middle - begin) / count * 1e6,
        "backward": (end - middle) / count * 1e6,
        "bytes": (_memory() - before) / count,
    }


def chain(engine: str, operations: int) -> dict[str, float]:
    """Microseconds an operation, forward and backward, of y = y*w + x again and again."""
    value = _value(engine.removesuffix(OFF))
    if engine.endswith(OFF):
        gc.disable()
    times = []
    for _ in range(max(1, 20_000 // operations)):
        x, w = value(1.0001), value(0.99999)
        begin = time.process_time()
        y = x
        for _ in range(operations // 2):
            y = y * w + x
        y.backward()
        times.append((time.process_time() - begin) / operations * 1e6)
    return {"nodes": operations, "both": statistics.median(times)}


SIZES = (4, 16, 16, 1)
"""The layers of a tutorial's network: relu but for the last, 369 parameters."""
SAMPLES = 100
RATE = 0.001


def _samples() -> tuple[list[list[float]], list[float]]:
    rng = random.Random(2)
    rows = [[rng.gauss(0, 1) for _ in range(SIZES[0])] for _ in range(SAMPLES)]
    return rows, [1.0 if row[0] * row[1] + row[2] > 0 else -1.0 for row in rows]


def _steps_of_values(engine: str) -> Any:
    """A step of training of a network of `Value`s: a loss of all samples, its gradient, new
    parameters.
    """
    module = importlib.import_module("micrograd.nn" if engine == "micrograd" else "autodiff_cli.nn")
    sys.setrecursionlimit(10**6)
    random.seed(3)
    model = module.MLP(SIZES[0], [*SIZES[1:]])
    rows, targets = _samples()

    def step() -> float:
        losses = [(model(row) - target) ** 2 for row, target in zip(rows, targets, strict=True)]
        loss = sum(losses) * (1.0 / SAMPLES)
        model.zero_grad()
        loss.backward()
        for p in model.parameters():
            p.data -= RATE * p.grad
        return float(loss.data)

    return step


def _weights() -> list[Any]:
    import numpy as np

    rng = np.random.default_rng(3)
    return [
        array for n, m in pairwise(SIZES) for array in (rng.uniform(-1, 1, (n, m)), np.zeros(m))
    ]


def _steps_recorded(engine: str) -> Any:
    """A step by `value_and_grad` of one sample's loss, recorded by `jit`."""
    import numpy as np

    from autodiff_cli import relu, value_and_grad

    weights, (rows, targets) = _weights(), _samples()
    places = range(len(weights))
    rectified = np.vectorize(relu, otypes=[object])

    def loss(weights: Any, row: Any, target: Any) -> Any:
        out = row
        for k in range(0, len(weights), 2):
            out = out @ weights[k] + weights[k + 1]
            out = rectified(out) if k < len(weights) - 2 else out
        return (out[0] - target) ** 2

    both = value_and_grad(loss, jit=True)
    arrays = [np.array(row) for row in rows]

    def step() -> float:
        total, sums = 0.0, [np.zeros_like(w) for w in weights]
        for row, target in zip(arrays, targets, strict=True):
            value, slopes = both(weights, row, target)
            total += value / SAMPLES
            for k in places:
                sums[k] += slopes[k] / SAMPLES
        for k in places:
            weights[k] -= RATE * sums[k]
        return total

    return step


def _steps_of_scalar_tensors(engine: str) -> Any:
    """The step of `Value`s with tensors of one number in their place."""
    import torch

    torch.set_num_threads(1)
    rng = random.Random(3)
    layers = [
        [
            [
                torch.tensor(rng.uniform(-1, 1), dtype=torch.float64, requires_grad=True)
                for _ in range(n + 1)
            ]
            for _ in range(m)
        ]
        for n, m in pairwise(SIZES)
    ]
    parameters = [w for layer in layers for neuron in layer for w in neuron]
    rows, targets = _samples()

    def model(row: Any) -> Any:
        for layer in layers:
            sums = [
                sum((w * x for w, x in zip(neuron, row, strict=False)), neuron[-1])
                for neuron in layer
            ]
            row = sums if layer is layers[-1] else [each.relu() for each in sums]
        return row[0]

    def step() -> float:
        losses = [(model(row) - target) ** 2 for row, target in zip(rows, targets, strict=True)]
        loss = sum(losses) * (1.0 / SAMPLES)
        for p in parameters:
            p.grad = None
        loss.backward()
        for p in parameters:
            p.data -= RATE * p.grad
        return float(loss.data)

    return step


def _torch_network() -> Any:
    """PyTorch on one core, the weights, and a function from samples to results."""
    import torch

    torch.set_num_threads(1)
    weights = [torch.tensor(w, requires_grad=True) for w in _weights()]

    def model(out: Any) -> Any:
        for k in range(0, len(weights), 2):
            out = out @ weights[k] + weights[k + 1]
            out = torch.relu(out) if k < len(weights) - 2 else out
        return out

    def learn(loss: Any) -> float:
        for w in weights:
            w.grad = None
        loss.backward()
        with torch.no_grad():
            for w in weights:
                w.sub_(RATE * w.grad)
        return float(loss.item())

    return torch, model, learn


def _steps_of_torch_by_sample(engine: str) -> Any:
    """One call of the network a sample, a loss of all, and its gradient, as the tutorial has it."""
    torch, model, learn = _torch_network()
    rows, targets = _samples()
    tensors = [torch.tensor(row, dtype=torch.float64) for row in rows]

    def step() -> float:
        losses = [
            (model(row)[0] - target) ** 2 for row, target in zip(tensors, targets, strict=True)
        ]
        return float(learn(sum(losses) * (1.0 / SAMPLES)))

    return step


def _steps_of_torch(engine: str) -> Any:
    torch, model, learn = _torch_network()
    rows, targets = (torch.tensor(each, dtype=torch.float64) for each in _samples())

    def step() -> float:
        return float(learn(((model(rows)[:, 0] - targets) ** 2).mean()))

    return step


def _steps_of_jax(engine: str) -> Any:
    """All samples at once, or one call of the compiled gradient a sample."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    weights = [jnp.array(w) for w in _weights()]
    rows, targets = (jnp.array(each) for each in _samples())

    def loss(weights: Any, rows: Any, targets: Any) -> Any:
        out = rows
        for k in range(0, len(weights), 2):
            out = out @ weights[k] + weights[k + 1]
            out = jax.nn.relu(out) if k < len(weights) - 2 else out
        return ((out[..., 0] - targets) ** 2).mean()

    both = jax.jit(jax.value_and_grad(loss))
    add = jax.jit(lambda total, more: jax.tree.map(jnp.add, total, more))
    apart = [*zip(rows, targets, strict=True)]

    def step() -> float:
        nonlocal weights
        if engine == "jax":
            value, slopes = both(weights, rows, targets)
        else:
            value, slopes = 0.0, [jnp.zeros_like(w) for w in weights]
            for row, target in apart:
                value, slopes = add((value, slopes), both(weights, row, target))
            value, slopes = value / SAMPLES, [slope / SAMPLES for slope in slopes]
        weights = [w - RATE * slope for w, slope in zip(weights, slopes, strict=True)]
        return float(value)

    return step


TRAINED = {
    "autodiff": _steps_of_values, "micrograd": _steps_of_values,
    "torch, numbers": _steps_of_scalar_tensors, "autodiff, jit": _steps_recorded,
    "torch, by sample": _steps_of_torch_by_sample, "jax, by sample": _steps_of_jax,
    "torch": _steps_of_torch, "jax": _steps_of_jax,
}  # fmt: skip
"""Engines that train the network, in three groups: number by number, sample by sample, and all
samples at once.
"""
ROWS = "autodiff, rows"
"""All samples at once: a formula, whose samples are rows of data."""


def _training_by_rows(least: int) -> dict[str, float]:
    """Steps a second of `descend` with data, without the time that reading and compiling take, and
    megabytes.
    """
    from autodiff_cli import descend

    before = _memory()
    first, second, third = (w.T for w in _weights()[::2])
    start = {"W1": first, "b1": [0.0] * 16, "W2": second, "b2": [0.0] * 16, "V": third[0], "c": 0.0}
    rows, targets = _samples()
    data = {f"x{k + 1}": [row[k] for row in rows] for k in range(SIZES[0])} | {"y": targets}
    text = "h = relu(W1 @ [x1, x2, x3, x4] + b1); g = relu(W2 @ h + b2); (V @ g + c - y)**2"

    def spent(steps: int) -> float:
        begin = time.process_time()
        found = descend(text, start, data=data, reduce="mean", rate=RATE, steps=steps)
        assert found.last.value < found.start.value
        return time.process_time() - begin

    count = max(300, least)
    short, long = spent(1), spent(1 + count)
    return {"steps": count / (long - short), "megabytes": (_memory() - before) / 1e6}


def training(engine: str, least: int) -> dict[str, float]:
    """Steps a second of training a network of 4, 16, 16 and 1 neurons over 100 samples, and
    megabytes.
    """
    if engine == ROWS:
        return _training_by_rows(least)
    before = _memory()
    step = TRAINED[engine](engine)
    losses = [step(), step()]
    begin, count = time.process_time(), 0
    while count < least or time.process_time() - begin < 1.0:
        losses.append(step())
        count += 1
    seconds = time.process_time() - begin
    assert losses[-1] < losses[0]
    return {"steps": count / seconds, "megabytes": (_memory() - before) / 1e6}


FEW = ("autodiff", "autodiff, jit", ROWS)
"""The engines that a short run measures."""


def measure_training(
    least: int, rounds: int, engines: Sequence[str] = (*TRAINED, ROWS)
) -> list[dict[str, object]]:
    """One row an engine, the rounds in turn: the medians."""
    here = [
        name
        for name in engines
        if importlib.util.find_spec(name.partition(",")[0].replace("autodiff", "autodiff_cli"))
    ]
    found: dict[str, list[dict[str, float]]] = {engine: [] for engine in here}
    for _ in range(rounds):
        for engine in here:
            found[engine].append(_apart("training", engine, least))
    rows: list[dict[str, object]] = []
    for engine, each in found.items():
        middle = {key: statistics.median(one[key] for one in each) for key in each[0]}
        rows.append(
            {
                "engine": engine,
                "steps/s": round(middle["steps"], 1),
                "megabytes": round(middle["megabytes"]),
            }
        )
    return rows


def _apart(task: str, engine: str, size: int) -> dict[str, float]:
    command = [sys.executable, __file__, task, engine, str(size)]
    return dict(json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout))


def measure(nodes: int, chains: list[int], rounds: int) -> list[dict[str, object]]:
    """One row an engine and shape: medians over the rounds."""
    engines = ["autodiff", *(["micrograd"] if importlib.util.find_spec("micrograd") else [])]
    found: dict[str, list[dict[str, float]]] = {engine: [] for engine in engines}
    for _ in range(rounds):
        for engine in engines:
            found[engine].append(_apart("perceptron", engine, nodes))
    rows: list[dict[str, object]] = []
    for engine in engines:
        middle = {
            key: statistics.median(each[key] for each in found[engine]) for key in found[engine][0]
        }
        both = middle["forward"] + middle["backward"]
        rows.append(
            {
                "graph": "perceptron", "engine": engine, "nodes": round(middle["nodes"]),
                "microseconds/node": round(both, 3), "forward": round(middle["forward"], 3),
                "backward": round(middle["backward"], 3), "bytes/node": round(middle["bytes"]),
            }
        )  # fmt: skip
    for engine in ("autodiff", "autodiff" + OFF):
        for size in chains:
            both = statistics.median(_apart("chain", engine, size)["both"] for _ in range(rounds))
            rows.append(
                {
                    "graph": "chain", "engine": engine, "nodes": size, "microseconds/node": round(both, 3),
                    "forward": "", "backward": "", "bytes/node": "",
                }
            )  # fmt: skip
    return rows


if __name__ == "__main__":
    tasks = {"perceptron": perceptron, "chain": chain, "training": training}
    print(json.dumps(tasks[sys.argv[1]](sys.argv[2], int(sys.argv[3]))))
