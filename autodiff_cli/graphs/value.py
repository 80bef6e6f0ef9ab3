"""Value: a number that remembers how it was computed, so that it can be differentiated."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn, ParamSpec, TypeVar

from ..errors import Diagnostic, ExpressionError, NotSmooth, Span
from ..numbers.base import Number, NumberType
from ..numbers.budget import BudgetExceeded
from ..numbers.floats import REAL
from ..run.backends import with_fallback
from ..run.doubles import adjoints
from ..run.reverse import Reverse, reverse
from ..run.sweep import Activity, Failure, Fault, Rough, activity, compute, forward, show, tangents
from ..run.tape import Tape
from ..table import primitives as primitives
from ..table.operators import ADD, CONSTANT, DIV, MUL, NEG, POW, SUB, VARIABLE
from ..table.primitive import BY_SYMBOL, FUNCTIONS, PRIMITIVES, Primitive

DerivativeRequest = ParamSpec("DerivativeRequest")
EvaluationResult = TypeVar("EvaluationResult")


class About(NamedTuple):
    """What is said of a node besides its numbers; of most there is nothing to say. `Value` has it as its own."""

    label: str = ""
    span: Span | None = None
    source: str | None = None
    active: bool = True


_NOTHING, _FIXED = About(), About(active=False)


class Value:
    """A node of the graph of a computation: a number, the operation that made it, and the operation's inputs.

    Arithmetic with Values and plain numbers makes new Values, evaluated at once. `backward()` on a result fills in
    `grad`, the derivative of the result, of every Value that it was made from.
    `==` says whether two are the same object; to compare numbers write `a.data == b.data`.

    >>> w = Value(2.0, label="w")
    >>> loss = (w - 5) ** 2
    >>> loss.backward()
    >>> loss, w
    (Value(data=9.0, grad=1.0), Value(data=2.0, grad=-6.0))
    """

    # Python's garbage collector walks through all objects again and again while a graph grows. So a node is only one,
    # without a tuple of its inputs beside it, and a small one: what there may be to say of it stands elsewhere.
    __slots__ = ("_about", "_first", "_second", "data", "grad", "primitive")

    data: Any
    """The value; None in a graph that has not been evaluated (there), a bool where the node is a condition."""
    grad: Any
    """The derivative of the output with respect to this node; None where it takes no part."""
    primitive: Primitive
    """The operation, a row of the table; `VARIABLE` or `CONSTANT` for a leaf."""
    _first: Any
    """The first of one or two inputs, or a tuple of more; None for a leaf."""
    _second: Any
    """The second of two inputs, else None."""
    _about: About

    def __init__(self, data: Number, _children: Sequence[Value] = (), _op: str = "", label: str = "") -> None:
        self.data = data if type(data) is float and data - data == 0.0 else _plain(data)
        self.grad = 0.0
        self.primitive = VARIABLE
        self._first = self._second = None
        self._about = About(label) if label else _NOTHING
        if _children or _op:
            self._prev = _inputs(_children, _op)
            self.primitive = BY_SYMBOL[_op]

    @property
    def _prev(self) -> tuple[Value, ...]:
        """The inputs of the operation, in order; `x*x` has `x` twice."""
        first, second = self._first, self._second
        if second is not None:
            return first, second
        return () if first is None else first if type(first) is tuple else (first,)

    @_prev.setter
    def _prev(self, inputs: Iterable[Value]) -> None:
        self._first, self._second = _kept(tuple(inputs))

    @property
    def children(self) -> tuple[Value, ...]:
        """The inputs of the operation, in order."""
        return self._prev

    @property
    def label(self) -> str:
        """The name that the user gave it, or the empty string."""
        return self._about.label

    @label.setter
    def label(self, label: str) -> None:
        self._about = self._about._replace(label=label)

    @property
    def span(self) -> Span | None:
        """The piece of text that it was built from."""
        return self._about.span

    @property
    def source(self) -> str | None:
        """Of a constant: the literal or the name it was read from, to be read again as another number type."""
        return self._about.source

    @property
    def active(self) -> bool:
        """Of a variable or a number: whether derivatives are taken with respect to it."""
        return self._about.active

    @active.setter
    def active(self, active: bool) -> None:
        self._about = self._about._replace(active=active)

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
            with_fallback(_passed_back, differentiate, self)
        except ExpressionError as error:
            raise _hinted(error) from None

    def __repr__(self) -> str:
        return f"Value(data={self.data}, grad={self.grad})"

    def __float__(self) -> NoReturn:
        """Not there: a function of Python's `math` would drop the derivative in silence."""
        raise TypeError(
            "a Value is no float, which would lose its derivative: take the functions of `autodiff_cli`, "
            "`autodiff_cli.sin(x)` for `math.sin(x)`, or `.data` for the number alone"
        )

    def __format__(self, spec: str) -> str:
        return format(self.data, spec) if spec else repr(self)

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.data, digits)

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
        if self._first is not None and id(self) not in _packing.ids:
            # What it is made from goes first, each after its inputs, so that no packing waits for a much deeper one.
            below = _packed_first(self)
        return _unpacked, (below, self.primitive.name, self._prev, *[getattr(self, each) for each in _FACTS])

    def __add__(self, other: Value | Number) -> Value:
        y = other if type(other) is Value else as_value(other)
        # What is an ordinary number is taken at once; all else, errors among it, is left to `apply`.
        if type(a := self.data) is type(b := y.data) is float and (out := a + b) - out == 0.0:
            return _result(ADD, self, y, out)
        return apply(ADD, self, y)

    def __radd__(self, other: Number) -> Value:
        return as_value(other) + self

    def __sub__(self, other: Value | Number) -> Value:
        y = other if type(other) is Value else as_value(other)
        if type(a := self.data) is type(b := y.data) is float and (out := a - b) - out == 0.0:
            return _result(SUB, self, y, out)
        return apply(SUB, self, y)

    def __rsub__(self, other: Number) -> Value:
        return as_value(other) - self

    def __mul__(self, other: Value | Number) -> Value:
        y = other if type(other) is Value else as_value(other)
        if type(a := self.data) is type(b := y.data) is float and (out := a * b) - out == 0.0:
            return _result(MUL, self, y, out)
        return apply(MUL, self, y)

    def __rmul__(self, other: Number) -> Value:
        return as_value(other) * self

    def __truediv__(self, other: Value | Number) -> Value:
        y = other if type(other) is Value else as_value(other)
        if type(a := self.data) is type(b := y.data) is float and b != 0.0 and (out := a / b) - out == 0.0:
            return _result(DIV, self, y, out)
        return apply(DIV, self, y)

    def __rtruediv__(self, other: Number) -> Value:
        return as_value(other) / self

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
_new = object.__new__


