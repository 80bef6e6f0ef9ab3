"""The units of equations: of their variables, of their unknowns as starts and bounds have them, or as they follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..errors import usage_error
from ..language.builder import Program
from ..numbers.dimensions import Dimensioned, Dimensions, UnknownDimensions
from ..quantities.unit import NUMBER, Dimension, Unit, choose, coherent, quantity_name
from .bounds import Range
from .quantities import ProgramUnits, Units, evaluate_dimensions, has_unit, parse_units


class EquationUnits(ProgramUnits):
    """The units of equations, whose outputs are the unknowns."""

    def __init__(
        self,
        program: Program,
        values: Mapping[str, Any],
        unknowns: Sequence[str],
        ranges: Mapping[str, Range],
        asked: Sequence[str] | str | None = None,
        *,
        system: bool = False,
    ) -> None:
        """Sweep the dimensions through the equations. Raises `ExpressionError` where they do not fit together.

        An unknown is of the dimension of its start and its bounds; where these have no unit, of the one in which the
        equations are consistent. `values` has the starts too.
        """
        self.unknowns = list(unknowns)
        self.warnings = []
        self.point = {
            name: getattr(value, "unit", None) or Unit() for name, value in values.items() if name not in unknowns
        }
        known = {name: _own_unit(name, values.get(name), ranges.get(name)) for name in unknowns}
        m = UnknownDimensions([name for name in unknowns if known[name] is None])
        leaves = {name: Dimensioned(unit.dimension) for name, unit in self.point.items()}
        leaves |= {
            name: m.unknown(name) if unit is None else Dimensioned(unit.dimension) for name, unit in known.items()
        }
        sides = self._sweep(program, m, leaves, [unit for unit in known.values() if unit is not None], system=system)
        self._node_units = {}
        solved = {name: _solved(m, name, unit, values.get(name), ranges.get(name)) for name, unit in known.items()}
        units = parse_units(asked, self.unknowns)
        self.chosen = {*units, *(k for k, unit in enumerate(known.values()) if unit is not None)}
        for k, name in enumerate(self.unknowns):
            unit = units.get(k) or known[name]
            if unit is not None and unit.zero and self._is_difference(program, solved):
                self._output(k, solved[name], unit, Fraction(0))
        self.outputs = [
            (known[name] if k not in units else None) or self._output(k, solved[name], units.get(k))
            for k, name in enumerate(self.unknowns)
        ]
        self.point |= dict(zip(self.unknowns, self.outputs, strict=True))
        self.numbers = {
            name: value.number for name, value in values.items() if has_unit(value) and value.unit == self.point[name]
        }
        self.sides: list[Unit] = [
            Unit() if dimension is None else choose(dimension, self._inputs)
            for dimension in (m.known(side.dimension) for side in sides)
        ]
        """The units of left side less right side of each equation."""

    def _is_difference(self, program: Program, solved: Mapping[str, Dimension]) -> bool:
        leaves = self._dimensions()
        leaves |= {name: Dimensioned(dimension, temperatures=Fraction(0)) for name, dimension in solved.items()}
        return any(side.temperatures == 0 for side in evaluate_dimensions(Dimensions(), program, leaves).values)

    def of_solution(self, by: Sequence[str], order: int = 1) -> Units:
        """Return the units of a solution's numbers, and of its derivatives by these variables, up to this order."""
        named = {name: self.point[name] for name in self.unknowns}
        numbered = [*enumerate(self.unknowns)]
        units = self.tree(values=named, derivatives={name: self.gradient(by, k) for k, name in numbered})
        if order > 1:
            units["second"] = {
                name: {x: {y: self.derivative([x, y], k) for y in by} for x in by} for k, name in numbered
            }
        units["errors"] = {name: unit.difference for name, unit in named.items()}
        units["residuals"] = self.sides
        units["point"] = {name: unit for name, unit in self.point.items() if name not in self.unknowns}
        units.asked = [self.unknowns[k] for k in self.chosen]
        return units

    def ends(self, name: str, ends: tuple[float, float]) -> tuple[float, float]:
        """Bounds of an unknown in its unit."""
        unit = self.point[name]
        return unit.value_from_si(ends[0]), unit.value_from_si(ends[1])

    def text(self, name: str, x: float, digits: int = 6) -> str:
        """Return a value of a variable to so many digits, with its unit."""
        return f"{self.point[name].value_from_si(x):.{digits}g} {self.point[name]}".rstrip()

    def residual_text(self, x: float, digits: int, k: int = 0) -> str:
        """What is left of an equation to so many digits, with its unit."""
        return f"{self.sides[k].from_si(x):.{digits}g} {self.sides[k]}".rstrip()


def _own_unit(name: str, start: Any, ends: Range | None) -> Unit | None:
    typed = [x for x in (*(ends or ()), start) if x is not None]
    own: Unit | None = None
    for x in typed:
        unit = getattr(x, "unit", None)
        if unit is None:
            continue
        if own is not None and own.dimension != unit.dimension:
            theirs = f"{quantity_name(own.dimension)} and {quantity_name(unit.dimension)}"
            raise usage_error(f"`{name}` is looked for as {theirs}", "give its bounds and its start in one dimension")
        own = own or unit
    if own is not None:
        for x in typed:
            if not has_unit(x) and float(x) and own.dimension != NUMBER:
                raise usage_error(f"`{name}` has values with a unit and without one", f"write `{float(x):g} {own}`")
    return own


def _solved(m: UnknownDimensions, name: str, own: Unit | None, start: Any, ends: Range | None) -> Dimension:
    if own is not None:
        return own.dimension
    dimension = m.solution(name)
    if dimension is None:
        message = f"the equations do not determine the unit of `{name}`"
        raise usage_error(message, f'give bounds with a unit, `--between "{name}=0 m:1 m"`, or a start')
    typed = [x for x in (start, *(ends or ())) if x is not None and float(x)]
    if typed and dimension != NUMBER:
        what = "its start is a number" if start is not None else "its bounds are numbers"
        message = f"`{name}` is {quantity_name(dimension)}, and {what}"
        raise usage_error(message, f"give a unit: `{float(typed[0]):g} {coherent(dimension)}`")
    return dimension
