"""`autodiff propagate`: a result with its uncertainty, from inputs with theirs."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...cli.option_values import Method, OptionValues
from ...cli.runner import Command, RowQuestion
from ...cli.searches import Searches
from ...compiled.columns_io import list_columns
from ...errors import Diagnostic, ExpressionError, point_error, quote, usage_error
from ...questions.decoding import read_text
from ...questions.measured_units import measured_value, with_spreads
from ...questions.measured_value import MeasuredValue, of_draws
from ...questions.parse_point import (
    PointFile,
    ValueOf,
    is_name,
    merge,
    parse_point,
    point_of_object,
    read_json,
)
from ...questions.problem import Problem, pose
from ...streams.requests import Reading, Request, mapping, unknowns_of_object
from .covariance_matrix import CovarianceMatrix, read_covariance
from .fit_intervals import Estimates
from .measurement_model import variables_of
from .propagate import (
    Propagation,
    estimates_of_fit,
    pairs_of_object,
    parse_pairs,
    propagate,
)


def method_of(call: OptionValues) -> Method:
    """Return the method: the propagation of values with their correlations."""
    call.values["fit"] = fitted = read_fit(call)
    call.values["covariance"] = matrix = read_matrix(call)
    pairs = parse_pairs(call.correlation or ())
    degrees = merge([parse_point(text) for text in call.dof or ()])
    arguments = {**call.arguments(propagate), "units": call.values["units"], "fitted": fitted}
    arguments["covariance"] = matrix
    role, files = ("readings", call.data) if call.draws is None else ("draws", call.draws)

    def method(request: Request, **more: Any) -> Propagation:
        own = {**arguments, **more}
        if "for" in request.more:
            own["unknowns"] = request.more["for"]
        own["correlation"] = {**pairs, **request.more.get("correlation", {})}
        own["dof"] = {**degrees, **request.more.get("dof", {})}
        if files is not None:
            known_names = [*request.point, *(fitted.values if fitted is not None else ())]
            known_names += matrix.values if matrix is not None else ()
            own[role] = readings(call, files, request.text, known_names)
        answer = propagate(request.text, request.point, **own)
        exact = [warning for option in call.at or () if (warning := _exact_warning(option, answer))]
        return answer._replace(warnings=(*answer.warnings, *exact)) if exact else answer

    return method


def _exact_warning(option: str, answer: Propagation) -> Diagnostic | None:
    """Return a warning of values in a file of `--at` that have no uncertainty, as those of
    `--save-point` have none.
    """
    if not isinstance(option, PointFile):
        return None
    names = option.point(lambda name, text, offset: 0.0)
    exact = [name for name in names if name in answer.point and name not in answer.inputs]
    if not exact:
        return None
    message = f"`{option[1:]}` has no uncertainty of {quote(exact)}: exact here"
    hint = (
        "those of a fit come by `--fit fit.json`, which `autodiff fit … --output fit.json` writes"
    )
    return Diagnostic("exact", message, None, hint)


def run(call: Command) -> int:
    """Propagate uncertainties, and show each input's contribution."""
    value_of = with_draws(measured_value, call)
    keys: dict[str, Any] = {
        "correlation": pairs_of_object,
        "dof": point_of_object,
        "for": unknowns_of_object,
    }
    call.read_by(Reading(with_spreads(value_of) if call.points else value_of, keys))
    is_implicit = call.unknowns is not None or call.between is not None
    method = method_of(call)

    def by_format(request: Request, stop: Callable[[], bool]) -> Any:
        # units in these formats do not depend on numbers; "" is no choice yet
        by_size = searches.chosen not in ("", "json", "jsonl", "csv", "tsv", "plain")
        return method(request, stop=stop, by_size=by_size)

    searches = Searches(
        call, by_format, lambda result: not result.interrupted, unit="blocks of draws"
    )
    call.check_picture(searches.chosen, "budget")
    if searches.chosen == "html":
        call.require_program(only="a page is made of one budget, not of a stream")
    option = "--draws" if call.draws else "--data" if call.data else None
    if option is not None and call.many:
        hint = "give the program as the argument, or with `--file PATH`"
        raise usage_error(f"`{option}` is for one program", hint)

    def posed(text: str, point: Mapping[str, float]) -> Problem:
        if option is not None:
            message = f"`{option}` and many points do not go together"
            raise usage_error(message, "give the values in `--at`, or one point")
        fitted = call.values["fit"]
        values = {**(fitted.values if fitted is not None else {}), **point}
        matrix = call.values["covariance"]
        values = {**(matrix.values if matrix is not None else {}), **values}
        is_measured = matrix is not None and not matrix.uncertainties.keys().isdisjoint(values)
        if (
            not call.points
            and not is_measured
            and not any(isinstance(value, MeasuredValue) for value in values.values())
        ):
            example = next(iter(point), "x")
            hint = f'write it after the value: `--at "{example}=5.00±0.02"`'
            raise point_error("no value has an uncertainty", hint)
        if is_implicit:
            from ..solve.solve import posed_equations

            return posed_equations(
                text, values, call.unknowns, call.between, None, dimensions=False
            )
        return pose(text, {name: float(x) for name, x in values.items()}, None)

    return searches.run(RowQuestion(posed, equations=is_implicit))


