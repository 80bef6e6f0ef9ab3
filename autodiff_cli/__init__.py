"""The Python API: `Value`, `parse`, a function for every command and of the language, and the errors.

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

TYPE_CHECKING = False  # as in `typing`, which takes a while to import

__version__ = "0.1.0"

if TYPE_CHECKING:
    from typing import Any

    from .api.python_functions import Answer as Answer
    from .api.python_functions import Gradient as Gradient
    from .api.python_functions import Program as Program
    from .api.python_functions import check as check
    from .api.python_functions import descend as descend
    from .api.python_functions import diff as diff
    from .api.python_functions import draw as draw
    from .api.python_functions import draw_dot as draw_dot
    from .api.python_functions import exercise as exercise
    from .api.python_functions import export as export
    from .api.python_functions import fit as fit
    from .api.python_functions import functions as functions
    from .api.python_functions import gradient as gradient
    from .api.python_functions import graph as graph
    from .api.python_functions import hessian as hessian
    from .api.python_functions import jacobian as jacobian
    from .api.python_functions import minimize as minimize
    from .api.python_functions import page as page
    from .api.python_functions import parse as parse
    from .api.python_functions import plot as plot
    from .api.python_functions import propagate as propagate
    from .api.python_functions import rows as rows
    from .api.python_functions import solve as solve
    from .api.python_functions import taylor as taylor
    from .api.python_functions import trace as trace
    from .errors import Diagnostic as Diagnostic
    from .errors import ExpressionError as ExpressionError
    from .errors import Span as Span
    from .graphs.library import *  # noqa: F403
    from .graphs.value import Value as Value

_ROOMS = {
    "errors": ("Diagnostic", "ExpressionError", "Span"),
    "graphs.value": ("Value",),
    "api.python_functions": (
        "Answer", "Gradient", "Program", "check", "descend", "diff", "draw", "draw_dot", "exercise", "export", "fit",
        "functions", "gradient", "graph", "hessian", "jacobian", "minimize", "page", "parse", "plot", "propagate",
        "rows", "solve", "taylor", "trace",
    ),
}  # fmt: skip
_HOMES = {name: home for home, held in _ROOMS.items() for name in held}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = _HOMES.get(name)
    if home is None:
        functions = import_module(f"{__name__}.graphs.library")
        if name not in functions.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(functions, name)
    else:
        found = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    from importlib import import_module

    return sorted({*globals(), *_HOMES, *import_module(f"{__name__}.graphs.library").__all__})
