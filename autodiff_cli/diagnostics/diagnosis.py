"""The diagnosis of a text that cannot be read: which mistake it is, what to say, and which spellings to offer."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import ParamSpec, TypeVar

from ..errors import ExpressionError, Offer, Span
from ..language.reader import ParseFailure
from .ambiguities import is_certain
from .context import Context, Kind
from .fragments import RANGES, Fragments, span
from .mistakes import MISTAKES, Mistake, Repair
from .suggestions import FARTHEST, offered

WINDOW = 80
"""How many characters before and after the error the patterns see."""

_WHOLE = ("{repaired}", "{completed}", "{split}", "{separated}", "{compared}", "{difference}", "{statement} else 0")
"""Spellings of the whole statement."""

_MISSING = (LookupError, ValueError, StopIteration)

P = ParamSpec("P")
T = TypeVar("T")


def diagnosis(text: str, stuck: ParseFailure, valued: Collection[str] = ()) -> ExpressionError:
    """The error to raise where the reader is stuck; `valued` are the names that the point gives values to."""
    context = Context(text, stuck, valued)
    mistake, fragments, message, at = recognised(context)
    also: tuple[tuple[Span, str], ...] = ()
    if mistake.also and (there := _if_any(span, context, mistake.there)):
        also = ((Span(*there), mistake.also),)
    offers = tuple(_offers(mistake, fragments))
    return ExpressionError(mistake.kind, message, at, _hint(mistake, offers), also, offers)


def recognised(context: Context) -> tuple[Mistake, Fragments, str, Span]:
    """The first mistake that it can be, the fragments of the text, the message, and where the carets stand."""
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
            if not mistake.needs or fragments[mistake.needs]:
                return mistake, fragments, mistake.message.format_map(_Short(fragments)), _span(mistake, fragments)
        except _MISSING:
            continue
    raise AssertionError("the last mistake is always recognised")


def _if_any(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
    """The outcome, or None where it takes a fragment that is not there."""
    try:
        return work(*args, **kwargs)
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


def _span(mistake: Mistake, fragments: Fragments) -> Span:
    context = fragments.context
    if mistake.caret == "token" and context.kinds[context.at] in (Kind.END, Kind.NEWLINE):
        end = context.tokens[context.at - 1].end if context.at else len(context.text)
        return Span(end, end)
    return _extent(mistake.caret, fragments)


def _extent(name: str, fragments: Fragments) -> Span:
    """From where a fragment begins to where it ends, or another one: `left..right`."""
    first, _, last = name.partition("..")
    return Span(_ends(first, fragments)[0], _ends(last or first, fragments)[1])


def _ends(name: str, fragments: Fragments) -> tuple[int, int]:
    context = fragments.context
    if name == "sign":
        return context.point, context.point + len(fragments["sign"])
    return span(context, name)


def _hint(mistake: Mistake, offers: Sequence[Offer]) -> str:
    if "{}" not in mistake.hint:
        return mistake.hint
    hint, spellings = mistake.hint, [spelling for offer in offers for spelling in offer.shown]
    if not spellings:
        if not mistake.example:
            return hint.removesuffix(": {}")
        spellings = list(mistake.example)
        hint = hint.replace("write {}", "write it as in {}").replace(": {}", ", as in {}")
    return hint.replace("{}", " or ".join(f"`{spelling}`" for spelling in spellings))


def _offers(mistake: Mistake, fragments: Fragments) -> Iterator[Offer]:
    """The spellings to offer, with the user's own text: each of those shown is a program that means something."""
    if not mistake.offers:
        return
    context = fragments.context
    first, end = RANGES["statement"](context)
    earlier, last = context.text[: context.tokens[first].start], context.kinds[end] == Kind.END
    is_offered = partial(offered, earlier=earlier, last=last)
    alone = len(mistake.offers) == 1
    for k, template in enumerate(mistake.offers):
        spellings = _spellings(template, mistake, fragments)
        shown = next(filter(is_offered, spellings), "")
        place = mistake.place[k] if mistake.place else "statement" if template in _WHOLE else mistake.caret
        extent = _if_any(_extent, place, fragments)
        if extent is None or not (spellings or mistake.edit):
            continue
        start, stop, _ = extent
        # What repairs other mistakes as well is for the eye: each of them has to be certain by itself.
        single = "" if template == "{repaired}" and shown not in spellings[::2] else shown
        text = mistake.edit or single or (spellings[0] if alone else shown)
        if (shown or alone) and text != context.text[start:stop] and len(text) <= FARTHEST:
            others = filter(is_offered, _filled(mistake.same, fragments))
            certain = alone and not _splits_number(context.text, start, stop)
            certain = certain and bool(_if_any(is_certain, mistake.certain, fragments, stop))
            yield Offer(start, stop, text, certain, tuple([spelling for spelling in (shown, *others) if spelling]))


def _splits_number(text: str, start: int, stop: int) -> bool:
    """Whether a place begins or ends within a number in groups: `000!` in `1,000!`."""
    numbers = re.finditer(r"(?<![0-9])[0-9]++(?:,[0-9]{3})+", text)
    return any(number.start() < place < number.end() for number in numbers for place in (start, stop))


def _spellings(template: str, mistake: Mistake, fragments: Fragments) -> list[str]:
    """Yield the texts that a template may become, the best first."""
    if template != "{repaired}":
        return _filled(template, fragments)
    return [spelling for spelling in _if_any(_repaired, mistake, fragments) or () if spelling]


def _filled(template: str, fragments: Fragments) -> list[str]:
    """A template with the fragments in it; nothing where one is missing."""
    spelling = _if_any(template.format_map, fragments)
    return [spelling] if spelling else []


def _repaired(mistake: Mistake, fragments: Fragments) -> list[str]:
    """The statement with this mistake repaired, then with all that can be repaired at all; then as conditions."""
    start, end = span(fragments.context, "statement")
    statement = fragments.context.text[start:end]
    repaired = _replaced(statement, mistake.repair) if end - start <= FARTHEST else ""
    if not repaired:
        return []
    for other in MISTAKES:
        if not other.alone or other is mistake:
            statement = _replaced(statement, other.repair)
    # A condition is no result; one that is written as the whole statement may be a choice of 1 or 0.
    choices = [re.sub(r"^(\w+\s*=(?!=)\s*)?(.*)$", r"\g<1>1 if \2 else 0", text) for text in (repaired, statement)]
    return [repaired, statement, *choices]


def _replaced(text: str, repairs: tuple[Repair, ...]) -> str:
    for pattern, replacement in repairs:
        text = re.sub(pattern, replacement, text)
    return text.strip()
