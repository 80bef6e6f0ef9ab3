"""Documents as characters, one renderer a medium: plain text, a terminal with colour, Markdown, HTML.

Plain text lays everything out; the others say only what their medium does otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .characters import STYLES, Look, Style, paint, visible, width_of
from .document import Block, Drawing, Line, Outline, Pieces, Program, Table, plain, rails_text

UNICODE_BOX = ("╭─┬╮", "│", "├─┼┤", "╰─┴╯")
ASCII_BOX = ("+-++", "|", "+-++", "+-++")


class PlainText:
    """A document without colour, for a pipe or a file. Nothing is cut."""

    def __init__(self, look: Look) -> None:
        self.look = look

    def render(self, blocks: Iterable[Block]) -> str:
        """The whole document, each line ended."""
        lines: list[str] = []
        previous: Block | None = None
        for block in blocks:
            if previous is not None and not self.together(previous, block):
                lines.append("")
            lines += self.block(block)
            previous = block
        return "".join([f"{line}\n" for line in lines])

    def together(self, above: Block, below: Block) -> bool:
        """Whether no empty line stands between the two."""
        return isinstance(above, Line) and (isinstance(below, Line) or (isinstance(below, Drawing) and not below.name))

    def block(self, block: Block) -> Iterable[str]:
        """The lines of one block."""
        if isinstance(block, Line):
            return (self.line(block.pieces),)
        if isinstance(block, Table):
            return self.table(block)
        if isinstance(block, Outline):
            return self.outline(block)
        return self.drawing(block) if isinstance(block, Drawing) else self.program(block)

    def line(self, pieces: Pieces) -> str:
        """A line of styled text."""
        return self.text(pieces).rstrip()

    def text(self, pieces: Pieces) -> str:
        """Styled text."""
        return shown(pieces, self.look)

    def program(self, program: Program) -> Iterable[str]:
        """The heading over one of many answers."""
        told = "; ".join(visible(line, self.look.encoding) for line in program.text.splitlines())
        yield self.line(((f"line {program.line}: {told}", "heading"),))

    def table(self, table: Table) -> Iterable[str]:
        """A table, in a box."""
        top, side, middle, bottom = UNICODE_BOX if self.look.unicode else ASCII_BOX
        cells = [list(table.heads), *([shown(cell, self.look) for cell in row] for row in table.rows)]
        widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)]

        def rule(ends: str) -> str:
            return ends[0] + ends[2].join(ends[1] * (width + 2) for width in widths) + ends[3]

        yield rule(top)
        for index, row in enumerate(cells):
            padded = (
                f" {pad(cell, width, column in table.right)} "
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            yield side + side.join(padded) + side
            if index == 0:
                yield rule(middle)
        yield rule(bottom)

    def outline(self, outline: Outline) -> Iterable[str]:
        """A tree, a line a node."""
        return map(self.line, outline_lines(outline, self.look))

    def drawing(self, drawing: Drawing) -> Iterable[str]:
        """What draws itself, under its name."""
        if drawing.name:
            yield self.line(((drawing.name, "faint"),))
        yield drawing.draw(self.look)


class Terminal(PlainText):
    """The same with colour, and tables by Rich, which fits them to the screen."""

    def line(self, pieces: Pieces) -> str:
        """A line of styled text."""
        return self.text(pieces)

    def text(self, pieces: Pieces) -> str:
        """Styled text, with the terminal's escape sequences."""
        return "".join([paint(shown(((text, style),), self.look), style, self.look) for text, style in pieces])

    def table(self, table: Table) -> Iterable[str]:
        """A table, in a box as wide as the screen at most."""
        # Rich costs more than everything else together: it is loaded for a table on a terminal, and for nothing else
        import io

        from rich import box
        from rich.ansi import SGR_STYLE_MAP
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        def named(style: Style) -> str:
            return " ".join(SGR_STYLE_MAP[int(code)] for code in STYLES[style].terminal.split(";") if code)

        def text(pieces: Pieces) -> Text:
            parts: Any = [(shown(((piece, ""),), self.look), named(style)) for piece, style in pieces]
            return Text.assemble(*parts)

        drawn = RichTable(
            box=box.ROUNDED if self.look.unicode else box.ASCII2, safe_box=False, header_style=named("heading")
        )
        for column, head in enumerate(table.heads):
            drawn.add_column(head, justify="right" if column in table.right else "left", overflow="fold")
        for row in table.rows:
            drawn.add_row(*map(text, row))
        file = io.StringIO()
        console = Console(
            file=file,
            width=self.look.width or 10_000,
            color_system="truecolor" if self.look.color else None,
            force_terminal=True,
            force_jupyter=False,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
            # what the environment says is in `look` already
            _environ={},
        )
        console.print(drawn)
        return file.getvalue().splitlines()


