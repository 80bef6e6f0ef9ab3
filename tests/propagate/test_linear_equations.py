"""Equations that are linear in their unknowns: the same draws as of the formula that solves
them.
"""

from __future__ import annotations

import pytest

import autodiff_cli
from running import autodiff


@pytest.mark.parametrize(
    ("equation", "formula", "at"),
    [
        ("a + b*x = 100", "(100-a)/b", "a=10±8,b=2±0.9"),
        ("a + b*x = 100", "(100-a)/b", "a=10±8,b=20±0.9"),
        ("(x - a)/b = c", "a + b*c", "a=1±0.5,b=2±1.5,c=3±2"),
        ("exp(a)*x + x*b = c", "1/(exp(a) + b)*c", "a=0.1±0.5,b=1±0.9,c=3±2"),
    ],
)
def test_draws_are_those_of_the_formula_that_solves_it(
    equation: str, formula: str, at: str
) -> None:
    """Wide uncertainties, also to the other side of a pole, where a path along the branch ended."""
    implicit = autodiff_cli.propagate(equation, at, for_="x", samples=100_000).results[0]
    explicit = autodiff_cli.propagate(formula, at, samples=100_000).results[0]
    assert implicit.value == pytest.approx(explicit.value, rel=1e-12)
    assert implicit.drawn is not None and explicit.drawn is not None
    assert implicit.drawn.outside == explicit.drawn.outside == 0
    assert implicit.drawn.mean == pytest.approx(explicit.drawn.mean, rel=1e-6)
    assert implicit.drawn.shortest == pytest.approx(explicit.drawn.shortest, rel=1e-9)
    assert implicit.drawn.symmetric == pytest.approx(explicit.drawn.symmetric, rel=1e-9)


def test_two_linear_equations() -> None:
    at = "a=2±0.5,b=1±0.1,c=1±0.3"
    both = autodiff_cli.propagate(
        "a*x + b*y = 3; x - c*y = 1", at, for_="x,y", samples=20_000
    ).results
    x = autodiff_cli.propagate("(0*a + b + 3*c)/(b + a*c)", at, samples=20_000).results[0]
    y = autodiff_cli.propagate("(3 - a)/(b + a*c)", at, samples=20_000).results[0]
    for one, other in zip(both, (x, y), strict=True):
        assert one.drawn is not None and other.drawn is not None
        assert one.drawn.symmetric == pytest.approx(other.drawn.symmetric, rel=1e-9)


def test_draws_that_have_to_be_followed_one_by_one_are_work() -> None:
    """A tenth of the draws has no solution; it took minutes."""
    result = autodiff(
        "propagate",
        "a + b*x**2 = 100",
        "--for",
        "x",
        "--at",
        "a=10±8,b=2±0.9,x=3",
        "--samples",
        "1e6",
    )
    assert result.code == 4
    assert "steps of work" in result.err
