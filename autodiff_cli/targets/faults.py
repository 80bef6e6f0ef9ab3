"""Faults: how exported code says that it has no answer, where its language raises no error.

A step that has no value, or one too large, is not a finite number. Arithmetic hands that on, but a comparison does not,
nor a division by infinity, nor the branch that is not taken. So to the results is added x - x for every operand x that
may hide such a number: 0, or not a number; under the conditions under which the program needs that operand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..graphs.adjoint import Recording
from ..graphs.schedule import LAZY, branches, live_steps, shows_first
from ..numbers.recorder import CONDITIONS, Step, always_defined
from ..table.operators import COMPARISONS
from ..table.primitive import OPERATIONS

NOTE = "0, or not a number where something has no value"
"""What is said of the step that shows the faults."""

MOST = 1_000
"""Steps that are told apart; of more of them it is not known which results show that they failed."""

Silent = Callable[[Step, bool], bool]
"""Whether a target raises no error where a step has no value (or, if true is given, where that is too large)."""


def is_undefined(step: Step) -> bool:
    """Whether a step is the constant that is not a number."""
    return step.name == "number" and step.data != step.data


class _Sources:
    """Which steps may fail, as sets of bits; what of them a step's value shows, and what it hides."""

    def __init__(self, recording: Recording, live: Sequence[Step], silent: Silent, limits: bool) -> None:
        large = {step for step in recording.watched if _may_be_infinite(step)}
        # Also a step that stands for an operation which the target lacks.
        large |= {step for node, step in recording.place.items() if node.primitive.infinite}
        self.operands = operands(recording)
        self.limits = limits
        self.sharp = 0
        """Steps that fail where they are undefined, not only where they are too large."""
        self.plain = 0
        """Steps that are not a number where they fail: never infinite."""
        self.below: dict[Step, int] = {}
        """What may fail in the evaluation of a step."""
        self.shown: dict[Step, int] = {}
        """Of these the steps whose failure makes this one fail, wherever it is evaluated."""
        self.hidden: dict[Step, int] = {}
        """Of these the steps that may fail although this one has a value."""
        self.domains: dict[Step, list[tuple[int, str, float]]] = {}
        """For an input of steps that are defined on one side of a number, or but there: the step, and that domain."""
        count = 0
        for step in live:
            own = 0
            sharp = is_undefined(step) or (_may_be_undefined(step) and silent(step, False))
            if sharp or (step.args and step in large and silent(step, True)):
                own = 1 << (count if count < MOST else MOST + sharp)
                count += 1
                self.sharp |= own if sharp else 0
                self.plain |= (
                    own
                    if count <= MOST and (is_undefined(step) or (step not in large and not _may_be_infinite(step)))
                    else 0
                )
            domain = _domain(step) if sharp and step.args and count <= MOST else None
            if domain:
                self.domains.setdefault(step.args[domain[0]], []).append((own, *domain[1:]))
            self._enter(step, own)

    def _enter(self, step: Step, own: int) -> None:
        below, shown, hidden = own, own & ((1 << MOST) - 1), 0
        if step.name == "where":
            condition, x, y = step.args
            below |= self.below[condition]
            hidden = self.below[condition]
            for branch, holds in ((x, True), (y, False)):
                safe = self.guarded(condition, holds)
                below |= self.below[branch] & ~safe
                hidden |= self.hidden[branch] & ~safe
            shown |= self.shown[x] & self.shown[y]
        else:
            for k, a in enumerate(step.args):
                reach = self.concealed(step, k)
                kept = self.hidden[a] | (self.below[a] & reach)
                # Behind a limit that is right, such as tanh's, nobody needs to know that a number was too large.
                below |= kept | (self.below[a] & (self.sharp if self.limits and _has_limit(step) else -1))
                hidden |= kept
                shown |= self.shown[a] & ~reach if step.name not in LAZY or k == 0 else 0
        for a in self.operands.get(step, ()):
            below |= self.below.get(a, 0)
            hidden |= self.below.get(a, 0)
        self.below[step], self.shown[step], self.hidden[step] = below, shown, hidden & ~shown

    def guarded(self, condition: Step, holds: bool) -> int:
        """The steps that are certainly defined where a condition holds, or where it does not."""
        if condition.name == ("and_" if holds else "or_"):
            return self.guarded(condition.args[0], holds) | self.guarded(condition.args[1], holds)
        if condition.name == "not_":
            return self.guarded(condition.args[0], not holds)
        found = 0
        signs = OPERATIONS[condition.name].holds if condition.args else ""
        if signs and condition.args[1].name == "number":
            signs = signs if holds else "".join(sign for sign in "<=>" if sign not in signs)
            for own, relation, end in self.domains.get(condition.args[0], ()):
                if _implies(signs, float(condition.args[1]), relation, end):
                    found |= own
        return found

    def concealed(self, step: Step, k: int) -> int:
        """Of the failures that may reach an input of a step, those that its result may not show."""
        row = OPERATIONS[step.name]
        if step.name in CONDITIONS or (row.may_kink and not row.shows):
            return -1
        if row.shows or step.name == "item":
            return 0
        if k == 0 and shows_first(step):
            return 0
        if row.total_for is not None and step.args[-1].name != "number":
            return -1
        return self.sharp & ~self.plain if row.total and self.limits else ~self.plain


