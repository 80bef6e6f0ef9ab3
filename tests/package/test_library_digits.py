"""Tests that the comparison of answers of a library forgives its last digits, and nothing else."""

from __future__ import annotations

import pytest

from library_digits import same

TABLE = (
    "│ k │ 0.0704812 │ 0.00067202 │\nsum of squares 0.0362039\nconverged (51 evaluations of the"
    " data)\n"
)


@pytest.mark.parametrize(
    ("old", "new", "agree"),
    [
        ("51 evaluations", "59 evaluations", True),
        ("0.0704812", "0.0704813", True),
        ("0.0704812", "0.0704822", False),
        ("0.00067202", "0.00067269", False),
        ("converged", "not converged", False),
        ("│ k │", "│ m │", False),
    ],
)
def test_the_last_digit_and_the_count_of_evaluations_may_differ(
    old: str, new: str, agree: bool
) -> None:
    assert same("autodiff fit data.csv", TABLE, TABLE.replace(old, new)) is agree
    assert not same("autodiff grad x", TABLE, TABLE.replace(old, new))


def test_all_digits_are_compared_to_a_billionth() -> None:
    shown = "60.35243728127101 u=1.4621033739247958"
    assert same("autodiff propagate x", shown, "60.35243728127102 u=1.4621033739247873")
    assert not same("autodiff propagate x", shown, "60.35243728127101 u=1.4621033839247958")


def test_what_the_data_do_not_determine_may_be_anything() -> None:
    rows = "│ a │  1.25 │ 0.3 │\n│ b │ {}  │ – │ not determined │"
    assert same("autodiff fit x", rows.format("67.52"), rows.format("-3.1"))
    assert not same(
        "autodiff fit x", rows.format("67.52"), rows.format("-3.1").replace("1.25", "1.35")
    )
