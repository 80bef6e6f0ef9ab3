"""Rows of data in plots."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ...compiled.columns_io import list_columns, no_column
from ...errors import point_error, quote, usage_error
from ...language.builder import Program
from ...language.equation_trees import last_equation
from ...questions.column_uncertainties import Sigma, Spread, parse_sigma, percentage
from ...questions.optional_units import check_percentage, in_unit_of
from ...questions.parse_point import Range, is_name
from ...questions.problem import parse
from ...record import Record
from .sampling import Path

if TYPE_CHECKING:
    from ...engine.quantities.unit import Unit

# The margin on each side, as a share of the data's range.
RANGE_MARGIN = 0.05


class Measurements(Record):
    """Rows of data as points of a plot."""

    across: str
    """The column on the horizontal axis; `up` is on the vertical one."""
    up: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    dx: tuple[float, ...]
    """Standard uncertainties of `x`; empty without any."""
    dy: tuple[float, ...]


# The columns of the rows by name.
Data = Mapping[str, Sequence[float]]


def rows_drawn(
    data: Data,
    over: Sequence[str],
    axes: Sequence[str],
    sigma: Sigma | None,
    path: Path,
    in_units: bool,
) -> tuple[Measurements, dict[str, Range]]:
    """Return the rows to draw, and ranges that show them and the path."""
    across, up = axes
    spreads = parse_sigma(sigma, up)
    texts = getattr(data, "units", {})
    for name, spread in spreads.items():
        if name not in (across, up):
            hint = f"the plot draws {quote((across, up))}"
            raise usage_error(f"`{name}` has an uncertainty, and is not drawn", hint)
        if percentage(spread) is not None:
            check_percentage(name, texts.get(name, ""))
    x, y = (tuple(map(float, data[name])) for name in (across, up))
    rows = Measurements(
        across, up, x, y, *[_sizes(spreads.get(name), data, name) for name in (across, up)]
    )
    ranges: dict[str, Range] = {}
    for name in over:
        numbers = [*data[name], *(row[name] for row in path if name in row)]
        low, high = min(numbers), max(numbers)
        edge = RANGE_MARGIN * (high - low) or max(1.0, abs(low)) / 2
        ranges[name] = Range(low - edge, high + edge)
        if in_units and name in texts:
            from ...engine.quantities.unit import parse_unit
            from ...questions.quantities import unit_value

            ranges[name] = Range(
                *(unit_value(parse_unit(texts[name]), end) for end in (low - edge, high + edge))
            )
    return rows, ranges


def columns_drawn(
    text: str,
    columns: Sequence[str],
    known_names: Collection[str],
    over: Collection[str] = (),
    response: str | None = None,
    sigma: Sigma | None = None,
    unknowns: Sequence[str] | None = None,
    between: Mapping[str, Range] | Range | None = None,
) -> tuple[list[str], list[str]]:
    """Return the variables of the axes, and the columns of the axes and of uncertainties.

    The variables are those in `over`, or else those in the data.
    """
    unknowns = unknowns or _unknowns_between(text, between, known_names)
    bound = "" if (last := last_equation(text)) is None else last.left
    if unknowns:
        from ...questions.equations import read_with_unknowns  # only equations have unknowns

        names = [*known_names, *filter(is_name, columns)]
        program = read_with_unknowns(text, names, unknowns, units=True).program
    else:
        program = parse(
            text, [*known_names, *(x for x in columns if is_name(x) and x != bound)], units=True
        )
    over = list(dict.fromkeys(over)) or _variables_in(program, columns, known_names, unknowns)
    for name in {*over} & {*unknowns}:
        hint = "plot over another one"
        raise usage_error(f"`{name}` is an unknown, not a variable of the solution", hint)
    axes = [*over]
    spreads = [x for x in parse_sigma(sigma, "").values() if isinstance(x, str)]
    spread_columns = {*spreads} & {*columns}
    if len(axes) == 1:
        taken = {*axes, *program.variables, *known_names, *spread_columns}
        chosen = response or next(iter(unknowns), None)
        axes.append(_column_of_heights(chosen, bound, columns, axes[0], taken))
    _check_columns(axes, spreads, columns)
    return over, list(dict.fromkeys([*axes, *sorted(spread_columns)]))


def _column_of_heights(
    chosen: str | None, bound: str, columns: Sequence[str], across: str, taken: Collection[str]
) -> str:
    """Return the column that is drawn over another one: the chosen one, the left side, or the only
    other one.
    """
    others = [x for x in columns if x not in taken]
    others = [*filter(is_name, others)] or others
    return _heights(chosen or (bound if bound in others else None), others, columns, across)


def _unknowns_between(
    text: str, between: Mapping[str, Range] | Range | None, known_names: Collection[str]
) -> list[str]:
    """Return the unknowns that have bounds; bounds without a name are those of the only one."""
    if isinstance(between, Range):
        return [_only_unknown(text, known_names)]
    return [*(between or ())]


def _check_columns(axes: Sequence[str], spreads: Sequence[str], columns: Sequence[str]) -> None:
    """Raise an error for a column of an axis, or of uncertainties, that the data lack."""
    for name in axes:
        if name not in columns:
            raise no_column(name, columns, "to draw")
    for spread in spreads:
        if spread not in columns and percentage(spread) is None:
            raise no_column(spread, columns, "of uncertainties")


def _only_unknown(text: str, known_names: Collection[str]) -> str:
    """Return the unknown that bounds without a name are of."""
    from ...questions.equations import read_with_unknowns

    variables = read_with_unknowns(text, [*known_names], None, units=True).program.variables
    unknowns = [name for name in variables if name not in known_names]
    if not unknowns:
        message = "`--between` is of one unknown, and all variables have values"
        raise usage_error(message, "leave out the value of the unknown")
    if len(unknowns) > 1:
        hint = f"name it: `--for {unknowns[-1]}`"
        raise usage_error(
            "`--between` is of one unknown, and several variables have no value", hint
        )
    return unknowns[0]


def _variables_in(
    program: Program, columns: Sequence[str], known_names: Collection[str], unknowns: Sequence[str]
) -> list[str]:
    """Return the variables of a program that the data has, one or two, which a plot is over."""
    parameters = [*program.variables] if unknowns else program.parameters
    inside = sorted(name for name in parameters if name in columns and name not in unknowns)
    # a column with a value in the point only places the tangent
    over = [name for name in inside if name not in known_names] or inside
    if not 0 < len(over) < 3 - bool(unknowns):
        what = f"{len(over)} variables, {quote(over)}" if over else "no variable"
        hint = f"the columns are {list_columns(columns)}"
        hint += "; `--range` says over which, and `--at` gives the others values"
        most = "one variable" if unknowns else "one variable or two"
        raise usage_error(f"a plot is over {most}, and the data has {what} of this program", hint)
    return over


def _heights(chosen: str | None, others: Sequence[str], columns: Sequence[str], across: str) -> str:
    """Return the column of the vertical axis: the one that is chosen, or the only other one."""
    if chosen is None and len(others) != 1:
        which = "several columns may be" if others else "no column has"
        hint = f"name it: `--response NAME`; the columns are {list_columns(columns)}"
        raise usage_error(f"{which} the heights of the data", hint)
    if chosen == across:
        hint = "name another column: `--response NAME`"
        raise usage_error(
            f"`{chosen}` is the variable that the plot is over, and not its heights", hint
        )
    return chosen or others[0]


def in_axis_units(
    rows: Measurements, texts: Mapping[str, str], axes: Sequence[Unit]
) -> Measurements:
    """Return the rows in the units of the axes, from the `texts` of theirs."""
    from ...engine.quantities.presentation import convert_column
    from ...engine.quantities.unit import Unit, parse_unit, quantity_name

    changed: dict[str, tuple[float, ...]] = {}
    columns = (("x", rows.across), ("y", rows.up))
    for (field, name), axis in zip(columns, axes, strict=True):
        unit = parse_unit(text) if (text := texts.get(name, "1")) != "1" else Unit()
        if unit.dimension != axis.dimension:
            theirs, ours = quantity_name(unit.dimension), quantity_name(axis.dimension)
            hint = (
                f"give the column a unit: `{name} [{axis}]`" if axis.atoms else "leave the unit out"
            )
            raise usage_error(f"the column `{name}` is {theirs}, and its axis is {ours}", hint)
        changed[field] = tuple(convert_column(getattr(rows, field), unit, axis))
        changed[f"d{field}"] = tuple(
            convert_column(getattr(rows, f"d{field}"), unit.degree, axis.degree)
        )
    return rows._replace(**changed)


def _sizes(spread: Spread | None, data: Data, name: str) -> tuple[float, ...]:
    if spread is None:
        return ()
    share = percentage(spread)
    if isinstance(spread, str) and spread in data:
        texts = getattr(data, "units", {})
        given = in_unit_of(
            name, data[spread], texts.get(spread, ""), texts.get(name, ""), spread=True
        )
        sizes = tuple(map(float, given))
    elif share is not None:
        sizes = tuple([abs(float(x)) * share / 100 for x in data[name]])
    else:
        sizes = (float(spread),) * len(data[name])
    if not all(size >= 0 and math.isfinite(size) for size in sizes):
        hint = "correct them, or leave them out"
        raise point_error(f"the uncertainties of `{name}` are not all 0 or larger", hint)
    return sizes
