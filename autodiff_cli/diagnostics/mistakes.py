"""The table of mistakes in `mistakes.txt`, which explains the form of a row."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

from ..language.tokens import KEYWORDS
from ..table.primitive import FUNCTIONS
from ..table.primitives import library_names
from .latex import translate

# characters in typed or pasted formulas, as parts of patterns
DASHES = "‐‑‒–—―﹘﹣－"
FRACTIONS = "¼-¾⅐-⅞↉"
LOWERED = "ᵢ-ᵪₐ-ₜⱼ"
QUOTES = "\"'`´“”„‟«»‘’‚‛"
RAISED = "ªºʰ-ʸˠ-ˤᴬ-ᵡᵸᶛ-ᶿⁱⁿ"
UNSEEN = "\u00ad\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"
MODULES = r"\b(?:math|cmath|np|numpy|jnp|jax|torch|tf|F|Math|mpmath|sympy|sp)"

FRACTION = (
    rf"(?:(?<![\w.])([0-9]+)\s*|(?P<after>[\w)|]\s*))?(?P<sign>[{FRACTIONS}])"
    rf"(?=\s*(?P<before>(?!(?:if|else|and|or)\b)(?:[^\W\d{FRACTIONS}]|[(√]))?)"
)
"""A vulgar fraction with the number or operand before it and the operand after it."""

_CAPITAL = frozenset((*library_names("log atan2 sinc"), "arctan"))
"""Functions that have other meanings with a capital letter."""


def _power(match: re.Match[str]) -> str:
    exponent = normalize("NFKC", match[0]).replace("−", "-")
    return f"**{exponent}" if len(exponent) == 1 else f"**({exponent})"


def _fraction(match: re.Match[str]) -> str:
    """Return a vulgar fraction as a quotient, with signs around it."""
    over, _, under = normalize("NFKC", match["sign"]).partition("⁄")
    value = f"({match[1]} + {over}/{under})" if match[1] else f"({over}/{under})"
    if match["after"]:
        word = re.search(r"[^\W\d]\w*\Z", match.string[: match.end("after")].rstrip())
        is_operand = not (word and (word[0] in FUNCTIONS or word[0] in KEYWORDS))
        value = (match["after"].rstrip() + "*" if is_operand else match["after"]) + value
    # As an exponent or divisor before a factor it is ambiguous, as `2^2x` is.
    is_ambiguous = re.search(r"(?:[/÷^]|\*\*)\s*[-+−]?\s*\Z", match.string[: match.start()])
    return value + "*" * bool(match["before"] and not is_ambiguous)


def _choice(match: re.Match[str]) -> str:
    condition = match[2] if re.search("[<>=!≤≥≠]|\\b(?:and|or|not)\\b", match[2]) else f"{match[2]} != 0"
    return f"{match[1] or ''}{match[3]} if {condition} else {match[4]}"


def _call(match: re.Match[str]) -> str:
    name = match[1].lower()
    return f"{name if name in FUNCTIONS and name not in _CAPITAL else match[1]}("


REPAIRS: dict[str, Callable[[re.Match[str]], str]] = {
    "plain": lambda match: normalize("NFKC", match[0]),
    "power": _power,
    "fraction": _fraction,
    "choice": _choice,
    "digits": lambda match: "".join(str(int(digit)) for digit in match[0]),
    "call": _call,
    "ungrouped": lambda match: match[0].replace(".", "").replace(",", "."),
    "lower": lambda match: match[0].lower(),
    "latex": translate,
}
"""Replacements by functions; `mistakes.txt` names them after an `@`."""


Repair = tuple[str, str | Callable[[re.Match[str]], str]]
"""A pattern and its replacement."""


class Mistake(NamedTuple):
    """A mistake with its token pattern, where `!` precedes the unexpected token."""

    tokens: str
    message: str
    write: tuple[str, ...] = ()
    example: tuple[str, ...] = ()
    hint: str = "write {}"
    text: str = ""
    before: str = ""
    takes: str = ""
    needs: str = ""
    caret: str = "token"
    also: str = ""
    there: str = "opening"
    place: tuple[str, ...] = ()
    edit: str = ""
    same: str = ""
    certain: str = ""
    repair: tuple[Repair, ...] = ()
    alone: str = ""
    kind: str = "syntax"

    @property
    def offers(self) -> tuple[str, ...]:
        """Return the spellings to suggest, or else the repaired statement."""
        return self.write or (("{repaired}",) if self.repair else ())


def _mistakes(table: str) -> Iterator[Mistake]:
    # Indented lines continue a row.
    for row in re.findall(r"^[^#\s].*(?:\n +.*)*", table, re.MULTILINE):
        tokens, *fields = re.split(r"\s{2,}", row.rstrip())
        values: dict[str, Any] = {"caret": "sign" if "UNREADABLE" in tokens else "token"}
        for field in fields:
            key, _, value = field.partition(": ")
            if key not in Mistake._fields:
                assert "message" not in values, field
                values["message"] = field
            elif key == "repair":
                pattern, _, text = value.partition(" →")
                text = _characters(text.removeprefix(" "))
                replacement = REPAIRS[text[1:]] if text.startswith("@") else text
                values[key] = (*values.get(key, ()), (_characters(pattern), replacement))
            elif key in ("write", "example", "place"):
                values[key] = (*values.get(key, ()), value)
            else:
                values[key] = _characters(value)
        if len(values.get("place", ())) == 1:
            values["place"] *= len(values.get("write", ()))
        yield Mistake(tokens, **values)


def _characters(text: str) -> str:
    text = re.sub("<([A-Z]+)>", lambda name: globals()[name[1]], text) if "<" in text else text
    return text.replace("␣", " ")


MISTAKES = tuple(_mistakes((Path(__file__).parent / "mistakes.txt").read_text(encoding="utf-8")))
"""All mistakes, of which the first match applies; the last one always matches."""
