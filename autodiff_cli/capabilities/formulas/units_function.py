"""The Python function of `units`."""

from __future__ import annotations

from typing import cast

from ...api.api_answers import Answer
from ...api.api_arguments import PythonCall
from ...api.calls import answers
from . import units as _units


class UnitTable(Answer, _units.UnitTable):
    """Units and constants."""

    def __repr__(self) -> str:
        return f"<{len(self.entries)} units and constants>"


@answers("units", "name")
def units(call: PythonCall) -> UnitTable:
    """List the units and the constants of nature, or describe one of them.

    >>> units("inch").entries[0].value
    0.0254
    """
    return cast(UnitTable, _units.units(call.name))
