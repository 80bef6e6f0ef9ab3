"""Minima, maxima and descents among numbers in units, against closed forms and runs in units of the
SI.
"""

import json
import subprocess
import sys

import pytest

import autodiff_cli as ad
from autodiff_cli.cli.commands import call
from autodiff_cli.engine.quantities.unit import parse_unit
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.problem import parse
from autodiff_cli.questions.quantities import in_own_units

SPRING = "k/2*(x - x0)**2 + F*x"
AT = {"x": "1 mm", "F": "2 N", "k": "3 N/mm", "x0": "5 mm"}


def test_programs_in_own_units_give_the_numbers_of_these():
    program = parse("F*x + 5[N]*x + W", units=True)
    units = {"F": parse_unit("kN"), "x": parse_unit("inch"), "W": parse_unit("kcal")}
    own = in_own_units(program, units, [parse_unit("ft*lbf")])
    from autodiff_cli.engine.graphs.value_and_gradient import value_and_gradient
    from autodiff_cli.engine.numbers.floats import REAL

    swept = value_and_gradient(REAL, own.graph, {"F": 3.0, "x": 7.0, "W": 0.5}, ("F", "x", "W"))
    joules = 1.3558179483314004  # of a foot pound-force: 0.3048 m · 4.4482216152605 N
    assert swept.value == pytest.approx((3005 * 7 * 0.0254 + 0.5 * 4184) / joules, rel=1e-14)
    assert swept.gradient["F"] == pytest.approx(1000 * 7 * 0.0254 / joules, rel=1e-14)
    assert swept.gradient["W"] == pytest.approx(4184 / joules, rel=1e-14)
    assert own.text == program.text and list(own.variables) == list(program.variables)


def test_temperatures_and_angles_in_own_units():
    own = in_own_units(
        parse("T*sin(phi)"), {"T": parse_unit("°C"), "phi": parse_unit("°")}, [parse_unit("K")]
    )
    from autodiff_cli.engine.graphs.value_and_gradient import value_and_gradient
    from autodiff_cli.engine.numbers.floats import REAL

    swept = value_and_gradient(REAL, own.graph, {"T": 20.0, "phi": 30.0}, ("T",))
    assert swept.value == pytest.approx(293.15 / 2, rel=1e-15)
    assert swept.gradient["T"] == pytest.approx(0.5, rel=1e-15)


def test_a_minimum_is_in_the_units_of_its_start():
    answer = ad.minimize(SPRING, AT, wrt="x", in_="mJ")
    assert answer.converged and answer.kind == "minimum"
    # where k*(x - x0) = -F
    assert answer.point["x"] == pytest.approx(5 - 2 / 3, rel=1e-12)
    assert answer.value == pytest.approx(3 / 2 * (2 / 3) ** 2 + 2 * (5 - 2 / 3), rel=1e-12)
    assert answer.units.texts() == {
        "value": "mJ", "gradient": {"x": "mJ/mm"}, "gradient_norm": "mJ/mm",
        "point": {"k": "N/mm", "x": "mm", "x0": "mm", "F": "N"},
    }  # fmt: skip
    assert ad.minimize(SPRING, AT, wrt="x").value == pytest.approx(answer.value / 1000, rel=1e-12)


def test_derivatives_are_those_of_the_numbers():
    at_bound = ad.minimize(SPRING, AT, wrt="x", in_="mJ", bounds="x=0:0.4 cm")
    assert at_bound.point["x"] == 4.0 and at_bound.at_bounds == ("x",)
    assert at_bound.gradient["x"] == pytest.approx(3 * (4 - 5) + 2, rel=1e-13)


@pytest.mark.parametrize("bounds", ["x=0 m:0.4 cm", {"x": (0, "4 mm")}, "x=:4000 µm"])
def test_bounds_are_in_any_unit_of_the_dimension(bounds):
    assert ad.minimize(SPRING, AT, wrt="x", bounds=bounds).point["x"] == pytest.approx(
        4.0, rel=1e-15
    )


def test_constraints_have_units():
    answer = ad.maximize(
        "a*b", {"a": "1 m", "b": "200 cm", "L": "4 m"}, subject_to="2*(a + b) <= L", wrt="a,b"
    )
    assert answer.converged and answer.kind == "maximum"
    assert answer.point == pytest.approx({"a": 1.0, "b": 100.0, "L": 4.0}, rel=1e-9)
    (constraint,) = answer.constraints
    assert constraint.active and constraint.multiplier == pytest.approx(0.5, rel=1e-8)
    assert answer.units.texts()["constraints"] == [{"slack": "m", "multiplier": "m"}]
    other = ad.maximize(
        "a*b",
        {"a": "1 m", "b": "200 cm"},
        subject_to="2*(a + b) <= 400[cm]; a >= 10[cm]",
        in_="cm^2",
    )
    assert other.value == pytest.approx(10_000.0, rel=1e-9)
    # the derivative of (L/4)² by L, in cm² by m
    assert other.constraints[0].multiplier == pytest.approx(5000.0, rel=1e-8)
    assert other.units.texts()["constraints"][0] == {"slack": "m", "multiplier": "cm²/m"}


