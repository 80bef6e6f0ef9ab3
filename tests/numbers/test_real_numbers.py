"""Every function on floats against 50-digit arithmetic, over its whole domain, and its errors
outside.
"""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from autodiff_cli.engine.numbers.floats import REAL
from autodiff_cli.engine.table.primitive import OPERATIONS
from reference import REFERENCE, REFERENCE_PARTIALS

Sampler = Callable[[random.Random], float]

TINY, MIN, EPS, MAX = 5e-324, 2.2250738585072014e-308, 2.0**-52, sys.float_info.max
SPECIAL = {
    "erf", "erfc", "erfinv", "erfinv_slope", "gelu", "gelu_slope", "logit", "gamma", "gamma_slope",
    "lgamma", "digamma", "trigamma", "polygamma", "beta", "beta_slope", "polygamma_difference",
    "erfcx", "erfcx_derivative", "normcdf", "norminv", "norminv_slope", "normpdf_scaled",
    "normcdf_scaled", "normpdf_by_mu", "normpdf_by_sigma", "normcdf_by_sigma", "gamma_density",
    "gamma_density_derivative", "gammainc", "gammaincc", "gammainc_derivative", "beta_density",
    "beta_density_derivative", "betainc", "betainc_derivative", "zeta", "zeta_derivative",
    "faddeeva_re", "faddeeva_im",
    *(f"bessel{kind}{form}" for kind in "jyik" for form in ("", "_slope", "_derivative")),
    "norminv_scaled", "lambertw", "lambertw_minus_one", "lambertw_branch", "lambertw_slope",
}  # fmt: skip
"""Right to 16 ulp; all others to 4."""

ILL_CONDITIONED = 100.0
"""From this condition number on, an error of that many ulps is allowed, and one ulp more for the
result's rounding.
"""


# ---- measuring ----------------------------------------------------------------------------------------------------
def ulps(got: float, true: mpmath.mpf) -> float:
    """The error of a result in units of the last place of the true value."""
    try:
        unit = math.ulp(float(true))
    except OverflowError:
        unit = math.inf
    if math.isinf(unit):
        return 0.0 if math.isinf(got) else math.inf
    return float(abs(mpmath.mpf(got) - true) / unit)


def parts(result: Any) -> list[Any]:
    """The results of a function that returns several, or the one of another, in a list."""
    return result if isinstance(result, list) else [result]


def condition(name: str, inputs: tuple[float, ...], part: int) -> float:
    """By how much a relative change of an input may be magnified, at most, by difference quotients
    of the reference.
    """
    with mpmath.workdps(90):
        value = parts(REFERENCE[name](*inputs))[part]
        worst = 0.0
        for k, x in enumerate(inputs):
            step = mpmath.mpf(x) * mpmath.mpf(10) ** -30
            try:
                moved = parts(REFERENCE[name](*inputs[:k], mpmath.mpf(x) + step, *inputs[k + 1 :]))[
                    part
                ]
            except (ValueError, ZeroDivisionError):
                continue
            worst = (
                max(worst, float(abs((mpmath.re(moved) - value) / value) * mpmath.mpf(10) ** 30))
                if value
                else 0.0
            )
    return worst


def complaint(function: Callable[..., Any], name: str, inputs: tuple[float, ...]) -> str | None:
    """What is wrong with a function at a point, None where it is as accurate as it has to be."""
    truth = parts(REFERENCE[name](*inputs))
    try:
        results = parts(function(*inputs))
    except OverflowError:
        results = [math.inf]
    for part, (got, true) in enumerate(zip(results, truth, strict=True)):
        error = ulps(got, true)
        if error <= (16 if name in SPECIAL else 4):
            continue
        magnified = condition(name, inputs, part)
        if magnified <= ILL_CONDITIONED or error > magnified + 1:
            should = mpmath.nstr(true, 20)
            return (
                f"{name}{inputs} = {got!r}, not {should}: off by {error:.4g} ulp, condition"
                f" {magnified:.3g}"
            )
    return None


# ---- where --------------------------------------------------------------------------------------------------------
def log_uniform(low: float, high: float) -> Sampler:
    """Positive numbers whose decimal logarithms are spread evenly."""
    return lambda rng: 10 ** rng.uniform(low, high)


def signed(sampler: Sampler) -> Sampler:
    """The same on both sides of 0."""
    return lambda rng: math.copysign(sampler(rng), rng.uniform(-1, 1))


def mixed(*samplers: Sampler) -> Sampler:
    """One of several, chosen at random."""
    return lambda rng: rng.choice(samplers)(rng)


def uniform(low: float, high: float) -> Sampler:
    """Numbers spread evenly between two bounds."""
    return lambda rng: rng.uniform(low, high)


