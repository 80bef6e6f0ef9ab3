"""Systems of units that columns of data make, in which formulas of them hold without factors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import reduce
from operator import mul

from ..errors import ExpressionError
from .table import BASE
from .unit import NUMBER, Dimension, Exponent, Unit, coherent, named


class Elimination:
    """Linear combinations that are 0, each solved for one of the components that may be eliminated."""

    def __init__(self, first: int) -> None:
        self.first = first
        """The components from this place on may be eliminated; or those before it, where it is negative."""
        self.rows: dict[int, list[Fraction]] = {}

    def reduced(self, vector: Sequence[Exponent]) -> list[Fraction]:
        """The vector without the components that are eliminated."""
        rest = [Fraction(x) for x in vector]
        for place, row in self.rows.items():
            if rest[place]:
                rest = [x - rest[place] * y for x, y in zip(rest, row, strict=True)]
        return rest

    def add(self, vector: Sequence[Exponent]) -> bool:
        """Note that a combination is 0; return whether it eliminates a component."""
        row = self.reduced(vector)
        places = range(self.first, len(row)) if self.first >= 0 else range(-self.first)
        place = next((k for k in places if row[k]), None)
        if place is None:
            return False
        row = [x / row[place] for x in row]
        for k, other in self.rows.items():
            self.rows[k] = [x - other[place] * y for x, y in zip(other, row, strict=True)]
        self.rows[place] = row
        return True


class UnitSystem:
    """A unit for each dimension: products of powers of some units, in which no formula needs a factor.

    >>> from .unit import parse_unit
    >>> system = UnitSystem([parse_unit("mV"), parse_unit("A")])
    >>> str(system.unit(parse_unit("ohm").dimension)), str(system.unit(parse_unit("m").dimension))
    ('mV/A', 'm')
    """

    def __init__(self, units: Iterable[Unit]) -> None:
        self.basis: list[Unit] = []
        """Those of the units whose dimensions are independent, the first ones first."""
        differences = [unit.difference for unit in units]
        self._count = len(differences)
        self._solved = Elimination(-len(BASE))
        for k, unit in enumerate(differences):
            own = [int(k == j) for j in range(self._count)]
            if self._solved.add([*unit.dimension, *own]):
                self.basis.append(unit)
        self._units = differences

    def unit(self, dimension: Dimension) -> Unit:
        """The unit of a dimension: of one that the units do not make the coherent one of the SI."""
        return self._product(dimension) or coherent(dimension)

    def holds(self, dimensions: Iterable[Dimension]) -> bool:
        """Whether formulas over these dimensions need no factor: whether all have units that the basis makes."""
        return all(self._product(dimension) is not None for dimension in dimensions)

    def _product(self, dimension: Dimension) -> Unit | None:
        if dimension == NUMBER:
            return Unit()
        rest = self._solved.reduced([*dimension, *(0 for _ in range(self._count))])
        if any(rest[: len(BASE)]):
            return None
        powers = zip(self._units, (-x for x in rest[len(BASE) :]), strict=True)
        try:
            unit = reduce(mul, [unit ** (int(n) if n.denominator == 1 else n) for unit, n in powers if n], Unit())
        except ExpressionError:  # a root of the factor is no fraction
            return None
        return named(unit)


Linear = tuple[float, float]
"""By what a number is multiplied, and what is added to it then."""


def linear(unit: Unit, to: Unit) -> Linear:
    """How a value in one unit becomes one in another.

    >>> from .unit import parse_unit
    >>> linear(parse_unit("°C"), parse_unit("K"))
    (1.0, 273.15)
    """
    return factor(unit, to), float((unit.zero - to.zero) / to.scale)


def factor(unit: Unit, to: Unit) -> float:
    """How many of one unit a difference of 1 in another is.

    >>> from .unit import parse_unit
    >>> factor(parse_unit("V"), parse_unit("mV"))
    1000.0
    """
    return Unit((), NUMBER, unit.scale / to.scale, Fraction(unit.pi) - Fraction(to.pi)).factor
