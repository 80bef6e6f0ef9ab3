"""The lenient reader, which applies the only and certain suggestion of each error until the text is
valid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from ...errors import EXIT_CODES, Diagnostic, ExpressionError, Offer, Span
from ..informal import certain_corrections

Answer = TypeVar("Answer")
_WINDOW = 120
MAX_LENGTH = 2_000  # longer texts are not corrected, as each correction reads all of it
MAX_CORRECTIONS = 100  # corrections of one text


class AsRead(NamedTuple):
    """A text as read, and as typed."""

    text: str
    typed: str
    places: tuple[int, ...]
    """The position in the typed text of each character as read; -1 for an inserted one."""
    first: int = 0
    """The start of the typed text, after definitions of a session."""
    expected: str | None = None

    @property
    def note_text(self) -> str | None:
        """The reading in a note; None if no note is needed."""
        return None if self.text == self.expected else self.text[self.first :]

    def part(self, start: int, end: int | None = None) -> AsRead:
        """Return the reading of a part of the text."""
        return AsRead(self.text[start:end], self.typed, self.places[start:end])

    def apply_offer(self, offer: Offer) -> AsRead:
        """Return the reading with an offer applied."""
        old = self.text[offer.start : offer.end]
        inner = [-1 if k is None else self.places[offer.start + k] for k in _align(old, offer.text)]
        places = (*self.places[: offer.start], *inner, *self.places[offer.end :])
        return self._replace(text=offer.within(self.text), places=places)

    def typed_at(self, span: Span | None) -> Span | None:
        """Return the place in the typed text of a span; None if it was inserted."""
        if span is None:
            return None
        places = [place for place in self.places[span.start : span.end] if place >= 0]
        if not places and span.start == span.end:
            before = [0, *(place + 1 for place in self.places[: span.start] if place >= 0)][-1]
            return Span(before, before)
        return Span(min(places), max(places) + 1, self.typed_at(span.via)) if places else None

    def relocate_record(self, record: Any) -> Any:
        """Return a record with `start` and `end` as places in the typed text."""
        if isinstance(record, list):
            return [self.relocate_record(item) for item in record]
        if not isinstance(record, dict):
            return record
        moved = {key: self.relocate_record(item) for key, item in record.items()}
        if isinstance(moved.get("start"), int) and isinstance(moved.get("end"), int):
            span = self.typed_at(Span(moved["start"], moved["end"]))
            moved["start"], moved["end"] = (None, None) if span is None else span[:2]
        return moved

    def typed_diagnostic(self, diagnostic: Diagnostic) -> Diagnostic:
        """Return a diagnostic with its places in the typed text."""
        also = tuple(
            [
                (typed, words)
                for span, words in diagnostic.also
                if (typed := self.typed_at(span)) is not None
            ]
        )
        return diagnostic._replace(span=self.typed_at(diagnostic.span), also=also)

    def relocate_error(self, error: ExpressionError) -> ExpressionError:
        """Return the error with its place in the typed text, or with the text as read."""
        if self.text != self.typed:
            if EXIT_CODES[error.kind] != EXIT_CODES["syntax"]:
                error.read = self.text
            if error.text is None and error.span is not None:
                if self.typed_at(error.span) is None:
                    own = error.span.start >= self.first
                    error.text = self.text[self.first :] if own else self.text
                    if own:
                        start, end = error.span.start - self.first, error.span.end - self.first
                        error.diagnostic = error.diagnostic._replace(span=Span(start, end), also=())
                else:
                    error.diagnostic = self.typed_diagnostic(error.diagnostic)
        return error


def _align(old: str, new: str) -> list[int | None]:
    origins: list[int | None] = [None] * len(new)
    if set(old).isdisjoint(new):
        return origins
    from difflib import SequenceMatcher  # few corrections move characters

    start = 0  # of what was not looked at, in each text
    begun = 0
    while begun < len(new):
        piece, other = old[start : start + _WINDOW], new[begun : begun + _WINDOW]
        blocks = SequenceMatcher(None, piece, other, autojunk=False).get_matching_blocks()
        if len(other) == _WINDOW and len(blocks) > 2:
            blocks = blocks[: max(1, len(blocks) // 2)]  # the rest again, with more of the text
        for a, b, size in blocks:
            origins[begun + b : begun + b + size] = range(start + a, start + a + size)
        last = blocks[-1] if blocks[-1].size or len(blocks) == 1 else blocks[-2]
        is_end = len(other) < _WINDOW or not last.size
        begun += len(other) if is_end else last.b + last.size
        start += len(piece) if is_end else last.a + last.size
    return origins


def only_offer(offers: Sequence[Offer]) -> Offer | None:
    """Return the only offer if it is certain, or the preferred one."""
    if not offers or not (offers[0].preferred or (len(offers) == 1 and offers[0].certain)):
        return None
    return offers[0]


def add_advice(
    error: ExpressionError,
    text: str,
    read: Callable[[str], object],
    option: str = "add `--lenient`",
) -> None:
    """Add the option to the hint of an error of strict reading if lenient reading takes the
    text.
    """
    offer = only_offer(error.offers) if error.text is None else None
    if offer is None or error.hint is None or len(text) > MAX_LENGTH:
        return
    try:
        read_leniently(offer.within(text), read)
    except ExpressionError:
        return
    error.diagnostic = error.diagnostic._replace(hint=f"{error.hint}, or {option}")


class Composed(str):
    """A program composed of typed text and definitions, with that reading."""

    reading: AsRead

    def __new__(cls, reading: AsRead) -> Composed:
        text = super().__new__(cls, reading.text)
        text.reading = reading
        return text


def _corrected(text: str) -> AsRead:
    """Return a text with the corrections that need no table of mistakes."""
    offers = certain_corrections(text) if len(text) <= MAX_LENGTH else []
    reading = AsRead(text, text, tuple(range(len(text))) if offers else ())
    for offer in reversed(offers):
        reading = reading.apply_offer(offer)
    return reading


def read_leniently(
    text: str, answer: Callable[[str], Answer], composed: AsRead | None = None
) -> tuple[Answer, AsRead | None]:
    """Return the answer to a text as read, and that reading or None if uncorrected; `composed` is
    the first reading.
    """
    reading = composed or _corrected(text)
    met = {reading.text}
    while True:
        try:
            return answer(reading.text), composed if reading.text == text else reading
        except ExpressionError as error:
            offer = only_offer(error.offers) if error.text is None else None
            if offer is None or len(reading.text) > MAX_LENGTH or len(met) > MAX_CORRECTIONS:
                raise reading.relocate_error(error) from None
            if not reading.places and composed is None:
                reading = AsRead(text, text, tuple(range(len(text))))
            following = reading.apply_offer(offer)
            if following.text in met:
                raise reading.relocate_error(error) from None
            reading = following
            met.add(reading.text)
