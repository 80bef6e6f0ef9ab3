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


def is_frame(value: object) -> bool:
    """Whether this holds columns by name, rather than one number for each name."""
    if isinstance(value, Mapping):
        return any(map(_is_column, value.values()))
    return any(hasattr(value, attribute) for attribute in ARROW) or _field_names(value) is not None


def _is_column(value: object) -> bool:
    shape = getattr(value, "shape", None)
    return len(shape) == 1 if shape is not None else hasattr(value, "__len__") and not isinstance(value, NO_COLUMNS)


ARROW = ("__arrow_c_stream__", "__arrow_c_array__")
"""The methods of what gives its columns to Arrow."""

NO_COLUMNS = (str, bytes, Mapping)


def _field_names(value: object) -> tuple[str, ...] | None:
    """The names of the fields of a structured NumPy array."""
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
        return frame, _same
    if isinstance(frame, arrow.RecordBatch):
        return arrow.Table.from_batches([frame]), _one_batch
    library = next(
        (kind.__module__.partition(".")[0] for kind in type(frame).__mro__ if kind.__name__ == "DataFrame"), ""
    )
    try:
        if library == "pandas":
            index = frame.index
            return arrow.Table.from_pandas(frame, preserve_index=False), lambda table: table.to_pandas().set_index(
                index
            )
        if library == "polars":
            return arrow.table(frame), sys.modules["polars"].from_arrow
        if isinstance(frame, Mapping):
            return _of_columns(frame, arrow)
        if (names := _field_names(frame)) is not None:
            return _of_columns({name: frame[name] for name in names}, arrow)[0], _structured
        if any(hasattr(frame, attribute) for attribute in ARROW):
            return arrow.table(frame), _same
    except (arrow.ArrowException, ValueError, TypeError) as error:
        raise point_error(f"the columns cannot be read: {error}", f"give {KINDS}") from None
    raise point_error(f"this is a {type(frame).__name__}, and no frame", f"give {KINDS}")


def _same(table: pa.Table) -> pa.Table:
    return table


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    import pyarrow as pa

    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def _of_columns(columns: Mapping[str, Any], arrow: Any) -> tuple[pa.Table, Callable[[pa.Table], Any]]:
    first: Any = next(iter(columns.values()), [])
    common_length(columns)
    table = arrow.table(dict(columns))
    if isinstance(first, arrow.Array | arrow.ChunkedArray):
        return table, lambda answers: dict(zip(answers.column_names, answers.columns, strict=True))
    return table, _numpy_columns if hasattr(first, "dtype") else lambda answers: answers.to_pydict()


def _numpy_columns(table: pa.Table) -> dict[str, Any]:
    return {name: table[name].to_numpy() for name in table.column_names}


def _structured(table: pa.Table) -> Any:
    import numpy as np

    columns = _numpy_columns(table)
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
