"""Derivatives of Python functions on Values and arrays of them, as JAX has them: `grad(f)` is a
function again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any

from ...engine.graphs.higher_order import hessian_in
from ...engine.graphs.own_operations import has_own_rules
from ...engine.graphs.value import Value, as_float, as_value, gradient_by, graph_of, in_order
from ...engine.numbers.floats import REAL
from ...engine.run.evaluation import Evaluation
from ...engine.run.flat_graph import Graph
from ...engine.table.operators import VARIABLE
from ...errors import plural
from .structures import ArrayShape, Structure, flatten, unflatten

Argnums = int | Sequence[int] | str | Sequence[str]


# ---- functions and calls of them
def _function(f: Any) -> tuple[Callable[..., Any], tuple[str, ...] | None]:
    """Return a function on Values, and the names of its variables if it is a text."""
    if isinstance(f, str):
        from .parse_function import parse

        program = parse(f)
        names = program.parameters

        def called(*args: Any, **values: Any) -> Any:
            return program(**dict(zip(names, args, strict=False)), **values)

        called.__name__ = called.__qualname__ = "program"
        called.__doc__ = f"The program {f}."
        return called, names
    if not callable(f):
        raise TypeError(f"a function or the text of a program is differentiated, not {f!r}")
    return f, None


# The variables of the transformations in whose functions a call is made.
_traced: ContextVar[frozenset[Value]] = ContextVar("traced", default=frozenset())


class _TracedCall:
    """A call of a function with Values in place of the numbers that it is differentiated by."""

    def __init__(
        self,
        f: Callable[..., Any],
        names: tuple[str, ...] | None,
        argnums: Any,
        args: Any,
        keywords: Any,
        name: str,
    ) -> None:
        args, keywords = list(args), dict(keywords)
        self.chosen, self.single = _places(f, names, argnums, args, keywords)
        self.numbers: list[Any] = []
        self.structures = [
            flatten(_entry(args, keywords, k), f"{name}: an argument cannot be", self.numbers)
            for k in self.chosen
        ]
        self.is_nested = any(isinstance(x, Value) for x in self.numbers)
        # of a Value a node of its own, of which the derivative is a function
        self.leaves = [x * 1.0 if isinstance(x, Value) else Value(x) for x in self.numbers]
        given = iter(self.leaves)
        for k, structure in zip(self.chosen, self.structures, strict=True):
            entry = unflatten(structure, given, numeric=False)
            if isinstance(k, str):
                keywords[k] = entry
            else:
                args[k] = entry
        self.outer = _traced.get()
        token = _traced.set(self.outer.union(self.leaves))
        try:
            self.result = f(*args, **keywords)
        finally:
            _traced.reset(token)

    def is_differentiated_again(self, outputs: Sequence[Value]) -> bool:
        """Return whether an outer transformation differentiates the results, by these or by other
        variables.
        """
        return self.is_nested or (bool(self.outer) and not self.outer.isdisjoint(in_order(outputs)))

    def of_inputs(self, entries: Sequence[Any]) -> Any:
        """Return one entry an input in the structure of the arguments."""
        return _by_input(self.structures, self.chosen, self.single, entries)


def _by_input(
    structures: Sequence[Structure], chosen: Sequence[Any], single: bool, entries: Sequence[Any]
) -> Any:
    rest = iter(entries)
    parts = [unflatten(structure, rest, numeric=True) for structure in structures]
    if single:
        return parts[0]
    return dict(zip(chosen, parts, strict=True)) if isinstance(chosen[0], str) else tuple(parts)


class _Recorded:
    """A function that is recorded, and its answers in the structures of arguments and results."""

    def __init__(self, function: Callable[..., Any], argnums: Any, name: str) -> None:
        # what compiles is imported where it is asked for
        from ...api.recorded_calls import RecordedFunction

        self.function, self.argnums = function, argnums
        self.recorded = RecordedFunction(
            function, _flat_results if name == "jacobian" else partial(_one_result, name)
        )

    def first(self, args: Any, keywords: Any) -> tuple[Any, list[Any], Any] | None:
        """Return the values, the gradient of each in the structure of the arguments, and the
        results' structure.
        """
        chosen, single = _places(self.function, None, self.argnums, list(args), keywords)
        answer = None if _traced.get() else self.recorded.first(args, keywords, chosen)
        if answer is None:
            return None
        structures = [_structure_of(spec) for spec in answer.arguments]
        rows = [_by_input(structures, chosen, single, row) for row in answer.numbers.rows]
        return answer.numbers.values, rows, answer.result

    def second(self, args: Any, keywords: Any) -> tuple[Any] | None:
        """Return the Hessian in the structures of the arguments."""
        chosen, single = _places(self.function, None, self.argnums, list(args), keywords)
        answer = None if _traced.get() else self.recorded.second(args, keywords, chosen)
        if answer is None:
            return None
        structures = [_structure_of(spec) for spec in answer.arguments]
        rows = [_by_input(structures, chosen, single, row) for row in answer.numbers.hessian]
        return (_by_input(structures, chosen, single, rows),)


def _one_result(name: str, result: Any) -> tuple[list[Any], Structure]:
    return [_scalar(result, name)], None


def _flat_results(result: Any) -> tuple[list[Any], Structure]:
    outputs: list[Any] = []
    structure = flatten(result, "jacobian: a result cannot be", outputs)
    return outputs, structure


def _structure_of(spec: Any) -> Structure:
    """Return the structure of a described argument."""
    if not hasattr(spec, "parts"):
        return None if spec.shape is None else ArrayShape(spec.shape)
    parts = [_structure_of(part) for part in spec.parts]
    if issubclass(spec.kind, Mapping):
        return dict(zip(spec.keys, parts, strict=True))
    if spec.kind is list:
        return parts
    return spec.kind(*parts) if hasattr(spec.kind, "_fields") else tuple(parts)


def _recorded(
    function: Callable[..., Any], names: tuple[str, ...] | None, argnums: Any, name: str, jit: bool
) -> _Recorded | None:
    # a text has no branches of Python: `parse` compiles it
    return _Recorded(function, argnums, name) if jit and names is None else None


def _entry(args: list[Any], keywords: dict[str, Any], k: int | str) -> Any:
    return keywords[k] if isinstance(k, str) else args[k]


def _places(
    f: Callable[..., Any],
    names: tuple[str, ...] | None,
    argnums: Any,
    args: list[Any],
    keywords: dict[str, Any],
) -> tuple[list[Any], bool]:
    """Return the positions or keywords to differentiate by, and whether they are one."""
    if argnums is None and names is not None and not args:
        missing = [name for name in names if name not in keywords]
        if missing:
            raise TypeError(f"`{missing[0]}` has no value")
        return list(names), len(names) == 1
    asked: Any = 0 if argnums is None else argnums
    single = isinstance(asked, int | str)
    places: list[Any] = []
    for k in [asked] if single else list(asked):
        if isinstance(k, str):
            if k not in keywords:
                raise TypeError(f"argnums names `{k}`, and the call has no such keyword")
            places.append(k)
            continue
        place = k + len(args) if k < 0 else k
        if not 0 <= place < len(args):
            called = plural(len(args), "positional argument")
            raise TypeError(
                f"argnums is {k}, and the call has {called}: derivatives are by positional"
                " arguments"
            )
        places.append(place)
    if not places:
        raise TypeError("argnums is empty: there is nothing to differentiate by")
    return places, single


def _scalar(result: Any, name: str) -> Value:
    if (
        not isinstance(result, Value)
        and getattr(result, "shape", None) == ()
        and hasattr(result, "item")
    ):
        result = result.item()
    if isinstance(result, Value):
        return result
    try:
        return as_value(as_float(result, name))
    except TypeError:
        advice = "`jacobian` differentiates functions with several results"
        raise TypeError(
            f"{name} is of a function whose result is one number, not {result!r}: {advice}"
        ) from None


# ---- sweeps
def _named_leaves(
    graph: Graph, leaves: Sequence[Value]
) -> tuple[Graph, dict[str, float], list[str]]:
    """Return the graph with a name of its own for every variable, their values, and the names of
    the leaves.
    """
    place = {node: i for i, node in enumerate(graph.places)}
    labels = {i: f"v{i}" for i, primitive in enumerate(graph.primitives) if primitive is VARIABLE}
    wanted = [f"input {k + 1}" for k in range(len(leaves))]
    labels |= {
        place[leaf]: name for name, leaf in zip(wanted, leaves, strict=True) if leaf in place
    }
    values = {label: float(graph.data[i]) for i, label in labels.items()}
    values |= {
        name: leaf.data for name, leaf in zip(wanted, leaves, strict=True) if name not in values
    }
    return graph.replace(names=(labels, {}), rows=graph.rows), values, wanted


def _gradient(output: Value, call: _TracedCall) -> list[Any]:
    if call.is_differentiated_again([output]):
        return _symbolic_gradient(output, call.leaves)
    quick = gradient_by(output, call.leaves)
    if quick is not None:
        return quick
    graph = graph_of(output)
    if has_own_rules(graph.places):
        return _gradient_by_rules(output, graph, call.leaves)
    return _swept_rows(graph, call.leaves)[0]


def _rows(outputs: Sequence[Value], leaves: Sequence[Value]) -> list[list[float]]:
    quick: list[list[float]] = []
    for output in outputs:
        row = gradient_by(output, leaves)
        if row is None:
            return _swept_rows(graph_of(outputs), leaves)
        quick.append(row)
    return quick


def _swept_rows(graph: Graph, leaves: Sequence[Value]) -> list[list[float]]:
    if has_own_rules(graph.places):
        raise TypeError(
            "an operation with a rule of its own has first derivatives of one result only"
        )
    from ...engine.graphs.value_and_gradient import evaluate_in

    at: Evaluation = evaluate_in(REAL, *_named_leaves(graph, leaves))
    rows, _ = at.jacobian()
    return [[float(x) + 0.0 for x in row] for row in rows]


def _gradient_by_rules(output: Value, graph: Graph, leaves: Sequence[Value]) -> list[float]:
    own = set(leaves)
    others = [(n, n.grad) for n in graph.places if n not in own]
    for leaf in leaves:
        leaf.grad = 0.0
    try:
        output.backward()
    finally:
        for n, grad in others:
            n.grad = grad
    return [leaf.grad or 0.0 for leaf in leaves]


def _symbolic_gradient(output: Value, leaves: Sequence[Value]) -> list[Value]:
    """Return the derivatives as Values, by a sweep whose numbers are Values."""
    from ...engine.algebra.symbolic import AT_POINT  # only derivatives of derivatives need it

    graph = graph_of(output)
    nodes: list[Value] = graph.places
    if has_own_rules(nodes):
        raise TypeError("an operation with a rule of its own has first derivatives only")
    inputs = set(leaves)
    depends = dict.fromkeys(leaves, True)
    for n in nodes:
        if n not in depends:
            depends[n] = any(depends[p] for p in n._prev)
    adjoints: dict[Value, Value] = {output: as_value(1.0)}
    for n in reversed(nodes):
        if n not in adjoints or not depends[n] or n in inputs:
            continue
        slopes = n.primitive.slopes(AT_POINT, n._prev, n, [depends[p] for p in n._prev])
        for p, slope in zip(n._prev, slopes, strict=True):
            if slope is not None and depends[p]:
                part = adjoints[n] * slope
                adjoints[p] = adjoints[p] + part if p in adjoints else part
    zero = as_value(0.0)
    return [adjoints.get(leaf, zero) for leaf in leaves]


# ---- the transformations
def value_and_grad(
    f: Callable[..., Any] | str,
    argnums: Argnums | None = None,
    has_aux: bool = False,
    jit: bool = False,
) -> Any:
    """Return a function that returns the value of `f` and its gradient.

    It takes the arguments of `f` and differentiates by those in `argnums`, the first by default:
    numbers, arrays, and lists, tuples and dictionaries of these; the gradient has the same
    structure. With `has_aux` the function returns a pair, the second of which is passed through.

    With `jit` the function is recorded once and compiled. A recording takes the place of a call
    where the comparisons that the function made come out as they did, and arguments have the same
    structure and the same whole numbers and texts; another call is recorded anew. Numbers and texts
    in its closure and among its globals may change, and so may Values; all else that it reads has
    to stay as it is, and it cannot read `data`.

    >>> value_and_grad(lambda w, x: (w[0]*x + w[1])**2)([2.0, 1.0], 3.0)
    (49.0, [42.0, 14.0])
    """
    function, names = _function(f)
    if jit and has_aux:
        raise TypeError("`jit` compiles the derivatives of one result: leave `has_aux` out")
    recorded = _recorded(function, names, argnums, "grad", jit)

    @wraps(function)
    def differentiated(*args: Any, **keywords: Any) -> Any:
        if recorded is not None and (quick := recorded.first(args, keywords)) is not None:
            return quick[0][0], quick[1][0]
        call = _TracedCall(function, names, argnums, args, keywords, "grad")
        result, aux = call.result if has_aux else (call.result, None)
        output = _scalar(result, "grad")
        slopes = call.of_inputs(_gradient(output, call))
        value = output if call.is_differentiated_again([output]) else output.data
        return ((value, aux), slopes) if has_aux else (value, slopes)

    return differentiated


def grad(
    f: Callable[..., Any] | str,
    argnums: Argnums | None = None,
    has_aux: bool = False,
    jit: bool = False,
) -> Any:
    """Return the gradient of `f` as a function of the same arguments, in the structure of those in
    `argnums`.

    `f` is a Python function on `Value`s and arrays of them, or the text of a program, whose
    variables are keywords. With `jit` it is recorded once and compiled, as `value_and_grad` says.

    >>> from autodiff_cli import sin
    >>> grad(lambda x: x**2 + sin(x))(0.0), grad(grad(lambda x: x**3))(2.0)
    (1.0, 12.0)
    >>> grad("x**2")(x=3), grad("x*y")(x=3, y=2)
    (6.0, {'x': 2.0, 'y': 3.0})
    """
    both = value_and_grad(f, argnums, has_aux, jit)

    @wraps(both)
    def differentiated(*args: Any, **keywords: Any) -> Any:
        value, slopes = both(*args, **keywords)
        return (slopes, value[1]) if has_aux else slopes

    return differentiated


def hessian(f: Callable[..., Any], argnums: Argnums | None = None, jit: bool = False) -> Any:
    """Return the Hessian of a function whose result is one number, as a function of the same
    arguments.

    For an array it has its shape twice; for other structures it is one structure within another.
    """
    function, names = _function(f)
    recorded = _recorded(function, names, argnums, "hessian", jit)

    @wraps(function)
    def differentiated(*args: Any, **keywords: Any) -> Any:
        if recorded is not None and (quick := recorded.second(args, keywords)) is not None:
            return quick[0]
        call = _TracedCall(function, names, argnums, args, keywords, "hessian")
        output = _scalar(call.result, "hessian")
        if call.is_differentiated_again([output]):
            raise TypeError(
                "the Hessian is not differentiated again: `grad(grad(grad(f)))` has third"
                " derivatives"
            )
        graph = graph_of(output)
        if has_own_rules(graph.places):
            raise TypeError("an operation with a rule of its own has first derivatives only")
        graph, values, wanted = _named_leaves(graph, call.leaves)
        rows = hessian_in(REAL, graph, values, wanted).hessian
        return call.of_inputs([call.of_inputs([float(x) + 0.0 for x in row]) for row in rows])

    return differentiated


def jacobian(f: Callable[..., Any], argnums: Argnums | None = None, jit: bool = False) -> Any:
    """Return the derivatives of all results of a function, in the structure of the results, as one
    of its arguments.
    """
    function, names = _function(f)
    recorded = _recorded(function, names, argnums, "jacobian", jit)

    @wraps(function)
    def differentiated(*args: Any, **keywords: Any) -> Any:
        if recorded is not None and (quick := recorded.first(args, keywords)) is not None:
            return unflatten(quick[2], iter(quick[1]), numeric=True)
        call = _TracedCall(function, names, argnums, args, keywords, "jacobian")
        outputs: list[Any] = []
        structure = flatten(call.result, "jacobian: a result cannot be", outputs)
        roots = [as_value(x) for x in outputs]
        if call.is_differentiated_again(roots):
            rows: list[list[Any]] = [_symbolic_gradient(root, call.leaves) for root in roots]
        elif len(roots) == 1:
            rows = [_gradient(roots[0], call)]
        else:
            rows = _rows(roots, call.leaves) if roots else []
        return unflatten(structure, iter([call.of_inputs(row) for row in rows]), numeric=True)

    return differentiated
