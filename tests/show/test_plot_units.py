"""Plots in units: their numbers against closed forms, and what the axes of each form are called."""

import json

import pytest

import autodiff_cli as ad
from autodiff_cli.cli.commands import call
from autodiff_cli.errors import ExpressionError

THROW = "v*t - g_n*t**2/2"
G = 9.80665


def points(answer):
    return [place for stretch in answer.function.stretches for place in stretch]


def test_curves_are_in_the_units_of_the_axes():
    curve = ad.plot(
        THROW, {"v": "20 m/s", "t": "1500 ms"}, range="t=0:4 s", constants="g_n", in_="cm", order=2
    )
    assert (curve.low, curve.high) == (0.0, 4000.0)
    for t, height in points(curve):
        assert height == pytest.approx(100 * (20 * t / 1000 - G * (t / 1000) ** 2 / 2), abs=1e-9)
    for t, slope in curve.derivative.stretches[0]:
        assert slope == pytest.approx((20 - G * t / 1000) / 10, abs=1e-12)  # cm by ms
    assert curve.second.stretches[0][0][1] == pytest.approx(-G * 1e-4, rel=1e-13)
    assert curve.tangent.at == 1500.0 and curve.tangent.slope == pytest.approx(
        (20 - G * 1.5) / 10, rel=1e-13
    )
    units = curve.units.texts()
    assert (units["value"], units["derivative"], units["second"]) == ("cm", "cm/ms", "cm/ms²")
    assert units["range"] == {"t": "ms"} and units["point"] == {
        "v": "m/s",
        "t": "ms",
        "g_n": "m/s²",
    }
    assert curve.formula == "v - g_n*t"


def test_derivatives_over_an_axis_in_fahrenheit_are_by_a_degree_of_it():
    curve = ad.plot("k*T**2", {"k": "2 kJ/K^2"}, range="T=10 °F:30 °F", order=2)
    for t, slope in curve.derivative.stretches[0]:
        assert slope == pytest.approx(2 * 2000 * (t + 459.67) * (5 / 9) ** 2, rel=1e-12)
    units = curve.units.texts()
    assert (units["value"], units["derivative"], units["second"]) == ("J", "J/°F", "J/°F²")


def test_the_unit_of_a_range_is_that_of_its_axis():
    curve = ad.plot(THROW, {"v": "20 m/s"}, range={"t": (0, "4000 ms")}, constants="g_n")
    assert (curve.low, curve.high) == (0.0, 4000.0) and curve.units.texts()["range"] == {"t": "ms"}
    around = ad.plot("v*t", {"v": "20 m/s", "t": "3 s"}, wrt="t")
    assert (around.low, around.high) == (-3.0, 9.0) and around.units.texts()["value"] == "m"


def test_several_functions_have_units_of_their_own():
    curve = ad.plot("v*t, v", {"v": "20 m/s", "t": "1 s"}, range="t=0:4 s", in_="cm, km/h")
    assert [output.value for output in curve.outputs] == pytest.approx([2000.0, 72.0], rel=1e-14)
    assert curve.units.texts()["outputs"] == [{"value": "cm"}, {"value": "km/h"}]


def test_contours_are_in_the_units_of_the_axes():
    text, at = "F*x**2 + F*x*y", {"F": "2 N", "x": "1 mm", "y": "2 mm"}
    surface = ad.plot(text, at, range="x=0:4 mm,y=0 cm:1 cm", in_="mJ*mm")
    assert (surface.x[-1], surface.y[-1]) == (4.0, 10.0)
    for i, j in ((0, 0), (60, 30), (120, 120)):
        x, y = surface.x[j], surface.y[i]
        assert surface.heights[i][j] == pytest.approx(2 * x**2 + 2 * x * y, abs=1e-11)
    assert surface.value == pytest.approx(6.0, rel=1e-14) and surface.gradient == pytest.approx(
        (8.0, 2.0), rel=1e-13
    )
    units = surface.units.texts()
    assert units["value"] == "mJ·mm" and units["range"] == {"x": "mm", "y": "mm"}


def test_finer_grids_of_contours_are_in_the_units_of_the_axes():
    pytest.importorskip("numpy")
    from autodiff_cli.capabilities.plot.contours import refine_surface

    surface = ad.plot("F*x*y", {"F": "2 N"}, range="x=0:4 mm,y=0 cm:1 cm", in_="J*m")
    across, up, heights = refine_surface(surface)
    assert heights[-1][-1] == pytest.approx(2 * 4e-3 * 1e-2, rel=1e-13)
    assert heights[200][100] == pytest.approx(2 * across[100] / 1000 * up[200] / 100, rel=1e-13)


@pytest.mark.parametrize(
    ("at", "options", "message"),
    [
        ({"v": "20 m/s"}, {"range": "t=0:4"}, "cannot add"),
        ({"v": "20 m/s", "t": "1 s"}, {"range": "t=0:4 m"}, "an end of its range is a length"),
        ({"v": "20 m/s", "t": "1 s"}, {"range": "t=0:4"}, "an end of its range is a number"),
        ({"v": "20 m/s"}, {"range": "t=0:4 s", "in_": "s"}, "is for a time"),
        ({"v": "20 m/s"}, {"range": "t=4 s:0 s"}, "goes the wrong way, from 4 s down to 0 s"),
    ],
)
def test_what_is_refused(at, options, message):
    with pytest.raises(ExpressionError, match=message):
        ad.plot("v*t + 1[m]", at, **options)


