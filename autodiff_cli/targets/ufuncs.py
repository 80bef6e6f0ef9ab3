"""NumPy as a target for blocks of rows: the operations to call on columns."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..numbers.recorder import CONDITIONS, Step
from ..table.primitives import native
from .faults import Vectors, whole_power
from .lowering import Lowering
from .target import language, named

OPERATORS: dict[str, Any] = {
    name: getattr(np, theirs)
    for name, theirs in named(
        "add subtract=sub multiply=mul divide=div negative=neg less=lt less_equal=le greater=gt greater_equal=ge "
        "equal=eq not_equal=ne logical_and=and_ logical_or=or_ logical_not=not_ rint=round "
        "where power=pow"
    ).items()
}

ONE_BY_ONE = native("erf erfc gamma lgamma")
"""Functions that only Python has, which are faster than a formula with a pass over a column for each term."""

FORMS = language("numpy")["forms"]


def lowering() -> Lowering:
    """A recorder of what NumPy can do."""
    return Lowering((*FORMS, *ONE_BY_ONE), functions=False)


def called(plan: Vectors) -> Callable[[Sequence[Any], Any, Any], None]:
    """Return a function that fills in results, a row each, and flags; an input is a column or a shared number."""
    last = {a: step for step in plan.steps for a in step.args}
    kept = {a for step, _ in plan.checks for a in (step, *(step.args if step.name in CONDITIONS else ()))}
    kept |= {*plan.results, *[condition for _, needed in plan.checks for condition, _ in needed]}
    calls = [
        (_function(step), step, [a for a in dict.fromkeys(step.args) if a.args and a not in kept and last[a] is step])
        for step in plan.steps
    ]

    work = threading.local()

    def compute(inputs: Sequence[Any], results: Any, flags: Any) -> None:
        # columns of the block before hold their memory until it is needed again
        values: dict[Any, Any] = work.__dict__

        def value(step: Step) -> Any:
            if step.name == "input":
                return inputs[step.data]
            return step.data if step.name == "number" else values[step]

        with np.errstate(all="ignore"):
            for function, step, done in calls:
                values[step] = function(*map(value, step.args))
                for a in done:
                    del values[a]
            total = np.zeros(len(flags))
            for column in inputs:
                total += column
            flags[:] = False
            for result, step in zip(results, plan.results, strict=True):
                np.add(value(step), 0.0, out=result)
                total += result
            for step, needed in plan.checks:
                where: Any = True
                for condition, holds in needed:
                    where = np.logical_and(where, value(condition) == holds)
                if step.name in CONDITIONS:
                    x, y = map(value, step.args)
                    differ = np.abs(np.subtract(x, y)) > 0.0
                    np.logical_or(flags, np.logical_and(np.logical_not(differ), where), out=flags)
                else:
                    np.add(total, value(step), out=total, where=where)
            total -= total
            np.logical_or(flags, total != 0.0, out=flags)

    return compute


def _function(step: Step) -> Callable[..., Any]:
    name = step.name
    if (exponent := whole_power(step)) is not None:
        return lambda x, _: _power(x, exponent)
    if name in OPERATORS:
        return OPERATORS[name]  # type: ignore[no-any-return]
    if name == "atan2":
        return lambda y, x: np.arctan2(y + 0.0, x + 0.0)  # a zero has no sign
    if name in ONE_BY_ONE:
        return _one_by_one(getattr(math, name))
    function: Callable[..., Any] = getattr(np, FORMS[name].removeprefix("np."))
    return function


def _power(x: Any, exponent: int) -> Any:
    value = x
    for bit in bin(abs(exponent))[3:]:
        value = value * value * x if bit == "1" else value * value
    return 1.0 / value if exponent < 0 else value


def _one_by_one(function: Callable[[float], float]) -> Callable[[Any], Any]:

    def value(x: float) -> float:
        try:
            return function(x)
        except (ValueError, ArithmeticError):
            return math.nan

    return lambda x: np.array([value(element) for element in np.atleast_1d(x).tolist()], float)
