"""Values with a power of ten: `3×10^8 m/s`, `6.67430(15)·10⁻¹¹`, `1.6 x 10^{-19} C`."""

from __future__ import annotations

import re

from ..engine.quantities.unit import SUPERSCRIPTS

_EXPONENT = r"(?:\^|\*\*)\s*([-+−]?\d{1,3}|\(\s*[-+−]?\d{1,3}\s*\)|\{\s*[-+−]?\d{1,3}\s*\})"
_POWER = re.compile(
    # at the beginning of a number, which no operator binds more closely
    r"(?P<before>(?:^|±|\+/-|\+-|[(,])\s*+[-+−]?\s*+)"
    r"(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:\(\s*\d+(?:\.\d+)?\s*\))?)\s*(?:[×·⋅*]|x(?=\s*10))\s*)?"
    rf"10(?:\s*{_EXPONENT}|([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,3}}))"
    # nothing that raises, calls or goes on with the exponent
    r"(?![\d.!⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]|\s*(?:\^|\*\*|\())",
    re.ASCII,
)


def in_e_notation(text: str) -> str:
    """Return the text of a value with its powers of ten as `e8`; all else keeps its place.

    >>> in_e_notation("3×10^8 m/s"), in_e_notation("1/2×10^3"), in_e_notation("(5.0±0.1)·10³")
    ('3e8    m/s', '1/2×10^3', '(5.0±0.1)·10³')
    """
    return _POWER.sub(_written, text) if "10" in text else text


def _written(match: re.Match[str]) -> str:
    exponent = (match[3] or match[4]).strip("(){} ").replace("−", "-").translate(SUPERSCRIPTS)
    number = f"{match['before']}{match['number'] or '1'}e{exponent}"
    return number.ljust(len(match[0]))
