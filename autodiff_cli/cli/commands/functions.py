"""`autodiff functions`: the functions of the language, from the table of primitives."""

from ...formulas.functions import FunctionEntry, Functions, function, functions
from ...views.formats import Asked, draws, writer
from ...views.functions import FunctionsView
from .. import options
from ..runner import Inputs


def run(
    *,
    name: str | None = None,
    answers: options.Answers,
    document: bool = False,
) -> int:
    """List the functions of the language; return the exit code."""
    inputs = Inputs.of(options.Program(""), answers, document)
    shown = FunctionsView()
    chosen = inputs.chosen(shown.formats)
    together = name is None and draws(chosen)
    entries: tuple[FunctionEntry | Functions, ...]
    entries = (functions(),) if together else functions().entries if name is None else (function(name),)
    file = inputs.out()
    out = writer(chosen, file.stream, shown, many=name is None and not together, document=document)
    for entry in entries:
        out.answer(Asked(None), entry)
    out.close()
    return file.finish(0)
