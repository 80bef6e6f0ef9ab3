"""The solutions of equations in every form: as a record, as rows, on one line, and as a document for people."""

from __future__ import annotations

from collections.abc import Iterator

from ..equations.solve import Solution, Solved
from .document import Block, Line, Table, circumstances, matrix_table, numbers_table, sentence, stated
from .numerals import format_number
from .schema import POINT, REMARKS, Field, OutputRow, View, words

LISTED = 6
"""How many other solutions, and undecided boxes, are listed."""


class SolvedView(View[Solved]):
    """How solutions of equations are shown."""

    fields = (
        Field("equations", "the equations"),
        Field("unknowns", "the unknowns"),
        Field(
            "solutions",
            "the solutions",
            fields=(
                Field("values", "the value of each unknown, by name", figures=True),
                Field("derivatives", "by each unknown, its derivatives by the other variables", figures=True),
                Field(
                    "second",
                    "with `--order 2`: the second derivatives, by unknown, then by two variables",
                    figures=True,
                    optional=True,
                ),
                Field("errors", "how far rounding may have put each unknown off, by name; null where not known"),
                Field("residuals", "left side less right side of each equation"),
                Field("simple", "whether the solution is simple: the equations' Jacobian is regular there"),
                Field("multiplicity", "the multiplicity of a root; null where it is not known"),
                Field("proven", "whether it is proven that there is exactly one solution there"),
            ),
        ),
        Field("converged", "whether a solution was found"),
        Field("reason", "`solved`, `none`, `not found`, `undecided` or `interrupted`"),
        Field("message", "the reason in words"),
        Field(
            "between", "the bounds, by name", lambda answer: {name: [*ends] for name, ends in answer.between.items()}
        ),
        Field("others", "where other solutions between the bounds seem to be, of one unknown"),
        Field(
            "undecided",
            "boxes for which it is not proven whether they hold a solution",
            lambda answer: [{name: [*ends] for name, ends in box.items()} for box in answer.undecided],
        ),
        Field("complete", "whether it is proven that there are no other solutions between the bounds"),
        Field("evaluations", "how often the equations were evaluated"),
        POINT._replace(meaning="the values of the other variables, by name"),
        *REMARKS,
    )
    csv_columns = ("line", "id", "solution", "unknown", "value", "off", "variable", "derivative", "error")

    def rows(self, answer: Solved) -> Iterator[OutputRow]:
        for k, each in enumerate(answer.solutions, start=1):
            for name, value in each.values.items():
                row = {"solution": k, "unknown": name, "value": value, "off": each.errors[name]}
                slopes = (each.derivatives or {}).get(name, {})
                for variable, slope in slopes.items():
                    yield {**row, "variable": variable, "derivative": slope}
                if not slopes:
                    yield row
        if not answer.solutions:
            yield {"error": f"{answer.reason}: {answer.message}"}

    def one_line(self, answer: Solved) -> str:
        return "; ".join(" ".join(words(each.values)) for each in answer.solutions) or answer.reason

    def document(self, answer: Solved) -> Iterator[Block]:
        for each in answer.solutions:
            for name, value in each.values.items():
                line = stated(name, value, self.digits or (7 if each.multiplicity is None else 10))
                yield Line((*line.pieces, (_reliable(answer, each.errors[name]), "faint")))
            if quality := _quality(answer, each):
                yield Line(sentence(quality, "faint"))
            if each.derivatives:
                yield _derivatives(answer, each, self.digits)
            for name, matrix in (each.second or {}).items():
                rows = [row.values() for row in matrix.values()]
                yield matrix_table(f"second derivative of {name}", list(matrix), rows, self.digits)
        yield from circumstances(answer.constants, answer.point, _differentiated(answer), self.digits)
        if answer.message != "solved":
            yield Line(((answer.message, "" if answer.converged else "heading"),))
        if answer.others:
            shown = ", ".join(self.number(x) for x in answer.others[:LISTED])
            more = f" and {len(answer.others) - LISTED:,} more" if len(answer.others) > LISTED else ""
            others = f"there are other solutions between the bounds, near {shown}{more}"
            yield Line(sentence(f"{others}: `--all` lists them"))
        for box in answer.undecided[:LISTED]:
            ranges = ", ".join(f"{name} from {low!r} to {high!r}" for name, (low, high) in box.items())
            yield Line(sentence(f"undecided: {ranges}"))


def _differentiated(answer: Solved) -> set[str]:
    """The variables that a table of derivatives shows with their values."""
    return {name for each in answer.solutions for row in (each.derivatives or {}).values() for name in row}


def _derivatives(answer: Solved, each: Solution, digits: int | None) -> Table:
    assert each.derivatives is not None
    variables = list(next(iter(each.derivatives.values())))
    heads = ("variable", "value", *(f"derivative of {name}" for name in each.derivatives))
    rows = [(name, answer.point[name], *(row[name] for row in each.derivatives.values())) for name in variables]
    return numbers_table(heads, rows, digits, right=answer.arithmetic.name == "double")


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
