"""Reasons not to accept the one spelling that a hint offers: the text may mean something else.

A name for each thing that has to hold, as `certain` in `mistakes.txt` lists them; true where nothing speaks against the
spelling. What cannot be looked at, since the text is not as it takes it to be, counts as an ambiguity.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress

from ..language.tokens import KEYWORDS
from ..language.typesetting import GREEK
from ..table.primitive import FUNCTIONS
from .context import BARS, ENDS, FACTOR_SIGNS, NAMES, NUMBERS, POWERS, SIGNS, TIGHT, VALUES, Context, Kind
from .fragments import Fragments, span
from .mistakes import DASHES, FRACTIONS, QUOTES, UNSEEN
from .suggestions import is_glued, meaning

_AFTER_ARGUMENT = ENDS + Kind.EQUALS + Kind.CLOSING_BAR + Kind.FUNCTION
_BEFORE_NO_OPERAND = ENDS + FACTOR_SIGNS + Kind.POWER
_GOES_ON = VALUES + BARS + POWERS + Kind.UNREADABLE

_BINDING = re.compile(r"(?:^|[;\n])[^\S\n]*([^\s=;]+)[^\S\n]*=(?!=)")
"""The beginning of a statement that gives a name a value."""

_WHOLLY_QUOTED = re.compile(rf"\s*+[{QUOTES}]++(?:(?<=[{QUOTES}]{{2}})|[^{QUOTES}]++[{QUOTES}]++)\s*")
_GROUPED_DIVISOR = re.compile(r"(?:[/÷^√∛∜]|\*\*)\s*[-+−]?\s*[0-9]+(?:,[0-9]{3})+(?:\.[0-9]+)?\s*\Z")

Condition = Callable[[Fragments, int], bool]
"""Whether nothing speaks against the spelling; of its place it is given the end."""


def is_certain(conditions: str, c: Fragments, stop: int) -> bool:
    """Return whether nothing speaks against a spelling whose place ends there."""
    with suppress(LookupError, ValueError, StopIteration):
        return all(CONDITIONS[name](c, stop) for name in conditions.split())
    return False


def _are_known(c: Context, first: int, end: int) -> bool:
    names = {c.text[token.start : token.end] for token in c.tokens[first:end] if token.kind == Kind.NAME}
    bound = {binding[1] for binding in _BINDING.finditer(c.text)} if names else set()
    known = {*bound, *c.valued, *GREEK, *FUNCTIONS, *KEYWORDS}
    return all(name in known or re.fullmatch(r"[^\W\d_]?(?![^\W\d_]).*", name, re.DOTALL) for name in names)


def _statement(c: Fragments) -> str:
    start, end = span(c, "statement")
    return c.text[start:end]


def _without(pattern: str, apart: str = "(?!)") -> Condition:
    return lambda c, stop: not re.search(pattern, re.sub(apart, "", _statement(c)))


def _no_joined_names(c: Fragments, stop: int) -> bool:
    """No name there is made of names that have values, or stands before parentheses without being a function.

    Of `xy!` only the `y` may be meant, of `sin xy` and `sin x(y)` only the `x`.
    """
    if Kind.NAME + Kind.OPEN in c.kinds[max(0, c.at - 1) : c.token_from(stop)]:
        return False
    names = {
        c.text[token.start : token.end]
        for token in c.tokens[max(0, c.at - 2) :]
        if token.kind == Kind.NAME and token.start < stop
    }
    return not any(name not in c.valued and is_glued(name, c.valued) for name in names)


def _argument_ends(c: Fragments, stop: int) -> bool:
    end = c.token_from(stop)
    if not _no_joined_names(c, stop) or c.kinds[end] in POWERS + Kind.UNREADABLE:
        return False
    start = c.partner.get(end - 1)
    if start is not None and start >= c.at - 1 - (c.kinds[start - 1] in NAMES):
        return True
    has_power = c.kinds[end - 1] == Kind.SUPERSCRIPT or c.kinds[end - 2] == Kind.POWER
    return c.kinds[end] in _AFTER_ARGUMENT and not has_power


def _no_operand_before_fraction(c: Fragments, stop: int) -> bool:
    """`x½` may be a half of `x`, or its root."""
    text = _statement(c)
    if re.search(rf"[{FRACTIONS}]\s*[{FRACTIONS}]|[√∛∜]\s*[{FRACTIONS}]\s*[\w(√]|,[0-9]+\s*[{FRACTIONS}]", text):
        return False
    word = rf"(?<![^\W{FRACTIONS}])\d*+([^\W\d{FRACTIONS}][^\W{FRACTIONS}]*+)"
    operands = re.finditer(rf"(?:{word}|[)|])\s*+[{FRACTIONS}]", text)
    return all(operand[1] in KEYWORDS or operand[1] in FUNCTIONS for operand in operands)


def _single_letters(c: Fragments, stop: int) -> bool:
    """Typeset letters side by side are a product, and a number before a fraction is part of it."""
    if re.search(r"[0-9]\s*\\[dt]?frac\s*\{?\s*[0-9]", _statement(c)):
        return False
    text = re.sub(r"\\(?:mathrm|operatorname|text|mathbf|mathit)\s*\{\s*\w+\s*\}|\\[a-zA-Z]+", " ", _statement(c))
    text = re.sub(r"_\s*(?:\{\w+\}|\w)", " ", text)
    words = re.findall(r"[^\W\d_]{2,}", text)
    known_names = c.valued
    return all(w in known_names or w.lower() in FUNCTIONS or w in KEYWORDS or is_glued(w, known_names) for w in words)


def _no_divisor_or_power(c: Fragments, stop: int) -> bool:
    at = c.operand(c.at)
    is_right_operand = c.kinds[:at].rstrip(SIGNS).endswith(tuple(TIGHT))
    return not is_right_operand and not {Kind.POWER, Kind.ROOT} & set(c.kinds[at : c.at])


def _no_index(c: Fragments, stop: int) -> bool:
    """No name but a function's stands directly before a bracket: `k[A]` may be an index, or a product."""
    names = re.findall(r"(?<!\w)\d*+([^\W\d]\w*+)\s*+[\[{⟨]", _statement(c))
    return all(name.lower() in FUNCTIONS or name in KEYWORDS for name in names)


