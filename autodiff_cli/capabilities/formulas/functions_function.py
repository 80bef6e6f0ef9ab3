"""The Python function of `functions`."""

from __future__ import annotations

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from . import functions as _functions
from .functions import FunctionEntry, Functions


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
        return _functions.functions()
    return _functions.function(call.name)
