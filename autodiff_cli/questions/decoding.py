"""Decoding of files: limits, encodings, and formats that are not text."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import BinaryIO

from ..errors import ExpressionError, Span, limit_error

# Bytes in a line, or in a file that is read whole.
MAX_BYTES = 64 * 1024 * 1024


def _unpacking(tool: str) -> str:
    from ..operating_system import unpacking

    return unpacking(tool)


def _recoding() -> str:
    from ..operating_system import recoding_to_utf8

    return f"save it as UTF-8: `{recoding_to_utf8()}`"


# First bytes of formats other than UTF-8 text, with descriptions and hints.
KINDS: tuple[tuple[bytes, str, str | Callable[[], str]], ...] = (
    (b"\x1f\x8b", "compressed by gzip", partial(_unpacking, "gzip")),
    (b"\x28\xb5\x2f\xfd", "compressed by Zstandard", partial(_unpacking, "zstd")),
    (b"BZh", "compressed by bzip2", partial(_unpacking, "bzip2")),
    (b"\xfd7zXZ\0", "compressed by xz", partial(_unpacking, "xz")),
    (b"PK\x03\x04", "a zip archive, as spreadsheets are", "save it as csv"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet or document", "save it as csv"),
    (b"PAR1", "Parquet", "leave out `--input-format`"),
    (b"ARROW1", "Arrow", "leave out `--input-format`"),
    (
        b"SQLite format 3\0",
        "an SQLite database",
        'write the table as csv: `sqlite3 -csv -header FILE "select …"`',
    ),
    (b"\x89HDF\r", "HDF5", "write it as csv, tsv or jsonl"),
    (b"\x89PNG\r", "a picture (PNG)", "give a file of data: csv, tsv or jsonl"),
    (b"\xff\xd8\xff", "a picture (JPEG)", "give a file of data: csv, tsv or jsonl"),
    (b"%PDF-", "a PDF", "give a file of data: csv, tsv or jsonl"),
    (b"\xff\xfe\0\0", "text in UTF-32", "save it as UTF-8"),
    (b"\0\0\xfe\xff", "text in UTF-32", "save it as UTF-8"),
    (b"\xff\xfe", "text in UTF-16", _recoding),
    (b"\xfe\xff", "text in UTF-16", _recoding),
)


def kind_of(data: bytes) -> tuple[str, str] | None:
    """Return the kind and a hint from a file's first bytes; None if it may be text."""
    for begin, kind, hint in KINDS:
        if data.startswith(begin):
            return kind, hint() if callable(hint) else hint
    if re.match(rb"(?:[\t\n\r -~]\0){2,}|(?:\0[\t\n\r -~]){2,}", data):
        return "text in UTF-16", _recoding()
    return None


def read_text(
    path: str, file: BinaryIO | None = None, hint: str = "check the path"
) -> tuple[str, ExpressionError | None]:
    """Return a file's text and its decoding error, if any. Raises `ExpressionError`."""
    try:
        with open(path, "rb") if file is None else nullcontext(file) as source:
            data = source.read(MAX_BYTES + 1)
    except (OSError, ValueError) as fault:
        from ..operating_system import reason_of

        reason = reason_of(fault, path) if isinstance(fault, OSError) else fault
        raise ExpressionError("io", f"`{path}` cannot be read: {reason}", hint=hint) from None
    if len(data) > MAX_BYTES:
        raise limit_error(f"`{path}` is longer than {MAX_BYTES:,} bytes", "use a smaller file")
    text, error = decode(data, first=True)
    if (error is not None or data.startswith(b"%PDF")) and (other_kind := kind_of(data)):
        kind, hint = other_kind
        if not hint.startswith(("unpack", "save it as UTF-8")):
            hint = "give a file of text"
        name = "standard input" if path == "-" else f"`{path}`"
        raise ExpressionError("io", f"{name} seems to be {kind}", hint=hint)
    if "\r\n" in text and error is None:
        text = text.replace("\r\n", "\n")
    return text, error


def decode(data: bytes, *, first: bool) -> tuple[str, ExpressionError | None]:
    """Return bytes as text, and an error if they are not UTF-8 or hold a NUL; the `first` may have
    a BOM.
    """
    if first:
        data = data.removeprefix(b"\xef\xbb\xbf")
    error: ExpressionError | None = None
    try:
        text = data.decode()
    except UnicodeDecodeError as fault:
        text = data.decode(errors="replace")
        place = len(data[: fault.start].decode())
        message = f"byte {data[fault.start]:#04x} is not UTF-8 text"
        error = ExpressionError("syntax", message, Span(place, place + 1), "save the text as UTF-8")
    if "\0" in text and error is None:
        place = text.index("\0")
        error = ExpressionError(
            "syntax", "there is a NUL character here", Span(place, place + 1), "remove it"
        )
    return text, error
