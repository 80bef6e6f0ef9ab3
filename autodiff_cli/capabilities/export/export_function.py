"""The Python function of `export`."""

from __future__ import annotations

from typing import cast

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from .export import Exported


@answers("export", "to")
def export(call: PythonCall) -> Exported:
    """A function that computes value and gradient, as source code in the language `to`: python by
    default.

    For SQL it is one statement, in the `dialect` of a database: duckdb by default.

    >>> print(export("x*y", "python").source.splitlines()[-1].strip())
    return t1, (y, x)
    """
    return cast(Exported, call.ask())
