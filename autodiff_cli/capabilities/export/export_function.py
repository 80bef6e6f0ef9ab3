"""The Python function of `export`."""

from __future__ import annotations

from ...api.api_answers import Answer
from ...api.calls import function_of
from . import export as _export


class Exported(Answer, _export.Exported, shows=("target", "name", "variables")):
    """A function that computes value and gradient, as source code in the language `to`: python by
    default.

    For SQL it is one statement, in the `dialect` of a database: duckdb by default.

    >>> print(export("x*y", "python").source.splitlines()[-1].strip())
    return t1, (y, x)
    """


export = function_of(Exported, "export", "to")
