"""Check the arguments of Python calls, and convert them for questions.

A wrong type is a TypeError; a wrong value is an `ExpressionError`, as on the command line.
"""

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from itertools import count
from numbers import Integral, Real
from typing import Any

from ..capability import resolve
from ..cli.arguments import check, convert, listed, values_by_option
from ..cli.declarations import Option, declared
from ..cli.option_values import Method, OptionValues
from ..engine.table.primitive import FUNCTIONS
from ..errors import ExpressionError, point_error, usage_error
from ..language.elements import flatten
from ..language.parser import syntax_tree
from ..questions.approach import approach_value
from ..questions.arithmetic import DOUBLE, Arithmetic
from ..questions.figures import Figure
from ..questions.optional_units import (
    MeasuredColumns,
    is_of_pint,
    numbers_and_unit,
    units_in_headings,
    value_text,
)
from ..questions.parse_point import Lenient, ValueOf, constant_value, is_name, merge, split
from ..questions.problem import as_number, explained, parse, written_number
from ..show.subject import Subject
from ..streams.requests import Reading, Request, default_point, value_with_unit
from .keywords import keywords_of, options_of

# A point: numbers or constant expressions by name, or text as for `--at`.
At = Mapping[str, Any] | str | None
# Data: columns by name, a frame, an Arrow table, or paths of files.
Table = Any
Names = Sequence[str] | str | None
# Ranges: two ends by name, None if open, or text as for `--range`.
Ranges = Mapping[str, tuple[float | str | None, float | str | None]] | str | Sequence[str] | None
MANY_POINTS_HINT = (
    "for many points call it in a loop, use `autodiff grad --points FILE`, or write code with"
    " `export(…, to='numpy')`"
)


def convert_arguments(
    types: Mapping[str, str], values: Mapping[str, Any], command: str
) -> dict[str, Any]:
    """Convert the arguments of a call to the types of their parameters.

    Raises TypeError for a wrong type, and `ExpressionError` for a wrong value.
    """
    options = options_of(command)
    arguments = {}
    for name, value in values.items():
        kind = types[name]
        reader = _OWN_READERS.get(name) or _READERS[kind]
        left_out = value is None and kind not in ("str", "Collection[str]")
        arguments[name] = (
            value if left_out or reader is None else reader(name, value, options.get(name))
        )
    return arguments


# The commands whose questions ask meanwhile whether they shall stop.
SEARCHES = ("minimize", "maximize", "fit", "solve", "propagate")


class PythonCall(OptionValues):
    """The arguments of a call from Python."""

    def question_method(self) -> Method:
        method = super().question_method()
        if self.command not in SEARCHES or "IPython" not in sys.modules:
            return method
        from ..streams.progress import Progress  # most programs are in no notebook

        def watched(request: Request, **more: Any) -> Any:
            steps = count(1)
            with closing(Progress("evaluations")) as progress:

                def stop() -> bool:
                    progress.step(next(steps))
                    return False

                return method(request, stop=stop, **more)

        return watched

    def ask(self) -> Any:
        """Return the answer to the question of the command."""
        return self.question_method()(self.request)

    def __init__(self, command: str, values: Mapping[str, Any]) -> None:
        """Convert the options. Raises `ExpressionError` if they conflict."""
        options = {
            name: option
            for name, option in options_of(command).items()
            if name in keywords_of(command)
        }
        own = {
            options[name].parameter if name in options else name: value
            for name, value in values.items()
        }
        typed = {name: x for name, x in own.items() if x is not None and x is not False}
        check(
            {option.name: option for option in options.values()},
            values_by_option(declared(command), typed),
        )
        super().__init__(command, {**declared(command).defaults, **own, "expr": values.get("text")})

    def read_columns(
        self,
        data: Any,
        wanted: Callable[[Sequence[str]], Collection[str]],
        other: Collection[str],
        **how: Any,
    ) -> MeasuredColumns:
        if isinstance(data, str):
            return super().read_columns([data], wanted, other, **how)
        return measured_columns(data, other, wanted)

    @property
    def request(self) -> Request:
        constants = () if self.command == "fit" else self.constant_texts
        point = self._point_with(constants, self.values.get("at"))
        return Request(Subject(self.text), self.text, point, self.variables)

    @property
    def fixed(self) -> dict[str, Any]:
        return self._point_with(self.constant_texts, self.values["fix"])

    def _point_with(self, constants: Sequence[str], at: At) -> dict[str, Any]:
        value_of = value_reader(self.command)
        point: dict[str, Any] = {**point_of(at, self.arithmetic, value_of)}
        held = default_point([*constants], Reading(value_of))
        for name in [name for name in held if name in point]:
            value = typed_value(name, point[name])
            merge(
                [
                    {name: held[name]},
                    {name: value_of(name, value, 0) if isinstance(value, str) else value},
                ]
            )
        return {**held, **point, **held}

    @property
    def direction(self) -> Mapping[str, float | str] | None:
        direction = self.values.get("direction")
        if direction is None:
            return None
        return {
            name: typed_value(name, x) for name, x in point_of(direction, self.arithmetic).items()
        }


