"""Losses over columns with units: the numbers of the same loss in other units, and when they
count.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from running import autodiff

RNG = np.random.default_rng(11)
X, Y = RNG.uniform(1, 9, 40), RNG.uniform(-3, 3, 40)
TERM = "(y - a*x - b)**2"


@pytest.fixture
def data(tmp_path: Path) -> tuple[str, str]:
    """The same rows in mm and V, and in m and mV without units."""
    for name, head, along, up in (("units", "x [mm],y [V]", 1.0, 1.0), ("plain", "x,y", 1e-3, 1e3)):
        pairs = zip((along * X).tolist(), (up * Y).tolist(), strict=True)
        (tmp_path / f"{name}.csv").write_text(
            f"{head}\n" + "".join(f"{a!r},{b!r}\n" for a, b in pairs)
        )
    return str(tmp_path / "units.csv"), str(tmp_path / "plain.csv")


def answer(command: str, path: str, at: str, *more: str) -> dict[str, Any]:
    result = autodiff(
        command, TERM, "--data", path, "--reduce", "mean", "--at", at, "--json", *more
    )
    assert result.code == 0, result.err
    record: dict[str, Any] = json.loads(result.out)
    return record


@pytest.mark.parametrize("backend", ["python", "numpy"])
def test_a_loss_in_other_units_is_the_same_one(data: tuple[str, str], backend: str):
    measured = answer("grad", data[0], "a=700 mV/m, b=0.2 V", "--backend", backend, "--relative")
    plain = answer("grad", data[1], "a=700, b=200", "--backend", backend, "--relative")
    assert measured["units"]["value"] == "V²" and measured["units"]["gradient"] == {
        "a": "V·mm",
        "b": "V",
    }
    assert measured["point"] == {"a": 700.0, "b": 0.2}
    # of mV², mV·m and mV
    assert measured["value"] == pytest.approx(1e-6 * plain["value"], rel=1e-12)
    assert measured["gradient"]["a"] == pytest.approx(plain["gradient"]["a"], rel=1e-12)
    assert measured["gradient"]["b"] == pytest.approx(1e-3 * plain["gradient"]["b"], rel=1e-12)
    assert measured["elasticities"] == pytest.approx(plain["elasticities"], rel=1e-12)


def test_second_derivatives_of_a_loss_have_units(data: tuple[str, str]):
    measured = answer("hessian", data[0], "a=700 mV/m, b=0.2 V")
    assert (
        measured["units"]["hessian"] == [["mm²", "mm"], ["mm", "1"]]
        and measured["eigenvalues"] is None
    )
    expected = [[2 * float(np.mean(X**2)), 2 * float(np.mean(X))], [2 * float(np.mean(X)), 2.0]]
    np.testing.assert_allclose(measured["hessian"], expected, rtol=1e-13)


def test_without_units_in_the_point_they_count_where_they_fit_together(data: tuple[str, str]):
    product = autodiff(
        "grad", "k*x*y", "--data", data[0], "--reduce", "sum", "--at", "k=2", "--json"
    )
    record = json.loads(product.out)
    assert record["units"]["value"] == "mm·V" and record["value"] == pytest.approx(
        2 * float(X @ Y), rel=1e-12
    )
    plain = answer("grad", data[0], "a=0.7, b=0.2")
    assert "units" not in plain and plain["warnings"][0]["kind"] == "note"
    assert plain["value"] == pytest.approx(float(np.mean((Y - 0.7 * X - 0.2) ** 2)), rel=1e-12)
    result = autodiff("grad", TERM, "--data", data[0], "--reduce", "mean", "--at", "a=2 V, b=1 V")
    assert result.code == 4 and "cannot subtract" in result.err
    left = autodiff("minimize", TERM, "--data", data[0], "--reduce", "mean", "--at", "a=1,b=1")
    assert "the units in the headings are left out" in left.err


def test_searches_are_in_the_units_of_the_start(data: tuple[str, str], tmp_path: Path):
    slope, constant = np.polyfit(X, Y, 1)
    point = tmp_path / "point.json"
    for more in ((), ("--bounds", "a=-5 kV/m:5 kV/m"), ("--method", "newton-cg")):
        found = answer(
            "minimize",
            data[0],
            "a=700 mV/m, b=200 mV",
            "--save-point",
            str(point),
            "--force",
            *more,
        )
        # a volt a millimetre is a million millivolts a metre
        assert found["point"]["a"] == pytest.approx(1e6 * float(slope), rel=1e-6)
        assert found["point"]["b"] == pytest.approx(1e3 * float(constant), rel=1e-6)
        assert found["units"]["point"]["a"] == "mV/m" and found["units"]["point"]["b"] == "mV"
        assert json.loads(point.read_text())["a"].endswith(" mV/m")
    again = answer("grad", data[0], f"@{point}")
    assert max(map(abs, again["gradient"].values())) < 1e-6
    steps = autodiff("descend", TERM, "--data", data[0], "--reduce", "mean", "--at", "a=0.0007 V/mm, b=0.2 V",
                     "--steps", "2", "--rate", "0.01", "--format", "plain").out  # fmt: skip
    plain = autodiff("descend", TERM, "--data", data[0], "--reduce", "mean", "--at", "a=0.0007, b=0.2",
                     "--steps", "2", "--rate", "0.01", "--format", "plain").out  # fmt: skip
    assert "[V/mm]" in steps and "[" not in plain
    numbers = [
        [float(word.split("=")[-1].split("[")[0]) for word in text.splitlines()[-1].split()]
        for text in (steps, plain)
    ]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-12)


@pytest.mark.parametrize("backend", ["python", "numpy"])
@pytest.mark.parametrize("command", ["grad", "hessian", "minimize", "descend"])
def test_the_unit_of_a_loss_is_asked_for(data: tuple[str, str], command: str, backend: str):
    at = "a=700 mV/m, b=0.2 V"
    form = ("--format", "jsonl", "--steps", "1") if command == "descend" else ("--json",)
    options = (TERM, "--data", data[0], "--reduce", "mean", "--at", at, "--backend", backend, *form)
    usual, asked = (
        json.loads(autodiff(command, *options, *unit).out.splitlines()[0])
        for unit in ((), ("--in", "mV^2"))
    )
    assert usual["units"]["value"] == "V²" and asked["units"]["value"] == "mV²"
    assert asked["value"] == pytest.approx(1e6 * usual["value"], rel=1e-12)
    rest = Y - (np.polyval(np.polyfit(X, Y, 1), X) if command == "minimize" else 0.0007 * X + 0.2)
    expected = float(np.mean(rest**2))
    assert usual["value"] == pytest.approx(expected, rel=1e-9)
    refused = autodiff(command, *options, "--in", "V")
    assert refused.code == 2 and "`--in V` is for a voltage" in refused.err


def test_bounds_and_constraints_of_a_loss_are_in_their_units(data: tuple[str, str]):
    slope = np.polyfit(X, Y, 1)[0]
    limit = float(slope) / 2
    half = f"a {'<=' if limit > 0 else '>='} {abs(limit) * 1000!r}[V/m]*{np.sign(limit):g}"
    found = answer("minimize", data[0], "a=0 mV/m, b=200 mV", "--subject-to", half, "--in", "V^2")
    assert (
        found["point"]["a"] == pytest.approx(1e6 * limit, rel=1e-6)
        and found["constraints"][0]["active"]
    )
    expected = float(np.mean(Y) - limit * np.mean(X))
    assert found["point"]["b"] == pytest.approx(1e3 * expected, rel=1e-5)


@pytest.mark.parametrize("backend", ["python", "numpy"])
def test_a_loss_may_have_numbers_with_units(data: tuple[str, str], backend: str):
    text, rows = (
        "(y - a*x - 300[mV])**2",
        ("--data", data[0], "--reduce", "sum", "--backend", backend, "--json"),
    )
    record = json.loads(autodiff("grad", text, *rows, "--at", "a=700 mV/m").out)
    rest = Y - 0.0007 * X - 0.3
    assert (
        record["value"] == pytest.approx(float(rest @ rest), rel=1e-12)
        and record["units"]["value"] == "V²"
    )
    assert record["gradient"]["a"] == pytest.approx(float(-2 * rest @ X), rel=1e-12)
    assert record["units"]["gradient"]["a"] == "V·mm"
    least = json.loads(autodiff("minimize", text, *rows, "--at", "a=0 V/m").out)
    assert least["point"]["a"] == pytest.approx(1e3 * float((Y - 0.3) @ X / (X @ X)), rel=1e-6)
    left = json.loads(autodiff("grad", "(y - a*x)**2", *rows, "--at", "a=0.7", "--in", "none").out)
    assert "units" not in left and left["value"] == pytest.approx(
        float(np.sum((Y - 0.7 * X) ** 2)), rel=1e-12
    )


def test_a_check_of_a_loss_has_units(data: tuple[str, str]):
    record = answer("check", data[0], "a=700 mV/m, b=0.2 V", "--in", "mV^2")
    assert record["agrees"] and record["units"]["checked"][1]["exact"] == "mV·m"
    rest = Y - 0.0007 * X - 0.2
    # in mV², mV·m and V
    expected = (1e6 * np.mean(rest**2), -2 * np.mean(rest * X), -2 * np.mean(rest))
    for number, reference in zip(record["checked"], expected, strict=True):
        for key in ("computed", "exact", *(("difference",) if number["variable"] else ())):
            assert float(number[key]) == pytest.approx(float(reference), rel=1e-8)


def test_shares_of_temperatures_in_losses_are_from_absolute_zero(tmp_path: Path):
    (tmp_path / "x.csv").write_text("x [m]\n1\n2\n")
    options = ("--data", str(tmp_path / "x.csv"), "--reduce", "sum", "--relative", "--json")
    record = json.loads(autodiff("grad", "x*T**2", *options, "--at", "T=20 °C").out)
    assert record["elasticities"]["T"] == pytest.approx(2.0, rel=1e-14)
    assert record["point"] == {"T": 20.0} and record["value"] == pytest.approx(
        3 * 293.15**2, rel=1e-14
    )
    refused = autodiff("grad", "x*T/1[m]", *options, "--at", "T=20 °C", "--in", "°C")
    assert refused.code == 2 and "made of many values" in refused.err


def test_files_in_different_units_are_refused(tmp_path: Path):
    for name, unit in (("a", "V"), ("b", "mV")):
        (tmp_path / f"{name}.csv").write_text(f"x,y\nm,{unit}\n1,2\n3,5\n")
    files = [word for name in "ab" for word in ("--data", str(tmp_path / f"{name}.csv"))]
    result = autodiff("grad", "x*y", *files, "--reduce", "sum")
    assert result.code == 2 and "has the unit mV in" in result.err


@pytest.mark.parametrize("backend", ["python", "numpy"])
def test_columns_whose_units_do_not_belong_together_are_converted(tmp_path: Path, backend: str):
    s, v, t = RNG.uniform(1, 9, (3, 25))
    rows = zip(s.tolist(), v.tolist(), t.tolist(), strict=True)
    (tmp_path / "path.csv").write_text(
        "s [cm],v [m/s],t [ms]\n" + "".join(f"{a!r},{b!r},{c!r}\n" for a, b, c in rows)
    )
    options = (
        "--data",
        str(tmp_path / "path.csv"),
        "--reduce",
        "sum",
        "--backend",
        backend,
        "--json",
    )
    record = json.loads(autodiff("grad", "(s - v*t - d)**2", "--at", "d=2 mm", *options).out)
    # a metre a second is a tenth of a centimetre a millisecond, and 2 mm are 0.2 cm
    rest = s - 0.1 * v * t - 0.2
    assert record["units"]["value"] == "cm²" and record["units"]["gradient"] == {"d": "cm"}
    assert record["value"] == pytest.approx(float(rest @ rest), rel=1e-12)
    assert record["gradient"]["d"] == pytest.approx(float(-2 * rest.sum()), rel=1e-12)


def test_an_object_that_lacks_a_column_is_an_error_of_its_row(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text('{"x": 1, "y": 2}\n')
    (tmp_path / "b.jsonl").write_text('{"x": 3}\n{"x": 5, "y": 6}\n')
    options = (
        "--data",
        str(tmp_path / "a.jsonl"),
        "--data",
        str(tmp_path / "b.jsonl"),
        "--reduce",
        "sum",
        "--at",
        "w=1",
    )
    result = autodiff("grad", "w*x*y", *options)
    assert result.code == 2 and "b.jsonl, line 1: column `y`: it is empty" in result.err
    assert (
        autodiff("grad", "w*x*y", *options, "--on-error", "skip", "--format", "plain").out
        == "32.0 w=32.0\n"
    )


def test_columns_in_two_units_of_one_quantity_are_not_used_as_numbers_alone(tmp_path: Path):
    (tmp_path / "two.csv").write_text("x [m],y [mm],z [deg]\n1,500,30\n2,900,60\n")
    for term, named in (
        ("(a*x + y - b)^2", "`x` is in m, `y` in mm"),
        ("(a*sin(z) - x)^2", "`z` is in °"),
    ):
        result = autodiff(
            "minimize",
            term,
            "--data",
            str(tmp_path / "two.csv"),
            "--reduce",
            "sum",
            "--at",
            "a=1,b=1",
        )
        assert (
            result.code == 2
            and f"error: {named}, and the units in the headings are ignored" in result.err
        )
