"""Lowering: a recorded program as its target can carry it out.

A recorder composes what the target's library lacks. Where its language raises no error, results
show a missing value.

A step fails where it has no value, or one too large. Most operations show that: their results are
not finite either. A comparison does not, nor a division by infinity, nor a branch that is not
taken: `max(log(x), y)` at x = -1. So x - x is added to the results for every operand x that may
hide a failure, where the program needs it.
"""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

from ..engine.graphs.adjoint import (
    LAZY,
    Recording,
    all_of,
    branches,
    live_steps,
    schedule,
    shows_first,
)
from ..engine.numbers.base import Number
from ..engine.numbers.double.formulas import COMPENSATED, Lacking, formula
from ..engine.numbers.recorder import CONDITIONS, Recorder, Step, always_defined
from ..engine.table.operators import COMPARISONS
from ..engine.table.primitive import OPERATIONS
from ..engine.table.primitives import library_names

BASIC = CONDITIONS | library_names("add sub mul div neg").keys()
# The most steps of a formula in place; for a longer one the target gets a function.
MAX_INLINE_STEPS = 2


# The largest whole exponent for which columns are multiplied.
MAX_FACTORS = 6


class Lowering(Recorder):
    """Records `native` operations of a target, and with `functions` those that can be added.

    `coarse` operations are native where no formula is better. For `columns`, small whole powers are
    products.
    """

    def __init__(
        self,
        native: Collection[str],
        functions: bool,
        coarse: Collection[str] = (),
        *,
        columns: bool = False,
    ) -> None:
        self.native = BASIC | set(native)
        self.functions, self.columns = functions, columns
        self.coarse = coarse
        super().__init__()

    def step(self, name: str, *args: Number) -> Step:
        steps = tuple([self.number(a) for a in args])
        simpler = self._folded(name, steps) or self._simpler(name, steps)
        if simpler is not None:
            return simpler
        if name not in CONDITIONS and any(map(is_undefined, steps)):
            return self.number(math.nan)
        finer = COMPENSATED[name](self, *steps) if name in self.coarse else None
        if finer is not None:
            return self.number(finer)
        operation = OPERATIONS[name]
        if name == "pow" and self.columns and (product := self._product(*steps)) is not None:
            return product
        if name in self.native and (not operation.variadic or len(steps) == 2):
            return self._new(name, steps, None)
        rule = formula(name)
        if rule is None:
            raise Lacking(name)
        fixed = operation.variadic or operation.constant_params
        if self.functions and not fixed and length(name, len(steps)) > MAX_INLINE_STEPS:
            # what it rests on may be lacking
            compose_for(self.native, name, len(steps), self.coarse)
            return self._new(name, steps, None)
        return self.number(rule(self, *steps))

    def _product(self, x: Step, y: Step) -> Step | None:
        """Return a power as a few products, or by a root, which are more accurate than columns'
        `pow`.
        """
        size = abs(y.data) if y.name == "number" else 0.0
        if size == 0.5:
            power = self.step("sqrt", x)
        elif size in range(1, MAX_FACTORS + 1):
            power = x
            for bit in bin(int(size))[3:]:
                square = self.step("mul", power, power)
                power = self.step("mul", square, x) if bit == "1" else square
        else:
            return None
        return power if y.data > 0 else self.step("div", 1.0, power)

    def native_step(self, name: str, *args: Number) -> Step:
        """Return the step of an operation as the target has it."""
        return self._new(name, tuple([self.number(a) for a in args]), None)

    def where(self, condition: Any, then: Any, otherwise: Any) -> Step:
        """Return the choice of a branch; nan if the condition compares an undefined number."""
        step = condition
        if isinstance(step, Step):
            while (
                step.args
                and OPERATIONS[step.name].takes_conditions
                and OPERATIONS[step.name].gives_condition
            ):
                step = step.args[0]
            if any(map(is_undefined, step.args)):
                return self.number(math.nan)
        return super().where(condition, then, otherwise)

    def number(self, x: Number) -> Step:
        step = super().number(x)
        if is_undefined(step):
            step.safe = False
        return step

    def _folded(self, name: str, args: tuple[Step, ...]) -> Step | None:
        if any(map(is_undefined, args)):
            return None
        value = super()._folded(name, args)
        if value is None and args and all(a.name == "number" for a in args):
            return self.number(math.nan)
        return value

    def items(self, name: str, *args: Number) -> list[Step]:
        return [self.number(x) for x in formula(name)(self, *[self.number(a) for a in args])]


@lru_cache(256)
def length(name: str, count: int) -> int:
    """Return the steps of an operation's formula; vectors and other operations are one each."""
    m = Recorder()
    formula(name)(m, *[m.input(k) for k in range(count)])
    return sum(1 for step in m.steps if step.args)


