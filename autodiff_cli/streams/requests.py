"""Requests: a program with its point, from the command line, a file, or a line of a stream.

A line of a stream is a program, or a program, a tab and its point (`x**2<TAB>x=3`), or a request
record, where only `expr` is required: `{"id": any value, "expr": "…", "at": {"x": 3, "y": "pi/4"},
"wrt": ["x"]}`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

from ..errors import ExpressionError, closest, limit_error, usage_error
from ..language.elements import split_names
from ..questions import decoding as reading
from ..questions import parse_point as points
from ..questions.parse_point import Lenient, PointFile, ValueOf, corrections, parse_point
from ..show.subject import Subject

READ_BYTES = 65536
KEYS = ("id", "expr", "at", "wrt")


class Request(NamedTuple):
    """A program to answer, or its error."""

    subject: Subject
    text: str
    point: Mapping[str, float]
    wrt: tuple[str, ...] | None
    error: ExpressionError | None = None
    more: Mapping[str, Any] = MappingProxyType({})
    """The values of this command's own keys."""


def value_with_unit(name: str, text: str, offset: int = 0) -> float:
    """Return the value of a name, perhaps with a unit."""
    from ..questions.quantities import quantity_value  # what is no plain number need not have one

    return quantity_value(name, text, offset)


class Reading(NamedTuple):
    """How a command reads the parts of a request."""

    value_of: ValueOf = value_with_unit
    """Reads values of points; by default constants, perhaps with a unit."""
    keys: Mapping[str, Callable[[Any], Any]] = MappingProxyType({})
    """Further keys, each with its reader, which may raise `ExpressionError`."""

    @property
    def lenient(self) -> Reading:
        """The reading that accepts an unambiguous correction."""
        return self._replace(value_of=Lenient(self.value_of))


AS_USUAL = Reading()


class Defaults(NamedTuple):
    """The defaults of the command line for every line of a stream."""

    point: Mapping[str, float]
    wrt: tuple[str, ...] | None
    reading: Reading = AS_USUAL


def stream(
    file: BinaryIO, defaults: Defaults, idle: Callable[[], None] | None = None
) -> Iterator[Request]:
    """Yield the requests of a stream; `idle` is called before waiting."""
    for number, data in enumerate(lines(file, idle), start=1):
        if data is None:
            message = f"the line is longer than {reading.MAX_BYTES:,} bytes"
            limit = limit_error(message, "use smaller programs")
            yield Request(Subject(None, number), "", {}, None, limit)
            continue
        text, error = reading.decode(data.removesuffix(b"\r"), first=number == 1)
        begin = text.lstrip()[:1]
        if not begin or begin == "#":
            continue
        if begin == "{":
            yield _record(text, number, defaults, error)
        else:
            yield _typed(text, number, defaults, error)


def lines(file: BinaryIO, idle: Callable[[], None] | None = None) -> Iterator[bytes | None]:
    """Yield the lines of a file without line ends; None, early, for one too long.

    `idle` is called before each read, which may block.
    """
    begun = bytearray()
    too_long = False
    while True:
        if idle:
            idle()
        data = file.read1(READ_BYTES)  # type: ignore[attr-defined]
        if not data:
            break
        *complete, rest = data.split(b"\n")
        if complete and begun:
            complete[0] = bytes(begun) + complete[0]
            begun.clear()
        for line in complete:
            if not too_long:
                yield None if len(line) > reading.MAX_BYTES else line
            too_long = False
        if not too_long:
            begun += rest
            if len(begun) > reading.MAX_BYTES:
                too_long = True
                begun.clear()
                yield None
    if begun:
        yield bytes(begun)


def _typed(text: str, number: int, defaults: Defaults, error: ExpressionError | None) -> Request:
    program, _, point = text.partition("\t")
    subject = Subject(program, number)
    shared, wrt, kind = defaults
    try:
        if error is not None:
            if error.span and error.span.start >= len(program):
                error.text = text
            raise error
        own = parse_point(point, kind.value_of) if point.strip() else {}
    except ExpressionError as fault:
        return Request(subject, program, {}, None, fault)
    if isinstance(kind.value_of, Lenient):
        subject = subject._replace(values=tuple(corrections(own)))
    return Request(subject, program, {**shared, **own} if shared else own, wrt)


