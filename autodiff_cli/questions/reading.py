"""Texts from outside: how much of one is held at once, and what is no text."""

from __future__ import annotations

from typing import BinaryIO

from ..errors import ExpressionError, Span

LIMIT = 64 * 1024 * 1024
"""Bytes in a line, or in a file that is read whole."""


def whole(path: str, file: BinaryIO | None = None, hint: str = "check the path") -> tuple[str, ExpressionError | None]:
    """The text of a file, and the error that it is where it is not text. Line ends become `\\n`.

    `file` is read where it is open already, and `hint` is for a path that cannot be read. No more than the limit is
    read, whatever kind of file it is. Raises `ExpressionError` (`io`, `limit`).
    """
    try:
        if file is None:
            with open(path, "rb") as opened:
                data = opened.read(LIMIT + 1)
        else:
            data = file.read(LIMIT + 1)
    except (OSError, ValueError) as fault:
        reason = (fault.strerror if isinstance(fault, OSError) else None) or fault
        raise ExpressionError("io", f"`{path}` cannot be read: {reason}", hint=hint) from None
    if len(data) > LIMIT:
        raise ExpressionError("limit", f"`{path}` is longer than {LIMIT:,} bytes", hint="use a smaller file")
    text, error = decode(data, first=True)
    if "\r\n" in text and error is None:
        text = text.replace("\r\n", "\n")
    return text, error


def decode(data: bytes, *, first: bool) -> tuple[str, ExpressionError | None]:
    """The text of some bytes, and the error that it is where they are not UTF-8 or hold a NUL.

    A byte-order mark is dropped at the very beginning.
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
        error = ExpressionError("syntax", "there is a NUL character here", Span(place, place + 1), "remove it")
    return text, error
