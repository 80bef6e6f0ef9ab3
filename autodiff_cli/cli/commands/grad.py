"""`autodiff grad`: value, gradient and graph of a program at a point."""

from typing import Annotated, Any

from ...derivatives.gradient import Gradient, gradient
from ...inputs.arithmetic import chosen
from ...streams.requests import Request
from ...views.formats import draws
from ...views.gradient import GradientView
from .. import options
from ..runner import Inputs, answer_all
from . import data_over

EXAMPLES = (
    'autodiff grad "((w1-1)**2 + (w2-5)**2)*0.5" --at w1=2,w2=3',
    'autodiff grad "sqrt(x**2 + 1) - x" --at x=1e8 --certified --no-tree',
    "printf 'x,y\\n0,1\\n1,3\\n2,5.5\\n' | autodiff grad \"(y - (w*x + b))**2\" --data - --reduce mean --at w=2,b=1",
    "printf 'x**2\\tx=3\\nsin(x)\\tx=1\\n' | autodiff grad --format csv",
)

All = Annotated[
    bool,
    options.Option(
        "--all",
        "Also show the value and derivative of every name that the program binds.",
        conflicts=("--data",),
        main=True,
    ),
]

Relative = Annotated[
    bool,
    options.Option(
        "--relative",
        "Also the elasticities x·f′/f: by how many percent the value changes when a variable changes by one percent.",
        main=True,
    ),
]


def run(
    *,
    program: options.Program,
    everything: All = False,
    relative: Relative = False,
    sort: options.Sort = False,
    answers: Annotated[options.Answers, options.WithRows],
    document: options.Document = False,
    depth: options.Depth = None,
    binary: options.Binary = False,
    no_tree: options.NoTree = False,
    no_table: options.NoTable = False,
    numbers: options.Numbers,
    rows: options.Rows,
    loss: Annotated[options.Loss, options.SHARED],
) -> int:
    """Compute value, exact gradient and graph at a point."""
    inputs = Inputs.of(program, answers, document)
    arithmetic = chosen(*numbers)
    over = data_over(loss, answers, inputs, rows)
    by_rows = bool(rows.points) and over is None
    shown = GradientView(
        intermediates=everything, relative=relative, sort=sort, digits=answers.shown, depth=depth, table=not no_table,
        tree=not no_tree, binary=binary,
    )  # fmt: skip
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
        "grad", lambda found: [found.value, *found.gradient.values()], arithmetic, answers.shown,
        "--all" if everything else "--relative" if relative else "--sort" if sort else None,
    )  # fmt: skip
    return answer_rows(inputs, rows, answer, shown, question)
