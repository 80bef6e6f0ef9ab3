"""Accurate double-precision formulas on a number type, for this program and exported code."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial, reduce
from typing import Any

from ...table.primitive import ACCURATE, DEFINITIONS, OPERATIONS, Number
from ...table.primitives import by_name, functions_of
from . import special as doubles
from .special import (
    DIGAMMA_TAIL,
    digamma_one_plus,
    lgamma_one_plus,
    polygamma_tail,
    stirling_correction,
)
from .twofold import horner, two_product, two_sum
from .zeta import LEFT_END, MAX_ORDER, zeta_left, zeta_right

# The minimiser of gelu, as the sum of two doubles (mpmath.findroot, 60 digits).
GELU_SLOPE_ZERO = (-0.7517915246935645, 1.4956759177009883e-17)

# gelu_slope(zero + t)/t for |t| <= 0.45, highest power first (mpmath.chebyfit, 18 terms, relative
# error 3e-20).
GELU_SLOPE_SERIES = (
    -1.2694659128298344e-09, -3.376820512649965e-08, -1.652245138204433e-09,
    5.696394777043726e-07, 4.3285479556615925e-07, -7.74833140267088e-06,
    -1.1214381345904571e-05, 8.615946314567098e-05, 0.000186339746313297,
    -0.0007448268375921829, -0.0022395380680766807, 0.004539228379082832,
    0.01942167983818913, -0.014771522148243498, -0.1140082332972217,
    -0.018199676398671094, 0.388284982990552, 0.4314939923140469,
)  # fmt: skip

# The minimiser of silu, as the sum of two doubles (mpmath.findroot, 60 digits).
SILU_SLOPE_ZERO = (-1.2784645427610737, -1.0946994183093437e-16)

# silu_slope(zero + t)/t for |t| <= 0.3, highest power first (mpmath.chebyfit, 15 terms, relative
# error 1e-19).
SILU_SLOPE_SERIES = (
    -9.109206073779557e-08, -3.668666458969287e-08, 8.597562971878925e-07,
    2.34685455409697e-06, -2.942617209369802e-06, -2.9733598637627508e-05,
    -4.090534291519911e-05, 0.0001857072456834204, 0.000798521881850028,
    0.00012662741004203514, -0.006606589138356781, -0.015222655223187706,
    0.018874814223782312, 0.1466487969969469, 0.2178117057198001,
)  # fmt: skip

# Wichura, Algorithm AS241 (PPND16), Applied Statistics 37 (1988) 477-484: the normal quantile.
# Numerators and denominators in the centre, the middle and the far tail.
QUANTILE = (
    ((2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
      13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
     (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
      5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0)),
    ((7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
      3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
     (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
      0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0)),
    ((2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
      0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
     (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
      0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0)),
)  # fmt: skip


# erf(x)/x in x² for |x| <= 1/2, highest power first (mpmath.chebyfit, 10 terms, error 3e-20).
ERF_SERIES = (
    -1.462091340945175e-07, 1.637123442577e-06, -1.4923003368152099e-05, 0.00012055286202005714,
    -0.0008548326510724796, 0.0052239776220169365, -0.02686617064499972, 0.1128379167095487,
    -0.3761263890318375, 1.1283791670955126,
)  # fmt: skip

# (1 + 2x)·exp(x²)·erfc(x) in (x - 15/4)/(x + 15/4) for 1/2 <= x <= 28 (mpmath.chebyfit, 24 terms,
# error 2e-19).
#
# The variable and the factor are those of Shepherd and Laframboise, Mathematics of Computation 36
# (1981) 249-253.
ERFC_SERIES = (
    4.098912139147414e-10, -3.9164185786191914e-09, -4.176542757036172e-09, 3.7247243209845766e-08,
    2.410184457809074e-08, -2.5803482017531867e-07, -5.816100364703228e-08, 1.7517818286235622e-06,
    -9.728836753446274e-07, -1.1444463844195566e-05, 2.238391854126736e-05, 5.1649271214343186e-05,
    -0.00029015397972539697, 0.00029371361550813515, 0.0017556258323401742, -0.009746579549567915,
    0.02836227742153623, -0.05869339859044296, 0.09230432116019659, -0.1088039301417102,
    0.08227673849015109, 0.003585415485463716, -0.14024059858554702, 1.2375126308378275,
)  # fmt: skip

# |erfcx⁽ⁿ⁾(x)|·(1/2 + x)^(n+1) in (x - 15/4)/(x + 15/4) for x >= 0 and n = 0 … 3, highest power first.
#
# Interpolated with mpmath at 31 to 36 Chebyshev points, relative error 1e-19; |erfcx⁽ⁿ⁾(x)| is
# n!·U((n + 1)/2, 1/2, x²)/sqrt(π) (DLMF 7.18.4, 7.18.10). Variable and factor are as for
# `ERFC_SERIES`. The linear term of the first is 2 units in its last place lower, so that erfcx(0)
# is 1.
ERFCX_SERIES = (
    (
        -1.199163020784659e-12, 4.4137676199672187e-13, 1.5528229792431733e-11, -2.3017795825752123e-12,
        -1.1279289089587e-10, -1.442871558250799e-11, 6.549448383203213e-10, 2.7104657653956733e-10,
        -3.6165970314442295e-09, -2.201298584966025e-09, 2.0876712200310414e-08, 1.2159216030041153e-08,
        -1.3088417382307604e-07, -2.9146038499018013e-08, 8.768966134705351e-07, -4.864155480445701e-07,
        -5.722594377010399e-06, 1.1191952173612299e-05, 2.5824723392969873e-05, -0.00014507698858293706,
        0.00014685679369243364, 0.000877812916020341, -0.004873289773351506, 0.014181138710778862,
        -0.02934669929530778, 0.04615216058009786, -0.05440196507085241, 0.04113836924507555, 0.001792707742731825,
        -0.07012029929277354, 0.6187563154189137,
    ),
    (
        -1.820299615485087e-11, 1.7606560042396934e-12, 2.3026286673605354e-10, 2.3113632654994717e-11,
        -1.5920635687533232e-09, -5.714678431323379e-10, 8.537997331748275e-09, 5.551905916339036e-09,
        -4.2450049249108034e-08, -3.765411311987061e-08, 2.178059675796666e-07, 2.0273199730271582e-07,
        -1.2146364387292533e-06, -7.905508923676344e-07, 7.319671786813291e-06, -1.3335460899859266e-07,
        -4.412686450971061e-05, 5.077777095886943e-05, 0.000210279150178239, -0.0007068367486066419,
        0.00010291474777746178, 0.004670449453717675, -0.015795071296559493, 0.028467809352684635,
        -0.0267923030211058, -0.009079561027428433, 0.08240230578139889, -0.16070092140031955, 0.18245851781407216,
        -0.09804992760270331, -0.0815014079735727, 0.6584911516848188,
    ),
    (
        -2.8243298287250198e-11, -2.7209994228123086e-10, 1.7569138571777091e-10, 3.4305175503689456e-09,
        4.892390257709217e-10, -2.297571271009988e-08, -1.2934129258658441e-08, 1.1512983956106626e-07,
        1.0704755462577096e-07, -5.170337194952969e-07, -6.440997311614127e-07, 2.351268481665254e-06,
        3.2672573369119774e-06, -1.164746201591335e-05, -1.396737072825545e-05, 6.352129255153892e-05,
        3.836828243362695e-05, -0.0003578888448991885, 0.0001327538907173885, 0.001755991654252795,
        -0.0032933460271730073, -0.0036031084110426177, 0.025401875335016363, -0.04667411513788679,
        0.021678297366974922, 0.08658615979662003, -0.2312516832652257, 0.25939169363328524, -0.027938274183573975,
        -0.4033861274364792, 0.7171792606721548, -0.5677432596385983, -0.06274641906055804, 1.3631664345546621,
    ),
    (
        1.0574391584732301e-09, -6.612150900255661e-11, -1.363313830249105e-08, -1.8892234032588266e-09,
        9.104109199831589e-08, 3.7656328306690005e-08, -4.3538999675458276e-07, -3.381968632134009e-07,
        1.7498352106877986e-06, 2.1391164528436443e-06, -6.60712593357967e-06, -1.1182096157923948e-05,
        2.572987720723263e-05, 5.2110052710345685e-05, -0.00011143521155381915, -0.00021989995524743418,
        0.0005502495516485765, 0.0007760519402439417, -0.002927231696443309, -0.0013438797491850114,
        0.014561651401564906, -0.011135097278864615, -0.048255536856542096, 0.12876895601764007,
        -0.06429165168900158, -0.27604749543967017, 0.6557008553290599, -0.45990570597103797, -0.6276954751399506,
        1.8424538520275278, -1.6835747179162235, -0.413806167881634, 2.8607072167878944, -3.1010228395549926,
        0.44683691453399627, 4.125055607798303,
    ),
)  # fmt: skip

# W(x)/x in p - 1 for 0 <= p <= 2 and p = sqrt(2(1 + e·x)), highest power first.
#
# Interpolated with mpmath at 31 Chebyshev points, relative error 1e-19.
LAMBERT_SERIES = (
    6.155515862164638e-11, -1.476807388455961e-10, -1.2282747786877375e-10, 2.9510493288146555e-10,
    9.607617355578633e-10, -2.3030595289699913e-09, 2.0305557880199994e-09, -4.851845938911209e-09,
    1.6431306292266328e-08, -3.927401533682724e-08, 8.910371549269973e-08, -2.126596466782997e-07,
    5.104673994760688e-07, -1.2164366337353723e-06, 2.8943372721066555e-06, -6.883207539019879e-06,
    1.6349739940145297e-05, -3.8778371985568745e-05, 9.18193281998867e-05, -0.0002169742092529948,
    0.0005114841251304745, -0.0012021798531285485, 0.002815126397375516, -0.006560925073103385,
    0.015195323837639432, -0.03489134069657508, 0.07912722217479475, -0.17602001183713162,
    0.3787821417548168, -0.7617297923742375, 1.261070486830679,
)  # fmt: skip

# (1 + W(x))/p in p, for the branch 0 and with -p for the branch -1, highest power first.
#
# Corless, Gonnet, Hare, Jeffrey and Knuth, On the Lambert W function, Advances in Computational
# Mathematics 5 (1996), 329-359, (4.22) to (4.25).
LAMBERT_BRANCH = (
    -5.544203208567359e-06, 8.163531982496613e-06, -1.2040352739559977e-05, 1.7790345805079586e-05,
    -2.63380647472311e-05, 3.907668486743905e-05, -5.811360750441382e-05, 8.665035805208128e-05,
    -0.00012957426685274883, 0.00019438727605453933, -0.00029267722472962746, 0.0004424730618146209,
    -0.0006720616311561362, 0.0010262633205076071, -0.0015769303446867841, 0.0024408779911439826,
    -0.0038112980348919993, 0.006014543252956118, -0.009616892024299432, 0.01563563253233392,
    -0.02598471487360376, 0.044502314814814814, -0.07962962962962963, 0.1527777777777778,
    -0.3333333333333333, 1.0,
)  # fmt: skip

# The largest p for `LAMBERT_BRANCH`, whose 26 terms err by less than 1e-18 there.
MAX_BRANCH_OFFSET = 0.3

# e as the sum of two doubles.
E = (2.718281828459045, 1.4456468917292502e-16)

# Γ(x) in x - 3/2 for 1 <= x <= 2, highest power first (mpmath.chebyfit, 24 terms, error 9e-19).
GAMMA_SERIES = (
    -0.00011918060538282103, 0.00017877054902846353, -8.938401795176073e-05, 0.00013407432206073702,
    -0.000318425630316548, 0.0004776274435437428, -0.0006721864891915583, 0.0010082112193192704,
    -0.001522718358989335, 0.0022836521947962353, -0.003422726711413278, 0.0051315298230765775,
    -0.007690216677416653, 0.011522523362156005, -0.017222442878105718, 0.0258376061027181,
    -0.03800193556100107, 0.058610303826380196, -0.07752305229977173, 0.14464535904449782,
    -0.10729480456477264, 0.4148134536883018, 0.03233839744888502, 0.886226925452758,
)  # fmt: skip

# The highest derivative of erfcx that is written out.
MAX_ERFCX_ORDER = len(ERFCX_SERIES) - 1

SQRT_HALF_PI = 1.2533141373155003

# Where p is `MAX_BRANCH_OFFSET`.
BRANCH_SIDE = (MAX_BRANCH_OFFSET**2 / 2 - 1) / E[0]

# Recurrence steps that bring a number below `doubles.MIN_ASYMPTOTIC` to at most 2.
MAX_RECURRENCES = 8

# Terms before the asymptotic series of a polygamma, per unit of its order.
ASYMPTOTIC_SHIFT = 10

# The highest order of polygamma that is written out.
MAX_POLYGAMMA_ORDER = 6


class Lacking(Exception):
    """A target lacks a function that has no formula."""


def _half_exp_abs(m: Any, x: Number) -> Number:
    half = m.exp(m.abs(x) / 2)
    return half / 2 * half


def _sinh(m: Any, x: Number) -> Number:
    u = m.expm1(m.abs(x))
    near = m.sign(x) * ((u + u / (u + 1)) / 2)
    return m.where(m.gt(m.abs(x), 20), lambda: m.sign(x) * _half_exp_abs(m, x), near)


def _cosh(m: Any, x: Number) -> Number:
    e = m.exp(m.abs(x))
    return m.where(m.gt(m.abs(x), 20), lambda: _half_exp_abs(m, x), (e + 1 / e) / 2)


def _sqrt_square_minus_one(m: Any, x: Number) -> Number:
    size = m.abs(x)
    return m.where(m.gt(size, 1e9), size, lambda: m.sqrt((size - 1) * (size + 1)))


def _acsch(m: Any, x: Number) -> Number:
    tiny = m.lt(m.abs(x), 1e-300)
    return m.where(
        tiny, lambda: m.sign(x) * (math.log(2) - m.log(m.abs(x))), lambda: m.asinh(1 / x)
    )


def _asech(m: Any, x: Number) -> Number:
    tiny = m.lt(x, 1e-300)
    return m.where(
        tiny, lambda: math.log(2) - m.log(x), lambda: m.asinh(m.sqrt((1 - x) * (1 + x)) / x)
    )


def _cbrt(m: Any, x: Number) -> Number:
    # A Newton step corrects the error from the rounded exponent 1/3.
    def root() -> Number:
        y = m.pow(m.abs(x), 1 / 3)
        return m.sign(x) * (y - (y - m.abs(x) / (y * y)) / 3)

    return m.where(m.eq(x, 0), 0, root)


def _round(m: Any, x: Number) -> Number:
    low = m.floor(x)
    over, even = x - low, m.eq(m.floor(low / 2) * 2, low)
    return m.where(
        m.lt(over, 0.5), low, m.where(m.gt(over, 0.5), low + 1, m.where(even, low, low + 1))
    )


def _sinc(m: Any, x: Number) -> Number:
    return m.where(m.lt(m.abs(x), 1e-9), 1, lambda: _sin_pi(m, x) / x / math.pi)


def _sinc_derivative(m: Any, n: Number, x: Number) -> Number:
    if float(n) == 2:
        curve = lambda: -(math.pi * _sin_pi(m, x) + 2 * m.sinc_derivative(1, x)) / x  # noqa: E731
        return m.where(m.lt(m.abs(x), 1e-9), -(math.pi**2) / 3, curve)
    if float(n) != 1:
        return DEFINITIONS["sinc_derivative"](m, n, x)
    square = (math.pi * x) * (math.pi * x)
    terms = [(-1) ** k * 2 * k / math.factorial(2 * k + 1) for k in range(1, 14)]
    near = math.pi**2 * x * horner(tuple(terms[::-1]), square)
    return m.where(m.lt(m.abs(x), 0.75), near, lambda: (_cos_pi(m, x) - m.sinc(x)) / x)


def _sine_quotient(m: Any, n: Number, x: Number) -> Number:
    order = int(float(n))

    def far() -> Number:
        return DEFINITIONS["sine_quotient"](m, n, x)

    if order == 0:
        return far()
    # the power series, where the recurrence loses digits
    first = (order + 1) // 2
    terms = [
        (-1) ** k * math.perm(2 * k, order) / math.factorial(2 * k + 1)
        for k in range(first, first + 16 + order)
    ]
    near = horner(tuple(terms[::-1]), x * x)
    near = near * x if order % 2 else near
    return m.where(m.lt(m.abs(x), order + 1), near, far)


def _in_order(m: Any, a: Number, b: Number) -> tuple[Number, Number]:
    """Return the smaller and the larger of two numbers; where one is no number, that is one of
    them.

    The minimum and the maximum of C are both the other number then.
    """
    descending = m.gt(a, b)
    return m.where(descending, b, a), m.where(descending, a, b)


def _hypot(m: Any, *xs: Number) -> Number:
    if len(xs) == 1:
        return m.abs(xs[0])
    if len(xs) > 2:
        return m.hypot(m.hypot(*xs[:-1]), xs[-1])
    a, b = m.abs(xs[0]), m.abs(xs[1])
    small, large = _in_order(m, a, b)
    return m.where(
        m.eq(small + large, 0), 0, lambda: large * m.sqrt(1 + (small / large) * (small / large))
    )


def _exp_difference(m: Any, x: Number, y: Number) -> Number:
    high, low = two_sum(x, -y)
    power = m.exp(high)
    return m.where(m.lt(high, -750), 0, lambda: power + power * low)


def _extreme_value(name: str, better: str) -> Any:
    def extreme_value(m: Any, *xs: Number) -> Number:
        return (
            m.where(m.step(better, *xs), *xs) if len(xs) == 2 else reduce(partial(m.step, name), xs)
        )

    return extreme_value


def _compensated_exp(m: Any, x: Number) -> Number:
    # 2**(k/4) times e**rest
    x = m.where(m.lt(x, -746), -746, x)  # e**x is 0 below; a literal 0 would cut products
    k = m.floor(x * EXP_STEPS + 0.5)
    rest = (x - k * EXP_STEP[0]) - k * EXP_STEP[1]
    exponent = m.floor(k / 4)
    quarter = k - 4 * exponent
    lower, upper, (high, low) = m.eq(quarter, 0), m.eq(quarter, 1), zip(*EXP_POWERS, strict=True)

    def chosen(powers: tuple[float, ...]) -> Number:
        return m.where(
            lower, powers[0], m.where(upper, powers[1], m.where(m.eq(quarter, 2), *powers[2:]))
        )

    base = chosen(high)
    power = base + (base * m.expm1(rest) + chosen(low))
    half = m.floor(exponent / 2)  # 2**exponent may overflow or underflow
    return power * m.pow(2, half) * m.pow(2, exponent - half)


def _compensated_power(m: Any, x: Number, y: Number) -> Number | None:
    if y.name != "number" or y.data not in COMPENSATED_EXPONENTS:
        return None
    power, lost = x, m.zero
    for bit in bin(int(y.data))[3:]:
        square, error = two_product(power, power)
        power, lost = square, error if lost is m.zero else error + 2 * power * lost
        if bit == "1":
            product, error = two_product(power, x)
            power, lost = product, error + lost * x
    size = m.abs(x)
    exact = m.and_(m.gt(size, 1e-250 ** (1 / y.data)), m.lt(size, 1e280 ** (1 / y.data)))
    return m.where(exact, power + lost, lambda: m.native_step("pow", x, y))


def _expm1(m: Any, x: Number) -> Number:
    return m.where(
        m.lt(m.abs(x), 1), lambda: 2 * m.sinh(x / 2) * m.exp(x / 2), lambda: m.exp(x) - 1
    )


def _log1p(m: Any, x: Number) -> Number:
    # The last term corrects the rounding of 1 + x (Hewlett-Packard Journal 28 no. 9, 1977).
    total = 1 + x
    return m.log(total) - ((total - 1) - x) / total


def _tanh(m: Any, x: Number) -> Number:
    e = m.exp(-2 * m.abs(x))
    return m.where(
        m.lt(m.abs(x), 1), lambda: m.sinh(x) / m.cosh(x), lambda: m.sign(x) * ((1 - e) / (1 + e))
    )


def _asinh(m: Any, x: Number) -> Number:
    size = m.abs(x)
    near = lambda: m.log1p(size + size * (size / (1 + m.sqrt(1 + size * size))))  # noqa: E731
    return m.sign(x) * m.where(m.gt(size, 1e9), lambda: m.log(size) + math.log(2), near)


def _acosh(m: Any, x: Number) -> Number:
    above = x - 1
    # a root of the product is defined below -1 too
    near = lambda: m.log1p(above + m.sqrt(above) * m.sqrt(above + 2))  # noqa: E731
    return m.where(m.gt(x, 1e9), lambda: m.log(x) + math.log(2), near)


def _clamp(m: Any, x: Number, lo: Number, hi: Number) -> Number:
    kept = m.where(m.lt(x, lo), lo, m.where(m.gt(x, hi), hi, x))
    return m.where(m.le(lo, hi), kept, math.nan)


def _power_minus_one(m: Any, x: Number, y: Number, out: Number) -> Number:
    divisible = m.and_(m.gt(m.abs(out), 1e-300), m.ne(x, 0))
    return m.where(divisible, lambda: out / x, lambda: m.pow(x, y - 1))


def _exp_neg_square(m: Any, x: Number) -> Number:
    square, error = two_product(x, x)
    half = m.exp(-0.5 * square)
    return m.where(m.gt(m.abs(x), 28), 0, lambda: (half - half * error) * half)


def _gelu_slope(m: Any, x: Number) -> Number:
    offset = x - GELU_SLOPE_ZERO[0]
    near = (offset - GELU_SLOPE_ZERO[1]) * horner(GELU_SLOPE_SERIES, offset)
    far = m.normcdf(x) + x * m.normpdf(x)
    return m.where(m.le(m.abs(offset), 0.45), near, far)


def _silu_slope(m: Any, x: Number) -> Number:
    offset = x - SILU_SLOPE_ZERO[0]
    near = (offset - SILU_SLOPE_ZERO[1]) * horner(SILU_SLOPE_SERIES, offset)
    e = m.exp(-m.abs(x))
    below = ((1 + x) + e) * e / ((1 + e) * (1 + e))
    above = (1 + e + x * e) / ((1 + e) * (1 + e))
    return m.where(m.le(m.abs(offset), 0.3), near, m.where(m.ge(x, 0), above, below))


def _quantile(piece: int, x: Number) -> Number:
    numerator, denominator = QUANTILE[piece]
    return horner(numerator, x) / horner(denominator, x)


def _erfinv(m: Any, x: Number) -> Number:
    size = m.abs(x)
    r = 0.180625 - 0.25 * x * x
    centre = 0.5 * x * _quantile(0, r)

    def tail() -> Number:
        s = m.sqrt(-m.log(0.5 * (1 - size)))
        return m.sign(x) * m.where(m.le(s, 5), _quantile(1, s - 1.6), _quantile(2, s - 5))

    return m.where(m.le(size, 0.85), centre, tail) * doubles.SQRT_HALF[0]


def _erfinv_slope(m: Any, x: Number, out: Number) -> Number:
    size = m.abs(out)
    square, error = two_product(size, size)
    grown = m.exp(square)

    def tail() -> Number:
        return m.erfc(size) * (grown + grown * error) / (1 - m.abs(x))

    return doubles.SQRT_PI_OVER_2 * m.where(m.lt(size, 0.5), grown, tail)


# ---- the normal distribution
def _normpdf(m: Any, x: Number) -> Number:
    square, error = two_product(x, x)
    power = m.exp(-0.5 * square)
    return m.where(
        m.gt(m.abs(x), 40), 0, lambda: doubles.NORMAL_PEAK * (power - power * (0.5 * error))
    )


def _normcdf(m: Any, x: Number) -> Number:
    # For large |x| it is 0 or 1, and two_product overflows.
    ends = lambda: m.where(m.gt(x, 0), 1, 0)  # noqa: E731
    return m.where(m.gt(m.abs(x), 40), ends, lambda: _normal_tail(m, x, m.number(0)))


def _normal_tail(m: Any, x: Number, rest: Number) -> Number:
    """Return normcdf(x + rest) for |x| <= 40 and a tiny rest."""
    z, error = two_product(-x, m.number(doubles.SQRT_HALF[0]))
    error = error - x * doubles.SQRT_HALF[1] - rest * doubles.SQRT_HALF[0]
    return 0.5 * (m.erfc(z) - m.exp(-z * z) / doubles.SQRT_PI_OVER_2 * error)


def _standardized(m: Any, x: Number, mu: Number, sigma: Number) -> tuple[Number, Number, Number]:
    """Return (x - mu)/sigma, its rounding error where it is below 40, and whether it is not; nan if
    sigma <= 0.
    """
    # quarters, so that no difference overflows
    part = m.where(m.gt(sigma, 1), 0.25, 1)
    divisor = m.where(m.gt(sigma, 0), sigma * part, math.nan)
    difference, error = two_sum(x * part, -mu * part)
    z = difference / divisor
    # times a power of two, so that the product neither overflows nor underflows
    scale = m.where(m.gt(sigma, 1), 2.0**-500, 2.0**500)
    product, lost = two_product(z, divisor * scale)
    rest = ((difference * scale - product) - lost + error * scale) / (divisor * scale)
    return z, rest, m.gt(m.abs(z), 40)


def _normcdf_scaled(m: Any, x: Number, mu: Number, sigma: Number) -> Number:
    z, rest, is_far = _standardized(m, x, mu, sigma)
    return m.where(is_far, lambda: m.where(m.gt(z, 0), 1, 0), lambda: _normal_tail(m, z, rest))


def _normpdf_scaled(m: Any, x: Number, mu: Number, sigma: Number) -> Number:
    return _density_times(m, x, mu, sigma, lambda z, rest: m.number(1), m.number(1))


def _normcdf_by_sigma(m: Any, x: Number, mu: Number, sigma: Number) -> Number:
    return -_density_times(m, x, mu, sigma, lambda z, rest: z + rest, m.number(1))


def _normpdf_by_mu(m: Any, x: Number, mu: Number, sigma: Number) -> Number:
    return _density_times(m, x, mu, sigma, lambda z, rest: z + rest, sigma)


def _normpdf_by_sigma(m: Any, x: Number, mu: Number, sigma: Number) -> Number:
    return _density_times(m, x, mu, sigma, lambda z, rest: (z - 1) * (z + 1) + 2 * z * rest, sigma)


def _density_times(
    m: Any,
    x: Number,
    mu: Number,
    sigma: Number,
    factor: Callable[[Number, Number], Number],
    divisor: Number,
) -> Number:
    """Return the density times a `factor` of the standardized variable and its rounding error, over
    a divisor.

    The factor is within, as the density alone may be too small to have all digits.
    """
    z, rest, is_far = _standardized(m, x, mu, sigma)

    def near() -> Number:
        square, error = two_product(z, z)
        # its root is no subnormal number, which would have fewer digits
        root = m.exp(-0.25 * square)
        value = root - root * (0.5 * error + z * rest)
        return (doubles.NORMAL_PEAK * root / sigma) * (factor(z, rest) * value / divisor)

    return m.where(is_far, 0, near)


def _norminv(m: Any, p: Number) -> Number:
    q = p - 0.5
    size = m.min(p, 1 - p)

    def tail() -> Number:
        s = m.sqrt(-m.log(size))
        return m.sign(q) * m.where(m.le(s, 5), _quantile(1, s - 1.6), _quantile(2, s - 5))

    return m.where(m.le(m.abs(q), 0.425), lambda: q * _quantile(0, 0.180625 - q * q), tail)


def _norminv_scaled(m: Any, p: Number, mu: Number, sigma: Number) -> Number:
    return mu + m.where(m.gt(sigma, 0), sigma, math.nan) * m.norminv(p)


def _norminv_slope(m: Any, p: Number, out: Number) -> Number:
    # 1/density is (tail/density)/p: the ratio, unlike the density, is not steep
    return SQRT_HALF_PI * m.erfcx(m.abs(out) * doubles.SQRT_HALF[0]) / m.min(p, 1 - p)


def _erfcx(m: Any, x: Number) -> Number:
    return _erfcx_size(m, 0, x)


def _erfcx_derivative(m: Any, n: Number, x: Number) -> Number:
    order = int(float(n))
    if order > MAX_ERFCX_ORDER:
        raise Lacking(f"erfcx, derivative {order}")
    size = _erfcx_size(m, order, x)
    return -size if order % 2 else size


def _erfcx_size(m: Any, order: int, x: Number) -> Number:
    """Return the absolute value of a derivative of erfcx."""
    if order == 0:
        return _erfcx_value(m, x)
    return m.where(
        m.gt(x, 0.25), lambda: _erfcx_above(order, x), lambda: _erfcx_recurrence(m, order, x)
    )


def _erfcx_above(order: int, x: Number) -> Number:
    size = horner(ERFCX_SERIES[order], (x - 3.75) / (x + 3.75))
    for _ in range(order + 1):
        size = size / (0.5 + x)
    return size


def _erfcx_value(m: Any, x: Number) -> Number:
    def below() -> Number:
        # erfc(-x) = 2 - erfc(x); from 27 on it overflows
        near = m.min(-x, 30)
        square, error = two_product(near, near)
        power = m.exp(square)
        return 2 * (power + power * error) - _erfcx_above(0, -x)

    return m.where(m.ge(x, 0), lambda: _erfcx_above(0, x), below)


def _erfcx_recurrence(m: Any, order: int, x: Number) -> Number:
    # DLMF 7.18.7: below 0 its terms are positive, and near 0 they hardly cancel
    sizes = [_erfcx_value(m, x)]
    for n in range(1, order + 1):
        before = 2 * (n - 1) * sizes[-2] if n > 1 else 1 / doubles.SQRT_PI_OVER_2
        sizes.append(before - 2 * x * sizes[-1])
    return sizes[-1]


# ---- the Lambert W function
def _branch_offset(m: Any, x: Number) -> Number:
    product, error = two_product(x, m.number(E[0]))
    return m.sqrt(2 * ((product + 1) + (error + x * E[1])))


def _from_branch_point(m: Any, p: Number) -> Number:
    return p * horner(LAMBERT_BRANCH, p)


def _lambertw(m: Any, x: Number) -> Number:
    def far() -> Number:
        # Iacono and Boyd, Advances in Computational Mathematics 43 (2017), 1403-1436, (20)
        size = m.log1p(x)
        w = size * (1 - m.log1p(size) / (2 + size))
        for _ in range(2):
            w = _lambert_step(w, m.log(x / w) - w)
        return w

    return m.where(m.gt(x, 0.36), far, lambda: x * horner(LAMBERT_SERIES, _branch_offset(m, x) - 1))


def _lambert_step(w: Number, z: Number) -> Number:
    # Fritsch, Shafer and Crowley, Algorithm 443, Communications of the ACM 16 (1973), 123-124
    q = 2 * (1 + w) * (1 + w + 2 / 3 * z)
    return w + w * (z / (1 + w) * (q - z) / (q - 2 * z))


def _lambertw_minus_one(m: Any, x: Number) -> Number:
    p = _branch_offset(m, x)

    def far() -> Number:
        # Barry, Culligan-Hensley and Barry, ACM Transactions on Mathematical Software 21 (1995),
        # 161-171
        size = m.log(-x)
        root = m.sqrt(-1 - size)
        bent = 1 + 0.3361 * root * math.sqrt(0.5) / (
            1 - 0.0042 * root * root * m.exp(-0.0201 * root)
        )
        w = size - 2 / 0.3361 * (1 - 1 / bent)
        for _ in range(2):
            w = _lambert_step(w, size - m.log(-w) - w)
        return w

    return m.where(m.lt(p, MAX_BRANCH_OFFSET), lambda: _from_branch_point(m, -p) - 1, far)


def _lambertw_slope(m: Any, x: Number, out: Number) -> Number:
    def near() -> Number:
        p = _branch_offset(m, x)
        return out / x / _from_branch_point(m, m.where(m.gt(out, -1), p, -p))

    def far() -> Number:
        return m.where(m.eq(x, 0), 1, lambda: out / x / (1 + out))

    return m.where(m.lt(x, BRANCH_SIDE), near, far)


# ---- gamma and error functions, without loops
# digits are lost only near zeros of lgamma, digamma … at negative numbers, where the terms of a
# reflection cancel
def _erf_near(x: Number) -> Number:
    return x * horner(ERF_SERIES, x * x)


def _erfc_far(m: Any, x: Number) -> Number:
    return m.exp_neg_square(x) * (horner(ERFC_SERIES, (x - 3.75) / (x + 3.75)) / (1 + 2 * x))


def _erf(m: Any, x: Number) -> Number:
    far = m.abs(x)
    return m.where(
        m.lt(far, 0.5), lambda: _erf_near(x), lambda: m.sign(x) * (1 - _erfc_far(m, far))
    )


def _erfc(m: Any, x: Number) -> Number:
    def far() -> Number:
        tail = _erfc_far(m, m.abs(x))
        return m.where(m.gt(x, 0), tail, 2 - tail)

    return m.where(m.lt(m.abs(x), 0.5), lambda: 1 - _erf_near(x), far)


def _sin_pi(m: Any, x: Number) -> Number:
    rest = x - 2 * m.floor(x / 2 + 0.5)
    size = m.abs(rest)
    folded = m.where(m.gt(size, 0.5), 1 - size, size)
    value = m.where(m.le(folded, 0.25), m.sin(math.pi * folded), m.cos(math.pi * (0.5 - folded)))
    return m.sign(rest) * value


def _cos_pi(m: Any, x: Number) -> Number:
    size = m.abs(x - 2 * m.floor(x / 2 + 0.5))
    low, high = m.cos(math.pi * size), -m.cos(math.pi * (1 - size))
    return m.where(
        m.lt(size, 0.25), low, m.where(m.gt(size, 0.75), high, m.sin(math.pi * (0.5 - size)))
    )


def _cotangent(m: Any, x: Number) -> Number:
    rest = x - m.floor(x + 0.5)
    from_half = rest - 0.5 * m.sign(rest)
    return m.where(
        m.gt(m.abs(rest), 0.25), -m.tan(math.pi * from_half), lambda: 1 / m.tan(math.pi * rest)
    )


def _lower(m: Any, x: Number) -> tuple[Number, list[tuple[Number, Number]]]:
    steps = []
    for _ in range(MAX_RECURRENCES):
        above = m.gt(x, 2)
        x = m.where(above, x - 1, x)
        steps.append((above, x))
    return x, steps


def _lower_product(m: Any, x: Number) -> tuple[Number, Number]:
    low, steps = _lower(m, x)
    product = m.number(1)
    for above, y in steps:
        product = product * m.where(above, y, 1)
    return low, product


def _gamma(m: Any, x: Number) -> Number:
    size = m.abs(x)

    def large() -> Number:
        root = m.pow(size, 0.5 * size - 0.25)
        rest = m.exp(stirling_correction(size)) * math.sqrt(2 * math.pi)
        second = root * m.exp(-size) * rest
        return m.where(m.gt(x, 0), lambda: root * second, lambda: reflected(root, second))

    def reflected(*factors: Number) -> Number:
        # DLMF 5.5.3, written for Γ(-x); the product of the factors may overflow.
        value = -math.pi / (x * _sin_pi(m, x))
        for factor in factors:
            value = value / factor
        return value

    def above_one() -> Number:
        low, product = _lower_product(m, size)
        return product * horner(GAMMA_SERIES, low - 1.5)

    def moderate() -> Number:
        value = m.where(m.lt(size, 1), lambda: horner(GAMMA_SERIES, size - 0.5) / size, above_one)
        return m.where(m.gt(x, 0), value, lambda: reflected(value))

    return m.where(m.lt(size, doubles.MIN_ASYMPTOTIC), moderate, large)


def _lgamma_positive(m: Any, x: Number) -> Number:
    def moderate() -> Number:
        low, product = _lower_product(m, x)
        return m.log(product) + lgamma_one_plus(low - 1)

    def large() -> Number:
        return (x - 0.5) * (m.log(x) - 1) + (doubles.HALF_LN_2PI - 0.5) + stirling_correction(x)

    above = lambda: m.where(m.lt(x, doubles.MIN_ASYMPTOTIC), moderate, large)  # noqa: E731
    return m.where(m.lt(x, 1), lambda: lgamma_one_plus(x) - m.log(x), above)


def _lgamma(m: Any, x: Number) -> Number:
    def below() -> Number:
        near = lambda: lgamma_one_plus(1 + x) - m.log1p(x) - m.log(-x)  # noqa: E731
        mirrored = lambda: m.log(math.pi / (-x * m.abs(_sin_pi(m, x)))) - _lgamma_positive(m, -x)  # noqa: E731
        return m.where(m.gt(x, -0.5), near, mirrored)

    return m.where(m.gt(x, 0), lambda: _lgamma_positive(m, x), below)


def _digamma_positive(m: Any, x: Number) -> Number:
    def moderate() -> Number:
        low, steps = _lower(m, x)
        total = m.number(0)
        for above, y in steps:
            total = total + m.where(above, 1 / y, 0)
        return digamma_one_plus(low - 1) + total

    def large() -> Number:
        square = 1 / x / x
        return m.log(x) - 0.5 / x + square * horner(DIGAMMA_TAIL, square)

    above = lambda: m.where(m.lt(x, doubles.MIN_ASYMPTOTIC), moderate, large)  # noqa: E731
    return m.where(m.lt(x, 1), lambda: digamma_one_plus(x) - 1 / x, above)


def _digamma(m: Any, x: Number) -> Number:
    def below() -> Number:
        # DLMF 5.5.4, with ψ(1 - x) = ψ(-x) - 1/x
        mirror = m.where(
            m.gt(x, -1), lambda: digamma_one_plus(-x), lambda: _digamma_positive(m, -x) - 1 / x
        )
        return mirror - math.pi * _cotangent(m, x)

    return m.where(m.gt(x, 0), lambda: _digamma_positive(m, x), below)


def _polygamma_sum(order: int, x: Number) -> Number:
    count = ASYMPTOTIC_SHIFT * order
    far = x + count
    square = 1 / far / far
    last = _inverse_power(far, order)
    total = _inverse_power(x + (count - 1), order + 1)
    for k in range(count - 2, -1, -1):
        total = total + _inverse_power(x + k, order + 1)
    tail = last / far * (0.5 + horner(polygamma_tail(order), square) / far)
    return math.factorial(order) * (last / order + (tail + total))


def _inverse_power(x: Number, exponent: int) -> Number:
    value = 1 / x
    for _ in range(exponent - 1):
        value = value / x
    return value


def _polygamma(m: Any, n: Number, x: Number) -> Number:
    order = int(float(n))
    if order == 0:
        return m.digamma(x)
    if order > MAX_POLYGAMMA_ORDER:
        raise Lacking(f"polygamma({order}, …)")
    sign = 1 if order % 2 else -1

    def below() -> Number:
        # DLMF 5.15.6
        wave = math.pi ** (order + 1) * horner(_cotangent_polynomial(order), _cotangent(m, x))
        return -wave - _polygamma_sum(order, 1 - x)

    return m.where(m.gt(x, 0), lambda: sign * _polygamma_sum(order, x), below)


@lru_cache(256)
def _cotangent_polynomial(order: int) -> tuple[float, ...]:
    # the derivative of cot as a polynomial in cot, from cot' = -(1 + cot²)
    polynomial = [0, 1]
    for _ in range(order):
        slope = [0] * (len(polynomial) + 1)
        for k, coefficient in enumerate(polynomial):
            slope[k - 1] -= k * coefficient
            slope[k + 1] -= k * coefficient
        polynomial = slope
    return tuple(map(float, reversed(polynomial)))


def _polygamma_difference(m: Any, n: Number, a: Number, b: Number) -> Number:
    def plain() -> Number:
        return m.polygamma(n, a) - m.polygamma(n, a + b)

    if float(n) != 0:
        return plain()

    def near() -> Number:
        # DLMF 5.5.4: below 0, reflect, and subtract two cotangents
        positive = m.gt(a, 0)
        mirrored = _digamma_difference(m, m.where(positive, a, 1 - a), m.where(positive, b, -b))
        waves = lambda: math.pi * _sin_pi(m, b) / _sin_pi(m, a) / _sin_pi(m, a + b)  # noqa: E731
        return mirrored - m.where(positive, 0, waves)

    size = m.abs(b)
    return m.where(m.or_(m.lt(size, 0.5 * a), m.lt(size, -0.5 * a)), near, plain)


def _digamma_difference(m: Any, a: Number, b: Number) -> Number:
    # a > 0, |b| < a/2; ψ(x) = -Σ 1/(x + k) + ψ(x + ASYMPTOTIC_SHIFT); the factor b of each
    # difference is taken out
    x, y = a + ASYMPTOTIC_SHIFT, a + ASYMPTOTIC_SHIFT + b
    total = 0.5 / x / y
    for k in range(ASYMPTOTIC_SHIFT):
        total = total + 1 / (a + k) / (a + k + b)
    p, q = 1 / x / x, 1 / y / y
    quotient, value = m.number(0), m.number(0)
    for coefficient in DIGAMMA_TAIL:
        quotient, value = quotient * p + value, value * q + coefficient
    # The tail is p·P(p) for a polynomial P: p·P(p) - q·P(q) = (p - q)·(P(q) + p·(P(p) - P(q))/(p -
    # q))
    tail = (1 / x + 1 / y) / x / y * (value + p * quotient)
    return -(m.log1p(b / x) + b * (total - tail))


def _gamma_density(m: Any, a: Number, x: Number) -> Number:
    def large() -> Number:
        # DLMF 5.11.1; the powers of x and of a cancel
        excess = (x - a) / a
        decay = m.exp(a * (m.log1p(excess) - excess) - stirling_correction(a))
        return m.where(m.eq(x, 0), 0, lambda: m.sqrt(a / (2 * math.pi)) * decay / x)

    near = lambda: m.pow(x, a - 1) * m.exp(-x) / m.gamma(a)  # noqa: E731
    return m.where(m.lt(a, doubles.MIN_ASYMPTOTIC), near, large)


def _beta(m: Any, a: Number, b: Number) -> Number:
    return _beta_by_reflection(m, a, b, _waves_of_sum(m, a, b)[0])


def _beta_slope(m: Any, a: Number, b: Number) -> Number:
    """Return beta·(ψ(a) - ψ(a + b))."""
    total = a + b
    below, positive = m.le(total, 0), m.gt(a, 0)
    wave, other_wave = _waves_of_sum(m, a, b)
    # ψ is taken at positive numbers (DLMF 5.5.4): where a + b <= 0, its poles there cancel the
    # zeros of beta
    start, end = m.where(positive, a, 1 - a), m.where(below, 1 - total, total)
    plain, mirrored = m.where(below, (1 - total) - a, b), m.where(below, -b, (total - 1) + a)
    step = m.where(positive, plain, mirrored)

    def far() -> Number:
        return _digamma_positive(m, start) - _digamma_positive(m, end)

    def near() -> Number:
        return _digamma_difference(m, start, step)

    is_near = m.lt(m.abs(step), 0.5 * start)
    difference = m.where(is_near, near, far)

    def reflected() -> Number:
        def ratio() -> Number:
            return -math.pi * _sin_pi(m, b) / _sin_pi(m, a)

        rest = m.where(positive, math.pi * other_wave, ratio)
        return _beta_by_reflection(m, a, b, wave * difference + rest)

    def direct() -> Number:
        shift = m.where(positive, 0, lambda: math.pi * _cotangent(m, a))
        return _beta_by_reflection(m, a, b, wave) * (difference - shift)

    return m.where(below, reflected, direct)


def _waves_of_sum(m: Any, a: Number, b: Number) -> tuple[Number, Number]:
    """Return sin(π(a + b)) and cos(π(a + b)), without the rounding error of a + b."""
    total, error = two_sum(a, b)
    sine, cosine = _sin_pi(m, total), _cos_pi(m, total)
    small_sine, small_cosine = m.sin(math.pi * error), m.cos(math.pi * error)
    return sine * small_cosine + cosine * small_sine, cosine * small_cosine - sine * small_sine


def _beta_by_reflection(m: Any, a: Number, b: Number, wave: Number) -> Number:
    """Return beta(a, b), where a + b <= 1/2 times `wave`/sin(π(a + b))."""
    low, high = _in_order(m, a, b)
    total, error = two_sum(a, b)
    positive, upper, negative = m.gt(low, 0), m.gt(total, 0.5), m.le(high, 0)
    mixed = m.and_(m.and_(m.le(low, 0), m.gt(high, 0)), m.le(total, 0.5))
    # DLMF 5.5.3 leads to beta(p, q) of positive numbers
    rest, rest_error = two_sum(1, -m.where(mixed, total, low))
    p = m.where(positive, low, rest)
    p_error = m.where(positive, 0, m.where(mixed, rest_error - error, rest_error))
    mirror, mirror_error = two_sum(1, -high)
    q = m.where(negative, mirror, m.where(m.or_(positive, mixed), high, total))
    q_error = m.where(negative, mirror_error, m.where(m.or_(positive, mixed), 0, error))

    def defined() -> Number:
        value = _beta_positive(m, p, p_error, q, q_error)

        def reflected() -> Number:
            sine = _sin_pi(m, low)

            def above() -> Number:
                return math.pi / sine / high / value

            def both() -> Number:
                ratio = math.pi / _sin_pi(m, high)
                return wave / sine * ratio / (1 - total) / value

            def one() -> Number:
                return wave / sine * value

            def below() -> Number:
                return m.where(negative, both, one)

            return m.where(upper, above, below)

        return m.where(positive, value, reflected)

    return m.where(m.or_(_is_pole(m, a), _is_pole(m, b)), math.nan, defined)


def _is_pole(m: Any, x: Number) -> Any:
    return m.and_(m.le(x, 0), m.eq(m.floor(x), x))


def _beta_positive(m: Any, p: Number, p_error: Number, q: Number, q_error: Number) -> Number:
    """Return beta(p + p_error, q + q_error) to first order in the errors, of which p and q below
    1/2 have none.
    """
    total, error = two_sum(p, q)

    def digamma(x: Number) -> Number:
        return m.log(x) - 0.5 / x  # enough digits for a factor of a rounding error

    def near() -> Number:
        value = m.gamma(p) / m.gamma(total) * m.gamma(q)
        return value - value * (error * digamma(total))

    value = m.where(m.lt(total, doubles.MAX_MODERATE), near, lambda: _beta_large(m, p, q, total))
    of_total = digamma(total)
    return value + value * (p_error * (digamma(p) - of_total) + q_error * (digamma(q) - of_total))


def _beta_large(m: Any, a: Number, b: Number, total: Number) -> Number:
    # DLMF 5.11.1 for Γ(q)/Γ(p + q), whose logarithms cancel; p is the smaller number.
    p, q = _in_order(m, a, b)
    ratio = (q - 0.5) * m.log1p(p / q)
    rest = stirling_correction(q) - stirling_correction(total)

    def near() -> Number:
        power = m.pow(total, -p)
        return m.gamma(p) * (power * m.exp((p - ratio) + rest))

    def far() -> Number:
        # no factor is infinite where others are 0
        decay = m.exp((stirling_correction(p) + rest) - ratio)
        return m.sqrt(2 * math.pi / p) * m.pow(p / total, p) * decay

    return m.where(m.lt(p, doubles.MIN_ASYMPTOTIC), near, far)


# ---- the zeta function
def _zeta(m: Any, s: Number) -> Number:
    return _zeta_of_order(m, 0, s)


def _zeta_derivative(m: Any, n: Number, s: Number) -> Number:
    order = int(float(n))
    if order > MAX_ORDER:
        raise Lacking(f"zeta_derivative({order}, …)")
    return _zeta_of_order(m, order, s)


def _zeta_of_order(m: Any, order: int, s: Number) -> Number:
    def left() -> Number:
        return zeta_left(
            m, order, s, _sin_pi(m, s / 2), _cos_pi(m, s / 2) if order else m.number(0)
        )

    return m.where(m.lt(s, LEFT_END), left, lambda: zeta_right(m, order, s))


# ---- the table of formulas
def _switch_at_1e9(near: Any, far: Any) -> Any:
    def function(m: Any, x: Number) -> Number:
        return m.where(m.gt(m.abs(x), 1e9), lambda: far(m, x), lambda: near(m, x))

    return function


# log(2)/4 as the sum of two doubles, the first of 32 bits.
EXP_STEP = 0.17328679515048862, -1.0502287681702711e-11
EXP_STEPS = 5.7707801635558535
# 2**(k/4) as the sum of two doubles, k = 0 … 3.
EXP_POWERS = (
    (1.0, 0.0), (1.189207115002721, 3.982015231465646e-17),
    (1.4142135623730951, -9.667293313452913e-17), (1.681792830507429, 8.199010020581497e-17),
)  # fmt: skip

COMPENSATED_EXPONENTS = range(3, 9)

# Replacements for library functions that err by an ulp in one case of ten; None if they are not
# better.
COMPENSATED: dict[str, Any] = by_name({
    "exp": _compensated_exp, "pow": _compensated_power,
    "polygamma": lambda m, n, x: _polygamma(m, n, x) if float(n) <= MAX_POLYGAMMA_ORDER else None,
})  # fmt: skip

# Formulas by operation: from above, and short ones.
FORMULAS: dict[str, Any] = functions_of(globals()) | by_name({
    "sign": lambda m, x: m.where(m.gt(x, 0), 1, m.where(m.lt(x, 0), -1, 0)),
    "heaviside": lambda m, x: m.where(m.gt(x, 0), 1, m.where(m.lt(x, 0), 0, 0.5)),
    "asin": lambda m, x: m.atan2(x, m.sqrt((1 - x) * (1 + x))),
    "acos": lambda m, x: 2 * m.atan2(m.sqrt(1 - x), m.sqrt(1 + x)),
    "atanh": lambda m, x: m.sign(x) * (0.5 * m.log1p(2 * m.abs(x) / (1 - m.abs(x)))),
    "acot": lambda m, x: x / m.abs(x) * m.atan2(1, m.abs(x)),
    "asec": lambda m, x: m.atan2(_sqrt_square_minus_one(m, x), m.sign(x)),
    "acsc": lambda m, x: m.sign(x) * m.atan2(1, _sqrt_square_minus_one(m, x)),
    "max": _extreme_value("max", "ge"),
    "min": _extreme_value("min", "le"),
    "trigamma": lambda m, x: m.polygamma(1, x),
    "recip_one_plus_square": _switch_at_1e9(lambda m, x: 1 / (1 + x * x), lambda m, x: 1 / x / x),
    "recip_one_minus_square": _switch_at_1e9(lambda m, x: 1 / ((1 - x) * (1 + x)), lambda m, x: -1 / x / x),
    "recip_sqrt_square_minus_one": lambda m, x: 1 / _sqrt_square_minus_one(m, x),
})  # fmt: skip


def formula(name: str) -> Any:
    """Return the formula of an operation; None without a short accurate one."""
    definition = FORMULAS.get(name) or ACCURATE.get(name)
    return definition or (None if OPERATIONS[name].for_reading else DEFINITIONS.get(name))
