"""Exact constants: formulas without the variable of an expansion, with their signs decided.

A constant is a fraction where it is one. Otherwise it is a formula, with a value in many digits
unless it has parameters. Whether it is 0, and its sign, is decided from the value's error bound,
from the canonical form, or from the ranges of the parameters under assumptions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from ...errors import ExpressionError
from ..graphs.value import Value, constant, node
from ..graphs.value_and_gradient import value_in
from ..numbers.base import NO_RESULT, Lifted, OperatorNumber, Refusal, Valued
from ..numbers.base import Number as AnyNumber
from ..numbers.budget import Defined, charge
from ..numbers.exact import EXACT
from ..numbers.running_digits import RunningDigits
from ..table.operators import AND, GT, NE, SUB
from ..table.primitive import PRIMITIVES, Primitive
from ..table.primitives import LOG, SQRT, by_name, library_names
from .almost_everywhere import order_under
from .canonical import (
    HALF,
    ONE,
    ZERO,
    Canonicalizer,
    Form,
    Number,
    Product,
    Sum,
    exact_value,
    fraction_node,
    to_double,
)
from .identities import has_no_value_beside_zero, is_zero
from .simplify import simplify
from .walk import flat_inputs, has_variables

# Digits in which values are compared with 0 at first.
DIGITS = 60
# Digits in which a value that cannot be told from 0 is compared again.
MORE_DIGITS = 150
# Work for an operation on constants that are no fractions, in steps.
STEPS_A_CONSTANT = 60

# Functions with simple values at simple multiples of pi.
CIRCULAR = library_names("sin cos tan")
# Inverse functions, and that whose values at multiples of pi are compared: acos(x) is pi/2 - asin(x).
INVERSE_CIRCULAR = {
    asin: of
    for names, of in (("asin acos", "sin"), ("atan", "tan"))
    for asin in library_names(names)
}
# The largest power of a number that is written for the exponential of a logarithm.
MAX_SHOWN_POWER = 50
# Primes whose squares are taken out of square roots.
SQUARES = (2, 3, 5, 7, 11, 13)
# The sine of multiples of pi up to a half, which has sine 1.
SINES = {
    Fraction(0): "0",
    Fraction(1, 6): "1/2",
    Fraction(1, 4): "sqrt(2)/2",
    Fraction(1, 3): "sqrt(3)/2",
}


class UndecidedSign(Exception):
    """The sign of a constant with parameters is not known."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class ExactConstant(OperatorNumber, Valued):
    """A fraction `ratio`, or a formula with its value in many digits; None with parameters."""

    __slots__ = ("_node", "m", "near", "ratio")

    def __init__(
        self,
        m: ExactConstants,
        ratio: Fraction | None,
        value: Value | None = None,
        near: Any = None,
    ) -> None:
        self.m, self.ratio, self._node, self.near = m, ratio, value, near

    __hash__ = object.__hash__  # type: ignore[assignment]

    @property
    def node(self) -> Value:
        """Return the formula."""
        if self._node is None:
            self._node = fraction_node(self.ratio or Fraction(0))
        return self._node

    @property
    def digits(self) -> Any:
        """Return the value in many digits; None with parameters."""
        if self.near is None and self.ratio is not None:
            self.near = self.m.running.fraction(self.ratio)
        return self.near

    @property
    def x(self) -> Any:
        return self

    def __str__(self) -> str:
        return str(self.ratio)

    def __float__(self) -> float:
        return float(self.ratio if self.ratio is not None else self.near)

    def __int__(self) -> int:
        if self.ratio is None:
            raise ValueError("not a whole number")
        return int(self.ratio)

    def _compared(self, other: Any, relation: Callable[[Any, Any], Any], question: str) -> Any:
        return bool(relation(self.m.sign(self - other), 0))


# Of an operation: which operand, equal to which number, makes which operand the result.
_NEUTRAL: dict[str, tuple[tuple[int, int, int], ...]] = by_name({
    "add": ((1, 0, 0), (0, 0, 1)),
    "sub": ((1, 0, 0),),
    "mul": ((0, 0, 0), (1, 1, 0), (1, 0, 1), (0, 1, 1)),
    "div": ((1, 1, 0),),
    "pow": ((1, 1, 0), (0, 1, 0)),
})  # fmt: skip


