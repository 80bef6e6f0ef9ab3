"""Canonical forms: one pass over a graph that gathers sums by like terms and products by like bases, exactly."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce, wraps
from typing import Any, NamedTuple, TypeVar

from ..graphs.value import Value, constant, in_order, node
from ..numbers import budget as work
from ..numbers.base import NO_RESULT, Refusal
from ..numbers.exact import EXACT, size
from ..table.operators import ADD, CONSTANT, DIV, LE, LT, MUL, NEG, POW, SUB
from ..table.primitive import Primitive
from ..table.primitives import SQRT

SHORT = 3
"""As many terms or factors of a shared part are copied."""

MOST_DIGITS = 60
"""Numbers of more significant digits, in numerator or denominator, are left as they were written."""

MOST_EXPONENT = 300
"""Magnitudes that doubles hardly hold: above 1e300, and below 1e-300."""

FEW_DIGITS = 8
"""A fraction of so many digits in all is written with whole numbers, as people do."""

FOLDED_POWER = 64
NAMED = ("pi", "π", "e")
"""Constants that are no rational numbers."""

SURELY_SHORT = 3 * MOST_DIGITS
LEAST = Fraction(1, 10**MOST_EXPONENT)
ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)

Key = TypeVar("Key", bound=Hashable)
Terms = dict[Value, Fraction]
Undo = list[tuple[Terms, Value, Fraction | None]]
"""A journal of changes to the terms or factors of a form, to undo them in order."""


class Number(NamedTuple):
    """A rational number."""

    value: Fraction


class Truth(NamedTuple):
    """A condition that is decided."""

    value: bool


class Sum(NamedTuple):
    """A constant and terms with their coefficients."""

    constant: Fraction
    terms: Terms


class Product(NamedTuple):
    """A coefficient, and bases with their exponents."""

    coefficient: Fraction
    factors: Terms


Form = Number | Truth | Sum | Product | Value
"""The canonical form of a node; a Value stands for any other node."""
Parts = Iterable[tuple[Fraction, Value | None, Form]]
"""Parts of a sum or a product: each with its factor or exponent, the node that it comes from, and its form."""


class Refused(Exception):
    """The rule does not apply."""


FormRule = Callable[["Collector", Value, list[Form]], Form]
"""A rule for a node with what is known of its inputs."""

Rule = Callable[["Collector", Primitive, Sequence[Form]], Form]
"""Return the form of an operation that is not collected, from the forms of its inputs."""


def rational(value: Value) -> Fraction | None:
    """The exact value of a literal, as it was typed; None for anything else, and for what is too long to count with."""
    if value.primitive is not CONSTANT or value.source in NAMED or not isinstance(value.data, (float, int)):
        return None
    if value.source is None:
        return Fraction(value.data)
    if value.source.endswith("]"):
        return None if value.data else Fraction(0)  # a number with a unit
    written = Decimal(value.source)
    if len(written.as_tuple().digits) > MOST_DIGITS or abs(written.adjusted()) > MOST_EXPONENT:
        return None if written else Fraction(0)
    return Fraction(written)


def number_text(x: Fraction) -> str | None:
    """A literal that is exactly this number; None where no decimal is."""
    if x.denominator == 1:
        whole = str(abs(x.numerator))
        zeros = len(whole) - len(whole.rstrip("0"))
        text = whole if zeros < 9 else f"{whole[:-zeros]}e{zeros}"
    else:
        rest, twos, fives = factored(x.denominator)
        if rest != 1:
            return None
        places = max(twos, fives)
        digits = str(abs(x.numerator) * 2 ** (places - twos) * 5 ** (places - fives))
        if len(digits) + 4 < places:
            text = f"{digits[0]}{'.' + digits[1:] if digits[1:] else ''}e-{places - len(digits) + 1}"
        else:
            digits = digits.rjust(places + 1, "0")
            text = f"{digits[:-places]}.{digits[-places:]}"
    return "-" + text if x < 0 else text


def factored(n: int) -> tuple[int, int, int]:
    """A whole number without its factors 2 and 5, and how many of them there are."""
    counts = []
    for factor in (2, 5):
        count = 0
        while n % factor == 0:
            n, count = n // factor, count + 1
        counts.append(count)
    return n, counts[0], counts[1]


def significant(n: int) -> int:
    """How many digits a whole number has in front of its last zeros."""
    return len(str(abs(n)).rstrip("0"))


def quotient(x: Fraction) -> tuple[Fraction, Fraction]:
    """Two decimals whose quotient is the number: whole ones if they are short, else those of the fewest digits.

    So 1/1.7677669529663688 is written that way, and not as 125e13/2209708691207961, which is the same.
    """
    sign, numerator, denominator = 1 if x > 0 else -1, abs(x.numerator), x.denominator
    if len(str(numerator)) + len(str(denominator)) <= FEW_DIGITS:
        return Fraction(x.numerator), Fraction(denominator)
    above, twos, fives = factored(numerator)
    below, more_twos, more_fives = factored(denominator)
    # Factors of 10 move a point only; what is left are factors 2 on one side, which are factors 5 on the other.
    surplus = twos - more_twos - (fives - more_fives)
    best: tuple[int, int, int] | None = None
    for k in range(abs(surplus) + 1):
        rest = abs(surplus) - k
        pair = (above * 2**k, below * 5**rest) if surplus > 0 else (above * 5**k, below * 2**rest)
        digits = significant(pair[0]) + significant(pair[1])
        if best is None or digits + 1 < best[0]:  # for one digit less a numerator of 1 is not given up
            best = digits, *pair
    assert best is not None
    top, bottom = (Fraction(whole // 10 ** (len(str(whole)) - significant(whole))) for whole in best[1:])
    power = Fraction(numerator, denominator) / (top / bottom)
    shift = Fraction(10) ** (significant(int(bottom)) - 1)
    best_pair = min(
        ((top * power, bottom), (top, bottom / power), (top * power / shift, bottom / shift)),
        key=lambda pair: sum(len(number_text(part) or "") for part in pair),
    )
    return sign * best_pair[0], best_pair[1]


def _restoring(rule: Callable[[Collector, Parts, Undo], Form]) -> Callable[[Collector, Parts], Form]:

    @wraps(rule)
    def tried(collector: Collector, parts: Parts) -> Form:
        undo: Undo = []
        try:
            return rule(collector, parts, undo)
        except (Refused, Refusal, ArithmeticError):
            for items, key, before in reversed(undo):
                if before is None:
                    items.pop(key, None)
                else:
                    items[key] = before
            raise

    return tried


def _put(items: Terms, key: Value, total: Fraction, undo: Undo) -> None:
    undo.append((items, key, items.get(key)))
    if total:
        items[key] = total
    else:
        items.pop(key, None)


class Collector:
    """One pass over a graph, inputs first, that finds the canonical form of every node."""

    def __init__(self, outputs: Sequence[Value], forms: Mapping[str, FormRule], rule: Rule) -> None:
        self.roots = list(outputs)
        self.form_rules = forms
        self.rule = rule
        self.uses: dict[Value, int] = dict.fromkeys(self.roots, 2)
        self.interned: dict[Any, Value] = {}
        self.forms: dict[Value, Form] = {}
        """By node of the graph, and by node that was made."""
        self.fresh: dict[int, Terms] = {}
        """Terms and factors that nothing else holds yet, so that a whole may go on with them instead of a copy."""
        order = in_order(self.roots)
        work.charge(work.CANONICAL_NODE * len(order))
        for value in order:
            for p in value._prev:
                self.uses[p] = self.uses.get(p, 0) + 1
        for value in order:
            self.forms[value] = self.form(value)

    def outputs(self) -> list[Value]:
        """Return the canonical graphs of the roots."""
        return [self.node_of(self.forms[root]) for root in self.roots]

    def form(self, value: Value) -> Form:
        """Return the form of a node from the forms of its inputs."""
        if not value._prev:
            number = rational(value)
            leaf = value.primitive.name, value.source or value.label
            return self.interned.setdefault(leaf, value) if number is None else Number(number)
        inputs = [self.forms[p] for p in value._prev]
        name = value.primitive.name
        try:
            if name in self.form_rules:
                return self.form_rules[name](self, value, inputs)
            if all(isinstance(f, (Number, Truth)) for f in inputs):
                result = getattr(EXACT, name)(*[f.value for f in inputs])  # type: ignore[union-attr]
                return Truth(result) if isinstance(result, bool) else Number(checked(result))
            return self.rule(self, value.primitive, inputs)
        except (Refused, *NO_RESULT):
            return self.opaque(value.primitive, inputs)

    def opaque(self, primitive: Primitive, inputs: Iterable[Form]) -> Value:
        """The operation itself on what is known of its inputs."""
        return self.node(primitive, *[self.node_of(f) for f in inputs])

    def node(self, primitive: Primitive, *inputs: Value) -> Value:
        """The one node of an operation on these inputs."""
        key = (primitive.name, *inputs)
        if key not in self.interned:
            self.interned[key] = node(primitive, inputs)
        return self.interned[key]

    # -- from forms to nodes ----------------------------------------------------------------------------------------
    def node_of(self, form: Form) -> Value:
        """The node of a form."""
        if isinstance(form, Value):
            return form
        if isinstance(form, Truth):
            return self.node(LE if form.value else LT, self.number(ZERO), self.number(ZERO))
        if isinstance(form, Number):
            return self.number(form.value)
        self.fresh.pop(id(form[1]), None)
        key = type(form), form[0], frozenset(form[1].items())
        if key not in self.interned:
            value = self.sum_node(form) if isinstance(form, Sum) else self.product_node(form)
            self.interned[key] = value
            self.forms.setdefault(value, form)
        return self.interned[key]

    def number(self, x: Fraction) -> Value:
        """A literal, or a quotient of two."""
        if ("number", x) not in self.interned:
            text = number_text(x)
            value = constant(float(x), text) if text else self.node(DIV, *map(self.number, quotient(x)))
            self.interned["number", x] = value
            self.forms[value] = Number(x)
        return self.interned["number", x]

    def sum_node(self, form: Sum) -> Value:
        """The node of a sum."""
        terms = list(form.terms.items())
        # A term with a plus goes first, if there is one.
        first = next((k for k, (_, c) in enumerate(terms) if c > 0), None)
        if first is not None:
            terms.insert(0, terms.pop(first))
        number_first = first is None and form.constant > 0
        total = self.number(form.constant) if number_first else None
        for term, c in terms:
            if total is None:
                total = self.scaled(c, term)
            else:
                total = self.node(ADD if c > 0 else SUB, total, self.scaled(abs(c), term))
        assert total is not None
        if form.constant and not number_first:
            total = self.node(ADD if form.constant > 0 else SUB, total, self.number(abs(form.constant)))
        return total

    def scaled(self, c: Fraction, term: Value) -> Value:
        """A term with its coefficient."""
        if c == 1:
            return term
        form = self.forms.get(term)
        factors = form.factors if isinstance(form, Product) and form.coefficient == 1 else {term: ONE}
        return self.node_of(Product(c, factors))

    def product_node(self, form: Product) -> Value:
        """The node of a product."""
        above: list[Value] = []
        below: list[Value] = []
        for base, e in sorted(form.factors.items(), key=lambda factor: self.rank(factor[0])):
            (above if e > 0 else below).append(self.power(base, abs(e)))
        c, divisor = self.split(form.coefficient, bool(below))
        if divisor != 1:
            below.insert(0, self.number(divisor))
        if abs(c) != 1 or not above:
            above.insert(0, self.number(c))
        elif c < 0:
            above[0] = self.node(NEG, above[0])
        top, *bottom = (reduce(partial(self.node, MUL), factors) for factors in (above, below) if factors)
        return self.node(DIV, top, *bottom) if bottom else top

    def rank(self, base: Value) -> tuple[int, int]:
        """Return the sort key of a factor in a product: constants first, then variables."""
        return 2 if base._prev else 0 if base.primitive is CONSTANT else 1, 0

    def split(self, c: Fraction, quotient_anyway: bool) -> tuple[Fraction, Fraction]:
        """A coefficient as what stands above and what stands below a line: a decimal goes above, a fraction apart."""
        text = number_text(c)
        if text is None:
            return quotient(c)
        plain = abs(c.numerator) == 1 and c.denominator <= 4
        if quotient_anyway and not plain and c.denominator != 1:
            digits = significant(int(text.split("e")[0].replace(".", "")))
            plain = digits >= significant(c.numerator) + significant(c.denominator)
        return (Fraction(c.numerator), Fraction(c.denominator)) if plain else (c, ONE)

    def power(self, base: Value, e: Fraction) -> Value:
        """The node of a power: the base itself for 1, a root for 1/2."""
        if e == 1:
            return base
        return self.node(SQRT, base) if e == HALF else self.node(POW, base, self.number(e))

    # -- sums -------------------------------------------------------------------------------------------------------
    def is_joined(self, value: Value | None, form: Form) -> bool:
        """Whether a part may become terms or factors of the whole: if nothing else uses it, or it is short."""
        if not isinstance(form, (Sum, Product)):
            return True
        return len(form[1]) <= SHORT or (value is not None and self.uses.get(value, 2) == 1)

    def sum_in(self, factors: Terms, most: int) -> Sum | None:
        """The sum that the only factor of a product is; None if there is none, or it has too many terms."""
        if len(factors) != 1:
            return None
        ((base, e),) = factors.items()
        form = self.forms.get(base) if e == 1 else None
        return form if isinstance(form, Sum) and len(form.terms) <= most else None

    @_restoring
    def sum(self, parts: Parts, undo: Undo) -> Form:
        """The sum of forms, each with its sign and the node of the graph that it comes from."""
        """The sum of forms, each with its sign and the node of the graph that it comes from."""
        whole = ZERO
        terms: Terms = {}
        for sign, value, form in parts:
            if isinstance(form, Product) and abs(form.coefficient) == 1 and (inner := self.sum_in(form.factors, SHORT)):
                sign, form = sign * form.coefficient, inner  # noqa: PLW2901
            if isinstance(form, Number):
                whole += sign * form.value
                continue
            if isinstance(form, Sum) and self.is_joined(value, form):
                whole += sign * form.constant
                if not terms and sign == 1 and self.is_free(value, form.terms):
                    terms = form.terms
                    continue
                new: Iterable[tuple[Value, Fraction]] = form.terms.items()
            elif isinstance(form, Product):
                new = ((self.node_of(self.product_form(ONE, form.factors)), form.coefficient),)
            else:
                new = ((self.node_of(form), ONE),)
            for term, c in new:
                _put(terms, term, checked(terms.get(term, ZERO) + sign * c), undo)
        self.fresh[id(terms)] = terms
        return self.sum_form(checked(whole), terms)

    def is_free(self, value: Value | None, items: Terms) -> bool:
        """Whether these terms or factors of a node of the graph are needed by nothing else."""
        return value is not None and self.uses.get(value) == 1 and self.fresh.get(id(items)) is items

    def sum_form(self, whole: Fraction, terms: Terms) -> Form:
        """The form of a number and of terms: a sum, or what there is of one."""
        if not terms:
            return Number(whole)
        if whole or len(terms) > 1:
            return Sum(whole, terms)
        ((term, c),) = terms.items()
        form = self.forms.get(term)
        if c == 1:
            return form if form is not None and term._prev else term
        if isinstance(form, Product):
            return self.product_form(c * form.coefficient, form.factors)
        return Product(c, {term: ONE})

    # -- products ---------------------------------------------------------------------------------------------------
    @_restoring
    def product(self, parts: Parts, undo: Undo) -> Form:
        """The product of forms, each to a whole power, with the node of the graph that it comes from."""
        """The product of forms, each to a whole power, with the node of the graph that it comes from."""
        c = ONE
        factors: Terms = {}
        numbers = False
        for e, value, form in parts:
            if isinstance(form, Number):
                if form.value == 0 and e < 0:
                    raise Refused
                c = checked(c * form.value ** int(e))
                continue
            if isinstance(form, Product):
                c = checked(c * form.coefficient ** int(e))
                if not self.is_joined(value, form):
                    new: Iterable[tuple[Value, Fraction]] = ((self.node_of(self.product_form(ONE, form.factors)), ONE),)
                elif not factors and e == 1 and self.is_free(value, form.factors):
                    factors = form.factors
                    continue
                else:
                    new = form.factors.items()
            else:
                mirrored = negated(self, form) if e.denominator == 1 else None
                if mirrored is not None:
                    c, form = -c if int(e) % 2 else c, mirrored  # noqa: PLW2901
                new = ((self.node_of(form), ONE),)
            for base, f in new:
                numbers = numbers or isinstance(self.forms.get(base), Number)
                _put(factors, base, factors.get(base, ZERO) + e * f, undo)
        self.fresh[id(factors)] = factors
        even = [base for base, e in factors.items() if base.primitive.norm and e.denominator == 1 and e % 2 == 0]
        if not even:
            return self.product_form(c, factors, numbers)
        rest = {base: e for base, e in factors.items() if base not in even}
        squares = [(factors[norm] / 2, None, self.squared(norm)) for norm in even]
        return self.product([(ONE, None, self.product_form(c, rest)), *squares])

    def squared(self, norm: Value) -> Form:
        """The square of a length, or of an absolute value: it has no kink."""
        inputs = [self.forms.get(p, p) for p in norm._prev]
        return self.sum([(ONE, None, self.raised(None, form, Fraction(2))) for form in inputs])

    def product_form(self, c: Fraction, factors: Terms, numbers: bool = True) -> Form:
        """A product; `numbers` is whether some base may be a number, to a power that can be multiplied out."""
        if c and numbers and any(isinstance(self.forms.get(base), Number) for base in factors):
            rest: Terms = {}
            for base, e in factors.items():
                form = self.forms.get(base)
                if isinstance(form, Number) and e.denominator == 1 and abs(e) <= FOLDED_POWER and form.value:
                    c = checked(c * form.value ** int(e))
                else:
                    rest[base] = e
            factors = rest
        if not factors or not c:
            return Number(c)
        if c == 1 and len(factors) == 1:
            ((base, e),) = factors.items()
            if e == 1:
                return self.forms.get(base, base) if base._prev else base
        if c == -1 and (inner := self.sum_in(factors, SHORT)):
            return mirrored_sum(inner)
        return Product(c, factors)

    def raised(self, value: Value | None, form: Form, e: Fraction) -> Form:
        """A rational power. (x**a)**n is x**(a*n) for whole n only, and so is (x*y)**n."""
        if e == 0:
            return Number(ONE)
        if e == 1:
            return form
        if isinstance(form, Number):
            with suppress(Refusal):  # no rational root
                if abs(e) <= FOLDED_POWER:
                    return Number(checked(EXACT.pow(form.value, e)))
            if form.value <= 0:
                raise Refused
        elif e.denominator == 1 and (
            (isinstance(form, Product) and (abs(e) <= FOLDED_POWER or form.coefficient == 1))
            or (isinstance(form, Value) and form.primitive.norm)
        ):
            return self.product([(e, value, form)])
        return Product(ONE, {self.node_of(form): e})


def negated(p: Collector, form: Form) -> Form | None:
    """-x, where the form is a negative multiple; None where it is not."""
    if isinstance(form, Product) and form.coefficient < 0:
        return p.product_form(-form.coefficient, form.factors)
    if isinstance(form, Sum) and form.constant <= 0 and all(c < 0 for c in form.terms.values()):
        return mirrored_sum(form)
    return None


def mirrored_sum(form: Sum) -> Sum:
    """The sum with the opposite signs."""
    return Sum(-form.constant, {term: -c for term, c in form.terms.items()})


def add_multiple(total: dict[Key, Any], terms: Mapping[Key, Any], factor: Fraction | int = 1) -> dict[Key, Any]:
    """Add a multiple of some terms to a total, in place, and return it; like terms are joined, and zeros left out."""
    for key, c in terms.items():
        coefficient = total.get(key, 0) + factor * c
        if coefficient:
            total[key] = coefficient
        else:
            total.pop(key, None)
    return total


def checked(x: Fraction) -> Fraction:
    """The number, if it is short and a double can hold it; else the rule does not apply."""
    if size(x) < SURELY_SHORT:
        return x
    if max(significant(x.numerator), significant(x.denominator)) > MOST_DIGITS or not LEAST < abs(x) < 1 / LEAST:
        raise Refused
    return x
