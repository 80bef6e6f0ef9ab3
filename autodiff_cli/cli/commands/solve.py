"""`autodiff solve`: solve equations, and differentiate the solution."""

from collections.abc import Callable, Mapping

from ...equations.solve import Solved, posed_equations, solve
from ...inputs.problem import Quantity
from ...streams.requests import Reading, Request, unknowns_of_object
from ...views.solve import SolvedView
from ..runner import Command, RowQuestion
from ..searches import Searches, warning_of


def run(call: Command) -> int:
    """Solve equations, and differentiate the solution."""
    call.read_by(Reading(keys={"for": unknowns_of_object}))
    call.require_program()
    method = call.bind_question(solve)

    def solved(request: Request, stop: Callable[[], bool]) -> Solved:
        own = {"unknowns": request.more["for"]} if "for" in request.more else {}
        answer: Solved = method(request, stop=stop, **own)
        return answer

    between = call.between
    ranges = between.values() if isinstance(between, Mapping) else [between or ()]
    question = RowQuestion(
        "solve",
        lambda text, point: posed_equations(text, point, call.unknowns, between, call.variables, dimensions=False),
        # bounds with units ask for units in headings too
        units=call.values["units"] or [str(end.unit) for ends in ranges for end in ends if isinstance(end, Quantity)],
        equations=True,
    )
    view = SolvedView(**call.view_choices)
    return Searches(call, view, solved, warning=warning_of).run(question)
