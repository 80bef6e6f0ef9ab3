"""The tree of a program, as the reader reports it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

from ..engine.run.flat_graph import Place, Row
from ..engine.table.operators import NEG
from ..engine.table.primitive import Primitive
from .builder import Piece
from .tokens import Complete, Head, Spans, number_of
from .tree import SyntaxNode, program_of

# Each node may be a condition: the reader reports the places of all operands.
_ANY_NODE = range(1 << 60)


class TreeRecorder:
    """What the reader reports, as parts of a tree: by number, in an order where parts come
    first.
    """

    records = True

    def __init__(self, text: str, valued: Collection[str] = (), spans: Spans | None = None) -> None:
        self.text = text
        self.valued = valued
        self.span = spans or Spans(text)
        self.rows: list[Row] = []
        self.places: list[Place] = []
        self.constants: dict[int, tuple[float, str]] = {}
        self.pieces: dict[int, Sequence[Place]] = {}
        # the kinds and values of other parts than operations
        self.written: dict[int, tuple[str, Any]] = {}
        self.statements: list[Complete] = []
        # of each statement, its value and parts
        self.read: list[tuple[Any, Sequence[int], Sequence[Place]]] = []
        self.last: tuple[Any, Sequence[int], Sequence[Place]] = None, (), ()

    def scope(self) -> tuple[TreeRecorder, dict[str, int], range, dict[str, Primitive]]:
        """Return the scope for new parts: no name has a meaning."""
        return self, {}, _ANY_NODE, {}

    def _part(self, kind: str, value: Any, place: Place) -> int:
        self.written[len(self.places)] = kind, value
        self.places.append(place)
        return len(self.places) - 1

    def name(self, name: str, place: Place) -> int:
        """Record a name."""
        return self._part("name", name, place)

    def unusual_number(self, text: str, place: Place) -> tuple[float, str] | None:
        """Return a number whose text is read later: it has a unit, or is too large; None for no
        number.
        """
        number = number_of(text[:-1].partition("[")[0] if text[-1] == "]" else text)
        return None if number is None else (number[0], text)

    def constant(self, data: float, source: str, place: Place) -> int:
        """Record a number."""
        self.constants[len(self.places)] = data, source
        self.places.append(place)
        return len(self.places) - 1

    def check_types(
        self, wanted: Sequence[int], operands: Sequence[int], pieces: Sequence[Place]
    ) -> None:
        """Keep the places of the operands of the next part."""
        self.pieces[len(self.places)] = pieces

    def operation(
        self, primitive: Primitive, operands: tuple[int, ...], place: Place, pieces: Sequence[Any]
    ) -> int:
        """Record an operation."""
        return self._node("operation", primitive, operands, place, pieces)

    def plus(self, operand: int, place: Place, piece: Piece) -> int:
        """Record a unary plus."""
        return self._node("plus", None, (operand,), place, (piece,))

    def comparison(
        self, operands: Sequence[int], pieces: Sequence[Place], signs: Sequence[str]
    ) -> int:
        """Record a chain of comparisons."""
        place = pieces[0][0], pieces[-1][1]
        return self._node("comparison", tuple(signs), operands, place, pieces)

    def call(
        self, name: str, at: Place, operands: Sequence[int], place: Place, pieces: Sequence[Place]
    ) -> int:
        """Record a call."""
        return self._node("call", name, operands, place, pieces)

    def _node(
        self, kind: str, value: Any, parts: Sequence[int], place: Place, pieces: Sequence[Place]
    ) -> int:
        i = self._part(kind, value, place)
        self.pieces[i] = pieces
        self.rows.append((NEG, i, tuple(parts), None))
        return i

    def output(self, operands: Sequence[int], pieces: Sequence[Place]) -> None:
        """Record the outputs of a statement."""
        self.last = None, operands, pieces

    def bind(self, name: str, at: Place, value: int) -> None:
        """Record a binding."""
        self.last = name, (value,), ()

    def augment(self, name: str, at: Piece, primitive: Primitive, value: int, piece: Piece) -> None:
        """Record a binding to an operation on the name's value."""
        place = at[0], piece[1]
        old = self.name(name, at)
        self.last = name, (self.operation(primitive, (old, value), place, (at, piece)),), ()

    def define(self, head: Head, root: int, piece: Piece) -> None:
        """Record a definition."""
        names = [self._part("name", name, span) for name, span in head.parameters]
        spans = [span for _, span in head.parameters]
        self.last = head.name, (*names, root), (*spans, piece)

    def finish_statement(self, statement: Complete | int, place: Piece) -> Sequence[Complete]:
        """Record a complete statement; return all of them so far."""
        if isinstance(statement, int):
            self.output((statement,), (place,))
            statement = "expression", place
        self.statements.append(statement)
        self.read.append(self.last)
        return self.statements

    def tree(self) -> SyntaxNode:
        """Return the tree of what was read."""
        nodes = self._nodes()
        statements = []
        for (kind, place), (value, roots, pieces) in zip(self.statements, self.read, strict=True):
            parts = self._parts(nodes, roots, pieces)
            statements.append(
                parts[0]
                if kind == "expression"
                else SyntaxNode(kind, self.span(place), parts, value)
            )
        return program_of(statements)

    def _nodes(self) -> list[SyntaxNode]:
        nodes: list[SyntaxNode] = []
        rows = chain(self.rows, [(NEG, -1, (), None)])
        row = next(rows)
        for i, place in enumerate(self.places):
            span = self.span(place)
            if i in self.constants:
                nodes.append(SyntaxNode("number", span, (), self.constants[i]))
                continue
            roots: tuple[int, ...] = ()
            primitive = row[0]
            if row[1] == i:
                _, _, a, b = row
                roots = a if type(a) is tuple else (a,) if b is None else (a, b)
                row = next(rows)
            kind, value = self.written.get(i, ("operation", primitive))
            nodes.append(
                SyntaxNode(kind, span, self._parts(nodes, roots, self.pieces.get(i, ())), value)
            )
        return nodes

    def _parts(
        self, nodes: Sequence[SyntaxNode], roots: Sequence[int], pieces: Sequence[Place]
    ) -> tuple[SyntaxNode, ...]:
        """Return nodes, each as a group where its piece of the text is longer."""
        parts = []
        for k, root in enumerate(roots):
            span = self.span(pieces[k]) if k < len(pieces) else nodes[root].span
            parts.append(
                nodes[root]
                if span == nodes[root].span
                else SyntaxNode("group", span, (nodes[root],))
            )
        return tuple(parts)
