"""Ball: enclosures proven to contain the true number, by python-flint's arb, and exact forms of
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache, reduce
from typing import Any
from weakref import WeakValueDictionary

from flint import acb, arb, ctx, fmpq

from ..table.primitive import DEFINITIONS, OPERATIONS, check_domain
from ..table.primitives import by_name, library_names
from . import budget
from .ball_special import OF_PARAMETERS
from .base import UNDECIDED as UNDECIDED
from .base import (
    Compared,
    Number,
    NumberType,
    Operators,
    Refusal,
    polygamma_below_zero,
    undecided,
    whole_order,
)
from .exact import rational_value

# Numbers of 2**MAX_EXPONENT or more overflow; those below 2**-MAX_EXPONENT are not computed.
MAX_EXPONENT = 1_000_000_000


# Longer sums, and products with more atoms, become one atom.
MAX_TERMS = 8

# The longest numerators and denominators of exact factors, in bits.
MAX_BITS = 4096


class Atom:
    """An irrational number identified by its operation and inputs."""

    __slots__ = ("__weakref__", "key")

    def __init__(self, key: tuple[Any, ...]) -> None:
        # Keeps the inner atoms alive.
        self.key = key


# Atoms and their powers; empty for 1.
Product = frozenset[tuple[Atom, int]]

UNIT: Product = frozenset()

# The rational factor of each product; none for 0, which no enclosure can prove.
Form = dict[Product, Any]

ONE = fmpq(1)
_ATOMS: WeakValueDictionary[tuple[Any, ...], Atom] = WeakValueDictionary()


def _as_rational(form: Form | None) -> Any:
    if form is None or len(form) > 1:
        return None
    return form.get(UNIT, None if form else fmpq(0))


def rational_of(x: Ball) -> Fraction | None:
    """Return the number that a ball is known to be exactly, if it is rational."""
    q = _as_rational(x.form)
    return None if q is None else Fraction(int(q.p), int(q.q))


def _atom(name: str, *parts: Any) -> Form:
    # parts are frozen forms or texts
    key = (name, *parts)
    entry = _ATOMS.get(key)
    if entry is None:
        entry = _ATOMS[key] = Atom(key)
    return {frozenset([(entry, 1)]): ONE}


def _freeze(form: Form) -> frozenset[tuple[Product, Any]]:
    return frozenset(form.items())


def _as_product(form: Form) -> Form:
    return form if len(form) < 2 else _atom("sum", _freeze(form))


def _sum(terms: Iterable[tuple[Product, Any]]) -> Form:
    total: Form = {}
    for product, q in terms:
        total[product] = total.get(product, 0) + q
    form = {product: q for product, q in total.items() if q != 0}
    if len(form) > MAX_TERMS or any(
        len(x) > MAX_TERMS or q.height_bits() > MAX_BITS for x, q in form.items()
    ):
        return _atom("sum", _freeze(form))
    return form


def _add(f: Form, g: Form) -> Form:
    return _sum([*f.items(), *g.items()])


def _multiply(f: Form, g: Form) -> Form:
    if len(f) * len(g) > MAX_TERMS:
        f, g = _as_product(f), _as_product(g)
    return _sum([(_product(a, b), p * q) for a, p in f.items() for b, q in g.items()])


def _product(a: Product, b: Product) -> Product:
    powers = dict(a)
    for factor, power in b:
        powers[factor] = powers.get(factor, 0) + power
    return frozenset([item for item in powers.items() if item[1]])


def _raise_to(f: Form, n: int) -> Form:
    f = _as_product(f)
    if not f:
        return f
    ((product, q),) = f.items()
    if q.height_bits() * abs(n) > 2 * MAX_BITS and q != 1:
        return _atom("power", _freeze(f), n)
    return _sum([(frozenset([(factor, power * n) for factor, power in product]), q**n)])


def _divide(f: Form, g: Form) -> Form:
    return {UNIT: ONE} if f == g else _multiply(f, _raise_to(g, -1))


# ---- balls
class Ball(Compared, Operators):
    """An enclosure of a number, and its exact form if known. Raises `Refusal` if neither decides a
    question.
    """

    __slots__ = ("a", "form")

    def __init__(self, a: Any, form: Form | None = None) -> None:
        self.a = a
        self.form = form

    def __str__(self) -> str:
        if self.a.contains(0) and not self.a.is_zero():
            return f"a number within {self.a.abs_upper().str(2, radius=False)} of 0"
        return str(self.a.str(6, radius=False))

    def __float__(self) -> float:
        return float(self.a)

    def __int__(self) -> int:
        q = _as_rational(self.form)
        if q is not None:
            return int(q.trunc())
        sign = 1 if self >= 0 else -1
        integer = (sign * self.a).floor().unique_fmpz()
        if integer is None:
            raise undecided("cannot determine between which whole numbers this lies")
        return sign * int(integer)

    def __bool__(self) -> bool:
        return self.sign() != 0

    def __abs__(self) -> Ball:
        if self.a >= 0:
            return self
        return -self if self.a <= 0 else Ball(abs(self.a))

    def sign(self) -> int:
        """Return -1, 0 or 1. Raises `Refusal` if undecided."""
        if self.a > 0:
            return 1
        if self.a < 0:
            return -1
        if self.a.is_zero():
            return 0
        raise undecided(f"cannot determine whether {self} is 0")

    def _compared(self, other: Any, relation: Callable[[int, int], Any], question: str) -> Any:
        y = ball(other)
        try:
            return relation(0 if y is self else (self - y).sign(), 0)
        except Refusal:
            raise undecided(f"cannot determine whether {self} is {question} {y}") from None

    def __neg__(self) -> Ball:
        return Ball(-self.a, self.form and {product: -q for product, q in self.form.items()})

    def __add__(self, other: Number) -> Ball:
        y = ball(other)
        return _known_better(self.a + y.a, _add, self, y)

    def __mul__(self, other: Number) -> Ball:
        y = ball(other)
        return _known_better(self.a * y.a, _multiply, self, y)

    def __truediv__(self, other: Number) -> Ball:
        y = _nonzero(ball(other))
        return _known_better(self.a / y.a, _divide, self, y)

    def __rtruediv__(self, other: Number) -> Ball:
        return ball(other) / self

    def __pow__(self, other: Number) -> Ball:
        return _power(self, ball(other))

    def __rpow__(self, other: Number) -> Ball:
        return _power(ball(other), self)


def ball(x: Any) -> Ball:
    """Return a ball unchanged; a whole number, float or fraction as a ball."""
    if isinstance(x, Ball):
        return x
    q = fmpq(*x.as_integer_ratio()) if isinstance(x, (float, Fraction)) else fmpq(x)
    exact: Form = {UNIT: q} if q != 0 else {}
    return Ball(arb(q), exact if q.height_bits() <= MAX_BITS else None)


def _known_better(a: Any, combined: Callable[[Form, Form], Form], x: Ball, y: Ball) -> Ball:
    return Ball(a) if x.form is None or y.form is None else _with_form(a, combined(x.form, y.form))


def _with_form(a: Any, form: Form | None) -> Ball:
    q = _as_rational(form)
    return Ball(a if q is None else arb(q), form)


def _nonzero(x: Ball) -> Ball:
    if x == 0:
        raise ZeroDivisionError
    return x


def _power(x: Ball, y: Ball) -> Ball:
    exponent = _as_rational(y.form)
    if exponent is None:
        integer = y.a.unique_fmpz() if y.a.is_exact() else None
    else:
        integer = exponent.p if exponent.q == 1 else None
    if integer is not None:
        n = int(integer)
        if n == 0:
            return ball(1)
        if abs(n) > MAX_EXPONENT:
            raise OverflowError
        if n < 0:
            _nonzero(x)
        power = _whole_power(x.a, n) if n > 0 else 1 / _whole_power(x.a, -n)
        return _with_form(power, x.form and _raise_to(x.form, n))
    if x == 0:
        if y < 0:
            raise ZeroDivisionError
        return ball(0)
    if x < 0:
        if exponent is None and y.a.contains_integer():
            raise undecided(f"cannot determine whether the exponent {y} is a whole number")
        raise ValueError("a negative number to a power that is not whole")
    if x.form is None or y.form is None:
        return Ball(x.a**y.a)
    return Ball(x.a**y.a, _atom("pow", _freeze(x.form), _freeze(y.form)))


def _whole_power(a: Any, n: int) -> Any:
    if a.is_exact() or not a.contains(0):
        return a**n
    # odd powers increase everywhere, even ones are least at 0
    if n % 2:
        return (-((-a).upper() ** n)).union(a.upper() ** n) if n > 1 else a
    return arb(0).union(a.abs_upper() ** n)


class Balls(NumberType):
    """Balls with `bits` bits; python-flint's precision is global."""

    name = "certified"
    has_values = True
    range = f"this arithmetic, which ends at 2**{MAX_EXPONENT}"

    def __init__(self, bits: int) -> None:
        ctx.prec = bits
        self.bits = bits
        # Measured, in microseconds.
        elementary = 2 + bits**1.5 / 3000
        self._steps = {"": elementary, "error": 4 * elementary, "inverse error": 8 * elementary}
        self._steps["gamma"] = 20 + bits**2 / 800
        self._steps["zeta"] = 60 + bits**2 / 700
        self._step = 6 + bits // 700
        self._values: dict[tuple[Any, ...], Ball] = {}
        self.__dict__.update(
            {name: self._lifted(name, function) for name, function in _FUNCTIONS.items()}
        )

    def _lifted(self, name: str, function: Callable[..., Ball]) -> Callable[..., Ball]:
        steps, bounds = self._steps[OPERATIONS[name].family], OPERATIONS[name].bounds

        def compute(balls: list[Ball]) -> Ball:
            budget.charge(steps)
            check_domain(bounds, balls)
            return function(self, *balls)

        def lifted(*inputs: Number) -> Ball:
            balls = [ball(x) for x in inputs]
            forms = [x.form for x in balls if x.form is not None]
            if len(forms) < len(balls):
                return compute(balls)
            parts = [_freeze(f) for f in forms]
            key = (name, *parts)
            value = self._values.get(key)
            if value is None:
                rationals = [_as_rational(f) for f in forms]
                rational = None
                if None not in rationals:
                    rational = rational_value(
                        name, [Fraction(int(q.p), int(q.q)) for q in rationals]
                    )
                value = self._values[key] = compute(balls) if rational is None else ball(rational)
                if value.form is None:
                    value.form = _atom(name, *parts)
            return value

        return lifted

    @property
    def pi(self) -> Ball:
        return Ball(arb.pi(), _atom("pi"))

    def number(self, x: Number) -> Ball:
        return ball(x)

    def literal(self, text: str) -> Ball:
        if text in ("pi", "π"):
            return self.pi
        if text == "e":
            return Ball(arb.const_e(), _atom("e"))
        written = Decimal(text)
        if abs(written.adjusted()) * 4 > MAX_EXPONENT:
            raise OverflowError
        if abs(written.adjusted()) * 4 < MAX_BITS > len(text) * 4:
            return ball(Fraction(written))
        return Ball(arb(str(written)), _atom("decimal", str(written.normalize())))

    def where(self, condition: Any, then: Any, otherwise: Any) -> Number:
        chosen = super().where(condition, then, otherwise)
        return chosen if chosen is self.nothing else ball(chosen)

    def is_finite(self, x: Number) -> bool:
        budget.charge(self._step)
        if not isinstance(x, Ball):
            return True
        is_large = not x.a.is_finite() or (not x.a.is_zero() and magnitude(x) > MAX_EXPONENT)
        if is_large and (not x.a.is_finite() or magnitude(x, low=True) < MAX_EXPONENT):
            raise undecided("there is no bound on this number")
        return not is_large

    def charge_operations(self, operations: int) -> None:
        budget.charge(operations * (40 + self._step))

    def neg(self, x: Number) -> Ball:
        """Return -x."""
        return -ball(x)


