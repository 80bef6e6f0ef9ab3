"""Tests that few rows and many rows, which are read and written in two ways, print the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from autodiff_cli.data import readers
from running import autodiff

CSV = """x,y,k,t
1,2,007,1.0
1.0,3,1e3,"a,b"
007,1,,=1+1
.5,2,NA,"line
break"
9007199254740993,1,2020-01-01,é
 2 ,1e400,5,-3
1e-400,0,5
,3,"say ""hi"" to",#c
pi/4,NA,true,\u202e
"""
COMMAS = 'x;y;k;t\n1,5;2;1,0;a\n,5;3,;b;c\n2.5;1;;\n1;;"a;b";\n'
LINES = """{"x": 1, "y": 2, "k": 1, "t": "007"}
{"x": 1.0, "y": 3, "k": {"b": ["é"]}, "t": "\\u0000nul"}

{"x": 12345678901234567890, "y": "pi/4", "k": null, "t": true}
{"x": 1e3, "y": 0, "k": [1, 2], "t": ""}
{"x": "NA", "y": 1, "t": 1.50}
{bad
{"x": 2, "k": "a,b"}
"""
FILES = {
    "plain.csv": CSV,
    "tabs.tsv": CSV.replace("a,b", "a;b").replace(",", "\t"),
    "semicolons.csv": COMMAS,
    "crlf.csv": "\ufeff" + CSV.replace("\n", "\r\n"),
    "quoted.csv": 'x,y,k,t\r\n1,2,"a\r\nb",c\r\n2,3,"",d\r\n',
    "units.csv": "x [km],y (s),k,t\n1,+2,a,b\n007,1.0,c,d\n,1,e,f\n",
    "lines.jsonl": LINES,
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("to", ["csv", "tsv", "jsonl", "plain", "table", "markdown"])
def test_both_routes_print_the_same(
    name: str, to: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name].encode())
    several = (
        ("3",),
        ("x/y", "--keep-all"),
        ("x/y", "--keep", "x,k"),
        ("x*q", "--at", "q=0:3:1", "--keep", "x"),
    )
    for more in (*several, ("x/y", "--keep-all", "--on-error", "fail")):
        answers = []
        for few in (True, False):
            monkeypatch.setattr(readers.TextReader, "is_short", lambda self, few=few: few)
            answers.append(autodiff("grad", *more, "--points", str(path), "--wide", "--format", to))
        assert answers[0].out.count("\n") > 1 or (
            name == "units.csv" and "to keep" in answers[0].err
        )
        assert answers[0] == answers[1]


def test_kept_cells_are_those_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x,k\n007,1.0\n1e3,02\n")
    monkeypatch.setattr(readers.TextReader, "is_short", lambda self: False)
    answers = autodiff(
        "grad", "x**2", "--points", str(path), "--wide", "--keep-all", "--format", "csv"
    )
    assert answers.out == "value,d_x,error,x,k\n49.0,14.0,,007,1.0\n1000000.0,2000.0,,1e3,02\n"


def test_few_and_many_points_of_a_sweep_end_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    for to in ("csv", "table", "plain"):
        command = ["grad", "log(x - 2)", "--at", "x=3:0/5", "--on-error", "fail", "--format", to]
        few = autodiff(*command)
        assert few.code == 4 and "line 3: error: `log` is undefined at -0.5" in few.err
        with monkeypatch.context() as patch:
            patch.setattr(readers, "FEW_ROWS", 0)
            assert autodiff(*command) == few