def _record(text: str, number: int, defaults: Defaults, error: ExpressionError | None) -> Request:
    subject, (value_of, own_keys) = Subject(None, number), defaults.reading
    try:
        if error is not None:
            raise ExpressionError("request", str(error), error.span, error.hint)
        fields, problem = points.read_json(text)
        expr = fields.get("expr")
        program: str | None = expr if isinstance(expr, str) else None
        subject = Subject(program, number, fields.get("id"))
        if problem is not None:
            raise problem
        allowed = (*KEYS, *own_keys)
        for key in [key for key in fields if key not in allowed]:
            near = closest(key, allowed)
            hint = f"did you mean `{near}`?" if near else f"the keys are {', '.join(allowed)}"
            raise ExpressionError("request", f"a request has no key `{key}`", hint=hint)
        if program is None:
            wrong = "is not text" if "expr" in fields else "is missing"
            hint = 'write it as {"expr": "x**2", "at": {"x": 3}}'
            raise ExpressionError("request", f"the request's `expr` {wrong}", hint=hint)
        own = points.point_of_object(fields["at"], value_of) if fields.get("at") is not None else {}
        wrt = (
            names_of_object("wrt", fields["wrt"]) if fields.get("wrt") is not None else defaults.wrt
        )
        more = {
            key: read(fields[key]) for key, read in own_keys.items() if fields.get(key) is not None
        }
    except ExpressionError as fault:
        # spans are positions in the line, not in the program
        fault.text = text if fault.text is None else fault.text
        return Request(subject, "", {}, None, fault)
    if isinstance(value_of, Lenient):
        subject = subject._replace(values=tuple(corrections(own)))
    return Request(subject, program, {**defaults.point, **own}, wrt, None, more)


def names_of_object(key: str, value: object) -> tuple[str, ...]:
    """Return the names under a key of a request: a list of texts."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ExpressionError(
            "request", f"`{key}` is not a list of names", hint=f'write it as "{key}": ["x", "y"]'
        )
    return tuple(value)


unknowns_of_object = partial(names_of_object, "for")


def names(options: list[str] | None, option: str = "--wrt") -> tuple[str, ...] | None:
    """Return the names of an option, or None. Raises a usage error for an empty one."""
    if not options:
        return None
    listed = [name for text in options for name in split_names(text)]
    if not all(listed):
        raise usage_error(f"`{option}` needs names", f"write it as `{option} x` or `{option} x,y`")
    return tuple(dict.fromkeys(listed))


def mapping(options: Sequence[str] | None) -> dict[str, str]:
    """Return the columns of variables, by variable."""
    columns: dict[str, str] = {}
    # column names may contain commas
    for piece in (piece for option in options or () for piece in re.split(r",(?=[^,]*=)", option)):
        name, equals, column = (part.strip() for part in piece.partition("="))
        if not (name and equals and column):
            hint = "write it as `--columns x=temp`: the variable, then the column"
            raise usage_error(f"`--columns` cannot be `{piece.strip()}`", hint)
        if columns.get(name, column) != column:
            message = f"`--columns` gives `{name}` two columns, `{columns[name]}` and `{column}`"
            raise usage_error(message, "leave one of them out")
        columns[name] = column
    return columns


def default_point(options: list[str] | None, reading: Reading = AS_USUAL) -> dict[str, float]:
    """Return the point of `--at`: typed values win over files, later files over earlier."""
    options, value_of = points.once_read(options) or [], reading.value_of
    typed = [option for option in options if not isinstance(option, PointFile)]
    point = points.merge([parse_point(option, value_of) for option in typed])

    def read(name: str, text: str, offset: int = 0) -> float:
        from ..questions.sweeps import sweeping

        # a value that is not used may be a sweep
        return (sweeping(value_of) if name in point else value_of)(name, text, offset)

    for option in reversed(options):
        if isinstance(option, PointFile):
            point = option.point(read if point else value_of) | point
    return point


def read_program(path: str) -> tuple[str, ExpressionError | None]:
    """Return the program in a file, `-` for standard input, and its error or None."""
    return reading.read_text(path, standard_input() if path == "-" else None)


def standard_input() -> BinaryIO:
    """Return standard input in bytes; empty if closed."""
    if sys.stdin is None:
        raise ExpressionError(
            "io", "standard input is closed", hint="give the expression as an argument"
        )
    return sys.stdin.buffer


def waits_for_a_person() -> bool:
    """Return whether standard input is a terminal or missing."""
    return sys.stdin is None or sys.stdin.isatty()
