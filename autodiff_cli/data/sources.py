"""Sources of rows: the files, their formats, and opening them."""

from __future__ import annotations

import codecs
import glob
import gzip
import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeVar

from ..errors import ExpressionError, plural, quote, require, usage_error
from ..questions.decoding import MAX_BYTES
from ..show.formats import COLUMNAR
from ..streams import filesystems
from ..streams.filesystems import get_arrow, is_url
from ..streams.requests import standard_input
from .text_dialects import (
    FIRST_BLOCK_BYTES,
    UNFORCED,
    ForcedDialect,
    Layout,
    LineNormalizer,
    begins_as_json,
)

TEXT = ("csv", "tsv", "jsonl")
INPUT_FORMATS = (*TEXT, "xlsx", *COLUMNAR)
_ENDINGS = {
    "csv": ".csv",
    "tsv": ".tsv .tab",
    "jsonl": ".jsonl .ndjson .json",
    "xlsx": ".xlsx .xlsm .xls .ods",
    "parquet": ".parquet .pq",
    "arrow": ".arrow .arrows .feather .ipc",
}
SUFFIXES = {suffix: format for format, suffixes in _ENDINGS.items() for suffix in suffixes.split()}
PACKED = {".gz": "gzip", ".zst": "zstd"}
# The first bytes of formats, whatever the file's name.
MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"PAR1": "parquet", b"ARROW1": "arrow"}

# Bytes of a file that show whether it is JSON.
BEGINNING_BYTES = 1000

ARROW_STREAM = b"\xff\xff\xff\xff"
MAX_PARALLEL_FILES = 32

Result = TypeVar("Result")


class Source(NamedTuple):
    """A file of rows."""

    path: str
    format: str | None
    """One of `INPUT_FORMATS`; None for text, recognised by its content."""
    packed: str | None
    file: io.BufferedReader | None = None
    """Standard input or a pipe, which cannot be reopened."""
    forced: ForcedDialect = UNFORCED
    sheet: str | None = None
    stream: bool = False
    """Whether it is an Arrow stream, not a file."""

    @property
    def name(self) -> str:
        return "standard input" if self.path == "-" else f"`{self.shown}`"

    @property
    def shown(self) -> str:
        """The prefix of locations in messages: the file's name."""
        return (
            "standard input"
            if self.path == "-"
            else self.path + (f"#{self.sheet}" if self.sheet else "")
        )

    @property
    def once(self) -> bool:
        """Whether the source can be read only once, like standard input or a pipe."""
        return self.file is not None

    @property
    def columnar(self) -> bool:
        return self.format in COLUMNAR

    def open(self) -> Any:
        """Open the file in bytes."""
        if self.file is not None:
            return self.file
        return filesystems.open_file(self.path) if is_url(self.path) else open(self.path, "rb")


def sources(names: Sequence[str], forced: ForcedDialect = UNFORCED) -> list[Source]:
    """Return the files of `--points`: paths, patterns, folders, `-`."""
    paths = [path for name in names for path in _paths(filesystems.local_path(name))]
    pipes = [path for path in paths if read_once(path)]
    for path in pipes:
        if pipes.count(path) > 1:
            raise usage_error(
                f"{Source(path, None, None).name} can be read once", f"leave one `{path}` out"
            )
    return parallel_map(lambda path: _source(path, forced), paths)


