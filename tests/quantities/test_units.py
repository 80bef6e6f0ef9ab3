"""Units: every factor against pint, constants against SciPy's CODATA, reading, and the choice of a
unit.
"""

import math
from fractions import Fraction

import pytest

from autodiff_cli import jacobian
from autodiff_cli.capabilities.formulas.units import decimal_text, units
from autodiff_cli.engine.quantities.presentation import present, present_difference
from autodiff_cli.engine.quantities.table import constants, spellings, table, units_file
from autodiff_cli.engine.quantities.unit import (
    NUMBER,
    AmbiguousUnit,
    Unit,
    choose,
    parse_unit,
    quantity_name,
    ratio,
    si_unit,
    with_prefix,
)
from autodiff_cli.errors import ExpressionError

PINT = {
    "°": "degree", "′": "arcminute", "″": "arcsecond", "°C": "delta_degC", "°F": "delta_degF",
    "Å": "angstrom", "Ω": "ohm", "wk": "week", "yr": "julian_year", "au": "astronomical_unit",
    "u": "unified_atomic_mass_unit", "Da": "dalton", "rev": "revolution", "gon": "grade",
    "ly": "light_year", "pc": "parsec", "b": "barn", "atm": "atm", "mmHg": "mmHg", "inHg": "inHg",
    "bbl": "oil_barrel", "P": "poise",
    "St": "stokes", "PS": "metric_horsepower", "Ah": "ampere_hour", "acre": None, "mil": "thou",
    "nmi": "nautical_mile", "gal": "gallon", "qt": "quart", "floz": "fluid_ounce", "kn": "knot",
    "hp": "horsepower", "Btu": "Btu_it", "VA": "volt_ampere", "var": "watt", "Gal": "galileo",
    "Wh": "watt_hour", "ppm": "ppm", "h": "hour", "d": "day", "t": "metric_ton", "L": "litre",
    "kgf": "kgf", "Ci": "curie", "Torr": "torr", "dyn": "dyne", "g": "gram", "T": "tesla",
    "F": "farad", "H": "henry", "C": "coulomb", "min": "minute", "in": "inch", "lb": "pound",
    "oz": "ounce", "ha": "hectare", "Gy": "gray", "cal": "calorie",
}  # fmt: skip
"""Names in pint of the units that it calls otherwise; None for the one that it lacks (its acre is
the survey's).
"""


def test_every_factor_is_pints():
    pint = pytest.importorskip("pint")
    registry = pint.UnitRegistry()
    compared = 0
    for symbol in table():
        name = PINT.get(symbol, symbol)
        if name is None:
            continue
        factor = registry.Quantity(1, name).to_base_units()
        unit = parse_unit(symbol)
        # pint's base unit of mass is the gram or kilogram by its system; here the kilogram
        theirs = factor.to(registry.parse_units(_pints_base(unit))).magnitude
        # pint's atomic mass is of another year, and its parsec has the tangent instead of the angle
        tolerance = {"u": 1e-8, "Da": 1e-8, "pc": 1e-11}.get(symbol, 1e-14)
        assert unit.to_si(1.0) == pytest.approx(theirs, rel=tolerance), symbol
        compared += 1
    assert compared == len(table()) - 1


def _pints_base(unit: Unit) -> str:
    names = ("kilogram", "metre", "second", "ampere", "kelvin", "mole", "candela")
    text = " * ".join(f"{name} ** {n}" for name, n in zip(names, unit.dimension, strict=True) if n)
    return text or "dimensionless"


def test_affine_scales_are_pints():
    pint = pytest.importorskip("pint")
    registry = pint.UnitRegistry()
    for symbol, name in (("°C", "degC"), ("°F", "degF")):
        unit = parse_unit(symbol)
        for x in (-40, 0, 20, 451):
            kelvin = float(x * unit.scale + unit.zero)
            assert kelvin == pytest.approx(
                registry.Quantity(x, name).to("kelvin").magnitude, rel=1e-14
            )
            assert present(kelvin, unit) == pytest.approx(x, abs=1e-12)


def test_prefixes_run_from_quecto_to_quetta():
    assert len(units_file()["prefixes"]) == 24
    assert {10**n for n in units_file()["prefixes"].values() if n > 0} == {
        10,
        100,
        1000,
        *(10 ** (3 * k) for k in range(2, 11)),
    }
    for prefix, power in units_file()["prefixes"].items():
        assert parse_unit(f"{prefix}m").scale == Fraction(10) ** power


