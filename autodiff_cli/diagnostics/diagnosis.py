"""The diagnosis of a text that cannot be read: the mistake, the message, and the spellings to offer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import partial

from ..errors import ExpressionError, Offer, Span
from ..language.reader import ParseFailure
from .ambiguities import is_certain
from .context import Kind
from .fragments import RANGES, Fragments, span
from .mistakes import MISTAKES, Mistake, Repair
from .suggestions import MAX_CONTEXT, offered

WINDOW = 80
"""How many characters before and after the error the patterns see."""

_WHOLE = ("{repaired}", "{completed}", "{split}", "{separated}", "{compared}", "{difference}", "{statement} else 0")
"""Spellings of the whole statement."""

_MISSING = (LookupError, ValueError, StopIteration)


def diagnosis(text: str, stuck: ParseFailure, valued: Collection[str] = ()) -> ExpressionError:
    """Return the error to raise where the reader is stuck; `valued` names have values by the point."""
    fragments = Fragments(text, stuck, valued)
    mistake, message, at = recognised(fragments)
    also: tuple[tuple[Span, str], ...] = ()
    if mistake.also:
        with suppress(*_MISSING):
            also = ((Span(*span(fragments, mistake.there)), mistake.also),)
    offers = tuple(_offers(mistake, fragments))
    hint, spellings = mistake.hint, [spelling for offer in offers for spelling in offer.shown]
    if "{}" in hint and not spellings:
        spellings = list(mistake.example)
        as_in = hint.replace("write {}", "write it as in {}").replace(": {}", ", as in {}")
        hint = as_in if spellings else hint.removesuffix(": {}")
    hint = hint.replace("{}", " or ".join(f"`{spelling}`" for spelling in spellings))
    return ExpressionError(mistake.kind, message, at, hint, also, offers)


def recognised(fragments: Fragments) -> tuple[Mistake, str, Span]:
    """Return the first mistake that fits, the message, and the carets' place."""
    c = fragments
    ahead, behind = c.text[c.point : c.point + WINDOW], c.text[max(0, c.point - WINDOW) : c.point]
    for mistake in MISTAKES:
        sign = re.match(mistake.text or r"[\s\S]?", ahead)
        if (
            not sign
            or not c.matches(mistake.tokens)
            or (mistake.takes and not c.takes(mistake.takes))
            or (mistake.before and not re.search(rf"(?:{mistake.before})\Z", behind))
        ):
            continue
        c.known = {"sign": sign[0]}
        with suppress(*_MISSING):
            if mistake.needs and not c[mistake.needs]:
                continue
            message = re.sub(r"{(\w+)}", lambda name: _shortened(c[name[1]]), mistake.message)
            if mistake.caret == "token" and c.kinds[c.at] in (Kind.END, Kind.NEWLINE):
                end = c.tokens[c.at - 1].end if c.at else len(c.text)
                return mistake, message, Span(end, end)
            return mistake, message, _extent(mistake.caret, c)
    raise AssertionError("the last mistake is always recognised")


def _shortened(fragment: str) -> str:
    return fragment if len(fragment) <= 40 else f"{fragment[:19]}…{fragment[-19:]}"


def _extent(name: str, fragments: Fragments) -> Span:
    first, _, last = name.partition("..")
    point = fragments.point
    ends = [
        (point, point + len(fragments["sign"])) if part == "sign" else span(fragments, part)
        for part in (first, last or first)
    ]
    return Span(ends[0][0], ends[1][1])


def _offers(mistake: Mistake, fragments: Fragments) -> Iterator[Offer]:
    source = fragments.text
    first, end = RANGES["statement"](fragments)
    earlier, last = source[: fragments.tokens[first].start], fragments.kinds[end] == Kind.END
    is_offered = partial(offered, earlier=earlier, last=last)
    alone = len(mistake.offers) == 1
    for k, template in enumerate(mistake.offers):
        repairs = template == "{repaired}"
        place = mistake.place[k] if mistake.place else "statement" if template in _WHOLE else mistake.caret
        try:
            spellings = _repaired(mistake, fragments) if repairs else _filled(template, fragments)
            start, stop, _ = _extent(place, fragments)
        except _MISSING:
            continue
        shown = next(filter(is_offered, spellings), "")
        if not spellings and not mistake.edit:
            continue
        # What repairs other mistakes as well is only shown: each has to be certain by itself.
        single = "" if repairs and shown not in spellings[::2] else shown
        text = mistake.edit or single or (spellings[0] if alone else shown)
        if (shown or alone) and text != source[start:stop] and len(text) <= MAX_CONTEXT:
            others = filter(is_offered, _filled(mistake.same, fragments))
            # nor may it begin or end within a number in groups: `000!` in `1,000!`
            groups = re.finditer(r"(?<![0-9])[0-9]++(?:,[0-9]{3})+", source)
            splits = any(group.start() < place < group.end() for group in groups for place in (start, stop))
            certain = alone and not splits and is_certain(mistake.certain, fragments, stop)
            yield Offer(start, stop, text, certain, tuple([spelling for spelling in (shown, *others) if spelling]))


def _filled(template: str, fragments: Fragments) -> list[str]:
    with suppress(*_MISSING):
        return [spelling] if (spelling := template.format_map(fragments)) else []
    return []


def _repaired(mistake: Mistake, fragments: Fragments) -> list[str]:
    """Return the statement with this mistake repaired, with all of them, and both as conditions."""
    start, end = span(fragments, "statement")
    statement = fragments.text[start:end]
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
