"""The solutions of equations in every form: as a record, as rows, on one line, and as a document for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..equations.solve import Solution, Solved
from ..inputs.arithmetic import DOUBLE
from ..language.elements import nested_record
from .document import (
    Block,
    Line,
    Pieces,
    Table,
    circumstances,
    matrix_table,
    measured,
    measured_row,
    numbers_table,
    sentence,
    stated,
)
from .schema import OutputRow, View, declared, heading, words

if TYPE_CHECKING:
    from ..quantities.unit import Unit

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

    def record(self, answer: Solved) -> dict[str, Any]:
        record = super().record(answer)
        # unknowns are no part of the point
        return nested_record(record) if any(name.endswith("]") for name in answer.unknowns) else record

    def rows(self, answer: Solved) -> Iterator[OutputRow]:
        texts = {} if answer.units is None else answer.units.texts()
        of_values, of_slopes, of_errors = (texts.get(key, {}) for key in ("values", "derivatives", "errors"))
        for k, solution in enumerate(answer.solutions, start=1):
            for name, value in solution.values.items():
                row = {"solution": k, "unknown": name, "value": value, "off": solution.errors[name]}
                row |= {"value_unit": of_values.get(name), "off_unit": of_errors.get(name)}
                slopes = (solution.derivatives or {}).get(name, {})
                for variable, slope in slopes.items():
                    share = (solution.elasticities or {}).get(name, {}).get(variable)
                    unit = of_slopes.get(name, {}).get(variable)
                    yield {
                        **row,
                        "variable": variable,
                        "derivative": slope,
                        "derivative_unit": unit,
                        "elasticity": share,
                    }
                if not slopes:
                    yield row
        for k, formula in enumerate(answer.formulas, start=1):
            yield {"solution": k, "unknown": formula.unknown, "value": formula.formula}
        if not answer.converged and not answer.solutions:
            yield {"error": f"{answer.reason}: {answer.message}"}

    def unit_columns(self, units: Mapping[str, Any]) -> frozenset[str]:
        return frozenset(("value", "off", "derivative"))

    def cells(self, answer: Solved) -> Iterator[dict[str, Any]]:
        units = {} if answer.units is None else answer.units.texts()
        of_values, of_slopes, of_second = (units.get(key, {}) for key in ("values", "derivatives", "second"))
        for solution in answer.solutions:
            rows: dict[str, dict[str, Any]] = {name: dict.fromkeys(answer.variables) for name in answer.unknowns}
            rows |= solution.derivatives or {}
            slopes = {
                heading(f"d_{name}_{x}", of_slopes.get(name, {}).get(x)): y
                for name, row in rows.items()
                for x, y in row.items()
            }
            for name, matrix in (solution.second or {}).items():
                own = of_second.get(name, {})
                slopes |= {
                    heading(f"d_{name}_{x}_{y}", own.get(x, {}).get(y)): z
                    for x, row in matrix.items()
                    for y, z in row.items()
                }
            yield {**{heading(name, of_values.get(name)): x for name, x in solution.values.items()}, **slopes}
        if not answer.solutions:
            before = "" if answer.message.startswith(f"{answer.reason}:") else f"{answer.reason}: "
            yield {"error": f"{before}{answer.message}"}

    def one_line(self, answer: Solved) -> str:
        units = answer.units["values"] if answer.units is not None and answer.solutions else None
        formulas = [f"{formula.unknown} = {formula.formula}" for formula in answer.formulas]
        return (
            "; ".join([*(" ".join(words(solution.values, units)) for solution in answer.solutions), *formulas])
            or answer.reason
        )

    def _solution(self, answer: Solved, solution: Solution) -> Iterator[Block]:
        """A solution for people."""
        units: Mapping[str, Any] = answer.units or {}
        of_values, of_second = units.get("values", {}), units.get("second")
        for name, value in solution.values.items():
            digits = self.digits or (7 if solution.multiplicity is None else 10)
            line = stated(name, value, digits, unit=of_values.get(name))
            yield Line(
                (
                    *line.pieces,
                    (_reliable(answer, solution.errors[name], units.get("errors", {}).get(name)), "faint"),
                )
            )
        if quality := _quality(answer, solution):
            yield Line(sentence(quality, "faint"))
        if solution.derivatives:
            yield _derivatives(answer, solution, self.digits, self.sort)
        for name, matrix in (solution.second or {}).items():
            rows = [row.values() for row in matrix.values()]
            own = of_second and [row.values() for row in of_second[name].values()]
            yield matrix_table(f"second derivative of {name}", list(matrix), rows, self.digits, own)

    def document(self, answer: Solved) -> Iterator[Block]:
        for answer_in_units, solution in [by_size(answer, solution) for solution in answer.solutions]:
            yield from self._solution(answer_in_units, solution)
        units: Mapping[str, Any] = answer.units or {}
        of_values = units.get("values", {})
        for formula in answer.formulas:
            line = stated(formula.unknown, formula.formula)
            where: Pieces = (("   where ", "faint"), (formula.condition, "number")) if formula.condition else ()
            yield Line((*line.pieces, *where))
        held = _differentiated(answer)
        yield from circumstances(answer.constants, answer.point, held, self.digits, units.get("point"))
        if answer.message != "solved":
            yield Line(((answer.message, "" if answer.converged else "heading"),))
        if answer.others:
            unit = of_values.get(answer.unknowns[0])
            shown = ", ".join(measured(x, unit, self.digits) for x in answer.others[:LISTED])
            more = f" and {len(answer.others) - LISTED:,} more" if len(answer.others) > LISTED else ""
            others = f"there are other solutions between the bounds, near {shown}{more}"
            yield Line(sentence(f"{others}: `--all` lists them"))
        for box in answer.undecided[:LISTED]:
            ranges = ", ".join(
                f"{name} from {low!r} to {high!r} {of_values.get(name, '')}".rstrip()
                for name, (low, high) in box.items()
            )
            yield Line(sentence(f"undecided: {ranges}"))


def by_size(answer: Solved, solution: Solution) -> tuple[Solved, Solution]:
    """The answer and one of its solutions, with the prefixes that make its values easiest to read.

    Unknowns whose units were asked for, or typed with their bounds or starts, keep them.
    """
    units = answer.units
    if units is None or answer.arithmetic is not DOUBLE:
        return answer, solution
    from ..quantities.unit import ratio, readable
    from ..quantities.unit_system import factor

    old: Mapping[str, Unit] = units["values"]
    new = {x: old[x] if x in units.asked else readable(old[x], float(value)) for x, value in solution.values.items()}
    if new == old:
        return answer, solution
    shown = type(units)({**units, "values": new, "errors": {name: unit.difference for name, unit in new.items()}})
    at = {x: unit.difference for x, unit in units["point"].items()}
    shown["derivatives"] = {u: {x: ratio(new[u], at[x]) for x in row} for u, row in units["derivatives"].items()}
    if "second" in units:
        shown["second"] = {
            u: {x: {y: ratio(new[u], at[x] * at[y], higher=True) for y in row} for x, row in matrix.items()}
            for u, matrix in units["second"].items()
        }

    def converted(numbers: Any, of: Any, to: Any) -> Any:
        if isinstance(numbers, dict):
            return {name: converted(x, of[name], to[name]) for name, x in numbers.items()}
        return numbers and numbers * factor(of, to)

    changed = {
        field: converted(getattr(solution, field), units[field], shown[field])
        for field in ("values", "errors", "derivatives", "second")
        if field in units
    }
    return answer._replace(units=shown), solution._replace(**changed)


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
    if answer.units is not None:
        from ..quantities.unit import Unit

        at, slopes = answer.units["point"], answer.units["derivatives"].values()
        units = {name: [at[name], *(row[name] for row in slopes), *([Unit()] * len(shares))] for name in variables}
        rows = [(name, *measured_row(numbers, units[name], digits)) for name, *numbers in rows]
    return numbers_table(heads, rows, digits, right=answer.arithmetic.name == "double" and answer.units is None)


def _reliable(answer: Solved, error: float | None, unit: Unit | None) -> str:
    """How far an unknown may be off, in words."""
    if answer.arithmetic.name == "certified":
        return "  (proven)"
    if error == 0:
        return "  (exact)"
    return "" if error is None else f"  (off by {measured(error, unit, 2)} at most)"


def _quality(answer: Solved, solution: Solution) -> str:
    """How well the equations are solved, in words."""
    if answer.arithmetic.name == "certified":
        return "proven: there is exactly one solution there" if len(answer.solutions) == 1 else ""
    if answer.arithmetic.name == "precision":
        return "all digits agree with those of a computation in more"
    units = [None] * len(solution.residuals) if answer.units is None else answer.units["residuals"]
    left = ", ".join(measured(x, unit, 2) for x, unit in zip(solution.residuals, units, strict=True))
    if solution.simple or solution.multiplicity == 1 or not any(error != 0 for error in solution.errors.values()):
        return f"left side less right side: {left}"
    if solution.multiplicity is None:
        return f"left side less right side: {left}; a multiple root, with about half the digits"
    return f"left side less right side: {left}; a root of multiplicity {solution.multiplicity}"
