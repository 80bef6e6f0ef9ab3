"""The Python function of `units`."""

from __future__ import annotations

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from . import units as _units
from .units import UnitTable


@answers("units", "name")
def units(call: PythonCall) -> UnitTable:
    """List the units and the constants of nature, or describe one of them.

    >>> units("inch").entries[0].value
    0.0254
    """
    return _units.units(call.name)