def parallel_map(action: Callable[[Any], Result], items: Sequence[Any]) -> list[Result]:
    """Return the results of an action; remote files run in parallel."""
    if len(items) < 2 or not any(is_url(getattr(item, "path", item)) for item in items):
        return [action(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    def all_of_them() -> list[Result]:
        with ThreadPoolExecutor(MAX_PARALLEL_FILES) as pool:
            return list(pool.map(action, items))

    return filesystems.run_interruptibly(all_of_them)


def _paths(pattern: str) -> list[str]:
    if pattern == "-":
        return [pattern]
    in_folder = _files_of_url(pattern) if is_url(pattern) else _files_of_folder(pattern)
    if in_folder is None:
        return [pattern] if _is_one_file(pattern) else _matching(pattern)
    paths = [
        path
        for path in in_folder
        if not os.path.basename(path).startswith((".", "_")) and _by_name(path)
    ]
    if not paths:
        hint = f"files are read whose names end in {', '.join(SUFFIXES)}"
        raise ExpressionError("io", f"the folder `{pattern}` holds no file of data", hint=hint)
    return paths


def _is_one_file(pattern: str) -> bool:
    """Return whether a path names one file, there or not; a file's own name may have the marks of a
    pattern.
    """
    return not glob.has_magic(pattern) or (not is_url(pattern) and os.path.isfile(pattern))


def _files_of_folder(path: str) -> list[str] | None:
    """Return all files of a folder; None if there is no folder of this name."""
    return (
        sorted(os.path.join(path, name) for name in os.listdir(path))
        if os.path.isdir(path)
        else None
    )


def _files_of_url(url: str) -> list[str] | None:
    """Return all files of a remote folder; None of a pattern, and of a file."""
    if glob.has_magic(url) or (not url.endswith("/") and filesystems.entry(url).is_file):
        return None
    return [entry.path for entry in filesystems.list_folder(url) if entry.is_file]


def _matching(pattern: str) -> list[str]:
    paths = (
        filesystems.match_files(pattern)
        if is_url(pattern)
        else sorted(filter(os.path.isfile, _match(pattern)))
    )
    if not paths:
        raise ExpressionError(
            "io", f"no file matches `{pattern}`", hint="check the pattern, and the folder"
        )
    return paths


def _match(pattern: str) -> list[str]:
    steps = pattern.replace(os.sep, "/").split("/")
    if "**" not in steps:
        return glob.glob(pattern)
    first = steps.index("**")
    rest = "/".join(steps[first + 1 :]) or "*"
    paths: list[str] = []
    seen: set[str] = set()
    for base in glob.glob("/".join([*steps[:first], ""])) if first else [""]:
        for folder, inner, _ in os.walk(base or ".", followlinks=True):
            if os.path.realpath(folder) in seen:
                inner.clear()
                continue
            seen.add(os.path.realpath(folder))
            # folders' own names come before links to them
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            inner.sort(key=lambda name: os.path.islink(os.path.join(folder, name)))
            near = (
                os.path.join(base, os.path.relpath(folder, base or "."))
                if folder != (base or ".")
                else base
            )
            paths += _match(os.path.join(glob.escape(near), rest))
    return paths


def _by_name(path: str) -> str | None:
    stem, suffix = os.path.splitext(path.lower())
    return SUFFIXES.get(os.path.splitext(stem)[1] if suffix in PACKED else suffix)


def _source(path: str, forced: ForcedDialect) -> Source:
    format = forced.input_format
    sheet = None
    if "#" in path and not os.path.exists(path):
        book, _, name = path.rpartition("#")
        if (format or _by_name(book)) == "xlsx":
            path, sheet = book, name or None
    file, begin = _first_bytes(path)
    stream = begin.startswith(ARROW_STREAM)
    kind = (
        "arrow"
        if stream
        else next((kind for magic, kind in MAGIC.items() if begin.startswith(magic)), None)
    )
    named = format or (kind if kind in COLUMNAR else _by_name(path))
    if format is None and named in COLUMNAR:
        # its reader reports the error
        return Source(path, named, None, file, forced, stream=stream)
    return Source(
        path, named, kind if kind in PACKED.values() else None, file, forced, sheet, stream
    )


def _first_bytes(path: str) -> tuple[io.BufferedReader | None, bytes]:
    """Return the bytes by which a file's kind is known, and the open file if it can be read only
    once.
    """
    try:
        if read_once(path):
            raw: Any = standard_input() if path == "-" else open(path, "rb")  # noqa: SIM115 - the reader closes it
            file = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)
            return file, file.peek(8)[:8]
        if is_url(path):
            with filesystems.open_file(path) as there:
                return None, filesystems.run_interruptibly(lambda: there.read(8))
        with open(path, "rb") as there:
            return None, there.read(8)
    except (OSError, ValueError) as fault:
        # a null character, or half a character, is no file's
        error = fault if isinstance(fault, OSError) else FileNotFoundError("there is no such file")
        raise filesystems.unreadable(path, error) from None


def read_once(path: str) -> bool:
    """Return whether a path is readable only once: standard input, a pipe, a device."""
    if path == "-" or is_url(path):
        return path == "-"
    with suppress(OSError, ValueError):
        kind = os.stat(path).st_mode
        return not (stat.S_ISREG(kind) or stat.S_ISDIR(kind))
    return False


def quotable(sentence: str) -> str:
    """Return a library's sentence, to be quoted within one of ours."""
    return sentence if sentence[:2].isupper() else sentence[:1].lower() + sentence[1:]


class TextFile:
    """The text of a source in UTF-8, with lookahead."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.head = bytearray()
        self.place = 0
        self.keep = True
        self.ended = False
        self.filters: list[Callable[[bytes], bytes]] = []
        self.begun = b""
        self.summary: list[str] = []
        try:
            self.raw = self.file = source.open()
            if source.packed == "gzip":
                self.file = gzip.GzipFile(fileobj=self.raw)
            if source.packed == "zstd":
                pa = get_arrow(f"to unpack {source.name}")
                self.file = io.BufferedReader(pa.CompressedInputStream(self.raw, "zstd"))
            if source.format == "xlsx":
                with self.raw:
                    text, self.summary = _text_of_sheet(self.file, source.path, source.sheet)
                self.raw = self.file = io.BufferedReader(io.BytesIO(text))
        except OSError as fault:
            from ..operating_system import reason_of

            message = f"{source.name} cannot be read: {reason_of(fault, source.path)}"
            raise ExpressionError("io", message, hint="check the path") from None

    def first_block(self) -> tuple[str, bool]:
        """Return the beginning, of a pipe two lines, and whether that is all."""
        lines = 0
        while (
            not self.ended
            and len(self.head) < FIRST_BLOCK_BYTES
            and not (self.source.once and lines >= 2)
        ):
            self._next(FIRST_BLOCK_BYTES)
            lines = sum(
                bool(x.strip()) and not x.lstrip().startswith(b"#")
                for x in bytes(self.head).split(b"\n")[:-1]
            )
        if self.head.startswith(codecs.BOM_UTF8):
            del self.head[: len(codecs.BOM_UTF8)]
        beginning = self.head[:BEGINNING_BYTES].decode(errors="replace")
        is_json = self.source.format == "jsonl" or begins_as_json(beginning)
        if not is_json and (encoding := _encoding(bytes(self.head), self.source.forced.encoding)):
            self.summary.append(f"encoding {encoding[1]}")
            decode = codecs.getincrementaldecoder(encoding[0])().decode

            def decoded(data: bytes) -> bytes:
                try:
                    return decode(data, self.ended).encode(errors="replace")
                except UnicodeDecodeError as fault:
                    byte = f"byte {fault.object[fault.start]:#04x}"
                    message = f"{self.source.name} cannot be read as {fault.encoding}: {byte}"
                    hint = "give its encoding: `--encoding latin-1`, `--encoding utf-8`"
                    raise ExpressionError("io", message, hint=hint) from None

            self._filter(decoded)
            self.head = self.head.removeprefix(codecs.BOM_UTF8)
        if not is_json and b"\r" in self.head and b"\n" not in self.head:
            self.summary.append("lines that end in carriage returns")
            self._filter(lambda data: data.replace(b"\r", b"\n"))
        return self.head.decode(errors="replace"), self.ended

    def _filter(self, change: Callable[[bytes], bytes]) -> None:
        self.filters.append(change)
        self.head = bytearray(change(bytes(self.head)))

    def follow(self, layout: Layout) -> None:
        """Skip what the layout skips."""
        if not (layout.skip or layout.marks or layout.blanks):
            return
        normal = LineNormalizer(layout)

        def lines(data: bytes) -> bytes:
            data = self.begun + data
            cut = (
                len(data)
                if self.ended or len(data) > MAX_BYTES + FIRST_BLOCK_BYTES
                else data.rfind(b"\n") + 1
            )
            self.begun = data[cut:]
            return normal(data[:cut])

        self._filter(lines)

    def read1(self, size: int) -> bytes:
        """Return some bytes, or none at the end."""
        while self.place == len(self.head) and not self.ended:
            if not self.keep:
                self.head.clear()
                self.place = 0
            self._next(size)
        data = bytes(self.head[self.place : self.place + size])
        self.place += len(data)
        return data

    def _next(self, size: int) -> None:
        try:
            # handle signals while waiting for another file system
            read1: Callable[[], bytes] = partial(self.file.read1, size)
            data = filesystems.run_interruptibly(read1) if is_url(self.source.path) else read1()
        except (OSError, EOFError, ValueError, zlib.error) as fault:
            if self.source.packed is None:
                raise
            message = f"{self.source.name} cannot be unpacked: {quotable(str(fault))}"
            raise ExpressionError("io", message, hint="it may be cut off; get it again") from None
        self.ended = not data
        for change in self.filters:
            data = change(data)
        self.head += data

    def peek(self, size: int) -> bytearray:
        """Return the first bytes."""
        while len(self.head) < size and not self.ended:
            self._next(size)
        return self.head

    def rewind(self, lines: int) -> None:
        """Rewind to after `lines` lines."""
        self.place = len(codecs.BOM_UTF8) if self.head.startswith(codecs.BOM_UTF8) else 0
        for _ in range(lines):
            self.place = self.head.find(b"\n", self.place) + 1 or len(self.head)
        self.keep = False

    def close(self) -> None:
        """Close the file, unless it is still waited for."""
        if self.source.path != "-" and not (
            is_url(self.source.path) and filesystems.abandoned.is_set()
        ):
            with suppress(OSError, ValueError):
                self.file.close()
            self.raw.close()


def _text_of_sheet(file: Any, path: str, sheet: str | None) -> tuple[bytes, list[str]]:
    import json

    calamine = require(
        "python_calamine",
        "excel",
        "spreadsheets need python-calamine",
        ", or save the sheet as csv",
    )
    head, _, text = _sheet_process(file.read(), path, calamine.__file__, sheet).partition(b"\n")
    found = json.loads(head)
    if "error" in found:
        message = f"`{path}` cannot be read as a spreadsheet: {found['error']}"
        raise ExpressionError("io", message, hint="it may be cut off, or be another kind of file")
    names = found["names"]
    if sheet is not None and sheet not in names:
        raise ExpressionError(
            "io", f"there is no sheet `{sheet}` in `{path}`", hint=f"its sheets are {quote(names)}"
        )
    read = [f"sheet {found['sheet']} of {len(names)}"] if sheet is None and len(names) > 1 else []
    if hidden := found["hidden"]:
        read.append(f"also {plural(hidden, 'hidden row')}")
    return text, read


# How long a spreadsheet may take where the system does not bound its process.
MAX_SHEET_SECONDS = 600


def _sheet_process(data: bytes, path: str, library: str, sheet: str | None) -> bytes:
    import subprocess

    folder = os.path.dirname(os.path.dirname(os.path.abspath(library)))
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sheet_process.py")
    command = [sys.executable, "-I", "-S", script, folder, *([] if sheet is None else [sheet])]
    hint = "it may be damaged; open it in a spreadsheet program and save the sheet as csv"
    try:
        ended = subprocess.run(
            command, input=data, capture_output=True, timeout=MAX_SHEET_SECONDS, check=False
        )
    except (subprocess.TimeoutExpired, ValueError):
        message = f"`{path}` cannot be read as a spreadsheet: it takes too long"
        raise ExpressionError("io", message, hint=hint) from None
    if ended.returncode:
        message = (
            f"`{path}` cannot be read as a spreadsheet: its reader failed, or needed too much"
            " memory or time"
        )
        raise ExpressionError("io", message, hint=hint)
    return ended.stdout


_WORDS = {
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "utf-32": "UTF-32",
    "cp1252": "Latin-1",
}
_UTF_16 = re.compile(rb"(?:[\t\n\r -~]\0){2,}|(?:\0[\t\n\r -~]){2,}")
# Text in Latin-1 or its Windows variant.
_LATIN_1 = re.compile(rb"[\t\n\f\r -~\x80\x82-\x8c\x8e\x91-\x9c\x9e-\xfe]*")

_UTF_8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


def _encoding(data: bytes, forced: str | None) -> tuple[str, str] | None:
    if forced is not None:
        name = codecs.lookup(forced).name
        return None if name in ("utf-8", "utf-8-sig", "ascii") else (name, forced)
    if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        name = "utf-32"
    elif data.startswith((b"\xff\xfe", b"\xfe\xff")):
        name = "utf-16"
    elif _UTF_16.match(data):
        name = "utf-16-be" if data[0] == 0 else "utf-16-le"
    elif not data.isascii() and _LATIN_1.fullmatch(data) and not _UTF_8.search(data):
        name = "cp1252"
    else:
        return None
    return name, _WORDS[name]


def has_arrow() -> bool:
    """Return whether pyarrow and NumPy are installed; import neither."""
    from importlib.util import find_spec

    return all(sys.modules.get(name, find_spec(name)) is not None for name in ("pyarrow", "numpy"))
