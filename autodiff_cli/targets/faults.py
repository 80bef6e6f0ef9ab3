"""Faults: how exported code says that it has no answer, where its language raises no error.

A step that has no value, or one too large, is not a finite number. Arithmetic hands that on, but a comparison does not,
nor a division by infinity, nor the branch that is not taken. So to the results is added x - x for every operand x that
may hide such a number: 0, or not a number; under the conditions under which the program needs that operand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..graph.adjoint import Recording
from ..graph.schedule import LAZY, branches, live_steps
from ..numbers.recorder import CONDITIONS, Step, always_defined
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

    def __init__(self, live: Sequence[Step], watched: frozenset[Step], silent: Silent) -> None:
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
        count = 0
        for step in live:
            own = 0
            sharp = is_undefined(step) or (_may_be_undefined(step) and silent(step, False))
            if sharp or (step in watched and _may_be_infinite(step) and silent(step, True)):
                own = 1 << (count if count < MOST else MOST + sharp)
                count += 1
                self.sharp |= own if sharp else 0
                self.plain |= own if count <= MOST and (is_undefined(step) or not _may_be_infinite(step)) else 0
            self._enter(step, own)

    def _enter(self, step: Step, own: int) -> None:
        below, shown, hidden = own, own & ((1 << MOST) - 1), 0
        if step.name == "where":
            condition, x, y = step.args
            below |= self.below[condition] | self.below[x] | self.below[y]
            hidden = self.below[condition] | self.hidden[x] | self.hidden[y]
            shown |= self.shown[x] & self.shown[y]
        else:
            for k, a in enumerate(step.args):
                reach = self.concealed(step, k)
                kept = self.hidden[a] | (self.below[a] & reach)
                # Behind a limit that is right, such as tanh's, nobody needs to know that a number was too large.
                below |= kept | (self.below[a] & (self.sharp if _has_limit(step) else -1))
                hidden |= kept
                shown |= self.shown[a] & ~reach if step.name not in LAZY or k == 0 else 0
        self.below[step], self.shown[step], self.hidden[step] = below, shown, hidden & ~shown

    def concealed(self, step: Step, k: int) -> int:
        """Of the failures that may reach an input of a step, those that its result may not show."""
        row = OPERATIONS[step.name]
        if step.name in CONDITIONS or (row.may_kink and not row.shows):
            return -1
        if row.shows or step.name == "item":
            return 0
        exponent = step.args[1] if step.name == "pow" else None
        if step.name == "div":
            return ~self.plain if k else 0
        if exponent is not None:
            return -1 if exponent.name != "number" else 0 if exponent.data > 0 else ~self.plain
        return self.sharp & ~self.plain if row.total else ~self.plain


def _has_limit(step: Step) -> bool:
    row = OPERATIONS[step.name]
    return row.total and not (row.shows or row.may_kink or row.gives_condition or step.name == "item")


def _may_be_undefined(step: Step) -> bool:
    return bool(step.args) and not always_defined(step.name, step.args)


def _may_be_infinite(step: Step) -> bool:
    return bool(step.args) and OPERATIONS[step.name].infinite


def showing(recording: Recording, silent: Silent, labels: dict[Step, str] | None = None) -> Recording:
    """The recording with results that are not finite wherever one of its steps, on the way to the value, has failed.

    Too large a number may stay infinite, or be taken to the limit where an operation such as `tanh` has one. `labels`
    get a note for the step that is added.
    """
    m = recording.recorder
    results = (*recording.values, *recording.partials)
    live = live_steps(results)
    sources = _Sources(live, frozenset(recording.watched), silent)
    needed = 0
    for result in results:
        needed |= sources.hidden[result]
    faults = _faults(live, sources, needed) if needed else {}

    def shown(result: Step, fault: Step) -> Step:
        if labels is not None and fault.name == "sub":
            labels[fault] = NOTE
        return m.step("add", result, fault)

    values = tuple([shown(v, faults[v]) if v in faults else v for v in recording.values])
    undefined = 0
    for value in recording.values:
        undefined |= sources.below[value] & sources.sharp
    partials = []
    for partial in recording.partials:
        of_values = [faults[v] for v in recording.values if v in faults]
        parts = [faults[partial]] if partial in faults and faults[partial] not in of_values else []
        if undefined & ~sources.shown[partial]:
            of_values = [m.step("sub", v, v) for v in values]
        result = partial
        for fault in (*parts, *of_values):
            result = shown(result, fault)
        partials.append(result)
    return replace(recording, values=values, partials=tuple(partials))


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
        if step.name in LAZY:
            condition, x, y = branches(step)
            then, otherwise = found.get(x), found.get(y)
            chosen = None
            if then is not None or otherwise is not None:
                chosen = m.where(condition, then or m.zero, otherwise or m.zero)
            total = added((found.get(condition), chosen))
        else:
            parts: list[Step | None] = []
            for k, a in enumerate(step.args):
                parts.append(found.get(a))
                if sources.below[a] & ~sources.hidden[a] & sources.concealed(step, k) & needed:
                    parts.append(m.step("sub", a, a))
            total = added(parts)
        if total is not None:
            found[step] = total
    return found
