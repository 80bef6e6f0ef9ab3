"""Programs that are read once, and called at many points."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from ...api.api_answers import as_answer
from ...api.tracebacks import explain, explained
from ...engine.graphs.value import Value, as_float, constant, is_array, values_of, variable
from ...engine.numbers.budget import use_budget
from ...engine.numbers.floats import REAL
from ...engine.run.evaluation import error_at, with_fallback
from ...engine.run.sweep import NodeError, forward
from ...errors import Diagnostic, plural, quote
from ...language import builder
from ...questions import problem
from ...questions.problem import check_single
from ...record import Record
from .gradient import PreparedProgram

if TYPE_CHECKING:
    from ...compiled.point_derivatives import PointDerivatives
    from .gradient import Gradient


class ProgramDerivatives(Record):
    """Values and derivatives of a program: numbers at a point, arrays at many. As an array it is
    the last of these.
    """

    value: Any
    """The value; of `jacobian` the values of all results."""
    gradient: dict[str, Any] | None = None
    hessian: Any = None
    """Rows of second derivatives, in the order of `parameters`."""
    jacobian: Any = None
    """Rows of derivatives by `parameters`, one for each result."""
    warnings: Sequence[Diagnostic] = ()
    """Kinks at the point, whose derivatives are conventions."""
    errors: Mapping[int, str] = MappingProxyType({})
    """Why points of arrays have no answer, by their index in the flattened array; their numbers are
    nan.
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np

        if self.jacobian is not None or self.hessian is not None:
            return np.array(self.hessian if self.jacobian is None else self.jacobian, dtype=dtype)
        return np.stack([*(self.gradient or {}).values()], axis=-1).astype(dtype or float)


def has_arrays(values: Mapping[str, Any]) -> bool:
    """Return whether some arguments stand for several numbers."""
    return not _NUMBERS.issuperset(map(type, values.values())) and any(
        map(_is_several, values.values())
    )


_NUMBERS = frozenset((float, int, Value))


def _is_several(x: object) -> bool:
    return isinstance(x, list | tuple) or is_array(x)


