"""Tests of `--where`: which rows a condition leaves, in every route, against conditions of
Python.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from autodiff_cli.data import readers
from running import autodiff

Number = float | None
DRAW = random.Random(5)
ROWS: list[tuple[float, Number]] = [
    (
        DRAW.choice([0.0, -0.0, 1.0, DRAW.uniform(-3, 3)]),
        DRAW.choice([None, -1.0, 2.5, DRAW.uniform(-3, 3)]),
    )
    for _ in range(60)
]
CONDITIONS: dict[str, Callable[[float, float], bool]] = {
    "x > 0": lambda x, y: x > 0,
    "x >= 0 and y < 1": lambda x, y: x >= 0 and y < 1,
    "not (x == 1 or y != 2.5)": lambda x, y: not (x == 1 or y != 2.5),
    "-1 < x*y < 1": lambda x, y: -1 < x * y < 1,
    "abs(x) < abs(y)": lambda x, y: abs(x) < abs(y),
}


def expected(condition: str) -> list[tuple[int, bool]]:
    """Return the rows that stay, and whether they have no answer."""
    holds = CONDITIONS[condition]
    unknown = [k for k, (_, y) in enumerate(ROWS) if y is None and "y" in condition]
    left = [k for k, (x, y) in enumerate(ROWS) if k in unknown or holds(x, y or 0.0)]
    return [(k, ROWS[k][1] is None) for k in left]


def write(folder: Path, name: str) -> Path:
    path = folder / name
    if name.endswith(".csv"):
        text = "".join(
            f"{k},{x!r},{'' if y is None else repr(y)}\n" for k, (x, y) in enumerate(ROWS)
        )
        path.write_text(f"id,x,y\n{text}")
    elif name.endswith(".jsonl"):
        path.write_text(
            "".join(json.dumps({"id": k, "x": x, "y": y}) + "\n" for k, (x, y) in enumerate(ROWS))
        )
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        import pyarrow as pa

        table = {"id": [*range(len(ROWS))], "x": [x for x, _ in ROWS], "y": [y for _, y in ROWS]}
        parquet.write_table(pa.table(table), path, row_group_size=25)
    return path


@pytest.mark.parametrize(
    "more", [[], ["--backend", "numpy"], ["--backend", "llvm"]], ids=["usual", "numpy", "llvm"]
)
@pytest.mark.parametrize("name", ["data.csv", "data.jsonl", "data.parquet"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_rows_that_stay(tmp_path: Path, condition: str, name: str, more: list[str]) -> None:
    path = write(tmp_path, name)
    options = [
        "--points",
        str(path),
        "--where",
        condition,
        "--wide",
        "--format",
        "csv",
        "--keep",
        "id",
        *more,
    ]
    answer = autodiff("grad", "x*y", *options)
    rows = [*csv.DictReader(answer.out.splitlines())]
    right = expected(condition)
    assert [(int(row["id"]), bool(row["error"])) for row in rows] == right
    assert all(row["error"] or float(row["d_y"]) == ROWS[int(row["id"])][0] for row in rows)
    assert f"leaves {len(ROWS) - len(right)} of {len(ROWS)} rows out" in answer.err
    place = "row" if name.endswith("parquet") else "line"
    first = 2 if name.endswith("csv") else 1
    assert all(
        row["error"].startswith(f"{place} {int(row['id']) + first}: ")
        for row in rows
        if row["error"]
    )


def test_cells_that_are_kept_are_those_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data.csv").write_text("x,k\n1.0,007\n-1,1e3\n2,1.50\n")
    for few in (True, False):
        monkeypatch.setattr(readers.TextReader, "is_short", lambda self, few=few: few)
        options = [
            "--points",
            str(tmp_path / "data.csv"),
            "--where",
            "k > 5",
            "--keep",
            "k,x",
            "--wide",
        ]
        assert (
            autodiff("grad", "2*x", *options).out
            == "value,d_x,error,k,x\n2.0,2.0,,007,1.0\n-2.0,2.0,,1e3,-1\n"
        )


def test_units(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("x [mm],t\n5,1\n6000,2\n7000,3\n")
    for more in ([], ["--backend", "numpy"]):
        options = ["--points", str(tmp_path / "data.csv"), "--wide", *more]
        in_metres = autodiff("grad", "x**2", *options, "--where", "x > 6.5[m]").out.splitlines()
        assert in_metres == ["value [mm²],d_x [mm],error", "49000000.0,14000.0,"]
        assert autodiff("grad", "x**2", *options, "--where", "x > 6.5").out.count("\n") == 3
        refused = autodiff("grad", "x**2", *options, "--where", "x > 6.5[s]")
        assert refused.code and "in `--where`" in refused.err and not refused.out


def test_columns_of_other_names_and_swept_points(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("temp,y\n1,1\n2,5\n")
    options = [
        "--points",
        str(tmp_path / "data.csv"),
        "--columns",
        "T=temp",
        "--where",
        "T > 1",
        "--at",
        "q=0:2:1",
    ]
    answer = autodiff("grad", "T*q", *options, "--format", "csv")
    assert [row["value"] for row in csv.DictReader(answer.out.splitlines())] == [
        "0.0",
        "2.0",
        "4.0",
    ]
    assert "leaves 1 of 2 rows out" in answer.err


def test_fits_losses_and_uncertainties(tmp_path: Path) -> None:
    path = write(tmp_path, "data.csv")
    left = [(x, y) for x, y in ROWS if y is not None and x > 0]
    mean = sum(y for _, y in left) / len(left)
    rows = ["--data", str(path), "--where", "x > 0", "--on-error", "skip"]
    assert json.loads(autodiff("fit", "y = a", *rows, "--json").out)["parameters"][
        "a"
    ] == pytest.approx(mean)
    loss = json.loads(
        autodiff("grad", "(y - a)**2", *rows, "--reduce", "mean", "--at", "a=0", "--json").out
    )
    assert loss["gradient"]["a"] == pytest.approx(-2 * mean)
    answer = autodiff("propagate", "x", "--data", str(path), "--where", "x > 0", "--json")
    positive = [x for x, _ in ROWS if x > 0]
    assert json.loads(answer.out)["results"][0]["value"] == pytest.approx(
        sum(positive) / len(positive)
    )
    assert f"leaves {len(ROWS) - len(positive)} of {len(ROWS)} rows out" in answer.err


@pytest.mark.parametrize(
    ("condition", "code", "message"),
    [
        ("q > 0", 2, "`q` has no value"),
        ("x >", 3, "in `--where`: "),
        ("x", 3, "a condition is needed here"),
        ("1 > 0", 2, "names no column"),
        ("x > 0, y > 0", 3, "in `--where`: "),
    ],
)
def test_what_is_no_condition(tmp_path: Path, condition: str, code: int, message: str) -> None:
    path = write(tmp_path, "data.csv")
    answer = autodiff("grad", "x*y", "--points", str(path), "--where", condition)
    assert (answer.code, answer.out) == (code, "") and message in answer.err


def test_a_condition_without_a_value_is_an_error_of_its_row(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("x\n-1\n2\n0.5\n")
    for more in ([], ["--backend", "numpy"]):
        options = ["--points", str(tmp_path / "data.csv"), "--where", "log(x) > 0", "--wide", *more]
        answer = autodiff("grad", "x**2", *options)
        assert answer.code == 2
        assert answer.out.splitlines()[1].startswith(
            ",,line 2: point: `--where` has no value: `log`"
        )
        assert answer.out.splitlines()[2:] == ["4.0,4.0,"]


def test_files_in_other_units_are_not_compared(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("x,y [mm]\n1,2\n")
    (tmp_path / "two.csv").write_text("x,y [m]\n1,2\n")
    files = ["--points", str(tmp_path / "one.csv"), "--points", str(tmp_path / "two.csv")]
    answer = autodiff("grad", "x**2", *files, "--where", "y > 1", "--columns", "y=y [mm]")
    other = autodiff("grad", "x**2", *files, "--where", "y > 1")
    assert answer.code == 2 and other.code == 2 and "other units" in other.err


@pytest.mark.parametrize(
    "text", ["x > 0) else 1 if (y > 0", "x > 0) + (y > 0", "x > 0; y > 0", "x > 0, y > 0"]
)
def test_a_condition_is_a_whole_of_its_own(tmp_path: Path, text: str) -> None:
    """What only the program around it would make whole is refused, with its place."""
    result = autodiff(
        "grad", "x", "--points", str(write(tmp_path, "data.csv")), "--where", text, "--wide"
    )
    assert (
        (result.code, result.out) == (3, "")
        and "in `--where`: " in result.err
        and f"\n  {text}\n" in result.err
    )
