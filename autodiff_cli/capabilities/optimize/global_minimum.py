"""Whether an end of a search is the global minimum over a box, proven by interval arithmetic.

Parts of the box whose enclosure is not above the end are halved, until there are none, or the work
is spent: the branch and bound of Moore, Kearfott and Cloud, Introduction to Interval Analysis,
chapter 10.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...engine.numbers.base import NO_RESULT, UNDECIDED
from ...engine.numbers.budget import BudgetExceeded, use_share
from ...engine.numerics.box_ranges import (
    MIN_SHARE,
    BoxRanges,
    Enclosure,
    Interval,
    Part,
    range_numbers,
)
from ...engine.run.flat_graph import Graph
from ...errors import Diagnosed

PROOF_SHARE = 0.9  # of the work that is left: only the answer is written after it
MAX_PROVEN_VARIABLES = 3  # of a box: the parts around a minimum grow with a power of their number
SMALLEST = 1e-290  # of values that differ: below it doubles lose digits
# of the values over the box: by so much lower a value may be, and is no other minimum
SAME_MINIMUM = 1e-9


class _Above(BoxRanges):
    """The parts of a box, halved until no value in them is below `floor`."""

    def __init__(
        self,
        m: Any,
        graph: Graph,
        box: Mapping[str, Interval],
        values: Mapping[str, Any],
        floor: float,
    ) -> None:
        self.floor = floor
        super().__init__(m, graph, box, values, [*box])

    def _excess(self, box: Part, part: Enclosure) -> float:
        if self._is_proven(part) or self._share(box) <= MIN_SHARE:
            return 0.0
        return self._share(box)

    def _is_proven(self, part: Enclosure) -> bool:
        if part.value is None:
            # no value in all of it
            return part.fault is not None and part.fault.kind != UNDECIDED
        return bool(part.value[0].a.lower() >= self.floor)

    @property
    def is_proven(self) -> bool:
        """Return whether no part has a value below the floor."""
        return all(self._is_proven(part) for _, part in self.parts)


def proven_gap(
    graph: Graph,
    free: Mapping[str, tuple[float, float]],
    fixed: Mapping[str, float],
    value: float,
    scale: float,
) -> float | None:
    """Return by how much a value over the box of the `free` variables may be below `value` at most,
    a power of ten.

    It is about the share `SAME_MINIMUM` of the `scale` of the values. None where that is not
    proven: there may be a lower minimum, or python-flint is missing.
    """
    if len(free) > MAX_PROVEN_VARIABLES or not all(
        map(math.isfinite, (value, scale, *_ends(free)))
    ):
        return None
    try:
        m = range_numbers()
    except ImportError:
        return None
    box = {
        name: (m.number(low), m.number(high)) for name, (low, high) in free.items() if low < high
    }
    ends = {name: m.number(low) for name, (low, high) in free.items() if low == high}
    size = max(abs(value), scale)
    gap = 10.0 ** math.ceil(math.log10(SAME_MINIMUM * size)) if size > SMALLEST else SMALLEST
    try:
        with use_share(PROOF_SHARE):
            values = {name: m.number(x) for name, x in fixed.items()} | ends
            return gap if _Above(m, graph, box, values, value - gap).is_proven else None
    except (BudgetExceeded, Diagnosed, *NO_RESULT):
        return None


def _ends(box: Mapping[str, tuple[float, float]]) -> Sequence[float]:
    return [end for ends in box.values() for end in ends]
