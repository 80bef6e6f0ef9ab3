"""`autodiff export`: value and gradient of a program as source code of another language."""

from ...formulas.export import export
from ...targets import TARGETS
from ...views.export import ExportedView
from ...views.formats import language_of
from ..call import Call
from ..runner import Inputs, answer_all


def run(call: Call) -> int:
    """Write value and gradient as a function in another language; return the exit code."""
    inputs = Inputs.of(call)
    inputs.need(only="one program at a time is exported, not a stream")
    target = language_of(call.to, inputs.format, inputs.output, TARGETS, "python")
    return answer_all(
        inputs,
        lambda request: export(request.text, target, name=call.name or "f", wrt=request.wrt, dialect=call.dialect),
        ExportedView(),
        "latex" if target == "latex" else "table",
    )
