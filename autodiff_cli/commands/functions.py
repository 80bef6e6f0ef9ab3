"""`autodiff functions`: the functions of the language, from the table of primitives."""

import sys
from typing import Annotated

from ..questions.functions import FunctionEntry, Functions, function, functions
from ..streams import options
from ..views.formats import Asked, draws, writer
from ..views.functions import view

EXAMPLE = "autodiff functions softplus"

Name = Annotated[str | None, options.Argument("[NAME]", "One function, in full; else all of them.")]


def run(name: Name = None, format: options.Format = None, json: options.Json = False) -> int:
    """The functions of the language.

    For each its signature, domain and derivative, and what is taken for the derivative at a kink.
    """
    chosen = "json" if json else format or "table"
    together = name is None and draws(chosen)
    entries: tuple[FunctionEntry | Functions, ...]
    entries = (functions(),) if together else functions() if name is None else (function(name),)
    out = writer(chosen, sys.stdout, view(), many=name is None and not together)
    for entry in entries:
        out.answer(Asked(None), entry)
    out.close()
    return 0
