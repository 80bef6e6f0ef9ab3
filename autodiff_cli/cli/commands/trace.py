"""`autodiff trace`: forward and backward sweep of a program, step by step."""

import sys

from ...derivatives.trace import trace
from ...views.characters import terminal_of
from ...views.trace import STEPS, TraceView
from ..call import Call
from ..runner import Inputs, answer_all, asking


def run(call: Call) -> int:
    """Show every step of evaluation and backpropagation; return the exit code."""
    inputs, lines = Inputs.of(call), call.lines
    letters = inputs.output is not None or terminal_of(sys.stdout).unicode
    choices = {"digits": call.answers.shown, "steps": lines or STEPS, "folded": lines is None, **call.choices}
    return answer_all(inputs, asking(trace, call), TraceView(unicode=letters, **choices))
