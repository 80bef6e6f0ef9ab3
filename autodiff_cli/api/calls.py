"""Python functions of commands: their parameters come from the declarations, their answers from the
questions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

from ..capability import resolve
from ..cli.commands import CHECKS, name_the_variable
from ..cli.declarations import declared
from ..data.frames import QUESTIONS, is_frame
from ..engine.numbers.budget import use_budget
from ..errors import ExpressionError
from ..questions.parse_point import corrections, may_sweep, once_read
from .api_answers import as_answer
from .api_arguments import At, PythonCall, as_meant, convert_arguments, value_reader
from .keywords import keywords_of
from .tracebacks import explained, in_python

R = TypeVar("R")
# What else a function returns that marks an `answer`.
MARKED = " | Marked"
# For type checkers: the answer, and the types of arguments that it comes of; None for one that is
# not there.
Overloads = Sequence[tuple[str, Mapping[str, str | None]]]


class FunctionParameter(NamedTuple):
    """A parameter of a function."""

    name: str
    type: str
    default: str | None
    """Its default as Python writes it; None if the argument is required."""
    positional: bool


class Declared(NamedTuple):
    """What a type checker has to know of a function."""

    parameters: Sequence[FunctionParameter]
    ways: Overloads


# The functions of commands in the modules that are loaded.
FUNCTIONS: dict[str, Declared] = {}


@contextmanager
def converted(function: Callable[..., Any], command: str, **values: Any) -> Iterator[Any]:
    """Yield the arguments of a function, converted to its types by the options of a command;
    explain errors.
    """
    with explained(values.get("text"), command):
        yield SimpleNamespace(**convert_arguments(function.__annotations__, values, command))


def answers(
    command: str, *placed: str, overloads: Overloads = ()
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Return a decorator that makes a function of a call the Python function of a command.

    Options in `placed` may be positional.
    """

    def made(function: Callable[..., R]) -> Callable[..., R]:
        answer_type = function.__annotations__["return"]
        if command in CHECKS and not answer_type.endswith(MARKED):
            function.__annotations__["return"] = answer_type + MARKED
        parameters = _parameters(command, placed)
        FUNCTIONS[function.__name__] = Declared(parameters, _ways(command, answer_type, overloads))
        question = Question(command, function, parameters)
        return _function(function, parameters, question.answer)

    return made


def _parameters(command: str, placed: Sequence[str]) -> list[FunctionParameter]:
    keywords = keywords_of(command)
    first = {"text": "str"} if "expr" in declared(command).defaults else {}
    first |= {
        name: keywords.get(name, "str | None") for name in placed or ("at",) * ("at" in keywords)
    }

    def default(name: str, kind: str) -> str | None:
        return None if name == "text" else "False" if kind == "bool" else "None"

    types = {**first, **keywords}
    return [
        FunctionParameter(name, kind, default(name, kind), name in first)
        for name, kind in types.items()
    ]


def _ways(command: str, answer_type: str, overloads: Overloads) -> Overloads:
    marks = command in CHECKS
    ways = [*overloads] or [(answer_type.removesuffix(MARKED), {"answer": None} if marks else {})]
    ways += [("Marked", {"answer": "str"})] * marks
    return [*ways, *[("Any", {"at": "Any"})] * (command in QUESTIONS)]


def _function(
    function: Callable[..., Any],
    parameters: Sequence[FunctionParameter],
    answer: Callable[[dict[str, Any]], Any],
) -> Callable[..., Any]:
    """Return a function with these parameters, in the module and with the name and docstring of
    another one.

    It is compiled of the declarations, whose names a test holds to plain ones; no text of a call is
    in it. Python then checks the arguments and knows the signature, and `inspect` is not needed,
    which takes longer to import than a gradient to compute.
    """
    texts = [_declaration(parameter) for parameter in parameters]
    if not all(parameter.positional for parameter in parameters):
        texts.insert(sum(parameter.positional for parameter in parameters), "*")
    values = ", ".join([f"{parameter.name!r}: {parameter.name}" for parameter in parameters])
    source = (
        f"def make(_answer):\n def {function.__name__}({', '.join(texts)}):\n  return"
        f" _answer({{{values}}})\n"
    )
    namespace: dict[str, Any] = {}
    module = vars(sys.modules[function.__module__])
    exec(f"{source} return {function.__name__}", module, namespace)  # noqa: S102
    made: Callable[..., Any] = namespace["make"](answer)
    made.__qualname__, made.__doc__ = function.__name__, function.__doc__
    made.__annotations__ = {parameter.name: parameter.type for parameter in parameters}
    made.__annotations__["return"] = function.__annotations__["return"]
    return made


