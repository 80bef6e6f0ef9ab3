"""Exact gradients of formulas: a function for every command, `Value`, and the functions of the language.

>>> from autodiff_cli import Value, gradient, tanh
>>> gradient("((w1-1)**2 + (w2-5)**2)*0.5", {"w1": 2, "w2": 3}).gradient
{'w1': 1.0, 'w2': -2.0}
>>> x = Value(0.5)
>>> y = tanh(x) * x
>>> y.backward()
>>> round(x.grad, 6)
0.855341

`from autodiff_cli import *` leaves out the functions that share a name with Python's own: `abs`, `max`, `min`.
"""

__version__ = "0.2.0"

_PUBLIC = {
    "api.python_functions": (
        "gradient", "check", "trace", "graph", "page", "parse", "Program", "hessian", "jacobian", "taylor", "limit",
        "diff", "solve", "plot", "descend", "minimize", "maximize", "fit", "propagate", "rows", "export", "exercise",
        "functions", "units", "draw", "draw_dot", "Answer", "Gradient",
    ),
    "graphs.value": ("Value",),
    "errors": ("ExpressionError", "Diagnostic", "Span"),
}  # fmt: skip
"""Public names besides the functions of the language, in reading order, with their modules.

Nothing is imported before it is asked for, so that the command starts fast.
"""


def __getattr__(name: str) -> object:
    import builtins
    from importlib import import_module

    value: object
    home = next((home for home, names in _PUBLIC.items() if name in names), None)
    if home is not None:
        value = getattr(import_module(f"{__name__}.{home}"), name)
    else:
        library = import_module(f"{__name__}.graphs.library")
        if name == "__all__":
            own = [public for names in _PUBLIC.values() for public in names]
            value = [*own, *[public for public in library.__all__ if not hasattr(builtins, public)]]
        elif name in library.__all__:
            value = getattr(library, name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))  # type: ignore[call-overload]
