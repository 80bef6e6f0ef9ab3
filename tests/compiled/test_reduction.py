"""Losses over data: a formula's sum or mean over rows, beside the same written out, in every way
that computes it.
"""

from __future__ import annotations

import gc
import json
import math
import random
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from autodiff_cli import ExpressionError, descend, gradient, parse
from autodiff_cli.capabilities.check.check import check
from autodiff_cli.capabilities.derivatives.gradient import Gradient
from autodiff_cli.capabilities.derivatives.gradient import gradient as question
from autodiff_cli.capabilities.derivatives.hessian import hessian
from autodiff_cli.capabilities.optimize.descend import descend as run_of
from autodiff_cli.capabilities.optimize.minimize import minimize
from autodiff_cli.compiled import data_loss
from autodiff_cli.compiled.data_loss import LossSpec, Totals
from autodiff_cli.data import columns
from autodiff_cli.engine.numbers import budget
from autodiff_cli.engine.numerics.optimality import Single
from running import autodiff

LOSS = "(y - (w*x + b))**2"
BACKENDS = ("llvm", "numpy", "python")


def table(rows: int, seed: int = 1) -> dict[str, list[float]]:
    draw = random.Random(seed)
    x = [draw.uniform(-2, 2) for _ in range(rows)]
    return {"x": x, "y": [2 * a - 0.5 + draw.gauss(0, 0.3) for a in x]}


def over(data: Mapping[str, Sequence[float]], how: str = "mean", **more: Any) -> LossSpec:
    return LossSpec(columns.from_table(data), how, **more)


@cache
def written_out(text: str, point: tuple[tuple[str, float], ...]) -> Gradient[float]:
    return question(text, dict(point))


# ---- numbers ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("term", "point"),
    [
        (LOSS, {"w": 0.3, "b": 0.1}),
        ("log1p(exp(-y*(w*x + b))) + 0.01*w**2", {"w": 0.3, "b": 0.1}),
        ("h = tanh(w*x + b); (y - v*h)**2", {"w": 0.3, "b": 0.1, "v": -0.7}),
        ("relu(1 - y*(w*x + b)) if x > w else abs(y)*b", {"w": 0.3, "b": 0.1}),
    ],
)
def test_the_gradient_is_that_of_the_sum_written_out(
    term: str, point: dict[str, float], backend: str
) -> None:
    data = table(1000)
    *bindings, last = term.split(";")
    assert len(bindings) < 2
    if bindings:
        name, _, value = bindings[0].partition("=")
        last = last.replace(name.strip(), f"({value})")
    body = last.replace("x", "%1").replace("e%1p", "exp").replace("y", "%2")
    written = [
        body.replace("%1", f"({x!r})").replace("%2", f"({y!r})")
        for x, y in zip(*data.values(), strict=True)
    ]
    whole = written_out(f"mean({', '.join(written)})", tuple(point.items()))
    found = question(term, point, over=over(data, backend=backend))
    assert found.over is not None
    assert found.over.backend == backend, "another way computed it"
    # relative to what is added up: digits may cancel in the sum itself
    size = max(abs(x) for x in (whole.value, *whole.gradient.values()))
    assert abs(found.value - whole.value) <= 1e-14 * size
    assert found.gradient.keys() == whole.gradient.keys()
    for name, partial in whole.gradient.items():
        assert abs(found.gradient[name] - partial) <= 1e-14 * size, name


def test_a_sum_is_the_mean_times_the_rows() -> None:
    data, point = table(321), {"w": 1.5, "b": 0.0}
    mean, total = (question(LOSS, point, over=over(data, how)) for how in ("mean", "sum"))
    assert total.value == pytest.approx(321 * mean.value, rel=1e-15)
    assert total.gradient["w"] == pytest.approx(321 * mean.gradient["w"], rel=1e-15)


