"""The graph of a program as a plain description to draw pictures from: with its numbers, or without a point."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ..algebra.nary import Chains
from ..errors import Diagnostic, ExpressionError
from ..graphs.value import Value, in_order
from ..inputs.figures import unsigned
from ..inputs.problem import parse
from ..numbers.floats import REAL
from ..record import Record
from ..table.operators import VARIABLE
from .gradient import plain_gradient


class PictureInput(Record):
    """One line of the picture: from the node of this index, and whether the evaluation went along it."""

    node: int
    taken: bool
    partial: float | None = None
    """The local derivative of what it leads to; None without numbers, and where none flows back along it."""


class PictureNode(Record):
    """One node of the graph: what it is called, how it was made, and its numbers."""

    label: str
    """The name of a variable, a constant or a binding; empty where it has none."""
    operation: str
    """The symbol of the operation that made it; empty for a leaf."""
    variable: bool
    data: float | bool | None
    """The value; None without a point, and where it was not evaluated. A literal always has its value."""
    grad: float | None
    inputs: tuple[PictureInput, ...]
    """One for each operand, in order."""
    ordered: bool
    """Whether another order of the operands would mean something else."""
    taken: bool
    """Whether it was evaluated; True for all where there is no point."""


class Picture(Record):
    """The graph of a program as it is; with `numbers` unless it was asked for without a point."""

    text: str
    numbers: bool
    nodes: tuple[PictureNode, ...]
    """Each after its inputs."""
    outputs: tuple[int, ...]
    gradient: dict[str, float]
    """The partial derivatives of the output; empty without numbers."""
    warnings: tuple[Diagnostic, ...]
    roots: tuple[Value, ...]
    """The outputs as the Values that they were read from."""


def picture(text: str, point: Mapping[str, float | str] | None = None, *, wrt: Sequence[str] | None = None) -> Picture:
    """The graph of the program `text` with value and derivative at every node, at `point`.

    Raises `ExpressionError` as `gradient` does.
    """
    try:
        result = plain_gradient(text, point, wrt=wrt)
    except ExpressionError as error:
        if error.kind == "missing_value":
            diagnostic = error.diagnostic
            hint = f"{diagnostic.hint}; or draw it without numbers: `--symbolic`"
            raise ExpressionError(diagnostic.kind, diagnostic.message, diagnostic.span, hint, diagnostic.also) from None
        raise
    assert result.output is not None
    return described((result.output,), text, gradient=result.gradient, warnings=result.warnings)


def symbolic_picture(text: str, names: Collection[str] = ()) -> Picture:
    """The graph of the program `text` without numbers; it may have several outputs.

    `names` are names that are variables although they are called like a constant. Raises `ExpressionError` where the
    text is not valid.
    """
    return described(parse(text, names).outputs, text, numbers=False)


def gathered(picture: Picture) -> Picture:
    """The picture as one draws it: a chain of one operation, a sum of many terms, as one node."""
    return described(
        picture.roots,
        picture.text,
        numbers=picture.numbers,
        gradient=picture.gradient,
        warnings=picture.warnings,
        chains=Chains(picture.roots),
    )


def described(
    roots: Sequence[Value],
    text: str = "",
    *,
    numbers: bool = True,
    gradient: Mapping[str, float] | None = None,
    warnings: Sequence[Diagnostic] = (),
    chains: Chains | None = None,
) -> Picture:
    """The picture of the graph below some Values, as they are: they are not evaluated here. `chains` become one node.

    >>> x = Value(3.0, label="x")
    >>> square = x * x
    >>> square.backward()
    >>> [(node.label, node.operation, node.data, node.grad) for node in described([square]).nodes]
    [('x', '', 3.0, 6.0), ('', '*', 9.0, 1.0)]
    """
    chains = chains or Chains()
    order = in_order(roots)
    evaluated = dict.fromkeys(order, not numbers) | dict.fromkeys(roots, True)
    taken: dict[Value, tuple[bool, ...]] = {}
    # consumers come after their inputs, so going backwards every node is reached after all that might need it
    for node in reversed(order):
        taken[node] = _taken(node) if numbers and evaluated[node] else (evaluated[node],) * len(node._prev)
        for child, flag in zip(node._prev, taken[node], strict=True):
            evaluated[child] = evaluated[child] or flag
    place = {node: k for k, node in enumerate(node for node in order if node not in chains.links)}
    drawn = []
    for node in place:
        partials = _partials(node, chains) if numbers and node.grad is not None else {}
        edges = [(user, k, partials.get((user, k))) for user, k in chains.edges(node)]
        inputs = tuple([PictureInput(place[user._prev[k]], taken[user][k], partial) for user, k, partial in edges])
        drawn.append(
            PictureNode(
                node.label,
                node._op,
                node.primitive is VARIABLE,
                unsigned(node.data) if not (node._prev or node.label) or (numbers and evaluated[node]) else None,
                node.grad if numbers and evaluated[node] and not isinstance(node.data, bool) else None,
                inputs,
                len(inputs) > 1 and not node.primitive.commutative,
                evaluated[node],
            )
        )
    outputs = tuple(place[root] for root in roots)
    return Picture(text, numbers, tuple(drawn), outputs, dict(gradient or {}), tuple(warnings), tuple(roots))


def _partials(node: Value, chains: Chains) -> dict[tuple[Value, int], float]:
    """The local derivatives of a node by what it is made from, through the links of its chain, where they are asked."""
    partials: dict[tuple[Value, int], float] = {}
    waiting = [(node, 1.0)]
    while waiting:
        user, above = waiting.pop()
        active = [operand.grad is not None for operand in user._prev]
        try:
            slopes = user.primitive.slopes(REAL, [operand.data for operand in user._prev], user.data, active)
        except (ValueError, ArithmeticError):
            # an adjoint of 0 never asked for it
            continue
        for k, slope in enumerate(slopes):
            if slope is not None and user._prev[k] in chains.links:
                waiting.append((user._prev[k], above * slope))
            elif slope is not None:
                partials[user, k] = above * slope + 0.0
    return partials


def _taken(node: Value) -> tuple[bool, ...]:
    """Which operands the evaluation of a node asked for."""
    demand = node.primitive.demand
    if demand is None:
        return (True,) * len(node._prev)
    have: list[object] = [None] * len(node._prev)
    asked: set[int] = set()
    while new := set(demand(*have)) - asked:
        asked |= new
        for position in new:
            have[position] = node._prev[position].data
    return tuple(position in asked for position in range(len(node._prev)))
