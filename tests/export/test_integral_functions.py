"""Integrals of elementary functions in code: NumPy has them by SciPy; others say that they have not."""

from __future__ import annotations

import math

import pytest

from autodiff_cli import ExpressionError, gradient
from autodiff_cli.capabilities.export.targets import TARGETS
from exported import RUNNERS, export

POINTS = {
    "erfi": (-3.0, 0.0, 0.25, 5.0),
    "Si": (-40.5, 0.0, 1e-5, 2.75),
    "Ci": (1e-5, 0.25, 2.75, 40.5),
    "Ei": (-2.5, -1e-5, 0.25, 60.0),
    "li": (1e-5, 0.25, 2.75, 1e10),
    "fresnels": (-0.75, 0.0, 0.25, 3.25),
    "fresnelc": (-0.75, 0.0, 0.25, 3.25),
}
OUTSIDE = {"Ci": (0.0, -1.0), "Ei": (0.0,), "li": (-1.0, 0.0, 1.0)}


@pytest.mark.parametrize("runtime", [name for name, (to, _) in RUNNERS.items() if to == "numpy"])
@pytest.mark.parametrize("name", POINTS)
def test_numpy_computes_what_grad_computes(name: str, runtime: str) -> None:
    to, run = RUNNERS[runtime]
    code = export(f"{name}(x)", to)
    for x in POINTS[name]:
        want = gradient(f"{name}(x)", {"x": x})
        value, (slope,) = run(code, [x])
        # SciPy has 14 digits or so
        assert math.isclose(value, want.value, rel_tol=1e-13, abs_tol=1e-300), x
        assert math.isclose(slope, want.gradient["x"], rel_tol=1e-13, abs_tol=1e-15), x
    for x in OUTSIDE.get(name, ()):
        value, (slope,) = run(code, [x])
        assert math.isnan(value) and math.isnan(slope)


@pytest.mark.parametrize("to", sorted({*TARGETS} - {"latex", "numpy", "torch-module"}))
def test_other_targets_refuse_them(to: str) -> None:
    for name in POINTS:
        with pytest.raises(ExpressionError, match=f"has no function `{name}`"):
            export(f"{name}(x)", to)
