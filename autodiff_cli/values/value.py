"""Value: a number that remembers how it was computed, so that it can be differentiated."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from ..errors import Diagnostic, ExpressionError, NotSmooth, Span
from ..numbers.base import Number, NumberType
from ..numbers.floats import REAL
from ..run.backends import first
from ..run.backpropagation import backpropagate
from ..run.reverse import reverse
from ..run.sweep import Fault, Rough, activity, compute, forward, show
from ..run.tape import Tape
from ..table import primitives as primitives
from ..table.operators import ADD, CONSTANT, DIV, MUL, NEG, POW, SUB, VARIABLE
from ..table.primitive import BY_SYMBOL, FUNCTIONS, PRIMITIVES, Primitive


class Value:
    """A node of the graph of a computation: a number, the operation that made it, and the operation's inputs.

    Arithmetic with Values and plain numbers makes new Values, evaluated at once. `backward()` on a result fills in
    `grad`, the derivative of the result, of every Value that it was made from.

    >>> w = Value(2.0, label="w")
    >>> loss = (w - 5) ** 2
    >>> loss.backward()
    >>> loss, w
    (Value(data=9.0, grad=1.0), Value(data=2.0, grad=-6.0))
    """

    __slots__ = ("_prev", "active", "data", "grad", "label", "primitive", "source", "span")

    data: Any
    """The value; None in a graph that has not been evaluated (there), a bool where the node is a condition."""
    grad: Any
    """The derivative of the output with respect to this node; None where it takes no part."""
    label: str
    """The name that the user gave it, or the empty string."""
    primitive: Primitive
    """The operation, a row of the table; `VARIABLE` or `CONSTANT` for a leaf."""
    _prev: tuple[Value, ...]
    """The inputs, in order; `x*x` has `x` twice."""
    span: Span | None
    """The piece of text that it was built from."""
    active: bool
    """Of a leaf: whether derivatives are taken with respect to it."""
    source: str | None
    """Of a constant: the literal or the name it was read from, so that it can be read again as another number type."""

    def __init__(self, data: Number, _children: Sequence[Value] = (), _op: str = "", label: str = "") -> None:
        self.data = data if type(data) is float and data - data == 0.0 else _plain(data)
        self.grad = 0.0
        self.label = label
        self._prev = _inputs(_children, _op) if _children or _op else ()
        self.primitive = BY_SYMBOL[_op] if _op else VARIABLE
        self.span = None
        self.active = True
        self.source = None

    @property
    def children(self) -> tuple[Value, ...]:
        """The inputs of the operation, in order."""
        return self._prev

    @property
    def _op(self) -> str:
        """The operation's symbol, the empty string for a leaf."""
        return self.primitive.symbol if self._prev else ""

    @property
    def _backward(self) -> NoReturn:
        """Not there: derivatives come from the table of primitives, not from a closure a node."""
        raise AttributeError(
            "a Value has no `_backward`: its derivative is in the table of primitives; "
            "call `backward()` on the result, or compose your function from those of `autodiff_cli`"
        )

    @_backward.setter
    def _backward(self, closure: object) -> NoReturn:
        raise AttributeError(
            "a Value takes no `_backward` closure: derivatives come from the table of primitives; "
            "compose your function from those of `autodiff_cli`"
        )

    def backward(self) -> None:
        """Fill in `grad` of every node of this result's graph: its derivative of this result.

        All gradients are set to zero first, then accumulated in reverse topological order: calling it twice gives the
        same answer. Raises `ExpressionError` where a derivative is infinite, undefined or too large.
        """
        try:
            differentiate(self)
        except ExpressionError as error:
            raise _hinted(error) from None

    def __repr__(self) -> str:
        return f"Value(data={self.data}, grad={self.grad})"

    def __float__(self) -> float:
        return float(self.data)

    def __copy__(self) -> Value:
        return _like(self, self._prev)

    def __deepcopy__(self, memo: dict[int, Any]) -> Value:
        stack = [self]
        while stack:
            missing = [p for p in stack[-1]._prev if id(p) not in memo]
            if missing:
                stack += missing
            elif id(done := stack.pop()) not in memo:
                memo[id(done)] = _like(done, tuple([memo[id(p)] for p in done._prev]))
        copied: Value = memo[id(self)]
        return copied

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        below = None
        if self._prev and id(self) not in _packing.ids:
            # What it is made from goes first, each after its inputs, so that no packing waits for a much deeper one.
            below = _packed_first(self)
        return _unpacked, (below, self.primitive.name, self._prev, *[getattr(self, each) for each in _PLAIN])

    def __add__(self, other: Value | Number) -> Value:
        if type(other) is Value and type(x := self.data) is type(y := other.data) is float:
            out = x + y
            if out - out == 0.0:
                return _result(ADD, (self, other), out)
        return apply(ADD, self, other)

    def __radd__(self, other: Number) -> Value:
        return apply(ADD, other, self)

    def __sub__(self, other: Value | Number) -> Value:
        if type(other) is Value and type(x := self.data) is type(y := other.data) is float:
            out = x - y
            if out - out == 0.0:
                return _result(SUB, (self, other), out)
        return apply(SUB, self, other)

    def __rsub__(self, other: Number) -> Value:
        return apply(SUB, other, self)

    def __mul__(self, other: Value | Number) -> Value:
        if type(other) is Value and type(x := self.data) is type(y := other.data) is float:
            out = x * y
            if out - out == 0.0:
                return _result(MUL, (self, other), out)
        return apply(MUL, self, other)

    def __rmul__(self, other: Number) -> Value:
        return apply(MUL, other, self)

    def __truediv__(self, other: Value | Number) -> Value:
        return apply(DIV, self, other)

    def __rtruediv__(self, other: Number) -> Value:
        return apply(DIV, other, self)

    def __pow__(self, other: Value | Number) -> Value:
        return apply(POW, self, other)

    def __rpow__(self, other: Number) -> Value:
        return apply(POW, other, self)

    def __neg__(self) -> Value:
        return apply(NEG, self)

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Value:
        return apply(FUNCTIONS["abs"], self)

    def __lt__(self, other: Value | Number) -> bool:
        return bool(self.data < _data(other))

    def __le__(self, other: Value | Number) -> bool:
        return bool(self.data <= _data(other))

    def __gt__(self, other: Value | Number) -> bool:
        return bool(self.data > _data(other))

    def __ge__(self, other: Value | Number) -> bool:
        return bool(self.data >= _data(other))

    def tanh(self) -> Value:
        """The hyperbolic tangent of this Value."""
        return apply(FUNCTIONS["tanh"], self)

    def relu(self) -> Value:
        """This Value above 0, else 0."""
        return apply(FUNCTIONS["relu"], self)

    def sigmoid(self) -> Value:
        """The logistic function 1/(1 + exp(-x)) of this Value."""
        return apply(FUNCTIONS["sigmoid"], self)

    def exp(self) -> Value:
        """e to the power of this Value."""
        return apply(FUNCTIONS["exp"], self)

    def log(self) -> Value:
        """The natural logarithm of this Value."""
        return apply(FUNCTIONS["log"], self)

    def sqrt(self) -> Value:
        """The square root of this Value."""
        return apply(FUNCTIONS["sqrt"], self)

    def sin(self) -> Value:
        """The sine of this Value, in radians."""
        return apply(FUNCTIONS["sin"], self)

    def cos(self) -> Value:
        """The cosine of this Value, in radians."""
        return apply(FUNCTIONS["cos"], self)