SCALES = log_uniform(-323, 308)
COMMON = log_uniform(-3, 3)
POSITIVE = mixed(
    SCALES, COMMON, lambda rng: 1 + math.copysign(10 ** rng.uniform(-15, -1), rng.uniform(-1, 1))
)
LINE = signed(POSITIVE)
STEEP = mixed(signed(log_uniform(-323, 2.9)), uniform(-40, 40), uniform(-750, 750))
ABOVE_ONE = mixed(lambda rng: 1 + 10 ** rng.uniform(-15, 0), log_uniform(0, 308), log_uniform(0, 2))
INSIDE = mixed(
    lambda rng: 1 - 10 ** rng.uniform(-15, -0.1), log_uniform(-323, -0.001), uniform(0.05, 0.999)
)


def NEAR_INTEGERS(rng: random.Random) -> float:
    return rng.randint(-60, 60) + math.copysign(10 ** rng.uniform(-12, -0.31), rng.uniform(-1, 1))


GAMMA_LINE = mixed(log_uniform(-300, 308), uniform(0, 5), uniform(-5, 0), uniform(-40, 40), NEAR_INTEGERS,
                   lambda rng: -(10 ** rng.uniform(-300, 6)))  # fmt: skip
BETA_SIDE = mixed(log_uniform(-300, 300), uniform(0, 5), uniform(0, 300), log_uniform(-3, 6))

EXTREMES = [
    TINY, 3e-320, MIN, 1e-300, 1e-160, 1e-20, EPS, 1e-8, 0.1, 0.5, 1.0, 1.5, 2.0, 3.0, 10.0, 1e3,
    1e8, 1e16, 1e100, 1e154, 1.4e154, 1e160, 1e200, 1e300, MAX,
]  # fmt: skip
ALL_EXTREMES = [*EXTREMES, *(-x for x in EXTREMES), 1 - EPS / 2, 1 + EPS, EPS / 2 - 1, -1 - EPS]
UNIT_EXTREMES = [x for x in ALL_EXTREMES if abs(x) < 1]
STEEP_EXTREMES = [x for x in ALL_EXTREMES if abs(x) < 800] + [
    s * x
    for s in (1, -1)
    for x in (0.0, 17.5, 18.5, 36.0, 37.5, 299.5, 355.0, 699.5, 707.9, 709.7, 720.3, 744.4, 750.0)
]
NORMAL_EXTREMES = [
    s * x for s in (1, -1) for x in (
        0.0, 0.3, 0.47, 0.75, 0.84, 1.25, 5.9, 6.1, 9.3, 10.0, 20.1, 25.9, 26.4, 26.9, 27.2, 29.9, 30.1, 37.2, 37.7,
        38.3, 38.5, 40.5,
    )
]  # fmt: skip
GAMMA_EXTREMES = [
    1e-300, 1e-10, 0.1, 0.4616, 0.5, 0.99, 1 - EPS, 1.0, 1 + EPS, 1.0001, 1.4616321449683622, 1.5,
    1.99, 2 - EPS, 2.0, 2 + 2 * EPS, 2.01, 2.5, 3.0, 7.5, 9.99, 10.0, 10.01, 20.5, 100.0, 150.0,
    170.5, 171.6, 180.0, 1e5, 1e10, 1e16, 1e100, 1e300, 2.5e305, 1e306, -1e-300, -1e-12, -1e-8,
    -0.1, -0.4999, -0.5, -0.504083, -0.9999999, -1.0000001, -1.5, -1.573498, -2.4570247382208, -2.5,
    -2.747682646727412, -3.955294284858597, -9.702672, -19.5, -20.999999999, -50.5, -100.25, -150.5,
    -170.5, -177.3, -183.5, -1000.5, -123456.75,
]  # fmt: skip
NEAR_BRANCH = [-0.3678794411714423, -0.36787944117144, -0.367879441, -0.36787, -0.367, -0.36]
ABOVE_BRANCH = lambda rng: -0.3678794411714423 + 10 ** rng.uniform(-16, -0.5)  # noqa: E731
POLYGAMMA_POINTS = [1e-10, 0.5, 1.0, 2.25, 30.0, 1e6, -0.5, -1.25, -3.4999, -10.75, -200.5]
SINC_POINTS = [0.0, TINY, 1e-200, 1e-5, 0.5, 1.0, 1.43, -2.25, 1e3, 1e10 + 0.25, 1e300]


@dataclass(frozen=True)
class Case:
    """Where to try a function: chosen points, and how to draw further ones for each of its
    inputs.
    """

    chosen: list[tuple[float, ...]]
    samplers: tuple[Sampler, ...]
    count: int = 60


def line(chosen: list[float], sampler: Sampler, count: int = 60) -> Case:
    """A case of one input."""
    return Case([(x,) for x in chosen], (sampler,), count)


