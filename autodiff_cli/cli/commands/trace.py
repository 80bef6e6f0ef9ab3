"""`autodiff trace`: forward and backward sweep of a program, step by step."""

from ...derivatives.trace import trace
from ...views.trace import TraceView
from ..runner import Command
from . import answer_at


def run(call: Command) -> int:
    """Show every step of evaluation and backpropagation."""
    view = TraceView(unicode=call.unicode, folded=call.lines is None, **call.view_choices)
    return answer_at(call, call.bind_question(trace), view)
