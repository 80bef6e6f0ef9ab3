"""Families of probability distributions; JCGM 101:2008, 6.4, and JCGM 100:2008, 4.3.9."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple


class Moments(NamedTuple):
    """Central moments, divided by powers of the standard uncertainty."""

    variance: float = 1.0  # not 1 for Student's t, by its scale: JCGM 101:2008, 6.4.9
    third: float = 0.0
    fourth: float = 3.0


class Family(NamedTuple):
    """A family of distributions, with functions of its parameters."""

    signatures: tuple[str, ...]  # its notations, with different numbers of parameters
    mean_sd: Callable[..., tuple[float, float]]
    # an array, from NumPy, its generator, the number of draws, and parameters
    draw: Callable[..., Any]
    # of each parameter: `v`alue, `d`ifference or pure `n`umber; empty without units
    units: str = ""
    moments: Callable[..., Moments] = lambda *_: Moments()
    positive: tuple[int, ...] = ()  # the indices of the parameters that must be positive
    support: Callable[..., tuple[float, float]] = lambda *_: (-math.inf, math.inf)


class Distribution(NamedTuple):
    """A family with its parameters and degrees of freedom."""

    family: str
    parameters: tuple[float, ...]
    dof: float = math.inf

    @property
    def support(self) -> tuple[float, float]:
        return FAMILIES[self.family].support(*self.parameters)

    def draw(self, np: Any, rng: Any, n: int) -> Any:
        """Return `n` draws as an array."""
        if self.family == "normal" and not math.isinf(self.dof):
            return FAMILIES["student"].draw(np, rng, n, *self.parameters, self.dof)
        return FAMILIES[self.family].draw(np, rng, n, *self.parameters)


def _triangular_mean_sd(a: float, *rest: float) -> tuple[float, float]:
    mode, b = rest if len(rest) == 2 else ((a + rest[0]) / 2, rest[0])
    # distances from the mode avoid cancellation
    left, right = mode - a, b - mode
    return mode + (right - left) / 3, math.sqrt((left * left + left * right + right * right) / 18)


def _triangular_moments(a: float, *rest: float) -> Moments:
    left, right = (rest[0] - a, rest[1] - rest[0]) if len(rest) == 2 else (1.0, 1.0)
    # powers of fractions of the width do not overflow
    x, y = left / (left + right), right / (left + right)
    skewness = (
        math.sqrt(2) * (y - x) * (2 * x + y) * (x + 2 * y) / (5 * (x * x + x * y + y * y) ** 1.5)
    )
    return Moments(1.0, skewness, 2.4)


def _student_moments(m: float, s: float, dof: float) -> Moments:
    variance = dof / (dof - 2) if dof > 2 else math.inf
    return Moments(variance, 0.0, 3 * variance * (dof / (dof - 4)) if dof > 4 else math.inf)


def _lognormal_mean_sd(mu: float, s: float) -> tuple[float, float]:
    mean = math.exp(mu + s * s / 2)
    return mean, mean * math.sqrt(math.expm1(s * s))


def _lognormal_moments(mu: float, s: float) -> Moments:
    w = math.exp(s * s)
    return Moments(1.0, (w + 2) * math.sqrt(math.expm1(s * s)), w**4 + 2 * w**3 + 3 * w * w - 3)


def _beta_mean_sd(a: float, b: float, low: float, high: float) -> tuple[float, float]:
    return low + (high - low) * (a / (a + b)), (high - low) * math.sqrt(a * b / (a + b + 1)) / (
        a + b
    )


def _beta_moments(a: float, b: float, *_: float) -> Moments:
    n = a + b
    skewness = 2 * (b - a) * math.sqrt(n + 1) / ((n + 2) * math.sqrt(a * b))
    excess = 6 * ((a - b) ** 2 * (n + 1) - a * b * (n + 2)) / (a * b * (n + 2) * (n + 3))
    return Moments(1.0, skewness, 3 + excess)


def _two_piece_mean_sd(mode: float, below: float, above: float) -> tuple[float, float]:
    d = above - below
    return mode + math.sqrt(2 / math.pi) * d, math.sqrt((1 - 2 / math.pi) * d * d + below * above)


def _two_piece_moments(mode: float, below: float, above: float) -> Moments:
    # spreads relative to the larger one avoid overflow
    s, t = (x / max(below, above) for x in (below, above))
    c, left, right = math.sqrt(2 / math.pi), s / (s + t), t / (s + t)
    raw = [1.0, c * (t - s), right * t * t + left * s * s, 2 * c * (right * t**3 - left * s**3)]
    raw.append(3 * (right * t**4 + left * s**4))
    m = raw[1]
    variance = raw[2] - m * m
    third = raw[3] - 3 * m * raw[2] + 2 * m**3
    fourth = raw[4] - 4 * m * raw[3] + 6 * m * m * raw[2] - 3 * m**4
    return Moments(1.0, third / variance**1.5, fourth / variance**2)


def _endpoints(a: float, *rest: float) -> tuple[float, float]:
    return a, rest[-1]


def _nonnegative(*_: float) -> tuple[float, float]:
    return 0.0, math.inf


# The families by name. `lognormal` takes mean and standard deviation of the logarithm. `twopiece`
# joins two half-normal distributions: S. John, Communications in Statistics A 11 (1982) 879.
FAMILIES = {
    "normal": Family(
        ("normal(m, s)",), lambda m, s: (m, s), lambda np, rng, n, m, s: m + s * rng.standard_normal(n), "vd",
    ),
    "student": Family(
        ("student(m, s, dof)",), lambda m, s, dof: (m, s),
        lambda np, rng, n, m, s, dof: m + s * rng.standard_t(dof, n), "vdn", _student_moments,
    ),
    "uniform": Family(
        ("uniform(a, b)",), lambda a, b: (a + (b - a) / 2, (b - a) / math.sqrt(12)),
        lambda np, rng, n, a, b: a + (b - a) * rng.random(n), "vv", lambda *_: Moments(fourth=1.8), support=_endpoints,
    ),
    "triangular": Family(
        ("triangular(a, b)", "triangular(a, mode, b)"), _triangular_mean_sd,
        lambda np, rng, n, a, *rest: rng.triangular(a, rest[0] if len(rest) == 2 else (a + rest[0]) / 2, rest[-1], n),
        "vvv", _triangular_moments, support=_endpoints,
    ),
    "arcsine": Family(
        ("arcsine(a, b)",), lambda a, b: (a + (b - a) / 2, (b - a) / math.sqrt(8)),
        lambda np, rng, n, a, b: (a + b) / 2 + (b - a) / 2 * np.sin(2 * np.pi * rng.random(n)),
        "vv", lambda *_: Moments(fourth=1.5), support=_endpoints,
    ),
    "trapezoidal": Family(
        ("trapezoidal(a, b, ratio)",), lambda a, b, r: (a + (b - a) / 2, (b - a) * math.sqrt((1 + r * r) / 24)),
        lambda np, rng, n, a, b, r: a + (b - a) / 2 * ((1 + r) * rng.random(n) + (1 - r) * rng.random(n)),
        "vvn",
        # the sum of two uniform quantities
        lambda a, b, r: Moments(fourth=3 - 0.6 * (1 + 6 * r * r + r**4) / (1 + r * r) ** 2),
        support=lambda a, b, r: (a, b),
    ),
    "lognormal": Family(
        ("lognormal(mu, sigma)",), _lognormal_mean_sd, lambda np, rng, n, *p: rng.lognormal(*p, n),
        moments=_lognormal_moments, support=_nonnegative,
    ),
    "gamma": Family(
        ("gamma(shape, scale)",), lambda k, scale: (k * scale, math.sqrt(k) * scale),
        lambda np, rng, n, *p: rng.gamma(*p, n), "nd",
        lambda k, _: Moments(1.0, 2 / math.sqrt(k), 3 + 6 / k), (0, 1), _nonnegative,
    ),
    "beta": Family(
        ("beta(a, b, low, high)",), _beta_mean_sd,
        lambda np, rng, n, a, b, low, high: low + (high - low) * rng.beta(a, b, n), "nnvv",
        _beta_moments, (0, 1), lambda a, b, low, high: (low, high),
    ),
    "poisson": Family(
        ("poisson(n)",), lambda n: (n, math.sqrt(n)), lambda np, rng, n, mean: rng.poisson(mean, n).astype(float),
        moments=lambda n: Moments(1.0, 1 / math.sqrt(n), 3 + 1 / n), positive=(0,), support=_nonnegative,
    ),
    "exponential": Family(
        ("exponential(mean)",), lambda m: (m, m), lambda np, rng, n, mean: rng.exponential(mean, n), "d",
        lambda _: Moments(1.0, 2.0, 9.0), (0,), _nonnegative,
    ),
    "twopiece": Family(
        ("twopiece(mode, below, above)",), _two_piece_mean_sd,
        lambda np, rng, n, mode, s, t: mode
        + np.where(rng.random(n) < s / (s + t), -s, t) * np.abs(rng.standard_normal(n)),
        "vdd", _two_piece_moments, (1, 2),
    ),
    # empirical, without a notation: mean, standard deviation, skewness, kurtosis
    "draws": Family(
        (), lambda m, s, *_: (m, s), NotImplemented, "vdnn", lambda m, s, third, fourth: Moments(1.0, third, fourth),
    ),
}  # fmt: skip
