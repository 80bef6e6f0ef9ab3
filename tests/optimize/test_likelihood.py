"""`fit --loss poisson` and `--loss binomial`: beside statsmodels 0.15, and Newton's method written
out here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from autodiff_cli import ExpressionError, fit

COUNTS = {"x": [0, 1, 2, 3, 4, 5], "y": [2, 3, 6, 13, 19, 44]}
# Bliss, Annals of Applied Biology 22 (1935): beetles after five hours in carbon disulphide
BEETLES = {
    "dose": [1.6907, 1.7242, 1.7552, 1.7842, 1.8113, 1.8369, 1.8610, 1.8839],
    "dead": [6, 13, 18, 28, 52, 53, 61, 60],
    "n": [59, 60, 62, 56, 63, 59, 62, 60],
}
REFERENCES: list[tuple[str, Mapping[str, Sequence[float]], dict[str, Any], list[list[float]], list[float]]] = [
    # formula, data, options; then by statsmodels: estimates, standard errors and deviance
    # residuals; deviance, log-likelihood and AIC
    ("y = exp(a + b*x)", COUNTS, {"loss": "poisson"},
     [[0.521024631257323, 0.6443120886537369], [0.3636552922678351, 0.08637666463964544],
      [0.23663089259799466, -0.11686975063470033, -0.04395079475743943, 0.3929070523547607, -0.6881890191959402,
       0.27407299664500034]],
     [0.7746804757268986, -12.43510310328296, 28.87020620656592]),
    ("dead = sigmoid(a + b*dose)", BEETLES, {"loss": "binomial", "trials": "n"},
     [[-60.7174545616353, 34.27032573414692], [5.180711463340782, 2.9121400706357186],
      [1.2836777036015579, 1.0596899944561355, -1.1961122849207855, -1.5941243746150624, 0.6061405095111116,
       -0.12715839814933694, 1.2510710802902898, 1.5939850134288633]],
     [11.232231097419321, -18.715134657256023, 41.430269314512046]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "data", "options", "numbers", "quality"), REFERENCES, ids=["poisson", "binomial"]
)
def test_beside_statsmodels(
    text: str,
    data: Mapping[str, Sequence[float]],
    options: dict[str, Any],
    numbers: list[list[float]],
    quality: list[float],
) -> None:
    answer = fit(text, data=data, **options)
    assert answer.converged
    parameters = [*answer.parameters.values()]
    assert [float(each.estimate) for each in parameters] == pytest.approx(numbers[0], rel=1e-9)
    assert [float(each.error or 0) for each in parameters] == pytest.approx(numbers[1], rel=1e-7)
    assert answer.standardised == pytest.approx(numbers[2], rel=1e-6)
    goodness = answer.goodness
    assert [answer.deviance, goodness.log_likelihood, goodness.aic] == pytest.approx(
        quality, rel=1e-12
    )
    assert answer.interval_method == "profile"


def deviance(eta: Any, y: Any, n: Any) -> float:
    """Twice the negative log-likelihood, up to a constant: of counts where there are no trials."""
    terms = np.exp(eta) - y * eta if n is None else n * np.logaddexp(0, eta) - y * eta
    return 2 * float(np.sum(terms))


def least_deviance(x: Any, y: Any, n: Any, offset: Any) -> float:
    """The least deviance by Newton's method over the coefficients of the columns of `x`."""
    b = np.zeros(x.shape[1])
    for _ in range(100):
        eta = x @ b + offset
        mean = np.exp(eta) if n is None else n / (1 + np.exp(-eta))
        variance = mean if n is None else mean * (1 - mean / n)
        step = np.linalg.solve(x.T @ (x * variance[:, None]), x.T @ (y - mean))
        share = 1.0
        while (
            deviance(x @ (b + share * step) + offset, y, n) > deviance(eta, y, n) + 1e-12
            and share > 1e-9
        ):
            share /= 2
        b = b + share * step
    return deviance(x @ b + offset, y, n)


