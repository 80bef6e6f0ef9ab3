"""Schedule: the order and the conditions of the steps of a recording."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from graphlib import TopologicalSorter
from heapq import heappop, heappush
from operator import attrgetter
from typing import NamedTuple

from ..numbers.recorder import Step
from ..table.primitive import OPERATIONS
from .adjoint import Branch, Recording

MANY_PLACES = 4
"""A step needed in more branches than this is computed ahead of them all."""

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

    `silent` operations, which give an infinite result instead of an error, are checked; without any, nothing is.
    """
    results = recording.results
    roots = (*results, *recording.adjoints) if silent else results
    there = set(live_steps(roots))
    # Comparisons with equal branches are used nowhere: they may be computed anywhere.
    edges = [step for step in recording.edges if step.args] if silent else []
    roots = (*roots, *[step for step in edges if step not in there])
    live = live_steps(roots)
    there.update(live)
    watched = [step for step in recording.watched if step.name in silent and step in there]
    planner = _Planner(live, roots) if any(step.name in LAZY for step in live) else None
    places = planner.places if planner else dict.fromkeys(live, frozenset((Branch(),)))
    observed = _observed(results, live, places)
    checks = [Task(s, path) for s in (*watched, *edges) if s not in observed for path in places[s]]
    tasks = (
        planner.order() if planner else [Task(step, branch) for step in live if step.args for branch in places[step]]
    )
    return Schedule(tasks, checks)


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


def _observed(roots: Iterable[Step], live: Sequence[Step], places: dict[Step, frozenset[Branch]]) -> set[Step]:
    seen = set(roots)
    for step in reversed(live):
        if step not in seen or not step.args:
            continue
        row = OPERATIONS[step.name]
        showing = step.args if row.propagates_infinity else step.args[:1] if shows_first(step) else ()
        seen.update(a for a in showing if places.get(a) == places.get(step))
    return seen


def shows_first(step: Step) -> bool:
    """Return whether an infinite first input makes the result infinite or undefined."""
    shows = OPERATIONS[step.name].propagates_first
    return shows is not None and shows(step.args[1].data if step.args[1].name == "number" else None)


class _Planner:
    def __init__(self, live: Sequence[Step], roots: Iterable[Step]) -> None:
        self.live = [step for step in live if step.args]
        self.root = Branch()
        everywhere = frozenset((self.root,))
        needs: dict[Step, set[Branch]] = {step: {self.root} for step in roots}
        self.places: dict[Step, frozenset[Branch]] = {}
        for step in reversed(self.live):
            need = needs.pop(step)
            places = everywhere if self.root in need else self.merged(need)
            self.places[step] = places
            if step.name not in LAZY:
                for a in step.args:
                    if a.args:
                        needs.setdefault(a, set()).update(places)
                continue
            condition, x, y = branches(step)
            needs.setdefault(condition, set()).update(places)
            for branch, holds in ((x, True), (y, False)):
                # comparisons of leaves are computed ahead of their branch
                if branch.args and OPERATIONS[branch.name].holds and not any(a.args for a in branch.args):
                    needs.setdefault(branch, set()).update(places)
                elif branch.args:
                    needs.setdefault(branch, set()).update(p.inside(condition, holds) for p in places)

    def merged(self, need: set[Branch]) -> frozenset[Branch]:
        need = set(need)
        for innermost in sorted(need, key=lambda p: -p.depth):
            path = innermost
            while path in need and path.parent is not None and path.other in need:
                need -= {path, path.other}
                path = path.parent
                need.add(path)
        if self.root in need:
            return frozenset((self.root,))
        kept = need if len(need) == 1 else {p for p in need if not any(a in need for a in p.line()[:-1])}
        while len(kept) > MANY_PLACES:
            deepest = max(p.depth for p in kept)
            kept = {p.parent if p.depth == deepest and p.parent else p for p in kept}
        return frozenset(kept)

    def covering(self, step: Step, path: Branch) -> Branch | None:
        return next((place for place in self.places[step] if path.within(place)), None)

    def order(self) -> list[Task]:
        tasks: list[Task] = []
        providers: dict[tuple[Step, Branch | None], Sequence[int]] = {}
        for step in self.live:
            # branches within different parents may have equal serials
            for path in sorted(self.places[step], key=lambda p: (p.serial, [b.serial for b in p.line()])):
                first = len(tasks)
                condition, *chosen = branches(step) if step.name in LAZY else (step,)
                if any(b.args and self.covering(b, path) is None for b in chosen):
                    tasks += [Task(step, path.inside(condition, k == 0), b) for k, b in enumerate(chosen)]
                else:
                    tasks.append(Task(step, path))
                providers[step, path] = range(first, len(tasks))
        # a task waits for what it reads, and for its branch; that waits for its condition
        sorter: TopologicalSorter[int | Branch] = TopologicalSorter()
        entered: set[Branch] = set()
        for k, (step, path, source) in enumerate(tasks):
            line = path.line()
            for s in dict.fromkeys([source] if source is not None else step.args):
                if s.args:
                    sorter.add(k, *providers[s, self.covering(s, path)])
            sorter.add(k, *line[-1:])
            for outer, branch in zip([self.root, *line], line, strict=False):
                if branch not in entered and branch.condition is not None:
                    entered.add(branch)
                    sorter.add(branch, *providers[branch.condition, self.covering(branch.condition, outer)])
                    sorter.add(branch, *line[: outer.depth][-1:])
        sorter.prepare()
        ready: dict[Branch, list[int]] = {}
        outermost: list[tuple[int, tuple[int, bool], int, Branch]] = []
        result: list[Task] = []
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
                path = next((p for p in path.children.values() if path.depth and ready.get(p)), self.root)
            while not ready.get(path):
                path = heappop(outermost)[3]
            done = heappop(ready[path])
            result.append(tasks[done])
            sorter.done(done)
        return result
