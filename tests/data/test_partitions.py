"""Tests of answers in parts: divided as asked, each row once, taken up where a run was ended, here and elsewhere."""

from __future__ import annotations

import csv
import io
import json
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as parquet
import pytest

from autodiff_cli.data import batches
from autodiff_cli.data import partitions as parts
from autodiff_cli.streams import filesystems
from object_store import Store, object_store
from running import Result, autodiff

FORMULA = "x*log(y) + sqrt(x)"
ROWS = 60


@pytest.fixture(autouse=True)
def _bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--part-size` counts bytes, and nobody waits for the disk."""
    monkeypatch.setattr(parts, "UNIT", 1)
    monkeypatch.setattr(os, "fsync", lambda file: None)


def table(rows: int = ROWS) -> pa.Table:
    return pa.table({"id": list(range(rows)), "x": [k / 7 - 1 for k in range(rows)], "y": [3.5] * rows})


def written(folder: Path, kind: str, rows: int = ROWS, name: str = "data") -> Path:
    path = folder / f"{name}.{kind}"
    data = table(rows)
    if kind == "parquet":
        parquet.write_table(data, path, row_group_size=7)
    elif kind in ("arrow", "arrows"):
        with (ipc.new_file if kind == "arrow" else ipc.new_stream)(path, data.schema) as file:
            file.write_table(data, max_chunksize=7)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in data.to_pylist()), encoding="utf-8")
    else:
        cells = [data.column_names, *(map(str, row.values()) for row in data.to_pylist())]
        path.write_text("".join(("\t" if kind == "tsv" else ",").join(row) + "\n" for row in cells), encoding="utf-8")
    return path


def manifest(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "_manifest.json").read_text(encoding="utf-8"))
    return found


def parts_of(folder: Path) -> list[Path]:
    """The parts that the manifest names, which are all that there is."""
    names = [str(part["name"]) for part in manifest(folder)["parts"]]  # type: ignore[attr-defined]
    assert sorted([*names, "_manifest.json"]) == sorted(each.name for each in folder.iterdir())
    return [folder / name for name in names]


def rows_of(files: Sequence[Path]) -> list[dict[str, object]]:
    """The rows of all parts, one after the other."""
    found: list[dict[str, object]] = []
    for path in files:
        if path.suffix == ".parquet":
            found += parquet.read_table(path).to_pylist()
        elif path.suffix == ".arrow":
            with ipc.open_file(path) as file:
                found += file.read_all().to_pylist()
        elif path.suffix == ".jsonl":
            found += [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        else:
            rows = csv.DictReader(
                io.StringIO(path.read_text(encoding="utf-8")), delimiter="\t" if path.suffix == ".tsv" else ","
            )
            found += [{name: cell or None for name, cell in row.items()} for row in rows]
    return found


def ask(path: str | Path, out: str | Path, *more: str, formula: str = FORMULA) -> Result:
    return autodiff("grad", formula, "--points", str(path), "--keep", "id", "--output", f"{out}/", *more)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "arrows", "csv", "tsv", "jsonl"])
def test_parts_hold_the_rows_of_the_whole(kind: str, tmp_path: Path) -> None:
    path, out = written(tmp_path, kind), tmp_path / "out"
    whole = tmp_path / "whole.parquet"
    one = autodiff("grad", FORMULA, "--points", str(path), "--keep", "id", "--output", str(whole))
    result = ask(path, out, "--part-size", "300")
    assert (result.code, result.out, result.err) == (4, "", one.err) and "no answer" in one.err
    found = rows_of(parts_of(out))
    expected = parquet.read_table(whole).to_pylist()
    assert [row["id"] for row in found] == [row["id"] for row in expected]
    assert [row["value"] for row in found] == [row["value"] for row in expected]
    # what is cut says where its rows are as the whole does, whose number they have by lines or rows
    assert [row["error"] for row in found] == [row["error"] for row in expected]
    texts = kind in ("csv", "tsv", "jsonl")
    told = manifest(out)
    assert len(told["parts"]) == (1 if kind == "arrows" else pytest.approx(10, abs=5))  # type: ignore[arg-type]
    assert told["rows"] == ROWS == sum(part["rows"] for part in told["parts"])  # type: ignore[attr-defined]
    assert told["without_answer"] == 8 and told["formula"] == FORMULA and told["version"]
    assert sum(told["errors"].values()) == 8  # type: ignore[attr-defined]
    if not texts:
        assert pa.concat_tables(map(parquet.read_table, parts_of(out))).equals(parquet.read_table(whole))


@pytest.mark.parametrize("format", parts.FORMATS)
def test_every_format_has_parts(format: str, tmp_path: Path) -> None:
    path, out = written(tmp_path, "parquet"), tmp_path / "out"
    assert ask(path, out, "--part-size", "500", "--format", format).code == 4
    assert all(each.suffix == f".{format}" for each in parts_of(out))
    assert [int(str(row["id"])) for row in rows_of(parts_of(out))] == list(range(ROWS))


def test_small_files_share_a_part(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for k in range(9):
        written(tmp_path / "in", "csv", 3, f"data-{k}")
    out = tmp_path / "out"
    assert ask(tmp_path / "in", out, "--part-size", "150").code == 4
    assert len(parts_of(out)) == 5
    assert [int(str(row["id"])) for row in rows_of(parts_of(out))] == [0, 1, 2] * 9
    told = [row["error"] for row in rows_of(parts_of(out))]
    assert str(told[0]).startswith(f"{tmp_path}/in/data-0.csv, line 2: domain")


def quoted(rng: random.Random) -> str:
    """A file with everything in it that quotes and lines can be."""
    cells = ["1", "2.5", "-3e-2", "pi/4", "", "oops", '"5"', "0", "-1"]
    notes = ["a", '"b, c"', '"two\nlines"', '"a\n,1,2\nb\n\n"', 'in"side', '"""', "", "é", '"open', '"a""b"', '"\n"""']
    rows = []
    for _ in range(rng.randrange(5, 60)):
        x, y = (rng.choice(cells) for _ in range(2))
        note = rng.choice(notes if rng.random() < 0.5 else notes[:4])
        rows.append(f"{note},{x},{y}" + rng.choice(["\n"] * 9 + ["\r\n"]))
    text = "id,x,y\n" + "".join(rows)
    return text if rng.random() < 0.8 else text.rstrip("\n")


@pytest.mark.parametrize("quotes", [20, 1_000_000])
def test_wherever_a_file_is_cut_its_rows_are_whole(
    quotes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """A cut may fall into a quoted cell with lines in it, which only what comes before it shows."""
    monkeypatch.setattr(batches, "QUOTED", quotes)
    begun = again = 0
    made = parts.make

    def counted(job: parts.Job, part: parts.Part) -> parts.Made:
        nonlocal begun
        begun += 1
        return made(job, part)

    monkeypatch.setattr(parts, "make", counted)
    for seed in range(15):
        rng = random.Random(seed)
        path, out = tmp_path / f"data-{seed}.csv", tmp_path / f"out-{seed}"
        path.write_text(quoted(rng), encoding="utf-8", newline="")
        monkeypatch.setattr(batches, "BLOCK", rng.choice([30, 100, 10_000]))
        plain = autodiff(
            "grad", FORMULA, "--points", str(path), "--wide", "--keep", "id", "--format", "jsonl", "--backend", "python"
        )
        expected = [json.loads(line) for line in plain.out.splitlines()]
        before = begun
        ask(path, out, "--part-size", str(rng.choice([20, 70, 300])), "--format", "jsonl")
        found = rows_of(parts_of(out))
        again += begun - before - len(parts_of(out))
        assert [row["id"] for row in found] == [row["id"] for row in expected], seed
        assert [row["value"] is None for row in found] == [row["value"] is None for row in expected], seed
        assert [row["error"] or None for row in found] == [row["error"] for row in expected], seed
    assert begun > 100 and again > 10


def test_lines_before_a_part_are_counted_when_an_error_is_told_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[tuple[int, int]] = []
    count = batches._line_ends

    def noted(path: str, start: int, stop: int) -> int:
        counted.append((start, stop))
        return count(path, start, stop)

    monkeypatch.setattr(batches, "_line_ends", noted)
    path = tmp_path / "data.csv"
    lines = ["id,x,y\n", *(f"{k},{k},3.5\n" for k in range(1, 60))]
    path.write_text("".join(lines), encoding="utf-8")
    assert ask(path, tmp_path / "good", "--part-size", "50").code == 0
    assert len(parts_of(tmp_path / "good")) > 5 and not counted
    lines[-1] = lines[-1].replace("3.5", "oops")
    path.write_text("".join(lines), encoding="utf-8")
    assert ask(path, tmp_path / "bad", "--part-size", "50").code == 2
    assert str(rows_of(parts_of(tmp_path / "bad"))[-1]["error"]).startswith("line 60: point: column `y`")
    # the parts before it have been read by this process
    assert counted == [(0, len(lines[0]))]
    # another process may make any of the parts
    size = path.stat().st_size
    known, entry = batches.Lines(), filesystems.entries([str(path)])[0]
    begin = len("".join(lines[:30]))
    known.note(entry, begin, len("".join(lines[:40])), 10)
    counted.clear()
    assert known.before(entry, size) == 60
    assert counted == [(0, begin), (len("".join(lines[:40])), size)]
    assert known.before(entry, size) == 60 and len(counted) == 2
    assert known.before(entry, begin) == 30 and len(counted) == 3
    written(tmp_path, "csv")
    assert known.before(filesystems.entries([str(path)])[0], path.stat().st_size) == ROWS + 1


# ---- taking up ----------------------------------------------------------------------------------------------------
def ended_after(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a run be interrupted when so many parts are made."""

    class Asked(parts.Interruption):
        def __enter__(self) -> parts.Interruption:
            monkeypatch.setattr(parts, "make", self.make)
            self.left = count
            return super().__enter__()

        def make(self, job: parts.Job, part: parts.Part) -> parts.Made:
            self.left -= 1
            self.asked, self.code = self.left == 0, 130
            return make(job, part)

    make = parts.make
    monkeypatch.setattr(parts, "Interruption", Asked)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_run_is_taken_up(kind: str, tmp_path: Path) -> None:
    path, out = written(tmp_path, kind), tmp_path / "out"
    asked = ("--part-size", "100")
    with pytest.MonkeyPatch.context() as patch:
        ended_after(3, patch)
        result = ask(path, out, *asked)
    assert result.code == 130 and "3 of " in result.err and "`--resume` makes the others" in result.err
    assert not (out / "_manifest.json").exists()
    made = {each: each.stat().st_ino for each in out.glob("part-*")}
    assert len(made) == 3
    # what a killed process would leave, and a part that was lost
    (out / ".part-00007-12345678.parquet.abc.part").write_text("half")
    lost = min(made)
    lost.unlink()
    refused = ask(path, out, *asked)
    assert refused.code == 5 and "holds an unfinished run, and is kept" in refused.err
    other = ask(path, out, *asked, "--resume", formula="x*y")
    assert other.code == 2 and f"its formula was `{FORMULA}`, and is `x*y`" in other.err
    assert 'its `--wrt` was `null`, and is `["x"]`' in ask(path, out, *asked, "--wrt", "x", "--resume").err
    assert "its `--part-size` was `100`" in ask(path, out, "--part-size", "99", "--resume").err
    assert set(out.glob("part-*")) == set(made) - {lost}
    result = ask(path, out, *asked, "--resume")
    assert result.code == 4 and result.err.startswith("note: 2 of ")
    assert {each: each.stat().st_ino for each in made if each != lost} == {k: v for k, v in made.items() if k != lost}
    assert [int(str(row["id"])) for row in rows_of(parts_of(out))] == list(range(ROWS))
    # once more: all is there
    before = (out / "_manifest.json").read_text(encoding="utf-8")
    assert ask(path, out, *asked, "--resume").code == 4
    assert (out / "_manifest.json").read_text(encoding="utf-8") == before
    written(tmp_path, kind, ROWS + 1)
    changed = ask(path, out, *asked, "--resume")
    assert changed.code == 2 and f"cannot be taken up: `{path}` has changed" in changed.err


def test_a_part_is_there_once_however_often_it_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = parts.make

    def twice(job: parts.Job, part: parts.Part) -> parts.Made:
        first = make(job, part)
        content = Path(job.folder + first.name).read_bytes()
        assert make(job, part) == first and Path(job.folder + first.name).read_bytes() == content
        return first

    monkeypatch.setattr(parts, "make", twice)
    assert ask(written(tmp_path, "parquet"), tmp_path / "out", "--part-size", "100").code == 4
    assert [row["id"] for row in rows_of(parts_of(tmp_path / "out"))] == list(range(ROWS))


# ---- what cannot be -----------------------------------------------------------------------------------------------
def test_what_cannot_be_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    path, out = written(tmp_path, "parquet"), tmp_path / "out"

    def failure(told: str, *args: str, code: int, given: str | Path = path, to: str | Path = out) -> None:
        before = {each: each.stat().st_mtime_ns for each in tmp_path.rglob("*") if each.is_file()}
        result = autodiff("grad", FORMULA, "--points", str(given), "--output", str(to), *args)
        assert (result.code, told in result.err) == (code, True), result.err
        assert before == {each: each.stat().st_mtime_ns for each in tmp_path.rglob("*") if each.is_file()}

    failure("lies in", given=path, to=f"{tmp_path}/", code=5)
    (tmp_path / "empty").mkdir()
    failure("holds no file of data", given=tmp_path / "empty", to=f"{out}/", code=5)
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(path.read_bytes()[:-20])
    failure("cannot be read as parquet", given=cut, to=f"{out}/", code=5)
    other = tmp_path / "two"
    other.mkdir()
    written(other, "parquet")
    parquet.write_table(pa.table({"x": ["1"], "y": [1.0]}), other / "other.parquet")
    failure("column `x` is", given=other, to=f"{out}/", code=2)
    failure("about parts, which are files in a folder", "--engine", "dask", to=tmp_path / "out.parquet", code=2)
    failure("`--workers` needs `--engine`", "--workers", "2", to=f"{out}/", code=2)
    failure("exclude each other", "--engine", "dask", "--scheduler", "tcp://x:1", "--workers", "2", to=out, code=2)
    failure("`--engine` cannot be `spark`", "--engine", "spark", to=out, code=2)
    failure("holds no run to take up", "--resume", to=f"{out}/", code=2)
    failure("is not one of this command's formats", "--format", "table", to=f"{out}/", code=2)
    failure("`--all` is not for wide rows", "--all", to=f"{out}/", code=2)
    failure("holds doubles", "--exact", to=f"{out}/", code=2)
    failure("standard input cannot be read in parts", given="-", to=f"{out}/", code=2)
    failure("`x` has no value", "--columns", "q=x", "--wrt", "q", given=path, to=f"{out}/", code=2)
    failure("there is no file system `nope://`", given="nope://a/b.csv", to=f"{out}/", code=2)
    failure("is on another machine", given="file://far/b.csv", to=f"{out}/", code=2)
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    failure("holds other files, such as `mine.txt`", "--force", to=f"{out}/", code=5)
    (out / "mine.txt").unlink()
    assert ask(path, out).code == 4
    failure("holds the answers of another run, and is kept", to=f"{out}/", code=5)
    again = autodiff("grad", "x", "--points", str(path), "--output", f"{out}/", "--force", "--part-size", "200")
    assert again.code == 0 and len(parts_of(out)) > 1