def test_no_symbol_is_two_units():
    # a symbol of the table hides one with a prefix: `min` is a minute, `cd` a candela; each such
    # pair is meant
    hidden = {
        prefix + symbol
        for symbol, entry in spellings().items()
        for prefix in entry.prefixes
        if prefix + symbol in spellings()
    }
    assert hidden <= {"kg", "cd", "Pa", "PS", "Gal"} | hidden & {"°C"}
    assert not set(units_file()["refused"]) & set(spellings())


CODATA = {
    "c": "speed of light in vacuum", "h": "Planck constant", "hbar": "reduced Planck constant",
    "e": "elementary charge", "k_B": "Boltzmann constant", "N_A": "Avogadro constant",
    "R": "molar gas constant", "F": "Faraday constant", "sigma": "Stefan-Boltzmann constant",
    "K_J": "Josephson constant", "R_K": "von Klitzing constant", "Phi_0": "mag. flux quantum",
    "g_n": "standard acceleration of gravity", "atm": "standard atmosphere",
    "G": "Newtonian constant of gravitation", "alpha": "fine-structure constant",
    "epsilon_0": "vacuum electric permittivity", "mu_0": "vacuum mag. permeability",
    "Z_0": "characteristic impedance of vacuum", "m_e": "electron mass", "m_p": "proton mass",
    "m_n": "neutron mass", "m_mu": "muon mass", "m_u": "atomic mass constant", "a_0": "Bohr radius",
    "R_inf": "Rydberg constant", "E_h": "Hartree energy", "mu_B": "Bohr magneton",
    "mu_N": "nuclear magneton", "r_e": "classical electron radius",
    "sigma_T": "Thomson cross section", "lambda_C": "Compton wavelength",
}  # fmt: skip


def test_every_constant_is_codatas():
    scipy = pytest.importorskip("scipy")
    if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 15):
        pytest.skip("SciPy before 1.15 has CODATA 2018")
    from scipy.constants import physical_constants

    assert set(CODATA) == set(constants())
    for name, theirs in CODATA.items():
        value, unit, uncertainty = physical_constants[theirs]
        (entry,) = [entry for entry in units(name).entries if entry.source == "CODATA 2022"]
        # those that follow from exact ones are cut off in their list
        assert entry.value == pytest.approx(value, rel=1e-9), name
        assert (entry.uncertainty or 0) == pytest.approx(uncertainty, rel=1e-12), name
        mine, other = (
            parse_unit(constants()[name].unit),
            parse_unit(unit.replace("ohm", "Ω")) if unit else Unit(),
        )
        assert (mine.dimension, mine.scale) == (other.dimension, other.scale), name


@pytest.mark.parametrize(
    ("text", "written", "scale"),
    [
        ("kg*m/s^2", "kg·m/s²", 1), ("kg m s^-2", "kg·m/s²", 1), ("m/s²", "m/s²", 1), ("N·m", "N·m", 1),
        ("J/(kg K)", "J/(kg·K)", 1), ("1/s", "s⁻¹", 1), ("W/m²/K", "W/(m²·K)", 1), ("s⁻¹", "s⁻¹", 1),
        ("uF", "µF", Fraction(1, 10**6)), ("μm", "µm", Fraction(1, 10**6)), ("kOhm", "kΩ", 1000),
        ("mW", "mW", Fraction(1, 1000)), ("MW", "MW", 10**6), ("km/h", "km/h", Fraction(5, 18)),
        ("nV/Hz^0.5", "nV/Hz^0.5", Fraction(1, 10**9)), ("per s", "s⁻¹", 1), ("1/(m s)", "m⁻¹·s⁻¹", 1),
        ("min", "min", 60),
        ("m**2", "m²", 1), ("m m", "m²", 1), ("in^2", "in²", Fraction(127, 5000) ** 2), ("° C", "°C", 1),
    ],
)  # fmt: skip
def test_reading(text, written, scale):
    unit = parse_unit(text)
    assert (str(unit), unit.scale) == (written, scale)
    assert parse_unit(str(unit)) == unit


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("J/kg K", "`J/(kg K)`, or `J K/kg`"), ("J/kg*K", "J/(kg K)"), ("m2", "`m^2`"), ("m/s2", "`m/s^2`"),
        ("dB", "logarithm"), ("newton", "`N`"), ("khz", "`kHz`"), ("", ""), ("m/", ""), ("(m", ""), ("m)", ""),
        ("m^0", ""), ("°C^2", "`K`"), ("km^0.5", ""), ("5", ""), ("rpm", "1/min"), ("m^1000", ""),
        ("fl oz", "`floz`"), ("fl oz/min", "`fl*oz`"), ("oz t", "31.1034768 g"), ("Cal", "`kcal`"),
    ],
)  # fmt: skip
def test_refusals_say_what_to_write(text, hint):
    with pytest.raises(ExpressionError) as caught:
        parse_unit(text)
    assert caught.value.text == text and hint in (caught.value.hint or "")
    assert caught.value.span is not None


