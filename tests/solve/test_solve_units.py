"""Equations with units: solutions and their derivatives against closed forms in units of the SI, by
mpmath.
"""

import json
import subprocess
import sys

import mpmath
import pytest

import autodiff_cli as ad
from autodiff_cli.cli.commands import call
from autodiff_cli.errors import ExpressionError
from running import autodiff

BEAM = "F*L**3/(48*E*I) = d"
AT = {"F": "1.5 kN", "E": "210 GPa", "I": "800 cm^4", "d": "5 mm"}


def length(f=1500, e=210 * 10**9, i=None, d=None):
    """The span of the beam in metres."""
    i = mpmath.mpf(8) / 10**6 if i is None else i
    return mpmath.cbrt(48 * e * i * (mpmath.mpf(5) / 1000 if d is None else d) / f)


def test_solution_and_derivatives_are_in_units():
    answer = ad.solve(BEAM, AT, for_="L", between=("0.1 m", "20 m"))
    (solution,) = answer.solutions
    with mpmath.workdps(30):
        span = length()
        slopes = {  # of F in kN, E in GPa, I in m⁴, and d in mm
            "F": mpmath.diff(lambda f: length(f=f), 1500) * 1000,
            "E": mpmath.diff(lambda e: length(e=e), 210 * 10**9) * 10**9,
            "I": mpmath.diff(lambda i: length(i=i), mpmath.mpf(8) / 10**6),
            "d": mpmath.diff(lambda d: length(d=d), mpmath.mpf(5) / 1000) / 1000,
        }
    assert solution.values["L"] == pytest.approx(float(span), rel=1e-15)
    for name, slope in slopes.items():
        assert solution.derivatives["L"][name] == pytest.approx(float(slope), rel=1e-12), name
    units = answer.units.texts()
    assert units["values"] == {"L": "m"}
    assert units["derivatives"] == {"L": {"F": "m/kN", "E": "m/GPa", "I": "m⁻³", "d": "m/mm"}}
    assert units["errors"] == {"L": "m"} and units["residuals"] == ["mm"]
    assert units["point"] == {"F": "kN", "E": "GPa", "I": "cm⁴", "d": "mm"}
    assert "second" not in units
    assert answer.point == {"F": 1.5, "E": 210.0, "I": 800.0, "d": 5.0}
    assert answer.between == {"L": (0.1, 20.0)}


def test_second_derivatives_are_in_units():
    answer = ad.solve(BEAM, AT, for_="L", between=("0.1 m", "20 m"), order=2)
    with mpmath.workdps(40):
        by_f = mpmath.diff(lambda f: length(f=f), 1500, 2) * 1000**2
    assert answer.solutions[0].second["L"]["F"]["F"] == pytest.approx(float(by_f), rel=1e-10)
    assert answer.units.texts()["second"]["L"]["F"]["F"] == "m/kN²"


@pytest.mark.parametrize("arithmetic", [{"precision": 30}, {"certified": True}])
def test_digits_are_in_units(arithmetic):
    figure = (
        ad.solve(BEAM, AT, for_="L", between=("0.1 m", "20 m"), in_="mm", **arithmetic)
        .solutions[0]
        .values["L"]
    )
    with mpmath.workdps(40):
        assert abs(mpmath.mpf(figure.text) / (length() * 1000) - 1) < mpmath.mpf(10) ** -16


@pytest.mark.parametrize(
    ("options", "unit", "times"),
    [
        ({}, "mm", 1000),  # of the input of its dimension
        ({"in_": "km"}, "km", 1e-3),
        ({"in_": "L=cm"}, "cm", 100),
        ({"between": "1 cm:20 m"}, "cm", 100),
        ({"between": "0:20 m"}, "m", 1),
        ({"at": {"L": "3 km"}}, "km", 1e-3),
        ({"at": {"L": "3 km"}, "in_": "m"}, "m", 1),
    ],
)
def test_unit_of_the_unknown(options, unit, times):
    at = AT | options.pop("at", {})
    answer = ad.solve(BEAM, at, for_="L", **options)
    assert answer.units.texts()["values"] == {"L": unit}
    assert answer.solutions[0].values["L"] == pytest.approx(float(length()) * times, rel=1e-14)


