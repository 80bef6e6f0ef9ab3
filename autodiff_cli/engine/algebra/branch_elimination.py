"""Ranges of expressions, and elimination of dead branches: choices that ranges decide become the
branch taken.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from ..graphs.value import Value, in_order, node
from ..graphs.value_and_gradient import evaluate_in
from ..numbers.base import NO_RESULT, NumberType, OperatorNumber
from ..numbers.budget import GUARD, Defined, current_budget
from ..numbers.exact import EXACT, size
from ..numbers.floats import REAL
from ..table.operators import (
    ADD,
    AND,
    COMPARISONS,
    CONSTANT,
    DIV,
    MUL,
    NEG,
    NOT,
    OR,
    POW,
    SUB,
    VARIABLE,
    WHERE,
)
from ..table.primitive import DEFINITIONS, OPERATIONS, Primitive
from .canonical import IRRATIONALS, exact_value
from .walk import facts_of, flat_inputs, rebuild, rewrite, substitute

# The most operations examined; later choices are kept.
MAX_WORK = 400_000
MAX_SEARCHED_OPERATIONS = 400
CONSTANT_DIGITS = (50, 110)
MAX_RELATIVE_DIFFERENCE = 1e-30
CONDITIONS = frozenset((*COMPARISONS.values(), AND, OR, NOT))


# ---- ranges, whatever the variables are
# A fraction or an infinity, and where a range ends: there (0), just above (1) or just below (-1).
End = tuple[Fraction | float, int]

INF = math.inf
ROUNDING_MARGIN = Fraction(1, 2**40)
MAX_BITS_OF_END = 300  # ends with more are moved outwards to doubles
AT_ZERO: End = Fraction(0), 0


class _Ends(NamedTuple):
    start: End
    stop: End
    nonzero: bool = False


class Interval(OperatorNumber, _Ends):
    """An interval of real numbers, perhaps without 0; `x*x` is the range of squares."""

    __slots__ = ()
    m: Ranges

    @property
    def number(self) -> Fraction | None:
        """The only number of the range, if it has but one."""
        low, high = self.start[0], self.stop[0]
        return low if low == high and isinstance(low, Fraction) else None

    def signs(self) -> str:
        """Return the possible signs, of `<`, `=`, `>`, of its numbers."""
        (low, above), (high, below) = self.start, self.stop
        negative, positive = low < 0, high > 0
        zero = (
            (negative or not (low or above))
            and (positive or not (high or below))
            and not self.nonzero
        )
        return "<" * negative + "=" * zero + ">" * positive

    def with_(self, other: Interval) -> Interval:
        """Return the intersection of two ranges."""
        return Interval(
            max(self.start, other.start), min(self.stop, other.stop), self.nonzero or other.nonzero
        )

    def hull(self, other: Interval) -> Interval:
        """Return the smallest range that contains both."""
        nonzero = "=" not in self.signs() + other.signs()
        return Interval(min(self.start, other.start), max(self.stop, other.stop), nonzero)

    def is_within(self, other: Interval) -> bool:
        """Return whether the other range contains this one."""
        return self.with_(other)[:2] == self[:2] and not (other.nonzero and "=" in self.signs())

    def __neg__(self) -> Interval:
        (low, above), (high, below) = self.start, self.stop
        return Interval((-high, -below), (-low, -above), self.nonzero)

    def __abs__(self) -> Interval:
        if self.start >= AT_ZERO:
            return self
        if self.stop <= AT_ZERO:
            return -self
        return Interval(
            (Fraction(0), int(self.nonzero)), max((-self).stop, self.stop), self.nonzero
        )

    def plus(self, other: Interval) -> Interval:
        """Return the range of sums of two numbers."""
        start, stop = (
            (x + y, at or side) for (x, at), (y, side) in zip(self[:2], other[:2], strict=True)
        )
        return _widen(start, stop)

    def times(self, other: Interval) -> Interval:
        """Return the range of products of two numbers."""
        corners = []
        for (a, at), (b, side) in product(self[:2], other[:2]):
            is_open = (at and b) or (side and a)
            corners.append((a * b if a and b else Fraction(0), 1 if is_open else 0))
        stop = max((end, -is_open) for end, is_open in corners)
        return _widen(min(corners), stop, "=" not in self.signs() + other.signs())

    def reciprocal(self) -> Interval:
        """Return the range of reciprocals of nonzero numbers."""
        signs = self.signs()
        if ("<" in signs and ">" in signs) or signs in ("", "="):
            return NOT_ZERO
        if "<" in signs:
            return -((-self).reciprocal())
        (low, above), (high, below) = self.start, self.stop
        start: End = (Fraction(0), 1) if high == INF else (1 / Fraction(high), -below)
        stop: End = (INF, -1) if low == 0 else (1 / Fraction(low), -above)
        return _widen(start, stop, True)


ALL = Interval((-INF, 1), (INF, -1))
NOT_ZERO = ALL._replace(nonzero=True)
ZERO = Interval(AT_ZERO, AT_ZERO)
POSITIVE = Interval((Fraction(0), 1), (INF, -1))
NOT_NEGATIVE = Interval(AT_ZERO, (INF, -1))
# Ranges by the signs that their numbers have.
BY_SIGN = {
    "<": -POSITIVE,
    "<=": -NOT_NEGATIVE,
    "=": ZERO,
    "=>": NOT_NEGATIVE,
    "<>": NOT_ZERO,
    ">": POSITIVE,
}


def point(x: Fraction) -> Interval:
    """Return the range of one number."""
    return Interval((x, 0), (x, 0))


def _range(x: Any) -> Interval:
    return x if isinstance(x, Interval) else point(Fraction(x))


def _widen(start: End, stop: End, nonzero: bool = False) -> Interval:
    if isinstance(start[0], Fraction) and size(start[0]) > MAX_BITS_OF_END:
        start = _outward(start[0], -INF), 1
    if isinstance(stop[0], Fraction) and size(stop[0]) > MAX_BITS_OF_END:
        stop = _outward(stop[0], INF), -1
    return Interval(start, stop, nonzero)


def _outward(x: Fraction, towards: float) -> Fraction | float:
    try:
        moved = math.nextafter(float(x), towards)
    except OverflowError:
        return towards if (x > 0) == (towards > 0) else Fraction(10**300 if x > 0 else -(10**300))
    if math.isinf(moved):
        return towards
    # 0 bounds a number with a sign, however small.
    return Fraction(moved) if (moved > 0) == (x > 0) and moved else Fraction(0)


# ---- from inputs to the operation
def _forward(value: Value, inputs: Sequence[Interval]) -> Interval:
    if value.primitive is VARIABLE:
        return ALL
    if value.primitive is CONSTANT:
        x = exact_value(value)
        if x is not None:
            return point(x)
        if value.source in IRRATIONALS:
            low, high = (
                Fraction(value.data) * (1 + sign * Fraction(1, 10**15)) for sign in (-1, 1)
            )
            return Interval((low, 1), (high, -1))
        # the literal is too long or too small
        return BY_SIGN["<" if (value.source or "").startswith("-") else ">"]
    # Distinct operands need distinct objects: `x*x` is a square.
    apart = {p: Interval(*r) for p, r in zip(value._prev, inputs, strict=True)}
    result: Interval = getattr(RANGES, value.primitive.name)(*[apart[p] for p in value._prev])
    return result


@cache
def values_of(primitive: Primitive) -> Interval:
    """Return the range of a function in the table: `[1, inf)`."""
    text = primitive.values
    if not text:
        return ALL
    low, high = (
        float(end) if "inf" in end else Fraction(end) for end in text.strip("[]()").split(",")
    )
    return Interval((low, int(text[0] == "(")), (high, -int(text[-1] == ")")))


def _at(primitive: Primitive, end: End, towards: float) -> End | None:
    x, side = end
    if isinstance(x, float):
        return None
    try:
        return Fraction(getattr(EXACT, primitive.name)(x)), side
    except NO_RESULT:  # not rational, as a rule
        pass
    try:
        y = Fraction(getattr(REAL, primitive.name)(float(_outward(x, towards))))
    except (ValueError, ArithmeticError):
        return None
    outward = 1 if towards > 0 else -1
    margin = abs(y) * ROUNDING_MARGIN + ROUNDING_MARGIN**10  # much more than what is rounded
    return y + outward * margin, -outward


def _keeps_zero(primitive: Primitive, inputs: Sequence[object]) -> bool:
    return primitive.increasing and len(inputs) == 1 and _at(primitive, AT_ZERO, INF) == AT_ZERO


def _power(x: Interval, y: Interval) -> Interval:
    exponent, signs = y.number, x.signs()
    if exponent is None:
        # 0**y is 0 for every y > 0.
        return POSITIVE if signs == ">" else NOT_NEGATIVE if "<" not in signs else ALL
    if exponent < 0:
        return _power(x, -y).reciprocal()
    if exponent == 0:
        return point(Fraction(1))
    is_odd = exponent.numerator % 2 == 1
    if exponent.denominator > 1 or not is_odd:
        signs = "=" if signs == "=" else "=>" if "=" in signs else ">"
    result = BY_SIGN.get(signs, ALL)
    if exponent.denominator == 1 and exponent <= 8:
        ends = (x if is_odd else abs(x))[:2]
        start, stop = (
            (end if isinstance(end, float) else end ** int(exponent), side) for end, side in ends
        )
        result = result.with_(_widen(start, stop))
    return result


class Ranges(NumberType):
    """Ranges as a kind of number, by the table."""

    name = "range"

    # no condition is known
    lt = le = gt = ge = eq = ne = not_ = and_ = or_ = staticmethod(lambda *_: None)
    pi = Interval((Fraction(314159, 100000), 1), (Fraction(314160, 100000), -1))
    number = staticmethod(_range)
    add = staticmethod(Interval.plus)
    sub = staticmethod(lambda x, y: x.plus(-y))
    mul = staticmethod(lambda x, y: abs(x).times(abs(x)) if x is y else x.times(y))
    div = staticmethod(lambda x, y: x.times(y.reciprocal()))
    pow = staticmethod(_power)
    abs = staticmethod(abs)
    neg = staticmethod(operator.neg)

    def step(self, name: str, *inputs: Any) -> Interval:
        """Return the range of an operation on ranges and numbers."""
        return getattr(self, name)(*map(_range, inputs))  # type: ignore[no-any-return]

    def where(self, condition: Any, then: Any, otherwise: Any) -> Interval:
        x, y = (_range(branch() if callable(branch) else branch) for branch in (then, otherwise))
        return x.hull(y)

    def max(self, *xs: Any) -> Interval:
        """Return the range of the largest number."""
        inputs = [_range(x) for x in xs]
        nonzero = all("=" not in r.signs() for r in inputs)
        return Interval(max(r.start for r in inputs), max(r.stop for r in inputs), nonzero)

    def min(self, *xs: Any) -> Interval:
        """Return the range of the smallest number."""
        return -self.max(*[-_range(x) for x in xs])

    def __getattr__(self, name: str) -> Callable[..., Interval]:
        if name not in OPERATIONS:
            raise AttributeError(name)
        row = OPERATIONS[name]

        def function(*inputs: Any) -> Interval:
            result = values_of(row)
            if row.increasing and len(inputs) == 1:
                x = _range(inputs[0])
                start, stop = _at(row, x.start, -INF), _at(row, x.stop, INF)
                nonzero = x.nonzero and _keeps_zero(row, inputs)
                return result.with_(Interval(start or result.start, stop or result.stop, nonzero))
            if result is ALL and name in DEFINITIONS:
                try:
                    return _range(DEFINITIONS[name](self, *inputs))
                except (*NO_RESULT, TypeError):  # it needs to know the very numbers
                    return ALL
            return result

        self.__dict__[name] = function
        return function


RANGES = Interval.m = Ranges()


# ---- from the operation to its inputs
# Inputs of an operation, with the ranges that its result leaves them.
Narrowed = Iterator[tuple[Value, Interval]]


def _backward(value: Value, r: Interval, inputs: Sequence[Interval]) -> Narrowed:
    """Return the ranges that a result in `r` leaves the inputs, whose ranges are known."""
    return _BACKWARD.get(value.primitive, _back_through_function)(value, r, inputs)


def _back_through_negation(value: Value, r: Interval, _: Sequence[Interval]) -> Narrowed:
    yield value._prev[0], -r


def _back_through_sum(value: Value, r: Interval, inputs: Sequence[Interval]) -> Narrowed:
    x, y = inputs
    yield value._prev[0], r.plus(-y)
    yield value._prev[1], r.plus(-x)


def _back_through_difference(value: Value, r: Interval, inputs: Sequence[Interval]) -> Narrowed:
    x, y = inputs
    yield value._prev[0], r.plus(y)
    yield value._prev[1], x.plus(-r)


def _back_through_product(value: Value, r: Interval, inputs: Sequence[Interval]) -> Narrowed:
    if "=" not in r.signs():
        yield from _nonzero(value)
    for operand, other in zip(value._prev, reversed(inputs), strict=True):
        if "=" not in other.signs():
            yield operand, r.times(other.reciprocal())


def _back_through_quotient(value: Value, r: Interval, inputs: Sequence[Interval]) -> Narrowed:
    signs, (above, below) = r.signs(), inputs
    if "=" not in signs:
        yield from _nonzero(value)
    if "=" not in below.signs():
        yield value._prev[0], r.times(below)
    if signs in ("<", ">") and above.signs() in ("<", ">"):
        yield value._prev[1], POSITIVE if signs == above.signs() else -POSITIVE


def _back_through_power(value: Value, r: Interval, inputs: Sequence[Interval]) -> Narrowed:
    signs = r.signs()
    if inputs[1].signs() == ">" and signs in ("=", "<>", ">", "<"):
        yield value._prev[0], ZERO if signs == "=" else NOT_ZERO


def _back_through_function(value: Value, r: Interval, _: Sequence[Interval]) -> Narrowed:
    primitive, operands, signs = value.primitive, value._prev, r.signs()
    if primitive.norm and signs == "=":
        for operand in operands:
            yield operand, ZERO
    elif primitive.norm and len(operands) == 1 and "=" not in signs:
        yield operands[0], NOT_ZERO
    elif _keeps_zero(primitive, operands):
        yield operands[0], BY_SIGN.get(signs, ALL)


def _nonzero(value: Value) -> Narrowed:
    for operand in value._prev:
        yield operand, NOT_ZERO


_BACKWARD = {
    NEG: _back_through_negation,
    ADD: _back_through_sum,
    SUB: _back_through_difference,
    MUL: _back_through_product,
    DIV: _back_through_quotient,
    POW: _back_through_power,
}


# ---- domains of operations
@cache
def _one_sided(primitive: Primitive) -> tuple[tuple[int, Interval], ...]:
    limits: dict[int, Interval] = {}
    for position, relation, end in primitive.bounds.bounds:
        if end is None or (relation == "!=" and end):
            continue
        r = NOT_ZERO
        if relation[0] == ">":
            r = Interval((Fraction(end), int(relation == ">")), ALL.stop)
        elif relation[0] == "<":
            r = Interval(ALL.start, (Fraction(end), -int(relation == "<")))
        limits[position] = limits.get(position, ALL).with_(r)
    return tuple(limits.items())


def _domain(value: Value, inputs: Sequence[Interval]) -> Iterator[tuple[Value, Interval]]:
    for position, r in _one_sided(value.primitive):
        yield value._prev[position], r
    if value.primitive is POW:
        (x, _), y = value._prev, inputs[1]
        if "<" not in inputs[0].signs() or (y.number or Fraction(0)).denominator != 1:
            yield x, POSITIVE if y.signs() == "<" else NOT_NEGATIVE
        elif y.signs() == "<":
            yield x, NOT_ZERO


def _is_total(value: Value, inputs: Sequence[Interval]) -> bool:
    primitive = value.primitive
    if not value._prev or primitive.defined([r.number for r in inputs]):
        return True
    if primitive is POW:
        return inputs[0].signs() == ">"
    bounds, complete, ordered = primitive.bounds
    if not complete or ordered or any(b.relation == "!=" and b.end != 0 for b in bounds):
        return False
    return all(inputs[position].is_within(r) for position, r in _one_sided(primitive))


# ---- what is known in the branches of a formula
class ProgramPoint:
    """A branch of a formula within another, and its facts."""

    __slots__ = ("children", "depth", "facts", "intervals", "pairs", "parent")

    def __init__(self, parent: ProgramPoint | None = None) -> None:
        self.parent = parent
        self.depth: int = parent.depth + 1 if parent else 0
        self.children: dict[tuple[Value, bool, Value | None], ProgramPoint] = {}
        self.facts: dict[Value, Interval] = {}
        # Which of `<`, `=`, `>` may hold between two nodes.
        self.pairs: dict[tuple[Value, Value], str] = {}
        self.intervals: dict[Value, Interval] = {}

    def enclosing(self) -> Iterator[ProgramPoint]:
        """Yield this branch and those that enclose it."""
        place: ProgramPoint | None = self
        while place is not None:
            yield place
            place = place.parent


class Guards:
    """The facts that hold in the branches of one formula."""

    def __init__(self, root: Value, work: int, facts: Sequence[Value] = ()) -> None:
        self.root = root
        # The number of operations that may still be examined.
        self.work = work
        self.order = list(in_order((root,)))
        self.bare = ProgramPoint()
        self.places = [ProgramPoint()]
        for fact in facts:
            self._assume(self.places[0], fact, True)
        # The innermost branch that encloses all uses of a node.
        self.place: dict[Value, ProgramPoint] = {root: self.places[0]}
        # The branch in which a node is always computed.
        self.sure: dict[Value, ProgramPoint] = dict(self.place)
        # The branch in which a node is computed under any conditions.
        self.kept: dict[Value, ProgramPoint] = dict(self.place)
        for value in reversed(self.order):
            self._place_inputs(value)
        for value in self.order:
            self._narrow_by_domain(value)
        for place in self.places:
            place.intervals.clear()  # found while less was known

    def _place_inputs(self, value: Value) -> None:
        """Note in which branches the inputs of a node are computed; its own are known."""
        here, sure, kept = self.place[value], self.sure[value], self.kept.get(value)
        for k, p in enumerate(value._prev):
            inner, always, still = here, sure, None if value.primitive.gives_condition else kept
            if k and value.primitive in (WHERE, AND, OR):
                holds = value.primitive is AND or (value.primitive is WHERE and k == 1)
                of = None if here is sure else value
                inner = always = still = self.enter_branch(here, value._prev[0], holds, of)
            around = set(inner.enclosing())
            self.place[p] = next(
                outer for outer in self.place.get(p, inner).enclosing() if outer in around
            )
            for branches, branch in ((self.sure, always), (self.kept, still)):
                if branch and (p not in branches or branch.depth < branches[p].depth):
                    branches[p] = branch

    def _narrow_by_domain(self, value: Value) -> None:
        """Narrow the inputs of a node to its domain, where it is always computed."""
        if not value.primitive.domain:
            return
        place = self.sure[value]
        inputs = [self.range(q, place) for q in value._prev] if value.primitive is POW else []
        for p, r in _domain(value, inputs):
            self._narrow(place, p, r)

    # ---- known facts
    def enter_branch(
        self, place: ProgramPoint, condition: Value, holds: bool, of: Value | None = None
    ) -> ProgramPoint:
        """Return the inner branch where a condition holds or not; `of` limits it to a choice."""
        key = condition, holds, of
        if key not in place.children:
            place.children[key] = inner = ProgramPoint(place)
            self.places.append(inner)
            self._assume(inner, condition, holds)
        return place.children[key]

    def _assume(self, place: ProgramPoint, condition: Value, holds: bool) -> None:
        stack = [(condition, holds)]
        while stack:
            condition, holds = stack.pop()
            if condition.primitive is NOT:
                stack.append((condition._prev[0], not holds))
            elif condition.primitive is (AND if holds else OR):
                stack += [(p, holds) for p in condition._prev]
            elif condition.primitive.holds:
                x, y = condition._prev
                signs = condition.primitive.holds
                signs = signs if holds else "".join(s for s in "<=>" if s not in signs)
                place.pairs[x, y] = "".join(s for s in place.pairs.get((x, y), "<=>") if s in signs)
                a, b = self.range(x, place), self.range(y, place)
                for p, other, side in ((x, b, BY_SIGN[signs]), (y, a, -BY_SIGN[signs])):
                    self._narrow(
                        place, p, side if signs == "<>" and other == ZERO else other.plus(side)
                    )

    def _narrow(self, place: ProgramPoint, value: Value, r: Interval) -> None:
        stack = [(value, r)]
        while stack and self.work > 0:
            self.work -= 1
            value, r = stack.pop()
            before = self.range(value, place)
            now = before.with_(r)
            if now == before:
                continue
            place.facts[value] = place.facts[value].with_(r) if value in place.facts else r
            place.intervals[value] = now
            if value._prev and value.primitive is not WHERE:
                stack += _backward(value, now, [self.range(p, place) for p in value._prev])

    def range(self, value: Value, place: ProgramPoint) -> Interval:
        """Return the range of a node in a branch."""
        self.work -= 1
        ranges_here = place.intervals
        stack = [value]
        while stack:
            top = stack[-1]
            if top in ranges_here:
                stack.pop()
                continue
            missing = [
                p for p in top._prev if p not in ranges_here and not p.primitive.gives_condition
            ]
            if missing and self.work > 0:
                stack += missing
                continue
            stack.pop()
            self.work -= 1 if len(top._prev) < 3 else 4 * len(top._prev)
            result = ALL
            if not missing:
                result = _forward(top, [ranges_here.get(p, ALL) for p in top._prev])
            for outer in place.enclosing():
                if top in outer.facts:
                    result = result.with_(outer.facts[top])
            ranges_here[top] = result
        return ranges_here[value]

    # ---- conditions
    def decide(self, condition: Value, place: ProgramPoint) -> bool | None:
        """Return whether a condition holds in a branch; None if unknown."""
        if condition.primitive is NOT:
            inner = self.decide(condition._prev[0], place)
            return None if inner is None else not inner
        if condition.primitive in (AND, OR):
            p, q = condition._prev
            stops = condition.primitive is OR
            first = self.decide(p, place)
            if first is stops:
                return stops
            second = self.decide(
                q, self.enter_branch(place, p, not stops) if first is None else place
            )
            return second if first is not None or second is stops else None
        signs = condition.primitive.holds
        if not signs:
            return None  # a condition that has but a name
        x, y = condition._prev
        possible = self.possible_orders(x, y, place)
        outcomes = {sign in signs for sign in possible}
        return outcomes.pop() if len(outcomes) == 1 else None

    def possible_orders(self, x: Value, y: Value, place: ProgramPoint) -> str:
        """Return which of `<`, `=`, `>` may hold between two nodes in a branch."""
        if x is y:
            return "="
        possible = "<=>"
        a, b = self.range(x, place), self.range(y, place)
        by_range = (a if b == ZERO else -b if a == ZERO else a.plus(-b)).signs()
        for outer in place.enclosing():
            self.work -= 1
            signs = outer.pairs.get((x, y), "<=>")
            mirrored = outer.pairs.get((y, x), "<=>").translate(_MIRRORED)
            possible = "".join(
                s for s in possible if s in signs and s in mirrored and s in by_range
            )
        return possible if len(possible) == 1 else sign_of_constant(x, y) or possible

    def reduce_condition(self, condition: Value, place: ProgramPoint, taken: Value) -> Value | bool:
        """Return the condition without decided parts; `taken` is computed if it holds."""
        outcome = self.decide(condition, place)
        if outcome is not None:
            return outcome
        if condition.primitive is AND:
            p, q = condition._prev
            first = self.reduce_condition(p, place, taken)
            second = self.reduce_condition(q, self.enter_branch(place, p, True), taken)
            if first is True or second is True:
                dropped, rest = (p, second) if first is True else (q, first)
                return rest if self.may_be_dropped(dropped, taken, place) else condition
        return condition

    def may_be_dropped(self, condition: Value, taken: Value, place: ProgramPoint) -> bool:
        """Return whether a condition's terms have values wherever `taken` has."""
        rest = flat_inputs(condition, CONDITIONS)[::-1]
        computed: set[Value] = set()
        stack = [taken]
        while stack and len(computed) < MAX_SEARCHED_OPERATIONS:
            top = stack.pop()
            if top not in computed:
                computed.add(top)
                stack += top._prev[:1] if top.primitive.lazy_inputs else top._prev
        around = set(map(id, place.enclosing()))
        seen: set[Value] = set()
        while rest:
            top = rest.pop()
            if top in computed or top in seen or id(self.kept.get(top)) in around:
                continue
            seen.add(top)
            self.work -= 1
            inputs = [] if top.primitive is WHERE else [self.range(p, self.bare) for p in top._prev]
            if self.work < 0 or top.primitive is WHERE or not _is_total(top, inputs):
                return False
            rest += top._prev
        return True

    # ---- the formula
    def without_dead_branches(
        self, decided: Callable[[Value], Value | None] | None = None
    ) -> Value:
        """Return the formula without decided choices; `decided` replaces operations."""
        copies: dict[Value, Value] = {}

        def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
            if value.primitive is WHERE:
                condition, x, y = value._prev
                place = self.place[value]
                reduced = self.reduce_condition(condition, place, x) if self.work > 0 else condition
                if isinstance(reduced, bool):
                    if self.may_be_dropped(condition, x if reduced else y, place):
                        return inputs[1] if reduced else inputs[2]
                elif reduced is not condition:
                    return node(WHERE, (copies.get(reduced, reduced), *inputs[1:]))
            outcome = decided(value) if decided else None
            return rebuild(value, inputs) if outcome is None else substitute(outcome, copies.get)

        return rewrite((self.root,), rule, copies)[0]


