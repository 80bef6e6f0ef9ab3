"""Messages of internal errors, or with `--debug` their tracebacks; and of too little memory."""

from __future__ import annotations

from ..errors import ExpressionError, limit_error

tracebacks = False
"""Whether `--debug` was given."""


def error_of(fault: Exception, task: str) -> ExpressionError:
    """Return the error that stands for a fault in a `task`; with `--debug` raise the fault of a bug."""
    if isinstance(fault, ExpressionError):
        return fault
    if isinstance(fault, MemoryError):
        return limit_error("there is not enough memory for this", "use a smaller program")
    if tracebacks:
        raise fault
    return ExpressionError(
        "internal",
        f"something went wrong inside autodiff ({type(fault).__name__}); this is a bug, sorry",
        hint=f"please report it, with {task} and what it prints under `--debug`",
    )
