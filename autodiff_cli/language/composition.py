"""Calls of functions that stand for a formula of others, such as `gaussian`, written out as
operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..engine.numbers.base import Number, OperatorNumber
from ..engine.table.primitive import PRIMITIVES, Primitive

Node = int
AddOperation = Callable[[Primitive, tuple[Node, ...]], Node]
AddNumber = Callable[[float, str], Node]


class _Operand(OperatorNumber):
    """A node, with operators that add others."""

    __slots__ = ("m", "node")

    def __init__(self, m: _Nodes, node: Node) -> None:
        self.m = m
        self.node = node


class _Nodes:
    """Nodes as a number type: each operation adds one."""

    def __init__(self, add: AddOperation, number: AddNumber) -> None:
        self.add = add
        self.number = number

    def __getattr__(self, name: str) -> Callable[..., _Operand]:
        if name not in PRIMITIVES:
            raise AttributeError(name)
        return partial(self.step, name)

    def step(self, name: str, *operands: Number) -> _Operand:
        """Add an operation of the table."""
        return _Operand(self, self.add(PRIMITIVES[name], tuple(map(self._node, operands))))

    def _node(self, x: Number) -> Node:
        return x.node if isinstance(x, _Operand) else self.number(float(x), repr(x))


def written_out(
    called: Primitive, operands: Sequence[Node], add: AddOperation, number: AddNumber
) -> Any:
    """Return the node of a call, with the operations that it stands for added."""
    m = _Nodes(add, number)
    assert called.composition is not None
    return called.composition(m, *[_Operand(m, node) for node in operands]).node
