"""Budgets with units: those of the GUM, the same numbers as without units, and what a unit
changes.
"""

import json
import math
import re

import pytest

from autodiff_cli.capabilities.propagate.propagate import propagate
from autodiff_cli.engine.quantities.unit import parse_unit
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.measured_units import measured_value
from autodiff_cli.questions.measured_value import quantity
from autodiff_cli.questions.parse_point import Range
from autodiff_cli.questions.sweeps import grid_of, sweeping
from running import autodiff

GAUGE = "l_s + d - l_s*(da*theta + alpha*dtheta)"
GAUGE_AT = {
    "l_s": "50.000623 mm ± 25 nm", "d": "215.0(97) nm", "da": "0.00±0.58 1/MK",
    "theta": "-0.10±0.41 K", "alpha": "uniform(9.5, 13.5) 1/MK", "dtheta": "0.000±0.029 K",
}  # fmt: skip


def test_the_gauge_block_of_the_gum():
    # JCGM 100:2008, H.1: l = 50.000838 mm with u = 32 nm, and 34 nm with the terms of second order
    answer = propagate(GAUGE, GAUGE_AT, units="nm")
    (result,) = answer.results
    assert result.written == "50000838(32)"
    assert result.second_order.uncertainty == pytest.approx(34, abs=0.5)
    assert answer.units.texts()["results"][0]["budget"]["theta"] == {
        "sensitivity": "nm/K",
        "contribution": "nm",
    }
    assert result.budget["dtheta"].contribution == pytest.approx(16.6, abs=0.1)


H2_AT = {"V": "4999.0(32) mV", "I": "19.6610(95) mA", "phi": "1.04446(75) rad"}
H2_R = {("V", "I"): -0.36, ("V", "phi"): 0.86, ("I", "phi"): -0.65}
BOLTZMANN = "32*pi**5*h*R**4*R_inf**4/(15*A_r**4*M_u**4*c**6*alpha**8)"
BOLTZMANN_AT = {
    "h": "6.62606957(29)e-34 J s", "R": "8.3144621(75) J/(mol K)",
    "R_inf": "10.973731568539(55) 1/µm", "A_r": "5.4857990946(22)e-4", "M_u": "1 g/mol",
    "c": "299792.458 km/s", "alpha": "7.2973525698(24)e-3",
}  # fmt: skip
MASS = "(m + d)*(1 + (a - 1.2[kg/m^3])*(1/w - 1/r)) - 100[g]"
MASS_AT = {
    "m": "100.000000(50) g", "d": "1234±20 µg", "a": "uniform(1.10, 1.30) kg/m^3",
    "w": "uniform(7, 9) g/cm^3", "r": "uniform(7.95, 8.05) g/cm^3",
}  # fmt: skip
PUBLISHED = [
    # source, formula, point, correlations, unit, value, standard uncertainty; to half a unit of
    # their last digits
    ("JCGM 100:2008, H.1.7", GAUGE, GAUGE_AT, {}, "nm", "50000838", "32"),
    ("JCGM 100:2008, H.2.3, R", "V/I*cos(phi)", H2_AT, H2_R, "Ω", "127.732", "0.070"),
    ("JCGM 100:2008, H.2.3, X", "V/I*sin(phi)", H2_AT, H2_R, "Ω", "219.847", "0.296"),
    ("JCGM 100:2008, H.2.3, Z", "V/I", {x: H2_AT[x] for x in "VI"}, {("V", "I"): -0.36}, "mΩ", "254260", "237"),
    ("JCGM 100:2008, H.3.4", "y_1 + y_2*(t - t_0)",
     {"y_1": "-171.2(29) mK", "y_2": "2.18(67) mK/K", "t": "30 °C", "t_0": "20 °C"}, {("y_1", "y_2"): -0.930},
     "K", "-0.1494", "0.0041"),
    ("JCGM 101:2008, 9.3.2", MASS, MASS_AT, {}, "mg", "1.234", "0.0539"),
    ("NIST Uncertainty Machine, user's manual, example 10", BOLTZMANN, BOLTZMANN_AT, {}, "W/(m^2 K^4)", "5.67037e-8",
     "2.05e-13"),
    ("NIST TN 1900, E3", "mu_c*t_m*(rho_b - rho_m)/(t_c*(rho_b - rho_c))",
     {"mu_c": "4.63+-1% mPa s", "t_m": "61+-10% s", "t_c": "0.610±0.0915 min", "rho_b": "2217.0(5) kg/m^3",
      "rho_m": "1.1800(5) g/cm^3", "rho_c": "810.0(5) g/L"}, {}, "mPa s", "5.69", "1.03"),
    ("NIST TN 1900, E13", "(L1 - L0)/(L0*(T1 - T0))",
     {"L0": "1499.9±0.1 mm", "L1": "1.5021±0.0002 m", "T0": "15.00±0.02 °C", "T1": "373.10±0.05 K"}, {}, "MK^-1",
     "17.266", "1.76"),
]  # fmt: skip
"""With the inputs as they are rounded in the GUM, whose uncertainties come from unrounded ones in
H.2.
"""


