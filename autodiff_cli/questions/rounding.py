"""Warnings about digits that rounding loses, for answers in doubles.

A running bound of the rounding errors decides whether any may be lost; only then more digits are
computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import repeat
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

from ..engine.numbers.base import NO_RESULT, Number, NumberType
from ..engine.numbers.budget import BudgetExceeded, use_share
from ..engine.numbers.floats import REAL
from ..engine.numbers.running_error import RUNNING, Bounded
from ..engine.run.evaluation import Evaluation, Kinks
from ..engine.run.flat_graph import Graph
from ..engine.run.sweep import Breakpoint, breakpoints
from ..engine.table.operators import VARIABLE
from ..errors import Diagnostic, ExpressionError
from .problem import Point

# Larger graphs are not checked, which a note says: their bounds take a second or more.
MAX_BOUNDED_NODES = 100_000
# The share of an answer's budget that its check may take; what takes more is not checked.
BUDGET_SHARE = 0.25
# Fewer correct digits are reported.
REQUIRED_DIGITS = 6
# A bound that leaves so many digits, with a margin, since it holds to first order.
MAX_RELATIVE_ERROR = 10.0**-REQUIRED_DIGITS / 4
# The most numbers that a warning names.
MAX_NAMED = 4


# The points of a curve, or rows of data, whose rounding errors are bounded.
MAX_BOUNDED_POINTS = 50
# Those with the largest bounds, which are computed with more digits.
MAX_CONFIRMED_POINTS = 3


_BREAKPOINT = attrgetter("breakpoint")

# Returns numbers by name, in a number type at values of it.
Compute = Callable[[NumberType, Mapping[str, Number]], Mapping[str, Number]]
# Returns such numbers, and the kinks that their derivatives meet.
ComputeAtKinks = Callable[
    [NumberType, Mapping[str, Number]], tuple[Mapping[str, Number], Mapping[int, Breakpoint]]
]


def rounding_warnings(
    graph: Graph,
    values: Mapping[str, float],
    point: Point,
    wanted: Sequence[str],
    command: str = "grad",
    uncertainties: Sequence[float] = (),
    tolerated: Mapping[str, float] = MappingProxyType({}),
) -> list[Diagnostic]:
    """Return warnings about lost digits of the outputs at `values` and of their derivatives by
    `wanted`.

    `point` has the values as typed: what is right for these has lost no digit. An output with one
    of the `uncertainties` needs digits of the larger of both only. Errors of derivatives, and of
    the value as "", up to those `tolerated` are none. The hints offer the digits of a `command`.
    There are none for graphs that are too large.
    """

    def find() -> list[Diagnostic]:
        found: list[Diagnostic] = []
        try:
            at = _bounded(graph, values, wanted)
            decided, (rows, kinks) = _branches_are_decided(at), at.jacobian()
            numbers: list[list[Number] | None] = [
                [x, *row] for x, row in zip(at.values, rows, strict=True)
            ]
        except (ExpressionError, *NO_RESULT):
            decided, numbers = False, [None] * len(graph.roots)
        for k, (root, bounds) in enumerate(zip(graph.roots, numbers, strict=True)):
            of_value = {"": 10.0**-REQUIRED_DIGITS * uncertainties[k]} if uncertainties else {}
            allowed = {**tolerated, **of_value}
            if not (decided and _are_accurate(bounds, allowed, wanted)):
                part = graph.subgraph_of((root,))[0]
                proven = decided and have_bounds(bounds)
                found += _lost_digits_of(part, values, point, wanted, allowed, proven=proven) or ()
        if decided and not found and any(map(_BREAKPOINT, graph.primitives)):
            found = _equal_sides_warnings(at, kinks, values, point)
        return [_offered(warning, command) for warning in dict.fromkeys(found)]

    return _within_share(graph, find, command)


def _are_accurate(
    bounds: Sequence[Number] | None, allowed: Mapping[str, float], wanted: Sequence[str]
) -> bool:
    """Return whether the bounds leave value and derivatives the digits, or the errors allowed."""
    room = [allowed.get(name, 0.0) / 4 for name in ("", *wanted)] if allowed else repeat(0.0)
    return all(map(is_accurate, bounds or (), room))


class Points(NamedTuple):
    """Points at which numbers of one kind are shown: those of a curve, or rows of data."""

    values: Sequence[Mapping[str, float]]
    place: Callable[[int], str]
    """Return the place of a point, for messages: `x = 2`."""
    kind: str
    """What they are: `points of the curve`."""


def spread_over(count: int) -> list[int]:
    """Return the indices of the points to check, out of so many."""
    checked = min(count, MAX_BOUNDED_POINTS)
    return [k * count // checked for k in range(checked)]


def rounding_warnings_over(
    graph: Graph,
    points: Points,
    wanted: Sequence[str],
    tolerated: Mapping[str, float] = MappingProxyType({}),
    *,
    with_value: bool = True,
    relative: bool = False,
    command: str = "grad",
) -> list[Diagnostic]:
    """Return a warning if rounding loses digits of the value, or of the derivatives by `wanted`, at
    some of the points.

    Digits count relative to the largest number of its kind at these points, or `relative` to each
    number itself, as a logarithmic axis shows it; an error up to those `tolerated` is none. The
    points at which the bound on rounding errors is largest are computed with more digits.
    """

    def find() -> list[Diagnostic]:
        numbers = [
            _bounded_numbers(graph, values, wanted, with_value=with_value)
            for values in points.values
        ]
        allowed = _allowed_errors(numbers, tolerated, relative=relative)
        excess = {
            k: (
                math.inf
                if bounds is None
                else max((_excess(x, allowed[k][name]) for name, x in bounds.items()), default=0)
            )
            for k, bounds in enumerate(numbers)
        }
        doubtful = sorted((k for k in excess if excess[k] > 1), key=lambda k: -excess[k])
        confirmed = 0
        for k in doubtful:
            bounds = numbers[k]
            noise = allowed[k] if with_value else {**allowed[k], "": math.inf}
            proven = bounds is not None and have_bounds([*bounds.values()])
            found = _lost_digits_of(
                graph, points.values[k], points.values[k], wanted, noise, proven=proven
            )
            if found:
                return [_at_place(found[0], points, k, len(doubtful), command)]
            confirmed += found is not None
            if confirmed == MAX_CONFIRMED_POINTS:
                break
        return []

    return _within_share(graph, find, command)


def _bounded_numbers(
    graph: Graph, values: Mapping[str, float], wanted: Sequence[str], *, with_value: bool
) -> dict[str, Number] | None:
    """Return value, as "", and derivatives with bounds on their errors; None where there are no
    bounds.
    """
    try:
        at = _bounded(graph, values, wanted)
        numbers: dict[str, Number] = (
            dict(zip(wanted, at.jacobian()[0][0], strict=True)) if wanted else {}
        )
    except (ExpressionError, *NO_RESULT):
        return None
    if not _branches_are_decided(at):
        return None
    return {"": at.value, **numbers} if with_value else numbers


def lost_numbers_over(
    graph: Graph, points: Points, compute: Compute, command: str
) -> list[Diagnostic]:
    """Return a warning if rounding loses digits of the numbers that `compute` returns, at some of
    the points.

    As `rounding_warnings_over` does, which is for the value and first derivatives.
    """

    def find() -> list[Diagnostic]:
        numbers = [_computed_with_bounds(compute, values) for values in points.values]
        allowed = _shares_of_largest(numbers, {})
        doubtful = {
            k: {name: x for name, x in (bounds or {}).items() if _excess(x, allowed[name]) > 1}
            for k, bounds in enumerate(numbers)
        }
        ranked = sorted(
            (k for k in doubtful if doubtful[k]),
            key=lambda k: -max(_excess(x, allowed[name]) for name, x in doubtful[k].items()),
        )
        for k in ranked[:MAX_CONFIRMED_POINTS]:
            values, doubles = (
                points.values[k],
                {name: float(x) for name, x in compute(REAL, points.values[k]).items()},
            )
            errors = {name: getattr(x, "error", math.inf) for name, x in doubtful[k].items()}
            chosen, proven = (
                {name: doubles[name] for name in errors},
                have_bounds([*doubtful[k].values()]),
            )
            digits = _correct_digits(
                values, values, _smooth(compute), chosen, errors, proven=proven
            ).digits
            lost = {
                name: n or 0
                for name, (n, _) in digits.items()
                if _is_lost(doubles[name], n, allowed[name])
            }
            if lost:
                from .digits import having_digits

                message = (
                    f"by rounding, {_listed([*lost])}"
                    f" {having_digits(len(lost), min(lost.values()))}"
                )
                found = Diagnostic("lost_digits", message, None, "rewrite the formula")
                return [_at_place(found, points, k, len(ranked), command)]
        return []

    return _within_share(graph, find, command)


def _computed_with_bounds(
    compute: Compute, values: Mapping[str, float]
) -> Mapping[str, Number] | None:
    try:
        return compute(RUNNING, {name: Bounded(x) for name, x in values.items()})
    except (ExpressionError, *NO_RESULT):
        return None


def _is_lost(x: float, digits: int | None, allowed: float) -> bool:
    """Return whether an error is larger than allowed, of a double with so many correct digits, or
    of 0.
    """
    return abs(x) * (1.0 if digits is None else 10.0**-digits) > allowed


def _allowed_errors(
    numbers: Sequence[Mapping[str, Number] | None],
    tolerated: Mapping[str, float],
    *,
    relative: bool,
) -> list[dict[str, float]]:
    if relative:
        return [_shares_of_largest([bounds], tolerated) for bounds in numbers]
    return [_shares_of_largest(numbers, tolerated)] * len(numbers)


def _shares_of_largest(
    numbers: Sequence[Mapping[str, Number] | None], tolerated: Mapping[str, float]
) -> dict[str, float]:
    allowed = dict(tolerated)
    for bounds in numbers:
        for name, x in (bounds or {}).items():
            size = abs(x.x if type(x) is Bounded else float(x))
            share = 10.0**-REQUIRED_DIGITS * size
            allowed[name] = max(allowed.get(name, 0.0), share)
    return allowed


def _excess(x: Number, allowed: float) -> float:
    """Return the error of a number relative to what is allowed; 0 for a number without one."""
    error = getattr(x, "error", 0.0)
    if not error:
        return 0.0
    return float(error / allowed) if allowed else math.inf


def _at_place(
    warning: Diagnostic, points: Points, k: int, doubtful: int, command: str
) -> Diagnostic:
    count = len(points.values)
    others = (
        f"; rounding may be as large at {doubtful} of the {count:,} {points.kind} checked"
        if doubtful > 1
        else ""
    )
    message = f"at {points.place(k)}, {warning.message}{others}"
    return warning._replace(message=message, hint=f"{warning.hint}, {_offer(command)}")


def _lost_digits_of(
    graph: Graph,
    values: Mapping[str, float],
    point: Point,
    wanted: Sequence[str],
    noise: Mapping[str, float],
    *,
    proven: bool,
) -> list[Diagnostic] | None:
    """Return warnings about lost digits; None where doubles have no number, so that none is
    shown.
    """
    from .digits import UNSETTLED, lost_digits

    names = set(graph.labels.values())
    own_values = {name: x for name, x in values.items() if name in names}
    own_point = {name: x for name, x in point.items() if name in names}
    own_wanted = [name for name in wanted if name in names]
    try:
        return lost_digits(
            graph, own_values, own_point, own_wanted, REQUIRED_DIGITS, noise, proven=proven
        )
    except BudgetExceeded:
        return [UNSETTLED]
    except ExpressionError:
        return None


def branches_are_decided(graph: Graph, values: Mapping[str, float]) -> bool:
    """Return whether rounding errors leave each comparison, kink and jump of a program on its
    side.
    """
    if not any(primitive.active_branch for primitive in graph.primitives):
        return True
    with suppress(ExpressionError, *NO_RESULT):
        return _branches_are_decided(_bounded(graph, values, ()))
    return False


def proven_digits(graph: Graph, values: Mapping[str, float], wanted: Sequence[str]) -> int | None:
    """Return how many digits leave value and gradient right, by bounds on their errors; None if no
    number of them does.

    Where doubles have bounds, and decide on which side of each kink and jump the point is, these
    are those of `check`.
    """
    from .digits import REFERENCE_DIGITS, digits_of_proof, with_kinks

    with suppress(ExpressionError, *NO_RESULT):
        at = _bounded(graph, values, wanted)
        if _branches_are_decided(at) and have_bounds([at.value, *at.jacobian()[0][0]]):
            return REFERENCE_DIGITS
    return digits_of_proof(partial(with_kinks, graph, values, wanted))


def lost_number_warnings(
    graph: Graph,
    values: Mapping[str, float],
    point: Point,
    compute: Compute,
    command: str,
    tolerated: Mapping[str, float] = MappingProxyType({}),
) -> list[Diagnostic]:
    """Return warnings that name the numbers which lose digits.

    `compute` returns numbers of the graph by what messages call them; errors of a number up to that
    `tolerated` are none. The hint offers the digits of a `command`.
    """
    return lost_derivative_warnings(graph, values, point, _smooth(compute), command, tolerated)


def _smooth(compute: Compute) -> ComputeAtKinks:
    return lambda m, at: (compute(m, at), {})


def lost_derivative_warnings(
    graph: Graph,
    values: Mapping[str, float],
    point: Point,
    compute: ComputeAtKinks,
    command: str,
    tolerated: Mapping[str, float] = MappingProxyType({}),
    derivatives: Sequence[str] = (),
    varied: Sequence[str] = (),
) -> list[Diagnostic]:
    """Return the warnings of `lost_number_warnings` for numbers of which some are `derivatives`,
    conventional at kinks, by the variables `varied`.

    `compute` returns the kinks too. Kinks that rounding hides are named, and the digits of
    derivatives then are not.
    """

    def find() -> list[Diagnostic]:
        doubles, met = compute(REAL, values)  # may be nearer, where it takes more digits itself
        try:
            bounded = compute(RUNNING, {name: Bounded(x) for name, x in values.items()})[0]
            at = _bounded(graph, values, varied)
            proven = have_bounds([*bounded.values()]) and _branches_are_decided(at)
        except (ExpressionError, *NO_RESULT):
            bounded = {name: Bounded(float(x), math.inf) for name, x in doubles.items()}
            proven = False
        room = {name: tolerated.get(name, 0.0) / 4 for name in bounded}
        doubtful = {
            name: float(doubles[name])
            for name, x in bounded.items()
            if not is_accurate(x, room[name])
        }
        if proven and not doubtful:
            hidden = _kinks_of_equal_sides(at, compute, values, point, met)
            return _hidden_kink_warnings(hidden, derivatives, command)
        doubtful = doubtful if proven else {name: float(x) for name, x in doubles.items()}
        errors = {name: getattr(bounded[name], "error", 0.0) for name in doubtful}
        checked = _correct_digits(values, point, compute, doubtful, errors, proven=proven)
        from .digits import hidden_kinks

        hidden = hidden_kinks(met, checked.kinks, checked.kinks_as_written)
        named = [name for name in doubtful if name in derivatives]
        found = _hidden_kink_warnings(hidden, named, command)
        if found:
            doubtful = {name: x for name, x in doubtful.items() if name not in derivatives}
        return found + _warnings_of_digits(doubtful, checked.digits, tolerated, command)

    return _within_share(graph, find, command)


def _hidden_kink_warnings(
    hidden: Mapping[int, Breakpoint], derivatives: Sequence[str], command: str
) -> list[Diagnostic]:
    from .digits import hidden_kink_warning

    if not derivatives:
        return []
    subject = _listed(derivatives)
    return [_offered(hidden_kink_warning(kink, subject), command) for kink in hidden.values()]


def _warnings_of_digits(
    doubles: Mapping[str, float],
    digits: Mapping[str, _CheckedDigits],
    tolerated: Mapping[str, float],
    command: str,
) -> list[Diagnostic]:
    """Return the warnings about numbers with so many correct digits; those that have none are not
    settled.
    """
    from .digits import UNSETTLED, having_digits, zero_warning

    found: list[Diagnostic] = []
    settled = {name: digits[name].digits for name in doubles if name in digits}
    lost = {
        name: left for name, left in settled.items() if left is not None and left < REQUIRED_DIGITS
    }
    lost = {
        name: left
        for name, left in lost.items()
        if _is_lost(doubles[name], left, tolerated.get(name, -1.0))
    }
    if lost:
        message = f"by rounding, {_listed([*lost])} {having_digits(len(lost), min(lost.values()))}"
        found.append(Diagnostic("lost_digits", message, None, "rewrite the formula"))
    zeros = [name for name, left in settled.items() if left is None]
    if zeros:
        found.append(zero_warning(_listed(zeros), len(zeros)))
    if len(settled) < len(doubles):
        found.append(UNSETTLED)
    answer = "".join(
        f", which gives {_short(digits[name].exact)} for {name}" for name in [*lost][:1]
    )
    return [
        warning._replace(hint=f"{warning.hint}, {_offer(command)}{answer}") for warning in found
    ]


def underflowed_derivatives(
    graph: Graph, values: Mapping[str, float], wanted: Sequence[str]
) -> Mapping[str, Number]:
    """Return those derivatives that doubles show as 0, or without a right digit, for an underflow
    alone.

    With the digits of doubles, but without the limit to their exponents, they are right.
    """
    from .digits import underflows

    found: Mapping[str, Number] = {}
    if len(graph.places) <= MAX_BOUNDED_NODES:
        with suppress(BudgetExceeded, ExpressionError, *NO_RESULT), use_share(BUDGET_SHARE):
            found = underflows(graph, values, wanted)
    return found


def _short(x: Number) -> str:
    from .digits import short_text

    return short_text(x)


def _listed(names: Sequence[str]) -> str:
    return ", ".join([*names[:MAX_NAMED], *["…"] * (len(names) > MAX_NAMED)])


class _CheckedDigits(NamedTuple):
    """The correct digits of a double, None for a rounding error of 0, and the number in more
    digits.
    """

    digits: int | None
    exact: Number


class _Checked(NamedTuple):
    """What is known of numbers in more digits, and the kinks of their derivatives there."""

    digits: Mapping[str, _CheckedDigits] = MappingProxyType({})
    """Nothing for a number that more digits change."""
    kinks: Mapping[int, Breakpoint] = MappingProxyType({})
    kinks_as_written: Sequence[Collection[int]] = ()
    """Those of the program in decimals, at the point as typed."""


def _correct_digits(
    values: Mapping[str, float],
    point: Point,
    compute: ComputeAtKinks,
    doubles: Mapping[str, float],
    errors: Mapping[str, float],
    *,
    proven: bool,
) -> _Checked:
    """Return the correct digits of `doubles`, nothing where more digits change them.

    As in `digits.lost_digits`, they count at `values` or at the `point`, whichever leaves more. The
    doubles are within `errors`; unless these are `proven`, more digits have to prove them.
    """
    from ..engine.numbers.multiprecision import Multiprecision
    from .arithmetic import number_as_typed
    from .digits import MAX_DIGITS, REFERENCE_DIGITS, ZERO_DIGITS, Computed, digits_of_proof

    def compute_in(digits: int) -> tuple[Mapping[str, Number], Mapping[int, Breakpoint]]:
        m = Multiprecision(digits)
        return compute(m, {name: m.number(x) for name, x in values.items()})

    def settle(shrunk: bool = False, believed: bool = False) -> None:
        for name in [name for name in doubles if name not in settled]:
            exact = _settled_number(
                coarse[0][name], finer[0][name], errors[name], digits, shrunk, believed
            )
            if exact is not None:
                settled[name] = exact

    def at_doubles(m: NumberType) -> Computed:
        numbers, kinks = compute(m, {name: m.number(x) for name, x in values.items()})
        return Computed({name: numbers[name] for name in doubles}, kinks)

    first = REFERENCE_DIGITS if proven else digits_of_proof(at_doubles)
    if first is None:
        return _Checked()
    digits, settled = first, dict[str, Number]()
    coarse, finer = compute_in(digits), compute_in(2 * digits)
    enough = 2 * digits >= ZERO_DIGITS
    settle(shrunk=enough, believed=enough)
    while len(settled) < len(doubles) and 2 * digits < MAX_DIGITS:
        try:
            coarse, finer = finer, compute_in(4 * digits)
        except BudgetExceeded:
            settle(shrunk=True)
            break
        digits *= 2
        enough = 2 * digits >= ZERO_DIGITS
        settle(shrunk=enough, believed=enough)
    written: Mapping[str, Number] = {}
    kinks_as_written = []
    with suppress(ExpressionError, BudgetExceeded):
        m = Multiprecision(2 * digits, decimals=True)
        written, kinks = compute(
            m, {name: number_as_typed(m, name, x) for name, x in point.items()}
        )
        kinks_as_written.append(kinks)
    checked = {
        name: _CheckedDigits(
            _digits_of(doubles[name], x, written.get(name, x)), written.get(name, x)
        )
        for name, x in settled.items()
    }
    return _Checked(checked, finer[1], kinks_as_written)


def _settled_number(
    coarse: Number, finer: Number, error: float, digits: int, shrunk: bool, believed: bool
) -> Number | None:
    """Return a number that twice the `digits` have not changed, 0 if they have `shrunk` it, or if
    it is `believed`.
    """
    from .digits import AGREE_WITHIN, SMALLEST, has_vanished, is_beyond_rounding

    if shrunk and has_vanished(coarse, finer, error, 2 * digits):
        return 0 * finer
    if abs(coarse - finer) > AGREE_WITHIN * abs(finer):
        return None
    return (
        finer
        if (is_beyond_rounding(finer, error, digits, SMALLEST) if finer else believed)
        else None
    )


def _digits_of(computed: float, exact: Number, written: Number) -> int | None:
    from .digits import AGREE_WITHIN, MAX_DOUBLE_DIGITS, SMALLEST, correct_digits

    if abs(computed - exact) <= 2 * SMALLEST:
        return MAX_DOUBLE_DIGITS  # correctly rounded, perhaps to 0
    typed = written if abs(written) > AGREE_WITHIN * abs(exact) else 0 * written
    digits = max(correct_digits(computed, of) for of in (exact, typed))
    return digits if exact or digits else None


def _offered(warning: Diagnostic, command: str) -> Diagnostic:
    return warning._replace(hint=f"{warning.hint}, {_offer(command)}")


def _offer(command: str) -> str:
    return f"or compute with more digits: `{command} --precision 30`"


def is_accurate(x: Number, noise: float = 0.0) -> bool:
    """Return whether a number with a running bound has the required digits, or an error up to the
    `noise`.
    """
    if type(x) is not Bounded or x.error <= MAX_RELATIVE_ERROR * abs(x.x):
        return True
    return x.error <= noise and (x.x != 0 or noise == math.inf)


def have_bounds(numbers: Sequence[Number] | None) -> bool:
    """Return whether there are numbers, and the error of each is bounded."""
    return numbers is not None and all(getattr(x, "error", 0.0) < math.inf for x in numbers)


def _bounded(graph: Graph, values: Mapping[str, float], wanted: Sequence[str]) -> Evaluation:
    """Evaluate a graph with bounds on its rounding errors, at exactly these values and the doubles
    of its constants.
    """
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


def _equal_sides_warnings(
    at: Evaluation, met: Collection[int], values: Mapping[str, float], point: Point
) -> list[Diagnostic]:
    """Return the warnings about kinks and jumps of the outputs that doubles do not see."""
    from ..engine.graphs.value_and_gradient import evaluate_in
    from .digits import hidden_kink_warnings

    def compute(m: NumberType, numbers: Mapping[str, Number]) -> tuple[dict[str, Number], Kinks]:
        return {}, evaluate_in(m, at.graph, numbers, [*at.wanted]).jacobian()[1]

    hidden = _kinks_of_equal_sides(at, compute, values, point, met)
    return hidden_kink_warnings(at, hidden)


def _kinks_of_equal_sides(
    at: Evaluation,
    compute: ComputeAtKinks,
    values: Mapping[str, float],
    point: Point,
    met: Collection[int],
) -> Mapping[int, Breakpoint]:
    """Return the kinks and jumps whose sides are equal in doubles, and not in more digits."""
    if all(i in met for i in at.sweep(breakpoints, at.order, at.active)):
        return {}
    from ..engine.numbers.multiprecision import Multiprecision
    from .arithmetic import number_as_typed
    from .digits import REFERENCE_DIGITS, hidden_kinks

    def kinks(m: NumberType, numbers: Mapping[str, Number]) -> Mapping[int, Breakpoint]:
        return compute(m, {name: m.number(x) for name, x in numbers.items()})[1]

    exact = kinks(Multiprecision(REFERENCE_DIGITS), values)
    if not exact.keys() - met:
        return {}
    written = []
    with suppress(ExpressionError):
        m = Multiprecision(REFERENCE_DIGITS, decimals=True)
        written.append(kinks(m, {name: number_as_typed(m, name, x) for name, x in point.items()}))
        written.append(kinks(m, values))
    return hidden_kinks(met, exact, written)


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


def _within_share(
    graph: Graph, find: Callable[[], list[Diagnostic]], command: str
) -> list[Diagnostic]:
    if len(graph.places) > MAX_BOUNDED_NODES:
        message = f"the digits are not checked: the program has {len(graph.places):,} nodes"
        return [
            Diagnostic(
                "note", message, None, f"compute with more digits: `{command} --precision 30`"
            )
        ]
    try:
        with use_share(BUDGET_SHARE):
            return find()
    except (BudgetExceeded, ExpressionError, *NO_RESULT):
        from .digits import UNSETTLED

        return [UNSETTLED._replace(hint=f"{UNSETTLED.hint}, {_offer(command)}")]