class Markdown(PlainText):
    """The document as Markdown, an empty line between its blocks."""

    def together(self, above: Block, below: Block) -> bool:
        """Never: lines that follow each other would be one paragraph."""
        return False

    def line(self, pieces: Pieces) -> str:
        """A line of text; names and code as code spans, in which only a vertical bar can do harm."""
        shown = [
            (visible(text, self.look.encoding), style in ("name", "code") and text.strip()) for text, style in pieces
        ]
        return "".join(_code(text) if code else escaped(text, bar=False) for text, code in shown)

    def program(self, program: Program) -> Iterable[str]:
        """The heading over one of many answers, and the program as code."""
        return (f"### line {program.line}", "", *self._fenced(program.text.splitlines()))

    def table(self, table: Table) -> Iterable[str]:
        """A table."""
        yield "| " + " | ".join(map(escaped, table.heads)) + " |"
        yield "|" + "|".join("---:" if column in table.right else "---" for column in range(len(table.heads))) + "|"
        for row in table.rows:
            yield "| " + " | ".join(self.line(cell).replace("|", "\\|") for cell in row) + " |"

    def outline(self, outline: Outline) -> Iterable[str]:
        """A tree, as code."""
        return self._fenced([plain(pieces) for pieces in outline_lines(outline, self.look._replace(width=None))])

    def drawing(self, drawing: Drawing) -> Iterable[str]:
        """What draws itself, as code."""
        return self._fenced("\n".join(super().drawing(drawing)).splitlines())

    def _fenced(self, lines: Sequence[str]) -> Iterator[str]:
        fence = "```"
        while any(fence in line for line in lines):
            fence += "`"
        yield fence + "text"
        yield from (visible(line, self.look.encoding) for line in lines)
        yield fence


class Html(PlainText):
    """The document as a piece of HTML for a notebook or a page, legible in light and dark; it loads nothing."""

    def render(self, blocks: Iterable[Block]) -> str:
        """The whole document, in one element."""
        return f'<div class="autodiff">\n{super().render(blocks)}</div>\n'

    def together(self, above: Block, below: Block) -> bool:
        """Always: elements need no empty lines."""
        return True

    def line(self, pieces: Pieces) -> str:
        """A line of styled text."""
        return f'<div style="font-family:monospace;white-space:pre-wrap">{self.text(pieces) or chr(10)}</div>'

    def text(self, pieces: Pieces) -> str:
        """Styled text, as spans."""
        return "".join([_span(shown(((text, style),), self.look), style) for text, style in pieces])

    def table(self, table: Table) -> Iterable[str]:
        """A table."""
        sides = ["right" if column in table.right else "left" for column in range(len(table.heads))]

        def row(tag: str, cells: Iterable[str]) -> str:
            made = (f'<{tag} style="text-align:{side}">{cell}</{tag}>' for cell, side in zip(cells, sides, strict=True))
            return f"<tr>{''.join(made)}</tr>"

        yield "<table>"
        yield f"<thead>{row('th', map(escaped_html, table.heads))}</thead>"
        yield "<tbody>"
        for cells in table.rows:
            yield row("td", map(self.text, cells))
        yield "</tbody>"
        yield "</table>"

    def outline(self, outline: Outline) -> Iterable[str]:
        """A tree, as preformatted text."""
        lines = [self.text(pieces) for pieces in outline_lines(outline, self.look._replace(width=None))]
        return (_preformatted("\n".join(lines)),)

    def drawing(self, drawing: Drawing) -> Iterable[str]:
        """What draws itself, as preformatted text."""
        if drawing.name:
            yield self.line(((drawing.name, "faint"),))
        yield _preformatted(escaped_html(drawing.draw(self.look)))


def shown(pieces: Pieces, look: Look) -> str:
    """The text of a piece, as this stream can show it: with an ASCII dash for a missing number where that is all."""
    text = plain(pieces)
    return visible("-" if text == "–" and not look.unicode else text, look.encoding)


def pad(text: str, width: int, right: bool) -> str:
    """The text filled with spaces to a width in columns."""
    gap = " " * (width - width_of(text))
    return gap + text if right else text + gap


def outline_lines(outline: Outline, look: Look) -> list[Pieces]:
    """The lines of an outline: its cells stand in columns, or follow their line where columns would be too wide."""
    rails = [rails_text(branch.rails, look.unicode) for branch in outline.branches]
    texts = [shown(branch.pieces, look) for branch in outline.branches]
    cells = [[shown(((cell, ""),), look) for cell in branch.cells] for branch in outline.branches]
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
        lines.append(((outline.note if look.unicode else outline.note.replace("…", "..."), "faint"),))
    return lines


def _code(text: str) -> str:
    """The text as a code span of Markdown."""
    ticks = "`"
    while ticks in text:
        ticks += "`"
    edge = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{edge}{text}{edge}{ticks}"


def escaped(text: str, bar: bool = True) -> str:
    """The text with what Markdown would take for its own escaped, but for the backticks round code."""
    special = "\\*_<[]|" if bar else "\\*_<[]"
    return "".join(f"\\{char}" if char in special else char for char in text)


def escaped_html(text: str) -> str:
    """The text with what HTML would take for its own escaped."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _preformatted(text: str) -> str:
    # pages give `pre` a font of their own, in which a tree's lines may not meet
    return f'<pre style="font-family:monospace">{text}</pre>'


def _span(text: str, style: Style) -> str:
    css = STYLES[style].web
    return f'<span style="{css}">{escaped_html(text)}</span>' if css and text else escaped_html(text)
