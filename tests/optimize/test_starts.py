"""Fits without starts: certified minima of NIST, and formulas of students."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import autodiff_cli
from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.optimize import starts
from running import autodiff

NIST = Path(__file__).parents[1] / "corpora" / "nist"
PROBLEMS = {
    problem["name"]: problem
    for problem in map(
        json.loads, (NIST / "problems.jsonl").read_text(encoding="utf-8").splitlines()
    )
}
SLOW = {"ENSO", "Thurber", "Bennett5", "MGH09"}
"""Problems of which a fit takes 1 to 2 s; they end at the certified minimum too."""


def columns_of(name: str) -> dict[str, list[float]]:
    with open(NIST / f"{name}.csv", encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    return {column: [float(row[column]) for row in rows] for column in rows[0]}


@pytest.mark.parametrize("name", sorted({*PROBLEMS} - SLOW))
def test_the_certified_minimum_is_found_without_a_start(name: str) -> None:
    answer = autodiff_cli.fit(PROBLEMS[name]["formula"], columns_of(name))
    assert answer.converged
    assert answer.rss == pytest.approx(float(PROBLEMS[name]["rss"]), rel=1e-6, abs=1e-19)
    assert answer.warnings[0].kind == "note" and answer.warnings[0].message.startswith(
        "started at b"
    )


@pytest.mark.parametrize("seed", [2, 3])
def test_peaks_that_overlap_are_found_in_the_residuals(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = starts.StartDraws
    monkeypatch.setattr(starts, "StartDraws", lambda model, _, names: own(model, seed, names))
    answer = autodiff_cli.fit(
        PROBLEMS["Gauss3"]["formula"], columns_of("Gauss3"), intervals="linear"
    )
    assert answer.rss == pytest.approx(float(PROBLEMS["Gauss3"]["rss"]), rel=1e-6)
    begun = dict(re.findall(r"(b\d) = (-?[\d.]+)", answer.warnings[0].message))
    # neither both at one peak, from where the search comes there by luck
    assert sorted(float(begun[name]) for name in ("b4", "b7")) == pytest.approx(
        [111.6, 147.8], abs=10
    )


def test_a_time_constant_is_found_and_the_start_is_said() -> None:
    rows = "t [s],U [V]\n0,5\n1,3.1\n2,1.8\n3,1.15\n4,.7\n"
    result = autodiff("fit", "U = U0*exp(-t/tau)", "--data", "-", "--format", "plain", stdin=rows)
    assert result.code == 0
    assert "note: started at tau = 2 s; `--at tau=…` chooses another\n" in result.err
    # Gauss and Newton by hand from there
    again = autodiff(
        "fit", "U = U0*exp(-t/tau)", "--data", "-", "--at", "tau=2", "--json", stdin=rows
    )
    assert json.loads(again.out)["parameters"]["tau"] == pytest.approx(2.0184, abs=5e-5)
    assert "started at" not in again.err


@pytest.mark.parametrize("factor", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("y = a*exp(-t/tau)", {"tau": 2.0}),
        ("y = 2*pi*sqrt(t/g)", {"g": 9.81}),
        ("y = a*t/(K + t)", {"K": 3.0}),
    ],
)
def test_starts_are_of_the_scale_of_the_columns(
    text: str, truth: dict[str, float], factor: float
) -> None:
    ((name, x),) = truth.items()
    t = [0.5, 1.0, 2.0, 3.0, 5.0, 8.0]
    values = [
        autodiff_cli.gradient(text.removeprefix("y = "), {"t": at, "a": 1.5, name: x}).value
        for at in t
    ]
    answer = autodiff_cli.fit(text, {"t": [at * factor for at in t], "y": values})
    assert answer.converged
    assert answer.point[name] == pytest.approx(x * factor, rel=1e-6)


def test_a_formula_that_has_no_value_anywhere_asks_for_a_start() -> None:
    data = {"x": [1.0, 2, 3], "y": [1.0, 2, 3]}
    with pytest.raises(
        ExpressionError, match="`k` has no start, and the formula has no value at those"
    ) as caught:
        autodiff_cli.fit("y = log(-exp(k) - x**2)", data)
    assert caught.value.kind == "missing_value"


def test_a_start_that_is_given_is_taken_and_only_the_other_is_looked_for() -> None:
    answer = autodiff_cli.fit(PROBLEMS["MGH10"]["formula"], columns_of("MGH10"), {"b3": 350})
    assert answer.converged and answer.warnings[0].message.startswith("started at b2 = ")


ARRHENIUS = {
    "T": [300.0, 320, 340, 360, 380, 400],
    "k": [
        6.983314149e-8,
        1.253396301e-6,
        1.61301351e-5,
        1.618254216e-4,
        1.260775977e-3,
        7.668229365e-3,
    ],
}


@pytest.mark.parametrize(
    ("text", "fixed", "factor"),
    [
        ("k = A*exp(-E/(1.380649e-23*T))", {}, 1.380649e-23),
        ("k = A*exp(-E/(kB*T))", {"kB": 1.380649e-23}, 1.380649e-23),
        ("k = A*exp(-6.02214076e23*E/(8.314462618*T))", {}, 8.314462618 / 6.02214076e23),
        ("k = A*exp(-E/T)", {}, 1.0),
    ],
)
def test_a_constant_in_the_formula_is_part_of_the_scale_of_a_start(
    text: str, fixed: dict[str, float], factor: float
) -> None:
    answer = autodiff_cli.fit(text, ARRHENIUS, fix=fixed)
    assert answer.converged
    # the minimum over E/k_B in kelvin, A eliminated, by mpmath's findroot with 40 digits
    assert answer.point["E"] == pytest.approx(13733.712433471194 * factor, rel=1e-8)


SCATTER = [0.1, -0.05, 0.07, -0.1, 0.03, 0.02, -0.06, 0.08, -0.02, 0.05, -0.09, 0.04]


@pytest.mark.parametrize(
    ("formula", "curve", "phase", "w", "step", "count"),
    [
        ("A*cos(w*x + p)**2", lambda u: 10 * math.cos(u) ** 2, 0.0, 1.1, math.pi / 6, 6),
        ("A*cos(w*x + p)**2", lambda u: 10 * math.cos(u) ** 2, 0.3, 1.1, math.pi / 6, 6),
        ("A*cos(w*x + p)**2", lambda u: 10 * math.cos(u) ** 2, 0.3, 1.0, 0.5, 7),
        ("A*abs(sin(w*x + p))", lambda u: 10 * abs(math.cos(u)), 0.3, 1.1, 0.25, 12),
        ("A*abs(sin(w*x + p))", lambda u: 10 * abs(math.cos(u)), 0.3, 0.7, 0.5, 8),
        (
            "sqrt(a**2 + b**2*cos(w*x + p)**2)",
            lambda u: 5 * math.sqrt(1 + math.cos(u) ** 2),
            *(1.0, 1.1, 0.3, 12),
        ),
        ("A*cos(w*x + p)", lambda u: 5 * math.cos(u), 0.3, 1.1, 0.3, 12),
    ],
)
def test_of_periods_that_rows_do_not_tell_apart_the_longest_is_found(
    formula: str, curve: Callable[[float], float], phase: float, w: float, step: float, count: int
) -> None:
    x = [round(k * step, 6) for k in range(count)]
    y = [round(curve(w * place + phase) + SCATTER[k], 3) for k, place in enumerate(x)]
    answer = autodiff_cli.fit(f"y = {formula}", {"x": x, "y": y}, intervals="linear")
    assert answer.converged
    assert abs(answer.point["w"]) == pytest.approx(w, abs=0.03)
