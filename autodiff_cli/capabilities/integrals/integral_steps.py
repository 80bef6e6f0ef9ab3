"""The steps of an integration by hand, each checked by differentiating its antiderivative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.algebra.simplify import simplify
from ...engine.graphs.value import Value
from ...engine.numbers.budget import Defined
from ...errors import ExpressionError
from ...language.printer import expression_text
from ...questions.problem import parse
from ...record import Record
from .antiderivatives import SECONDS, Antiderivative, ask, best_of, check_antiderivative
from .ends import names_in
from .sympy_process import STEPS, SUBSTITUTES


class IntegralStep(Record):
    """A rule that is applied to an integral."""

    rule: str
    detail: str
    """What is substituted, or the parts: `u = x**2, dv = sin(x) dx`; empty without one."""
    integrand: str
    variable: str
    result: str
    """The antiderivative of `integrand` by `variable`."""
    depth: int
    """How many rules led to it."""


class NoSteps(Exception):
    """No steps are known; the text says why."""


def integration_steps(
    integrand: Value, name: str, facts: Sequence[Value] = ()
) -> tuple[Antiderivative, list[IntegralStep]]:
    """Return an antiderivative, and the rules that lead to it. Raises `NoSteps`."""
    reply = ask(integrand, name, facts, SECONDS, STEPS)
    if "steps" not in reply:
        raise NoSteps(reply["none"])
    steps: list[IntegralStep] = []
    found: Antiderivative | None = None
    for row in reply["steps"]:
        checked = _checked(row, [*names_in(integrand), name])
        if checked is None:
            raise NoSteps(f"the derivative of a step's result is not its formula: {row['rule']}")
        step, antiderivative = checked
        found = found or antiderivative
        steps.append(step)
    if found is None or check_antiderivative(found.formula, integrand, name) is None:
        raise NoSteps("the derivative of what SymPy gives is not the integrand")
    return found, steps


def _checked(
    row: dict[str, Any], names: Sequence[str]
) -> tuple[IntegralStep, Antiderivative] | None:
    """Return a step whose result has its integrand as derivative, both written anew; None for
    another.
    """
    variable = row["variable"]

    def formula(text: str) -> Value:
        return simplify((parse(text, [*names, variable, *SUBSTITUTES.split()]).outputs[0],))[0]

    with Defined(ExpressionError):
        integrand, result = formula(row["integrand"]), formula(row["result"])
        checked = best_of(result, integrand, variable)
        if checked is not None:
            details = [
                f"{name} = {expression_text(formula(text))}{rest}".removeprefix(" = ")
                for name, text, rest in row["detail"]
            ]
            written = expression_text(integrand), expression_text(checked.formula)
            step = IntegralStep(
                row["rule"], ", ".join(details), written[0], variable, written[1], row["depth"]
            )
            return step, checked
    return None