def magnitude(x: Ball, low: bool = False) -> int:
    """Return the binary exponent of the largest (or smallest) absolute value, very small for 0."""
    man, exp = (x.a.abs_lower() if low else x.a.abs_upper()).man_exp()
    return int(exp) + int(man).bit_length() if man else -(10**18)


NATIVE = library_names(
    "exp expm1 log log1p sqrt sin cos tan sec csc cot asin acos atan sinh cosh tanh sech csch coth"
    " asinh acosh atanh erf erfc erfinv gamma digamma"
)


def _native(name: str) -> Callable[..., Ball]:
    return lambda m, x: Ball(getattr(x.a, name)())


def _cbrt(m: Balls, x: Ball) -> Ball:
    sign = x.sign()
    return Ball(x.a.root(3)) if sign > 0 else Ball(-((-x.a).root(3))) if sign else x


def _step(x: Ball, stepped: Any) -> Ball:
    integer = stepped.unique_fmpz()
    if integer is None:
        raise undecided(f"cannot determine on which side of a whole number {x} lies")
    return ball(int(integer))


def _round(m: Balls, x: Ball) -> Ball:
    low = m.floor(x)
    excess = x - low - 0.5
    up = int(low) % 2 != 0 if excess == 0 else excess > 0
    return ball(low + 1 if up else low)