def _kept(inputs: Sequence[Value]) -> Sequence[Any]:
    """The inputs as a Value keeps them, `_first` and `_second`."""
    count = len(inputs)
    return inputs if count == 2 else (inputs[0], None) if count == 1 else (tuple(inputs) or None, None)


def node(primitive: Primitive, parents: Sequence[Value]) -> Value:
    """A node that is not evaluated yet."""
    made = _new(Value)
    made.data = None
    made.grad = None
    made.primitive = primitive
    made._first, made._second = _kept(parents)
    made._about = _NOTHING
    return made


def _result(primitive: Primitive, first: Any, second: Any, data: float) -> Value:
    """The node of an operation that has a finite value."""
    made = _new(Value)
    made.data = data
    made.grad = 0.0
    made.primitive = primitive
    made._first = first
    made._second = second
    made._about = _NOTHING
    return made


def constant(data: Number, source: str | None = None) -> Value:
    """A leaf that no derivative is taken with respect to."""
    made = node(CONSTANT, ())
    made.data = float(data) if isinstance(data, int) else data
    made._about = About(source=source, active=False) if source is not None else _FIXED
    return made


def variable(name: str) -> Value:
    """A leaf whose value the point will give."""
    made = node(VARIABLE, ())
    made._about = About(name)
    return made


def apply(primitive: Primitive, *operands: Value | Number) -> Value:
    """The Value of an operation on Values and plain numbers, evaluated at once if all its inputs are.

    Raises `ExpressionError` (`domain` or `overflow`) where it has no value.
    """
    inputs: list[Value] = []
    numbers: list[Number] = []
    for x in operands:
        value = x if type(x) is Value else as_value(x)
        inputs.append(value)
        if value.data is not None:
            numbers.append(value.data)
    if len(numbers) < len(inputs):
        return node(primitive, inputs)
    try:
        out = compute(REAL, primitive, numbers, 0)
    except Fault as fault:
        raise _hinted(ExpressionError(fault.kind, fault.message, None, fault.hint)) from None
    first, second = _kept(inputs)
    return _result(primitive, first, second, out)


def _hinted(error: ExpressionError) -> ExpressionError:
    """The error, so that a traceback shows its hint; here is no text that it could show a place in."""
    if error.hint is not None:
        error.add_note(f"  hint: {error.hint}")
    return error


def as_value(x: Value | Number) -> Value:
    """An operand as a node; a number is a constant. Raises TypeError or ValueError for what is no finite number."""
    if isinstance(x, Value):
        return x
    number = x if type(x) is float and x - x == 0.0 else as_float(x, "cannot compute with")
    made = _result(CONSTANT, None, None, number)
    made.grad = None
    made._about = _FIXED
    return made


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


