"""The graph as an outline: every node with its operation or label, its data and its grad."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, islice
from typing import NamedTuple

from ..algebra.nary import Chains
from ..graphs.value import Value
from .document import Branch, Outline, Pieces
from .numerals import format_number

LINES = 64
DEPTH = 24
CUT_DEPTH = 12
"""Without `--depth`: a graph of up to so many lines and levels is drawn whole, a larger one to CUT_DEPTH levels."""


def outline(
    output: Value,
    *,
    depth: int | None = None,
    digits: int | None = None,
    numbers: bool = True,
    binary: bool = False,
) -> Outline:
    """The graph below `output`, each node drawn in full once; `depth` is how many levels, by default what fits.

    Without `numbers` it has no columns for data and grad. A chain of one operation is one node, unless `binary`.
    """
    chains = Chains(() if binary else (output,))
    total = _count(output, chains)
    lines = None if depth is not None else LINES
    levels = depth if depth is not None else _levels(output, chains)
    rows, hidden, cut = _walk(output, chains, levels, lines)
    marks: dict[int, int] = {}
    referred = {id(row.node) for row in rows if row.again and row.node._prev}
    branches = []
    drawn: set[int] = set()
    for rails, node, again, times in rows:
        repeated: Pieces = ((f"  ({times:,} times)", "faint"),) if times > 1 else ()
        if node._prev and id(node) in referred:
            marks.setdefault(id(node), len(marks) + 1)
        mark = marks.get(id(node))
        if again:
            where = f"  (see #{mark})" if mark else "  (see above)"
            branches.append(Branch(rails, (*_name(node, digits, short=True), *repeated, (where, "faint"))))
            continue
        drawn.add(id(node))
        pieces = (*_name(node, digits), *repeated)
        if mark:
            pieces += ((f"  #{mark}", "faint"),)
        if id(node) in hidden:
            pieces += (("  …", "faint"),)
        grad = None if isinstance(node.data, bool) else node.grad
        cells = (format_number(node.data, digits), format_number(grad, digits)) if numbers else ()
        branches.append(Branch(rails, pieces, cells))
    left = total - len(drawn)
    note = ""
    if left or cut:
        what = f"{left:,} of {total:,} nodes" if left else "further uses of the same nodes"
        note = f"… {what} not drawn; `--depth N` draws N levels, `--no-tree` none"
    return Outline(("node", "data", "grad") if numbers else ("node",), branches, note)


def _name(node: Value, digits: int | None, short: bool = False) -> Pieces:
    """Return the title of a node: its label, its operation, or both."""
    if not node._prev:
        return ((node.label, "name"),) if node.label else ((format_number(node.data, digits), "number"),)
    if not node.label:
        return ((node._op, "operator"),)
    return ((node.label, "name"),) if short else ((node.label, "name"), (" = ", "faint"), (node._op, "operator"))


def _count(output: Value, chains: Chains) -> int:
    """How many nodes there are."""
    seen = {id(output)}
    stack = [output]
    while stack:
        for child in chains.inputs(stack.pop()):
            if id(child) not in seen:
                seen.add(id(child))
                stack.append(child)
    return len(seen)


def _levels(output: Value, chains: Chains) -> int:
    """How many levels are drawn when nobody says: all of a small graph, else as many as fit."""
    sizes = [1]
    seen = {id(output)}
    level = [output]
    while level and len(sizes) <= DEPTH and sum(sizes) <= LINES:
        children = [child for node in level for child, _ in _terms(node, chains)]
        level = []
        for child in children:
            if id(child) not in seen:
                seen.add(id(child))
                level.append(child)
        sizes.append(len(children))
    if sum(sizes) <= LINES and not level:
        return len(sizes)
    return max(1, sum(count <= LINES for count in islice(accumulate(sizes), 1, CUT_DEPTH + 1)))


class _Row(NamedTuple):
    """A line: what leads to it, its node, whether that was drawn before, and how often the node above takes it."""

    rails: tuple[bool, ...]
    node: Value
    again: bool
    times: int


def _terms(node: Value, chains: Chains) -> list[tuple[Value, int]]:
    """Return the inputs of a node with their counts: each once, if there are many and their order does not matter."""
    inputs = chains.inputs(node)
    if len(inputs) > 2 and node.primitive.commutative:
        return [*Counter(inputs).items()]
    return [(each, 1) for each in inputs]


def _walk(output: Value, chains: Chains, levels: int, lines: int | None) -> tuple[list[_Row], set[int], bool]:
    """The lines from the top, the nodes whose inputs are left out, and whether lines are."""
    rows: list[_Row] = []
    expanded: set[int] = set()
    hidden: set[int] = set()
    stack: list[tuple[tuple[bool, ...], Value, int]] = [((), output, 1)]
    while stack:
        rails, node, times = stack.pop()
        if lines is not None and len(rows) >= lines:
            return rows, hidden, True
        again = id(node) in expanded
        rows.append(_Row(rails, node, again, times))
        if again:
            continue
        terms = _terms(node, chains)
        if terms and len(rails) >= levels:
            hidden.add(id(node))
            continue
        expanded.add(id(node))
        hidden.discard(id(node))
        last = len(terms) - 1
        # of very many inputs only as many go on the stack as can be drawn
        shown = terms if lines is None else terms[: lines + 1]
        stack += [((*rails, index < last), *term) for index, term in reversed(list(enumerate(shown)))]
    return rows, hidden, False
