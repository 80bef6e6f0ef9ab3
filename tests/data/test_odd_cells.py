"""Tests of cells and files as people have them: dates, marks for no value, other separators, files
that differ.
"""

from __future__ import annotations

import bz2
import gzip
import json
import re
import signal
import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from autodiff_cli.data import readers
from autodiff_cli.questions import decoding
from autodiff_cli.streams import requests
from running import Result, autodiff


def answers(path: Path, *more: str, formula: str = "x*y") -> Result:
    """Of both ways, which have to say the same of each row; the wide one's."""
    wide = autodiff("grad", formula, "--points", str(path), "--wide", "--format", "jsonl", *more)
    long = autodiff("grad", formula, "--points", str(path), "--format", "jsonl", *more)
    assert long.code == wide.code
    if wide.code not in (0, 2) or not wide.out:
        assert long.err == wide.err
    for one, other in zip(long.out.splitlines(), wide.out.splitlines(), strict=True):
        first, second = json.loads(one), json.loads(other)
        assert first.get("value") == second["value"]
        if "error" in first:
            assert second["error"].endswith(first["error"]["message"])
    return wide


def errors(result: Result) -> list[str | None]:
    return [json.loads(line)["error"] for line in result.out.splitlines()]


@pytest.mark.parametrize(
    "cell",
    [
        *(
            "2024-01-02",
            "2024-1-2",
            "01/02/2024",
            "1/2/24",
            "2024-01-02T10:00",
            "02.01.2024",
            "2024/01/02",
            "2024/1/2",
        ),
        *("2024/01", "01/2024"),
    ],
)
def test_a_date_is_no_difference(cell: str, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(f"x,y\n{cell},1\n2,3\n1/2,4\n(2024-1),1\n", encoding="utf-8")
    result = answers(path)
    assert errors(result) == [
        f"line 2: point: column `x`: it is a date, not a number: `{cell}`",
        None,
        None,
        None,
    ]
    assert json.loads(result.out.splitlines()[3])["value"] == 2023
    assert "1  point: column `x`: it is a date, not a number: line 2\n" in result.err


@pytest.mark.parametrize(
    "cell", ["5-10", "555-1234", "1-2-24", "2024-01", "1.5-123", "-.5-100", "1.5e", "2E"]
)
def test_a_range_or_a_number_that_is_cut_off_is_no_formula(cell: str, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(f"x,y\n{cell},1\n-2e-3,3\n2*e,4\n", encoding="utf-8")
    message = f"it may be a range, a code, or a number without its exponent: `{cell}`"
    assert errors(answers(path)) == [f"line 2: point: column `x`: {message}", None, None]


def test_each_line_of_json_is_one_object(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(
        '{"x": 1, "y": 2}\n{"x": 3, "y": 4}{"x": 5, "y": 6}\n{"x": 7, "y": 8}\n', encoding="utf-8"
    )
    assert [error is None for error in errors(answers(path))] == [True, False, True]


def test_a_mark_for_no_value_is_said_to_be_one(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    marks = ["NA", "N/A", "null", "None", "-", ".", "#N/A"]
    path.write_text("x,y\n" + "".join(f"{mark},1\n" for mark in marks) + "pi,1\n", encoding="utf-8")
    found = errors(answers(path))
    assert found.pop() is None
    assert found == [
        f"line {k}: point: column `x`: `{mark}` is a missing value"
        for k, mark in enumerate(marks, start=2)
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "1,2\n3,4\n",
            "its first line, `1,2`, has two columns, or one number with a decimal comma",
        ),
        ('{\n "x": 1,\n "y": 2\n}\n', "line 1 of `{path}`: this is not JSON"),
        ("x,y,x\n1,2,3\n", "the data has two columns `x`"),
    ],
)
def test_a_file_of_another_make_is_said_to_be_one(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text(text, encoding="utf-8")
    result = answers(path)
    assert result.code == 2 and told.format(path=path) in result.err and not result.out


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (gzip.compress(b"x**2", mtime=0), "compressed by gzip"),
        (pa.compress(b"x**2", "zstd", asbytes=True), "compressed by Zstandard"),
        (bz2.compress(b"x**2"), "compressed by bzip2"), ("x**2\n".encode("utf-16"), "text in UTF-16"),
        (b"%PDF-1.5\n", "a PDF"), (b"PAR1\xff\0", "Parquet"),
    ],
)  # fmt: skip
def test_a_program_or_a_point_of_another_kind_is_said_to_be_one(
    data: bytes, kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "data"
    path.write_bytes(data)
    for result in (
        autodiff("grad", "--file", str(path)),
        autodiff("grad", "x", "--at", f"@{path}"),
    ):
        assert result.code == 5 and f"error: `{path}` seems to be {kind}" in result.err
    assert f"standard input seems to be {kind}" in autodiff("grad", "--file", "-", stdin=data).err


def test_tabs_within_quotes_separate_nothing(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text('"a\tb",x,"c\td",y\nq,2,r,3\n', encoding="utf-8")
    assert json.loads(answers(path).out)["value"] == 6
    path.write_text('"a, b"\tx\ty\nq\t2\t3\n', encoding="utf-8")
    assert json.loads(answers(path).out)["value"] == 6


@pytest.mark.parametrize("place", ["first", "middle", "last"])
@pytest.mark.parametrize("to", [["--backend", "llvm"], ["--backend", "python"]])
def test_of_a_line_that_is_too_long_there_is_one_error(
    place: str, to: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(decoding, "MAX_BYTES", 1_000)
    monkeypatch.setattr(readers, "BLOCK_BYTES", 200)
    monkeypatch.setattr(readers, "PIECE_BYTES", 40)
    monkeypatch.setattr(requests, "READ_BYTES", 100)
    monkeypatch.chdir(tmp_path)
    lines = [f"{k},{k}" for k in range(100)]
    lines[{"first": 0, "middle": 50, "last": 99}[place]] = "7," * 5_000
    path = tmp_path / "data.csv"
    for end in ("\n", ""):
        path.write_text("x,y\n" + "\n".join(lines) + end, encoding="utf-8")
        bad = next(k for k, line in enumerate(lines, start=2) if len(line) > 100)
        asked = [
            "grad",
            "x*y",
            "--points",
            str(path),
            "--keep",
            "y",
            "--format",
            "jsonl",
            "--force",
        ]
        result = autodiff(*asked, *to, "--wide")
        found = [json.loads(line) for line in result.out.splitlines()]
        assert len(found) == 100 and result.code == 4, result.err
        told = [row["error"] for row in found if row["error"] is not None]
        assert told == [f"line {bad}: limit: the line is longer than 1,000 bytes"]
        values = [row["value"] for row in found if row["error"] is None]
        assert values == [float(k * k) for k in range(100) if k != bad - 2]


def test_the_first_row_may_be_none(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text('{"x": 1,\n[]\n{"x": 2, "y": 3}\n', encoding="utf-8")
    for rows in ("short", "long"):
        if rows == "long":
            path.write_text(
                path.read_text(encoding="utf-8") + '{"x": 2, "y": 3}\n' * 20_001, encoding="utf-8"
            )
        found = errors(answers(path))
        assert (
            str(found[0]).startswith("line 1: ")
            and str(found[1]).startswith("line 2: ")
            and found[2] is None
        )


def test_columns_of_other_types_are_the_same_in_long_records(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    good: list[tuple[Any, float]] = [
        (pa.array([Decimal("1.25")]), 1.25), (pa.array([2], pa.int8()), 2),
        (pa.array([0.5], pa.float32()), 0.5), (pa.array([0.5], pa.float16()), 0.5),
        (pa.array([3.0]).dictionary_encode(), 3),
    ]  # fmt: skip
    for column, value in good:
        parquet.write_table(pa.table({"x": column, "y": [1.0]}), path)
        assert json.loads(answers(path).out)["value"] == value
    bad = [
        (pa.array(["1"]), "text"),
        (pa.array([True]), "truth values"),
        (pa.array([date(2024, 1, 1)]), "values of"),
    ]
    for column, told in bad:
        parquet.write_table(pa.table({"x": column, "y": [1.0]}), path)
        result = answers(path)
        assert result.code == 2 and f"column `x` holds {told}" in result.err


def test_a_fit_names_the_file_and_refuses_columns_by_name(tmp_path: Path) -> None:
    good, bad, text = (tmp_path / name for name in ("good.csv", "bad.csv", "text.parquet"))
    good.write_text("x,y\n1,2\n2,4\n", encoding="utf-8")
    bad.write_text("y,x\n1,2\nNA,4\n", encoding="utf-8")
    parquet.write_table(pa.table({"x": ["1", "2"], "y": [1.0, None]}), text)
    asked = ["fit", "y=a*x", "--at", "a=1", "--data", str(good), "--data"]
    assert (
        f"error: {bad}, line 3: column `y`: `NA` is a missing value"
        in autodiff(*asked, str(bad)).err
    )
    assert "error: column `x` holds text" in autodiff(*asked, str(text)).err
    parquet.write_table(pa.table({"x": [1, 2], "y": [1.0, None]}), text)
    assert (
        f"error: {text}, row 2: column `y`: it is empty"
        in autodiff(*asked[:4], "--data", str(text)).err
    )
    parquet.write_table(pa.table({"y": [1.0]}), text)
    assert (
        f"error: there is no column `x` in `{text}`, and there is in `{good}`"
        in autodiff(*asked, str(text)).err
    )


def test_a_header_among_the_rows_is_said_to_be_one(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x,y\n1,2\nx,y\n3,4\n", encoding="utf-8")
    told = "line 3: point: column `x`: it is the name of the column: a header among the rows"
    assert errors(answers(path)) == [None, told, None]


def test_a_variable_has_one_column(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    for said in (["x=a,x=b"], ["x=a", "--columns", "x=b"]):
        result = answers(path, "--columns", *said, formula="x")
        assert result.code == 2 and "`--columns` gives `x` two columns, `a` and `b`" in result.err
    assert json.loads(answers(path, "--columns", "x=a,y=a").out)["value"] == 1


def test_whatever_is_carried_along_is_json(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    columns = {
        "x": [1.0], "l": [[1.5, float("nan")]], "s": [{"a": 1}], "d": [Decimal("1.25")],
        "b": [True], "n": [float("nan")], "i": [-float("inf")], "t": [date(2024, 1, 2)],
        "bytes": [b"\xff"],
    }  # fmt: skip
    parquet.write_table(pa.table(columns), path)
    kept = {
        "l": [1.5, None], "s": {"a": 1}, "d": "1.25", "b": True, "n": None, "i": "-inf",
        "t": "2024-01-02", "bytes": "ff",
    }  # fmt: skip
    names = ",".join(kept)
    wide = autodiff(
        "grad", "x**2", "--points", str(path), "--keep", names, "--wide", "--format", "jsonl"
    )
    assert {name: cell for name, cell in json.loads(wide.out).items() if name in kept} == kept
    long = autodiff("grad", "x**2", "--points", str(path), "--keep", names)
    assert json.loads(long.out)["keep"] == kept
    cells = autodiff("grad", "x**2", "--points", str(path), "--keep", "l,s", "--wide")
    assert '"[1.5, null]","{""a"": 1}"' in cells.out


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    "to",
    [
        [],
        ["--wide", "--backend", "python"],
        ["--wide"],
        ["--engine", "dask", "--workers", "1", "--output", "parts/"],
    ],
)
def test_files_go_together_by_the_names_of_columns(
    kind: str, to: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    if "dask" in to:
        pytest.importorskip("distributed")

    def written(name: str, table: dict[str, list[float]]) -> str:
        path = tmp_path / f"{name}.{kind}"
        if kind == "parquet":
            parquet.write_table(pa.table(table), path)
        elif kind == "jsonl":
            path.write_text(
                json.dumps({key: cells[0] for key, cells in table.items()}) + "\n", encoding="utf-8"
            )
        else:
            path.write_text(
                ",".join(table) + "\n" + ",".join(str(x[0]) for x in table.values()) + "\n"
            )
        return str(path)

    first = written("a", {"x": [2.0], "y": [3.0]})
    other = written("b", {"z": [0.0], "y": [5.0], "x": [7.0]})
    result = autodiff("grad", "x**2*y", "--points", first, "--points", other, "--keep", "y", *to)
    assert result.code == 0, result.err
    if "--output" in to:
        found = pa.concat_tables(
            map(parquet.read_table, sorted((tmp_path / "parts").glob("part*")))
        ).to_pydict()
        assert (found["value"], found["y"]) == ([12, 245], [3, 5])
    else:
        assert "12" in result.out and "245" in result.out
    lacking = written("c", {"x": [7.0], "z": [1.0]})
    result = autodiff("grad", "x**2*y", "--points", first, "--points", lacking, *to, "--force")
    assert result.code == 2
    # before anything is computed, but of objects some may have what the first one lacks
    assert kind == "jsonl" or not re.search(r"\d", result.out)
    told = (
        "column `y`: it is empty"
        if kind == "jsonl" and not (to and to[-1] != "python")
        else "there is no column `y`"
    )
    assert told in result.out + result.err


PROGRAM = [sys.executable, "-m", "autodiff_cli"]


@pytest.mark.posix
@pytest.mark.parametrize("name", ["out.csv", "out.jsonl", "out.parquet"])
def test_a_disk_that_is_full_is_said_of_its_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x\n" + "".join(f"{k}\n" for k in range(20_000)), encoding="utf-8")
    limited = ["sh", "-c", 'ulimit -f 200 && exec "$@"', "sh", *PROGRAM]
    asked = [*limited, "grad", "x**2", "--points", str(path), "--output", f"{tmp_path}/{name}"]
    result = subprocess.run(asked, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 5 and "cannot be written: File too large" in result.stderr, (
        result.stderr
    )
    assert f"error: `{tmp_path}/{name}" in result.stderr
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [path]


@pytest.mark.posix
@pytest.mark.parametrize("more", [[], ["--wide", "--backend", "python"]])
def test_rows_one_by_one_say_how_far_they_were(more: list[str]) -> None:
    asked = [*PROGRAM, "grad", "x**2", "--points", "-", "--format", "csv", *more]
    with subprocess.Popen(
        asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert (
            process.stdin is not None and process.stdout is not None and process.stderr is not None
        )
        process.stdin.write("x\n1\n2\n3\n")
        process.stdin.flush()
        for _ in range(4):
            assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == "interrupted after 3 rows\n"
    assert process.returncode == 130


def test_a_carriage_return_in_a_cell_spoils_no_row_beside_quotes(tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_bytes(b'x,name,y\n0,"a\rb",1\n1,q\rr "x",3\n2,"t",5\n')
    found = autodiff(
        "grad",
        "x*y",
        "--points",
        "cells.csv",
        "--keep",
        "name",
        "--format",
        "jsonl",
        folder=tmp_path,
    )
    assert found.code == 0 and [json.loads(line)["value"] for line in found.out.splitlines()] == [
        0.0,
        3.0,
        10.0,
    ]
    fitted = autodiff(
        "fit", "y = a + b*x", "--data", "cells.csv", "--format", "plain", folder=tmp_path
    )
    assert fitted.code == 0 and fitted.out.startswith("a=1.0 b=2.0")


@pytest.mark.parametrize(
    "heads", ["\u00b5,\u03bc", "V,\uff36", "\u00e4,a\u0308", "V1,V\u2081", "\u00b5 [m],\u03bc [m]"]
)
@pytest.mark.parametrize("wide", [(), ("--wide",)])
def test_columns_whose_names_look_alike_are_refused_until_one_is_renamed(
    heads: str, wide: tuple[str, ...]
):
    first, second = (head.split()[0] for head in heads.split(","))
    result = autodiff("grad", f"2*{first}", "--points", "-", *wide, stdin=f"{heads}\n2,3\n")
    assert (
        result.code == 2
        and f"the columns `{first}` and `{second}` look alike but are two names" in result.err
    )
    renamed = ("--columns", f"other={second}")
    result = autodiff(
        "grad", f"2*{first}", "--points", "-", "--wide", *renamed, stdin=f"{heads}\n2,3\n"
    )
    assert result.code == 0 and result.out.splitlines()[1].startswith("4.0,2.0")


@pytest.mark.parametrize(
    ("name", "column"),
    [("\u03bc", "\u00b5"), ("V", "\uff36"), ("\u00e4", "a\u0308"), ("V1", "V\u2081")],
)
def test_a_column_that_looks_like_the_name_in_the_formula_is_offered(name: str, column: str):
    data = f"x,{column},y\n1,2,3\n2,3,4\n4,7,5\n"
    result = autodiff("grad", f"2*{name}", "--points", "-", stdin=data)
    assert result.code == 2 and f"`--columns {name}={column}`" in result.err
    # no parameter of a fit, either
    result = autodiff("fit", f"y = {name} + b*x", "--data", "-", stdin=data)
    assert result.code == 2 and f"there is the column `{column}`" in result.err


def test_a_name_of_several_headings_is_no_parameter_of_a_fit():
    data = "x,V [m],V [s],y\n1,2,3,1\n2,3,4,5\n4,7,5,6\n"
    result = autodiff("fit", "y = V + b*x", "--data", "-", stdin=data)
    assert (
        result.code == 2
        and "there are the columns `V [m]`, `V [s]`" in result.err
        and '`--columns "V=V [m]"`; for a parameter give a start: `--at V=…`' in result.err
    )
    given = autodiff(
        "fit", "y = V + b*x", "--data", "-", "--at", "V=1", "--format", "plain", stdin=data
    )
    assert given.code == 0 and given.out.startswith("V=")


@pytest.mark.parametrize(
    "heads", ["T,R (ohm)", "T [K],R [ohm]", "T [°C],Resistance R [ohm]", "T,R,u(R),u(T)"]
)
@pytest.mark.parametrize("parameter", ["r", "u"])
def test_a_parameter_may_be_called_like_a_column_that_the_fit_uses_in_small_letters(
    heads: str, parameter: str
):
    rows = [
        ",".join([a, b, "1", "1"][: heads.count(",") + 1])
        for a, b in (("1", "3"), ("2", "5"), ("3", "7"))
    ]
    data = "\n".join([heads, *rows, ""])
    result = autodiff(
        "fit",
        f"R = {parameter} + a*T",
        "--data",
        "-",
        "--format",
        "plain",
        "--digits",
        "6",
        stdin=data,
    )
    assert result.code == 0 and result.out.startswith(f"{parameter}=1.0")
