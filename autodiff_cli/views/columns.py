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

EDGES = 3
"""What each column takes beside its text; a table takes one more."""


class Column:
    """One column, the heading first, and how wide it is."""

    def __init__(self, cells: Sequence[Pieces]) -> None:
        self.texts = head, *others = [*map(Text, cells)]
        """The heading, and then a text a row."""
        self.heading, *widths = [width_of(text.text) for text in self.texts]
        """The width of the heading in one line."""
        self.natural = max([head.least(), *widths])
        """The width in which no cell is broken, though the heading may be."""
        self.least = max([head.least(), *map(_least, others, widths)])
        """The width in which nothing is broken that may not be."""


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
    return [_widths({k: columns[k] for k in block}, width) for block in found]


def taken(widths: Sequence[int]) -> int:
    """What a table of such columns takes."""
    return sum(widths) + EDGES * len(widths) + 1


def _widths(columns: dict[int, Column], width: int) -> dict[int, int]:
    """The widths of columns that stand side by side: first headings are broken, then the longest sentences."""
    found = {k: column.natural for k, column in columns.items()}
    while taken([*found.values()]) > width:
        broad = max((k for k in found if found[k] > columns[k].least), key=found.__getitem__, default=None)
        if broad is None:
            break
        found[broad] -= 1
    for k, column in columns.items():
        # what is left over goes to headings, which then need fewer lines
        found[k] += min(max(column.heading - found[k], 0), max(width - taken([*found.values()]), 0))
    return found


def row_lines(cells: Sequence[Text], widths: Sequence[int]) -> Iterator[tuple[Pieces, ...]]:
    """The lines of one row: of each the part of every cell."""
    broken = [cell.lines(width) for cell, width in zip(cells, widths, strict=True)]
    for k in range(max(map(len, broken))):
        yield tuple(lines[k] if k < len(lines) else () for lines in broken)
