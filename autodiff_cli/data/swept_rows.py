"""The points of sweeps as rows of data, which no file has, and each row of a file at all of these points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..errors import ExpressionError, point_error
from ..inputs.sweeps import Grid
from .readers import FEW_ROWS, ROWS, Chunk, Fragment, Reader, Selection
from .sources import Source
from .text_rows import TextRow

SWEEP = Source("the sweep", None, None)


class SweptPoints(Reader):
    """The points of a grid: a column for each name that is swept."""

    def __init__(self, grid: Grid) -> None:
        super().__init__(SWEEP, False)
        self.grid, self.names, self.total = grid, tuple(grid.axes), grid.size

    @property
    def size(self) -> int:
        return 0

    def is_short(self, times: int = 1) -> bool:
        return self.grid.size * times <= FEW_ROWS

    def field(self, name: str, is_number: bool) -> Any:
        import pyarrow as pa

        return pa.field(name, pa.float64())

    def rows(self) -> Iterator[TextRow]:
        return ((k, point, None) for k, point in enumerate(self.grid.points(), start=1))

    def chunks(self, fragment: Fragment | None = None) -> Iterator[Chunk]:
        import numpy as np
        import pyarrow as pa

        schema = self.selection.schema
        for start in range(0, self.grid.size, ROWS):
            columns = self.grid.columns(start, min(start + ROWS, self.grid.size))
            # of arrays pyarrow makes columns without a look at each number
            arrays = [pa.array(np.array(columns[name])) for name in schema.names]
            batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
            yield Chunk(batch, lambda row: "", {}, batch.nbytes)

    def close(self) -> None:
        pass


class Crossed(Reader):
    """The rows of a file, each at all points of a grid, whose last sweep varies fastest."""

    def __init__(self, inner: Reader, grid: Grid) -> None:
        """Raises `ExpressionError` where a column has the name of a sweep."""
        super().__init__(inner.source, False)
        self.inner, self.grid = inner, grid
        for name in grid.axes:
            if name in inner.names:
                inner.close()
                message = f"`{name}` is swept, and is a column of {inner.source.name}"
                raise point_error(message, "leave one of them out, or rename the column")
        self.names = (*inner.names, *grid.axes)
        self.types, self.units, self.summary = inner.types, inner.units, inner.summary
        self.rows_name_columns = inner.rows_name_columns
        self.total = None if inner.total is None else inner.total * grid.size

    def is_short(self, times: int = 1) -> bool:
        return self.inner.is_short(times * self.grid.size)

    def field(self, name: str, is_number: bool) -> Any:
        import pyarrow as pa

        return pa.field(name, pa.float64()) if name in self.grid.axes else self.inner.field(name, is_number)

    def select(self, numbers: Sequence[str], kept: Sequence[str]) -> None:
        super().select(numbers, kept)
        self.inner.select(self._of_file(numbers), self._kept_of_file(kept))

    def select_as(self, first: Selection) -> None:
        schema = [field for field in first.schema if field.name not in self.grid.axes]
        self.inner.select_as(Selection(self._of_file(first.numbers), self._of_file(first.kept), schema, first.file))
        self.inner.select(self.inner.selection.numbers, self._kept_of_file(self.inner.selection.kept))
        self.selection = first

    def _of_file(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name not in self.grid.axes]

    def _kept_of_file(self, names: Sequence[str]) -> list[str]:
        """The columns to keep; where each row names its own, those of the sweeps too, which no row may have."""
        return [*self._of_file(names), *(self.grid.axes if self.rows_name_columns else ())]

    def rows(self) -> Iterator[TextRow]:
        for line, cells, fault in self.inner.rows():
            own = [name for name in self.grid.axes if cells.get(name) is not None] if cells else []
            for point in self.grid.points():
                yield line, {**cells, **point}, fault or (_swept_too(own[0]) if own else None)

    def numbers_in(self, row: TextRow, columns: Sequence[str]) -> tuple[dict[str, float], ExpressionError | None]:
        numbers, fault = self.inner.numbers_in(row, self._of_file(columns))
        swept: Any = {name: row[1][name] for name in self.grid.axes}
        return {**numbers, **swept}, fault

    def chunks(self, fragment: Fragment | None = None) -> Iterator[Chunk]:
        import numpy as np
        import pyarrow as pa

        size, schema = self.grid.size, self.selection.schema

        def arrays(start: int, stop: int) -> dict[str, Any]:
            return {name: np.array(column) for name, column in self.grid.columns(start, stop).items()}

        def places(where: Callable[[int], str], row: int, count: int) -> Callable[[int], str]:
            return lambda k: where(row + k // count)

        whole = arrays(0, size) if size <= ROWS else {}
        together = max(1, ROWS // size)
        for chunk in self.inner.chunks(fragment):
            read = chunk.size
            own = self._with_own_values(chunk)
            for row in range(0, chunk.batch.num_rows, together):
                part = chunk.batch.slice(row, together)
                for start in range(0, size, ROWS):
                    points = whole or arrays(start, min(start + ROWS, size))
                    count = min(size - start, ROWS)
                    again = pa.array(np.repeat(np.arange(part.num_rows), count))
                    columns = [
                        pa.array(np.tile(points[name], part.num_rows))
                        if name in points
                        else part.column(name).take(again)
                        for name in schema.names
                    ]
                    faults = {
                        (k - row) * count + point: fault
                        for k, fault in (own | dict(chunk.faults)).items()
                        if row <= k < row + part.num_rows
                        for point in range(count)
                    }
                    batch = pa.RecordBatch.from_arrays(columns, schema=schema)
                    yield Chunk(batch, places(chunk.where, row, count), faults, read)
                    read = 0

    def _with_own_values(self, chunk: Chunk) -> dict[int, ExpressionError]:
        """What is wrong with the rows that give a swept name a value."""
        faults: dict[int, ExpressionError] = {}
        for name in self.grid.axes if self.rows_name_columns else ():
            column = chunk.batch.column(name)
            if column.null_count < len(column):
                faults |= {k: _swept_too(name) for k, is_value in enumerate(column.is_valid().to_pylist()) if is_value}
        return faults

    def fragments(self) -> list[Fragment | None]:
        return self.inner.fragments()

    def close(self) -> None:
        self.inner.close()


def _swept_too(name: str) -> ExpressionError:
    return point_error(f"`{name}` is swept, and this row gives it a value", "leave one of them out")


def crossing(grid: Grid | None) -> Callable[[Reader], Reader]:
    """Return what combines the rows of a file with the points of a grid; without one it leaves them as they are."""
    return lambda file: file if grid is None else Crossed(file, grid)
