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

    Where it was not, all of them are 0. Nothing is written before the end, so threads may share Values: whoever ends
    last has its gradients in them.
    """
    live, dead = object(), object()
    sweep: dict[Any, Any] = {}
    """Of each node, its inputs first: whether it depends on an active leaf; then its adjoint."""
    try:
        done = _reach(output, live, dead, sweep) and _pass_back(output, seed, live, dead, sweep)
    except (ValueError, ArithmeticError):
        done = False
    if done:
        for node, adjoint in sweep.items():
            # `+ 0.0` turns the -0.0 of a product into a plain zero.
            node.grad = None if adjoint is dead else 0.0 if adjoint is live else adjoint + 0.0
    else:
        for node in sweep:
            node.grad = 0.0
    return done


def _reach(output: Any, live: object, dead: object, sweep: dict[Any, Any]) -> bool:
    """List the nodes, each after its inputs; whether all are ordinary floats."""
    if output._first is None:
        return False
    stack = [output]
    push, pop, reached = stack.append, stack.pop, sweep.get
    while stack:
        top = stack[-1]
        mark = dead
        a, b = top._first, top._second
        for p in (a, b) if b is not None else (a,) if type(a) is not tuple else a:
            if (known := reached(p)) is live:
                mark = live
            elif known is None:
                if p._first is not None:
                    push(p)
                    break
                if type(p.data) is not float:
                    return False
                if p._about.active:
                    mark = sweep[p] = live
                else:
                    sweep[p] = dead
        else:
            if type(top.data) is not float or top.primitive.demand:
                return False
            sweep[pop()] = mark
    return True


def _pass_back(output: Any, seed: float, live: object, dead: object, sweep: dict[Any, Any]) -> bool:
    """Add up the adjoints; whether there is nothing to say about it."""
    sweep[output] = seed
    forms = FORMS
    for top in reversed(sweep):
        adjoint = sweep[top]
        a, b = top._first, top._second
        if adjoint is live or adjoint is dead:
            continue
        if adjoint - adjoint != 0.0:
            return False
        if a is None:
            continue
        primitive = top.primitive
        form = forms.get(primitive)
        if form is SUM or form is DIFFERENCE:
            if (known := sweep[a]) is not dead:
                sweep[a] = adjoint if known is live else known + adjoint
            if (known := sweep[b]) is not dead:
                share = adjoint if form is SUM else -adjoint
                sweep[b] = share if known is live else known + share
        elif form is PRODUCT:
            if (known := sweep[a]) is not dead and ((y := b.data) != 0.0 or b.primitive is not CONSTANT):
                sweep[a] = adjoint * y if known is live else known + adjoint * y
            if (known := sweep[b]) is not dead and ((x := a.data) != 0.0 or a.primitive is not CONSTANT):
                sweep[b] = adjoint * x if known is live else known + adjoint * x
        else:
            parents = (a, b) if b is not None else (a,) if type(a) is not tuple else a
            inputs = [p.data for p in parents]
            if primitive.variadic or (
                primitive.may_kink and (adjoint != 0.0 or primitive.jumps) and primitive.kink(*inputs)
            ):
                return False
            rules = primitive.partials
            for k, p in enumerate(parents):
                if (known := sweep[p]) is not dead and (rule := rules[k]) is not None:
                    slope = rule(REAL, *inputs, top.data)
                    if slope is not None:
                        sweep[p] = adjoint * slope if known is live else known + adjoint * slope
    return True