def test_several_unknowns_are_in_units_that_follow():
    answer = ad.solve(
        "x + y = 3[m]; x*t = a", {"a": "2 m^2", "t": "50 cm", "y": "1 mm"}, for_="x,y"
    )
    assert answer.units.texts()["values"] == {"x": "cm", "y": "mm"}
    assert answer.solutions[0].values == pytest.approx({"x": 400.0, "y": -1000.0}, rel=1e-14)
    assert answer.solutions[0].derivatives["y"] == pytest.approx({"a": -2.0, "t": 80.0}, rel=1e-12)
    assert answer.units.texts()["derivatives"]["y"] == {"a": "m⁻¹", "t": "mm/cm"}


def test_temperatures_have_a_zero_of_their_own():
    answer = ad.solve(
        "p*V = n*R*T",
        {"p": "101325 Pa", "V": "24 L", "n": "1 mol", "T": "0 °C"},
        for_="T",
        constants="R",
    )
    kelvins = 101325 * 0.024 / 8.31446261815324
    assert answer.solutions[0].values["T"] == pytest.approx(kelvins - 273.15, rel=1e-12)
    assert answer.units.texts()["errors"] == {"T": "K"}
    assert not answer.warnings


REFUSED = [
    ((BEAM, {**AT, "d": "5 s"}, {"for_": "L", "between": "1 m:2 m"}), "cannot subtract"),
    ((BEAM, AT, {"for_": "L", "between": "0.1:20"}), "its bounds are numbers"),
    ((BEAM, AT | {"L": 3}, {"for_": "L"}), "its start is a number"),
    ((BEAM, AT, {"for_": "L", "between": "1 m:20 s"}), "has two dimensions"),
    (
        (BEAM, AT, {"for_": "L", "between": "1:20 m"}),
        "one end of the range has a unit, and `1` has none",
    ),
    ((BEAM, AT, {"for_": "L", "in_": "s"}), "is for a time"),
    (("x*y = 2[m]; x*y = 3[m]", {}, {"for_": "x,y"}), "do not determine the unit"),
    (("exp(x) = 2", {}, {"for_": "x", "between": "1 K:5 K"}), "`exp` takes a number"),
    (("x**2 = 1[m^2]", {}, {"between": "5 m:6 m"}), "between 5 m and 6 m"),
]


