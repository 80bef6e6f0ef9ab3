"""The steps of an integration: each result is an antiderivative of its integrand, and wrong ones
are not shown.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from mpmath import mp, mpf

from autodiff_cli import ExpressionError, integrate
from autodiff_cli.capabilities.integrals import integral_steps
from autodiff_cli.engine.graphs.value_and_gradient import evaluate_in
from autodiff_cli.engine.numbers.multiprecision import Multiprecision
from autodiff_cli.questions.problem import parse

RULES = [
    ("x**2*sin(x)", ["by parts", "sine", "by parts", "cosine", "constant multiple", "sine"]),
    ("2*x*cos(x^2)", ["constant multiple", "substitution", "constant multiple", "cosine"]),
    ("x/(x^2 + 1)", ["constant multiple", "substitution", "reciprocal"]),
    ("1/(x^2 + 2*x + 5)", ["substitution", "rewrite", "arctangent"]),
    ("x^3 + 2*x", ["sum", "power", "constant multiple", "power"]),
]


@pytest.mark.parametrize(("text", "rules"), RULES)
def test_each_result_is_an_antiderivative(text: str, rules: list[str]) -> None:
    answer = integrate(text, steps=True)
    steps = answer.steps or []
    assert [step.rule for step in steps] == rules
    assert (steps[0].depth, steps[0].result) == (0, answer.antiderivative)
    drawn = random.Random(3)
    with mp.workdps(40):
        for step in steps:
            x = mpf(drawn.randint(300, 900)) / 1000

            def value(formula: str, at: Any, name: str = step.variable) -> Any:
                m = Multiprecision(40, decimals=True)
                return mpf(
                    str(
                        evaluate_in(
                            m, parse(formula).graph, {name: m.context.mpf(mp.nstr(at, 40))}
                        ).value
                    )
                )

            near = mpf(10) ** -10
            slope = (value(step.result, x + near) - value(step.result, x - near)) / (2 * near)
            assert abs(slope - value(step.integrand, x)) < 1e-12


def test_steps_with_a_wrong_result_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = integral_steps.ask

    def wrong(*arguments: Any) -> Any:
        reply = ask(*arguments)
        reply["steps"][-1]["result"] = "2*sin(x)"
        return reply

    monkeypatch.setattr(integral_steps, "ask", wrong)
    with pytest.raises(
        ExpressionError, match="the derivative of a step's result is not its formula"
    ):
        integrate("x*cos(x)", steps=True)


def test_without_rules_there_are_no_steps() -> None:
    with pytest.raises(ExpressionError, match="no steps are known"):
        integrate("x*erf(x)", steps=True)
