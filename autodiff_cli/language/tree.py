"""The parse tree: what the parser hands to the builder."""

from __future__ import annotations

from ..errors import Span


class Node:
    """One node of the parse tree, with the piece of text it was read from.

    | kind | value | children |
    |---|---|---|
    | number | the literal's text, without underscores | |
    | name | the name | |
    | call | the function's name | the arguments; `name_span` is the function's name alone |
    | neg pos add sub mul div pow | | the operands; a coefficient `2x` is a `mul`, `x²` a `pow` |
    | sqrt abs | | the operand of `√x`, of `|x|` |
    | group | | the expression inside parentheses; its span includes them |
    | if | | condition, value if true, value if false (in this order) |
    | compare | tuple of operators, of `< <= > >= == !=` | the operands, one more than operators |
    | and or not | | the operands |
    | bind | the name | the value |
    | augment | the name | the new value, as a `add sub mul div` node over the old name and the right side |
    | define | the function's name | the parameters (`name` nodes), then the body |
    | outputs | | the listed outputs `a, b, c` of a last statement |
    | program | | the statements |

    A node's span covers all of its text: that of `(a+b)*c` begins at the parenthesis.
    """

    __slots__ = ("children", "end", "kind", "name_span", "start", "value")

    def __init__(
        self,
        kind: str,
        start: int,
        end: int,
        children: tuple[Node, ...] = (),
        value: str | tuple[str, ...] | None = None,
    ) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.children = children
        self.value = value
        self.name_span: Span | None = None

    @property
    def span(self) -> Span:
        """Where the node stands in the text."""
        return Span(self.start, self.end)

    def __repr__(self) -> str:
        return f"Node({self.kind!r}, {self.start}, {self.end}, value={self.value!r}, children={len(self.children)})"
