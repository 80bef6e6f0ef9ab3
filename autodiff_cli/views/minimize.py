"""A Minimum in every form: as a record, as rows, on one line, and as a document for people."""

from __future__ import annotations

from collections.abc import Iterator

from ..optimize.minimize import Minimum
from .document import Block, Line, Table, held_fixed, loss_summary_lines, numbers_table, stated
from .numerals import format_number
from .schema import DATA, POINT, WARNINGS, Field, View


class MinimumView(View[Minimum]):
    """How a minimum is shown."""

    fields = (
        Field("value", "the value at the point", column="value"),
        POINT,
        Field("gradient", "the partial derivatives there, by name", column="partial"),
        Field("gradient_norm", "the norm of the gradient, without what presses against a bound"),
        Field("converged", "whether the search has converged", column="converged"),
        Field("reason", "why it ended, as one word"),
        Field("message", "why it ended, in words"),
        Field("kind", "`minimum`, or what else the point is; null where that is not known", column="kind"),
        Field("verdict", "the kind in words"),
        Field("at_bounds", "the variables that are at their bounds"),
        Field(
            "constraints",
            "with `--subject-to`: the constraints, in their order",
            optional=True,
            fields=(
                Field("constraint", "the constraint", lambda constraint: constraint.text),
                Field("slack", "how far it is from its border; of an equation, left side less right side"),
                Field("multiplier", "Lagrange's multiplier: by how much the value falls for each unit of relaxation"),
                Field("active", "whether the point is at its border"),
            ),
        ),
        Field("method", "the method"),
        Field("steps", "how many steps it took"),
        Field("evaluations", "how often value and gradient were computed"),
        Field("hessians", "how often the Hessian was computed"),
        Field("outside", "how many of the evaluations were outside the domain"),
        DATA,
        WARNINGS,
    )
    csv_columns = ("line", "id", "variable", "at", "partial", "value", "converged", "kind", "error")
    line_fields = ("value", "point")

    def document(self, answer: Minimum) -> Iterator[Block]:
        number = self.number
        yield stated("value", number(answer.value))
        yield from loss_summary_lines(answer.over)
        yield from held_fixed({name: number(x) for name, x in answer.point.items() if name not in answer.gradient})
        rows = [
            (
                ((name, "name"), (" (at its bound)" if name in answer.at_bounds else "", "faint")),
                ((number(answer.point[name]), "number"),),
                ((number(partial), "number"),),
            )
            for name, partial in answer.gradient.items()
        ]
        yield Table(("variable", "value", "partial derivative"), rows, frozenset((1, 2)))
        if answer.constraints:
            heads = ("constraint", "slack", "multiplier", "active")
            held = [
                (constraint.text, constraint.slack, constraint.multiplier, "yes" if constraint.active else "no")
                for constraint in answer.constraints
            ]
            yield numbers_table(heads, held, self.digits, right=(1, 2), style="code")
        yield Line(((answer.message, "" if answer.converged else "heading"),))
        if answer.verdict and answer.converged:
            yield Line(((answer.verdict, "" if answer.kind == "minimum" else "heading"),))
        yield Line(((_effort(answer), "faint"),))


def verdict(answer: Minimum) -> str:
    """Return the warning about the end of the search; empty if it is a minimum."""
    if not answer.converged:
        return answer.message
    return "" if answer.kind == "minimum" else answer.verdict


def _effort(answer: Minimum) -> str:
    """Return the cost of the search in words."""
    parts = [_count(answer.steps, "step"), _count(answer.evaluations, "evaluation") + " of value and gradient"]
    if answer.outside:
        parts[-1] += f" ({answer.outside:,} outside the domain)"
    if answer.hessians:
        parts.append(f"{answer.hessians:,} of the Hessian")
    norm = format_number(answer.gradient_norm, 3)
    return f"{answer.method}: {', '.join(parts)}; the gradient norm is {norm}"


def _count(number: int, unit: str) -> str:
    return f"{number:,} {unit}{'' if number == 1 else 's'}"
