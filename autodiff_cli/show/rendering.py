"""Documents as characters: plain text, a terminal with colour, Markdown, HTML.

Rich lays out tables and trees. It crops and folds what is too wide without a sign, so the
widths of columns are decided here first: no number and no name is ever broken.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from io import StringIO
from itertools import accumulate, pairwise, repeat, starmap
from typing import TYPE_CHECKING, Any

from .characters import STYLES, Style, Terminal, escaped, paint, width_of
from .document import (
    Block,
    Outline,
    Paragraph,
    Pieces,
    ProgramHeading,
    Room,
    Table,
    TextDrawing,
    plain_text,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

# The least width of a sentence in a table.
MIN_SENTENCE_WIDTH = 24
# Columns that Rich draws beside each column of a table.
COLUMN_BORDER = 3
_SPACE = re.compile(r" +")
_COMPARISON = frozenset("=<>")
_AFTER_OPERATOR = re.compile(r"(?<=[,(/·])(?![ *)])|(?<=\*)(?![* ])")
# Where a line may be broken: between words; else inside `x = 2`, `x > 0` or code; else inside code
# without spaces, after an operator.
BREAK_LEVELS = 3
# Pages give `pre` another font, in which a tree's lines may not meet.
_PREFORMATTED = '<pre style="font-family:monospace">%s</pre>'
_MARKDOWN = re.compile(r"[\\*_<\[\]~$]|&(?=#?\w+;)")


class Wrapped:
    """Styled text, and where it may be broken."""

    def __init__(self, pieces: Pieces) -> None:
        self.pieces, self.text = pieces, plain_text(pieces)
        self.places = [0, *accumulate([len(text) for text, _ in pieces])]
        styles = [style for _, style in pieces]
        places = zip(pairwise(self.places), styles, strict=True)
        code = [place for place, style in places if style == "code"]
        breaks = []
        for c, d in code:
            ends = [match.end() for match in _AFTER_OPERATOR.finditer(self.text, c + 1, d)]
            breaks += [(end, end, 2) for end in ends]
        begins = len(self.text) - len(self.text.lstrip(" "))
        for match in _SPACE.finditer(self.text, begins, len(self.text.rstrip(" "))):
            a, b = match.span()
            compared = not _COMPARISON.isdisjoint((self.text[a - 1], self.text[b]))
            breaks.append((a, b, int(compared or any(c < a and b < d for c, d in code))))
        # What is omitted at the end of a line, and the level.
        self.breaks = sorted(breaks)

    def _parts(self, start: int, end: int, level: int) -> Iterator[tuple[int, int]]:
        gaps = [(a, b) for a, b, needed in self.breaks if needed <= level and start < a and b < end]
        for a, b in gaps:
            yield start, a
            start = b
        yield start, end

    def minimum_width(self) -> int:
        """Return the least width of a line."""
        return max(
            width_of(self.text[a:b]) for a, b in self._parts(0, len(self.text), BREAK_LEVELS - 1)
        )

    def lines(self, width: int, indent: int) -> list[Pieces]:
        """Return the lines, none wider than `width` unless one word is."""
        ends: list[tuple[int, int]] = []
        waiting = [(0, len(self.text), -1)]
        while waiting:
            start, end, level = waiting.pop()
            room = width - (indent if len(ends) > 1 else 0)
            if ends and width_of(self.text[ends[-1][0] : end]) <= room:
                ends[-1] = (ends[-1][0], end)
            elif level == BREAK_LEVELS - 1 or width_of(
                self.text[start:end]
            ) <= width - indent * bool(ends):
                ends.append((start, end))
            else:
                waiting += [
                    (a, b, level + 1) for a, b in reversed([*self._parts(start, end, level + 1)])
                ]
        lines: list[Pieces] = []
        for start, end in ends:
            parts: Pieces = ((" " * indent, ""),) if indent and lines else ()
            for at, (text, style) in zip(self.places, self.pieces, strict=False):
                if part := text[max(start - at, 0) : max(end - at, 0)]:
                    parts += ((part, style),)
            lines.append(parts)
        return lines


def break_lines(pieces: Pieces, width: int | None, indent: int = 2) -> Sequence[Pieces]:
    """Break text into lines of at most `width` columns, the later ones indented."""
    if width is None or width_of(plain_text(pieces)) <= width:
        return (pieces,)
    return Wrapped(pieces).lines(width, indent)


def in_fence(lines: Sequence[str], language: str = "text") -> list[str]:
    """Return lines of code in Markdown."""
    fence = "```"
    together = "\n".join(lines)
    while fence in together:
        fence += "`"
    return [fence + language, *lines, fence]


class ScreenText:
    """A document as text, in colour where the stream has colours. Nothing is cut."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal

    def render(self, blocks: Iterable[Block]) -> str:
        """Return the whole document, each line ended."""
        lines: list[str] = []
        previous: Block | None = None
        for block in blocks:
            if drawn := self._block(block):
                is_next_line = isinstance(block, Paragraph) or (
                    isinstance(block, TextDrawing) and not block.name
                )
                if previous is not None and not (is_next_line and isinstance(previous, Paragraph)):
                    lines.append("")
                lines += drawn
                previous = block
        return "\n".join([*lines, ""])

    def _block(self, block: Block) -> Sequence[str]:
        if isinstance(block, Table):
            return self.table(block)
        if isinstance(block, Paragraph):
            return self.lines(block.pieces, None if block.source else self.terminal.width)
        if isinstance(block, Outline):
            return self.outline(block)
        if isinstance(block, ProgramHeading):
            return self._program(block)
        return self._drawing(block) if isinstance(block, TextDrawing) else self._blank_lines(block)

    def lines(self, pieces: Pieces, width: int | None) -> Sequence[str]:
        """Return styled text in lines."""
        return [self.line(part) for part in break_lines(as_shown(pieces, self.terminal), width)]

    def line(self, pieces: Pieces) -> str:
        """Return a line of text."""
        return self.paint_pieces(pieces).rstrip()

    def paint_pieces(self, pieces: Pieces) -> str:
        """Return text in its styles."""
        if not self.terminal.color:
            return plain_text(pieces)
        return "".join([paint(piece, style, self.terminal) for piece, style in pieces])

    def _program(self, program: ProgramHeading) -> Sequence[str]:
        text = "; ".join(
            [escaped(line, self.terminal.encoding) for line in program.text.splitlines()]
        )
        return self.lines(((f"line {program.line}: {text}", "heading"),), self.terminal.width)

    def table(self, table: Table) -> Sequence[str]:
        """Return a table, on a narrow screen several, or a list."""
        rows: list[Any] = [[((head, "heading"),) for head in table.heads], *table.rows]
        if not _is_plain_ascii(rows):
            rows = [[as_shown(cell, self.terminal) for cell in row] for row in rows]
        blocks = column_blocks(rows, range(len(table.heads)), self.terminal.width)
        if table.spare and (blocks is None or len(blocks) > 1):
            kept = [k for k in range(len(table.heads)) if k not in table.spare]
            blocks = column_blocks(rows, kept, self.terminal.width)
        if blocks is None:
            return self._listed(rows, self.terminal.width or 0)
        lines: list[str] = []
        for block in blocks:
            lines += self._grid(rows, block, table.right)
        return lines

    def _grid(
        self, rows: Sequence[Any], widths: Mapping[int, int | None], right: Collection[int]
    ) -> Sequence[str]:
        """Return the lines of some columns, each broken to a width or as wide as its text."""
        from rich.box import ASCII2, ROUNDED
        from rich.table import Table as RichTable
        from rich.text import Text

        grid = RichTable(box=ROUNDED if self.terminal.unicode else ASCII2, header_style="")
        head, *texts = [
            [
                (
                    Text.assemble(*row[k])
                    if width is None
                    else Text("\n").join(
                        [Text.assemble(*line) for line in break_lines(row[k], width, indent=0)]
                    )
                )
                for k, width in widths.items()
            ]
            for row in rows
        ]
        for k, text in zip(widths, head, strict=True):
            grid.add_column(text, justify="right" if k in right else "left", no_wrap=True)
        for row in texts:
            grid.add_row(*row)
        return self._drawn_lines(grid)

    def _drawn_lines(self, grid: RichTable) -> list[str]:
        segments = _console().render(grid)
        pieces: Any = [
            (text, style.meta.get("style", "") if style else "") for text, style, _ in segments
        ]
        return [line.rstrip() for line in self.paint_pieces(pieces).split("\n")[:-1]]

    def _listed(self, rows: Sequence[Sequence[Pieces]], width: int) -> list[str]:
        first, *heads = [plain_text(head) for head in rows[0]]
        margin = max(map(width_of, heads))
        lines: list[str] = []
        for k, (label, *cells) in enumerate(rows[1:]):
            lines += [""] * (k > 0)
            lines += self.lines(((f"{first} ".lstrip(), "faint"), *label), self.terminal.width)
            for head, cell in zip(heads, cells, strict=True):
                text = plain_text(cell)
                if text and margin + 4 + width_of(text) <= width:
                    gap = " " * (margin - width_of(head))
                    lines.append(self.line(((f"  {head}{gap}  ", "faint"), *cell)))
                elif text:
                    lines += [self.line(((f"  {head}", "faint"),))] if head else []
                    lines += [f"    {self.line(line)}" for line in break_lines(cell, width - 4)]
        return lines

    def outline(self, outline: Outline) -> list[str]:
        """Return a tree: a table whose first column has its rails."""
        from rich.table import Table as RichTable
        from rich.text import Text

        terminal, width, branches = self.terminal, self.terminal.width, outline.branches
        names = [as_shown(branch.pieces, terminal) for branch in branches]
        cells = [
            as_shown(tuple(zip(branch.cells, repeat("number"))), terminal) for branch in branches
        ]
        numbers_width = _numbers_width(outline.heads[1:], cells)
        for step in (3, 2, 1):
            rails = [_rails(branch.rails, step, terminal) for branch in branches]
            drawn = zip(rails, map(plain_text, names), strict=True)
            nodes = [len(rail) + width_of(name) for (rail, _), name in drawn]
            fits = width is None or max(width_of(outline.heads[0]), *nodes) + numbers_width <= width
            if fits:
                break
        rows = list(zip(rails, names, cells, strict=True))
        if width is None or fits:
            grid = RichTable(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="")
            for k, head in enumerate(outline.heads):
                grid.add_column(
                    Text.assemble((head, "faint")), justify="right" if k else "left", no_wrap=True
                )
            for (rail, _), name, row in rows:
                grid.add_row(Text.assemble((rail, "faint"), *name), *starmap(Text, row))
            lines = self._drawn_lines(grid)
        else:
            lines = self._broken_outline(outline.heads[1:], rows, width)
        return [*lines, *map(self.line, _note(outline, terminal))]

    def _broken_outline(self, heads: Sequence[str], rows: Sequence[Any], width: int) -> list[str]:
        """Return the lines of a tree with its numbers behind the names, broken to a width."""
        lines: list[str] = []
        for (rail, passing), name, row in rows:
            pieces = name
            for head, number in zip(heads, row, strict=False):
                pieces += ((f"  {head} = ", "faint"), number)
            parts = break_lines(pieces, width - len(rail), indent=4)
            lines += [
                self.line(((passing if k else rail, "faint"), *part))
                for k, part in enumerate(parts)
            ]
        return lines

    def _blank_lines(self, room: Room) -> Sequence[str]:
        return ()

    def _drawing(self, drawing: TextDrawing) -> list[str]:
        head = self.lines(((drawing.name, "faint"),), self.terminal.width) if drawing.name else []
        return [*head, drawing.draw(self.terminal)]


