"""Backpropagation: the backward sweep over a graph of evaluated floats in place, without a tape beside it.

The backend of `Value.backward`: writing a graph down as a tape and its numbers back takes four times as long. It
takes the nodes in the order of `sweep.backward` and does with each what that does, so the results are the same to the
last bit. Sums and products are written out, of rows whose rules say no more (`forms`); all else asks its row. Where
there is anything to say (a kink, an error), or anything but floats, it leaves the work to the sweep.
"""

from __future__ import annotations

from typing import Any

from ..numbers.floats import REAL
from ..table.operators import CONSTANT
from .forms import FORMS, PRODUCT, SUM


def backpropagate(output: Any, seed: float) -> bool:
    """Fill in `grad` of every Value that the output was made from, as `differentiate` does; whether that was possible.

    Where it was not, all of them are 0.
    """
    # Until a node has its adjoint, `grad` says of what has been reached whether it depends on an active leaf.
    live, dead = object(), object()
    order: list[Any] = []
    leaves: list[Any] = []
    try:
        done = _reach(output, live, dead, order, leaves) and _pass_back(output, seed, live, dead, order)
    except (ValueError, ArithmeticError):
        done = False
    finally:
        for group in (leaves, order):
            for node in group:
                grad = node.grad
                if type(grad) is not float:
                    node.grad = 0.0 if grad is live else None
                elif grad == 0.0:
                    # -0.0 comes of a product.
                    node.grad = 0.0
                elif grad - grad != 0.0:
                    done = False
    if not done:
        for group in (leaves, order):
            for node in group:
                node.grad = 0.0
    return done


def _reach(output: Any, live: object, dead: object, order: list[Any], leaves: list[Any]) -> bool:
    """List the operations, each after its inputs, and the leaves; whether all are ordinary floats."""
    stack = [output]
    push, list_operation, list_leaf = stack.append, order.append, leaves.append
    if not output._prev:
        return False
    while stack:
        top = stack[-1]
        if (grad := top.grad) is live or grad is dead:
            stack.pop()
            continue
        mark = dead
        for p in top._prev:
            if (grad := p.grad) is live:
                mark = live
            elif grad is not dead:
                if p._prev:
                    push(p)
                    break
                if type(p.data) is not float:
                    return False
                list_leaf(p)
                if p.active:
                    mark = p.grad = live
                else:
                    p.grad = dead
        else:
            if type(top.data) is not float or top.primitive.demand:
                return False
            top.grad = mark
            list_operation(top)
            stack.pop()
    return True


def _pass_back(output: Any, seed: float, live: object, dead: object, order: list[Any]) -> bool:
    """Add up the adjoints; whether there is nothing to say about it."""
    depends = output.grad is live
    output.grad = seed
    forms = FORMS
    for top in reversed(order) if depends else ():
        adjoint = top.grad
        if adjoint is live or adjoint is dead:
            continue
        primitive = top.primitive
        form = forms.get(primitive)
        if form is SUM:
            for p in top._prev:
                if (grad := p.grad) is live:
                    p.grad = adjoint
                elif grad is not dead:
                    p.grad = grad + adjoint
        elif form is PRODUCT:
            a, b = top._prev
            if (grad := a.grad) is not dead and ((y := b.data) != 0.0 or b.primitive is not CONSTANT):
                a.grad = adjoint * y if grad is live else grad + adjoint * y
            if (grad := b.grad) is not dead and ((x := a.data) != 0.0 or a.primitive is not CONSTANT):
                b.grad = adjoint * x if grad is live else grad + adjoint * x
        else:
            inputs = [p.data for p in top._prev]
            if primitive.variadic or (
                primitive.may_kink and (adjoint != 0.0 or primitive.jumps) and primitive.kink(*inputs)
            ):
                return False
            for p, partial in zip(top._prev, primitive.partials, strict=True):
                if (grad := p.grad) is not dead and partial is not None:
                    slope = partial(REAL, *inputs, top.data)
                    if slope is not None:
                        p.grad = adjoint * slope if grad is live else grad + adjoint * slope
    return True
