"""Tests of rows on Dask: each row once, on processes of this machine, of which some end in the
middle.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as parquet
import pytest

from autodiff_cli.data import cluster
from autodiff_cli.streams import filesystems
from object_store import Store, object_store
from running import Result, autodiff

distributed: Any = pytest.importorskip("distributed")

ANSWER_SECONDS = 60
"""Seconds after which something will not happen any more, on however busy a machine."""

GROUPS, ROWS = 12, 1_000
FORMULA = "x*exp(-y) + sqrt(x - 1)"
"""The first two rows have no answer."""

COUNTS = {
    "rows": GROUPS * ROWS, "without_answer": 2,
    "errors": {
        "domain: `sqrt` is undefined at …": 1,
        "derivative: `sqrt` is defined at … but its derivative is infinite there": 1,
    },
    "rows_without_answer": {
        "derivative: `sqrt` is defined at … but its derivative is infinite there": ["row 2"],
        "domain: `sqrt` is undefined at …": ["row 1"],
    },
    "at_kinks": 0, "conventions": {},
}  # fmt: skip

HOLDING = """\
import os, time
from autodiff_cli.data import cluster

def dask_setup(worker):
    write = cluster._write

    def held(part, job):
        hold = job.folder.rstrip("/") + ".hold"
        if part.number >= {free} and os.path.exists(hold):
            open(f"{{hold}}-{{part.number}}", "a").close()
            while os.path.exists(hold):
                time.sleep(0.01)
        return write(part, job)

    cluster._write = held
"""
"""What workers load, so that a run stands still in the middle, however fast or busy the machine
is.
"""

FREE = 3
"""So many parts are written while a run is held."""


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "PART_BYTES", 1_000_000)


@pytest.fixture(scope="module")
def preload(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file with what workers load."""
    path = tmp_path_factory.mktemp("preload") / "holding.py"
    path.write_text(HOLDING.format(free=FREE), encoding="utf-8")
    return str(path)


@contextmanager
def held(out: Path) -> Iterator[None]:
    """Keep the runs into a folder from making more than the first parts."""
    hold = out.with_name(out.name + ".hold")
    hold.touch()
    try:
        yield
    finally:
        hold.unlink()


@pytest.fixture(scope="module")
def scheduler(preload: str) -> Iterator[str]:
    """The address of a scheduler with two workers, which come back when they end."""
    import logging

    import dask

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with (
        dask.config.set(
            {
                "distributed.scheduler.allowed-failures": 1, "logging.distributed": "critical",
                "distributed.worker.preload": [preload],
            }
        ),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="450MB", dashboard_address="127.0.0.1:0", host="127.0.0.1",
            silence_logs=logging.CRITICAL,
        ) as found,
    ):  # fmt: skip
        yield found.scheduler_address


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file whose groups of rows are a part each, by texts that are carried along."""
    path = tmp_path_factory.mktemp("data") / "data.parquet"
    count = GROUPS * ROWS
    table = pa.table(
        {"id": range(count), "x": [float(k) for k in range(count)], "note": ["n" * 1_000] * count}
    )
    parquet.write_table(table, path, row_group_size=ROWS, use_dictionary=False)
    return path


def arguments(data: Path, out: Path, *more: str) -> list[str]:
    return [
        "grad", FORMULA, "--points", str(data), "--at", "y=1", "--keep", "id,note", "--backend",
        "python", "--output", f"{out}/", "--engine", "dask", *more,
    ]  # fmt: skip


SMALL_PARTS = """
import sys
from autodiff_cli.__main__ import main
from autodiff_cli.data import cluster

