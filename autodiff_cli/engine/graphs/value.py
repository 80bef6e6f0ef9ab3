"""Value: a number that records how it was computed, for differentiation."""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from operator import attrgetter, getitem
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn
from weakref import ref

from ...errors import ExpressionError, Span
from ..numbers.base import Number
from ..numbers.floats import REAL
from ..run.doubles import adjoints
from ..run.evaluation import LEFT, Evaluation, with_fallback
from ..run.flat_graph import Graph, Row
from ..run.flat_graph import inputs as inputs_of
from ..run.sweep import NodeError, compute
from ..table import primitives as primitives
from ..table.operators import ADD, CONSTANT, DIV, MUL, NEG, POW, SUB, VARIABLE
from ..table.primitive import BY_SYMBOL, FUNCTIONS, PRIMITIVES, Primitive


class About(NamedTuple):
    """Rare attributes of a node besides its numbers."""

    label: str = ""
    span: Span | None = None
    source: str | None = None
    active: bool = True
    rule: Callable[[], object] | None = None
    """What passes its derivative on to its inputs, in place of the rule of the table."""


# The `grad` of plain numbers, which own code of drawings can format as it does others.
NOT_COMPUTED = math.nan

_NOTHING, _FIXED = About(), About(active=False)


class _OwnRules:
    used = False
    """Whether any node has had a rule or an operation of its own: then graphs are searched for
    them.
    """


# Held while gradients are added to leaves, which threads may share.
_accumulating = threading.Lock()


def _function(name: str, doc: str) -> Callable[[Value], Value]:
    def method(self: Value) -> Value:
        return apply(FUNCTIONS[name], self)

    method.__name__, method.__qualname__, method.__doc__ = name, f"Value.{name}", doc
    return method


def _function_of_numpy(name: str, called: str) -> Callable[..., Value]:
    def method(self: Value, *others: Value | Number) -> Value:
        return apply(FUNCTIONS[called], self, *others)

    method.__name__, method.__qualname__ = name, f"Value.{name}"
    method.__doc__ = (
        f"`{called}` of this Value: what NumPy's `{name}` asks the entries of an array for."
    )
    return method


def is_array(x: object) -> bool:
    """Return whether this is an array, which takes its entries one by one; plain numbers are asked
    first.
    """
    is_shaped = type(x) is not float and type(x) is not int and bool(getattr(x, "shape", ()))
    return is_shaped and hasattr(x, "__array__")


def _reflect(operation: Callable[[Value, Value], Value]) -> Callable[[Value, Number], Value]:
    def method(self: Value, other: Number) -> Value:
        return operation(as_value(other), self)

    return method


def _comparison(
    compare: Callable[[Number, Number], object],
) -> Callable[[Value, Value | Number], bool]:
    def method(self: Value, other: Value | Number) -> bool:
        if is_array(other):
            return NotImplemented  # type: ignore[no-any-return]
        return bool(compare(self.data, other.data if isinstance(other, Value) else other))

    return method


