"""Functions of lists: determinants, inverses, solutions, shares, held to NumPy and to exact
fractions.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from autodiff_cli import gradient, jacobian
from autodiff_cli.errors import ExpressionError
from autodiff_cli.language.builder import ITERATE, UNROLLED
from autodiff_cli.language.list_functions import FUNCTIONS_OF_LISTS


def test_every_one_is_known_to_the_builder() -> None:
    assert {*FUNCTIONS_OF_LISTS, ITERATE} == UNROLLED


@pytest.mark.parametrize("n", [2, 3, 4])
def test_determinants_have_the_inverse_as_their_logarithmic_derivative(n: int) -> None:
    """The derivative of det(A) is det(A) times the transposed inverse (Jacobi)."""
    chance = random.Random(n)
    for _ in range(5):
        matrix = np.array([[chance.uniform(-2, 2) for _ in range(n)] for _ in range(n)])
        found = gradient("det(A)", {"A": matrix.tolist()})
        expected = np.linalg.det(matrix)
        assert found.value == pytest.approx(expected, rel=1e-9, abs=1e-12)
        slopes = [found.gradient[f"A[{i},{k}]"] for i in range(1, n + 1) for k in range(1, n + 1)]
        assert slopes == pytest.approx(
            (expected * np.linalg.inv(matrix).T).ravel().tolist(), rel=1e-9, abs=1e-9
        )


@pytest.mark.parametrize("n", [2, 3, 4])
def test_inverses_and_solutions_hold_to_numpy(n: int) -> None:
    chance = random.Random(10 + n)
    matrix = np.array([[chance.uniform(-2, 2) + 3 * (i == k) for k in range(n)] for i in range(n)])
    right = np.array([chance.uniform(-2, 2) for _ in range(n)])
    point = {"A": matrix.tolist(), "b": right.tolist()}
    inverse = np.linalg.inv(matrix)
    for i in range(n):
        for k in range(n):
            found = gradient(f"inv(A)[{i + 1},{k + 1}]", {"A": matrix.tolist()})
            assert found.value == pytest.approx(inverse[i, k], rel=1e-11, abs=1e-13)
    found = gradient("solve(A, b)[1]", point)
    assert found.value == pytest.approx((inverse @ right)[0], rel=1e-11)
    # x = A⁻¹b: the derivative by b is a row of the inverse, by A it is -A⁻¹ ⊗ x
    assert [found.gradient[f"b[{k + 1}]"] for k in range(n)] == pytest.approx(
        inverse[0].tolist(), rel=1e-10
    )
    by_matrix = -np.outer(inverse[0], inverse @ right)
    slopes = [found.gradient[f"A[{i + 1},{k + 1}]"] for i in range(n) for k in range(n)]
    assert slopes == pytest.approx(by_matrix.ravel().tolist(), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("trace([[x, 5], [6, 2*x]])", 9.0),
        ("trace([[x]])", 3.0),
        ("transpose([[x, 5], [6, 7], [8, 9]])[2,3]", 9.0),
        ("transpose([[x, 5], [6, 7], [8, 9]])[1,1]", 3.0),
        ("outer([1, x], [2, x, 5])[2,2]", 9.0),
        ("sum(outer([1, x], [2, x, 5]))", 40.0),
        ("det([[x, 2], [4, 5]])", 7.0),
        ("sum(inv([[x, 0], [0, 2]]))", 1 / 3 + 0.5),
        ("det(transpose([[x, 2], [4, 5]]))", 7.0),
    ],
)
def test_values_by_hand(text: str, value: float) -> None:
    assert gradient(text, "x=3").value == pytest.approx(value, rel=1e-15)


def test_shares_neither_overflow_nor_lose_digits() -> None:
    found = jacobian("softmax(a)", {"a": [1000.0, 1001.0, 1002.0]})
    expected = np.exp([0.0, 1.0, 2.0]) / np.exp([0.0, 1.0, 2.0]).sum()
    assert found.values == pytest.approx(expected.tolist(), rel=1e-15)
    far = gradient("softmax([0, x, 2*x])[1]", "x=800")
    assert far.value == 0
    assert gradient("softmax([0, x, 2*x])[3]", "x=800").value == 1


def test_a_function_of_the_program_wins() -> None:
    assert gradient("det(a) = a**2; det(x)", "x=3").gradient == {"x": 6.0}
    assert gradient("trace = x**2; trace", "x=3").gradient == {"x": 6.0}


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("transpose([1, x])", "`transpose` takes a list of rows"),
        ("det([[1, x]])", "`det` takes a square list of rows"),
        ("det([[x]])", "takes at least two rows"),
        ("inv([[1,2,3,4,5],[1,2,3,4,5],[1,2,3,4,5],[1,2,3,4,5],[1,2,3,4,x]])[1,1]", "up to 4 by 4"),
        ("solve([[1, 2], [3, x]], [1, 2, 3])[1]", "b is as long as a column of A"),
        ("outer([[1, x]], [1])[1,1]", "`outer` takes two lists of numbers"),
        ("det(x)", "write it as in `[1, 2, 3]`"),
    ],
)
def test_what_they_refuse(text: str, hint: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        gradient(text, "x=1")
    assert caught.value.hint is not None
    assert hint in caught.value.hint


def test_a_singular_matrix_has_no_inverse() -> None:
    with pytest.raises(ExpressionError, match="division by zero"):
        gradient("inv([[x, 1], [x, 1]])[1,1]", "x=1")
