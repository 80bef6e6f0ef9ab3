"""The Python function of `limit`."""

from __future__ import annotations

from ...api.api_answers import Answer
from ...api.calls import function_of
from . import limit as _limit


class Limit(Answer, _limit.Limit, shows=("kind", "formula", "limit")):
    """The limit of a program where one variable approaches a place: `0`, `"0+"`, `"0-"`, `"inf"`,
    `"-inf"`.

    >>> limit("sin(x)/x", {"x": 0}).formula
    '1'
    >>> answer = limit("abs(x)/x", {"x": 0})
    >>> answer.exists, [side.formula for side in answer.sides]
    (False, ['-1', '1'])
    """


limit = function_of(Limit, "limit")
