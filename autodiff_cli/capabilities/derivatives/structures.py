"""Structures of numbers: arrays, lists, tuples and dictionaries of them, taken apart and put
together again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from ...engine.graphs.value import Value, as_float, is_array


class ArrayShape(NamedTuple):
    """The shape of an array of numbers."""

    shape: tuple[int, ...]


# A list, tuple or dictionary of structures, an `ArrayShape`, or None for one number.
Structure = Any


def flatten(x: Any, what: str, numbers: list[Any]) -> Structure:
    """Return the structure of an argument, and add its numbers to a list."""
    if isinstance(x, Mapping):
        return {key: flatten(entry, what, numbers) for key, entry in x.items()}
    if isinstance(x, list | tuple):
        parts = [flatten(entry, what, numbers) for entry in x]
        return like(x, parts)
    if is_array(x):
        import numpy as np

        flat = np.asarray(x).reshape(-1)
        numbers.extend(
            entry if isinstance(entry, Value) else as_float(entry, what) for entry in flat
        )
        return ArrayShape(tuple(x.shape))
    numbers.append(x if isinstance(x, Value) else as_float(x, what))
    return None


def like(x: Any, parts: list[Any]) -> Any:
    """Return a list, or a tuple of the class of `x`, of some parts."""
    if isinstance(x, list):
        return parts
    return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)


def unflatten(structure: Structure, entries: Iterator[Any], numeric: bool) -> Any:
    """Return the structure with its numbers taken from `entries`; arrays hold floats if
    `numeric`.
    """
    if structure is None:
        return next(entries)
    if isinstance(structure, ArrayShape):
        import numpy as np

        count = 1
        for size in structure.shape:
            count *= size
        rows = list(islice(entries, count))
        return _stacked(np, rows, structure.shape, numeric)
    if isinstance(structure, Mapping):
        return {key: unflatten(part, entries, numeric) for key, part in structure.items()}
    return like(structure, [unflatten(part, entries, numeric) for part in structure])


def _stacked(np: Any, rows: list[Any], shape: tuple[int, ...], numeric: bool) -> Any:
    """Return an array of entries, each a number, an array, or a structure of these, which stays
    outside.
    """
    if set(map(type, rows)) <= {float}:
        return np.array(rows, dtype=float if numeric else object).reshape(shape)
    first: Any = rows[0]
    if isinstance(first, Mapping):
        return {key: _stacked(np, [row[key] for row in rows], shape, numeric) for key in first}
    if isinstance(first, list | tuple):
        parts = [_stacked(np, [row[k] for row in rows], shape, numeric) for k in range(len(first))]
        return like(first, parts)
    if is_array(first):
        return np.array(rows).reshape(shape + first.shape)
    if numeric and not any(isinstance(row, Value) for row in rows):
        return np.array(rows, dtype=float).reshape(shape)
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array.reshape(shape)
