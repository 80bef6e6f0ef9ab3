"""`autodiff export`: value and gradient as source code of another language."""

from ...formulas.export import export
from ...targets import TARGETS
from ...views.export import ExportedView
from ...views.formats import language_of
from ..runner import Call, Command, Method
from . import answer_at


def question(call: Call, target: str) -> Method:
    """Return the method: value and gradient in another language."""
    name, dialect = call.name or "f", call.dialect
    return lambda request: export(request.text, target, name=name, wrt=request.wrt, dialect=dialect)


def run(call: Command) -> int:
    """Write value and gradient as a function in another language."""
    call.require_program(only="one program at a time is exported, not a stream")
    target = language_of(call.to, call.format, call.output, TARGETS, "python")
    return answer_at(
        call,
        question(call, target),
        ExportedView(),
        otherwise="latex" if target == "latex" else "table",
    )
