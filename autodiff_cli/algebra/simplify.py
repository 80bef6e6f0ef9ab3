"""Simplifier: shorter graphs of the same function, by rules that hold for every real input in the domain.

Sums are collected by like terms and products by like bases, with exact rational coefficients and exponents; the rows of
the table say what else is known of single functions. Never used are rules that hold for some inputs only: (a²)^½ is
not a.
A shared part is taken into a sum or product only if it is short, so the graph does not grow.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..graphs.value import Value
from .branch_elimination import without_dead_branches
from .canonical import Canonicalizer
from .symbolic import by_definition
from .walk import rebuilt, rewritten, shapes

MAX_ROUNDS = 8


def simplify(outputs: Sequence[Value], *, spell: bool = True) -> list[Value]:
    """Simplify graphs; shared nodes stay shared, and the leaves are the same objects.

    With `spell`, internal stable forms are spelled in functions of the language. The result is a fixed point.
    """
    formulas = list(outputs)
    before: list[int] = []
    numbers: dict[tuple[object, ...], int] = {}
    for _ in range(MAX_ROUNDS):
        spelled = rewritten(formulas, _spelled) if spell else formulas
        formulas = Canonicalizer(spelled).outputs()
        shape = shapes(formulas, numbers)
        if shape == before:
            break
        before = shape
        formulas = without_dead_branches(formulas)
    return formulas


def _spelled(value: Value, inputs: tuple[Value, ...]) -> Value:
    value = rebuilt(value, inputs)
    definition = by_definition(value) if inputs else value
    if definition is value:
        return value
    parts = {p: p for p in inputs}  # a definition is walked no further
    (root,) = rewritten((definition,), lambda v, ps: (rebuilt if v is definition else _spelled)(v, ps), parts)
    return _spelled(root, root._prev)
