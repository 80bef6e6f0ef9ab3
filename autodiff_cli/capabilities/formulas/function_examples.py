"""An example for each function: a command that computes it at a point, and what that command
prints.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from ...engine.table.primitive import Primitive
from ...errors import ExpressionError
from ..derivatives.gradient import Gradient, plain_gradient

# What variables of an example may be: apart, in one order inside every domain of the table.
NUMBERS = (2.0, 3.0, 1.5, 0.5, 0.25)

# The examples of functions that take a condition, a list or a function.
WRITTEN = {
    "where": ("where(x > 1, x**2, y)", {"x": 3.0, "y": 2.0}),
    "dot": ("dot([x, y], [3, 4])", {"x": 1.0, "y": 2.0}),
    "norm": ("norm([x, y])", {"x": 3.0, "y": 4.0}),
    "outer": ("sum(outer([x, y], [1, 2]))", {"x": 3.0, "y": 4.0}),
    "softmax": ("softmax([x, y])[1]", {"x": 1.0, "y": 2.0}),
    "transpose": ("transpose([[x, 2], [y, 4]])[1,2]", {"x": 1.0, "y": 3.0}),
    "trace": ("trace([[x, 2], [3, y]])", {"x": 1.0, "y": 4.0}),
    "det": ("det([[x, 2], [3, y]])", {"x": 1.0, "y": 4.0}),
    "inv": ("inv([[x, 2], [3, y]])[1,2]", {"x": 1.0, "y": 4.0}),
    "solve": ("solve([[x, 2], [3, y]], [5, 6])[1]", {"x": 1.0, "y": 4.0}),
    "iterate": ("f(t) = (t + a/t)/2; iterate(f, 1, 6)", {"a": 2.0}),
}


def example_of(primitive: Primitive) -> tuple[str, str]:
    """Return a command that computes a function at a point where it has a derivative, and what it
    prints.
    """
    for formula, point in _proposed(primitive):
        try:
            answer = plain_gradient(formula, point)
        except ExpressionError:
            continue
        if not answer.warnings:
            at = ",".join([f"{name}={value:g}" for name, value in point.items()])
            return f'autodiff grad "{formula}" --at {at} --format plain', _plain(answer)
    return "", ""


def _proposed(primitive: Primitive) -> Iterator[tuple[str, dict[str, float]]]:
    if primitive.name in WRITTEN:
        yield WRITTEN[primitive.name]
        return
    names = list(primitive.params[: len(primitive.params) - len(primitive.defaults)])
    if primitive.variadic:
        names = ["x", "y"]
    fixed = dict.fromkeys(primitive.constant_params, "2")
    called = ", ".join([fixed.get(name, name) for name in names])
    free = [name for name in names if name not in fixed]
    for numbers in permutations(NUMBERS, len(free)):
        yield f"{primitive.name}({called})", dict(zip(free, numbers, strict=True))


def _plain(answer: Gradient[float]) -> str:
    slopes = [f"{name}={slope!r}" for name, slope in answer.gradient.items()]
    return " ".join([repr(answer.value), *slopes])
