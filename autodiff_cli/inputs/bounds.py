"""Ranges as they are typed: `x=0:1,y=:2`, for bounds and for the stretch that a plot shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..errors import ExpressionError, Span, about
from .parse_point import ValueOf, constant_value, fail, is_name, pieces
from .problem import Quantity, number_or_quantity

EXAMPLE = "write it as `x=-2:4`, or `x=0:1,y=0:2`"


class Range(NamedTuple):
    """The numbers from `low` to `high`; None is a side that is left open."""

    low: float | None
    high: float | None

    @property
    def ends(self) -> tuple[float, float]:
        """The range as two numbers: an open side is infinite."""
        return -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high

    def check_start(self, name: str, start: float | str) -> None:
        """Raise a usage error for a start outside of it."""
        low, high = self.ends
        x = number_or_quantity(start, name)
        if not low <= x <= high:
            text = f"{x:g}" if type(x) is not Quantity else f"{x.number:g} {x.unit}"
            raise ExpressionError(
                "usage", f"the start `{name}={text}` is outside its bounds", hint="start within the bounds"
            )


def parse_ranges(texts: Iterable[str], value_of: ValueOf = constant_value) -> dict[str, Range]:
    """Return the range of each name, in order; the ends may be constant expressions, such as `pi/2`, or what
    `value_of` reads.

    Raises `ExpressionError` of kind `point`, with the span in the text (its `text`).

    >>> parse_ranges(["x=0:pi/2,y=:2"])
    {'x': Range(low=0.0, high=1.5707963267948966), 'y': Range(low=None, high=2.0)}
    """
    ranges: dict[str, Range] = {}
    for text in texts:
        with about(text, always=True):
            for start, end in pieces(text):
                name, ends = _one(text, start, end, value_of)
                if ranges.setdefault(name, ends) != ends:
                    fail(f"`{name}` is given two ranges", Span(start, end), "leave one of them out")
    return ranges


def parse_between(texts: Sequence[str], value_of: ValueOf = constant_value) -> dict[str, Range] | Range | None:
    """Return the bounds of unknowns by name, or those of the only one, `0:1`; None for none."""
    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0]:
        # read as any other range is; the name is never seen
        return parse_ranges([f"x={texts[0]}"], value_of)["x"]
    return parse_ranges(texts, value_of)


def _one(text: str, start: int, end: int, value_of: ValueOf) -> tuple[str, Range]:
    name, equals, ends = text[start:end].partition("=")
    bare = name.rstrip()
    if not equals or not is_name(bare):
        fail(f"`{text[start:end]}` is not a name with its range", Span(start, max(end, start + 1)), EXAMPLE)
    low, colon, high = ends.partition(":")
    if ":" in high:
        between = f"`{bare}={low}:{high.partition(':')[0]}`"
        points = f"a sweep of points is for `--at {text[start:end]}`"
        fail(f"the range of `{bare}` has two ends, and no step", Span(start, end), f"write {between}; {points}")
    if not colon:
        fail(f"the range of `{bare}` needs two ends with a colon between them", Span(start, end), EXAMPLE)
    begin = start + len(name) + 1
    first = _end(bare, low, begin, value_of) if low.strip() else None
    second = _end(bare, high, begin + len(low) + 1, value_of) if high.strip() else None
    if first is not None and second is not None and first > second:
        turned = f"turn it round: `{bare}={high.strip()}:{low.strip()}`"
        ends = f"from {low.strip()} down to {high.strip()}"
        fail(f"the range of `{bare}` goes the wrong way, {ends}", Span(start, end), turned)
    return bare, Range(first, second)


def _end(name: str, text: str, begin: int, value_of: ValueOf) -> float:
    try:
        return constant_value(name, text, begin)
    except ExpressionError:
        if value_of is constant_value:
            raise
        return value_of(name, text, begin)
