"""The series of integrals at infinity, summed as numbers, are the functions of mpmath."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp, mpf

from autodiff_cli.engine.algebra.integral_series import SERIES

FAR = 40


class Sums:
    """Numbers in place of series, so far out that all arguments go to infinity."""

    size = 12
    pi = mp.pi

    def __init__(self) -> None:
        self.cos, self.sin, self.exp, self.log, self.sqrt = mp.cos, mp.sin, mp.exp, mp.log, mp.sqrt

    @property
    def base(self) -> Sums:
        return self

    def number(self, x: Any) -> Any:
        return mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else +x

    def power_series(self, coefficients: Callable[[int], Any], u: Any) -> Any:
        return mp.fsum(coefficients(k) * u**k for k in range(self.size))

    def limit_sign(self, x: Any) -> int:
        return int(mp.sign(x))


@pytest.mark.parametrize(
    ("name", "place"),
    [
        *[
            (name, sign * FAR)
            for name in ("Si", "Ei", "erfi", "fresnels", "fresnelc")
            for sign in (1, -1)
        ],
        ("Ci", FAR),
        ("li", mp.exp(FAR)),
    ],
)
def test_sums_far_out_are_the_functions(name: str, place: Any) -> None:
    with mp.workdps(30):
        x = mpf(place)
        right = getattr(mp, name.lower())(x)
        got = SERIES[name](Sums(), x)
        # the terms left out are about 24!/40**24, of a series in 1/x 12!/40**12
        small = 1e-9 if name in ("Ei", "li") else 1e-13
        assert abs(got - right) < small * abs(right)