class Value:
    """A node of a computation's graph: a number, the operation that made it, and its inputs.

    Arithmetic with Values and plain numbers makes new Values, evaluated at once. `backward()` on a
    result fills in `grad`, the derivative of the result, of every Value that it was made from.
    Values made from a plain number accumulate: the gradients of several results add up until
    `zero_grad()`, or `w.grad = 0.0`. `==` says whether two are the same object; to compare numbers
    write `a.data == b.data`. The numbers are doubles as computed, unchecked: `check(text, point)`
    counts the correct digits of a formula.

    >>> w = Value(2.0, label="w")
    >>> loss = (w - 5) ** 2
    >>> loss.backward()
    >>> loss, w
    (Value(data=9.0, grad=1.0), Value(data=2.0, grad=-6.0))
    """

    # Python's garbage collector walks through all objects while a graph grows. So a node is one
    # small object, without a tuple of its inputs, and rare attributes are elsewhere.
    __slots__ = ("_about", "_first", "_second", "data", "grad", "primitive")

    data: Any
    """The value; None if not evaluated, a bool for a condition."""
    grad: Any
    """The derivative of the output by this node, or None if it has no influence; nan for a plain
    number.
    """
    primitive: Primitive
    """The operation, a row of the table; `VARIABLE` or `CONSTANT` for a leaf."""
    _first: Any
    """The first of one or two inputs, a tuple of more, or None for a leaf."""
    _second: Any
    _about: About

    def __init__(
        self, data: Number, _children: Sequence[Value] = (), _op: str = "", label: str = ""
    ) -> None:
        plain = type(data) is float and data - data == 0.0
        self.data = data if plain else as_float(data, "a Value needs a number, not")
        self.grad = 0.0
        self.primitive = VARIABLE
        self._first = self._second = None
        self._about = About(label) if label else _NOTHING
        if _children or _op:
            self._prev = _inputs(_children, _op)
            self.primitive = BY_SYMBOL.get(_op) or _own_operation(_op)

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Have the operations of a subclass return nodes of it, so that its own can follow."""
        super().__init_subclass__(**keywords)
        for name in OPERATIONS:
            if name not in cls.__dict__:
                setattr(cls, name, _in_subclass(name))

    @property
    def _prev(self) -> tuple[Value, ...]:
        """Return the inputs in order; `x*x` has `x` twice."""
        first, second = self._first, self._second
        if second is not None:
            return first, second
        return () if first is None else first if type(first) is tuple else (first,)

    @_prev.setter
    def _prev(self, inputs: Iterable[Value]) -> None:
        self._first, self._second = _kept(tuple(inputs))

    @property
    def children(self) -> tuple[Value, ...]:
        """Return the inputs of the operation, in order."""
        return self._prev

    @property
    def label(self) -> str:
        """Return the name that the user gave it, or the empty string."""
        return self._about.label

    @label.setter
    def label(self, label: str) -> None:
        self._about = self._about._replace(label=label)

    @property
    def span(self) -> Span | None:
        """Return the span of text that it was built from."""
        return self._about.span

    @property
    def source(self) -> str | None:
        """Return the literal or name of a constant, for other number types."""
        return self._about.source

    @property
    def active(self) -> bool:
        """Return whether derivatives by this variable or number are computed."""
        return self._about.active

    @active.setter
    def active(self, active: bool) -> None:
        self._about = self._about._replace(active=active)

    @property
    def _op(self) -> str:
        """Return the operation's symbol, the empty string for a leaf."""
        return self.primitive.symbol if self._prev else ""

    @property
    def _backward(self) -> Callable[[], object]:
        """What adds the derivatives of this node's `grad` to those of its inputs; an own rule may
        be set.
        """
        return self._about.rule or self._pass_on

    @_backward.setter
    def _backward(self, rule: Callable[[], object]) -> None:
        if not callable(rule):
            raise TypeError(f"`_backward` is a function without arguments, not {rule!r}")
        _OwnRules.used = True
        self._about = self._about._replace(rule=rule)

    def _pass_on(self) -> None:
        if self._first is None or not self.grad:
            return
        if PRIMITIVES.get(self.primitive.name) is not self.primitive:
            hint = "set it where the operation is made: `out._backward = rule`"
            raise ExpressionError(
                "derivative", f"`{self._op}` has no rule for its derivative", None, hint
            )
        for p, slope in zip(self._prev, _local_derivatives(self), strict=True):
            if slope is not None and p.primitive is not CONSTANT:
                p.grad = (p.grad or 0.0) + self.grad * slope

    def backward(self) -> None:
        """Compute the derivative of this result by every node below, as its `grad`.

        Values made from a plain number accumulate: the derivative is added to the `grad` that they
        have, as in PyTorch, so that the gradients of several results add up until `zero_grad()`.
        Results of operations start from 0 in every call. Raises `ExpressionError` if a derivative
        is infinite, undefined or too large; nothing is added then.
        """
        place = in_order((self,))
        if _OwnRules.used:
            from .own_operations import has_own_rules, sweep  # most programs have none

            if has_own_rules(places := [*place]):
                sweep(places)
                return
        try:
            grads = with_fallback(_quick_grads, _swept_grads, place)
        except ExpressionError as error:
            raise _hint(error) from None
        with _accumulating:
            for n, grad in zip(place, grads, strict=True):
                # a leaf that has no influence on this result keeps what others gave it
                n.grad = n.grad + (grad or 0.0) if n._first is None and n.grad else grad

    def zero_grad(self) -> None:
        """Set `grad` of this Value, and of all that it was made from, to 0, before the next
        `backward()`.
        """
        for n in in_order([self]):
            n.grad = 0.0

    def item(self) -> Any:
        """Return the number alone, as arrays and tensors of one number do."""
        return self.data

    def conjugate(self) -> Value:
        """Return this Value, as it is real."""
        return self

    def __repr__(self) -> str:
        return f"Value(data={self.data}, grad={self.grad})"

    def __float__(self) -> NoReturn:
        """Raise TypeError: functions of `math` would silently drop derivatives."""
        raise TypeError(
            "a Value is not a float, which would lose its derivative: use the functions of"
            " `autodiff_cli`, `autodiff_cli.sin(x)` for `math.sin(x)`, or `.data` for the number"
            " alone"
        )

    def __format__(self, spec: str) -> str:
        return format(self.data, spec) if spec else repr(self)

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.data, digits)

    def __copy__(self) -> Value:
        return _copy(self._prev, self.primitive, self.data, self.grad, self._about)

    def __deepcopy__(self, memo: dict[int, Any]) -> Value:
        for n in _below(self, memo):
            memo[id(n)] = _copy(
                [memo[id(p)] for p in n._prev], n.primitive, n.data, n.grad, n._about
            )
        copied: Value = memo[id(self)]
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        if self._first is None:
            return _copy, ((), self.primitive, self.data, self.grad, self._about)
        if id(self) not in _packs.places:
            _pack = _Pack(self)  # kept alive until it is pickled
        pack, k = _packs.places[id(self)]
        return getitem, (pack(), k)

    def __add__(self, other: Value | Number) -> Value:
        y = other if type(other) is Value else _operand(other)
        # Fast path for finite results; the rest is done below, including errors and arrays.
        if type(a := self.data) is type(b := y.data) is float and (out := a + b) - out == 0.0:
            return _result(ADD, self, y, out)
        return _with_operand(ADD, self, y)

    def __sub__(self, other: Value | Number) -> Value:
        y = other if type(other) is Value else _operand(other)
        if type(a := self.data) is type(b := y.data) is float and (out := a - b) - out == 0.0:
            return _result(SUB, self, y, out)
        return _with_operand(SUB, self, y)

    def __mul__(self, other: Value | Number) -> Value:
        y = other if type(other) is Value else _operand(other)
        if type(a := self.data) is type(b := y.data) is float and (out := a * b) - out == 0.0:
            return _result(MUL, self, y, out)
        return _with_operand(MUL, self, y)

    def __truediv__(self, other: Value | Number) -> Value:
        y = other if type(other) is Value else _operand(other)
        if (
            type(a := self.data) is type(b := y.data) is float
            and b != 0.0
            and (out := a / b) - out == 0.0
        ):
            return _result(DIV, self, y, out)
        return _with_operand(DIV, self, y)

    def __pow__(self, other: Value | Number) -> Value:
        if is_array(other):
            return NotImplemented
        return apply(POW, self, other)

    def __rpow__(self, other: Number) -> Value:
        return apply(POW, other, self)

    def __neg__(self) -> Value:
        return apply(NEG, self)

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Value:
        return apply(FUNCTIONS["abs"], self)

    __radd__, __rsub__ = _reflect(__add__), _reflect(__sub__)
    __rmul__, __rtruediv__ = _reflect(__mul__), _reflect(__truediv__)
    __lt__, __le__ = _comparison(operator.lt), _comparison(operator.le)
    __gt__, __ge__ = _comparison(operator.gt), _comparison(operator.ge)

    tanh = _function("tanh", "The hyperbolic tangent of this Value.")
    relu = _function("relu", "This Value above 0, else 0.")
    sigmoid = _function("sigmoid", "The logistic function 1/(1 + exp(-x)) of this Value.")
    exp = _function("exp", "e to the power of this Value.")
    log = _function("log", "The natural logarithm of this Value.")
    sqrt = _function("sqrt", "The square root of this Value.")
    sin = _function("sin", "The sine of this Value, in radians.")
    cos = _function("cos", "The cosine of this Value, in radians.")


