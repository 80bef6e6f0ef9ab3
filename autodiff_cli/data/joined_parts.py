"""Parts of answers, which workers have written, as one file."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import IO, Any

from ..streams import filesystems
from ..streams.files import begin_file
from .sinks import open_sink

QUOTE, LINE_END = b'"', b"\n"


def join(parts: Sequence[str], path: str, format: str, *, force: bool) -> None:
    """Write the rows of all parts, in their order, to one file. Raises `ExpressionError` (`io`)."""
    file = begin_file(path, force=force)
    try:
        if format in ("csv", "tsv", "jsonl"):
            _join_texts(parts, file.file, headed=format != "jsonl")
        else:
            _join_batches(parts, file.file, format)
        file.finish()
    except OSError as fault:
        raise filesystems.unwritable(path, fault) from None
    finally:
        file.abandon()


def _join_texts(parts: Sequence[str], file: IO[bytes], *, headed: bool) -> None:
    for k, path in enumerate(parts):
        # a file of pyarrow has no lines
        with closing(io.BufferedReader(filesystems.open_file(path))) as part:
            if headed and k:
                _skip_header(part)
            shutil.copyfileobj(part, file)


def _skip_header(lines: IO[bytes]) -> None:
    """Read the line of headings; a heading in quotes may hold the end of a line."""
    quotes = 0
    while line := lines.readline():
        quotes += line.count(QUOTE)
        if quotes % 2 == 0:
            return


def _join_batches(parts: Sequence[str], file: IO[bytes], format: str) -> None:
    to = None
    try:
        for path in parts:
            with closing(filesystems.open_file(path)) as part:
                for batch in _batches(part, format):
                    to = to or open_sink(file, batch.schema, format, spreadsheet=False)
                    to.write(batch)
        if to is not None:
            to.close()
    finally:
        if to is not None:
            to.abandon()


def _batches(part: Any, format: str) -> Iterator[Any]:
    """Yield the batches of a part, an empty one if it has no rows: its columns count."""
    import pyarrow as pa

    found: Iterable[Any]
    if format == "parquet":
        import pyarrow.parquet as parquet

        whole = parquet.ParquetFile(part)
        schema, found = whole.schema_arrow, whole.iter_batches()
    else:
        opened = pa.ipc.open_file(part)
        schema, found = (
            opened.schema,
            (opened.get_batch(k) for k in range(opened.num_record_batches)),
        )
    yield pa.RecordBatch.from_pylist([], schema=schema)
    yield from found
