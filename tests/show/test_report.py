"""Tests of reports of a fit: everything is in one file, LaTeX takes it, and what cannot be made is
said first.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from running import autodiff
from tex import COMPILER, compile_document

pytest.importorskip("matplotlib")

DATA = "t (s),U (V),1 %_#\n0,5.1,1\n1,3.1,1\n2,1.9,1\n2.5,bad,1\n3,1.1,1\n4,0.7,1\n5,0.4,1\n,,\n"
FIT = ["U = U0*exp(-t/tau)", "--sigma", "U=0.05", "--on-error", "skip", "--at", "tau=2 s"]
SAID = ["5.106(47)", "1.995(34)", "0.9721", "0.91", "line 5", "line 9", "d.csv", "6 rows"]
"""Parameters, χ² and p by SciPy's curve_fit with absolute uncertainties, and what was read."""


def report(folder: Path, name: str, *more: str) -> Path:
    (folder / "d.csv").write_text(DATA)
    answer = autodiff(
        "fit", *FIT, "--data", str(folder / "d.csv"), "--report", str(folder / name), *more
    )
    assert answer.code == 0, answer.err
    return folder / name


def test_parameters_are_those_of_scipy() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    import numpy as np

    t, u = np.array([0, 1, 2, 3, 4, 5.0]), np.array([5.1, 3.1, 1.9, 1.1, 0.7, 0.4])
    best, matrix = optimize.curve_fit(
        lambda t, a, b: a * np.exp(-t / b),
        t,
        u,
        [5, 2],
        sigma=np.full(6, 0.05),
        absolute_sigma=True,
    )
    chi2 = (((u - best[0] * np.exp(-t / best[1])) / 0.05) ** 2).sum()
    errors = np.sqrt(np.diag(matrix))
    assert [f"{x:.3f}({1000 * e:.0f})" for x, e in zip(best, errors, strict=True)] == SAID[:2]
    assert f"{chi2:.4f}" == SAID[2]


def test_a_page_needs_no_other_file(tmp_path: Path) -> None:
    page = report(tmp_path, "r.html").read_text()
    for said in SAID:
        assert said in page
    assert "<math" in page and "<svg" in page and "-0.5276" in page
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    # the figure is well-formed: data with bars, the curve, its band and residuals
    figure = page[page.index("<svg") : page.index("</svg>") + len("</svg>")]
    assert len(ElementTree.fromstring(figure).findall(".//{http://www.w3.org/2000/svg}path")) > 12


def test_a_document_has_its_figure_beside_it(tmp_path: Path) -> None:
    path = report(tmp_path, "r.tex")
    text = path.read_text()
    assert (
        r"\qty{5.106(47)}{\volt}" in text
        and r"\includegraphics[width=0.72\linewidth]{r-figure.pdf}" in text
    )
    assert all(said in text for said in SAID[2:])
    assert compile_document(text, tmp_path) == 1


@pytest.mark.skipif(COMPILER is None, reason="there is no pdflatex here")
def test_latex_makes_the_pdf(tmp_path: Path) -> None:
    content = report(tmp_path, "r.pdf").read_bytes()
    assert content.startswith(b"%PDF") and [path.name for path in tmp_path.glob("r*")] == ["r.pdf"]


def test_what_cannot_be_made_is_said_before_the_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "d.csv").write_text(DATA)
    asked = ["fit", *FIT, "--data", str(tmp_path / "d.csv"), "--report"]
    wrong = autodiff(*asked, str(tmp_path / "r.docx"))
    assert wrong.code == 2 and not wrong.out and "`.html` or `.tex` or `.pdf`" in wrong.err
    (tmp_path / "r.html").write_text("mine")
    kept = autodiff(*asked, str(tmp_path / "r.html"))
    assert kept.code == 5 and not kept.out and (tmp_path / "r.html").read_text() == "mine"
    monkeypatch.setenv("PATH", str(tmp_path))
    without = autodiff(*asked, str(tmp_path / "r.pdf"))
    assert without.code == 5 and not without.out and "there is none of `pdflatex`" in without.err
    assert "`.html` or `.tex`" in without.err


def test_names_of_columns_are_no_commands_of_latex_or_html(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("x <b>_%,y\\input{z} & #\n1,2\n2,4.1\n3,6.2\n")
    columns = ["--columns", "x=x <b>_%,y=y\\input{z} & #"]
    for name in ("r.html", "r.tex"):
        asked = [
            "fit",
            "y = a + b*x",
            "--data",
            str(tmp_path / "d.csv"),
            *columns,
            "--report",
            str(tmp_path / name),
        ]
        assert autodiff(*asked).code == 0
    assert "<b>_%" not in (tmp_path / "r.html").read_text()
    if COMPILER is not None:
        compile_document((tmp_path / "r.tex").read_text(), tmp_path)
