"""Tests of tables as instruments and laboratories write them: what is header, units and readings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from running import autodiff

FILES = {
    "a pure number in the row of units": ("t,x,n\ns,m,1\n1,2,1\n2,4.1,1\n3,6.2,1\n", "x = a*t + b", 2.1),
    "a time scale in the row of units": ("x,t,p\n1,UTC,m\n35,1,3\n35.4,2,4\n", "x = a", 35.2),
    "a scale of CF": ("n,x\nm,1e-3\n1,2\n2,3\n3,4\n", "x = a", 3.0),
    "units of CF": ("v\tT\tn\nm s-1\tdegree_C\t1\n1\t20\t2\n2\t30\t4\n", "n = a", 3.0),
    "a word among readings": ("x,t,p\n1,overflow,3\n35,1,3\n35.4,2,4\n", "x = a", 71.4 / 3),
    "a title above a commented header": ("# cooling, 3 May\n# t  T\n1 2\n2 4.1\n3 6.2\n", "T = a*t + b", 2.1),
    "units in a second comment": ("# t T\n# s K\n1 2\n2 4.1\n3 6.2\n", "T = a*t + b", 2.1),
    "a comma more in each row": ("t,x\n1,2,\n2,4.1,\n3,6.2,\n", "x = a*t + b", 2.1),
    "a semicolon more in each row": ("t;x\ns;m\n1;2,0;\n2;4,1;\n3;6,2;\n", "x = a*t + b", 2.1),
    "a tab at the end of each line": ("t\tx\t\n1\t2\t\n2\t4.1\t\n3\t6.2\t\n", "x = a*t + b", 2.1),
    "a tab more in each row": ("t\tx\ty\n1\t2\t2\t\n2\t\t4.1\t\n3\t1\t6.2\t\n", "y = a*t + b", 2.1),
    "an empty cell between tabs": ("t\tx\ty\n1\t2\t2\n2\t\t4.1\n3\t1\t6.2\n", "y = a*t + b", 2.1),
}


def fitted(folder: Path, text: str, formula: str) -> float:
    (folder / "data.txt").write_text(text)
    answer = autodiff("fit", formula, "--data", str(folder / "data.txt"), "--in", "none", "--json")
    return float(json.loads(answer.out)["parameters"]["a"])


@pytest.mark.parametrize(("text", "formula", "right"), FILES.values(), ids=FILES)
def test_readings_are_told_from_header_and_units(tmp_path: Path, text: str, formula: str, right: float) -> None:
    assert fitted(tmp_path, text, formula) == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize("cell", ["e", "12/05", "05/12", "-e"])
def test_a_code_or_a_day_is_no_number(tmp_path: Path, cell: str) -> None:
    (tmp_path / "data.csv").write_text(f"t,x\n1,2\n2,{cell}\n3,6.2\n")
    answer = autodiff("fit", "x = a*t + b", "--data", str(tmp_path / "data.csv"))
    assert answer.code == 2
    assert f"`({cell})`" in answer.err
