"""Fits with units: columns in the units of their headings, parameters in those that make the
formula consistent.
"""

import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import autodiff_cli as ad
from autodiff_cli.engine.numbers.dimensions import UnknownDimensions
from autodiff_cli.engine.quantities.presentation import factor
from autodiff_cli.engine.quantities.unit import NUMBER, Elimination, UnitSystem, parse_unit
from autodiff_cli.errors import ExpressionError
from running import autodiff

T = [0.0, 0.5, 1.0, 2.0, 3.5, 5.0]
U = [5.02, 3.89, 3.05, 1.84, 0.90, 0.39]
"""A discharge, in seconds and volts."""

I = [10.1, 20.0, 30.2, 39.9, 50.1]  # noqa: E741
V = [1.02, 1.98, 3.05, 3.96, 5.03]
"""A resistor, in mA and V."""


def in_si(answer: Any, name: str) -> tuple[float, float]:
    """An estimate with its standard error in coherent units."""
    unit = answer.units["parameters"][name]
    each = answer.parameters[name]
    return unit.to_si(each.estimate), unit.to_si(each.error)


def test_units_change_no_number_where_the_formula_needs_no_factor():
    plain = ad.fit("U = R*I + U0", data={"U": V, "I": I}, predict={"I": [25]})
    measured = ad.fit("U = R*I + U0", data={"U (V)": V, "I [mA]": I}, predict={"I": [25]})
    assert measured.units.texts()["parameters"] == {"R": "V/mA", "U0": "V"}
    assert measured.units.texts()["data"] == {"I": "mA", "U": "V"}
    for name in ("R", "U0"):
        assert measured.parameters[name] == plain.parameters[name]
    assert (measured.rss, measured.fitted, measured.curve) == (plain.rss, plain.fitted, plain.curve)
    assert measured.predictions == plain.predictions
    assert plain.units is None


def test_a_volt_by_an_ampere_is_an_ohm():
    answer = ad.fit("U = R*I + U0", data={"U (mV)": V, "I (mA)": I})
    assert answer.units.texts()["parameters"] == {"R": "Ω", "U0": "mV"}


@pytest.mark.parametrize("volt", ["V", "mV", "kV"])
@pytest.mark.parametrize("second", ["s", "ms", "min", "h"])
def test_a_fit_is_the_same_one_in_all_units(volt: str, second: str):
    optimize = pytest.importorskip("scipy.optimize")
    numpy = pytest.importorskip("numpy")
    data = {
        f"U ({volt})": [x / parse_unit(volt).to_si(1.0) for x in U],
        f"t/{second}": [x / parse_unit(second).to_si(1.0) for x in T],
    }
    start = {"k": f"{0.4 * 3600!r} 1/h"}
    answer = ad.fit(
        "U = U0*exp(-k*t) + c",
        data=data,
        at=start,
        sigma="50 mV",
        predict={"t": ["2000 ms" and 2.0]},
    )
    theirs, covariance = optimize.curve_fit(
        lambda t, u0, k, c: u0 * numpy.exp(-k * t) + c,
        T,
        U,
        [5, 0.4, 0],
        [0.05] * 6,
        absolute_sigma=True,
    )
    for name, value, error in zip(
        ("U0", "k", "c"), theirs, numpy.sqrt(numpy.diag(covariance)), strict=True
    ):
        assert in_si(answer, name) == (
            pytest.approx(value, rel=1e-6, abs=1e-7),
            pytest.approx(error, rel=1e-5),
        )
    residuals = (
        numpy.array(U) - theirs[0] * numpy.exp(-theirs[1] * numpy.array(T)) - theirs[2]
    ) / 0.05
    assert answer.rss == pytest.approx(float(residuals @ residuals), rel=1e-6)
    assert str(answer.units["parameters"]["k"]) == "h⁻¹"


