"""Batches of rows: files as columns, a block at a time, with what is wrong with single rows beside them.

Blocks of text are parsed by pyarrow. One that it cannot parse is cut into pieces; a small piece that it cannot parse is
read by our own reader, which knows constant expressions, and which row, column and cell is wrong.
"""

from __future__ import annotations

import io
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ..batched.columns_io import unique
from ..errors import ExpressionError
from ..inputs import decoding as reading
from ..streams import filesystems
from ..streams.filesystems import arrow
from .rows import doubles
from .sources import STREAM, File, Source, no_such, opened, peeked, within
from .text_rows import Texts, Unclosed, cells_of, objects_of, table, value, with_names

ROWS = 65_536
"""Rows of a batch of columns."""

BLOCK = 2 * 1024 * 1024
"""Bytes of a block of text."""

BUFFER = 64 * 1024
"""Bytes of each column of Parquet that are read at a time; larger pages are read by themselves, and not copied."""

PIECES = 16
SMALL = 8192
"""A block is cut into so many pieces, and one of so many bytes or less is read by our own reader."""


class Chunk(NamedTuple):
    """Some rows of a file, one after the other."""

    batch: Any
    where: Callable[[int], str]
    """Where a row is, for messages: `line 5: `."""
    faults: Mapping[int, ExpressionError]
    """What is wrong with rows that have no numbers."""
    size: int
    """Bytes of the file that it took, about."""


class Span(NamedTuple):
    """Some rows of a file, which are read without the others."""

    start: int
    stop: int
    """Row groups of Parquet, or batches of Arrow."""
    first: int = 1
    """The number of the first of its rows."""


