"""Elimination of dead branches: choices decided by ranges become the branch taken.

An operand of a dropped condition must be computed anyway or have a value everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..errors import ExpressionError
from ..graphs.value import Value, in_order, node
from ..graphs.value_and_gradient import evaluate_in
from ..numbers.budget import GUARD, current_budget
from ..table.operators import AND, COMPARISONS, NOT, OR, POW, VARIABLE, WHERE
from . import ranges
from .ranges import BY_SIGN, ZERO, Range
from .walk import flat_inputs, rebuild, rewrite, substitute

MAX_WORK = 400_000
"""The most operations examined; later choices are kept."""

MAX_SEARCHED_OPERATIONS = 400

CONSTANT_DIGITS = (50, 110)
MAX_RELATIVE_DIFFERENCE = 1e-30

CONDITIONS = frozenset((*COMPARISONS.values(), AND, OR, NOT))


class ProgramPoint:
    """A branch of a formula within another, and its facts."""

    __slots__ = ("children", "depth", "facts", "known", "pairs", "parent")

    def __init__(self, parent: ProgramPoint | None = None) -> None:
        self.parent = parent
        self.depth: int = parent.depth + 1 if parent else 0
        self.children: dict[tuple[Value, bool, Value | None], ProgramPoint] = {}
        self.facts: dict[Value, Range] = {}
        self.pairs: dict[tuple[Value, Value], str] = {}
        """Which of `<`, `=`, `>` may hold between two nodes."""
        self.known: dict[Value, Range] = {}
        """The facts found about nodes in this branch."""

    def line(self) -> Iterator[ProgramPoint]:
        """Yield this branch and those that enclose it."""
        place: ProgramPoint | None = self
        while place is not None:
            yield place
            place = place.parent


def _shared(one: ProgramPoint, other: ProgramPoint) -> ProgramPoint:
    while one is not other:
        if one.depth < other.depth:
            one, other = other, one
        assert one.parent is not None
        one = one.parent
    return one


class Guards:
    """The facts that hold in the branches of one formula."""

    def __init__(self, root: Value, work: int, facts: Sequence[Value] = ()) -> None:
        self.root = root
        self.work = work
        """The number of operations that may still be examined."""
        self.order = list(in_order((root,)))
        self.bare = ProgramPoint()
        """The branch without facts."""
        self.places = [ProgramPoint()]
        for fact in facts:
            self._assume(self.places[0], fact, True)
        self.place: dict[Value, ProgramPoint] = {root: self.places[0]}
        """The innermost branch that encloses all uses of a node."""
        self.sure: dict[Value, ProgramPoint] = dict(self.place)
        """The branch in which a node is always computed."""
        self.kept: dict[Value, ProgramPoint] = dict(self.place)
        """The branch in which a node is computed under any conditions."""
        for value in reversed(self.order):
            here, sure, kept = self.place[value], self.sure[value], self.kept.get(value)
            for k, p in enumerate(value._prev):
                inner, always, still = here, sure, None if value.primitive.gives_condition else kept
                if k and value.primitive in (WHERE, AND, OR):
                    holds = value.primitive is AND or (value.primitive is WHERE and k == 1)
                    inner = always = still = self.inside(here, value._prev[0], holds, None if here is sure else value)
                self.place[p] = _shared(self.place[p], inner) if p in self.place else inner
                for branches, branch in ((self.sure, always), (self.kept, still)):
                    if branch and (p not in branches or branch.depth < branches[p].depth):
                        branches[p] = branch
        for value in self.order:
            if value.primitive.domain:
                place = self.sure[value]
                inputs = [self.range(q, place) for q in value._prev] if value.primitive is POW else []
                for p, r in ranges.domain(value, inputs):
                    self._narrow(place, p, r)
        for place in self.places:
            place.known.clear()  # found while less was known

    # ---- known facts
    def inside(self, place: ProgramPoint, condition: Value, holds: bool, of: Value | None = None) -> ProgramPoint:
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
                    self._narrow(place, p, side if signs == "<>" and other == ZERO else other.plus(side))

    def _narrow(self, place: ProgramPoint, value: Value, r: Range) -> None:
        stack = [(value, r)]
        while stack and self.work > 0:
            self.work -= 1
            value, r = stack.pop()
            before = self.range(value, place)
            now = before.with_(r)
            if now == before:
                continue
            place.facts[value] = place.facts[value].with_(r) if value in place.facts else r
            place.known[value] = now
            if value._prev and value.primitive is not WHERE:
                stack += ranges.backward(value, now, [self.range(p, place) for p in value._prev])

    def range(self, value: Value, place: ProgramPoint) -> Range:
        """Return the range of a node in a branch."""
        self.work -= 1
        ranges_here = place.known
        stack = [value]
        while stack:
            top = stack[-1]
            if top in ranges_here:
                stack.pop()
                continue
            missing = [p for p in top._prev if p not in ranges_here and not p.primitive.gives_condition]
            if missing and self.work > 0:
                stack += missing
                continue
            stack.pop()
            self.work -= 1 if len(top._prev) < 3 else 4 * len(top._prev)
            result = ranges.ALL
            if not missing:
                result = ranges.forward(top, [ranges_here.get(p, ranges.ALL) for p in top._prev])
            for outer in place.line():
                if top in outer.facts:
                    result = result.with_(outer.facts[top])
            ranges_here[top] = result
        return ranges_here[value]

    # ---- conditions
    def decided(self, condition: Value, place: ProgramPoint) -> bool | None:
        """Return whether a condition holds in a branch; None if unknown."""
        if condition.primitive is NOT:
            inner = self.decided(condition._prev[0], place)
            return None if inner is None else not inner
        if condition.primitive in (AND, OR):
            p, q = condition._prev
            stops = condition.primitive is OR
            first = self.decided(p, place)
            if first is stops:
                return stops
            second = self.decided(q, self.inside(place, p, not stops) if first is None else place)
            return second if first is not None or second is stops else None
        signs = condition.primitive.holds
        if not signs:
            return None  # a condition that has but a name
        x, y = condition._prev
        possible = self.compared(x, y, place)
        outcomes = {sign in signs for sign in possible}
        return outcomes.pop() if len(outcomes) == 1 else None

    def compared(self, x: Value, y: Value, place: ProgramPoint) -> str:
        """Return which of `<`, `=`, `>` may hold between two nodes in a branch."""
        if x is y:
            return "="
        possible = "<=>"
        a, b = self.range(x, place), self.range(y, place)
        by_range = (a if b == ZERO else -b if a == ZERO else a.plus(-b)).signs()
        for outer in place.line():
            self.work -= 1
            signs = outer.pairs.get((x, y), "<=>")
            mirrored = outer.pairs.get((y, x), "<=>").translate(_MIRRORED)
            possible = "".join(s for s in possible if s in signs and s in mirrored and s in by_range)
        return possible if len(possible) == 1 else sign_of_constant(x, y) or possible

    def reduced(self, condition: Value, place: ProgramPoint, taken: Value) -> Value | bool:
        """Return the condition without decided parts; `taken` is computed if it holds."""
        outcome = self.decided(condition, place)
        if outcome is not None:
            return outcome
        if condition.primitive is AND:
            p, q = condition._prev
            first = self.reduced(p, place, taken)
            second = self.reduced(q, self.inside(place, p, True), taken)
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
        around = set(map(id, place.line()))
        seen: set[Value] = set()
        while rest:
            top = rest.pop()
            if top in computed or top in seen or id(self.kept.get(top)) in around:
                continue
            seen.add(top)
            self.work -= 1
            inputs = [] if top.primitive is WHERE else [self.range(p, self.bare) for p in top._prev]
            if self.work < 0 or top.primitive is WHERE or not ranges.is_total(top, inputs):
                return False
            rest += top._prev
        return True

    # ---- the formula
    def without_dead_branches(self, decided: Callable[[Value], Value | None] | None = None) -> Value:
        """Return the formula without decided choices; `decided` replaces operations."""
        copies: dict[Value, Value] = {}

        def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
            if value.primitive is WHERE:
                condition, x, y = value._prev
                place = self.place[value]
                reduced = self.reduced(condition, place, x) if self.work > 0 else condition
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
    if any(v.primitive is VARIABLE or v.primitive is WHERE for v in order) or all(not v._prev for v in order):
        return None
    from ..numbers.multiprecision import Multiprecision  # a third of a second, and few formulas need it

    differences = []
    largest = 0.0
    for digits in CONSTANT_DIGITS:
        m = Multiprecision(digits, decimals=True)
        try:
            at = evaluate_in(m, (x, y), {})
            a, b = at.values
            differences.append(a - b)
            largest = max([abs(data) for data in at.graph.data if not isinstance(data, bool) and data is not None])
        except (ExpressionError, ArithmeticError, ValueError):
            return None
    first, second = differences
    if abs(second) <= MAX_RELATIVE_DIFFERENCE * largest or abs(first - second) > MAX_RELATIVE_DIFFERENCE * abs(second):
        return None
    return "<" if second < 0 else ">"


def without_dead_branches(outputs: Sequence[Value]) -> list[Value]:
    """Return the formulas without decided choices."""
    results = list(outputs)
    if not _chooses(results):
        return results
    budget = current_budget()
    work = most = int(min(MAX_WORK, budget.left / GUARD))
    for k, output in enumerate(outputs):
        if work > 0 and _chooses((output,)):
            guards = Guards(output, work)
            results[k] = guards.without_dead_branches()
            work = guards.work - len(guards.order)
    budget.charge(min((most - work) * GUARD, budget.left))
    return results


def _chooses(outputs: Sequence[Value]) -> bool:
    return any(value.primitive is WHERE for value in in_order(outputs))
