"""The replacements in a statement that take more than a pattern; `mistakes.txt` names them after an `@`."""

from __future__ import annotations

import re
from collections.abc import Callable
from unicodedata import normalize

from ..language.tokens import KEYWORDS
from ..table.names import native
from ..table.primitive import FUNCTIONS

_CAPITAL = frozenset((*native("log atan2 sinc"), "arctan"))
"""Functions that are others, or take their arguments otherwise, in languages that write them with a capital letter."""


def _plain(match: re.Match[str]) -> str:
    return normalize("NFKC", match[0])


def _power(match: re.Match[str]) -> str:
    exponent = normalize("NFKC", match[0]).replace("−", "-")
    return f"**{exponent}" if len(exponent) == 1 else f"**({exponent})"


def _fraction(match: re.Match[str]) -> str:
    """The quotient that a vulgar fraction is, with the signs for the sum and the products that it stands in."""
    over, _, under = normalize("NFKC", match["sign"]).partition("⁄")
    value = f"({match[1]} + {over}/{under})" if match[1] else f"({over}/{under})"
    if match["after"]:
        word = re.search(r"[^\W\d]\w*\Z", match.string[: match.end("after")].rstrip())
        is_operand = not (word and (word[0] in FUNCTIONS or word[0] in KEYWORDS))
        value = (match["after"].rstrip() + "*" if is_operand else match["after"]) + value
    # As an exponent or a divisor it has two readings before a factor, as `2^2x` has: no sign, no spelling.
    is_ambiguous = re.search(r"(?:[/÷^]|\*\*)\s*[-+−]?\s*\Z", match.string[: match.start()])
    return value + "*" * bool(match["before"] and not is_ambiguous)


def _choice(match: re.Match[str]) -> str:
    """The `if` for `condition ? value : other`."""
    condition = match[2] if re.search("[<>=!≤≥≠]|\\b(?:and|or|not)\\b", match[2]) else f"{match[2]} != 0"
    return f"{match[1] or ''}{match[3]} if {condition} else {match[4]}"


def _digits(match: re.Match[str]) -> str:
    return "".join(str(int(digit)) for digit in match[0])


def _call(match: re.Match[str]) -> str:
    """The beginning of a call for `Sin[`."""
    name = match[1].lower()
    return f"{name if name in FUNCTIONS and name not in _CAPITAL else match[1]}("


def _ungrouped(match: re.Match[str]) -> str:
    return match[0].replace(".", "").replace(",", ".")


def _lower(match: re.Match[str]) -> str:
    return match[0].lower()


def _latex(match: re.Match[str]) -> str:
    from .latex import spelled

    return spelled(match)


REPAIRS: dict[str, Callable[[re.Match[str]], str]] = {
    "plain": _plain,
    "power": _power,
    "fraction": _fraction,
    "choice": _choice,
    "digits": _digits,
    "call": _call,
    "ungrouped": _ungrouped,
    "lower": _lower,
    "latex": _latex,
}