def compose_for(
    native: Collection[str], name: str, count: int, coarse: Collection[str] = ()
) -> Recording:
    """Return the formula of an operation, for a function of the target."""
    m = Lowering(native, True, coarse)
    rule: Callable[..., Any] = formula(name)
    result = m.number(rule(m, *[m.input(k) for k in range(count)]))
    return Recording(m, [result])


# ---- faults; sets of steps are sets of bits
# The comment on the step that reports the faults.
NOTE = "0, or not a number where something has no value"

# The most steps with their own bit; others share one that no step is known to show.
MAX_OWN_BITS = 1_000

# The bit of further steps that may be too large; the next bit: may be undefined.
SHARED = MAX_OWN_BITS

# All bits.
ALL = -1

# Whether a target raises no error for a step without value (if true, for too large a one).
Silent = Callable[[Step, bool], bool]


def is_undefined(step: Step) -> bool:
    """Return whether a step is the constant nan."""
    return step.name == "number" and step.data != step.data


def _may_be_undefined(step: Step, silent: Silent) -> bool:
    """Return whether an operation has no value at some inputs, and the target does not say so."""
    return (
        bool(step.args) and not always_defined(step.name, step.args) and bool(silent(step, False))
    )


class _Failures:
    """The steps that may fail below each step, and what its value shows of that."""

    def __init__(
        self, recording: Recording, live: Sequence[Step], silent: Silent, limits: bool
    ) -> None:
        self.operands = operands(recording)
        self.limits = limits
        # Steps that are undefined somewhere, not only too large.
        self.undefined = 0
        # Steps that are not a number where they fail.
        self.never_infinite = 0
        # The faults that the evaluation of a step may have.
        self.possible: dict[Step, int] = {}
        # The steps among these whose failure always makes this step fail.
        self.exposed: dict[Step, int] = {}
        # The steps among these that may fail although this step has a value.
        self.masked: dict[Step, int] = {}
        # By input: the steps defined on one side of a number, or but there, with that domain.
        self.domains: dict[Step, list[tuple[int, str, int]]] = {}
        large = {*filter(_may_be_infinite, recording.watched)}
        # Also a step that stands for an operation which the target lacks.
        large |= {
            step for i, step in recording.place.items() if recording.graph.primitives[i].infinite
        }
        count = 0
        for step in live:
            undefined = is_undefined(step) or _may_be_undefined(step, silent)
            own = 0
            if undefined or (step.args and step in large and silent(step, True)):
                own = 1 << (count if count < MAX_OWN_BITS else SHARED + undefined)
                count += 1
            self.undefined |= own if undefined else 0
            may_be_infinite = step in large or _may_be_infinite(step)
            if count <= MAX_OWN_BITS and (is_undefined(step) or not may_be_infinite):
                self.never_infinite |= own
            if undefined and step.args and count <= MAX_OWN_BITS:
                self._add_domain(step, own)
            self._add(step, own)

    def _add_domain(self, step: Step, own: int) -> None:
        """Add the domain of a step that is defined on one side of a number of one input, or but
        there.
        """
        bounds, complete, ordered = OPERATIONS[step.name].bounds
        if len(bounds) != 1 or not complete or ordered:
            return
        position, relation, end = bounds[0]
        if end is not None:
            self.domains.setdefault(step.args[position], []).append((own, relation, end))

    def _add(self, step: Step, own: int) -> None:
        possible, exposed, masked = own, own & ((1 << SHARED) - 1), 0
        if step.name == "where":
            condition, x, y = step.args
            masked = self.possible[condition]
            possible |= masked
            for branch, holds in ((x, True), (y, False)):
                defined = self.defined_where(condition, holds)
                possible |= self.possible[branch] & ~defined
                masked |= self.masked[branch] & ~defined
            exposed |= self.exposed[x] & self.exposed[y]
        else:
            for k, a in enumerate(step.args):
                may_mask = self.may_mask(step, k)
                kept = self.masked[a] | (self.possible[a] & may_mask)
                # Behind a correct limit, such as tanh's, an overflow does not matter.
                limited = self.limits and _has_limit(step)
                possible |= kept | (self.possible[a] & (self.undefined if limited else ALL))
                masked |= kept
                if step.name not in LAZY or k == 0:
                    exposed |= self.exposed[a] & ~may_mask
        for a in self.operands.get(step, ()):
            possible |= self.possible.get(a, 0)
            masked |= self.possible.get(a, 0)
        self.possible[step], self.exposed[step], self.masked[step] = (
            possible,
            exposed,
            masked & ~exposed,
        )

    def defined_where(self, condition: Step, holds: bool) -> int:
        """Return the steps that are certainly defined if a condition holds, or if it fails."""
        if condition.name == ("and_" if holds else "or_"):
            return self.defined_where(condition.args[0], holds) | self.defined_where(
                condition.args[1], holds
            )
        if condition.name == "not_":
            return self.defined_where(condition.args[0], not holds)
        mask = 0
        signs = OPERATIONS[condition.name].holds if condition.args else ""
        if signs and condition.args[1].name == "number":
            signs = signs if holds else "".join(sign for sign in "<=>" if sign not in signs)
            for own, relation, end in self.domains.get(condition.args[0], ()):
                if _implies(signs, float(condition.args[1]), relation, end):
                    mask |= own
        return mask

    def may_mask(self, step: Step, k: int) -> int:
        """Return the failures that an input of a step may have and its result may hide."""
        row = OPERATIONS[step.name]
        if step.name in CONDITIONS or (row.may_kink and not row.propagates_infinity):
            return ALL
        if row.propagates_infinity or step.name == "item" or (k == 0 and shows_first(step)):
            return 0
        if row.total_for is not None and step.args[-1].name != "number":
            return ALL
        return (self.undefined if row.total and self.limits else ALL) & ~self.never_infinite


