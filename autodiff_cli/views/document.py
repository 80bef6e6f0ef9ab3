"""What a person is shown, before it is known where: lines, tables and outlines of styled text.

A command's view builds these; `boxes` (plain text), `terminal` (Rich) and `markdown` draw them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

Style: TypeAlias = Literal["", "heading", "name", "operator", "number", "faint", "code"]
Pieces: TypeAlias = tuple[tuple[str, Style], ...]
"""Styled text: each piece with its style."""


class Line(NamedTuple):
    """One line of text."""

    pieces: Pieces


class Table(NamedTuple):
    """A table with a heading row; `right` holds the columns that are flush right."""

    heads: tuple[str, ...]
    rows: Sequence[tuple[Pieces, ...]]
    right: frozenset[int] = frozenset()


class Branch(NamedTuple):
    """One line of an outline: which of its ancestors' lines go on, what it says, and its cells.

    `rails` has one flag a level: whether more siblings follow at that level.
    """

    rails: tuple[bool, ...]
    pieces: Pieces
    cells: tuple[str, ...] = ()


class Outline(NamedTuple):
    """A tree, drawn as indented lines with columns of numbers beside them; `note` says what was left out."""

    heads: tuple[str, ...]
    branches: Sequence[Branch]
    note: str = ""


class Program(NamedTuple):
    """A program's text, as typed: the heading over one of many answers."""

    line: int
    text: str


Block: TypeAlias = Line | Table | Outline | Program


def plain(pieces: Pieces) -> str:
    """The text without its styles."""
    return "".join(text for text, _ in pieces)


def sentence(text: str, style: Style = "") -> Pieces:
    """A sentence as pieces, what stands between its backticks as code."""
    styles: tuple[Style, Style] = (style, "code")
    return tuple((piece, styles[k % 2]) for k, piece in enumerate(text.split("`")) if piece)


def rails_text(rails: tuple[bool, ...], unicode: bool) -> str:
    """The lines that lead to one branch of an outline."""
    if not rails:
        return ""
    on, off, more, last = ("│  ", "   ", "├─ ", "└─ ") if unicode else ("|  ", "   ", "|- ", "`- ")
    return "".join([on if rail else off for rail in rails[:-1]]) + (more if rails[-1] else last)
