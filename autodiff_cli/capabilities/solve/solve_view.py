"""The view of the solutions of equations."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

from ...language.elements import nested_record
from ...questions.arithmetic import DOUBLE
from ...show.document import (
    Block,
    Paragraph,
    Table,
    formula_line,
    input_lines,
    matrix_table,
    numbers_table,
    text_line,
    value_line,
)
from ...show.numerals import attach_units, format_number, heading, words
from ...show.schema import OutputRow, Values, View
from .solve import Solution, Solved

# How many other solutions, and undecided boxes, are listed.
MAX_LISTED = 6


class SolvedView(View[Solved], of=Solved):
    """How solutions of equations are shown."""

    computed: ClassVar[Values] = {
        "between": lambda answer: {name: [*ends] for name, ends in answer.between.items()},
        "undecided": lambda answer: [
            {name: [*ends] for name, ends in box.items()} for box in answer.undecided
        ],
    }
    latex_writer = "solve.solve_latex.solution_tables"

    relative: bool = False
    sort: bool = False
    """Whether the largest derivative, or `relative` elasticity, is first."""

    @property
    def columns(self) -> tuple[str, ...]:
        return (
            (*self.csv_columns[:-1], "elasticity", "error") if self.relative else self.csv_columns
        )

    def record(self, answer: Solved) -> dict[str, Any]:
        record = super().record(answer)
        # unknowns are no part of the point
        return (
            nested_record(record) if any(name.endswith("]") for name in answer.unknowns) else record
        )

    def formula_sides(self, answer: Solved) -> Sequence[tuple[str, str]]:
        from ...show.tex_tables import equation_sides  # only notebooks need it

        return equation_sides(answer.text)

    def attach_units(self, answer: Solved, units: Mapping[str, Any]) -> Solved:
        solutions = [attach_units(solution, units) for solution in answer.solutions]
        return answer._replace(
            solutions=solutions, point=attach_units(answer.point, units["point"])
        )

    def rows(self, answer: Solved) -> Iterator[OutputRow]:
        errors = {} if answer.units is None else answer.units.texts().get("errors", {})
        for k, solution in enumerate(answer.solutions, start=1):
            for name, value in solution.values.items():
                row = {"solution": k, "unknown": name, "value": value, "off": solution.errors[name]}
                row["off_unit"] = errors.get(name)
                slopes = (solution.derivatives or {}).get(name, {})
                for variable, slope in slopes.items():
                    share = (solution.elasticities or {}).get(name, {}).get(variable)
                    yield {**row, "variable": variable, "derivative": slope, "elasticity": share}
                if not slopes:
                    yield row
        for k, formula in enumerate(() if answer.solutions else answer.formulas, start=1):
            yield {"solution": k, "unknown": formula.unknown, "value": formula.formula}
        if not answer.converged and not answer.solutions:
            yield {"error": f"{answer.reason}: {answer.message}"}

    def cells(self, answer: Solved) -> Iterator[dict[str, Any]]:
        slope_units = {} if answer.units is None else answer.units.texts().get("derivatives", {})
        for solution in answer.solutions:
            cells: dict[str, Any] = {**solution.values}
            slopes = solution.derivatives or {}
            for name, by in product(answer.unknowns, answer.variables):
                slope = slopes.get(name, {}).get(by)
                # the column has its unit also where a solution has no derivatives
                unit = slope_units.get(name, {}).get(by) if slope is None else None
                cells[heading(f"d_{name}_{by}", unit)] = slope
            for name, matrix in (solution.second or {}).items():
                cells |= {
                    f"d_{name}_{x}_{y}": z for x, row in matrix.items() for y, z in row.items()
                }
            yield cells
        if not answer.solutions:
            before = "" if answer.message.startswith(f"{answer.reason}:") else f"{answer.reason}: "
            yield {"error": f"{before}{answer.message}"}

    def one_line(self, answer: Solved) -> str:
        solutions = [" ".join(words(solution.values)) for solution in answer.solutions]
        formulas = [f"{formula.unknown} = {formula.formula}" for formula in answer.formulas]
        return "; ".join(solutions or formulas) or answer.reason

    def document(self, answer: Solved) -> Iterator[Block]:
        for solution in answer.solutions:
            yield from self._solution(answer, by_size(answer, solution))
        for formula in answer.formulas:
            yield formula_line(formula.unknown, formula.formula, formula.condition)
        whole = dict.fromkeys(name for formula in answer.formulas for name in formula.whole)
        if whole:
            yield text_line(f"{' and '.join(whole)}: any whole number", "faint")
        differentiated = any(solution.derivatives for solution in answer.solutions)
        wanted = answer.variables if differentiated else ()
        yield from input_lines(answer.constants, answer.point, wanted, self.digits)
        if answer.message != "solved":
            yield Paragraph(((answer.message, "" if answer.converged else "heading"),))
        units: Mapping[str, Any] = answer.units.get("values", {}) if answer.units else {}
        if answer.others:
            others = attach_units(
                [*answer.others[:MAX_LISTED]], [units.get(answer.unknowns[0])] * MAX_LISTED
            )
            more = len(answer.others) - MAX_LISTED
            near = ", ".join(map(self.number, others)) + (f" and {more:,} more" if more > 0 else "")
            yield text_line(
                f"there are other solutions between the bounds, near {near}: `--all` lists them"
            )
        for box in answer.undecided[:MAX_LISTED]:
            ranges = ", ".join(
                f"{name} from {low!r} to {high!r} {units.get(name, '')}".rstrip()
                for name, (low, high) in box.items()
            )
            yield text_line(f"undecided: {ranges}")

    def _solution(self, answer: Solved, solution: Solution) -> Iterator[Block]:
        for name, value in solution.values.items():
            error = solution.errors[name]
            digits = self.digits or (7 if solution.multiplicity is None and error is None else 10)
            proven = answer.arithmetic.name == "certified"
            shown = f"{value:.{digits}g}" if isinstance(value, float) else ""
            reliable = _reliability(shown, error, solution.exact, proven=proven)
            yield Paragraph((*value_line(name, value, digits).pieces, (reliable, "faint")))
        for name, value in (solution.bound or {}).items():
            yield value_line(name, value, self.digits or 10)
        if quality := _quality(answer, solution):
            yield text_line(quality, "faint")
        if solution.derivatives:
            yield self._derivatives(answer, solution)
        for name, matrix in (solution.second or {}).items():
            rows = [row.values() for row in matrix.values()]
            yield matrix_table(f"second derivative of {name}", list(matrix), rows, self.digits)

    def _derivatives(self, answer: Solved, solution: Solution) -> Table:
        slopes, shares = solution.derivatives or {}, solution.elasticities or {}
        columns: list[Mapping[str, Any]] = [*slopes.values(), *shares.values()]
        heads = ["variable", "value", *(f"derivative of {name}" for name in slopes)]
        heads += [f"elasticity of {name}" for name in shares]
        variables = list(columns[0])
        if self.sort:
            sizes = columns[len(slopes) :] or columns
            variables.sort(key=lambda name: -max(abs(float(row[name] or 0)) for row in sizes))
        rows = [(name, answer.point[name], *(row[name] for row in columns)) for name in variables]
        return numbers_table(heads, rows, self.digits, right=answer.arithmetic.name == "double")


def _is_number(formula: str) -> bool:
    return formula.lstrip("-").replace("/", "", 1).isdigit()


def _reliability(shown: str, error: float | None, exact: str, *, proven: bool) -> str:
    """Return what is known of the digits of a solution."""
    if proven:
        return "  (proven)"
    if shown and _is_number(exact) and Fraction(exact) == Fraction(shown):
        return "  (exact)"
    if exact and error != 0:
        return f"  (exactly {exact})"
    if error is None:
        return ""
    return f"  (off by {format_number(error, 2)} at most)" if error else "  (exact)"


def by_size(answer: Solved, solution: Solution) -> Solution:
    """Return a solution in readable prefixes of its units."""
    units = answer.units
    if units is None or answer.arithmetic is not DOUBLE:
        return solution
    from ...engine.quantities.unit import Unit, ratio, readable_unit

    old: Mapping[str, Unit] = units["values"]
    new = {}
    for x, value in solution.values.items():
        new[x] = old[x] if x in units.asked else readable_unit(old[x], float(value))
    at = {x: unit.difference for x, unit in units["point"].items()}
    shown: dict[str, Any] = {
        "values": new,
        "errors": {name: unit.difference for name, unit in new.items()},
    }
    slopes = units["derivatives"].items()
    shown["derivatives"] = {
        u: {x: ratio(new[u], at[x], kept=u in units.asked) for x in row} for u, row in slopes
    }
    if "second" in units:
        shown["second"] = {
            u: {
                x: {y: ratio(new[u], at[x] * at[y], higher=True) for y in row}
                for x, row in matrix.items()
            }
            for u, matrix in units["second"].items()
        }

    scaled: Solution = attach_units(solution, shown, units)
    return scaled


def _quality(answer: Solved, solution: Solution) -> str:
    several = (
        f"a root of multiplicity {solution.multiplicity}"
        if (solution.multiplicity or 1) > 1
        else ""
    )
    if answer.arithmetic.name == "certified":
        one = (
            "proven: there is exactly one solution there"
            if len(answer.solutions) == 1 and solution.proven
            else ""
        )
        return "; ".join(filter(None, (one, several)))
    if answer.arithmetic.name == "precision":
        return "; ".join(
            filter(None, ("all digits agree with those of a computation in more", several))
        )
    left = ", ".join(format_number(x, 2) for x in solution.residuals)
    is_one_of_many = any(warning.kind == "flat" for warning in answer.warnings)
    is_doubtful = not solution.simple and solution.multiplicity is None and not is_one_of_many
    if is_doubtful and None in solution.errors.values():
        several = (
            "a multiple root"
            if len(solution.values) == 1
            else "the derivative by the unknowns is nearly singular there"
        )
        several += ", with about half the digits"
    return "; ".join(filter(None, (f"left side less right side: {left}", several)))
