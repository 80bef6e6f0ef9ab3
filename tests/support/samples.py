"""Points of each operation, ordinary and extreme, at which tests compare it with a reference."""

from autodiff_cli.engine.table.primitive import Primitive

_NEAR = (-2.5, -1e-10, 0.5, 3.75)
_LINE = (-2.5, -1.0, -1e-10, 0.5, 1.0, 3.75)
_POSITIVE = (1e-300, 1e-10, 0.5, 1.0, 2.75, 1e10, 1e300)
_ANGLES = (*_LINE, 10.0, 1000.0, 1e15, 1e-300)
_UNIT = (-0.999999999, -0.5, 1e-300, 0.25, 0.999999999)
_OUTSIDE = (-1e200, -3.0, -1.000001, 1.000001, 2.5, 1e200)
_STEEP = (*_LINE, -20.0, 40.0, 350.0, -700.0)
_GAMMA_POINTS = (-2.5, -0.3, 1e-10, 0.5, 1.0, 3.75, 20.5, 150.0)
_LISTS = ((2.0,), (1.5, -2.25, 4.0), (0.5, 0.25, 8.0, -3.0))

SAMPLES: dict[str, tuple[float | tuple[float, ...], ...]] = {
    "add": ((1.5, -2.25), (1e300, 1e-300)),
    "sub": ((1.5, -2.25), (1.0, 1.0)),
    "mul": ((1.5, -2.25), (1e-200, 1e200)),
    "div": ((1.5, -2.25), (0.0, 3.0), (1e-200, 1e-200)),
    "neg": (1.5, -0.25),
    "voigt": ((0.3, 2.0, 0.7, 1.6, 0.4), (-1.5, -3.0, 2.5, 0.75, 2.0), (2.0, 1.5, 1.0, 0.25, 1e-3)),
    "gaussian": (
        (0.3, 2.0, 0.7, 1.6),
        (-1.5, -3.0, 2.5, -0.75),
        (2.0, 1.5, 2.0, 1e-3),
        (1e9, 4.0, 1.01e9, 1e7),
    ),
    "lorentzian": (
        (0.3, 2.0, 0.7, 1.6),
        (-1.5, -3.0, 2.5, -0.75),
        (2.0, 1.5, 2.0, 1e-3),
        (1e9, 4.0, 1.01e9, 1e7),
    ),
    "logistic": (
        (0.3, 2.0, 0.7, 1.6),
        (-1.5, -3.0, 2.5, -0.75),
        (2.0, 1.5, -80.0, 1.0),
        (900.0, 4.0, 1.0, 3.0),
    ),
    "hill": (
        (0.3, 2.0, 0.7, 1.6),
        (1.5, -3.0, 2.5, -0.75),
        (2.0, 1.5, 40.0, 4.0),
        (1e9, 4.0, 1.01e9, 12.5),
    ),
    "michaelis_menten": ((0.3, 2.0, 0.7), (1.5, -3.0, 2.5), (-1.5, 2.0, 4.0), (1e9, 4.0, 1.01e9)),
    "pow": ((2.0, 3.0), (1.5, -2.5), (0.3, 0.3), (1e308, 0.3), (1e-200, 2.0), (7.0, 0.0)),
    "exp_neg_square": (*_NEAR, 26.0),
    "recip_one_plus_square": (*_NEAR, 1e160),
    "recip_one_minus_square": (*_NEAR, 0.999999999),
    "recip_sqrt_one_minus_square": (-0.999999, 0.25),
    "recip_sqrt_one_plus_square": (*_NEAR, 1e100),
    "recip_sqrt_square_minus_one": (-2.5, 1.000001, 1e100),
    "sigmoid_slope": (*_NEAR, 40.0),
    "sech_square": (*_NEAR, 40.0),
    "csch_square": (*_NEAR, 40.0),
    "gelu_slope": _NEAR,
    "erfcx_derivative": ((0.0, 0.5), (1.0, -2.5), (1.0, 30.0), (2.0, 3.75), (3.0, 1e10)),
    "silu_slope": _NEAR,
    "sinc_derivative": ((1.0, 0.5), (1.0, 1e-5), (2.0, 0.0), (2.0, 1.25), (3.0, -0.75)),
    "polygamma_difference": ((0.0, 0.5, 0.5), (0.0, 1e10, 0.5), (1.0, 2.0, 3.0)),
    "exp": (*_LINE, -740.0, 709.0),
    "exp2": (*_LINE, 1023.0),
    "expm1": (*_LINE, -40.0, 1e-300),
    "log": _POSITIVE,
    "log_base": ((8.0, 2.0), (1000.0, 10.0), (3.0, 0.5), (1e300, 7.0)),
    "log2": _POSITIVE,
    "log10": _POSITIVE,
    "log1p": (-0.999999, -0.5, 1e-300, 1e-10, 2.5, 1e300),
    "sqrt": _POSITIVE,
    "cbrt": (-8.0, 1e-300, 0.5, 27.0, 1e300),
    "abs": (-2.5, 1e-300, 3.0),
    "sign": (-2.5, 3.0),
    "floor": (-2.5, 3.25),
    "ceil": (-2.5, 3.25),
    "round": (-2.25, 3.75),
    "clamp": ((0.5, -1.0, 1.0), (-3.0, -1.0, 1.0), (7.0, -1.0, 1.0)),
    "sin": _ANGLES,
    "cos": _ANGLES,
    "tan": _ANGLES,
    "sec": _ANGLES,
    "csc": _LINE,
    "cot": _LINE,
    "asin": _UNIT,
    "acos": _UNIT,
    "atan": (*_LINE, 1e160, -1e10),
    "atan2": ((1.0, 2.0), (-3.0, -0.5), (1e-200, 1e-200), (1e200, -1e200)),
    "asec": _OUTSIDE,
    "acsc": _OUTSIDE,
    "acot": (*_LINE, 1e160, -1e10),
    "sinc": (*_LINE, 0.0, 1e-5, 0.3, 20.25),
    "deg": _LINE,
    "rad": _LINE,
    "sinh": _STEEP,
    "cosh": _STEEP,
    "tanh": _STEEP,
    "sech": _STEEP,
    "csch": _STEEP,
    "coth": _STEEP,
    "asinh": (*_LINE, 1e200, -1e10),
    "acosh": (1.000001, 2.5, 1e10, 1e200),
    "atanh": _UNIT,
    "asech": (1e-300, 1e-5, 0.25, 0.999999999),
    "acsch": (*_LINE, 1e150),
    "acoth": _OUTSIDE,
    "relu": (-2.5, 1e-300, 3.0),
    "leaky_relu": ((-2.5, 0.01), (3.0, 0.01), (-0.5, 0.3)),
    "elu": ((-2.5, 1.0), (3.0, 1.0), (-0.5, 0.3), (-1e-10, 2.0)),
    "gelu": (*_LINE, -10.0, -30.0, 20.0),
    "silu": _STEEP,
    "sigmoid": _STEEP,
    "softplus": (*_STEEP, 0.0),
    "softsign": (*_LINE, 1e100),
    "logaddexp": ((1.0, 2.0), (800.0, 799.0), (-800.0, -750.0), (0.0, -50.0)),
    "logit": (1e-300, 0.25, 0.4999, 0.999999999),
    "heaviside": (-2.5, 3.0),
    "erf": (*_LINE, 1e-300, 6.0, -26.0),
    "erfc": (*_LINE, 1e-300, 6.0, 26.0),
    "erfinv": _UNIT,
    "erfcx": (*_LINE, 1e-300, 6.0, 26.0, -20.0, 1e100),
    "normpdf": (*_LINE, 1e-300, 6.0, -26.0),
    "normcdf": (*_LINE, 1e-300, 6.0, -26.0),
    "norminv": (1e-300, 1e-10, 0.25, 0.5000001, 0.75, 0.999999999),
    "normpdf_scaled": (
        (0.5, 0.0, 1.0),
        (-2.5, 1.0, 3.0),
        (7e10, 7.1e10, 1e9),
        (1e-90, 3e-90, 1e-90),
    ),
    "normcdf_scaled": (
        (0.5, 0.0, 1.0),
        (-2.5, 1.0, 3.0),
        (7e10, 7.1e10, 1e9),
        (1e-90, 3e-90, 1e-90),
    ),
    "norminv_scaled": ((0.25, 0.0, 1.0), (0.3, -1.0, 2.0), (1e-10, -3.0, 1e10)),
    "lambertw": (-0.3678, -0.367, -0.25, -1e-10, 1e-300, 0.5, 1.0, 2.75, 1e10, 1e300),
    "lambertw_branch": ((-0.367, 0.0), (-0.367, -1.0), (-0.25, -1.0), (-1e-300, -1.0), (3.0, 0.0)),
    "gamma": _GAMMA_POINTS,
    "lgamma": (*_GAMMA_POINTS, 1e10, 1e300),
    "digamma": (*_GAMMA_POINTS, 1e10, 1e300),
    "trigamma": (*_GAMMA_POINTS, 1e10),
    "polygamma": ((0.0, 2.5), (1.0, 0.5), (2.0, 3.75), (3.0, -1.5), (4.0, 20.5)),
    "beta": ((0.5, 0.5), (2.0, 3.0), (30.5, 40.25), (5.0, 1e-5)),
    "gamma_density": ((0.5, 0.25), (2.5, 1.5), (20.0, 30.0), (1e5, 1.001e5)),
    "gamma_density_derivative": (
        (0.0, 0.0, 2.5, 1.75),
        (1.0, 1.0, 0.5, 3.0),
        (0.0, 3.0, 4.25, 2.0),
    ),
    "gammainc": ((0.5, 1e-10), (0.5, 0.25), (2.5, 1.5), (20.0, 12.0), (3.0, 150.0)),
    "gammaincc": ((0.5, 1e-10), (0.5, 0.25), (2.5, 1.5), (20.0, 12.0), (3.0, 150.0), (1e-5, 0.5)),
    "gammainc_derivative": ((0.0, 2.5, 1.5), (1.0, 2.5, 1.5), (2.0, 0.5, 3.0)),
    "beta_density": ((0.5, 2.0, 0.25), (2.5, 3.0, 0.75), (40.0, 60.0, 0.39)),
    "beta_density_derivative": ((0.0, 0.0, 1.0, 2.5, 3.0, 0.3), (1.0, 1.0, 1.0, 4.0, 6.0, 0.39)),
    "betainc": ((0.5, 2.0, 0.25), (2.5, 3.0, 0.75), (40.0, 60.0, 0.39), (2.0, 3.0, 1e-10)),
    "betainc_derivative": ((0.0, 0.0, 2.5, 3.0, 0.3), (0.0, 1.0, 2.0, 0.5, 0.75)),
    "zeta": (-30.5, -3.25, -0.25, 0.0, 0.5, 1.0000001, 2.0, 12.5, 80.0),
    "zeta_derivative": ((0.0, 2.5), (1.0, -3.25), (1.0, 0.5), (1.0, 7.0)),
    **dict.fromkeys(
        ("besselj", "bessely", "besseli", "besselk"),
        ((0.5, 0.25), (2.25, 3.5), (1e-5, 1e-5), (-1.75, 2.0), (20.5, 12.0), (0.25, 90.0)),
    ),
    **dict.fromkeys(
        ("besselj_derivative", "bessely_derivative", "besseli_derivative", "besselk_derivative"),
        ((0.0, 0.5, 0.25), (1.0, 1.25, 3.5)),
    ),
    **dict.fromkeys(
        ("faddeeva_re", "faddeeva_im"),
        ((0.0, 0.5, 0.25), (0.0, 12.0, 0.001), (1.0, -1.5, 2.0), (2.0, 3.0, 0.5)),
    ),
    "sum": _LISTS,
    "mean": _LISTS,
    "prod": (*_LISTS, (0.0, 2.0, 3.0)),
    "min": _LISTS,
    "max": _LISTS,
    "hypot": ((3.0, 4.0), (1e-200, 1e-200), (1e200, 1e200, -1e200)),
    "logsumexp": (*_LISTS, (1000.0, 999.0, -1000.0)),
}


def samples_of(primitive: Primitive) -> list[tuple[float, ...]]:
    """The points of an operation, as tuples of its inputs."""
    return [x if isinstance(x, tuple) else (float(x),) for x in SAMPLES.get(primitive.name, ())]


OF_FEW_TARGETS = (
    *(
        "gammainc",
        "gammaincc",
        "gammainc_derivative",
        "betainc",
        "betainc_derivative",
        "besselj",
        "bessely",
        "besseli",
        "besselk",
    ),
    *("faddeeva_re", "faddeeva_im"),
    *("besselj_derivative", "bessely_derivative", "besseli_derivative", "besselk_derivative"),
)
"""Functions that few targets of `export` have, with tests of their own
(`tests/export/test_incomplete_gamma.py`).
"""

WITH_ORDERS = ("polygamma", "zeta_derivative")
"""Functions whose first input is a fixed whole number, which random formulas leave out."""
