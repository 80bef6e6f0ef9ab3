"""Derivatives of definite integrals by parameters, in the integrand and in the ends (Leibniz's
rule).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from flint import acb

from ...engine.algebra.canonical import fraction_node
from ...engine.algebra.exact_constants import ExactConstants, UndecidedSign
from ...engine.algebra.simplify import simplify
from ...engine.algebra.walk import substitute
from ...engine.graphs.value import Value, in_order, node, variable
from ...engine.numbers.budget import Defined
from ...engine.table.operators import ADD, GT, LT, MUL, NE, SUB, VARIABLE
from ...errors import ExpressionError, quote, usage_error
from ..limit.limit import LimitUnknown, side_limit
from .antiderivatives import NoAntiderivative, antiderivative, is_available, slope_of
from .continuous import Condition, NotContinuous, conditions_of, decides
from .definite import HINT, UNKNOWN, RegularPiece, definite, is_continuous
from .ends import IntegralEnd, at_number, hold, names_in
from .integrate import Integral
from .quadrature import Quadrature, ball, precision

# How far around the parameter's value, as a share of it, what is proven there holds.
NEIGHBOURHOOD = Fraction(1, 2**20)
# The most parts of the interval that are looked at for this.
PARTS = 4096
# How long SymPy may take for an antiderivative with a parameter.
SECONDS = 10
# The step of the difference quotient that confirms a derivative, as a share of the parameter: about
# 1e-12**(1/3).
STEP = Fraction(1, 2**13)
# The largest relative difference of the two: the quotient's is about STEP**2, and 1e-12/STEP of
# rounding.
AGREEMENT = 1e-5
# The digits of the integrals in the quotient.
COMPARED_DIGITS = 12
# The digits that are shown of a derivative that is only confirmed by a difference quotient.
CONFIRMED_DIGITS = 5


class Parametric(NamedTuple):
    """A definite integral with parameters, as it is differentiated by them."""

    name: str
    output: Value
    held: Mapping[str, Value]
    """The values of the parameters."""
    ends: tuple[IntegralEnd, IntegralEnd]
    digits: int
    factors: Mapping[str, Value] = {}
    """What a difference of 1 in a parameter's unit is in that of its value."""

    @property
    def places(self) -> tuple[IntegralEnd, IntegralEnd]:
        """Return the ends at the values of the parameters."""
        return self.ends[0].fixed(self.held), self.ends[1].fixed(self.held)

    def others(self, by: str) -> dict[str, Value]:
        """Return the values of all parameters but one."""
        return {each: value for each, value in self.held.items() if each != by}

    def quadrature(self, formula: Value, digits: int | None = None) -> Quadrature:
        """Return the quadrature of a formula."""
        return Quadrature(formula, self.name, digits or self.digits)

    def around(self, formula: Value, by: str) -> Quadrature:
        """Return the quadrature of a formula for all values of a parameter near its own."""
        quadrature = self.quadrature(formula)
        center = quadrature.value(self.held[by])
        radius = ball(NEIGHBOURHOOD) * max(center.abs_upper(), 1)
        quadrature.others = {by: acb((center - radius).union(center + radius))}
        return quadrature

    def at_parameter(self, by: str, value: Value) -> Parametric:
        """Return the integral at another value of a parameter."""
        return self._replace(held={**self.held, by: value})


class NotProven(Exception):
    """The derivative is not proven."""


