"""The adjoint program: value and gradient of a graph as one recording, by reverse accumulation over symbolic rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from itertools import count

from ..numbers.recorder import Recorder, Step, is_number
from ..table.operators import CONSTANT, NEG, VARIABLE, WHERE
from .value import Value, in_order


class Branch:
    """A condition that must turn out a certain way, within another branch; without a condition the whole program.

    Equal branches are one object: `inside` makes them.
    """

    __slots__ = ("children", "condition", "depth", "holds", "parent", "serial")

    def __init__(self, parent: Branch | None = None, condition: Step | None = None, holds: bool = True) -> None:
        self.parent = parent
        self.condition = condition
        self.holds = holds
        self.depth: int = parent.depth + 1 if parent else 0
        self.serial = (condition.index, not holds) if condition else (-1, False)
        """Orders the branches of one depth."""
        self.children: dict[tuple[int, bool], Branch] = {}

    def inside(self, condition: Step, holds: bool) -> Branch:
        """The branch within this one where a condition turns out that way."""
        key = (condition.index, holds)
        child = self.children.get(key)
        if child is None:
            child = self.children[key] = Branch(self, condition, holds)
        return child

    @property
    def other(self) -> Branch | None:
        """The branch where this one's condition turns out the other way, if anything is there."""
        if self.parent is None or self.condition is None:
            return None
        return self.parent.children.get((self.condition.index, not self.holds))

    def within(self, other: Branch) -> bool:
        """Whether this branch is the other one or lies inside it."""
        branch: Branch | None = self
        while branch is not None and branch.depth > other.depth:
            branch = branch.parent
        return branch is other

    def line(self) -> list[Branch]:
        """The branches from the outermost to this one, without the whole program."""
        branches: list[Branch] = []
        branch = self
        while branch.parent is not None:
            branches.append(branch)
            branch = branch.parent
        return branches[::-1]


Part = tuple[Branch, Step]
"""A contribution to an adjoint: where it is there at all, and what it is then."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording of a computation: steps of one recorder."""

    recorder: Recorder
    values: tuple[Step, ...]
    """The outputs."""
    partials: tuple[Step, ...]
    """The derivative of the output by each wanted variable."""
    adjoints: tuple[Step, ...]
    """The adjoints of those nodes that have one at every point; no result needs to need them."""
    watched: tuple[Step, ...]
    """Steps that have to be finite for the result to be right: all values and these adjoints."""
    place: dict[Value, Step]
    """The step of each node of the graph."""
    edges: tuple[Step, ...] = ()
    """Comparisons at whose equality the sweeps see a variable take part that takes none on either side."""
    active: frozenset[Value] = frozenset()
    """The nodes that depend on a wanted variable."""


def record_values(outputs: Sequence[Value], inputs: Sequence[Value], recorder: Recorder | None = None) -> Recording:
    """The recording that evaluates the outputs; `inputs` are the variables, in order."""
    m = recorder or Recorder()
    place = {leaf: m.input(k) for k, leaf in enumerate(inputs)}
    for node in in_order(outputs):
        if node not in place:
            m.node = node
            name, steps = node.primitive.name, [place[p] for p in node._prev]
            if node.primitive is CONSTANT:
                place[node] = m.constant(node)
            else:
                place[node] = m.where(*steps) if node.primitive is WHERE else m.step(name, *steps)
    watched = tuple(dict.fromkeys(place.values()))
    for step in watched:
        step.safe = True
    return Recording(m, tuple([place[output] for output in outputs]), (), (), watched, place)


def record_gradient(
    output: Value, inputs: Sequence[Value], wanted: Sequence[Value], recorder: Recorder | None = None
) -> Recording:
    """The recording of value and partial derivatives of the output by the `wanted` ones of its `inputs`.

    It does what the sweeps of `sweep` do, operation by operation and in the same order, for every point at once. An
    input that takes no part at a point (an untaken branch, the loser of a `max`) gets nothing there: what lies behind
    it is reached under a condition only.
    """
    recording = record_values((output,), inputs, recorder)
    m, place = recording.recorder, recording.place
    order = [node for node in in_order((output,)) if not node.primitive.gives_condition]
    reverse = _Reverse(m, place, order, set(wanted), _always(output))
    partials, totals = reverse.sweep(output, wanted)
    watched = dict.fromkeys((*recording.watched, *totals))
    return Recording(
        m,
        recording.values,
        partials,
        tuple(totals),
        tuple(watched),
        place,
        tuple(_edges(order, place, reverse.active)),
        frozenset(reverse.active),
    )


