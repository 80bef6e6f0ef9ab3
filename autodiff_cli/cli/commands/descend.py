"""`autodiff descend`: gradient descent from a point, one row a step."""

from ...optimize.descend import descend
from ...views.descend import DescentView
from ...views.formats import writer
from ..runner import Command, answer_with
from ..searches import Runs, Saved


def run(call: Command) -> int:
    """Run gradient descent from a point, one row a step."""
    call.require_program()
    method = call.bind_question(descend)
    shown = DescentView(**call.view_choices)
    chosen = call.choose_format(shown.formats)
    call.check_picture(chosen, "loss")
    out, saved = call.out(), Saved(call)
    runs = Runs(out.stream, writer(chosen, out.stream, shown, True), call.many, saved)
    code = answer_with(call, method, runs)
    out.finish(code, whole=call.many)
    saved.finish(code)
    return max(runs.code, code)
