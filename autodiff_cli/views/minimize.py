"""A Minimum in every form: as a record, as rows, on one line, and as a document for people."""

from __future__ import annotations

from collections.abc import Iterator

from ..optimize.minimize import Minimum
from .document import Block, Line, Pieces, Table, held_fixed, loss_summary_lines, stated
from .formats import OutputRow, View, diagnostic_record
from .numerals import format_number, repr_number

COLUMNS = ("line", "id", "variable", "at", "partial", "value", "converged", "kind", "error")


def view(*, digits: int | None = None) -> View[Minimum]:
    """How a minimum is shown; the choices are for people only."""

    def number(x: float) -> str:
        return format_number(x, digits)

    def record(answer: Minimum) -> dict[str, object]:
        data = {} if answer.over is None else {"data": answer.over._asdict()}
        return {
            "value": answer.value,
            "point": answer.point,
            "gradient": answer.gradient,
            "gradient_norm": answer.gradient_norm,
            "converged": answer.converged,
            "reason": answer.reason,
            "message": answer.message,
            "kind": answer.kind,
            "verdict": answer.verdict,
            "at_bounds": list(answer.at_bounds),
            "method": answer.method,
            "steps": answer.steps,
            "evaluations": answer.evaluations,
            "hessians": answer.hessians,
            "outside": answer.outside,
            **data,
            "warnings": [diagnostic_record(warning) for warning in answer.warnings],
        }

    def rows(answer: Minimum) -> Iterator[OutputRow]:
        common = {
            "value": repr_number(answer.value),
            "converged": repr_number(answer.converged),
            "kind": answer.kind or "",
        }
        for name, partial in answer.gradient.items():
            yield {"variable": name, "at": repr_number(answer.point[name]), "partial": repr_number(partial), **common}

    def brief(answer: Minimum) -> str:
        return " ".join([repr_number(answer.value), *(f"{name}={repr_number(x)}" for name, x in answer.point.items())])

    def document(answer: Minimum) -> Iterator[Block]:
        yield stated("value", number(answer.value))
        yield from loss_summary_lines(answer.over)
        yield from held_fixed({name: number(x) for name, x in answer.point.items() if name not in answer.gradient})
        cells: list[tuple[Pieces, ...]] = []
        for name, partial in answer.gradient.items():
            bound = " (at its bound)" if name in answer.at_bounds else ""
            cells.append(
                (
                    ((name, "name"), (bound, "faint")),
                    ((number(answer.point[name]), "number"),),
                    ((number(partial), "number"),),
                )
            )
        yield Table(("variable", "value", "partial derivative"), cells, frozenset((1, 2)))
        yield Line(((answer.message, "" if answer.converged else "heading"),))
        if answer.verdict and answer.converged:
            yield Line(((answer.verdict, "" if answer.kind == "minimum" else "heading"),))
        yield Line(((_effort(answer), "faint"),))

    return View(record, rows, brief, document, COLUMNS)


def verdict(answer: Minimum) -> str:
    """What is worth a warning about the end of the search, in words; empty where it is a minimum."""
    if not answer.converged:
        return answer.message
    return "" if answer.kind == "minimum" else answer.verdict


def _effort(answer: Minimum) -> str:
    """What it took, in words."""
    parts = [_count(answer.steps, "step"), _count(answer.evaluations, "evaluation") + " of value and gradient"]
    if answer.outside:
        parts[-1] += f" ({answer.outside:,} outside the domain)"
    if answer.hessians:
        parts.append(f"{answer.hessians:,} of the Hessian")
    norm = format_number(answer.gradient_norm, 3)
    return f"{answer.method}: {', '.join(parts)}; the gradient norm is {norm}"


def _count(number: int, unit: str) -> str:
    return f"{number:,} {unit}{'' if number == 1 else 's'}"
