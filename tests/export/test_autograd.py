"""Programs that other engines differentiate: those engines have the derivatives of `grad`."""

from __future__ import annotations

import random
import sys
from types import ModuleType
from typing import Any

import pytest

import tutorial_engine
from autodiff_cli import ExpressionError, Value, gradient
from autodiff_cli.engine.table.primitive import FUNCTIONS
from exported import export
from samples import OF_FEW_TARGETS, samples_of

PUBLIC = [p for p in dict.fromkeys(FUNCTIONS.values()) if p.name not in ("where", *OF_FEW_TARGETS)]

PROGRAMS: dict[str, dict[str, float]] = {
    "((w1-1)**2 + (w2-5)**2)*0.5": {"w1": 2, "w2": 3},
    "n = x1*w1 + x2*w2 + b\ntanh(n)": {
        "x1": 2,
        "w1": -3,
        "x2": 0.5,
        "w2": 1,
        "b": 6.8813735870195432,
    },
    "3 - x/y - 2/x": {"x": 1.5, "y": -2},
    "x*x*x + x": {"x": -0.7},
    "log(x) if x > 0 and y < 1 else x**2*y": {"x": 0.5, "y": 0.25},
    "where(not (x > 0) or 2 >= y, x/y, x*y)": {"x": 0.5, "y": 3},
    "x**0.5 + y**-3 + x**y + 2**x": {"x": 0.5, "y": 3},
    "(-x)**3 + x**1": {"x": 0.5},
    "max(x, y, 1) + relu(x - y) + abs(y)": {"x": 0.5, "y": 3},
    "softmax([x, y])[1]": {"x": 0.5, "y": 3},
    "norm2 = hypot(x, y); norm2/(1 + norm2)": {"x": 0.5, "y": 3},
    "digamma(x) + gelu(y) + polygamma(2, x)": {"x": 0.5, "y": 3},
}


def _engines() -> list[type[Any]]:
    engines: list[type[Any]] = [tutorial_engine.Value, Value]
    try:
        from micrograd.engine import Value as Original
    except ImportError:
        return engines
    return [*engines, Original]


def _micrograd(text: str, engine: type[Any]) -> Any:
    """Run exported code with an engine in micrograd's place."""
    names = ("micrograd", "micrograd.engine")
    modules = {name: ModuleType(name) for name in names}
    vars(modules["micrograd.engine"])["Value"] = engine
    exported = export(text, "micrograd")
    space: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        for name, module in modules.items():
            patch.setitem(sys.modules, name, module)
        exec(compile(exported.source, "<exported>", "exec"), space)
    return space["f"]


def _held_to_grad(text: str, point: dict[str, float], engine: type[Any]) -> None:
    expected = gradient(text, point)
    inputs = {name: engine(float(point[name])) for name in expected.gradient}
    out = _micrograd(text, engine)(*inputs.values())
    out.backward()
    assert out.data == pytest.approx(expected.value, rel=1e-12)
    found = {name: x.grad for name, x in inputs.items()}
    assert found == pytest.approx(expected.gradient, rel=1e-11, abs=1e-14), text


@pytest.mark.parametrize("engine", _engines(), ids=lambda engine: engine.__module__)
def test_graphs_of_micrograd_have_the_derivatives_of_grad(engine: type[Any]) -> None:
    for text, point in PROGRAMS.items():
        _held_to_grad(text, point, engine)


def _sampled() -> list[tuple[str, dict[str, float]]]:
    found = []
    for primitive in PUBLIC:
        sample = samples_of(primitive)[0]
        fixed = {k for k, p in enumerate(primitive.params) if p in primitive.constant_params}
        names = ["x", "y", "z", "w"][: len(sample)]
        args = [
            str(int(v)) if k in fixed else n
            for k, (n, v) in enumerate(zip(names, sample, strict=True))
        ]
        point = {n: v for k, (n, v) in enumerate(zip(names, sample, strict=True)) if k not in fixed}
        found.append((f"{primitive.name}({', '.join(args)})", point))
    return found


def test_every_function_is_an_operation_of_micrograd() -> None:
    for text, point in _sampled():
        _held_to_grad(text, point, tutorial_engine.Value)


def test_what_micrograd_cannot_do_is_an_error() -> None:
    with pytest.raises(ExpressionError, match="no conditions with `==`"):
        export("1 if x == 0 else sin(x)/x", "micrograd")
    f = _micrograd("log(x) + y**0.5", tutorial_engine.Value)
    for x, y in ((-1.0, 1.0), (1.0, -1.0)):
        with pytest.raises(ValueError, match="domain"):
            f(tutorial_engine.Value(x), tutorial_engine.Value(y))


