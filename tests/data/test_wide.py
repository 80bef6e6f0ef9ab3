"""Tests of wide rows: files of every kind, by every backend, with every row that has no answer
named.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import random
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as parquet
import pytest

from autodiff_cli.cli import row_routes
from autodiff_cli.compiled import kernels
from autodiff_cli.compiled.columns_io import list_columns
from autodiff_cli.data import pipeline, readers, rows
from autodiff_cli.data.rows import numbers_of
from autodiff_cli.data.sources import Source
from autodiff_cli.engine.numbers import budget
from running import Result, autodiff

FORMULA = "x*log(y) + sqrt(x)"

TABLE = {
    "id": ["a", "b", "c", "d", "e"],
    "x": [1.0, 2.0, -1.0, None, 4.0],
    "y": [2.0, -3.0, 1.0, 1.0, 0.5],
}
REASONS = (None, "domain: `log`", "domain: `sqrt`", "point: column `x`: it is empty", None)


def as_text(separator: str) -> str:
    rows = [
        [("" if cell is None else str(cell)) for cell in row]
        for row in zip(*TABLE.values(), strict=True)
    ]
    return "".join(separator.join(row) + "\n" for row in [list(TABLE), *rows])


def as_lines() -> str:
    return "".join(
        json.dumps(dict(zip(TABLE, row, strict=True))) + "\n"
        for row in zip(*TABLE.values(), strict=True)
    )


def written(folder: Path, kind: str) -> Path:
    """The table as a file of a kind."""
    path = folder / f"data.{kind}"
    table = pa.table(TABLE)
    if kind == "parquet":
        parquet.write_table(table, path)
    elif kind in ("arrow", "feather"):
        with ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    elif kind == "arrows":
        with ipc.new_stream(path, table.schema) as file:
            file.write_table(table)
    else:
        text = as_lines() if "jsonl" in kind else as_text("\t" if "tsv" in kind else ",")
        content = text.encode()
        if kind.endswith(".gz"):
            content = gzip.compress(content)
        elif kind.endswith(".zst"):
            content = pa.compress(content, "zstd", asbytes=True)
        path.write_bytes(content)
    return path


def found(path: Path) -> list[dict[str, object]]:
    """The rows of an output file, numbers as numbers."""
    kind = path.suffix
    if kind == ".parquet":
        return parquet.read_table(path).to_pylist()
    if kind == ".arrow":
        with ipc.open_file(path) as file:
            return file.read_all().to_pylist()
    text = path.read_text(encoding="utf-8")
    if kind == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    rows = csv.DictReader(io.StringIO(text), delimiter="\t" if kind == ".tsv" else ",")
    return [
        {
            name: (cell or None) if name in ("error", "id") else float(cell) if cell else None
            for name, cell in row.items()
        }
        for row in rows
    ]


def numbers(rows: list[dict[str, object]]) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in ("value", "d_x", "d_y")) for row in rows]


KINDS = (
    "csv",
    "tsv",
    "jsonl",
    "csv.gz",
    "csv.zst",
    "jsonl.gz",
    "parquet",
    "arrow",
    "feather",
    "arrows",
)
OUT = ("parquet", "arrow", "csv", "tsv", "jsonl")


@pytest.fixture(scope="module")
def expected() -> list[dict[str, object]]:
    """The answers of the plain way."""
    lines = autodiff(
        "grad", FORMULA, "--points", "-", "--keep", "id", stdin=as_text(",")
    ).out.splitlines()
    return [json.loads(line) for line in lines]


def check(
    rows: list[dict[str, object]], expected: list[dict[str, object]], word: str, first: int
) -> None:
    assert [row["id"] for row in rows] == TABLE["id"]
    for k, (row, plain, reason) in enumerate(zip(rows, expected, REASONS, strict=True)):
        if reason is None:
            assert row["error"] is None
            answer = [plain["value"], *plain["gradient"].values()]  # type: ignore[attr-defined]
            assert [row["value"], row["d_x"], row["d_y"]] == pytest.approx(answer, rel=1e-14)
        else:
            assert str(row["error"]).startswith(f"{word} {first + k}: {reason}")
            assert str(row["error"]).endswith(str(plain["error"]["message"]))  # type: ignore[index]
            assert (row["value"], row["d_x"], row["d_y"]) == (None, None, None)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_is_read(
    kind: str, tmp_path: Path, expected: list[dict[str, object]]
) -> None:
    path = written(tmp_path, kind)
    word, first = (
        ("line", 1 if "jsonl" in kind else 2)
        if any(t in kind for t in ("csv", "tsv", "jsonl"))
        else ("row", 1)
    )
    for asked in ([], ["--backend", "llvm"], ["--backend", "numpy"], ["--backend", "python"]):
        out = tmp_path / "out.jsonl"
        result = autodiff(
            "grad",
            FORMULA,
            "--points",
            str(path),
            "--wide",
            "--keep",
            "id",
            "--output",
            str(out),
            "--force",
            *asked,
        )
        assert (result.code, result.out) == (4, "")
        assert (
            "5 rows, and 3 of them have no answer:\n  1  domain: `log` is undefined at …: "
            in result.err
        )
        check(found(out), expected, word, first)
    long = autodiff("grad", FORMULA, "--points", str(path), "--keep", "id").out.splitlines()
    assert [json.loads(line).get("value") for line in long] == [
        row.get("value") for row in expected
    ]


@pytest.mark.parametrize("kind", OUT)
def test_every_kind_of_file_is_written(
    kind: str, tmp_path: Path, expected: list[dict[str, object]]
) -> None:
    path = written(tmp_path, "parquet")
    out = tmp_path / f"out.{kind}"
    wide = [] if kind in ("parquet", "arrow") else ["--wide"]
    asked = ["grad", FORMULA, "--points", str(path), "--keep", "id", "--output", str(out), *wide]
    assert autodiff(*asked).code == 4
    check(found(out), expected, "row", 1)
    before = out.read_bytes()
    kept = autodiff(*asked)
    assert kept.code == 5 and "already exists" in kept.err and out.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["data.parquet", out.name]


def test_the_schema_says_what_the_columns_mean(tmp_path: Path) -> None:
    path = written(tmp_path, "parquet")
    out = tmp_path / "out.parquet"
    autodiff(
        "grad", "r*x", "--points", str(path), "--at", "r=2", "--keep-all", "--output", str(out)
    )
    schema = parquet.read_schema(out)
    assert schema.names == ["value", "d_r", "d_x", "error", "id", "x", "y"]
    assert (
        schema.metadata[b"autodiff.formula"] == b"r*x"
        and schema.metadata[b"autodiff.at"] == b"r=2.0"
    )
    assert schema.metadata[b"autodiff.version"] and schema.field("d_x").metadata == {
        b"meaning": b"the derivative by x"
    }


def test_several_files(tmp_path: Path) -> None:
    for k in range(3):
        parquet.write_table(pa.table({"x": [float(k), -1.0]}), tmp_path / f"part-{k}.parquet")
    for asked in ([str(tmp_path / "part-*.parquet")], [str(tmp_path)]):
        result = autodiff("grad", "sqrt(x + 1)/x", "--points", *asked, "--wide")
        rows = list(csv.DictReader(io.StringIO(result.out)))
        assert [row["value"] for row in rows[2::2]] == ["1.4142135623730951", "0.8660254037844386"]
        assert rows[0]["error"].startswith(
            f"{tmp_path / 'part-0.parquet'}, row 1: domain: division by zero"
        )
        assert len(rows) == 6
    long = autodiff(
        "grad",
        "x",
        "--points",
        str(tmp_path / "part-0.parquet"),
        "--points",
        str(tmp_path / "part-2.parquet"),
    )
    assert [json.loads(line)["value"] for line in long.out.splitlines()] == [0.0, -1.0, 2.0, -1.0]


def pathological(rng: random.Random) -> str:
    """A file with everything in it: quotes, line ends, constant expressions, empty lines, wrong
    rows.
    """
    cells = [
        "1",
        "2.5",
        "-3e-2",
        "pi/4",
        "",
        "oops",
        "nan",
        "1e999",
        " 4 ",
        "+7",
        "1_000",
        '"5"',
        '"pi"',
        "0",
        "-1",
    ]
    notes = ["a", '"b, c"', '"two\nlines"', 'in"side', '"""', "", "é", '"open', "=x", '"a""b"']
    rows = []
    for _ in range(rng.randrange(1, 60)):
        good = rng.random() < 0.6
        x, y = (rng.choice(cells[:3] + cells[-2:]) if good else rng.choice(cells) for _ in range(2))
        note = rng.choice(notes[:2]) if good or rng.random() < 0.7 else rng.choice(notes)
        row = f"{note},{x},{y}"
        if rng.random() < 0.03:
            row = rng.choice(["", "   ", "a,b", "1,2,3,4", "\xa0", ","])
        rows.append(row + rng.choice(["\n"] * 9 + ["\r\n"]))
    return "note,x,y\n" + "".join(rows)


