"""Documents as characters: plain text, a terminal with colour, Markdown, HTML.

Rich lays out tables and trees, on a terminal and in a pipe. It crops and folds what is too wide without a sign, so the
widths of all columns are decided here first: no number and no name is ever broken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from io import StringIO
from typing import TYPE_CHECKING

from .characters import STYLES, Style, Terminal, paint, visible, width_of
from .document import Block, Drawing, Line, Outline, Pieces, Program, Room, Table, plain

if TYPE_CHECKING:
    from rich.console import Console, ConsoleRenderable
    from rich.text import Text

MIN_SENTENCE_WIDTH = 24
"""The least width of a sentence in a table that can be split instead."""

COLUMN_BORDER = 3
"""Columns of text that Rich draws beside each column of a table."""


# ---- text over several lines: broken between words, never inside a word, a number or a name -------------------------
_SPACE = re.compile(r" +")
_COMPARISON = frozenset("=<>")
_AFTER_OPERATOR = re.compile(r"(?<=[,(/·])(?![ *)])|(?<=\*)(?![* ])")

LEVELS = 3
"""Where a line may be broken: between words; inside what belongs together, `x = 2`, `x > 0` or a piece of code; inside
code without spaces, after an operator. The later ones only where a line is too short otherwise."""


class Wrapped:
    """Styled text, and where it may be broken."""

    def __init__(self, pieces: Pieces) -> None:
        self.text = "".join([text for text, _ in pieces])
        self.pieces = pieces
        self.breaks: list[list[tuple[int, int]]] = [[] for _ in range(LEVELS)]
        """The omitted text at the end of a line, mostly spaces, by level."""
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
        """Return the lines, none wider than `width` unless one word is."""
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
    """Break text into lines of at most `width` columns, all but the first indented."""
    if width is None or width_of(plain(pieces)) <= width:
        return (pieces,)
    return Wrapped(pieces).lines(width, indent)


# ---- documents ----------------------------------------------------------------------------------------------------
def fenced(lines: Sequence[str], language: str = "text") -> list[str]:
    """Lines of code as Markdown has them."""
    fence = "```"
    together = "\n".join(lines)
    while fence in together:
        fence += "`"
    return [fence + language, *lines, fence]


class PlainText:
    """A document without colour, for a pipe or a file. Nothing is cut."""

    def __init__(self, look: Terminal) -> None:
        self.look = look

    def render(self, blocks: Iterable[Block]) -> str:
        """The whole document, each line ended."""
        lines: list[str] = []
        previous: Block | None = None
        for block in blocks:
            if not isinstance(block, Room) or self.room(block):
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
        if isinstance(block, Program):
            return self.program(block)
        return self.drawing(block) if isinstance(block, Drawing) else self.room(block)

    def line(self, pieces: Pieces) -> str:
        """A line of styled text."""
        return self.text(pieces).rstrip()

    def lines(self, pieces: Pieces) -> Iterable[str]:
        """Yield styled text in one or more lines."""
        if self.look.width is None:
            return (self.line(pieces),)
        return map(self.line, broken(as_shown(pieces, self.look), self.look.width))

    def text(self, pieces: Pieces) -> str:
        """Styled text."""
        pieces = as_shown(pieces, self.look)
        return self.drawn(pieces, plain(pieces))

    def drawn(self, pieces: Pieces, text: str) -> str:
        """Styled text that is as the stream can show it; `text` without its styles."""
        return text

    def program(self, program: Program) -> Iterable[str]:
        """The heading over one of many answers."""
        text = "; ".join([visible(line, self.look.encoding) for line in program.text.splitlines()])
        return self.lines(((f"line {program.line}: {text}", "heading"),))

    def table(self, table: Table) -> Iterable[str]:
        """A table in a box; on a narrow screen several, or a list."""
        rows = [[((head, "heading"),) for head in table.heads], *table.cells]
        columns = [[as_shown(cell, self.look) for cell in cells] for cells in zip(*rows, strict=True)]
        blocks = column_blocks(columns, self.look.width)
        if table.spare and (blocks is None or len(blocks) > 1):
            kept = [k for k in range(len(columns)) if k not in table.spare]
            few = column_blocks([columns[k] for k in kept], self.look.width)
            blocks = few and [{kept[k]: width for k, width in block.items()} for block in few]
        if blocks is None:
            yield from self.listed([*zip(*columns, strict=True)], self.look.width or 0)
            return
        for block in blocks:
            right = [k in table.right for k in block]
            yield from self._boxed([columns[k] for k in block], [*block.values()], right)

    def _boxed(
        self, columns: Sequence[Sequence[Pieces]], widths: Sequence[int], right: Sequence[bool]
    ) -> Iterable[str]:
        from rich.box import ASCII2, ROUNDED
        from rich.table import Table as RichTable

        grid = RichTable(box=ROUNDED if self.look.unicode else ASCII2, header_style="")
        texts = [[_rich_text(cell, width) for cell in cells] for cells, width in zip(columns, widths, strict=True)]
        for cells, flush in zip(texts, right, strict=True):
            # Rich measures some characters its own way, and would crop them
            width = max(line.cell_len for text in cells for line in text.split())
            grid.add_column(cells[0], width=width, justify="right" if flush else "left", no_wrap=True)
        for row in zip(*[cells[1:] for cells in texts], strict=True):
            grid.add_row(*row)
        return self._drawn_lines(grid)

    def _drawn_lines(self, renderable: ConsoleRenderable) -> Iterator[str]:
        """The lines that Rich lays out, in this medium's colours."""
        for segments in _console().render_lines(renderable, pad=False):
            texts: list[tuple[str, Style]] = [
                (text, style.meta.get("style", "") if style else "") for text, style, _ in segments
            ]
            while texts and not texts[-1][0].strip():
                texts.pop()
            if texts:
                texts[-1] = texts[-1][0].rstrip(), texts[-1][1]
            yield self.drawn(tuple(texts), "".join([text for text, _ in texts]))

    def listed(self, rows: Sequence[tuple[Pieces, ...]], width: int) -> Iterator[str]:
        """The rows of a table, one column below the other."""
        first, *heads = [plain(head) for head in rows[0]]
        margin = max(map(width_of, heads))
        for k, (label, *cells) in enumerate(rows[1:]):
            if k:
                yield ""
            yield from self.lines(((f"{first} ".lstrip(), "faint"), *label))
            for head, cell in zip(heads, cells, strict=True):
                if plain(cell) and margin + 4 + width_of(plain(cell)) <= width:
                    gap = " " * (margin - width_of(head))
                    yield self.line(((f"  {head}{gap}  ", "faint"), *cell))
                elif plain(cell):
                    yield from [self.line(((f"  {head}", "faint"),))] if head else []
                    yield from (f"    {self.line(line)}" for line in broken(cell, width - 4))

    def outline(self, outline: Outline) -> Iterable[str]:
        """A tree, a line a node: a table without a box, whose first column has the tree's rails.

        Numbers follow their node on its line where columns would be too wide.
        """
        from rich.table import Table as RichTable

        names = [as_shown(branch.pieces, self.look) for branch in outline.branches]
        cells = [[plain(as_shown(((cell, ""),), self.look)) for cell in branch.cells] for branch in outline.branches]
        first, *heads = outline.heads
        sizes = [max([len(head), *(len(row[k]) for row in cells if row)]) for k, head in enumerate(heads)]
        for step in (3, 2, 1):
            rails = [_rails(branch.rails, step, self.look) for branch in outline.branches]
            sized = zip(rails, names, strict=True)
            size = max(width_of(first), *(len(rail) + width_of(plain(name)) for (rail, _), name in sized))
            fits = self.look.width is None or size + sum(sizes) + 3 * len(sizes) <= self.look.width
            if fits:
                break
        if fits:
            grid = RichTable(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="")
            for k, head in enumerate(outline.heads):
                grid.add_column(_rich_text(((head, "faint"),)), justify="right" if k else "left", no_wrap=True)
            for (rail, _), name, row in zip(rails, names, cells, strict=True):
                grid.add_row(_rich_text(((rail, "faint"), *name)), *[_rich_text(((x, "number"),)) for x in row])
            yield from self._drawn_lines(grid)
        else:
            for (rail, passing), name, row in zip(rails, names, cells, strict=True):
                line: Pieces = name
                for head, number in zip(heads, row, strict=False):
                    line += ((f"  {head} = ", "faint"), (number, "number"))
                room = None if self.look.width is None else self.look.width - len(rail)
                for k, part in enumerate(broken(line, room, indent=4)):
                    yield self.line(((passing if k else rail, "faint"), *part))
        yield from map(self.line, _note(outline, self.look))

    def room(self, room: Room) -> Iterable[str]:
        """Room to write in: none."""
        return ()

    def drawing(self, drawing: Drawing) -> Iterable[str]:
        """Return a drawing under its name."""
        if drawing.name:
            yield self.line(((drawing.name, "faint"),))
        yield drawing.draw(self.look)


