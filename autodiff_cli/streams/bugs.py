"""Bugs: what a user is told of a fault of this program's own, or with `--debug` its traceback."""

from __future__ import annotations

from ..errors import ExpressionError

tracebacks = False
"""Whether `--debug` was given."""


def told(fault: Exception, given: str) -> ExpressionError:
    """The error that stands for a fault; `given` is what a report of it has to hold."""
    return ExpressionError(
        "internal", f"something went wrong inside autodiff ({type(fault).__name__}); this is a bug, sorry",
        hint=f"please report it, with {given} and what it prints under `--debug`",
    )  # fmt: skip
