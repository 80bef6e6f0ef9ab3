"""Values with units: reading, exact conversion, dimensions, and the units of a gradient; pint is
the second opinion.
"""

import json
import math
import re
from fractions import Fraction

import pytest

from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.engine.numbers.dimensions import Dimensioned, Dimensions
from autodiff_cli.engine.quantities.unit import parse_unit
from autodiff_cli.engine.table.primitive import PRIMITIVES
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.arithmetic import Arithmetic
from autodiff_cli.questions.measured_units import measured_value
from autodiff_cli.questions.problem import Quantity
from autodiff_cli.questions.quantities import quantity_value
from running import autodiff

BEAM = "F*L**3/(48*E*I)"
BEAM_AT = {"F": "1.5 kN", "L": "2 m", "E": "210 GPa", "I": "171 cm^4"}


@pytest.mark.parametrize(
    ("text", "si", "unit", "source"),
    [
        ("2 mm", 0.002, "mm", "1/500"), ("1.5 kN", 1500.0, "kN", "1500"), ("5kg", 5.0, "kg", "5"),
        ("20 °C", 293.15, "°C", "5863/20"), ("20°C", 293.15, "°C", "5863/20"), ("-40 °F", 233.15, "°F", "4663/20"),
        ("-3e-2 m/s²", -0.03, "m/s²", "-3/100"), ("−3 m", -3.0, "m", "-3"), ("1 in", 0.0254, "in", "127/5000"),
        ("(1/2) in", 0.0127, "in", "((1/2))*(127/5000)"), ("3 h", 10800.0, "h", "10800"), ("0 m", 0.0, "m", "0"),
        ("60 km/h", 60 / 3.6, "km/h", "50/3"), ("sqrt(4) m", 2.0, "m", "(sqrt(4))*(1)"), ("1 min", 60.0, "min", "60"),
        ("5 1/s", 5.0, "s⁻¹", "5"),
    ],
)  # fmt: skip
def test_a_value_with_a_unit(text, si, unit, source):
    value = quantity_value("x", text)
    assert type(value) is Quantity
    assert (float(value), str(value.unit), value.source) == (si, unit, source)


@pytest.mark.parametrize("text", ["2", "pi/4", "2pi", "2*3", "1e3", "-4", "sqrt(2)", "2e", "1/3"])
def test_a_number_is_none(text):
    assert type(quantity_value("x", text)) is not Quantity


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("3 foo", "`foo` is not a unit"), ("3 m2", "a power is written with `^`"), ("-300 °C", "below absolute zero"),
        ("0x10", "numbers are decimal here"), ("5 e3", "its exponent stand together"),
        ("5 dB", "`dB` is not a unit here"), ("3 khz", "`khz` is not a unit"), ("1/3 inch", "two ways"),
        ("3 J/kg K", "two ways"), ("20 m°C", "`m°C` can be read in two ways"),
    ],
)  # fmt: skip
def test_what_is_no_unit_is_refused_at_its_place(text, words):
    with pytest.raises(ExpressionError, match=re.escape(words)) as caught:
        quantity_value("x", text)
    assert caught.value.kind == "point" and caught.value.span is not None


def test_conversion_is_rounded_once():
    for number in ("2", "0.1", "7.3", "123456.789"):
        for unit in ("mm", "in", "psi", "eV", "mi/h"):
            exact = Fraction(number) * parse_unit(unit).scale
            assert float(quantity_value("x", f"{number} {unit}")) == float(exact)


def test_a_beam():
    answer = gradient(BEAM, BEAM_AT, units="mm")
    assert answer.value == pytest.approx(1500 * 8 / (48 * 210e9 * 171e-8) * 1000, rel=1e-14)
    units = answer.units.texts()
    assert units == {
        "value": "mm",
        "gradient": {"F": "mm/kN", "L": "mm/m", "E": "mm/GPa", "I": "m⁻³"},
        "point": {"F": "kN", "L": "m", "E": "GPa", "I": "cm⁴"},
    }
    assert answer.point == {"F": 1.5, "L": 2.0, "E": 210.0, "I": 171.0}
    assert answer.gradient["F"] == pytest.approx(answer.value / 1.5, rel=1e-14)
    assert answer.gradient["E"] == pytest.approx(-answer.value / 210, rel=1e-14)
    assert gradient(BEAM, BEAM_AT).units.texts()["value"] == "m", (
        "the unit of an input of its dimension"
    )


