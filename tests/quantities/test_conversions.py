"""Conversions that a formula makes although the units make them: `theta*pi/180` of degrees."""

from __future__ import annotations

import json
import math

import pytest

from running import autodiff

TWICE = "units need none"
RADIANS = "converted to radians twice"
BESIDE = "beside it in radians"
# 10*cos(theta)**2, in degrees
MALUS = "theta (deg),I (mA)\n0,10\n30,7.5\n60,2.5\n90,0\n120,2.5\n150,7.5\n"
# atan(2*x), in degrees
ANGLES = "x,theta (deg)\n" + "".join(
    f"{x},{math.degrees(math.atan(2 * x)):.12f}\n" for x in (0.1, 0.2, 0.5, 1)
)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["grad", "cos(theta*pi/180)", "--at", "theta=60 deg"], TWICE),
        (["grad", "cos(pi/180*(theta - 5[deg]))", "--at", "theta=60 °"], TWICE),
        (["grad", "p = rad(theta); cos(p)", "--at", "theta=60 deg"], TWICE),
        (["grad", "cos(0.01745*theta)", "--at", "theta=60 deg"], TWICE),
        (["grad", "2*pi*r*theta/360", "--at", "theta=60 deg,r=2 m"], TWICE),
        (["grad", "phi/(360*f)", "--at", "phi=90 deg,f=50 Hz"], TWICE),
        (["grad", "P/(2*pi*n/60)", "--at", "P=5 kW,n=3000 rev/min"], TWICE),
        (["grad", "P*60/(2*pi*n)", "--at", "P=5 kW,n=3000 rev/min"], TWICE),
        (["grad", "2*pi*n/60", "--at", "n=3000 1/min"], TWICE),
        (["grad", "m*(v/3.6)**2/2", "--at", "m=1 t,v=100 km/h"], TWICE),
        (["grad", "5[km/h]/3.6*t", "--at", "t=1 s"], TWICE),
        (["grad", "v*3.6", "--at", "v=10 m/s"], TWICE),
        (["grad", "v*3.6", "--at", "v=10 m/s", "--in", "km/h"], TWICE),
        (["grad", "exp(-k*t/3600)", "--at", "k=2 1/s,t=60 s"], TWICE),
        (["grad", "q*1.602e-19/m", "--at", "q=2 eV,m=1 kg"], TWICE),
        (["grad", "atan(x)*180/pi", "--at", "x=1", "--in", "deg"], TWICE),
        (["grad", "b + deg(atan(x))", "--at", "x=1,b=5 deg", "--in", "deg"], TWICE),
        (["jacobian", "x, sin(rad(a))", "--at", "x=1,a=30 deg"], TWICE),
        (["solve", "sin(a*pi/180) = 0.5", "--for", "a", "--in", "deg"], TWICE),
        (["propagate", "d*sin(a*pi/180)", "--at", "d=600 nm,a=20.0±0.1 deg"], TWICE),
        (["integrate", "sin(a*pi/180)", "--between", "a=0:90 deg"], TWICE),
        (["diff", "sin(a*pi/180)", "--at", "a=30 deg"], TWICE),
        (["grad", "cos(rad(x)*pi/180)", "--at", "x=60"], RADIANS),
        (["grad", "cos(x*60°*pi/180)", "--at", "x=1", "--lenient"], RADIANS),
        (["propagate", "sin(rad(rad(x)))", "--at", "x=30±1"], RADIANS),
        (["diff", "sin(pi*rad(x)/180)"], RADIANS),
        (["solve", "sin(rad(x)*0.0174533) = 0.5", "--at", "x=30"], RADIANS),
        (["grad", "cos(180 - a)", "--at", "a=60 deg"], BESIDE),
        (["grad", "cos(2*a + 90)", "--at", "a=60 deg"], BESIDE),
        (["grad", "90 - atan(x)", "--at", "x=1", "--in", "deg"], BESIDE),
    ],
)
def test_a_unit_that_the_formula_converts_too_is_said(arguments: list[str], message: str) -> None:
    answer = autodiff(*arguments)
    assert answer.code == 0
    assert [line for line in answer.err.splitlines() if message in line]


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["cos(theta)", "--at", "theta=60 deg"], 0.5),
        (["cos(theta*pi/180)", "--at", "theta=60"], 0.5),
        (["cos(deg(theta)*pi/180)", "--at", "theta=60 deg"], 0.5),
        (["cos(180[deg] - theta)", "--at", "theta=60 deg"], -0.5),
        (["cos(pi - theta)", "--at", "theta=60 deg"], -0.5),
        (["cos(theta + 20*pi)", "--at", "theta=60 deg"], 0.5),
        (["deg(theta)", "--at", "theta=60 deg"], 60),
        (["phi/360[deg]/f", "--at", "phi=90 deg,f=50 Hz", "--in", "ms"], 5),
        (["P/n", "--at", "P=5 kW,n=3000 rev/min", "--in", "N*m"], 50 / math.pi),
        (["2*pi*n", "--at", "n=3000 1/min", "--in", "rad/s"], 100 * math.pi),
        (["m*v**2/2", "--at", "m=1 t,v=36 km/h", "--in", "kJ"], 50),
        (["v*3.6", "--at", "v=10"], 36),
        (["L/1000", "--at", "L=20 mm", "--in", "mm"], 0.02),
        (["pi/180*x + a", "--at", "x=180,a=180 deg", "--in", "rad"], 2 * math.pi),
        (["60*x", "--at", "x=3 m", "--in", "m"], 180),
        (["a**2*pi/180", "--at", "a=1 rad"], math.pi / 180),
        (["deg(rad(x))", "--at", "x=30"], 30),
        (["rad(x)*180/pi", "--at", "x=30"], 30),
        (["rad(x)*rad(180)", "--at", "x=180"], math.pi**2),
        (["sin(rad(x))*180", "--at", "x=30"], 90),
    ],
)
def test_formulas_of_quantities_are_not_warned_of(arguments: list[str], value: float) -> None:
    answer = autodiff("grad", *arguments, "--value-only", "--json")
    assert answer.code == 0 and answer.err == ""
    assert json.loads(answer.out)["value"] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("formula", "rows", "estimate", "twice"),
    [
        ("I = A*cos(theta)**2", MALUS, 10, False),
        ("I = A*cos(theta*pi/180)**2", MALUS, None, True),
        ("I = A*cos(rad(theta))**2", MALUS, None, True),
        ("theta = atan(A*x)", ANGLES, 2, False),
        ("theta = deg(atan(A*x))", ANGLES, None, True),
        ("theta*pi/180 = atan(A*x)", ANGLES, None, True),
    ],
)
def test_a_fit_of_degrees_in_a_heading(
    formula: str, rows: str, estimate: float | None, twice: bool
) -> None:
    answer = autodiff("fit", formula, "--data", "-", "--json", stdin=rows)
    assert (TWICE in answer.err) is twice
    if estimate is not None:
        assert json.loads(answer.out)["parameters"]["A"] == pytest.approx(estimate, rel=1e-9)


@pytest.mark.parametrize("formula", ["I = A*cos(theta*pi/180)**2", "I = A*cos(rad(theta))**2"])
def test_without_units_the_formula_converts(formula: str) -> None:
    answer = autodiff("fit", formula, "--data", "-", "--json", "--in", "none", stdin=MALUS)
    assert TWICE not in answer.err
    assert json.loads(answer.out)["parameters"]["A"] == pytest.approx(10, rel=1e-9)
