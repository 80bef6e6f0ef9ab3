"""Places that a variable approaches: `0`, `pi/2`, `0+`, `0-`, `inf`, `-inf`."""

from __future__ import annotations

import math
from typing import Any

from .parse_point import constant_value
from .problem import Typed

INFINITIES = {"inf": math.inf, "infinity": math.inf, "oo": math.inf, "∞": math.inf}
SIDES = {"+": 1, "⁺": 1, "-": -1, "⁻": -1, "−": -1}


class Approach(Typed):
    """A place with the side that it is approached from: 1 from above, -1 from below, 0 for both."""

    __slots__ = ("side",)
    side: int


def approach_value(name: str, text: str, offset: int = 0) -> float:
    """Return the value of a name, which may be infinite or have a side. Raises `ExpressionError`."""
    typed = text.strip()
    sign = -1 if typed[:1] in ("-", "−") else 1
    word = typed.lstrip("+-−").strip().lower()
    if word in INFINITIES:
        return _approach(sign * INFINITIES[word], "inf" if sign > 0 else "-inf", -sign)
    side = SIDES.get(typed[-1:], 0)
    if not side:
        return constant_value(name, text, offset)
    written = typed[:-1].rstrip()
    return _approach(constant_value(name, written, offset), written, side)


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
        read = approach_value(name, value)
        return read if isinstance(read, Approach) else _approach(read, value.strip(), 0)
    from .problem import written_number

    number = written_number(name, value)
    return _approach(number, number.source, 0)