def test_columns_that_belong_to_no_system_are_converted():
    numpy = pytest.importorskip("numpy")
    s, v, t = [1.0, 2.0, 3.0, 3.9], [2.0, 1.0, 0.5, 0.4], [5.0, 21.0, 60.0, 95.0]
    answer = ad.fit("s = a*v*t + b", data={"s (cm)": s, "v (m/s)": v, "t (ms)": t})
    # m/s times ms is mm, a tenth of a cm
    rows = numpy.column_stack([numpy.array(v) * t / 10, numpy.ones(4)])
    a, b = numpy.linalg.lstsq(rows, numpy.array(s), rcond=None)[0]
    assert answer.parameters["a"].estimate == pytest.approx(a, rel=1e-12)
    assert answer.parameters["b"].estimate == pytest.approx(b, rel=1e-12)
    assert answer.units.texts()["parameters"] == {"a": "1", "b": "cm"}
    # what is shown of the columns is as it was typed
    assert (answer.columns["v"], answer.columns["s"]) == (v, s)


def test_a_column_beside_another_one_of_its_dimension():
    answer = ad.fit(
        "U1 = a*U2 + b*k",
        data={"U1 (V)": [1, 2, 3], "U2 (mV)": [2000, 4100, 5900], "k (1)": [1, 2, 2]},
    )
    plain = ad.fit("U1 = a*U2 + b*k", data={"U1": [1, 2, 3], "U2": [2.0, 4.1, 5.9], "k": [1, 2, 2]})
    for name in ("a", "b"):
        assert answer.parameters[name].estimate == pytest.approx(
            plain.parameters[name].estimate, rel=1e-12
        )
    assert answer.units.texts()["parameters"] == {"a": "1", "b": "V"}


def test_degrees_are_angles():
    degrees = [10.0, 20.0, 30.0, 50.0]
    answer = ad.fit(
        "M = M0*sin(phi)",
        data={"M (N m)": [math.sin(math.radians(x)) for x in degrees], "phi (°)": degrees},
    )
    assert answer.parameters["M0"].estimate == pytest.approx(1, rel=1e-12)
    assert answer.columns["phi"] == degrees and answer.curve[-1][0] == pytest.approx(50, rel=1e-12)


def test_units_that_are_asked_for():
    answer = ad.fit("U = R*I + U0", data={"U (V)": V, "I (mA)": I}, in_="R=kohm,U0=mV")
    plain = ad.fit("U = R*I + U0", data={"U": V, "I": I})
    assert answer.parameters["R"].estimate == pytest.approx(
        plain.parameters["R"].estimate, rel=1e-14
    )
    assert answer.parameters["U0"].error == pytest.approx(
        plain.parameters["U0"].error * 1000, rel=1e-14
    )
    assert answer.parameters["U0"].interval[1] == pytest.approx(
        plain.parameters["U0"].interval[1] * 1000, rel=1e-14
    )
    assert answer.point["U0"] == answer.parameters["U0"].estimate
    assert answer.units.texts()["parameters"] == {"R": "kΩ", "U0": "mV"}
    with pytest.raises(
        ExpressionError, match=r'`R` is a resistance \(Ω\), and `in_="kg"` is for a mass'
    ):
        ad.fit("U = R*I + U0", data={"U (V)": V, "I (mA)": I}, in_="R=kg")
    none = ad.fit("U = R*I + I", data={"U (V)": V, "I (mA)": I}, in_="none")
    assert none.units is None


def test_starts_bounds_and_held_values_with_units():
    data = {"U (V)": U, "t (min)": [x / 60 for x in T]}
    bounded = ad.fit(
        "U = U0*exp(-k*t)", data=data, at={"k": "0.2 1/s"}, bounds={"k": ("0.1 1/s", "0.3 1/s")}
    )
    assert (
        bounded.parameters["k"].estimate == pytest.approx(0.3)
        and bounded.parameters["k"].held == "bound"
    )
    assert str(bounded.units["parameters"]["k"]) == "s⁻¹"
    held = ad.fit("U = U0*exp(-k*t)", data=data, fix={"U0": "5000 mV"}, at={"k": 30})
    assert (
        held.parameters["U0"].estimate == pytest.approx(5000)
        and str(held.units["parameters"]["U0"]) == "mV"
    )
    # a number without a unit is in that of the answer
    number = ad.fit("U = U0*exp(-k*t)", data=data, fix={"U0": 5}, at={"k": 30})
    assert number.parameters["k"].estimate == pytest.approx(held.parameters["k"].estimate, rel=1e-9)
    with pytest.raises(ExpressionError, match="values of two dimensions"):
        ad.fit("U = U0*exp(-k*t)", data=data, at={"k": "1 s"}, bounds={"k": (None, "1 1/s")})


