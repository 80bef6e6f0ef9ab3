"""Bessel functions in code: of those targets that have them; the others say that they have not."""

from __future__ import annotations

import math

import pytest

from autodiff_cli import ExpressionError, gradient
from autodiff_cli.capabilities.export.targets import TARGETS
from exported import RUNNERS, export

HAVE = {"numpy", "matlab", "r"}
KINDS = ("besselj", "bessely", "besseli", "besselk")
POINTS = [(0.0, 0.5), (1.0, 3.0), (2.0, 20.0), (0.5, 3.0), (2.25, 11.0)]


@pytest.mark.parametrize("runtime", [runtime for runtime, (to, _) in RUNNERS.items() if to in HAVE])
def test_value_and_derivative_by_x(runtime: str) -> None:
    to, run = RUNNERS[runtime]
    for name in KINDS:
        code = export(f"{name}(nu, x)", to, wrt="x")
        for nu, x in POINTS[:: 1 if to == "numpy" else 4]:
            want = gradient(f"{name}(nu, x)", {"nu": nu, "x": x})
            value, (slope,) = run(code, [nu, x])
            # libraries have 13 digits or so
            assert math.isclose(value, want.value, rel_tol=1e-11, abs_tol=1e-13), (name, nu, x)
            assert math.isclose(slope, want.gradient["x"], rel_tol=1e-11, abs_tol=1e-13), (
                name,
                nu,
                x,
            )


@pytest.mark.parametrize(
    "runtime", [runtime for runtime, (to, _) in RUNNERS.items() if to == "numpy"]
)
def test_at_and_below_zero(runtime: str) -> None:
    to, run = RUNNERS[runtime]
    code = export("besselj(nu, x)", to, wrt="x")
    assert run(code, [1.0, 0.0]) == (0.0, [0.5])
    assert run(code, [2.0, -3.0])[0] == pytest.approx(
        gradient("besselj(2, x)", {"x": -3.0}).value, rel=1e-13
    )
    assert math.isnan(run(code, [0.5, -1.0])[0])
    for name in ("bessely", "besselk"):
        code = export(f"{name}(nu, x)", to, wrt="x")
        assert all(math.isnan(run(code, [1.0, x])[0]) for x in (0.0, -1.0))


@pytest.mark.parametrize("to", sorted({*TARGETS} - HAVE - {"latex", "torch-module"}))
def test_other_targets_refuse_it(to: str) -> None:
    for name in KINDS:
        with pytest.raises(ExpressionError, match=f"has no function `{name}") as refused:
            export(f"{name}(0, x)", to, wrt="x")
        assert refused.value.kind == "usage"


@pytest.mark.parametrize("to", sorted({*TARGETS} - {"latex", "torch-module"}))
def test_no_target_has_the_faddeeva_function(to: str) -> None:
    with pytest.raises(ExpressionError, match="has no function `faddeeva_re`"):
        export("voigt(x, 1, 0, 2, 0.5)", to)


@pytest.mark.parametrize("to", sorted(HAVE))
def test_no_target_has_the_derivative_by_the_order(to: str) -> None:
    with pytest.raises(ExpressionError, match="has no function `besselj_derivative`"):
        export("besselj(nu, x)", to)