def in_last_digits(number: float, published: str) -> bool:
    digits, _, power = published.partition("e")
    return abs(number - float(published)) <= 0.5000001 * 10.0 ** (
        int(power or 0) - len(digits.partition(".")[2])
    )


@pytest.mark.parametrize(
    ("text", "at", "correlation", "unit", "value", "uncertainty"),
    [case[1:] for case in PUBLISHED],
    ids=[case[0] for case in PUBLISHED],
)
def test_published_budgets(text, at, correlation, unit, value, uncertainty):
    answer = propagate(text, at, correlation=correlation, units=unit)
    (result,) = answer.results
    assert in_last_digits(result.value, value) and in_last_digits(result.uncertainty, uncertainty)
    assert answer.units.texts()["results"][0]["value"] == str(parse_unit(unit))
    # without correlations the contributions add up in squares
    if not correlation:
        squares = sum(share.contribution**2 for share in result.budget.values())
        assert squares**0.5 == pytest.approx(result.uncertainty, rel=1e-12)


def test_draws_of_the_calibrated_mass():
    # JCGM 101:2008, 9.3.3, table 7: mean, standard deviation and shortest 95 % interval in mg;
    # 9.3.2.6 to second order
    (result,) = propagate(MASS, MASS_AT, units="mg", samples=200_000).results
    assert result.drawn.mean == pytest.approx(1.2341, abs=1e-3)
    assert result.drawn.deviation == pytest.approx(0.0754, rel=0.01)
    assert result.drawn.shortest == pytest.approx((1.0834, 1.3825), abs=4e-3)
    assert (
        result.second_order.uncertainty == pytest.approx(0.0750, abs=5e-5)
        and result.validation.valid is False
    )


SI = {"F": "1500±20", "L": "2.000±0.003", "E": "210e9±4.2e9", "I": "171e-8"}
UNITS = {"F": "1.50(2) kN", "L": "2000±3 mm", "E": "210±2% GPa", "I": "171 cm^4"}


def test_numbers_are_those_without_units():
    text = "F*L**3/(48*E*I)"
    (plain,), (measured,) = propagate(text, SI).results, propagate(text, UNITS, units="mm").results
    assert measured.value == pytest.approx(1000 * plain.value, rel=1e-14)
    assert measured.uncertainty == pytest.approx(1000 * plain.uncertainty, rel=1e-13)
    assert measured.expanded == pytest.approx(1000 * plain.expanded, rel=1e-13)
    assert measured.second_order.uncertainty == pytest.approx(
        1000 * plain.second_order.uncertainty, rel=1e-9
    )
    for name, factor in (("F", 1e3), ("L", 1e-3), ("E", 1e9)):
        mine, theirs = measured.budget[name], plain.budget[name]
        assert mine.share == pytest.approx(theirs.share, rel=1e-12)
        # mm/kN and mm/GPa; by a length it is a number
        slope = theirs.sensitivity * (1 if name == "L" else 1000 * factor)
        assert mine.sensitivity == pytest.approx(slope, rel=1e-12)
        assert mine.contribution == pytest.approx(1000 * theirs.contribution, rel=1e-12)