def _known_module_names(c: Fragments, stop: int) -> bool:
    names = re.findall(r"(?<!\w)\d*+[^\W\d]\w*+\s*+\.\s*+([^\W\d]\w*+)(\s*+\()?", _statement(c))
    return all(name in FUNCTIONS if call else name in ("pi", "e") for name, call in names)


def _one_place_to_close(c: Fragments, stop: int) -> bool:
    """Wherever the parenthesis is closed, it is the same program."""
    if len(c.open) != 1 or c.at - c.open[0] > 40:
        return False
    start, end = span(c, "statement")
    meanings = {
        meaning(f"{c.text[start : token.end]}){c.text[token.end : end]}") for token in c.tokens[c.open[0] + 1 : c.at]
    }
    return len(meanings - {None}) == 1


CONDITIONS: dict[str, Condition] = {
    "never": lambda c, stop: False,
    "argument_ends": _argument_ends,
    "no_joined_names": _no_joined_names,
    "operand_ends": lambda c, stop: _no_joined_names(c, stop) and c.kinds[c.token_from(stop)] not in _GOES_ON,
    # A power of a function that the program defines may be a repetition.
    "builtin_function": lambda c, stop: c["powered" if c.kinds[c.first] == Kind.CLOSE else "function"] in FUNCTIONS,
    # No two words become one without the sign, and nothing turns the order of the text.
    "no_joined_words": _without(rf"\w[{UNSEEN}]+\w|[\u202a-\u202e\u2061-\u2069]"),
    "wholly_quoted": lambda c, stop: _WHOLLY_QUOTED.fullmatch(_statement(c)) is not None,
    "no_operand_before_fraction": _no_operand_before_fraction,
    "single_letters": _single_letters,
    # The operand before the error is no divisor, no exponent and under no root.
    "no_divisor_or_power": _no_divisor_or_power,
    # Nothing comes after the percent sign that it could be the remainder by.
    "no_operand_after": lambda c, stop: c.kinds[c.at + 1] in _BEFORE_NO_OPERAND,
    # No number in groups stands before the error as a divisor, an exponent or under a root.
    "no_grouped_divisor": lambda c, stop: not _GROUPED_DIVISOR.search(c.text[: c.point]),
    "no_number_after": lambda c, stop: c.kinds[c.at] not in NUMBERS,
    # An equals sign elsewhere than in a condition may be an equation.
    "in_condition": lambda c, stop: c.kinds.rfind(Kind.IF, 0, c.at) > c.kinds.rfind(Kind.ELSE, 0, c.at),
    "single_dash": _without(rf"[-−{DASHES}]\s*[{DASHES}]|[{DASHES}]\s*[-−]"),
    # In a spreadsheet `$A$1` is a place.
    "no_dollar_within": _without(r"\w\$\w", r"(?<!\w)\$?[A-Z]{1,3}\$[0-9]+"),
    # What comes after the sign is no comment in words.
    "no_words_after": lambda c, stop: _are_known(c, c.at + 1, c.at + 3),
    # What stands side by side is symbols, and no words.
    "no_words_beside": lambda c, stop: _are_known(c, c.at - 1, c.at + 1),
    "no_index": _no_index,
    "known_module_names": _known_module_names,
    "one_place_to_close": _one_place_to_close,
    # In a spreadsheet `-2^2` is 4, and `2^3^2` is 64.
    "no_spreadsheet_power": _without(r"(?:^=|[(,=*/^+<>-])\s*[-+][^-+*/(,]*\^|\^[^-+*/(,]*\^"),
    "no_letter_after_degree": _without(r"°\s*[^\W\d]"),
    # Bars could stand in pairs in more than one way.
    "few_bars": lambda c, stop: sum(kind in BARS for kind in c.kinds) <= 2,
}
"""The conditions by name."""
