"""The adjoint program: value and gradient of a graph as one recording, and the order of its
steps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from graphlib import TopologicalSorter
from heapq import heapify, heappop, heappush
from itertools import count
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from ...record import Record
from ..numbers.recorder import Recorder, Step, is_number
from ..run.flat_graph import Graph, in_order
from ..table.operators import CONSTANT, DIV, POW, VARIABLE, WHERE
from ..table.primitive import OPERATIONS


class Branch:
    """A condition with its outcome, within another branch; or the whole program.

    Equal branches are one object, made by `inside`.
    """

    __slots__ = ("children", "condition", "depth", "holds", "parent", "serial")

    def __init__(
        self, parent: Branch | None = None, condition: Step | None = None, holds: bool = True
    ) -> None:
        self.parent, self.condition, self.holds = parent, condition, holds
        self.depth: int = parent.depth + 1 if parent else 0
        # Sort key among branches of one depth.
        self.serial = (condition.index, not holds) if condition else (-1, False)
        self.children: dict[tuple[int, bool], Branch] = {}

    def inside(self, condition: Step, holds: bool) -> Branch:
        """Return the branch within this one where a condition has this outcome."""
        key = (condition.index, holds)
        if key not in self.children:
            self.children[key] = Branch(self, condition, holds)
        return self.children[key]

    @property
    def opposite(self) -> Branch | None:
        """Return the branch of the opposite outcome, if it exists."""
        if self.parent is None or self.condition is None:
            return None
        return self.parent.children.get((self.condition.index, not self.holds))

    def is_within(self, other: Branch) -> bool:
        """Return whether this branch equals or lies inside the other."""
        branch: Branch | None = self
        while branch is not None and branch.depth > other.depth:
            branch = branch.parent
        return branch is other or not other.depth

    def enclosing(self) -> list[Branch]:
        """Return the branches from the outermost to this one, but not the whole program."""
        branches: list[Branch] = []
        branch = self
        while branch.parent is not None:
            branches.append(branch)
            branch = branch.parent
        return branches[::-1]


def all_of(m: Recorder, line: Iterable[Branch]) -> Step:
    """Return the condition that all these branches are taken."""
    result = m.number(True)
    for branch in line:
        assert branch.condition is not None
        result = m.step(
            "and_", result, branch.condition if branch.holds else m.step("not_", branch.condition)
        )
    return result


# A contribution to an adjoint: the branch where it exists, and its value.
Part = tuple[Branch, Step]


class Recording(Record):
    """A recording of a graph: steps of one recorder."""

    recorder: Recorder
    values: Sequence[Step]
    partials: Sequence[Step] = ()
    """The derivatives of each output in turn, by its wanted variables."""
    adjoints: Sequence[Step] = ()
    """Adjoints that exist at every point, whether or not a result needs them."""
    watched: Sequence[Step] = ()
    """Steps that must be finite: all values, and these adjoints."""
    graph: Graph = Graph()
    place: Mapping[int, Step] = MappingProxyType({})
    edges: Collection[Step] = ()
    """Comparisons at whose tie a variable counts that counts on neither side."""
    active: Set[int] = frozenset()

    @property
    def results(self) -> tuple[Step, ...]:
        """Return the values, then the derivatives."""
        return (*self.values, *self.partials)


# Indices of leaves in a graph; None for one that it lacks.
Leaves = Sequence[int | None]


def record_values(
    graph: Graph,
    inputs: Leaves,
    recorder: Recorder | None = None,
    roots: Sequence[int] | None = None,
) -> Recording:
    """Return the recording of a graph's outputs, or of `roots`, with these `inputs`."""
    m, roots = recorder or Recorder(), graph.roots if roots is None else roots
    steps = [m.input(k) for k in range(len(inputs))]
    place = {i: step for i, step in zip(inputs, steps, strict=True) if i is not None}
    for i in in_order(graph.parents, roots):
        if i not in place:
            m.node, primitive = i, graph.primitives[i]
            if primitive is CONSTANT:
                place[i] = m.constant(graph, i)
            else:
                args = [place[p] for p in graph.parents[i]]
                place[i] = m.where(*args) if primitive is WHERE else m.step(primitive.name, *args)
    watched = list(dict.fromkeys((*steps, *place.values())))
    for step in watched:
        step.safe = True
    return Recording(m, [place[root] for root in roots], watched=watched, graph=graph, place=place)


