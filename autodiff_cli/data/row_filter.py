"""The rows that `--where` leaves: a condition of the language on the columns of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from ..compiled.columns_io import Fitted, check_type
from ..compiled.evaluator import Evaluator
from ..engine.numbers.budget import use_budget
from ..errors import ExpressionError, Span, point_error, quote, usage_error
from ..language.parser import syntax_tree
from ..language.tokens import has_unit_literals
from ..questions.optional_units import column_units, units_in_headings, uses_angles
from ..questions.problem import explained
from .rows import CompiledRows, RowUnits, row_units, rows
from .text_dialects import Dialect, TextRow, numbers_in

# What makes a number of a condition: 1 for rows that stay.
BEFORE, AFTER = "1 if (", ") else 0"


class RowFilter:
    """A condition on the columns of one file, in which names in `called` stand for columns.

    A row whose condition has no value stays, with its error.
    """

    def __init__(
        self,
        text: str,
        called: Mapping[str, str],
        names: Sequence[str],
        units: Mapping[str, str],
        name: str,
    ) -> None:
        self.text = text
        try:
            # a whole of its own: `x > 0) else 1 if (y > 0` is none
            explained(text, lambda: syntax_tree(text))
        except ExpressionError as error:
            raise self._about_condition(error, names, name, 0) from None
        try:
            formula = rows(f"{BEFORE}{self.text}{AFTER}", wrt=(), columns=called)
            self._columns = formula.columns_of(names)
            self._fitted = formula.fit_to(list(self._columns))
        except ExpressionError as error:
            raise self._about_condition(error, names, name) from None
        # The columns of the condition's names.
        self.used = {own: self._columns[own] for own in self._fitted.variables}
        if not self.used:
            raise usage_error(
                f"`--where {self.text}` names no column", f"{name} has {quote(names)}"
            )
        self.units = units_in_headings(self.used, units)
        self._units = self._row_units(self._fitted)
        self._formula = (
            formula if self._units is None else formula.in_units(self._fitted, self._units)
        )
        self._compiled: tuple[Any, CompiledRows] | None = None
        self.dropped = self.rows = 0

    def _about_condition(
        self, error: ExpressionError, names: Sequence[str], name: str, before: int = len(BEFORE)
    ) -> ExpressionError:
        """Return the error with its place in the condition, and not in the program that has some
        text before it.
        """
        span, hint = error.span, error.hint
        if span is not None:
            begin, end = (min(max(k - before, 0), len(self.text)) for k in (span.start, span.end))
            span = Span(begin, end)
        if error.kind == "missing_value":
            hint = f"{name} has the columns {quote(names)}"
        about = ExpressionError(error.kind, f"in `--where`: {error}", span, hint)
        about.text = self.text
        return about

    def _row_units(self, fitted: Fitted) -> RowUnits | None:
        """Return the units of the columns; None where the condition has none, which then is about
        the numbers alone.
        """
        if not has_unit_literals(self.text):
            return None
        try:
            units, _ = column_units(
                fitted.variables, self.units, True, angles=uses_angles(fitted.program)
            )
            return row_units("grad", fitted, units, None)
        except ExpressionError as error:
            raise self._about_condition(error, (), "") from None

    @property
    def columns(self) -> list[str]:
        """The columns that it needs, as numbers."""
        return [*dict.fromkeys(self.used.values())]

    def check_types(self, fields: Mapping[str, Any]) -> None:
        """Check that the columns of a columnar file are numbers."""
        for column in self.columns:
            if column in fields:
                check_type(column, fields[column].type)

    @cached_property
    def _value(self) -> Callable[[Sequence[float]], float]:
        return Evaluator(self._fitted.program, ()).value

    def keeps(self, row: TextRow, dialect: Dialect) -> tuple[bool, ExpressionError | None]:
        """Return whether a row stays, and its error if the condition has no value."""
        self.rows += 1
        numbers, fault = numbers_in(row, self.columns, dialect)
        if fault is not None:
            return True, fault
        units = self._units
        own = {name: numbers[column] for name, column in self.used.items()}
        point = [x if units is None else units.in_system(name, x) for name, x in own.items()]
        try:
            with use_budget(length=len(self.text), anew=False) as work:
                work.reset(len(self.text))
                stays = self._value(point) != 0
        except ExpressionError as error:
            return True, _undecided(error)
        self.dropped += not stays
        return stays, None

    def mask(
        self, batch: Any, faults: Mapping[int, ExpressionError]
    ) -> tuple[Any, dict[int, ExpressionError]]:
        """Return which rows of a batch stay, and the errors of those for which the condition has no
        value.
        """
        import numpy as np

        part = batch.select(self.columns)
        if self._compiled is None or self._compiled[0] != part.schema:
            self._compiled = part.schema, self._formula.bind_to(part.schema)
        answer = self._compiled[1].answer(part)
        errors = {row: faults.get(row) or _undecided(error) for row, error in answer.errors.items()}
        stays = np.asarray(answer.batch.column("value").to_numpy(zero_copy_only=False)) != 0
        stays[[*errors]] = True
        self.rows += len(stays)
        self.dropped += len(stays) - int(stays.sum())
        return stays, errors


def _undecided(error: ExpressionError) -> ExpressionError:
    if error.kind == "point":
        return error
    undecided = point_error(
        f"`--where` has no value: {error}", "leave such rows out by another condition before it"
    )
    undecided.text = ""
    return undecided


def count_of_left_out(text: str, dropped: int, total: int) -> str:
    """Return the note of how many rows a condition leaves out."""
    return f"note: `--where {text}` leaves {dropped:,} of {total:,} rows out"
