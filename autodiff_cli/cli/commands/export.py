"""`autodiff export`: value and gradient of a program as source code of another language."""

from ...formulas.export import export
from ...targets import TARGETS
from ...views.export import ExportedView
from ...views.formats import language_of
from ..runner import Command, answer_all


def run(call: Command) -> int:
    """Write value and gradient as a function in another language; return the exit code."""
    call.need(only="one program at a time is exported, not a stream")
    target = language_of(call.to, call.format, call.output, TARGETS, "python")
    return answer_all(
        call,
        lambda request: export(request.text, target, name=call.name or "f", wrt=request.wrt, dialect=call.dialect),
        ExportedView(),
        "latex" if target == "latex" else "table",
    )
