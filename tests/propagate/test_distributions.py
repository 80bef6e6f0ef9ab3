"""Tests of the families of distributions: moments and draws as SciPy has them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from autodiff_cli.capabilities.propagate.monte_carlo import Sampler
from autodiff_cli.capabilities.propagate.propagate import propagate
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.distributions import FAMILIES
from autodiff_cli.questions.measured_value import MeasuredValue, quantity

REFERENCE: dict[str, Any] = {
    "lognormal(0.5, 0.4)": stats.lognorm(0.4, scale=math.exp(0.5)),
    "gamma(2.5, 0.8)": stats.gamma(2.5, scale=0.8),
    "beta(2, 5, -1, 3)": stats.beta(2, 5, loc=-1, scale=4),
    "poisson(30)": stats.poisson(30),
    "exponential(2.5)": stats.expon(scale=2.5),
    "uniform(-1, 3)": stats.uniform(-1, 4),
    "triangular(-1, 2, 3)": stats.triang(0.75, -1, 4),
    "arcsine(-1, 3)": stats.arcsine(-1, 4),
    "trapezoidal(-1, 3, 0.25)": stats.trapezoid(0.375, 0.625, -1, 4),
}


def measured(text: str) -> MeasuredValue:
    value = quantity("x", text)
    assert isinstance(value, MeasuredValue)
    return value


@pytest.mark.parametrize("text", REFERENCE)
def test_moments_are_those_of_scipy(text: str) -> None:
    value, reference = measured(text), REFERENCE[text]
    mean, variance, skewness, excess = map(float, reference.stats("mvsk"))
    assert float(value) == pytest.approx(mean, rel=1e-13)
    assert value.uncertainty == pytest.approx(math.sqrt(variance), rel=1e-13)
    shape = FAMILIES[value.distribution.family].moments(*value.distribution.parameters)
    assert shape.variance == 1
    assert (shape.third, shape.fourth) == pytest.approx(
        (skewness, excess + 3), rel=1e-10, abs=1e-12
    )
    assert value.distribution.support == tuple(map(float, reference.support()))


@pytest.mark.parametrize("text", REFERENCE)
def test_draws_have_the_quantiles_of_scipy(text: str) -> None:
    reference, n = REFERENCE[text], 100_000
    draws = np.sort(Sampler({"x": measured(text).distribution}, [], {}, 3)(n)["x"])
    for p in (0.001, 0.025, 0.25, 0.5, 0.75, 0.975, 0.999):
        x = reference.ppf(p)
        # the number of draws up to a quantile is binomial
        expected = float(reference.cdf(x))
        share = np.searchsorted(draws, x, side="right") / n
        assert abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / n)


@pytest.mark.parametrize("dof", [3, 4.5, 12])
def test_moments_of_student_are_in_units_of_its_scale(dof: float) -> None:
    variance, excess = stats.t(dof).stats("vk")
    shape = FAMILIES["student"].moments(1.0, 0.2, dof)
    assert (shape.variance, shape.third) == pytest.approx((float(variance), 0), rel=1e-12)
    assert shape.fourth == pytest.approx((float(excess) + 3) * float(variance) ** 2, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "5.0 +0.2 -0.1",
        "5.0^{+0.2}_{-0.1}",
        "5.0_{-0.1}^{+0.2}",
        "5.0 +0.2/-0.1",
        "twopiece(5, 0.1, 0.2)",
    ],
)
def test_asymmetric_uncertainties_are_two_pieces(text: str) -> None:
    value = measured(text)
    assert value.distribution.parameters == (5.0, 0.1, 0.2)

    def density(x: float) -> float:
        return (
            2
            / (0.1 + 0.2)
            / math.sqrt(2 * math.pi)
            * math.exp(-(((x - 5) / (0.1 if x < 5 else 0.2)) ** 2) / 2)
        )

    def integral(power: int, about: float) -> float:
        parts = [(3.0, 5.0), (5.0, 8.0)]
        return sum(
            integrate.quad(lambda x: (x - about) ** power * density(x), a, b, epsabs=1e-13)[0]
            for a, b in parts
        )

    assert integral(0, 0.0) == pytest.approx(1, rel=1e-10)
    mean = integral(1, 0.0)
    u = math.sqrt(integral(2, mean))
    assert (float(value), value.uncertainty) == pytest.approx((mean, u), rel=1e-10)
    shape = FAMILIES["twopiece"].moments(5.0, 0.1, 0.2)
    assert (shape.third, shape.fourth) == pytest.approx(
        (integral(3, mean) / u**3, integral(4, mean) / u**4), rel=1e-8
    )
    draws = Sampler({"x": value.distribution}, [], {}, 1)(1_000_000)["x"]
    # the number of draws below the mode is binomial
    assert np.mean(draws < 5) == pytest.approx(1 / 3, abs=5 * math.sqrt(2 / 9 / 1e6))
    assert np.mean(draws) == pytest.approx(mean, abs=5 * u / 1e3)
    assert np.std(draws) == pytest.approx(u, rel=0.005)


def test_an_asymmetric_uncertainty_is_said_to_be_one() -> None:
    answer = propagate("2*x", {"x": "5.0 +0.2 -0.1"})
    assert [warning.kind for warning in answer.warnings] == ["distribution"]
    assert (
        "meet at 5, with the standard deviations 0.1 below and 0.2 above"
        in answer.warnings[0].message
    )
    # a sum stays a sum
    assert quantity("x", "5.0 + 0.2 - 0.1") == pytest.approx(5.1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("beta(2, 3)", "gives `beta` 2 numbers"),
        ("beta(2, 3, 1, 0)", "goes from 1 to 0"),
        ("gamma(0, 1)", "has the parameter 0"),
        ("poisson(-3)", "has the parameter -3"),
        ("exponential(0)", "has the parameter 0"),
        ("lognormal(0, -1)", "has the uncertainty -1"),
        ("lognormal(900, 1)", "too large"),
        ("twopiece(1, 0, 1)", "has the parameter 0"),
        ("5.0 +0 -0", "has an uncertainty of 0 on both sides"),
    ],
)
def test_what_is_no_distribution_is_refused(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        quantity("x", text)


def test_gamma_of_one_number_is_the_function() -> None:
    assert (
        not isinstance(quantity("x", "gamma(5)"), MeasuredValue) and quantity("x", "gamma(5)") == 24
    )
