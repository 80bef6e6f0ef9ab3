"""Tests of what is said of a point where a derivative is small because its digits are lost, and not
a minimum.
"""

from __future__ import annotations

import pytest

from autodiff_cli.capabilities.optimize.descend import descend
from autodiff_cli.capabilities.optimize.minimize import Minimum, minimize

pytest.importorskip("scipy")

# The derivatives are those of the formulas in mpmath with 50 digits.
UNDERFLOWS = [
    ("x/exp(x)", {"x": 400.0}, "`x`", "-7.64153e-172"),
    ("x*exp(-x**2)", {"x": 40.0}, "`x`", "-4.30371e-692"),
    ("exp(-x**2 - y**2)", {"x": 20.0, "y": 20.0}, "`x`", "-1.46715e-346"),
    ("exp(-x**2) - y**2", {"x": 30.0, "y": 0.5}, "`x`", "-8.18686e-390"),
]


def lost(found: Minimum) -> list[str]:
    return [warning.message for warning in found.warnings if warning.kind == "lost_digits"]


@pytest.mark.parametrize(("text", "start", "name", "slope"), UNDERFLOWS)
def test_a_derivative_that_underflows_is_no_maximum(
    text: str, start: dict[str, float], name: str, slope: str
) -> None:
    found = minimize(text, start, maximize=True)
    assert not found.converged
    assert found.reason == "digits" and found.kind is None and found.verdict == ""
    assert found.message.startswith(
        f"not converged: the derivative by {name} is {slope}, which is lost to underflow"
    )


@pytest.mark.parametrize("text", ["1/exp(x)", "x/exp(x)"])
def test_neither_is_it_a_minimum(text: str) -> None:
    found = minimize(text, {"x": 400.0})
    assert not found.converged and found.reason == "digits"
    assert "no reliable digit" in lost(found)[0]


@pytest.mark.parametrize(
    ("text", "start"), [("x/exp(x)", 400.0), ("1 - tanh(x)", 20.0), ("logsumexp(x, 70) - 70", -9.0)]
)
def test_small_numbers_without_a_proven_minimum_need_their_digits(text: str, start: float) -> None:
    assert lost(minimize(text, {"x": start}))


def test_an_underflow_that_takes_no_digits_is_no_fault() -> None:
    found = minimize("(x - 1)**2 + exp(-1e4*x)", {"x": 3.0})
    assert found.converged and found.kind == "minimum" and not lost(found)
    flat = minimize("(x - 3)**4", {"x": 3.0})  # 0 without an underflow
    assert flat.converged and flat.kind == "flat"


def test_what_is_left_of_a_gradient_at_a_proven_minimum_is_no_fault() -> None:
    rosenbrock = minimize("100*(y - x**2)**2 + (1 - x)**2", {"x": -1.2, "y": 1.0})
    assert rosenbrock.converged and not lost(rosenbrock)


def test_the_value_at_a_minimum_counts_relative_to_those_on_the_way() -> None:
    # (x - sqrt(2))**2 multiplied out is 1e-45 at the double next to the root, of which rounding
    # leaves nothing
    text = "1e-12*(x**2 - 2*sqrt(2)*x + 2)"
    assert "the value" in lost(minimize(text, {"x": 1.4142135623730951}))[0]
    assert not lost(minimize(text.replace("1e-12", "1"), {"x": 3.0}))


def test_a_run_that_does_not_move_for_an_underflow_says_so() -> None:
    run = descend("x*exp(-x**2)", {"x": 40.0}, gradient_tolerance=1e-9)
    assert len([*run]) == 1
    assert run.ending is not None and run.ending.reason == "digits" and not run.ending.succeeded
    assert (
        "the derivative by `x` is -4.30371e-692, which is lost to underflow" in run.ending.message
    )


def test_the_start_of_a_run_needs_its_digits() -> None:
    run = descend("1 - tanh(x)", {"x": 20.0}, steps=1)
    assert any("the value" in warning.message for warning in run.warnings)
    assert not descend("(x - 3)**2", {"x": 2.9999999}, steps=1).warnings
