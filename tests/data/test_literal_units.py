"""Rows of formulas whose own numbers have units, and frames whose columns have them: pint is the
reference.
"""

import json
import pickle
from pathlib import Path

import numpy as np
import pint
import pytest

from autodiff_cli import ExpressionError, gradient, hessian, rows
from running import autodiff

Q = pint.UnitRegistry().Quantity
BACKENDS = [(), ("--backend", "numpy"), ("--backend", "python")]
V = np.array([1.5, 30.25, 720.0])


@pytest.fixture
def speeds(tmp_path: Path) -> str:
    (tmp_path / "v.csv").write_text("v [km/h],t\n" + "".join(f"{v!r},2\n" for v in V.tolist()))
    return str(tmp_path / "v.csv")


def rows_of(text: str) -> tuple[list[str], np.ndarray]:
    """The headings of csv, and the numbers below them without the errors."""
    head, *lines = text.splitlines()
    return head.split(",")[:-1], np.array(
        [[float(x) for x in line.split(",")[:-1]] for line in lines]
    )


def expected(unit: str, by_v: str, by_v_v: str) -> list[np.ndarray]:
    """`80[g]*v**2 + 3[J]`, its derivative and its second one, by pint."""
    m, v = Q(80, "g"), Q(V, "km/h")
    value, first, second = m * v**2 + Q(3, "J"), 2 * m * v, Q(np.full(3, 160.0), "g")
    return [x.to(to).magnitude for x, to in ((value, unit), (first, by_v), (second, by_v_v))]


@pytest.mark.parametrize("backend", BACKENDS)
def test_numbers_in_a_formula_have_units_in_rows(speeds: str, backend: tuple[str, ...]):
    options = ("80[g]*v**2 + 3[J]", "--points", speeds, "--wide", *backend)
    heads, numbers = rows_of(autodiff("hessian", *options).out)
    assert heads == ["value [J]", "d_v [kg·m/s]", "d_v_v [kg]"]
    np.testing.assert_allclose(numbers.T, expected("J", "kg*m/s", "kg"), rtol=1e-14)
    heads, numbers = rows_of(autodiff("grad", *options, "--in", "mJ").out)
    assert heads == ["value [mJ]", "d_v [mJ·h/km]"]
    np.testing.assert_allclose(numbers.T, expected("mJ", "mJ*h/km", "kg")[:2], rtol=1e-14)
    heads, numbers = rows_of(
        autodiff("jacobian", "80[g]*v**2 + 3[J], v*5[min]", *options[1:], "--in", "mJ,km").out
    )
    assert heads == ["value1 [mJ]", "value2 [km]", "d1_v [mJ·h/km]", "d2_v [h]"]
    np.testing.assert_allclose(numbers.T[1], V / 12, rtol=1e-14)
    np.testing.assert_allclose(numbers.T[2], expected("mJ", "mJ*h/km", "kg")[1], rtol=1e-14)


def test_records_tables_and_exact_numbers_of_such_rows(speeds: str):
    records = [
        json.loads(line)
        for line in autodiff("grad", "80[g]*v**2 + 3[J]", "--points", speeds).out.splitlines()
    ]
    assert records[0]["units"] == {
        "value": "J",
        "gradient": {"v": "kg·m/s"},
        "point": {"v": "km/h"},
    }
    value, first, _ = expected("J", "kg*m/s", "kg")
    np.testing.assert_allclose([record["value"] for record in records], value, rtol=1e-14)
    np.testing.assert_allclose([record["gradient"]["v"] for record in records], first, rtol=1e-14)
    assert [record["point"]["v"] for record in records] == V.tolist()
    exact = autodiff("grad", "1[g]*v", "--points", speeds, "--exact", "--wide").out.splitlines()
    assert exact[:2] == ["value [kg·m/s],d_v [kg],error", "1/2400,1/1000,"]
    table = autodiff("grad", "80[g]*v**2", "--points", speeds, "--format", "table").out
    assert "v [km/h] │ value [J] │ d_v [kg·m/s]" in table


