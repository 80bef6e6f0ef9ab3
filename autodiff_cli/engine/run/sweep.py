"""Forward and reverse sweeps over a flat graph, without recursion."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

from ...errors import AutodiffError, Diagnostic
from ..numbers import budget
from ..numbers.base import NO_RESULT, Number, NumberType, Refusal
from ..numbers.budget import BudgetExceeded
from ..table.operators import WHERE
from ..table.primitive import Primitive
from .flat_graph import Graph, in_order


# ---- the two sweeps
def forward(graph: Graph, m: NumberType, roots: Iterable[int]) -> Sequence[int]:
    """Evaluate the nodes that the roots need, and return them in order of evaluation.

    A conditional evaluates its condition and then one branch only. Raises `NodeError`.
    """
    primitives, parents, data = graph.primitives, graph.parents, graph.data
    budget.charge(budget.FORWARD * len(data))
    if graph.has_lazy_inputs:
        return _forward_lazily(graph, m, roots)
    for i, value in enumerate(data):
        if value is None:
            data[i] = compute(m, primitives[i], [data[p] for p in parents[i]], i)
    return range(len(data))


def backward(
    order: Sequence[int], active: Activity, seeds: Mapping[int, Number]
) -> list[Number | None]:
    """Return the adjoint of every node from those of the outputs; None if none reaches it.

    Each node, outputs first, adds its adjoint times its local derivatives to the adjoints of its
    inputs. Raises `NodeError`, but not at kinks: see `kinks_met`.
    """
    m, adjoints = active.m, [seeds.get(i) for i in range(len(active))]
    budget.charge(budget.BACKWARD * len(order))
    try:
        for i in reversed(order):
            if (adjoint := adjoints[i]) is not None and active[i]:
                for p, partial in _edges(active, i):
                    if partial is not None:
                        share = adjoint * partial
                        total = share if adjoints[p] is None else adjoints[p] + share
                        adjoints[p] = (
                            total if m.is_finite(total) else _overflowed(active, p, adjoints[p])
                        )
    except FAILURES as error:
        raise _no_derivative(active, i, adjoint, error) from None
    return adjoints


# ---- values
class NodeError(AutodiffError):
    """A node without value or derivative: index, kind of error, message."""

    def __init__(
        self,
        node: int,
        kind: str,
        message: str,
        hint: str | None = None,
        position: int | None = None,
    ) -> None:
        super().__init__(message)
        self.node, self.kind, self.message = node, kind, message
        self.hint, self.position = hint, position


Failure = NodeError | BudgetExceeded
# Exceptions of operations and derivative rules that end a sweep.
FAILURES = (*NO_RESULT, BudgetExceeded)


def compute(m: NumberType, primitive: Primitive, inputs: Sequence[Number], node: int) -> Number:
    """Return the value of an operation. Raises `NodeError` if it has none."""
    try:
        out = getattr(m, primitive.name)(*inputs)
        if not m.is_finite(out):
            raise OverflowError
    except FAILURES as error:
        raise domain_error(m, node, primitive, inputs, error) from None
    return out


def _forward_lazily(graph: Graph, m: NumberType, roots: Iterable[int]) -> list[int]:
    done: dict[int, None] = {}
    for i, inputs, needed in needed_nodes(graph, roots, graph.data, done):
        if graph.data[i] is None:
            graph.data[i] = _value(m, graph.primitives[i], inputs, needed, i)
        done[i] = None
    return [*done]


def needed_nodes(
    graph: Graph, roots: Iterable[int], numbers: Any, done: Container[int]
) -> Iterator[tuple[int, list[Any], Sequence[int]]]:
    """Yield the nodes that the roots need, with inputs and positions of needed ones.

    An unevaluated input is None. The caller enters the node in `numbers` and `done` before the
    next.
    """
    stack = [*roots]
    while stack:
        i = stack[-1]
        if i in done:
            stack.pop()
            continue
        primitive, ps = graph.primitives[i], graph.parents[i]
        inputs = [numbers[p] if p in done else None for p in ps]
        needed = primitive.lazy_inputs(*inputs) if primitive.lazy_inputs else range(len(ps))
        missing = [ps[k] for k in needed if ps[k] not in done]
        if missing:
            stack.extend(reversed(missing))
            continue
        yield i, inputs, needed


def _value(
    m: NumberType, primitive: Primitive, inputs: Sequence[Any], needed: Sequence[int], node: int
) -> Number:
    if primitive.lazy_inputs:
        return inputs[needed[-1]] if needed else inputs[0]
    return compute(m, primitive, inputs, node)


def show(x: Number) -> str:
    """Format a number for messages."""
    if isinstance(x, float):
        return f"{x + 0.0:.6g}"
    text = str(x)
    if len(text) < 24:
        return text
    mantissa, mark, exponent = text.partition("e")
    if mark:
        return f"{mantissa[:8]}e{exponent}"
    try:
        return f"{float(x):.6g}"
    except (ValueError, OverflowError):
        return text


def _point_text(inputs: Sequence[Number]) -> str:
    return show(inputs[0]) if len(inputs) == 1 else "(" + ", ".join(map(show, inputs)) + ")"


def domain_description(primitive: Primitive, count: int) -> str:
    """Return an operation's domain; a single input is called `argument`, not `x`."""
    return re.sub(r"\bx\b", "argument", primitive.domain) if count == 1 else primitive.domain


