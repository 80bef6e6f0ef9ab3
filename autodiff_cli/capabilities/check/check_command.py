"""How `check` runs."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from ...cli.commands import answer_at
from ...cli.runner import Command
from ...streams.progress import Progress
from ...streams.requests import Request


def run(call: Command) -> int:
    """Check how many digits of value and gradient are correct."""
    method = call.bind_question()

    def checked(request: Request) -> Any:
        with closing(Progress("rows", here=True)) as progress:
            return method(request, watch=progress.step)

    return answer_at(call, checked, call.row_question(), good="agrees")
