"""Guards at single points, `where(x == 0, 0, x)`: the derivative is that of the function around them."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import ExpressionError
from ..graphs.value import Value, in_order, node, values_of
from ..run.flat_graph import Graph, Row, inputs
from ..table.operators import ADD, CONSTANT, DIV, EQ, MUL, NE, NEG, SUB, VARIABLE, WHERE
from .canonical import exact_value
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
        is_redundant = applies(condition, around) and agree(condition, at_point, around)
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
        simpler = without_equality_guards(value, is_total) if value.primitive is WHERE else value
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


def is_total(condition: Value, around: Value) -> bool:
    """Return whether the other branch of a guard has a value everywhere."""

    def fixed(value: Value) -> list[float | None]:
        return [p.data if p.primitive is CONSTANT else None for p in value._prev]

    return all(value.primitive.defined(fixed(value)) for value in in_order((around,)) if value._prev)


def agree(condition: Value, one: Value, other: Value) -> bool:
    """Return whether two formulas are known to be equal where an equality holds."""
    return agreement(condition, one, other) is True


def agreement(condition: Value, one: Value, other: Value) -> bool | None:
    """Return whether two formulas are equal, by substitution, where an equality holds.

    None where that isolates no variable, or a formula has no value there.
    """
    isolated = solved(*condition._prev) or solved(*condition._prev[::-1])
    if isolated is None:
        return None
    name, value = isolated
    try:
        difference = node(SUB, (one, other))
        (rest,) = simplify((substitute(difference, lambda v: value if v is name else None),), spell=False)
    except ExpressionError:  # no value there
        return None
    return not rest._prev and rest.data == 0


def solved(left: Value, right: Value) -> tuple[Value, Value] | None:
    """Return a variable and its value where the sides are equal; None if the left one is more than a sum with it."""
    waiting = [(left, right)]
    while waiting:
        left, right = waiting.pop()
        if left.primitive is VARIABLE and left not in in_order((right,)):
            return left, right
        waiting += _isolated(left, right)[::-1]
    return None


def _isolated(left: Value, right: Value) -> list[tuple[Value, Value]]:
    """Return equations of the operands of a sum, or of a multiple by a number that is not 0."""
    if left.primitive is NEG:
        return [(left._prev[0], node(NEG, (right,)))]
    if left.primitive not in (ADD, SUB, MUL, DIV):
        return []
    x, y = left._prev
    if left.primitive is ADD:
        return [(x, node(SUB, (right, y))), (y, node(SUB, (right, x)))]
    if left.primitive is SUB:
        return [(x, node(ADD, (right, y))), (y, node(SUB, (x, right)))]
    opposite = DIV if left.primitive is MUL else MUL
    equations = [(x, node(opposite, (right, y)))] if exact_value(y) else []
    if left.primitive is MUL and exact_value(x):
        equations.append((y, node(DIV, (right, x))))
    return equations