def read_fit(call: OptionValues) -> Estimates | None:
    """Return the parameters from `fit`, read if they are in a file."""
    path: Any = call.values["fit"]
    if not isinstance(path, str):
        return path  # type: ignore[no-any-return]
    text, fault = read_text(path, call.standard_input_for("--fit", path))
    try:
        if fault is not None:
            raise fault
        return estimates_of_fit(read_json(text)[0])
    except ExpressionError as error:
        raise point_error(f"in `{path}`: {error}", error.hint) from None


def read_matrix(call: OptionValues) -> CovarianceMatrix | None:
    """Return the covariance matrix, read if it is in a file, with the names that `--columns`
    gives.
    """
    matrix: Any = call.values["covariance"]
    if isinstance(matrix, str):
        path = matrix
        text, fault = read_text(path, call.standard_input_for("--covariance", path))
        try:
            if fault is not None:
                raise fault
            matrix = read_covariance(text)
        except ExpressionError as error:
            raise point_error(f"in `{path}`: {error}", error.hint) from None
    return matrix if matrix is None else matrix.renamed(mapping(call.values.get("columns")))


_DRAWS = re.compile(r"\s*draws\(\s*([^#]+?)\s*(?:#\s*(.+?)\s*)?\)\s*")


def with_draws(value_of: ValueOf, written: OptionValues) -> ValueOf:
    """Return a reader of values and draws: `draws(chain.csv#a)`."""

    def read(name: str, text: str, offset: int = 0) -> float:
        match = _DRAWS.fullmatch(text)
        if match is None:
            return value_of(name, text, offset)
        from ...data.columns import read_columns
        from ...data.text_dialects import ForcedDialect
        from ...questions.measured_units import with_unit
        from ...questions.optional_units import column_units

        path, column = match[1], match[2] or name
        columns = read_columns(
            [path], lambda names: [name], ForcedDialect.group_options(written), {name: column}
        )
        value: Any = of_draws(name, columns[name])
        units, _ = column_units([name], columns.units, bool(columns.units))
        if name in units and units[name].atoms:
            value = with_unit(name, value, str(units[name]))
        value.copied = path, columns[name]
        return value  # type: ignore[no-any-return]

    return read


def readings(
    call: OptionValues, paths: Sequence[str], text: str, known_names: Sequence[str]
) -> dict[str, list[float]]:
    """Return the columns of variables. Raises `ExpressionError`."""
    implicit = call.unknowns is not None or call.between is not None

    def used(columns: Sequence[str]) -> list[str]:
        named = [*known_names, *filter(is_name, columns)]
        variables = variables_of(text, named, implicit)
        used_names = [name for name in variables if name in columns]
        # variables of an implicit model without values are unknowns
        for name in variables:
            if name not in columns and name not in known_names and not implicit:
                message = f"`{name}` has no value: the data has no column of that name"
                hint = (
                    f'its columns are {list_columns(columns)}; or give the value: `--at "{name}=…"`'
                )
                raise ExpressionError("missing_value", message, variables[name].span, hint)
        return used_names

    return call.read_columns(paths, used, known_names, readings=True)
