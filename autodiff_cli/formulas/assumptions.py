"""Assumptions: conditions that a program's variables are taken to meet, `x > 0, 0 < t < 1`, as people type them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..algebra.walk import substituted
from ..errors import ExpressionError, nearest, point_error, quoted, usage_error
from ..graphs.value import Value, in_order
from ..graphs.value_and_gradient import value_in
from ..inputs.parse_point import split
from ..inputs.problem import parse
from ..language.builder import Program
from ..numbers.floats import REAL
from ..record import Record
from ..table.operators import VARIABLE, WHERE

MAX_ASSUMPTIONS = 20
HINT = "an assumption is a comparison, or `integer`, `even`, `odd`: `x > 0`, `0 < t < 1`, `n != 0`, `n integer`"

WORDS = {
    "positive": "{0} > 0",
    "negative": "{0} < 0",
    "nonnegative": "{0} >= 0",
    "nonzero": "{0} != 0",
    "integer": "floor({0}) == {0}",
    "even": "floor({0}/2) == {0}/2",
    "odd": "floor(({0} + 1)/2) == ({0} + 1)/2 and {0} != 0",
}
"""Conditions on a variable in words."""

FILLERS = ("is", "a", "an", "number")


class Assumption(Record):
    """One assumption: as it was typed, and as a condition on the leaves of the program."""

    text: str
    condition: Value


def assumptions(texts: str | Sequence[str] | None, program: Program) -> list[Assumption]:
    """Parse the assumptions about the variables of a program, from one text with commas or from several.

    Raises `ExpressionError` (`usage`) for what is no condition or has a name that the program does not use.
    """
    listed = [texts] if isinstance(texts, str) else list(texts or ())
    result = [_read(part.strip(), program) for text in listed for part in split(text)]
    if len(result) > MAX_ASSUMPTIONS:
        message = f"there are more than {MAX_ASSUMPTIONS} assumptions"
        raise ExpressionError("limit", message, None, "leave out what is not needed")
    return result


def _spelled(text: str) -> str:
    name, *words = [word for word in text.split() if word not in FILLERS] or [""]
    if words == ["natural"]:
        raise usage_error(
            f"the assumption `{text}` can be read in two ways: 0 is a natural number for some",
            f"`{name} integer, {name} > 0` or `{name} integer, {name} >= 0`",
        )
    if words == ["real"]:
        raise usage_error(f"the assumption `{text}` says nothing: every variable is real", HINT)
    if words and all(word in WORDS for word in words):
        return " and ".join([WORDS[word].format(name) for word in words])
    return text


def _read(text: str, program: Program) -> Assumption:
    spelled = _spelled(text)
    try:
        outputs = parse(f"where({spelled}, 1, 0)", program.variables).outputs if text else []
    except ExpressionError as error:
        raise usage_error(f"the assumption `{text}` cannot be read: {error}", HINT) from None
    if len(outputs) != 1 or outputs[0].primitive is not WHERE or any(p._prev for p in outputs[0]._prev[1:]):
        raise usage_error(f"`{text}` is not one condition", HINT)
    condition = outputs[0]._prev[0]
    for leaf in in_order((condition,)):
        if leaf.primitive is VARIABLE and leaf.label not in program.variables:
            near = nearest(leaf.label, list(program.variables))
            raise usage_error(
                f"the assumption `{text}` is about `{leaf.label}`, which the program does not use",
                f"did you mean `{near}`?" if near else f"its variables: {quoted(program.variables)}",
            )
    return Assumption(text, substituted(condition, lambda v: None if v._prev else program.variables.get(v.label)))


def check_point(assumed: Sequence[Assumption], numbers: Mapping[str, Any]) -> None:
    """Raise `ExpressionError` (`point`) where the point does not meet an assumption whose variables it has."""
    for assumption in assumed:
        order = in_order((assumption.condition,))
        if any(v.primitive is VARIABLE and v.label not in numbers for v in order):
            continue
        if value_in(REAL, assumption.condition, numbers) is False:
            raise point_error(f"the point does not meet the assumption `{assumption.text}`", "change one of them")
