"""Databases that run exported SQL: those in this process, a PostgreSQL server of its own, Spark
where there is Java.

PostgreSQL is taken from the system (Debian: `apt-get install postgresql`), chDB, which is
ClickHouse in a process, and PySpark from Python's packages; without them their tests are skipped.
"""

from __future__ import annotations

import atexit
import math
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from autodiff_cli.capabilities.export.export import Exported

Row = tuple[Any, ...]
Execute = Callable[[Sequence[str]], list[Row]]
"""Runs statements; the rows of the last one."""


@cache
def sqlite() -> Execute:
    connection = sqlite3.connect(":memory:")

    def execute(statements: Sequence[str]) -> list[Row]:
        return [
            *map(tuple, [connection.execute(statement) for statement in statements][-1].fetchall())
        ]

    return execute


@cache
def duckdb() -> Execute:
    import duckdb as library

    # The library's own connection: opening one takes longer than everything else.
    def execute(statements: Sequence[str]) -> list[Row]:
        return [library.execute(statement) for statement in statements][-1].fetchall()

    return execute


@cache
def clickhouse() -> Execute:
    from chdb import session

    held = session.Session()
    held.query("SET compile_expressions = 0")  # so few rows are computed sooner than compiled

    def execute(statements: Sequence[str]) -> list[Row]:
        for statement in statements[:-1]:
            held.query(statement)
        text = str(held.query(statements[-1].rstrip().rstrip(";"), "TSV"))
        return _rows(text.splitlines(), r"\N")

    return execute


def _binary(name: str) -> str | None:
    """A program of PostgreSQL: Debian keeps those of the server beside the path."""
    found = [
        shutil.which(name),
        *map(str, sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)),
    ]
    return next((path for path in found if path), None)


@cache
def postgres() -> Execute:
    """A server that listens to a socket in a folder of its own, until this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="autodiff-postgres-"))
    user = "nobody" if os.getuid() == 0 else None  # it does not run as root
    if user:
        shutil.chown(folder, user)
    initdb, server, client = (_binary(name) for name in ("initdb", "postgres", "psql"))
    assert initdb and server and client
    data = str(folder / "data")
    subprocess.run(
        [initdb, "-D", data, "-A", "trust", "-U", "test", "--no-sync", "-E", "UTF8", "--no-locale"],
        user=user, cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    running = subprocess.Popen(
        [server, "-D", data, "-k", str(folder), "-c", "listen_addresses=", "-c", "fsync=off", "-c", "jit=off"],
        user=user, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip

    def ended() -> None:
        running.terminate()
        running.wait()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(ended)
    for _ in range(500):
        arguments = [
            client,
            "-h",
            str(folder),
            "-U",
            "test",
            "-XqAt",
            "-F",
            "\t",
            "-P",
            "null=NULL",
            "postgres",
        ]
        if subprocess.run([*arguments, "-c", "SELECT 1"], capture_output=True).returncode == 0:
            break
        time.sleep(0.02)
    asking = subprocess.Popen(
        arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    atexit.register(asking.communicate)

    def execute(statements: Sequence[str]) -> list[Row]:
        assert asking.stdin is not None and asking.stdout is not None
        for statement in statements:
            asking.stdin.write(statement.rstrip().rstrip(";") + ";\n")
        asking.stdin.write("\\echo that is all\n")
        asking.stdin.flush()
        lines = [line.rstrip("\n") for line in iter(asking.stdout.readline, "that is all\n")]
        lines = [line for line in lines if not line.startswith("NOTICE")]
        failed = [line for line in lines if line.startswith("ERROR")]
        if failed:
            raise RuntimeError(failed[0])
        return _rows(lines, "NULL")

    return execute


@cache
def spark() -> Execute:
    """In ANSI mode; expressions are interpreted, for so few rows are computed sooner than
    compiled.
    """
    from pyspark.sql import SparkSession

    options = {
        "spark.ui.enabled": "false", "spark.sql.ansi.enabled": "true",
        "spark.sql.shuffle.partitions": "1", "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }  # fmt: skip
    made = SparkSession.builder.master("local[1]")
    for name, value in options.items():
        made = made.config(name, value)
    session = made.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    atexit.register(session.stop)

    def execute(statements: Sequence[str]) -> list[Row]:
        return [*map(tuple, [session.sql(statement) for statement in statements][-1].collect())]

    return execute


def _rows(lines: Sequence[str], null: str) -> list[Row]:
    return [
        tuple([None if cell == null else _cell(cell) for cell in line.split("\t")])
        for line in lines
    ]


def _cell(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


DATABASES: dict[str, tuple[Callable[[], Execute], str, bool]] = {
    "duckdb": (duckdb, "DOUBLE", find_spec("duckdb") is not None),
    "sqlite": (sqlite, "REAL", True),
    "postgres": (
        postgres,
        "double precision",
        None not in map(_binary, ("initdb", "postgres", "psql")),
    ),
    "clickhouse": (clickhouse, "Nullable(Float64)", find_spec("chdb") is not None),
    "spark": (
        spark,
        "DOUBLE",
        find_spec("pyspark") is not None and shutil.which("java") is not None,
    ),
}
"""By dialect: what opens it, the type of the columns, and whether it is there."""


def literal(x: float | None, kind: str) -> str:
    if x is None or (kind == "REAL" and x != x):
        return "NULL"
    if math.isinf(x) or x != x:
        if kind == "REAL":
            return "9e999" if x > 0 else "-9e999"
        text = "nan" if x != x else "inf" if x > 0 else "-inf"
        return f"CAST('{text}' AS {kind})"
    return repr(x) if "e" in repr(x) else f"{x!r}e0"


def answers(
    database: str, exported: Exported, points: Sequence[Sequence[float | None]]
) -> list[Row]:
    """Of each point: value and partial derivatives, and what the column `error` says."""
    open_, kind, _ = DATABASES[database]
    names = list(exported.variables.values()) or ["unused"]
    typed = ", ".join([f"{name} {kind}" for name in names])
    listed = [f"({', '.join([literal(x, kind) for x in point or [0.0]])})" for point in points]
    rows = f"VALUES {', '.join(listed)}"
    if database == "spark":
        made = [
            f"CREATE OR REPLACE TEMP VIEW points AS SELECT * FROM ({rows}) AS t({', '.join(names)})"
        ]
    elif database == "clickhouse":
        made = [
            f"CREATE OR REPLACE TABLE points ({typed}) ENGINE = Memory",
            f"INSERT INTO points {rows}",
        ]
    else:
        made = [
            "DROP TABLE IF EXISTS points",
            f"CREATE TEMP TABLE points ({typed})",
            f"INSERT INTO points {rows}",
        ]
    found = open_()([*made, exported.source])
    count = len(exported.variables)
    # The rows come in the order of the table: so they carry its numbers.
    assert len(found) == len(points), found
    for row, point in zip(found, points, strict=True):
        assert [*row[:count]] == [
            x if x is not None and math.isfinite(x) else None for x in point
        ], (row, point)
    return [row[count:] for row in found]
