"""The Python function `parse`, which reads a program for calls at many points."""

from __future__ import annotations

from collections.abc import Collection

from ...api.api_arguments import sums_a_list
from ...api.calls import converted
from ...language.tokens import UnknownShape
from ...questions import problem
from .program import Program


def parse(text: str, given: Collection[str] = (), *, lenient: bool = False) -> Program:
    """Return the program of a text, not evaluated: its `parameters`, its graph, and a function of
    its variables.

    With `lenient` its `text` is the one that was read.

    `given` are the names that are variables although they are called like the constants `e`, `pi`,
    `π`. Raises `ExpressionError` where the text is not valid. Lists and matrices have the shapes of
    the arguments of a call.

    >>> parse("s = x*y; s**2 + x").parameters
    ('x', 'y')
    >>> parse("sum(w * x)").gradient(w=[1, 2], x=[3, 4]).gradient
    {'w': [3.0, 4.0], 'x': [1.0, 2.0]}
    """
    with converted(parse, "grad", text=text, given=given, lenient=lenient) as asked:
        if not asked.lenient:
            return _read(asked.text, asked.given)
        from ...language.diagnostics.leniency import read_leniently

        return read_leniently(asked.text, lambda read: _read(read, asked.given))[0]


def _read(text: str, given: Collection[str]) -> Program:
    try:
        program = problem.parse(text, given)
        uses_lists = any(name.endswith("]") for name in program.leaves) or sums_a_list(text)
        if not uses_lists or any(name.endswith("]") for name in given):
            return Program(program)
    except UnknownShape:
        pass
    from .list_program import ListProgram  # most programs are of numbers

    return ListProgram(text, given)