CASES: dict[str, Case] = {}
for names, case in (
    ("neg abs sign floor ceil round relu heaviside softsign cbrt asinh atan recip_one_plus_square deg rad sin cos"
     " recip_sqrt_one_plus_square", line([0.0, 2.5, 3.5, -2.5, 0.49999999999999994, *ALL_EXTREMES], LINE)),
    ("tan sec csc cot acot acsch", line([math.pi / 2, math.pi, 355.0, 1e22, *ALL_EXTREMES], LINE)),
    ("sqrt log log2 log10", line([8.0, 1000.0, *(x for x in ALL_EXTREMES if x > 0)], POSITIVE)),
    ("log1p", line([x for x in ALL_EXTREMES if x > -1], mixed(POSITIVE, lambda rng: -INSIDE(rng)))),
    ("exp exp2 expm1 sinh cosh tanh sech sech_square sigmoid sigmoid_slope silu silu_slope softplus",
     line([1e3, -1e10, 1e10, -1.2784645427610738, -1.3, -1.5785, -1023.5, -1073.6, *STEEP_EXTREMES], STEEP)),
    ("csch coth csch_square", line([x for x in STEEP_EXTREMES if x], STEEP)),
    ("asin acos atanh recip_sqrt_one_minus_square", line(UNIT_EXTREMES, signed(INSIDE))),
    ("asech", line([1.0, *(x for x in UNIT_EXTREMES if x > 0)], INSIDE)),
    ("acosh", line([1.0, *(x for x in ALL_EXTREMES if x > 1)], ABOVE_ONE)),
    ("asec acsc", line([x for x in ALL_EXTREMES if abs(x) >= 1], signed(ABOVE_ONE))),
    ("acoth recip_sqrt_square_minus_one", line([x for x in ALL_EXTREMES if abs(x) > 1], signed(ABOVE_ONE))),
    ("recip_one_minus_square",
     line([x for x in ALL_EXTREMES if abs(x) != 1], mixed(signed(INSIDE), signed(ABOVE_ONE)))),
    ("sinc", line([0.0, 7.0, 1e15 + 0.125, *ALL_EXTREMES], LINE)),
    ("logit", line([0.25, 0.5, 0.49, 0.5 + EPS, 0.75, *(x for x in UNIT_EXTREMES if x > 0)], INSIDE)),
    ("erf erfc exp_neg_square normpdf normcdf gelu gelu_slope",
     line([-0.7517915246935645, -0.76, -0.74, -0.31, -1.2, *NORMAL_EXTREMES, *ALL_EXTREMES],
          mixed(signed(log_uniform(-323, 1.7)), uniform(-40, 30), uniform(-4, 3)))),
    ("erfinv", line([0.0, 0.85, 0.8500001, 1 - 1e-11, *UNIT_EXTREMES], signed(INSIDE), 40)),
    ("erfcx", line([x for x in (*NORMAL_EXTREMES, *ALL_EXTREMES) if x > -40],
                   mixed(log_uniform(-323, 308), uniform(-26, 30), uniform(-4, 3)))),
    ("erfcx_derivative",
     Case([(n, x) for n in (0.0, 1.0, 2.0, 3.0, 4.0, 9.0) for x in (-25.0, -1.0, -1e-300, 0.0, TINY, 0.5, 3.75, 1e8)],
          (lambda rng: float(rng.randint(0, 4)), mixed(log_uniform(-300, 30), uniform(-26, 30))), 30)),
    ("norminv", line([0.5, 0.075, 0.925, 0.5 + EPS, 0.5 - EPS, *(x for x in UNIT_EXTREMES if x > 0)], INSIDE)),
    ("normpdf_scaled normcdf_scaled normcdf_by_sigma normpdf_by_mu normpdf_by_sigma",
     Case([(0.5, 0.0, 1.0), (MAX, -MAX, MAX), (1e308, 1e308, 1e-308), (1.99, 1.0, 1.0),
           (-38.0, 0.0, 1.0), (-38e-300, 0.0, 1e-300),
           (3e-320, 1e-320, 1e-320), (1.0, 1.0 - EPS, EPS), (1e300, 1e300 * (1 + 4 * EPS), 1e285)],
          (uniform(-40, 30), uniform(-3, 3), log_uniform(-1, 2)), 30)),
    # the density over sigma is a subnormal number, of fewer digits than its products
    ("normpdf_by_mu normpdf_by_sigma",
     Case([(7.9 * s, 0.0, s) for s in (3e146, 1e147, 3.3e146)], (uniform(2.5e147, 3e147), uniform(-3, 3),
          uniform(3e146, 4e146)), 40)),
    ("norminv_scaled",
     Case([(0.3, 1.0, 2.0), (0.84, -1.0, 1.0), (1e-300, 3.0, 1e300)],
          (INSIDE, uniform(-3, 3), log_uniform(-3, 3)), 20)),
    ("erfi", line([0.0, TINY, -1e-160, 0.5, 26.64, -26.6, 26.7, 1e200],
                  mixed(uniform(-30, 30), log_uniform(-10, 1)), 40)),
    ("Si fresnels fresnelc",
     line([0.0, TINY, -1e-160, 1e-5, 3.0, -7.0, 1e10, 1e300], mixed(uniform(-30, 30), log_uniform(-10, 6)), 40)),
    ("Ci", line([TINY, 1e-160, 0.6165054856207162, 3.3841804225511863, 1e10, 1e300], log_uniform(-10, 6), 40)),
    ("Ei", line([TINY, -1e-160, 0.37250741078136663, -745.5, -800.0, 709.0, 717.0, 1e300, -1e300],
                mixed(uniform(-50, 50), log_uniform(-10, 2)), 40)),
    ("li", line([TINY, 1e-160, 1 - EPS / 2, 1 + EPS, 1.4513692348833811, 1e10, MAX],
                mixed(INSIDE, uniform(1, 5), log_uniform(0, 300)), 40)),
    ("sine_quotient",
     Case([(n, x) for n in (0.0, 1.0, 2.0, 3.0, 6.0) for x in (0.0, 1e-5, -0.5, 2.0, 4.493409457909064, 1e3)],
          (lambda rng: float(rng.randint(0, 5)), mixed(uniform(-10, 10), log_uniform(-12, 3))), 20)),
    ("lambertw", line([*NEAR_BRANCH, *(x for x in ALL_EXTREMES if x > -0.36), 0.0, 0.36, 0.3679, -0.35, -0.3513],
                      mixed(POSITIVE, ABOVE_BRANCH, uniform(-0.36, 0.6)))),
    ("lambertw_minus_one",
     line([*NEAR_BRANCH, -0.35, -0.3513, -TINY, -1e-320, -MIN],
          mixed(ABOVE_BRANCH, lambda rng: -(10 ** rng.uniform(-323, -0.5))))),
    ("lambertw_branch", Case([(x, k) for x in (*NEAR_BRANCH, -0.1, -1e-300) for k in (0.0, -1.0)], (), 0)),
    ("gamma_density gammainc gammaincc",
     Case([(0.5, TINY), (1e-300, 0.5), (3.0, 1e-100), (50.0, 49.0), (50.0, 700.0), (171.0, 172.0)],
          (log_uniform(-3, 2), log_uniform(-6, 2)), 20)),
    ("gamma_density_derivative",
     Case([(0.0, 0.0, 2.5, 3.0), (1.0, 0.0, 2.5, 3.0), (1.0, 1.0, 0.25, 0.01), (0.0, 2.0, 3.0, 3.5)], (), 0)),
    ("gammainc_derivative",
     Case([(0.0, 2.5, 3.0), (1.0, 2.5, 3.0), (1.0, 0.001, 0.01), (2.0, 20.0, 18.5), (1.0, 5.0, 90.0)], (), 0)),
    ("beta_density betainc",
     Case([(0.5, 0.25, 1e-300), (1.0, 1e-10, 0.99), (1e-8, 1e-8, 0.5), (200.0, 300.0, 0.41), (2.0, 3.0, 1 - EPS)],
          (log_uniform(-2, 2), log_uniform(-2, 2), INSIDE), 15)),
    ("beta_density_derivative",
     Case([(0.0, 0.0, 1.0, 2.5, 3.0, 0.3), (1.0, 0.0, 0.0, 2.5, 3.0, 0.9), (0.0, 1.0, 1.0, 0.25, 1.5, 0.01)], (), 0)),
    ("betainc_derivative",
     Case([(0.0, 0.0, 2.5, 3.0, 0.3), (1.0, 0.0, 2.5, 3.0, 0.9), (0.0, 1.0, 0.25, 1.5, 0.01)], (), 0)),
    ("zeta", line([*(1 + d for d in (EPS, -EPS / 2, 1e-9)), -0.5, 0.0, TINY, -2.0, -4 + 1e-12, -259.0, 64.0, 1e5],
          mixed(uniform(-4, 4), uniform(-200, 0), log_uniform(0, 3)), 40)),
    ("besselj bessely besseli besselk besselj_slope bessely_slope besseli_slope besselk_slope",
     Case([(0.0, 0.001), (2.0, 3.0), (-3.0, 2.5), (100.5, 90.0), (0.25, 700.0), (0.5, 1e15), (0.0, 2.404825557695773)],
          (mixed(uniform(-5, 20), lambda rng: float(rng.randint(0, 5))), log_uniform(-3, 2)), 8)),
    ("besselj_derivative bessely_derivative besseli_derivative besselk_derivative",
     Case([(1.0, 2.5, 3.0), (1.0, 0.001, 0.01), (2.0, 4.25, 9.5)], (), 0)),
    ("faddeeva_re faddeeva_im",
     Case([(0.0, 1.5, 0.0), (0.0, 1e-5, 1e-3), (1.0, 50.0, 1e-9), (2.0, -3.0, 0.25), (1.0, 0.0, 2.0)], (), 0)),
    ("zeta_derivative", Case([(0.0, 3.0), (1.0, 0.5), (1.0, -2.7172628292045743), (2.0, -9.5), (3.0, 40.0)], (), 0)),
    ("gamma", line(GAMMA_EXTREMES, mixed(uniform(-185, 175), uniform(-5, 5), NEAR_INTEGERS, log_uniform(-308, 2)))),
    ("lgamma", line([TINY, -TINY, *GAMMA_EXTREMES], GAMMA_LINE, 100)),
    ("digamma trigamma", line(GAMMA_EXTREMES, GAMMA_LINE, 80)),
    ("polygamma",
     Case([(n, x) for n in (0.0, 1.0, 2.0, 3.0, 4.0, 7.0, 20.0, 31.0) for x in POLYGAMMA_POINTS]
          + [(170.0, 200.0), (300.0, 200.0), (30.0, -1.5), (2.0, 1e150), (2.0, 1e-103), (12.0, 0.5), (12.0, 4.7),
             (13.0, 4.7), (61.0, -2.25), (199.0, -0.75), (200.0, 150.0),
             (2.0, -1e-90), (3.0, -1e-60)],
          (lambda rng: float(rng.randint(2, 8)), mixed(uniform(-10, 10), log_uniform(-30, 8))), 20)),
    ("polygamma_difference",
     Case([(1.0, 2.0, 3.0), (2.0, 1e5, 1e-5), (1.0, 1e10, 3.0), (3.0, 0.5, 1e-60),
           (0.0, 1e10, 2.0), (0.0, 2.0, 1e-300), (0.0, 1e300, 1.0), (0.0, 1e-5, 1e5), (0.0, -0.5, 1e-20),
           (0.0, -2.5, 0.25)],
          (lambda rng: float(rng.randint(0, 4)), log_uniform(-2, 5), log_uniform(-40, 3)), 20)),
    ("beta beta_slope",
     Case([(0.5, 0.5), (2.0, 3.0), (30.5, 40.25), (5.0, 1e-5), (1e10, 2.0), (1e100, 0.5), (500.0, 500.0), (1e-300, 1.0),
           (1e-200, 1e-200), (1e5, 1e-5), (-0.5, 0.25), (-0.5, -0.25), (-3.5, 8.25), (-100.5, 30.25), (-1.5, 0.75),
           (1.4590404141251156e-281, 9.621054491032186e94), (9e94, 1e-281),
           (0.25, -0.25), (-2.75, 0.75), (1e40, 2.0), (1e300, 0.5), (-99999.75, 3.25), (-99999.75, 100000.25),
           (-1e5 + 0.25, -0.5), (1e300, -0.5), (75.0, 74.9), (104.98206421238042, 0.29155738195691283)],
          (BETA_SIDE, BETA_SIDE), 10)),
    ("sinc_derivative",
     Case([(n, x) for n in (0.0, 1.0, 2.0, 3.0, 6.0, 15.0) for x in SINC_POINTS]
          + [(1.0, 1.4302966531242027), (1.0, 0.4999), (1.0, -0.75), (120.0, 2.5), (500.0, 1e300), (500.0, -1e-9)],
          (lambda rng: float(rng.randint(0, 6)), signed(log_uniform(-30, 5))), 40)),
    ("add sub", Case([(1e308, 1e308), (1.0, -1.0), (0.1, 0.2), (MAX, -TINY)], (LINE, LINE))),
    ("mul div", Case([(1e308, 10.0), (TINY, 0.5), (0.0, 5.0)], (LINE, LINE))),
    ("atan2 unit_over_hypot",
     Case([(1.0, 1.0), (1.0, -1.0), (TINY, TINY), (MAX, MAX), (1e-200, 1e-200), (0.0, -2.0), (1e-300, 1e300),
           (1e160, 1.0), (TINY, 1e-140), (1e-300, 1e-145)], (LINE, LINE))),
    ("pow",
     Case([(0.0, 0.0), (0.0, 3.0), (-8.0, 3.0), (-2.0, -3.0), (10.0, 308.0), (TINY, 0.5), (1 + EPS, 1e16), (0.999, 1e5),
           (2.0, -1074.0), (-1.0, 1e300), (5.0, 0.0), (1e-200, 2.0), (1e-308, 1.0 + 1e-10), (1e-300, 1.078)],
          (POSITIVE, signed(log_uniform(-20, 2))))),
    ("log_base",
     Case([(8.0, 2.0), (1000.0, 10.0), (TINY, 2.0), (1 + EPS, 3.0), (3.0, 1 + EPS), (MAX, 0.5)],
          (POSITIVE, mixed(log_uniform(-300, 300), log_uniform(-1, 1))))),
    ("leaky_relu elu", Case([(0.0, 1.0), (-1e-300, 0.5), (-1e3, 2.0)], (LINE, COMMON))),
    ("logaddexp",
     Case([(800.0, 799.0), (-800.0, -750.0), (0.0, -50.0), (-math.log(2), -math.log(2)), (-0.5, -1.0), (-0.5, -0.93),
           (-1e-5, -11.6), (-1e-17, -39.2), (1e308, -1e308), (1e-300, -700.0)],
          (mixed(STEEP, uniform(-2, 0)), mixed(STEEP, uniform(-2, 0))))),
    ("logsumexp softmax",
     Case([(1000.0, 999.0, -1000.0), (0.0,), (-1.0, -1.2, -1.0), (-0.5, -1.0, -30.0), (-800.0,) * 3,
           (-0.5, -0.93, -1e308)], (uniform(-3, 1), uniform(-3, 1), STEEP))),
    ("exp_difference",
     Case([(1.0, 2.0), (0.1, 700.3), (-1e300, 1e300), (-745.0, -0.5), (1e-300, 30.0), (3.0, 3.0)], (), 0)),
    ("softmax_weight",
     Case([(1.0, 1.0, 2.0), (-700.1, -700.1, 0.3), (-90.7, -90.7, 0.1), (-1e300, 1e300, -1e300)], (), 0)),
    ("sum mean",
     Case([(1e308, 1e308, -1e308), (MAX, MAX, -MAX, -MAX, TINY), (1.0, 1e100, 1.0, -1e100), (0.1,) * 10,
           (TINY, TINY, TINY), (3.0,)], (LINE, LINE, LINE, LINE))),
    ("prod products_of_others",
     Case([(1e200, 1e200, 1e-200, 1e-200), (1e-200, 1e-200, 1e300), (0.0, 1e308, 1e308), (1.1,) * 30, (-1.5,),
           (0.0, 2.0, 0.0), (1e-160, 1e-160, 3.0), (TINY, 1e308, 1e16)], (LINE, LINE, LINE))),
    ("min max", Case([(1.0,), (3.0, -2.0, 3.0)], (LINE, LINE, LINE))),
    ("hypot",
     Case([(3.0, 4.0), (1e-200, 1e-200), (1e200, 1e200, -1e200), (TINY, TINY), (-7.0,), (MAX, 1.0)],
          (LINE, LINE, LINE))),
    ("unit_vector",
     Case([(3.0, 4.0), (TINY, TINY), (MAX, MAX), (1e-320, 1e-310), (1.0, 1e300), (0.0, -2.0)], (LINE, LINE, LINE))),
    ("clamp", Case([(0.5, 0.0, 1.0), (-3.0, 0.0, 1.0), (7.0, 0.0, 1.0), (1.0, 1.0, 1.0)], (), 0)),
):  # fmt: skip
    CASES.update(dict.fromkeys(names.split(), case))

