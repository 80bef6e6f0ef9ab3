"""`autodiff functions`: the functions of the language, from the table of primitives."""

from ...formulas.functions import FunctionEntry, Functions, function, functions
from ...views.formats import draws
from ...views.functions import FunctionsView
from ..call import Call
from ..runner import Inputs, write_entries


def run(call: Call) -> int:
    """List the functions of the language; return the exit code."""
    inputs, name = Inputs.of(call), call.name
    shown = FunctionsView()
    chosen = inputs.chosen(shown.formats)
    entries: tuple[FunctionEntry | Functions, ...]
    entries = (function(name),) if name is not None else (functions(),) if draws(chosen) else functions().entries
    return write_entries(inputs, shown, entries, chosen=chosen)
