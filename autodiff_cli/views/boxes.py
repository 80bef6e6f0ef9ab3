"""Documents as text without colour: what a pipe or a file gets. Nothing is cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .characters import Look, visible, width_of
from .document import Block, Line, Outline, Pieces, Program, Table, plain, rails_text

UNICODE_BOX = ("╭─┬╮", "│", "├─┼┤", "╰─┴╯")
ASCII_BOX = ("+-++", "|", "+-++", "+-++")


def text_of(blocks: Iterable[Block], look: Look) -> str:
    """The document as lines of text, an empty line between its blocks."""
    lines: list[str] = []
    previous: Block | None = None
    for block in blocks:
        if previous is not None and not (isinstance(block, Line) and isinstance(previous, Line)):
            lines.append("")
        lines += lines_of(block, look)
        previous = block
    return "".join(f"{line.rstrip()}\n" for line in lines)


def lines_of(block: Block, look: Look) -> Iterator[str]:
    """The lines of one block."""
    if isinstance(block, Line):
        yield shown(block.pieces, look)
    elif isinstance(block, Program):
        yield from program_lines(block, look)
    elif isinstance(block, Table):
        yield from _table(block, look)
    else:
        yield from (plain(pieces) for pieces in outline_lines(block, look))


def program_lines(block: Program, look: Look) -> list[str]:
    """The heading over one of many answers."""
    return [f"line {block.line}: " + "; ".join(visible(line, look.encoding) for line in block.text.splitlines())]


def shown(pieces: Pieces, look: Look) -> str:
    """The text of a piece, as this stream can show it."""
    return visible(dashes(plain(pieces), look), look.encoding)


def dashes(text: str, look: Look) -> str:
    """The text, with an ASCII dash for a missing number where the locale is not UTF-8."""
    return "-" if text == "–" and not look.unicode else text


def _table(table: Table, look: Look) -> Iterator[str]:
    top, side, middle, bottom = UNICODE_BOX if look.unicode else ASCII_BOX
    cells = [list(table.heads)] + [[shown(cell, look) for cell in row] for row in table.rows]
    widths = [max(width_of(row[column]) for row in cells) for column in range(len(table.heads))]

    def rule(ends: str) -> str:
        return ends[0] + ends[2].join(ends[1] * (width + 2) for width in widths) + ends[3]

    yield rule(top)
    for index, row in enumerate(cells):
        yield (
            side
            + side.join(
                f" {pad(cell, width, column in table.right)} "
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            + side
        )
        if index == 0:
            yield rule(middle)
    yield rule(bottom)


def pad(text: str, width: int, right: bool) -> str:
    """The text filled with spaces to a width in columns."""
    gap = " " * (width - width_of(text))
    return gap + text if right else text + gap


def outline_lines(outline: Outline, look: Look) -> list[Pieces]:
    """The lines of an outline: its cells stand in columns, or follow their line where columns would be too wide."""
    rails = [rails_text(branch.rails, look.unicode) for branch in outline.branches]
    texts = [shown(branch.pieces, look) for branch in outline.branches]
    cells = [[visible(dashes(cell, look), look.encoding) for cell in branch.cells] for branch in outline.branches]
    heads = outline.heads[1:]
    first = max(width_of(outline.heads[0]), *(len(r) + width_of(t) for r, t in zip(rails, texts, strict=True)))
    widths = [max([len(head), *(len(row[i]) for row in cells if row)]) for i, head in enumerate(heads)]
    columns = look.width is None or first + sum(widths) + 3 * len(widths) <= look.width
    lines: list[Pieces] = []
    if columns:
        row = pad(outline.heads[0], first, False) + "".join(
            "   " + pad(head, width, True) for head, width in zip(heads, widths, strict=True)
        )
        lines.append(((row, "faint"),))
    for branch, rail, text, row_cells in zip(outline.branches, rails, texts, cells, strict=True):
        # escapes may have changed the pieces' lengths: styles are kept only where the text is as it was
        pieces: Pieces = branch.pieces if plain(branch.pieces) == text else ((text, ""),)
        line: Pieces = ((rail, "faint"), *pieces)
        if columns and row_cells:
            line += ((" " * (first - len(rail) - width_of(text)), ""),)
            for cell, width in zip(row_cells, widths, strict=True):
                line += (("   " + pad(cell, width, True), "number"),)
        elif row_cells:
            for head, cell in zip(heads, row_cells, strict=True):
                line += ((f"  {head} ", "faint"), (cell, "number"))
        lines.append(line)
    if outline.note:
        note = outline.note if look.unicode else outline.note.replace("…", "...")
        lines.append(((visible(note, look.encoding), "faint"),))
    return lines
