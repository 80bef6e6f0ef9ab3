"""Tests of intervals by profile of formulas of several parameters.

The right values are made without the package: the constraint that holds the formula is eliminated
by hand, the least sum of squares, or deviance, is found by SciPy, and its crossing of the threshold
by bisection; or they are closed formulas.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq, least_squares, minimize_scalar
from scipy.stats import norm
from scipy.stats import t as student

import autodiff_cli
from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.optimize.function_profiles import FunctionProfile
from autodiff_cli.capabilities.optimize.refits import MAX_KEPT_ROWS, refitted
from running import autodiff

X, Y = np.array([0.5, 1, 2, 4, 6, 8]), np.array([0.9, 1.9, 2.6, 4.9, 5.2, 6.9])
ENZYME = {"x": X.tolist(), "y": Y.tolist()}
T = np.array([0.0, 1, 2, 3, 5, 8])
DECAY = {"t": T.tolist(), "y": [4.1, 2.2, 2.1, 0.7, 0.9, 0.1]}


@pytest.fixture(scope="module")
def enzyme() -> Any:
    return autodiff_cli.fit("y = V*x/(K+x)", ENZYME, {"K": 3})


@pytest.fixture(scope="module")
def decay() -> Any:
    return autodiff_cli.fit("y = A*exp(-k*t)", DECAY, {"k": 0.4}, intervals="profile")


def profile_of(text: str, fitted: Any, **options: Any) -> Any:
    return autodiff_cli.propagate(text, fit=fitted, **options).results[0].profile


def least(function: Callable[[float], float], places: Any) -> float:
    """Return the least value of a function that is near one of these places."""
    heights = [function(x) for x in places]
    k = min(max(int(np.argmin(heights)), 1), len(places) - 2)
    return float(
        minimize_scalar(function, (places[k - 1], places[k], places[k + 1]), tol=1e-14).fun
    )


def crossings(
    least_at: Callable[[float], float], enough: float, middle: float, reach: float
) -> tuple[float, float]:
    """Return where the least sum with the formula held rises through `enough`, below and above
    `middle`.
    """
    ends = []
    for sign in (-1, 1):
        near, far = middle, middle + sign * reach / 8
        while least_at(far) < enough:
            near, far = far, far + (far - near) * 1.5
        ends.append(float(brentq(lambda c: least_at(c) - enough, near, far, xtol=1e-13)))
    return ends[0], ends[1]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        # V = c*K and V = c*(K + 2)/2, bisected in 50 digits
        ("V/K", (1.1716100149, 3.0613088324)),
        ("V*2/(K+2)", (2.1544444374, 3.5482588474)),
    ],
)
def test_formulas_of_michaelis_and_menten(
    enzyme: Any, text: str, ends: tuple[float, float]
) -> None:
    assert profile_of(text, enzyme) == pytest.approx(ends, rel=5e-7)


@pytest.mark.parametrize("name", ["V", "K"])
def test_a_formula_that_is_one_parameter_has_the_interval_of_the_fit(
    enzyme: Any, name: str
) -> None:
    assert profile_of("V + 0*K" if name == "V" else "K + 0*V", enzyme) == pytest.approx(
        enzyme.parameters[name].interval, rel=1e-6
    )


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_a_half_life_times_its_height_is_bisected(decay: Any, level: float) -> None:
    y = np.array(DECAY["y"])

    def least_at(c: float) -> float:
        def squares(k: float) -> float:
            return float(np.sum((y - c * k / math.log(2) * np.exp(-k * T)) ** 2))

        return least(squares, np.geomspace(1e-3, 20, 400))

    middle = decay.point["A"] * math.log(2) / decay.point["k"]
    enough = decay.rss * (1 + float(student.ppf((1 + level) / 2, 4)) ** 2 / 4)
    ends = profile_of("log(2)/k*A", decay, level=level)
    assert ends == pytest.approx(crossings(least_at, enough, middle, middle), rel=1e-6)


def test_another_level_of_one_parameter_is_bisected(enzyme: Any) -> None:
    def squares(k: float) -> float:
        column = X / (k + X)
        return float(Y @ Y - (column @ Y) ** 2 / (column @ column))

    enough = squares(enzyme.point["K"]) * (1 + float(student.ppf(0.9, 4)) ** 2 / 4)
    low, high = (
        float(brentq(lambda k: squares(k) - enough, *ends, xtol=1e-12))
        for ends in ((1, 6), (7, 60))
    )
    assert profile_of("2*K", enzyme, level=0.8) == pytest.approx((2 * low, 2 * high), rel=1e-6)


def test_a_formula_that_turns_has_all_its_values(enzyme: Any) -> None:
    low, high = enzyme.parameters["V"].interval
    # the least value is inside, and the largest on the other side of it than the slope at the
    # estimate says
    assert profile_of("(V - 20)**2 + 0*K", enzyme) == pytest.approx(
        (0, (20 - low) ** 2), rel=1e-6, abs=1e-5
    )
    assert profile_of("(V - 13)**2 + 0*K", enzyme) == pytest.approx(
        (0, (high - 13) ** 2), rel=1e-6, abs=1e-5
    )


def test_a_formula_with_a_pole_inside_is_open(enzyme: Any) -> None:
    assert profile_of("V/(K - 6)", enzyme) == (None, None)


def inference_of(fitted: Any, columns: Mapping[str, Any], **more: Any) -> Any:
    """Return the inference of a fit whose record has its rows, though its intervals are linear."""
    rows = {
        "formula": fitted.text,
        "columns": columns,
        "weights": None,
        "errors": {},
        "trials": None,
        "bounds": {},
    }
    return refitted({**fitted.to_dict(), "refit": rows | more}, fitted.level)[0]


def test_a_linear_function_of_a_linear_model_has_the_linear_interval() -> None:
    x, y = [0.0, 1, 2, 3, 4, 5, 6], [1.2, 1.9, 3.4, 3.1, 5.2, 5.4, 7.3]
    fitted = autodiff_cli.fit("y = a + b*x + c*x^2", {"x": x, "y": y})
    inference = inference_of(fitted, {"x": x, "y": y})
    row = {"a": 1.0, "b": 2.5, "c": 6.25}
    profile = FunctionProfile(
        inference, lambda at: (sum(row[name] * at[name] for name in row), row)
    )
    columns = np.vander(x, 3, increasing=True)
    covariance = np.linalg.inv(columns.T @ columns) * fitted.rss / 4
    slopes = np.array([*row.values()])
    half = float(student.ppf(0.975, 4)) * math.sqrt(slopes @ covariance @ slopes)
    value = slopes @ np.linalg.lstsq(columns, np.array(y), rcond=None)[0]
    assert profile.ends() == pytest.approx((value - half, value + half), rel=1e-6)


@pytest.mark.parametrize("noise", [1.0, 3.0, 6.0])
def test_a_ratio_of_linear_parameters_has_the_interval_of_fieller(noise: float) -> None:
    # Fieller, J. R. Stat. Soc. B 16 (1954): the roots of (a - c*b)² = t²·(v_a - 2*c*v_ab + c²*v_b)
    x = np.arange(7.0)
    y = 1 + 0.8 * x + noise * np.array([0.3, -0.4, 0.2, 0.5, -0.6, 0.1, -0.1])
    fitted = autodiff_cli.fit("y = a + b*x", {"x": x.tolist(), "y": y.tolist()})
    inference = inference_of(fitted, {"x": x.tolist(), "y": y.tolist()})
    profile = FunctionProfile(
        inference, lambda at: (at["a"] / at["b"], {"a": 1 / at["b"], "b": -at["a"] / at["b"] ** 2})
    )
    columns = np.vander(x, 2, increasing=True)
    v = np.linalg.inv(columns.T @ columns) * fitted.rss / 5
    a, b = fitted.point["a"], fitted.point["b"]
    t = float(student.ppf(0.975, 5)) ** 2
    roots = np.roots([b * b - t * v[1, 1], -2 * (a * b - t * v[0, 1]), a * a - t * v[0, 0]])
    # where b is not told from 0, all values are inside but those between the roots, and the
    # interval includes these
    is_bounded = bool(b * b > t * v[1, 1])
    assert is_bounded is (noise < 4)
    assert profile.ends() == (
        pytest.approx(tuple(sorted(roots.real)), rel=1e-6) if is_bounded else (None, None)
    )


def test_uncertain_rows_and_predictors_are_fitted_again() -> None:
    sx, sy = 0.2, 0.3
    fitted = autodiff_cli.fit(
        "y = V*x/(K+x)", ENZYME, {"V": 15, "K": 10}, sigma={"y": sy, "x": sx}, intervals="profile"
    )

    def least_at(c: float) -> float:
        def residuals(free: Any) -> Any:
            k, true = free[0], free[1:]
            return np.concatenate([(Y - c * k * true / (k + true)) / sy, (X - true) / sx])

        ends = [
            least_squares(residuals, [k, *X], xtol=1e-15, ftol=1e-15, gtol=1e-15).cost
            for k in (4.0, 9.0)
        ]
        return 2 * min(ends)

    middle = fitted.point["V"] / fitted.point["K"]
    enough = least_at(middle) + float(norm.ppf(0.975)) ** 2
    assert profile_of("V/K", fitted) == pytest.approx(
        crossings(least_at, enough, middle, middle / 3), rel=5e-6
    )


def test_weights_of_rows_count() -> None:
    weights = np.array([4.0, 1, 1, 2, 0.5, 3])
    data = {**ENZYME, "w": weights.tolist()}
    fitted = autodiff_cli.fit("y = V*x/(K+x)", data, {"K": 3}, weights="w", intervals="profile")

    def least_at(c: float) -> float:
        def squares(k: float) -> float:
            return float(np.sum(weights * (Y - c * k * X / (k + X)) ** 2))

        return least(squares, np.geomspace(0.1, 1000, 400))

    middle = fitted.point["V"] / fitted.point["K"]
    enough = fitted.rss * (1 + float(student.ppf(0.975, 4)) ** 2 / 4)
    assert profile_of("V/K", fitted) == pytest.approx(
        crossings(least_at, enough, middle, middle / 3), rel=1e-6
    )


def test_counts_have_the_profile_of_their_likelihood() -> None:
    x, y = np.array([0, 0.2, 0.4, 0.6, 0.8]), np.array([1.0, 0, 2, 1, 4])
    data = {"x": x.tolist(), "y": y.tolist()}
    fitted = autodiff_cli.fit("y = exp(a + b*x)", data, {"a": 0, "b": 0}, loss="poisson")

    def least_at(c: float) -> float:  # of the mean at x = 1: a = log(c) - b
        def deviance(b: float) -> float:
            mean = np.exp(math.log(c) + b * (x - 1))
            return 2 * float(np.sum(mean - y * np.log(mean)))

        return least(deviance, np.linspace(-20, 20, 401))

    middle = math.exp(fitted.point["a"] + fitted.point["b"])
    enough = least_at(middle) + float(norm.ppf(0.975)) ** 2
    ends = [
        brentq(lambda c: least_at(c) - enough, *sides, xtol=1e-12)
        for sides in ((middle / 9, middle), (middle, 90))
    ]
    assert profile_of("exp(a + b)", fitted) == pytest.approx(ends, rel=2e-6)


def test_a_dose_for_half_of_the_successes_is_bisected() -> None:
    dose, n, successes = np.array([1.0, 2, 3, 4, 5]), np.full(5, 12.0), np.array([1.0, 2, 6, 8, 11])
    data = {"d": dose.tolist(), "n": n.tolist(), "k": successes.tolist()}
    fitted = autodiff_cli.fit(
        "k = sigmoid(b*d - a)", data, {"a": 0, "b": 1}, loss="binomial", trials="n"
    )

    def least_at(c: float) -> float:  # of the dose a/b: a = c*b
        def deviance(b: float) -> float:
            z = b * (dose - c)
            return 2 * float(np.sum(n * np.logaddexp(0, z) - successes * z))

        return least(deviance, np.geomspace(0.05, 20, 300))

    middle = fitted.point["a"] / fitted.point["b"]
    enough = least_at(middle) + float(norm.ppf(0.975)) ** 2
    assert profile_of("a/b", fitted) == pytest.approx(
        crossings(least_at, enough, middle, middle / 2), rel=2e-6
    )


def test_units_transforms_and_bounds_are_those_of_the_fit(enzyme: Any) -> None:
    plain = profile_of("V/K", enzyme)
    data = {"x [m]": ENZYME["x"], "y [m/s]": ENZYME["y"]}
    text, start = "y = V*x/(K+x)", {"K": "3 m"}
    in_units = autodiff_cli.fit(text, data, start, bounds="V=0:1000")
    (result,) = autodiff_cli.propagate("V/K", fit=in_units).results
    assert [float(end) for end in result.profile] == pytest.approx(plain, rel=1e-6)
    (result,) = autodiff_cli.propagate("V/K", fit=in_units, in_="1/min").results
    assert [float(end) / 60 for end in result.profile] == pytest.approx(plain, rel=1e-6)
    by_name = autodiff_cli.fit(
        "log(y) = log(V*x/(K+x))", ENZYME, {"V": 10, "K": 3}, intervals="profile"
    )
    column = {"x": ENZYME["x"], "z": np.log(Y).tolist()}
    direct = autodiff_cli.fit("z = log(V*x/(K+x))", column, {"V": 10, "K": 3}, intervals="profile")
    assert profile_of("V/K", by_name) == pytest.approx(profile_of("V/K", direct), rel=1e-9)


def test_a_record_in_a_file_gives_the_interval_of_the_answer_in_memory(
    enzyme: Any, tmp_path: Any
) -> None:
    rows = "x,y\n" + "".join(f"{x},{y}\n" for x, y in zip(*ENZYME.values(), strict=True))
    path = str(tmp_path / "fit.json")
    autodiff("fit", "y = V*x/(K+x)", "--data", "-", "--at", "K=3", "--output", path, stdin=rows)
    shown = autodiff("propagate", "V/K", "--fit", path, "--format", "json")
    assert json.loads(shown.out)["results"][0]["profile"] == pytest.approx(
        profile_of("V/K", enzyme), rel=1e-9
    )
    assert (
        "from 1.17161 to 3.06131, for 95 %, by the profile of the fit"
        in autodiff("propagate", "V/K", "--fit", path).out
    )


def edited(fitted: Any, tmp_path: Any, change: Callable[[dict[str, Any]], None]) -> str:
    """Return the path of a record of a fit that was changed."""
    record = json.loads(json.dumps(fitted.to_dict()))
    change(record)
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(record))
    return str(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record["refit"]["columns"]["y"].__setitem__(0, 1.0),
        lambda record: record["refit"]["columns"].pop("x"),
        lambda record: record["refit"].__setitem__("formula", "y = V*x/(K^2+x)"),
        lambda record: record["refit"].__setitem__("weights", [1, 2, 3, 4, 5, 6]),
        lambda record: record["refit"].__setitem__("weights", [-1.0] * 6),
        lambda record: record["refit"].__setitem__("bounds", 7),
        lambda record: record["refit"].clear(),
    ],
)
def test_rows_of_another_fit_are_refused(enzyme: Any, tmp_path: Any, change: Any) -> None:
    path = edited(enzyme, tmp_path, change)
    with pytest.raises(
        ExpressionError,
        match="the rows in the record of the fit are not those that it was fitted to",
    ):
        autodiff_cli.propagate("V/K", fit=path)


@pytest.mark.parametrize("rows", [10**12, -6, True, 5, 6.0, "6"])
def test_the_number_of_rows_is_that_of_the_columns(enzyme: Any, tmp_path: Any, rows: Any) -> None:
    path = edited(enzyme, tmp_path, lambda record: record.update(rows=rows))
    with pytest.raises(ExpressionError, match="this is not an answer of `fit`"):
        autodiff_cli.propagate("V/K", fit=path)


def test_a_record_without_rows_is_read_as_before(enzyme: Any, tmp_path: Any) -> None:
    path = edited(enzyme, tmp_path, lambda record: record.pop("refit"))
    answer = autodiff_cli.propagate("V/K", fit=path)
    assert answer.results[0].profile is None
    (hint, _) = (one.hint or "" for one in answer.warnings if one.kind == "profile")
    assert hint.startswith(
        "the record of the fit is without its rows; fit again with the quantity as a parameter"
    )
    assert profile_of("K", path) == pytest.approx(enzyme.parameters["K"].interval, rel=1e-9)


def test_rows_are_kept_where_intervals_are_by_profile_and_not_too_many(enzyme: Any) -> None:
    rows = enzyme.to_dict()["refit"]
    assert (
        rows["columns"] == ENZYME and rows["weights"] is None and rows["formula"] == "y = V*x/(K+x)"
    )
    assert (
        "refit"
        not in autodiff_cli.fit("y = V*x/(K+x)", ENZYME, {"K": 3}, intervals="linear").to_dict()
    )
    assert "refit" not in autodiff_cli.fit("y = a + b*x", ENZYME).to_dict()
    count = MAX_KEPT_ROWS + 1
    x = np.linspace(0.5, 8, count)
    many = {"x": x.tolist(), "y": (12 * x / (6 + x) + np.sin(37 * np.arange(count))).tolist()}
    record = autodiff_cli.fit("y = V*x/(K+x)", many, {"K": 3}, intervals="profile").to_dict()
    assert record["interval_method"] == "profile" and "refit" not in record
