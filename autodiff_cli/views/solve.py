"""The solutions of equations in every form: as a record, as rows, on one line, and as a document for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..equations.solve import Solution, Solved
from .document import Block, Line, Pieces, Table, circumstances, matrix_table, numbers_table, sentence, stated
from .numerals import format_number
from .schema import OutputRow, View, declared, words

LISTED = 6
"""How many other solutions, and undecided boxes, are listed."""


class SolvedView(View[Solved]):
    """How solutions of equations are shown."""

    fields, csv_columns, _ = declared(
        "solve",
        {
            "between": lambda answer: {name: [*ends] for name, ends in answer.between.items()},
            "undecided": lambda answer: [{name: [*ends] for name, ends in box.items()} for box in answer.undecided],
        },
    )
    latex_writer = "tex_tables.solution_tables"
    latex_packages = ("booktabs", "siunitx")

    relative: bool = False
    sort: bool = False
    """Whether the variable with the largest derivative, or with `relative` the largest elasticity, is the first."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of csv and tsv."""
        return (*self.csv_columns[:-1], "elasticity", "error") if self.relative else self.csv_columns

    def rows(self, answer: Solved) -> Iterator[OutputRow]:
        for k, solution in enumerate(answer.solutions, start=1):
            for name, value in solution.values.items():
                row = {"solution": k, "unknown": name, "value": value, "off": solution.errors[name]}
                slopes = (solution.derivatives or {}).get(name, {})
                for variable, slope in slopes.items():
                    share = (solution.elasticities or {}).get(name, {}).get(variable)
                    yield {**row, "variable": variable, "derivative": slope, "elasticity": share}
                if not slopes:
                    yield row
        for k, formula in enumerate(answer.formulas, start=1):
            yield {"solution": k, "unknown": formula.unknown, "value": formula.formula}
        if not answer.converged and not answer.solutions:
            yield {"error": f"{answer.reason}: {answer.message}"}

    def cells(self, answer: Solved) -> Iterator[dict[str, Any]]:
        for solution in answer.solutions:
            rows: dict[str, dict[str, Any]] = {name: dict.fromkeys(answer.variables) for name in answer.unknowns}
            rows |= solution.derivatives or {}
            slopes = {f"d_{name}_{x}": y for name, row in rows.items() for x, y in row.items()}
            for name, matrix in (solution.second or {}).items():
                slopes |= {f"d_{name}_{x}_{y}": z for x, row in matrix.items() for y, z in row.items()}
            yield {**solution.values, **slopes}
        if not answer.solutions:
            before = "" if answer.message.startswith(f"{answer.reason}:") else f"{answer.reason}: "
            yield {"error": f"{before}{answer.message}"}

    def one_line(self, answer: Solved) -> str:
        formulas = [f"{formula.unknown} = {formula.formula}" for formula in answer.formulas]
        return (
            "; ".join([*(" ".join(words(solution.values)) for solution in answer.solutions), *formulas])
            or answer.reason
        )

    def document(self, answer: Solved) -> Iterator[Block]:
        for solution in answer.solutions:
            for name, value in solution.values.items():
                line = stated(name, value, self.digits or (7 if solution.multiplicity is None else 10))
                yield Line((*line.pieces, (_reliable(answer, solution.errors[name]), "faint")))
            if quality := _quality(answer, solution):
                yield Line(sentence(quality, "faint"))
            if solution.derivatives:
                yield _derivatives(answer, solution, self.digits, self.sort)
            for name, matrix in (solution.second or {}).items():
                rows = [row.values() for row in matrix.values()]
                yield matrix_table(f"second derivative of {name}", list(matrix), rows, self.digits)
        for formula in answer.formulas:
            line = stated(formula.unknown, formula.formula)
            where: Pieces = (("   where ", "faint"), (formula.condition, "number")) if formula.condition else ()
            yield Line((*line.pieces, *where))
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
    return {name for solution in answer.solutions for row in (solution.derivatives or {}).values() for name in row}


def _derivatives(answer: Solved, solution: Solution, digits: int | None, sort: bool) -> Table:
    assert solution.derivatives is not None
    shares = solution.elasticities or {}
    columns: list[Mapping[str, Any]] = [*solution.derivatives.values(), *shares.values()]
    heads = ["variable", "value", *(f"derivative of {name}" for name in solution.derivatives)]
    heads += [f"elasticity of {name}" for name in shares]
    variables = list(columns[0])
    if sort:
        sizes = columns[len(solution.derivatives) :] or columns
        variables.sort(key=lambda name: -max(abs(float(row[name] or 0)) for row in sizes))
    rows = [(name, answer.point[name], *(row[name] for row in columns)) for name in variables]
    return numbers_table(heads, rows, digits, right=answer.arithmetic.name == "double")


def _reliable(answer: Solved, error: float | None) -> str:
    """How far an unknown may be off, in words."""
    if answer.arithmetic.name == "certified":
        return "  (proven)"
    if error == 0:
        return "  (exact)"
    return "" if error is None else f"  (off by {format_number(error, 2)} at most)"


def _quality(answer: Solved, solution: Solution) -> str:
    """How well the equations are solved, in words."""
    if answer.arithmetic.name == "certified":
        return "proven: there is exactly one solution there" if len(answer.solutions) == 1 else ""
    if answer.arithmetic.name == "precision":
        return "all digits agree with those of a computation in more"
    left = ", ".join(format_number(x, 2) for x in solution.residuals)
    if solution.simple or solution.multiplicity == 1 or not any(error != 0 for error in solution.errors.values()):
        return f"left side less right side: {left}"
    if solution.multiplicity is None:
        return f"left side less right side: {left}; a multiple root, with about half the digits"
    return f"left side less right side: {left}; a root of multiplicity {solution.multiplicity}"
