"""Frames of several libraries as Arrow tables, and answers as frames of the same kind."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..batched.columns_io import common_length
from ..errors import needed, point_error

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = "a dictionary of columns, a frame of pandas or Polars, an Arrow table, or a NumPy array with named fields"


ARROW = ("__arrow_c_stream__", "__arrow_c_array__")
"""The methods of what gives its columns to Arrow."""


def is_frame(value: object) -> bool:
    """Return whether this holds columns by name, rather than one number for each name."""
    if isinstance(value, Mapping):
        return any(map(_is_column, value.values()))
    return any(hasattr(value, attribute) for attribute in ARROW) or _field_names(value) is not None


def _is_column(value: object) -> bool:
    shape = getattr(value, "shape", None)
    return len(shape) == 1 if shape is not None else hasattr(value, "__len__") and not isinstance(value, NO_COLUMNS)


NO_COLUMNS = (str, bytes, Mapping)


def _field_names(value: object) -> tuple[str, ...] | None:
    """Return the names of the fields of a structured NumPy array."""
    names: tuple[str, ...] | None = getattr(getattr(value, "dtype", None), "names", None)
    return names


def arrow_table(frame: Any) -> tuple[pa.Table, Callable[[pa.Table], Any]]:
    """The columns of a frame as an Arrow table, and what makes a frame of the same kind of another table.

    A pandas index is kept, and the columns of a dictionary are lists, NumPy arrays or Arrow arrays as its first one is.
    Raises `ExpressionError` for what is no frame. Needs the extra `data`.

    >>> table, restore = arrow_table({"x": [1.0, 2.0]})
    >>> table.num_rows, restore(table)
    (2, {'x': [1.0, 2.0]})
    """
    arrow = needed("pyarrow", "data", "frames need pyarrow")
    if isinstance(frame, arrow.Table):
        return frame, lambda table: table
    if isinstance(frame, arrow.RecordBatch):
        return arrow.Table.from_batches([frame]), _one_batch
    frames = [kind.__module__.partition(".")[0] for kind in type(frame).__mro__ if kind.__name__ == "DataFrame"]
    library = frames[0] if frames else ""
    names = _field_names(frame)
    try:
        if library == "pandas":
            table = arrow.Table.from_pandas(frame, preserve_index=False)
            return table, lambda table: table.to_pandas().set_index(frame.index)
        if library == "polars":
            return arrow.table(frame), sys.modules["polars"].from_arrow
        if isinstance(frame, Mapping) or names is not None:
            columns = dict(frame) if names is None else {name: frame[name] for name in names}
            common_length(columns)
            first: Any = next(iter(columns.values()), [])
            return arrow.table(columns), _structured if names is not None else lambda table: _dictionary(table, first)
        if any(hasattr(frame, attribute) for attribute in ARROW):
            return arrow.table(frame), lambda table: table
    except (arrow.ArrowException, ValueError, TypeError) as error:
        raise point_error(f"the columns cannot be read: {error}", f"give {KINDS}") from None
    raise point_error(f"this is a {type(frame).__name__}, and no frame", f"give {KINDS}")


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    import pyarrow as pa

    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def _dictionary(table: pa.Table, first: Any) -> dict[str, Any]:
    """Return a dictionary of columns as the first one is: an Arrow array, a NumPy array or a list."""
    import pyarrow as pa

    if isinstance(first, pa.Array | pa.ChunkedArray):
        return dict(zip(table.column_names, table.columns, strict=True))
    if hasattr(first, "dtype"):
        return {name: table[name].to_numpy() for name in table.column_names}
    columns: dict[str, Any] = table.to_pydict()
    return columns


def _structured(table: pa.Table) -> Any:
    import numpy as np

    columns = {name: table[name].to_numpy() for name in table.column_names}
    array = np.empty(table.num_rows, [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        array[name] = column
    return array


def fixed_and_columns(frame: Any) -> tuple[dict[str, Any], Any]:
    """The names that have one value for all rows of a dictionary, and the rest of it; of other frames there are none.

    >>> fixed_and_columns({"x": [1.0, 2.0], "y": 3})
    ({'y': 3}, {'x': [1.0, 2.0]})
    """
    if not isinstance(frame, Mapping):
        return {}, frame
    columns = {name: column for name, column in frame.items() if _is_column(column)}
    return {name: value for name, value in frame.items() if name not in columns}, columns
