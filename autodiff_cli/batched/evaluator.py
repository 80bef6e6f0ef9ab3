"""The generated evaluator: one program compiled for many evaluations, as `descend`, `plot` and data files need it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import compress
from math import isfinite
from operator import itemgetter
from typing import Any, NamedTuple

from ..errors import Diagnostic, ExpressionError, Span
from ..graphs.adjoint import Recording, record_gradient, record_values
from ..graphs.value import Value, graph_in, in_order
from ..inputs.problem import single_output
from ..language.builder import Program
from ..numbers import budget as work
from ..numbers.budget import BudgetExceeded
from ..numbers.floats import REAL
from ..run.backends import with_fallback
from ..run.evaluation import Evaluation, located
from ..run.sweep import undefined
from ..targets.internal import Internal

Compiled = Callable[[Sequence[float]], tuple[Any, list[float]] | None]

MOST_REFUSALS = 1_000
"""Messages that are remembered."""

STEPS_A_CALL = 1
STEPS = {"": 0.1, "gamma": 10.0}
"""Steps of work for a node, by the family of its function (1 for those that are not listed): measured."""

STEPS_SLOWLY = 15
"""Further steps of an evaluation by the sweeps: measured."""

TOGETHER = 1_000
"""Points that are asked about together: a column of them for each node is held."""


_Key = tuple[int, bool, object]
_NONE: _Key = -1, False, None
"""The key of what has been said already."""


class _Refusals:
    """The evaluation of a graph operation by operation, and what was said of those that have no value."""

    def __init__(self, output: Value, leaves: Sequence[Value], wanted: Sequence[str]) -> None:
        self.wanted = wanted
        place = in_order((output,))
        self.graph = graph = graph_in(place, (output,))
        graph.data = graph.leaf_data()
        self.leaves = [place.get(leaf) for leaf in leaves]
        self.by = {leaf.label: place[leaf] for leaf in leaves if leaf.label in wanted and leaf in place}
        self.steps = [
            (i, getattr(REAL, primitive.name), _taken(parents))
            for i, (primitive, parents) in enumerate(zip(graph.primitives, graph.parents, strict=True))
            if parents and not graph.chooses
        ]
        """The operations, in order, with what takes their inputs, where all of them are needed at every point."""
        self.refusals: dict[_Key, _Refused | None] = {}
        """What was said of operations without a value; None where it is not the same for all numbers."""

    def refused(self, i: int, data: list[Any], error: Exception) -> Any:
        """What there is to say of an operation that has no value: made once, and then only filled in."""
        inputs = [data[p] for p in self.graph.parents[i]]
        key = self.key(i, inputs, error)
        known = self.refusals.get(key)
        if known is not None:
            # a zero has no sign
            return known.filled(tuple([0.0 + data[p] for p in known.places]))
        told = self.told(i, data, inputs, error)
        if key not in self.refusals and len(self.refusals) < MOST_REFUSALS:
            plain = all(type(x) is float for x in inputs)
            self.refusals[key] = self.template(i, data, error) if plain else None
        return told

    def key(self, i: int, inputs: Sequence[Any], error: Exception) -> _Key:
        """What the words about an operation without a value hang on."""
        domain_message = self.graph.primitives[i].domain_message
        return i, isinstance(error, OverflowError), domain_message(*inputs) if domain_message else None

    def refusals_at(self, columns: Sequence[Sequence[float]]) -> Iterator[tuple[int, ExpressionError]]:
        """The points where an operation has no value, with what there is to say of it: a column each variable."""
        points: Sequence[int] = range(len(columns[0]))
        data: list[Any] = [None if x is None else [x] * len(points) for x in self.graph.data]
        for place, column in zip(self.leaves, columns, strict=True):
            if place is not None:
                data[place] = column
        for i, function, taken in self.steps:
            inputs = taken(data)
            with suppress(ValueError, ArithmeticError, BudgetExceeded):
                out = list(map(function, *inputs))
                if all(map(isfinite, out)):
                    data[i] = out
                    continue
            # some have no value: which, and the others go on
            data[i] = out = []
            bad: dict[_Key, list[int]] = {}
            for k, numbers in enumerate(zip(*inputs, strict=True)):
                x = None
                try:
                    x = function(*numbers)
                    if not isfinite(x):
                        raise OverflowError
                except BudgetExceeded:
                    return
                except (ValueError, ArithmeticError) as error:
                    key = self.key(i, numbers, error)
                    if self.refusals.get(key) is None:
                        whole = [None if column is None else column[k] for p, column in enumerate(data) if p != i]
                        yield points[k], self.refused(i, [*whole[:i], x, *whole[i:]], error)
                        bad.setdefault(_NONE, []).append(k)
                    else:
                        bad.setdefault(key, []).append(k)
                out.append(x)
            fine = [True] * len(points)
            for key, rows in bad.items():
                for k in rows:
                    fine[k] = False
                known = self.refusals.get(key)
                if known is not None:
                    blanks = [[0.0 + data[p][k] for k in rows] for p in known.places]
                    filled = map(known.filled, zip(*blanks, strict=True) if blanks else [()] * len(rows))
                    yield from zip([points[k] for k in rows], filled, strict=True)
            points = list(compress(points, fine))
            if not points:
                return
            data = [None if column is None else list(compress(column, fine)) for column in data]

    def told(self, i: int, data: list[Any], inputs: list[Any], error: Exception) -> Any:
        """The same, made anew."""
        fault = undefined(REAL, i, self.graph.primitives[i], inputs, error)
        return located(fault, self.graph.at(data), self.wanted)

    def template(self, i: int, data: list[Any], error: Exception) -> _Refused:
        """What is said of an operation, with blanks for the numbers."""
        blanks = [_Blank(x, p) if type(x) is float else x for p, x in enumerate(data)]
        told = self.told(i, blanks, [blanks[p] for p in self.graph.parents[i]], error).diagnostic
        head, *rest = told.message.replace("%", "%%").split(_Blank.MARK)
        places = tuple([int(part) for part in rest[::2]])
        return _Refused(told.kind, "%.6g".join([head, *rest[1::2]]), places, told.span, told.hint)


def _taken(places: Sequence[int]) -> Callable[[list[Any]], Sequence[Any]]:
    """What takes the numbers at these places."""
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1) if places else slice(0))


class _Refused(NamedTuple):
    """A message with blanks, and the nodes whose numbers fill them."""

    kind: str
    text: str
    places: tuple[int, ...]
    span: Span | None
    hint: str | None

    def filled(self, numbers: tuple[float, ...]) -> ExpressionError:
        """What is said where these are the numbers."""
        return ExpressionError(self.kind, self.text % numbers, self.span, self.hint)


class _Blank(float):
    """A number that is shown as its place."""

    MARK = "\0"
    place: int

    def __new__(cls, x: float, place: int) -> _Blank:
        blank = super().__new__(cls, x)
        blank.place = place
        return blank

    def __add__(self, other: object) -> _Blank:
        return self

    def __format__(self, spec: str) -> str:
        return f"{self.MARK}{self.place}{self.MARK}"


class Evaluator:
    """Value and gradient of one program at any number of points.

    `variables` are the names that a point gives values to, in the order in which an evaluation takes them, `wrt` those
    that it differentiates by. Results are those of `gradient`, to the last digits, and so are the errors; at kinks
    whose sides agree conventions are taken, as in formulas, unless they add up to a gradient of 0.

    >>> from autodiff_cli.inputs.problem import parse
    >>> evaluator = compile_gradient(parse("x**2 + 3*y"))
    >>> evaluator([2.0, 1.0])
    (7.0, [4.0, 3.0])
    >>> evaluator.value([1.0, 1.0])
    4.0
    """

    def __init__(self, program: Program, wrt: Sequence[str] | None = None, output: Value | None = None) -> None:
        self.output = single_output(program) if output is None else output
        self.variables = tuple(program.variables)
        self.wrt = tuple(program.parameters if wrt is None else wrt)
        self._leaves = list(program.variables.values())
        missing = Value(0.0)
        self._wanted = [program.variables.get(name, missing) for name in self.wrt]
        self._gradient: Compiled | None = None
        self._value: Compiled | None = None
        self.steps = STEPS_A_CALL + sum([STEPS.get(node.primitive.family, 1.0) for node in in_order((self.output,))])
        """Steps of work that an evaluation costs: about microseconds, of value and derivatives."""
        self._refusals: _Refusals | None = None
        self._kinks: bool | None = None

    def __getstate__(self) -> dict[str, Any]:
        """All but what is generated when it is asked for."""
        return {**self.__dict__, "_gradient": None, "_value": None, "_refusals": None}

    def __call__(self, point: Sequence[float]) -> tuple[float, list[float]]:
        """Value and partial derivatives, in the order of `wrt`, at a point: one finite float a variable.

        Raises `ExpressionError` (`domain`, `derivative`, `overflow`) as `gradient` does.
        """
        work.charge(self.steps)
        if self._gradient is None:
            self._gradient = compiled(record_gradient(self.output, self._leaves, self._wanted), len(self._leaves))
        compiled_gradient = self._gradient

        def fast() -> tuple[float, list[float]] | None:
            found = compiled_gradient(point)
            return None if found is None or (not any(found[1]) and self.may_kink) else found

        return with_fallback(fast, lambda: self.slowly(point))

    @property
    def may_kink(self) -> bool:
        """Whether there are kinks: then a gradient of 0 may be a convention, and the derivative another."""
        if self._kinks is None:
            self._kinks = any(node.primitive.may_kink for node in in_order((self.output,)))
        return self._kinks

    def value(self, point: Sequence[float]) -> float:
        """The value alone, at a point. Raises `ExpressionError` (`domain`, `overflow`)."""
        work.charge(self.steps)
        if self._value is None:
            self._value = compiled(record_values((self.output,), self._leaves), len(self._leaves))
        compiled_value = self._value
        found: tuple[float, object] = with_fallback(
            lambda: compiled_value(point), lambda: self.slowly(point, differentiate=False)
        )
        return found[0]

    def slowly(
        self, point: Sequence[float], *, differentiate: bool = True, warnings: list[Diagnostic] | None = None
    ) -> tuple[float, list[float]]:
        """The same by the sweeps, which know why there is no result; or that there is one after all.

        What is to be said of kinks is added to `warnings`.
        """
        allowance = work.current()
        allowance.spend(STEPS_SLOWLY)
        refusals = self._swept()
        data = refusals.graph.data.copy()
        for k, x in zip(refusals.leaves, point, strict=True):
            if k is not None:
                data[k] = x
        i = 0
        try:
            for i, function, taken in refusals.steps:
                data[i] = out = function(*taken(data))
                if not isfinite(out):
                    raise OverflowError
        except (ValueError, ArithmeticError) as error:
            allowance.spend(len(data))
            raise refusals.refused(i, data, error) from None
        except BudgetExceeded as exhausted:
            raise refusals.told(i, data, [], exhausted) from None
        at = Evaluation(REAL, refusals.graph.at(data), refusals.by)
        (value,) = at.values
        if not differentiate:
            return float(value), []
        adjoints, kinks, _ = at.reverse({at.graph.roots[0]: 1.0})
        if warnings is not None:
            warnings += at.warnings(kinks)
        slopes = [adjoints[at.wanted[name]] if name in at.wanted else None for name in self.wrt]
        return float(value), [0.0 if x is None else x + 0.0 for x in slopes]

    def refused(self, columns: Sequence[Sequence[float]]) -> dict[int, ExpressionError]:
        """What `slowly` raises at points where an operation has no value, found for all of them at once.

        There is a column of finite numbers for each variable. `slowly` knows of the points that are not in the answer.
        """
        refusals = self._swept()
        found: dict[int, ExpressionError] = {}
        # each point has an allowance of its own, which is never less than this
        if columns and STEPS_SLOWLY + len(refusals.graph.data) <= work.STEPS:
            for start in range(0, len(columns[0]), TOGETHER):
                part = [column[start : start + TOGETHER] for column in columns]
                found.update((start + k, error) for k, error in refusals.refusals_at(part))
        return found

    def _swept(self) -> _Refusals:
        if self._refusals is None:
            self._refusals = _Refusals(self.output, self._leaves, self.wrt)
        return self._refusals


def compile_gradient(program: Program, wrt: Sequence[str] | None = None, output: Value | None = None) -> Evaluator:
    """The evaluator of a program with one output, or of one of its outputs: value, and partial derivatives by `wrt`.

    Without `wrt` by all that `gradient` differentiates by. Nothing of it runs yet; what an evaluation needs is
    generated when it is first asked for. Raises `ExpressionError` for a program with several outputs.
    """
    return Evaluator(program, wrt, output)


def compiled(recording: Recording, inputs: int) -> Compiled:
    """The recording as a Python function.

    Its source is made of numbered names, of literals and of names out of the table of primitives: nothing that anybody
    typed is in it.
    """
    target = Internal()
    source = target.source(recording, inputs)
    scope: dict[str, Any] = {"__builtins__": {}, **target.bound}
    try:
        exec(source, scope)  # noqa: S102 - a definition of our own making, no text of a user's; a test reads it
    except (SyntaxError, RecursionError, MemoryError):
        # Branches nested more deeply than Python can read: every evaluation goes the slow way.
        return lambda point: None
    function: Compiled = scope["f"]
    return function
