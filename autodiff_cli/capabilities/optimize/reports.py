"""Reports of fits in one file: a page for browsers, a document in LaTeX, or its PDF."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePath

from ...errors import ExpressionError, either, usage_error
from ...streams import files
from .fit import Fit
from .fit_view import FitView

ENDINGS = (".html", ".tex", ".pdf")
COMPILERS = ("pdflatex", "lualatex", "xelatex")
COMPILE_SECONDS = 120
"""The time that LaTeX may take; a page of tables and a figure take 1 to 3 s, with cold caches 20."""


def check_report(path: str, *, force: bool) -> None:
    """Check the name of a report before the fit, and that its PDF can be made. Raises `ExpressionError`."""
    ending = PurePath(path).suffix.lower()
    if ending not in ENDINGS:
        raise usage_error(f"`{path}` is not a report in HTML, LaTeX or PDF", f"end its name in {either(ENDINGS)}")
    if ending == ".pdf":
        _compiler()
    files.check(path, force=force)
    if ending == ".tex":
        files.check(_figure_path(path), force=force)


def write_report(path: str, answer: Fit, view: FitView, notes: Sequence[str], *, force: bool) -> None:
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
    files.write(path, _compiled(fit_document(answer, view, notes, "figure.pdf"), figure), force=force)


def _figure_path(path: str) -> str:
    return str(PurePath(path).with_suffix("")) + "-figure.pdf"


def _compiler() -> str:
    found = next(filter(None, map(shutil.which, COMPILERS)), None)
    if found is None:
        message = f"a report in PDF needs LaTeX, and there is none of {either(COMPILERS)} here"
        raise ExpressionError("io", message, hint="install TeX Live, or write the report to `.html` or `.tex`")
    return found


def _compiled(text: str, figure: bytes) -> bytes:
    """Return the PDF of a document with its figure. Raises `ExpressionError` with the words of LaTeX."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "report.tex").write_text(text, encoding="utf-8")
        Path(folder, "figure.pdf").write_bytes(figure)
        command = [_compiler(), "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "report.tex"]
        try:
            ran = subprocess.run(
                command, check=False, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=COMPILE_SECONDS
            )
        except subprocess.TimeoutExpired:
            raise _failed(f"it takes more than {COMPILE_SECONDS} s") from None
        if ran.returncode:
            lines = ran.stdout.decode(errors="replace").splitlines()
            raise _failed(next((line for line in lines if line.startswith("!")), "it fails"))
        return Path(folder, "report.pdf").read_bytes()


def _failed(why: str) -> ExpressionError:
    hint = "write the report to `.tex`, and compile that; it needs amsmath, booktabs, graphicx and siunitx 3"
    return ExpressionError("io", f"LaTeX cannot make the report: {why}", hint=hint)
