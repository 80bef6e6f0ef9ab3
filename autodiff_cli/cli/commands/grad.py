"""`autodiff grad`: value, gradient and graph of a program at a point."""

from ...derivatives.gradient import gradient
from ...inputs.parse_point import may_sweep
from ...views.formats import draws
from ...views.gradient import GradientView
from ..call import Call
from ..runner import Inputs, RowQuestion, asking
from . import answer_at, data_over


def run(call: Call) -> int:
    """Compute value, exact gradient and graph at a point; return the exit code."""
    inputs, rows, digits = Inputs.of(call), call.rows, call.answers.shown
    relative, everything = call.relative, call.everything
    arithmetic = call.arithmetic
    over = data_over(call, inputs)
    shown = GradientView(
        digits=digits, intermediates=everything, table=not call.no_table, tree=not call.no_tree, **call.choices
    )
    question = RowQuestion(
        "grad",
        arithmetic,
        digits,
        None if over is not None else inputs.posed,
        None if over is not None or everything or relative else lambda x: [x.value, *x.gradient.values()],
        "--sort" if call.sort else None,
        units=call.units,
    )
    call = call.by_row
    if over is not None or not (inputs.many or rows.points or may_sweep(inputs.at)):
        return answer_at(inputs, call, asking(gradient, call, over=over), shown, question)
    from ...derivatives.gradient_cache import Programs  # only for many

    drawn = inputs.many and draws(inputs.chosen(shown.formats)) and not call.no_tree
    programs = Programs(
        arithmetic, whole=everything or drawn, relative=relative, units=call.units, system=bool(rows.points)
    )
    return answer_at(
        inputs, call, lambda request: programs.gradient(request.text, request.point, request.wrt), shown, question
    )