class ColoredText(PlainText):
    """A document in colour, for a terminal."""

    def drawn(self, pieces: Pieces, text: str) -> str:
        return "".join([paint(piece, style, self.look) for piece, style in pieces])


class Markdown(PlainText):
    """The document as Markdown, an empty line between its blocks."""

    def render(self, blocks: Iterable[Block]) -> str:
        """The whole document, an empty line after each block."""
        return "".join([text + "\n\n" for block in blocks if (text := "\n".join(self.block(block)))])[:-1]

    def line(self, pieces: Pieces) -> str:
        """A line of text; names and code as code spans."""
        return "".join([self.piece(text, style) for text, style in pieces])

    def piece(self, text: str, style: Style) -> str:
        """One of them."""
        is_code = style == "name" or style == "code"
        if not is_code and text.isascii() and text.isprintable() and _ESCAPED.isdisjoint(text):
            return text
        if not (text.isascii() and text.isprintable()):
            text = visible(text, self.look.encoding)
        if is_code and text.strip():
            return _code(text)
        return text if _ESCAPED.isdisjoint(text) else escaped(text, bar=False)

    def program(self, program: Program) -> Iterable[str]:
        """The heading over one of many answers, and the program as code."""
        return (f"### line {program.line}", "", *self._fenced(program.text.splitlines()))

    def table(self, table: Table) -> Iterable[str]:
        yield _markdown_head(table.heads, table.right, self.look.encoding)
        for row in table.rows:
            cells = [*(map(self.piece, row, table.styles) if table.styles else map(self.line, row))]
            if "|" in "".join(cells):
                cells = [cell.replace("|", "\\|") for cell in cells]
            yield f"| {' | '.join(cells)} |"

    def outline(self, outline: Outline) -> Iterable[str]:
        return self._fenced("\n".join(super().outline(outline)).splitlines())

    def drawing(self, drawing: Drawing) -> Iterable[str]:
        """Return a drawing as code."""
        return self._fenced("\n".join(super().drawing(drawing)).splitlines())

    def room(self, room: Room) -> Iterable[str]:
        """Room to write in, by line breaks: empty lines would be one."""
        return ("<br>" * room.height,)

    def _fenced(self, lines: Sequence[str]) -> Iterator[str]:
        return iter(fenced([visible(line, self.look.encoding) for line in lines]))


