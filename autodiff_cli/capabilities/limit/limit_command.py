"""How `limit` runs."""

from __future__ import annotations

from ...cli.commands import answer_at
from ...cli.runner import Command
from ...questions.approach import approach_value
from ...streams.requests import Reading


def run(call: Command) -> int:
    """Find the limit of a formula at a point or at infinity."""
    call.read_by(Reading(approach_value))
    return answer_at(call, call.question_method(), good="exists")
