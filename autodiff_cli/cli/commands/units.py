"""`autodiff units`: the units and constants, from their table."""

from ...formulas.units import units
from ...views.units import UnitsView
from ..call import Call
from ..runner import Inputs, write_entries


def run(call: Call) -> int:
    """List units and constants; return the exit code."""
    return write_entries(Inputs.of(call), UnitsView(), [units(call.name)])