@pytest.mark.parametrize("backend", BACKENDS)
def test_neither_the_order_of_rows_nor_the_size_of_blocks_shows(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # terms of both signs and of sizes between 1e-8 and 1e8: of a plain sum's digits, five are left
    draw = random.Random(3)
    x = [draw.choice((-1, 1)) * 10 ** draw.uniform(-8, 8) for _ in range(6000)]
    exact = float(sum(map(Fraction, x)) / 6000)
    assert abs(float(np.sum(x)) / 6000 - exact) > 1e-15 * abs(exact) or math.fsum(x) != sum(x)
    found = set()
    for size in (256, 1024, 16_384):
        monkeypatch.setattr(data_loss, "MIN_BLOCK_ROWS", size)
        monkeypatch.setattr(data_loss, "MAX_BLOCK_ROWS", size)
        for _ in range(3):
            draw.shuffle(x)
            answer = question("a*x", {"a": 1.0}, over=over({"x": x}, backend=backend))
            assert answer.gradient["a"] == pytest.approx(exact, rel=1e-15)
            found.add(f"{answer.value:.15g}")
    assert len(found) == 1


def test_sums_that_lose_their_digits_keep_them() -> None:
    totals = Totals(2)
    block = np.array([[1e16, 1.0, -1e16] * 5000, [1.0, 1e-17, 0.0] * 5000])
    totals.add(block.copy())
    totals.add(-block)
    totals.add(np.full((2, 15_000), 0.1))
    assert totals.sums() == [math.fsum([0.1] * 15_000)] * 2


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_sum_that_is_too_large_is_an_error(backend: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        question("a*x", {"a": 1.0}, over=over({"x": [1e308] * 9000}, "sum", backend=backend))
    assert caught.value.kind == "overflow"


# ---- rows without a value -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_row_outside_the_domain_is_an_error_or_left_out(backend: str) -> None:
    data = {"x": [3.0, 2.0, 0.5, 4.0, -1.0]}
    with pytest.raises(ExpressionError, match=r"row 3: `log` is undefined at -0\.5") as caught:
        question("log(x - a)", {"a": 1.0}, over=over(data, backend=backend))
    assert (caught.value.kind, caught.value.span) == ("domain", (0, 10, None))
    found = question("log(x - a)", {"a": 1.0}, over=over(data, backend=backend, skip=True))
    assert found.over is not None
    assert (found.over.rows, found.over.left_out) == (3, {"domain: `log` is undefined at …": 2})
    assert found.value == pytest.approx((math.log(2) + math.log(1) + math.log(3)) / 3)
    with pytest.raises(ExpressionError, match="every row of the data is left out"):
        question("log(x - a)", {"a": 9.0}, over=over(data, backend=backend, skip=True))


@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_at_a_kink_are_counted(backend: str) -> None:
    found = question(
        "relu(x - a)", {"a": 1.0}, over=over({"x": [0.0, 1.0, 1.0, 2.0]}, "sum", backend=backend)
    )
    assert [each.message for each in found.warnings] == [
        "`relu` has no derivative at 0; at 2 rows of 4"
    ]
    assert (found.value, found.gradient) == (1.0, {"a": -1.0})


# ---- tables of every kind -----------------------------------------------------------------------------------------
def test_every_kind_of_table_gives_the_same(tmp_path: Path) -> None:
    data = {"x": [1, 2, 3], "y": [1.5, 2.5, 4.0], "name": ["a", "b", "c"]}
    path = tmp_path / "points.parquet"
    parquet.write_table(pa.table(data), path)
    kinds: list[Any] = [
        data, pd.DataFrame(data), pl.DataFrame(data), pa.table(data), str(path), [str(path)],
        {"x": np.array([1, 2, 3], np.int32), "y": (1.5, 2.5, 4)},
        {"x": array("d", [1, 2, 3]), "y": np.array([1.5, 2.5, 4], dtype=object)},
    ]  # fmt: skip
    found = {
        (a.value, *a.gradient.values())
        for a in (gradient(LOSS, "w=1,b=0", data=d, reduce="sum") for d in kinds)
    }
    assert found == {(1.5, -9.0, -4.0)}


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"x": [1, 2], "y": [1]}, "not of the same length"),
        ({"x": [1, "two"], "y": [1, 2]}, "two"),
        ({"x": [], "y": []}, "no rows"),
        ({"x": [1, math.nan], "y": [1, 2]}, "row 2: column `x`"),
        ({"x": [1, None], "y": [1, 2]}, "row 2: column `x`"),
        ({"x": [[1], [2]], "y": [1, 2]}, "x"),
        (pd.DataFrame({"x": [1.0], "y": ["a"]}), "column `y`"),
        (3, "columns by name"),
        ({"a": [1]}, "`y` has no value"),
        ({"x": [1], "y": [2], "w": [3]}, "`w` has a value in `at`, and is a column"),
    ],
)
def test_what_is_no_table_is_refused(data: Any, told: str) -> None:
    with pytest.raises(ExpressionError, match=told):
        gradient(LOSS, "w=1,b=0", data=data, reduce="mean")