_INVERSES = "arccos arccosh arcsin arcsinh arctan arctan2 arctanh"
# Functions that NumPy asks the entries of an array for, by the names of methods, and the functions
# of the language.
NUMPY_FUNCTIONS = {
    **{name: name for name in f"{_INVERSES} abs cbrt cosh exp2 expm1 hypot log10 log1p log2 sinh tan".split()},
    "fabs": "abs", "deg2rad": "rad", "radians": "rad", "rad2deg": "deg", "degrees": "deg",
}  # fmt: skip

for _name, _called in NUMPY_FUNCTIONS.items():
    setattr(Value, _name, _function_of_numpy(_name, _called))

OPERATIONS = (
    *[
        "__add__",
        "__radd__",
        "__sub__",
        "__rsub__",
        "__mul__",
        "__rmul__",
        "__truediv__",
        "__rtruediv__",
        "__pow__",
        "__rpow__",
    ],
    *["__neg__", "__abs__"],
    *[name for name in vars(Value) if name in FUNCTIONS or name in NUMPY_FUNCTIONS],
)


def _in_subclass(name: str) -> Callable[..., object]:
    operation = getattr(Value, name)

    @wraps(operation)
    def method(self: Value, *inputs: Any) -> object:
        result = operation(self, *inputs)
        if type(result) is not Value:
            return result
        created = _new(type(self))
        for field in Value.__slots__:
            setattr(created, field, getattr(result, field))
        return created

    return method


