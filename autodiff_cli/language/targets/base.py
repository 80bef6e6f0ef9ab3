"""Target: how a language writes operations, literals and statements; and the way from a schedule to lines of code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...engine.recording import Step
from ...engine.schedule import Path, Schedule
from ..printer import ATOM, CHOICE, INFIX, PREFIX, SIGN, Item, assembled

Written = tuple[int, list[Item]]
"""How an expression binds, and what it is written from."""

Form = str | Callable[[tuple[Step, ...]], Written]
"""How an operation is written: the name of a function, or what gives the parts of the expression."""


class Target:
    """A language: its spelling of operations, of literals and of statements."""

    name = ""
    infix: Mapping[str, tuple[str, int, int, int]] = INFIX
    prefix: Mapping[str, tuple[str, int, int]] = PREFIX
    indent = "    "

    def __init__(self) -> None:
        self.forms: dict[str, Form] = {}
        self.names: dict[Step, str] = {}
        """The steps that have a name by now."""

    # -- expressions ------------------------------------------------------------------------------------------------
    def number(self, value: float | bool) -> str:
        """A literal."""
        return repr(value)

    def parts(self, step: Step) -> Written:
        """How a step binds, and what it is written from."""
        name = self.names.get(step)
        return (ATOM, [name]) if name is not None else self.operation(step)

    def operation(self, step: Step) -> Written:
        """The same for the operation itself, although the step has a name."""
        name, args = step.name, step.args
        if name == "number":
            text = self.number(step.data)
            return SIGN if text.startswith("-") else ATOM, [text]
        if name == "item":
            return ATOM, [(args[0], ATOM), f"[{step.data}]"]
        form = self.forms.get(name)
        if form is None and name in self.infix:
            between, level, left, right = self.infix[name]
            return level, [(args[0], left), between, (args[1], right)]
        if form is None and name in self.prefix:
            before, level, inner = self.prefix[name]
            return level, [before, (args[0], inner)]
        if form is None:
            form = self.function(name)
        return call(form, *args) if isinstance(form, str) else form(args)

    def function(self, name: str) -> Form:
        """How a function is called that has no form yet."""
        raise KeyError(name)

    def text(self, step: Step) -> str:
        """The expression of a step, in terms of the steps that have names."""
        _, pieces = self.operation(step)
        return "".join([piece if isinstance(piece, str) else assembled(piece[0], self.parts, piece[1]) for piece in pieces])

    # -- statements -------------------------------------------------------------------------------------------------
    def assign(self, name: str, text: str) -> str:
        """The statement that gives a name a value."""
        return f"{name} = {text}"

    def opening(self, condition: str) -> str:
        """The line that begins a branch."""
        return f"if {condition}:"

    otherwise = "else:"
    closing: str | None = None

    def negated(self, condition: Step) -> str:
        """The condition that another one does not hold."""
        before, _, inner = self.prefix["not_"]
        return before + assembled(condition, self.parts, inner)

    def statements(self, plan: Schedule, name_of: Callable[[Step], str]) -> Iterator[str]:
        """The lines that do what a schedule says, the first at no indentation."""
        checks = {(step, path) for step, path, _ in plan.checks}
        here: Path | None = None
        for step, path, source in plan.tasks:
            if here is None:
                here = path.line()[0].parent if path.depth else path
            if path is not here:
                assert here is not None
                yield from self.moved(here, path)
                here = path
            text = assembled(source, self.parts) if source is not None else self.text(step)
            name = self.names[step] = name_of(step)
            indent = self.indent * path.depth
            yield indent + self.assign(name, text)
            if (step, path) in checks:
                yield indent + self.check(name)
        if here is not None:
            yield from self.closed(here, 0)

    def check(self, name: str) -> str:
        """The statement that takes note of a number which has to be finite."""
        return ""

    def closed(self, path: Path, depth: int) -> Iterator[str]:
        """The lines that end branches down to a depth."""
        if self.closing is not None:
            for d in range(path.depth - 1, depth - 1, -1):
                yield self.indent * d + self.closing

    def moved(self, old: Path, new: Path) -> Iterator[str]:
        """The lines that leave one branch and enter another."""
        before, after = old.line(), new.line()
        k = 0
        while k < len(before) and k < len(after) and before[k] is after[k]:
            k += 1
        turned = k < len(before) and k < len(after) and before[k].condition is after[k].condition and before[k].holds
        yield from self.closed(old, k + 1 if turned else k)
        for path in after[k:]:
            if turned:
                yield self.indent * (path.depth - 1) + self.otherwise
                turned = False
                continue
            condition = path.condition
            assert condition is not None
            text = assembled(condition, self.parts, CHOICE) if path.holds else self.negated(condition)
            yield self.indent * (path.depth - 1) + self.opening(text)


def call(function: str, *args: Any) -> Written:
    """A call of a function."""
    parts: list[Item] = [function, "("]
    for k, arg in enumerate(args):
        parts += [", ", (arg, CHOICE)] if k else [(arg, CHOICE)]
    return ATOM, [*parts, ")"]
