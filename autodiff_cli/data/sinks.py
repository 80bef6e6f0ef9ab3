"""Writers of batches of answers."""

from __future__ import annotations

import io
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import IO, Any

import numpy as np
import pyarrow as pa

from ..errors import ExpressionError, needs_error
from ..show.characters import escaped
from ..show.formats import Writer, disarm, escape_cell, in_quotes, unknown_format
from ..show.subject import Subject
from ..show.wide import WIDE, Values, open_writer
from ..show.workbook import Workbook
from .rows import MARK, cell_of, numbers_of, plain_cell

MIN_GROUP_ROWS = 262_144
MAX_GROUP_BYTES = 64 * 1024 * 1024
# Rows of text written at a time, to stay in the processor's cache.
SLICE_ROWS = 8_192


class Sink(ABC):
    """A writer of batches of answers."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        self.file, self.schema = file, schema

    @abstractmethod
    def write(self, batch: Any) -> None:
        """Write a batch."""

    def close(self) -> None:
        """Write the end."""
        self.file.flush()

    def abandon(self) -> None:  # noqa: B027 - most hold nothing
        """Write no more: the file is given up."""


class ParquetSink(Sink):
    """Parquet, packed by LZ4."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        import pyarrow.parquet as parquet

        super().__init__(file, schema)
        plain = {"error", *[field.name for field in schema if pa.types.is_floating(field.type)]}
        self.writer = parquet.ParquetWriter(
            file,
            schema,
            compression="lz4",
            write_batch_size=8192,
            write_page_checksum=True,
            use_dictionary=[name for name in schema.names if name not in plain],
        )
        self.held: list[Any] = []
        self.rows = self.size = 0

    def write(self, batch: Any) -> None:
        self.held.append(batch)
        self.rows += batch.num_rows
        self.size += batch.nbytes
        if self.rows >= MIN_GROUP_ROWS or self.size >= MAX_GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self.rows:
            self.writer.write_table(
                pa.Table.from_batches(self.held, self.schema), row_group_size=self.rows
            )
        self.held, self.rows, self.size = [], 0, 0

    def close(self) -> None:
        self._flush()
        self.writer.close()
        self.file.flush()

    def abandon(self) -> None:
        # else it would try to end the file when collected
        self.writer.is_open = False


class ArrowSink(Sink):
    """Arrow: a file of batches, or a stream on standard output."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        super().__init__(file, schema)
        begin = pa.ipc.new_file if file.seekable() else pa.ipc.new_stream
        self.writer = begin(file, schema)

    def write(self, batch: Any) -> None:
        self.writer.write_batch(batch)

    def close(self) -> None:
        self.writer.close()
        self.file.flush()


class WorkbookSink(Sink):
    """A workbook of Excel: the columns and their units in its first row, which stays in sight."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        super().__init__(file, schema)
        self.book = Workbook(file, header=True)
        self.book.add([schema.names])

    def write(self, batch: Any) -> None:
        columns = [column.to_pylist() for column in batch.columns]
        self.book.add([[_workbook_cell(x) for x in row] for row in zip(*columns, strict=True)])

    def close(self) -> None:
        self.book.close()
        self.file.flush()

    def abandon(self) -> None:
        self.book.abandon()


def _workbook_cell(cell: Any) -> str | float | None:
    plain = plain_cell(cell_of(cell))
    if plain is None or isinstance(plain, str | int | float):
        return plain
    return json.dumps(plain, ensure_ascii=False)


