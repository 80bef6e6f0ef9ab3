"""Canonical forms: sums of like terms and products of like bases, exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce
from typing import Any, NamedTuple, TypeVar

from ..graphs.value import Value, constant, in_order, node
from ..numbers import budget
from ..numbers.base import NO_RESULT, Refusal
from ..numbers.exact import EXACT, size
from ..table.operators import ADD, CONSTANT, DIV, LE, LT, MUL, NEG, POW, SUB
from ..table.primitive import PRIMITIVES, Primitive
from ..table.primitives import ABS, LOG, SQRT, by_name

# The most terms or factors of a shared form that users copy.
MAX_SHORT = 3
# The most digits of numerators and denominators; longer ones stay as written.
MAX_DIGITS = 60

# Numbers above 1e300 or below 1e-300 stay as written.
MAX_EXPONENT = 300
# The most digits of a fraction of integers.
MAX_FRACTION_DIGITS = 8

MAX_FOLDED_EXPONENT = 64
IRRATIONALS = ("pi", "π", "e")
SURELY_SHORT = 3 * MAX_DIGITS
MIN_SIZE = Fraction(1, 10**MAX_EXPONENT)
CBRT = PRIMITIVES["cbrt"]
ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)

Key = TypeVar("Key", bound=Hashable)
Terms = dict[Value, Fraction]


class Number(NamedTuple):
    """A rational number."""

    value: Fraction


class Boolean(NamedTuple):
    """A condition with a known truth value."""

    value: bool


class Sum(NamedTuple):
    """A sum: a constant, and terms with their coefficients."""

    constant: Fraction
    terms: Terms


class Product(NamedTuple):
    """A product: a coefficient, and bases with their exponents."""

    coefficient: Fraction
    factors: Terms


# A Value stands for any other node.
Form = Number | Boolean | Sum | Product | Value
# The coefficient or exponent, the node, and the form of each part.
Parts = Iterable[tuple[Fraction, Value | None, Form]]


class RuleNotApplicable(Exception):
    """The rule does not apply."""


# It returns the form of a node from the forms of its inputs.
Rule = Callable[["Canonicalizer", Value, list[Form]], Form]


def exact_value(value: Value) -> Fraction | None:
    """Return a literal's exact value; None for other nodes or too many digits."""
    if (
        value.primitive is not CONSTANT
        or value.source in IRRATIONALS
        or not isinstance(value.data, (float, int))
    ):
        return None
    if value.source is None:
        return Fraction(value.data)
    if value.source.endswith("]"):
        return None if value.data else Fraction(0)  # a number with a unit
    written = Decimal(value.source)
    if len(written.as_tuple().digits) > MAX_DIGITS or abs(written.adjusted()) > MAX_EXPONENT:
        return None if written else Fraction(0)
    return Fraction(written)


