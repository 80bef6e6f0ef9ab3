"""Propagation of distributions by the Monte Carlo method of JCGM 101:2008."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...questions.distributions import Distribution

BLOCK_DRAWS = 1 << 16  # draws that are evaluated together
# results of an output that are kept as they are; a multiple of `BLOCK_DRAWS`
MAX_KEPT_RESULTS = 1 << 20
SCATTER_BATCHES = 10  # parts of the kept results, to see how much they scatter


class Drawn(NamedTuple):
    """The Monte Carlo result of an output."""

    mean: float
    deviation: float
    shortest: tuple[float, float]
    symmetric: tuple[float, float]
    outside: int
    scatter: float
    edges: tuple[float, ...]
    counts: tuple[int, ...]


class Sampler:
    """Draws samples of all inputs as arrays, reproducible by the seed.

    `correlated` has names, a square root of their covariance, and degrees of freedom; `copies` are
    tables of draws.
    """

    def __init__(
        self,
        distributions: Mapping[str, Distribution],
        correlated: Sequence[tuple[Sequence[str], Sequence[Sequence[float]], float]],
        constants: Mapping[str, float],
        seed: int,
        copies: Sequence[Mapping[str, Sequence[float]]] = (),
        samples: int = 0,
    ) -> None:
        self.random = np.random.default_rng(seed)
        self.distributions, self.correlated, self.constants = distributions, correlated, constants
        self.copies = [
            {name: np.array(x, dtype=float) for name, x in table.items()} for table in copies
        ]
        self._samples, self._done = samples, 0
        together = {name for names, _, _ in correlated for name in names}.union(*copies)
        self._independent = [name for name in distributions if name not in together]

    def __call__(self, n: int) -> dict[str, Any]:
        values: dict[str, Any] = dict(self.constants)
        for names, root, dof in self.correlated:
            z = np.asarray(root) @ self.random.standard_normal((len(names), n))
            if not math.isinf(dof):
                # a common factor: the multivariate t-distribution
                z /= np.sqrt(self.random.chisquare(dof, n) / dof)
            values |= {
                name: self.distributions[name].parameters[0] + row
                for name, row in zip(names, z, strict=True)
            }
        for table in self.copies:
            count = len(next(iter(table.values())))
            # whole rows, in order if there are as many as samples
            in_order = count == self._samples
            rows = (
                np.arange(self._done, self._done + n)
                if in_order
                else self.random.integers(count, size=n)
            )
            values |= {name: column[rows] for name, column in table.items()}
        self._done += n
        return values | {
            name: self.distributions[name].draw(np, self.random, n) for name in self._independent
        }


class Results:
    """The results of one output: kept up to a limit, then counted in bins."""

    def __init__(self, middle: float) -> None:
        self.middle, self.count, self.outside = middle, 0, 0
        self._sum = self._squares = 0.0
        self._kept, self._batches = list[Any](), list[Any]()
        self._edges: Any = None
        self._counts: Any = 0

    def add(self, values: Any) -> None:
        """Add a block of results."""
        good = values[np.isfinite(values)]
        self.outside += len(values) - len(good)
        self.count += len(good)
        # differences from a number near the mean do not cancel
        with np.errstate(over="ignore", invalid="ignore"):
            away = good - self.middle
            self._sum += float(np.sum(away))
            self._squares += float(np.dot(away, away))
        self._kept.append(good)
        if self.count <= MAX_KEPT_RESULTS:
            return
        if self._edges is None:
            # bins between quantiles of these results, and ever wider ones beyond
            draws = np.concatenate(self._kept[:-1])
            self._batches, first = np.array_split(draws, SCATTER_BATCHES), np.sort(draws)
            steps = ((first[-1] - first[0]) or 1.0) * 2.0 ** np.arange(-8, 200)
            with np.errstate(over="ignore"):
                edges = np.concatenate(
                    [first[0] - steps[::-1], first[::8], first[-1:], first[-1] + steps]
                )
            self._edges = np.unique(edges[np.isfinite(edges)])
        for block in self._kept:
            # an edge belongs to the bin below
            places = np.searchsorted(self._edges, block)
            self._counts = self._counts + np.bincount(places, minlength=len(self._edges) + 1)
        self._kept = []

    def summarize(self, level: float) -> Drawn:
        """Return the summary of all results."""
        if self._edges is None:
            values = np.sort(np.concatenate(self._kept))
            below = np.arange(1, len(values) + 1)
        else:
            values, below = self._edges, np.cumsum(self._counts)[:-1]
        wanted = _covered(level, self.count)
        tail = max(1, (self.count - wanted) // 2)
        low, high = np.minimum(np.searchsorted(below, [tail, tail + wanted]), len(values) - 1)
        # the part of the range with enough results to plot
        a, b = np.searchsorted(below, [0.0005 * self.count, 0.9995 * self.count])
        edges = np.linspace(values[a], values[min(b, len(values) - 1)], 81)
        counted = np.concatenate([[0], below])[np.searchsorted(values, edges, side="right")]
        batches = self._batches or np.array_split(np.concatenate(self._kept), SCATTER_BATCHES)
        ends = [
            _shortest(np.sort(batch), np.arange(1, len(batch) + 1), level, len(batch))
            for batch in batches
        ]
        with np.errstate(over="ignore", invalid="ignore"):
            scatter = max(float(np.std(side, ddof=1)) for side in zip(*ends, strict=True))
        # JCGM 101, 7.6
        mean = self._sum / self.count
        return Drawn(
            self.middle + mean,
            math.sqrt(max(0.0, (self._squares - self.count * mean * mean) / (self.count - 1))),
            _shortest(values, below, level, self.count),
            (float(values[low]), float(values[high])),
            self.outside,
            # an end converges with the cube root of the number of draws
            scatter * float(np.cbrt(len(batches[0]) / self.count)),
            tuple(edges.tolist()),
            tuple(np.diff(counted).tolist()),
        )


def _covered(level: float, count: int) -> int:
    return min(max(1, round(level * count)), count - 1)


def _shortest(values: Any, below: Any, level: float, count: int) -> tuple[float, float]:
    # JCGM 101, 7.7.2 to 7.7.4: the shortest interval that covers enough results
    last = np.searchsorted(below, below + _covered(level, count))
    starts = np.flatnonzero(last < len(values))
    if not starts.size:
        return float(values[0]), float(values[-1])
    start = starts[np.argmin(values[last[starts]] - values[starts])]
    return float(values[start]), float(values[last[start]])