class Markdown(ScreenText):
    """The document as Markdown, an empty line between its blocks."""

    def render(self, blocks: Iterable[Block]) -> str:
        return "".join(
            [text + "\n\n" for block in blocks if (text := "\n".join(self._block(block)))]
        )[:-1]

    def lines(self, pieces: Pieces, width: int | None) -> Sequence[str]:
        return (self.line(pieces),)

    def line(self, pieces: Pieces) -> str:
        return "".join(starmap(self._piece, pieces))

    def _piece(self, text: str, style: Style) -> str:
        shown = (
            text if text.isascii() and text.isprintable() else escaped(text, self.terminal.encoding)
        )
        if style not in ("name", "code") or not shown.strip():
            # a template would be parsed for each text
            return _MARKDOWN.sub(lambda match: f"\\{match[0]}", shown)
        if "`" not in shown:
            return f"`{shown}`"
        ticks = "`"
        while ticks in shown:
            ticks += "`"
        edge = " " if shown.startswith("`") or shown.endswith("`") else ""
        return f"{ticks}{edge}{shown}{edge}{ticks}"

    def _program(self, program: ProgramHeading) -> Sequence[str]:
        return (f"### line {program.line}", "", *self._fence(program.text.splitlines()))

    def table(self, table: Table) -> list[str]:
        bars = repeat("|"), repeat("\\|")
        head = _markdown_head(table.heads, table.right, self.terminal)
        return [
            head,
            *[
                f"| {' | '.join(map(str.replace, map(self.line, row), *bars))} |"
                for row in table.rows
            ],
        ]

    def outline(self, outline: Outline) -> list[str]:
        return self._fence("\n".join(super().outline(outline)).splitlines())

    def _drawing(self, drawing: TextDrawing) -> list[str]:
        return self._fence("\n".join(super()._drawing(drawing)).splitlines())

    def _blank_lines(self, room: Room) -> Sequence[str]:
        # empty lines would be one
        return ("<br>" * room.height,)

    def _fence(self, lines: Sequence[str]) -> list[str]:
        return in_fence([escaped(line, self.terminal.encoding) for line in lines])


