"""Where formulas are continuous: conditions read off their operations, and their proof on an
interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from ...engine.algebra.almost_everywhere import as_linear, order_under
from ...engine.algebra.canonical import exact_value, fraction_node
from ...engine.algebra.exact_constants import ExactConstants
from ...engine.algebra.rational_functions import polynomial_in
from ...engine.algebra.simplify import simplify
from ...engine.algebra.walk import chain_of, has_variables, substitute
from ...engine.graphs.value import Value, constant, in_order, node, variable
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.budget import Defined
from ...engine.table.operators import (
    ADD,
    DIV,
    EQ,
    GE,
    GT,
    LE,
    LT,
    MUL,
    NE,
    NEG,
    NOT,
    OR,
    POW,
    SUB,
    VARIABLE,
    WHERE,
)
from ...engine.table.primitive import PRIMITIVES
from ...engine.table.primitives import ABS, LOG, SQRT, by_name, library_names
from ...errors import ExpressionError
from ...language.printer import expression_text

# The most parts of an interval on which a condition is looked at.
MAX_PARTS = 400
# How far out an interval without an end is covered, before what is farther is decided by ranges.
FAR = (8, 64, 1024)


class Condition(NamedTuple):
    """That a formula is not 0, positive, or not negative."""

    value: Value
    relation: str
    """`!=`, `>` or `>=`."""

    @property
    def allowed(self) -> str:
        """Return which of `<`, `=`, `>` may hold between the formula and 0."""
        return {"!=": "<>", ">": ">", ">=": "=>"}[self.relation]

    @property
    def node(self) -> Value:
        """Return the condition as a formula."""
        relation = {"!=": NE, ">": GT, ">=": GE}[self.relation]
        return node(relation, (self.value, constant(0.0, "0")))


class NotContinuous(Exception):
    """A formula may jump where no condition says it."""


def conditions_of(*formulas: Value) -> list[Condition]:
    """Return conditions under which formulas have values and are continuous. Raises
    `NotContinuous`.
    """
    found: dict[tuple[Value, str], Condition] = {}
    for value in in_order(formulas):
        if value._prev and has_variables(value):
            for condition in _conditions(value):
                found.setdefault((condition.value, condition.relation), condition)
    return [*found.values()]


def _conditions(value: Value) -> list[Condition]:
    primitive, inputs = value.primitive, value._prev
    if primitive.name in EVERYWHERE:
        return []
    if primitive is LOG and inputs[0].primitive is ABS:
        return [Condition(inputs[0]._prev[0], "!=")]
    if primitive is DIV:
        return [Condition(inputs[1], "!=")] if has_variables(inputs[1]) else []
    if primitive is POW:
        return _of_power(*inputs)
    if primitive.name not in RULES:
        raise NotContinuous(primitive.name)
    return [Condition(formula, relation) for formula, relation in RULES[primitive.name](*inputs)]


def _of_power(base: Value, exponent: Value) -> list[Condition]:
    number = exact_value(exponent)
    if not has_variables(base) or (number is not None and number.denominator == 1 and number >= 0):
        return []
    if number is not None and number.denominator == 1:
        return [Condition(base, "!=")]
    return [Condition(base, ">=" if number is not None and number > 0 else ">")]


def _call(name: str, x: Value) -> Value:
    return node(PRIMITIVES[name], (x,))


def _one_less(x: Value) -> Value:
    return node(SUB, (constant(1.0, "1"), x))


def _one_more(x: Value) -> Value:
    return node(ADD, (x, constant(1.0, "1")))


def _above_one(x: Value) -> Value:
    return node(SUB, (_call("abs", x), constant(1.0, "1")))


Rule = Callable[..., Sequence[tuple[Value, str]]]
# Operations that are continuous everywhere.
EVERYWHERE = library_names(
    "add sub mul neg sum prod mean exp exp2 expm1 sin cos atan asinh sinh cosh tanh sech abs cbrt"
    " erf erfc max min sigmoid softplus silu gelu hypot relu sinc softsign deg rad erfcx normpdf"
    " normcdf erfi Si fresnels fresnelc sine_quotient"
)
BESSEL_DERIVATIVES = library_names(
    "besselj_derivative bessely_derivative besseli_derivative besselk_derivative"
)
# The conditions of operations that are continuous in parts.
RULES: dict[str, Rule] = by_name({
    "log": lambda x: [(x, ">")], "log2": lambda x: [(x, ">")], "log10": lambda x: [(x, ">")],
    "norminv": lambda p: [(p, ">"), (_one_less(p), ">")],
    **dict.fromkeys(("normpdf_scaled", "normcdf_scaled"), lambda x, mu, sigma: [(sigma, ">")]),
    **dict.fromkeys(("gammainc", "gammaincc"), lambda a, x: [(a, ">"), (x, ">=")]),
    "gammainc_derivative": lambda n, a, x: [(a, ">"), (x, ">=")],
    **dict.fromkeys(("gamma", "lgamma", "digamma", "trigamma"), lambda x: [(x, ">")]),
    "polygamma": lambda n, x: [(x, ">")], "beta": lambda a, b: [(a, ">"), (b, ">")],
    "lambertw": lambda x: [(node(ADD, (x, _call("exp", constant(-1.0, "-1")))), ">=")],
    "betainc": lambda a, b, x: [(a, ">"), (b, ">"), (x, ">="), (_one_less(x), ">=")],
    "betainc_derivative": lambda i, j, a, b,
    x: [(a, ">"), (b, ">"), (x, ">="), (_one_less(x), ">=")],
    "zeta": lambda s: [(_one_less(s), "!=")], "zeta_derivative": lambda n,
    s: [(_one_less(s), "!=")],
    **dict.fromkeys(("besselj", "bessely", "besseli", "besselk"), lambda nu, x: [(x, ">")]),
    **dict.fromkeys(BESSEL_DERIVATIVES, lambda n, nu, x: [(x, ">")]),
    **dict.fromkeys(("faddeeva_re", "faddeeva_im"), lambda n, x, y: [(y, ">=")]),
    "Ci": lambda x: [(x, ">")], "Ei": lambda x: [(x, "!=")],
    "li": lambda x: [(x, ">"), (_one_less(x), "!=")],
    "log1p": lambda x: [(_one_more(x), ">")], "sqrt": lambda x: [(x, ">=")],
    "asin": lambda x: [(_one_more(x), ">="), (_one_less(x), ">=")],
    "acos": lambda x: [(_one_more(x), ">="), (_one_less(x), ">=")],
    "atanh": lambda x: [(_one_more(x), ">"), (_one_less(x), ">")],
    "acosh": lambda x: [(node(SUB, (x, constant(1.0, "1"))), ">=")],
    "asech": lambda x: [(x, ">"), (_one_less(x), ">=")], "asec": lambda x: [(_above_one(x), ">=")],
    "acsc": lambda x: [(_above_one(x), ">=")], "acoth": lambda x: [(_above_one(x), ">")],
    "tan": lambda x: [(_call("cos", x), "!=")], "sec": lambda x: [(_call("cos", x), "!=")],
    "cot": lambda x: [(_call("sin", x), "!=")], "csc": lambda x: [(_call("sin", x), "!=")],
    "coth": lambda x: [(x, "!=")], "csch": lambda x: [(x, "!=")], "acot": lambda x: [(x, "!=")],
    "acsch": lambda x: [(x, "!=")], "sign": lambda x: [(x, "!=")],
    "heaviside": lambda x: [(x, "!=")],
})  # fmt: skip

# The exponents of roots that are no powers in the text.
ROOTS: dict[str, Fraction] = by_name({"sqrt": Fraction(1, 2), "cbrt": Fraction(1, 3)})


# ---- proofs
class OpenInterval(NamedTuple):
    """An open interval; None is an infinite end."""

    variable: Value
    low: Fraction | None
    """A number at or below the lower end."""
    high: Fraction | None
    low_node: Value | None
    high_node: Value | None

    def facts(self) -> list[Value]:
        """Return that the variable is inside."""
        facts = []
        if self.low_node is not None:
            facts.append(node(GT, (self.variable, self.low_node)))
        if self.high_node is not None:
            facts.append(node(LT, (self.variable, self.high_node)))
        return facts


# The real ball of a formula between two numbers; not a finite one where there is none.
Enclosure = Callable[[Value, Fraction, Fraction], Any]


def holds(
    condition: Condition, interval: OpenInterval, facts: Sequence[Value], enclosure: Enclosure
) -> bool:
    """Return whether a condition is proven to hold inside of an interval."""
    if follows(condition, [*interval.facts(), *facts]):
        return True
    if interval.low is None or interval.high is None:
        return _holds_far(condition, interval, facts, enclosure)
    return _holds_between(condition, interval, facts, enclosure)


def follows(condition: Condition, facts: Sequence[Value]) -> bool:
    """Return whether a condition is proven to follow from facts."""
    with Defined(ExpressionError):
        value = simplify((condition.value,), spell=False)[0]
        possible = order_under(value, facts)
        if possible != "" and {*possible} <= {*condition.allowed}:
            return True
        return _is_quadratic(value, condition.allowed)
    return False


def _is_quadratic(value: Value, allowed: str) -> bool:
    """Return whether a quadratic polynomial without real roots, in a variable or a root of it, has
    an allowed sign.
    """
    leaves = [leaf for leaf in in_order((value,)) if leaf.primitive is VARIABLE]
    if len(leaves) != 1:
        return False
    root = variable("root")
    coefficients = polynomial_in(_in_root(value, leaves[0], root), root)
    if coefficients is None or len(coefficients) != 3 or any(map(has_variables, coefficients)):
        return False
    constants = ExactConstants()
    c, b, a = (constants.number(evaluate_in(constants, x, {}).value) for x in coefficients)
    sign = constants.sign(a)
    return bool(
        constants.sign(b * b - 4 * a * c) < 0 and {1: ">", -1: "<", 0: ""}[sign] in allowed and sign
    )


def _in_root(value: Value, leaf: Value, root: Value) -> Value:
    """Return a formula in the root of its variable of which all its powers are powers: `x -
    sqrt(x)` is `r**2 - r`.

    Where it has a value, that root is real: even ones are those of numbers that are not negative.
    """
    degrees = [
        exponent.denominator
        for place in in_order((value,))
        if (exponent := _power_of(place, leaf)) is not None
    ]
    degree = math.lcm(*degrees)

    def replacement(place: Value) -> Value | None:
        exponent = Fraction(1) if place is leaf else _power_of(place, leaf)
        return None if exponent is None else node(POW, (root, fraction_node(exponent * degree)))

    return substitute(value, replacement)


def _power_of(value: Value, leaf: Value) -> Fraction | None:
    """Return the exponent of a power of a leaf; None for another formula."""
    if not value._prev or value._prev[0] is not leaf:
        return None
    if value.primitive.name in ROOTS:
        return ROOTS[value.primitive.name]
    if value.primitive is not POW:
        return None
    multiples, exponent = as_linear(value._prev[1])
    return None if multiples else exponent


def _holds_far(
    condition: Condition, interval: OpenInterval, facts: Sequence[Value], enclosure: Enclosure
) -> bool:
    for distance in FAR:
        low, high = interval.low, interval.high
        start = Fraction(-distance) if low is None else low
        end = Fraction(distance) if high is None else high
        if low is None and high is not None:
            start = min(start, Fraction(math.floor(high) - distance))
        if high is None and low is not None:
            end = max(end, Fraction(math.ceil(low) + distance))
        start, end = Fraction(start), Fraction(end)
        tails = []
        if low is None:
            tails.append([node(LT, (interval.variable, fraction_node(start)))])
        if high is None:
            tails.append([node(GT, (interval.variable, fraction_node(end)))])
        if not all(follows(condition, [*tail, *facts]) for tail in tails):
            continue
        # the middle is closed at the new ends
        inner = interval._replace(
            low=start, high=end,
            low_node=interval.low_node or fraction_node(start - 1),
            high_node=interval.high_node or fraction_node(end + 1),
        )  # fmt: skip
        return _holds_between(condition, inner, facts, enclosure)
    return False


def _holds_between(
    condition: Condition, interval: OpenInterval, facts: Sequence[Value], enclosure: Enclosure
) -> bool:
    assert interval.low is not None and interval.high is not None
    low, high = interval.low, interval.high
    parts = [(low, high)]
    undecided: list[tuple[Fraction, Fraction]] = []
    smallest = (high - low) / 2**24
    looked = 0
    while parts:
        start, end = parts.pop()
        looked += 1
        if looked > MAX_PARTS:
            return False
        if decides(condition, enclosure(condition.value, start, end)):
            continue
        if end - start <= smallest:
            if start > low and end < high:
                return False
            undecided.append((start, end))
            continue
        middle = (start + end) / 2
        parts += [(start, middle), (middle, end)]
    return all(follows(condition, [*_near(interval, *part), *facts]) for part in undecided)


def _near(interval: OpenInterval, start: Fraction, end: Fraction) -> list[Value]:
    """Return the facts of a part at an end: it is open there, and closed on the other side."""
    width = end - start
    at_low = start == interval.low
    low = interval.low_node if at_low else fraction_node(start - width)
    high = interval.high_node if end == interval.high else fraction_node(end + width)
    return [node(GT, (interval.variable, low)), node(LT, (interval.variable, high))]  # type: ignore[arg-type]


def decides(condition: Condition, ball: Any) -> bool:
    """Return whether the ball of a condition's formula proves it."""
    if not ball.is_finite():
        return False
    if condition.relation == "!=":
        return not ball.contains(0)
    return bool(ball > 0 if condition.relation == ">" else ball >= 0)


