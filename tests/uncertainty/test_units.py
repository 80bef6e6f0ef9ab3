"""Budgets with units: those of the GUM, the same numbers as without units, and what a unit changes."""

import json
import re

import pytest

from autodiff_cli.errors import ExpressionError
from autodiff_cli.quantities.unit import parse_unit
from autodiff_cli.uncertainty.measured_units import measured_value
from autodiff_cli.uncertainty.propagate import propagate
from running import autodiff

GAUGE = "l_s + d - l_s*(da*theta + alpha*dtheta)"
GAUGE_AT = {
    "l_s": "50.000623 mm ± 25 nm", "d": "215.0(97) nm", "da": "0.00±0.58 1/MK", "theta": "-0.10±0.41 K",
    "alpha": "uniform(9.5, 13.5) 1/MK", "dtheta": "0.000±0.029 K",
}  # fmt: skip


def test_the_gauge_block_of_the_gum():
    # JCGM 100:2008, H.1: l = 50.000838 mm with u = 32 nm, and 34 nm with the terms of second order
    at = {name: text.replace("1/MK", "MK^-1") for name, text in GAUGE_AT.items()}
    answer = propagate(GAUGE, at, units="nm")
    (result,) = answer.results
    assert result.written == "50000838(32)"
    assert result.second_order.uncertainty == pytest.approx(34, abs=0.5)
    assert answer.units.texts()["results"][0]["budget"]["theta"] == {"sensitivity": "nm/K", "contribution": "nm"}
    assert result.budget["dtheta"].contribution == pytest.approx(16.6, abs=0.1)


SI = {"F": "1500±20", "L": "2.000±0.003", "E": "210e9±4.2e9", "I": "171e-8"}
UNITS = {"F": "1.50(2) kN", "L": "2000±3 mm", "E": "210±2% GPa", "I": "171 cm^4"}


def test_numbers_are_those_without_units():
    text = "F*L**3/(48*E*I)"
    (plain,), (measured,) = propagate(text, SI).results, propagate(text, UNITS, units="mm").results
    assert measured.value == pytest.approx(1000 * plain.value, rel=1e-14)
    assert measured.uncertainty == pytest.approx(1000 * plain.uncertainty, rel=1e-13)
    assert measured.expanded == pytest.approx(1000 * plain.expanded, rel=1e-13)
    assert measured.second_order.uncertainty == pytest.approx(1000 * plain.second_order.uncertainty, rel=1e-9)
    for name, factor in (("F", 1e3), ("L", 1e-3), ("E", 1e9)):
        mine, theirs = measured.budget[name], plain.budget[name]
        assert mine.share == pytest.approx(theirs.share, rel=1e-12)
        # mm/kN and mm/GPa; by a length it is a number
        slope = theirs.sensitivity * (1 if name == "L" else 1000 * factor)
        assert mine.sensitivity == pytest.approx(slope, rel=1e-12)
        assert mine.contribution == pytest.approx(1000 * theirs.contribution, rel=1e-12)


def test_draws_are_in_the_unit():
    answer = propagate("U/R", {"U": "12.0 V ± 20 mV", "R": "uniform(4.9, 5.1) kΩ"}, samples=20_000, units="mA")
    (result,) = answer.results
    assert result.drawn.mean == pytest.approx(2.4003, abs=1e-3)
    assert result.drawn.deviation == pytest.approx(result.uncertainty, rel=0.02)
    assert answer.inputs["R"].distribution.parameters == (pytest.approx(4.9), pytest.approx(5.1))
    assert result.budget["U"].contribution == pytest.approx(0.020 / 5, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "value", "u", "unit"),
    [
        ("2.000(3) m", 2.0, 0.003, "m"), ("5±2% V", 5.0, 0.1, "V"), ("19.66(10)e-3 A", 0.01966, 1e-4, "A"),
        ("12.0 V ± 20 mV", 12.0, 0.02, "V"), ("5.00 ± 0.04 mm (k = 2)", 0.005, 2e-5, "mm"),
        ("(5.0±0.1) mm", 0.005, 1e-4, "mm"),
        ("20.0±0.5 °C", 293.15, 0.5, "°C"), ("68±1 °F", 293.15, 5 / 9, "°F"), ("5.0 +/- 0.1 m/s^2", 5.0, 0.1, "m/s²"),
        ("uniform(4.9, 5.1) mm", 0.005, 0.0002 / 12**0.5, "mm"), ("normal(5, 0.1) kN", 5000.0, 100.0, "kN"),
        ("student(5, 0.1, 9) kN", 5000.0, 100.0, "kN"),
    ],
)  # fmt: skip
def test_reading(text, value, u, unit):
    measured = measured_value("x", text)
    assert float(measured) == pytest.approx(value, rel=1e-15)
    assert measured.uncertainty == pytest.approx(u, rel=1e-12)
    assert measured.unit == parse_unit(unit)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ExpressionError, match="cannot add a voltage"):
        propagate("U + I", {"U": "5.0(1) V", "I": "2.0(1) A"})
    with pytest.raises(ExpressionError, match="equations take no values with units"):
        propagate("x**2 = a", {"a": "2.0(1) m^2"}, unknowns=["x"])
    with pytest.raises(ExpressionError, match="the answer is a length"):
        propagate("L", {"L": "2.0(1) m"}, units="s")
    with pytest.raises(ExpressionError):
        propagate("U", {"U": "12.0 V ± 20 mA"})


def test_every_form_has_the_units():
    command = ("propagate", "U/R", "--at", "U=12.0(1) V, R=4.7±1% kΩ", "--in", "mA")
    assert "2.553(33) mA" in autodiff(*command).out
    record = json.loads(autodiff(*command, "--json").out)
    assert record["units"]["results"][0]["value"] == "mA" and record["units"]["inputs"]["R"]["estimate"] == "kΩ"
    rows = autodiff(*command, "--format", "csv").out.splitlines()
    assert rows[0].count("_unit") == 5 and ",kΩ," in rows[2]
    assert re.fullmatch(
        r"[\d.]+\[mA\] u=[\d.]+\[mA\] U=[\d.]+\[mA\] k=[\d.]+\n", autodiff(*command, "--format", "plain").out
    )
    assert r"\unit{mA}" in autodiff(*command, "--format", "latex").out
