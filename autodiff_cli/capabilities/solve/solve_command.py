"""How `solve` runs."""

from __future__ import annotations

from collections.abc import Mapping

from ...cli.runner import Command, RowQuestion
from ...cli.searches import Searches, warning_of
from ...questions.problem import Problem, Quantity
from ...streams.requests import Reading, unknowns_of_object
from .solve import posed_equations


def run(call: Command) -> int:
    """Solve equations, and differentiate the solution."""
    call.read_by(Reading(keys={"for": unknowns_of_object}))
    between = call.between

    def posed(text: str, point: Mapping[str, float]) -> Problem:
        return posed_equations(
            text, point, call.unknowns, between, call.variables, dimensions=False
        )

    ranges = between.values() if isinstance(between, Mapping) else [between or ()]
    # bounds with units ask for units in headings too
    measured = [end for ends in ranges for end in ends if isinstance(end, Quantity)]
    units = call.values["units"] or [str(end.unit) for end in measured]
    question = RowQuestion(posed, units=units, equations=True)
    return Searches(call, call.question_method(), warning=warning_of).run(question)
