"""Derivatives of definite integrals by parameters, in the integrand and in the ends (Leibniz's rule)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import acb

from ...engine.graphs.value import Value
from ...errors import ExpressionError, quote, usage_error
from .antiderivatives import slope_of
from .continuous import NotContinuous, conditions_of, decides
from .definite import HINT
from .ends import IntegralEnd, hold
from .integrate import Integral
from .quadrature import Quadrature, ball, precision

NEIGHBOURHOOD = Fraction(1, 2**20)
"""How far around the parameter's value the derivative of the integrand is proven to be bounded."""
PARTS = 4096
"""The most parts of the interval that are looked at for this."""


def with_derivatives(
    answer: Integral,
    output: Value,
    held: Mapping[str, Value],
    ends: tuple[IntegralEnd, IntegralEnd],
    wrt: Sequence[str],
    digits: int,
) -> Integral:
    """Return a definite integral with its derivatives by parameters. Raises `ExpressionError`."""
    slopes: dict[str, float] = {}
    texts: list[str] = []
    for by in wrt:
        if by not in held:
            raise usage_error(
                f"`{by}` is no parameter of the integral", f"its parameters with values: {quote(held, 'none')}"
            )
        total = _slope(answer.variable, output, held, ends, by, digits)
        shown = min(digits, int((total.rel_accuracy_bits() - 8) / 3.33))
        slopes[by] = 0.0 if total.contains(0) else float(total.mid())
        texts.append(f"d/d{by} {'0' if total.contains(0) or shown < 1 else total.str(shown, radius=False)}")
    message = f"{answer.message}; derivatives, proven digits: {', '.join(texts)}"
    return answer._replace(derivatives=slopes, message=message)


def _slope(
    name: str, output: Value, held: Mapping[str, Value], ends: tuple[IntegralEnd, IntegralEnd], by: str, digits: int
) -> Any:
    """Return the ball of a derivative of the integral by a parameter."""
    slope = slope_of(output, by)
    quadrature = Quadrature(hold(slope, held), name, digits)
    low, high = (end.fixed(held) for end in ends)
    refusal = ExpressionError(
        "derivative", f"the derivative of the integral by `{by}` is not proven here", None,
        f"between finite ends, at which the formula and its derivative by `{by}` are bounded, it is; {HINT}",
    )  # fmt: skip
    if low.formula is None or high.formula is None:
        raise refusal
    start, end = quadrature.value(low.formula), quadrature.value(high.formula)
    total = quadrature.integral(start, end)
    if not total.is_finite() or not _may_be_exchanged(name, output, held, (low, high), by, digits):
        raise refusal
    with precision(quadrature.bits):
        for sign, place, at in ((1, ends[1], end), (-1, ends[0], start)):
            if place.formula is not None and by in place.names():
                rate = quadrature.value(hold(slope_of(place.formula, by), held))
                others = {each: value for each, value in held.items() if each != by}
                near = _around(Quadrature(hold(output, others), name, digits), held[by], by)
                if not near.at(acb(at), analytic=True).is_finite():
                    raise refusal  # the formula may jump at the end
                there = Quadrature(hold(output, held), name, digits).at(acb(at))
                total = total + sign * rate * there.real
    if not total.is_finite():
        raise refusal
    return total


def _may_be_exchanged(
    name: str, output: Value, held: Mapping[str, Value], ends: tuple[IntegralEnd, IntegralEnd], by: str, digits: int
) -> bool:
    """Return whether the integral may be differentiated under its sign, by dominated convergence.

    The integrand is continuous for all values of the parameter near its own, and its derivative is bounded.
    """
    others = {each: value for each, value in held.items() if each != by}
    integrand = hold(output, others)
    slope = slope_of(integrand, by)
    try:
        conditions = conditions_of(integrand)
    except NotContinuous:
        return False
    quadrature = _around(Quadrature(slope, name, digits), held[by], by)
    numbers = [Fraction(end.number) for end in ends]
    parts = [(min(numbers), max(numbers))]
    looked = 0
    while parts:
        low, high = parts.pop()
        looked += 1
        if looked > PARTS:
            return False
        is_bounded = quadrature.enclosure(slope, low, high).is_finite()
        if not is_bounded or not all(decides(one, quadrature.enclosure(one.value, low, high)) for one in conditions):
            middle = (low + high) / 2
            parts += [(low, middle), (middle, high)]
    return True


def _around(quadrature: Quadrature, value: Value, by: str) -> Quadrature:
    """Let a parameter have all values near its own."""
    center, radius = quadrature.value(value), ball(NEIGHBOURHOOD)
    quadrature.others = {by: acb((center - radius).union(center + radius))}
    return quadrature