def _plain(data: object) -> float:
    if isinstance(data, Value):
        raise TypeError(f"a Value needs a number, not {data!r}")
    return as_float(data, "a Value needs a number, not")


def _inputs(children: Sequence[Value], op: str) -> tuple[Value, ...]:
    """The inputs of an operation that is named by its symbol. Raises TypeError or ValueError where they do not fit."""
    listed = tuple(children) if isinstance(children, Iterable) else (children,)
    for each in listed:
        if not isinstance(each, Value):
            raise TypeError(f"the inputs of an operation are Values, and {each!r} is none")
    if bool(listed) != bool(op) or op not in BY_SYMBOL:
        raise ValueError(f"no operation {op!r} with {len(listed)} inputs is in the table of primitives")
    return listed


def _data(x: Value | Number) -> Number:
    return x.data if isinstance(x, Value) else x


# ---- making nodes -------------------------------------------------------------------------------------------------
def node(primitive: Primitive, parents: tuple[Value, ...], span: Span | None = None) -> Value:
    """A node that is not evaluated yet."""
    made = Value.__new__(Value)
    made.data = None
    made.grad = None
    made.label = ""
    made.primitive = primitive
    made._prev = parents
    made.span = span
    made.active = True
    made.source = None
    return made


def _result(primitive: Primitive, parents: tuple[Value, ...], data: float) -> Value:
    """A node with a finite value: the short way of `apply` that most of a network takes."""
    made: Value = _new(Value)
    made.data = data
    made.grad = 0.0
    made.label = ""
    made.primitive = primitive
    made._prev = parents
    made.span = None
    made.active = True
    made.source = None
    return made


