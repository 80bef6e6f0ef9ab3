"""Draws random programs as text, with points that are hard: functions of the whole table,
conditionals, extremes.
"""

from __future__ import annotations

from random import Random

import autodiff_cli.engine.table.primitives  # noqa: F401  # fills the table
from autodiff_cli.engine.table.primitive import FUNCTIONS, Primitive
from samples import OF_FEW_TARGETS, WITH_ORDERS

LEFT_OUT = ("where", "pow", *WITH_ORDERS, "clamp", *OF_FEW_TARGETS)
PUBLIC = [p for p in dict.fromkeys(FUNCTIONS.values()) if p.name not in LEFT_OUT]
VARIABLES = ("x", "y", "z")
NUMBERS = (0.0, 1e-300, -1e-300, 1e300, -1e300, 800.0, -800.0, 1e8, -1e8, 1.0, -1.0)
"""Extreme values of variables, and those at which functions have their kinks and edges."""

LITERALS = (
    "0",
    "1",
    "2",
    "3",
    "0.5",
    "10",
    "1/(2-2)",
    "exp(1000)",
    "10**400",
    "log(-1)",
    "800",
    "1e300",
    "1e-300",
)
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Drawing:
    """Draws from one seed. With `without`, functions of these names are left out."""

    def __init__(self, seed: int, without: frozenset[str] = frozenset()) -> None:
        self.random = Random(seed)
        self.functions = [p for p in PUBLIC if p.name not in without]

    def point(self) -> dict[str, float]:
        """A value for each variable: an extreme one, or an ordinary one."""
        ordinary = self.random.random() < 0.4
        return {
            name: (
                round(self.random.uniform(-4, 4), 3)
                if ordinary or self.random.random() < 0.4
                else self.random.choice(NUMBERS)
            )
            for name in VARIABLES
        }

    def program(self, size: int = 4) -> str:
        """An expression of about so many operations."""
        return self.number(size)

    def number(self, size: int) -> str:
        """A number, of about so many operations."""
        pick = self.random.random()
        if size <= 0:
            # A constant that has no value stands where a branch is not taken, most of the time.
            return self.random.choice(VARIABLES) if pick < 0.8 else self.random.choice(LITERALS[:6])
        if pick < 0.15:
            return self.choice(size - 1)
        if pick < 0.4:
            sign = self.random.choice(("+", "-", "*", "/", "**"))
            left, right = self.number((size - 1) // 2), self.number((size - 1) - (size - 1) // 2)
            if sign == "**" and self.random.random() < 0.7:
                right = self.random.choice(("2", "3", "-1", "-2", "0.5", "1.5"))
            return (
                f"({left} {sign} {right})"
                if not right.startswith("-")
                else f"({left} {sign} ({right}))"
            )
        return self.call(self.random.choice(self.functions), size - 1)

    def call(self, primitive: Primitive, size: int) -> str:
        """A call of a function."""
        count = self.random.randint(1, 3) if primitive.variadic else len(primitive.params)
        arguments = [self.number(size // count) for _ in range(count)]
        return f"{primitive.name}({', '.join(arguments)})"

    def choice(self, size: int) -> str:
        """A conditional; a branch may be a constant without a value."""
        branches = [
            (
                self.random.choice(LITERALS[6:10])
                if self.random.random() < 0.15
                else self.number(size // 3)
            )
            for _ in range(2)
        ]
        return f"({branches[0]} if {self.condition(size // 3)} else {branches[1]})"

    def condition(self, size: int) -> str:
        """A comparison, or two of them; its operands may have no value."""
        compared = f"{self.number(size)} {self.random.choice(COMPARISONS)} {self.number(size // 2)}"
        pick = self.random.random()
        if pick < 0.15:
            return f"not ({compared})"
        if pick < 0.3:
            return (
                f"({compared} {self.random.choice(('and', 'or'))} {self.number(0)} <"
                f" {self.number(1)})"
            )
        return compared