class ExactConstants(Lifted):
    """Constants under assumptions; `conditions` are what had to be supposed of parameters: that
    they are not 0.
    """

    has_values = True

    def __init__(self, facts: Sequence[Value] = ()) -> None:
        self.running = RunningDigits(DIGITS)
        super().__init__(self.running, "exact")
        self.facts = list(facts)
        self.conditions: list[Value] = []
        # Whether each 0 is proven, not only confirmed with many digits.
        self.confirmed = True
        self._signs: dict[Value, int | None] = {}
        self._vanishing: dict[Value, bool] = {}

    @property
    def pi(self) -> ExactConstant:
        return self.literal("pi")

    def number(self, x: AnyNumber) -> ExactConstant:
        return x if isinstance(x, ExactConstant) else ExactConstant(self, Fraction(x))

    def literal(self, text: str) -> ExactConstant:
        number = self.running.literal(text)
        if number.ratio is not None:
            return ExactConstant(self, Fraction(text))
        return ExactConstant(self, None, constant(float(number.x), text), number)

    def parameter(self, value: Value) -> ExactConstant:
        """Return a variable that has no value."""
        return ExactConstant(self, None, value)

    def is_finite(self, x: AnyNumber) -> bool:
        return True

    def lift(self, primitive: Primitive) -> Callable[..., ExactConstant]:
        return partial(self.step, primitive.name)

    def step(self, name: str, *inputs: AnyNumber) -> ExactConstant:
        """Return the value of an operation, as a fraction if it is rational."""
        xs = [self.number(x) for x in inputs]
        ratios = [x.ratio for x in xs if x.ratio is not None]
        if len(ratios) == len(xs):
            try:
                return ExactConstant(self, Fraction(getattr(EXACT, name)(*ratios)))
            except Refusal:
                pass
        short = self._neutral(name, xs) or self._known_value(name, xs)
        if short is not None:
            return short
        charge(STEPS_A_CONSTANT)
        near = None
        if all(x.digits is not None for x in xs):
            near = getattr(self.running, name)(*[x.digits for x in xs])
        return ExactConstant(self, None, node(PRIMITIVES[name], tuple([x.node for x in xs])), near)

    def _neutral(self, name: str, xs: Sequence[ExactConstant]) -> ExactConstant | None:
        """Return the operand that is the result because one of the two is 0 or 1."""
        if len(xs) != 2:
            return None
        for k, ratio, result in _NEUTRAL.get(name, ()):
            if xs[k].ratio == ratio:
                return xs[result]
        if name == "div" and xs[0].ratio == 0 and self.sign(xs[1]):
            return xs[0]
        # the quotient of a - b by b - a is -1
        if name == "div" and all(x.near is None and x.ratio is None for x in xs):
            factor = self._factor(xs[0].node, xs[1].node)
            return self.number(factor) if factor else None
        return None

    def _known_value(self, name: str, xs: Sequence[ExactConstant]) -> ExactConstant | None:
        """Return simple values: of roots, of sines of multiples of pi, of exponentials of
        logarithms.
        """
        if name == "zeta_derivative" and [x.ratio for x in xs] == [1, 0]:
            return self.log(2 * self.pi) / -2  # type: ignore[no-any-return]  # (DLMF 25.6.11)
        if len(xs) != 1:
            return None
        x = xs[0]
        if x.ratio is not None:
            return self._of_fraction(name, x.ratio)
        if name in CIRCULAR:
            return self._of_multiple_of_pi(name, x)
        if name in INVERSE_CIRCULAR:
            return self._multiple_of_pi(name, x)
        if name == "log" and x.node.source == "e":
            return self.number(1)
        return self._power_of_logarithm(x) if name == "exp" else None

    def _of_fraction(self, name: str, ratio: Fraction) -> ExactConstant | None:
        """Return simple values of functions of fractions."""
        if name == "sqrt":
            return self._root_of(ratio)
        if name == "exp" and ratio == 1:
            return self.literal("e")
        # (DLMF 5.4.6)
        if name == "gamma" and ratio.denominator == 2 and 0 < ratio < MAX_SHOWN_POWER:
            return self.sqrt(self.pi) * math.prod(ratio - k for k in range(1, int(ratio) + 1))  # type: ignore[no-any-return]
        share = PI_SHARES.get((name, ratio))
        return None if share is None else self.pi * Fraction(*share)

    def _root_of(self, ratio: Fraction) -> ExactConstant:
        """Return the square root of a positive fraction as a fraction times the root of a whole
        number.
        """
        whole, outside = ratio.numerator * ratio.denominator, Fraction(1, ratio.denominator)
        for divisor in SQUARES:
            while whole % divisor**2 == 0:
                whole, outside = whole // divisor**2, outside * divisor
        inside = constant(to_double(whole), str(whole))
        near = self.running.sqrt(self.running.number(whole))
        return ExactConstant(self, None, node(SQRT, (inside,)), near) * outside  # type: ignore[no-any-return]

    def _power_of_logarithm(self, x: ExactConstant) -> ExactConstant | None:
        """Return the exponential of a sum with fractions of logarithms as a product with powers."""
        constant_part, terms = self.linear_form(x.node)
        powers: list[ExactConstant] = []
        rest = self.number(constant_part)
        for value, factor in terms.items():
            power = self._power(value._prev[0], factor) if value.primitive is LOG else None
            if power is None:
                rest = rest + factor * self._as_constant(value)
            else:
                powers.append(power)
        if not powers:
            return None
        product = self.number(1) if rest.ratio == 0 else self.exp(rest)
        for power in powers:
            product = product * power
        return product

    def _power(self, base: Value, exponent: Fraction) -> ExactConstant | None:
        argument = self._as_constant(base)
        if argument.near is None and argument.ratio is None and exponent.denominator != 1:
            return None
        if abs(exponent) > MAX_SHOWN_POWER:
            return None
        if exponent.denominator == 2:
            return self.sqrt(argument) * argument ** self.number(exponent - HALF)  # type: ignore[no-any-return]
        return self.pow(argument, exponent)  # type: ignore[no-any-return]

    def _as_constant(self, value: Value) -> ExactConstant:
        near = None if has_variables(value) else value_in(self.running, value, {})
        return ExactConstant(self, exact_value(value), value, near)

    def linear_form(self, value: Value) -> tuple[Fraction, dict[Value, Fraction]]:
        """Return a formula as a fraction plus multiples of other formulas."""
        return self._linear_forms(value)[0]

    def _linear_forms(self, *values: Value) -> list[tuple[Fraction, dict[Value, Fraction]]]:
        """Return formulas as fractions plus multiples of other formulas, which they share."""
        forms = simplify(values, spell=False)
        canonical = Canonicalizer(forms)
        for inner in canonical.order:
            canonical.forms[inner] = canonical.form(inner)
        return [_as_terms(canonical.forms, form) for form in forms]

    def _of_multiple_of_pi(self, name: str, x: ExactConstant) -> ExactConstant | None:
        constant_part, terms = self.linear_form(x.node)
        if constant_part or len(terms) != 1:
            return None
        ((base, turns),) = terms.items()
        if base.source not in ("pi", "π"):
            return None
        sine, cosine = self._sine(turns), self._sine(turns + HALF)
        if name == "tan":
            return sine / cosine if sine is not None and cosine is not None else None
        return sine if name == "sin" else cosine

    def _multiple_of_pi(self, name: str, x: ExactConstant) -> ExactConstant | None:
        """Return the angle of which an irrational number is proven to be the sine, cosine or
        tangent: pi/4 for sqrt(2)/2.
        """
        for turns in (share * sign for share in SINES for sign in (1, -1) if share):
            value = self._of_multiple_of_pi(INVERSE_CIRCULAR[name], self.pi * turns)
            if value is not None and self._canonical((x - value).node) == 0:
                return self.pi * (HALF - turns if name == "acos" else turns)  # type: ignore[no-any-return]
        return None

    def _sine(self, turns: Fraction) -> ExactConstant | None:
        turns %= 2
        sign = -1 if turns > 1 else 1
        turns %= 1
        turns = min(turns, 1 - turns)
        if turns == HALF:
            return self.number(sign)
        if turns not in SINES:
            return None
        root, _, below = SINES[turns].partition("/")
        top = self.number(int(root)) if root.isdigit() else self.sqrt(self.number(int(root[5:-1])))
        return sign * top / int(below or 1)  # type: ignore[no-any-return]

    # ---- signs
    def is_zero(self, x: ExactConstant) -> bool:
        """Return whether a constant is 0, identically in its parameters. Raises `UndecidedSign`."""
        if x.ratio is not None:
            return x.ratio == 0
        if x.near is not None:
            return self.sign(x) == 0
        if x.node not in self._vanishing:
            is_supposed = bool(self.facts) and self._possible_orders(x.node) == "="
            self._vanishing[x.node] = is_supposed or self._canonical(x.node) == 0
            if not self._vanishing[x.node] and has_no_value_beside_zero(x.node):
                self._vanishing[x.node] = is_zero(x.node) or self.sign(x) == 0
        return self._vanishing[x.node]

    def sign(self, x: ExactConstant) -> int:
        """Return -1, 0 or 1. Raises `UndecidedSign`."""
        if x.ratio is not None:
            return (x.ratio > 0) - (x.ratio < 0)
        if x.node not in self._signs:
            self._signs[x.node] = (
                self._number_sign(x) if x.near is not None else self._parameter_sign(x.node)
            )
        sign = self._signs[x.node]
        if sign is None:
            raise UndecidedSign(self.simplest(x))
        return sign

    def require_nonzero(self, x: ExactConstant) -> None:
        """Note the condition that a constant which is not identically 0 is not 0 for the parameters
        either.
        """
        if x.near is not None or x.ratio is not None:
            return
        simplest = self.simplest(x)
        if "=" not in self._possible_orders(simplest):
            return
        self.conditions.append(node(NE, (simplest, constant(0.0, "0"))))

    def require_positive(self, x: ExactConstant) -> bool:
        """Return whether a constant that is not 0 is positive; note this as a condition where it
        may be either.

        It is for functions that have no value for a negative one.
        """
        try:
            return self.sign(x) > 0
        except UndecidedSign as unknown:
            condition = node(GT, (unknown.value, constant(0.0, "0")))
            self.conditions = [*self.conditions, condition]
            self.facts = [*self.facts, condition]
            self._signs.clear()
            return True

    def may_be_whole(self, x: ExactConstant) -> bool:
        """Return whether a constant is a whole number, or may be for some parameters."""
        if x.ratio is not None:
            return x.ratio.denominator == 1
        return x.near is None or self.is_zero(x - round(float(x)))

    def simplest(self, x: ExactConstant) -> Value:
        """Return the simplified formula."""
        return simplify((x.node,))[0]

    def _canonical(self, value: Value) -> Fraction | None:
        with Defined(ExpressionError):
            return exact_value(simplify((value,))[0])
        return None

    def _number_sign(self, x: ExactConstant) -> int:
        for digits in (DIGITS, MORE_DIGITS):
            with Defined(*NO_RESULT):
                number = x.near if digits == DIGITS else value_in(RunningDigits(digits), x.node, {})
                if number is not None:
                    return bool(number > 0) - bool(number < 0)
            if self._canonical(x.node) == 0:
                return 0
        self.confirmed = False
        return 0

    def _parameter_sign(self, value: Value) -> int | None:
        (simplest,) = simplify((value,), spell=False)
        number = exact_value(simplest)
        if number is not None:
            return (number > 0) - (number < 0)
        return {"<": -1, "=": 0, ">": 1}.get(self._possible_orders(simplest))

    def _possible_orders(self, value: Value) -> str:
        """Return which of `<`, `=`, `>` may hold between a formula and 0, by ranges and by facts
        about the formula.
        """
        orders = order_under(value, self.facts)
        for part in (part for fact in self.facts for part in flat_inputs(fact, (AND,))):
            if len(orders) > 1 and part.primitive.holds:
                factor = self._factor(value, node(SUB, part._prev))
                known = (
                    part.primitive.holds
                    if factor > 0
                    else part.primitive.holds.translate(_MIRRORED)
                )
                orders = "".join(order for order in orders if not factor or order in known)
        return orders

    def _factor(self, value: Value, of: Value) -> Fraction:
        """Return which multiple of another a formula is; 0 if it is not seen to be one."""
        (constant_part, terms), (other_part, other_terms) = self._linear_forms(value, of)
        name = next(iter(terms), None)
        factor = (
            terms[name] / other_terms[name] if name is not None and name in other_terms else ZERO
        )
        is_multiple = terms == {term: factor * c for term, c in other_terms.items()}
        return factor if is_multiple and constant_part == factor * other_part else ZERO


