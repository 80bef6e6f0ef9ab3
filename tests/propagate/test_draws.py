"""Inputs that are given by draws of their joint distribution: NumPy on the same columns."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_cli
from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.propagate.propagate import propagate
from running import autodiff

ROWS = 3000


def table() -> dict[str, Any]:
    """Draws that are correlated, skewed and not normal."""
    draw = np.random.default_rng(3)
    a = draw.gamma(2.0, 0.5, ROWS)
    return {"a": a, "b": 3 + 0.5 * a**2 + 0.1 * draw.standard_normal(ROWS), "other": np.zeros(ROWS)}


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    path = tmp_path / "chain.csv"
    columns = table()
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    text = "\n".join([",".join(columns), *(",".join(map(repr, row)) for row in rows)])
    path.write_text(text + "\n", encoding="utf-8")
    return path


def test_moments_of_draws_to_first_order(chain: Path) -> None:
    answer = autodiff_cli.propagate("a*b", draws=str(chain))
    a, b = table()["a"], table()["b"]
    slopes = np.array([np.mean(b), np.mean(a)])
    assert answer.results[0].value == pytest.approx(np.mean(a) * np.mean(b), rel=1e-13)
    assert answer.results[0].uncertainty == pytest.approx(
        math.sqrt(slopes @ np.cov(a, b) @ slopes), rel=1e-12
    )
    assert answer.correlation["a"]["b"] == pytest.approx(np.corrcoef(a, b)[0, 1], rel=1e-12)
    assert answer.results[0].dof == math.inf and answer.inputs["a"].distribution.family == "draws"


def test_as_many_samples_as_rows_are_the_rows_in_their_order() -> None:
    columns = table()
    a, b = columns["a"], columns["b"]
    drawn = propagate("a/b", draws={"a": a, "b": b}, samples=ROWS, seed=9).results[0].drawn
    assert drawn is not None
    assert drawn.mean == pytest.approx(np.mean(a / b), rel=1e-13)
    assert drawn.deviation == pytest.approx(np.std(a / b, ddof=1), rel=1e-12)
    tail = (ROWS - round(0.95 * ROWS)) // 2
    assert drawn.symmetric == (
        np.sort(a / b)[tail - 1],
        np.sort(a / b)[tail - 1 + round(0.95 * ROWS)],
    )


def test_other_samples_are_whole_rows_by_chance() -> None:
    columns = table()
    a, b = columns["a"], columns["b"]

    def drawn(seed: int) -> Any:
        return (
            propagate("a/b + c", {"c": "0±0.1"}, draws={"a": a, "b": b}, samples=100_000, seed=seed)
            .results[0]
            .drawn
        )

    one, again, other = drawn(1), drawn(1), drawn(2)
    assert one == again and one != other
    wanted = math.hypot(float(np.std(a / b)), 0.1)
    assert abs(one.mean - np.mean(a / b)) < 5 * wanted / math.sqrt(1e5)
    assert one.deviation == pytest.approx(wanted, rel=0.02)
    # columns by themselves would have this one
    apart = float(np.std(a / np.random.default_rng(1).permutation(b)))
    assert abs(one.deviation - math.hypot(apart, 0.1)) > 0.2 * wanted


def test_terms_of_second_order_have_the_moments_of_the_draws() -> None:
    x = table()["a"] + 1
    m, s = np.mean(x), np.std(x, ddof=1)
    third, fourth = (np.mean(((x - m) / s) ** k) for k in (3, 4))
    second = propagate("x**2", draws={"x": x}).results[0].second_order
    assert second is not None and second.shift == pytest.approx(s**2, rel=1e-12)
    variance = 4 * m**2 * s**2 + 4 * m * s**3 * third + s**4 * (fourth - 1)
    assert second.uncertainty == pytest.approx(math.sqrt(variance), rel=1e-12)


def test_draws_beside_other_inputs_and_in_equations() -> None:
    columns = table()
    mixed = propagate(
        "a + c + d", {"c": "1±0.2", "d": "2±0.1"}, correlation={("c", "d"): 0.5}, draws=columns
    )
    wanted = np.var(columns["a"], ddof=1) + 0.04 + 0.01 + 2 * 0.5 * 0.2 * 0.1
    assert mixed.results[0].uncertainty == pytest.approx(math.sqrt(wanted), rel=1e-12)
    drawn = (
        propagate("x**3 = a", draws={"a": columns["a"]}, unknowns=["x"], samples=ROWS)
        .results[0]
        .drawn
    )
    assert drawn is not None and drawn.mean == pytest.approx(
        np.mean(np.cbrt(columns["a"])), rel=1e-9
    )


@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        (["--correlation", "a:b=0.5"], "the correlations of `a` are those of its draws", 2),
        (["--at", "a=2"], "`a` has a value in `--at`, and is a column of the draws", 2),
        (["--data", "chain.csv"], "`--draws` and `--data` exclude each other", 2),
        (["--points", "chain.csv"], "`--draws` and many points do not go together", 2),
    ],
)
def test_what_draws_do_not_go_with(
    chain: Path, options: list[str], message: str, code: int
) -> None:
    run = autodiff("propagate", "a*b", "--draws", "chain.csv", *options, folder=chain.parent)
    assert run.code == code and message in run.err and "hint:" in run.err


def test_one_draw_says_nothing() -> None:
    with pytest.raises(
        ExpressionError, match="`a` has 1 draw, which does not give its uncertainty"
    ):
        propagate("2*a", draws={"a": [1.0]})
