"""What to ask where a formula has no value at a point: its limit there."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from ...engine.numbers.budget import BudgetExceeded, use_share
from ...errors import ExpressionError
from ...language.elements import point_text
from ...operating_system import command_line
from ...questions.problem import Quantity, parse
from .limit import Limit, limit

# The share of the work that is left that the limits in all variables may take.
SHARE = 0.3
# The most characters of limits in a hint.
MAX_SAID = 100
# How the hint of an error begins that has no other.
USUAL = "move the point into the domain"
# What the hint of a Taylor series says of the command.
OF_SERIES = "`limit` gives it"


def hint_at_hole(text: str, point: Mapping[str, float], hint: str | None) -> str | None:
    """Return the hint that names the limit at a point, or its sides; the usual one where the limit
    is not known.
    """
    said = hint or ""
    if not said.startswith(USUAL) and OF_SERIES not in said:
        return hint  # it says of another cause, such as numbers that are no fractions
    if not _are_all_known(text, point):
        return hint  # the other variables are columns
    for name in point:
        answer = _limit(text, point, name)
        if answer is None:
            continue
        where = point_text({each: _typed(value) for each, value in point.items()})
        more = f" --wrt {name}" if len(point) > 1 else ""
        command = f"`{command_line(('autodiff', 'limit', text))} --at {where}{more}`"
        if OF_SERIES in said:
            return said.replace(OF_SERIES, f"{command} gives it")
        limits = _said(answer)
        return f"{limits if len(limits) <= MAX_SAID else 'there is a limit'}: {command}"
    return hint


def _are_all_known(text: str, point: Mapping[str, float]) -> bool:
    with suppress(ExpressionError):
        return {*parse(text, [*point], units=True).leaves} <= {*point}
    return False


def _limit(text: str, point: Mapping[str, float], name: str) -> Limit | None:
    """Return the limit in a variable; None if it is not known, or has no value on either side."""
    try:
        with use_share(SHARE / len(point)):
            answer = limit(text, point, wrt=[name])
    except (ExpressionError, BudgetExceeded):
        return None
    kinds = {side.kind for side in answer.sides} - {"undefined"}
    return answer if kinds and kinds <= {"finite", "infinite"} else None


def _typed(value: float) -> str:
    if isinstance(value, Quantity):
        return f"{value.number:.15g} {value.unit}"
    return str(getattr(value, "source", f"{float(value):.15g}"))


def _said(answer: Limit) -> str:
    if answer.exists and all(side.formula for side in answer.sides):
        return f"the limit there is {_formula(answer, answer.formula)}"
    texts = [
        f"{_formula(answer, side.formula)} from the {side.side}"
        for side in answer.sides
        if side.formula
    ]
    return f"the limit there is {' and '.join(texts)}"


def _formula(answer: Limit, formula: str | None) -> str:
    unit = None if answer.units is None else answer.units["limit"]
    return f"{formula} {unit or ''}".rstrip() if formula not in ("inf", "-inf") else str(formula)
