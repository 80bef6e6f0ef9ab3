"""A Fit in every form: a table of the parameters, rows, a record, on one line, and as a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..inputs.figures import Shown
from ..optimize.fit import Fit
from ..uncertainty.measured_value import concise
from .characters import Theme, on_one_line, shortened
from .document import Block, Line, circumstances, matrix_table, numbers_table, sentence
from .plots import PICTURES
from .schema import REMARKS, Field, OutputRow, View

HELD = {
    "fixed": "held",
    "bound": "at its bound",
    "undetermined": "not determined",
}


def _of_parameters(attribute: str) -> Callable[[Fit], dict[str, Any]]:
    """Return a function from a fit to an attribute of each parameter, by name."""
    return lambda answer: {name: getattr(each, attribute) for name, each in answer.parameters.items()}


class FitView(View[Fit]):
    """How a fit is shown."""

    fields = (
        Field("response", "what the formula explains"),
        Field("parameters", "the estimates, by name", _of_parameters("estimate"), figures=True, column="estimate"),
        Field(
            "standard_errors",
            "the standard errors, by name; null for what was held",
            _of_parameters("error"),
            figures=True,
            column="standard_error",
        ),
        Field("rss", "the weighted sum of the squared residuals", figures=True, column="rss"),
        Field("deviation", "the residual standard deviation", figures=True, column="deviation"),
        Field(
            "intervals",
            "the ends of the confidence intervals, by name",
            lambda answer: {name: each.interval and [*each.interval] for name, each in answer.parameters.items()},
        ),
        Field(
            "linear",
            "the parameters that the formula is linear in",
            lambda answer: [name for name, each in answer.parameters.items() if each.linear],
        ),
        Field(
            "held",
            "why a parameter has no standard error, by name: `fixed`, `bound` or `undetermined`",
            lambda answer: {name: each.held for name, each in answer.parameters.items() if each.held},
            column="held",
        ),
        Field("correlation", "the correlations of the estimates, by two names"),
        Field("null", "directions of the parameters that the data do not determine"),
        Field("rows", "how many rows of data"),
        Field("dof", "degrees of freedom"),
        Field("r_squared", "the coefficient of determination R²"),
        Field("level", "the level of the confidence intervals"),
        Field("loss", "the loss"),
        Field("converged", "whether the fit has converged"),
        Field("reason", "why it ended: `converged`, `undetermined`, `stuck` or `interrupted`"),
        Field("message", "the reason in words"),
        Field("method", "the method"),
        Field("evaluations", "how often the data were evaluated"),
        *REMARKS,
    )
    csv_columns = (
        "line",
        "id",
        "parameter",
        "estimate",
        "standard_error",
        "low",
        "high",
        "held",
        "rss",
        "deviation",
        "error",
    )
    row_key = ("parameter", "parameters")
    line_fields = ("parameters",)
    extra_formats = PICTURES

    theme: Theme = "auto"

    def rows(self, answer: Fit) -> Iterator[OutputRow]:
        for row, parameter in zip(super().rows(answer), answer.parameters.values(), strict=False):
            low, high = parameter.interval or (None, None)
            yield {**row, "low": low, "high": high}

    def document(self, answer: Fit) -> Iterator[Block]:
        double = answer.arithmetic.name == "double"
        rows: list[tuple[Shown | str | None, ...]] = []
        for name, each in answer.parameters.items():
            if each.error is None:
                rows.append((name, each.estimate, None, HELD.get(each.held, "–"), ""))
            else:
                low, high = map(self.number, each.interval or (None, None))
                written = concise(float(each.estimate), float(each.error))
                rows.append((name, each.estimate, each.error, f"{low} to {high}", written))
        heads = ("parameter", "estimate", "standard error", f"{100 * answer.level:.4g} % interval", "written")
        yield numbers_table(heads, rows, self.digits, right=(1, 2) if double else ())
        yield from circumstances(answer.constants, {}, {}, self.digits)
        freedom = f"{answer.dof} degree{'' if answer.dof == 1 else 's'} of freedom"
        yield Line(
            sentence(
                f"residual standard deviation {self.number(answer.deviation)} with {freedom} "
                f"({answer.rows} rows), R² = {self.number(answer.r_squared)}"
            )
        )
        yield Line(sentence(f"sum of squares {self.number(answer.rss)}"))
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

    def draw(self, answer: Fit, format: str) -> bytes:
        from .plots.fitted import fit_figure

        return fit_figure(answer, format, shortened(on_one_line(answer.text)), self.theme)
