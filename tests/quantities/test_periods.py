"""Hertz and radians per second: of one dimension in the SI, and a factor of 2*pi apart."""

from __future__ import annotations

import json
import math

import pytest

from autodiff_cli.engine.quantities.unit import parse_unit
from autodiff_cli.questions.periods import mixed_kinds
from autodiff_cli.questions.problem import parse
from counting import calls
from running import autodiff

LOW_PASS = "A = 1/sqrt(1 + (w/w0)**2)"
ROWS = "w (rad/s),A\n10,0.9\n20,0.7\n50,0.45\n100,0.24\n200,0.12\n"


@pytest.mark.parametrize(
    ("arguments", "first", "second"),
    [
        (["grad", "w*g", "--at", "w=50 rad/s,g=2", "--in", "Hz"], "w", "w*g"),
        (["grad", "x", "--at", "x=50 Hz", "--in", "rad/s"], "x", "x"),
        (["grad", "n*g", "--at", "n=60 rev/min,g=2", "--in", "1/min"], "n", "n*g"),
        (["grad", "50[Hz]*k", "--at", "k=2", "--in", "rad/s"], "50[Hz]*k", "50[Hz]"),
        (["jacobian", "w + f", "--at", "w=50 rad/s,f=50 Hz"], "w", "f"),
        (["hessian", "w**2*f", "--at", "w=50 rad/s,f=50 Hz"], "w", "f"),
        (["diff", "w*x", "--at", "w=50 rad/s,x=2", "--in", "Hz"], "w", "w*x"),
        (["solve", "w = 2*f", "--at", "f=50 Hz", "--for", "w", "--in", "w=rad/s"], "f", "w"),
        (["propagate", "w*k", "--at", "w=50±1 rad/s,k=2±0.1", "--in", "Hz"], "w", "w*k"),
        (["minimize", "(w-f)**2", "--at", "w=1 rad/s,f=3 Hz", "--wrt", "w"], "w", "f"),
    ],
)
def test_what_mixes_periods_and_angles_is_said(
    arguments: list[str], first: str, second: str
) -> None:
    answer = autodiff(*arguments)
    assert answer.code == 0
    (line,) = [line for line in answer.err.splitlines() if "a factor of 2*pi apart" in line]
    assert f"`{first}` is in" in line and f"`{second}` in" in line


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["2*pi*f", "--at", "f=50 Hz", "--in", "rad/s"], 100 * math.pi),
        (["6.2832*f", "--at", "f=50 Hz", "--in", "rad/s"], 6.2832 * 50),
        (["w/(2*pi)", "--at", "w=50 rad/s", "--in", "Hz"], 25 / math.pi),
        (["f*phi", "--at", "f=10 Hz,phi=360 deg", "--in", "rad/s"], 20 * math.pi),
        (["c/l", "--at", "c=3e8 m/s,l=2 m", "--in", "Hz"], 1.5e8),
        (["w*2", "--at", "w=60 rev/min", "--in", "rad/s"], 4 * math.pi),
        (["f*2", "--at", "f=60 1/min", "--in", "Hz"], 2.0),
        # a rate of decay is no number of periods
        (
            ["exp(-k*t)*cos(w*t)", "--at", "k=60 1/min,w=2 rad/s,t=1 s"],
            math.exp(-1) * math.cos(2),
        ),
    ],
)
def test_formulas_that_convert_are_not_warned_of(arguments: list[str], value: float) -> None:
    answer = autodiff("grad", *arguments, "--value-only", "--json")
    assert answer.code == 0 and answer.err == ""
    assert json.loads(answer.out)["value"] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "arguments",
    [
        ["grad", "w*x", "--at", "w=10 Hz:50 rad/s:10 Hz,x=2"],
        ["grad", "w*x", "--at", "w={10 Hz, 3 rad/s},x=2"],
        ["solve", "w = 2*f", "--between", "w=1 Hz:100 rad/s", "--at", "f=3 Hz"],
        ["minimize", "(w-3[1/s])**2", "--at", "w=1 Hz", "--bounds", "w=0 rad/s:10 rad/s"],
        ["propagate", "w*1", "--at", "w=50 rad/s ± 1 Hz"],
    ],
)
def test_values_of_one_variable_are_of_one_kind(arguments: list[str]) -> None:
    answer = autodiff(*arguments)
    assert answer.code == 2 and "differ by a factor of 2*pi" in answer.err


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--in", "w0=Hz"], 0, "`w` is in rad/s and `w0` in Hz: both count as 1/s here"),
        (["--at", "w0=10 Hz"], 0, "`w` is in rad/s and `w0` in Hz: both count as 1/s here"),
        (["--at", "w0=10 rad/s", "--predict", "w=10 Hz"], 2, "`w` has values in rad/s and in Hz"),
        (
            ["--at", "w0=10 rad/s", "--bounds", "w0=1 Hz:30 Hz"],
            2,
            "`w0` has values in rad/s and in Hz",
        ),
    ],
)
def test_fits_tell_headings_in_radians_from_hertz(
    tmp_path: object, more: list[str], code: int, message: str
) -> None:
    answer = autodiff("fit", LOW_PASS, "--data", "-", *more, stdin=ROWS)
    assert answer.code == code
    assert message in answer.err


@pytest.mark.parametrize("form", ["csv", "tsv", "plain", "markdown", "table"])
def test_rows_say_it_once_in_every_form_without_a_place_for_it(form: str) -> None:
    answer = autodiff(
        "grad", "w + f", "--points", "-", "--format", form, stdin="w (rad/s),f (Hz)\n10,2\n20,3\n"
    )
    assert answer.code == 0 and answer.err.count("a factor of 2*pi apart") == 1


def test_many_variables_in_one_unit_are_compared_once() -> None:
    def asked(count: int) -> int:
        names = [f"f{k}" for k in range(count)]
        program = parse(" + ".join([*names, "w"]))
        units = {name: parse_unit("Hz") for name in names} | {"w": parse_unit("rad/s")}
        assert mixed_kinds(program, units) is not None
        alike = {name: parse_unit("Hz") for name in [*names, "w"]}
        return calls(lambda: mixed_kinds(program, alike))

    assert asked(400) < 5 * asked(100)
