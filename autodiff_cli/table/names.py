"""Names of the table in the hands of others: what a target or a kind of number has of its own for an operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from . import primitives as primitives
from .primitive import OPERATIONS

Own = TypeVar("Own")


def by_name(own: Mapping[str, Own]) -> dict[str, Own]:
    """A table by operation of what a target or a number type has of its own: a spelling, a method.

    What is true of an operation wherever it is used is no one's own: it belongs to its row. Raises KeyError for a name
    that is not in the table.
    """
    return {OPERATIONS[name].name: mine for name, mine in own.items()}


def native(names: str) -> dict[str, str]:
    """Operations that a library has under the very names of the table. Raises KeyError for one that is not there."""
    return by_name({name: name for name in names.split()})


OF_ONE_DIMENSION = frozenset(
    ["add", "sub", "neg", "abs", "sum", "mean", "min", "max", "hypot", "relu", "clamp", "where"]
)
"""Operations whose inputs are all of one dimension, which is that of the result."""

COMPARES_DIMENSIONS = frozenset(["atan2", "lt", "le", "gt", "ge", "eq", "ne"])
"""Operations whose inputs are all of one dimension, and whose result is a number or a condition."""

OF_CONDITIONS = frozenset(["and_", "or_", "not_"])
"""Operations of conditions, by the names of the methods of a number type."""
