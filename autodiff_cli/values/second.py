"""Second derivatives: a backward sweep over duals, so that one pass gives the gradient and every row of the Hessian.

The sweep meets branches and structural zeros as the first-order one does. Where a number has a value and no derivative,
that is an error only if a second derivative asks for it. At a kink the smooth pieces that meet there are swept one by
one, and there is a Hessian where they agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from ..errors import ExpressionError
from ..numbers.base import Number, NumberType, Refusal
from ..numbers.dual import Dual, Duals
from ..run.sweep import Activity, Fault, activity, backward, forward, show
from ..table.operators import VARIABLE
from .expansion import HIGHEST, by_series
from .pieces import Knot, Piece, pieces, same
from .sweep_in import knots_met, sweep_in, tape_in
from .value import Value, in_order, located

EFFORT = 10_000_000
"""Pieces are compared as long as their number times nodes times variables is below this."""


@dataclass(frozen=True, slots=True)
class Curvature:
    """Value, gradient and Hessian in some number type."""

    value: Number
    gradient: list[Number]
    hessian: list[list[Number]]


def hessian_in(m: NumberType, output: Value, values: Mapping[str, Number], wrt: Sequence[str]) -> Curvature:
    """Value, gradient and symmetric Hessian of `output` in the number type `m`, in the order of `wrt`.

    Raises `ExpressionError`, placed in the text; `NotSmooth` (of `pieces`) at a kink or a jump without them.
    """
    swept = sweep_in(m, output, values, wrt)
    if knots_met(swept):
        return _at_knots(m, output, values, wrt, swept.value)
    return Curvature(swept.value, [swept.gradient[name] for name in wrt], _jet(m, output, values, wrt).hessian)


def _jet(m: NumberType, output: Value, values: Mapping[str, Number], wrt: Sequence[str]) -> Curvature:
    """The same of a graph without knots."""
    zero = m.number(0)
    duals, strict = Duals(m), Duals(m, strict=True)
    direction = {name: k for k, name in enumerate(wrt)}
    seeded = {n: duals.seeded(x, direction[n]) if n in direction else duals.number(x) for n, x in values.items()}
    nodes, tape = tape_in(duals, output, seeded)
    wanted = {n.label: i for i, n in enumerate(nodes) if n.primitive is VARIABLE and n.label in direction}
    root = len(nodes) - 1
    try:
        order = forward(tape, duals, (root,))
        active: Activity = activity(tape, duals, order, wanted.values())
        # the adjoints carry derivatives too: one that is 0 may move
        adjoints, _ = backward(tape, strict, order, active, {root: Dual(duals, m.number(1), {})})
    except Fault as fault:
        raise located(fault, nodes, tape) from None
    gradient: list[Number] = []
    rows: list[list[Number]] = []
    for name in wrt:
        adjoint = adjoints[wanted[name]] if name in wanted else None
        given = isinstance(adjoint, Dual)
        gradient.append(adjoint.x if given else zero)  # type: ignore[union-attr]
        d = adjoint.d if given else {}  # type: ignore[union-attr]
        rows.append([d.get(k, zero) for k in range(len(wrt))])
    for i in range(len(wrt)):
        for j in range(i):
            # The two are equal but for rounding.
            rows[i][j] = rows[j][i]
    return Curvature(tape.data[root].x, gradient, rows)


# ---- at knots -----------------------------------------------------------------------------------------------------
def _at_knots(
    m: NumberType, output: Value, values: Mapping[str, Number], wrt: Sequence[str], value: Number
) -> Curvature:
    """What the pieces that meet at the point have in common: all of it, or there is none."""
    judge = by_series(HIGHEST) if len(wrt) == 1 else _by_jets
    most = max(2, EFFORT // (len(in_order((output,))) * (len(wrt) + 1)))
    found: Curvature | None = None
    for count, piece in enumerate(pieces(m, output, values, wrt, judge)):
        knot = piece.knot
        if knot is not None and count >= most:
            raise knot.refusal(f"too many kinks meet here, and more than {most:,} pieces of the function with them")
        here = _without_lengths(m, piece)
        if knot is not None:
            _agree(m, wrt, found or Curvature(value, here.gradient, here.hessian), here, knot)
        found = found or here
    assert found is not None
    return Curvature(value, found.gradient, found.hessian)


def _agree(m: NumberType, wrt: Sequence[str], a: Curvature, b: Curvature, knot: Knot) -> None:
    """Raise `NotSmooth` where two pieces differ."""
    if not knot.agree(m, a.value, b.value):
        raise knot.refusal(f"the value jumps between {show(a.value)} and {show(b.value)} here")
    for name, x, y in zip(wrt, a.gradient, b.gradient, strict=True):
        if not knot.agree(m, x, y):
            raise knot.refusal(f"the derivative by `{name}` is {show(x)} on one side and {show(y)} on the other")
    for i, j in product(range(len(wrt)), repeat=2):
        x, y = a.hessian[i][j], b.hessian[i][j]
        if not knot.agree(m, x, y):
            by = f"`{wrt[i]}`" if i == j else f"`{wrt[i]}` and `{wrt[j]}`"
            raise knot.refusal(f"the second derivative by {by} is {show(x)} on one side and {show(y)} on the other")


def _without_lengths(m: NumberType, piece: Piece) -> Curvature:
    """The derivatives of a piece by the variables alone, its lengths of vectors replaced by their squares' form.

    Raises `NotSmooth` where a length is left that is not squared.
    """
    try:
        jet = _jet(m, piece.output, piece.point, piece.names)
    except ExpressionError as error:
        raise piece.blamed(error) from None
    count, zero = len(piece.wrt), m.number(0)
    rows = [list(row) for row in jet.hessian]
    forms = [_form(m, length.vector, len(rows)) for length in piece.lengths]
    for k in reversed(range(count, len(rows))):
        length, form = piece.lengths[k - count], forms[k - count]
        for j in range(count, k):
            ratio = _ratio(m, form, forms[j - count])
            if ratio is not None:
                rows[j][j], rows[j][k] = rows[j][j] + 2 * ratio * rows[j][k], zero
        factor = rows[k][k]
        for i, j in product(range(k), repeat=2):
            rows[i][j] = rows[i][j] + factor * form[i][j]
        if jet.gradient[k] != 0 or any(rows[j][k] != 0 for j in range(k)):
            raise length.knot.refusal("the function is not smooth in the length of a vector that vanishes")
    return Curvature(jet.value, jet.gradient[:count], [row[:count] for row in rows[:count]])


def _form(m: NumberType, vector: Sequence[Mapping[int, Number]], size: int) -> list[list[Number]]:
    """The matrix of the quadratic form that the square of a vector's length is."""
    form = [[m.number(0)] * size for _ in range(size)]
    for d in vector:
        for (i, x), (j, y) in product(d.items(), repeat=2):
            form[i][j] = form[i][j] + x * y
    return form


