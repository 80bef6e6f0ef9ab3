"""Answers as tables for a report, in LaTeX with booktabs and siunitx."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from ..capabilities.optimize.fit_view import HELD
from ..errors import ExpressionError
from ..language.equation_trees import last_equation
from ..language.typesetting import (
    equations,
    equations_of,
    expression_latex,
    name_latex,
    text_latex,
    typesetting,
)
from ..questions.figures import Shown
from ..questions.measured_value import concise, estimate, rounded
from ..questions.parse_point import is_name
from ..questions.problem import parse
from .numerals import (
    format_number,
    goodness_text,
    percent,
    repr_number,
    unit_of,
    without_unit,
)
from .siunitx import quantity_latex
from .tex import unit_latex

if TYPE_CHECKING:
    from ..capabilities.check.check import Check
    from ..capabilities.optimize.fit import Fit
    from ..capabilities.propagate.propagate import Propagation, Result
    from ..capabilities.solve.solve import Solved


MAX_CORRELATED = 8
"""The most parameters whose correlations fit on a page."""
_NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)(\(\d+\))?(e[+-]?\d+)?")


def number(x: Shown | str | None, digits: int | None = None) -> str:
    r"""Return a number as siunitx takes it, with its unit if any.

    >>> number("1.017(65)e-3"), number(math.inf), number(None)
    ('\\num{1.017(65)e-3}', '$\\infty$', '--')
    """
    if x is None:
        return "--"
    if isinstance(x, float) and math.isinf(x):
        return r"$\infty$" if x > 0 else r"$-\infty$"
    text = x if isinstance(x, str) else format_number(without_unit(x), digits)
    return quantity_latex(text, unit_of(x)) or text_latex(text) + unit_latex(x)


def uncertain(value: Shown, error: Shown) -> str:
    """Return a value with its standard uncertainty and unit."""
    text = concise(float(value), float(error))
    return quantity_latex(text, unit_of(value)) or text_latex(text) + unit_latex(value)


def latex_of(name: str) -> str:
    """Return a name or formula as mathematics, other text unchanged."""
    if is_name(name):
        return f"${name_latex(name)}$"
    try:
        program = parse(name, units=True)
    except ExpressionError:
        return text_latex(name)
    return f"${typesetting(program).expression(program.outputs[0])}$"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], columns: str = "l", last: Sequence[str] = ()) -> str:
    """Return a booktabs table."""
    head, *lines = [" & ".join(row) + r" \\" for row in (heads, *rows)]
    lines += [r"\midrule", " & ".join(last) + r" \\"] if last else []
    begin = rf"\begin{{tabular}}{{l{columns * (len(heads) - 1)}}}"
    return "\n".join([begin, r"\toprule", head, r"\midrule", *lines, r"\bottomrule", r"\end{tabular}"])


def formula(text: str, names: Iterable[str], left: str = "") -> str:
    """Return a program as equations; `left` names its value."""
    sides = formula_sides(text, names, left)
    return equations(sides) if sides else ""


def formula_sides(text: str, names: Iterable[str], left: str = "") -> list[tuple[str, str]]:
    """Return the sides of a program's equations; none if it cannot be typeset."""
    try:
        program = parse(text, [*names], units=True)
    except ExpressionError:
        return []
    sides = equations_of(program, typesetting(program, names))
    if sides and left:
        sides[-1] = (left, sides[-1][1])
    return sides


def _parts(*parts: str) -> str:
    apart = "\n\n\\medskip\\noindent\n"
    first, *others = [part for part in parts if part]
    return apart.join([first if first.startswith(r"\begin{align") else "\\noindent\n" + first, *others])


def _percent(level: float) -> str:
    return percent(level).replace(" %", r"\,\%")


