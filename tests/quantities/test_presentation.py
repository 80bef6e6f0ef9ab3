"""Numbers in the units that they are shown in: one module converts them, as pint and fractions
do.
"""

from __future__ import annotations

import ast
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import autodiff_cli
from autodiff_cli.engine.numbers.exact import Exact
from autodiff_cli.engine.numbers.floats import REAL
from autodiff_cli.engine.numbers.multiprecision import Multiprecision
from autodiff_cli.engine.quantities.presentation import (
    convert_column,
    convert_difference,
    present,
    present_difference,
    present_number,
    present_tree,
    with_unit,
)
from autodiff_cli.engine.quantities.unit import Unit, parse_unit, si_unit

UNITS = [
    "mm",
    "km/h",
    "kN",
    "GPa",
    "kWh",
    "°",
    "in",
    "lb",
    "psi",
    "min",
    "mol/L",
    "µA·h",
    "cm^4",
    "J/(kg K)",
    "eV",
]
TRIALS = 40
INWARD = {
    # exact factors where a text becomes a number, or where a unit is written down as one
    "measured_units.py", "quantities.py", "mixed_units.py", "conversions.py", "sweeps.py", "equation_answers.py",
    "units.py", "taylor.py", "gradient.py",
    "page.py", "page_view.py", "base.py", "presentation.py", "unit.py",
    "limit.py",  # an exact limit stays an expression: `20*pi`
}  # fmt: skip


def _exact(x: float, unit: Unit) -> Fraction:
    """Return a value in a unit without rounding, for units without a power of π."""
    return (Fraction(x) - unit.zero) / unit.scale


@pytest.mark.parametrize("symbol", UNITS)
def test_numbers_are_those_of_fractions(symbol: str) -> None:
    unit, rng = parse_unit(symbol), random.Random(symbol)
    for _ in range(TRIALS):
        x = rng.uniform(-1, 1) * 10.0 ** rng.randint(-12, 12)
        if unit.pi:
            assert unit.to_si(present(x, unit)) == pytest.approx(x, rel=4e-16)
            continue
        # rounded once
        assert present(x, unit) == present_difference(x, unit) == float(_exact(x, unit))
        assert present_number(Exact(), Fraction(x), unit) == _exact(x, unit)
        digits = present_number(Multiprecision(40), Multiprecision(40).number(x), unit)
        assert float(digits) == float(_exact(x, unit))


@pytest.mark.parametrize("symbol", ["°C", "°F"])
def test_temperatures_have_the_zero_of_their_scale(symbol: str) -> None:
    unit, rng = parse_unit(symbol), random.Random(symbol)
    for _ in range(TRIALS):
        x = rng.uniform(0, 2000)
        assert present(x, unit) == pytest.approx(float(_exact(x, unit)), rel=1e-12, abs=2e-13)
        assert present_difference(x, unit.degree) == float(Fraction(x) / unit.degree.scale)


def test_values_are_those_of_pint() -> None:
    registry = pytest.importorskip("pint").UnitRegistry(autoconvert_offset_to_baseunit=True)
    rng = random.Random(29)
    spelled = {
        "mm": "mm",
        "km/h": "km/h",
        "kN": "kN",
        "GPa": "GPa",
        "kWh": "kWh",
        "in": "inch",
        "lb": "lb",
        "min": "min",
    }
    for symbol, name in spelled.items():
        unit = parse_unit(symbol)
        for _ in range(TRIALS):
            x = rng.uniform(-1e6, 1e6)
            theirs = registry.Quantity(1.0, name).to_base_units()
            assert present(x, unit) == pytest.approx(
                registry.Quantity(x, theirs.units).to(name).magnitude, rel=1e-14
            )
    for symbol, name in (("°C", "degC"), ("°F", "degF")):
        x = rng.uniform(0, 900)
        theirs = registry.Quantity(x, "kelvin").to(name).magnitude
        assert present(x, parse_unit(symbol)) == pytest.approx(theirs, abs=1e-9)


def test_one_unit_in_another() -> None:
    celsius, fahrenheit, kelvin = map(parse_unit, ("°C", "°F", "K"))
    assert convert_column([0.0, 100.0], celsius, fahrenheit) == pytest.approx([32.0, 212.0])
    assert convert_column([1.0], kelvin, celsius) == pytest.approx([-272.15])
    assert convert_difference(9.0, fahrenheit.degree, celsius.degree) == pytest.approx(5.0)
    assert convert_difference(2.0, parse_unit("mm"), parse_unit("m")) == 0.002


def test_a_tree_has_its_shape() -> None:
    mm, unit = parse_unit("mm"), Unit()
    numbers: dict[str, Any] = {"value": 0.5, "matrix": [[1.0, None], [True, 2.0]], "other": 3.0}
    units = {"value": mm, "matrix": [[mm, mm], [mm, None]], "missing": unit}
    assert present_tree(REAL, numbers, units) == {
        "value": 500.0, "matrix": [[1000.0, None], [True, 2.0]], "other": 3.0,
    }  # fmt: skip
    assert numbers["value"] == 0.5, "the numbers of the question stay coherent"
    assert str(with_unit(0.5, mm).unit) == "mm" and with_unit(0.5, mm) == 0.5


def test_coherent_units_change_no_number() -> None:
    rng = random.Random(3)
    for symbol in UNITS:
        x = rng.uniform(-1e9, 1e9)
        assert present(x, si_unit(parse_unit(symbol).dimension)) == x


def test_no_other_module_converts() -> None:
    """The factor of a unit is read where a text becomes a number; numbers leave by one module."""
    readers = set()
    for path in Path(autodiff_cli.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Attribute):
                continue
            of_unit = isinstance(node.value, ast.Name) and node.value.id in (
                "unit",
                "units",
                "own",
                "to",
                "of_value",
            )
            if node.attr == "scale" and of_unit:
                readers.add(path.name)
            assert node.attr not in (
                "from_si",
                "value_from_si",
            ), f"{path.name}:{node.lineno} converts by itself"
    assert readers <= INWARD, f"{readers - INWARD} read the factor of a unit"
