"""Files that a command writes: whole or not at all, and never over another without being told."""

from __future__ import annotations

import io
import os
import stat
import sys
from contextlib import suppress
from typing import BinaryIO, TextIO

from ..errors import ExpressionError

AT_HAND = 1_000_000
"""As many bytes of a file that is being written are held in memory; more of them, beside where it will be."""


class Output:
    """Where a command writes: standard output, or a file, which is then written whole when all has gone well."""

    def __init__(self, path: str | None, *, force: bool) -> None:
        self.path = path
        self.force = force
        self.stream: TextIO = sys.stdout
        if self.path is not None:
            from tempfile import SpooledTemporaryFile

            check(self.path, force=force)
            folder = os.path.dirname(os.path.realpath(self.path))
            beside = folder if os.access(folder, os.W_OK) else None
            held = SpooledTemporaryFile(max_size=AT_HAND, dir=beside)  # noqa: SIM115 - closed when all is written
            self.stream = io.TextIOWrapper(held, encoding="utf-8", newline="\n")

    def finish(self, code: int, *, whole: bool = False) -> int:
        """Write the file if the exit code is 0, or what there is counts as `whole` whatever the code; return the code.

        Else show what would be in it.
        """
        if self.path is not None:
            self.stream.seek(0)
            if code and not whole:
                sys.stdout.write(self.stream.read())
            else:
                _write(self.path, self.stream.buffer, force=self.force)
            self.stream.close()
        return code


def write(path: str, data: bytes, *, force: bool) -> None:
    """Write a file. Raises `ExpressionError` (`io`) where it cannot be written, or is there and `force` is not.

    The data go to a new file beside it, which takes its name once all of it is there. What is no regular file, such as
    `/dev/null` or a named pipe, is written to as it is.
    """
    _write(path, io.BytesIO(data), force=force)


def _write(path: str, data: BinaryIO, *, force: bool) -> None:
    target = os.path.realpath(path)
    try:
        try:
            mode = os.stat(target).st_mode
        except FileNotFoundError:
            mode = None
        if mode is not None and not stat.S_ISREG(mode):
            with open(target, "wb") as device:
                _copy(data, device)
            return
        if mode is not None and not force:
            raise _kept(path)
        _replace(target, data, mode, keep=not force)
    except FileExistsError:
        raise _kept(path) from None
    except OSError as fault:
        raise ExpressionError(
            "io", f"`{path}` cannot be written: {fault.strerror or fault}", hint="check the path, and the space there"
        ) from None


def check(path: str, *, force: bool) -> None:
    """Raise, before any work is done, what `write` would raise about a file that is there, or a folder that is not."""
    if path in ("", "-"):
        raise ExpressionError("usage", f"`{path}` is not the name of a file", hint="give the name of a file to write")
    target = os.path.realpath(path)
    if os.path.isfile(target) and not force:
        raise _kept(path)
    if os.path.isdir(target) or not os.path.isdir(os.path.dirname(target)):
        reason = "it is a folder" if os.path.isdir(target) else "its folder is not there"
        raise ExpressionError("io", f"`{path}` cannot be written: {reason}", hint="check the path")


def _replace(target: str, data: BinaryIO, mode: int | None, *, keep: bool) -> None:
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{name[:100]}.{os.getpid()}.part")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            _copy(data, file)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(beside, stat.S_IMODE(mode))
        if keep and hasattr(os, "link"):
            try:
                # unlike a renaming, this fails where somebody else has made the file meanwhile
                os.link(beside, target)
                return
            except FileExistsError:
                raise
            except OSError:
                pass
        os.replace(beside, target)
    finally:
        with suppress(OSError):
            os.unlink(beside)


def _copy(data: BinaryIO, file: BinaryIO) -> None:
    while piece := data.read(AT_HAND):
        file.write(piece)


def _kept(path: str) -> ExpressionError:
    return ExpressionError(
        "io", f"`{path}` exists, and is kept", hint="give another name, or write over it with `--force`"
    )
