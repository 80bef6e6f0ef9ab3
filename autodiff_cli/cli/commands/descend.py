"""`autodiff descend`: gradient descent from a point, one row a step."""

from typing import Any

from ...optimize.descend import descend, run_options
from ...views.characters import theme_of
from ...views.descend import DescentView
from ...views.formats import writer
from .. import options
from ..call import Call
from ..runner import Inputs, answer_with, asking
from ..searches import Runs, Saved
from . import data_over


def run(
    *,
    program: options.Program,
    loss: options.Loss,
    answers: options.Answers,
    saves: options.Saves,
    theme: str | None = None,
    **typed: Any,
) -> int:
    """Run gradient descent from a point, one row a step; return the exit code."""
    inputs = Inputs.of(program, answers)
    inputs.need()
    call = Call(typed)
    chosen_run = run_options(**call.arguments(run_options))
    over = data_over(loss, answers, inputs)
    shown = DescentView(digits=answers.shown, theme=theme_of(theme))
    chosen = inputs.chosen(shown.formats)
    inputs.check_picture(chosen, "loss")
    out, saved = inputs.out(), Saved(inputs, saves)
    runs = Runs(out.stream, writer(chosen, out.stream, shown, True), inputs.many, saved)
    code = answer_with(inputs, asking(descend, call, over=over, **chosen_run), runs)
    out.finish(code, whole=inputs.many)
    saved.finish(code)
    return max(runs.code, code)
