"""Repeated readings in columns with units, and estimates of fits that have units."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_cli
from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.propagate.propagate import Propagation, estimates_of_fit, propagate
from autodiff_cli.capabilities.propagate.propagate_command import readings
from autodiff_cli.cli.option_values import OptionValues
from running import autodiff

H2 = """No;V (V);I (mA);phi (rad)
1;5,007;19,663;1,0456
2;4,994;19,639;1,0438
3;5,005;19,640;1,0468
4;4,990;19,685;1,0428
5;4,999;19,678;1,0433
"""
"""The readings of JCGM 100:2008, table H.2."""


@pytest.fixture
def h2(tmp_path: Path) -> str:
    path = tmp_path / "h2.csv"
    path.write_text(H2, encoding="utf-8")
    return str(path)


CALL = OptionValues("propagate", {"unknowns": None})
"""A call without options."""


def of_readings(path: str, formula: str, **options: object) -> Propagation:
    return propagate(formula, readings=readings(CALL, [path], formula, []), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("unit", ["ohm", None])
def test_the_gums_impedance_has_its_unit(h2: str, unit: str | None):
    answer = of_readings(h2, "V/I*cos(phi)", units=unit)
    (result,) = answer.results
    # table H.4: R = 127.732 Ω, u = 0.071 Ω
    scale = 1 if unit else 1000
    assert scale * result.value == pytest.approx(127.732, abs=5e-4)
    assert scale * result.uncertainty == pytest.approx(0.071, abs=5e-4)
    assert answer.units is not None
    texts = answer.units.texts()
    assert texts["results"][0]["value"] == ("Ω" if unit else "V/mA")
    assert texts["inputs"]["I"] == {"estimate": "mA", "uncertainty": "mA"}
    assert answer.inputs["I"].estimate == pytest.approx(19.661)
    # table H.2 has the correlations
    assert answer.correlation["V"]["phi"] == pytest.approx(0.86, abs=5e-3)


def test_units_in_headings_change_no_number(h2: str):
    (one,), (other,) = (
        of_readings(h2, "V/I*cos(phi)", units=units).results for units in (None, "none")
    )
    assert one.value == pytest.approx(other.value, rel=1e-14)
    assert one.uncertainty == pytest.approx(other.uncertainty, rel=1e-12)
    assert of_readings(h2, "V/I", units="none").units is None


def test_readings_whose_dimensions_do_not_fit_together(h2: str):
    with pytest.raises(
        ExpressionError, match=r"cannot add a voltage \(V\) and an electric current \(A\)"
    ) as raised:
        of_readings(h2, "V + I")
    assert "none" in (raised.value.hint or "")
    assert of_readings(h2, "V + I", units="none").results[0].value == pytest.approx(24.66)


def test_columns_that_take_no_part_are_named(h2: str):
    result = autodiff("propagate", "V/I", "--data", h2, "--format", "plain")
    assert "note: 2 columns take no part: `No`, `phi (rad)`\n" in result.err
    quiet = autodiff("propagate", "V/I", "--data", h2, "--format", "plain", "--quiet")
    assert (quiet.out, quiet.err) == (result.out, "")


def test_parameters_of_a_fit_keep_their_units(tmp_path: Path):
    data = {"U (V)": [1.02, 1.98, 3.05, 3.96, 5.03], "I (mA)": [10.1, 20.0, 30.2, 39.9, 50.1]}
    fit = autodiff_cli.fit("U = R*I + U0", data=data, sigma="20 mV")
    fitted = estimates_of_fit(fit.to_dict())
    answer = propagate("R*I", {"I": "5.00(2) mA"}, fitted=fitted)
    each = fit.parameters["R"]
    assert answer.units is not None and str(answer.units["results"][0]["value"]) == "V"
    assert answer.results[0].value == pytest.approx(5 * each.estimate, rel=1e-12)
    expected = ((5 * each.error) ** 2 + (0.02 * each.estimate) ** 2) ** 0.5
    assert answer.results[0].uncertainty == pytest.approx(expected, rel=1e-12)
    in_ampere = propagate("R*I", {"I": "0.00500(2) A"}, fitted=fitted, units="mV")
    assert in_ampere.results[0].value == pytest.approx(5000 * each.estimate, rel=1e-12)
    plain = propagate("U0/R", fitted=fitted, units="none")
    measured = propagate("U0/R", fitted=fitted)
    assert measured.results[0].value == pytest.approx(plain.results[0].value, rel=1e-12)
    assert (
        measured.units is not None
        and str(measured.units["results"][0]["value"]) == "mA"
        and plain.units is None
    )


def test_equations_take_a_fit_with_its_units():
    data = {"U (V)": [1.02, 1.98, 3.05, 3.96, 5.03], "I (mA)": [10.1, 20.0, 30.2, 39.9, 50.1]}
    fitted = estimates_of_fit(autodiff_cli.fit("U = R*I + U0", data=data).to_dict())
    answer = propagate("R*I + U0 = 2[V]", fitted=fitted, unknowns=["I"], units="mA")
    left = propagate("R*I + U0 = 2", fitted=fitted, unknowns=["I"], units="none")
    assert left.units is None and left.results[0].value == pytest.approx(19.99, abs=0.01)
    assert answer.units is not None and str(answer.units["results"][0]["value"]) == "mA"
    assert answer.results[0].value == pytest.approx(left.results[0].value, rel=1e-12)
    assert answer.results[0].uncertainty == pytest.approx(left.results[0].uncertainty, rel=1e-12)
    with pytest.raises(ExpressionError, match="cannot subtract") as refused:
        propagate("R*I + U0 = 2", fitted=fitted, unknowns=["I"])
    assert "--in none" in str(refused.value.hint)


def test_draws_have_the_units_of_their_headings(tmp_path: Path):
    rng = np.random.default_rng(7)
    volts = rng.normal(12, 0.02, 1000)
    amperes = volts / 2000 + rng.normal(0, 1e-5, 1000)
    for name, head, times in (("units", "U [V],I [mA]", 1e3), ("plain", "U,I", 1.0)):
        pairs = zip(volts.tolist(), (times * amperes).tolist(), strict=True)
        (tmp_path / f"{name}.csv").write_text(
            f"{head}\n" + "".join(f"{a!r},{b!r}\n" for a, b in pairs)
        )

    def result(name: str, *more: str) -> dict[str, Any]:
        options = ("--draws", str(tmp_path / f"{name}.csv"), "--samples", "1000", "--json")
        return json.loads(autodiff("propagate", "U/I", *options, *more).out)

    plain, ohms, own = result("plain"), result("units", "--in", "ohm"), result("units")
    assert (
        ohms["units"]["results"][0]["value"] == "Ω"
        and own["units"]["results"][0]["value"] == "V/mA"
    )
    for answer, times in ((ohms, 1.0), (own, 1e3)):
        mine, theirs = answer["results"][0], plain["results"][0]
        for key in ("value", "uncertainty"):
            assert times * mine[key] == pytest.approx(theirs[key], rel=1e-10)
        # the same rows of draws in the same order
        for key in ("mean", "deviation"):
            assert times * mine["draws"][key] == pytest.approx(theirs["draws"][key], rel=1e-10)
    assert own["inputs"]["I"]["estimate"] == pytest.approx(6.0, rel=1e-3)
    typed = ("--at", "R=1.0(1) kohm")
    both = autodiff(
        "propagate", "U/I + R", "--draws", str(tmp_path / "units.csv"), "--format", "plain", *typed
    )
    assert both.out.startswith("3.0") and "V/mA" in both.out
    refused = autodiff("propagate", "U/I + R", "--draws", str(tmp_path / "plain.csv"), *typed)
    assert refused.code == 4 and "cannot add a number and a resistance" in refused.err


def test_draws_of_several_files_are_independent_and_those_of_one_belong_together(tmp_path: Path):
    rng = np.random.default_rng(5)
    volts = rng.uniform(11.9, 12.1, 1500)
    first = rng.normal(6, 0.1, 1000)
    second = 2 * first + rng.normal(0, 1e-3, 1000)
    (tmp_path / "one.csv").write_text("U (V)\n" + "".join(f"{x!r}\n" for x in volts.tolist()))
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    (tmp_path / "two.csv").write_text(
        "I [mA],J [mA]\n" + "".join(f"{a!r},{b!r}\n" for a, b in pairs)
    )

    def result(formula: str, at: str, *more: str) -> dict[str, Any]:
        answer = autodiff("propagate", formula, "--at", at, "--json", *more, folder=tmp_path)
        assert answer.code == 0, answer.err
        record: dict[str, Any] = json.loads(answer.out)
        return record

    two = "I=draws(two.csv), K=draws(two.csv#J [mA])"
    record = result("K - 2*I", two, "--samples", "1000")
    (difference,) = record["results"]
    # what is common to the columns cancels; in the units of their headings, and all rows in their
    # order
    assert record["units"]["results"][0]["value"] == "mA"
    assert difference["value"] == pytest.approx(float(np.mean(second - 2 * first)), abs=1e-12)
    assert difference["uncertainty"] == pytest.approx(
        float(np.std(second - 2 * first, ddof=1)), rel=1e-6
    )
    assert difference["draws"]["deviation"] == pytest.approx(difference["uncertainty"], rel=1e-6)
    record = result("U/I", f"U=draws(one.csv), {two}", "--samples", "20000", "--in", "ohm")
    assert "U" not in record["correlation"] or not record["correlation"]["U"]["I"]
    (quotient,) = record["results"]
    relative = np.hypot(np.std(volts, ddof=1) / volts.mean(), np.std(first, ddof=1) / first.mean())
    assert quotient["uncertainty"] == pytest.approx(
        1e3 * volts.mean() / first.mean() * float(relative), rel=1e-9
    )
    assert quotient["draws"]["deviation"] == pytest.approx(quotient["uncertainty"], rel=0.03)
    refused = autodiff("propagate", "U/I", "--at", "U=12(1), I=draws(two.csv#Q)", folder=tmp_path)
    assert refused.code == 2 and "there is no column `Q`" in refused.err
    (tmp_path / "odd.txt").write_bytes("Gerät\nµ\n1,5\n2,5\n1,75\n".encode("utf-16-be"))
    odd = result(
        "2*x", "x=draws(odd.txt#µ)", "--skip", "1", "--encoding", "utf-16-be", "--decimal", "comma"
    )
    assert odd["results"][0]["value"] == pytest.approx(2 * (1.5 + 2.5 + 1.75) / 3, rel=1e-15)
    alone = autodiff("propagate", "x", "--at", "x=1±0.1", "--decimal", "comma", folder=tmp_path)
    assert alone.code == 2 and "`--decimal` needs `--points`, `--data` or `--draws`" in alone.err
    fixed = ("--at", "U=12(1), I=draws(two.csv)", "--correlation", "U:I=0.5")
    refused = autodiff("propagate", "U/I", *fixed, folder=tmp_path)
    assert refused.code == 2 and "the correlations of `I` are those of its draws" in refused.err
