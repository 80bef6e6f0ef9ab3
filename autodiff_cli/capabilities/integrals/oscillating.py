"""Proven integrals to infinity of what oscillates: A(x) cos(c x**n) + B(x) sin(c x**n), where A and
B fall to 0.

With x = t**(1/n) each is the real part of g(t) exp(i c t), where g is analytic for |t| >= a beside
the positive numbers, and falls. By Jordan's lemma the path from a may be turned by 45 degrees,
where the exponential falls: there quadrature is rigorous, and of what is left behind a proven bound
is added. That shows that the integral converges, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

from flint import acb, arb

from ...engine.algebra.canonical import exact_value
from ...engine.algebra.rational_functions import polynomial_in
from ...engine.algebra.simplify import simplify
from ...engine.algebra.walk import has_variables
from ...engine.graphs.value import Value, constant, in_order, node
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.base import NO_RESULT
from ...engine.table.operators import ADD, CONSTANT, DIV, MUL, NEG, POW, SUB, VARIABLE
from ...engine.table.primitive import PRIMITIVES
from ...engine.table.primitives import library_names
from ...errors import ExpressionError
from .eventual_bounds import Bounds, EventualBounds, Growth, unknown_bound
from .quadrature import MAX_EVALUATIONS, Quadrature, ball

SIN, COS, SINC = PRIMITIVES["sin"], PRIMITIVES["cos"], PRIMITIVES["sinc"]
# The highest power of an oscillating factor that is written as a sum of cosines and sines.
MAX_POWER = 8
MAX_WAVES = 32
# The highest n: the inner part goes to a start a, the outer one begins at a**n.
MAX_DEGREE = 4
# The last start that is tried: as many oscillations are added up by quadrature.
MAX_START = 4096
# The highest power of t in a root or a logarithm: its argument is then 90 degrees at most, and less
# than 180 with what is added to it.
WIDEST = 2
SPARE_BITS = 16
DIAGONAL = math.sqrt(0.5)
ONE, ZERO = constant(1.0, "1"), constant(0.0, "0")

# A and B of A cos + B sin.
Wave = tuple[Value, Value]
# Waves by their frequencies, in units of 1 or of pi; that of 0 has no sine.
Waves = dict[Fraction, Wave]


class NotOscillating(Exception):
    """A formula is no sum of such waves."""


class Oscillation(NamedTuple):
    """A sum of waves in c x**n."""

    waves: Waves
    degree: int
    unit: Any
    """The ball that the frequencies are multiples of."""

    @property
    def still(self) -> Value | None:
        """The part that does not oscillate."""
        return self.waves[Fraction(0)][0] if Fraction(0) in self.waves else None


# ---- sums of waves
class _Decomposition:
    """Writes a formula as a sum of waves."""

    def __init__(self, formula: Value, leaf: Value) -> None:
        self.leaf = leaf
        self.degree: int | None = None
        self.in_pi: bool | None = None
        self.waves: dict[Value, Waves] = {}
        oscillates: set[Value] = set()
        for value in in_order((formula,)):
            is_wave = value.primitive in (SIN, COS, SINC) and self._phase(value) is not None
            if is_wave or any(each in oscillates for each in value._prev):
                oscillates.add(value)
            self.waves[value] = (
                self._of(value) if value in oscillates else {Fraction(0): (value, ZERO)}
            )
        self.is_oscillating = formula in oscillates

    def _of(self, value: Value) -> Waves:
        primitive, inputs = value.primitive, value._prev
        if primitive in (SIN, COS, SINC):
            return self._wave(value)
        if primitive in (ADD, SUB):
            first, second = (self.waves[each] for each in inputs)
            return _sum(first, second if primitive is ADD else _scaled(second, _negative))
        if primitive is NEG:
            return _scaled(self.waves[inputs[0]], _negative)
        if primitive is MUL:
            return _product(*(self.waves[each] for each in inputs))
        if primitive is DIV and {*self.waves[inputs[1]]} == {Fraction(0)}:
            return _scaled(self.waves[inputs[0]], lambda a: _quotient(a, inputs[1]))
        power = exact_value(inputs[1]) if primitive is POW else None
        if power is not None and power.denominator == 1 and 2 <= power <= MAX_POWER:
            return reduce(_product, [self.waves[inputs[0]]] * int(power))
        raise NotOscillating

    def _phase(self, value: Value) -> tuple[Fraction, int, bool, Value] | None:
        """Return c, n, whether c is a multiple of pi, and p for a function of c x**n + p; None for
        another one.
        """
        argument = value._prev[0]
        parts = polynomial_in(argument, self.leaf)
        if parts is None:
            return None
        powers = [k for k, part in enumerate(parts) if k and exact_value(simplify((part,))[0]) != 0]
        if len(powers) != 1 or powers[0] > MAX_DEGREE or any(map(has_variables, parts)):
            return None
        (n,) = powers
        (factor,) = simplify((parts[n],))
        ratio, in_pi = exact_value(factor), value.primitive is SINC
        if ratio is None and not in_pi:
            (factor,) = simplify((node(DIV, (factor, _pi())),))
            ratio, in_pi = exact_value(factor), True
        return None if ratio is None else (ratio, n, in_pi, parts[0])

    def _wave(self, value: Value) -> Waves:
        phase = self._phase(value)
        if phase is None:
            raise NotOscillating
        frequency, degree, in_pi, shift = phase
        if (self.degree or degree) != degree or (
            in_pi if self.in_pi is None else self.in_pi
        ) != in_pi:
            raise NotOscillating
        self.degree, self.in_pi = degree, in_pi
        if value.primitive is SINC and exact_value(simplify((shift,))[0]) != 0:
            raise NotOscillating
        cos, sin = node(COS, (shift,)), node(SIN, (shift,))
        if exact_value(simplify((shift,))[0]) == 0:
            cos, sin = ONE, ZERO
        # cos(w + p) = cos p cos w - sin p sin w, sin(w + p) = sin p cos w + cos p sin w
        a, b = (cos, _negative(sin)) if value.primitive is COS else (sin, cos)
        if value.primitive is SINC:
            b = _quotient(b, _times(_pi(), value._prev[0]))
        return _with_positive_frequency(frequency, (a, b))


def _with_positive_frequency(frequency: Fraction, wave: Wave) -> Waves:
    return {frequency: wave} if frequency > 0 else {-frequency: (wave[0], _negative(wave[1]))}


def _sum(first: Waves, second: Waves) -> Waves:
    total = dict(first)
    for frequency, (a, b) in second.items():
        here = total.get(frequency, (ZERO, ZERO))
        total[frequency] = _plus(here[0], a), _plus(here[1], b)
    if len(total) > MAX_WAVES:
        raise NotOscillating
    return total


def _scaled(waves: Waves, by: Callable[[Value], Value]) -> Waves:
    return {frequency: (by(a), by(b)) for frequency, (a, b) in waves.items()}


def _product(first: Waves, second: Waves) -> Waves:
    """Return the product: that of two waves is half the sum of one with the sum and one with the
    difference.
    """
    total: Waves = {}
    for f, (a, b) in first.items():
        for g, (c, d) in second.items():
            ac, bd, ad, bc = _times(a, c), _times(b, d), _times(a, d), _times(b, c)
            higher = {f + g: (_half(_minus(ac, bd)), _half(_plus(ad, bc)))}
            lower = _with_positive_frequency(f - g, (_half(_plus(ac, bd)), _half(_minus(bc, ad))))
            if f == g:
                lower = {Fraction(0): (_half(_plus(ac, bd)), ZERO)}
            total = _sum(_sum(total, higher), lower)
    return total


def _pi() -> Value:
    return constant(math.pi, "pi")


def _plus(x: Value, y: Value) -> Value:
    if x is ZERO or y is ZERO:
        return y if x is ZERO else x
    return node(ADD, (x, y))


def _minus(x: Value, y: Value) -> Value:
    return _plus(x, _negative(y))


def _negative(x: Value) -> Value:
    return x if x is ZERO else node(NEG, (x,))


def _times(x: Value, y: Value) -> Value:
    if x is ZERO or y is ZERO:
        return ZERO
    return y if x is ONE else x if y is ONE else node(MUL, (x, y))


def _quotient(x: Value, y: Value) -> Value:
    return x if x is ZERO else node(DIV, (x, y))


def _half(x: Value) -> Value:
    return _quotient(x, constant(2.0, "2"))


def oscillation_in(formula: Value, name: str) -> Oscillation | None:
    """Return a formula in a positive variable as a sum of waves; None for one that is none, or does
    not oscillate.
    """
    leaf = next(
        (v for v in in_order((formula,)) if v.primitive is VARIABLE and v.label == name), None
    )
    if leaf is None:
        return None
    try:
        found = _Decomposition(formula, leaf)
    except NotOscillating:
        return None
    if not found.is_oscillating or found.degree is None:
        return None
    waves = {
        frequency: (simplify((a,))[0], simplify((b,))[0])
        for frequency, (a, b) in found.waves[formula].items()
    }
    return Oscillation(waves, found.degree, arb.pi() if found.in_pi else arb(1))


# ---- bounds beside the real axis
class SectorBounds(EventualBounds):
    """Bounds of the size of a number that depends on t, for all complex t of size >= the start, 45
    degrees at most from the positive numbers, where it is analytic.
    """

    name = "bounds in a sector"

    def definition(self, name: str) -> Any:
        raise unknown_bound()

    def pow(self, x: Any, y: Any) -> Bounds:
        """Return a power. Raises `Refusal` for a root of what may be negative."""
        x, y = self.bounds(x), self.bounds(y)
        is_whole = y.terms is not None and all(
            p == 0 and c.denominator == 1 for p, c in y.terms.items()
        )
        if not is_whole:
            self._check_angle(x)
        return super().pow(x, y)

    def log(self, x: Any) -> Bounds:
        """Return the logarithm, whose imaginary part is less than pi. Raises `Refusal`."""
        x = self.bounds(x)
        self._check_angle(x)
        size = super().log(x)
        return self._sum(Bounds(self, size.upper, None), self.pi)

    def _check_angle(self, x: Bounds) -> None:
        """Raise `Refusal` unless a number is proven to be off the negative numbers."""
        if not x.terms:
            raise unknown_bound()
        power, *smaller = sorted(x.terms or {}, reverse=True)
        largest = (x.terms or {})[power]
        start = ball(self.start)
        rest = sum(
            (
                abs(ball(x.terms[p] / largest)) * (start.log() * ball(p - power)).exp()
                for p in smaller
            ),
            arb(0),
        )
        if largest <= 0 or not 0 <= power <= WIDEST or not rest < 1:
            raise unknown_bound()


# Operations whose bounds hold in a sector too; those of all others hold on the real axis: `cos` is
# at most 1 there.
IN_SECTORS = library_names("add sub neg mul div pow sqrt log log1p")


def _of_constants(name: str) -> Callable[..., Bounds]:
    """Return a function of bounds that refuses what depends on t."""

    def function(m: SectorBounds, *xs: Any) -> Bounds:
        numbers = [m.bounds(x) for x in xs]
        if any(x.terms is None or not {*x.terms} <= {Fraction(0)} for x in numbers):
            raise unknown_bound()
        result: Bounds = getattr(EventualBounds, name)(m, *numbers)
        return result

    function.__doc__ = (
        f"Return `{name}` of a number that does not depend on t. Raises `Refusal` for another one."
    )
    return function


for _name in (
    (PRIMITIVES.keys() & vars(EventualBounds).keys()) - IN_SECTORS.keys() - {CONSTANT.name}
):
    setattr(SectorBounds, _name, _of_constants(_name))


def _growth(formula: Value, name: str, start: Fraction, degree: int) -> Growth | None:
    """Return the growth of A(x) dx/dt with x = t**(1/n) from t = start on; None unless it is proven
    to fall to 0.
    """
    m = SectorBounds(start)
    share = Fraction(1, degree)
    try:
        size = m.bounds(evaluate_in(m, formula, {name: m.sum_of({share: Fraction(1)})}).value)
        size = m.mul(size, m.sum_of({share - 1: share}))
    except (ExpressionError, TypeError, AttributeError, *NO_RESULT):
        return None
    if size.terms == {}:
        return Growth(arb(0), Fraction(-1))
    upper = size.upper
    return (
        upper
        if upper is not None and upper.power < 0 and not upper.rate and not upper.square
        else None
    )


# ---- the integral
def waves_from(oscillation: Oscillation, name: str, start: Fraction, digits: int) -> Any:
    """Return the ball of the integral of all waves but the still part from x = start to infinity;
    or None.
    """
    total = arb(0)
    for frequency, wave in oscillation.waves.items():
        if frequency == 0:
            continue
        found = _wave_from(oscillation, frequency, wave, name, start, digits)
        if found is None:
            return None
        total = total + found
    return total


def _wave_from(
    oscillation: Oscillation,
    frequency: Fraction,
    wave: Wave,
    name: str,
    start: Fraction,
    digits: int,
) -> Any:
    n = oscillation.degree
    first = start**n
    bounds = [_growth(part, name, first, n) for part in wave]
    if None in bounds:
        return None
    size = sum((bound.at(first) for bound in bounds if bound is not None), arb(0))
    quadrature = Quadrature(wave[0], name, digits)
    omega = ball(frequency) * oscillation.unit
    turn = acb(arb(1), arb(1)) * arb(2).rsqrt()
    decay = omega * arb(2).rsqrt()
    length = Fraction(
        math.ceil((quadrature.bits + SPARE_BITS) * math.log(2) / (float(omega.lower()) * DIAGONAL))
    )

    def along(y: Any, analytic: Any) -> Any:
        t = acb(ball(first)) + y * turn
        x = t if n == 1 else t.pow(acb(arb(1) / n), analytic=True)
        value = quadrature.at(x, True, wave[0]) - acb(0, 1) * quadrature.at(x, True, wave[1])
        if n > 1:
            value = value * x / (t * n)
        return value * (acb(0, 1) * omega * t).exp() * turn

    inside = acb.integral(along, acb(0), acb(ball(length)), eval_limit=MAX_EVALUATIONS)
    if quadrature.exhausted is not None:
        raise quadrature.exhausted
    if not inside.is_finite():
        return None
    left = size * (-decay * ball(length)).exp() / decay
    return inside.real + arb(0, left.upper())
