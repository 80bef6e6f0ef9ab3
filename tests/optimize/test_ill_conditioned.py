"""Fits that doubles do not determine, beside exact rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import autodiff_cli
from autodiff_cli.capabilities.optimize.fit import Fit, fit
from autodiff_cli.questions.arithmetic import arithmetic_of
from autodiff_cli.questions.parse_point import with_text


def typed(numbers: Any) -> list[float]:
    return [with_text(float(x), repr(float(x))) for x in numbers]


def exact_fit(
    rows: list[list[Fraction]], y: list[Fraction]
) -> tuple[list[float], list[float], Fraction]:
    """Return estimates, standard errors and the sum of squares, by elimination in fractions."""
    n = len(rows[0])
    system = []
    for i in range(n):
        gram = [sum((row[i] * row[j] for row in rows), Fraction(0)) for j in range(n)]
        right = sum((row[i] * v for row, v in zip(rows, y, strict=True)), Fraction(0))
        system.append([*gram, right, *(Fraction(i == j) for j in range(n))])
    for i in range(n):
        pivot = system[i][i]
        system[i] = [x / pivot for x in system[i]]
        for k in range(n):
            if k != i:
                factor = system[k][i]
                system[k] = [x - factor * z for x, z in zip(system[k], system[i], strict=True)]
    solution = [row[n] for row in system]
    rss = Fraction(0)
    for row, v in zip(rows, y, strict=True):
        rss += (v - sum(b * x for b, x in zip(solution, row, strict=True))) ** 2
    errors = [math.sqrt(rss / (len(y) - n) * system[i][n + 1 + i]) for i in range(n)]
    return [float(x) for x in solution], errors, rss


def polynomial(degree: int) -> str:
    return "y = " + " + ".join(f"b{k}*x**{k}" for k in range(degree + 1))


def assert_fits(found: Fit, estimates: list[float], errors: list[float], rss: Fraction) -> None:
    assert found.converged and not found.null
    assert [float(each.estimate) for each in found.parameters.values()] == pytest.approx(
        estimates, rel=1e-9, abs=0
    )
    computed = [float(each.error or 0) for each in found.parameters.values()]
    assert computed == pytest.approx(errors, rel=1e-9, abs=0)
    assert float(found.rss) == pytest.approx(float(rss), rel=1e-9)


@pytest.mark.parametrize(
    ("low", "high", "degree"),
    [(0, 1, 12), (1, 2, 8), (1, 2, 10), (10, 11, 6), (10, 11, 8), (1e6, 1e6 + 10, 3), (1e6, 1e6 + 1000, 3),
     (100, 101, 5), (0, 1, 16), (2000, 2020, 3), (2000, 2020, 5)],
)  # fmt: skip
def test_polynomials_beside_fractions(low: float, high: float, degree: int) -> None:
    x = np.round(np.linspace(low, high, 30), 4)
    y = np.round(np.sin(3 * (x - low) / (high - low)) + 0.01 * np.cos(37 * np.arange(30)), 6)
    rows = [[Fraction(repr(each)) ** k for k in range(degree + 1)] for each in x.tolist()]
    wanted = exact_fit(rows, [Fraction(repr(each)) for each in y.tolist()])
    found = fit(polynomial(degree), {"x": typed(x), "y": typed(y)})
    assert_fits(found, *wanted)
    assert found.dof == 30 - degree - 1
    # the curve and its band too, of which parameters with 16 digits lose all
    rss = wanted[2]
    left = [float(v) for v in found.residuals]
    assert sum(v * v for v in left) == pytest.approx(float(rss), rel=1e-9)
    assert all(half is not None and 0 < half < 1 for half in found.band)
    assert all(abs(height) < 2 for _, height, _ in found.curve)


@pytest.mark.parametrize("seed", range(20))
def test_random_columns_that_are_nearly_collinear(seed: int) -> None:
    draw = np.random.default_rng(seed)
    x = np.round(draw.uniform(1, 3, 12), 2)
    z = np.round(3 * x + 10.0 ** -draw.integers(4, 12) * draw.integers(-9, 10, 12), 13)
    y = np.round(2 * x + 0.1 * draw.standard_normal(12), 3)
    numbers = ([Fraction(repr(each)) for each in column.tolist()] for column in (x, z, y))
    ones, (xs, zs, ys) = Fraction(1), numbers
    wanted = exact_fit([[ones, a, b] for a, b in zip(xs, zs, strict=True)], ys)
    data = {"x": typed(x), "y": typed(y), "z": typed(z)}
    assert_fits(fit("y = a + b*x + c*z", data), *wanted)


@pytest.mark.parametrize("numbers", ["decimals", "doubles"])
def test_collinear_columns_are_not_told_apart_by_their_rounding(numbers: str) -> None:
    draw = np.random.default_rng(3)
    x = np.round(draw.uniform(1, 3, 12), 2)
    y = np.round(2 * x + 0.1 * draw.standard_normal(12), 3)
    data: dict[str, Any] = {"x": x, "y": y, "z": 3 * x}
    if numbers == "decimals":
        data = {"x": typed(x), "y": typed(y), "z": typed(np.round(3 * x, 2))}
    found = fit("y = a + b*x + c*z", data)
    assert found.reason == "undetermined" and found.dof == 10
    assert [{*direction} for direction in found.null] == [{"b", "c"}]
    assert found.parameters["a"].error is not None and found.parameters["b"].error is None


def test_what_is_not_determined_is_named_beside_what_doubles_do_not_determine() -> None:
    x = typed(np.round(np.linspace(10, 11, 30), 4))
    y = typed(np.round(np.sin(np.arange(30.0)), 4))
    found = fit(f"{polynomial(8)} + c*x", {"x": x, "y": y})
    assert found.reason == "undetermined" and [{*direction} for direction in found.null] == [
        {"b1", "c"}
    ]
    plain = fit(polynomial(8), {"x": x, "y": y})
    assert float(found.rss) == pytest.approx(float(plain.rss), rel=1e-9)
    assert found.dof == plain.dof == 21


@pytest.mark.parametrize(
    "arithmetic", [arithmetic_of(False, 30, False), arithmetic_of(False, None, True)]
)
def test_digits_of_ill_conditioned_fits(arithmetic: Any) -> None:
    x = np.round(np.linspace(10, 11, 30), 4)
    y = np.round(np.sin(np.arange(30.0)), 4)
    rows = [[Fraction(repr(each)) ** k for k in range(9)] for each in x.tolist()]
    wanted = exact_fit(rows, [Fraction(repr(each)) for each in y.tolist()])
    assert_fits(fit(polynomial(8), {"x": typed(x), "y": typed(y)}, arithmetic=arithmetic), *wanted)


def test_weights_robust_losses_and_predictions_of_ill_conditioned_fits() -> None:
    """A polynomial about 1e6 is one about 0, where doubles determine it."""
    t = np.arange(20.0)
    data = {"x": t + 1e6, "t": t, "y": np.sin(t / 6) + 0.01 * np.cos(37 * t), "w": 1 + t % 3}
    data["y"][7] += 3
    near, far = ({"t": [3.5, 25.0]}, {"x": [1e6 + 3.5, 1e6 + 25]})
    for more in ({}, {"weights": "w"}, {"loss": "huber"}, {"loss": "soft_l1"}, {"sigma": 0.01}):
        plain = fit("y = a + b*t + c*t**2 + d*t**3", data, predict=near, **more)
        found = fit("y = a + b*x + c*x**2 + d*x**3", data, predict=far, **more)
        assert found.converged and found.dof == plain.dof
        for name in ("rss", "r_squared", "fitted", "band", "standardised"):
            assert getattr(found, name) == pytest.approx(getattr(plain, name), rel=1e-6, abs=1e-9)
        assert float(found.parameters["d"].estimate) == pytest.approx(plain.point["d"], rel=1e-6)
        assert found.parameters["d"].error == pytest.approx(plain.parameters["d"].error, rel=1e-6)
        for one, other in zip(found.predictions, plain.predictions, strict=True):
            assert one.value == pytest.approx(other.value, rel=1e-6)
            assert one.confidence == pytest.approx(other.confidence, rel=1e-6)


@pytest.mark.parametrize("rate", [30, 40, 50, 300, 1000])
def test_parameters_of_terms_that_vanish_in_rounding_are_not_determined(rate: int) -> None:
    x = [1 + k / 10 for k in range(10)]
    data = {"x": x, "y": [2 * each for each in x]}
    linear = fit(f"y = a*x + b*exp(-{rate}*x)", data)
    shape = fit("y = a*x + exp(-b*x)", data, {"b": rate})
    for found in (linear, shape):
        assert found.reason == "undetermined" and found.dof == 9
        assert found.parameters["b"].held == "undetermined" and found.parameters["b"].error is None
        assert float(found.parameters["a"].estimate) == pytest.approx(2, rel=1e-12)
        (warning,) = (each.message for each in found.warnings if each.kind == "undetermined")
        assert warning == ("the data" if rate == 1000 else "doubles") + " do not determine `b` here"
    # noise says how much `b` may be
    noisy = fit(
        f"y = a*x + b*exp(-{rate}*x)",
        data | {"y": [2 * each + 0.01 * math.sin(9 * each) for each in x]},
    )
    assert noisy.converged == (rate < 1000) and noisy.parameters["a"].error is not None


@pytest.mark.parametrize("y", [0.0, 0.1, 1e6])
def test_a_slope_of_0_is_determined(y: float) -> None:
    found = fit("y = a + b*x", {"x": [1, 2, 3, 4], "y": [y] * 4})
    assert found.converged and abs(found.point["b"]) <= 1e-15 * max(y, 1)


def test_what_only_doubles_do_not_tell_apart_is_said_of_doubles() -> None:
    x = np.linspace(1e6, 1e6 + 10, 25)
    y = 1 + np.exp(-0.5 * (x - 1e6)) + 0.3 * (x - 1e6) ** 2 + 0.01 * np.cos(37 * np.arange(25))
    found = fit("y = exp(-k*(x - 1e6)) + a + b*x + c*x**2", {"x": x, "y": y}, {"k": 0.4})
    assert found.reason == "undetermined"
    assert all(
        "doubles do not distinguish" in each.message
        for each in found.warnings
        if each.kind == "undetermined"
    )
    twice = fit("y = exp(-k*(x - 1e6)) + a*d + b*(x - 1e6)", {"x": x, "y": y}, {"k": 0.4, "d": 1.0})
    assert "the data do not distinguish `a` and `d`" in {each.message for each in twice.warnings}


@pytest.mark.parametrize("place", [None, 601])
def test_all_rows_decide_whether_parameters_are_told_apart(place: int | None) -> None:
    """One row of many may tell two parameters apart, also one that a share of the rows leaves
    out.
    """
    x = np.arange(1.0, 1102)
    z = 3 * x
    if place is not None:
        z[place] += 1e-7
    y = 2 * x + np.cos(37 * x)
    for text in ("y = a*x + b*z", "y = exp(a)*x + b*z"):
        found = fit(text, {"x": x, "y": y, "z": z}, {"a": 0.1} if "exp" in text else {})
        if place is None:
            assert [each.message for each in found.warnings] == [
                "the data do not distinguish `a` and `b`"
            ]
        elif "exp" in text:
            messages = [each.message for each in found.warnings if each.kind == "undetermined"]
            assert messages == ["doubles do not distinguish `a` and `b`"]
        else:
            size = abs(y[place] - 2 * x[place])
            assert found.converged and abs(found.point["b"]) < 10 * size / 1e-7


@pytest.mark.parametrize(
    ("text", "x", "y"),
    [
        ("y = a + b*x + c*x**2", [0, 2.5, 5, 7.5, 10], [2, 6.375, 4.5, -3.625, -18]),
        ("y = a + b*x + c*x**2", [-2, -1, 0, 1, 2], [4, 1, 0, 1, 4]),
        ("y = a + b*x + c*log(x)", [1, 2, 3, 4, 5], [3, 5, 7, 9, 11]),
        ("y = a*max(x, 2) + b*min(x, 2) + c", [0, 1, 2, 3, 4, 5], [1, 3, 5, 7, 9, 11]),
    ],
)
@pytest.mark.parametrize("loss", ["linear", "huber"])
def test_errors_of_exact_data_are_0(text: str, x: list[float], y: list[float], loss: str) -> None:
    found = fit(text, {"x": typed(x), "y": typed(y)}, loss=loss)
    assert found.converged and found.rss == 0
    assert [each.error for each in found.parameters.values()] == [0] * len(found.parameters)


def test_an_interrupted_fit_in_many_digits_is_where_its_residuals_are() -> None:
    x = np.arange(2000.0, 2012)
    y = np.array([3, 4, 4.5, 5.1, 5.2, 6, 6.6, 7.7, 7.9, 8, 9.1, 9.5])
    data = {"x": typed(x), "y": typed(y)}
    whole = fit(polynomial(5), data)
    found = fit(polynomial(5), data, stop=lambda: True)
    assert found.reason == "interrupted"
    assert found.point == pytest.approx(whole.point, rel=1e-9)
    assert float(found.rss) == pytest.approx(float(whole.rss), rel=1e-9)


@pytest.mark.parametrize("size", [1.0, 1e-10, 1e-20])
@pytest.mark.parametrize("text", ["y = a + b*x", "y = a + b*x + c*x**2"])
def test_a_slope_of_0_is_determined_in_any_unit_of_its_column(size: float, text: str) -> None:
    x, y = [-2, -1, 0, 1, 2], [4, 1.1, 0, 1.1, 4]
    found, plain = (fit(text, {"x": [unit * each for each in x], "y": y}) for unit in (size, 1.0))
    assert found.converged and found.dof == plain.dof
    error, wanted = found.parameters["b"].error, plain.parameters["b"].error
    assert (
        error is not None
        and wanted is not None
        and size * float(error) == pytest.approx(float(wanted), rel=1e-9)
    )


@pytest.mark.parametrize("text", ["y = a + b*x", "y = a + b*x + c*x**2"])
def test_predictions_at_many_rows_of_a_fit_in_many_digits(text: str) -> None:
    x = np.arange(2000.0, 2012)
    y = 3 + 2 * (x - 2000) if text == "y = a + b*x" else np.round(np.sin(x), 3)
    places = np.linspace(2000, 2020, 20_001).tolist()
    found = fit(text, {"x": typed(x), "y": typed(y)}, predict={"x": places})
    assert found.converged and len(found.predictions) == len(places)
    few = fit(text, {"x": typed(x), "y": typed(y)}, predict={"x": places[::5000]})
    for one, other in zip(found.predictions[::5000], few.predictions, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-9)
        assert one.confidence == pytest.approx(other.confidence, rel=1e-9)


def test_a_polynomial_of_1500_rows_is_solved_within_the_work() -> None:
    x = np.round(np.linspace(2000, 2010, 1500), 3)
    y = np.round(0.3 * (x - 2000) + 0.1 * np.sin(17 * np.arange(1500)), 3)
    found = fit(polynomial(4), {"x": typed(x), "y": typed(y)})
    middle = fit(polynomial(4).replace("*x", "*(x - 2005)"), {"x": typed(x), "y": typed(y)})
    assert found.converged and float(found.rss) == pytest.approx(float(middle.rss), rel=1e-9)
    one, other = found.parameters["b4"], middle.parameters["b4"]
    assert one.estimate == pytest.approx(other.estimate, rel=1e-6)
    assert one.error == pytest.approx(other.error, rel=1e-6)


@pytest.mark.parametrize("factor", ["1e300", "1e308", "1.7e308"])
def test_slopes_about_the_largest_double_have_a_verdict(factor: str) -> None:
    found = fit(f"y = a*sin({factor}*p + x)", {"x": [0, 1, 2, 3], "y": [0, 1, 0, 1]}, {"p": 1})
    assert not found.converged and math.isfinite(found.point["a"])


YEARS = {"x": [2011.0, 2012, 2013, 2014, 2015, 2016], "y": [1.2, 1.5, 1.9, 2.2, 2.9, 3.4]}
"""Its rate is 0.20672149 with the standard error 0.00861437, by SciPy in x - 2011 from a start
beside it.
"""


def test_sums_of_finite_products_may_overflow() -> None:
    found = fit("y = a*exp(b*x)", YEARS, {"a": 1, "b": 1})
    assert not found.converged or found.point["b"] == pytest.approx(0.20672149, rel=1e-7)


def test_what_the_data_determine_is_found_beside_what_they_do_not() -> None:
    found = fit("y = a*exp(b*x + c)", YEARS, {"a": 1, "b": 0.1, "c": 0})
    assert found.reason == "undetermined" and "not converged" not in found.message
    rate = found.parameters["b"]
    assert (rate.estimate, rate.error) == (
        pytest.approx(0.20672149, rel=1e-7),
        pytest.approx(0.00861437, rel=1e-5),
    )


@pytest.mark.parametrize(
    "text", ["y = a*exp(b*x + c)", "y = a*c*exp(b*x)", "y = exp(b*x + log(a) + c)"]
)
def test_no_other_rate_is_given_without_a_word(text: str) -> None:
    for start in (0.05, 0.1, 0.3):
        found = fit(text, YEARS, {"a": 1e-100, "b": start, "c": 1e-90})
        right = found.point["b"] == pytest.approx(0.20672149, rel=1e-6)
        assert right or "not converged" in found.message, (text, start, found.message)


@pytest.mark.parametrize(
    "text",
    [
        "y = a*(1 - exp(-b*x))",
        "y = a*exp(b*x) + c",
        "y = a*x/(b + x)",
        "y = a*sinh(b*x)",
        "y = a*tanh(b*x)",
    ],
)
@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
def test_a_curve_that_meets_a_line_only_in_the_limit_has_no_errors(text: str, scale: float) -> None:
    # its sum of squares is above 0 at all parameters, and in doubles 0 where rounding has its
    # digits
    found = fit(text, {"x": [scale * t for t in (1.0, 2, 3, 4)], "y": [1.0, 2, 3, 4]})
    assert not found.converged and found.reason in ("digits", "undetermined", "stuck")
    assert found.parameters["a"].error is None and found.parameters["b"].error is None


@pytest.mark.parametrize(
    ("text", "point"),
    [("y = a*(1 - exp(-b*x))", {"a": 3.0, "b": 0.5}), ("y = a*exp(b*x) + c", {"a": 2.0, "b": -0.7, "c": 1.0}),
     ("y = a*x/(b + x)", {"a": 5.0, "b": 2.0})],
)  # fmt: skip
def test_a_curve_that_meets_the_data_has_the_errors_0(text: str, point: dict[str, float]) -> None:
    xs = [0.5, 1, 2, 3, 5, 8]
    ys = [autodiff_cli.gradient(text.removeprefix("y = "), {"x": x, **point}).value for x in xs]
    found = fit(text, {"x": xs, "y": ys})
    assert found.converged
    for name, x in point.items():
        assert (
            math.isclose(found.point[name], x, rel_tol=1e-12)
            and (found.parameters[name].error or 0.0) < 1e-13
        )
