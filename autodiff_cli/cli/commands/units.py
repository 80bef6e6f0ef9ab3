"""`autodiff units`: the units and constants, from their table."""

from ...formulas.units import units
from ...views.units import UnitsView
from ..runner import Command, write_entries


def run(call: Command) -> int:
    """List units and constants."""
    return write_entries(call, UnitsView(), [units(call.name)])
