"""Frequencies and angular velocities: of one dimension in the SI, and apart by a factor of 2*pi."""

from __future__ import annotations

from ..engine.quantities.unit import Unit, unit_or_none
from ..errors import point_error


def check_periods(number: str, own: Unit, wanted: Unit) -> None:
    """Refuse to convert a number of periods to one of angles, or back, as the same number of 1/s.

    `50 Hz` is 314 rad/s, and `60 rev/min` is 1 Hz; with the radian as the number 1 they would be 50 rad/s and 6.28 Hz.
    """
    if own.dimension != wanted.dimension:
        return
    if (_is_of_periods(own) and _is_of_angles(wanted)) or (_is_per_time(own) and _has_turns(wanted)):
        message = f"`{own}` counts periods, and `{wanted}` is of angles: they differ by a factor of 2*pi"
        raise point_error(
            message, f"an angular velocity is 2*pi times the frequency: `2*pi*{number}[{own}] in {wanted}`"
        )
    if (_is_of_angles(own) and _is_of_periods(wanted)) or (_has_turns(own) and _is_per_time(wanted)):
        message = f"`{own}` is of angles, and `{wanted}` counts periods: they differ by a factor of 2*pi"
        raise point_error(
            message, f"a frequency is the angular velocity over 2*pi: `{number}[{own}]/(2*pi) in {wanted}`"
        )


def _is_of_periods(unit: Unit) -> bool:
    """Return whether it counts periods: hertz, or 1/min, in which speeds of engines are given."""
    return any(symbol.endswith("Hz") for symbol, _ in unit.atoms) or (_is_per_time(unit) and unit.atoms[0][0] != "s")


def _is_per_time(unit: Unit) -> bool:
    return len(unit.atoms) == 1 and unit.atoms[0][1] == -1


def _is_of_angles(unit: Unit) -> bool:
    """Return whether it has radians, degrees, revolutions or the like."""
    return any(symbol.endswith("rad") or _own(symbol).pi for symbol, _ in unit.atoms)


def _has_turns(unit: Unit) -> bool:
    return any(symbol == "rev" for symbol, _ in unit.atoms)


def _own(symbol: str) -> Unit:
    return unit_or_none(symbol) or Unit()
