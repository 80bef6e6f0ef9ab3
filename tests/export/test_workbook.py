"""Workbooks of exported programs and of answers to many points, computed by LibreOffice and read by
openpyxl.
"""

from __future__ import annotations

import csv
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from autodiff_cli import ExpressionError, export, gradient
from autodiff_cli.show.workbook import names_of_cells
from running import autodiff

# a variable may be called like a cell, another only by its case, or like a function
PROGRAMS = [
    ("P*L**3/(48*E*I)", {"P": 1200.0, "L": 2.5, "E": 2.1e11, "I": 3.4e-6}),
    ("a*exp(-k*t)", {"a": 2.0, "k": 0.5, "t": 3.0}),
    ("x1*X1 + c*r + T*t**2", {"x1": 2.0, "X1": -3.0, "c": 0.5, "r": 4.0, "T": 7.0, "t": 1.5}),
    ("λ[1]*sin(A1) + max(ln, true_)**2", {"λ[1]": 2.0, "A1": 1.25, "ln": 3.0, "true_": 2.0}),
    ("where(x > 1, log1p(x)*erf(y), atan2(x, y))", {"x": 1.5, "y": -0.25}),
    ("where(x > 1, log1p(x)*erf(y), atan2(x, y))", {"x": 0.5, "y": -0.25}),
    ("sigmoid(w*x + b)**p", {"w": 0.5, "x": -2.0, "b": 0.25, "p": 2.5}),
    ("lgamma(digamma(x)*x)*erfinv(sin(x))", {"x": 2.5}),
]


def in_libreoffice(files: list[Path], folder: Path) -> list[list[list[str]]]:
    """Return the cells of workbooks as LibreOffice computes and shows them, in all digits."""
    # the last: values, not as shown
    options = "csv:Text - txt - csv (StarCalc):44,34,76,1,,1033,false,false,false"
    subprocess.run(
        ["soffice", "--headless", f"-env:UserInstallation=file://{folder}/profile", "--convert-to", options,
         "--outdir", str(folder / "computed"), *map(str, files)],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    texts = [
        (folder / "computed" / f"{file.stem}.csv").read_text(encoding="utf-8") for file in files
    ]
    return [[*csv.reader(text.splitlines())] for text in texts]


@pytest.mark.skipif(shutil.which("soffice") is None, reason="it needs LibreOffice")
def test_formulas_of_workbooks_compute_the_gradient(tmp_path: Path) -> None:
    files = []
    for k, (text, point) in enumerate(PROGRAMS):
        files.append(tmp_path / f"program{k}.xlsx")
        at = ",".join(f"{name}={value!r}" for name, value in point.items())
        assert autodiff("export", text, "--at", at, "--output", str(files[-1])).code == 0
    for (text, point), table in zip(PROGRAMS, in_libreoffice(files, tmp_path), strict=True):
        cells = [row for row in table if row[0] != "note"]
        answer = gradient(text, point)
        count = len(point)
        assert [float(value) for _, value, _ in cells[1 : count + 1]] == [
            point[name] for name in answer.point
        ]
        results = [float(value) for _, value, _ in cells[-count - 1 :]]
        assert results == pytest.approx([answer.value, *answer.gradient.values()], rel=1e-9)


def test_cells_have_names(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    assert (
        autodiff("export", "x1*X1 + c", "--at", "x1=2,c=-1", "-o", str(tmp_path / "a.xlsx")).code
        == 0
    )
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    cells = {name: book.active[place.attr_text.split("!")[1].replace("$", "")].value
             for name, place in book.defined_names.items()}  # fmt: skip
    derivatives = {"df_dx1": "=X1__", "df_dX1_": "=x1_", "df_dc": "=1.0"}
    assert cells == {"x1_": 2, "X1__": None, "c_": -1, "f": "=x1_*X1__ + c_", **derivatives}


def test_names_of_cells() -> None:
    labels = ["x", "X", "x1", "R1C1", "c", "λ[1]", "df/dx", "true", "ab", "XFD9", "exp", "1a", "_"]
    assert names_of_cells(labels) == [
        "x", "X_", "x1_", "R1C1_", "c_", "λ_1_", "df_dx", "true_", "ab", "XFD9_", "exp_", "_1a",
        "_",
    ]  # fmt: skip


def test_values_of_a_spreadsheet() -> None:
    rows = export("a*b", "spreadsheet", at={"b": 0.1}).source.splitlines()
    assert rows[:2] == ["a,", "b,0.1"]
    for language, at, message in (
        ("c", {"a": 1}, "no values"),
        ("spreadsheet", {"q": 1}, "no variable `q`"),
    ):
        with pytest.raises(ExpressionError, match=message):
            export("a*b", language, at=at)


@pytest.mark.parametrize("route", ["sweep", "rows", "one by one"])
def test_answers_to_many_points(tmp_path: Path, route: str) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("pyarrow")
    draw = random.Random(7)
    points = [(draw.uniform(-3, 3), draw.uniform(-3, 3)) for _ in range(50)]
    texts = ["=1+1", "a\x01b", "_x0041_", "<&>", "é\u202e", "  b "]
    lines = "".join(f'{x!r},{y!r},"{texts[k % 6]}"\n' for k, (x, y) in enumerate(points))
    (tmp_path / "rows.csv").write_text(f"x [mm],y,note\n{lines}nan,1,last\n")
    out = str(tmp_path / "out.xlsx")
    command, more = ("grad", []) if route != "one by one" else ("propagate", ["--at", "x=±0.1"])
    if route == "sweep":
        assert autodiff("grad", "x**2*y", "--at", "x=0:2:0.5 mm,y=3", "--output", out).code == 0
        points = [(0.5 * k, 3.0) for k in range(5)]
    else:
        answer = autodiff(
            command,
            "x**2*y",
            *more,
            "--points",
            str(tmp_path / "rows.csv"),
            "--keep",
            "note",
            "-o",
            out,
        )
        assert answer.code == 2
    header, *rows = [
        [cell.value for cell in row] for row in openpyxl.load_workbook(out).active.rows
    ]
    assert_right(header, rows, points, texts, route)


def unescape(text: str) -> str:
    """Return a text of a workbook, which has characters that XML cannot hold by their numbers."""
    return re.sub("_x([0-9A-F]{4})_", lambda found: chr(int(found[1], 16)), text)


def assert_right(
    header: list[str], rows: list[list[Any]], points: list[Any], texts: list[str], route: str
) -> None:
    value = header.index("value [mm²]")
    if route != "one by one":
        assert [row[header.index("d_x [mm]")] for row in rows[: len(points)]] == pytest.approx(
            [2 * x * y for x, y in points]
        )
    assert [row[value] for row in rows[: len(points)]] == pytest.approx(
        [x * x * y for x, y in points]
    )
    if route != "sweep":
        assert rows[-1][value] is None and "`nan` is not a" in rows[-1][header.index("error")]
        notes = [unescape(row[header.index("note")]) for row in rows]
        assert notes == [*(texts[k % 6] for k in range(50)), "last"]


def test_what_no_workbook_holds(tmp_path: Path) -> None:
    out = str(tmp_path / "out.xlsx")
    assert "many points" in autodiff("grad", "x", "--at", "x=1", "--output", out).err
    assert "ask for two things" in autodiff("export", "x", "--to", "c", "--output", out).err
    assert not (tmp_path / "out.xlsx").exists()
