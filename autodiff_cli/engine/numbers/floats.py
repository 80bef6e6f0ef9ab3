"""REAL: Python's floats as a number type, the default.

Functions take finite floats and raise ValueError outside the domain, ZeroDivisionError or
OverflowError. Elementary functions are right to 4 ulp and special ones to 16, wherever the last
digit of an argument does not change the value more. Underflow rounds to 0; vector functions return
lists.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

from ..table.primitive import ACCURATE
from ..table.primitives import by_name, functions_of, library_names
from . import budget
from .base import Number, NumberType
from .double import elementary, special
from .double.twofold import by_enclosures, by_multiprecision, check_finite

# Python's own accurate functions that raise the same errors.
_AS_THEY_ARE = "sqrt exp exp2 expm1 sin cos tan asin acos atan sinh cosh tanh asinh acosh erf erfc"

# Comparisons and logic.
_CONDITIONS = "lt le gt ge eq ne and_ or_ not_"

# Operations of one expression.
PLAIN: dict[str, Callable[..., float]] = by_name({
    "abs": math.fabs, "neg": lambda x: float(-x), "add": lambda x, y: float(x + y), "sub": lambda x,
    y: float(x - y), "mul": lambda x, y: float(x * y), "div": lambda x, y: float(x / y),
    "floor": lambda x: float(math.floor(x)), "ceil": lambda x: float(math.ceil(x)),
    "round": lambda x: float(round(x)), "min": lambda *xs: float(min(xs)),
    "max": lambda *xs: float(max(xs)), "hypot": lambda *xs: check_finite(math.hypot(*xs)),
    "relu": lambda x: float(x) if x > 0.0 else 0.0,
})  # fmt: skip


def _norminv_scaled(p: float, mu: float, sigma: float) -> float:
    if sigma <= 0.0:
        raise ValueError("a standard deviation is positive")
    product = sigma * REAL.norminv(p)
    total: float = mu + product
    if math.fabs(total) < 0.25 * math.fabs(product):  # the digits of the quantile cancel
        return by_multiprecision("norminv_scaled", p, mu, sigma)
    return check_finite(total)


def _zeta_derivative(n: float, s: float) -> float:
    from .double import zeta  # rarely needed

    # beside its zeros, which are below 0, the terms of a reflection cancel
    if n > zeta.MAX_ORDER or s < zeta.LEFT_END or s == 1.0:
        return by_multiprecision("zeta_derivative", n, s)
    return check_finite(float(zeta.zeta_right(REAL, int(n), float(s))))


def _faddeeva_re(n: float, x: float, y: float) -> float:
    return _faddeeva("faddeeva_re", n, x, y)


def _faddeeva_im(n: float, x: float, y: float) -> float:
    return _faddeeva("faddeeva_im", n, x, y)


def _faddeeva(name: str, n: float, x: float, y: float) -> float:
    from .double.faddeeva import faddeeva  # rarely needed

    value = faddeeva(n, float(x), float(y), imaginary=name == "faddeeva_im")
    return by_enclosures(name, n, x, y) if value is None else value


# Functions without a formula in doubles that is right over their whole range.
_BY_MULTIPRECISION = library_names("gamma_density_derivative gammainc_derivative")

# Those whose enclosures by python-flint take a fraction of the time.
_BY_ENCLOSURES = library_names(
    "beta_density beta_density_derivative betainc betainc_derivative besselj bessely besseli"
    " besselk besselj_slope bessely_slope besseli_slope besselk_slope besselj_derivative"
    " bessely_derivative besseli_derivative besselk_derivative erfi Si Ci Ei li fresnels fresnelc"
    " sine_quotient"
)

# Functions by operation: Python's own, and those of `engine.numbers.double`.
FUNCTIONS: dict[str, Callable[..., Any]] = (
    PLAIN
    | {name: getattr(math, name) for name in _AS_THEY_ARE.split()}
    | {name: getattr(operator, name) for name in _CONDITIONS.split()}
    | functions_of(vars(elementary))
    | functions_of(vars(special))
    | by_name({"norminv_scaled": _norminv_scaled, "zeta_derivative": _zeta_derivative})
    | by_name({"faddeeva_re": _faddeeva_re, "faddeeva_im": _faddeeva_im})
    | {name: partial(by_multiprecision, name) for name in _BY_MULTIPRECISION}
    | {name: partial(by_enclosures, name) for name in _BY_ENCLOSURES}
)


class Real(NumberType):
    """Double precision."""

    name = "real"
    has_values = True
    pi = math.pi
    tolerance = 1e-13

    def __init__(self) -> None:
        # Instance attributes: the sweeps look them up for each node.
        self.__dict__.update(FUNCTIONS, is_finite=math.isfinite, literal=_literal, number=float)

    @cached_property
    def accurate(self) -> Mapping[str, Callable[..., Number]]:  # type: ignore[override]
        from .double.formulas import FORMULAS  # rarely needed

        return ACCURATE | FORMULAS

    def definition(self, name: str) -> Callable[..., Number]:
        from .double.formulas import Lacking

        rule = super().definition(name)

        def function(m: NumberType, *inputs: Number) -> Number:
            try:
                out = rule(m, *map(float, inputs))
            except Lacking:  # an order that is not written out
                return by_multiprecision(name, *inputs)
            return out if isinstance(out, list) else check_finite(float(out))

        return function

    def charge_operations(self, operations: int) -> None:
        budget.charge(operations * 0.4)

    def __reduce__(self) -> str:
        return "REAL"  # the singleton: some functions cannot be pickled


def _literal(text: str) -> float:
    return math.e if text == "e" else math.pi if text in ("pi", "π") else float(text)


REAL = Real()
