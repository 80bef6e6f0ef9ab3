"""Trigonometric and hyperbolic functions of floats, their reciprocals and inverses, sinc, degrees and radians."""

from __future__ import annotations

import math

from .parts import sin_pi
from .twofold import finite


def csc(x: float) -> float:
    """1/sin(x); ZeroDivisionError at 0."""
    return finite(1.0 / math.sin(x))


def cot(x: float) -> float:
    """1/tan(x); ZeroDivisionError at 0."""
    return finite(1.0 / math.tan(x))


def atan2(y: float, x: float) -> float:
    """The angle in (-π, π] of the point (x, y); 0 at the origin.

    A zero has no sign here, so 0*-1 lies on the upper side of the cut as 0 does: `+ 0.0` takes the sign of -0.0 away.
    """
    return math.atan2(y + 0.0, x + 0.0)


def sech(x: float) -> float:
    """1/cosh(x), also where cosh(x) is too large for a double."""
    if math.fabs(x) < 300.0:
        return 1.0 / math.cosh(x)
    half = math.exp(-0.5 * math.fabs(x))
    return 2.0 * half * half


def csch(x: float) -> float:
    """1/sinh(x), also where sinh(x) is too large for a double; ZeroDivisionError at 0."""
    if math.fabs(x) < 300.0:
        return finite(1.0 / math.sinh(x))
    return math.copysign(sech(x), x)


def coth(x: float) -> float:
    """1/tanh(x); ZeroDivisionError at 0."""
    return finite(1.0 / math.tanh(x))


def atanh(x: float) -> float:
    """The number whose hyperbolic tangent is x; ZeroDivisionError at ±1, ValueError outside."""
    if math.fabs(x) == 1.0:
        raise ZeroDivisionError("atanh is infinite at ±1")
    return math.atanh(x)


def sinc(x: float) -> float:
    """sin(πx)/(πx), which is 1 at 0 and exactly 0 at the other integers."""
    if math.fabs(x) <= 0.25:
        angle = math.pi * x
        return math.sin(angle) / angle if angle else 1.0
    return sin_pi(x) / x / math.pi


def deg(x: float) -> float:
    """An angle given in radians, in degrees."""
    return finite(math.degrees(x))