def number_text(x: Fraction) -> str | None:
    """Return a decimal literal of this value, if there is one."""
    rest, twos, fives = without_twos_and_fives(x.denominator)
    if rest != 1:
        return None
    places = max(twos, fives)
    digits = str(abs(x.numerator) * 10**places // x.denominator)
    zeros = len(digits) - len(digits.rstrip("0"))
    text = digits
    if zeros >= 9:
        text = f"{digits[:-zeros]}e{zeros}"
    elif len(digits) + 4 < places:
        text = f"{digits[0]}{'.' + digits[1:] if digits[1:] else ''}e-{places - len(digits) + 1}"
    elif places:
        digits = digits.rjust(places + 1, "0")
        text = f"{digits[:-places]}.{digits[-places:]}"
    return "-" + text if x < 0 else text


def fraction_node(x: Fraction) -> Value:
    """Return a number as a formula: a decimal if it has a short one, else a quotient."""
    text = number_text(x)
    if text is not None and (x.denominator == 1 or len(text) <= len(str(x.denominator)) + 2):
        return constant(to_double(x), text)
    parts = (constant(to_double(part), str(part)) for part in x.as_integer_ratio())
    return node(DIV, tuple(parts))


def to_double(x: Fraction | int) -> float:
    """Return the double nearest to an exact number; infinite on overflow, where only the text is
    right.
    """
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def without_twos_and_fives(n: int) -> tuple[int, int, int]:
    """Return an integer without factors 2 and 5, and their numbers."""
    counts = []
    for factor in (2, 5):
        count = 0
        while n % factor == 0:
            n, count = n // factor, count + 1
        counts.append(count)
    return n, counts[0], counts[1]


def _digit_count(n: int) -> int:
    return len(str(abs(n)).rstrip("0"))


def decimal_quotient(x: Fraction) -> tuple[Fraction, Fraction]:
    """Return two decimals with this quotient: short integers, or those of the fewest digits."""
    sign, numerator, denominator = 1 if x > 0 else -1, abs(x.numerator), x.denominator
    if len(str(numerator)) + len(str(denominator)) <= MAX_FRACTION_DIGITS:
        return Fraction(x.numerator), Fraction(denominator)
    above, twos, fives = without_twos_and_fives(numerator)
    below, more_twos, more_fives = without_twos_and_fives(denominator)
    # Factors of 10 shift the point; surplus twos on one side are fives on the other.
    surplus = twos - more_twos - (fives - more_fives)
    most, (p, q) = abs(surplus), (2, 5) if surplus > 0 else (5, 2)
    pairs = [(above * p**k, below * q ** (most - k)) for k in range(most + 1)]
    counts = [sum(map(_digit_count, pair)) for pair in pairs]
    best = 0
    for k, count in enumerate(counts):
        if count + 1 < counts[best]:  # a numerator of 1 is worth one digit
            best = k
    top, bottom = (Fraction(x // 10 ** (len(str(x)) - _digit_count(x))) for x in pairs[best])
    power = Fraction(numerator, denominator) / (top / bottom)
    shift = Fraction(10) ** (_digit_count(int(bottom)) - 1)
    best_pair = min(
        ((top * power, bottom), (top, bottom / power), (top * power / shift, bottom / shift)),
        key=lambda pair: sum(len(number_text(part) or "") for part in pair),
    )
    return sign * best_pair[0], best_pair[1]


class Canonicalizer:
    """A pass over a graph that computes every node's canonical form."""

    def __init__(self, outputs: Sequence[Value]) -> None:
        self.roots = list(outputs)
        self.order = in_order(self.roots)
        budget.charge(budget.CANONICAL_NODE * len(self.order))
        # By node, its only user; None for several, or an output.
        self.only_user: dict[Value, Value | None] = dict.fromkeys(self.roots)
        for value in self.order:
            for p in value._prev:
                self.only_user[p] = None if p in self.only_user else value
        self.interned: dict[Any, Value] = {}
        self.forms: dict[Value, Form] = {}
        # Terms and factors, by id, that their only user may extend in place.
        self.fresh: dict[int, Terms] = {}
        # The changes for the current form, with previous values.
        self.changes: list[tuple[Terms, Value, Fraction | None]] = []

    def outputs(self) -> list[Value]:
        """Return the canonical graphs of the outputs."""
        for value in self.order:
            self.forms[value] = self.form(value)
        return [self.node_of(self.forms[root]) for root in self.roots]

    def form(self, value: Value) -> Form:
        """Return the form of a node from the forms of its inputs."""
        if not value._prev:
            number = exact_value(value)
            leaf = value.primitive.name, value.source or value.label
            return self.interned.setdefault(leaf, value) if number is None else Number(number)
        name, inputs = value.primitive.name, [self.forms[p] for p in value._prev]
        self.changes.clear()
        try:
            if name in RULES:
                return RULES[name](self, value, inputs)
            if all(isinstance(f, (Number, Boolean)) for f in inputs):
                result = getattr(EXACT, name)(*[f.value for f in inputs])  # type: ignore[union-attr]
                return Boolean(result) if isinstance(result, bool) else Number(check_digits(result))
            return self.declared_identity(value.primitive, inputs)
        except (RuleNotApplicable, *NO_RESULT):
            for items, key, before in reversed(self.changes):
                if before is None:
                    items.pop(key, None)
                else:
                    items[key] = before
            return self.opaque_node(value.primitive, inputs)

    def opaque_node(self, primitive: Primitive, inputs: Iterable[Form]) -> Value:
        """Return the node of an operation on the nodes of its inputs."""
        return self.node(primitive, *[self.node_of(f) for f in inputs])

    def node(self, primitive: Primitive, *inputs: Value) -> Value:
        """Return the interned node of an operation."""
        key = (primitive.name, *inputs)
        if key not in self.interned:
            self.interned[key] = node(primitive, inputs)
        return self.interned[key]

    # ---- from forms to nodes
    def node_of(self, form: Form) -> Value:
        """Return the node of a form."""
        if isinstance(form, Value):
            return form
        if isinstance(form, Boolean):
            return self.node(LE if form.value else LT, self.number(ZERO), self.number(ZERO))
        if isinstance(form, Number):
            return self.number(form.value)
        self.fresh.pop(id(form[1]), None)
        key = type(form), form[0], frozenset(form[1].items())
        if key not in self.interned:
            value = self._sum_node(form) if isinstance(form, Sum) else self._product_node(form)
            self.interned[key] = value
            self.forms.setdefault(value, form)
        return self.interned[key]

    def number(self, x: Fraction) -> Value:
        """Return the node of a number."""
        if ("number", x) not in self.interned:
            text = number_text(x)
            value = (
                constant(float(x), text)
                if text
                else self.node(DIV, *map(self.number, decimal_quotient(x)))
            )
            self.interned["number", x] = value
            self.forms[value] = Number(x)
        return self.interned["number", x]

    def _sum_node(self, form: Sum) -> Value:
        parts: list[tuple[Value | None, Fraction]] = [*form.terms.items()]
        if form.constant:
            parts.append((None, form.constant))
        # A positive term goes first, if there is one.
        first = next((k for k, (_, c) in enumerate(parts) if c > 0), 0)
        (term, c), *rest = parts.pop(first), *parts
        total = self._scale(c, term)
        for term, c in rest:
            total = self.node(ADD if c > 0 else SUB, total, self._scale(abs(c), term))
        return total

    def _scale(self, c: Fraction, term: Value | None) -> Value:
        if term is None or c == 1:
            return term or self.number(c)
        form = self.forms.get(term)
        factors = (
            form.factors if isinstance(form, Product) and form.coefficient == 1 else {term: ONE}
        )
        return self.node_of(Product(c, factors))

    def _product_node(self, form: Product) -> Value:
        above: list[Value] = []
        below: list[Value] = []
        for base, e in sorted(form.factors.items(), key=lambda factor: self.rank(factor[0])):
            (above if e > 0 else below).append(self._power(base, abs(e)))
        c, divisor = self.split_coefficient(form.coefficient, bool(below))
        if divisor != 1:
            below.insert(0, self.number(divisor))
        if abs(c) != 1 or not above:
            above.insert(0, self.number(c))
        elif c < 0:
            above[0] = self.node(NEG, above[0])
        top, *bottom = (
            reduce(partial(self.node, MUL), factors) for factors in (above, below) if factors
        )
        return self.node(DIV, top, *bottom) if bottom else top

    def rank(self, base: Value) -> tuple[int, int]:
        """Return a factor's sort key: constants first, then variables."""
        return 2 if base._prev else 0 if base.primitive is CONSTANT else 1, 0

    def split_coefficient(self, c: Fraction, quotient_anyway: bool) -> tuple[Fraction, Fraction]:
        """Return a coefficient's numerator and denominator; 1 for a decimal."""
        text = number_text(c)
        if text is None:
            return decimal_quotient(c)
        plain = abs(c.numerator) == 1 and c.denominator <= 4
        if quotient_anyway and not plain and c.denominator != 1:
            digits = _digit_count(int(text.split("e")[0].replace(".", "")))
            plain = digits >= _digit_count(c.numerator) + _digit_count(c.denominator)
        return (Fraction(c.numerator), Fraction(c.denominator)) if plain else (c, ONE)

    def _power(self, base: Value, e: Fraction) -> Value:
        if e == 1:
            return base
        return self.node(SQRT, base) if e == HALF else self.node(POW, base, self.number(e))

    # ---- sums
    def may_be_merged(self, value: Value | None, form: Sum | Product) -> bool:
        """Return whether a form may be merged into its user."""
        return len(form[1]) <= MAX_SHORT or self._used_once(value)

    def _used_once(self, value: Value | None) -> bool:
        return value is not None and self.only_user.get(value) is not None

    def as_sum(self, factors: Terms, max_terms: int = MAX_SHORT) -> Sum | None:
        """Return the only factor of a product if it is a short sum."""
        if len(factors) != 1:
            return None
        ((base, e),) = factors.items()
        form = self.forms.get(base) if e == 1 else None
        return form if isinstance(form, Sum) and len(form.terms) <= max_terms else None

    def sum(self, parts: Parts) -> Form:
        """Return the sum of forms with signs."""
        constant = ZERO
        terms: Terms = {}
        for sign, value, form in parts:
            if isinstance(form, Number):
                constant += sign * form.value
            elif isinstance(form, Sum) and self.may_be_merged(value, form):
                constant += sign * form.constant
                terms = self.extend(terms, form.terms, sign, value)
            elif isinstance(form, Product):
                term = self.node_of(self.product_form(ONE, form.factors))
                terms = self.extend(terms, {term: form.coefficient}, sign)
            else:
                terms = self.extend(terms, {self.node_of(form): ONE}, sign)
        self.fresh[id(terms)] = terms
        return self.sum_form(check_digits(constant), terms)

    def extend(
        self, items: Terms, others: Terms, factor: Fraction, value: Value | None = None
    ) -> Terms:
        """Return terms or factors with a multiple of others added in place."""
        if (
            not items
            and factor == 1
            and self.fresh.get(id(others)) is others
            and self._used_once(value)
        ):
            return others
        for key, c in others.items():
            before = items.get(key)
            total = check_digits((before or ZERO) + factor * c)
            self.changes.append((items, key, before))
            if total:
                items[key] = total
            else:
                items.pop(key, None)
        return items

    def sum_form(self, constant: Fraction, terms: Terms) -> Form:
        """Return the simplest form of a constant plus terms."""
        if not terms:
            return Number(constant)
        if constant or len(terms) > 1:
            return Sum(constant, terms)
        ((term, c),) = terms.items()
        form = self.forms.get(term)
        if c == 1:
            return form if form is not None and term._prev else term
        if isinstance(form, Product):
            return self.product_form(c * form.coefficient, form.factors)
        return Product(c, {term: ONE})

    # ---- products
    def product(self, parts: Parts) -> Form:
        """Return the product of forms with integer exponents."""
        c = ONE
        factors: Terms = {}
        numbers = False
        for e, value, form in parts:
            if isinstance(form, Number):
                c = check_digits(c * form.value ** int(e))
                continue
            if isinstance(form, Product):
                c = check_digits(c * form.coefficient ** int(e))
                merged = self.may_be_merged(value, form)
                new = (
                    form.factors
                    if merged
                    else {self.node_of(self.product_form(ONE, form.factors)): ONE}
                )
            else:
                mirrored = strip_minus(self, form) if e.denominator == 1 else None
                if mirrored is not None:
                    c, form = -c if int(e) % 2 else c, mirrored  # noqa: PLW2901
                new = {self.node_of(form): ONE}
            factors = self.extend(factors, new, e, value)
            numbers = numbers or (factors is not new and self._has_numbers(new))
        self.fresh[id(factors)] = factors
        even = [
            base
            for base, e in factors.items()
            if base.primitive.norm and e.denominator == 1 and e % 2 == 0
        ]
        if even:
            return self._with_squared_norms(c, factors, even)
        for base in [base for base in factors if base.primitive is CBRT]:
            factors = _with_cube_root(factors, base)
        return self.product_form(c, factors, numbers)

    def _has_numbers(self, factors: Terms) -> bool:
        return any(isinstance(self.forms.get(base), Number) for base in factors)

    def _with_squared_norms(self, c: Fraction, factors: Terms, norms: Sequence[Value]) -> Form:
        """Return a product whose norms with even exponents are written as sums of squares, which
        have no kink.
        """
        rest = {base: e for base, e in factors.items() if base not in norms}
        powers: list[tuple[Fraction, Value | None, Form]] = [
            (ONE, None, self.product_form(c, rest))
        ]
        for norm in norms:
            squares = [self.raise_to(None, self.forms.get(p, p), Fraction(2)) for p in norm._prev]
            powers.append(
                (factors[norm] / 2, None, self.sum([(ONE, None, square) for square in squares]))
            )
        return self.product(powers)

    def product_form(self, c: Fraction, factors: Terms, numbers: bool = True) -> Form:
        """Return the simplest form of a product; `numbers` evaluates powers of numbers."""
        if c and numbers and self._has_numbers(factors):
            c, factors = self._folded(c, factors)
        if not factors or not c:
            return Number(c)
        if c == 1 and len(factors) == 1:
            ((base, e),) = factors.items()
            if e == 1:
                return self.forms.get(base, base) if base._prev else base
        if c == -1 and (inner := self.as_sum(factors)):
            return negated_sum(inner)
        return Product(c, factors)

    def _folded(self, c: Fraction, factors: Terms) -> tuple[Fraction, Terms]:
        """Return a coefficient times the factors that are powers of numbers, and the other
        factors.
        """
        rest: Terms = {}
        for base, e in factors.items():
            form = self.forms.get(base)
            if (
                isinstance(form, Number)
                and e.denominator == 1
                and abs(e) <= MAX_FOLDED_EXPONENT
                and form.value
            ):
                c = check_digits(c * form.value ** int(e))
            else:
                rest[base] = e
        return c, rest

    def raise_to(self, value: Value | None, form: Form, e: Fraction) -> Form:
        """Return a form to a rational power; only integer powers distribute."""
        if e == 0:
            return Number(ONE)
        if e == 1:
            return form
        if isinstance(form, Number):
            with suppress(Refusal):  # no rational root
                if abs(e) <= MAX_FOLDED_EXPONENT:
                    return Number(check_digits(EXACT.pow(form.value, e)))
            if form.value <= 0:
                raise RuleNotApplicable
        elif e.denominator == 1 and (
            (isinstance(form, Product) and (abs(e) <= MAX_FOLDED_EXPONENT or form.coefficient == 1))
            or (isinstance(form, Value) and form.primitive.norm)
        ):
            return self.product([(e, value, form)])
        elif isinstance(form, Product) and (root := self._root_of_squares(form, e)) is not None:
            return root
        return self.product_form(ONE, {self.node_of(form): e})

    def _root_of_squares(self, form: Product, e: Fraction) -> Form | None:
        """Return sqrt(4*x**2) as 2*|x|, 1/sqrt(x**4) as 1/x**2: roots of even powers that are whole
        powers.
        """
        powers = {base: n * e for base, n in form.factors.items()}
        if any(n.denominator != 1 or n % 2 for n in form.factors.values()):
            return None
        if form.coefficient < 0 or any(n.denominator != 1 for n in powers.values()):
            return None
        roots = {self.node(ABS, base) if n % 2 else base: n for base, n in powers.items()}
        try:
            return self.product_form(check_digits(EXACT.pow(form.coefficient, e)), roots)
        except Refusal:  # no rational root
            return self.product_form(ONE, {self.number(form.coefficient): e, **roots})

    def declared_identity(self, primitive: Primitive, inputs: Sequence[Form]) -> Form:
        """Return a function's declared identity. Raises `RuleNotApplicable`."""
        if len(inputs) != 1:
            raise RuleNotApplicable
        value = inputs[0]
        if isinstance(value, Value):
            if value.primitive.inverse == primitive.name:
                return self.forms.get(value._prev[0], value._prev[0])
            if primitive is LOG and value.source == "e":
                return Number(ONE)
            if primitive.even and value.primitive.norm and len(value._prev) == 1:
                return self.opaque_node(
                    primitive, (self.forms.get(value._prev[0], value._prev[0]),)
                )
        mirrored = strip_minus(self, value) if primitive.odd or primitive.even else None
        if mirrored is None:
            raise RuleNotApplicable
        result = self.opaque_node(primitive, (mirrored,))
        return Product(-ONE, {result: ONE}) if primitive.odd else result


# ---- rules on all inputs
def _where(p: Canonicalizer, value: Value, inputs: list[Form]) -> Form:
    condition, x, y = inputs
    if isinstance(condition, Boolean):
        return x if condition.value else y
    then, otherwise = p.node_of(x), p.node_of(y)
    return (
        x if then is otherwise else p.node(value.primitive, p.node_of(condition), then, otherwise)
    )


def _junction(neutral: bool) -> Rule:
    def rule(p: Canonicalizer, value: Value, inputs: list[Form]) -> Form:
        a, b = inputs
        if isinstance(a, Boolean):
            return b if a.value == neutral else a
        if isinstance(b, Boolean) and b.value == neutral:
            return a
        return a if a is b else p.opaque_node(value.primitive, inputs)

    return rule


def _pow(p: Canonicalizer, value: Value, inputs: list[Form]) -> Form:
    x, y = inputs
    if isinstance(x, Number) and x.value == 1:
        return x
    return (
        p.raise_to(value._prev[0], x, y.value)
        if isinstance(y, Number)
        else p.opaque_node(POW, inputs)
    )


# Rules of operations that use all inputs.
RULES: dict[str, Rule] = by_name({
    "add": lambda p, v, f: p.sum(((ONE, v._prev[0], f[0]), (ONE, v._prev[1], f[1]))),
    "sub": lambda p, v, f: p.sum(((ONE, v._prev[0], f[0]), (-ONE, v._prev[1], f[1]))),
    "sum": lambda p, v, f: p.sum(zip([ONE] * len(f), v._prev, f, strict=True)),
    "neg": lambda p, v, f: p.product(((ONE, None, Number(-ONE)), (ONE, v._prev[0], f[0]))),
    "mul": lambda p, v, f: p.product(((ONE, v._prev[0], f[0]), (ONE, v._prev[1], f[1]))),
    "prod": lambda p, v, f: p.product(zip([ONE] * len(f), v._prev, f, strict=True)),
    "div": lambda p, v, f: p.product(((ONE, v._prev[0], f[0]), (-ONE, v._prev[1], f[1]))),
    "pow": _pow,
    "sqrt": lambda p, v, f: p.raise_to(v._prev[0], f[0], HALF),
    "where": _where,
    "and_": _junction(True),
    "or_": _junction(False),
})  # fmt: skip


def _with_cube_root(factors: Terms, root: Value) -> Terms:
    """Return x/cbrt(x)**2 as cbrt(x), which has that value on both sides of 0."""
    inside, e = root._prev[0], factors[root]
    f = factors.get(inside, ZERO)
    if e.denominator != 1 or f.denominator != 1 or (f * e >= 0 and e % 3):
        return factors
    thirds = 3 * f + e
    whole = Fraction(int(thirds / 3))  # rounded to 0
    rest = {
        base: power for base, power in factors.items() if base is not root and base is not inside
    }
    return rest | {
        base: power for base, power in ((inside, whole), (root, thirds - 3 * whole)) if power
    }


def strip_minus(p: Canonicalizer, form: Form) -> Form | None:
    """Return the negative of a form with a minus sign; else None."""
    if isinstance(form, Product) and form.coefficient < 0:
        return p.product_form(-form.coefficient, form.factors)
    if isinstance(form, Sum) and form.constant <= 0 and all(c < 0 for c in form.terms.values()):
        return negated_sum(form)
    return None


def negated_sum(form: Sum) -> Sum:
    """Return the sum with opposite signs."""
    return Sum(-form.constant, {term: -c for term, c in form.terms.items()})


def add_multiple(
    total: dict[Key, Any], terms: Mapping[Key, Any], factor: Fraction | int = 1
) -> dict[Key, Any]:
    """Add a multiple of terms to a total, in place and without zeros."""
    for key, c in terms.items():
        coefficient = total.get(key, 0) + factor * c
        if coefficient:
            total[key] = coefficient
        else:
            total.pop(key, None)
    return total


def check_digits(x: Fraction) -> Fraction:
    """Return the number. Raises `RuleNotApplicable` for too many digits."""
    if size(x) < SURELY_SHORT:
        return x
    if (
        max(_digit_count(x.numerator), _digit_count(x.denominator)) > MAX_DIGITS
        or not MIN_SIZE < abs(x) < 1 / MIN_SIZE
    ):
        raise RuleNotApplicable
    return x
