"""Random formulas of every function in the table, with values and slopes by mpmath that owe nothing
to the package.

A formula is its text and a function of the point; `reference` gives its value and its partials, or
says that there are none that this can tell: outside a domain, at a kink, or so far out that mpmath
would take minutes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from mpmath import mp, mpf

import autodiff_cli.engine.table.primitives  # noqa: F401 - fills the table
from autodiff_cli.engine.table.primitive import FUNCTIONS
from reference import REFERENCE
from samples import OF_FEW_TARGETS, WITH_ORDERS

DIGITS = 260
STEP = mpf("1e-60")
FAR = 1e4

CONSTANTS = ("0.1", "1/3", "2", "0.5", "3", "-1", "0", "pi", "1e-3", "2.75")
NUMBERS = (
    "0.1",
    "0.2",
    "0.38",
    "1/3",
    "2",
    "-1.5",
    "0.7",
    "3.25",
    "1e-3",
    "-0.45",
    "0.999",
    "pi/4",
    "5",
)
CANCELLING = (
    "({0} - {0})", "({0})/({0})", "(sin({0})**2 + cos({0})**2)", "({0} + {1} - ({1}))",
    "log(exp({0}))", "exp({0})*exp(-({0}))", "(tan({0}) - sin({0})/cos({0}))",
    "(digamma({0}) + 1 - digamma({0}))", "sqrt(({0})**2)", "(0.1*({0}) + 0.2*({0}) - 0.3*({0}))",
)  # fmt: skip
CHOOSING = (
    "max({0}, {1})", "min({0}, {1}, {2})", "clamp({0}, -1, 500)", "clamp({0}, {1}, {1} + 1)",
    "({0} if {1} > {2} else {1})", "where({0} <= 0.1, {1}, {2})",
)  # fmt: skip
LEFT_OUT = ("where", "pow", *WITH_ORDERS, "clamp", *OF_FEW_TARGETS)
FAMILY = [p for p in dict.fromkeys(FUNCTIONS.values()) if p.name not in LEFT_OUT]


class Undefined(Exception):
    """No value here that the reference can tell."""


class Drawn(NamedTuple):
    """A formula, and the point where it is to be differentiated."""

    text: str
    point: dict[str, str]


def drawn(rng: random.Random, most: int = 5) -> Drawn:
    """A random formula in x and y."""
    point = {name: rng.choice(NUMBERS) for name in "xy"}
    return Drawn(_text(rng, rng.randint(1, most)), point)


def _text(rng: random.Random, depth: int) -> str:
    if depth <= 0:
        return rng.choice("xxyy") if rng.random() < 0.7 else f"({rng.choice(CONSTANTS)})"

    def inner() -> str:
        return _text(rng, rng.randint(0, depth - 1))

    kind = rng.random()
    if kind < 0.35:
        return f"({inner()} {rng.choice('+-*/')} {inner()})"
    if kind < 0.42:
        return f"({inner()})**{rng.choice(('2', '3', '0.5', '(-1)', '(1/3)', '0'))}"
    if kind < 0.52:
        return rng.choice(CANCELLING).format(inner(), inner())
    if kind < 0.60:
        return rng.choice(CHOOSING).format(inner(), inner(), inner())
    if kind < 0.62:
        return f"polygamma({rng.randint(0, 3)}, {inner()})"
    chosen = rng.choice(FAMILY)
    count = rng.randint(1, 3) if chosen.variadic else len(chosen.params) - len(chosen.defaults)
    return f"{chosen.name}({', '.join(inner() for _ in range(count))})"


def _checked(name: str, *inputs: Any) -> Any:
    if name == "clamp" and inputs[1] > inputs[2]:
        raise Undefined
    if any(abs(x) > FAR for x in inputs) and name not in (
        "add",
        "sub",
        "mul",
        "div",
        "abs",
        "max",
        "min",
        "sum",
    ):
        raise Undefined
    try:
        found = REFERENCE[name](*inputs)
    except (ArithmeticError, ValueError, TypeError):
        raise Undefined from None
    if isinstance(found, mp.mpc) or not mp.isfinite(found):
        raise Undefined
    return found


class Number(NamedTuple):
    """An mpf for Python's own parser, which knows the precedences of `+ - * / **` as the language
    has them.
    """

    x: Any

    def __add__(self, other: Any) -> Any:
        return Number(_checked("add", self.x, _of(other)))

    def __sub__(self, other: Any) -> Any:
        return Number(_checked("sub", self.x, _of(other)))

    def __mul__(self, other: Any) -> Any:
        return Number(_checked("mul", self.x, _of(other)))

    def __truediv__(self, other: Any) -> Any:
        if not _of(other):
            raise Undefined
        return Number(_checked("div", self.x, _of(other)))

    def __pow__(self, other: Any) -> Any:
        x, y = self.x, _of(other)
        if y == 0:
            return Number(mpf(1))
        if (x == 0 and y < 0) or (x < 0 and not mp.isint(y)):
            raise Undefined
        return Number(_checked("pow", x, y))

    def __neg__(self) -> Any:
        return Number(-self.x)

    def __lt__(self, other: Any) -> bool:
        return bool(self.x < _of(other))

    def __le__(self, other: Any) -> bool:
        return bool(self.x <= _of(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.x > _of(other))


def _of(x: Any) -> Any:
    return x.x if isinstance(x, Number) else x


def _function(name: str, defaults: tuple[str, ...], params: int) -> Callable[..., Any]:
    def function(*inputs: Any) -> Any:
        missing = max(0, params - len(inputs))
        given = [
            *map(_of, inputs),
            *(mpf(text) for text in defaults[len(defaults) - missing :] if missing),
        ]
        return Number(_checked(name, *given))

    return function


NAMES: dict[str, Any] = {
    p.name: _function(p.name, p.defaults, 0 if p.variadic else len(p.params))
    for p in (*FAMILY, FUNCTIONS["clamp"])
}
NAMES["polygamma"] = _function("polygamma", (), 2)
NAMES["where"] = lambda condition, x, y: x if condition else y


def evaluated(text: str, point: dict[str, Any]) -> Any:
    """The value in mpmath's precision. Raises `Undefined`."""
    import re

    literal = re.compile(r"(?<![\w.])(\d+(?:\.\d*)?(?:e-?\d+)?)")
    program = literal.sub(r"N('\1')", text)
    names = {**NAMES, "N": lambda digits: Number(mpf(digits)), "pi": Number(+mp.pi), **point}
    return eval(program, {"__builtins__": {}}, names).x  # noqa: S307 - the text is of our own making


def reference(formula: Drawn) -> tuple[Any, dict[str, Any]] | None:
    """Value and partials, right to far more than 50 digits; None at a kink or a jump. Raises
    `Undefined`.
    """
    with mp.workdps(DIGITS):
        at = {name: Number(evaluated(text, {})) for name, text in formula.point.items()}
        value = evaluated(formula.text, at)
        partials = {}
        for name, centre in at.items():
            step = STEP * max(1, abs(centre.x))
            up, down = (
                evaluated(formula.text, {**at, name: Number(centre.x + s)}) for s in (step, -step)
            )
            left, right = (value - down) / step, (up - value) / step
            if abs(left - right) > mpf("1e-25") * (1 + abs(left) + abs(right)):
                return None
            partials[name] = (up - down) / (2 * step)
        return value, partials
