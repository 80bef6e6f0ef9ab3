"""The functions of the language for Python, on Values and plain numbers."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ..table.primitive import COMPOSED, FUNCTIONS, PRIMITIVES, Primitive
from .value import Value, apply, as_value

_ALL = FUNCTIONS | COMPOSED
__all__ = [*_ALL]


class _ValueOperations:
    """Values as a number type, for functions that stand for a formula of others."""

    def __getattr__(self, name: str) -> Callable[..., Value]:
        return partial(apply, PRIMITIVES[name])


def _applied(called: Primitive, *args: Any) -> Value:
    if called.composition is None:
        return apply(called, *args)
    result: Value = called.composition(_ValueOperations(), *map(as_value, args))
    return result


def _python_function(name: str, primitive: Primitive) -> Callable[..., Any]:
    params = [p.strip("*") for p in primitive.params]
    least = len(params) - len(primitive.defaults)
    arity = -1 if primitive.variadic else len(params)

    def completed(
        args: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[Primitive, tuple[Any, ...]]:
        """Return the operation that is meant, and its arguments in order with those left out.
        Raises `TypeError`.
        """
        args += tuple(named.pop(p) for p in params[len(args) :] if p in named)
        if primitive.longer and len(args) == len(PRIMITIVES[primitive.longer].params):
            return PRIMITIVES[primitive.longer], args
        if named or len(args) < least or (len(args) > len(params) and not primitive.variadic):
            raise TypeError(f"{name}: call it as {primitive.signature}")
        if not primitive.variadic:
            args += tuple(float(d) for d in primitive.defaults[len(args) - least :])
        return primitive, args

    def function(*args: Any, **named: Any) -> Any:
        if arity == 1 == len(args) and not named and type(args[0]) is Value:
            return apply(primitive, args[0])
        called = primitive
        if named or len(args) != arity:
            called, args = completed(args, named)
        for argument in args:
            if type(argument) is not Value and hasattr(argument, "comparisons"):
                from .tracing import applied  # only functions that are recorded need it

                return applied(partial(_applied, called), args)
        result = _applied(called, *args)
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


globals().update({name: _python_function(name, primitive) for name, primitive in _ALL.items()})
