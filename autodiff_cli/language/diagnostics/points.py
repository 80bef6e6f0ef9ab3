"""Diagnosis of typed points: `x=1 y=2`, `x=9.81 m/s²`, `x=1,000`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from math import ceil

from ...errors import ExpressionError, Span
from ..builder import CONSTANTS
from ..tokens import is_name

EXAMPLE = "write it as `x=3` or `x=-2,y=pi/4`"
MAX_PART_LENGTH = 60  # characters of a part of a point that may be a slip
# a name and an equals sign inside a value: `x=1 y=2`
_SECOND = re.compile(r"(?<=[\s;])([^\W\d]\w*+\s*+)=(?!=)")

# The first digits of a number, and three more behind a comma.
_LEADING, _GROUP = re.compile(r"(?<![\d.])\d{1,3}$"), re.compile(r"\d{3}(?!\d)[^=,]*(,|$)")

_LEADING_DIGITS = re.compile(r"(?<![\d.])\d[\d,]*$")
# A value with its uncertainty, both with decimal commas.
_DECIMAL_COMMAS = re.compile(r"\d+,\d+\s*(?:±|\+/-|\+-)\s*\d+,\d+(?![\d.]|,\d)")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)[^,=]*")
# A number with a unit: `9.81 m/s²`, `20 °C`, `5kg`.
_UNIT = re.compile(
    r"([-+−]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\W\d]+|°[^\W\d]*|[€$])[\w /·*^⁻-]*"
)

# A name and its number in other notations: `x: 1`, `{"x": 1}`.
_APART = re.compile(r"[{\[(]?[\"']?([^\W\d]\w*)[\"']?[: ]{1,3}([-+]?[\d.][\w.+-]*)[\])}]?")


def join_digits(text: str, parts: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join parts if the second continues the digits of the first: `x=1,000.5`."""
    joined: list[tuple[int, int]] = []
    for start, end in parts:
        follows = bool(joined) and joined[-1][1] + 1 == start
        if (
            follows
            and _GROUP.match(text, start)
            and _LEADING.search(text[max(start - 5, 0) : start - 1])
        ):
            start, _ = joined.pop()  # noqa: PLW2901
        joined.append((start, end))
    return joined


def wrong_part(text: str, start: int, end: int) -> tuple[str, Span, str] | None:
    """Return message, place and hint for a part that is no name and value, else None."""
    piece = text[start:end]
    name, equals, value = piece.partition("=")
    bare = name.rstrip()
    if not piece:
        return "a name with its value is missing here", Span(start, end), EXAMPLE
    if bare.startswith("@"):
        return (
            "a file of values is for a whole `--at` of the command line",
            Span(start, end),
            EXAMPLE,
        )
    digits = None
    if not equals and bare[:1].isdigit() and start and text[start - 1] == ",":
        digits = _LEADING_DIGITS.search(text, max(start - MAX_PART_LENGTH, 0), start - 1)
    if digits:
        where = Span(digits.start(), end)
        number = _THOUSANDS.match(text, digits.start())
        hint = f"the decimal sign is a point: `{digits[0]}.{bare}`"
        if commas := _DECIMAL_COMMAS.match(text, digits.start()):
            where = Span(*commas.span())
            hint = f"the decimal sign is a point: `{commas[0].replace(',', '.')}`"
        elif number:
            where = Span(*number.span())
            hint = f"write `{number[0].replace(',', '')}`"
        return (
            f"`{text[where.start : where.end]}` is not one number: a comma ends a value",
            where,
            hint,
        )
    if not equals:
        return f"`{bare}` is given no value", Span(start, end), _instead(bare)
    if not is_name(bare):
        what = f"`{bare}` is not a name" if bare else "the name is missing here"
        return what, Span(start, start + len(bare)), EXAMPLE
    begin = start + len(name) + 1
    second = _SECOND.search(value)
    if second:
        where = Span(begin + second.start(1), begin + second.end(1))
        return "a second value begins here, without a comma before it", where, EXAMPLE
    if not value.strip():
        return f"`{bare}` is given no value", Span(start, end), f"write `{bare}=…`"
    return None


