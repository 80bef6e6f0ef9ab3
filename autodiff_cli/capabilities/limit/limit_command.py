"""How `limit` runs."""

from __future__ import annotations

from collections.abc import Mapping

from ...cli.commands import answer_at
from ...cli.runner import Command, RowQuestion
from ...questions.approach import Approach, approach_value
from ...questions.problem import Problem, parse, unused_name
from ...streams.requests import Reading


def run(call: Command) -> int:
    """Find the limit of a formula at a point or at infinity."""
    call.read_by(Reading(approach_value))
    question = RowQuestion(_posed, units=call.values["units"], equations=True)
    return answer_at(call, call.question_method(), question, good="exists")


def _posed(text: str, point: Mapping[str, float]) -> Problem:
    """Return the program as a problem in its variables; a place with a side is no number of all
    rows.
    """
    program = parse(text, [*point], units=True)
    warnings = [unused_name(program, name) for name in point if name not in program.leaves]
    places = [name for name, value in point.items() if isinstance(value, Approach)]
    return Problem(program, {}, {}, [], warnings, unknowns=places)
