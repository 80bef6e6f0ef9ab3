"""Documents on a terminal, through Rich: colour and boxes, fitted to its width. The only module that imports Rich."""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from .boxes import outline_lines, program_lines, shown
from .characters import Look
from .document import Block, Line, Outline, Pieces, Program, Style

STYLES: dict[Style, str] = {
    "": "",
    "heading": "bold",
    "name": "bold cyan",
    "operator": "yellow",
    "number": "",
    "faint": "dim",
    "code": "green",
}


def draw(blocks: Iterable[Block], look: Look) -> str:
    """The document as text with the terminal's escape sequences."""
    file = io.StringIO()
    console = Console(
        file=file,
        width=look.width or 10_000,
        color_system="truecolor" if look.color else None,
        force_terminal=True,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
        # what the environment says is in `look` already
        _environ={},
    )
    previous: Block | None = None
    for block in blocks:
        if previous is not None and not (isinstance(block, Line) and isinstance(previous, Line)):
            console.print()
        if isinstance(block, Line):
            console.print(_text(block.pieces, look), soft_wrap=True)
        elif isinstance(block, Program):
            for line in program_lines(block, look):
                console.print(Text(line, style=STYLES["heading"]), soft_wrap=True)
        elif isinstance(block, Outline):
            for pieces in outline_lines(block, look):
                console.print(_text(pieces, look), soft_wrap=True)
        else:
            table = RichTable(
                box=box.ROUNDED if look.unicode else box.ASCII2, safe_box=False, header_style=STYLES["heading"]
            )
            for column, head in enumerate(block.heads):
                table.add_column(head, justify="right" if column in block.right else "left", overflow="fold")
            for row in block.rows:
                table.add_row(*(_text(cell, look) for cell in row))
            console.print(table)
        previous = block
    return file.getvalue()


def _text(pieces: Pieces, look: Look) -> Text:
    text = Text()
    for piece, style in pieces:
        text.append(shown(((piece, ""),), look), STYLES[style])
    return text
