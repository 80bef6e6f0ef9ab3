"""The sweeps: a graph in a row, evaluated on demand and differentiated backward or forward. Nothing recurses."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

from ..errors import AutodiffError, Diagnostic, Span
from ..numbers import budget as work
from ..numbers.base import NO_RESULT, Number, NumberType, Refusal
from ..numbers.budget import BudgetExceeded
from ..table.operators import CONSTANT, NEG, WHERE
from ..table.primitive import Primitive
from .flat_graph import Graph


class Fault(AutodiffError):
    """A node without a value or derivative: its place in the graph, the kind of error, and what to say."""

    def __init__(
        self, node: int, kind: str, message: str, hint: str | None = None, position: int | None = None
    ) -> None:
        super().__init__(message)
        self.node = node
        self.kind = kind
        self.message = message
        self.hint = hint
        self.position = position
        """For a derivative: which input it was to be taken towards."""


class Rough(Fault):
    """A derivative that does not exist, or is not known to: the point lies on a kink or a jump."""


Failure = Fault | BudgetExceeded
FAILURES = (*NO_RESULT, BudgetExceeded)
"""The errors of an operation or its rule that end the sweep."""


class Breakpoint(NamedTuple):
    """A node where the pieces of its operation meet, and its inputs there."""

    graph: Graph
    node: int
    inputs: Sequence[Number]

    @property
    def primitive(self) -> Primitive:
        """The operation."""
        return self.graph.primitives[self.node]

    @property
    def span(self) -> Span | None:
        """Its place in the text."""
        return self.graph.span(self.node)

    def warning(self) -> Diagnostic:
        """Return the warning that there is no derivative here, with the convention that was used."""
        primitive = self.primitive
        if primitive.gives_condition:
            message, hint = f"{self._equal}: the branches meet", "the derivative is that of the branch taken"
        else:
            message = f"`{primitive.written}` has no derivative at {_places(self.inputs)}"
            hint = f"convention: {primitive.convention}"
        return Diagnostic("kink", message, self.span, hint)

    def refusal(self, reason: str, way_out: str = "") -> Rough:
        """The error that there is no derivative here, and why."""
        fault = "jumps" if self.primitive.jumps else "has a kink"
        what = f"`{self.primitive.written}` {fault} at {_places(self.inputs)}"
        what = self._equal if self.primitive.gives_condition else what
        return Rough(self.node, "derivative", f"{what}: {reason}", f"move the point to one side{way_out}")

    @property
    def _equal(self) -> str:
        return f"`{self.primitive.written}` compares equal numbers, {show(self.inputs[0])}, here"

    def agree(self, m: NumberType, x: Number, y: Number) -> bool:
        """Whether a result is the same on two sides. Raises `Fault` if that is undecided."""
        try:
            return m.same(x, y)
        except Refusal as refusal:
            message = f"`{self.primitive.written}` has two sides here, and {refusal.message}"
            raise Fault(self.node, refusal.kind, message, refusal.hint) from None


# ---- values -------------------------------------------------------------------------------------------------------
def forward(graph: Graph, m: NumberType, roots: Iterable[int]) -> Sequence[int]:
    """The nodes that the roots need, in the order of evaluation; their values are filled in.

    A conditional evaluates its condition and then one branch only. Raises `Fault`.
    """
    primitives, parents, data = graph.primitives, graph.parents, graph.data
    work.charge(work.FORWARD * len(data))
    if not graph.chooses:
        for i, value in enumerate(data):
            if value is None:
                primitive = primitives[i]
                data[i] = compute(m, primitive, [data[p] for p in parents[i]], i)
        return range(len(data))
    done: dict[int, None] = {}
    for i, inputs, needed in demanded(graph, roots, data, done):
        if data[i] is None:
            data[i] = _value(m, primitives[i], inputs, needed, i)
        done[i] = None
    return [*done]


def compute(m: NumberType, primitive: Primitive, inputs: Sequence[Number], node: int) -> Number:
    """The value of an operation. Raises `Fault`, naming the node, where it has none."""
    try:
        out = getattr(m, primitive.name)(*inputs)
        if not m.finite(out):
            raise OverflowError
    except FAILURES as error:
        raise undefined(m, node, primitive, inputs, error) from None
    return out


def demanded(
    graph: Graph, roots: Iterable[int], numbers: Any, done: Container[int]
) -> Iterator[tuple[int, list[Any], Sequence[int]]]:
    """Yield the nodes that the roots need, each after what it needs itself: its inputs, and which of them it needs.

    An input that is not evaluated is None. Whoever asks puts the number of the node into `numbers`, and it into `done`,
    before the next one.
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


