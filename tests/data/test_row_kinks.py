"""Tests of rows at kinks: wide rows count at the end what long records say of each, whatever
computes them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

import autodiff_cli.engine.table.primitives  # noqa: F401 - so that all of them are there
from autodiff_cli.engine.table.primitive import FUNCTIONS
from running import autodiff

PLACES = [-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 2.5]

FORMULAS = [
    "abs(x)*y", "max(x, y)", "min(x, y, 1)", "clamp(x, 0, y)", "x if x > y else 2*x",
    "where(x >= 0.5, x**2, y)", "abs(x)*0 + y", "relu(x)**3", "abs(x)*abs(y)", "hypot(x, y)",
    "sqrt(x**2) + floor(y)", "max(x, y) + min(x, y)",
]  # fmt: skip


def written(folder: Path) -> Path:
    path = folder / "data.csv"
    rows = [f"{x},{y}\n" for x in PLACES for y in PLACES]
    path.write_text("x,y\n" + "".join(rows), encoding="utf-8")
    return path


def counted(said: str) -> tuple[int, dict[str, int]]:
    """What a summary says of kinks."""
    _, _, told = said.rpartition("no answer:")
    found = re.search(
        r"rows, and ([\d,]+) of them (?:is|are) at a kink, where the derivative is a convention:\n",
        told,
    )
    if found is None:
        return 0, {}
    lines = [line.split(maxsplit=1) for line in told[found.end() :].splitlines()]
    return int(found[1]), {why: int(count) for count, why in lines}


@pytest.mark.parametrize("command", ["grad", "jacobian"])
def test_wide_rows_count_what_long_ones_say(command: str, tmp_path: Path) -> None:
    path = written(tmp_path)
    names = [
        name
        for name, p in FUNCTIONS.items()
        if p.may_kink and "y" not in p.params and not p.variadic
    ]
    assert len(names) >= 7
    formulas = FORMULAS + [f"{name}(x)*y" for name in names]
    met = 0
    for formula in (
        formulas if command == "grad" else [", ".join(formulas[k : k + 3]) for k in range(0, 12, 3)]
    ):
        records = [
            json.loads(line)
            for line in autodiff(command, formula, "--points", str(path)).out.splitlines()
        ]
        rows = [
            {(w["message"], w["hint"]) for w in r.get("warnings", []) if w["kind"] == "kink"}
            for r in records
        ]
        expected: Counter[str] = Counter()
        for row in rows:
            expected.update(
                {
                    re.sub(r"(?<![\w`-])-?\d[\d.]*(?!\w)", "…", said) + f" ({hint})"
                    for said, hint in row
                }
            )
        at = sum(map(bool, rows))
        met += at
        for backend in ("python", "llvm", "numpy"):
            said = autodiff(
                command, formula, "--points", str(path), "--wide", "--backend", backend
            ).err
            if "note: " not in said:
                assert counted(said) == (at, dict(expected)), (formula, backend)
    assert met > 60