class CellsSink(Sink):
    """Csv or tsv, as `WideCells` writes it."""

    def __init__(self, file: IO[bytes], schema: Any, separator: str, spreadsheet: bool) -> None:
        super().__init__(file, schema)
        self.separator, self.spreadsheet = separator, spreadsheet
        self.end = schema.names.index("error")
        head = [in_quotes(escape_cell(name), separator) for name in schema.names]
        file.write((separator.join(head) + "\n").encode())

    def write(self, batch: Any) -> None:
        import pyarrow.compute as pc

        for start in range(0, batch.num_rows, SLICE_ROWS):
            columns = batch.slice(start, SLICE_ROWS).columns
            # numbers of a row with an error are null, written as nothing
            cells = [as_texts(column) for column in columns[: self.end]]
            cells += [self._cells(column, k > 0) for k, column in enumerate(columns[self.end :])]
            cells[-1] = (
                "\n" if cells[-1] == "" else pc.binary_join_element_wise(cells[-1], "", "\n")
            )
            lines = pc.binary_join_element_wise(*cells, self.separator)
            ends = np.frombuffer(lines.buffers()[1], np.int32, len(lines) + 1, 4 * lines.offset)
            self.file.write(memoryview(lines.buffers()[2])[ends[0] : ends[-1]])

    def _cells(self, column: Any, kept: bool) -> Any:
        if column.null_count == len(column):
            return ""
        import pyarrow.compute as pc

        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_float64(column.type):
            return as_texts(column)
        is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        if not (is_text or pa.types.is_primitive(column.type) or pa.types.is_null(column.type)):
            cells = map(plain_cell, column.to_pylist())
            column = pa.array([x if x is None else _as_text(x) for x in cells], pa.string())
        disarms = self.spreadsheet and kept and is_text
        column = pc.fill_null(column.cast(pa.string()), "")
        changes = pc.match_substring_regex(
            column, _CHANGED + self.separator + (r"]|^[=+\-@]" if disarms else "]")
        )
        if not changes.true_count:
            return column

        def changed(cell: str) -> str:
            if kept and cell.startswith(MARK):
                cell = _as_text(cell_of(cell))
            cell = escape_cell(disarm(cell) if disarms else cell) if kept else escaped(cell)
            return in_quotes(cell, self.separator)

        texts = [changed(cell) for cell in column.filter(changes).to_pylist()]
        return pc.replace_with_mask(column, changes, pa.array(texts, pa.string()))


def _as_text(cell: object) -> str:
    """Return a cell that is no text as JSON."""
    return cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)


def as_texts(column: Any) -> Any:
    """Return doubles as Python writes them, and null as empty text."""
    import pyarrow.compute as pc

    x = numbers_of(column)
    size = np.abs(x)
    text = pc.fill_null(pc.cast(column, pa.string()), "")

    def respell(rows: Any, spell: Callable[[Any], Any]) -> None:
        nonlocal text
        if rows.any():
            mask = pa.array(rows)
            text = pc.replace_with_mask(text, mask, spell(text.filter(mask)))

    # pyarrow writes the same digits, but another notation for these
    respell(
        (size < 1e9) & (x == np.trunc(x)),
        lambda texts: pc.binary_join_element_wise(texts, "0", "."),
    )
    respell(
        (size < 1e-6) & (x != 0),
        lambda texts: pc.replace_substring_regex(texts, r"e-(\d)$", r"e-0\1"),
    )
    other = ((size >= 1e-6) & (size < 1e-4)) | ((size >= 1e9) & (size < 1e16))
    respell(other, lambda texts: pa.array([*map(repr, x[other].tolist())], pa.string()))
    return text


# The characters that need quotes, besides the separator, for pyarrow.
_CHANGED = r"""[\x00-\x1f"\p{Cf}\x7f-\x9f\p{Co}\p{Zl}\p{Zp}"""


