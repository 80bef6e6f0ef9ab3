"""Numerators of graphs, coefficients of polynomials, and identities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import zip_longest
from typing import NamedTuple, TypeVar

from ..graphs.value import Value, constant, in_order, node
from ..graphs.value_and_gradient import value_in
from ..numbers.budget import TERM, Defined, charge
from ..numbers.exact import EXACT
from ..table.operators import ADD, DIV, MUL, NEG, POW, SUB
from ..table.primitive import PRIMITIVES, Primitive
from ..table.primitives import QUOTIENTS
from .canonical import (
    Canonicalizer,
    Form,
    Number,
    Product,
    RuleNotApplicable,
    Sum,
    Terms,
    add_multiple,
    exact_value,
)
from .simplify import simplify
from .walk import facts_of, rebuild, rewrite

# The highest degree of polynomials with coefficients.
MAX_DEGREE = 100
MAX_WRITTEN_FACTORS = 8
C = TypeVar("C")
T = TypeVar("T")

SUM, PROD = PRIMITIVES["sum"], PRIMITIVES["prod"]
ONE = constant(1.0, "1")


class Quotient(NamedTuple):
    """A graph as a quotient; without a divisor, the graph itself."""

    above: Value
    below: Value | None


class _NoPolynomial(Exception):
    """A graph that is not a polynomial in the variable."""


def _combine(
    primitive: Primitive,
    inputs: Sequence[T],
    plus: Callable[[T, T, Primitive], T],
    multiplied: Callable[[T, T], T],
) -> T | None:
    if primitive in (ADD, SUB, SUM):
        sign = SUB if primitive is SUB else ADD
        return reduce(lambda a, b: plus(a, b, sign), inputs)
    return reduce(multiplied, inputs) if primitive in (MUL, PROD) else None


def fraction_of(root: Value) -> tuple[Value, list[Value]]:
    """Return a graph's numerator and divisors: the graph is 0 where only the numerator is."""
    divisors: list[Value] = []

    def divided(a: Quotient, b: Quotient) -> Quotient:
        divisors.append(b.above)
        return multiplied(a, Quotient(b.below or ONE, b.above))

    def powered(base: Quotient, exponent: int) -> Quotient:
        return Quotient(_raised(base.above, exponent), base.below and _raised(base.below, exponent))

    def plus(a: Quotient, b: Quotient, primitive: Primitive) -> Quotient:
        if a.below is b.below:
            return Quotient(node(primitive, (a.above, b.above)), a.below)
        sides = graph_product(a.above, b.below), graph_product(b.above, a.below)
        return Quotient(node(primitive, sides), graph_product(a.below, b.below))

    def multiplied(a: Quotient, b: Quotient) -> Quotient:
        return Quotient(graph_product(a.above, b.above), graph_product(a.below, b.below))

    def rule(value: Value, inputs: Sequence[Quotient]) -> Quotient:
        primitive = value.primitive
        if primitive.name in QUOTIENTS:
            dividend, divisor = (
                name and node(PRIMITIVES[name], value._prev) for name in QUOTIENTS[primitive.name]
            )
            assert divisor
            divisors.append(divisor)
            return Quotient(dividend or ONE, divisor)
        if primitive is DIV:
            return divided(*inputs)
        exponent = as_integer(value._prev[1]) if primitive is POW else None
        if exponent is not None and exponent < 0:
            return divided(Quotient(ONE, None), powered(inputs[0], -exponent))
        if all(part.below is None for part in inputs):
            return Quotient(value, None)
        if exponent:
            return powered(inputs[0], exponent)
        if primitive is NEG:
            return Quotient(node(NEG, (inputs[0].above,)), inputs[0].below)
        return _combine(primitive, inputs, plus, multiplied) or Quotient(value, None)

    above = facts_of((root,), rule)[root].above
    return above, divisors


def graph_product(a: Value | None, b: Value | None) -> Value:
    """Return the product of graphs; None and a literal 1 are omitted."""
    factors = [factor for factor in (a, b) if factor is not None and factor is not ONE]
    return node(MUL, tuple(factors)) if len(factors) == 2 else factors[0] if factors else ONE


def _raised(base: Value, exponent: int) -> Value:
    return (
        base
        if exponent == 1 or base is ONE
        else node(POW, (base, constant(float(exponent), str(exponent))))
    )


def as_integer(value: Value) -> int | None:
    """Return the integer value of a graph without names, or None."""
    if any(not v._prev and v.label for v in in_order((value,))):
        return None
    number = None
    with Defined(ArithmeticError, ValueError):
        number = value_in(EXACT, value, {})
    return (
        int(number)
        if number is not None and number.denominator == 1 and abs(number) <= MAX_DEGREE
        else None
    )


def multiplied_out(root: Value) -> Value:
    """Return the graph with small powers as products."""

    def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
        exponent = as_integer(value._prev[1]) if value.primitive is POW else None
        if exponent is None or not 1 <= exponent <= MAX_WRITTEN_FACTORS:
            return rebuild(value, inputs)
        return reduce(graph_product, [inputs[0]] * exponent)

    return rewrite((root,), rule)[0]


