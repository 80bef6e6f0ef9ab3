"""Worst cases and tolerances in `propagate`, held against the corners of the box and points inside
it.
"""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from autodiff_cli.capabilities.propagate.propagate import propagate
from autodiff_cli.capabilities.propagate.worst_case import limits_of
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.measured_units import measured_value
from autodiff_cli.questions.measured_value import MeasuredValue
from running import autodiff


def measured(text: str) -> MeasuredValue:
    value = measured_value("x", text)
    assert isinstance(value, MeasuredValue)
    return value


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("50 +0.025 -0", (50.0, 50.0, 50.025)),
        ("50 +0/-0.016", (49.984, 50.0, 50.0)),
        ("50 +0.025/-0.010", (49.99, 50.0, 50.025)),
        ("50±0.1", (49.9, 50.0, 50.1)),
        ("50±2%", (49.0, 50.0, 51.0)),
        ("uniform(1, 3)", (1.0, 2.0, 3.0)),
        ("50 +0.025 -0 mm", (0.05, 0.05, 0.050025)),
        ("25±1 °C", (297.15, 298.15, 299.15)),
    ],
)
def test_limits(text: str, limits: tuple[float, ...]) -> None:
    assert limits_of("x", measured(text)) == pytest.approx(limits, rel=1e-12)


@pytest.mark.parametrize("text", ["50(1)", "50±0.1 (k=2)", "normal(1, 2)", "lognormal(0, 1)"])
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError, match="has no limits"):
        limits_of("x", measured(text))


def test_a_tolerance_is_uniform_between_its_limits() -> None:
    value = measured("50 +0.025 -0 mm")
    assert float(value) == pytest.approx(0.0500125, rel=1e-12)
    assert value.uncertainty == pytest.approx(0.025e-3 / math.sqrt(12), rel=1e-9)
    with pytest.raises(ExpressionError, match="on both sides"):
        measured("50 +0 -0")


FORMULAS: list[tuple[str, Callable[..., float]]] = [
    ("x*y", lambda x, y: x * y),
    ("x**2 - y", lambda x, y: x * x - y),
    ("sin(x)/y", lambda x, y: math.sin(x) / y),
    ("exp(-x)*y**2", lambda x, y: math.exp(-x) * y * y),
    ("(x - 1)**2 + 0*y", lambda x, y: (x - 1) ** 2),
]


@pytest.mark.parametrize(("text", "function"), FORMULAS)
def test_the_proven_range_has_all_values_and_little_more(
    text: str, function: Callable[..., float]
) -> None:
    pytest.importorskip("flint")
    draw = random.Random(text)
    for _ in range(3):
        x, y = draw.uniform(0.5, 2), draw.uniform(1, 3)
        dx, dy = draw.uniform(0.01, 0.6), draw.uniform(0.01, 0.6)
        point = {"x": measured_value("x", f"{x}±{dx}"), "y": measured_value("y", f"{y} +{dy} -0")}
        (result,) = propagate(text, point, worst_case=True).results
        case = result.worst_case
        assert case is not None and case.proven_low is not None and case.proven_high is not None
        grid = [k / 40 for k in range(41)]
        values = [
            function(x - dx + 2 * dx * a, y + dy * b) for a, b in itertools.product(grid, grid)
        ]
        assert case.proven_low <= min(values) and max(values) <= case.proven_high
        assert case.proven_high - case.proven_low <= 1.1 * (max(values) - min(values))


def test_the_first_order_is_the_sum_of_sensitivities_times_limits() -> None:
    point = {
        name: measured_value(name, text) for name, text in (("x", "3±0.1"), ("y", "2 +0.2/-0.05"))
    }
    (result,) = propagate("5*x - 4*y", point, worst_case=True).results
    case = result.worst_case
    assert case is not None
    assert (case.below, case.above) == pytest.approx((0.5 + 0.8, 0.5 + 0.2))
    assert (case.low, case.high) == pytest.approx((7 - 1.3, 7 + 0.7))
    assert (case.proven_low, case.proven_high) == pytest.approx((5.7, 7.7))


def test_no_range_is_called_proven_over_a_pole_or_of_equations() -> None:
    for arguments in (
        ["1/x", "--at", "x=0.5±1"],
        ["x*exp(x) = a", "--for", "x", "--at", "a=1.0±0.1"],
    ):
        ran = autodiff("propagate", *arguments, "--worst-case", "--json")
        (result,) = json.loads(ran.out)["results"]
        assert (
            result["worst_case"]["proven_low"] is None and result["worst_case"]["low"] is not None
        )


def test_a_page_has_the_formula_the_units_and_the_notes(tmp_path: Path) -> None:
    page = tmp_path / "budget.html"
    arguments = [
        "C = tau/R",
        "--at",
        "tau=8.2±0.3 ms,R=4.7±0.1 kΩ",
        "--in",
        "µF",
        "--worst-case",
        "--title",
        "A <b>",
    ]
    assert autodiff("propagate", *arguments, "--output", str(page)).code == 0
    text = page.read_text("utf-8")
    assert (
        "<math" in text
        and "1.745(74) µF" in text
        and "0.212766 µF/ms" in text
        and "A &lt;b&gt;" in text
    )
    assert "taken as standard uncertainties" in text
