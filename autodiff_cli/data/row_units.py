"""Units of rows: columns in the units of their headings, and results in products of these."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from ..batched.columns_io import Fitted
from ..errors import Diagnostic, ExpressionError
from ..graphs.value_and_gradient import at_point
from ..inputs.column_units import column_units, without_units_hint
from ..inputs.quantities import Units
from ..numbers.dimensions import Dimensioned, Dimensions
from ..quantities.unit import Unit
from ..quantities.unit_system import UnitSystem, factor
from ..run.evaluation import Evaluation


class RowUnits(NamedTuple):
    """How rows are computed with units: no formula needs a factor in the system that the columns' units make."""

    columns: dict[str, Unit]
    """The units in the headings, by variable."""
    factors: dict[str, float]
    """By what columns are multiplied that are in no unit of the system."""
    answer: Units
    """The units of a gradient."""


def row_units(
    known: Fitted, used: Collection[str], texts: Mapping[str, str]
) -> tuple[RowUnits | None, list[Diagnostic]]:
    """The units of a program's rows; None where those in the headings, `texts`, do not count, and a note.

    `used` are the variables that are columns. Raises `ExpressionError` where the dimensions do not fit together.
    """
    columns, notes = column_units(used, texts, False)
    if not columns:
        return None, notes
    system = UnitSystem(sorted(columns.values(), key=lambda unit: len(unit.atoms)))
    leaves = {n: Dimensioned(columns[n].dimension) if n in columns else Dimensioned() for n in known.program.leaves}
    try:
        graph = at_point(Dimensions(), known.program.graph, leaves)
        graph.chooses = False
        value = system.unit(Evaluation(Dimensions(), graph).values[0].dimension)
    except ExpressionError as error:
        raise without_units_hint(error) from None
    own = {name: system.unit(unit.dimension) for name, unit in columns.items()}
    answer = Units(
        value=value,
        gradient={name: system.unit((value / own.get(name, Unit())).dimension) for name in known.wanted},
        point={name: own.get(name, Unit()) for name in known.variables},
    )
    factors = {name: factor(unit, own[name]) for name, unit in columns.items()}
    return RowUnits(columns, {name: times for name, times in factors.items() if times != 1}, answer), notes
