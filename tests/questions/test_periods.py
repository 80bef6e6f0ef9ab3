"""Conversions between periods and angles, which have one dimension in the SI."""

from __future__ import annotations

import math

import pytest

from autodiff_cli import ExpressionError
from autodiff_cli.engine.quantities.unit import parse_unit
from autodiff_cli.questions.periods import check_periods
from running import autodiff


@pytest.mark.parametrize(
    ("own", "wanted"),
    [
        ("Hz", "rad/s"), ("kHz", "rev/min"), ("Hz", "°/s"), ("MHz/T", "rad/(s T)"), ("1/min", "rad/s"),
        ("1/s", "rev/s"), ("Hz", "mrad/s"),
    ],
)  # fmt: skip
def test_periods_are_no_angles(own: str, wanted: str) -> None:
    for here, there, words in (
        (own, wanted, "counts periods, and"),
        (wanted, own, "is of angles, and"),
    ):
        with pytest.raises(ExpressionError, match="differ by a factor of 2") as caught:
            check_periods("50", parse_unit(here), parse_unit(there))
        assert words in str(caught.value)


@pytest.mark.parametrize(
    ("own", "wanted"),
    [
        ("Hz", "1/min"), ("Hz", "1/s"), ("Bq", "Hz"), ("rev/min", "rad/s"), ("rad/s", "1/s"), ("1/s", "rad/s"),
        ("°", "rad"), ("rev", "°"), ("Hz", "rad"), ("lm", "cd"),
    ],
)  # fmt: skip
def test_other_conversions_are_what_they_were(own: str, wanted: str) -> None:
    check_periods("50", parse_unit(own), parse_unit(wanted))


@pytest.mark.parametrize(
    ("asked", "number"),
    [("50 Hz in rad/s", 100 * math.pi), ("60 rev/min in Hz", 1.0), ("90 °/s in Hz", 0.25)],
)
@pytest.mark.parametrize("lenient", [[], ["--lenient"]])
def test_the_hint_says_how_to_ask_for_the_number(
    asked: str, number: float, lenient: list[str]
) -> None:
    refused = autodiff(asked, *lenient)
    assert refused.code == 2 and refused.out == ""
    hinted = autodiff(refused.err.rpartition(": `")[2].rstrip("`\n"), "--format", "plain")
    assert float(hinted.out.partition("[")[0]) == pytest.approx(number, rel=1e-14)
