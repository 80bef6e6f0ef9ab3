"""Reports of a fit: its formula, figure and tables, and what was read, as a page or a document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...language.mathml import mathml_equations
from ...language.typesetting import text_latex
from ...show.characters import Terminal
from ...show.formats import document_ends
from ...show.rendering import Html, escaped_html, web_file
from .fit import Fit
from .fit_latex import fit_table, model_sides
from .fit_view import FitView

READ = "Data"


def fit_page(answer: Fit, view: FitView, notes: Sequence[str]) -> str:
    """Return the report of a fit as a page that needs no other file."""
    figure = view.draw(answer, "svg").decode()
    tables = Html(Terminal()).render(view.document(view.select_with_units(answer)))
    items = "".join([f"<li>{escaped_html(line)}</li>\n" for line in _told(answer, notes)])
    body = [
        f'<p class="formula">{_formula(answer)}</p>',
        (
            '<figure role="img" aria-label="data, fitted curve and'
            f' residuals">{figure[figure.index("<svg") :]}</figure>'
        ),
        f"<h2>Parameters</h2>\n{tables}",
        f"<h2>{READ}</h2>\n<ul>\n{items}</ul>",
    ]
    return web_file("report.html", heading=escaped_html(_heading(answer)), body="\n".join(body))


def fit_document(answer: Fit, view: FitView, notes: Sequence[str], figure: str) -> str:
    """Return the report of a fit as a document in LaTeX, which includes a `figure`."""
    begin, end = document_ends(["booktabs", "siunitx", "graphicx"])
    items = "\n".join([rf"\item {text_latex(line)}" for line in _told(answer, notes)])
    parts = [
        rf"\section*{{{text_latex(_heading(answer))}}}",
        rf"\begin{{center}}\includegraphics[width=0.72\linewidth]{{{figure}}}\end{{center}}",
        fit_table(view.select_with_units(answer), view.digits),
        rf"\section*{{{READ}}}",
        f"\\begin{{itemize}}\\setlength\\itemsep{{0pt}}\n{items}\n\\end{{itemize}}",
    ]
    return begin + "\n\n".join(parts) + "\n" + end


def _heading(answer: Fit) -> str:
    return f"Fit of {answer.response}"


def _formula(answer: Fit) -> str:
    sides = model_sides(answer)
    return mathml_equations(sides) if sides else f"<code>{escaped_html(answer.text)}</code>"


def _told(answer: Fit, notes: Sequence[str]) -> Iterable[str]:
    """Yield what was fitted, read and left out, and the warnings."""
    yield f"program: {answer.text}"
    yield f"{answer.rows:,} rows of {', '.join(map(answer.heading_of, answer.columns))}"
    for note in notes:
        first, *reasons = note.splitlines()
        parted = [line.split(maxsplit=1) for line in reasons]
        words = [
            f"{why.removeprefix('point: ')} ({count})"
            for count, why in (pair for pair in parted if len(pair) == 2)
        ]
        yield " ".join([first, "; ".join(words)]).strip()
    for warning in answer.warnings:
        yield f"{'note' if warning.kind == 'note' else 'warning'}: {warning.message}"
