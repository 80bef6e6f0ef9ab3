"""Text over several lines: broken between words, never inside a word, a number or a name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .characters import width_of
from .document import Pieces, plain

_SPACE = re.compile(r" +")
_COMPARISON = frozenset("=<>")
_AFTER_OPERATOR = re.compile(r"(?<=[,(/·])(?![ *)])|(?<=\*)(?![* ])")

LEVELS = 3
"""Where a line may be broken: between words; inside what belongs together, `x = 2`, `x > 0` or a piece of code; inside
code without spaces, after an operator. The later ones only where a line is too short otherwise."""


class Text:
    """Styled text, and where it may be broken."""

    def __init__(self, pieces: Pieces) -> None:
        self.text = "".join([text for text, _ in pieces])
        self.pieces = pieces
        self.breaks: list[list[tuple[int, int]]] = [[] for _ in range(LEVELS)]
        """By level: the stretches that are left out at the end of a line, spaces mostly."""
        start = 0
        code = []
        for text, style in pieces:
            if style == "code" and text:
                code.append((start, start + len(text)))
            start += len(text)
        ends = len(self.text.rstrip(" "))
        begins = len(self.text) - len(self.text.lstrip(" "))
        for match in _SPACE.finditer(self.text, begins, ends):
            a, b = match.span()
            compared = not _COMPARISON.isdisjoint((self.text[a - 1], self.text[b]))
            together = compared or any(c < a and b < d for c, d in code)
            self.breaks[together].append((a, b))
        for c, d in code:
            self.breaks[2] += [(match.end(), match.end()) for match in _AFTER_OPERATOR.finditer(self.text, c + 1, d)]

    def parts(self, start: int, end: int, level: int) -> Iterator[tuple[int, int]]:
        """The stretches between the places where it may be broken on this level or an earlier one."""
        gaps = sorted(gap for breaks in self.breaks[: level + 1] for gap in breaks if start < gap[0] and gap[1] < end)
        for a, b in gaps:
            yield start, a
            start = b
        yield start, end

    def least(self) -> int:
        """How wide a line must be so that nothing is broken that may not be."""
        return max(width_of(self.text[a:b]) for a, b in self.parts(0, len(self.text), LEVELS - 1))

    def lines(self, width: int, indent: int = 0) -> list[Pieces]:
        """The lines, none wider than `width` unless one word is, and all but the first indented."""
        if width_of(self.text) <= width:
            return [self.pieces]
        ends: list[tuple[int, int]] = []
        waiting = [(0, len(self.text), -1)]
        while waiting:
            start, end, level = waiting.pop()
            room = width - (indent if len(ends) > 1 else 0)
            if ends and width_of(self.text[ends[-1][0] : end]) <= room:
                ends[-1] = (ends[-1][0], end)
            elif width_of(self.text[start:end]) <= width - (indent if ends else 0) or level == LEVELS - 1:
                ends.append((start, end))
            else:
                waiting += [(a, b, level + 1) for a, b in reversed([*self.parts(start, end, level + 1)])]
        space: Pieces = ((" " * indent, ""),) if indent else ()
        return [(space if k else ()) + self.cut(a, b) for k, (a, b) in enumerate(ends)]

    def cut(self, start: int, end: int) -> Pieces:
        """The part from one place to another, with its styles."""
        kept: Pieces = ()
        at = 0
        for text, style in self.pieces:
            part = text[max(start - at, 0) : max(end - at, 0)]
            at += len(text)
            if part:
                kept += ((part, style),)
        return kept


def broken(pieces: Pieces, width: int | None, indent: int = 2) -> Sequence[Pieces]:
    """Text in lines of so many columns, all but the first indented; in one where nothing says how wide it may be."""
    if width is None or width_of(plain(pieces)) <= width:
        return (pieces,)
    return Text(pieces).lines(width, indent)
