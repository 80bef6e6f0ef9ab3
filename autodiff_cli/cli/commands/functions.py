"""`autodiff functions`: the functions of the language."""

from typing import Any

from ...formulas.functions import function, functions
from ...views.functions import FunctionsView
from ...views.schema import FORMS
from ..runner import Command, write_entries


def run(call: Command) -> int:
    """List the functions of the language."""
    shown, name = FunctionsView(), call.name
    chosen = call.chosen(shown.formats)
    every = functions() if name is None else None
    entries: Any = [function(name)] if every is None else [every] if FORMS.get(chosen) == "document" else every.entries
    return write_entries(call, shown, entries, chosen=chosen)
