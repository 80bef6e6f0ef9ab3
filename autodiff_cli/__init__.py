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

    from .errors import Diagnostic as Diagnostic
    from .errors import ExpressionError as ExpressionError
    from .errors import Span as Span
    from .face import Answer as Answer
    from .face import Gradient as Gradient
    from .face import Program as Program
    from .face import check as check
    from .face import descend as descend
    from .face import diff as diff
    from .face import draw as draw
    from .face import draw_dot as draw_dot
    from .face import exercise as exercise
    from .face import export as export
    from .face import fit as fit
    from .face import functions as functions
    from .face import gradient as gradient
    from .face import graph as graph
    from .face import hessian as hessian
    from .face import jacobian as jacobian
    from .face import minimize as minimize
    from .face import page as page
    from .face import parse as parse
    from .face import plot as plot
    from .face import propagate as propagate
    from .face import rows as rows
    from .face import solve as solve
    from .face import taylor as taylor
    from .face import trace as trace
    from .values.library import *  # noqa: F403
    from .values.value import Value as Value

_ROOMS = {
    "errors": ("Diagnostic", "ExpressionError", "Span"),
    "values.value": ("Value",),
    "face": (
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
        functions = import_module(f"{__name__}.values.library")
        if name not in functions.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(functions, name)
    else:
        found = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    from importlib import import_module

    return sorted({*globals(), *_HOMES, *import_module(f"{__name__}.values.library").__all__})
