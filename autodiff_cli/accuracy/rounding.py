"""Warnings about digits that rounding loses, for answers in doubles.

A running bound of the rounding errors decides whether any may be lost; only then more digits are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from ..errors import Diagnostic, ExpressionError
from ..inputs.problem import Point
from ..numbers.base import NO_RESULT, Number, NumberType
from ..numbers.budget import BudgetExceeded, use_share
from ..numbers.floats import REAL
from ..numbers.running_error import RUNNING, Bounded
from ..run.evaluation import Evaluation
from ..run.flat_graph import Graph
from ..table.operators import VARIABLE

MAX_BOUNDED_NODES = 10_000
"""Larger graphs are not checked."""
BUDGET_SHARE = 0.25
"""The share of an answer's budget that its check may take; what takes more is not checked."""
REQUIRED_DIGITS = 6
"""Fewer correct digits are reported."""
MAX_RELATIVE_ERROR = 10.0**-REQUIRED_DIGITS / 4
"""A bound that leaves so many digits, with a margin, since it holds to first order."""
MAX_NAMED = 4
"""The most numbers that a warning names."""


Compute = Callable[[NumberType, Mapping[str, Number]], Mapping[str, Number]]
"""Returns numbers by name, in a number type at values of it."""


def rounding_warnings(
    graph: Graph,
    values: Mapping[str, float],
    point: Point,
    wanted: Sequence[str],
    command: str = "grad",
    uncertainties: Sequence[float] = (),
) -> list[Diagnostic]:
    """Return warnings about lost digits of the outputs at `values` and of their derivatives by `wanted`.

    `point` has the values as typed: what is right for these has lost no digit. An output with one of the
    `uncertainties` needs digits of the larger of both only. The hints offer the digits of a `command`. There are none
    for graphs that are too large.
    """

    def find() -> list[Diagnostic]:
        at = _bounded(graph, values, wanted)
        decided, rows = _branches_are_decided(at), at.jacobian()[0]
        found: list[Diagnostic] = []
        noise = [10.0**-REQUIRED_DIGITS * x for x in uncertainties] or [0.0] * len(rows)
        for root, value, row, allowed in zip(graph.roots, at.values, rows, noise, strict=True):
            value_is_accurate = is_accurate(value) or value.error <= allowed / 4
            if not (decided and value_is_accurate and all(map(is_accurate, row))):
                found += _lost_digits_of(graph.subgraph_of((root,))[0], values, point, wanted, allowed)
        return [warning._replace(hint=f"{warning.hint}, {_offer(command)}") for warning in dict.fromkeys(found)]

    return _within_share(graph, find)


def _lost_digits_of(
    graph: Graph, values: Mapping[str, float], point: Point, wanted: Sequence[str], noise: float
) -> list[Diagnostic]:
    from .check import UNSETTLED, lost_digits

    names = set(graph.labels.values())
    own_values = {name: x for name, x in values.items() if name in names}
    own_point = {name: x for name, x in point.items() if name in names}
    own_wanted = [name for name in wanted if name in names]
    try:
        return lost_digits(graph, own_values, own_point, own_wanted, REQUIRED_DIGITS, noise)
    except BudgetExceeded:
        return [UNSETTLED]


def lost_number_warnings(
    graph: Graph, values: Mapping[str, float], point: Point, compute: Compute, command: str
) -> list[Diagnostic]:
    """Return a warning that names the numbers which lose digits.

    `compute` returns numbers of the graph by what messages call them. The hint offers the digits of
    a `command`.
    """

    def find() -> list[Diagnostic]:
        bounded = compute(RUNNING, {name: Bounded(x) for name, x in values.items()})
        doubtful = [name for name, x in bounded.items() if not is_accurate(x)]
        if not doubtful:
            return []
        from .check import UNSETTLED, having_digits

        doubles = compute(REAL, values)  # may be nearer, where it takes more digits itself
        try:
            left = _correct_digits(values, point, compute, {name: float(doubles[name]) for name in doubtful})
        except BudgetExceeded:
            return [UNSETTLED._replace(hint=f"{UNSETTLED.hint}, {_offer(command)}")]
        lost = {name: digits for name, digits in left.items() if digits < REQUIRED_DIGITS}
        if not lost:
            return []
        names = [*lost][:MAX_NAMED] + ["…"] * (len(lost) > MAX_NAMED)
        message = f"by rounding, {', '.join(names)} {having_digits(len(lost), min(lost.values()))}"
        return [Diagnostic("lost_digits", message, None, f"rewrite the formula, {_offer(command)}")]

    return _within_share(graph, find)


