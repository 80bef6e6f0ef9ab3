"""The diagnosis of a text that cannot be read: which mistake it is, what to say, and which spellings to offer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import ExpressionError, Span
from ..language.reader import Stuck
from .context import Context
from .excerpts import RANGES, Pieces, span
from .mistakes import MISTAKES, Mistake, Repair
from .suggestions import LONGEST, offered

NEAR = 80
"""How much of the text before and after the error the patterns see."""

_MISSING = (LookupError, ValueError, StopIteration)


def diagnosis(text: str, stuck: Stuck) -> ExpressionError:
    """The error to raise where the reader is stuck."""
    context = Context(text, stuck)
    mistake, pieces, message, at = recognised(context)
    also: tuple[tuple[Span, str], ...] = ()
    if mistake.also and (place := _place(mistake.there, context)):
        also = ((Span(*place), mistake.also),)
    return ExpressionError(mistake.kind, message, at, _hint(mistake, pieces), also)


def recognised(context: Context) -> tuple[Mistake, Pieces, str, Span]:
    """The first mistake that it can be, the pieces of the text, the message, and where the carets stand."""
    text, point = context.text, context.point
    ahead, behind = text[point : point + NEAR], text[max(0, point - NEAR) : point]
    for mistake in MISTAKES:
        sign = re.match(mistake.text or r"[\s\S]?", ahead)
        if (
            not sign
            or not context.matches(mistake.tokens)
            or (mistake.takes and not context.takes(mistake.takes))
            or (mistake.before and not re.search(rf"(?:{mistake.before})\Z", behind))
        ):
            continue
        pieces = Pieces(context)
        pieces["sign"] = sign[0]
        try:
            if not mistake.needs or pieces[mistake.needs]:
                return mistake, pieces, mistake.message.format_map(_Short(pieces)), _span(mistake, pieces)
        except _MISSING:
            continue
    raise AssertionError("the last mistake is always recognised")


def _place(name: str, context: Context) -> tuple[int, int] | None:
    try:
        return span(context, name)
    except _MISSING:
        return None


class _Short(dict[str, str]):
    """Pieces of the text for a message, cut where they are long."""

    def __init__(self, pieces: Pieces) -> None:
        super().__init__()
        self.pieces = pieces

    def __missing__(self, name: str) -> str:
        piece = self.pieces[name]
        return piece if len(piece) <= 40 else f"{piece[:19]}…{piece[-19:]}"


def _span(mistake: Mistake, pieces: Pieces) -> Span:
    context = pieces.context
    if mistake.caret == "token" and context.tokens[context.at].letter in "jl":
        end = context.tokens[context.at - 1].end if context.at else len(context.text)
        return Span(end, end)
    if mistake.caret == "sign":
        return Span(context.point, context.point + len(pieces["sign"]))
    first, _, last = mistake.caret.partition("..")
    return Span(span(context, first)[0], span(context, last or first)[1])


def _hint(mistake: Mistake, pieces: Pieces) -> str:
    if "{}" not in mistake.hint:
        return mistake.hint
    hint, spellings = mistake.hint, _spellings(mistake, pieces)
    if not spellings:
        if not mistake.examples:
            return hint.removesuffix(": {}")
        spellings = list(mistake.examples)
        hint = hint.replace("write {}", "write it as in {}").replace(": {}", ", as in {}")
    return hint.replace("{}", " or ".join(f"`{spelling}`" for spelling in spellings))


def _spellings(mistake: Mistake, pieces: Pieces) -> list[str]:
    """The spellings to offer, with the user's own text; each of them is a program that means something."""
    spellings: list[str] = []
    if not mistake.write:
        return spellings
    context = pieces.context
    first, end = RANGES["statement"](context)
    earlier, last = context.text[: context.tokens[first].start], context.tokens[end].letter == "j"
    for template in mistake.write:
        for spelling in _repaired(mistake, pieces) if template == "{repaired}" else _filled(template, pieces):
            if offered(spelling, earlier, last=last):
                spellings.append(spelling)
                break
    return spellings


def _filled(template: str, pieces: Pieces) -> Iterator[str]:
    try:
        yield template.format_map(pieces)
    except _MISSING:
        return


def _repaired(mistake: Mistake, pieces: Pieces) -> Iterator[str]:
    """The statement with this mistake repaired, then with all that can be repaired at all; then as conditions."""
    try:
        start, end = span(pieces.context, "statement")
    except _MISSING:
        return
    if end - start > LONGEST:
        return
    statement = pieces.context.text[start:end]
    repaired = [_replaced(statement, mistake.repair)]
    for other in MISTAKES:
        if not other.alone or other is mistake:
            statement = _replaced(statement, other.repair)
    repaired.append(statement)
    yield from repaired
    # A condition is no result; one that is written as the whole statement may be a choice of 1 or 0.
    yield from (re.sub(r"^(\w+\s*=(?!=)\s*)?(.*)$", r"\g<1>1 if \2 else 0", condition) for condition in repaired)


def _replaced(text: str, repairs: tuple[Repair, ...]) -> str:
    for pattern, replacement in repairs:
        text = re.sub(pattern, replacement, text)
    return text.strip()
