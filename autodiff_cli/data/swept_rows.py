"""The points of sweeps as rows of data, which no file has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..inputs.sweeps import Grid
from .readers import FEW_ROWS, ROWS, Chunk, Fragment, Reader
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

    @property
    def is_short(self) -> bool:
        return self.grid.size <= FEW_ROWS

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
