"""Tests of functions in doubles by enclosures: the double nearest to the value, the same as by many
digits.
"""

from __future__ import annotations

import pytest

from autodiff_cli.engine.numbers.double import twofold

pytest.importorskip("flint")
from autodiff_cli.engine.numbers import ball

POINTS = {
    "faddeeva_re": [(0.0, 1.5, 0.0), (1.0, 50.0, 1e-9), (2.0, -3.0, 0.25), (0.0, 1e3, 1e-8)],
    "faddeeva_im": [(1.0, 0.0, 2.0), (0.0, -900.0, 3.0)],
    "besselj": [(0.0, 2.404825557695773), (2.5, 1e4), (5.0, 1e-6)],
    "bessely": [(1.25, 0.001), (0.0, 1e4)],
    "besseli": [(3.0, 12.0)],
    "besselk": [(0.3, 700.0), (2.0, 1e-3)],
    # a definition in terms of others: its inputs have to be exact in it
    "besselk_slope": [(3.803808313530259, 0.050684317825950426)],
}


@pytest.mark.parametrize(
    ("name", "inputs"), [(name, point) for name, points in POINTS.items() for point in points]
)
def test_an_enclosure_settles_the_nearest_double(name: str, inputs: tuple[float, ...]) -> None:
    settled = ball.nearest_double(name, inputs)
    assert settled is not None and settled == twofold.by_multiprecision(name, *inputs)


def test_the_precision_of_others_is_left_as_it_was() -> None:
    numbers = ball.Balls(333)
    ball.nearest_double("besselj", (2.5, 1e4))
    assert ball.ctx.prec == numbers.bits == 333


@pytest.mark.parametrize("settles", [True, False])
def test_many_digits_take_over_where_enclosures_do_not_settle(
    settles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not settles:
        monkeypatch.setattr(ball, "BITS_OF_DOUBLES", (1,))
    assert (ball.nearest_double("besselj", (0.0, 1.0)) is not None) is settles
    assert twofold.by_enclosures("besselj", 0.0, 1.0) == 0.7651976865579666


def test_errors_are_those_of_the_function() -> None:
    assert ball.nearest_double("besselk", (1.0, -1.0)) is None
    with pytest.raises(ValueError, match="outside the domain"):
        twofold.by_enclosures("besselk", 1.0, -1.0)


def test_without_enclosures_many_digits_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twofold, "_nearest_double", lambda: None)
    monkeypatch.setattr(ball, "nearest_double", None)
    assert twofold.by_enclosures("besselj", 0.0, 1.0) == 0.7651976865579666
