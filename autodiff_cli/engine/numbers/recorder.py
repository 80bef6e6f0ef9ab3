"""Recorder: a number type that records operations as steps, equal ones once."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from ..table.primitive import OPERATIONS
from ..table.primitives import by_name
from .base import Number, NumberType, OperatorNumber
from .floats import REAL

CONDITIONS = frozenset(p.name for p in OPERATIONS.values() if p.gives_condition)

# The first and the second operand that give the other one, if there are any.
NEUTRAL = by_name(
    {"add": (0, 0), "sub": (None, 0), "mul": (1, 1), "div": (None, 1), "pow": (None, 1)}
)


class Step(OperatorNumber):
    """One step of a recording: an operation on other steps."""

    __slots__ = ("args", "data", "index", "m", "name", "safe")

    def __init__(
        self, m: Recorder, name: str, args: tuple[Step, ...], data: Any, index: int, safe: bool
    ) -> None:
        self.m = m
        # An operation of `engine.numbers.floats`, `where`, `number`, `input` or `nothing`.
        self.name = name
        self.args = args
        # A number's value (float or bool), or an input's or item's index.
        self.data = data
        # Its index in the recording, after its inputs.
        self.index = index
        # Whether it is defined wherever the program is, except for overflow.
        self.safe = safe

    def __float__(self) -> float:
        if self.name != "number":
            raise TypeError("the value of this step is not known yet")
        return float(self.data)


class Recorder(NumberType):
    """Numbers that are steps. Simplifications are exact to the last bit."""

    name = "recorded"

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._existing: dict[tuple[Any, ...], Step] = {}
        self.node: Any = None
        for name in vars(NumberType).keys() & OPERATIONS.keys() - {"where"}:
            self.__dict__[name] = partial(self.step, name)
        self.nothing = self._new("nothing", (), None)
        self.zero = self.number(0.0)
        self.one = self.number(1.0)

    def __getattr__(self, name: str) -> Any:
        # Every operation of the table stays one step, for the stable forms.
        operation = OPERATIONS.get(name)
        if operation is not None:
            function = partial(self.items if operation.vector else self.step, name)
            self.__dict__[name] = function
            return function
        return super().__getattr__(name)

    @property
    def pi(self) -> Step:
        return self.number(math.pi)

    def number(self, x: Number) -> Step:
        if isinstance(x, Step):
            return x
        return self._new("number", (), x if isinstance(x, bool) else float(x))

    def constant(self, graph: Any, i: int) -> Step:
        """Return the step of a constant of the graph."""
        return self.number(graph.constants[i][0])

    def input(self, position: int) -> Step:
        """Return the step of an input."""
        return self._new("input", (), position)

    def _new(self, name: str, args: tuple[Step, ...], data: Any) -> Step:
        # swapping operands is exact for operators, not for functions
        if (
            args
            and args[0].index > args[-1].index
            and OPERATIONS[name].commutative
            and not OPERATIONS[name].group
        ):
            key: tuple[Any, ...] = (name, args[1].index, args[0].index)
        else:
            key = (name, repr(data), *[a.index for a in args])
        step = self._existing.get(key)
        if step is None:
            safe = not args or (always_defined(name, args) and all(a.safe for a in args))
            step = Step(self, name, args, data, len(self.steps), safe)
            self.steps.append(step)
            self._existing[key] = step
        return step

    def step(self, name: str, *args: Number) -> Step:
        """Return the step of an operation on steps and numbers."""
        steps = tuple([a if isinstance(a, Step) else self.number(a) for a in args])
        return (
            self._folded(name, steps) or self._simpler(name, steps) or self._new(name, steps, None)
        )

    def items(self, name: str, *args: Number) -> list[Step]:
        """Return the steps of all outputs of a function of a vector."""
        several = self._new(name, tuple([self.number(a) for a in args]), None)
        return [self._new("item", (several,), k) for k in range(len(args))]

    def where(self, condition: Any, then: Any, otherwise: Any) -> Step:
        if not isinstance(condition, Step) or condition.name == "number":
            chosen = (
                then
                if (condition.data if isinstance(condition, Step) else condition)
                else otherwise
            )
            return self.number(chosen() if callable(chosen) else chosen)
        x, y = (self.number(b() if callable(b) else b) for b in (then, otherwise))
        return x if x is y and condition.safe else self._new("where", (condition, x, y), None)

    def _folded(self, name: str, args: tuple[Step, ...]) -> Step | None:
        for a in args:
            if a.name != "number":
                return None
        try:
            value = getattr(REAL, name)(*[a.data for a in args])
        except (ValueError, ArithmeticError):
            return None
        return self.number(value) if math.isfinite(value) else None

    def _simpler(self, name: str, args: tuple[Step, ...]) -> Step | None:
        a, b = args[0], args[-1]
        first, second = NEUTRAL.get(name, (None, None))
        if is_number(a, first):
            return b
        if is_number(b, second):
            return a
        match name:
            case "add" | "sub" if b.name == "neg":
                return self.step("sub" if name == "add" else "add", a, b.args[0])
            case "add":
                return self.step("sub", b, a.args[0]) if a.name == "neg" else None
            case "sub":
                return self.step("neg", b) if is_number(a, 0) else None
            case "mul" | "div" if is_number(b, -1):
                return self.step("neg", a)
            case "mul":
                return self.step("neg", b) if is_number(a, -1) else None
            case "neg" | "not_":
                return a.args[0] if a.name == name else None
            case "power_minus_one":
                # for a constant exponent with exact y - 1, as on floats
                y = args[1]
                if (
                    y.name != "number"
                    or (y.data - 1.0) + 1.0 != y.data
                    or y.data - (y.data - 1.0) != 1.0
                ):
                    return None
                return self.one if y.data == 1 else self.step("pow", a, y.data - 1.0)
            case "sum":
                return a if len(args) == 1 else self.step("add", a, b) if len(args) == 2 else None
            case "and_" | "or_":
                # A condition that may be undefined stays, even if decided.
                if a.name == "number":
                    return b if bool(a.data) is (name == "and_") else a
                return (
                    a
                    if a is b or (b.name == "number" and bool(b.data) is (name == "and_"))
                    else None
                )
        return None


def is_number(a: Step, value: float | None) -> bool:
    """Return whether a step is a constant of this value."""
    return a.name == "number" and a.data == value


def always_defined(name: str, args: tuple[Step, ...]) -> bool:
    """Return whether an operation, with its constants, is always defined, except for overflow."""
    return OPERATIONS[name].defined([a.data if a.name == "number" else None for a in args])