def test_draws_are_in_the_unit():
    answer = propagate(
        "U/R", {"U": "12.0 V ± 20 mV", "R": "uniform(4.9, 5.1) kΩ"}, samples=20_000, units="mA"
    )
    (result,) = answer.results
    assert result.drawn.mean == pytest.approx(2.4003, abs=1e-3)
    assert result.drawn.deviation == pytest.approx(result.uncertainty, rel=0.02)
    assert answer.inputs["R"].distribution.parameters == (pytest.approx(4.9), pytest.approx(5.1))
    assert result.budget["U"].contribution == pytest.approx(0.020 / 5, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "value", "u", "unit"),
    [
        ("2.000(3) m", 2.0, 0.003, "m"), ("5±2% V", 5.0, 0.1, "V"), ("19.66(10)e-3 A", 0.01966, 1e-4, "A"),
        ("12.0 V ± 20 mV", 12.0, 0.02, "V"), ("5.00 ± 0.04 mm (k = 2)", 0.005, 2e-5, "mm"),
        ("(5.0±0.1) mm", 0.005, 1e-4, "mm"),
        ("12.0 V ± 2%", 12.0, 0.24, "V"), ("12.0 kV +- 2 % (k = 2)", 12e3, 120.0, "kV"),
        ("20.0±0.5 °C", 293.15, 0.5, "°C"), ("68±1 °F", 293.15, 5 / 9, "°F"), ("5.0 +/- 0.1 m/s^2", 5.0, 0.1, "m/s²"),
        ("uniform(4.9, 5.1) mm", 0.005, 0.0002 / 12**0.5, "mm"), ("normal(5, 0.1) kN", 5000.0, 100.0, "kN"),
        ("student(5, 0.1, 9) kN", 5000.0, 100.0, "kN"), ("1.0 rad ± 1 °", 1.0, math.pi / 180, "rad"),
        ("180 ° ± 0.01 rad", math.pi, 0.01, "°"), ("1 rev ± 1°", 2 * math.pi, math.pi / 180, "rev"),
    ],
)  # fmt: skip
def test_reading(text, value, u, unit):
    measured = measured_value("x", text)
    assert float(measured) == pytest.approx(value, rel=1e-15)
    assert measured.uncertainty == pytest.approx(u, rel=1e-12)
    assert measured.unit == parse_unit(unit)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ExpressionError, match="cannot add a voltage"):
        propagate("U + I", {"U": "5.0(1) V", "I": "2.0(1) A"})
    with pytest.raises(ExpressionError, match="cannot subtract"):
        propagate("x**2 + 1 = a", {"a": "2.0(1) m^2"}, unknowns=["x"], between=Range(0.0, 3.0))
    with pytest.raises(ExpressionError, match="the answer is a length"):
        propagate("L", {"L": "2.0(1) m"}, units="s")
    with pytest.raises(
        ExpressionError,
        match=r"the value is a voltage \(V\), and its uncertainty is an electric current",
    ):
        propagate("U", {"U": "12.0 V ± 20 mA"})
    for text in ("-300±1 °C", "-300 °C ± 1 K", "-500(1) °F"):
        with pytest.raises(ExpressionError, match="is below absolute zero"):
            propagate("T", {"T": text})
    for text in ("1e306±1e300 km", "uniform(-1e307, 1e307) km", "1±1 Ym^14"):
        with pytest.raises(ExpressionError, match="too large for double precision"):
            propagate("x", {"x": text})
    for text in ("20 °C ± 2%", "20±2% °C", "68 ± 1 % °F"):
        with pytest.raises(ExpressionError, match="a percentage of a temperature in °"):
            propagate("T", {"T": text})


