"""Parsing of points and ranges: `x=-2,y=pi/4`, `x=0:1`, JSON files and objects."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

from ..errors import ExpressionError, Span, errors_about, usage_error
from ..language.elements import flatten
from ..language.tokens import is_name as is_name
from ..language.tokens import plain_number
from .decoding import read_text
from .problem import Quantity as Quantity
from .problem import Typed as Typed
from .problem import evaluate_constant, number_or_quantity
from .problem import with_text as with_text

# A file of values, followed by typed values.
_FILE_AND_VALUES = r"(?s)(@.*?),\s*([^\W\d]\w*(?:\[[\d,]*\])?\s*=.*)"

RANGE_EXAMPLE = "write it as `x=-2:4`, or `x=0:1,y=0:2`"
# Reads a value from its name, its text, and the text's offset in a longer one.
ValueOf = Callable[[str, str, int], float]


def parse_point(text: str, value_of: ValueOf | None = None) -> dict[str, float]:
    """Return a point such as `x=-2,y=pi/4`, with values read by `value_of`. Raises
    `ExpressionError`.
    """
    point = _plain_point(text)
    if point is not None:
        return point
    point = {}
    with errors_about(text, always=True):
        parts: Iterable[tuple[int, int]] = pieces(text)
        if isinstance(value_of, Lenient):
            from ..language.diagnostics.points import join_digits

            parts = join_digits(text, parts)
        for start, end in parts:
            for name, value in _assignment(text, start, end, value_of or constant_value):
                _add(point, name, value, Span(start, end))
    return point


def _plain_point(text: str) -> dict[str, float] | None:
    point: dict[str, float] = {}
    try:
        for piece in text.split(","):
            name, _, number = piece.partition("=")
            # malformed numbers of these characters are left to `float`
            if (
                name in point
                or not is_name(name)
                or (number.strip("-.0123456789") and not plain_number(number))
            ):
                return None
            point[name] = value = Typed(number)
            value.source = number
    except ValueError:
        return None
    total = sum(point.values())
    return point if total - total == 0.0 else None


def top_level(text: str, char: str) -> list[int]:
    """Return the places of a character outside of brackets and braces."""
    depth, places = 0, []
    for k, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == char and depth <= 0:
            places.append(k)
    return places


def pieces(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the parts between commas outside of brackets, stripped."""
    for comma, end in pairwise([-1, *top_level(text, ","), len(text)]):
        piece = text[comma + 1 : end]
        start = end - len(piece.lstrip())
        yield start, max(start, comma + 1 + len(piece.rstrip()))


def split(text: str) -> list[str]:
    """Return the parts of a list between commas outside of brackets."""
    return [text[start:end] for start, end in pieces(text)]


def parse_weights(text: str) -> dict[str, float] | list[float]:
    """Return the weights of the outputs, by name or in order."""
    if "=" in text:
        return parse_point(text)
    return [constant_value(f"number {k}", piece) for k, piece in enumerate(split(text), start=1)]


def _assignment(text: str, start: int, end: int, value_of: ValueOf) -> Iterator[tuple[str, float]]:
    name, equals, value = text[start:end].partition("=")
    bare = name.rstrip()
    if not equals or not is_name(bare) or not value.strip() or "=" in value:
        from ..language.diagnostics.points import wrong_part

        bad_part = wrong_part(text, start, end)
        if bad_part is not None:
            fail(*bad_part)
    begin = start + len(name) + 1
    if not value.lstrip().startswith("["):
        yield bare, value_of(bare, value, begin)
        return
    for entry, place in _entries(bare, _list_of(text, begin, end), Span(begin, end)).items():
        yield entry, value_of(entry, text[place.start : place.stop], place.start)


def _list_of(text: str, start: int, end: int) -> Any:
    start, end = end - len(text[start:end].lstrip()), start + len(text[start:end].rstrip())
    if text[start : start + 1] != "[":
        return slice(start, end)
    if text[end - 1] != "]" or "=" in text[start:end]:
        fail(
            "this list has no end",
            Span(start, end),
            "write it as `[1, 2, 3]` or `[[1, 2], [3, 4]]`",
        )
    inside = text[start + 1 : end - 1]
    rows = [row.strip() for row in inside.split(";") if row.strip()]
    if len(rows) > 1:
        rows = [
            ",".join(row.split()) if all(map(plain_number, row.split())) else row for row in rows
        ]
        written = (
            "[[1,2],[3,4]]" if "[" in inside else f"[{','.join([f'[{row}]' for row in rows])}]"
        )
        fail(
            "the rows of a list are lists, with commas between them",
            Span(start, end),
            f"write `{written}`",
        )
    spans = pieces(inside) if inside.strip() else ()
    return [_list_of(text, start + 1 + first, start + 1 + last) for first, last in spans]


