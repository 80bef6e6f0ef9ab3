"""Documents as characters, one renderer a medium: plain text, a terminal with colour, Markdown, HTML.

Plain text lays everything out; the others say only what their medium does otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, cycle

from .characters import STYLES, Look, Style, paint, visible, width_of
from .document import Block, Drawing, Line, Outline, Pieces, Program, Table, plain
from .wrapping import broken

UNICODE_BOX = ("╭─┬╮", "│", "├─┼┤", "╰─┴╯")
ASCII_BOX = ("+-++", "|", "+-++", "+-++")


def fenced(lines: Sequence[str], language: str = "text") -> list[str]:
    """Lines of code as Markdown has them."""
    fence = "```"
    together = "\n".join(lines)
    while fence in together:
        fence += "`"
    return [fence + language, *lines, fence]


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
        return "\n".join([*lines, ""])

    def together(self, above: Block, below: Block) -> bool:
        """Whether no empty line stands between the two."""
        return isinstance(above, Line) and (isinstance(below, Line) or (isinstance(below, Drawing) and not below.name))

    def block(self, block: Block) -> Iterable[str]:
        """The lines of one block."""
        if isinstance(block, Table):
            return self.table(block)
        if isinstance(block, Line):
            return (self.line(block.pieces),) if block.source else self.lines(block.pieces)
        if isinstance(block, Outline):
            return self.outline(block)
        return self.drawing(block) if isinstance(block, Drawing) else self.program(block)

    def line(self, pieces: Pieces) -> str:
        """A line of styled text."""
        return self.text(pieces).rstrip()

    def lines(self, pieces: Pieces) -> Iterable[str]:
        """Styled text, in as many lines as it needs."""
        if self.look.width is None:
            return (self.line(pieces),)
        return map(self.line, broken(as_shown(pieces, self.look), self.look.width))

    def text(self, pieces: Pieces) -> str:
        """Styled text."""
        text = plain(pieces)
        if is_ordinary(text):
            return self.drawn(pieces, text)
        seen = as_shown(pieces, self.look)
        return self.drawn(seen, plain(seen))

    def drawn(self, pieces: Pieces, text: str) -> str:
        """Styled text that is as the stream can show it; `text` without its styles."""
        return text

    def program(self, program: Program) -> Iterable[str]:
        """The heading over one of many answers."""
        number, told = program
        if not is_ordinary(told):
            told = "; ".join([visible(line, self.look.encoding) for line in told.splitlines()])
        return self.lines(((f"line {number}: {told}", "heading"),))

    def table(self, table: Table) -> Iterable[str]:
        """A table, in a box; on a screen that is narrower, several boxes below each other, or a list."""
        cells: list[Pieces] = []
        if table.styles and not self.look.color:
            texts = [*table.heads, *chain.from_iterable(table.rows)]
        else:
            cells = [*_headings(table.heads), *chain.from_iterable(table.cells)]
            texts = [plain(cell) for cell in cells]
        size: Callable[[str], int] = len
        if not is_ordinary("".join(texts)):
            size = width_of
            cells = cells or [*_headings(table.heads), *chain.from_iterable(table.cells)]
            cells = [as_shown(cell, self.look) for cell in cells]
            texts = [plain(cell) for cell in cells]
        count = len(table.heads)
        sizes = [*map(size, texts)]
        widths = [max(sizes[k::count]) for k in range(count)]
        width = self.look.width
        if width is None or sum(widths) + 3 * count + 1 <= width:
            yield self.box(cells, texts, 1, widths, table.right)
            return
        cells = cells or [*_headings(table.heads), *chain.from_iterable(table.cells)]
        rows = [tuple(cells[k : k + count]) for k in range(0, len(cells), count)]
        from .columns import Column, blocks, row_lines  # only on a screen, and there not for most tables

        columns = [Column(cells) for cells in zip(*rows, strict=True)]
        found = blocks(columns, width)
        if table.spare and (found is None or len(found) > 1):
            kept = [k for k in range(len(columns)) if k not in table.spare]
            few = blocks([columns[k] for k in kept], width)
            found = few and [{kept[k]: size for k, size in block.items()} for block in few]
        if found is None:
            yield from self.listed(rows, width)
            return
        for block in found:
            lines = [[*row_lines([columns[k].texts[r] for k in block], [*block.values()])] for r in range(len(rows))]
            right = frozenset(place for place, k in enumerate(block) if k in table.right)
            cells = [cell for line in chain.from_iterable(lines) for cell in line]
            yield self.box(cells, [*map(plain, cells)], len(lines[0]), [*block.values()], right)

    def box(
        self, cells: Sequence[Pieces], texts: Sequence[str], head: int, widths: Sequence[int], right: frozenset[int]
    ) -> str:
        """A table in a box, by its cells as shown and their texts, line by line, of which so many are its heading's.

        Cells may be left out where all are ordinary text without colour.
        """
        lines = len(texts) // len(widths)
        sides: frozenset[int] | None = right
        if cells:
            # a form would count characters, not columns
            gaps = [" " * (width - width_of(text)) for width, text in zip(cycle(widths), texts, strict=False)]
            drawn = zip(
                cycle([k in right for k in range(len(widths))]), gaps, map(self.drawn, cells, texts), strict=False
            )
            texts = [gap + text if flush else text + gap for flush, gap, text in drawn]
            sides = None
        top, line, middle, bottom = _frame(self.look.unicode, (*widths,), sides)
        return (top + line * head + middle + line * (lines - head) + bottom) % (*texts,)

    def listed(self, rows: Sequence[tuple[Pieces, ...]], width: int) -> Iterator[str]:
        """The rows of a table one column below the other, after the heading that its first column gives."""
        first, *heads = [plain(head) for head in rows[0]]
        margin = max(map(width_of, heads))
        for k, (label, *cells) in enumerate(rows[1:]):
            if k:
                yield ""
            yield from self.lines(((f"{first} ".lstrip(), "faint"), *label))
            for head, cell in zip(heads, cells, strict=True):
                if plain(cell) and margin + 4 + width_of(plain(cell)) <= width:
                    yield self.line(((f"  {pad(head, margin, False)}  ", "faint"), *cell))
                elif plain(cell):
                    yield from [self.line(((f"  {head}", "faint"),))] if head else []
                    yield from (f"    {self.line(line)}" for line in broken(cell, width - 4))

    def outline(self, outline: Outline) -> Iterable[str]:
        """A tree, a line a node."""
        return map(self.line, outline_lines(outline, self.look))

    def drawing(self, drawing: Drawing) -> Iterable[str]:
        """What draws itself, under its name."""
        if drawing.name:
            yield self.line(((drawing.name, "faint"),))
        yield drawing.draw(self.look)


class Terminal(PlainText):
    """The same with colour."""

    def drawn(self, pieces: Pieces, text: str) -> str:
        """The same with the terminal's escape sequences."""
        return "".join([paint(piece, style, self.look) for piece, style in pieces])


