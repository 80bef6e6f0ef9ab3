"""Simplifier: shorter graphs of the same function, by rules for every real input in the domain."""

from __future__ import annotations

from collections.abc import Sequence

from ..graphs.value import Value
from .branch_elimination import without_dead_branches
from .canonical import Canonicalizer
from .symbolic import to_language
from .walk import rewrite, text_ids

MAX_ROUNDS = 8


def simplify(outputs: Sequence[Value], *, spell: bool = True) -> list[Value]:
    """Return simplified graphs with the same leaves; `spell` writes stable forms in functions of
    the language.
    """
    formulas = list(outputs)
    before: list[int] = []
    numbers: dict[tuple[object, ...], int] = {}
    for _ in range(MAX_ROUNDS):
        formulas = Canonicalizer(rewrite(formulas, to_language) if spell else formulas).outputs()
        shape = text_ids(formulas, numbers)
        if shape == before:
            break
        before = shape
        formulas = without_dead_branches(formulas)
    return formulas
