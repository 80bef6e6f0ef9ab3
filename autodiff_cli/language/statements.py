"""Statements, and the rules of the language that its grammar cannot say, each checked where the node is made."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..errors import ExpressionError, Offer, Span

_LONGEST = 40
_INTEGER = r"(?<![\w.])[0-9]+\Z"
_GROUPS = r"[0-9]{3}(?:,[0-9]{3})*(?:\.[0-9]+)?(?![\w.])"
_ZEROS = r"0[0-9]{2}(?:,[0-9]{3})*(?:\.[0-9]+)?(?![0-9.])"
"""Numbers with leading zeros, which are not allowed even as coefficients: `000x`."""

_DECIMALS = r"[0-9]+(?![\w.])"
_LEADING = r"(?<![\w.])[1-9][0-9]{0,2}\Z"
_POINTED = r"(?<![\w.])[1-9][0-9]{0,2}\.[0-9]{3}\Z"


class Statement(NamedTuple):
    """A statement: its kind (`expression`, `outputs`, `bind`, `augment` or `define`) and its place."""

    kind: str
    start: int
    end: int


Complete = tuple[str, int, int]
"""A statement as it is read, with its place in pairs."""


class Head(NamedTuple):
    """The head of a definition, before its `=`."""

    name: str
    span: Span
    end: int
    parameters: tuple[tuple[str, Span], ...]
    """The names in the parentheses and where they stand; an empty name for anything else."""


class UnknownShape(ExpressionError):
    """An error about a list of which it is not known how many entries it has."""


class UnexplainedText(ExpressionError):
    """An error whose hint only `diagnostics` can give, since it has to try spellings.

    Of a value that is not used: `end` is where that ends, `after` where the next statement begins. Of a call of
    something that is no function: where the call ends; `after` is 0. Where it has no value either, `functions` are
    those that the program defines.
    """

    def __init__(
        self, kind: str, message: str, span: Span, end: int, after: int = 0, functions: Collection[str] | None = None
    ) -> None:
        super().__init__(kind, message, span)
        self.end = end
        self.after = after
        self.functions = functions


def check_statements(statements: Sequence[Complete], outline: Callable[[], Sequence[Statement]]) -> None:
    """Raise an error if a statement before the last one is only a value; the `outline` has where they stand."""
    if len(statements) < 2 or all(kind not in ("expression", "outputs") for kind, _, _ in statements[:-1]):
        return
    for (kind, start, end), following in pairwise(outline()):
        if kind == "outputs":
            message = "only the last statement may list outputs"
            raise ExpressionError("syntax", message, Span(start, end), "move it to the end of the program")
        if kind == "expression":
            raise UnexplainedText("syntax", "this value is not used", Span(start, end), end, following.start)


def check_head(head: Head) -> None:
    """Raise an error if something other than `f(x, y)` stands before the `=` of a definition."""
    name = head.name
    if not head.parameters:
        hint, span = f"write `{name} = 1` or `{name}(x) = x`", Span(head.span.start, head.end)
        raise ExpressionError("syntax", f"the function `{name}` has no parameter", span, hint)
    for parameter, span in head.parameters:
        if not parameter:
            hint = f"write it as in `{name}(x) = x**2`"
            raise ExpressionError("syntax", "a parameter of a function is a plain name", span, hint)


def check_commas(starts: Sequence[int], text: str, *, outputs: bool) -> None:
    """Raise an error if a comma is part of a number: `1,000`; as an output, also `1,5` and `1.000,5`.

    `starts` are where the arguments or outputs begin. `atan2(1,200)` has two arguments, but nobody writes `000` or
    `050` for one. Of what else stands in a call, `check_thousands` judges, since it matters what is called.
    """
    for left, right in _written_together(starts, text):
        # Compiled only here, since hardly any program comes this far.
        if not outputs and text[right] != "0":
            continue
        whole = re.compile(_INTEGER).search(text, max(left, right - 1 - _LONGEST), right - 1)
        grouped = re.compile(f"{_GROUPS}|{_ZEROS}").match(text, right) if whole else None
        rest = grouped or (re.compile(_DECIMALS).match(text, right) if outputs else None)
        if whole and rest:
            raise _comma(whole[0], rest[0], whole.start(), rest.end(), "outputs" if outputs else "arguments")
        if outputs:
            _check_point_and_comma(left, right, text, "outputs")


def check_thousands(starts: Sequence[int], text: str) -> None:
    """Raise an error if two arguments are likely meant as one number: `1,500` in `sin(1,500)`, or `1.500,5`.

    To be called where the number of arguments is wrong: `sin(1,500)`. Such a number begins with one to three digits,
    not with 0, and goes on with groups of exactly three, with nothing between them but a comma. A call that can take
    its arguments as they stand has them, as in every language with functions: `hypot(300,400)`, `max(1,500)`.
    """
    for left, right in _written_together(starts, text):
        whole = re.compile(_LEADING).search(text, max(left, right - 1 - _LONGEST), right - 1)
        rest = re.compile(_GROUPS).match(text, right) if whole else None
        if whole and rest:
            raise _comma(whole[0], rest[0], whole.start(), rest.end(), "arguments")
        _check_point_and_comma(left, right, text, "arguments")


def _written_together(starts: Sequence[int], text: str) -> Iterator[tuple[int, int]]:
    return ((a, b) for a, b in pairwise(starts) if text[b - 1] == "," and text[b - 2].isdigit())


def _check_point_and_comma(left: int, right: int, text: str, what: str) -> None:
    whole = re.compile(_POINTED).search(text, max(left, right - 1 - _LONGEST), right - 1)
    rest = re.compile(_DECIMALS).match(text, right)
    if whole and rest:
        joined, listed = f"{whole[0].replace('.', '')}.{rest[0]}", f"{whole[0]}, {rest[0]}"
        hint = f"write `{joined}`, or `{listed}` for {what}"
        if len(rest[0]) > _LONGEST:
            hint = "leave the point out and write a point for the comma"
        message, span = "a number has a point or a comma in it, and not both", Span(whole.start(), rest.end())
        raise ExpressionError("syntax", message, span, hint, offers=_offers(span, joined, listed))


def _offers(span: Span, *texts: str) -> tuple[Offer, ...]:
    return tuple([Offer(span.start, span.end, text, shown=(text,)) for text in texts])


def _comma(before: str, after: str, start: int, end: int, what: str) -> ExpressionError:
    grouped = re.compile(_GROUPS).fullmatch(after)
    joined = before + after.replace(",", "") if grouped else f"{before}.{after}"
    listed = f"{before}, {after.replace(',', ', ')}"
    offered = [joined, listed]
    hint = f"write `{joined}`, or `{listed}` for {what}"
    # Nobody writes `000` or `050` for a number of its own.
    if grouped and re.search(r"(?:^|,)0", after):
        offered, hint = offered[:1], f"write `{joined}`"
    if len(listed) > _LONGEST:
        hint = "leave the commas out"
    message = "a number is written without commas in it" if grouped else "the decimal sign is a point"
    return ExpressionError("syntax", message, Span(start, end), hint, offers=_offers(Span(start, end), *offered))
