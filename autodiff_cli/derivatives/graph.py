"""The graph of a program as a plain description to draw pictures from: with its numbers, or without a point."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..algebra.walk import Chains
from ..errors import Diagnostic, ExpressionError
from ..graphs.value import Value, in_order
from ..inputs.figures import unsigned
from ..inputs.problem import parse
from ..numbers.floats import REAL
from ..record import Record
from ..table.operators import VARIABLE
from .gradient import gradient

if TYPE_CHECKING:
    from ..inputs.quantities import Units
    from ..quantities.unit import Unit


class PictureInput(Record):
    """One line of the picture: from the node of this index, and whether the evaluation went along it."""

    node: int
    taken: bool
    partial: float | None = None
    """The local derivative of what it leads to; None without numbers, and where none flows back along it."""
    unit: Unit | None = None
    """The unit of the local derivative; None where there are no units."""


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
    unit: Unit | None = None
    """The unit of the value; None where there are no units."""
    grad_unit: Unit | None = None


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
    units: Units | None = None
    """The units of its numbers, under the names of their fields; None where they have none."""
    node_units: tuple[Unit, ...] | None = None
    """The units of the Values below the outputs, in depth-first order."""

    @property
    def units_of_values(self) -> dict[int, Unit] | None:
        """The units of the Values below the outputs, by their `id`; None where they have none."""
        return (
            None if self.node_units is None else dict(zip(map(id, in_order(self.roots)), self.node_units, strict=True))
        )


def picture(
    text: str,
    point: Mapping[str, float | str] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    units: Sequence[str] | str | None = None,
) -> Picture:
    """The graph of the program `text` with value and derivative at every node, at `point`; the value in these `units`.

    Raises `ExpressionError` as `gradient` does.
    """
    try:
        result = gradient(text, point, wrt=wrt, units=units)
    except ExpressionError as error:
        if error.kind == "missing_value":
            hint = f"{error.hint}; or draw it without numbers: `--symbolic`"
            error.diagnostic = error.diagnostic._replace(hint=hint, offers=())
        raise
    assert result.output is not None and result.graphed is not None
    answer = described(
        (result.output,),
        text,
        gradient=result.gradient,
        warnings=result.warnings,
        units=result.graphed.units_of_values,
    )
    if result.units is None:
        return answer
    nodes = [{"data": node.unit or "", "grad": node.grad_unit or ""} for node in answer.nodes]
    return answer._replace(units=type(result.units)(gradient=result.units["gradient"], nodes=nodes))


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
        units=picture.units_of_values,
    )


def described(
    roots: Sequence[Value],
    text: str = "",
    *,
    numbers: bool = True,
    gradient: Mapping[str, float] | None = None,
    warnings: Sequence[Diagnostic] = (),
    chains: Chains | None = None,
    units: Mapping[int, Unit] | None = None,
) -> Picture:
    """The picture of the graph below some Values, as they are: they are not evaluated here. `chains` become one node.

    Values with `units`, which are by `id`, are in coherent units, and the picture's numbers in their own.

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

    def in_unit(x: Any, unit: Unit | None, by: Unit | None = None) -> tuple[Any, Unit | None]:
        """A number in a unit, or in a quotient of two, and that unit; the number as it is where one has none."""
        if unit is None:
            return x, None
        if by is not None:
            from ..quantities.unit import ratio

            unit = ratio(unit, by)
        return None if x is None else unit.from_si(x), unit

    drawn = []
    for node in place:
        partials = _partials(node, chains) if numbers and node.grad is not None else {}
        data = unsigned(node.data) if not (node._prev or node.label) or (numbers and evaluated[node]) else None
        grad = node.grad if numbers and evaluated[node] and not isinstance(node.data, bool) else None
        own = {} if units is None or isinstance(data, bool) else units
        of = own.get(id(node))
        inputs = []
        for user, k in chains.edges(node):
            operand = user._prev[k]
            partial = in_unit(partials.get((user, k)), of, own.get(id(operand)))
            inputs.append(PictureInput(place[operand], taken[user][k], *partial))
        data, unit = in_unit(data, of)
        grad, grad_unit = in_unit(grad, own.get(id(roots[0])), of)
        drawn.append(
            PictureNode(
                node.label,
                node._op,
                node.primitive is VARIABLE,
                data,
                grad,
                tuple(inputs),
                len(inputs) > 1 and not node.primitive.commutative,
                evaluated[node],
                unit,
                grad_unit,
            )
        )
    outputs = tuple(place[root] for root in roots)
    answer = Picture(text, numbers, tuple(drawn), outputs, dict(gradient or {}), tuple(warnings), tuple(roots))
    return answer if units is None else answer._replace(node_units=tuple([units[id(value)] for value in order]))


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
    demand = node.primitive.lazy_inputs
    if demand is None:
        return (True,) * len(node._prev)
    have: list[object] = [None] * len(node._prev)
    asked: set[int] = set()
    while new := set(demand(*have)) - asked:
        asked |= new
        for position in new:
            have[position] = node._prev[position].data
    return tuple(position in asked for position in range(len(node._prev)))