@pytest.mark.parametrize("backend", ["python", "numpy"])
@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("x,y\n" + "1" * 500 + ",2\n3,4\n", ["point", None]),
        ("x,y\n1,2\n" + "1" * 500, [None, "point"]),
        ("x,y\n" + "1" * 500, ["point"]),
        ("x,y," + "z" * 500 + "\n1,2,3\n4,5,6\n", [None, None]),
    ],
    ids=("first", "last", "only", "heading"),
)  # fmt: skip
def test_a_line_may_be_longer_than_a_block(
    text: str, rows: list[str | None], backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(readers, "PIECE_BYTES", 40)
    monkeypatch.setattr(readers, "BLOCK_BYTES", 100)
    asked = ("grad", "x*y", "--points", "-", "--wide", "--backend", backend, "--format", "jsonl")
    found = [json.loads(line)["error"] for line in autodiff(*asked, stdin=text).out.splitlines()]
    assert [
        each and each.split(": ")[1 if each.startswith("line") else 0] for each in found
    ] == rows


def test_blocks_are_read_as_rows_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However a file falls into blocks and pieces, its rows are those that our own reader sees."""
    monkeypatch.setattr(readers, "PIECE_BYTES", 40)
    compared = wrong = 0
    for seed in range(60):
        rng = random.Random(seed)
        path = tmp_path / "data.csv"
        path.write_text(pathological(rng), encoding="utf-8", newline="")
        monkeypatch.setattr(readers, "BLOCK_BYTES", rng.choice([30, 100, 400, 10_000]))
        asked = [
            "grad",
            FORMULA,
            "--points",
            str(path),
            "--wide",
            "--keep",
            "note",
            "--format",
            "jsonl",
        ]
        plain = [
            json.loads(line) for line in autodiff(*asked, "--backend", "python").out.splitlines()
        ]
        rows = [json.loads(line) for line in autodiff(*asked, "--backend", "llvm").out.splitlines()]
        assert [row["error"] for row in rows] == [row["error"] for row in plain], seed
        assert [row["note"] for row in rows] == [row["note"] for row in plain], seed
        for row, other in zip(rows, plain, strict=True):
            if other["error"] is None:
                assert numbers([row])[0] == pytest.approx(numbers([other])[0], rel=1e-13)
                compared += 1
            else:
                wrong += 1
    assert compared > 300 and wrong > 300


def test_cells_that_are_not_plain_numbers_are_read_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And not the lines around them, which would take its time."""
    text = "x,note,y\n1,a,2\nNA,b,2\npi/4,c,2\n,d,-2\n1e999,e,2\n3,f,oops\nno,g,no\n 4,h,2.50\n"
    asked = ("grad", "y*x", "--points", "-", "--wide", "--keep", "note", "--format", "jsonl")
    plain = autodiff(*asked, "--backend", "python", stdin=text)
    monkeypatch.setattr(readers.TextReader, "_parse_plainly", None)
    found = autodiff(*asked, "--backend", "numpy", stdin=text)
    assert (found.out, found.err, found.code) == (plain.out, plain.err, plain.code)
    assert [json.loads(row)["error"] is None for row in found.out.splitlines()] == [
        1,
        0,
        1,
        0,
        0,
        0,
        0,
        1,
    ]


def test_many_rows_take_the_pipeline_and_few_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["grad", "x", "--points", "-", "--wide"]

    def no(*_: object) -> None:
        raise AssertionError("not this way")

    with monkeypatch.context() as patched:
        patched.setattr(row_routes, "_piped", no)
        assert autodiff(*asked, stdin="x\n1\n").out == "value,d_x,error\n1.0,1.0,\n"
    with monkeypatch.context() as patched:
        patched.setattr(row_routes, "_one_by_one", no)
        patched.setattr(readers, "FEW_ROWS", 2)
        assert autodiff(*asked, stdin="x\n1\n2\n").out.split() == [
            "value,d_x,error",
            "1.0,1.0,",
            "2.0,1.0,",
        ]


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_the_backend_is_taken(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    ready = kernels.kernel

    def kernel(*args: object) -> kernels.Kernel:
        taken.append(ready(*args))  # type: ignore[arg-type]
        return taken[-1]

    monkeypatch.setattr(kernels, "kernel", kernel)
    rows = autodiff(
        "grad",
        f"x*{len(backend)}",
        "--points",
        "-",
        "--wide",
        "--backend",
        backend,
        stdin="x\n1\n2\n",
    )
    assert rows.code == 0 and [each.backend for each in taken] == [backend]


def test_the_limit_on_work_is_that_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "STEPS", 10)
    monkeypatch.setattr(budget, "STEPS_A_CHARACTER", 0)
    text = "+".join(f"log(x*{k})" for k in range(1, 20))
    asked = ("grad", text, "--points", "-", "--wide", "--backend", "numpy", "--format", "jsonl")
    for more, kind in (((), "limit"), (("--work", "1000000"), "domain")):
        row = json.loads(autodiff(*asked, *more, stdin="x\n-1\n").out)
        assert row["error"].startswith(f"line 2: {kind}: ")


def test_what_computes_is_said_where_it_is_slow(tmp_path: Path) -> None:
    out = str(tmp_path / "out.parquet")
    found = autodiff("grad", "polygamma(9, x)", "--points", "-", "--output", out, stdin="x\n1\n")
    assert found.err.count("computed one by one") == 1


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
@pytest.mark.parametrize("question", ["jacobian", "hessian"])
def test_second_derivatives_and_several_outputs_are_computed_in_blocks(
    question: str, backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "x*log(y)" + (", x/y" if question == "jacobian" else "")
    asked = [
        question,
        text,
        "--points",
        str(written(tmp_path, "csv")),
        "--wide",
        "--format",
        "jsonl",
    ]
    plain = [json.loads(line) for line in autodiff(*asked, "--backend", "python").out.splitlines()]
    counted = []
    answer = rows.CompiledRows.answer

    def answered(self: rows.CompiledRows, *args: object) -> rows.AnswerBatch:
        found = answer(self, *args)  # type: ignore[arg-type]
        counted.append((self.kernel.backend, found.asked))
        return found

    monkeypatch.setattr(rows.CompiledRows, "answer", answered)
    found = [json.loads(line) for line in autodiff(*asked, "--backend", backend).out.splitlines()]
    assert [row["error"] for row in found] == [row["error"] for row in plain]
    assert counted == [(backend, 2)] and len(found) == 5
    for row, other in zip(found, plain, strict=True):
        if other["error"] is None:
            del row["error"], other["error"]
            assert row == pytest.approx(other, rel=1e-14)


def test_columns_are_packed_by_lz4(tmp_path: Path) -> None:
    rng = random.Random(1)
    given, out = tmp_path / "data.parquet", tmp_path / "out.parquet"
    table = {"x": [rng.random() for _ in range(3000)], "one": [1.0] * 3000, "id": list(range(3000))}
    parquet.write_table(pa.table(table), given)
    autodiff("grad", "x**2 + x", "--points", str(given), "--keep-all", "--output", str(out))
    group = parquet.ParquetFile(out).metadata.row_group(0)
    assert {group.column(k).compression for k in range(group.num_columns)} == {"LZ4"}
    assert parquet.read_table(out).select(list(table)).to_pydict() == table


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_file_that_grows_too_large_for_its_place_is_said_and_is_gone(
    kind: str, tmp_path: Path
) -> None:
    resource = pytest.importorskip("resource")
    parquet.write_table(
        pa.table({"x": [float(k) for k in range(20_000)]}), tmp_path / "data.parquet"
    )
    asked = ["grad", "exp(-x/999)", "--points", "data.parquet", "--output", f"out.{kind}"]
    found = subprocess.run(
        [sys.executable, "-m", "autodiff_cli", *asked],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
    )  # fmt: skip
    assert found.returncode == 5, found.stderr
    assert f"`out.{kind}` cannot be written: File too large\n" in found.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["data.parquet"]


def failure(*args: str, code: int, told: str, stdin: bytes = b"") -> Result:
    result = autodiff("grad", *args, stdin=stdin)
    assert result.code == code and told in result.err, result.err
    return result


def test_bad_input_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    good, out = written(tmp_path, "parquet"), tmp_path / "out.parquet"
    to = ["--output", str(out)]
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(good.read_bytes()[:-20])
    failure("x", "--points", str(cut), *to, code=5, told="cannot be read as parquet")
    (tmp_path / "empty").mkdir()
    failure("x", "--points", str(tmp_path / "empty"), *to, code=5, told="holds no file of data")
    failure("x", "--points", str(tmp_path / "*.pq"), *to, code=5, told="no file matches")
    failure("id*x", "--points", str(good), *to, code=2, told="column `id` holds text")
    failure(
        "x",
        "--points",
        str(good),
        "--output",
        str(good),
        "--force",
        code=5,
        told="cannot be the output too",
    )
    parquet.write_table(pa.table({"x": ["1"]}), tmp_path / "other.parquet")
    failure(
        "x",
        "--points",
        str(good),
        "--points",
        str(tmp_path / "other.parquet"),
        *to,
        code=2,
        told="column `x` is double in",
    )
    failure("q", "--points", str(good), *to, code=2, told="`q` has no value")
    failure(
        "temp", "--points", str(good), "--columns", "temp=yy", *to, code=2, told="did you mean `y`?"
    )
    failure("x", "--points", str(good), "--keep", "idd", *to, code=2, told="did you mean `id`?")
    failure(
        "x",
        "--points",
        str(good),
        "--output",
        str(out),
        "--format",
        "csv",
        code=2,
        told="ask for two things",
    )
    failure(
        "x",
        "--points",
        str(good),
        "--output",
        str(tmp_path / "no" / "out.csv"),
        code=5,
        told="cannot be written",
    )
    packed = tmp_path / "cut.csv.gz"
    packed.write_bytes(gzip.compress(as_text(",").encode() * 100)[:-30])
    failure("x", "--points", str(packed), *to, code=5, told="cannot be unpacked")
    failure(
        "x",
        "--points",
        "-",
        "--input-format",
        "parquet",
        *to,
        code=5,
        told="cannot be read as parquet",
        stdin=b"x\n1\n",
    )
    failure("x", "--points", str(good), "--exact", *to, code=2, told="holds only doubles")
    failure("x", "--points", str(good), "--keep", "value", *to, code=2, told="no column `value`")
    parquet.write_table(
        pa.table({"x": [1.0], "value": [2.0], "flag": [True]}), tmp_path / "third.parquet"
    )
    failure(
        "x",
        "--points",
        str(tmp_path / "third.parquet"),
        "--keep-all",
        *to,
        code=2,
        told="a column `value` in the answers",
    )
    failure(
        "flag", "--points", str(tmp_path / "third.parquet"), *to, code=2, told="holds truth values"
    )
    twice = pa.Table.from_arrays([pa.array([1.0])] * 2, names=["x", "x"])
    parquet.write_table(twice, tmp_path / "twice.parquet")
    with ipc.new_file(tmp_path / "twice.arrow", twice.schema) as file:
        file.write_table(twice)
    for kind in ("parquet", "arrow"):
        failure(
            "x",
            "--points",
            str(tmp_path / f"twice.{kind}"),
            *to,
            code=2,
            told="the data has two columns `x`",
        )
    failure(
        "x", "--backend", "numpy", "--points", str(good), code=2, told="`--backend` needs `--wide`"
    )
    assert not out.exists() and not list(tmp_path.glob(".*"))


def test_the_first_error_can_be_the_end(tmp_path: Path) -> None:
    path, out = written(tmp_path, "parquet"), tmp_path / "out.csv"
    asked = ["grad", FORMULA, "--points", str(path), "--wide", "--on-error", "fail"]
    result = autodiff(*asked, "--output", str(out))
    assert result.code == 4 and not out.exists()
    assert "row 2: error: `log` is undefined at -3" in result.err
    shown = autodiff(*asked)
    assert shown.code == 4 and len(shown.out.splitlines()) == 3


def test_an_interruption_leaves_no_half_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = written(tmp_path, "parquet"), tmp_path / "out.csv"

    class Subject(pipeline.Interruption):
        def __enter__(self) -> pipeline.Interruption:
            super().__enter__()
            self.asked, self.code = True, 130
            return self

    monkeypatch.setattr(pipeline, "Interruption", Subject)
    result = autodiff("grad", FORMULA, "--points", str(path), "--wide", "--output", str(out))
    assert result.code == 130
    assert "interrupted after 0 rows; " in result.err and "is not written" in result.err
    assert [each.name for each in tmp_path.iterdir()] == ["data.parquet"]


@pytest.mark.parametrize(
    "kind", ["int64", "uint8", "float32", "float16", "decimal128(9, 2)", "dictionary"]
)
def test_columns_of_numbers_are_converted(kind: str, tmp_path: Path) -> None:
    types = {
        "int64": pa.int64(),
        "uint8": pa.uint8(),
        "float32": pa.float32(),
        "float16": pa.float16(),
    }
    column = pa.array([1.0, 2.0, None])
    if kind == "dictionary":
        column = column.dictionary_encode()
    else:
        column = column.cast(types.get(kind, pa.decimal128(9, 2)))
    (
        parquet.write_table(pa.table({"x": column}), tmp_path / "data.parquet")
        if kind != "float16"
        else None
    )
    with ipc.new_file(tmp_path / "data.arrow", pa.schema([("x", column.type)])) as file:
        file.write_table(pa.table({"x": column}))
    rows = autodiff(
        "grad", "x**2", "--points", str(tmp_path / "data.arrow"), "--wide", "--format", "jsonl"
    ).out
    assert [json.loads(row)["value"] for row in rows.splitlines()] == [1.0, 4.0, None]


def test_decimals_are_the_doubles_nearest_to_them() -> None:
    rng = random.Random(3)
    numbers = [Decimal(rng.randrange(10 ** rng.randrange(5, 38))).scaleb(-20) for _ in range(2_000)]
    for kind in (pa.decimal128(38, 20), pa.decimal256(60, 20)):
        column = pa.array([*numbers, None], kind)
        assert numbers_of(column)[:-1].tolist() == [float(x) for x in numbers]
        assert math.isnan(numbers_of(column)[-1])


def test_a_large_group_of_rows_is_not_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "BUFFER_BYTES", 65_536)
    monkeypatch.setattr(readers, "MAX_BATCH_ROWS", 1_000)
    rng = random.Random(1)
    column = pa.array([rng.random() for _ in range(300_000)])
    path = tmp_path / "data.parquet"
    parquet.write_table(pa.table({"x": column}), path, use_dictionary=False, row_group_size=300_000)
    size = column.nbytes
    del column
    before, most, rows = pa.total_allocated_bytes(), 0, 0
    made = readers.reader(Source(str(path), "parquet", None))
    for chunk in made.chunks():
        most, rows = max(most, pa.total_allocated_bytes() - before), rows + chunk.batch.num_rows
    made.close()
    assert rows == 300_000 and most < size / 2


def test_a_table_for_people_is_wide() -> None:
    found = autodiff(
        "grad", "x*y", "--points", "-", "--format", "table", stdin="x,y\n1,2\n3,oops\n"
    )
    assert found.out.count("╭") == 1 and "│ line │ x │ y │ value │ d_x │ d_y │ error" in found.out
    named = autodiff(
        "grad", "a = 2*x; a", "--points", "-", "--all", "--format", "table", stdin="x\n1\n"
    )
    assert named.code == 0 and "│ line │ x │ value │ d_x │ a │ d_a │" in named.out
    failure(
        "x", "--points", "-", "--sort", "--format", "table",
        code=2, told="`--sort` does not apply to wide rows", stdin=b"x\n1\n",
    )  # fmt: skip


def test_what_is_not_needed_is_not_loaded(tmp_path: Path) -> None:
    """pyarrow would import pandas to look for its kinds, which costs more than all else
    together.
    """
    path = written(tmp_path, "parquet")
    program = (
        "import sys; from autodiff_cli.__main__ import run;run(['grad', 'x*y', '--points',"
        f" {str(path)!r}, '--output', {str(tmp_path / 'out.parquet')!r}]);print(*[name for name in"
        " ('pandas', 'rich', 'typer') if name in sys.modules], 'pyarrow' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"


def test_many_columns_are_listed_at_once() -> None:
    columns = [f"x{i}" for i in range(1, 40_000)] + [f"{i}" for i in range(40_000)]
    begun = time.process_time()
    assert list_columns(columns).startswith("`x1`, `x2`")
    assert time.process_time() - begun < 10
