"""Comparison of printed answers whose last digits come out of a linear algebra library.

What NumPy and SciPy compute by LAPACK differs in its last digits from processor to processor and
from version to version, and so does the number of steps of a search. Everything else that the
program prints is its own and is compared to the last character; on Windows to a tolerance too, as
the sines of another C library end in other digits.
"""

from __future__ import annotations

import re
import sys

LIBRARY_COMMANDS = re.compile(r"\bautodiff (fit|minimize|maximize|propagate)\b|--method\b")
RELATIVE = 1e-9
NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?!\w)")
COUNT = re.compile(r"\s*(?:evaluations|steps)\b|\s*\[evaluations\]")
COUNTED = re.compile(r'"(?:evaluations|steps)": ?$')


def unit(text: str) -> float:
    """The value of a number's last written digit."""
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return float(f"1e{int(exponent or 0) - decimals}")


def close(shown: str, printed: str) -> bool:
    """Whether two written numbers agree to 1e-9 of their size, or to one unit of a last digit
    coarser than that.
    """
    a, b = float(shown.replace("−", "-")), float(printed.replace("−", "-"))
    written = max(unit(shown), unit(printed)) if "." in shown and len(shown) < 12 else 0.0
    return abs(a - b) <= max(RELATIVE * max(abs(a), abs(b)), 1.001 * written)


def determined(text: str) -> str:
    """The text without the estimates that the data do not determine: the search may end at any of
    many.
    """
    rows = [NUMBER.sub("#", row) if "not determined" in row else row for row in text.split("\n")]
    return "\n".join(rows)


def same(command: str, shown: str, printed: str) -> bool:
    """Whether a command printed what is shown, numbers of a library to a tolerance."""
    if shown == printed:
        return True
    if sys.platform != "win32" and not LIBRARY_COMMANDS.search(command):
        return False
    shown, printed = determined(shown), determined(printed)
    before = [re.sub(r"[\s─]+", " ", piece) for piece in NUMBER.split(shown)]
    after = [re.sub(r"[\s─]+", " ", piece) for piece in NUMBER.split(printed)]
    if before != after:
        return False
    numbers = zip(
        NUMBER.findall(shown), NUMBER.findall(printed), before[:-1], before[1:], strict=True
    )
    return all(
        COUNT.match(next_) or COUNTED.search(last) or close(a, b) for a, b, last, next_ in numbers
    )
