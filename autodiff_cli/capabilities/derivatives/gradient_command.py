"""How `grad` runs."""

from __future__ import annotations

from typing import Any

from ...cli.commands import answer_at, answer_question
from ...cli.runner import Command
from ...errors import usage_error
from ...questions.parse_point import may_sweep
from ...show.schema import FORMS
from ...streams.requests import Request


def run(call: Command) -> int:
    """Compute value, exact gradient and graph at a point, or their ranges over a box."""
    if call.values["box"]:
        if may_sweep(call.at):
            raise usage_error(
                "a sweep has many points, and `--over` one box",
                "give `--over` the range, and no sweep",
            )
        return answer_at(call, call.question_method())
    if call.over is not None or not (call.many or call.points or may_sweep(call.at)):
        return answer_question(call)
    drawn = call.many and not call.no_tree and FORMS[call.choose_format()] == "document"
    full = call.everything or drawn
    from .gradient import Programs  # a stream needs them

    programs = Programs(
        call.arithmetic, complete=full, relative=call.relative, units=call.units, system=call.system
    )

    def method(request: Request) -> Any:
        return programs.gradient(request.text, request.point, request.wrt)

    return answer_at(call, method, call.row_question())
