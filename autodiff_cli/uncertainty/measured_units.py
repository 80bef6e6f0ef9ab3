"""Uncertainties with units: `2.000(3) m`, `5±2% V`, `12.0 V ± 20 mV`, and models whose outputs are in units."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..errors import ExpressionError, Span
from ..inputs.column_units import percentage_of
from ..inputs.parse_point import constant_value
from ..inputs.quantities import ProgramUnits, Units, make_quantity, quantity_value
from ..quantities.unit import Unit, parse_unit, quantity_name, readable, unit_or_none
from .measured_value import MeasuredValue, is_asymmetric, quantity
from .measurement_model import Explicit, FirstOrder, Implicit

_BEGIN = re.compile(r"(?<=[\d.)% ])(?=[^\W\d_]|[°º℃℉′″'\"])|(?<=[)% ])(?=1\s*/)")
"""Where a unit may begin behind a number."""

_COVERAGE = re.compile(r"\(\s*k\s*=[^()]+\)\s*$")
_BETWEEN = re.compile(r"±|\+/-|\+-")

PARAMETERS = {
    "normal": "vd", "student": "vdn", "uniform": "vv", "triangular": "vvv", "arcsine": "vv", "trapezoidal": "vvn",
    "twopiece": "vdd", "beta": "nnvv", "gamma": "nd", "exponential": "d", "draws": "vdnn",
}  # fmt: skip
"""Whether the parameters of a distribution are values, differences or numbers; others have no unit."""

FROM_ZERO = ("gamma", "exponential")
"""Distributions that begin at 0, which the scale of a temperature may not have."""


def measured_value(name: str, text: str, offset: int = 0) -> float:
    """The value that is given to a name, with its uncertainty or without, and with its unit or without.

    Raises `ExpressionError` of kind `point`.

    >>> length = measured_value("L", "2.000(3) mm")
    >>> length, length.uncertainty, str(length.unit)
    (0.002, 3e-06, 'mm')
    """
    parts = _split(text)
    if parts is None:
        return quantity(name, text, offset)
    written, unit = parts
    if not ("(" in written or _BETWEEN.search(written) or is_asymmetric(written)):
        return quantity_value(name, text, offset)
    if unit.zero and "%" in written:
        raise percentage_of(unit, f"give the uncertainty as a number: `± 0.5 {unit}`", Span(0, len(text)))
    inner = re.fullmatch(r"\s*\(([^()]+)\)(\s*\(.*)?", written)
    value = quantity(name, inner[1] + (inner[2] or "") if inner and _BETWEEN.search(inner[1]) else written, offset)
    return _in_si(name, value, unit, text) if isinstance(value, MeasuredValue) else quantity_value(name, text, offset)


def _split(text: str) -> tuple[str, Unit] | None:
    """The number with its uncertainty, and the unit behind it; None where there is none."""
    coverage = _COVERAGE.search(text)
    core, rest = (text[: coverage.start()].rstrip(), f" {coverage[0]}") if coverage else (text.rstrip(), "")
    for begin in _BEGIN.finditer(core):
        before = core[: begin.start()].rstrip()
        unit = unit_or_none(core[begin.start() :]) if before.strip() else None
        if unit is None:
            continue
        sign = _BETWEEN.search(before)
        own = _split(before[: sign.start()]) if sign else None
        if sign is None or own is None:
            return before + rest, unit
        # `12.0 V ± 20 mV`: the uncertainty in the unit of the value
        number, of_value = own
        if of_value.dimension != unit.dimension:
            theirs, ours = quantity_name(unit.dimension), quantity_name(of_value.dimension)
            message = f"the value is {ours}, and its uncertainty is {theirs}"
            raise ExpressionError("point", message, Span(0, len(text)), f"give it in a unit such as `{of_value}`")
        spread = constant_value("uncertainty", before[sign.end() :])
        factor = unit.scale / of_value.scale
        return f"{number} {sign[0]} {float(Fraction(repr(float(spread))) * factor)!r}{rest}", of_value
    sign = _BETWEEN.search(core)
    own = _split(core[: sign.start()]) if sign and core.endswith("%") else None
    # `12.0 V ± 2%`
    return (f"{own[0]} {core[sign.start() :]}{rest}", own[1]) if sign and own else None


def with_unit(name: str, value: float, unit: str) -> float:
    """The value of a name, with its uncertainty or without, as one in a unit."""
    if not isinstance(value, MeasuredValue):
        return make_quantity(name, repr(float(value)), parse_unit(unit), f"{value!r} {unit}")
    return _in_si(name, value, parse_unit(unit), f"{value!r} {unit}")


def _in_si(name: str, value: MeasuredValue, unit: Unit, text: str) -> MeasuredValue:
    """A measured value in a unit, in coherent units. Raises `ExpressionError`."""
    family, parameters, _ = value.distribution
    if family not in PARAMETERS or (unit.zero and family in FROM_ZERO):
        message = f"`{name}={' '.join(text.split())}` is {family}, which is a distribution of numbers without a unit"
        if family in PARAMETERS:
            message = f"`{name}={' '.join(text.split())}` is {family}, which begins at 0, and 0 {unit} is no zero"
        raise ExpressionError(
            "point", message, Span(0, len(text)), "leave the unit out, or give a standard uncertainty"
        )
    converted = tuple(
        [
            _value(x, unit) if kind == "v" else unit.to_si(x) if kind == "d" else x
            for x, kind in zip(parameters, PARAMETERS[family], strict=False)
        ]
    )
    measured = MeasuredValue(_value(float(value), unit))
    measured.source = repr(float(measured))
    measured.uncertainty = unit.to_si(value.uncertainty)
    measured.distribution = value.distribution._replace(parameters=converted)
    measured.unit, measured.number = unit, float(value)
    return measured


def in_si(column: Sequence[float], value: float) -> Sequence[float]:
    """The draws of a value in coherent units; as they are where it has no unit."""
    unit: Unit | None = getattr(value, "unit", None)
    if unit is None:
        return column
    times, zero = unit.factor, float(unit.zero)
    return [x * times + zero for x in column]


def _value(x: float, unit: Unit) -> float:
    """A value in a unit, in coherent units, rounded once where the unit has no pi in it."""
    return unit.to_si(x) if unit.pi else float(Fraction(repr(x)) * unit.scale + unit.zero)


def parameters_in(distribution: Any, unit: Unit) -> tuple[float, ...]:
    """The parameters of a distribution in coherent units, in this unit."""
    kinds = PARAMETERS.get(distribution.family, "n" * len(distribution.parameters))
    return tuple(
        [
            unit.value_from_si(x) if kind == "v" else unit.from_si(x) if kind == "d" else x
            for x, kind in zip(distribution.parameters, kinds, strict=False)
        ]
    )


class InUnits:
    """A measurement model whose outputs are in units; its inputs are in coherent ones.

    With `by_size` the units that nobody asked for have the prefixes that make the outputs easiest to read.
    """

    def __init__(self, model: Explicit | Implicit, units: ProgramUnits, *, by_size: bool = False) -> None:
        self.model, self.by_size = model, by_size
        self.units: ProgramUnits = units
        self.program, self.point, self.outputs = model.program, model.point, model.outputs
        self.warnings, self.values = [*model.warnings, *units.warnings], model.values
        self.kinks = model.kinks

    def first(self, names: Sequence[str]) -> FirstOrder:
        """Return the outputs and their derivatives by these inputs."""
        values, rows, warnings = self.model.first(names)
        if self.by_size:
            self.units.outputs = [
                unit if k in self.units.chosen else readable(unit, unit.value_from_si(x))
                for k, (unit, x) in enumerate(zip(self.units.outputs, values, strict=True))
            ]
        units = self.units.outputs
        return FirstOrder(
            [unit.value_from_si(x) for unit, x in zip(units, values, strict=True)],
            [[unit.from_si(x) for x in row] for unit, row in zip(units, rows, strict=True)],
            warnings,
        )

    def second(self, k: int, names: Sequence[str]) -> list[list[Any]]:
        """Return the second derivatives of output `k`."""
        unit = self.units.outputs[k]
        return [[unit.from_si(float(x)) for x in row] for row in self.model.second(k, names)]

    def third(self, k: int, direction: Mapping[str, float]) -> float:
        """Return the third derivative of output `k` along a direction."""
        return self.units.outputs[k].from_si(self.model.third(k, direction))

    def at(self, k: int, inputs: Mapping[str, float]) -> float | None:
        """Return the value of output `k` at other values of some inputs."""
        value = self.model.at(k, inputs)
        return None if value is None else self.units.outputs[k].value_from_si(value)

    def draws(self, fixed: Sequence[str]) -> Any:
        """Return what evaluates the outputs at many points."""
        return _SamplerInUnits(self.model.draws(fixed), self.units.outputs)


class _SamplerInUnits:
    def __init__(self, sampler: Any, units: Sequence[Unit]) -> None:
        self.sampler, self.units, self.steps = sampler, units, sampler.steps

    def at(self, values: Mapping[str, Any], count: int) -> Any:
        results = self.sampler.at(values, count)
        for row, unit in zip(results, self.units, strict=True):
            row[:] = (row - float(unit.zero)) / unit.factor
        return results


def budget_units(units: ProgramUnits, inputs: Sequence[str]) -> Units:
    """The units of a propagation's numbers."""
    tree = Units(
        results=[
            {
                "value": out,
                "uncertainty": out.degree,
                "budget": {n: {"sensitivity": units.partial(n, k), "contribution": out.degree} for n in inputs},
            }
            for k, out in enumerate(units.outputs)
        ],
        inputs={n: {"estimate": units.point[n], "uncertainty": units.point[n].degree} for n in inputs},
        point=units.point,
    )
    tree.fixed = bool(units.chosen)
    return tree


def sensitivity(units: ProgramUnits, name: str, k: int, x: float) -> float:
    """The derivative of output `k`, which is in its unit, by an input in its own."""
    return units.partial(name, k).from_si(units.outputs[k].to_si(x))
