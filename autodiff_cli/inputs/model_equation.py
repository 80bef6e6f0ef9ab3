"""The last statement of a program, which may be the equation of a model."""

from __future__ import annotations

from typing import NamedTuple

from ..language.tokens import EQUALS, split_statements


class ModelEquation(NamedTuple):
    """The last statement of a program, `LEFT = RIGHT`."""

    left: str
    program: str  # with a blank left side, so that places stay valid


def last_statement(text: str) -> ModelEquation | None:
    """Return the last statement of a program if it has two sides, else None."""
    tokens = (split_statements(text) or [[]])[-1]
    sign = next((token for token in tokens if token[0] == EQUALS), None)
    if sign is None:
        return None
    begin, (_, start, end) = tokens[0][1], sign
    return ModelEquation(text[begin:start].strip(), text[:begin] + " " * (end - begin) + text[end:])