# ---- PyTorch
def _module(text: str, **options: Any) -> Any:
    space: dict[str, Any] = {}
    exec(compile(export(text, "torch-module", **options).source, "<exported>", "exec"), space)
    return space[options.get("name", "f")]


@pytest.mark.parametrize("texts", [PROGRAMS, dict(_sampled())], ids=["programs", "functions"])
def test_modules_have_the_derivatives_of_grad(texts: dict[str, dict[str, float]]) -> None:
    torch = pytest.importorskip("torch")
    for text, point in texts.items():
        expected = gradient(text, point)
        names = [*expected.gradient]
        if not names:
            continue
        trained = names[::2]
        module = _module(text, wrt=trained)(*[point[name] for name in trained])
        inputs = [
            torch.tensor([point[name]] * 3, dtype=torch.float64, requires_grad=True)
            for name in names[1::2]
        ]
        out = module(*inputs)
        out.sum().backward()
        assert out.flatten()[0].item() == pytest.approx(expected.value, rel=1e-12), text
        count = out.numel()
        grads = [p.grad.item() / count for p in module.parameters()]
        assert grads == pytest.approx(
            [expected.gradient[name] for name in trained], rel=1e-11, abs=1e-14
        ), text
        for x, name in zip(inputs, names[1::2], strict=True):
            assert x.grad.tolist() == pytest.approx(
                [expected.gradient[name]] * 3, rel=1e-11, abs=1e-14
            ), text


def test_a_module_is_trained_as_one_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    module = _module("tanh(w*x + b)", wrt=["w", "b"], name="Neuron")(0.5, -0.25)
    assert [name for name, _ in module.named_parameters()] == ["w", "b"]
    w, b = (torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (0.5, -0.25))
    rows = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)
    ours, theirs = (torch.optim.SGD(p, lr=0.1) for p in (module.parameters(), [w, b]))
    for _ in range(20):
        ours.zero_grad()
        theirs.zero_grad()
        ((module(rows) - rows**2) ** 2).mean().backward()
        ((torch.tanh(w * rows + b) - rows**2) ** 2).mean().backward()
        ours.step()
        theirs.step()
    assert (module.w.item(), module.b.item()) == pytest.approx((w.item(), b.item()), rel=1e-12)
    x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match="has first derivatives only"):
        torch.autograd.grad(module(x), x, create_graph=True)


def test_names_of_modules_are_free_for_variables() -> None:
    torch = pytest.importorskip("torch")
    module = _module("training*x + self**2 + float", wrt=["training", "self"])(2.0, 3.0)
    assert module(torch.tensor(5.0), torch.tensor(1.0)).item() == 20.0
    assert module.training is True
    whole = _module("x*y + 1")()
    assert [*whole.parameters()] == []
    assert whole(torch.tensor([1.0, 2.0]), 3.0).tolist() == [4.0, 7.0]


def _random_formula(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(["x", "y", "x", "y", f"{rng.uniform(-2, 2):.3f}"])
    one, other = (_random_formula(rng, rng.randrange(depth)) for _ in "xy")
    templates = [
        *(
            "({0} + {1})",
            "({0} - {1})",
            "({0} * {1})",
            "({0}) / (2.5 + sin({1}))",
            "tanh({0})",
            "relu({0})",
        ),
        *(
            "({0})**2",
            "({0})**-1",
            "(1 + ({0})**2)**0.5",
            "exp(sin({0}))",
            "max({0}, {1})",
            "atan2({0}, {1})",
        ),
        *(
            "where({0} < {1}, {0}, {1}*3)",
            "log(1 + ({0})**2)",
            "(2 + cos({0}))**({1})",
            "sigmoid({0})",
        ),
    ]
    return rng.choice(templates).format(one, other)


def test_random_formulas_have_the_derivatives_of_grad() -> None:
    rng, held = random.Random(5), 0
    for _ in range(150):
        text, point = _random_formula(rng, 4), {"x": rng.uniform(-2, 2), "y": rng.uniform(-2, 2)}
        try:
            expected = gradient(text, point)
        except ExpressionError:
            continue
        if expected.gradient and not expected.warnings:
            _held_to_grad(
                text, {name: point[name] for name in expected.gradient}, tutorial_engine.Value
            )
            held += 1
    assert held > 50