def _entries(name: str, value: object, span: Span | None = None) -> dict[str, Any]:
    entries = flatten(name, value)
    if isinstance(entries, str):
        hint = "write it as [1, 2, 3] or [[1, 2], [3, 4]]"
        fail(f"the value of `{name}` is not a list of numbers: {entries}", span, hint)
    return entries


def constant_value(name: str, text: str, offset: int = 0) -> float:
    """Return the value of a constant expression at `offset` in a longer text."""
    try:
        return with_text(evaluate_constant(text), text)
    except ExpressionError as error:
        from ..language.diagnostics.points import of_many_values, without_unit

        span = error.span
        moved = (
            Span(span.start + offset, span.end + offset)
            if span
            else Span(offset, offset + len(text))
        )
        unit = without_unit(text)
        hint = error.hint or "give a number, or an expression of numbers such as `pi/4`"
        what = f"cannot be used: {error}"
        if unit is not None:
            what, hint = unit
        what = f"the value of `{name}` {what}"
        many = of_many_values(name, text)
        if many is not None:
            what, hint, moved = *many, Span(offset, offset + len(text))
        offers = tuple(
            [
                offer._replace(start=offer.start + offset, end=offer.end + offset)
                for offer in error.offers
            ]
        )
        wrapped = ExpressionError("point", what, moved, hint, offers=offers)
        wrapped.text = text
        raise wrapped from None


class Lenient:
    """Reads values, and accepts the only suggestion of an error: `x=½`, `x=2 pi`."""

    def __init__(self, value_of: ValueOf) -> None:
        self.value_of = value_of

    def __call__(self, name: str, text: str, offset: int = 0) -> float:
        """Return the value; see `ValueOf`."""
        from ..language.diagnostics.leniency import read_leniently

        def read(part: str) -> float:
            with errors_about(None, always=True):  # the place is in the text that is asked about
                return self.value_of(name, part, 0)

        try:
            value, reading = read_leniently(text, read)
        except ExpressionError:
            return self.value_of(name, text, offset)
        if reading is not None and isinstance(value, Typed):
            value.as_read = reading.text
        return value


def corrections(point: Mapping[str, float]) -> list[str]:
    """Return notes on values that were read in corrected form."""
    readings = {name: getattr(value, "as_read", None) for name, value in point.items()}
    return [f"{name} = {text.strip()}" for name, text in readings.items() if text is not None]


def point_of_object(value: object, value_of: ValueOf | None = None) -> dict[str, float]:
    """Return the point in a JSON object of numbers and texts."""
    if not isinstance(value, Mapping):
        fail("a point is an object of names and values", None, 'write it as {"x": 3, "y": "pi/4"}')
    point: dict[str, float] = {}
    for name, entry in value.items():
        if not is_name(name):
            fail(f"`{name}` is not a name", None, "names begin with a letter or `_`")
        if isinstance(entry, list | tuple):
            entries = _entries(name, entry)
            point |= {label: value_of_object(label, x, value_of) for label, x in entries.items()}
        else:
            point[name] = value_of_object(name, entry, value_of)
    return point


def value_of_object(name: str, entry: object, value_of: ValueOf | None = None) -> float:
    """Return the value of a number, or of a text by `value_of`."""
    if type(entry) is Typed and entry - entry == 0.0:
        return entry
    if isinstance(entry, str):
        return (value_of or constant_value)(name, entry, 0)
    if isinstance(entry, bool) or not isinstance(entry, (int, float)):
        fail(
            f"the value of `{name}` is neither a number nor text",
            None,
            'write it as 3 or as "pi/4"',
        )
    try:
        number = entry if isinstance(entry, Typed) else with_text(float(entry), str(entry))
    except OverflowError:
        number = with_text(math.inf, "")
    if not math.isfinite(number):
        fail(
            f"the value of `{name}` is not a finite number",
            None,
            "give a number that double precision can hold",
        )
    return number