class Html(ScreenText):
    """The document as HTML, legible in light and dark."""

    def render(self, blocks: Iterable[Block]) -> str:
        lines = [line for block in blocks for line in self._block(block)]
        return "\n".join(['<div class="autodiff">', *lines, "</div>\n"])

    def line(self, pieces: Pieces) -> str:
        return (
            "<div"
            f' style="font-family:monospace;white-space:pre-wrap">{self.paint_pieces(pieces) or chr(10)}</div>'
        )

    def paint_pieces(self, pieces: Pieces) -> str:
        texts = [(escaped_html(text), STYLES[style][1]) for text, style in pieces]
        return "".join(
            [f'<span style="{css}">{text}</span>' if css and text else text for text, css in texts]
        )

    def table(self, table: Table) -> list[str]:
        def row(tag: str, cells: Iterable[str]) -> str:
            sides = [
                (cell, "right" if k in table.right else "left") for k, cell in enumerate(cells)
            ]
            drawn = [f'<{tag} style="text-align:{side}">{cell}</{tag}>' for cell, side in sides]
            return f"<tr>{''.join(drawn)}</tr>"

        heads = row("th", [escaped_html(escaped(head)) for head in table.heads])
        shown = [[as_shown(cell, self.terminal) for cell in cells] for cells in table.rows]
        rows = [row("td", map(self.paint_pieces, cells)) for cells in shown]
        return ["<table>", f"<thead>{heads}</thead>", "<tbody>", *rows, "</tbody>", "</table>"]

    def outline(self, outline: Outline) -> list[str]:
        tree = "\n".join(super().outline(outline._replace(note="")))
        return [_PREFORMATTED % tree, *map(self.line, _note(outline, self.terminal))]

    def _drawing(self, drawing: TextDrawing) -> list[str]:
        *head, text = super()._drawing(drawing)
        return [*head, _PREFORMATTED % escaped_html(text)]