PROGRAMS = [
    (BEAM, BEAM_AT, "mm"),
    ("2*pi*sqrt(L/g)", {"L": "1.02 m", "g": "9.81 m/s^2"}, "ms"),
    (
        "n*R*T/V",
        {"n": "2 mol", "R": "8.31446261815324 J/(mol K)", "T": "20 °C", "V": "50 L"},
        "bar",
    ),
    ("m*v**2/2 + m*g*h", {"m": "1.2 lb", "v": "60 mi/h", "g": "9.81 m/s^2", "h": "12 ft"}, "cal"),
    ("hypot(a, b)", {"a": "3 in", "b": "40 mm"}, "cm"),
    ("max(a, b) - min(a, b)", {"a": "3 in", "b": "40 mm"}, "cm"),
    ("U**2/R*t", {"U": "230 V", "R": "53 Ω", "t": "2 h"}, "kWh"),
    ("cbrt(V)", {"V": "1 gal"}, "cm"),
    ("r*sin(a)", {"r": "2 km", "a": "12 °"}, "m"),
]


@pytest.mark.parametrize(("text", "at", "unit"), PROGRAMS, ids=[text for text, _, _ in PROGRAMS])
def test_values_and_derivatives_are_those_of_pint(text, at, unit):
    pint = pytest.importorskip("pint")
    registry = pint.UnitRegistry()
    quantities = {name: registry.Quantity(value) if "°" not in value else _affine(registry, value)
                  for name, value in at.items()}  # fmt: skip
    answer = gradient(text, at, units=unit)
    theirs = _pints(registry, text, quantities)
    assert answer.value == pytest.approx(theirs.to(unit).magnitude, rel=1e-11)
    for name, x in answer.gradient.items():
        step = 1e-6 * quantities[name]
        up, down = (
            _pints(registry, text, {**quantities, name: quantities[name] + s})
            for s in (step, -step)
        )
        slope = ((up - down) / (2 * step)).to_base_units().magnitude
        assert answer.units["gradient"][name].to_si(x) == pytest.approx(slope, rel=1e-6), name


def _pints(registry, text, quantities):
    return eval(text, {**_functions(registry), **quantities})  # noqa: S307


def _affine(registry, value):
    number, unit = value.split()
    if unit == "°":
        return registry.Quantity(float(number), "degree").to("radian")
    return registry.Quantity(float(number), "degC").to("kelvin")


def _functions(registry):
    return {
        "pi": math.pi, "sqrt": lambda x: x**0.5, "hypot": lambda a, b: (a**2 + b**2) ** 0.5,
        "max": max, "min": min, "cbrt": lambda x: x ** (1 / 3),
        "sin": lambda x: registry.Quantity(math.sin(x.to("radian").magnitude), ""),
    }  # fmt: skip


@pytest.mark.parametrize(("name", "digits"), [("exact", 17), ("precision", 30), ("certified", 17)])
def test_other_arithmetics_convert_exactly(name, digits):
    if name == "certified":
        pytest.importorskip("flint")
    answer = gradient(BEAM, BEAM_AT, units="mm", arithmetic=Arithmetic(name, digits))
    exact = Fraction(1500 * 8, 1) / (48 * 210 * 10**9 * Fraction(171, 10**8)) * 1000
    assert answer.value.nearest == float(exact)
    assert answer.gradient["F"].nearest == pytest.approx(float(exact / Fraction(3, 2)), rel=1e-15)
    if name == "exact":
        assert (answer.value.text, answer.gradient["I"].text) == ("2500/3591", "-250000000/614061")


