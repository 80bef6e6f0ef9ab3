"""A Fit in every form: a table of the parameters, rows, a record, on one line, and as a picture."""

from __future__ import annotations

from collections.abc import Iterator

from ..optimize.fit import Fit
from ..uncertainty.measured_value import concise
from .characters import Theme, on_one_line, shortened
from .document import Block, Line, Pieces, Table, circumstances, matrix_table, named_row, sentence
from .formats import OutputRow, View, remarks
from .numerals import format_number, number_fields, repr_number
from .plots import pictures

COLUMNS = ("line", "id", "parameter", "estimate", "standard_error", "low", "high", "held", "rss", "deviation", "error")
HELD = {
    "fixed": "held",
    "bound": "at its bound",
    "undetermined": "not determined",
}


def view(*, digits: int | None = None, theme: Theme = "auto") -> View[Fit]:
    """How a fit is shown; `digits` is for people only."""

    def record(answer: Fit) -> dict[str, object]:
        parameters = answer.parameters
        numbers = {
            "parameters": {name: each.estimate for name, each in parameters.items()},
            "standard_errors": {name: each.error for name, each in parameters.items()},
            "rss": answer.rss,
            "deviation": answer.deviation,
        }
        return {
            "response": answer.response,
            **number_fields(answer.arithmetic.name, numbers),
            "intervals": {n: None if p.interval is None else list(p.interval) for n, p in parameters.items()},
            "linear": [name for name, each in parameters.items() if each.linear],
            "held": {name: each.held for name, each in parameters.items() if each.held},
            "correlation": answer.correlation,
            "null": answer.null,
            "rows": answer.rows,
            "dof": answer.dof,
            "r_squared": answer.r_squared,
            "level": answer.level,
            "loss": answer.loss,
            "converged": answer.converged,
            "reason": answer.reason,
            "message": answer.message,
            "method": answer.method,
            "evaluations": answer.evaluations,
            **remarks(answer),
        }

    def rows(answer: Fit) -> Iterator[OutputRow]:
        common = {"rss": repr_number(answer.rss), "deviation": repr_number(answer.deviation)}
        for name, each in answer.parameters.items():
            low, high = each.interval or (None, None)
            yield {
                "parameter": name, "estimate": repr_number(each.estimate), "standard_error": repr_number(each.error),
                "low": repr_number(low), "high": repr_number(high), "held": each.held, **common,
            }  # fmt: skip

    def brief(answer: Fit) -> str:
        return " ".join(f"{name}={repr_number(each.estimate)}" for name, each in answer.parameters.items())

    def document(answer: Fit) -> Iterator[Block]:
        double = answer.arithmetic.name == "double"
        head = f"{100 * answer.level:.4g} % interval"
        cells: list[tuple[Pieces, ...]] = []
        for name, each in answer.parameters.items():
            if each.error is None:
                shown = [format_number(each.estimate, digits), "–", HELD.get(each.held, "–"), ""]
            else:
                low, high = (format_number(x, digits) for x in each.interval or (None, None))
                estimate, error = float(each.estimate), float(each.error)
                shown = [
                    format_number(each.estimate, digits), format_number(each.error, digits), f"{low} to {high}",
                    concise(estimate, error),
                ]  # fmt: skip
            cells.append(named_row((name, "name"), *shown))
        right = frozenset((1, 2)) if double else frozenset()
        yield Table(("parameter", "estimate", "standard error", head, "written"), cells, right)
        yield from circumstances(answer.constants, {}, {}, digits)
        freedom = f"{answer.dof} degree{'' if answer.dof == 1 else 's'} of freedom"
        yield Line(
            sentence(
                f"residual standard deviation {format_number(answer.deviation, digits)} with {freedom} "
                f"({answer.rows} rows), R² = {format_number(answer.r_squared, digits)}"
            )
        )
        yield Line(sentence(f"sum of squares {format_number(answer.rss, digits)}"))
        linear = [f"`{name}`" for name, each in answer.parameters.items() if each.linear]
        if linear:
            yield Line(sentence(f"linear in {', '.join(linear)}"))
        counted = f"{answer.evaluations} evaluation{'' if answer.evaluations == 1 else 's'} of the data"
        yield Line(((f"{answer.message} ({counted})", "" if answer.converged else "heading"),))
        if answer.arithmetic.name == "certified":
            yield Line(sentence("proven: there is exactly one solution of the normal equations there"))
        names = list(answer.correlation)
        if len(names) > 1:
            yield matrix_table("correlation", names, [row.values() for row in answer.correlation.values()])

    def picture(answer: Fit, format: str) -> bytes:
        from .plots.fitted import fit_figure

        return fit_figure(answer, format, shortened(on_one_line(answer.text)), theme)

    return View(record, rows, brief, document, COLUMNS, pictures(picture))