def _ratio(m: NumberType, form: list[list[Number]], other: list[list[Number]]) -> Number | None:
    """By what factor a length is longer than another one, in all directions; None where there is no such factor."""
    try:
        i = next(i for i in range(len(other)) if other[i][i] != 0)
        square = form[i][i] / other[i][i]
        pairs = [
            (x, square * y) for row, known in zip(form, other, strict=True) for x, y in zip(row, known, strict=True)
        ]
        return m.sqrt(square) if all(same(m, x, y) for x, y in pairs) else None
    except (StopIteration, ValueError, ArithmeticError):
        return None


def _by_jets(piece: Piece, u: Value, dual: Dual) -> int:
    """Tells the sign of a number near the point on a side of the surface where it is 0, by its derivatives there.

    The surfaces of two numbers are taken for one where first and second derivatives are proportional.
    """
    m = piece.duals.base
    jet = _jet(m, u, piece.point, piece.names)
    count = len(piece.wrt)
    slopes = jet.gradient
    flat = all(x == 0 for row in jet.hessian for x in row)
    if all(t == 0 for t in slopes[:count]) and flat and (signs := {t > 0 for t in slopes[count:] if t != 0}):
        # a sum of lengths, which are not negative
        return piece.either() if len(signs) > 1 else 1 if True in signs else -1
    lead = next((t for t in slopes if t != 0), None)
    if lead is None:
        sign = _definite(jet.hessian, [k for k, name in enumerate(piece.names) if name in _names_below(u)])
        return sign or piece.either()
    jets = [x / lead for x in (*slopes, *[x for row in jet.hessian for x in row])]

    def known(other: list[Number]) -> bool:
        try:
            return len(other) == len(jets) and all(same(m, x, y) for x, y in zip(jets, other, strict=True))
        except Refusal:
            return False

    side = piece.turn(jets, known)
    return side if lead > 0 else -side


def _names_below(u: Value) -> set[str]:
    return {n.label for n in in_order((u,)) if n.primitive is VARIABLE}


def _definite(rows: Sequence[Sequence[Number]], among: Sequence[int]) -> int:
    """1 or -1 where the quadratic form in these variables is positive or negative definite, else 0."""
    matrix = [[rows[i][j] for j in among] for i in among]
    sign = 0
    for k, row in enumerate(matrix):
        pivot = row[k]
        if pivot == 0 or (sign and (pivot > 0) != (sign > 0)):
            return 0
        sign = 1 if pivot > 0 else -1
        for lower in matrix[k + 1 :]:
            factor = lower[k] / pivot
            for j in range(k, len(row)):
                lower[j] = lower[j] - factor * row[j]
    return sign
