"""The builder: meanings of names, bindings and calls, and type checks. It evaluates nothing."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, NoReturn

from ..errors import ExpressionError, Span
from ..graphs.value import Value, values_of
from ..numbers import budget
from ..numbers.floats import REAL
from ..run.evaluation import Evaluation
from ..run.flat_graph import Graph, Place, Row, in_order
from ..table.operators import AND, COMPARISONS, CONSTANT, NEG
from ..table.primitive import FUNCTIONS, PRIMITIVES, Primitive
from .tokens import Complete, Head, Spans, Statement, UnexplainedText, check_commas, meaning_of, number_of

CONSTANTS = {"pi": math.pi, "π": math.pi, "e": math.e}
"""Named constants, unless the program or the point redefines them."""

MAX_NODES = 2_000_000
_ANY_NODE = range(1 << 60)
SIMPLE = {
    name: p
    for name, p in FUNCTIONS.items()
    if len(p.params) == 1 and not (p.variadic or p.constant_params or p.takes_conditions)
}
"""The functions of one number."""

Piece = tuple[int, int]  # a piece of the text in pairs, see `Spans`

Bound = Sequence[tuple[str, Place, int]]  # the bound names, their places in pairs, and the indices of their nodes


class Program:
    """A program as a graph that is not evaluated."""

    shape: tuple[int, ...] = ()  # the shape of the list of all outputs; empty if there is none

    def __init__(
        self, text: str, graph: Graph, parameters: tuple[str, ...], constants: dict[str, float], bound: Bound
    ) -> None:
        self.text = text
        self.all_nodes = graph  # the graph of all that was read, needed by an output or not
        self.roots = graph.roots
        self.leaves = graph.names[1]  # the indices of the variables in `all_nodes`, by name, as they appear
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
        return self._of(graph.replace(rows=[*graph.rows, *negatives], places=places, roots=roots), self.text)

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
        return {name: place for name, i in self.leaves.items() if (place := self.place(i)) is not None}

    def leaf_places(self, names: Iterable[str] | None = None) -> list[int | None]:
        """Return the indices in `graph` of variables, or all; None if unused."""
        return list(map(self.places.get, self.leaves if names is None else names))

    @cached_property
    def values(self) -> list[Value]:
        """All nodes as Values, in order; cached."""
        return values_of(self.all_nodes)

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


name_mark, call_mark, plus_mark = Primitive("name", ()), Primitive("call", ()), Primitive("pos", ("x",))
"""Markers in a definition for nodes that only a call determines."""

ARRAY, INDEX, RANGE, MATMUL = (Primitive(name, ()) for name in ("array", "index", "range", "matmul"))
"""Markers for operations on lists, for `unrolling`."""

_OF_LISTS = frozenset((ARRAY, INDEX, RANGE, MATMUL))
BOUNDED = frozenset(("sum", "prod"))  # with an index and bounds: `sum(w[i]*x[i], i, 1, 3)`
ON_LISTS = {"dot": Primitive("dot", ("a", "b")), "norm": Primitive("norm", ("a",))}  # the functions of lists alone


class ListNotation(Exception):
    """The text may contain lists: `unrolling` has to read it."""


class Body(Graph):
    """The body of a definition, evaluated again at every call."""

    leaf = name_mark

    def __init__(self) -> None:
        super().__init__()
        self.pieces: dict[int, Sequence[Piece]] = {}
        self.called: dict[int, tuple[str, Place]] = {}
        self.start: list[int] = []  # by node, the start of its expression, in texts with lists
        self.bounded: set[int] = set()  # the calls with an index and bounds
        self.lazy: dict[int, int] = {}  # by lazily evaluated node, the innermost node that demands it


class Function(NamedTuple):
    """A function that the program defines."""

    name: str
    parameters: tuple[str, ...]
    body: Body
    root: int
    piece: Piece
    statement: int


class Call(NamedTuple):
    """A part of a body in evaluation: its nodes from `first` to before `end`."""

    function: Function
    meanings: dict[str, Any]
    via: Place | None  # the place of the call, unless the program ends with it
    end: int
    values: list[Any]
    first: int = 0
    depth: int = 0

    def place(self, i: int) -> Place:
        """Return the place of a node in this call."""
        place = self.function.body.places[i]
        if self.via is None:
            return place
        return (*place[:2], self.via) if type(place) is tuple else Span(place[0], place[1], self.via)


def _latest(history: Sequence[tuple[int, Any]] | None, statement: int) -> Any:
    k = bisect_left(history, statement, key=itemgetter(0)) if history else 0
    return history[k - 1][1] if history and k else None


class Builder:
    """The program read so far. The reader itself adds plain operations to `nodes`.

    Names in `valued`, which the point gives values, win over constants; calls expand to at most `most` nodes. The first
    error about names and types waits for the end of the text: syntax errors come first.
    """

    takes_lists = False
    too_many = "the calls expand to more than {:,} nodes"
    max_depth = math.inf
    shape: tuple[int, ...] = ()
    indexed: Collection[str] = ()

    def __init__(self, text: str, valued: Collection[str] = (), most: int = MAX_NODES) -> None:
        self.text = text
        self.valued = valued
        self.most = most
        self.statements: list[Complete] = []
        self.nodes = Graph()
        self.all_nodes = self.nodes
        self.body: Body | None = None
        self.node_of: dict[str, int] = {}
        self.conditions: Any = set()
        self.functions: Mapping[str, Primitive] = SIMPLE
        self.lists = False
        for name in valued:
            if name in SIMPLE:
                self._hide(name)
            elif name[-1:] == "]":
                self.lists = True
        self.problem: ExpressionError | None = None
        self.labels: dict[int, str] = {}
        self.outputs: tuple[int, ...] = ()
        self.branches = False
        self.expanded = 0
        self.free: dict[str, int] = {}
        self.used_constants: dict[str, int] = {}
        self.unknown: frozenset[int] = frozenset()  # the parameters of a function without calls, which is only checked
        self.bound: dict[str, list[tuple[int, Any]]] = {}
        """By name, its values and their statements; `defined` likewise."""
        self.defined: dict[str, list[tuple[int, Function]]] = {}
        self.uncalled: dict[int, Function] = {}
        self.bindings: list[tuple[str, Place, int]] = []
        self.looks: dict[str, tuple[str, Place]] = {}
        self.span = self.nodes.span_of = Spans(text)

    def outline(self) -> list[Statement]:
        """Return the statements and their places in the text."""
        return [Statement(kind, *self.span((first, last))[:2]) for kind, first, last in self.statements]

    def scope(self) -> tuple[Graph, dict[str, int], Any, Mapping[str, Primitive]]:
        """Return the scope for new nodes. Raises `ListNotation`."""
        if self.lists:
            raise ListNotation
        return self.nodes, self.node_of, self.conditions, self.functions

    def _hide(self, name: str) -> None:
        if name in self.functions:
            self.functions = {other: primitive for other, primitive in self.functions.items() if other != name}

    def program(self) -> Program:
        """Return the program. Raises `ExpressionError` (`name`, `arity`, `type`, `overflow`, `limit`)."""
        if self.problem is not None:
            problem, self.problem = self.problem, None
            try:
                raise problem
            finally:
                del problem  # it would hold itself, by the frame in its traceback
        parameters = None
        if self.statements[-1][0] == "define":
            _, function = self.uncalled.popitem()
            parameters = self.apply_to_variables(function)
        if self.uncalled and not self.takes_lists:  # whose shapes only calls tell
            self._check_uncalled()
        graph, leaves = self.all_nodes, self.free
        if self.expanded or self.takes_lists:
            leaves = dict(sorted(leaves.items(), key=lambda leaf: self.span(graph.places[leaf[1]])[:2]))
        graph.roots, graph.names = self.outputs, (self.labels, leaves)
        constants = {name: CONSTANTS[name] for name in self.used_constants} if self.used_constants else {}
        wanted = tuple(leaves) if parameters is None else parameters
        program = Program(self.text, graph, wanted, constants, self.bindings)
        if len(self.statements) == 1 and not self.expanded and not self.branches:
            # All nodes are needed, and in order.
            program.graph, program.places = graph, leaves
            graph.has_lazy_inputs = False
        if self.shape:
            program.shape = self.shape
        return program

    def finish_statement(self, statement: Complete | int, place: Piece) -> list[Complete]:
        """Record a complete statement; return all of them so far."""
        if isinstance(statement, int):
            self.output((statement,), (place,))
            statement = "expression", *place
        self.statements.append(statement)
        return self.statements

    def output(self, operands: tuple[int, ...], pieces: Sequence[Piece]) -> None:
        """Record the outputs, if this is the last statement."""
        if self.conditions:
            self.check_types((), operands, pieces)
        self.outputs = operands

    def evaluate_roots(self, *roots: int) -> list[Any]:
        """Return the values of the expressions of this statement."""
        return [*roots]

    def bind(self, name: str, at: Place, value: Any, labels: Sequence[str] = ()) -> None:
        """Bind a name to a value; `labels` are the names of its entries."""
        earlier = self.free.get(name, self.used_constants.get(name))
        try:
            if earlier is not None and name not in self.bound:
                hint = "bind a name before its first use, or give this one another name"
                used = self.all_nodes.places[earlier], "used here"
                raise self.error("name", f"`{name}` is bound here but was used before", at, hint, used)
            self._check_look(name, at)
        except ExpressionError as error:
            self.refuse(error)
        self.outputs = self._entries(value) if labels else (value,)
        for label, entry in zip(labels, self.outputs, strict=True) if labels else ((name, value),):
            self.labels.setdefault(entry, label)
            self.bindings.append((label, at, entry))
        self.bound.setdefault(name, []).append((len(self.statements), value))
        self.node_of[name] = value
        self._hide(name)

    def augment(self, name: str, at: Piece, primitive: Primitive, root: int, piece: Piece) -> None:
        """Bind a name to an operation on its value."""
        (value,) = self.evaluate_roots(root)
        if name in self.bound:
            operands = self.bound[name][-1][1], value
            try:
                value = self.checked_node(primitive, operands, (at[0], piece[1]), (at, piece))
            except ExpressionError as error:
                value = self.refuse(error)
            self.bind(name, at, value)
            return
        what = "a constant" if name in CONSTANTS and name not in self.valued else "not bound yet"
        message, hint = f"`{name}` is {what}, so it cannot be updated", f"bind it first: `{name} = …`"
        self.refuse(self.error("name", message, at, hint))

    def begin_body(self) -> None:
        """Add the next nodes to a new body, where no name has a meaning, and any node may be a condition."""
        if self.body is None:
            self._top = self.node_of, self.conditions, self.functions
        self.nodes = self.body = Body()
        self.node_of, self.conditions, self.functions = {}, _ANY_NODE, {}

    def end_body(self) -> Body:
        """Return the body, and add nodes to the program again."""
        body = self.body
        assert body is not None
        self.nodes, self.body = self.all_nodes, None
        self.node_of, self.conditions, self.functions = self._top
        return body

    def define(self, head: Head, root: int, piece: Piece) -> None:
        """Define a function by the body read."""
        body = self.end_body()
        self._hide(head.name)
        names = tuple([name for name, _ in head.parameters])
        try:
            for k, (name, span) in enumerate(head.parameters):
                if name in names[:k]:
                    raise ExpressionError("name", f"the parameter `{name}` is listed twice", span, "rename one of them")
                self._check_look(name, span)
            self._check_look(head.name, head.span)
        except ExpressionError as error:
            self.refuse(error)
        function = Function(head.name, names, body, root, piece, len(self.statements))
        self.defined.setdefault(head.name, []).append((len(self.statements), function))
        self.uncalled[len(self.statements)] = function
        self.parameters = head.parameters

    def apply_to_variables(self, function: Function) -> tuple[str, ...]:
        """Output the body of the last function, with its parameters as variables."""
        for name, span in self.parameters:
            if name in self.free or name in self.indexed:
                message = f"`{name}` is a parameter here, and a variable of the program before it"
                raise self.error("name", message, span, "rename one of the two")
        arguments = [self._parameter(name, span) for name, span in self.parameters]
        value = self.value(self.enter(function, arguments, None))
        self.outputs = self._entries(value)
        self.raise_for_types((), self.outputs, [function.piece] * len(self.outputs))
        return function.parameters

    def _parameter(self, name: str, span: Span) -> Any:
        self.free[name] = self._leaf(span)
        return self.free[name]

    def _entries(self, value: Any) -> tuple[int, ...]:
        return (value,)

    def _check_uncalled(self) -> None:
        trial, graph = copy(self), self.all_nodes
        copies = {"constants": {**graph.constants}, "places": [*graph.places]}
        trial.nodes = trial.all_nodes = graph.replace(rows=[*graph.rows], **copies)
        trial.free, trial.used_constants, trial.labels = {**self.free}, {**self.used_constants}, {}
        for function in [*self.uncalled.values()]:
            trial.unknown = frozenset([trial._leaf((0, 0)) for _ in function.parameters])
            trial.value(trial.enter(function, sorted(trial.unknown), None))

    def error(self, kind: str, message: str, place: Place, hint: str, *also: tuple[Place, str]) -> ExpressionError:
        """Return an error about pieces of the text."""
        spans = tuple([(self.span(other), text) for other, text in also])
        return ExpressionError(kind, message, self.span(place), hint, spans)

    def refuse(self, error: ExpressionError) -> int:
        """Keep an error, and return a placeholder node."""
        error.__traceback__ = None
        self.problem = self.problem or error
        return self._constant(0.0, "0", (0, 0))

    def unusual_number(self, text: str, place: Place) -> tuple[float, str] | None:
        """Return the value and text of a number with a unit, `5[kg]`, or too large; None for no number."""
        digits, unit = text, ""
        if text[-1] == "]":
            digits, _, unit = text[:-1].partition("[")
        number = number_of(digits)
        if number is None:
            return None
        if unit:
            from ..quantities.unit import parse_unit  # only units need it

            try:
                factor = parse_unit(unit)
                if factor.zero:
                    message = f"`{unit}` is a temperature scale, and numbers in a formula cannot have one"
                    raise ExpressionError("type", message, None, "write `K`, or give the temperature in `--at`")
                number = factor.to_si(number[0]), f"{number[1]}[{factor}]"
            except ExpressionError as error:
                self.refuse(ExpressionError("type", str(error), self.span(place), error.hint))
        if number[0] == math.inf:
            message = "this number is too large for double precision"
            self.refuse(self.error("overflow", message, place, "the largest is about 1.8e308"))
        return number

    def _check_look(self, name: str, at: Place) -> None:
        look = name
        if not name.isascii():
            from unicodedata import normalize

            look = normalize("NFKC", name)
        same_look, where = self.looks.setdefault(look, (name, at))
        if same_look != name:
            message = f"`{name}` and `{same_look}` look alike but are two names"
            raise self.error("name", message, at, "write both the same way", (where, f"`{same_look}` is here"))

    def name(self, name: str, place: Place) -> int:
        """Return the node of a name in the text."""
        if self.body is not None:
            self.body.called[len(self.body.places)] = name, place
            return self._leaf(place)
        if name.isascii() and name not in CONSTANTS and name not in self.bound and name not in self.looks:
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
        self._check_look(name, place)
        history = self.bound.get(name)
        value: int | None = _latest(history, statement)
        if value is not None:
            return value
        if history and name not in CONSTANTS:
            message = f"`{name}` has no value yet where it is used here"
            raise self.error("name", message, place, "bind it before the definition")
        if name in CONSTANTS and name not in self.valued and name not in self.free:
            if name not in self.used_constants:
                self.used_constants[name] = node = self._constant(CONSTANTS[name], name, place)
                self.labels[node] = name
            return self.used_constants[name]
        if name not in self.free:
            self.free[name] = self._leaf(place)
        return self.free[name]

    def function(self, name: str, place: Place, end: int, caller: Function | None) -> Function | Primitive:
        """Return the function of a call in the `caller` or in the program."""
        statement = caller.statement if caller else len(self.statements)
        bound = _latest(self.bound.get(name), statement) is not None
        message, functions = f"`{name}` has a value here, so it cannot be called", None
        if not (bound or name in self.valued or (caller and name in caller.parameters)):
            history = self.defined.get(name)
            function: Function | Primitive | None = _latest(history, statement) or FUNCTIONS.get(name)
            if function is not None:
                return function
            if caller and caller.name == name:
                hint = "write the recursion out: definitions are expanded in place"
                raise self.error("name", f"`{name}` calls itself", place, hint)
            if history:
                raise self.error("name", f"`{name}` is defined only later", place, "move its definition up")
            if name in ON_LISTS and self.takes_lists:
                return ON_LISTS[name]
            if name in ON_LISTS:
                raise ListNotation
            message = f"`{name}` is not a function"
            if name not in self.free and name not in CONSTANTS and len(name) > 1:
                message, functions = f"there is no function `{name}`", tuple(self.defined)
        raise UnexplainedText("name", message, self.span(place), self.span.end(end), functions=functions)

    def node(self, primitive: Primitive, parents: tuple[int, ...], place: Place) -> int:
        """Add an operation."""
        i = self._leaf(place)
        a, b = (parents[0], None) if len(parents) == 1 else parents if len(parents) == 2 else (parents, None)
        self.nodes.rows.append((primitive, i, a, b))
        if primitive.gives_condition and self.body is None:
            self.conditions.add(i)
        elif primitive.lazy_inputs:
            self.branches = True
        return i

    def checked_node(self, primitive: Primitive, operands: Any, place: Place, pieces: Sequence[Piece]) -> Any:
        """Add an operation. Raises `ExpressionError` if a condition is a number, or the reverse."""
        if self.conditions or primitive.takes_conditions:
            self.raise_for_types(primitive.takes_conditions, operands, pieces)
        return operands[0] if primitive is plus_mark else self.node(primitive, operands, place)

    def _leaf(self, place: Place) -> int:
        places = self.nodes.places
        places.append(place)
        return len(places) - 1

    def _constant(self, data: float, source: str | None, place: Place) -> int:
        i = self._leaf(place)
        self.nodes.constants[i] = data, source
        return i

    def superscript(self, text: str, sign: int) -> int:
        """Return the exponent of a superscript, the sign of a pair."""
        digits = meaning_of(text)
        if digits[0] not in "+-":
            return self._constant(float(digits), digits, (~sign, sign + 1))
        start, end, _ = self.span((~sign, sign + 1))
        number = self._constant(float(digits[1:]), digits[1:], Span(start + 1, end))
        return self.node(NEG, (number,), Span(start, end)) if digits[0] == "-" else number

    def check_types(self, wanted: Sequence[int], operands: Sequence[int], pieces: Sequence[Piece]) -> None:
        """Check that exactly the `wanted` operands of the next node are conditions."""
        if self.body is not None:
            self.body.pieces[len(self.body.places)] = pieces
            return
        try:
            self.raise_for_types(wanted, operands, pieces)
        except ExpressionError as error:
            self.refuse(error)

    def raise_for_types(self, wanted: Sequence[int], operands: Sequence[int], pieces: Sequence[Piece]) -> None:
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

    def operation(self, primitive: Primitive, operands: tuple[int, ...], place: Place, pieces: Sequence[Piece]) -> int:
        """Add an operation of the grammar. Raises `ListNotation` for those of lists."""
        if self.conditions or primitive.takes_conditions or primitive in _OF_LISTS:
            if primitive in _OF_LISTS and not self.takes_lists:
                raise ListNotation
            self.check_types(primitive.takes_conditions, operands, pieces)
        return self.node(primitive, operands, place)

    def plus(self, operand: int, place: Place, piece: Piece) -> int:
        """Return the operand of a unary plus."""
        if self.body is not None:
            return self.operation(plus_mark, (operand,), place, (piece,))
        if operand in self.conditions:
            self.check_types((), (operand,), (piece,))
        return operand

    def comparison(self, operands: Sequence[int], pieces: Sequence[Piece], signs: Sequence[str]) -> int:
        """Add a comparison; a chain is the conjunction of its pairs."""
        result: int | None = None
        for k, sign in enumerate(signs):
            pair, two = tuple(operands[k : k + 2]), pieces[k : k + 2]
            compared = self.operation(COMPARISONS[sign], pair, (two[0][0], two[1][1]), two)
            place = (pieces[0][0], pieces[-1][1])
            result = compared if result is None else self.node(AND, (result, compared), place)
        assert result is not None
        return result

    def call(self, name: str, at: Place, operands: tuple[int, ...], place: Place, pieces: Sequence[Piece]) -> int:
        """Add a call of a function of the program or the language."""
        if self.body is not None:
            if (name in ON_LISTS or (name in BOUNDED and len(operands) == 4)) and not self.takes_lists:
                raise ListNotation
            i = len(self.body.places)
            self.body.pieces[i] = pieces
            self.body.called[i] = name, at
            return self.node(call_mark, operands, place)
        if name in BOUNDED and len(operands) == 4 and self._may_have_index(operands, pieces):
            raise ListNotation
        try:
            called = self.function(name, at, place[1], None)
            if isinstance(called, Function):
                node: int = self.value(self.enter(called, operands, place, pieces))
            else:
                node = self._apply(called, name, operands, place, pieces)
        except ExpressionError as error:
            return self.refuse(error)
        return node

    def _may_have_index(self, operands: Sequence[int], pieces: Sequence[Piece]) -> bool:
        """Return whether the second of four arguments is a name that may be an index with bounds."""
        if pieces[1][0] != pieces[1][1] or self._source(pieces[1])[0].isdecimal():
            return False
        is_used = operands[1] <= operands[0]
        return is_used or all(self._may_be_whole(x, piece) for x, piece in zip(operands[2:], pieces[2:], strict=True))

    def _may_be_whole(self, operand: int, piece: Piece) -> bool:
        if operand in self.all_nodes.constants:
            return float(self.all_nodes.constants[operand][0]).is_integer()
        return self._source(piece) not in self.free

    def _source(self, piece: Piece) -> str:
        return self.text[slice(*self.span(piece)[:2])]

    def _apply(self, primitive: Primitive, name: str, operands: Any, place: Place, pieces: Sequence[Piece]) -> Any:
        count = len(operands)
        if primitive.with_two and count == 2:
            primitive = PRIMITIVES[primitive.with_two]
        if primitive.variadic:
            if not operands:
                self._refuse_count(name, primitive.signature, "at least 1", place, pieces)
        elif count != len(primitive.params):
            most = len(primitive.params)
            least = most - len(primitive.defaults)
            if not least <= count <= most:
                wanted = f"{least} or {most}" if least < most else f"{most} or 2" if primitive.with_two else most
                self._refuse_count(name, primitive.signature, wanted, place, pieces)
        if self.conditions or primitive.takes_conditions:
            self.raise_for_types(primitive.takes_conditions, operands, pieces)
        if count < len(primitive.params) and not primitive.variadic:
            for default in primitive.defaults[count - len(primitive.params) :]:
                operands += (self._constant(float(default), default, place),)
        for parameter in primitive.constant_params:
            order = operands[primitive.params.index(parameter)]
            below = in_order(self.all_nodes.replace(rows=self.all_nodes.rows).parents, (order,)) if self.unknown else ()
            value = self.fixed(order) if self.unknown.isdisjoint(below) else 0
            if value is None or value < 0 or value != int(value):
                message = f"the order of `{primitive.name}` must be a whole number fixed by the program"
                hint = f"write it as `{primitive.name}(2, …)`"
                raise ExpressionError("type", message, Span(*self.span(place)[:2]), hint)
        return self.node(primitive, operands, place)

    def _refuse_count(
        self, name: str, signature: str, wanted: int | str, place: Place, pieces: Sequence[Piece]
    ) -> NoReturn:
        check_commas([self.span.start(first) for first, _ in pieces], self.text, "miscounted")
        plural, got = "" if str(wanted).endswith("1") else "s", len(pieces)
        message = f"`{name}` takes {wanted} argument{plural}, and {got} {'is' if got == 1 else 'are'} given"
        raise ExpressionError("arity", message, Span(*self.span(place)[:2]), f"write it as `{signature}`")

    def enter(
        self,
        called: Function,
        operands: Sequence[Any],
        via: Place | None,
        pieces: Sequence[Piece] = (),
        depth: int = 0,
    ) -> Call:
        """Return a call of a function, not evaluated yet. Raises `ExpressionError` (`arity`)."""
        name, parameters = called.name, called.parameters
        self._check_depth(depth, via or called.piece)
        if via is not None and len(operands) != len(parameters):
            self._refuse_count(name, f"{name}({', '.join(parameters)})", len(parameters), via, pieces)
        self.uncalled.pop(called.statement, None)
        if via is not None and not self.takes_lists:
            # Expanded calls count, with nodes or without: they can grow exponentially.
            self.charge(len(called.body.places), via)
        meanings = dict(zip(parameters, operands, strict=True))
        return Call(called, meanings, via, called.root + 1, [], 0, depth + 1)

    def _check_depth(self, depth: int, place: Place) -> None:
        if depth > self.max_depth:
            message = f"calls, sums and indices stand more than {self.max_depth} deep in one another"
            raise self.error("limit", message, place, "bind the inner ones to names")

    def charge(self, count: int, place: Place) -> None:
        """Charge for nodes. Raises `ExpressionError` (`limit`)."""
        self.expanded += count
        budget.charge(budget.CALLED_NODE * count)
        if self.expanded > self.most:
            raise self.error("limit", self.too_many.format(self.most), place, "split the program")

    def value(self, call: Call) -> Any:
        """Return the last node's value of a call, by a stack, not recursion."""
        calls = [call]
        while True:
            call = calls[-1]
            values = call.values
            for i in range(call.first + len(values), call.end):
                value = self.node_value(call, i)
                if type(value) is Call:
                    calls.append(value)
                    break
                values.append(value)
            else:
                calls.pop()
                if not calls:
                    return values[-1]
                calls[-1].values.append(values[-1])

    def node_value(self, call: Call, i: int) -> Any:
        """Return a node's value, or the call that it makes."""
        function, body, place = call.function, call.function.body, call.place(i)
        primitive = body.primitives[i]
        if primitive is CONSTANT:
            return self._constant(*body.constants[i], place)
        if primitive is name_mark:
            return self._meaning(body.called[i][0], place, call)
        operands = tuple([call.values[p - call.first] for p in body.parents[i]])
        pieces = body.pieces.get(i, ())
        if primitive is not call_mark:
            return self.checked_node(primitive, operands, place, pieces)
        name, at = body.called[i]
        called = self.function(name, at, place[1], function)
        if isinstance(called, Function):
            return self.enter(called, operands, place, pieces, call.depth)
        return self._apply(called, name, operands, place, pieces)

    def _meaning(self, name: str, place: Place, call: Call) -> Any:
        if name not in call.meanings:
            call.meanings[name] = self.lookup(name, place, call.function.statement)
        return call.meanings[name]

    def fixed(self, node: int) -> float | None:
        """Return the value of a constant node, else None."""
        if node in self.all_nodes.constants:
            return self.all_nodes.constants[node][0]
        graph, places = self.all_nodes.replace(rows=self.all_nodes.rows).subgraph_of((node,))
        if not places.keys().isdisjoint(self.free.values()):
            return None
        return float(Evaluation(REAL, graph).values[0])
