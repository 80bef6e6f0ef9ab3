"""The ends of definite integrals: numbers, formulas of parameters, or infinite."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from ...engine.algebra.walk import substitute
from ...engine.graphs.value import Value, in_order
from ...engine.graphs.value_and_gradient import value_in
from ...engine.numbers.floats import REAL
from ...engine.table.operators import VARIABLE
from ...errors import ExpressionError, errors_about, quote, usage_error
from ...language.builder import Program
from ...language.printer import expression_text
from ...questions.approach import INFINITIES, Approach, as_approach
from ...questions.problem import parse, single_output


class IntegralEnd(NamedTuple):
    """An end of an interval."""

    text: str
    formula: Value | None
    """None if it is infinite."""
    infinite: int = 0
    """The sign of an infinite end."""

    @property
    def number(self) -> float:
        """Return the end as a double. Raises `ExpressionError` if it has no value."""
        if self.formula is None:
            return self.infinite * math.inf
        number = value_in(REAL, self.formula, {})
        if number is None or not math.isfinite(number):
            raise ExpressionError("domain", f"the end `{self.text}` has no value", None, "move it")
        return float(number)

    @property
    def place(self) -> Approach:
        """Return the end as a place that a variable approaches."""
        text = f"{'-' * (self.infinite < 0)}inf" if self.formula is None else expression_text(self.formula)
        return as_approach("x", text)

    def fixed(self, held: Mapping[str, Value]) -> IntegralEnd:
        """Return the end with constants in the place of parameters."""
        return self if self.formula is None else self._replace(formula=hold(self.formula, held))

    def names(self) -> list[str]:
        """Return the parameters in it."""
        return [] if self.formula is None else names_in(self.formula)


def hold(formula: Value, held: Mapping[str, Value]) -> Value:
    """Return a formula with constants in the place of variables."""
    return substitute(formula, lambda leaf: held.get(leaf.label) if leaf.primitive is VARIABLE else None)


def names_in(formula: Value) -> list[str]:
    """Return the names of the variables of a formula."""
    return [leaf.label for leaf in in_order((formula,)) if leaf.primitive is VARIABLE]


def at_number(x: Fraction) -> IntegralEnd:
    """Return a fraction as an end."""
    from ...engine.algebra.exact_constants import fraction_node

    return IntegralEnd(str(x), fraction_node(x))


def read_end(text: str, valued: Sequence[str]) -> IntegralEnd:
    """Return an end as it is typed. Raises `ExpressionError`."""
    typed = text.strip()
    sign = -1 if typed[:1] in ("-", "−") else 1
    word = typed.lstrip("+-−").strip().lower()
    if word in INFINITIES and word not in valued:
        return IntegralEnd("inf" if sign > 0 else "-inf", None, sign)
    with errors_about(typed):
        return IntegralEnd(typed, single_output(parse(typed, valued)))


def read_ends(
    program: Program, typed: Mapping[str, str], ends: Sequence[str] | None, over: str | None
) -> tuple[str, tuple[IntegralEnd, IntegralEnd] | None]:
    """Return the variable of an integral, and its ends if it has some. Raises `ExpressionError`."""
    named, places = None, None
    if ends:
        named, places = _parts(ends, [*typed])
    if named and over and named != over:
        raise usage_error(f"`--between` is over `{named}`, and `--over` over `{over}`", "leave one of them out")
    inside = {name for end in places or () for name in end.names()}
    free = [name for name in program.variables if name not in typed and name not in inside]
    chosen = named or over or (free[0] if len(free) == 1 else None)
    if chosen is None and not free and places is None:
        raise usage_error("an integral is taken in a variable, and this program has none", "write `--over x`")
    if chosen is None:
        example = "x" if "x" in free or not free else free[0]
        hint = (
            f"write `--between {example}={places[0].text}:{places[1].text}`" if places else f"write `--over {example}`"
        )
        raise usage_error(f"an integral is taken in one variable, and the free ones are {quote(free, 'none')}", hint)
    if chosen in inside:
        raise usage_error(f"`{chosen}` is the variable of the integral, and in its ends", "name the variable otherwise")
    return chosen, places


def _parts(ends: Sequence[str], valued: Sequence[str]) -> tuple[str | None, tuple[IntegralEnd, IntegralEnd]]:
    before, equals, after = ends[0].partition("=")
    parts = (after if equals else before).split(":")
    if len(ends) > 1 or len(parts) != 2 or not all(part.strip() for part in parts):
        raise usage_error(f"`--between {', '.join(ends)}` is no interval", "write it as `x=0:1`, or `x=0:inf`")
    low, high = (read_end(part, valued) for part in parts)
    return before.strip() if equals else None, (low, high)