def domain_error(
    m: NumberType, node: int, primitive: Primitive, inputs: Sequence[Number], error: Exception
) -> Failure:
    """Return the error of an operation that has no value at these inputs."""
    name = primitive.written
    if isinstance(error, BudgetExceeded):
        return error.at_node(node)
    if isinstance(error, Refusal):
        return NodeError(node, error.kind, error.message, error.hint)
    if isinstance(error, OverflowError):
        way_out = (
            "rescale the inputs, or use a form that stays small (`logsumexp`, `softplus`, `lgamma`)"
        )
        return NodeError(
            node,
            "overflow",
            f"`{name}` at {_point_text(inputs)} is too large for {m.range}",
            way_out,
        )
    message = hint = None
    if primitive.domain_message:
        with suppress(Refusal):
            message, hint = primitive.domain_message(*inputs) or (None, None)
    if message is None:
        domain = (
            f"; its domain: {domain_description(primitive, len(inputs))}"
            if primitive.domain
            else ""
        )
        message = f"`{name}` is undefined at {_point_text(inputs)}{domain}"
    else:
        message = message.format(*map(show, inputs))
    hint = hint or "move the point into the domain, or guard it: `a if condition else b`"
    return NodeError(node, "domain", message, hint)


# ---- derivatives
class Activity(list[bool]):
    """Activity analysis: whether each node depends on a wanted leaf. Raises `NodeError`.

    With `through`, dependence through structural zeros counts. Without it (see `varying`), only
    variation near the point counts: the losing input of a `max` does not vary.
    """

    def __init__(
        self,
        graph: Graph,
        m: NumberType,
        order: Iterable[int],
        wanted: Iterable[int],
        through: bool = True,
    ) -> None:
        super().__init__([False] * len(graph.data))
        self.graph = graph
        self.m = m
        self.order = order
        self.wanted = tuple(wanted)
        # How the outputs differ on the sides of the kinks that are met, if that is known.
        self.sides = ""
        # Nodes whose value may jump at this point.
        self.discontinuous: set[int] = set()
        # One-sided local derivatives at kinks, if all sides agree.
        self.one_sided_partials: Mapping[int, Sequence[Number | None]] = {}
        # Whether some constant is 0; a product with a literal 0 depends on nothing.
        self.has_zeros = 0 in map(graph.data.__getitem__, graph.constants)
        self._through = through
        # Known values of nodes, also in untaken branches.
        self._values: dict[int, Any] = {}
        # Nodes among `_values` that may jump.
        self._discontinuous: set[int] = set()
        for i in self.wanted:
            self[i] = True
        primitives, parents = graph.primitives, graph.parents
        try:
            for i in order:
                primitive, ps = primitives[i], parents[i]
                if primitive is WHERE:
                    # Where branches meet, the condition's variables matter too.
                    condition, taken = ps[0], ps[1] if graph.data[ps[0]] else ps[2]
                    turns = self[condition] and bool(_condition_breakpoints(self, condition))
                    self[i] = self[taken] or turns
                    if taken in self.discontinuous or (turns and self.branches_differ(i)):
                        self.discontinuous.add(i)
                    continue
                for p in ps:
                    if self[p]:
                        self[i] = (
                            through
                            or not primitive.has_structural_zeros
                            or self._has_nonzero_partial(i)
                        )
                        break
                jumps = primitive.jumps and self[i] and _pieces_meet(self, i, primitive.kink)
                if jumps or (self.discontinuous and not self.discontinuous.isdisjoint(ps)):
                    self.discontinuous.add(i)
        except Refusal as refusal:
            raise NodeError(i, refusal.kind, refusal.message, refusal.hint) from None

    @cached_property
    def varying(self) -> Activity:
        """Return the activity of nodes near the point."""
        return (
            Activity(self.graph, self.m, self.order, self.wanted, False) if self._through else self
        )

    def choose_side(
        self, one_sided_partials: Mapping[int, Sequence[Number | None]], others: Iterable[int]
    ) -> None:
        """Use one-sided local derivatives, and activate `others` in untaken branches."""
        self.one_sided_partials = one_sided_partials
        for i in others:
            for activity in (self, self.varying):
                activity[i] = any(activity[p] for p in self.graph.parents[i])

    def _has_nonzero_partial(self, i: int) -> bool:
        primitive = self.graph.primitives[i]
        try:
            if primitive.may_kink and not self.discontinuous.isdisjoint(self.graph.parents[i]):
                return True
            if primitive.jumps and _pieces_meet(self, i, primitive.kink):
                return True
            return any(partial is not None for partial in local_derivatives(self, i))
        except NO_RESULT:
            return True  # a sweep that needs the derivative raises the error

    def branches_differ(self, i: int) -> bool:
        """Return whether branches differ, or the untaken one is undefined or jumps."""
        _, x, y = self.graph.parents[i]
        try:
            self._evaluate((x, y))
            return bool(self._values[x] != self._values[y]) or not self._discontinuous.isdisjoint(
                (x, y)
            )
        except (NodeError, *NO_RESULT):
            return True

    def has_steep_branch(self, i: int) -> bool:
        """Return whether the untaken branch has an operation without a finite derivative; its value
        is known.
        """
        _, x, y = self.graph.parents[i]
        primitives, parents = self.graph.primitives, self.graph.parents
        for j in in_order(parents, (x, y)):
            inputs = [self._values.get(p) for p in parents[j]]
            known = all(x is not None for x in (self._values.get(j), *inputs))
            if primitives[j].lazy_inputs or primitives[j].gives_condition or not known:
                continue
            try:
                slopes = (
                    primitives[j].slopes(self.m, inputs, self._values[j], [True] * len(inputs))
                    if inputs
                    else ()
                )
            except NO_RESULT:
                return True
            if not all(slope is None or self.m.is_finite(slope) for slope in slopes):
                return True
        return False

    def _evaluate(self, roots: Sequence[int]) -> None:
        self._values = self._values or {
            i: x for i, x in enumerate(self.graph.data) if x is not None
        }
        for i, inputs, needed in needed_nodes(self.graph, roots, self._values, self._values):
            primitive, ps = self.graph.primitives[i], self.graph.parents[i]
            value = _value(self.m, primitive, inputs, needed, i)
            jump = (
                primitive.breakpoint
                if primitive.gives_condition
                else primitive.kink
                if primitive.jumps
                else None
            )
            jumps = jump is not None and not primitive.lazy_inputs and jump(*inputs)
            if jumps or any(p in self._discontinuous or p in self.discontinuous for p in ps):
                self._discontinuous.add(i)
            self._values[i] = value


