"""The constants that a verdict depends on: on both sides of each, within a factor of 100, the
verdict is another.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import pytest

pytest.importorskip("scipy")

import numpy as np

from autodiff_cli import fit
from autodiff_cli.capabilities.optimize.constraints import ConstrainedProblem, parse_constraints
from autodiff_cli.capabilities.optimize.convergence import Sense
from autodiff_cli.capabilities.optimize.descend import begin_descent
from autodiff_cli.capabilities.optimize.inference import (
    FitCurvature,
    Goodness,
    Inference,
    RunsTest,
    Undetermined,
)
from autodiff_cli.capabilities.optimize.least_squares import EndPoint, Model
from autodiff_cli.capabilities.optimize.observations import Observations
from autodiff_cli.questions.problem import Problem, parse

# the least-squares line is a + b·x with b = Σ(x - 2)·(y - 2.9)/10 = 1.02, a = 2.9 - 2·1.02 = 0.86
DATA = {"x": [0.0, 1.0, 2.0, 3.0, 4.0], "y": [1.0, 1.6, 2.9, 4.2, 4.8]}


def inference(moved: float) -> Inference:
    """The inference at the least-squares line, where another step would move by so many standard
    errors.
    """
    program = parse("a + b*x", ["x"])
    data = Observations(DATA, "y", ["x"], {}, None, None)
    model = Model(Problem(program, {}, {"a": 0.86, "b": 1.02}, [], [], ["a", "b"]), data)
    return Inference(
        model, EndPoint(np.array([0.86, 1.02]), 0.0, moved, "test"), 0.95, scaled=False
    )


def test_a_fit_has_converged_where_another_step_is_a_millionth_of_a_standard_error() -> None:
    near, off = inference(1e-7), inference(1e-5)
    assert near.outcome(False)[0] == "converged" and off.outcome(False)[0] == "stuck"
    assert [*near.errors] == ["a", "b"] and not off.errors


def test_a_direction_is_null_where_the_singular_values_say_it_to_eleven_digits() -> None:
    def null(ratio: float) -> int:
        # the columns (1, 0) and (1, 2·ratio) have singular values in the ratio 1 : ratio
        return len(FitCurvature(np.array([[1.0, 1.0], [0.0, 2 * ratio]])).directions)

    assert (null(1e-10), null(1e-12)) == (0, 1)


def test_a_parameter_is_undetermined_with_a_millionth_of_a_null_direction_and_named_with_a_tenth() -> (
    None
):
    class Found(FitCurvature):
        def __init__(self, parts: list[float]) -> None:
            self.size, self.directions = np.ones(len(parts)), np.array([parts])

    found = Undetermined.along(Found([1.0, 0.5, 0.05, 1e-5, 1e-7]), list("abcde"))
    assert [*found.null[0]] == ["a", "b"]
    assert sorted(found.names) == list("abcd")


def goodness_kinds(p_value: float, runs: RunsTest | None = None) -> list[str]:
    given = inference(0.0)
    given.scatter = given.scatter._replace(sigma_given=True)
    result = Goodness(chi_squared=1.0, reduced=1.0, p_value=p_value, runs=runs)
    return [warning.kind for warning in given.goodness_warnings(result, None)]


def test_a_fit_is_doubtful_below_a_p_value_of_half_a_per_cent_in_either_tail() -> None:
    assert goodness_kinds(0.02) == goodness_kinds(0.98) == []
    assert goodness_kinds(0.001) == goodness_kinds(0.999) == ["goodness_of_fit"]


def test_residuals_are_not_random_below_a_p_value_of_a_thousandth() -> None:
    assert goodness_kinds(0.5, RunsTest(4, 8.0, 0.01)) == []
    assert goodness_kinds(0.5, RunsTest(4, 8.0, 1e-4)) == ["residuals"]


def constrained(x: float) -> tuple[Any, Any]:
    """The problem of least x² where x - 1 = 0, and its violations at x."""
    evaluator, start, _, _ = begin_descent("x**2", {"x": 1.0}, None, None, 1, None, negative=False)
    constraints = parse_constraints("x = 1")
    problem = ConstrainedProblem(
        evaluator, start, lambda: False, Sense(), [(-math.inf, math.inf)], 1e-8, constraints
    )
    problem.set_scale(np.array([1.0]))
    return problem, problem.violations(problem.first_order(np.array([x])))


def test_a_constraint_holds_up_to_ten_digits() -> None:
    assert not np.any(constrained(1 + 1e-11)[1])
    assert np.any(constrained(1 + 1e-9)[1])
    assert constrained(1.0)[0].is_feasible([1 + 1e-11]) and not constrained(1.0)[0].is_feasible(
        [1 + 1e-9]
    )


@pytest.mark.parametrize(
    ("counts", "reason"),
    [([4, 7, 10, 12, 14, 15], "undetermined"), ([5, 10, 13, 16, 19, 20], "converged")],
)
def test_a_likelihood_is_open_where_ten_standard_errors_raise_the_deviance_by_less_than_one(
    counts: list[int], reason: str
) -> None:
    # there it rises by 0.96 and by 1.20, towards the line through 0 that a saturating curve goes to
    data = {"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "y": [*map(float, counts)]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fit("y = a*x/(K + x)", data, {"a": 50, "K": 10}, loss="poisson").reason == reason