NAMES = {name for name, row in OPERATIONS.items() if row.params} - {"where", "item"}
CONDITIONS = {"lt", "le", "gt", "ge", "eq", "ne", "and_", "or_", "not_"}
INSIDE_ONLY = {"logit", "norminv", "norminv_scaled", "norminv_slope", "lambertw_minus_one"}
"""Functions without a value at any of a few whole numbers."""

GIVEN_OUT = {"power_minus_one": "pow", "erfinv_slope": "erfinv", "gamma_slope": "gamma", "norminv_slope": "norminv",
             "lambertw_slope": "lambertw"}  # fmt: skip
"""Slopes that are also handed the function's value, and the function."""


def points(name: str) -> Iterator[tuple[float, ...]]:
    """The chosen points of a function and its random ones, the same in every run; with its value
    where asked for.
    """
    case = CASES[GIVEN_OUT.get(name, name)]
    rng = random.Random(name)
    drawn = [tuple(sampler(rng) for sampler in case.samplers) for _ in range(case.count)]
    for inputs in case.chosen + drawn:
        if name not in GIVEN_OUT:
            yield inputs
        elif name != "power_minus_one" or inputs[0] != 0 or inputs[1] >= 1:
            try:
                yield (*inputs, getattr(REAL, GIVEN_OUT[name])(*inputs))
            except OverflowError:
                continue


