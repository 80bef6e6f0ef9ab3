"""Gradients of ordinary formulas, one after the other, by the short way; formulas that come again are read once."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ..errors import Diagnostic
from ..language.straight import Straight, walk
from ..run.straight import adjoints
from .gradient import Intermediate
from .point import is_name

REMEMBERED = 1024
"""How many formulas are kept, in case they come again with another point."""

_plain_number = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?").fullmatch


class StraightGradient(NamedTuple):
    """Value and gradient of a formula that has no warnings, as `gradient` has them to the last bit."""

    value: float
    gradient: dict[str, float]
    point: dict[str, float]
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...] = ()
    intermediates: tuple[Intermediate, ...] = ()


class Formulas:
    """The formulas of a stream: each is read when it first comes, and the last ones are remembered."""

    def __init__(self, remembered: int = REMEMBERED) -> None:
        self._known: dict[str, Straight] = {}
        self._remembered = remembered

    def gradient(
        self, text: str, point: Mapping[str, float], wrt: Sequence[str] | None = None
    ) -> StraightGradient | None:
        """What `gradient` gives, but for warnings about names that are not used; None where it has to be asked."""
        try:
            known = self._known.get(text)
            found = known and known.at(point)
            if found is None:
                found = walk(text, point)
                if found is None:
                    return None
                if len(self._known) >= self._remembered:
                    self._known.clear()
                self._known[text] = found
            return gradient_at(found, wrt)
        except (KeyError, ValueError, ArithmeticError):
            return None


def gradient_at(found: Straight, wrt: Collection[str] | None = None) -> StraightGradient | None:
    """The gradient of a formula at the point where it is; None where `gradient` has to be asked.

    Raises ValueError or ArithmeticError where it has to be asked as well.
    """
    steps, data, output, variables, constants, _ = found
    adjoint = adjoints(steps, data, output)
    if adjoint is None or (wrt is not None and not variables.keys() >= set(wrt)):
        return None
    # `+ 0.0` turns the -0.0 of a product into a plain zero.
    return StraightGradient(
        data[output] + 0.0,
        {name: adjoint[place] + 0.0 for name, place in variables.items() if wrt is None or name in wrt},
        {name: data[place] for name, place in variables.items()},
        constants,
    )


def plain_point(text: str) -> dict[str, float] | None:
    """The point in a text like `x=1,y=-2.5e3`, as `parse_point` reads it; None where that has to be asked."""
    point: dict[str, float] = {}
    for piece in text.split(","):
        name, _, number = piece.partition("=")
        if name in point or not _plain_number(number) or not is_name(name):
            return None
        value = float(number)
        if value - value != 0.0:
            return None
        point[name] = value
    return point