def with_derivatives(answer: Integral, integral: Parametric, wrt: Sequence[str]) -> Integral:
    """Return a definite integral with its derivatives by parameters. Raises `ExpressionError`."""
    slopes: dict[str, float] = {}
    proven: list[str] = []
    doubtful: list[str] = []
    for by in wrt:
        if by not in integral.held:
            hint = f"its parameters with values: {quote(integral.held, 'none')}"
            raise usage_error(f"`{by}` is no parameter of the integral", hint)
        factor = integral.factors.get(by)
        try:
            total = _scaled(integral, _slope_with_fixed_ends(integral, by), factor)
        except NotProven:
            slope = _confirmed(answer, integral, by)
            slopes[by] = float(
                _scaled(integral, integral.quadrature(integral.output).value(slope), factor).mid()
            )
            doubtful.append(f"d/d{by} {slopes[by]:.{CONFIRMED_DIGITS}g}")
            continue
        shown = min(integral.digits, int((total.rel_accuracy_bits() - 8) / 3.33))
        if total.contains(0) or shown < 1:
            slopes[by] = 0.0
            near = (
                "0" if total.is_zero() else f"within {total.abs_upper().str(2, radius=False)} of 0"
            )
            proven.append(f"d/d{by} {near}")
            continue
        slopes[by] = float(total.mid())
        proven.append(f"d/d{by} {total.str(shown, radius=False)}")
    parts = [answer.message]
    if proven:
        parts.append(f"derivatives, proven digits: {', '.join(proven)}")
    if doubtful:
        parts.append(
            f"derivatives, not proven: {', '.join(doubtful)}; a difference quotient agrees to"
            f" {CONFIRMED_DIGITS} digits"
        )
    return answer._replace(derivatives=slopes, message="; ".join(parts))


def _scaled(integral: Parametric, total: Any, factor: Value | None) -> Any:
    if factor is None:
        return total
    quadrature = integral.quadrature(integral.output)
    with precision(quadrature.bits):
        return total * quadrature.value(factor)


def _slope_with_fixed_ends(integral: Parametric, by: str) -> Any:
    """Return the ball of a derivative by a parameter, if need be over an interval that does not
    move.
    """
    try:
        return _proven_slope(integral, by)
    except NotProven:
        fixed = fixed_ends(integral, by)
        if fixed is None:
            raise
        return _proven_slope(fixed, by)


def _confirmed(answer: Integral, integral: Parametric, by: str) -> Value:
    fixed = fixed_ends(integral, by)
    try:
        return _confirmed_slope(answer, integral, by)
    except ExpressionError:
        if fixed is None:
            raise
        return _confirmed_slope(answer, fixed, by)


def fixed_ends(integral: Parametric, by: str) -> Parametric | None:
    """Return the integral over an interval that does not move with a parameter; None if it does not
    move at all.

    The variable is low + (high - low) u with u from 0 to 1, or the finite end plus or minus u with
    u from 0 on.
    """
    low, high = integral.ends
    if not any(by in end.names() for end in (low, high)):
        return None
    inside = {*names_in(integral.output), *low.names(), *high.names()}
    name = next(f"u{k or ''}" for k in range(len(inside) + 1) if f"u{k or ''}" not in inside)
    u = variable(name)
    if low.formula is not None and high.formula is not None:
        width = node(SUB, (high.formula, low.formula))
        place, ends = (
            node(ADD, (low.formula, node(MUL, (width, u)))),
            (at_number(Fraction(0)), at_number(Fraction(1))),
        )
    elif high.infinite > 0 and low.formula is not None:
        width, place, ends = None, node(ADD, (low.formula, u)), (at_number(Fraction(0)), high)
    elif low.infinite < 0 and high.formula is not None:
        width, place, ends = (
            None,
            node(SUB, (high.formula, u)),
            (at_number(Fraction(0)), low._replace(text="inf", infinite=1)),
        )
    else:
        return None
    output = substitute(
        integral.output,
        lambda v: place if v.primitive is VARIABLE and v.label == integral.name else None,
    )
    (output,) = simplify((output if width is None else node(MUL, (output, width)),))
    return integral._replace(name=name, output=output, ends=ends)


def _proven_slope(integral: Parametric, by: str) -> Any:
    """Return the ball of a derivative by a parameter. Raises `NotProven`."""
    inside = _bounded_slope(integral, by)
    if inside is None:
        inside = _exact_slope(integral, by)
    with precision(integral.quadrature(integral.output).bits):
        total = inside + _slope_of_ends(integral, by)
    if not total.is_finite():
        raise NotProven
    return total


