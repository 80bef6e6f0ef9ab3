"""What a function does on one side of a point, by asymptotic series: `where(x > 0, x*log(x), 0)`
above 0.

A side has the coefficients of a polynomial up to the order that is asked for, or up to the first
derivative that does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import NamedTuple

from ...errors import ExpressionError
from ..graphs.value import Source, Value, node
from ..graphs.value_and_gradient import evaluate_in, value_in
from ..numbers.base import NO_RESULT, Number, NumberType, Refusal
from ..numbers.budget import BudgetExceeded
from ..table.operators import ADD, GT, LT, MUL
from .asymptotic_series import (
    AsymptoticSeries,
    Monomial,
    Multiseries,
    NoAsymptotics,
    NotReal,
    TooFewTerms,
)
from .canonical import fraction_node
from .exact_constants import ExactConstant, ExactConstants, UndecidedSign
from .simplify import simplify
from .walk import chain_of

# Terms of the series, more where they cancel.
SIZES = (4, 8, 14, 22)
# The highest order of a polynomial, which fewer terms than the largest size give.
MAX_ORDER = 20

# The share of a variable's value by which it may differ where its sign decides how another one
# behaves.
NEAR = Fraction(1, 8)

# What shows that the behaviour of a function is not known.
UNKNOWN = (NoAsymptotics, UndecidedSign, ExpressionError, BudgetExceeded, Refusal, *NO_RESULT)


class SideSeries(NamedTuple):
    """A function on one side of a point: coefficients of powers of the distance, and why they
    end.
    """

    coefficients: list[ExactConstant]
    fault: str = ""
    """What the next derivative is, if fewer exist than asked for: infinite, -infinite, oscillating
    or undefined.
    """


class ExactPoint:
    """Exact values of variables; those whose number has no exact value stay parameters."""

    def __init__(
        self,
        m: NumberType,
        leaves: Mapping[str, Number],
        variables: Mapping[str, Value],
        free: Sequence[str] = (),
    ) -> None:
        self.m, self.leaves, self.variables = m, leaves, variables
        self.constants = ExactConstants([fact for name in free for fact in self._near(name)])
        self.values = {
            name: self.constants.parameter(self.variables[name])
            if name in free
            else self._exact(name, x)
            for name, x in leaves.items()
        }

    def _near(self, name: str) -> list[Value]:
        """Return the facts that a variable is near its value, which is all that derivatives there
        depend on.
        """
        exact = exact_number(self.m, self.leaves[name])
        if exact is None:
            return []
        width = abs(exact) * NEAR or NEAR
        bounds = [(GT, exact - width), (LT, exact + width)]
        return [
            node(relation, (self.variables[name], fraction_node(bound)))
            for relation, bound in bounds
        ]

    def _exact(self, name: str, x: Number) -> ExactConstant:
        exact = exact_number(self.m, x)
        return (
            self.constants.parameter(self.variables[name])
            if exact is None
            else self.constants.number(exact)
        )

    def value_of(self, formula: Value, without: str = "") -> ExactConstant | None:
        """Return the exact value of a formula; None if it is not known, or has a variable that it
        may not have.
        """
        others = {name: x for name, x in self.values.items() if name != without}
        try:
            return self.constants.number(evaluate_in(self.constants, (formula,), others).value)
        except (KeyError, *UNKNOWN):
            return None

    def number(self, x: ExactConstant) -> Number | None:
        """Return a constant as a number."""
        return value_in(self.m, x.node, self.leaves)

    def is_sound(self) -> bool:
        """Return whether all that was supposed of the constants holds."""
        return self.constants.confirmed and all(
            any(value_in(self.m, side, self.leaves) != 0 for side in condition._prev)
            for condition in self.constants.conditions
        )

    def series(
        self, source: Source, name: str, at: ExactConstant, side: int, order: int
    ) -> SideSeries | None:
        """Return a function of a variable on one side of its value `at`; None if that is not known
        or proven.
        """
        others = {other: x for other, x in self.values.items() if other != name}
        found = side_series(self.constants, source, others, name, at, side, order)
        return found if found is not None and self.is_sound() else None


def side_series(
    constants: ExactConstants,
    source: Source,
    others: Mapping[str, ExactConstant],
    name: str,
    at: ExactConstant,
    side: int,
    order: int,
) -> SideSeries | None:
    """Return a function of a variable on one side of its value `at`, with constants for the other
    variables.

    None if that is not known; what is known holds if all that was supposed of the constants does.
    """
    if order > MAX_ORDER:
        return None
    for size in SIZES:
        if size <= order:
            continue
        m = AsymptoticSeries(constants, size)
        values = {other: m.number(x) for other, x in others.items()} | {
            name: m.number(at) + side / m.t
        }
        try:
            found = _coefficients(m, m.number(evaluate_in(m, source, values).value), side, order)
        except TooFewTerms:
            continue
        except NotReal:
            found = SideSeries([], "undefined")
        except UNKNOWN:
            return None
        # the terms of a function that is no series, as x**3*sin(1/x), are not those of its
        # derivatives
        is_known = not m.is_irregular or order < 2 or (found.fault and len(found.coefficients) < 2)
        return found if is_known else None
    return None


def _first_not_above(
    m: AsymptoticSeries, monomial: Monomial, powers: Sequence[Monomial]
) -> int | None:
    """Return the place of the first of some descending powers that does not outweigh a monomial, if
    any.
    """
    return next((k for k, power in enumerate(powers) if m.compare(monomial, power) >= 0), None)


def exact_number(m: NumberType, x: Number) -> Fraction | None:
    """Return a number of a point as the decimal that it was read from; None if it is another
    number.
    """
    with suppress(*UNKNOWN):
        text = repr(abs(float(x)))
        exact = m.literal(text)
        return Fraction(text) * (1 if x >= 0 else -1) if abs(x) == exact else None
    return None


def _coefficients(m: AsymptoticSeries, series: Multiseries, side: int, order: int) -> SideSeries:
    """Return the coefficients of powers of the distance. Raises `TooFewTerms`."""
    powers = [m.power_of({m.logs[0]: m.one}, m.base.number(-k)) for k in range(order + 1)]
    zero = m.base.number(0)
    found = dict.fromkeys(range(order + 1), zero)

    def wave_outweighs(monomial: Monomial) -> bool:
        return series.wave is not None and m.compare(series.wave.monomial, monomial) >= 0

    outweighed = wave_outweighs({}) and not m.oscillates(series)
    for term in series.terms:
        k = _first_not_above(m, term.monomial, powers)
        if (wave_outweighs(term.monomial) and not outweighed) or k is None:
            break
        if m.compare(term.monomial, powers[k]) > 0:
            sign = m.base.sign(term.coefficient) * side**k
            return SideSeries([found[j] for j in range(k)], "infinite" if sign > 0 else "-infinite")
        found[k] = term.coefficient * side**k
    for k, power in enumerate(powers):
        if wave_outweighs(power):
            return SideSeries([found[j] for j in range(k)], "oscillating")
    if series.end is not None and m.compare(series.end, powers[-1]) >= 0:
        raise TooFewTerms
    return SideSeries([*found.values()])


def polynomial_of(coefficients: Sequence[ExactConstant], distance: Value) -> Value:
    """Return the polynomial in a distance."""
    terms = [coefficients[0].node]
    power: Value | None = None
    for coefficient in coefficients[1:]:
        power = distance if power is None else node(MUL, (power, distance))
        if coefficient.ratio != 0:
            terms.append(node(MUL, (coefficient.node, power)))
    return simplify((chain_of(ADD, terms),), spell=False)[0]
