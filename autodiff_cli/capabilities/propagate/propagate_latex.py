"""Uncertainty budgets as tables for a report, in LaTeX."""

from __future__ import annotations

from ...errors import ExpressionError
from ...language.typesetting import name_latex, text_latex
from ...questions.figures import Shown
from ...questions.measured_value import estimate, rounded
from ...questions.problem import parse
from ...show.numerals import unit_of
from ...show.outward import outward
from ...show.siunitx import quantity_latex
from ...show.tex import unit_latex
from ...show.tex_tables import (
    formula,
    latex_of,
    number,
    paragraphs,
    percentage,
    table,
    uncertain,
)
from .propagate import Propagation, Result


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
        name = (
            result.output if len(answer.results) > 1 or "output" not in result.output else "result"
        )
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
        parts += [
            table(heads, rows, last=of_result),
            _expand(name, result),
            *_profile(name, result, digits),
            *_worst_case(result, digits),
        ]
    return paragraphs(*parts)


def _profile(name: str, result: Result, digits: int | None) -> list[str]:
    if result.profile is None:
        return []
    low, high = result.profile
    ends = [
        r"$-\infty$" if low is None else number(low, digits),
        r"$\infty$" if high is None else number(high, digits),
    ]
    level = percentage(result.level)
    unit = unit_latex(result.value)
    return [
        rf"By the profile of the fit, {latex_of(name)} is from {ends[0]} to {ends[1]}{unit}"
        rf" ({level})."
    ]


def _worst_case(result: Result, digits: int | None) -> list[str]:
    case = result.worst_case
    if case is None:
        return []
    unit = unit_latex(result.value)
    ends = f"from {number(float(case.low), digits)} to {number(float(case.high), digits)}{unit}"
    if case.proven_low is None or case.proven_high is None:
        return [f"Worst case to first order: {ends}."]
    proven = (case.proven_low, False), (case.proven_high, True)
    low, high = (number(outward(float(x), digits, up=up)) for x, up in proven)
    return [
        f"Worst case to first order: {ends}; all values within the limits: from {low} to"
        f" {high}{unit}, proven."
    ]


def _expand(name: str, result: Result) -> str:
    of = rounded(float(result.value), float(result.expanded))
    if of is None:
        return rf"{latex_of(name)} $=$ {number(result.interval)}{unit_latex(result.value)}"
    interval = quantity_latex(
        f"{of.value}({of.digits}){of.exponent}", unit_of(result.value), separate=True
    )
    factor = f"{result.k:.3g}"
    return rf"{latex_of(name)} $=$ {interval} ($k = {number(factor)}$, {percentage(result.level)})."
