"""Proofs that a formula is 0, by identities of roots, of multiples of angles, and of hyperbolic
functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from math import gcd, isqrt, lcm

from ...errors import ExpressionError
from ..graphs.value import Value, constant, in_order, node, variable
from ..graphs.value_and_gradient import value_in
from ..numbers.base import NO_RESULT
from ..numbers.budget import Defined
from ..numbers.exact import EXACT
from ..table.operators import ADD, CONSTANT, DIV, MUL, NEG, POW, SUB, VARIABLE
from ..table.primitive import PRIMITIVES
from ..table.primitives import EXP, SQRT, by_name
from .almost_everywhere import as_linear
from .canonical import exact_value, fraction_node
from .guard_series import values_at_trial_points
from .rational_functions import polynomial_in, vanishes
from .simplify import simplify
from .walk import has_variables, rebuild, rewrite

# The largest multiple of an angle that is expanded.
MAX_MULTIPLE = 12
ONE = constant(1.0, "1")


def is_zero(formula: Value) -> bool:
    """Return whether a formula is proven to be 0 wherever it has a value."""
    (formula,) = rewrite((formula,), _as_exponential)
    with Defined(ExpressionError):
        (simple,) = simplify((formula,), spell=False)
        if exact_value(simple) == 0 or vanishes(formula):
            return True
    for way in (_with_simple_roots, _in_one_angle, _in_exponentials):
        with Defined(ExpressionError):
            other = way(_with_simple_roots(formula))
            if other is not None and vanishes(other):
                return True
    return False


def has_no_value_beside_zero(formula: Value) -> bool:
    """Return whether a formula of variables cannot be told from 0 wherever it has a value, at trial
    points.
    """
    values = [*values_at_trial_points(formula)]
    return bool(values) and not any(values)


def _as_exponential(value: Value, inputs: tuple[Value, ...]) -> Value:
    """Return a power of the constant e as a value of exp."""
    if value.primitive is POW and inputs[0].primitive is CONSTANT and inputs[0].source == "e":
        return node(EXP, inputs[1:])
    return rebuild(value, inputs)


# ---- roots
def _with_simple_roots(formula: Value) -> Value:
    """Return the formula with roots of polynomials whose coefficients are whole, without a common
    divisor.
    """
    (simple,) = simplify((formula,))
    return rewrite((simple,), _simple_root)[0]


def _simple_root(value: Value, inputs: tuple[Value, ...]) -> Value:
    rebuilt = rebuild(value, inputs)
    exponent = Fraction(1, 2) if value.primitive is SQRT else None
    if value.primitive is POW:
        exponent = exact_value(inputs[1])
    if exponent is None or exponent.denominator != 2:
        return rebuilt
    parts = _content(inputs[0])
    if parts is None:
        return rebuilt
    content, polynomial = parts
    power = int(exponent * 2)
    root = node(SQRT, (polynomial,))
    whole = node(MUL, (_root_of(content), root))
    return node(POW, (whole, fraction_node(Fraction(power))))


def _content(value: Value) -> tuple[Fraction, Value] | None:
    """Return a polynomial in one variable as a positive number times one with coprime whole
    coefficients.
    """
    leaves = [leaf for leaf in in_order((value,)) if leaf.primitive is VARIABLE]
    if len(leaves) != 1:
        return None
    coefficients = polynomial_in(value, leaves[0])
    if coefficients is None or any(map(has_variables, coefficients)):
        return None
    exact: list[Fraction] = []
    for x in coefficients:
        with Defined(ExpressionError, *NO_RESULT):
            exact.append(Fraction(value_in(EXACT, x, {}) or 0))
    if len(exact) < len(coefficients):
        return None  # a coefficient that is no fraction
    below = reduce(lcm, [x.denominator for x in exact], 1)
    above = reduce(gcd, [int(x * below) for x in exact], 0)
    if not above:
        return None
    content = Fraction(above, below)
    terms = [
        node(MUL, (fraction_node(x / content), node(POW, (leaves[0], fraction_node(Fraction(k))))))
        for k, x in enumerate(exact)
        if x
    ]
    return content, reduce(lambda one, other: node(ADD, (one, other)), terms)


def _root_of(x: Fraction) -> Value:
    roots = isqrt(x.numerator), isqrt(x.denominator)
    if roots[0] ** 2 == x.numerator and roots[1] ** 2 == x.denominator:
        return fraction_node(Fraction(*roots))
    inside = fraction_node(Fraction(x.numerator * x.denominator))
    return node(DIV, (node(SQRT, (inside,)), fraction_node(Fraction(x.denominator))))


# ---- angles
# Functions of an angle, by its sine and cosine.
CIRCULAR = by_name({
    "sin": lambda s, c: s, "cos": lambda s, c: c, "tan": lambda s, c: node(DIV, (s, c)),
    "cot": lambda s, c: node(DIV, (c, s)), "sec": lambda s, c: node(DIV, (ONE, c)),
    "csc": lambda s, c: node(DIV, (ONE, s)),
})  # fmt: skip


def _in_one_angle(formula: Value) -> Value | None:
    """Return a formula with sines and cosines of one angle, of which all others are multiples."""
    (simple,) = simplify((formula,))
    found = _unit(
        [
            _share(value._prev[0])
            for value in in_order((simple,))
            if value.primitive.name in CIRCULAR
        ]
    )
    if found is None:
        return None
    leaf, unit = found
    angle = node(MUL, (fraction_node(unit), leaf))
    sine, cosine = node(PRIMITIVES[SINE], (angle,)), node(PRIMITIVES[COSINE], (angle,))

    def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
        share = _share(inputs[0]) if value.primitive.name in CIRCULAR else None
        if share is None:
            return rebuild(value, inputs)
        result: Value = CIRCULAR[value.primitive.name](
            *of_multiple(sine, cosine, int(share[1] / unit))
        )
        return result

    return rewrite((simple,), rule)[0]


SINE, COSINE = [*CIRCULAR][:2]


def _share(angle: Value) -> tuple[Value, Fraction] | None:
    """Return a multiple of a variable as the variable and the factor."""
    multiples, rest = as_linear(simplify((angle,))[0])
    if rest or len(multiples) != 1:
        return None
    ((leaf, factor),) = multiples.items()
    return (leaf, factor) if leaf.primitive is VARIABLE else None


def of_multiple(sine: Value, cosine: Value, times: int) -> tuple[Value, Value]:
    """Return sine and cosine of a multiple of an angle."""
    s, c = fraction_node(Fraction(0)), ONE
    for _ in range(abs(times)):
        s, c = (
            node(ADD, (node(MUL, (s, cosine)), node(MUL, (c, sine)))),
            node(SUB, (node(MUL, (c, cosine)), node(MUL, (s, sine)))),
        )
    return (node(MUL, (fraction_node(Fraction(-1)), s)), c) if times < 0 else (s, c)


def without_idle_angles(formulas: Sequence[Value]) -> list[Value]:
    """Return formulas without sines and cosines in sums that do not depend on them: 1 for
    `sin(x)**2 + cos(x)**2`.

    Only sums of operations that have a value everywhere are replaced, so that the domains stay.
    """
    return rewrite(formulas, _without_idle_angle)


def _without_idle_angle(value: Value, inputs: tuple[Value, ...]) -> Value:
    rebuilt = rebuild(value, inputs)
    if value.primitive not in (ADD, SUB) or not _is_wave_sum(rebuilt):
        return rebuilt
    still = rewrite((rebuilt,), _at_angle_zero)[0]
    return still if is_zero(node(SUB, (rebuilt, still))) else rebuilt


def _is_wave_sum(value: Value) -> bool:
    """Return whether a formula has sines or cosines, and no operation but sums and products of
    them.
    """
    parts = in_order((value,))
    waves = [part for part in parts if part.primitive.name in (SINE, COSINE)]
    return len(waves) > 1 and all(part in waves or _is_total(part) for part in parts)


def _is_total(part: Value) -> bool:
    if part.primitive is POW:
        exponent = exact_value(part._prev[1])
        return exponent is not None and exponent.denominator == 1 and exponent > 0
    return part.primitive in (ADD, SUB, MUL, NEG, CONSTANT, VARIABLE)


def _at_angle_zero(value: Value, inputs: tuple[Value, ...]) -> Value:
    if value.primitive.name in (SINE, COSINE):
        return fraction_node(Fraction(value.primitive.name == COSINE))
    return rebuild(value, inputs)


# ---- exponentials
def _half(over: Value, sign: int) -> Value:
    other = node(DIV, (ONE, over))
    return node(MUL, (fraction_node(Fraction(1, 2)), node(ADD if sign > 0 else SUB, (over, other))))


HYPERBOLIC: dict[str, Callable[[Value, Value], Value]] = by_name({
    "sinh": lambda s, c: s, "cosh": lambda s, c: c, "tanh": lambda s, c: node(DIV, (s, c)),
    "coth": lambda s, c: node(DIV, (c, s)), "sech": lambda s, c: node(DIV, (ONE, c)),
    "csch": lambda s, c: node(DIV, (ONE, s)),
})  # fmt: skip


def _in_exponentials(formula: Value) -> Value | None:
    """Return a formula with powers of one exponential for all exponentials and hyperbolic
    functions.
    """
    (simple,) = simplify((formula,))
    kinds = {*HYPERBOLIC, EXPONENTIAL}
    shares = [
        _share(value._prev[0]) for value in in_order((simple,)) if value.primitive.name in kinds
    ]
    found = _unit(shares)
    if found is None:
        return None
    _, unit = found
    base = variable("the exponential")

    def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
        share = _share(inputs[0]) if value.primitive.name in kinds else None
        if share is None:
            return rebuild(value, inputs)
        over = node(POW, (base, fraction_node(share[1] / unit)))
        if value.primitive.name == EXPONENTIAL:
            return over
        return HYPERBOLIC[value.primitive.name](_half(over, -1), _half(over, 1))

    return rewrite((simple,), rule)[0]


EXPONENTIAL = PRIMITIVES["exp"].name


def _unit(shares: Sequence[tuple[Value, Fraction] | None]) -> tuple[Value, Fraction] | None:
    """Return the variable and the factor of which all others are small multiples."""
    known = [share for share in shares if share is not None]
    if not known or len(known) < len(shares) or any(share[0] is not known[0][0] for share in known):
        return None
    factors = [share[1] for share in known]
    below = reduce(lcm, [x.denominator for x in factors], 1)
    unit = Fraction(reduce(gcd, [int(x * below) for x in factors], 0), below)
    if not unit or max(abs(x / unit) for x in factors) > MAX_MULTIPLE:
        return None
    return known[0][0], unit