cluster.PART_BYTES = 1_000_000
sys.exit(main())
"""


def begun(arguments: list[str], **env: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SMALL_PARTS, *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | env
    )  # fmt: skip


def until(done: Callable[[], bool], what: str) -> None:
    limit = time.monotonic() + ANSWER_SECONDS
    while not done():
        assert time.monotonic() < limit, what
        time.sleep(0.01)


def in_the_middle(out: Path) -> None:
    """Wait until the first parts are made, and two workers are held at others."""
    until(lambda: len(list(out.glob("part-*"))) >= FREE, "no part is written")
    until(lambda: len(list(out.parent.glob(f"{out.name}.hold-*"))) == 2, "there are no two workers")


def check(out: Path, result: Result, rows: int = GROUPS * ROWS) -> None:
    """Each row is there once, in order, and nothing else; the counts are those of the rows."""
    assert result.code in (0, 4), result.err
    told = json.loads(result.out)
    tables = [parquet.read_table(path, columns=["id", "error"]) for path in sorted(out.iterdir())]
    assert pa.concat_tables(tables)["id"].to_pylist() == list(range(rows)) and told["rows"] == rows
    lost = sum(table.num_rows - table["error"].null_count for table in tables)
    assert sum(told["errors"].values()) == told["without_answer"] == lost


def test_a_cluster_writes_the_parts(scheduler: str, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = autodiff(*arguments(data, out, "--scheduler", scheduler))
    assert (
        result.err == f"{GROUPS * ROWS:,} rows, and 2 of them have no answer:\n"
        "  1  domain: `sqrt` is undefined at …: row 1\n"
        "  1  derivative: `sqrt` is defined at … but its derivative is infinite there: row 2\n"
    )
    assert json.loads(result.out) == COUNTS
    check(out, result)
    assert [each.name for each in sorted(out.iterdir())] == [
        f"part-{k:06d}.parquet" for k in range(GROUPS)
    ]


def test_rows_at_kinks_are_counted(scheduler: str, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x,y\n0,1\n1,1\n0,2\n0,0\n", encoding="utf-8")
    result = autodiff(
        "grad", "abs(x)*y", "--points", str(path), "--output", f"{tmp_path}/out/", "--engine",
        "dask", "--scheduler", scheduler,
    )  # fmt: skip
    # where y is 0 too, the derivative is 0
    told = json.loads(result.out)
    assert told["at_kinks"] == 2 and told["conventions"] == {
        "`abs` has no derivative at … (convention: 0 at 0)": 2
    }
    assert "4 rows, and 2 of them are at a kink" in result.err


@pytest.mark.posix
def test_a_worker_that_is_killed_is_made_up_for(scheduler: str, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with distributed.Client(scheduler, set_as_default=False) as client:
        workers = client.run(os.getpid)
        with held(out):
            process = begun(arguments(data, out, "--scheduler", scheduler))
            in_the_middle(out)
            os.kill(workers[min(workers)], signal.SIGKILL)
            until(
                lambda: min(workers) not in client.scheduler_info()["workers"],
                "nobody sees that it has ended",
            )
        written, said = process.communicate(timeout=ANSWER_SECONDS)
        assert process.returncode == 4 and "2 of them have no answer" in said, said
        check(out, Result(written, said, 4))
        # for the tests that come after this one
        client.wait_for_workers(2, timeout=ANSWER_SECONDS)


@pytest.mark.posix
def test_processes_of_this_machine_and_an_interruption(
    data: Path, preload: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with held(out):
        process = begun(
            arguments(data, out, "--workers", "2"), DASK_DISTRIBUTED__WORKER__PRELOAD=preload
        )
        in_the_middle(out)
        process.send_signal(signal.SIGINT)
        written, said = process.communicate(timeout=ANSWER_SECONDS)
    assert process.returncode == 130 and said.startswith("interrupted after ") and not written, said
    assert said.endswith(f"; `{out}/` is not written\n") and not list(out.iterdir())


MARK = "import os\nopen(os.environ['MARK'], 'w').close()\nraise SystemExit\n"


def test_workers_import_nothing_from_the_current_folder(data: Path, tmp_path: Path) -> None:
    """The command itself is begun as its script is, which has a folder of its own first on the
    path.
    """
    here, mark = tmp_path / "here", tmp_path / "mark"
    here.mkdir()
    for name in ("re", "random", "pyarrow", "selectors"):
        (here / f"{name}.py").write_text(MARK, encoding="utf-8")
    script = tmp_path / "autodiff"
    script.write_text(
        "import sys\nfrom autodiff_cli.__main__ import main\nsys.exit(main())\n", encoding="utf-8"
    )
    command = [sys.executable, str(script), *arguments(data, tmp_path / "out", "--workers", "1")]
    done = subprocess.run(
        command, cwd=here, capture_output=True, text=True, env=os.environ | {"MARK": str(mark)},
        timeout=ANSWER_SECONDS
    )  # fmt: skip
    assert done.returncode == 4, done.stderr
    assert not mark.exists()


def test_a_worker_that_ends_at_its_start_is_an_error(data: Path, tmp_path: Path) -> None:
    preload = tmp_path / "ending.py"
    preload.write_text("import os\nos._exit(9)\n", encoding="utf-8")
    process = begun(
        arguments(data, tmp_path / "out", "--workers", "1"),
        DASK_DISTRIBUTED__WORKER__PRELOAD=str(preload)
    )  # fmt: skip
    _, said = process.communicate(timeout=ANSWER_SECONDS)
    assert process.returncode == 5 and said.startswith("error: Dask's workers did not start: "), (
        said
    )


def test_workers_that_run_out_of_memory_are_said(
    scheduler: str, tmp_path: Path
) -> None:  # fmt: skip
    """A group of rows that is small in the file, and large in memory: texts that are all the
    same.
    """
    data, out = tmp_path / "in", tmp_path / "out"
    data.mkdir()
    texts = pa.DictionaryArray.from_arrays(
        pa.array([0] * 40, pa.int32()), pa.array(["n" * 16_000_000])
    )
    good = pa.table({"id": range(40, 80), "x": [2.0] * 40, "note": ["n"] * 40})
    schema = pa.schema([("id", pa.int64()), ("x", pa.float64()), ("note", pa.string())])
    with parquet.ParquetWriter(data / "a.parquet", schema, store_schema=False) as file:
        file.write_table(pa.table({"id": range(40), "x": [2.0] * 40, "note": texts}).cast(schema))
    parquet.write_table(good, data / "b.parquet", store_schema=False)
    result = autodiff(*arguments(data, out, "--scheduler", scheduler))
    assert (
        result.code == 4
        and "ended every worker that tried it, perhaps for want of memory" in result.err
    ), result.err
    assert "a.parquet" in result.err and not list(out.iterdir())


# ---- what cannot be -----------------------------------------------------------------------------------------------
def test_a_scheduler_that_is_not_there_is_said_soon(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    for address in ("tcp://127.0.0.1:9", "nowhere"):
        result = autodiff(*arguments(data, tmp_path / "out", "--scheduler", address))
        assert result.code == 5 and f"no scheduler answers at `{address}`" in result.err, result.err
    assert not (tmp_path / "out").exists()


def test_a_scheduler_that_says_nothing_is_said(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 4)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"tcp://127.0.0.1:{mute.getsockname()[1]}"
        result = autodiff(*arguments(data, tmp_path / "out", "--scheduler", address))
    assert result.code == 5 and f"no scheduler answers at `{address}`" in result.err, result.err
    assert not (tmp_path / "out").exists()


def test_a_scheduler_without_workers_is_said(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 4)
    told = tmp_path / "scheduler.json"
    command = [
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
    ]
    empty = subprocess.Popen(
        [sys.executable, "-m", *command, "--scheduler-file", str(told)], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while not (told.exists() and told.read_text()):
            assert empty.poll() is None
            time.sleep(0.05)
        address = json.loads(told.read_text())["address"]
        result = autodiff(*arguments(data, tmp_path / "out", "--scheduler", address))
    finally:
        empty.terminate()
        empty.wait()
    assert result.code == 5 and "has no workers" in result.err, result.err


def test_workers_of_another_version_are_said(
    scheduler: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(cluster, "version", lambda: "9.9")
    result = autodiff(*arguments(data, tmp_path / "out", "--scheduler", scheduler))
    assert result.code == 2 and "has autodiff" in result.err and "and this is 9.9" in result.err


def test_without_dask_the_extra_is_named(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dask", None)
    result = autodiff(*arguments(data, tmp_path / "out"))
    assert result.code == 2 and "pip install '.[cluster]'" in result.err


# ---- how rows are divided -----------------------------------------------------------------------------------------
DIVIDED = "x*log(y) + sqrt(x)"
COUNT = 60


def table(rows: int = COUNT) -> pa.Table:
    return pa.table(
        {"id": list(range(rows)), "x": [k / 7 - 1 for k in range(rows)], "y": [3.5] * rows}
    )


def written(folder: Path, kind: str, rows: int = COUNT, name: str = "data") -> Path:
    path = folder / f"{name}.{kind}"
    data = table(rows)
    if kind == "parquet":
        parquet.write_table(data, path, row_group_size=7)
    elif kind in ("arrow", "arrows"):
        with (ipc.new_file if kind == "arrow" else ipc.new_stream)(path, data.schema) as file:
            file.write_table(data, max_chunksize=7)
    elif kind == "jsonl":
        path.write_text(
            "".join(json.dumps(row) + "\n" for row in data.to_pylist()), encoding="utf-8"
        )
    else:
        cells = [data.column_names, *(map(str, row.values()) for row in data.to_pylist())]
        path.write_text(
            "".join(("\t" if kind == "tsv" else ",").join(row) + "\n" for row in cells),
            encoding="utf-8",
        )
    return path


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
                io.StringIO(path.read_text(encoding="utf-8")),
                delimiter="\t" if path.suffix == ".tsv" else ",",
            )
            found += [{name: cell or None for name, cell in row.items()} for row in rows]
    return found


def ask(
    scheduler: str, path: str | Path, out: str | Path, *more: str, env: dict[str, str] | None = None
) -> Result:
    return autodiff(
        "grad", DIVIDED, "--points", str(path), "--keep", "id", "--output", f"{out}/", "--engine",
        "dask", "--scheduler", scheduler, *more, env=env,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["parquet", "arrow", "arrows", "csv", "tsv", "jsonl"])
def test_parts_hold_the_rows_of_the_whole(
    kind: str, scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "PART_BYTES", 300)
    path, out = written(tmp_path, kind), tmp_path / "out"
    whole = tmp_path / "whole.parquet"
    one = autodiff("grad", DIVIDED, "--points", str(path), "--keep", "id", "--output", str(whole))
    result = ask(scheduler, path, out)
    assert (result.code, result.err) == (4, one.err) and "no answer" in one.err
    # where a row is they say as the whole does
    assert rows_of(sorted(out.iterdir())) == parquet.read_table(whole).to_pylist()
    assert len(list(out.iterdir())) == (
        pytest.approx(8, abs=4) if kind in ("parquet", "arrow") else 1
    )
    told = json.loads(result.out)
    assert told["rows"] == COUNT and sum(told["errors"].values()) == told["without_answer"] == 8


@pytest.mark.parametrize("format", cluster.FORMATS)
def test_every_format_has_parts(
    format: str, scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(cluster, "PART_BYTES", 500)
    path, out = written(tmp_path, "parquet"), tmp_path / "out"
    assert ask(scheduler, path, out, "--format", format).code == 4
    assert {each.suffix for each in out.iterdir()} == {f".{format}"}
    assert [int(str(row["id"])) for row in rows_of(sorted(out.iterdir()))] == list(range(COUNT))


def test_small_files_share_a_part(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "PART_BYTES", 150)
    (tmp_path / "in").mkdir()
    for k in range(9):
        written(tmp_path / "in", "csv", 3, f"data-{k}")
    out = tmp_path / "out"
    assert ask(scheduler, tmp_path / "in", out).code == 4
    found = rows_of(sorted(out.iterdir()))
    assert len(list(out.iterdir())) == 5 and [int(str(row["id"])) for row in found] == [0, 1, 2] * 9
    assert str(found[0]["error"]).startswith(f"{tmp_path}/in/data-0.csv, line 2: domain")


def test_what_cannot_be_is_said_and_nothing_is_lost(scheduler: str, tmp_path: Path) -> None:
    path, out = written(tmp_path, "parquet"), tmp_path / "out"

    def failure(
        told: str, *args: str, code: int, given: str | Path = path, to: str | Path = f"{out}/"
    ) -> None:
        before = {each: each.stat().st_mtime_ns for each in tmp_path.rglob("*") if each.is_file()}
        engine = () if args[:1] == ("-",) else ("--engine", "dask")
        where = () if {"--scheduler", "--workers", "-"} & {*args} else ("--scheduler", scheduler)
        result = autodiff(
            "grad",
            DIVIDED,
            "--points",
            str(given),
            "--output",
            str(to),
            *engine,
            *where,
            *args[not engine :],
        )
        assert (result.code, told in result.err) == (code, True), result.err
        assert before == {
            each: each.stat().st_mtime_ns for each in tmp_path.rglob("*") if each.is_file()
        }

    failure("is an input in the output folder", to=f"{tmp_path}/", code=5)
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(path.read_bytes()[:-20])
    failure("cannot be read as parquet", given=cut, code=5)
    other = tmp_path / "two"
    other.mkdir()
    written(other, "parquet")
    parquet.write_table(pa.table({"x": ["1"], "y": [1.0]}), other / "other.parquet")
    failure("column `x` is", given=other, code=2)
    measured = tmp_path / "measured"
    measured.mkdir()
    for name, unit in (("a", "m"), ("b", "mm")):
        (measured / f"{name}.csv").write_text(f"x,y\n{unit},s\n1,2\n", encoding="utf-8")
    failure("column `x` has the unit mm in", "--in", "none", given=measured, code=2)
    failure("is not one of this command's formats", to=tmp_path / "out.md", code=2)
    failure("is a folder", "-", code=2)
    failure("`--workers` needs `--engine`", "-", "--workers", "2", to=tmp_path / "a.csv", code=2)
    failure(
        "`--scheduler` and `--workers` exclude each other",
        "--scheduler",
        "tcp://x:1",
        "--workers",
        "2",
        code=2,
    )
    failure("is not one of this command's formats", "--format", "table", code=2)
    failure("`--engine` and `--all` exclude each other", "--all", code=2)
    failure("`--exact` and `--engine` exclude each other", "--exact", code=2)
    failure(
        "`--certified` and `--engine` exclude each other", "--certified", "--format", "csv", code=2
    )
    failure("standard input cannot be read in parts", given="-", code=2)
    failure("`x` has no value", "--columns", "q=x", "--wrt", "q", code=2)
    failure("there is no file system `nope://`", given="nope://a/b.csv", code=2)
    failure("is on another machine", given="file://far/b.csv", code=2)
    failure("error: row 1: ", "--on-error", "fail", code=4)
    assert not list(out.iterdir())
    (out / "mine.txt").write_text("mine")
    failure("holds other files, such as `mine.txt`", "--force", code=5)
    (out / "mine.txt").unlink()
    assert ask(scheduler, path, out).code == 4
    failure("holds other files, such as `part-000000.parquet`", code=5)
    assert ask(scheduler, path, out, "--force", "--format", "csv").code == 4
    assert [each.name for each in out.iterdir()] == ["part-000000.csv"]


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
        return autodiff(
            "grad", DIVIDED, "--points", path, "--wide", "--keep-all", *more, env=store.settings
        )

    here = autodiff(
        "grad", DIVIDED, "--points", str(tmp_path / "data.parquet"), "--wide", "--keep-all"
    ).out
    for kind in ("parquet", "arrow"):
        assert asked(f"s3://bucket/in/*.{kind}").out == here
    text = asked("s3://bucket/in/data.csv").out
    assert len(text.splitlines()) == COUNT + 1
    packed = {"gz": gzip.compress, "zst": lambda data: pa.compress(data, "zstd", asbytes=True)}
    for kind, pack in packed.items():
        store.objects[f"bucket/in/data.csv.{kind}"] = pack(store.objects["bucket/in/data.csv"])
        assert asked(f"s3://bucket/in/data.csv.{kind}").out == text
    assert (
        len(asked("s3://bucket/deep/**/*.csv").out.splitlines())
        == len(asked("s3://bucket/deep/?/*").out.splitlines())
        == 3
    )
    assert asked("s3://bucket/in/data.parquet", "--output", "s3://bucket/one.parquet").code == 4
    assert (
        parquet.read_table(pa.BufferReader(store.objects["bucket/one.parquet"])).num_rows == COUNT
    )
    kept = asked("s3://bucket/in/data.parquet", "--output", "s3://bucket/one.parquet")
    assert kept.code == 5 and "already exists" in kept.err
    same = asked(
        "s3://bucket/in/data.parquet", "--output", "s3://bucket/in/data.parquet", "--force"
    )
    assert same.code == 5 and "cannot be the output too" in same.err
    missing = asked("s3://bucket/in/none.parquet")
    assert (
        missing.code == 5
        and "`s3://bucket/in/none.parquet` cannot be read: No such file" in missing.err
    )
    assert "no file matches" in asked("s3://bucket/none/*.parquet").err
    url = tmp_path.as_uri() + "/data.parquet"
    assert autodiff("grad", DIVIDED, "--points", url, "--wide", "--keep-all").out == here


@pytest.fixture
def beside(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a scheduler whose worker is a thread of this process, and knows of the
    store.
    """
    for name, value in store.settings.items():
        monkeypatch.setenv(name, value)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as found:  # fmt: skip
        yield found.scheduler_address


