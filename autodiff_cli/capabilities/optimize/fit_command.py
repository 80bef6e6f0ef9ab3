"""`autodiff fit`: the parameters of a formula from data, by least squares."""

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from ...cli.option_values import Method, OptionValues
from ...cli.runner import Command
from ...cli.searches import Searches, warning_of
from ...errors import limit_error, quote, require, usage_error
from ...language.equation_trees import last_equation
from ...language.tokens import names_in
from ...questions.column_uncertainties import usual_names
from ...questions.optional_units import MeasuredColumns, left_out, names_in_headings
from ...questions.parse_point import merge, parse_point
from ...questions.problem import Quantity, as_number
from ...questions.sweeps import Sweeping, grid_of
from ...show.error import keeping_notes, write_note
from ...show.schema import PICTURES
from ...streams import files
from ...streams.requests import Request, value_with_unit
from .fit import LIKELIHOODS, Fit, fit
from .observations import columns_needed, read_formula

MAX_PREDICTED_POINTS = 100_000


def run(call: Command) -> int:
    """Fit the parameters of a formula to data, by least squares."""
    residuals, report, picture, method = call.residuals, call.report, call.plot, method_of(call)
    call.view = type(call.view)(**vars(call.view), predicted=tuple(call.values["predict"]))
    call.check_picture(call.choose_format(), "fit")
    if residuals is not None and PurePath(residuals).suffix not in (".csv", ".parquet"):
        raise usage_error(
            f"`{residuals}` is neither csv nor parquet", "end its name in `.csv` or `.parquet`"
        )
    if picture is not None:
        check_plot(picture, force=call.force)
    if residuals is not None:
        files.check(residuals, force=call.force)
    if report is not None:
        from .reports import check_report

        check_report(report, force=call.force)
    searches = Searches(call, method, warning=warning_of)
    with keeping_notes() as notes:
        code = searches.run()
    if report is not None and searches.last is not None:
        from .reports import write_report

        files_read = ", ".join("standard input" if path == "-" else path for path in call.data)
        write_report(
            report, searches.last, call.view, [f"data: {files_read}", *notes], force=call.force
        )
    if picture is not None and searches.last is not None:
        files.write(
            picture, call.view.draw(searches.last, PurePath(picture).suffix[1:]), force=call.force
        )
    if residuals is not None and searches.last is not None:
        files.write(residuals, residuals_table(searches.last, residuals), force=call.force)
    return code


def check_plot(path: str, *, force: bool) -> None:
    """Check before the fit that its picture can be written. Raises a usage error or `io`."""
    if PurePath(path).suffix[1:] not in PICTURES:
        raise usage_error(
            f"`{path}` is no picture",
            f"end its name in {' or '.join(f'`.{name}`' for name in PICTURES)}",
        )
    require(
        "matplotlib",
        "plot",
        "drawing needs the libraries of the extra `plot`",
        "; a fit needs none",
    )
    files.check(path, force=force)


def method_of(call: OptionValues) -> Method:
    """Return the method: the fit of a formula to the data of a call."""
    without_units = left_out(call.values["units"])
    call.values["predict"] = prediction_columns(
        call.values["predict"] or (), call.expr, without_units
    )
    arguments = call.arguments(fit)

    def method(request: Request, **more: Any) -> Fit:
        known_names = [*request.point, *arguments["fixed"]]
        formula = None

        def wanted(columns: Sequence[str]) -> Collection[str]:
            nonlocal formula
            formula = read_formula(request.text, columns, known_names, call.response)
            used = {*formula.program.leaves, *formula.measured}
            weighs_nothing = (
                call.sigma is None and call.weights is None and call.loss not in LIKELIHOODS
            )
            if weighs_nothing and not used.issuperset(columns):
                _note_left_uncertainties(formula.measured, columns, used)
            return columns_needed(
                formula, columns, known_names, call.sigma, call.weights, call.trials
            )

        data = call.read_columns(call.data, wanted, known_names, uncertain=True)
        own = uncertainties_in_cells(call, data)
        return fit(
            request.text, data, request.point, formula=formula, **{**arguments, **own}, **more
        )

    return method


def _note_left_uncertainties(
    measured: Sequence[str], columns: Sequence[str], used: Collection[str]
) -> None:
    """Write a note of columns that are called as uncertainties of the response are, and take no
    part.
    """
    own = {**names_in_headings(columns), **{column: column for column in columns}}
    for name in measured:
        for left in [
            form
            for form in usual_names(name)
            if form in own and form not in used and own[form] not in used
        ]:
            write_note(
                f"note: `{left}` takes no part; `--sigma {name}={left}` takes it as the uncertainty"
                f" of `{name}`"
            )