def _value(m: NumberType, primitive: Primitive, inputs: Sequence[Any], needed: Sequence[int], node: int) -> Number:
    """Return the value of an operation; of one that chooses, the input that it has chosen. Raises `Fault`."""
    if primitive.lazy_inputs:
        return inputs[needed[-1]] if needed else inputs[0]
    return compute(m, primitive, inputs, node)


def show(x: Number) -> str:
    """A number as messages show it."""
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


def _places(inputs: Sequence[Number]) -> str:
    return show(inputs[0]) if len(inputs) == 1 else "(" + ", ".join(map(show, inputs)) + ")"


@lru_cache(256)
def domain_words(primitive: Primitive, count: int) -> str:
    """The domain of an operation on so many inputs, for people: the table's `x` is not the user's."""
    return re.sub(r"\bx\b", "argument", primitive.domain) if count == 1 else primitive.domain


def undefined(m: NumberType, node: int, primitive: Primitive, inputs: Sequence[Number], error: Exception) -> Failure:
    """Return the error of an operation that has no value at these inputs."""
    name = primitive.written
    if isinstance(error, BudgetExceeded):
        return error.at_node(node)
    if isinstance(error, Refusal):
        return Fault(node, error.kind, error.message, error.hint)
    if isinstance(error, OverflowError):
        way_out = "rescale the inputs, or use a form that stays small (`logsumexp`, `softplus`, `lgamma`)"
        return Fault(node, "overflow", f"`{name}` at {_places(inputs)} is too large for {m.range}", way_out)
    message = hint = None
    if primitive.domain_message:
        with suppress(Refusal):
            message, hint = primitive.domain_message(*inputs) or (None, None)
    if message is not None:
        message = message.format(*map(show, inputs))
    else:
        message = f"`{name}` is undefined at {_places(inputs)}"
        if primitive.domain:
            message += f"; its domain: {domain_words(primitive, len(inputs))}"
    hint = hint or "move the point into the domain, or guard it: `a if condition else b`"
    return Fault(node, "domain", message, hint)


# ---- backpropagation ----------------------------------------------------------------------------------------------
def backward(
    graph: Graph, m: NumberType, order: Sequence[int], active: Activity, seeds: Mapping[int, Number]
) -> list[Number | None]:
    """Return the adjoint of each node, from those of the outputs, `seeds`; None where nothing flows to. Raises `Fault`.

    From the outputs to the leaves each node passes its adjoint, times the local derivative, on to its inputs; the
    shares that come from all uses of a node add up. Kinks are another matter: see `kinks_met`.
    """
    work.charge(work.BACKWARD * len(order))
    adjoints = [seeds.get(i) for i in range(len(graph.data))]
    for i in reversed(order):
        adjoint = adjoints[i]
        if adjoint is None or not active[i]:
            continue
        try:
            for p, partial in zip(graph.parents[i], _partials(graph, m, i, active), strict=True):
                if partial is None:
                    continue
                share = adjoint * partial
                total = share if adjoints[p] is None else adjoints[p] + share
                if m.finite(total):
                    adjoints[p] = total
                elif active.varying[p]:
                    raise OverflowError
        except FAILURES as error:
            raise _no_derivative(graph, m, i, active, adjoint, error) from None
    return adjoints


