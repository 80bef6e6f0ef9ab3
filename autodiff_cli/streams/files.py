"""Output files: written all or nothing, and over an existing file only with `--force`."""

from __future__ import annotations

import io
import os
import shutil
import stat
import sys
from contextlib import suppress
from typing import IO, TextIO

from ..errors import ExpressionError, usage_error
from .filesystems import (
    Upload,
    exists_error,
    hidden_name,
    is_there,
    is_url,
    local_path,
    unwritable,
)

MAX_BYTES_IN_MEMORY = 1_000_000


class Output:
    """The output of a command: standard output, or a file written at the end."""

    def __init__(self, path: str | None, *, force: bool) -> None:
        self.path = path
        self.force = force
        self.stream: TextIO = sys.stdout
        if path is not None:
            from tempfile import SpooledTemporaryFile

            self.path = path = local_path(path)
            check(path, force=force)
            folder = os.path.dirname(os.path.realpath(path))
            is_device = os.path.exists(path) and not os.path.isfile(path)
            near = folder if os.access(folder, os.W_OK) and not is_device else None
            held = SpooledTemporaryFile(max_size=MAX_BYTES_IN_MEMORY, dir=near)  # noqa: SIM115 - closed when all is written
            self.stream = _NamedFile(held, path)

    def finish(self, code: int, *, always: bool = False) -> int:
        """Write the file if `always` or the code is 0, else print its text; return the code."""
        if self.path is not None:
            self.stream.seek(0)
            if code and not always:
                sys.stdout.write(self.stream.read())
            else:
                write(self.path, self.stream.buffer, force=self.force)
            self.stream.close()
        return code


class _NamedFile(io.TextIOWrapper):
    """A text file. Raises `ExpressionError` (`io`) with its path if the disk is full."""

    def __init__(self, file: IO[bytes], path: str) -> None:
        super().__init__(file, encoding="utf-8", newline="\n")
        self.path = path

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as fault:
            raise unwritable(self.path, fault) from None

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as fault:
            raise unwritable(self.path, fault) from None


def write(path: str, data: bytes | IO[bytes], *, force: bool) -> None:
    """Write a file, a regular one atomically. Raises `ExpressionError` (`io`), also if it
    exists.
    """
    file = begin_file(path, force=force)
    try:
        shutil.copyfileobj(
            io.BytesIO(data) if isinstance(data, bytes) else data, file.file, MAX_BYTES_IN_MEMORY
        )
        file.finish()
    except OSError as fault:
        raise unwritable(path, fault) from None
    finally:
        file.abandon()


def begin_file(path: str, *, force: bool) -> AtomicFile | Upload:
    """Return a file, visible when finished. Raises `ExpressionError` (`io`)."""
    return Upload(path, force=force) if is_url(path) else AtomicFile(path, force=force)


def check(path: str, *, force: bool) -> None:
    """Raise early what `write` would for an existing file or a missing folder."""
    if path in ("", "-"):
        raise usage_error(f"`{path}` is not the name of a file", "give the name of a file to write")
    if is_url(path):
        if not force and is_there(path):
            raise exists_error(path)
        return
    target = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        return  # a device: `NUL` of Windows has no folder
    if os.path.isfile(target) and not force:
        raise exists_error(path)
    if os.path.isdir(target) or not os.path.isdir(os.path.dirname(target)):
        reason = "it is a folder" if os.path.isdir(target) else "its folder is not there"
        raise ExpressionError("io", f"`{path}` cannot be written: {reason}", hint="check the path")


class AtomicFile:
    """A temporary file, renamed when finished. Raises `ExpressionError` (`io`)."""

    def __init__(self, path: str, *, force: bool) -> None:
        self.path, self.force = path, force
        self.target = os.path.realpath(path)
        self.mode: int | None = None
        self.beside: str | None = None
        try:
            with suppress(FileNotFoundError):
                self.mode = os.stat(path).st_mode
            if self.mode is not None and not stat.S_ISREG(self.mode):
                # the target of `/dev/stdout` may be a pipe, which has no name
                self.file: IO[bytes] = open(path, "wb")  # noqa: SIM115 - `drop` closes it
                return
            if self.mode is not None and not force:
                raise exists_error(path)
            folder, name = os.path.split(self.target)
            near = os.path.join(folder, hidden_name(name))
            self.file = open(near, "xb")  # noqa: SIM115
            self.beside = near
        except OSError as fault:
            raise unwritable(path, fault) from None

    def finish(self) -> None:
        """Take the name. Raises `ExpressionError`, and errors of closing a file."""
        self.file.flush()
        if self.beside is None:
            return
        try:
            os.fsync(self.file.fileno())
            # Windows renames no file that is open
            self.file.close()
            if self.mode is not None:
                os.chmod(self.beside, stat.S_IMODE(self.mode))
            if not self.force and hasattr(os, "link"):
                try:
                    # unlike renaming, this fails if a new file has the name
                    os.link(self.beside, self.target)
                    return
                except FileExistsError:
                    raise
                except OSError:
                    pass
            os.replace(self.beside, self.target)
        except OSError as fault:
            raise unwritable(self.path, fault) from None

    def abandon(self) -> None:
        """Close the file, and delete it if it is unfinished."""
        with suppress(OSError, ValueError):
            self.file.close()
        if self.beside is not None:
            with suppress(OSError):
                os.unlink(self.beside)
