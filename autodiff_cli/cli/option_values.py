"""The values of a command's options, from the command line or from Python, and the questions that
they are for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from types import FunctionType
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from ..capability import resolve
from ..questions.arithmetic import Arithmetic, arithmetic_of
from ..questions.optional_units import left_out
from ..questions.parse_point import (
    Range,
    merge,
    parse_between,
    parse_point,
    parse_ranges,
    parse_weights,
)
from ..show.numerals import rounding
from ..streams.requests import Request, default_point, mapping, names, value_with_unit
from .declarations import declared

if TYPE_CHECKING:
    from ..compiled.data_loss import LossSpec
    from ..questions.optional_units import MeasuredColumns

# A function from a request to its answer, which has `warnings`.
Method = Callable[..., Any]
# Arguments whose options have other names.
OPTIONS = {"tolerance": "gradient_tolerance", "required": "require", "every": "everything"}
SAME = (
    *(
        "relative",
        "sort",
        "value_only",
        "depth",
        "binary",
        "partials",
        "width",
        "blanks",
        "theme",
        "steps",
    ),
    *("title", "size", "legend", "apart"),
)
CHOICES = {name: name for name in SAME}
CHOICES |= {
    "lines": "steps",
    "layout": "way",
    "no_table": "table",
    "no_tree": "tree",
    "everything": "intermediates",
}
"""Choices of views that have them, by option."""
# The questions about a box of variables, `--over`, and their views.
BOX_QUESTIONS = {
    "grad": ("derivatives.ranges.gradient_ranges", "derivatives.ranges_view.GradientRangesView"),
    "check": (
        "check.digits_over_box.digits_over_box",
        "check.digits_over_box_view.DigitsOverBoxView",
    ),
}


class OptionValues:
    """The values of options: attributes, and arguments of questions."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    unicode = True
    """Whether the output may have characters outside ASCII."""
    format: str | None = None
    output: str | None = None

    def __init__(self, command: str, values: Mapping[str, Any]) -> None:
        self.command, self.values = command, dict(values)
        self.__dict__.update(
            {name: value for name, value in values.items() if not hasattr(type(self), name)}
        )

    @cached_property
    def paths(self) -> list[str]:
        """Return the paths of the command's question and view, and of its languages, if any."""
        return declared(self.command).facts["asks"].split()

    @property
    def question(self) -> Callable[..., Any]:
        """Return the command's question, a function of programs and points."""
        path = self.paths[0]
        if self.command == "diff" and self.unknowns:
            path = "solve.implicit_formulas.implicit_diff"
        elif self.values.get("box"):
            path = BOX_QUESTIONS[self.command][0]
        return resolve(path)  # type: ignore[no-any-return]

    @cached_property
    def view(self) -> Any:
        """Return the command's view, with its choices."""
        path = BOX_QUESTIONS[self.command][1] if self.values.get("box") else self.paths[1]
        return resolve(path)(**self.view_choices)

    def arguments(self, question: Callable[..., Any]) -> dict[str, Any]:
        """Return a question's given keyword arguments; requests have `wrt`."""
        code = cast(FunctionType, question).__code__
        parameters = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        arguments = {
            name: getattr(self, name)
            if hasattr(type(self), name)
            else self.values.get(OPTIONS.get(name, name))
            for name in parameters
            if name != "wrt"
        }
        return {name: value for name, value in arguments.items() if value is not None}

    def bind_question(self, question: Callable[..., Any] | None = None) -> Method:
        """Return a question, by default the command's, as a function of requests, with its
        arguments.
        """
        question = question or self.question
        arguments = self.arguments(question)

        def method(request: Request, **more: Any) -> Any:
            if "for" in request.more:
                more["unknowns"] = request.more["for"]
            return question(request.text, request.point, wrt=request.wrt, **{**arguments, **more})

        return method

    def question_method(self) -> Method:
        """Return the command's question as a function of requests, with the arguments of the
        call.
        """
        own = declared(self.command).facts.get("method")
        return self.bind_question() if own is None else resolve(own)(self)

    def read_columns(
        self,
        data: Any,
        wanted: Callable[[Sequence[str]], Collection[str]],
        other: Collection[str],
        **how: Any,
    ) -> MeasuredColumns:
        """Read columns as `data.columns.read_columns` does."""
        from ..data.columns import read_columns
        from ..data.text_dialects import UNFORCED, ForcedDialect

        columns = mapping(self.values.get("columns"))
        forced = ForcedDialect.group_options(self) if "separator" in self.values else UNFORCED
        skips = self.values.get("on_error") == "skip"
        return read_columns(data, wanted, forced, columns, other=other, skip=skips, **how)

    @property
    def view_choices(self) -> dict[str, Any]:
        digits, decimals = self.values.get("digits"), self.values.get("decimals")
        choices: dict[str, Any] = {
            "digits": digits if decimals is None else rounding(digits, decimals),
            "folded": self.values.get("lines") is None,
            "unknowns": bool(self.values.get("unknowns")),
            "unicode": self.unicode,
        }
        for name, choice in CHOICES.items():
            if (value := self.values.get(name)) is not None and value is not False:
                choices[choice] = not name.startswith("no_") and value
        return choices

    @property
    def arithmetic(self) -> Arithmetic:
        exact, certified = self.values.get("exact", False), self.values.get("certified", False)
        return arithmetic_of(exact, self.values.get("precision"), certified)

    @cached_property
    def over(self) -> LossSpec | None:
        """Return the loss over the rows of the data, if any."""
        data, how = self.values.get("data"), self.values.get("reduce")
        if data is None or how is None:
            return None
        from ..compiled.data_loss import LossSpec
        from ..data.columns import from_files, from_table
        from ..data.sources import sources
        from ..data.text_dialects import ForcedDialect

        self.require_program(only="`--data` is for one formula, not for a stream of them")
        paths = [data] if isinstance(data, str) else data
        if isinstance(paths, list | tuple) and all(isinstance(path, str) for path in paths):
            columns = from_files(
                sources(paths, ForcedDialect.group_options(self)), mapping(self.columns)
            )
        else:
            columns = from_table(data)
        return LossSpec(columns, how, self.on_error == "skip", self.backend)

    def require_program(self, only: str | None = None) -> None:
        """Check that there is one program; a call from Python has one."""

    def standard_input_for(self, option: str, path: str) -> BinaryIO | None:
        """Return standard input if it is asked for; Python has none."""
        return None

    @property
    def language(self) -> str:
        """Return the language of formulas or code, of those that the command declares."""
        from ..show.formats import language_of

        languages = resolve(self.paths[2])
        usual = next(iter(languages))
        return language_of(self.values.get("to"), self.format, self.output, languages, usual)

    @property
    def maximize(self) -> bool:
        return self.command == "maximize" or bool(self.values.get("maximize"))

    @property
    def path(self) -> Any:
        """Return the points of a run, read if they are in a file."""
        path = self.values["path"]
        if not isinstance(path, str):
            return path or ()
        return resolve("plot.contours.read_path")(path, self.standard_input_for("--path", path))

    @property
    def system(self) -> bool:
        """Return whether answers use products of the units of columns."""
        return bool(self.values.get("points"))

    @property
    def units(self) -> Sequence[str] | None:
        """Return the requested units; `none`, for rows, is not one."""
        units: Sequence[str] | None = self.values.get("units")
        return None if self.system and left_out(units) else units

    @property
    def held(self) -> tuple[str, ...]:
        """Return the constants of nature, which no search varies."""
        return names(self.values.get("constants"), "--constants") or ()

    @property
    def constant_texts(self) -> list[str]:
        """Return the constants of nature as texts of a point; only `propagate` has their
        uncertainties.
        """
        if not self.values.get("constants"):
            return []
        from ..engine.quantities.table import constant_texts

        return constant_texts(self.held, self.command == "propagate")

    @property
    def fixed(self) -> dict[str, float]:
        """Return the parameters that a fit holds, among them constants of nature."""
        texts = [*self.constant_texts, *(self.values.get("fix") or ())]
        return merge([parse_point(text, value_with_unit) for text in texts])

    @property
    def variables(self) -> tuple[str, ...] | None:
        """Return the variables to differentiate by; None for all."""
        return () if self.values.get("value_only") else names(self.values.get("wrt"))

    @property
    def unknowns(self) -> tuple[str, ...] | None:
        return names(self.values.get("unknowns"), "--for")

    @property
    def between(self) -> Mapping[str, Range] | Range | None:
        return parse_between(self.values.get("between") or (), value_with_unit)

    @property
    def ends(self) -> list[str] | None:
        """Return the ends of a definite integral, as typed."""
        typed = self.values.get("ends")
        return [typed] if isinstance(typed, str) else typed or None

    @property
    def bounds(self) -> Mapping[str, Range]:
        return parse_ranges(self.values.get("bounds") or (), value_with_unit)

    @property
    def box(self) -> Mapping[str, Range]:
        return parse_ranges(self.values.get("box") or (), value_with_unit)

    @property
    def ranges(self) -> Mapping[str, Range]:
        return parse_ranges(self.values.get("range") or (), value_with_unit)

    @property
    def direction(self) -> Mapping[str, float | str] | None:
        typed = self.values.get("direction")
        return None if typed is None else {**default_point(typed)}

    @property
    def adjoint(self) -> Mapping[str, float | str] | Sequence[float | str] | None:
        weights = self.values.get("adjoint")
        return parse_weights(weights) if isinstance(weights, str) else weights