_new = object.__new__


def constant(data: Number, source: str | None = None, span: Span | None = None) -> Value:
    """A leaf that no derivative is taken with respect to."""
    made = node(CONSTANT, (), span)
    made.data = float(data) if isinstance(data, int) else data
    made.active = False
    made.source = source
    return made


def variable(name: str, span: Span | None = None) -> Value:
    """A leaf whose value the point will give."""
    made = node(VARIABLE, (), span)
    made.label = name
    return made


def apply(primitive: Primitive, *operands: Value | Number) -> Value:
    """The Value of an operation on Values and plain numbers, evaluated at once if all its inputs are.

    Raises `ExpressionError` (`domain` or `overflow`) where it has no value.
    """
    parents = tuple([x if isinstance(x, Value) else _as_constant(x) for x in operands])
    inputs = [p.data for p in parents]
    for x in inputs:
        if x is None:
            return node(primitive, parents)
    try:
        return _result(primitive, parents, compute(number_type(inputs), primitive, inputs, 0))
    except Fault as fault:
        raise _hinted(ExpressionError(fault.kind, fault.message, None, fault.hint)) from None


def _hinted(error: ExpressionError) -> ExpressionError:
    """The error, so that a traceback shows its hint; here is no text that it could show a place in."""
    if error.hint is not None:
        error.add_note(f"  hint: {error.hint}")
    return error


def _as_constant(x: Number) -> Value:
    return constant(x if type(x) is float and x - x == 0.0 else as_float(x, "cannot compute with"))


def as_float(x: object, refusal: str) -> float:
    """A plain number, a NumPy scalar or another object that is one real number, as a float.

    Raises TypeError for all else, and ValueError for what is not finite in double precision; with the refusal's words.
    """
    if type(x) is not int and type(x) is not float:
        shape = getattr(x, "shape", ())
        if shape != ():
            raise TypeError(
                f"{refusal} an array of shape {tuple(shape)}: go through its elements, "
                "or for many points write the function as code, `export(text, to='numpy')`"
            )
        if isinstance(x, (str, bytes)) or not (hasattr(x, "__float__") or hasattr(x, "__index__")):
            raise TypeError(f"{refusal} {x!r}")
    try:
        number = float(x)  # type: ignore[arg-type]
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        raise TypeError(f"{refusal} {x!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{refusal} {number}: it is not finite")
    return number


def number_type(inputs: Iterable[Number]) -> NumberType:
    """The number type that computes with these numbers."""
    return REAL


# ---- copies -------------------------------------------------------------------------------------------------------
_PLAIN = ("data", "grad", "label", "span", "active", "source")
"""What a node is besides its operation and its inputs."""


def _like(value: Value, parents: tuple[Value, ...]) -> Value:
    made = node(value.primitive, parents)
    for each in _PLAIN:
        setattr(made, each, getattr(value, each))
    return made


FIRST_PACKED = 8
"""How many nodes go before one that is pickled; before one of the next below them twice as many, and so on."""


class _Packed(threading.local):
    ids: frozenset[int] = frozenset()
    """The nodes that are being pickled one after the other, so each of them after its inputs."""
    most = FIRST_PACKED
    """How many go before the next that is none of them."""

    def __init__(self) -> None:
        self.done: set[int] = set()
        """Those that have been listed so far."""


