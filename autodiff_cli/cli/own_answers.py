"""Answers that people found themselves, beside the question that they answer: `--answer`."""

from __future__ import annotations

from collections.abc import Callable

from ..exercises.exercise import Marked
from ..streams.requests import Request
from ..views.exercise import MarkedView
from .call import Call
from .options import Answers, Program
from .runner import Inputs, answer_all, asking

WRONG = 1
"""The exit code where all is done and the answer is no."""


def mark_answers(question: Callable[..., Marked], call: Call, program: Program, answers: Answers) -> int:
    """Say whether the answer to a question is right; return the exit code."""
    inputs = Inputs.of(program._replace(lenient=True), answers)
    view = MarkedView()
    method = asking(question, call)
    wrong: list[Marked] = []

    def marked(request: Request) -> Marked:
        mark = method(request)
        if not mark.right:
            wrong.append(mark)
        return mark

    return max(answer_all(inputs, marked, view), WRONG if wrong else 0)
