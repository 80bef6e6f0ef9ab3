"""The graph: the operations of a program in a row, each after its inputs.

The reader writes it, the sweeps run over it, code is recorded from it, and the views draw it: there is no other form of
a program. What Python computes with `Value` is written down as such a graph where it is swept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from ..errors import Span
from ..table.operators import CONSTANT, NEG, VARIABLE
from ..table.primitive import Primitive

Place = Any
"""The origin of a node: a piece of the program's text, see `language.tokens.Spans`, or a Value."""

Row = tuple[Primitive, int, Any, int | None]
"""An operation: its primitive, its number among the nodes, and its inputs: one and None, two, or a tuple and None."""


def _nowhere(place: Place) -> Span | None:
    return None


class Graph:
    """Nodes in a row: node `i` applies `primitives[i]` to the nodes `parents[i]`, all of which stand before it.

    It is written in `rows`, one an operation, which is what the fast lane runs over; or in the columns `primitives` and
    `parents`, which is what the sweeps look into. Each of the two is made from the other when it is first asked for.
    """

    def __init__(self) -> None:
        self.rows = []
        self.places: list[Place] = []
        """The origin of each node."""
        self.constants: dict[int, tuple[float, str | None]] = {}
        """Each constant, and the text that it was read from, so that it can be read again as another number type."""
        self.signed: set[int] = set()
        """The operations that are a constant with a sign."""
        self.names: tuple[Mapping[int, str], Mapping[str, int]] = {}, {}
        """The names of nodes, and the nodes of variables by name, from which labels are built."""
        self.roots: tuple[int, ...] = ()
        """The outputs."""
        self.span_of: Callable[[Place], Span | None] = _nowhere

    @cached_property
    def rows(self) -> list[Row]:
        """The operations; variables and constants have no row."""
        columns = enumerate(zip(self.primitives, self.parents, strict=True))
        return [(primitive, i, *_pair(ps)) for i, (primitive, ps) in columns if ps]

    @cached_property
    def primitives(self) -> list[Primitive]:
        primitives, self.parents = self.columns(VARIABLE)
        return primitives

    @cached_property
    def parents(self) -> list[tuple[int, ...]]:
        self.primitives, parents = self.columns(VARIABLE)
        return parents

    @cached_property
    def data(self) -> list[Any]:
        """The value of each node; None where there is none (yet)."""
        return self.leaf_data()

    @cached_property
    def chooses(self) -> bool:
        """Whether some node leaves inputs unevaluated."""
        return any(primitive.lazy_inputs for primitive in self.primitives)

    @cached_property
    def labels(self) -> dict[int, str]:
        """The names that the program or the user gave to nodes; every variable has one."""
        return {**self.names[0], **{i: variable for variable, i in self.names[1].items()}}

    def columns(self, leaf: Primitive) -> tuple[list[Primitive], list[tuple[int, ...]]]:
        """Return the primitives and the inputs of all nodes; variables have the primitive `leaf`."""
        primitives: list[Primitive] = [leaf] * len(self.places)
        parents: list[tuple[int, ...]] = [()] * len(self.places)
        for i in self.constants:
            primitives[i] = CONSTANT
        for primitive, i, a, b in self.rows:
            primitives[i], parents[i] = primitive, inputs(a, b)
        return primitives, parents

    def leaf_data(self, other: float | None = None) -> list[Any]:
        """The values of the constants, and something for the other nodes."""
        data: list[Any] = [other] * len(self.places)
        for i, (number, _) in self.constants.items():
            data[i] = number
        return data

    def at(self, data: list[Any]) -> Graph:
        """Return the graph with other values of its nodes."""
        facts = {"primitives": self.primitives, "parents": self.parents, "chooses": self.chooses, "labels": self.labels}
        copy = Graph.__new__(Graph)
        copy.__dict__ = self.__dict__ | facts | {"data": data}
        return copy

    def with_leaves(self, values: Mapping[int, Any]) -> Graph:
        """Return the graph with these values of variables, not evaluated."""
        data = self.leaf_data()
        for i, x in values.items():
            data[i] = x
        return self.at(data)

    def changed(self, **parts: Any) -> Graph:
        """Return a copy of the graph with some attributes replaced."""
        copy = Graph.__new__(Graph)
        kept = {name: getattr(self, name) for name in ("constants", "names", "places", "roots", "signed", "span_of")}
        copy.__dict__ |= kept | parts
        return copy

    def below(self, roots: tuple[int, ...]) -> tuple[Graph, dict[int, int]]:
        """The graph of these outputs alone, in the order of `in_order`, and the places of its nodes in it."""
        order = in_order(self.parents, roots)
        if order == [*range(len(self.places))]:
            columns = {"rows": self.rows, "primitives": self.primitives, "parents": self.parents}
            return self.changed(roots=roots, labels=self.labels, **columns), dict(enumerate(order))
        return self.arranged(order, roots)

    def arranged(self, order: Sequence[int], roots: tuple[int, ...]) -> tuple[Graph, dict[int, int]]:
        """The graph of these nodes in this order, in which each stands after its inputs, and their places in it."""
        place = {i: k for k, i in enumerate(order)}
        return self.changed(
            roots=tuple([place[root] for root in roots]),
            primitives=[self.primitives[i] for i in order],
            parents=[tuple([place[p] for p in self.parents[i]]) for i in order],
            places=[self.places[i] for i in order],
            constants={place[i]: constant for i, constant in self.constants.items() if i in place},
            labels={place[i]: label for i, label in self.labels.items() if i in place},
            signed={place[i] for i in self.signed if i in place},
        ), place

    def span(self, i: int) -> Span | None:
        """The piece of text of node `i`."""
        return self.span_of(self.places[i])

    def is_literal(self, i: int) -> bool:
        """Return whether a node is a number that was typed, with its minus."""
        return self.primitives[self.parents[i][0] if self.primitives[i] is NEG else i] is CONSTANT

    def inputs(self, i: int) -> list[Any]:
        """The values of the inputs of node `i`."""
        return [self.data[p] for p in self.parents[i]]


def _pair(parents: tuple[int, ...]) -> tuple[Any, int | None]:
    return (parents[0], None) if len(parents) == 1 else parents if len(parents) == 2 else (parents, None)


def inputs(a: Any, b: int | None) -> tuple[int, ...]:
    """The inputs that a row has."""
    if b is not None:
        return a, b
    return a if type(a) is tuple else (a,)


def in_order(parents: Sequence[tuple[int, ...]], roots: Iterable[int]) -> list[int]:
    """Return the nodes that the roots depend on in depth-first topological order."""
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