class Wanted(NamedTuple):
    """The columns that are read."""

    numbers: Sequence[str] = ()
    kept: Sequence[str] = ()

    def of(self, names: Sequence[str]) -> list[str]:
        """Those of a file, in its order."""
        wanted = {*self.numbers, *self.kept}
        return [name for name in names if name in wanted]

    def again(self, first: str, other: str) -> Needs:
        """The same columns in another file than the first. Raises for one that is not there."""

        def of(names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
            there = set(names)
            for column in (*self.numbers, *self.kept):
                if column not in there:
                    raise no_such(column, other, first)
            return self

        return of


Needs = Callable[[Sequence[str]], tuple[Sequence[str], Sequence[str]]]
"""From the names of all columns to those that hold numbers, and to those that are carried along. Raises what does not
fit."""


class Reader(ABC):
    """The rows of one file."""

    def __init__(
        self, source: Source, needs: Needs, several: bool, file: File | None, span: Span | None = None
    ) -> None:  # fmt: skip
        self.source, self.needs, self.span = source, needs, span
        self.prefix = f"{source.shown}, " if several else ""
        self.names: Sequence[str] = ()
        self.wanted = Wanted()
        self.schema: Any = None
        self.total: int | None = None
        """Rows, where they are known beforehand."""

    @property
    def size(self) -> int:
        """Bytes of the file; 0 where that is not known."""
        path = self.source.path
        try:
            return filesystems.entry(path).size if filesystems.is_url(path) else os.path.getsize(path)
        except (OSError, ExpressionError):
            return 0

    @abstractmethod
    def chunks(self) -> Iterator[Chunk]:
        """The rows. Raises `ExpressionError`."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""


def reader(
    source: Source, needs: Needs, several: bool = False, file: File | None = None, span: Span | None = None
) -> Reader:  # fmt: skip
    """What reads a file, or a part of it, its header read. Raises `ExpressionError`.

    `file` is its text, where it is open already.
    """
    kinds: dict[str | None, type[Reader]] = {"parquet": Parquet, "arrow": Arrow}
    return kinds.get(source.format, Text)(source, needs, several, file, span)


# ---- columns ------------------------------------------------------------------------------------------------------
class Parquet(Reader):
    """A file of Parquet."""

    def __init__(
        self, source: Source, needs: Needs, several: bool, file: File | None, span: Span | None = None
    ) -> None:  # fmt: skip
        super().__init__(source, needs, several, file, span)
        arrow("to read Parquet")
        import pyarrow.parquet as parquet

        elsewhere = filesystems.is_url(source.path)
        place = filesystems.opened(source.path) if elsewhere else source.path
        if source.once:
            raw = peeked(source.path)
            if not raw.seekable():
                hint = "give the name of the file, or pipe Arrow"
                raise ExpressionError("io", "Parquet cannot be read from a pipe", hint=hint)
            place = raw
        # what is elsewhere is fetched in few large pieces; of what is here a group may be as large as it likes
        buffer = 0 if elsewhere else BUFFER
        self.file = self.told(
            lambda: parquet.ParquetFile(
                place, pre_buffer=elsewhere, buffer_size=buffer, page_checksum_verification=True
            )
        )
        self.total = self.file.metadata.num_rows
        self.choose(self.told(lambda: self.file.schema_arrow))

    def choose(self, whole: Any) -> None:
        """Know which of the columns of a schema are read. Raises `ExpressionError`."""
        import pyarrow as pa

        # names that are no text are known when somebody asks for them
        self.names = self.told(lambda: whole.names)
        unique(self.names)
        self.wanted = Wanted(*self.needs(self.names))
        self.columns = self.wanted.of(self.names)
        self.schema = pa.schema([whole.field(name) for name in self.columns])

    def told(self, action: Callable[[], Any]) -> Any:
        """What an action of pyarrow gives. Raises `ExpressionError` where the file is none, or cut off."""
        import pyarrow as pa

        try:
            return filesystems.patiently(action) if filesystems.is_url(self.source.path) else action()
        except (pa.ArrowException, OSError, ValueError) as fault:
            first = str(fault).split("\n")[0].rstrip(".")
            message = f"{self.source.name} cannot be read as {self.source.format}: {within(first[:200])}"
            raise ExpressionError("io", message, hint="it may be cut off, or be another kind of file") from None

    def batches(self) -> Iterator[Any]:
        """The batches, a group of rows after the other: what is fetched beforehand is no more than one."""
        span = self.span or Span(0, self.file.num_row_groups)
        for group in range(span.start, span.stop):
            for batch in self.file.iter_batches(ROWS, row_groups=[group], columns=self.columns, use_threads=False):
                batch.validate(full=True)
                yield batch

    def chunks(self) -> Iterator[Chunk]:
        batches = self.batches()
        first = self.span.first if self.span else 1
        while (batch := self.told(lambda: next(batches, None))) is not None:
            if batch.schema.names != self.schema.names:
                batch = batch.select(self.schema.names)
            yield Chunk(batch, _numbered(f"{self.prefix}row", first), {}, batch.nbytes)
            first += batch.num_rows

    def close(self) -> None:
        self.file.close()


class Arrow(Parquet):
    """A file, or a stream, of Arrow's batches."""

    def __init__(
        self, source: Source, needs: Needs, several: bool, file: File | None, span: Span | None = None
    ) -> None:  # fmt: skip
        Reader.__init__(self, source, needs, several, file, span)
        pa = arrow("to read Arrow")
        if source.once:
            place = peeked(source.path)
            begin = place.peek(8)
        else:
            if filesystems.is_url(source.path):
                place = filesystems.opened(source.path)
            else:
                # a memory map of a file that is cut off meanwhile ends the process
                place = self.told(lambda: pa.OSFile(source.path))
            begin = place.read(8)
            place.seek(0)
        self.stream = begin.startswith(STREAM)
        if self.stream:
            self.file = self.told(lambda: pa.ipc.open_stream(place))
        else:
            if source.once and not place.seekable():
                place = pa.BufferReader(place.read())
            self.file = self.told(lambda: pa.ipc.open_file(place))
        self.place = place
        self.choose(self.file.schema)
        if not self.stream:
            fields = pa.ipc.IpcReadOptions(included_fields=[self.names.index(name) for name in self.columns])
            self.file = self.told(lambda: pa.ipc.open_file(place, options=fields))

    def lengths(self) -> list[int]:
        """How many rows there are in each batch. Raises `ExpressionError`."""
        import pyarrow as pa

        # of what is elsewhere one column only is fetched
        self.place.seek(0)
        options = pa.ipc.IpcReadOptions(included_fields=[0] if self.names else [])
        file = self.told(lambda: pa.ipc.open_file(self.place, options=options))
        found: list[int] = self.told(lambda: [file.get_batch(k).num_rows for k in range(file.num_record_batches)])
        return found

    def batches(self) -> Iterator[Any]:
        """The batches, none of them too long."""
        span = self.span or Span(0, 0 if self.stream else self.file.num_record_batches)
        for batch in self.file if self.stream else map(self.file.get_batch, range(span.start, span.stop)):
            batch.validate(full=True)
            for start in range(0, batch.num_rows, ROWS):
                yield batch.select(self.columns).slice(start, ROWS)

    def close(self) -> None:
        if self.source.path != "-":
            self.place.close()


def _numbered(word: str, first: int) -> Callable[[int], str]:
    return lambda row: f"{word} {first + row}: "


# ---- text ---------------------------------------------------------------------------------------------------------
class Text(Reader):
    """A file of text: csv, tsv or jsonl."""

    @property
    def block_size(self) -> int:
        """Bytes of a block, about."""
        return BLOCK

    def __init__(
        self, source: Source, needs: Needs, several: bool, file: File | None, span: Span | None = None
    ) -> None:  # fmt: skip
        super().__init__(source, needs, several, file, span)
        self.file = file or opened(source)
        self.rest = b""
        self.ended = False
        try:
            self.begin()
        except BaseException:
            self.close()
            raise

    def begin(self) -> None:
        """Read the header. Raises `ExpressionError`."""
        begun = self.next_block()
        self.block = begun.removeprefix(b"\xef\xbb\xbf")
        texts = Texts(io.BytesIO(self.block), self.source.path, None)
        found, rows, self.separator = table(texts, self.source.path, self.source.format)
        if found is None:
            self.names, _ = with_names(rows)
            self.first = 1
        else:
            self.names = found
            # the lines of the header are those that were taken
            self.first = texts.taken + 1
            start = 0
            for _ in range(texts.taken):
                start = self.block.find(b"\n", start) + 1 or len(self.block)
            self.block = self.block[start:]
        self.wanted = Wanted(*self.needs(self.names))
        self.numbers, self.kept = self.wanted
        pa = arrow("to read columns of text")
        both = self.wanted.of(self.names)
        self.schema = pa.schema(
            [pa.field(name, pa.float64() if name in self.numbers else pa.string()) for name in both]
        )
        self.both_ways = [name for name in self.kept if name in self.numbers]

    def next_block(self, *, more: bool = False) -> bytes:
        """Whole lines, about a block of them, and all of each cell that is quoted; none at the end.

        With `more` a row is not yet at its end.
        """
        parts, size = [self.rest], len(self.rest)
        self.rest = b""
        while not self.ended:
            data = self.file.read1(self.block_size)
            if not data:
                self.ended = True
                break
            parts.append(data)
            size += len(data)
            if size < self.block_size:
                continue
            whole = b"".join(parts)
            parts = [whole]
            cut = whole.rfind(b"\n") + 1
            if size > reading.LIMIT + BLOCK:
                # a quote that is never closed, or a line without an end: our own reader says so
                if not cut:
                    return whole + self.dropped()
            elif not cut or _count(whole, b'"', cut) % 2:
                continue
            self.rest = whole[cut:]
            return whole[:cut]
        return b"".join(parts)

    def dropped(self) -> bytes:
        """The end of a line that is too long for anyone to see what is in it."""
        while data := self.file.read1(self.block_size):
            end = data.find(b"\n")
            if end >= 0:
                self.rest = data[end + 1 :]
                return b"\n"
        self.ended = True
        return b""

    def chunks(self) -> Iterator[Chunk]:
        # the first block may end with the header
        block = self.block or self.next_block()
        self.block = b""
        while block:
            try:
                for chunk, lines in self.parsed(block, self.first):
                    if chunk.batch.num_rows:
                        yield chunk
                    self.first += lines
                    block = block[chunk.size :]
            except Unclosed:
                # the rest of the row is still to come
                block += self.next_block(more=True)
                continue
            block = self.next_block()

    def parsed(self, block: bytes, first: int) -> Iterator[tuple[Chunk, int]]:
        """The rows in a block that begins at a line, with the number of its lines.

        Raises `Unclosed` where the last of them does not end in it, and there is more to come.
        """
        lines = _count(block, b"\n", len(block)) + (not block.endswith(b"\n"))
        quotes = _quotes(block, self.separator) if b'"' in block and self.separator else ()
        batch = None if quotes is None else self.by_arrow(block)
        if batch is not None:
            at = _numbered(f"{self.prefix}line", first)
            where = self.looked_up(block, first) if batch.num_rows != lines else at
            yield Chunk(batch, where, {}, len(block)), lines
        elif len(block) > SMALL and quotes is not None and (cuts := _cuts(block, quotes)):
            for start, stop in pairwise((0, *cuts)):
                for found in self.parsed(block[start:stop], first):
                    yield found
                    first += found[1]
        else:
            yield self.by_hand(block, first), lines

    def by_arrow(self, block: bytes) -> Any:
        """The batch in a block; None where pyarrow cannot read it, or would not read it as we do."""
        import pyarrow as pa

        if b"\0" in block or (b"\r" in block and block.count(b"\r") != block.count(b"\r\n")):
            return None
        if self.both_ways:
            return None
        try:
            if not block.isascii():
                block.decode()
            found = self.separated(block) if self.separator else self.objects(block)
            found = found.combine_chunks()
            batches = found.to_batches()
            batch = batches[0] if batches else pa.RecordBatch.from_pylist([], schema=self.schema)
        except (pa.ArrowException, UnicodeDecodeError, KeyError):
            return None
        import numpy as np

        for name in self.numbers:
            column = batch.column(name)
            numbers = doubles(column)
            if np.count_nonzero(~np.isfinite(numbers)) != column.null_count:
                return None
        return batch

    def separated(self, block: bytes) -> Any:
        """A block of cells between separators, as a table."""
        import pyarrow as pa
        from pyarrow import csv

        return csv.read_csv(
            pa.BufferReader(block),
            csv.ReadOptions(column_names=list(self.names), block_size=len(block) + 1, use_threads=False),
            csv.ParseOptions(delimiter=self.separator, newlines_in_values=b'"' in block),
            csv.ConvertOptions(
                column_types=dict(zip(self.schema.names, self.schema.types, strict=True)), null_values=[""],
                strings_can_be_null=False, include_columns=self.schema.names,
            ),
        )  # fmt: skip

    def objects(self, block: bytes) -> Any:
        """A block of objects, as a table."""
        import pyarrow as pa
        from pyarrow import json

        return json.read_json(
            pa.BufferReader(block), json.ReadOptions(use_threads=False, block_size=len(block) + 1),
            json.ParseOptions(explicit_schema=self.schema, unexpected_field_behavior="ignore"),
        ).select(self.schema.names)  # fmt: skip

    def rows_of(self, block: bytes) -> Iterator[tuple[int, Mapping[str, object], ExpressionError | None]]:
        """The rows of a block, by our own reader; their lines are counted from 1."""
        texts = Texts(io.BytesIO(block), self.source.path, None, first=False)
        return cells_of(self.names, texts, self.separator) if self.separator else objects_of(texts)

    def looked_up(self, block: bytes, first: int) -> Callable[[int], str]:
        """Where the rows of a block are in which some lines are no rows, or some rows several lines."""
        found: list[int] = []
        at = _numbered(f"{self.prefix}line", first)

        def where(row: int) -> str:
            if not found:
                found.extend(line for line, _, _ in self.rows_of(block))
            return at(found[row] - 1)

        return where

    def by_hand(self, block: bytes, first: int) -> Chunk:
        """The rows of a block, by our own reader."""
        import pyarrow as pa

        columns: dict[str, list[object]] = {name: [] for name in self.schema.names}
        faults: dict[int, ExpressionError] = {}
        lines: list[int] = []
        for line, cells, error in self.rows_of(block):
            row = len(lines)
            lines.append(line - 1)
            if error is not None:
                if isinstance(error, Unclosed) and self.more and len(block) <= reading.LIMIT:
                    raise error
                faults[row] = error
            for name in self.schema.names:
                if name not in self.numbers:
                    cell = cells.get(name)
                    columns[name].append(text_of(cell))
                    continue
                number: float | None = None
                if row not in faults:
                    try:
                        number = float(value(name, cells.get(name)))
                    except ExpressionError as wrong:
                        faults[row] = wrong
                columns[name].append(number)
        batch = pa.RecordBatch.from_pydict(columns, schema=self.schema)
        at = _numbered(f"{self.prefix}line", first)
        return Chunk(batch, lambda row: at(lines[row]), faults, len(block))

    @property
    def more(self) -> bool:
        """Whether there may be more to read."""
        return bool(self.rest) or not self.ended

    def close(self) -> None:
        if self.source.path != "-":
            self.file.close()


class Head(Text):
    """A file of text of which no more than the first rows are read."""

    block_size = 65_536


def _count(block: bytes, char: bytes, stop: int) -> int:
    """How often a character is there before a place: looked for, and then counted by NumPy, which is faster."""
    if block.find(char, 0, stop) < 0:
        return 0
    import numpy as np

    return int(np.count_nonzero(np.frombuffer(block, np.uint8, stop) == ord(char)))


def _quotes(block: bytes, separator: str) -> Any:
    """Where the quotes are in a block in which they stand around cells, or twice for one; else None.

    Then every other one of them opens a cell.
    """
    import numpy as np

    data = np.frombuffer(block, np.uint8)
    quotes = np.flatnonzero(data == ord('"'))
    if len(quotes) % 2:
        return None
    around = np.zeros(256, bool)
    around[[ord(char) for char in f'\r\n"{separator}']] = True
    before, after = quotes[::2], quotes[1::2]
    fine = around[data[before - 1]] | (before == 0)
    fine &= around[data[np.minimum(after + 1, len(data) - 1)]] | (after == len(data) - 1)
    return quotes if fine.all() else None


def _cuts(block: bytes, quotes: Any) -> list[int]:
    """Where to cut a block into pieces: behind lines that end outside of cells; nowhere where that makes no pieces."""
    import numpy as np

    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + 1
    if len(quotes):
        ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
    if not len(ends):
        return []
    step = max(SMALL, len(block) // PIECES)
    chosen = np.unique(ends[np.minimum(np.searchsorted(ends, np.arange(step, len(block), step)), len(ends) - 1)])
    cuts = [int(cut) for cut in chosen if cut < len(block)]
    return [*cuts, len(block)] if cuts else []


def text_of(cell: object) -> str | None:
    """A cell that is carried along, as text."""
    import json

    return cell if isinstance(cell, str) or cell is None else json.dumps(cell, ensure_ascii=False)
