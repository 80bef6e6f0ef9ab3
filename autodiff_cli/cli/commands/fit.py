"""`autodiff fit`: the parameters of a formula from data, by least squares."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType

from ...errors import ExpressionError, needed
from ...inputs.arithmetic import chosen as arithmetic_of
from ...inputs.bounds import parse_ranges
from ...inputs.parse_point import parse_point
from ...optimize.fit import Fit, columns_needed, fit
from ...streams import files
from ...streams.requests import Request, mapping
from ...views.characters import theme_of
from ...views.fit import FitView
from .. import options
from ..runner import Inputs, answer_all
from ..searches import Saved, Searches, unconverged


def run(
    *,
    program: options.Program,
    data: list[str] | None = None,
    input_format: str | None = None,
    columns: list[str] | None = None,
    response: str | None = None,
    fix: list[str] | None = None,
    bounds: list[str] | None = None,
    sigma: str | None = None,
    weights: str | None = None,
    loss: str | None = None,
    level: float | None = None,
    residuals: str | None = None,
    saves: options.Saves,
    theme: str | None = None,
    answers: options.Answers,
    numbers: options.Numbers,
) -> int:
    """Fit the parameters of a formula to data, by least squares; return the exit code."""
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
        known_names = [*request.point, *fixed]
        also = [name for name in (spread, weights) if isinstance(name, str)]
        measured = read_data(source, request.text, known_names, response, also, input_format, called)
        return fit(
            request.text,
            measured,
            request.point,
            response=response,
            fixed=fixed,
            bounds=limits,
            sigma=spread,
            weights=weights,
            loss=loss or "linear",
            level=level,
            arithmetic=arithmetic,
            stop=stop,
        )

    searches = Searches(asked, lambda result: result.converged, many=False, chosen=chosen, told=unconverged)

    def answer(request: Request) -> Fit:
        result = searches.answer(request)
        saved.best = result.point
        return result

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
    paths: Sequence[str],
    text: str,
    known_names: Sequence[str],
    response: str | None,
    also: Sequence[str],
    format: str | None = None,
    called: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, list[float]]:
    """The columns of files that the fit of a formula needs; see `read_columns`. Raises `ExpressionError`."""
    from ...data.columns import read_columns

    return read_columns(
        paths, lambda columns: columns_needed(text, columns, known_names, response, also), format, called
    )


def residuals_table(answer: Fit, path: str) -> bytes:
    """The rows of a fit as the content of a csv or parquet file: data, fitted values, residuals, standardised ones."""
    columns: dict[str, Sequence[float | None]] = {
        **answer.columns,
        "fitted": answer.fitted,
        "residual": answer.residuals,
        "standardised": answer.standardised,
    }
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
