"""Uncertainty budgets as a page for browsers."""

from __future__ import annotations

from collections.abc import Iterable

from ...language.mathml import mathml_equations
from ...show.characters import Terminal
from ...show.document import Block
from ...show.rendering import Html, escaped_html, web_file
from ...show.tex_tables import formula_sides
from .propagate import Propagation
from .propagate_latex import own_name


def budget_page(answer: Propagation, document: Iterable[Block], title: str) -> str:
    """Return budgets as a page that needs no other file: the formula, its `document`, and the
    warnings.
    """
    tables = Html(Terminal()).render(document)
    warnings = "".join(
        [f"<li>{escaped_html(warning.message)}</li>\n" for warning in answer.warnings]
    )
    body = [f'<p class="formula">{_formula(answer)}</p>', tables]
    body += [f"<h2>Notes</h2>\n<ul>\n{warnings}</ul>"] if warnings else []
    return web_file(
        "report.html", heading=escaped_html(title or "Uncertainty budget"), body="\n".join(body)
    )


def _formula(answer: Propagation) -> str:
    sides = formula_sides(answer.text, answer.point, own_name(answer.text))
    return mathml_equations(sides) if sides else f"<code>{escaped_html(answer.text)}</code>"
