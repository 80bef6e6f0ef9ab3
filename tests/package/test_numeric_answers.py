"""Answers as numbers and arrays: in the shape of what was given, and named as SciPy and lmfit name
them.
"""

from __future__ import annotations

import json
import pickle
import random
import warnings
from typing import Any

import numpy as np
import pytest

from autodiff_cli import (
    ExpressionError,
    descend,
    fit,
    gradient,
    hessian,
    jacobian,
    minimize,
    parse,
    taylor,
)


def test_derivatives_by_lists_come_back_in_their_shape() -> None:
    rng = np.random.default_rng(2)
    weights, x, b = rng.normal(size=(3, 2)), rng.normal(size=2), 0.5
    answer = gradient("sum((W @ x + b)**2)", {"W": weights, "x": x.tolist(), "b": b})
    residual = 2 * (weights @ x + b)
    np.testing.assert_allclose(answer.gradient["W"], np.outer(residual, x), rtol=1e-13)
    assert isinstance(answer.gradient["W"], np.ndarray) and isinstance(answer.gradient["x"], list)
    np.testing.assert_allclose(answer.gradient["x"], weights.T @ residual, rtol=1e-13)
    assert answer.gradient["W[3,2]"] == answer.gradient["W"][2, 1]
    # the record is as the command prints it
    assert answer.to_dict()["gradient"] == json.loads(answer.to_text("json"))["gradient"]
    assert [*answer.to_dict()["gradient"]] == ["W", "x", "b"]
    assert len(np.asarray(answer)) == 9
    again = pickle.loads(pickle.dumps(answer.gradient))  # noqa: S301
    assert again["x"] == answer.gradient["x"]


def test_a_list_without_all_derivatives_has_none_by_its_name() -> None:
    point = {"W": [[1.0, 2.0], [3.0, 4.0]], "x": [5.0, 6.0]}
    answer = gradient("sum(W @ x)", point, wrt="W[1,1],W[1,2]")
    with pytest.raises(KeyError, match="some of its entries"):
        answer.gradient["W"]
    for name in ("x", "q", "W[9,9]"):
        with pytest.raises(KeyError):
            answer.gradient[name]
    assert gradient("sum(x)*y", {"x": [1.0, 2.0], "y": 3.0}).gradient["x"] == [3.0, 3.0]


def test_answers_are_arrays_of_numbers() -> None:
    point = {"x": 2, "y": 3}
    cases: list[tuple[Any, Any]] = [
        (gradient("x*y", point), [3, 2]),
        (gradient("x/3", {"x": "1/7"}, exact=True), [1 / 3]),
        (hessian("x**2*y", point), [[6, 4], [4, 0]]),
        (jacobian("x*y, x", point), [[3, 2], [1, 0]]),
        (jacobian("x*y, x", point, direction="x=1"), [3, 1]),
        (jacobian("x*y, x", point, adjoint="1,2"), [5, 2]),
        (taylor("exp(x)", "x=0", order=2), [1, 1, 0.5]),
        (descend("x**2", "x=1", rate=0.25, steps=2), [[1], [0.5], [0.25]]),
        (minimize("(x-1)**2 + (y+2)**2", "x=0,y=0"), [1, -2]),
        (fit("y = a + b*x", {"x": [0, 1, 2], "y": [1, 3, 5]}), [1, 2]),
    ]
    for answer, expected in cases:
        found = np.asarray(answer)
        assert found.dtype == float
        np.testing.assert_allclose(found, expected, atol=1e-9)
    assert np.asarray(gradient("x*y", point), dtype="float32").dtype == np.float32
    run = descend("x**2", "x=1", rate=0.25, steps=2)
    assert run.path == run.rows


def test_a_covariance_is_that_of_scipy_and_predictions_those_of_the_formula() -> None:
    from scipy.optimize import curve_fit

    rng = random.Random(1)
    x = [k / 4 for k in range(30)]
    y = [2.5 * np.exp(-0.7 * each) + 0.3 + rng.gauss(0, 0.05) for each in x]
    answer = fit("y = a*exp(-k*x) + c", {"x": x, "y": y}, "a=1,k=1,c=0")
    best, expected = curve_fit(lambda x, a, k, c: a * np.exp(-k * x) + c, x, y, (1, 1, 0))
    order = [["a", "k", "c"].index(name) for name in answer.correlation]
    assert answer.covariance is not None
    np.testing.assert_allclose(answer.covariance, expected[np.ix_(order, order)], rtol=2e-4)
    at = np.array([[0.1, 2.0], [3.0, 4.0]])
    a, k, c = best
    np.testing.assert_allclose(answer.predict({"x": at}), a * np.exp(-k * at) + c, rtol=1e-5)
    assert isinstance(answer.predict(x=1.0), float)
    np.testing.assert_allclose(answer.predict(x=x), answer.fitted, rtol=1e-12)
    with pytest.raises(TypeError, match="needs a value for `x`"):
        answer.predict()
    with pytest.raises(TypeError, match="`z` is not a variable"):
        answer.predict(x=1.0, z=2.0)


def test_predictions_are_of_the_left_side_and_keep_what_is_fixed() -> None:
    columns = {"x": [1.0, 2.0, 3.0], "y": [2.0, 4.5, 7.5]}
    answer = fit("log(y) = a*x + b", columns)
    np.testing.assert_allclose(answer.predict(x=columns["x"]), answer.fitted, rtol=1e-12)
    held = fit("y = a*x + b", columns, fix="b=1")
    assert held.predict(x=2.0) == pytest.approx(2 * held.point["a"] + 1)
    with pytest.raises(ExpressionError, match="the fit has units"):
        fit("U = R*I", {"I [A]": [1.0, 2.0], "U [V]": [2.0, 4.1]}).predict(I=1.0)


