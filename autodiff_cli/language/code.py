"""Postfix code: what the reader makes of a text and the builder computes with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from ..errors import ExpressionError, Span

NUMBER, NAME, BINARY, UNARY, GROUP, CALL, CHOICE, COMPARE, LOGIC = range(1, 10)

Item: TypeAlias = tuple[Any, ...]
"""An operand, or an operation on operands before it: `(kind, (start, end), …)`, with the piece of text it stands for.

| kind | then | takes |
|---|---|---|
| NUMBER | the literal's text, without underscores | |
| NAME | the name | |
| BINARY | its primitive; a coefficient `2x` is a product, `x²` a power | 2 |
| UNARY | its primitive, None for `+x` | 1 |
| GROUP | nothing: the parentheses around an operand | 1 |
| CALL | the function's name, the place of that name, the number of arguments | these |
| CHOICE | nothing: value if true, condition, value if false | 3 |
| COMPARE | the signs, of `< <= > >= == !=`, and the piece of text of each pair that they compare | one more |
| LOGIC | its primitive, the number of operands | these |

The span of an operation covers all of its text: that of `(a+b)*c` begins at the parenthesis.
"""


class Statement(NamedTuple):
    """One statement of a program."""

    kind: str
    """`expression`, `outputs` (several expressions), `bind`, `augment` or `define`."""
    start: int
    end: int
    codes: tuple[list[Item], ...]
    """The code of each output; for the other kinds the one of the value, or of the function's body."""
    name: str = ""
    """What is bound or defined."""
    name_span: Span = Span(0, 0)
    parameters: tuple[Item, ...] = ()
    """The names in the head of a definition."""

    @property
    def span(self) -> Span:
        """Where the statement stands in the text."""
        return Span(self.start, self.end)


class Unexplained(ExpressionError):
    """An error whose hint only `refusals` can give, since it has to try spellings."""

    def __init__(self, kind: str, message: str, span: Span, about: Statement | Item, following: int = 0) -> None:
        super().__init__(kind, message, span)
        self.about = about
        """The value that is not used, or the call of something that is no function."""
        self.following = following
        """Where the next statement begins."""


def inputs(item: Item) -> int:
    """How many operands the item takes from those before it."""
    kind = item[0]
    if kind <= NAME:
        return 0
    if kind == BINARY:
        return 2
    if kind <= GROUP:
        return 1
    if kind == CALL:
        return int(item[4])
    if kind == CHOICE:
        return 3
    return len(item[2]) + 1 if kind == COMPARE else int(item[3])


def operands(code: Sequence[Item], stop: int, count: int) -> list[int]:
    """Where the last so many operands before a place in the code end: the places of their last items, in order."""
    ends = []
    at = stop - 1
    for _ in range(count):
        ends.append(at)
        missing = 1
        while missing:
            missing += inputs(code[at]) - 1
            at -= 1
    return ends[::-1]


def operand_spans(code: Sequence[Item], item: Item) -> Iterator[Span]:
    """The pieces of text of an item's operands, parentheses around them included."""
    at = next(k for k, other in enumerate(code) if other is item)
    return (Span(*code[end][1]) for end in operands(code, at, inputs(item)))
