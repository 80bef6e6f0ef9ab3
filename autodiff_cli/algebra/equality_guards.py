"""Guards at single points, `where(x == 0, 0, x)`: the derivative is that of the function around them."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import ExpressionError
from ..graphs.value import Value, in_order, node, values_of
from ..run.flat_graph import Graph, Row, inputs
from ..table.operators import ADD, CONSTANT, EQ, NE, SUB, VARIABLE, WHERE
from .simplify import simplify
from .walk import rebuild, rewrite, substitute


def without_equality_guards(output: Value, applies: Callable[[Value, Value], bool]) -> Value:
    """Return the graph without guards `u == v` that agree there with their other branch; the same if it has none.

    They are one function wherever the other branch has a value. `applies` takes a guard's condition and that branch.
    """

    def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
        if value.primitive is not WHERE or inputs[0].primitive not in (EQ, NE):
            return rebuild(value, inputs)
        condition, then, otherwise = inputs
        at_point, around = (then, otherwise) if condition.primitive is EQ else (otherwise, then)
        is_redundant = applies(condition, around) and _agree(condition, at_point, around)
        return around if is_redundant else rebuild(value, inputs)

    if not any(value.primitive in (EQ, NE) for value in in_order((output,))):
        return output
    return rewrite((output,), rule)[0]


def without_guards_of_total_branches(graph: Graph) -> Graph:
    """Return a program's graph without such guards whose other branch has a value everywhere."""
    if not any(primitive in (EQ, NE) for primitive in graph.primitives):
        return graph
    values = values_of(graph)
    indices = {value: i for i, value in enumerate(values)}
    replaced: dict[Value, Value] = {}
    for value in values:
        simpler = without_equality_guards(value, _is_total) if value.primitive is WHERE else value
        if simpler is not value and simpler in indices:
            replaced[value] = simpler
    source = {indices[value]: indices[simpler] for value, simpler in replaced.items()}

    def moved(operands: tuple[int, ...]) -> tuple[int, ...]:
        return tuple([source.get(p, p) for p in operands])

    rows: list[Row] = []
    for primitive, i, a, b in graph.rows:
        operands = moved(inputs(a, b))
        if b is not None:
            rows.append((primitive, i, *operands))  # type: ignore[arg-type]
        else:
            rows.append((primitive, i, operands if type(a) is tuple else operands[0], None))
    return graph.replace(rows=rows, roots=moved(graph.roots))


def _is_total(condition: Value, around: Value) -> bool:
    def fixed(value: Value) -> list[float | None]:
        return [p.data if p.primitive is CONSTANT else None for p in value._prev]

    return all(value.primitive.defined(fixed(value)) for value in in_order((around,)) if value._prev)


def _agree(condition: Value, one: Value, other: Value) -> bool:
    """Return whether two formulas are equal, by substitution, where an equality holds."""
    solved = _solved(*condition._prev) or _solved(*condition._prev[::-1])
    if solved is None:
        return False
    name, value = solved
    try:
        difference = node(SUB, (one, other))
        (rest,) = simplify((substitute(difference, lambda v: value if v is name else None),), spell=False)
    except ExpressionError:  # no value there
        return False
    return not rest._prev and rest.data == 0


def _solved(left: Value, right: Value) -> tuple[Value, Value] | None:
    """Return a variable and its value where the sides are equal; None if the left one is more than a sum with it."""
    while left.primitive in (ADD, SUB):
        first, second = left._prev
        if any(v.primitive is VARIABLE for v in in_order((second,))):
            return None
        left, right = first, node(SUB if left.primitive is ADD else ADD, (right, second))
    if left.primitive is not VARIABLE or left in in_order((right,)):
        return None
    return left, right
