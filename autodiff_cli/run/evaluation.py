"""Evaluation: a graph at a point in some number type, from which derivatives are swept, backward or forward.

Every question goes this way. Whatever has no value or no derivative is an `ExpressionError`, placed in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import ParamSpec, TypeVar

from ..errors import Diagnosed, ExpressionError, NotSmooth
from ..numbers.base import Number, NumberType
from ..numbers.budget import BudgetExceeded
from ..table.operators import POW, VARIABLE
from .graph import Graph, in_order
from .reverse import Reverse, reverse
from .sweep import Activity, Breakpoint, Failure, Fault, Rough, activity, forward, show, tangents

Sweep = ParamSpec("Sweep")
Answer = TypeVar("Answer")


class Evaluation:
    """A graph evaluated at a point in some number type, on demand; derivatives are swept from it."""

    def __init__(self, m: NumberType, graph: Graph, wanted: Mapping[str, int] = MappingProxyType({})) -> None:
        self.m = m
        self.graph = graph
        """Its `data` are the nodes' values, None in a branch that was not taken."""
        self.wanted = wanted
        """The places of the variables that are differentiated by, as far as the graph holds them."""
        self.order: Sequence[int] = self.placed(forward, graph, m, graph.roots)
        """The nodes that were evaluated, in the order in which they were."""

    def placed(self, sweep: Callable[Sweep, Answer], *args: Sweep.args, **options: Sweep.kwargs) -> Answer:
        """What a sweep over the graph gives. Raises `ExpressionError`."""
        try:
            return sweep(*args, **options)
        except (Fault, BudgetExceeded) as fault:
            raise located(fault, self.graph, self.wanted) from None

    @property
    def values(self) -> list[Number]:
        """The outputs."""
        return [self.graph.data[root] for root in self.graph.roots]

    @cached_property
    def active(self) -> Activity:
        """What depends on the wanted variables."""
        return self.activity(self.wanted.values())

    def activity(self, leaves: Iterable[int]) -> Activity:
        """What depends on some leaves."""
        return self.placed(activity, self.graph, self.m, self.order, leaves)

    def reverse(self, seeds: Mapping[int, Number], active: Activity | None = None) -> Reverse:
        """The adjoints of all nodes, from those of outputs."""
        return self.placed(reverse, self.graph, self.m, self.order, self.active if active is None else active, seeds)

    def tangents(
        self,
        seeds: dict[int, Number],
        active: Activity,
        roots: Iterable[int] | None = None,
        order: Sequence[int] | None = None,
    ) -> list[Number | None]:
        """The tangents of all nodes, from those of leaves; if there are `roots`, they alone need to have one."""
        return self.placed(tangents, self.graph, self.m, self.order if order is None else order, active, seeds, roots)

    def breakpoints(self, places: Iterable[int]) -> list[Breakpoint]:
        """The nodes there, with their inputs."""
        return [Breakpoint(self.graph, i, self.graph.inputs(i)) for i in places]


def located(fault: Failure, graph: Graph, wanted: Iterable[str] = ()) -> Diagnosed:
    """The error that a fault is for the user: at its place in the text, with the inputs that led there.

    `wanted` are the names that are differentiated by.
    """
    if fault.node is None:
        assert isinstance(fault, BudgetExceeded)
        return fault
    span, message, hint = graph.span(fault.node), fault.message, fault.hint
    if isinstance(fault, Rough):
        return NotSmooth(fault.kind, message, span, hint)
    names = {graph.labels[i]: graph.data[i] for i in leaves_below(graph, fault.node)}
    if names:
        shown = ", ".join(f"{name} = {show(data)}" for name, data in list(names.items())[:5])
        message += f" (here {shown}{', …' if len(names) > 5 else ''})"
    if fault.kind == "derivative" and fault.position == 1 and graph.primitives[fault.node] is POW:
        held = {graph.labels[i] for i in leaves_below(graph, graph.parents[fault.node][1])}
        rest = [name for name in wanted if name not in held]
        shown = ", ".join(f"`{name}`" for name in sorted(held))
        hint = f"hold {shown} fixed: `--wrt {','.join(rest)}`" if rest and held else "hold the exponent fixed"
    error = BudgetExceeded if isinstance(fault, BudgetExceeded) else ExpressionError
    return error(fault.kind, message, span, hint)


def leaves_below(graph: Graph, node: int) -> list[int]:
    """The variables with a name and a value that a node is made from."""
    return [
        i
        for i in in_order(graph.parents, (node,))
        if graph.primitives[i] is VARIABLE and graph.data[i] is not None and graph.labels.get(i)
    ]
