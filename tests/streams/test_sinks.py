"""Tests of lines of cells: numbers as Python spells them, and many rows written as few are."""

from __future__ import annotations

import json
import math
import random
import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from autodiff_cli.data import readers
from autodiff_cli.data.sinks import as_texts
from running import autodiff

EDGES = [
    *(
        0.0,
        -0.0,
        5e-324,
        1e-5,
        9.999e-5,
        9.999999999999999e-05,
        1e-4,
        1e15,
        1e16,
        9999999999999998.0,
        1e17,
        1e22,
        1e23,
    ),
    *(
        9007199254740994.0,
        1.7976931348623157e308,
        2.2250738585072014e-308,
        123456789012345.6,
        -1.2345678901234567e-308,
    ),
]


def numbers(rng: random.Random) -> list[float]:
    bits = [struct.unpack("d", rng.randbytes(8))[0] for _ in range(4000)]
    sizes = [rng.uniform(-1, 1) * 10 ** rng.uniform(-8, 18) for _ in range(4000)]
    whole = [float(rng.randrange(-(10**16), 10**16)) for _ in range(1000)] + [
        10.0**k for k in range(-20, 20)
    ]
    return [x for x in [*EDGES, *bits, *sizes, *whole, *map(float, range(300))] if math.isfinite(x)]


def test_numbers_are_spelled_as_python_spells_them() -> None:
    given = numbers(random.Random(1))
    assert len(given) > 9000
    # a part of an array is written too
    column = pa.array([1.5, *given, None, math.inf, 2.5]).slice(1, len(given) + 2)
    assert as_texts(column).to_pylist() == [*map(repr, given), "", "inf"]


def test_what_is_carried_along_is_spelled_as_answers_are(tmp_path: Path) -> None:
    given = [2.0, None, 1e-7, -0.0, 123456789012.5, float("inf"), 0.1]
    table = pa.table(
        {
            "x": [1.0] * 7,
            "k": given,
            "n": [7] * 7,
            "b": [True] * 7,
            "f": pa.array([2.5] * 7, pa.float32()),
        }
    )
    parquet.write_table(table, tmp_path / "data.parquet")
    found = autodiff(
        "grad", "x", "--points", str(tmp_path / "data.parquet"), "--keep", "k,n,b,f", "--wide"
    )
    assert found.out.splitlines()[1:] == [
        f"1.0,1.0,,{'' if k is None else repr(k)},7,true,2.5" for k in given
    ]


TEXTS = [
    "",
    "a",
    "b,c",
    'd"e',
    "f\tg",
    "h\ni",
    "\x1b[31mj",
    "\u202ek",
    "naïve λ",
    "=1+1",
    "-1.5",
    "+x",
    "@y",
    " z ",
    "'",
]


@pytest.mark.parametrize("spreadsheet", [(), ("--spreadsheet",)])
@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_many_rows_are_written_as_few_are(
    format: str, spreadsheet: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(3)
    path = tmp_path / "data.jsonl"
    xs = [1, 2.5, 1e-7, 3e20, -4.0, 12345678.25]
    rows = [
        {"x": rng.choice(xs), "y": rng.uniform(-1, 1), "t": rng.choice([*TEXTS, None])}
        for _ in range(400)
    ]
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )
    asked = [
        "grad",
        "sqrt(x)*y",
        "--points",
        str(path),
        "--wide",
        "--format",
        format,
        "--keep",
        "t",
        *spreadsheet,
    ]
    few = autodiff(*asked)
    monkeypatch.setattr(readers, "FEW_ROWS", 2)
    many = autodiff(*asked)
    assert few.out.count("domain") > 30 and few.code == many.code == 4
    assert many.out == few.out
