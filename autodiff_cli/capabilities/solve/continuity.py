"""Whether the sides of an equation are one continuous piece around a root.

A sign change and a small residual show neither: both occur beside a jump (`floor(x) = 7 - x` at 4),
a pole (`sin(2*x)/cos(x) = 2` at π/2) and a hole (`abs(x)/x = 1 - x` at 0).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ...engine.graphs.value import Value, in_order
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.budget import Defined
from ...engine.numbers.multiprecision import Multiprecision
from ...engine.table.operators import DIV, POW

# Halvings of an interval of 80 digits, to 1e-45 of its width: a continuous change shrinks with it.
HALVINGS = 150
# The share of a change that is left after all halvings if it is a jump; of a cube root's, 1e-15 is.
LASTING = 0.5
# The share of its size beside a root below which a divisor is 0 at it, and 1 over that of a pole.
#
# A root of multiplicity 2 has 40 of 80 digits, and is compared with numbers at 1e-15 of its size
# from it.
NEGLIGIBLE = 1e-20

# Digits of two evaluations: a number that is only rounding differs between them by 1e50.
POLE_DIGITS = 50, 100


class Sample(NamedTuple):
    """The values of an equation's operations at a number; the last is that of the equation."""

    values: Sequence[Any]
    divisors: Sequence[Any]

    @property
    def residual(self) -> Any:
        return self.values[-1]


# Evaluates the equation at a number; None where it is undefined.
Samples = Callable[[Any], Sample | None]


def may_jump(output: Value) -> bool:
    """Return whether a program has an operation that jumps or chooses."""
    return any(v.primitive.jumps or v.primitive.gives_condition for v in in_order((output,)))


def may_break(output: Value) -> bool:
    """Return whether a program has an operation that jumps, chooses, or is undefined somewhere."""
    primitives = {v.primitive for v in in_order((output,))}
    return may_jump(output) or any(
        each.domain or each.infinite or each is POW for each in primitives
    )


def sampler(m: Multiprecision, output: Value, fixed: dict[str, Any], name: str) -> Samples:
    """Return a function that evaluates an equation, and all that it is made of, by its unknown
    `name`.
    """

    def sample(x: Any) -> Sample | None:
        with Defined(ArithmeticError, ValueError):
            at = evaluate_in(m, (output,), {**fixed, name: x})
            graph, data = at.graph, at.graph.data
            evaluated = [
                i
                for i in at.order
                if not (graph.primitives[i].gives_condition or graph.primitives[i].vector)
            ]
            divisors = [data[d] for d in _divisors(graph, evaluated)]
            return Sample([m.number(data[i]) for i in evaluated], [m.number(x) for x in divisors])
        return None

    return sample


def _divisors(graph: Any, evaluated: Sequence[int]) -> Iterator[int]:
    for i in evaluated:
        primitive, parents = graph.primitives[i], graph.parents[i]
        if primitive is DIV:
            yield parents[1]
        elif primitive is POW and graph.data[parents[1]] < 0:
            yield parents[0]


def jumps_away(sample: Samples, low: Any, high: Any) -> bool:
    """Return whether the equation jumps between two numbers, and has no root on either side of the
    jump.
    """
    below, above = sample(low), sample(high)
    if below is None or above is None:
        return False
    left, right = (low, below), (high, above)
    change = abs(above.residual - below.residual)
    for _ in range(HALVINGS):
        x = (left[0] + right[0]) / 2
        here = sample(x)
        if here is None:
            break
        if abs(here.residual - left[1].residual) >= abs(right[1].residual - here.residual):
            right = x, here
        else:
            left = x, here
    if abs(right[1].residual - left[1].residual) < LASTING * change:
        return False
    pieces = ((below, left[1]), (right[1], above))
    return not any(_opposite(a.residual, b.residual) for a, b in pieces)


def _opposite(a: Any, b: Any) -> bool:
    return bool(min(a, b) < 0 < max(a, b)) or (a == 0 and b == 0)


def is_hole(sample: Samples, root: Any, low: Any, high: Any) -> bool:
    """Return whether the equation has no value at a root: undefined, a divisor that is 0, or a pole
    of a part.
    """
    here = sample(root)
    if here is None:
        return True
    beside = [each for each in map(sample, (low, high)) if each is not None]
    for near in beside:
        if len(near.values) != len(here.values) or len(near.divisors) != len(here.divisors):
            continue  # another branch
        if any(
            abs(d) < NEGLIGIBLE * abs(e) for d, e in zip(here.divisors, near.divisors, strict=True)
        ):
            return True
        if any(
            NEGLIGIBLE * abs(v) > abs(w) > 0 for v, w in zip(here.values, near.values, strict=True)
        ):
            return True
    return False


def is_at_a_pole(output: Value) -> bool:
    """Return whether a program of numbers only has a part that is infinite: one that grows with the
    digits.
    """
    few, many = (
        sampler(Multiprecision(digits, decimals=True), output, {}, "")(0) for digits in POLE_DIGITS
    )
    if few is None or many is None:
        return True
    if len(few.values) != len(many.values) or len(few.divisors) != len(many.divisors):
        return False  # another branch: rounding decides a condition
    grows = any(
        NEGLIGIBLE * abs(w) > abs(v) > 0 for v, w in zip(few.values, many.values, strict=True)
    )
    return grows or any(
        abs(e) < NEGLIGIBLE * abs(d) for d, e in zip(few.divisors, many.divisors, strict=True)
    )


def root_between(sample: Samples, low: Any, high: Any) -> Any | None:
    """Return the number where the equation changes its sign between two, to all digits; None if it
    does not.
    """
    a, b = sample(low), sample(high)
    if a is None or b is None or not min(a.residual, b.residual) < 0 < max(a.residual, b.residual):
        return None
    for _ in range(4 * HALVINGS):
        x = (low + high) / 2
        here = sample(x)
        if here is None or here.residual == 0 or x in (low, high):
            return x
        if (here.residual < 0) == (a.residual < 0):
            low = x
        else:
            high = x
    return x
