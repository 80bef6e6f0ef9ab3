"""`--starts`: the global minima of functions that a grid shows, from starts that lead elsewhere."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import autodiff_cli
from autodiff_cli import ExpressionError


def test_the_lowest_of_two_minima() -> None:
    answer = autodiff_cli.minimize("x**4 - 3*x**2 + x", {"x": 1}, starts=20)
    low, high = (min(np.roots([4, 0, -6, 1]), key=lambda x, near=near: abs(x - near)) for near in (-1.3, 1.1))
    assert answer.point["x"] == pytest.approx(low, abs=1e-9)
    assert [end.point["x"] for end in answer.starts] == pytest.approx([low, high], abs=1e-6)
    assert sum(end.count for end in answer.starts) == 20
    assert "not ruled out" in answer.tried and answer.verdict.startswith("a local minimum")


def test_random_functions_whose_minimum_a_grid_shows() -> None:
    draw = random.Random(3)
    grid = np.linspace(-12, 12, 100_001)
    for _ in range(8):
        height, rate, middle = draw.uniform(0.5, 3), draw.uniform(2, 5), draw.uniform(-2, 2)
        text = f"{height!r}*sin({rate!r}*x) + 0.1*(x - ({middle!r}))**2"
        least = float(np.min(height * np.sin(rate * grid) + 0.1 * (grid - middle) ** 2))
        answer = autodiff_cli.minimize(text, {"x": 8}, starts=80)
        assert answer.converged and answer.value <= least + 1e-9, text


def test_bounds_constraints_and_domains_hold_at_all_starts() -> None:
    answer = autodiff_cli.minimize("sin(3*x) + log(x)/9", {"x": 1}, bounds={"x": (0.5, 9)}, starts=15)
    assert all(0.5 <= end.point["x"] <= 9 for end in answer.starts if end.converged)
    tied = autodiff_cli.minimize("x*y", {"x": 1, "y": 1}, subject_to="x**2 + y**2 = 8", starts=12)
    assert tied.value == pytest.approx(-4)
    rooted = autodiff_cli.minimize("sqrt(x) - x/5 + (x-9)**2/50", {"x": 9}, starts=12)
    assert math.isfinite(rooted.value) and rooted.converged


def test_a_value_that_falls_without_bound_has_no_minimum() -> None:
    answer = autodiff_cli.minimize("x**3 - 3*x", {"x": 2}, starts=10)
    assert not answer.converged and answer.reason == "unbounded"
    assert any(end.converged and end.value == pytest.approx(-2) for end in answer.starts)


def test_starts_are_drawn_by_the_seed() -> None:
    text = "sin(x)*exp(-x**2/50)"
    first, again, other = (autodiff_cli.minimize(text, {"x": 10}, starts=6, seed=seed) for seed in (1, 1, 2))
    assert first.to_dict() == again.to_dict()
    assert first.starts != other.starts


@pytest.mark.parametrize("starts", [0, 1, -3, 10_001])
def test_numbers_of_starts_that_are_refused(starts: int) -> None:
    with pytest.raises(ExpressionError, match="starts"):
        autodiff_cli.minimize("x**2", {"x": 1}, starts=starts)