# ---- words
def domain_of(formula: Value) -> list[Value] | None:
    """Return the conditions under which a formula is continuous, without those that follow from
    others.

    None if it may jump elsewhere.
    """
    try:
        conditions = conditions_of(formula)
    except NotContinuous:
        return None
    return _listed(conditions, ())


def parameter_domain(formula: Value, name: str) -> list[Value]:
    """Return what the cases of a formula suppose of other variables than this one, beside the
    conditions of the cases.

    In `where(a > 0, f/sqrt(a), g/sqrt(-a))` that is `a != 0`, as the condition of the second case
    says the rest. Beside cases by equality, which are those of numbers that others divide by, only
    what holds in all cases is returned.
    """
    shown: list[Value] = []
    for path, case in _cases(formula, ()):
        # cases of the variable are there for any parameters
        path = tuple(one for one in path if not _has(one, name))  # noqa: PLW2901
        with suppress(NotContinuous):
            conditions = [
                condition for condition in conditions_of(case) if not _has(condition.value, name)
            ]
            shown += [
                one
                for one in map(partial(_in_all_cases, path=path), _listed(conditions, path))
                if one is not None
            ]
    by_text = {expression_text(one): one for one in shown}
    return [*by_text.values()]


def _in_all_cases(condition: Value, path: Sequence[Value]) -> Value | None:
    """Return what a condition of a case is for all cases; None where the case says it."""
    if expression_text(condition) in map(expression_text, path):
        return None
    if _is_general(condition, path):
        return condition
    is_by_equality = any(part.primitive is EQ for part in in_order(tuple(path)))
    return None if is_by_equality else chain_of(OR, [*map(_negation, path), condition])


