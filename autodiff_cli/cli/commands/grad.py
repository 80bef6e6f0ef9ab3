"""`autodiff grad`: value, gradient and graph of a program at a point."""

from typing import Any

from ...derivatives.gradient import Gradient, gradient
from ...inputs.arithmetic import chosen
from ...streams.requests import Request
from ...views.formats import draws
from ...views.gradient import GradientView
from .. import options
from ..runner import Inputs, answer_all
from . import data_over


def run(
    *,
    program: options.Program,
    everything: bool = False,
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
    by_rows = bool(rows.points) and over is None
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
    if not by_rows and not inputs.many:
        return answer_all(
            inputs,
            lambda request: gradient(
                request.text, request.point, wrt=request.wrt, arithmetic=arithmetic, relative=relative, over=over
            ),
            shown,
        )
    from ...derivatives.gradient_cache import Programs  # only for many

    drawn = not by_rows and draws(inputs.chosen(shown.formats)) and not no_tree
    programs = Programs(arithmetic, whole=everything or drawn, relative=relative)

    def answer(request: Request) -> Gradient[Any]:
        return programs.gradient(request.text, request.point, request.wrt)

    if not by_rows:
        return answer_all(inputs, answer, shown)
    from ..row_routes import RowQuestion, answer_rows  # only data files need it

    question = RowQuestion(
        "grad",
        lambda result: [result.value, *result.gradient.values()],
        arithmetic,
        answers.shown,
        "--all" if everything else "--relative" if relative else "--sort" if sort else None,
    )
    return answer_rows(inputs, rows, answer, shown, question)