def value_reader(command: str) -> ValueOf:
    """Return the reader of values in a command's points."""
    if command == "limit":
        return approach_value
    if command != "propagate":
        return value_with_unit
    from ..questions.measured_units import measured_value

    return measured_value


def _wrong(name: str, wanted: str, value: object) -> TypeError:
    return TypeError(f"`{name}` is {wanted}, not {kind_of(value)}")


def _text(name: str, value: Any, option: Option | None) -> Any:
    if isinstance(value, str):
        return convert(option, value) if option is not None and option.choices else value
    raise (
        TypeError(f"a program is text, not {value!r}")
        if name == "text"
        else _wrong(name, "text", value)
    )


def _flag(name: str, value: Any, option: object) -> bool:
    if (
        isinstance(value, bool)
        or type(value).__name__ in ("bool", "bool_")
        or (type(value) is int and value in (0, 1))
    ):
        return bool(value)
    raise _wrong(name, "True or False", value)


def _number(name: str, value: Any, option: Option | None) -> Any:
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if not (isinstance(value, Real | str) or type(value).__name__ == "Decimal"):
        raise _wrong(name, "a number", value)
    assert option is not None
    try:
        text = str(value) if isinstance(value, Integral | str) else repr(float(value))
    except OverflowError:
        text = "inf"
    return convert(option, text.removesuffix(".0"))


def _text_or_numbers(name: str, value: Any, option: object) -> Any:
    if isinstance(value, Mapping):
        return {
            str(key): _text_or_numbers(f"{name}[{key!r}]", item, option)
            for key, item in value.items()
        }
    return (
        value_text(name, value)
        if isinstance(value, str) or is_of_pint(value)
        else as_number(value, name)
    )


def _words(name: str, value: Any, option: object) -> Any:
    if isinstance(value, bool) and name == "keep":
        return value
    if isinstance(value, str):
        return [value]
    if isinstance(value, bytes | bytearray) or not isinstance(value, Iterable):
        raise _wrong(name, "text, or a list of texts", value)
    elements = list(value)
    for element in [element for element in elements if not isinstance(element, str)]:
        raise TypeError(f"`{name}` is text, or a list of texts, not one of {kind_of(element)}")
    return elements


def _choices(name: str, value: Any, option: Option | None) -> Any:
    assert option is not None
    return [choice for text in _words(name, value, option) for choice in listed(option, text)]


def _ends(name: str, value: Any, option: object) -> Any:
    if not isinstance(value, Mapping) and not (isinstance(value, tuple) and name == "between"):
        return _words(name, value, option)
    texts = []
    for label, pair in value.items() if isinstance(value, Mapping) else [("", value)]:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise point_error("a range has two ends", 'write it as {"x": (-2, 4)} or as "x=-2:4"')
        low, high = ("" if x is None else value_text(label or "x", x) for x in pair)
        _check_names([label or "x"])
        for end in (low, high):
            _check_single({label or "x": end})
        texts.append(f"{label}{'=' * bool(label)}{low}:{high}")
    return texts


def _values(name: str, value: Any, option: object) -> Any:
    if not isinstance(value, str | Mapping):
        raise _wrong(name, "text, or numbers by name", value)
    if isinstance(value, Mapping):
        _check_names(value)
        _check_single(value)
    return value


def _check_names(names: Iterable[str]) -> None:
    for name in [name for name in names if not is_name(str(name))]:
        raise point_error(f"{name!r} is not a name", 'write it as {"x": 3}')


