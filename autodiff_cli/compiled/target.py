"""Target: how a language writes operations, literals and statements."""

from __future__ import annotations

import itertools
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..engine.graphs.adjoint import Branch, Recording, Schedule, Task, schedule
from ..engine.numbers.floats import REAL
from ..engine.numbers.recorder import CONDITIONS, Step, is_number
from ..engine.table import primitive as binding
from ..engine.table.primitive import ATOM, CHOICE, POWER, PRODUCT, SIGN, SUM
from ..engine.table.primitives import by_name, library_names
from ..errors import quote
from ..language.elements import underscored
from ..language.printer import (
    INFIX,
    OPERATORS,
    PREFIX,
    Template,
    Written,
    as_call,
    assemble,
    fill_in,
    spell,
)
from ..language.typesetting import plain_name
from .lowering import compose_for, showing_faults

# How a language writes an operation: a template, or a function that returns the parts.
Form = Template | Callable[["Target", Step], Written]

_PLACE = re.compile(r"\{(\d)\}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
# The prefix of names that generated code reserves.
RESERVED_PREFIX = "ad_"

# The parameter names of helper functions.
PARAMETERS = "x", "y", "z", "w"

# Branches within branches that are written as such.
MAX_INDENTED = 16

# The most operations in one expression, each needed once.
MAX_INLINE_STEPS = 5


@cache
def _tables(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text("utf-8"))


def reserved_words(language: str) -> frozenset[str]:
    """Return a list of `reserved_words.toml`: words that cannot be names."""
    return frozenset(_tables("reserved_words")[language].split())


def _section(name: str) -> dict[str, Any]:
    section = _tables("languages")[name]
    base = _section(section["base"]) if "base" in section else {"forms": {}}
    return {**base, **section, "forms": {**base["forms"], **section.get("forms", {})}}


@cache
def language(name: str) -> Mapping[str, Any]:
    """Return a language's fields of `Target` in `languages.toml`, `forms` by operation."""
    fields = _section(name)
    prefix = f"{fields['module_name']}." if "module_name" in fields else ""
    functions = by_library(fields.get("module_functions", ""), prefix)
    functions |= by_library(fields.get("plain_functions", ""))
    forms: dict[str, Form] = {**OPERATORS, **functions}
    for operation, form in by_name(fields["forms"]).items():
        forms[operation] = (
            form if isinstance(form, str) else (form[0], *[getattr(binding, at) for at in form[1:]])
        )
    for operation in fields.get("lacks", "").split():
        del forms[operation]
    called = {re.split(r"\W", form)[0] for form in forms.values() if isinstance(form, str)}
    reserved = called.union(
        fields.get("reserved_names", "").split(), *map(reserved_words, fields.get("words", ()))
    )
    coarse = frozenset(library_names(fields.get("coarse", "")))
    return {**fields, "forms": forms, "reserved": frozenset(reserved), "coarse": coarse}


def by_library(names: str, prefix: str = "") -> dict[str, str]:
    """Return a library's functions by operation; `theirs=ours` for different names."""
    pairs = [name.rpartition("=") for name in names.split()]
    return by_name({ours: prefix + (theirs or ours) for theirs, _, ours in pairs})


class SourceUnit(NamedTuple):
    """A unit to be written: the recorded gradient of a program, with its names."""

    text: str
    function: str
    variables: tuple[str, ...]
    wanted: tuple[str, ...]
    recording: Recording
    labels: dict[Step, str]
    parameters: tuple[str, ...] = ()
    """Of a module that is trained: the variables that it holds."""
    notes: tuple[str, ...] = ()
    """What the comment at the top says of the derivatives."""


class Target:
    """A language's operations, literals and statements; `languages.toml` explains them."""

    title = ""
    functions = True
    branches = True
    limits = True
    errors = "none"
    coarse: frozenset[str] = frozenset()
    reserved: frozenset[str] = frozenset()
    reserved_pattern = ""
    not_callable = ""
    longest_name = 1_000_000
    literals: Mapping[str, str] = {}
    forms: dict[str, Form]
    module_name = ""
    power_function = "pow"
    whole_powers = 0.0
    indent = "    "
    blank_lines = 1
    assignment = "{} = {}"
    branch = "if {}:"
    otherwise = "else:"
    closing: str | None = None
    label = "  # {}"
    signature = ""
    returned = "return {}"
    gradient_signature = ""
    results: Sequence[str] = ("return {0}, ({1}{2})",)
    names_results = False
    conversion = ""
    mark = "#"
    heading_lines: Sequence[str] = ("Written by autodiff from this program:",)

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.__dict__.update(language(name) if name else {"forms": {**OPERATORS}})
        self.unit: SourceUnit
        self.variables: dict[str, str]
        self.called: dict[Step, str] = {}
        self.stem = "t"
        # Without statements under a condition: the branches that need a step.
        self.guards: dict[Step, list[Branch]] = {}
        self.names: dict[Step, str] = {}

    # -- expressions
    def _number(self, value: float | bool) -> str:
        return self.literals.get(repr(value), repr(value))

    def parts(self, step: Step) -> Written:
        """Return how a step binds, and its parts."""
        name = self.names.get(step)
        return (ATOM, [name]) if name is not None else self.operation(step)

    def operation(self, step: Step) -> Written:
        """Return how a step's operation binds, and its parts, even if the step has a name."""
        name, args = step.name, step.args
        if name == "number":
            text = self._number(step.data)
            return SIGN if text.startswith("-") else ATOM, [text]
        if name == "item":
            return ATOM, [(args[0], ATOM), f"[{step.data}]"]
        if name == "pow":
            return self.power(*args)
        form = self.forms.get(name) or self.function(name)
        return form(self, step) if callable(form) else spell(form, args)

    def power(self, x: Step, y: Step) -> Written:
        """Return a power: a square as a product, whole exponents by operator, else a call."""
        if is_number(y, 2):
            return PRODUCT, [(x, ATOM), "*", (x, ATOM)]
        if y.name == "number" and abs(y.data) < self.whole_powers and y.data == int(y.data):
            return POWER, [(x, ATOM), "**", f"{y.data:.0f}" if y.data > 0 else f"({y.data:.0f})"]
        return as_call(self.power_function, (x, y))

    def function(self, name: str) -> Form:
        """Return the call of a function that the language is given."""
        return f"{RESERVED_PREFIX}{name}"

    def _result(self, step: Step) -> str:
        return assemble(step, self.parts)

    def text(self, step: Step) -> str:
        """Return the expression of a step by the named steps."""
        _, parts = self.operation(step)
        return "".join(
            [
                part if isinstance(part, str) else assemble(part[0], self.parts, part[1])
                for part in parts
            ]
        )

    def module(self, unit: SourceUnit) -> str:
        """Return the whole source of a unit."""
        self.unit, self.variables = unit, self.spell_names(unit.variables)
        self.name_inputs(unit.recording, list(self.variables.values()))
        return "\n".join([*self.lines(), ""])

    def lines(self) -> Iterable[str]:
        """Return the lines of `unit`, whose `variables` have names in this language."""
        raise TypeError(f"{type(self).__name__} writes no source")

    def library(self) -> list[str]:
        """Return the functions that the language lacks, each after those it calls."""
        lines: list[str] = []
        entered: set[tuple[str, int]] = set()

        def visit(steps: Iterable[Step]) -> None:
            for name, count in [(step.name, len(step.args)) for step in steps]:
                if not count or name in self.forms or (name, count) in entered:
                    continue
                entered.add((name, count))
                supported = showing_faults(
                    compose_for(self.forms, name, count, self.coarse),
                    self.is_silent,
                    limits=self.limits,
                )
                visit(supported.recorder.steps)
                lines.extend([""] * self.blank_lines)
                lines.extend(
                    type(self)(self.name)._support(
                        f"{RESERVED_PREFIX}{name}", PARAMETERS[:count], supported
                    )
                )

        live = {task.step for task in self.plan(self.unit.recording).tasks}
        visit(sorted(live, key=lambda step: step.index))
        return lines

    def _support(self, name: str, parameters: Sequence[str], recording: Recording) -> list[str]:
        self.name_inputs(recording, parameters)
        rows = [*self.body(recording, {}), self.returned.format(self._result(recording.values[0]))]
        return self._block(self.signature.format(name, ", ".join(parameters)), rows)

    def defined(self) -> list[str]:
        """Return the lines of the unit's function."""
        unit = self.unit
        rows = [*self._opening(), *self.body(unit.recording, unit.labels)]
        value, *partials = map(self._shown, unit.recording.results)
        if self.names_results:
            named = [
                (self.variables.get(name), x) for name, x in zip(unit.wanted, partials, strict=True)
            ]
            partials = [f"{name} = {x}" if name else x for name, x in named]
        rows += [
            line.format(value, ", ".join(partials), "," * (len(partials) == 1))
            for line in self.results
        ]
        head = self.gradient_signature or self.signature
        return self._block(head.format(unit.function, ", ".join(self.variables.values())), rows)

    def _opening(self) -> list[str]:
        return (
            [self.conversion.format(name) for name in self.variables.values()]
            if self.conversion
            else []
        )

    def _block(self, head: str, rows: Iterable[str]) -> list[str]:
        return [
            head,
            *[self.indent + row for row in rows],
            *([self.closing] if self.closing is not None else []),
        ]

    def _shown(self, step: Step) -> str:
        return self._result(step)

    def variables_phrase(self) -> str:
        """Return the wanted variables in words: ` by `x`, `y``; empty without any."""
        wanted = quote(
            [self.variables[name] for name in self.unit.wanted if name in self.variables], ""
        )
        return f" by {wanted}" if wanted else ""

    def is_silent(self, step: Step, large: bool) -> bool:
        """Return whether a step without a value (if `large`, too large) raises no error."""
        if self.errors != "functions":
            return self.errors == "none"
        return large if step.name in INFIX else step.name in PREFIX or step.name not in self.forms

    # -- names
    def can_name_variable(self, name: str) -> bool:
        """Return whether a name of the program can be one of the target's."""
        plain = _NAME.fullmatch(name) is not None and not name.lower().startswith(RESERVED_PREFIX)
        reserved = self.fold_name(name) in self.reserved or re.fullmatch(
            self.reserved_pattern, name
        )
        return plain and not reserved and len(name) <= self.longest_name

    def can_name_function(self, name: str) -> bool:
        """Return whether a function can have this name."""
        return self.can_name_variable(name) and name not in self.not_callable.split()

    def fold_name(self, name: str) -> str:
        """Return the form of a name that is equal for all names the target does not distinguish."""
        return name

    def spell_names(self, names: Sequence[str]) -> dict[str, str]:
        """Return the variables' names: as typed, `w_1` for `w[1]`, in plain letters, or `v1` …."""
        spellings: dict[str, str] = {}
        taken: set[str] = set()
        for spelling in (str, underscored, plain_name):
            for name in names:
                word = spelling(name)
                if (
                    name not in spellings
                    and self.can_name_variable(word)
                    and self.fold_name(word) not in taken
                ):
                    spellings[name] = word
                    taken.add(self.fold_name(word))
        for name in names:
            if name not in spellings:
                spellings[name] = next(
                    word for k in itertools.count(1) if (word := f"v{k}") not in taken
                )
                taken.add(spellings[name])
        stems = ("t", "step", "ad_t")
        self.stem = next(
            s
            for s in stems
            if not any(re.fullmatch(rf"{s}\d+", word) for word in spellings.values())
        )
        return {name: spellings[name] for name in names}

    def name_inputs(self, recording: Recording, names: Sequence[str]) -> None:
        """Set the names of the steps that are inputs."""
        self.names |= {
            step: names[step.data] for step in recording.recorder.steps if step.name == "input"
        }

    def _rename(self) -> list[str]:
        changed = {old: new for old, new in self.variables.items() if old != new}
        return [
            f"`{new}` is the variable `{' '.join(self._comment(old))}`."
            for old, new in changed.items()
        ]

    def heading(self, *further: str) -> list[str]:
        """Return the comment at the top: program, renamed variables, further lines."""
        program = [f"    {row}" for row in self._comment(self.unit.text)]
        lines = [*self.heading_lines, *program, *self._notes(), *self._rename(), *further]
        return [f"{self.mark} {line}".rstrip() for line in lines]

    def _notes(self) -> list[str]:
        return [line for note in self.unit.notes for line in self._comment(note)]

    def _comment(self, text: str) -> list[str]:
        return comment_lines(text)

    # -- statements
    def body(self, recording: Recording, labels: Mapping[Step, str]) -> list[str]:
        """Return the lines that compute results; steps needed once are inlined."""
        plan = self.plan(recording)
        hidden = self._inline(plan, recording.results, labels)
        tasks = [task for task in plan.tasks if task.step not in hidden]
        self.called = {
            step: f"{self.stem}{k}"
            for k, step in enumerate(dict.fromkeys([t.step for t in tasks]), start=1)
        }
        return list(self.statements(Schedule(tasks, []), self.called, labels))

    def plan(self, recording: Recording) -> Schedule:
        """Return the schedule; without conditional statements everything is computed."""
        plan = schedule(recording)
        if self.branches:
            return plan
        self.guards = needs(plan)
        return Schedule([Task(step, Branch()) for step in self.ordered_steps()], [])

    def ordered_steps(self) -> list[Step]:
        """Return all steps, each after its inputs."""
        order: dict[Step, None] = {}
        entered: set[Step] = set()
        stack = sorted(self.guards, key=lambda step: -step.index)
        while stack:
            step = stack[-1]
            # the conditions of the branches that need a step come before it
            conditions = [
                p.condition
                for b in self.guards.get(step, ())
                for p in b.enclosing()
                if p.condition is not None
            ]
            waits = [a for a in (*step.args, *conditions) if a.args and a not in order]
            if step in order or step in entered:
                stack.pop()
                order.setdefault(step)
                continue
            entered.add(step)
            stack += [a for a in reversed(waits) if a not in entered]
        return list(order)

    def _inline(
        self, plan: Schedule, results: Iterable[Step], named: Iterable[Step]
    ) -> Collection[Step]:
        steps, shown = {task.step: task for task in plan.tasks}, {*results, *named}
        uses = Counter(a for step in steps for a in self.step_inputs(step))
        # the operations of each step that is written in place
        weight: dict[Step, int] = {}
        for step in sorted(steps, key=lambda step: step.index):
            size = 1 + sum(weight.get(a, 0) for a in step.args)
            simple = uses[step] == 1 and size <= MAX_INLINE_STEPS and steps[step].source is None
            if simple and step not in shown and step.name != "where":
                weight[step] = size
        return weight

    def step_inputs(self, step: Step) -> Iterable[Step]:
        """Return the inputs of a step, each as often as it is written."""
        form = self.forms.get(step.name)
        template = form[0] if isinstance(form, tuple) else form
        places = _PLACE.findall(template) if isinstance(template, str) else ()
        return [step.args[int(place)] for place in places] if places else step.args

    def statements(
        self, plan: Schedule, called: Mapping[Step, str], labels: Mapping[Step, str]
    ) -> Iterator[str]:
        """Yield the lines that carry out a schedule, unindented at first; `called` has the names of
        steps.
        """
        checks = {(step, branch) for step, branch, _ in plan.checks}
        anchors = [
            anchor
            for _, branch, _ in plan.tasks
            for anchor in branch.enclosing()[MAX_INDENTED::MAX_INDENTED]
        ]
        flagged = {anchor: f"ad_b{k}" for k, anchor in enumerate(dict.fromkeys(anchors))}
        for flag in flagged.values():
            yield self.assignment.format(flag, self._number(False))
        entered: set[Branch] = set()
        here: list[Branch] = []
        for step, branch, source in plan.tasks:
            line = branch.enclosing()
            for anchor in line[MAX_INDENTED::MAX_INDENTED] if flagged else ():
                if anchor not in entered:
                    # Code nested too deeply goes on at the margin, under a flag.
                    entered.add(anchor)
                    assert anchor.parent is not None
                    outside = _visible(anchor.parent.enclosing())
                    yield from self._move(here, outside, flagged)
                    here = outside
                    flag = self.assignment.format(flagged[anchor], self.condition(anchor))
                    yield self.indent * len(here) + flag
            inside = _visible(line)
            yield from self._move(here, inside, flagged)
            here = inside
            text = assemble(source, self.parts) if source is not None else self.text(step)
            name = self.names[step] = called[step]
            indent = self.indent * len(here)
            label = labels.get(step)
            remark = self.label.format(" ".join(self._comment(label))) if label else ""
            yield indent + self.assignment.format(name, text) + remark
            if (step, branch) in checks:
                yield indent + self._check(step, name)
        yield from self._move(here, [], flagged)

    def _check(self, step: Step, name: str) -> str:
        return ""

    def _move(
        self, old: Sequence[Branch], new: Sequence[Branch], flagged: Mapping[Branch, str]
    ) -> Iterator[str]:
        k = 0
        while k < len(old) and k < len(new) and old[k] is new[k]:
            k += 1
        part = k < len(old) and k < len(new)
        turned = part and old[k] is new[k].opposite and old[k].holds and new[k] not in flagged
        for depth in reversed(range(k + turned, len(old))) if self.closing is not None else ():
            yield f"{self.indent * depth}{self.closing}"
        for depth, branch in enumerate(new[k:], start=k):
            head = (
                self.branch.format(flagged.get(branch) or self.condition(branch))
                if not turned
                else self.otherwise
            )
            yield self.indent * depth + head
            turned = False

    def condition(self, branch: Branch) -> str:
        """Return the condition to enter a branch from the one around it."""
        assert branch.condition is not None
        if branch.holds:
            return assemble(branch.condition, self.parts)
        form = self.forms["not_"]
        assert isinstance(form, tuple)
        return str(form[0]).format(assemble(branch.condition, self.parts, form[2]))


def needs(plan: Schedule) -> dict[Step, list[Branch]]:
    """Return the branches that need each step."""
    branches: dict[Step, list[Branch]] = {}
    for step, branch, source in plan.tasks:
        # A choice is computed where its branches meet.
        branches.setdefault(step, []).append(
            branch if source is None or branch.parent is None else branch.parent
        )
    return branches


def _visible(line: list[Branch]) -> list[Branch]:
    return (
        line[(len(line) - 1) // MAX_INDENTED * MAX_INDENTED :] if len(line) > MAX_INDENTED else line
    )


def comment_lines(text: str) -> list[str]:
    """Return a text's lines for a comment, unprintable characters escaped."""
    return [
        "".join(
            c if c.isprintable() else f"U+{ord(c):04X}" if c != "\t" else " " for c in line
        ).rstrip()
        for line in text.replace("\r\n", "\n").split("\n")
    ]


# ---- the evaluator's target
# Operations written as operators, which overflow to infinity without an error.
SILENT = library_names("add sub mul div pow leaky_relu elu").keys()

# Terms of one sum: Python's compiler recurses into longer ones.
MAX_TERMS = 40


# Functions without a wrapper: if they raise, the general evaluation finds the reason.
DIRECT: dict[str, Callable[..., Any]] = {
    name: getattr(math, theirs)
    for name, theirs in by_library(
        "pow sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh"
        " tanh asinh acosh atanh erf erfc hypot fabs=abs"
    ).items()
}


def _extreme(name: str, template: str) -> Form:

    def form(target: Target, step: Step) -> Written:
        return (
            (CHOICE, fill_in(template, step.args, (SUM, SUM)))
            if len(step.args) == 2
            else as_call(name, step.args)
        )

    return form


FORMS: dict[str, Form] = OPERATORS | by_name(
    {
        "where": ("{1} if {0} else {2}", CHOICE, CHOICE + 1, CHOICE + 1, CHOICE),
        "relu": ("{0} if {0} > 0.0 else 0.0", CHOICE, SUM),
        "max": _extreme("max", "{1} if {1} > {0} else {0}"),
        "min": _extreme("min", "{1} if {1} < {0} else {0}"),
    }
)


class Internal(Target):
    """Python to be run: inputs `x0`, `x1` …, steps `t0`, `t1` …, the engine's functions."""

    # Python's own power gives a complex number for a negative base only if it is not whole
    whole_powers = 1e15

    def __init__(self) -> None:
        super().__init__()
        self.bound: dict[str, Callable[..., Any]] = by_name(
            {"pow": math.pow, "max": REAL.max, "min": REAL.min}
        )
        self.forms = dict(FORMS)

    def _number(self, value: float | bool) -> str:
        return f"({value!r})" if value < 0 else repr(value)

    def function(self, name: str) -> Form:
        self.bound[name] = DIRECT.get(name) or getattr(REAL, name)
        self.forms[name] = name
        return name

    def _check(self, step: Step, name: str) -> str:
        if step.name in CONDITIONS:
            x, y = (assemble(a, self.parts, SUM) for a in step.args)
            return f"if {x} == {y}: return None"
        return f"s += {name}"

    def source(self, recording: Recording, inputs: int) -> str:
        """Return the source of a function: inputs to value and partials; None if one is
        infinite.
        """
        plan = schedule(recording, SILENT)
        used = {s.data for s in recording.recorder.steps if s.name == "input"}
        self.name_inputs(recording, [f"x{k}" for k in range(inputs)])
        rows = (
            [", ".join(f"x{k}" if k in used else "_" for k in range(inputs)) + ", = x"]
            if inputs
            else []
        )
        called = {task.step: f"t{task.step.index}" for task in plan.tasks}
        rows += ["s = 0.0", *self.statements(plan, called, {})]
        results = [self._result(step) for step in recording.results]
        for start in range(0, len(results), MAX_TERMS):
            rows.append("s += " + " + ".join(results[start : start + MAX_TERMS]))
        count = len(recording.values)
        values = results[0] if count == 1 else "[" + ", ".join(results[:count]) + "]"
        # If a number is infinite or nan, s - s is nan.
        rows += [
            "if s - s == 0.0:",
            f"    return {values}, [{', '.join(results[count:])}]",
            "return None",
        ]
        return "\n".join(["def f(x):", *["    " + row for row in rows]]) + "\n"
