"""Parsing of an answer's entries: `d/dx = 2*x*y, d/dy = x**2`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..errors import counted, quoted, usage_error
from ..formulas.derivation import derivative_name
from ..inputs.parse_point import pieces

Key = tuple[str, tuple[str, ...]]
"""A derivative: its unknown, empty for programs, and its variables."""

SUPERSCRIPTS = str.maketrans("²³⁴⁵⁶⁷⁸⁹", "23456789")

_EQUALS = re.compile(r"=(?!=)|:(?!=)")
_GRADIENT = re.compile(r"\s*(?:∇|grad\b|gradient\b)\s*(?:[^\W\d]\w*\s*)?(?:\([\w\s,]*\)\s*)?[=:]")
_NUMERATOR = re.compile(r"[d∂]\s*\^?\s*(\d*)\s*([^\W\d]\w*)?(?:\([\w\s,]*\))?")
_SUBSCRIPT = re.compile(r"([^\W\d_]\w*?)_\{?([\w\s,]+)\}?(?:\([\w\s,]*\))?")
_PRIMED = re.compile(r"([^\W\d]\w*)\s*(['′’]+|[\"″”])\s*(?:\([\w\s,]*\))?")
_LABEL = re.compile(r"[/'′’″∂∇]|^d\d?\b")
_BRACKETS = {"(": ")", "[": "]", "⟨": "⟩"}
_SEPARATORS = re.compile(r"[;\n]|\band\b")


class Entry(NamedTuple):
    """An entry of an answer: its derivative if named, and its place."""

    key: Key | None
    start: int
    end: int


def entries(answer: str, wanted: Sequence[Key], names: Sequence[str]) -> list[Entry]:
    """Return the entries of an answer for the wanted derivatives, each at most once.

    `names` are the variables. Raises `ExpressionError` for an unknown or repeated label.

    >>> [(entry.key, entry.start) for entry in entries("d/dy = x, d/dx = 1", [("", ("x",)), ("", ("y",))], ["x", "y"])]
    [(('', ('y',)), 6), (('', ('x',)), 16)]
    """
    entries = [_entry(answer, start, end, wanted, names) for start, end in _parts(answer, len(wanted))]
    labels = [entry.key for entry in entries if entry.key is not None]
    if not labels and len(entries) == len(wanted):
        return [entry._replace(key=key) for entry, key in zip(entries, wanted, strict=True)]
    if len(labels) < len(entries):
        asked = ", ".join(f"{derivative_name(by, of)} = …" for of, by in wanted)
        message = f"the answer has {counted(len(entries), 'formula')}, and {len(wanted)} derivatives are asked for"
        raise usage_error("some of these formulas have no name" if labels else message, f"write `--answer '{asked}'`")
    for key in labels:
        if labels.count(key) > 1:
            raise usage_error(f"the answer has `{derivative_name(key[1], key[0])}` twice", "leave one of them out")
    return entries


def _parts(answer: str, count: int) -> Iterator[tuple[int, int]]:
    head = _GRADIENT.match(answer)
    start, end = head.end() if head else 0, len(answer)
    inner = answer[start:end]
    begun, ended = len(inner) - len(inner.lstrip()), len(inner.rstrip())
    inside = inner[begun + 1 : ended - 1]
    if count > 1 and _BRACKETS.get(inner[begun : begun + 1]) == inner[ended - 1 : ended]:
        listed = list(pieces(inside.replace("[", "(").replace("]", ")")))
        if len(listed) == count or (head and len(listed) > 1):
            yield from ((start + begun + 1 + a, start + begun + 1 + b) for a, b in listed)
            return
    if count == 1:
        yield start, end
        return
    # lines and semicolons separate named entries, or belong to a program
    marks = [mark.span() for mark in _SEPARATORS.finditer(inner)]
    edges = [(a, b) for (_, a), (b, _) in zip([(0, 0), *marks], [*marks, (len(inner), 0)], strict=True)]
    if not all(_EQUALS.search(inner, a, b) for a, b in edges):
        edges = [(0, len(inner))]
    for a, b in edges:
        for first, last in pieces(inner[a:b]):
            if inner[a + first : a + last].strip():
                yield start + a + first, start + a + last


def _entry(answer: str, start: int, end: int, wanted: Sequence[Key], names: Sequence[str]) -> Entry:
    sign = _EQUALS.search(answer, start, end)
    if sign is None:
        return Entry(None, start, end)
    label = answer[start : sign.start()].strip()
    unknowns = [of for of, _ in wanted if of]
    for of, by in _readings(label.translate(SUPERSCRIPTS), names, wanted):
        key = next((key for key in wanted if sorted(key[1]) == sorted(by) and (key[0] or of) in (of, "")), None)
        if key is not None and (of == key[0] or not unknowns or (not of and len(set(unknowns)) == 1)):
            return Entry(key, sign.end(), end)
    if len(wanted) == 1 and not _LABEL.search(label):
        # a program: `t = x + 1; 2*t`
        return Entry(None, start, end)
    asked = [derivative_name(by, of) for of, by in wanted]
    raise usage_error(f"`{label}` is none of the derivatives that are asked for", f"they are {quoted(asked)}")


def _readings(label: str, names: Sequence[str], wanted: Sequence[Key]) -> Iterator[Key]:
    choices = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    above, slash, below = label.partition("/")
    if slash:
        top = _NUMERATOR.fullmatch(above.strip())
        parts = list(re.finditer(rf"\s*[d∂]\s*({choices})\s*(?:\^?\s*\{{?(\d)\}}?)?[\s*]*", below))
        if top and parts and "".join(part[0] for part in parts) == below:
            yield top[2] or "", tuple(name for part in parts for name in [part[1]] * int(part[2] or 1))
        return
    subscript = _SUBSCRIPT.fullmatch(label)
    if subscript:
        by = re.findall(choices, subscript[2])
        if "".join(by) == re.sub(r"[\s,]", "", subscript[2]):
            yield subscript[1], tuple(by)
    prime = _PRIMED.fullmatch(label)
    if prime:
        count = 2 if prime[2] in '"″”' else len(prime[2])
        variables = {name for _, by in wanted for name in by}
        yield from ((prime[1], (name,) * count) for name in variables if len(variables) == 1)
    if len(wanted) > 1:
        yield "", (label,)