# ---- files --------------------------------------------------------------------------------------------------------
def grad(*args: str, stdin: str = "") -> dict[str, Any]:
    done = autodiff(
        "grad", LOSS, "--reduce", "mean", "--at", "w=1,b=0", "--json", *args, stdin=stdin
    )
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_every_format_gives_the_same(tmp_path: Path) -> None:
    data = table(5000)
    frame = pa.table(data)
    paths = {
        kind: tmp_path / f"points.{kind}"
        for kind in ("csv", "tsv", "jsonl", "parquet", "arrow", "csv.gz")
    }
    rows = list(zip(*data.values(), strict=True))
    for kind, separator in (("csv", ","), ("tsv", "\t")):
        lines = [f"x{separator}y", *(f"{x!r}{separator}{y!r}" for x, y in rows)]
        paths[kind].write_text("\n".join(lines) + "\n", encoding="utf-8")
    import gzip

    paths["csv.gz"].write_bytes(gzip.compress(paths["csv"].read_bytes()))
    paths["jsonl"].write_text(
        "".join(json.dumps({"x": x, "y": y}) + "\n" for x, y in rows), encoding="utf-8"
    )
    parquet.write_table(frame, paths["parquet"])
    with pa.OSFile(str(paths["arrow"]), "wb") as file, pa.ipc.new_file(file, frame.schema) as out:
        out.write_table(frame)
    answers = {
        kind: grad("--data", str(path), "--backend", "numpy") for kind, path in paths.items()
    }
    assert len({(a["value"], *a["gradient"].values()) for a in answers.values()}) == 1
    assert {a["data"]["rows"] for a in answers.values()} == {5000}
    whole = grad(
        "--data", "-", "--backend", "numpy", stdin=paths["csv"].read_text(encoding="utf-8")
    )
    assert whole["value"] == answers["csv"]["value"]
    twice = grad("--data", str(tmp_path / "points.[ct]sv"))
    assert (twice["data"]["rows"], twice["value"]) == (
        10_000,
        pytest.approx(whole["value"], rel=1e-15),
    )


def test_what_does_not_fit_in_memory_is_put_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "points.csv"
    data = table(30_000)
    lines = ["x,y", *(f"{x!r},{y!r}" for x, y in zip(*data.values(), strict=True))]
    lines[20_000] = "oops,1"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    held_all = grad("--data", str(path), "--on-error", "skip")
    monkeypatch.setattr(columns, "MAX_NUMBERS_IN_MEMORY", 1000)
    kept: list[str] = []
    made = columns._ColumnBuffer.columns

    def noted(self: Any, used: Any) -> Any:
        found = made(self, used)
        kept.extend(type(column).__name__ for column in found.numbers.values())
        return found

    monkeypatch.setattr(columns._ColumnBuffer, "columns", noted)
    monkeypatch.setattr("autodiff_cli.data.readers.BLOCK_BYTES", 100_000)
    aside = grad("--data", str(path), "--on-error", "skip")
    assert kept == ["memmap", "memmap"]
    assert (aside["value"], aside["gradient"], aside["data"]) == tuple(
        held_all[k] for k in ("value", "gradient", "data")
    )
    assert aside["data"]["rows"] == 29_999
    done = autodiff(
        "grad",
        "log(x + a)",
        "--data",
        str(path),
        "--reduce",
        "sum",
        "--at",
        "a=1",
        "--on-error",
        "fail",
    )
    assert done.code == 2 and f"{path}, line 20001: column `x`" in done.err


# ---- descent ------------------------------------------------------------------------------------------------------
def by_hand(
    data: dict[str, list[float]], size: int, epochs: int, seed: int | None, rate: float
) -> list[float]:
    """What a loop over batches, written out, comes to: the mean over all rows after each epoch."""
    w = b = 0.0
    rows = list(zip(data["x"], data["y"], strict=True))
    order = list(range(len(rows)))
    draw = random.Random(seed)
    losses = []
    for _ in range(epochs):
        if seed is not None:
            draw.shuffle(order)
        for start in range(0, len(order), size):
            part = [rows[k] for k in order[start : start + size]]
            left = [y - (w * x + b) for x, y in part]
            dw = sum(-2 * r * x for r, (x, _) in zip(left, part, strict=True)) / len(part)
            db = sum(-2 * r for r in left) / len(part)
            w, b = w - rate * dw, b - rate * db
        losses.append(sum((y - (w * x + b)) ** 2 for x, y in rows) / len(rows))
    return losses


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("seed", [None, 5])
def test_batches_are_those_of_a_loop_written_out(backend: str, seed: int | None) -> None:
    data = table(103)
    batches: dict[str, Any] = {"batch": 10, "epochs": 3}
    batches |= {} if seed is None else {"shuffle": True, "seed": seed}
    run = run_of(LOSS, {"w": 0, "b": 0}, rate=0.05, over=over(data, backend=backend), **batches)
    rows = list(run)
    assert run.evaluator.backend == backend  # type: ignore[union-attr]
    assert [(row.step, row.epoch) for row in rows] == [(0, None), (11, 1), (22, 2), (33, 3)]
    assert [row.value for row in rows[1:]] == pytest.approx(
        by_hand(data, 10, 3, seed, 0.05), rel=1e-12
    )
    assert (
        run.ending is not None
        and run.ending.message == "stopped after 3 epochs (33 steps), as asked"
    )


