"""Agreement with PyTorch, in double precision, on random expressions over everything both have."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from autodiff_cli import ExpressionError, Value, gradient
from autodiff_cli.engine.graphs.value import in_order
from autodiff_cli.engine.graphs.value_and_gradient import value_and_gradient
from autodiff_cli.engine.numbers.floats import REAL
from autodiff_cli.engine.table.operators import VARIABLE
from autodiff_cli.engine.table.primitive import FUNCTIONS
from counting import compared, compares
from strategies import NAMES, graphs, program_text

torch = pytest.importorskip("torch")
from pytorch_operations import PYTORCH  # noqa: E402 - it needs PyTorch

BOTH = [
    p
    for p in dict.fromkeys(FUNCTIONS.values())
    if p.name in PYTORCH and p.name not in ("pow", "where")
]


def pytorch_gradient(root: Value, point: dict[str, float]) -> tuple[float, dict[str, float]]:
    """Value and gradient of the same graph, run by PyTorch."""
    tensors: dict[Value, Any] = {}
    leaves: dict[str, Any] = {}
    for value in in_order((root,)):
        if value.primitive is VARIABLE:
            leaves[value.label] = tensors[value] = torch.tensor(
                point[value.label], dtype=torch.float64, requires_grad=True
            )
        elif not value._prev:
            tensors[value] = torch.tensor(value.data, dtype=torch.float64)
        else:
            tensors[value] = PYTORCH[value.primitive.name](*[tensors[p] for p in value._prev])
    if tensors[root].requires_grad:
        tensors[root].backward()
    return tensors[root].item(), {
        name: 0.0 if t.grad is None else t.grad.item() for name, t in leaves.items()
    }


def test_everything_that_both_have_is_compared() -> None:
    assert len(BOTH) > 45


@compares(50)
@given(
    graphs(BOTH, max_leaves=8),
    st.lists(st.floats(0.3, 2.0), min_size=len(NAMES), max_size=len(NAMES)),
)
@settings(max_examples=125, deadline=None)
def test_random_expressions(graph: Value, numbers: list[float]) -> None:
    point = dict(zip(NAMES, numbers, strict=True))
    assume(any(v.primitive is VARIABLE for v in in_order((graph,))))
    text = program_text((graph,))
    used = {v.label for v in in_order((graph,)) if v.primitive is VARIABLE}
    try:
        ours = gradient(text, {name: point[name] for name in used})
    except ExpressionError as error:
        assert error.kind in ("domain", "derivative", "overflow")
        return
    # Kinks have conventions of their own, and where their sides agree PyTorch has the one of a
    # branch; huge numbers and what cancels compares noise with noise.
    assume(not ours.warnings)
    reals = {name: point[name] for name in used}
    assume(not value_and_gradient(REAL, graph, reals, list(used)).active.one_sided_partials)
    value, theirs = pytorch_gradient(graph, point)
    scale = max(
        1.0,
        abs(value),
        *(abs(v.data) for v in in_order((ours.output,)) if isinstance(v.data, float)),
    )
    slopes = max(1.0, *(abs(v.grad) for v in in_order((ours.output,)) if v.grad is not None))
    assume(scale < 1e6 and slopes < 1e6)
    compared()
    assert ours.value == pytest.approx(value, rel=1e-9, abs=1e-9 * scale), text
    for name, partial in ours.gradient.items():
        if math.isnan(theirs[name]):
            continue  # PyTorch multiplies the untaken branch's infinite derivative by zero.
        assert partial == pytest.approx(theirs[name], rel=1e-7, abs=1e-9 * slopes * scale), (
            text,
            point,
        )
