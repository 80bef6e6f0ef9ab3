"""The worst case of limits: their sum to first order, and the range over all values within them,
proven.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...engine.numbers.budget import BudgetExceeded
from ...engine.numerics.box_ranges import BoxRanges, range_numbers
from ...engine.quantities.presentation import present
from ...engine.quantities.unit import Unit
from ...errors import Diagnosed, ExpressionError, usage_error
from ...questions.measured_value import MeasuredValue
from ...record import Record
from .measurement_model import Explicit, Model

# The doubles by which a limit is moved outwards, for the roundings of its sum and its unit.
WIDER = 4


class WorstCase(Record):
    """What an output is at worst while each input is within its limits."""

    below: float
    above: float
    """The sums of |sensitivity|·limit, from the value with all inputs at their nominal values."""
    low: float
    high: float
    """The value less and plus these sums."""
    proven_low: float | None = None
    proven_high: float | None = None
    """Bounds of all values within the limits; None where there are none."""


def limits_of(name: str, value: MeasuredValue) -> tuple[float, float, float]:
    """Return the lower limit, the nominal value and the upper limit of an input. Raises a usage
    error for no limits.
    """
    family, parameters = value.distribution.family, value.distribution.parameters
    own = getattr(value, "typed", value)
    if family == "normal" and getattr(own, "limit", "") == "stated":
        middle, half = parameters
        return middle - half, middle, middle + half
    if family == "twopiece":
        mode, below, above = parameters
        return mode - below, mode, mode + above
    low, high = value.distribution.support
    if not (math.isfinite(low) and math.isfinite(high)):
        message = f"`{name}` has no limits, and `--worst-case` needs some"
        raise usage_error(
            message,
            f"write `{name}=50±0.1`, `{name}=50 +0.025 -0`, or `{name}=uniform(49.9, 50.1)`",
        )
    nominal = getattr(own, "nominal", None)
    return low, high if nominal == "high" else low if nominal == "low" else (low + high) / 2, high


def worst_cases(
    model: Model, rows: Sequence[Sequence[float]], names: Sequence[str], units: Sequence[Unit]
) -> list[WorstCase]:
    """Return the worst case of each output, by its derivatives in its unit (`rows`)."""
    limits = {name: limits_of(name, model.point[name]) for name in names}  # type: ignore[arg-type]
    nominal = {name: middle for name, (_, middle, _) in limits.items()}
    cases = []
    for j, (row, unit) in enumerate(zip(rows, units, strict=True)):
        below = above = 0.0
        for slope, (low, middle, high) in zip(row, limits.values(), strict=True):
            down, up = (
                (middle - low, high - middle) if slope >= 0 else (high - middle, middle - low)
            )
            below, above = below + abs(slope) * down, above + abs(slope) * up
        value = present(_at(model, j, nominal), unit)
        proven = (
            _presented(proven_range(model, j, limits), unit)
            if isinstance(model, Explicit)
            else None
        )
        cases.append(
            WorstCase(below, above, value - below, value + above, *(proven or (None, None)))
        )
    return cases


def _at(model: Model, j: int, nominal: Mapping[str, float]) -> float:
    value = model.at(j, nominal)
    if value is None:
        raise ExpressionError(
            "domain", "the formula has no value at the nominal values", hint="give other limits"
        )
    return value


def _presented(ends: tuple[float, float] | None, unit: Unit) -> tuple[float, float] | None:
    """Return bounds in a unit, rounded outwards."""
    return (
        None
        if ends is None
        else (_outwards(present(ends[0], unit), -1), _outwards(present(ends[1], unit), 1))
    )


def proven_range(
    model: Explicit, j: int, limits: Mapping[str, tuple[float, float, float]]
) -> tuple[float, float] | None:
    """Return bounds of an output, in its SI unit, over all values within the limits, if there are
    any.
    """
    try:
        m = range_numbers()
    except ImportError:
        return None
    part = model.output_program(j)
    sides: dict[str, tuple[Any, Any]] = {}
    for name, (low, _, high) in limits.items():
        if name in part.leaves:
            sides[name] = m.literal(repr(_outwards(low, -1))), m.literal(repr(_outwards(high, 1)))
    others = {
        name: m.literal(repr(x))
        for name, x in model.values.items()
        if name in part.leaves and name not in sides
    }
    if not sides:
        return None
    try:
        proven, *_ = BoxRanges(m, part.graph, sides, others, [*sides]).ranges()
    except (Diagnosed, BudgetExceeded, ArithmeticError, ValueError):
        return None
    if not proven.everywhere:
        return None
    ends = [end.a for end in (proven.low, proven.high)]
    low, high = float(ends[0].mid() - ends[0].rad()), float(ends[1].mid() + ends[1].rad())
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    return low, high


def _outwards(x: float, sign: int) -> float:
    for _ in range(WIDER):
        x = math.nextafter(x, sign * math.inf)
    return x
