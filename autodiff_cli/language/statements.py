"""Statements, and the rules of the language beyond its grammar, each checked at its node."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..errors import ExpressionError, Offer, Span

_MAX_LENGTH = 40
_GROUPS = r"[0-9]{3}(?:,[0-9]{3})*(?:\.[0-9]+)?(?![\w.])"
_ZEROS = r"0[0-9]{2}(?:,[0-9]{3})*(?:\.[0-9]+)?(?![0-9.])"
"""Numbers with leading zeros, invalid even as coefficients: `000x`."""

_DECIMALS = r"[0-9]+(?![0-9_.])"  # digits, perhaps a coefficient: `5x`

_POINTED = r"(?<![\w.])[1-9][0-9]{0,2}\.[0-9]{3}\Z", _DECIMALS
_COMMAS = {
    "outputs": ((r"(?<![\w.])[0-9]+\Z", f"{_GROUPS}|{_ZEROS}|{_DECIMALS}"), _POINTED),
    "arguments": ((r"(?<![\w.])[0-9]+\Z", f"(?=0)(?:{_GROUPS}|{_ZEROS})"),),
    "miscounted": ((r"(?<![\w.])[1-9][0-9]{0,2}\Z", _GROUPS), _POINTED),
}
"""Text before and after a comma that is likely part of one number."""


class Statement(NamedTuple):
    """A statement: its kind (`expression`, `outputs`, `bind`, `augment` or `define`) and place."""

    kind: str
    start: int
    end: int


Complete = tuple[str, int, int]  # a statement with its place in pairs


class Head(NamedTuple):
    """The head of a definition, before its `=`."""

    name: str
    span: Span
    end: int
    parameters: tuple[tuple[str, Span], ...]
    """The parameters and their places; an empty name for anything else."""


class UnknownShape(ExpressionError):
    """An error about a list of unknown length."""


class UnexplainedText(ExpressionError):
    """An error whose hint needs `diagnostics`, which tries spellings.

    For an unused value, `end` is its end, `after` the start of the next statement. For a call of no function, `end` is
    the end of the call, `after` is 0; if the name has no value either, `functions` are those of the program.
    """

    def __init__(
        self, kind: str, message: str, span: Span, end: int, after: int = 0, functions: Collection[str] | None = None
    ) -> None:
        super().__init__(kind, message, span)
        self.end = end
        self.after = after
        self.functions = functions


def check_statements(statements: Sequence[Complete], outline: Callable[[], Sequence[Statement]]) -> None:
    """Raise an error if a statement before the last is only a value."""
    if len(statements) < 2 or all(kind not in ("expression", "outputs") for kind, _, _ in statements[:-1]):
        return
    for (kind, start, end), following in pairwise(outline()):
        if kind == "outputs":
            message = "only the last statement may list outputs"
            raise ExpressionError("syntax", message, Span(start, end), "move it to the end of the program")
        if kind == "expression":
            raise UnexplainedText("syntax", "this value is not used", Span(start, end), end, following.start)


def check_commas(starts: Sequence[int], text: str, where: str) -> None:
    """Raise an error if neighbours are likely one number: `1,000`; as outputs, also `1,5` and `1.000,5`.

    `starts` are where outputs or arguments begin. Arguments are checked twice. `atan2(1,200)` has two, like any call
    with the right number of them, but nobody writes `000` or `050` for one; if their number is wrong (`miscounted`),
    `sin(1,500)` has groups of exactly three digits after one to three that do not begin with 0.
    """
    what = "outputs" if where == "outputs" else "arguments"
    for left, right in pairwise(starts):
        if text[right - 1] != "," or not text[right - 2].isdigit():
            continue
        # The patterns are compiled only here: few programs come this far.
        for before, after in _COMMAS[where]:
            whole = re.compile(before).search(text, max(left, right - 1 - _MAX_LENGTH), right - 1)
            rest = re.compile(after).match(text, right)
            if whole and rest:
                raise _one_number(whole[0], rest[0], Span(whole.start(), rest.end()), what)


def _one_number(before: str, after: str, span: Span, what: str) -> ExpressionError:
    joined, listed = f"{before}.{after}", f"{before}, {after.replace(',', ', ')}"
    message, too_long, is_long = "the decimal sign is a point", "leave the commas out", len(listed) > _MAX_LENGTH
    # Nobody writes `000` or `050` as a separate number.
    is_one = False
    if "." in before:
        joined = f"{before.replace('.', '')}.{after}"
        message = "a number has a point or a comma in it, and not both"
        too_long, is_long = "leave the point out and write a point for the comma", len(after) > _MAX_LENGTH
    elif re.compile(_GROUPS).fullmatch(after):
        joined, message = before + after.replace(",", ""), "a number is written without commas in it"
        is_one = re.search(r"(?:^|,)0", after) is not None
    offered = [joined] if is_one else [joined, listed]
    hint = f"write `{joined}`" + f", or `{listed}` for {what}" * (len(offered) > 1)
    offers = tuple([Offer(span.start, span.end, text, shown=(text,)) for text in offered])
    return ExpressionError("syntax", message, span, too_long if is_long else hint, offers=offers)
