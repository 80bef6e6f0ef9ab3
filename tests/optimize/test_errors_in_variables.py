"""Fits with uncertain predictors, and of formulas of the response: published values, and SciPy over
all unknowns.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize_scalar
from scipy.stats import norm

import autodiff_cli
from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.optimize import strategies
from autodiff_cli.capabilities.optimize.convergence import SearchStopped
from autodiff_cli.capabilities.optimize.least_squares import EndPoint, Model, polished

PEARSON: dict[str, list[float]] = {
    "x": [0.0, 0.9, 1.8, 2.6, 3.3, 4.4, 5.2, 6.1, 6.5, 7.4],
    "y": [5.9, 5.4, 4.4, 4.6, 3.5, 3.7, 2.8, 2.8, 2.4, 1.5],
    "sx": [w**-0.5 for w in (1000, 1000, 500, 800, 200, 80, 60, 20, 1.8, 1)],
    "sy": [w**-0.5 for w in (1, 1.8, 4, 8, 20, 20, 70, 70, 100, 500)],
}
"""Pearson's data (1901) with York's weights (Can. J. Phys. 44 (1966) 1079)."""

ODRPACK: dict[str, list[float]] = {
    "x": [0, 0, 5, 7, 7.5, 10, 16, 26, 30, 34, 34.5, 100],
    "y": [1265, 1263.6, 1258, 1254, 1253, 1249.8, 1237, 1218, 1220.6, 1213.8, 1215.5, 1212],
    "sx": [0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0],
}
"""The explicit example of the User's Reference Guide for ODRPACK (NISTIR 92-4834), with three exact
predictors.
"""


def test_pearsons_data_with_yorks_weights() -> None:
    answer = autodiff_cli.fit("y = a + b*x", PEARSON, sigma="y=sy,x=sx")
    # York, Evensen, Martínez and De Basabe Delgado, Am. J. Phys. 72 (2004) 367, table II
    assert answer.converged
    assert answer.point["a"] == pytest.approx(5.47991022, abs=5e-9)
    assert answer.point["b"] == pytest.approx(-0.480533407, abs=5e-10)
    assert answer.parameters["a"].error == pytest.approx(0.294970735, abs=5e-10)
    assert answer.parameters["b"].error == pytest.approx(0.0579850090, abs=5e-11)
    assert answer.goodness.reduced == pytest.approx(1.48329415, abs=5e-9)
    # the line is that of exchanged variables
    other = autodiff_cli.fit("x = c + d*y", PEARSON, sigma={"x": "sx", "y": "sy"})
    assert other.converged and other.point["d"] == pytest.approx(1 / answer.point["b"], rel=1e-9)
    assert other.rss == pytest.approx(answer.rss, rel=1e-12)


def test_the_example_of_odrpack() -> None:
    answer = autodiff_cli.fit(
        "y = a + b*(exp(c*x) - 1)**2",
        ODRPACK,
        {"a": 1500, "b": -50, "c": -0.1},
        sigma={"y": 1, "x": "sx"},
        scale_errors=True,
    )
    assert answer.converged
    for name, value, error in (
        ("a", 1264.65481, 1.0349),
        ("b", -54.0183868, 1.5840),
        ("c", -0.0878498518, 0.0063322),
    ):
        assert answer.point[name] == pytest.approx(value, rel=2e-9)
        assert answer.parameters[name].error == pytest.approx(error, rel=1e-4)
    assert answer.rss == pytest.approx(21.4455016594, rel=1e-10)
    assert answer.adjusted["x"][0] == 0.0 and answer.adjusted["x"][-1] == 100.0


def over_all_unknowns(
    model: Callable[[Any, Any], Any], start: list[float], x: Any, y: Any, sx: Any, sy: Any
) -> tuple[Any, Any, float]:
    """Parameters, covariance and χ² by SciPy, which moves every predictor of every row too."""
    p, shape = len(start), np.shape(x)

    def residuals(theta: Any) -> Any:
        delta = theta[p:].reshape(shape)
        return np.concatenate([(model(theta[:p], x + delta) - y) / sy, (delta / sx).ravel()])

    scale = np.concatenate([np.maximum(np.abs(start), 0.1), np.broadcast_to(sx, shape).ravel()])
    solution = least_squares(
        residuals,
        [*start, *np.zeros(np.size(x))],
        jac="3-point",
        x_scale=scale,
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-13,
    )
    covariance = np.linalg.inv(solution.jac.T @ solution.jac)[:p, :p]
    return solution.x[:p], covariance, 2 * solution.cost


DRAW = np.random.default_rng(5)
TRUE = np.linspace(0.3, 4, 15)
CURVES: list[tuple[str, Callable[[Any, Any], Any], list[float], float]] = [
    ("y = a*exp(b*x)", lambda p, x: p[0] * np.exp(p[1] * x), [1.2, 0.6], 0.1),
    ("y = a + b*x + c*x**2", lambda p, x: p[0] + p[1] * x + p[2] * x**2, [1.0, -0.5, 0.3], 0.1),
    ("y = a*sin(b*x)", lambda p, x: p[0] * np.sin(p[1] * x), [2.0, 0.9], 0.05),
    ("y = a*x/(b + x)", lambda p, x: p[0] * x / (p[1] + x), [3.0, 1.5], 0.15),
]


@pytest.mark.parametrize(
    ("text", "model", "start", "spread"), CURVES, ids=[case[0] for case in CURVES]
)
def test_beside_scipy_over_all_unknowns(
    text: str, model: Callable[[Any, Any], Any], start: list[float], spread: float
) -> None:
    sx, sy = spread * (1 + TRUE / 8), 0.05 + TRUE / 40
    x = TRUE + sx * DRAW.normal(size=len(TRUE))
    y = model(start, TRUE) + sy * DRAW.normal(size=len(TRUE))
    data = {"x": x.tolist(), "y": y.tolist(), "sx": sx.tolist(), "sy": sy.tolist()}
    answer = autodiff_cli.fit(text, data, dict(zip("abc", start, strict=False)), sigma="y=sy,x=sx")
    values, covariance, chi_squared = over_all_unknowns(model, start, x, y, sx, sy)
    assert answer.converged
    assert answer.goodness.chi_squared == pytest.approx(chi_squared, rel=1e-9)
    assert [*answer.point.values()] == pytest.approx(values.tolist(), rel=2e-6)
    errors = [each.error for each in answer.parameters.values()]
    # SciPy's covariance is that by all unknowns, whose curvature in the rows ours leaves out as
    # ODRPACK does
    assert errors == pytest.approx(np.sqrt(np.diagonal(covariance)).tolist(), rel=1e-5)
    # the corrected predictors are nearest points: the way to them stands at right angles to the
    # curve
    adjusted = np.array(answer.adjusted["x"])
    slope = (model(values, adjusted + 1e-6) - model(values, adjusted - 1e-6)) / 2e-6
    across = (y - model(values, adjusted)) * slope / sy**2 - (adjusted - x) / sx**2
    assert float(np.max(np.abs(across * sx))) < 1e-4


def test_a_curve_that_goes_up_and_down_without_end_is_not_taken() -> None:
    # a sine of infinite frequency passes through every row: the steps of Gauss and Newton lead
    # there from the fit with exact predictors. The minimum by ODRPACK95 in odrpack 0.7, χ² =
    # 4.62304
    x = [0.05, 0.95, 2.26, 3.04, 3.79, 5.14, 6.52, 7.38, 7.72, 8.49]
    y = [0.19, 1.46, 2.22, 2.32, 1.6, 0.39, -0.9, -1.79, -1.96, -1.35]
    start = {"a": 2.2, "w": 0.61, "c": 0.2}
    answer = autodiff_cli.fit("y = a*sin(w*x) + c", {"x": x, "y": y}, start, sigma="y=0.02,x=0.4")
    assert answer.converged and answer.goodness.chi_squared == pytest.approx(4.623041412, abs=2e-9)
    assert [answer.point[name] for name in "awc"] == pytest.approx(
        [2.159300, 0.606725, 0.202329], abs=2e-6
    )
    assert [answer.parameters[name].error for name in "awc"] == pytest.approx(
        [0.0465199, 0.0166405, 0.0469908], 1e-4
    )


def test_two_uncertain_predictors() -> None:
    draw = np.random.default_rng(8)
    true = draw.uniform(1, 3, (2, 25))
    x = true + 0.05 * draw.normal(size=true.shape)
    y = 2.0 * true[0] * true[1] ** 0.7 + 0.02 * draw.normal(size=25)
    data = {"u": x[0].tolist(), "v": x[1].tolist(), "y": y.tolist()}
    answer = autodiff_cli.fit("y = a*u*v**b", data, "b=0.5", sigma="y=0.02,u=0.05,v=0.05")
    values, covariance, chi_squared = over_all_unknowns(
        lambda p, z: p[0] * z[0] * np.abs(z[1]) ** p[1], [2.0, 0.7], x, y, 0.05, 0.02
    )
    assert answer.converged and answer.goodness.chi_squared == pytest.approx(chi_squared, rel=1e-8)
    assert [*answer.point.values()] == pytest.approx(values.tolist(), rel=1e-5)
    assert answer.parameters["b"].error == pytest.approx(math.sqrt(covariance[1, 1]), rel=1e-4)


def test_predictors_that_are_exact_are_an_ordinary_fit() -> None:
    exact = autodiff_cli.fit("y = a*exp(b*x)", PEARSON, "b=-0.1", sigma="y=sy,x=0")
    plain = autodiff_cli.fit("y = a*exp(b*x)", PEARSON, "b=-0.1", sigma="sy")
    for name in "ab":
        assert exact.point[name] == pytest.approx(plain.point[name], rel=1e-9)
        assert exact.parameters[name].error == pytest.approx(plain.parameters[name].error, rel=1e-9)
    assert exact.converged and exact.r_squared is None
    assert exact.goodness.aic == pytest.approx(plain.goodness.aic, rel=1e-12)


def test_the_likelihood_is_that_of_all_measured_values() -> None:
    """SciPy: the densities of y and x, at the true predictors and parameters that make their
    product largest.
    """
    x, y, sx, sy = (np.array(PEARSON[name]) for name in ("x", "y", "sx", "sy"))

    def left(values: Any) -> Any:
        a, b, true = values[0], values[1], values[2:]
        return np.concatenate([(y - a * np.exp(b * true)) / sy, (x - true) / sx])

    solution = least_squares(left, [6, -0.1, *x], xtol=1e-15, ftol=1e-15, gtol=1e-15).x
    a, b, true = solution[0], solution[1], solution[2:]
    wanted = float(
        np.sum(norm.logpdf(y, a * np.exp(b * true), sy)) + np.sum(norm.logpdf(x, true, sx))
    )
    goodness = autodiff_cli.fit("y = a*exp(b*x)", PEARSON, "b=-0.1", sigma="y=sy,x=sx").goodness
    assert goodness.log_likelihood == pytest.approx(wanted, rel=1e-10)
    assert goodness.aic == pytest.approx(2 * 2 - 2 * wanted, rel=1e-10)
    assert goodness.bic == pytest.approx(2 * math.log(10) - 2 * wanted, rel=1e-10)


def test_shares_in_percent_are_columns_of_uncertainties() -> None:
    columns = {"sx": [0.02 * x for x in PEARSON["x"]], "sy": [0.03 * y for y in PEARSON["y"]]}
    one = autodiff_cli.fit("y = a + b*x", PEARSON, sigma="y=3%, x=2 %")
    two = autodiff_cli.fit("y = a + b*x", PEARSON | columns, sigma="y=sy,x=sx")
    assert one.point == pytest.approx(two.point, rel=1e-12) and one.rss == pytest.approx(
        two.rss, rel=1e-12
    )


@pytest.mark.parametrize("options", [{}, {"precision": 25}, {"certified": True}])
def test_a_formula_of_the_response(options: dict[str, Any]) -> None:
    logs = {
        **PEARSON,
        "z": [math.log(y) for y in PEARSON["y"]],
        "sz": [0.1 / y for y in PEARSON["y"]],
    }
    answer = autodiff_cli.fit("log(y) = a + b*x", PEARSON, sigma=0.1, **options)
    plain = autodiff_cli.fit("z = a + b*x", logs, sigma="sz")
    assert answer.response == "log(y)" and answer.columns["log(y)"] == pytest.approx(
        logs["z"], rel=1e-14
    )
    for name in "ab":
        assert answer.point[name] == pytest.approx(plain.point[name], rel=1e-12)
        assert float(answer.parameters[name].error or 0) == pytest.approx(
            plain.parameters[name].error, rel=1e-12
        )
    # an uncertainty under the formula's own name is its own
    own = autodiff_cli.fit("log(y) = a + b*x", PEARSON, sigma={"log(y)": 0.1})
    assert own.point == pytest.approx(
        autodiff_cli.fit("z = a + b*x", logs, sigma=0.1).point, rel=1e-12
    )


def test_a_formula_of_several_columns_has_the_uncertainty_of_its_derivatives() -> None:
    answer = autodiff_cli.fit(
        "y/(1 + w) = a + b*x", PEARSON | {"w": PEARSON["y"][::-1]}, sigma="y=0.1,w=0.2"
    )
    y, w = np.array(PEARSON["y"]), np.array(PEARSON["y"][::-1])
    spread = np.hypot(0.1 / (1 + w), 0.2 * y / (1 + w) ** 2)
    assert answer.sigma["y/(1 + w)"] == pytest.approx(spread.tolist(), rel=1e-12)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("y = a + b*x", {"sigma": "x=0.1"}, "the uncertainty of the response `y` is not given"),
        ("y = a + b*x", {"sigma": "y=0.1,q=0.1"}, "`q` has an uncertainty, and is not in this fit"),
        ("y = a + b*x", {"sigma": "y=0.1,x=q"}, "the data has no column `q`"),
        ("y = a + b*x", {"sigma": "y=0.1,x=-0.1"}, "has the uncertainty -0.1"),
        ("y = a + b*x", {"sigma": "y=0.1,x=0.1,y=0.2"}, "`y` is given twice"),
        ("y = a + b*x", {"sigma": "y=0.1,x=0.1", "precision": 20}, "without errors in predictors"),
        ("log(y) = a + b*x", {"sigma": "y=0.1,log(y)=0.1"}, "both have uncertainties"),
        ("log(q) = a + b*x", {}, "the data has no column `q`"),
        ("log(y) = a + b*y", {}, "`y` is the response, and the formula uses it"),
        ("log(x) = a + b*y", {}, "row 1 of the data: `log(x)`: `log` is undefined at 0"),
    ],
)
def test_what_cannot_be_fitted(text: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        autodiff_cli.fit(text, PEARSON, **options)
    assert message in str(caught.value)


def test_a_fit_that_is_stopped_in_a_search_returns_what_its_strategy_accepted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # a curve that goes up and down without end is near every row
    through_every_row = EndPoint(np.array([1.0, 1e9]), 0.0, math.inf, "a curve through every row")

    def stop_in_search(model: Model, *_: Any) -> EndPoint:
        model.reached.note(through_every_row)
        raise SearchStopped

    monkeypatch.setattr(strategies, "polished", lambda *parts: polished(*parts)._replace(moved=1.0))
    whole = autodiff_cli.fit("y = a + b*x", PEARSON, sigma="y=sy,x=sx")
    monkeypatch.setattr(strategies, "searched", stop_in_search)
    stopped = autodiff_cli.fit("y = a + b*x", PEARSON, sigma="y=sy,x=sx")
    assert stopped.reason == "interrupted"
    assert stopped.point == pytest.approx(whole.point, rel=1e-9)


def _squares_by_angle(data: dict[str, list[float]], intercept: float) -> tuple[float, float]:
    """Return the least squared distance of a line with this intercept and its slope, by its
    angle.
    """
    x, y, sx, sy = (np.array(data[name]) for name in ("x", "y", "sx", "sy"))

    def squares(angle: float) -> float:
        rise, run = math.sin(angle), math.cos(angle)
        return float(
            np.sum((run * (y - intercept) - rise * x) ** 2 / ((sy * run) ** 2 + (rise * sx) ** 2))
        )

    angles = np.linspace(-math.pi / 2, math.pi / 2, 4001)
    near = float(min(angles, key=squares))
    end = minimize_scalar(
        squares, bounds=(near - 1e-3, near + 1e-3), method="bounded", options={"xatol": 1e-12}
    )
    return float(end.fun), math.tan(float(end.x))


@pytest.mark.parametrize("seed", [0, 9, 49, 52, 105, 124, 136, 143])
def test_a_line_through_a_point_turns_through_the_vertical_to_its_least_squares(seed: int) -> None:
    """With a spread of its own in each row there are two minima, and one may be beyond an infinite
    slope.
    """
    draw = np.random.default_rng(seed)
    n = int(draw.integers(3, 9))
    sx, sy = 10 ** draw.uniform(-1, 1, n), 10 ** draw.uniform(-1, 1, n)
    x, slope = draw.uniform(-5, 5, n), float(draw.normal()) * 20
    y = 100 + slope * x + draw.normal(size=n) * (sy + abs(slope) * sx)
    data = {"x": x.tolist(), "y": y.tolist(), "sx": sx.tolist(), "sy": sy.tolist()}
    least, k = _squares_by_angle(data, 100)
    answer = autodiff_cli.fit("y = k*x + 100", data, sigma="y=sy,x=sx")
    assert answer.rss == pytest.approx(least, rel=1e-7)
    assert answer.point["k"] == pytest.approx(k, rel=1e-4)


@pytest.mark.parametrize(
    ("end", "rows", "seed", "square"), [(5, 50, 2, 45.5908483), (3, 200, 4, 105.16985)]
)
def test_polynomials_of_degree_8_whose_residuals_are_as_large_as_their_radii(
    end: int, rows: int, seed: int, square: float
) -> None:
    # the sums are those of ODRPACK, by SciPy, to the digits where two runs of it agree
    draw, places = random.Random(seed), [end * i / (rows - 1) for i in range(rows)]
    curve = (1.0, 1.0, -1.0, 0.5, 0.2, -0.1, 0.3, -0.05, 0.02)
    data: dict[str, list[float]] = {"x": [], "y": []}
    for x in places:
        height = sum(c * (x / end * 2 - 1) ** k for k, c in enumerate(curve))
        data["x"].append(float(f"{x:.4f}"))
        data["y"].append(float(f"{height + draw.gauss(0, 0.1):.5f}"))
    text = "y = a + b*x + " + " + ".join(f"c{k}*x**{k}" for k in range(2, 9))
    answer = autodiff_cli.fit(text, data, sigma="y=0.1,x=0.1")
    assert answer.converged
    assert answer.rss == pytest.approx(square, rel=2e-7)
    # a work limit of the search: nested steps to the nearest points took 21,000
    assert answer.evaluations < 6000
