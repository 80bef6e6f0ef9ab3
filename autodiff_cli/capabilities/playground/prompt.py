"""The prompt of the playground, in the browser: a session, whose answers are texts and pictures."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ..session.repl import completions
from ..session.session_lines import Ended, Lines

# The format that a command writes for the page, unless another one is asked for; the page draws
# records of plots.
DRAWN = {"graph": "svg", "plot": "json", "page": "html"}
OTHERWISE = ("--format", "--json", "--output", "-o", "--help", "-h", "--playground")
NARROW_COLUMNS = 60
# What pictures begin with.
KINDS = {"<svg": "svg", "<!DOCTYPE html": "html"}


class Part(NamedTuple):
    """A piece of an answer: `out` or `err` with escapes for colours, `svg`, `html`, or `plot`, a
    record.
    """

    kind: str
    text: str


class _Stream(io.BufferedIOBase):
    """Collects what is written to it, in the order of both streams."""

    def __init__(self, kind: str, parts: list[Part]) -> None:
        self.name, self._kind, self._parts = f"<{kind}>", kind, parts

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(Part(self._kind, bytes(data).decode("utf-8", "replace")))
        return len(data)


class _Screen(io.TextIOWrapper):
    """A stream for a person: its answers have a width."""

    shows_text = True

    def isatty(self) -> bool:
        return self.shows_text


class _DrawnLines(Lines):
    """A session whose pictures are for a page."""

    drawn = ""
    """The command of the last line, if its answer is a picture."""
    is_narrow = False
    """Whether the page is a telephone's: graphs run downwards there."""

    def _command(self, line: str, command: str, end: int) -> int:
        words = line.replace("=", " ").split()
        if any(word in OTHERWISE for word in words):
            _shows_text(False)
        elif command in DRAWN:
            _shows_text(False)
            self.drawn = command
            downwards = (
                " --layout down"
                if self.is_narrow and command == "graph" and "--layout" not in words
                else ""
            )
            line = f"{line} --format {DRAWN[command]}{downwards}"
        return super()._command(line, command, end)


def _shows_text(yes: bool) -> None:
    if isinstance(sys.stdout, _Screen):
        sys.stdout.shows_text = yes


class Prompt:
    """Answers lines; files are those of `folder`, which is the browser's memory."""

    def __init__(self, folder: str) -> None:
        self._lines = _DrawnLines()
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        os.chdir(folder)

    def answer(self, line: str, columns: int) -> dict[str, Any]:
        """Return the answer to a line: `code`, `parts`, whether it `names` something, and new
        `files`.
        """
        session, before = self._lines.session, self._files()
        named = dict(session.values), dict(session.definitions)
        self._lines.drawn, self._lines.is_narrow = "", columns < NARROW_COLUMNS
        with _captured(columns) as parts:
            try:
                code = self._lines.answer(line)
            except Ended:
                sys.stdout.write("a page has no end: close it\n")
                code = 0
        return {
            "code": code,
            "parts": [part._asdict() for part in self._shown(parts, code)],
            "names": (session.values, session.definitions) != named,
            "files": sorted(
                name for name, when in self._files().items() if before.get(name) != when
            ),
        }

    def complete(self, text: str) -> dict[str, Any]:
        """Return the word before the cursor, and what it may become."""
        start, endings = completions(self._lines, text)
        return {"start": start, "endings": endings}

    def _files(self) -> dict[str, int]:
        return {
            file.name: file.stat().st_mtime_ns for file in self._folder.iterdir() if file.is_file()
        }

    def _shown(self, parts: list[Part], code: int) -> Iterator[Part]:
        merged: list[Part] = []
        for part in parts:
            if merged and merged[-1].kind == part.kind:
                merged[-1] = Part(part.kind, merged[-1].text + part.text)
            else:
                merged.append(part)
        for part in merged:
            kind = next(
                (kind for begin, kind in KINDS.items() if part.text.startswith(begin)), part.kind
            )
            yield Part(
                "plot" if self._lines.drawn == "plot" and kind == "out" and not code else kind,
                part.text,
            )


@contextmanager
def _captured(columns: int) -> Iterator[list[Part]]:
    parts: list[Part] = []
    kept = sys.stdin, sys.stdout, sys.stderr, dict(os.environ)
    os.environ.update(COLUMNS=str(columns), FORCE_COLOR="1", PAGER="")
    sys.stdin = io.StringIO()
    sys.stdout, sys.stderr = (
        _Screen(_Stream(kind, parts), encoding="utf-8", write_through=True, newline="\n")
        for kind in ("out", "err")
    )
    try:
        yield parts
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sys.stdin, sys.stdout, sys.stderr = kept[:3]
        os.environ.clear()
        os.environ.update(kept[3])