@pytest.mark.parametrize("seed", range(4))
def test_ends_of_intervals_have_the_likelihood_of_their_level(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.round(rng.uniform(-2, 2, 20), 3)
    eta = 0.4 + 0.8 * x
    is_count = seed % 2 == 0
    n = None if is_count else rng.integers(1, 12, 20).astype(float)
    y = (
        rng.poisson(np.exp(eta))
        if n is None
        else rng.binomial(n.astype(int), 1 / (1 + np.exp(-eta)))
    )
    data = {"x": x.tolist(), "y": y.astype(float).tolist()} | (
        {} if n is None else {"n": n.tolist()}
    )
    options: dict[str, Any] = (
        {"loss": "poisson"} if is_count else {"loss": "binomial", "trials": "n"}
    )
    answer = fit(f"y = {'exp' if is_count else 'sigmoid'}(a + b*x)", data=data, **options)
    columns = np.column_stack([np.ones(20), x])
    least = least_deviance(columns, y, n, np.zeros(20))
    for k, parameter in enumerate(answer.parameters.values()):
        assert parameter.interval is not None
        for end in parameter.interval:
            assert end is not None
            other = columns[:, [1 - k]]
            rise = least_deviance(other, y, n, end * columns[:, k]) - least
            # of χ² with one degree of freedom, at 95 %
            assert rise == pytest.approx(3.841458820694124, abs=1e-5)


def test_a_mean_of_any_formula() -> None:
    # a peak on a background: Newton's method on the likelihood, to where its gradient is 0
    x = np.arange(12.0)
    y = np.array([3, 2, 4, 5, 12, 21, 19, 11, 4, 3, 1, 2.0])
    answer = fit(
        "y = c + A*exp(-((x - m)/s)**2/2)", data={"x": x.tolist(), "y": y.tolist()}, loss="poisson"
    )
    assert answer.converged
    c, a, m, s = (answer.point[name] for name in ("c", "A", "m", "s"))
    u = (x - m) / s
    shape = np.exp(-(u**2) / 2)
    mean = c + a * shape
    slopes = np.array([np.ones(12), shape, a * shape * u / s, a * shape * u**2 / s])
    score = slopes @ (y / mean - 1)
    information = (slopes / mean) @ slopes.T
    errors = np.sqrt(np.diagonal(np.linalg.inv(information)))
    assert np.max(np.abs(score * errors)) < 1e-6
    found = [float(answer.parameters[name].error or 0) for name in ("c", "A", "m", "s")]
    assert found == pytest.approx(errors.tolist(), rel=1e-6)


@pytest.mark.parametrize(
    ("text", "data", "options"),
    [
        (
            "y = sigmoid(a + b*x)",
            {"x": [0, 1, 2, 3, 4, 5], "y": [0, 0, 0, 1, 1, 1]},
            {"loss": "binomial"},
        ),
        (
            "y = exp(a + b*g)",
            {"g": [0, 0, 0, 1, 1, 1], "y": [0, 0, 0, 3, 5, 2]},
            {"loss": "poisson"},
        ),
        ("y = a + b*g", {"g": [0, 0, 0, 1, 1, 1], "y": [0, 0, 0, 3, 5, 2]}, {"loss": "poisson"}),
    ],
)
def test_separation_is_said_and_has_no_standard_errors(
    text: str, data: Any, options: dict[str, Any]
) -> None:
    answer = fit(text, data=data, **options)
    assert not answer.converged
    assert answer.reason == "undetermined"
    assert all(parameter.error is None for parameter in answer.parameters.values())
    assert any(warning.kind == "separation" for warning in answer.warnings)


def test_zero_counts_and_a_constant() -> None:
    answer = fit("y = m + 0*x", data={"x": [1, 2, 3, 4], "y": [0, 0, 3, 1]}, loss="poisson")
    assert float(answer.parameters["m"].estimate) == pytest.approx(1.0, rel=1e-12)
    assert float(answer.parameters["m"].error or 0) == pytest.approx(0.5, rel=1e-9)  # √(1/4)
    assert answer.deviance == pytest.approx(2 * (3 * math.log(3)), rel=1e-12)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"y": [1, 2.5, 3]}, {"loss": "poisson"}, "row 2 of the data: `y` is 2.5, and counts are whole numbers"),
        ({"y": [1, -1, -2]}, {"loss": "poisson"}, "row 2 of the data: `y` is -1, and counts"),
        ({"y": [1, 0, 2]}, {"loss": "binomial"}, "row 3 of the data: `y` is 2, and without `trials`"),
        ({"y": [1, 5], "n": [3, 4]}, {"loss": "binomial", "trials": "n"}, "row 2 of the data: `y` is 5, which"),
        ({"y": [1, 1], "n": [3, 0]}, {"loss": "binomial", "trials": "n"}, "row 2 of the data: `n` is 0, and"),
        ({"y": [0.5, 1], "n": [2, 2]}, {"loss": "binomial", "trials": "n"}, "row 1 of the data: `y` is 0.5, and"),
        ({"y": [1, 2, 3]}, {"loss": "poisson", "sigma": 1}, "says how counts scatter"),
        ({"y": [1, 2, 3]}, {"loss": "poisson", "certified": True}, "says how counts scatter"),
    ],
)  # fmt: skip
def test_refusals(data: dict[str, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ExpressionError) as error:
        fit("y = a + b*x", data={"x": [1, 2, 3][: len(data["y"])], **data}, **options)
    assert message in str(error.value)


def test_goodness_has_a_tail_only_where_expected_counts_are_large() -> None:
    x = [0.0, 1, 2, 3, 4, 5]
    many = fit("y = exp(a + b*x)", data={"x": x, "y": [9.0, 14, 16, 30, 36, 61]}, loss="poisson")
    few = fit("y = exp(a + b*x)", data={"x": x, "y": [0.0, 1, 0, 2, 1, 6]}, loss="poisson")
    between = fit("y = exp(a + b*x)", data={"x": x, "y": [2.0, 3, 4, 3, 4, 5]}, loss="poisson")
    small = fit(
        "y = exp(a + b*x)", data={"x": x, "y": [1.0, 6, 72, 864, 10368, 124416]}, loss="poisson"
    )
    # Cochran's rule: four in five of the expected counts are 5 or more, and none is below 1
    half = many.deviance / 2
    # χ² of 4 degrees of freedom
    assert many.goodness.p_value == pytest.approx(math.exp(-half) * (1 + half), rel=1e-12)
    assert few.goodness.p_value is None
    # most expected counts are between 1 and 5; one is below 1, and the others are large
    assert between.goodness.p_value is None
    assert 1 < between.fitted[0] < 5
    assert small.goodness.p_value is None
    assert small.fitted[0] < 1
    assert small.fitted[1] > 5
    for answer in (many, few, between, small):
        likelihood = answer.goodness.log_likelihood
        assert answer.goodness.bic == pytest.approx(2 * math.log(6) - 2 * likelihood, rel=1e-14)
        assert answer.goodness.aic == pytest.approx(4 - 2 * likelihood, rel=1e-14)


# ---- units
def test_parameters_of_counts_have_units_and_the_numbers_are_those_without() -> None:
    text, columns = "n = N*exp(-t/tau)", {"t [s]": [0, 1, 2, 3, 4, 5], "n": [52, 31, 22, 9, 7, 4]}
    plain = fit(text, {"t": columns["t [s]"], "n": columns["n"]}, loss="poisson")
    counted = fit(text, columns, loss="poisson")
    assert counted.deviance == pytest.approx(plain.deviance, rel=1e-9)
    assert counted.point == pytest.approx(plain.point, rel=1e-7)
    assert counted.units is not None and counted.units.texts()["parameters"] == {
        "N": "1",
        "tau": "s",
    }
    minutes = fit(text, columns, {"tau": "1 min"}, loss="poisson")
    assert minutes.point["tau"] == pytest.approx(plain.point["tau"] / 60, rel=1e-7)
    assert minutes.parameters["tau"].error == pytest.approx(
        plain.parameters["tau"].error / 60, rel=1e-6
    )


def test_a_dose_of_half_of_all_successes_has_the_unit_of_the_doses() -> None:
    columns = {"d [mg]": [1, 2, 4, 8, 16], "dead": [1, 4, 9, 15, 19], "n": [20] * 5}
    answer = fit("dead = 1/(1 + (LD/d)**h)", columns, loss="binomial", trials="n")
    # the logit is linear in log(d): -h·log(LD) + h·log(d)
    logit = fit(
        "dead = sigmoid(a + h*log(d))",
        {"d": columns["d [mg]"], **columns},
        loss="binomial",
        trials="n",
    )
    assert answer.units is not None and answer.units.texts()["parameters"] == {"LD": "mg", "h": "1"}
    assert answer.point["h"] == pytest.approx(logit.point["h"], rel=1e-6)
    assert answer.point["LD"] == pytest.approx(
        math.exp(-logit.point["a"] / logit.point["h"]), rel=1e-6
    )


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            {"t [s]": [0, 1, 2], "n [mm]": [5, 3, 1]},
            {"loss": "poisson"},
            "`n` is in mm, and a count is a plain number",
        ),
        (
            {"t [s]": [0, 1, 2], "n": [5, 3, 1], "k [kg]": [9, 9, 9]},
            {"loss": "binomial", "trials": "k"},
            "`k` is in kg, and a count is a plain number",
        ),
    ],
)
def test_counts_have_no_unit(
    columns: dict[str, list[float]], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ExpressionError, match=message):
        fit("n = exp(-t/tau)", columns, **options)
    label = {"t [s]": [0, 1, 2, 3], "n [counts]": [52, 31, 22, 9]}
    assert fit("n = N*exp(-t/tau)", label, loss="poisson").converged