@pytest.mark.parametrize("name", sorted(NAMES - CONDITIONS))
def test_as_accurate_as_asked_for(name: str) -> None:
    problems = [complaint(getattr(REAL, name), name, inputs) for inputs in points(name)]
    assert not any(problems), "\n".join(filter(None, problems))


@pytest.mark.parametrize("name", sorted(NAMES - CONDITIONS))
def test_an_error_of_1e_13_is_noticed(name: str) -> None:
    function = getattr(REAL, name)

    def slightly_wrong(*inputs: float) -> list[float]:
        return [result * (1 + 1e-13) for result in parts(function(*inputs))]

    assert any(complaint(slightly_wrong, name, inputs) for inputs in points(name))


# ---- the reference itself -----------------------------------------------------------------------------------------
PLAIN_POINTS: dict[str, tuple[float, ...]] = {
    "pow": (1.5, -2.25), "log_base": (3.5, 1.25), "clamp": (0.5, 0.0, 1.0),
    "leaky_relu": (-1.5, 0.25), "elu": (-1.5, 0.5), "polygamma": (2, 1.75), "asec": (-1.5,),
    "acsc": (-1.5,), "acosh": (1.75,), "acoth": (-1.75,), "recip_sqrt_square_minus_one": (1.75,),
    "sinc_derivative": (2, 0.3), "sine_quotient": (2, 0.3), "polygamma_difference": (1, 1.5, 0.75),
    "beta": (1.5, -0.25),
    "norminv_scaled": (0.3, -0.7, 1.6), "normpdf_scaled": (0.3, -0.7, 1.6),
    "normcdf_scaled": (0.3, -0.7, 1.6), "lambertw_branch": (-0.2, -1.0),
    "lambertw_minus_one": (-0.2,), "erfcx_derivative": (2, 0.3), "zeta_derivative": (2, 0.3),
    "faddeeva_re": (1, 0.3, 1.6), "faddeeva_im": (1, 0.3, 1.6),
    **{f"bessel{kind}": (0.3, 1.6) for kind in "jyik"},
    **{f"bessel{kind}_derivative": (1, 0.3, 1.6) for kind in "jyik"},
    "gammainc_derivative": (1, 2.5, 1.5), "gamma_density_derivative": (1, 1, 2.5, 1.5),
    "betainc": (1.5, 2.5, 0.3), "beta_density": (1.5, 2.5, 0.3),
    "betainc_derivative": (0, 1, 1.5, 2.5, 0.3),
    "beta_density_derivative": (1, 0, 1, 1.5, 2.5, 0.3),
}  # fmt: skip
"""Where to hold a function's partials to difference quotients, if (0.3, 1.6, -0.7) or as many of
them will not do.
"""


