"""A text as the tree that the grammar makes of it: what the reader tells the builder, recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from autodiff_cli.errors import Span
from autodiff_cli.inputs.problem import statements as statements_of
from autodiff_cli.language.builder import Builder, Piece
from autodiff_cli.language.reader import read
from autodiff_cli.language.tokens import Head, Statement
from autodiff_cli.run.flat_graph import Place
from autodiff_cli.table.primitive import Primitive

PLUS = Primitive("pos", ("x",))
"""What a node of a body is that is neither a number nor an operation."""


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

    takes_lists = True

    def __init__(self, text: str) -> None:
        super().__init__(text)
        super().begin_body()
        self.parts: tuple[str, tuple[tuple[str, Span], ...], tuple[int, ...]] = ("", (), ())
        self.recorded: list[tuple[Statement, str, tuple[tuple[str, Span], ...], tuple[int, ...]]] = []

    def output(self, operands: tuple[int, ...], pieces: Sequence[Piece]) -> None:
        self.parts = "", (), operands

    def bind(self, name: str, at: Place, value: int) -> None:
        self.parts = name, (), (value,)

    def augment(self, name: str, at: Piece, primitive: Primitive, value: int, piece: Piece) -> None:
        old = self.name(name, at)
        self.bind(name, at, self.operation(primitive, (old, value), (at[0], piece[1]), ()))

    def begin_body(self) -> None:
        pass

    def plus(self, operand: int, place: Place, piece: Piece) -> int:
        return self.node(PLUS, (operand,), place)

    def operation(self, primitive: Primitive, operands: tuple[int, ...], place: Place, pieces: Sequence[Piece]) -> int:
        return self.node(primitive, operands, place)

    def define(self, head: Head, root: int, piece: Piece) -> None:
        self.parts = head.name, head.parameters, (root,)

    def finish_statement(self, statement: Statement | int, place: Piece) -> list[Statement]:
        found = super().finish_statement(statement, place)
        self.recorded.append((found[-1], *self.parts))
        return found


def tree(text: str) -> Node:
    """The tree of a text. Raises `Stuck` or `ExpressionError`."""
    recorder = Recorder(text)
    read(text, recorder)
    body = recorder.body
    assert body is not None
    made: list[Node] = []
    for i, (primitive, parents) in enumerate(zip(body.primitives, body.parents, strict=True)):
        kind = "number" if primitive.name == "constant" else primitive.name.rstrip("_")
        value = body.constants[i][1] if kind == "number" else body.called.get(i, (None,))[0]
        start, end, _ = recorder.span(body.places[i])
        made.append(Node("if" if kind == "where" else kind, start, end, tuple([made[p] for p in parents]), value))
    statements = recorder.outline()
    found = []
    for (_, name, parameters, roots), (kind, start, end) in zip(recorder.recorded, statements, strict=True):
        heads = [Node("name", *span[:2], (), parameter) for parameter, span in parameters]
        parts = (*heads, *(made[root] for root in roots))
        found.append(parts[0] if kind == "expression" else Node(kind, start, end, parts, name))
    return Node("program", statements[0].start, statements[-1].end, tuple(found))


def parsed(text: str) -> Node:
    """The same, where the error is one that users see. Raises `ExpressionError`."""
    statements_of(text)
    return tree(text)
