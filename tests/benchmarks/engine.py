"""Value as an engine: forward and backward over a multilayer perceptron beside micrograd, and over growing chains.

Every measurement has a process of its own, since what it is about is also how much memory stays. The collector is on,
but for the chains that say otherwise: while a graph grows it walks through all that is there again and again.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import random
import statistics
import subprocess
import sys
import time
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
        middle = {key: statistics.median(each[key] for each in found[engine]) for key in found[engine][0]}
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
    tasks = {"perceptron": perceptron, "chain": chain}
    print(json.dumps(tasks[sys.argv[1]](sys.argv[2], int(sys.argv[3]))))
