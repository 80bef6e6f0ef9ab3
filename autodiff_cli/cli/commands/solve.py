"""`autodiff solve`: solve equations, and differentiate the solution."""

from collections.abc import Callable, Mapping
from typing import Any

from ...equations.solve import Solved, posed_equations, solve
from ...inputs.parse_point import may_sweep
from ...inputs.problem import Quantity
from ...streams.requests import Reading, Request, names, unknowns_of_object
from ...views.solve import SolvedView
from .. import options
from ..call import Call
from ..runner import Inputs, RowQuestion, asking
from ..searches import Searches, unconverged
from . import answer_at


def run(
    *,
    program: options.Program,
    answers: options.Answers,
    answer: str | None = None,
    document: bool = False,
    relative: bool = False,
    sort: bool = False,
    rows: options.Rows,
    **typed: Any,
) -> int:
    """Solve equations, and differentiate the solution; return the exit code."""
    if answer is not None:
        from ...exercises.answers import check_solution  # only an answer needs it
        from ..own_answers import mark_answers

        return mark_answers(check_solution, Call({**typed, "answer": answer}), program, answers)
    inputs = Inputs.of(program, answers, document, reading=Reading(keys={"for": unknowns_of_object}))
    inputs.need()
    shown = SolvedView(digits=answers.shown, relative=relative, sort=sort)
    several = bool(rows.points) or may_sweep(inputs.at)
    chosen = "" if several else inputs.chosen(shown.formats)
    call = Call({**typed, "relative": relative}, bool(rows.points))
    method = asking(solve, call)

    def asked(request: Request, stop: Callable[[], bool]) -> Solved:
        own = {"unknowns": request.more["for"]} if "for" in request.more else {}
        return method(request, stop=stop, **own)

    searches = Searches(
        asked,
        lambda result: result.converged,
        many=inputs.many or several,
        chosen=chosen,
        warning=unconverged,
    )
    between = call.between
    ranges = between.values() if isinstance(between, Mapping) else [between or ()]
    question = RowQuestion(
        "solve",
        call.arithmetic,
        answers.shown,
        lambda text, point: posed_equations(text, point, call.unknowns, between, names(inputs.wrt), dimensions=False),
        # bounds with units ask for those of the headings too
        units=typed.get("units") or [str(end.unit) for ends in ranges for end in ends if isinstance(end, Quantity)],
    )
    return max(answer_at(inputs, rows, searches.answer, shown, question, chosen=chosen), searches.code)
