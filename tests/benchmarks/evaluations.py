"""One program at many points: the generated evaluator beside the sweeps over the graph, and beside
`gradient`.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable

from autodiff_cli import gradient
from autodiff_cli.compiled.evaluator import Evaluator
from autodiff_cli.engine.graphs.value import in_order
from autodiff_cli.questions.problem import check_values, parse


def layer(inputs: int, neurons: int, function: str) -> str:
    """The squared error of a network with one hidden layer, of one example."""
    lines = [
        f"h{j} = {function}(" + " + ".join(f"w{j}_{i}*x{i}" for i in range(inputs)) + f" + b{j})"
        for j in range(neurons)
    ]
    return "\n".join([*lines, "(" + " + ".join(f"v{j}*h{j}" for j in range(neurons)) + " - y)**2"])


PROGRAMS = {
    "two squares": "((w1-1)**2 + (w2-5)**2)*0.5",
    "neuron": "o = tanh(x1*w1 + x2*w2 + b)",
    "elementary": "sin(x*y) + exp(-x**2)*log(y) + sqrt(x**2 + y**2)",
    "choice": "log(x)*y if x > 0.1 and y > 0 else x**2",
    "extremes": "max(x, y)*min(x, y) + clamp(x, 0, 1)",
    "network, tanh": layer(4, 8, "tanh"),
    "network, relu": layer(30, 40, "relu"),
}


def per_call(call: Callable[[], object], calls: int, rounds: int) -> float:
    """The median time of a call, in microseconds."""
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        taken.append((time.perf_counter() - begin) / calls)
    return statistics.median(taken) * 1e6


def measure(rounds: int) -> list[dict[str, object]]:
    """A row a program: nodes, microseconds to generate, of one evaluation each way, and the ratio
    of two of them.
    """
    rows: list[dict[str, object]] = []
    for name, text in PROGRAMS.items():
        program = parse(text)
        numbers = random.Random(1)
        point = {variable: numbers.uniform(0.2, 1.0) for variable in program.variables}
        values = list(point.values())
        begin = time.perf_counter()
        evaluator = Evaluator(program)
        result = evaluator(values)
        generated = (time.perf_counter() - begin) * 1e6
        want = gradient(text, point)
        assert result == (want.value, list(want.gradient.values()))
        check_values(program, point)
        nodes = len(in_order(program.outputs))
        slow = max(1, 2000 // nodes)
        fast = per_call(lambda: evaluator(values), 20 * slow, rounds)  # noqa: B023 - called at once
        eager = per_call(lambda: evaluator.interpret(values), slow, rounds)  # noqa: B023
        whole = per_call(lambda: gradient(text, point), slow, rounds)  # noqa: B023
        rows.append(
            {
                "program": name,
                "nodes": nodes,
                "µs to generate": round(generated),
                "µs generated": round(fast, 2),
                "µs sweeps": round(eager, 1),
                "µs with parsing": round(whole, 1),
                "ratio": round(fast / eager, 3),
            }
        )
    return rows
