"""Derivatives at points where a guard of a removable singularity holds, `where(x == 0, 1, sin(x)/x)` at 0."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

from ...errors import ExpressionError, NotSmooth
from ..graphs.value import Source, graph_of
from ..graphs.value_and_gradient import breakpoints_met, evaluate_in, value_and_gradient
from ..numbers.base import Number, NumberType
from ..run.evaluation import Evaluation, Kinks
from ..run.flat_graph import Graph
from ..table.operators import EQ, NE, VARIABLE

Answer = TypeVar("Answer")


def is_at_guard(kinks: Kinks) -> bool:
    """Return whether a sweep met an equality that chooses a branch."""
    return any(kink.primitive in (EQ, NE) for kink in kinks.values())


def through_guards(source: Source, at: Evaluation, order: int) -> Graph | None:
    """Return a program with the derivatives of the one that was evaluated, at its point and up to `order`.

    Beside guards that hold there it has power series; None if there is none.
    """
    from .guard_series import with_series_at_point  # only guards need it

    leaves = {label: at.graph.data[i] for i, label in at.graph.labels.items() if at.graph.primitives[i] is VARIABLE}
    return with_series_at_point(at.m, graph_of(source), at.graph.data, leaves, order)


def gradient_around(m: NumberType, source: Source, values: Mapping[str, Number], wrt: Collection[str]) -> Evaluation:
    """Return `value_and_gradient`, at guards that of the function around them."""
    at = value_and_gradient(m, source, values, wrt)
    beside = through_guards(source, at, 1) if is_at_guard(at.kinks) else None
    return at if beside is None else value_and_gradient(m, beside, values, wrt)


def jacobian_around(
    m: NumberType, source: Source, values: Mapping[str, Number], wrt: Collection[str]
) -> tuple[Evaluation, list[list[Number]], Kinks]:
    """Return the evaluated program, its Jacobian and kinks, at guards those of the functions around them."""
    at = evaluate_in(m, source, values, wrt)
    rows, kinks = at.jacobian()
    beside = through_guards(source, at, 1) if is_at_guard(kinks) else None
    return (at, rows, kinks) if beside is None else (at, *evaluate_in(m, beside, values, wrt).jacobian())


def smooth_around(
    compute: Callable[[Source], Answer],
    m: NumberType,
    source: Source,
    values: Mapping[str, Number],
    wrt: Collection[str],
    order: int,
) -> Answer:
    """Return derivatives of `source` up to `order`, or of a program that has the same where a guard holds.

    Raises `NotSmooth` as `compute` does.
    """
    try:
        return compute(source)
    except NotSmooth:
        beside = _program_at(m, source, values, wrt, order)
        if beside is None:
            raise
    return compute(beside)


def _program_at(
    m: NumberType, source: Source, values: Mapping[str, Number], wrt: Collection[str], order: int
) -> Graph | None:
    try:
        at = evaluate_in(m, source, values, wrt)
        met = breakpoints_met(at)
    except ExpressionError:
        return None
    return through_guards(source, at, order) if any(b.primitive in (EQ, NE) for b in met) else None
