"""How `integrate` runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...cli.commands import answer_at
from ...cli.runner import Command, RowQuestion
from ...questions.parse_point import may_sweep
from ...questions.problem import Problem
from ...streams.requests import Request
from .antiderivatives import ParametricAntiderivatives
from .integral import posed_integral


def run(call: Command) -> int:
    """Find antiderivatives, and integrals with proven digits."""

    def posed(text: str, point: Mapping[str, float]) -> Problem:
        return posed_integral(text, point, call.ends, call.variable, call.variables)

    question = RowQuestion(posed, units=call.values["units"], equations=True)
    method = call.question_method()
    if not (call.points or may_sweep(call.at)):
        return answer_at(call, method, question, good="converges")
    known = ParametricAntiderivatives()

    def at_row(request: Request) -> Any:
        return method(request, known=known)

    return answer_at(call, at_row, question, good="converges")
