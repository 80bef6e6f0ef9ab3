"""Activation functions of machine learning on floats, and the slopes of the smooth ones."""

from __future__ import annotations

import math

from .twofold import horner, scaled_exp

LN_SIGMOID_NORMAL = -700.0
"""Above this the sigmoid is a normal number; below, it is exp(x) to the last digit."""

SILU_SLOPE_ZERO = (-1.2784645427610737, -1.0946994183093437e-16)
"""Where silu is smallest, as the sum of two doubles (mpmath.findroot, 60 digits)."""

SILU_SLOPE_SERIES = (
    -9.109206073779557e-08, -3.668666458969287e-08, 8.597562971878925e-07,
    2.34685455409697e-06, -2.942617209369802e-06, -2.9733598637627508e-05,
    -4.090534291519911e-05, 0.0001857072456834204, 0.000798521881850028,
    0.00012662741004203514, -0.006606589138356781, -0.015222655223187706,
    0.018874814223782312, 0.1466487969969469, 0.2178117057198001,
)  # fmt: skip
"""silu_slope(zero + t)/t for |t| <= 0.3, highest power first (mpmath.chebyfit, 15 terms, relative error 1e-19)."""


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


def silu_slope(x: float) -> float:
    """The derivative of x·sigmoid(x), which is (1 + e + x)·e/(1 + e)² with e = exp(x).

    Near its zero that form cancels, and a polynomial through the zero takes over.
    """
    if x >= 0.0:
        e = math.exp(-x)
        return (1.0 + e + x * e) / ((1.0 + e) * (1.0 + e))
    offset = x - SILU_SLOPE_ZERO[0]
    if math.fabs(offset) <= 0.3:
        return (offset - SILU_SLOPE_ZERO[1]) * horner(SILU_SLOPE_SERIES, offset)
    if x < LN_SIGMOID_NORMAL:
        return scaled_exp(1.0 + x, x)
    e = math.exp(x)
    return ((1.0 + x) + e) * e / ((1.0 + e) * (1.0 + e))


def sigmoid(x: float) -> float:
    """1/(1 + exp(-x))."""
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)
