"""Evaluation: a graph at a point in some number type, and its derivatives.

A missing value or derivative is an `ExpressionError` with its place in the text.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import ParamSpec, TypeVar

from ...errors import Diagnosed, Diagnostic, ExpressionError, NotSmooth
from ..numbers.base import Number, NumberType
from ..numbers.budget import BudgetExceeded
from ..table.operators import DIV, MUL, POW, VARIABLE
from .flat_graph import Graph, in_order
from .sweep import (
    Activity,
    Breakpoint,
    Failure,
    NodeError,
    NotDifferentiable,
    backward,
    forward,
    kinks_met,
    may_meet_kinks,
    show,
    tangents,
)

Sweep = ParamSpec("Sweep")
Answer = TypeVar("Answer")

# Errors with which a fast path falls back to the sweep, as does None.
LEFT = (ValueError, ArithmeticError, NodeError, BudgetExceeded)


def with_fallback(
    fast: Callable[..., Answer | None], sweep: Callable[..., Answer], *asked: object
) -> Answer:
    """Return the result of a fast path, or else of the sweep.

    A fast path, `doubles` or compiled code, gives the same result; it leaves errors, kinks and
    infinite numbers.
    """
    try:
        result = fast(*asked)
    except LEFT:
        result = None
    return sweep(*asked) if result is None else result


# Nodes where smooth branches meet, by index.
Kinks = dict[int, Breakpoint]


def reverse_sweep(
    order: Sequence[int], active: Activity, seeds: Mapping[int, Number]
) -> tuple[list[Number | None], list[int], Sequence[int]]:
    """Return adjoints from those of outputs, nodes at kinks without a derivative, and evaluated
    nodes.

    If the sides of a kink agree, nodes on its other side are evaluated too, and `active` keeps the
    local derivatives for further sweeps. Raises `NodeError`.
    """
    active.one_sided_partials, active.sides = {}, ""
    adjoints = backward(order, active, seeds)
    kinks = kinks_met(order, active, adjoints)
    if kinks:
        from .smooth_branches import sides_chosen  # only kinks need it

        order = sides_chosen(order, active, seeds)
        if active.one_sided_partials:
            adjoints, kinks = backward(order, active, seeds), []
    return adjoints, kinks, order


class Evaluation:
    """A graph evaluated on demand at a point in some number type, and differentiated if asked."""

    adjoints: list[Number | None]
    """The adjoint of each node after `differentiate`; None if none reaches it."""
    kinks: Kinks
    """The nodes met there that have no derivative; a convention is used."""
    gradient: dict[str, Number]

    def __init__(
        self, m: NumberType, graph: Graph, wanted: Mapping[str, int | None] = MappingProxyType({})
    ) -> None:
        self.m = m
        # Its `data` are the nodes' values, None in untaken branches.
        self.graph = graph
        # The variables to differentiate by, with their indices; None for one that the graph lacks.
        self.wanted = wanted
        # The evaluated nodes in order; after `differentiate` also those on the other side of a
        # kink.
        self.order: Sequence[int] = self.sweep(forward, graph, m, graph.roots)

    def sweep(
        self, sweep: Callable[Sweep, Answer], *args: Sweep.args, **options: Sweep.kwargs
    ) -> Answer:
        """Return the result of a sweep over the graph. Raises `ExpressionError`."""
        try:
            return sweep(*args, **options)
        except (NodeError, BudgetExceeded) as fault:
            raise error_at(fault, self.graph, self.wanted) from None

    @property
    def values(self) -> list[Number]:
        return [self.graph.data[root] for root in self.graph.roots]

    @cached_property
    def value(self) -> Number:
        """Return the value of the first output."""
        return self.graph.data[self.graph.roots[0]]

    @cached_property
    def active(self) -> Activity:
        """Return the nodes that depend on the variables to differentiate by."""
        return self.activity([i for i in self.wanted.values() if i is not None])

    def activity(self, leaves: Iterable[int]) -> Activity:
        """Return the nodes that depend on some leaves."""
        return self.sweep(Activity, self.graph, self.m, self.order, leaves)

    def differentiate(self) -> "Evaluation":
        """Fill in adjoints, kinks and gradient of the first output by a backward sweep. Raises
        `ExpressionError`.
        """
        seeds = {self.graph.roots[0]: self.m.number(1)}
        self.adjoints, kinks, self.order = self.sweep(reverse_sweep, self.order, self.active, seeds)
        self.kinks, self.gradient = (
            self.breakpoints(kinks, self.active.sides),
            self._by_name(self.adjoints),
        )
        return self

    def grads(self) -> list[Number | None]:
        """Return the derivatives by all nodes: 0 for one that no adjoint reaches, None without an
        active leaf.
        """
        zero = self.m.number(0)
        # `+ 0.0` turns -0.0 into 0.0
        return [
            (
                (zero if depends else None)
                if adjoint is None
                else adjoint + 0.0
                if type(adjoint) is float
                else adjoint
            )
            for adjoint, depends in zip(self.adjoints, self.active, strict=True)
        ]

    def _by_name(self, adjoints: Sequence[Number | None]) -> dict[str, Number]:
        zero = self.m.number(0)
        partials = {name: None if i is None else adjoints[i] for name, i in self.wanted.items()}
        return {name: zero if partial is None else partial for name, partial in partials.items()}

    def vjp(self, adjoints: Sequence[Number]) -> tuple[dict[str, Number], Kinks]:
        """Return the vector-Jacobian product in one backward sweep, and the kinks.

        Outputs of weight 0 are ignored. Raises `ExpressionError`.
        """
        seeds: dict[int, Number] = {}
        for root, adjoint in zip(self.graph.roots, adjoints, strict=True):
            if adjoint != 0:
                seeds[root] = seeds[root] + adjoint if root in seeds else adjoint
        totals, kinks, _ = self.sweep(reverse_sweep, self.order, self.active, seeds)
        return self._by_name(totals), self.breakpoints(kinks, self.active.sides)

    def jacobian(self) -> tuple[list[list[Number]], Kinks]:
        """Return the Jacobian, by one backward sweep an output, with kinks. Raises
        `ExpressionError`.
        """
        one, zero, outputs = self.m.number(1), self.m.number(0), range(len(self.graph.roots))
        rows: list[list[Number]] = []
        kinks: Kinks = {}
        for k in outputs:
            row, met = self.vjp([one if j == k else zero for j in outputs])
            rows.append([*row.values()])
            kinks |= met
        return rows, kinks

    def jvp(self, direction: Mapping[str, Number]) -> tuple[list[Number], Kinks]:
        """Return the Jacobian-vector product in one forward sweep, and the kinks.

        Variables of 0 are held fixed. At a kink, each output gets a backward sweep, to see whether
        it meets the kink, and a forward sweep. Raises `ExpressionError`.
        """
        seeds = {
            i: t
            for name, t in direction.items()
            if (i := self.wanted.get(name)) is not None and t != 0
        }
        active = self.activity(seeds)
        kinks: Kinks = {}
        roots = self.graph.roots
        slopes = self.sweep(tangents, self.order, active, seeds, roots)
        results = [slopes[root] for root in roots]
        if self.sweep(may_meet_kinks, self.order, active):
            for k, root in enumerate(roots):
                _, met, order = self.sweep(
                    reverse_sweep, self.order, active, {root: self.m.number(1)}
                )
                kinks |= self.breakpoints(met, active.sides)
                results[k] = self.sweep(tangents, order, active, seeds, (root,))[root]
        zero = self.m.number(0)
        return [zero if result is None else result for result in results], kinks

    def breakpoints(self, places: Iterable[int], sides: str = "") -> Kinks:
        """Return the nodes at these indices, with their inputs, and how the function differs on
        their sides.
        """
        return {i: Breakpoint(self.graph, i, self.graph.inputs(i), sides) for i in places}

    @property
    def warnings(self) -> list[Diagnostic]:
        """Return the warnings about the kinks met by `differentiate`."""
        return [kink.warning() for kink in self.kinks.values()]


def error_at(
    fault: Failure,
    graph: Graph,
    wanted: Mapping[str, int | None] = MappingProxyType({}),
    leaves: Sequence[int] | None = None,
) -> Diagnosed:
    """Return the user's error for a fault, with its place and the inputs behind it.

    `wanted` are the variables to differentiate by; `leaves` those of the node, if known.
    """
    if fault.node is None:
        assert isinstance(fault, BudgetExceeded)
        return fault
    span, message, hint = graph.span(fault.node), fault.message, fault.hint
    if isinstance(fault, NotDifferentiable):
        error = NotSmooth(fault.kind, message, span, hint)
        error.is_decided = fault.is_decided
        return error
    lost = _underflowed(graph, fault.node) if fault.kind in ("domain", "derivative") else None
    if lost is not None:
        name = graph.primitives[lost].written
        message = (
            f"underflow: the result of `{name}` is too small for a double, and counts as 0:"
            f" {message}"
        )
        hint = "use `--precision`, or rescale"
    names = {
        graph.labels[i]: graph.data[i]
        for i in (leaves_below(graph, fault.node) if leaves is None else leaves)
    }
    stated = [text for name, data in names.items() if (text := _stated(name, data)) is not None]
    if stated:
        message += f" (here {', '.join(stated[:5])}{', …' if len(stated) > 5 else ''})"
    if fault.kind == "derivative" and fault.position == 1 and graph.primitives[fault.node] is POW:
        held = {graph.labels[i] for i in leaves_below(graph, graph.parents[fault.node][1])}
        rest = [name for name, i in wanted.items() if i is not None and name not in held]
        shown = ", ".join(f"`{name}`" for name in sorted(held))
        hint = (
            f"hold {shown} fixed: `--wrt {','.join(rest)}`"
            if rest and held
            else "hold the exponent fixed"
        )
    kind_of_error = BudgetExceeded if isinstance(fault, BudgetExceeded) else ExpressionError
    return kind_of_error(fault.kind, message, span, hint)


def _underflowed(graph: Graph, node: int) -> int | None:
    """Return the first operation below a node whose double is 0 where the number is not; None
    without one.
    """
    data = graph.data
    for i in in_order(graph.parents, (node,)):
        if isinstance(data[i], float) and not data[i] and graph.parents[i]:
            is_never_zero = graph.primitives[i] in (MUL, DIV, POW) or graph.primitives[
                i
            ].values.startswith("(0")
            if is_never_zero and all(
                isinstance(data[p], float) and data[p] for p in graph.parents[i]
            ):
                return i
    return None


def _stated(name: str, x: Number) -> str | None:
    """Return what a variable is where an operation failed, its value or dimension; None if that
    says nothing.
    """
    if getattr(x, "dimension", None) is None:
        return f"{name} = {_with_unit(x)}" if getattr(x, "is_constant", True) else None
    text = str(x)
    return (
        None
        if text == "?"
        else f"{name} is {text}"
        if text == "a number"
        else f"{name} is in {text}"
    )


def _with_unit(x: Number) -> str:
    unit = getattr(x, "unit", None)
    return show(x) if unit is None else f"{show(x.number)} {unit}".rstrip()


def leaves_below(graph: Graph, node: int) -> list[int]:
    """Return the named variables with a value that a node depends on."""
    return [
        i
        for i in in_order(graph.parents, (node,))
        if graph.primitives[i] is VARIABLE and graph.data[i] is not None and graph.labels.get(i)
    ]
