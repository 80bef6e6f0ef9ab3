"""Losses over data beside PyTorch: steps on all rows, and epochs in batches, of a logistic
regression and a network.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))

from autodiff_cli import descend
from networks import classes, network, surface

BATCH = 32


def measure(rows: int, steps: int, rounds: int) -> list[dict[str, object]]:
    """CPU-seconds of training, with reading the formula and compiling it, each the median of some
    rounds.
    """
    models: list[tuple[str, str, dict[str, float], dict[str, Any]]] = [
        (
            "logistic regression", "s = w1*x1 + w2*x2 + b; softplus(s) - y*s", {"w1": 0.1, "w2": -0.2, "b": 0.0},
            classes(rows),
        ),
        ("network 2-16-1", network.text(16), network.start(16), surface(rows)),
    ]  # fmt: skip
    found: list[dict[str, object]] = []
    for name, text, start, data in models:
        for kind, given in (("steps", {"steps": steps}), ("epochs", {"batch": BATCH, "epochs": 2})):

            def ours(
                text: str = text, start: Any = start, data: Any = data, given: Any = given
            ) -> None:
                descend(text, start, data=data, reduce="mean", rate=0.05, **given)

            row: dict[str, object] = {
                "model": f"{name}, {given.get('epochs', steps)} {kind}",
                "autodiff": spent(ours, rounds),
            }
            theirs = pytorch(name, start, data, given)
            if theirs is not None:
                row["PyTorch"] = spent(theirs, rounds)
            found.append(row)
    return found


def spent(action: Callable[[], None], rounds: int) -> float:
    """CPU-seconds of an action."""
    times = []
    for _ in range(rounds):
        begun = time.process_time()
        action()
        times.append(time.process_time() - begun)
    return round(median(times), 3)


def pytorch(
    name: str, start: dict[str, float], data: dict[str, Any], given: dict[str, int]
) -> Callable[[], None] | None:
    """The same training by PyTorch, on one core; None where it is not installed."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    x = torch.stack([torch.tensor(data["x1"]), torch.tensor(data["x2"])], dim=1)
    y = torch.tensor(data["y"])

    def leaves(*names: str) -> Any:
        return torch.tensor([start[each] for each in names], dtype=torch.float64)

    def train() -> None:
        if name.startswith("logistic"):
            w, b = leaves("w1", "w2").requires_grad_(), leaves("b").requires_grad_()
            parameters = [w, b]

            def loss(part: slice) -> Any:
                score = x[part] @ w + b
                return torch.nn.functional.binary_cross_entropy_with_logits(score, y[part])

        else:
            hidden = range(16)
            inner = torch.stack([leaves(f"W1_{k}", f"W2_{k}") for k in hidden]).requires_grad_()
            bias, outer = (
                leaves(*[f"{n}_{k}" for k in hidden]).requires_grad_() for n in ("b", "V")
            )
            last = leaves("c").requires_grad_()
            parameters = [inner, bias, outer, last]

            def loss(part: slice) -> Any:
                return ((torch.tanh(x[part] @ inner.T + bias) @ outer + last - y[part]) ** 2).mean()

        optimiser = torch.optim.SGD(parameters, lr=0.05)
        size = given.get("batch", len(y))
        for _ in range(given.get("steps", given.get("epochs", 1))):
            for begin in range(0, len(y), size):
                optimiser.zero_grad()
                loss(slice(begin, begin + size)).backward()
                optimiser.step()
            with torch.no_grad():
                loss(slice(None))

    return train
