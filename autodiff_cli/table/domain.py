"""Domains: what a row's words say of where it is defined, as bounds that can be checked and counted with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

_BOUND = r"(?:(-?\d+) (<=?) )?(\w+) (<=?|>=?|!=) (-?\d+)"
_POLES = r"(.+) (?:is|are) not 0, -1, -2, …"
_HOLES = r"(\w+) is not (-?\d+(?: or -?\d+)*)"
_MIRRORED = {"<": ">", "<=": ">="}


class Bound(NamedTuple):
    """One bound of one input: `x > 0`, `x != 0`."""

    position: int
    relation: str
    """`<`, `<=`, `>`, `>=` or `!=`."""
    end: int | None
    """The number on the right; None for all of 0, -1, -2, …"""

    def side(self, x: Any) -> Any:
        """How far `x` is inside; negative where it is outside. Only for a bound on one side of a number."""
        return x - self.end if self.relation[0] == ">" else self.end - x


class Domain(NamedTuple):
    """The bounds in the description of a domain, and whether they are the entire domain."""

    bounds: tuple[Bound, ...]
    whole: bool
    ordered: tuple[tuple[int, int], ...] = ()
    """Positions of two inputs of which the first is not to be above the second: `lo <= hi`."""


@cache
def domain(words: str, params: tuple[str, ...]) -> Domain:
    """Return the bounds that the domain of a row declares; words that are no numeric bounds are left out."""
    poles = re.fullmatch(_POLES, words)
    if poles:
        return Domain(tuple([Bound(params.index(name), "!=", None) for name in poles[1].split(" and ")]), True)
    holes = re.fullmatch(_HOLES, words)
    if holes:
        return Domain(tuple([Bound(params.index(holes[1]), "!=", int(end)) for end in holes[2].split(" or ")]), True)
    bounds: list[Bound] = []
    clauses = re.split(r", | and ", words) if words else []
    if " or " in words:
        return Domain((), False)
    ordered: list[tuple[int, int]] = []
    whole = True
    for clause in clauses:
        low, _, high = clause.partition(" <= ")
        if low in params and high in params:
            ordered.append((params.index(low), params.index(high)))
            continue
        said = re.fullmatch(_BOUND, clause)
        if said is None or said[3] not in params:
            whole = False
            continue
        position = params.index(said[3])
        if said[1] is not None:
            bounds.append(Bound(position, _MIRRORED[said[2]], int(said[1])))
        bounds.append(Bound(position, said[4], int(said[5])))
    return Domain(tuple(bounds), whole, tuple(ordered))


def is_outside(limits: Domain, inputs: Sequence[Any]) -> bool:
    """Return whether an input certainly violates a bound; the inputs are plain numbers."""
    for bound in limits.bounds:
        x = inputs[bound.position]
        if bound.end is None:
            if x <= 0 and x == int(x):
                return True
        elif bound.relation == "!=":
            if x == bound.end:
                return True
        else:
            side = bound.side(x)
            if side < 0 or (side == 0 and len(bound.relation) == 1):
                return True
    return any(inputs[low] > inputs[high] for low, high in limits.ordered)
