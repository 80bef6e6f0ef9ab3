"""The builder: operations of a program as a graph, by what names and calls mean. It evaluates
nothing.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, NoReturn

from ..engine.graphs.value import Value, values_of
from ..engine.numbers.floats import REAL
from ..engine.run.evaluation import Evaluation
from ..engine.run.flat_graph import Graph, Place, Row
from ..engine.table.operators import AND, COMPARISONS, NEG
from ..engine.table.primitive import COMPOSED, FUNCTIONS, PRIMITIVES, Primitive
from ..errors import ExpressionError, Span
from .tokens import (
    Complete,
    Head,
    Spans,
    UnexplainedText,
    check_commas,
    is_name,
    number_of,
)

# Named constants, unless the program or the point redefines them.
CONSTANTS = {"pi": math.pi, "π": math.pi, "e": math.e}

MAX_NODES = 2_000_000
# The functions of one number.
SIMPLE = {
    name: p
    for name, p in FUNCTIONS.items()
    if len(p.params) == 1 and not (p.variadic or p.constant_params or p.takes_conditions)
}

Piece = tuple[int, int]  # a piece of the text in pairs, see `Spans`

# the bound names, their places in pairs, and the indices of their nodes
Bound = Sequence[tuple[str, Place, int]]


class Program:
    """A program as a graph that is not evaluated."""

    shape: tuple[int, ...] = ()  # the shape of the list of all outputs; empty if there is none

    def __init__(
        self,
        text: str,
        graph: Graph,
        parameters: tuple[str, ...],
        constants: dict[str, float],
        bound: Bound,
    ) -> None:
        self.text = text
        self.all_nodes = graph  # the graph of all that was read, needed by an output or not
        self.roots = graph.roots
        # the indices of the variables in `all_nodes`, by name, as they appear
        self.leaves = graph.names[1]
        self.parameters = parameters
        self.constants = constants
        self.bound = bound

    def with_outputs(self, roots: tuple[int, ...], text: str) -> Program:
        """Return the program with other outputs and its longer `text`."""
        return self._of(self.all_nodes.replace(rows=self.all_nodes.rows, roots=roots), text)

    def negative(self) -> Program:
        """Return the program with negated outputs."""
        graph, first = self.all_nodes, len(self.all_nodes.places)
        negatives: list[Row] = [(NEG, first + k, root, None) for k, root in enumerate(self.roots)]
        places = [*graph.places, *(graph.places[root] for root in self.roots)]
        roots = tuple(range(first, len(places)))
        return self._of(
            graph.replace(rows=[*graph.rows, *negatives], places=places, roots=roots), self.text
        )

    def _of(self, graph: Graph, text: str) -> Program:
        return Program(text, graph, self.parameters, self.constants, self.bound)

    @cached_property
    def _needed(self) -> tuple[Graph, dict[int, int]]:
        return self.all_nodes.subgraph_of(self.roots)

    @cached_property
    def graph(self) -> Graph:
        """The graph of the nodes that the outputs need, cached."""
        return self._needed[0]

    def place(self, i: int) -> int | None:
        """Return the index in `graph` of a node of `all_nodes`, or None."""
        return i if self.graph is self.all_nodes else self._needed[1].get(i)

    @cached_property
    def places(self) -> Mapping[str, int]:
        return {
            name: place for name, i in self.leaves.items() if (place := self.place(i)) is not None
        }

    def leaf_places(self, names: Iterable[str] | None = None) -> list[int | None]:
        """Return the indices in `graph` of variables, or all; None if unused."""
        return list(map(self.places.get, self.leaves if names is None else names))

    @cached_property
    def values(self) -> list[Value]:
        """All nodes as Values, in order; cached."""
        return values_of(self.all_nodes)

    @property
    def unused_entries(self) -> Sequence[str]:
        """The parameters that are no variables: entries of a list of which the program uses
        others.
        """
        return [name for name in self.parameters if name not in self.leaves]

    @property
    def outputs(self) -> tuple[Value, ...]:
        return tuple([self.values[i] for i in self.roots])

    @cached_property
    def variables(self) -> dict[str, Value]:
        """The free names and their leaves, in order of appearance; cached."""
        return {name: self.values[i] for name, i in self.leaves.items()}

    @property
    def bindings(self) -> list[tuple[str, Value]]:
        """The bound names, with their nodes."""
        return [(name, self.values[i]) for name, _, i in self.bound]

    def bindings_at(self) -> list[tuple[str, int, int]]:
        """Return the bound names, their places and the indices of their nodes."""
        span = Spans(self.text)
        return [(name, span(place).start, i) for name, place, i in self.bound]


# Markers for operations on lists, for `unrolling`.
ARRAY, INDEX, RANGE, MATMUL = (
    Primitive(name, ()) for name in ("array", "index", "range", "matmul")
)

OF_LISTS = frozenset((ARRAY, INDEX, RANGE, MATMUL))
BOUNDED = frozenset(("sum", "prod"))  # with an index and bounds: `sum(w[i]*x[i], i, 1, 3)`
ITERATE = "iterate"
# The functions that are unrolled: those of `list_functions`, and the one of a function.
UNROLLED = frozenset(
    ("det", "dot", "inv", "norm", "outer", "softmax", "solve", "trace", "transpose", ITERATE)
)


class NeedsTree(Exception):
    """The text has definitions or may have lists: these are lowered from its tree, by `lowering` or
    `unrolling`.
    """


def joined(first: Place, last: Place) -> Place:
    """Return the place from the start of one place to the end of another."""
    return Span(first[0], last[1]) if isinstance(first, Span) else (first[0], last[1])


def chained(
    add: Callable[[Primitive, tuple[int, ...], Any, Sequence[Any]], int],
    operands: Sequence[int],
    pieces: Sequence[Place],
    signs: Sequence[str],
) -> int:
    """Add a chain of comparisons, which is the conjunction of its pairs; `add` adds an
    operation.
    """
    result = -1
    for k, sign in enumerate(signs):
        two = pieces[k : k + 2]
        compared = add(COMPARISONS[sign], tuple(operands[k : k + 2]), joined(*two), two)
        whole = joined(pieces[0], pieces[-1])
        result = compared if k == 0 else add(AND, (result, compared), whole, two)
    return result


def latest(history: Sequence[tuple[int, Any]] | None, statement: int) -> Any:
    """Return the value of a name before a statement, of its values and their statements."""
    k = bisect_left(history, statement, key=itemgetter(0)) if history else 0
    return history[k - 1][1] if history and k else None


class Builder:
    """The program read so far. The reader itself adds plain operations to `nodes`.

    Names in `valued`, which the point gives values, win over constants. The first error about names
    and types waits for the end of the text: syntax errors come first.
    """

    records = False
    """Whether the reader is to report definitions and lists too."""

    def __init__(self, text: str, valued: Collection[str] = ()) -> None:
        self.valued = valued
        self.statements: list[tuple[str, Place]] = []
        self.nodes = Graph()
        self.node_of: dict[str, int] = {}
        self.conditions: set[int] = set()
        self.functions: Mapping[str, Primitive] = SIMPLE
        self.lists = False
        for name in valued:
            if name in SIMPLE:
                self.hide(name)
            elif name[-1:] == "]":
                self.lists = True
        self.problem: ExpressionError | None = None
        self.branches = False
        self.free: dict[str, int] = {}
        self.used_constants: dict[str, int] = {}
        # By name, its values and their statements.
        self.bound: dict[str, list[tuple[int, Any]]] = {}
        self.looks: dict[str, tuple[str, Place]] = {}
        self.bindings: list[tuple[str, Place, int]] = []
        self.span = self.nodes.span_of = Spans(text)

    def scope(self) -> tuple[Graph, dict[str, int], Any, Mapping[str, Primitive]]:
        """Return the scope for new nodes. Raises `NeedsTree` where the point has lists."""
        if self.lists:
            raise NeedsTree
        return self.nodes, self.node_of, self.conditions, self.functions

    def hide(self, name: str) -> None:
        """Take a name from the functions: it has a meaning of its own."""
        if name in self.functions:
            self.functions = {
                other: primitive for other, primitive in self.functions.items() if other != name
            }

    def program(self) -> Program:
        """Return the program. Raises `ExpressionError` (`name`, `arity`, `type`, `overflow`,
        `limit`).
        """
        if self.problem is not None:
            self.raise_problem()
        program = self.as_program(self.free)
        if len(self.statements) == 1 and not self.branches:
            # All nodes are needed, and in order.
            program.graph, program.places = self.nodes, self.free
            self.nodes.has_lazy_inputs = False
        return program

    def raise_problem(self) -> None:
        """Raise the error that was kept."""
        problem, self.problem = self.problem, None
        assert problem is not None
        try:
            raise problem
        finally:
            del problem  # it would hold itself, by the frame in its traceback

    def as_program(
        self, leaves: dict[str, int], parameters: tuple[str, ...] | None = None
    ) -> Program:
        """Return what was read as a program, of all its variables or of these parameters."""
        graph = self.nodes
        graph.names = graph.names[0], leaves
        constants = (
            {name: CONSTANTS[name] for name in self.used_constants} if self.used_constants else {}
        )
        wanted = tuple(leaves) if parameters is None else parameters
        return Program(self.span.text, graph, wanted, constants, self.bindings)

    def finish_statement(
        self, statement: Complete | int, place: Piece
    ) -> Sequence[tuple[str, Place]]:
        """Record a complete statement; return all of them so far."""
        if isinstance(statement, int):
            self.output((statement,), (place,))
            statement = "expression", place
        self.statements.append(statement)
        return self.statements

    def output(self, operands: tuple[int, ...], pieces: Sequence[Place]) -> None:
        """Record the outputs, if this is the last statement."""
        if self.conditions:
            self.check_types((), operands, pieces)
        self.nodes.roots = operands

    def bind(self, name: str, at: Place, value: Any) -> None:
        """Bind a name to a node."""
        self.rebind(name, at, value)
        self.nodes.roots = (value,)
        self.nodes.names[0].setdefault(value, name)
        self.bindings.append((name, at, value))

    def rebind(self, name: str, at: Place, value: Any) -> None:
        """Give a name a value for the statements that follow."""
        earlier = self.free.get(name, self.used_constants.get(name))
        try:
            if earlier is not None and name not in self.bound:
                hint = "bind a name before its first use, or give this one another name"
                used = self.nodes.places[earlier], "used here"
                raise self.error(
                    "name", f"`{name}` is bound here but was used before", at, hint, used
                )
            self.check_look(name, at)
        except ExpressionError as error:
            self.refuse(error)
        self.bound.setdefault(name, []).append((len(self.statements), value))
        self.node_of[name] = value
        self.hide(name)

    def augment(self, name: str, at: Place, primitive: Primitive, value: Any, piece: Place) -> None:
        """Bind a name to an operation on its value."""
        if name in self.bound:
            operands = self.bound[name][-1][1], value
            try:
                value = self.checked_node(primitive, operands, joined(at, piece), (at, piece))
            except ExpressionError as error:
                value = self.refuse(error)
            self.bind(name, at, value)
            return
        what = "a constant" if name in CONSTANTS and name not in self.valued else "not bound yet"
        message, hint = (
            f"`{name}` is {what}, so it cannot be updated",
            f"bind it first: `{name} = …`",
        )
        self.refuse(self.error("name", message, at, hint))

    def define(self, head: Head, root: int, piece: Place) -> None:
        """Define a function. Raises `NeedsTree`."""
        raise NeedsTree

    def error(
        self, kind: str, message: str, place: Place, hint: str, *also: tuple[Place, str]
    ) -> ExpressionError:
        """Return an error about pieces of the text."""
        spans = tuple([(self.span(other), text) for other, text in also])
        return ExpressionError(kind, message, self.span(place), hint, spans)

    def refuse(self, error: ExpressionError) -> int:
        """Keep an error, and return a placeholder node."""
        error.__traceback__ = None
        self.problem = self.problem or error
        return self.constant(0.0, "0", (0, 0))

    def unusual_number(self, text: str, place: Place) -> tuple[float, str] | None:
        """Return the value and text of a number with a unit, `5[kg]`, or too large; None for no
        number.
        """
        digits, unit = text, ""
        if text[-1] == "]":
            digits, _, unit = text[:-1].partition("[")
        number = number_of(digits)
        if number is None:
            return None
        if unit:
            from ..engine.quantities.unit import parse_unit  # only units need it

            try:
                factor = parse_unit(unit)
                if factor.zero:
                    message = (
                        f"`{unit}` is a temperature scale, and numbers in a formula cannot have one"
                    )
                    raise ExpressionError(
                        "type", message, None, "write `K`, or give the temperature in `--at`"
                    )
                number = factor.to_si(number[0]), f"{number[1]}[{factor}]"
            except ExpressionError as error:
                self.refuse(ExpressionError("type", str(error), self.span(place), error.hint))
        if number[0] == math.inf:
            message = "this number is too large for double precision"
            self.refuse(self.error("overflow", message, place, "the largest is about 1.8e308"))
        return number

    def check_look(self, name: str, at: Place) -> None:
        """Raise an error if a name looks like another."""
        look = name
        if not name.isascii():
            from unicodedata import normalize

            look = normalize("NFKC", name)
        same_look, where = self.looks.setdefault(look, (name, at))
        if same_look != name:
            message = f"`{name}` and `{same_look}` look alike but are two names"
            raise self.error(
                "name", message, at, "write both the same way", (where, f"`{same_look}` is here")
            )

    def name(self, name: str, place: Place) -> int:
        """Return the node of a name in the text."""
        if (
            name.isascii()
            and name not in CONSTANTS
            and name not in self.bound
            and name not in self.looks
        ):
            # A variable without possible errors, as in `lookup`.
            places = self.nodes.places
            self.free[name] = self.node_of[name] = node = len(places)
            self.looks[name] = name, place
            places.append(place)
            return node
        try:
            node = self.node_of[name] = self.lookup(name, place, len(self.statements))
        except ExpressionError as error:
            return self.refuse(error)
        return node

    def lookup(self, name: str, place: Place, statement: int) -> int:
        """Return the node of a name as defined before a statement."""
        self.check_look(name, place)
        history = self.bound.get(name)
        value: int | None = latest(history, statement)
        if value is not None:
            return value
        if history and name not in CONSTANTS:
            message = f"`{name}` has no value yet where it is used here"
            raise self.error("name", message, place, "bind it before the definition")
        if name in CONSTANTS and name not in self.valued and name not in self.free:
            if name not in self.used_constants:
                self.used_constants[name] = node = self.constant(CONSTANTS[name], name, place)
                self.nodes.names[0][node] = name
            return self.used_constants[name]
        if name not in self.free:
            self.free[name] = self.leaf(place)
        return self.free[name]

    def function(self, name: str, at: Place, place: Place, has_value: bool) -> Primitive:
        """Return the function of the language that a call means. Raises `ExpressionError`
        (`name`).
        """
        message, is_unknown = f"`{name}` has a value here, so it cannot be called", False
        if not has_value:
            if name in FUNCTIONS:
                return FUNCTIONS[name]
            if name in COMPOSED:
                return COMPOSED[name]
            if name in UNROLLED:
                return self.unrolled(name)
            is_unknown = name not in self.free and name not in CONSTANTS and len(name) > 1
            message = (
                f"there is no function `{name}`" if is_unknown else f"`{name}` is not a function"
            )
        own = self.own_functions() if is_unknown else None
        raise UnexplainedText("name", message, self.span(at), self.span(place).end, functions=own)

    def unrolled(self, name: str) -> Primitive:
        """Return a function that is unrolled. Raises `NeedsTree`."""
        raise NeedsTree

    def own_functions(self) -> Collection[str]:
        """Return the names of the functions that the program defines."""
        return ()

    def node(self, primitive: Primitive, parents: tuple[int, ...], place: Place) -> int:
        """Add an operation."""
        i = self.leaf(place)
        a, b = (
            (parents[0], None)
            if len(parents) == 1
            else parents
            if len(parents) == 2
            else (parents, None)
        )
        self.nodes.rows.append((primitive, i, a, b))
        if primitive.gives_condition:
            self.conditions.add(i)
        elif primitive.lazy_inputs:
            self.branches = True
        return i

    def checked_node(
        self, primitive: Primitive, operands: Any, place: Place, pieces: Sequence[Place]
    ) -> Any:
        """Add an operation. Raises `ExpressionError` if a condition is a number, or the reverse."""
        if self.conditions or primitive.takes_conditions:
            self.raise_for_types(primitive.takes_conditions, operands, pieces)
        return self.node(primitive, operands, place)

    def leaf(self, place: Place) -> int:
        """Add a node without inputs."""
        places = self.nodes.places
        places.append(place)
        return len(places) - 1

    def constant(self, data: float, source: str | None, place: Place) -> int:
        """Add a number."""
        i = self.leaf(place)
        self.nodes.constants[i] = data, source
        return i

    def check_types(
        self, wanted: Sequence[int], operands: Sequence[int], pieces: Sequence[Place]
    ) -> None:
        """Check that exactly the `wanted` operands of the next node are conditions."""
        try:
            self.raise_for_types(wanted, operands, pieces)
        except ExpressionError as error:
            self.refuse(error)

    def raise_for_types(
        self, wanted: Sequence[int], operands: Sequence[int], pieces: Sequence[Place]
    ) -> None:
        """Raise an error unless exactly the `wanted` operands are conditions."""
        conditions = self.conditions
        for k, operand in enumerate(operands):
            if (operand in conditions) == (k in wanted):
                continue
            message = "a condition is needed here, and this is a number"
            hint = "compare it: `… > 0`, `… != 0`"
            if k not in wanted:
                message = "a number is needed here, and this is a condition"
                hint = "choose numbers by it: `1 if … else 0`"
            raise self.error("type", message, pieces[k], hint)

    def operation(
        self, primitive: Primitive, operands: tuple[int, ...], place: Place, pieces: Sequence[Place]
    ) -> int:
        """Add an operation of the grammar. Raises `NeedsTree` for those of lists."""
        if self.conditions or primitive.takes_conditions or primitive in OF_LISTS:
            if primitive in OF_LISTS:
                raise NeedsTree
            self.check_types(primitive.takes_conditions, operands, pieces)
        return self.node(primitive, operands, place)

    def plus(self, operand: int, place: Place, piece: Place) -> int:
        """Return the operand of a unary plus."""
        if operand in self.conditions:
            self.check_types((), (operand,), (piece,))
        return operand

    def comparison(
        self, operands: Sequence[int], pieces: Sequence[Place], signs: Sequence[str]
    ) -> int:
        """Add a chain of comparisons."""
        return chained(self.operation, operands, pieces, signs)

    def call(
        self, name: str, at: Place, operands: tuple[int, ...], place: Place, pieces: Sequence[Place]
    ) -> int:
        """Add a call of a function of the program or the language."""
        if self.may_have_index(name, operands, pieces):
            raise NeedsTree
        try:
            called = self.function(name, at, place, name in self.bound or name in self.valued)
            node: int = self.apply(called, name, operands, place, pieces)
        except ExpressionError as error:
            return self.refuse(error)
        return node

    def may_have_index(self, name: str, operands: Sequence[int], pieces: Sequence[Place]) -> bool:
        """Return whether the second of the four arguments of a sum is a name that may be an index
        with bounds.
        """
        if name not in BOUNDED or len(operands) != 4 or not is_name(self.source(pieces[1])):
            return False
        is_used = operands[1] <= operands[0]
        return is_used or all(
            self._may_be_whole(x, piece) for x, piece in zip(operands[2:], pieces[2:], strict=True)
        )

    def _may_be_whole(self, operand: int, piece: Place) -> bool:
        if operand in self.nodes.constants:
            return float(self.nodes.constants[operand][0]).is_integer()
        return self.source(piece) not in self.free

    def source(self, piece: Place) -> str:
        """Return the text of a piece."""
        return self.span.text[slice(*self.span(piece)[:2])]

    def _check_arity(
        self, primitive: Primitive, name: str, count: int, place: Place, pieces: Sequence[Place]
    ) -> None:
        """Raise an error unless a function takes so many arguments, without or with those of its
        longer form.
        """
        most = len(primitive.params)
        least = most - len(primitive.defaults)
        if least <= count <= most:
            return
        longer = PRIMITIVES.get(primitive.longer)
        if longer is not None:
            least, most = most, len(longer.params)
        wanted = f"{least} or {most}" if least < most else most
        self.refuse_count(name, primitive.signature, wanted, place, pieces)

    def apply(
        self, primitive: Primitive, name: str, operands: Any, place: Place, pieces: Sequence[Place]
    ) -> Any:
        """Add a call of a function of the language. Raises `ExpressionError` (`arity`, `type`)."""
        count = len(operands)
        longer = PRIMITIVES.get(primitive.longer)
        if longer is not None and count == len(longer.params):
            primitive = longer
        if primitive.variadic:
            if not operands:
                self.refuse_count(name, primitive.signature, "at least 1", place, pieces)
        elif count != len(primitive.params):
            self._check_arity(primitive, name, count, place, pieces)
        if self.conditions or primitive.takes_conditions:
            self.raise_for_types(primitive.takes_conditions, operands, pieces)
        if count < len(primitive.params) and not primitive.variadic:
            for default in primitive.defaults[count - len(primitive.params) :]:
                operands += (self.constant(float(default), default, place),)
        for parameter in primitive.constant_params:
            order = operands[primitive.params.index(parameter)]
            value = self.fixed(order)
            if value is None or not primitive.allows_constant(value):
                raise _wrong_constant(primitive, Span(*self.span(place)[:2]))
        if primitive.composition is not None:
            return self.written_out(primitive, operands, place)
        return self.node(primitive, operands, place)

    def written_out(self, called: Primitive, operands: Any, place: Place) -> int:
        """Add the operations that a call stands for, all of them at its place."""
        from .composition import written_out  # few formulas have such calls

        def number(x: float, source: str) -> int:
            return self.constant(x, source, place)

        node: int = written_out(
            called, operands, lambda row, inputs: self.node(row, inputs, place), number
        )
        return node

    def refuse_count(
        self, name: str, signature: str, wanted: int | str, place: Place, pieces: Sequence[Place]
    ) -> NoReturn:
        """Raise the error about the number of arguments."""
        check_commas([self.span(piece).start for piece in pieces], self.span.text, "miscounted")
        plural, got = "" if str(wanted).endswith("1") else "s", len(pieces)
        message = (
            f"`{name}` takes {wanted} argument{plural}, and {got} {'is' if got == 1 else 'are'}"
            " given"
        )
        raise ExpressionError(
            "arity", message, Span(*self.span(place)[:2]), f"write it as `{signature}`"
        )

    def fixed(self, node: int) -> float | None:
        """Return the value of a constant node, else None."""
        if node in self.nodes.constants:
            return self.nodes.constants[node][0]
        graph, places = self.nodes.replace(rows=self.nodes.rows).subgraph_of((node,))
        if not places.keys().isdisjoint(self.free.values()):
            return None
        return float(Evaluation(REAL, graph).values[0])


def _wrong_constant(primitive: Primitive, span: Span) -> ExpressionError:
    name, values = primitive.written, primitive.constant_values
    if values:
        either = " or ".join(map(str, values))
        message = f"the branch of `{name}` must be {either}, fixed by the program"
        return ExpressionError(
            "type", message, span, f"write it as `{name}({primitive.params[0]}, {values[-1]})`"
        )
    message = f"the order of `{name}` must be a whole number fixed by the program"
    return ExpressionError("type", message, span, f"write it as `{name}(2, …)`")
