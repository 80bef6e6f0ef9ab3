"""The rules of the language that its grammar cannot say, each checked where the node is made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ..errors import ExpressionError, Span
from .tree import Node

STATEMENTS = frozenset(("bind", "augment", "define"))
"""What may stand before the last statement."""

_LONGEST = 40
_INTEGER = r"(?<![\w.])[0-9]+\Z"
_GROUPS = r"[0-9]{3}(?:,[0-9]{3})*(?:\.[0-9]+)?(?![\w.])"
_DECIMALS = r"[0-9]+(?![\w.])"


def check_statements(statements: Sequence[Node], text: str) -> None:
    """Raise an error if a statement before the last one is only a value."""
    for statement, following in pairwise(statements):
        if statement.kind in STATEMENTS:
            continue
        if statement.kind == "outputs":
            raise ExpressionError(
                "syntax",
                "only the last statement may list outputs",
                statement.span,
                "move it to the end of the program",
            )
        value = text[statement.start : statement.end]
        if text[following.start] in "+-−":
            hint = "put a sum over several lines in parentheses"
        elif len(value) <= _LONGEST and "\n" not in value:
            hint = f"give it a name, `y = {value}`, or leave it out"
        else:
            hint = "give it a name, or leave it out"
        raise ExpressionError("syntax", "this value is not used", statement.span, hint)


def check_head(head: Node, text: str) -> None:
    """Raise an error if something other than `f(x, y)` stands before the `=` of a definition."""
    name = head.value
    if not head.children:
        raise ExpressionError(
            "syntax", f"the function `{name}` has no parameter", head.span, f"write `{name} = 1` or `{name}(x) = x`"
        )
    for parameter in head.children:
        if parameter.kind != "name":
            raise ExpressionError(
                "syntax",
                "a parameter of a function is a plain name",
                parameter.span,
                f"write it as in `{name}(x) = x**2`",
            )


def check_commas(items: Sequence[Node], text: str, *, outputs: bool) -> None:
    """Raise an error if a comma is part of a number: `1,000`; as an output, also `1,5`.

    `max(1,200)` has two arguments, but nobody writes `000` or `050` for one.
    """
    for left, right in pairwise(items):
        if right.start != left.end + 1 or not text[left.end - 1].isdigit():
            continue
        # Compiled only here, since hardly any program comes this far.
        whole = re.compile(_INTEGER).search(text, max(left.start, left.end - _LONGEST), left.end)
        grouped = re.compile(_GROUPS).match(text, right.start)
        rest = grouped or re.compile(_DECIMALS).match(text, right.start)
        if not whole or not rest or not (outputs or (grouped and text[right.start] == "0")):
            continue
        before, after = whole[0], rest[0]
        joined = before + after.replace(",", "") if grouped else f"{before}.{after}"
        listed = f"{before}, {after.replace(',', ', ')}"
        raise ExpressionError(
            "syntax",
            "a number is written without commas in it" if grouped else "the decimal sign is a point",
            Span(whole.start(), rest.end()),
            f"write `{joined}`, or `{listed}` for {'outputs' if outputs else 'arguments'}"
            if len(listed) <= _LONGEST
            else "leave the commas out",
        )