def test_uncertainties_in_their_own_units():
    data = {"U (V)": V, "I (mA)": I, "sU (mV)": [20] * 5, "sI (µA)": [100] * 5}
    answer = ad.fit("U = R*I + U0", data=data, sigma={"U": "sU", "I": "sI"})
    plain = ad.fit(
        "U = R*I + U0",
        data={"U": V, "I": I, "sU": [0.02] * 5, "sI": [0.1] * 5},
        sigma={"U": "sU", "I": "sI"},
    )
    for name in ("R", "U0"):
        assert answer.parameters[name].estimate == pytest.approx(
            plain.parameters[name].estimate, rel=1e-9
        )
        assert answer.parameters[name].error == pytest.approx(
            plain.parameters[name].error, rel=1e-9
        )
    assert answer.sigma["U"] == pytest.approx([0.02] * 5) and answer.sigma["I"] == pytest.approx(
        [0.1] * 5
    )
    assert answer.goodness.chi_squared == pytest.approx(plain.goodness.chi_squared, rel=1e-9)
    with pytest.raises(ExpressionError, match="`U` is a voltage"):
        ad.fit("U = R*I", data=data, sigma="5 mA")


@pytest.mark.parametrize(
    ("formula", "message", "place"),
    [
        (
            "U = R*I + I/2",
            "the formula gives an electric current (A), and `U` is a voltage (V)",
            "R*I + I/2",
        ),
        (
            "U = R*I + exp(I)*c",
            "`exp` takes a number, and this is an electric current (A)",
            "exp(I)",
        ),
        ("U = R*I**n + U0", "a power of an electric current (A) needs a constant exponent", "I**n"),
        ("U = R*(I + c*I) + (c + I)*d", "cannot add a number and an electric current (A)", "c + I"),
        ("log(U) = a*I", "`log` takes a number, and this is a voltage (V)", "log(U)"),
    ],
)
def test_formulas_whose_dimensions_do_not_fit_together(formula: str, message: str, place: str):
    with pytest.raises(ExpressionError) as raised:
        ad.fit(formula, data={"U (V)": V, "I (mA)": I})
    error = raised.value
    assert (
        message in str(error)
        and error.kind == "dimension"
        and (error.hint or "").endswith('in_="none"`')
    )
    assert error.span is not None and formula[error.span.start : error.span.end] == place


def test_units_that_the_formula_does_not_determine():
    answer = ad.fit("U = a*b*I + c", data={"U (V)": V, "I (mA)": I}, fix={"b": 2})
    assert answer.units.texts()["parameters"] == {"a": None, "b": None, "c": "V"}
    assert [w.message for w in answer.warnings if w.kind == "unit"] == [
        "the formula does not determine the unit of `a`, `b`"
    ]
    answer = ad.fit("U = a*b*I + c", data={"U (V)": V, "I (mA)": I}, fix={"b": "2 ohm"})
    assert answer.units.texts()["parameters"] == {"a": "1", "b": "Ω", "c": "V"}


def test_units_count_where_no_zero_is_shifted_or_some_are_asked_for():
    data = {"U (V)": V, "I (°C)": I}
    plain = ad.fit("U = R*I + U0", data={"U": V, "I": I})
    answer = ad.fit("U = R*I + U0", data=data)
    assert answer.units is None and answer.parameters == plain.parameters
    reason = "`I` is in °C, whose 0 is not absolute zero"
    assert [w.message for w in answer.warnings] == [
        f"the units in the headings are ignored: {reason}"
    ]
    kelvin = ad.fit("U = R*I + U0", data=data, in_="U0=V")
    # the line begins at 0 K
    expected = plain.parameters["U0"].estimate - 273.15 * plain.parameters["R"].estimate
    assert kelvin.parameters["U0"].estimate == pytest.approx(expected, rel=1e-9)
    assert kelvin.units.texts()["parameters"] == {"R": "V/K", "U0": "V"}


def test_an_unknown_unit_is_a_label_or_refused_where_units_are_asked_for():
    data = {"U (V)": V, "I [foo]": I}
    plain = ad.fit("U = R*I + U0", data={"U": V, "I": I})
    answer = ad.fit("U = R*I + U0", data=data)
    assert answer.parameters == plain.parameters
    assert answer.units.texts()["parameters"] == {"R": "V", "U0": "V"}
    assert [w.message for w in answer.warnings] == [
        "`foo` in the heading of `I` is taken as a label without a factor"
    ]
    with pytest.raises(ExpressionError, match="is not a known unit"):
        ad.fit("U = R*I + U0", data=data, in_="U0=mV")