def test_parts_elsewhere(
    beside: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "PART_BYTES", 300)
    store.objects.clear()
    store.objects["bucket/in/data.parquet"] = written(tmp_path, "parquet").read_bytes()

    def asked(*more: str) -> Result:
        return ask(beside, "s3://bucket/in/*.parquet", "s3://bucket/out", *more, env=store.settings)

    store.refused = "out/part-000004"
    result = asked()
    assert result.code == 5 and "cannot be written: AWS Error ACCESS_DENIED" in result.err
    assert not [name for name in store.objects if "part-" in name]
    store.refused = None
    assert asked().code == 4
    names = sorted(name for name, data in store.objects.items() if "/out/" in name and data)
    ids = [
        row
        for name in names
        for row in parquet.read_table(pa.BufferReader(store.objects[name]))["id"].to_pylist()
    ]
    assert len(names) > 5 and ids == list(range(COUNT)) and not store.uploads


def test_large_files_go_in_pieces_and_are_seen_whole(store: Store, tmp_path: Path) -> None:
    store.objects.clear()
    out = pa.table({"id": [0, 1], "x": [1.0, 2.0], "note": ["a" * 12_000_000, "b" * 12_000_000]})
    parquet.write_table(out, tmp_path / "data.parquet", compression="none", use_dictionary=False)
    result = autodiff(
        "grad", "x**2", "--points", str(tmp_path / "data.parquet"), "--keep-all", "--output",
        "s3://bucket/out.csv", "--wide", env=store.settings,
    )  # fmt: skip
    assert result.code == 0, result.err
    assert len(store.objects["bucket/out.csv"]) > 24_000_000 and store.objects[
        "bucket/out.csv"
    ].endswith(b"bbb\n")
