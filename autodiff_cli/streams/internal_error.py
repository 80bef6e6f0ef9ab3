"""Messages of internal errors, or with `--debug` their tracebacks; and of too little memory."""

from __future__ import annotations

from ..errors import ExpressionError

tracebacks = False
"""Whether `--debug` was given."""


def internal_error_message(fault: Exception, task: str) -> ExpressionError:
    """The error that stands for a fault; `task` is what a report of it has to hold."""
    return ExpressionError(
        "internal",
        f"something went wrong inside autodiff ({type(fault).__name__}); this is a bug, sorry",
        hint=f"please report it, with {task} and what it prints under `--debug`",
    )


def no_memory() -> ExpressionError:
    """The error of an answer for which there is not enough memory."""
    return ExpressionError("limit", "there is not enough memory for this", hint="use a smaller program")
