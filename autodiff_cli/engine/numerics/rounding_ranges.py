"""A bound of the rounding errors of a program in doubles, proven over a box.

An operation rounds its own result, and passes on the errors of its inputs by its derivatives, which
are enclosed over all numbers that the inputs may be: the mean value theorem. Higham, Accuracy and
Stability of Numerical Algorithms, 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from ..graphs.value_and_gradient import evaluate_in
from ..numbers.base import Number, Refusal, undecided
from ..numbers.running_error import (
    NOT_ROUNDED,
    ONCE_ROUNDED,
    SPECIAL_ULPS,
    ULPS,
    UNDERFLOW_ERROR,
    UNIT_ROUNDOFF,
)
from ..run.evaluation import Evaluation
from ..run.flat_graph import Graph
from ..table.operators import CONSTANT, VARIABLE
from ..table.primitive import Primitive

MAX_DOUBLE_EXPONENT = 1023


class RoundingBound(NamedTuple):
    """The value of a program over a box, a bound of its rounding errors, and the node that loses
    most digits.
    """

    value: Any
    error: Any
    worst: int | None


def rounding_bound(m: Any, graph: Graph, values: Mapping[str, Number]) -> RoundingBound:
    """Return the bound of the rounding errors over a box of doubles, whose `values` are balls.

    Raises `ExpressionError` and the errors of operations where there is none.
    """
    from flint import arb

    at = evaluate_in(m, graph, values, [*values])
    errors: dict[int, Any] = {}
    losses: dict[int, float] = {}
    for i in at.order:
        primitive = at.graph.primitives[i]
        if primitive.gives_condition:
            _check_condition(at, i, errors)
            errors[i] = arb(0)
        elif primitive is VARIABLE:
            errors[i] = arb(0)
        elif primitive is CONSTANT:
            errors[i] = _constant_error(at, i)
        elif primitive.lazy_inputs:
            chosen = primitive.lazy_inputs(*at.graph.inputs(i))[-1]
            errors[i] = errors[at.graph.parents[i][chosen]]
        else:
            errors[i] = _operation_error(at, i, primitive, errors)
        losses[i] = _loss(at, i, errors)
    root = at.graph.roots[0]
    worst = max(losses, key=lambda i: losses[i])
    return RoundingBound(m.number(at.value).a, errors[root], worst if losses[worst] > 1 else None)


def _constant_error(at: Evaluation, i: int) -> Any:
    from flint import arb

    number, text = at.graph.constants[i]
    is_exact = text is None or (text[-1:].isdigit() and Decimal(text) == Decimal(float(number)))
    return arb(0) if is_exact else abs(arb(float(number))) * UNIT_ROUNDOFF


def _operation_error(
    at: Evaluation, i: int, primitive: Primitive, errors: Mapping[int, Any]
) -> Any:
    from flint import arb

    from ..numbers.ball import Ball

    m, parents = at.m, at.graph.parents[i]
    own = [m.number(at.graph.data[p]) for p in parents]
    inputs = [
        x if errors[p].is_zero() else Ball(_widened(x.a, errors[p]))
        for x, p in zip(own, parents, strict=True)
    ]
    out = m.number(getattr(m, primitive.name)(*inputs))
    if primitive.jumps and (primitive.kink is None or primitive.kink(*inputs)):
        raise undecided("a jump")
    passed = arb(0)
    if any(not errors[p].is_zero() for p in parents):
        active = [not errors[p].is_zero() for p in parents]
        for partial, p in zip(_partials(m, primitive, inputs, out, active), parents, strict=True):
            if partial is not None and not errors[p].is_zero():
                passed += abs(m.number(partial).a).upper() * errors[p]
    size = out.a.abs_upper()
    if not size.is_finite() or float(size) >= 2.0**MAX_DOUBLE_EXPONENT:
        raise undecided("an overflow")
    total = passed.upper()
    if primitive not in NOT_ROUNDED:
        units = (
            1
            if primitive in ONCE_ROUNDED
            else 2 * (SPECIAL_ULPS if primitive.group == "Special" else ULPS)
        )
        terms = (
            sum((x.a.abs_upper() for x in inputs), arb(0)) * len(inputs)
            if primitive.linear and primitive.variadic
            else arb(0)
        )
        total += UNIT_ROUNDOFF * units * (size + terms) + UNDERFLOW_ERROR
    return total.upper()


def _partials(
    m: Any, primitive: Primitive, inputs: Sequence[Any], out: Any, active: Sequence[bool]
) -> list[Any]:
    if primitive in NOT_ROUNDED:
        return [1] * len(inputs)  # an input changes the output by no more than itself
    return primitive.slopes(m, inputs, out, active)


def _check_condition(at: Evaluation, i: int, errors: Mapping[int, Any]) -> None:
    """Raise `Refusal` if a comparison may have another outcome with rounding errors."""
    from ..numbers.ball import Ball

    m, parents, primitive = at.m, at.graph.parents[i], at.graph.primitives[i]
    if primitive.takes_conditions or all(errors[p].is_zero() for p in parents):
        return
    inputs = [Ball(_widened(m.number(at.graph.data[p]).a, errors[p])) for p in parents]
    if bool(getattr(m, primitive.name)(*inputs)) != bool(at.graph.data[i]):
        raise Refusal("undecided", "a comparison of rounded numbers", "")


def _widened(a: Any, error: Any) -> Any:
    return (a - error).union(a + error)


def _loss(at: Evaluation, i: int, errors: Mapping[int, Any]) -> float:
    """Return by how much a node magnifies the largest relative error of its inputs."""
    if at.graph.primitives[i].gives_condition or not at.graph.parents[i]:
        return 0.0
    numbers = [
        p for p in at.graph.parents[i] if p in errors and not at.graph.primitives[p].gives_condition
    ]
    before = [_relative(at, p, errors) for p in numbers]
    return _relative(at, i, errors) / max([UNIT_ROUNDOFF, *before])


def _relative(at: Evaluation, i: int, errors: Mapping[int, Any]) -> float:
    return relative_size(at.m.number(at.graph.data[i]).a, errors[i])


def relative_size(value: Any, error: Any) -> float:
    """Return an upper bound of an error relative to a value; infinite where the value may be 0."""
    if error.is_zero():
        return 0.0
    least = value.abs_lower()
    return float((error / least).upper()) if least > 0 else float("inf")