_packing = _Packed()


class _Packing:
    """In a list of nodes that is pickled: from here on these are the nodes that come one after the other."""

    def __init__(self, ids: frozenset[int], most: int) -> None:
        self.ids = ids
        self.most = most

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        _packing.ids, _packing.most = self.ids, self.most
        return int, ()


def _packed_first(value: Value) -> list[object]:
    """Nodes below one that is pickled, the nearest ones, each after its inputs among them, between two marks.

    The farthest of them are pickled with others before these in turn: twice as many, so a chain of a million nodes
    waits for its first one through 17 of them. All nodes could be listed at once, but not for each in a list of them.
    """
    ids, most = _packing.ids, _packing.most
    if not ids:
        _packing.done = set()
    done = _packing.done
    near: dict[int, Value] = {}
    layer = [value]
    while layer and len(near) < most:
        below = {id(p): p for n in layer for p in n._prev if p._prev}
        layer = [p for key, p in below.items() if key not in near and key not in done]
        near.update((id(p), p) for p in layer)
    done |= near.keys()
    return [_Packing(frozenset(near), 2 * most), *_after_inputs(near), _Packing(ids, most)]


def _after_inputs(nodes: Mapping[int, Value]) -> list[Value]:
    """The same nodes, by their ids, each after its inputs among them."""
    placed: dict[int, Value] = {}
    stack = [*nodes.values()]
    while stack:
        top = stack[-1]
        missing = [p for p in top._prev if id(p) in nodes and id(p) not in placed]
        if missing:
            stack += missing
        else:
            placed[id(top)] = top
            stack.pop()
    return [*placed.values()]


def _unpacked(below: object, primitive: str, parents: tuple[Value, ...], *plain: Any) -> Value:
    """The node that was pickled; what stands below it has been made first."""
    made = node(PRIMITIVES[primitive], parents)
    for each, data in zip(_PLAIN, plain, strict=True):
        setattr(made, each, data)
    return made


# ---- sweeps over Values -------------------------------------------------------------------------------------------
def in_order(roots: Iterable[Value]) -> dict[Value, int]:
    """Every node that the roots are made from, each after its inputs, with its place in that order."""
    place: dict[Value, int] = {}
    stack = [*roots][::-1]
    while stack:
        top = stack[-1]
        if top in place:
            stack.pop()
            continue
        missing = [p for p in top._prev if p not in place]
        if missing:
            missing.reverse()
            stack += missing
        else:
            place[top] = len(place)
            stack.pop()
    return place


def values_of(tape: Tape, below: Sequence[int] | None = None, given: Mapping[int, Value] | None = None) -> list[Value]:
    """The nodes of a tape as Values: all, or those at the given places, each after its inputs.

    `given` are Values that stand in for nodes.
    """
    made: dict[int, Value] = {}
    for i in range(len(tape.primitives)) if below is None else below:
        if given and i in given:
            made[i] = given[i]
            continue
        value = node(tape.primitives[i], tuple([made[p] for p in tape.parents[i]]), tape.span(i))
        value.data = tape.data[i]
        value.active = tape.primitives[i] is not CONSTANT
        value.label = tape.labels.get(i, "")
        value.source = tape.constants[i][1] if i in tape.constants else None
        made[i] = value
    return list(made.values())


def tape_of(place: dict[Value, int]) -> Tape:
    """The graph as a tape, its nodes in the given order."""
    nodes = list(place)
    return Tape(
        [n.primitive for n in nodes], [tuple([place[p] for p in n._prev]) for n in nodes], [n.data for n in nodes]
    )


