"""Units in words: the values are those of the definitions, worked out by hand."""

from __future__ import annotations

import math

import pytest

from autodiff_cli.engine.quantities.unit import parse_unit
from autodiff_cli.questions.spelled_units import conversion_in_symbols, symbols_of
from autodiff_cli.questions.typed_lines import conversion_of

SI = {
    "kilometers per hour": 1000 / 3600,
    "Kilometres Per Hour".lower(): 1000 / 3600,
    "miles per hour": 1609.344 / 3600,
    "square feet": 0.3048**2,
    "sq ft": 0.3048**2,
    "cubic centimeters": 1e-6,
    "meters per second squared": 1.0,
    "pounds per square inch": 6894.757293168361,
    "kilowatt hours": 3.6e6,
    "amp hour": 3600.0,
    "nautical miles": 1852.0,
    "light years": 9460730472580800.0,
    "lightyear": 9460730472580800.0,
    "fluid ounces": 0.003785411784 / 128,
    "degrees": math.pi / 180,
    "BTU": 1055.05585262,
    "PSI": 6894.757293168361,
    "microns": 1e-6,
    "kph": 1000 / 3600,
    "foot pound": 1.3558179483314,
    "milliamps": 1e-3,
    "lbs": 0.45359237,
    "grad": math.pi / 200,
    "gradians": math.pi / 200,
    "calories": 4.184,
    "kCal": 4184.0,
}


@pytest.mark.parametrize("phrase", SI)
def test_a_unit_in_words_is_its_symbols(phrase: str) -> None:
    symbols = symbols_of(phrase)
    assert symbols is not None
    unit = parse_unit(symbols)
    assert unit.to_si(1.0) == pytest.approx(SI[phrase], rel=1e-12)


@pytest.mark.parametrize(
    "phrase",
    [
        "feat",
        "apples",
        "per hour",
        "metres per",
        "square",
        "month",
        "ton",
        "x",
        "MM",
        "Cal",
        "Calories",
    ],
)
def test_other_words_are_no_unit(phrase: str) -> None:
    assert symbols_of(phrase) is None


@pytest.mark.parametrize(
    ("quantity", "unit", "symbols"),
    [
        ("20 degrees Celsius", "fahrenheit", ("20 °C", "°F")),
        ("20 C", "F", ("20 °C", "°F")),
        ("0 K", "C", ("0 K", "°C")),
        ("1 C", "A h", ("1 C", "A h")),
        ("1 coulomb", "C", ("1[C]", "C")),
        ("1 farad", "F", ("1[F]", "F")),
        ("25 celsius", "F", ("25 °C", "°F")),
        ("5 fl oz", "mL", ("5 floz", "mL")),
        ("5 feet 3 inches", "cm", ("5[ft] + 3[in]", "cm")),
        ("1 hour 30 minutes", "seconds", ("1[h] + 30[min]", "s")),
        # a product, as what is wanted is an area
        ("5 ft 3 in", "m^2", None),
        ("1 rpm", "Hz", ("1 1/min", "Hz")),
        ("1 rpm", "rad/s", ("1 rev/min", "rad/s")),
        ("50 Hz", "rpm", ("50 Hz", "1/min")),
        ("314 rad/s", "rpm", ("314 rad/s", "rev/min")),
        ("x", "feet", None),
    ],
)
def test_a_conversion_in_words(quantity: str, unit: str, symbols: tuple[str, str] | None) -> None:
    assert conversion_in_symbols(quantity, unit) == symbols


@pytest.mark.parametrize(
    ("typed", "arguments"),
    [
        ("50 Hz in 1/min", ["50[Hz]", "--in", "1/min"]),
        ("5 kHz in Hz", ["5[kHz]", "--in", "Hz"]),
        ("2 rad/s in deg/s", ["2[rad/s]", "--in", "deg/s"]),
        ("1 rad in °", ["1[rad]", "--in", "°"]),
    ],
)
def test_conversions_of_frequencies_and_angles(typed: str, arguments: list[str]) -> None:
    assert conversion_of(typed) == arguments
