"""χ², information criteria and tests of residuals, beside SciPy's distributions and complete
enumeration.
"""

from __future__ import annotations

import math
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import autodiff_cli
from autodiff_cli.capabilities.optimize.inference import EXACT_RUNS, anderson_darling, runs_test
from autodiff_cli.capabilities.propagate.propagate import estimates_of_fit, propagate

LINE: dict[str, Any] = {
    "x": [0.0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    "y": [1.02, 1.9, 3.2, 3.9, 5.1, 5.8, 7.2, 7.9, 9.05, 9.9],
    "s": [0.1, 0.1, 0.2, 0.1, 0.1, 0.1, 0.2, 0.1, 0.1, 0.15],
}


def test_known_uncertainties_give_chi_squared_and_the_likelihood_of_the_data() -> None:
    answer = autodiff_cli.fit("y = a + b*x", LINE, sigma="s")
    x, y, s = (np.array(LINE[name]) for name in "xys")
    fitted = answer.point["a"] + answer.point["b"] * x
    goodness = answer.goodness
    chi_squared = float(np.sum(((y - fitted) / s) ** 2))
    assert goodness.chi_squared == pytest.approx(chi_squared) and answer.rss == goodness.chi_squared
    assert goodness.reduced == pytest.approx(chi_squared / 8)
    assert goodness.p_value == pytest.approx(float(stats.chi2.sf(chi_squared, 8)), rel=1e-12)
    assert goodness.log_likelihood == pytest.approx(
        float(np.sum(stats.norm.logpdf(y, fitted, s))), rel=1e-12
    )
    assert goodness.aic == pytest.approx(2 * 2 - 2 * goodness.log_likelihood)
    assert goodness.bic == pytest.approx(2 * math.log(10) - 2 * goodness.log_likelihood)
    assert answer.deviation is None and answer.absolute_sigma


def test_an_estimated_variance_counts_as_a_parameter() -> None:
    answer = autodiff_cli.fit("y = a + b*x", LINE)
    x, y = np.array(LINE["x"]), np.array(LINE["y"])
    fitted = answer.point["a"] + answer.point["b"] * x
    sigma = math.sqrt(float(np.mean((y - fitted) ** 2)))
    log_likelihood = float(np.sum(stats.norm.logpdf(y, fitted, sigma)))
    goodness = answer.goodness
    assert goodness.log_likelihood == pytest.approx(log_likelihood, rel=1e-12)
    assert goodness.aic == pytest.approx(2 * 3 - 2 * log_likelihood)
    assert goodness.bic == pytest.approx(3 * math.log(10) - 2 * log_likelihood)
    assert goodness.chi_squared is goodness.reduced is goodness.p_value is None
    assert (
        answer.deviation == pytest.approx(sigma * math.sqrt(10 / 8)) and not answer.absolute_sigma
    )


def test_weights_enter_the_likelihood() -> None:
    weights = [1.0, 4, 1, 0, 1, 1, 2, 1, 1, 1]
    answer = autodiff_cli.fit("y = a + b*x", {**LINE, "w": weights}, weights="w")
    x, y, w = np.array(LINE["x"]), np.array(LINE["y"]), np.array(weights)
    used = w > 0
    left = y - answer.point["a"] - answer.point["b"] * x
    sigma = math.sqrt(float(w @ left**2) / 9)
    assert answer.goodness.log_likelihood == pytest.approx(
        float(np.sum(stats.norm.logpdf(left[used], 0, sigma / np.sqrt(w[used])))), rel=1e-12
    )


@pytest.mark.parametrize("options", [{}, {"precision": 30}])
def test_scaled_errors_are_those_of_weights(options: dict[str, Any]) -> None:
    scaled = autodiff_cli.fit("y = a + b*x", LINE, sigma="s", scale_errors=True, **options)
    data = {**LINE, "w": [1 / s**2 for s in LINE["s"]]}
    weighted = autodiff_cli.fit("y = a + b*x", data, weights="w")
    absolute = autodiff_cli.fit("y = a + b*x", LINE, sigma="s", **options)
    for name in "ab":
        error: Any = scaled.parameters[name].error
        assert float(error) == pytest.approx(float(weighted.parameters[name].error or 0), rel=1e-12)
        assert scaled.parameters[name].interval == pytest.approx(
            weighted.parameters[name].interval, rel=1e-12
        )
        ratio = float(error) / float(absolute.parameters[name].error or 0)
        assert ratio == pytest.approx(math.sqrt(absolute.goodness.reduced or 0))
    assert scaled.goodness == absolute.goodness


@pytest.mark.parametrize(
    ("sigma", "words"),
    [(0.1, None), (0.03, "scatter more"), (0.9, "scatter less"), (0.001, "scatter more")],
)
def test_uncertainties_that_do_not_fit_the_residuals_are_warned_of(
    sigma: float, words: str | None
) -> None:
    warnings = autodiff_cli.fit("y = a + b*x", LINE, sigma=sigma).warnings
    assert [each.kind for each in warnings] == ["goodness_of_fit"] * (words is not None)
    assert all(
        words in each.message and "scale_errors" in (each.hint or "") for each in warnings if words
    )
    assert not autodiff_cli.fit("y = a + b*x", LINE, sigma=sigma, scale_errors=True).warnings


@given(st.lists(st.sampled_from([1.0, -1.0]), min_size=2, max_size=8))
def test_runs_beside_all_orders(signs: list[float]) -> None:
    result = runs_test(np.array(signs))
    if len(set(signs)) == 1:
        assert result is None
        return
    assert result is not None
    counts = [1 + sum(a != b for a, b in pairwise(order)) for order in permutations(signs)]
    assert result.expected == pytest.approx(sum(counts) / len(counts))
    few = sum(count <= result.runs for count in counts) / len(counts)
    many = sum(count >= result.runs for count in counts) / len(counts)
    assert result.p_value == pytest.approx(min(1.0, 2 * min(few, many)))


def test_many_runs_are_normal() -> None:
    draw = np.random.default_rng(1)
    residuals = draw.normal(size=EXACT_RUNS)
    one, two = runs_test(residuals), runs_test(np.append(residuals, -residuals[-1]))
    assert one is not None and two is not None and abs(one.p_value - two.p_value) < 0.06
    # Wald and Wolfowitz: the moments of the number of runs of a and b signs
    for seed in range(5):
        draw = np.random.default_rng(seed)
        residuals = draw.normal(0.3, size=EXACT_RUNS + 51)
        a, b = int(np.sum(residuals > 0)), int(np.sum(residuals < 0))
        n = a + b
        runs = 1 + int(np.sum(np.diff(np.sign(residuals)) != 0))
        mean, variance = 1 + 2 * a * b / n, 2 * a * b * (2 * a * b - n) / (n**2 * (n - 1))
        result = runs_test(residuals)
        assert (
            result is not None
            and result.runs == runs
            and result.expected == pytest.approx(mean, rel=1e-12)
        )
        p_value = 2 * stats.norm.sf(abs(runs - mean) / math.sqrt(variance))
        assert result.p_value == pytest.approx(p_value, rel=1e-10)


def test_residuals_are_taken_in_the_order_of_the_predictor() -> None:
    order = [3, 0, 9, 1, 8, 2, 7, 4, 6, 5]
    shuffled = {name: [column[k] for k in order] for name, column in LINE.items()}
    one, two = autodiff_cli.fit("y = a + b*x", LINE), autodiff_cli.fit("y = a + b*x", shuffled)
    assert one.goodness.runs == two.goodness.runs


def test_normality_beside_scipy() -> None:
    draw = np.random.default_rng(3)
    for sample, normal in ((draw.normal(3, 2, 200), True), (draw.exponential(size=200), False)):
        result = anderson_darling(sample)
        assert result is not None and (result.p_value > 0.05) == normal
        statistic = stats.anderson(sample, "norm", method="interpolate").statistic
        assert result.statistic == pytest.approx(
            statistic * (1 + 0.75 / 200 + 2.25 / 200**2), rel=1e-9
        )
    # D'Agostino and Stephens, table 4.7: the corrected statistic at these levels
    from autodiff_cli.capabilities.optimize.inference import _anderson_darling_tail as tail

    for statistic, level in (
        (0.631, 0.10),
        (0.752, 0.05),
        (0.873, 0.025),
        (1.035, 0.01),
        (0.341, 0.5),
    ):
        assert tail(statistic) == pytest.approx(level, rel=0.03)
    assert 0 <= tail(50.0) < 1e-20 < tail(0.05) <= 1


NORMALITY = [
    ([0.1, -0.1, 0.6, 0.1, -0.5, 0.4, 1.3, 0.9, -0.7, -1.3], 0.1324695577924, 0.9810145820997),
    ([0.2, -0.5, -0.4, -2.4, 1.8, 1.1, -0.3, 0.8, 0.3, -0.6], 0.3256607965264, 0.521807739307),
    ([2.0, -2.6, 0.4, -0.6, -0.5, -0.2, -2.0, -0.2, -0.9, 3.3], 0.4101527987801, 0.3431818610104),
    (
        [3.6, 1.0, 1.2, 1.4, 0.1, 4.8, 2.1, 4.1, 0.3, 0.0, 0.2, 0.3, 4.5, 0.0],
        1.0314059829629,
        0.0103082564442575,
    ),
    (
        [0.1, 0.1, 0.0, 0.5, 3.5, 0.6, 0.0, 0.1, 0.7, 9.4, 0.9, 0.0, 0.3, 0.3],
        3.0829807116558,
        9.87921034907e-08,
    ),
]
"""A sample in each range of the formula, with the corrected statistic and the p-value of
statsmodels 0.15.
"""


@pytest.mark.parametrize(("sample", "statistic", "p_value"), NORMALITY)
def test_normality_beside_statsmodels(
    sample: list[float], statistic: float, p_value: float
) -> None:
    result = anderson_darling(np.array(sample))
    assert result is not None
    assert (result.statistic, result.p_value) == pytest.approx((statistic, p_value), rel=1e-11)


@pytest.mark.parametrize(
    "options", [{"sigma": "s"}, {"sigma": "s", "scale_errors": True}, {}, {"level": 0.6}]
)
def test_propagate_has_the_interval_of_the_fit(options: dict[str, Any]) -> None:
    answer = autodiff_cli.fit("y = a + b*x", LINE, **options)
    for name, parameter in answer.parameters.items():
        (result,) = propagate(name, {}, fitted=estimates_of_fit(answer.to_dict())).results
        assert parameter.interval is not None
        low, high = parameter.interval
        assert result.expanded == pytest.approx((high - low) / 2, rel=1e-9)


def test_exact_data_have_no_information_criteria() -> None:
    answer = autodiff_cli.fit("y = a + b*x", {"x": [0, 1, 2, 3], "y": [1, 3, 5, 7]})
    assert answer.goodness.aic is None and answer.goodness.runs is None


@pytest.mark.parametrize("y", [0.1, 1 / 3, 1e9 + 0.3, 0.0])
@pytest.mark.parametrize("text", ["y = a + b*x", "y = a*exp(b*x) + c"])
def test_a_constant_response_has_no_r_squared(y: float, text: str) -> None:
    found = autodiff_cli.fit(
        text, {"x": [*range(1, 8)], "y": [y] * 7}, {"b": 0.1} if "exp" in text else {}
    )
    assert found.r_squared is None
    data = {"y": [y, y, y, 5.0], "w": [0.1, 0.3, 0.7, 0.0]}
    weighted = autodiff_cli.fit("y = a", data, weights="w")
    assert weighted.r_squared is None and weighted.dof == 2 and weighted.rows == 3


def test_rows_of_weight_0_do_not_count_as_degrees_of_freedom() -> None:
    x, y = [1.0, 2, 3, 4, 5, 6], [3.1, 4.9, 7.2, 8.8, 11.1, 13.0]
    padded = {"x": [*x, *range(90)], "y": [*y, *[5.0] * 90], "w": [1.0] * 6 + [0.0] * 90}
    plain = autodiff_cli.fit("y = a + b*x", {"x": x, "y": y})
    weighted = autodiff_cli.fit("y = a + b*x", padded, weights="w")
    assert weighted.dof == plain.dof == 4 and weighted.rows == 6
    assert weighted.deviation == pytest.approx(plain.deviation, rel=1e-12)
    for name, parameter in plain.parameters.items():
        assert weighted.parameters[name].error == pytest.approx(parameter.error, rel=1e-12)
