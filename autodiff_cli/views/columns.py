"""A table that is wider than the screen: how wide its columns are then, and which of them stand side by side.

Headings and sentences go over several lines, numbers and names never. Where that is not enough, the table is cut into
blocks of columns, each with the labels of the rows again; where even one column beside the labels is too wide, each row
is told one column below the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .characters import width_of
from .document import Pieces
from .wrapping import Text

COMFORT = 24
"""A sentence in a column is not made narrower than that while there is another way."""

MEASURED = 200
"""So many cells say how wide their column is to be."""

EDGES = 3
"""What each column takes beside its text; a table takes one more."""


class Column:
    """One column, the heading first, and how wide it is."""

    def __init__(self, cells: Sequence[Pieces]) -> None:
        self.texts = [*map(Text, cells)]
        """The heading, and then a text a row."""
        widths = [width_of(text.text) for text in self.texts]
        self.natural = max(widths)
        """The width in which nothing is broken."""
        self.least = max([self.texts[0].least(), *map(_least, self.texts[1:], widths[1:])])
        """The width in which nothing is broken that may not be."""
        self.wide = [text for text, width in zip(self.texts, widths, strict=True) if width > self.least][:MEASURED]

    def more_lines(self, width: int) -> int:
        """How many lines more than one its texts need in this width, in all."""
        return sum(len(text.lines(width)) - 1 for text in self.wide)


def _least(cell: Text, width: int) -> int:
    return width if width <= COMFORT else max(cell.least(), COMFORT)


def blocks(columns: Sequence[Column], width: int) -> list[dict[int, int]] | None:
    """Which columns stand side by side, with their widths; None where rows are told one column below the other."""
    first, *others = columns
    if others and taken((first.least, max(column.least for column in others))) > width:
        return None
    found: list[list[int]] = [[0]]
    for k in range(1, len(columns)):
        if taken([columns[j].least for j in (*found[-1], k)]) > width:
            found.append([0])
        found[-1].append(k)
    return [dict(zip(block, _widths([columns[k] for k in block], width), strict=True)) for block in found]


def taken(widths: Sequence[int]) -> int:
    """What a table of such columns takes."""
    return sum(widths) + EDGES * len(widths) + 1


def _widths(columns: Sequence[Column], width: int) -> tuple[int, ...]:
    """The widths of columns that stand side by side, so chosen that what is in them needs few lines."""
    spare = max(width - taken([column.least for column in columns]), 0)
    # by how much of what is to spare is given away: how many lines that needs, and the widths
    best: dict[int, tuple[int, tuple[int, ...]]] = {0: (0, ())}
    for column in columns:
        before, best = best, {}
        most = min(column.natural - column.least, spare)
        lines = [column.more_lines(column.least + more) for more in range(most + 1)]
        for given, (count, widths) in before.items():
            for more in range(min(most, spare - given) + 1):
                found = count + lines[more], (*widths, column.least + more)
                best[given + more] = min(best.get(given + more, found), found)
    return min((count, given, widths) for given, (count, widths) in best.items())[2]


def row_lines(cells: Sequence[Text], widths: Sequence[int]) -> Iterator[tuple[Pieces, ...]]:
    """The lines of one row: of each the part of every cell."""
    broken = [cell.lines(width) for cell, width in zip(cells, widths, strict=True)]
    for k in range(max(map(len, broken))):
        yield tuple(lines[k] if k < len(lines) else () for lines in broken)