@pytest.mark.parametrize("name", sorted(REFERENCE_PARTIALS))
def test_partials_of_the_reference_are_its_derivatives(name: str) -> None:
    value, partials = REFERENCE[name], REFERENCE_PARTIALS[name]
    variadic = name in ["sum", "mean", "prod", "min", "max", "hypot", "logsumexp"]
    point = PLAIN_POINTS.get(name, (0.3, 1.6, -0.7)[: 3 if variadic else len(partials)])
    claimed = (
        partials[0](*point) if variadic else [partial and partial(*point) for partial in partials]
    )
    for k, slope in enumerate(claimed):
        if slope is not None:
            near = [mpmath.mpf(x) for x in point]
            quotient = mpmath.diff(
                lambda x, k=k, near=near: value(*near[:k], x, *near[k + 1 :]), near[k]
            )
            assert mpmath.almosteq(quotient, slope, 1e-8, 1e-12)


# ---- outside the domain -------------------------------------------------------------------------------------------
ERRORS: dict[type[Exception], str] = {
    ValueError: (
        """
        sqrt(-1) log(-1) log2(-1) log10(-1) log1p(-2) log_base(-1,2) log_base(2,-3) log_base(2,0) pow(-8,1/3)
        asin(1.5) acos(-1.5) asec(0.5) asec(0) acsc(-0.5) acsc(0) acosh(0.5) atanh(2) asech(-0.5) asech(2) acoth(0.5)
        acoth(0) logit(-1) logit(2) erfinv(1.5) polygamma(-1,2) polygamma(1.5,2) sinc_derivative(-1,2)
        recip_sqrt_one_minus_square(2) recip_sqrt_square_minus_one(0.5) clamp(1,2,0) polygamma_difference(0.5,1,1)
        polygamma(100000,2)
    """
    ),
    ZeroDivisionError: (
        """
        div(1,0) pow(0,-1) log(0) log2(0) log10(0) log1p(-1) log_base(0,3) log_base(3,1) csc(0) cot(0) acot(0) csch(0)
        coth(0) acsch(0) atanh(1) atanh(-1) asech(0) acoth(1) acoth(-1) logit(0) logit(1) erfinv(1) erfinv(-1) gamma(0)
        gamma(-3) lgamma(0) lgamma(-3) digamma(0) digamma(-3) trigamma(-3) polygamma(0,-3) polygamma(1,0)
        polygamma(2,-3) beta(0,1) beta(1,-2) polygamma_difference(0,0,1)
        polygamma_difference(0,0.5,-1.5)
        recip_one_minus_square(1) recip_sqrt_one_minus_square(-1) recip_sqrt_square_minus_one(1) csch_square(0)
        unit_over_hypot(0,0) power_minus_one(0,0.5,0)
    """
    ),
    OverflowError: (
        """
        exp(710) exp2(1024) expm1(710) pow(10,309) sinh(711) cosh(-711) csc(5e-324) cot(5e-324) csch(5e-324)
        coth(5e-324) gamma(172) gamma(1e-309) lgamma(1e306) digamma(1e-309) digamma(-1e-309) trigamma(1e-155)
        polygamma(2,1e-110) polygamma(2,-1e-300) beta(1e-309,1) prod(1e200,1e200) prod(1e200,1e200,1e200,1e-200)
        hypot(1.7e308,1.7e308)
        sum(1.7e308,1.7e308) csch_square(1e-160) unit_over_hypot(5e-324,0) deg(1e307) power_minus_one(1e-320,0.01,0.001)
        sinc_derivative(1000,0.5)
    """
    ),
}


