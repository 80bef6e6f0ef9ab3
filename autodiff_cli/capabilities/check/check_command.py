"""How `check` runs."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from ...cli.commands import answer_at
from ...cli.runner import Command
from ...errors import usage_error
from ...questions.parse_point import may_sweep
from ...streams.progress import Progress
from ...streams.requests import Request


def run(call: Command) -> int:
    """Check how many digits of value and gradient are correct, or of the value over a box."""
    if call.values["box"]:
        if may_sweep(call.at):
            raise usage_error(
                "a sweep has many points, and `--over` one box",
                "give `--over` the range, and no sweep",
            )
        return answer_at(call, call.bind_question(), good="agrees")
    method = call.bind_question()

    def checked(request: Request) -> Any:
        with closing(Progress("rows", here=True)) as progress:
            return method(request, watch=progress.step)

    return answer_at(call, checked, call.row_question(), good="agrees")
