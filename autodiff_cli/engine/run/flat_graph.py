"""The graph: the operations of a program in a row, each after its inputs.

It is the only form of a program: the parser writes it, sweeps and views read it, code is recorded
from it, and computations with `Value` become one when swept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from ...errors import Span
from ..table.operators import CONSTANT, NEG, VARIABLE
from ..table.primitive import Primitive

# The origin of a node: a `Value`, or a span of text (`language.tokens.Spans`).
Place = Any

# Primitive, index, and inputs: one and None, two, or a tuple and None.
Row = tuple[Primitive, int, Any, int | None]


# The inputs of each node.
Parents = Sequence[tuple[int, ...]] | Mapping[int, tuple[int, ...]]


def _nothing(place: object) -> None:
    return None


class Graph:
    """Nodes in a row: node `i` applies `primitives[i]` to the earlier nodes `parents[i]`.

    The fast lane uses `rows`, one an operation; the sweeps `primitives` and `parents`. Each form is
    made from the other on demand.
    """

    leaf = VARIABLE
    """The primitive of nodes without a row, but for constants."""

    grads: Sequence[Any] | None = None
    """The derivative of the output by each node, None without influence; None itself without a
    sweep.
    """

    def __init__(self) -> None:
        self.rows = []
        self.places: list[Place] = []
        # Each constant and its source text, for other number types.
        self.constants: dict[int, tuple[float, str | None]] = {}
        # Names of nodes, and nodes of variables by name, for the labels.
        self.names: tuple[dict[int, str], Mapping[str, int]] = {}, {}
        self.roots: tuple[int, ...] = ()
        self.span_of: Callable[[Place], Span | None] = _nothing
        # Returns the unit of a node, whose value is in coherent ones; None without units.
        self.unit: Callable[[int], Any] = _nothing
        # Returns the unit of the output's derivative by a node; None without units.
        self.adjoint_unit: Callable[[int], Any] = _nothing

    @cached_property
    def rows(self) -> list[Row]:
        """Return the operations; variables and constants have no row."""
        columns = enumerate(zip(self.primitives, self.parents, strict=True))
        return [(primitive, i, *_pair(ps)) for i, (primitive, ps) in columns if ps]

    @cached_property
    def primitives(self) -> list[Primitive]:
        primitives = [self.leaf] * len(self.places)
        for i in self.constants:
            primitives[i] = CONSTANT
        for primitive, i, _, _ in self.rows:
            primitives[i] = primitive
        return primitives

    @cached_property
    def parents(self) -> list[tuple[int, ...]]:
        parents: list[tuple[int, ...]] = [()] * len(self.places)
        for _, i, a, b in self.rows:
            parents[i] = inputs(a, b)
        return parents

    @cached_property
    def data(self) -> list[Any]:
        """Return the value of each node; None if not evaluated."""
        return self.leaf_data()

    @cached_property
    def has_lazy_inputs(self) -> bool:
        """Return whether some node leaves inputs unevaluated."""
        return any(primitive.lazy_inputs for primitive in self.primitives)

    @cached_property
    def has_breakpoints(self) -> bool:
        """Return whether smooth branches of some node may meet."""
        return any(primitive.breakpoint is not None for primitive in self.primitives)

    @cached_property
    def labels(self) -> dict[int, str]:
        """Return the names of nodes from program or user; every variable has one."""
        return {**self.names[0], **{i: variable for variable, i in self.names[1].items()}}

    def leaf_data(self, other: float | None = None) -> list[Any]:
        """Return the values of the constants, and `other` for the other nodes."""
        data: list[Any] = [other] * len(self.places)
        for i, (number, _) in self.constants.items():
            data[i] = number
        return data

    def with_data(self, data: list[Any]) -> Graph:
        """Return the graph with other values of its nodes."""
        for name in ("primitives", "parents", "has_lazy_inputs", "labels"):
            getattr(self, name)  # is computed once for all copies
        copy = Graph.__new__(Graph)
        copy.__dict__ = self.__dict__ | {"data": data}
        return copy

    def with_leaves(self, values: Mapping[int, Any]) -> Graph:
        """Return the graph with these values of variables, not evaluated."""
        data = self.leaf_data()
        for i, x in values.items():
            data[i] = x
        return self.with_data(data)

    def replace(self, **parts: Any) -> Graph:
        """Return a copy of the graph with some attributes replaced."""
        copy = Graph.__new__(Graph)
        kept = ("adjoint_unit", "constants", "names", "places", "roots", "span_of", "unit")
        copy.__dict__ |= {name: getattr(self, name) for name in kept} | parts
        return copy

    def subgraph_of(self, roots: tuple[int, ...]) -> tuple[Graph, dict[int, int]]:
        """Return the subgraph of these outputs by `in_order`, and the new indices."""
        order = in_order(self.parents, roots)
        if order == [*range(len(self.places))]:
            columns = {"rows": self.rows, "primitives": self.primitives, "parents": self.parents}
            return self.replace(roots=roots, labels=self.labels, **columns), dict(enumerate(order))
        return self.subgraph(order, roots)

    def subgraph(
        self, order: Sequence[int], roots: tuple[int, ...]
    ) -> tuple[Graph, dict[int, int]]:
        """Return the subgraph of nodes in topological order, and the new indices."""
        place = {i: k for k, i in enumerate(order)}
        return self.replace(
            roots=tuple([place[root] for root in roots]),
            primitives=[self.primitives[i] for i in order],
            parents=[tuple([place[p] for p in self.parents[i]]) for i in order],
            places=[self.places[i] for i in order],
            constants={place[i]: constant for i, constant in self.constants.items() if i in place},
            labels={place[i]: label for i, label in self.labels.items() if i in place},
            unit=lambda k: self.unit(order[k]),
            adjoint_unit=lambda k: self.adjoint_unit(order[k]),
        ), place

    def span(self, i: int) -> Span | None:
        """Return the span of node `i` in the text."""
        return self.span_of(self.places[i])

    def is_literal(self, i: int) -> bool:
        """Return whether a node is a number that was typed, with its signs."""
        while self.primitives[i] is NEG:
            i = self.parents[i][0]
        return self.primitives[i] is CONSTANT

    def inputs(self, i: int) -> list[Any]:
        """Return the values of the inputs of node `i`."""
        return [self.data[p] for p in self.parents[i]]


def _pair(parents: tuple[int, ...]) -> tuple[Any, int | None]:
    return (
        (parents[0], None)
        if len(parents) == 1
        else parents
        if len(parents) == 2
        else (parents, None)
    )


def inputs(a: Any, b: int | None) -> tuple[int, ...]:
    """Return the inputs of a row."""
    if b is not None:
        return a, b
    return a if type(a) is tuple else (a,)


def in_order(parents: Parents, roots: Iterable[int]) -> list[int]:
    """Return the nodes below the roots in depth-first topological order."""
    order: list[int] = []
    seen: set[int] = set()
    stack = [*roots][::-1]
    while stack:
        top = stack[-1]
        if top in seen:
            stack.pop()
            continue
        missing = [p for p in parents[top] if p not in seen]
        if missing:
            missing.reverse()
            stack += missing
        else:
            seen.add(top)
            order.append(top)
            stack.pop()
    return order
