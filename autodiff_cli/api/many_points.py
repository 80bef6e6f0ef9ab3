"""Answers of Python functions at many points: sweeps, and the rows of frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from .. import show as views
from ..cli.commands import variables_of
from ..compiled.columns_io import Fitted
from ..data.frames import QUESTIONS, fixed_and_columns, is_frame
from ..data.rows import Rows, row_request
from ..data.rows import rows as rows_of
from ..engine.numbers.budget import current_budget
from ..errors import ExpressionError, usage_error
from ..language.tokens import has_unit_literals
from ..questions.parse_point import ValueOf, may_sweep
from ..questions.problem import Quantity
from ..questions.sweeps import Grid, grid_of, sweeping
from ..show.numerals import heading
from ..show.wide import WideRows
from ..streams.requests import Reading, default_point, names
from .api_arguments import has_lists, point_of

# A question at one point: the answer to the arguments of a call.
Ask = Callable[[Mapping[str, Any]], Any]


def answers_at(command: str, ask: Ask, values: Mapping[str, Any], grid: Grid | None) -> Any:
    """Return the answers on a grid, or to the rows of a frame, as a table of its kind; None at one
    point.
    """
    text, at = values.get("text"), values.get("at")
    of_frame = grid is None and command in QUESTIONS and is_frame(at) and not has_lists(text, at)
    if grid is None and not of_frame:
        return None
    if values.get("answer") is not None:
        raise usage_error("an answer is marked at one point, and here are many", 'write at="x=1"')
    if grid is not None:
        if used := [
            *variables_of(text, [*grid.axes, *grid.fixed]),
            *_names_of_ends(command, values),
        ]:
            grid.check_use(used, names(values.get("for_"), "--for") or ())
        return at_points(command, ask, grid, values)
    for name in _other_options(values, "in_"):
        raise usage_error(f"`{name}` does not go with a frame", "leave it out")
    fixed, columns = fixed_and_columns(at)
    return in_batches(command, values, point_of(fixed), columns)


def _names_of_ends(command: str, values: Mapping[str, Any]) -> list[str]:
    """Return the parameters in the ends of an integral."""
    if command != "integrate" or not isinstance(typed := values.get("between"), str | list):
        return []
    texts = [typed] if isinstance(typed, str) else typed
    ends = [end for text in texts for end in str(text).rpartition("=")[2].split(":")]
    return [name for end in ends for name in variables_of(end)]


def in_batches(
    question: str,
    values: Mapping[str, Any],
    fixed: Mapping[str, Any],
    columns: Any,
    point: Sequence[str] = (),
) -> Any:
    """Return the answers to rows as a table of the caller's kind, after `point`."""
    rows = rows_of(
        values["text"],
        at=fixed,
        wrt=() if values.get("value_only") else names(values.get("wrt")),
        question=question,
        lenient=bool(values.get("lenient")),
        point=point,
        units=values.get("in_") and ",".join(values["in_"]),
    )
    answers = rows(columns)
    return AnswerColumns(answers, rows, [*columns]) if type(answers) is dict else answers