def test_coherent_units_have_their_dimension():
    for text in (
        "N",
        "kg/s^2",
        "W/(m K)",
        "J/(kg K)",
        "V/m",
        "m^2/s^2",
        "m^0.5",
        "T",
        "1/s",
        "J/(mol K)",
        "kg m^2",
    ):
        unit = parse_unit(text)
        best = si_unit(unit.dimension)
        assert best.dimension == unit.dimension and best.scale == 1
    assert [str(si_unit(parse_unit(t).dimension)) for t in ("kg m/s^2", "kg/s^2", "J/s", "kg m^2 s^-3 A^-2")] == [
        "N", "N/m", "W", "Ω",
    ]  # fmt: skip
    assert quantity_name(parse_unit("N").dimension) == "a force (N)"
    assert quantity_name(NUMBER) == "a number"


def test_choice_of_units():
    mm, kn, deg = map(parse_unit, ("mm", "kN", "°"))
    assert choose(mm.dimension, [kn, mm]) == mm
    assert str(choose(parse_unit("m^3").dimension, [kn, mm])) == "mm³"
    assert str(choose(parse_unit("Pa").dimension, [kn, mm])) == "Pa"
    assert str(ratio(parse_unit("mm^3"), mm)) == "mm²"
    assert str(ratio(mm, kn)) == "mm/kN"
    assert str(ratio(parse_unit("m"), mm)) == ""
    assert str(ratio(parse_unit("m^3"), mm)) == "m²"
    assert str(ratio(mm, deg)) == "mm/°"
    assert str(ratio(parse_unit("m"), parse_unit("°C"))) == "m/K"
    assert [str(with_prefix(parse_unit("m"), x)) for x in (0.0105, 3.0, 2e4, 0.0, 1e-20, math.inf)] == [
        "mm", "m", "km", "m", "m", "m",
    ]  # fmt: skip
    assert str(with_prefix(parse_unit("N/m"), 2e4)) == "kN/m"
    assert [str(with_prefix(parse_unit("kg"), x)) for x in (0.002, 5.0, 5e6)] == ["g", "kg", "kg"]


def test_conversions_are_rounded_once():
    assert float(Fraction("2") * parse_unit("mm").scale) == 0.002
    for text in ("mm", "in", "psi", "km/h", "°F"):
        unit = parse_unit(text)
        for x in (0.1, 3.0, 7.3e11):
            assert unit.to_si(x) == float(Fraction(x) * unit.scale)
            assert present_difference(unit.to_si(x), unit) == pytest.approx(x, rel=3e-16)
    assert parse_unit("°").to_si(1.0) == math.pi / 180


def test_decimals():
    cases = {
        "0.0254": Fraction(127, 5000),
        "5/9": Fraction(5, 9),
        "1000": 1000,
        "1e-28": Fraction(1, 10**28),
    }
    assert all(decimal_text(Fraction(x)) == text for text, x in cases.items())


def test_a_degree_in_a_product_is_a_difference_on_its_own_scale():
    for text, si in (
        ("J/°F", Fraction(9, 5)),
        ("°F/m", Fraction(5, 9)),
        ("J/°C", 1),
        ("W/(m^2 °F)", Fraction(9, 5)),
    ):
        unit = parse_unit(text)
        assert unit.scale == si and not unit.zero
    assert str(parse_unit("J/°F")) == "J/°F" and str(parse_unit("J/°C")) == "J/K"
    fahrenheit = parse_unit("°F")
    assert fahrenheit.difference == parse_unit("K") and fahrenheit.degree == fahrenheit._replace(
        zero=Fraction(0)
    )
    assert parse_unit("°C").degree == parse_unit("K") and parse_unit("mm").degree == parse_unit(
        "mm"
    )