def test_descent_goes_among_the_numbers_of_the_start():
    run = ad.descend(SPRING, AT, wrt="x", rate=100, steps=3)
    x, expected = 1.0, []
    for _ in range(4):
        expected.append(x)
        x -= 100 * (3 * (x - 5) + 2) / 1000  # the derivative in J/mm
    assert [row.point["x"] for row in run] == pytest.approx(expected, rel=1e-13)
    assert run.rows[0].units.texts()["gradient_norm"] == "J/mm"
    (note,) = run.warnings
    assert "the rate 100 is in mm²/J" in note.message


def test_rates_of_several_units_are_named():
    at = {"x": "1 mm", "y": "1 m", "k": "1 N/m"}
    (note,) = ad.descend("k*x**2 + k*y**2", at, wrt="x,y", steps=1).warnings
    assert "mm²/J for `x`, m²/J for `y`" in note.message
    (note,) = ad.descend("k*x**2 + k*y**2", at, wrt="x,y", steps=1, method="adam").warnings
    assert "the rate 0.001 is in mm for `x`, m for `y`" in note.message


@pytest.mark.parametrize("function", ["minimize", "maximize", "descend"])
@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("F + x", {"F": "1 N", "x": "2 m"}, "cannot add"),
        ("exp(x)", {"x": "2 m"}, "takes a number"),
        ("x**2", {"x": "2 ells"}, "not a unit"),
    ],
)
def test_dimensions_are_checked(function, text, at, message):
    with pytest.raises(ExpressionError, match=message):
        getattr(ad, function)(text, at)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bounds": "x=0:4"}, "a bound of it is a number"),
        ({"bounds": "x=0 s:4 s"}, "a bound of it is a time"),
        ({"bounds": "x=2 mm:4 mm"}, "outside its bounds"),
        ({"subject_to": "x <= 4"}, "cannot subtract"),
        ({"subject_to": "x <= 4[s]"}, "cannot subtract"),
        ({"in_": "mm"}, "is for a length"),
    ],
)
def test_bounds_and_constraints_are_checked(options, message):
    with pytest.raises(ExpressionError, match=message):
        ad.minimize(SPRING, AT, wrt="x", **options)


def test_bounds_with_units_need_a_start_with_one():
    with pytest.raises(ExpressionError, match="has a unit"):
        ad.minimize("x**2", {"x": 1}, bounds="x=0 m:2 m")


def test_every_form_has_the_units(capsys, tmp_path):
    best = tmp_path / "best.json"
    arguments = ["x**2", "--at", "x=1 mm"]
    assert call("minimize", [*arguments, "--format", "csv", "--save-point", str(best)]) == 0
    heads, row = capsys.readouterr().out.splitlines()
    assert (
        heads
        == "line,id,variable,at,at_unit,partial,partial_unit,value,value_unit,converged,kind,error"
    )
    assert row == "1,,x,0.0,mm,0.0,mm,0.0,mm²,true,minimum,"
    assert json.loads(best.read_text()) == {"x": "0.0 mm"}
    assert call("minimize", [*arguments, "--format", "plain"]) == 0
    assert capsys.readouterr().out == "0.0[mm²] x=0.0[mm]\n"
    assert call("descend", [*arguments, "--steps", "1", "--save-point", str(best), "--force"]) == 0
    assert (
        "value [mm²]" in (out := capsys.readouterr().out)
        and "x [mm]" in out
        and "gradient norm [mm]" in out
    )
    assert json.loads(best.read_text()) == {"x": "0.8 mm"}
    assert call("minimize", ["x**2", "--at", f"@{best}", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["units"]["point"] == {"x": "mm"}
    assert call("descend", [*arguments, "--steps", "0", "--format", "csv"]) == 0
    heads, row = capsys.readouterr().out.splitlines()
    assert (
        "value,value_unit,gradient_norm,gradient_norm_unit,variable,at,at_unit,partial,partial_unit"
        in heads
    )
    assert row == "1,,0,1.0,mm²,2.0,mm,x,1.0,mm,2.0,mm,"


def test_searches_without_units_import_nothing_of_them():
    code = """
import sys
from autodiff_cli.__main__ import run
assert run(["descend", "(x - 3)**2", "--at", "x=0", "--format", "plain"]) == 0
assert run(["minimize", "(x - 3)**2", "--at", "x=0", "--bounds", "x=0:9", "--format", "plain"]) == 0
assert not {"autodiff_cli.questions.quantities", "autodiff_cli.engine.quantities.table"} & {*sys.modules}
"""
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_a_variable_that_only_a_constraint_has_is_a_number_beside_others_with_units() -> None:
    answer = ad.minimize("(x - 1[m])**2", "x=2 m,k=3", subject_to="k >= 2")
    assert answer.converged and answer.point == pytest.approx({"x": 1, "k": 3})
    assert "│ k" in str(answer)
