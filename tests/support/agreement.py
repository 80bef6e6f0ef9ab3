"""What is compared in forty digits: points, values of a graph, and when two numbers are the
same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from autodiff_cli.engine.graphs.value import Value, constant, node, variable
from autodiff_cli.engine.numbers.multiprecision import Multiprecision
from autodiff_cli.engine.table.primitive import Primitive
from strategies import NAMES

EDGES = ("0", "1", "-1", "0.5", "2", "-2", "1e-3", "0.3", "-0.7", "3")
POINTS = st.lists(st.sampled_from(EDGES), min_size=len(NAMES), max_size=len(NAMES))
FORTY = Multiprecision(40, decimals=True)
RELAXED = settings(deadline=None, suppress_health_check=list(HealthCheck))


def close(a: Any, b: Any) -> bool:
    return abs(a - b) <= 1e-24 * (abs(a) + abs(b)) + 1e-27


def graph_of(
    primitive: Primitive, inputs: Sequence[float]
) -> tuple[Value, dict[str, float], list[int]]:
    """One operation over variables, its point, and the positions that it can be differentiated
    by.
    """
    fixed = {primitive.params.index(name) for name in primitive.constant_params}
    operands = [constant(x) if k in fixed else variable(f"x{k}") for k, x in enumerate(inputs)]
    point = {f"x{k}": x for k, x in enumerate(inputs) if k not in fixed}
    return (
        node(primitive, tuple(operands)),
        point,
        [k for k in range(len(inputs)) if k not in fixed],
    )
