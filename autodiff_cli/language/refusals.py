"""What cannot be read: which mistake it is, what to say about it, and which spellings to offer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import ExpressionError, Span
from .mistakes import ROWS, Repair, Row
from .parser import Stuck
from .trouble import LONGEST, Trouble, parses

_MISSING = (LookupError, ValueError, StopIteration)


def refusal(text: str, stuck: Stuck) -> ExpressionError:
    """The error to raise where the parser is stuck."""
    trouble = Trouble(text, stuck)
    for row in ROWS:
        if not trouble.matches(row.tokens) or (row.takes and not trouble.takes(row.takes)):
            continue
        if not re.match(row.text, text[trouble.point : trouble.point + 80]):
            continue
        if row.before and not re.search(rf"(?:{row.before})\Z", text[max(0, trouble.point - 80) : trouble.point]):
            continue
        try:
            message = row.message.format_map(_Short(trouble))
            span = _span(row, trouble)
        except _MISSING:
            continue
        also = ((Span(*place), row.also),) if row.also and (place := _place(row.there, trouble)) else ()
        return ExpressionError(row.kind, message, span, _hint(row, trouble), also)
    raise AssertionError("the last row always applies")


def _place(name: str, trouble: Trouble) -> tuple[int, int] | None:
    try:
        return trouble.place(name)
    except _MISSING:
        return None


class _Short(dict[str, str]):
    """Pieces of the text for a message, cut where they are long."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__()
        self.trouble = trouble

    def __missing__(self, name: str) -> str:
        piece = self.trouble[name]
        return piece if len(piece) <= 40 else f"{piece[:19]}…{piece[-19:]}"


def _span(row: Row, trouble: Trouble) -> Span:
    if trouble.tokens[trouble.at].letter in "jl" and row.caret == "token":
        end = trouble.tokens[trouble.at - 1].end if trouble.at else len(trouble.text)
        return Span(end, end)
    if row.caret == "token" and trouble.tokens[trouble.at].letter == "g":
        found = re.match(row.text or r"[\s\S]", trouble.text[trouble.point : trouble.point + 80])
        assert found is not None
        end = trouble.tokens[trouble.at].end if row.kind == "limit" else trouble.point + len(found[0])
        return Span(trouble.point, end)
    first, _, last = row.caret.partition("..")
    return Span(trouble.place(first)[0], trouble.place(last or first)[1])


def _hint(row: Row, trouble: Trouble) -> str:
    spellings = _spellings(row, trouble) or row.examples
    return (
        row.hint.replace("{}", " or ".join(f"`{spelling}`" for spelling in spellings))
        if spellings
        else row.hint.removesuffix(": {}")
    )


def _spellings(row: Row, trouble: Trouble) -> list[str]:
    """The spellings to offer, with the user's own text; each of them is a program."""
    spellings = []
    for template in row.write:
        for spelling in _repaired(row, trouble) if template == "{repaired}" else _filled(template, trouble):
            if len(spelling) <= LONGEST and "`" not in spelling and parses(spelling):
                spellings.append(spelling)
                break
    return spellings


def _filled(template: str, trouble: Trouble) -> Iterator[str]:
    try:
        yield template.format_map(trouble)
    except _MISSING:
        return


def _repaired(row: Row, trouble: Trouble) -> Iterator[str]:
    """The statement with this mistake repaired; then with all that can be repaired at all."""
    try:
        start, end = trouble.place("statement")
    except _MISSING:
        return
    if end - start > LONGEST:
        return
    statement = trouble.text[start:end]
    yield _replaced(statement, row.repair)
    for other in ROWS:
        statement = _replaced(statement, other.repair)
    yield statement


def _replaced(text: str, repairs: tuple[Repair, ...]) -> str:
    for pattern, replacement in repairs:
        text = re.sub(pattern, replacement, text)
    return text.strip()
