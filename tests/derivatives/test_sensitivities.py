"""Sensitivities in the unit that was asked for over that of the variable, in every command and
form; pint converts.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Mapping
from typing import Any

import pytest

import autodiff_cli
from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.capabilities.propagate.propagate import propagate
from autodiff_cli.engine.quantities.unit import parse_unit
from running import autodiff

FORMULA = "L**2/w"
AT = ["--at", "L=2 m, w=10 m", "--in", "mm"]
# d/dL = 2 L/w = 0.4 and d/dw = -L²/w² = -0.04: in millimetres per metre
BY_L, BY_W = (400.0, "mm/m"), (-40.0, "mm/m")
ROWS = "L [m],w [m]\n2,10\n"


def _record(*args: str, stdin: str = "") -> Any:
    result = autodiff(*args, "--json", stdin=stdin)
    assert result.code == 0, result.err
    return json.loads(result.out)


def _cells(*args: str, stdin: str = "") -> list[dict[str, str]]:
    result = autodiff(*args, stdin=stdin)
    assert result.code == 0, result.err
    return [*csv.DictReader(io.StringIO(result.out))]


@pytest.mark.parametrize("command", ["grad", "hessian", "trace", "graph", "check"])
def test_the_gradient_of_a_record(command: str) -> None:
    record = _record(command, FORMULA, *AT)
    assert record["gradient"] == {"L": pytest.approx(BY_L[0]), "w": pytest.approx(BY_W[0])}
    assert record["units"]["gradient"] == {"L": "mm/m", "w": "mm/m"}


def test_records_of_other_shapes() -> None:
    jacobian = _record("jacobian", f"{FORMULA}, L", "--at", "L=2 m, w=10 m", "--in", "mm,m")
    assert jacobian["jacobian"] == [[400.0, -40.0], [1.0, 0.0]]
    assert jacobian["units"]["jacobian"] == [["mm/m", "mm/m"], ["1", "1"]]
    taylor = _record("taylor", FORMULA, *AT, "--wrt", "L", "--order", "2")
    assert taylor["coefficients"] == [400.0, 400.0, pytest.approx(0.1)]
    assert taylor["units"]["coefficients"] == ["mm", "mm/m", "m⁻¹"]
    assert taylor["polynomial"].startswith("400[mm] + 400[mm/m]*(L - 2[m])")
    solve = _record("solve", f"s = {FORMULA}", "--for", "s", *AT)
    assert solve["solutions"][0]["derivatives"] == {"s": {"L": 400.0, "w": -40.0}}
    assert solve["units"]["derivatives"] == {"s": {"L": "mm/m", "w": "mm/m"}}
    budget = _record("propagate", FORMULA, "--at", "L=2±0.1 m, w=10±1 m", "--in", "mm")
    for name, (sensitivity, unit), contribution in (("L", BY_L, 40.0), ("w", BY_W, 40.0)):
        assert budget["results"][0]["budget"][name]["sensitivity"] == sensitivity
        assert budget["results"][0]["budget"][name]["contribution"] == pytest.approx(contribution)
        assert budget["units"]["results"][0]["budget"][name] == {
            "sensitivity": unit,
            "contribution": "mm",
        }


def test_each_node_has_the_unit_of_its_variable() -> None:
    """A variable has one derivative in the table, in the tree of the graph and in the trace."""
    nodes = {node["name"]: node for node in _record("graph", FORMULA, *AT)["nodes"] if node["name"]}
    assert (nodes["L"]["grad"], nodes["w"]["grad"]) == (400.0, -40.0)
    trace = _record("trace", FORMULA, *AT)
    adjoints = {row["name"]: (row["adjoint"], of["adjoint"])
                for row, of in zip(trace["primal"], trace["units"]["primal"], strict=True)}  # fmt: skip
    assert adjoints["L"] == BY_L and adjoints["w"] == BY_W
    bound = _record("grad", f"u = 2*L; {FORMULA} + u", *AT, "--all")
    assert bound["intermediates"][0]["grad"] == pytest.approx(1000.0)
    assert bound["units"]["intermediates"] == [{"value": "m", "grad": "mm/m"}]


@pytest.mark.parametrize(
    ("args", "texts"),
    [
        (["grad", FORMULA, *AT], ["│ L        │ 2 m   │ 400 mm/m", "│  ├─ L      2 m   400 mm/m"]),
        (["grad", FORMULA, *AT, "--format", "latex"], [r"400\,\unit{mm.m^{-1}}", r"-40\,\unit{mm.m^{-1}}"]),
        (["grad", FORMULA, *AT, "--format", "markdown"], ["400 mm/m", "-40 mm/m"]),
        (["grad", FORMULA, *AT, "--format", "plain"], ["400.0[mm/m]", "-40.0[mm/m]"]),
        (["grad", FORMULA, *AT, "--exact"], ["400 mm/m", "-40 mm/m"]),
        (["grad", FORMULA, *AT, "--precision", "30"], ["400 mm/m", "-40 mm/m"]),
        (["jacobian", FORMULA, *AT], ["400 mm/m", "-40 mm/m"]),
        (["hessian", FORMULA, *AT], ["400 mm/m", "-40 mm/m"]),
        (["diff", FORMULA, *AT], ["400 mm/m", "-40 mm/m"]),
        (["check", FORMULA, *AT], ["400.0 mm/m", "-40.0 mm/m"]),
        (["trace", FORMULA, *AT], ["400 mm/m", "-40 mm/m"]),
        (["graph", FORMULA, *AT], ["400 mm/m", "-40 mm/m"]),
        (["solve", f"s = {FORMULA}", "--for", "s", *AT], ["400 mm/m", "-40 mm/m"]),
        (["propagate", FORMULA, "--at", "L=2±0.1 m, w=10 m", "--in", "mm"], ["400 mm/m"]),
        (["propagate", FORMULA, "--at", "L=2±0.1 m, w=10 m", "--in", "mm", "--format", "latex"],
         [r"\qty{400}{\milli\metre\per\metre}"]),
    ],
    ids=lambda x: " ".join(x[:1] + x[6:]) if isinstance(x, list) else "",
)  # fmt: skip
def test_what_people_read(args: list[str], texts: list[str]) -> None:
    result = autodiff(*args, env={"COLUMNS": "200"})
    assert result.code == 0, result.err
    for text in texts:
        assert text in result.out


def test_rows_and_sweeps() -> None:
    single = _cells("grad", FORMULA, *AT, "--format", "csv")
    assert [(float(row["partial"]), row["partial_unit"]) for row in single] == [BY_L, BY_W]
    swept = _cells(
        "grad", FORMULA, "--at", "L=2:3:1 m, w=10 m", "--in", "mm", "--wide", "--format", "csv"
    )
    assert [float(row["d_L [mm/m]"]) for row in swept] == pytest.approx([400.0, 600.0])
    wide = _cells(
        "grad", FORMULA, "--points", "-", "--in", "mm", "--wide", "--format", "csv", stdin=ROWS
    )
    assert (float(wide[0]["d_L [mm/m]"]), float(wide[0]["d_w [mm/m]"])) == (BY_L[0], BY_W[0])
    long = _cells("grad", FORMULA, "--points", "-", "--in", "mm", "--format", "csv", stdin=ROWS)
    assert [(float(row["partial"]), row["partial_unit"]) for row in long] == [BY_L, BY_W]
    two = ["jacobian", f"{FORMULA}, L", "--in", "mm,m"]
    jacobian = _cells(*two, "--points", "-", "--wide", "--format", "csv", stdin=ROWS)
    assert {name: float(x) for name, x in jacobian[0].items() if name.startswith("d1_")} == {
        "d1_L [mm/m]": 400.0, "d1_w [mm/m]": -40.0,
    }  # fmt: skip
    sweep = _cells(
        "propagate", FORMULA, "--at", "L=2:3:1±0.1 m, w=10 m", "--in", "mm", "--format", "csv"
    )
    assert [float(row["uncertainty [mm]"]) for row in sweep] == pytest.approx([40.0, 60.0])


def test_many_rows_are_those_of_few() -> None:
    """Compiled rows have their own conversion."""
    rows = "L [m],w [m]\n" + "".join(f"{k},10\n" for k in range(1, 25_001))
    many = _cells(
        "grad", FORMULA, "--points", "-", "--in", "mm", "--wide", "--format", "csv", stdin=rows
    )
    assert len(many) == 25_000
    assert all(
        float(row["d_L [mm/m]"]) == pytest.approx(200.0 * k) for k, row in enumerate(many, start=1)
    )
    assert all(
        float(row["d_w [mm/m]"]) == pytest.approx(-10.0 * k * k)
        for k, row in enumerate(many, start=1)
    )


def test_the_python_functions() -> None:
    at = {"L": "2 m", "w": "10 m"}
    answer = autodiff_cli.gradient(FORMULA, at, in_="mm")
    assert answer.gradient == {"L": 400.0, "w": -40.0}
    assert answer.to_dict()["units"]["gradient"] == {"L": "mm/m", "w": "mm/m"}
    jacobian = autodiff_cli.jacobian(FORMULA, at, in_="mm")
    assert [*map(list, jacobian.jacobian)] == [[400.0, -40.0]]
    budget = autodiff_cli.propagate(FORMULA, {"L": "2±0.1 m", "w": "10 m"}, in_="mm").to_dict()
    assert budget["results"][0]["budget"]["L"]["sensitivity"] == 400.0


def test_without_a_wish_a_ratio_of_lengths_is_a_number() -> None:
    record = _record("grad", "a + b", "--at", "a=1 m, b=2 mm")
    assert record["gradient"] == {"a": 1.0, "b": 1.0} and record["units"]["gradient"] == {
        "a": "1",
        "b": "1",
    }
    same = _record("grad", "a + b", "--at", "a=1 m, b=2 mm", "--in", "mm")
    assert same["gradient"] == {"a": 1000.0, "b": 1.0}
    assert same["units"]["gradient"] == {"a": "mm/m", "b": "1"}


# units of pint and of this program alike, by dimension
ALIKE = {
    "length": ["m", "mm", "cm", "km", "µm", "inch", "ft"],
    "mass": ["kg", "g", "mg", "lb"],
    "time": ["s", "ms", "min", "h"],
}
TRIALS = 200


def _expression(rng: random.Random) -> tuple[str, dict[str, str], str, Mapping[str, str]]:
    """Return a formula of the dimension of its first variable, its point, a wished unit, and its
    exact derivatives.

    Each formula is k * a**p * b**(1 - p) * exp-free ratio of two others of one dimension, with or
    without a summand.
    """
    kind, other = rng.sample([*ALIKE], 2)
    p, q = rng.choice([2, 3, -1, 1]), rng.choice([1, 2, -1])
    k, c = rng.choice([0.5, 2, 3, 7]), rng.choice([0, 1, 4])
    main = f"{k}*a**({p})*b**({1 - p})*(u/v)**({q})"
    text = f"{main} + {c}*a" if c else main
    by = {
        "a": f"{p}*({main})/a + {c}", "b": f"{1 - p}*({main})/b",
        "u": f"{q}*({main})/u", "v": f"-({q})*({main})/v",
    }  # fmt: skip
    units = {"a": kind, "b": kind, "u": other, "v": other}
    at = {name: f"{rng.uniform(0.5, 20):.4g} {rng.choice(ALIKE[of])}" for name, of in units.items()}
    return text, at, rng.choice(ALIKE[kind]), by


def _of_pint(registry: Any, text: str, values: Mapping[str, Any]) -> Any:
    return eval(text, {"__builtins__": {}}, dict(values))  # noqa: S307


def _in(registry: Any, number: float, unit: str) -> Any:
    """Return a number in a unit as this program writes it, as a quantity of pint."""
    product = registry.Quantity(number, "")
    above, _, below = unit.partition("/")
    for symbol in above.split("·") if above not in ("", "1") else ():
        product = product * registry.Quantity(1.0, _spelled(symbol))
    for symbol in below.strip("()").split("·") if below else ():
        product = product / registry.Quantity(1.0, _spelled(symbol))
    return product


def _spelled(symbol: str) -> str:
    return (
        {"in": "inch", "′": "arcminute"}.get(symbol, symbol)
        .replace("⁻¹", "**-1")
        .replace("²", "**2")
    )


def test_two_hundred_sensitivities_are_those_of_pint() -> None:
    registry = pytest.importorskip("pint").UnitRegistry()
    rng = random.Random(20261129)
    ratios = 0
    for _ in range(TRIALS):
        text, at, wished, by = _expression(rng)
        typed = {name: value.replace("inch", "in") for name, value in at.items()}
        values = {
            name: registry.Quantity(float(x.split()[0]), x.split()[1]) for name, x in at.items()
        }
        asked = wished.replace("inch", "in")
        answer = gradient(text, typed, units=asked)
        assert answer.value == pytest.approx(
            _of_pint(registry, text, values).to(wished).magnitude, rel=1e-11
        )
        units = answer.units.texts()["gradient"]
        for name, formula in by.items():
            theirs = _of_pint(registry, formula, values)
            theirs = registry.Quantity(theirs, "") if isinstance(theirs, int | float) else theirs
            own = typed[name].split()[1]
            ours = _in(registry, answer.gradient[name], units[name])
            scale = abs(theirs.to_base_units().magnitude) or 1.0
            assert ours.to_base_units().dimensionality == theirs.dimensionality, (text, at, name)
            assert ours.to_base_units().magnitude == pytest.approx(
                theirs.to_base_units().magnitude, rel=1e-11, abs=1e-11 * scale
            ), (text, at, wished, name)
            if name in "ab":
                # the unit is that of the row: a number of the variable's unit times it is one of
                # the wished unit
                assert units[name] == ("1" if own == asked else f"{asked}/{own}"), (
                    text,
                    at,
                    wished,
                )
                ratios += own != asked
    assert ratios > TRIALS, "most of these derivatives have a unit of two of a kind"


def test_a_contribution_is_the_sensitivity_times_the_uncertainty() -> None:
    rng = random.Random(7)
    for _ in range(40):
        text, at, wished, _ = _expression(rng)
        typed = {
            name: value.replace("inch", "in").replace(" ", "±0.01 ") for name, value in at.items()
        }
        result = propagate(text, typed, units=wished.replace("inch", "in"))
        units = result.units.texts()["results"][0]["budget"]
        for name in "ab":
            own = typed[name].split()[1]
            share, asked = result.results[0].budget[name], wished.replace("inch", "in")
            assert units[name] == {
                "sensitivity": "1" if own == asked else f"{asked}/{own}",
                "contribution": asked,
            }
            assert abs(share.sensitivity) * 0.01 == pytest.approx(
                share.contribution, rel=1e-9, abs=1e-300
            )


@pytest.mark.parametrize(
    ("text", "at", "unit"),
    [
        ("T + d", "T=20±1 °C, d=5±0.5 K", "°F"),
        ("T + d", "T=20±1 °C, d=5±0.5 K", "°C"),
        ("T*r", "T=20±1 °C, r=1.00±0.01", "°F"),
        ("T", "T=68±1 °F", "K"),
        ("a*b", "a=30±1 °, b=1.0±0.1", "°"),
        ("a + b", "a=3±1 mm, b=2.0±0.1 m", None),
        ("a - 2*b", "a=3±1 in, b=2.0±0.1 ft", None),
        ("F*s/t", "F=3.0±0.1 kN, s=2.0±0.1 m, t=4.0±0.1 s", "W"),
    ],
)
def test_budgets_add_up_in_the_units_that_they_show(text: str, at: str, unit: str | None) -> None:
    record = autodiff_cli.propagate(text, at, in_=unit).to_dict()
    budget, units = record["results"][0]["budget"], record["units"]["results"][0]["budget"]
    for name, share in budget.items():
        u, of_u = (
            record["inputs"][name]["uncertainty"],
            record["units"]["inputs"][name]["uncertainty"],
        )
        sensitivity, contribution = units[name]["sensitivity"], units[name]["contribution"]
        in_si = abs(share["sensitivity"]) * _in_si(sensitivity) * u * _in_si(of_u)
        assert in_si == pytest.approx(share["contribution"] * _in_si(contribution), rel=1e-9), (
            name,
            units[name],
        )
        if sensitivity in ("1", contribution, f"{contribution}/{of_u}"):
            assert abs(share["sensitivity"]) * u == pytest.approx(
                share["contribution"], rel=1e-9
            ), (name, units[name])


def _in_si(unit: str) -> float:
    return 1.0 if unit == "1" else parse_unit(unit).degree.to_si(1.0)


def test_budgets_of_columns_add_up() -> None:
    """Columns have a system of units, in which products need no factor; two lengths need one."""
    rows = "a [mm],b [m]\n3,2\n4,2.1\n3.5,1.9\n"
    record = _record("propagate", "a+b", "--data", "-", stdin=rows)
    budget, units = record["results"][0]["budget"], record["units"]["results"][0]["budget"]
    assert units == {
        "a": {"sensitivity": "1", "contribution": "mm"},
        "b": {"sensitivity": "mm/m", "contribution": "mm"},
    }
    assert budget["b"]["sensitivity"] == pytest.approx(1000.0)
    # the standard error of 2, 2.1 and 1.9 is 0.1/sqrt(3)
    assert budget["b"]["contribution"] == pytest.approx(1000 * 0.1 / 3**0.5)
