"""Headings of columns: the names that they have, and the unit of their values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from .parse_point import is_name

# compiled where they are needed: the start of an answer has none of them
_IN_BRACKETS = r"(.*?)\s*(?:\[([^\[\]]*)\]|\(([^()]*(?:\([^()]*\)[^()]*)*)\))\s*"
_AFTER_SLASH = r"([^/]*?)\s*/\s*(.+)"
_AFTER_IN = r"(.+?)\s+in\s+(\S+)"

OTHER_UNITS = frozenset(["1", "%", "‰", "dB", "dBm", "a.u.", "counts", "cts", "arb.", "arb.u."])
"""What stands for a unit in tables, and has no factor."""


def is_unit(text: str) -> bool:
    """Whether a text is a unit, and nothing else.

    >>> is_unit("m/s"), is_unit("[V]"), is_unit("2.5"), is_unit("voltage")
    (True, True, False, False)
    """
    from ..quantities.unit import unit_or_none  # most headings are names

    unit = without_brackets(text) or "1"
    return unit in OTHER_UNITS or unit_or_none(unit) is not None


def without_brackets(text: str) -> str:
    """A unit in brackets without them; another one as it is."""
    inner = re.fullmatch(r"\[(.*)\]|\(([^()]*)\)", text)
    return (inner[1] or inner[2] or "").strip() if inner else text


def heading(text: str) -> tuple[tuple[str, ...], str | None]:
    """The names that a heading may stand for in a formula, and its unit, None where it has none.

    >>> heading("Spannung U [V]"), heading("t/s"), heading("x")
    ((('U',), 'V'), (('t',), 's'), (('x',), None))
    """
    if is_name(text):
        return (text,), None
    base, unit = text, None
    for pattern in (_IN_BRACKETS, _AFTER_SLASH, _AFTER_IN):
        match = re.fullmatch(pattern, text)
        inner = next((piece.strip() for piece in match.groups()[1:] if piece), None) if match else None
        if match and (pattern is _IN_BRACKETS or (inner and is_unit(inner))):
            base, unit = match[1], inner if inner and is_unit(inner) else None
            break
    names = [base, *base.split()[-1:]]
    return tuple(dict.fromkeys(name for name in names if is_name(name))), unit


def unit_in_heading(text: str, name: str) -> str | None:
    """The unit in the heading of the column of a name; what `u(V)` has in parentheses is none, but a name.

    >>> unit_in_heading("U (mV)", "U"), unit_in_heading("u(V)", "u(V)"), unit_in_heading("u(V) [mV]", "u(V)")
    ('mV', None, 'mV')
    """
    spread = re.match(r"u\([^()]*\)", name)
    if spread and text.startswith(spread[0]):
        text = f"u{text.removeprefix(spread[0])}"
    return None if is_name(text) else heading(text)[1]


def names_in_headings(headings: Iterable[str]) -> Mapping[str, str]:
    """The names that stand in one heading each, which is no name itself, with that heading.

    >>> names_in_headings(["t / s", "U1 (V)", "Strom I (mA)", "Fehler I", "x"])
    {'t': 't / s', 'U1': 'U1 (V)'}
    """
    columns: dict[str, list[str]] = {}
    for text in headings:
        if not is_name(text):
            for name in heading(text)[0]:
                columns.setdefault(name, []).append(text)
    return {name: texts[0] for name, texts in columns.items() if len(texts) == 1}
