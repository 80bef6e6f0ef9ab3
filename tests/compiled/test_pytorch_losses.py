"""Losses over data, held to PyTorch's: the same losses, step for step and epoch for epoch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autodiff_cli import descend
from networks import classes, network, surface

torch = pytest.importorskip("torch")

ROWS, STEPS, BATCH = 10_000, 12, 500


def trained(
    parameters: list[Any],
    loss: Callable[[slice], Any],
    optimiser: Any,
    batch: int | None,
    rounds: int,
) -> list[float]:
    """The losses over all rows: at the start, and after each step, or where there are batches after
    each epoch.
    """
    losses = []
    for _ in range(rounds + 1):
        with torch.no_grad():
            losses.append(loss(slice(None)).item())
        for start in range(0, ROWS, batch or ROWS):
            optimiser.zero_grad()
            loss(slice(start, start + (batch or ROWS))).backward()
            optimiser.step()
    assert all(each.grad is not None for each in parameters)
    return losses


METHODS: list[tuple[str, float, Callable[..., Any]]] = [
    ("plain", 0.05, lambda ps: torch.optim.SGD(ps, lr=0.05)),
    ("momentum", 0.02, lambda ps: torch.optim.SGD(ps, lr=0.02, momentum=0.9)),
    ("adam", 0.01, lambda ps: torch.optim.Adam(ps, lr=0.01)),
]


@pytest.mark.parametrize("batch", [None, BATCH])
@pytest.mark.parametrize(
    ("method", "rate", "optimiser"), METHODS, ids=[each[0] for each in METHODS]
)
def test_logistic_regression(
    method: str, rate: float, optimiser: Callable[..., Any], batch: int | None
) -> None:
    data = classes(ROWS)
    x1, x2, y = (torch.tensor(column) for column in data.values())
    w1, w2, b = parameters = [
        torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (0.1, -0.2, 0.0)
    ]

    def loss(part: slice) -> Any:
        score = w1 * x1[part] + w2 * x2[part] + b
        return (
            torch.nn.functional.softplus(score, threshold=100.0).mean() - (y[part] * score).mean()
        )

    rounds = STEPS if batch is None else 2
    theirs = trained(parameters, loss, optimiser(parameters), batch, rounds)
    ours = descend(
        "s = w1*x1 + w2*x2 + b; softplus(s) - y*s", "w1=0.1,w2=-0.2,b=0", data=data, reduce="mean",
        method=method, rate=rate,
        **({"steps": STEPS} if batch is None else {"batch": batch, "epochs": rounds}),
    )  # fmt: skip
    assert ours.over is not None and (ours.over.backend, ours.over.rows) == ("llvm", ROWS)
    assert [row.value for row in ours.rows] == pytest.approx(theirs, rel=1e-11)
    assert ours.rows[-1].value < ours.rows[0].value


@pytest.mark.parametrize("batch", [None, BATCH])
def test_a_network(batch: int | None) -> None:
    data, start = surface(ROWS), network.start(16)
    x, y = torch.tensor(np.stack([data["x1"], data["x2"]], axis=1)), torch.tensor(data["y"])

    def of(name: str) -> Any:
        return torch.tensor([start[f"{name}_{k}"] for k in range(16)], dtype=torch.float64)

    weights = torch.stack([of("W1"), of("W2")], dim=1).requires_grad_()
    biases, outer = of("b").requires_grad_(), of("V").requires_grad_()
    last = torch.tensor(start["c"], dtype=torch.float64, requires_grad=True)
    parameters = [weights, biases, outer, last]

    def loss(part: slice) -> Any:
        return ((torch.tanh(x[part] @ weights.T + biases) @ outer + last - y[part]) ** 2).mean()

    rounds = STEPS if batch is None else 2
    theirs = trained(parameters, loss, torch.optim.SGD(parameters, lr=0.05), batch, rounds)
    ours = descend(
        network.text(16), start, data=data, reduce="mean", rate=0.05,
        **({"steps": STEPS} if batch is None else {"batch": batch, "epochs": rounds}),
    )  # fmt: skip
    assert ours.over is not None and ours.over.backend == "llvm"
    assert len(ours.rows[0].free) == 65
    assert [row.value for row in ours.rows] == pytest.approx(theirs, rel=1e-11)
    assert ours.rows[-1].value < ours.rows[0].value