@pytest.mark.parametrize(
    ("text", "at", "value", "unit"),
    [
        ("5[kg]*v**2/2", {"v": "3 m/s"}, 22.5, "J"), ("9.81[m/s^2]*2[s]", {}, 19.62, "m/s"),
        ("x + 1[mm]", {"x": "2 m"}, 2.001, "m"),
        ("sin(30[°])", {}, 0.5, "1"), ("1e3[mm]*x", {"x": 2}, 2.0, "m"), ("[1[m], 20[cm]][2]", {}, 0.2, "m"),
        ("f(x) = 2[m]*x; f(3)", {}, 6.0, "m"), ("2[m]**2", {}, 4.0, "m²"), ("-2[m]", {}, -2.0, "m"),
    ],
)  # fmt: skip
def test_numbers_in_formulas_have_units(text, at, value, unit):
    answer = gradient(text, at)
    assert (answer.value, answer.units.texts()["value"]) == (pytest.approx(value, rel=1e-15), unit)
    exact = gradient(text.replace("sin(30[°])", "0.5"), at, arithmetic=Arithmetic("exact"))
    assert exact.value.nearest == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("text", ["2[foo]*x", "2[°C]*x", "2[m/]*x", "2[dB]*x", "2[J/kg K]*x"])
def test_brackets_that_hold_no_unit_are_refused(text):
    with pytest.raises(ExpressionError) as caught:
        gradient(text, {"x": 1})
    assert caught.value.kind == "type" and caught.value.span is not None


def test_formulas_with_units_are_refused_where_answers_have_none():
    for command in ("export",):
        answer = autodiff(command, "2[kg]*x", *([] if command == "export" else ["--at", "x=1"]))
        assert answer.code == 3 and "numbers with units are not taken here" in answer.err, command


def test_angles_have_all_digits():
    answer = gradient("sin(a)", {"a": "30 °"}, arithmetic=Arithmetic("precision", 40))
    assert answer.value.text == "0.5"
    assert answer.gradient["a"].text.startswith("0.0151149947019518154216173188136846")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("T1 - T2", None), ("-(T1 - T2)", None), ("k*(T1 - T2)", None), ("(T1 - T2)/k + 0", None),
        ("abs(T1 - T2)", None), ("T1 + T2 - 2*T1", None), ("sum(T1, -T2)", None), ("T1 - max(T1, T2)", None),
        ("where(k > 1, T1 - T2, 0)", None), ("(T1 - T2)*k/3", None),
        ("T1", 20.0), ("(T1 + T2)/2", 15.0), ("T1 + k*(T1 - T2)", 40.0), ("T1 - D", 17.0), ("2*T1 - T2", 30.0),
        ("1.2*T1", 78.63), ("T1 - D*T1/T2*k", 20 - 6 * 293.15 / 283.15), ("a*L - T1 + T2", -273.15 + 280 - 10),
    ],
)  # fmt: skip
def test_a_difference_of_temperatures_is_on_no_scale_with_a_zero(text, number):
    # 20 °C less 10 °C is 10 K, which is -263.15 °C: nobody who asks for °C means that
    typed = {"T1": "20 °C", "T2": "10 °C", "D": "3 K", "k": "2", "a": "7 K/m", "L": "40 m"}
    at = {name: value for name, value in typed.items() if re.search(rf"\b{name}\b", text)}
    if number is None:
        with pytest.raises(ExpressionError, match="a difference of temperatures") as caught:
            gradient(text, at, units="°C")
        assert caught.value.exit_code == 2 and "in K" in caught.value.hint
        assert str(gradient(text, at).units["value"]) == "K"
    else:
        assert gradient(text, at, units="°C").value == pytest.approx(number, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "at", "words", "span"),
    [
        ("m + s", {"m": "1 m", "s": "1 s"}, "cannot add a length (m) and a time (s)", (0, 5)),
        ("2*(m - s)", {"m": "1 m", "s": "1 s"}, "cannot subtract a time (s) from a length (m)", (3, 8)),
        ("sin(x)", {"x": "2 m"}, "`sin` takes a number, and this is a length (m)", (0, 6)),
        ("exp(T)", {"T": "20 °C"}, "a temperature (K)", (0, 6)),
        ("x**n", {"x": "2 m", "n": 2}, "needs a constant exponent", (0, 4)),
        ("2**x", {"x": "2 m"}, "an exponent is a number", (0, 4)),
        ("x if x > y else y", {"x": "1 m", "y": "1 s"}, "cannot compare a length (m) and a time (s)", (5, 10)),
        ("x if c > 1 else y", {"x": "1 m", "y": "1 s", "c": 2}, "cannot choose between", (0, 17)),
        ("max(x, 1)", {"x": "1 m"}, "cannot combine a length (m) and a number", (0, 9)),
        ("atan2(y, x)", {"x": "1 m", "y": "1 s"}, "cannot compare", (0, 11)),
        ("x + 1", {"x": "1 m"}, "a number", (0, 5)),
        ("log(p/q)", {"p": "1 Pa", "q": "1 N"}, "`log` takes a number", (0, 8)),
        ("floor(x)", {"x": "1 m"}, "`floor` takes a number", (0, 8)),
    ],
)  # fmt: skip
def test_dimensions_that_do_not_fit_are_refused_at_the_operation(text, at, words, span):
    with pytest.raises(ExpressionError) as caught:
        gradient(text, at)
    assert (
        words in str(caught.value)
        and caught.value.kind == "dimension"
        and caught.value.exit_code == 4
    )
    assert caught.value.span[:2] == span


