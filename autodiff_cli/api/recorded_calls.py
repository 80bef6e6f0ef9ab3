"""Functions that are recorded once: a recording takes the place of calls whose comparisons come out
as in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any, NamedTuple

from ..compiled.point_derivatives import (
    FirstDerivatives,
    Guard,
    PointDerivatives,
    SecondDerivatives,
)
from ..engine.graphs.own_operations import has_own_rules
from ..engine.graphs.tracing import RecordedComparison, Traced, inner_of
from ..engine.graphs.value import Value, as_value, in_order
from ..engine.table.operators import VARIABLE

# Recordings are kept for so many kinds of arguments: structures, shapes, whole numbers and texts.
MAX_KINDS = 64
# Recordings of one kind of arguments: ways through the branches of the function.
MAX_PATHS = 8

PLAIN = (int, float, bool, str, type(None))


class NotRecorded(Exception):
    """A call that has to be made: its arguments, or the operations of the function, cannot be
    recorded.
    """


class Leaf(NamedTuple):
    """One number, or the entries of an array of a shape."""

    shape: tuple[int, ...] | None = None


class Fixed(NamedTuple):
    """What a recording is made for."""

    kind: type
    value: Any


class Container(NamedTuple):
    """A list, tuple or dictionary of described parts."""

    kind: type
    keys: tuple[Any, ...]
    parts: tuple[Any, ...]


def _spec(x: Any, numbers: list[float], *, differentiated: bool) -> Any:
    """Return a hashable description of an argument, and add its numbers to a list."""
    spec = partial(_spec, numbers=numbers, differentiated=differentiated)
    if isinstance(x, Mapping):
        return Container(type(x), tuple(x), tuple([spec(entry) for entry in x.values()]))
    if isinstance(x, list | tuple):
        return Container(type(x), (), tuple([spec(entry) for entry in x]))
    if hasattr(x, "__array__") and getattr(x, "shape", ()) != ():
        return _spec_of_array(x, numbers, differentiated=differentiated)
    if isinstance(x, float) or (differentiated and type(x) is int):
        numbers.append(float(x))
        return Leaf()
    if differentiated or isinstance(x, Value):
        raise NotRecorded
    try:
        hash(x)
    except TypeError:
        raise NotRecorded from None
    return Fixed(type(x), x)


def _spec_of_array(x: Any, numbers: list[float], *, differentiated: bool) -> Any:
    import numpy as np

    array = np.asarray(x)
    if array.dtype.kind == "f" or (differentiated and array.dtype.kind in "iu"):
        numbers += array.astype(float).reshape(-1).tolist()
        return Leaf(array.shape)
    if array.dtype.kind not in "biuSU" or differentiated:
        raise NotRecorded
    return Fixed(np.ndarray, (array.dtype.str, array.shape, array.tobytes()))


def _filled(spec: Any, leaves: Iterator[Any]) -> Any:
    """Return the argument of a description, its numbers taken from `leaves`."""
    if isinstance(spec, Container):
        parts = [_filled(part, leaves) for part in spec.parts]
        if issubclass(spec.kind, Mapping):
            return dict(zip(spec.keys, parts, strict=True))
        if spec.kind is list:
            return parts
        return spec.kind(*parts) if hasattr(spec.kind, "_fields") else tuple(parts)
    if isinstance(spec, Leaf):
        if spec.shape is None:
            return next(leaves)
        import numpy as np

        array = np.empty(spec.shape, dtype=object)
        flat = array.reshape(-1)
        for k in range(flat.size):
            flat[k] = next(leaves)
        return array
    if isinstance(spec.value, tuple) and getattr(spec.kind, "__name__", "") == "ndarray":
        import numpy as np

        dtype, shape, content = spec.value
        return np.frombuffer(content, dtype=dtype).reshape(shape)
    return spec.value


def _called_with(function: Callable[..., Any], entries: Mapping[Any, Any]) -> Any:
    """Call a function with arguments by place and by name."""
    args = [entries[key] for key in sorted(key for key in entries if isinstance(key, int))]
    return function(*args, **{key: x for key, x in entries.items() if isinstance(key, str)})


def _guards_of(comparisons: Sequence[RecordedComparison]) -> list[Guard]:
    """Return the guards of comparisons, each once."""
    distinct = {(each.compare, *map(id, each.operands), each.truth): each for each in comparisons}
    return [
        Guard(partial(_comes_out, each.compare, each.truth), each.operands)
        for each in distinct.values()
    ]


class _RecordedPath(NamedTuple):
    """One way through the branches of a function."""

    derivatives: PointDerivatives
    outside: list[Value]
    """Values that the function has from elsewhere, whose numbers may change."""
    result: Any
    """The structure of the result, as `flatten` gives it."""


class RecordedAnswer(NamedTuple):
    """The numbers of an answer, and the structure of the function's result."""

    numbers: Any
    result: Any
    arguments: list[Any]
    """The descriptions of the chosen arguments."""


