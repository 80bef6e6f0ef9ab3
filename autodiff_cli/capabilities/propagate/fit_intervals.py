"""Intervals by the profile of a fit, carried over to a formula of one of its parameters.

The sum of squares that belongs to a value of the formula is the least one over the values of the parameter that give
it, so that the interval of the formula has the formula's values over the interval of the parameter: Bates and Watts,
Nonlinear Regression Analysis and Its Applications (1988), 6.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...engine.quantities.presentation import present
from ...engine.quantities.unit import Unit
from ...engine.table.operators import VARIABLE
from .measurement_model import Explicit, Model
from .worst_case import proven_range

Ends = tuple[float | None, float | None]
"""The ends of an interval, None where it is open."""


class ProfiledParameter(NamedTuple):
    """A parameter of a fit as it stands in the fit: estimate, standard error, interval by profile."""

    estimate: float
    error: float
    ends: Ends


def profile_intervals(
    model: Model, inputs: Sequence[str], units: Sequence[Unit], profiled: Mapping[str, ProfiledParameter]
) -> list[Ends | None]:
    """Return the interval of each output by profile; None for those of several inputs, and where it is not known."""
    if not isinstance(model, Explicit):
        return [None] * len(units)
    return [_interval(model, j, inputs, unit, profiled) for j, unit in enumerate(units)]


def _interval(
    model: Explicit, j: int, inputs: Sequence[str], unit: Unit, profiled: Mapping[str, ProfiledParameter]
) -> Ends | None:
    part = model.output_program(j)
    used = [name for name in inputs if name in part.leaves]
    if len(used) != 1 or used[0] not in profiled:
        return None
    (name,) = used
    own, quantity = profiled[name], model.point[name]
    middle, error = quantity.distribution.parameters  # type: ignore[union-attr]
    # the fit may have it in another unit than the point
    low, high = (None if end is None else middle + (end - own.estimate) * (error / own.error) for end in own.ends)
    graph = part.graph
    if graph.primitives[graph.roots[0]] is VARIABLE:
        return (None if low is None else present(low, unit)), (None if high is None else present(high, unit))
    if low is None or high is None:
        return None
    return proven_range(model, j, {name: (low, middle, high)}, unit)
