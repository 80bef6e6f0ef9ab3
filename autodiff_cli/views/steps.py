"""The steps of a derivation in every form: a table, lines of a solution written by hand, records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..formulas.derivation import Derivation, Step, as_written, derivative_name, operator
from ..graphs.value import Value
from ..language.printer import expression_text
from .characters import Style
from .document import Block, Line, Pieces, Table
from .mathematics import mathematical
from .schema import OutputRow, declared, records_of

_WORDS = ("unless ", "away ", "where ")
"""How a condition begins that is said in words."""


def blocks(derivations: Sequence[Derivation], unicode: bool = True) -> Iterator[Block]:
    """Each derivation under the derivative that it finds, its steps in a table."""
    for derivation in derivations:
        written = Written(derivation.by[-1], unicode)
        if len(derivations) > 1:
            yield Line(((derivative_name(derivation.by), "heading"),))
        yield Table(("rule", "part", "result"), [written.cells(step) for step in derivation.steps])


class Written:
    """How the steps by one variable are written: `d/dx(x²) = 2x`, or in ASCII `d/dx(x**2) = 2*x`."""

    def __init__(self, by: str, unicode: bool) -> None:
        self.operator, self.unicode = operator(by), unicode

    def formula(self, graph: Value, step: Step) -> str:
        """A part of a step, as people write it."""
        shown = as_written(graph, step.pending, self.operator)
        return (mathematical(shown) if self.unicode else "") or expression_text(shown)

    def rule(self, step: Step) -> str:
        """The name of the rule of a step."""
        return step.title if self.unicode else step.name

    def cells(self, step: Step) -> tuple[Pieces, ...]:
        """The row of a step: its rule, what it is applied to, and what comes of it."""
        style: Style = "name" if step.is_rule else "faint"
        result: Pieces = ((self.formula(step.result, step), "code"),)
        if step.condition:
            result += ((f", {_holds(step)}", "faint"),)
        return ((self.rule(step), style),), ((self.formula(step.part, step), "code"),), result


def _holds(step: Step) -> str:
    """Return the condition of a step as the end of a sentence."""
    return step.condition if step.condition.startswith(_WORDS) else f"where {step.condition}"


def lines(derivation: Derivation, unicode: bool = True) -> Iterator[str]:
    """The steps as lines of a solution."""
    written = Written(derivation.by[-1], unicode)
    for step in derivation.steps:
        rule = written.rule(step)
        reason = f"{rule}; {_holds(step)}" if step.condition else rule
        yield f"{written.formula(step.part, step)} = {written.formula(step.result, step)}   ({reason})"


def rows(derivation: Derivation) -> Iterator[OutputRow]:
    """The steps as rows of a long table."""
    written = Written(derivation.by[-1], False)
    for step in derivation.steps:
        row = {"by": derivation.by, "rule": step.name, "part": written.formula(step.part, step)}
        yield {**row, "derivative": written.formula(step.result, step), "condition": step.condition}


DERIVATION = declared("derivation").fields
"""The keys of a derivation."""


def derivation_record(derivation: Derivation) -> dict[str, object]:
    """Return a derivation as a record."""
    written = Written(derivation.by[-1], False)
    steps = [
        (
            step.rule,
            step.function or None,
            written.formula(step.part, step),
            written.formula(step.result, step),
            step.condition or None,
            step.depth,
        )
        for step in derivation.steps
    ]
    record: dict[str, object] = records_of(
        DERIVATION, (derivation.by, expression_text(derivation.function), steps, expression_text(derivation.formula))
    )
    return record
