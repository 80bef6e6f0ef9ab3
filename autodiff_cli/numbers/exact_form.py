"""Form: the exact value of a number as a sum of products with rational factors.

Numbers of equal form are equal; a form without terms is 0, which no enclosure can prove. Irreducible values, such as
sin(1/3), are atoms; equal functions of equal forms are the same atom.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import WeakValueDictionary

from flint import fmpq

MAX_TERMS = 8
"""Longer sums, and products with more atoms, become one atom."""

MAX_BITS = 4096
"""The longest numerators and denominators of exact factors, in bits."""


class Atom:
    """An irrational number identified by its operation and inputs."""

    __slots__ = ("__weakref__", "key", "serial")

    count = 0

    def __init__(self, key: tuple[Any, ...]) -> None:
        self.key = key
        """Keeps the inner atoms alive."""
        Atom.count += 1
        self.serial = Atom.count

    def __lt__(self, other: Atom) -> bool:
        return self.serial < other.serial


Product = tuple[tuple[Atom, int], ...]
"""Atoms and their powers, in order of creation; empty for 1."""

Form = dict[Product, Any]
"""The rational factor of each product, never 0."""

ONE = fmpq(1)
_ATOMS: WeakValueDictionary[tuple[Any, ...], Atom] = WeakValueDictionary()


def as_rational(form: Form | None) -> Any:
    """Return the rational number that equals a form, or None."""
    if form is None or len(form) > 1:
        return None
    return form.get((), None if form else fmpq(0))


def freeze(form: Form) -> frozenset[Any]:
    """Return the form as a hashable key."""
    return frozenset(form.items())


def atom(name: str, *parts: Any) -> Form:
    """Return the form of an operation on frozen forms or texts."""
    key = (name, *parts)
    entry = _ATOMS.get(key)
    if entry is None:
        entry = _ATOMS[key] = Atom(key)
    return {((entry, 1),): ONE}


def _summed(terms: Iterable[tuple[Product, Any]]) -> Form:
    total: Form = {}
    for product, q in terms:
        total[product] = total.get(product, 0) + q
    return _bounded({product: q for product, q in total.items() if q != 0})


def _bounded(form: Form) -> Form:
    if len(form) > MAX_TERMS or any(
        len(product) > MAX_TERMS or q.height_bits() > MAX_BITS for product, q in form.items()
    ):
        return atom("sum", freeze(form))
    return form


def add(f: Form, g: Form) -> Form:
    """Return f + g."""
    return _summed([*f.items(), *g.items()])


def multiply(f: Form, g: Form) -> Form:
    """Return f·g."""
    if len(f) * len(g) > MAX_TERMS:
        f, g = (x if len(x) < 2 else atom("sum", freeze(x)) for x in (f, g))
    return _summed([(_product(a, b), p * q) for a, p in f.items() for b, q in g.items()])


def _product(a: Product, b: Product) -> Product:
    if not a or not b:
        return a or b
    powers = dict(a)
    for factor, power in b:
        powers[factor] = powers.get(factor, 0) + power
    return tuple(sorted(item for item in powers.items() if item[1]))


def raise_to(f: Form, n: int) -> Form:
    """Return f**n; f must not be 0 if n < 0."""
    if len(f) > 1:
        f = atom("sum", freeze(f))
    if not f:
        return f if n else {(): ONE}
    ((product, q),) = f.items()
    if q.height_bits() * abs(n) > 2 * MAX_BITS and q != 1:
        return atom("power", freeze(f), n)
    return _bounded({tuple((factor, power * n) for factor, power in product) if n else (): q**n})


def divide(f: Form, g: Form) -> Form:
    """Return f/g, where g is not 0."""
    return {(): ONE} if f == g else multiply(f, raise_to(g, -1))
