"""`autodiff trace`: forward and backward sweep of a program, step by step."""

import sys
from typing import Any

from ...derivatives.trace import trace
from ...views.characters import terminal_of
from ...views.trace import STEPS, TraceView
from .. import options
from ..call import Call
from ..runner import Inputs, answer_all, asking


def run(
    *,
    program: options.Program,
    answers: options.Answers,
    document: bool = False,
    lines: int | None = None,
    **typed: Any,
) -> int:
    """Show every step of evaluation and backpropagation; return the exit code."""
    call, inputs = Call(typed), Inputs.of(program, answers, document)
    method = asking(trace, call)
    letters = inputs.output is not None or terminal_of(sys.stdout).unicode
    shown = TraceView(unicode=letters, digits=answers.shown, steps=lines or STEPS, folded=lines is None, **call.choices)
    return answer_all(inputs, method, shown)