@pytest.mark.parametrize(
    ("heading", "note"),
    [
        ("I (foo)", "`I` has no unit, and is taken as a number"),
        ("I", "`I` has no unit, and is taken as a number"),
        ("I (a.u.)", "`a.u.` in the heading of `I` is taken as a label without a factor"),
        ("I (%)", "`%` in the heading of `I` is taken as a label without a factor"),
        ("I (gon)", "`gon` in the heading of `I` is taken as a label without a factor"),
    ],
)
def test_a_column_without_a_unit_is_a_number_beside_others(heading: str, note: str):
    plain = ad.fit("U = R*I + U0", data={"U": V, "I": I})
    answer = ad.fit("U = R*I + U0", data={"U (V)": V, heading: I})
    assert answer.parameters == plain.parameters
    assert answer.units.texts()["parameters"] == {"R": "V", "U0": "V"}
    assert [w.message for w in answer.warnings] == [note]
    if "no unit" in note:
        asked = ad.fit("U = R*I + U0", data={"U (V)": V, heading: I}, in_="U0=mV")
        assert asked.units.texts()["parameters"] == {"R": "V", "U0": "mV"}


def test_a_row_of_units_and_the_record(tmp_path: Path):
    path = tmp_path / "lab.csv"
    path.write_text(
        "U;I\nV;mA\n" + "".join(f"{u};{i}\n".replace(".", ",") for u, i in zip(V, I, strict=True))
    )
    result = autodiff("fit", "U = R*I + U0", "--data", str(path), "--json")
    record = json.loads(result.out)
    assert record["units"]["parameters"] == {"R": "V/mA", "U0": "V"}
    assert (
        record["parameters"]["R"]
        == ad.fit("U = R*I + U0", data={"U": V, "I": I}).parameters["R"].estimate
    )


def test_files_in_different_units_are_refused(tmp_path: Path):
    for name, unit in (("a", "V"), ("b", "mV")):
        (tmp_path / f"{name}.csv").write_text(f"U;I\n{unit};mA\n1;2\n2;4\n3;5\n")
    result = autodiff(
        "fit", "U = R*I", "--data", str(tmp_path / "a.csv"), "--data", str(tmp_path / "b.csv")
    )
    assert result.code == 2 and "has the unit mV in" in result.err


def test_unknown_dimensions_are_solved_for():
    m = UnknownDimensions(["a", "b"])
    a, b = m.unknown("a"), m.unknown("b")
    volt, ampere = parse_unit("V").dimension, parse_unit("A").dimension
    assert m.same(m.mul(a, m.pow(b, m.number(2))).dimension, volt)
    assert m.solution("a") is None
    assert m.same(b.dimension, ampere)
    assert m.solution("a") == parse_unit("V/A^2").dimension and m.solution("b") == ampere
    assert not m.same(a.dimension, NUMBER)
    assert m.describe(m.mul(a, b).dimension) == "a resistance (Ω)"
    unsolved = UnknownDimensions(["c", "d"])
    c = unsolved.unknown("c")
    assert not unsolved.same(c.dimension, unsolved.mul(c, m.measured(c, parse_unit("m"))).dimension)
    assert unsolved.describe(unsolved.mul(c, m.measured(c, parse_unit("m"))).dimension) == "`[c]·m`"


def test_elimination_solves_linear_equations():
    equations = Elimination(1)
    assert equations.add([1, 2, 4])
    assert equations.add([3, 1, 1])
    assert not equations.add([4, 3, 5])
    # 2x + 4y = -1, x + y = -3
    assert equations.reduce([0, 1, 0]) == [Fraction(-11, 2), 0, 0]


def test_systems_of_units():
    system = UnitSystem([parse_unit("cm"), parse_unit("ms"), parse_unit("m/s")])
    assert str(system.unit(parse_unit("m/s").dimension)) == "cm/ms"
    assert factor(parse_unit("m/s"), system.unit(parse_unit("m/s").dimension)) == 0.1
    assert str(system.unit(parse_unit("Hz").dimension)) == "1/ms"
    assert str(UnitSystem([parse_unit("W")]).unit(parse_unit("W").dimension)) == "W"


