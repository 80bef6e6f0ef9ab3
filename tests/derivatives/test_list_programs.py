"""Programs of lists and matrices from `parse`: shapes are those of a call, derivatives have them
too.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from autodiff_cli import ExpressionError, Program, Value, grad, gradient, parse

np = pytest.importorskip("numpy")
RNG = np.random.default_rng(43)
W, X, Y = RNG.normal(size=(2, 3)), RNG.normal(size=3), RNG.normal(size=2)

PROGRAMS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "sum(W @ x)**2": (lambda W, x: (W @ x).sum() ** 2, {"W": W, "x": X}),
    "h = tanh(W @ x); sum(h * y) + b*h[1]": (
        lambda W, x, y, b: ((W @ x).tanh() * y).sum() + b * (W[0] @ x).tanh(),
        {"W": W, "x": X, "y": Y, "b": 0.7},
    ),
    "dot(x, z)/norm(x)": (lambda x, z: x @ z / (x @ x).sqrt(), {"x": X, "z": 2 * X + 1}),
    "logsumexp(x) - x[2]": (lambda x: x.exp().sum().log() - x[1], {"x": X}),
    "sum(x**2)": (lambda x: (x**2).sum(), {"x": X}),
}


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.mark.parametrize("text", PROGRAMS)
def test_derivatives_are_those_of_pytorch_in_the_shapes_of_the_arguments(
    torch: Any, text: str
) -> None:
    theirs, values = PROGRAMS[text]
    program, names = parse(text), [*values]
    tensors = tuple(torch.tensor(x, dtype=torch.float64) for x in values.values())
    assert isinstance(program, Program) and {*program.parameters} == {*names}
    close: Any = {"rtol": 1e-12, "atol": 1e-13}
    assert program(**values) == pytest.approx(float(theirs(*tensors)), rel=1e-12)
    found = program.gradient(**values)
    for name, slopes in zip(
        names, torch.autograd.functional.jacobian(theirs, tensors), strict=True
    ):
        np.testing.assert_allclose(found.gradient[name], slopes, **close)
        assert np.shape(found.gradient[name]) == np.shape(values[name])
    second = program.hessian(**values)
    rows = torch.autograd.functional.hessian(theirs, tensors)
    for one, row in zip(names, rows, strict=True):
        for other, block in zip(names, row, strict=True):
            np.testing.assert_allclose(second.hessian[one][other], block, **close)
            assert np.shape(second.hessian[one][other]) == np.shape(block)
    size = sum(np.size(x) for x in values.values())
    assert np.asarray(found).shape == (size,) and np.asarray(second).shape == (size, size)
    assert np.asarray(second).dtype == float


def test_a_program_with_several_results_has_the_jacobian_of_pytorch(torch: Any) -> None:
    def blocks_of(*arrays: Any) -> Any:
        tensors = tuple(map(torch.tensor, arrays))
        return torch.autograd.functional.jacobian(lambda a, b: a @ b, tensors)

    found = parse("W @ x").jacobian(W=W, x=X)
    for name, block in zip("Wx", blocks_of(W, X), strict=True):
        np.testing.assert_allclose(found.jacobian[name], block, atol=1e-14)
        assert found.jacobian[name].shape == block.shape
    np.testing.assert_allclose(found.value, W @ X)
    assert np.asarray(found).shape == (2, 9)
    product, squares = parse("A @ B"), (W @ W.T, W[:, :2])
    np.testing.assert_allclose(product(*squares), squares[0] @ squares[1])
    for name, block in zip("AB", blocks_of(*squares), strict=True):
        np.testing.assert_allclose(product.jacobian(*squares).jacobian[name], block, atol=1e-14)
    assert product([[1, 2], [3, 4]], [[1, 0], [0, 1]]) == [[1.0, 2.0], [3.0, 4.0]]


def test_lists_come_back_as_lists() -> None:
    found = parse("sum(W @ x)").gradient([[1, 2], [3, 4]], (5, 6))
    assert found.gradient == {"W": [[5.0, 6.0], [5.0, 6.0]], "x": (4.0, 6.0)}
    assert parse("W @ x").jacobian([[1, 2]], [3, 4]).jacobian == {
        "W": [[[3.0, 4.0]]],
        "x": [[1.0, 2.0]],
    }


def test_each_shape_has_its_program_and_entries_without_influence_are_zero() -> None:
    program = parse("norm(x)**2 + sum(w)")
    for size in (1, 2, 3, 2):
        found = program.gradient(x=list(range(1, size + 1)), w=[0.0] * size)
        assert found.gradient["x"] == pytest.approx([2.0 * k for k in range(1, size + 1)])
        assert found.value == pytest.approx(sum(k * k for k in range(1, size + 1)))
    assert parse("x[2] * sum(y)").gradient(x=[1, 2, 3], y=[4]).gradient == {
        "x": [0.0, 4.0, 0.0],
        "y": [2.0],
    }


def test_a_list_may_be_given_by_its_entries() -> None:
    program = parse("x[1]*x[2]**2")
    assert program.parameters == ("x",) and program([3, 2]) == 12.0
    assert program.hessian(x=[3, 2]).hessian == {"x": {"x": [[0.0, 4.0], [4.0, 6.0]]}}
    entries = {"x[1]": 3, "x[2]": 2}
    assert program(**entries) == 12.0 and program.gradient(**entries).gradient == {
        "x[1]": 4.0,
        "x[2]": 12.0,
    }


def test_a_sum_of_one_argument_is_that_of_a_list() -> None:
    expected = gradient("sum(x)**2", {"x": [1, 2]})
    found = parse("sum(x)**2").gradient(x=[1, 2])
    assert (
        (found.value, found.gradient)
        == (expected.value, {"x": [6.0, 6.0]})
        == (9.0, {"x": expected.gradient["x"]})
    )
    assert parse("sum(x)**2")(x=3) == 9.0


def test_values_and_transformations_go_through() -> None:
    x = [Value(3.0), Value(4.0)]
    parse("norm(x)")(x=x).backward()
    assert [entry.grad for entry in x] == pytest.approx([0.6, 0.8])
    assert grad("norm(x)*a")(x=[3.0, 4.0], a=2.0) == {"x": pytest.approx([1.2, 1.6]), "a": 5.0}
    again = pickle.loads(pickle.dumps(parse("norm(x)")))  # noqa: S301
    assert again([3, 4]) == 5.0 and again.parameters == ("x",)


def test_conventions_at_kinks_are_said() -> None:
    found = parse("norm(x) + a").gradient(x=[0, 0], a=1)
    assert found.gradient == {"x": [0.0, 0.0], "a": 1.0} and len(found.warnings) == 1
    assert len(parse("relu(x), x").jacobian(x=0).warnings) == 1


def test_what_a_definition_holds_fixed_has_no_derivative() -> None:
    assert parse("f(v) = a*(v @ v)").gradient(v=[1, 2], a=3).gradient == {"v": [6.0, 12.0]}


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda f: f(W=W), TypeError, "needs a value for `x`"),
        (lambda f: f(W, X, X), TypeError, "3 values"),
        (lambda f: f(W, X, W=W), TypeError, "two values"),
        (lambda f: f(W, X, z=1), TypeError, "`z` is not a variable"),
        (lambda f: f(W, [1.0, 2.0]), ExpressionError, "do not go together"),
        (lambda f: f([[1, 2], [3]], X), TypeError, "rows of the same length"),
        (lambda f: f(np.ones((1, 2, 3)), X), TypeError, "rows of the same length"),
        (lambda f: f([], X), TypeError, "list of numbers"),
        (lambda f: f({"a": 1}, X), TypeError, "list of numbers"),
        (lambda f: f(W, "x"), TypeError, "`x` cannot be 'x'"),
        (lambda f: f(W, [1.0, float("nan"), 0.0]), ValueError, "not finite"),
        (lambda f: f.hessian(W, 0 * X), ExpressionError, "norm|hypot"),
    ],
)
def test_what_does_not_fit_is_said(
    call: Callable[[Any], Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        call(parse("norm(W @ x)"))
