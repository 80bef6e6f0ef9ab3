"""Fits held against NIST's certified values, against closed forms, and against another way to the
same numbers.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import operator
import random
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import curve_fit, least_squares

import autodiff_cli
from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.optimize import least_squares as models
from autodiff_cli.capabilities.optimize import normal_equations
from autodiff_cli.capabilities.optimize.fit import Fit, fit
from autodiff_cli.capabilities.optimize.inference import Parameter
from autodiff_cli.capabilities.optimize.observations import Observations
from autodiff_cli.capabilities.plot.frame import CELLS, in_sight
from autodiff_cli.data import columns as data_columns
from autodiff_cli.engine.numbers import budget
from autodiff_cli.questions.arithmetic import DOUBLE, arithmetic_of
from autodiff_cli.questions.parse_point import Range, with_text
from autodiff_cli.questions.problem import Problem, parse
from counting import allowed, counted_calls
from places import TESTS
from running import autodiff

NIST = TESTS / "corpora" / "nist"
"""NIST/ITL Statistical Reference Datasets, nonlinear regression: data, starts and certified
values.
"""

PROBLEMS = [
    json.loads(line) for line in (NIST / "problems.jsonl").read_text(encoding="utf-8").splitlines()
]
SMALL = [
    problem
    for problem in PROBLEMS
    if problem["name"] in ("Misra1a", "DanWood", "MGH09", "MGH10", "Lanczos3")
]


def columns_of(name: str) -> dict[str, list[float]]:
    with open(NIST / f"{name}.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {
        column: [with_text(float(row[column]), row[column].strip()) for row in rows]
        for column in rows[0]
    }


def asked(problem: dict[str, Any], start: str = "start2", **more: Any) -> Fit:
    given = {name: with_text(float(text), text) for name, text in problem[start].items()}
    return fit(problem["formula"], columns_of(problem["name"]), given, **more)


def digits(x: float, certified: str) -> float:
    """How many digits are right, as NIST counts them."""
    wanted = float(certified)
    return 99.0 if x == wanted else -math.log10(abs(x - wanted) / abs(wanted))


@pytest.mark.parametrize("start", ["start1", "start2"])
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem["name"])
def test_certified_values_from_both_starts(problem: dict[str, Any], start: str) -> None:
    found = asked(problem, start)
    assert found.converged and not found.null
    # the residuals of Lanczos1 are 1e-13 of the data, so that rounding leaves 3 digits of them, in
    # any doubles
    lost = 7.0 if problem["name"] == "Lanczos1" else 0.0
    for name, text in problem["certified"].items():
        each = found.parameters[name]
        # the certified values have 11 digits
        assert digits(float(each.estimate), text) >= 9.9
        assert (
            each.error is not None
            and digits(float(each.error), problem["standard_errors"][name]) >= 9.5 - lost
        )
    assert (
        found.deviation is not None
        and digits(float(found.deviation), problem["deviation"]) >= 9.5 - lost
    )
    assert digits(float(found.rss), problem["rss"]) >= 8 - lost
    assert found.evaluations < 2000


def test_residuals_that_are_lost_in_rounding_come_with_more_digits() -> None:
    problem = next(each for each in PROBLEMS if each["name"] == "Lanczos1")
    found = asked(problem, "start1", arithmetic=arithmetic_of(False, 30, False))
    assert digits(float(found.rss), problem["rss"]) >= 9.9
    for name, text in problem["standard_errors"].items():
        error = found.parameters[name].error
        assert error is not None and digits(float(error), text) >= 9.9


LINEAR = [
    json.loads(line) for line in (NIST / "linear.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("problem", LINEAR, ids=lambda problem: problem["name"])
def test_certified_values_of_linear_problems(problem: dict[str, Any]) -> None:
    """NIST/ITL StRD, linear regression: values of 15 digits."""
    for more, digits_right in (({}, 11.0), ({"arithmetic": arithmetic_of(False, 30, False)}, 14.0)):
        found = fit(problem["formula"], columns_of(problem["name"]), **more)
        assert found.converged and found.method == "one linear solve"
        for name, text in problem["certified"].items():
            estimate, error = found.parameters[name].estimate, found.parameters[name].error
            assert digits(float(estimate), text) >= digits_right
            assert (
                error is not None
                and digits(float(error), problem["standard_errors"][name]) >= digits_right
            )
        assert (
            found.deviation is not None
            and digits(float(found.deviation), problem["deviation"]) >= digits_right
        )
        assert digits(float(found.rss), problem["rss"]) >= digits_right
        assert found.r_squared == pytest.approx(float(problem["r_squared"]), abs=1e-9)


@pytest.mark.parametrize(
    ("text", "about_mean"),
    [("y = a + b*x", True), ("y = b*x", False), ("y = b*x + c*x**2", False), ("y = a*(1 + x) + b*(1 - x)", True),
     ("y = 2 + b*x", True), ("y = b*x + c*(x + 1)", True), ("y = a*exp(b*x)", True)],
)  # fmt: skip
def test_of_a_linear_model_without_a_constant_r_squared_is_about_0(
    text: str, about_mean: bool
) -> None:
    x, y = np.arange(1.0, 7), np.array([7.1, 8.9, 11.2, 12.8, 15.1, 17.0])
    weights = np.array([1.0, 2, 1, 3, 0, 1])
    found = fit(
        text, {"x": x, "y": y, "w": weights}, {"b": 0.1} if "exp" in text else None, weights="w"
    )
    middle = np.average(y, weights=weights) if about_mean else 0.0
    wanted = 1 - float(found.rss) / float(weights @ (y - middle) ** 2)
    assert found.r_squared == pytest.approx(wanted, rel=1e-12)


def assert_digits(found: Fit, problem: dict[str, Any], right: int) -> None:
    with mpmath.workdps(40):
        for name, text in problem["digits"].items():
            figure: Any = found.parameters[name].estimate
            exact = mpmath.mpf(text)
            assert abs(mpmath.mpf(figure.text) - exact) <= abs(exact) * mpmath.mpf(10) ** -right


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem["name"])
def test_many_digits(problem: dict[str, Any]) -> None:
    assert_digits(asked(problem, "start1", arithmetic=arithmetic_of(False, 30, False)), problem, 20)


@pytest.mark.parametrize("problem", SMALL, ids=lambda problem: problem["name"])
def test_proven_digits(problem: dict[str, Any]) -> None:
    found = asked(problem, arithmetic=arithmetic_of(False, None, True))
    assert_digits(found, problem, 16)
    for name, text in problem["standard_errors"].items():
        error: Any = found.parameters[name].error
        assert digits(float(error.text), text) >= 9.5


def test_a_parameter_in_which_the_formula_is_linear_needs_no_start() -> None:
    problem = next(each for each in PROBLEMS if each["name"] == "Gauss1")
    found = fit(
        problem["formula"],
        columns_of("Gauss1"),
        {"b2": 0.009, "b4": 65, "b5": 20, "b7": 178, "b8": 16.5},
    )
    assert [name for name, each in found.parameters.items() if each.linear] == ["b1", "b3", "b6"]
    assert all(
        digits(float(found.parameters[name].estimate), text) > 9
        for name, text in problem["certified"].items()
    )


@pytest.mark.parametrize(
    ("text", "linear"),
    [("y = a*b*x", ["a"]), ("y = a*x + b*x**2", ["a", "b"]), ("y = a*exp(b*x) + c", ["a", "c"]),
     ("y = a/(1 + b*x)", ["a"]),
     ("y = a*b + c*x", ["a", "c"]),
     # kinks and jumps in a parameter, conditions, and what is linear beside them
     ("y = a + b*x + relu(x - c)", ["a", "b"]), ("y = a + b*x + c*relu(x - 2)", ["a", "b", "c"]),
     ("y = a*x + floor(2*b)", ["a"]), ("y = (a if b < 0.6 else c)*x", ["a", "c"]), ("y = abs(a)*x + b", ["b"]),
     ("y = a*x if x < 2 else b + c*x", ["a", "b", "c"]), ("y = a*x if a < 2 else b", ["b"]),
     ("y = sum(a, b*x, 2) - mean(c, x)", ["a", "b", "c"]), ("y = prod(a, b, x) + c", ["a", "c"]),
     ("y = a**1*x + b**2", ["a"])],
)  # fmt: skip
def test_which_parameters_are_linear(text: str, linear: list[str]) -> None:
    draw = random.Random(2)
    data = {
        "x": [draw.uniform(1, 3) for _ in range(9)],
        "y": [draw.uniform(1, 3) for _ in range(9)],
    }
    found = fit(text, data, {"a": 1.5, "b": 0.5, "c": 0.3})
    assert [name for name, each in found.parameters.items() if each.linear] == linear


DELTA = [759, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 1838, -2048, 2048, -2048, 1838, -2048, 2048, -2048, 2523,
         -2048, 2048, -2048, 759]  # fmt: skip
WAMPLER = [
    # NIST/ITL StRD, linear regression, Wampler1 to 5: what the coefficients are, by how much the
    # data are off the polynomial, the certified standard error of b0, and how many digits the
    # conditioning leaves
    (1.0, 0, 0.0, 14.0), (0.1, 0, 0.0, 12.0), (1.0, 1, 2152.32624678170, 11.0), (1.0, 100, 215232.624678170, 10.0),
    (1.0, 10000, 21523262.4678170, 9.0),
]  # fmt: skip


@pytest.mark.parametrize(("ratio", "off", "error", "right"), WAMPLER)
def test_polynomials_by_one_linear_solve(
    ratio: float, off: int, error: float, right: float
) -> None:
    xs = list(range(21))
    ys = [sum(ratio**k * x**k for k in range(6)) + off * d for x, d in zip(xs, DELTA, strict=True)]
    found = fit("y = b0 + b1*x + b2*x**2 + b3*x**3 + b4*x**4 + b5*x**5", {"x": xs, "y": ys})
    assert found.converged and found.method == "one linear solve"
    for k in range(6):
        assert abs(float(found.parameters[f"b{k}"].estimate) / ratio**k - 1) <= 10**-right
    if off:
        told = found.parameters["b0"].error
        assert told is not None and math.isclose(float(told), error, rel_tol=1e-9)


def test_beside_another_fitter() -> None:
    """SciPy's `curve_fit`, which differentiates by differences, gives the same covariance to fewer
    digits.
    """
    draw = np.random.default_rng(4)
    x = np.linspace(0, 4, 40)
    sigma = draw.uniform(0.05, 0.2, 40)
    y = 2.5 * np.exp(-1.3 * x) + 0.5 + sigma * draw.standard_normal(40)
    data = {"x": x, "y": y, "s": sigma, "w": 1 / sigma**2}
    estimates, absolute = curve_fit(
        lambda x, a, k, c: a * np.exp(-k * x) + c, x, y, [1, 1, 0], sigma=sigma, absolute_sigma=True
    )
    _, relative = curve_fit(lambda x, a, k, c: a * np.exp(-k * x) + c, x, y, [1, 1, 0], sigma=sigma)
    start = {"a": 1, "k": 1, "c": 0}
    known, weighed = (
        fit("y = a*exp(-k*x) + c", data, start, sigma="s"),
        fit("y = a*exp(-k*x) + c", data, start, weights="w"),
    )
    for found, covariance in ((known, absolute), (weighed, relative)):
        for i, (name, each) in enumerate(found.parameters.items()):
            if name not in "akc":
                continue
            k = "akc".index(name)
            assert math.isclose(float(each.estimate), estimates[k], rel_tol=1e-5)
            assert each.error is not None and math.isclose(
                float(each.error), math.sqrt(covariance[k, k]), rel_tol=1e-4
            ), i
    r = known.correlation["a"]["k"]
    assert math.isclose(
        r, absolute[0, 1] / math.sqrt(absolute[0, 0] * absolute[1, 1]), rel_tol=1e-4
    )


def test_a_straight_line_by_its_formulas() -> None:
    x, y = [1.0, 2.0, 4.0, 5.0, 7.5], [2.1, 2.9, 5.2, 5.8, 8.9]
    found = fit("y = a + b*x", {"x": x, "y": y}, level=0.9)
    n, mx, my = 5, sum(x) / 5, sum(y) / 5
    sxx = sum((t - mx) ** 2 for t in x)
    b = sum((t - mx) * (u - my) for t, u in zip(x, y, strict=True)) / sxx
    a = my - b * mx
    s = math.sqrt(sum((u - a - b * t) ** 2 for t, u in zip(x, y, strict=True)) / (n - 2))
    slope = found.parameters["b"]
    assert math.isclose(float(slope.estimate), b, rel_tol=1e-13)
    assert slope.error is not None and math.isclose(
        float(slope.error), s / math.sqrt(sxx), rel_tol=1e-12
    )
    assert slope.interval is not None
    # Student's t for 3 degrees of freedom and 90 %: 2.35336
    assert math.isclose(
        slope.interval[1] - b, 2.3533634348018264 * s / math.sqrt(sxx), rel_tol=1e-10
    )
    leverage = [1 / n + (t - mx) ** 2 / sxx for t in x]
    for t, u, h, standard in zip(x, y, leverage, found.standardised, strict=True):
        assert standard is not None
        assert math.isclose(standard, (u - a - b * t) / (s * math.sqrt(1 - h)), rel_tol=1e-9)
    assert math.isclose(
        found.band[0] or 0, 2.3533634348018264 * s * math.sqrt(leverage[0]), rel_tol=1e-10
    )
    for t, height, half in found.curve:
        assert math.isclose(height, a + b * t, rel_tol=1e-12)
        assert math.isclose(
            half, 2.3533634348018264 * s * math.sqrt(1 / n + (t - mx) ** 2 / sxx), rel_tol=1e-10
        )


# ---- what is held, bounded, not determined --------------------------------------------------------------------------
LINE = {"x": [0.0, 1.0, 2.0, 3.0], "y": [1.1, 2.9, 5.2, 6.9]}


def test_what_is_held_has_no_standard_error() -> None:
    found = fit("y = a + b*x", LINE, fixed={"b": 2})
    assert found.parameters["b"] == Parameter(2.0, None, None, False, "fixed") and found.dof == 3
    assert math.isclose(float(found.parameters["a"].estimate), 1.025)
    bounded = fit("y = a + b*x", LINE, bounds={"b": Range(0, 1.5)})
    assert bounded.parameters["b"].held == "bound" and bounded.parameters["b"].error is None
    assert (
        math.isclose(float(bounded.parameters["b"].estimate), 1.5, rel_tol=1e-9)
        and "at a bound: b" in bounded.message
    )
    inside = fit("y = a + b*x", LINE, bounds={"b": Range(0, 9)})
    assert math.isclose(float(inside.parameters["b"].estimate), 1.97, rel_tol=1e-6)


@pytest.mark.parametrize(
    ("text", "at", "names"),
    [("y = a + b*x + c*x", {}, {"b", "c"}), ("y = a*b*x + c", {"b": 1}, {"a", "b"}),
     ("y = a*exp(k*x + d)", {"k": 0.5, "d": 0}, {"a", "d"})],
)  # fmt: skip
def test_what_the_data_cannot_tell_apart_is_named(
    text: str, at: dict[str, float], names: set[str]
) -> None:
    found = fit(text, LINE, at)
    assert not found.converged and found.reason == "undetermined"
    assert [set(direction) for direction in found.null] == [names]
    for name, each in found.parameters.items():
        assert (each.error is None) == (name in names) == (each.held == "undetermined")
    assert any(warning.kind == "undetermined" for warning in found.warnings)


@pytest.mark.parametrize("at", [{}, {"k": 0.1}, {"k": -3}])
@pytest.mark.parametrize("text", ["y = a*exp(-k*x)", "y = a*(1 + x)**k", "y = a/(1 + k*x)"])
@pytest.mark.parametrize("scale", [1e-30, 5.0, 1e30])
def test_readings_that_are_all_the_same_have_the_rate_0(
    text: str, at: dict[str, float], scale: float
) -> None:
    found = fit(text, {"x": [1.0, 2, 3, 4], "y": [scale] * 4}, at)
    assert found.converged and found.dof == 2 and not found.null
    # of a sum of squares of 0, at k = 0 alone
    assert found.point["k"] == 0 and math.isclose(found.point["a"], scale, rel_tol=1e-14)


def test_a_place_that_is_0_by_symmetry_is_0() -> None:
    x = [-3.0, -2, -1, 0, 1, 2, 3]
    y = [round(4 * math.exp(-t * t / 3), 3) for t in x]
    found = fit("y = A*exp(-(x - mu)**2/(2*s**2))", {"x": x, "y": y}, {"mu": 0.4, "s": 1})
    assert found.converged and found.point["mu"] == 0 and (found.parameters["mu"].error or 0) > 1e-5


def test_a_number_that_is_small_with_a_large_effect_is_not_0() -> None:
    x = [0.0, 1e20, 2e20, 3e20]
    found = fit("y = a*exp(-k*x)", {"x": x, "y": [math.exp(-t / 1e20) for t in x]})
    assert math.isclose(found.point["k"], 1e-20, rel_tol=1e-9)


def test_as_many_parameters_as_rows_leave_no_error() -> None:
    found = fit("y = a + b*x", {"x": [1, 2], "y": [2, 4]})
    assert found.converged and found.dof == 0 and found.deviation is None
    assert all(each.error is None and each.interval is None for each in found.parameters.values())


def test_a_robust_loss_forgives_an_outlier() -> None:
    draw = random.Random(8)
    x = [k / 4 for k in range(40)]
    y = [1 + 2 * t + draw.gauss(0, 0.05) for t in x]
    y[7] += 30
    plain = fit("y = a + b*x", {"x": x, "y": y})
    for loss in ("soft_l1", "huber", "cauchy"):
        found = fit("y = a + b*x", {"x": x, "y": y}, loss=loss)
        assert (
            abs(float(found.parameters["b"].estimate) - 2)
            < 0.02
            < abs(float(plain.parameters["b"].estimate) - 2)
        )
        assert not found.warnings


@pytest.mark.parametrize("loss", ["soft_l1", "huber", "cauchy"])
def test_robust_standard_errors_are_how_much_estimates_scatter(loss: str) -> None:
    """Over many samples of noise, of which a tenth is ten times as wide."""
    draw = np.random.default_rng(3)
    x = np.linspace(0, 4, 60)
    estimates, errors = [], []
    for _ in range(100):
        noise = np.where(draw.random(60) < 0.1, 1.0, 0.1) * draw.standard_normal(60)
        found = fit("y = a + b*x", {"x": x, "y": 1 + 2 * x + noise}, loss=loss).parameters["b"]
        assert found.error is not None
        estimates.append(float(found.estimate))
        errors.append(float(found.error))
    assert np.mean(errors) == pytest.approx(np.std(estimates), rel=0.2)


def test_a_poor_start_is_told() -> None:
    problem = next(each for each in PROBLEMS if each["name"] == "Misra1a")
    found = fit(problem["formula"], columns_of("Misra1a"), {"b1": 500, "b2": 1})
    assert found.converged and "had ended badly" in found.message
    assert digits(float(found.parameters["b2"].estimate), problem["certified"]["b2"]) > 9


def test_a_fit_ends_when_it_is_to() -> None:
    problem = PROBLEMS[0]
    found = asked(problem, stop=lambda: True)
    assert found.reason == "interrupted" and not found.converged
    # once there is an end point, the best one is returned
    x = [k / 10 for k in range(60)]
    y = [math.sin(3 * each) * math.exp(-each / 3) + each * each / 20 for each in x]
    evaluations = itertools.count()
    found = fit(
        "y = a*sin(b*x)*exp(-c*x)",
        {"x": x, "y": y},
        {"b": 1, "c": 1},
        stop=lambda: next(evaluations) > 1000,
    )
    assert (
        found.reason == "interrupted"
        and "the best values so far" in found.message
        and found.rss < 20
    )
    # so it is within the first search
    columns, start = {"x": x, "y": [math.exp(-3 * each) for each in x]}, {"a": 5, "b": 0.3}
    calls = itertools.count()
    found = fit(
        "y = a*exp(-b*x)", columns, start, bounds={"b": Range(0, 9)}, stop=lambda: next(calls) > 4
    )
    assert (
        found.reason == "interrupted"
        and "the best values so far, by trust regions" in found.message
    )
    assert found.rss < sum((5 * math.exp(-0.3 * each) - math.exp(-3 * each)) ** 2 for each in x) / 2


def test_a_fit_that_is_stopped_later_is_no_worse() -> None:
    # 2,000 rows, so that a sample of them is searched too
    draw = random.Random(3)
    x = [k / 100 for k in range(2000)]
    columns = {"x": x, "y": [1.3 * math.sin(2.1 * t + 0.4) + 0.2 + draw.gauss(0, 0.3) for t in x]}
    before = math.inf
    for stop_after in (2, 4, 10, 16, 20, 24, 28, 58, 80, 240, 320):
        calls = itertools.count()
        start = {"w": 2.2, "p": 0, "a": 3, "c": 1}
        found = fit("y = a*sin(w*x + p) + c", columns, start, stop=lambda: next(calls) > stop_after)  # noqa: B023
        assert found.reason == "interrupted" and found.rss <= before * (1 + 1e-9), (
            stop_after,
            found.rss,
            before,
        )
        before = found.rss
    assert before < 178.2


def test_a_fit_that_is_stopped_returns_no_end_that_its_strategy_rejected() -> None:
    # a peak narrower than the distance of the rows has a smaller sum of squares, of which the data
    # know nothing
    draw = random.Random(10)
    x = [6 * k / 7 for k in range(8)]
    y = [2 * math.exp(-(((t - 2) / 0.5) ** 2)) + 0.1 * t + draw.gauss(0, 0.05) for t in x]
    for stop_after in (250, 400, 700, 100_000):
        calls = itertools.count()
        start, stops = {"m": 4, "s": 1}, lambda: next(calls) > stop_after  # noqa: B023
        found = fit("y = a*exp(-((x-m)/s)^2)+b*x", {"x": x, "y": y}, start, stop=stops)
        assert found.rss == pytest.approx(0.89913907) and found.point["s"] == pytest.approx(
            3.23, rel=1e-3
        )
        assert (found.reason == "interrupted") == (stop_after < 1000)


def test_a_fit_that_is_stopped_after_its_sample_was_searched_returns_the_end_of_the_sample() -> (
    None
):
    draw = random.Random(10)
    x = [6 * k / 1499 for k in range(1500)]
    y = [2 * math.exp(-(((t - 2) / 0.5) ** 2)) + 0.1 * t + draw.gauss(0, 0.1) for t in x]
    calls = itertools.count()
    start, stops, bounds = {"m": 4, "s": 1}, lambda: next(calls) > 400, {"b": Range(-9, 9)}
    found = fit("y = a*exp(-((x-m)/s)^2) + b*x", {"x": x, "y": y}, start, bounds=bounds, stop=stops)
    assert found.reason == "interrupted" and "from another start" in found.message
    assert found.rss < 15 and found.point["m"] == pytest.approx(2, abs=0.05)


# ---- converged is what meets the first-order conditions -------------------------------------------------------------
REPLICATES = {
    "t": [0.0, 1.0, 2.0, 4.0] * 3,
    "y": [4.05, 2.87, 2.26, 1.47, 3.93, 2.93, 2.18, 1.52, 4.01, 2.91, 2.2, 1.5],
}


def _decay_of(t: Any, c: float, a: float, k: float) -> Any:
    return c + a * np.exp(-k * np.array(t))


def test_rows_in_any_order_give_one_fit() -> None:
    draw = random.Random(5)
    order = list(range(12))
    wanted, _ = curve_fit(
        _decay_of, REPLICATES["t"], REPLICATES["y"], [1, 3, 0.5], xtol=1e-12, ftol=1e-12
    )
    for _ in range(4):
        found = fit(
            "y = c + a*exp(-k*t)",
            {n: [x[k] for k in order] for n, x in REPLICATES.items()},
            {"k": 0.5},
        )
        assert found.converged and [n for n, each in found.parameters.items() if each.linear] == [
            "c",
            "a",
        ]
        assert found.point == pytest.approx(dict(zip("cak", wanted, strict=True)), rel=1e-5)
        draw.shuffle(order)
    assert fit("y = c + a*exp(-k*t)", REPLICATES).point == pytest.approx(found.point, rel=1e-6)


def test_bounds_do_not_end_the_search_early() -> None:
    problem = next(each for each in PROBLEMS if each["name"] == "MGH10")
    found = asked(problem, "start1", bounds={name: Range(0, None) for name in ("b1", "b2", "b3")})
    assert found.converged
    for name, text in problem["certified"].items():
        assert digits(float(found.parameters[name].estimate), text) > 9


@pytest.mark.parametrize("more", [{}, {"bounds": {"c": Range(0, 9)}}, {"sigma": 1.0}])
def test_the_least_sum_may_be_at_a_kink(more: dict[str, Any]) -> None:
    """The derivatives from both sides are far from 0, and none of them leads down."""
    found = fit("y = abs(x - c)", {"x": [0.0, 1.0, 2.0], "y": [1.1, -1.0, 0.9]}, {"c": 0.6}, **more)
    assert found.converged and "to a kink" in found.message
    assert found.parameters["c"].estimate == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize("more", [{}, {"bounds": {"c": Range(0, 9)}}, {"sigma": 1.0}])
def test_what_does_not_meet_the_conditions_is_no_fit(more: dict[str, Any]) -> None:
    """The sum falls towards a jump, at which it is no minimum."""
    x = [0.0, 1.0, 2.0, 3.0]
    found = fit("y = x*c*sign(2 - c)", {"x": x, "y": [5 * each for each in x]}, {"c": 1.5}, **more)
    assert not found.converged and found.reason == "stuck"
    assert "standard errors; start elsewhere (`--at`), or hold a parameter" in found.message


@pytest.mark.parametrize(
    "arithmetic", [arithmetic_of(False, 30, False), arithmetic_of(False, None, True)]
)
@pytest.mark.parametrize(
    ("text", "start"),
    [("y = x*c*sign(2 - c)", {"c": 1.5}), ("y = a*b*x + c", {"a": 1.0, "b": 1.0})],
)
def test_a_search_that_did_not_converge_is_not_certified(
    text: str, start: dict[str, float], arithmetic: Any
) -> None:
    x = [0.0, 1.0, 2.0, 3.0]
    found = fit(text, {"x": x, "y": [5 * each for each in x]}, start, arithmetic=arithmetic)
    assert not found.converged and found.arithmetic == DOUBLE
    assert "not_converged" in {warning.kind for warning in found.warnings}


def test_data_that_lie_on_the_curve_are_a_fit() -> None:
    xs = [k / 2 for k in range(12)]
    found = fit(
        "y = a*exp(-k*x) + c", {"x": xs, "y": [2 * math.exp(-0.5 * x) + 1 for x in xs]}, {"k": 1}
    )
    assert found.converged and found.point == pytest.approx({"a": 2, "k": 0.5, "c": 1}, rel=1e-12)


def test_a_bound_is_met_where_the_estimate_is_it() -> None:
    data = {"x": [1e9, 2e9, 3e9, 4e9], "y": [0.1, 0.21, 0.29, 0.4]}
    tiny = fit("y = a*x + b", data, {"a": 1e-9}, bounds={"a": Range(0, None)}).parameters["a"]
    assert (
        tiny.held == ""
        and tiny.error is not None
        and math.isclose(float(tiny.estimate), 9.8e-11, rel_tol=1e-9)
    )
    data["y"].reverse()
    held = fit("y = a*x + b", data, {"a": 1e-9}, bounds={"a": Range(0, None)}).parameters["a"]
    assert held.held == "bound" and held.estimate == 0 and held.error is None


OUTLIER = {
    "x": [k / 4 for k in range(40)],
    "y": [1 + k / 2 + 0.1 * math.sin(17.0 * k**2) + 30 * (k == 7) for k in range(40)],
}


INFLUENCE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "soft_l1": (lambda u: u / np.sqrt(1 + u * u), lambda u: (1 + u * u) ** -1.5),
    "huber": (lambda u: np.clip(u, -1, 1), lambda u: (np.abs(u) <= 1) * 1.0),
    "cauchy": (lambda u: u / (1 + u * u), lambda u: (1 - u * u) / (1 + u * u) ** 2),
}
"""ψ and its derivative."""


@pytest.mark.parametrize("loss", ["soft_l1", "huber", "cauchy"])
def test_the_scale_of_a_loss(loss: str) -> None:
    plain = fit("y = a + b*x", OUTLIER, loss=loss)
    # rows of weight 0 count for nothing, and neither do units
    weighed = {
        "x": [*OUTLIER["x"], 1, 2, 3],
        "y": [*OUTLIER["y"], 100, -100, 3],
        "w": [1] * 40 + [0] * 3,
    }
    beside = fit("y = a + b*x", weighed, loss=loss, weights="w")
    scaled = fit(
        "y = a + b*x", {"x": OUTLIER["x"], "y": [1e6 * y for y in OUTLIER["y"]]}, loss=loss
    )
    for name, each in plain.parameters.items():
        assert each.error is not None
        for other, unit in ((beside, 1), (scaled, 1e6)):
            error = other.parameters[name].error
            assert float(other.parameters[name].estimate) == pytest.approx(
                unit * float(each.estimate), rel=1e-9
            )
            assert error is not None and float(error) == pytest.approx(
                unit * float(each.error), rel=1e-9
            )
    assert beside.standardised[40:] == [None] * 3
    # by the formula (Huber 1981, 7.6.8) with the scale that SciPy's minimum is that of
    left = np.abs(
        np.polyval(np.polyfit(OUTLIER["x"], OUTLIER["y"], 1), OUTLIER["x"]) - OUTLIER["y"]
    )
    x, y = np.array(OUTLIER["x"]), np.array(OUTLIER["y"])
    scale = 1.4826 * float(np.median(left))
    again = least_squares(
        lambda p: y - p[0] - p[1] * x, [1, 2], loss=loss, f_scale=scale, xtol=1e-14, gtol=1e-14
    ).x
    assert [plain.point["a"], plain.point["b"]] == pytest.approx(list(again), rel=1e-6)
    psi, bent = INFLUENCE[loss]
    u = (y - plain.point["a"] - plain.point["b"] * x) / scale
    mean, n = np.mean(bent(u)), len(u)
    correction = 1 + 2 / n * np.var(bent(u)) / mean**2
    variance = correction**2 * np.sum(psi(u) ** 2) / (n - 2) / mean**2 * scale**2
    rows = np.column_stack([np.ones(n), x])
    errors = np.sqrt(variance * np.diagonal(np.linalg.inv(rows.T @ rows)))
    assert [float(plain.parameters[name].error or 0) for name in "ab"] == pytest.approx(
        errors.tolist(), rel=1e-7
    )
    stopped = fit("y = a + b*x", OUTLIER, loss=loss, stop=lambda: True)
    assert stopped.reason == "interrupted"


@pytest.mark.parametrize("loss", ["soft_l1", "huber", "cauchy"])
def test_a_loss_with_known_uncertainties_has_their_scale_and_their_errors(loss: str) -> None:
    """The scatter of the estimates over many samples; residuals that are all small say nothing
    else.
    """
    draw = np.random.default_rng(6)
    x = np.linspace(0, 4, 60)
    samples = [fit("y = a + b*x", {"x": x, "y": 1 + 2 * x + 0.1 * draw.standard_normal(60)}, loss=loss, sigma=0.1)
               for _ in range(150)]  # fmt: skip
    errors = {float(found.parameters["b"].error or 0) for found in samples}
    assert max(errors) == pytest.approx(min(errors), rel=1e-9)
    assert max(errors) == pytest.approx(np.std([found.point["b"] for found in samples]), rel=0.15)
    # the asymptotic variance of normal residuals: E ψ²/(E ψ′)²
    psi, bent = INFLUENCE[loss]
    square, slope = (
        2
        * quad(
            lambda u, f=f: f(u) * math.exp(-u * u / 2) / math.sqrt(2 * math.pi), 0, 12, points=[1.0]
        )[0]
        for f in (lambda u: psi(u) ** 2, bent)
    )
    expected = 0.1 * math.sqrt(square / slope**2 / np.sum((x - np.mean(x)) ** 2))
    assert max(errors) == pytest.approx(expected, rel=1e-5 if loss == "huber" else 1e-6)
    interval = samples[0].parameters["b"].interval
    assert interval is not None and interval[1] - interval[0] == pytest.approx(
        2 * 1.959964 * max(errors), rel=1e-6
    )


@pytest.mark.parametrize("size", [1e150, 1e200, 1e-170])
def test_data_whose_squares_are_no_doubles_are_refused(size: float) -> None:
    with pytest.raises(ExpressionError, match="for its squares in doubles") as caught:
        fit("y = a + b*x", {"x": LINE["x"], "y": [size * y for y in LINE["y"]]})
    assert caught.value.hint is not None and "unit" in caught.value.hint


@pytest.mark.parametrize("size", [1e120, 1e-120])
def test_units_do_not_matter(size: float) -> None:
    plain, found = (
        fit("y = a + b*x", {"x": LINE["x"], "y": [u * y for y in LINE["y"]]}) for u in (1.0, size)
    )
    for name, each in plain.parameters.items():
        error = found.parameters[name].error
        assert found.point[name] == pytest.approx(size * float(each.estimate), rel=1e-12)
        assert error is not None and float(error) == pytest.approx(
            size * float(each.error or 0), rel=1e-9
        )


@pytest.mark.parametrize(
    "arithmetic",
    [arithmetic_of(False, 30, False), arithmetic_of(False, None, True)],
    ids=["30", "certified"],
)
def test_as_many_rows_as_parameters_in_many_digits(arithmetic: Any) -> None:
    data = {"x": [1, 2], "y": [2, 4.5]}
    found = fit("y = a + b*x", data, arithmetic=arithmetic)
    assert {name: float(each.estimate) for name, each in found.parameters.items()} == {
        "a": -0.5,
        "b": 2.5,
    }
    assert found.deviation is None
    assert all(each.error is None and each.interval is None for each in found.parameters.values())
    known = fit("y = a + b*x", data, sigma=0.1, arithmetic=arithmetic).parameters["b"]
    assert known.error is not None and float(known.error) == pytest.approx(math.sqrt(0.02))


@pytest.mark.parametrize(
    "arithmetic", [DOUBLE, arithmetic_of(False, 30, False), arithmetic_of(False, None, True)]
)
@pytest.mark.parametrize(
    ("text", "y", "start", "values"),
    [
        ("y = a + b*x", ["1.2", "1.5", "1.8", "2.1"], {}, [0.9, 0.3]),
        ("y = a + b*x", ["0.1"] * 4, {}, [0.1, 0.0]),
        ("y = a + b*x", ["0"] * 4, {}, [0.0, 0.0]),
        ("y = a + b*exp(-25*x)", ["0.1"] * 4, {}, [0.1, 0.0]),
        ("y = a*x**b", ["0.3", "1.2", "2.7", "4.8"], {"b": 1.0}, [0.3, 2.0]),
    ],
)
def test_data_that_the_formula_meets_exactly_have_errors_of_0(
    text: str, y: list[str], start: dict[str, float], values: list[float], arithmetic: Any
) -> None:
    data = {"x": [1, 2, 3, 4], "y": [with_text(float(each), each) for each in y]}
    found = fit(text, data, start, arithmetic=arithmetic)
    if arithmetic == DOUBLE and start:
        # of a nonlinear formula only many digits show that the sum of squares is 0
        assert found.converged and float(found.rss) < 1e-28
        return
    assert (
        found.converged and [float(each.estimate) for each in found.parameters.values()] == values
    )
    errors = [each.error for each in found.parameters.values()]
    assert [error is not None and float(error) for error in errors] == [0.0, 0.0]
    assert float(found.rss) == 0 and found.deviation is not None and float(found.deviation) == 0


# NIST/ITL StRD, nonlinear regression, Eckerle4
ECKERLE = {
    "x": [400.0, 405, 410, 415, 420, 425, 430, 435, 436.5, 438, 439.5, 441, 442.5, 444, 445.5, 447, 448.5, 450, 451.5,
          453, 454.5, 456, 457.5, 459, 460.5, 462, 463.5, 465, 470, 475, 480, 485, 490, 495, 500],
    "y": [0.0001575, 0.0001699, 0.0002350, 0.0003102, 0.0004917, 0.0008710, 0.0017418, 0.0046400, 0.0065895, 0.0097302,
          0.0149002, 0.0237310, 0.0401683, 0.0712559, 0.1264458, 0.2073413, 0.2902366, 0.3445623, 0.3698049, 0.3668534,
          0.3106727, 0.2078154, 0.1164354, 0.0616764, 0.0337200, 0.0194023, 0.0117831, 0.0074357, 0.0022732, 0.0008800,
          0.0004579, 0.0002345, 0.0001586, 0.0001143, 0.0000710],
}  # fmt: skip


@pytest.mark.parametrize(
    ("start", "signs"),
    [({"b1": 1, "b2": 10, "b3": 500}, (1, 1)), ({"b1": 1.5, "b2": 5, "b3": 450}, (1, 1)),
     ({"b1": -1, "b2": -10, "b3": 500}, (-1, -1)), ({"b2": -5, "b3": 450}, (-1, -1)), ({"b2": 10, "b3": 500}, (1, 1))],
)  # fmt: skip
def test_of_mirror_images_the_one_on_the_side_of_the_start(
    start: dict[str, float], signs: tuple[int, int]
) -> None:
    found = fit("y = (b1/b2)*exp(-0.5*((x - b3)/b2)**2)", ECKERLE, start)
    wanted = {"b1": signs[0] * 1.5543827178, "b2": signs[1] * 4.0888321754, "b3": 451.54121844}
    assert found.converged and found.point == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    ("text", "start", "name", "period"),
    [
        ("y = A*cos(w*t + p) + c", {"w": 1.3, "p": 0.5}, "p", 2 * math.pi),
        ("y = A*cos(w*t + p) + c", {"w": 1.3, "p": 7}, "p", 2 * math.pi),
        ("y = A*sin(w*t + p) + c", {"w": 1, "p": 0}, "p", 2 * math.pi),
        ("y = A*cos(w*t + p*pi/180) + c", {"w": 1.3, "p": 30}, "p", 360),
        ("y = A*cos(2*pi*(f*t + p)) + c", {"f": 0.21, "p": 0.1}, "p", 1),
        ("y = A*sin(w*(t - s)) + c", {"w": 1.3, "s": 12}, "s", 2 * math.pi / 1.3),
        ("y = A*sin(2*pi*(t - s)/T) + c", {"T": 4.9, "s": -20}, "s", 4.9),
    ],
)
def test_of_equal_phases_the_one_next_to_the_start(
    text: str, start: dict[str, float], name: str, period: float
) -> None:
    draw = random.Random(1)
    t = [0.25 * k for k in range(40)]
    data = {"t": t, "y": [2 * math.sin(1.3 * x + 0.4) + 0.5 + draw.gauss(0, 0.05) for x in t]}
    found = fit(text, data, start)
    assert found.converged and found.r_squared is not None and found.r_squared > 0.99
    assert abs(found.point[name] - start[name]) < 0.51 * period


def test_a_frequency_is_not_moved_to_one_that_agrees_at_the_data_only() -> None:
    data = {
        "t": [float(k) for k in range(12)],
        "y": [2 * math.sin(0.5 * k + 0.3) for k in range(12)],
    }
    found = fit("y = A*sin(w*t + p)", data, {"w": 0.5 + 2 * math.pi, "p": 0.3})
    assert found.point["w"] == pytest.approx(0.5 + 2 * math.pi, abs=1e-6)
    start = {"w": 0.5 - 8 * math.pi, "p": 0.3}
    assert fit("y = A*sin(w*t + p)", data, start).point["w"] == pytest.approx(start["w"], abs=1e-6)


@pytest.mark.parametrize(
    ("text", "start", "wanted"),
    [
        ("y = a*exp(-p*x) + b*exp(-q*x)", {"p": 2, "q": 0.2}, {"a": 3.0, "p": 1.5, "b": 1.0, "q": 0.3}),
        ("y = a*exp(-p*x) + b*exp(-q*x)", {"p": 0.2, "q": 2}, {"a": 1.0, "p": 0.3, "b": 3.0, "q": 1.5}),
        # two terms that are not of one form
        ("y = 3*exp(-p*x) + 1*exp(-q*x)", {"p": 1.2, "q": 1.3}, {"p": 1.5, "q": 0.3}),
        ("y = exp(-p*x) + exp(-q*x) + exp(-r*x)", {"p": 3, "q": 0.1, "r": 0.9}, {"p": 2.0, "q": 0.2, "r": 0.7}),
        ("y = exp(-p*x) + exp(-q*x) + exp(-r*x)", {"p": 0.1, "q": 1, "r": 4}, {"p": 0.2, "q": 0.7, "r": 2.0}),
        ("y = exp(-p*x) + exp(-q*x) + exp(-r*x)", {"p": 1, "q": 4, "r": 0.1}, {"p": 0.7, "q": 2.0, "r": 0.2}),
        ("y = a*exp(-((x-m)/s)**2) + b*exp(-((x-n)/t)**2)", {"m": 6, "s": 1, "n": 2, "t": 1},
         {"a": 1.0, "m": 7.0, "s": 2.0, "b": 2.0, "n": 2.5, "t": 1.0}),
    ],
)  # fmt: skip
def test_terms_of_one_form_are_in_the_order_of_their_starts(
    text: str, start: dict[str, float], wanted: dict[str, float]
) -> None:
    x = np.linspace(0.1, 10, 60)
    _, _, right = text.partition("= ")
    y = eval(right, {"x": x, "exp": np.exp, **wanted})  # noqa: S307
    found = fit(text, {"x": x, "y": y}, start)
    assert found.converged and found.point == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("start", [{"c": -1}, {"a": 0.3, "b": 1, "c": -2}, {"c": 6}])
def test_an_end_that_does_not_tell_parameters_apart_is_no_end_where_other_places_do(
    start: dict[str, float],
) -> None:
    x = np.linspace(0.2, 5, 40)
    y = 1 + 0.5 * np.abs(x - 3) + 0.01 * np.sin(37 * x)
    found = fit("y = a + b*abs(x - c)", {"x": x, "y": y}, start)
    best = min(
        (
            least_squares(lambda v: v[0] + v[1] * np.abs(x - v[2]) - y, [1, 0.5, c])
            for c in np.linspace(2.8, 3.2, 41)
        ),
        key=lambda each: each.cost,
    )
    assert found.converged and float(found.rss) <= 2 * best.cost * (1 + 1e-9)


def test_what_no_place_tells_apart_stays_undetermined() -> None:
    x = np.linspace(0.2, 5, 40)
    found = fit("y = a*b*x + c", {"x": x, "y": 2 * x + 1 + 0.01 * np.sin(37 * x)}, {"a": 1, "b": 1})
    assert found.reason == "undetermined" and found.evaluations < 100


@pytest.mark.parametrize("start", [0.06, 0.1, 0.5])
def test_residuals_far_beyond_their_uncertainties_are_a_reason_to_look_elsewhere(
    start: float,
) -> None:
    x = np.linspace(0.2, 5, 40)
    y = 4 * np.exp(-2 * x) - 1 + 1e-5 * np.sin(37 * x)
    found = fit("y = 4*exp(-k*x) + c", {"x": x, "y": y}, {"k": start}, sigma=1e-5)
    assert found.converged and found.point == pytest.approx({"k": 2, "c": -1}, rel=1e-5)


def test_an_exchange_stays_inside_the_bounds() -> None:
    x = np.linspace(0.1, 10, 60)
    data = {"x": x, "y": 3 * np.exp(-1.5 * x) + np.exp(-0.3 * x)}
    bounds = {"p": Range(1.0, 5.0)}
    found = fit("y = a*exp(-p*x) + b*exp(-q*x)", data, {"p": 1.1, "q": 3.0}, bounds=bounds)
    assert found.point == pytest.approx({"a": 3.0, "p": 1.5, "b": 1.0, "q": 0.3}, rel=1e-6)


def test_a_row_of_weight_0_needs_no_value() -> None:
    data = {"x": [0, 1, 2, 4], "y": [9, 1, 2, 3.2], "w": [0, 1, 1, 1]}
    found = fit("y = a*log(x) + b", data, weights="w")
    rest = fit("y = a*log(x) + b", {name: column[1:] for name, column in data.items()}, weights="w")
    assert found.converged and found.point == pytest.approx(rest.point, rel=1e-12)


def _decay(t: Any, p: Any) -> Any:
    return p[0] + p[1] * np.exp(-p[2] * t)


def _peak(t: Any, p: Any) -> Any:
    return p[0] + p[1] * np.exp(-(((t - p[2]) / p[3]) ** 2))


def _saturated(t: Any, p: Any) -> Any:
    return p[0] * t / (p[1] + t)


def _bent(t: Any, p: Any) -> Any:
    return p[0] + p[1] * t + p[2] * np.maximum(t - p[3], 0)


SHAPES: list[tuple[str, Any, list[float], list[int]]] = [
    ("y = p0 + p1*exp(-p2*t)", _decay, [1.0, 3.0, 0.8], [0, 0, -1]),
    ("y = p0 + p1*exp(-((t - p2)/p3)**2)", _peak, [0.5, 4.0, 5.0, 0.8], [0, 0, 1, 1]),
    ("y = p0*t/(p1 + t)", _saturated, [5.0, 2.0], [0, 1]),
    ("y = p0 + p1*t + p2*relu(t - p3)", _bent, [1.0, 0.5, 2.0, 5.0], [0, -1, -1, 1]),
]


@pytest.mark.parametrize("seed", range(48))
def test_beside_another_search(seed: int) -> None:
    """A fit that has converged is a minimum, no worse than what SciPy's search comes to from its
    start.
    """
    draw = np.random.default_rng(seed)
    text, curve, truth, powers = SHAPES[seed % 4]
    unit = float(draw.choice([1e-6, 1.0, 1.0, 2e6]))
    t = np.linspace(0.1, 10, 20) if seed % 8 < 4 else np.tile(np.linspace(0.1, 10, 8), 3)
    draw.shuffle(t)
    true = [
        x * draw.uniform(0.8, 1.2) * unit**power for x, power in zip(truth, powers, strict=True)
    ]
    start = [x * draw.uniform(0.85, 1.2) for x in true]
    t = t * unit
    y = curve(t, true) + 0.05 * draw.standard_normal(len(t))
    names = [f"p{k}" for k in range(len(true))]
    bounds = (
        {name: Range(0.5 * x, 1.3 * x) for name, x in zip(names, start, strict=True)}
        if seed % 3 == 1
        else {}
    )
    low, high = (
        [bounds[n][side] if n in bounds else sign * math.inf for n in names]
        for side, sign in ((0, -1), (1, 1))
    )
    loss = "soft_l1" if seed % 5 == 2 else "linear"
    found = fit(
        text, {"t": t, "y": y}, dict(zip(names, start, strict=True)), bounds=bounds, loss=loss
    )
    here = [found.point[name] for name in names]
    assert all(a <= x <= b for a, x, b in zip(low, here, high, strict=True))
    # only at a kink may it be that no point meets the conditions
    assert found.converged or (text == SHAPES[3][0] and found.reason == "stuck")

    plain = fit(text, {"t": t, "y": y}, dict(zip(names, start, strict=True)), bounds=bounds)
    scale = 1.4826 * float(np.median(np.abs(plain.residuals))) if loss != "linear" else 1.0

    def search(p: Any) -> float:
        with np.errstate(all="ignore"):
            return float(least_squares(
                lambda p: y - curve(t, p), p, bounds=(low, high), loss=loss, f_scale=scale,
                x_scale=np.abs(p), xtol=1e-14, ftol=1e-14, gtol=1e-14, jac="3-point",
            ).cost)  # fmt: skip

    square = ((y - curve(t, here)) / scale) ** 2
    ours = (
        0.5
        * scale**2
        * float(np.sum(square if loss == "linear" else 2 * (np.sqrt(1 + square) - 1)))
    )
    assert not found.converged or ours <= min(search(here), search(start)) * (1 + 1e-7)


def test_many_digits_are_those_of_the_decimals_in_a_file(tmp_path: Path) -> None:
    columns = columns_of("Misra1a")
    rows = "".join(f"{x},{y}\n" for x, y in zip(columns["x"], columns["y"], strict=True))
    (tmp_path / "misra1a.csv").write_text("x,y\n" + rows, encoding="utf-8")
    command = (
        "fit",
        "y = b1*(1 - exp(-b2*x))",
        "--data",
        "misra1a.csv",
        "--at",
        "b2=1e-4",
        "--precision",
        "30",
    )
    shown = autodiff(*command, "--format", "plain", folder=tmp_path)
    assert (
        shown.out == "b1=238.942129178861708329483496815 b2=0.000550156431805913559667362266064\n"
    )
    # numbers of more digits than doubles have, and a fraction: the line by hand, in fractions
    x = [
        Fraction("0.1234567890123456789012"),
        Fraction("1.000000000000000000001"),
        Fraction("2.5"),
        Fraction(1, 3),
    ]
    y = [Fraction(1), Fraction(3), Fraction("5.5"), Fraction(2)]
    slope = (4 * sum(map(operator.mul, x, y)) - sum(x) * sum(y)) / (
        4 * sum(t * t for t in x) - sum(x) ** 2
    )
    cells = ("0.1234567890123456789012,1", "1.000000000000000000001,3", "2.5,5.5", "1/3,2")
    (tmp_path / "line.csv").write_text("\n".join(("x,y", *cells, "")), encoding="utf-8")
    command = ("fit", "y = a + b*x", "--data", "line.csv", "--precision", "30")
    found = autodiff(*command, "--format", "plain", folder=tmp_path).out.split("b=")[1]
    assert abs(Fraction(found) - slope) < Fraction(1, 10**28)


def test_data_of_too_many_numbers_is_refused_while_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(data_columns, "MAX_NUMBERS", 100)
    taken = 0

    def rows() -> Iterator[str]:
        nonlocal taken
        yield "x,y\n"
        while True:
            taken += 1
            yield "1,2\n"

    class Endless(io.RawIOBase):
        texts = rows()

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            text = next(self.texts).encode()
            buffer[: len(text)] = text
            return len(text)

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(Endless())))
    with pytest.raises(ExpressionError, match="more than 100 numbers"):
        data_columns.read_columns(["-"], lambda names: names)
    assert taken < 60


# ---- bad input ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "data", "at", "more", "kind", "message"),
    [
        ("a + b*x", LINE, {}, {}, "usage", "the response, the column that the formula predicts, is not given"),
        ("q = a + b*x", LINE, {}, {}, "usage", "the data has no column `q`"),
        ("q = 2; a + b*x", LINE, {}, {}, "usage", "the response, the column that the formula predicts, is not given"),
        ("a + b*x", LINE, {}, {"response": "z"}, "usage", "no column `z`"),
        ("a + b*y", LINE, {}, {"response": "y"}, "usage", "`y` is the response, and the formula uses it"),
        ("y = a + b*x", LINE, {"x": 2}, {}, "point", "`x` is given a value, and is a column"),
        ("y = a*log(-exp(k) - x**2)", LINE, {}, {}, "missing_value", "`k` has no start"),
        ("y = log(a) + b*x", LINE, {"a": -1}, {}, "domain", "row 1 of the data|undefined at -1"),
        ("y = a*log(x)", LINE, {}, {}, "domain", "undefined at 0"),
        ("y = 2*x", LINE, {}, {}, "usage", "no parameter to fit"),
        ("y = a + b*x + c*x**2 + d*x**3 + f*x**4", LINE, {}, {}, "usage", "4 rows of data cannot determine 5"),
        ("y = a + b*x", LINE, {}, {"sigma": "z"}, "usage", "no column `z`"),
        ("y = a + b*x", LINE, {}, {"sigma": 0.0}, "point", "`--sigma` has the uncertainty 0"),
        ("y = a + b*x", {**LINE, "s": [1, 1, -2, 1]}, {}, {"sigma": "s"}, "point", "uncertainty -2 in row 3"),
        ("y = a + b*x", {**LINE, "w": [1, -1, 2, 1]}, {}, {"weights": "w"}, "point", "`w` has the weight -1 in row 2"),
        ("y = a + b*x", {**LINE, "w": [0, 0, 0, 0]}, {}, {"weights": "w"}, "point", "all weights in column `w` are 0"),
        ("y = a + b*x", {**LINE, "w": [0, 0, 0, 1]}, {}, {"weights": "w"}, "usage", "1 row of data cannot determine 2"),
        ("y = a + b*x", LINE, {"a": 5}, {"bounds": {"a": Range(0, 1)}}, "usage", "outside its bounds"),
        ("y = a + b*x", LINE, {}, {"bounds": {"q": Range(0, 1)}}, "usage", "`q` has bounds and is not fitted"),
        ("y = a + b*x", LINE, {"a": 5}, {"fixed": {"a": 4}}, "point", "a start and is held at another value"),
        ("a, b", LINE, {}, {"response": "y"}, "type", "2 outputs"),
    ],
)  # fmt: skip
def test_bad_input(
    text: str,
    data: dict[str, list[float]],
    at: dict[str, float],
    more: dict[str, Any],
    kind: str,
    message: str,
) -> None:
    with pytest.raises(ExpressionError, match=message) as caught:
        fit(text, data, at, **more)
    assert caught.value.kind == kind and caught.value.hint


def test_options_that_do_not_go_together() -> None:
    for given, message in (({"sigma": 1.0, "weights": "x"}, "exclude each other"), ({"loss": "square"}, "cannot be"),
                           ({"data": None}, "`data` is required")):  # fmt: skip
        with pytest.raises(ExpressionError, match=message) as caught:
            autodiff_cli.fit("y = a + b*x", **{"data": LINE, **given})  # type: ignore[arg-type]
        assert caught.value.kind == "usage" and caught.value.hint


def test_files_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    data = tmp_path / "line.csv"
    data.write_text("x,y\n0,1.1\n1,2.9\n2,5.2\n3,6.9\n", encoding="utf-8")
    table, point, picture = tmp_path / "r.csv", tmp_path / "p.json", tmp_path / "fit.svg"
    command = (
        "fit",
        "y = a + b*x",
        "--data",
        str(data),
        "--residuals",
        str(table),
        "--save-point",
        str(point),
    )
    assert autodiff(*command, "--output", str(picture)).code == 0
    assert table.read_text(encoding="utf-8").startswith(
        "x,y,fitted,residual,standardised\n0.0,1.1,1.07,"
    )
    assert set(json.loads(point.read_text(encoding="utf-8"))) == {"a", "b"}
    assert ">95 % confidence<" in picture.read_text(encoding="utf-8")
    assert (
        autodiff("grad", "a + b*x", "--at", f"@{point}", "--at", "x=1", "--format", "plain").code
        == 0
    )
    for path in (table, point, picture):
        path.unlink()
    data.write_text("x,y\n0,1.1\n1,oops\n2,5\n", encoding="utf-8")
    failed = autodiff(*command, "--output", str(picture))
    assert failed.code == 2 and f"{data}, line 3: column `y`" in failed.err
    assert not (table.exists() or point.exists() or picture.exists())


def test_residuals_are_written_with_the_data_as_they_are(tmp_path: Path) -> None:
    data, table = tmp_path / "d.csv", tmp_path / "r.csv"
    ys = [0.1, 0.7, 1e-9, 12.3]
    data.write_text(
        'x,"y,1"\n' + "".join(f"{k},{y!r}\n" for k, y in enumerate(ys)), encoding="utf-8"
    )
    command = (
        "fit",
        "a + b*x",
        "--response",
        "y,1",
        "--data",
        str(data),
        "--residuals",
        str(table),
    )
    assert autodiff(*command).code == 0
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["x", "y,1", "fitted", "residual", "standardised"]
    assert [float(row[1]) for row in rows[1:]] == ys and {len(row) for row in rows} == {5}


def test_a_picture_of_many_rows_has_a_dot_where_any_is_and_a_bounded_number() -> None:
    xs = [k / 10_000 for k in range(20_000)]
    ys = [math.sin(7919.0 * k) for k in range(20_000)]
    xs[3], ys[5] = 50.0, -40.0
    shown = in_sight(xs, ys)
    assert {3, 5} <= {*shown} and len(shown) <= CELLS**2 and len({*shown}) == len(shown)
    near = {(round(xs[k] / 50 * CELLS), round(ys[k] / 41 * CELLS)) for k in shown}
    for k in range(0, 20_000, 7):
        column, row = round(xs[k] / 50 * CELLS), round(ys[k] / 41 * CELLS)
        assert any((column + a, row + b) in near for a in (-1, 0, 1) for b in (-1, 0, 1))
    assert in_sight(xs[:5_000], ys[:5_000]) == [*range(5_000)]
    assert in_sight([1.0] * 6_000, [2.0] * 6_000) == [0]


def test_the_picture_says_how_many_rows_it_shows(tmp_path: Path) -> None:
    data, picture = tmp_path / "many.csv", tmp_path / "fit.svg"
    rows = (f"{k / 20_000},{k / 20_000 + math.sin(7919.0 * k) / 9}" for k in range(20_000))
    data.write_text("x,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert autodiff("fit", "y = a + b*x", "--data", str(data), "--output", str(picture)).code == 0
    text = picture.read_text(encoding="utf-8")
    assert re.search(r">data \([\d,]+ of 20,000 drawn\)<", text) and len(text) < 2_000_000


# ---- work ---------------------------------------------------------------------------------------------------------
def decaying(rows: int) -> dict[str, list[float]]:
    x = [1 + 9 * k / rows for k in range(rows)]
    return {
        "x": x,
        "y": [2.5 * math.exp(-0.3 * each) + 0.01 * math.sin(k * k) for k, each in enumerate(x)],
    }


@pytest.mark.parametrize("digits", [None, 50])
@pytest.mark.parametrize(
    "text", ["y = a*x + b", "y = a*exp(-b*x)", "y = a*gamma(x + b)", "y = a*x**b + a*b"]
)
def test_proven_digits_of_a_row_are_counted_for_what_they_cost(
    text: str, digits: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, arithmetic = decaying(40), arithmetic_of(False, digits, digits is None)
    sharpened = normal_equations.estimates_in
    spent: list[tuple[float, int]] = []

    def counted(*given: Any) -> dict[str, Any]:
        (work,) = made
        before = work.left
        with counted_calls() as count:
            found = sharpened(*given)
        spent.append((before - work.left, count.total))
        return found

    monkeypatch.setattr(normal_equations, "estimates_in", counted)
    made = allowed(monkeypatch)
    fit(text, data, {"a": 1, "b": 1}, arithmetic=arithmetic)
    ((steps, calls),) = spent
    # a step is a microsecond, and so are some five calls
    assert calls < 6 * steps


@pytest.mark.parametrize(("digits", "option"), [(None, "certified"), (30, "precision")])
def test_digits_of_too_many_rows_are_refused_at_the_first(
    digits: int | None, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, arithmetic = decaying(30_000), arithmetic_of(False, digits, digits is None)
    swept: list[object] = []
    original = normal_equations.hessian_in

    def noted(m: Any, *given: Any) -> Any:
        swept.append(m)
        return original(m, *given)

    monkeypatch.setattr(normal_equations, "hessian_in", noted)
    with pytest.raises(ExpressionError) as caught:
        fit("y = a*exp(-b*x)", data, {"a": 1, "b": 1}, arithmetic=arithmetic)
    assert caught.value.kind == "limit" and len(swept) == 1
    hint = re.fullmatch(
        f"give fewer rows, or leave out `--{option}`, or allow more: `--work [0-9]+`",
        caught.value.hint,
    )
    assert hint, caught.value.hint


def test_what_a_fit_may_take_grows_with_the_rows_as_far_as_some_evaluations_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = allowed(monkeypatch)
    few, many = fit("y = a*x + b", decaying(1000)), fit("y = a*x + b", decaying(21_000))
    assert [many.rows, few.rows] == [21_000, 1000]
    first, last = made
    assert last.most - first.most == pytest.approx(200 * 20_000)
    assert (
        20_000 * few.evaluations
        <= (last.most - last.left) - (first.most - first.left)
        <= 40_000 * few.evaluations
    )
    # how long a search takes that is far from any solution depends on the processor's rounding
    monkeypatch.setattr(budget, "STEPS", 40_000)
    monkeypatch.setattr(budget, "STEPS_A_CHARACTER", 0)
    with pytest.raises(ExpressionError, match="more than the 40,000 steps") as caught:
        fit("y = gamma(a*x + b) + sin(c*x*a)", decaying(5000), {"a": 1, "b": 1, "c": 3})
    assert (
        caught.value.kind == "limit"
        and caught.value.hint == "give fewer rows, or allow more: `--work 10`"
    )


def _notched(x: np.ndarray, kink: np.ndarray, place: int) -> np.ndarray:
    """A bent line with an odd row at its kink, so that the squares are least where the kink is at
    that abscissa.
    """
    return kink + 0.05 * np.cos(7 * x) - 0.3 * (np.arange(len(x)) == place)


@pytest.mark.parametrize(
    ("text", "start", "columns"),
    [
        (
            "y = a + b*x + relu(x - c)",
            {"c": 4.2},
            lambda x, a, b, c: a + b * x + np.maximum(x - c, 0),
        ),
        (
            "y = a + b*x + relu(x - c)",
            {"c": 6.6},
            lambda x, a, b, c: a + b * x + np.maximum(x - c, 0),
        ),
        ("y = a + b*x + max(x, c)", {"c": 4.2}, lambda x, a, b, c: a + b * x + np.maximum(x, c)),
    ],
)
def test_a_fit_that_is_least_at_a_kink_has_converged(
    text: str, start: dict[str, float], columns: Any
) -> None:
    x = np.arange(12.0)
    y = _notched(x, 1 + 0.5 * x + np.maximum(x - 5, 0), 5)
    found = fit(text, {"x": x.tolist(), "y": y.tolist()}, start)
    assert found.converged, found.message
    assert abs(found.parameters["c"].estimate - 5) < 1e-9
    assert "to a kink" in found.message
    at = {name: float(parameter.estimate) for name, parameter in found.parameters.items()}
    rng = np.random.default_rng(1)
    for length in (1e-2, 1e-4, 1e-6):
        for step in rng.normal(size=(40, len(at))):
            moved = {
                name: value + length * d for (name, value), d in zip(at.items(), step, strict=True)
            }
            assert np.sum((y - columns(x, **moved)) ** 2) >= found.rss * (1 - 1e-12)


def test_the_estimates_at_a_kink_are_those_of_the_least_squares_there() -> None:
    x = np.arange(12.0)
    y = 2 * np.exp(-0.4 * abs(x - 5)) + 0.05 * np.cos(7 * x) + 0.3 * (x == 5)
    found = fit(
        "y = a*exp(-k*abs(x - c))", {"x": x.tolist(), "y": y.tolist()}, {"a": 2, "k": 0.5, "c": 4.6}
    )
    assert found.converged and "to a kink" in found.message
    there = curve_fit(
        lambda x, a, k: a * np.exp(-k * abs(x - 5)), x, y, [2, 0.5], xtol=1e-15, ftol=1e-15
    )[0]
    at = [float(found.parameters[name].estimate) for name in "cka"]
    assert at == pytest.approx([5, there[1], there[0]], rel=1e-7)


def test_where_the_squares_fall_from_a_kink_is_no_minimum() -> None:
    # the cost of -abs(c) has a peak at c = 0, from which gradients of both signs make a hull around
    # 0 too
    problem = Problem(parse("0*x - abs(c)"), {}, {}, [], [], ["c"])
    model = models.Model(
        problem, Observations({"x": [0, 0], "y": [-3, -3]}, "y", ["x"], {}, None, None)
    )
    end = models.EndPoint(np.array([1e-12]), model([1e-12]).cost, 1.0, "there")
    there = models.at_kink(model, end)
    assert abs(abs(there.values[0]) - 3) < 1e-5 or there.moved == 1.0


def test_the_correlation_of_an_exact_fit_is_that_of_the_rows() -> None:
    """Without noise it is still -Σx/√(nΣx²) for a line, as with noise of any size."""
    answer = fit("y = a + b*x", {"x": [0.5, 1.5, 2.5], "y": [1234.5, 2345.5, 3456.5]})
    assert answer.rss < 1e-18
    assert answer.correlation["a"]["b"] == pytest.approx(-4.5 / math.sqrt(3 * 8.75), rel=1e-12)


@pytest.mark.filterwarnings("error")
def test_a_standard_error_too_large_for_doubles_is_none(tmp_path: Path) -> None:
    # only the tail of the peak is in the data, so that the height goes to the largest double
    x = (0.395, 0.398, 0.462, 0.899, 1.650, 2.164, 2.525, 2.693, 3.086, 5.340, 5.516)
    y = (0.037, 0.034, 0.014, 0.004, -0.008, -0.004, -0.011, 0.002, -0.003, 0.002, 0.004)
    data = tmp_path / "tail.csv"
    data.write_text(
        "x,y\n" + "".join(f"{a},{b}\n" for a, b in zip(x, y, strict=True)), encoding="utf-8"
    )
    formula = ("y = a*exp(-((x - b)/c)**2)", "--data", str(data), "--at", "a=1,b=1,c=1")
    answer = json.loads(autodiff("fit", *formula, "--json").out)
    assert answer["parameters"]["a"] > 1e308
    assert answer["standard_errors"]["a"] is None and answer["intervals"]["a"] is None
    # the search has not converged, so no other has one either
    assert answer["reason"] == "stuck" and {*answer["standard_errors"].values()} == {None}
    assert answer["correlation"] == {}


def test_a_fit_that_ends_badly_near_its_origin_is_not_told_to_count_elsewhere() -> None:
    x = [10.0 + k for k in range(8)]
    answer = fit("y = a*(1 - exp(-b*x))", {"x": x, "y": [3 * each for each in x]})
    assert not answer.converged
    assert [warning for warning in answer.warnings if warning.kind == "origin"] == []


def test_times_far_below_0_are_counted_from_the_first_too() -> None:
    t = [-1700000000.0 + 60 * i for i in range(12)]
    y = [5 * math.exp(-0.003 * 60 * i) * (1 + 0.01 * (-1) ** i) for i in range(12)]
    (far,) = [w for w in fit("y = a*exp(-k*t)", {"t": t, "y": y}).warnings if w.kind == "origin"]
    assert far.message.startswith("`t` is 2.6e+06 times its range away from 0")
    assert "write `(t + 1700000000)`" in str(far.hint)


@pytest.mark.parametrize("formula", ["y = a*exp(-k*t)", "y = a*exp(-k*t) + c", "y = a*2**(-t/T)"])
def test_a_decay_over_unix_times_is_told_to_count_from_the_first(formula: str) -> None:
    t = [1_700_000_000.0 + 60 * i for i in range(12)]
    y = [5 * math.exp(-0.003 * 60 * i) * (1 + 0.01 * (-1) ** i) for i in range(12)]
    answer = fit(formula, {"t": t, "y": y})
    assert not answer.converged
    (hint,) = [warning.hint for warning in answer.warnings if warning.kind == "origin"]
    assert hint == "count from the first row: write `(t - 1700000000)` for `t` in the formula"
    shifted = fit("y = a*exp(-k*(t - 1700000000))", {"t": t, "y": y})
    assert shifted.converged and not shifted.warnings[1:]
    # the same rows in seconds since the first
    near = fit("y = a*exp(-k*t)", {"t": [x - t[0] for x in t], "y": y})
    for name in ("a", "k"):
        assert shifted.parameters[name].estimate == pytest.approx(
            near.parameters[name].estimate, rel=1e-7
        )
    assert shifted.parameters["k"].estimate == pytest.approx(0.003, rel=0.03)


def test_a_product_with_a_column_is_no_parameter() -> None:
    """`y = a*x**2 + bx + c` was a parabola without a slope at 0, and two constants."""
    rows = {"x": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 3.0, 7.0, 13.0]}
    with pytest.raises(ExpressionError, match="`bx` may be one name or a product") as refused:
        fit("y = a*x**2 + bx + c", rows)
    assert refused.value.hint is not None and "`b*x`" in refused.value.hint
