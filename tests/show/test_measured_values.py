"""Tests of a value with its uncertainty and unit: as people read it, as siunitx takes it, and as it
is read again.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from decimal import Decimal
from pathlib import Path

import pytest

from autodiff_cli.engine.quantities.unit import parse_unit
from autodiff_cli.questions.measured_units import measured_value
from autodiff_cli.questions.measured_value import concise, plus_minus
from autodiff_cli.show.siunitx import quantity_latex, unit_macros
from running import autodiff
from tex import COMPILER, compile_document

UNITS = {
    "µF": r"\micro\farad", "m/s^2": r"\metre\per\second\squared", "kg": r"\kilogram",
    "°C": r"\degreeCelsius", "kN m": r"\kilo\newton\metre",
    "W/(m^2 K^4)": r"\watt\per\metre\squared\per\kelvin\tothe{4}", "kΩ": r"\kilo\ohm",
    "L/min": r"\litre\per\minute", "eV": r"\electronvolt", "mbar": "mbar",
}  # fmt: skip
"""Units, and what the manual of siunitx writes for them."""


def draws(count: int) -> list[tuple[float, float]]:
    draw = random.Random(3)
    sizes = [(10 ** draw.uniform(-9, 9), 10 ** draw.uniform(-4, 0.5)) for _ in range(count)]
    return [(draw.choice((-1, 1)) * size, size * share) for size, share in sizes]


def rounded(x: float, u: float) -> tuple[Decimal, Decimal]:
    """Round a value and its uncertainty to two digits of that: JCGM 100:2008, 7.2.6."""
    error = Decimal(f"{Decimal(u):.1e}")
    place = Decimal(1).scaleb(error.adjusted() - 1)
    return (Decimal(x) / place).quantize(Decimal(1), "ROUND_HALF_UP") * place, error


@pytest.mark.parametrize(("unit", "macros"), UNITS.items())
def test_units_are_macros_of_siunitx(unit: str, macros: str) -> None:
    assert unit_macros(parse_unit(unit)) == macros


@pytest.mark.parametrize("unit", ["", "µF", "m/s^2", "kg"])
def test_both_ways_of_writing_are_read_again(unit: str) -> None:
    for x, u in draws(500):
        value, error = rounded(x, u)
        for text in (concise(x, u), plus_minus(x, u, unit=f" {unit}".rstrip())):
            again = measured_value(
                "x", text if unit in text and unit else f"{text} {unit}".rstrip()
            )
            number, spread = getattr(again, "number", again), again.uncertainty
            assert float(number) == pytest.approx(float(value), rel=1e-14, abs=1e-300)
            scale = float(parse_unit(unit).scale) if unit else 1.0
            assert spread == pytest.approx(float(error) * scale, rel=1e-12)


def test_few_zeros_are_filled_up() -> None:
    assert plus_minus(1730.0, 180.0, unit=" µF") == "(1730 ± 180) µF"
    assert plus_minus(12345.0, 1200.0) == "12300 ± 1200"
    assert plus_minus(123456.0, 12000.0) == "(1.23 ± 0.12)e5"
    assert plus_minus(1.23456e7, 1.2e6) == "(1.23 ± 0.12)e7"


def test_siunitx_prints_what_it_is_given(tmp_path: Path) -> None:
    pairs = draws(120)
    lines = [
        quantity_latex(concise(x, u), parse_unit(unit)) or ""
        for (x, u), unit in zip(pairs, [*UNITS] * 12, strict=True)
    ]
    body = "\n\n".join(lines)
    compile_document(
        r"\documentclass{article}\usepackage{siunitx}\begin{document}\noindent "
        + body
        + r"\end{document}",
        tmp_path,
    )
    if COMPILER is None or shutil.which("pdftotext") is None:
        pytest.skip("there is no pdftotext here")
    said = subprocess.run(
        ["pdftotext", "-layout", str(tmp_path / "all.pdf"), "-"], capture_output=True, text=True
    )
    printed = [
        line.replace(" ", "").replace("−", "-") for line in said.stdout.splitlines() if "(" in line
    ]
    assert len(printed) == len(pairs)
    for line, (x, u) in zip(printed, pairs, strict=True):
        number = concise(x, u).partition("e")[0]
        assert line.startswith(number)
        if "e" in concise(x, u):
            assert "×10" in line


def test_a_budget_has_the_users_name_and_quantities() -> None:
    asked = ["propagate", "C = tau/R", "--at", "tau=1.73±0.18 s,R=1000±5 ohm", "--in", "µF"]
    shown = autodiff(*asked).out
    assert (
        "C = 1.73(18)e3 µF = (1730 ± 180) µF\n" in shown
        and "C = (1730 ± 350) µF (k = 1.96)" in shown
    )
    latex = autodiff(*asked, "--format", "latex").out
    assert r"C &= \frac{\tau}{R}" in latex
    assert r"$C$ & \qty{1.73(18)e3}{\micro\farad} & \qty{180}{\micro\farad}" in latex
    assert r"\qty[uncertainty-mode=separate]{1.73(35)e3}{\micro\farad}" in latex


def test_measures_of_a_fit_have_four_digits_or_as_many_as_asked(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("t,U\n0,5.1\n1,3.1\n2,1.9\n3,1.1\n4,0.7\n5,0.4\n")
    asked = ["fit", "U = U0*exp(-t/tau)", "--at", "tau=2", "--data", str(tmp_path / "d.csv")]
    usual, more = autodiff(*asked).out, autodiff(*asked, "--digits", "6").out
    assert "R² = 0.9998\n" in usual and "AIC = -23.84, BIC = -24.47\n" in usual
    assert "R² = 0.999847\n" in more and re.search(r"AIC = -23\.8421, BIC = -24\.4668\n", more)
