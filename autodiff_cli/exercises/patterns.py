"""Patterns of exercises: what a teacher would set, level by level, with numbers from which answers come out clean."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Draft(NamedTuple):
    """A problem before it is solved."""

    kind: str
    """`derivative`, `slope`, `tangent`, `flat`, `gradient`, `direction`, `step`, `second` or `kink`: what is asked."""
    program: str
    wrt: tuple[str, ...] = ("x",)
    """By which variables."""
    point: Mapping[str, Fraction] = MappingProxyType({})
    more: Mapping[str, Fraction] = MappingProxyType({})
    """The direction, or the rate of a step."""
    words: str = ""
    """The task, where it is about something: with `{f}` for the program and `{at}` for the point."""


class Draw:
    """Draws that are the same for a seed on every machine: of the generator only `random()` promises that."""

    def __init__(self, seed: int, level: int) -> None:
        self._random = random.Random(seed * 1000 + level)

    def of(self, choices: Sequence[T]) -> T:
        """One of these."""
        return choices[int(self._random.random() * len(choices))]

    def whole(self, low: int, high: int, *without: int) -> int:
        """A whole number between these, and none of those."""
        return self.of([k for k in range(low, high + 1) if k not in without])

    def order(self, count: int) -> list[int]:
        """The numbers from 0 in some order."""
        left = list(range(count))
        return [left.pop(int(self._random.random() * len(left))) for _ in range(count)]


Pattern = Callable[[Draw], Draft]


def summed(*terms: tuple[int, str]) -> str:
    """A sum of multiples, as one writes it: `3*x**2 - x + 5`; those of 0 are left out."""
    text = ""
    for factor, term in terms:
        if not factor:
            continue
        size = abs(factor)
        body = str(size) if not term else term if size == 1 else f"{size}*{term}"
        sign = "-" if factor < 0 else "+"
        text += f" {sign} {body}" if text else f"{'-' if factor < 0 else ''}{body}"
    return text or "0"


def polynomial(*factors: int, of: str = "x") -> str:
    """A polynomial by its coefficients, the highest power first."""
    top = len(factors) - 1
    powers = [f"{of}**{k}" if k > 1 else of if k else "" for k in range(top, -1, -1)]
    return summed(*zip(factors, powers, strict=True))


def at(**values: Fraction | int) -> dict[str, Fraction]:
    """A point."""
    return {name: Fraction(x) for name, x in values.items()}


# ---- level 1: one variable, at a point ---------------------------------------------------------------------------
def _quadratic(d: Draw) -> str:
    return polynomial(d.whole(-4, 5, 0), d.whole(-6, 6), d.whole(-7, 9))


def _cubic(d: Draw) -> str:
    return polynomial(d.whole(-3, 3, 0), d.whole(-4, 4), d.whole(-5, 5), d.whole(-5, 5))


def _slope_of_quadratic(d: Draw) -> Draft:
    return Draft("slope", f"f(x) = {_quadratic(d)}", point=at(x=d.whole(-4, 5, 0)))


def _slope_of_cubic(d: Draw) -> Draft:
    return Draft("slope", f"f(x) = {_cubic(d)}", point=at(x=d.whole(-2, 3, 0)))


def _derivative_of_polynomial(d: Draw) -> Draft:
    highest = d.whole(3, 6)
    terms = [(d.whole(-5, 6, 0), f"x**{highest}"), (d.whole(-6, 6), f"x**{highest - 2}" if highest > 3 else "x")]
    return Draft("derivative", f"f(x) = {summed(*terms, (d.whole(-9, 9), ''))}")


def _flat(d: Draw) -> Draft:
    return Draft("flat", f"f(x) = {polynomial(d.whole(-4, 4, 0), d.whole(-9, 9, 0), d.whole(-5, 7))}")


def _tangent(d: Draw) -> Draft:
    return Draft("tangent", f"f(x) = {d.of((_quadratic, _cubic))(d)}", point=at(x=d.whole(-2, 3)))


def _reciprocal(d: Draw) -> Draft:
    return Draft(
        "slope", f"f(x) = {summed((1, f'{d.whole(1, 9)}/x'), (d.whole(-3, 3), 'x'))}", point=at(x=d.whole(-4, 4, 0))
    )


def _root(d: Draw) -> Draft:
    return Draft(
        "slope",
        f"f(x) = {summed((d.whole(1, 6), 'sqrt(x)'), (d.whole(-2, 3), 'x'))}",
        point=at(x=d.of((1, 4, 9, 16, 25))),
    )


def _speed(d: Draw) -> Draft:
    lasts = d.whole(3, 8)
    text = summed((5 * lasts, "t"), (-5, "t**2"), (d.whole(0, 3), ""))
    words = "A ball is {f} metres high after `t` seconds. How fast does it rise at `{at}`?"
    return Draft("slope", f"h(t) = {text}", ("t",), at(t=d.whole(1, lasts - 1)), words=words)


# ---- level 2: product, quotient, chain ---------------------------------------------------------------------------
def _inner(d: Draw) -> str:
    square = d.of((1, 2, 3, 0))
    return polynomial(square, 0, d.whole(1, 5)) if square else polynomial(d.whole(2, 5), d.whole(-4, 4, 0))


def _waving(d: Draw) -> str:
    factor = d.whole(2, 5)
    return d.of((f"sin({factor}*x)", f"cos({factor}*x)", f"exp({factor}*x)", f"exp(-x/{factor})", "sin(x)", "exp(-x)"))


def _product(d: Draw) -> Draft:
    first = d.of(("x", "x**2", "x**3", f"({polynomial(d.whole(1, 4), d.whole(-5, 5, 0))})"))
    return Draft("derivative", f"f(x) = {first}*{d.of((_waving(d), _waving(d), 'log(x)'))}")


def _quotient(d: Draw) -> Draft:
    above = d.of((polynomial(d.whole(1, 5), d.whole(-5, 5)), "x**2", "sin(x)", "exp(x)", "log(x)"))
    below = d.of((polynomial(1, d.whole(-5, 5, 0)), polynomial(1, 0, d.whole(1, 6)), polynomial(d.whole(2, 4), 1)))
    above = f"({above})" if " " in above else above
    return Draft("derivative", f"f(x) = {above}/({below})")


def _chain(d: Draw) -> Draft:
    inner, power = _inner(d), d.whole(3, 7)
    waving = _waving(d)
    outer = d.of((
        f"({inner})**{power}", f"sqrt({inner})", f"log({polynomial(d.whole(1, 3), 0, d.whole(1, 6))})", f"exp({inner})",
        f"sin({inner})", f"cos({inner})", f"{d.of(('sin(x)', 'cos(x)', 'tan(x)'))}**{d.whole(2, 4)}",
        f"atan({d.whole(2, 5)}*x)", f"1/({polynomial(d.whole(1, 3), 0, d.whole(1, 5))})**2",
        f"exp({d.of(('sin', 'cos'))}(x))", f"({waving} + 1)**{power}",
    ))  # fmt: skip
    return Draft("derivative", f"f(x) = {outer}")


def _mixed(d: Draw) -> Draft:
    k = d.whole(2, 4)
    return Draft("derivative", "f(x) = " + d.of((
        f"exp({k}*x)*cos({d.whole(2, 5)}*x)", f"x*exp(-x**2/{k})", f"x**{k}*log(x)", f"x*sqrt(x**2 + {k})",
        f"exp(-x/{k})*sin({d.whole(2, 5)}*x)", f"log({k}*x)/x", f"x/sqrt(x**2 + {k})", f"x*sin(x)*exp({k}*x)",
    )))  # fmt: skip


def _slope_of_quotient(d: Draw) -> Draft:
    a, b, c = d.whole(1, 5), d.whole(-5, 5, 0), d.whole(-4, 4, 0)
    return Draft("slope", f"f(x) = ({polynomial(a, b)})/({polynomial(1, c)})", point=at(x=d.whole(-4, 4)))


def _slope_of_power(d: Draw) -> Draft:
    inner = polynomial(d.whole(1, 3), d.whole(-4, 4, 0))
    return Draft("slope", f"f(x) = ({inner})**{d.whole(2, 4)}", point=at(x=d.whole(-2, 3)))


def _slope_of_root(d: Draw) -> Draft:
    short, long = d.of(((3, 4), (4, 3), (5, 12), (12, 5), (8, 15)))
    return Draft("slope", f"f(x) = sqrt(x**2 + {long**2})", point=at(x=d.of((-short, short))))


def _slope_at_zero(d: Draw) -> Draft:
    inside = polynomial(d.whole(-4, 4, 0), d.whole(-6, 6, 0))
    wave = d.of((f"exp({d.whole(2, 5)}*x)", f"cos({d.whole(2, 5)}*x)", f"sin({d.whole(2, 5)}*x)"))
    return Draft("slope", f"f(x) = ({inside})*{wave}", point=at(x=0))


# ---- level 3: several variables ----------------------------------------------------------------------------------
def _polynomial_in_two(d: Draw) -> str:
    terms = ["x**2*y", "x*y**2", "x*y", "x**2", "y**2", "x", "y", "x**3", "y**3"]
    chosen = [terms[k] for k in sorted(d.order(len(terms))[: d.whole(2, 3)])]
    text = summed(*((d.whole(-4, 5, 0), term) for term in chosen))
    return text if "x" in text and "y" in text else f"{text} + x*y"


def _gradient_in_two(d: Draw) -> Draft:
    return Draft("gradient", f"f(x, y) = {_polynomial_in_two(d)}", ("x", "y"), at(x=d.whole(-3, 3), y=d.whole(-3, 3)))


def _gradient_in_three(d: Draw) -> Draft:
    k = d.whole(2, 4)
    text = d.of((f"x*y + {k}*y*z", f"x*y*z - {k}*x", f"x**2*z + {k}*y", f"x*y/z + {k}*z", f"(x - {k}*y)*z**2"))
    point = at(x=d.whole(-3, 4, 0), y=d.whole(-3, 3, 0), z=d.whole(1, 3))
    return Draft("gradient", f"f(x, y, z) = {text}", ("x", "y", "z"), point)


def _gradient_with_exp(d: Draw) -> Draft:
    a, b = d.whole(2, 5), d.whole(-3, 3, 0)
    text = d.of(
        (f"{a}*x*exp(y)", f"x**2*exp({a}*y)", f"x*cos({a}*y) + {a}*y", f"exp(x*y) + {a}*x", f"x*log({a}*y + 1)")
    )
    return Draft("gradient", f"f(x, y) = {text}", ("x", "y"), at(x=b, y=0))


def _length(d: Draw) -> Draft:
    x, y = d.of(((3, 4), (4, 3), (5, 12), (12, 5), (8, 6), (15, 8)))
    return Draft("gradient", "f(x, y) = sqrt(x**2 + y**2)", ("x", "y"), at(x=d.of((x, -x)), y=d.of((y, -y))))


def _partial(d: Draw) -> Draft:
    k, by = d.whole(2, 5), d.of(("x", "y"))
    text = d.of((
        f"x**{k}*exp(x*y)", f"sin(x*y) + {k}*x", f"x**2*cos({k}*y)", f"x/(x + {k}*y)", f"exp(-{k}*x)*sin(y)",
        f"log(x**2 + {k}*y**2)", f"(x - {k}*y)**4", f"x*y/(x**2 + y**2 + {k})", f"sqrt(x**2 + {k}*y**2)",
    ))  # fmt: skip
    return Draft("derivative", f"f(x, y) = {text}", (by,))


def _directional(d: Draw) -> Draft:
    a, b = d.of(((3, 4), (4, 3), (-3, 4), (4, -3)))
    along = {"x": Fraction(a, 5), "y": Fraction(b, 5)}
    point = at(x=d.whole(-3, 3), y=d.whole(-3, 3))
    return Draft("direction", f"f(x, y) = {_polynomial_in_two(d)}", ("x", "y"), point, along)


# ---- level 4: graphs with shared nodes, neurons ------------------------------------------------------------------
def _shared(d: Draw) -> Draft:
    k = d.whole(2, 4)
    text = d.of((
        "d = a - b; e = a + b; L = d*e", f"d = a*b; e = d + {k}*a; L = d*e", "d = a*b; e = a + b; L = d**2 - e",
        f"s = a + b; L = s**2 + {k}*s*a", "d = a*b; e = b*c; L = d*e + d", "d = a + b; e = b*c; L = d*e",
        f"d = a*b + c; e = d + {k}*b; L = d*e", f"d = a**2; e = d + b; L = e*d - {k}*e", f"t = a*b; L = t**3 - {k}*t",
    ))  # fmt: skip
    names = [name for name in "abc" if name in text.replace("L", "")]
    return Draft("gradient", text, tuple(names), {name: Fraction(d.whole(-3, 4, 0)) for name in names})


def _weighted(d: Draw) -> tuple[dict[str, Fraction], int]:
    point = at(x1=d.whole(-3, 3), x2=d.whole(-3, 3, 0), w1=d.whole(-3, 3, 0), w2=d.whole(-2, 3))
    return point, int(point["x1"] * point["w1"] + point["x2"] * point["w2"])


def _neuron(d: Draw) -> Draft:
    point, total = _weighted(d)
    # at 0 these have values and slopes without a digit after the point
    point["b"] = Fraction(-total)
    text = f"n = x1*w1 + x2*w2 + b; o = {d.of(('tanh', 'sigmoid'))}(n)"
    k = d.whole(2, 4)
    text += d.of(("", f"; L = o**2 + {k}*o", f"; L = {k}*o*w1"))
    return Draft("gradient", text, ("x1", "x2", "w1", "w2", "b"), point)


def _neuron_with_loss(d: Draw) -> Draft:
    point, total = _weighted(d)
    point["b"] = Fraction(d.whole(1, 4) - total)
    missed = summed((1, "o"), (d.whole(-6, 4, 0), ""))
    loss = d.of((f"({missed})**2", f"({missed})**2/2", f"({missed})**2 + w1**2 + w2**2"))
    return Draft("gradient", f"n = x1*w1 + x2*w2 + b; o = relu(n); L = {loss}", ("w1", "w2", "b"), point)


def _layers(d: Draw) -> Draft:
    point = at(x=d.whole(1, 3), w=d.whole(1, 3), v=d.whole(-3, 3, 0), b=d.whole(0, 2))
    result = d.of(("v*h", "v*h + b", "v*h + x"))
    text = f"h = relu(x*w + b); y = {result}; L = ({summed((1, 'y'), (d.whole(-6, 4, 0), ''))})**2"
    return Draft("gradient", text, ("w", "b", "v"), point)


def _line(d: Draw) -> Draft:
    point = at(m=d.whole(-2, 3), c=d.whole(-2, 3))
    xs = [d.whole(-1, 1, 0), d.whole(2, 4)]
    terms = [f"e{k} = {summed((x, 'm'), (1, 'c'), (d.whole(-5, 5), ''))}" for k, x in enumerate(xs, 1)]
    return Draft("gradient", "; ".join([*terms, "L = e1**2 + e2**2"]), ("m", "c"), point)


# ---- level 5: kinks, descent, second derivatives -----------------------------------------------------------------
def _slope_beside_kink(d: Draw) -> Draft:
    inner = polynomial(d.whole(1, 4), d.whole(-7, 7, 0))
    text = d.of((
        f"abs({inner})", f"relu({inner})*x", f"max(x**2, {inner})", f"min(x**2, {inner})", f"x*abs({inner})",
        f"abs(x**2 - {d.whole(2, 7)})", f"clamp({inner}, -2, 2)*x", f"relu({inner})**2",
        f"max({inner}, {d.whole(-3, 3)})*x",
    ))  # fmt: skip
    return Draft("slope", f"f(x) = {text}", point=at(x=d.whole(-3, 4)))


def _branches(d: Draw) -> Draft:
    border, k = d.whole(-1, 2), d.whole(2, 4)
    text = f"where(x < {border}, {polynomial(1, d.whole(-3, 3), 0)}, {k}*x**2 + {d.whole(1, 5)})"
    return Draft("slope", f"f(x) = {text}", point=at(x=d.whole(-3, 4, border)))


def _kink(d: Draw) -> Draft:
    a, b, c = d.whole(2, 5), d.whole(-9, 9, 0), d.whole(-4, 4, 0)
    inner = polynomial(a, b)
    text = d.of(
        (
            f"abs({inner})",
            f"relu({inner})",
            f"max({inner}, {c})",
            f"x**2 + abs({inner})",
            summed((abs(c), "x"), (-1, f"relu({inner})")),
        )
    )
    return Draft("kink", f"f(x) = {text}")


def _gradient_of_choice(d: Draw) -> Draft:
    k = d.whole(2, 4)
    text = d.of(
        (
            f"max(x*y, {k}*x)",
            "abs(x - y)*x",
            f"relu(x - {k}*y)*y",
            "min(x**2, y**2)",
            f"max(x, y)**2 + {k}*y",
            f"x*relu(y) - {k}*abs(x)",
        )
    )
    return Draft("gradient", f"f(x, y) = {text}", ("x", "y"), at(x=d.whole(-4, 4, 0), y=d.whole(-4, 4, 0)))


def _dead_unit(d: Draw) -> Draft:
    point = at(x=d.whole(-3, 3, 0), w1=d.whole(1, 3), w2=-d.whole(1, 3), v1=d.whole(-3, 3, 0), v2=d.whole(-3, 3, 0))
    return Draft("gradient", "g = relu(w1*x); h = relu(w2*x); y = v1*g + v2*h", ("w1", "w2", "v1", "v2"), point)


def _step(d: Draw) -> Draft:
    a, b = d.whole(1, 3), d.whole(1, 3)
    text = d.of((
        summed((a, f"(x - {b})**2"), (1, "y**2")), summed((1, "x**2"), (a, "x*y"), (a + b, "y**2")),
        f"(x - {a})**2 + (y + {b})**2", f"(x*y - {a})**2",
    ))  # fmt: skip
    rate = d.of((Fraction(1, 2), Fraction(1, 4), Fraction(1, 10)))
    point = at(x=d.whole(-3, 3), y=d.whole(-3, 3))
    return Draft("step", f"f(x, y) = {text}", ("x", "y"), point, {"rate": rate})


def _second(d: Draw) -> Draft:
    k = d.whole(2, 4)
    text = d.of(
        (
            f"x*exp({k}*x)",
            f"sin({k}*x)",
            f"x**{k + 2} - {k}*x**2",
            f"log(x**2 + {k})",
            "x**2*log(x)",
            f"exp(-x**2/{k})",
            f"x*sin({k}*x)",
        )
    )
    return Draft("second", f"f(x) = {text}")


LEVELS: dict[int, tuple[str, tuple[Pattern, ...]]] = {
    1: ("slopes of a function of one variable", (
        _slope_of_quadratic, _derivative_of_polynomial, _slope_of_cubic, _flat, _reciprocal, _tangent, _root, _speed,
    )),
    2: ("product, quotient and chain rule", (
        _product, _chain, _quotient, _slope_of_power, _mixed, _slope_of_quotient, _slope_of_root, _slope_at_zero,
    )),
    3: ("several variables", (
        _gradient_in_two, _partial, _gradient_in_three, _gradient_with_exp, _directional, _length,
    )),
    4: ("graphs with shared nodes, and neurons", (_shared, _neuron, _neuron_with_loss, _layers, _line)),
    5: ("kinks, steps of descent, second derivatives", (
        _slope_beside_kink, _kink, _gradient_of_choice, _second, _dead_unit, _step, _branches,
    )),
}  # fmt: skip
"""What each level is about, and its patterns."""
