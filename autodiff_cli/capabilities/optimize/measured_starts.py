"""Units of variables that have no start, where the formula determines them: in `(x - 3[mm])^2` x is
a length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...engine.numbers.dimensions import Dimensioned, UnknownDimensions
from ...engine.quantities.unit import NUMBER, Unit, si_unit
from ...errors import AutodiffError
from ...language.builder import Program
from ...questions.parse_point import Range
from ...questions.quantities import evaluate_dimensions


class _DimensionsAndUnits(UnknownDimensions):
    """Dimensions that keep the units of a program's numbers."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(names)
        self.units: list[Unit] = []

    def measured(self, x: Dimensioned, unit: Unit) -> Dimensioned:
        """Return the dimension of a number, and keep its unit."""
        self.units.append(unit)
        return super().measured(x, unit)


def units_of_starts(
    program: Program, values: Mapping[str, Any], missing: Sequence[str], bounds: Mapping[str, Range]
) -> dict[str, Unit] | None:
    """Return the unit of each missing variable that is no number: its bounds', that of a number
    like it, or the SI's.

    None where the formula does not determine a dimension, or is not consistent.
    """
    own = {name: unit for name in missing for unit in _units(bounds.get(name, ()))}
    m = _DimensionsAndUnits([name for name in missing if name not in own])
    leaves = {
        name: Dimensioned(x.unit.dimension) if hasattr(x, "unit") else Dimensioned()
        for name, x in values.items()
    }
    leaves |= {name: Dimensioned(unit.dimension) for name, unit in own.items()}
    try:
        evaluate_dimensions(m, program, leaves | {name: m.unknown(name) for name in m.names})
    except AutodiffError:
        return None
    known = [*_units(values.values()), *m.units]
    for name in m.names:
        dimension = m.solution(name)
        if dimension is None:
            return None
        if dimension == NUMBER:
            continue
        alike = (unit for unit in known if unit.dimension == dimension and not unit.zero)
        own[name] = next(alike, None) or si_unit(dimension)
    return None if any(unit.zero for unit in own.values()) else own


def _units(values: Any) -> list[Unit]:
    return [x.unit for x in values if hasattr(x, "unit")]
