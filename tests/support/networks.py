"""Data and formulas of two small models: a logistic regression, and a network of two layers with
tanh.
"""

from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np


def classes(rows: int) -> dict[str, np.ndarray]:
    """Points of two classes that overlap."""
    draw = np.random.default_rng(1)
    y = (draw.random(rows) < 0.5).astype(float)
    x = draw.normal(size=(rows, 2)) + y[:, None] * [1.0, -0.7]
    return {"x1": x[:, 0].copy(), "x2": x[:, 1].copy(), "y": y}


def surface(rows: int) -> dict[str, np.ndarray]:
    """Heights over a plane."""
    draw = np.random.default_rng(2)
    x = draw.normal(size=(rows, 2))
    return {"x1": x[:, 0].copy(), "x2": x[:, 1].copy(), "y": np.sin(x[:, 0]) * x[:, 1]}


def _text(hidden: int) -> str:
    units = [f"h{k} = tanh(W1_{k}*x1 + W2_{k}*x2 + b_{k})" for k in range(hidden)]
    output = " + ".join(f"V_{k}*h{k}" for k in range(hidden))
    return "; ".join([*units, f"({output} + c - y)**2"])


def _start(hidden: int) -> dict[str, float]:
    draw = random.Random(3)
    names = [f"{name}_{k}" for k in range(hidden) for name in ("W1", "W2", "b", "V")]
    return {**{name: draw.gauss(0, 0.5) for name in names}, "c": 0.0}


network = SimpleNamespace(text=_text, start=_start)
"""`text` of one row's squared error, with so many hidden units; where to `start`."""