class Markdown(PlainText):
    """The document as Markdown, an empty line between its blocks."""

    def render(self, blocks: Iterable[Block]) -> str:
        """The whole document; what parts its lines elsewhere is there anyway."""
        return super().render([block for block in blocks if type(block) is not Line or any(dict(block.pieces))])

    def together(self, above: Block, below: Block) -> bool:
        """Never: lines that follow each other would be one paragraph."""
        return False

    def line(self, pieces: Pieces) -> str:
        """A line of text; names and code as code spans, in which only a vertical bar can do harm."""
        return "".join([self.piece(text, style) for text, style in pieces])

    def piece(self, text: str, style: Style) -> str:
        """One of them."""
        if not (text.isascii() and text.isprintable()):
            text = visible(text, self.look.encoding)
        if (style == "name" or style == "code") and text.strip():
            return _code(text)
        return text if _ESCAPED.isdisjoint(text) else escaped(text, bar=False)

    def program(self, program: Program) -> Iterable[str]:
        """The heading over one of many answers, and the program as code."""
        return (f"### line {program.line}", "", *self._fenced(program.text.splitlines()))

    def table(self, table: Table) -> Iterable[str]:
        """A table."""
        yield _markdown_head(table.heads, table.right, self.look.encoding)
        if table.styles and table.rows:
            texts = [*chain.from_iterable(table.rows)]
            together = "".join(texts)
            if is_ordinary(together) and not _SPECIAL.search(together) and "" not in texts:
                yield "\n".join([_markdown_row(table.styles)] * len(table.rows)) % (*texts,)
                return
        for row in table.rows:
            cells = map(self.piece, row, table.styles) if table.styles else map(self.line, row)
            yield "| " + " | ".join([cell.replace("|", "\\|") for cell in cells]) + " |"

    def outline(self, outline: Outline) -> Iterable[str]:
        """A tree, as code."""
        return self._fenced([plain(pieces) for pieces in outline_lines(outline, self.look)])

    def drawing(self, drawing: Drawing) -> Iterable[str]:
        """What draws itself, as code."""
        return self._fenced("\n".join(super().drawing(drawing)).splitlines())

    def _fenced(self, lines: Sequence[str]) -> Iterator[str]:
        return iter(fenced([visible(line, self.look.encoding) for line in lines]))


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

    def drawn(self, pieces: Pieces, text: str) -> str:
        """The same as spans."""
        return "".join([_span(piece, style) for piece, style in pieces])

    def table(self, table: Table) -> Iterable[str]:
        """A table."""
        sides = ["right" if column in table.right else "left" for column in range(len(table.heads))]

        def row(tag: str, cells: Iterable[str]) -> str:
            made = (f'<{tag} style="text-align:{side}">{cell}</{tag}>' for cell, side in zip(cells, sides, strict=True))
            return f"<tr>{''.join(made)}</tr>"

        yield "<table>"
        yield f"<thead>{row('th', (escaped_html(visible(head)) for head in table.heads))}</thead>"
        yield "<tbody>"
        for cells in table.cells:
            yield row("td", map(self.text, cells))
        yield "</tbody>"
        yield "</table>"

    def outline(self, outline: Outline) -> Iterable[str]:
        """A tree, as preformatted text."""
        lines = [self.text(pieces) for pieces in outline_lines(outline, self.look)]
        return (_preformatted("\n".join(lines)),)

    def drawing(self, drawing: Drawing) -> Iterable[str]:
        """What draws itself, as preformatted text."""
        if drawing.name:
            yield self.line(((drawing.name, "faint"),))
        yield _preformatted(escaped_html(drawing.draw(self.look)))


