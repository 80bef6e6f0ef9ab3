"""Tests of the function from batches to batches: it knows its schema, travels, and is compiled
once.
"""

from __future__ import annotations

import pickle
import threading
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import autodiff_cli
from autodiff_cli import ExpressionError, rows
from autodiff_cli.compiled import kernels
from autodiff_cli.compiled.columns_io import reason
from autodiff_cli.data.rows import Rows, version
from autodiff_cli.engine.numbers import budget

TABLE = {"id": ["a", "b", "c"], "x": [1.0, -1.0, None], "n": [1, 2, 3]}


def batch() -> pa.RecordBatch:
    return pa.record_batch(TABLE)


def test_a_batch_of_answers() -> None:
    answers = rows("sqrt(x)*n", keep="id")(batch())
    assert answers.schema.names == ["value", "d_x", "d_n", "error", "id"]
    assert answers.to_pydict()["value"] == [1.0, None, None]
    assert answers.to_pydict()["error"] == [
        None, "domain: `sqrt` is undefined at -1; its domain: argument >= 0 (here x = -1)",
        "point: column `x`: it is empty",
    ]  # fmt: skip


@pytest.mark.parametrize("question", ["grad", "jacobian", "hessian"])
@pytest.mark.parametrize("backend", ["llvm", "numpy", "python", None])
def test_the_schema_is_known_beforehand(question: str, backend: str | None) -> None:
    asked = rows("x*n", question=question, keep=True, backend=backend)
    answers = asked(batch())
    assert answers.schema.equals(asked.schema(batch().schema), check_metadata=True)
    assert answers["value"].to_pylist() == [1.0, -2.0, None] and answers["d_x"].to_pylist() == [
        1.0,
        2.0,
        None,
    ]


def test_several_outputs_have_numbers() -> None:
    answers = rows("x*n, x + n", question="jacobian")(batch())
    assert answers.schema.names == ["value1", "value2", "d1_x", "d1_n", "d2_x", "d2_n", "error"]
    assert answers.schema.field("d2_x").metadata == {b"meaning": b"the derivative of x + n by x"}
    assert [column.to_pylist()[1] for column in answers.columns[:6]] == [
        -2.0,
        1.0,
        2.0,
        -1.0,
        1.0,
        1.0,
    ]


def test_it_travels_as_text() -> None:
    asked = rows(
        "x*n*r", at={"r": 2}, wrt="x", keep=["id"], columns={"x": "n", "n": "x"}, backend="numpy"
    )
    sent = pickle.dumps(asked)
    assert len(sent) < 500
    again = pickle.loads(sent)  # noqa: S301
    assert again == asked and hash(again) == hash(asked) and repr(again) == "rows('x*n*r')"
    assert again(batch()).equals(asked(batch()))


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = pickle.dumps(rows("x"))
    monkeypatch.setattr("autodiff_cli.__version__", "9.9")
    with pytest.raises(ExpressionError, match=r"come from autodiff .*, and this is 9\.9"):
        pickle.loads(sent)  # noqa: S301
    assert version() == "9.9"


def test_a_process_compiles_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    ready = kernels.kernel
    monkeypatch.setattr(kernels, "kernel", lambda *args: made.append(args) or ready(*args))
    asked = rows("x*n + 0.123456789")
    copies = [pickle.loads(pickle.dumps(asked)) for _ in range(4)]  # noqa: S301
    found: list[list[float | None]] = []
    threads = [
        threading.Thread(
            target=lambda each=each: found.extend(
                each(batch())["value"].to_pylist() for _ in range(20)
            )
        )
        for each in copies
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert found == [found[0]] * 80


def test_each_row_has_its_own_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many rows have to be asked about, none is refused for what the others took."""
    monkeypatch.setattr(budget, "STEPS", 1_000)
    monkeypatch.setattr(budget, "STEPS_A_CHARACTER", 1)
    with budget.use_budget():
        answers = rows("log(x) + sqrt(x)*x")(pa.record_batch({"x": [-1.0] * 2_000}))
    assert {text.split(":")[0] for text in answers["error"].to_pylist()} == {"domain"}


def test_a_table_gives_a_table() -> None:
    table = pa.Table.from_batches([batch(), batch()])
    answers = rows("n**2")(table)
    assert isinstance(answers, pa.Table) and answers["value"].to_pylist() == [1.0, 4.0, 9.0] * 2
    empty = rows("n**2")(table.slice(0, 0))
    assert empty.num_rows == 0 and empty.schema.names == ["value", "d_n", "error"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"text": "x*"}, "missing after"),
        ({"text": "x", "backend": "cuda"}, "`backend` cannot be `cuda`"),
        ({"text": "x", "question": "taylor"}, "`taylor` is not a question about rows"),
        ({"text": "x", "at": {"r": "oops"}}, "`oops` has no value"),
    ],
)
def test_what_cannot_be_is_refused_at_once(given: dict[str, object], told: str) -> None:
    with pytest.raises(ExpressionError, match=told):
        autodiff_cli.rows(**given)  # type: ignore[arg-type]


def test_columns_that_do_not_fit_are_refused() -> None:
    for asked, told in (
        (rows("q"), "`q` has no value"),
        (rows("id"), "holds text"),
        (rows("x", keep="y"), "no column `y`"),
    ):
        with pytest.raises(ExpressionError, match=told):
            asked(batch())
    with pytest.raises(ExpressionError, match="two columns `x`"):
        rows("x")(pa.RecordBatch.from_arrays([pa.array([1.0])] * 2, names=["x", "x"]))
    assert isinstance(rows("q"), Rows)


def test_reasons_are_the_same_for_rows_that_differ() -> None:
    def why(message: str, kind: str = "domain") -> str:
        return reason(ExpressionError(kind, message))

    assert (
        why("`log` is undefined at -1.5e+10; its domain: argument > 0 (here x = 3)")
        == "domain: `log` is undefined at …"
    )
    assert why("`log10` at (1, 2) is too large") == "domain: `log10` at (…, …) is too large"
    assert why("column `x2`: the value of `x2` cannot be used: `a` has no value here", "point") == (
        "point: column `x2`: the value of `x2` cannot be used"
    )


@pytest.mark.parametrize(
    ("sources", "total", "size", "rows", "read", "left"),
    [
        (1, 4_000, None, 1_000, 0, ", 30 s left"),
        (1, None, 2_000, 1_000, 500, ", 30 s left"),
        (1, None, None, 1_000, 500, ""),  # as of standard input
        (1, None, 0, 1_000, 500, ""),
        (1, 1_000, None, 1_000, 0, ""),
        (3, 4_000, 2_000, 1_000, 500, ""),  # the first of several files says nothing of the others
    ],
)
def test_what_is_left_is_said_where_that_is_known(
    sources: int,
    total: int | None,
    size: int | None,
    rows: int,
    read: int,
    left: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from autodiff_cli.data import pipeline

    files: Any = SimpleNamespace(
        sources=[None] * sources, first=SimpleNamespace(total=total, size=size)
    )
    monkeypatch.setattr(pipeline.time, "monotonic", lambda: 110.0)
    assert pipeline.rate(files, rows, read, 100.0) == f", 100 a second{left}"
