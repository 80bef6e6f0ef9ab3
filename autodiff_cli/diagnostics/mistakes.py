"""The mistakes that people make, as `mistakes.txt` has them, where the form of a row is explained."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import character_classes
from .repairs import REPAIRS

Repair = tuple[str, str | Callable[[re.Match[str]], str]]
"""A pattern, and what is put in its place."""


class Mistake(NamedTuple):
    """A mistake, known by the tokens around the one that does not fit: `!` stands before that one."""

    tokens: str
    message: str
    write: tuple[str, ...] = ()
    example: tuple[str, ...] = ()
    hint: str = "write {}"
    text: str = ""
    before: str = ""
    takes: str = ""
    needs: str = ""
    caret: str = "token"
    also: str = ""
    there: str = "opening"
    place: tuple[str, ...] = ()
    edit: str = ""
    same: str = ""
    certain: str = ""
    repair: tuple[Repair, ...] = ()
    alone: str = ""
    kind: str = "syntax"

    @property
    def offers(self) -> tuple[str, ...]:
        """Return the suggestion: the spelling to write, or else the repaired statement."""
        return self.write or (("{repaired}",) if self.repair else ())


def _mistakes(table: str) -> Iterator[Mistake]:
    """The rows of the table."""
    # A row goes on in lines that are indented.
    for row in re.findall(r"^[^#\s].*(?:\n +.*)*", table, re.MULTILINE):
        tokens, *fields = re.split(r"\s{2,}", row.rstrip())
        values: dict[str, Any] = {"caret": "sign" if "UNREADABLE" in tokens else "token"}
        for field in fields:
            key, _, value = field.partition(": ")
            if key not in Mistake._fields:
                assert "message" not in values, field
                values["message"] = field
            elif key in ("write", "example", "place", "repair"):
                values[key] = (*values.get(key, ()), _repair(value) if key == "repair" else value)
            else:
                values[key] = _characters(value)
        if len(values.get("place", ())) == 1:
            values["place"] *= len(values.get("write", ()))
        yield Mistake(tokens, **values)


def _characters(text: str) -> str:
    text = re.sub("<([A-Z]+)>", lambda name: vars(character_classes)[name[1]], text) if "<" in text else text
    return text.replace("␣", " ")


def _repair(text: str) -> Repair:
    pattern, _, replacement = text.partition(" →")
    replacement = _characters(replacement.removeprefix(" "))
    return _characters(pattern), REPAIRS[replacement[1:]] if replacement.startswith("@") else replacement


MISTAKES = tuple(_mistakes((Path(__file__).parent / "mistakes.txt").read_text(encoding="utf-8")))
"""All mistakes; the first that applies is the one, and the last one always does."""