class Html(PlainText):
    """The document as HTML, legible in light and dark; it loads nothing."""

    def render(self, blocks: Iterable[Block]) -> str:
        """The whole document, in one element."""
        return f'<div class="autodiff">\n{super().render(blocks)}</div>\n'

    def together(self, above: Block, below: Block) -> bool:
        return True

    def line(self, pieces: Pieces) -> str:
        """A line of styled text."""
        return f'<div style="font-family:monospace;white-space:pre-wrap">{self.text(pieces) or chr(10)}</div>'

    def drawn(self, pieces: Pieces, text: str) -> str:
        return "".join([_span(piece, style) for piece, style in pieces])

    def table(self, table: Table) -> Iterable[str]:
        def row(tag: str, cells: Iterable[str]) -> str:
            sides = ("right" if k in table.right else "left" for k in range(len(table.heads)))
            drawn = (
                f'<{tag} style="text-align:{side}">{cell}</{tag}>' for cell, side in zip(cells, sides, strict=True)
            )
            return f"<tr>{''.join(drawn)}</tr>"

        heads = row("th", (escaped_html(visible(head)) for head in table.heads))
        rows = [row("td", map(self.text, cells)) for cells in table.cells]
        return ["<table>", f"<thead>{heads}</thead>", "<tbody>", *rows, "</tbody>", "</table>"]

    def outline(self, outline: Outline) -> Iterable[str]:
        return (
            _preformatted("\n".join(super().outline(outline._replace(note="")))),
            *map(self.line, _note(outline, self.look)),
        )

    def drawing(self, drawing: Drawing) -> Iterable[str]:
        """Return a drawing as preformatted text."""
        if drawing.name:
            yield self.line(((drawing.name, "faint"),))
        yield _preformatted(escaped_html(drawing.draw(self.look)))


