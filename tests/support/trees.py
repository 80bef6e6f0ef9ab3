"""A text as the tree that the grammar makes of it: what the reader tells the builder, recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from autodiff_cli.errors import Span
from autodiff_cli.language.builder import Anything, Builder, Nodes, Piece
from autodiff_cli.language.reader import read
from autodiff_cli.language.statements import Head, Statement
from autodiff_cli.refusals.parsing import statements
from autodiff_cli.table.primitive import Primitive


class Node(NamedTuple):
    """An operand, an operation, a statement or a program: what it is, where it stands, and its parts.

    Parentheses are no node. A chained comparison is the conjunction of its pairs, which share the operands between.
    """

    kind: str
    start: int
    end: int
    children: tuple[Node, ...] = ()
    value: Any = None


class Recorder(Builder):
    """Takes the whole text for the body of a definition: nothing in it has a meaning yet."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.nodes, self.conditions, self.functions = Nodes(), Anything(), {}
        self.parts: tuple[str, tuple[tuple[str, Span], ...], tuple[int, ...]] = ("", (), ())
        self.recorded: list[tuple[Statement, str, tuple[tuple[str, Span], ...], tuple[int, ...]]] = []

    def output(self, operands: tuple[int, ...], pieces: Sequence[Piece]) -> None:
        self.parts = "", (), operands

    def bind(self, name: str, at: Span, value: int) -> None:
        self.parts = name, (), (value,)

    def augment(self, name: str, at: Span, primitive: Primitive, value: int, piece: Piece) -> None:
        old = self.name(name, at[:2])
        self.bind(name, at, self.operation(primitive, (old, value), (at.start, piece[1]), ()))

    def begin_body(self) -> None:
        pass

    def define(self, head: Head, root: int, piece: Piece) -> None:
        self.parts = head.name, head.parameters, (root,)

    def finish_statement(self, statement: Statement) -> None:
        super().finish_statement(statement)
        self.recorded.append((statement, *self.parts))


def tree(text: str) -> Node:
    """The tree of a text. Raises `Stuck` or `ExpressionError`."""
    recorder = Recorder(text)
    read(text, recorder)
    nodes = recorder.nodes
    made: list[Node] = []
    for i, primitive in enumerate(nodes.primitives):
        kind = "number" if primitive.name == "constant" else primitive.name.rstrip("_")
        value = nodes.constants[i][1] if kind == "number" else nodes.called.get(i, (None,))[0]
        children = tuple([made[p] for p in nodes.parents[i]])
        made.append(Node("if" if kind == "where" else kind, *nodes.places[i], children, value))
    found = []
    for (kind, start, end), name, parameters, roots in recorder.recorded:
        heads = [Node("name", *span[:2], (), parameter) for parameter, span in parameters]
        parts = (*heads, *(made[root] for root in roots))
        found.append(parts[0] if kind == "expression" else Node(kind, start, end, parts, name))
    return Node("program", recorder.statements[0].start, recorder.statements[-1].end, tuple(found))


def parsed(text: str) -> Node:
    """The same, where the error is one that users see. Raises `ExpressionError`."""
    statements(text)
    return tree(text)
