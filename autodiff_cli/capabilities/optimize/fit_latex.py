"""A fit as tables for a report, in LaTeX."""

from __future__ import annotations

from ...language.equation_trees import last_equation
from ...language.typesetting import equations, name_latex, text_latex, typesetting
from ...questions.figures import Shown
from ...questions.parse_point import is_name
from ...questions.problem import parse
from ...show.numerals import goodness_text, without_unit
from ...show.tex import unit_latex
from ...show.tex_tables import (
    formula_sides,
    latex_of,
    number,
    paragraphs,
    percentage,
    table,
    uncertain,
)
from .fit import Fit
from .fit_view import HELD
from .inference import Parameter

# The most parameters whose correlations fit on a page.
MAX_CORRELATED = 8


def fit_table(answer: Fit, digits: int | None) -> str:
    """Return the tables of a fit."""
    heads = ("parameter", "estimate", "standard error", rf"{percentage(answer.level)} interval")
    rows = [_parameter(name, parameter, digits) for name, parameter in answer.parameters.items()]
    parts = [_model(answer), table(heads, rows), _quality(answer, digits), _correlations(answer)]
    if answer.predictions:
        parts.append(_predictions(answer, digits))
    return paragraphs(*parts)


def _parameter(name: str, parameter: Parameter, digits: int | None) -> tuple[str, ...]:
    """Return the row of a parameter: its estimate, error and interval."""
    if parameter.error is None:
        held = text_latex(HELD.get(parameter.held, "--"))
        return latex_of(name), number(parameter.estimate, digits), "--", held
    low, high = parameter.interval or (None, None)
    interval = _between((low, high), digits)
    if parameter.interval is not None and None in (low, high):
        least = r"$-\infty$" if low is None else number(low, digits)
        interval = f"{least} to " + (r"$\infty$" if high is None else number(high, digits))
    written = uncertain(parameter.estimate, parameter.error)
    return (
        latex_of(name),
        written,
        number(parameter.error, digits),
        interval + unit_latex(parameter.estimate),
    )


def _between(ends: tuple[Shown | None, Shown | None], digits: int | None) -> str:
    return f"{number(ends[0], digits)} to {number(ends[1], digits)}"


def _correlations(answer: Fit) -> str:
    names = list(answer.correlation)
    if not 1 < len(names) <= MAX_CORRELATED:
        return ""
    entries = [(latex_of(a), *(number(answer.correlation[a][b], 3) for b in names)) for a in names]
    return table(("correlation", *map(latex_of, names)), entries, "r")


def _predictions(answer: Fit, digits: int | None) -> str:
    units = {} if answer.units is None else answer.units["data"]
    columns = [
        latex_of(name)
        + (rf" in {units[name].latex}" if name in units and units[name].atoms else "")
        for name in (*answer.predictors, answer.response)
    ]
    bands = [f"{percentage(answer.level)} {band}" for band in ("confidence", "prediction")]
    places = []
    for place in answer.predictions:
        point = [place.point[name] for name in answer.predictors]
        row = [number(x, digits) for x in (*point, place.value)]
        row += [
            _between(ends, digits) if ends else "--"
            for ends in (place.confidence, place.prediction)
        ]
        places.append(row)
    return table((*columns, *bands), places)


def model_sides(answer: Fit) -> list[tuple[str, str]]:
    """Return the sides of the equations that a fit is of."""
    names = [name for name in (*answer.columns, *answer.point) if name != answer.response]
    if is_name(answer.response):
        return formula_sides(answer.text, names, name_latex(answer.response))
    last, response = last_equation(answer.text), parse(answer.response, names)
    left = typesetting(response).expression(response.outputs[0])
    return formula_sides(last.program if last is not None else answer.text, names, left)


def _model(answer: Fit) -> str:
    sides = model_sides(answer)
    return equations(sides) if sides else ""


def _quality(answer: Fit, digits: int | None) -> str:
    goodness = answer.goodness
    parts = []
    if answer.deviance is not None:
        deviance = number(goodness_text(answer.deviance, digits))
        parts.append(rf"{answer.loss} deviance $D = {deviance}$ ($\nu = {answer.dof}$)")
    elif goodness.chi_squared is not None and goodness.reduced is not None:
        chi_squared, reduced = (
            goodness_text(float(without_unit(x)), digits) for x in (answer.rss, goodness.reduced)
        )
        parts.append(
            rf"$\chi^2/\nu = {number(chi_squared)}/{answer.dof} = {number(reduced)}$ "
            rf"($p = {number(goodness.p_value, 2)}$)"
        )
        parts.append(
            "standard errors "
            + ("by the given uncertainties" if answer.absolute_sigma else "scaled by its root")
        )
    elif answer.deviation is not None:
        deviation = number(answer.deviation, digits)
        parts.append(rf"residual standard deviation $s = {deviation}$ ($\nu = {answer.dof}$)")
    if answer.r_squared is not None:
        parts.append(rf"$R^2 = {number(goodness_text(answer.r_squared, digits))}$")
    if goodness.aic is not None and goodness.bic is not None:
        aic, bic = (number(goodness_text(x, digits)) for x in (goodness.aic, goodness.bic))
        parts.append(rf"$\mathrm{{AIC}} = {aic}$, $\mathrm{{BIC}} = {bic}$")
    parts.append(f"{answer.rows:,} rows of data".replace(",", r"\,"))
    return "; ".join(parts) + "."