_MIRRORED = str.maketrans("<>", "><")


def sign_of_constant(x: Value, y: Value) -> str | None:
    """Return the order of two constants, if two precisions agree."""
    order = in_order((x, y))
    if any(v.primitive is VARIABLE or v.primitive is WHERE for v in order) or all(
        not v._prev for v in order
    ):
        return None
    # a third of a second, and few formulas need it
    from ..numbers.multiprecision import Multiprecision

    differences = []
    largest = 0.0
    for digits in CONSTANT_DIGITS:
        m = Multiprecision(digits, decimals=True)
        with Defined(ArithmeticError, ValueError):
            at = evaluate_in(m, (x, y), {})
            differences.append(at.values[0] - at.values[1])
            largest = max(
                [
                    abs(data)
                    for data in at.graph.data
                    if not isinstance(data, bool) and data is not None
                ]
            )
    if len(differences) < len(CONSTANT_DIGITS):
        return None
    first, second = differences
    if abs(second) <= MAX_RELATIVE_DIFFERENCE * largest or abs(
        first - second
    ) > MAX_RELATIVE_DIFFERENCE * abs(second):
        return None
    return "<" if second < 0 else ">"


def without_dead_branches(outputs: Sequence[Value]) -> list[Value]:
    """Return the formulas without decided choices."""
    results = list(outputs)
    chooses = facts_of(results, lambda value, inputs: value.primitive is WHERE or any(inputs))
    budget = current_budget()
    work = most = int(min(MAX_WORK, budget.left / GUARD))
    for k, output in enumerate(outputs):
        if work > 0 and chooses[output]:
            guards = Guards(output, work)
            results[k] = guards.without_dead_branches()
            work = guards.work - len(guards.order)
    budget.charge(min((most - work) * GUARD, budget.left))
    return results