def record_gradient(
    graph: Graph,
    inputs: Leaves,
    wanted: Leaves,
    recorder: Recorder | None = None,
    *,
    lower: bool = False,
    scaled: bool = False,
) -> Recording:
    """Return the recording of outputs with partial derivatives; with `lower`, a lower triangle.

    Then the first of the outputs has all partial derivatives, and output k > 0 those by the first k
    wanted variables. It repeats the sweeps, in their order, for every point at once. An input that
    does not count (an untaken branch, the loser of a `max`) is reached only under a condition. With
    `scaled` the products through a divisor are in an order that does not underflow where the
    derivative does not.
    """
    m = recorder or Recorder()
    values, partials, adjoints = list[Step](), list[Step](), list[Step]()
    watched, edges = dict[Step, None](), dict[Step, None]()
    place, active = dict[int, Step](), set[int]()
    for k, root in enumerate(graph.roots):
        part = record_values(graph, inputs, m, (root,))
        asked = wanted[:k] if lower and k else wanted
        reverse = _Reverse(part, root, {i for i in asked if i is not None}, scaled)
        slopes, totals = reverse.sweep(root, asked)
        values += part.values
        partials += slopes
        adjoints += totals
        watched |= dict.fromkeys((*part.watched, *totals))
        place |= part.place
        edges |= reverse.edges()
        active |= reverse.active
    return Recording(m, values, partials, adjoints, [*watched], graph, place, [*edges], active)