def _bounded_slope(integral: Parametric, by: str) -> Any:
    """Return the ball of the integral of the derivative; None unless that is bounded between finite
    ends.
    """
    low, high = integral.places
    if low.formula is None or high.formula is None:
        return None
    quadrature = integral.quadrature(hold(slope_of(integral.output, by), integral.held))
    start, end = quadrature.value(low.formula), quadrature.value(high.formula)
    if not quadrature.has_value(start) or not quadrature.has_value(end):
        return None  # the quadrature would look for its value with all the work there is
    total = quadrature.integral(start, end)
    return total if total.is_finite() and _may_be_exchanged(integral, by) else None


def _slope_of_ends(integral: Parametric, by: str) -> Any:
    """Return what the motion of the ends adds. Raises `NotProven` unless the formula is continuous
    there.
    """
    quadrature = integral.quadrature(hold(integral.output, integral.held))
    total = quadrature.value(fraction_node(Fraction(0)))
    with precision(quadrature.bits):
        for sign, end in ((1, integral.ends[1]), (-1, integral.ends[0])):
            if end.formula is None or by not in end.names():
                continue
            at = acb(quadrature.value(hold(end.formula, integral.held)))
            near = integral.around(hold(integral.output, integral.others(by)), by)
            if not near.at(at, analytic=True).is_finite():
                raise NotProven  # the formula may jump at the end
            rate = quadrature.value(hold(slope_of(end.formula, by), integral.held))
            total = total + sign * rate * quadrature.at(at).real
    return total


def _may_be_exchanged(integral: Parametric, by: str) -> bool:
    """Return whether the integral may be differentiated under its sign, by dominated convergence.

    The integrand is continuous for all values of the parameter near its own, and its derivative is
    bounded.
    """
    integrand = hold(integral.output, integral.others(by))
    slope = slope_of(integrand, by)
    try:
        conditions = conditions_of(integrand)
    except NotContinuous:
        return False
    quadrature = integral.around(slope, by)
    numbers = [Fraction(end.number) for end in integral.places]
    parts = [(min(numbers), max(numbers))]
    looked = 0
    while parts:
        low, high = parts.pop()
        looked += 1
        if looked > PARTS:
            return False
        is_bounded = quadrature.enclosure(slope, low, high).is_finite()
        if not is_bounded or not all(
            decides(one, quadrature.enclosure(one.value, low, high)) for one in conditions
        ):
            middle = (low + high) / 2
            parts += [(low, middle), (middle, high)]
    return True


# ---- by an antiderivative for all values of the parameter
def _exact_slope(integral: Parametric, by: str) -> Any:
    """Return the ball of the derivative of the integral between fixed ends, by its formula in the
    parameter.

    The formula is the difference of the limits of an antiderivative, which is continuous inside,
    for all values of the parameter near its own. Raises `NotProven`.
    """
    integrand = hold(integral.output, integral.others(by))
    leaf = next(
        (
            leaf
            for leaf in in_order((integrand,))
            if leaf.primitive is VARIABLE and leaf.label == by
        ),
        None,
    )
    if leaf is None:
        # it is in the ends only
        return integral.quadrature(integrand).value(fraction_node(Fraction(0)))
    facts = _near_facts(integral, by, leaf)
    found = None
    if is_available():
        with Defined(ExpressionError, NoAntiderivative):
            found = antiderivative(integrand, integral.name, facts, SECONDS)
    if found is None or not found.proven:
        raise NotProven
    quadrature = integral.around(integrand, by)
    places = _in_order(integral.places)
    piece = RegularPiece(*places, UNKNOWN, UNKNOWN)
    primitive = substitute(
        found.formula, lambda v: leaf if v.primitive is VARIABLE and v.label == by else None
    )
    if not is_continuous(quadrature, primitive, integrand, integral.name, piece, facts):
        raise NotProven
    sign = 1 if places == integral.places else -1
    formula = _difference_of_limits(integral, primitive, places, by, leaf, facts)
    value = integral.quadrature(hold(slope_of(formula, by), integral.held))
    with precision(value.bits):
        return sign * value.value(value.integrand)


