"""Numbers with units as people write them, and what stays a product."""

from __future__ import annotations

import pytest

from autodiff_cli.language.diagnostics.measured import measured_numbers
from autodiff_cli.questions.quantities import quantity_value


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        ("100 kPa", ["100[kPa]"]),
        ("9.81 m/s^2 * 2 kg", ["9.81[m/s^2]", "2[kg]"]),
        ("F*L^3/(3*E*b*h^3/12) = 2 mm", ["2[mm]"]),
        ("2 in + 3 mm", ["2[in]", "3[mm]"]),
        ("4186 J/(kg K)*x", ["4186[J/(kg K)]"]),
        ("5 N / 2 mm", ["5[N]", "2[mm]"]),
        ("(30 mm)^2", ["30[mm]"]),
        ("40mm + 2e3kg", ["40[mm]", "2e3[kg]"]),
        ("60 km/h + h", ["60[km]"]),
        ("1e-3 kN·m", ["1e-3[kN·m]"]),
        ("sin(30 deg)", ["30[deg]"]),
        # a letter alone, a variable, a product of variables, rare units, functions, a product after
        # a quotient
        *[(text, []) for text in ("2 m", "3 t^2", "1/2 m v^2", "2 x", "2 sin x", "5m + 1")],
        *[
            (text, [])
            for text in ("3 kg + kg", "3 mg + m*g", "u^2 + 2as", "2 PV", "3 lx", "3 min(x, 2)")
        ],
        *[
            (text, [])
            for text in ("4186 J/kg K", "2 pi", "2e", "x2 m", "0x10", "2 if x > 0 else 3 m")
        ],
    ],
)
def test_numbers_with_units(text: str, literals: list[str]) -> None:
    assert [one.literal for one in measured_numbers(text)] == literals


def test_a_variable_wins_and_a_unit_elsewhere_makes_letters_units() -> None:
    force = {"F": quantity_value("F", "5 N")}
    assert [one.literal for one in measured_numbers("F*(2 m)", force)] == ["2[m]"]
    assert measured_numbers("F*2m", force) == measured_numbers("F*(2 m)", {"F": 5.0}) == []
    assert measured_numbers("2 mm", {"mm": 3.0}) == []
    assert measured_numbers("F*(2 m)", {**force, "m": 2.0}) == []


@pytest.mark.parametrize(
    ("text", "two_ways"), [("1/2 mm", True), ("x^2 mm", True), ("F / 2 mm", True)]
)
def test_a_unit_behind_a_quotient_can_be_read_in_two_ways(text: str, two_ways: bool) -> None:
    (one,) = measured_numbers(text)
    assert one.divides_a_number(text) == two_ways
    *_, last = measured_numbers("5 N / 2 mm")
    assert not last.divides_a_number("5 N / 2 mm")
