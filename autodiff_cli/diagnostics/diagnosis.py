"""The diagnosis of a text that cannot be read: which mistake it is, what to say, and which spellings to offer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from ..errors import ExpressionError, Offer, Span
from ..language.reader import ParseFailure
from .ambiguities import is_certain
from .context import Context
from .fragments import RANGES, Pieces, span
from .mistakes import MISTAKES, Mistake, Repair
from .suggestions import FARTHEST, offered

NEAR = 80
"""How much of the text before and after the error the patterns see."""

_WHOLE = frozenset((
    "{repaired}", "{completed}", "{split}", "{separated}", "{compared}", "{difference}",
    "{statement} else 0",
))  # fmt: skip
"""Spellings of the whole statement."""

_MISSING = (LookupError, ValueError, StopIteration)


def diagnosis(text: str, stuck: ParseFailure, given: Collection[str] = ()) -> ExpressionError:
    """The error to raise where the reader is stuck; `given` are the names that the point gives values to."""
    context = Context(text, stuck, given)
    mistake, pieces, message, at = recognised(context)
    also: tuple[tuple[Span, str], ...] = ()
    if mistake.also and (place := _place(mistake.there, context)):
        also = ((Span(*place), mistake.also),)
    offers = tuple(_offers(mistake, pieces))
    return ExpressionError(mistake.kind, message, at, _hint(mistake, offers), also, offers)


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
    return _extent(mistake.caret, pieces)


def _extent(name: str, pieces: Pieces) -> Span:
    """From where a piece begins to where it ends, or another one: `left..right`."""
    first, _, last = name.partition("..")
    return Span(_ends(first, pieces)[0], _ends(last or first, pieces)[1])


def _ends(name: str, pieces: Pieces) -> tuple[int, int]:
    context = pieces.context
    if name == "sign":
        return context.point, context.point + len(pieces["sign"])
    return span(context, name)


def _hint(mistake: Mistake, offers: Sequence[Offer]) -> str:
    if "{}" not in mistake.hint:
        return mistake.hint
    hint, spellings = mistake.hint, [spelling for offer in offers for spelling in offer.shown]
    if not spellings:
        if not mistake.examples:
            return hint.removesuffix(": {}")
        spellings = list(mistake.examples)
        hint = hint.replace("write {}", "write it as in {}").replace(": {}", ", as in {}")
    return hint.replace("{}", " or ".join(f"`{spelling}`" for spelling in spellings))


def _offers(mistake: Mistake, pieces: Pieces) -> Iterator[Offer]:
    """The spellings to offer, with the user's own text: each of those shown is a program that means something."""
    if not mistake.offers:
        return
    context = pieces.context
    first, end = RANGES["statement"](context)
    earlier, last = context.text[: context.tokens[first].start], context.tokens[end].letter == "j"

    def good(spellings: Iterable[str]) -> str | None:
        return next((spelling for spelling in spellings if offered(spelling, earlier, last=last)), None)

    alone = len(mistake.offers) == 1
    for k, template in enumerate(mistake.offers):
        filled = _repaired(mistake, pieces) if template == "{repaired}" else _filled(template, pieces)
        spellings = [spelling for spelling in filled if spelling]
        shown = good(spellings)
        place = mistake.places[k] if k < len(mistake.places) else "statement" if template in _WHOLE else mistake.caret
        try:
            start, stop, _ = _extent(place, pieces)
        except _MISSING:
            continue
        text = mistake.edit
        if not text:
            if not spellings:
                continue
            # What repairs other mistakes as well is for the eye: each of them has to be certain by itself.
            single = shown if template != "{repaired}" or shown in spellings[::2] else None
            text = single or (spellings[0] if alone else shown or "")
        if (shown or alone) and text != context.text[start:stop] and len(text) <= FARTHEST:
            other = good(_filled(mistake.same, pieces)) if mistake.same else None
            certain = alone and not _splits_number(context.text, start, stop)
            certain = certain and _is_certain(mistake.certain, pieces, stop)
            yield Offer(start, stop, text, certain, tuple([each for each in (shown, other) if each]))


def _splits_number(text: str, start: int, stop: int) -> bool:
    """Whether a place begins or ends within a number in groups: `000!` in `1,000!`."""
    near = re.finditer(r"(?<![0-9])[0-9]++(?:,[0-9]{3})+", text)
    return any(found.start() < place < found.end() for found in near for place in (start, stop))


def _is_certain(doubts: str, pieces: Pieces, stop: int) -> bool:
    try:
        return is_certain(doubts, pieces, stop)
    except _MISSING:
        return False


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
    if end - start > FARTHEST:
        return
    statement = pieces.context.text[start:end]
    repaired = [_replaced(statement, mistake.repair)]
    if not repaired[0]:
        return
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
