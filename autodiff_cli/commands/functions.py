"""`autodiff functions`: the functions of the language, from the table of primitives."""

import sys
from typing import Annotated

from ..questions.functions import function, functions
from ..streams import options
from ..views.formats import Asked, writer
from ..views.functions import list_view, view

EXAMPLE = "autodiff functions softplus"

Name = Annotated[str | None, options.Argument("[NAME]", "One function, in full; else all of them.")]


def run(name: Name = None, format: options.Format = None, json: options.Json = False) -> int:
    """The functions of the language.

    For each its signature, domain and derivative, and what is taken for the derivative at a kink.
    """
    chosen = "json" if json else format or "table"
    if name is None and chosen in ("table", "markdown"):
        writer(chosen, sys.stdout, list_view(), many=False).answer(Asked(None), functions())
        return 0
    entries = functions() if name is None else (function(name),)
    out = writer(chosen, sys.stdout, view(), many=name is None)
    for entry in entries:
        out.answer(Asked(None), entry)
    out.close()
    return 0