def _check_single(values: Mapping[str, Any]) -> None:
    for name, x in values.items():
        if isinstance(x, str) and len(split(x)) > 1:
            raise point_error(
                f"`{name}` needs one value, not `{x}`", "give each name its own value"
            )


def _texts(name: str, value: Any, option: object) -> list[str]:
    if isinstance(value, str) and not value.startswith("@"):
        return [value]
    if not isinstance(value, Mapping):
        point = point_of(_values(name, value, option), value_of=constant_value)
        return [f"{label}={value_text(label, x)}" for label, x in point.items()]
    texts = []
    for key, x in value.items():
        pair = key if isinstance(key, tuple) else str(key).split(":")
        label = ":".join(map(str, pair))
        _check_names(pair)
        # a pair of names has no list
        entries = {label: x} if len(pair) > 1 else point_of({label: x})
        _check_single(entries)
        texts += [f"{entry}={value_text(entry, number)}" for entry, number in entries.items()]
    return texts


def _fit(name: str, value: Any, option: object) -> Any:
    if isinstance(value, str):
        return value
    from .. import show as views

    if isinstance(value, resolve("optimize.fit.Fit")):
        return resolve("propagate.propagate.estimates_of_fit")(views.record(value))
    raise TypeError(f"`fit` is an answer of `fit`, or the name of a file, not {kind_of(value)}")


def _covariance(name: str, value: Any, option: object) -> Any:
    if isinstance(value, str):
        return value
    return resolve("propagate.covariance_matrix.covariance_of_object")(value)


def _predict(name: str, value: Any, option: object) -> Any:
    return [value] if isinstance(value, str) else measured_columns(value)


def _weights(name: str, value: Any, option: object) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {label: typed_value(label, x) for label, x in value.items()}
    if isinstance(value, bytes) or not isinstance(value, Iterable):
        raise _wrong(name, "text, numbers by name, or a list of numbers", value)
    return [typed_value(f"number {k}", x) for k, x in enumerate(value, start=1)]


def _columns(name: str, value: Any, option: object) -> Any:
    if isinstance(value, Mapping) and all(
        isinstance(x, str) for pair in value.items() for x in pair
    ):
        return value
    raise _wrong(name, "names of columns, by variable", value)


def _path(name: str, value: Any, option: object) -> Any:
    if isinstance(value, str):
        return value
    rows = [*value] if isinstance(value, Iterable) and not isinstance(value, Mapping) else [value]
    points = [getattr(row, "point", row) for row in rows]
    for point in [point for point in points if not isinstance(point, Mapping)]:
        raise _wrong(name, "the name of a file, or points", point)
    return [{label: as_number(x, label) for label, x in point.items()} for point in points]


# Readers of arguments by type; None if the function reads it itself.
_READERS: dict[str, Callable[[str, Any, Any], Any] | None] = {
    **dict.fromkeys(("At", "Table", "Value | Iterable[Value]")), "Fit | str | None": _fit, "Any | None": _covariance,
    "str": _text, "str | None": _text, "bool": _flag, "int | None": _number, "float | None": _number,
    "str | float | Mapping[str, str | float] | None": _text_or_numbers,
    **dict.fromkeys(("Sequence[str] | str | bool", "Names", "Collection[str]", "str | Sequence[str] | None"), _words),
    "Ranges": _ends, "Ranges | tuple[float, float]": _ends,
    "Mapping[Any, float] | str | None": _texts, "Mapping[str, float] | str | None": _texts,
    "Mapping[str, str] | None": _columns, "Mapping[str, Any] | Sequence[float | str] | str | None": _weights,
    "str | Iterable[Mapping[str, float] | DescentStep] | None": _path,
}  # fmt: skip
# Readers of arguments by name, before those by type.
_OWN_READERS = {"fix": _values, "predict": _predict, "topic": _choices}


def kind_of(value: object) -> str:
    """Describe a value in words: `an array of shape (2,)`."""
    shape = getattr(value, "shape", None)
    kind = type(value).__name__
    return (
        f"an array of shape {tuple(shape)}"
        if shape
        else f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"
    )


def as_meant(at: At, value_of: ValueOf) -> dict[str, Any]:
    """Return the point with texts read leniently; empty if it is no point."""
    read = Lenient(value_of)
    if isinstance(at, str):
        return {**default_point([at], Reading(read))}
    if not isinstance(at, Mapping):
        return {}
    return {
        name: read(name, value) if isinstance(value, str) else value for name, value in at.items()
    }


