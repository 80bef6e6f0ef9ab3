"""Formulas for solutions of linear and quadratic equations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from ..algebra.canonical import exact_value
from ..algebra.rational_functions import fraction_of, polynomial_in
from ..algebra.rewriting import shorten
from ..algebra.simplify import simplify
from ..algebra.walk import substitute
from ..graphs.value import Value, constant, node
from ..language.printer import expression_text
from ..record import Record
from ..table.operators import ADD, CONSTANT, DIV, EQ, GE, MUL, NE, NEG, SUB
from ..table.primitive import PRIMITIVES

ZERO, TWO, FOUR = constant(0.0, "0"), constant(2.0, "2"), constant(4.0, "4")


class FormulaSolution(Record):
    """A solution of an equation in its other variables."""

    unknown: str
    formula: str
    condition: str | None
    """Where it is a solution; None for everywhere."""


def formula_solutions(output: Value, leaf: Value, values: Mapping[str, Value]) -> list[FormulaSolution] | None:
    """Return formulas for the solutions of `output = 0` of degree 1 or 2, else None.

    `values` replace variables. Zeros of divisors are no solutions.
    """
    equation = substitute(output, lambda v: None if v._prev else values.get(v.label))
    numerator, divisors = fraction_of(equation)
    parts = [simplest(part) for part in polynomial_in(numerator, leaf) or ()]
    while parts and _number(parts[-1]) == 0:
        parts.pop()
    if len(parts) not in (2, 3):
        return None
    solutions = []
    for solution, conditions in _solutions(parts):
        places = {leaf: solution}
        at_solution = [simplest(substitute(divisor, places.get)) for divisor in divisors]
        conditions += [node(NE, (fraction_of(divisor)[0], ZERO)) for divisor in at_solution]
        possible, condition = conditions_of(conditions)
        if possible:
            solutions.append(FormulaSolution(leaf.label, expression_text(solution), condition))
    return solutions


def conditions_of(conditions: Sequence[Value]) -> tuple[bool, str | None]:
    """Return whether comparisons can hold, and the text of the undecided ones."""
    texts: dict[str, None] = {}
    possible = True
    for condition in (factor for compound in conditions for factor in _factors(compound)):
        number = _number(condition._prev[0])
        if number is None:
            texts[expression_text(condition)] = None
        elif not (number >= 0 if condition.primitive is GE else (number == 0) == (condition.primitive is EQ)):
            possible = False
    return possible, " and ".join(texts) or None


def _factors(condition: Value) -> Iterator[Value]:
    inner, zero = simplest(condition._prev[0]), condition._prev[1]
    while inner.primitive in (NEG, MUL, DIV):
        factors = [part for part in inner._prev if _number(part) is None]
        if condition.primitive is not GE and inner.primitive is not DIV and len(factors) == 2:
            if condition.primitive is NE:
                yield from (part for factor in factors for part in _factors(node(NE, (factor, zero))))
                return
            break
        if len(factors) != 1 or factors[0] is not inner._prev[0 if inner.primitive is DIV else -1]:
            break
        is_negative = inner.primitive is NEG or any((_number(part) or 0) < 0 for part in inner._prev)
        if condition.primitive is GE and is_negative:
            break
        inner = factors[0]
    yield node(condition.primitive, (inner, zero))


def _solutions(parts: Sequence[Value]) -> Iterator[tuple[Value, list[Value]]]:
    c, b, *square = parts
    only = simplest(node(NEG, (node(DIV, (c, b)),))), [node(NE, (b, ZERO))]
    if not square:
        yield only
        return
    (a,) = square
    if _number(b) == 0:
        inner = simplest(node(NEG, (node(DIV, (c, a)),)))
        root = simplest(node(PRIMITIVES["sqrt"], (inner,)))
        roots = [simplest(node(NEG, (root,))), root]
    else:
        half = simplest(node(DIV, (b, TWO)))
        unhalved = len(expression_text(half)) > len(expression_text(b))
        product = node(MUL, (a, c))
        halved = node(SUB, (node(MUL, (half, half)), product))
        inner = simplest(node(SUB, (node(MUL, (b, b)), node(MUL, (FOUR, product)))) if unhalved else halved)
        root, middle = node(PRIMITIVES["sqrt"], (inner,)), node(NEG, (b if unhalved else half,))
        below = node(MUL, (TWO, a)) if unhalved else a
        roots = [simplest(node(DIV, (node(sign, (middle, root)), below))) for sign in (SUB, ADD)]
    for root in roots[: 1 if _number(inner) == 0 else 2]:
        yield root, [node(NE, (a, ZERO)), node(GE, (inner, ZERO))]
    if _number(a) is None and _number(b) != 0:
        yield only[0], [node(EQ, (a, ZERO)), *only[1]]


def simplest(value: Value) -> Value:
    """Return the shortest form of a formula."""
    return shorten(simplify((value,)))[0]


def _number(value: Value) -> Fraction | None:
    if value.primitive is NEG:
        inner = _number(value._prev[0])
        return None if inner is None else -inner
    if value.primitive is DIV:
        above, below = map(_number, value._prev)
        return above / below if above is not None and below else None
    number = exact_value(value)
    # the doubles of `pi` and of numbers with units have their signs
    is_constant = number is None and value.primitive is CONSTANT and isinstance(value.data, float)
    return Fraction(value.data) if is_constant else number
