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
    curve = ad.plot(THROW, {"v": "20 m/s", "t": "1500 ms"}, range="t=0:4 s", constants="g_n", in_="cm", order=2)
    assert (curve.low, curve.high) == (0.0, 4000.0)
    for t, height in points(curve):
        assert height == pytest.approx(100 * (20 * t / 1000 - G * (t / 1000) ** 2 / 2), abs=1e-9)
    for t, slope in curve.derivative.stretches[0]:
        assert slope == pytest.approx((20 - G * t / 1000) / 10, abs=1e-12)  # cm by ms
    assert curve.second.stretches[0][0][1] == pytest.approx(-G * 1e-4, rel=1e-13)
    assert curve.tangent.at == 1500.0 and curve.tangent.slope == pytest.approx((20 - G * 1.5) / 10, rel=1e-13)
    units = curve.units.texts()
    assert (units["value"], units["derivative"], units["second"]) == ("cm", "cm/ms", "cm/ms²")
    assert units["range"] == {"t": "ms"} and units["point"] == {"v": "m/s", "t": "ms", "g_n": "m/s²"}
    assert curve.formula == "v - g_n*t"


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
    assert surface.value == pytest.approx(6.0, rel=1e-14) and surface.gradient == pytest.approx((8.0, 2.0), rel=1e-13)
    units = surface.units.texts()
    assert units["value"] == "mJ·mm" and units["range"] == {"x": "mm", "y": "mm"}


def test_finer_grids_of_contours_are_in_the_units_of_the_axes():
    pytest.importorskip("numpy")
    from autodiff_cli.curves.contours import refined

    surface = ad.plot("F*x*y", {"F": "2 N"}, range="x=0:4 mm,y=0 cm:1 cm", in_="J*m")
    across, up, heights = refined(surface)
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


def test_data_are_drawn_without_units():
    data = {"t": [1, 2], "y": [1, 2]}
    with pytest.raises(ExpressionError, match="drawn over numbers without units"):
        ad.plot("v*t", {"v": "20 m/s"}, range="t=0:4 s", data=data)


def test_equations_are_drawn_without_units():
    with pytest.raises(ExpressionError, match="has a unit"):
        ad.plot("y*exp(y) = x", {"x": 1}, range="x=0:1 m", for_="y")
    with pytest.raises(ExpressionError, match="equations take no values with units"):
        ad.plot("y**2 = x", {"x": "1 m^2"}, for_="y", between="0 m:3 m")


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
    assert "f(t) [m] solid, f′(t) [m/s] dotted" in (out := capsys.readouterr().out) and "across t [s]" in out
    contours = ["x*y", "--range", "x=0:1 m,y=0:2 s", "--format", "table"]
    assert call("plot", contours) == 0
    assert "across x [m], up y [s]" in (out := capsys.readouterr().out) and "f(x, y) = x·y [m·s]" in out