def point_of(
    at: At, arithmetic: Arithmetic = DOUBLE, value_of: ValueOf = value_with_unit
) -> dict[str, float | str]:
    """Return the point; except in doubles, numbers are decimals as written."""
    if at is None:
        return {}
    if isinstance(at, str):
        return {**default_point([at], Reading(value_of))}
    if not isinstance(at, Mapping):
        raise point_error(
            f"a point has a number for each name, and this is {kind_of(at)}",
            f'write it as {{"x": 3}} or as "x=3"; {MANY_POINTS_HINT}',
        )
    for name, value in at.items():
        if not isinstance(name, str):
            raise point_error(f"{name!r} is not a name", 'write it as {"x": 3}')
        if getattr(value, "shape", ()) != () or (
            isinstance(value, (list, tuple)) and type(value) is not Figure
        ):
            entries = flatten(name, value)
            if isinstance(entries, str):
                raise point_error(
                    f"`{name}` needs a number or a list of numbers, not {kind_of(value)}:"
                    f" {entries}",
                    MANY_POINTS_HINT,
                )
            for entry in [
                entry for entry in entries if entry in at and at[entry] != entries[entry]
            ]:
                raise usage_error(f"`{entry}` is given two values", "leave one of them out")
            at = {**at, **entries}
            del at[name]
    if arithmetic == DOUBLE:
        return dict(at)
    return {name: typed_value(name, value) for name, value in at.items()}


def has_lists(text: object, at: Any) -> bool:
    """Return whether sequences are lists of the program, not columns of rows."""
    if not isinstance(text, str) or not isinstance(at, Mapping):
        return False
    if any(len(getattr(value, "shape", ())) == 2 for value in at.values()):
        return True
    try:
        if not sums_a_list(text):
            parse(text, [*at])
            return False
    except ExpressionError as error:
        if error.kind != "type":
            return False
    try:
        parse(text, point_of(at))
        return True
    except ExpressionError as error:
        if error.kind in ("limit", "usage"):
            raise
        return False


def sums_a_list(text: str) -> bool:
    """Return whether a program has a sum, or another function of many numbers, with one argument: a
    list.
    """
    if not any(name in text for name in AGGREGATES):
        return False
    tree = explained(text, lambda: syntax_tree(text))
    return any(
        node.kind == "call" and node.value in AGGREGATES and len(node.parts) == 1
        for node in tree.walk()
    )


AGGREGATES = frozenset(name for name, primitive in FUNCTIONS.items() if primitive.variadic)


def typed_value(name: str, value: Any) -> Any:
    """Return a number with its exact or shortest text; a text, and a value of pint with its unit,
    as text.
    """
    return (
        value_text(name, value)
        if isinstance(value, str) or is_of_pint(value)
        else written_number(name, value)
    )


def measured_columns(
    data: Any,
    other: Collection[str] = (),
    wanted: Callable[[Sequence[str]], Collection[str]] | None = None,
) -> MeasuredColumns:
    """Return the `wanted` columns of a table, all by default, and units of headings; `other` names
    are known.

    Raises `ExpressionError` if their lengths differ.
    """
    from ..compiled.columns_io import common_length, mapped_columns
    from ..data.columns import named_columns

    theirs = {str(name): name for name in named_columns(data)}
    used = mapped_columns({}, list(theirs), other)
    if wanted is not None:
        used = {name: used[name] for name in wanted(list(used))}
    columns, units = {}, {}
    for heading in used.values():
        column, units[heading] = numbers_and_unit(data[theirs[heading]])
        column = column.to_pylist() if hasattr(column, "to_pylist") else column
        if (
            isinstance(column, str | bytes)
            or not isinstance(column, Iterable)
            or getattr(column, "ndim", 1) == 0
        ):
            raise point_error(
                f"column `{heading}` is {kind_of(column)}", "give a sequence of numbers"
            )
        columns[heading] = list(column)
    common_length(columns)
    measured = MeasuredColumns()
    measured.update(
        {
            name: [written_number(name, x) for x in columns[heading]]
            for name, heading in used.items()
        }
    )
    measured.units = units_in_headings(used, units)
    return measured
