"""Tests of the parts of workers as one file: every row once, in order, below one line of
headings.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from autodiff_cli.errors import ExpressionError
from running import autodiff

pytest.importorskip("pyarrow")

from autodiff_cli.data.joined_parts import join


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_the_parts_are_the_rows_of_all_data(format: str, tmp_path: Path) -> None:
    rows = [f"{k / 7},{k}" for k in range(30)]
    (tmp_path / "all.csv").write_text("\n".join(['"a, b",x', *rows]) + "\n")
    made = []
    for k, (first, last) in enumerate([(0, 12), (12, 12), (12, 30)]):
        (tmp_path / "some.csv").write_text("\n".join(['"a, b",x', *rows[first:last]]) + "\n")
        made.append(str(tmp_path / f"part{k}.{format}"))
        answered(tmp_path / "some.csv", made[-1])
    answered(tmp_path / "all.csv", whole := str(tmp_path / f"whole.{format}"))
    join(made, joined := str(tmp_path / f"joined.{format}"), format, force=False)
    if format in ("csv", "tsv", "jsonl"):
        # a row of jsonl has the number of its line in its file
        assert len(Path(joined).read_text().splitlines()) == len(
            Path(whole).read_text().splitlines()
        )
    assert numbers(joined) == numbers(whole) and len(numbers(joined)) == 30
    with pytest.raises(ExpressionError, match="already exists"):
        join(made, joined, format, force=False)


def answered(data: Path, output: str) -> None:
    assert (
        autodiff(
            "grad", "x**2", "--points", str(data), "--wide", "--keep-all", "--output", output
        ).code
        == 0
    )


def numbers(path: str) -> list[str]:
    """The values in a file, as it is read."""
    shown = autodiff(
        "grad", "value", "--points", path, "--value-only", "--wide", "--format", "csv"
    ).out
    return [line.split(",")[-2] for line in shown.splitlines()[1:]]
