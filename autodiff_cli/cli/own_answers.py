"""Answers that people found themselves, beside the question that they answer: `--answer`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from ..exercises.exercise import Marked
from ..streams.requests import Request
from ..views.exercise import MarkedView
from .runner import Command, answer_all

WRONG = 1
"""The exit code where all is done and the answer is no."""


CHECKS = {
    "diff": ("answers", "check_derivative"),
    "hessian": ("answers", "check_hessian"),
    "taylor": ("answers", "check_series"),
    "solve": ("root_answers", "check_solution"),
}
"""The functions of `exercises` that check the answers to commands, after their modules."""


def check_of(command: str) -> Callable[..., Marked]:
    """Return the function that checks answers to the question of a command."""
    module, name = CHECKS[command]
    return getattr(import_module(f"..exercises.{module}", __package__), name)  # type: ignore[no-any-return]


def mark_answers(command: str, call: Command) -> int:
    """Say whether the answer to the question of a command is right; return the exit code."""
    # programs are read leniently, points as the options say
    lenient = Command({**call.values, "lenient": True})
    lenient.reading = call.reading
    method = call.asking(check_of(command))
    wrong: list[Marked] = []

    def marked(request: Request) -> Marked:
        mark: Marked = method(request)
        if not mark.right:
            wrong.append(mark)
        return mark

    return max(answer_all(lenient, marked, MarkedView()), WRONG if wrong else 0)
