"""Backends of the run in doubles, and the only place where one of them is chosen.

One point goes to a backend `first`: `doubles` runs over the rows that the reader wrote, and back over a graph of
Values; an evaluator compiles a program that is asked for again and again. They give what
the sweep over a graph gives and leave to it all that there is anything to say about: errors, kinks, infinite numbers.
Blocks of rows take the `fastest` way that the machine and the program have, and leave rows to the sweep likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from ..errors import ExpressionError
from ..numbers.budget import BudgetExceeded
from .sweep import NodeError

BackendResult = TypeVar("BackendResult")
Backend = TypeVar("Backend")

LEFT = (KeyError, ValueError, ArithmeticError, NodeError, BudgetExceeded)
"""The errors by which a backend leaves the work to the sweep; it may also return None."""


def with_fallback(
    backend: Callable[..., BackendResult | None], sweep: Callable[..., BackendResult], *asked: object
) -> BackendResult:
    """Return the result of a backend, or of the sweep if the backend leaves the work to it."""
    try:
        result = backend(*asked)
    except LEFT:
        result = None
    return sweep(*asked) if result is None else result


class Unavailable(Exception):
    """A backend cannot be had, and why."""


class Chosen(NamedTuple):
    """The name of a backend that can be had, and why the one before it cannot, empty for the first."""

    name: str
    why: str


def fastest(ways: Mapping[str, Callable[[], Backend]], wanted: str | None) -> tuple[Backend, Chosen]:
    """Return the result of the first backend that is available, or of the one with the given name.

    A way raises `Unavailable`; the last one does not. Raises a usage error for a wanted one that cannot be had.
    """
    why = ""
    for name, make in ways.items():
        if wanted in (None, name):
            try:
                return make(), Chosen(name, why)
            except Unavailable as lacking:
                why = str(lacking)
    raise ExpressionError("usage", f"`--backend {wanted}` cannot be had: {why}", hint="leave the option out")
