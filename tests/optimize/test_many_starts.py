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
    low, high = (
        min(np.roots([4, 0, -6, 1]), key=lambda x, near=near: abs(x - near)) for near in (-1.3, 1.1)
    )
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
    answer = autodiff_cli.minimize(
        "sin(3*x) + log(x)/9", {"x": 1}, bounds={"x": (0.5, 9)}, starts=15
    )
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
    first, again, other = (
        autodiff_cli.minimize(text, {"x": 10}, starts=6, seed=seed) for seed in (1, 1, 2)
    )
    assert first.to_dict() == again.to_dict()
    assert first.starts != other.starts


@pytest.mark.parametrize("starts", [0, 1, -3, 10_001])
def test_numbers_of_starts_that_are_refused(starts: int) -> None:
    with pytest.raises(ExpressionError, match="starts"):
        autodiff_cli.minimize("x**2", {"x": 1}, starts=starts)


# ---- what is proven over the bounds
@pytest.mark.parametrize(
    ("text", "point", "bounds", "least"),
    [
        ("x**4 - 3*x**2 + x", {"x": 1}, {"x": (-3, 3)}, -3.5139050389347894),
        ("abs(x) + x**2", {"x": 1}, {"x": (-5, 4)}, 0),
        (
            "(x**2 + y - 11)**2 + (x + y**2 - 7)**2",
            {"x": 1, "y": 1},
            {"x": (-5, 5), "y": (-5, 5)},
            0,
        ),
        ("x*y", {"x": 1, "y": 1}, {"x": (-1, 2), "y": (-3, 3)}, -6),
    ],
)
def test_a_minimum_over_bounds_is_proven(
    text: str, point: dict, bounds: dict, least: float
) -> None:
    answer = autodiff_cli.minimize(text, point, bounds=bounds, starts=8)
    assert answer.value == pytest.approx(least, abs=1e-9) and answer.proven == "global"
    assert (
        "the global minimum over the bounds: proven, no value there is lower by more than 1e-"
        in answer.tried
    )


@pytest.mark.parametrize(
    ("text", "point", "more"),
    [
        ("x**4 - 3*x**2 + x", {"x": 1}, {}),  # no box
        ("x**4 - 3*x**2 + x", {"x": 2.9}, {"bounds": {"x": (-3, None)}}),
        ("x**2 + y**2", {"x": 1, "y": 1}, {"bounds": {"x": (-3, 3)}}),
        (
            "x**2 + y**2",
            {"x": 1, "y": 1},
            {"bounds": {"x": (-3, 3), "y": (-3, 3)}, "subject_to": "x + y >= 1"},
        ),
        # it falls without bound at a pole
        ("1/(x - 0.3) + x**2", {"x": 2}, {"bounds": {"x": (-3, 3)}}),
    ],
)
def test_where_nothing_is_proven_a_lower_minimum_is_not_ruled_out(
    text: str, point: dict, more: dict
) -> None:
    answer = autodiff_cli.minimize(text, point, starts=3, **more)
    assert answer.proven == "" and "proven" not in answer.tried and "not ruled out" in answer.tried


def test_a_narrow_minimum_that_no_search_finds_is_no_proof() -> None:
    answer = autodiff_cli.minimize(
        "x**2 - 3*exp(-1e8*(x - 1.2345)**2)", {"x": -1}, bounds={"x": (-2, 2)}, starts=3
    )
    assert answer.value > -1 and answer.proven == ""


def test_proofs_agree_with_a_grid_of_random_functions() -> None:
    draw = random.Random(7)
    proven = 0
    for _ in range(6):
        height, rate, middle = draw.uniform(0.5, 3), draw.uniform(1, 4), draw.uniform(-2, 2)
        text = f"{height!r}*sin({rate!r}*x) + 0.1*(x - ({middle!r}))**2"
        answer = autodiff_cli.minimize(text, {"x": 4}, bounds={"x": (-6, 6)}, starts=2)
        grid = np.linspace(-6, 6, 100_001)
        least = float(np.min(height * np.sin(rate * grid) + 0.1 * (grid - middle) ** 2))
        assert (answer.proven == "global") == (answer.value <= least + 1e-7), text
        proven += answer.proven == "global"
    assert 0 < proven < 6


# ---- fits
def test_a_fit_from_several_starts_ends_at_the_least_and_lists_the_others() -> None:
    draw = random.Random(4)
    t = [k / 7 for k in range(60)]
    y = [2 * math.sin(5.3 * x + 1) + draw.gauss(0, 0.1) for x in t]
    answer = autodiff_cli.fit("y = a*sin(w*t + p)", {"t": t, "y": y}, {"w": 1, "p": 0}, starts=8)
    assert answer.converged and abs(answer.point["w"]) == pytest.approx(5.3, abs=0.01)
    assert answer.starts is not None
    here, *others = answer.starts
    assert here.rss == answer.rss and all(here.rss <= end.rss for end in others if end.converged)
    assert sum(end.count for end in answer.starts) == 8
    assert answer.tried.startswith("8 starts: ") and "not ruled out" in answer.tried
    for end in others[:3]:  # the sums of squares are those of the points
        point = {**end.point}
        rss = sum(
            (yk - point["a"] * math.sin(point["w"] * x + point["p"])) ** 2
            for x, yk in zip(t, y, strict=True)
        )
        assert end.rss == pytest.approx(rss, rel=1e-6)


def test_a_linear_fit_has_one_end_and_counts_have_several_starts_too() -> None:
    columns = {"x": [0, 1, 2, 3, 4], "y": [1, 3, 4.9, 7.1, 9], "n": [1, 2, 4, 9, 15]}
    assert autodiff_cli.fit("y = a + b*x", columns, starts=9).tried == (
        "the formula is linear in all parameters: from every start the search ends here"
    )
    counts = autodiff_cli.fit("n = exp(a + b*x)", columns, loss="poisson", starts=9)
    assert (
        counts.converged and counts.starts is not None and counts.starts[0].rss == counts.deviance
    )