@pytest.mark.parametrize(("question", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_is_refused(question, message):
    text, at, options = question
    with pytest.raises(ExpressionError, match=message):
        ad.solve(text, at, **options)


def test_values_with_units_stay_names_in_formulas():
    answer = ad.solve("F*L = M", {"F": "2 N"}, for_="L")
    assert [formula.formula for formula in answer.formulas] == ["M/F"]
    assert answer.point == {"F": 2.0} and answer.units.texts() == {"point": {"F": "N"}}


@pytest.mark.parametrize(
    ("text", "unknown", "formulas", "conditions"),
    [
        ("2[N]*L = M", "L", ["M/2[N]"], [None]),
        ("2[N]*L + b = M", "L", ["(M - b)/2[N]"], [None]),
        (
            "2[N]*L**2 - 3[m]*M = 0",
            "L",
            ["-sqrt(3[m]*M/2[N])", "sqrt(3[m]*M/2[N])"],
            ["M >= 0"] * 2,
        ),
        ("pi*r**2 = A", "r", ["-sqrt(A/pi)", "sqrt(A/pi)"], ["A >= 0"] * 2),
    ],
)
def test_numbers_with_units_stay_in_formulas(text, unknown, formulas, conditions):
    answer = ad.solve(text, for_=unknown)
    assert [one.formula for one in answer.formulas] == formulas
    assert [one.condition for one in answer.formulas] == conditions
    # a formula is right if it solves the equation with values
    at = {"M": "6 N*m", "b": "2 N*m", "A": "8 m^2"}
    at = {name: x for name, x in at.items() if name in text}
    if at:
        solved = ad.solve(text, at, for_=unknown).solutions
        values = sorted(solution.values[unknown] for solution in solved)
        assert values == pytest.approx(
            sorted(ad.gradient(one, at).value for one in formulas), rel=1e-12
        )


def test_unknowns_have_the_prefix_of_their_size_for_people():
    spring = ("k*x = F", "--for", "x", "--at", "k=2 kN/m, F=0.24 N")
    out = autodiff("solve", *spring).out
    assert out.startswith("x = 120 µm") and "500 µm/N" in out
    assert autodiff("solve", *spring, "--in", "m").out.startswith("x = 0.00012 m")
    assert autodiff("solve", *spring, "--between", "0 m:1 m").out.startswith("x = 0.00012 m")
    record = json.loads(autodiff("solve", *spring, "--json").out)
    assert record["solutions"][0]["values"]["x"] == pytest.approx(1.2e-4) and record["units"][
        "values"
    ] == {"x": "m"}
    second = autodiff("solve", "x**2 = a", "--for", "x", "--at", "a=4e-8 m^2", "--order", "2").out
    # x = √a: x″ = -1/4 a^(-3/2)
    assert "x = 200 µm" in second and "-3.125e+10 m⁻³" in second


def test_messages_of_searches_have_units():
    none = (
        "x**2 + y**2 = a; x**2 - y**2 = b",
        "--for",
        "x,y",
        "--at",
        "a=1 m^2, b=2 m^2, x=1 m, y=1 m",
    )
    assert "where the sides differ by 0.707 m²" in autodiff("solve", *none).out
    least = (
        "k*x**2",
        "--at",
        "k=2 kN/m, x=0 m",
        "--wrt",
        "x",
        "--subject-to",
        "x >= 1[m]; x <= 0.5[m]",
    )
    assert "is off by 0.5 m" in autodiff("minimize", *least).out
    falling = autodiff("minimize", "exp(-x/1[m])*k", "--at", "k=2 N, x=3 m", "--wrt", "x").out
    assert (
        "keeps falling (0 N at x = " in falling
        and falling.partition("at x = ")[2].split()[1] == "m);"
    )
    run = autodiff(
        "descend",
        "k*x**2/2 - F*x",
        "--at",
        "k=2 kN/m, F=0.24 N, x=0 m",
        "--wrt",
        "x",
        "--steps",
        "3",
    ).out
    assert "the value has grown from 0 J to 8.94295e+08 J" in run


def test_values_of_minima_have_the_prefix_of_their_size_for_people():
    spring = ("k*x**2/2 - F*x", "--at", "k=2 kN/m, F=0.24 N, x=0 m", "--wrt", "x")
    out = autodiff("minimize", *spring, "--subject-to", "x <= 50[µm]").out
    # -(k*x - F) at the border, in J/m
    assert (
        out.startswith("value = -9.5 µJ") and "140000 µJ/m" in out and "x        │ 5e-05 m" in out
    )
    assert autodiff("minimize", *spring).out.startswith("value = -14.4 µJ")
    assert autodiff("minimize", *spring, "--in", "J").out.startswith("value = -1.44e-05 J")


def test_every_form_has_the_units(capsys):
    arguments = ["x**2 = a", "--at", "a=4 m^2", "--between", "0 m:9 m"]
    assert call("solve", [*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["units"]["derivatives"] == {"x": {"a": "m⁻¹"}}
    assert call("solve", [*arguments, "--format", "csv"]) == 0
    heads, row = capsys.readouterr().out.splitlines()
    assert dict(zip(heads.split(","), row.split(","), strict=True)) == {
        "line": "1", "id": "", "solution": "1", "unknown": "x", "value": "2.0", "value_unit": "m",
        "off": "0.0", "off_unit": "m", "variable": "a", "derivative": "0.25",
        "derivative_unit": "m⁻¹", "error": "",
    }  # fmt: skip
    assert call("solve", [*arguments, "--format", "plain"]) == 0
    assert capsys.readouterr().out == "x=2.0[m]\n"
    assert call("solve", [*arguments, "--format", "latex"]) == 0
    assert r"\qty{2}{\metre} & \qty{0}{\metre} & \qty{0.25}{\per\metre}" in capsys.readouterr().out


def test_rows_are_in_the_units_of_headings(capsys, tmp_path):
    file = tmp_path / "beams.csv"
    file.write_text("F [kN],d [mm]\n1.5,5\n2,6\n")
    options = [
        "--for",
        "L",
        "--points",
        str(file),
        "--at",
        "E=210 GPa, I=800 cm^4",
        "--between",
        "0.1 m:20 m",
    ]
    assert call("solve", [BEAM, *options, "--wide", "--format", "csv"]) == 0
    heads, *rows = capsys.readouterr().out.splitlines()
    assert heads == "L [m],d_L_F [m/kN],d_L_E [m/GPa],d_L_I [m⁻³],d_L_d [m/mm],error"
    assert float(rows[0].split(",")[0]) == pytest.approx(float(length()), rel=1e-14)
    assert float(rows[1].split(",")[0]) == pytest.approx(
        float(length(f=2000, d=mpmath.mpf(6) / 1000)), rel=1e-14
    )


@pytest.mark.parametrize("arithmetic", [{}, {"precision": 20}])
def test_implicit_derivatives_have_units(arithmetic):
    circle, at = "x**2 + y**2 = r**2", {"x": "3 m", "y": "400 cm", "r": "5 m"}
    answer = ad.diff(circle, at, for_="y", wrt="x", order=2, **arithmetic)
    # y″ = -r²/y³
    assert float(answer.derivatives[0].value) == pytest.approx(-25 / 64, rel=1e-14)
    assert answer.units.texts() == {"values": ["m⁻¹"], "point": {"x": "m", "y": "cm", "r": "m"}}
    other = ad.diff(
        "F*x = k*y**2",
        {"F": "8 N", "x": "2 m", "k": "4 N/m", "y": "2 m"},
        for_="y",
        in_="mm",
        **arithmetic,
    )
    values = {row.by[0]: float(row.value) for row in other.derivatives}
    # y = sqrt(F*x/k): by F y/(2*F), in mm/N, and by x y/(2*x), in mm/m
    assert values["F"] == pytest.approx(2000 / 16, rel=1e-14) and values["x"] == pytest.approx(
        500.0, rel=1e-14
    )
    assert values["k"] == pytest.approx(-0.25, rel=1e-14)
    assert other.units.texts()["values"] == ["mm/N", "mm/m", "Pa⁻¹"]
    assert float(other.point["y"]) == 2000.0 and other.units.texts()["point"]["y"] == "mm"


def test_points_off_the_curve_are_told_in_units():
    (warning,) = ad.diff(
        "x**2 + y**2 = r**2", {"x": "3 m", "y": "5 m", "r": "5 m"}, for_="y"
    ).warnings
    assert "left side less right side is 9 m² there" in warning.message
    with pytest.raises(ExpressionError, match="cannot add"):
        ad.diff("x**2 + y**2 = r**2", {"x": "3 m", "y": "5 s", "r": "5 m"}, for_="y")


def test_equations_without_units_import_nothing_of_them():
    code = """
import sys
from autodiff_cli.__main__ import run
assert run(["solve", "x*exp(x) = a", "--for", "x", "--at", "a=1", "--format", "plain"]) == 0
assert not {"autodiff_cli.questions.quantities", "autodiff_cli.engine.quantities.table"} & {*sys.modules}
"""
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("text", "unknown", "point", "asked", "expected"),
    [
        ("T1 - T2 = d", "d", {"T1": "20 °C", "T2": "10 °C"}, "°F", None),
        ("T1 - T2 = d", "d", {"T1": "20 °C", "T2": "10 °C"}, "K", 10.0),
        ("T = T0 + d", "T", {"T0": "20 °C", "d": "5 K"}, "°C", 25.0),
        ("2*T = T0 + T1", "T", {"T0": "20 °C", "T1": "30 °C"}, "°C", 25.0),
        ("Q = k*(T - T0)", "T", {"Q": "10 J", "k": "2 J/K", "T0": "20 °C"}, "°C", 25.0),
        (
            "p*V = n*R*T",
            "T",
            {"p": "831.4 Pa", "V": "3 m^3", "n": "1 mol", "R": "8.314 J/(mol*K)"},
            "°C",
            26.85,
        ),
    ],
)
def test_a_difference_of_temperatures_has_no_scale_with_an_own_zero(
    text, unknown, point, asked, expected
):
    if expected is None:
        with pytest.raises(ExpressionError, match="a difference of temperatures"):
            ad.solve(text, point, for_=unknown, in_=asked)
        return
    (root,) = ad.solve(text, point, for_=unknown, in_=asked).solutions
    assert root.values[unknown] == pytest.approx(expected, abs=1e-10)
