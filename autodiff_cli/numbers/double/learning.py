"""Activation functions of machine learning on floats, and the slopes of the smooth ones."""

from __future__ import annotations

import math

from .twofold import scaled_exp

LN_SIGMOID_NORMAL = -700.0
"""Above this the sigmoid is a normal number; below, it is exp(x) to the last digit."""


def relu(x: float) -> float:
    """x where it is positive, else 0."""
    return float(x) if x > 0.0 else 0.0


def leaky_relu(x: float, slope: float) -> float:
    """x where it is positive, else slope·x."""
    return float(x) if x > 0.0 else float(slope * x)


def elu(x: float, alpha: float) -> float:
    """x where it is positive, else alpha·(exp(x) - 1)."""
    return float(x) if x > 0.0 else alpha * math.expm1(x)


def silu(x: float) -> float:
    """x·sigmoid(x), also where the sigmoid alone would underflow."""
    if x > LN_SIGMOID_NORMAL:
        return x * sigmoid(x)
    return scaled_exp(x, x)


def sigmoid(x: float) -> float:
    """1/(1 + exp(-x))."""
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)
