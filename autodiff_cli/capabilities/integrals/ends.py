"""The ends of definite integrals: numbers, formulas of parameters, or infinite."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ...engine.algebra.walk import substitute
from ...engine.graphs.value import Value, in_order, node
from ...engine.graphs.value_and_gradient import value_in
from ...engine.numbers.floats import REAL
from ...engine.table.operators import CONSTANT, MUL, VARIABLE
from ...errors import ExpressionError, errors_about, quote, usage_error
from ...language.builder import Program
from ...language.printer import expression_text
from ...language.tokens import has_unit_literals
from ...questions.approach import INFINITIES, Approach, as_approach
from ...questions.problem import parse, single_output

if TYPE_CHECKING:
    from ...engine.quantities.unit import Unit


class IntegralEnd(NamedTuple):
    """An end of an interval."""

    text: str
    formula: Value | None
    """None if it is infinite."""
    infinite: int = 0
    """The sign of an infinite end."""
    unit: Unit | None = None
    """The unit that it is typed with; `formula` is in that of the SI."""
    suffix: str = ""
    """The unit of numbers of the variable, for messages: ` mm`."""

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
        text = (
            f"{'-' * (self.infinite < 0)}inf"
            if self.formula is None
            else expression_text(self.formula)
        )
        return as_approach("x", text)

    @property
    def is_measured(self) -> bool:
        """Return whether it is typed with a unit."""
        return self.unit is not None or has_unit_literals(self.text)

    def fixed(self, held: Mapping[str, Value]) -> IntegralEnd:
        """Return the end with constants in the place of parameters."""
        return self if self.formula is None else self._replace(formula=hold(self.formula, held))

    def names(self) -> list[str]:
        """Return the parameters in it."""
        return [] if self.formula is None else names_in(self.formula)


def hold(formula: Value, held: Mapping[str, Value]) -> Value:
    """Return a formula with constants in the place of variables, and its numbers with units in
    those of the SI.
    """

    def constant_for(leaf: Value) -> Value | None:
        if leaf.primitive is CONSTANT and leaf.source is not None and "[" in leaf.source:
            return _in_si(leaf.source)
        return held.get(leaf.label) if leaf.primitive is VARIABLE else None

    return substitute(formula, constant_for)


def _in_si(literal: str) -> Value:
    """Return a number with a unit, `2[mm]`, as one in the unit of the SI."""
    from ...engine.quantities.unit import split_literal  # only units need it

    digits, unit = split_literal(literal)
    number = parse(digits).outputs[0]
    return (
        number
        if unit.factor_text == "1"
        else node(MUL, (number, parse(unit.factor_text).outputs[0]))
    )


def names_in(formula: Value) -> list[str]:
    """Return the names of the variables of a formula."""
    return [leaf.label for leaf in in_order((formula,)) if leaf.primitive is VARIABLE]


def at_number(x: Fraction, suffix: str = "") -> IntegralEnd:
    """Return a fraction as an end."""
    from ...engine.algebra.canonical import fraction_node

    return IntegralEnd(f"{x}{suffix}", fraction_node(x), suffix=suffix)


def read_end(text: str, valued: Sequence[str]) -> IntegralEnd:
    """Return an end as it is typed; a name with a value wins over a unit. Raises
    `ExpressionError`.
    """
    typed = text.strip()
    infinite = _infinite(typed, valued)
    if infinite:
        return IntegralEnd("inf" if infinite > 0 else "-inf", None, infinite)
    with suppress(ExpressionError):
        program = parse(typed, valued, units=True)
        if {*program.leaves} <= {*valued}:
            return IntegralEnd(typed, single_output(program))
    from ...questions.quantities import make_quantity, split_quantity  # only units need it

    with errors_about(typed):
        quantity = split_quantity(typed)
        if quantity is None:
            return IntegralEnd(typed, single_output(parse(typed, valued, units=True)))
        number, unit = quantity
        if infinite := _infinite(number, valued):
            return IntegralEnd("inf" if infinite > 0 else "-inf", None, infinite, unit)
        source = make_quantity("the end", number, unit, typed).source
        return IntegralEnd(typed, parse(source).outputs[0], unit=unit)


def _infinite(text: str, valued: Sequence[str]) -> int:
    """Return the sign of an infinite end; 0 for another text."""
    word = text.lstrip("+-−").strip().lower()
    if word not in INFINITIES or word in valued:
        return 0
    return -1 if text[:1] in ("-", "−") else 1


def read_ends(
    program: Program,
    typed: Mapping[str, str],
    ends: Sequence[str] | None,
    over: str | None,
    wrt: Sequence[str] | None = None,
) -> tuple[str, tuple[IntegralEnd, IntegralEnd] | None]:
    """Return the variable of an integral, and its ends if it has some. Raises `ExpressionError`."""
    named, places = None, None
    if ends:
        named, places = _parts(ends, [*typed])
    if named and over and named != over:
        raise usage_error(
            f"`--between` is over `{named}`, and `--over` over `{over}`", "leave one of them out"
        )
    inside = {name for end in places or () for name in end.names()}
    free = [name for name in program.variables if name not in typed and name not in inside]
    chosen = named or over or (free[0] if len(free) == 1 else None)
    if chosen is None and not free and places is None:
        raise usage_error(
            "an integral is taken in a variable, and this program has none", "write `--over x`"
        )
    if chosen is None:
        example = "x" if "x" in free or not free else free[0]
        if places is None and wrt and wrt[0] in free:
            example = wrt[0]  # the name for what is differentiated by was taken for it
        hint = (
            f"write `--between {example}={places[0].text}:{places[1].text}`"
            if places
            else f"write `--over {example}`"
        )
        raise usage_error(
            f"an integral is taken in one variable, and the free ones are {quote(free, 'none')}",
            hint,
        )
    if chosen in inside:
        raise usage_error(
            f"`{chosen}` is the variable of the integral, and in its ends",
            "name the variable otherwise",
        )
    return chosen, places


def _parts(
    ends: Sequence[str], valued: Sequence[str]
) -> tuple[str | None, tuple[IntegralEnd, IntegralEnd]]:
    before, equals, after = ends[0].partition("=")
    parts = (after if equals else before).split(":")
    if len(ends) > 1 or len(parts) != 2 or not all(part.strip() for part in parts):
        raise usage_error(
            f"`--between {', '.join(ends)}` is no interval", "write it as `x=0:1`, or `x=0:inf`"
        )
    low, high = (read_end(part, valued) for part in parts)
    return before.strip() if equals else None, (low, high)