class AnswerColumns(dict[str, Any]):
    """Answers to many points by column, and as arrays with an entry for each point: `gradient`,
    `hessian`, `jacobian`.

    As an array they are the derivatives that were asked for, with the points along the first axis.
    """

    def __init__(self, columns: Mapping[str, Any], rows: Rows, given: Sequence[str]) -> None:
        super().__init__(columns)
        self._rows, self._given = rows, given
        # entries of the dictionary may change
        self._answers = [*columns.values()]

    @cached_property
    def _fitted(self) -> Fitted:
        return self._rows.fit_to(list(self._rows.columns_of(self._given)))

    @cached_property
    def _numbers(self) -> Any:
        """Return all numbers of the answers, a row for each point: values, then derivatives."""
        import numpy as np

        begin = len(self._rows.point)
        width = len(row_request(self._rows.question, self._fitted).results)
        return np.stack(
            [np.asarray(column, float) for column in self._answers[begin : begin + width]], axis=-1
        )

    @property
    def value(self) -> Any:
        """The value at each point; of `jacobian` those of all results."""
        return (
            self._numbers[:, : len(self._fitted.program.roots)]
            if self._is_jacobian
            else self._numbers[:, 0]
        )

    @property
    def gradient(self) -> dict[str, Any]:
        """The partial derivatives by name, each with an entry for each point; not of a
        `jacobian`.
        """
        names = () if self._is_jacobian else self._fitted.wanted
        return {name: self._numbers[:, k] for k, name in enumerate(names, start=1)}

    @property
    def hessian(self) -> Any:
        """The Hessians, of shape (points, variables, variables); None for other questions."""
        if self._rows.question != "hessian":
            return None
        import numpy as np

        count = len(self._fitted.wanted)
        low, high = np.tril_indices(count)
        square = np.empty((len(self._numbers), count, count))
        square[:, low, high] = square[:, high, low] = self._numbers[:, 1 + count :]
        return square

    @property
    def jacobian(self) -> Any:
        """The Jacobians, of shape (points, results, variables); None for other questions."""
        if not self._is_jacobian:
            return None
        count = len(self._fitted.program.roots)
        return self._numbers[:, count:].reshape(len(self._numbers), count, len(self._fitted.wanted))

    @property
    def _is_jacobian(self) -> bool:
        return self._rows.question == "jacobian"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        found = {"hessian": self.hessian, "jacobian": self.jacobian}.get(self._rows.question)
        found = self._numbers[:, 1:] if found is None else found
        return found.astype(dtype or float)


def _other_options(values: Mapping[str, Any], *allowed: str) -> list[str]:
    expected = ("text", "at", "wrt", "lenient", "work", "value_only", *allowed)
    return [
        name
        for name, value in values.items()
        if name not in expected and value not in (None, False)
    ]


def point_grid(
    text: object, at: Any, texts: list[str] | None, value_of: ValueOf, zipped: bool
) -> Grid | None:
    """Return the grid of a point with sweeps; None without sweeps."""
    reader = sweeping(value_of)
    point = default_point(texts if isinstance(at, str) else None, Reading(reader))
    if not isinstance(at, str):
        typed: Mapping[str, Any] = at if isinstance(at, Mapping) else {}
        point = {name: reader(name, x, 0) if isinstance(x, str) else x for name, x in typed.items()}
        numbers = {name: x for name, x in typed.items() if not isinstance(x, str)}
        if may_sweep(texts) and is_frame(at) and not has_lists(text, numbers):
            hint = "repeat the columns for each value of the sweep"
            raise usage_error("columns and a sweep do not go together", hint)
    return grid_of(point, zipped=zipped, times=current_budget().times)


ERRORS_OF_ALL_ROWS = ("usage", "missing_value", "syntax", "name", "arity", "type", "request")


def at_points(
    command: str, ask: Ask, grid: Grid, values: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """Return the answers on a grid as columns: point, numbers, error."""
    first = [*grid.fixed.values(), *(axis.value(0) for axis in grid.axes.values())]
    measured = has_unit_literals(values["text"]) or any(type(x) is Quantity for x in first)
    if command in QUESTIONS and not _other_options(values) and not measured:
        fixed, columns = point_of(grid.fixed), grid.columns(0, grid.size)
        return cast(
            dict[str, list[Any]], in_batches(command, values, fixed, columns, (*grid.axes, *fixed))
        )
    rows: list[dict[str, Any]] = []
    # starts of unknowns are not part of the point
    unknowns = names(values.get("for_"), "--for") or ()
    for own in grid.points():
        point = point_of({**own, **grid.fixed})
        row = _numbers_of({name: x for name, x in point.items() if name not in unknowns})
        try:
            answer = ask({**values, "at": point})
            view = views.view_of(answer)
            rows += [
                {**row, "error": None, **cells}
                for cells in WideRows(view.cells(view.with_units(answer)))
            ]
        except ExpressionError as error:
            if error.kind in ERRORS_OF_ALL_ROWS:
                raise
            rows.append({**row, "error": f"{error.kind}: {error}"})
    return _columns_of(rows)


def _numbers_of(point: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of a point, by names with their units."""
    return {
        heading(name, str(getattr(x, "unit", ""))): float(getattr(x, "number", x))
        for name, x in point.items()
    }


def _columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows as columns, of which the last has the errors."""
    heads = dict.fromkeys(name for row in rows for name in row if name != "error")
    return {name: [row.get(name) for row in rows] for name in (*heads, "error")}