@lru_cache(256)
def _frame(unicode: bool, widths: tuple[int, ...], right: frozenset[int] | None) -> tuple[str, str, str, str]:
    """A box: the line above a table, a line of cells with a form for each, the one below the heading, and the last.

    Forms fill the columns, those in `right` from the left; where that is None, what they get is as wide as those.
    """
    top, side, middle, bottom = UNICODE_BOX if unicode else ASCII_BOX
    bars = [top[1] * (width + 2) for width in widths]
    forms = ["%s" if right is None else f"%{width if k in right else -width}s" for k, width in enumerate(widths)]

    def rule(ends: str) -> str:
        return ends[0] + ends[2].join(bars) + ends[3]

    line = f"{side} {f' {side} '.join(forms)} {side}\n"
    return rule(top) + "\n", line, rule(middle) + "\n", rule(bottom)


@lru_cache(256)
def _headings(heads: tuple[str, ...]) -> tuple[Pieces, ...]:
    """The cells of a heading row."""
    return tuple([((head, "heading"),) for head in heads])


def is_ordinary(text: str) -> bool:
    """Whether any stream can show the text as it is, each character in a column of its own."""
    return text.isascii() and text.isprintable()


def as_shown(pieces: Pieces, look: Look) -> Pieces:
    """The pieces as this stream can show them: with an ASCII dash for a missing number where that is all."""
    if is_ordinary(plain(pieces)):
        return pieces
    encoding, dash = look.encoding, "–" if look.unicode else "-"
    return tuple([(dash if text == "–" else visible(text, encoding), style) for text, style in pieces])


def shown(pieces: Pieces, look: Look) -> str:
    """The text of the pieces, as this stream can show it."""
    return plain(as_shown(pieces, look))


def pad(text: str, width: int, right: bool) -> str:
    """The text filled with spaces to a width in columns."""
    gap = " " * (width - width_of(text))
    return gap + text if right else text + gap


