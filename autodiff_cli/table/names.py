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
