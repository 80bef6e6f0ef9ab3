"""A check of digits as a table for a report, in LaTeX."""

from __future__ import annotations

from decimal import Decimal

from ...language.typesetting import name_latex, text_latex
from ...show.numerals import repr_number
from ...show.tex import unit_latex
from ...show.tex_tables import (
    NUMBER,
    latex_of,
    number,
    paragraphs,
    table,
)
from .check import Check


def check_table(answer: Check, digits: int | None) -> str:
    """Return the digits of value and gradient that are right."""
    heads = ("", "computed", "reference", "correct", "kept", "condition", "agrees")
    rows = []
    for row in answer.quantities:
        unit, is_number = unit_latex(row.computed), NUMBER.fullmatch(row.exact)
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
        f"agreement: {'yes' if answer.agrees else 'no'}; digits that are correct at least and that"
        f" were kept, by a reference in {answer.precision} digits"
    )
    return paragraphs(table(heads, rows), "; ".join([verdict, *remarks]) + ".")
