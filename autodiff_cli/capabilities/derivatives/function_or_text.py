"""Functions that answer a text, and make a function of a Python function."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any


def of_functions_too(made: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of a command that, of a Python function, returns the function of its
    derivatives.
    """

    @wraps(made)
    def function(text: Any, *args: Any, **keywords: Any) -> Any:
        if callable(text) and not isinstance(text, type):
            from . import transforms  # programs are texts mostly

            return getattr(transforms, made.__name__)(text, *args, **keywords)
        return made(text, *args, **keywords)

    function.of_functions = True  # type: ignore[attr-defined]
    return function
