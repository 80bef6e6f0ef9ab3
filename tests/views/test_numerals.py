"""Tests of how numbers are written: the library made for speed writes what Python itself does, and it is used."""

from __future__ import annotations

import json
import math
import random
import struct
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autodiff_cli.inputs.parse_point import Typed
from autodiff_cli.views import numerals
from autodiff_cli.views.numerals import Written
from running import autodiff

EDGES = [
    0.0, -0.0, 0.1, 1e-4, 9.999999999999999e-05, 1e-5, 1.2e-5, 1e15, 9999999999999998.0, 1e16, -1e16, 1e17, 1e21, 1e22,
    123456789012345680.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 10.00001, 2.0**53, 1 / 3,
]  # fmt: skip


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> Written:
    """What writes by the library."""
    pytest.importorskip("orjson")
    monkeypatch.setattr(numerals, "MANY", 0)
    written = Written()
    written.numbers([0.0])
    assert written.is_fast
    return written


def test_numbers_are_written_as_python_writes_them(fast: Written) -> None:
    rng = random.Random(1)
    bits = [struct.unpack("d", struct.pack("Q", rng.getrandbits(64)))[0] for _ in range(20_000)]
    drawn = [x for x in bits if math.isfinite(x)]
    drawn += [10 ** rng.uniform(-7, 18) for _ in range(20_000)]
    drawn += [round(rng.uniform(-100, 100), rng.randint(0, 6)) for _ in range(20_000)]
    drawn += [float(rng.randint(-(10**17), 10**17)) for _ in range(10_000)]
    assert len(drawn) > 60_000
    for k in range(0, len(drawn), 7):
        row = drawn[k : k + 7]
        assert fast.numbers(row) == [*map(repr, row)]
    for x in EDGES:
        assert fast.numbers((x, Typed(x), 0.5)) == [repr(x), repr(x), "0.5"]


@given(st.text())
def test_strings_are_written_as_json_writes_them(text: str) -> None:
    pytest.importorskip("orjson")
    written = Written()
    written._dumps = numerals._library()
    assert written.string(text) == Written().string(text) == json.dumps(text, ensure_ascii=False)


def test_few_numbers_load_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "orjson", raising=False)
    loaded: list[int] = []
    monkeypatch.setattr(numerals, "_library", lambda: loaded.append(1))
    written = Written()
    for k in range(2 * numerals.MANY):
        written.numbers([1.5])
        assert len(loaded) == (k >= numerals.MANY)


@pytest.mark.parametrize("format", ["jsonl", "json"])
def test_streams_are_the_same_with_it_and_without(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("orjson")
    rng = random.Random(2)
    texts = ["x*y", "sin(x)/y", "x**2*1e9 + y", "x*1e-9", "λ*x + y", "x if x > y else y**3", "log(x)", "2x +"]
    asked = "".join(f"{texts[k % 8]}\tx={rng.uniform(-2, 2)!r},y={rng.random()!r},λ=2\n" for k in range(200))
    found = []
    used: list[bool] = []
    numbers = Written.numbers
    monkeypatch.setattr(Written, "numbers", lambda self, row: used.append(self.is_fast) or numbers(self, row))
    monkeypatch.setattr(numerals, "MANY", 100)
    for library in (numerals._library, lambda: None):
        monkeypatch.setattr(numerals, "_library", library)
        used.clear()
        found.append(autodiff("grad", "-", "--format", format, stdin=asked))
        assert (used.count(True) > 100) == (len(found) == 1)
    assert found[0] == found[1]
    assert found[0].out.count('"gradient"') > 120
