"""The tape: a graph in a row, each node after its inputs. The reader writes rows, the sweeps run over the tape."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import Span
from ..table.operators import CONSTANT, VARIABLE
from ..table.primitive import Primitive

TapePlace = tuple[Any, ...]
"""A piece of the program's text: `(start, end)`, or `(start, end, via)` in the body of a function that was called."""

TapeRow = tuple[Primitive, int, Any, int | None]
"""An operation: its primitive, its number among the nodes, and its inputs: one and None, two, or a tuple and None."""


class ProgramRows:
    """A graph as it is read: its operations in a row, each after its inputs; variables and constants have no row."""

    __slots__ = ("constants", "places", "rows", "signed")

    def __init__(self) -> None:
        self.rows: list[TapeRow] = []
        self.constants: dict[int, tuple[float, str]] = {}
        """Each constant, and the text that it was read from."""
        self.signed: set[int] = set()
        """The operations that are a constant with a sign."""
        self.places: list[TapePlace] = []
        """Where each node stands, however that is counted."""

    def data(self, other: float | None = None) -> list[Any]:
        """The values of the constants, and something for the other nodes."""
        data: list[Any] = [other] * len(self.places)
        for i, (number, _) in self.constants.items():
            data[i] = number
        return data

    def columns(self, leaf: Primitive) -> tuple[list[Primitive], list[tuple[int, ...]]]:
        """The primitives and the inputs of all nodes; of what is neither an operation nor a constant it is `leaf`."""
        primitives: list[Primitive] = [leaf] * len(self.places)
        parents: list[tuple[int, ...]] = [()] * len(self.places)
        for i in self.constants:
            primitives[i] = CONSTANT
        for primitive, i, a, b in self.rows:
            primitives[i] = primitive
            parents[i] = inputs(a, b)
        return primitives, parents

    def tape(self) -> Tape:
        """The graph as a tape, without places."""
        tape = Tape(*self.columns(VARIABLE), self.data())
        tape.constants = self.constants
        return tape


def inputs(a: Any, b: int | None) -> tuple[int, ...]:
    """The inputs that a row has."""
    if b is not None:
        return a, b
    return a if type(a) is tuple else (a,)


class Tape:
    """A graph in a row: node `i` applies `primitives[i]` to the nodes `parents[i]`, all of which stand before it."""

    __slots__ = ("_chooses", "about", "constants", "data", "labels", "parents", "places", "primitives")

    def __init__(
        self,
        primitives: list[Primitive],
        parents: list[tuple[int, ...]],
        data: list[Any],
        chooses: bool | None = None,
    ) -> None:
        """`chooses` is whether some node leaves inputs unevaluated, where that is known."""
        self.primitives = primitives
        self._chooses = chooses
        self.parents = parents
        self.data = data
        """The value of each node; None where there is none (yet)."""
        self.places: list[TapePlace] = []
        """The piece of text of each node, if it has one."""
        self.labels: dict[int, str] = {}
        """The names that the program or the user gave to nodes; every variable has one."""
        self.constants: dict[int, tuple[float, str]] = {}
        """Each constant, and the text that it was read from, so that it can be read again as another number type."""
        self.about: dict[int, Any] = {}
        """What Values say of nodes besides their numbers, which all Values of a node share."""

    @property
    def chooses(self) -> bool:
        """Whether some node leaves inputs unevaluated."""
        if self._chooses is None:
            return any(primitive.demand for primitive in self.primitives)
        return self._chooses

    def span(self, i: int) -> Span | None:
        """The piece of text of node `i`."""
        return Span(*self.places[i]) if self.places else None


def in_order(parents: Sequence[tuple[int, ...]], roots: Iterable[int]) -> list[int]:
    """The nodes that the roots are made from, each after its inputs, the first input's first."""
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