def test_equations_with_units_have_the_budget_of_their_solution():
    """A pendulum's length by its period, as an equation and solved by hand."""
    values = {"T": "2.006(4) s", "g": "981.2±0.5 cm/s^2"}
    options = {"units": "mm", "samples": 20_000}
    implicit = propagate("T = 2*pi*sqrt(L/g)", values, unknowns=["L"], **options)
    explicit = propagate("g*(T/(2*pi))**2", values, **options)
    (one,), (other,) = implicit.results, explicit.results
    assert one.value == pytest.approx(other.value, rel=1e-12) and one.value == pytest.approx(
        1000.13, abs=0.1
    )
    assert one.uncertainty == pytest.approx(other.uncertainty, rel=1e-10)
    for name in values:
        assert one.budget[name].sensitivity == pytest.approx(
            other.budget[name].sensitivity, rel=1e-10
        )
        assert one.budget[name].contribution == pytest.approx(
            other.budget[name].contribution, rel=1e-10
        )
    assert one.drawn.deviation == pytest.approx(other.drawn.deviation, rel=0.02)
    assert one.second_order.uncertainty == pytest.approx(other.second_order.uncertainty, rel=1e-8)
    assert implicit.units.texts()["results"] == explicit.units.texts()["results"]


def test_two_equations_with_units():
    values = {"a": "4.0±0.1 m", "b": "20±1 cm"}
    answer = propagate("x + y = a; x - y = b", values, unknowns=["x", "y"], units="cm, mm")
    assert [result.value for result in answer.results] == pytest.approx([210.0, 1900.0], rel=1e-12)
    spread = (10.0**2 + 1.0**2) ** 0.5 / 2
    assert [result.uncertainty for result in answer.results] == pytest.approx(
        [spread, 10 * spread], rel=1e-12
    )
    assert answer.covariance[0][1] == pytest.approx(10 * (10.0**2 - 1.0**2) / 4, rel=1e-10)


def test_rows_of_equations_have_units(tmp_path):
    (tmp_path / "ui.csv").write_text("U (V),I (mA)\n1.98,20\n2.5,30\n")
    options = ("--points", str(tmp_path / "ui.csv"), "--at", "U=±0.1", "--wide")
    for more, unit, times in (((), "V/mA", 1.0), (("--in", "ohm"), "Ω", 1000.0)):
        lines = autodiff("propagate", "U = R*I", "--for", "R", *options, *more).out.splitlines()
        assert lines[0] == f"value [{unit}],uncertainty [{unit}],expanded [{unit}],result,error"
        for line, (u, i) in zip(lines[1:], ((1.98, 20), (2.5, 30)), strict=True):
            value, spread = map(float, line.split(",")[:2])
            assert (value, spread) == pytest.approx((times * u / i, times * 0.1 / i), rel=1e-12)
    offset = autodiff(
        "propagate", "U = R*I + 980[mV]", "--for", "R", *options, "--in", "ohm"
    ).out.splitlines()
    assert float(offset[1].split(",")[0]) == pytest.approx(50.0, rel=1e-12)
    plain = autodiff(
        "propagate", "U = R*I", "--for", "R", *options, "--in", "none"
    ).out.splitlines()
    assert plain[0].startswith("value,uncertainty") and plain[1].startswith("0.099,")


def test_percentages_of_temperatures_in_columns_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("T [°C],y\n20,1\n22,2\n25,3.5\n27,4\n")
    (tmp_path / "k.csv").write_text("T [K],y\n20,1\n22,2\n25,3.5\n27,4\n")
    commands = (
        ("propagate", "2*T", "--at", "T=±2%", "--wide", "--points"),
        ("fit", "y = a*T + b", "--sigma", "y=0.1, T=2%", "--data"),
        ("fit", "T = a*y + b", "--sigma", "2%", "--data"),
    )
    for command in commands:
        refused = autodiff(*command, str(tmp_path / "t.csv"))
        assert (
            refused.code == 2
            and not refused.out
            and "a percentage of a temperature in °C" in refused.err
        )
        assert "--in none" in refused.err
        assert autodiff(*command, str(tmp_path / "t.csv"), "--in", "none").code == 0
        assert autodiff(*command, str(tmp_path / "k.csv")).code == 0


