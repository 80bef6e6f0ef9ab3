"""The form of a mistake: how it is recognised, what is said, and what is offered instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

Repair = tuple[str, str | Callable[..., str]]
"""A pattern, and what is put in its place."""


class Mistake(NamedTuple):
    """A mistake, known by the tokens around the one that does not fit: `!` stands before that one.

    Braces hold pieces of the user's text, by their names in `pieces`. A spelling that lacks a piece, or is no program,
    is not offered; the examples are offered where none is left. It is no such mistake where the message lacks a piece.
    """

    tokens: str
    message: str
    write: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    hint: str = "write {}"
    text: str = ""
    """A pattern that the text from the error on has to match."""

    before: str = ""
    """A pattern that the text before the error has to end in."""

    takes: str = ""
    """A terminal that could stand there instead."""

    needs: str = ""
    """A piece of the text that has to be there."""

    caret: str = "token"
    """Where the carets stand: under a piece, or from the beginning of one to the end of another, `left..right`; or
    under what the pattern of the text matched, `sign`."""

    also: str = ""
    """What is said at a further place."""

    there: str = "opening"
    """The piece of the text that is that place, if there is one."""

    places: tuple[str, ...] = ()
    """What each spelling is written in the place of, as `caret` says its place; the caret's own by default, and the
    statement for spellings of that."""

    edit: str = ""
    """What is put in that place, where that is not the whole spelling: less of the text then has to be right."""

    same: str = ""
    """Another spelling of what the first one means."""

    certain: str = ""
    """What has to be clear for nothing but the one spelling to be meant, by the names in `doubts`; of several spellings
    none is certain."""

    repair: tuple[Repair, ...] = ()
    """Replacements that make the statement right; the outcome is what `{repaired}`
    offers, and what is offered where nothing else is said."""

    alone: bool = False
    """Whether the repair is only for this mistake: together with those of others it could change the meaning."""

    kind: str = "syntax"

    @property
    def offers(self) -> tuple[str, ...]:
        """What is offered: what to write, and else the repaired statement where there is a repair."""
        return self.write or (("{repaired}",) if self.repair else ())


LINES = "put a sum over several lines in parentheses"
"""The hint for everything that has to do with the end of a line."""

DERIVATIVES = "write the function itself: derivatives are what the program works out"
"""The hint for every notation of a derivative."""

RESERVED: tuple[Repair, ...] = ((r"\b(if|else|and|or|not)\b(?=\s*=(?!=))", r"\1_1"),)
"""A reserved word that should be a name becomes one."""