@cache
def _console() -> Console:
    """A console of Rich that is too wide to crop, with our styles."""
    from rich.console import Console
    from rich.style import Style as RichStyle
    from rich.theme import Theme

    theme = Theme({style: RichStyle(meta={"style": style}) for style in STYLES}, inherit=False)
    return Console(
        file=StringIO(),
        width=10**6,
        height=25,
        theme=theme,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        _environ={},
    )


def _rich_text(pieces: Pieces, width: int | None = None) -> Text:
    from rich.text import Text

    lines = (pieces,) if width is None else Wrapped(pieces).lines(width)
    text = Text(no_wrap=True)
    for k, line in enumerate(lines):
        text.append("\n" * (k > 0))
        text.append_tokens(line)
    return text


def column_blocks(columns: Sequence[Sequence[Pieces]], width: int | None) -> list[dict[int, int]] | None:
    """Return the columns that fit side by side, with widths; the first is in every block.

    None where the first column and another one do not fit beside each other.
    """
    cells = [[*map(Wrapped, column)] for column in columns]
    natural = [max(width_of(cell.text) for cell in column) for column in cells]
    if width is None or sum(natural) + COLUMN_BORDER * len(natural) + 1 <= width:
        return [dict(enumerate(natural))]
    least = [max(head.least(), *map(_least_width, rows), 0) for head, *rows in cells]
    room = width - 1 - COLUMN_BORDER
    blocks: list[list[int]] = [[0]]
    for k in range(1, len(columns)):
        if sum(least[j] + COLUMN_BORDER for j in blocks[-1]) + least[k] > room:
            blocks.append([0])
        blocks[-1].append(k)
        if least[0] + COLUMN_BORDER * (k > 0) + least[k] > room:
            return None
    return [_widths(block, least, natural, width - 1 - COLUMN_BORDER * len(block)) for block in blocks]


def _least_width(cell: Wrapped) -> int:
    """The width in which a cell of a table is readable, none of its words broken."""
    width = width_of(cell.text)
    return width if width <= MIN_SENTENCE_WIDTH else max(cell.least(), MIN_SENTENCE_WIDTH)


def _widths(block: Sequence[int], least: Sequence[int], natural: Sequence[int], room: int) -> dict[int, int]:
    """The widths of columns side by side; the narrowest are widened first."""
    widths = {k: least[k] for k in block}
    for _ in range(room - sum(widths.values())):
        wanting = [k for k in block if widths[k] < natural[k]]
        if not wanting:
            break
        widths[min(wanting, key=widths.__getitem__)] += 1
    return widths


def as_shown(pieces: Pieces, look: Terminal) -> Pieces:
    """Return the pieces as this stream can show them."""
    text = plain(pieces)
    if text.isascii() and text.isprintable():
        return pieces
    encoding, dash = look.encoding, "–" if look.unicode else "-"
    return tuple([(dash if text == "–" else visible(text, encoding), style) for text, style in pieces])


def _note(outline: Outline, look: Terminal) -> Sequence[Pieces]:
    """Return the note below a tree about omitted nodes."""
    note = outline.note if look.unicode else outline.note.replace("…", "...")
    return broken(((note, "faint"),), look.width) if note else ()


def _rails(rails: tuple[bool, ...], step: int, look: Terminal) -> tuple[str, str]:
    """The rails that lead to a branch of an outline, and those that pass it.

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


@lru_cache(256)
def _markdown_head(heads: tuple[str, ...], right: frozenset[int], encoding: str) -> str:
    """The heading row of a table, and the row that aligns its columns."""
    names = [escaped(visible(head, encoding)) for head in heads]
    rules = ["---:" if column in right else "---" for column in range(len(heads))]
    return f"| {' | '.join(names)} |\n|{'|'.join(rules)}|"


def escaped(text: str, bar: bool = True) -> str:
    """Escape what Markdown would take for its own."""
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
