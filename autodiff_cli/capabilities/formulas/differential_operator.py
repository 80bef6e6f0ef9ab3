"""A derivative as it is written by hand, `d/dx` before a formula."""

import re
from typing import NamedTuple


class DerivativeOperator(NamedTuple):
    """A `d/dx` before a formula: its variable, order and end."""

    name: str
    order: int
    end: int


_SUPERSCRIPTS = str.maketrans("²³", "23")
# An order: `2` directly behind the sign, as in `d2/dx2`, or raised; in `d/dx 2 x` it is a factor.
_ORDER = r"((?:\s*\^\s*)?[2-9]|\s*[²³])?"
_OPERATOR = re.compile(
    rf"\s*[d∂]{_ORDER}\s*/\s*[d∂]([^\W\d]\w*?){_ORDER}(?=[\s(])(?=\s*(?!-\s)[^\s*/^+)=])"
)

_LATEX_D = r"\s*(?:d|\\partial(?![a-z]))\s*"
_LATEX_ORDER = r"(\^\s*(?:[2-9]|\{\s*[2-9]\s*\})\s*)?"
_LATEX_OPERATOR = re.compile(
    rf"\s*\\[dt]?frac\s*\{{{_LATEX_D}{_LATEX_ORDER}\}}\s*\{{{_LATEX_D}([^\W\d]\w*?)\s*{_LATEX_ORDER}\}}(?=\s*[^\s*/^+)=])"
)


def differential_operator(text: str) -> DerivativeOperator | None:
    """Return the `d/dx` at the start of a text, or None.

    >>> differential_operator("d²/dx² x**3")
    DerivativeOperator(name='x', order=2, end=6)
    """
    match = _OPERATOR.match(text) or _LATEX_OPERATOR.match(text)
    if match is None:
        return None
    above, name, below = match.groups()
    orders = {(order or "1").strip(" ^{}").translate(_SUPERSCRIPTS) for order in (above, below)}
    return DerivativeOperator(name, int(orders.pop()), match.end()) if len(orders) == 1 else None