def test_lazy_frames_of_polars_are_answered_lazily() -> None:
    polars = pytest.importorskip("polars")
    found = gradient("x*y", polars.LazyFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}))
    assert type(found) is polars.LazyFrame
    assert found.collect()["d_x"].to_list() == [3.0, 4.0]


# ---- many points --------------------------------------------------------------------------------------------------
X, Y = np.array([0.5, -1.25, 2.0, 3.0]), np.array([1.0, 2.0, -0.5, 0.25])


def test_columns_have_gradients_and_hessians_as_arrays() -> None:
    answers: Any = hessian("x**3*y + sin(x*y)", {"x": X, "y": Y})
    s, c = np.sin(X * Y), np.cos(X * Y)
    mixed = 3 * X**2 + c - X * Y * s
    expected = np.array([[6 * X * Y - Y**2 * s, mixed], [mixed, -(X**2) * s]]).transpose(2, 0, 1)
    assert answers.hessian.shape == (4, 2, 2)
    np.testing.assert_allclose(answers.hessian, expected, rtol=1e-13)
    np.testing.assert_allclose(np.asarray(answers), expected, rtol=1e-13)
    np.testing.assert_allclose(answers.gradient["x"], 3 * X**2 * Y + Y * c, rtol=1e-13)
    np.testing.assert_allclose(answers.value, X**3 * Y + s, rtol=1e-13)
    # it is the dictionary of columns that it was
    assert [*answers] == ["value", "d_x", "d_y", "d_x_x", "d_y_x", "d_y_y", "error"]
    assert answers.jacobian is None
    outputs: Any = jacobian("x*y, x, x + y", {"x": X, "y": 2.0})
    assert outputs.jacobian.shape == (4, 3, 2) and outputs.value.shape == (4, 3)
    np.testing.assert_array_equal(outputs.jacobian[:, 0], np.stack([np.full(4, 2.0), X], axis=-1))
    np.testing.assert_array_equal(outputs.value, np.stack([2 * X, X, X + 2], axis=-1))
    slopes: Any = gradient("x*y", {"x": X.tolist(), "y": Y.tolist()})
    np.testing.assert_array_equal(np.asarray(slopes), np.stack([Y, X], axis=-1))
    assert slopes.hessian is None and slopes.jacobian is None


def test_columns_of_sweeps_of_some_variables_and_without_answers() -> None:
    swept: Any = hessian("x**2*y", "x=0:2:1,y=2")
    np.testing.assert_array_equal(swept.hessian, [[[4, 2 * x], [2 * x, 0]] for x in (0, 1, 2)])
    by_x: Any = hessian("x**2*y", {"x": X, "y": Y}, wrt="x")
    np.testing.assert_array_equal(by_x.hessian, (2 * Y).reshape(4, 1, 1))
    assert [*by_x.gradient] == ["x"]
    missing: Any = hessian("sqrt(x)*y", {"x": [4.0, -1.0], "y": [1.0, 1.0]})
    np.testing.assert_array_equal(
        missing.hessian, [[[-1 / 32, 0.25], [0.25, 0]], np.full((2, 2), np.nan)]
    )
    expected = swept.hessian.copy()
    del swept["x"], swept["value"]
    np.testing.assert_array_equal(np.asarray(swept), expected)
    again = pickle.loads(pickle.dumps(swept))  # noqa: S301
    np.testing.assert_array_equal(again.hessian, swept.hessian)


def test_random_hessians_over_columns_are_those_of_each_point() -> None:
    draw = random.Random(3)
    for _ in range(12):
        a, b, n = draw.uniform(-2, 2), draw.uniform(0.1, 2), draw.randint(2, 4)
        text = f"tanh({a:.3f}*x*y + z) * exp(-{b:.3f}*z**2) + x**{n}/(1 + y**2)"
        points = [{name: draw.uniform(-1, 1) for name in "xyz"} for _ in range(3)]
        answers: Any = hessian(text, {name: [p[name] for p in points] for name in "xyz"})
        singly = np.array([hessian(text, p).hessian for p in points])
        np.testing.assert_allclose(answers.hessian, singly, rtol=1e-11, atol=1e-13)


def test_values_of_a_program_need_no_derivatives() -> None:
    f = parse("sqrt(x)*y")
    assert f.value(x=0, y=2) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(f.value(x=np.array([0.0, 4.0]), y=2), [0, 4])
        np.testing.assert_array_equal(f(np.array([0.0, 4.0]), 2), [0, 4])
    with pytest.warns(RuntimeWarning, match="1 of 2 points") as told:
        assert np.isnan(f.value(x=np.array([-1.0, 4.0]), y=2)[0])
    assert told[0].filename == __file__
    with pytest.warns(RuntimeWarning, match="derivative") as told:
        assert np.isnan(f.gradient(x=np.array([0.0, 4.0]), y=2).gradient["x"][0])
    assert told[0].filename == __file__


def test_a_sum_over_a_list_is_not_taken_point_by_point() -> None:
    assert gradient("sum(x)**2", {"x": [1.0, 2.0]}).value == 9
    f = parse("sum(x)**2")
    assert f(x=3) == 9
    assert f.value(x=[1.0, 2.0]) == 9 and f.gradient(x=[1.0, 2.0]).gradient == {"x": [6.0, 6.0]}
    assert f.hessian(x=[1.0, 2.0]).hessian == {"x": {"x": [[2.0, 2.0], [2.0, 2.0]]}}
    assert f.jacobian(x=[1.0, 2.0]).jacobian == {"x": [6.0, 6.0]}
    np.testing.assert_array_equal(parse("sum(x, y)").value(x=[1.0, 2.0], y=1), [2, 3])
