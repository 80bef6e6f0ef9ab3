"""The Python function of `functions`."""

from __future__ import annotations

from typing import cast

from ...api.api_answers import Answer, as_answer
from ...api.api_arguments import PythonCall
from ...api.calls import answers
from . import functions as _functions


class FunctionEntry(Answer, _functions.FunctionEntry, shows=("signature", "doc")):
    """A function of the language: signature, domain, derivative and definition."""


class Functions(Answer, _functions.Functions):
    """All functions of the language."""

    def __repr__(self) -> str:
        return f"<{len(self)} functions>"


@answers(
    "functions",
    "name",
    overloads=[("FunctionEntry", {"name": "str"}), ("Functions", {"name": "None"})],
)
def functions(call: PythonCall) -> FunctionEntry | Functions:
    """List the functions of the language, or describe one of them.

    >>> functions("tanh").domain or "everywhere"
    'everywhere'
    """
    if call.name is None:
        return Functions(tuple([as_answer(entry) for entry in _functions.functions()]))
    return cast(FunctionEntry, _functions.function(call.name))
