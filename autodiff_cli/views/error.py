"""Errors and warnings for people: message, carets, hint."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from ..errors import Diagnostic, Span
from .characters import Style, Terminal, escaped, paint, shorten_middle, shown_as, terminal_of, width_of

if TYPE_CHECKING:
    from .document import Pieces

PIPED_WIDTH = 120
"""The width of excerpts where no terminal says its own."""
MAX_QUOTED = 300
"""The most characters of a part of a message."""
TAB = "    "
MAX_REASONS = 10
"""How many reasons a summary names."""


def draw(diagnostic: Diagnostic, text: str | None, look: Terminal, *, level: Style = "error", where: str = "") -> str:
    """Return an error or warning as text; its spans point into `text`."""
    lines = _label(f"{where}{level}:", level, diagnostic.message, look, "")
    if text is not None and text.strip():
        lines += _excerpts(text, diagnostic, look, level)
    if diagnostic.hint:
        lines += _label("hint:", "hint", diagnostic.hint, look, "  ")
    return "\n".join(lines) + "\n"


def _label(word: str, style: Style, message: str, look: Terminal, margin: str) -> list[str]:
    from .document import plain_text
    from .rendering import break_lines

    dots = "…" if look.unicode else "..."
    parts = [escaped(shorten_middle(part, MAX_QUOTED, dots), look.encoding) for part in message.split("`")]
    said: Pieces = tuple([(f"`{part}`", "code") if k % 2 else (part, "") for k, part in enumerate(parts[:-1])])
    said += ((f"`{parts[-1]}", "") if len(parts) % 2 == 0 else (parts[-1], ""),)
    first, *more = break_lines(((f"{margin}{word} ", ""), *said), look.width, len(margin) + 6)
    return [margin + paint(word, style, look) + plain_text(first)[len(margin) + len(word) :], *map(plain_text, more)]


quiet = False


def report(diagnostic: Diagnostic, text: str | None, *, level: Style = "error", where: str = "") -> None:
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
    write_stderr(f"{where}{paint('read as:', 'hint', seen)}{shown}\n")


def write_note(text: str) -> None:
    """Write a note on standard error, unless `quiet`."""
    if not quiet:
        write_stderr(f"{text}\n")


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


def _excerpts(text: str, diagnostic: Diagnostic, look: Terminal, level: Style) -> Iterator[str]:
    places: list[tuple[Span | None, str]] = [(diagnostic.span, ""), *diagnostic.also]
    call = diagnostic.span
    while call is not None:
        call = call.via
        places.append((call, "in this call"))
    numbered = "\n" in text.strip("\n")
    digits = len(str(text.count("\n") + 1)) if numbered else 0
    bar = "│" if look.unicode else "|"
    blank = paint(f" {' ' * digits} {bar} ", "faint", look) if numbered else "  "
    room = (look.width or PIPED_WIDTH) - (digits + 4 if numbered else 2)
    line: _Excerpt | None = None
    for span, words in places:
        if span is None:
            continue
        start = min(max(span.start, 0), len(text))
        mark = Span(start, min(max(span.end, start), len(text)))
        if line is None or not line.first <= mark.start <= line.last:
            line = _Excerpt(text, mark, max(room, 20), look)
            gutter = paint(f" {text.count(chr(10), 0, line.first) + 1:>{digits}} {bar} ", "faint", look)
            yield (gutter if numbered else "  ") + line.drawn
        before, carets = line.carets(mark)
        said = " " + escaped(words, look.encoding) if words else ""
        yield blank + before + paint(carets + said, level, look)


class _Excerpt:
    def __init__(self, text: str, mark: Span, room: int, look: Terminal) -> None:
        begin = text.rfind("\n", 0, mark.start) + 1
        end = begin + len(text[begin:].partition("\n")[0].removesuffix("\r"))
        dots = "…" if look.unicode else "..."

        def cell(place: int) -> str:
            return TAB if text[place] == "\t" else shown_as(text[place], look.encoding)

        ahead, last = 0, mark.start
        while last < end and ahead < room:
            ahead += width_of(cell(last))
            last += 1
        # a third of the room before the place, and what the text after it leaves
        before, first = max(room // 3, room - ahead) - 2 * len(dots), mark.start
        while first > begin and (width := width_of(cell(first - 1))) <= before:
            before -= width
            first -= 1
        if first - begin <= len(dots) and text[begin:first].isprintable() and text[begin:first].isascii():
            first = begin
        left = dots if first > begin else ""
        self.cells: list[str] = []
        used, last = len(left), first
        while last < end and (used := used + width_of(cell(last))) <= room - (len(dots) if last < end - 1 else 0):
            self.cells.append(cell(last))
            last += 1
        self.left, self.first, self.last = len(left), first, last
        self.drawn = left + "".join(self.cells) + (dots if last < end else "")

    def carets(self, mark: Span) -> tuple[str, str]:
        start = max(mark.start, self.first)
        # a combining mark has no column: the caret goes under the character that carries it
        while self.first < start < self.last and width_of(self.cells[start - self.first]) == 0:
            start -= 1
        until = min(max(mark.end, start + 1), self.last)
        before = self.left + sum(map(width_of, self.cells[: start - self.first]))
        count = sum(map(width_of, self.cells[start - self.first : until - self.first]))
        return " " * before, "^" * max(count, 1)


def write_reasons(total: int, rows: int, what: str, reasons: Counter[str]) -> None:
    """Print how many of all rows something is so of, and why."""
    those = f"1 row, and it {what}" if total == 1 else f"{total:,} rows, and {rows:,} of them {what}"
    width = len(f"{max(reasons.values()):,}")
    lines = [f"{those}:", *(f"  {count:>{width},}  {why}" for why, count in reasons.most_common(MAX_REASONS))]
    if len(reasons) > MAX_REASONS:
        lines.append(f"  … and {len(reasons) - MAX_REASONS:,} more reasons")
    write_stderr("\n".join(lines) + "\n")
