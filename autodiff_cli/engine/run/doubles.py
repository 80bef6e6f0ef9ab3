"""The fast lane: values and adjoints of a graph in doubles, on flat lists.

A step is `(operation, place, a, b)`: the index of the result, and those of the inputs. An error, an
infinite number, a kink or a comparison of equal operands raises or gives None; the caller then uses
the sweep, which has the messages. Results equal the sweep's to the last bit: same functions and
rules, same order.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from math import pow as power
from typing import Any

from ..numbers.floats import REAL
from ..table.operators import ADD, DIV, MUL, NEG, POW, SUB
from ..table.primitive import Primitive
from .flat_graph import Graph, Row, inputs
from .sweep import forward

# Copies `a` if a condition keeps its truth; `b` is its index and truth.
GUARDED_COPY = "guarded copy"

Step = tuple[Any, int, Any, Any]
Smooth = tuple[Callable[[float], float], Callable[..., float]]

# The maximum number of cached plans: paths through a program with branches.
MAX_PLANS = 8

_by_base = POW.partials[0]


@lru_cache(256)
def _is_plain(exponent: float) -> bool:
    # below 2**50, subtracting 1 and adding it again is exact
    return exponent - 1.0 + 1.0 == exponent and -1e15 < exponent < 1e15 and exponent != 0.0


class _Smooth(dict[Primitive, Smooth | None]):
    """Value and rule of each smooth unary function; else None."""

    def __missing__(self, primitive: Primitive) -> Smooth | None:
        rule = primitive.partials[0] if len(primitive.partials) == 1 else None
        smooth = rule is not None and not (primitive.may_kink or primitive.variadic)
        self[primitive] = pair = (
            (getattr(REAL, primitive.name), rule) if rule is not None and smooth else None
        )
        return pair


_smooth = _Smooth()


def evaluate(steps: Sequence[Step], data: list[Any]) -> bool:
    """Compute the steps; return False if the program takes another branch.

    Raises ValueError or ArithmeticError if one has no value or compares equal numbers.
    """
    smooth, mul, add, sub, div, raised, guarded = _smooth, MUL, ADD, SUB, DIV, POW, GUARDED_COPY
    for op, place, a, b in steps:
        if op is mul:
            data[place] = data[a] * data[b]
        elif op is add:
            data[place] = data[a] + data[b]
        elif op is raised:
            data[place] = power(data[a], data[b])
        elif b is None and (pair := smooth[op]) is not None:
            data[place] = pair[0](data[a])
        elif op is sub:
            data[place] = data[a] - data[b]
        elif op is div:
            data[place] = data[a] / data[b]
        elif op is guarded:
            condition, truth = b
            if data[condition] is not truth:
                return False
            data[place] = data[a]
        else:
            numbers = [data[p] for p in inputs(a, b)]
            if op.gives_condition and len(numbers) == 2 and numbers[0] == numbers[1]:
                raise ArithmeticError
            data[place] = getattr(REAL, op.name)(*numbers)
    return True


def adjoints(
    steps: Iterable[Step], data: list[Any], constants: Collection[int], output: int = -1
) -> list[float] | None:
    """Return the adjoints of all numbers, but for signs of zeros.

    The steps come last to first. Exponents that are numbers of the program, perhaps with a sign,
    are in `constants`. Returns None, or raises ValueError or ArithmeticError, if the sweeps are
    needed.
    """
    smooth, mul, add, sub, div, raised, guarded = _smooth, MUL, ADD, SUB, DIV, POW, GUARDED_COPY
    result = [0.0] * len(data)
    result[output] = 1.0
    for op, place, a, b in steps:
        adjoint = result[place]
        if op is mul:
            result[a] += adjoint * data[b]
            result[b] += adjoint * data[a]
        elif op is add:
            result[a] += adjoint
            result[b] += adjoint
        elif op is raised and b in constants:
            y = data[b]
            if y == 2.0:
                # a power of exponent 1 is exact
                result[a] += adjoint * (y * data[a])
            elif _is_plain(y):
                result[a] += adjoint * (y * power(data[a], y - 1.0))
            else:
                result[a] += adjoint * _by_base(REAL, data[a], y, data[place])  # type: ignore[misc]
        elif b is None and (pair := smooth[op]) is not None:
            result[a] += adjoint * pair[1](REAL, data[a], data[place])
        elif op is sub:
            result[a] += adjoint
            result[b] -= adjoint
        elif op is div:
            y = data[b]
            result[a] += adjoint * (1 / y)
            result[b] += adjoint * (-data[place] / y)
        elif op is guarded:
            result[a] += adjoint
        elif not op.gives_condition:
            places = inputs(a, b)
            numbers = [data[p] for p in places]
            if (op.kink and op.kink(*numbers)) or (op is raised and numbers[0] <= 0):
                return None
            if op.variadic and len(set(places)) < len(places):
                return None
            for p, partial in zip(places, op.slopes(REAL, numbers, data[place]), strict=True):
                if partial is not None:
                    result[p] += adjoint * partial
    # If a number is infinite or nan, so is the sum, and total - total is nan.
    total = sum(data) + sum(result)
    return result if total - total == 0.0 else None


class Doubles:
    """A program with one output, prepared for gradients at many points."""

    __slots__ = ("_constants", "_data", "_graph", "_plans")

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._data = graph.leaf_data(0.0)
        self._constants = {*graph.constants}
        for primitive, i, a, _ in graph.rows:
            if primitive is NEG and a in self._constants:
                self._constants.add(i)
        self._plans: list[Sequence[Step]] = [] if graph.has_lazy_inputs else [graph.rows]

    def gradient(
        self, leaves: Mapping[str, int], point: Mapping[str, float], *, differentiate: bool = True
    ) -> tuple[list[Any], list[float]] | None:
        """Return values and adjoints of all nodes, but for signs of zeros; no adjoints unless to
        `differentiate`.

        `leaves` are the indices of the variables by name, of which `point` has all. Returns None,
        or raises ValueError, ArithmeticError or `NodeError`, if the sweeps are needed.
        """
        graph = self._graph
        data = self._data.copy()
        for name, i in leaves.items():
            data[i] = point[name]
        for steps in self._plans:
            if evaluate(steps, data):
                break
        else:
            at_point = graph.with_leaves({i: point[name] for name, i in leaves.items()})
            order = forward(at_point, REAL, graph.roots)
            rows = {row[1]: row for row in graph.rows}
            steps = [_step(rows[i], at_point.data) for i in order if i in rows]
            if len(self._plans) >= MAX_PLANS:
                self._plans.clear()
            self._plans.insert(0, steps)
            if not evaluate(steps, data):
                return None
        if not differentiate:
            total = sum(data)
            return (data, []) if total - total == 0.0 else None
        grads = adjoints(reversed(steps), data, self._constants, graph.roots[0])
        return None if grads is None else (data, grads)


def _step(row: Row, data: Sequence[Any]) -> Step:
    primitive, i, a, b = row
    if not primitive.lazy_inputs:
        return row
    parts = inputs(a, b)
    truth = data[parts[0]]
    wanted = primitive.lazy_inputs(truth, *[None] * (len(parts) - 1))
    return GUARDED_COPY, i, parts[wanted[-1]] if wanted else parts[0], (parts[0], truth)
