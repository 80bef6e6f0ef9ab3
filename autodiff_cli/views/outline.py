"""The graph as an outline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import accumulate, islice
from typing import TYPE_CHECKING, NamedTuple

from ..algebra.walk import Chains
from ..derivatives.graph import MANY_ALIKE, unrolled
from ..graphs.value import Value
from .document import Branch, Outline, Pieces, measured
from .numerals import format_number

if TYPE_CHECKING:
    from ..quantities.unit import Unit

LINES = 64
DEPTH = 24
CUT_DEPTH = 12
"""Without `--depth`, the most lines and levels of a graph drawn completely; a larger one has CUT_DEPTH levels."""
MAX_TERMS, FOLDED = 12, 5
"""In a graph that is cut, of a node with more than MAX_TERMS terms only FOLDED are drawn."""
DRAWN_ALIKE = 2
"""Without `--depth`: of more than MANY_ALIKE terms that stand at one place of the text only DRAWN_ALIKE are drawn."""


def outline(
    output: Value,
    *,
    depth: int | None = None,
    digits: int | None = None,
    numbers: bool = True,
    binary: bool = False,
    units: Mapping[int, Unit] | None = None,
) -> Outline:
    """The graph below `output`, each node drawn in full once; `depth` is how many levels, by default what fits.

    Without `numbers` it has no columns for data and grad. A chain of one operation is one node, unless `binary`.
    """
    chains = Chains(() if binary else (output,))
    total = _count(output, chains)
    lines = None if depth is not None else LINES
    fold = None if depth is not None else total > LINES
    levels = depth if depth is not None else _levels(output, chains, fold)
    rows, hidden, cut = _walk(output, chains, levels, lines, fold)
    marks: dict[int, int] = {}
    referred = {id(row.node) for row in rows if row.again and row.node._prev and not row.more}
    branches = []
    for rails, node, again, times, more in rows:
        if more:
            branches.append(Branch(rails, ((f"… {more:,} more terms", "faint"),)))
            continue
        repeated: Pieces = ((f"  ({times:,} times)", "faint"),) if times > 1 else ()
        if node._prev and id(node) in referred:
            marks.setdefault(id(node), len(marks) + 1)
        mark = marks.get(id(node))
        if again:
            where = f"  (see #{mark})" if mark else "  (see above)"
            branches.append(Branch(rails, (*_name(node, digits, short=True), *repeated, (where, "faint"))))
            continue
        pieces = (*_name(node, digits), *repeated)
        if mark:
            pieces += ((f"  #{mark}", "faint"),)
        if id(node) in hidden:
            pieces += (("  …", "faint"),)
        grad = None if isinstance(node.data, bool) else node.grad
        cells: tuple[str, ...] = ()
        if units is not None and not isinstance(node.data, bool | None):
            cells = _measured(node.data, grad, units[id(node)], units[id(output)], digits)
        elif numbers:
            cells = (format_number(node.data, digits), format_number(grad, digits))
        branches.append(Branch(rails, pieces, cells))
    left = total - len({id(row.node) for row in rows if not row.again})
    note = ""
    if left or cut:
        what = f"{left:,} of {total:,} nodes" if left else "further uses of the same nodes"
        note = f"… {what} not drawn; `--depth N` draws N levels, `--no-tree` none"
    return Outline(("node", "data", "grad") if numbers else ("node",), branches, note)


def _measured(data: float, grad: float | None, unit: Unit, of: Unit, digits: int | None) -> tuple[str, str]:
    from ..quantities.unit import ratio

    by = ratio(of, unit)
    slope = None if grad is None else by.from_si(grad)
    return measured(unit.from_si(data), unit, digits), measured(slope, by, digits)


def _name(node: Value, digits: int | None, short: bool = False) -> Pieces:
    if not node._prev:
        source = node.source if node.source is not None and node.source.endswith("]") else ""
        return ((node.label, "name"),) if node.label else ((source or format_number(node.data, digits), "number"),)
    if not node.label:
        return ((node._op, "operator"),)
    return ((node.label, "name"),) if short else ((node.label, "name"), (" = ", "faint"), (node._op, "operator"))


def _count(output: Value, chains: Chains) -> int:
    seen, nodes = {id(output)}, [output]
    for node in nodes:
        fresh = [child for child in chains.inputs(node) if id(child) not in seen]
        nodes += {id(child): child for child in fresh}.values()
        seen.update(map(id, fresh))
    return len(nodes)


def _levels(output: Value, chains: Chains, fold: bool | None) -> int:
    sizes = [1]
    seen = {id(output)}
    level = [output]
    while level and len(sizes) <= DEPTH and sum(sizes) <= LINES:
        children = [child for node in level for child, _ in _folded(_terms(node, chains), fold)[0]]
        level = [*{id(child): child for child in children if id(child) not in seen}.values()]
        seen.update(map(id, level))
        sizes.append(len(children))
    if sum(sizes) <= LINES and not level:
        return len(sizes)
    return max(1, sum(count <= LINES for count in islice(accumulate(sizes), 1, CUT_DEPTH + 1)))


class _Row(NamedTuple):
    """A line: what leads to it, its node, whether that was drawn before, and how often the node above takes it.

    Or the line for `more` terms of a node.
    """

    rails: tuple[bool, ...]
    node: Value
    again: bool
    times: int
    more: int = 0


def _folded(terms: list[tuple[Value, int]], fold: bool | None) -> tuple[list[tuple[Value, int]], int]:
    if fold is None or len(terms) <= MANY_ALIKE:
        return terms, 0
    kept = FOLDED if fold and len(terms) > MAX_TERMS else len(terms)
    drawn = DRAWN_ALIKE if unrolled(term for term, _ in terms) else kept
    return terms[:drawn], len(terms) - drawn


def _terms(node: Value, chains: Chains) -> list[tuple[Value, int]]:
    inputs = chains.inputs(node)
    if len(inputs) > 2 and node.primitive.commutative:
        return [*Counter(inputs).items()]
    return [(operand, 1) for operand in inputs]


def _walk(
    output: Value, chains: Chains, levels: int, lines: int | None, fold: bool | None
) -> tuple[list[_Row], set[int], bool]:
    rows: list[_Row] = []
    expanded: set[int] = set()
    hidden: set[int] = set()
    stack: list[tuple[tuple[bool, ...], Value, int, int]] = [((), output, 1, 0)]
    while stack:
        rails, node, times, more = stack.pop()
        if lines is not None and len(rows) >= lines:
            return rows, hidden, True
        if more:
            rows.append(_Row(rails, node, True, 1, more))
            continue
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
        terms, more = _folded(terms, fold)
        last = len(terms) - (not more)
        # of very many inputs only as many go on the stack as can be drawn
        shown = terms if lines is None else terms[: lines + 1]
        if more:
            stack.append(((*rails, False), node, 1, more))
        stack += [((*rails, index < last), *term, 0) for index, term in reversed(list(enumerate(shown)))]
    return rows, hidden, False
