"""Locate the loss of digits: the node of a computation in doubles that amplified rounding most."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..errors import Diagnostic
from ..graphs.value import Value
from ..graphs.value_and_gradient import GradientResult
from ..language.printer import expression_text
from ..numbers.base import Number
from ..table.operators import ADD, CONSTANT, SUB
from ..table.primitives import EXP, LOG, SQRT

WORTH_SAYING = 3
"""Digits lost, out of 16, from which on it is said where."""

ROUNDING = 2.0**-53


def losses(doubles: GradientResult, swept: GradientResult, digits: Sequence[tuple[str, int]]) -> list[Diagnostic]:
    """A warning for each place where the value, or a partial, lost digits; `digits` has those that are left."""
    branch = _decided_by_rounding(doubles, swept)
    if branch is not None:
        return [branch]
    diagnostics: list[Diagnostic] = []
    wrong = [relative_error(x, y) for x, y in zip(doubles.graph.data, swept.graph.data, strict=True)]
    blamed: set[int] = set()
    for name, left in digits:
        if left > 16 - WORTH_SAYING:
            continue
        what = f"the derivative by `{name}`" if name else "the value"
        node, factor = _worst_value(doubles, swept, wrong, bool(name))
        if factor < 10.0 ** (WORTH_SAYING - 1) and name:
            cancelled = _cancelled_adjoint(doubles, swept, wrong, name, what, left)
            if cancelled is not None and not any(cancelled.message == t.message for t in diagnostics):
                diagnostics.append(cancelled)
            continue
        if node is None or node in blamed:
            continue
        blamed.add(node)
        diagnostics.append(_diagnostic(doubles, swept, node, wrong[node], what, left))
    return diagnostics


def relative_error(computed: object, exact: Number) -> float:
    """The relative error of a double; 0 for conditions and for what was not evaluated."""
    if computed is None or exact is None or isinstance(computed, bool) or isinstance(exact, bool):
        return 0.0
    error = abs(exact - computed)
    if not error:
        return 0.0
    return min(1.0, float(error / abs(exact))) if exact else 1.0


def _worst_value(
    doubles: GradientResult, swept: GradientResult, wrong: Sequence[float], any_way: bool
) -> tuple[int | None, float]:
    """The node whose relative error exceeds that of its inputs by the largest factor, of those that matter."""
    best, factor = None, 0.0
    total = abs(doubles.value - swept.value)
    for i in doubles.order:
        parents = doubles.graph.parents[i]
        if not parents or not wrong[i]:
            continue
        adjoint = swept.adjoints[i]
        if not any_way and (
            adjoint is None or 20 * abs(adjoint * (swept.graph.data[i] - doubles.graph.data[i])) < total
        ):
            continue
        grown = wrong[i] / max(ROUNDING, *(wrong[p] for p in parents))
        if grown > factor * 1.5:
            best, factor = i, grown
    return best, factor


def _cancelled_adjoint(
    doubles: GradientResult, swept: GradientResult, wrong: Sequence[float], name: str, what: str, left: int
) -> Diagnostic | None:
    """The warning that contributions to an adjoint cancel, at the node where they cost most."""
    best, factor = None, 0.0
    consumers: dict[int, list[int]] = {}
    for i in doubles.order:
        for p in doubles.graph.parents[i]:
            consumers.setdefault(p, []).append(i)
    for i in doubles.order:
        adjoint, exact = doubles.adjoints[i], swept.adjoints[i]
        if adjoint is None or exact is None:
            continue
        grown = relative_error(adjoint, exact)
        before = [relative_error(doubles.adjoints[c], swept.adjoints[c]) for c in consumers.get(i, [])]
        before += [wrong[p] for c in consumers.get(i, []) for p in (c, *doubles.graph.parents[c])]
        grown /= max([ROUNDING, *before])
        if grown > factor * 1.5:
            best, factor = i, grown
    if best is None or factor < 10.0:
        return None
    node = doubles.graph.places[best]
    return Diagnostic(
        "lost_digits",
        f"{what} has {_count(left)}: what flows back to `{_called(node)}` cancels",
        node.span,
        "write the formula so that its parts do not cancel",
    )


def _diagnostic(
    doubles: GradientResult, swept: GradientResult, i: int, wrong: float, what: str, left: int
) -> Diagnostic:
    node = doubles.graph.places[i]
    lost = min(16, round(16 + math.log10(max(wrong, 1e-16))))
    primitive = node.primitive
    inputs = [doubles.graph.data[p] for p in doubles.graph.parents[i]]
    if primitive in (ADD, SUB):
        why = "nearly equal numbers cancel"
    elif primitive.gives_condition or len(inputs) != 1:
        why = f"`{primitive.written}` magnifies the rounding of its inputs"
    else:
        why = f"`{primitive.written}` at {inputs[0]:.6g} magnifies the rounding of its argument"
    return Diagnostic(
        "lost_digits", f"{what} has {_count(left)}: {lost} were lost here, where {why}", node.span, _hint(node, inputs)
    )


def _count(left: int) -> str:
    return "no reliable digit" if not left else f"at least {left} correct digit{'s' if left > 1 else ''}"


def _called(node: Value) -> str:
    if node.label:
        return node.label
    text = expression_text(node)
    return text if len(text) <= 40 else text[:39] + "…"


def _hint(node: Value, inputs: Sequence[float]) -> str:
    """Suggest a stable form for common cancellations."""
    primitive, operands = node.primitive, node._prev
    if primitive is LOG and operands[0].primitive is ADD:
        left, right = operands[0]._prev
        if right.primitive is CONSTANT:
            left, right = right, left
        if left.primitive is CONSTANT and left.data == 1:
            return "write `softplus(…)`" if right.primitive is EXP else "write `log1p(…)`"
        if left.primitive is EXP and right.primitive is EXP:
            return "write `logsumexp(…)`"
    if primitive is SUB:
        first, second = operands
        if first.primitive is EXP and second.primitive is CONSTANT and second.data == 1:
            return "write `expm1(…)`"
        if first.primitive is CONSTANT and first.data == 1 and second.primitive.complement:
            return f"write {second.primitive.complement}"
        if first.primitive is SQRT or second.primitive is SQRT:
            return "multiply out by the sum: `sqrt(a) - b` is `(a - b**2)/(sqrt(a) + b)`"
    if primitive in (ADD, SUB):
        return "rewrite it so that nearly equal numbers are not subtracted"
    return "rewrite it so that the rounding of its input matters less"


def _decided_by_rounding(doubles: GradientResult, swept: GradientResult) -> Diagnostic | None:
    """The warning that a comparison comes out otherwise without rounding."""
    for i in doubles.order:
        exact = swept.graph.data[i]
        if doubles.graph.places[i].primitive.gives_condition and exact is not None and exact != doubles.graph.data[i]:
            return Diagnostic(
                "lost_digits",
                "rounding decides this comparison: without it, it comes out otherwise",
                doubles.graph.places[i].span,
                "leave a margin around the edge",
            )
    return None