@cache
def _console() -> Console:
    from rich.console import Console
    from rich.style import Style as RichStyle
    from rich.theme import Theme

    # what is drawn is `Text`, never markup
    theme = Theme({style: RichStyle(meta={"style": style}) for style in STYLES}, inherit=False)
    return Console(
        file=StringIO(), width=10**6, height=25, theme=theme, legacy_windows=False, _environ={}
    )


def _numbers_width(heads: Sequence[str], cells: Sequence[Pieces]) -> int:
    """Return the width of the columns of numbers beside a tree."""
    columns = [[head, *[row[k][0] for row in cells if row]] for k, head in enumerate(heads)]
    return sum(3 + max(map(len, column)) for column in columns)


def _is_plain_ascii(rows: Sequence[Sequence[Pieces]]) -> bool:
    """Return whether all texts of a table are ASCII that every terminal shows as it is."""
    together = "".join([text for row in rows for cell in row for text, _ in cell])
    return together.isascii() and together.isprintable()


def column_blocks(
    rows: Sequence[Sequence[Pieces]], kept: Sequence[int], width: int | None
) -> list[dict[int, int | None]] | None:
    """Return which columns stand side by side; the first is in every block.

    A width is None where no cell has to be broken. None where the first column does not fit
    beside another one.
    """
    if width is None:
        return [dict.fromkeys(kept)]
    natural = {k: max([width_of(plain_text(row[k])) for row in rows]) for k in kept}
    if sum(natural.values()) + COLUMN_BORDER * len(natural) + 1 <= width:
        return [dict.fromkeys(kept)]

    def least_width(cell: Pieces) -> int:
        width = width_of(plain_text(cell))
        if width <= MIN_SENTENCE_WIDTH:
            return width
        return max(Wrapped(cell).minimum_width(), MIN_SENTENCE_WIDTH)

    heads, *cells = rows
    least = {}
    for k in kept:
        widths_in_rows = [least_width(row[k]) for row in cells]
        least[k] = max(Wrapped(heads[k]).minimum_width(), *widths_in_rows, 0)
    room = width - 1 - COLUMN_BORDER
    first, *others = kept
    blocks = [{first: least[first]}]
    for k in others:
        if least[first] + COLUMN_BORDER + least[k] > room:
            return None
        if sum(blocks[-1].values()) + COLUMN_BORDER * len(blocks[-1]) + least[k] > room:
            blocks.append({first: least[first]})
        blocks[-1][k] = least[k]
    for widths in blocks:
        _widen(widths, natural, width - 1 - COLUMN_BORDER * len(widths) - sum(widths.values()))
    return [{**widths} for widths in blocks]