@pytest.mark.parametrize(
    ("component", "kelvins"), [("1 °F", 5 / 9), ("1 K", 1), ("1 °C", 1), ("1", 5 / 9)]
)
def test_a_direction_in_degrees_fahrenheit(component, kelvins):
    # 1 of its variable's degrees, where the component has no unit
    answer = jacobian("T, 2*T", {"T": "50 °F"}, direction={"T": component})
    assert [float(x) for x in answer.product] == pytest.approx([kelvins, 2 * kelvins], rel=1e-14)


def test_latex_has_what_is_above_the_line_first():
    assert (parse_unit("s^-2") * parse_unit("m")).latex == r"\unit{m.s^{-2}}"
    assert (
        parse_unit("1/s") * parse_unit("kg") / parse_unit("K")
    ).latex == r"\unit{kg.s^{-1}.K^{-1}}"


@pytest.mark.parametrize("mark", ["''", "′′", '"', "″"])
def test_two_primes_are_seconds_of_arc(mark: str) -> None:
    assert parse_unit(mark) == parse_unit("arcsec")
    assert parse_unit(mark).dimension == parse_unit("rad").dimension


def test_three_primes_are_refused() -> None:
    for text in ("'''", "''″", "'\""):
        with pytest.raises(ExpressionError):
            parse_unit(text)


def test_a_root_of_a_factor_beyond_doubles_is_exact() -> None:
    assert parse_unit("(Mm^99)^(1/3)").scale == 10**198
    assert parse_unit("(km^2)^(99/2)").scale == 10**297


@pytest.mark.parametrize(
    "text", ["((((Qm^99)^99)^99)^99)", "((°^99)^99)^99", "m^(1/0)", "((m^99)^99)^99", "Qm^99 Qm^99"]
)
def test_powers_of_powers_are_bounded(text: str) -> None:
    with pytest.raises(ExpressionError) as refusal:
        parse_unit(text)
    assert refusal.value.kind == "point"
    assert refusal.value.span is not None


@pytest.mark.parametrize(
    ("typed", "meant", "written"),
    [
        ("W/mK", "W/(m*K)", "W/(mK)"), ("kW/mK", "kW/(m*K)", "kW/(mK)"),
        ("W/mK^2", "W/(m*K)", "W/(mK)"), ("kg/ms", "kg/(m*s)", "kg/(ms)"),
        ("1/Ms", "L/(mol*s)", "1/(Ms)"), ("ms^-1", "m s^-1", "1/ms"), ("ms⁻²", "m s⁻²", "1/ms²"),
        ("K ms^-1", "m s^-1", "1/ms"),
    ],
)  # fmt: skip
def test_a_unit_that_most_people_mean_otherwise_is_refused_with_both_spellings(
    typed, meant, written
):
    with pytest.raises(AmbiguousUnit, match="can be read in two ways") as raised:
        parse_unit(typed)
    assert f"`{meant}`" in raised.value.diagnostic.hint
    assert f"`{written}`" in raised.value.diagnostic.hint
    assert parse_unit(meant).dimension != parse_unit(written).dimension


@pytest.mark.parametrize(
    "text", ["W/(mK)", "kg/(ms)", "1/ms", "1/ms^2", "1/(ms*K)", "K/ms", "mV/mK", "1/(Ms)"]
)
def test_units_are_printed_as_they_are_read(text):
    unit = parse_unit(text)
    assert parse_unit(str(unit)) == unit


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("J/kgK", "J/(kg*K)"), ("W/m2K", "W/(m^2*K)"), ("J/molK", "J/(mol*K)"),
        ("mol/Ls", "mol/(L*s)"), ("kgm/s2", "kg*m/s^2"), ("Nms", "N*m*s"), ("kms^-1", "km*s^-1"),
        ("W m-2 K-1", "W*m^-2*K^-1"),
    ],
)  # fmt: skip
def test_the_hint_at_a_unit_without_signs_has_all_of_them(typed, meant):
    with pytest.raises(ExpressionError) as raised:
        parse_unit(typed)
    assert raised.value.diagnostic.hint == f"write `{meant}`"
    parse_unit(meant)