def uncertainties_in_cells(call: OptionValues, data: MeasuredColumns) -> dict[str, Any]:
    """Add the uncertainties in cells as columns, and return the argument that names these. Raises a
    usage error.
    """
    if not data.uncertainties:
        return {}
    option = (
        "--sigma" if call.sigma is not None else "--weights" if call.weights is not None else None
    )
    if option is not None:
        names = quote(data.uncertainties)
        raise usage_error(
            f"the cells of {names} have uncertainties, and so does `{option}`",
            "leave one of them out",
        )
    sigma = {name: f"u({name})" for name in data.uncertainties}
    data.update({sigma[name]: sizes for name, sizes in data.uncertainties.items()})
    data.units = {
        **data.units,
        **{sigma[name]: data.units[name] for name in sigma if name in data.units},
    }
    write_note(f"note: the uncertainties of {quote(sigma)} are those in the cells")
    return {"sigma": sigma}


def prediction_columns(
    texts: Sequence[str] | MeasuredColumns, text: str | None, without_units: bool = False
) -> MeasuredColumns:
    """Return the points of `--predict` as columns; values with units are refused in a fit
    `without_units`.
    """
    if isinstance(texts, MeasuredColumns):
        return texts
    if not texts:
        return MeasuredColumns()
    point = merge(
        [{}, *[parse_point(source, Sweeping(value_with_unit)) for source in texts if "=" in source]]
    )
    files = [source for source in texts if "=" not in source]
    if point and files:
        raise usage_error("`--predict` names points and a file", "give one of them")
    return (
        _columns_of_point(point, without_units) if point else _columns_of_files(files, text or "")
    )


def _columns_of_files(files: Sequence[str], text: str) -> MeasuredColumns:
    """Return the columns of files that a formula uses."""
    from ...data.columns import read_columns

    columns = MeasuredColumns()
    last = last_equation(text)
    words = {*names_in(text if last is None else last.program)}
    for source in files:
        read = read_columns([source], lambda names: [n for n in names if n in words or not words])
        if twice := [name for name in read if name in columns]:
            raise usage_error(
                f"two files of `--predict` have the column `{twice[0]}`",
                "give one file with all rows",
            )
        columns.update(read)
        columns.units = {**columns.units, **read.units}
    return columns


def _columns_of_point(point: Mapping[str, Any], without_units: bool) -> MeasuredColumns:
    """Return the columns of a point, or of all points of a grid; numbers with units are in those
    that were typed.
    """
    columns = MeasuredColumns()
    grid = grid_of(point)
    axes, size = ({}, 1) if grid is None else (grid.axes, grid.size)
    if size > MAX_PREDICTED_POINTS:
        raise limit_error(f"{size:,} points are too many for `--predict`", "take larger steps")
    columns.update({} if grid is None else grid.columns(0, size))
    for name, x in point.items():
        value = axes[name].value(0) if name in axes else x
        number = as_number(value, name) if without_units else float(value)
        columns.setdefault(name, [number] * size)
        if isinstance(value, Quantity):
            from ...engine.quantities.presentation import present

            columns[name] = [present(x, value.unit) for x in columns[name]]
            columns.units = {**columns.units, name: str(value.unit) or "1"}
    return columns


def residuals_table(answer: Fit, path: str) -> bytes:
    """Return data with fitted values and residuals as csv or parquet."""
    unit = answer.heading_of(answer.response).removeprefix(answer.response)
    columns: dict[str, Sequence[float | None]] = {
        **{answer.heading_of(name): column for name, column in answer.columns.items()},
        **{
            answer.heading_of(name, " (adjusted)"): column
            for name, column in answer.adjusted.items()
        },
        f"fitted{unit}": answer.fitted,
        f"residual{unit}": answer.residuals,
        "standardised": answer.standardised,
    }
    if path.endswith(".csv"):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(
            [columns, *zip(*columns.values(), strict=True)]
        )
        return text.getvalue().encode()
    message = "parquet files need pyarrow, which is not installed"
    parquet = require("pyarrow.parquet", "data", message, ", or write `.csv`")
    import pyarrow

    sink = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), sink)
    return sink.getvalue()
