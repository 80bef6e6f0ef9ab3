"""Answers that people found themselves, beside the question that they answer: `--answer`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ..exercises.exercise import Marked
from ..streams.requests import Request
from ..views.exercise import MarkedView
from .call import Call
from .runner import Inputs, answer_all, asking

WRONG = 1
"""The exit code where all is done and the answer is no."""


QUESTIONS = {
    "diff": ("answers", "check_derivative"),
    "hessian": ("answers", "check_hessian"),
    "solve": ("answers", "check_solution"),
    "taylor": ("answers", "check_series"),
}
"""By command, the module of the room `exercises` and the function in it that mark an answer."""


def mark_answers(command: str, values: Mapping[str, Any]) -> int:
    """Say whether the answer to a command's question is right, by the values of its options; return the exit code."""
    inputs = Inputs.of(values["program"]._replace(lenient=True), values["answers"])
    view = MarkedView()
    module, question = QUESTIONS[command]
    method = asking(getattr(import_module(f"..exercises.{module}", __package__), question), Call(values))
    wrong: list[Marked] = []

    def marked(request: Request) -> Marked:
        mark = method(request)
        if not mark.right:
            wrong.append(mark)
        return mark

    return max(answer_all(inputs, marked, view), WRONG if wrong else 0)
