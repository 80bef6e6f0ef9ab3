"""The Python function of `exercise`."""

from __future__ import annotations

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from . import sheet_marks as _marks
from .exercise import Marked, Sheet


@answers(
    "exercise",
    "level",
    "function",
    overloads=[
        ("Sheet", {"check": None, "answer": None}),
        ("Marked", {"count": None, "solutions": None, "check": "int", "answer": "str"}),
    ],
)
def exercise(call: PythonCall) -> Sheet | Marked:
    """Return exercises of a level, or whether the `answer` to the one with the number `check` is
    right.

    >>> sheet = exercise(2, count=3, seed=7)
    >>> sheet.exercises[1].program, exercise(2, seed=7, check=2, answer="54").right
    ('f(x) = (2*x + 3)**3', True)
    """
    return _marks.sheet_or_mark(**call.arguments(_marks.sheet_or_mark))
