"""Tests of `descend`: the tutorial's run, the rules of PyTorch, the ends of a run, and what is
written.
"""

from __future__ import annotations

import json
import math
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autodiff_cli
from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.capabilities.optimize.descend import RATES, descend
from autodiff_cli.errors import ExpressionError
from autodiff_cli.streams.progress import Progress
from running import autodiff
from terminals import ESCAPE, on_terminal, rest, start

BOWL = "((w1-1)**2 + (w2-5)**2)*0.5"
AT = ["--at", "w1=2,w2=3"]
LONG = "--rate", "1e-9", "--steps", "100000000", "--work", "100000"


def test_the_run_of_the_tutorials() -> None:
    shown = autodiff("descend", BOWL, *AT, "--rate", "0.5", "--steps", "10", "--decimals", "4")
    assert shown.code == 0
    rows = [
        re.findall(r"-?[\d.]+", line) for line in shown.out.splitlines() if re.match(r"│ +\d", line)
    ]
    assert [row[0] for row in rows] == [str(k) for k in range(11)]
    values = [
        "2.5000",
        "0.6250",
        "0.1562",
        "0.0391",
        "0.0098",
        "0.0024",
        "0.0006",
        "0.0002",
        "0.0000",
        "0.0000",
    ]
    assert [row[1] for row in rows[:10]] == values
    assert rows[10][2:4] == ["1.0010", "4.9980"]


@pytest.mark.parametrize("method", list(RATES))
def test_rows_are_the_gradient_at_their_point(method: str) -> None:
    text, at = "(x*y - 2)**2 + exp(x/3) + y**2", {"x": 0.5, "y": 1.0}
    rows = list(descend(text, at, method=method, rate=0.01, steps=20))
    assert [row.step for row in rows] == list(range(21))
    for row in rows:
        expected = gradient(text, row.point)
        assert row.value == pytest.approx(expected.value, rel=1e-13)
        assert row.gradient == pytest.approx(expected.gradient, rel=1e-12)
        assert row.gradient_norm == pytest.approx(
            math.hypot(*expected.gradient.values()), rel=1e-12
        )


@pytest.mark.parametrize(
    ("rule", "name", "options"),
    [
        ({"method": "plain", "rate": 0.01}, "SGD", {"lr": 0.01}),
        (
            {"method": "momentum", "rate": 0.01, "momentum": 0.8},
            "SGD",
            {"lr": 0.01, "momentum": 0.8},
        ),
        (
            {"method": "nesterov", "rate": 0.01, "momentum": 0.8},
            "SGD",
            {"lr": 0.01, "momentum": 0.8, "nesterov": True},
        ),
        (
            {"method": "adam", "rate": 0.05, "beta1": 0.8, "beta2": 0.99},
            "Adam",
            {"lr": 0.05, "betas": (0.8, 0.99)},
        ),
    ],
)
@pytest.mark.parametrize("maximize", [False, True])
def test_the_rules_are_those_of_pytorch(
    rule: dict[str, Any], name: str, options: dict[str, object], maximize: bool
) -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor(-1.2, dtype=torch.float64, requires_grad=True)
    y = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    optimizer = getattr(torch.optim, name)([x, y], maximize=maximize, **options)
    rows = list(
        descend(
            "sin(x*y) + x**2/(1 + y**2)", {"x": -1.2, "y": 1}, **rule, steps=40, maximize=maximize
        )
    )
    for row in rows:
        assert row.coordinates == pytest.approx((x.item(), y.item()), rel=1e-10)
        optimizer.zero_grad()
        (torch.sin(x * y) + x**2 / (1 + y**2)).backward()
        optimizer.step()


@settings(max_examples=30, deadline=None)
@given(st.floats(-50, 50), st.floats(0.01, 0.99))
def test_a_parabola_shrinks_as_it_must(x: float, rate: float) -> None:
    # x -> x - rate*2x at every step
    rows = list(descend("x**2", {"x": x}, rate=rate, steps=10))
    assert [row.point["x"] for row in rows] == pytest.approx(
        [x * (1 - 2 * rate) ** k for k in range(11)], abs=1e-9
    )


def test_only_the_wanted_variables_move() -> None:
    run = descend("(x - a)**2 + b*x", {"x": 1, "a": 3, "b": 0.5}, wrt=["x"], steps=50)
    rows = list(run)
    assert {(row.point["a"], row.point["b"]) for row in rows} == {(3.0, 0.5)}
    assert rows[-1].point["x"] == pytest.approx(2.75, abs=1e-3)
    assert rows[-1].gradient.keys() == {"x"}


def test_a_run_can_be_taken_twice() -> None:
    run = descend("x**2", {"x": 1}, method="adam", rate=0.1, steps=5)
    assert list(run) == list(run)


@pytest.mark.parametrize(
    ("text", "at", "rule", "reason"),
    [
        ("x**2", 1.0, {"rate": 2}, "diverged"),
        ("x**4", 10.0, {"rate": 1}, "diverged"),
        ("x**3", -1.0, {"rate": 1}, "diverged"),
        ("exp(x)", 700.0, {"rate": 1e-305}, "steps"),
        ("-exp(x)", 1.0, {"rate": 1}, "diverged"),
        ("1e200*x**2", 1.0, {"rate": 1e200}, "diverged"),
        ("log(x)", 0.5, {"rate": 1}, "domain"),
        ("sqrt(x)", 0.25, {"rate": 0.25}, "domain"),
        ("x**2", 1.0, {"rate": 0.1}, "steps"),
    ],
)
def test_how_a_run_ends(text: str, at: float, rule: dict[str, Any], reason: str) -> None:
    run = descend(text, {"x": at}, **rule, steps=60)
    rows = list(run)
    assert run.ending is not None
    assert run.ending.reason == reason
    assert run.ending.succeeded == (reason == "steps")
    assert all(math.isfinite(row.value) and math.isfinite(row.gradient_norm) for row in rows)
    assert run.best.value == min(row.value for row in rows)


