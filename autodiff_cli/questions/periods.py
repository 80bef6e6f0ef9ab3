"""Frequencies and angular velocities: of one dimension in the SI, and apart by a factor of 2*pi."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations

from ..engine.quantities.unit import NUMBER, Unit, split_literal, unit_or_none
from ..errors import Diagnostic, point_error
from ..language.builder import Program
from ..language.tokens import is_name

# The relative difference up to which a number of a formula stands for pi or 2*pi: 3.14 and 6.28.
NEAR_PI = 1e-3


def check_periods(number: str, own: Unit, wanted: Unit) -> None:
    """Refuse to convert a number of periods to one of angles, or back, as the same number of 1/s.

    `50 Hz` is 314 rad/s, and `60 rev/min` is 1 Hz; with the radian as the number 1 they would be 50
    rad/s and 6.28 Hz.
    """
    if _counts_periods_beside(own, wanted):
        message = (
            f"`{own}` counts periods, and `{wanted}` is of angles: they differ by a factor of 2*pi"
        )
        raise point_error(
            message,
            f"an angular velocity is 2*pi times the frequency: `2*pi*{number}[{own}] in {wanted}`",
        )
    if _counts_periods_beside(wanted, own):
        message = (
            f"`{own}` is of angles, and `{wanted}` counts periods: they differ by a factor of 2*pi"
        )
        raise point_error(
            message,
            f"a frequency is the angular velocity over 2*pi: `{number}[{own}]/(2*pi) in {wanted}`",
        )


def check_one_kind(name: str, own: Unit, other: Unit) -> None:
    """Refuse values of one variable of which some count periods, and others are of angles."""
    if _are_apart(own, other):
        whose = f"`{name}`" if is_name(name) else name
        message = f"{whose} has values in {own} and in {other}, which differ by a factor of 2*pi"
        raise point_error(
            message,
            "an angular velocity is 2*pi times the frequency: give both in one of these units",
        )


def _units_of_literals(program: Program) -> dict[str, Unit]:
    """Return the units of the numbers of a program, by how these are written."""
    sources = [source for _, source in program.all_nodes.constants.values() if source]
    return {f"`{text}`": split_literal(text)[1] for text in sources if "[" in text}


def _may_be_rate(unit: Unit) -> bool:
    return _is_per_time(unit) or _is_of_periods(unit) or _is_of_angles(unit)


def mixed_kinds(
    program: Program, units: Mapping[str, Unit], asked: Mapping[str, Unit] | None = None
) -> Diagnostic | None:
    """Return a warning of units of a formula that differ by a factor of 2*pi, which it lacks; else
    None.

    `units` are those of its variables and answers, by what a message calls them, and `asked` those
    that were asked for. Beside an angular velocity only hertz count periods: `2 1/min` may be a rate
    of decay.
    """
    wishes = asked or {}
    every = {**units, **wishes, **_units_of_literals(program)}
    # the first name of each unit: of many variables that are in one, one is compared
    kinds: dict[tuple[str, bool], tuple[str, Unit]] = {}
    for name, unit in every.items():
        if _may_be_rate(unit):
            kinds.setdefault((str(unit), name in wishes), (name, unit))
    if len(kinds) < 2 or _has_angles_or_pi(program, every):
        return None
    for (name, own), (other, wanted) in combinations(kinds.values(), 2):
        is_asked = name in wishes or other in wishes
        if _are_apart(own, wanted) and (is_asked or _has_hertz(own) or _has_hertz(wanted)):
            message = (
                f"{name} is in {own} and {other} in {wanted}: both count as 1/s here, and are a"
                " factor of 2*pi apart"
            )
            hint = (
                "an angular velocity is 2*pi times the frequency: write this factor, or give both"
                " in one of these units"
            )
            return Diagnostic("unit", message, None, hint)
    return None


def _has_angles_or_pi(program: Program, units: Mapping[str, Unit]) -> bool:
    """Return whether a formula may convert periods to angles: by the factor 2*pi, or by the angle
    of a period.
    """
    if {"pi", "π"} & program.constants.keys():
        return True
    if any(unit.dimension == NUMBER and _is_of_angles(unit) for unit in units.values()):
        return True
    numbers = (
        abs(float(x))
        for x, source in program.all_nodes.constants.values()
        if not (source and "[" in source)
    )
    return any(
        math.isclose(x, times * math.pi, rel_tol=NEAR_PI) for x in numbers for times in (1, 2)
    )


def _are_apart(own: Unit, other: Unit) -> bool:
    return _counts_periods_beside(own, other) or _counts_periods_beside(other, own)


def _counts_periods_beside(own: Unit, other: Unit) -> bool:
    """Return whether `own` counts periods and `other`, of the same dimension, is of angles."""
    if own.dimension != other.dimension:
        return False
    return (_is_of_periods(own) and _is_of_angles(other)) or (
        _is_per_time(own) and _has_turns(other)
    )


def _is_of_periods(unit: Unit) -> bool:
    """Return whether it counts periods: hertz, or 1/min, in which speeds of engines are given."""
    return _has_hertz(unit) or (_is_per_time(unit) and unit.atoms[0][0] != "s")


def _has_hertz(unit: Unit) -> bool:
    return any(symbol.endswith("Hz") for symbol, _ in unit.atoms)


def _is_per_time(unit: Unit) -> bool:
    return len(unit.atoms) == 1 and unit.atoms[0][1] == -1


def _is_of_angles(unit: Unit) -> bool:
    """Return whether it has radians, degrees, revolutions or the like."""
    return any(symbol.endswith("rad") or _own(symbol).pi for symbol, _ in unit.atoms)


def _has_turns(unit: Unit) -> bool:
    return any(symbol == "rev" for symbol, _ in unit.atoms)


def _own(symbol: str) -> Unit:
    return unit_or_none(symbol) or Unit()
