"""The syntax tree of a program: what stands where, before anything in it has a meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..engine.table.operators import DIV, MUL, NEG, POW
from ..errors import Span

EXPRESSIONS = ("number", "name", "operation", "plus", "comparison", "call", "group")
# The kinds of nodes, and of statements; a `program` is made of statements.
STATEMENTS = ("expression", "outputs", "bind", "augment", "define", "equation")


class SyntaxNode(NamedTuple):
    """A part of a program: its kind, its place, its parts in order, and what its kind needs
    besides.

    The value of a number is its double and its text, or its text alone where that has a unit; of a
    name, a call, a binding or a definition the name; of an operation the primitive; of a comparison
    the signs between its operands; of an equation whether it is written with one. A call, a binding
    and a definition begin with their name. The parts of a definition are its parameters, as names,
    and its body; those of an equation its two sides. A `group` is a part in parentheses.
    """

    kind: str
    span: Span
    parts: tuple[SyntaxNode, ...] = ()
    value: Any = None

    @property
    def name_span(self) -> Span:
        """The place of the name that this part begins with."""
        return Span(self.span.start, self.span.start + len(self.value))

    def walk(self) -> Iterator[SyntaxNode]:
        """Yield this part and all parts of it, each before its own, in the order of the text."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.parts))

    def names(self) -> Iterator[SyntaxNode]:
        """Yield the names in it that stand for values: those of calls and bindings do not."""
        return (node for node in self.walk() if node.kind == "name")

    def text(self, source: str) -> str:
        """Return its text in its program, with single blanks."""
        return " ".join(source[self.span.start : self.span.end].split())


def shifted(node: SyntaxNode, by: int) -> SyntaxNode:
    """Return a part whose text begins `by` characters later."""
    moved: list[SyntaxNode] = []
    for part in reversed([*node.walk()]):
        parts = tuple([moved.pop() for _ in part.parts])
        span = Span(part.span.start + by, part.span.end + by)
        moved.append(SyntaxNode(part.kind, span, parts, part.value))
    return moved.pop()


def first_power(tree: SyntaxNode) -> tuple[SyntaxNode, SyntaxNode, SyntaxNode] | None:
    """Return the first `x^1/2` or `x^-1/2` as it is written, with its power and its divisor; None
    without one.
    """
    for node in tree.walk():
        if node.kind != "operation" or node.value is not DIV or node.parts[1].kind != "number":
            continue
        factor, divisor = node.parts
        while factor.kind == "operation" and factor.value in (MUL, DIV):
            factor = factor.parts[1]
        if factor.kind == "operation" and factor.value is POW and _is_one(factor.parts[1]):
            span = Span(factor.span.start, divisor.span.end)
            return SyntaxNode("operation", span, (factor, divisor), DIV), factor, divisor
    return None


def _is_one(exponent: SyntaxNode) -> bool:
    """Return whether an exponent is 1 or -1."""
    number = (
        exponent.parts[0] if exponent.kind == "operation" and exponent.value is NEG else exponent
    )
    return number.kind == "number" and number.value == (1.0, "1")


def program_of(statements: Sequence[SyntaxNode]) -> SyntaxNode:
    """Return the program of some statements."""
    return SyntaxNode(
        "program", Span(statements[0].span.start, statements[-1].span.end), tuple(statements)
    )
