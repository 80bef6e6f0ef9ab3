"""The Python function of `limit`."""

from __future__ import annotations

from typing import cast

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from .limit import Limit


@answers("limit")
def limit(call: PythonCall) -> Limit:
    """The limit of a program where one variable approaches a place: `0`, `"0+"`, `"0-"`, `"inf"`,
    `"-inf"`.

    >>> limit("sin(x)/x", {"x": 0}).formula
    '1'
    >>> answer = limit("abs(x)/x", {"x": 0})
    >>> answer.exists, [side.formula for side in answer.sides]
    (False, ['-1', '1'])
    """
    return cast(Limit, call.ask())
