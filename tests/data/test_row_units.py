"""Rows whose columns have units: one by one and in batches, in every form."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from autodiff_cli.engine.quantities.unit import parse_unit
from running import autodiff

ROWS = "U (V);I (mA)\n1,02;10,1\n1,98;20,0\n3,05;30,2\n"


@pytest.fixture
def ohm(tmp_path: Path) -> str:
    (tmp_path / "ohm.csv").write_text(ROWS)
    return str(tmp_path / "ohm.csv")


@pytest.mark.parametrize("backend", [(), ("--backend", "numpy")])
def test_results_have_units_and_the_numbers_of_the_headings(ohm: str, backend: tuple[str, ...]):
    result = autodiff("grad", "U/I", "--points", ohm, "--wide", *backend)
    plain = autodiff("grad", "U/I", "--points", ohm, "--wide", "--in", "none", *backend)
    assert result.out.splitlines()[0] == "value [V/mA],d_U [mA⁻¹],d_I [V/mA²],error"
    assert plain.out.splitlines()[0] == "value,d_U,d_I,error"
    assert result.out.splitlines()[1:] == plain.out.splitlines()[1:]


def test_records_have_units(ohm: str):
    result = autodiff("grad", "U/I", "--points", ohm)
    record = json.loads(result.out.splitlines()[0])
    assert record["units"]["value"] == "V/mA" and record["units"]["gradient"] == {
        "U": "mA⁻¹",
        "I": "V/mA²",
    }
    assert record["value"] == pytest.approx(1.02 / 10.1) and record["point"] == {
        "U": 1.02,
        "I": 10.1,
    }


@pytest.mark.parametrize("backend", [(), ("--backend", "numpy")])
def test_columns_whose_units_do_not_belong_together_are_converted(
    tmp_path: Path, backend: tuple[str, ...]
):
    rng = np.random.default_rng(3)
    s, v, t = rng.uniform(1, 9, (3, 6))
    lines = "".join(
        f"{a!r},{b!r},{c!r}\n" for a, b, c in zip(s.tolist(), v.tolist(), t.tolist(), strict=True)
    )
    (tmp_path / "path.csv").write_text("s,v,t\ncm,m/s,ms\n" + lines)
    result = autodiff("grad", "s - v*t", "--points", str(tmp_path / "path.csv"), "--wide", *backend)
    head, *rows = result.out.splitlines()
    assert head == "value [cm],d_s,d_v [ms],d_t [cm/ms],error"
    value, by_s, by_v, by_t = np.array([[float(x) for x in row.split(",")[:-1]] for row in rows]).T
    # a metre a second is a tenth of a centimetre a millisecond
    np.testing.assert_allclose(value, s - 0.1 * v * t, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose((by_s, by_v, by_t), (np.ones(6), -t, -0.1 * v), rtol=1e-14)


def test_tables_and_parquet_have_headings_with_units(ohm: str, tmp_path: Path):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert (
        "│ U [V] │ I [mA] │ value [V/mA] │"
        in autodiff("grad", "U/I", "--points", ohm, "--format", "table").out
    )
    out = str(tmp_path / "out.parquet")
    assert autodiff("grad", "U/I", "--points", ohm, "--output", out).code == 0
    assert parquet.read_table(out).column_names == [
        "value [V/mA]",
        "d_U [mA⁻¹]",
        "d_I [V/mA²]",
        "error",
    ]


def test_what_does_not_fit_together_is_refused_before_the_first_row(ohm: str):
    result = autodiff("grad", "U + I", "--points", ohm, "--wide")
    assert (result.out, result.code) == ("", 4)
    assert (
        "cannot add a voltage (V) and an electric current (A)" in result.err
        and "--in none" in result.err
    )
    for command in ("grad", "check", "taylor"):
        more = ("--wrt", "U") if command == "taylor" else ()
        asked = autodiff(command, "U/I", "--points", ohm, "--in", "s", "--wide", *more)
        assert (asked.out, asked.code) == ("", 2) and "`--in s` is for a time (s)" in asked.err


def rows_of(text: str) -> tuple[list[str], np.ndarray]:
    """The headings of csv, and the numbers below them without the errors."""
    head, *lines = text.splitlines()
    return head.split(",")[:-1], np.array(
        [[float(x) for x in line.split(",")[:-1]] for line in lines]
    )


BACKENDS = [(), ("--backend", "numpy")]
U, I = np.array([1.02, 1.98, 3.05]), np.array([10.1, 20.0, 30.2])  # noqa: E741 - as the formulas have it


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("unit", "times"), [("kohm", 1.0), ("ohm", 1e3)])
def test_answers_are_in_the_unit_that_is_asked_for(
    ohm: str, backend: tuple[str, ...], unit: str, times: float
):
    heads, rows = rows_of(
        autodiff("grad", "U/I", "--points", ohm, "--wide", "--in", unit, *backend).out
    )
    sign = {"kohm": "kΩ", "ohm": "Ω"}[unit]
    assert heads == [f"value [{sign}]", f"d_U [{sign}/V]", f"d_I [{sign}/mA]"]
    np.testing.assert_allclose(rows.T, [times * U / I, times / I, -times * U / I**2], rtol=1e-14)


@pytest.mark.parametrize("backend", BACKENDS)
def test_jacobians_have_units(ohm: str, backend: tuple[str, ...]):
    result = autodiff("jacobian", "U/I, U*I", "--points", ohm, "--wide", "--in", "ohm, W", *backend)
    heads, rows = rows_of(result.out)
    assert heads == [
        "value1 [Ω]",
        "value2 [W]",
        "d1_U [Ω/V]",
        "d1_I [Ω/mA]",
        "d2_U [W/V]",
        "d2_I [W/mA]",
    ]
    expected = [1e3 * U / I, 1e-3 * U * I, 1e3 / I, -1e3 * U / I**2, 1e-3 * I, 1e-3 * U]
    np.testing.assert_allclose(rows.T, expected, rtol=1e-14)


@pytest.mark.parametrize("backend", BACKENDS)
def test_hessians_have_units(ohm: str, backend: tuple[str, ...]):
    heads, rows = rows_of(autodiff("hessian", "U**2/I", "--points", ohm, "--wide", *backend).out)
    assert heads[0] == "value [V²/mA]" and heads[3:] == [
        "d_U_U [mA⁻¹]",
        "d_I_U [V/mA²]",
        "d_I_I [V²/mA³]",
    ]
    expected = [2 / I, -2 * U / I**2, 2 * U**2 / I**3]
    np.testing.assert_allclose(rows.T[3:], expected, rtol=1e-14)


def test_series_and_checks_have_units(ohm: str):
    heads, rows = rows_of(
        autodiff("taylor", "U/I", "--wrt", "I", "--order", "2", "--points", ohm, "--wide").out
    )
    assert heads == ["c0 [V/mA]", "c1 [V/mA²]", "c2 [V/mA³]"]
    np.testing.assert_allclose(rows.T, [U / I, -U / I**2, U / I**3], rtol=1e-14)
    record = json.loads(autodiff("check", "U*I", "--points", ohm).out.splitlines()[1])
    assert record["value"] == pytest.approx(39.6) and record["agrees"]
    assert record["units"]["value"] == "V·mA" and record["units"]["gradient"] == {
        "U": "mA",
        "I": "V",
    }


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("command", ["grad", "hessian", "jacobian"])
def test_typed_units_and_sweeps_stand_beside_those_of_headings(
    ohm: str, backend: tuple[str, ...], command: str
):
    point = ("--at", "t={1,2,4} min, q=3 V*A*s")
    result = autodiff(
        command,
        "U*I*t/q",
        "--points",
        ohm,
        *point,
        "--in",
        "1",
        "--format",
        "csv",
        "--wide",
        *backend,
    )
    heads, rows = rows_of(result.out)
    leading = heads.index("value")
    assert heads[:leading] == ["U [V]", "I [mA]", "t [min]", "q [V·A·s]"]
    t = np.tile([1.0, 2.0, 4.0], 3)
    u, i = np.repeat(U, 3), np.repeat(I, 3)
    np.testing.assert_allclose(rows.T[:leading], [u, i, t, np.full(9, 3.0)])
    value = u * i * 1e-3 * t * 60 / 3
    by = {"U": value / u, "I": value / i, "t": value / t, "q": -value / 3}
    columns = dict(
        zip([head.partition(" ")[0] for head in heads[leading:]], rows.T[leading:], strict=True)
    )
    np.testing.assert_allclose(columns.pop("value"), value, rtol=1e-13)
    for name, column in columns.items():
        if name[-2:] in ("_U", "_I", "_t", "_q") and name.count("_") == 1:
            np.testing.assert_allclose(column, by[name[-1]], rtol=1e-13)
    assert "d_t" in columns and ("d_t_t" in columns) == (command == "hessian")


@pytest.mark.parametrize("backend", BACKENDS)
def test_temperatures_are_values_in_kelvin(tmp_path: Path, backend: tuple[str, ...]):
    (tmp_path / "t.csv").write_text("T [°C]\n20\n30\n")
    options = ("--points", str(tmp_path / "t.csv"), "--at", "k=2 J/K", "--wide")
    heads, rows = rows_of(autodiff("grad", "k*T**2/1", *options, *backend).out)
    assert heads == ["value [K·J]", "d_k [K²]", "d_T [J]"]
    kelvin = np.array([293.15, 303.15])
    np.testing.assert_allclose(rows.T, [2 * kelvin**2, kelvin**2, 4 * kelvin], rtol=1e-14)


def test_exact_rows_convert_exactly(tmp_path: Path):
    (tmp_path / "x.csv").write_text("x [mm],y [m]\n0.1,0.3\n")
    out = autodiff(
        "grad", "x*y", "--points", str(tmp_path / "x.csv"), "--exact", "--wide", "--in", "mm^2"
    ).out
    assert out.splitlines() == ["value [mm²],d_x [mm],d_y [m],error", "30,300,1/10000,"]


def test_workers_of_dask_have_the_units(ohm: str, tmp_path: Path):
    pytest.importorskip("distributed")
    folder = tmp_path / "parts"
    options = (
        "--engine",
        "dask",
        "--workers",
        "1",
        "--format",
        "csv",
        "--in",
        "ohm",
        "--output",
        f"{folder}/",
    )
    result = autodiff("grad", "U/I", "--points", ohm, *options)
    assert result.code == 0, result.err
    heads, rows = rows_of((folder / "part-000000.csv").read_text())
    assert heads == ["value [Ω]", "d_U [Ω/V]", "d_I [Ω/mA]"]
    np.testing.assert_allclose(rows.T[0], 1e3 * U / I, rtol=1e-14)


def test_a_unit_that_is_not_known_is_a_label_beside_others(tmp_path: Path):
    (tmp_path / "some.csv").write_text(ROWS.replace("I (mA)", "I [foo]"))
    result = autodiff("grad", "U/I", "--points", str(tmp_path / "some.csv"), "--wide")
    assert result.out.startswith("value [V],d_U,d_I [V],error\n")
    assert "note: `foo` in the heading of `I` is taken as a label without a factor" in result.err


def test_units_are_ignored_beside_one_whose_zero_is_not_absolute(tmp_path: Path):
    (tmp_path / "some.csv").write_text(ROWS.replace("I (mA)", "I (°C)"))
    result = autodiff("grad", "U/I", "--points", str(tmp_path / "some.csv"), "--wide")
    assert result.out.startswith("value,d_U,d_I,error\n")
    assert "note: the units in the headings are ignored: `I` " in result.err


@pytest.mark.parametrize(
    ("heading", "note"),
    [("I", "`I` has no unit, and is taken as a number"), ("I (a.u.)", "`a.u.` in the heading of `I` is taken as"),
     ("I [%]", "`%` in the heading of `I` is taken as"), ("I [ppm]", "`ppm` in the heading of `I` is taken as"),
     ("I [rev]", "`rev` in the heading of `I` is taken as"), ("I [°]", "`°` in the heading of `I` is taken as")],
)  # fmt: skip
def test_a_column_without_a_unit_is_a_number_beside_others(tmp_path: Path, heading: str, note: str):
    (tmp_path / "some.csv").write_text(ROWS.replace("I (mA)", heading))
    for backend in ("python", "numpy"):
        result = autodiff(
            "grad", "U/I", "--points", str(tmp_path / "some.csv"), "--wide", "--backend", backend
        )
        heads, rows = rows_of(result.out)
        assert heads == ["value [V]", "d_U", "d_I [V]"] and note in result.err
        np.testing.assert_allclose(rows.T, [U / I, 1 / I, -U / I**2], rtol=1e-14)
    refused = autodiff("grad", "U + I", "--points", str(tmp_path / "some.csv"), "--wide")
    assert (
        refused.code == 4
        and "cannot add a voltage (V) and a number" in refused.err
        and "--in none" in refused.err
    )


def test_terms_of_different_dimensions_are_refused_beside_a_column_without_a_unit(tmp_path: Path):
    (tmp_path / "terms.csv").write_text("F [kN],L [mm],M [kg],k\n1,2,3,4\n")
    for more in ((), ("--wide",), ("--exact",)):
        refused = autodiff("grad", "F*L + M*k", "--points", "terms.csv", *more, folder=tmp_path)
        assert (
            refused.code == 4
            and "cannot add an energy (J) and a mass (kg)" in refused.err + refused.out
        )
    (tmp_path / "terms.csv").write_text("F [kN],L [mm],M [eV],k\n1,2,3,4\n")
    result = autodiff(
        "grad", "F*L + M*k", "--points", "terms.csv", "--wide", "--in", "J", folder=tmp_path
    )
    assert float(rows_of(result.out)[1][0][0]) == pytest.approx(2 + 12 * 1.602176634e-19, rel=1e-15)


def test_degrees_are_angles_in_programs_with_angles(tmp_path: Path):
    (tmp_path / "a.csv").write_text("x,a [°]\n2,30\n")
    heads, rows = rows_of(
        autodiff("grad", "x*sin(a)", "--points", "a.csv", "--wide", folder=tmp_path).out
    )
    np.testing.assert_allclose(
        rows[0], [1.0, 0.5, 2 * math.cos(math.pi / 6) * math.pi / 180], rtol=1e-15
    )
    assert heads == ["value", "d_x", "d_a [°⁻¹]"]
    (tmp_path / "a.csv").write_text("b [rev],a [°]\n1,180\n")
    result = autodiff("grad", "a + b", "--points", "a.csv", "--wide", folder=tmp_path)
    assert rows_of(result.out)[1][0][0] == pytest.approx(3 * math.pi)


def test_files_with_rows_of_other_units_are_refused(tmp_path: Path):
    for name, unit in (("a", "V"), ("b", "mV")):
        (tmp_path / f"{name}.csv").write_text(f"U;I\n{unit};mA\n1;2\n3;5\n")
    files = [word for name in "ab" for word in ("--points", str(tmp_path / f"{name}.csv"))]
    for more in ((), ("--backend", "numpy")):
        result = autodiff("grad", "U*I", *files, "--wide", *more)
        assert result.code == 2 and "has the unit mV in" in result.err


def test_files_of_which_one_has_no_units_are_refused(tmp_path: Path):
    for name, unit in (("a", ""), ("b", "V;mA\n")):
        (tmp_path / f"{name}.csv").write_text(f"U;I\n{unit}1;2\n3;5\n")
    for first, second, message in (("a", "b", "has the unit V in"), ("b", "a", "has no unit in")):
        files = [
            word for name in (first, second) for word in ("--points", str(tmp_path / f"{name}.csv"))
        ]
        result = autodiff("grad", "U*I", *files, "--wide")
        assert result.code == 2 and message in result.err and result.err.count("None") == 0


def test_uncertainties_in_units_of_their_own(tmp_path: Path):
    path = tmp_path / "spread.csv"
    path.write_text("V (V),dV (mV),I (A)\n5.0,100,2\n6.0,100,2.1\n")
    plain = tmp_path / "plain.csv"
    plain.write_text("V,dV,I\n5.0,0.1,2\n6.0,0.1,2.1\n")
    options = ("--errors", "auto", "--at", "I=±1%", "--wide")
    measured = autodiff("propagate", "V/I", "--points", str(path), *options)
    without = autodiff("propagate", "V/I", "--points", str(plain), *options)
    assert measured.out.splitlines()[0] == "value [Ω],uncertainty [Ω],expanded [Ω],result,error"
    numbers = [[float(x) for x in line.split(",")[:3]] for line in measured.out.splitlines()[1:]]
    expected = [[float(x) for x in line.split(",")[:3]] for line in without.out.splitlines()[1:]]
    np.testing.assert_allclose(numbers, expected, rtol=1e-12)
    milli = autodiff("propagate", "V/I", "--points", str(path), *options, "--in", "mohm")
    first = [float(x) for x in milli.out.splitlines()[1].split(",")[:3]]
    np.testing.assert_allclose(first, [1000 * x for x in expected[0]], rtol=1e-12)
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("V (V),dV (mA),I (A)\n5.0,100,2\n")
    refused = autodiff("propagate", "V/I", "--points", str(wrong), *options)
    assert refused.code == 2 and "are in mA" in refused.err


@pytest.mark.parametrize(
    ("heads", "factor"),
    [
        # `u(V)` is the uncertainty of `V`, and not a quantity u in volts
        ("V [mV],u(V)", 1), ("V [mV],u(V) [mV]", 1), ("V [mV],u(V) [µV]", 1e-3), ("V [mV],u(V) (V)", 1e3),
        ("V [mV],u(V) / V", 1e3),
    ],
)  # fmt: skip
def test_the_unit_of_uncertainties_in_a_heading(tmp_path: Path, heads: str, factor: float):
    (tmp_path / "v.csv").write_text(f"{heads}\n5,0.1\n7,0.2\n")
    result = autodiff("propagate", "2*V", "--points", str(tmp_path / "v.csv"), "--format", "jsonl")
    for line, (value, u) in zip(result.out.splitlines(), ((5, 0.1), (7, 0.2)), strict=True):
        record = json.loads(line)
        assert record["units"]["results"][0]["uncertainty"] == "mV"
        assert record["results"][0]["value"] == pytest.approx(2 * value, rel=1e-14)
        assert record["results"][0]["uncertainty"] == pytest.approx(2 * u * factor, rel=1e-14)


def test_uncertainties_of_temperatures_in_columns(tmp_path: Path):
    for heads, kelvins in (
        ("T [°F],u(T)", 5 / 9),
        ("T [°F],u(T) [K]", 1),
        ("T [K],u(T) [°F]", 5 / 9),
        ("T [°C],u(T)", 1),
    ):
        (tmp_path / "t.csv").write_text(f"{heads}\n50,1\n")
        result = autodiff(
            "propagate", "T", "--points", str(tmp_path / "t.csv"), "--in", "K", "--format", "jsonl"
        )
        assert json.loads(result.out)["results"][0]["uncertainty"] == pytest.approx(
            kelvins, rel=1e-14
        )


MIXED = {
    "E - m*v**2/2": {
        "E": ("J", "kWh", "mJ", "cal"),
        "m": ("g", "kg", "lb"),
        "v": ("m/s", "km/h", "ft/min"),
    },
    "sqrt(E/m) - v": {"E": ("kJ", "eV"), "m": ("mg", "t"), "v": ("mm/s", "mi/h")},
    "P*t + F*x": {"P": ("W", "hp"), "t": ("min", "ms"), "F": ("kN", "lbf"), "x": ("mm", "inch")},
    "sqrt(x*y)": {"x": ("mm", "ft"), "y": ("mm", "km")},
}
PINT = {"cal": "calorie", "lb": "pound", "ft/min": "foot/minute", "mi/h": "mile/hour", "hp": "UK_hp", "min": "minute",
        "lbf": "force_pound", "t": "metric_ton", "ft": "foot"}  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("text", MIXED)
def test_units_that_make_one_another_only_by_roots_are_converted(
    tmp_path: Path, text: str, backend: tuple[str, ...]
) -> None:
    pint = pytest.importorskip("pint")
    registry = pint.UnitRegistry()
    registry.define("UK_hp = 550 * foot * force_pound / second")
    rng = np.random.default_rng(len(text))
    for k in range(4):
        chosen = {name: units[k % len(units)] for name, units in MIXED[text].items()}
        columns = {name: rng.uniform(1, 9, 3) for name in chosen}
        path = tmp_path / f"mixed{k}.csv"
        rows = "".join(
            ",".join(repr(float(x)) for x in row) + "\n"
            for row in zip(*columns.values(), strict=True)
        )
        path.write_text(",".join(f"{name} [{unit}]" for name, unit in chosen.items()) + "\n" + rows)
        out = autodiff("grad", text, "--points", str(path), "--wide", *backend).out
        heads, numbers = rows_of(out)
        quantities = {
            name: registry.Quantity(column, PINT.get(chosen[name], chosen[name]))
            for name, column in columns.items()
        }
        expected = eval(text, {"sqrt": np.sqrt}, quantities).to_base_units().magnitude  # noqa: S307 - of this test
        unit = parse_unit(heads[0].partition("[")[2].rstrip("]"))
        scale = np.abs(expected).max()
        np.testing.assert_allclose(
            [unit.to_si(x) for x in numbers.T[0]], expected, rtol=1e-9, atol=1e-12 * scale
        )
        for name, head, slopes in zip(chosen, heads[1:], numbers.T[1:], strict=True):
            step = {**quantities, name: quantities[name] * (1 + 1e-3)}
            back = {**quantities, name: quantities[name] * (1 - 1e-3)}
            rise = eval(text, {"sqrt": np.sqrt}, step) - eval(text, {"sqrt": np.sqrt}, back)  # noqa: S307
            slope = (rise / (2e-3 * quantities[name])).to_base_units().magnitude
            text_of = head.partition("[")[2].rstrip("]")
            own = [parse_unit(text_of).to_si(x) if text_of else x for x in slopes]
            rounding = 1e-12 * scale / np.abs(quantities[name].to_base_units().magnitude).min()
            np.testing.assert_allclose(own, slope, rtol=1e-5, atol=rounding)


def test_losses_and_fits_over_such_units(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    m, v = rng.uniform(1, 9, (2, 20))
    energy = 0.5e-3 * m * v**2
    path = tmp_path / "motion.csv"
    rows = "".join(
        f"{a!r},{b!r},{c!r}\n"
        for a, b, c in zip(energy.tolist(), m.tolist(), v.tolist(), strict=True)
    )
    path.write_text("E [J],m [g],v [m/s]\n" + rows)
    fitted = json.loads(autodiff("fit", "E = k*m*v**2", "--data", str(path), "--json").out)
    assert fitted["parameters"]["k"] == pytest.approx(0.5, rel=1e-12)
    loss = ("--data", str(path), "--reduce", "mean", "--json")
    record = json.loads(autodiff("grad", "E - k*m*v**2", *loss, "--at", "k=1 g/kg").out)
    assert record["value"] == pytest.approx(float(np.mean(energy - 1e-6 * m * v**2)), rel=1e-12)
    assert record["units"]["value"] == "J"
    least = json.loads(autodiff("minimize", "(E - k*m*v**2)**2", *loss, "--at", "k=0").out)
    assert least["point"]["k"] == pytest.approx(0.5, rel=1e-5)
    light = autodiff("minimize", "(m*c**2 - a)**2", *loss, "--at", "a=1 TJ", "--constants", "c").out
    assert json.loads(light)["point"] == pytest.approx(
        {"c": 299792458.0, "a": 89.8755178736818 * np.mean(m)}, rel=1e-9
    )


def test_constants_of_nature_do_not_move_and_are_held_in_fits(tmp_path: Path) -> None:
    path = tmp_path / "photo.csv"
    path.write_text("f [THz],E [eV]\n500,0.1678\n600,0.5814\n700,0.9950\n")
    fitted = json.loads(
        autodiff("fit", "E = h*f - W", "--data", str(path), "--constants", "h", "--json").out
    )
    photon = 6.62607015e-34 / 1.602176634e-19
    assert fitted["held"] == {"h": "fixed"} and fitted["units"]["parameters"]["W"] == "eV"
    expected = np.mean(
        [photon * f * 1e12 - e for f, e in ((500, 0.1678), (600, 0.5814), (700, 0.9950))]
    )
    assert fitted["parameters"]["W"] == pytest.approx(float(expected), rel=1e-9)
    way = json.loads(
        autodiff("minimize", "(x*c - 1[km])**2", "--at", "x=0 us", "--constants", "c", "--json").out
    )
    assert way["point"] == pytest.approx({"c": 299792458.0, "x": 1e9 / 299792458.0}, rel=1e-9)
    assert [*way["gradient"]] == ["x"]
    freed = autodiff(
        "minimize", "(x*c - 1[km])**2", "--at", "x=3 us", "--constants", "c", "--wrt", "c", "--json"
    ).out
    assert [*json.loads(freed)["gradient"]] == ["c"]


def test_uncertainties_are_converted_even_if_the_units_in_the_headings_are_ignored(tmp_path: Path):
    (tmp_path / "rows.csv").write_text("x [°C],y [m],dx [°C],u(y) [mm]\n1,2,0.1,20\n")
    for wide in ((), ("--wide",)):
        options = ("propagate", "3*y + x", "--points", "rows.csv", "--errors", "auto", *wide)
        result = autodiff(*options, "--format", "jsonl", folder=tmp_path)
        record = json.loads(result.out)
        uncertainty = record["uncertainty"] if wide else record["results"][0]["uncertainty"]
        assert uncertainty == pytest.approx((0.06**2 + 0.1**2) ** 0.5, rel=1e-12)
    (tmp_path / "rows.csv").write_text("x,y [m],dx [mm],u(y) [mm]\n1,2,100,20\n")
    refused = autodiff(*options, folder=tmp_path)
    assert (
        refused.code == 2
        and "the uncertainties of `x` are in `mm`, and its column has no unit" in refused.err
    )


def test_columns_in_two_units_of_one_quantity_are_not_used_as_numbers_alone(tmp_path: Path):
    for heads, named in (
        ("x [m],z [mm],w [°C]", "`x` is in m, `z` in mm"),
        ("x [K],z [°C],w", "`x` is in K, `z` in °C"),
    ):
        (tmp_path / "two.csv").write_text(f"{heads}\n1,500,2\n")
        for wide in ((), ("--wide",)):
            result = autodiff("grad", "(x + z)*w", "--points", "two.csv", *wide, folder=tmp_path)
            assert (
                result.code == 2
                and f"error: {named}, and the units in the headings are ignored" in result.err
            )


def test_files_differ_in_the_unit_of_uncertainties(tmp_path: Path):
    (tmp_path / "one.csv").write_text("x,dx\nm,mm\n1,10\n2,20\n")
    (tmp_path / "two.csv").write_text("x,dx\nm,m\n1,0.01\n2,0.02\n")
    files = ("--points", "one.csv", "--points", "two.csv")
    result = autodiff("propagate", "2*x", *files, "--errors", "auto", "--wide", folder=tmp_path)
    assert (
        result.code == 2
        and "column `dx` has the unit m in `two.csv`, and mm in `one.csv`" in result.err
    )


def test_a_heading_in_a_quotient_of_units_has_the_name_before_it():
    data = "x in m;v in m/s;y\n1;10;3\n2;20;4\n4;15;6.1\n"
    result = autodiff("grad", "x/v", "--points", "-", "--wide", stdin=data)
    assert result.out.splitlines()[:2] == ["value [s],d_x [s/m],d_v [s²/m],error", "0.1,0.1,-0.01,"]
    # `m` is a parameter, not the column `v in m/s`
    fitted = autodiff("fit", "y = m*x + b", "--data", "-", "--format", "plain", stdin=data)
    assert fitted.code == 0 and fitted.out.startswith("m=1.03")


def test_a_heading_and_the_row_of_units_below_it_agree():
    agreed = autodiff("grad", "R*t", "--points", "-", "--wide", stdin="R [Ω],t [ ]\nohm,s\n1,2\n")
    assert agreed.code == 0 and agreed.out.splitlines()[1].startswith("2.0,2.0,1.0")
    result = autodiff("grad", "x*t", "--points", "-", "--wide", stdin="x [mm],t\nm,s\n1,2\n")
    assert (
        result.code == 2
        and "column `x [mm]` is in mm by its heading, and below it stands m" in result.err
    )


@pytest.mark.parametrize(
    ("heading", "unit"),
    [
        ("y (sec)", "s"),
        ("y [secs]", "s"),
        ("y (Seconds)", "s"),
        ("y (hrs)", "h"),
        ("y (lbs)", "lb"),
        ("y (ohms)", "Ω"),
        ("y (m/s2)", "m/s²"),
        ("y (kN/mm2)", "kN/mm²"),
        ("y (cm-1)", "cm⁻¹"),
        ("y (cm3)", "cm³"),
        ("y (m s-2)", "m/s²"),
        ("y (V vs Ref)", "V"),
        # remarks, labels, ratios, and what is two units
        ("y (peak)", ""),
        ("y (V2)", ""),
        ("y (A-1)", ""),
        ("y (A/A0)", ""),
        ("y (V1/V2)", ""),
        ("y (Min)", ""),
        ("y (ms-1)", ""),
        ("y (s2)", ""),
    ],
)
def test_headings_have_units_as_instruments_write_them(heading: str, unit: str):
    rows = f"x (mol),{heading}\n1,2\n2,4\n3,6\n"
    result = autodiff("fit", "y = b*x", "--data", "-", "--json", stdin=rows)
    record = json.loads(result.out)
    assert record["parameters"]["b"] == pytest.approx(2, rel=1e-12)
    wanted = parse_unit(unit) / parse_unit("mol") if unit else parse_unit("1/mol")
    assert parse_unit(record["units"]["parameters"]["b"])[1:] == wanted[1:]
    assert ("`y` has no unit" in result.err) is not bool(unit)