# ---- derivatives --------------------------------------------------------------------------------------------------
class Activity(list[bool]):
    """For each node, whether its value depends on a wanted leaf at this point. Raises `Fault`.

    `through` structural zeros too, or (`varying`) only where it moves with the leaf near this point: a node that is
    behind the losing side of a `max` stays where it is, so no derivative towards it is needed and nobody meets a kink
    of it.
    """

    def __init__(
        self, graph: Graph, m: NumberType, order: Iterable[int], wanted: Iterable[int], through: bool = True
    ) -> None:
        super().__init__([False] * len(graph.data))
        self.graph = graph
        self.m = m
        self.order = order
        self.wanted = tuple(wanted)
        self.discontinuous: set[int] = set()
        """Nodes whose value may jump at this point."""
        self.one_sided_partials: Mapping[int, Sequence[Number | None]] = {}
        """The local derivatives of the nodes that have sides, on one side, if the sides of all kinks agree."""
        self.zeros: set[int] = set()
        """The literal zeros, which cut off what they are multiplied with."""
        self._through = through
        self._locally_varying: Activity | None = None
        self._values: list[Any] = []
        """Values of all nodes, of branches that were not taken too, as far as they were asked for."""
        self._evaluated: set[int] = set()
        self._discontinuous: set[int] = set()
        """The nodes among them that may jump."""
        for i in self.wanted:
            self[i] = True
        primitives, parents = graph.primitives, graph.parents
        i = 0
        try:
            for i in order:
                ps = parents[i]
                if not ps:
                    if primitives[i] is CONSTANT and graph.data[i] == 0:
                        self.zeros.add(i)
                    continue
                primitive = primitives[i]
                if primitive is NEG and ps[0] in self.zeros:
                    self.zeros.add(i)
                if primitive is WHERE:
                    self._choice(i, ps)
                    continue
                for p in ps:
                    if self[p]:
                        self[i] = through or not primitive.has_structural_zeros or self._passes(i)
                        break
                jumps = primitive.jumps and self[i] and _meets(graph, i, self, primitive.kink)
                if jumps or (self.discontinuous and not self.discontinuous.isdisjoint(ps)):
                    self.discontinuous.add(i)
        except Refusal as refusal:
            raise Fault(i, refusal.kind, refusal.message, refusal.hint) from None

    @property
    def varying(self) -> Activity:
        """The activity of nodes near this point; computed on first use."""
        if not self._through:
            return self
        if self._locally_varying is None:
            self._locally_varying = Activity(self.graph, self.m, self.order, self.wanted, False)
        return self._locally_varying

    def choose_side(self, one_sided_partials: Mapping[int, Sequence[Number | None]], others: Iterable[int]) -> None:
        """Take the local derivatives on one side, where branches were taken that were not at the point."""
        self.one_sided_partials = one_sided_partials
        for i in others:
            for activity in (self, self.varying):
                activity[i] = any(activity[p] for p in self.graph.parents[i])

    def _choice(self, i: int, ps: tuple[int, ...]) -> None:
        # Where the branches meet, what was chosen hangs on the variables although the branch itself may not.
        condition, taken = ps[0], ps[1] if self.graph.data[ps[0]] else ps[2]
        turns = self[condition] and bool(_edges(self.graph, condition, self))
        self[i] = self[taken] or turns
        if taken in self.discontinuous or (turns and self.differ(i)):
            self.discontinuous.add(i)

    def _passes(self, i: int) -> bool:
        """Whether anything comes through an operation that cuts some of its inputs off: a slope, or a jump."""
        primitive = self.graph.primitives[i]
        try:
            if primitive.may_kink and not self.discontinuous.isdisjoint(self.graph.parents[i]):
                return True
            if primitive.jumps and _meets(self.graph, i, self, primitive.kink):
                return True
            return any(partial is not None for partial in local_derivatives(self.graph, self.m, i, self))
        except NO_RESULT:
            return True  # the sweep that needs it says why

    def differ(self, i: int) -> bool:
        """Whether the branches of choice `i` have different values here, or the one not taken has none, or jumps."""
        _, x, y = self.graph.parents[i]
        try:
            self._evaluate((x, y))
            return bool(self._values[x] != self._values[y]) or not self._discontinuous.isdisjoint((x, y))
        except (Fault, *NO_RESULT):
            return True

    def _evaluate(self, roots: Sequence[int]) -> None:
        """Find the values of nodes, of branches that were not taken too, and which of these may jump."""
        if not self._values:
            self._values = self.graph.data.copy()
            self._evaluated = {i for i, x in enumerate(self._values) if x is not None}
        for i, inputs, needed in demanded(self.graph, roots, self._values, self._evaluated):
            primitive, ps = self.graph.primitives[i], self.graph.parents[i]
            self._values[i] = _value(self.m, primitive, inputs, needed, i)
            jump = primitive.breakpoint if primitive.gives_condition else primitive.kink if primitive.jumps else None
            jumps = jump is not None and not primitive.lazy_inputs and jump(*inputs)
            if jumps or any(p in self._discontinuous or p in self.discontinuous for p in ps):
                self._discontinuous.add(i)
            self._evaluated.add(i)