def test_every_form_has_the_units():
    command = ("propagate", "U/R", "--at", "U=12.0(1) V, R=4.7±1% kΩ", "--in", "mA")
    assert "2.553(33) mA" in autodiff(*command).out
    record = json.loads(autodiff(*command, "--json").out)
    assert (
        record["units"]["results"][0]["value"] == "mA"
        and record["units"]["inputs"]["R"]["estimate"] == "kΩ"
    )
    rows = autodiff(*command, "--format", "csv").out.splitlines()
    assert rows[0].count("_unit") == 5 and ",kΩ," in rows[2]
    assert re.fullmatch(
        r"[\d.]+\[mA\] u=[\d.]+\[mA\] U=[\d.]+\[mA\] k=[\d.]+\n",
        autodiff(*command, "--format", "plain").out,
    )
    assert r"{\milli\ampere}" in autodiff(*command, "--format", "latex").out


@pytest.mark.parametrize(
    ("text", "plain", "unit", "factor"),
    [
        ("5.0 +0.2 -0.1 mm", "5.0 +0.2 -0.1", "mm", 1e-3), ("5.0_{-0.1}^{+0.2} ms", "5.0 +0.2 -0.1", "ms", 1e-3),
        ("beta(2, 3, 4.9, 5.1) km", "beta(2, 3, 4.9, 5.1)", "km", 1e3), ("gamma(3, 2) ms", "gamma(3, 2)", "ms", 1e-3),
        ("exponential(3) min", "exponential(3)", "min", 60), ("student(5, 0.1, 7) kV", "student(5, 0.1, 7)", "kV", 1e3),
        ("trapezoidal(4, 6, 0.5) mA", "trapezoidal(4, 6, 0.5)", "mA", 1e-3), ("5.00(2) 1/ms", "5.00(2)", "1/ms", 1e3),
        ("(5.00 ± 0.02) 1/min", "5.00 ± 0.02", "1/min", 1 / 60), ("uniform(4, 6) 1/s", "uniform(4, 6)", "1/s", 1),
    ],
)  # fmt: skip
def test_distributions_have_units(text, plain, unit, factor):
    measured, alone = measured_value("x", text), quantity("x", plain)
    assert float(measured) == pytest.approx(factor * alone, rel=1e-14)
    assert measured.uncertainty == pytest.approx(factor * alone.uncertainty, rel=1e-14)
    assert measured.unit == parse_unit(unit)
    assert propagate("x", {"x": text}).inputs["x"].distribution == alone.distribution
    # the draws of both are alike
    (one,), (other,) = (propagate("x**2", {"x": x}, samples=2000).results for x in (text, plain))
    assert one.drawn.mean == pytest.approx(other.drawn.mean, rel=1e-12)
    assert one.drawn.deviation == pytest.approx(other.drawn.deviation, rel=1e-12)


def test_an_asymmetric_uncertainty_is_described_in_its_unit():
    (warning,) = propagate("x", {"x": "5.0 +0.2 -0.1 mm"}).warnings
    # the mean of the two halves is 5 + √(2/π)·0.1
    for words in (
        "meet at 5 mm",
        "0.1 mm below and 0.2 mm above",
        "its mean is 5.07979 mm",
        "u 0.153733 mm",
    ):
        assert words in warning.message
    (warning,) = propagate("x", {"x": "20 +2 -1 °C"}).warnings
    assert "meet at 20 °C" in warning.message and "1 K below and 2 K above" in warning.message
    with pytest.raises(ExpressionError, match="begins at 0, and 0 °C is not absolute zero"):
        measured_value("T", "exponential(3) °C")


