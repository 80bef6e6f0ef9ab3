"""Simplifier: shorter graphs of the same function, by rules that hold for every real input in the domain.

Rules that hold for some inputs only are never used: (a²)^½ is not a.
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
    """Return simplified graphs of the same leaves; simplifying these changes nothing.

    With `spell`, internal stable forms are spelled in functions of the language.
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
