"""Tables in memory: what has columns by name, and how such a table becomes one of Arrow and is made
again.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import point_error, require
from ..questions.figures import Figure

if TYPE_CHECKING:
    import pyarrow as pa

# The commands that answer about the rows of a table, in columns.
QUESTIONS = ("grad", "jacobian", "hessian")
KINDS = (
    "a dictionary of columns, a frame of pandas or Polars, an Arrow table, or a NumPy array with"
    " named fields"
)
ARROW = ("__arrow_c_stream__", "__arrow_c_array__")
NO_COLUMNS = (str, bytes, Mapping, Figure)


def is_frame(value: object) -> bool:
    """Return whether a value has columns by name."""
    if isinstance(value, Mapping):
        return any(map(_is_column, value.values()))
    if _is_lazy(value):
        return True
    return any(hasattr(value, attribute) for attribute in ARROW) or _field_names(value) is not None


def _is_lazy(value: object) -> bool:
    return type(value).__name__ == "LazyFrame" and type(value).__module__.startswith("polars")


def _is_column(value: object) -> bool:
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) == 1
    # a number of pint has the method of a length, and no dimensions
    return (
        hasattr(value, "__len__")
        and getattr(value, "ndim", 1) == 1
        and not isinstance(value, NO_COLUMNS)
    )


def _field_names(value: object) -> tuple[str, ...] | None:
    names: tuple[str, ...] | None = getattr(getattr(value, "dtype", None), "names", None)
    return names


def arrow_table(frame: Any) -> tuple[pa.Table, Callable[[pa.Table], Any]]:
    """Return a frame as an Arrow table, and a function from tables to such frames.

    The columns of a dictionary are then lists, NumPy or Arrow arrays as its first one.

    >>> table, restore = arrow_table({"x": [1.0, 2.0]})
    >>> table.num_rows, restore(table)
    (2, {'x': [1.0, 2.0]})
    """
    arrow = require("pyarrow", "data", "frames need pyarrow")
    if isinstance(frame, arrow.Table):
        return frame, lambda table: table
    if _is_lazy(frame):
        table, restore = arrow_table(frame.collect())
        return table, lambda answers: restore(answers).lazy()
    if isinstance(frame, arrow.RecordBatch):
        return arrow.Table.from_batches([frame]), lambda table: arrow.RecordBatch.from_arrays(
            [column.combine_chunks() for column in table.columns], schema=table.schema
        )
    try:
        converted = _converted(frame, arrow)
    except (arrow.ArrowException, ValueError, TypeError) as error:
        raise point_error(f"the columns cannot be read: {error}", f"give {KINDS}") from None
    if converted is None:
        raise point_error(f"this is a {type(frame).__name__}, not a frame", f"give {KINDS}")
    return converted


def _converted(frame: Any, arrow: Any) -> tuple[pa.Table, Callable[[pa.Table], Any]] | None:
    """Return a frame of another library or a dictionary as an Arrow table, and what makes such a
    frame of one.
    """
    libraries = [
        kind.__module__.partition(".")[0]
        for kind in type(frame).__mro__
        if kind.__name__ == "DataFrame"
    ]
    if libraries[:1] == ["pandas"]:
        table = arrow.Table.from_pandas(frame, preserve_index=False)
        return table, lambda table: table.to_pandas().set_index(frame.index)
    if libraries[:1] == ["polars"]:
        return arrow.table(frame), sys.modules["polars"].from_arrow
    names = _field_names(frame)
    if isinstance(frame, Mapping) or names is not None:
        columns = dict(frame) if names is None else {name: frame[name] for name in names}
        from ..compiled.columns_io import common_length

        common_length(columns)
        return arrow.table(columns), partial(_restore_columns, frame)
    if any(hasattr(frame, attribute) for attribute in ARROW):
        return arrow.table(frame), lambda table: table
    return None


def with_notes(table: Any, notes: Sequence[str], *, warn: bool = False) -> Any:
    """Return a table with notes: in the metadata of its Arrow schema, in `attrs`, or in its
    attribute `notes`.
    """
    if not notes:
        return table
    for note in notes if warn else ():
        warnings.warn(note, UserWarning, stacklevel=_level_of_caller())
    if isinstance(attributes := getattr(table, "attrs", None), dict):
        attributes["notes"] = list(notes)
    elif type(table).__module__.startswith("polars"):
        table.notes = list(notes)
    if hasattr(table, "replace_schema_metadata"):
        metadata = {**(table.schema.metadata or {}), b"autodiff.notes": "\n".join(notes).encode()}
        return table.replace_schema_metadata(metadata)
    return table


def _level_of_caller() -> int:
    """Return the frames from a warning to the caller of this package."""
    package, level = __name__.partition(".")[0], 1
    frame = sys._getframe(1)
    while (
        frame.f_back is not None
        and str(frame.f_globals.get("__name__")).partition(".")[0] == package
    ):
        frame, level = frame.f_back, level + 1
    return level


def _restore_columns(frame: Any, table: pa.Table) -> Any:
    import numpy as np
    import pyarrow as pa

    first = next(iter(frame.values()), []) if isinstance(frame, Mapping) else frame
    if isinstance(first, pa.Array | pa.ChunkedArray):
        return dict(zip(table.column_names, table.columns, strict=True))
    if not hasattr(first, "dtype"):
        return table.to_pydict()
    columns = {name: table[name].to_numpy() for name in table.column_names}
    if isinstance(frame, Mapping):
        return columns
    array = np.empty(table.num_rows, [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        array[name] = column
    return array


def fixed_and_columns(frame: Any) -> tuple[dict[str, Any], Any]:
    """Return the constants of a dictionary, and its columns.

    >>> fixed_and_columns({"x": [1.0, 2.0], "y": 3})
    ({'y': 3}, {'x': [1.0, 2.0]})
    """
    if not isinstance(frame, Mapping):
        return {}, frame
    columns = {name: column for name, column in frame.items() if _is_column(column)}
    return {name: value for name, value in frame.items() if name not in columns}, columns
