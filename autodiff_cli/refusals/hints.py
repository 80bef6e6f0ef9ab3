"""The hints that take trying: what a value that is not used may be for, and a call of something that is no function."""

from __future__ import annotations

from ..language.code import BINARY, CALL, NAME, UNARY, Item, Statement, Unexplained, operands
from ..language.reader import read
from ..table.operators import DIV, NEG, POW
from ..table.primitive import FUNCTIONS
from .suggestions import means, offered

_LONGEST = 40


def hint(text: str, error: Unexplained) -> str:
    """What to write instead."""
    if isinstance(error.about, Statement):
        return _unused(text, error.about, error.following)
    if not error.about[4]:
        return f"for its value write `{error.about[2]}`"
    return _product(text, error.about)


def _unused(text: str, statement: Statement, following: int) -> str:
    """The hint for a value that is not the last statement."""
    value = text[statement.start : statement.end]
    if text[following] in "+-−":
        return "put a sum over several lines in parentheses"
    if len(value) <= _LONGEST and "\n" not in value and means(f"y = {value}"):
        return f"give it a name, `y = {value}`, or leave it out"
    return "give it a name, or leave it out"


def _product(text: str, call: Item) -> str:
    """The hint for a call such as `b(c)`, with each spelling that it may stand for: in `a/b(c)` there are two."""
    _, (begin, end), name, name_place, _ = call
    arguments = text[name_place[1] : end].strip()
    spellings = [f"{name}*{arguments}"]
    of_function = False
    for statement in read(text):
        for code in statement.codes:
            at = _above(code, call)
            if at is None:
                continue
            left, right = operands(code, at, 2)
            start, within = code[right][1][0], text[code[right][1][0] : begin]
            before = text[code[at][1][0] : start]
            if code[at][2] is POW and code[left][0] == NAME and code[left][2] in FUNCTIONS:
                of_function = True
                spellings = [f"{code[left][2]}{arguments}**{within}{name}"]
            else:
                spellings = [f"{before}({within}{name}*{arguments})", f"({before}{within}{name})*{arguments}"]
    good = [spelling for spelling in spellings if offered(spelling)]
    if not good:
        return "a product has a sign between its factors, as in `a*b`"
    if of_function:
        return f"for a power, which stands after the argument of a function, write `{good[0]}`"
    return f"for a product write {' or '.join(f'`{spelling}`' for spelling in good)}"


def _above(code: list[Item], call: Item) -> int | None:
    """Where the division or power is whose right side is the call, with signs before it perhaps."""
    for at, item in enumerate(code):
        if item[0] == BINARY and item[2] in (DIV, POW):
            right = at - 1
            while code[right][0] == UNARY and code[right][2] in (NEG, None):
                right -= 1
            if code[right][0] == CALL and code[right][1] == call[1]:
                return at
    return None