def _in_order(places: tuple[IntegralEnd, IntegralEnd]) -> tuple[IntegralEnd, IntegralEnd]:
    low, high = places
    return (low, high) if low.number <= high.number else (high, low)


def _near_facts(integral: Parametric, by: str, leaf: Value) -> list[Value]:
    """Return that the parameter is near its own value, as conditions; with its sign, which SymPy
    asks for.
    """
    center = integral.quadrature(integral.output).value(integral.held[by])
    middle = Fraction(float(center.mid()))
    radius = 2 * NEIGHBOURHOOD * max(abs(middle), Fraction(1))
    low, high = fraction_node(middle - radius), fraction_node(middle + radius)
    return [node(GT, (leaf, low)), node(LT, (leaf, high))]


def _difference_of_limits(
    integral: Parametric, formula: Value, places: tuple[IntegralEnd, IntegralEnd], by: str, leaf: Value,
    facts: Sequence[Value],
) -> Value:  # fmt: skip
    """Return the difference of the limits at the ends, as a formula of the parameter. Raises
    `NotProven`.
    """
    constants = ExactConstants(facts)
    parameters = {by: constants.parameter(leaf)}
    try:
        limits = [
            side_limit(formula, integral.name, end.place, side, parameters, constants)
            for end, side in zip(places, (1, -1), strict=True)
        ]
    except (LimitUnknown, UndecidedSign):
        raise NotProven from None
    bottom, top = (limit.value for limit in limits)
    if bottom is None or top is None or not constants.confirmed:
        raise NotProven
    near = integral.around(formula, by)
    for condition in constants.conditions:
        value, _ = condition._prev
        relation = {GT: ">", NE: "!="}[condition.primitive]
        if not decides(Condition(value, relation), near.enclosure(value, Fraction(0), Fraction(0))):
            raise NotProven
    return (top - bottom).node  # type: ignore[no-any-return]


# ---- confirmed by a difference quotient
def _confirmed_slope(answer: Integral, integral: Parametric, by: str) -> Value:
    """Return the integral of the derivative as a constant, if a difference quotient of the integral
    agrees.

    Raises `ExpressionError` where they do not agree, or one of them is not known.
    """
    slope = slope_of(integral.output, by)
    try:
        total = _integral(answer, integral._replace(output=slope)) + _motion(integral, by)
        quotient = _difference_quotient(answer, integral, by)
    except (ExpressionError, NotProven):
        raise _refusal(by) from None
    if abs(total - quotient) > AGREEMENT * abs(quotient):
        raise _refusal(by)
    return fraction_node(Fraction(total))


def _refusal(by: str) -> ExpressionError:
    hint = (
        f"between finite ends, at which the formula and its derivative by `{by}` are bounded, it"
        f" is; {HINT}"
    )
    return ExpressionError(
        "derivative", f"the derivative of the integral by `{by}` is not known here", None, hint
    )


def _integral(answer: Integral, integral: Parametric) -> float:
    """Return the number of an integral. Raises `NotProven` if it diverges."""
    about = answer._replace(warnings=())
    formula = hold(integral.output, integral.held)
    # no antiderivative is looked for: three of them would take SymPy half a minute
    found = definite(
        about, formula, integral.name, integral.places, COMPARED_DIGITS, lambda _: None
    )
    if found.value is None or found.warnings:
        raise NotProven
    return found.value


def _motion(integral: Parametric, by: str) -> float:
    return float(_slope_of_ends(integral, by).mid())


def _difference_quotient(answer: Integral, integral: Parametric, by: str) -> float:
    center = Fraction(float(integral.quadrature(integral.output).value(integral.held[by]).mid()))
    step = STEP * abs(center) or STEP
    low, high = (
        _integral(answer, integral.at_parameter(by, fraction_node(center + sign * step)))
        for sign in (-1, 1)
    )
    return (high - low) / float(2 * step)
