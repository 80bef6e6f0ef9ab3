"""Formulas without choices at points and on thin sets, with their conditions; formulas under
assumptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache, partial
from math import ceil, floor
from typing import Any, NamedTuple

from ...errors import ExpressionError
from ..graphs.value import Value, constant, in_order, node
from ..numbers.budget import GUARD, current_budget
from ..numbers.exact import EXACT
from ..table import operators
from ..table.operators import (
    ADD,
    AND,
    COMPARISONS,
    CONSTANT,
    DIV,
    EQ,
    GT,
    MUL,
    NE,
    NEG,
    NOT,
    OR,
    POW,
    SUB,
    WHERE,
)
from ..table.primitive import Primitive
from ..table.primitives import ABS, CLAMP, LOG, SQRT
from .branch_elimination import ALL, MAX_WORK, Guards, Interval, ProgramPoint, point
from .canonical import add_multiple, exact_value
from .rewriting import shorten, token_count
from .simplify import simplify
from .symbolic import SYMBOLIC, truth
from .walk import chain_of, facts_of, flat_inputs, has_variables, rebuild, rewrite

MAX_UNSHARED_SIZE = 300
MAX_CONDITIONS = 6
# The comparison that holds exactly where another fails.
_OPPOSITE = {
    p: q
    for p in COMPARISONS.values()
    for q in COMPARISONS.values()
    if {*p.holds} == {*"<=>"} - {*q.holds}
}


class Generic(NamedTuple):
    """A short form, and the conditions where it equals the formula."""

    formula: Value
    conditions: tuple[Value, ...]

    def mapped(self, function: Callable[[Value], Value]) -> Generic:
        """Return it with a function applied to the formula and to the conditions."""
        return Generic(function(self.formula), tuple(map(function, self.conditions)))


class Contradiction(Exception):
    """Assumptions that cannot all hold."""


def generic_form(total: Value, facts: Sequence[Value] = ()) -> Generic | None:
    """Return the short form of a formula under conditions, or None."""
    if not any(value.primitive is WHERE for value in in_order((total,))):
        return None
    opener = _Opener()
    (opened,) = rewrite((total,), opener.open_value)
    if opened is total:
        return None
    formula, *conditions = simplify((opened, *opener.conditions, *facts))
    needed = _unlike(conditions[: len(opener.conditions)])
    if len(needed) > MAX_CONDITIONS:
        return None
    implied = [*conditions[len(opener.conditions) :], *needed]
    try:
        (formula,) = shorten(simplify(assume((unshare(formula),), implied)))
    except Contradiction:  # a condition that never holds
        return None
    if token_count(formula, {}) >= token_count(total, {}):
        return None
    formula, *conditions = simplify((formula, *needed, *facts))
    guards = guards_under(formula, conditions[len(needed) :])
    shown: list[Value] = []
    implied = conditions[len(needed) :]
    needed = _unlike([_by_domain(guards, condition) for condition in conditions[: len(needed)]])
    for condition in sorted(needed, key=lambda condition: condition.primitive is OR):
        there = guards_under(condition, [*implied, *shown])
        if there.decide(condition, there.places[0]) is not True:
            shown.append(condition)
    return Generic(shorten((formula,))[0], tuple(shown))


def _unlike(conditions: Iterable[Value]) -> list[Value]:
    distinct: dict[object, Value] = {}
    for condition in conditions:
        key: object = condition.primitive, condition._prev
        if condition.primitive is NE:
            x, y = condition._prev
            key = condition.primitive, frozenset((x, y))
            if not x._prev and x.primitive is CONSTANT:
                x, y = y, x
            # twice n is not 0 where n is not
            if x.primitive is MUL and exact_value(y) == 0 and exact_value(x._prev[0]):
                x = x._prev[1]
            condition = node(NE, (x, y))  # noqa: PLW2901
        distinct.setdefault(key, condition)
    return list(distinct.values())


def unshare(root: Value) -> Value:
    """Return a short formula with a copy of each choice at every use."""
    if token_count(root, {}) > MAX_UNSHARED_SIZE:
        return root
    chooses = facts_of((root,), lambda v, inputs: v.primitive is WHERE or any(inputs))

    def copied(value: Value) -> Value:
        return node(value.primitive, tuple(map(copied, value._prev))) if chooses[value] else value

    return copied(root)


def negation(condition: Value) -> Value:
    """Return the opposite of a condition."""
    if condition.primitive is NOT:
        return condition._prev[0]
    if condition.primitive in (AND, OR):
        x, y = condition._prev
        return node(OR if condition.primitive is AND else AND, (negation(x), negation(y)))
    return node(_OPPOSITE[condition.primitive], condition._prev)


class _Opener:
    def __init__(self) -> None:
        self.conditions: list[Value] = []

    def open_value(self, value: Value, inputs: tuple[Value, ...]) -> Value:
        if value.primitive is WHERE:
            condition = self.open(value._prev[0])
            if condition is None:
                return inputs[2]
            inputs = (condition, *inputs[1:])
        return rebuild(value, inputs)

    def open(self, condition: Value) -> Value | None:
        parts = flat_inputs(condition, (AND,))
        if any(self.is_thin(part) for part in parts):
            plain = [c for part in parts for c in flat_inputs(self.plain(part), (AND,))]
            self.conditions.append(negation(conjunction(plain)))
            return None
        opened = [self.compare(part) for part in parts]
        return condition if opened == parts else conjunction(opened)

    def is_thin(self, condition: Value) -> bool:
        if condition.primitive is not EQ:
            return False
        x, y = condition._prev
        if x.primitive.norm and exact_value(y) == 0:
            return all(_is_smooth(p) and has_variables(p) for p in x._prev)
        (difference,) = simplify((node(SUB, (x, y)),))
        return _is_smooth(x) and _is_smooth(y) and has_variables(difference)

    def plain(self, condition: Value) -> Value:
        x, y = condition._prev if len(condition._prev) == 2 else (condition, condition)
        if condition.primitive is EQ and x.primitive.norm and exact_value(y) == 0:
            return conjunction([self.plain(node(EQ, (p, y))) for p in dict.fromkeys(x._prev)])
        return condition

    def compare(self, condition: Value) -> Value:
        if condition.primitive is not EQ:
            return condition
        for x, y in (condition._prev, condition._prev[::-1]):
            inputs = y._prev
            others = [p for p in inputs if not _same(p, x)]
            if len(others) == len(inputs):
                continue
            if y.primitive.extreme_value:
                relation = COMPARISONS[y.primitive.extreme_value]
                self.conditions += [node(NE, (x, p)) for p in others]
                return conjunction([node(relation, (x, p)) for p in others])
            if y.primitive is CLAMP:
                return self._compare_clamp(x, y) or condition
        return condition

    def _compare_clamp(self, x: Value, clamp: Value) -> Value | None:
        """Return where a `clamp` equals one of its inputs; None if that is no thin set."""
        clamped, low, high = inputs = clamp._prev
        width, *gaps = simplify(
            [node(SUB, pair) for pair in (inputs[:0:-1], inputs[:2], inputs[::2])]
        )
        # no thin set: a number equal to an end everywhere, or equal ends
        if any(exact_value(gap) == 0 for gap in (width, *gaps)):
            return None
        self.conditions += [node(NE, (clamped, low)), node(NE, (clamped, high))]
        if exact_value(width) is None:
            self.conditions.append(node(NE, (low, high)))
        if _same(x, clamped):
            return conjunction([node(operators.GT, (x, low)), node(operators.LT, (x, high))])
        return node(operators.LT if _same(x, low) else operators.GT, (clamped, x))


def conjunction(conditions: Sequence[Value]) -> Value:
    """Return the conjunction of conditions."""
    return chain_of(AND, conditions) if conditions else truth(True)


def _same(x: Value, y: Value) -> bool:
    return x is y or exact_value(x) == exact_value(y) is not None


def _is_smooth(value: Value) -> bool:
    return not any(v.primitive.breakpoint or v.primitive is WHERE for v in in_order((value,)))


def _by_domain(guards: Guards, condition: Value) -> Value:
    apart: Value | None = None
    for alternative in flat_inputs(condition, (OR,)):
        if alternative.primitive is NE:
            x, y = alternative._prev
            signs = guards.possible_orders(x, y, guards.places[0])
            if signs in ("<", ">"):
                return node(COMPARISONS[signs], (x, y))
            if "=" not in signs and apart is None:
                apart = alternative
    return condition if apart is None else apart


# ---- assumptions
def guards_under(root: Value, facts: Sequence[Value]) -> Guards:
    """Return the facts that hold in the branches of a formula under assumptions."""
    budget = current_budget()
    work = int(min(MAX_WORK, budget.left / GUARD))
    guards = Guards(root, work, facts)
    budget.charge(min((work - guards.work) * GUARD, budget.left))
    return guards


def assume(outputs: Sequence[Value], facts: Sequence[Value]) -> list[Value]:
    """Return formulas under assumptions. Raises `Contradiction` if these conflict."""
    if not facts:
        return list(outputs)
    place = guards_under(conjunction(facts), facts).places[0]
    is_empty = any(not r.signs() or r.start[0] > r.stop[0] for r in place.facts.values())
    if is_empty or "" in place.pairs.values():
        raise Contradiction
    domain = IntegerFacts(facts)
    for leaf, facts_of_leaf in domain.forms.items():
        apart = any(
            a == b and (c - d).denominator != 1 for a, c in facts_of_leaf for b, d in facts_of_leaf
        )
        if apart or not domain.admits(leaf, place.facts.get(leaf, ALL)):
            raise Contradiction
    guarded = [guards_under(output, facts) for output in outputs]
    return [guards.without_dead_branches(partial(_assume, guards, domain)) for guards in guarded]


class _UnknownSign(Exception):
    """The sign of a formula is unknown."""


class _SignChoice:
    def __init__(self, guards: Guards, place: ProgramPoint, of: Value) -> None:
        self.guards, self.place = guards, place
        self.one_sided = ("<", ">") if of.primitive.jumps else ("<", "<=", "=", "=>", ">")
        self.above = [(of._prev[high], of._prev[low]) for low, high in of.primitive.bounds.ordered]
        self.asked: list[Value] = []

    def __call__(self, u: Value) -> int:
        self.asked.append(u)
        x, y = u._prev if u.primitive is SUB else (u, constant(0.0, "0"))
        signs = "=>" if (x, y) in self.above else self.guards.possible_orders(x, y, self.place)
        if signs in self.one_sided:
            return -1 if "<" in signs else 1
        raise _UnknownSign

    def is_nonzero(self, *inputs: object) -> Any:
        raise _UnknownSign

    length = is_nonzero


def _assume(guards: Guards, integers: IntegerFacts, value: Value) -> Value | None:
    """Return what replaces an operation under assumptions, if anything."""
    primitive, inputs = value.primitive, value._prev
    if fixes_integers(primitive) and integers.covers(inputs[0]):
        return inputs[0]
    if primitive.extreme_value:
        return _without_outweighed(guards, value)
    if primitive.active_branch is None or primitive.gives_condition:
        return _assume_power(guards, integers, value)
    return _only_branch(guards, value)


def _without_outweighed(guards: Guards, value: Value) -> Value | None:
    """Return a maximum or minimum without the inputs that another one outweighs; None if there are
    none.
    """
    inputs, place, extreme = value._prev, guards.place[value], value.primitive.extreme_value
    kept = [
        x
        for x in inputs
        if all(y is x or guards.possible_orders(y, x, place) != extreme for y in inputs)
    ]
    if len(kept) == len(inputs) or not kept:
        return None
    return kept[0] if len(kept) == 1 else node(value.primitive, tuple(kept))


def _only_branch(guards: Guards, value: Value) -> Value | None:
    """Return the formula of the one branch that an operation can take; None if that is not known,
    or is longer.
    """
    primitive, inputs = value.primitive, value._prev
    assert primitive.active_branch is not None
    sides = _SignChoice(guards, guards.place[value], value)
    try:
        branch = primitive.active_branch(SYMBOLIC, sides, *inputs, out=None)
    except (_UnknownSign, TypeError, ValueError, ExpressionError):
        # TypeError: a piece that needs the value at the point
        return None
    taken = branch if isinstance(branch, Value) else constant(branch)
    if primitive.jumps and token_count(taken, {}) >= token_count(value, {}):
        return None  # it is as smooth under its own name
    seen = in_order((taken, *sides.asked))
    return taken if all(p in seen or not p._prev for p in inputs) else None


def _assume_power(guards: Guards, integers: IntegerFacts, value: Value) -> Value | None:
    primitive, inputs = value.primitive, value._prev
    if primitive is POW and integers.covers(inputs[1]):
        base, e = inputs
        if base.primitive in (NEG, ABS) and integers.covers(e, Fraction(1, 2)):
            return node(POW, (base._prev[0], e))
        if base.primitive is POW:
            return node(POW, (base._prev[0], node(MUL, (base._prev[1], e))))
    if primitive not in (POW, SQRT, LOG) or (inner := inputs[0]).primitive is not POW:
        return None
    base, e = inner._prev
    signs, exponent = guards.range(base, guards.place[value]).signs(), exact_value(e)
    if signs == "<" and exponent is not None and exponent.denominator == 1 and exponent % 2 == 0:
        base = node(NEG, (base,))
    elif signs != ">":
        return None
    if primitive is LOG:
        return node(MUL, (e, node(primitive, (base,))))
    other = inputs[1] if primitive is POW else constant(0.5, "0.5")
    return node(POW, (base, node(MUL, (e, other))))


# ---- whole numbers
@cache
def fixes_integers(primitive: Primitive) -> bool:
    """Return whether an operation fixes exactly the whole numbers."""
    if not primitive.jumps or len(primitive.params) != 1:
        return False
    rule = getattr(EXACT, primitive.name)
    return all((rule(Fraction(k, 2)) == Fraction(k, 2)) == (k % 2 == 0) for k in range(-5, 6))


class IntegerFacts:
    """The integer formulas, by facts such as `floor(y) == y`."""

    def __init__(self, facts: Sequence[Value]) -> None:
        # By leaf, factors a and numbers c, so that a·leaf + c is whole.
        self.forms: dict[Value, list[tuple[Fraction, Fraction]]] = {}
        for fact in flat_inputs(conjunction(facts), (AND,)):
            if fact.primitive is EQ:
                for x, y in (fact._prev, fact._prev[::-1]):
                    if fixes_integers(x.primitive) and x._prev[0] is y:
                        multiples, c = as_linear(y)
                        if len(multiples) == 1:
                            ((leaf, a),) = multiples.items()
                            self.forms.setdefault(leaf, []).append((a, c))

    def covers(self, value: Value, factor: Fraction = Fraction(1)) -> bool:
        """Return whether a multiple of a formula is an integer."""
        if not self.forms:
            return False
        multiples, rest = as_linear(value)
        rest *= factor
        for leaf, x in multiples.items():
            integers = [
                x * factor / a * c
                for a, c in self.forms.get(leaf, ())
                if (x * factor / a).denominator == 1
            ]
            if not integers:
                return False
            rest -= integers[0]
        return rest.denominator == 1

    def admits(self, leaf: Value, r: Interval) -> bool:
        """Return whether a number in a range meets all facts about a leaf."""
        for a, c in self.forms[leaf]:
            (low, above), (high, below), _ = r.times(point(a)).plus(point(c))
            if isinstance(low, float) or isinstance(high, float):
                continue
            if floor(high) + below * (high.denominator == 1) < ceil(low) + above * (
                low.denominator == 1
            ):
                return False
        return True


def as_linear(value: Value) -> tuple[dict[Value, Fraction], Fraction]:
    """Return a formula as a linear combination of nodes, and a number."""
    one = constant(1.0, "1")

    def rule(v: Value, inputs: Sequence[dict[Value, Fraction]]) -> dict[Value, Fraction]:
        number, primitive = exact_value(v), v.primitive
        if number is not None:
            return {one: number} if number else {}
        if primitive in (ADD, SUB):
            return add_multiple(dict(inputs[0]), inputs[1], 1 if primitive is ADD else -1)
        if primitive is NEG:
            return add_multiple({}, inputs[0], -1)
        if primitive in (MUL, DIV):
            x, y = inputs
            if primitive is MUL and x.keys() <= {one}:
                return add_multiple({}, y, x.get(one, 0))
            if y.keys() <= {one} and (y or primitive is MUL):
                factor = y.get(one, Fraction(0))
                return add_multiple({}, x, factor if primitive is MUL else 1 / factor)
        return {v: Fraction(1)}

    multiples = facts_of((value,), rule)[value]
    return multiples, multiples.pop(one, Fraction(0))


def order_under(value: Value, facts: Sequence[Value]) -> str:
    """Return which of `<`, `=`, `>` may hold between a formula and 0 under assumptions."""
    zero = constant(0.0, "0")
    root = node(GT, (value, zero))
    guards = guards_under(root, facts)
    return guards.possible_orders(value, zero, guards.places[0])