# Returns the numbers of a result, and its structure.
Flatten = Callable[[Any], tuple[list[Any], Any]]


class RecordedFunction:
    """A function with the recordings that were made of it."""

    def __init__(self, function: Callable[..., Any], flatten: Flatten) -> None:
        self.function, self.flatten = function, flatten
        self._kinds: dict[Any, list[_RecordedPath]] = {}
        code = getattr(function, "__code__", None)
        self._names = code.co_names if code is not None else ()

    def first(
        self, args: Sequence[Any], keywords: Mapping[str, Any], chosen: Sequence[Any]
    ) -> RecordedAnswer | None:
        """Return values and first derivatives by the `chosen` arguments; None if the call has to be
        made.
        """
        return self._answer(args, keywords, chosen, PointDerivatives.first)

    def second(
        self, args: Sequence[Any], keywords: Mapping[str, Any], chosen: Sequence[Any]
    ) -> RecordedAnswer | None:
        """Return value, gradient and Hessian by the `chosen` arguments; None if the call has to be
        made.
        """
        return self._answer(args, keywords, chosen, PointDerivatives.second)

    def _answer(
        self,
        args: Sequence[Any],
        keywords: Mapping[str, Any],
        chosen: Sequence[Any],
        compute: Callable[
            [PointDerivatives, Sequence[float]], FirstDerivatives | SecondDerivatives | None
        ],
    ) -> RecordedAnswer | None:
        wanted, others = list[float](), list[float]()
        entries: dict[Any, Any] = {**dict(enumerate(args)), **keywords}
        try:
            specs = {key: _spec(entries[key], wanted, differentiated=True) for key in chosen}
            rest = {
                key: _spec(x, others, differentiated=False)
                for key, x in entries.items()
                if key not in specs
            }
            if not all(map(isfinite, wanted)) or not all(map(isfinite, others)):
                return None
            kind = (*specs.items(), *rest.items(), *self._surroundings())
            paths = self._kinds.get(kind)
            if paths is None:
                if len(self._kinds) >= MAX_KINDS:
                    self._kinds.clear()
                paths = self._kinds[kind] = []
            for path in paths:
                numbers = compute(
                    path.derivatives, [*wanted, *others, *[leaf.data for leaf in path.outside]]
                )
                if numbers is not None:
                    return RecordedAnswer(numbers, path.result, [*specs.values()])
            path = self._record(specs, rest, wanted, others)
        except NotRecorded:
            return None
        if len(paths) >= MAX_PATHS:
            del paths[0]
        paths.append(path)
        numbers = compute(
            path.derivatives, [*wanted, *others, *[leaf.data for leaf in path.outside]]
        )
        return None if numbers is None else RecordedAnswer(numbers, path.result, [*specs.values()])

    def _record(
        self,
        chosen: Mapping[Any, Any],
        others: Mapping[Any, Any],
        wanted: Sequence[float],
        held: Sequence[float],
    ) -> _RecordedPath:
        comparisons: list[RecordedComparison] = []
        by, rest = [Value(x) for x in wanted], [Value(x) for x in held]
        leaves = iter([Traced(x, comparisons) for x in (*by, *rest)])
        entries = {key: _filled(spec, leaves) for key, spec in {**chosen, **others}.items()}
        found, structure = self.flatten(_called_with(self.function, entries))
        outputs = [as_value(inner_of(x)) for x in found]
        if not outputs:
            raise NotRecorded
        guards = _guards_of(comparisons)
        nodes = in_order([*outputs, *[node for guard in guards for node in guard.nodes]])
        if has_own_rules([*nodes]):
            raise NotRecorded
        own = {*by, *rest}
        outside = [node for node in nodes if node.primitive is VARIABLE and node not in own]
        return _RecordedPath(
            PointDerivatives(outputs, [*by, *rest, *outside], by, guards), outside, structure
        )

    def _surroundings(self) -> Iterator[Any]:
        """Yield the plain numbers and texts that the function reads from around it, which may
        change.
        """
        for cell in getattr(self.function, "__closure__", None) or ():
            try:
                content = cell.cell_contents
            except ValueError:
                continue
            yield (type(content), content) if type(content) in PLAIN else None
        space = getattr(self.function, "__globals__", {})
        for name in self._names:
            if type(content := space.get(name)) in PLAIN:
                yield type(content), content


def _comes_out(compare: Callable[[float, float], object], truth: bool, x: float, y: float) -> bool:
    return bool(compare(x, y)) is truth
