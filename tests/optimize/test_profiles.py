"""Intervals by profile: bisection over the sum of squares, and numbers of lmfit's
`conf_interval`.
"""

from __future__ import annotations

import json
import math
import random
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import t as student

import autodiff_cli
from autodiff_cli import ExpressionError
from autodiff_cli.questions.parse_point import Range
from running import autodiff

MICHAELIS: dict[str, list[float]] = {"x": [0.5, 1, 2, 4, 6, 8], "y": [0.9, 1.9, 2.6, 4.9, 5.2, 6.9]}


def michaelis(**options: Any) -> Any:
    return autodiff_cli.fit("y = V*x/(K+x)", MICHAELIS, {"K": 3}, **options)


def _squares_at(k: float) -> float:
    x, y = (np.array(MICHAELIS[name]) for name in "xy")
    column = x / (k + x)
    return float(y @ y - (column @ y) ** 2 / (column @ column))


def test_the_interval_of_michaelis_and_menten() -> None:
    answer = michaelis()
    assert answer.interval_method == "profile"
    least = _squares_at(answer.point["K"])
    enough = least * (1 + float(student.ppf(0.975, 4)) ** 2 / 4)
    low, high = (
        brentq(lambda k: _squares_at(k) - enough, *ends, xtol=1e-12) for ends in ((1, 6), (7, 60))
    )
    assert answer.parameters["K"].interval == pytest.approx((low, high), rel=1e-6)
    # lmfit 1.3: conf_interval
    assert answer.parameters["K"].interval == pytest.approx((2.632, 25.04), rel=2e-4)


def test_linear_intervals_are_to_be_had_and_are_those_of_standard_errors() -> None:
    answer = michaelis(intervals="linear")
    assert answer.interval_method == "linear"
    assert answer.parameters["K"].interval == pytest.approx((0.244424, 12.3081), rel=1e-5)
    (warning,) = answer.warnings
    assert warning.kind == "profile" and warning.message.startswith(
        "the linear intervals mislead: second derivatives"
    )


@pytest.mark.parametrize(
    ("counts", "misleads"), [([1, 0, 2, 1, 4], True), ([4012, 4871, 6120, 7329, 9013], False)]
)
def test_linear_intervals_of_counts_mislead_where_those_by_profile_are_others(
    counts: list[float], misleads: bool
) -> None:
    columns = {"x": [0, 0.2, 0.4, 0.6, 0.8], "y": counts}
    ends = {
        kind: autodiff_cli.fit(
            "y = exp(a + b*x)", columns, {"a": 0, "b": 0}, loss="poisson", intervals=kind
        )
        for kind in ("linear", "profile")
    }
    linear, profile = (ends[kind].parameters["b"].interval for kind in ("linear", "profile"))
    assert linear and profile
    off = (
        max(abs(a - b) for a, b in zip(linear, profile, strict=True)) / (linear[1] - linear[0]) * 2
    )
    assert (off > 0.1) is misleads
    assert any(warning.kind == "profile" for warning in ends["linear"].warnings) is misleads
    assert not any(warning.kind == "profile" for warning in ends["profile"].warnings)


def test_intervals_of_a_linear_formula_are_linear() -> None:
    answer = autodiff_cli.fit("y = a + b*x", MICHAELIS, intervals="profile")
    assert answer.interval_method == "linear"


def test_a_curve_that_is_nearly_linear_over_its_errors_has_linear_intervals() -> None:
    x = np.linspace(0, 5, 30)
    y = 3 * np.exp(-0.5 * x) + 1e-3 * np.sin(37 * np.arange(30))
    answer = autodiff_cli.fit("y = a*exp(-k*x)", {"x": x.tolist(), "y": y.tolist()}, {"k": 1})
    assert answer.interval_method == "linear"
    both = [
        autodiff_cli.fit(
            "y = a*exp(-k*x)", {"x": x.tolist(), "y": y.tolist()}, {"k": 1}, intervals=method
        )
        for method in ("linear", "profile")
    ]
    for name in "ak":
        linear, profile = (fit.parameters[name].interval for fit in both)
        assert profile == pytest.approx(linear, rel=1e-4)


def test_an_end_that_the_data_leave_open_is_none() -> None:
    """A step of any slope fits: 1.16 of the least sum at k = 1000, where Student's t allows
    2.32.
    """
    x = [1.9736112176941356, 4.493881435694821, 5.261906981730404, 5.793461980362942]
    x += [6.688404197317077, 6.785481750157672, 9.703126430902785]
    y = [0.08747129970038649, -0.04448912420542407, 0.47545518272681186, 0.7228143060243604]
    y += [0.7106063764351588, 0.8533756305198046, 0.982840656812119]
    answer = autodiff_cli.fit("y = 1/(1+exp(-k*(x-c)))", {"x": x, "y": y}, {"k": 1.5, "c": 6})
    low, high = answer.parameters["k"].interval or (math.nan, math.nan)
    assert high is None and low == pytest.approx(0.618216, rel=1e-5)
    assert json.loads(str(json.dumps(answer.to_dict()["intervals"]["k"])))[1] is None


def test_the_screen_says_that_intervals_are_by_profile_and_propagate_says_it_too(
    tmp_path: Any,
) -> None:
    rows = "x,y\n" + "".join(f"{x},{y}\n" for x, y in zip(*MICHAELIS.values(), strict=True))
    path = tmp_path / "fit.json"
    shown = autodiff("fit", "y = V*x/(K+x)", "--data", "-", "--at", "K=3", stdin=rows)
    assert "2.6317 to 25.0403" in shown.out
    assert "intervals by the profile of the sum of squares" in shown.out
    autodiff(
        "fit", "y = V*x/(K+x)", "--data", "-", "--at", "K=3", "--output", str(path), stdin=rows
    )
    assert json.loads(path.read_text())["interval_method"] == "profile"
    result = autodiff("propagate", "V/K", "--fit", str(path), "--format", "plain")
    assert "its 95 % interval by profile is 2.6317 to 25.0403" in result.err