def fit_table(answer: Fit, digits: int | None) -> str:
    """Return the tables of a fit."""

    def between(ends: tuple[Shown | None, Shown | None]) -> str:
        return f"{number(ends[0], digits)} to {number(ends[1], digits)}"

    rows = []
    for name, parameter in answer.parameters.items():
        unit = unit_latex(parameter.estimate)
        if parameter.error is None:
            held = text_latex(HELD.get(parameter.held, "--"))
            rows.append((latex_of(name), number(parameter.estimate, digits), "--", held))
            continue
        written = uncertain(parameter.estimate, parameter.error)
        low, high = parameter.interval or (None, None)
        is_open = parameter.interval is not None and None in (low, high)
        interval = between((low, high))
        if is_open:
            least = r"$-\infty$" if low is None else number(low, digits)
            interval = f"{least} to " + (r"$\infty$" if high is None else number(high, digits))
        interval += unit
        rows.append((latex_of(name), written, number(parameter.error, digits), interval))
    heads = ("parameter", "estimate", "standard error", rf"{_percent(answer.level)} interval")
    names = list(answer.correlation)
    correlations = ""
    if 1 < len(names) <= MAX_CORRELATED:
        entries = [(latex_of(a), *(number(answer.correlation[a][b], 3) for b in names)) for a in names]
        correlations = table(("correlation", *map(latex_of, names)), entries, "r")
    parts = [_model(answer), table(heads, rows), _quality(answer, digits), correlations]
    if answer.predictions:
        units = {} if answer.units is None else answer.units["data"]
        columns = [
            latex_of(name) + (rf" in {units[name].latex}" if name in units and units[name].atoms else "")
            for name in (*answer.predictors, answer.response)
        ]
        bands = [f"{_percent(answer.level)} {band}" for band in ("confidence", "prediction")]
        places = []
        for place in answer.predictions:
            point = [place.point[name] for name in answer.predictors]
            row = [number(x, digits) for x in (*point, place.value)]
            row += [between(ends) if ends else "--" for ends in (place.confidence, place.prediction)]
            places.append(row)
        parts.append(table((*columns, *bands), places))
    return _parts(*parts)


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
    if goodness.chi_squared is not None and goodness.reduced is not None:
        chi_squared, reduced = (goodness_text(float(without_unit(x)), digits) for x in (answer.rss, goodness.reduced))
        parts.append(
            rf"$\chi^2/\nu = {number(chi_squared)}/{answer.dof} = {number(reduced)}$ "
            rf"($p = {number(goodness.p_value, 2)}$)"
        )
        parts.append(
            "standard errors " + ("by the given uncertainties" if answer.absolute_sigma else "scaled by its root")
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


def two_digits(value: Shown, error: Shown) -> str:
    """Return an uncertainty rounded as its value is, with its unit."""
    _, text = estimate(float(value), float(error))
    return quantity_latex(text, unit_of(error)) or text_latex(text) + unit_latex(error)


def own_name(text: str) -> str:
    """Return the user's name of a program's result, `C` of `C = tau/R`; empty without one."""
    try:
        program = parse(text, units=True)
    except ExpressionError:
        return ""
    names = [name for name, value in program.bindings if value is program.outputs[0]]
    return name_latex(names[-1]) if names and len(program.outputs) == 1 else ""


def budget_tables(answer: Propagation, digits: int | None) -> str:
    """Return the uncertainty budgets of a propagation."""
    parts = [formula(answer.text, answer.point, own_name(answer.text))]
    for result in answer.results:
        name = result.output if len(answer.results) > 1 or "output" not in result.output else "result"
        rows = []
        for quantity, share in result.budget.items():
            entry = answer.inputs[quantity]
            percentage = "--" if share.share is None else rf"{100 * share.share + 0.0:.1f}\,\%"
            rows.append(
                (
                    latex_of(quantity),
                    uncertain(entry.estimate, entry.uncertainty),
                    two_digits(entry.estimate, entry.uncertainty),
                    entry.distribution.family,
                    number(entry.distribution.dof, digits),
                    number(share.sensitivity, digits),
                    number(share.contribution, 3),
                    percentage,
                )
            )
        of_result = (
            latex_of(name),
            uncertain(result.value, result.uncertainty),
            two_digits(result.value, result.uncertainty),
            "",
            number(result.dof, 3),
            "",
            "",
            "",
        )
        heads = (
            "quantity",
            "estimate",
            "$u$",
            "distribution",
            r"$\nu$",
            "sensitivity",
            "contribution",
            "share",
        )
        parts += [table(heads, rows, last=of_result), _expand(name, result)]
    return _parts(*parts)


def _expand(name: str, result: Result) -> str:
    of = rounded(float(result.value), float(result.expanded))
    if of is None:
        return rf"{latex_of(name)} $=$ {number(result.interval)}{unit_latex(result.value)}"
    interval = quantity_latex(f"{of.value}({of.digits}){of.exponent}", unit_of(result.value), separate=True)
    factor = f"{result.k:.3g}"
    return rf"{latex_of(name)} $=$ {interval} ($k = {number(factor)}$, {_percent(result.level)})."


def solution_tables(answer: Solved, digits: int | None) -> str:
    """Return the solutions of equations with their derivatives."""
    parts = []
    for solution in answer.solutions:
        derivatives = solution.derivatives or {}
        variables = list(next(iter(derivatives.values()), {}))
        rows = [
            (
                latex_of(name),
                number(value, digits),
                number(solution.errors[name], 2),
                *(number(derivatives[name][by], digits) for by in variables),
            )
            for name, value in solution.values.items()
        ]
        slopes = [rf"$\partial/\partial {name_latex(name)}$" for name in variables]
        parts.append(table(("unknown", "value", "off by at most", *slopes), rows))
    sides = []
    for solved in answer.formulas:
        (right,) = parse(solved.formula, units=True).outputs
        where = ""
        if solved.condition:
            from ..capabilities.formulas.diff import where_latex

            (choice,) = parse(f"where({solved.condition}, 1, 0)", units=True).outputs
            where = where_latex(expression_latex(choice._prev[0]))
        sides.append((name_latex(solved.unknown), expression_latex(right) + where))
    parts += [equations(sides)] if sides else []
    if answer.point:
        rest = [rf"${name_latex(name)} =$ {number(x, digits)}" for name, x in answer.point.items()]
        parts.append(f"At {', '.join(rest)}.")
    if not (answer.solutions or answer.formulas) or answer.message != "solved":
        parts.append(text_latex(f"{answer.message}."))
    return _parts(*parts)


def check_table(answer: Check, digits: int | None) -> str:
    """Return the digits of value and gradient that are right."""
    heads = ("", "computed", "reference", "correct", "kept", "condition", "agrees")
    rows = []
    for row in answer.quantities:
        unit, is_number = unit_latex(row.computed), _NUMBER.fullmatch(row.exact)
        counts = ["--" if count is None else str(count) for count in (row.digits, row.kept)]
        rows.append(
            (
                rf"$\partial/\partial {name_latex(row.name)}$" if row.name else "value",
                number(repr_number(row.computed)) + unit,
                number(f"{Decimal(row.exact):.17g}") + unit if is_number else "--",
                *counts,
                number(row.condition, 2),
                "yes" if row.agrees else "no",
            )
        )
    remarks = [
        f"{latex_of(row.name) if row.name else 'value'}: {text_latex(row.remark)}"
        for row in answer.quantities
        if row.remark
    ]
    verdict = (
        f"agreement: {'yes' if answer.agrees else 'no'}; digits that are correct at least and that were kept, "
        f"by a reference in {answer.precision} digits"
    )
    return _parts(table(heads, rows), "; ".join([verdict, *remarks]) + ".")