class Range(NamedTuple):
    """The numbers from `low` to `high`; None is an open side."""

    low: float | None
    high: float | None

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends as numbers; infinite if open."""
        return (
            -math.inf if self.low is None else self.low,
            math.inf if self.high is None else self.high,
        )

    def check_start(self, name: str, start: float | str) -> None:
        """Raise a usage error if a start is out of range."""
        low, high = self.ends
        x = number_or_quantity(start, name)
        if not low <= x <= high:
            text = f"{x:g}" if type(x) is not Quantity else f"{x.number:g} {x.unit}"
            raise usage_error(
                f"the start `{name}={text}` is outside its bounds", "start within the bounds"
            )


def parse_ranges(texts: Iterable[str], value_of: ValueOf = constant_value) -> dict[str, Range]:
    """Return the range of each name, in order. Ends are constant expressions, or read by
    `value_of`.

    Raises `ExpressionError` of kind `point`, with the span in its `text`.

    >>> parse_ranges(["x=0:pi/2,y=:2"])
    {'x': Range(low=0.0, high=1.5707963267948966), 'y': Range(low=None, high=2.0)}
    """
    ranges: dict[str, Range] = {}
    for text in texts:
        with errors_about(text, always=True):
            for start, end in pieces(text):
                name, ends = _one(text, start, end, value_of)
                if ranges.setdefault(name, ends) != ends:
                    fail(f"`{name}` is given two ranges", Span(start, end), "leave one of them out")
    return ranges


def parse_between(
    texts: Sequence[str], value_of: ValueOf = constant_value
) -> dict[str, Range] | Range | None:
    """Return bounds by name, or `0:1` of the only unknown; None for no texts."""
    if len(texts) == 1 and "=" not in texts[0]:
        with errors_about(texts[0], always=True):
            return _range("", texts[0], 0, Span(0, len(texts[0])), value_of)
    return parse_ranges(texts, value_of) if texts else None


def _one(text: str, start: int, end: int, value_of: ValueOf) -> tuple[str, Range]:
    name, equals, written = text[start:end].partition("=")
    bare = name.rstrip()
    if not equals or not is_name(bare):
        fail(
            f"`{text[start:end]}` is not a name with its range",
            Span(start, max(end, start + 1)),
            RANGE_EXAMPLE,
        )
    return bare, _range(bare, written, start + len(name) + 1, Span(start, end), value_of)


def _range(name: str, written: str, begin: int, span: Span, value_of: ValueOf) -> Range:
    """Return the range that is written from `begin` on; an empty name is that of the only
    unknown.
    """
    parts = written.split(":")
    of, prefix = (f" of `{name}`", f"{name}=") if name else ("", "")
    if len(parts) != 2:
        hint = f"{RANGE_EXAMPLE}; a sweep of points is for `--at`"
        fail(f"the range{of} needs two ends with a colon between them", span, hint)
    places = begin, begin + len(parts[0]) + 1
    ends = zip(parts, places, strict=True)
    low, high = [_end_or_none(name or "x", part, at, value_of) for part, at in ends]
    first, second = map(str.strip, parts)
    unit = getattr(low, "unit", None) or getattr(high, "unit", None)
    if unit is not None and any(unit.dimension):
        meant = f"{first} {unit}:{second}", f"{first}:{second} {unit}"
        for x, typed, spelling in zip((low, high), (first, second), meant, strict=True):
            if x and not hasattr(x, "unit"):
                message = f"one end of the range{of} has a unit, and `{typed}` has none"
                fail(message, span, f"write `{prefix}{spelling}`")
        _check_one_kind(name or "the range", low, high)
    if low is not None and high is not None and low > high:
        message = f"the range{of} goes the wrong way, from {first} down to {second}"
        fail(message, span, f"swap its ends: `{prefix}{second}:{first}`")
    return Range(low, high)


def _check_one_kind(name: str, low: float | None, high: float | None) -> None:
    """Raise an error for a range from hertz to radians per second, or back."""
    units = [unit for x in (low, high) if (unit := getattr(x, "unit", None)) is not None]
    if len(units) > 1:
        from .periods import check_one_kind  # few ranges have units

        check_one_kind(name, *units)


def _end_or_none(name: str, text: str, begin: int, value_of: ValueOf) -> float | None:
    """Return an end of a range; None if it is open."""
    return _end(name, text, begin, value_of) if text.strip() else None


def _end(name: str, text: str, begin: int, value_of: ValueOf) -> float:
    try:
        return constant_value(name, text, begin)
    except ExpressionError:
        if value_of is constant_value:
            raise
        return value_of(name, text, begin)


class PointFile(str):
    """`@PATH` of `--at`: a JSON file, read once because it may be a pipe."""

    @cached_property
    def content(self) -> tuple[str, ExpressionError | None]:
        """The text of the file, and its decoding error."""
        return read_text(self[1:], hint="`--at @PATH` reads a JSON file of names and values")

    def point(self, value_of: ValueOf | None = None) -> dict[str, float]:
        """Return the point in the file. Raises `ExpressionError` (`point`, `io`, `limit`)."""
        text, fault = self.content
        try:
            if fault is not None:
                raise fault
            value, problem = read_json(text)
            if problem is not None:
                raise problem
            return point_of_object(value, value_of)
        except ExpressionError as error:
            placed = ExpressionError("point", f"in `{self[1:]}`: {error}", error.span, error.hint)
            placed.text = (error.text or text) if error.span else None
            raise placed from None


def once_read(options: Sequence[str] | None) -> list[str] | None:
    """Return the `--at` options with `@PATH` as `PointFile`s, apart from values behind them."""
    if not any(text.startswith("@") for text in options or ()):
        return options  # type: ignore[return-value]
    apart: list[str] = []
    for option in options or ():
        if isinstance(option, PointFile) or not option.startswith("@"):
            apart.append(option)
            continue
        match = re.fullmatch(_FILE_AND_VALUES, option)
        file, *values = (option,) if match is None or os.path.exists(option[1:]) else match.groups()
        apart += [PointFile(file), *values]
    return apart


def may_sweep(options: Sequence[str] | None) -> bool:
    """Return whether an `--at` option may contain a sweep; see `sweeps`."""
    texts: list[str] = []
    for option in options or ():
        if isinstance(option, PointFile):
            with suppress(ExpressionError):  # whoever reads the point says so
                texts += re.findall(r'"(?:[^"\\]|\\.)*"', option.content[0])
        elif not option.startswith("@"):
            texts.append(option)
    return any(":" in text or "{" in text for text in texts)


def merge(points: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the union of points. Raises `ExpressionError` if values differ."""
    merged: dict[str, float] = {}
    for point in points:
        for name, value in point.items():
            _add(merged, name, value)
    return merged


