"""Starting values of the variables that are not given any."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import NamedTuple

SEED = 1


class Init(NamedTuple):
    """How starting values are drawn: `normal` (mean 0, deviation 1), `uniform` (from -1 to 1) or `zeros`."""

    method: str
    seed: int = SEED

    def values(self, names: Iterable[str]) -> dict[str, float]:
        """Return a value for each name: the same for the same names in the same order."""
        random = Random(self.seed)
        draws: dict[str, Callable[[], float]] = {
            "normal": lambda: random.gauss(0.0, 1.0),
            "uniform": lambda: random.uniform(-1.0, 1.0),
            "zeros": lambda: 0.0,
        }
        return {name: draws[self.method]() for name in names}
