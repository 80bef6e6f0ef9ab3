"""Lists: values and adjoints of ordinary formulas on flat lists, for streams of many short ones.

A formula is a row of steps `(operation, place, a, b)`: the place of the result among the numbers, and the places of the
inputs. There are no nodes, no spans and no warnings. Whatever is out of the ordinary (an error, an infinite number, a
kink) raises here or gives None, and the sweeps over a graph are asked instead, which know what to say. Where there is
an answer it is that of the sweeps to the last bit: the same functions and rules, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pow as power
from typing import Any

from ..numbers.floats import REAL
from ..table import operators as table
from ..table import primitives as primitives
from ..table.operators import POW
from ..table.primitive import FUNCTIONS, Primitive

ADD, SUB, MUL, DIV, NEG, RAISE, WHOLE, CALL, GENERAL = range(9)
"""Operations. RAISE is a power with a constant exponent, WHOLE one whose exponent is a whole number from 1 on; CALL is
a smooth function of one input, `b` its value and its rule; GENERAL any other, `a` all its inputs, `b` its primitive."""

Step = tuple[int, int, Any, Any]
Smooth = tuple[Callable[[float], float], Callable[..., float]]

CALLABLE: dict[str, Primitive] = {
    name: primitive
    for name, primitive in FUNCTIONS.items()
    if primitive.demand is None and not primitive.constant_params
}
"""The functions that a step may apply, by their names in the language."""

_smooth: dict[Primitive, Smooth | None] = {}
_by_base = POW.partials[0]
_by_numerator, _by_denominator = table.DIV.partials


def is_whole(exponent: float) -> bool:
    """Whether a power with this constant exponent is a WHOLE one."""
    return 1.0 <= exponent < 1e15 and exponent == int(exponent)


def smooth(primitive: Primitive) -> Smooth | None:
    """What a CALL of the primitive needs; None where it takes a GENERAL step."""
    try:
        return _smooth[primitive]
    except KeyError:
        rule = primitive.partials[0] if len(primitive.partials) == 1 else None
        found = None if rule is None or primitive.may_kink or primitive.variadic else (_function(primitive), rule)
        return _smooth.setdefault(primitive, found)


def _function(primitive: Primitive) -> Callable[..., float]:
    function: Callable[..., float] = getattr(REAL, primitive.name)
    return function


def general(primitive: Primitive, inputs: Sequence[float]) -> float:
    """The value of a GENERAL step; raises ArithmeticError for a number of inputs that the primitive does not take."""
    if not primitive.variadic and len(inputs) != len(primitive.params):
        raise ArithmeticError
    return _function(primitive)(*inputs)


def evaluate(steps: Sequence[Step], data: list[float]) -> None:
    """Fill in the results of the steps. Raises ValueError or ArithmeticError where one has none."""
    for op, place, a, b in steps:
        if op == MUL:
            data[place] = data[a] * data[b]
        elif op == ADD:
            data[place] = data[a] + data[b]
        elif op == CALL:
            data[place] = b[0](data[a])
        elif op == SUB:
            data[place] = data[a] - data[b]
        elif op == DIV:
            data[place] = data[a] / data[b]
        elif op == WHOLE:
            data[place] = power(data[a], data[b])
        elif op == NEG:
            data[place] = -data[a]
        elif op == RAISE:
            data[place] = REAL.pow(data[a], data[b])
        else:
            data[place] = general(b, [data[p] for p in a])


def adjoints(steps: Sequence[Step], data: list[float], output: int) -> list[float] | None:
    """The adjoints of all numbers, up to the sign of a zero; None where the sweeps have to be asked.

    Raises ValueError or ArithmeticError where they have to be asked as well.
    """
    result = [0.0] * len(data)
    result[output] = 1.0
    for op, place, a, b in reversed(steps):
        adjoint = result[place]
        if op == MUL:
            result[a] += adjoint * data[b]
            result[b] += adjoint * data[a]
        elif op == ADD:
            result[a] += adjoint
            result[b] += adjoint
        elif op == CALL:
            result[a] += adjoint * b[1](REAL, data[a], data[place])
        elif op == SUB:
            result[a] += adjoint
            result[b] -= adjoint
        elif op == DIV:
            x, y, out = data[a], data[b], data[place]
            result[a] += adjoint * _by_numerator(REAL, x, y, out)  # type: ignore[misc]
            result[b] += adjoint * _by_denominator(REAL, x, y, out)  # type: ignore[misc]
        elif op == WHOLE:
            y = data[b]
            result[a] += adjoint * (y * power(data[a], y - 1.0))
        elif op == NEG:
            result[a] -= adjoint
        elif op == RAISE:
            result[a] += adjoint * _by_base(REAL, data[a], data[b], data[place])  # type: ignore[misc]
        elif not _pass_on(b, a, adjoint, data, data[place], result):
            return None
    # Infinities and nan show in the sum, which is then not equal to itself less itself.
    total = sum(data) + sum(result)
    return result if total - total == 0.0 else None


def _pass_on(
    primitive: Primitive, places: Sequence[int], adjoint: float, data: list[float], out: float, result: list[float]
) -> bool:
    """Add what a GENERAL step gives to its inputs; False where the sweeps, sparing the inactive ones, may differ."""
    inputs = [data[p] for p in places]
    if (primitive.kink and primitive.kink(*inputs)) or (primitive is POW and inputs[0] <= 0):
        return False
    if primitive.variadic:
        partials = primitive.partials[0](REAL, inputs, out)  # type: ignore[misc]
    else:
        partials = [rule and rule(REAL, *inputs, out) for rule in primitive.partials]
    for p, partial in zip(places, partials, strict=True):
        if partial is not None:
            result[p] += adjoint * partial
    return True