def _domain(step: Step) -> tuple[int, str, float] | None:
    """The domain of an operation where it is like `x > 0`: position, comparison and number."""
    bounds, whole, ordered = OPERATIONS[step.name].bounds
    if len(bounds) != 1 or ordered or not whole or bounds[0].end is None:
        return None
    return bounds[0].position, bounds[0].relation, float(bounds[0].end)


def _implies(signs: str, number: float, domain: str, end: float) -> bool:
    """Whether x that is in one of these relations to a number is inside a domain, for every x."""
    inside = COMPARISONS[domain].holds
    sides = {"<": "<" if number <= end else "<=>", "=": "<" if number < end else "=" if number == end else ">",
             ">": ">" if number >= end else "<=>"}  # fmt: skip
    return all(side in inside for sign in signs for side in sides[sign])


def operands(recording: Recording) -> dict[Step, list[Step]]:
    """What the program evaluates for a step although its formula leaves it out at some points: elu's `alpha`."""
    found: dict[Step, list[Step]] = {}
    for node, step in recording.place.items():
        if node._prev and node.primitive.demand is None:
            rest = [place for place in (recording.place[p] for p in node._prev) if place not in step.args]
            rest = [a for a in rest if a.args and a.index < step.index]
            if rest:
                found.setdefault(step, []).extend(rest)
    return found


def _has_limit(step: Step) -> bool:
    row = OPERATIONS[step.name]
    return row.total and not (row.shows or row.may_kink or row.gives_condition or step.name == "item")


def _may_be_undefined(step: Step) -> bool:
    return bool(step.args) and not always_defined(step.name, step.args)


def _may_be_infinite(step: Step) -> bool:
    return bool(step.args) and OPERATIONS[step.name].infinite


def showing(
    recording: Recording, silent: Silent, labels: dict[Step, str] | None = None, limits: bool = True
) -> Recording:
    """The recording with results that are not finite wherever one of its steps, on the way to the value, has failed.

    Too large a number may stay infinite, or if `limits` be taken to the limit where an operation such as `tanh` has
    one. `labels` get a note for the step that is added.
    """
    m = recording.recorder
    values, partials = recording.values, recording.partials
    live = live_steps((*values, *partials))
    sources = _Sources(recording, live, silent, limits)
    undefined, visible, needed = 0, 0, 0
    for value in values:
        undefined |= sources.below[value] & sources.sharp
        visible |= sources.shown[value]
        needed |= sources.hidden[value]
    # A derivative that would not show where the value is undefined takes that from the value.
    told = {partial: visible if undefined & ~sources.shown[partial] else 0 for partial in partials}
    unseen = {partial: sources.hidden[partial] & ~told[partial] for partial in partials}
    for missing in unseen.values():
        needed |= missing
    faults = _faults(live, sources, needed) if needed else {}

    def shown(result: Step, parts: Sequence[Step]) -> Step:
        for fault in dict.fromkeys(parts):
            if labels is not None and fault.name == "sub":
                labels[fault] = NOTE
            result = m.step("add", result, fault)
        return result

    of_values = [faults[value] for value in values if value in faults]
    new_values = tuple([shown(value, [faults[value]] if value in faults else []) for value in values])
    new_partials = []
    for partial in partials:
        parts = [faults[partial]] if unseen[partial] and partial in faults else []
        if undefined & ~sources.shown[partial]:
            parts = [part for part in parts if part not in of_values] + [m.step("sub", v, v) for v in new_values]
        else:
            parts += of_values
        new_partials.append(shown(partial, parts))
    return replace(recording, values=new_values, partials=tuple(new_partials))


def _faults(live: Sequence[Step], sources: _Sources, needed: int) -> dict[Step, Step]:
    """For each step that hides a failure: 0, or not a number where there is one."""
    found: dict[Step, Step] = {}

    def added(parts: Sequence[Step | None]) -> Step | None:
        total: Step | None = None
        for part in dict.fromkeys(parts):
            if part is not None and part is not total:
                total = part if total is None else total.m.step("add", total, part)
        return total

    for step in live:
        if not step.args or not sources.below[step] & needed:
            continue
        m = step.m
        parts: list[Step | None] = []
        if step.name in LAZY:
            condition, x, y = branches(step)
            then, otherwise = found.get(x), found.get(y)
            parts.append(found.get(condition))
            if then is not None or otherwise is not None:
                parts.append(m.where(condition, then or m.zero, otherwise or m.zero))
        else:
            for k, a in enumerate(step.args):
                parts.append(found.get(a))
                if sources.below[a] & ~sources.hidden[a] & sources.concealed(step, k) & needed:
                    parts.append(m.step("sub", a, a))
        for a in sources.operands.get(step, ()):
            parts.append(found.get(a))
            if sources.below.get(a, 0) & ~sources.hidden.get(a, 0) & ~sources.shown[step] & needed:
                parts.append(m.step("sub", a, a))
        total = added(parts)
        if total is not None:
            found[step] = total
    return found
