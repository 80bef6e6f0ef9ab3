"""`autodiff descend`: gradient descent from a point, one row a step."""

from ...optimize.descend import descend, run_options
from ...views.characters import theme_of
from ...views.descend import DescentView
from ...views.formats import writer
from ..call import Call
from ..runner import Inputs, answer_with, asking
from ..searches import Runs, Saved
from . import data_over


def run(call: Call) -> int:
    """Run gradient descent from a point, one row a step; return the exit code."""
    inputs = Inputs.of(call)
    inputs.need()
    chosen_run = run_options(**call.arguments(run_options))
    over = data_over(call, inputs)
    shown = DescentView(digits=call.answers.shown, theme=theme_of(call.theme))
    chosen = inputs.chosen(shown.formats)
    inputs.check_picture(chosen, "loss")
    out, saved = inputs.out(), Saved(inputs, call.saves)
    runs = Runs(out.stream, writer(chosen, out.stream, shown, True), inputs.many, saved)
    code = answer_with(inputs, asking(descend, call, over=over, **chosen_run), runs)
    out.finish(code, whole=inputs.many)
    saved.finish(code)
    return max(runs.code, code)