def local_derivatives(active: Activity, i: int) -> list[Number | None]:
    """Return the partial derivatives of a node; None for structural zeros, inactive inputs.

    Raises the rule's error (ValueError, ArithmeticError) if a derivative is infinite or undefined,
    unless its input does not vary near the point.
    """
    graph, m = active.graph, active.m
    primitive, ps, data = graph.primitives[i], graph.parents[i], graph.data
    if active.one_sided_partials and i in active.one_sided_partials:
        return [
            d if active[p] else None for p, d in zip(ps, active.one_sided_partials[i], strict=True)
        ]
    if active.has_zeros and primitive.product and has_zero_factor(graph, ps):
        return [None] * len(ps)
    inputs = [data[p] for p in ps]
    try:
        return primitive.slopes(m, inputs, data[i], [active[p] for p in ps])
    except NO_RESULT:
        varying = [active[p] and active.varying[p] for p in ps]
        return primitive.slopes(m, inputs, data[i], varying) if any(varying) else [None] * len(ps)


def _edges(active: Activity, i: int) -> Iterable[tuple[int, Number | None]]:
    partials, ps = local_derivatives(active, i), active.graph.parents[i]
    if not active.graph.primitives[i].variadic or len(set(ps)) == len(ps):
        return zip(ps, partials, strict=True)
    # partials by a repeated input are summed at its first position, rounded once
    shares: dict[int, list[Number]] = {}
    for p, partial in zip(ps, partials, strict=True):
        if partial is not None:
            shares.setdefault(p, []).append(partial)
    return [
        (p, terms[0] if len(terms) == 1 else active.m.sum(*terms)) for p, terms in shares.items()
    ]


