"""The diagnosis of a text that cannot be read: the mistake, the message, and the spellings to offer."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import TypeVar

from ..errors import ExpressionError, Offer, Span
from ..language.reader import ParseFailure
from .ambiguities import is_certain
from .context import Context, Kind
from .fragments import RANGES, Fragments, span
from .mistakes import MISTAKES, Mistake, Repair
from .suggestions import MAX_CONTEXT, offered

WINDOW = 80
"""How many characters before and after the error the patterns see."""

_WHOLE = ("{repaired}", "{completed}", "{split}", "{separated}", "{compared}", "{difference}", "{statement} else 0")
"""Spellings of the whole statement."""

_MISSING = (LookupError, ValueError, StopIteration)

T = TypeVar("T")


def diagnosis(text: str, stuck: ParseFailure, valued: Collection[str] = ()) -> ExpressionError:
    """Return the error to raise where the reader is stuck; `valued` names have values by the point."""
    context = Context(text, stuck, valued)
    mistake, fragments, message, at = recognised(context)
    also: tuple[tuple[Span, str], ...] = ()
    if mistake.also and (there := _if_any(lambda: span(context, mistake.there))):
        also = ((Span(*there), mistake.also),)
    offers = tuple(_offers(mistake, fragments)) if mistake.offers else ()
    hint, spellings = mistake.hint, [spelling for offer in offers for spelling in offer.shown]
    if "{}" in hint and not spellings:
        spellings = list(mistake.example)
        as_in = hint.replace("write {}", "write it as in {}").replace(": {}", ", as in {}")
        hint = as_in if spellings else hint.removesuffix(": {}")
    hint = hint.replace("{}", " or ".join(f"`{spelling}`" for spelling in spellings))
    return ExpressionError(mistake.kind, message, at, hint, also, offers)


def recognised(context: Context) -> tuple[Mistake, Fragments, str, Span]:
    """Return the first mistake that fits, the fragments, the message, and the carets' place."""
    text, point = context.text, context.point
    ahead, behind = text[point : point + WINDOW], text[max(0, point - WINDOW) : point]
    for mistake in MISTAKES:
        sign = re.match(mistake.text or r"[\s\S]?", ahead)
        if (
            not sign
            or not context.matches(mistake.tokens)
            or (mistake.takes and not context.takes(mistake.takes))
            or (mistake.before and not re.search(rf"(?:{mistake.before})\Z", behind))
        ):
            continue
        fragments = Fragments(context)
        fragments["sign"] = sign[0]
        try:
            if mistake.needs and not fragments[mistake.needs]:
                continue
            message = mistake.message.format_map(_Short(fragments))
            if mistake.caret == "token" and context.kinds[context.at] in (Kind.END, Kind.NEWLINE):
                end = context.tokens[context.at - 1].end if context.at else len(text)
                return mistake, fragments, message, Span(end, end)
            return mistake, fragments, message, _extent(mistake.caret, fragments)
        except _MISSING:
            continue
    raise AssertionError("the last mistake is always recognised")


def _if_any(work: Callable[[], T]) -> T | None:
    try:
        return work()
    except _MISSING:
        return None


class _Short(dict[str, str]):
    """Fragments of the text for a message, cut where they are long."""

    def __init__(self, fragments: Fragments) -> None:
        super().__init__()
        self.fragments = fragments

    def __missing__(self, name: str) -> str:
        fragment = self.fragments[name]
        return fragment if len(fragment) <= 40 else f"{fragment[:19]}…{fragment[-19:]}"


def _extent(name: str, fragments: Fragments) -> Span:
    context = fragments.context
    first, _, last = name.partition("..")
    ends = [
        (context.point, context.point + len(fragments["sign"])) if part == "sign" else span(context, part)
        for part in (first, last or first)
    ]
    return Span(ends[0][0], ends[1][1])


def _offers(mistake: Mistake, fragments: Fragments) -> Iterator[Offer]:
    context = fragments.context
    first, end = RANGES["statement"](context)
    earlier, last = context.text[: context.tokens[first].start], context.kinds[end] == Kind.END
    is_offered = partial(offered, earlier=earlier, last=last)
    alone = len(mistake.offers) == 1
    for k, template in enumerate(mistake.offers):
        repairs = template == "{repaired}"
        spellings = (_if_any(lambda: _repaired(mistake, fragments)) or []) if repairs else _filled(template, fragments)
        shown = next(filter(is_offered, spellings), "")
        place = mistake.place[k] if mistake.place else "statement" if template in _WHOLE else mistake.caret
        extent = _if_any(partial(_extent, place, fragments))
        if extent is None or not (spellings or mistake.edit):
            continue
        start, stop, _ = extent
        # What repairs other mistakes as well is only shown: each has to be certain by itself.
        single = "" if repairs and shown not in spellings[::2] else shown
        text = mistake.edit or single or (spellings[0] if alone else shown)
        if (shown or alone) and text != context.text[start:stop] and len(text) <= MAX_CONTEXT:
            others = filter(is_offered, _filled(mistake.same, fragments))
            # nor may it begin or end within a number in groups: `000!` in `1,000!`
            groups = re.finditer(r"(?<![0-9])[0-9]++(?:,[0-9]{3})+", context.text)
            splits = any(group.start() < place < group.end() for group in groups for place in (start, stop))
            certain = alone and not splits and bool(_if_any(partial(is_certain, mistake.certain, fragments, stop)))
            yield Offer(start, stop, text, certain, tuple([spelling for spelling in (shown, *others) if spelling]))


def _filled(template: str, fragments: Fragments) -> list[str]:
    spelling = _if_any(lambda: template.format_map(fragments))
    return [spelling] if spelling else []


def _repaired(mistake: Mistake, fragments: Fragments) -> list[str]:
    """Return the statement with this mistake repaired, with all of them, and both as conditions."""
    start, end = span(fragments.context, "statement")
    statement = fragments.context.text[start:end]
    repaired = _replaced(statement, mistake.repair) if end - start <= MAX_CONTEXT else ""
    if not repaired:
        return []
    for other in MISTAKES:
        if not other.alone or other is mistake:
            statement = _replaced(statement, other.repair)
    # A condition is no result; one that is written as the whole statement may be a choice of 1 or 0.
    choices = [re.sub(r"^(\w+\s*=(?!=)\s*)?(.*)$", r"\g<1>1 if \2 else 0", text) for text in (repaired, statement)]
    return [text for text in (repaired, statement, *choices) if text]


def _replaced(text: str, repairs: tuple[Repair, ...]) -> str:
    for pattern, replacement in repairs:
        text = re.sub(pattern, replacement, text)
    return text.strip()
