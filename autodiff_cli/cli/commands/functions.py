"""`autodiff functions`: the functions of the language, from the table of primitives."""

from typing import Annotated

from ...formulas.functions import FunctionEntry, Functions, function, functions
from ...views.formats import Asked, draws, writer
from ...views.functions import FunctionsView
from .. import options
from ..runner import Inputs

EXAMPLES = (
    "autodiff functions softplus",
    "autodiff functions --format json",
)

Name = Annotated[str | None, options.Argument("[NAME]", "One function, in full; else all of them.")]


ANSWERS = (
    options.Without.of("--file", "--digits", "--decimals", "--on-error"),
    options.formats(FunctionsView().formats, "table by default"),
)


def run(*, name: Name = None, answers: Annotated[options.Answers, *ANSWERS], document: options.Document = False) -> int:
    """List the functions of the language.

    Each has its signature, domain and derivative, and the value that is used as derivative at a kink.
    """
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