@pytest.mark.parametrize(
    ("text", "at", "unit"),
    [
        ("x**2*y**-1", {"x": "2 m", "y": "4 s"}, "m²/s"), ("sqrt(x)", {"x": "2 m"}, "m^0.5"),
        ("x/y", {"x": "2 m", "y": "4 mm"}, "1"),
        ("x**(3/2)", {"x": "2 m"}, "m^1.5"), ("max(x, 0)", {"x": "2 m"}, "m"), ("x + 0", {"x": "2 m"}, "m"),
        ("relu(x)", {"x": "2 m"}, "m"), ("sign(x)", {"x": "2 m"}, "1"),
        ("atan2(x, y)", {"x": "2 m", "y": "1 m"}, "1"),
        ("x if x > 0 else 0", {"x": "2 kg"}, "kg"), ("abs(x)", {"x": "-2 mm"}, "mm"),
        ("mean(x, y)", {"x": "2 m", "y": "1 km"}, "m"),
        ("prod(x, y, z)", {"x": "2 m", "y": "1 m", "z": 3}, "m²"), ("F*x", {"F": "2 N", "x": "3 m"}, "J"),
        ("p*V", {"p": "2 bar", "V": "3 L"}, "J"), ("clamp(x, 0, y)", {"x": "2 m", "y": "3 m"}, "m"),
        ("x**2", {"x": "3 mm"}, "mm²"), ("leaky_relu(x, 0.1)", {"x": "3 mm"}, "mm"), ("1/t", {"t": "2 s"}, "s⁻¹"),
        ("k*x", {"k": "3 N/m", "x": "2 m"}, "N"), ("n = 3; x**(n - 1)", {"x": "2 m"}, "m²"),
        ("x**-(1/2)", {"x": "4 s"}, "s^-0.5"),
    ],
)  # fmt: skip
def test_the_unit_of_a_result(text, at, unit):
    assert gradient(text, at).units.texts()["value"] == unit


def test_each_primitive_has_a_rule_or_takes_numbers():
    m = Dimensions()
    length, number = Dimensioned(parse_unit("m").dimension), Dimensioned()
    accepted = set()
    for name, primitive in PRIMITIVES.items():
        if not primitive.params or name in ("and_", "or_", "not_"):
            continue
        count = 3 if primitive.variadic else len(primitive.params)
        assert isinstance(getattr(m, name)(*[number] * count), Dimensioned), name
        try:
            getattr(m, name)(*[length] * count)
            accepted.add(name)
        except Exception as error:
            assert type(error).__name__ == "Refusal", name
    assert accepted == {
        "add", "sub", "mul", "div", "neg", "lt", "le", "gt", "ge", "eq", "ne", "where", "sqrt", "cbrt", "abs", "sign",
        "clamp", "atan2", "relu", "heaviside", "sum", "mean", "prod", "min", "max", "hypot",
        "normcdf_scaled", "normpdf_scaled",  # of a variable, its mean and its standard deviation
    }  # fmt: skip


