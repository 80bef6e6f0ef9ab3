"""`autodiff functions`: the functions of the language, from the table of primitives."""

from ...formulas.functions import FunctionEntry, Functions, function, functions
from ...views.formats import draws
from ...views.functions import FunctionsView
from .. import options
from ..runner import Inputs, write_entries


def run(*, name: str | None = None, answers: options.Answers, document: bool = False) -> int:
    """List the functions of the language; return the exit code."""
    inputs = Inputs.of(options.Program(""), answers, document)
    shown = FunctionsView()
    chosen = inputs.chosen(shown.formats)
    entries: tuple[FunctionEntry | Functions, ...]
    entries = (function(name),) if name is not None else (functions(),) if draws(chosen) else functions().entries
    return write_entries(inputs, shown, entries, chosen=chosen)
