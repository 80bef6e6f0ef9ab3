"""All solutions of equations between bounds, proven by the interval Newton method.

Krawczyk's operator K = m − Y·F(m) + (1 − Y·F′(X))·(X − m) contains every solution in the box X
around m. If K lies inside X, there is exactly one. Neumaier, Interval Methods for Systems of Equations, 5.1.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from itertools import count
from operator import le
from typing import Any

from ...engine.algebra.rational_functions import as_integer, fraction_of, multiplied_out
from ...engine.graphs.higher_order import taylor_in
from ...engine.graphs.value import Value, node
from ...engine.numbers.budget import Defined, current_budget
from ...engine.numerics.krawczyk import Box, Krawczyk, boxes, ends_of, grow, is_inside, overlap
from ...engine.table.operators import MUL, NEG, POW
from ...errors import Diagnostic, require
from ...language.printer import expression_text
from .pieces import End, SolutionInterval
from .residuals import Root, Search

MAX_PROVEN_MULTIPLICITY = 8
MAX_GUESSED_DECIMALS = 6
SEARCH_BITS = 80
MAX_BOXES = 5_000
RESERVED_WORK_SHARE = 0.3  # for the digits of the solutions
BOXES_A_SOLUTION = 16
"""The work for the digits of a solution, in boxes; measured at about 10."""
MIN_BOX_SHARE = 2.0**-44
"""Boxes that have shrunk to this share stay undecided."""
MAX_MULTIPLE_ROOT_WIDTH = 2.0**-6
MAX_END_WIDTH = 2.0**-40
"""The share of the range by which the end of solutions is rounded."""
MERGE_DISTANCE = 2.0**-20
"""Undecided boxes closer than this share of the range are shown as one."""


def prove(finder: Search) -> list[list[float]]:
    """Return the middles of boxes with one solution each, and record undecided ones."""
    message = "`--certified` needs python-flint, which is not installed"
    require("flint", "certified", message, "; without it `--all` searches on a grid")
    from flint import arb

    from ...engine.numbers.ball import Balls

    problem, balls = finder.problem, boxes(SEARCH_BITS)
    unknowns, outputs = finder.unknowns, finder.outputs
    others = finder.parameters(balls)
    # numerators have no poles
    numerators = [fraction_of(output)[0] for output in outputs]
    equations = Krawczyk(outputs, unknowns, others, balls)
    operator = Krawczyk(numerators, unknowns, others, balls)
    exact = Balls(SEARCH_BITS)
    decimals = Krawczyk(outputs, unknowns, finder.parameters(exact), exact)
    bounds = [problem.bounds[name] for name in unknowns]
    multiple: dict[float, int] = {}

    def resolved(box: Box) -> bool:
        root = _multiple_root(operator, box) if len(box) == 1 and equations.is_bounded(box) else None
        multiple.update([root] if root else [])
        return root is not None

    box = [arb(low).union(arb(high)) for low, high in bounds]
    solutions, flat, waiting, complete = search(operator, box, finder.stop, resolved, equations.is_bounded)
    starts = [[x] for x in multiple]
    factor = _without_powers(numerators[0])
    simple: list[Box] = []
    if len(unknowns) > 1 and flat:
        largest = max(flat, key=lambda box: sum(float(a.rad()) for a in box))
        ranges = []
        for x, ball in zip(unknowns, largest, strict=True):
            low, high = ends_of(ball)
            ranges.append(f"{problem.text(x, low)} ≤ {x} ≤ {problem.text(x, high)}")
        message = f"the equations hold at all points with {', '.join(ranges)}"
        message += ": the solutions are not isolated there"
        hint = "the undecided boxes hold these solutions"
        problem.warnings.append(Diagnostic("flat", message, None, hint))
    if len(unknowns) == 1 and factor is not None:
        # the zeros of a power are those of its base, which may be simple
        undecided, waiting = waiting, []
        for box in undecided:
            proven, zeros, left, _ = search(
                Krawczyk([factor], unknowns, others, balls), box, finder.stop, is_bounded=equations.is_bounded
            )
            simple, flat, waiting = simple + proven, flat + zeros, waiting + left
    intervals: list[tuple[float, float]] = []
    for low, high in sorted(ends_of(box[0]) for box in flat) if len(unknowns) == 1 else ():
        if intervals and low <= intervals[-1][1]:
            intervals[-1] = intervals[-1][0], max(high, intervals[-1][1])
        else:
            intervals.append((low, high))
    for bottom, top in intervals:
        ((first, last),) = bounds
        width = (last - first) * MAX_END_WIDTH
        low, high = (next(iter(_decimals(arb(x, width))), x) for x in (max(bottom, first), min(top, last)))
        holds = {x: decimals.decide_at([repr(x)]) for x in (low, high)}
        # a minimal box beside the interval is only its end
        # if it is known whether the equation holds there
        near = arb(bottom - width).union(arb(top + width))
        unknown = [arb(x, width) for x, known in holds.items() if known is None]
        waiting = [
            box
            for box in waiting
            if 2 * box[0].rad() > width or not box[0].overlaps(near) or any(map(box[0].overlaps, unknown))
        ]
        begin, end = (End(x, Fraction(x), included=bool(holds[x])) for x in (low, high))
        finder.plateaus.append(SolutionInterval(begin, end, proven=True))
        inside = [x for x in _decimals(arb(low).union(arb(high))) if low < x < high and equations.proves_root([x])]
        place = [*inside, low / 2 + high / 2][0]
        if holds[low] and equations.proves_root([low]):
            place = low
        finder.special_roots[place,] = Root(errors=[0.0])
        starts.append([place])
    for box in (*solutions, *simple):
        start = _exact(operator, box)
        if start is not None and equations.decide([equations.m.number(x).a for x in start]) is False:
            continue
        if not equations.is_bounded(box):
            waiting.append(box)
            continue
        starts.append([float(a.mid()) for a in box])
        if box in simple:
            finder.special_roots[tuple(starts[-1])] = Root(equation=factor)
    finder.undecided = []
    for box in waiting:
        sides = [*map(ends_of, box)]
        finder.undecided.append(dict(zip(unknowns, sides, strict=True)))
        is_small = all(high - low < 1e-3 * (b - a) for (low, high), (a, b) in zip(sides, bounds, strict=True))
        if is_small and not equations.is_bounded(box):
            finder.unbounded.append(finder.undecided[-1])
    finder.complete = complete and not waiting
    finder.special_roots.update(((x,), Root(order)) for x, order in multiple.items())
    return sorted(x for x in starts if all(low <= a <= high for a, (low, high) in zip(x, bounds, strict=True)))


def _without_powers(numerator: Value) -> Value | None:
    """Return the product of the bases of powers; None if there are no powers."""
    factors: dict[str, Value] = {}
    waiting, is_simple = [numerator], True
    while waiting:
        value = waiting.pop()
        is_power = value.primitive is POW and (as_integer(value._prev[1]) or 0) > 1
        if value.primitive in (NEG, MUL) or is_power:
            waiting += value._prev[:1] if is_power else value._prev
            is_simple = is_simple and not is_power
        else:
            text = expression_text(value)
            is_simple = is_simple and text not in factors
            factors[text] = value
    return None if is_simple else reduce(lambda a, b: node(MUL, (a, b)), factors.values())


def _decimals(ball: Any) -> list[float]:
    rounded = (round(float(ball.mid()), places) + 0.0 for places in range(MAX_GUESSED_DECIMALS + 1))
    return [x for x in dict.fromkeys(rounded) if ball.contains(x)]


def _exact(operator: Krawczyk, box: Box) -> list[float] | None:
    points = map(list, zip(*map(_decimals, box), strict=False))
    return next((point for point in points if operator.proves_root(point)), None)


def _multiple_root(operator: Krawczyk, box: Box) -> tuple[float, int] | None:
    """Return the only root in a box, and its multiplicity k; None if not proven.

    All derivatives below the k-th are exactly 0 there, and the k-th has no zero in the box: by Taylor's theorem the
    function is (x - root)**k/k! times a value of the k-th derivative.
    """
    start = _exact(operator, box)
    if start is None:
        return None
    m, (name,) = operator.m, operator.unknowns
    output = multiplied_out(operator.outputs[0])
    with Defined(ArithmeticError, ValueError):
        at = taylor_in(m, output, {**operator.values, name: m.number(start[0])}, name, MAX_PROVEN_MULTIPLICITY)
        order = next((k for k, c in enumerate(at) if not m.number(c).a.is_zero()), 0)
        if order:
            around: Mapping[str, Any] = {**operator.values, name: operator.ball(box[0])}
            if not m.number(taylor_in(m, output, around, name, order)[order]).a.contains(0):
                return start[0], order
    return None


def search(
    operator: Krawczyk,
    box: Box,
    stop: Callable[[], bool] = lambda: False,
    resolved: Callable[[Box], bool] = lambda _: False,
    is_bounded: Callable[[Box], bool] = lambda _: True,
) -> tuple[list[Box], list[Box], list[Box], bool]:
    """Return boxes with one solution, of solutions, undecided ones, and whether these are all.

    A box that is not bounded holds no box of solutions: the equations may have no value in it.
    """
    proven: list[Box] = []
    undecided: list[Box] = []
    flat: list[Box] = []
    widths = [float(a.rad()) or 1.0 for a in box]
    waiting: list[tuple[float, int, Box]] = [(-1.0, 0, box)]
    order, boxes = count(1), 0
    work = current_budget()
    reserved, complete = 0.0, True

    def wait(here: Box) -> None:
        widest = max(float(a.rad()) / width for a, width in zip(here, widths, strict=True))
        heapq.heappush(waiting, (-widest, next(order), here))

    while waiting:
        boxes, before = boxes + 1, work.left
        if boxes > MAX_BOXES or before < max(RESERVED_WORK_SHARE * work.most, reserved) or stop():
            undecided += [here for _, _, here in waiting]
            complete = False
            break
        # the widest is next: poles do not delay others
        here = heapq.heappop(waiting)[2]
        holds = operator.decide(here)
        if holds is False:
            continue
        if holds and is_bounded(here):
            flat.append(here)
            undecided += [here] if len(here) > 1 else []
            continue
        contracted = None if holds else operator.contract(here)
        if contracted is not None:
            if not overlap(contracted, here):
                continue
            unique = contracted if is_inside(contracted, here) else None
            radii = ([float(a.rad()) for a in box] for box in (contracted, here))
            if unique is None and all(map(le, *radii)):
                # a solution may be on the edge: grow the box around it
                grown = [grow(a) for a in contracted]
                again = operator.contract(grown)
                unique = again if again is not None and is_inside(again, grown) else None
            if unique is not None:
                proven.append(unique)
                # work for the digits of the solution
                reserved += BOXES_A_SOLUTION * (before - work.left)
                continue
            met = [a.intersection(b) for a, b in zip(contracted, here, strict=True)]
            if any(float(a.rad()) < 0.6 * float(b.rad()) for a, b in zip(met, here, strict=True)):
                wait(met)
                continue
        relative = [float(a.rad()) / width for a, width in zip(here, widths, strict=True)]
        k = max(range(len(here)), key=relative.__getitem__)
        if relative[k] < MAX_MULTIPLE_ROOT_WIDTH and resolved(here):
            continue
        if relative[k] < MIN_BOX_SHARE:
            undecided.append(here)
            continue
        low, high = here[k].mid() - here[k].rad(), here[k].mid() + here[k].rad()
        middle = here[k].mid() + here[k].rad() * 0.0131
        for half in (low.union(middle), middle.union(high)):
            wait([*here[:k], half, *here[k + 1 :]])
    # overlapping boxes may hold the same solution
    distinct: list[Box] = []
    for solution in map(operator.contract_repeatedly, proven):
        if not any(overlap(solution, other) for other in distinct):
            distinct.append(solution)
    # and undecided boxes that touch are one
    clusters: list[tuple[Box, Box]] = []
    for box in sorted(undecided, key=lambda box: float(box[0].mid())):
        one, grown = box, [grow(a, MERGE_DISTANCE * width) for a, width in zip(box, widths, strict=True)]
        while touching := [k for k, (_, other) in enumerate(clusters) if overlap(grown, other)]:
            other, wide = clusters.pop(touching[-1])
            one = [a.union(b) for a, b in zip(one, other, strict=True)]
            grown = [a.union(b) for a, b in zip(grown, wide, strict=True)]
        clusters.append((one, grown))
    return distinct, flat, [box for box, _ in clusters], complete
