"""Rounding errors of a formula in all rows of data at once, to first order, to choose the rows that
are looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..engine.graphs.adjoint import Recording, fill, record_values
from ..engine.numbers.base import NO_RESULT
from ..engine.numbers.recorder import Recorder, Step
from ..engine.numbers.running_error import SPECIAL_ULPS, UNIT_ROUNDOFF
from ..engine.run.flat_graph import Graph, in_order
from ..engine.table.operators import WHERE
from ..errors import Diagnosed
from ..questions.rounding import spread_over

# One row of so many that are looked at is one with a large bound; the others are spread over all.
SHARE_OF_WORST = 2


def rows_to_check(graph: Graph, columns: Mapping[str, Any], rows: Sequence[int]) -> list[int]:
    """Return the rows whose rounding errors are looked at: spread over all, and those where the
    value may lose most.

    `columns` has a column or a number for each variable.
    """
    chosen = [rows[k] for k in spread_over(len(rows))]
    if len(chosen) == len(rows):
        return chosen
    ranked = _ranked(graph, columns, rows)
    worst = ranked[: len(chosen) // SHARE_OF_WORST]
    return sorted({*worst, *chosen[:: SHARE_OF_WORST if worst else 1]})


def _ranked(graph: Graph, columns: Mapping[str, Any], rows: Sequence[int]) -> list[int]:
    """Return the rows by the bound on the error of the value, the largest first; none without
    bounds.
    """
    try:
        import numpy as np

        from .kernels import kernel
    except ImportError:
        return []
    places = {label: i for i, label in graph.labels.items()}
    names = [name for name in columns if name in places]

    def record(m: Recorder) -> Recording:
        return _with_error(graph, [places[name] for name in names], m)

    taken = np.array(rows)
    inputs = [
        np.asarray(x)[taken] if np.ndim(x) else float(x) for x in map(columns.__getitem__, names)
    ]
    results, flags = np.empty((2, len(rows))), np.ones(len(rows), bool)
    try:
        compute = kernel(record, len(names), frozenset(), "numpy").compute
    except (Diagnosed, *NO_RESULT):
        return []  # NumPy lacks a function
    if compute is None:
        return []
    compute(inputs, results, flags)
    errors = np.where(np.isfinite(results[1]), results[1], np.inf)
    return [rows[k] for k in np.argsort(-errors, kind="stable").tolist()]


def _with_error(graph: Graph, inputs: Sequence[int], m: Recorder) -> Recording:
    recording = record_values(graph, inputs, m)
    place, zero = recording.place, m.number(0.0)
    errors: dict[int, Step] = {}
    for i in in_order(graph.parents, graph.roots[:1]):
        primitive, parents = graph.primitives[i], graph.parents[i]
        if not parents or primitive.gives_condition:
            errors[i] = zero
        elif primitive is WHERE:
            condition, then, otherwise = parents
            errors[i] = m.where(place[condition], errors[then], errors[otherwise])
        else:
            slopes = primitive.slopes(
                m, [place[p] for p in parents], place[i], [True] * len(parents)
            )
            own = m.step("mul", SPECIAL_ULPS * UNIT_ROUNDOFF, m.step("abs", place[i]))
            errors[i] = _total(m, own, zip(slopes, [errors[p] for p in parents], strict=True), zero)
    return Recording(m, [place[graph.roots[0]], errors[graph.roots[0]]], graph=graph, place=place)


def _total(m: Recorder, own: Step, parts: Any, zero: Step) -> Step:
    for slope, error in parts:
        if slope is not None and error is not zero:
            own = m.step("add", own, m.step("mul", m.step("abs", fill(m, m.number(slope))), error))
    return own