def texts_of(at: At) -> list[str] | None:
    """Return the texts of a point, files among them read; None if it has none."""
    if isinstance(at, str):
        return once_read([at])
    return [x for x in at.values() if isinstance(x, str)] if isinstance(at, Mapping) else None


def _declaration(parameter: FunctionParameter) -> str:
    return parameter.name if parameter.default is None else f"{parameter.name}={parameter.default}"


def _name_lists(answer: Any, at: Any) -> None:
    """Let the derivatives by the entries of a list be had by its name."""
    found = getattr(answer, "gradient", None)
    if type(found) is dict and any(name.endswith("]") for name in found):
        from .by_entry import ByEntry  # most points have no lists

        answer.__dict__["gradient"] = by_entry = ByEntry(found)
        by_entry.known = getattr(answer, "point", {})
        typed = at if isinstance(at, Mapping) else {}
        by_entry.arrays = frozenset([name for name, x in typed.items() if hasattr(x, "dtype")])


class Question:
    """What a Python function of a command does with its arguments."""

    def __init__(
        self, command: str, function: Callable[..., Any], parameters: Sequence[FunctionParameter]
    ) -> None:
        self.command, self.function = command, function
        self.types = {parameter.name: parameter.type for parameter in parameters}
        # Whether the command marks an `answer`.
        self.marks = command in CHECKS
        self.value_of = value_reader(command)

    def answer(self, values: Mapping[str, Any]) -> Any:
        """Return the answer to a call with these arguments."""
        text = values.get("text")
        # None is left out: the option has its own default
        given = {
            name: value for name, value in values.items() if value is not None or name == "text"
        }
        with explained(text, self.command):
            arguments = convert_arguments(self.types, given, self.command)
            if text is not None:
                name_the_variable(arguments, text)
            with use_budget(arguments.get("work") or 1, length=len(text or "")):
                return self._answer_where(arguments, text)

    def _answer_where(self, values: dict[str, Any], text: Any) -> Any:
        """Return the answer at the point, or the answers at many."""
        at, zipped = values.get("at"), values.pop("zip", False)
        texts = texts_of(at)
        sweeps = "zip" in self.types and (zipped or may_sweep(texts))
        if sweeps or (self.command in QUESTIONS and is_frame(at)):
            from .many_points import answers_at, point_grid  # most calls have one point

            grid = point_grid(text, at, texts, self.value_of, zipped) if sweeps else None
            many = answers_at(self.command, self.asked, values, grid)
            if many is not None:
                return many
        return self._answer_at(values, text)

    def _answer_at(self, values: dict[str, Any], text: Any) -> Any:
        if values.get("lenient"):
            from ..language.diagnostics.leniency import read_leniently

            point = as_meant(values.get("at"), self.value_of)
            values = {**values, "at": point} if point else values
            result, reading = read_leniently(
                text, lambda read: self.asked({**values, "text": read})
            )
            result.__dict__.update(_reading=reading, _values=tuple(corrections(point)))
        else:
            result = self._asked_strictly(values, text)
        result.__dict__["_typed"] = text
        _name_lists(result, values.get("at"))
        if warnings := getattr(result, "warnings", ()):
            result.__dict__["warnings"] = tuple(
                [in_python(warning, self.command) for warning in warnings]
            )
        return result

    def _asked_strictly(self, values: Mapping[str, Any], text: Any) -> Any:
        try:
            return self.asked(values)
        except ExpressionError as error:
            if error.offers and isinstance(text, str):
                from ..cli.strict_reading import advise_leniency  # only an error needs it

                names: list[str] = []
                with suppress(ExpressionError):
                    names = [*as_meant(values.get("at"), self.value_of)]
                advise_leniency(error, text, names)
            raise

    def asked(self, values: Mapping[str, Any]) -> Any:
        """Return the answer at one point, to a program as it is written."""
        call = PythonCall(self.command, values)
        if self.marks and call.answer is not None:
            return as_answer(call.bind_question(resolve(CHECKS[self.command]))(call.request))
        return as_answer(self.function(call), **call.view_choices)
