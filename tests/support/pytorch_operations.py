"""What PyTorch calls the operations of the table; importing it needs PyTorch."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn import functional as F


def _stacked(reduce: Any) -> Any:
    return lambda *xs: reduce(torch.stack(xs))


PYTORCH: dict[str, Any] = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "pow": torch.pow, "neg": torch.neg,
    "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge, "eq": torch.eq, "ne": torch.ne,
    "and_": torch.logical_and, "or_": torch.logical_or, "not_": torch.logical_not, "where": torch.where,
    **{name: getattr(torch, name) for name in (
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "abs", "sign", "floor", "ceil", "round",
        "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
        "sigmoid", "logaddexp", "logit", "erf", "erfc", "erfinv", "lgamma", "digamma", "sinc", "relu",
    )},
    "deg": torch.rad2deg, "rad": torch.deg2rad,
    "gelu": F.gelu, "silu": F.silu, "softplus": lambda x: F.softplus(x, threshold=math.inf), "softsign": F.softsign,
    "leaky_relu": lambda x, slope: torch.where(x > 0, x, slope * x),
    "elu": lambda x, alpha: torch.where(x > 0, x, alpha * torch.expm1(x)),
    "clamp": lambda x, low, high: torch.minimum(torch.maximum(x, low), high),
    "sum": _stacked(torch.sum), "mean": _stacked(torch.mean), "prod": _stacked(torch.prod),
    "min": _stacked(torch.amin), "max": _stacked(torch.amax),
    "hypot": _stacked(torch.linalg.vector_norm),
    "logsumexp": _stacked(lambda xs: torch.logsumexp(xs, 0)),
}  # fmt: skip
