"""Backpropagation: the backward sweep over a graph of evaluated floats in place, without a tape beside it.

The backend of `Value.backward`: writing a graph down as a tape and its numbers back takes four times as long. It
takes the nodes in the order of `sweep.backward` and does with each what that does, so the results are the same to the
last bit. Sums, differences and products are written out, of rows whose rules say no more (`forms`); all else asks its
row. Where there is anything to say (a kink, an error), or anything but floats, it leaves the work to the sweep.
"""

from __future__ import annotations

from typing import Any

from ..numbers.floats import REAL
from ..table.operators import CONSTANT
from .forms import DIFFERENCE, FORMS, PRODUCT, SUM


def backpropagate(output: Any, seed: float) -> bool:
    """Fill in `grad` of every Value that the output was made from, as `differentiate` does; whether that was possible.

    Where it was not, all of them are 0.
    """
    # Until a node has its adjoint, `grad` says of what has been reached whether it depends on an active leaf.
    live, dead = object(), object()
    order: list[Any] = []
    done = False
    try:
        done = _reach(output, live, dead, order) and _pass_back(output, seed, live, dead, order)
    except (ValueError, ArithmeticError):
        pass
    finally:
        if not done:
            for node in order:
                node.grad = 0.0
    return done


def _reach(output: Any, live: object, dead: object, order: list[Any]) -> bool:
    """List the nodes, each after its inputs; whether all are ordinary floats."""
    if output._first is None:
        return False
    stack = [output]
    push, pop, list_node = stack.append, stack.pop, order.append
    while stack:
        top = stack[-1]
        mark = dead
        a, b = top._first, top._second
        for p in (a, b) if b is not None else (a,) if type(a) is not tuple else a:
            if (grad := p.grad) is live:
                mark = live
            elif grad is not dead:
                if p._first is not None:
                    push(p)
                    break
                if type(p.data) is not float:
                    return False
                list_node(p)
                if p._about.active:
                    mark = p.grad = live
                else:
                    p.grad = dead
        else:
            if type(top.data) is not float or top.primitive.demand:
                return False
            list_node(pop())
            top.grad = mark
    return True


def _pass_back(output: Any, seed: float, live: object, dead: object, order: list[Any]) -> bool:
    """Add up the adjoints; whether there is nothing to say about it."""
    output.grad = seed
    forms = FORMS
    for top in reversed(order):
        adjoint = top.grad
        if adjoint is live or adjoint is dead:
            top.grad = 0.0 if adjoint is live else None
            continue
        if adjoint == 0.0:
            top.grad = 0.0  # -0.0 comes of a product
        elif adjoint - adjoint != 0.0:
            return False
        a, b = top._first, top._second
        if a is None:
            continue
        primitive = top.primitive
        form = forms.get(primitive)
        if form is SUM or form is DIFFERENCE:
            if (grad := a.grad) is not dead:
                a.grad = adjoint if grad is live else grad + adjoint
            if (grad := b.grad) is not dead:
                share = adjoint if form is SUM else -adjoint
                b.grad = share if grad is live else grad + share
        elif form is PRODUCT:
            if (grad := a.grad) is not dead and ((y := b.data) != 0.0 or b.primitive is not CONSTANT):
                a.grad = adjoint * y if grad is live else grad + adjoint * y
            if (grad := b.grad) is not dead and ((x := a.data) != 0.0 or a.primitive is not CONSTANT):
                b.grad = adjoint * x if grad is live else grad + adjoint * x
        else:
            parents = (a, b) if b is not None else (a,) if type(a) is not tuple else a
            inputs = [p.data for p in parents]
            if primitive.variadic or (
                primitive.may_kink and (adjoint != 0.0 or primitive.jumps) and primitive.kink(*inputs)
            ):
                return False
            rules = primitive.partials
            for k, p in enumerate(parents):
                if (grad := p.grad) is not dead and (rule := rules[k]) is not None:
                    slope = rule(REAL, *inputs, top.data)
                    if slope is not None:
                        p.grad = adjoint * slope if grad is live else grad + adjoint * slope
    return True
