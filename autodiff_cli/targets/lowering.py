"""Lowering: a recorder for one target, which composes what the target's library lacks from what it has."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ..numbers.base import Number
from ..numbers.recorder import CONDITIONS, Recorder, Step
from ..table.primitive import DEFINITIONS
from .support import formula

BASIC = CONDITIONS | {"add", "sub", "mul", "div", "neg"}
VARIADIC = frozenset(("sum", "mean", "prod", "max", "min", "hypot", "logsumexp"))
SHORT = 2
"""A formula of no more steps is written where it is needed; of a longer one the target gets a function."""


class Lacking(Exception):
    """A target has no such function, and there is no formula for it."""


class Lowering(Recorder):
    """Records operations that a target has: `native` ones, and if it has `functions` those that can be given to it.

    Formulas are those that keep their digits, or the `textbook`'s.
    """

    def __init__(self, native: Collection[str], functions: bool, textbook: bool = False) -> None:
        self.native = BASIC | set(native)
        self.textbook = textbook
        self.rule: Callable[[str], Any] = DEFINITIONS.get if textbook else formula
        self.functions = functions
        super().__init__()

    def step(self, name: str, *args: Number) -> Step:
        """The step, or the steps of its formula. Raises `Lacking`."""
        steps = tuple([self.number(a) for a in args])
        known = self._folded(name, steps) or self._simpler(name, steps)
        if known is not None:
            return known
        if name == "mean" and not self.textbook:
            return self.step("div", self.step("sum", *steps), len(steps))
        if name in VARIADIC and len(steps) == 1:
            return self.step("abs", *steps) if name == "hypot" else steps[0]
        if name in self.native and (name not in VARIADIC or len(steps) == 2 or self.textbook):
            return self._new(name, steps, None)
        rule = self.rule(name)
        if rule is None:
            raise Lacking(name)
        if name in ("max", "min") and len(steps) == 2:
            return self.where(self.step("ge" if name == "max" else "le", *steps), *steps)
        if self.functions and name not in VARIADIC and name != "sinc_derivative" and is_long(name, len(steps)):
            body(self.native, name, len(steps))  # what it rests on may be lacking
            return self._new(name, steps, None)
        return self.number(rule(self, *steps))

    def items(self, name: str, *args: Number) -> list[Step]:
        """The steps of all numbers that a function of a vector gives, by its formula."""
        return [self.number(x) for x in self.rule(name)(self, *[self.number(a) for a in args])]


_LONG: dict[tuple[str, int], bool] = {}


def is_long(name: str, count: int) -> bool:
    """Whether the formula of an operation has more than a few steps."""
    if (name, count) not in _LONG:
        m = Recorder()
        # Vectors, and whatever else a formula rests on, are one step here.
        formula(name)(m, *[m.input(k) for k in range(count)])
        _LONG[name, count] = sum(1 for s in m.steps if s.args) > SHORT
    return _LONG[name, count]


def body(native: Collection[str], name: str, count: int) -> tuple[Lowering, Step]:
    """The formula of an operation, for a function of the target: the recorder, and the step that is the result."""
    m = Lowering(native, functions=True)
    rule: Callable[..., Any] = formula(name)
    return m, m.number(rule(m, *[m.input(k) for k in range(count)]))
