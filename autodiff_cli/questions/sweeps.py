"""Sweeps of a name: `x=0:10:0.5`, `x=0:10/21`, `x=log(1:1e6)/7`, `x={1,2,5}`, in exact fractions.

`from:to:step` includes the end if it is hit up to rounding. In `from:to/N`, N follows the last `/`
outside of parentheses: `0:2*pi/9` is nine points.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ExpressionError, Span, limit_error, quote, usage_error
from ..language.diagnostics.points import SWEEP_EXAMPLE
from ..language.tokens import plain_number
from .parse_point import (
    Lenient,
    Typed,
    ValueOf,
    constant_value,
    fail,
    pieces,
    top_level,
    with_text,
)

if TYPE_CHECKING:
    from ..engine.quantities.unit import Unit

MAX_POINTS = 10_000_000
MAX_WORK = 1_000_000
# Distance from the end, as a share of the step, that counts as rounding.
STEP_TOLERANCE = Fraction(1, 10**9)
MAX_RATIO_POINTS = 400
_LOGARITHMIC = re.compile(r"\s*log\s*\((.*)\)\s*(?:/(.*))?", re.DOTALL)
_NUMBER_AND_MORE = re.compile(
    r"(?:.*/)?\s*[-+−]?[\d._]+(?:[eE][-+]?\d+)?(?![\d.])\s*((?!\(\d)[^-+*/)\s].*)", re.DOTALL
)
_SPREAD = re.compile(r"±|\+/-|\+-")


class Axis:
    """The values of one name, in order: each kind has `number` or `value`, of which either gives
    the other.
    """

    size: int

    def number(self, k: int) -> float:
        """Return the value at an index."""
        return float(self.value(k))

    def source(self, k: int) -> str:
        """Return the text that other arithmetics read as this value."""
        return repr(self.number(k))

    def value(self, k: int) -> float:
        """Return the value at an index, with its text."""
        return with_text(self.number(k), self.source(k))

    def quantity_text(self, k: int) -> str:
        """Return the value at an index as one would type it, with its unit."""
        return _enclosed(self.source(k))

    def numbers(self, start: int, stop: int) -> list[float]:
        """Return the values in a range of indices."""
        return [self.number(k) for k in range(start, stop)]

    def without_unit(self) -> tuple[Axis, Unit | None]:
        """Return the values as numbers, and their unit or None."""
        return self, None


class Listed(Axis):
    """Values that are listed one by one, with their texts."""

    def __init__(self, values: Sequence[float], texts: Sequence[str]) -> None:
        self.values, self.texts, self.size = values, texts, len(values)

    def value(self, k: int) -> float:
        return self.values[k]

    def quantity_text(self, k: int) -> str:
        return self.texts[k]

    def without_unit(self) -> tuple[Axis, Unit | None]:
        unit = getattr(self.values[0], "unit", None)
        if unit is None:
            return self, None
        return Listed([x.number for x in self.values], self.texts), unit  # type: ignore[attr-defined]


class Evenly(Axis):
    """Values at equal distances: `first + k*step`."""

    def __init__(
        self,
        first: Fraction,
        step: Fraction,
        size: int,
        texts: tuple[str, str, str] | None,
        counted: bool = False,
    ) -> None:
        """`texts` are the first value, the distance and the number of steps; None if decimals are
        exact.
        """
        self.size, self.texts, self.counted = size, texts, counted
        step = step if size > 1 else Fraction(1)
        # over a common denominator, as Python rounds a quotient of integers once
        self.denominator = math.lcm(first.denominator, step.denominator)
        self.first, self.step = (
            x.numerator * (self.denominator // x.denominator) for x in (first, step)
        )

    def number(self, k: int) -> float:
        return (self.first + k * self.step) / self.denominator

    def numbers(self, start: int, stop: int) -> list[float]:
        denominator, step = self.denominator, self.step
        begin = self.first + start * step
        return [x / denominator for x in range(begin, begin + (stop - start) * step, step)]

    def source(self, k: int) -> str:
        if self.texts is None:
            return exact_text(Fraction(self.first + k * self.step, self.denominator))
        first, way, steps = self.texts
        return f"({first}) + ({way})*{k}/({steps})"


class Geometric(Axis):
    """Values at equal ratios."""

    def __init__(self, first: Fraction, last: Fraction, size: int) -> None:
        self.first, self.size, self.steps = first, size, max(1, size - 1)
        self.base, self.powers, ratio = last / first, 1, _log(last / first)
        bases = [(Fraction(base), round(ratio / math.log(base))) for base in (10, 2)]
        if size <= MAX_RATIO_POINTS:
            bases.insert(
                0, (Fraction(math.exp(ratio / self.steps)).limit_denominator(1000), self.steps)
            )
        for base, power in bases:
            if base**power == self.base:
                self.base, self.powers = base, power
                return

    def _exact(self, k: int) -> tuple[Fraction, int]:
        power, rest = divmod(self.powers * k, self.steps)
        return self.first * self.base**power, rest

    def number(self, k: int) -> float:
        value, rest = self._exact(k)
        return (
            float(value) * math.exp(_log(self.base) * rest / self.steps) if rest else float(value)
        )

    def source(self, k: int) -> str:
        value, rest = self._exact(k)
        return exact_text(value) if not rest else repr(self.number(k))


def _log(x: Fraction) -> float:
    return math.log(x.numerator) - math.log(x.denominator)


class Suffixed(Axis):
    """Values with one suffix: a unit, or an uncertainty, absolute or in percent."""

    def __init__(
        self, axis: Axis, name: str, suffix: str, value_of: ValueOf, *, is_unit: bool
    ) -> None:
        self.axis, self.size, self.is_unit = axis, axis.size, is_unit
        self.name, self.suffix, self.value_of = name, suffix, value_of
        self.has_unit = hasattr(self.value(0), "unit")

    def number(self, k: int) -> float:
        # the unit may stand in the suffix of an uncertainty: `1:3:1±0.1 km`
        return super().number(k) if self.has_unit else self.axis.number(k)

    def quantity_text(self, k: int) -> str:
        # the number in the unit that was typed: `number` is in that of the SI
        text = _enclosed(self.axis.source(k)) if self.is_unit else self.axis.quantity_text(k)
        return f"{text}{self.suffix}"

    def value(self, k: int) -> float:
        return self.value_of(self.name, self.quantity_text(k), 0)

    def without_unit(self) -> tuple[Axis, Unit | None]:
        return (self.axis, getattr(self.value(0), "unit", None)) if self.is_unit else (self, None)


def _enclosed(text: str) -> str:
    return text if plain_number(text) else f"({text})"


def exact_text(x: Fraction) -> str:
    """Return a fraction as text that reads back exactly, a decimal if possible."""
    shortest = repr(float(x))
    return shortest if Fraction(shortest) == x else f"{x.numerator}/{x.denominator}"


class SweptValue(Typed):
    """The first value of a sweep, with all values as its axis."""

    __slots__ = ("axis", "distribution")
    axis: Axis
    distribution: str


class Grid(NamedTuple):
    """The points of sweeps: all combinations, the last sweep fastest, or pairs."""

    axes: Mapping[str, Axis]
    fixed: dict[str, float]
    zipped: bool

    def without_units(self) -> tuple[Grid, dict[str, Unit]]:
        """Return the grid without units, and the units of its sweeps."""
        axes = {name: axis.without_unit() for name, axis in self.axes.items()}
        units = {name: unit for name, (_, unit) in axes.items() if unit is not None}
        return self._replace(axes={name: axis for name, (axis, _) in axes.items()}), units

    def check_use(self, used: Collection[str], unknowns: Collection[str] = ()) -> None:
        """Raise a usage error for a sweep of a name that the program does not use, or looks for."""
        for name in self.axes:
            if name not in used or name in unknowns:
                what = "is an unknown" if name in used else "is not in the program"
                hint = (
                    f"sweep one of {quote(x for x in used if x not in unknowns)}"
                    if used
                    else "leave it out"
                )
                raise usage_error(f"`{name}` is swept, and {what}", hint)

    @property
    def size(self) -> int:
        sizes = [axis.size for axis in self.axes.values()]
        return sizes[0] if self.zipped else math.prod(sizes)

    def strides(self) -> Iterator[tuple[str, Axis, int]]:
        """Yield each sweep, and how often its values repeat before the next; then all come
        again.
        """
        stride = self.size
        for name, axis in self.axes.items():
            stride = 1 if self.zipped else stride // axis.size
            yield name, axis, stride

    def points(self) -> Iterator[dict[str, float]]:
        """Yield the swept values at each point, with their texts."""
        strides = [*self.strides()]
        values: dict[str, float] = {}
        for k in range(self.size):
            changed = {
                name: axis.value(k // n % axis.size) for name, axis, n in strides if not k % n
            }
            values = values | changed
            yield values

    def columns(self, start: int, stop: int) -> dict[str, list[float]]:
        """Return the swept values in a range of points, as numbers."""
        columns: dict[str, list[float]] = {}
        for name, axis, stride in self.strides():
            columns[name] = column = []
            place = start
            while place < stop:
                k = place // stride % axis.size
                if stride == 1:
                    values = axis.numbers(k, min(axis.size, k + stop - place))
                else:
                    values = [axis.number(k)] * (min(stop, (place // stride + 1) * stride) - place)
                column += values
                place += len(values)
        return columns


class Sweeping:
    """Reads a sweep, or passes a single value on; see `ValueOf`."""

    def __init__(self, value_of: ValueOf | None = None) -> None:
        self.value_of = value_of or constant_value

    def __call__(self, name: str, text: str, offset: int = 0) -> float:
        axis = self._axis(name, text, offset)
        if axis is None:
            return self.value_of(name, text, offset)
        first = SweptValue(axis.number(0))
        first.source, first.axis, first.distribution = text, axis, text.strip()
        if isinstance(axis, Evenly) and axis.texts is not None and axis.counted:
            # `0:pi/4` may be meant to end at pi/4
            first.as_read = (
                f"{axis.size:,} values from {axis.number(0):.6g} to"
                f" {axis.number(axis.size - 1):.6g}"
            )
        return first

    def _axis(self, name: str, text: str, offset: int) -> Axis | None:
        written = text.strip()
        begin = offset + len(text) - len(text.lstrip())
        here = Span(begin, begin + len(written))
        spread = _spread_after_sweep(written) if self.value_of is not constant_value else None
        if spread is not None:
            axis = self._axis(name, written[:spread], begin)
            return axis and Suffixed(axis, name, written[spread:], self.value_of, is_unit=False)
        numbers, unit = self._without_unit(written, here)
        if numbers != written:
            return self._axis_in_unit(name, numbers, unit, here)
        if written.startswith("{"):
            return self._list(name, written, begin)
        logarithmic = _LOGARITHMIC.fullmatch(written)
        if logarithmic is not None and not _close(logarithmic[1]):
            logarithmic = None
        inside = logarithmic[1] if logarithmic else written
        colons = top_level(inside, ":")
        if not colons:
            _check_colon(written, begin)
            return None
        if logarithmic:
            return self._logarithmic(name, logarithmic, begin, here)
        if len(colons) > 1:
            return self._step(name, inside, begin)
        return self._evenly(name, inside, colons[0], begin, here)

    def _axis_in_unit(self, name: str, numbers: str, unit: str, here: Span) -> Axis | None:
        """Return the axis of numbers in a unit; those of a list may have uncertainties."""
        try:
            axis = self._axis(name, numbers, here.start)
            if (
                unit
                and isinstance(axis, Listed)
                and any(hasattr(x, "uncertainty") for x in axis.values)
            ):
                return self._list(name, _each_in(unit, axis.texts), here.start)
        except ExpressionError as error:  # in the converted text, which has other places
            raise ExpressionError(error.kind, str(error), here, error.hint) from None
        return (
            Suffixed(axis, name, f" {unit}", self.value_of, is_unit=True) if axis and unit else axis
        )

    def _logarithmic(self, name: str, match: re.Match[str], begin: int, here: Span) -> Axis:
        inside = match[1]
        if match[2] is None:
            fail(
                "a logarithmic sweep needs a number of points",
                here,
                f"write `{name}=log({inside})/7`",
            )
        (_, start), (_, end) = self._numbers(name, inside, begin + match.start(1), 2)
        count = self._count(name, match[2], begin + match.start(2))
        if not (start > 0 and end > 0):
            fail(
                "a logarithmic sweep goes between positive numbers",
                here,
                f"write `{name}=log(1:1e6)/7`",
            )
        _check_ends(start, end, count, here)
        return Geometric(start, end, count)

    def _evenly(self, name: str, inside: str, colon: int, begin: int, here: Span) -> Axis:
        slashes = [
            k for k in top_level(inside, "/") if k > colon and _is_whole(inside[k + 1 :].strip())
        ]
        if not slashes:
            hint = (
                "give its step as in `x=0:10:0.5`, or the number of its points,"
                f" `{name}={inside}/11`"
            )
            hint += (
                f"; a range is for `--range {name}={inside}` of `plot`, and `--between` of `solve`"
            )
            fail("a sweep needs a step, or a number of points", here, hint)
        count = self._count(name, inside[slashes[-1] + 1 :], begin + slashes[-1] + 1)
        (first, start), (last, end) = self._numbers(name, inside[: slashes[-1]], begin)
        _check_ends(start, end, count, here)
        steps = max(1, count - 1)
        is_plain = plain_number(first) and plain_number(last)
        texts = None if is_plain else (first, f"({last}) - ({first})", str(steps))
        return Evenly(start, (end - start) / steps, count, texts, True)

    def _without_unit(self, written: str, here: Span) -> tuple[str, str]:
        logarithmic = _LOGARITHMIC.fullmatch(written)
        inside, count = (logarithmic[1], logarithmic[2]) if logarithmic else (written, None)
        parts = [part for part, _ in _parts(inside)]
        if self.value_of is constant_value or (
            len(parts) == 1 and not written.startswith(("{", "log"))
        ):
            return written, ""
        if written.startswith("{"):
            behind = written.partition("}")[2].strip()
            return written.removesuffix(behind), behind
        if not logarithmic and len(parts) == 2:
            ends, slash, number = parts[1].rpartition("/")
            if slash and _is_whole(number.strip()):
                parts[1], count = ends, number
        in_one_unit = _in_one_unit(parts, here)
        if in_one_unit is None:
            return _with_unit_behind(written)
        texts, unit = in_one_unit
        way = f"log({':'.join(texts)})" if logarithmic else ":".join(texts)
        return way + ("" if count is None else f"/{count}"), str(unit)

    def _list(self, name: str, written: str, begin: int) -> Listed:
        if not written.endswith("}"):
            fail(
                "the brace that opens here is not closed",
                Span(begin, begin + 1),
                f"write `{name}={{1,2,5}}`",
            )
        from .periods import check_one_kind  # only units need it

        values: list[float] = []
        texts: list[str] = []
        for start, end in pieces(written[1:-1]):
            item = written[1 + start : 1 + end]
            place = Span(begin + 1 + start, begin + 1 + max(end, start + 1))
            if not item or top_level(item, ":") or "{" in item or "=" in item:
                fail(
                    "a single value is needed here",
                    place,
                    f"write `{name}={{1,2,5}}`, or a sweep: `{name}=0:10:1`",
                )
            value = self.value_of(name, item, place.start)
            unit: Any = getattr(value, "unit", None)
            first: Any = getattr(values[0], "unit", None) if values else unit
            if getattr(unit, "dimension", None) != getattr(first, "dimension", None):
                fail(
                    "the values of a sweep have one dimension",
                    place,
                    f"write `{name}={{1,2,5}} mm`",
                )
            if unit != first:
                check_one_kind(name, first, unit)
                number = _convert(repr(value.number), unit, first, step=False)  # type: ignore[attr-defined]
                item = f"{number} {first}"
                value = self.value_of(name, item, place.start)
            values.append(value)
            texts.append(item.strip())
        return Listed(values, texts)

    def _numbers(
        self, name: str, text: str, begin: int, most: int = 3
    ) -> list[tuple[str, Fraction]]:
        parts = [(part, begin + place) for part, place in _parts(text)]
        if len(parts) > most:
            colon = parts[most][1] - 1
            message = "a logarithmic sweep has two numbers: from and to"
            message = (
                "a sweep has three numbers at most: from, to and step" if most == 3 else message
            )
            fail(message, Span(colon, colon + 1), SWEEP_EXAMPLE)
        for part, place in parts:
            if not part.strip():
                colon = max(place - 1, begin)
                fail("a number of the sweep is missing here", Span(colon, colon + 1), SWEEP_EXAMPLE)
            here = Span(place, place + len(part))
            if self._without_unit(f":{part}", here)[1]:
                hint = f"write `{name}=0:10:0.5 mm`, or `{name}=0 mm:10 mm:0.5 mm`"
                fail("a sweep has its unit after it, or after each of its numbers", here, hint)
        return [
            (part.strip(), _fraction(part, constant_value(name, part, place)))
            for part, place in parts
        ]

    def _count(self, name: str, text: str, begin: int) -> int:
        written = text.strip()
        if not (_is_whole(written) and 0 < len(written.lstrip("0")) < 20):
            here = Span(begin, begin + max(1, len(text)))
            fail(
                "a number of points is a whole number of 1 to 19 digits, and not 0",
                here,
                f"write `{name}=0:10/21`",
            )
        return int(written)

    def _step(self, name: str, inside: str, begin: int) -> Axis:
        (first, start), (last, end), (by, step) = self._numbers(name, inside, begin)
        place = Span(begin + _parts(inside)[-1][1], begin + len(inside))
        stretch = f"from {float(start):.6g} to {float(end):.6g}"
        if step == 0:
            fail(
                "the step is 0, so the sweep never ends",
                place,
                f"write `{name}={first}:{last}:1`, for example",
            )
        if (end - start) * step < 0:
            hint = f"swap its ends: `{name}={last}:{first}:{by}`"
            fail(f"the sweep goes {stretch}, and its step has the wrong sign", place, hint)
        steps = (end - start) / step
        if 0 < steps < 1 - STEP_TOLERANCE:
            message = f"the step {float(step):.6g} is longer than the range {stretch}"
            fail(
                message,
                place,
                f"the order is from:to:step: `{name}={first}:{by}:{last}` goes in steps of {last}",
            )
        count, texts = math.floor(steps), (first, by, "1")
        if abs(steps - round(steps)) < STEP_TOLERANCE:
            # the last step ends exactly at the end
            count = round(steps)
            texts = (first, f"({last}) - ({first})", str(max(1, count)))
            step = (end - start) / count if count else step
        return Evenly(
            start, step, count + 1, None if all(map(plain_number, (first, last, by))) else texts
        )


def _spread_after_sweep(written: str) -> int | None:
    """Return where the uncertainty of all values of a sweep begins, `± 0.1 km`; None if it has
    none.
    """
    spread = _SPREAD.search(written, written.rfind("}") + 1)
    before = "" if spread is None else written[: spread.start()]
    return len(before) if ":" in before or before.startswith("{") else None


def _parts(text: str) -> list[tuple[str, int]]:
    return [(text[a + 1 : b], a + 1) for a, b in pairwise([-1, *top_level(text, ":"), len(text)])]


def _each_in(unit: str, texts: Sequence[str]) -> str:
    """Return a list of values, each in the unit that stands behind all of them."""
    return f"{{{','.join(f'({x}) {unit}' if _SPREAD.search(x) else f'{x} {unit}' for x in texts)}}}"


def _close(text: str) -> bool:
    depths = [0, *accumulate((c == "(") - (c == ")") for c in text)]
    return min(depths) == 0 == depths[-1]


def _check_ends(start: Fraction, end: Fraction, count: int, here: Span) -> None:
    if count == 1 and start != end:
        hint = "give the point alone, or ask for 2 points or more"
        fail("one point cannot be at both ends of a sweep", here, hint)
    if count > 1 and start == end:
        fail(
            "both ends of the sweep are the same number",
            here,
            "give the point alone, or another end",
        )


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _convert(number: str, unit: Unit, other: Unit, *, step: bool) -> str:
    if unit == other:
        return number
    zero = Fraction(0) if step else (unit.zero - other.zero) / other.scale
    if plain_number(number) and unit.pi == other.pi and len(number) < 50:
        return exact_text(Fraction(number) * unit.scale / other.scale + zero)
    return f"(({number})*({unit.factor_text})/({other.factor_text}) + {zero})"


def _fraction(text: str, value: float) -> Fraction:
    written = text.strip()
    # longer exponents make fractions that take seconds
    if plain_number(written) and value and len(written) < 50:
        return Fraction(written)
    return Fraction(float(value))


def sweeping(value_of: ValueOf | None) -> ValueOf:
    """Return a reader of sweeps, with single values read by `value_of`."""
    return (
        Lenient(Sweeping(value_of.value_of))
        if isinstance(value_of, Lenient)
        else Sweeping(value_of)
    )


def _check_colon(written: str, begin: int) -> None:
    """Raise an error for a colon inside of parentheses."""
    if ":" in written:
        colon = begin + written.index(":")
        hint = f"a sweep has its colons outside of parentheses: {SWEEP_EXAMPLE}"
        fail("a colon has no meaning here", Span(colon, colon + 1), hint)


def _in_one_unit(parts: Sequence[str], here: Span) -> tuple[list[str], Unit] | None:
    """Return quantities as numbers in the unit of the first; None if some have none."""
    from .periods import check_one_kind  # only units need it
    from .quantities import split_quantity

    quantities: list[tuple[str, Unit]] = []
    with suppress(ExpressionError):
        quantities = [quantity for part in parts if (quantity := split_quantity(part)) is not None]
    if len(quantities) != len(parts):
        return None
    unit = quantities[0][1]
    for _, other in quantities:
        if other.dimension != unit.dimension:
            message = f"`{unit}` and `{other}` in one sweep have different dimensions"
            fail(message, here, f"write it all in `{unit}`")
        check_one_kind("the sweep", unit, other)
    return [
        _convert(number, other, unit, step=k == 2) for k, (number, other) in enumerate(quantities)
    ], unit


def _with_unit_behind(written: str) -> tuple[str, str]:
    """Return a sweep without the unit behind it, and that unit; empty without one."""
    from .quantities import split_quantity  # only units need it

    last = re.split(":" if not written.startswith("log") else r"\)\s*/", written)[-1]
    number_and_more = _NUMBER_AND_MORE.fullmatch(last.strip())
    with suppress(ExpressionError):
        if number_and_more is not None and split_quantity(f"1 {number_and_more[1]}") is not None:
            return written.removesuffix(number_and_more[1]), number_and_more[1]
    return written, ""


def grid_of(point: Mapping[str, float], *, zipped: bool = False, times: float = 1) -> Grid | None:
    """Return the grid of a point's sweeps, of at most `times` the usual size; None without
    sweeps.
    """
    axes = {name: value.axis for name, value in point.items() if isinstance(value, SweptValue)}
    if zipped and not axes:
        raise usage_error(
            "`--zip` pairs sweeps, and there are none", "write sweeps: `--at x=0:10:1,y={1,2,5}`"
        )
    if not axes:
        return None
    lengths = {name: axis.size for name, axis in axes.items()}
    if zipped and len({*lengths.values()}) > 1:
        listed = ", ".join(f"`{name}` has {length:,}" for name, length in lengths.items())
        raise usage_error(
            f"`--zip` pairs sweeps of one length: {listed} points",
            "leave it out for all combinations",
        )
    grid = Grid(axes, {name: value for name, value in point.items() if name not in axes}, zipped)
    if grid.size > MAX_POINTS * times:
        raise _too_many_points(grid, lengths, times)
    return grid


def _too_many_points(grid: Grid, lengths: Mapping[str, int], times: float) -> ExpressionError:
    counts = {name: f"{n:,}" if n < 10**15 else "more than 10**15" for name, n in lengths.items()}
    listed = " × ".join(f"{count} of `{name}`" for name, count in counts.items())
    more = -(-grid.size // MAX_POINTS)
    hint = (
        f"take larger steps, or allow more: `--work {more}`"
        if more <= MAX_WORK
        else "take larger steps"
    )
    return limit_error(
        f"the sweep has more than {int(MAX_POINTS * times):,} points: {listed}", hint
    )
