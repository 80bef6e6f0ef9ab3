"""`iterate(f, x0, n)`: a function applied n times, unrolled, with exact gradients through all
steps.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from autodiff_cli import diff, gradient, hessian
from autodiff_cli.errors import ExpressionError


def test_it_is_the_composition() -> None:
    written = gradient("sin(sin(sin(x)))*y", "x=0.7,y=2")
    found = gradient("iterate(sin, x, 3)*y", "x=0.7,y=2")
    assert (found.value, found.gradient) == (written.value, written.gradient)
    assert gradient("iterate(sin, x, 0)", "x=0.7").gradient == {"x": 1.0}
    assert [d.formula for d in diff("f(t) = t**2; iterate(f, x, 3)").derivatives] == ["8*x**7"]


def test_newton_steps_have_the_derivative_of_the_root() -> None:
    found = gradient("f(x) = x - (x**2 - a)/(2*x); iterate(f, 1, 7)", "a=3")
    assert found.value == pytest.approx(math.sqrt(3), rel=1e-15)
    assert found.gradient["a"] == pytest.approx(1 / (2 * math.sqrt(3)), rel=1e-14)
    ((second,),) = hessian("f(x) = x - (x**2 - a)/(2*x); iterate(f, 1, 7)", "a=3").hessian
    assert second == pytest.approx(-1 / (4 * 3**1.5), rel=1e-12)


def test_an_orbit_has_the_sensitivities_of_its_matrix() -> None:
    """The steps of a linear system are powers of a matrix."""
    h, k, n = 0.05, 2.0, 150
    text = f"f(s) = [s[1] + {h}*s[2], s[2] - {h}*k*(s[1] + {h}*s[2])]; iterate(f, [x0, v0], {n})[1]"
    found = gradient(text, {"k": k, "x0": 1.0, "v0": 0.5})

    def orbit(stiffness: float) -> np.ndarray:
        matrix = np.array([[1, h], [-h * stiffness, 1 - h * h * stiffness]])
        return np.linalg.matrix_power(matrix, n)

    assert found.value == pytest.approx((orbit(k) @ [1.0, 0.5])[0], rel=1e-12)
    assert [found.gradient["x0"], found.gradient["v0"]] == pytest.approx(orbit(k)[0], rel=1e-12)
    slope = (orbit(k + 1e-6) - orbit(k - 1e-6))[0] @ [1.0, 0.5] / 2e-6
    assert found.gradient["k"] == pytest.approx(slope, rel=1e-7)


def test_the_number_of_the_step_chooses_the_input_as_in_a_recurrent_network() -> None:
    text = "cell(h, t) = tanh(w*h + v*x[t]); (iterate(cell, 0, 5) - y)**2"
    inputs = [1.0, -0.5, 0.25, 2.0, 0.1]
    found = gradient(text, {"w": 0.9, "v": 0.5, "x": inputs, "y": 1.0})
    states, w, v = [0.0], 0.9, 0.5
    for x in inputs:
        states.append(math.tanh(w * states[-1] + v * x))
    # backpropagation through time, by hand
    adjoint, by_w, by_v, by_x = 2 * (states[-1] - 1), 0.0, 0.0, [0.0] * 5
    for t in range(5, 0, -1):
        inner = adjoint * (1 - states[t] ** 2)
        by_w, by_v, by_x[t - 1] = (
            by_w + inner * states[t - 1],
            by_v + inner * inputs[t - 1],
            inner * v,
        )
        adjoint = inner * w
    assert found.value == pytest.approx((states[-1] - 1) ** 2, rel=1e-14)
    assert found.gradient["w"] == pytest.approx(by_w, rel=1e-13)
    assert found.gradient["v"] == pytest.approx(by_v, rel=1e-13)
    assert [found.gradient[f"x[{t}]"] for t in range(1, 6)] == pytest.approx(by_x, rel=1e-13)


def test_runge_kutta_converges_with_the_fourth_power_of_the_step() -> None:
    def error(n: int) -> float:
        text = (
            f"h = 1/{n}; g(u) = r*u; k1(u) = g(u); k2(u) = g(u + h/2*k1(u)); k3(u) = g(u +"
            " h/2*k2(u));k4(u) = g(u + h*k3(u)); f(u) = u + h/6*(k1(u) + 2*k2(u) + 2*k3(u) +"
            f" k4(u)); iterate(f, 1, {n})"
        )
        return abs(gradient(text, "r=1").gradient["r"] - math.e)

    assert error(4) / error(8) == pytest.approx(16, rel=0.2)


def test_programs_may_use_the_name() -> None:
    assert gradient("iterate = x**2; iterate*3", "x=2").gradient == {"x": 12.0}
    assert gradient("iterate(a, b) = a*b; iterate(x, 2)", "x=2").gradient == {"x": 2.0}


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("iterate(f, x, 3)", "there is no function `f`, which `iterate` would apply", "f"),
        ("iterate(2*x, x, 3)", "the first argument of `iterate` is the name of a function", "2*x"),
        ("iterate(sin, x)", "`iterate` takes 3 arguments, and 2 are given", "iterate(sin, x)"),
        ("iterate(sin, x, -1)", "`iterate` cannot take -1 steps", "-1"),
        ("iterate(sin, x, 1000000)", "`iterate` cannot take 1,000,000 steps", "1000000"),
        ("iterate(atan2, x, 2)", "`atan2` takes 2 arguments, and `iterate` gives it one", "atan2"),
        (
            "f(a, b, c) = a; iterate(f, x, 2)",
            "`f` takes 3 arguments, and `iterate` gives it one",
            "f",
        ),
        (
            "f(t) = [t, t]; iterate(f, x, 2)",
            "a step of `iterate` makes a list of 2 of a number",
            "iterate(f, x, 2)",
        ),
        ("f(t) = iterate(f, t, 2); f(x)", "`f` calls itself", "f"),
    ],
)
def test_what_it_refuses(text: str, message: str, place: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        gradient(text, "x=1")
    assert str(caught.value).startswith(message)
    span = caught.value.span
    assert span is not None
    assert text[span.start : span.end].startswith(place)


def test_its_work_is_bounded() -> None:
    with pytest.raises(ExpressionError) as caught:
        gradient(
            "f(t) = t + t*t*t; g(t) = iterate(f, t, 9000); h(t) = iterate(g, t, 9000); iterate(h,"
            " x, 9000)",
            "x=0",
        )
    assert caught.value.kind == "limit"
