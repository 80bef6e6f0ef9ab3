"""`grad --value-only`: values without derivatives, at one point, in streams, rows, sweeps, losses
and from Python.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autodiff_cli import gradient
from autodiff_cli.capabilities.derivatives.gradient import Programs
from autodiff_cli.engine.run import doubles
from autodiff_cli.errors import ExpressionError
from running import autodiff

PERCEPTRON = (
    "h1 = tanh(0.5*x - 0.2*y + 0.1); h2 = tanh(-0.3*x + 0.8*y); o = tanh(0.7*h1 + 0.4*h2 - 0.1)"
)


def perceptron(x: float, y: float) -> float:
    h1, h2 = math.tanh(0.5 * x - 0.2 * y + 0.1), math.tanh(-0.3 * x + 0.8 * y)
    return math.tanh(0.7 * h1 + 0.4 * h2 - 0.1)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1,2\n0.5,-1\n0,0\n")
    return path


POINTS = [(1.0, 2.0), (0.5, -1.0), (0.0, 0.0)]


@pytest.mark.parametrize(
    "options", [(), ("--wide",), ("--wide", "--backend", "numpy"), ("--wide", "--backend", "llvm")]
)
def test_rows_of_a_trained_model(rows: Path, options: tuple[str, ...]) -> None:
    result = autodiff(
        "grad", PERCEPTRON, "--points", str(rows), "--value-only", "--format", "jsonl", *options
    )
    records = [json.loads(line) for line in result.out.splitlines()]
    assert [record["value"] for record in records] == pytest.approx(
        [perceptron(*at) for at in POINTS], rel=1e-15
    )
    assert all(not any(name.startswith("d_") for name in record) for record in records)


def test_no_derivative_has_to_exist() -> None:
    answer = gradient("sqrt(x)*y", {"x": 0.0, "y": 2.0}, value_only=True)
    assert (answer.value, answer.gradient, answer.warnings) == (0.0, {}, ())
    with pytest.raises(ExpressionError, match="derivative is infinite"):
        gradient("sqrt(x)*y", {"x": 0.0, "y": 2.0})
    with pytest.raises(ExpressionError, match="undefined at -1"):
        gradient("sqrt(x)*y", {"x": -1.0, "y": 2.0}, value_only=True)
    assert gradient("abs(x) + floor(x)", {"x": 0.0}, value_only=True).warnings == ()


def test_lost_digits_of_the_value_are_said() -> None:
    (warning,) = gradient("(1 - cos(x))/x**2", {"x": 1e-8}, value_only=True).warnings
    assert warning.message.startswith("the value has no reliable digit")


def test_a_stream() -> None:
    lines = (
        'x**2\tx=3\nsqrt(x)\tx=0\n{"expr": "x*y", "at": {"x": 1, "y": 2}, "wrt":'
        ' ["x"]}\nlog(x)\tx=0\n'
    )
    result = autodiff("grad", "--value-only", stdin=lines)
    records = [json.loads(line) for line in result.out.splitlines()]
    assert [record.get("value") for record in records] == [9.0, 0.0, 2.0, None]
    # what a record asks for by itself it gets
    assert [record.get("gradient") for record in records] == [{}, {}, {"x": 2.0}, None]
    assert result.code == 4


def test_a_loss_over_data(rows: Path) -> None:
    result = autodiff(
        "grad",
        "(y - w*x)**2",
        "--data",
        str(rows),
        "--reduce",
        "sum",
        "--at",
        "w=2",
        "--value-only",
        "--json",
    )
    record = json.loads(result.out)
    assert record["value"] == pytest.approx(sum((y - 2 * x) ** 2 for x, y in POINTS))
    assert record["gradient"] == {}


@pytest.mark.parametrize("other", ["--wrt=x", "--relative", "--sort"])
def test_what_it_excludes(other: str) -> None:
    result = autodiff("grad", "x*y", "--at", "x=1,y=2", "--value-only", other)
    assert result.code == 2
    assert f"`--value-only` and `{other.partition('=')[0]}` exclude each other" in result.err


def test_from_python() -> None:
    columns = {"x": np.array([1.0, 0.5, 0.0]), "y": np.array([2.0, -1.0, 0.0])}
    answers: Any = gradient(PERCEPTRON, columns, value_only=True)
    assert [*answers] == ["value", "error"]
    assert answers["value"] == pytest.approx([perceptron(*at) for at in POINTS], rel=1e-15)
    swept: Any = gradient(PERCEPTRON, "x=0:1:0.5,y=2", value_only=True)
    assert swept["value"] == pytest.approx([perceptron(x, 2.0) for x in (0.0, 0.5, 1.0)], rel=1e-15)
    with pytest.raises(ExpressionError, match="exclude each other"):
        gradient("x*y", {"x": 1, "y": 2}, value_only=True, wrt="x")


def test_no_adjoints_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError("a backward sweep")

    programs = Programs(complete=False)
    programs.gradient("x**2 + y", {"x": 3.0, "y": 1.0}, ())
    monkeypatch.setattr(doubles, "adjoints", refuse)
    assert programs.gradient("x**2 + y", {"x": 2.0, "y": 1.0}, ()).value == 5.0


@pytest.mark.parametrize("wrt", [(), ("x",)])
def test_a_program_with_names_is_parsed_once(
    wrt: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    # with `--wrt` each row parsed the program again, thirty times as slow
    programs, program = Programs(complete=False), "h = tanh(x + y); h*x"
    first = programs.gradient(program, {"x": 1.0, "y": 2.0}, wrt)

    def refuse(*args: object, **options: object) -> None:
        raise AssertionError("the program is parsed again")

    monkeypatch.setattr("autodiff_cli.capabilities.derivatives.gradient.pose_with_units", refuse)
    assert programs.gradient(program, {"x": 1.0, "y": 2.0}, wrt) == first


def test_a_bound_name_is_a_variable_where_it_is_asked_for() -> None:
    assert Programs(complete=False).gradient("a = 2; a*x", {"x": 3.0}, ("a",)).gradient == {
        "a": 3.0
    }
