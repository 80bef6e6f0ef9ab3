"""Errors and warnings for people: message, carets, hint."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from ..errors import Diagnostic, Span
from .characters import (
    Style,
    Terminal,
    escaped,
    paint,
    shorten_middle,
    shown_as,
    terminal_of,
    width_of,
)

if TYPE_CHECKING:
    from .document import Pieces

# The width of excerpts where no terminal says its own.
PIPED_WIDTH = 120
# The most characters of a part of a message.
MAX_QUOTED = 300
TAB = "    "
MAX_REASONS = 10
# Rows without an answer, or left out, whose places are printed for each reason.
MAX_PLACES = 5

"""How many reasons a summary names."""


def draw(
    diagnostic: Diagnostic,
    text: str | None,
    terminal: Terminal,
    *,
    level: Style = "error",
    where: str = "",
) -> str:
    """Return an error or warning as text; its spans point into `text`."""
    where = escaped(where, terminal.encoding)
    lines = _label(f"{where}{level}:", level, diagnostic.message, terminal, "")
    if text is not None and text.strip():
        lines += _marked_lines(text, diagnostic, terminal, level)
    if diagnostic.hint:
        lines += _label("hint:", "hint", diagnostic.hint, terminal, "  ")
    return "\n".join(lines) + "\n"


def _label(word: str, style: Style, message: str, terminal: Terminal, margin: str) -> list[str]:
    from .document import plain_text
    from .rendering import break_lines

    dots = "…" if terminal.unicode else "..."
    parts = [
        escaped(shorten_middle(part, MAX_QUOTED, dots), terminal.encoding)
        for part in message.split("`")
    ]
    said: Pieces = tuple(
        [(f"`{part}`", "code") if k % 2 else (part, "") for k, part in enumerate(parts[:-1])]
    )
    said += ((f"`{parts[-1]}", "") if len(parts) % 2 == 0 else (parts[-1], ""),)
    first, *more = break_lines(((f"{margin}{word} ", ""), *said), terminal.width, len(margin) + 6)
    rest = plain_text(first)[len(margin) + len(word) :]
    return [margin + paint(word, style, terminal) + rest, *map(plain_text, more)]


quiet = False


def report(
    diagnostic: Diagnostic, text: str | None, *, level: Style = "error", where: str = ""
) -> None:
    """Draw an error or warning on standard error."""
    if quiet and level != "error":
        return
    write_stderr(draw(diagnostic, text, terminal_of(sys.stderr), level=level, where=where))


def write_reading(where: str, text: str) -> None:
    """Say on standard error how a program was read."""
    if quiet:
        return
    seen = terminal_of(sys.stderr)
    lines = [escaped(line, seen.encoding) for line in text.strip().splitlines()]
    shown = f" {lines[0]}" if len(lines) == 1 else "".join(f"\n  {line}" for line in lines)
    write_stderr(f"{escaped(where, seen.encoding)}{paint('read as:', 'hint', seen)}{shown}\n")


# The lists that notes are kept in, besides being written.
_keepers: list[list[str]] = []


@contextmanager
def keeping_notes() -> Iterator[list[str]]:
    """Also keep the notes that are written, for a report."""
    notes: list[str] = []
    _keepers.append(notes)
    try:
        yield notes
    finally:
        _keepers.remove(notes)


def write_note(text: str) -> None:
    """Write a note on standard error, unless `quiet`: names in it may come from files, so controls
    are escaped.
    """
    for notes in _keepers:
        notes.append(text)
    if not quiet:
        write_stderr(f"{escaped(text, terminal_of(sys.stderr).encoding)}\n")


def write_stderr(text: str) -> None:
    """Write on standard error, and ignore failures to write."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        discard_output(sys.stderr)