def local_derivatives(graph: Graph, m: NumberType, i: int, active: Activity) -> list[Number | None]:
    """The local derivative of node `i` by each of its inputs: None for a structural zero, and one that is not active.

    Raises what the rule raises (ValueError, ArithmeticError) where the derivative is infinite or undefined; towards an
    input that does not move there is nothing then.
    """
    primitive, ps, data = graph.primitives[i], graph.parents[i], graph.data
    if active.one_sided_partials and i in active.one_sided_partials:
        return [d if active[p] else None for p, d in zip(ps, active.one_sided_partials[i], strict=True)]
    if active.zeros and primitive.product and not active.zeros.isdisjoint(ps):
        return [None] * len(ps)
    inputs = [data[p] for p in ps]
    try:
        return primitive.slopes(m, inputs, data[i], [active[p] for p in ps])
    except NO_RESULT:
        varying = [active[p] and active.varying[p] for p in ps]
        return primitive.slopes(m, inputs, data[i], varying) if any(varying) else [None] * len(ps)


def _partials(graph: Graph, m: NumberType, i: int, active: Activity) -> list[Number | None]:
    """Return the local derivative by each input that takes a share of the adjoint.

    Those by a node that is an input many times are added at its first place, at once, which rounds once.
    """
    partials, ps = local_derivatives(graph, m, i, active), graph.parents[i]
    if not graph.primitives[i].variadic or len(set(ps)) == len(ps):
        return partials
    shares: dict[int, list[Number]] = {}
    for p, partial in zip(ps, partials, strict=True):
        if partial is not None:
            shares.setdefault(p, []).append(partial)
    total = {p: terms[0] if len(terms) == 1 else m.sum(*terms) for p, terms in shares.items()}
    return [total.pop(p, None) for p in ps]


def is_cut(graph: Graph, factors: Iterable[int]) -> bool:
    """Whether one of the factors is a literal 0."""
    primitives = graph.primitives
    for p in factors:
        literal = primitives[graph.parents[p][0]] if primitives[p] is NEG else primitives[p]
        if literal is CONSTANT and graph.data[p] == 0:
            return True
    return False


