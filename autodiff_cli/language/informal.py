"""Informal notation with one meaning: products without a sign, and functions without parentheses.

`x^2 sin x` is `x^2*sin(x)`. A text is corrected here if each of its tokens is known, and nothing in
it has two meanings; the table of mistakes, which takes longer to load, has the same spellings and
all others.
"""

from __future__ import annotations

from typing import NamedTuple

from ..engine.table import primitives as _primitives  # noqa: F401  (it fills the table of functions)
from ..engine.table.primitive import ALSO_UNITS, FUNCTIONS
from ..errors import Offer
from .tokens import KEYWORDS, LazyPattern

# Names that are no units: behind a number and a space another letter may be one.
UNITLESS = frozenset(("x", "y", "z", "pi"))
# Names that are factors where a space stands between them and parentheses.
FACTORS = frozenset("xyzabckmn")
_LETTERS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron rho sigma tau"
)
# Greek letters; some are functions too, and `gamma x` may be a product.
LETTERS = frozenset([*_LETTERS.split(), "upsilon", "phi", "chi", "psi", "omega"])
_TOKEN = LazyPattern(
    r" *(?:([0-9]+(?:\.[0-9]+)?(?![0-9.eE_]))|([A-Za-z][A-Za-z0-9_]*)|(\*\*|[-+*/^()²³]))"
)
_SIGNS = {
    "**": "power",
    "^": "power",
    "²": "raised",
    "³": "raised",
    "*": "factor",
    "/": "divide",
    "(": "open",
}
_SIGNS |= {")": "close", "+": "sign", "-": "sign"}
# A measured value with its power of ten, `1.23(4)e-5`, whose `e` is no Euler's number.
_MEASURED_SCALED = LazyPattern(r"[0-9]\([0-9]+\)[eE][-+]?[0-9]")
_OPERAND_ENDS = ("number", "name", "close", "raised")
_BEHIND_OPERANDS = ("power", "raised", "factor", "divide", "end")


_OPERAND_BEGINS = ("name", "function", "open")
_ARGUMENT_ENDS = ("sign", "close", "end", "function")


def _may_follow(kind: str, before: str) -> bool:
    """Return whether a token may stand behind another: `x²^3` has two powers, and most signs need
    an operand.
    """
    if kind == "power" and before == "raised":
        return False
    return kind not in _BEHIND_OPERANDS or before in (*_OPERAND_ENDS, "function")


class InformalToken(NamedTuple):
    """A token of the small language of this module."""

    kind: str
    start: int
    end: int
    text: str


class UnclearNotation(Exception):
    """The text may have another meaning, or is not in the small language of this module."""


def certain_corrections(text: str) -> list[Offer]:
    """Return the corrections of a text whose informal notation has one meaning; none for another
    text.

    >>> [offer.text for offer in certain_corrections("x^2 sin x")]
    ['*', '(', ')']
    """
    try:
        return _Corrections(text).offers
    except UnclearNotation:
        return []


def corrected(text: str) -> str:
    """Return a text with its corrections.

    >>> corrected("x^2 sin 2x"), corrected("e^k x")
    ('x^2*sin(2x)', 'e^k x')
    """
    for offer in reversed(certain_corrections(text)):
        text = offer.within(text)
    return text


def _tokens(text: str) -> list[InformalToken]:
    if (")e" in text or ")E" in text) and _MEASURED_SCALED.search(text):
        raise UnclearNotation
    tokens: list[InformalToken] = []
    end, stop = 0, len(text.rstrip(" "))
    while end < stop:
        match = _TOKEN.match(text, end)
        if match is None:
            raise UnclearNotation
        end = match.end()
        written = match[match.lastindex]
        tokens.append(InformalToken(_kind(written), end - len(written), end, written))
    return [*tokens, InformalToken("end", stop, stop, "")]


def _kind(written: str) -> str:
    if written in _SIGNS:
        return _SIGNS[written]
    if written[0].isdigit():
        return "number"
    if written in FUNCTIONS:
        return "function"
    if written in KEYWORDS or (written.rstrip("0123456789")[1:] and written != "pi"):
        raise UnclearNotation
    return "name"


