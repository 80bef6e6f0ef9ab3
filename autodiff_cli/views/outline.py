"""The graph as an outline: every node with its operation or label, its data and its grad."""

from __future__ import annotations

from itertools import pairwise

from ..values.value import Value
from .document import Branch, Outline, Pieces
from .numerals import readable

LINES = 64
DEPTH = 24
CUT_DEPTH = 12
"""Without `--depth`: a graph of up to so many lines and levels is drawn whole, a larger one to CUT_DEPTH levels."""


def outline(output: Value, *, depth: int | None = None, digits: int | None = None, numbers: bool = True) -> Outline:
    """The graph below `output`, each node drawn in full once; `depth` is how many levels, by default what fits.

    Without `numbers` it has no columns for data and grad.
    """
    total = _count(output)
    lines = None if depth is not None else LINES
    levels = depth if depth is not None else _levels(output)
    rows, hidden = _walk(output, levels, lines)
    marks: dict[int, int] = {}
    referred = {id(node) for _, node, again in rows if again and node._prev}
    branches = []
    drawn: set[int] = set()
    for rails, node, again in rows:
        if node._prev and id(node) in referred:
            marks.setdefault(id(node), len(marks) + 1)
        mark = marks.get(id(node))
        if again:
            where = f"  (see #{mark})" if mark else "  (see above)"
            branches.append(Branch(rails, (*_name(node, digits, short=True), (where, "faint"))))
            continue
        drawn.add(id(node))
        pieces = _name(node, digits)
        if mark:
            pieces += ((f"  #{mark}", "faint"),)
        if id(node) in hidden:
            pieces += (("  …", "faint"),)
        grad = None if isinstance(node.data, bool) else node.grad
        cells = (readable(node.data, digits), readable(grad, digits)) if numbers else ()
        branches.append(Branch(rails, pieces, cells))
    left = total - len(drawn)
    note = ""
    if left:
        note = f"… {left:,} of {total:,} nodes not drawn; `--depth N` draws N levels, `--no-tree` none"
    return Outline(("node", "data", "grad") if numbers else ("node",), branches, note)


def _name(node: Value, digits: int | None, short: bool = False) -> Pieces:
    """What a node is called: its label, its operation, or both."""
    if not node._prev:
        return ((node.label, "name"),) if node.label else ((readable(node.data, digits), "number"),)
    if not node.label:
        return ((node._op, "operator"),)
    return ((node.label, "name"),) if short else ((node.label, "name"), (" = ", "faint"), (node._op, "operator"))


def _count(output: Value) -> int:
    """How many nodes there are."""
    seen = {id(output)}
    stack = [output]
    while stack:
        for child in stack.pop()._prev:
            if id(child) not in seen:
                seen.add(id(child))
                stack.append(child)
    return len(seen)


def _levels(output: Value) -> int:
    """How many levels are drawn when nobody says: all of a small graph, else as many as fit."""
    sizes = [1]
    seen = {id(output)}
    level = [output]
    while level and len(sizes) <= DEPTH and sum(sizes) <= LINES:
        children = [child for node in level for child in node._prev]
        level = []
        for child in children:
            if id(child) not in seen:
                seen.add(id(child))
                level.append(child)
        sizes.append(len(children))
    if sum(sizes) <= LINES and not level:
        return len(sizes)
    fits = 1
    for depth, (_, _) in enumerate(pairwise(sizes), start=1):
        if depth <= CUT_DEPTH and sum(sizes[: depth + 1]) <= LINES:
            fits = depth
    return fits


def _walk(output: Value, levels: int, lines: int | None) -> tuple[list[tuple[tuple[bool, ...], Value, bool]], set[int]]:
    """The lines from the top: rails, node, whether it was drawn before; and the nodes whose inputs are left out."""
    rows: list[tuple[tuple[bool, ...], Value, bool]] = []
    expanded: set[int] = set()
    hidden: set[int] = set()
    stack: list[tuple[tuple[bool, ...], Value]] = [((), output)]
    while stack:
        rails, node = stack.pop()
        if lines is not None and len(rows) >= lines:
            break
        if id(node) in expanded:
            rows.append((rails, node, True))
            continue
        rows.append((rails, node, False))
        children = node._prev
        if children and len(rails) >= levels:
            hidden.add(id(node))
            continue
        expanded.add(id(node))
        hidden.discard(id(node))
        last = len(children) - 1
        # of very many inputs only as many go on the stack as can be drawn
        shown = children if lines is None else children[: lines + 1]
        stack += [((*rails, index < last), child) for index, child in reversed(list(enumerate(shown)))]
    return rows, hidden
