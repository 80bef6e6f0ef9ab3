"""THE TABLE: every function of the language with its derivative, after the operators. All else reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import operators as operators
from . import stable as stable
from .primitive import Number, Rule, Side, entry
from .stable import NO_POLE


def none_at_all(m: Any, *_: Number) -> Number:
    """A structural zero: the rule of an input on which the output depends only by steps."""
    return m.nothing


# ---- elementary ---------------------------------------------------------------------------------------------------
_ELEMENTARY: Any = {"group": "Elementary"}
_LINE = ((-2.5,), (-1.0,), (-1e-10,), (0.5,), (1.0,), (3.75,))
_POSITIVE = ((1e-300,), (1e-10,), (0.5,), (1.0,), (2.75,), (1e10,), (1e300,))

EXP = entry(
    "exp", "x", lambda m, x, out: out, doc="e to the power `x`", source="DLMF 4.10.7", latex=r"\exp",
    values="(0, inf)", increasing=True, samples=(*_LINE, (-740.0,), (709.0,)), infinite=True, **_ELEMENTARY,
)  # fmt: skip
entry(
    "exp2", "x", lambda m, x, out: out * m.log(2), definition=lambda m, x: m.pow(2, x), doc="2 to the power `x`",
    values="(0, inf)", increasing=True, samples=(*_LINE, (1023.0,)), infinite=True, **_ELEMENTARY,
)  # fmt: skip
entry(
    "expm1", "x", lambda m, x, out: m.exp(x), definition=lambda m, x: m.exp(x) - 1,
    doc="exp(x) - 1, right for small `x` too", values="(-1, inf)", increasing=True,
    samples=(*_LINE, (-40.0,), (1e-300,)), infinite=True, **_ELEMENTARY,
)  # fmt: skip
LOG = entry(
    "log", "x", lambda m, x, out: 1 / x, aliases=("ln",), with_two="log_base", domain="x > 0",
    doc="natural logarithm; `log(x, b)` to the base `b`", source="DLMF 4.7.1", latex=r"\ln", increasing=True,
    samples=_POSITIVE,
    shows=True, **_ELEMENTARY,
)  # fmt: skip
entry(
    "log_base", "x b", lambda m, x, b, out: 1 / m.log(b) / x, lambda m, x, b, out: -out / b / m.log(b),
    definition=lambda m, x, b: m.log(x) / m.log(b), symbol="log_b", spelling="log", domain="x > 0, b > 0 and b != 1",
    trouble=lambda x, b: ("there is no logarithm to the base 1", None) if b == 1 else None,
    samples=((8.0, 2.0), (1000.0, 10.0), (3.0, 0.5), (1e300, 7.0)),
)  # fmt: skip
entry(
    "log2", "x", lambda m, x, out: 1 / m.log(2) / x, definition=lambda m, x: m.log(x) / m.log(2),
    doc="logarithm to the base 2", domain="x > 0", increasing=True, samples=_POSITIVE, shows=True, **_ELEMENTARY,
)  # fmt: skip
entry(
    "log10", "x", lambda m, x, out: 1 / m.log(10) / x, definition=lambda m, x: m.log(x) / m.log(10),
    doc="logarithm to the base 10", domain="x > 0", increasing=True, samples=_POSITIVE, shows=True, **_ELEMENTARY,
)  # fmt: skip
entry(
    "log1p", "x", lambda m, x, out: 1 / (1 + x), definition=lambda m, x: m.log(1 + x),
    doc="log(1 + x), right for small `x` too", domain="x > -1",
    increasing=True, samples=((-0.999999,), (-0.5,), (1e-300,), (1e-10,), (2.5,), (1e300,)), shows=True, **_ELEMENTARY,
)  # fmt: skip
SQRT = entry(
    "sqrt", "x", lambda m, x, out: 1 / (2 * out), doc="square root, also `√x`", domain="x >= 0", latex=r"\sqrt",
    values="[0, inf)", increasing=True, samples=_POSITIVE, shows=True, infinite=False, **_ELEMENTARY,
)  # fmt: skip
entry(
    "cbrt", "x", lambda m, x, out: 1 / (3 * out**2),
    definition=lambda m, x: m.sign(x) * m.pow(m.abs(x), m.number(1) / 3),
    doc="real cube root, of negative numbers too", increasing=True,
    samples=((-8.0,), (1e-300,), (0.5,), (27.0,), (1e300,)),
    shows=True, **_ELEMENTARY,
)  # fmt: skip
ABS = entry(
    "abs", "x", lambda m, x, out: m.sign(x), doc="absolute value, also `|x|`", kink=lambda x: x == 0,
    convention="0 at 0", near=lambda m, side, x, out: x if side(x) > 0 else -x, norm=True,
    samples=((-2.5,), (1e-300,), (3.0,)), shows=True, **_ELEMENTARY,
)  # fmt: skip
_STEPS: Any = {**_ELEMENTARY, "jumps": True, "selects": True}


def _rounded(m: Any, side: Side, x: Number, out: Number) -> Number:
    up, down = side(2 * (x - out) - 1) > 0, side(2 * (x - out) + 1) < 0
    return out + 1 if up else out - 1 if down else out


entry(
    "sign", "x", none_at_all, doc="-1, 0 or 1 with the sign of `x`", kink=lambda x: x == 0, convention="0 at 0",
    near=lambda m, side, x, out: side(x), values="[-1, 1]", samples=((-2.5,), (3.0,)), **_STEPS,
)  # fmt: skip
entry(
    "floor", "x", none_at_all, doc="the largest whole number not above `x`", kink=lambda x: x == int(x),
    convention="0 at whole numbers", near=lambda m, side, x, out: out if side(x - out) > 0 else out - 1,
    samples=((-2.5,), (3.25,)), shows=True, **_STEPS,
)  # fmt: skip
entry(
    "ceil", "x", none_at_all, doc="the smallest whole number not below `x`", kink=lambda x: x == int(x),
    convention="0 at whole numbers", near=lambda m, side, x, out: out + 1 if side(x - out) > 0 else out,
    samples=((-2.5,), (3.25,)), shows=True, **_STEPS,
)  # fmt: skip
entry(
    "round", "x", none_at_all, doc="the nearest whole number, halves to the even one",
    kink=lambda x: abs(x - int(x)) * 2 == 1, convention="0 at halves", near=_rounded,
    samples=((-2.25,), (3.75,)), shows=True, **_STEPS,
)  # fmt: skip


def _even_split(m: Any, xs: Sequence[Number], out: Number) -> list[Number]:
    """Weights that sum to 1, equal for those that are equal to the output, and structural zeros for the others."""
    winners = m.sum(*[m.where(m.eq(x, out), 1, 0) for x in xs])
    return [m.where(m.eq(x, out), lambda: 1 / winners, m.nothing) for x in xs]


def _clamp_rule(position: int) -> Rule:
    return lambda m, x, lo, hi, out: _even_split(m, (x, lo, hi), out)[position]


entry(
    "clamp", "x lo hi", _clamp_rule(0), _clamp_rule(1), _clamp_rule(2),
    definition=lambda m, x, lo, hi: m.min(m.max(x, lo), hi), domain="lo <= hi",
    doc="`x` kept between `lo` and `hi`", kink=lambda x, lo, hi: x in (lo, hi) or lo == hi,
    convention="an even split between `x` and the bounds that it meets", selects=True,
    near=lambda m, side, x, lo, hi, out: lo if side(x - lo) < 0 else hi if side(x - hi) > 0 else x,
    samples=((0.5, -1.0, 1.0), (-3.0, -1.0, 1.0), (7.0, -1.0, 1.0)), **_ELEMENTARY,
)  # fmt: skip

# ---- trigonometric ------------------------------------------------------------------------------------------------
_TRIGONOMETRIC: Any = {"group": "Trigonometric"}
_ANGLES = (*_LINE, (10.0,), (1000.0,), (1e15,), (1e-300,))
_UNIT = ((-0.999999999,), (-0.5,), (1e-300,), (0.25,), (0.999999999,))
_OUTSIDE = ((-1e200,), (-3.0,), (-1.000001,), (1.000001,), (2.5,), (1e200,))

SIN = entry(
    "sin", "x", lambda m, x, out: m.cos(x), doc="sine; angles are radians", source="DLMF 4.20.1", latex=r"\sin",
    values="[-1, 1]", samples=_ANGLES, shows=True, **_TRIGONOMETRIC,
)  # fmt: skip
COS = entry(
    "cos", "x", lambda m, x, out: -m.sin(x), doc="cosine", source="DLMF 4.20.2", latex=r"\cos", values="[-1, 1]",
    samples=_ANGLES,
    shows=True, **_TRIGONOMETRIC,
)  # fmt: skip
entry(
    "tan", "x", lambda m, x, out: m.sec(x) ** 2, definition=lambda m, x: m.sin(x) / m.cos(x), doc="tangent",
    source="DLMF 4.20.3", latex=r"\tan", samples=_ANGLES, shows=True, **_TRIGONOMETRIC,
)  # fmt: skip
entry(
    "sec", "x", lambda m, x, out: m.tan(x) * out, definition=lambda m, x: 1 / m.cos(x), doc="secant, 1/cos(x)",
    source="DLMF 4.20.5", latex=r"\sec", samples=_ANGLES, **_TRIGONOMETRIC,
)  # fmt: skip
entry(
    "csc", "x", lambda m, x, out: -m.cot(x) * out, definition=lambda m, x: 1 / m.sin(x), doc="cosecant, 1/sin(x)",
    source="DLMF 4.20.4", domain="x != 0", latex=r"\csc", samples=_LINE, **_TRIGONOMETRIC,
)  # fmt: skip
entry(
    "cot", "x", lambda m, x, out: -(m.csc(x) ** 2), definition=lambda m, x: m.cos(x) / m.sin(x),
    doc="cotangent, 1/tan(x)", source="DLMF 4.20.6", domain="x != 0", latex=r"\cot", samples=_LINE, **_TRIGONOMETRIC,
)  # fmt: skip
entry(
    "asin", "x", lambda m, x, out: m.recip_sqrt_one_minus_square(x), aliases=("arcsin",), doc="inverse sine",
    domain="-1 <= x <= 1", source="DLMF 4.24.7", latex=r"\arcsin", values="[-1.6, 1.6]", increasing=True, samples=_UNIT,
    shows=True, infinite=False, **_TRIGONOMETRIC,
)  # fmt: skip
entry(
    "acos", "x", lambda m, x, out: -m.recip_sqrt_one_minus_square(x), aliases=("arccos",), doc="inverse cosine",
    domain="-1 <= x <= 1", source="DLMF 4.24.8", latex=r"\arccos", values="[0, 3.2]", samples=_UNIT,
    shows=True, infinite=False, **_TRIGONOMETRIC,
)  # fmt: skip
entry(
    "atan", "x", lambda m, x, out: m.recip_one_plus_square(x), aliases=("arctan",), doc="inverse tangent",
    source="DLMF 4.24.9", latex=r"\arctan", values="(-1.6, 1.6)", increasing=True,
    samples=(*_LINE, (1e160,), (-1e10,)), **_TRIGONOMETRIC,
)  # fmt: skip
entry(
    "atan2", "y x", lambda m, y, x, out: m.unit_over_hypot(x, y), lambda m, y, x, out: -m.unit_over_hypot(y, x),
    aliases=("arctan2",), doc="the angle of the point (x, y), from -pi to pi", kink=lambda y, x: x <= 0 and y == 0,
    convention="that of the upper side of the cut along negative `x`", jumps=True,
    near=lambda m, side, y, x, out: m.atan(y / x) + (m.pi if side(y) > 0 else -m.pi),
    values="[-3.2, 3.2]", samples=((1.0, 2.0), (-3.0, -0.5), (1e-200, 1e-200), (1e200, -1e200)), **_TRIGONOMETRIC,
)  # fmt: skip
entry(
    "asec", "x", lambda m, x, out: m.recip_sqrt_square_minus_one(x) / m.abs(x), aliases=("arcsec",),
    definition=lambda m, x: m.acos(1 / x), doc="inverse secant, acos(1/x)", domain="x <= -1 or x >= 1",
    source="DLMF 4.24.11", samples=_OUTSIDE, infinite=False, **_TRIGONOMETRIC,
)  # fmt: skip
entry(
    "acsc", "x", lambda m, x, out: -m.recip_sqrt_square_minus_one(x) / m.abs(x), aliases=("arccsc",),
    definition=lambda m, x: m.asin(1 / x), doc="inverse cosecant, asin(1/x)", domain="x <= -1 or x >= 1",
    source="DLMF 4.24.10", samples=_OUTSIDE, infinite=False, **_TRIGONOMETRIC,
)  # fmt: skip
entry(
    "acot", "x", lambda m, x, out: -m.recip_one_plus_square(x), aliases=("arccot",),
    definition=lambda m, x: m.atan(1 / x), doc="inverse cotangent, atan(1/x)", domain="x != 0",
    source="DLMF 4.24.12", samples=(*_LINE, (1e160,), (-1e10,)), **_TRIGONOMETRIC,
)  # fmt: skip
entry(
    "sinc", "x", lambda m, x, out: m.sinc_derivative(1, x), doc="sin(pi*x)/(pi*x), and 1 at 0",
    definition=lambda m, x: m.sinc_derivative(0, x), values="[-0.25, 1]",
    samples=(*_LINE, (0.0,), (1e-5,), (0.3,), (20.25,)),
    **_TRIGONOMETRIC,
)  # fmt: skip
entry(
    "deg", "x", lambda m, x, out: 180 / m.pi, definition=lambda m, x: x * (180 / m.pi),
    doc="`x` radians in degrees", increasing=True, samples=_LINE, shows=True, infinite=True, **_TRIGONOMETRIC,
)  # fmt: skip
entry(
    "rad", "x", lambda m, x, out: m.pi / 180, definition=lambda m, x: x * (m.pi / 180),
    doc="`x` degrees in radians", increasing=True, samples=_LINE, shows=True, **_TRIGONOMETRIC,
)  # fmt: skip

# ---- hyperbolic ---------------------------------------------------------------------------------------------------
_HYPERBOLIC: Any = {"group": "Hyperbolic"}
_STEEP = (*_LINE, (-20.0,), (40.0,), (350.0,), (-700.0,))

entry(
    "sinh", "x", lambda m, x, out: m.cosh(x), definition=lambda m, x: (m.exp(x) - m.exp(-x)) / 2,
    doc="hyperbolic sine", source="DLMF 4.34.1", latex=r"\sinh", increasing=True, samples=_STEEP,
    shows=True, infinite=True, **_HYPERBOLIC,
)  # fmt: skip
entry(
    "cosh", "x", lambda m, x, out: m.sinh(x), definition=lambda m, x: (m.exp(x) + m.exp(-x)) / 2,
    doc="hyperbolic cosine", source="DLMF 4.34.2", latex=r"\cosh", values="[1, inf)", samples=_STEEP,
    shows=True, infinite=True, **_HYPERBOLIC,
)  # fmt: skip
TANH = entry(
    "tanh", "x", lambda m, x, out: m.sech_square(x), definition=lambda m, x: m.sinh(x) / m.cosh(x),
    doc="hyperbolic tangent", source="DLMF 4.34.3", latex=r"\tanh", values="(-1, 1)", increasing=True,
    samples=_STEEP, **_HYPERBOLIC,
)  # fmt: skip
entry(
    "sech", "x", lambda m, x, out: -m.tanh(x) * out, definition=lambda m, x: 1 / m.cosh(x),
    doc="hyperbolic secant, 1/cosh(x)", source="DLMF 4.34.5", values="(0, 1]", samples=_STEEP, **_HYPERBOLIC,
)  # fmt: skip
entry(
    "csch", "x", lambda m, x, out: -m.coth(x) * out, definition=lambda m, x: 1 / m.sinh(x),
    doc="hyperbolic cosecant, 1/sinh(x)", source="DLMF 4.34.4", domain="x != 0", samples=_STEEP, **_HYPERBOLIC,
)  # fmt: skip
entry(
    "coth", "x", lambda m, x, out: -m.csch_square(x), definition=lambda m, x: m.cosh(x) / m.sinh(x),
    doc="hyperbolic cotangent, 1/tanh(x)", source="DLMF 4.34.6", domain="x != 0", latex=r"\coth", samples=_STEEP,
    **_HYPERBOLIC,
)  # fmt: skip
entry(
    "asinh", "x", lambda m, x, out: m.recip_sqrt_one_plus_square(x), aliases=("arcsinh", "arsinh"),
    definition=lambda m, x: m.sign(x) * m.log(m.abs(x) + m.sqrt(x * x + 1)), doc="inverse hyperbolic sine",
    source="DLMF 4.38.9", increasing=True, samples=(*_LINE, (1e200,), (-1e10,)), shows=True, **_HYPERBOLIC,
)  # fmt: skip
entry(
    "acosh", "x", lambda m, x, out: m.recip_sqrt_square_minus_one(x), aliases=("arccosh", "arcosh"),
    definition=lambda m, x: m.log(x + m.sqrt(x - 1) * m.sqrt(x + 1)), doc="inverse hyperbolic cosine",
    domain="x >= 1", source="DLMF 4.38.10", values="[0, inf)", increasing=True,
    samples=((1.000001,), (2.5,), (1e10,), (1e200,)),
    shows=True, infinite=False, **_HYPERBOLIC,
)  # fmt: skip
entry(
    "atanh", "x", lambda m, x, out: m.recip_one_minus_square(x), aliases=("arctanh", "artanh"),
    definition=lambda m, x: m.log((1 + x) / (1 - x)) / 2, doc="inverse hyperbolic tangent", domain="-1 < x < 1",
    source="DLMF 4.38.11", increasing=True, samples=_UNIT, **_HYPERBOLIC,
)  # fmt: skip
entry(
    "asech", "x", lambda m, x, out: -m.recip_sqrt_one_minus_square(x) / x, aliases=("arcsech", "arsech"),
    definition=lambda m, x: m.acosh(1 / x), doc="inverse hyperbolic secant, acosh(1/x)", domain="0 < x <= 1",
    source="DLMF 4.38.13", values="[0, inf)", samples=((1e-300,), (1e-5,), (0.25,), (0.999999999,)), **_HYPERBOLIC,
)  # fmt: skip
entry(
    "acsch", "x", lambda m, x, out: -m.recip_sqrt_one_plus_square(x) / m.abs(x), aliases=("arccsch", "arcsch"),
    definition=lambda m, x: m.asinh(1 / x), doc="inverse hyperbolic cosecant, asinh(1/x)", domain="x != 0",
    source="DLMF 4.38.12", samples=(*_LINE, (1e150,)), **_HYPERBOLIC,
)  # fmt: skip
entry(
    "acoth", "x", lambda m, x, out: m.recip_one_minus_square(x), aliases=("arccoth", "arcoth"),
    definition=lambda m, x: m.log((x + 1) / (x - 1)) / 2, doc="inverse hyperbolic cotangent, atanh(1/x)",
    domain="x < -1 or x > 1", source="DLMF 4.38.14", samples=_OUTSIDE, **_HYPERBOLIC,
)  # fmt: skip

# ---- machine learning ---------------------------------------------------------------------------------------------
_LEARNING: Any = {"group": "Machine learning"}


def _relu_rule(m: Any, x: Number, out: Number) -> Number:
    return m.where(m.gt(x, 0), 1, lambda: m.where(m.lt(x, 0), m.nothing, 0))


RELU = entry(
    "relu", "x", _relu_rule, definition=lambda m, x: m.where(m.gt(x, 0), x, 0), doc="`x` above 0, else 0",
    kink=lambda x: x == 0, convention="0 at 0", selects=True,
    near=lambda m, side, x, out: x if side(x) > 0 else 0, values="[0, inf)",
    samples=((-2.5,), (1e-300,), (3.0,)), **_LEARNING,
)  # fmt: skip
entry(
    "leaky_relu", "x slope", lambda m, x, slope, out: m.where(m.gt(x, 0), 1, slope),
    lambda m, x, slope, out: m.where(m.gt(x, 0), m.nothing, x), defaults=("0.01",),
    definition=lambda m, x, slope: m.where(m.gt(x, 0), x, lambda: slope * x), doc="`x` above 0, else `slope*x`",
    kink=lambda x, slope: x == 0 and slope != 1, convention="`slope` at 0", selects=True,
    near=lambda m, side, x, slope, out: x if side(x) > 0 else slope * x,
    samples=((-2.5, 0.01), (3.0, 0.01), (-0.5, 0.3)), infinite=True, **_LEARNING,
)  # fmt: skip
entry(
    "elu", "x alpha", lambda m, x, alpha, out: m.where(m.gt(x, 0), 1, lambda: alpha * m.exp(x)),
    lambda m, x, alpha, out: m.where(m.gt(x, 0), m.nothing, lambda: m.expm1(x)), defaults=("1",),
    definition=lambda m, x, alpha: m.where(m.gt(x, 0), x, lambda: alpha * m.expm1(x)),
    doc="`x` above 0, else `alpha*(exp(x) - 1)`", kink=lambda x, alpha: x == 0 and alpha != 1,
    convention="`alpha` at 0", selects=True, knot=lambda x, alpha: x == 0,
    near=lambda m, side, x, alpha, out: x if side(x) > 0 else alpha * m.expm1(x),
    samples=((-2.5, 1.0), (3.0, 1.0), (-0.5, 0.3), (-1e-10, 2.0)), infinite=True, **_LEARNING,
)  # fmt: skip
entry(
    "gelu", "x", lambda m, x, out: m.gelu_slope(x), definition=lambda m, x: x * m.erfc(-x / m.sqrt(2)) / 2,
    doc="`x` times the standard normal distribution function (the exact form)",
    source="Hendrycks and Gimpel, arXiv:1606.08415", samples=(*_LINE, (-10.0,), (-30.0,), (20.0,)),
    family="erf", **_LEARNING,
)  # fmt: skip
entry(
    "silu", "x", lambda m, x, out: m.silu_slope(x), aliases=("swish",), definition=lambda m, x: x * m.sigmoid(x),
    doc="x*sigmoid(x)", samples=_STEEP, **_LEARNING,
)  # fmt: skip


def _sigmoid(m: Any, x: Number) -> Number:
    e = m.exp(-m.abs(x))
    return m.where(m.ge(x, 0), 1 / (1 + e), e / (1 + e))


entry(
    "sigmoid", "x", lambda m, x, out: m.sigmoid_slope(x), doc="the logistic function 1/(1 + exp(-x))",
    definition=lambda m, x: 1 / (1 + m.exp(-x)), at_values=_sigmoid, values="(0, 1)", increasing=True,
    samples=_STEEP, **_LEARNING,
)  # fmt: skip
entry(
    "softplus", "x", lambda m, x, out: m.sigmoid(x), definition=lambda m, x: m.log(1 + m.exp(x)),
    at_values=lambda m, x: m.max(x, 0) + m.log1p(m.exp(-m.abs(x))),
    doc="log(1 + exp(x))", values="(0, inf)", increasing=True, samples=(*_STEEP, (0.0,)), **_LEARNING,
)  # fmt: skip
entry(
    "softsign", "x", lambda m, x, out: (1 / (1 + m.abs(x))) ** 2, definition=lambda m, x: x / (1 + m.abs(x)),
    doc="x/(1 + |x|)", knot=lambda x: x == 0,
    near=lambda m, side, x, out: x / (1 + x) if side(x) > 0 else x / (1 - x), values="(-1, 1)", increasing=True,
    samples=(*_LINE, (1e100,)), **_LEARNING,
)  # fmt: skip
entry(
    "logaddexp", "x y", lambda m, x, y, out: m.softmax_weight(x, x, y), lambda m, x, y, out: m.softmax_weight(y, x, y),
    definition=lambda m, x, y: m.log(m.exp(x) + m.exp(y)),
    at_values=lambda m, x, y: m.max(x, y) + m.log1p(m.exp(-m.abs(x - y))), doc="log(exp(x) + exp(y))",
    samples=((1.0, 2.0), (800.0, 799.0), (-800.0, -750.0), (0.0, -50.0)), **_LEARNING,
)  # fmt: skip
entry(
    "logit", "x", lambda m, x, out: 1 / (x * (1 - x)), definition=lambda m, x: m.log(x / (1 - x)),
    doc="log(x/(1 - x)), the inverse of `sigmoid`", domain="0 < x < 1",
    increasing=True, samples=((1e-300,), (0.25,), (0.4999,), (0.999999999,)), **_LEARNING,
)  # fmt: skip
entry(
    "heaviside", "x", none_at_all, doc="0 below 0, 1 above, and 1/2 at 0", kink=lambda x: x == 0,
    definition=lambda m, x: (1 + m.sign(x)) / 2, convention="0 at 0", jumps=True, selects=True,
    near=lambda m, side, x, out: 1 if side(x) > 0 else 0, values="[0, 1]", samples=((-2.5,), (3.0,)), **_LEARNING,
)  # fmt: skip

# ---- special ------------------------------------------------------------------------------------------------------
_SPECIAL: Any = {"group": "Special"}
_GAMMA_POINTS = ((-2.5,), (-0.3,), (1e-10,), (0.5,), (1.0,), (3.75,), (20.5,), (150.0,))


entry(
    "erf", "x", lambda m, x, out: 2 / m.sqrt(m.pi) * m.exp_neg_square(x), doc="error function",
    source="DLMF 7.10.1", values="(-1, 1)", increasing=True,
    samples=(*_LINE, (1e-300,), (6.0,), (-26.0,)), family="erf", **_SPECIAL,
)  # fmt: skip
entry(
    "erfc", "x", lambda m, x, out: -2 / m.sqrt(m.pi) * m.exp_neg_square(x), doc="1 - erf(x), right for large `x` too",
    source="DLMF 7.10.1", values="(0, 2)", samples=(*_LINE, (1e-300,), (6.0,), (26.0,)), family="erf", **_SPECIAL,
)  # fmt: skip
entry(
    "erfinv", "x", lambda m, x, out: m.erfinv_slope(x, out), doc="inverse error function", domain="-1 < x < 1",
    increasing=True, samples=_UNIT, family="erfinv", **_SPECIAL,
)  # fmt: skip
GAMMA = entry(
    "gamma", "x", lambda m, x, out: m.gamma_slope(x, out), doc="gamma function, (x-1)! at whole `x`", domain=NO_POLE,
    source="DLMF 5.2.2", latex=r"\Gamma", samples=_GAMMA_POINTS, family="gamma", **_SPECIAL,
)  # fmt: skip
entry(
    "lgamma", "x", lambda m, x, out: m.digamma(x), aliases=("gammaln", "loggamma"), doc="log(|gamma(x)|)",
    domain=NO_POLE, source="DLMF 5.2.2", samples=(*_GAMMA_POINTS, (1e10,), (1e300,)), family="gamma", **_SPECIAL,
)  # fmt: skip
entry(
    "digamma", "x", lambda m, x, out: m.polygamma(1, x), aliases=("psi",), doc="derivative of lgamma",
    definition=lambda m, x: m.polygamma(0, x), for_reading=True, domain=NO_POLE, source="DLMF 5.2.2",
    samples=(*_GAMMA_POINTS, (1e10,), (1e300,)), family="gamma", **_SPECIAL,
)  # fmt: skip
entry(
    "trigamma", "x", lambda m, x, out: m.polygamma(2, x), definition=lambda m, x: m.polygamma(1, x), for_reading=True,
    doc="derivative of digamma", domain=NO_POLE, source="DLMF 5.15", values="(0, inf)",
    samples=(*_GAMMA_POINTS, (1e10,)),
    family="gamma", **_SPECIAL,
)  # fmt: skip
entry(
    "polygamma", "n x", None, lambda m, n, x, out: m.polygamma(n + 1, x), constant_params=("n",),
    doc="`n`-th derivative of digamma, `n` a fixed whole number up to 10000", domain=NO_POLE, source="DLMF 5.15",
    trouble=lambda n, x: ("orders above 10000 are not computed", "take a lower order") if n > 10000 else None,
    samples=((0.0, 2.5), (1.0, 0.5), (2.0, 3.75), (3.0, -1.5), (4.0, 20.5)), family="gamma", **_SPECIAL,
)  # fmt: skip
entry(
    "beta", "a b", lambda m, a, b, out: m.beta_slope(a, b),
    lambda m, a, b, out: m.beta_slope(b, a),
    definition=lambda m, a, b: m.gamma(a) * m.gamma(b) / m.gamma(a + b), for_reading=True, doc="beta function",
    domain="a and b are not 0, -1, -2, …", source="DLMF 5.12",
    samples=((0.5, 0.5), (2.0, 3.0), (30.5, 40.25), (5.0, 1e-5)), family="gamma", **_SPECIAL,
)  # fmt: skip


# ---- aggregates ---------------------------------------------------------------------------------------------------
_AGGREGATE: Any = {"group": "Aggregates"}
_LISTS = ((2.0,), (1.5, -2.25, 4.0), (0.5, 0.25, 8.0, -3.0))


entry(
    "sum", "*xs", lambda m, xs, out: [1] * len(xs), doc="sum of the arguments", samples=_LISTS, shows=True,
    infinite=True, **_AGGREGATE,
)  # fmt: skip
entry(
    "mean", "*xs", lambda m, xs, out: [1 / m.number(len(xs))] * len(xs),
    definition=lambda m, *xs: m.sum(*xs) / len(xs), doc="arithmetic mean of the arguments", samples=_LISTS,
    shows=True, infinite=True, **_AGGREGATE,
)  # fmt: skip
entry(
    "prod", "*xs", lambda m, xs, out: m.products_of_others(*xs), doc="product of the arguments", selects=True,
    product=True, by_output=lambda m, x, out: out / x, samples=(*_LISTS, (0.0, 2.0, 3.0)), shows=True, infinite=True,
    **_AGGREGATE,
)  # fmt: skip


def _first(m: Any, side: Side, xs: Sequence[Number], sign: int) -> Number:
    """The largest of the numbers near the point, or with the sign -1 the smallest."""
    best = xs[0]
    for x in xs[1:]:
        if x is not best and side(x - best) == sign:
            best = x
    return best


MIN = entry(
    "min", "*xs", _even_split, doc="the smallest argument", kink=lambda *xs: xs.count(min(xs)) > 1, selects=True,
    near=lambda m, side, *xs, out: _first(m, side, xs, -1),
    convention="an even split between the arguments that tie", latex=r"\min", samples=_LISTS, **_AGGREGATE,
)  # fmt: skip
MAX = entry(
    "max", "*xs", _even_split, doc="the largest argument", kink=lambda *xs: xs.count(max(xs)) > 1, selects=True,
    near=lambda m, side, *xs, out: _first(m, side, xs, 1),
    convention="an even split between the arguments that tie", latex=r"\max", samples=_LISTS, **_AGGREGATE,
)  # fmt: skip
entry(
    "hypot", "*xs", lambda m, xs, out: m.unit_vector(*xs),
    definition=lambda m, *xs: m.sqrt(m.sum(*[x * x for x in xs])), doc="length of the vector, sqrt(x1² + x2² + …)",
    kink=lambda *xs: all(x == 0 for x in xs), convention="0 at the origin",
    near=lambda m, side, *xs, out: side.length(xs), norm=True,
    samples=((3.0, 4.0), (1e-200, 1e-200), (1e200, 1e200, -1e200)), shows=True, infinite=True,
    **_AGGREGATE,
)  # fmt: skip
entry(
    "logsumexp", "*xs", lambda m, xs, out: m.softmax(*xs),
    definition=lambda m, *xs: m.log(m.sum(*[m.exp(x) for x in xs])), doc="log(exp(x1) + exp(x2) + …)",
    by_output=lambda m, x, out: m.exp(x - out),
    samples=(*_LISTS, (1000.0, 999.0, -1000.0)), **_AGGREGATE,
)  # fmt: skip
