"""Documents as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .boxes import outline_lines
from .characters import Look, visible
from .document import Block, Line, Outline, Pieces, Program, plain


def markdown(blocks: Iterable[Block], look: Look) -> str:
    """The document as Markdown, an empty line between its blocks."""
    return "\n\n".join("\n".join(_lines(block, look)) for block in blocks) + "\n"


def _lines(block: Block, look: Look) -> Iterator[str]:
    if isinstance(block, Line):
        yield _inline(block.pieces, look)
    elif isinstance(block, Program):
        yield f"### line {block.line}"
        yield ""
        yield from _fence(block.text.splitlines(), look)
    elif isinstance(block, Outline):
        yield from _fence([plain(pieces) for pieces in outline_lines(block, look._replace(width=None))], look)
    else:
        yield "| " + " | ".join(map(escape, block.heads)) + " |"
        yield "|" + "|".join("---:" if column in block.right else "---" for column in range(len(block.heads))) + "|"
        for row in block.rows:
            yield "| " + " | ".join(_inline(cell, look).replace("|", "\\|") for cell in row) + " |"


def _inline(pieces: Pieces, look: Look) -> str:
    """One line; names and code as code spans, in which only a vertical bar can do harm."""
    shown = [(visible(text, look.encoding), style in ("name", "code") and text.strip()) for text, style in pieces]
    return "".join(_code(text) if code else escape(text, bar=False) for text, code in shown)


def _code(text: str) -> str:
    ticks = "`"
    while ticks in text:
        ticks += "`"
    edge = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{edge}{text}{edge}{ticks}"


def escape(text: str, bar: bool = True) -> str:
    """The text with what Markdown would take for its own escaped, but for the backticks round code."""
    special = "\\*_<[]|" if bar else "\\*_<[]"
    return "".join(f"\\{char}" if char in special else char for char in text)


def _fence(lines: list[str], look: Look) -> Iterator[str]:
    fence = "```"
    while any(fence in line for line in lines):
        fence += "`"
    yield fence + "text"
    yield from (visible(line, look.encoding) for line in lines)
    yield fence