def _atan2(m: Balls, y: Ball, x: Ball) -> Ball:
    if y.a.is_zero():
        return Ball(arb(0)) if x >= 0 else m.pi
    if x <= 0 and y.a.contains(0):
        raise undecided(f"cannot determine on which side of the cut ({y}, {x}) lies")
    return Ball(arb.atan2(y.a, x.a))


def _max(m: Balls, *xs: Ball) -> Ball:
    # The likeliest first, to avoid comparing the others.
    best = max(xs, key=lambda x: x.a.mid())
    try:
        for x in xs:
            if x > best:
                best = x
    except Refusal:
        # Which is largest is undecided, but not its bounds.
        return Ball(reduce(arb.max, [x.a for x in xs]))
    return best


def _lgamma(m: Balls, x: Ball) -> Ball:
    return Ball(x.a.lgamma() if x > 0 else abs(x.a.gamma()).log())


def _erfcx(m: Balls, x: Ball) -> Ball:
    return _erfcx_derivative(m, ball(0), x)


def _erfcx_derivative(m: Balls, n: Ball, x: Ball) -> Ball:
    order = whole_order(float(n))
    if order == 0 and not x.a > 0:
        return Ball((x.a * x.a).exp() * x.a.erfc())
    if not x.a > 0:
        return ball(DEFINITIONS["erfcx_derivative"](m, n, x))
    half = arb(1) / 2
    # DLMF 7.18.4, 7.18.10
    size = arb(order).fac() * (x.a * x.a).hypgeom_u((order + 1) * half, half) / arb.pi().sqrt()
    return Ball(-size if order % 2 else size)


