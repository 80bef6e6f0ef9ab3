"""One formula at many points: `--points` beside the same rows as request records, answered the
ordinary way.

The ordinary way parses the program of every record and differentiates it on a graph; what streams
remember and their flat lists are left out of it.
"""

from __future__ import annotations

import gc
import io
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from autodiff_cli.capabilities.derivatives.gradient import Gradient, Programs, gradient
from autodiff_cli.capabilities.derivatives.gradient_view import GradientView
from autodiff_cli.cli.commands import call
from autodiff_cli.cli.runner import answer_requests
from autodiff_cli.show.formats import writer
from autodiff_cli.streams.requests import Defaults, stream

FORMULA = "log(1.2 + (x)**2)*(x*(0.71 + y)*z + (((x - 0.31) + (x - 0.71)))**2)"


def _records(requests: bytes, ask: Callable[..., Gradient[Any]]) -> str:
    out = io.StringIO()
    answer_requests(
        stream(io.BytesIO(requests), Defaults({}, None)),
        lambda each: ask(each.text, each.point),
        writer("jsonl", out, GradientView(), True),
        False,
    )
    return out.getvalue()


def measure(count: int, rounds: int) -> list[dict[str, object]]:
    """One row a way: median microseconds a row of the data, and how many times as fast as the
    ordinary way it is.
    """
    rng = random.Random(1)
    points = [{name: round(rng.uniform(-2, 2), 6) for name in "xyz"} for _ in range(count)]
    requests = "".join(
        json.dumps({"expr": FORMULA, "at": point}) + "\n" for point in points
    ).encode()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data.csv")
        rows = ["x,y,z", *(",".join(map(repr, point.values())) for point in points)]
        data.write_text("\n".join(rows) + "\n", encoding="ascii")

        def through_points() -> str:
            out = io.StringIO()
            with redirect_stdout(out):
                call("grad", [FORMULA, "--points", str(data)])
            return out.getvalue()

        ways: dict[str, Callable[[], str]] = {
            "request records, without the cache": lambda: _records(requests, gradient),
            "request records": lambda: _records(requests, Programs(complete=False).gradient),
            "--points data.csv": through_points,
        }
        taken: dict[str, list[float]] = {name: [] for name in ways}
        answers = {}
        gc.collect()
        gc.disable()
        for _ in range(rounds):
            for name, way in ways.items():
                begin = time.perf_counter()
                written = way()
                taken[name].append((time.perf_counter() - begin) / count * 1e6)
                answers[name] = [json.loads(line)["gradient"] for line in written.splitlines()]
        gc.enable()
    first, *others = answers.values()
    if any(other != first for other in others):
        raise AssertionError("the ways differ")
    middle = {name: statistics.median(times) for name, times in taken.items()}
    slowest = middle["request records, without the cache"]
    return [
        {
            "way": name,
            "rows": count,
            "microseconds/row": round(each, 1),
            "times as fast": round(slowest / each, 1),
        }
        for name, each in middle.items()
    ]
