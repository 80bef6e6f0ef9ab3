"""The data of a fit."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, NamedTuple

from ...compiled.columns_io import list_columns, look
from ...engine.table.primitive import COMPOSED, FUNCTIONS
from ...errors import (
    Diagnostic,
    ExpressionError,
    limit_error,
    point_error,
    quote,
    usage_error,
)
from ...language.builder import Program
from ...language.equation_trees import ModelEquation, last_equation
from ...language.tokens import has_unit_literals
from ...questions.column_uncertainties import Sigma, Spread, has_unit, parse_sigma, percentage
from ...questions.optional_units import heading
from ...questions.parse_point import Range, is_name
from ...questions.problem import (
    Problem,
    Quantity,
    as_number,
    check_bare_functions,
    check_products,
    check_single,
    parse,
)

if TYPE_CHECKING:
    from ...engine.quantities.unit import Unit

MAX_PARAMETERS = 200


class FitFormula(NamedTuple):
    """A formula with what it explains."""

    program: Program
    response: str  # as written
    transform: Program | None
    measured: list[str]

    @property
    def has_unit_literals(self) -> bool:
        return any(
            program and has_unit_literals(program.text)
            for program in (self.program, self.transform)
        )


def read_formula(
    text: str, columns: Sequence[str], known_names: Sequence[str], response: str | None
) -> FitFormula:
    """Read a program, and what it explains. Raises `ExpressionError`."""
    names = [column for column in columns if is_name(column)]
    last = last_equation(text)
    if response is None and last is not None and _is_transform(last):
        formula = _read_with_transform(last, names, known_names)
    else:
        left = "" if last is None else last.left
        if left and f"{left}[1]" in columns:
            message = f"a row of the data has a list `{left}`, and the formula predicts a number"
            raise usage_error(message, 'write a line for each reading: `{"x": 0, "y": 1}`')
        # the name that the formula binds last is the response
        program = parse(text, {*names, *known_names} - {left}, units=True)
        check_single(program)
        response = _response(program, columns) if response is None else response
        if response not in columns:
            raise no_column(response, columns)
        formula = FitFormula(program, response, None, [response])
    program = formula.program
    check_bare_functions(program, {*names, *known_names})
    check_products(program, {*names, *known_names}, names, may_lack=True)
    for name in formula.measured:
        if name in program.leaves:
            message = f"`{name}` is the response, and the formula uses it"
            span = program.all_nodes.span(program.leaves[name])
            raise usage_error(message, "write the formula in terms of other columns", span)
    return formula


def _is_transform(last: ModelEquation) -> bool:
    """Return whether the left side of an equation is a formula: it is no name, and no new
    function.
    """
    left = last.left
    is_new = last.called is not None and last.called not in (*FUNCTIONS, *COMPOSED)
    return bool(left) and not is_name(left) and left[-1] not in "+-*/" and not is_new


def _read_with_transform(
    last: ModelEquation, names: Sequence[str], known_names: Sequence[str]
) -> FitFormula:
    """Read an equation whose left side is a formula of columns, as `log(y) = …`."""
    transform = parse(last.left, names, units=True)
    check_single(transform)
    if other := [name for name in transform.leaves if name not in names]:
        measured = next((name for name in transform.leaves if name in names), None)
        if measured is None:
            raise no_column(other[0], names)
        message = (
            f"`{other[0]}` is no column of the data, and the left side of a fit is what was"
            " measured"
        )
        raise usage_error(message, f"move parameters to the right side: `{measured} = …`")
    if not transform.leaves:
        hint = f"write columns on the left, as in `log(y) = …`; they are {list_columns(names)}"
        raise usage_error(f"`{last.left}` has no column, which the formula would predict", hint)
    program = parse(last.program, [*names, *known_names], units=True)
    check_single(program)
    return FitFormula(program, " ".join(last.left.split()), transform, [*transform.leaves])


def _response(program: Program, columns: Sequence[str]) -> str:
    """Return the name that a program gives its value. Raises an error if it gives none."""
    name, _, place = program.bound[-1] if program.bound else ("", None, None)
    if place != program.roots[0]:
        hint = (
            "write it as `y = …`, or name it: `--response y`; the columns are"
            f" {list_columns(columns)}"
        )
        raise usage_error("the response, the column that the formula predicts, is not given", hint)
    return name


def _spreads(sigma: Sigma | None, response: str) -> list[str]:
    """Return the uncertainties that are no numbers."""
    return [spread for spread in parse_sigma(sigma, response).values() if isinstance(spread, str)]


def _may_be_column(spread: str) -> bool:
    """Return whether the text of an uncertainty is neither a share nor a number with a unit."""
    return percentage(spread) is None and not has_unit(spread)


def _check_uses_a_column(formula: FitFormula, free: str, columns: Sequence[str]) -> None:
    """Raise an error for a formula that uses no column, unless it is one parameter."""
    program = formula.program
    if len(program.leaves) > 1:
        raise ExpressionError(
            "missing_value",
            f"the formula uses no column of the data to predict `{formula.response}`: `{free}` is"
            " not one",
            program.all_nodes.span(program.leaves[free]),
            f"its columns are {list_columns(columns)}; for a parameter give a start: `--at"
            f" {free}=…`",
        )


def _check_meant(
    program: Program, free: Sequence[str], unused: Mapping[str, Sequence[str]]
) -> None:
    """Raise an error for a variable without a start that looks like a column which is not used."""
    for name in free:
        if alike := unused.get(look(name).casefold()):
            meant, are_several = alike[0], len(alike) > 1
            as_named = f"write `{meant}`, or " if is_name(meant) else "write "
            raise ExpressionError(
                "missing_value",
                f"`{name}` is not a column of the data and has no start; there"
                f" {'are the columns' if are_several else 'is the column'} {quote(alike)}",
                program.all_nodes.span(program.leaves[name]),
                f'{as_named}`--columns "{name}={meant}"`; for a parameter give a start: `--at'
                f" {name}=…`",
            )


def columns_needed(
    formula: FitFormula,
    columns: Sequence[str],
    known_names: Sequence[str],
    sigma: Sigma | None = None,
    weights: str | None = None,
    trials: str | None = None,
) -> list[str]:
    """Return the columns that the fit of a formula needs."""
    variables, answer, explained = formula.program.leaves, formula.response, formula.measured
    also = [name for name in _spreads(sigma, answer) if name in columns or _may_be_column(name)]
    also += [name for name in (weights, trials) if name is not None]
    needed = [name for name in variables if name in columns]
    unused = _unused_names(columns, {*needed, *explained, *also})
    free = [name for name in variables if name not in {*columns, *known_names}]
    _check_meant(formula.program, free, unused)
    if not needed and unused and free:
        _check_uses_a_column(formula, free[-1], columns)
    for name in also:
        if name not in columns:
            raise no_column(name, columns)
    return list(dict.fromkeys([*needed, *explained, *also]))


def _unused_names(columns: Sequence[str], used: AbstractSet[str]) -> dict[str, list[str]]:
    """Return the columns that are not used, by each name that their headings have, in small
    letters.
    """
    unused: dict[str, list[str]] = {}
    for column in columns:
        # `u(R)` and `u(T)` are uncertainties, and no two columns `u`
        names = [column] if column.startswith("u(") else [column, *heading(column)[0]]
        if used.isdisjoint(names):
            for name in {look(name).casefold() for name in names}:
                unused.setdefault(name, []).append(column)
    return unused


def no_column(name: str, columns: Sequence[str]) -> ExpressionError:
    """Return the error for a column that the data lack."""
    return usage_error(
        f"the data has no column `{name}`", f"its columns are {list_columns(columns)}"
    )


class FitInputs(NamedTuple):
    """The numbers that a fit starts from."""

    columns: Mapping[str, Sequence[float]]
    point: dict[str, float | str]
    fixed: dict[str, float | str]
    bounds: dict[str, Range]
    sigma: dict[str, Spread]
    predict: Mapping[str, Sequence[float]]

    @property
    def typed_units(self) -> list[tuple[str, Unit]]:
        values: list[tuple[str, Any]] = [*self.point.items(), *self.fixed.items()]
        values += [(name, end) for name, ends in self.bounds.items() for end in ends]
        return [(name, value.unit) for name, value in values if isinstance(value, Quantity)]


class Observations(NamedTuple):
    """The data of a fit: which columns are what, and how rows are weighted."""

    columns: Mapping[str, Sequence[float]]
    response: str
    predictors: list[str]
    sigma: Mapping[str, Spread]
    weights: str | None
    transform: Program | None  # the formula of the response by columns, as `log(U)`

    @property
    def has_sigma(self) -> bool:
        return any(name not in self.predictors for name in self.sigma)

    @property
    def names_used(self) -> list[str]:
        """The columns that the formula or the response needs; the last is the response."""
        measured = [] if self.transform is None else [*self.transform.variables]
        return [*self.predictors, *measured, self.response]

    def uncertainty(self, name: str) -> Any:
        """Return the standard uncertainty of a column in each row, or 0."""
        import numpy as np

        spread = self.sigma.get(name, 0.0)
        share = percentage(spread) if spread not in self.columns else None
        if share is not None:
            numbers = share / 100 * np.abs(np.array(self.columns[name], dtype=float))
        else:
            numbers = np.array(
                self.columns[spread] if isinstance(spread, str) else [spread], dtype=float
            )
        if name in self.sigma:
            where = (
                f"column `{spread}`" if isinstance(spread, str) and share is None else "`--sigma`"
            )
            _check_positive(numbers, where, "uncertainty", or_zero=name != self.response)
        return np.broadcast_to(numbers, len(self.columns[name]))

    def root_weights(self) -> Any:
        """Return the root of the weight of each row. Raises `ExpressionError`."""
        import numpy as np

        from ...compiled.kernels import ProgramOverRows

        rows = len(self.columns[self.response])
        if self.response in self.sigma:
            return 1 / self.uncertainty(self.response)
        if self.has_sigma and self.transform is not None:
            # by the exact derivatives of the formula of columns
            names = [name for name in self.transform.variables if name in self.sigma]
            slopes = ProgramOverRows(self.transform, names)(self.columns, rows).results[1:]
            spreads = [
                slope * self.uncertainty(name) for name, slope in zip(names, slopes, strict=True)
            ]
            spread = np.sqrt(np.sum(np.square(spreads), axis=0))
            _check_positive(spread, f"`{self.response}`", "uncertainty")
            return 1 / spread
        if self.weights is None:
            return np.ones(rows)
        numbers = np.array(self.columns[self.weights], dtype=float)
        _check_positive(numbers, f"column `{self.weights}`", "weight", or_zero=True)
        if not np.any(numbers):
            raise point_error(
                f"all weights in column `{self.weights}` are 0", "a row with weight 0 is left out"
            )
        return np.sqrt(numbers)


def _check_positive(numbers: Any, where: str, what: str, *, or_zero: bool = False) -> None:
    for row, number in enumerate(numbers.tolist()):
        if not (0 < number < math.inf or (or_zero and number == 0)):
            place = f" in row {row + 1}" if len(numbers) > 1 else ""
            range_ = "finite" if number == math.inf else "0 or above" if or_zero else "above 0"
            hint = f"{'an' if what[0] == 'u' else 'a'} {what} is {range_}"
            raise point_error(f"{where} has the {what} {number:g}{place}", hint)


def pose_fit(
    formula: FitFormula, inputs: FitInputs, weights: str | None
) -> tuple[Problem, Observations]:
    """Return the problem and its data, with the numbers of all parameters. Raises
    `ExpressionError`.
    """
    program, response, transform, _ = formula
    columns, point, fixed, bounds = inputs.columns, inputs.point, inputs.fixed, inputs.bounds
    if transform is not None:
        columns = {**columns, response: _transformed(transform, columns, response)}
    predictors = [name for name in program.leaves if name in columns]
    parameters = [name for name in program.leaves if name not in columns]
    unknowns = [name for name in parameters if name not in fixed]
    warnings = _check_roles(inputs, predictors, parameters, unknowns)
    if len(unknowns) > MAX_PARAMETERS:
        hint = f"fit up to {MAX_PARAMETERS}"
        raise limit_error(f"{len(unknowns)} parameters are too many", hint)
    typed = point | fixed
    values = {name: as_number(value, name) for name, value in typed.items() if name in parameters}
    values |= _starts_left_out(bounds, values)
    _check_uncertainties(inputs.sigma, formula, predictors, columns)
    ends_by_name = {name: x.ends for name, x in bounds.items()}
    problem = Problem(program, typed, values, [], warnings, unknowns, ends_by_name)
    return problem, Observations(columns, response, predictors, inputs.sigma, weights, transform)


def _starts_left_out(bounds: Mapping[str, Range], values: Mapping[str, float]) -> dict[str, float]:
    """Return starts between bounds for parameters without one. Raises an error for a start outside
    of its bounds.
    """
    starts = {}
    for name, limits in bounds.items():
        if name in values:
            limits.check_start(name, values[name])
            continue
        ends = [as_number(end, name) for end in limits if end is not None]
        starts[name] = sum(ends) / len(ends) if ends else 1.0
    return starts


def _check_roles(
    inputs: FitInputs, predictors: Sequence[str], parameters: Sequence[str], unknowns: Sequence[str]
) -> list[Diagnostic]:
    """Return warnings of names that the formula lacks. Raises an error for one with two roles."""
    point, fixed = inputs.point, inputs.fixed
    warnings: list[Diagnostic] = []
    for name in [*point, *fixed]:
        if name in predictors:
            raise point_error(
                f"`{name}` is given a value, and is a column of the data", "leave one of them out"
            )
        if name not in parameters:
            warnings.append(
                Diagnostic("unused", f"the formula has no parameter `{name}`", None, "leave it out")
            )
    for name in inputs.bounds:
        if name not in unknowns:
            raise usage_error(
                f"`{name}` has bounds and is not fitted", f"fitted are {quote(unknowns)}"
            )
    for name in fixed:
        if name in point and as_number(point[name], name) != as_number(fixed[name], name):
            raise point_error(f"`{name}` has a start and is held at another value", "leave one out")
    return warnings


def _transformed(
    transform: Program, columns: Mapping[str, Sequence[float]], response: str
) -> list[float]:
    """Return the values of a response that is a formula of columns."""
    from ...compiled.kernels import ProgramOverRows

    block = ProgramOverRows(transform)(columns, len(next(iter(columns.values()), ())))
    for row, error in sorted(block.errors.items()):
        message = f"row {row + 1} of the data: `{response}`: {error}"
        raise ExpressionError(error.kind, message, hint=error.hint)
    values: list[float] = block.results[0].tolist()
    return values


def _check_uncertainties(
    sigma: Mapping[str, Spread],
    formula: FitFormula,
    predictors: Sequence[str],
    columns: Collection[str],
) -> None:
    _, response, transform, measured = formula
    own = [] if transform is None else measured
    for name, spread in sigma.items():
        if name not in (response, *measured, *predictors):
            hint = f"uncertainties are those of {quote([response, *own, *predictors])}"
            raise usage_error(f"`{name}` has an uncertainty, and is not in this fit", hint)
        if isinstance(spread, str) and spread not in columns and percentage(spread) is None:
            if has_unit(spread):
                message = f"the uncertainty of `{name}` has a unit, and the columns here have none"
                raise point_error(message, "give the number alone, or name units in the headings")
            raise no_column(spread, list(columns))
    if response in sigma and (twice := [name for name in own if name in sigma]):
        raise usage_error(f"`{response}` and `{twice[0]}` both have uncertainties", "leave one out")
    if sigma and not any(name in sigma for name in (response, *measured)):
        hint = f'give it too: `--sigma "{measured[0]}=…,{",".join(sigma)}=…"`'
        raise usage_error(f"the uncertainty of the response `{response}` is not given", hint)