def test_steps_end_a_run_within_an_epoch() -> None:
    run = run_of(LOSS, {"w": 0, "b": 0}, over=over(table(103)), batch=10, steps=14)
    assert [(row.step, row.epoch) for row in run] == [(0, None), (11, 1), (14, 2)]


def test_an_interruption_within_an_epoch_keeps_the_best() -> None:
    run = run_of(LOSS, {"w": 0, "b": 0}, rate=0.05, over=over(table(103)), batch=1, epochs=50)
    run.stop = lambda step: step > 250
    rows = list(run)
    assert [row.step for row in rows] == [0, 103, 206]
    assert run.ending is not None and (run.ending.reason, run.ending.message) == (
        "interrupted", "interrupted after 250 steps",
    )  # fmt: skip
    assert run.best.value == min(row.value for row in rows)


@pytest.mark.parametrize("method", ["plain", "momentum", "nesterov", "adam"])
def test_all_methods_go_down(method: str) -> None:
    run = descend(
        LOSS,
        "w=0,b=0",
        data=table(200),
        reduce="mean",
        method=method,
        rate=0.02,
        batch=20,
        epochs=8,
    )
    assert run.rows[-1].value < 0.3 * run.rows[0].value


def test_a_start_without_work_left_is_refused() -> None:
    with pytest.raises(ExpressionError) as caught:
        descend("(y - w*x)**2", "w=0", data=table(10), reduce="mean", steps=1_000_000_000)
    assert caught.value.kind == "limit" and "work=" in (caught.value.hint or "")


def test_the_program_is_not_evaluated_more_often_than_there_are_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: Counter[str] = Counter()
    original = data_loss.DataLoss.__call__

    def noted(self: Any, point: Any, which: Any = None) -> Any:
        counted["whole" if which is None else "part"] += 1
        return original(self, point, which)

    monkeypatch.setattr(data_loss.DataLoss, "__call__", noted)
    descend(LOSS, "w=0,b=0", data=table(64), reduce="mean", batch=16, epochs=5)
    assert counted == {"whole": 6, "part": 20}


def test_parse_is_not_changed_by_data() -> None:
    assert parse("y - w*x").parameters == ("y", "w", "x")


# ---- second derivatives, minima, checks ---------------------------------------------------------------------------
TERMS = [
    LOSS,
    "log1p(exp(-y*(w*x + b))) + 0.01*w**2",
    "tanh(w*x + b)**2/(1 + x**2)",
    "abs(y)*sqrt(1 + (w*x + b)**2)",
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("term", TERMS)
def test_the_hessian_is_that_of_the_rows_added_up(term: str, backend: str) -> None:
    data, point = table(300), {"w": 0.3, "b": -0.2}
    found = hessian(term, point, over=over(data, "sum", backend=backend))
    rows = [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)]
    parts = [hessian(term, {**point, **row}, wrt=("w", "b")) for row in rows]
    for i in range(2):
        for k in range(2):
            terms = [part.hessian[i][k] for part in parts]
            # what is added up is right to some digits of the largest term, in blocks by other
            # formulas
            assert found.hessian[i][k] == pytest.approx(
                math.fsum(terms), abs=1e-13 * math.fsum(map(abs, terms))
            )
    assert found.over is not None and (found.over.rows, found.over.backend) == (300, backend)
    assert found.gradient["w"] == pytest.approx(
        math.fsum(part.gradient["w"] for part in parts), rel=1e-12
    )


def test_second_derivatives_of_many_rows_are_computed_in_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    original = data_loss.hessian_in

    def noted(*args: Any) -> Any:
        asked.append("row")
        return original(*args)

    monkeypatch.setattr(data_loss, "hessian_in", noted)
    assert (
        hessian(LOSS, {"w": 0.0, "b": 0.0}, over=over(table(3000), backend="llvm")).eigenvalues
        is not None
    )
    assert not asked
    hessian(LOSS, {"w": 0.0, "b": 0.0}, over=over(table(30), backend="python"))
    assert len(asked) == 30


