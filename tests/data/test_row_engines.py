"""Tests of the engines that the tutorial shows and that no extra brings: Spark and Ray, where they are installed."""

from __future__ import annotations

import shutil
import sys
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
    blocks = console.blocks((TOP / "tests" / "tutorials" / "4-rows.md").read_text(encoding="utf-8"), "text")
    (found,) = ["\n".join(block.lines) for block in blocks if any(word in line for line in block.lines)]
    return found


def answered(word: str, **given: Any) -> Any:
    """What the code of the tutorial calls the answers."""
    names: dict[str, Any] = {"decay": rows("a*exp(-k*t)", at={"a": 2}, keep="id"), **given}
    exec(shown(word), names)
    return names["answers"]


def check(found: list[dict[str, Any]]) -> None:
    expected = rows("a*exp(-k*t)", at={"a": 2}, keep="id")(pa.table(TABLE)).to_pylist()
    assert sorted(found, key=lambda row: str(row["id"])) == expected and expected[2]["error"] == REASON


@pytest.mark.filterwarnings("ignore")
def test_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("there is no Java")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    for name in ("spark.driver.host", "spark.driver.bindAddress"):
        builder = builder.config(name, "127.0.0.1")
    session = builder.getOrCreate()
    try:
        frame = session.createDataFrame(list(zip(*TABLE.values(), strict=True)), "id string, k double, t double")
        check([row.asDict() for row in answered("mapInArrow", spark_frame=frame).collect()])
    finally:
        session.stop()


@pytest.mark.filterwarnings("ignore")
def test_ray() -> None:
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    ray.init(num_cpus=1, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    try:
        check(answered("map_batches(decay", ray_dataset=ray.data.from_arrow(pa.table(TABLE))).take_all())
    finally:
        ray.shutdown()
