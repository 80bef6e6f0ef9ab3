"""How the lists of functions and units are written."""

from __future__ import annotations

from ...cli.runner import Command, write_entries
from ...show.schema import FORMS
from .functions import functions as all_functions


def functions(call: Command) -> int:
    """List the functions of the language."""
    chosen = call.choose_format()
    if call.name is not None:
        return write_entries(call, [call.question(call.name)], chosen)
    listed = all_functions()
    entries = [listed] if FORMS.get(chosen) == "document" else listed.entries
    return write_entries(call, entries, chosen)


def units(call: Command) -> int:
    """List units and constants."""
    return write_entries(call, [call.question(call.name)], call.choose_format())
