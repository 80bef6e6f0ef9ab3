"""Documents in LaTeX as PDF, by the LaTeX that is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..errors import ExpressionError, either

COMPILERS = ("pdflatex", "lualatex", "xelatex")
# The time that LaTeX may take; a page of tables and a figure take 1 to 3 s, with cold caches 20.
COMPILE_SECONDS = 120


def require_compiler(what: str) -> str:
    """Return the path of LaTeX. Raises `ExpressionError` if there is none to make `what` with."""
    found = next(filter(None, map(shutil.which, COMPILERS)), None)
    if found is None:
        message = f"{what} in PDF needs LaTeX, and there is none of {either(COMPILERS)} here"
        raise ExpressionError(
            "io", message, hint="install TeX Live, or write it to `.html` or `.tex`"
        )
    return found


def pdf_of(text: str, what: str, needs: str, others: Mapping[str, bytes] | None = None) -> bytes:
    """Return the PDF of a document, which may include `others` by name.

    Raises `ExpressionError` with the words of LaTeX; `needs` are the packages that it takes.
    """
    compiler = require_compiler(what)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "page.tex").write_text(text, encoding="utf-8")
        for name, content in (others or {}).items():
            Path(folder, name).write_bytes(content)
        command = [
            compiler,
            "-interaction=nonstopmode",
            "-halt-on-error",
            "-no-shell-escape",
            "page.tex",
        ]
        hint = f"write it to `.tex`, and compile that; it needs {needs}"
        try:
            ran = subprocess.run(
                command,
                check=False,
                cwd=folder,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=COMPILE_SECONDS,
            )
        except subprocess.TimeoutExpired:
            message = f"LaTeX cannot make {what}: it takes more than {COMPILE_SECONDS} s"
            raise ExpressionError("io", message, hint=hint) from None
        if ran.returncode:
            lines = ran.stdout.decode(errors="replace").splitlines()
            why = next((line for line in lines if line.startswith("!")), "it fails")
            raise ExpressionError("io", f"LaTeX cannot make {what}: {why}", hint=hint)
        return Path(folder, "page.pdf").read_bytes()
