"""`autodiff grad`: value, gradient and graph of a program at a point."""

from typing import Any

from ...derivatives.gradient import Gradient, gradient
from ...inputs.arithmetic import chosen
from ...inputs.column_units import left_out
from ...inputs.parse_point import may_sweep
from ...streams.requests import Request
from ...views.formats import draws
from ...views.gradient import GradientView
from .. import options
from ..runner import Inputs, RowQuestion
from . import answer_at, data_over


def run(
    *,
    program: options.Program,
    everything: bool = False,
    units: list[str] | None = None,
    relative: bool = False,
    sort: bool = False,
    answers: options.Answers,
    document: bool = False,
    depth: int | None = None,
    binary: bool = False,
    no_tree: bool = False,
    no_table: bool = False,
    numbers: options.Numbers,
    rows: options.Rows,
    loss: options.Loss,
) -> int:
    """Compute value, exact gradient and graph at a point; return the exit code."""
    inputs = Inputs.of(program, answers, document)
    arithmetic = chosen(*numbers)
    over = data_over(loss, answers, inputs, rows)
    shown = GradientView(
        intermediates=everything,
        relative=relative,
        sort=sort,
        digits=answers.shown,
        depth=depth,
        table=not no_table,
        tree=not no_tree,
        binary=binary,
    )
    question = RowQuestion(
        "grad",
        arithmetic,
        answers.shown,
        None if over is not None else inputs.posed,
        None if over is not None or everything or relative else lambda x: [x.value, *x.gradient.values()],
        "--sort" if sort else None,
        units=units,
    )
    system = bool(rows.points)
    if system and left_out(units):
        units = None
    if over is not None or not (inputs.many or rows.points or may_sweep(inputs.at)):

        def answer(request: Request) -> Gradient[Any]:
            return gradient(
                request.text,
                request.point,
                wrt=request.wrt,
                arithmetic=arithmetic,
                relative=relative,
                over=over,
                units=units,
            )

        return answer_at(inputs, rows, answer, shown, question)
    from ...derivatives.gradient_cache import Programs  # only for many

    drawn = inputs.many and draws(inputs.chosen(shown.formats)) and not no_tree
    programs = Programs(arithmetic, whole=everything or drawn, relative=relative, units=units, system=system)
    return answer_at(
        inputs, rows, lambda request: programs.gradient(request.text, request.point, request.wrt), shown, question
    )