def _cases(formula: Value, path: tuple[Value, ...]) -> Iterator[tuple[tuple[Value, ...], Value]]:
    """Yield the cases of a formula, each with the conditions that lead to it."""
    if formula.primitive is not WHERE:
        yield path, formula
        return
    condition, then, otherwise = formula._prev
    yield from _cases(then, (*path, condition))
    yield from _cases(otherwise, (*path, _negation(condition)))


def _negation(condition: Value) -> Value:
    (negation,) = simplify((node(NOT, (condition,)),))
    return negation


def _has(formula: Value, name: str) -> bool:
    return any(part.primitive is VARIABLE and part.label == name for part in in_order((formula,)))


def _is_general(condition: Value, path: Sequence[Value]) -> bool:
    """Return whether a condition of a case, `x != 0`, holds in the others too, so that it can be
    said by itself.
    """
    if not path:
        return True
    if condition.primitive is not NE or conditions_of(*condition._prev):
        return False
    value = Condition(node(SUB, condition._prev), "!=")
    return all(follows(value, [_negation(one)]) for one in path)


def _listed(conditions: Sequence[Condition], facts: Sequence[Value]) -> list[Value]:
    """Return conditions as formulas, without those that follow from facts or from others."""
    # conditions on a variable alone say most
    conditions = _joined([*map(_without_root, conditions)])
    conditions = [_weakened(condition, facts) for condition in conditions]
    conditions.sort(key=lambda condition: len(in_order((_solved(condition),))))
    shown: list[Value] = []
    texts: set[str] = set()
    for condition in conditions:
        simple = _solved(condition)
        text = expression_text(simple)
        if text not in texts and not follows(condition, [*facts, *shown]):
            texts.add(text)
            shown.append(simple)
    return shown


