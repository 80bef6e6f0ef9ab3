"""What speaks against the one spelling that a hint offers: that something else may be meant by the same text.

A name for each thing to look at, as mistakes give them; true where it holds nothing against the spelling. What cannot
be looked at, since the text is not as it takes it to be, counts as a doubt.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..language.tokens import KEYWORDS
from ..language.typesetting import GREEK
from ..table.primitive import FUNCTIONS
from .context import Context
from .fragments import RANGES, Pieces, span
from .suggestions import meaning
from .vocabulary import is_glued

_FRACTIONS = "¼-¾⅐-⅞↉"
_QUOTES = "\"'`´“”„‟«»‘’‚‛"
_DASHES = "‐‑‒–—―﹘﹣－"
_UNSEEN = "\u00ad\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"
_SURE = "pmkzyxljieavqBf"
"""What may follow an operand that ends there: the end, a sum, a comparison, another function."""


def is_certain(doubts: str, pieces: Pieces, stop: int) -> bool:
    """Whether none of these speaks against a spelling whose place ends there."""
    return all(DOUBTS[name](pieces, stop) for name in doubts.split())


_BINDING = re.compile(r"(?:^|[;\n])[^\S\n]*([^\s=;]+)[^\S\n]*=(?!=)")
"""The beginning of a statement that gives a name a value."""


def known(c: Context, name: str) -> bool:
    """Whether a name is known to be one: the point or the program gives it a value, or it is a single symbol."""
    letters = re.match(r"[^\W\d_]*", name)
    single = letters is not None and len(letters[0]) <= 1
    bound = any(found[1] == name for found in _BINDING.finditer(c.text))
    return single or name in c.given or name in GREEK or name in FUNCTIONS or name in KEYWORDS or bound


def _statement(p: Pieces) -> str:
    start, end = span(p.context, "statement")
    return p.context.text[start:end]


def _is_whole(p: Pieces, stop: int) -> bool:
    """No name there is made of names that have values, or stands before parentheses without being a function.

    Of `xy!` only the `y` may be meant, of `sin xy` and `sin x(y)` only the `x`.
    """
    c = p.context
    end = next(number for number, token in enumerate(c.tokens) if token.start >= stop)
    if "no" in c.letters[max(0, c.at - 1) : end]:
        return False
    names = {
        c.text[token.start : token.end]
        for token in c.tokens[max(0, c.at - 2) :]
        if token.letter in "n" and token.start < stop
    }
    return not any(name not in c.given and is_glued(name, c.given) for name in names)


def _is_over(p: Pieces, stop: int) -> bool:
    """An argument without parentheses ends there: nothing follows that it could go on with, and it has no power."""
    c = p.context
    end = next(number for number, token in enumerate(c.tokens) if token.start >= stop)
    if not _is_whole(p, stop):
        return False
    if c.letters[end] in "wsg":
        return False
    start = c.partner.get(end - 1)
    if start is not None and start >= c.at - 1 - (c.letters[start - 1] in "nf"):
        return True
    return c.letters[end] in _SURE and c.letters[end - 1] != "s" and c.letters[end - 2] != "w"


def _is_closed(p: Pieces, stop: int) -> bool:
    c = p.context
    if not _is_whole(p, stop):
        return False
    end = next(number for number, token in enumerate(c.tokens) if token.start >= stop)
    return c.letters[end] not in "nf1corbBgws"


def _is_builtin(p: Pieces, stop: int) -> bool:
    """A power of a function that the program defines may be a repetition."""
    c = p.context
    at = RANGES["raised"](c)[0] if c.letters[c.first] == "z" else c.first
    return c.text[c.tokens[at].start : c.tokens[at].end] in FUNCTIONS


def _is_apart(p: Pieces, stop: int) -> bool:
    """No two words become one without the sign between them, and none turns the order of what is seen."""
    return not re.search(rf"\w[{_UNSEEN}]+\w|[\u202a-\u202e\u2061-\u2069]", _statement(p))


def _is_quoted(p: Pieces, stop: int) -> bool:
    quote = f"[{_QUOTES}]"
    return re.fullmatch(rf"\s*+{quote}++(?:(?<={quote}{{2}})|[^{_QUOTES}]++{quote}++)\s*", _statement(p)) is not None


def _no_operand_before_a_fraction(p: Pieces, stop: int) -> bool:
    """`x½` may be a half of `x`, or its root."""
    text = _statement(p)
    if re.search(rf"[{_FRACTIONS}]\s*[{_FRACTIONS}]|[√∛∜]\s*[{_FRACTIONS}]\s*[\w(√]|,[0-9]+\s*[{_FRACTIONS}]", text):
        return False
    word = rf"(?<![^\W{_FRACTIONS}])\d*+([^\W\d{_FRACTIONS}][^\W{_FRACTIONS}]*+)"
    for found in re.finditer(rf"(?:{word}|[)|])\s*+[{_FRACTIONS}]", text):
        if found[1] not in KEYWORDS and found[1] not in FUNCTIONS:
            return False
    return True


def _is_single_letters(p: Pieces, stop: int) -> bool:
    """In mathematics as it is set, letters side by side are a product, and a number before a fraction is part of it."""
    if re.search(r"[0-9]\s*\\[dt]?frac\s*\{?\s*[0-9]", _statement(p)):
        return False
    text = re.sub(r"\\(?:mathrm|operatorname|text|mathbf|mathit)\s*\{\s*\w+\s*\}|\\[a-zA-Z]+", " ", _statement(p))
    text = re.sub(r"_\s*(?:\{\w+\}|\w)", " ", text)
    words = re.findall(r"[^\W\d_]{2,}", text)
    given = p.context.given
    return all(w in given or w.lower() in FUNCTIONS or w in KEYWORDS or is_glued(w, given) for w in words)


def _is_factor(p: Pieces, stop: int) -> bool:
    """What stands before the error is no divisor, no exponent and under no root, which could go on."""
    c = p.context
    at = c.operand(c.at)
    return not c.letters[:at].rstrip("pm").endswith(("d", "w", "r")) and not set("wr") & set(c.letters[at : c.at])


def _is_percentage(p: Pieces, stop: int) -> bool:
    """Nothing comes after the sign that it could be the remainder by."""
    return p.context.letters[p.context.at + 1] in "pmtdzyxljkieavw"


def _no_words(p: Pieces, stop: int) -> bool:
    """What comes after the sign is no comment in words."""
    c = p.context
    following = c.tokens[c.at + 1 : c.at + 3]
    return all(token.letter != "n" or known(c, c.text[token.start : token.end]) for token in following)


def _no_prose(p: Pieces, stop: int) -> bool:
    """What stands side by side is symbols, and no words."""
    c = p.context
    beside = c.tokens[c.at - 1 : c.at + 1]
    return all(token.letter != "n" or known(c, c.text[token.start : token.end]) for token in beside)


def _no_index(p: Pieces, stop: int) -> bool:
    """No name but a function's stands directly before a bracket: `k[A]` may be an index, or a product."""
    for found in re.finditer(r"(?<!\w)\d*+([^\W\d]\w*+)\s*+[\[{⟨]", _statement(p)):
        if found[1].lower() not in FUNCTIONS and found[1] not in KEYWORDS:
            return False
    return True


