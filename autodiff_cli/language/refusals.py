"""What cannot be read: which mistake it is, what to say about it, and which spellings to offer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import ExpressionError, Span
from .mistakes import ROWS, Repair, Row
from .parser import Stuck
from .spelling import LONGEST, offered
from .trouble import Trouble

NEAR = 80
"""How much of the text before and after the error the patterns see."""

_MISSING = (LookupError, ValueError, StopIteration)


def refusal(text: str, stuck: Stuck) -> ExpressionError:
    """The error to raise where the parser is stuck."""
    trouble = Trouble(text, stuck)
    row, message, span = recognised(trouble)
    place = _place(row.there, trouble) if row.also else None
    also = ((Span(*place), row.also),) if place else ()
    return ExpressionError(row.kind, message, span, _hint(row, trouble), also)


def recognised(trouble: Trouble) -> tuple[Row, str, Span]:
    """The first row that applies, with its message and where the carets stand."""
    text, point = trouble.text, trouble.point
    ahead, behind = text[point : point + NEAR], text[max(0, point - NEAR) : point]
    for row in ROWS:
        sign = re.match(row.text or r"[\s\S]?", ahead)
        if (
            sign
            and trouble.matches(row.tokens)
            and (not row.takes or trouble.takes(row.takes))
            and (not row.before or re.search(rf"(?:{row.before})\Z", behind))
            and (not row.needs or _there(row.needs, trouble))
        ):
            trouble["sign"] = sign[0]
            try:
                return row, row.message.format_map(_Short(trouble)), _span(row, trouble)
            except _MISSING:
                continue
    raise AssertionError("the last row always applies")


def _there(name: str, trouble: Trouble) -> bool:
    try:
        return bool(trouble[name])
    except _MISSING:
        return False


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
    if row.caret == "token" and trouble.tokens[trouble.at].letter in "jl":
        end = trouble.tokens[trouble.at - 1].end if trouble.at else len(trouble.text)
        return Span(end, end)
    if row.caret == "sign":
        return Span(trouble.point, trouble.point + len(trouble["sign"]))
    first, _, last = row.caret.partition("..")
    return Span(trouble.place(first)[0], trouble.place(last or first)[1])


def _hint(row: Row, trouble: Trouble) -> str:
    if "{}" not in row.hint:
        return row.hint
    hint, spellings = row.hint, _spellings(row, trouble)
    if not spellings:
        if not row.examples:
            return hint.removesuffix(": {}")
        spellings = list(row.examples)
        hint = hint.replace("write {}", "write it as in {}").replace(": {}", ", as in {}")
    return hint.replace("{}", " or ".join(f"`{spelling}`" for spelling in spellings))


def _spellings(row: Row, trouble: Trouble) -> list[str]:
    """The spellings to offer, with the user's own text; each of them is a program that means something."""
    spellings: list[str] = []
    if not row.write:
        return spellings
    first, end = trouble.where_statement()
    earlier, last = trouble.text[: trouble.tokens[first].start], trouble.tokens[end].letter == "j"
    for template in row.write:
        for spelling in _repaired(row, trouble) if template == "{repaired}" else _filled(template, trouble):
            if offered(spelling, earlier, last=last):
                spellings.append(spelling)
                break
    return spellings


def _filled(template: str, trouble: Trouble) -> Iterator[str]:
    try:
        yield template.format_map(trouble)
    except _MISSING:
        return


def _repaired(row: Row, trouble: Trouble) -> Iterator[str]:
    """The statement with this mistake repaired, then with all that can be repaired at all; then as conditions."""
    try:
        start, end = trouble.place("statement")
    except _MISSING:
        return
    if end - start > LONGEST:
        return
    statement = trouble.text[start:end]
    repaired = [_replaced(statement, row.repair)]
    for other in ROWS:
        if not other.alone or other is row:
            statement = _replaced(statement, other.repair)
    repaired.append(statement)
    yield from repaired
    # A condition is no result; one that is written as the whole statement may be a choice of 1 or 0.
    yield from (re.sub(r"^(\w+\s*=(?!=)\s*)?(.*)$", r"\g<1>1 if \2 else 0", condition) for condition in repaired)


def _replaced(text: str, repairs: tuple[Repair, ...]) -> str:
    for pattern, replacement in repairs:
        text = re.sub(pattern, replacement, text)
    return text.strip()