def _without_root(condition: Condition) -> Condition:
    """Return that a number is not 0 for that its root, or a power of it, is not, or a multiple of
    that.
    """
    value = condition.value
    while condition.relation == "!=":
        inputs = [one for one in value._prev if exact_value(one) is None]
        is_power = value.primitive is POW and (exact_value(value._prev[1]) or 0) > 0
        if len(inputs) != 1 or not (is_power or value.primitive in (SQRT, ABS, NEG, MUL)):
            break
        value = inputs[0]
    return condition._replace(value=value)


def _weakened(condition: Condition, facts: Sequence[Value]) -> Condition:
    """Return that a number is not 0 for that it is positive, where facts say that it is not
    negative.
    """
    is_known = (
        facts and condition.relation == ">" and follows(condition._replace(relation=">="), facts)
    )
    return condition._replace(relation="!=") if is_known else condition


def _joined(conditions: Sequence[Condition]) -> list[Condition]:
    """Return conditions with one that a number is positive for those that it is not negative, and
    not 0.
    """
    texts = {(expression_text(one.value), one.relation) for one in conditions}
    joined = []
    for one in conditions:
        other = {"!=": ">=", ">=": "!="}.get(one.relation, "")
        is_pair = (expression_text(one.value), other) in texts
        joined.append(one._replace(relation=">") if is_pair else one)
    return joined


def _solved(condition: Condition) -> Value:
    """Return a condition with a lone variable on its left side where it is linear: `x > 1` for `x -
    1 > 0`.
    """
    (value,) = simplify((condition.value,))
    multiples, rest = as_linear(value)
    if len(multiples) == 1:
        ((leaf, factor),) = multiples.items()
        relation = {"!=": NE, ">": GT if factor > 0 else LT, ">=": GE if factor > 0 else LE}[
            condition.relation
        ]
        return node(relation, (leaf, fraction_node(-rest / factor)))
    if value.primitive is NEG and condition.relation == "!=":
        value = value._prev[0]
    return condition._replace(value=value).node
