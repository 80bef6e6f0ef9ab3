"""All LaTeX that the commands and the tests' formulas make is compiled."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import autodiff_cli
from autodiff_cli.capabilities.formulas.diff import diff
from autodiff_cli.capabilities.formulas.functions import functions
from autodiff_cli.capabilities.formulas.functions_latex import of_function
from autodiff_cli.engine.quantities.table import table
from autodiff_cli.engine.quantities.unit import parse_unit, without_siunitx
from autodiff_cli.errors import ExpressionError
from autodiff_cli.show.formats import document_ends
from places import TESTS
from running import autodiff, lines
from tex import compile_all, compile_document, inside

POINT = "x=0.5,w=pi/4"
TEXT = "a = x*w; tanh(a) + x if x > 0 else -relu(w)"
ANSWERS = {
    "grad": lambda: autodiff_cli.gradient(TEXT, POINT),
    "trace": lambda: autodiff_cli.trace(TEXT, POINT),
    "tangents": lambda: autodiff_cli.trace(TEXT, POINT, mode="forward", direction="x=1"),
    "diff": lambda: autodiff_cli.diff(TEXT, POINT, order=2, share=True),
    "steps": lambda: autodiff_cli.diff(TEXT, steps=True),
    "blanks": lambda: autodiff_cli.trace(TEXT, POINT, blanks=True),
    "sheet": lambda: autodiff_cli.exercise(5, count=3, seed=7, solutions=True),
    "hessian": lambda: autodiff_cli.hessian("x**2*w + sin(x)/w", POINT),
    "jacobian": lambda: autodiff_cli.jacobian("x*w, x/w", POINT),
    "direction": lambda: autodiff_cli.jacobian("x*w, x/w", POINT, direction="x=1"),
    "adjoint": lambda: autodiff_cli.jacobian("x*w, x/w", POINT, adjoint="1,2"),
    "taylor": lambda: autodiff_cli.taylor("w*sin(x)", POINT, wrt="x", order=5),
    "export": lambda: autodiff_cli.export(TEXT, "latex"),
    "function": lambda: autodiff_cli.functions("log"),
    "functions": autodiff_cli.functions,
    "exact": lambda: autodiff_cli.taylor("1/(1 - x)", "x=1/3", exact=True, order=3),
    "precise": lambda: autodiff_cli.hessian("x**2*w", "x=1,w=1e-9", precision=30),
    "many": lambda: autodiff_cli.hessian("+".join(f"x{k}**2" for k in range(12)), {f"x{k}": k for k in range(12)}),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_a_piece_and_a_document_say_the_same(name: str) -> None:
    answer = ANSWERS[name]()
    piece, document = answer.to_text("latex"), answer.to_text("latex", document=True)
    assert "documentclass" not in piece
    head, foot = document_ends()
    assert document.startswith(head) and document.endswith(foot)
    said = [line for line in piece.splitlines() if line and not line.startswith("%")]
    assert said and all(line in document.splitlines() for line in said)


def golden(*, siunitx: bool = False) -> Iterator[str]:
    """What the consoles of the case files, the tutorials and the README show: pieces, and the
    insides of documents.

    They are those that need `siunitx`, for units and tables, or those that do not.
    """
    for path in [
        *(TESTS / "cases").glob("*.txt"),
        *(TESTS / "tutorials").rglob("*.md"),
        TESTS.parent / "README.md",
    ]:
        for session in re.split(r"^\$ ", path.read_text(encoding="utf-8"), flags=re.M)[1:]:
            command, _, shown = session.partition("\n")
            shown = re.split(r"^(?:```|! |# |\[\d+\]$)", shown, maxsplit=1, flags=re.M)[0]
            if "--json" in command and shown.startswith("{"):
                shown = json.loads(shown.splitlines()[0]).get("source", "")
            needs = re.search(r"siunitx|\\toprule", shown) is not None
            if needs == siunitx and re.match(
                r"\\documentclass|(% .*\n)*(\\par\\noindent|\\begin\{)", shown
            ):
                yield inside(f"{shown.strip()}\n")


def derivatives() -> Iterator[str]:
    """The derivatives of the formulas of the corpus."""
    for line in (TESTS / "corpora" / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        try:
            made = diff(json.loads(line)["expr"], share=True, language="latex").program
        except ExpressionError:
            continue
        if len(made) < 5000:
            yield made


def test_it_compiles(tmp_path: Path) -> None:
    answers = [inside(answer().to_text("latex", document=True)) for answer in ANSWERS.values()]
    consoles, formulas = list(golden()), list(derivatives())
    assert len(consoles) > 26 and not any("{document}" in each for each in consoles)
    assert len(formulas) > 100 and len(functions()) > 60
    assert compile_all([*answers, *consoles, *formulas], tmp_path) > 20


def test_what_has_units_compiles(tmp_path: Path) -> None:
    texts = ["{}", "m/({})", "({})^-2"]
    units = [
        parse_unit(text.format(name))
        for name in table()
        for text in texts[: 2 if name in ("°C", "°F") else 3]
    ]
    listed = [f"$2\\,{unit.latex}$" for unit in units if unit.atoms]
    pieces = [*golden(siunitx=True), *listed]
    assert len(pieces) > 200
    text = "\n\n".join(pieces).join(document_ends(("booktabs", "siunitx")))
    assert compile_document(text, tmp_path, draft=True) > 3
    plain = "\n".join(map(without_siunitx, listed))
    assert compile_all([plain], tmp_path) > 0


def test_functions_are_mathematics() -> None:
    words = {"if ", "otherwise", " and "}
    for entry in functions():
        written = of_function(entry)
        assert set(re.findall(r"\\text\{([^}]*)\}", written)) <= words, entry.name
        assert written.count(r"\frac{d}{d") + written.count(r"\frac{\partial}{") == len(
            entry.derivatives
        ), entry.name


def test_a_stream_is_one_document(tmp_path: Path) -> None:
    typed = lines(["x**2", "50% of $a_b & \\x", "x*y +", "sin(x)"])
    for command in ("trace", "grad", "diff", "hessian", "jacobian", "taylor"):
        result = autodiff(command, "--at", "x=2", "--format", "latex", "--document", stdin=typed)
        assert result.out.count("\\begin{document}") == result.out.count("\\end{document}") == 1
        assert re.findall(r"\\section\*\{Line (\d)\}", result.out) == ["1", "2", "3", "4"]
        assert (
            result.out.count("Error: ") == 2
            and r"50\% of \$a\_b \& \textbackslash{}x" in result.out
        )
        (tmp_path / command).mkdir()
        if command == "trace":
            compile_all([inside(result.out)], tmp_path / command)
    assert (
        autodiff("trace", "--format", "latex", "--document", stdin="").out.count("document}") == 2
    )
    assert autodiff("trace", "x +", "--at", "x=2", "--format", "latex", "--document").out == ""
    pieces = autodiff("trace", "--at", "x=2", "--format", "latex", stdin=typed)
    assert [line for line in pieces.out.splitlines() if line.startswith("% ")][:4] == [
        "% line 1:", "% x**2", "% line 2:", "% 50% of $a_b & \\x",
    ]  # fmt: skip
    assert "% error: " in pieces.out and "document" not in pieces.out


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("grad", "x", "--at", "x=1", "--document"), "`--document` needs "),
        (("grad", "x", "--at", "x=1", "--json", "--document"), "`--document` needs "),
        (("diff", "x", "--to", "python", "--document"), "`--document` needs "),
        (("export", "x", "--to", "c", "--document"), "`--document` needs "),
        (
            ("diff", "x", "--to", "python", "--format", "latex"),
            "`--format latex` and `--to python` ask for two things",
        ),
        (
            ("export", "x", "--to", "c", "--format", "latex"),
            "`--format latex` and `--to c` ask for two things",
        ),
        (("minimize", "x**2", "--at", "x=1", "--document"), "there is no option `--document`"),
    ],
)
def test_a_document_of_something_else(args: tuple[str, ...], told: str) -> None:
    result = autodiff(*args)
    assert result.code == 2 and told in result.err and result.out == ""


def test_a_file_is_a_piece_or_a_document(tmp_path: Path) -> None:
    for command in (["diff", "x**2"], ["export", "x**2"], ["trace", "x**2", "--at", "x=1"]):
        assert autodiff(*command, "--output", "a.tex", "--force", folder=tmp_path).code == 0
        assert (tmp_path / "a.tex").read_text("utf-8").startswith("% x**2\n")
        assert (
            autodiff(*command, "--output", "a.tex", "--force", "--document", folder=tmp_path).code
            == 0
        )
        assert (tmp_path / "a.tex").read_text("utf-8").startswith(document_ends()[0])