def test_a_column_of_uncertainties_that_is_called_like_a_quantity_in_volts():
    # Σ(residual/0.1)² = 0.7, whatever the heading
    for heading, chi_squared in (("u(V)", 0.7), ("u(V) [mV]", 0.7), ("u(V) [µV]", 7e5)):
        data = {"t [s]": [0, 1, 2, 3], "V [mV]": [1, 3, 5.1, 7], heading: [0.1] * 4}
        answer = ad.fit("V = a + b*t", data=data, sigma=heading)
        assert answer.goodness.chi_squared == pytest.approx(chi_squared, rel=1e-9)


def test_a_saved_point_has_units(tmp_path: Path):
    (tmp_path / "data.csv").write_text("U (mV),I (A)\n10,2\n20,4.1\n30,6\n")
    point = tmp_path / "point.json"
    fitted = autodiff(
        "fit",
        "U = R*I + U0",
        "--data",
        str(tmp_path / "data.csv"),
        "--save-point",
        str(point),
        "--json",
    )
    parameters = json.loads(fitted.out)["parameters"]
    assert json.loads(point.read_text()) == {
        "R": f"{parameters['R']!r} mV/A",
        "U0": f"{parameters['U0']!r} mV",
    }
    value = json.loads(
        autodiff("grad", "R*I + U0", "--at", f"@{point}", "--at", "I=2 kA", "--json").out
    )
    assert value["units"]["value"] == "mV"
    assert value["value"] == pytest.approx(2000 * parameters["R"] + parameters["U0"], rel=1e-13)


FAHRENHEIT: dict[str, Any] = {"t": [0, 1, 2, 3, 4], "T": [50, 52.1, 53.9, 56, 58.2]}


@pytest.mark.parametrize("options", [{"sigma": 0.1}, {}, {"sigma": "T=0.1,t=0.02"}])
def test_a_response_in_degrees_fahrenheit_is_fitted_as_its_numbers_are(options: dict[str, Any]):
    # computed in kelvin, and shown in the unit of the heading: all but the parameters is as without
    # units
    data = {"t [s]": FAHRENHEIT["t"], "T [°F]": FAHRENHEIT["T"]}
    plain = ad.fit("T = a + b*t", data=FAHRENHEIT, predict={"t": [10]}, **options)
    answer = ad.fit("T = a + b*t", data=data, in_="b=K/s", predict={"t": [10]}, **options)
    assert answer.point["a"] == pytest.approx((plain.point["a"] - 32) / 1.8 + 273.15, rel=1e-12)
    for name in "ab":
        assert answer.parameters[name].error == pytest.approx(
            plain.parameters[name].error / 1.8, rel=1e-6
        )
    assert answer.point["b"] == pytest.approx(plain.point["b"] / 1.8, rel=1e-7)
    for name in ("fitted", "residuals", "band"):
        assert getattr(answer, name) == pytest.approx(getattr(plain, name), rel=1e-6, abs=1e-6)
    assert answer.sigma.keys() == plain.sigma.keys()
    for name, column in plain.sigma.items():
        assert answer.sigma[name] == pytest.approx(column, rel=1e-12)
    ((one,), (other,)) = answer.predictions, plain.predictions
    assert one.confidence == pytest.approx(
        other.confidence, rel=1e-7
    ) and one.value == pytest.approx(other.value)
    if options:
        assert answer.goodness.chi_squared == pytest.approx(plain.goodness.chi_squared, rel=1e-6)
    # χ² and the information criteria are of the data in the units of the headings
    for name in ("log_likelihood", "aic", "bic"):
        assert getattr(answer.goodness, name) == pytest.approx(
            getattr(plain.goodness, name), abs=1e-5
        )
    if not options:
        assert answer.deviation == pytest.approx(plain.deviation, rel=1e-7)
        assert answer.units.texts()["deviation"] == "°F" and answer.units.texts()["rss"] == "°F²"