def _instead(piece: str) -> str:
    if is_name(piece):
        return f"write `{piece}=…`"
    if piece.endswith(".json"):
        return f"a file of values is named with an `@`: `--at @{piece}`"
    apart = (
        [_APART.fullmatch(part.strip()) for part in piece.split(",")]
        if len(piece) <= MAX_PART_LENGTH
        else [None]
    )
    if all(apart):
        return f"write `{','.join(f'{pair[1]}={pair[2]}' for pair in apart if pair)}`"
    return EXAMPLE


def without_unit(text: str) -> tuple[str, str] | None:
    """Return the message and the suggestion for a number with a unit; None without one."""
    from ...engine.quantities.unit import parse_unit, si_unit

    quantity = _UNIT.fullmatch(text.strip()) if len(text) <= MAX_PART_LENGTH else None
    if quantity is None or quantity[2] in CONSTANTS or re.match(r"\s*0[xob][\da-fA-F]", text):
        return None
    has_unit = "has a unit, and numbers here have none"
    if quantity[2] in ("°", "deg", "degree", "degrees"):
        return has_unit, f"angles are in radians: write `rad({quantity[1]})`"
    try:
        unit = parse_unit(text.strip()[quantity.end(1) :].strip())
    except ExpressionError as error:
        if quantity[2] in "€$":
            return has_unit, f"write `{quantity[1]}`, in the unit of the formula"
        letter = len(quantity[2]) == 1 and quantity.end() == quantity.end(2)
        return None if letter else (f"cannot be used: {error}", str(error.hint))
    value = unit.to_si(float(quantity[1].replace("−", "-"))) + float(unit.zero)
    si = si_unit(unit.dimension)
    return (
        has_unit,
        (
            f"write `{value:.15g}`, which it is in {str(si) or 1}, if the formula is in units of"
            " the SI"
        ),
    )


# Sweeps in other languages.
_ELSEWHERE = re.compile(
    r"(?:np\.|numpy\.)?(range|arange|linspace|logspace|geomspace|seq)\(([^()]*)\)|([^(){}:]*?\d)\.\.\.?([^(){}:]*)"
)


def _sweep_of(
    function: str | None, arguments: str | None, low: str | None, high: str | None
) -> str:
    parts = [part.strip() for part in (arguments or f"{low},{high}").split(",")]
    if len(parts) == 1:
        parts.insert(0, "0")
    start, end, *more = parts
    if function in ("linspace", "geomspace", "logspace"):
        count = more[0] if more else "50"
        ends = f"1e{start}:1e{end}" if function == "logspace" else f"{start}:{end}"
        return f"{ends}/{count}" if function == "linspace" else f"log({ends})/{count}"
    step = more[0] if more else "1"
    if function in ("range", "arange"):  # which leave the end out
        # an end that is no literal, such as pi, is no place of the sweep
        with suppress(ArithmeticError):
            first, last, by = map(Decimal, (start, end, step))
            end = str(first + (ceil((last - first) / by) - 1) * by)
    return f"{start}:{end}:{step}"


SWEEP_EXAMPLE = "write it as `x=0:10:0.5`, `x=0:10/21`, `x=log(1:1e6)/7` or `x={1,2,5}`"
_ENDS = re.compile(r"[^:{}/(),]+:[^:{}/(),]+")


def of_many_values(name: str, text: str) -> tuple[str, str] | None:
    """Return message and hint for a sweep instead of one value; None for other texts."""
    written = text.strip()
    is_many = ":" in written or written.startswith("{")
    first = re.split("[:,]", written.removeprefix("log(").lstrip("{("))[0].strip(" })") or "1"
    if is_many and not name.isidentifier():  # a number of a list without names
        return (
            f"{name} of the list is given many values, and needs one",
            f"give one value, such as `{first}`",
        )
    spelled = _ELSEWHERE.fullmatch(written)
    if spelled is not None:
        message = f"`{written}` is how other programs write many values"
        return message, f"write `{name}={_sweep_of(*spelled.groups())}`"
    if not is_many:
        return None
    hint = (
        f"give one value, such as `{name}={first}`; `grad`, `hessian`, `jacobian`, `taylor`,"
        " `solve`, `propagate`, "
    )
    hint += "`check` and `diff` answer one program at many"
    ends = _ENDS.match(written)
    if ends is not None:
        hint += f"; `plot` draws it over `--range {name}={ends[0]}`"
    return f"`{name}` is given many values, and needs one here", hint
