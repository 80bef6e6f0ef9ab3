"""The incomplete gamma function in code: of those targets that have it; the others say that they
have not.
"""

from __future__ import annotations

import math

import pytest

from autodiff_cli import ExpressionError, gradient
from autodiff_cli.capabilities.export.targets import TARGETS
from exported import RUNNERS, export

HAVE = {"numpy", "jax", "torch", "matlab", "r"}
POINTS = [(a, x) for a in (0.25, 1.0, 2.5, 30.0) for x in (0.5, 3.0, 20.0, 40.0)]


@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
@pytest.mark.parametrize("runtime", [runtime for runtime, (to, _) in RUNNERS.items() if to in HAVE])
def test_value_and_derivative_by_x(runtime: str, name: str) -> None:
    to, run = RUNNERS[runtime]
    code = export(f"{name}(a, x)", to, wrt="x")
    for a, x in POINTS[:: 1 if to in ("numpy", "torch") else 5]:
        want = gradient(f"{name}(a, x)", {"a": a, "x": x})
        value, (slope,) = run(code, [a, x])
        # libraries have 13 digits or so
        assert math.isclose(value, want.value, rel_tol=1e-11, abs_tol=1e-14), (a, x)
        assert math.isclose(slope, want.gradient["x"], rel_tol=1e-11, abs_tol=1e-14), (a, x)


@pytest.mark.parametrize(
    "runtime", [runtime for runtime, (to, _) in RUNNERS.items() if to in ("numpy", "r")]
)
def test_outside_the_domain_is_no_number(runtime: str) -> None:
    to, run = RUNNERS[runtime]
    code = export("gammainc(a, x)", to, wrt="x")
    assert all(math.isnan(run(code, [a, x])[0]) for a, x in ((0.0, 1.0), (-1.5, 1.0), (2.0, -1.0)))


@pytest.mark.parametrize("to", sorted({*TARGETS} - HAVE - {"latex", "torch-module"}))
def test_other_targets_refuse_it(to: str) -> None:
    for text in ("gammainc(a, x)", "2*gammaincc(a, x)"):
        with pytest.raises(ExpressionError, match="has no function `gammainc") as refused:
            export(text, to, wrt="x")
        assert refused.value.kind == "usage"


@pytest.mark.parametrize("to", sorted(HAVE))
def test_no_target_has_the_derivative_by_the_shape(to: str) -> None:
    with pytest.raises(ExpressionError, match="has no function `gammainc_derivative`"):
        export("gammainc(a, x)", to)
