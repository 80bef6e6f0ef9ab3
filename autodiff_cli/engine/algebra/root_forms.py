"""Shorter forms of products with roots and signs, with a value wherever the longer ones have
one.
"""

from __future__ import annotations

from fractions import Fraction

from ..graphs.value import Value
from ..table.primitive import PRIMITIVES
from ..table.primitives import ABS
from .canonical import (
    CBRT,
    HALF,
    ONE,
    ZERO,
    Canonicalizer,
    Form,
    Number,
    Product,
    Terms,
    add_multiple,
    check_digits,
)

SIGN = PRIMITIVES["sign"]


class RootForms(Canonicalizer):
    """Ways to write a product; each returns None where it does not apply."""

    def _replace(self, form: Product, old: Terms, new: Terms, c: Fraction = ONE) -> Form:
        return self.product_form(form.coefficient * c, multiply(divide(form.factors, old), new))

    def by_nested_roots(self, form: Product) -> Form | None:
        """Return sqrt(x)*sqrt(sqrt(x)) as x**(3/4): a root is real where its argument is not
        negative.
        """
        old: Terms = {}
        new: Terms = {}
        for base, e in form.factors.items():
            found = self._as_power(base, e)
            if found is not None:
                old[base] = e
                new = multiply(new, {found[0]: found[1]})
        return self._replace(form, old, new) if old else None

    def _as_power(self, base: Value, e: Fraction) -> tuple[Value, Fraction] | None:
        """Return a root of a root as a power of what is not negative."""
        is_cube_root = base.primitive is CBRT
        inside = base._prev[0] if is_cube_root else base
        if is_cube_root:
            e = e / 3
        form = self.forms.get(inside)
        if isinstance(form, Product) and form.coefficient == 1 and len(form.factors) == 1:
            ((bottom, power),) = form.factors.items()
            if power.denominator != 1:
                return bottom, e * power
        return (inside, e) if is_cube_root and (3 * e).denominator != 1 else None

    def by_roots_of_numbers(self, form: Product) -> Form | None:
        """Return 3/sqrt(3*x) as sqrt(3)/sqrt(x), and 2*2**(3/2) as 4*sqrt(2)."""
        for base, e in form.factors.items():
            inner = self.forms.get(base)
            if isinstance(inner, Number) and e.denominator != 1 and abs(e) > 1:
                whole = int(e)
                return self._replace(
                    form, {base: Fraction(whole)}, {}, check_digits(inner.value**whole)
                )
            if (
                isinstance(inner, Product)
                and abs(e) == HALF
                and inner.coefficient > 0
                and inner.coefficient != 1
            ):
                above, below = inner.coefficient.as_integer_ratio()
                root = self.raise_to(None, Number(Fraction(above * below)), HALF)
                rest = {self.node_of(self.product_form(ONE, inner.factors)): e}
                others = multiply(divide(form.factors, {base: e}), rest)
                outside = self.product_form(form.coefficient / (below if e > 0 else above), others)
                return self.product(((ONE, None, outside), (ONE, None, root)))
        return None

    def by_even_roots(self, form: Product) -> Form | None:
        """Return 1/sqrt(a**2*(x + 3)) as 1/(|a|*sqrt(x + 3)): neither has a value where a is 0."""
        for base, e in form.factors.items():
            inner = self.forms.get(base)
            if (
                e > 0
                or e.denominator != 2
                or not isinstance(inner, Product)
                or inner.coefficient < 0
            ):
                continue
            powers = inner.factors
            if any(n.denominator != 1 for n in powers.values()) or all(
                abs(n) < 2 for n in powers.values()
            ):
                continue
            factors, inside = divide(form.factors, {base: e}), dict(powers)
            only_odd = sum(n % 2 for n in powers.values()) == 1
            for part, n in powers.items():
                positive = only_odd and n % 2 == 1
                taken = n if positive else Fraction(2 * int(n / 2))  # rounded to 0
                inside = divide(inside, {part: taken})
                factors = self._times_power(factors, part, taken * e, positive)
            root = self.raise_to(None, self.product_form(inner.coefficient, inside), e)
            return self.product(
                ((ONE, None, self.product_form(form.coefficient, factors)), (ONE, None, root))
            )
        return None

    def _times_power(self, factors: Terms, part: Value, power: Fraction, positive: bool) -> Terms:
        """Return factors times a power of a part, or of its modulus unless it is positive."""
        if positive:
            return multiply(factors, {part: power})
        f = factors.get(part, ZERO)
        if f.denominator == 1 and f % 2 == 0:  # a**2 is |a|**2
            factors, power = divide(factors, {part: f}), power + f
        return multiply(factors, {part if power % 2 == 0 else self.node(ABS, part): power})

    def by_signs_of_products(self, form: Product) -> Form | None:
        """Return x*sign(x**2*y) as x*sign(y), and sign(1/x)/x as sign(x)/x."""
        for base, e in form.factors.items():
            if base.primitive is not SIGN or e != 1:
                continue
            inner = self.forms.get(base._prev[0])
            if not isinstance(inner, Product):
                continue
            inside: Terms = {}
            for part, n in inner.factors.items():
                # where it is 0, or has no value, so is the product of the other factors
                shared = form.factors.get(part, ZERO) * n > 0
                if n.denominator != 1 or not (shared or (n > 0 and n % 2)):
                    inside[part] = n
                elif n % 2:
                    inside[part] = ONE
            if inside != inner.factors:
                sign = (
                    {self.node(SIGN, self.node_of(self.product_form(ONE, inside))): ONE}
                    if inside
                    else {}
                )
                return self._replace(
                    form, {base: ONE}, sign, ONE if inner.coefficient > 0 else -ONE
                )
        return None


def multiply(one: Terms, other: Terms) -> Terms:
    """Return the factors of a product of two products."""
    return add_multiple(dict(one), other)


def divide(factors: Terms, others: Terms) -> Terms:
    """Return the factors of a quotient of two products."""
    return add_multiple(dict(factors), others, -1)
