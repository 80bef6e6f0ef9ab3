"""Fits of shapes by name find their starts in the data: where peaks are, and how wide."""

from __future__ import annotations

import math
import random

import pytest

import autodiff_cli
from autodiff_cli.capabilities.optimize.shape_starts import shape_calls


def peak(x: float, height: float, place: float, width: float) -> float:
    return height * math.exp(-((x - place) ** 2) / (2 * width**2))


def test_two_narrow_peaks_of_different_heights_over_a_line_are_found() -> None:
    draw = random.Random(5)
    x = [400 + k / 30 for k in range(300)]
    y = [
        peak(t, 300, 403.2, 0.08) + peak(t, 20, 407, 0.05) + 10 + 0.3 * t + draw.gauss(0, 1)
        for t in x
    ]
    text = "y = gaussian(x, A, mu, sigma) + gaussian(x, B, nu, tau) + b + m*x"
    answer = autodiff_cli.fit(text, {"x": x, "y": y})
    assert answer.converged
    places = sorted(
        [(answer.point["mu"], answer.point["sigma"]), (answer.point["nu"], answer.point["tau"])]
    )
    assert places == [
        (pytest.approx(403.2, abs=2e-3), pytest.approx(0.08, abs=2e-3)),
        (pytest.approx(407, abs=2e-2), pytest.approx(0.05, abs=2e-2)),
    ]


@pytest.mark.parametrize("seed", range(4))
def test_a_peak_or_a_dip_is_found_wherever_it_is(seed: int) -> None:
    draw = random.Random(seed)
    low, size = draw.choice([(0.0, 1.0), (4000.0, 1e-3), (-50.0, 10.0)])
    place, width, height = (
        low + size * draw.uniform(0.1, 0.9),
        size * draw.uniform(0.02, 0.08),
        draw.choice([7, -2e3]),
    )
    x = [low + size * k / 99 for k in range(100)]
    y = [height / (1 + ((t - place) / width) ** 2) + draw.gauss(0, abs(height) / 200) for t in x]
    answer = autodiff_cli.fit("y = lorentzian(x, A, x0, gamma)", {"x": x, "y": y})
    assert answer.converged
    assert answer.point["x0"] == pytest.approx(place, abs=width / 20)
    assert abs(answer.point["gamma"]) == pytest.approx(width, rel=0.1)


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("y = logistic(x, L, k, x0)", {"L": 5.0, "k": 1.3, "x0": 4.0}),
        ("y = hill(x, Vmax, K, n)", {"Vmax": 5.0, "K": 3.0, "n": 2.5}),
        ("y = michaelis_menten(x, Vmax, Km)", {"Vmax": 5.0, "Km": 3.0}),
    ],
)
def test_growth_and_saturation_are_found(text: str, truth: dict[str, float]) -> None:
    x = [k / 4 for k in range(40)]
    formula = text.removeprefix("y = ")
    y = [autodiff_cli.gradient(formula, {"x": t, **truth}).value for t in x]
    answer = autodiff_cli.fit(text, {"x": x, "y": y})
    assert answer.converged and answer.point == pytest.approx(truth, rel=1e-6)


def test_a_call_is_a_shape_only_where_the_program_has_no_function_of_that_name() -> None:
    (call,) = shape_calls("y = gaussian(x, A, mu, sigma) + b", ["x"], ["mu", "sigma"])
    assert call.names == {"mu": "mu", "sigma": "sigma"} and call.column == "x"
    assert not shape_calls(
        "gaussian(x, A, mu, s) = A*x; y = gaussian(x, A, mu, s)", ["x"], ["mu", "s"]
    )
    assert not shape_calls("y = gaussian(2*x, A, mu, sigma)", ["x"], ["mu", "sigma"])
