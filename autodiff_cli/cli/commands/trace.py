"""`autodiff trace`: forward and backward sweep of a program, step by step."""

import sys

from ...derivatives.trace import trace
from ...views.characters import terminal_of
from ...views.trace import TraceView
from ..runner import Command, answer_all


def run(call: Command) -> int:
    """Show every step of evaluation and backpropagation."""
    letters = call.output is not None or terminal_of(sys.stdout).unicode
    view = TraceView(unicode=letters, folded=call.lines is None, **call.shown)
    return answer_all(call, call.asking(trace), view)
