"""Calls: the options of a command, typed on a command line or given in Python, and what its question takes of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

from ..inputs.arithmetic import Arithmetic, chosen
from ..inputs.bounds import Range, parse_between, parse_ranges
from ..inputs.column_units import left_out
from ..inputs.parse_point import parse_weights
from ..streams.requests import default_point, mapping, names, value_with_unit
from .options import Rows

if TYPE_CHECKING:
    from ..batched.data_loss import LossSpec
    from ..inputs.column_units import MeasuredColumns
    from . import options

OPTIONS = {"tolerance": "gradient_tolerance", "required": "require", "every": "everything"}
"""The options whose values are arguments under other names."""

CHOICES = ("relative", "sort", "depth", "binary", "partials", "width", "blanks")
"""The choices of views that options of their names make."""


class Call:
    """The values of options by parameter, which are attributes too, and groups of them.

    A question's argument is the option of its name, or a property here.
    """

    program: options.Program
    answers: options.Answers
    saves: options.Saves
    numbers: options.Numbers
    rows: options.Rows
    loss: options.Loss
    dialect: Any
    """The group of options about files of data, or the dialect of SQL."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    @property
    def by_row(self) -> Call:
        """The call of a question about each row, where results are in products of the units of columns of data."""
        units = None if left_out(self.units) else self.units
        return Call({**self.values, "system": True, "units": units}) if self.rows.points else self

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["values"][name]
        except KeyError:
            raise AttributeError(name) from None

    def arguments(self, question: Callable[..., Any]) -> dict[str, Any]:
        """Return the keyword arguments of a question but for `wrt`, which a request may have; without those left out.

        Raises `ExpressionError` for a value that cannot be read.
        """
        code = cast(FunctionType, question).__code__
        parameters = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        arguments = {
            name: getattr(self, name) if hasattr(Call, name) else self.values.get(OPTIONS.get(name, name))
            for name in parameters
            if name != "wrt"
        }
        return {name: value for name, value in arguments.items() if value is not None}

    def read_columns(
        self,
        paths: Sequence[str],
        wanted: Callable[[Sequence[str]], Collection[str]],
        other: Collection[str],
        **how: Any,
    ) -> MeasuredColumns:
        """The columns of files, written as the options say; see `data.columns.read_columns`."""
        from ..data.columns import read_columns  # only files need it
        from ..data.text_dialects import UNFORCED, Forced

        group = self.values.get("dialect") or self.values.get("rows")
        columns = mapping(group.columns if isinstance(group, Rows) else self.values.get("columns"))
        forced = UNFORCED if group is None else Forced.of(group)
        skips = "answers" in self.values and self.answers.on_error == "skip"
        return read_columns(paths, wanted, forced, columns, other=other, skip=skips, **how)

    @property
    def choices(self) -> dict[str, Any]:
        """The choices of the view that options make."""
        return {name: value for name in CHOICES if (value := self.values.get(name)) is not None and value is not False}

    @property
    def arithmetic(self) -> Arithmetic:
        """The arithmetic of the options `--exact`, `--precision` and `--certified`."""
        return chosen(*self.values["numbers"])

    @property
    def over(self) -> LossSpec | None:
        """The loss over rows of data; on a command line it is the question's own."""
        return None

    @property
    def held(self) -> tuple[str, ...]:
        """The constants of nature, which no search moves."""
        return names(self.values["program"].constants, "--constants") or ()

    @property
    def unknowns(self) -> tuple[str, ...] | None:
        """The unknowns of equations, where they are named."""
        return names(self.values.get("unknowns"), "--for")

    @property
    def between(self) -> Mapping[str, Range] | Range | None:
        """The ranges that the unknowns are looked for in."""
        return parse_between(self.values.get("between") or (), value_with_unit)

    @property
    def bounds(self) -> Mapping[str, Range]:
        """The bounds of variables."""
        return self.ranges_of("bounds")

    @property
    def ranges(self) -> Mapping[str, Range]:
        """The ranges of a plot."""
        return self.ranges_of("range")

    def ranges_of(self, option: str) -> Mapping[str, Range]:
        """Return the ranges that an option gives, by name."""
        return parse_ranges(self.values.get(option) or (), value_with_unit)

    @property
    def direction(self) -> Mapping[str, float | str] | None:
        """The direction of a derivative."""
        typed = self.values.get("direction")
        return None if typed is None else cast(Mapping[str, float | str], default_point(typed))

    @property
    def adjoint(self) -> Mapping[str, float | str] | Sequence[float | str] | None:
        """The weights of the outputs."""
        weights = self.values.get("adjoint")
        return parse_weights(weights) if isinstance(weights, str) else weights
