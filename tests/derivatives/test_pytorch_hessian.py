"""Hessians of random programs, held to PyTorch's."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from autodiff_cli import ExpressionError, Value
from autodiff_cli.engine.graphs.higher_order import hessian_in
from autodiff_cli.engine.graphs.value import in_order
from autodiff_cli.engine.numbers.floats import REAL
from autodiff_cli.engine.table.operators import CONSTANT, VARIABLE
from autodiff_cli.engine.table.primitive import FUNCTIONS
from autodiff_cli.language.printer import expression_text
from counting import compared, compares
from strategies import NAMES, graphs

torch = pytest.importorskip("torch")
from pytorch_operations import PYTORCH  # noqa: E402 - it needs PyTorch

NAMED = ("exp", "sin", "cos", "tanh", "sigmoid", "softplus", "atan", "erf", "log1p", "sqrt", "gelu")
SMOOTH = [FUNCTIONS[name] for name in NAMED]


@compares(60)
@given(
    graphs(SMOOTH, max_leaves=8, choices=False),
    st.lists(st.floats(0.3, 2.0), min_size=len(NAMES), max_size=len(NAMES)),
)
@settings(max_examples=150, deadline=None)
def test_against_pytorch(graph: Value, numbers: list[float]) -> None:
    point = dict(zip(NAMES, numbers, strict=True))
    names = [v.label for v in in_order((graph,)) if v.primitive is VARIABLE]
    assume(names)
    # PyTorch takes the derivative of x**y by x for 0 wherever y is 0, and so loses d²/dx dy, which
    # is 1/x there.
    assume(
        all(
            v.primitive.name != "pow" or v._prev[1].primitive is CONSTANT
            for v in in_order((graph,))
        )
    )

    def theirs(x: Any) -> Any:
        tensors: dict[Value, Any] = {}
        for value in in_order((graph,)):
            if value.primitive is VARIABLE:
                tensors[value] = x[names.index(value.label)]
            elif not value._prev:
                tensors[value] = torch.tensor(value.data, dtype=torch.float64)
            else:
                tensors[value] = PYTORCH[value.primitive.name](*[tensors[p] for p in value._prev])
        return tensors[graph] + 0 * x.sum()

    try:
        ours = hessian_in(REAL, graph, {name: point[name] for name in names}, names)
    except ExpressionError:
        return
    x = torch.tensor([point[name] for name in names], dtype=torch.float64)
    wanted = torch.autograd.functional.hessian(theirs, x).tolist()
    scale = max([1.0, *(abs(entry) for row in wanted for entry in row if math.isfinite(entry))])
    assume(scale < 1e8)
    compared()
    for mine, other in zip(ours.hessian, wanted, strict=True):
        for a, b in zip(mine, other, strict=True):
            if math.isfinite(b):
                assert a == pytest.approx(b, rel=1e-7, abs=1e-10 * scale), expression_text(graph)
