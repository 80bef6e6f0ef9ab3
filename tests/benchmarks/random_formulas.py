"""The formulas of the comparison with other programs: random ones from a seed, each with its answer
to 30 digits.

Those of `formulas` have much in common: six names, and constants such as `1.5 + (`. Those of
`unshared_formulas` have names and numbers of their own, so that next to nothing of the text of one
stands in another.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, NamedTuple

import mpmath

DIGITS = 30
TINY, HUGE = 1e-6, 1e6
"""Bounds of the largest number in an answer: beyond them the formulas are mostly about rounding."""

NAMES = ("x", "y", "z", "u", "v", "w")
OWN_NAMES = [a + b for a in ascii_lowercase if a != "e" for b in digits + ascii_uppercase]
"""Short names, none of which is a function or a word of one of the programs."""


class Formula(NamedTuple):
    """A formula, a point, and the exact value and partial derivatives there, the latter by
    variable.
    """

    text: str
    point: dict[str, float]
    value: Any
    gradient: dict[str, Any]
    python: str = ""
    """How it is written for programs that read Python, where that differs."""


class Dual(NamedTuple):
    """A number and its derivatives, with more digits than any program that is compared has."""

    value: Any
    partials: dict[str, Any]

    def through(self, value: Any, slope: Any) -> Dual:
        """The dual of a function of this one, by its value and its derivative there."""
        return Dual(value, {name: slope * partial for name, partial in self.partials.items()})


def add(a: Dual, b: Dual, sign: int = 1) -> Dual:
    """a + b, or a - b."""
    partials = dict(a.partials)
    for name, partial in b.partials.items():
        partials[name] = partials.get(name, 0) + sign * partial
    return Dual(a.value + sign * b.value, partials)


def multiply(a: Dual, b: Dual) -> Dual:
    """a * b."""
    return Dual(a.value * b.value, add(a.through(0, b.value), b.through(0, a.value)).partials)


def power(a: Dual, exponent: int) -> Dual:
    """a to a whole power."""
    return a.through(a.value**exponent, exponent * a.value ** (exponent - 1))


def shifted_square(a: Dual, shift: str) -> Dual:
    """A number that is above 0 everywhere: shift + a**2."""
    square = power(a, 2)
    return Dual(mpmath.mpf(float(shift)) + square.value, square.partials)


FUNCTIONS: dict[str, tuple[str, Callable[[Dual], Dual]]] = {
    "sin": ("sin({})", lambda a: a.through(mpmath.sin(a.value), mpmath.cos(a.value))),
    "cos": ("cos({})", lambda a: a.through(mpmath.cos(a.value), -mpmath.sin(a.value))),
    "tanh": ("tanh({})", lambda a: a.through(mpmath.tanh(a.value), mpmath.sech(a.value) ** 2)),
    "exp": ("exp(-({})**2)", lambda a: (s := power(a, 2)).through(mpmath.exp(-s.value), -mpmath.exp(-s.value))),
    "log": (
        "log(1.2 + ({})**2)", lambda a: (s := shifted_square(a, "1.2")).through(mpmath.log(s.value), 1 / s.value),
    ),
    "sqrt": (
        "sqrt(1.2 + ({})**2)",
        lambda a: (s := shifted_square(a, "1.2")).through(mpmath.sqrt(s.value), 1 / (2 * mpmath.sqrt(s.value))),
    ),
}  # fmt: skip
"""Each function as it is written around its argument, and what it gives."""


def _made(rng: random.Random, size: int, point: dict[str, float]) -> tuple[str, Dual]:
    """A random expression with so many operators, and its dual."""
    if size <= 0:
        if rng.random() < 0.75:
            name = rng.choice([*point])
            return name, Dual(mpmath.mpf(point[name]), {name: mpmath.mpf(1)})
        text = f"{rng.uniform(0.1, 3):.2f}"
        return text, Dual(mpmath.mpf(float(text)), {})
    kind = rng.random()
    if kind < 0.72:
        left = rng.randint(0, size - 1)
        (a, x), (b, y) = _made(rng, left, point), _made(rng, size - 1 - left, point)
        sign = rng.choice("+-**/")
        if sign == "*":
            return f"{_factor(a)}*{_factor(b)}", multiply(x, y)
        if sign == "/":
            below = shifted_square(y, "1.5")
            return f"({a})/(1.5 + ({b})**2)", multiply(
                x, below.through(1 / below.value, -1 / below.value**2)
            )
        return f"({a} {sign} {b})", add(x, y, 1 if sign == "+" else -1)
    a, x = _made(rng, size - 1, point)
    if kind < 0.82:
        exponent = rng.choice((2, 3))
        return f"({a})**{exponent}", power(x, exponent)
    written, function = FUNCTIONS[rng.choice([*FUNCTIONS])]
    return written.format(a), function(x)


def _factor(text: str) -> str:
    return text if text.replace(".", "").isalnum() else f"({text})"


def formulas(count: int, seed: int = 1) -> list[Formula]:
    """So many formulas of 2 to 6 variables and 5 to 30 operators, always the same ones for a
    seed.
    """
    rng = random.Random(seed)
    made: list[Formula] = []
    with mpmath.workdps(DIGITS):
        while len(made) < count:
            names = NAMES[: rng.randint(2, 6)]
            point = {name: round(rng.uniform(-1.5, 1.5), 3) for name in names}
            text, dual = _made(rng, rng.randint(5, 30), point)
            largest = max(abs(number) for number in (dual.value, *dual.partials.values()))
            if dual.partials and TINY < largest < HUGE:
                made.append(Formula(text, point, dual.value, dual.partials))
    return made


PLAIN_FUNCTIONS: dict[str, Callable[[Dual], Dual]] = {
    **{name: FUNCTIONS[name][1] for name in ("sin", "cos", "tanh")},
    "exp": lambda a: a.through(y := mpmath.exp(a.value), y),
    "log": lambda a: a.through(mpmath.log(a.value), 1 / a.value),
    "sqrt": lambda a: a.through(mpmath.sqrt(a.value), 1 / (2 * mpmath.sqrt(a.value))),
}


def _compact(rng: random.Random, size: int, point: dict[str, float]) -> tuple[str, int, Dual]:
    """A random expression with so many operators and no needless parentheses, how tightly it binds,
    and its dual.
    """
    if size <= 0:
        if rng.random() < 0.85:
            name = rng.choice([*point])
            return name, 2, Dual(mpmath.mpf(point[name]), {name: mpmath.mpf(1)})
        text = f"{rng.uniform(0.1, 3):.3f}"
        return text, 2, Dual(mpmath.mpf(float(text)), {})
    kind = rng.random()
    if kind >= 0.72:
        text, tight, x = _compact(rng, size - 1, point)
        if kind < 0.82:
            exponent = rng.choice((2, 3))
            return f"{text if tight == 2 else f'({text})'}**{exponent}", 1, power(x, exponent)
        name = rng.choice([*PLAIN_FUNCTIONS])
        if (
            not isinstance(x.value, mpmath.mpf)
            or abs(x.value) > HUGE
            or (name == "exp" and x.value > 10)
        ):
            raise OverflowError
        if abs(x.value) < TINY:
            raise ZeroDivisionError
        return f"{name}({text})", 2, PLAIN_FUNCTIONS[name](x)
    left = rng.randint(0, size - 1)
    (a, tight_a, x), (b, tight_b, y) = (
        _compact(rng, left, point),
        _compact(rng, size - 1 - left, point),
    )
    sign = rng.choice("+-*/")
    if sign == "/" and abs(y.value) < TINY:
        raise ZeroDivisionError
    tight = int(sign in "*/")
    a = a if tight_a >= tight else f"({a})"
    b = b if tight_b >= tight + (sign in "-/") else f"({b})"
    if tight == 0:
        return f"{a}{sign}{b}", 0, add(x, y, 1 if sign == "+" else -1)
    return (
        f"{a}{sign}{b}",
        1,
        multiply(x, y if sign == "*" else y.through(1 / y.value, -1 / y.value**2)),
    )


def unshared_formulas(count: int, seed: int = 2) -> list[Formula]:
    """So many formulas of 3 to 6 variables and 23 operators, about 100 characters, with names and
    numbers of their own.

    Sums, products, powers and functions are as frequent as in `formulas`.
    """
    rng = random.Random(seed)
    made: list[Formula] = []
    with mpmath.workdps(DIGITS):
        while len(made) < count:
            point = {
                name: round(rng.uniform(0.2, 1.8), 3)
                for name in rng.sample(OWN_NAMES, rng.randint(3, 6))
            }
            try:
                text, _, dual = _compact(rng, 23, point)
            except (ZeroDivisionError, OverflowError):
                continue
            numbers = [dual.value, *dual.partials.values()]
            if len(dual.partials) < len(point) or not all(
                isinstance(x, mpmath.mpf) for x in numbers
            ):
                continue
            largest = max(map(abs, numbers))
            if TINY < largest < HUGE and abs(dual.value) > TINY:
                made.append(Formula(text, point, dual.value, dual.partials))
    return made


def is_right(formula: Formula, value: float, gradient: dict[str, float]) -> bool:
    """Whether an answer agrees with the exact one, to nine digits of the largest number in that."""
    exact = {name: formula.gradient.get(name, 0) for name in formula.point}
    allowed = 1e-9 * max(abs(formula.value), *(abs(partial) for partial in exact.values()))
    pairs = [
        (value, formula.value),
        *((gradient.get(name, 0.0), partial) for name, partial in exact.items()),
    ]
    return all(abs(found - wanted) <= allowed for found, wanted in pairs)
