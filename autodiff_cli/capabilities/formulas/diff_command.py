"""How `diff` runs."""

from __future__ import annotations

from collections.abc import Mapping

from ...cli.commands import answer, answer_at
from ...cli.declarations import declared
from ...cli.runner import Command, RowQuestion
from ...questions.equations import read_equations
from ...questions.problem import Problem, check_values


def run(call: Command) -> int:
    """Differentiate a formula, or the unknowns of equations, into formulas."""
    if call.values.get("tangent"):
        own = declared("tangent").defaults
        return answer(
            "tangent", {name: value for name, value in call.values.items() if name in own}
        )
    question = RowQuestion(pose_equations) if call.unknowns else call.row_question()
    return answer_at(call, call.question_method(), question)


def pose_equations(text: str, point: Mapping[str, float]) -> Problem:
    """Return equations and a solution, with a value for each variable."""
    program = read_equations(text, [*point])[0]
    return Problem(program, {**point}, {**point}, [], check_values(program, point))
