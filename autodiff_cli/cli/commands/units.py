"""`autodiff units`: the units and constants, from their table."""

from ...formulas.units import units
from ...views.units import UnitsView
from .. import options
from ..runner import Inputs, write_entries


def run(*, name: str | None = None, answers: options.Answers) -> int:
    """List units and constants; return the exit code."""
    return write_entries(Inputs.of(options.Program(""), answers), UnitsView(), [units(name)])
