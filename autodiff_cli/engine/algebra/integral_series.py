"""Series of integrals of elementary functions where the argument goes to 0 or to infinity."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..table.primitives import by_name

# The number type of asymptotic series, which imports this module.
Type = Any
# A number of that type.
Series = Any
Function = Callable[[Type, Series], Series]


def _series(m: Type, coefficient: Callable[[int], int | Fraction], u: Series) -> Series:
    return m.power_series(lambda k: m.base.number(Fraction(coefficient(k))), u)


def _goes_to(m: Type, x: Series, place: int) -> bool:
    """Return whether a series that stays finite goes to a number, which it is not."""
    return not x.is_constant and m.base.is_zero(x.constant - place)


def _of_waves(m: Type, x: Series) -> tuple[Series, Series]:
    """Return the factors of the waves in Si and Ci at infinity (DLMF 6.12.3, 6.12.4)."""
    u = 1 / (x * x)
    first = _series(m, lambda k: (-1) ** k * math.factorial(2 * k), u) / x
    return first, _series(m, lambda k: (-1) ** k * math.factorial(2 * k + 1), u) * u


def _ending(name: str, far: Function) -> Function:
    """Return an odd function of series that has limits at both infinities, from its series there."""

    def function(m: Type, x: Series) -> Series:
        toward = m.limit_sign(x)
        return toward * far(m, toward * x) if toward else m.function(name, [x])

    return function


def _sine_integral(m: Type, x: Series) -> Series:
    """Return Si where its argument goes to infinity (DLMF 6.2.19)."""
    first, second = _of_waves(m, x)
    return m.number(m.base.pi) / 2 - first * m.cos(x) - second * m.sin(x)


def cosine_integral(m: Type, x: Series) -> Series:
    """Return Ci of a series (DLMF 6.2.20, 6.6.6)."""
    toward = m.limit_sign(x)
    if toward > 0:
        first, second = _of_waves(m, x)
        return first * m.sin(x) - second * m.cos(x)
    if toward or not _goes_to(m, x, 0):
        return m.function("Ci", [x])

    def coefficient(k: int) -> Fraction:
        return Fraction((-1) ** k, 2 * k * math.factorial(2 * k)) if k else Fraction(0)

    return _euler(m) + m.log(x) + _series(m, coefficient, x * x)


def exponential_integral(m: Type, x: Series) -> Series:
    """Return Ei of a series (DLMF 6.6.1, 6.12.1, 6.12.2)."""
    if m.limit_sign(x):
        return m.exp(x) / x * _series(m, math.factorial, 1 / x)
    if not _goes_to(m, x, 0):
        return m.function("Ei", [x])

    def coefficient(k: int) -> Fraction:
        return Fraction(1, k * math.factorial(k)) if k else Fraction(0)

    return _euler(m) + m.log(m.abs(x)) + _series(m, coefficient, x)


def logarithmic_integral(m: Type, x: Series) -> Series:
    """Return li of a series: Ei of its logarithm at 0, at 1 and at infinity (DLMF 6.2.8)."""
    if m.limit_sign(x) > 0 or _goes_to(m, x, 0) or _goes_to(m, x, 1):
        return exponential_integral(m, m.log(x))
    return m.function("li", [x])


def _euler(m: Type) -> Series:
    return m.number(-m.base.digamma(m.base.number(1)))


def imaginary_error_function(m: Type, x: Series) -> Series:
    """Return erfi of a series (DLMF 7.12.1 with an imaginary argument)."""
    if not m.limit_sign(x):
        return m.function("erfi", [x])
    square = x * x
    tail = _series(m, lambda k: math.prod(range(1, 2 * k, 2)), 1 / (2 * square))
    return m.exp(square) / (x * m.sqrt(m.number(m.base.pi))) * tail


def _of_phases(m: Type, x: Series) -> tuple[Series, Series, Series]:
    """Return the factors of the waves in the Fresnel integrals at infinity, and the phase (DLMF
    7.12.2, 7.12.3).
    """
    pi = m.number(m.base.pi)
    phase = pi * x * x / 2
    rising = [math.prod([Fraction(2 * j + 1, 2) for j in range(n)]) for n in range(2 * m.size)]
    u, size = 1 / (phase * phase), 1 / (pi * x)
    first = _series(m, lambda k: (-1) ** k * rising[2 * k], u) * size
    return first, _series(m, lambda k: (-1) ** k * rising[2 * k + 1], u) * size / phase, phase


def _fresnel_sine(m: Type, x: Series) -> Series:
    """Return the Fresnel integral of a sine where its argument goes to infinity (DLMF 7.5.4)."""
    first, second, phase = _of_phases(m, x)
    return m.number(1) / 2 - first * m.cos(phase) - second * m.sin(phase)


def _fresnel_cosine(m: Type, x: Series) -> Series:
    """Return the Fresnel integral of a cosine where its argument goes to infinity (DLMF 7.5.3)."""
    first, second, phase = _of_phases(m, x)
    return m.number(1) / 2 + first * m.sin(phase) - second * m.cos(phase)


# The functions by name.
SERIES: dict[str, Function] = by_name(
    {
        "Si": _ending("Si", _sine_integral),
        "Ci": cosine_integral,
        "Ei": exponential_integral,
        "li": logarithmic_integral,
        "erfi": imaginary_error_function,
        "fresnels": _ending("fresnels", _fresnel_sine),
        "fresnelc": _ending("fresnelc", _fresnel_cosine),
    }
)
