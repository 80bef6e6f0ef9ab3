"""Values in several units: what they are by hand, and what is no such value."""

from __future__ import annotations

from fractions import Fraction
from math import pi

import pytest
from hypothesis import given
from hypothesis import strategies as st

import autodiff_cli
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.measured_units import measured_value
from autodiff_cli.questions.mixed_units import in_mixed_units
from autodiff_cli.questions.quantities import quantity_value

VALUES = [
    ("1 h 30 min", 5400.0, "h"),
    ("1h1min1s", 3661.0, "h"),
    ("-2 d 3 h", -183600.0, "d"),
    ("5 ft 3 in", 1.6002, "ft"),
    ("5 ft 3.5 in", 1.6129, "ft"),
    ("1 mi 1 yd", 1610.2584, "mi"),
    ("2 lb 4 oz", 1.0205828325, "lb"),
    ("12° 30' 45.6''", 12.512666666666667 * pi / 180, "°"),
    ("12°30′45.6″", 12.512666666666667 * pi / 180, "°"),
    ("30' 30''", 30.5 / 60 * pi / 180, "′"),
]


@pytest.mark.parametrize(("text", "si", "unit"), VALUES)
def test_values_in_several_units(text: str, si: float, unit: str) -> None:
    value = quantity_value("x", text)
    assert value == pytest.approx(si, rel=4e-16, abs=0) and str(value.unit) == unit


@given(st.integers(0, 10**6), st.integers(0, 59), st.integers(0, 59), st.booleans())
def test_hours_minutes_and_seconds_are_exact(h: int, m: int, s: int, negative: bool) -> None:
    read = in_mixed_units(f"{'-' * negative}{h} h {m} min {s} s")
    assert read is not None
    text = f"({h}+{m}/60+{s}/3600)"
    assert read[0] == "-" * negative + text and str(read[1]) == "h"
    exact = h + Fraction(m, 60) + Fraction(s, 3600)
    assert quantity_value("x", f"{h} h {m} min {s} s") == pytest.approx(
        float(3600 * exact), 4e-16, 0
    )


@pytest.mark.parametrize(
    ("text", "reason", "hint"),
    [
        ("5 ft 12 in", "12 in are not less than 1 ft", "less than 12 in"),
        ("1.5 h 3 min", "1.5 h is no whole number before min", "a whole number of h"),
        ("1 h 1.5 min 3 s", "1.5 min is no whole number before s", "one unit"),
        ("1h30m", "h and m are a time (s) and a length (m)", "minutes are `min`"),
        ("1 m 2 kg", "m and kg are a length (m) and a mass (kg)", "values of their own"),
        ("3 in 5 ft", "in is no whole multiple of ft", "in one unit"),
        ("1 m 2 yd", "m is no whole multiple of yd", "in one unit"),
        ("2 h 30 h", "h is no whole multiple of h", "in one unit"),
    ],
)
def test_what_is_no_such_value_is_said(text: str, reason: str, hint: str) -> None:
    with pytest.raises(ExpressionError) as error:
        quantity_value("x", text)
    assert reason in str(error.value) and hint in (error.value.hint or "")


def test_other_texts_are_none() -> None:
    for text in ("1 h", "5", "1 h 30", "x 1 h", "20 °C 3 K", "2 h * 3 min", "1 h + 30 min", ""):
        assert in_mixed_units(text) is None, text


def test_many_blanks_are_split_in_one_way() -> None:
    """Each blank could end a part or begin the next: 30 parts with six would take for ever."""
    assert in_mixed_units(("1 h" + " " * 6) * 30 + "+") is None
    assert in_mixed_units("1 h" + " " * 6 + "5 min") is not None


def test_uncertainties_may_follow() -> None:
    value = measured_value("t", "1 h 30 min ± 2 min")
    assert (value, value.uncertainty, str(value.unit)) == (5400.0, 120.0, "h")  # type: ignore[attr-defined]
    value = measured_value("a", "12° 30' ± 1%")
    assert value.uncertainty == pytest.approx(0.125 * pi / 180, rel=1e-15)  # type: ignore[attr-defined]


def test_a_1_within_a_unit_is_none() -> None:
    """`1 h 1 min` was one hour times minute."""
    assert quantity_value("t", "1 h 1 min") == 3660
    with pytest.raises(ExpressionError, match="`1` stands at the beginning"):
        quantity_value("t", "1.5 h/1")
    assert quantity_value("t", "3 1/s") == 3


def test_answers_are_in_the_first_unit() -> None:
    answer = autodiff_cli.gradient("2*t", {"t": "1 h 30 min"})
    assert answer.value == 3 and str(answer.units["value"]) == "h"


@pytest.mark.parametrize("text", ["5'10\"", "5' 10''", "6′2″"])
def test_minutes_and_seconds_of_arc_may_be_feet_and_inches(text: str) -> None:
    with pytest.raises(ExpressionError, match="may be feet and inches") as refused:
        quantity_value("d", text)
    length, angle = str(refused.value.hint).split("`")[1::2]
    assert str(quantity_value("d", length).unit) == "ft"
    assert quantity_value("d", angle) < 0.01