def located(
    fault: Fault, nodes: Sequence[Value], tape: Tape, below: dict[int, list[int]] | None = None
) -> ExpressionError:
    """The error that a fault on the tape is for the user: at its place in the text, with the inputs that led there.

    `below` remembers which inputs these are, for further points.
    """
    if isinstance(fault, Rough):
        return NotSmooth(fault.kind, fault.message, nodes[fault.node].span, fault.hint)
    leaves = None if below is None else below.get(fault.node)
    if leaves is None:
        leaves = _leaves_below(fault.node, tape, nodes)
        if below is not None:
            below[fault.node] = leaves
    names = {nodes[i].label: tape.data[i] for i in leaves}
    message, hint = fault.message, fault.hint
    if names:
        shown = ", ".join(f"{name} = {show(data)}" for name, data in list(names.items())[:5])
        message += f" (here {shown}{', …' if len(names) > 5 else ''})"
    if fault.kind == "derivative" and fault.position == 1 and tape.primitives[fault.node] is POW:
        held = {nodes[i].label for i in _leaves_below(tape.parents[fault.node][1], tape, nodes)}
        rest = [n.label for n in nodes if n.primitive is VARIABLE and n.active and n.label not in held]
        shown = ", ".join(f"`{name}`" for name in sorted(held))
        hint = f"hold {shown} fixed: `--wrt {','.join(rest)}`" if rest and held else "hold the exponent fixed"
    return ExpressionError(fault.kind, message, nodes[fault.node].span, hint)


def _leaves_below(start: int, tape: Tape, nodes: Sequence[Value]) -> list[int]:
    seen: set[int] = set()
    stack = [start]
    leaves: list[int] = []
    while stack:
        i = stack.pop()
        if i in seen:
            continue
        seen.add(i)
        if tape.primitives[i] is VARIABLE and nodes[i].label and tape.data[i] is not None:
            leaves.append(i)
        stack.extend(reversed(tape.parents[i]))
    return leaves


def evaluate(roots: Sequence[Value]) -> None:
    """Fill in `data` of the nodes that the roots need at the values of the leaves.

    Raises `ExpressionError` (`domain` or `overflow`), placed at the sub-expression.
    """
    place = in_order(roots)
    tape = tape_of(place)
    nodes = list(place)
    try:
        forward(tape, number_type(tape.data), [place[r] for r in roots])
    except Fault as fault:
        raise located(fault, nodes, tape) from None
    for n, data in zip(nodes, tape.data, strict=True):
        n.data = data


def differentiate(output: Value, seed: Number = 1.0) -> list[Diagnostic]:
    """Fill in `data` and `grad` of every node of the output's graph; return the warnings about kinks that were met.

    Nodes that depend on no active leaf, and those of a branch that was not taken, have grad None.
    """
    return first(_passed_back, _swept, output, seed)


def _passed_back(output: Value, seed: Number) -> list[Diagnostic] | None:
    """The same in place; None where that leaves it to the sweep."""
    return [] if type(seed) is float and backpropagate(output, seed) else None


def _swept(output: Value, seed: Number) -> list[Diagnostic]:
    """The same by the sweep over a tape."""
    place = in_order((output,))
    tape, nodes, root = tape_of(place), list(place), place[output]
    m = number_type(tape.data)
    try:
        order = forward(tape, m, (root,))
        active = activity(tape, m, order, [i for i, n in enumerate(nodes) if not n._prev and n.active])
        adjoints, kinks, order = reverse(tape, m, order, active, {root: seed})
    except Fault as fault:
        raise located(fault, nodes, tape) from None
    evaluated = [False] * len(nodes)
    for i in order:
        evaluated[i] = True
    for i, n in enumerate(nodes):
        if evaluated[i]:
            n.data = tape.data[i]
        adjoint = adjoints[i]
        # `+ 0.0` turns the -0.0 of a product into a plain zero.
        n.grad = (0.0 if active[i] else None) if adjoint is None else adjoint + 0.0
    return [kink_warning(nodes[i], [tape.data[p] for p in tape.parents[i]]) for i in kinks]


def kink_warning(at: Value, inputs: Sequence[Number]) -> Diagnostic:
    """The warning that a node has no derivative at its inputs, and what was taken instead."""
    primitive = at.primitive
    if primitive.gives_condition:
        return Diagnostic(
            "kink", f"`{primitive.written}` compares equal numbers, {show(inputs[0])}, here: the branches meet",
            at.span, "the derivative is that of the branch taken",
        )  # fmt: skip
    places = show(inputs[0]) if len(inputs) == 1 else "(" + ", ".join(map(show, inputs)) + ")"
    return Diagnostic(
        "kink", f"`{primitive.written}` has no derivative at {places}", at.span, f"convention: {primitive.convention}"
    )
