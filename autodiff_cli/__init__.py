"""Exact gradients of formulas: a function for every command, `Value`, and the functions of the
language.

>>> from autodiff_cli import Value, gradient, tanh
>>> gradient("((w1-1)**2 + (w2-5)**2)*0.5", {"w1": 2, "w2": 3}).gradient
{'w1': 1.0, 'w2': -2.0}
>>> x = Value(0.5)
>>> y = tanh(x) * x
>>> y.backward()
>>> round(x.grad, 6)
0.855341

`from autodiff_cli import *` leaves out the functions that share a name with Python's own: `abs`,
`max`, `min`.
"""

__version__ = "0.2.0"

# The functions of commands, with the capabilities whose modules `NAME_function` have them.
_CAPABILITIES = {
    "gradient": "derivatives", "check": "check", "trace": "trace", "graph": "graph", "page": "page",
    "hessian": "derivatives", "jacobian": "derivatives", "taylor": "derivatives", "limit": "limit",
    "tangent": "tangent", "integrate": "integrals", "diff": "formulas", "solve": "solve",
    "plot": "plot", "descend": "optimize", "minimize": "optimize", "fit": "optimize",
    "propagate": "propagate", "export": "export", "exercise": "exercise", "functions": "formulas",
    "units": "formulas",
}  # fmt: skip

# Public names besides the functions of the language, in reading order, with their modules.
#
# Nothing is imported before it is asked for, so that the command starts fast and a call loads what
# it needs.
_PUBLIC = {
    **{name: f"capabilities.{home}.{name}_function" for name, home in _CAPABILITIES.items()},
    "maximize": "capabilities.optimize.minimize_function", "rows": "api.row_functions",
    "parse": "capabilities.derivatives.parse_function",
    "Program": "capabilities.derivatives.program", "grad": "capabilities.derivatives.transforms",
    "value_and_grad": "capabilities.derivatives.transforms",
    "draw": "capabilities.graph.graph_function", "draw_dot": "capabilities.graph.graph_function",
    "Answer": "api.api_answers", "Gradient": "capabilities.derivatives.gradient_function",
    "GradientRanges": "capabilities.derivatives.ranges",
    "DigitsOverBox": "capabilities.check.digits_over_box", "Value": "engine.graphs.value",
    "ExpressionError": "errors", "Diagnostic": "errors", "Span": "errors",
}  # fmt: skip

# The other classes of answers, for annotations: `import *` leaves them out.
_ANSWERS = {
    "Check": "check", "Trace": "trace", "Picture": "graph", "Page": "page", "Hessian": "hessian",
    "Jacobian": "jacobian", "Taylor": "taylor", "Limit": "limit", "TangentLine": "tangent",
    "Integral": "integrate", "Diff": "diff", "Solved": "solve", "Curve": "plot", "Surface": "plot",
    "ImplicitPlot": "plot", "Descent": "descend", "Minimum": "minimize", "Fit": "fit",
    "Propagation": "propagate", "Exported": "export", "Sheet": "exercise", "Marked": "exercise",
    "FunctionEntry": "functions", "Functions": "functions", "UnitTable": "units",
}  # fmt: skip

# What other programs look for: `%load_ext autodiff_cli` of a notebook.
_HOOKS = {"load_ipython_extension": "capabilities.session.notebook"}


def __getattr__(name: str) -> object:
    import builtins
    from importlib import import_module

    value: object
    home = _PUBLIC.get(_ANSWERS.get(name, name)) or _HOOKS.get(name)
    if home is not None:
        value = getattr(import_module(f"{__name__}.{home}"), name)
    else:
        library = import_module(f"{__name__}.engine.graphs.library")
        if name == "__all__":
            value = [
                *_PUBLIC,
                *[public for public in library.__all__ if not hasattr(builtins, public)],
            ]
        elif name in library.__all__:
            value = getattr(library, name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))  # type: ignore[call-overload]
