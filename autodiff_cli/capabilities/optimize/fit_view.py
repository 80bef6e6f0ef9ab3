"""The view of a Fit."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ...capability import resolve
from ...errors import plural
from ...questions.figures import Shown
from ...questions.measured_value import concise
from ...show.document import (
    Block,
    Paragraph,
    input_lines,
    matrix_table,
    numbers_table,
    quantity_text,
    text_line,
)
from ...show.numerals import (
    attach_units,
    format_number,
    goodness_text,
    percent,
    unit_of,
    without_unit,
)
from ...show.schema import OutputRow, PicturedView, Values
from .fit import Fit

HELD = {"fixed": "held", "bound": "at its bound", "undetermined": "not determined"}
# The columns of csv after those of the predictors.
PREDICTED: tuple[str, ...] = (
    "value",
    "confidence_low",
    "confidence_high",
    "prediction_low",
    "prediction_high",
)


class FitView(PicturedView[Fit], of=Fit):
    """How a fit is shown."""

    computed: ClassVar[Values] = {
        "parameters": lambda answer: {name: x.estimate for name, x in answer.parameters.items()},
        "standard_errors": lambda answer: {name: x.error for name, x in answer.parameters.items()},
        "intervals": lambda answer: {
            name: x.interval and [*x.interval] for name, x in answer.parameters.items()
        },
        "linear": lambda answer: [name for name, x in answer.parameters.items() if x.linear],
        "held": lambda answer: {name: x.held for name, x in answer.parameters.items() if x.held},
    }
    latex_writer, figure = "optimize.fit_latex.fit_table", "plot.figure.fit_picture"
    row_key = ("parameter", "parameters")

    predicted: tuple[str, ...] = ()

    def __init__(self, **choices: Any) -> None:
        super().__init__(**choices)
        if self.predicted:
            numbers = (*self.predicted, *PREDICTED)
            self.csv_columns, self.unit_columns = (
                ("line", "id", *numbers, "error"),
                frozenset(numbers),
            )

    def attach_units(self, answer: Fit, units: Mapping[str, Any]) -> Fit:
        of_parameters = {
            name: {"estimate": unit, "error": unit} for name, unit in units["parameters"].items()
        }
        return attach_units(answer, {**units, "parameters": of_parameters})  # type: ignore[no-any-return]

    def rows(self, answer: Fit) -> Iterator[OutputRow]:
        if self.predicted:
            of_columns = answer.units.texts()["data"] if answer.units is not None else {}
            of_curve = dict.fromkeys(PREDICTED, of_columns.get(answer.response))
            named = (of_columns | of_curve).items()
            units = {f"{name}_unit": unit for name, unit in named if unit is not None}
            for prediction in answer.predictions:
                ends = [
                    *(prediction.confidence or (None, None)),
                    *(prediction.prediction or (None, None)),
                ]
                numbers = zip(PREDICTED, (prediction.value, *ends), strict=True)
                yield {**prediction.point, **dict(numbers), **units}
            return
        for row, parameter in zip(super().rows(answer), answer.parameters.values(), strict=False):
            low, high = parameter.interval or (None, None)
            yield {**row, "low": low, "high": high}

    def document(self, answer: Fit) -> Iterator[Block]:
        double = answer.arithmetic.name == "double"
        heads = (
            "parameter",
            "estimate",
            "standard error",
            f"{percent(answer.level)} interval",
            "written",
        )
        rows = [self._parameter(answer, name) for name in answer.parameters]
        yield numbers_table(heads, rows, self.digits, right=(1, 2) if double else ())
        yield from input_lines(answer.constants, {}, {}, self.digits)
        yield from map(text_line, self._quality(answer))
        if answer.interval_method == "profile" and answer.deviance is not None:
            yield text_line("intervals by the profile of the likelihood")
        elif answer.interval_method == "profile":
            yield text_line(
                "intervals by the profile of the sum of squares: standard errors alone would"
                " mislead"
            )
        linear = [f"`{name}`" for name, parameter in answer.parameters.items() if parameter.linear]
        if linear:
            yield text_line(f"linear in {', '.join(linear)}")
        effort = f"{plural(answer.evaluations, 'evaluation')} of the data"
        yield Paragraph(((f"{answer.message} ({effort})", "" if answer.converged else "heading"),))
        if answer.tried:
            yield text_line(answer.tried)
        if answer.arithmetic.name == "certified":
            yield text_line("proven: there is exactly one solution of the normal equations there")
        names = list(answer.correlation)
        if len(names) > 1:
            yield matrix_table(
                "correlation", names, [row.values() for row in answer.correlation.values()]
            )
        if answer.predictions:
            yield self._predictions(answer)

    def _parameter(self, answer: Fit, name: str) -> tuple[Shown | str | None, ...]:
        """Return the row of a parameter, in a unit in which it is easy to read if none is asked
        for.
        """
        parameter = answer.parameters[name]
        estimate, error, ends = parameter.estimate, parameter.error, parameter.interval
        unit = unit_of(estimate)
        is_free = (
            answer.arithmetic.name == "double"
            and answer.units is not None
            and name not in answer.units.asked
        )
        if unit is not None and is_free:
            from ...engine.quantities.presentation import factor
            from ...engine.quantities.unit import readable_unit

            shown = readable_unit(unit, max(abs(float(estimate)), float(error or 0)))
            times, unit = factor(unit, shown), shown
            estimate = float(estimate) * times
            error = None if error is None else float(error) * times
            ends = ends and (_times(ends[0], times), _times(ends[1], times))
        estimate = without_unit(estimate)
        if error is None:
            written = "" if unit is None else quantity_text(estimate, unit, self.digits)
            return name, estimate, None, HELD.get(parameter.held, "–"), written
        written = f"{concise(float(estimate), float(error))} {unit or ''}".rstrip()
        return name, estimate, without_unit(error), self._interval(ends), written

    def _predictions(self, answer: Fit) -> Block:
        """Return the table of the curve at the points of `--predict`."""
        names, level = answer.predictors, percent(answer.level)
        rows = [
            (
                *(row.point[name] for name in names),
                row.value,
                *map(self._between, (row.confidence, row.prediction)),
            )
            for row in answer.predictions
        ]
        columns = [*map(answer.heading_of, (*names, answer.response))]
        columns += [f"{level} confidence", f"{level} prediction"]
        return numbers_table(
            columns, rows, self.digits, right=range(len(names) + 1), style="number"
        )

    def drawing(self, answer: Fit) -> str | None:
        from ...show.chart import Panel, chart  # only notebooks need it

        observed, response = answer.columns[answer.response], answer.heading_of(answer.response)
        if len(answer.predictors) == 1:
            (predictor,) = answer.predictors
            across, below = answer.columns[predictor], answer.heading_of(predictor)
        else:
            across, below = answer.fitted, f"fitted {response}"
        curve = [(x, y) for x, y, _ in answer.curve]
        band = [(x, y - wide, y + wide) for x, y, wide in answer.curve if wide]
        if len(answer.predictors) != 1:
            curve, band = [(end, end) for end in (min(across), max(across))], []
        data, residuals = (_places(across, heights) for heights in (observed, answer.residuals))
        panels = [
            Panel(response, 150, data, curve, band),
            Panel("residual", 55, residuals, zero=True),
        ]
        return chart(panels, below, f"data, fitted curve and residuals of {response}")

    def formula_sides(self, answer: Fit) -> Sequence[tuple[str, str]]:
        sides: Sequence[tuple[str, str]] = resolve("optimize.fit_latex.model_sides")(answer)
        return sides

    def _interval(self, ends: tuple[float | None, float | None] | None) -> str:
        if ends is None:
            return "–"
        low, high = ends
        return (
            f"{'-∞' if low is None else self.number(low)} to"
            f" {'∞' if high is None else self.number(high)}"
        )

    def _between(self, ends: tuple[float, float] | None) -> str:
        return "–" if ends is None else f"{self.number(ends[0])} to {self.number(ends[1])}"

    def _likelihood(self, answer: Fit, freedom: str) -> Iterator[str]:
        """Yield sentences on a fit by a likelihood."""
        goodness = answer.goodness
        tail = "" if goodness.p_value is None else f", p = {format_number(goodness.p_value, 2)}"
        yield (
            f"{answer.loss} deviance {goodness_text(answer.deviance or 0.0, self.digits)} with"
            f" {freedom}{tail}"
        )
        yield "standard errors by the expected information"
        likelihood = goodness_text(goodness.log_likelihood or 0.0, self.digits)
        yield (
            f"log-likelihood = {likelihood}, AIC ="
            f" {goodness_text(goodness.aic or 0.0, self.digits)}"
        )

    def _quality(self, answer: Fit) -> Iterator[str]:
        goodness = answer.goodness
        freedom = f"{plural(answer.dof, 'degree')} of freedom ({plural(answer.rows, 'row')})"
        freedom += (
            ""
            if answer.r_squared is None
            else f", R² = {goodness_text(answer.r_squared, self.digits)}"
        )
        if answer.deviance is not None:
            yield from self._likelihood(answer, freedom)
            return
        if answer.deviation is not None:
            yield f"residual standard deviation {self.number(answer.deviation)} with {freedom}"
        if goodness.chi_squared is None:
            yield f"sum of squares {self.number(answer.rss)}" + f" with {freedom}" * (
                answer.deviation is None
            )
        else:
            tail = ""
            if goodness.reduced is not None:
                tail = (
                    f"; χ²/ν = {goodness_text(goodness.reduced, self.digits)}, p ="
                    f" {format_number(goodness.p_value, 2)}"
                )
            yield (
                f"χ² = {goodness_text(float(without_unit(answer.rss)), self.digits)} with"
                f" {freedom}{tail}"
            )
            scale = format_number(math.sqrt(goodness.reduced or 0.0), 4)
            scaled = f"scaled by √(χ²/ν) = {scale}"
            yield f"standard errors {'by `--sigma` alone' if answer.absolute_sigma else scaled}"
        if goodness.aic is not None:
            aic, bic = (goodness_text(x, self.digits) for x in (goodness.aic, goodness.bic or 0.0))
            yield f"AIC = {aic}, BIC = {bic}"
        runs, normality = goodness.runs, goodness.normality
        if runs is not None:
            expected, p = format_number(runs.expected, 3), format_number(runs.p_value, 2)
            yield f"runs of residuals of one sign: {runs.runs}, expected {expected}, p = {p}"
        if normality is not None:
            statistic, p = (
                format_number(normality.statistic, 3),
                format_number(normality.p_value, 2),
            )
            yield f"normality of the residuals (Anderson-Darling): A² = {statistic}, p = {p}"


def _times(end: float | None, factor: float) -> float | None:
    return None if end is None else end * factor


def _places(across: Sequence[float], heights: Sequence[float]) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in zip(across, heights, strict=True)]
