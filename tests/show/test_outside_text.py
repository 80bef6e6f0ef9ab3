"""Text from outside never reaches a screen raw: names of columns, files, sheets and keys,
separators, ids.
"""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from autodiff_cli.__main__ import run

HOSTILE = (
    "s\u202eq",
    "s\x1b[31mq",
    "s\x9b31m",
    "s\x07q",
    "s\u2066\u200f",
    "s\x85q",
    "s\u2028q",
    "s\x7fq",
)
"""Names that turn the direction of text, or that a terminal obeys."""
FIT = ["fit", "y = a*x + b", "--at", "a=1,b=1", "--data"]
ROWS = ["grad", "x*y", "--points"]


def raw(text: str) -> list[str]:
    return [
        char
        for char in text
        if char not in "\n\t" and unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp")
    ]


def write(path: str, heading: str, more: str = "") -> str:
    rows = "".join(f"{k},{2 * k + 1},3\n" for k in range(1, 6))
    Path(path).write_text(f"{heading}\n{rows}{more}", encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_no_name_from_outside_is_shown_raw(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    openpyxl = pytest.importorskip("openpyxl")
    Path("d.jsonl").write_text(json.dumps({"x": 1, "y": 2, name: 3}) + "\n", encoding="utf-8")
    Path("p.json").write_text(json.dumps({"x": 1, "y": 1, name: 3}), encoding="utf-8")
    Path("t.csv").write_text(f"title {name}\n{name}\nx;y;z\n1;2;3\n2;3;4\n", encoding="utf-8")
    headings = write("h.csv", f"x,y,{name}")
    units = write("u.csv", f"x [m{name}],y [s],z")
    labels = write("v.csv", f"x ({name}),y,z")
    bad_rows = write("b.csv", f"x,y,{name}", f"{name},1,2\n")
    commands = [
        [*way, file, *more]
        for way in (
            ROWS,
            FIT,
            ["propagate", "x*y", "--points"],
            ["hessian", "x*y", "--on-error", "skip", "--points"],
        )
        for file in (
            headings,
            units,
            labels,
            bad_rows,
            "d.jsonl",
            "t.csv",
            write(f"{name}.csv", "x,y,z"),
        )
        for more in (
            [],
            ["--separator", name],
            ["--separator", name[1]],
            ["--sheet", name],
            ["--missing", name],
        )
    ]
    commands += [
        [*ROWS, headings, "--keep", name, "--format", "table"],
        [*ROWS, headings, "--columns", f"x={name}"],
    ]
    commands += [
        ["grad", "x*y", "--at", at]
        for at in ("@p.json", f"x=1,y=2,{name}=3", f"x={name}", f"@{name}")
    ]
    commands += [
        [name],
        ["grad", name],
        ["grad", "x", f"--{name}"],
        ["help", name],
        ["units", name],
        ["functions", name],
    ]
    if name.isprintable() or name == HOSTILE[0]:
        book = openpyxl.Workbook()
        book.active.title = name
        for row in (["x", "y", name], [1, 2, 3], [1, name, 3]):
            book.active.append(row)
        book.create_sheet("other")
        book.save("k.xlsx")
        commands += [[*ROWS, "k.xlsx"], [*FIT, "k.xlsx"], [*ROWS, "k.xlsx", "--sheet", "none"]]
    for args in commands:
        code = run(args)
        shown = capsys.readouterr()
        assert code != 70, args
        assert not raw(shown.err), (args, shown.err)