def _widen(widths: dict[int, int], natural: Mapping[int, int], spare: int) -> None:
    """Give spare width to columns that want it, to the narrowest first."""
    for _ in range(spare):
        wanting = [k for k in widths if widths[k] < natural[k]]
        if not wanting:
            break
        widths[min(wanting, key=widths.__getitem__)] += 1


def as_shown(pieces: Pieces, terminal: Terminal) -> Pieces:
    """Return the pieces as this stream can show them."""
    together = "".join([text for text, _ in pieces])
    if together.isascii() and together.isprintable():
        return pieces
    dash = "–" if terminal.unicode else "-"
    return tuple(
        [
            (dash if text == "–" else escaped(text, terminal.encoding), style)
            for text, style in pieces
        ]
    )


def _note(outline: Outline, terminal: Terminal) -> Sequence[Pieces]:
    note = outline.note if terminal.unicode else outline.note.replace("…", "...")
    return break_lines(((note, "faint"),), terminal.width) if note else ()


def _rails(rails: tuple[bool, ...], step: int, terminal: Terminal) -> tuple[str, str]:
    if not rails:
        return "", ""
    if terminal.width is not None and step * len(rails) > terminal.width // 2:
        # no room for rails: a number says how deep it is
        deep = f"{len(rails)}: "
        return deep, " " * len(deep)
    on, more, last = ("│", "├─", "└─") if terminal.unicode else ("|", "|-", "`-")
    passing = [(on if rail else "").ljust(step) for rail in rails]
    end = (more if rails[-1] else last)[: max(step - 1, 1)]
    return "".join(passing[:-1]) + end.ljust(step), "".join(passing)


