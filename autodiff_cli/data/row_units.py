"""Units of rows: columns in the units of their headings, and results in products of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from ..batched.columns_io import Fitted
from ..derivatives.jacobian import output_names
from ..errors import ExpressionError
from ..inputs.column_units import without_units_hint
from ..inputs.quantities import ProgramUnits, Units, unit_value
from ..quantities.unit import Unit
from ..quantities.unit_system import SAME, Linear, linear
from ..views.numerals import heading


class RowUnits(NamedTuple):
    """How rows are computed with units: no formula needs a factor in the system that the units of the inputs make."""

    point: dict[str, Unit]
    """The units of the variables' numbers, as headings, the shared point and sweeps have them."""
    inputs: dict[str, Linear]
    """How numbers of variables are converted that are in no unit of the system."""
    answer: Units
    """The units of an answer's numbers."""
    results: list[Unit]
    """Those of a row's results."""
    outputs: list[Linear]
    """How results are converted to them from the system."""

    def heads(self, names: Sequence[str]) -> dict[str, str]:
        """How the columns are called that have units: those of results, which have these names, and of inputs."""
        both = [*self.point.items(), *zip(names, self.results, strict=True)]
        heads = {name: heading(name, str(unit) or None) for name, unit in both}
        return {name: head for name, head in heads.items() if head != name}

    def in_system(self, name: str, x: float) -> float:
        """The number of a variable in the system."""
        times, plus = self.inputs.get(name, SAME)
        return x * times + plus


def row_units(
    question: str,
    known: Fitted,
    point: Mapping[str, Unit],
    asked: Sequence[str] | None,
    flat: Callable[[Any], Sequence[Any]],
) -> RowUnits:
    """The units of a program's rows, whose inputs are in those of `point`, and outputs in those that are `asked` for.

    `flat` lists an answer's numbers as a row has them. Raises `ExpressionError` where the dimensions do not fit
    together.
    """
    units = checked_units(known, point, asked)
    of: dict[str, Callable[[Sequence[str]], Units]] = {
        "grad": units.of_gradient,
        "jacobian": units.of_jacobian,
        "hessian": units.of_hessian,
    }
    answer = of[question](known.wanted)
    own = units.in_system(answer)
    results = [*flat(SimpleNamespace(**answer))]
    inputs = {name: linear(unit, own["point"][name]) for name, unit in units.point.items()}
    outputs = [linear(*both) for both in zip(flat(SimpleNamespace(**own)), results, strict=True)]
    return RowUnits(units.point, {name: how for name, how in inputs.items() if how != SAME}, answer, results, outputs)


def checked_units(known: Fitted, point: Mapping[str, Unit], asked: Sequence[str] | None) -> ProgramUnits:
    """The units of a program at points in those of `point`. Raises `ExpressionError` where they do not fit together."""
    program = known.program
    values = {name: unit_value(point.get(name, Unit())) for name in program.leaves}
    names = output_names(program.text, program.outputs, {b.value: b.name for b in program.bindings})
    try:
        return ProgramUnits(program, values, asked, names, system=True)
    except ExpressionError as error:
        raise without_units_hint(error) from None