def test_information_criteria_do_not_depend_on_how_a_fit_is_computed():
    # both columns are voltages, of which one is computed in the unit of the other
    x, y = [0.3, 1.0, 2.2, 3.1, 4.0], [1.1, 2.2, 4.1, 5.4, 7.2]
    for options in ({"sigma": "y=0.1,x=0.05"}, {"sigma": 0.1}, {}):
        plain = ad.fit("y = a + b*x", data={"x": x, "y": y}, **options)
        answer = ad.fit("y = a + b*x", data={"x [V]": x, "y [kV]": y}, **options)
        assert answer.goodness.aic == pytest.approx(plain.goodness.aic, abs=1e-6)
        assert answer.goodness.bic == pytest.approx(plain.goodness.bic, abs=1e-6)


def test_parameters_have_the_prefix_of_their_size_for_people(tmp_path: Path):
    (tmp_path / "r.csv").write_text("U [V],I [mA]\n1.1e-5,1\n2.0e-5,2\n3.2e-5,3\n")
    options = ("fit", "U = R*I", "--data", str(tmp_path / "r.csv"))
    record = json.loads(autodiff(*options, "--json").out)
    estimate, error = record["parameters"]["R"], record["standard_errors"]["R"]
    assert record["units"]["parameters"] == {"R": "V/mA"}
    shown = next(line for line in autodiff(*options).out.splitlines() if line.startswith("│ R"))
    cells = [cell.strip() for cell in shown.strip("│").split("│")]
    assert float(cells[1]) == pytest.approx(1e6 * estimate, rel=1e-5) and cells[4].endswith(
        " µV/mA"
    )
    assert float(cells[2]) == pytest.approx(1e6 * error, rel=1e-5)
    low, high = (1e6 * x for x in record["intervals"]["R"])
    assert [float(x) for x in cells[3].split(" to ")] == pytest.approx([low, high], rel=1e-5)
    asked = autodiff(*options, "--in", "V/mA").out
    assert "V/mA" in asked and "µV/mA" not in asked


@pytest.mark.parametrize("predictor", ["x", "x (a.u.)", "x [°C]", "x [foo]"])
def test_uncertainties_are_converted_even_if_the_units_in_the_headings_are_ignored(predictor: str):
    x, y = [1.0, 2.0, 3.0, 4.0], [2.01, 3.98, 6.05, 8.01]
    plain = ad.fit("y = a*x + b", data={"x": x, "y": y, "s": [0.01, 0.02, 0.01, 0.04]}, sigma="s")
    data = {predictor: x, "y [m]": y, "s [mm]": [10, 20, 10, 40]}
    answer = ad.fit("y = a*x + b", data=data, sigma="s")
    assert (answer.units is None) == (predictor == "x [°C]")
    for name in "ab":
        assert answer.parameters[name].estimate == pytest.approx(
            plain.parameters[name].estimate, rel=1e-12
        )
        assert answer.parameters[name].error == pytest.approx(
            plain.parameters[name].error, rel=1e-12
        )
    typed = ad.fit("y = a*x + b", data=data, sigma="10 mm")
    assert (
        typed.parameters["a"].error
        == ad.fit("y = a*x + b", data=data, sigma=0.01).parameters["a"].error
    )
    for unit, message in (
        ("ms", "are in ms, and `y` is a length"),
        ("%", "are in `%`"),
        ("cts", "are in `cts`"),
    ):
        with pytest.raises(ExpressionError, match=f"the uncertainties of `y` {message}"):
            ad.fit(
                "y = a*x + b",
                data={predictor: x, "y [m]": y, f"s [{unit}]": [10, 20, 10, 40]},
                sigma="s",
            )
    with pytest.raises(
        ExpressionError, match="the uncertainties of `y` are in `mm`, and its column has no unit"
    ):
        ad.fit("y = a*x + b", data={predictor: x, "y": y, "s [mm]": [10, 20, 10, 40]}, sigma="s")


