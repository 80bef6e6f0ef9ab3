"""Locate the loss of digits: the node that amplified rounding most."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from ..errors import Diagnostic
from ..graphs.value import Value, values_of
from ..language.printer import expression_text
from ..numbers.base import Number
from ..run.evaluation import Evaluation
from ..table.operators import ADD, CONSTANT, SUB
from ..table.primitives import EXP, LOG, SQRT

WORTH_SAYING = 3  # digits lost, out of 16
ROUNDING = 2.0**-53


def losses(doubles: Evaluation, swept: Evaluation, digits: Sequence[tuple[str, int]]) -> list[Diagnostic]:
    """Return warnings about lost digits; `digits` has the correct ones by name."""
    for i in doubles.order:
        exact = swept.graph.data[i]
        if doubles.graph.primitives[i].gives_condition and exact is not None and exact != doubles.graph.data[i]:
            message = "rounding decides this comparison: without it, it comes out otherwise"
            hint = "leave a margin around the edge"
            return [Diagnostic("lost_digits", message, doubles.graph.span(i), hint)]
    diagnostics: dict[object, Diagnostic] = {}
    wrong = [relative_error(x, y) for x, y in zip(doubles.graph.data, swept.graph.data, strict=True)]
    lost = [(name, left) for name, left in digits if left <= 16 - WORTH_SAYING]
    values = values_of(doubles.graph) if lost else []
    for name, left in lost:
        what = f"the derivative by `{name}`" if name else "the value"
        node, factor = _most_amplifying(_value_growth(doubles, swept, wrong, bool(name)))
        if factor < 10.0 ** (WORTH_SAYING - 1) and name:
            node, factor = _most_amplifying(_adjoint_growth(doubles, swept, wrong))
            if node is not None and factor >= 10.0:
                message = f"{what} has {_count(left)}: what flows back to `{_called(values[node])}` cancels"
                hint = "write the formula so that its parts do not cancel"
                diagnostics.setdefault(message, Diagnostic("lost_digits", message, values[node].span, hint))
        elif node is not None and node not in diagnostics:
            inputs = doubles.graph.inputs(node)
            diagnostics[node] = _diagnostic(values[node], inputs, wrong[node], f"{what} has {_count(left)}")
    return [*diagnostics.values()]


def relative_error(computed: object, exact: Number) -> float:
    """Return the relative error of a double; 0 for conditions and unevaluated nodes."""
    if computed is None or exact is None or isinstance(computed, bool) or isinstance(exact, bool):
        return 0.0
    error = abs(exact - computed)
    if not error:
        return 0.0
    return min(1.0, float(error / abs(exact))) if exact else 1.0


def _most_amplifying(growth: Iterable[tuple[int, float]]) -> tuple[int | None, float]:
    node, factor = None, 0.0
    for i, grown in growth:
        if grown > factor * 1.5:
            node, factor = i, grown
    return node, factor


def _value_growth(
    doubles: Evaluation, swept: Evaluation, wrong: Sequence[float], any_way: bool
) -> Iterator[tuple[int, float]]:
    total = abs(doubles.value - swept.value)
    for i in doubles.order:
        parents = doubles.graph.parents[i]
        if not parents or not wrong[i]:
            continue
        adjoint = swept.adjoints[i]
        error = swept.graph.data[i] - doubles.graph.data[i]
        if any_way or (adjoint is not None and 20 * abs(adjoint * error) >= total):
            yield i, wrong[i] / max(ROUNDING, *(wrong[p] for p in parents))


def _adjoint_growth(doubles: Evaluation, swept: Evaluation, wrong: Sequence[float]) -> Iterator[tuple[int, float]]:
    consumers: dict[int, list[int]] = {}
    for i in doubles.order:
        for p in doubles.graph.parents[i]:
            consumers.setdefault(p, []).append(i)
    for i in doubles.order:
        adjoint, exact = doubles.adjoints[i], swept.adjoints[i]
        if adjoint is None or exact is None:
            continue
        uses = consumers.get(i, [])
        before = [relative_error(doubles.adjoints[c], swept.adjoints[c]) for c in uses]
        before += [wrong[p] for c in uses for p in (c, *doubles.graph.parents[c])]
        yield i, relative_error(adjoint, exact) / max([ROUNDING, *before])


def _diagnostic(node: Value, inputs: Sequence[float], wrong: float, what: str) -> Diagnostic:
    lost = min(16, round(16 + math.log10(max(wrong, 1e-16))))
    primitive = node.primitive
    if primitive in (ADD, SUB):
        why = "nearly equal numbers cancel"
    elif primitive.gives_condition or len(inputs) != 1:
        why = f"`{primitive.written}` magnifies the rounding of its inputs"
    else:
        why = f"`{primitive.written}` at {inputs[0]:.6g} magnifies the rounding of its argument"
    message = f"{what}: {lost} were lost here, where {why}"
    return Diagnostic("lost_digits", message, node.span, _hint(node))


def _count(left: int) -> str:
    return "no reliable digit" if not left else f"at least {left} correct digit{'s' if left > 1 else ''}"


def _called(node: Value) -> str:
    if node.label:
        return node.label
    text = expression_text(node)
    return text if len(text) <= 40 else text[:39] + "…"


def _hint(node: Value) -> str:
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
