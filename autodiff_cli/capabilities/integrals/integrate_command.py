"""How `integrate` runs."""

from __future__ import annotations

from ...cli.commands import answer_at
from ...cli.runner import Command


def run(call: Command) -> int:
    """Find antiderivatives, and integrals with proven digits."""
    return answer_at(call, call.question_method(), good="converges")
