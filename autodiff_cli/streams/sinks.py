"""Where batches of answers go: files that are written whole or not at all, and standard output."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import IO, Any

from ..errors import ExpressionError
from ..views.formats import Asked, carried, disarmed, lacking
from ..views.wide import WIDE, Values, wide

GROUP = 262_144
"""Rows of a group of Parquet, at least: smaller ones make for much that is said of each."""


GROUP_BYTES = 64 * 1024 * 1024
"""Bytes that are held for a group, at most, whatever texts are carried along."""


class Sink(ABC):
    """Takes batches of answers, one after the other."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        self.file, self.schema = file, schema

    @abstractmethod
    def write(self, batch: Any) -> None:
        """Write a batch."""

    @abstractmethod
    def close(self) -> None:
        """Write what comes after the last one."""

    def drop(self) -> None:  # noqa: B027 - most hold nothing
        """Write no more: the file is given up."""


def _direct(file: IO[bytes]) -> Any:
    """The file as pyarrow itself writes it; through Python all would be copied once more."""
    import pyarrow as pa

    name = getattr(file, "name", None)
    if not (isinstance(name, str) and os.path.isfile(name)):
        return file
    return pa.OSFile(name, "wb")


class ParquetSink(Sink):
    """Parquet: doubles as they are, what is carried along by dictionaries.

    LZ4 is for columns that it makes smaller, as most doubles are not: the first group of rows shows which.
    """

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        super().__init__(file, schema)
        self.direct = _direct(file)
        self.writer: Any = None
        self.held: list[Any] = []
        self.rows = self.size = 0

    def write(self, batch: Any) -> None:
        self.held.append(batch)
        self.rows += batch.num_rows
        self.size += batch.nbytes
        if self.rows >= GROUP or self.size >= GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write a group of rows."""
        import pyarrow as pa

        table = pa.Table.from_batches(self.held, self.schema)
        if self.writer is None:
            import pyarrow.parquet as parquet

            doubles = [field.name for field in self.schema if pa.types.is_floating(field.type)]
            packed = {
                name: "none" if name in doubles and not _shrinks(table[name]) else "lz4"
                for name in table.column_names
            }  # fmt: skip
            self.writer = parquet.ParquetWriter(
                self.direct, self.schema, compression=packed, write_batch_size=8192,
                use_dictionary=[name for name in table.column_names if name not in doubles],
            )  # fmt: skip
        if self.rows:
            self.writer.write_table(table, row_group_size=self.rows)
        self.held, self.rows, self.size = [], 0, 0

    def close(self) -> None:
        self.flush()
        self.writer.close()
        self.direct.flush()

    def drop(self) -> None:
        # it would try to end the file when it is collected
        if self.writer is not None:
            self.writer.is_open = False


def _shrinks(column: Any) -> bool:
    """Whether LZ4 makes a column of numbers smaller by a twentieth, which is worth the time to read it again."""
    import pyarrow as pa

    before = after = 0
    for chunk in column.chunks:
        width = chunk.type.bit_width // 8
        data = chunk.buffers()[1].slice(chunk.offset * width, len(chunk) * width)
        before += data.size
        after += pa.compress(data, codec="lz4").size
    return after < 0.95 * before


class ArrowSink(Sink):
    """Arrow: a file of batches, or on standard output a stream of them."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        super().__init__(file, schema)
        import pyarrow as pa

        begin = pa.ipc.new_file if file.seekable() else pa.ipc.new_stream
        self.direct = _direct(file)
        self.writer = begin(self.direct, schema)

    def write(self, batch: Any) -> None:
        self.writer.write_batch(batch)

    def close(self) -> None:
        self.writer.close()
        self.direct.flush()


class CellsSink(Sink):
    """Csv or tsv."""

    def __init__(self, file: IO[bytes], schema: Any, separator: str, spreadsheet: bool) -> None:
        super().__init__(file, schema)
        from pyarrow import csv

        self.begin = schema.names.index("error") + 1
        self.spreadsheet = spreadsheet
        self.options = csv.WriteOptions(include_header=False, delimiter=separator)
        self.csv = csv
        quoted = [f'"{x}"' if separator in x or '"' in x or "\t" in x or "\n" in x else x for x in (
            carried(name).replace('"', '""') for name in schema.names
        )]  # fmt: skip
        file.write((separator.join(quoted) + "\n").encode())

    def write(self, batch: Any) -> None:
        import pyarrow as pa

        columns = batch.columns
        for k, field in enumerate(batch.schema):
            if self.spreadsheet and k >= self.begin and pa.types.is_string(field.type):
                columns[k] = pa.array([cell and disarmed(cell) for cell in columns[k].to_pylist()], pa.string())
            elif not _is_plain(field.type):
                columns[k] = _as_text(columns[k])
            columns[k] = _as_carried(columns[k])
        self.csv.write_csv(pa.RecordBatch.from_arrays(columns, names=batch.schema.names), self.file, self.options)

    def close(self) -> None:
        self.file.flush()


