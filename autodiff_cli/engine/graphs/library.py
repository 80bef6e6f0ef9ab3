"""The functions of the language for Python, on Values and plain numbers."""

from collections.abc import Callable
from typing import Any

from ..table.primitive import FUNCTIONS, PRIMITIVES, Primitive
from .value import Value, apply

__all__ = [*FUNCTIONS]


def _python_function(name: str, primitive: Primitive) -> Callable[..., Any]:
    params = [p.strip("*") for p in primitive.params]
    least = len(params) - len(primitive.defaults)
    arity = -1 if primitive.variadic else len(params)

    def function(*args: Any, **named: Any) -> Any:
        if arity == 1 == len(args) and not named and type(args[0]) is Value:
            return apply(primitive, args[0])
        called = primitive
        if named or len(args) != arity:
            args += tuple(named.pop(p) for p in params[len(args) :] if p in named)
            if primitive.longer and len(args) == len(PRIMITIVES[primitive.longer].params):
                called = PRIMITIVES[primitive.longer]
            elif named or len(args) < least or (len(args) > len(params) and not primitive.variadic):
                raise TypeError(f"{name}: call it as {primitive.signature}")
            elif not primitive.variadic:
                args += tuple(float(d) for d in primitive.defaults[len(args) - least :])
        for argument in args:
            if type(argument) is not Value and hasattr(argument, "comparisons"):
                from .tracing import applied  # only functions that are recorded need it

                return applied(lambda *operands: apply(called, *operands), args)
        result = apply(called, *args)
        return result if any(isinstance(argument, Value) for argument in args) else result.data

    domain = f"\n\nDefined where {primitive.domain}." if primitive.domain else ""
    kink = f"\nDerivative at kinks: {primitive.convention}." if primitive.convention else ""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"`{primitive.signature}`: {primitive.doc}.{domain}{kink}\n\n"
        "Returns a Value if an argument is one, else a float. Angles are radians. "
        "Raises `ExpressionError` where it has no value."
    )
    return function


globals().update({name: _python_function(name, primitive) for name, primitive in FUNCTIONS.items()})