def _inputs(children: Sequence[Value], op: str) -> tuple[Value, ...]:
    listed = tuple(children) if isinstance(children, Iterable) else (children,)
    for entry in listed:
        if not isinstance(entry, Value):
            raise TypeError(f"the inputs of an operation are Values, and {entry!r} is not one")
    if bool(listed) != bool(op):
        raise ValueError(f"no operation {op!r} has {len(listed)} inputs")
    return listed


def _own_operation(symbol: str) -> Primitive:
    from .own_operations import own_operation  # most programs have none

    _OwnRules.used = True
    return own_operation(symbol)


# ---- making nodes
_new = object.__new__


def _kept(inputs: Sequence[Value]) -> tuple[Any, Any]:
    if len(inputs) == 2:
        return inputs[0], inputs[1]
    return (inputs[0] if len(inputs) == 1 else tuple(inputs) or None), None


def node(primitive: Primitive, parents: Sequence[Value]) -> Value:
    """Return a node that is not evaluated yet."""
    created = _result(primitive, *_kept(parents), None)
    created.grad = None
    return created


def _result(primitive: Primitive, first: Any, second: Any, data: float | None) -> Value:
    created = _new(Value)
    created.data = data
    created.grad = 0.0
    created.primitive = primitive
    created._first = first
    created._second = second
    created._about = _NOTHING
    return created


def constant(data: Number, source: str | None = None) -> Value:
    """Return a leaf without derivatives."""
    created = node(CONSTANT, ())
    created.data = float(data) if isinstance(data, int) else data
    created._about = _FIXED if source is None else About(source=source, active=False)
    return created


def variable(name: str) -> Value:
    """Return a leaf whose value the point gives."""
    created = node(VARIABLE, ())
    created._about = About(name)
    return created


def apply(primitive: Primitive, *operands: Value | Number) -> Value:
    """Return an operation as a Value, evaluated at once if all inputs are.

    Raises `ExpressionError` (`domain` or `overflow`) if it has no value.
    """
    if len(operands) == 1 and type(x := operands[0]) is Value and x.data is not None:
        return _result(primitive, x, None, _computed(primitive, (x.data,)))
    inputs = [x if type(x) is Value else as_value(x) for x in operands]
    numbers = [x.data for x in inputs]
    if None in numbers:
        return node(primitive, inputs)
    first, second = _kept(inputs)
    return _result(primitive, first, second, _computed(primitive, numbers))


def _computed(primitive: Primitive, numbers: Sequence[Any]) -> Any:
    try:
        return compute(REAL, primitive, numbers, 0)
    except NodeError as fault:
        raise _hint(ExpressionError(fault.kind, fault.message, None, fault.hint)) from None


def _hint(error: ExpressionError) -> ExpressionError:
    if error.hint is not None:
        error.add_note(f"  hint: {error.hint}")
    return error


# What an array is beside a Value, as it takes its entries one by one: it has no number.
NO_OPERAND = Value.__new__(Value)
NO_OPERAND.data = None


def _operand(x: Number) -> Value:
    return NO_OPERAND if is_array(x) else as_value(x)


def _with_operand(primitive: Primitive, x: Value, y: Value) -> Value:
    return NotImplemented if y is NO_OPERAND else apply(primitive, x, y)


def as_value(x: Value | Number) -> Value:
    """Return an operand as a node. Raises TypeError or ValueError for no finite number."""
    if isinstance(x, Value):
        return x
    number = x if type(x) is float and x - x == 0.0 else as_float(x, "cannot compute with")
    created = _result(CONSTANT, None, None, number)
    created.grad = NOT_COMPUTED
    created._about = _FIXED
    return created


