"""The Python API: `Value`, `parse`, `gradient`, every function of the language, and the errors.

>>> from autodiff_cli import Value, gradient, tanh
>>> gradient("((w1-1)**2 + (w2-5)**2)*0.5", {"w1": 2, "w2": 3}).gradient
{'w1': 1.0, 'w2': -2.0}
>>> x = Value(0.5)
>>> y = tanh(x) * x
>>> y.backward()
>>> round(x.grad, 6)
0.855341

Nothing is imported before it is asked for, so that the command starts fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .errors import Diagnostic as Diagnostic
    from .errors import ExpressionError as ExpressionError
    from .errors import Span as Span
    from .graph.library import *  # noqa: F403
    from .graph.value import Value as Value
    from .language.builder import Program as Program
    from .questions.gradient import Gradient as Gradient
    from .questions.gradient import gradient as gradient
    from .questions.problem import parse as parse

_HOMES = {
    "Value": "graph.value",
    "Diagnostic": "errors",
    "ExpressionError": "errors",
    "Span": "errors",
    "Program": "language.builder",
    "Gradient": "questions.gradient",
    "gradient": "questions.gradient",
    "parse": "questions.problem",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = _HOMES.get(name)
    if home is None:
        functions = import_module(f"{__name__}.graph.library")
        if name not in functions.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(functions, name)
    else:
        found = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    from importlib import import_module

    return sorted({*globals(), *_HOMES, *import_module(f"{__name__}.graph.library").__all__})
