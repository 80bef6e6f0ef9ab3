"""Lowering: a recorder that composes what a target's library lacks."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any

from ..graphs.adjoint import Recording
from ..numbers.base import Number
from ..numbers.double.formulas import COMPENSATED, Lacking, formula
from ..numbers.recorder import CONDITIONS, Recorder, Step
from ..table.primitive import OPERATIONS
from ..table.primitives import library_names
from .faults import is_undefined

BASIC = CONDITIONS | library_names("add sub mul div neg").keys()
MAX_INLINE_STEPS = 2
"""The most steps of a formula in place; for a longer one the target gets a function."""


MAX_FACTORS = 6
"""The largest whole exponent for which columns are multiplied."""


class Lowering(Recorder):
    """Records `native` operations of a target, and with `functions` those that can be added.

    `coarse` operations are native where no formula is better. For `columns`, small whole powers are products.
    """

    def __init__(
        self, native: Collection[str], functions: bool, coarse: Collection[str] = (), *, columns: bool = False
    ) -> None:
        self.native = BASIC | set(native)
        self.functions, self.columns = functions, columns
        self.coarse = coarse
        super().__init__()

    def step(self, name: str, *args: Number) -> Step:
        steps = tuple([self.number(a) for a in args])
        simpler = self._folded(name, steps) or self._simpler(name, steps)
        if simpler is not None:
            return simpler
        if name not in CONDITIONS and any(is_undefined(a) for a in steps):
            return self.number(math.nan)
        finer = COMPENSATED[name](self, *steps) if name in self.coarse else None
        if finer is not None:
            return self.number(finer)
        operation = OPERATIONS[name]
        if name == "pow" and self.columns and (product := self._product(*steps)) is not None:
            return product
        if name in self.native and (not operation.variadic or len(steps) == 2):
            return self._new(name, steps, None)
        rule = formula(name)
        if rule is None:
            raise Lacking(name)
        fixed = operation.variadic or operation.constant_params
        if self.functions and not fixed and length(name, len(steps)) > MAX_INLINE_STEPS:
            compose_for(self.native, name, len(steps), self.coarse)  # what it rests on may be lacking
            return self._new(name, steps, None)
        return self.number(rule(self, *steps))

    def _product(self, x: Step, y: Step) -> Step | None:
        """Return a power as a few products, or by a root, which are more accurate than columns' `pow`."""
        size = abs(y.data) if y.name == "number" else 0.0
        if size == 0.5:
            power = self.step("sqrt", x)
        elif size in range(1, MAX_FACTORS + 1):
            power = x
            for bit in bin(int(size))[3:]:
                square = self.step("mul", power, power)
                power = self.step("mul", square, x) if bit == "1" else square
        else:
            return None
        return power if y.data > 0 else self.step("div", 1.0, power)

    def native_step(self, name: str, *args: Number) -> Step:
        """Return the step of an operation as the target has it."""
        return self._new(name, tuple([self.number(a) for a in args]), None)

    def where(self, condition: Any, then: Any, otherwise: Any) -> Step:
        """Return the choice of a branch; nan if the condition compares an undefined number."""
        step = condition
        if isinstance(step, Step):
            while step.args and OPERATIONS[step.name].takes_conditions and OPERATIONS[step.name].gives_condition:
                step = step.args[0]
            if any(is_undefined(a) for a in step.args):
                return self.number(math.nan)
        return super().where(condition, then, otherwise)

    def number(self, x: Number) -> Step:
        step = super().number(x)
        if is_undefined(step):
            step.safe = False
        return step

    def _folded(self, name: str, args: tuple[Step, ...]) -> Step | None:
        if any(is_undefined(a) for a in args):
            return None
        value = super()._folded(name, args)
        if value is None and args and all(a.name == "number" for a in args):
            return self.number(math.nan)
        return value

    def items(self, name: str, *args: Number) -> list[Step]:
        return [self.number(x) for x in formula(name)(self, *[self.number(a) for a in args])]


@lru_cache(256)
def length(name: str, count: int) -> int:
    """Return the steps of an operation's formula; vectors and other operations are one each."""
    m = Recorder()
    formula(name)(m, *[m.input(k) for k in range(count)])
    return sum(1 for step in m.steps if step.args)


def compose_for(native: Collection[str], name: str, count: int, coarse: Collection[str] = ()) -> Recording:
    """The formula of an operation, for a function of the target."""
    m = Lowering(native, True, coarse)
    rule: Callable[..., Any] = formula(name)
    result = m.number(rule(m, *[m.input(k) for k in range(count)]))
    return Recording(m, [result])
