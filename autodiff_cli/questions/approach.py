"""Places that a variable approaches: `0`, `pi/2`, `0+`, `0-`, `inf`, `-inf`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..language.tokens import plain_number
from .parse_point import constant_value
from .problem import Quantity, Typed

if TYPE_CHECKING:
    from ..engine.quantities.unit import Unit

INFINITIES = {"inf": math.inf, "infinity": math.inf, "oo": math.inf, "∞": math.inf}
SIDES = {"+": 1, "⁺": 1, "-": -1, "⁻": -1, "−": -1}


class Approach(Typed):
    """A place with the side that it is approached from: 1 from above, -1 from below, 0 for both."""

    __slots__ = ("number", "side", "unit")
    side: int
    number: float
    """The number in the unit; without a unit there is none."""
    unit: Unit


def approach_value(name: str, text: str, offset: int = 0) -> float:
    """Return the value of a name, which may be infinite or have a side, and a unit. Raises
    `ExpressionError`.
    """
    typed = text.strip()
    sign = -1 if typed[:1] in ("-", "−") else 1
    word = typed.lstrip("+-−").strip().lower()
    if word in INFINITIES:
        return _approach(sign * INFINITIES[word], "inf" if sign > 0 else "-inf", -sign)
    side = SIDES.get(typed[-1:], 0)
    if not side:
        return quantity_or_constant(name, text, offset)
    written = typed[:-1].rstrip()
    value = quantity_or_constant(name, written, offset)
    place = _approach(value, getattr(value, "source", written), side)
    if isinstance(value, Quantity):
        place.number, place.unit = value.number, value.unit
    return place


def quantity_or_constant(name: str, text: str, offset: int = 0) -> float:
    """Return the value of a constant expression, perhaps with a unit."""
    if plain_number(text.strip()):
        return constant_value(name, text, offset)
    from .quantities import quantity_value  # what is a number has no unit

    return quantity_value(name, text, offset)


def _approach(value: float, source: str, side: int) -> Approach:
    place = Approach(value)
    place.source, place.side = source, side
    return place


def as_approach(name: str, value: Any) -> Approach:
    """Return a value of a point as a place. Raises `ExpressionError`."""
    if isinstance(value, Approach):
        return value
    if isinstance(value, float) and math.isinf(value):
        value = "inf" if value > 0 else "-inf"
    if isinstance(value, str):
        value = approach_value(name, value)
        if isinstance(value, Approach):
            return value
    from .problem import written_number

    number = written_number(name, value)
    place = _approach(number, number.source, 0)
    if isinstance(number, Quantity):
        place.number, place.unit = number.number, number.unit
    return place