def test_tolerances() -> None:
    run = descend("x**2", {"x": 1}, steps=1000, gradient_tolerance=1e-6)
    last = list(run)[-1]
    assert last.gradient_norm <= 1e-6 < last.gradient_norm / 0.8
    assert run.ending is not None and run.ending.reason == "gradient"
    assert len(list(descend("x**2", {"x": 0}, steps=9, gradient_tolerance=0))) == 1
    run = descend("x**2", {"x": 1}, steps=1000, value_tolerance=1e-6)
    *_, before, last = run
    assert abs(last.value - before.value) <= 1e-6
    assert run.ending is not None and run.ending.reason == "value"
    run = descend("x**2", {"x": 1}, steps=3, gradient_tolerance=1e-6)
    list(run)
    assert run.ending is not None and not run.ending.succeeded


@pytest.mark.parametrize("rate", [0.0, -1.0, math.inf, math.nan])
def test_a_rate_is_positive(rate: float) -> None:
    with pytest.raises(ExpressionError, match="`rate` cannot be"):
        autodiff_cli.descend("x**2", {"x": 1}, rate=rate)


def test_the_best_point_can_be_written_and_read_back(tmp_path: Path) -> None:
    args = (
        "descend",
        "(x-3)**2 + λ",
        "--at",
        "x=1,λ=0.5",
        "--wrt",
        "x",
        "--rate",
        "0.25",
        "--steps",
        "4",
    )
    assert autodiff(*args, "--save-point", "point.json", folder=tmp_path).code == 0
    assert json.loads((tmp_path / "point.json").read_text()) == {"x": 2.875, "λ": 0.5}
    again = autodiff(
        "grad", "(x-3)**2 + λ", "--at", "@point.json", "--format", "plain", folder=tmp_path
    )
    assert again.out == "0.515625 x=-0.25 λ=1.0\n"
    kept = autodiff(*args, "--save-point", "point.json", folder=tmp_path)
    assert (kept.code, kept.out) == (5, ""), "nothing is computed in vain"
    assert autodiff(*args, "--save-point", "point.json", "--force", folder=tmp_path).code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["point.json"]


def test_machine_formats_have_all_rows() -> None:
    args = ("descend", BOWL, *AT, "--rate", "0.01", "--steps", "5000")
    lines = autodiff(*args, "--format", "jsonl").out.splitlines()
    assert len(lines) == 5001
    assert json.loads(lines[-1])["step"] == 5000
    assert json.loads(autodiff(*args, "--json").out) == [json.loads(line) for line in lines]
    assert len(autodiff(*args, "--format", "csv").out.splitlines()) == 1 + 2 * 5001
    assert len(autodiff(*args).out.splitlines()) > 5001, "a table that is piped is whole as well"


@pytest.mark.posix
@pytest.mark.parametrize(
    ("steps", "every"), [(39, 1), (41, 2), (100, 10), (1234, 100), (20000, 1000)]
)
def test_a_long_table_is_thinned_on_a_terminal(steps: int, every: int) -> None:
    shown = ESCAPE.sub(
        "", on_terminal("descend", BOWL, *AT, "--rate", "0.001", "--steps", str(steps)).out
    )
    found = [int(line.split()[1]) for line in shown.splitlines() if re.match(r"│ +\d", line)]
    assert found == [*range(0, steps + 1, every)] + ([steps] if steps % every else [])
    assert (f"1 in {every:,} of {steps + 1:,} rows" in shown) == (every > 1)


@pytest.mark.posix
def test_rows_come_one_by_one_and_ctrl_c_ends_with_the_best() -> None:
    process, master = start("descend", BOWL, *AT, *LONG, "--format", "jsonl")
    import os

    seen = b""
    while seen.count(b"\n") < 3:
        seen += os.read(master, 65536)
    process.send_signal(signal.SIGINT)
    shown = rest(process, master)
    assert shown.code == 130
    assert "interrupted after" in shown.out
    assert "Traceback" not in shown.out


@pytest.mark.posix
def test_ctrl_c_ends_a_table_with_the_best_and_writes_it(tmp_path: Path) -> None:
    point = tmp_path / "point.json"
    process, master = start(
        "descend", BOWL, *AT, *LONG, "--save-point", str(point)
    )  # fmt: skip
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    shown = rest(process, master)
    assert shown.code == 130
    assert "interrupted after" in shown.out and "╭" in shown.out
    assert json.loads(point.read_text()).keys() == {"w1", "w2"}


def test_progress_counts_steps(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    progress = Progress("steps", wait=0, here=True)
    progress.step(1234)
    progress.close()
    assert "1,234 steps" in capsys.readouterr().err


def test_nothing_heavy_is_loaded() -> None:
    from loaded import HEAVY, modules

    loaded = modules("descend", BOWL, *AT, "--steps", "3", "--json")
    assert not {name.partition(".")[0] for name in loaded} & HEAVY