def _correct_digits(
    values: Mapping[str, float], point: Point, compute: Compute, doubles: Mapping[str, float]
) -> dict[str, int]:
    """Return the correct digits of `doubles`, without numbers that are 0 or that more digits change.

    As in `check.lost_digits`, they count at `values` or at the `point`, whichever leaves more.
    """
    from ..inputs.arithmetic import number_as_typed
    from ..numbers.multiprecision import Multiprecision
    from .check import AGREE_WITHIN, REFERENCE_DIGITS, ZERO_DIGITS, correct_digits

    def compute_in(m: Multiprecision) -> Mapping[str, Number]:
        return compute(m, {name: m.number(x) for name, x in values.items()})

    digits, settled = REFERENCE_DIGITS, dict[str, Number]()
    exact = compute_in(Multiprecision(digits))
    while digits < ZERO_DIGITS and len(settled) < len(doubles):
        digits *= 2
        coarse, exact = exact, compute_in(Multiprecision(digits))
        settled = {n: exact[n] for n in doubles if abs(coarse[n] - exact[n]) <= AGREE_WITHIN * abs(exact[n])}
    written = exact
    with suppress(ExpressionError):
        m = Multiprecision(digits, decimals=True)
        written = compute(m, {name: number_as_typed(m, name, x) for name, x in point.items()})
    correct = dict[str, int]()
    for name, x in settled.items():
        typed = written[name] if abs(written[name]) > AGREE_WITHIN * abs(x) else 0
        if x:
            correct[name] = max(correct_digits(doubles[name], of) for of in (x, typed))
    return correct


def _offer(command: str) -> str:
    return f"or compute with more digits: `{command} --precision 30`"


def is_accurate(x: Number) -> bool:
    """Return whether a number with a running bound has the required digits."""
    return type(x) is not Bounded or x.error <= MAX_RELATIVE_ERROR * abs(x.x)


def _bounded(graph: Graph, values: Mapping[str, float], wanted: Sequence[str]) -> Evaluation:
    """Evaluate a graph with bounds on its rounding errors, at exactly these values and the doubles of its constants."""
    places = {label: i for i, label in graph.labels.items() if graph.primitives[i] is VARIABLE}
    data = [None if x is None else Bounded(x) for x in graph.leaf_data()]
    for name, i in places.items():
        data[i] = Bounded(values[name])
    return Evaluation(RUNNING, graph.with_data(data), {name: places.get(name) for name in wanted})


def _branches_are_decided(at: Evaluation) -> bool:
    """Return whether rounding errors leave each comparison, kink and jump on its side."""
    side, graph = _RoundedSides(), at.graph
    for i in at.order:
        primitive, out = graph.primitives[i], graph.data[i]
        if primitive.active_branch:
            # functions that jump are asked for their jumps to the next values too
            for value in (out - 1, out, out + 1) if primitive.jumps else (out,):
                with suppress(*NO_RESULT):
                    primitive.active_branch(RUNNING, side, *graph.inputs(i), out=value)
    return side.are_decided


class _RoundedSides:
    """Chooses the sides of kinks, and records whether rounding errors leave a choice."""

    are_decided = True

    def __call__(self, u: Number) -> int:
        return 1 if self.is_nonzero(u) and u > 0 else -1

    def is_nonzero(self, u: Number) -> bool:
        self.are_decided &= type(u) is not Bounded or not 0 < u.error >= abs(u.x)
        return bool(u != 0)

    def length(self, xs: Sequence[Number]) -> Number:
        for x in xs:
            self.is_nonzero(x)
        return xs[0]


def _within_share(graph: Graph, find: Callable[[], list[Diagnostic]]) -> list[Diagnostic]:
    if len(graph.places) > MAX_BOUNDED_NODES:
        return []
    try:
        with use_share(BUDGET_SHARE):
            return find()
    except (BudgetExceeded, ExpressionError, *NO_RESULT):
        return []