def web_file(name: str, **parts: str) -> str:
    """Return the text of a file in `web` with its parts."""
    from importlib.resources import files
    from string import Template  # only pages need it

    text = (files(__package__) / "web" / name).read_text(encoding="utf-8")
    return Template(text).substitute(parts)


@lru_cache(256)
def _markdown_head(heads: tuple[str, ...], right: frozenset[int], terminal: Terminal) -> str:
    names = [Markdown(terminal).line(((head, ""),)).replace("|", "\\|") for head in heads]
    rules = ["---:" if column in right else "---" for column in range(len(heads))]
    return f"| {' | '.join(names)} |\n|{'|'.join(rules)}|"


def escaped_html(text: str) -> str:
    """Return the text with HTML's own characters escaped."""
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    )


# ---- answers in notebooks
# What answers in notebooks are in.
NOTEBOOK = ".autodiff-answer"
# The attributes with which JupyterLab, VS Code, Sphinx's themes and Colab say their theme.
LIGHT_THEMES = (
    "[data-jp-theme-light=true],[data-vscode-theme-kind$=light],[data-theme=light],[theme=light]"
)
DARK_THEMES = (
    "[data-jp-theme-light=false],[data-vscode-theme-kind$=dark],[data-vscode-theme-kind$=contrast],"
    "[data-theme=dark],[theme=dark]"
)
ACCENTS_LIGHT = {"name": "#0b7285", "operator": "#8f5b00", "code": "#1f7a34", "error": "#b91c1c"}
# Colours of text with a contrast of at least 4.5, on white and on black.
ACCENTS_DARK = {"name": "#4cc9dc", "operator": "#f5a524", "code": "#6cc787", "error": "#ff8787"}


def themed_css(within: str, light: str, dark: str) -> str:
    """Return CSS that sets properties as the theme of the notebook says, or else as that of the
    system.
    """
    return (
        f"{within}{{{light}}}@media (prefers-color-scheme:dark){{{within}{{{dark}}}}}"
        f":is({LIGHT_THEMES}) {within}{{{light}}}:is({DARK_THEMES}) {within}{{{dark}}}"
    )


def css_variables(colors: Mapping[str, str]) -> str:
    """Return colours as properties in CSS."""
    return "".join([f"--autodiff-{name}:{color};" for name, color in colors.items()])


@cache
def _notebook_css() -> str:
    # a page that does not say its theme may be white where the system is dark
    own_paper = "background:#0f172a;color:#f1f5f9;padding:.5em;"
    light, dark = css_variables(ACCENTS_LIGHT), css_variables(ACCENTS_DARK)
    themes = (
        f":is({LIGHT_THEMES},{DARK_THEMES}) {NOTEBOOK}{{background:none;color:inherit;padding:0}}"
    )
    return (
        themed_css(NOTEBOOK, light, dark)
        + f"@media (prefers-color-scheme:dark){{{NOTEBOOK}{{{own_paper}}}}}{themes}"
        + f"{NOTEBOOK} :is(table,tr,th,td,pre){{background:none!important;color:inherit!important}}"
        + f"{NOTEBOOK} .formula{{overflow-x:auto;padding:.3em 0}}{NOTEBOOK}"
        " math{width:fit-content}" + f"{NOTEBOOK} svg{{max-width:100%;height:auto}}"
    )


def notebook_html(formula: str, text: str, drawing: str) -> str:
    """Return the HTML of an answer in a notebook: formula, text with tables, and graph, in light
    and dark.
    """
    shown = f'<div class="formula">{formula}</div>' if formula else ""
    parts = [f"<style>{_notebook_css()}</style>", shown, text, drawing]
    return "\n".join(
        [
            '<div class="autodiff-answer">',
            *[part.rstrip("\n") for part in parts if part],
            "</div>\n",
        ]
    )