def test_a_robust_loss_has_no_profile() -> None:
    with pytest.raises(ExpressionError, match="intervals by profile are for least squares"):
        michaelis(intervals="profile", loss="huber")


def test_a_time_constant_of_a_straight_line_is_not_determined() -> None:
    """Ever longer ones fit ever better, and the standard error beside lost terms said
    5.107(25)e8.
    """
    data = {"x": [0.0, 1, 2, 3, 4, 5], "y": [1.0, 2.02, 2.97, 4.01, 5.0, 6.02]}
    answer = autodiff_cli.fit("y = a*exp(-x/t)+c", data, {"t": 1})
    assert not answer.converged
    assert {parameter.error for parameter in answer.parameters.values()} == {None}


@pytest.mark.parametrize("text", ["y = a*exp(b*x+c)", "y = a*exp(b*x)"])
def test_a_fit_that_did_not_converge_has_no_standard_errors(text: str) -> None:
    data = {"x": [2011.0, 2012, 2013, 2014, 2015], "y": [1.0, 1.3, 1.5, 1.9, 2.4]}
    start = {"b": 1.0, "c": 0.0} if "c" in text else {"b": 1.0}
    answer = autodiff_cli.fit(text, data, start)
    if "not converged" in answer.message:
        assert {parameter.error for parameter in answer.parameters.values()} == {None}
    else:
        # Gauss and Newton from 0.2 on x - 2013, by SciPy
        assert answer.point["b"] == pytest.approx(0.215623, abs=2e-6)


def test_no_interval_goes_over_a_minimum_that_the_search_rejected() -> None:
    """A peak between two rows has a smaller sum of squares, of which the data know nothing."""
    draw = random.Random(10)
    x = [6 * k / 7 for k in range(8)]
    y = [2 * math.exp(-(((t - 2) / 0.5) ** 2)) + 0.1 * t + draw.gauss(0, 0.05) for t in x]
    answer = autodiff_cli.fit("y = a*exp(-((x-m)/s)^2)+b*x", {"x": x, "y": y}, {"m": 4, "s": 1})
    assert answer.rss == pytest.approx(0.89913907)
    if answer.interval_method == "profile":
        assert any("the sum of squares is lower" in warning.message for warning in answer.warnings)
        assert {parameter.interval for parameter in answer.parameters.values()} == {None}


def test_the_others_and_the_corrections_of_uncertain_predictors_are_fitted_again() -> None:
    # the ends are of SciPy's least squares over both parameters and all six true predictors, and
    # bisection
    x, y = [0.5, 1, 2, 4, 6, 8], [0.9, 1.9, 2.6, 4.9, 5.2, 6.9]
    answer = autodiff_cli.fit(
        "y = V*x/(K+x)",
        {"x": x, "y": y},
        {"V": 15, "K": 10},
        sigma={"y": 0.3, "x": 0.2},
        intervals="profile",
    )
    assert answer.parameters["V"].interval == pytest.approx((9.1644963, 19.2559319), rel=2e-6)
    assert answer.parameters["K"].interval == pytest.approx((3.7103280, 13.9884303), rel=2e-6)


SCATTERED: dict[str, list[float]] = {
    "x": [0, 1, 2, 3, 4, 5],
    "y": [0.02, 0.05, 0.1, 0.09, 0.18, 0.17],
}


def _line_with_slope(b: float, least: float) -> float:
    x, y = (np.array(SCATTERED[name]) for name in "xy")
    a = max(least, float(np.mean(y - b * x)))
    return float(np.sum((y - a - b * x) ** 2))


def test_intervals_end_at_the_bounds_of_a_parameter_and_the_others_are_fitted_within_them() -> None:
    answer = autodiff_cli.fit("y = a + b*x", SCATTERED, bounds={"a": Range(0.01, 1)})
    slope, _ = np.polyfit(SCATTERED["x"], SCATTERED["y"], 1)
    least = _line_with_slope(slope, 0.01)
    enough = least * (1 + float(student.ppf(0.975, 4)) ** 2 / 4)
    ends = [
        brentq(lambda b: _line_with_slope(b, 0.01) - enough, *where, xtol=1e-12)
        for where in ((0, slope), (slope, 0.2))
    ]
    assert answer.interval_method == "profile"
    assert answer.parameters["b"].interval == pytest.approx(ends, rel=1e-6)
    assert answer.parameters["a"].interval == pytest.approx((0.01, 0.066353), rel=1e-4)


@pytest.mark.parametrize("more", [{"intervals": "linear"}, {"loss": "huber"}])
def test_linear_intervals_end_at_bounds_too(more: dict[str, str]) -> None:
    whole = autodiff_cli.fit("y = a + b*x", SCATTERED, **more)
    cut = autodiff_cli.fit("y = a + b*x", SCATTERED, bounds={"a": Range(0.01, 0.06)}, **more)
    assert cut.parameters["a"].interval == (0.01, 0.06)
    assert cut.parameters["b"].interval == pytest.approx(whole.parameters["b"].interval, rel=1e-6)
    if "intervals" in more:
        (warning,) = cut.warnings
        assert warning.message.startswith("the linear intervals mislead: a bound cuts that of `a`")