def test_the_first_error_can_be_the_end(tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = ask(written(tmp_path, "parquet"), out, "--part-size", "100", "--on-error", "fail")
    assert result.code == 4 and result.err.startswith("error: row 1: ")
    assert "`--resume` makes the others" in result.err and not list(out.glob("*part-*"))
    assert ask(tmp_path / "data.parquet", out, "--part-size", "100", "--resume").code == 4
    assert len(rows_of(parts_of(out))) == ROWS


def test_a_part_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    begun = parts.begun

    def full(path: str, *, force: bool) -> object:
        file = begun(path, force=force)
        if "part-00002" in path:

            def finish() -> None:
                raise OSError(28, "No space left on device")

            file.finish = finish  # type: ignore[method-assign]
        return file

    with monkeypatch.context() as patched:
        patched.setattr(parts, "begun", full)
        result = ask(written(tmp_path, "parquet"), out, "--part-size", "100")
    assert result.code == 5 and "part-00002-" in result.err and "No space left on device" in result.err
    assert ".part" not in " ".join(each.name for each in out.iterdir())
    assert ask(tmp_path / "data.parquet", out, "--part-size", "100", "--resume").code == 4
    assert [row["id"] for row in rows_of(parts_of(out))] == list(range(ROWS))


# ---- elsewhere ----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with object_store() as found:
        filesystems._system.cache_clear()
        yield found
        filesystems._system.cache_clear()


def test_files_elsewhere_are_read_and_written(store: Store, tmp_path: Path) -> None:
    store.objects.clear()
    for kind in ("parquet", "arrow", "csv"):
        store.objects[f"bucket/in/data.{kind}"] = written(tmp_path, kind).read_bytes()
    store.objects["bucket/deep/a/1.csv"] = store.objects["bucket/deep/b/2.csv"] = b"x,y\n1,2\n"

    def asked(path: str, *more: str) -> Result:
        return autodiff("grad", FORMULA, "--points", path, "--wide", "--keep-all", *more, env=store.settings)

    here = autodiff("grad", FORMULA, "--points", str(tmp_path / "data.parquet"), "--wide", "--keep-all").out
    for kind in ("parquet", "arrow"):
        assert asked(f"s3://bucket/in/*.{kind}").out == here
    assert len(asked("s3://bucket/in/data.csv").out.splitlines()) == ROWS + 1
    assert (
        len(asked("s3://bucket/deep/**/*.csv").out.splitlines())
        == len(asked("s3://bucket/deep/?/*").out.splitlines())
        == 3
    )
    assert asked("s3://bucket/in/data.parquet", "--output", "s3://bucket/one.parquet").code == 4
    assert parquet.read_table(pa.BufferReader(store.objects["bucket/one.parquet"])).num_rows == ROWS
    kept = asked("s3://bucket/in/data.parquet", "--output", "s3://bucket/one.parquet")
    assert kept.code == 5 and "exists, and is kept" in kept.err
    same = asked("s3://bucket/in/data.parquet", "--output", "s3://bucket/in/data.parquet", "--force")
    assert same.code == 5 and "cannot be written at the same time" in same.err
    missing = asked("s3://bucket/in/none.parquet")
    assert missing.code == 5 and "`s3://bucket/in/none.parquet` cannot be read: No such file" in missing.err
    assert "no file is called like" in asked("s3://bucket/none/*.parquet").err
    url = tmp_path.as_uri() + "/data.parquet"
    assert autodiff("grad", FORMULA, "--points", url, "--wide", "--keep-all").out == here


def test_parts_elsewhere(store: Store, tmp_path: Path) -> None:
    store.objects.clear()
    store.objects["bucket/in/data.parquet"] = written(tmp_path, "parquet").read_bytes()
    store.objects["bucket/text.csv"] = written(tmp_path, "csv").read_bytes()
    text = autodiff(
        "grad", FORMULA, "--points", "s3://bucket/text.csv", "--output", f"{tmp_path}/text/", "--format", "jsonl",
        "--part-size", "50", env=store.settings,
    )  # fmt: skip
    assert text.code == 4
    told = [str(row["error"]).split(":")[0] for row in rows_of(parts_of(tmp_path / "text")) if row["error"]]
    assert told == [f"line {k}" for k in range(2, 10)]

    def asked(*more: str) -> Result:
        return autodiff(
            "grad", FORMULA, "--points", "s3://bucket/in/*.parquet", "--keep", "id", "--output", "s3://bucket/out/",
            "--part-size", "100", *more, env=store.settings,
        )  # fmt: skip

    store.refused = "out/part-00004"
    result = asked()
    assert result.code == 5 and "cannot be written: AWS Error ACCESS_DENIED" in result.err
    assert "8 of 9 parts are in `s3://bucket/out/`" in result.err
    store.refused = None
    assert "unfinished" in asked().err
    result = asked("--resume")
    assert result.code == 4 and result.err.startswith("note: 8 of 9 parts are there")
    names = sorted(name for name, data in store.objects.items() if "/out/" in name and data)
    told = json.loads(store.objects["bucket/out/_manifest.json"])
    assert names == ["bucket/out/_manifest.json", *(f"bucket/out/{part['name']}" for part in told["parts"])]
    ids = [
        row for name in names[1:] for row in parquet.read_table(pa.BufferReader(store.objects[name]))["id"].to_pylist()
    ]
    assert ids == list(range(ROWS)) and not store.uploads


def test_large_parts_go_in_pieces_and_are_seen_whole(store: Store, tmp_path: Path) -> None:
    store.objects.clear()
    out = pa.table({"id": [0, 1], "x": [1.0, 2.0], "note": ["a" * 12_000_000, "b" * 12_000_000]})
    parquet.write_table(out, tmp_path / "data.parquet", compression="none", use_dictionary=False)
    result = autodiff(
        "grad", "x**2", "--points", str(tmp_path / "data.parquet"), "--keep-all", "--output", "s3://bucket/out/",
        "--format", "csv", env=store.settings,
    )  # fmt: skip
    assert result.code == 0, result.err
    (name,) = [name for name in store.objects if "part-" in name]
    assert len(store.objects[name]) > 24_000_000 and store.objects[name].endswith(b"bbb\n")
