"""The shortest form, as text, of each sum and product, with a value wherever the others have
one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from ..graphs.value import Value
from ..numbers import budget
from ..numbers.base import Refusal
from ..table.operators import ADD, CONSTANT, DIV, MUL, NEG, POW, SUB, WHERE
from ..table.primitive import PRIMITIVES
from ..table.primitives import ABS, ALL_QUOTIENTS, EXP, LOG
from .canonical import (
    MAX_SHORT,
    ONE,
    ZERO,
    Form,
    Number,
    Product,
    RuleNotApplicable,
    Sum,
    Terms,
    add_multiple,
    check_digits,
    negated_sum,
    number_text,
)
from .root_forms import RootForms, divide, multiply
from .walk import facts_of

MAX_ROUNDS = 3
MAX_TERMS = 40
MAX_EXPANDED_TERMS = 24
MAX_NESTED_SUMS = 6
MAX_MERGED_TERMS = 12  # of a shared sum or product
# The highest power of a sum whose terms are put over one denominator.
MAX_FRACTION_POWER = 2
MAX_COPIED_SIZE = 14  # of a product that is written once more for each term of a sum
MIN_TRIED_TERMS, TRIED_TERMS_PER_NODE = 300, 3
# In all rounds: about 0.6 seconds, and all that formulas of up to 600 nodes need.
MAX_TRIED_TERMS = 6_000

# A term: its coefficient, and bases with their exponents.
Part = tuple[Fraction, Terms]

# Functions whose squares add up to 1: sign, other function, its sign.
_PARTNERS: dict[str, tuple[int, str, int]] = {}

for _row in PRIMITIVES.values():
    if _row.unit is not None:
        _other, _own, _others = _row.unit
        _PARTNERS[_row.name] = (_own, _other, _others)
        _PARTNERS[_other] = (_others, _row.name, _own)

_QUOTIENTS = {above: (name, below) for name, (above, below) in ALL_QUOTIENTS.items() if above}
_QUOTIENTS |= {"sech": ("csch", "tanh")}
"""Quotient and divisor by dividend."""
_COLLECTED = frozenset((ADD, SUB, NEG, PRIMITIVES["sum"]))
_MULTIPLIED = frozenset((MUL, DIV, NEG, PRIMITIVES["prod"]))


def shorten(outputs: Sequence[Value], leaves: Sequence[Value] = ()) -> list[Value]:
    """Return graphs of the same functions with texts at most as long."""
    sizes: dict[Value, int] = {}
    best = list(outputs)
    open_ = [k for k, output in enumerate(best) if output._prev]
    tries = MAX_TRIED_TERMS
    for _ in range(MAX_ROUNDS):
        shortener = Shortener([best[k] for k in open_], leaves, tries)
        tries -= shortener.left
        results = shortener.outputs()
        tries += max(0, shortener.left)
        left = []
        for k, new in zip(open_, results, strict=True):
            before, after = token_count(best[k], sizes), token_count(new, sizes)
            if after <= before:  # if it is no shorter, it still has fewer products within products
                best[k] = new
            if after < before and new._prev:
                left.append(k)
        open_ = left
        if not tries:
            break
    return best


def token_count(value: Value, sizes: dict[Value, int]) -> int:
    """Return the number of names, literals, operators and calls in a text."""
    return sizes[value] if value in sizes else facts_of((value,), _text_size, sizes)[value]


def _text_size(value: Value, inputs: Sequence[int]) -> int:
    return 1 + sum(inputs) if inputs else 2 if value.primitive is CONSTANT and value.data < 0 else 1


def _is_plain_polynomial(parts: Sequence[Part]) -> bool:
    """Return whether a sum is a polynomial in one variable, which is written out."""
    bases = {base for _, factors in parts for base in factors}
    if len(bases) > 1 or any(base._prev for base in bases):
        return False
    return all(e > 0 and e.denominator == 1 for _, factors in parts for e in factors.values())


class Shortener(RootForms):
    """A pass that keeps the shortest form of each sum and product."""

    def __init__(
        self, outputs: Sequence[Value], leaves: Sequence[Value] = (), tries: int = MAX_TRIED_TERMS
    ) -> None:
        super().__init__(outputs)
        self.sizes: dict[Value, int] = {}
        self.tried: dict[object, list[Part]] = {}
        self.depth = 0
        self.left = min(MIN_TRIED_TERMS + TRIED_TERMS_PER_NODE * len(self.order), tries)
        self.places = {leaf: k for k, leaf in enumerate(leaves)}
        self.ways_of_products = (
            self.by_exponents,
            self.by_quotients,
            self.by_signs_of_products,
            self.by_signs,
            self.by_roots,
            self.by_denominators,
            self.into_choice,
            self.by_negation,
            self.by_cancelling,
        )
        self.ways_of_roots = (
            self.by_even_roots,
            self.by_nested_roots,
            self.by_roots_of_numbers,
            self.by_signs,
        )

    def form(self, value: Value) -> Form:
        form = super().form(value)
        user = self.only_user.get(value)
        # a sum or product that its only user absorbs
        if user and any(
            {value.primitive, user.primitive} <= kinds for kinds in (_COLLECTED, _MULTIPLIED)
        ):
            return form
        shorten = self._shorten_term if user and user.primitive in _COLLECTED else self._shorten
        shorter: Form | None = _attempt(shorten, form) if self.left >= 0 else None
        return shorter or form

    def _shorten(self, form: Form) -> Form | None:
        shorter = self._shorten_term(form)
        if isinstance(shorter, Product):
            return self._with_roots(shorter)
        if isinstance(shorter, Sum):  # before, terms may have had roots in common
            terms = [
                (c, None, self._with_roots(self.forms.get(term, term)))
                for term, c in shorter.terms.items()
            ]
            return self.sum([*terms, (shorter.constant, None, Number(ONE))])
        return shorter

    def _with_roots(self, form: Form) -> Form:
        return (
            self._shortest_product(form, self.ways_of_roots) if isinstance(form, Product) else form
        )

    def _shorten_term(self, form: Form) -> Form | None:
        if isinstance(form, Product):
            return self._shortest_product(form, self.ways_of_products)
        if isinstance(form, Sum) and len(form.terms) <= MAX_TERMS:
            return self._sum_of(self.shortest_sum(self._parts(form)))
        return None

    def rank(self, base: Value) -> tuple[int, int]:
        if base._prev:
            return 2 if base.primitive in _COLLECTED else 3, 0
        return 0 if base.primitive is CONSTANT else 1, self.places.get(base, 0)

    def may_be_merged(self, value: Value | None, form: Form) -> bool:
        return not isinstance(form, (Sum, Product)) or len(form[1]) <= MAX_MERGED_TERMS

    # ---- terms
    def _parts(self, form: Form) -> list[Part]:
        if not isinstance(form, Sum):
            return [self._part(ONE, form)]
        parts = [self._part(c, self.forms.get(term, term)) for term, c in form.terms.items()]
        return [*parts, (form.constant, {})] if form.constant else parts

    def _part(self, c: Fraction, form: Form) -> Part:
        if isinstance(form, Number):
            return Product(c * form.value, {})
        if isinstance(form, Product):
            self.fresh.pop(id(form.factors), None)
            return Product(c * form.coefficient, form.factors)
        return Product(c, {self.node_of(form): ONE})

    def _sum_of(self, parts: Sequence[Part]) -> Form:
        if len(parts) == 1:
            return self.product_form(*parts[0])
        return self.sum([(c, None, self.product_form(ONE, factors)) for c, factors in parts])

    def combine_like_terms(self, parts: Iterable[Part]) -> list[Part]:
        """Return the terms with like ones, and inner sums, combined."""
        groups: dict[object, Part] = {}
        stack = list(parts)[::-1]
        while stack:
            c, factors = stack.pop()
            if abs(c) == 1 and (inner := self.as_sum(factors, MAX_TERMS)):
                stack += [(c * d, inside) for d, inside in self._parts(inner)[::-1]]
                continue
            key = frozenset(factors.items())
            total = check_digits(groups[key][0] + c) if key in groups else c
            if total:
                groups[key] = total, factors
            else:
                groups.pop(key, None)
        return list(groups.values()) or [(ZERO, {})]

    def _size(self, parts: Sequence[Part]) -> int:
        return (
            len(parts)
            - 1
            + all(c < 0 for c, _ in parts)
            + sum(self._product_size(*part) for part in parts)
        )

    def _product_size(self, c: Fraction, factors: Terms) -> int:
        total = 0
        for base, e in factors.items():
            total += token_count(base, self.sizes)
            if abs(e) != 1:
                total += (
                    1 if e.denominator == 2 and abs(e.numerator) == 1 else 2 if _is_short(e) else 4
                )
        above = sum(e > 0 for e in factors.values())
        below = len(factors) - above
        if not _is_short(c) or (below and c.denominator != 1):
            below += 1
            total += 1
            c = Fraction(c.numerator)
        if abs(c) != 1 or not above:
            above += 1
            total += 1
        return total + above - 1 + below

    # ---- sums
    def shortest_sum(self, terms: Sequence[Part], again: bool = True) -> list[Part]:
        """Return the shortest sum's terms; `again` tries more than grouping."""
        parts = self.combine_like_terms(terms)
        if self.depth > MAX_NESTED_SUMS or self.left < 0:
            return parts
        key = again, frozenset([(c, frozenset(factors.items())) for c, factors in parts])
        if key in self.tried:
            return self.tried[key]
        self.left -= len(parts)
        budget.charge(budget.TERM * len(parts))
        self.depth += 1
        try:
            result = self.tried[key] = self._of_several(parts, again)
        finally:
            self.depth -= 1
        return result

    def _of_several(self, parts: list[Part], again: bool) -> list[Part]:
        for way in (self.by_squares, self.merge_choices):
            while (shorter := way(parts)) is not None:
                parts = self.combine_like_terms(shorter)
        if len(parts) == 1:
            return parts
        best, least = parts, self._size(parts)
        written_out = _is_plain_polynomial(parts)
        if (
            not written_out
            and (product := self._with_common_factor(parts, again, least)) is not None
        ):
            return product
        ways = [self.multiplied_out, self.one_fraction, self.align_powers] if again else []
        for way in ways if written_out else [self.factor_out, *ways]:
            candidate = _attempt(way, parts)
            if candidate is not None and (size := self._size(candidate)) < least:
                best, least = candidate, size
        apart = self.factor_content(best)
        return apart if self._size(apart) < least else best

    def _with_common_factor(self, parts: list[Part], again: bool, least: int) -> list[Part] | None:
        """Return a sum as the product of what its terms share and a shorter sum; None if `least` is
        shorter.
        """
        common = shared_factors([factors for _, factors in parts])
        if not common:
            return None
        inner = self.shortest_sum([(c, divide(factors, common)) for c, factors in parts], again)
        one = self.factor_content([self.times_sum(common, inner)])
        # A denominator or function precedes its sum even if that is no shorter.
        plain = all(not base._prev for base in common) and not any(e < 0 for e in common.values())
        return one if self._size(one) < least + (not plain) else None

    def by_squares(self, parts: list[Part]) -> list[Part] | None:
        """Return the terms with sin² + cos² as 1, and the like."""
        places: dict[object, int] = {}
        for k, (c, factors) in enumerate(parts):
            for base, e in factors.items():
                partner = _PARTNERS.get(base.primitive.name)
                if partner is None or e < 2 or e.denominator != 1:
                    continue
                places = places or {
                    frozenset(factors.items()): k for k, (_, factors) in enumerate(parts)
                }
                own, name, others = partner
                rest = divide(factors, {base: Fraction(2)})
                square = multiply(rest, {self.node(PRIMITIVES[name], *base._prev): Fraction(2)})
                for other, ratio, replacement in (
                    (square, own * others, (c * own, rest)),
                    (rest, -own, (-c * own * others, square)),
                ):
                    j = places.get(frozenset(other.items()))
                    if j is not None and parts[j][0] == c * ratio:
                        return [
                            *(part for i, part in enumerate(parts) if i not in (j, k)),
                            replacement,
                        ]
        return None

    def merge_choices(self, parts: list[Part]) -> list[Part] | None:
        """Return the terms with choices by one condition merged."""
        groups: dict[Value, list[tuple[int, Value]]] = {}
        for k, (_, factors) in enumerate(parts):
            for base, e in factors.items():
                if base.primitive is WHERE and e == 1:
                    groups.setdefault(base._prev[0], []).append((k, base))
                    break
        for condition, members in groups.items():
            if len(members) > 1:
                sides = [
                    self._sum_of(
                        self.shortest_sum(
                            [self._choose(parts[k], choice, side) for k, choice in members]
                        )
                    )
                    for side in (1, 2)
                ]
                chosen = self.node(WHERE, condition, *[self.node_of(side) for side in sides])
                group = {k for k, _ in members}
                return [
                    *(part for k, part in enumerate(parts) if k not in group),
                    (ONE, {chosen: ONE}),
                ]
        return None

    def _choose(self, part: Part, choice: Value, side: int) -> Part:
        c, factors = part
        taken = self.forms.get(choice._prev[side], choice._prev[side])
        rest = self.product_form(ONE, divide(factors, {choice: ONE}))
        return self._part(c, self.product([(ONE, None, rest), (ONE, None, taken)]))

    def align_powers(self, parts: list[Part]) -> list[Part] | None:
        """Return the sum with b**(y - 1) as b**y/b beside log(b), where b > 0."""
        bottoms = {
            base._prev[0]
            for _, factors in parts
            for base, e in factors.items()
            if base.primitive is LOG and e > 0
        }
        merged: list[Part] = []
        for c, factors in parts:
            rest = factors
            for base, e in factors.items():
                if base.primitive is POW and base._prev[0] in bottoms and e == 1:
                    bottom, exponent = base._prev
                    form = self.forms.get(exponent)
                    if isinstance(form, Sum) and form.constant.denominator == 1 and form.constant:
                        power = self._raised_to(bottom, self.sum_form(ZERO, form.terms))
                        rest = multiply(divide(rest, {base: ONE}), {power: ONE})
                        rest = multiply(rest, {bottom: form.constant})
            merged.append((c, rest))
        return self.shortest_sum(merged, False) if merged != parts else None

    def multiplied_out(self, parts: list[Part]) -> list[Part] | None:
        """Return the sum with short sums among factors multiplied out."""
        expanded: list[Part] = []
        some = False
        for c, factors in parts:
            product: list[Part] = [(c, {})]
            length = self._product_size(c, factors)
            for base, e in factors.items():
                inner = self.forms.get(base)
                times = 1
                by: list[Part] = [(ONE, {base: e})]
                if isinstance(inner, Sum) and e.denominator == 1 and 0 < e <= 3:
                    listed = len(inner.terms) + (inner.constant != 0)
                    fits = len(product) * listed ** int(e) <= MAX_EXPANDED_TERMS
                    if fits and length - token_count(base, self.sizes) <= MAX_COPIED_SIZE:
                        by, times, some = self._parts(inner), int(e), True
                for _ in range(times):
                    product = [
                        (check_digits(a * b), multiply(f, g)) for a, f in product for b, g in by
                    ]
            expanded += product
            if len(expanded) > MAX_EXPANDED_TERMS:
                return None
        return self.shortest_sum(expanded, False) if some else None

    def factor_out(self, parts: list[Part]) -> list[Part] | None:
        """Return the sum with factors of some terms out, the longest first."""
        left = list(parts)
        while (chosen := self._common(left)) is not None:
            base, sign = chosen
            group = [part for part in left if sign * part[1].get(base, 0) > 0]
            rest = [part for part in left if sign * part[1].get(base, 0) <= 0]
            common = shared_factors([factors for _, factors in group])
            inner = self.shortest_sum([(c, divide(factors, common)) for c, factors in group])
            left = [*rest, self.times_sum(common, inner)]
        return left if len(left) < len(parts) else None

    def times_sum(self, common: Terms, inner: list[Part]) -> Part:
        """Return the product of factors and a sum."""
        c, factors = inner[0] if len(inner) == 1 else self._part(ONE, self._sum_of(inner))
        ahead = {base: e for base, e in common.items() if not base._prev}
        behind = {base: e for base, e in common.items() if base._prev}
        return c, multiply(multiply(ahead, factors), behind)

    def _common(self, parts: list[Part]) -> tuple[Value, int] | None:
        counts = Counter(
            (base, 1 if e > 0 else -1) for _, factors in parts for base, e in factors.items()
        )
        best, most = None, 0
        for place, count in counts.items():
            gain = (count - 1) * (token_count(place[0], self.sizes) + 1)
            if count > 1 and (place[0]._prev or count == len(parts)) and gain > most:
                best, most = place, gain
        return best

    def one_fraction(self, parts: list[Part]) -> list[Part] | None:
        """Return the sum over its common denominator, unless it is long."""
        below: Terms = {}
        for _, factors in parts:
            for base, e in factors.items():
                if e < 0:
                    below[base] = max(below.get(base, ZERO), -e)
        if not below or self._product_size(ONE, below) > MAX_COPIED_SIZE:
            return None
        divisor = lcm(*[c.denominator for c, _ in parts])
        top = self.shortest_sum([(c * divisor, multiply(factors, below)) for c, factors in parts])
        c, factors = self.times_sum({}, top)
        return [(c / divisor, divide(factors, below))]

    def factor_content(self, parts: list[Part]) -> list[Part]:
        """Return the sum with its content, the common divisor, outside."""
        if len(parts) == 1:
            c, factors = parts[0]
            for base, e in factors.items():
                inner = self.forms.get(base)
                if e == 1 and isinstance(inner, Sum) and len(inner.terms) <= MAX_TERMS:
                    cofactors = self.factor_content(self._parts(inner))
                    if len(cofactors) == 1:
                        one = [
                            (
                                c * cofactors[0][0],
                                multiply(cofactors[0][1], divide(factors, {base: ONE})),
                            )
                        ]
                        if self._size(one) < self._size(parts) + (cofactors[0][0].denominator != 1):
                            return one
            return parts
        content = Fraction(
            gcd(*[c.numerator for c, _ in parts]), lcm(*[c.denominator for c, _ in parts])
        )
        if content == 1:
            return parts
        return [self._part(content, self._sum_of([(c / content, factors) for c, factors in parts]))]

    # ---- products
    def _shortest_product(
        self, form: Product, ways: Sequence[Callable[[Product], Form | None]]
    ) -> Form:
        best: Form = form
        least = -1
        for way in ways:
            shorter = _attempt(way, best) if isinstance(best, Product) else None
            if shorter is not None:
                if least < 0:
                    least = self._size(self._parts(form))
                size = self._size(self._parts(shorter))
                if size < least + (way == self.by_exponents):
                    best, least = shorter, size
        return best

    def _exponent(self, factor: Value, bottom: Value | None) -> Form:
        """Return y of a factor b**y or exp(y), and 1 of b itself."""
        return (
            Number(ONE) if factor is bottom else self.forms.get(factor._prev[-1], factor._prev[-1])
        )

    def by_exponents(self, form: Product) -> Form | None:
        """Return b**y·b**z as b**(y + z) and e**y·e**z as e**(y + z)."""
        # If b <= 0, either side has a value only if the other has the same one.
        merged = form.factors
        for bottom, listed in _powers_by_base(form.factors).items():
            members = [(base, e) for base, e in listed if merged.get(base) == e]
            if bottom is not None and bottom in merged and merged[bottom].denominator == 1:
                members.append((bottom, merged[bottom]))
            if not members or (len(members) == 1 and members[0][1] == 1):
                continue
            exponent = self.sum([(e, None, self._exponent(base, bottom)) for base, e in members])
            rest = {
                base: e
                for base, e in merged.items()
                if all(base is not member for member, _ in members)
            }
            merged = multiply(rest, {self._raised_to(bottom, exponent): ONE})
        return None if merged is form.factors else self.product_form(form.coefficient, merged)

    def _raised_to(self, bottom: Value | None, exponent: Form) -> Value:
        y = self.node_of(exponent)
        return self.node(EXP, y) if bottom is None else self.node(POW, bottom, y)

    def by_quotients(self, form: Product) -> Form | None:
        """Return sin(x)/cos(x) as tan(x), and the like."""
        for base, e in form.factors.items():
            name, below = _QUOTIENTS.get(base.primitive.name, ("", ""))
            if name and e > 0 and e.denominator == 1:
                other = self.node(PRIMITIVES[below], *base._prev)
                f = form.factors.get(other, ZERO)
                if f < 0 and f.denominator == 1:
                    k = min(e, -f)
                    quotient = self.node(PRIMITIVES[name], *base._prev)
                    return self._replace(form, {base: k, other: -k}, {quotient: k})
        return None

    def by_signs(self, form: Product) -> Form | None:
        """Return x·sign(x) as |x|, sign(x)/x as 1/|x|, |x|·sign(x) as x, sign(x)/|x| as 1/x, x/|x|
        as sign(x).
        """
        for base, e in form.factors.items():
            if (
                base.primitive is ABS
                and abs(e) == 1
                and form.factors.get(base._prev[0], ZERO) * e < 0
            ):
                sign = self.node(PRIMITIVES["sign"], *base._prev)
                return self._replace(form, {base: e, base._prev[0]: -e}, {sign: ONE})
            if base.primitive.name == "sign" and e == 1:
                inner = base._prev[0]
                modulus = self.node(ABS, inner)
                k = form.factors.get(modulus, ZERO)
                if abs(k) == 1:
                    return self._replace(form, {base: ONE, modulus: k}, {inner: k})
                k = form.factors.get(inner, ZERO)
                if k and k.denominator == 1:
                    once = ONE if k > 0 else -ONE
                    return self._replace(form, {base: ONE, inner: once}, {modulus: once})
        return None

    def by_roots(self, form: Product) -> Form | None:
        """Return (l/g)/sqrt(l/g) as sqrt(l/g)."""
        for base, e in form.factors.items():
            inner = self.forms.get(base)
            if e.denominator == 1 or not isinstance(inner, Product) or inner.coefficient < 0:
                continue
            if any(f.denominator != 1 for f in inner.factors.values()):
                continue
            shift = ONE if e < 0 else -ONE
            # each divisor of the result must be one already
            if e > 0 and any(
                form.factors.get(part, 0) > -f for part, f in inner.factors.items() if f > 0
            ):
                continue
            parts = {part: shift * f for part, f in inner.factors.items()}
            return self._replace(form, parts, {base: shift}, 1 / inner.coefficient ** int(shift))
        return None

    def by_denominators(self, form: Product) -> Form | None:
        """Return 1/(x*(1/x + 1)) as 1/(1 + x)."""
        for base, e in form.factors.items():
            inner = self.forms.get(base)
            is_power = e.denominator == 1 and abs(e) <= MAX_FRACTION_POWER
            if is_power and isinstance(inner, Sum) and len(inner.terms) <= MAX_SHORT:
                fraction = self.one_fraction(self._parts(inner))
                if fraction is None or len(fraction) > 1:
                    continue
                ((c, factors),) = fraction
                one = self._replace(
                    form, {base: e}, {part: e * f for part, f in factors.items()}, c ** int(e)
                )
                if self._size(self._parts(one)) < self._product_size(*form):
                    return one
        return None

    def by_cancelling(self, form: Product) -> Form | None:
        """Return 2*x*(4/x**4 + 1) as 8/x**3 + 2*x: a sum times what its terms are divided by."""
        for base, e in form.factors.items():
            inner = self.forms.get(base)
            if e != 1 or not isinstance(inner, Sum) or len(inner.terms) > MAX_TERMS:
                continue
            others, parts = divide(form.factors, {base: ONE}), self._parts(inner)
            if any(
                other * factors.get(one, ZERO) < 0
                for one, other in others.items()
                for _, factors in parts
            ):
                return self._sum_of(
                    [(form.coefficient * c, multiply(others, factors)) for c, factors in parts]
                )
        return None

    def into_choice(self, form: Product) -> Form | None:
        """Return a choice, one side a number, with factors inside."""
        for base, e in form.factors.items():
            if base.primitive is WHERE and e == 1:
                if not any(isinstance(self.forms.get(side), Number) for side in base._prev[1:]):
                    continue
                sides = [self.product_form(*self._choose(form, base, side)) for side in (1, 2)]
                return self.node(WHERE, base._prev[0], *[self.node_of(side) for side in sides])
        return None

    def by_negation(self, form: Product) -> Form | None:
        """Return -(a - b) as b - a."""
        if form.coefficient > 0:
            return None
        for base, e in form.factors.items():
            inner = self.forms.get(base)
            if isinstance(inner, Sum) and e.denominator == 1 and e % 2:
                ends = [*inner.terms.values(), *([inner.constant] if inner.constant else [])]
                if min(ends) > 0 or (e < 0 and max(inner.terms.values()) > 0):
                    continue
                mirrored = self.node_of(negated_sum(inner))
                factors: Terms = {}
                for part, f in form.factors.items():  # one of them may be the mirrored sum already
                    add_multiple(factors, {mirrored if part is base else part: f})
                return self.product_form(-form.coefficient, factors)
        return None


def _powers_by_base(factors: Terms) -> dict[Value | None, list[tuple[Value, Fraction]]]:
    """Return the factors b**y by b, and exp(y) by None, with their integer exponents."""
    groups: dict[Value | None, list[tuple[Value, Fraction]]] = {}
    for base, e in factors.items():
        if base.primitive in (POW, EXP) and e.denominator == 1:
            groups.setdefault(base._prev[0] if base.primitive is POW else None, []).append(
                (base, e)
            )
    return groups


def _attempt(way: Callable[[Any], Any], form: Any) -> Any:
    try:
        return way(form)
    except (RuleNotApplicable, Refusal, ArithmeticError):
        return None


def shared_factors(listed: Sequence[Terms]) -> Terms:
    """Return the common factors of terms; of divisors the highest power."""
    first, *others = listed
    shared: Terms = {}
    for base, e in first.items():
        exponents = [e, *[factors.get(base, ZERO) for factors in others]]
        if min(exponents) > 0 or max(exponents) < 0:
            shared[base] = min(exponents)
    return shared


def _is_short(x: Fraction) -> bool:
    return x.denominator == 1 or number_text(x) is not None
