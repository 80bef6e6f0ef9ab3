"""Evaluation: a graph at a point in some number type, and its derivatives.

A missing value or derivative is an `ExpressionError` with its place in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple, ParamSpec, TypeVar

from ..errors import Diagnosed, Diagnostic, ExpressionError, NotSmooth
from ..numbers.base import Number, NumberType
from ..numbers.budget import BudgetExceeded
from ..table.operators import POW, VARIABLE
from .flat_graph import Graph, in_order
from .sweep import (
    Activity,
    Breakpoint,
    Failure,
    NodeError,
    NotDifferentiable,
    backward,
    forward,
    kinks_met,
    may_meet_kinks,
    show,
    tangents,
)

Sweep = ParamSpec("Sweep")
Answer = TypeVar("Answer")

LEFT = (KeyError, ValueError, ArithmeticError, NodeError, BudgetExceeded)
"""Errors with which a fast path falls back to the sweep, as does None."""


def with_fallback(fast: Callable[..., Answer | None], sweep: Callable[..., Answer], *asked: object) -> Answer:
    """Return the result of a fast path, or else of the sweep.

    A fast path, `doubles` or compiled code, gives the same result; it leaves errors, kinks and infinite numbers.
    """
    try:
        result = fast(*asked)
    except LEFT:
        result = None
    return sweep(*asked) if result is None else result


Kinks = dict[int, Breakpoint]
"""Nodes where smooth branches meet, by index."""


class Reverse(NamedTuple):
    """The result of a backward sweep."""

    adjoints: list[Number | None]
    """The adjoint of each node; None if no adjoint reaches it."""
    kinks: list[int]
    """Nodes without a derivative, where a convention was used."""
    order: Sequence[int]
    """Evaluated nodes, including those on the other side of a kink."""


def reverse(order: Sequence[int], active: Activity, seeds: Mapping[int, Number]) -> Reverse:
    """Return the adjoint of each evaluated node from those of outputs. Raises `NodeError`.

    If the sides of a kink agree, `active` keeps the local derivatives for further sweeps.
    """
    active.one_sided_partials = {}
    adjoints = backward(order, active, seeds)
    kinks = kinks_met(order, active, adjoints)
    if kinks:
        from .smooth_branches import sides_chosen  # only kinks need it

        order = sides_chosen(order, active, seeds)
        if active.one_sided_partials:
            adjoints, kinks = backward(order, active, seeds), []
    return Reverse(adjoints, kinks, order)


class Evaluation:
    """A graph evaluated on demand at a point in some number type."""

    def __init__(self, m: NumberType, graph: Graph, wanted: Mapping[str, int] = MappingProxyType({})) -> None:
        self.m = m
        self.graph = graph
        """Its `data` are the nodes' values, None in untaken branches."""
        self.wanted = wanted
        """Indices of the variables to differentiate by, if in the graph."""
        self.order: Sequence[int] = self.placed(forward, graph, m, graph.roots)
        """The evaluated nodes, in order of evaluation."""

    def placed(self, sweep: Callable[Sweep, Answer], *args: Sweep.args, **options: Sweep.kwargs) -> Answer:
        """Return the result of a sweep over the graph. Raises `ExpressionError`."""
        try:
            return sweep(*args, **options)
        except (NodeError, BudgetExceeded) as fault:
            raise located(fault, self.graph, self.wanted) from None

    @property
    def values(self) -> list[Number]:
        return [self.graph.data[root] for root in self.graph.roots]

    @cached_property
    def active(self) -> Activity:
        """Return the nodes that depend on the variables to differentiate by."""
        return self.activity(self.wanted.values())

    def activity(self, leaves: Iterable[int]) -> Activity:
        """Return the nodes that depend on some leaves."""
        return self.placed(Activity, self.graph, self.m, self.order, leaves)

    def reverse(self, seeds: Mapping[int, Number], active: Activity | None = None) -> Reverse:
        """Return the adjoints of all nodes from those of outputs."""
        return self.placed(reverse, self.order, self.active if active is None else active, seeds)

    def tangents(
        self, seeds: Mapping[int, Number], active: Activity, order: Sequence[int] | None = None
    ) -> list[Number | None]:
        """Return the tangents of all nodes from those of leaves."""
        return self.placed(tangents, self.order if order is None else order, active, seeds)

    def vjp(self, adjoints: Sequence[Number], wrt: Sequence[str]) -> tuple[list[Number], Kinks]:
        """Return the vector-Jacobian product in one backward sweep, and the kinks.

        Outputs of weight 0 are ignored. Raises `ExpressionError`.
        """
        seeds: dict[int, Number] = {}
        for root, adjoint in zip(self.graph.roots, adjoints, strict=True):
            if adjoint != 0:
                seeds[root] = seeds[root] + adjoint if root in seeds else adjoint
        totals, kinks, _ = self.reverse(seeds)
        zero = self.m.number(0)
        row = [totals[self.wanted[name]] if name in self.wanted else None for name in wrt]
        return [zero if partial is None else partial for partial in row], self.breakpoints(kinks)

    def jacobian(self, wrt: Sequence[str]) -> tuple[list[list[Number]], Kinks]:
        """Return the Jacobian, by one backward sweep an output, with kinks. Raises `ExpressionError`."""
        one, zero = self.m.number(1), self.m.number(0)
        rows: list[list[Number]] = []
        kinks: Kinks = {}
        for k in range(len(self.graph.roots)):
            row, met = self.vjp([one if j == k else zero for j in range(len(self.graph.roots))], wrt)
            rows.append(row)
            kinks |= met
        return rows, kinks

    def jvp(self, direction: Mapping[str, Number]) -> tuple[list[Number], Kinks]:
        """Return the Jacobian-vector product in one forward sweep, and the kinks.

        Variables of 0 are held fixed. At a kink, each output gets a backward sweep, to see whether it meets
        the kink, and a forward sweep. Raises `ExpressionError`.
        """
        seeds = {self.wanted[name]: t for name, t in direction.items() if name in self.wanted and t != 0}
        active = self.activity(seeds)
        kinks: Kinks = {}
        roots = self.graph.roots
        slopes = self.placed(tangents, self.order, active, seeds, roots)
        results = [slopes[root] for root in roots]
        if may_meet_kinks(self.order, active):
            for k, root in enumerate(roots):
                _, met, order = self.reverse({root: self.m.number(1)}, active)
                kinks |= self.breakpoints(met)
                results[k] = self.placed(tangents, order, active, seeds, (root,))[root]
        zero = self.m.number(0)
        return [zero if result is None else result for result in results], kinks

    def breakpoints(self, places: Iterable[int]) -> Kinks:
        """Return the nodes at these indices, with their inputs."""
        return {i: Breakpoint(self.graph, i, self.graph.inputs(i)) for i in places}

    def warnings(self, kinks: Iterable[int]) -> list[Diagnostic]:
        """Return the warnings about nodes that have no derivative."""
        return [kink.warning() for kink in self.breakpoints(kinks).values()]


