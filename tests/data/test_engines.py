"""Tests of parts made on a cluster: on processes of this machine, of which some end in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from autodiff_cli.data import batches, engines
from running import Result, autodiff

distributed: Any = pytest.importorskip("distributed")

PATIENCE = 300
"""Seconds after which something will not happen any more, on however busy a machine."""

GROUPS, ROWS = 12, 1_000
FORMULA = "x*exp(-y) + sqrt(x - 1)"
"""The first two rows have no answer."""


HOLDING = """\
import os, time
from autodiff_cli.data import engines

def dask_setup(worker):
    make = engines.make

    def held(job, part):
        hold = job.folder.rstrip("/") + ".hold"
        if part.number >= {free} and os.path.exists(hold):
            open(f"{{hold}}-{{part.number}}", "a").close()
            while os.path.exists(hold):
                time.sleep(0.01)
        return make(job, part)

    engines.make = held
"""
"""What workers load, so that a run stands still in the middle, however fast or busy the machine is."""

FREE = 3
"""So many parts are made while a run is held."""


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
def cluster(preload: str) -> Iterator[str]:
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
    table = pa.table({"id": range(count), "x": [float(k) for k in range(count)], "note": ["n" * 1_000] * count})
    parquet.write_table(table, path, row_group_size=ROWS, use_dictionary=False)
    return path


def arguments(data: Path, out: Path, *more: str) -> list[str]:
    return [
        "grad", FORMULA, "--points", str(data), "--at", "y=1", "--keep", "id,note", "--part-size", "1", "--backend",
        "python", "--output", f"{out}/", "--engine", "dask", *more,
    ]  # fmt: skip


def begun(arguments: list[str], **env: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "autodiff_cli", *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | env
    )  # fmt: skip


def until(done: Callable[[], bool], what: str) -> None:
    limit = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < limit, what
        time.sleep(0.01)


def in_the_middle(out: Path) -> None:
    """Wait until the first parts are made, and two workers are held at others."""
    until(some_parts(out, FREE), "no part is made")
    until(lambda: len(list(out.parent.glob(f"{out.name}.hold-*"))) == 2, "there are no two workers")


def some_parts(out: Path, count: int) -> Callable[[], bool]:
    return lambda: len(list((out / "_unfinished").glob("part-*"))) >= count


def check(out: Path, rows: int = GROUPS * ROWS) -> dict[str, Any]:
    """Each row is there once, and nothing else; return the manifest."""
    told: dict[str, Any] = json.loads((out / "_manifest.json").read_text(encoding="utf-8"))
    names = [part["name"] for part in told["parts"]]
    assert sorted(each.name for each in out.iterdir()) == sorted([*names, "_manifest.json"])
    tables = [parquet.read_table(out / name, columns=["id", "error"]) for name in names]
    assert [table.num_rows for table in tables] == [part["rows"] for part in told["parts"]]
    ids = pa.concat_tables(tables)["id"].to_pylist()
    assert len(ids) == told["rows"] == rows
    assert (sum(ids), sum(k * k for k in ids)) == (sum(range(rows)), sum(k * k for k in range(rows)))
    assert ids == list(range(rows))
    assert (
        sum(told["errors"].values())
        == told["without_answer"]
        == sum(
            table["error"].null_count < table.num_rows and table.num_rows - table["error"].null_count
            for table in tables
        )
    )
    return told


def test_a_cluster_makes_the_parts(cluster: str, data: Path, tmp_path: Path) -> None:
    result = autodiff(*arguments(data, tmp_path / "out", "--scheduler", cluster))
    assert result == Result(
        "",
        f"{GROUPS * ROWS:,} rows, and 2 of them have no answer:\n"
        "  1  domain: `sqrt` is undefined at …\n"
        "  1  derivative: `sqrt` is defined at … but its derivative is infinite there\n",
        4,
    ), result.err
    assert len(check(tmp_path / "out")["parts"]) == GROUPS


def test_a_worker_that_is_killed_is_made_up_for(cluster: str, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with distributed.Client(cluster, set_as_default=False) as client:
        workers = client.run(os.getpid)
        with held(out):
            process = begun(arguments(data, out, "--scheduler", cluster))
            in_the_middle(out)
            os.kill(workers[min(workers)], signal.SIGKILL)
            until(lambda: min(workers) not in client.scheduler_info()["workers"], "nobody sees that it has ended")
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 4 and "2 of them have no answer" in said, said
        check(out)
        # for the tests that come after this one
        client.wait_for_workers(2, timeout=PATIENCE)


def test_a_client_that_is_killed_is_taken_up(cluster: str, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with held(out):
        process = begun(arguments(data, out, "--scheduler", cluster))
        in_the_middle(out)
        process.kill()
        process.communicate(timeout=PATIENCE)
    assert not (out / "_manifest.json").exists()
    # what the workers were at when it ended they make to the end, for nobody
    until(some_parts(out, FREE + 2), "a worker has ended too")
    kept = {each: each.stat().st_ino for each in out.glob("part-*")}
    result = autodiff(*arguments(data, out, "--scheduler", cluster, "--resume"))
    assert result.code == 4 and result.err.startswith("note: "), result.err
    assert int(result.err.split()[1]) == len(kept) == FREE + 2
    assert kept.items() <= {each: each.stat().st_ino for each in out.glob("part-*")}.items()
    check(out)


def test_processes_of_this_machine_and_an_interruption(data: Path, preload: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with held(out):
        process = begun(arguments(data, out, "--workers", "2"), DASK_DISTRIBUTED__WORKER__PRELOAD=preload)
        in_the_middle(out)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and said.startswith("interrupted after "), said
    assert f"of {GROUPS} parts are in `{out}/`; `--resume` makes the others" in said
    assert not (out / "_manifest.json").exists() and not list(out.glob(".*"))
    # who goes on is all the same
    asked = arguments(data, out, "--resume")
    del asked[asked.index("--engine") : asked.index("--engine") + 2]
    assert autodiff(*asked).code == 4
    check(out)


def test_a_part_that_no_worker_can_write_is_said(cluster: str, data: Path, tmp_path: Path) -> None:
    """A folder stands where a part would; the others are there, and later it is too."""
    out = tmp_path / "out"
    assert autodiff(*arguments(data, out, "--scheduler", cluster)).code == 4
    name = check(out)["parts"][4]["name"]
    (out / name).unlink()
    (out / name).mkdir()
    result = autodiff(*arguments(data, out, "--scheduler", cluster, "--force"))
    assert result.code == 5 and f"error: `{out}/{name}` cannot be written: Is a directory" in result.err, result.err
    assert f"{GROUPS - 1} of {GROUPS} parts are in" in result.err and "`--resume` makes the others" in result.err
    (out / name).rmdir()
    assert autodiff(*arguments(data, out, "--scheduler", cluster, "--resume")).code == 4
    check(out)


def test_workers_that_run_out_of_memory_are_said(
    cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """A group of rows that is small in the file, and large in memory: texts that are all the same."""
    data, out = tmp_path / "in", tmp_path / "out"
    data.mkdir()
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 40, pa.int32()), pa.array(["n" * 16_000_000]))
    good = pa.table({"id": range(40, 80), "x": [2.0] * 40, "note": ["n"] * 40})
    schema = pa.schema([("id", pa.int64()), ("x", pa.float64()), ("note", pa.string())])
    with parquet.ParquetWriter(data / "a.parquet", schema, store_schema=False) as file:
        file.write_table(pa.table({"id": range(40), "x": [2.0] * 40, "note": texts}).cast(schema))
    parquet.write_table(good, data / "b.parquet", store_schema=False)
    result = autodiff(*arguments(data, out, "--scheduler", cluster))
    assert result.code == 4 and "ended every worker that tried it, perhaps for want of memory" in result.err, result.err
    assert "a.parquet" in result.err and "1 of 2 parts are in" in result.err
    monkeypatch.setattr(batches, "ROWS", 1)
    asked = arguments(data, out, "--resume")
    del asked[asked.index("--engine") : asked.index("--engine") + 2]
    assert autodiff(*asked).code == 0
    check(out, 80)


# ---- what cannot be -----------------------------------------------------------------------------------------------
def test_a_scheduler_that_is_not_there_is_said_soon(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "SECONDS", 1)
    for address in ("tcp://127.0.0.1:9", "nowhere"):
        result = autodiff(*arguments(data, tmp_path / "out", "--scheduler", address))
        assert result.code == 5 and f"no scheduler answers at `{address}`" in result.err, result.err
    assert not (tmp_path / "out").exists()


def test_a_scheduler_without_workers_is_said(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "SECONDS", 4)
    told = tmp_path / "scheduler.json"
    command = ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
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
    cluster: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(engines, "version", lambda: "9.9")
    result = autodiff(*arguments(data, tmp_path / "out", "--scheduler", cluster))
    assert result.code == 2 and "has autodiff" in result.err and "and this is 9.9" in result.err


def test_without_dask_the_extra_is_named(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask", None)
    result = autodiff(*arguments(data, tmp_path / "out"))
    assert result.code == 2 and "pip install 'autodiff-cli[cluster]'" in result.err
