"""Other starts: where an end is doubted, lower minima are found, and where residuals are not
random, that is said.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autodiff_cli.capabilities.optimize.fit import Fit, fit

Data = dict[str, list[float]]


def wave(rows: int, noise: float = 0.05, seed: int = 1) -> Data:
    """Rows of `sin(3*x)` with normal errors."""
    x = np.linspace(0.1, 5, rows)
    y = np.sin(3 * x) + noise * np.random.default_rng(seed).standard_normal(rows)
    return {"x": x.tolist(), "y": y.tolist()}


def peaks(x: np.ndarray) -> np.ndarray:
    """Two peaks on a constant background."""
    return 3.3 * np.exp(-(((x - 2.1) / 0.5) ** 2)) + 2.2 * np.exp(-(((x - 6.5) / 0.6) ** 2)) - 0.7


def kinds(answer: Fit) -> list[str]:
    return [warning.kind for warning in answer.warnings]


@pytest.mark.parametrize("start", [0.7, 1.5, 6, 8, 20])
@pytest.mark.parametrize("rows", [12, 40, 200])
def test_a_frequency_far_from_its_own_is_found(rows: int, start: float) -> None:
    answer = fit("y = a*sin(w*x)", wave(rows), {"a": 1, "w": start})
    assert answer.converged and answer.r_squared is not None and answer.r_squared > 0.98
    assert abs(answer.parameters["w"].estimate) == pytest.approx(3, abs=0.03)
    assert kinds(answer) == []


def test_peaks_that_start_at_other_places_are_found() -> None:
    """The curve from there explains 65 % of the squares, and one peak is taken for the other."""
    x = np.linspace(0, 10, 150)
    noise = 1e-3 * np.random.default_rng(4).standard_normal(150)
    data = {"x": x.tolist(), "y": (peaks(x) + noise).tolist()}
    start = {"a": 3.3, "m": 1.3, "s": 0.36, "b": 1.6, "n": 4.7, "r": 0.93, "c": -0.5}
    answer = fit("y = a*exp(-((x - m)/s)**2) + b*exp(-((x - n)/r)**2) + c", data, start)
    centres = sorted(answer.parameters[name].estimate for name in "mn")
    assert answer.converged and centres == pytest.approx([2.1, 6.5], abs=1e-2)
    assert kinds(answer) == []


def test_in_many_rows_a_lower_minimum_is_looked_for_in_a_sample() -> None:
    few, many = (fit("y = a*sin(w*x)", wave(rows), {"a": 1, "w": 8}) for rows in (400, 10_000))
    assert many.parameters["w"].estimate == pytest.approx(3, abs=1e-2)
    assert "from another start" in many.message and "from another start" in few.message
    # evaluations of all rows
    assert many.evaluations < 260


def test_random_residuals_need_no_other_start() -> None:
    answer = fit("y = a*sin(w*x)", wave(300), {"a": 1, "w": 2.9})
    assert answer.evaluations < 60 and "start" not in answer.message and kinds(answer) == []


WAVES: dict[str, tuple[Any, float, list[float]]] = {
    "a*sin(b*x + c)": (
        lambda x: 1.2 * np.sin(2.05 * x + 1.07),
        2.05,
        [0.42, 3.06, 3.3, 3.62, 4.13, 4.98, 5.28],
    ),
    "a*exp(-b*x)*cos(c*x)": (
        lambda x: 1.67 * np.exp(-1.68 * x) * np.cos(1.57 * x),
        1.68,
        [1.29, 1.64, 3.66, 4.59, 5.57],
    ),
    "a*sin(b*x + c) + d": (
        lambda x: 1.83 * np.sin(2.66 * x + 2.52) + 0.66,
        2.66,
        [0.29, 0.3, 1.2, 1.26, 1.4, 2.26, 3.83],
    ),
}


@pytest.mark.parametrize("formula", WAVES)
def test_a_curve_that_explains_most_of_the_squares_may_not_be_the_least(formula: str) -> None:
    """From the start the search comes to a minimum of 100 times the squares, with an R² that looks
    well.
    """
    curve, b, places = WAVES[formula]
    x = np.repeat(places, 3)
    noise = 0.01 * np.max(np.abs(curve(x))) * np.random.default_rng(1).standard_normal(len(x))
    start = {"a": 1, "b": 0.1 if "exp" in formula else 1, "c": 1 if "exp" in formula else 0, "d": 0}
    answer = fit(f"y = {formula}", {"x": x.tolist(), "y": (curve(x) + noise).tolist()}, start)
    assert answer.converged and float(answer.rss) <= float(noise @ noise)
    assert abs(answer.parameters["b"].estimate) == pytest.approx(b, rel=0.1)


def test_minima_that_the_data_do_not_tell_apart_are_named() -> None:
    x = np.arange(10.0)
    y = np.sin(1.1 * x) + 0.7 * np.random.default_rng(2).standard_normal(10)
    answer = fit("y = a*sin(b*x + c)", {"x": x.tolist(), "y": y.tolist()}, {"a": 1, "b": 1, "c": 0})
    # below the highest frequency that rows at these places show, which is pi
    assert answer.parameters["b"].estimate == pytest.approx(2.15, abs=0.01)
    assert kinds(answer) == ["minima", "no_interval"] and "b=0.9813" in answer.warnings[0].message


def test_a_minimum_of_scattered_data_is_not_left_for_a_peak_at_one_row() -> None:
    """A narrow enough peak takes the largest residual away, wherever in a range its centre is."""
    x = np.linspace(0.1, 6, 60)
    for seed in range(3):
        y = 12 - np.exp(-(((x - 1) / 2) ** 2)) + np.random.default_rng(seed).standard_normal(60)
        start = {"a": 1, "b": 1, "c": 1, "d": 0}
        answer = fit("y = a*exp(-((x - b)/c)**2) + d", {"x": x.tolist(), "y": y.tolist()}, start)
        assert answer.converged and abs(answer.parameters["c"].estimate) > 0.05


def test_standard_errors_at_a_kink_are_doubted() -> None:
    x = np.arange(12.0)
    y = 2 * np.abs(x - 5) + 1 + 0.1 * np.random.default_rng(1).standard_normal(12)
    smooth = fit(
        "y = a*abs(x - b) + c", {"x": x.tolist(), "y": (y + 0.5 * (x > 5)).tolist()}, {"b": 5.3}
    )
    y[5] -= 0.8
    answer = fit("y = a*abs(x - b) + c", {"x": x.tolist(), "y": y.tolist()}, {"b": 5.3})
    assert answer.converged and answer.parameters["b"].estimate == 5 and kinds(answer) == ["kink"]
    assert smooth.converged and smooth.parameters["b"].estimate != 5 and kinds(smooth) == []


def test_a_curve_that_is_not_that_of_the_data_is_warned_of() -> None:
    x = np.linspace(0, 5, 60)
    answer = fit("y = a*x + b", {"x": x.tolist(), "y": np.exp(-x).tolist()})
    assert answer.converged and kinds(answer) == ["residuals"]
    assert "the residuals are not random: 3 runs of one sign where" in answer.warnings[0].message


def test_normal_errors_are_seldom_said_not_to_be_random() -> None:
    """At most one in a thousand is, where the formula is right."""
    warned = 0
    for seed in range(300):
        random = np.random.default_rng(seed)
        x = np.sort(random.uniform(0, 10, 40))
        y = 2 * x - 1 + random.standard_normal(40)
        warned += kinds(fit("y = a*x + b", {"x": x.tolist(), "y": y.tolist()})) != []
    assert warned <= 3


def test_the_order_of_replicates_says_nothing() -> None:
    """Readings that were sorted at each place have runs of their own."""
    random = np.random.default_rng(3)
    x = np.repeat(np.arange(8.0), 10)
    y = (3 * x + 1).reshape(8, 10) + np.sort(random.standard_normal((8, 10)), axis=1)
    answers = [fit("y = a*x + b", {"x": x.tolist(), "y": y.ravel().tolist()})]
    shuffled = random.permutation(80)
    answers.append(
        fit("y = a*x + b", {"x": x[shuffled].tolist(), "y": y.ravel()[shuffled].tolist()})
    )
    for answer in answers:
        assert (
            kinds(answer) == []
            and answer.goodness.runs is not None
            and answer.goodness.runs.p_value > 0.1
        )
    assert answers[0].goodness.runs == answers[1].goodness.runs


def test_a_curve_that_is_farther_than_the_mean_is_warned_of() -> None:
    data = {"x": [1.0, 2, 3, 4, 5], "y": [5.0, 4.1, 2.9, 2.2, 0.8]}
    answer = fit("y = exp(a*x)", data, {"a": 0.1}, bounds=None)
    assert kinds(answer) == ["residuals"] and answer.r_squared is not None and answer.r_squared < 0
    assert answer.warnings[0].message.startswith("R² is -")


def test_a_fit_that_gets_stuck_ends_soon() -> None:
    # at five places the scatter leaves the slope of the step open
    y = (
        17,
        50,
        28,
        53,
        140,
        132,
        120,
        143,
        105,
        141,
        148,
        117,
        121,
        140,
        143,
        119,
        134,
        137,
        119,
        147,
    )
    columns = {
        "x": [x for x in (0.5, 2.79, 3.49, 3.51, 4.14) for _ in range(4)],
        "y": [each / 100 for each in y],
    }
    found = fit("y = a/(1 + exp(-b*(x - c)))", columns, {"a": 1, "b": 1, "c": 1})
    assert found.reason == "stuck" and found.rss == pytest.approx(0.342175)
    # 41,000 before each evaluation counted as work
    assert found.evaluations < 15_000


STEPS = {
    "logistic": "y = 1/(1+exp(-k*(x-c)))",
    "tanh": "y = tanh(k*(x-c))/2+1/2",
    "erf": "y = erf(k*(x-c))/2+1/2",
    "hill": "y = x**k/(c**k+x**k)",
    "hill of a quotient": "y = 1/(1+(c/x)**k)",
}


@pytest.mark.parametrize(("k", "c"), [(1, 3.1), (1, 3.3), (2, 3.7), (5, 3.5)])
@pytest.mark.parametrize("text", STEPS.values(), ids=STEPS)
def test_a_step_that_separates_the_data_determines_neither_its_width_nor_its_place(
    text: str, k: float, c: float
):
    """Every c between 3 and 4 fits as well, for k to infinity."""
    data: Data = {"x": [1.0, 2, 3, 4, 5, 6], "y": [0.0, 0, 0, 1, 1, 1]}
    answer = fit(text, data, {"k": k, "c": c})
    assert answer.reason == "undetermined"
    assert {answer.parameters[name].error for name in "kc"} == {None}
    assert any("`c`" in warning.message for warning in answer.warnings)


def test_a_step_with_a_row_between_determines_its_place():
    """The row is at half the height, so that c is 3.5."""
    data: Data = {"x": [1.0, 2, 3, 3.5, 4, 5, 6], "y": [0.01, 0.02, 0.1, 0.5, 0.9, 0.98, 0.99]}
    answer = fit(STEPS["logistic"], data, {"k": 1.0, "c": 3.3})
    assert answer.converged
    assert answer.parameters["c"].estimate == pytest.approx(3.5, rel=1e-9)
    assert answer.parameters["c"].error is not None


YEARS = {
    "x": [*range(2011, 2021)],
    "y": [10.1, 12.4, 15.2, 18.3, 22.6, 27.3, 33.5, 41.2, 49.8, 61.1],
}
"""Growth over years: the factor is 1e-174 where the rate is right, and anything elsewhere."""


@pytest.mark.parametrize(
    ("a", "b"), [(1, 1), (1, 0), (1, -1), (1, 0.1), (1, 0.5), (1e-300, 0.3), (1e10, -0.01)]
)
def test_growth_over_years_is_found_from_rates_that_overflow_or_underflow(
    a: float, b: float
) -> None:
    """SciPy's `curve_fit` from b = 0.2, with years counted from 2015: rss 0.1751663, b =
    0.19964784(67897).
    """
    answer = fit("y = a*exp(b*x)", YEARS, {"a": a, "b": b})
    assert answer.converged, answer.message
    assert answer.rss == pytest.approx(0.1751663, rel=1e-6)
    assert answer.point["b"] == pytest.approx(0.19964784, rel=1e-7)
    assert answer.point["a"] == pytest.approx(4.361323e-174, rel=1e-6)


FAR_STARTS = {
    "a power of 200": ("y = a*x**p", [1, 2, 3, 5, 8], [3.1, 17, 47, 168, 541], {"a": 1, "p": 200}, {"p": 2.5}),
    "a peak 30 widths away": (
        "y = h*exp(-(x - m)**2/(2*s**2))", [-1, 0, 0.5, 1, 1.5, 2, 3], [0.09, 0.92, 1.65, 2.01, 1.64, 0.91, 0.08],
        {"h": 1, "m": 25, "s": 0.8}, {"m": 1, "s": 0.8},
    ),
    "a slope of 1000": (
        "y = V*x**n/(K**n + x**n)", [0.3, 1, 2, 3, 5, 8, 12, 20], [0.1, 1, 3.1, 5, 7.3, 8.8, 9.4, 9.8],
        {"V": 1, "n": 1000, "K": 1}, {"V": 10, "n": 2, "K": 3},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAR_STARTS)
def test_starts_that_overflow_or_underflow_everywhere(name: str) -> None:
    formula, x, y, start, near = FAR_STARTS[name]
    answer = fit(formula, {"x": x, "y": y}, start)
    assert answer.converged, answer.message
    for parameter, value in near.items():
        assert answer.point[parameter] == pytest.approx(value, rel=0.05)
