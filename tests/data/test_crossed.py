"""Tests of rows of data at the points of sweeps: each with all, in order, block by block, with
their places.
"""

from __future__ import annotations

import json
import os
import pickle
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from autodiff_cli import ExpressionError, gradient, propagate, solve
from autodiff_cli.data import readers
from autodiff_cli.data.readers import Reader, reader
from autodiff_cli.data.sources import sources
from autodiff_cli.questions.parse_point import PointFile, may_sweep, parse_point
from autodiff_cli.questions.sweeps import Grid, grid_of, sweeping
from running import autodiff

A = [1.0, 0.25, -3.0, 2.0, 7.0]


def grid(text: str, *, zipped: bool = False) -> Grid:
    points = grid_of(parse_point(text, sweeping(None)), zipped=zipped)
    assert points is not None
    return points


def opened(folder: Path, kind: str, points: Grid) -> Reader:
    """The rows of a file of this kind, at the points of a grid."""
    path = folder / f"a.{kind}"
    if kind == "csv":
        path.write_text("name,a\n" + "".join(f"r{k},{a}\n" for k, a in enumerate(A)))
    else:
        pq.write_table(
            pa.table({"name": [f"r{k}" for k in range(len(A))], "a": A}), path, row_group_size=2
        )
    return reader(sources([str(path)])[0], grid=points)


@pytest.mark.parametrize("most", [1, 2, 3, 6, 7, 100])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("zipped", [False, True])
def test_blocks_have_all_combinations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, kind: str, zipped: bool
) -> None:
    monkeypatch.setattr(readers, "MAX_BATCH_ROWS", most)
    text, points = (
        ("x=0:2:1,y=1:3:1", [(0, 1), (1, 2), (2, 3)])
        if zipped
        else ("x=0:2:1,y=5:6:1", [*product((0, 1, 2), (5, 6))])
    )
    with opened(tmp_path, kind, grid(text, zipped=zipped)) as rows:
        rows.select(["y", "a", "x"], ["name"])
        chunks = [*rows.chunks()]
    assert all(0 < chunk.batch.num_rows <= max(most, len(points)) for chunk in chunks)
    assert most >= len(points) or all(chunk.batch.num_rows <= most for chunk in chunks)
    expected = [
        {"name": f"r{k}", "a": a, "x": x, "y": y} for k, a in enumerate(A) for x, y in points
    ]
    assert [row for chunk in chunks for row in chunk.batch.to_pylist()] == expected
    places = [chunk.where(k) for chunk in chunks for k in range(chunk.batch.num_rows)]
    first, word = (2, "line") if kind == "csv" else (1, "row")
    assert places == [f"{word} {first + k}: " for k in range(len(A)) for _ in points]
    # bytes are counted once, and one by one the rows are the same
    assert kind == "parquet" or sum(chunk.size for chunk in chunks) == sum(
        len(f"r{k},{a}\n") for k, a in enumerate(A)
    )
    with opened(tmp_path, kind, grid(text, zipped=zipped)) as rows:
        single = [rows.numbers_in(row, ["a", "x", "y"]) for row in rows.rows()]
    assert single == [({name: row[name] for name in "axy"}, None) for row in expected]


def test_faults_are_those_of_all_points_of_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "MAX_BATCH_ROWS", 4)
    path = tmp_path / "a.csv"
    path.write_text("a\n1\nq\n3\n")
    with reader(sources([str(path)])[0], grid=grid("x=1:2:1")) as rows:
        rows.select(["a", "x"], [])
        faults = [
            (chunk.where(k), str(fault))
            for chunk in rows.chunks()
            for k, fault in chunk.faults.items()
        ]
    assert [place for place, _ in faults] == ["line 3: "] * 2 and all(
        "`q`" in fault for _, fault in faults
    )


@pytest.mark.parametrize("backend", ["llvm", "numpy", "python"])
def test_values_are_those_of_numpy(tmp_path: Path, backend: str) -> None:
    numbers = np.linspace(0.5, 3, 700)
    pq.write_table(pa.table({"a": numbers}), tmp_path / "a.parquet")
    result = autodiff(
        "grad", "a*exp(-k*x)", "--points", "a.parquet", "--at", "x=0:1/41,k={0.5,2}", "--wide",
        "--backend", backend, "--output", "out.parquet", folder=tmp_path,
    )  # fmt: skip
    assert (result.code, result.err) == (0, "")
    table = pq.read_table(tmp_path / "out.parquet")
    a, x, k = (
        column.ravel()
        for column in np.meshgrid(numbers, np.linspace(0, 1, 41), [0.5, 2], indexing="ij")
    )
    for name, exact in {
        "a": a,
        "x": x,
        "k": k,
        "value": a * np.exp(-k * x),
        "d_x": -k * a * np.exp(-k * x),
    }.items():
        assert np.allclose(table[name].to_numpy(), exact, rtol=1e-14, atol=1e-300), name


def test_grids_travel() -> None:
    for points in (grid("x=0:1:0.1,y={1,2/3}"), grid("x=log(1:100)/3,y=0:pi/3", zipped=True)):
        travelled = pickle.loads(pickle.dumps(points))  # noqa: S301
        assert travelled.columns(0, points.size) == points.columns(0, points.size)


