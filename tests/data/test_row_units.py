"""Rows whose columns have units: one by one and in batches, in every form."""

import json
from pathlib import Path

import numpy as np
import pytest

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
    assert record["units"]["value"] == "V/mA" and record["units"]["gradient"] == {"U": "mA⁻¹", "I": "V/mA²"}
    assert record["value"] == pytest.approx(1.02 / 10.1) and record["point"] == {"U": 1.02, "I": 10.1}


@pytest.mark.parametrize("backend", [(), ("--backend", "numpy")])
def test_columns_whose_units_do_not_belong_together_are_converted(tmp_path: Path, backend: tuple[str, ...]):
    rng = np.random.default_rng(3)
    s, v, t = rng.uniform(1, 9, (3, 6))
    lines = "".join(f"{a!r},{b!r},{c!r}\n" for a, b, c in zip(s.tolist(), v.tolist(), t.tolist(), strict=True))
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
    assert "│ U [V] │ I [mA] │ value [V/mA] │" in autodiff("grad", "U/I", "--points", ohm, "--format", "table").out
    out = str(tmp_path / "out.parquet")
    assert autodiff("grad", "U/I", "--points", ohm, "--output", out).code == 0
    assert parquet.read_table(out).column_names == ["value [V/mA]", "d_U [mA⁻¹]", "d_I [V/mA²]", "error"]


def test_what_does_not_fit_together_is_refused_before_the_first_row(ohm: str):
    result = autodiff("grad", "U + I", "--points", ohm, "--wide")
    assert (result.out, result.code) == ("", 4)
    assert "cannot add a voltage (V) and an electric current (A)" in result.err and "--in none" in result.err
    asked = autodiff("grad", "U/I", "--points", ohm, "--in", "ohm")
    assert asked.code == 2 and "these are rows" in asked.err


@pytest.mark.parametrize("heading", ["I", "I (a.u.)", "I (°C)"])
def test_units_count_where_all_columns_have_some(tmp_path: Path, heading: str):
    (tmp_path / "some.csv").write_text(ROWS.replace("I (mA)", heading))
    result = autodiff("grad", "U/I", "--points", str(tmp_path / "some.csv"), "--wide")
    assert result.out.startswith("value,d_U,d_I,error\n")
    assert "note: the units in the headings do not count: `I` " in result.err


def test_files_with_rows_of_other_units_are_refused(tmp_path: Path):
    for name, unit in (("a", "V"), ("b", "mV")):
        (tmp_path / f"{name}.csv").write_text(f"U;I\n{unit};mA\n1;2\n3;5\n")
    files = [word for name in "ab" for word in ("--points", str(tmp_path / f"{name}.csv"))]
    for more in ((), ("--backend", "numpy")):
        result = autodiff("grad", "U*I", *files, "--wide", *more)
        assert result.code == 2 and "has the unit mV in" in result.err


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