def test_data_are_drawn_in_the_units_of_the_axes(tmp_path):
    path = tmp_path / "throw.csv"
    path.write_text("t [ms],y [cm],u [mm]\n500,1000,5\n1500,2950,7\n")
    drawn = ad.plot(
        "v*t",
        {"v": "20 m/s"},
        range="t=0:4 s",
        data=str(path),
        response="y",
        in_="m",
        sigma="y=u,t=10",
    )
    assert drawn.data.x == pytest.approx((0.5, 1.5)) and drawn.data.y == pytest.approx((10.0, 29.5))
    assert drawn.data.dy == pytest.approx((0.005, 0.007)) and drawn.data.dx == pytest.approx(
        (0.01, 0.01)
    )
    assert drawn.function[0][0][-1] == pytest.approx((4.0, 80.0))
    assert drawn.units.texts()["range"] == {"t": "s"}
    around = ad.plot("v*t", {"v": "20 m/s"}, data=str(path), response="y")
    assert (
        around.units.texts()["range"] == {"t": "ms"}
        and around.low == pytest.approx(450)
        and around.data.x[0] == 500
    )
    for data, message in (
        ({"t": [1, 2], "y": [1, 2]}, "the column `t` is a number, and its axis is a time"),
        ({"t [s]": [1, 2], "y": [1, 2]}, "the column `y` is a number, and its axis is a length"),
        ({"t [s]": [1, 2], "y [V]": [1, 2]}, "the column `y` is a voltage"),
    ):
        with pytest.raises(ExpressionError, match=message):
            ad.plot("v*t", {"v": "20 m/s"}, range="t=0:4 s", data=data)
    plain = ad.plot("v*t", {"v": 20}, data=str(path), response="y")
    assert plain.units is None and plain.data.y == (1000.0, 2950.0)
    left = ad.plot("v*t", {"v": 20}, data=str(path), response="y", in_="none")
    assert left.units is None and left.data.y == (1000.0, 2950.0)


def test_percentages_of_temperatures_are_not_drawn():
    data = {"T [°C]": [20, 30], "y": [1, 2]}
    with pytest.raises(ExpressionError, match="a percentage of a temperature in °C"):
        ad.plot("T*2", data=data, response="y", sigma="T=2%")
    assert ad.plot(
        "T*2", data=data, response="y", sigma="T=2%", in_="none"
    ).data.dx == pytest.approx((0.4, 0.6))


def test_equations_are_drawn_in_units():
    drawn = ad.plot(
        "y**2 = x", {"x": "4 m^2"}, for_="y", between="0 m:3 m", range="x=0.01 m^2:9 m^2", in_="cm"
    )
    assert drawn.units.texts()["value"] == "cm" and drawn.units.texts()["derivative"] == "cm/m²"
    assert drawn.tangent.value == pytest.approx(200.0) and drawn.tangent.slope == pytest.approx(
        25.0
    )
    for x, y in drawn.function[0][0]:
        assert y == pytest.approx(100 * x**0.5, rel=1e-9)
    middle = ad.plot("k*u = F", {"k": "2 kN/m"}, for_="u", range="F=0 N:40 N")
    assert (
        middle.function[0][0][-1] == pytest.approx((40.0, 0.02))
        and middle.units.texts()["value"] == "m"
    )
    data = {"F [kN]": [0.01, 0.03], "u [mm]": [5.0, 14.0]}
    both = ad.plot("k*u = F", {"k": "2 kN/m"}, for_="u", range="F=0 N:40 N", data=data)
    assert both.data.x == pytest.approx((10.0, 30.0)) and both.data.y == pytest.approx(
        (0.005, 0.014)
    )
    with pytest.raises(ExpressionError, match="takes a number"):
        ad.plot("y*exp(y) = x", {"x": 1}, range="x=0:1 m", for_="y", between="0 m:1 m")
    with pytest.raises(ExpressionError, match="cannot add an area"):
        ad.plot("y**2 + 1 = x", {"x": "4 m^2"}, for_="y", between="0 m:3 m")


def test_forms_have_the_units(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    arguments = [THROW, "--at", "v=20 m/s,t=1 s", "--range", "t=0:4 s", "--constants", "g_n"]
    assert call("plot", [*arguments, "--samples", "3", "--format", "csv"]) == 0
    heads, first, *_ = capsys.readouterr().out.splitlines()
    row = dict(zip(heads.split(","), first.split(","), strict=True))
    assert (row["x_unit"], row["value_unit"], row["derivative_unit"]) == ("s", "m", "m/s")
    assert call("plot", [*arguments, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["units"]["range"] == {"t": "s"}
    assert record["linear"] == "15.0967 m + 10.1934 m/s·(t − 1 s)"
    picture = tmp_path / "throw.svg"
    assert call("plot", [*arguments, "--output", str(picture)]) == 0
    text = picture.read_text()
    for words in ("t [s]", "f(t) [m]", "[m/s]", "tangent at t = 1 s"):
        assert f"<!-- {words}" in text or words in text, words
    assert call("plot", arguments) == 0
    assert (
        "f(t) [m] solid, f′(t) [m/s] dotted" in (out := capsys.readouterr().out)
        and "across t [s]" in out
    )
    contours = ["x*y", "--range", "x=0:1 m,y=0:2 s", "--format", "table"]
    assert call("plot", contours) == 0
    assert (
        "across x [m], up y [s]" in (out := capsys.readouterr().out)
        and "f(x, y) = x·y [m·s]" in out
    )
