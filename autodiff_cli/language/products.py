"""What a call of something that is no function may have been: a product, after a division or in an exponent too."""

from __future__ import annotations

from ..table.primitive import FUNCTIONS
from .parser import read_program
from .spelling import offered
from .tree import Node


def product_hint(call: Node, text: str) -> str:
    """The hint for a call such as `b(c)`, with each spelling that it may stand for: in `a/b(c)` there are two."""
    name, arguments = str(call.value), _argument(call, text)
    above = _above(read_program(text), call)
    spellings = [f"{name}*{arguments}"]
    if above is not None:
        left, right = above.children
        start = text[above.start : right.start]
        within = text[right.start : call.start]
        if above.kind == "pow" and left.kind == "name" and left.value in FUNCTIONS:
            spellings = [f"{left.value}{arguments}**{within}{name}"]
        else:
            spellings = [f"{start}({within}{name}*{arguments})", f"({start}{within}{name})*{arguments}"]
    good = [spelling for spelling in spellings if offered(spelling)]
    if not good:
        return "a product has a sign between its factors, as in `a*b`"
    if above is not None and len(spellings) == 1:
        return f"for a power, which stands after the argument of a function, write `{good[0]}`"
    return f"for a product write {' or '.join(f'`{spelling}`' for spelling in good)}"


def _argument(call: Node, text: str) -> str:
    at = call.name_span or call.span
    return text[at.end : call.end].strip()


def _above(tree: Node, call: Node) -> Node | None:
    """The division or power whose right side is the call, with signs before it perhaps."""
    work = list(tree.children)
    while work:
        node = work.pop()
        if node.end < call.end or node.start > call.start:
            continue
        if node.kind in ("div", "pow"):
            right = node.children[1]
            while right.kind in ("neg", "pos"):
                (right,) = right.children
            if (right.kind, right.start, right.end) == ("call", call.start, call.end):
                return node
        work.extend(node.children)
    return None