class _Corrections:
    """The corrections of a text, collected from its first token to its last. Raises
    `UnclearNotation`.
    """

    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self.offers: list[Offer] = []
        self.open: list[int] = []
        self.partner: dict[int, int] = {}
        # For each open parenthesis, whether the product at hand has a divisor.
        self.divided = [False]
        # What is written behind a token.
        self.closing: dict[int, str] = {}
        self.argument_end = 0
        for k, token in enumerate(self.tokens[:-1]):
            self._check(k, token)
            if k > self.argument_end and self._is_beside(k):
                self._multiply(k)
            if token.kind == "function" and self.tokens[k + 1].kind != "open":
                self._call(k)
            if k in self.closing:
                self.offers.append(Offer(token.end, token.end, self.closing[k]))
        if self.open:
            raise UnclearNotation

    def _kind(self, k: int) -> str:
        return self.tokens[k].kind if k >= 0 else "begin"

    def _check(self, k: int, token: InformalToken) -> None:
        """Refuse a token that does not fit, or may be meant otherwise; keep the open
        parentheses.
        """
        before = self._kind(k - 1)
        if token.kind == "open":
            if before == "name" and not self._is_factor(k - 1):
                raise UnclearNotation  # perhaps a call
            is_lone = self._kind(k + 1) in ("name", "number") and self._kind(k + 2) == "close"
            if before == "raised" and is_lone and self.tokens[k - 2].text not in FACTORS:
                raise UnclearNotation  # `f²(x)`, the square of a call
            self.open.append(k)
            self.divided.append(False)
        elif token.kind == "close":
            if not self.open or before not in _OPERAND_ENDS:
                raise UnclearNotation
            self.partner[k] = self.open.pop()
            self.divided.pop()
        elif token.kind == "divide":
            self.divided[-1] = True
        elif token.kind == "sign":
            if before in ("divide", "power", "factor", "sign", "function"):
                raise UnclearNotation
            self.divided[-1] = False
        elif token.kind == "number" and before in ("divide", "power") and self._is_coefficient(k):
            raise UnclearNotation  # `1/2x`
        if not _may_follow(token.kind, before):
            raise UnclearNotation

    def _is_factor(self, k: int) -> bool:
        """Return whether a name before parentheses is no function's: `x (y + 1)`."""
        name = self.tokens[k]
        return (
            name.text in FACTORS
            and self.tokens[k + 1].start > name.end
            and self._kind(k - 1) != "power"
        )

    def _is_coefficient(self, k: int) -> bool:
        following = self.tokens[k + 1]
        return following.kind in _OPERAND_BEGINS and following.start == self.tokens[k].end

    def _is_beside(self, k: int) -> bool:
        """Return whether a token begins an operand right behind another one, and is no
        coefficient's.
        """
        before = self._kind(k - 1)
        if self._kind(k) == "number" and before in _OPERAND_ENDS:
            raise UnclearNotation
        if self._kind(k) not in _OPERAND_BEGINS or before not in _OPERAND_ENDS:
            return False
        return before != "number" or not self._is_coefficient(k - 1)

    def _multiply(self, k: int) -> None:
        last, token = self.tokens[k - 1], self.tokens[k]
        if self.divided[-2 if token.kind == "open" else -1]:
            raise UnclearNotation
        if token.kind != "function" and self._is_tight(k - 1):
            raise UnclearNotation
        if last.kind == "number" and token.kind != "open" and not self._is_unitless(token):
            raise UnclearNotation
        self.offers.append(Offer(last.end, token.start, "*"))

    @staticmethod
    def _is_unitless(token: InformalToken) -> bool:
        return token.text in UNITLESS or (token.kind == "function" and token.text not in ALSO_UNITS)

    def _is_tight(self, k: int) -> bool:
        """Return whether what ends at a token may be an exponent with what follows: `e^k x`, but
        not `x^2 y`.
        """
        first = self.partner.get(k, k)
        if self._kind(first - 1) == "function":
            first -= 1
        if self._kind(first - 1) != "power":
            return False
        base = self.tokens[first - 2]
        is_plain = self._kind(k) == "number" and (
            base.kind == "close" or (base.kind == "name" and base.text != "e")
        )
        return not is_plain

    def _raise_call(self, k: int, first: int, power: str) -> None:
        """Put the power of a function behind its argument in parentheses: `sin^2(x)`."""
        last = self._end_of_group(first)
        if self._kind(last + 1) not in _ARGUMENT_ENDS or not power:
            raise UnclearNotation
        self.offers.append(Offer(self.tokens[k].end, self.tokens[first].start, ""))
        self.closing[last] = power
        self.argument_end = first

    def _end_of_group(self, first: int) -> int:
        depth = 0
        for k in range(first, len(self.tokens)):
            depth += (self._kind(k) == "open") - (self._kind(k) == "close")
            if depth == 0:
                return k
        raise UnclearNotation

    def _call(self, k: int) -> None:
        """Put parentheses around the argument of a function, and its power behind them."""
        if (
            self._kind(k - 1) == "power"
            or self.tokens[k].text in ALSO_UNITS
            or self.tokens[k].text in LETTERS
        ):
            raise UnclearNotation
        first, power = k + 1, ""
        if self._kind(first) == "raised":
            power, first = self.tokens[first].text, first + 1
        elif (
            self._kind(first) == "power"
            and self._kind(first + 1) == "number"
            and not self._is_coefficient(first + 1)
        ):
            power, first = f"**{self.tokens[first + 1].text}", first + 2
        if self._kind(first) == "open":
            self._raise_call(k, first, power)
            return
        last = first
        if self._kind(first) == "number" and self._is_coefficient(first):
            last = first + 1
        if self._kind(last) not in ("number", "name") or self._kind(last + 1) not in _ARGUMENT_ENDS:
            raise UnclearNotation
        self.offers.append(Offer(self.tokens[k].end, self.tokens[first].start, "("))
        self.closing[last] = f"){power}"
        self.argument_end = last
