"""Readers of data files in text, Parquet or Arrow formats, by row or in batches.

Pyarrow parses blocks of text. A block that fails is split, and small pieces are parsed by the plain
reader.
"""

from __future__ import annotations

import io
import os
import re
import sys
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..compiled.columns_io import check_type, unique
from ..errors import ExpressionError, point_error
from ..questions import decoding as reading
from ..questions.optional_units import units_in_headings
from ..questions.sweeps import Grid
from ..show.error import write_note
from ..streams import filesystems
from ..streams.filesystems import get_arrow
from . import layouts, text_dialects
from .rows import MARK, cell_text, numbers_of, text_of
from .sources import Source, TextFile, parallel_map, quotable
from .text_dialects import (
    PLAIN,
    Dialect,
    Layout,
    TextRow,
    Texts,
    Unclosed,
    begins_as_json,
    cells_of,
    numbers_in,
    objects_of,
)

if TYPE_CHECKING:
    from .row_filter import RowFilter

Item = TypeVar("Item")
MAX_BATCH_ROWS = 65_536
BLOCK_BYTES = 2 * 1024 * 1024
# Read buffer of a Parquet column in bytes; larger pages bypass it.
BUFFER_BYTES = 64 * 1024

PIECE_BYTES = 128 * 1024
# Numbers that both pyarrow and the plain reader accept.
PLAIN_NUMBER = r"^-?\d+(\.\d+)?([eE][+-]?\d+)?$"

ALIKE = "read the files one by one, or give them the same columns"
FEW_ROWS = 20_000
# Shorter text is read by row: importing NumPy and pyarrow takes as long.
FEW_BYTES = 4 * 1024 * 1024


class Chunk(NamedTuple):
    """Consecutive rows of a file as an Arrow batch."""

    batch: Any
    where: Callable[[int], str]
    faults: Mapping[int, ExpressionError]
    """Errors of unreadable rows, by position in the batch."""
    size: int


class Fragment(NamedTuple):
    """A row group or batch of a file, and the number of its first row."""

    number: int
    first: int
    size: int


class Selection(NamedTuple):
    """The columns to read, from the first file and all later ones."""

    numbers: Sequence[str]
    schema: Any
    file: str
    as_text: bool = False
    """Whether kept numbers have a second column, `text_of` them."""


