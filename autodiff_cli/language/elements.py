"""Names of the entries of lists: `w[1]`, `W[2,3]`."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any


def element_name(name: str, index: Sequence[int]) -> str:
    """Return the name of an entry: `w[1]`, `W[2,3]`."""
    return f"{name}[{','.join(map(str, index))}]"


def parse_name(name: str) -> tuple[str, tuple[int, ...]] | None:
    """Return the list and the indices in the name of an entry, else None."""
    base, opened, inside = name.partition("[")
    indices = inside[:-1].split(",")
    if not (base and opened and inside[-1:] == "]" and len(indices) < 3):
        return None
    if not all(k.isascii() and k.isdigit() and k[0] != "0" and len(k) < 10 for k in indices):
        return None
    return base, tuple(map(int, indices))


def shapes_of(names: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the lists whose entries are all among names."""
    indices: dict[str, set[tuple[int, ...]]] = {}
    for name in names:
        entry = parse_name(name) if name[-1:] == "]" else None
        if entry is not None:
            indices.setdefault(entry[0], set()).add(entry[1])
    shapes = {}
    for name, entries in indices.items():
        if len({len(index) for index in entries}) == 1:
            shape = tuple([max(column) for column in zip(*entries, strict=True)])
            if math.prod(shape) == len(entries):
                shapes[name] = shape
    return shapes


def nest(values: Mapping[str, Any], others: Collection[str] = ()) -> dict[str, Any]:
    """Return values with entries as lists: `{"w": [1, 2]}` for `{"w[1]": 1, "w[2]": 2}`.

    A list of which some entry is only among the `others` keeps the names of its entries.
    """
    in_parts = {name.partition("[")[0] for name in others if name not in values}
    shapes = {name: shape for name, shape in shapes_of(values).items() if name not in in_parts}
    result: dict[str, Any] = {}
    for name, value in values.items():
        entry = parse_name(name)
        if entry is None or entry[0] not in shapes or entry[0] in values:
            result[name] = value
        elif entry[0] not in result:
            result[entry[0]] = _fill(entry[0], shapes[entry[0]], values, ())
    return result


def _fill(
    name: str, shape: Sequence[int], values: Mapping[str, Any], index: tuple[int, ...]
) -> Any:
    if not shape:
        return values[element_name(name, index)]
    return [_fill(name, shape[1:], values, (*index, k)) for k in range(1, shape[0] + 1)]


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def flatten(name: str, value: object) -> dict[str, Any] | str:
    """Return the entries of a list, or list of rows, by name, or an error as text."""
    rows: Any = value.tolist() if hasattr(value, "tolist") else value
    if not _is_list(rows) or not rows:
        return "a list has at least one entry"
    if not any(map(_is_list, rows)):
        return {element_name(name, (k,)): entry for k, entry in enumerate(rows, start=1)}
    lengths = {len(row) if _is_list(row) else 0 for row in rows}
    if len(lengths) > 1 or 0 in lengths:
        return "its rows do not have the same length"
    if any(map(_is_list, chain(*rows))):
        return "lists are nested twice at most"
    return {
        element_name(name, (i, k)): entry
        for i, row in enumerate(rows, start=1)
        for k, entry in enumerate(row, start=1)
    }


def point_text(texts: Mapping[str, str]) -> str:
    """Return a point as typed, in quotation marks for lists or units."""
    text = ",".join(f"{name}={value}" for name, value in list_texts(texts, ",").items())
    return f'"{text}"' if "[" in text or " " in text else text


def list_texts(texts: Mapping[str, str], comma: str = ", ") -> dict[str, str]:
    """Return texts by name, the entries of a list as one: `[1, 2]`."""
    return {name: _list_text(value, comma) for name, value in nest(texts).items()}


def _list_text(value: Any, comma: str) -> str:
    return (
        f"[{comma.join(_list_text(item, comma) for item in value)}]"
        if isinstance(value, list)
        else value
    )


def nested_record(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with entries as lists, in all of its parts that have all entries of a
    list.
    """
    nested: dict[str, Any] = _nested(record, frozenset(_entries_in(record)))
    return nested


def _entries_in(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        yield from (name for name in part if name[-1:] == "]" and parse_name(name) is not None)
        part = part.values()
    elif type(part) is not list:
        return
    for item in part:
        yield from _entries_in(item)


def _nested(part: Any, entries: Collection[str]) -> Any:
    if isinstance(part, dict):
        return nest({name: _nested(item, entries) for name, item in part.items()}, entries)
    return [_nested(item, entries) for item in part] if type(part) is list else part


def has_elements(record: Mapping[str, object]) -> bool:
    """Return whether some part of a record has names of entries."""
    return any(
        (isinstance(value, dict) and ("]" in "".join(value) or has_elements(value)))
        or (
            type(value) is list
            and any(isinstance(item, dict) and has_elements(item) for item in value)
        )
        for value in record.values()
    )


def expand(wanted: Sequence[str], names: Collection[str]) -> list[str]:
    """Return the wanted names; an unknown list stands for its entries."""
    entries = {
        name: [other for other in names if other.startswith(f"{name}[")]
        for name in wanted
        if name not in names
    }
    return [entry for name in wanted for entry in entries.get(name) or [name]]


def underscored(name: str) -> str:
    """Return the name of an entry without brackets: `w_1`, `W_2_3`."""
    return name.replace("[", "_").replace(",", "_").replace("]", "")


def split_names(text: str) -> list[str]:
    """Return the names between commas, except commas of indices."""
    names = [""]
    for piece in text.split(","):
        if names[-1].count("[") > names[-1].count("]"):
            names[-1] += "," + piece.strip()
        else:
            names.append(piece.strip())
    return names[1:]