def located(fault: Failure, graph: Graph, wanted: Iterable[str] = (), leaves: Sequence[int] | None = None) -> Diagnosed:
    """Return the user's error for a fault, with its place and the inputs behind it.

    `wanted` are the variables to differentiate by; `leaves` those of the node, if known.
    """
    if fault.node is None:
        assert isinstance(fault, BudgetExceeded)
        return fault
    span, message, hint = graph.span(fault.node), fault.message, fault.hint
    if isinstance(fault, NotDifferentiable):
        return NotSmooth(fault.kind, message, span, hint)
    names = {graph.labels[i]: graph.data[i] for i in (leaves_below(graph, fault.node) if leaves is None else leaves)}
    if names:
        shown = ", ".join(f"{name} = {_with_unit(data)}" for name, data in list(names.items())[:5])
        message += f" (here {shown}{', …' if len(names) > 5 else ''})"
    if fault.kind == "derivative" and fault.position == 1 and graph.primitives[fault.node] is POW:
        held = {graph.labels[i] for i in leaves_below(graph, graph.parents[fault.node][1])}
        rest = [name for name in wanted if name not in held]
        shown = ", ".join(f"`{name}`" for name in sorted(held))
        hint = f"hold {shown} fixed: `--wrt {','.join(rest)}`" if rest and held else "hold the exponent fixed"
    error = BudgetExceeded if isinstance(fault, BudgetExceeded) else ExpressionError
    return error(fault.kind, message, span, hint)


def _with_unit(x: Number) -> str:
    unit = getattr(x, "unit", None)
    return show(x) if unit is None else f"{show(x.number)} {unit}".rstrip()


def leaves_below(graph: Graph, node: int) -> list[int]:
    """Return the named variables with a value that a node depends on."""
    return [
        i
        for i in in_order(graph.parents, (node,))
        if graph.primitives[i] is VARIABLE and graph.data[i] is not None and graph.labels.get(i)
    ]
