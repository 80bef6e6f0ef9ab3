"""Sweeps with a unit and an uncertainty: every form of both, held against pint."""

from __future__ import annotations

from itertools import product

import pint
import pytest

import autodiff_cli
from running import autodiff

UNITS = pint.UnitRegistry()

# what a sweep of 1, 2, 3 of a unit is written as
SWEEPS = [
    "1:3:1 {u}",
    "1 {u}:3 {u}:1 {u}",
    "1 {u}:3 {u}/3",
    "1:3/3 {u}",
    "{{1,2,3}} {u}",
    "{{1 {u},2 {u},3 {u}}}",
]
# how uncertain each is: the text, the part of 1 unit, the share of the value
SPREADS = [
    ("±0.1 {u}", 0.1, 0.0),
    (" ± 0.1 {u}", 0.1, 0.0),
    ("+/-0.1 {u}", 0.1, 0.0),
    ("±5%", 0.0, 0.05),
]
SMALLER = {
    "km": ("m", 1e-3),
    "V": ("mV", 1e-3),
    "kg": ("g", 1e-3),
    "h": ("min", 1 / 60),
    "kN": ("N", 1e-3),
}


@pytest.mark.parametrize("unit", SMALLER)
def test_every_form_has_its_value_and_its_uncertainty(unit: str) -> None:
    smaller, part = SMALLER[unit]
    spreads = [*SPREADS, (f"± 20 {smaller}", 20 * part, 0.0)]
    base = {"km": "m", "V": "V", "kg": "kg", "h": "s", "kN": "N"}[unit]
    factor = UNITS.Quantity(1, unit).to(base).magnitude
    for form, (spread, absolute, share) in product(SWEEPS, spreads):
        text = form.format(u=unit) + spread.format(u=unit)
        result = autodiff("propagate", "v", "--at", f"v={text}", "--in", base, "--format", "plain")
        rows = [[float(x) for x in line.split()[:3]] for line in result.out.splitlines()]
        expected = [[k * factor, (absolute + share * k) * factor] for k in (1, 2, 3)]
        assert [row[1:] for row in rows] == [pytest.approx(row, rel=1e-12) for row in expected], (
            text
        )


def test_temperatures_have_differences_as_uncertainties() -> None:
    result = autodiff("propagate", "v", "--at", "v=0:100:50 °C±1 °F", "--format", "plain")
    rows = [[float(x) for x in line.split()[:3]] for line in result.out.splitlines()]
    assert rows == [pytest.approx([t, t + 273.15, 5 / 9], rel=1e-12) for t in (0.0, 50.0, 100.0)]


def test_values_that_are_the_same_in_all_rows_have_their_uncertainty_in_their_unit() -> None:
    for value, shown in [
        ("20.0±0.1 mm", "(20.00 ± 0.10) mm"),
        ("2.0(1) kN", "(2.00 ± 0.10) kN"),
        ("20±1 °C", "(20.0 ± 1.0) °C"),
    ]:
        for form in ("table", "markdown"):
            out = autodiff("propagate", "V*I", "--at", f"V=1:3:2,I={value}", "--format", form).out
            assert f" = {shown}" in out.splitlines()[0], out


def test_in_python_as_at_the_command() -> None:
    answer = autodiff_cli.propagate("v", "v=1:3:1 km±5%")
    assert answer["value [km]"] == pytest.approx([1.0, 2.0, 3.0])
    assert answer["uncertainty [km]"] == pytest.approx([0.05, 0.1, 0.15])