_MIRRORED = str.maketrans("<>", "><")


def _as_terms(forms: Mapping[Value, Form], value: Value) -> tuple[Fraction, dict[Value, Fraction]]:
    """Return a formula as a fraction plus multiples of other formulas, by the canonical forms of
    all.
    """
    found = forms[value]
    if isinstance(found, Number):
        return found.value, {}
    if isinstance(found, Sum):
        return found.constant, found.terms
    if isinstance(found, Product) and len(found.factors) == 1:
        ((base, exponent),) = found.factors.items()
        if exponent == 1:
            inner = forms.get(base)
            constant_part, terms = (
                (inner.constant, inner.terms) if isinstance(inner, Sum) else (ZERO, {base: ONE})
            )
            return found.coefficient * constant_part, {
                term: found.coefficient * c for term, c in terms.items()
            }
    return ZERO, {value: ONE}


# Values of inverse functions as shares of pi.
PI_SHARES = {
    ("atan", Fraction(1)): (1, 4), ("atan", Fraction(-1)): (-1, 4), ("asin", Fraction(1)): (1, 2),
    ("asin", Fraction(-1)): (-1, 2), ("asin", Fraction(1, 2)): (1, 6),
    ("asin", Fraction(-1, 2)): (-1, 6), ("acos", Fraction(0)): (1, 2),
    ("acos", Fraction(-1)): (1, 1), ("acos", Fraction(1, 2)): (1, 3),
    ("acos", Fraction(-1, 2)): (2, 3), ("acot", Fraction(1)): (1, 4),
    ("acot", Fraction(-1)): (-1, 4),
}  # fmt: skip