def test_units_that_cannot_be_are_refused():
    with pytest.raises(ExpressionError, match="the answer is a length"):
        gradient("L", {"L": "2 m"}, units="kg")
    with pytest.raises(ExpressionError, match="the answer is a number"):
        gradient("x", {"x": 2}, units="kg")
    with pytest.raises(ExpressionError, match="for 1 output"):
        gradient("L", {"L": "2 m"}, units="mm, kg")


def test_units_that_are_typed_beside_rows_are_those_of_answers():
    rows = autodiff("grad", "F*x", "--at", "F=1.5 kN", "--points", "-", stdin="x\n1\n")
    assert rows.code == 0 and json.loads(rows.out)["units"]["gradient"] == {"F": "1", "x": "kN"}


def test_streams_and_records_have_units():
    lines = 'x**2\tx=3\nx**2\tx=3 mm\n{"expr": "x**2", "at": {"x": "3 mm"}}\n'
    first, second, third = (
        json.loads(line) for line in autodiff("grad", stdin=lines).out.splitlines()
    )
    assert "units" not in first and second["units"] == third["units"]
    assert second["units"] == {"value": "mm²", "gradient": {"x": "mm"}, "point": {"x": "mm"}}
    assert second["value"] == pytest.approx(9) and third["gradient"] == {"x": pytest.approx(6)}


def test_pints_quantities_are_values():
    pint = pytest.importorskip("pint")
    registry = pint.UnitRegistry()
    answer = gradient("F*x", {"F": registry.Quantity(2, "kN"), "x": registry.Quantity(3, "mm")})
    assert (answer.value, answer.units.texts()["value"]) == (6.0, "J")


def test_constants_of_nature_are_values():
    import autodiff_cli

    light = autodiff_cli.gradient("h*c/lam", "lam=532 nm", constants="h,c", in_="eV")
    assert light.value == pytest.approx(
        6.62607015e-34 * 299792458 / 532e-9 / 1.602176634e-19, rel=1e-14
    )
    assert autodiff_cli.gradient("m*c**2", "m=1 kg", constants="c", exact=True).value.text == str(
        299792458**2
    )
    stefan = autodiff_cli.gradient("sigma*T**4", "T=300 K", constants="sigma", precision=30)
    assert stefan.value.text.startswith("459.30032795393878577165")
    weight = autodiff_cli.propagate("G*m/r**2", "m=5.9722(6)e24 kg, r=6371 km", constants=["G"])
    assert weight.results[0].budget["G"].share == pytest.approx(0.0478, abs=1e-3)
    assert autodiff("grad", "x", "--at", "x=1", "--constants", "cc").code == 2
    command = autodiff(
        "grad",
        "h*c/lam",
        "--at",
        "lam=532 nm",
        "--constants",
        "h,c",
        "--in",
        "eV",
        "--format",
        "plain",
    )
    assert command.out.startswith("2.3305")


@pytest.mark.parametrize(("text", "at", "unit"), [("x**2", "x=2 m", "m²"), ("x*2[cm]", "x=2", "m")])
def test_a_page_takes_units(text, at, unit):
    import autodiff_cli

    assert autodiff_cli.page(text, at=at).units.texts()["value"] == unit
    wanted = unit.replace("m", "km")
    assert autodiff_cli.page(text, at=at, in_=wanted).units.texts()["value"] == wanted


def test_directions_of_several_outputs_refuse_units():
    import autodiff_cli

    for exact in (False, True):
        with pytest.raises(ExpressionError, match="has a unit"):
            autodiff_cli.jacobian("x*y, x", "x=1,y=2", direction="x=2 mm", exact=exact)