def coefficients(
    root: Value, leaf: Value, fixed: Callable[[Value], C], operation: Callable[[Primitive, C, C], C]
) -> list[C] | None:
    """Return the coefficients of a polynomial in a leaf, constant first, or None; `fixed` and
    `operation` may raise.
    """
    varies = facts_of((root,), lambda v, inputs: v is leaf or any(inputs))
    zero, one = fixed(constant(0.0, "0")), fixed(ONE)
    if not _may_be_polynomial(root, leaf, varies):
        return None

    def plus(p: Sequence[C], q: Sequence[C], primitive: Primitive) -> list[C]:
        return [operation(primitive, a, b) for a, b in zip_longest(p, q, fillvalue=zero)]

    def multiplied(p: Sequence[C], q: Sequence[C]) -> list[C]:
        if len(p) + len(q) > MAX_DEGREE + 2:
            raise _NoPolynomial
        result = [zero] * (len(p) + len(q) - 1)
        for j, a in enumerate(p):
            for k, b in enumerate(q):
                result[j + k] = operation(ADD, result[j + k], operation(MUL, a, b))
        return result

    def rule(value: Value, inputs: Sequence[list[C]]) -> list[C]:
        if value is leaf:
            return [zero, one]
        primitive = value.primitive
        if primitive is NEG:
            return plus([zero], inputs[0], SUB)
        if primitive is DIV and not varies[value._prev[1]]:
            return [operation(DIV, a, inputs[1][0]) for a in inputs[0]]
        combination = _combine(primitive, inputs, plus, multiplied)
        if combination is not None:
            return combination
        exponent = as_integer(value._prev[1]) if primitive is POW else None
        if exponent is None or exponent < 0:
            raise _NoPolynomial
        return reduce(multiplied, [inputs[0]] * exponent, [one])

    try:
        return facts_of((root,), rule, override=lambda v: None if varies[v] else [fixed(v)])[root]
    except _NoPolynomial:
        return None


def _may_be_polynomial(root: Value, leaf: Value, varies: Mapping[Value, bool]) -> bool:
    """Return whether the degrees of the parts are low enough, without a coefficient."""

    def multiplied(p: int, q: int) -> int:
        if p + q > MAX_DEGREE:
            raise _NoPolynomial
        return p + q

    def rule(value: Value, inputs: Sequence[int]) -> int:
        if value is leaf:
            return 1
        if value.primitive is POW:
            return reduce(multiplied, [inputs[0]] * (as_integer(value._prev[1]) or 0), 0)
        combined = _combine(value.primitive, inputs, lambda p, q, _: max(p, q), multiplied)
        return inputs[0] if combined is None else combined

    try:
        facts_of((root,), rule, override=lambda v: None if varies[v] else 0)
    except _NoPolynomial:
        return False
    return True


def polynomial_in(root: Value, leaf: Value) -> list[Value] | None:
    """Return the coefficients of a polynomial in a leaf as graphs."""
    return coefficients(root, leaf, lambda v: v, lambda primitive, a, b: node(primitive, (a, b)))


# ---- identities
# The most products of terms for an identity: a quarter of a second.
MAX_PRODUCTS = 4_000
# Functions whose square is 1 plus or minus another's.
SQUARES = {"cos": ("sin", Fraction(-1)), "cosh": ("sinh", Fraction(1))}


class _Expander(Canonicalizer):
    products = 0

    def may_be_merged(self, value: Value | None, form: Form) -> bool:
        return True

    def product_form(self, c: Fraction, factors: Terms, numbers: bool = True) -> Form:
        for base, e in factors.items():
            inner, taken = self.forms.get(base), Fraction(1)
            if base.primitive.name in SQUARES:
                other, sign = SQUARES[base.primitive.name]
                square = Product(
                    Fraction(1), {self.node(PRIMITIVES[other], *base._prev): Fraction(2)}
                )
                inner, taken = Sum(Fraction(1), {self.node_of(square): sign}), Fraction(2)
            if isinstance(inner, Sum) and e >= taken and e.denominator == 1:
                rest = self.product_form(c, add_multiple(dict(factors), {base: -taken}))
                products = len(inner.terms) * (len(rest.terms) if isinstance(rest, Sum) else 1)
                charge(TERM * products)
                self.products += products
                if self.products > MAX_PRODUCTS:
                    raise RuleNotApplicable
                terms = [(k, self.forms.get(term, term)) for term, k in inner.terms.items()]
                terms += [(inner.constant, Number(Fraction(1)))] if inner.constant else []
                one = (Fraction(1), None, rest)
                return self.sum(
                    [(k, None, self.product([one, (Fraction(1), None, term)])) for k, term in terms]
                )
        return super().product_form(c, factors, numbers)


def vanishes(root: Value) -> bool:
    """Return whether a graph, multiplied out, is 0 wherever it has a value; False says nothing."""
    numerator, _ = fraction_of(root)
    return exact_value(_Expander(simplify((numerator,))).outputs()[0]) == 0