@pytest.mark.parametrize(
    ("error", "call"), [(error, call) for error, calls in ERRORS.items() for call in calls.split()]
)
def test_outside_the_domain(error: type[Exception], call: str) -> None:
    name, _, rest = call.partition("(")
    inputs = [float(mpmath.mpf(x)) for x in rest.removesuffix(")").split(",")]
    with pytest.raises(error):
        getattr(REAL, name)(*inputs)


# ---- what else is promised ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", sorted(NAMES - CONDITIONS - INSIDE_ONLY))
def test_whole_numbers_are_floats_too(name: str) -> None:
    count = len(OPERATIONS[name].params)
    whole = next(p for p in ((2,), (2, 3), (2, 3, 4), (0,), (1,), (0, 3), (2, 0), (1, 1, 2, 3),
                             (2, 3, 1), (0, 1, 2, 3, 1), (0, 0, 1, 2, 3, 1))
                 if (OPERATIONS[name].variadic or len(p) == count) and accepts(name, p))  # fmt: skip
    result = getattr(REAL, name)(*whole)
    assert {type(part) for part in parts(result)} == {float}
    assert result == getattr(REAL, name)(*map(float, whole))


def accepts(name: str, inputs: tuple[float, ...]) -> bool:
    try:
        getattr(REAL, name)(*inputs)
    except (TypeError, ValueError, ZeroDivisionError):
        return False
    return True


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("log2(8)", 3.0), ("log10(1000)", 3.0), ("log_base(8,2)", 3.0), ("log_base(1000,10)", 3.0),
        ("log_base(125,5)", 3.0), ("sinc(0)", 1.0), ("sinc(3)", 0.0), ("sinc(1e300)", 0.0), ("cbrt(-27)", -3.0),
        ("cbrt(0)", 0.0), ("round(0.5)", 0.0), ("round(1.5)", 2.0), ("round(-2.5)", -2.0), ("heaviside(0)", 0.5),
        ("relu(0)", 0.0), ("sign(-0.0)", 0.0), ("pow(0,0)", 1.0), ("lgamma(1)", 0.0), ("lgamma(2)", 0.0),
        ("erfinv(0)", 0.0), ("gelu(0)", 0.0), ("logit(0.5)", 0.0), ("atan2(0,0)", 0.0), ("atan2(-0.0,-2)", math.pi),
        ("atan2(0,-0.0)", 0.0), ("exp(-800)", 0.0),
        ("recip_one_plus_square(1e200)", 0.0), ("power_minus_one(0,1,0)", 1.0), ("beta(-0.5,-0.5)", 0.0),
        ("beta_slope(-0.5,-0.5)", -4 * math.pi),
    ],
)  # fmt: skip
def test_exact_values(call: str, value: float) -> None:
    name, _, rest = call.partition("(")
    assert getattr(REAL, name)(*map(float, rest.removesuffix(")").split(","))) == value