def column_names(count: int, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the column names of outputs: values, then derivatives."""
    marks = [str(k) for k in range(1, count + 1)] if count > 1 else [""]
    return (
        *[f"value{mark}" for mark in marks],
        *[f"d{mark}_{name}" for mark in marks for name in wanted],
    )


def fill(m: Recorder, partial: Step) -> Step:
    """Return a local derivative with 0 for its structural zeros."""
    if partial.name == "where":
        condition, x, y = partial.args
        return m.where(condition, fill(m, x), fill(m, y))
    return m.zero if partial is m.nothing else partial


class _Reverse:
    def __init__(
        self, recording: Recording, root: int, wanted: set[int], scaled: bool = False
    ) -> None:
        self.scaled = scaled
        # Local derivatives and adjoints as numerator and denominator, if `scaled`.
        self.quotients: dict[Step, tuple[Step, Step]] = {}
        self.m, self.graph, self.place = recording.recorder, recording.graph, recording.place
        primitives, parents = self.graph.primitives, self.graph.parents
        order = in_order(parents, (root,))
        evaluated = {i: parents[i][:1] if primitives[i].lazy_inputs else parents[i] for i in order}
        self.always = {*in_order(evaluated, (root,))}
        self.order = [i for i in order if not primitives[i].gives_condition]
        self.root = Branch()
        self.active = wanted.intersection(order)
        # The active inputs of each active node, with the local derivatives.
        self.partials: dict[int, list[tuple[int, Step]]] = {}
        # Nodes with finite derivatives behind them: 0 may replace structural zeros.
        self.plain = {*self.active}
        for i in self.order:
            towards = [p for p in parents[i] if p in self.active]
            if not towards:
                continue
            self.active.add(i)
            self.m.node = i
            self.partials[i] = partials = self.local_partials(i)
            if (
                i in self.always
                and all(partial.safe for _, partial in partials)
                and self.plain.issuperset(towards)
            ):
                self.plain.add(i)

    def local_partials(self, i: int) -> list[tuple[int, Step]]:
        m, primitive, inputs = self.m, self.graph.primitives[i], self.graph.parents[i]
        steps = [self.place[p] for p in inputs]
        if primitive.product and any(
            is_number(step, 0) and self.graph.is_literal(p)
            for p, step in zip(inputs, steps, strict=True)
        ):
            return []
        partials = primitive.slopes(m, steps, self.place[i], [p in self.active for p in inputs])
        if self.scaled and len(steps) == 2:
            self.note_quotient(i, steps, partials)
        return [(p, m.number(d)) for p, d in zip(inputs, partials, strict=True) if d is not None]

    def note_quotient(self, i: int, steps: Sequence[Step], partials: Sequence[Any]) -> None:
        """Keep the derivatives `-out/y` by a divisor, and `n*out/x` of a negative power, as
        quotients.
        """
        m, out, (x, y) = self.m, self.place[i], steps
        if self.graph.primitives[i] is DIV and partials[1] is not None:
            self.quotients[m.number(partials[1])] = m.step("neg", out), y
        if (
            self.graph.primitives[i] is POW
            and partials[0] is not None
            and y.name == "number"
            and y.data < 0
        ):
            self.quotients[m.number(partials[0])] = m.step("mul", y, out), x

    def edges(self) -> dict[Step, None]:
        primitives, parents = self.graph.primitives, self.graph.parents
        edges: dict[Step, None] = {}
        seen: set[int] = set()
        for choice in self.order:
            if primitives[choice] is not WHERE or self.active.issuperset(parents[choice][1:]):
                continue
            stack = [parents[choice][0]]
            while stack:
                condition = stack.pop()
                if condition in seen or not primitives[condition].gives_condition:
                    continue
                seen.add(condition)
                if not primitives[condition].takes_conditions and not self.active.isdisjoint(
                    parents[condition]
                ):
                    edges[self.place[condition]] = None
                stack += parents[condition]
        return edges

    def sweep(self, root: int, wanted: Leaves) -> tuple[list[Step], list[Step]]:
        totals: list[Step] = []
        adjoints: dict[int | None, list[Part]] = (
            {root: [(self.root, self.m.one)]} if root in self.active else {}
        )
        for i in reversed(self.order):
            if self.graph.primitives[i] is VARIABLE or i not in adjoints:
                continue
            when, adjoint = self.total(adjoints.pop(i), i in self.plain)
            if when is self.root:
                totals.append(adjoint)
                adjoint.safe = True
            for p, partial in self.partials[i]:
                part = self.add_part(partial, when)
                if part is None:
                    continue
                if adjoint.safe and p in self.plain and i in self.always:
                    part = when, fill(self.m, partial)
                scaled = adjoint in self.quotients and self.keeps_digits(i, part[1])
                product = (self.scaled_product if scaled else self.multiply)(adjoint, part[1])
                adjoints.setdefault(p, []).append((part[0], product))
        results = [
            self.total(adjoints[leaf], True)[1] if leaf in adjoints else self.m.zero
            for leaf in wanted
        ]
        return results, totals

    def add_part(self, partial: Step, when: Branch) -> Part | None:
        if partial is self.m.nothing:
            return None
        if partial.name != "where":
            return when, partial
        condition, x, y = partial.args
        then, otherwise = (
            self.add_part(x, when.inside(condition, True)),
            self.add_part(y, when.inside(condition, False)),
        )
        if then is None or otherwise is None:
            return then or otherwise
        return self.union(then[0], otherwise[0]), self.m.where(condition, then[1], otherwise[1])

    def keeps_digits(self, i: int, partial: Step) -> bool:
        """Return whether a derivative of a node, over its value, underflows only where the node
        does.
        """
        primitive, out = self.graph.primitives[i], self.place[i]
        grows = partial is out or (partial.name == "mul" and out in partial.args)
        return not is_number(partial, 1) and (grows or primitive.values.startswith("[1"))

    def scaled_product(self, adjoint: Step, factor: Step) -> Step:
        """Return `-out*(exp(x)/exp(x))` for 1/exp(x), where `-out/exp(x)` may underflow."""
        m, (numerator, denominator) = self.m, self.quotients[adjoint]
        ratio = m.one if factor is denominator else m.step("div", factor, denominator)
        if factor.name == "mul" and denominator in factor.args:
            first, second = factor.args
            ratio = second if first is denominator else first
        return m.step("mul", numerator, ratio)

    def multiply(self, adjoint: Step, factor: Step) -> Step:
        m = self.m
        if factor.name == "where" and any(branch.name == "number" for branch in factor.args[1:]):
            condition, x, y = factor.args
            return m.where(condition, self.multiply(adjoint, x), self.multiply(adjoint, y))
        for zero, other in ((adjoint, factor), (factor, adjoint)):
            if zero.name == "number" and zero.data == 0 and other.safe:
                return m.zero
        product = m.step("mul", adjoint, factor)
        if factor in self.quotients:
            numerator, denominator = self.quotients[factor]
            self.quotients[product] = m.step("mul", adjoint, numerator), denominator
        return product

    def total(self, parts: Sequence[Part], plain: bool) -> Part:
        sums: dict[Branch, Step] = {}
        for branch, value in parts:
            sums[branch] = self.m.step("add", sums[branch], value) if branch in sums else value
        if len(sums) == 1 and not (plain and self.root not in sums):
            return next(iter(sums.items()))
        self.merge_branches(sums, plain)
        when, total = next(iter(sums.items()))
        for branch, value in list(sums.items())[1:]:
            around = self.union(when, branch)
            shared = (
                around if when.is_within(around) and branch.is_within(around) else around.parent
            )
            assert shared is not None
            total = self.m.step(
                "add", self.guard(total, when, shared), self.guard(value, branch, shared)
            )
            when = around
        return when, total

    def merge_branches(self, sums: dict[Branch, Step], plain: bool) -> None:
        """Put sums in both branches of a condition, or if `plain` in one, into the branch around
        it.
        """
        # innermost first: the sum around may have an opposite too
        number = count()  # branches themselves have no order
        waiting = [(-b.depth, b.serial, next(number), b) for b in sums]
        heapify(waiting)
        while waiting:
            *_, branch = heappop(waiting)
            if branch not in sums or branch.parent is None or branch.condition is None:
                continue
            other = branch.opposite
            if not plain and other not in sums:
                continue
            values = sums.pop(branch), sums.pop(other, self.m.zero) if other else self.m.zero
            chosen = self.m.where(branch.condition, *(values if branch.holds else values[::-1]))
            outer = branch.parent
            sums[outer] = self.m.step("add", sums[outer], chosen) if outer in sums else chosen
            heappush(waiting, (-outer.depth, outer.serial, next(number), outer))

    def guard(self, value: Step, branch: Branch, around: Branch) -> Step:
        while branch is not around:
            assert branch.condition is not None and branch.parent is not None
            value = self.m.where(branch.condition, *((value, 0) if branch.holds else (0, value)))
            branch = branch.parent
        return value

    def union(self, one: Branch, other: Branch) -> Branch:
        """Return the branch that is the union of two."""
        line, other_line = one.enclosing(), other.enclosing()
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
                # `or` evaluates the second only if the first does not hold.
                del other_line[0]
        return shared.inside(
            self.m.step("or_", all_of(self.m, line), all_of(self.m, other_line)), True
        )


# ---- the order and the conditions of steps
# A step needed in more branches than this is computed ahead of them all.
MANY_PLACES = 4

LAZY = frozenset(p.name for p in OPERATIONS.values() if p.lazy_inputs)


class Task(NamedTuple):
    """One task: compute a step, or take its value from a branch."""

    step: Step
    branch: Branch
    source: Step | None = None
    """For a conditional: the step that its value is taken from."""


class Schedule(NamedTuple):
    """The tasks in order; by branch, the numbers to be finite, and comparisons without ties."""

    tasks: list[Task]
    checks: list[Task]


def branches(step: Step) -> tuple[Step, Step, Step]:
    """Return the condition and the two branches of a lazy step."""
    if step.name == "where":
        return step.args  # type: ignore[return-value]
    p, q = step.args
    return (p, q, step.m.number(False)) if step.name == "and_" else (p, step.m.number(True), q)


def schedule(recording: Recording, silent: Collection[str] = ()) -> Schedule:
    """Return the steps that results need, each after its inputs, inside its branches.

    `silent` operations, which give an infinite result instead of an error, are checked, if any.
    """
    results = recording.results
    roots: Sequence[Step] = results
    checked: list[Step] = []
    if silent:
        roots, checked = _roots_and_checks(recording, results, silent)
    live = live_steps(roots)
    planner = _Planner(live, roots) if any(step.name in LAZY for step in live) else None
    places = planner.places if planner else dict.fromkeys(live, frozenset((Branch(),)))
    observed = _observe(results, live, places)
    checks = [Task(s, path) for s in checked if s not in observed for path in places[s]]
    tasks = (
        planner.order()
        if planner
        else [Task(step, branch) for step in live if step.args for branch in places[step]]
    )
    return Schedule(tasks, checks)


def _roots_and_checks(
    recording: Recording, results: Sequence[Step], silent: Collection[str]
) -> tuple[Sequence[Step], list[Step]]:
    """Return the steps to be computed with all that they need, and those that are checked."""
    roots = (*results, *recording.adjoints)
    there = set(live_steps(roots))
    # Comparisons with equal branches are used nowhere: they may be computed anywhere.
    edges = [step for step in recording.edges if step.args]
    roots = (*roots, *[step for step in edges if step not in there])
    there.update(live_steps(roots))
    watched = [step for step in recording.watched if step.name in silent and step in there]
    return roots, [*watched, *edges]


def live_steps(roots: Iterable[Step]) -> list[Step]:
    """Return all steps that the roots depend on, in order of recording."""
    live: set[Step] = set()
    stack = list(roots)
    while stack:
        step = stack.pop()
        if step not in live:
            live.add(step)
            stack += step.args
    return sorted(live, key=attrgetter("index"))


def _observe(
    roots: Iterable[Step], live: Sequence[Step], places: dict[Step, frozenset[Branch]]
) -> set[Step]:
    seen = set(roots)
    for step in reversed(live):
        if step not in seen or not step.args:
            continue
        row = OPERATIONS[step.name]
        showing = (
            step.args if row.propagates_infinity else step.args[:1] if shows_first(step) else ()
        )
        seen.update(a for a in showing if places.get(a) == places.get(step))
    return seen


def shows_first(step: Step) -> bool:
    """Return whether an infinite first input makes the result infinite or undefined."""
    shows = OPERATIONS[step.name].propagates_first
    return shows is not None and shows(step.args[1].data if step.args[1].name == "number" else None)


# By step and branch, the numbers of the tasks that compute it there.
_Providers = dict[tuple[Step, Branch | None], Sequence[int]]


class _Planner:
    def __init__(self, live: Sequence[Step], roots: Iterable[Step]) -> None:
        self.live = [step for step in live if step.args]
        self.root = Branch()
        everywhere = frozenset((self.root,))
        needs: dict[Step, set[Branch]] = {step: {self.root} for step in roots}
        self.places: dict[Step, frozenset[Branch]] = {}
        for step in reversed(self.live):
            need = needs.pop(step)
            places = everywhere if self.root in need else self.merge(need)
            self.places[step] = places
            for a, inside in self.inputs_with_places(step, places):
                needs.setdefault(a, set()).update(inside)

    @staticmethod
    def inputs_with_places(
        step: Step, places: frozenset[Branch]
    ) -> Iterator[tuple[Step, Iterable[Branch]]]:
        """Yield the steps that a step reads, and the branches that it reads them in."""
        if step.name not in LAZY:
            yield from ((a, places) for a in step.args if a.args)
            return
        condition, x, y = branches(step)
        yield condition, places
        for branch, holds in ((x, True), (y, False)):
            # comparisons of leaves are computed ahead of their branch
            if (
                branch.args
                and OPERATIONS[branch.name].holds
                and not any(a.args for a in branch.args)
            ):
                yield branch, places
            elif branch.args:
                yield branch, [p.inside(condition, holds) for p in places]

    def merge(self, need: set[Branch]) -> frozenset[Branch]:
        need = set(need)
        for innermost in sorted(need, key=lambda p: -p.depth):
            path = innermost
            while path in need and path.parent is not None and path.opposite in need:
                need -= {path, path.opposite}
                path = path.parent
                need.add(path)
        if self.root in need:
            return frozenset((self.root,))
        kept = (
            need
            if len(need) == 1
            else {p for p in need if not any(a in need for a in p.enclosing()[:-1])}
        )
        while len(kept) > MANY_PLACES:
            deepest = max(p.depth for p in kept)
            kept = {p.parent if p.depth == deepest and p.parent else p for p in kept}
        return frozenset(kept)

    def cover(self, step: Step, path: Branch) -> Branch | None:
        return next((place for place in self.places[step] if path.is_within(place)), None)

    def order(self) -> list[Task]:
        tasks, providers = self.tasks()
        sorter = self.dependencies(tasks, providers)
        return [tasks[k] for k in self.branch_by_branch(sorter, tasks)]

    def tasks(self) -> tuple[list[Task], _Providers]:
        """Return all tasks, and the numbers of those that compute a step in a branch."""
        tasks: list[Task] = []
        providers: _Providers = {}
        for step in self.live:
            # branches within different parents may have equal serials
            for path in sorted(
                self.places[step], key=lambda p: (p.serial, [b.serial for b in p.enclosing()])
            ):
                first = len(tasks)
                condition, *chosen = branches(step) if step.name in LAZY else (step,)
                if any(b.args and self.cover(b, path) is None for b in chosen):
                    tasks += [
                        Task(step, path.inside(condition, k == 0), b) for k, b in enumerate(chosen)
                    ]
                else:
                    tasks.append(Task(step, path))
                providers[step, path] = range(first, len(tasks))
        return tasks, providers

    def dependencies(
        self, tasks: Sequence[Task], providers: _Providers
    ) -> TopologicalSorter[int | Branch]:
        """Return what waits for what: a task for what it reads and for its branch, that for its
        condition.
        """
        sorter: TopologicalSorter[int | Branch] = TopologicalSorter()
        entered: set[Branch] = set()
        for k, (step, path, source) in enumerate(tasks):
            line = path.enclosing()
            for s in dict.fromkeys([source] if source is not None else step.args):
                if s.args:
                    sorter.add(k, *providers[s, self.cover(s, path)])
            sorter.add(k, *line[-1:])
            for outer, branch in zip([self.root, *line], line, strict=False):
                if branch not in entered and branch.condition is not None:
                    entered.add(branch)
                    sorter.add(
                        branch, *providers[branch.condition, self.cover(branch.condition, outer)]
                    )
                    sorter.add(branch, *line[: outer.depth][-1:])
        return sorter

    def branch_by_branch(
        self, sorter: TopologicalSorter[int | Branch], tasks: Sequence[Task]
    ) -> Iterator[int]:
        """Yield the numbers of tasks in an order that stays in a branch, or goes into one, as long
        as it can.
        """
        sorter.prepare()
        ready: dict[Branch, list[int]] = {}
        outermost: list[tuple[int, tuple[int, bool], int, Branch]] = []
        path = self.root
        while sorter.is_active():
            while following := sorter.get_ready():
                for item in following:
                    if isinstance(item, Branch):
                        sorter.done(item)
                        continue
                    branch = tasks[item].branch
                    if not ready.get(branch):
                        ready[branch] = []
                        heappush(outermost, (branch.depth, branch.serial, item, branch))
                    heappush(ready[branch], item)
            if not ready.get(path):
                path = next(
                    (p for p in path.children.values() if path.depth and ready.get(p)), self.root
                )
            while not ready.get(path):
                path = heappop(outermost)[3]
            done = heappop(ready[path])
            yield done
            sorter.done(done)
