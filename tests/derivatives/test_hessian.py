"""Hessians, Jacobians and their products: at edges, in large, and what is said of the point."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.derivatives.hessian import hessian
from autodiff_cli.capabilities.derivatives.jacobian import jacobian
from autodiff_cli.engine.graphs import higher_order
from autodiff_cli.engine.numerics.linear_algebra import eigenvalues
from autodiff_cli.questions.arithmetic import Arithmetic
from counting import counted_calls


@pytest.mark.parametrize(
    ("text", "point", "matrix"),
    [
        ("x**y", {"x": 2.0, "y": 0.0}, [[0.0, 0.5], [0.5, math.log(2) ** 2]]),
        ("x**3", {"x": 0.0}, [[0.0]]),
        ("x**2", {"x": 0.0}, [[2.0]]),
        ("x**0", {"x": 0.0}, [[0.0]]),
        ("0*sqrt(x) + x**2", {"x": 0.0}, [[2.0]]),
        ("log(x) if x > 0 else x**2", {"x": -1.0}, [[2.0]]),
        ("max(x**2, sqrt(x) - 5)", {"x": 0.0}, [[2.0]]),
        ("softplus(x)", {"x": 0.0}, [[0.25]]),
        ("x*x*y", {"x": 3.0, "y": 2.0}, [[4.0, 6.0], [6.0, 0.0]]),
        (
            "prod(x, y, z)",
            {"x": 0.0, "y": 0.0, "z": 5.0},
            [[0.0, 5.0, 0.0], [5.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
        ),
        ("sinc(x)", {"x": 0.0}, [[-(math.pi**2) / 3]]),
        ("e*x**2 + pi", {"x": 1.0}, [[2 * math.e]]),
    ],
)
def test_edges(text: str, point: dict[str, float], matrix: list[list[float]]) -> None:
    found = hessian(text, point)
    for row, wanted in zip(found.hessian, matrix, strict=True):
        assert row == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize("text", ["x**1.5", "sqrt(x**3)", "cbrt(x)**5"])
def test_an_infinite_second_derivative_is_an_error(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        hessian(text, {"x": 0})
    assert caught.value.kind == "derivative"
    assert caught.value.span is not None


@pytest.mark.parametrize(
    ("text", "point", "verdict", "curvature"),
    [
        ("x**2 + y**2", {"x": 0, "y": 0}, "minimum", "convex"),
        ("-x**2 - 3*y**2", {"x": 0, "y": 0}, "maximum", "concave"),
        ("x*y", {"x": 0, "y": 0}, "saddle", "indefinite"),
        ("x**4 + y**2", {"x": 0, "y": 0}, "flat", "flat"),
        ("exp(x)", {"x": 0}, "not stationary", "convex"),
        ("(1-x)**2 + 100*(y-x**2)**2", {"x": 1, "y": 1}, "minimum", "convex"),
    ],
)
def test_what_is_said_of_the_point(
    text: str, point: dict[str, float], verdict: str, curvature: str
) -> None:
    found = hessian(text, point)
    assert (found.verdict, found.curvature) == (verdict, curvature)


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.lists(
            st.lists(st.floats(-9, 9), min_size=n, max_size=n), min_size=n, max_size=n
        )
    )
)
@settings(max_examples=60, deadline=None)
def test_eigenvalues_against_numpy(rows: list[list[float]]) -> None:
    numpy = pytest.importorskip("numpy")
    matrix = [[rows[max(i, j)][min(i, j)] for j in range(len(rows))] for i in range(len(rows))]
    wanted = numpy.linalg.eigvalsh(numpy.array(matrix))
    assert eigenvalues(matrix) == pytest.approx(wanted.tolist(), abs=1e-12 * max(1.0, *abs(wanted)))


def test_what_two_checks_find_is_said_once() -> None:
    assert len(hessian("gammainc(x, y)", {"x": 1e8, "y": 2.0}).warnings) == 1


def test_too_many_variables_are_refused() -> None:
    names = [f"x{k}" for k in range(501)]
    with pytest.raises(ExpressionError) as caught:
        hessian(" + ".join(names), dict.fromkeys(names, 1.0))
    assert caught.value.kind == "limit"


def test_a_hessian_of_a_hundred_variables_is_quick() -> None:
    names = [f"x{k}" for k in range(100)]
    text = " + ".join(f"100*({b} - {a}**2)**2 + (1 - {a})**2" for a, b in pairwise(names))
    with counted_calls(1_000_000):
        found = hessian(text, dict.fromkeys(names, 1.0))
    assert found.verdict == "minimum"


# ---- Jacobians ----------------------------------------------------------------------------------------------------
PROGRAM = "a = x*y; b = sin(x) + y**2; a, b, a*b"


def test_a_jacobian_and_its_products_agree() -> None:
    point, direction, adjoint = {"x": 0.7, "y": 1.3}, {"x": 2.0, "y": -0.5}, [1.0, 0.25, -3.0]
    whole = jacobian(PROGRAM, point)
    assert whole.outputs == ["a", "b", "a*b"]
    along = jacobian(PROGRAM, point, direction=direction).product
    back = jacobian(PROGRAM, point, adjoint=adjoint)
    assert whole.jacobian is not None and along is not None and back.gradient is not None
    assert back.jacobian is None
    rows = [[float(x) for x in row] for row in whole.jacobian]
    assert [float(x) for x in along] == pytest.approx([2.0 * row[0] - 0.5 * row[1] for row in rows])
    columns = [sum(w * row[k] for w, row in zip(adjoint, rows, strict=True)) for k in range(2)]
    assert [float(x) for x in back.gradient.values()] == pytest.approx(columns)
    named = jacobian(PROGRAM, point, adjoint={"a": 1, "b": 0.25, "a*b": -3}).gradient
    assert named == back.gradient


def test_products_never_form_the_matrix() -> None:
    names = [f"x{k}" for k in range(3000)]
    text = ", ".join(f"{name}**2" for name in names)
    point = dict.fromkeys(names, 1.0)
    assert jacobian(text, point, direction={"x7": 1.0}).product[7] == 2.0  # type: ignore[index]
    assert jacobian(text, point, adjoint=[1.0] * 3000).gradient["x7"] == 2.0  # type: ignore[index]
    with pytest.raises(ExpressionError) as caught:
        jacobian(text, point)
    assert caught.value.kind == "limit"


def test_a_direction_does_not_ask_for_what_takes_no_part() -> None:
    assert jacobian("0*sqrt(x), x", {"x": 0}, direction={"x": 1}).product == [0.0, 1.0]
    assert jacobian("sqrt(x), y", {"x": 0, "y": 1}, direction={"y": 1}).product == [0.0, 1.0]
    assert jacobian("sqrt(x), x", {"x": 0}, adjoint=[0, 1]).gradient == {"x": 1.0}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"direction": {"z": 1}}, "`z` of the direction"),
        ({"adjoint": {"z": 1}}, "`z` of the adjoint"),
        ({"adjoint": [1]}, "1 number, and"),
    ],
)
def test_vectors_that_do_not_fit(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        jacobian("x*y, x", {"x": 1, "y": 1}, **options)
    assert caught.value.kind == "usage"
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("cbrt(x)**2", {"x": 1e200}),
        ("cbrt(x)**2", {"x": 1e-220}),
        ("x**(1/3)*y", {"x": 1e210, "y": 3}),
        ("exp(log(x))*y", {"x": 1e-170, "y": 2}),
        ("log(x)**2*1e-30", {"x": 1e160}),
        ("atan(x*1e-150)", {"x": 1e280}),
    ],
)
def test_parts_that_underflow_or_overflow_do_not_spoil_second_derivatives(
    text: str, point: dict[str, float]
) -> None:
    doubles = hessian(text, point).hessian
    digits = hessian(text, point, arithmetic=Arithmetic("precision", 30)).hessian
    assert [x for row in doubles for x in row] == pytest.approx(
        [float(x) for row in digits for x in row], rel=1e-14, abs=1e-320
    )


def test_curvature_without_extremes_is_left_to_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(higher_order, "_in_digits", None)
    assert hessian("sin(x)*y + tanh(x) + exp(-y**2)", {"x": 0, "y": 2}).hessian[0][0] == 0.0