def _is_module(p: Pieces, stop: int) -> bool:
    """What stands after the dots are functions and constants of the language."""
    found = re.findall(r"(?<!\w)\d*+[^\W\d]\w*+\s*+\.\s*+([^\W\d]\w*+)(\s*+\()?", _statement(p))
    return all(name in FUNCTIONS if call else name in ("pi", "e") for name, call in found)


def _one_way(p: Pieces, stop: int) -> bool:
    """Wherever the parenthesis is closed, it is the same program."""
    c = p.context
    if len(c.open) != 1 or c.at - c.open[0] > 40:
        return False
    start, end = span(c, "statement")
    meanings = {
        meaning(f"{c.text[start : token.end]}){c.text[token.end : end]}") for token in c.tokens[c.open[0] + 1 : c.at]
    }
    return len(meanings - {None}) == 1


def _no_spreadsheet_power(p: Pieces, stop: int) -> bool:
    """In a spreadsheet `-2^2` is 4, and `2^3^2` is 64."""
    text = _statement(p)
    return not re.search(r"(?:^=|[(,=*/^+<>-])\s*[-+][^-+*/(,]*\^|\^[^-+*/(,]*\^", text)


DOUBTS: dict[str, Callable[[Pieces, int], bool]] = {
    "never": lambda p, stop: False,
    "over": _is_over,
    "whole": _is_whole,
    "closed": _is_closed,
    "builtin": _is_builtin,
    "apart": _is_apart,
    "quoted": _is_quoted,
    "no_operand_before": _no_operand_before_a_fraction,
    "single_letters": _is_single_letters,
    "factor": _is_factor,
    "percentage": _is_percentage,
    # A number in groups stands before the error, and not as a divisor, an exponent or under a root.
    "whole_number": lambda p, stop: (
        not re.search(
            r"(?:[/÷^√∛∜]|\*\*)\s*[-+−]?\s*[0-9]+(?:,[0-9]{3})+(?:\.[0-9]+)?\s*\Z", p.context.text[: p.context.point]
        )
    ),
    "no_number": lambda p, stop: p.context.letters[p.context.at] not in "1c",
    # An equals sign elsewhere than in a condition may be an equation.
    "in_condition": lambda p, stop: (
        p.context.letters.rfind("i", 0, p.context.at) > p.context.letters.rfind("e", 0, p.context.at)
    ),
    "single_dash": lambda p, stop: not re.search(rf"[-−{_DASHES}]\s*[{_DASHES}]|[{_DASHES}]\s*[-−]", _statement(p)),
    # In a spreadsheet `$A$1` is a place; elsewhere a dollar sign between two words is none of these.
    "no_dollar_within": lambda p, stop: (
        not re.search(r"\w\$\w", re.sub(r"(?<!\w)\$?[A-Z]{1,3}\$[0-9]+", "", _statement(p)))
    ),
    "no_words": _no_words,
    "no_prose": _no_prose,
    "no_index": _no_index,
    "module": _is_module,
    "one_way": _one_way,
    "no_spreadsheet_power": _no_spreadsheet_power,
    "no_letter_after": lambda p, stop: not re.search(r"°\s*[^\W\d]", _statement(p)),
    "numbered": lambda p, stop: re.fullmatch(r"\[\d+\]", p["sign"]) is not None,
    # Bars could stand in pairs in more than one way.
    "few_bars": lambda p, stop: sum(letter in "bB" for letter in p.context.letters) <= 2,
}
"""By name, whether nothing speaks against the spelling; of its place they are given the end."""
