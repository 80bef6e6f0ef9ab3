"""Names that other programs use for commands, options and choices, for the hints of usage errors."""

from __future__ import annotations

from collections.abc import Iterable

from .declarations import table


def _by_synonym(section: str) -> dict[str, tuple[str, ...]]:
    names: dict[str, tuple[str, ...]] = {}
    for name, synonyms in table(section).items():
        for synonym in synonyms.split():
            names[synonym] = (*names.get(synonym, ()), name)
    return names


COMMANDS = _by_synonym("synonyms of commands")
"""Commands by what they are called elsewhere."""

ADVICE = table("advice on commands")
"""Hints for commands that there are not, and that no other command stands for."""

SESSION = _by_synonym("synonyms of commands of a session")
"""Commands of a session by what they are called elsewhere."""

OPTIONS = _by_synonym("synonyms of options")
"""Options by what they are called elsewhere, without dashes."""

OPTION_ADVICE = {name: advice for names, advice in table("advice on options").items() for name in names.split()}
"""Hints for options that there are not, and that no other option stands for."""

CHOICES = _by_synonym("synonyms of choices")
"""Choices of options by what they are called elsewhere."""


def available(names: Iterable[str], choices: Iterable[str]) -> list[str]:
    """Return those of the names that are among the choices."""
    present = set(choices)
    return [name for name in names if name in present]