# ---- copies -------------------------------------------------------------------------------------------------------
_FACTS = ("data", "grad", "_about")
"""What a node is besides its operation and its inputs."""


def _like(value: Value, parents: tuple[Value, ...]) -> Value:
    made = node(value.primitive, parents)
    for each in _FACTS:
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
        below = {id(p): p for n in layer for p in n._prev if p._first is not None}
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


def _unpacked(below: object, primitive: str, parents: tuple[Value, ...], *facts: Any) -> Value:
    """The node that was pickled; what stands below it has been made first."""
    made = node(PRIMITIVES[primitive], parents)
    for each, fact in zip(_FACTS, facts, strict=True):
        setattr(made, each, fact)
    return made


# ---- sweeps over Values -------------------------------------------------------------------------------------------
def in_order(roots: Iterable[Value]) -> dict[Value, int]:
    """Every node that the roots are made from, each after its inputs, with its place in that order."""
    place: dict[Value, int] = {}
    stack = [*roots][::-1]
    push, pop = stack.append, stack.pop
    while stack:
        top = stack[-1]
        first, second = top._first, top._second
        if second is not None:
            if first not in place:
                if first._first is not None:
                    if second not in place:
                        push(second)
                    push(first)
                    continue
                place[first] = len(place)
            if second not in place:
                if second._first is not None:
                    push(second)
                    continue
                place[second] = len(place)
        elif type(first) is tuple:
            missing = [p for p in first if p not in place]
            if missing:
                stack += missing[::-1]
                continue
        elif first is not None and first not in place:
            push(first)
            continue
        pop()
        if top not in place:
            place[top] = len(place)
    return place


def values_of(tape: Tape, below: Sequence[int] | None = None, given: Mapping[int, Value] | None = None) -> list[Value]:
    """The nodes of a tape as Values: all, or those at the given places, each after its inputs.

    `given` are Values that stand in for nodes.
    """
    made: dict[int, Value] = {}
    about = tape.about
    for i in range(len(tape.primitives)) if below is None else below:
        if given and i in given:
            made[i] = given[i]
            continue
        primitive = tape.primitives[i]
        if i not in about:
            source = tape.constants[i][1] if i in tape.constants else None
            about[i] = About(tape.labels.get(i, ""), tape.span(i), source, primitive is not CONSTANT)
        made[i] = value = node(primitive, [made[p] for p in tape.parents[i]])
        value.data, value._about = tape.data[i], about[i]
    return list(made.values())


def tape_of(place: dict[Value, int]) -> Tape:
    """The graph as a tape, its nodes in the given order."""
    nodes = list(place)
    return Tape(
        [n.primitive for n in nodes], [tuple([place[p] for p in n._prev]) for n in nodes], [n.data for n in nodes]
    )


def located(
    fault: Failure, nodes: Sequence[Value], tape: Tape, below: dict[int, list[int]] | None = None
) -> ExpressionError:
    """The error that a fault on the tape is for the user: at its place in the text, with the inputs that led there.

    `below` remembers which inputs these are, for further points.
    """
    if fault.node is None:
        assert isinstance(fault, BudgetExceeded)
        return fault
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
    error = BudgetExceeded if isinstance(fault, BudgetExceeded) else ExpressionError
    return error(fault.kind, message, nodes[fault.node].span, hint)


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


