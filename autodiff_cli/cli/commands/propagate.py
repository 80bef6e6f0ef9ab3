"""`autodiff propagate`: a result with its uncertainty, from values with theirs."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, BinaryIO

from ...batched.columns_io import listed
from ...errors import ExpressionError
from ...inputs.bounds import parse_between
from ...inputs.decoding import whole
from ...inputs.parse_point import is_name, parse_point, point_of_object, read_json
from ...streams.requests import Reading, Request, mapping, names, unknowns_of_object
from ...uncertainty.measured_value import quantity
from ...uncertainty.measurement_model import variables_of
from ...uncertainty.propagate import (
    SEED,
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

EXAMPLES = (
    'autodiff propagate "V/I" --at "V=5.00±0.02, I=19.66(10)e-3"',
    'autodiff propagate "x*exp(x) = a" --for x --at "a=1.00±0.05" --format plain',
    'autodiff propagate "m*9.81*h" --at "m=2.00±0.01, h=1.50(2)" --samples 1e5 --format plain',
)

PROGRAM = (
    options.Without.of("--wrt"),
    options.Option(
        "--at",
        "The values, with their standard uncertainties: `x=5.00±0.02`, `x=5.00+-2%`, `x=19.66(10)e-3`, "
        "`x=uniform(4.9, 5.1)`; also `triangular`, `trapezoidal`, `arcsine`, `normal(m, s)`, `student(m, s, dof)`. "
        "Repeats.",
        "POINT",
        value_syntax="=",
        python_type="At",
        main=True,
    ),
)
Correlation = Annotated[
    list[str] | None,
    options.Option(
        "--correlation",
        "Correlation coefficients: `V:I=-0.36,V:phi=0.86`. Repeats.",
        "PAIRS",
        value_syntax=":",
        python_type="Mapping[Any, float] | str | None",
        main=True,
    ),
]
Dof = Annotated[
    list[str] | None,
    options.Option(
        "--dof",
        "Degrees of freedom of the uncertainties: `V=4,I=9`. Repeats.",
        "VALUES",
        value_syntax="=",
        python_type="Mapping[str, float] | str | None",
    ),
]
Data = Annotated[
    list[str] | None,
    options.Option(
        "--data",
        "Repeated readings, one column per variable (as for `--points`; `-`: standard input): use their means, "
        "uncertainties and correlations. Repeats.",
        "PATH",
        data_role=options.VARIABLES,
        reads_stdin=True,
        python_type="Table",
        main=True,
    ),
]
Fitted = Annotated[
    str | None,
    options.Option(
        "--fit",
        "Use the parameters of a fit, with their standard errors, correlations and degrees of freedom, from the JSON "
        "file that `fit` wrote (`-`: standard input). Values in `--at` take precedence.",
        "PATH",
        reads_stdin=True,
        python_type="Fit | str | None",
        main=True,
    ),
]
Cover = Annotated[
    float | None, options.Option("--k", "The coverage factor, instead of `--level`.", "K", conflicts=("--level",))
]
Samples = Annotated[
    float | None,
    options.Option(
        "--samples", "Also run a Monte Carlo simulation with N draws, and compare the results: `1e6`.", "N", main=True
    ),
]
Seed = Annotated[
    int | None,
    options.Option(
        "--seed", f"The seed of the random draws, {SEED} by default.", "N", range=(0, 2**63 - 1), needs=("--samples",)
    ),
]
ANSWERS = options.formats(
    PropagationView().formats, "by default from the name of `--output`, else table, jsonl for a stream"
)


def run(
    *,
    program: Annotated[options.Program, *PROGRAM],
    unknowns: options.Unknowns = None,
    between: options.Between = None,
    correlation: Correlation = None,
    dof: Dof = None,
    data: Data = None,
    input_format: options.InputFormat = None,
    columns: options.Columns = None,
    fit: Fitted = None,
    level: options.Level = None,
    k: Cover = None,
    samples: Samples = None,
    seed: Seed = None,
    sort: options.Sort = False,
    theme: options.Theme = None,
    answers: Annotated[options.Answers, ANSWERS],
) -> int:
    """Propagate uncertainties, and show each input's contribution.

    The answer is the uncertainty budget of the GUM (JCGM 100), from exact derivatives. `--samples` adds the Monte Carlo
    result (JCGM 101). With `--for` or `--between`, the formula is an equation, as for `solve`, and its unknowns are the
    results. A picture needs the extra `plot`.
    """
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
        known = [*request.point, *(fitted.values if fitted is not None else ())]
        return propagate(
            request.text, request.point, unknowns=sought, between=bounds, fitted=fitted,
            correlation={**pairs, **request.more.get("correlation", {})},
            dof={**degrees, **request.more.get("dof", {})},
            readings=readings(data, request.text, known, input_format, called, implicit=implicit) if data else None,
            level=level, k=k, samples=samples, seed=seed, stop=stop,
        )  # fmt: skip

    searches = Searches(asked, lambda found: not found.interrupted, many=inputs.many, unit="blocks of draws")
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
    paths: Sequence[str], text: str, given: Sequence[str], format: str | None = None,
    called: Mapping[str, str] = MappingProxyType({}), *, implicit: bool = False,
) -> dict[str, list[float]]:  # fmt: skip
    """The columns of files that are variables of the program; see `read_columns`. Raises `ExpressionError`."""
    from ...data.columns import read_columns

    def used(columns: Sequence[str]) -> list[str]:
        program = variables_of(text, [*given, *(column for column in columns if is_name(column))], implicit)
        found = [name for name in program.variables if name in columns]
        # what an implicit model has no value of is looked for
        missing = [name for name in program.variables if name not in columns and name not in given and not implicit]
        if missing:
            raise ExpressionError(
                "missing_value", f"`{missing[0]}` has no value: the data has no column of that name",
                program.variables[missing[0]].span,
                f"its columns are {listed(columns)}; or give the value: `--at \"{missing[0]}=…\"`",
            )  # fmt: skip
        return found

    return read_columns(paths, used, format, called)
