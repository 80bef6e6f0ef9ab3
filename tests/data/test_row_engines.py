"""The code of the tutorial for Spark and Ray, which no extra brings, with what these engines do
played in Arrow.

Spark's `mapInArrow` gives an iterator of record batches and takes one, of the schema that was
stated; Ray's `map_batches` with Arrow gives one table at a time. Both send the function to workers
by pickle.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

import console
from autodiff_cli import rows
from places import TOP

TABLE = {"id": ["x", "y", "z"], "k": [0.5, 1.0, None], "t": [1.0, 2.0, 3.0]}
REASON = "point: column `k`: it is empty"


def shown(word: str) -> str:
    """The code of the tutorial that has a word in it."""
    blocks = console.blocks(
        (TOP / "tests" / "tutorials" / "4-rows.md").read_text(encoding="utf-8"), "text"
    )
    (found,) = [
        "\n".join(block.lines) for block in blocks if any(word in line for line in block.lines)
    ]
    return found


def answered(word: str, **given: Any) -> Any:
    """What the code of the tutorial calls the answers."""
    decay = pickle.loads(pickle.dumps(rows("a*exp(-k*t)", at={"a": 2}, keep="id")))  # noqa: S301 - as a worker gets it
    names: dict[str, Any] = {"decay": decay, **given}
    exec(shown(word), names)
    return names["answers"]


def check(found: list[dict[str, Any]]) -> None:
    expected = rows("a*exp(-k*t)", at={"a": 2}, keep="id")(pa.table(TABLE)).to_pylist()
    assert found == expected
    assert expected[2]["error"] == REASON
    assert expected[0]["value"] == pytest.approx(2 * 2.718281828459045**-0.5)


class SparkFrame:
    """As much of Spark's frame as the tutorial uses: two partitions, in batches of one row."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self.schema = table.schema

    def mapInArrow(
        self,
        function: Callable[[Iterator[pa.RecordBatch]], Iterable[pa.RecordBatch]],
        schema: pa.Schema,
    ) -> pa.Table:
        partitions = self.table.slice(0, 2), self.table.slice(2)
        batches = [
            batch
            for part in partitions
            for batch in function(iter(part.to_batches(max_chunksize=1)))
        ]
        return pa.Table.from_batches(batches, schema)  # raises if a batch has another schema


@pytest.mark.posix
def test_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    types = ModuleType("pyspark.sql.pandas.types")
    vars(types).update(
        from_arrow_schema=lambda schema: schema, to_arrow_schema=lambda schema: schema
    )
    for name in ("pyspark", "pyspark.sql", "pyspark.sql.pandas"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, types.__name__, types)
    check(answered("mapInArrow", spark_frame=SparkFrame(pa.table(TABLE))).to_pylist())


class RayDataset:
    """As much of Ray's dataset as the tutorial uses."""

    def __init__(self, tables: Iterable[pa.Table]) -> None:
        self.tables = tables

    def map_batches(
        self, function: Callable[[pa.Table], pa.Table], *, batch_format: str
    ) -> list[dict[str, Any]]:
        assert batch_format == "pyarrow"
        return pa.concat_tables([function(table) for table in self.tables]).to_pylist()


@pytest.mark.posix
def test_ray() -> None:
    table = pa.table(TABLE)
    check(
        answered("map_batches(lambda", ray_dataset=RayDataset([table.slice(0, 1), table.slice(1)]))
    )