# Whole numbers to this one are doubles.
MAX_EXACT_INT = 2**53


def as_float(x: object, refusal: str) -> float:
    """Return one real number, such as a NumPy scalar, as a float.

    Raises TypeError for other objects, ValueError unless finite; messages start with `refusal`.
    """
    if type(x) is float and x - x == 0.0:
        return x
    if type(x) is int and -MAX_EXACT_INT <= x <= MAX_EXACT_INT:
        return float(x)
    if shape := getattr(x, "shape", ()):
        raise TypeError(
            f"{refusal} an array of shape {tuple(shape)}: go through its elements, "
            "or for many points write the function as code, `export(text, to='numpy')`"
        )
    try:
        # `float` reads texts and buffers of them as well, and NumPy has texts with `__float__`
        is_number = not isinstance(x, str | bytes) and (
            hasattr(x, "__float__") or hasattr(x, "__index__")
        )
        number = float(x if is_number else None)  # type: ignore[arg-type]
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        raise TypeError(f"{refusal} {x!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{refusal} {number}: it is not finite")
    return number


# ---- copies
def _copy(inputs: Sequence[Value], primitive: Primitive, *facts: Any) -> Value:
    created = node(primitive, inputs)
    created.data, created.grad, created._about = facts
    if created._about.rule is not None:
        from .own_operations import refuse_copy

        refuse_copy(created._about)
    return created


def _below(root: Value, done: Container[int]) -> Iterator[Value]:
    stack = [root]
    while stack:
        missing = [p for p in stack[-1]._prev if id(p) not in done]
        if missing:
            stack += missing
        elif id(top := stack.pop()) not in done:
            yield top


class _Packs(threading.local):
    def __init__(self) -> None:
        # By id of each node being pickled, its pack and index.
        self.places: dict[int, tuple[ref[_Pack], int]] = {}


_packs = _Packs()


class _Pack:
    """A pickled operation with the nodes below it, a row a node, at any depth."""

    def __init__(self, root: Value) -> None:
        self.places = _packs.places
        self.nodes: list[Value] = []
        self.here = ref(self)
        for n in _below(root, self.places):
            self.places[id(n)] = self.here, len(self.nodes)
            self.nodes.append(n)

    def __del__(self) -> None:
        for n in self.nodes:
            del self.places[id(n)]

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, ([n if n._first is None else self._row(n) for n in self.nodes],)

    def _row(self, n: Value) -> tuple[Any, ...]:
        places = [self.places[id(p)] for p in n._prev]
        inputs = [
            k if pack is self.here else p for p, (pack, k) in zip(n._prev, places, strict=True)
        ]
        return inputs, n.primitive, n.data, n.grad, n._about


def _unpickle(rows: Iterable[Any]) -> list[Value]:
    values: list[Value] = []
    for row in rows:
        if isinstance(row, Value):
            values.append(row)
        else:
            inputs, *facts = row
            values.append(_copy([values[p] if type(p) is int else p for p in inputs], *facts))
    return values


# ---- sweeps over Values
def in_order(roots: Iterable[Value]) -> dict[Value, int]:
    """Return the nodes below the roots in topological order, with indices."""
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


# What is differentiated: an output, or its graph.
Source = Value | Graph


def values_of(graph: Graph, replaced: Mapping[int, Value] = MappingProxyType({})) -> list[Value]:
    """Return a graph's nodes as Values with data and derivatives, some of them `replaced`."""
    values: list[Value] = []
    labels, constants, span_of = graph.labels, graph.constants, graph.span_of
    for i, primitive in enumerate(graph.primitives):
        value = replaced.get(i)
        if value is None:
            value = node(primitive, [values[p] for p in graph.parents[i]])
            value.data = graph.data[i]
            value.grad = graph.grads and graph.grads[i]
            source = constants[i][1] if i in constants else None
            value._about = About(
                labels.get(i, ""), span_of(graph.places[i]), source, primitive is not CONSTANT
            )
        values.append(value)
    return values


def graph_of(outputs: Value | Iterable[Value] | Graph) -> Graph:
    """Return the graph of some Values, which become its places."""
    if isinstance(outputs, Graph):
        return outputs
    roots = (outputs,) if isinstance(outputs, Value) else tuple(outputs)
    return graph_in(in_order(roots), roots)


