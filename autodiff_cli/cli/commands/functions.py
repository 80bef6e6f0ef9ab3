"""`autodiff functions`: the functions of the language."""

from collections.abc import Sequence
from typing import Any

from ...formulas.functions import function, functions
from ...views.functions import FunctionsView
from ...views.schema import FORMS
from ..runner import Command, write_entries


def run(call: Command) -> int:
    """List the functions of the language."""
    shown, name = FunctionsView(), call.name
    chosen = call.choose_format(shown.formats)
    entries: Sequence[Any]
    if name is not None:
        entries = [function(name)]
    else:
        entries = [functions()] if FORMS.get(chosen) == "document" else functions().entries
    return write_entries(call, shown, entries, chosen=chosen)
