"""The solutions of equations in every form: as a record, as rows, on one line, and as a document for people."""

from __future__ import annotations

from collections.abc import Iterator

from ..equations.solve import Solution, Solved
from .document import Block, Line, Table, circumstances, matrix_table, named_row, sentence
from .formats import OutputRow, View, remarks
from .numerals import format_number, number_fields, repr_number

COLUMNS = ("line", "id", "solution", "unknown", "value", "off", "variable", "derivative", "error")

TOLD = 6
"""How many other solutions, and undecided boxes, are listed."""


def view(*, digits: int | None = None) -> View[Solved]:
    """How solutions are shown; `digits` is for people only."""

    def record(answer: Solved) -> dict[str, object]:
        name = answer.arithmetic.name
        return {
            "equations": answer.equations,
            "unknowns": answer.unknowns,
            "solutions": [_solution_record(name, each) for each in answer.solutions],
            "converged": answer.converged,
            "reason": answer.reason,
            "message": answer.message,
            "between": {name: list(ends) for name, ends in answer.between.items()},
            "others": answer.others,
            "undecided": [{name: list(ends) for name, ends in box.items()} for box in answer.undecided],
            "complete": answer.complete,
            "evaluations": answer.evaluations,
            **number_fields(name, {"point": answer.point}),
            **remarks(answer),
        }

    def rows(answer: Solved) -> Iterator[OutputRow]:
        for k, each in enumerate(answer.solutions, start=1):
            for name, value in each.values.items():
                common = {
                    "solution": str(k),
                    "unknown": name,
                    "value": repr_number(value),
                    "off": repr_number(each.errors[name]),
                }
                slopes = (each.derivatives or {}).get(name, {})
                for variable, slope in slopes.items():
                    yield {**common, "variable": variable, "derivative": repr_number(slope)}
                if not slopes:
                    yield common
        if not answer.solutions:
            yield {"error": f"{answer.reason}: {answer.message}"}

    def brief(answer: Solved) -> str:
        told = [" ".join(f"{name}={repr_number(x)}" for name, x in each.values.items()) for each in answer.solutions]
        return "; ".join(told) or answer.reason

    def document(answer: Solved) -> Iterator[Block]:
        for each in answer.solutions:
            for name, value in each.values.items():
                told = _reliable(answer, each.errors[name])
                yield Line(
                    (
                        (name, "heading"),
                        (" = ", "faint"),
                        (format_number(value, digits or (7 if each.multiplicity is None else 10)), "number"),
                        (told, "faint"),
                    )
                )
            if quality := _quality(answer, each):
                yield Line(sentence(quality, "faint"))
            if each.derivatives:
                yield _derivatives(answer, each, digits)
            for name, matrix in (each.second or {}).items():
                rows = [row.values() for row in matrix.values()]
                yield matrix_table(f"second derivative of {name}", list(matrix), rows, digits)
        yield from circumstances(answer.constants, answer.point, _differentiated(answer), digits)
        if answer.message != "solved":
            yield Line(((answer.message, "" if answer.converged else "heading"),))
        if answer.others:
            shown = ", ".join(format_number(x, digits) for x in answer.others[:TOLD])
            more = f" and {len(answer.others) - TOLD:,} more" if len(answer.others) > TOLD else ""
            told = f"there are other solutions between the bounds, near {shown}{more}"
            yield Line(sentence(f"{told}: `--all` lists them"))
        for box in answer.undecided[:TOLD]:
            told = ", ".join(f"{name} from {low!r} to {high!r}" for name, (low, high) in box.items())
            yield Line(sentence(f"undecided: {told}"))

    return View(record, rows, brief, document, COLUMNS)


def _solution_record(arithmetic: str, each: Solution) -> dict[str, object]:
    numbers: dict[str, object] = {"values": each.values, "derivatives": each.derivatives}
    if each.second is not None:
        numbers["second"] = each.second
    return number_fields(arithmetic, numbers) | {
        "errors": each.errors,
        "residuals": each.residuals,
        "simple": each.simple,
        "multiplicity": each.multiplicity,
        "proven": each.proven,
    }


def _differentiated(answer: Solved) -> set[str]:
    """The variables that a table of derivatives shows with their values."""
    return {name for each in answer.solutions for row in (each.derivatives or {}).values() for name in row}


def _derivatives(answer: Solved, each: Solution, digits: int | None) -> Table:
    assert each.derivatives is not None
    variables = list(next(iter(each.derivatives.values())))
    heads = ("variable", "value", *(f"derivative of {name}" for name in each.derivatives))
    rows = [
        named_row(
            (name, "name"), format_number(answer.point[name], digits),
            *(format_number(row[name], digits) for row in each.derivatives.values()),
        )
        for name in variables
    ]  # fmt: skip
    right = frozenset(range(1, len(heads)) if answer.arithmetic.name == "double" else ())
    return Table(heads, rows, right)


def _reliable(answer: Solved, error: float | None) -> str:
    """How far an unknown may be off, in words."""
    if answer.arithmetic.name == "certified":
        return "  (proven)"
    return "" if error is None else f"  (off by {format_number(error, 2)} at most)"


def _quality(answer: Solved, each: Solution) -> str:
    """How well the equations are solved, in words."""
    if answer.arithmetic.name == "certified":
        return "proven: there is exactly one solution there" if len(answer.solutions) == 1 else ""
    if answer.arithmetic.name == "precision":
        return "all digits agree with those of a computation in more"
    left = ", ".join(format_number(x, 2) for x in each.residuals)
    if each.simple or each.multiplicity == 1:
        return f"left side less right side: {left}"
    if each.multiplicity is None:
        return f"left side less right side: {left}; a multiple root, with about half the digits"
    return f"left side less right side: {left}; a root of multiplicity {each.multiplicity}"
