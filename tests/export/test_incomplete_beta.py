"""The incomplete beta function in code: of those targets that have it; the others say that they
have not.
"""

from __future__ import annotations

import math

import pytest

from autodiff_cli import ExpressionError, gradient
from autodiff_cli.capabilities.export.targets import TARGETS
from exported import RUNNERS, export

HAVE = {"numpy", "jax", "matlab", "r"}
POINTS = [
    (2.5, 4.0, 0.25),
    (0.25, 0.5, 0.9),
    (1.0, 3.0, 0.75),
    (1000.0, 1000.0, 0.5),
    (30.0, 2.0, 0.875),
]
ENDS = [(2.0, 1.0, 1.0), (1.0, 2.5, 0.0)]
OUTSIDE = [(0.0, 1.0, 0.5), (2.0, -1.5, 0.5), (2.0, 3.0, -0.25), (2.0, 3.0, 1.25)]


@pytest.mark.parametrize("runtime", [runtime for runtime, (to, _) in RUNNERS.items() if to in HAVE])
def test_value_and_derivative_by_x(runtime: str) -> None:
    to, run = RUNNERS[runtime]
    code = export("betainc(a, b, x)", to, wrt="x")
    # a call of JAX is compiled, that of R a process
    for a, b, x in (
        POINTS + ENDS
        if to == "numpy"
        else [POINTS[0], POINTS[3], ENDS[0]][: 1 if to == "jax" else 3]
    ):
        want = gradient("betainc(a, b, x)", {"a": a, "b": b, "x": x})
        value, (slope,) = run(code, [a, b, x])
        # libraries have 13 digits or so
        assert math.isclose(value, want.value, rel_tol=1e-11, abs_tol=1e-14), (a, b, x)
        assert math.isclose(slope, want.gradient["x"], rel_tol=1e-11, abs_tol=1e-14), (a, b, x)


@pytest.mark.parametrize(
    "runtime", [runtime for runtime, (to, _) in RUNNERS.items() if to in HAVE - {"jax"}]
)
def test_outside_the_domain_is_no_number(runtime: str) -> None:
    to, run = RUNNERS[runtime]
    code = export("betainc(a, b, x)", to, wrt="x")
    for point in OUTSIDE if to == "numpy" else OUTSIDE[:1]:
        value, (slope,) = run(code, [*point])
        assert math.isnan(value) and math.isnan(slope), point


@pytest.mark.parametrize("to", sorted({*TARGETS} - HAVE - {"latex", "torch-module"}))
def test_other_targets_refuse_it(to: str) -> None:
    with pytest.raises(ExpressionError, match="has no function `betainc`") as refused:
        export("2*betainc(a, b, x)", to, wrt="x")
    assert refused.value.kind == "usage"


@pytest.mark.parametrize("to", sorted(HAVE))
def test_no_target_has_the_derivative_by_a_shape(to: str) -> None:
    with pytest.raises(ExpressionError, match="has no function `betainc_derivative`"):
        export("betainc(a, b, x)", to)