def _no_derivative(graph: Graph, m: NumberType, i: int, active: Activity, adjoint: Number, error: Exception) -> Failure:
    """Return the error of a node whose derivative could not be computed or propagated."""
    if isinstance(error, BudgetExceeded):
        return error.at_node(i)
    if isinstance(error, Refusal):
        try:
            _kinks(graph, i, active)
        except Refusal as question:  # whether there is a kink is behind what its rule could not decide
            error = question
        return Fault(i, error.kind, error.message, error.hint)
    primitive, inputs = graph.primitives[i], [graph.data[p] for p in graph.parents[i]]
    name, places, position = primitive.written, _places(inputs), _failing(graph, m, i, active)
    try:
        vanishes = bool(adjoint == 0)
    except Refusal as refusal:
        return Fault(i, refusal.kind, refusal.message, refusal.hint)
    kind, hint = "derivative", "move the point, or leave this input out with `--wrt`"
    if vanishes:
        what = f"`{name}` at {places} has no finite derivative, and what it is multiplied by is 0"
        message = f"0·∞: the {m.derivative} cannot be read off here; {what}"
        hint = "simplify the formula so that the two cancel"
    elif isinstance(error, OverflowError):
        message = f"the {m.derivative} through `{name}` at {places} is too large for {m.range}"
        kind, hint = "overflow", "rescale the inputs"
    else:
        names = primitive.roles or primitive.params
        towards = f" with respect to {names[position]}" if len(primitive.partials) > 1 else ""
        fate = "infinite there" if isinstance(error, ZeroDivisionError) else "undefined there"
        message = f"`{name}` is defined at {places} but its {m.derivative}{towards} is {fate}"
    return Fault(i, kind, message, hint, position)


def _failing(graph: Graph, m: NumberType, i: int, active: Sequence[bool]) -> int:
    """The position of the active input whose derivative fails or is infinite; the last one where none is."""
    ps, position = graph.parents[i], 0
    inputs = [graph.data[p] for p in ps]
    for k, p in enumerate(ps):
        if active[p]:
            position = ps.index(p)
            try:
                partial = graph.primitives[i].slopes(m, inputs, graph.data[i], [j == k for j in range(len(ps))])[k]
                if partial is not None and not m.finite(partial):
                    break
            except NO_RESULT:
                break
    return position


# ---- kinks --------------------------------------------------------------------------------------------------------
def kinks_met(
    graph: Graph, m: NumberType, order: Sequence[int], active: Activity, adjoints: Sequence[Number | None]
) -> list[int]:
    """Return the nodes where a backward sweep with these adjoints met a kink, the first that it met first.

    A kink is met by an adjoint other than 0, a jump by any: 0 times a jump may be a slope on one side. Raises `Fault`.
    """
    kinks: list[int] = []
    for i in reversed(order):
        primitive, adjoint = graph.primitives[i], adjoints[i]
        if not primitive.may_kink or adjoint is None or not active[i]:
            continue
        try:
            here = _kinks(graph, i, active) and _kinks(graph, i, active.varying)
            if here and (adjoint != 0 or primitive.jumps or (primitive is WHERE and active.differ(i))):
                kinks += here
            if active.discontinuous and primitive.has_structural_zeros:
                kinks += _upsets(graph, i, active.varying)
        except FAILURES as error:
            raise _no_derivative(graph, m, i, active, adjoint, error) from None
    return list(dict.fromkeys(kinks))


def _kinks(graph: Graph, i: int, active: Activity) -> list[int]:
    """Return the nodes at which node `i` has no derivative: itself, or for a choice the causes of its condition."""
    primitive, ps = graph.primitives[i], graph.parents[i]
    if primitive is WHERE:
        return _edges(graph, ps[0], active) if active[ps[0]] else []
    return [i] if _meets(graph, i, active, primitive.kink) else []


def may_meet_kinks(graph: Graph, order: Iterable[int], active: Activity) -> bool:
    """Whether there is a kink or a jump at the point, in what depends on the wanted leaves. Raises `Fault`."""
    rows = graph.primitives
    return any(True for _ in _where(order, lambda i: active[i] and rows[i].may_kink and _kinks(graph, i, active)))