@pytest.mark.parametrize("backend", BACKENDS)
def test_least_squares_come_out_by_minimize(backend: str) -> None:
    data = table(400)
    x, y = np.array(data["x"]), np.array(data["y"])
    slope, start = np.polyfit(x, y, 1)
    for method in ("bfgs", "newton-cg"):
        found = minimize(LOSS, {"w": 0, "b": 0}, method=method, over=over(data, backend=backend))
        assert (found.converged, found.kind, found.verdict) == (
            True, "minimum", "a local minimum: the Hessian there is positive definite",
        )  # fmt: skip
        assert (found.point["w"], found.point["b"]) == pytest.approx((slope, start), rel=1e-9)
        assert found.over is not None and found.over.backend == backend


def test_parameters_that_the_data_do_not_tell_apart_are_seen() -> None:
    found = minimize("(y - (w + v)*x)**2", {"w": 0, "v": 0}, over=over(table(4000), backend="llvm"))
    assert (found.converged, found.kind) == (True, "flat")
    assert "w - v" in found.verdict


def test_a_loss_without_a_minimum_has_none() -> None:
    # classes that a line separates: the loss falls for ever as the weight grows
    data = {"x": [-2.0, -1.0, 1.0, 2.0], "y": [-1.0, -1.0, 1.0, 1.0]}
    found = minimize("softplus(-y*w*x)", {"w": 0}, over=over(data))
    assert (found.converged, found.reason) == (False, "unattained")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_check_holds_the_loss_to_many_digits_and_to_differences(backend: str) -> None:
    found = check(
        "log1p(exp(-y*(w*x + b)))", {"w": 0.3, "b": 0.1}, over=over(table(60), backend=backend)
    )
    assert found.agrees and found.over is not None and found.over.backend == backend
    for each in found.quantities:
        assert (each.digits or 0) >= 13
        if each.name:
            assert each.difference == pytest.approx(each.computed, rel=1e-9)


def test_a_check_says_how_far_it_is() -> None:
    heard: list[int] = []
    check(LOSS, {"w": 0.3, "b": 0.1}, over=over(table(60)), watch=heard.append)
    assert heard == [*range(60), *range(60)]


def test_a_wrong_gradient_of_a_loss_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    original = data_loss.DataLoss.__call__

    def wrong(self: Any, point: Any, which: Any = None) -> Any:
        value, (first, *others) = original(self, point, which)
        return value, [first * 1.001, *others]

    monkeypatch.setattr(data_loss.DataLoss, "__call__", wrong)
    found = check(LOSS, {"w": 0.3, "b": 0.1}, over=over(table(60)))
    assert [(each.name, each.agrees) for each in found.quantities] == [
        ("", True),
        ("w", False),
        ("b", True),
    ]


def test_a_check_leaves_rows_out_and_says_where_there_is_a_kink() -> None:
    data = {"x": [1.0, 2.0, -3.0]}
    found = check("log(x + a)", {"a": 1.0}, over=over(data, skip=True))
    assert found.agrees and found.over is not None and found.over.rows == 2
    with pytest.raises(ExpressionError, match="row 3: `log`"):
        check("log(x + a)", {"a": 1.0}, over=over(data))
    kink = check("relu(x - a)", {"a": 1.0}, over=over(data))
    assert [each.message for each in kink.warnings] == [
        "`relu` has no derivative at 0; at 1 row of 3"
    ]
    assert kink.quantities[1].digits is None


@pytest.mark.parametrize("ask", [hessian, question], ids=["second derivatives", "kinks"])
def test_what_rows_leave_in_cycles_is_collected_as_they_go(
    ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "MAX_GARBAGE_OBJECTS", 1_000)
    seen: list[int] = []

    def noted(original: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            seen.append(gc.get_count()[0])
            return original(*args, **options)

        return call

    monkeypatch.setattr(data_loss, "hessian_in", noted(data_loss.hessian_in))
    monkeypatch.setattr(Single, "kinks", noted(Single.kinks))
    data = over({"x": [0.5] * 400, "y": [0.0] * 400}, "sum", backend="python")
    gc.collect()
    gc.disable()
    try:
        ask("abs(w)*abs(w)*x + y" if ask is hessian else "abs(w)*x + y", {"w": 0.0}, over=data)
    finally:
        gc.enable()
    assert len(seen) >= 400
    assert max(seen) < 3_000, max(seen)


def test_masked_numbers_are_no_numbers() -> None:
    data = {"x": np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])}
    with pytest.raises(
        ExpressionError, match="row 2: column `x`: the value of `x` is not a finite number"
    ):
        gradient("w*x", {"w": 2.0}, data=data, reduce="sum")
    assert gradient("w*x", {"w": 2.0}, data=data, reduce="sum", on_error="skip").value == 8.0