def test_predictions_are_in_the_unit_of_the_column_or_refused(tmp_path: Path):
    (tmp_path / "line.csv").write_text("x [s],y [m],w\n1,2,1\n2,4.1,1\n3,6,1\n")
    (tmp_path / "bare.csv").write_text("x,y [m],w\n1,2,1\n2,4.1,1\n3,6,1\n")
    (tmp_path / "points.csv").write_text("x [ms],w\n5000,1\n")
    options = ("y = a*x + b*w^2", "--at", "b=0", "--json", "--predict")
    by_unit = [
        autodiff("fit", *options, points, "--data", "line.csv", folder=tmp_path)
        for points in ("points.csv", "x=5 s,w=1", "x=5000 ms,w=1")
    ]
    values = [json.loads(result.out)["predictions"][0]["value"] for result in by_unit]
    assert values == pytest.approx([values[0]] * 3) and values[0] > 9
    for points in ("points.csv", "x=5 s,w=1"):
        refused = autodiff("fit", *options, points, "--data", "bare.csv", folder=tmp_path)
        assert refused.code == 2 and "the numbers of `x` are in" in refused.err
    for more in (("--predict", "x=5 ms,w=1"), ("--bounds", "b=0 mm:3 mm"), ("--fix", "b=1 mm")):
        without = autodiff(
            "fit", "y = a*x + b*w", "--data", "line.csv", "--in", "none", *more, folder=tmp_path
        )
        assert without.code == 2 and "has a unit, and numbers here have none" in without.err


