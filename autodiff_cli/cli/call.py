"""Calls: the options of a command, typed on a command line or given in Python, and what its question takes of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

from ..inputs.arithmetic import Arithmetic, chosen
from ..inputs.bounds import Range, parse_between, parse_ranges
from ..inputs.optional_units import left_out
from ..inputs.parse_point import parse_weights
from ..streams.requests import Request, default_point, mapping, names, value_with_unit
from ..views.numerals import rounding

if TYPE_CHECKING:
    from ..batched.data_loss import LossSpec
    from ..inputs.optional_units import MeasuredColumns

OPTIONS = {"tolerance": "gradient_tolerance", "required": "require", "every": "everything"}
"""The options whose values are arguments under other names."""

CHOICES = {name: name for name in ["relative", "sort", "depth", "binary", "partials", "width", "blanks", "theme"]}
CHOICES |= {"lines": "steps", "no_table": "table", "no_tree": "tree"}
"""The options that make choices of views, with these."""


class Call:
    """The values of options by parameter, which are attributes too.

    A question's argument is the option of its name, or a property here.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = dict(values)
        self.__dict__.update({name: value for name, value in values.items() if not hasattr(type(self), name)})

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

    def asking(self, question: Callable[..., Any], **own: Any) -> Callable[..., Any]:
        """Return the question as a function of requests, with the arguments of the options, and its own ones."""
        arguments = {**self.arguments(question), **own}

        def method(request: Request, **more: Any) -> Any:
            return question(request.text, request.point, wrt=request.wrt, **{**arguments, **more})

        return method

    def read_columns(
        self, data: Any, wanted: Callable[[Sequence[str]], Collection[str]], other: Collection[str], **how: Any
    ) -> MeasuredColumns:
        """Return the columns of files, written as the options say; see `data.columns.read_columns`."""
        from ..data.columns import read_columns  # only files need it
        from ..data.text_dialects import UNFORCED, Forced

        columns = mapping(self.values.get("columns"))
        forced = Forced.of(self) if "separator" in self.values else UNFORCED
        skips = self.values.get("on_error") == "skip"
        return read_columns(data, wanted, forced, columns, other=other, skip=skips, **how)

    @property
    def shown(self) -> dict[str, Any]:
        """The choices of the view that options make."""
        given = {name: x for name in CHOICES if (x := self.values.get(name)) is not None and x is not False}
        choices = {CHOICES[name]: not name.startswith("no_") and value for name, value in given.items()}
        return choices | {"digits": rounding(self.values.get("digits"), self.values.get("decimals"))}

    @property
    def arithmetic(self) -> Arithmetic:
        """The arithmetic of the options `--exact`, `--precision` and `--certified`."""
        exact, certified = self.values.get("exact", False), self.values.get("certified", False)
        return chosen(exact, self.values.get("precision"), certified)

    @cached_property
    def over(self) -> LossSpec | None:
        """The loss over rows of data; None without data."""
        return None

    @property
    def system(self) -> bool:
        """Whether answers are about rows, and in products of the units of the columns of data."""
        return bool(self.values.get("points"))

    @property
    def units(self) -> Sequence[str] | None:
        """The requested units of an answer, those of a row without `none`."""
        units: Sequence[str] | None = self.values.get("units")
        return None if self.system and left_out(units) else units

    @property
    def held(self) -> tuple[str, ...]:
        """The constants of nature, which no search moves."""
        return names(self.values.get("constants"), "--constants") or ()

    @property
    def variables(self) -> tuple[str, ...] | None:
        """The variables to differentiate by; None for all."""
        return names(self.values.get("wrt"))

    @property
    def unknowns(self) -> tuple[str, ...] | None:
        """The unknowns of equations, where they are named."""
        return names(self.values.get("unknowns"), "--for")

    @property
    def between(self) -> Mapping[str, Range] | Range | None:
        """The search ranges of the unknowns."""
        return parse_between(self.values.get("between") or (), value_with_unit)

    @property
    def bounds(self) -> Mapping[str, Range]:
        """The bounds of variables."""
        return parse_ranges(self.values.get("bounds") or (), value_with_unit)

    @property
    def ranges(self) -> Mapping[str, Range]:
        """The ranges of a plot."""
        return parse_ranges(self.values.get("range") or (), value_with_unit)

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