def discard_output(stream: TextIO) -> None:
    """Discard what a stream cannot write."""
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _marked_lines(
    text: str, diagnostic: Diagnostic, terminal: Terminal, level: Style
) -> Iterator[str]:
    places: list[tuple[Span | None, str]] = [(diagnostic.span, ""), *diagnostic.also]
    call = diagnostic.span
    while call is not None:
        call = call.via
        places.append((call, "in this call"))
    numbered = "\n" in text.strip("\n")
    digits = len(str(text.count("\n") + 1)) if numbered else 0
    bar = "│" if terminal.unicode else "|"
    blank = paint(f" {' ' * digits} {bar} ", "faint", terminal) if numbered else "  "
    room = (terminal.width or PIPED_WIDTH) - (digits + 4 if numbered else 2)
    first, last, left, cells = 0, -1, "", list[str]()
    for span, words in places:
        if span is None:
            continue
        start = min(max(span.start, 0), len(text))
        if not first <= start <= last:
            first, left, cells, right = _window(text, start, max(room, 20), terminal)
            last = first + len(cells)
            gutter = paint(
                f" {text.count(chr(10), 0, first) + 1:>{digits}} {bar} ", "faint", terminal
            )
            yield (gutter if numbered else "  ") + left + "".join(cells) + right
        # a combining mark has no column: the caret goes under its carrier
        while first < start < last and width_of(cells[start - first]) == 0:
            start -= 1
        before, marked = (
            cells[: start - first],
            cells[start - first : max(span.end, start + 1) - first],
        )
        carets = "^" * max(width_of("".join(marked)), 1)
        said = " " + escaped(words, terminal.encoding) if words else ""
        yield (
            blank
            + " " * (len(left) + width_of("".join(before)))
            + paint(carets + said, level, terminal)
        )


def _window(
    text: str, start: int, room: int, terminal: Terminal
) -> tuple[int, str, list[str], str]:
    """Return what fits of a line: where it begins, dots, its characters, dots."""
    begin = text.rfind("\n", 0, start) + 1
    end = begin + len(text[begin:].partition("\n")[0].removesuffix("\r"))
    dots = "…" if terminal.unicode else "..."

    def cells(places: Iterable[int]) -> Iterator[str]:
        for place in places:
            yield TAB if text[place] == "\t" else shown_as(text[place], terminal.encoding)

    # a third of the room before the place, and what the text after it leaves
    ahead = width_of("".join(cells(range(start, min(end, start + room)))))
    first, before = start, max(room // 3, room - ahead) - 2 * len(dots)
    for cell in cells(range(start - 1, begin - 1, -1)):
        before -= width_of(cell)
        if before < 0:
            break
        first -= 1
    if (
        first - begin <= len(dots)
        and text[begin:first].isprintable()
        and text[begin:first].isascii()
    ):
        first = begin
    left = dots if first > begin else ""
    shown: list[str] = []
    used = len(left)
    for place, cell in enumerate(cells(range(first, end)), start=first):
        used += width_of(cell)
        if used > room - (len(dots) if place < end - 1 else 0):
            return first, left, shown, dots
        shown.append(cell)
    return first, left, shown, ""


def place_list(places: Sequence[str]) -> str:
    """Return the first places as the end of a line: `: line 3, line 5, …`."""
    different = first_places(places, MAX_PLACES + 1)
    if not any(different):
        return ""
    return ": " + ", ".join(different[:MAX_PLACES]) + ", …" * (len(different) > MAX_PLACES)


def first_places(places: Iterable[str], count: int) -> list[str]:
    """Return the first of places that differ, `line 3` before `line 12`."""
    return sorted({*places}, key=lambda place: (len(place), place))[:count]


def write_reasons(total: int, rows: int, what: str, reasons: Counter[str]) -> None:
    """Print how many of all rows something is so of, and why."""
    those = (
        f"1 row, and it {what}" if total == 1 else f"{total:,} rows, and {rows:,} of them {what}"
    )
    width = len(f"{max(reasons.values()):,}")
    shown = reasons.most_common(MAX_REASONS)
    lines = [f"{those}:", *(f"  {count:>{width},}  {why}" for why, count in shown)]
    if len(reasons) > MAX_REASONS:
        lines.append(f"  … and {len(reasons) - MAX_REASONS:,} more reasons")
    for notes in _keepers:
        notes.append("\n".join(lines))
    encoding = terminal_of(sys.stderr).encoding
    write_stderr("".join([f"{escaped(line, encoding)}\n" for line in lines]))
