"""Tests of uncertainties in cells, `1.1±0.1`: a fit takes them as it takes a column of
`--sigma`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from running import autodiff

POINTS = [
    (0, 5.1, 0.05),
    (1, 3.1, 0.05),
    (2, 1.9, 0.04),
    (3, 1.1, 0.05),
    (4, 0.7, 0.06),
    (5, 0.4, 0.05),
]
WRITTEN = [
    "0,5.10±0.05", "1,3.10+-0.05", "2,1.90+/-0.04", "3,1.10(5)", "4,0.7 ± 0.06",
    "5,0.4 ± 0.10 (k = 2)",
]  # fmt: skip
FIT = ["fit", "U = U0*exp(-t/tau)", "--at", "tau=2", "--data"]


def answer(folder: Path, text: str, *more: str) -> dict[str, Any]:
    (folder / "d.csv").write_text(text)
    found: dict[str, Any] = json.loads(autodiff(*FIT, str(folder / "d.csv"), "--json", *more).out)
    return found


def test_a_fit_takes_them_as_a_column_of_sigmas(tmp_path: Path) -> None:
    rows = [f"{t},{u},{s}\n" for t, u, s in POINTS]
    right = answer(tmp_path, "t,U,s\n" + "".join(rows), "--sigma", "s")
    found = answer(tmp_path, "\n".join(["t,U", *WRITTEN, ""]))
    for key in ("parameters", "standard_errors"):
        assert found[key] == pytest.approx(right[key], rel=1e-9)
    assert (
        found["chi_squared"] == pytest.approx(right["chi_squared"], rel=1e-9)
        and found["absolute_sigma"]
    )
    assert found["parameters"]["tau"] == pytest.approx(fitted()[1], rel=1e-6)


def fitted() -> list[float]:
    optimize = pytest.importorskip("scipy.optimize")
    import numpy as np

    t, u, s = np.array(POINTS, dtype=float).T
    best, _ = optimize.curve_fit(
        lambda t, a, b: a * np.exp(-t / b), t, u, [5, 2], sigma=s, absolute_sigma=True
    )
    return [float(x) for x in best]


def test_a_decimal_comma_and_a_unit_in_the_heading(tmp_path: Path) -> None:
    rows = [f"{t};{u}±{s}\n".replace(".", ",") for t, u, s in POINTS]
    found = answer(tmp_path, "t;U\n" + "".join(rows), "--decimal", "comma")
    assert found["parameters"]["tau"] == pytest.approx(fitted()[1], rel=1e-6)
    milli = [f"{t},{1000 * u}±{1000 * s}\n" for t, u, s in POINTS]
    with_unit = answer(tmp_path, "t (s),U (mV)\n" + "".join(milli), "--in", "U0=V,tau=s")
    assert with_unit["parameters"]["U0"] == pytest.approx(fitted()[0], rel=1e-6)
    assert with_unit["chi_squared"] == pytest.approx(found["chi_squared"], rel=1e-9)


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        (["0,5.1±0.05", "1,3.1", "2,2"], [], "an uncertainty in 1 of 3 rows"),
        (["0,5.1±0.05", "1,3.1±0.1", "2,2±x"], [], "line 4"),
        (["0,5.1±0.05", "1,3.1±0.1", "2,2±0"], [], "uncertainty 0"),
        (["0,5.1±0.05", "1,3.1±0.1", "2,2±0.1"], ["--sigma", "U=0.1"], "so does `--sigma`"),
    ],
)
def test_what_is_uncertain_in_part_is_refused(
    tmp_path: Path, rows: list[str], more: list[str], said: str
) -> None:
    (tmp_path / "d.csv").write_text("\n".join(["t,U", *rows, ""]))
    refused = autodiff("fit", "U = a + b*t", "--data", str(tmp_path / "d.csv"), *more)
    assert refused.code == 2 and not refused.out and said in refused.err