def _overflowed(active: Activity, p: int, adjoint: Number | None) -> Number | None:
    if active.varying[p]:
        raise OverflowError
    return adjoint


def has_zero_factor(graph: Graph, factors: Iterable[int]) -> bool:
    """Return whether one of the factors is a literal 0."""
    return any(graph.is_literal(p) and bool(graph.data[p] == 0) for p in factors)


def _no_derivative(active: Activity, i: int, adjoint: Number, error: Exception) -> Failure:
    graph, m = active.graph, active.m
    if isinstance(error, BudgetExceeded):
        return error.at_node(i)
    if isinstance(error, Refusal):
        try:
            _kinks(active, i)
        except Refusal as undecided:  # the rule failed because the kink is undecided
            error = undecided
        return NodeError(i, error.kind, error.message, error.hint)
    primitive = graph.primitives[i]
    name, places, position = (
        primitive.written,
        _point_text(graph.inputs(i)),
        _failing_input(active, i),
    )
    try:
        vanishes = bool(adjoint == 0)
    except Refusal as refusal:
        return NodeError(i, refusal.kind, refusal.message, refusal.hint)
    kind, hint = "derivative", "move the point, or leave this input out with `--wrt`"
    if vanishes:
        what = (
            f"`{name}` at {places} has no finite derivative, and its factor in the chain rule is 0"
        )
        message = f"0·∞: the {m.derivative} cannot be computed here; {what}"
        hint = "simplify the formula so that the two cancel"
    elif isinstance(error, OverflowError):
        message = f"the {m.derivative} through `{name}` at {places} is too large for {m.range}"
        kind, hint = "overflow", "rescale the inputs"
    else:
        names = primitive.roles or primitive.params
        towards = f" with respect to {names[position]}" if len(primitive.partials) > 1 else ""
        fate = "infinite there" if isinstance(error, ZeroDivisionError) else "undefined there"
        message = f"`{name}` is defined at {places} but its {m.derivative}{towards} is {fate}"
    return NodeError(i, kind, message, hint, position)


def _failing_input(active: Activity, i: int) -> int:
    graph, position = active.graph, 0
    ps, inputs, primitive = graph.parents[i], graph.inputs(i), graph.primitives[i]
    for k in [k for k, p in enumerate(ps) if active[p]]:
        position = ps.index(ps[k])
        try:
            partial = primitive.slopes(
                active.m, inputs, graph.data[i], [j == k for j in range(len(ps))]
            )[k]
            if partial is not None and not active.m.is_finite(partial):
                break
        except NO_RESULT:
            break
    return position