def test_degrees_fahrenheit_are_smaller_than_kelvins():
    # SI Brochure, 9th edition, and NIST SP 811: a difference of 1 °F is 5/9 K
    answer = propagate("T", {"T": "68±1 °F"})
    assert answer.results[0].uncertainty == pytest.approx(5 / 9, rel=1e-14)
    assert answer.inputs["T"].uncertainty == pytest.approx(1, rel=1e-14)
    assert answer.units.texts()["inputs"]["T"] == {"estimate": "°F", "uncertainty": "°F"}
    answer = propagate("T", {"T": "20.0±0.5 °C"}, units="°F")
    (result,) = answer.results
    assert (result.value, result.uncertainty) == pytest.approx((68, 0.9), rel=1e-14)
    texts = answer.units.texts()
    assert (
        texts["results"][0]["uncertainty"]
        == texts["results"][0]["budget"]["T"]["contribution"]
        == "°F"
    )
    assert texts["inputs"]["T"] == {"estimate": "°C", "uncertainty": "K"}


def test_a_document_has_the_prefix_that_suits_the_result():
    point = {"F": "1.00±0.01 N", "k": "8000±10 N/m"}
    plain, sized = (
        propagate("F/k", point, samples=2000, by_size=by_size) for by_size in (False, True)
    )
    (one,), (other,) = plain.results, sized.results
    texts = [answer.units.texts()["results"][0] for answer in (plain, sized)]
    assert [text["value"] for text in texts] == ["m", "µm"] and other.written == "125.0(13)"
    assert texts[1]["budget"]["F"] == {"sensitivity": "µm/N", "contribution": "µm"}
    for field in ("value", "uncertainty", "expanded"):
        assert getattr(other, field) == pytest.approx(1e6 * getattr(one, field), rel=1e-12)
    assert other.budget["F"].sensitivity == pytest.approx(
        1e6 * one.budget["F"].sensitivity, rel=1e-12
    )
    assert other.second_order.shift == pytest.approx(1e6 * one.second_order.shift, rel=1e-6)
    assert other.drawn.shortest == pytest.approx([1e6 * x for x in one.drawn.shortest], rel=1e-12)
    # nobody's choice is changed, and machines have one unit for all sizes
    assert propagate("F/k", point, units="m", by_size=True).results[0].written == "0.0001250(13)"
    at = ",".join(f"{name}={x}" for name, x in point.items())
    assert "F/k = 125.0(13) µm" in autodiff("propagate", "F/k", "--at", at).out
    assert autodiff("propagate", "F/k", "--at", at, "--format", "plain").out.startswith(
        "0.000125[m]"
    )


SWEPT_UNITS = {"km": ("L", 1000, 0), "mm": ("L", 1e-3, 0), "V": ("U", 1, 0), "mV": ("U", 1e-3, 0)}
SWEPT_UNITS |= {"°C": ("T", 1, 273.15), "°F": ("T", 5 / 9, 459.67 * 5 / 9), "K": ("T", 1, 0)}
SWEEPS = {
    "10:30:10 {u}": [10, 20, 30], "10 {u}:30 {u}:10 {u}": [10, 20, 30], "10:30/3 {u}": [10, 20, 30],
    "10 {u}:30 {u}/3": [10, 20, 30], "{{10,20}} {u}": [10, 20], "{{10 {u},20 {u}}}": [10, 20],
    "log(1:100)/3 {u}": [1, 10, 100], "log(1 {u}:100 {u})/3": [1, 10, 100],
    "(5+5):30:10 {u}": [10, 20, 30],
}  # fmt: skip


def swept(text):
    grid = grid_of({"v": sweeping(measured_value)("v", text)})
    points = [point["v"] for point in grid.points()]
    return points, grid.columns(0, grid.size)["v"]


