"""Derivatives by the entries of lists, in the shapes of the lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ByEntry(dict[str, Any]):
    """Derivatives by name, and by the name of a list, whose entries `x[1]`, `x[2]` have names, in
    the shape of it.
    """

    arrays: frozenset[str] = frozenset()
    """The lists that were arrays of NumPy."""
    known: Mapping[str, Any] = {}
    """The point, which has all entries of the lists."""

    def __missing__(self, name: str) -> Any:
        entries = {_place_of(key): x for key, x in self.items() if key.startswith(f"{name}[")}
        if not entries:
            raise KeyError(name)
        places = [_place_of(key) for key in (*self.known, *self) if key.startswith(f"{name}[")]
        shape = tuple(map(max, zip(*places, strict=True)))
        rows = _nested(entries, shape, ())
        if rows is None:
            raise KeyError(f"{name}: there are no derivatives by some of its entries")
        if name in self.arrays:
            import numpy as np

            return np.array(rows)
        return rows


def _place_of(name: str) -> tuple[int, ...]:
    return tuple(map(int, name[name.index("[") + 1 : -1].split(",")))


def _nested(
    entries: Mapping[tuple[int, ...], Any], shape: tuple[int, ...], place: tuple[int, ...]
) -> Any:
    """Return the entries as lists of lists; None if one is missing."""
    if not shape:
        return entries.get(place)
    parts = [_nested(entries, shape[1:], (*place, k)) for k in range(1, shape[0] + 1)]
    return None if any(part is None for part in parts) else parts
