"""Programs as functions: by position and by name, at points and over arrays, by code that is as
right as the sweeps.
"""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest

from autodiff_cli import ExpressionError, Value, gradient, hessian, jacobian, parse
from autodiff_cli.compiled.point_derivatives import PointDerivatives
from autodiff_cli.engine.graphs.value import variable


def _formula(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(["x", "y", "x", "y", "0.5", "2"])
    one, other = (_formula(rng, rng.randrange(depth)) for _ in "xy")
    templates = [
        *(
            "({0} + {1})",
            "({0} - {1})",
            "({0}*{1})",
            "{0}/(1.5 + {1}**2)",
            "tanh({0})",
            "relu({0})",
            "abs({0})",
        ),
        *(
            "sqrt({0})",
            "log({0})",
            "max({0}, {1})",
            "({0})**3",
            "({0})**1.5",
            "where({0} < {1}, {0}, {1}**2)",
        ),
        *(
            "floor({0})",
            "exp(-({0})**2)",
            "hypot({0}, {1})",
            "({0})**({1})",
            "digamma({0})",
            "sin({0})*{1}",
        ),
    ]
    return rng.choice(templates).format(one, other)


PLACES = [-2.0, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 1e-300, 1e-160, 1e160]
"""Among them poles, kinks, the edges of branches, and numbers whose squares underflow."""


def _points(rng: random.Random, count: int) -> list[tuple[float, float]]:
    draws = [(lambda: rng.choice(PLACES)), (lambda: rng.gauss(0, 1))]
    return [(rng.choice(draws)(), rng.choice(draws)()) for _ in range(count)]


def _is_close(found: Any, expected: Any, about: str) -> None:
    """Compare matrices, whose entries may cancel."""
    size = float(np.max(np.abs(expected)))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13 * size, err_msg=about)


def test_hessians_and_jacobians_at_points_are_those_of_the_commands() -> None:
    rng, held, refused = random.Random(11), 0, 0
    for _ in range(120):
        text = f"{_formula(rng, 3)} + 0*x*y"
        f = parse(text)
        for x, y in _points(rng, 5):
            point = {"x": x, "y": y}
            try:
                expected = hessian(text, point)
            except ExpressionError as error:
                with pytest.raises(ExpressionError) as caught:
                    f.hessian(**point)
                assert caught.value.kind == error.kind, (text, point)
                refused += 1
                continue
            found = f.hessian(**point)
            assert found.value == expected.value
            assert found.gradient == pytest.approx(expected.gradient, rel=1e-9), (text, point)
            _is_close(found.hessian, expected.hessian, f"{text} {point}")
            row = jacobian(text, point).jacobian
            np.testing.assert_allclose(
                f.jacobian(**point).jacobian, row, rtol=1e-12, err_msg=f"{text} {point}"
            )
            held += 1
    assert held > 200 and refused > 50


def test_arrays_have_the_answers_of_their_points() -> None:
    rng = random.Random(12)
    for _ in range(25):
        text = f"{_formula(rng, 3)} + 0*x*y"
        f, points = parse(text, ["x", "y"]), _points(rng, 12)
        columns = {
            name: np.array([point[k] for point in points]).reshape(3, 4)
            for k, name in enumerate("xy")
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # conventions at kinks are said too
            first, second = f.gradient(**columns), f.hessian(**columns)
        assert second.hessian.shape == (3, 4, 2, 2) and first.gradient["x"].shape == (3, 4)
        for k, (x, y) in enumerate(points):
            for found, call in ((first, gradient), (second, hessian)):
                assert (k in found.errors) == np.isnan(found.value.flat[k])
                try:
                    expected: Any = call(text, {"x": x, "y": y})
                except ExpressionError as error:
                    assert found.errors[k].startswith(error.kind), (text, x, y)
                    continue
                slopes = {name: column.flat[k] for name, column in found.gradient.items()}
                assert slopes == pytest.approx(expected.gradient, rel=1e-9), (text, x, y)
                if call is hessian:
                    _is_close(
                        found.hessian.reshape(-1, 2, 2)[k], expected.hessian, f"{text} {x} {y}"
                    )


def test_a_program_is_called_by_position_and_by_name() -> None:
    f = parse("s = x*y; s**2 + x")
    assert f(3, 0.5) == f(3, y=0.5) == f(x=3, y=0.5) == f.value(3, 0.5) == 5.25
    assert f.gradient(3, 0.5).gradient == {"x": 2.5, "y": 9.0}
    assert f.hessian(3, 0.5).hessian == [[0.5, 6.0], [6.0, 18.0]]
    assert np.asarray(f.hessian(3, 0.5)).dtype == float
    out = f(Value(3.0), 0.5)
    out.backward()
    assert out.data == 5.25
    for call, message in (
        (lambda: f(1, 2, 3), "has 2 variables, and the call has 3 values"),
        (lambda: f(1, x=2), "has two values"),
        (lambda: f(1), "needs a value for `y`"),
        (lambda: f.hessian(1, "a"), "`y` cannot be 'a'"),
        (lambda: f([1, "a"], 2), "`x` cannot be"),
        (lambda: f([1, 2], Value(2.0)), "is a Value, and others are arrays"),
    ):
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(ValueError, match="shapes that do not fit together"):
        f([1, 2], [1, 2, 3])
    with pytest.raises(ExpressionError, match="outputs"):
        parse("x, x**2").hessian(2)


def test_arrays_are_broadcast_and_several_results_have_rows() -> None:
    f = parse("x*y, x + y, y")
    x, y = np.array([1.0, 2.0, 3.0]), np.array([[1.0], [5.0]])
    found = f.jacobian(x, y)
    assert found.value.shape == (2, 3, 3) and found.jacobian.shape == (2, 3, 3, 2)
    assert found.jacobian[1, 2].tolist() == [[5.0, 3.0], [1.0, 1.0], [0.0, 1.0]]
    assert [part.tolist() for part in f([1, 2], 3)] == [[3.0, 6.0], [4.0, 5.0], [3.0, 3.0]]
    assert f.jacobian(2, 3).jacobian == [[3.0, 2.0], [1.0, 1.0], [0.0, 1.0]]
    # a name of the constants can be a variable
    assert parse("e*x", ["e"]).gradient(x=[1.0, 2.0], e=3.0).gradient["e"].tolist() == [1.0, 2.0]


def test_points_without_an_answer_are_nan_with_a_warning() -> None:
    f = parse("log(x)")
    with pytest.warns(
        RuntimeWarning,
        match="2 of 3 points have no answer .*, at 0: domain: `log` is undefined at -1",
    ):
        found = f.gradient([-1.0, 2.0, np.nan])
    assert np.isnan(found.value[[0, 2]]).all() and found.gradient["x"][1] == 0.5
    assert [*found.errors] == [0, 2]


def test_code_leaves_breakpoints_and_guards_to_the_sweeps() -> None:
    x = variable("x")
    from autodiff_cli.engine.graphs.value import apply
    from autodiff_cli.engine.table.primitive import FUNCTIONS

    derivatives = PointDerivatives([apply(FUNCTIONS["abs"], x) * x], [x], [x])
    assert derivatives.second([0.0]) is None and derivatives.first([0.0]) is None
    found = derivatives.second([-1.5])
    assert found is not None and found.hessian == [[-2.0]]
