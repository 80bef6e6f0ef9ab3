"""The table's first part: leaves, operators, conditions and choices."""

# fmt: off

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import primitive as at
from .primitive import Number, Primitive, Side, entry

# ---- leaves
VARIABLE = entry("variable", "")
CONSTANT = entry("constant", "")


# ---- arithmetic
def _pow_by_base(m: Any, x: Number, y: Number, out: Number) -> Number:
    # Not for every y = 0: a constant 0 there would lose the derivative by y, which is 1/x.
    return m.where(m.and_(m.eq(y, 0), m.eq(x, 0)), 0, lambda: y * m.power_minus_one(x, y, out))


def _pow_by_exponent(m: Any, x: Number, y: Number, out: Number) -> Number:
    # 0**y is 0 for every y > 0, so its slope is 0, although out*log(x) is undefined at x = 0.
    return m.where(m.and_(m.eq(x, 0), m.gt(y, 0)), 0, lambda: out * m.log(x))


def _pow_trouble(x: Number, y: Number) -> tuple[str, str | None] | None:
    if x == 0:
        return "0 to the power {1} is undefined: a division by zero", None
    if x < 0:
        hint = "for a real cube root write `cbrt(x)`" if abs(y * 3) == 1 else "a negative base needs a whole exponent"
        return "a negative number, {0}, has no real power {1}", hint
    return None


ADD = entry("add", "x y", "", lambda m, x, y, out: 1, lambda m, x, y, out: 1,
    facts="linear propagates_infinity infinite commutative associative", symbol="+",
    operator=(" + ", at.SUM, at.SUM, at.PRODUCT), latex="#1 + #2")
SUB = entry("sub", "x y", "", lambda m, x, y, out: 1, lambda m, x, y, out: -1,
    facts="linear propagates_infinity infinite",
    symbol="-", operator=(" - ", at.SUM, at.SUM, at.PRODUCT), latex="#1 - #2")
MUL = entry("mul", "x y", "", lambda m, x, y, out: y, lambda m, x, y, out: x,
    facts="has_structural_zeros propagates_infinity infinite commutative associative product", symbol="*",
    operator=("*", at.PRODUCT, at.PRODUCT, at.POWER))
DIV = entry("div", "x y", "", lambda m, x, y, out: 1 / y, lambda m, x, y, out: -out / y, symbol="/", domain="y != 0",
    operator=("/", at.PRODUCT, at.PRODUCT, at.POWER), roles=("the numerator", "the denominator"),
    propagates_first=lambda y: True, domain_message=lambda x, y: ("division by zero", None) if y == 0 else None)
NEG = entry("neg", "x", "", lambda m, x, out: -1, facts="linear odd propagates_infinity", symbol="neg",
    operator=("-", at.SIGN, at.POWER))
POW = entry("pow", "x y", "`x` to the power `y`, the same as `x**y`", _pow_by_base, _pow_by_exponent, symbol="**",
    operator=("**", at.POWER, at.ATOM, at.POWER), roles=("the base", "the exponent"),
    total_for=lambda y: y >= 0 and y == int(y), propagates_first=lambda y: y is not None and y > 0, group="Elementary",
    domain="x > 0, or x = 0 with y >= 0, or x < 0 with a whole y", domain_message=_pow_trouble, source="DLMF 4.2.6")


# ---- conditions
def _comparison(
    name: str, symbol: str, holds: str, branch: Callable[[Side, Number], bool], facts: str = "", latex: str = ""
) -> Primitive:
    return entry(name, "x y", "", None, None, symbol=symbol, latex=f"#1 {latex or symbol} #2",
        operator=(f" {symbol} ", at.COMPARISON, at.SUM, at.SUM), facts=f"gives_condition {facts}", holds=holds,
        breakpoint=lambda x, y: x == y, active_branch=lambda m, side, x, y, out: branch(side, x - y))


LT = _comparison("lt", "<", "<", lambda side, difference: side(difference) < 0)
LE = _comparison("le", "<=", "<=", lambda side, difference: side(difference) < 0, latex=r"\le")
GT = _comparison("gt", ">", ">", lambda side, difference: side(difference) > 0)
GE = _comparison("ge", ">=", "=>", lambda side, difference: side(difference) > 0, latex=r"\ge")
EQ = _comparison("eq", "==", "=", lambda side, difference: not side.is_nonzero(difference), "commutative", "=")
NE = _comparison("ne", "!=", "<>", lambda side, difference: side.is_nonzero(difference), "commutative", r"\ne")
COMPARISONS = {p.symbol: p for p in (LT, LE, GT, GE, EQ, NE)}


AND = entry("and_", "p q", "", None, None, facts="commutative associative gives_condition", symbol="and",
    operator=(" and ", at.AND, at.AND, at.NOT), latex=r"#1 \text{ and } #2",
    takes_conditions=(0, 1), lazy_inputs=lambda p, q: (0,) if p is None else (1,) if p else ())
OR = entry("or_", "p q", "", None, None, facts="commutative associative gives_condition", symbol="or",
    operator=(" or ", at.OR, at.OR, at.AND), latex=r"#1 \text{ or } #2",
    takes_conditions=(0, 1), lazy_inputs=lambda p, q: (0,) if p is None else () if p else (1,))
NOT = entry("not_", "p", "", None, facts="gives_condition", inverse="not_", symbol="not",
    operator=("not ", at.NOT, at.NOT), latex=r"\text{not } #1", takes_conditions=(0,))
WHERE = entry("where", "c x y", "`x` where the condition `c` holds, else `y`; the same as `x if c else y`", None,
    lambda m, c, x, y, out: m.where(c, 1, m.nothing), lambda m, c, x, y, out: m.where(c, m.nothing, 1),
    facts="has_structural_zeros", group="Elementary", takes_conditions=(0,),
    lazy_inputs=lambda c, x, y: (0,) if c is None else (1,) if c else (2,))
