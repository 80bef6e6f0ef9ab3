"""`autodiff propagate`: a result with its uncertainty, from values with theirs."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import BinaryIO

from ...batched.columns_io import listed
from ...errors import ExpressionError
from ...inputs.bounds import parse_between
from ...inputs.decoding import whole
from ...inputs.parse_point import is_name, parse_point, point_of_object, read_json
from ...streams.requests import Reading, Request, mapping, names, unknowns_of_object
from ...uncertainty.measured_value import quantity
from ...uncertainty.measurement_model import variables_of
from ...uncertainty.propagate import (
    Estimates,
    Propagation,
    estimates_of_fit,
    pairs_of_object,
    parse_pairs,
    propagate,
)
from ...views.characters import theme_of
from ...views.propagate import PropagationView
from .. import options
from ..runner import Inputs, answer_all
from ..searches import Searches


def run(
    *,
    program: options.Program,
    unknowns: list[str] | None = None,
    between: list[str] | None = None,
    correlation: list[str] | None = None,
    dof: list[str] | None = None,
    data: list[str] | None = None,
    input_format: str | None = None,
    columns: list[str] | None = None,
    fit: str | None = None,
    level: float | None = None,
    k: float | None = None,
    samples: float | None = None,
    seed: int | None = None,
    sort: bool = False,
    theme: str | None = None,
    answers: options.Answers,
) -> int:
    """Propagate uncertainties, and show each input's contribution; return the exit code."""
    reading = Reading(quantity, {"correlation": pairs_of_object, "dof": point_of_object, "for": unknowns_of_object})
    inputs = Inputs.of(program, answers, reading=reading)
    inputs.need()
    shown = PropagationView(digits=answers.shown, sort=sort, theme=theme_of(theme))
    chosen = inputs.chosen(shown.formats)
    inputs.check_picture(chosen, "budget")
    if data and inputs.many:
        raise ExpressionError(
            "usage", "`--data` is for one program", hint="give the program as the argument, or with `--file PATH`"
        )
    called = mapping(columns)
    pairs = parse_pairs(correlation or ())
    degrees = {name: value for text in dof or () for name, value in parse_point(text).items()}
    fitted = None if fit is None else read_fit(fit, inputs.beside("--fit", fit))
    looked_for, bounds = names(unknowns, "--for"), parse_between(between or ())

    def asked(request: Request, stop: Callable[[], bool]) -> Propagation:
        sought = request.more.get("for", looked_for)
        implicit = not (sought is None and bounds is None)
        known_names = [*request.point, *(fitted.values if fitted is not None else ())]
        return propagate(
            request.text,
            request.point,
            unknowns=sought,
            between=bounds,
            fitted=fitted,
            correlation={**pairs, **request.more.get("correlation", {})},
            dof={**degrees, **request.more.get("dof", {})},
            readings=readings(data, request.text, known_names, input_format, called, implicit=implicit)
            if data
            else None,
            level=level,
            k=k,
            samples=samples,
            seed=seed,
            stop=stop,
        )

    searches = Searches(asked, lambda result: not result.interrupted, many=inputs.many, unit="blocks of draws")
    return max(answer_all(inputs, searches.answer, shown, chosen=chosen), searches.code)


def read_fit(path: str, file: BinaryIO | None = None) -> Estimates:
    """The parameters in a file that `fit` wrote, which may be open already.

    Raises `ExpressionError` (`io`, `limit`, `point`).
    """
    text, fault = whole(path, file)
    try:
        if fault is not None:
            raise fault
        return estimates_of_fit(read_json(text)[0])
    except ExpressionError as error:
        raise ExpressionError("point", f"in `{path}`: {error}", None, error.hint) from None


def readings(
    paths: Sequence[str],
    text: str,
    known_names: Sequence[str],
    format: str | None = None,
    called: Mapping[str, str] = MappingProxyType({}),
    *,
    implicit: bool = False,
) -> dict[str, list[float]]:
    """The columns of files that are variables of the program; see `read_columns`. Raises `ExpressionError`."""
    from ...data.columns import read_columns

    def used(columns: Sequence[str]) -> list[str]:
        program = variables_of(text, [*known_names, *(column for column in columns if is_name(column))], implicit)
        used_names = [name for name in program.variables if name in columns]
        # what an implicit model has no value of is looked for
        missing = [
            name for name in program.variables if name not in columns and name not in known_names and not implicit
        ]
        if missing:
            raise ExpressionError(
                "missing_value",
                f"`{missing[0]}` has no value: the data has no column of that name",
                program.variables[missing[0]].span,
                f'its columns are {listed(columns)}; or give the value: `--at "{missing[0]}=…"`',
            )
        return used_names

    return read_columns(paths, used, format, called)
