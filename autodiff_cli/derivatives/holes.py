"""Removable singularities: the Taylor series of a formula through a point at which it has no value, and its limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import Diagnostic, ExpressionError
from ..graphs.laurent import Laurent, NoSeries, laurent_in
from ..graphs.value import Value
from ..inputs.arithmetic import Arithmetic, Values
from ..language.builder import Program
from ..numbers.base import NO_RESULT, Number, NumberType, Refusal
from ..numbers.budget import BudgetExceeded, Defined
from ..numbers.floats import REAL

DIGITS = (60, 150)
"""A number that is not proven to be 0, and is not distinguished from it with so many digits, is taken for 0."""

Point = Mapping[str, float | str]


class _Decisions:
    """Whether numbers are 0, by bounds on their errors."""

    def __init__(self) -> None:
        self.taken: list[bool] = []
        self.confirmed = True
        """Whether all were proven."""

    def __call__(self, x: Number) -> bool:
        zero = True
        try:
            zero = bool(x == 0)
        except Refusal:
            self.confirmed = False
        self.taken.append(zero)
        return zero


def decided_series(output: Value, point: Point, by: str, order: int) -> tuple[Laurent, _Decisions]:
    """The series in many digits, with 0 for coefficients that are 0. Raises `NoSeries`."""
    from ..numbers.running_digits import RunningDigits

    before: list[bool] = []
    for digits in DIGITS:
        m = RunningDigits(digits)
        arithmetic = Arithmetic("precision", digits)
        values = {name: arithmetic._value(m, name, x) for name, x in point.items()}
        decisions = _Decisions()
        series = laurent_in(m, output, values, by, order, decisions)
        series = Laurent(series.start, [m.number(0) if decisions(x) else x for x in series.c])
        if decisions.confirmed or decisions.taken == before:
            return series, decisions
        before = decisions.taken
    raise NoSeries


def series_through(
    m: NumberType, output: Value, values: Values, point: Point, by: str, order: int
) -> tuple[list[Number], Diagnostic] | None:
    """Return the coefficients of a Taylor series through a removable singularity, and what is said of it; else None."""
    try:
        series, decisions = decided_series(output, point, by, order)
        if series.start < 0:
            return None
        if m is not REAL:
            replayed: Iterator[bool] = iter(decisions.taken)
            is_zero = _proven if m.name in ("exact", "certified") else lambda _: next(replayed)
            series = laurent_in(m, output, values, by, order, is_zero)
    except (NoSeries, BudgetExceeded, *NO_RESULT, ExpressionError) as error:
        if getattr(error, "kind", "") == "undecided":
            raise
        return None
    zero = m.number(0)
    coefficients = [zero + (float(x) if m is REAL else x) for x in (series.at(k) for k in range(order + 1))]
    proof = "" if decisions.confirmed else f"; that terms cancel is confirmed with {DIGITS[-1]} digits, and not proven"
    message = f"the formula has no value at this point, and a limit: the series goes through the hole{proof}"
    return coefficients, Diagnostic("removable", message, None, None)


def _proven(x: Any) -> bool:
    return bool(x == 0)


def limit_hint(program: Program, point: Point) -> str | None:
    """Return what the limit is at a point without a value, as a hint; None where there is none, or it is not known."""
    (by, *others) = program.variables or ("",)
    if others or not by:
        return None
    with Defined(BudgetExceeded, *NO_RESULT, NoSeries):
        series, _ = decided_series(program.outputs[0], {by: point[by]}, by, 1)
        if series.start < 0:
            return None
        value, slope = (f"{float(series.at(k)):.12g}" for k in range(2))
        return f"the limit there is {value}, and that of the derivative {slope}: `taylor` goes through the hole"
    return None