class Program:
    """A program that has been read: a function of its variables, with its gradient at any point.

    >>> from autodiff_cli import parse
    >>> f = parse("s = x*y; s**2 + x")
    >>> f.parameters, f(x=3, y=0.5)
    (('x', 'y'), 5.25)
    >>> f.gradient(x=3, y=0.5).gradient
    {'x': 2.5, 'y': 9.0}
    >>> f(3, 0.5), f.hessian(3, 0.5).hessian
    (5.25, [[0.5, 6.0], [6.0, 18.0]])

    Numbers are given by position, in the order of `parameters`, or by name. Where some are arrays
    or lists, all answers are arrays of their shape, computed by compiled code.
    """

    def __init__(self, program: builder.Program) -> None:
        self._program = program
        self._prepared: PreparedProgram | None = None
        self._rows: dict[str, Any] = {}

    @property
    def text(self) -> str:
        """The program as text."""
        return self._program.text

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the variables that a gradient is taken in."""
        return self._program.parameters

    @property
    def variables(self) -> dict[str, Value]:
        """The variables by name, as nodes of the graph."""
        return self._program.variables

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The results, as nodes of the graph; they have no numbers before they are evaluated."""
        return self._program.outputs

    def __call__(self, /, *args: Any, **values: Any) -> Any:
        """Return the result at these values: a float, or a Value where one of them is a Value.

        A tuple if the program has several results. Raises TypeError for a name that is missing, or
        that is no variable of the program; `ExpressionError` where the program has no value.
        """
        values = self._named(args, values)
        return self._values_over(values) if has_arrays(values) else self._value_at(values)

    value = __call__

    def _value_at(self, values: Mapping[str, Any]) -> Any:
        program = self._program
        leaves = {
            place: (
                values[name]
                if isinstance(values[name], Value)
                else as_float(values[name], f"`{name}` cannot be")
            )
            for name, place in program.leaves.items()
        }
        graph = program.all_nodes.with_leaves(
            {i: x.data if isinstance(x, Value) else x for i, x in leaves.items()}
        )
        try:
            forward(graph, REAL, program.roots)
        except NodeError as fault:
            error = error_at(fault, graph)
            explain(error, self.text)
            raise error from None
        if any(isinstance(x, Value) for x in leaves.values()):
            # a number takes no derivative: `x**n` at a negative x has one by x only
            nodes = values_of(
                graph, {k: x if isinstance(x, Value) else constant(x) for k, x in leaves.items()}
            )
            for node in nodes:
                node.grad = 0.0 if node.grad is None and node.data is not None else node.grad
            outputs: list[Any] = [nodes[root] for root in program.roots]
        else:
            outputs = [float(graph.data[root]) + 0.0 for root in program.roots]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def gradient(self, /, *args: Any, **values: Any) -> Any:
        """Return value and gradient at these values, about ten times as fast as `gradient(text, …)`
        does.

        The answer has the numbers without the graph; arrays have a `ProgramDerivatives`. Raises
        TypeError for names that do not fit, and `ExpressionError` where there is no gradient.
        """
        values = self._named(args, values)
        if has_arrays(values):
            columns = self._over("grad", values)
            slopes = {name: columns[f"d_{name}"] for name in self.parameters}
            return ProgramDerivatives(columns["value"], slopes, errors=columns["error"])
        point = self._point(values)
        with explained(self.text), use_budget(length=len(self.text)):
            if self._prepared is None:
                self._prepared = PreparedProgram(self._program)
            answer = with_fallback(self._prepared.numbers, self._prepared.graph, point, None)
        return cast("Gradient[float]", as_answer(answer._replace(graph=None, intermediates=())))

    def hessian(self, /, *args: Any, **values: Any) -> ProgramDerivatives:
        """Return value, gradient and Hessian; of arrays the Hessian has the variables on two axes
        more, at the end.

        Raises as `gradient`, and `ExpressionError` where there is no second derivative.
        """
        values, names = self._named(args, values), self.parameters
        if has_arrays(values):
            columns = self._over("hessian", values)
            slopes = {name: columns[f"d_{name}"] for name in names}
            return ProgramDerivatives(
                columns["value"], slopes, _square(columns, names), errors=columns["error"]
            )
        point = self._point(values)
        with explained(self.text), use_budget(length=len(self.text)):
            check_single(self._program)
            quick = self._compiled.second(self._leaf_numbers(point))
            if quick is not None:
                return ProgramDerivatives(
                    quick.value, dict(zip(names, quick.gradient, strict=True)), quick.hessian
                )
            from .hessian import hessian  # most points have compiled answers

            answer = hessian(self.text, point, wrt=names)
        return ProgramDerivatives(answer.value, answer.gradient, answer.hessian)

    def jacobian(self, /, *args: Any, **values: Any) -> ProgramDerivatives:
        """Return the values of all results, and a row of derivatives of each; of arrays on two axes
        more, at the end.

        Raises as `gradient`.
        """
        values, names, count = self._named(args, values), self.parameters, len(self._program.roots)
        if has_arrays(values):
            import numpy as np

            columns = self._over("jacobian", values)
            marks = [""] if count == 1 else [*range(1, count + 1)]
            found = np.stack([columns[f"value{k}"] for k in marks], axis=-1)
            rows = [np.stack([columns[f"d{k}_{name}"] for name in names], axis=-1) for k in marks]
            return ProgramDerivatives(
                found, jacobian=np.stack(rows, axis=-2), errors=columns["error"]
            )
        point = self._point(values)
        with explained(self.text), use_budget(length=len(self.text)):
            quick = self._compiled.first(self._leaf_numbers(point))
            if quick is not None:
                return ProgramDerivatives(quick.values, jacobian=quick.rows)
            from .jacobian import jacobian  # most points have compiled answers

            answer = jacobian(self.text, point, wrt=names)
        return ProgramDerivatives(answer.values, jacobian=answer.jacobian, warnings=answer.warnings)

    @cached_property
    def _compiled(self) -> PointDerivatives:
        from ...compiled.point_derivatives import PointDerivatives

        variables = self.variables
        by = [variables.get(name) or variable(name) for name in self.parameters]
        return PointDerivatives(
            self.outputs, [variables[name] for name in self._program.leaves], by
        )

    @cached_property
    def _names(self) -> dict[str, None]:
        """The variables; of a list that the program uses in part all entries."""
        return dict.fromkeys((*self._program.leaves, *self.parameters))

    def _point(self, values: Mapping[str, Any]) -> dict[str, float]:
        return {name: as_float(values[name], f"`{name}` cannot be") for name in self._names}

    def _leaf_numbers(self, point: Mapping[str, float]) -> list[float]:
        return [point[name] for name in self._program.leaves]

    # ---- arrays
    def _over(
        self,
        question: str,
        values: Mapping[str, Any],
        wrt: Sequence[str] | None = None,
        *,
        calls: int = 2,
    ) -> dict[str, Any]:
        """Return the columns of an answer, in the shape of the arrays; nan where there is none, for
        which it warns.

        The warning is about the line that is so many `calls` above.
        """
        import warnings

        import numpy as np

        from ...data.rows import rows

        arrays = [_as_array(np, name, x) for name, x in values.items()]
        try:
            given = np.broadcast_arrays(*arrays)
        except ValueError as error:
            shapes = {name: a.shape for name, a in zip(values, arrays, strict=True)}
            raise ValueError(
                f"the arrays have shapes that do not fit together: {shapes}"
            ) from error
        key = question if wrt is None else "values"
        if key not in self._rows:
            with explained(self.text):
                self._rows[key] = rows(self.text, question=question, wrt=wrt)
        with explained(self.text):
            found = self._rows[key](
                {name: a.reshape(-1) for name, a in zip(values, given, strict=True)}
            )
        shape = given[0].shape
        errors = found.pop("error")
        columns = {
            name: np.asarray(column, dtype=float).reshape(shape) for name, column in found.items()
        }
        missing = {k: text for k, text in enumerate(errors) if text is not None}
        if missing:
            first = min(missing)
            message = (
                f"{len(missing):,} of {len(errors):,} points have no answer (nan), at {first}:"
                f" {missing[first]}"
            )
            warnings.warn(message, RuntimeWarning, stacklevel=1 + calls)
        return columns | {"error": missing}

    def _values_over(self, values: Mapping[str, Any]) -> Any:
        count = len(self._program.roots)
        columns = self._over("jacobian", values, (), calls=3)
        return (
            columns["value"]
            if count == 1
            else tuple([columns[f"value{k}"] for k in range(1, count + 1)])
        )

    # ---- arguments
    def _named(self, args: Sequence[Any], values: dict[str, Any]) -> dict[str, Any]:
        if args:
            names = [*self._names]
            if len(args) > len(names):
                raise TypeError(
                    f"the program has {plural(len(names), 'variable')}, and the call has"
                    f" {len(args)} values"
                )
            if twice := [name for name in names[: len(args)] if name in values]:
                raise TypeError(f"{quote(twice)} has two values, by its position and by its name")
            values = dict(zip(names, args, strict=False)) | values
        self._check(values)
        return values

    def _check(self, values: Mapping[str, Any]) -> None:
        leaves = self._names
        if values.keys() == leaves.keys():
            return
        for name in [name for name in values if name not in leaves]:
            what = "is a constant" if name in self._program.constants else "is not a variable"
            listed = quote(leaves, "no variables")
            raise TypeError(f"`{name}` {what} of this program: its variables are {listed}")
        missing = [name for name in leaves if name not in values]
        raise TypeError(
            f"the program needs a value for {quote(missing)}: call it as `f({missing[0]}=…)`"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _program_of, (self.text, tuple(self._names))

    def __repr__(self) -> str:
        return f"<Program of {quote(self._program.leaves, 'no variables')}>"


def _as_array(np: Any, name: str, x: Any) -> Any:
    if isinstance(x, Value):
        raise TypeError(f"`{name}` is a Value, and others are arrays: arrays have numbers only")
    try:
        return np.asarray(x, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` cannot be {x!r}: it is not an array of numbers") from None


def _square(columns: Mapping[str, Any], names: Sequence[str]) -> Any:
    import numpy as np

    def entry(i: int, j: int) -> Any:
        return columns[f"d_{names[max(i, j)]}_{names[min(i, j)]}"]

    places = range(len(names))
    return np.stack([np.stack([entry(i, j) for j in places], axis=-1) for i in places], axis=-2)


def _program_of(text: str, given: Collection[str]) -> Program:
    return Program(problem.parse(text, given))