@pytest.mark.parametrize("form", SWEEPS)
@pytest.mark.parametrize("unit", SWEPT_UNITS)
def test_a_swept_value_keeps_its_unit_beside_an_uncertainty(form, unit):
    dimension, scale, zero = SWEPT_UNITS[unit]
    numbers = SWEEPS[form]
    spreads = {
        f"±0.5 {other}": [0.5 * by] * len(numbers)
        for other, (of, by, _) in SWEPT_UNITS.items()
        if of == dimension
    }
    if not zero:
        spreads["± 5%"] = [0.05 * x * scale for x in numbers]
    for spread, uncertainties in spreads.items():
        points, column = swept(form.format(u=unit) + spread)
        assert [x.number for x in points] == pytest.approx(numbers), spread
        assert points == pytest.approx([x * scale + zero for x in numbers], rel=1e-12)
        assert column == pytest.approx([*points], rel=1e-12)
        assert [x.uncertainty for x in points] == pytest.approx(uncertainties, rel=1e-12)
    other = next(name for name, (of, _, _) in SWEPT_UNITS.items() if of != dimension)
    for refused in (f"±0.5 {other}", "±0.5"):
        with pytest.raises(ExpressionError):
            swept(form.format(u=unit) + refused)


@pytest.mark.parametrize("spelling", ["1±0.1,2±0.2", "1.0(1),2.0(2)", "1±10%,2±10%"])
def test_listed_uncertainties_before_their_unit_are_kept(spelling):
    points, _ = swept(f"{{{spelling}}} km")
    assert points == pytest.approx([1000, 2000])
    assert [x.uncertainty for x in points] == pytest.approx([100, 200])


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("20.0±0.1 mm", "(20.00 ± 0.10) mm"), ("2.0(1) kN", "(2.00 ± 0.10) kN"), ("20 °C ± 1.8 °F", "(20.0 ± 1.0) °C"),
        ("5.0±2% V", "(5.00 ± 0.10) V"), ("5±0.1", "5.00 ± 0.10"), ("180±9 deg", "(180.0 ± 9.0) °"), ("5 mm", "5 mm"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("format", "mark"), [("table", ""), ("markdown", "`")])
def test_an_uncertainty_in_all_rows_is_in_the_unit_of_its_value(typed, shown, format, mark):
    shown_lines = autodiff(
        "propagate", "v*w", "--at", f"v={{1,2}}±0.1,w={typed}", "--format", format
    ).out
    assert f"in all rows: {mark}w{mark} = {shown}" in shown_lines.splitlines()


@pytest.mark.parametrize(
    ("heading", "spread", "more", "uncertainty"),
    [
        ("T [°C]", "±1 °F", ["--in", "K"], 5 / 9), ("T [°C]", "±1 K", ["--in", "K"], 1),
        ("T [°F]", "±1 K", ["--in", "K"], 1),
        ("T [°F]", "±1", ["--in", "K"], 5 / 9), ("T [V]", "±20 mV", [], 0.02), ("T [mV]", "± 1 V", [], 1000),
        ("T [V]", "±40 mV (k = 2)", [], 0.02), ("T [V]", "±20 mV", ["--in", "mV"], 20), ("T [km]", "±5%", [], 1),
    ],
)  # fmt: skip
def test_the_uncertainty_of_all_rows_has_a_unit_of_its_own(
    tmp_path, heading, spread, more, uncertainty
):
    (tmp_path / "rows.csv").write_text(f"{heading}\n20\n20\n", encoding="utf-8")
    at = ["--points", str(tmp_path / "rows.csv"), "--at", f"T={spread}", "--json", *more]
    for row in json.loads(autodiff("propagate", "T", *at).out):
        assert row["results"][0]["uncertainty"] == pytest.approx(uncertainty, rel=1e-12)


@pytest.mark.parametrize(
    ("heading", "spread", "more", "message"),
    [
        ("T", "±20 mV", [], "its column has no unit"), ("T [V]", "±1 kg", [], "`T` is a voltage"),
        ("T [V]", "±20 mV", ["--in", "none"], "units are ignored"), ("T [V]", "±5% V", [], "is a percentage"),
    ],
)  # fmt: skip
def test_the_uncertainty_of_all_rows_in_no_unit_of_its_column_is_refused(
    tmp_path, heading, spread, more, message
):
    (tmp_path / "rows.csv").write_text(f"{heading}\n20\n20\n", encoding="utf-8")
    answer = autodiff(
        "propagate", "T", "--points", str(tmp_path / "rows.csv"), "--at", f"T={spread}", *more
    )
    assert message in answer.err
    assert answer.code == 2
