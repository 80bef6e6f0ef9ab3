"""Tests of damaged spreadsheets, and of those that unpack to too much: their reader ends, not the
command.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from autodiff_cli.data import sheet_process
from running import autodiff

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")


def test_a_cell_far_away_ends_the_reader_alone(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active["A1"], book.active["A2"], book.active["XFD1048576"] = "x", 1, 3
    book.save(tmp_path / "far.xlsx")
    answer = autodiff("grad", "x**2", "--points", str(tmp_path / "far.xlsx"))
    assert answer.code == 5
    assert "cannot be read as a spreadsheet" in answer.err and "save the sheet as csv" in answer.err


def test_damaged_workbooks_are_read_or_refused(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in [["x"], *([k] for k in range(50))]:
        book.active.append(row)
    book.save(tmp_path / "book.xlsx")
    whole = (tmp_path / "book.xlsx").read_bytes()
    draw = random.Random(1)
    for _ in range(10):
        data = bytearray(whole[: draw.choice([len(whole), draw.randrange(len(whole))])])
        for _ in range(20):
            data[draw.randrange(len(data))] = draw.randrange(256)
        (tmp_path / "damaged.xlsx").write_bytes(data)
        assert autodiff(
            "grad", "x**2", "--points", str(tmp_path / "damaged.xlsx"), "--format", "csv"
        ).code in (0, 2, 5)


def test_memory_and_time_grow_with_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    bounds = dict[int, int]()
    monkeypatch.setattr(resource, "setrlimit", lambda what, pair: bounds.update({what: pair[0]}))
    sheet_process.bound(1_000_000)
    assert bounds[resource.RLIMIT_AS] == 768 * 1024**2 + 120_000_000
    assert bounds[resource.RLIMIT_CPU] == 7