def _add(point: dict[str, float], name: str, value: float, span: Span | None = None) -> None:
    both = point.setdefault(name, value), value
    first, second = [(x, getattr(x, "distribution", None)) for x in both]
    if first != second:
        texts = [
            x.source.strip() if isinstance(x, Typed) and hasattr(x, "axis") else f"{x:g}"
            for x in both
        ]
        fail(f"`{name}` is given two values, {' and '.join(texts)}", span, "leave one of them out")


_problems: list[ExpressionError] = []  # in the JSON that is being read


def _problem(message: str, hint: str) -> None:
    _problems.append(ExpressionError("request", message, hint=hint))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        for name, value in pairs:
            if result[name] != value:
                _problem(f"`{name}` is given twice, with different values", "leave one of them out")
    return result


def _number(digits: str) -> float | None:
    value = Typed(digits)
    if math.isinf(value):
        _problem(f"{digits} is too large for double precision", "give a smaller number")
        return None
    value.source = digits
    return value


_decoder = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=lambda name: _problem(f"`{name}` is not JSON", "JSON has finite numbers only"),
    parse_float=_number,
)


def read_json(text: str) -> tuple[Any, ExpressionError | None]:
    """Return the value of JSON, and an error if it is not strict. Raises `ExpressionError`
    (`request`).
    """
    _problems.clear()
    try:
        value = _decoder.decode(text)
    except json.JSONDecodeError as error:
        place = min(error.pos, len(text))
        what = f"{error.msg[:1].lower()}{error.msg[1:]}"
        message = f"this is not JSON: {what} (line {error.lineno}, column {error.colno})"
        span = Span(place, min(place + 1, len(text)))
        raise ExpressionError("request", message, span, "check the quotes and commas") from None
    except RecursionError:
        raise ExpressionError(
            "request", "this JSON is nested too deeply", hint="flatten it"
        ) from None
    except ValueError:
        raise ExpressionError(
            "request", "this JSON holds a number with too many digits", hint="shorten it"
        ) from None
    return value, _problems[0] if _problems else None


def fail(message: str, span: Span | None, hint: str) -> NoReturn:
    """Raise an `ExpressionError` of kind `point`."""
    raise ExpressionError("point", message, span, hint)
