"""Programs that are read once, and called at many points."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, cast

from ...api.api_answers import as_answer
from ...api.calls import converted
from ...api.tracebacks import explain, explained
from ...engine.graphs.value import Value, as_float, constant, values_of
from ...engine.numbers.budget import use_budget
from ...engine.numbers.floats import REAL
from ...engine.run.evaluation import error_at, with_fallback
from ...engine.run.sweep import NodeError, forward
from ...errors import quote
from ...language import builder
from ...questions import problem
from .gradient import PreparedProgram

if TYPE_CHECKING:
    from .gradient_function import Gradient


class Program:
    """A program that has been read: a function of its variables, with its gradient at any point.

    >>> f = parse("s = x*y; s**2 + x")
    >>> f.parameters, f(x=3, y=0.5)
    (('x', 'y'), 5.25)
    >>> f.gradient(x=3, y=0.5).gradient
    {'x': 2.5, 'y': 9.0}
    """

    def __init__(self, program: builder.Program) -> None:
        self._program = program
        self._prepared: PreparedProgram | None = None

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

    def __call__(self, /, **values: Value | float) -> Any:
        """Return the result at these values: a float, or a Value where one of them is a Value.

        A tuple if the program has several results. Raises TypeError for a name that is missing, or that is no
        variable of the program; `ExpressionError` where the program has no value.
        """
        program = self._program
        self._check(values)
        leaves = {
            place: values[name] if isinstance(values[name], Value) else as_float(values[name], f"`{name}` cannot be")
            for name, place in program.leaves.items()
        }
        graph = program.all_nodes.with_leaves({i: x.data if isinstance(x, Value) else x for i, x in leaves.items()})
        try:
            forward(graph, REAL, program.roots)
        except NodeError as fault:
            error = error_at(fault, graph)
            explain(error, self.text)
            raise error from None
        if any(isinstance(x, Value) for x in leaves.values()):
            # a number takes no derivative: `x**n` at a negative x has one by x only
            nodes = values_of(graph, {k: x if isinstance(x, Value) else constant(x) for k, x in leaves.items()})
            for node in nodes:
                node.grad = 0.0 if node.grad is None and node.data is not None else node.grad
            outputs: list[Any] = [nodes[root] for root in program.roots]
        else:
            outputs = [float(graph.data[root]) + 0.0 for root in program.roots]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def gradient(self, /, **values: float) -> Gradient[float]:
        """Return value and gradient at these values, about ten times as fast as `gradient(text, …)` does.

        The answer has the numbers without the graph. Raises TypeError for names that do not fit, and
        `ExpressionError` where there is no gradient.
        """
        self._check(values)
        point = {name: as_float(x, f"`{name}` cannot be") for name, x in values.items()}
        with explained(self.text), use_budget(length=len(self.text)):
            if self._prepared is None:
                self._prepared = PreparedProgram(self._program)
            answer = with_fallback(self._prepared.numbers, self._prepared.graph, point, None)
        return cast("Gradient[float]", as_answer(answer._replace(graph=None, intermediates=())))

    def _check(self, values: Mapping[str, Any]) -> None:
        leaves = self._program.leaves
        if values.keys() == leaves.keys():
            return
        for name in [name for name in values if name not in leaves]:
            what = "is a constant" if name in self._program.constants else "is not a variable"
            listed = quote(leaves, "no variables")
            raise TypeError(f"`{name}` {what} of this program: its variables are {listed}")
        missing = [name for name in leaves if name not in values]
        raise TypeError(f"the program needs a value for {quote(missing)}: call it as `f({missing[0]}=…)`")

    def __reduce__(self) -> tuple[Any, ...]:
        return parse, (self.text, tuple(self._program.leaves))

    def __repr__(self) -> str:
        return f"<Program of {quote(self._program.leaves, 'no variables')}>"


def parse(text: str, given: Collection[str] = (), *, lenient: bool = False) -> Program:
    """Return the program of a text, not evaluated: its `parameters`, its graph, and a function of its variables.

    With `lenient` its `text` is the one that was read.

    `given` are the names that are variables although they are called like the constants `e`, `pi`, `π`. Raises
    `ExpressionError` where the text is not valid.

    >>> parse("s = x*y; s**2 + x").parameters
    ('x', 'y')
    """
    with converted(parse, "grad", text=text, given=given, lenient=lenient) as asked:
        if not asked.lenient:
            return Program(problem.parse(asked.text, asked.given))
        from ...language.diagnostics.leniency import read_leniently

        return Program(read_leniently(asked.text, lambda read: problem.parse(read, asked.given))[0])
