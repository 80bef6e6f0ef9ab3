"""How `graph` runs."""

from __future__ import annotations

from ...cli.commands import answer_at
from ...cli.runner import Command
from .graph_view import FORMATS, writer_of


def run(call: Command) -> int:
    """Draw the graph, with value and derivative at each node."""
    chosen = call.choose_format(FORMATS, "tree")
    call.check_picture(chosen, "graph", ("png", "pdf"))
    return answer_at(call, call.question_method(), chosen=writer_of(chosen))
