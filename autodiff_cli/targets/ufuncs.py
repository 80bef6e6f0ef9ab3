"""NumPy as a target for blocks of rows: the operations to call on columns, each with the column that it writes to."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
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
        "equal=eq not_equal=ne logical_and=and_ logical_or=or_ logical_not=not_ rint=round"
    ).items()
}

ONE_BY_ONE = native("erf erfc gamma lgamma")
"""Functions that only Python has, which are faster than a formula with a pass over a column for each term."""

FORMS = language("numpy")["forms"]


def lowering() -> Lowering:
    """A recorder of what NumPy can do."""
    return Lowering((*FORMS, *ONE_BY_ONE), functions=False)


class Columns:
    """The operations of a plan on numbered places: inputs first, then constants, then columns that are used again."""

    def __init__(self, plan: Vectors, inputs: int) -> None:
        self.constants: list[Any] = []
        self.kinds: list[bool] = []
        """Whether each work column holds conditions."""
        self.calls: list[tuple[Callable[..., Any], tuple[int, ...], int]] = []
        """What to call, the indices of the input columns, and that of the output column."""
        self.plan = plan
        self._inputs = inputs
        self._place: dict[Step, int] = {}
        self._literals: dict[tuple[str, str], int] = {}
        leaves = [a for step in plan.steps for a in step.args] + list(plan.results)
        for step in leaves:
            if step.name == "number":
                key = (type(step.data).__name__, repr(step.data))
                if key not in self._literals:
                    self._literals[key] = inputs + len(self.constants)
                    self.constants.append(step.data)
                self._place[step] = self._literals[key]
            elif step.name == "input":
                self._place[step] = step.data
        self._first = inputs + len(self.constants)
        self._free: dict[bool, list[int]] = {True: [], False: []}
        uses = Counter(a for step in plan.steps for a in step.args)
        kept = {step for step, _ in plan.checks} | set(plan.results)
        kept |= {a for step, _ in plan.checks if step.name in CONDITIONS for a in step.args}
        kept |= {condition for _, needed in plan.checks for condition, _ in needed}
        for step in plan.steps:
            places = tuple([self._place[a] for a in step.args])
            out = self._place[step] = self._new(step.name in CONDITIONS)
            self.calls.append((_function(step), places, out))
            for a in step.args:
                uses[a] -= 1
                if not uses[a] and a.args and a not in kept:
                    self._free[a.name in CONDITIONS].append(self._place[a])

    def _new(self, condition: bool) -> int:
        if self._free[condition]:
            return self._free[condition].pop()
        self.kinds.append(condition)
        return self._first + len(self.kinds) - 1

    def run(self, inputs: list[Any], work: list[Any], results: list[Any], flags: Any) -> None:
        """Fill in the results and the flags; `work` are columns of the `kinds`, as long as the inputs."""
        places = [*inputs, *self.constants, *work]
        with np.errstate(all="ignore"):
            for function, read, out in self.calls:
                function(*[places[k] for k in read], out=places[out])
            total = np.zeros(len(flags))
            for column in inputs:
                total += column
            flags[:] = False
            for step, result in zip(self.plan.results, results, strict=True):
                np.add(places[self._place[step]], 0.0, out=result)
                total += result
            for step, needed in self.plan.checks:
                where: Any = True
                for condition, holds in needed:
                    truth = places[self._place[condition]]
                    where = np.logical_and(where, truth if holds else np.logical_not(truth))
                if step.name in CONDITIONS:
                    x, y = (places[self._place[a]] for a in step.args)
                    differ = np.abs(np.subtract(x, y)) > 0.0
                    np.logical_or(flags, np.logical_and(np.logical_not(differ), where), out=flags)
                else:
                    np.add(total, places[self._place[step]], out=total, where=where)
            total -= total
            np.logical_or(flags, total != 0.0, out=flags)


def _function(step: Step) -> Callable[..., Any]:
    name = step.name
    if name in OPERATORS:
        return OPERATORS[name]  # type: ignore[no-any-return]
    if name == "where":
        return _chosen
    if name == "pow":
        exponent = whole_power(step)
        return np.power if exponent is None else _powers(exponent)
    if name == "atan2":
        # a zero has no sign
        return lambda y, x, out: np.arctan2(y + 0.0, x + 0.0, out=out)
    if name in ONE_BY_ONE:
        return _one_by_one(getattr(math, name))
    function: Callable[..., Any] = getattr(np, FORMS[name].removeprefix("np."))
    return function


def _chosen(condition: Any, x: Any, y: Any, out: Any) -> None:
    # the column that is written to is none of those that are read
    out[...] = y
    np.copyto(out, x, where=condition)


def _powers(exponent: int) -> Callable[..., Any]:

    def power(x: Any, _: Any, out: Any) -> None:
        value = x
        for bit in bin(abs(exponent))[3:]:
            value = np.multiply(value, value, out=out)
            if bit == "1":
                np.multiply(out, x, out=out)
        if exponent < 0:
            np.divide(1.0, value, out=out)
        elif value is x:
            np.copyto(out, x)

    return power


def _one_by_one(function: Callable[[float], float]) -> Callable[..., Any]:

    def value(x: float) -> float:
        try:
            return function(x)
        except (ValueError, ArithmeticError):
            return math.nan

    def fill(x: Any, out: Any) -> None:
        out[...] = [value(element) for element in np.broadcast_to(x, out.shape).tolist()]

    return fill
