"""Uncertainty budgets as tables for a report, in LaTeX."""

from __future__ import annotations

from ...questions.measured_value import concise, rounded
from ...show.tex import unit_latex
from ...show.tex_tables import formula, latex_of, number, paragraphs, percentage, table
from .propagate import Propagation, Result


def budget_tables(answer: Propagation, digits: int | None) -> str:
    """Return the uncertainty budgets of a propagation."""
    parts = [formula(answer.text, answer.point)]
    for result in answer.results:
        name = result.output if len(answer.results) > 1 or "output" not in result.output else "result"
        rows = []
        for quantity, share in result.budget.items():
            entry = answer.inputs[quantity]
            percentage = "--" if share.share is None else rf"{100 * share.share + 0.0:.1f}\,\%"
            rows.append(
                (
                    latex_of(quantity),
                    number(concise(entry.estimate, entry.uncertainty)) + unit_latex(entry.estimate),
                    number(entry.uncertainty, 2),
                    entry.distribution.family,
                    number(entry.distribution.dof, digits),
                    number(share.sensitivity, digits),
                    number(share.contribution, 3),
                    percentage,
                )
            )
        written = number(result.written) + unit_latex(result.value)
        of_result = (
            latex_of(name),
            written,
            number(result.uncertainty, 2),
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
    return paragraphs(*parts)


def _expand(name: str, result: Result) -> str:
    of = rounded(float(result.value), float(result.expanded))
    if of is None:
        return rf"{latex_of(name)} $=$ {number(result.interval)}{unit_latex(result.value)}"
    unit = unit_latex(result.value)
    interval = rf"{number(of.value)} \pm {number(of.uncertainty)}"
    interval = f"({interval})" if of.power or unit else interval
    power = rf" \times 10^{{{of.power}}}" if of.power else ""
    factor = f"{result.k:.3g}"
    return rf"{latex_of(name)} $= {interval}{power}${unit} ($k = {number(factor)}$, {percentage(result.level)})."