def _implies(signs: str, number: float, domain: str, end: int) -> bool:
    """Return whether every x in one of these relations to a number is in a domain."""
    inside = COMPARISONS[domain].holds
    sides = {
        "<": "<" if number <= end else "<=>",
        "=": "<" if number < end else "=" if number == end else ">",
        ">": ">" if number >= end else "<=>",
    }
    return all(side in inside for sign in signs for side in sides[sign])


def operands(recording: Recording) -> dict[Step, list[Step]]:
    """Return inputs that are evaluated although a formula may skip them: elu's `alpha`."""
    graph, place = recording.graph, recording.place
    inputs: dict[Step, list[Step]] = {}
    for i, step in place.items():
        if graph.parents[i] and graph.primitives[i].lazy_inputs is None:
            rest = [place[p] for p in graph.parents[i] if place[p] not in step.args]
            rest = [a for a in rest if a.args and a.index < step.index]
            if rest:
                inputs.setdefault(step, []).extend(rest)
    return inputs


def _has_limit(step: Step) -> bool:
    row = OPERATIONS[step.name]
    if row.propagates_infinity or row.may_kink or row.gives_condition:
        return False
    return row.total and step.name != "item"


def _may_be_infinite(step: Step) -> bool:
    return bool(step.args) and OPERATIONS[step.name].infinite


def showing_faults(
    recording: Recording, silent: Silent, labels: dict[Step, str] | None = None, limits: bool = True
) -> Recording:
    """Return the recording with results that are not finite wherever a step has failed.

    If `limits`, too large a number may be taken to the limit of an operation such as `tanh`.
    `labels` get a note.
    """
    m = recording.recorder
    values, partials = recording.values, recording.partials
    live = live_steps(recording.results)
    failures = _Failures(recording, live, silent, limits)
    undefined, exposed, needed = 0, 0, 0
    for value in values:
        undefined |= failures.possible[value] & failures.undefined
        exposed |= failures.exposed[value]
        needed |= failures.masked[value]
    # A derivative that would not show that the value is undefined takes that from the value.
    from_value = {partial for partial in partials if undefined & ~failures.exposed[partial]}
    unseen = {
        partial: failures.masked[partial] & ~(exposed if partial in from_value else 0)
        for partial in partials
    }
    for missing in unseen.values():
        needed |= missing
    faults = _faults(live, failures, needed) if needed else {}

    def with_faults(result: Step, parts: Sequence[Step]) -> Step:
        for fault in dict.fromkeys(parts):
            if labels is not None and fault.name == "sub":
                labels[fault] = NOTE
            result = m.step("add", result, fault)
        return result

    of_values = [faults[value] for value in values if value in faults]
    new_values = [
        with_faults(value, [faults[value]] if value in faults else []) for value in values
    ]
    new_partials = []
    for partial in partials:
        parts = [faults[partial]] if unseen[partial] and partial in faults else []
        if partial in from_value:
            parts = [part for part in parts if part not in of_values] + [
                m.step("sub", v, v) for v in new_values
            ]
        else:
            parts += of_values
        new_partials.append(with_faults(partial, parts))
    return recording._replace(values=new_values, partials=new_partials)


