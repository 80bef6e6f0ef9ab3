"""The generated evaluator: one program compiled for many evaluations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from math import isfinite
from typing import Any

from ..engine.graphs.adjoint import Recording, record_gradient, record_values
from ..engine.graphs.value_and_gradient import evaluate_in, value_and_gradient
from ..engine.numbers import budget
from ..engine.numbers.budget import BudgetExceeded
from ..engine.numbers.floats import REAL
from ..engine.numbers.recorder import Recorder
from ..engine.run.evaluation import error_at, leaves_below, with_fallback
from ..engine.run.flat_graph import Graph, in_order
from ..engine.run.sweep import domain_error
from ..engine.table.primitives import PROD
from ..errors import ExpressionError
from ..language.builder import Program
from ..questions.problem import check_single
from .target import Internal

# Records a program with the given recorder.
Record = Callable[[Any], Recording]

Compiled = Callable[[Sequence[float]], tuple[Any, list[float]] | None]

# Points evaluated together, with a column for each node.
POINTS_PER_BLOCK = 1_000


class Evaluator:
    """Value and gradient of one program at any number of points.

    `variables` are the names in the order of a point's values; `wrt` those to differentiate by, by
    default as in `gradient`. Results and errors are those of `gradient`, to the last digit; at
    kinks whose sides agree, conventions are used, unless they add up to a gradient of 0. Code is
    generated on demand. Raises `ExpressionError` for a program with several outputs.

    >>> from autodiff_cli.questions.problem import parse
    >>> evaluator = Evaluator(parse("x**2 + 3*y"))
    >>> evaluator([2.0, 1.0])
    (7.0, [4.0, 3.0])
    >>> evaluator.value([1.0, 1.0])
    4.0
    """

    def __init__(self, program: Program, wrt: Sequence[str] | None = None) -> None:
        check_single(program)
        self._program = program
        self.variables = tuple(program.leaves)
        self.wrt = tuple(program.parameters if wrt is None else wrt)
        self._products = budget.PRODUCT_FACTOR * sum(
            [
                len(parents)
                for primitive, parents in zip(
                    self.graph.primitives, self.graph.parents, strict=True
                )
                if primitive is PROD
            ]
        )
        # Steps of work of an evaluation with derivatives, about microseconds.
        self.steps = (
            budget.COMPILED_CALL
            + sum(
                [
                    budget.COMPILED_NODE.get(primitive.family, 1.0)
                    for primitive in self.graph.primitives
                ]
            )
            + self._products
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without generated functions."""
        return {name: x for name, x in self.__dict__.items() if name not in ("_gradient", "_value")}

    @property
    def graph(self) -> Graph:
        return self._program.graph

    @cached_property
    def may_kink(self) -> bool:
        """Return whether there are kinks: then a gradient of 0 may be conventional."""
        return any(primitive.may_kink for primitive in self.graph.primitives)

    @cached_property
    def _gradient(self) -> Compiled:
        return compile_steps(
            gradient_recorder(self._program, self.wrt)(Recorder()), len(self.variables)
        )

    @cached_property
    def _value(self) -> Compiled:
        return compile_steps(
            record_values(self.graph, self._program.leaf_places()), len(self.variables)
        )

    def __call__(self, point: Sequence[float]) -> tuple[float, list[float]]:
        """Return value and partial derivatives by `wrt` at finite floats. Raises as `gradient`."""
        budget.charge(self.steps)

        def fast() -> tuple[float, list[float]] | None:
            result = self._gradient(point)
            return (
                None
                if result is None or (self.wrt and not any(result[1]) and self.may_kink)
                else result
            )

        return with_fallback(fast, lambda: self.interpret(point))

    def value(self, point: Sequence[float]) -> float:
        """Return the value at a point. Raises `ExpressionError` (`domain`, `overflow`)."""
        budget.charge(self.steps)
        result: tuple[float, object] = with_fallback(
            lambda: self._value(point), lambda: self.interpret(point, differentiate=False)
        )
        return result[0]

    def interpret(
        self, point: Sequence[float], *, differentiate: bool = True
    ) -> tuple[float, list[float]]:
        """Evaluate by the interpreter, for the result or the reason why there is none."""
        budget.charge(budget.SWEEP + self._products)
        values = dict(zip(self.variables, point, strict=True))
        if not differentiate:
            return float(evaluate_in(REAL, self.graph, values).values[0]), []
        result = value_and_gradient(REAL, self.graph, values, self.wrt)
        return float(result.value), [float(x) + 0.0 for x in result.gradient.values()]

    def refusals(self, columns: Sequence[Sequence[float]]) -> dict[int, ExpressionError]:
        """Return the errors that `interpret` would raise at points in finite columns, where
        known.
        """
        errors: dict[int, ExpressionError] = {}
        # each point has its own budget, at least this
        if (
            columns
            and not self.graph.has_lazy_inputs
            and budget.SWEEP + len(self.graph.places) <= budget.STEPS
        ):
            for start in range(0, len(columns[0]), POINTS_PER_BLOCK):
                part = [column[start : start + POINTS_PER_BLOCK] for column in columns]
                errors.update((start + k, error) for k, error in self._refusals(part))
        return errors

    def _refusals(
        self, columns: Sequence[Sequence[float]]
    ) -> Iterator[tuple[int, ExpressionError]]:
        graph = self.graph
        points: Sequence[int] = range(len(columns[0]))
        data = self._leaf_columns(columns)
        at = graph.with_leaves({i: 0.0 for i, column in enumerate(data) if column is not None})
        for i, (primitive, parents) in enumerate(zip(graph.primitives, graph.parents, strict=True)):
            if not parents:
                continue
            inputs, function = [data[p] for p in parents], getattr(REAL, primitive.name)
            with suppress(ValueError, ArithmeticError, BudgetExceeded):
                out = list(map(function, *inputs))
                if all(map(isfinite, out)):
                    data[i] = out
                    continue
            # separate the points without a value from the others
            refused: list[tuple[int, ExpressionError]] = []
            try:
                defined = self._defined(i, data, at, refused)
            except BudgetExceeded:
                defined = {}
            for k, refusal in refused:
                yield points[k], refusal
            points = [points[k] for k in defined]
            if not points:
                return
            data = [None if column is None else [column[k] for k in defined] for column in data]
            data[i] = [*defined.values()]

    def _leaf_columns(self, columns: Sequence[Sequence[float]]) -> list[Any]:
        """Return the numbers of leaves at each point, and None for operations."""
        named = dict(zip(self.variables, columns, strict=True))
        data: list[Any] = [
            None if x is None else [x] * len(columns[0]) for x in self.graph.leaf_data()
        ]
        for i, label in self.graph.labels.items():
            if label in named:
                data[i] = named[label]
        return data

    def _defined(
        self, i: int, data: Sequence[Any], at: Graph, refused: list[tuple[int, ExpressionError]]
    ) -> dict[int, float]:
        """Return the values of a node by point, and append the errors of points without one; `at`
        is a scratch.
        """
        primitive, parents = self.graph.primitives[i], self.graph.parents[i]
        function, inputs = getattr(REAL, primitive.name), [data[p] for p in parents]
        leaves, below = leaves_below(at, i), in_order(self.graph.parents, parents)
        defined: dict[int, float] = {}
        for k, numbers in enumerate(zip(*inputs, strict=True)):
            try:
                x = function(*numbers)
                if not isfinite(x):
                    raise OverflowError
                defined[k] = x
            except BudgetExceeded:
                raise
            except (ValueError, ArithmeticError) as error:
                for j in below:
                    at.data[j] = data[j][k]
                refusal = error_at(
                    domain_error(REAL, i, primitive, numbers, error), at, leaves=leaves
                )
                assert isinstance(refusal, ExpressionError)
                refused.append((k, refusal))
        return defined


def gradient_recorder(program: Program, wanted: Sequence[str]) -> Record:
    """Return a function that records outputs and their derivatives by these variables."""
    return lambda recorder: record_gradient(
        program.graph, program.leaf_places(), program.leaf_places(wanted), recorder
    )


def compile_steps(recording: Recording, inputs: int) -> Compiled:
    """Return the recording as a Python function.

    Its source has only numbered names, literals and names from the table, and no user's text.
    """
    target = Internal()
    source = target.source(recording, inputs)
    scope: dict[str, Any] = {"__builtins__": {}, **target.bound}
    try:
        exec(source, scope)  # noqa: S102 - a definition of our own making, no text of a user's; a test reads it
    except (SyntaxError, RecursionError, MemoryError):
        # Nested too deeply for Python: every evaluation uses the interpreter.
        return lambda point: None
    function: Compiled = scope["f"]
    return function
