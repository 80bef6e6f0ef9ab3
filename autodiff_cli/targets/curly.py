"""Curly: what the targets share that write statements in braces and choices with a question mark."""

from __future__ import annotations

from typing import ClassVar

from ..graphs.adjoint import Recording
from ..language.printer import assembled
from ..numbers.recorder import CONDITIONS, Step
from ..table.binding import AND, ATOM, CHOICE, COMPARISON, OR, PRODUCT, SIGN
from ..table.names import by_name
from .target import Form, Target, Written, call


class Curly(Target):
    """Statements end in a semicolon, branches are in braces, and every name is declared."""

    closing = "}"
    otherwise = "} else {"
    infix = Target.infix | by_name(
        {
            "or_": (" || ", OR, OR, COMPARISON),
            "and_": (" && ", AND, COMPARISON, COMPARISON),
        }
    )
    prefix: ClassVar[dict[str, tuple[str, int, int]]] = by_name({"neg": ("-", SIGN, ATOM), "not_": ("!", SIGN, ATOM)})
    declares: tuple[str, str]
    """The words that declare a number and a condition."""
    pow = "pow"
    """The function that raises to a power."""

    def choice(self, args: tuple[Step, ...]) -> Written:
        """`c ? x : y`."""
        condition, x, y = args
        return CHOICE, [(condition, CHOICE + 1), " ? ", (x, CHOICE + 1), " : ", (y, CHOICE + 1)]

    def power(self, args: tuple[Step, ...]) -> Written:
        """`pow(x, y)`, a square as a product."""
        x, y = args
        if y.name == "number" and y.data == 2:
            return PRODUCT, [(x, ATOM), "*", (x, ATOM)]
        return call(self.pow, x, y)

    def function(self, name: str) -> Form:
        return f"ad_{name}"

    def assign(self, name: str, text: str) -> str:
        return f"{name} = {text};"

    def opening(self, condition: str) -> str:
        return f"if ({condition}) {{"

    def written(self, recording: Recording, labels: dict[Step, str]) -> list[str]:
        """Declarations and statements."""
        plan = self.plan(recording)
        self.seen = {a for task in plan.tasks for a in task.step.args} | {*recording.values, *recording.partials}
        rows = self.body(recording, labels)
        inside = {task.step for task in plan.tasks if task.branch.depth}
        zero = self.number(False)
        flags = [row for row in rows if row.startswith("ad_b") and row.endswith(f"= {zero};")]
        kinds = {name: self.declares[step.name in CONDITIONS] for step, name in self.called.items()}
        plain = {name for step, name in self.called.items() if step not in inside}
        result = [f"{kinds[name]} {name} = 0;" for step, name in self.called.items() if step in inside]
        result += [f"{self.declares[True]} {row}" for row in flags]
        for row in rows:
            if row not in flags:
                name = row.split(" ", 1)[0]
                result.append(f"{kinds[name]} {row}" if name in plain else row)
        return result

    def value(self, recording: Recording) -> str:
        """The expression of the first result."""
        return assembled(recording.values[0], self.parts)
