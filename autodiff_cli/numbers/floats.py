"""REAL: Python's floats as a number type, the default."""

from __future__ import annotations

import math

from . import real
from .base import NumberType


class Real(NumberType):
    """Double precision, each function as accurate as `real` makes it."""

    name = "real"
    pi = math.pi
    e = math.e
    tolerance = 1e-13

    def __init__(self) -> None:
        # The functions become attributes of the instance: the sweeps look them up once a node.
        self.__dict__.update({name: f for name, f in vars(real).items() if callable(f) and not name.startswith("_")})
        self.__dict__.update(finite=math.isfinite, literal=_literal, number=float)


def _literal(text: str) -> float:
    """The double nearest to a literal, or to a named constant."""
    return math.e if text == "e" else math.pi if text in ("pi", "π") else float(text)


REAL = Real()