def test_latex_has_the_units():
    import autodiff_cli

    answer = autodiff("grad", "a*b", "--at", "a=3 m/s,b=2 min", "--format", "latex")
    assert answer.out.startswith("% needs \\usepackage{amsmath,siunitx}\n")
    assert r"f(3\,\unit{m.s^{-1}}, 2\,\unit{min}) &= 360\,\unit{m}" in answer.out
    assert r"&= 120\,\unit{s}" in answer.out
    assert parse_unit("µΩ/°").latex == r"\unit{\micro \ohm.{\degree}^{-1}}"
    # notebooks have no packages
    shown = autodiff_cli.gradient("a*b", "a=3 m/s,b=2 µΩ")._repr_latex_()
    assert shown is not None and "unit{" not in shown
    assert r"f(3\,\mathrm{m\,s^{-1}}, 2\,\mathrm{\mu \Omega })" in shown


@pytest.mark.parametrize(
    ("name", "text", "si"),
    [
        *[(name, "5 °C", None) for name in ("dT", "ΔT", "delta_T", "Δθ", "T_diff", "dT_max")],
        ("ΔT", "9 °F", None),
        ("dT", "5±0.1 °C", None),
        ("dT", "5 K", 5.0),
        *[(name, "5 °C", 278.15) for name in ("T", "T_d", "dew", "d", "T1", "delta")],
    ],
)
def test_a_difference_of_temperatures_has_no_scale(name: str, text: str, si: float | None) -> None:
    if si is not None:
        assert measured_value(name, text) == pytest.approx(si)
        return
    with pytest.raises(ExpressionError, match="is a difference by its name"):
        measured_value(name, text)


@pytest.mark.parametrize("text", ["5 cm in mm", "5.0±0.1 cm in mm^2", "3 ft in m"])
def test_a_conversion_in_a_value_is_no_product_with_inches(text: str) -> None:
    with pytest.raises(ExpressionError, match="two ways"):
        measured_value("x", text)


@pytest.mark.parametrize("text", ["5 lbf in", "5 lb in^2", "5 in", "5 in/s", "5 cm*in*mm"])
def test_inches_are_part_of_units(text: str) -> None:
    assert "in" in str(measured_value("x", text).unit)


@pytest.mark.parametrize(
    ("text", "both", "alone"),
    [
        ("4.8±0.2×10^-3", (4.8e-3, 2e-4), (4.8, 2e-4)),
        ("1.2 ± 0.1 x 10^3", (1200.0, 100.0), (1.2, 100.0)),
        ("1.2±0.1·10³", (1200.0, 100.0), (1.2, 100.0)),
        ("1.2±0.1e3", (1200.0, 100.0), (1.2, 100.0)),
    ],
)
def test_a_power_of_ten_behind_an_uncertainty_alone_is_refused(
    text: str, both: tuple[float, float], alone: tuple[float, float]
) -> None:
    with pytest.raises(ExpressionError) as refused:
        measured_value("x", text)
    spelled = str(refused.value.hint).split("`")[1::2]
    for each, (value, u) in zip(spelled, (both, alone), strict=True):
        measured = measured_value("x", each)
        assert (measured, measured.uncertainty) == pytest.approx((value, u))


@pytest.mark.parametrize("text", ["4.8±0.2e-3", "1000±1e2", "1.2e3±1e2", "4.8×10^-3±0.2×10^-3"])
def test_a_power_of_ten_of_each_number_is_its_own(text: str) -> None:
    assert measured_value("x", text).uncertainty > 0


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("9.8 m s-2", "write `m*s^-2`"),
        ("5 ms-1", "write `m*s^-1`"),
        ("1000 kg m-3", "write `kg*m^-3`"),
        ("4k7", "write it with its unit, as in `4.7 kohm`"),
        ("4k7 ohm", "write it with its unit, as in `4.7 kohm`"),
    ],
)
def test_hints_on_units_can_be_typed(text: str, hint: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        quantity_value("x", text)
    assert refused.value.hint == hint
    unit = hint.split("`")[1]
    quantity_value("x", unit if unit[0].isdigit() else f"5 {unit}")
