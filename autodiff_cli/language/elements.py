"""Names of the entries of lists: `w[1]`, `W[2,3]`."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any


def element_name(name: str, index: Sequence[int]) -> str:
    """The name of an entry: `w[1]`, `W[2,3]`."""
    return f"{name}[{','.join(map(str, index))}]"


def element(name: str) -> tuple[str, tuple[int, ...]] | None:
    """The list and the indices that the name of an entry has; None for any other name."""
    base, opened, inside = name.partition("[")
    indices = inside[:-1].split(",")
    if not (base and opened and inside[-1:] == "]" and len(indices) < 3):
        return None
    if not all(k.isascii() and k.isdigit() and k[0] != "0" and len(k) < 10 for k in indices):
        return None
    return base, tuple(map(int, indices))


def shapes_of(names: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """The shapes of the lists whose entries are all among the names."""
    indices: dict[str, set[tuple[int, ...]]] = {}
    for name in names:
        entry = element(name) if name[-1:] == "]" else None
        if entry is not None:
            indices.setdefault(entry[0], set()).add(entry[1])
    shapes = {}
    for name, entries in indices.items():
        if len({len(index) for index in entries}) == 1:
            shape = tuple([max(column) for column in zip(*entries, strict=True)])
            if math.prod(shape) == len(entries):
                shapes[name] = shape
    return shapes


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name, those of the entries of a list together: `{"w": [1, 2]}` for `{"w[1]": 1, "w[2]": 2}`."""
    if not any(name[-1:] == "]" for name in values):
        return dict(values)
    shapes, result = shapes_of(values), {}
    for name, value in values.items():
        entry = element(name)
        if entry is None or entry[0] not in shapes or entry[0] in values:
            result[name] = value
        elif entry[0] not in result:
            result[entry[0]] = _filled(entry[0], shapes[entry[0]], values, ())
    return result


def _filled(name: str, shape: Sequence[int], values: Mapping[str, Any], index: tuple[int, ...]) -> Any:
    if not shape:
        return values[element_name(name, index)]
    return [_filled(name, shape[1:], values, (*index, k)) for k in range(1, shape[0] + 1)]


def flattened(name: str, value: object) -> dict[str, Any] | str:
    """The entries of a list, or of a list of rows, by their names; a text says what is wrong with it."""
    rows: Any = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(rows, list | tuple) or not rows:
        return "a list has at least one entry"
    if not any(isinstance(row, list | tuple) for row in rows):
        return {element_name(name, (k,)): entry for k, entry in enumerate(rows, start=1)}
    lengths = [len(row) if isinstance(row, list | tuple) else 0 for row in rows]
    if len({*lengths}) > 1 or not lengths[0]:
        return "its rows do not have the same length"
    if any(isinstance(entry, list | tuple) for row in rows for entry in row):
        return "lists are nested twice at most"
    return {
        element_name(name, (i, k)): entry for i, row in enumerate(rows, start=1) for k, entry in enumerate(row, start=1)
    }


def listed(names: Iterable[str]) -> list[str]:
    """Names, those of a list's entries as the name of the list."""
    return [*nested(dict.fromkeys(names))]


def point_text(texts: Mapping[str, str]) -> str:
    """A point as it is typed, in quotation marks where there are lists or units in it."""
    text = ",".join(f"{name}={value}" for name, value in list_texts(texts, ",").items())
    return f'"{text}"' if "[" in text or " " in text else text


def list_texts(texts: Mapping[str, str], comma: str = ", ") -> dict[str, str]:
    """Texts by name, those of the entries of a list as one: `[1, 2]`."""
    return {name: _list_text(value, comma) for name, value in nested(texts).items()}


def _list_text(value: Any, comma: str) -> str:
    return f"[{comma.join(_list_text(item, comma) for item in value)}]" if isinstance(value, list) else value


def nested_record(value: Any) -> Any:
    """A record in which the values of a list's entries stand together, in all of its parts."""
    if isinstance(value, dict):
        return nested({name: nested_record(item) for name, item in value.items()})
    return [nested_record(item) for item in value] if type(value) is list else value


def has_elements(record: Mapping[str, object]) -> bool:
    """Whether some part of a record has the names of entries."""
    point = record.get("point")
    if type(point) is dict:
        # all variables are in a point; this is asked of each record of a stream
        return "]" in "".join(point)
    return any(
        (isinstance(value, dict) and (any(name[-1:] == "]" for name in value) or has_elements(value)))
        or (type(value) is list and any(isinstance(item, dict) and has_elements(item) for item in value))
        for value in record.values()
    )


def expanded(wanted: Sequence[str], names: Collection[str]) -> list[str]:
    """The wanted names; a list that is none of `names` stands for its entries."""
    entries = {name: [other for other in names if other.startswith(f"{name}[")] for name in wanted if name not in names}
    return [entry for name in wanted for entry in entries.get(name) or [name]]


def underscored(name: str) -> str:
    """The name of an entry without brackets: `w_1`, `W_2_3`."""
    return name.replace("[", "_").replace(",", "_").replace("]", "")


def split_names(text: str) -> list[str]:
    """The names between commas; those of indices do not split."""
    names = [""]
    for piece in text.split(","):
        if names[-1].count("[") > names[-1].count("]"):
            names[-1] += "," + piece.strip()
        else:
            names.append(piece.strip())
    return names[1:]