class Evaluation:
    """A graph evaluated at a point in some number type, on demand; derivatives are swept from it, backward or forward.

    Every question goes this way. Whatever has no value or no derivative is an `ExpressionError`, placed in the text.
    """

    def __init__(
        self, m: NumberType, nodes: Sequence[Value], tape: Tape, roots: Sequence[int],
        wanted: Mapping[str, int] = MappingProxyType({}), below: dict[int, list[int]] | None = None,
    ) -> None:  # fmt: skip
        self.m = m
        self.nodes = nodes
        """All of them, each after its inputs."""
        self.tape = tape
        """Its `data` are the nodes' values, None in a branch that was not taken."""
        self.roots = roots
        """The places of the outputs."""
        self.wanted = wanted
        """The places of the variables that are differentiated by, as far as the graph holds them."""
        self._below = below
        self.order: Sequence[int] = self.placed(forward, tape, m, roots)
        """The nodes that were evaluated, in the order in which they were."""

    def placed(
        self,
        sweep: Callable[DerivativeRequest, EvaluationResult],
        *args: DerivativeRequest.args,
        **options: DerivativeRequest.kwargs,
    ) -> EvaluationResult:
        """What a sweep over the tape finds; `below` is for `located`."""
        try:
            return sweep(*args, **options)
        except (Fault, BudgetExceeded) as fault:
            raise self.located(fault) from None

    def located(self, fault: Failure) -> ExpressionError:
        """The error that a fault on the tape is for the user."""
        return located(fault, self.nodes, self.tape, self._below)

    @property
    def values(self) -> list[Number]:
        """The outputs."""
        return [self.tape.data[root] for root in self.roots]

    @cached_property
    def active(self) -> Activity:
        """What depends on the wanted variables."""
        return self.activity(self.wanted.values())

    def activity(self, leaves: Iterable[int]) -> Activity:
        """What depends on some leaves."""
        return self.placed(activity, self.tape, self.m, self.order, leaves)

    def reverse(self, seeds: Mapping[int, Number], active: Activity | None = None) -> Reverse:
        """The adjoints of all nodes, from those of outputs."""
        return self.placed(reverse, self.tape, self.m, self.order, self.active if active is None else active, seeds)

    def tangents(
        self, seeds: dict[int, Number], active: Activity, roots: Iterable[int] | None = None,
        order: Sequence[int] | None = None,
    ) -> list[Number | None]:  # fmt: skip
        """The tangents of all nodes, from those of leaves; if there are `roots`, they alone need to have one."""
        return self.placed(tangents, self.tape, self.m, self.order if order is None else order, active, seeds, roots)

    def inputs(self, places: Iterable[int]) -> list[tuple[Value, list[Number]]]:
        """The nodes there, with their inputs."""
        return [(self.nodes[i], [self.tape.data[p] for p in self.tape.parents[i]]) for i in places]


def evaluate(roots: Sequence[Value]) -> None:
    """Fill in `data` of the nodes that the roots need at the values of the leaves.

    Raises `ExpressionError` (`domain` or `overflow`), placed at the sub-expression.
    """
    place = in_order(roots)
    found = Evaluation(REAL, list(place), tape_of(place), [place[r] for r in roots])
    for n, data in zip(found.nodes, found.tape.data, strict=True):
        n.data = data


def _passed_back(output: Value) -> list[Diagnostic] | None:
    """Fill in `grad` of an evaluated graph by the fast lane; None, or `backends.LEFT`, where it takes the sweep.

    The operations go to it as four columns: tuples would have Python's garbage collector walk through all of the graph.
    """
    place = in_order((output,))
    data = [n.data for n in place]
    if set(map(type, data)) != {float}:
        return None
    operations: list[Primitive] = []
    results: list[int] = []
    firsts: list[Any] = []
    seconds: list[int | None] = []
    constants: set[int] = set()
    inactive: set[int] = set()
    for n, i in place.items():
        first, second = n._first, n._second
        if first is None:
            if not n._about.active:
                inactive.add(i)
            if n.primitive is CONSTANT:
                constants.add(i)
            continue
        operations.append(n.primitive)
        results.append(i)
        firsts.append(place[first] if type(first) is not tuple else tuple([place[p] for p in first]))
        seconds.append(None if second is None else place[second])
        if inactive and all(place[p] in inactive for p in n._prev):
            inactive.add(i)
    backward = zip(reversed(operations), reversed(results), reversed(firsts), reversed(seconds), strict=True)
    grads = adjoints(backward, data, constants)
    if grads is None:
        return None
    for n, grad in zip(place, grads, strict=True):
        n.grad = grad
    if inactive:
        nodes = list(place)
        for i in inactive - {len(nodes) - 1}:
            nodes[i].grad = None
    return []


def differentiate(output: Value, nodes: Sequence[Value] = (), graph: Tape | None = None) -> list[Diagnostic]:
    """Fill in `data` and `grad` of every node of the output's graph; return the warnings about kinks that were met.

    Nodes that depend on no active leaf, and those of a branch that was not taken, have grad None. `nodes` are all of
    them, the output last, and `graph` is their tape, where somebody has them.
    """
    if graph is None:
        place = in_order((output,))
        nodes, tape = list(place), tape_of(place)
        for n in nodes:
            n.grad = 0.0
    else:
        tape = Tape(graph.primitives, graph.parents, [n.data for n in nodes])
    root = len(nodes) - 1
    found = Evaluation(REAL, nodes, tape, (root,))
    active = found.activity([i for i, n in enumerate(nodes) if not n._prev and n.active])
    adjoints, kinks, order = found.reverse({root: 1.0}, active)
    evaluated = [False] * len(nodes)
    for i in order:
        evaluated[i] = True
    for i, n in enumerate(nodes):
        if evaluated[i]:
            n.data = tape.data[i]
        adjoint = adjoints[i]
        # `+ 0.0` turns the -0.0 of a product into a plain zero.
        n.grad = (0.0 if active[i] else None) if adjoint is None else adjoint + 0.0
    return [kink_warning(*each) for each in found.inputs(kinks)]


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
