"""`autodiff grad`: value, gradient and graph of a program at a point."""

from typing import Any

from ...derivatives.gradient import Gradient, Programs, gradient
from ...inputs.parse_point import may_sweep
from ...streams.requests import Request
from ...views.gradient import GradientView
from ...views.schema import FORMS
from ..runner import Command, RowQuestion
from . import answer_at


def run(call: Command) -> int:
    """Compute value, exact gradient and graph at a point."""
    everything, over = call.everything, call.over
    shown = GradientView(intermediates=everything, **call.view_choices)
    question = RowQuestion(
        "grad",
        call.check_program if over is None else None,
        None if over is not None or everything or call.relative else lambda x: [x.value, *x.gradient.values()],
        "--sort" if call.sort else None,
    )
    if over is not None or not (call.many or call.points or may_sweep(call.at)):
        return answer_at(call, call.bind_question(gradient), shown, question)
    drawn = call.many and not call.no_tree and FORMS[call.choose_format(shown.formats)] == "document"
    programs = Programs(
        call.arithmetic,
        whole=everything or drawn,
        relative=call.relative,
        units=call.units,
        system=call.system,
    )

    def method(request: Request) -> Gradient[Any]:
        return programs.gradient(request.text, request.point, request.wrt)

    return answer_at(call, method, shown, question)
