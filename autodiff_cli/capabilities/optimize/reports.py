"""Reports of fits in one file: a page for browsers, a document in LaTeX, or its PDF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from ...errors import either, usage_error
from ...show.compiled_latex import pdf_of, require_compiler
from ...streams import files
from .fit import Fit
from .fit_view import FitView

ENDINGS = (".html", ".tex", ".pdf")
REPORT, NEEDS = "the report", "amsmath, booktabs, graphicx and siunitx 3"


def check_report(path: str, *, force: bool) -> None:
    """Check the name of a report before the fit, and that its PDF can be made. Raises
    `ExpressionError`.
    """
    ending = PurePath(path).suffix.lower()
    if ending not in ENDINGS:
        raise usage_error(
            f"`{path}` is not a report in HTML, LaTeX or PDF", f"end its name in {either(ENDINGS)}"
        )
    if ending == ".pdf":
        require_compiler(REPORT)
    files.check(path, force=force)
    if ending == ".tex":
        files.check(_figure_path(path), force=force)


def write_report(
    path: str, answer: Fit, view: FitView, notes: Sequence[str], *, force: bool
) -> None:
    """Write the report of a fit in the format of its name. Raises `ExpressionError`."""
    from .report import fit_document, fit_page

    ending = PurePath(path).suffix.lower()
    if ending == ".html":
        files.write(path, fit_page(answer, view, notes).encode(), force=force)
        return
    figure = view.draw(answer, "pdf")
    if ending == ".tex":
        files.write(_figure_path(path), figure, force=force)
        text = fit_document(answer, view, notes, PurePath(_figure_path(path)).name)
        files.write(path, text.encode(), force=force)
        return
    text = fit_document(answer, view, notes, "figure.pdf")
    files.write(path, pdf_of(text, REPORT, NEEDS, {"figure.pdf": figure}), force=force)


def _figure_path(path: str) -> str:
    return str(PurePath(path).with_suffix("")) + "-figure.pdf"
