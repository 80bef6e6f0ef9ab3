"""`autodiff fit`: the parameters of a formula from data, by least squares."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import Annotated

from ...errors import ExpressionError, needed
from ...inputs.arithmetic import chosen as arithmetic_of
from ...inputs.bounds import parse_ranges
from ...inputs.parse_point import parse_point
from ...optimize.fit import Fit, columns_needed, fit
from ...optimize.least_squares import LOSSES
from ...streams import files
from ...streams.requests import Request, mapping
from ...views.characters import theme_of
from ...views.fit import FitView
from .. import options
from ..runner import Inputs, answer_all
from ..searches import Saved, Searches, unconverged

EXAMPLES = (
    "printf 'x,y\\n0,1.1\\n1,2.9\\n2,5.2\\n3,6.9\\n' | autodiff fit \"y = a + b*x\" --data -",
    "printf 'x,y\\n0,1\\n1,1.6\\n2,2.8\\n3,4.4\\n' | autodiff fit \"y = a*exp(k*x)\" --data - --at k=0.4",
)
NO = "no: the fit did not converge, or the data do not determine a parameter"

Data = Annotated[
    list[str] | None,
    options.Option(
        "--data",
        "The data, one column per variable (as for `--points`; `-`: standard input); names without a column are "
        "parameters. Repeats.",
        "PATH",
        data_role=options.DATA,
        required=True,
        reads_stdin=True,
        python_type="Table",
        main=True,
    ),
]
Response = Annotated[
    str | None,
    options.Option(
        "--response", "The column that the formula predicts, if the formula is not written `y = …`.", "NAME",
        value_syntax="", value_names=options.COLUMNS, main=True),
]  # fmt: skip
Fix = Annotated[
    list[str] | None,
    options.Option(
        "--fix", "Hold these parameters fixed: `b=1`. Repeats.", "VALUES", value_syntax="=", python_type="At", main=True
    ),
]
Sigma = Annotated[
    str | None,
    options.Option(
        "--sigma", "The standard uncertainty of the response: a column or a number.", "SIGMA",
        value_syntax="", value_names=options.COLUMNS, conflicts=("--weights",), python_type="str | float | None",
        main=True,
    ),
]  # fmt: skip
Weights = Annotated[
    str | None,
    options.Option(
        "--weights",
        "The column of weights, proportional to 1/sigma².",
        "NAME",
        value_syntax="",
        value_names=options.COLUMNS,
        main=True,
    ),
]
Loss = Annotated[
    str | None,
    options.Option(
        "--loss",
        f"{', '.join(LOSSES)}: the loss function of a residual; linear by default.",
        "NAME",
        choices=tuple(LOSSES),
        main=True,
    ),
]
Residuals = Annotated[
    str | None,
    options.Option("--residuals", "Write the data with fitted values and residuals to a csv or parquet file.", "PATH"),
]
ANSWERS = options.formats(FitView().formats, "by default from the name of `--output`, else table")
AT = options.Option(
    "--at",
    "Starting values of the parameters: `b1=500,b2=1e-4`, or `@point.json`. Repeats.",
    "POINT",
    value_syntax="=",
    python_type="At",
    main=True,
)


def run(
    *,
    program: Annotated[options.Program, options.ONE, AT, options.Without.of("--wrt")],
    data: Data = None,
    input_format: options.InputFormat = None,
    columns: options.Columns = None,
    response: Response = None,
    fix: Fix = None,
    bounds: options.Bounds = None,
    sigma: Sigma = None,
    weights: Weights = None,
    loss: Loss = None,
    level: options.Level = None,
    residuals: Residuals = None,
    saves: Annotated[options.Saves, options.Without.of("--save-path")],
    theme: options.Theme = None,
    answers: Annotated[options.Answers, ANSWERS, options.Without.of("--on-error")],
    numbers: Annotated[options.Numbers, options.Without.of("--exact")],
) -> int:
    """Fit the parameters of a formula to data, by least squares.

    The answer has the parameters with their standard errors, found by SciPy with the exact Jacobian. Parameters in
    which the formula is linear need no starting value. The command exits with 1 if the fit does not converge. It needs
    the extra `optimize`, and `plot` for a picture.
    """
    inputs = Inputs.of(program, answers)
    inputs.need(only="a fit is of one formula to a file of data, not of a stream")
    assert data
    shown = FitView(digits=answers.shown, theme=theme_of(theme))
    chosen = inputs.chosen(shown.formats)
    inputs.check_picture(chosen, "fit")
    if residuals is not None and PurePath(residuals).suffix not in (".csv", ".parquet"):
        raise ExpressionError("usage", f"`{residuals}` is neither csv nor parquet", hint="end its name in one of these")
    arithmetic = arithmetic_of(*numbers)
    limits = parse_ranges(bounds or ())
    fixed = {name: value for text in fix or () for name, value in parse_point(text).items()}
    spread = _number_or_name(sigma)
    if residuals is not None:
        files.check(residuals, force=inputs.force)
    saved = Saved(inputs, saves)
    source, called = data, mapping(columns)

    def asked(request: Request, stop: Callable[[], bool]) -> Fit:
        given = [*request.point, *fixed]
        also = [name for name in (spread, weights) if isinstance(name, str)]
        measured = read_data(source, request.text, given, response, also, input_format, called)
        return fit(
            request.text, measured, request.point, response=response, fixed=fixed, bounds=limits, sigma=spread,
            weights=weights, loss=loss or "linear", level=level, arithmetic=arithmetic, stop=stop,
        )  # fmt: skip

    searches = Searches(asked, lambda found: found.converged, many=False, chosen=chosen, told=unconverged)

    def answer(request: Request) -> Fit:
        found = searches.answer(request)
        saved.best = found.point
        return found

    code = answer_all(inputs, answer, shown, chosen=chosen)
    if residuals is not None and searches.last is not None and not code:
        files.write(residuals, residuals_table(searches.last, residuals), force=inputs.force)
    saved.finish(code)
    return max(code, searches.code)


def _number_or_name(text: str | None) -> str | float | None:
    """A number, or the name of a column."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def read_data(
    paths: Sequence[str], text: str, given: Sequence[str], response: str | None, also: Sequence[str],
    format: str | None = None, called: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, list[float]]:  # fmt: skip
    """The columns of files that the fit of a formula needs; see `read_columns`. Raises `ExpressionError`."""
    from ...data.columns import read_columns

    return read_columns(paths, lambda columns: columns_needed(text, columns, given, response, also), format, called)


def residuals_table(found: Fit, path: str) -> bytes:
    """The rows of a fit as the content of a csv or parquet file: data, fitted values, residuals, standardised ones."""
    columns: dict[str, Sequence[float | None]] = {
        **found.columns, "fitted": found.fitted, "residual": found.residuals, "standardised": found.standardised,
    }  # fmt: skip
    if path.endswith(".csv"):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([columns, *zip(*columns.values(), strict=True)])
        return text.getvalue().encode()
    parquet = needed(
        "pyarrow.parquet", "data", "parquet files need pyarrow, which is not installed", ", or write `.csv`"
    )
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table(columns), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content