@pytest.mark.parametrize(("more", "unit"), [((), "J"), (("--in", "kJ"), "kJ")])
def test_uncertainties_through_numbers_with_units_row_by_row(
    speeds: str, more: tuple[str, ...], unit: str
):
    options = ("80[g]*v**2", "--points", speeds, "--at", "v=±2%", "--wide", *more)
    lines = autodiff("propagate", *options).out.splitlines()
    assert lines[0].startswith(f"value [{unit}],uncertainty [{unit}]")
    value, first, _ = expected(unit, f"{unit}*h/km", "kg")
    numbers = np.array([[float(x) for x in line.split(",")[:2]] for line in lines[1:]])
    np.testing.assert_allclose(numbers[:, 0], value - Q(3, "J").to(unit).magnitude, rtol=1e-12)
    np.testing.assert_allclose(numbers[:, 1], first * 0.02 * V, rtol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
def test_columns_without_units_are_numbers_beside_such_formulas(
    speeds: str, backend: tuple[str, ...]
):
    heads, numbers = rows_of(
        autodiff("grad", "80[g]*t", "--points", speeds, "--wide", *backend).out
    )
    assert heads == ["value [kg]", "d_t [kg]"]
    np.testing.assert_allclose(numbers, np.tile([0.16, 0.08], (3, 1)), rtol=1e-15)
    refused = autodiff("grad", "80[g]*t + v", "--points", speeds, "--wide", *backend)
    assert (
        (refused.code, refused.out) == (4, "")
        and "a mass (kg)" in refused.err
        and "a speed (m/s)" in refused.err
    )
    alone = autodiff("grad", "80[g]*v", "--points", speeds, "--wide", "--in", "none", *backend)
    assert alone.out.splitlines()[:2] == ["value [kg],d_v [kg],error", "0.12,0.08,"]


def test_sweeps_of_such_formulas_have_units():
    out = autodiff("grad", "80[g]*v**2", "--at", "v=1:2:1", "--format", "csv").out
    assert out.splitlines()[0].startswith("v,value [kg],d_v [kg]")
    out = autodiff(
        "hessian", "80[g]*v**2", "--at", "v=1:2:1 km/s", "--format", "csv", "--in", "kJ"
    ).out
    assert out.splitlines()[0].startswith("v [km/s],value [kJ],d_v [kJ·s/km],d_v_v [kJ·s²/km²]")
    assert out.splitlines()[2].startswith("2.0,320.0,320.0,160.0")


FRAME = {"F [kN]": [1.0, 2.5, 4.0], "L [mm]": [3.0, 0.5, 20.0]}
FORCE, LENGTH = (np.array(column) for column in FRAME.values())


def frames() -> list[object]:
    """The frame as each library has it."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    return [
        FRAME,
        pandas.DataFrame(FRAME),
        polars.DataFrame(FRAME),
        arrow.table(FRAME),
        arrow.record_batch(FRAME),
    ]


@pytest.mark.parametrize("kind", range(5))
def test_columns_of_frames_have_the_units_of_their_names(kind: int):
    frame = frames()[kind]
    answers = rows("F*L**2", in_="J*m")(frame)
    for name, by in (("value [J·m]", 1), ("d_F [J·m/kN]", FORCE), ("d_L [J]", LENGTH / 2e3)):
        value = (Q(FORCE, "kN") * Q(LENGTH, "mm") ** 2).to("J*m").magnitude
        np.testing.assert_allclose(np.asarray(answers[name], float), value / by, rtol=1e-13)


def test_units_of_frames_are_those_of_files(tmp_path: Path):
    text = "F*L + 2[J]"
    (tmp_path / "f.csv").write_text(
        "\n".join([",".join(FRAME), *(f"{f},{x}" for f, x in zip(FORCE, LENGTH, strict=True))])
    )
    heads, numbers = rows_of(
        autodiff("grad", text, "--points", str(tmp_path / "f.csv"), "--wide").out
    )
    answers = rows(text)(FRAME)
    assert [*answers] == [*heads, "error"]
    np.testing.assert_array_equal(np.array([answers[head] for head in heads]).T, numbers)
    assert [*gradient(text, FRAME)] == [*heads, "error"]
    assert next(iter(gradient(text, FRAME, in_="kJ"))) == "value [kJ]"
    assert [*hessian("F*L", FRAME)] == [
        "value [kN·mm]",
        "d_F [mm]",
        "d_L [kN]",
        "d_F_F [mm/kN]",
        "d_L_F",
        "d_L_L [kN/mm]",
        "error",
    ]


def test_frames_may_do_without_units():
    numbers = rows("F*L", in_="none")(FRAME)
    assert [*numbers] == ["value", "d_F", "d_L", "error"] and numbers["value"] == (
        FORCE * LENGTH
    ).tolist()
    plain = rows("F*L")({"F": [1.0], "L": [2.0]})
    assert [*plain] == ["value", "d_F", "d_L", "error"]
    with pytest.warns(UserWarning, match="`L` has no unit, and is taken as a number"):
        some = rows("F*L")({"F [kN]": [1.0], "L": [2.0]})
    assert some == {"value [kN]": [2.0], "d_F": [2.0], "d_L [kN]": [1.0], "error": [None]}
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    with pytest.warns(UserWarning, match="`L` has no unit"):
        frame = rows("F*L")(pandas.DataFrame({"F [kN]": [1.0], "L": [2.0]}))
    assert frame.attrs["notes"] == ["`L` has no unit, and is taken as a number"]
    with pytest.warns(UserWarning, match="`L` has no unit"):
        table = rows("F*L")(arrow.table({"F [kN]": [1.0], "L": [2.0]}))
    assert (
        table.schema.metadata[b"autodiff.notes"].decode()
        == "`L` has no unit, and is taken as a number"
    )
    with pytest.raises(ExpressionError, match="cannot add an energy"):
        rows("F*L + M*k")({"F [kN]": [1.0], "L [mm]": [2.0], "M [kg]": [3.0], "k": [4.0]})
    with pytest.raises(ExpressionError, match="cannot add a force"):
        rows("F + L")(FRAME)


def test_rows_with_units_travel_and_know_their_schema():
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table(FRAME)
    spring = rows("F*L/k", at={"k": "2 N/mm"}, in_="cm^2", keep="F [kN]")
    assert spring.schema(table.schema).names == [
        "value [cm²]", "d_F [Pa⁻¹]", "d_L [m]", "d_k [m/Pa]", "error", "F [kN]",
    ]  # fmt: skip
    answers = pickle.loads(pickle.dumps(spring))(table)  # noqa: S301 - made here
    area = (Q(FORCE, "kN") * Q(LENGTH, "mm") / Q(2, "N/mm")).to("cm^2").magnitude
    np.testing.assert_allclose(answers["value [cm²]"].to_pylist(), area, rtol=1e-14)
    np.testing.assert_allclose(answers["d_k [m/Pa]"].to_pylist(), -area / 2 * 1e-7, rtol=1e-14)


def test_sweeps_with_units_in_python():
    answers = gradient("F*L", "L=1 mm:3 mm:1 mm, F=2 kN")
    assert [*answers] == ["L [mm]", "F [kN]", "value [J]", "d_F [J/kN]", "d_L [J/mm]", "error"]
    assert answers["L [mm]"] == [1.0, 2.0, 3.0] and answers["value [J]"] == [2.0, 4.0, 6.0]


def test_a_formula_with_units_in_it_is_drawn():
    result = autodiff("plot", "80[g]*v**2", "--range", "v=0 km/h:9 km/h", "--format", "jsonl")
    assert result.code == 0
    record = json.loads(result.out)
    assert record["formula"] == "2*80[g]*v" and record["units"]["value"] == "J"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_say_where_they_are_at_kinks(library: str) -> None:
    frames = pytest.importorskip(library)
    with pytest.warns(UserWarning, match="at 1 of 3 rows `abs` has no derivative") as warned:
        answers = gradient("abs(x)", frames.DataFrame({"x": [0.0, 1, -1]}))
    notes = answers.attrs["notes"] if library == "pandas" else answers.notes
    assert notes == ["at 1 of 3 rows `abs` has no derivative at … (convention: 0 at 0)"]
    assert warned[0].filename == __file__
    with pytest.warns(UserWarning, match="`I` has no unit") as warned:
        answers = rows("U*I")(frames.DataFrame({"U [V]": [1.0], "I": [2.0]}))
    assert warned[0].filename == __file__
