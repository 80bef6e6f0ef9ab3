"""Values with powers of ten: they are numbers, wherever nothing else binds their parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.measured_units import measured_value
from autodiff_cli.questions.powers_of_ten import in_e_notation
from autodiff_cli.questions.quantities import quantity_value

SIGNS = ("×", "·", "*", " x ", "x", " × ", "⋅")
SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@given(
    st.integers(-(10**6), 10**6),
    st.integers(-30, 30),
    st.sampled_from(SIGNS),
    st.sampled_from(["10^{n}", "10**{n}", "10^({n})", "10^{{{n}}}", "10{up}", "10 ^ {n}"]),
    st.sampled_from(["", " m", " m/s", "[kg]"]),
)
def test_a_power_of_ten_is_the_number(
    number: int, exponent: int, sign: str, power: str, unit: str
) -> None:
    up = str(exponent).translate(SUPERSCRIPTS)
    text = f"{number}{sign}{power.format(n=exponent, up=up)}{unit}"
    wanted = quantity_value("x", f"{number}e{exponent}{unit}")
    found = quantity_value("x", text)
    assert found == wanted
    assert str(getattr(found, "unit", "")) == str(getattr(wanted, "unit", ""))


@pytest.mark.parametrize(
    "text",
    [
        "1/2×10^3", "2^3×10^4", "3×10^4^2", "3×10^4.5", "2*3×10^4", "10^4!", "3×10^2(5)", "2·10³²¹⁴",
        "x×10^3", "3×100^2", "10", "3×10", "sin(2)×10^3",
    ],
)  # fmt: skip
def test_other_expressions_stay(text: str) -> None:
    assert in_e_notation(text) == text


def test_everything_else_keeps_its_place() -> None:
    for text in ("3×10^8 m/s", "5.0×10^3±1×10^2 m", "uniform(1×10^3, 2×10^3)", "10³ m"):
        assert len(in_e_notation(text)) == len(text)
    with pytest.raises(ExpressionError) as error:
        quantity_value("x", "3×10^8 qq")
    assert error.value.span is not None and error.value.span.start == 7


@pytest.mark.parametrize(
    ("text", "value", "uncertainty"),
    [
        ("6.67430(15)×10^-11 m^3/(kg s^2)", 6.6743e-11, 1.5e-15),
        ("6.67430(15)·10⁻¹¹", 6.6743e-11, 1.5e-15),
        ("5.0×10^3±1×10^2 m", 5000.0, 100.0),
        ("(5.0±0.1)×10^3 m", 5000.0, 100.0),
        ("5.0×10^3 ± 2% km", 5e6, 1e5),
    ],
)
def test_uncertain_values(text: str, value: float, uncertainty: float) -> None:
    found = measured_value("x", text)
    assert found == pytest.approx(value, rel=1e-15)
    assert found.uncertainty == pytest.approx(uncertainty, rel=1e-14)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1/2 m", "(1/2) m"), ("3/4 in", "(3/4) in"), ("5-3 m", "(5-3) m"), ("pi/2 rad", "(pi/2) rad"),
        ("2*3*m", "(2*3) m"), ("1/2×10^3 m", "(1/2×10^3) m"), ("2+3°", "(2+3) °"),
    ],
)  # fmt: skip
def test_whose_unit_it_is_can_be_written(text: str, written: str) -> None:
    with pytest.raises(ExpressionError) as error:
        quantity_value("x", text)
    assert f"`{written}`" in (error.value.hint or "")
    quantity_value("x", written)


@pytest.mark.parametrize(
    ("text", "written"), [("1d3", "1e3"), ("1.5D+3", "1.5e+3"), ("1'000.5", "1000.5")]
)
def test_numbers_of_other_notations_are_named(text: str, written: str) -> None:
    with pytest.raises(ExpressionError) as error:
        quantity_value("x", text)
    assert f"`{written}`" in (error.value.hint or "")


def test_a_unit_in_quotation_marks_is_none() -> None:
    """`5 'm'` was five metres times minutes of arc squared."""
    for text in ("5 'm'", '5 "m"'):
        with pytest.raises(ExpressionError, match="quotation mark") as error:
            quantity_value("x", text)
        assert error.value.hint == "write `m`"
