"""The hints that take trying: what a value that is not used may be for, and a call of something that is no function."""

from __future__ import annotations

from ..errors import Span
from ..language.reader import Stuck
from ..language.statements import Unexplained
from ..table.primitive import FUNCTIONS
from .context import Context
from .suggestions import means, offered

_LONGEST = 40


def hint(text: str, error: Unexplained) -> str:
    """What to write instead."""
    assert error.span is not None
    if error.after:
        return _unused(text, error.span, error.after)
    return _product(text, error.span, error.end)


def _unused(text: str, span: Span, after: int) -> str:
    """The hint for a value that is not the last statement."""
    value = text[span.start : span.end]
    if text[after] in "+-−":
        return "put a sum over several lines in parentheses"
    if len(value) <= _LONGEST and "\n" not in value and means(f"y = {value}"):
        return f"give it a name, `y = {value}`, or leave it out"
    return "give it a name, or leave it out"


def _product(text: str, name_span: Span, end: int) -> str:
    """The hint for a call such as `b(c)`, with each spelling that it may stand for: in `a/b(c)` there are two."""
    name = text[name_span.start : name_span.end]
    arguments = text[name_span.end : end].strip()
    context = Context(text, Stuck(name_span.start, [], []))
    if context.partner[context.at + 1] == context.at + 2:
        return f"for its value write `{name}`"
    spellings = [f"{name}*{arguments}"]
    sign = context.signs() - 1
    of_function = False
    # A division or a power whose right side is the call, perhaps with signs before it.
    if sign > 0 and context.letters[sign] in "dw" and context.letters[context.partner[context.at + 1] + 1] not in "ws":
        within = text[context.tokens[sign + 1].start : name_span.start]
        left = context.term(sign) if context.letters[sign] == "d" else context.atom(sign)
        before = text[context.tokens[left].start : context.tokens[sign + 1].start]
        base = text[context.tokens[left].start : context.tokens[left].end]
        if context.letters[sign] == "w" and left == sign - 1 and base in FUNCTIONS:
            of_function = True
            spellings = [f"{base}{arguments}**{within}{name}"]
        else:
            spellings = [f"{before}({within}{name}*{arguments})", f"({before}{within}{name})*{arguments}"]
    good = [spelling for spelling in spellings if offered(spelling)]
    if not good:
        return "a product has a sign between its factors, as in `a*b`"
    if of_function:
        return f"for a power, which stands after the argument of a function, write `{good[0]}`"
    return f"for a product write {' or '.join(f'`{spelling}`' for spelling in good)}"