# ---- kinks
class NotDifferentiable(NodeError):
    """The point lies on a kink or a jump, where no derivative is known to exist."""

    is_decided = True
    """Whether both sides are known; false where one has no value or no power series at this very
    point.
    """


class Breakpoint(NamedTuple):
    """A node at whose inputs the smooth branches of its operation meet."""

    graph: Graph
    node: int
    inputs: Sequence[Number]
    sides: str = ""
    """How the function differs on the sides of this node, if that is known."""

    @property
    def primitive(self) -> Primitive:
        return self.graph.primitives[self.node]

    def warning(self) -> Diagnostic:
        """Return the warning of a missing derivative, with the convention used."""
        message, hint = (
            self._describe("has no derivative"),
            f"convention: {self.primitive.convention}",
        )
        if self.primitive.gives_condition:
            hint = "the derivative is that of the branch taken"
            if self.sides:
                hint = "there is no derivative here; shown is that of the branch taken"
            message += f": {self.sides or 'the branches meet'}"
        return Diagnostic("kink", message, self.graph.span(self.node), hint)

    def because(self, reason: str) -> Breakpoint:
        """Return a comparison with the reason why there is no derivative, if it has none yet;
        others as they are.
        """
        return (
            self._replace(sides=reason)
            if self.primitive.gives_condition and not self.sides
            else self
        )

    def undecided(self, reason: str) -> NotDifferentiable:
        """Return the error that no derivative is known, since one side cannot be evaluated at the
        point.
        """
        refusal = self.refusal(reason)
        refusal.is_decided = False
        return refusal

    def refusal(self, reason: str, way_out: str = "") -> NotDifferentiable:
        """Return the error that there is no derivative, with the reason."""
        what = self._describe("jumps" if self.primitive.jumps else "has a kink")
        return NotDifferentiable(
            self.node, "derivative", f"{what}: {reason}", f"move the point to one side{way_out}"
        )

    def _describe(self, fault: str) -> str:
        name = self.primitive.written
        if self.primitive.gives_condition:
            return f"`{name}` compares equal numbers, {show(self.inputs[0])}, here"
        return f"`{name}` {fault} at {_point_text(self.inputs)}"

    def same_value(self, m: NumberType, x: Number, y: Number) -> bool:
        """Return whether two sides are equal. Raises `NodeError` if undecided."""
        try:
            return m.same(x, y)
        except Refusal as refusal:
            message = f"`{self.primitive.written}` has two sides here, and {refusal.message}"
            raise NodeError(self.node, refusal.kind, message, refusal.hint) from None


def kinks_met(
    order: Sequence[int], active: Activity, adjoints: Sequence[Number | None]
) -> list[int]:
    """Return the nodes where a reverse sweep with these adjoints meets a kink, in order.

    A kink needs a nonzero adjoint; a jump, or a branch of infinite slope, any: 0 times these may be
    a one-sided slope. Raises `NodeError`.
    """
    kinks: list[int] = []
    for i in reversed(order):
        primitive, adjoint = active.graph.primitives[i], adjoints[i]
        if not primitive.may_kink or adjoint is None or not active[i]:
            continue
        try:
            here = _kinks(active, i) and _kinks(active.varying, i)
            differ = adjoint != 0 or primitive.jumps
            if here and (
                differ
                or (
                    primitive is WHERE and (active.branches_differ(i) or active.has_steep_branch(i))
                )
            ):
                kinks += here
            if active.discontinuous and primitive.has_structural_zeros and primitive is not WHERE:
                # jumps of the inputs may change which one is selected, as in `max`
                for p in active.graph.parents[i]:
                    kinks += (
                        _condition_breakpoints(active.varying, p)
                        if p in active.varying.discontinuous
                        else []
                    )
        except FAILURES as error:
            raise _no_derivative(active, i, adjoint, error) from None
    return list(dict.fromkeys(kinks))