def test_conditions() -> None:
    orders = [
        (REAL.lt, "<"),
        (REAL.le, "<="),
        (REAL.gt, ">"),
        (REAL.ge, ">="),
        (REAL.eq, "=="),
        (REAL.ne, "!="),
    ]
    found = {symbol: [order(x, 1.0) for x in (0.5, 1.0, 1.5)] for order, symbol in orders}
    assert found == {
        "<": [True, False, False],
        "<=": [True, True, False],
        ">": [False, False, True],
        ">=": [False, True, True],
        "==": [False, True, False],
        "!=": [True, False, True],
    }
    assert (
        [REAL.and_(p, True) for p in (True, False)]
        == [REAL.or_(p, False) for p in (True, False)]
        == [True, False]
    )
    assert REAL.not_(False)


def test_import_needs_only_math() -> None:
    code = (
        "import sys, autodiff_cli.engine.numbers.floats; print(*{'decimal', 'numpy', 'mpmath'} &"
        " set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""


def test_products_are_rounded_once() -> None:
    draw = random.Random(1)
    for _ in range(1000):
        factors = [draw.uniform(-2, 2) for _ in range(7)]
        exact = [Fraction(x) for x in factors]
        assert REAL.prod(*factors) == float(math.prod(exact))
        others = [float(math.prod(exact[:k] + exact[k + 1 :])) for k in range(7)]
        assert list(REAL.products_of_others(*factors)) == others