@pytest.mark.parametrize("share", ["2%", "2 %", "y=2 %"])
def test_a_percentage_of_a_column_in_per_cent_is_refused(share: str):
    rows = {"x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 6.1]}
    error = ad.fit("y = a*x", data=rows, sigma=share).parameters["a"].error
    assert (
        error
        == ad.fit("y = a*x", data={**rows, "s": [0.04, 0.08, 0.122]}, sigma="s")
        .parameters["a"]
        .error
    )
    with pytest.raises(ExpressionError, match="`y` is in %, and a percentage of it may be"):
        ad.fit("y = a*x", data={"x": [1, 2, 3], "y [%]": [2, 4, 6.1]}, sigma=share)


def test_a_unit_in_brackets_that_is_not_known_is_no_missing_unit():
    data = {"x [s]": [1, 2, 3], "y [m]": [2, 4, 6.1], "s [cubits]": [1, 1, 2]}
    with pytest.raises(
        ExpressionError, match="the uncertainties of `y` are in `cubits`, and its column is in `m`"
    ):
        ad.fit("y = a*x", data=data, sigma="s")
    with pytest.raises(
        ExpressionError, match="column `x` is in `ticks`, which is not a known unit"
    ):
        ad.fit("y = a*x", data={"x [ticks]": [1, 2, 3], "y [m]": [2, 4, 6.1]}, in_="a=m")


def test_no_file_of_predictions_replaces_another(tmp_path: Path):
    (tmp_path / "one.csv").write_text("x [ms]\n5000\n")
    (tmp_path / "two.csv").write_text("x [s]\n7\n")
    files = ("--predict", "one.csv", "--predict", "two.csv")
    data = "x [s],y [m]\n1,2\n2,4\n3,6.1\n"
    result = autodiff("fit", "y = a*x", "--data", "-", *files, stdin=data, folder=tmp_path)
    assert result.code == 2 and "two files of `--predict` have the column `x`" in result.err


def test_numbers_alone_do_not_go_with_units_in_the_formula():
    data = {"x [s]": [1, 2, 3], "y [mm]": [500, 1000, 1500]}
    assert ad.fit("y = a*x + 5[mm]", data=data).parameters["a"].estimate == pytest.approx(
        6970 / 14, rel=1e-12
    )
    with pytest.raises(ExpressionError, match="the formula gives a length"):
        ad.fit("y = a*x + 5[mm]", data=data, in_="none")
    ratio = ad.fit("y = a*x + 5[mm]/1[mm]", data=data, in_="none")
    assert ratio.parameters["a"].estimate == pytest.approx(6970 / 14, rel=1e-12)


@pytest.mark.parametrize("sign", ["-", "--", "–", "/", "none", "dimensionless"])
@pytest.mark.parametrize("head", ["t [s],A [{}]", "t,A\ns,{}"])
def test_a_sign_of_no_unit_is_no_unit(head: str, sign: str):
    data = head.format(sign) + "\n0,1000\n10,600\n20,370\n30,220\n40,135\n"
    line = (
        "fit",
        "A = A0*exp(-k*t)",
        "--data",
        "-",
        "--at",
        "k=0.05 1/s",
        "--format",
        "plain",
        "--digits",
        "3",
    )
    result = autodiff(*line, stdin=data)
    assert (
        result.code == 0 and result.out.startswith("A0=998.68") and result.out.endswith("[s⁻¹]\n")
    )


def test_a_renamed_column_of_uncertainties_is_not_in_the_unit_that_its_variable_is_called_like():
    data = "t [s],N,u(N)\n0,1000,30\n10,600,25\n20,370,20\n30,220,15\n40,135,12\n"
    line = (
        "fit",
        "N = N0*exp(-k*t)",
        "--data",
        "-",
        "--at",
        "k=0.05",
        "--columns",
        "s=u(N)",
        "--sigma",
        "s",
    )
    result = autodiff(*line, "--format", "plain", "--digits", "3", stdin=data)
    assert result.code == 0 and result.out.startswith("N0=998.21")


@pytest.mark.parametrize(
    ("file", "text", "slope"),
    [
        ("t,I (au)\n0,0.1\n1,0.195\n2,0.29\n", "I = a + b*t", 0.095),
        ("x (pH),y\n3,1\n5,2.1\n7,2.9\n", "y = a + b*x", 0.475),
        ("c (ppm),y\n10,1\n20,2.1\n30,2.9\n", "y = a + b*c", 0.095),
        ("t (s),T (C)\n0,20\n1,21\n2,22.1\n", "T = a + b*t", 1.05),
        ("Temp (F),R (ohm)\n32,100\n50,103.9\n68,107.8\n", "R = a + b*Temp", 7.8 / 36),
    ],
)
def test_symbols_of_laboratories_are_labels_in_headings(file: str, text: str, slope: float):
    """Slopes by hand: `au` is no astronomical unit, `pH` no picohenry, `C` beside a temperature no
    coulomb.
    """
    result = autodiff("fit", text, "--data", "-", "--json", stdin=file)
    answer = json.loads(result.out)
    assert answer["parameters"]["b"] == pytest.approx(slope, rel=1e-12)
    assert result.code == 0 and (
        "label" in result.err or "read as °" in result.err or "are ignored" in result.err
    )
    unit = (answer.get("units") or {}).get("parameters", {}).get("b", "")
    assert not {"A", "H", "F", "C", "S"} & {*re.split(r"\W", str(unit))}


def test_a_charge_is_in_coulomb_and_a_share_has_its_scale_where_units_are_asked_for():
    charge = autodiff(
        "fit",
        "y = a + b*Q",
        "--data",
        "-",
        "--format",
        "plain",
        stdin="Q (C),y (V)\n3,1\n5,2\n7,3\n",
    )
    assert charge.out == "a=-0.5[V] b=0.5[V/C]\n"
    total = autodiff(
        "fit",
        "y = a + b*total",
        "--data",
        "-",
        "--format",
        "plain",
        stdin="total (C),y (V)\n3,1\n5,2\n7,3\n",
    )
    assert total.out == "a=-0.5[V] b=0.5[V/C]\n"
    share = autodiff(
        "fit",
        "y = b*c",
        "--data",
        "-",
        "--in",
        "b=V",
        "--format",
        "plain",
        stdin="c (ppm),y (V)\n1,1\n2,2\n",
    )
    assert share.out == "b=1000000.0[V]\n"


@pytest.mark.parametrize(
    ("unit", "readings", "degrees"),
    [
        ("°C", "0,20\n1,22\n2,24.1\n3,25.9\n", "20.03 °C"),
        ("°F", "0,68\n1,71\n2,75\n3,78\n", "67.9 °F"),
    ],
)
def test_a_parameter_in_degrees_is_said_to_be_in_kelvin(unit: str, readings: str, degrees: str):
    """Intercepts by hand: mean of T less slope times mean of t."""
    result = autodiff(
        "fit",
        "T = a + b*t",
        "--data",
        "-",
        "--in",
        f"a={unit}",
        "--format",
        "plain",
        stdin=f"t [s],T [{unit}]\n{readings}",
    )
    assert f"`a` is in kelvin and not in {unit}" in result.err
    assert f"if it is a temperature, it is {degrees}\n" in result.err


def test_a_slope_in_degrees_a_second_is_in_them_without_a_word():
    file = "t [s],T [°F]\n0,68\n1,71\n2,75\n3,78\n"
    result = autodiff("fit", "T = a + b*t", "--data", "-", "--in", "b=°F/s", "--json", stdin=file)
    assert json.loads(result.out)["parameters"]["b"] == pytest.approx(3.4, rel=1e-12)
    assert "in kelvin" not in result.err