def graph_in(place: Mapping[Value, int], roots: Iterable[Value]) -> Graph:
    """Return the graph of Values with these indices."""
    graph, labels = Graph(), dict[int, str]()
    graph.places, graph.data = [*place], [n.data for n in place]
    graph.rows.extend(_rows(place, place.items()))
    for n, i in place.items():
        if n._first is None and n.primitive is CONSTANT:
            graph.constants[i] = n.data, n._about.source
        if n._about is not _NOTHING and n._about.label:
            labels[i] = n._about.label
    graph.names, graph.roots = (labels, {}), tuple([place[root] for root in roots])
    graph.span_of = attrgetter("span")
    return graph


def _rows(place: Mapping[Value, int], nodes: Iterable[tuple[Value, int]]) -> Iterator[Row]:
    """Yield the rows of a graph for these nodes of it, which have indices, in their order.

    Where they are used one by one, the collector has no list of them to walk through.
    """
    for n, i in nodes:
        first, second = n._first, n._second
        if second is not None:
            yield n.primitive, i, place[first], place[second]
        elif type(first) is tuple:
            yield n.primitive, i, tuple([place[p] for p in first]), None
        elif first is not None:
            yield n.primitive, i, place[first], None


def _local_derivatives(n: Value) -> list[float | None]:
    """Return the derivatives of one operation by each input: None after the first of a repeated
    one, or if it has none.

    Kinks, structural zeros and errors are those of a sweep over this operation alone.
    """
    inputs = n._prev
    leaves = {
        p: p if p.primitive is CONSTANT else _result(VARIABLE, None, None, p.data) for p in inputs
    }
    place = in_order((_result(n.primitive, *_kept([leaves[p] for p in inputs]), n.data),))
    try:
        grads = with_fallback(_quick_grads, _swept_grads, place)
    except ExpressionError as error:
        raise _hint(error) from None
    slopes = dict(zip(place, grads, strict=True))
    return [slopes.pop(leaves[p], None) for p in inputs]


def gradient_by(output: Value, leaves: Sequence[Value]) -> list[float] | None:
    """Return the derivatives of an evaluated result by some leaves; None if its graph has to be
    swept.

    No `grad` is read or changed.
    """
    place = in_order((output,))
    if _OwnRules.used:
        from .own_operations import has_own_rules  # most programs have none

        if has_own_rules([*place]):
            return None
    try:
        grads = _adjoints(place)
    except LEFT:
        return None
    # `+ 0.0` turns -0.0 into 0.0
    return grads and [grads[place[leaf]] + 0.0 if leaf in place else 0.0 for leaf in leaves]


def _adjoints(place: dict[Value, int]) -> list[float] | None:
    """Return the adjoints of all nodes by the fast lane, conditions and numbers without derivatives
    among them.
    """
    data = [n.data for n in place]
    if set(map(type, data)) != {float}:
        return None
    constants = {i for n, i in place.items() if n.primitive is CONSTANT}
    return adjoints(_rows(place, reversed(place.items())), data, constants)


def _quick_grads(place: dict[Value, int]) -> list[float | None] | None:
    grads: list[Any] | None = _adjoints(place)
    leaves = [n for n in place if n._first is None]
    inactive = {place[n] for n in leaves if not n._about.active}
    if grads is None or not inactive:
        return grads
    constants = {place[n] for n in leaves if n.primitive is CONSTANT}
    for _, i, a, b in _rows(place, place.items()):
        if (type(a) is tuple or a in inactive) and inactive.issuperset(inputs_of(a, b)):
            inactive.add(i)
    for i in inactive - {len(grads) - 1}:
        grads[i] = NOT_COMPUTED if i in constants else None
    return grads


def _swept_grads(place: dict[Value, int]) -> list[float | None]:
    graph = graph_in(place, (next(reversed(place)),))
    nodes: list[Value] = graph.places
    for n in nodes:
        if n._first is not None:
            n.grad = 0.0
    leaves = [i for i, n in enumerate(nodes) if n._first is None and n.active]
    at = Evaluation(REAL, graph, {nodes[i].label: i for i in leaves if nodes[i].label})
    at.active = at.activity(leaves)
    at.differentiate()
    for i in at.order:
        nodes[i].data = graph.data[i]
    grads = at.grads()
    for i in graph.constants:
        grads[i] = NOT_COMPUTED if grads[i] is None else grads[i]
    return grads
