"""Derivatives at points where a guard of a removable singularity holds, `where(x == 0, 1,
sin(x)/x)` at 0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple, TypeVar

from ...errors import ExpressionError, NotSmooth
from ..graphs.value import Source, graph_of
from ..graphs.value_and_gradient import (
    breakpoints_met,
    evaluate_in,
    value_and_gradient,
    variables_of,
)
from ..numbers.base import Number, NumberType
from ..run.evaluation import Evaluation, Kinks, error_at
from ..run.flat_graph import Graph
from ..run.sweep import Breakpoint
from ..table.operators import EQ, NE

Answer = TypeVar("Answer")


class Beside(NamedTuple):
    """A program with the derivatives of another one at a point, and the reason why some do not
    exist.
    """

    program: Graph | None = None
    reason: str = ""


def around_guards(
    source: Source, at: Evaluation, order: int, kinks: Iterable[Breakpoint]
) -> Beside | None:
    """Return what is known of a program at its point, where its choices do not decide; None where
    they do.

    A program has the same derivatives there, up to `order`: where a guard `u == v` holds, that of
    the function around it, and where a branch has no value at the point, that of its behaviour
    beside it.
    """
    met = [kink for kink in kinks if kink.primitive.gives_condition]
    through = (
        _through_equalities(source, at, order)
        if any(kink.primitive in (EQ, NE) for kink in met)
        else None
    )
    if through is not None:
        return Beside(through)
    if not any(not kink.sides for kink in met):
        return None
    from .sides_of_guards import beside_point  # only guards need it

    return Beside(*beside_point(at, order))


def _through_equalities(source: Source, at: Evaluation, order: int) -> Graph | None:
    from .guard_series import with_series_at_point  # only guards need it

    return with_series_at_point(
        at.m, graph_of(source), at.graph.data, variables_of(at.graph), order
    )


def with_reason(kinks: Kinks, reason: str) -> Kinks:
    """Return kinks whose comparisons say why there is no derivative."""
    return {i: kink.because(reason) for i, kink in kinks.items()}


def gradient_around(
    m: NumberType, source: Source, values: Mapping[str, Number], wrt: Collection[str]
) -> Evaluation:
    """Return `value_and_gradient`, at guards that of the function around them."""
    at = value_and_gradient(m, source, values, wrt)
    settle_guards(source, at)
    return at


def settle_guards(source: Source, at: Evaluation) -> None:
    """Give a differentiated program the gradient of the function around guards that it met, where
    that is known.
    """
    beside = around_guards(source, at, 1, at.kinks.values()) if at.kinks else None
    if beside is None:
        return
    if beside.program is not None:
        around = value_and_gradient(at.m, beside.program, variables_of(at.graph), at.wanted)
        at.gradient, at.kinks = around.gradient, around.kinks
    at.kinks = with_reason(at.kinks, beside.reason)


def jacobian_around(
    m: NumberType, source: Source, values: Mapping[str, Number], wrt: Collection[str]
) -> tuple[Evaluation, list[list[Number]], Kinks]:
    """Return the evaluated program, its Jacobian and kinks, at guards those of the functions around
    them.
    """
    at = evaluate_in(m, source, values, wrt)
    rows, kinks = at.jacobian()
    beside = around_guards(source, at, 1, kinks.values()) if kinks else None
    if beside is None:
        return at, rows, kinks
    if beside.program is not None:
        rows, kinks = evaluate_in(m, beside.program, values, wrt).jacobian()
    return at, rows, with_reason(kinks, beside.reason)


def smooth_around(
    compute: Callable[[Source], Answer],
    m: NumberType,
    source: Source,
    values: Mapping[str, Number],
    wrt: Collection[str],
    order: int,
) -> Answer:
    """Return derivatives of `source` up to `order`, or of a program that has the same where a guard
    holds.

    Raises `NotSmooth` as `compute` does, with the reason if it is known.
    """
    try:
        return compute(source)
    except NotSmooth as error:
        beside = _beside(m, source, values, wrt, order, error)
        if beside is None or beside.program is None:
            raise
    return compute(beside.program)


def _beside(
    m: NumberType,
    source: Source,
    values: Mapping[str, Number],
    wrt: Collection[str],
    order: int,
    error: NotSmooth,
) -> Beside | None:
    try:
        at = evaluate_in(m, source, values, wrt)
        known = error.diagnostic.message if error.is_decided else ""
        met = [kink._replace(sides=known) for kink in breakpoints_met(at)]
        beside = around_guards(source, at, order, met)
    except ExpressionError:
        return None
    if beside is not None and beside.reason:
        first = next(one for one in met if one.primitive.gives_condition)
        raise error_at(first.refusal(beside.reason), at.graph) from None
    return beside