def _sine_quotient(m: Balls, n: Ball, x: Ball) -> Ball:
    if whole_order(float(n)) == 0:
        return Ball(x.a.sinc())
    return ball(DEFINITIONS["sine_quotient"](m, n, x))


def _norminv(m: Balls, p: Ball) -> Ball:
    return Ball(-arb(2).sqrt() * (2 * p.a).erfcinv())


def _lambertw(branch: int) -> Callable[[Balls, Ball], Ball]:
    def function(m: Balls, x: Ball) -> Ball:
        if x * m.literal("e") < -1:
            raise ValueError("below the branch point")
        return Ball(x.a.lambertw(branch))

    return function


def _beta(m: Balls, a: Ball, b: Ball) -> Ball:
    # 1/Γ has no poles: beta is 0 where a + b is 0, -1, -2, …
    return Ball(a.a.gamma() * b.a.gamma() * (a + b).a.rgamma())


def _polygamma(m: Balls, n: Ball, x: Ball) -> Ball:
    if x.a < 0:
        return polygamma_below_zero(m, n, x)  # type: ignore[no-any-return]
    return Ball(acb(x.a).polygamma(acb(whole_order(float(n)))).real)


def _of_parameters(function: Callable[..., Any]) -> Callable[..., Ball]:
    return lambda m, *xs: Ball(function(m, *map(ball, xs)))


# arb's functions, and those that it lacks or that need special care.
_FUNCTIONS: dict[str, Callable[..., Any]] = {name: _native(name) for name in NATIVE} | by_name({
    "pow": lambda m, x, y: _power(x, y),
    "cbrt": _cbrt,
    "abs": lambda m, x: abs(x),
    "sign": lambda m, x: ball(x.sign()),
    "floor": lambda m, x: _step(x, x.a.floor()),
    "ceil": lambda m, x: _step(x, x.a.ceil()),
    "round": _round,
    "atan2": _atan2,
    "max": _max,
    "min": lambda m, *xs: -_max(m, *[-x for x in xs]),
    "logit": lambda m, x: m.log(x) - m.log1p(-x),
    "sinc": lambda m, x: Ball(x.a.sinc_pi()),
    "lgamma": _lgamma,
    "erfi": _native("erfi"),
    "Si": _native("si"),
    "Ci": _native("ci"),
    "Ei": _native("ei"),
    "li": _native("li"),
    "fresnels": _native("fresnel_s"),
    "fresnelc": _native("fresnel_c"),
    "sine_quotient": _sine_quotient,
    "erfcx": _erfcx,
    "erfcx_derivative": _erfcx_derivative,
    "norminv": _norminv,
    "lambertw": _lambertw(0),
    "lambertw_minus_one": _lambertw(-1),
    "beta": _beta,
    "polygamma": _polygamma,
}) | {name: _of_parameters(function) for name, function in OF_PARAMETERS.items()}  # fmt: skip


# ---- doubles
# Bits that are tried for the double nearest to a number: the last are enough for phases of the
# largest arguments.
BITS_OF_DOUBLES = (128, 384, 1152)


@cache
def _balls(bits: int) -> Balls:
    return Balls(bits)


def nearest_double(name: str, inputs: Sequence[float]) -> float | None:
    """Return the double nearest to a function's value; None where enclosures do not settle it, or
    find an error.
    """
    refused = OPERATIONS[name].domain_message
    if refused is not None and refused(*inputs):
        # what is refused without python-flint is refused with it
        return None
    before = ctx.prec
    try:
        check_domain(OPERATIONS[name].bounds, inputs)
        for bits in BITS_OF_DOUBLES:
            m = _balls(bits)
            ctx.prec = bits
            balls = [m.number(x) for x in inputs]
            function = _FUNCTIONS.get(name)
            value = (getattr(m, name)(*balls) if function is None else function(m, *balls)).a
            # what it has met is no use to other points
            m._values.clear()
            low, high = float(value.lower()), float(value.upper())
            if low == high:
                return low
    except (Refusal, ArithmeticError, ValueError):
        return None
    finally:
        ctx.prec = before
    return None
