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
    "Answer": "api.api_answers", "Gradient": "capabilities.derivatives.gradient",
    "GradientRanges": "capabilities.derivatives.ranges",
    "DigitsOverBox": "capabilities.check.digits_over_box", "Value": "engine.graphs.value",
    "ExpressionError": "errors", "Diagnostic": "errors", "Span": "errors",
}  # fmt: skip

# The other classes of answers, for annotations, with their modules: `import *` leaves them out.
_ANSWERS = {
    "Check": "check.check", "Trace": "trace.trace", "Picture": "graph.graph", "Page": "page.page",
    "Hessian": "derivatives.hessian", "Jacobian": "derivatives.jacobian",
    "Taylor": "derivatives.taylor", "Limit": "limit.limit", "TangentLine": "tangent.tangent_line",
    "Integral": "integrals.integrate", "Diff": "formulas.diff", "Solved": "solve.solve",
    "Curve": "plot.plot", "Surface": "plot.contours", "ImplicitPlot": "plot.implicit",
    "Descent": "optimize.descend_function", "Minimum": "optimize.minimize", "Fit": "optimize.fit",
    "Propagation": "propagate.propagate", "Exported": "export.export",
    "Sheet": "exercise.exercise", "Marked": "exercise.exercise",
    "FunctionEntry": "formulas.functions", "Functions": "formulas.functions",
    "UnitTable": "formulas.units",
}  # fmt: skip

# What other programs look for: `%load_ext autodiff_cli` of a notebook.
_HOOKS = {"load_ipython_extension": "capabilities.session.notebook"}


def __getattr__(name: str) -> object:
    import builtins
    from importlib import import_module

    value: object
    home = _PUBLIC.get(name) or _HOOKS.get(name)
    if name in _ANSWERS:
        home = f"capabilities.{_ANSWERS[name]}"
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