class TextSink(Sink):
    """Any other format of wide rows, row by row."""

    def __init__(
        self,
        file: IO[bytes],
        schema: Any,
        format: str,
        spreadsheet: bool,
        leading: tuple[str, ...],
        **choices: Any,
    ) -> None:
        super().__init__(file, schema)
        self.own = (
            None
            if file is sys.stdout.buffer
            else io.TextIOWrapper(file, encoding="utf-8", newline="\n")
        )
        self.text = self.own or sys.stdout
        end = schema.names.index("error")
        self.names, self.kept = (
            schema.names[len(leading) : end],
            [*leading, *schema.names[end + 1 :]],
        )
        self.out = open_writer(
            format,
            self.text,
            self.names,
            self.kept,
            spreadsheet=spreadsheet,
            leading=leading,
            **choices,
        )

    def write(self, batch: Any) -> None:
        columns = [batch.column(name).to_pylist() for name in self.names]
        kept = [
            [plain_cell(cell_of(x)) for x in batch.column(name).to_pylist()] for name in self.kept
        ]
        errors = batch.column("error").to_pylist()
        for row, numbers in enumerate(zip(*columns, strict=True)):
            subject = Subject(
                None,
                0,
                None,
                {name: cells[row] for name, cells in zip(self.kept, kept, strict=True)},
            )
            if errors[row] is None:
                self.out.answer(subject, Values(numbers))
            else:
                self.out.error(subject, ExpressionError("point", errors[row]))
        self.text.flush()

    def close(self) -> None:
        self.out.close()
        self.text.flush()
        if self.own is not None:
            # the caller closes the file
            self.own.detach()


class Collected(Writer[Values]):
    """Batches of wide rows computed one by one, for columnar formats."""

    carries_errors = True

    def __init__(
        self, file: IO[bytes], format: str, names: Sequence[str], kept: Sequence[str], leading: int
    ) -> None:
        self.file, self.format, self.names = (
            file,
            format,
            (*kept[:leading], *names, "error", *kept[leading:]),
        )
        self.results = tuple(names)
        self.rows: list[dict[str, Any]] = []
        self.sink: Sink | None = None

    def answer(self, subject: Subject, answer: Values) -> None:
        self._add({**dict(zip(self.results, answer, strict=True)), **(subject.kept or {})})

    def error(self, subject: Subject, error: ExpressionError) -> None:
        self._add({"error": f"{error.kind}: {error}", **(subject.kept or {})})

    def _add(self, cells: dict[str, Any]) -> None:
        self.rows.append(cells)
        if len(self.rows) >= MIN_GROUP_ROWS:
            self._write()

    def _write(self) -> None:
        if self.sink is None:
            # an empty column is numeric
            texts = {name for row in self.rows for name, x in row.items() if isinstance(x, str)} | {
                "error"
            }
            flags = {name for row in self.rows for name, x in row.items() if isinstance(x, bool)}
            kinds = {**dict.fromkeys(texts, pa.string()), **dict.fromkeys(flags, pa.bool_())}
            self.schema = pa.schema(
                [pa.field(name, kinds.get(name, pa.float64())) for name in self.names]
            )
            self.sink = open_sink(self.file, self.schema, self.format, spreadsheet=False)
        self.sink.write(pa.RecordBatch.from_pylist(self.rows, schema=self.schema))
        self.rows = []

    def close(self) -> None:
        self._write()
        assert self.sink is not None
        self.sink.close()


def open_sink(
    file: IO[bytes],
    schema: Any,
    format: str,
    *,
    spreadsheet: bool,
    leading: tuple[str, ...] = (),
    **choices: Any,
) -> Sink:
    """Return the writer of a format; see `WideView`."""
    if format in ("csv", "tsv"):
        return CellsSink(file, schema, "," if format == "csv" else "\t", spreadsheet)
    if format in WIDE:
        return TextSink(file, schema, format, spreadsheet, leading, **choices)
    kinds: dict[str, Callable[[IO[bytes], Any], Sink]] = {
        "parquet": ParquetSink,
        "arrow": ArrowSink,
        "xlsx": WorkbookSink,
    }
    if format not in kinds:
        raise unknown_format(format, (*WIDE, *kinds))
    if spreadsheet:
        raise needs_error("--spreadsheet", "`--format csv` or `--format tsv`")
    return kinds[format](file, schema)
