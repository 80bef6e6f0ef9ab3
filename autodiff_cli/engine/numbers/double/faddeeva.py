"""The Faddeeva function w and its derivative in doubles, by the trapezoidal rule, where that has
enough digits.
"""

from __future__ import annotations

import cmath
import math
from functools import lru_cache

from .twofold import scaled_exp, two_product, two_sum

# Between two nodes: the rule is right to exp(-(π/STEP)²), which is 3e-31; multiples of 3/8 are
# exact.
STEP = 0.375

# The weight exp(-t²) of a node beyond is below 3e-21.
LAST_NODE = 6.9

# Nearer to the real axis, or further away, the real part is too small for the rule.
MIN_Y, MAX_SIZE = 1e-3, 100.0

# How many times as large as their sum terms may be.
MAX_LOSS = 4.0

Nodes = tuple[tuple[float, float], ...]


def _nodes(first: float, weight: float) -> Nodes:
    """Return t and a weight of exp(-t²)/π for nodes t and -t together."""
    places = [first + STEP * k for k in range(math.ceil(LAST_NODE / STEP))]
    return tuple([(t, (1.0 if t else 0.5) * weight * math.exp(-t * t)) for t in places])


_WHOLE, _HALF = (_nodes(first, 2.0 * STEP / math.pi) for first in (0.0, STEP / 2.0))


# The real and the imaginary part of w, and those of w'; None where terms cancel.
Parts = tuple[float | None, float | None, float | None, float | None]


def faddeeva(order: float, x: float, y: float, *, imaginary: bool) -> float | None:
    """Return a part of w or w' at x + iy; None where terms cancel, or the rule has too few
    digits.
    """
    if not (order in (0, 1) and MIN_Y <= y <= MAX_SIZE and math.fabs(x) <= MAX_SIZE):
        return None
    return _parts(x, y)[2 * int(order) + imaginary]


@lru_cache(1)
def _parts(x: float, y: float) -> Parts:
    """Return the parts by the trapezoidal rule; a profile and its slopes take one after the other
    at one point.

    w(z) = i/π·∫ exp(-t²)/(z - t) dt for y > 0 (DLMF 7.7.2). The error that the pole t = z makes in
    the trapezoidal rule is a residue (Chiarella and Reichel 1968); of two sets of nodes that is
    taken whose nodes are not near x.
    """
    place = (x - STEP * round(x / STEP)) / STEP
    whole = math.fabs(place) > 0.25
    nodes = _WHOLE if whole else _HALF
    value = slope = 0j
    size = slope_size = 0.0
    if y < math.pi / STEP:
        value, slope, slope_size = _residue(x, y, place, whole)
        size = abs(value)
    # w and w' are sums of i/2·(1/(z - t) + 1/(z + t)) and -i/2·(1/(z - t)² + 1/(z + t)²)
    square = y * y
    real = imag = imag_size = slope_real = slope_imag = real_size = both_size = 0.0
    for t, weight in nodes:
        u, v = x - t, x + t
        a, b = 1.0 / (u * u + square), 1.0 / (v * v + square)
        first, second = weight * a, weight * b
        real += first + second
        term = (square + u * v) * first * b
        imag += term
        imag_size += math.fabs(term)
        first *= a
        second *= b
        p, q = u * first, v * second
        slope_real += p + q
        real_size += math.fabs(p) + math.fabs(q)
        p, q = (y - u) * (y + u) * first, (y - v) * (y + v) * second
        slope_imag += p + q
        both_size += math.fabs(p) + math.fabs(q)
    if math.fabs(x) < STEP / 4.0:
        slope_real, real_size = _slope_near_0(nodes, x, y)
    half = 0.5 * y
    return (
        _kept(value.real + half * real, size + half * real),
        _kept(value.imag + x * imag, size + math.fabs(x) * imag_size),
        _kept(slope.real - y * slope_real, slope_size + y * real_size),
        _kept(slope.imag + 0.5 * slope_imag, slope_size + 0.5 * both_size),
    )


def _kept(total: float, size: float) -> float | None:
    return total if MAX_LOSS * math.fabs(total) >= size else None


def _slope_near_0(nodes: Nodes, x: float, y: float) -> tuple[float, float]:
    """Return the sum of u/|z - t|⁴ + v/|z + t|⁴ over the nodes, whose parts cancel there, and the
    size of its terms.
    """
    total = size = 0.0
    square = x * x + y * y
    for t, weight in nodes:
        u, v, s = x - t, x + t, square + t * t
        below = (u * u + y * y) * (v * v + y * y)
        factor = 2.0 * weight * x / (below * below)
        p, q = factor * s * square, factor * t * t * (4.0 * x * x - 3.0 * s)
        total += p + q
        size += math.fabs(p) + math.fabs(q)
    return total, size


def _residue(x: float, y: float, place: float, whole: bool) -> tuple[complex, complex, float]:
    """Return the residue 2·exp(-z²)/(1 ∓ exp(-2πi·z/STEP)), its derivative, and the size of the
    terms of that.
    """
    (p, p_error), (q, q_error) = two_product(x, x), two_product(y, y)
    exponent, error = two_sum(q, -p)
    size = scaled_exp(2.0, exponent, error + (q_error - p_error))
    wave = complex(size * math.cos(2.0 * x * y), -size * math.sin(2.0 * x * y))
    # z/STEP but for whole numbers
    turn = cmath.exp(complex(2.0 * math.pi * y / STEP, -2.0 * math.pi * place)) * (
        1.0 if whole else -1.0
    )
    below = 1.0 - turn
    value = wave / below
    by_wave, by_turn = -2.0 * complex(x, y) * value, -2j * math.pi / STEP * turn * value / below
    return value, by_wave + by_turn, abs(by_wave) + abs(by_turn)