def test_a_column_is_not_swept(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    with pytest.raises(ExpressionError, match="`x` is swept, and is a column"):
        reader(sources([str(tmp_path / "a.csv")])[0], grid=grid("x=0:1:1"))


def test_a_file_of_a_point_is_read_once() -> None:
    end, begin = os.pipe()
    os.write(begin, json.dumps({"x": "0:1:0.5", "y": "{3,4}"}).encode())
    os.close(begin)
    file = PointFile(f"@/dev/fd/{end}")
    assert may_sweep([file]) and file.content == file.content
    os.close(end)


@pytest.mark.parametrize(
    "text", ['{"x": 3}', '{"x": "3", "y": [1, 2]}', '{"x": "pi/4"}', '{"x": 1, "a": "2 m"}']
)
def test_files_without_sweeps_are_points(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.json").write_text(text)
    assert not may_sweep([PointFile(f"@{tmp_path}/p.json")])


def test_python_has_sweeps_in_files_and_lists_beside_them(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"x": "1:3:1"}')
    assert gradient("x**2", f"@{tmp_path}/p.json")["d_x"] == [2, 4, 6]


def test_starts_of_unknowns_are_no_part_of_swept_points() -> None:
    equations, at = "x**2 + y**2 = a*b; x = y", "a=2:8:6,x=1,y=1,b=1"
    answers = solve(equations, at, for_="x,y")
    assert [*answers] == ["a", "b", "x", "y", "d_x_a", "d_x_b", "d_y_a", "d_y_b", "error"]
    assert answers["x"] == pytest.approx([1, 2]) and answers["d_y_a"] == pytest.approx(
        [1 / 4, 1 / 8]
    )
    uncertain = propagate("x**3 - x = a*b", "a=0:1:1,x=1,b=2±0.1", for_="x")
    assert [*uncertain] == ["a", "b", "value", "uncertainty", "expanded", "result", "error"]
    for format, head in (
        ("csv", "a,b,x,y,d_x_a,d_x_b,d_y_a,d_y_b,error"),
        ("table", "in all rows: b = 1"),
    ):
        written = autodiff("solve", equations, "--for", "x,y", "--at", at, "--format", format)
        assert (written.code, written.err, written.out.splitlines()[0]) == (0, "", head)


@pytest.mark.parametrize(
    ("more", "value"),
    [("", 10), (",x=3", 15), (",y=1,x=3", 3), (",x=1:2:1", [5, 10]), (",x={2,4},y=2", [4, 8])],
)
def test_what_follows_a_file_of_values_wins_in_python_and_in_a_session(
    tmp_path: Path, more: str, value: float | list[float]
) -> None:
    (tmp_path / "p.json").write_text('{"x": 2, "y": 5}', encoding="utf-8")
    at = f"@{tmp_path}/p.json{more}"
    answer = gradient("x*y", at)
    assert (answer["value"] if isinstance(value, list) else answer.value) == value
    session = autodiff("repl", stdin=f"y = 7\nf = x*y\ngrad f --at {at} --format plain\n")
    assert session.code == 0
    rows = [
        float(line.split()[-3 if isinstance(value, list) else 0])
        for line in session.out.splitlines()[3:]
    ]
    assert rows == (value if isinstance(value, list) else [value])
    swept = gradient("sum(w)*x", {"w": np.array([1.0, 2.0]), "x": "0:1:1"})
    assert swept["value"] == [0, 3] and swept["d_w[1]"] == [0, 1] and swept["d_x"] == [3, 3]
    with pytest.raises(ExpressionError, match="columns and a sweep"):
        gradient("a*x", {"a": [1.0, 2.0], "x": "0:1:1"})


def test_a_sum_of_one_is_of_a_list() -> None:
    numbers = np.array([1.0, 2.0, 5.0])
    assert gradient("sum(x)", {"x": numbers}).gradient == {"x[1]": 1, "x[2]": 1, "x[3]": 1}
    assert gradient("max((x - 1)*2)", {"x": numbers}).value == 8
    # with several arguments, or in a frame, columns are columns
    assert gradient("sum(x, y)", {"x": numbers, "y": numbers})["value"].tolist() == [2, 4, 10]
    with pytest.warns(UserWarning, match="at 1 of 3 rows `max` has no derivative"):
        assert gradient("max(x, 2)", {"x": numbers})["value"].tolist() == [2, 2, 5]
    with pytest.raises(ExpressionError) as error:
        gradient("sum(x)", {"x": np.arange(2e5)})
    assert error.value.kind == "limit"


def test_many_rows_of_objects_have_no_swept_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "FEW_ROWS", 1)
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n{"a": 2, "x": 3}\n{"a": 4}\n')
    asked = ("grad", "a*x", "--points", "a.jsonl", "--at", "x=1:2:1", "--wide", "--format", "csv")
    result = autodiff(*asked, folder=tmp_path)
    swept = "line 2: point: `x` is swept, and this row gives it a value"
    assert [line.split(",", 5)[5].strip('"') for line in result.out.splitlines()[1:]] == [
        "",
        "",
        swept,
        swept,
        "",
        "",
    ]
