"""Chains of equalities, `sigma = F/A = 100 MPa`, and the equations that they mean.

A chain means its definition and an equation where one end is a number: the name is defined, and has
that value. Where no side is a number, or one in the middle is, as in `2*x + 3 = 7 = 2*x`, it is not
certain what is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .builder import CONSTANTS
from .diagnostics.measured import measured_numbers
from .tokens import CLOSE, EQUALS, NAME, OPEN, Token, scan

Side = Sequence[Token]


def _place_of_number(text: str, sides: Sequence[Sequence[Token]]) -> int | None:
    """Return where the only number of a chain stands, if that is an end of it."""
    numbers = [k for k, side in enumerate(sides) if _is_number(text, side, sides)]
    return numbers[0] if len(numbers) == 1 and numbers[0] in (0, len(sides) - 1) else None


def meant_by(text: str, tokens: Sequence[Token], *, is_first: bool) -> str | None:
    """Return the equations that a chain of equalities means; None where that is not certain.

    `is_first` is whether no equation stands before it: then a name of its may be defined.
    """
    sides = _sides(tokens)
    if not all(sides):
        return None
    at = _place_of_number(text, sides)
    if at is None:
        return None
    number, others = _written(text, sides[at]), [*sides[:at], *sides[at + 1 :]]
    names = [side for side in others if _is_name(side)]
    formulas = [side for side in others if not _is_name(side)]
    if len(names) == 1 and formulas and is_first and not _occurs(text, names[0][0], formulas):
        name = _written(text, names[0])
        first, *more = formulas
        return "; ".join([
            f"{name} = {_written(text, first)}",
            f"{name} = {number}",
            *[f"{_written(text, one)} = {number}" for one in more],
        ])  # fmt: skip
    # a name on the left would be a definition
    return "; ".join(f"{number} = {_written(text, side)}" for side in others)


def in_pairs(text: str, tokens: Sequence[Token]) -> str:
    """Return the equations between neighbouring sides of a chain."""
    sides = [_written(text, side) for side in _sides(tokens) if side]
    return "; ".join(f"{a} = {b}" for a, b in pairwise(sides))


def _sides(tokens: Sequence[Token]) -> list[list[Token]]:
    sides: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token[0] == OPEN) - (token[0] == CLOSE)
        if token[0] == EQUALS and depth == 0:
            sides.append([])
        else:
            sides[-1].append(token)
    return sides


def _written(text: str, side: Side) -> str:
    return text[side[0][1] : side[-1][2]]


def _is_name(side: Side) -> bool:
    return len(side) == 1 and side[0][0] == NAME


def _occurs(text: str, name: Token, sides: Sequence[Side]) -> bool:
    return text[name[1] : name[2]] in {word for side in sides for word in _words(text, side)}


def _words(text: str, side: Side) -> list[str]:
    return [text[start:end] for kind, start, end in side if kind == NAME]


def _is_number(text: str, side: Side, sides: Sequence[Side]) -> bool:
    """Return whether a side is a number, perhaps with a unit that no variable of another side has
    the name of.
    """
    variables = {word for other in sides if other is not side for word in _words(text, other)}
    written = _written(text, side)
    for one in reversed(measured_numbers(written, variables, every=True)):
        written = written[: one.start] + one.number + written[one.end :]
    tokens = [*scan(written)]
    called = [k for k, (kind, *_) in enumerate(tokens) if kind == NAME and tokens[k + 1][0] == OPEN]
    names = [
        written[start:end]
        for k, (kind, start, end) in enumerate(tokens)
        if kind == NAME and k not in called
    ]
    return {*names} <= {*CONSTANTS}