def _kinks(active: Activity, i: int) -> list[int]:
    primitive, ps = active.graph.primitives[i], active.graph.parents[i]
    if primitive is WHERE:
        return _condition_breakpoints(active, ps[0]) if active[ps[0]] else []
    return [i] if _pieces_meet(active, i, primitive.kink) else []


def may_meet_kinks(order: Iterable[int], active: Activity) -> bool:
    """Return whether an active node has a kink or jump here. Raises `NodeError`."""
    primitives = active.graph.primitives

    def kinks(i: int) -> object:
        return active[i] and primitives[i].may_kink and _kinks(active, i)

    return any(True for _ in _nodes_that(order, kinks))


def breakpoints(order: Iterable[int], active: Activity) -> list[int]:
    """Return the active nodes, comparisons included, where smooth branches meet.

    Raises `NodeError` if that is undecided.
    """
    primitives = active.graph.primitives
    return [
        *_nodes_that(
            order, lambda i: active[i] and _pieces_meet(active, i, primitives[i].breakpoint)
        )
    ]


def _nodes_that(order: Iterable[int], holds: Callable[[int], object]) -> Iterator[int]:
    for i in order:
        try:
            if holds(i):
                yield i
        except Refusal as refusal:
            raise NodeError(i, refusal.kind, refusal.message, refusal.hint) from None


def _pieces_meet(active: Activity, i: int, meet: Callable[..., bool] | None) -> bool:
    ps, data, primitive = active.graph.parents[i], active.graph.data, active.graph.primitives[i]
    if meet is None or not any(active[p] for p in ps):
        return False
    if not primitive.variadic and not primitive.gives_condition:
        return meet(*[data[p] for p in ps])
    # A repeated input does not tie with itself; ties of constants do not matter.
    distinct = dict.fromkeys(ps)
    if primitive.gives_condition:
        return len(distinct) > 1 and meet(*[data[p] for p in ps])
    return meet(*[data[p] for p in distinct]) and any(
        active[p] and data[p] == data[i] for p in distinct
    )


def _condition_breakpoints(active: Activity, condition: int) -> list[int]:
    graph, edges, seen = active.graph, list[int](), set[int]()
    stack = [condition]
    while stack:
        i = stack.pop()
        if i in seen or not active[i]:
            continue
        seen.add(i)
        primitive, ps = graph.primitives[i], graph.parents[i]
        if primitive.takes_conditions and primitive.gives_condition:
            stack.extend(reversed(ps))
        elif _pieces_meet(
            active, i, primitive.breakpoint if primitive.gives_condition else primitive.kink
        ):
            edges.append(i)
        elif i in active.discontinuous:
            stack.extend(
                p
                for p in reversed(ps)
                if p in active.discontinuous or graph.primitives[p].gives_condition
            )
    return edges


# ---- forward mode
def tangents(
    order: Sequence[int], active: Activity, seeds: Mapping[int, Number], roots: Iterable[int]
) -> list[Number | None]:
    """Return the tangent of every node along `seeds`, by leaf; None if it depends on no seed.

    Raises `NodeError` if one of the `roots` depends on a node without a derivative.
    """
    graph = active.graph
    result = [seeds.get(i) for i in range(len(graph.data))]
    faults: dict[int, NodeError] = {}
    for i in order:
        if not graph.parents[i] or not active[i] or graph.primitives[i].gives_condition:
            continue
        total: Number | None = None
        try:
            for p, partial in zip(graph.parents[i], local_derivatives(active, i), strict=True):
                tangent = result[p]
                if partial is None:
                    continue
                if p in faults:
                    faults[i] = faults[p]
                    break
                if tangent is None:
                    continue
                term = tangent * partial
                total = term if total is None else total + term
            if total is not None and not active.m.is_finite(total):
                raise OverflowError
        except FAILURES as error:
            failure = _no_derivative(active, i, 1, error)
            if isinstance(failure, BudgetExceeded):
                raise failure from None
            faults[i] = failure
        if i not in faults:
            result[i] = total
    for root in roots:
        if root in faults:
            raise faults[root]
    return result