def merge_recordings(parts: Sequence[Recording]) -> Recording:
    """Recordings by one recorder, as one."""
    return replace(
        parts[0],
        values=tuple([step for part in parts for step in part.values]),
        partials=tuple([step for part in parts for step in part.partials]),
        adjoints=tuple([step for part in parts for step in part.adjoints]),
        watched=tuple(dict.fromkeys([step for part in parts for step in part.watched])),
        place={node: step for part in parts for node, step in part.place.items()},
        edges=tuple(dict.fromkeys([step for part in parts for step in part.edges])),
        active=frozenset([node for part in parts for node in part.active]),
    )


def column_names(count: int, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the column names of several outputs: their values, then each one's derivatives."""
    marks = [str(k) for k in range(1, count + 1)] if count > 1 else [""]
    return (*[f"value{mark}" for mark in marks], *[f"d{mark}_{name}" for mark in marks for name in wanted])


def _edges(order: Sequence[Value], place: dict[Value, Step], active: set[Value]) -> dict[Step, None]:
    edges: dict[Step, None] = {}
    seen: set[Value] = set()
    for choice in order:
        if choice.primitive is not WHERE or active.issuperset(choice._prev[1:]):
            continue
        stack = [choice._prev[0]]
        while stack:
            condition = stack.pop()
            if condition in seen or not condition.primitive.gives_condition:
                continue
            seen.add(condition)
            if not condition.primitive.takes_conditions and not active.isdisjoint(condition._prev):
                edges[place[condition]] = None
            stack += condition._prev
    return edges


def is_literal(node: Value) -> bool:
    """Whether a node is a number that was typed, with its minus."""
    return node.primitive is CONSTANT or (node.primitive is NEG and node._prev[0].primitive is CONSTANT)


def _always(output: Value) -> set[Value]:
    always: set[Value] = set()
    stack = [output]
    while stack:
        node = stack.pop()
        if node not in always:
            always.add(node)
            stack += node._prev[:1] if node.primitive.lazy_inputs else node._prev
    return always


class _Reverse:
    def __init__(
        self, m: Recorder, place: dict[Value, Step], order: Sequence[Value], wanted: set[Value], always: set[Value]
    ) -> None:
        self.m = m
        self.place = place
        self.order = order
        self.always = always
        self.root = Branch()
        self.active: set[Value] = set()
        self.partials: dict[Value, list[tuple[Value, Step]]] = {}
        self.plain: set[Value] = set()
        """Nodes to which a 0 may flow instead of nothing: no derivative behind them can be infinite."""
        for node in order:
            if not node._prev:
                if node in wanted:
                    self.active.add(node)
                    self.plain.add(node)
                continue
            towards = [p for p in node._prev if p in self.active]
            if not towards:
                continue
            self.active.add(node)
            m.node = node
            self.partials[node] = partials = self.local(node)
            if node in always and all(partial.safe for _, partial in partials) and self.plain.issuperset(towards):
                self.plain.add(node)

    def local(self, node: Value) -> list[tuple[Value, Step]]:
        m, inputs, steps = self.m, node._prev, [self.place[p] for p in node._prev]
        if node.primitive.product and any(is_literal(p) and is_number(self.place[p], 0) for p in inputs):
            return []
        partials = node.primitive.slopes(m, steps, self.place[node], [p in self.active for p in inputs])
        return [(p, m.number(d)) for p, d in zip(inputs, partials, strict=True) if d is not None]

    def sweep(self, output: Value, wanted: Sequence[Value]) -> tuple[tuple[Step, ...], list[Step]]:
        totals: list[Step] = []
        adjoints: dict[Value, list[Part]] = {output: [(self.root, self.m.one)]} if output in self.active else {}
        for node in reversed(self.order):
            if node.primitive is VARIABLE or node not in adjoints:
                continue
            when, adjoint = self.total(adjoints.pop(node), node in self.plain)
            if when is self.root:
                totals.append(adjoint)
                adjoint.safe = True
            for p, partial in self.partials[node]:
                part = self.part(partial, when)
                if part is None:
                    continue
                if adjoint.safe and p in self.plain and node in self.always:
                    part = when, self.filled(partial)
                adjoints.setdefault(p, []).append((part[0], self.times(adjoint, part[1])))
        results = [self.total(adjoints[leaf], True)[1] if leaf in adjoints else self.m.zero for leaf in wanted]
        return tuple(results), totals

    def part(self, partial: Step, when: Branch) -> Part | None:
        """A local derivative without its structural zeros: where there is one, and what it is; None for none at all."""
        if partial is self.m.nothing:
            return None
        if partial.name != "where":
            return when, partial
        condition, x, y = partial.args
        then, otherwise = self.part(x, when.inside(condition, True)), self.part(y, when.inside(condition, False))
        if then is None or otherwise is None:
            return then or otherwise
        return self.either(then[0], otherwise[0]), self.m.where(condition, then[1], otherwise[1])

    def filled(self, partial: Step) -> Step:
        """A local derivative with 0 in the place of its structural zeros."""
        if partial.name == "where":
            condition, x, y = partial.args
            return self.m.where(condition, self.filled(x), self.filled(y))
        return self.m.zero if partial is self.m.nothing else partial

    def times(self, adjoint: Step, factor: Step) -> Step:
        """The product, its constant factors multiplied out in the branches of a choice."""
        m = self.m
        if factor.name == "where" and any(branch.name == "number" for branch in factor.args[1:]):
            condition, x, y = factor.args
            return m.where(condition, self.times(adjoint, x), self.times(adjoint, y))
        for zero, other in ((adjoint, factor), (factor, adjoint)):
            if zero.name == "number" and zero.data == 0 and other.safe:
                return m.zero
        return m.step("mul", adjoint, factor)

    def total(self, parts: Sequence[Part], plain: bool) -> Part:
        """The sum of the contributions that are there; of a `plain` node with 0 in the place of those that are not."""
        sums: dict[Branch, Step] = {}
        for branch, value in parts:
            self.put(sums, branch, value)
        if len(sums) == 1 and not (plain and self.root not in sums):
            return next(iter(sums.items()))
        # The innermost ones first: both branches of a condition make a sum around it.
        number = count()  # branches themselves have no order
        waiting = [(-b.depth, b.serial, next(number), b) for b in sums]
        heapify(waiting)
        while waiting:
            *_, branch = heappop(waiting)
            if branch not in sums or branch.parent is None or branch.condition is None:
                continue
            other = branch.other
            if not plain and other not in sums:
                continue
            values = sums.pop(branch), sums.pop(other, self.m.zero) if other else self.m.zero
            chosen = self.m.where(branch.condition, *(values if branch.holds else values[::-1]))
            self.put(sums, branch.parent, chosen)
            heappush(waiting, (-branch.parent.depth, branch.parent.serial, next(number), branch.parent))
        when, total = next(iter(sums.items()))
        for branch, value in list(sums.items())[1:]:
            around = self.either(when, branch)
            shared = around if when.within(around) and branch.within(around) else around.parent
            assert shared is not None
            total = self.m.step("add", self.guarded(total, when, shared), self.guarded(value, branch, shared))
            when = around
        return when, total

    def put(self, sums: dict[Branch, Step], branch: Branch, value: Step) -> None:
        sums[branch] = self.m.step("add", sums[branch], value) if branch in sums else value

    def guarded(self, value: Step, branch: Branch, around: Branch) -> Step:
        """The value in the branch, 0 in the rest of the branch around it."""
        while branch is not around:
            assert branch.condition is not None and branch.parent is not None
            value = self.m.where(branch.condition, *((value, 0) if branch.holds else (0, value)))
            branch = branch.parent
        return value

    def either(self, one: Branch, other: Branch) -> Branch:
        """The branch of what lies in one of two."""
        line, other_line = one.line(), other.line()
        shared = self.root
        while line and other_line and line[0] is other_line[0]:
            shared = line.pop(0)
            other_line.pop(0)
        if not line or not other_line:
            return shared
        if line[0].condition is other_line[0].condition:
            if len(line) == len(other_line) == 1:
                return shared
            if len(line) == 1:
                # Where the first does not hold need not be said again: `or` asks for the second only then.
                del other_line[0]
        return shared.inside(self.m.step("or_", self.all_of(line), self.all_of(other_line)), True)

    def all_of(self, line: Sequence[Branch]) -> Step:
        result = self.m.number(True)
        for branch in line:
            condition = branch.condition
            assert condition is not None
            result = self.m.step("and_", result, condition if branch.holds else self.m.step("not_", condition))
        return result
