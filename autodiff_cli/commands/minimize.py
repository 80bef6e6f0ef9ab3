"""`autodiff minimize`: a minimum by one of SciPy's optimisers."""

import json as encoder
import sys
from typing import Annotated

from ..errors import Diagnostic, ExpressionError
from ..questions.bounds import parse_ranges
from ..questions.minimize import METHODS, SECOND_ORDER_STEPS, STEPS, TOLERANCE, Minimum, minimize
from ..streams import files, options
from ..streams.driver import Inputs, answer_with
from ..streams.requests import Request
from ..streams.runs import INTERRUPTED, Searches
from ..views.descend import record
from ..views.error import report
from ..views.formats import writer
from ..views.minimize import verdict, view

EXAMPLE = 'autodiff minimize "100*(y - x**2)**2 + (1 - x)**2" --at x=-1.2,y=1'

Method = Annotated[
    str | None,
    options.Option(
        "--method", f"{', '.join(METHODS)}; bfgs by default, l-bfgs-b with bounds.", "NAME", choices=tuple(METHODS)
    ),
]
Bounds = Annotated[
    list[str] | None, options.Option("--bounds", "Where the variables have to stay: `x=0:1,y=:2`. Repeats.", "RANGES")
]
Tolerance = Annotated[
    float | None,
    options.Option(
        "--gradient-tolerance", f"The largest partial derivative that counts as zero, {TOLERANCE:g} by default.", "X"
    ),
]
Steps = Annotated[
    int | None,
    options.Option(
        "--steps", f"How many steps at most ({STEPS:,}; {SECOND_ORDER_STEPS:,} with the Hessian).", "N",
        range=(1, 1_000_000_000),
    ),
]  # fmt: skip
SavePath = Annotated[
    str | None,
    options.Option("--save-path", "Write the points on the way as jsonl, which `plot --path` reads.", "PATH"),
]


def run(
    *,
    expr: options.Expr = None,
    at: options.At = None,
    method: Method = None,
    bounds: Bounds = None,
    gradient_tolerance: Tolerance = None,
    steps: Steps = None,
    wrt: options.Wrt = None,
    save_point: options.SavePoint = None,
    save_path: SavePath = None,
    force: options.Force = False,
    answers: options.Answers,
    decimals: options.Decimals = None,
) -> int:
    """Where a formula is least, by SciPy's optimisers with the exact gradient and Hessian.

    Exits with 1 unless it converged. Needs the extra `optimize`.
    """
    inputs = Inputs.of(options.Program(expr, at, wrt), answers)
    inputs.need()
    for path in (save_point, save_path):
        if path is not None and inputs.many:
            raise ExpressionError(
                "usage", "a file is written for one program, and a stream has many",
                hint="give the program as the argument",
            )  # fmt: skip
        if path is not None:
            files.check(path, force=force)
    if save_point is not None and save_point == save_path:
        raise ExpressionError("usage", f"`{save_point}` cannot hold both the point and the path", hint="give two names")
    limits = parse_ranges(bounds or ())
    tolerance = TOLERANCE if gradient_tolerance is None else gradient_tolerance
    searches = Searches(
        lambda request, stop: minimize(
            request.text, request.point, wrt=request.wrt, method=method, bounds=limits, tolerance=tolerance,
            steps=steps, stop=stop,
        ),
        lambda found: found.converged,
        many=inputs.many,
    )  # fmt: skip

    def answer(request: Request) -> Minimum:
        found = searches.answer(request)
        if inputs.chosen in ("plain", "csv", "tsv") and (told := verdict(found)):
            where = f"line {request.asked.line}: " if inputs.many else ""
            report(Diagnostic("minimum", told), None, level="warning", where=where)
        return found

    shown = view(digits=answers.digits, decimals=decimals)
    code = answer_with(inputs, answer, writer(inputs.chosen, sys.stdout, shown, inputs.many))
    for path, text in _written(searches.last, save_point, save_path) if searches.last is not None else ():
        files.write(path, text.encode(), force=force)
    return searches.code if searches.code > INTERRUPTED else code or searches.code


def _written(answer: Minimum, save_point: str | None, save_path: str | None) -> list[tuple[str, str]]:
    """The files to write, and what is in them."""
    found: list[tuple[str, str]] = []
    if save_point is not None:
        found.append((save_point, encoder.dumps(answer.point) + "\n"))
    if save_path is not None:
        found.append((save_path, "".join(encoder.dumps(record(row)) + "\n" for row in answer.path)))
    return found
