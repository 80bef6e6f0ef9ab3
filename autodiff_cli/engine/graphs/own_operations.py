"""Operations with a rule of their own, `out._backward = rule`, as in the tutorials' engine.

A rule is a function without arguments, which adds the derivatives of the result to the `grad` of
its inputs. A sweep over a graph with such rules calls them as the tutorials' engine does, in place
of the compiled sweep by the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..table.primitive import Primitive


class OwnOperation(Primitive):
    """An operation that is not in the table."""

    __slots__ = ()


def own_operation(symbol: str) -> OwnOperation:
    """Return an operation of this name, which has no rule yet."""
    return OwnOperation(symbol, ("*xs",), symbol=symbol, variadic=True)


def has_own_rules(nodes: Sequence[Any]) -> bool:
    """Return whether a graph's sweep has to call rules."""
    return any(n._about.rule is not None or type(n.primitive) is OwnOperation for n in nodes)


def sweep(order: Sequence[Any]) -> None:
    """Add the derivatives of the last node to the `grad` of all, by their rules. If one fails,
    nothing is added.
    """
    before = [n.grad for n in order]
    for n in order:
        if n._first is not None:
            n.grad = 0.0
    try:
        order[-1].grad = (order[-1].grad or 0.0) + 1.0
        for n in reversed(order):
            n._backward()
    except BaseException:
        for n, grad in zip(order, before, strict=True):
            n.grad = grad
        raise


def refuse_copy(about: Any) -> None:
    """Raise TypeError for a node with a rule of its own, which refers to the nodes that it was made
    with.
    """
    if about.rule is not None:
        raise TypeError(
            "a Value with a rule of its own (`_backward`) cannot be copied: the rule keeps the old"
            " inputs"
        )