def _is_plain(kind: Any) -> bool:
    """Whether a csv cell can hold a value of the type as it is."""
    from pyarrow import types

    return any(test(kind) for test in (
        types.is_primitive, types.is_string, types.is_large_string, types.is_boolean, types.is_null
    ))  # fmt: skip


def _as_text(column: Any) -> Any:
    import json

    import pyarrow as pa

    def text(cell: object) -> str | None:
        found = plain_cell(cell)
        return found if found is None or isinstance(found, str) else json.dumps(found, ensure_ascii=False)

    return pa.array([text(cell) for cell in column.to_pylist()], pa.string())


_CONTROLS = r"[\x00-\x08\x0b-\x1f\p{Cf}\x7f-\x9f\p{Co}\p{Zl}\p{Zp}]"
"""What is written as an escape wherever it stands, as pyarrow writes patterns."""


def _as_carried(column: Any) -> Any:
    """The column; texts with controls as they are carried along row by row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kinds = pa.types
    if not (kinds.is_string(column.type) or kinds.is_large_string(column.type)):
        return column
    if not pc.any(pc.match_substring_regex(column, _CONTROLS)).as_py():
        return column
    return pa.array([cell and carried(cell) for cell in column.to_pylist()], column.type)


class TextSink(Sink):
    """Any other format of wide rows, a row at a time."""

    def __init__(self, file: IO[bytes], schema: Any, format: str, digits: int | None, spreadsheet: bool) -> None:
        super().__init__(file, schema)
        import io

        self.own = None if file is sys.stdout.buffer else io.TextIOWrapper(file, encoding="utf-8", newline="\n")
        self.text = self.own or sys.stdout
        end = schema.names.index("error")
        self.names, self.kept = schema.names[:end], schema.names[end + 1 :]
        self.out = wide(format, self.text, self.names, self.kept, digits=digits, spreadsheet=spreadsheet)

    def write(self, batch: Any) -> None:
        columns = [batch.column(name).to_pylist() for name in self.names]
        kept = [[plain_cell(x) for x in batch.column(name).to_pylist()] for name in self.kept]
        told = batch.column("error").to_pylist()
        for row, numbers in enumerate(zip(*columns, strict=True)):
            asked = Asked(None, 0, None, {name: cells[row] for name, cells in zip(self.kept, kept, strict=True)})
            if told[row] is None:
                self.out.answer(asked, Values(numbers))
            else:
                self.out.error(asked, ExpressionError("point", told[row]))
        self.text.flush()

    def close(self) -> None:
        self.out.close()
        self.text.flush()
        if self.own is not None:
            # the file is closed by whom it belongs to
            self.own.detach()


def plain_cell(cell: object) -> object:
    """A cell that is carried along as JSON holds it: no value where it is not a number, bytes in hexadecimal."""
    if cell is None or isinstance(cell, (str, int)):
        return cell
    if isinstance(cell, float):
        return cell if cell - cell == 0.0 else None if cell != cell else str(cell)
    if isinstance(cell, Mapping):
        return {str(name): plain_cell(each) for name, each in cell.items()}
    if isinstance(cell, (list, tuple)):
        return [plain_cell(each) for each in cell]
    return cell.hex() if isinstance(cell, bytes) else str(cell)


def sink(file: IO[bytes], schema: Any, format: str, *, digits: int | None, spreadsheet: bool) -> Sink:
    """What writes batches of a schema in a format. Raises a usage error for one that there is not."""
    if format in ("csv", "tsv"):
        return CellsSink(file, schema, "," if format == "csv" else "\t", spreadsheet)
    if format in WIDE:
        return TextSink(file, schema, format, digits, spreadsheet)
    kinds: dict[str, Callable[[IO[bytes], Any], Sink]] = {"parquet": ParquetSink, "arrow": ArrowSink}
    if format not in kinds:
        raise lacking(format, (*WIDE, *kinds))
    if spreadsheet:
        hint = "`--format csv` and `--format tsv` have them"
        raise ExpressionError("usage", "`--spreadsheet` is about the cells of csv and tsv", hint=hint)
    return kinds[format](file, schema)
