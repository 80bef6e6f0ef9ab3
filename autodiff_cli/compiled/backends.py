"""Messages about the backends that compile rows."""

from ..errors import ExpressionError, usage_error
from ..extras import install_hint


def needs_data() -> str:
    """Return why nothing is compiled without the extra `data`."""
    return f"it needs the extra `data`: {install_hint('data')}"


def unavailable_backend(name: str, why: str) -> ExpressionError:
    """Return the error for a backend that this machine or program lacks."""
    return usage_error(
        f"the backend `{name}` is not available: {why}", "leave it out for the fastest that is"
    )


def one_by_one(why: str) -> str:
    """Return the note on rows that are not compiled."""
    return f"the rows are computed one by one, which is slow: {why}"
