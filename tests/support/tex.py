"""Compiles LaTeX where there is a TeX: many pieces in one document, for each start of TeX costs
more than a page.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from autodiff_cli.show.formats import document_ends

COMPILER = shutil.which("pdflatex")
MISSING = "there is no pdflatex here: it is in the package texlive-latex-base"


def inside(document: str) -> str:
    """What stands between the beginning and the end of a document."""
    return document.partition("\\begin{document}\n")[2].removesuffix(document_ends()[1]) or document


def compile_all(pieces: Iterable[str], folder: Path, *, draft: bool = True) -> int:
    """Compile the pieces as one document; return how many pages it has. Fails with the words of
    TeX.
    """
    text = "\n\n".join(pieces)
    ends = document_ends(["siunitx"] * (r"\unit{" in text))
    return compile_document(text.join(ends), folder, draft=draft)


def compile_document(text: str, folder: Path, *, draft: bool = False) -> int:
    """Compile a document, to `all.pdf` in the folder; return how many pages it has. Fails with the
    words of TeX.
    """
    if COMPILER is None:
        pytest.skip(MISSING)
    for package in re.findall(r"\\usepackage\{(tikz|pgfplots|booktabs|siunitx)\}", text):
        if subprocess.run(["kpsewhich", f"{package}.sty"], capture_output=True).returncode:
            pytest.skip(
                f"this TeX lacks {package}: it is in texlive-pictures, -latex-recommended or"
                " -science"
            )
    (folder / "all.tex").write_text(text, encoding="utf-8")
    command = [
        COMPILER,
        "-interaction=nonstopmode",
        "-halt-on-error",
        *["-draftmode"] * draft,
        "all.tex",
    ]
    ran = subprocess.run(command, cwd=folder, capture_output=True, timeout=300)
    told = ran.stdout.decode(errors="replace")
    assert ran.returncode == 0, told[-2500:]
    assert "Missing character" not in told
    return len(re.findall(r"\[\d+", told))