class Reader(AbstractContextManager["Reader"]):
    """The rows of a file, row by row or in batches, each with all points of a grid."""

    names: Sequence[str]
    """The columns of the file, then the swept names."""
    fields: Mapping[str, Any] = {}
    """The Arrow fields of a columnar file."""
    axes: Collection[str] = ()
    dialect = PLAIN
    total: int | None = None
    units: Mapping[str, str] = {}
    summary: Sequence[str] = ()
    grid: Grid | None = None
    filter: RowFilter | None = None
    """The condition of `--where`."""

    def __init__(self, source: Source, several: bool) -> None:
        self.source = source
        if source.forced.missing.texts:
            self.dialect = Dialect(missing=source.forced.missing)
        self.prefix = f"{source.shown}, " if several else ""
        self.selection = self.of_file = Selection((), None, source.name)

    def select(
        self, numbers: Sequence[str], kept: Sequence[str], *, as_text: bool = False
    ) -> Selection:
        """Choose the columns of batches."""
        import pyarrow as pa

        if self.filter is not None:
            numbers = [*dict.fromkeys((*numbers, *self.filter.columns))]
        fields = [
            self._field(name, name in numbers) for name in self.names if name in {*numbers, *kept}
        ]
        texts = [name for name in kept if as_text and name in numbers and name not in self.axes]
        fields += [pa.field(text_of(name), pa.string()) for name in texts]
        return self._select(Selection(numbers, pa.schema(fields), self.source.name, as_text))

    def select_like(self, first: Selection) -> None:
        """Choose the first file's columns."""
        self.require(
            (*first.numbers, *[name.removesuffix(MARK) for name in first.schema.names]), first.file
        )
        for field in first.schema:
            other = self._field(field.name, field.name in first.numbers).type
            if not other.equals(field.type):
                message = (
                    f"column `{field.name}` is {field.type} in {first.file}, and {other} in"
                    f" {self.source.name}"
                )
                raise point_error(message, ALIKE)
        self._select(first)

    def _select(self, chosen: Selection) -> Selection:
        import pyarrow as pa

        self.selection = self.of_file = chosen
        if self.grid is not None:
            # rows that name their columns may have swept ones, an error
            own = [pa.field(name, pa.string()) for name in self.axes if not self.dialect.separator]
            fields = [field for field in chosen.schema if field.name not in self.axes]
            numbers = [name for name in chosen.numbers if name not in self.axes]
            self.of_file = chosen._replace(numbers=numbers, schema=pa.schema([*fields, *own]))
        return chosen

    def require(self, columns: Iterable[str], first: str) -> None:
        """Raise an error if a column is missing."""
        for column in columns:
            if column not in self.names:
                message = (
                    f"there is no column `{column}` in {self.source.name}, and there is in {first}"
                )
                raise point_error(message, ALIKE)

    @property
    def size(self) -> int:
        path = self.source.path
        try:
            return (
                filesystems.entry(path).size if filesystems.is_url(path) else os.path.getsize(path)
            )
        except (OSError, ExpressionError):
            return 0

    def is_short(self) -> bool:
        """Return whether to read by row."""
        return False

    def _field(self, name: str, is_number: bool) -> Any:
        import pyarrow as pa

        kind = pa.float64() if is_number or name in self.axes else pa.string()
        return self.fields.get(name) or pa.field(name, kind)

    @abstractmethod
    def _chunks_of_file(self, fragment: Fragment | None) -> Iterator[Chunk]:
        """Yield batches of the columns `of_file`."""

    def _rows_of_file(self) -> Iterator[TextRow]:
        rows = (cells for chunk in self._chunks_of_file(None) for cells in chunk.batch.to_pylist())
        return ((number, cells, None) for number, cells in enumerate(rows, start=1))

    def rows(self) -> Iterator[TextRow]:
        """Yield the rows one by one."""
        of_file = self._rows_of_file()
        if self.filter is not None:
            of_file = self._filtered(of_file, self.filter)
        if self.grid is None:
            yield from of_file
            return
        for line, cells, fault in of_file:
            own = [name for name in self.axes if cells.get(name) is not None] if cells else []
            for k, point in enumerate(self.grid.points(), start=1):
                yield (
                    line or k,
                    {**cells, **point},
                    fault or (_swept_column_error(own[0]) if own else None),
                )

    def _filtered(self, rows: Iterator[TextRow], condition: RowFilter) -> Iterator[TextRow]:
        for row in rows:
            stays, fault = condition.keeps(row, self.dialect)
            if stays:
                yield row if fault is None else (row[0], row[1], fault)

    def numbers_in(
        self, row: TextRow, columns: Sequence[str]
    ) -> tuple[dict[str, float], ExpressionError | None]:
        """Return the numbers in a row, and its error or None."""
        numbers, fault = numbers_in(
            row, [name for name in columns if name not in self.axes], self.dialect
        )
        swept: Any = {name: row[1][name] for name in self.axes}
        return {**numbers, **swept}, fault

    def chunks(self, fragment: Fragment | None = None) -> Iterator[Chunk]:
        """Yield batches of the selected columns."""
        chunks, grid = self._chunks_of_file(fragment), self.grid
        if self.dialect.missing.numbers:
            chunks = map(self._without_missing, chunks)
        if self.filter is not None:
            chunks = (_filtered_chunk(chunk, self.filter) for chunk in chunks)
        return (
            chunks
            if grid is None
            else (crossed for chunk in chunks for crossed in self._cross(chunk, grid))
        )

    def _without_missing(self, chunk: Chunk) -> Chunk:
        """Return rows in which numbers that stand for a missing value are errors."""
        import numpy as np

        missing, faults = self.dialect.missing, dict(chunk.faults)
        for name in self.of_file.numbers:
            numbers = numbers_of(chunk.batch.column(name))
            for row in np.flatnonzero(np.isin(numbers, [*missing.numbers])).tolist():
                error = missing.error(float(numbers[row]))
                faults.setdefault(row, point_error(f"column `{name}`: {error}", error.hint))
        return chunk._replace(faults=faults)

    def _cross(self, chunk: Chunk, grid: Grid) -> Iterator[Chunk]:
        import numpy as np
        import pyarrow as pa

        faults = dict(chunk.faults)
        for name in grid.axes if not self.dialect.separator else ():
            for k, has_own in enumerate(chunk.batch.column(name).is_valid().to_pylist()):
                if has_own:
                    faults.setdefault(k, _swept_column_error(name))

        def where(row: int, count: int) -> Callable[[int], str]:
            return lambda k: chunk.where(row + k // count)

        @lru_cache(1)
        def points_from(start: int) -> dict[str, Any]:
            columns = grid.columns(start, min(start + MAX_BATCH_ROWS, grid.size))
            return {name: np.array(column) for name, column in columns.items()}

        together, size = max(1, MAX_BATCH_ROWS // grid.size), chunk.size
        for row in range(0, chunk.batch.num_rows, together):
            part = chunk.batch.slice(row, together)
            for start in range(0, grid.size, MAX_BATCH_ROWS):
                points, count = points_from(start), min(grid.size - start, MAX_BATCH_ROWS)
                again = pa.array(np.repeat(np.arange(part.num_rows), count))
                columns = [
                    (
                        pa.array(np.tile(points[name], part.num_rows))
                        if name in points
                        else part.column(name).take(again)
                    )
                    for name in self.selection.schema.names
                ]
                at_points = {
                    (k - row) * count + point: fault
                    for k, fault in faults.items()
                    if row <= k < row + part.num_rows
                    for point in range(count)
                }
                batch = pa.RecordBatch.from_arrays(columns, schema=self.selection.schema)
                yield Chunk(batch, where(row, count), at_points, size)
                size = 0

    def fragments(self) -> list[Fragment | None]:
        """Return the parts that can be read alone."""
        return [None]

    def close(self) -> None:
        """Close the file."""

    def __exit__(self, *_: object) -> None:
        self.close()


def _filtered_chunk(chunk: Chunk, condition: RowFilter) -> Chunk:
    """Return the rows of a chunk that a condition leaves."""
    import numpy as np
    import pyarrow as pa

    stays, errors = condition.mask(chunk.batch, chunk.faults)
    faults = {**errors, **chunk.faults}
    if stays.all():
        return chunk._replace(faults=faults)
    rows = np.flatnonzero(stays)
    places = dict(zip(rows.tolist(), range(len(rows)), strict=True))
    of_rows = {places[row]: fault for row, fault in faults.items() if row in places}
    batch = chunk.batch.filter(pa.array(stays))
    return Chunk(batch, lambda row: chunk.where(int(rows[row])), of_rows, chunk.size)


def _swept_column_error(name: str) -> ExpressionError:
    return point_error(f"`{name}` is swept, and this row gives it a value", "leave one of them out")


SWEEP = Source("the sweep", None, None)


class SweptPoints(Reader):
    """The points of a grid without a file: one column per sweep."""

    names = ()
    total = 1

    def is_short(self) -> bool:
        return self.grid is not None and self.grid.size <= FEW_ROWS

    def _rows_of_file(self) -> Iterator[TextRow]:
        yield 0, {}, None

    def _chunks_of_file(self, fragment: Fragment | None) -> Iterator[Chunk]:
        import pyarrow as pa

        # one row, without columns
        yield Chunk(
            pa.RecordBatch.from_struct_array(pa.array([{}], pa.struct([]))), lambda row: "", {}, 0
        )


def reader(
    source: Source,
    several: bool = False,
    idle: Callable[[], None] | None = None,
    grid: Grid | None = None,
) -> Reader:
    """Open a file and read its header; combine each row with `grid`.

    With `several`, messages name the file; `idle` is called before waiting.
    """
    file: Reader
    if source == SWEEP:
        file = SweptPoints(source, several)
    elif source.columnar:
        file = (Parquet if source.format == "parquet" else Arrow)(source, several)
    else:
        file = TextReader(source, several, idle)
    if source.forced.where is not None:
        from .row_filter import RowFilter

        try:
            called = dict(source.forced.columns)
            file.filter = RowFilter(
                source.forced.where, called, file.names, file.units, source.name
            )
            file.filter.check_types(file.fields)
        except BaseException:
            file.close()
            raise
    if grid is not None:
        if clash := next((name for name in grid.axes if name in file.names), None):
            file.close()
            message = f"`{clash}` is swept, and is a column of {source.name}"
            raise point_error(message, "leave one of them out, or rename the column")
        file.names, file.grid, file.axes = (*file.names, *grid.axes), grid, grid.axes
        file.total = None if file.total is None else file.total * grid.size
    return file


class Files(AbstractContextManager["Files"]):
    """Several files as one table; each must have the required columns."""

    def __init__(
        self,
        sources: Sequence[Source],
        first: Reader | None = None,
        *,
        several: bool = False,
        idle: Callable[[], None] | None = None,
        grid: Grid | None = None,
    ) -> None:
        self.sources, self.several = sources, several
        self.reader = partial(reader, several=several, idle=idle, grid=grid)
        self.first = first or self.reader(sources[0])
        _note_format(self.first)
        self.checks: list[Callable[[Reader], None]] = []

    def __exit__(self, *_: object) -> None:
        self.first.close()

    def require(
        self, used: Mapping[str, str], numbers: Collection[str] = (), kept: Collection[str] = ()
    ) -> None:
        """Require columns of all files."""
        units, first = units_in_headings(used, self.first.units), self.first.source.name

        def check(file: Reader) -> None:
            if file.dialect.separator:
                file.require((*numbers, *kept), first)
            for name in numbers:
                if name in file.fields:
                    check_type(name, file.fields[name].type)
            theirs = units_in_headings(used, file.units)
            for name, column in used.items():
                if (here := theirs.get(name)) != (there := units.get(name)):
                    has = f"the unit {here}" if here else "no unit"
                    message = (
                        f"column `{column}` has {has} in {file.source.name}, and {there or 'none'}"
                        f" in {first}"
                    )
                    raise point_error(
                        message, "read the files one by one, or give them the same units"
                    )

        check(self.first)
        self.checks.append(check)

    @contextmanager
    def _open_further(self, source: Source) -> Iterator[Reader]:
        with self.reader(source) as file:
            for check in self.checks:
                check(file)
            _check_units_of_filter(self.first, file)
            yield file

    def map_files(self, look: Callable[[Reader], Item]) -> list[Item]:
        """Apply a function to every file but pipes."""

        def look_into_further(source: Source) -> Item:
            with self._open_further(source) as file:
                return look(file)

        others = [source for source in self.sources[1:] if not source.once]
        return [look(self.first), *parallel_map(look_into_further, others)]

    def __iter__(self) -> Iterator[Reader]:
        filters = []
        for file in self._each():
            yield file
            filters += [file.filter] if file.filter is not None else []
        if filters:
            from .row_filter import count_of_left_out

            dropped, rows = sum(own.dropped for own in filters), sum(own.rows for own in filters)
            sys.stdout.flush()  # the rows stand before what is said of them
            write_note(count_of_left_out(filters[0].text, dropped, rows))

    def _each(self) -> Iterator[Reader]:
        with self.first:
            yield self.first
        for source in self.sources[1:]:
            with self._open_further(source) as file:
                if file.summary != self.first.summary:
                    _note_format(file, file.source.name)
                yield file


def _check_units_of_filter(first: Reader, file: Reader) -> None:
    """Check that `--where` compares the numbers of columns in the same units in all files."""
    if (
        first.filter is not None
        and file.filter is not None
        and file.filter.units != first.filter.units
    ):
        message = (
            f"the columns of `--where` have other units in {file.source.name} than in"
            f" {first.source.name}"
        )
        raise point_error(message, "read the files one by one, or give them the same units")


def _note_format(file: Reader, name: str = "") -> None:
    if file.summary:
        write_note(f"read{f' {name}' * bool(name)}: {', '.join(file.summary)}")


# ---- columns
class Parquet(Reader):
    """A reader of a Parquet file."""

    def __init__(self, source: Source, several: bool) -> None:
        super().__init__(source, several)
        get_arrow(f"to read {type(self).__name__}")
        schema = self._open()
        # names that are not text raise only when read
        self.names = self._attempt(lambda: schema.names)
        unique(self.names)
        self.fields = {field.name: field for field in schema}
        self.select((), self.names)

    def _open(self) -> Any:
        import pyarrow.parquet as parquet

        elsewhere = filesystems.is_url(self.source.path)
        place: Any = self.source.open() if elsewhere or self.source.once else self.source.path
        if self.source.once and not place.seekable():
            hint = "give the name of the file, or pipe Arrow"
            raise ExpressionError("io", "Parquet cannot be read from a pipe", hint=hint)
        how = {"pre_buffer": elsewhere, "buffer_size": 0 if elsewhere else BUFFER_BYTES}
        self.file = self._attempt(
            lambda: parquet.ParquetFile(place, **how, page_checksum_verification=True)
        )
        self.total = self.file.metadata.num_rows
        return self._attempt(lambda: self.file.schema_arrow)

    def _attempt(self, action: Callable[[], Any]) -> Any:
        import pyarrow as pa

        try:
            return (
                filesystems.run_interruptibly(action)
                if filesystems.is_url(self.source.path)
                else action()
            )
        except (pa.ArrowException, OSError, ValueError) as fault:
            first = str(fault).split("\n")[0].rstrip(".")
            message = (
                f"{self.source.name} cannot be read as {self.source.format}:"
                f" {quotable(first[:200])}"
            )
            raise ExpressionError(
                "io", message, hint="it may be cut off, or be another kind of file"
            ) from None

    def _batches(self, fragment: Fragment | None) -> Iterator[Any]:
        columns = self.of_file.schema.names
        for group in [fragment.number] if fragment else range(self.file.num_row_groups):
            yield from self.file.iter_batches(
                MAX_BATCH_ROWS, row_groups=[group], columns=columns, use_threads=False
            )

    def _chunks_of_file(self, fragment: Fragment | None) -> Iterator[Chunk]:
        def validated() -> Iterator[Any]:
            for batch in self._batches(fragment):
                batch.validate(full=True)
                yield batch.select(self.of_file.schema.names)

        batches = validated()
        first = fragment.first if fragment else 1
        while (batch := self._attempt(lambda: next(batches, None))) is not None:
            numbers = range(first, first + batch.num_rows)
            yield Chunk(batch, places(f"{self.prefix}row", numbers), {}, batch.nbytes)
            first = numbers.stop

    def fragments(self) -> list[Fragment | None]:
        metadata = self.file.metadata
        groups = list(map(metadata.row_group, range(metadata.num_row_groups)))
        share = len(self.of_file.schema) / max(1, metadata.num_columns)
        return _fragments(
            [group.num_rows for group in groups], [int(g.total_byte_size * share) for g in groups]
        )

    def close(self) -> None:
        self.file.close()


class Arrow(Parquet):
    """A reader of an Arrow IPC file or stream."""

    def _open(self) -> Any:
        import pyarrow as pa

        # no memory map: truncating a mapped file would kill the process
        is_local = not (self.source.once or filesystems.is_url(self.source.path))
        place = (
            self._attempt(lambda: pa.OSFile(self.source.path)) if is_local else self.source.open()
        )
        if not self.source.stream and self.source.once and not place.seekable():
            place = pa.BufferReader(place.read())
        self.place = place
        self.file = self._attempt(
            lambda: (pa.ipc.open_stream if self.source.stream else pa.ipc.open_file)(place)
        )
        return self.file.schema

    def _batches(self, fragment: Fragment | None) -> Iterator[Any]:
        if self.source.stream:
            batches: Any = self.file
        else:
            file = self._reopen_with_columns(
                [self.names.index(name) for name in self.of_file.schema.names]
            )
            batches = map(
                file.get_batch, [fragment.number] if fragment else range(file.num_record_batches)
            )
        for batch in batches:
            for start in range(0, batch.num_rows, MAX_BATCH_ROWS):
                yield batch.slice(start, MAX_BATCH_ROWS)

    def _reopen_with_columns(self, columns: list[int]) -> Any:
        import pyarrow as pa

        self.place.seek(0)
        return pa.ipc.open_file(self.place, options=pa.ipc.IpcReadOptions(included_fields=columns))

    def fragments(self) -> list[Fragment | None]:
        if self.source.stream:
            return [None]
        # fetch only one column of remote files
        file = self._attempt(lambda: self._reopen_with_columns([0] if self.fields else []))
        counts = self._attempt(
            lambda: [file.get_batch(k).num_rows for k in range(file.num_record_batches)]
        )
        return _fragments(counts, [self.size // max(1, len(counts))] * len(counts))

    def close(self) -> None:
        if self.source.path != "-":
            self.place.close()


def _fragments(counts: Sequence[int], sizes: Sequence[int]) -> list[Fragment | None]:
    return [Fragment(k, 1 + sum(counts[:k]), size) for k, size in enumerate(sizes)] or [None]


def places(prefix: str, lines: Sequence[int]) -> Callable[[int], str]:
    """Return the places of rows, for messages: `line 5: `."""
    return lambda row: f"{prefix} {lines[row]}: "


# ---- text
class TextReader(Reader):
    """A reader of text: csv, tsv or jsonl."""

    def __init__(self, source: Source, several: bool, idle: Callable[[], None] | None) -> None:
        super().__init__(source, several)
        self.file = TextFile(source)
        self.rest = b""
        self.ended = False
        try:
            text, complete = self.file.first_block()
            layout = Layout(Dialect(missing=source.forced.missing))
            forced = (
                source.forced._replace(separator=",") if source.format == "xlsx" else source.forced
            )
            if source.format != "jsonl" and not begins_as_json(text):
                layout = layouts.recognize(
                    text, complete=complete, tabs=source.format != "csv", forced=forced
                )
            self.file.follow(layout)
            texts = Texts(self.file, source.name, idle)
            self.columns, self._rows, self.dialect = text_dialects.table(
                texts, source.format, layout
            )
            self.names = self.columns
            self.units = {
                name: unit for name, unit in zip(self.names, layout.units, strict=False) if unit
            }
            self.summary = (*self.file.summary, *layout.summary)
        except BaseException:
            self.close()
            raise
        # the header is the lines taken so far
        self.first = texts.taken + 1 if self.dialect.separator else 1

    def is_short(self) -> bool:
        head = self.file.peek(FEW_BYTES)
        points = 1 if self.grid is None else self.grid.size
        return self.file.ended and head.count(b"\n") * points < FEW_ROWS

    def _rows_of_file(self) -> Iterator[TextRow]:
        self.file.keep = False
        return self._rows

    def _next_block(self) -> bytes:
        block = bytearray(self.rest)
        self.rest = b""
        while not self.ended:
            data = self.file.read1(BLOCK_BYTES)
            self.ended = not data
            block += data
            if self.ended or len(block) < BLOCK_BYTES:
                continue
            cut = block.rfind(b"\n") + 1
            # the plain reader reports an unclosed quote or an endless line
            too_long = len(block) > reading.MAX_BYTES + BLOCK_BYTES
            if too_long and not cut:
                while data and b"\n" not in data:
                    data = self.file.read1(BLOCK_BYTES)
                self.ended = not data
                _, newline, self.rest = data.partition(b"\n")
                return bytes(block) + newline
            if cut and (too_long or block.count(b'"', 0, cut) % 2 == 0):
                self.rest = bytes(block[cut:])
                return bytes(block[:cut])
        return bytes(block)

    def _chunks_of_file(self, fragment: Fragment | None) -> Iterator[Chunk]:
        self.file.rewind(self.first - 1)
        line = self.first
        block = self._next_block()
        while block:
            try:
                for chunk in self._parse_block(block, line):
                    if chunk.batch.num_rows:
                        yield chunk
                    line += block.count(b"\n", 0, chunk.size)
                    block = block[chunk.size :]
                block = self._next_block()
            except Unclosed:
                # the last row continues in the next block
                block += self._next_block()

    def _parse_block(self, block: bytes, first: int) -> Iterator[Chunk]:
        separated = bool(self.dialect.separator)
        is_regular = (
            b'"' not in block or not separated or _encloses_cells(block, self.dialect.separator)
        )
        parsed = self._parse_with_arrow(block) if is_regular else None
        if parsed is not None:
            batch, faults = parsed
            lines = range(first, first + block.count(b"\n") + (not block.endswith(b"\n")))
            regular = places(f"{self.prefix}line", lines)
            where = regular if batch.num_rows == len(lines) else self._line_labels(block, first)
            yield Chunk(batch, where, faults, len(block))
        elif (
            is_regular
            and len(block) > PIECE_BYTES
            and (cut := _middle(block, quoted=separated)) < len(block)
        ):
            yield from self._parse_block(block[:cut], first)
            yield from self._parse_block(block[cut:], first + block.count(b"\n", 0, cut))
        else:
            yield self._parse_plainly(block, first)

    def _parse_with_arrow(self, block: bytes) -> tuple[Any, Mapping[int, ExpressionError]] | None:
        """Return the batch and its errors; None if readers might differ."""
        import pyarrow as pa

        block = block.replace(b"\r\n", b"\n")
        schema, numbers, separated = (
            self.of_file.schema,
            self.of_file.numbers,
            bool(self.dialect.separator),
        )
        names = [name for name in schema.names if name in self.names]
        other_objects = not separated and (len(names) < len(schema) or b"\\u0000" in block)
        if b"\0" in block or b"\r" in block or other_objects:
            return None
        try:
            if not block.isascii():
                block.decode()
            if names == schema.names and (batch := self._batch_of_numbers(block)) is not None:
                return batch, {}
            if not separated:
                return None
            texts = self._batch(block, pa.schema([pa.field(name, pa.string()) for name in names]))
        except (pa.ArrowException, UnicodeDecodeError, KeyError):
            return None
        return _parse_number_columns(texts, schema, numbers, self.dialect)

    def _batch_of_numbers(self, block: bytes) -> Any:
        """Return the batch of a block whose columns are of one type and finite; None of another
        block.
        """
        import numpy as np
        import pyarrow as pa

        try:
            # a column has one type while it is read: that of kept numbers is text
            batch = self._batch(block, self.of_file.schema)
        except pa.ArrowInvalid:
            return None
        # an object may have several lines, or a line several
        separated = bool(self.dialect.separator)
        by_lines = separated or batch.num_rows == sum(
            map(bool, map(bytes.strip, block.split(b"\n")))
        )
        columns = map(batch.column, self.of_file.numbers)
        finite = by_lines and all(
            np.count_nonzero(~np.isfinite(numbers_of(x))) == x.null_count for x in columns
        )
        return batch if finite else None

    def _batch(self, block: bytes, schema: Any) -> Any:
        import pyarrow as pa

        data, size = pa.BufferReader(block), len(block) + 1
        if self.dialect.separator:
            from pyarrow import csv

            table = csv.read_csv(
                data,
                csv.ReadOptions(column_names=self.columns, block_size=size, use_threads=False),
                csv.ParseOptions(
                    delimiter=self.dialect.separator, newlines_in_values=b'"' in block
                ),
                csv.ConvertOptions(
                    column_types=schema,
                    null_values=[""],
                    strings_can_be_null=False,
                    include_columns=schema.names,
                    decimal_point=self.dialect.decimal,
                ),
            )
        else:
            from pyarrow import json as objects

            options = objects.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior="ignore"
            )
            table = objects.read_json(
                data, objects.ReadOptions(use_threads=False, block_size=size), options
            )
        batches = table.select(schema.names).combine_chunks().to_batches()
        return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=schema)

    def _plain_rows(self, block: bytes, first: int) -> Iterator[TextRow]:
        texts = Texts(io.BytesIO(block), self.source.name, first=False)
        rows = (
            cells_of(self.columns, texts, self.dialect)
            if self.dialect.separator
            else objects_of(texts)
        )
        return ((first + line - 1, cells, error) for line, cells, error in rows)

    def _line_labels(self, block: bytes, first: int) -> Callable[[int], str]:
        lines = cache(lambda: [line for line, _, _ in self._plain_rows(block, first)])
        return lambda row: f"{self.prefix}line {lines()[row]}: "

    def _parse_plainly(self, block: bytes, first: int) -> Chunk:
        import pyarrow as pa

        schema, wanted = self.of_file.schema, self.of_file.numbers
        kept = [name for name in schema.names if name not in wanted]
        rows: list[dict[str, object]] = []
        faults: dict[int, ExpressionError] = {}
        lines: list[int] = []
        for row, (line, cells, error) in enumerate(self._plain_rows(block, first)):
            if (
                isinstance(error, Unclosed)
                and (self.rest or not self.ended)
                and len(block) <= reading.MAX_BYTES
            ):
                raise error
            lines.append(line)
            numbers, fault = numbers_in((line, cells, error), wanted, self.dialect)
            if fault is not None:
                faults[row] = fault
            texts = {
                name: cell_text(cells.get(name.removesuffix(MARK)), self.of_file.as_text)
                for name in kept
            }
            rows.append({**texts, **numbers})
        batch = pa.RecordBatch.from_struct_array(pa.array(rows, pa.struct(schema)))
        return Chunk(batch, places(f"{self.prefix}line", lines), faults, len(block))

    def close(self) -> None:
        self.file.close()


def _parse_number_columns(
    texts: Any, schema: Any, numbers: Sequence[str], dialect: Dialect
) -> tuple[Any, dict[int, ExpressionError]]:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = dict(zip(texts.schema.names, texts.columns, strict=True))
    columns |= {text_of(name): columns[name] for name in numbers}
    faults: dict[int, ExpressionError] = {}
    for name in numbers:
        column = columns[name]
        if dialect.plain:
            matches, points = pc.match_substring_regex(column, PLAIN_NUMBER), column
        else:
            matches = pc.match_substring_regex(
                column, f"^{text_dialects.number(dialect.decimal, dialect.thousands).pattern}$"
            )
            points = (
                pc.replace_substring(column, dialect.thousands, "") if dialect.thousands else column
            )
            points = pc.replace_substring(points, dialect.decimal, ".")
        plain = pc.if_else(matches, points, pa.scalar(None, pa.string()))
        parsed = numbers_of(pc.cast(plain, pa.float64())).copy()
        for row in np.flatnonzero(~np.isfinite(parsed)).tolist():
            try:
                parsed[row] = text_dialects.value(name, column[row].as_py(), dialect)
            except ExpressionError as fault:
                parsed[row] = np.nan
                faults.setdefault(row, fault)
        columns[name] = pa.array(parsed, mask=np.isnan(parsed))
    return (
        pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema),
        faults,
    )


def _encloses_cells(block: bytes, separator: str) -> bool:
    # or doubled quotes, where every other one opens a cell
    around = rf'\r\n"{re.escape(separator)}'
    return bool(
        re.fullmatch(rf'[^"]*+(?:(?<![^{around}])"[^"]*+"(?![^{around}])[^"]*+)*+'.encode(), block)
    )


def _middle(block: bytes, *, quoted: bool) -> int:
    # after a newline, for `quoted` cells one outside quotes
    cut = len(block) // 2
    quotes = block.count(b'"', 0, cut)
    while end := block.find(b"\n", cut) + 1:
        quotes += block.count(b'"', cut, end)
        cut = end
        if not (quoted and quotes % 2):
            return cut
    return len(block)