def _faults(live: Sequence[Step], failures: _Failures, needed: int) -> dict[Step, Step]:
    faults: dict[Step, Step] = {}
    for step in live:
        if not step.args or not failures.possible[step] & needed:
            continue
        m = step.m
        parts: list[Step | None] = []
        if step.name in LAZY:
            condition, x, y = branches(step)
            parts.append(faults.get(condition))
            if x in faults or y in faults:
                parts.append(m.where(condition, faults.get(x, m.zero), faults.get(y, m.zero)))
        else:
            for k, a in enumerate(step.args):
                parts.append(faults.get(a))
                if failures.possible[a] & ~failures.masked[a] & failures.may_mask(step, k) & needed:
                    parts.append(m.step("sub", a, a))
        for a in failures.operands.get(step, ()):
            parts.append(faults.get(a))
            if (
                failures.possible.get(a, 0)
                & ~failures.masked.get(a, 0)
                & ~failures.exposed[step]
                & needed
            ):
                parts.append(m.step("sub", a, a))
        if (total := _total(m, parts)) is not None:
            faults[step] = total
    return faults


def _total(m: Recorder, parts: Sequence[Step | None]) -> Step | None:
    """Return the sum of steps, each once; None without any."""
    total: Step | None = None
    for part in dict.fromkeys(parts):
        if part is not None and part is not total:
            total = part if total is None else m.step("add", total, part)
    return total


# ---- columns: a recorded program as operations on whole columns of numbers
# There are no branches: everything is computed everywhere, and a choice picks. Rows are flagged for
# another evaluation where a needed number is not finite, or a needed comparison is a tie.
# The most inputs compared in pairs; of more, those equal to the result are counted.
MAX_PAIRED_INPUTS = 3

# The most steps for columns: the cost of a larger program grows faster than it does.
MAX_COLUMN_STEPS = 20_000


class Vectors(NamedTuple):
    """The computed steps in order, and the checks."""

    steps: tuple[Step, ...]
    results: tuple[Step, ...]
    """Values, then partial derivatives; they and all inputs are checked too."""
    checks: tuple[tuple[Step, Step], ...]
    """Steps that must be finite and comparisons that must not be ties, each with its condition."""


def vectors(recording: Recording) -> Vectors:
    """Return the recording for columns; steps that others show to be infinite are unchecked."""
    results = recording.results
    computed = live_steps((*results, *recording.adjoints, *recording.watched))
    undefined = [
        step for step in computed if step.name in CONDITIONS and any(map(is_undefined, step.args))
    ]
    edges = dict.fromkeys((*recording.edges, *_kinks(recording), *undefined))
    # what only the program needs, and no formula at all points, is computed to be checked
    there = set(live_steps((*results, *recording.adjoints)))
    alone = dict.fromkeys([step for step in recording.watched if step not in there])
    alone |= dict.fromkeys([step for needed in operands(recording).values() for step in needed])
    adjoints, watched = (
        [step for step in steps if step.args and step.name not in CONDITIONS]
        for steps in (alone, computed)
    )
    adjoints = [*recording.adjoints, *adjoints]
    plan = schedule(
        recording._replace(adjoints=adjoints, watched=watched, edges=edges), OPERATIONS.keys()
    )
    checks = tuple(
        [(task.step, all_of(recording.recorder, task.branch.enclosing())) for task in plan.checks]
    )
    live = live_steps((*results, *[step for check in checks for step in check]))
    return Vectors(tuple([step for step in live if step.args]), results, checks)


class _SideRecorder:
    """Chooses sides of kinks in rules, and records the numbers that are 0 there."""

    def __init__(self, answer: int, out: Step) -> None:
        self.answer, self.out = answer, out
        self.zeros: list[Step] = []

    def __call__(self, u: Step) -> int:
        self.zeros.append(u)
        return self.answer

    def is_nonzero(self, u: Step) -> bool:
        self.zeros.append(u)
        return self.answer > 0

    def length(self, xs: Sequence[Step]) -> Step:
        self.zeros.append(self.out)
        return self.out


def _kinks(recording: Recording) -> Iterator[Step]:
    m, graph, place = recording.recorder, recording.graph, recording.place
    for i, out in place.items():
        primitive, parents = graph.primitives[i], graph.parents[i]
        if primitive.holds:
            if not recording.active.isdisjoint(parents):
                yield out
        elif primitive.breakpoint and primitive.active_branch and i in recording.active:
            inputs = [place[p] for p in parents]
            zeros: list[Step] = []
            for answer in (1, -1):
                knots = _SideRecorder(answer, out)
                with suppress(ValueError):  # on that side there is no value
                    primitive.active_branch(m, knots, *inputs, out=out)
                zeros += knots.zeros
            zeros += [m.step("sub", x, y) for x, y in combinations(inputs[:MAX_PAIRED_INPUTS], 2)]
            if len(inputs) > MAX_PAIRED_INPUTS:
                ties = m.step("sum", *[m.where(m.step("eq", x, out), 1.0, 0.0) for x in inputs])
                zeros.append(m.step("sub", m.step("max", ties, 2.0), ties))
            for zero in zeros:
                flag = m.step("eq", zero, 0.0)
                if flag.args:
                    yield flag