def breakpoints(graph: Graph, order: Iterable[int], active: Activity) -> list[int]:
    """The nodes at whose inputs the pieces of their operation meet, with something active there; comparisons too.

    Raises `Fault` where that is undecided.
    """
    rows = graph.primitives
    return [*_where(order, lambda i: active[i] and _meets(graph, i, active, rows[i].breakpoint))]


def _where(order: Iterable[int], holds: Callable[[int], object]) -> Iterator[int]:
    """Yield the nodes for which something holds. Raises `Fault` where that is undecided."""
    for i in order:
        try:
            if holds(i):
                yield i
        except Refusal as refusal:
            raise Fault(i, refusal.kind, refusal.message, refusal.hint) from None


def _meets(graph: Graph, i: int, active: Sequence[bool], meet: Callable[..., bool] | None) -> bool:
    """Whether pieces of node `i` meet at its inputs, and something active is among what meets."""
    ps, data, primitive = graph.parents[i], graph.data, graph.primitives[i]
    if meet is None or not any(active[p] for p in ps):
        return False
    if not primitive.variadic and not primitive.gives_condition:
        return meet(*[data[p] for p in ps])
    # One node listed twice does not tie with itself, and a tie among constants moves nothing.
    distinct = dict.fromkeys(ps)
    if primitive.gives_condition:
        return len(distinct) > 1 and meet(*[data[p] for p in ps])
    return meet(*[data[p] for p in distinct]) and any(active[p] and data[p] == data[i] for p in distinct)


def _upsets(graph: Graph, i: int, active: Activity) -> list[int]:
    """The jumps of inputs that may make another of them win, such as the largest."""
    if graph.primitives[i] is WHERE:
        return []
    return [k for p in graph.parents[i] if p in active.discontinuous for k in _edges(graph, p, active)]


def _edges(graph: Graph, condition: int, active: Activity) -> list[int]:
    """Return the active nodes at which a condition may change: comparisons of equal numbers, and jumps.

    The same of a number that is `discontinuous`: what its value jumps at.
    """
    edges: list[int] = []
    seen: set[int] = set()
    stack = [condition]
    while stack:
        i = stack.pop()
        if i in seen or not active[i]:
            continue
        seen.add(i)
        primitive, ps = graph.primitives[i], graph.parents[i]
        if primitive.takes_conditions and primitive.gives_condition:
            stack.extend(reversed(ps))
        elif _meets(graph, i, active, primitive.breakpoint if primitive.gives_condition else primitive.kink):
            edges.append(i)
        elif i in active.discontinuous:
            stack.extend(p for p in reversed(ps) if p in active.discontinuous or graph.primitives[p].gives_condition)
    return edges


# ---- forward mode -------------------------------------------------------------------------------------------------
def tangents(
    graph: Graph,
    m: NumberType,
    order: Sequence[int],
    active: Activity,
    seeds: dict[int, Number],
    roots: Iterable[int] | None = None,
) -> list[Number | None]:
    """The tangent of each node along the direction that `seeds` gives to the leaves; None where it depends on none.

    Forward mode: each node adds up its inputs' tangents, times the same local derivatives as in `backward`. Raises
    `Fault` for a node without a derivative; if there are `roots`, only where one of them takes part in it.
    """
    result: list[Number | None] = [None] * len(graph.data)
    faults: dict[int, Fault] = {}
    for i, seed in seeds.items():
        result[i] = seed
    for i in order:
        if not graph.parents[i] or not active[i] or graph.primitives[i].gives_condition:
            continue
        total: Number | None = None
        try:
            for p, partial in zip(graph.parents[i], local_derivatives(graph, m, i, active), strict=True):
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
            if total is not None and not m.finite(total):
                raise OverflowError
        except FAILURES as error:
            failure = _no_derivative(graph, m, i, active, 1, error)
            if roots is None or isinstance(failure, BudgetExceeded):
                raise failure from None
            faults[i] = failure
        result[i] = total
    for root in roots or ():
        if root in faults:
            raise faults[root]
    return result
