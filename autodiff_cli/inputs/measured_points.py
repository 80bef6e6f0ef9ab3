"""Points with units: nothing about units is imported where a program and its point have none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import ExpressionError
from ..language.builder import Program
from .problem import PLAIN, Point, check_single, check_values, may_have_units

if TYPE_CHECKING:
    from .quantities import ProgramUnits


def with_units(point: Point | None) -> dict[str, float | str]:
    """Return the point with those of its values that have units read as quantities."""
    if PLAIN.issuperset(map(type, (point or {}).values())):
        return dict(point or {})
    from .quantities import with_quantities  # only units and texts need it

    return with_quantities(point or {})


def program_units(
    program: Program,
    values: Mapping[str, float],
    asked: Sequence[str] | str | None = None,
    outputs: Sequence[str] | None = None,
    system: bool = False,
) -> ProgramUnits | None:
    """Return the units of a program with one output, or with `outputs` of these names; None where there are none.

    `asked` are the units that were asked for; in a `system` the others are products of those of the inputs. Raises
    `ExpressionError` where dimensions do not fit together.
    """
    if not may_have_units(program.text, values, asked):
        return None
    from .quantities import units_of

    if outputs is None:
        check_single(program)
    check_values(program, values)
    if not system:
        return units_of(program, values, asked, outputs)
    from .column_units import without_units_hint

    try:
        return units_of(program, values, asked, outputs, system=True)
    except ExpressionError as error:
        raise without_units_hint(error) from None
