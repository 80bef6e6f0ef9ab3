"""Dimensions of which some are unknown: a sweep over them finds those that make a formula consistent."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..quantities.table import BASE
from ..quantities.unit import NUMBER, Dimension, coherent, quantity_name
from ..quantities.unit_system import Elimination
from .dimensions import Dimensioned, Dimensions

COUNT = len(BASE)


class UnknownDimensions(Dimensions):
    """Dimensions with exponents of unknown ones behind those of the base units.

    Where two dimensions have to be the same one, that is a linear equation for the unknown ones.
    """

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names = list(names)
        self._solved = Elimination(COUNT)

    def unknown(self, name: str, value: Fraction | None = None) -> Dimensioned:
        """A number of unknown dimension, and of a constant its value, which an exponent may be."""
        return Dimensioned((*NUMBER, *(int(name == other) for other in self.names)), value)

    def same(self, a: Dimension, b: Dimension) -> bool:
        """Whether two dimensions are the same one, or are from now on."""
        difference = [x - y for x, y in zip(self._long(a), self._long(b), strict=True)]
        return not any(self._solved.reduced(difference)) or self._solved.add(difference)

    def solution(self, name: str) -> Dimension | None:
        """The dimension of an unknown one; None where the equations do not determine it."""
        return self.known(self.unknown(name).dimension)

    def unit_of(self, dimension: Dimension) -> str:
        """The coherent unit of a dimension, with the names of those that are unknown in brackets."""
        known = self.known(dimension)
        if known is not None:
            return str(coherent(known))
        rest = self._solved.reduced(self._long(dimension))
        unit = str(coherent(_whole(rest[:COUNT])))
        powers = zip(self.names, rest[COUNT:], strict=True)
        names = [f"[{name}]" + (f"^{n}" if n != 1 else "") for name, n in powers if n]
        return "·".join([*names, *([unit] if unit else [])])

    def named(self, dimension: Dimension) -> str:
        known = self.known(dimension)
        return f"`{self.unit_of(dimension)}`" if known is None else quantity_name(known)

    def _long(self, dimension: Dimension) -> Dimension:
        return (*dimension, *(0 for _ in range(COUNT + len(self.names) - len(dimension))))

    def known(self, dimension: Dimension) -> Dimension | None:
        """A dimension without unknown ones; None where the equations do not determine it."""
        rest = self._solved.reduced(self._long(dimension))
        return None if any(rest[COUNT:]) else _whole(rest[:COUNT])


def _whole(dimension: Sequence[Fraction]) -> Dimension:
    return tuple([int(n) if n.denominator == 1 else n for n in dimension])