def outline_lines(outline: Outline, look: Look) -> list[Pieces]:
    """The lines of an outline: its cells stand in columns, or follow their line where columns would be too wide."""
    texts = [as_shown(branch.pieces, look) for branch in outline.branches]
    cells = [[shown(((cell, ""),), look) for cell in branch.cells] for branch in outline.branches]
    heads = outline.heads[1:]
    widths = [max([len(head), *(len(row[i]) for row in cells if row)]) for i, head in enumerate(heads)]
    for step in (3, 2, 1):
        rails = [_rails(branch.rails, step, look) for branch in outline.branches]
        wide = [len(rail) + width_of(plain(text)) for (rail, _), text in zip(rails, texts, strict=True)]
        first = max(width_of(outline.heads[0]), *wide)
        columns = look.width is None or first + sum(widths) + 3 * len(widths) <= look.width
        if columns:
            break
    lines: list[Pieces] = []
    if columns:
        row = pad(outline.heads[0], first, False) + "".join(
            "   " + pad(head, width, True) for head, width in zip(heads, widths, strict=True)
        )
        lines.append(((row, "faint"),))
    for (rail, passing), text, row_cells in zip(rails, texts, cells, strict=True):
        line: Pieces = text
        if columns and row_cells:
            line += ((" " * (first - len(rail) - width_of(plain(text))), ""),)
            for cell, width in zip(row_cells, widths, strict=True):
                line += (("   " + pad(cell, width, True), "number"),)
        elif row_cells:
            for head, cell in zip(heads, row_cells, strict=True):
                line += ((f"  {head} = ", "faint"), (cell, "number"))
        first_line, *more = broken(line, None if look.width is None else look.width - len(rail), indent=4)
        lines += [((rail, "faint"), *first_line), *(((passing, "faint"), *part) for part in more)]
    if outline.note:
        told = outline.note if look.unicode else outline.note.replace("…", "...")
        lines += broken(((told, "faint"),), look.width)
    return lines


def _rails(rails: tuple[bool, ...], step: int, look: Look) -> tuple[str, str]:
    """The lines that lead to a branch of an outline, a level in so many columns, and those that pass it.

    On a screen that has no room for them a number says how deep it is.
    """
    if not rails:
        return "", ""
    if look.width is not None and step * len(rails) > look.width // 2:
        deep = f"{len(rails)}: "
        return deep, " " * len(deep)
    on, more, last = ("│", "├─", "└─") if look.unicode else ("|", "|-", "`-")
    passing = [(on if rail else "").ljust(step) for rail in rails]
    return "".join(passing[:-1]) + (more if rails[-1] else last)[: max(step - 1, 1)].ljust(step), "".join(passing)


def _code(text: str) -> str:
    """The text as a code span of Markdown."""
    if "`" not in text:
        return f"`{text}`"
    ticks = "`"
    while ticks in text:
        ticks += "`"
    edge = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{edge}{text}{edge}{ticks}"


_ESCAPES = str.maketrans({char: f"\\{char}" for char in "\\*_<[]"})
_ESCAPES_IN_CELLS = _ESCAPES | {ord("|"): "\\|"}
_ESCAPED = frozenset("\\*_<[]|")
_SPECIAL = re.compile(r"[\\*_<\[\]|` ]")


@lru_cache(256)
def _markdown_row(styles: tuple[Style, ...]) -> str:
    """A row of a table with a place for each cell, for texts in which nothing is special."""
    return "| " + " | ".join(["`%s`" if style in ("name", "code") else "%s" for style in styles]) + " |"


@lru_cache(256)
def _markdown_head(heads: tuple[str, ...], right: frozenset[int], encoding: str) -> str:
    """The heading row of a table, and the row below it that says which columns are flush right."""
    names = [escaped(visible(head, encoding)) for head in heads]
    rules = ["---:" if column in right else "---" for column in range(len(heads))]
    return f"| {' | '.join(names)} |\n|{'|'.join(rules)}|"


def escaped(text: str, bar: bool = True) -> str:
    """The text with what Markdown would take for its own escaped, but for the backticks round code."""
    return text if _ESCAPED.isdisjoint(text) else text.translate(_ESCAPES_IN_CELLS if bar else _ESCAPES)


def escaped_html(text: str) -> str:
    """The text with what HTML would take for its own escaped."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _preformatted(text: str) -> str:
    # pages give `pre` a font of their own, in which a tree's lines may not meet
    return f'<pre style="font-family:monospace">{text}</pre>'


def _span(text: str, style: Style) -> str:
    css = STYLES[style].web
    return f'<span style="{css}">{escaped_html(text)}</span>' if css and text else escaped_html(text)
