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

__version__ = "0.1.0"

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


def __getattr__(name: str) -> object:
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
